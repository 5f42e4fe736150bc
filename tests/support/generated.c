/* Making and looking at generated matrices. */
#include "support/generated.h"

#include "matrix/matrix.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

void generated_check(const spry_matrix *A)
{
    matrix_arrays a = A->a;
    assert_int_equal(a.format, SPRY_FORMAT_CSR);
    assert_int_equal(a.symmetry, SPRY_SYMMETRY_GENERAL);
    assert_int_equal(a.rows, a.cols);
    assert_int_equal(a.offsets[0], 0);
    assert_int_equal(a.offsets[a.rows], a.nnz);
    for (int64_t i = 0; i < a.rows; i++) {
        assert_true(a.offsets[i] <= a.offsets[i + 1]);
        for (int64_t k = a.offsets[i]; k < a.offsets[i + 1]; k++) {
            assert_in_range(a.col_index[k], 0, a.cols - 1);
            assert_true(k == a.offsets[i] || a.col_index[k - 1] < a.col_index[k]);
        }
    }
}

spry_matrix *generated(spry_context *ctx, const char *kind, const char *options)
{
    spry_matrix *A = NULL;
    assert_ok(ctx, spry_generate(ctx, kind, options, &A));
    generated_check(A);
    return A;
}

spry_matrix *generated_as(spry_context *ctx, spry_type type, const char *kind, const char *options,
                          ...)
{
    char text[256];
    va_list args;
    va_start(args, options);
    const int length = vsnprintf(text, sizeof text, options, args);
    va_end(args);
    assert_in_range(length, 0, sizeof text - 16);
    snprintf(text + length, sizeof text - (size_t)length, " type=%s", spry_type_name(type));
    return generated(ctx, kind, text);
}

static spry_scalar times(spry_scalar a, spry_scalar b)
{
    return (spry_scalar){a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
}

void generated_turn(spry_matrix *A, double angle, spry_scalar q)
{
    const matrix_arrays *a = &A->a;
    for (int64_t i = 0; i < a->rows && spry_type_is_complex(a->type); i++)
        for (int64_t k = a->offsets[i]; k < a->offsets[i + 1]; k++) {
            const int64_t j = a->col_index[k];
            const double t = angle * (double)(i - j);
            const spry_scalar p = {cos(t), sin(t)};
            value_set(a->type, a->values, k,
                      times(value_get(a->type, a->values, k), i == j ? q : p));
        }
    matrix_changed(A);
}

support_dense generated_dense(spry_context *ctx, const char *kind, const char *options)
{
    spry_matrix *A = generated(ctx, kind, options);
    support_dense dense = support_dense_of(A);
    spry_matrix_free(A);
    return dense;
}

spry_scalar generated_at(const support_dense *A, int64_t i, int64_t j)
{
    return A->at[i * A->cols + j];
}

bool generated_symmetric(const support_dense *A, bool conjugate)
{
    bool same = true;
    for (int64_t i = 0; i < A->rows; i++) {
        for (int64_t j = 0; j <= i; j++) {
            spry_scalar a = generated_at(A, i, j), b = generated_at(A, j, i);
            same = same && a.re == b.re && a.im == (conjugate ? -b.im : b.im);
        }
    }
    return same;
}

/* a -= b conj(c) */
static void subtract(spry_scalar *a, spry_scalar b, spry_scalar c)
{
    a->re -= b.re * c.re + b.im * c.im;
    a->im -= b.im * c.re - b.re * c.im;
}

bool generated_definite(support_dense *A)
{
    for (int64_t j = 0; j < A->rows; j++) {
        spry_scalar *row = A->at + j * A->cols;
        for (int64_t k = 0; k < j; k++)
            subtract(&row[j], row[k], row[k]);
        if (!(row[j].re > 0))
            return false;
        double pivot = sqrt(row[j].re);
        for (int64_t i = j + 1; i < A->rows; i++) {
            spry_scalar *other = A->at + i * A->cols;
            for (int64_t k = 0; k < j; k++)
                subtract(&other[j], other[k], row[k]);
            other[j].re /= pivot;
            other[j].im /= pivot;
        }
    }
    return true;
}

double generated_others(const support_dense *A, int64_t i)
{
    double sum = 0;
    for (int64_t j = 0; j < A->cols; j++) {
        spry_scalar a = generated_at(A, i, j);
        sum += j == i ? 0 : hypot(a.re, a.im);
    }
    return sum;
}

spry_matrix *generated_band(spry_context *ctx, spry_type type, int64_t rows, int64_t cols,
                            int64_t turn, bool bare)
{
    static const int offsets[] = {-37, -5, -1, 0, 2, 19};
    spry_matrix *coo = NULL, *A = NULL;
    const int64_t most = 6 * rows;
    int32_t *row = calloc((size_t)most + 1, sizeof *row),
            *col = calloc((size_t)most + 1, sizeof *col);
    void *values = calloc((size_t)most + 1, spry_type_size(type));
    int64_t nnz = 0;
    for (int64_t i = 0; i < rows; i++)
        for (int d = 0; d < 6; d++) {
            const int64_t j = i + offsets[d], phase = i / turn % 4;
            if (j < 0 || j >= cols || (d == 3 && phase == 2 && bare) || (d == 4 && phase == 3))
                continue;
            const double number = d == 3 && phase == 0 ? (double)(i % 7)
                                  : d == 5             ? (double)phase
                                                       : d - 3;
            row[nnz] = (int32_t)i;
            col[nnz] = (int32_t)j;
            value_set(type, values, nnz++, (spry_scalar){number, d * 0.25});
        }
    spry_arrays arrays = {.type = type,
                          .format = SPRY_FORMAT_COO,
                          .rows = rows,
                          .cols = cols,
                          .nnz = nnz,
                          .row_index = row,
                          .col_index = col,
                          .values = values};
    assert_ok(ctx, spry_matrix_new(ctx, &arrays, SPRY_OWN_COPY, &coo));
    assert_ok(ctx, spry_matrix_convert(coo, SPRY_FORMAT_CSR, &A));
    spry_matrix_free(coo);
    free(row);
    free(col);
    free(values);
    return A;
}
