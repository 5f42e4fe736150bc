/* Matrices at random, and dense pictures of matrices made the simplest way there is. */
#include "support/support.h"

#include "operator/operator.h"

#include <stdlib.h>
#include <string.h>

const spry_type support_types[4] = {SPRY_TYPE_S, SPRY_TYPE_D, SPRY_TYPE_C, SPRY_TYPE_Z};

static double eighth(uint64_t seed, uint64_t index)
{
    const int number = (int)(base_random(seed, index) % 64); /* 0..63 */
    return (number < 32 ? number - 32 : number - 31) / 8.0;  /* -32..-1, 1..32 */
}

spry_scalar support_number(spry_type type, uint64_t seed, uint64_t index)
{
    return (spry_scalar){eighth(seed, 2 * index),
                         spry_type_is_complex(type) ? eighth(seed, 2 * index + 1) : 0};
}

spry_status support_new(spry_context *ctx, const matrix_arrays *arrays, spry_own own,
                        spry_matrix **A)
{
    const spry_arrays shown = matrix_shown(arrays);
    return spry_matrix_new(ctx, &shown, own, A);
}

/* The place of entry k; the lower triangle's where one is implied. */
static void place(const support_recipe *r, int64_t k, int32_t *row, int32_t *col)
{
    const uint64_t chance = base_random(r->seed + 1, (uint64_t)k);
    int64_t i = (int64_t)(chance % (uint64_t)r->rows);
    int64_t j = (int64_t)((chance >> 32) % (uint64_t)r->cols);
    if (r->shape == SUPPORT_ONE_ROW && k % 2 == 0)
        i = r->rows / 2;
    if (r->shape == SUPPORT_ONE_COL && k % 2 == 0)
        j = r->cols / 2;
    if (r->shape == SUPPORT_BANDED) {
        j = i * r->cols / r->rows + (int64_t)((chance >> 32) % 7) - 3;
        j = j < 0 ? 0 : j >= r->cols ? r->cols - 1 : j;
    }
    if (r->symmetry != SPRY_SYMMETRY_GENERAL && i < j) {
        const int64_t swap = i;
        i = j;
        j = swap;
    }
    if (r->symmetry == SPRY_SYMMETRY_SKEW && i == j) {
        i = i == 0 ? 1 : i;
        j = i - 1;
    }
    *row = (int32_t)i;
    *col = (int32_t)j;
}

spry_matrix *support_matrix(spry_context *ctx, const support_recipe *r)
{
    const int64_t n =
        r->rows == 0 || r->cols == 0 || (r->symmetry == SPRY_SYMMETRY_SKEW && r->rows < 2) ? 0
                                                                                           : r->nnz;
    const size_t count = (size_t)n + 1; /* malloc(0) may be NULL */
    int32_t *row = malloc(count * sizeof *row), *col = malloc(count * sizeof *col);
    void *values = malloc(count * spry_type_size(r->type));
    assert_true(row && col && values);
    for (int64_t k = 0; k < n; k++) {
        place(r, k, &row[k], &col[k]);
        spry_scalar number = support_number(r->type, r->seed, (uint64_t)k);
        if (r->symmetry == SPRY_SYMMETRY_HERMITIAN && row[k] == col[k])
            number.im = 0;
        value_set(r->type, values, k, number);
    }
    const spry_arrays arrays = {.type = r->type,
                                .format = SPRY_FORMAT_COO,
                                .symmetry = r->symmetry,
                                .rows = r->rows,
                                .cols = r->cols,
                                .nnz = n,
                                .row_index = row,
                                .col_index = col,
                                .values = values};
    spry_matrix *coo = NULL, *A = NULL;
    assert_ok(ctx, spry_matrix_new(ctx, &arrays, SPRY_OWN_COPY, &coo));
    free(row);
    free(col);
    free(values);
    if (r->sorted)
        assert_ok(ctx, spry_matrix_sum_duplicates(coo));
    assert_ok(ctx, spry_matrix_convert(coo, r->format, &A));
    spry_matrix_free(coo);
    return A;
}

spry_matrix *support_sorted(spry_context *ctx, spry_type type, support_shape shape, int64_t rows,
                            int64_t cols, int64_t nnz, uint64_t seed)
{
    return support_matrix(ctx, &(support_recipe){.type = type,
                                                 .format = SPRY_FORMAT_CSR,
                                                 .rows = rows,
                                                 .cols = cols,
                                                 .nnz = nnz,
                                                 .shape = shape,
                                                 .seed = seed,
                                                 .sorted = true});
}

spry_matrix *support_from_csr(spry_context *ctx, spry_type type, int64_t rows, int64_t cols,
                              int64_t *offsets, int32_t *columns, void *values)
{
    spry_matrix *A = NULL;
    assert_ok(ctx, spry_matrix_from_csr(ctx, type, rows, cols, offsets, columns, values,
                                        SPRY_OWN_COPY, &A));
    free(offsets);
    free(columns);
    free(values);
    return A;
}

spry_matrix *support_long_row(spry_context *ctx, spry_type type, int64_t n)
{
    enum { LONG = 17, COLUMN = 5 };
    int64_t *offsets = calloc((size_t)n + 1, sizeof *offsets), k = 0;
    int32_t *columns = calloc(3 * (size_t)n, sizeof *columns);
    void *values = calloc(3 * (size_t)n, spry_type_size(type));
    assert_true(offsets && columns && values);
    for (int32_t i = 0; i < n; i++) {
        if (i == LONG) {
            for (int32_t j = 0; j < n; j++)
                columns[k++] = j;
        } else {
            columns[k++] = i < COLUMN ? i : COLUMN;
            if (i != COLUMN)
                columns[k++] = i < COLUMN ? COLUMN : i;
        }
        offsets[i + 1] = k;
    }
    for (int64_t e = 0; e < k; e++)
        value_set(type, values, e, support_number(type, 8, (uint64_t)e));
    return support_from_csr(ctx, type, n, n, offsets, columns, values);
}

spry_matrix *support_from_rows(spry_context *ctx, spry_type type, int64_t rows, int64_t cols,
                               const double *numbers)
{
    const size_t places = (size_t)(rows * cols) + 1;
    int64_t *offsets = calloc((size_t)rows + 1, sizeof *offsets);
    int32_t *columns = malloc(places * sizeof *columns);
    void *values = malloc(places * spry_type_size(type));
    assert_true(offsets && columns && values);
    int64_t n = 0;
    for (int64_t i = 0; i < rows; i++) {
        for (int64_t j = 0; j < cols; j++) {
            const double number = numbers[i * cols + j];
            if (number == 0)
                continue;
            columns[n] = (int32_t)j;
            value_set(type, values, n++, (spry_scalar){number, 0});
        }
        offsets[i + 1] = n;
    }
    return support_from_csr(ctx, type, rows, cols, offsets, columns, values);
}

support_dense support_dense_zeros(int64_t rows, int64_t cols)
{
    const size_t places = (size_t)(rows * cols) + 1;
    support_dense dense = {rows, cols, calloc(places, sizeof(spry_scalar)),
                           calloc(places, sizeof(int64_t))};
    assert_true(dense.at && dense.entries);
    return dense;
}

void support_dense_free(support_dense *dense)
{
    free(dense->at);
    free(dense->entries);
    *dense = (support_dense){0};
}

/* Calls see(data, i, j, value) for every entry of the full matrix, stored order, mirror image after
 * its entry. */
static void each_entry(const spry_matrix *A,
                       void (*see)(void *data, int64_t i, int64_t j, spry_scalar value), void *data)
{
    const matrix_arrays a = A->a;
    int64_t major = 0;
    for (int64_t k = 0; k < a.nnz; k++) {
        while (a.offsets && k >= a.offsets[major + 1])
            major++;
        const int64_t i = a.row_index ? a.row_index[k] : major;
        const int64_t j = a.col_index ? a.col_index[k] : major;
        spry_scalar v = value_get(a.type, a.values, k);
        see(data, i, j, v);
        if (a.symmetry == SPRY_SYMMETRY_GENERAL || i == j)
            continue;
        if (a.symmetry == SPRY_SYMMETRY_SKEW)
            v = (spry_scalar){-v.re, -v.im};
        if (a.symmetry == SPRY_SYMMETRY_HERMITIAN)
            v.im = -v.im;
        see(data, j, i, v);
    }
}

static void add_entry(void *data, int64_t i, int64_t j, spry_scalar value)
{
    support_dense *dense = data;
    dense->at[i * dense->cols + j].re += value.re;
    dense->at[i * dense->cols + j].im += value.im;
    dense->entries[i * dense->cols + j]++;
}

support_dense support_dense_of(const spry_matrix *A)
{
    support_dense dense = support_dense_zeros(spry_matrix_rows(A), spry_matrix_cols(A));
    each_entry(A, add_entry, &dense);
    return dense;
}

void support_dense_same(support_dense a, support_dense b)
{
    assert_int_equal(a.rows, b.rows);
    assert_int_equal(a.cols, b.cols);
    for (int64_t k = 0; k < a.rows * a.cols; k++) {
        if (a.at[k].re == b.at[k].re && a.at[k].im == b.at[k].im && a.entries[k] == b.entries[k])
            continue;
        print_error("(%lld, %lld): (%g, %g) of %lld entries against (%g, %g) of %lld\n",
                    (long long)(k / a.cols), (long long)(k % a.cols), a.at[k].re, a.at[k].im,
                    (long long)a.entries[k], b.at[k].re, b.at[k].im, (long long)b.entries[k]);
        fail();
    }
    support_dense_free(&a);
    support_dense_free(&b);
}

void support_same_arrays(const spry_matrix *A, const spry_matrix *B)
{
    const matrix_arrays a = A->a, b = B->a;
    assert_int_equal(a.type, b.type);
    assert_int_equal(a.format, b.format);
    assert_int_equal(a.symmetry, b.symmetry);
    assert_int_equal(a.rows, b.rows);
    assert_int_equal(a.cols, b.cols);
    assert_int_equal(a.nnz, b.nnz);
    const size_t nnz = (size_t)a.nnz;
    if (a.format != SPRY_FORMAT_COO)
        assert_memory_equal(a.offsets, b.offsets, (size_t)(matrix_major(&a) + 1) * sizeof(int64_t));
    if (nnz > 0 && a.format != SPRY_FORMAT_CSR)
        assert_memory_equal(a.row_index, b.row_index, nnz * sizeof(int32_t));
    if (nnz > 0 && a.format != SPRY_FORMAT_CSC)
        assert_memory_equal(a.col_index, b.col_index, nnz * sizeof(int32_t));
    if (nnz > 0)
        assert_memory_equal(a.values, b.values, nnz * spry_type_size(a.type));
}

typedef struct product {
    spry_transpose op;
    const spry_scalar *x;
    spry_scalar *y;
} product;

static void multiply_entry(void *data, int64_t i, int64_t j, spry_scalar v)
{
    const product *p = data;
    const spry_scalar x = p->x[p->op == SPRY_TRANSPOSE_NO ? j : i];
    spry_scalar *y = &p->y[p->op == SPRY_TRANSPOSE_NO ? i : j];
    if (p->op == SPRY_TRANSPOSE_CONJUGATE)
        v.im = -v.im;
    y->re += v.re * x.re - v.im * x.im;
    y->im += v.re * x.im + v.im * x.re;
}

void support_multiply(const spry_matrix *A, spry_transpose op, const spry_scalar *x, spry_scalar *y)
{
    const int64_t n = op == SPRY_TRANSPOSE_NO ? spry_matrix_rows(A) : spry_matrix_cols(A);
    for (int64_t i = 0; i < n; i++)
        y[i] = (spry_scalar){0, 0};
    product p = {op, x, y};
    each_entry(A, multiply_entry, &p);
}

void support_exact(spry_context *ctx, const spry_matrix *A, const spry_operator *op)
{
    const spry_type type = A->a.type;
    const int64_t rows = A->a.rows, cols = A->a.cols;
    spry_vector *x = NULL, *y = NULL;
    spry_storage storage = SPRY_STORAGE_INIT;
    spry_scalar *numbers = calloc((size_t)cols + 1, sizeof *numbers);
    spry_scalar *sums = calloc((size_t)rows + 1, sizeof *sums);
    assert_ok(ctx, spry_vector_new(ctx, type, cols, NULL, SPRY_OWN_COPY, &x));
    assert_ok(ctx, spry_vector_new(ctx, type, rows, NULL, SPRY_OWN_COPY, &y));
    for (int64_t j = 0; j < cols; j++) {
        numbers[j] = support_number(type, 21, (uint64_t)j);
        value_set(type, x->data, j, numbers[j]);
    }
    support_multiply(A, SPRY_TRANSPOSE_NO, numbers, sums);
    assert_ok(ctx, spry_operator_apply(op, x, y));
    for (int64_t i = 0; i < rows; i++) {
        const spry_scalar v = value_get(type, y->data, i);
        assert_true(v.re == sums[i].re && v.im == sums[i].im);
    }
    assert_ok(ctx, spry_operator_storage(op, &storage));
    assert_true(storage.exact);
    spry_vector_free(x);
    spry_vector_free(y);
    free(numbers);
    free(sums);
}

void support_put(spry_matrix *A, int64_t k, spry_scalar value)
{
    value_set(A->a.type, A->a.values, k, value);
    matrix_changed(A);
}
