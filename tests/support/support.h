/*
 * What the C tests share: a context a test, matrices made at random, dense pictures of matrices to
 * compare with, and the loop that makes every allocation fail in turn.
 */
#ifndef SPRY_TESTS_SUPPORT_H
#define SPRY_TESTS_SUPPORT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <private/hooks.h>
#include <private/programs.h>
#include <spry/grid.h>

/* Fixture: *state is a context with default options; teardown fails when memory is still in use. */
int support_setup(void **state);
int support_teardown(void **state);

/* The same by hand, for tests that need contexts with options ("threads=3"). */
spry_context *support_context(const char *options);
void support_context_free(spry_context *ctx);

/* The call's status must be the one expected; on a mismatch the context's message is shown. */
#define assert_ok(ctx, call) support_status(ctx, SPRY_STATUS_OK, call, #call, __FILE__, __LINE__)
#define assert_status(ctx, expected, call) \
    support_status(ctx, expected, call, #call, __FILE__, __LINE__)
void support_status(const spry_context *ctx, spry_status expected, spry_status found,
                    const char *call, const char *file, int line);
/* The message must hold the text. */
void support_message_has(const spry_context *ctx, const char *text);

/* Whether all is to be tried that takes long: SPRY_TEST_FULL=1. */
bool support_full(void);
/* Whether a type, by its place in support_types, has its turn in tests over all: d and c, or s and
 * z where the turn is odd; all of them where tests are full. */
bool support_turn(int type, int64_t turn);

/* s, d, c, z */
extern const spry_type support_types[4];
/* Numbers of threads that results must not depend on. */
extern const int support_threads[4];

/*
 * A random number, the same on every machine: an eighth between -4 and 4 and not 0, so that sums
 * of a few are exact in every type. Complex types get such an imaginary part as well.
 */
spry_scalar support_number(spry_type type, uint64_t seed, uint64_t index);

typedef enum support_shape {
    SUPPORT_UNIFORM, /* entries anywhere, in any order, some places twice */
    SUPPORT_ONE_ROW, /* half of the entries in the middle row */
    SUPPORT_ONE_COL, /* half of the entries in the middle column */
    SUPPORT_BANDED   /* within 3 of the (stretched) diagonal */
} support_shape;

typedef struct support_recipe {
    spry_type type;
    spry_format format;
    spry_symmetry symmetry; /* not general: entries are mirrored into the lower triangle */
    int64_t rows, cols, nnz;
    support_shape shape;
    uint64_t seed;
    bool sorted; /* sorted and without duplicates (nnz is then what remains) */
} support_recipe;

/* Makes the matrix; fails the test when that fails. */
spry_matrix *support_matrix(spry_context *ctx, const support_recipe *recipe);
/* spry_matrix_new() of arrays whose pointers have types (matrix/matrix.h). */
struct matrix_arrays;
spry_status support_new(spry_context *ctx, const struct matrix_arrays *arrays, spry_own own,
                        spry_matrix **A);
/* The usual recipe: general CSR, sorted and without duplicates. */
spry_matrix *support_sorted(spry_context *ctx, spry_type type, support_shape shape, int64_t rows,
                            int64_t cols, int64_t nnz, uint64_t seed);
/* CSR of a copy of arrays, which are freed. */
spry_matrix *support_from_csr(spry_context *ctx, spry_type type, int64_t rows, int64_t cols,
                              int64_t *offsets, int32_t *columns, void *values);
/* Another number for entry k. */
void support_put(spry_matrix *A, int64_t k, spry_scalar value);
/* n x n with a full row, the 18th, a full column, the 6th, and the diagonal. */
spry_matrix *support_long_row(spry_context *ctx, spry_type type, int64_t n);
/* CSR from the rows of a dense real matrix; zeros are not stored. */
spry_matrix *support_from_rows(spry_context *ctx, spry_type type, int64_t rows, int64_t cols,
                               const double *numbers);

/* A matrix written out: the implied triangle as well, duplicates added up. For small ones. */
typedef struct support_dense {
    int64_t rows, cols;
    spry_scalar *at;  /* row by row */
    int64_t *entries; /* how many entries share the place */
} support_dense;

support_dense support_dense_of(const spry_matrix *A);
support_dense support_dense_zeros(int64_t rows, int64_t cols);
void support_dense_free(support_dense *dense);
/* Every number and every count equal; frees both. */
void support_dense_same(support_dense a, support_dense b);

/* Asserts that both have the same shape and bitwise the same arrays. */
void support_same_arrays(const spry_matrix *A, const spry_matrix *B);

/* y = A x and y = A^T x (A^H with conjugate) in double arithmetic, from the stored entries. */
void support_multiply(const spry_matrix *A, spry_transpose op, const spry_scalar *x,
                      spry_scalar *y);

/* A x is what the operator gives, to the bit: where numbers are those of support_matrix() and few a
 * row, sums are exact in every format and order. The operator stores A exactly, and says so. */
void support_exact(spry_context *ctx, const spry_matrix *A, const spry_operator *op);

/* What a torture loop calls: does the work, frees its results, hands back the status. */
/* An allocator that counts the blocks there are, and those asked for so far. */
typedef struct support_counts {
    int blocks, asked;
} support_counts;
spry_allocator support_counted(support_counts *counts);

typedef spry_status (*support_call)(spry_context *ctx, void *data);
/* Makes allocation 1, 2, ... fail (alone, then with all after it) until the call succeeds. Each
 * failure must be SPRY_STATUS_NO_MEMORY with a message and leave no memory behind. */
void support_torture(spry_context *ctx, support_call call, void *data);

#endif
