/*
 * Inside of operators: what every operator has, and what some have.
 */
#ifndef SPRY_OPERATOR_INTERNAL_H
#define SPRY_OPERATOR_INTERNAL_H

#include "matrix/matrix.h"

#include <spry/operator.h>

struct device_memory;
struct device_rows;

/* Ranges of rows begin at multiples of this. */
enum { OPERATOR_GRAIN = 1024 };

struct host_columns;
struct power_step;

/* Rows of a product that any thread can do by itself: what fused sweeps are made of. */
typedef struct operator_rows {
    const void *state; /* the operator's; valid as long as the operator */
    bool conjugate;
    /* y = rows begin..end-1 of op(A) x, y[0] being row begin; bit by bit as in the whole product */
    void (*run)(const struct operator_rows *rows, int64_t begin, int64_t end, const void *x,
                void *y);
    /* The same for several x that are packed (see host.h) and as many y; may be NULL */
    void (*run_packed)(const struct operator_rows *rows, int64_t begin, int64_t end, int packs,
                       const void *x, int count, void *const *y);
    /* y = alpha (rows begin..end-1 of op(A) x) + beta z, z[0] being row begin, too; z may be y. May
     * be NULL */
    void (*run_scaled)(const struct operator_rows *rows, int64_t begin, int64_t end,
                       spry_scalar alpha, const void *x, spry_scalar beta, const void *z, void *y);
    int64_t reach; /* no row needs a column that is farther from it; 0: unknown */
    int64_t grain; /* ranges that begin at its multiples are the fastest; 0: any are */
    /* work before a row (0..rows of op(A)), for distributing rows to threads */
    int64_t (*work)(const struct operator_rows *rows, int64_t row);
    /* Of operators that are distributed over ranks, NULL for others: sends what other ranks need of
     * some x; reports whether rows need something of theirs, which they may not be run without;
     * brings that. Rows are run for these x alone until the next begin. */
    spry_status (*begin)(const struct operator_rows *rows, int count, const void *const *x);
    bool (*waits)(const struct operator_rows *rows, int64_t begin, int64_t end);
    spry_status (*finish)(const struct operator_rows *rows);
} operator_rows;

/* Products by rows, which fused sweeps are made of; either may be NULL. */
typedef struct operator_by_rows {
    /* Prepares them; rows->run stays NULL where they are not possible or not wise. */
    spry_status (*open)(const spry_operator *op, spry_transpose transpose, operator_rows *rows);
    /* The array d, of the operator's type, where op(A) r is d .* r. */
    const void *(*diagonal)(const spry_operator *op, spry_transpose transpose);
} operator_by_rows;

/* Products with several columns; either may be NULL. */
typedef struct operator_blocks {
    /* The product with one pack or two of columns (see host.h), by all threads. */
    spry_status (*columns)(const spry_operator *op, spry_transpose transpose,
                           const struct host_columns *p);
    /* The product with dense blocks that were found to fit, for operators that cut columns by
     * themselves. */
    spry_status (*dense)(const spry_operator *op, spry_transpose transpose, spry_scalar alpha,
                         const spry_dense *B, spry_scalar beta, const spry_dense *C);
} operator_blocks;

/* Operators that store a matrix, or know its entries; any may be NULL. */
typedef struct operator_stored {
    /* How it is stored, the matrix itself, its diagonal. */
    spry_status (*storage)(const spry_operator *op, spry_storage *storage);
    spry_status (*to_matrix)(const spry_operator *op, spry_matrix **A);
    spry_status (*diagonal)(const spry_operator *op, spry_vector **d);
    /* The same operator, stored alike, for a matrix with other values: of those that are products
     * with the matrix they were made from. */
    spry_status (*remake)(const spry_operator *op, const spry_matrix *A, spry_operator **fresh);
    /* Of operators that read their matrix in place: brings itself up to date with it. */
    spry_status (*follow)(const spry_operator *op);
} operator_stored;

/* Operators on devices; multiply is NULL where there is an `apply`, open_rows may be. */
typedef struct operator_on_device {
    /* The product on memory of the device that it lives on. */
    spry_status (*multiply)(const spry_operator *op, spry_transpose transpose, spry_scalar alpha,
                            const struct device_memory *x, spry_scalar beta,
                            struct device_memory *y);
    /* Its rows as a text for sweeps on the device (formats/shared/device_formats.h). */
    spry_status (*open_rows)(const spry_operator *op, spry_transpose transpose, const char *prefix,
                             struct device_rows *rows);
} operator_on_device;

/* A preconditioner that an operator makes of its own structure, with what a job says of it, whose
 * operator it is (precon/precon.h). */
struct precon_job;
typedef struct operator_precon {
    const char *kind; /* NULL ends a list */
    spry_status (*make)(const struct precon_job *job, spry_operator **M);
} operator_precon;

/* Operators that know more than entries, as a grid; any may be NULL. */
typedef struct operator_structure {
    const operator_precon *precons;
    /* The spec of that of these which suits the operator, for whoever leaves the choice to us;
     * NULL: none does. Collective over the operator's processes. */
    const char *(*suits)(const spry_operator *op);
    /* alpha A + beta I as an operator of the same kind, made without entries. */
    spry_status (*shifted)(const spry_operator *A, spry_scalar alpha, spry_scalar beta,
                           spry_operator **shifted);
    /* w, on the host, that A^T takes to 0 where A takes constants to 0. Collective. */
    spry_status (*left_null)(const spry_operator *A, spry_vector *w);
} operator_structure;

/* What an operator kind does: what every kind has, then parts that some have. Of the members after
 * multiply any may be NULL. */
typedef struct operator_class {
    const char *name;
    bool has_transpose;
    /* y = alpha op(A) x + beta y on arrays of the operator's type; beta = 0 does not read y */
    spry_status (*multiply)(const spry_operator *op, spry_transpose transpose, spry_scalar alpha,
                            const void *x, spry_scalar beta, void *y);
    void (*destroy)(spry_operator *op); /* frees op->state */
    /* The same with vectors that may be on a device. */
    spry_status (*multiply_vectors)(const spry_operator *op, spry_transpose transpose,
                                    spry_scalar alpha, const spry_vector *x, spry_scalar beta,
                                    spry_vector *y);
    /* z = op(M) r of operators that are made of operations on vectors: r and z are where it lives,
     * and not the same. Those have operator_apply_arrays as multiply and operator_apply_vectors as
     * multiply_vectors (host/apply.h). */
    spry_status (*apply)(const spry_operator *op, spry_transpose transpose, const spry_vector *r,
                         spry_vector *z);
    /* The same for several r and z, arrays, of operators of the host: each as `apply` has it. */
    spry_status (*apply_many)(const spry_operator *op, spry_transpose transpose, int count,
                              const void *const *r, void *const *z);
    /* Takes the values of A, general CSR with sorted rows and the pattern that the operator was
     * made from. Fails without harm, or leaves one that is not to be used. */
    spry_status (*update)(spry_operator *op, const spry_matrix *A);
    operator_by_rows rows;
    operator_blocks blocks;
    operator_stored stored;
    operator_on_device device;
    operator_structure structure;
    /* Of functions of a caller's: the row of the first number, infinite or none, that was made of
     * finite ones since this was last asked; -1: there is none. */
    int64_t (*gave_nonfinite)(const spry_operator *op);
    /* A basis of powers (host/powers.h) of square operators that do several steps together; *made
     * stays false where that does not go with these vectors. Without steps and vectors it is a
     * question: whether `count` steps go together. */
    spry_status (*powers)(const spry_operator *op, int count, const struct power_step *steps,
                          const spry_vector *x, spry_vector *const *v, bool *made);
} operator_class;

/* Who made an operator that stores another matrix than the one it was made for: as the members of
 * its class, which know of the stored matrix alone. */
typedef struct operator_maker {
    spry_status (*update)(spry_operator *op, const spry_matrix *A);
    void (*destroy)(spry_operator *op); /* frees op->making */
} operator_maker;

/* Memory that products fill and that outlives them. */
typedef struct operator_memory {
    int64_t bytes;
    void *data;
} operator_memory;

struct spry_operator {
    spry_context *ctx;
    const operator_class *class;
    spry_type type;
    int64_t rows, cols;
    vector_part rows_part, cols_part; /* of one that is distributed over ranks */
    bool square;                      /* as a whole, and every rank has the same rows and columns */
    int64_t bytes;                    /* least traffic of a plain product; 0: unknown */
    int64_t own_bytes;                /* the same without x and y: what the operator itself reads */
    const char *name;                 /* NULL: the class's */
    void *state;
    spry_device *device;   /* where it lives; NULL: the host */
    operator_memory *room; /* for columns, packed; products take the operator as it is */
    spry_matrix *kept;     /* a matrix it was made from; freed with it; may be NULL */
    bool one_way;          /* without transposed products, though its class has them */
    bool varies;           /* it is no fixed linear map: methods have to be flexible */
    bool single;           /* it rounds to single precision, whatever its type */
    bool hermitian;        /* known to be, as was the matrix it was made from */
    bool definite;         /* and positive definite */
    int64_t changes;       /* how often it was given other values: pointers into it are void */
    const operator_maker *maker; /* NULL: its class itself */
    void *making;                /* the maker's */
    const spry_matrix *source;   /* the caller's matrix it was made from; NULL: none, or within */
    int64_t version;             /* of that matrix, when it was */
    spry_matrix *view;           /* of a source in another context; freed with it; may be NULL */
    spry_release_fn release;     /* called when it is freed; may be NULL */
    void *owner;
};

/* Rows and columns of all ranks. */
static inline int64_t operator_all_rows(const spry_operator *op)
{
    return op->rows_part.is ? op->rows_part.all : op->rows;
}
static inline int64_t operator_all_cols(const spry_operator *op)
{
    return op->cols_part.is ? op->cols_part.all : op->cols;
}
spry_status operator_new(spry_context *ctx, const operator_class *class, spry_type type,
                         int64_t rows, int64_t cols, spry_operator **op);
/* Remembers what it was made from: A, or a view of A, which it takes. */
void operator_made_from(spry_operator *op, const spry_matrix *A, spry_matrix *view);
/* Brings what is read in place up to date with its matrix; what is remembered of it may have moved.
 */
spry_status operator_follow(const spry_operator *op);
/* One status for all ranks that have a part of the operator. */
spry_status operator_agree(const spry_operator *op, spry_status status);
/* Fails where A^T is to be made and A is no longer the matrix of that version. */
spry_status operator_check_transpose(const spry_operator *op, const spry_matrix *A,
                                     int64_t version);
/* Whether it takes new values. */
bool operator_has_update(const spry_operator *op);
/* Whether spry_operator_update() is for it, either way. */
bool operator_takes_values(const spry_operator *op);
/* Gives it a matrix that it may point to after an update, in place of the one before; where it
 * stores one of its maker's, that stays, and A is freed. */
void operator_keep(spry_operator *op, spry_matrix *A);
/* Makes it what `fresh` is, but for its name and maker; frees what it was. */
void operator_become(spry_operator *op, spry_operator *fresh);
/* Makes room->data hold at least `count` elements of `size` bytes; its content is lost. */
spry_status operator_room(const spry_operator *op, int64_t count, size_t size);
/* Fails where the operator has no such product. */
spry_status operator_check_product(const spry_operator *op, spry_transpose transpose,
                                   spry_scalar alpha, spry_scalar beta);
/* Prepares products op(A) x by rows, making what they need (A^T); rows->run is NULL when the
 * operator can only be applied whole. */
spry_status operator_open_rows(const spry_operator *op, spry_transpose transpose,
                               operator_rows *rows);
/* The array d where op(A) r is d .* r; NULL for other operators. */
const void *operator_diagonal(const spry_operator *op, spry_transpose transpose);
/* The spec of a preconditioner of its own that suits an operator (see operator_structure); NULL:
 * there is none. */
const char *operator_suits(const spry_operator *op);
/* The preconditioner of this kind that the operator makes of its structure; NULL: none. */
const operator_precon *operator_find_precon(const spry_operator *op, const char *kind);

/* The product with a matrix in CSR on the host, in place where it is general (host/csr_operator.c);
 * of a distributed one, too. y = x + beta y (host/vector_ops.c). */
spry_status host_csr_operator(const spry_matrix *A, spry_operator **op);
spry_status vector_xpay(const spry_vector *x, spry_scalar beta, spry_vector *y);

#endif
