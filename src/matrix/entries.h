/*
 * How the files of this room walk over and move entries: values by their size alone, entries in
 * blocks that show both indices whatever the format.
 */
#ifndef SPRY_MATRIX_ENTRIES_H
#define SPRY_MATRIX_ENTRIES_H

#include "matrix/matrix.h"

#include <math.h>

/* Called with a constant size from one place a size, so that the compiler sees plain moves. */
#define ALWAYS_INLINE static inline __attribute__((always_inline))

ALWAYS_INLINE void element_move(size_t size, void *to, int64_t i, const void *from, int64_t k)
{
    memcpy((char *)to + (size_t)i * size, (const char *)from + (size_t)k * size, size);
}

/* "2" or "1-2i" by the type: for messages. */
enum { VALUE_TEXT = 64 };
const char *value_text(spry_type type, spry_scalar value, char text[VALUE_TEXT]);

/* value_get() and value_set() for loops. */
ALWAYS_INLINE spry_scalar value_load(spry_type type, const void *values, int64_t k)
{
    switch (type) {
    case SPRY_TYPE_S:
        return (spry_scalar){(double)((const float *)values)[k], 0};
    case SPRY_TYPE_D:
        return (spry_scalar){((const double *)values)[k], 0};
    case SPRY_TYPE_C: {
        const float *pair = (const float *)values + 2 * k;
        return (spry_scalar){(double)pair[0], (double)pair[1]};
    }
    case SPRY_TYPE_Z:
    default: {
        const double *pair = (const double *)values + 2 * k;
        return (spry_scalar){pair[0], pair[1]};
    }
    }
}

ALWAYS_INLINE void value_store(spry_type type, void *values, int64_t k, spry_scalar value)
{
    switch (type) {
    case SPRY_TYPE_S:
        ((float *)values)[k] = (float)value.re;
        break;
    case SPRY_TYPE_D:
        ((double *)values)[k] = value.re;
        break;
    case SPRY_TYPE_C:
        ((float *)values)[2 * k] = (float)value.re;
        ((float *)values)[2 * k + 1] = (float)value.im;
        break;
    case SPRY_TYPE_Z:
    default:
        ((double *)values)[2 * k] = value.re;
        ((double *)values)[2 * k + 1] = value.im;
        break;
    }
}

/* Parts to cut n units of work into: one per thread, fewer when there is little to do. */
int matrix_parts(const spry_context *ctx, int64_t n);

/* Entries of the longest row, or of the longest column of CSC. */
int64_t matrix_longest_row(const spry_context *ctx, const matrix_arrays *a);

/* memcpy by all threads. */
void matrix_copy_bytes(const spry_context *ctx, void *to, const void *from, size_t bytes);

/* The row (CSR) or column (CSC) that holds entry k. */
int64_t matrix_major_of(const matrix_arrays *a, int64_t k);

/* Entries in blocks of at most WALK_SIZE with both indices; the implied one is written out. */
enum { WALK_SIZE = 1024 };
typedef struct entry_loop {
    const matrix_arrays *a;
    int64_t at, end, major;
    int count;                /* of the block */
    int64_t first;            /* entry the block starts with */
    const int32_t *row, *col; /* of the block's entries */
    int32_t implied[WALK_SIZE];
} entry_loop;

void entry_loop_start(entry_loop *w, const matrix_arrays *a, range entries);
bool entry_loop_next(entry_loop *w);

/* Writes the row (column) of each entry of a compressed matrix. */
void matrix_write_major(const spry_context *ctx, const matrix_arrays *a, int32_t *index);

/*
 * Groups the entries by row (or column): a stable sort by that index, which must be stored. Fills
 * the arrays of `to`, a compressed format that holds as many entries.
 */
spry_status matrix_group(spry_context *ctx, const matrix_arrays *a, bool by_row,
                         const matrix_arrays *to);
/* Whether the index never falls, and the offsets of rows 0..major then. */
bool matrix_rises(const spry_context *ctx, const int32_t *index, int64_t n);
void matrix_count_rising(const spry_context *ctx, const int32_t *index, int64_t n, int64_t major,
                         int64_t *offsets);

/* Whether entries of every row (column of CSC) rise; strictly: none occurs twice. */
bool matrix_sorted(const spry_context *ctx, const matrix_arrays *a, bool strictly);

/* What one entry and its mirror image may be rounded parts of, relative to which their difference
 * is seen; `root` has sqrt |a_ii|, which matrix_diagonal_roots() makes for the caller to free. */
static inline double value_rough(spry_scalar v)
{
    return fabs(v.re) + fabs(v.im);
}
static inline double matrix_mirror_size(const double *root, int64_t i, int64_t j, spry_scalar v,
                                        spry_scalar w)
{
    return fmax(root[i] * root[j], fmax(value_rough(v), value_rough(w)));
}
spry_status matrix_diagonal_roots(spry_context *ctx, const matrix_arrays *a, double **root);

/* Gives A arrays of its own in place of those it had, which are freed or unmapped if its. */
void matrix_replace(spry_matrix *A, const matrix_arrays *own);
/* A new matrix with the sizes and symmetry of `like` in its own format or another, arrays unset. */
matrix_arrays matrix_like(const matrix_arrays *like, spry_format format);
/* The index arrays and values of arrays that have their offsets; on failure frees those too. */
spry_status matrix_allocate_entries(spry_context *ctx, matrix_arrays *arrays);
/* Copies offsets and indices between arrays of one format and size. */
void matrix_copy_structure(const spry_context *ctx, const matrix_arrays *from,
                           const matrix_arrays *to);
/* Makes the arrays of A^T in A's format; symmetry is not looked at. */
spry_status matrix_transpose_arrays(spry_context *ctx, const matrix_arrays *a, matrix_arrays *to);
/* The first entry that is not finite; -1: none. */
int64_t matrix_first_bad(const spry_matrix *A);
/* Fails where there is one, for "precon" "ilu"; the message names its place. */
spry_status matrix_check_finite(const spry_matrix *A, const char *what, const char *name);
/* A copy that owns its arrays. */
spry_status matrix_copy(const spry_matrix *A, spry_matrix **B);
/* As matrix_as_csr(), with columns that rise in each row and no place twice. *owned is to be freed
 * also on failure. */
spry_status matrix_as_sorted_csr(const spry_matrix *A, const spry_matrix **csr,
                                 spry_matrix **owned);
/* Ends what made arrays: wraps them into *B, or frees them when status is a failure. */
spry_status matrix_finish(spry_context *ctx, spry_status status, matrix_arrays *made,
                          spry_matrix **B);
/* Does the work on a CSR copy of a COO matrix, which then takes over the result; unchanged on
 * failure. */
spry_status matrix_do_as_csr(spry_matrix *A, spry_status (*work)(spry_matrix *));
/* Frees *B after a failure; passes the status on. */
spry_status matrix_drop_failed(spry_status status, spry_matrix **B);
/* The index array that is stored by compressed formats. */
ALWAYS_INLINE int32_t *matrix_minor(const matrix_arrays *a)
{
    return a->format == SPRY_FORMAT_CSC ? a->row_index : a->col_index;
}

/* The place of the first of sorted numbers that is not below `least`; count: there is none. */
int64_t matrix_first_from(const int64_t *list, int64_t count, int64_t least);
/* The same for indices low..high-1, high: there is none. */
ALWAYS_INLINE int64_t matrix_first_index(const int32_t *list, int64_t low, int64_t high,
                                         int64_t least)
{
    while (low < high) {
        const int64_t middle = low + (high - low) / 2;
        if (list[middle] < least)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* The place of column j in row i of CSR arrays, which is sorted; -1: it is not stored. */
ALWAYS_INLINE int64_t matrix_find(const matrix_arrays *a, int64_t i, int64_t j)
{
    const int64_t end = a->offsets[i + 1];
    const int64_t at = matrix_first_index(a->col_index, a->offsets[i], end, j);
    return at < end && a->col_index[at] == j ? at : -1;
}

/* Sorts the columns of a row, which is a few sorted pieces, as a rule. */
void matrix_sort_columns(int32_t *columns, int64_t n);
/* The place of the diagonal entry, in the middle of most rows; -1: it is not stored. */
ALWAYS_INLINE int64_t matrix_find_diagonal(const matrix_arrays *a, int64_t i)
{
    const int64_t begin = a->offsets[i], end = a->offsets[i + 1],
                  middle = begin + (end - begin) / 2;
    return middle < end && a->col_index[middle] == i ? middle : matrix_find(a, i, i);
}

/* values = -values and conj(values), as asked. */
void matrix_flip_values(const spry_context *ctx, spry_type type, void *values, int64_t n,
                        bool negate, bool conjugate);

#endif
