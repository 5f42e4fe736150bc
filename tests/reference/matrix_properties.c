/*
 * What must hold for any matrix: conversion agrees with the plainest sort there is, there and back
 * is the identity, transposition and products agree, and every bit is the same for any number of
 * threads. Numbers are eighths, so sums are exact and equality is meant.
 */
#include "support/support.h"

#include "matrix/entries.h"

#include <stdlib.h>
#include <string.h>

enum { PRINTS = 4096 };

/* Fingerprints of all matrices made, to be the same for any number of threads. */
typedef struct journal {
    uint64_t prints[PRINTS];
    int count;
} journal;

typedef struct setting {
    spry_context *ctx;
    spry_matrix *A; /* COO */
    journal *made;
    bool small; /* a dense picture is affordable */
} setting;

static uint64_t mix(uint64_t hash, const void *data, size_t bytes)
{
    const char *byte = data;
    for (size_t i = 0; i < bytes; i += sizeof hash) {
        uint64_t word = 0;
        memcpy(&word, byte + i, bytes - i < sizeof word ? bytes - i : sizeof word);
        hash = (hash ^ word) * UINT64_C(0x9e3779b97f4a7c15);
        hash ^= hash >> 32;
    }
    return hash;
}

/* A matrix was made: it must pass the checks that a caller's arrays do. */
static void note(const setting *s, const spry_matrix *A)
{
    const matrix_arrays a = A->a;
    assert_ok(s->ctx, matrix_check_arrays(s->ctx, &a));
    const size_t nnz = (size_t)a.nnz;
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    hash = mix(hash, &a.rows, sizeof a.rows);
    hash = mix(hash, &a.nnz, sizeof a.nnz);
    if (a.offsets)
        hash = mix(hash, a.offsets, (size_t)(matrix_major(&a) + 1) * sizeof *a.offsets);
    if (a.row_index)
        hash = mix(hash, a.row_index, nnz * sizeof *a.row_index);
    if (a.col_index)
        hash = mix(hash, a.col_index, nnz * sizeof *a.col_index);
    hash = mix(hash, a.values, nnz * spry_type_size(a.type));
    assert_true(s->made->count < PRINTS);
    s->made->prints[s->made->count++] = hash;
}

/* CSR or CSC by going through all entries once per row: stable without a thought. */
static spry_matrix *plain_group(spry_context *ctx, const spry_matrix *coo, spry_format format)
{
    const matrix_arrays a = coo->a;
    const bool by_row = format == SPRY_FORMAT_CSR;
    const int64_t major = by_row ? a.rows : a.cols;
    const int32_t *key = by_row ? a.row_index : a.col_index;
    const int32_t *other = by_row ? a.col_index : a.row_index;
    const size_t size = spry_type_size(a.type);
    int64_t *offsets = calloc((size_t)major + 1, sizeof *offsets);
    int64_t *next = calloc((size_t)major + 1, sizeof *next);
    int32_t *index = malloc(((size_t)a.nnz + 1) * sizeof *index);
    char *values = malloc(((size_t)a.nnz + 1) * size);
    assert_true(offsets && next && index && values);
    for (int64_t k = 0; k < a.nnz; k++)
        offsets[key[k] + 1]++;
    for (int64_t i = 0; i < major; i++) {
        offsets[i + 1] += offsets[i];
        next[i] = offsets[i];
    }
    for (int64_t k = 0; k < a.nnz; k++) {
        const int64_t at = next[key[k]]++;
        index[at] = other[k];
        memcpy(values + (size_t)at * size, (const char *)a.values + (size_t)k * size, size);
    }
    matrix_arrays to = a;
    to.format = format;
    to.offsets = offsets;
    to.row_index = by_row ? NULL : index;
    to.col_index = by_row ? index : NULL;
    to.values = values;
    spry_matrix *B = NULL;
    assert_ok(ctx, support_new(ctx, &to, SPRY_OWN_COPY, &B));
    free(offsets);
    free(next);
    free(index);
    free(values);
    return B;
}

/* Large matrices show what threads and buckets do; that does not depend on the format. */
static bool wanted(const setting *s, int format)
{
    return s->small || format == SPRY_FORMAT_CSR;
}

static spry_matrix *converted(const setting *s, const spry_matrix *A, spry_format format)
{
    spry_matrix *B = NULL;
    assert_ok(s->ctx, spry_matrix_convert(A, format, &B));
    note(s, B);
    return B;
}

/* Both the same after sorting; frees both. */
static void same_sorted(const setting *s, spry_matrix *A, spry_matrix *B)
{
    assert_ok(s->ctx, spry_matrix_sort(A));
    assert_ok(s->ctx, spry_matrix_sort(B));
    note(s, A);
    support_same_arrays(A, B);
    spry_matrix_free(A);
    spry_matrix_free(B);
}

static void conversion_is_a_stable_sort(const setting *s)
{
    for (int format = SPRY_FORMAT_CSR; format <= SPRY_FORMAT_CSC; format++) {
        spry_matrix *plain = plain_group(s->ctx, s->A, (spry_format)format);
        spry_matrix *B = converted(s, s->A, (spry_format)format);
        support_same_arrays(B, plain);
        spry_matrix_free(plain);
        spry_matrix_free(B);
    }
}

static void round_trips_are_the_identity(const setting *s)
{
    for (int first = SPRY_FORMAT_COO; first <= SPRY_FORMAT_CSC; first++)
        for (int second = SPRY_FORMAT_COO; second <= SPRY_FORMAT_CSC; second++) {
            if (!wanted(s, first) && !wanted(s, second))
                continue;
            spry_matrix *B = converted(s, s->A, (spry_format)first);
            spry_matrix *C = converted(s, B, (spry_format)second);
            spry_matrix *D = converted(s, C, (spry_format)first);
            spry_matrix_free(C);
            same_sorted(s, B, D);
        }
}

static void twice_transposed_is_the_same(const setting *s)
{
    for (int format = SPRY_FORMAT_COO; format <= SPRY_FORMAT_CSC; format++)
        for (int conjugate = 0; wanted(s, format) && conjugate < 2; conjugate++) {
            spry_matrix *B = converted(s, s->A, (spry_format)format), *C = NULL, *D = NULL;
            assert_ok(s->ctx, spry_matrix_transpose(B, conjugate, &C));
            note(s, C);
            assert_ok(s->ctx, spry_matrix_transpose(C, conjugate, &D));
            spry_matrix_free(C);
            same_sorted(s, B, D);
        }
}

static spry_scalar *numbers(spry_type type, int64_t n)
{
    spry_scalar *x = malloc(((size_t)n + 1) * sizeof *x);
    assert_non_null(x);
    for (int64_t i = 0; i < n; i++)
        x[i] = support_number(type, 99, (uint64_t)i);
    return x;
}

/* op(A) x = B x, frees B. */
static void same_product(const setting *s, spry_transpose op, spry_matrix *B)
{
    const int64_t rows = spry_matrix_rows(B), cols = spry_matrix_cols(B);
    spry_scalar *x = numbers(spry_matrix_type(B), cols);
    spry_scalar *y = numbers(SPRY_TYPE_Z, rows), *z = numbers(SPRY_TYPE_Z, rows);
    support_multiply(s->A, op, x, y);
    support_multiply(B, SPRY_TRANSPOSE_NO, x, z);
    for (int64_t i = 0; i < rows; i++)
        assert_true(y[i].re == z[i].re && y[i].im == z[i].im);
    free(x);
    free(y);
    free(z);
    spry_matrix_free(B);
}

static void products_agree(const setting *s)
{
    for (int format = SPRY_FORMAT_COO; format <= SPRY_FORMAT_CSC; format++) {
        if (!wanted(s, format))
            continue;
        spry_matrix *A = converted(s, s->A, (spry_format)format), *B = NULL;
        assert_ok(s->ctx, spry_matrix_transpose(A, false, &B));
        same_product(s, SPRY_TRANSPOSE_YES, B);
        assert_ok(s->ctx, spry_matrix_transpose(A, true, &B));
        same_product(s, SPRY_TRANSPOSE_CONJUGATE, B);
        assert_ok(s->ctx, spry_matrix_expand(A, &B));
        assert_int_equal(spry_matrix_symmetry(B), SPRY_SYMMETRY_GENERAL);
        note(s, B);
        same_product(s, SPRY_TRANSPOSE_NO, B);
        assert_ok(s->ctx, spry_matrix_sort(A)); /* what is sorted stays so */
        assert_ok(s->ctx, spry_matrix_expand(A, &B));
        assert_true(matrix_sorted(s->ctx, &B->a, false));
        same_product(s, SPRY_TRANSPOSE_NO, B);
        spry_matrix *csr_owned = NULL;
        const spry_matrix *csr = NULL;
        assert_ok(s->ctx, matrix_as_csr(A, &csr, &csr_owned));
        assert_int_equal(csr->a.format, SPRY_FORMAT_CSR);
        assert_int_equal(csr->a.symmetry, SPRY_SYMMETRY_GENERAL);
        assert_int_equal(csr == A,
                         format == SPRY_FORMAT_CSR && s->A->a.symmetry == SPRY_SYMMETRY_GENERAL);
        if (csr_owned)
            same_product(s, SPRY_TRANSPOSE_NO, csr_owned);
        same_product(s, SPRY_TRANSPOSE_NO, A);
    }
}

static void dense_pictures_agree(const setting *s)
{
    if (!s->small)
        return;
    for (int format = SPRY_FORMAT_COO; format <= SPRY_FORMAT_CSC; format++) {
        spry_matrix *A = converted(s, s->A, (spry_format)format), *B = NULL;
        support_dense_same(support_dense_of(s->A), support_dense_of(A));
        assert_ok(s->ctx, spry_matrix_expand(A, &B));
        support_dense_same(support_dense_of(s->A), support_dense_of(B));
        spry_matrix_free(B);
        spry_matrix_free(A);
    }
}

/* One entry a place, in order, and the sums those of the entries. */
static void sums_of_duplicates(const setting *s)
{
    for (int format = SPRY_FORMAT_COO; format <= SPRY_FORMAT_CSC; format++) {
        spry_matrix *A = converted(s, s->A, (spry_format)format);
        assert_ok(s->ctx, spry_matrix_sum_duplicates(A));
        note(s, A);
        const matrix_arrays a = A->a;
        for (int64_t k = 1; k < a.nnz; k++) {
            int64_t row, col, next_row, next_col;
            matrix_place(&a, k - 1, &row, &col);
            matrix_place(&a, k, &next_row, &next_col);
            if (format == SPRY_FORMAT_CSC)
                assert_true(next_col > col || (next_col == col && next_row > row));
            else
                assert_true(next_row > row || (next_row == row && next_col > col));
        }
        if (s->small) {
            support_dense dense = support_dense_of(s->A);
            for (int64_t k = 0; k < dense.rows * dense.cols; k++)
                dense.entries[k] = dense.entries[k] > 0;
            support_dense_same(dense, support_dense_of(A));
        }
        same_product(s, SPRY_TRANSPOSE_NO, A);
    }
}

static int32_t *permutation(int64_t n, uint64_t seed)
{
    int32_t *p = malloc(((size_t)n + 1) * sizeof *p);
    assert_non_null(p);
    for (int64_t i = 0; i < n; i++) {
        const int64_t j = (int64_t)(base_random(seed, (uint64_t)i) % (uint64_t)(i + 1));
        p[i] = p[j];
        p[j] = (int32_t)i;
    }
    return p;
}

static void permuted(const setting *s, spry_matrix *A, const int32_t *p, const int32_t *q)
{
    const int64_t rows = spry_matrix_rows(A), cols = spry_matrix_cols(A);
    spry_matrix *B = NULL;
    assert_ok(s->ctx, spry_matrix_permute(A, p, q, &B));
    note(s, B);
    assert_int_equal(spry_matrix_format(B), spry_matrix_format(A));
    assert_int_equal(spry_matrix_symmetry(B),
                     p == q ? spry_matrix_symmetry(A) : SPRY_SYMMETRY_GENERAL);
    if (s->small) {
        support_dense from = support_dense_of(A), to = support_dense_zeros(rows, cols);
        for (int64_t i = 0; i < rows; i++)
            for (int64_t j = 0; j < cols; j++) {
                const int64_t source = (p ? p[i] : i) * cols + (q ? q[j] : j);
                to.at[i * cols + j] = from.at[source];
                to.entries[i * cols + j] = from.entries[source];
            }
        support_dense_free(&from);
        support_dense_same(to, support_dense_of(B));
    }
    /* (P A Q) x = P (A (Q x)) */
    spry_scalar *x = numbers(spry_matrix_type(A), cols), *qx = numbers(SPRY_TYPE_Z, cols);
    spry_scalar *y = numbers(SPRY_TYPE_Z, rows), *z = numbers(SPRY_TYPE_Z, rows);
    for (int64_t j = 0; j < cols; j++)
        qx[q ? q[j] : j] = x[j];
    support_multiply(A, SPRY_TRANSPOSE_NO, qx, y);
    support_multiply(B, SPRY_TRANSPOSE_NO, x, z);
    for (int64_t i = 0; i < rows; i++) {
        const spry_scalar expected = y[p ? p[i] : i];
        assert_true(z[i].re == expected.re && z[i].im == expected.im);
    }
    free(x);
    free(qx);
    free(y);
    free(z);
    spry_matrix_free(B);
}

static void permutation_moves_entries(const setting *s)
{
    int32_t *p = permutation(s->A->a.rows, 5), *q = permutation(s->A->a.cols, 6);
    for (int format = SPRY_FORMAT_COO; format <= SPRY_FORMAT_CSC; format++) {
        if (!wanted(s, format))
            continue;
        spry_matrix *A = converted(s, s->A, (spry_format)format);
        permuted(s, A, NULL, NULL);
        if (s->A->a.rows == s->A->a.cols)
            permuted(s, A, p, p);
        if (s->A->a.rows > 1 && s->A->a.cols > 1) { /* there are several permutations */
            permuted(s, A, p, q);
            permuted(s, A, NULL, q);
        }
        spry_matrix_free(A);
    }
    free(p);
    free(q);
}

static void diagonal_is_the_dense_one(const setting *s)
{
    if (!s->small)
        return;
    support_dense dense = support_dense_of(s->A);
    for (int format = SPRY_FORMAT_COO; format <= SPRY_FORMAT_CSC; format++) {
        spry_matrix *A = converted(s, s->A, (spry_format)format);
        spry_vector *d = NULL;
        assert_ok(s->ctx, spry_matrix_diagonal(A, &d));
        for (int64_t i = 0; i < spry_vector_size(d); i++) {
            const spry_scalar v = value_get(A->a.type, spry_vector_data_const(d), i);
            const spry_scalar expected = dense.at[i * dense.cols + i];
            assert_true(v.re == expected.re && v.im == expected.im);
        }
        spry_vector_free(d);
        spry_matrix_free(A);
    }
    support_dense_free(&dense);
}

/* Eighths fit every type, so a cast that keeps what it can is undone by the one back. */
static void cast_and_back(const setting *s)
{
    for (int t = 0; t < 4; t++) {
        spry_matrix *B = NULL, *C = NULL;
        const bool loses =
            spry_type_is_complex(s->A->a.type) && !spry_type_is_complex(support_types[t]);
        if (loses)
            continue;
        assert_ok(s->ctx, spry_matrix_cast(s->A, support_types[t], &B));
        assert_int_equal(spry_matrix_type(B), support_types[t]);
        note(s, B);
        assert_ok(s->ctx, spry_matrix_cast(B, s->A->a.type, &C));
        support_same_arrays(s->A, C);
        spry_matrix_free(C);
        same_product(s, SPRY_TRANSPOSE_NO, B);
    }
}

static void check_properties(const setting *s)
{
    conversion_is_a_stable_sort(s);
    round_trips_are_the_identity(s);
    twice_transposed_is_the_same(s);
    products_agree(s);
    dense_pictures_agree(s);
    sums_of_duplicates(s);
    permutation_moves_entries(s);
    diagonal_is_the_dense_one(s);
    cast_and_back(s);
}

/* The properties with each number of threads, which must leave the same journal. */
static void check_recipe(support_recipe recipe)
{
    static journal first, later;
    recipe.format = SPRY_FORMAT_COO;
    for (int t = 0; t < 4; t++) {
        char options[32];
        snprintf(options, sizeof options, "threads=%d", support_threads[t]);
        spry_context *ctx = support_context(options);
        journal *made = t == 0 ? &first : &later;
        made->count = 0;
        const setting s = {ctx, support_matrix(ctx, &recipe), made,
                           recipe.rows * recipe.cols <= 10000};
        check_properties(&s);
        if (t > 0) {
            assert_int_equal(later.count, first.count);
            assert_memory_equal(later.prints, first.prints,
                                (size_t)first.count * sizeof *first.prints);
        }
        spry_matrix_free(s.A);
        support_context_free(ctx);
    }
}

static void small_matrices(void **state)
{
    (void)state;
    static const support_recipe recipes[] = {
        {.rows = 0, .cols = 0},
        {.rows = 0, .cols = 7},
        {.rows = 7, .cols = 0},
        {.rows = 1, .cols = 1, .nnz = 3},
        {.rows = 1, .cols = 50, .nnz = 70},
        {.rows = 50, .cols = 1, .nnz = 70},
        {.rows = 17, .cols = 23, .nnz = 120},
        {.rows = 40, .cols = 30, .nnz = 10},
        {.rows = 40, .cols = 40, .nnz = 200, .shape = SUPPORT_ONE_ROW},
        {.rows = 40, .cols = 40, .nnz = 200, .shape = SUPPORT_ONE_COL},
        {.rows = 60, .cols = 9, .nnz = 300, .shape = SUPPORT_BANDED},
    };
    for (int t = 0; t < 4; t++)
        for (size_t r = 0; r < sizeof recipes / sizeof recipes[0]; r++) {
            support_recipe recipe = recipes[r];
            recipe.type = support_types[t];
            recipe.seed = 100 * r + (uint64_t)t;
            check_recipe(recipe);
        }
}

static void small_triangles(void **state)
{
    (void)state;
    for (int t = 0; t < 4; t++)
        for (int symmetry = SPRY_SYMMETRY_SYMMETRIC; symmetry <= SPRY_SYMMETRY_HERMITIAN;
             symmetry++)
            for (int shape = SUPPORT_UNIFORM; shape <= SUPPORT_BANDED; shape++)
                check_recipe((support_recipe){.type = support_types[t],
                                              .symmetry = (spry_symmetry)symmetry,
                                              .rows = 31,
                                              .cols = 31,
                                              .nnz = 150,
                                              .shape = (support_shape)shape,
                                              .seed = (uint64_t)(t + symmetry)});
}

/* Beyond what one thread keeps for itself: each way of grouping, in parallel. */
static void large_matrices(void **state)
{
    (void)state;
    static const support_recipe recipes[] = {
        {.type = SPRY_TYPE_D, .rows = 30000, .cols = 20000, .nnz = 40000},
        {.type = SPRY_TYPE_C, .rows = 18000, .cols = 18000, .nnz = 34000, .shape = SUPPORT_BANDED},
        {.type = SPRY_TYPE_S, .rows = 300, .cols = 20000, .nnz = 34000, .shape = SUPPORT_ONE_ROW},
        {.type = SPRY_TYPE_Z,
         .symmetry = SPRY_SYMMETRY_HERMITIAN,
         .rows = 18000,
         .cols = 18000,
         .nnz = 34000},
        {.type = SPRY_TYPE_S, .rows = 1, .cols = 100000, .nnz = 100000},
        {.type = SPRY_TYPE_D, .rows = 200000, .cols = 100000, .nnz = 20},
    };
    for (size_t r = 0; r < sizeof recipes / sizeof recipes[0]; r++)
        check_recipe(recipes[r]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(small_matrices),
        cmocka_unit_test(small_triangles),
        cmocka_unit_test(large_matrices),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
