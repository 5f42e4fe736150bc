/* Inside of vectors and matrices. */
#ifndef SPRY_MATRIX_INTERNAL_H
#define SPRY_MATRIX_INTERNAL_H

#include "base/base.h"

#include <math.h>
#include <spry/device.h>
#include <spry/matrix.h>

/* Vectors are placed and worked on in chunks of VECTOR_CHUNK elements, whatever the number of
 * threads, so that no cut of the work shows in a result. */
enum { VECTOR_CHUNK = 4096 };

struct device_memory;

/* What is done with vectors in a device's memory; every member is set. Sizes, types and places
 * were found to fit. */
typedef struct vector_class {
    void (*destroy)(spry_vector *v); /* frees the memory */
    spry_status (*make)(spry_device *d, spry_type type, int64_t n, spry_vector **v); /* zeros */
    spry_status (*put)(spry_vector *v, const void *from); /* an array of the host's, of its type */
    spry_status (*get)(const spry_vector *v, void *to);
    spry_status (*copy)(const spry_vector *x, spry_vector *y);
    /* y = x with another type; fits: whether y can hold all of it */
    spry_status (*retype)(const spry_vector *x, spry_vector *y, bool *fits);
    spry_status (*fill)(spry_vector *v, spry_scalar value);
    spry_status (*random)(spry_vector *v,
                          uint64_t seed); /* as the kernel of the host, bit by bit */
    /* y = a x + b y; b = 0 does not read y, which may be x then */
    spry_status (*blend)(spry_scalar a, const spry_vector *x, spry_scalar b, spry_vector *y);
    spry_status (*multiply)(const spry_vector *x, const spry_vector *y, spry_vector *z);
    spry_status (*dot)(const spry_vector *x, const spry_vector *y, spry_scalar *result);
    /* y_i = x[from[i]], of which the host has the n places; y is not x */
    spry_status (*gather)(const spry_vector *x, const int32_t *from, spry_vector *y);
    /* sum |scale x_i|^2 of several vectors of one place and type, and max |re x_i|, |im x_i|, as
     * the kernels of the host */
    spry_status (*squares)(int count, const spry_vector *const *x, double scale, double *results);
    spry_status (*largest)(const spry_vector *x, double *result);
} vector_class;

/* What the rooms below know of a device: its struct begins with this. */
typedef struct vector_device {
    const char *name; /* "cuda:0" */
    const vector_class *vectors;
} vector_device;
/* "cpu" for NULL, "cuda:0" */
const char *place_name(const spry_device *device);

/* Where a vector's elements are among those of all ranks (team.h). */
typedef struct vector_part {
    bool is; /* else it is a vector of this rank alone */
    int64_t first, all;
} vector_part;

struct spry_vector {
    spry_context *ctx;
    spry_type type;
    int64_t n;
    vector_part part; /* sums over it are those of all ranks */
    void *data;       /* of a device: its address on it, NULL where it has none */
    bool owned;
    const vector_class *class; /* NULL: in the host's memory */
    spry_device *device;
    struct device_memory *memory;
    /* Brings the numbers when they are first used; NULL: they are on the host. */
    spry_status (*bring)(void *from, spry_vector *v);
    void *from;
    /* Called once, when the vector is freed and its memory no longer used; NULL: none. */
    spry_release_fn release;
    void *owner;
    bool owner_of_caller; /* set by the caller, who may set it again */
    atomic_uint holds;    /* of calls that use it while they call others, and VECTOR_FREED */
};

/* A vector is held by a call that lets the caller's functions run: one that is freed in them goes
 * when the call lets go of it. */
enum { VECTOR_FREED = 1 << 30 };
void vector_hold(const spry_vector *v);
void vector_let_go(const spry_vector *v);

/* A vector of the host's over an array. */
static inline spry_vector vector_over(spry_context *ctx, spry_type type, int64_t n, void *data)
{
    return (spry_vector){.ctx = ctx, .type = type, .n = n, .data = data};
}
/* Elements of all ranks, or of the only one. */
static inline int64_t vector_all(const spry_vector *v)
{
    return v->part.is ? v->part.all : v->n;
}
/* Whether both are the same array. */
static inline bool vector_same(const spry_vector *x, const spry_vector *y)
{
    return x->data == y->data && (x->data || x->memory == y->memory) && x->n > 0 && y->n > 0;
}
/* Brings numbers that come when they are looked at; to be called before numbers are looked at. */
spry_status vector_fetch(const spry_vector *v);
/* The numbers of a vector on the host: of v itself where it is on the host (*on_host is v then),
 * else of a copy in *copy, which is the caller's to free. */
spry_status vector_on_host(const spry_vector *v, const spry_vector **on_host, spry_vector **copy);
/* Zeros in the memory of a device (NULL: the host). */
spry_status vector_new_at(spry_context *ctx, spry_device *device, spry_type type, int64_t n,
                          spry_vector **v);
/* Norms of up to VECTOR_MOST_NORMS vectors of one type and place; a device is waited for once. */
enum { VECTOR_MOST_NORMS = 4 };
spry_status vector_norms(int count, const spry_vector *const *x, double *norms);
/* The largest |x_i|, of complex numbers the largest |re| or |im|, without regard to NaN. */
spry_status vector_largest(const spry_vector *x, double *most);
/* Fails where a caller's word on who owns arrays, of vectors and matrices, is none of the three. */
spry_status vector_check_own(spry_context *ctx, spry_own own);
/* Fails where vectors of other contexts or lengths are given, and brings their numbers. */
spry_status vector_check_lengths(const spry_vector *x, const spry_vector *y);

/* The arrays of a matrix as all code inside has them: spry_arrays of one width and base. */
typedef struct matrix_arrays {
    spry_type type;
    spry_format format;
    spry_symmetry symmetry;
    int64_t rows, cols, nnz;
    int64_t *offsets;               /* CSR: rows + 1, CSC: cols + 1, COO: NULL */
    int32_t *row_index, *col_index; /* of each entry; CSR has no row_index, CSC no col_index */
    void *values;
} matrix_arrays;

/* The arrays that a matrix owns, added up. */
enum {
    MATRIX_OWNS_OFFSETS = 1,
    MATRIX_OWNS_ROW_INDEX = 2,
    MATRIX_OWNS_COL_INDEX = 4,
    MATRIX_OWNS_VALUES = 8,
    MATRIX_OWNS_ALL = 15
};

struct spry_matrix {
    spry_context *ctx;
    matrix_arrays a;
    unsigned owns; /* which arrays are freed with the matrix */
    /* A file mapped into memory whose pages the (then not owned) arrays point to; NULL otherwise.
     */
    void *mapping;
    size_t mapping_bytes;
    spry_vector **near_null; /* copies of vectors that A nearly sends to 0; NULL: none are known */
    int near_count;
    /* What is known: bit 2 f is set where fact f was found to hold, bit 2 f + 1 where it was found
     * not to. Readers note what they find, several at once. */
    atomic_uint facts;
    int64_t changes, pattern_changes; /* how often the arrays were others; of those, the pattern */
    const spry_matrix *origin;        /* whose arrays, near-null vectors and facts these are */
    atomic_uint holds;                /* of those who read it for long, and MATRIX_FREED */
    int64_t seen;                     /* its version that the arrays are of */
    spry_release_fn release;          /* called when it is freed; may be NULL */
    void *owner;
    void *redistributed; /* how its rows were distributed to ranks (src/ranks), and what frees that;
                            or NULL */
    void (*free_redistributed)(spry_context *ctx, void *redistributed);
    struct distributed *distributed; /* of one that is distributed over ranks (distributed.h);
                                        arrays: its own block */
};

/* --- facts (facts.c) -----------------------------------------------------------------------------
 */

#define FACT_BIT(fact) (1u << (fact))
enum {
    FACTS_OF_PATTERN = FACT_BIT(SPRY_FACT_SORTED) | FACT_BIT(SPRY_FACT_UNIQUE) |
                       FACT_BIT(SPRY_FACT_PATTERN_SYMMETRIC),
    FACTS_ALL = FACT_BIT(SPRY_FACT_COUNT) - 1,
    /* What does not depend on the order of entries. */
    FACTS_BUT_ORDER = FACTS_ALL & ~FACT_BIT(SPRY_FACT_SORTED),
};
/* What is known; notes what was found; forgets what new values may make wrong. */
spry_truth matrix_known(const spry_matrix *A, spry_fact fact);
/* The fact in a word, "hermitian", and as a sentence. */
const char *fact_name(spry_fact fact);
const char *fact_text(spry_fact fact);
/* Logs that a fact is searched for, so that it can be seen that nothing is searched twice. */
void fact_log_search(spry_context *ctx, const spry_matrix *A, spry_fact fact);
/* Looks for what a solver cannot use, NaN or infinite values; the failure names the first place. */
spry_status matrix_check_values(const spry_matrix *A);
void matrix_note(const spry_matrix *A, spry_fact fact, bool yes);
/* Notes that all of some facts (FACT_BITs) hold. */
void matrix_note_all(const spry_matrix *A, unsigned facts);
void matrix_changed(spry_matrix *A);
void matrix_forget(const spry_matrix *A, unsigned facts);
/* B has what is known of A, of some facts. */
void matrix_carry(const spry_matrix *A, const spry_matrix *B, unsigned facts);
/* What follows from a stored triangle for the whole. */
void matrix_note_symmetry(const spry_matrix *A, spry_symmetry symmetry);
/* Whether it holds: what is known, or what passes over A find, which is noted. With a context of
 * the caller's, for memory and threads. Not for DEFINITE. */
spry_status matrix_find_out(spry_context *ctx, const spry_matrix *A, spry_fact fact, bool *yes);
/* Whether columns rise in all rows; strictly: none occurs twice. */
bool matrix_is_sorted(spry_context *ctx, const spry_matrix *A, bool strictly);

/*
 * One measure of "symmetric" and "hermitian" for all: how far what should be equal may be apart,
 * over the size of what it was summed up from. Entries of A come from sums of some terms, one for
 * each element or path that two unknowns share, and are made in another order for each triangle:
 * a sum of n terms is off by up to n units of rounding of their size, and 1,024 are more than
 * meshes and circuits have at an edge. What is meant to be unsymmetric is so by far more.
 */
static inline double matrix_mirror_tolerance(bool single)
{
    const double terms = 1024;
    return terms * (single ? 0x1p-24 : 0x1p-53);
}
/* How A, general CSR with sorted rows, compares with its mirror image, by the measure of
 * spry_matrix_find_fact(); `pattern`: that, too, even where values differ. */
typedef struct matrix_mirror {
    bool symmetric, hermitian;
    bool looked_through; /* to the last row; else nothing is known of the pattern */
    bool pattern;        /* every entry has a mirror image */
    int64_t unlike;      /* the first row that shows that it is not hermitian; A's rows: none */
} matrix_mirror;
spry_status matrix_compare_mirror(spry_context *ctx, const spry_matrix *A, bool pattern,
                                  matrix_mirror *found);

/* What a caller gives, with all that has a meaning when it is 0 spelled out; arrays are not looked
 * at. */
spry_status matrix_read_arrays(spry_context *ctx, const spry_arrays *arrays, spry_arrays *given);
/* Makes a matrix of arrays known to be sound and owned, without checking them again. Takes them
 * also when it fails. Missing arrays of 0 entries are fine. */
spry_status matrix_wrap(spry_context *ctx, const matrix_arrays *arrays, spry_matrix **A);
/* Allocates the arrays a format needs for rows, cols, nnz, type of *arrays; on failure frees what
 * it had. */
spry_status matrix_allocate(spry_context *ctx, matrix_arrays *arrays);
void matrix_free_arrays(spry_context *ctx, matrix_arrays *arrays);
/* Checks sizes, offsets and indices in parallel; the message names the first fault. */
spry_status matrix_check_arrays(spry_context *ctx, const matrix_arrays *arrays);
/* The same in words of the arrays they were converted from: header, offsets and entries in turn, as
 * each may only be looked at when those before it are sound. */
spry_status matrix_check_header(spry_context *ctx, const matrix_arrays *arrays);
spry_status matrix_check_offsets(spry_context *ctx, const matrix_arrays *arrays, int base);
spry_status matrix_check_entries(spry_context *ctx, const matrix_arrays *arrays,
                                 const spry_arrays *given);
/* The arrays as callers see them. */
spry_arrays matrix_shown(const matrix_arrays *arrays);

/*
 * Changes (values.c). A's version rises with every change of its values or their order, and what is
 * made from A remembers the version it was made from. matrix_touch() counts one change;
 * matrix_changed() also forgets what new values make wrong.
 */
int64_t matrix_version(const spry_matrix *A);
int64_t matrix_pattern_version(const spry_matrix *A);
void matrix_touch(spry_matrix *A, bool pattern);
/* A matrix of any context over A's arrays, which must stay alive; it parts from A before it is
 * changed itself. Where the arrays of a matrix are first looked at, matrix_follow() brings a view
 * up to date with the matrix it is of, which may have others by now; to others it does nothing. */
spry_status matrix_view(spry_context *ctx, const spry_matrix *A, spry_matrix **view);
void matrix_follow(const spry_matrix *view);
void matrix_part(spry_matrix *view);
/*
 * Who runs functions of a caller's while A's arrays are in use holds A (NULL: nothing) and those
 * whose arrays these are: what would change or move them fails meanwhile, by
 * matrix_check_changeable(), and a matrix that is freed goes when the last one has let go of it.
 */
enum { MATRIX_FREED = 1 << 30 };
void matrix_hold(const spry_matrix *A);
void matrix_let_go(const spry_matrix *A);
spry_status matrix_check_changeable(const spry_matrix *A);

/* Length of the compressed dimension: rows for CSR, cols for CSC. */
int64_t matrix_major(const matrix_arrays *a);
/* A as general CSR: A itself when it is (then *owned is NULL), else a new matrix in *owned to be
 * freed. */
spry_status matrix_as_csr(const spry_matrix *A, const spry_matrix **csr, spry_matrix **owned);

/* Changes A's format in place: as spry_matrix_convert(), but arrays that can serve are kept instead
 * of copied (COO with rising rows keeps its columns and values as CSR). A is as before on failure.
 */
spry_status matrix_become(spry_matrix *A, spry_format format);
/* Makes A own its arrays, copying what it borrowed or mapped: to be called before changing them. */
spry_status matrix_make_own(spry_matrix *A);
/* Rows (columns of CSC) of part `index` when cut so that rows and entries together are distributed
 * evenly; a row is never cut. */
range matrix_rows_of_part(const int64_t *offsets, int64_t major, int parts, int index);
/* Row and column of stored entry k. */
void matrix_place(const matrix_arrays *a, int64_t k, int64_t *row, int64_t *col);

/* Colours 0..*count-1 for the rows of a square general CSR matrix, so that neighbours in the
 * pattern of A + A^T differ. */
spry_status matrix_colour(const spry_matrix *A, int32_t *colour, int64_t *count);
/* (*inverse)[perm[i]] = i; fails, calling perm by its name, unless each of 0..n-1 occurs once.
 * The caller frees *inverse, also then. */
spry_status matrix_invert(spry_context *ctx, const char *name, const int32_t *perm, int64_t n,
                          int32_t **inverse);

/* Bytes of a matrix in CSR; and those that a product with it moves, of x and y each once. */
static inline int64_t matrix_csr_bytes(spry_type type, int64_t rows, int64_t entries)
{
    return entries * (int64_t)(spry_type_size(type) + sizeof(int32_t)) +
           (rows + 1) * (int64_t)sizeof(int64_t);
}
static inline int64_t matrix_product_bytes(const matrix_arrays *a)
{
    return matrix_csr_bytes(a->type, a->rows, a->nnz) +
           (a->rows + a->cols) * (int64_t)spry_type_size(a->type);
}

/* Reads and stores one number of any type. */
spry_scalar value_get(spry_type type, const void *values, int64_t k);
void value_set(spry_type type, void *values, int64_t k, spry_scalar value);
static inline bool type_is_single(spry_type type)
{
    return type == SPRY_TYPE_S || type == SPRY_TYPE_C;
}
static inline bool value_finite(spry_scalar value)
{
    return isfinite(value.re) && isfinite(value.im);
}
/* Whether single precision would make an infinity of a finite part. */
static inline bool value_overflows_single(spry_scalar value)
{
    return (isfinite(value.re) && !isfinite((float)value.re)) ||
           (isfinite(value.im) && !isfinite((float)value.im));
}

#endif
