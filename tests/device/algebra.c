/*
 * Sums, products and transposes of sparse matrices in a device's memory against the host's. Numbers
 * are eighths (support_number), so that sums of their products are exact in every type and in every
 * order: patterns must be the same, and numbers equal. Where numbers are rough, the same work is
 * done twice and must give the same bits.
 */
#include "support/devices.h"
#include "support/layouts.h"

#include "device/linalg/operator.h"

#include "matrix/entries.h"

#include <spry/algebra.h>

#include <math.h>

static device_matrix put(spry_device *d, const spry_matrix *A)
{
    device_matrix to;
    assert_ok(d->ctx, device_matrix_put(d, A, &to));
    return to;
}

/* Takes both away. Zeros are equal whatever their sign. */
static void check_same(spry_context *ctx, spry_matrix *want, device_matrix *found)
{
    spry_matrix *got = NULL;
    assert_ok(ctx, device_matrix_get(found, &got));
    const matrix_arrays *a = &want->a, *b = &got->a;
    assert_true(a->rows == b->rows && a->cols == b->cols && a->nnz == b->nnz && a->type == b->type);
    assert_memory_equal(a->offsets, b->offsets, (size_t)(a->rows + 1) * sizeof *a->offsets);
    if (a->nnz > 0)
        assert_memory_equal(a->col_index, b->col_index, (size_t)a->nnz * sizeof *a->col_index);
    for (int64_t k = 0; k < a->nnz; k++) {
        const spry_scalar x = value_get(a->type, a->values, k),
                          y = value_get(b->type, b->values, k);
        if (x.re != y.re || x.im != y.im)
            fail_msg("entry %" PRId64 ": %g %+g i, not %g %+g i", k, y.re, y.im, x.re, x.im);
    }
    spry_matrix_free(got);
    spry_matrix_free(want);
    device_matrix_free(found);
}

static void moves(spry_context *ctx, spry_device *d)
{
    for (int t = 0; t < 4; t++) {
        spry_matrix *A = support_sorted(ctx, support_types[t], SUPPORT_UNIFORM, 30, 50, 200, 7);
        device_matrix on_device = put(d, A);
        check_same(ctx, A, &on_device);
    }
    device_matrix_free(NULL);
}

typedef struct product_case {
    support_shape a_shape, b_shape;
    int64_t rows, inner, cols, a_nnz, b_nnz;
} product_case;

/* Rows of C of every class: none, few, hundreds, thousands; one that all entries of A are in. */
static const product_case products[] = {
    {SUPPORT_UNIFORM, SUPPORT_UNIFORM, 300, 200, 400, 900, 700},
    {SUPPORT_UNIFORM, SUPPORT_UNIFORM, 100, 100, 3000, 600, 6000},
    {SUPPORT_ONE_ROW, SUPPORT_UNIFORM, 101, 500, 9000, 500, 12000},
    {SUPPORT_ONE_COL, SUPPORT_ONE_ROW, 101, 101, 2000, 100, 3000},
    {SUPPORT_BANDED, SUPPORT_BANDED, 1000, 1000, 1000, 5000, 5000},
    {SUPPORT_UNIFORM, SUPPORT_UNIFORM, 50, 40, 30, 0, 60},
    {SUPPORT_UNIFORM, SUPPORT_UNIFORM, 50, 40, 30, 60, 0},
    {SUPPORT_UNIFORM, SUPPORT_UNIFORM, 0, 5, 7, 0, 9},
};

static void check_product(spry_context *ctx, spry_device *d, spry_type type, const product_case *c)
{
    spry_matrix *A = support_sorted(ctx, type, c->a_shape, c->rows, c->inner, c->a_nnz, 7);
    spry_matrix *B = support_sorted(ctx, type, c->b_shape, c->inner, c->cols, c->b_nnz, 7),
                *C = NULL;
    device_matrix a = put(d, A), b = put(d, B), found;
    assert_ok(ctx, spry_matrix_multiply(A, B, &C));
    assert_ok(ctx, device_matrix_multiply(&a, &b, &found));
    check_same(ctx, C, &found);
    device_matrix_free(&a);
    device_matrix_free(&b);
    spry_matrix_free(A);
    spry_matrix_free(B);
}

/* Rows of A that are cut into pieces, and new values in an old pattern: A, B and C keep theirs. */
static void pieces(spry_context *ctx, spry_device *d)
{
    const product_case c = {SUPPORT_ONE_ROW, SUPPORT_UNIFORM, 5, 60000, 300, 50000, 60000};
    spry_matrix *A = support_sorted(ctx, SPRY_TYPE_C, c.a_shape, c.rows, c.inner, c.a_nnz, 7);
    spry_matrix *B = support_sorted(ctx, SPRY_TYPE_C, c.b_shape, c.inner, c.cols, c.b_nnz, 7);
    device_matrix a = put(d, A), b = put(d, B), found;
    spry_matrix *C = NULL;
    check_product(ctx, d, SPRY_TYPE_C, &c);
    assert_ok(ctx, device_matrix_multiply(&a, &b, &found));
    for (int64_t k = 0; k < A->a.nnz; k++)
        support_put(A, k, support_number(SPRY_TYPE_C, 99, (uint64_t)k));
    assert_ok(ctx, device_put(a.values, 0, A->a.values, A->a.nnz * 8));
    assert_ok(ctx, spry_matrix_multiply(A, B, &C));
    assert_ok(ctx, device_matrix_multiply_again(&a, &b, &found));
    check_same(ctx, C, &found);
    device_matrix_free(&a);
    device_matrix_free(&b);
    spry_matrix_free(A);
    spry_matrix_free(B);
}

/* The same bits each time, and by new values in an old pattern, where sums are rounded. */
static void repeats(spry_context *ctx, spry_device *d)
{
    spry_matrix *A = support_sorted(ctx, SPRY_TYPE_D, SUPPORT_UNIFORM, 400, 400, 20000, 7),
                *first = NULL;
    for (int64_t k = 0; k < A->a.nnz; k++)
        ((double *)A->a.values)[k] = sin((double)k);
    device_matrix a = put(d, A), found = {0};
    for (int time = 0; time < 3; time++) {
        spry_matrix *again = NULL;
        if (time == 2) {
            assert_ok(ctx, device_clear(found.values, 0, found.nnz * 8));
            assert_ok(ctx, device_matrix_multiply_again(&a, &a, &found));
        } else {
            device_matrix_free(&found);
            assert_ok(ctx, device_matrix_multiply(&a, &a, &found));
        }
        assert_ok(ctx, device_matrix_get(&found, &again));
        if (first)
            support_same_arrays(first, again);
        spry_matrix_free(time > 0 ? again : NULL);
        first = first ? first : again;
    }
    spry_matrix_free(first);
    device_matrix_free(&a);
    device_matrix_free(&found);
    spry_matrix_free(A);
}

static void multiply(spry_context *ctx, spry_device *d)
{
    DEVICES_EACH_TYPE (d, t)
        for (size_t i = 0; i < sizeof products / sizeof *products; i++)
            check_product(ctx, d, support_types[t], &products[i]);
}

/* Rows of A^T of every size: those that are sorted by ranks, in local memory, in global memory. */
static void transpose(spry_context *ctx, spry_device *d)
{
    static const product_case cases[] = {
        {SUPPORT_UNIFORM, 0, 300, 0, 200, 900, 0},    {SUPPORT_UNIFORM, 0, 3000, 0, 10, 5000, 0},
        {SUPPORT_ONE_COL, 0, 9000, 0, 101, 12000, 0}, {SUPPORT_UNIFORM, 0, 40, 0, 30, 0, 0},
        {SUPPORT_UNIFORM, 0, 900, 0, 40, 8000, 0},    {SUPPORT_UNIFORM, 0, 0, 0, 30, 0, 0},
    };
    DEVICES_EACH_TYPE (d, t)
        for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
            const product_case *c = &cases[i];
            spry_matrix *A =
                support_sorted(ctx, support_types[t], c->a_shape, c->rows, c->cols, c->a_nnz, 7);
            spry_matrix *T = NULL;
            device_matrix a = put(d, A), found;
            assert_ok(ctx, spry_matrix_transpose(A, i % 2 == 0, &T));
            assert_ok(ctx, device_matrix_transpose(&a, i % 2 == 0, &found));
            check_same(ctx, T, &found);
            device_matrix_free(&a);
            spry_matrix_free(A);
        }
}

/* R A P with R = P^H, and with another. */
static void triple(spry_context *ctx, spry_device *d)
{
    spry_matrix *A = support_sorted(ctx, SPRY_TYPE_Z, SUPPORT_BANDED, 200, 200, 900, 7);
    spry_matrix *P = support_sorted(ctx, SPRY_TYPE_Z, SUPPORT_UNIFORM, 200, 40, 300, 7);
    spry_matrix *R = support_sorted(ctx, SPRY_TYPE_Z, SUPPORT_UNIFORM, 30, 200, 300, 7), *C = NULL;
    device_matrix a = put(d, A), p = put(d, P), r = put(d, R), found;
    assert_ok(ctx, spry_matrix_triple(NULL, A, P, &C));
    assert_ok(ctx, device_matrix_triple(NULL, &a, &p, &found));
    check_same(ctx, C, &found);
    assert_ok(ctx, spry_matrix_triple(R, A, P, &C));
    assert_ok(ctx, device_matrix_triple(&r, &a, &p, &found));
    check_same(ctx, C, &found);
    device_matrix_free(&a);
    device_matrix_free(&p);
    device_matrix_free(&r);
    spry_matrix_free(A);
    spry_matrix_free(P);
    spry_matrix_free(R);
}

/* Operators over matrices of the device, and matrices of operators: products, transposed ones too,
 * and what comes back. Empty rows, and rows of very different lengths. */
static void check_operator(spry_context *ctx, spry_device *d, const spry_matrix *A,
                           const char *spec, bool keep)
{
    device_matrix a = put(d, A), again;
    spry_operator *op = NULL;
    spry_matrix *copy = NULL, *back = NULL;
    spry_vector *diagonal = NULL, *want = NULL;
    const double terms = layouts_most_terms(ctx, A);
    assert_ok(ctx, device_matrix_operator(&a, keep, spec, &op));
    assert_true(keep == (a.offsets != NULL));
    assert_ptr_equal(device_of(op), d);
    for (int t = SPRY_TRANSPOSE_NO; t <= SPRY_TRANSPOSE_CONJUGATE; t++)
        layouts_check_product(ctx, A, op, spec ? spec : "", (spry_transpose)t, 0, terms);
    assert_ok(ctx, matrix_copy(A, &copy));
    assert_ok(ctx, device_matrix_of(op, &again));
    check_same(ctx, copy, &again);
    assert_ok(ctx, spry_operator_to_matrix(op, &back));
    support_same_arrays(A, back);
    if (A->a.rows == A->a.cols) {
        assert_ok(ctx, spry_operator_diagonal(op, &diagonal));
        assert_ok(ctx, spry_matrix_diagonal(A, &want));
        assert_memory_equal(spry_vector_data(want), spry_vector_data(diagonal),
                            (size_t)A->a.rows * spry_type_size(A->a.type));
    }
    spry_vector_free(diagonal);
    spry_vector_free(want);
    spry_matrix_free(back);
    spry_operator_free(op);
    device_matrix_free(&a);
}

static void operators(spry_context *ctx, spry_device *d)
{
    spry_matrix *A = support_sorted(ctx, SPRY_TYPE_C, SUPPORT_UNIFORM, 300, 200, 500, 7);
    spry_matrix *B = support_sorted(ctx, SPRY_TYPE_D, SUPPORT_ONE_ROW, 260, 260, 900, 7);
    spry_operator *op = NULL;
    device_matrix back;
    check_operator(ctx, d, A, "csr", false);
    check_operator(ctx, d, A, "sell", true);
    check_operator(ctx, d, B, NULL, true);
    check_operator(ctx, d, B, "csr", true);
    /* One that the host made, in a format that goes by way of it. */
    assert_ok(ctx, device_operator(d, B, "sell:sigma=64", &op));
    assert_ok(ctx, device_matrix_of(op, &back));
    check_same(ctx, B, &back);
    spry_operator_free(op);
    back = put(d, A);
    assert_status(ctx, SPRY_STATUS_UNSUPPORTED, device_matrix_operator(&back, false, "dia", &op));
    support_message_has(ctx, "sell and csr have no holes");
    assert_null(back.offsets);
    spry_matrix_free(A);
}

static void refusals(spry_context *ctx, spry_device *d)
{
    spry_matrix *A = support_sorted(ctx, SPRY_TYPE_S, SUPPORT_UNIFORM, 4, 5, 8, 7);
    device_matrix a = put(d, A), C;
    assert_status(ctx, SPRY_STATUS_BAD_USAGE, device_matrix_multiply(&a, &a, &C));
    support_message_has(ctx, "4 x 5 of type s times 4 x 5");
    assert_null(C.offsets);
    device_matrix_free(&a);
    spry_matrix_free(A);
}

int main(void)
{
    static const devices_test tests[] = {DEVICES_TEST(moves),     DEVICES_TEST(multiply),
                                         DEVICES_TEST(pieces),    DEVICES_TEST(repeats),
                                         DEVICES_TEST(transpose), DEVICES_TEST(triple),
                                         DEVICES_TEST(operators), DEVICES_TEST(refusals)};
    return DEVICES_RUN(tests);
}
