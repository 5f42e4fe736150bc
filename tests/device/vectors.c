/* Vectors on devices, and products with them, against the same on the host. */
#include "support/devices.h"
#include "support/numeric.h"

#include "device/linalg/operator.h"
#include "device/linalg/vector.h"
#include "host/apply.h"

#include <float.h>
#include <stdlib.h>

static const int64_t lengths[] = {0, 1, 2, 255, 257, 1023, 70001};
enum { LENGTHS = sizeof lengths / sizeof *lengths };

/* A copy of it on the device. */
static spry_vector *on_device(spry_device *d, const spry_vector *x)
{
    spry_vector *v = NULL;
    assert_ok(d->ctx, spry_vector_on(d, spry_vector_type(x), spry_vector_size(x), NULL, &v));
    assert_ok(d->ctx, spry_vector_copy(x, v));
    assert_ptr_equal(spry_vector_device(v), d);
    return v;
}

static spry_scalar factor(spry_type type, double re, double im)
{
    return (spry_scalar){re, spry_type_is_complex(type) ? im : 0};
}

/* Each element of y is a sum of two products of numbers up to `size`, rounded three times in each
 * part, on the host as on the device. */
static void check_near(spry_device *d, const spry_vector *expected, const spry_vector *found,
                       double size, const char *what)
{
    const spry_type type = spry_vector_type(expected);
    const double bound = 2 * 6 * numeric_unit(type) * size;
    spry_vector *back = NULL;
    assert_ok(d->ctx, spry_vector_new(d->ctx, type, spry_vector_size(expected), NULL, SPRY_OWN_COPY,
                                      &back));
    assert_ok(d->ctx, spry_vector_copy(found, back));
    for (int64_t i = 0; i < expected->n; i++) {
        const spry_scalar a = value_get(type, expected->data, i);
        const spry_scalar b = value_get(type, back->data, i);
        if (!(fabs(a.re - b.re) <= bound && fabs(a.im - b.im) <= bound))
            fail_msg("%s, type %s, element %lld of %lld: %g%+gi, expected %g%+gi", what,
                     spry_type_name(type), (long long)i, (long long)expected->n, b.re, b.im, a.re,
                     a.im);
    }
    spry_vector_free(back);
}

static void check_elements(spry_device *d, spry_type type, int64_t n)
{
    spry_context *ctx = d->ctx;
    spry_vector *x = numeric_random(ctx, NULL, type, n, 1),
                *y = numeric_random(ctx, NULL, type, n, 2);
    spry_vector *dx = on_device(d, x), *dy = on_device(d, y), *dz = NULL;
    const spry_scalar a = factor(type, -1.5, 0.75), b = factor(type, 0.5, 2);
    assert_ok(ctx, spry_vector_like(dx, n, &dz));
    assert_ptr_equal(spry_vector_device(dz), d);
    assert_ok(ctx, spry_vector_axpy(a, x, y));
    assert_ok(ctx, spry_vector_axpy(a, dx, dy));
    check_near(d, y, dy, 8, "axpy");
    assert_ok(ctx, vector_xpay(x, b, y));
    assert_ok(ctx, vector_xpay(dx, b, dy));
    check_near(d, y, dy, 64, "xpay");
    assert_ok(ctx, spry_vector_copy(y, dy));
    assert_ok(ctx, spry_vector_scale(a, y));
    assert_ok(ctx, spry_vector_scale(a, dy));
    check_near(d, y, dy, 64, "scale");
    assert_ok(ctx, spry_vector_copy(y, dy));
    assert_ok(ctx, spry_vector_multiply(dx, dy, dz));
    assert_ok(ctx, spry_vector_multiply(x, y, y));
    check_near(d, y, dz, 128, "multiply");
    assert_ok(ctx, spry_vector_fill(x, a));
    assert_ok(ctx, spry_vector_fill(dx, a));
    check_near(d, x, dx, 0, "fill"); /* bit by bit */
    assert_ok(ctx, vector_random(y, 9));
    assert_ok(ctx, vector_random(dy, 9));
    check_near(d, y, dy, 0, "random");
    spry_vector *const all[] = {x, y, dx, dy, dz};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        spry_vector_free(all[i]);
}

/* Sums of n products of numbers below 1 in each part, in double on both sides. */
static void check_sums(spry_device *d, spry_type type, int64_t n)
{
    spry_context *ctx = d->ctx;
    spry_vector *x = numeric_random(ctx, NULL, type, n, 3),
                *y = numeric_random(ctx, NULL, type, n, 4);
    spry_vector *dx = on_device(d, x), *dy = on_device(d, y);
    spry_scalar a, b, again;
    double p, q;
    assert_ok(ctx, spry_vector_dot(x, y, &a));
    assert_ok(ctx, spry_vector_dot(dx, dy, &b));
    assert_ok(ctx, spry_vector_dot(dx, dy, &again));
    assert_memory_equal(&b, &again, sizeof b);
    /* The host may sum in the type's own precision, in chunks. */
    const double bound = 8 * (double)(n + 4) * numeric_unit(type);
    assert_true(fabs(a.re - b.re) <= bound && fabs(a.im - b.im) <= bound);
    assert_ok(ctx, spry_vector_norm(x, &p));
    assert_ok(ctx, spry_vector_norm(dx, &q));
    assert_true(fabs(p - q) <= 4 * (double)(n + 4) * numeric_unit(type) * p);
    assert_true(n == 0 || q > 0);
    spry_vector_free(x);
    spry_vector_free(y);
    spry_vector_free(dx);
    spry_vector_free(dy);
}

static void arithmetic(spry_context *ctx, spry_device *d)
{
    (void)ctx;
    for (int t = 0; t < 4; t++)
        for (int i = 0; i < LENGTHS; i++) {
            check_elements(d, support_types[t], lengths[i]);
            check_sums(d, support_types[t], lengths[i]);
        }
}

/* Squares beyond the range of double. */
static void extreme_norms(spry_context *ctx, spry_device *d)
{
    static const double sizes[] = {1e-300, 1e300, 4.9406564584124654e-324, 0};
    enum { N = 10000 };
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        spry_vector *v = NULL;
        double norm;
        assert_ok(ctx, spry_vector_on(d, SPRY_TYPE_Z, N, NULL, &v));
        assert_ok(ctx, spry_vector_fill(v, (spry_scalar){sizes[i], 0}));
        assert_ok(ctx, spry_vector_norm(v, &norm));
        const double expected = 100 * sizes[i];
        assert_true(fabs(norm - expected) <= N * DBL_EPSILON * expected + 5e-324);
        spry_vector_free(v);
    }
}

/* From every type and place to every other. */
static void copies(spry_context *ctx, spry_device *d)
{
    enum { N = 777 };
    for (int s = 0; s < 4; s++)
        for (int t = 0; t < 4; t++) {
            spry_vector *x = NULL, *y = NULL, *dy = NULL, *back = NULL;
            assert_ok(ctx, spry_vector_new(ctx, support_types[s], N, NULL, SPRY_OWN_COPY, &x));
            assert_ok(ctx, spry_vector_fill(x, (spry_scalar){0.375, 0}));
            assert_ok(ctx, spry_vector_new(ctx, support_types[t], N, NULL, SPRY_OWN_COPY, &y));
            assert_ok(ctx, spry_vector_new(ctx, support_types[t], N, NULL, SPRY_OWN_COPY, &back));
            assert_ok(ctx, spry_vector_on(d, support_types[t], N, NULL, &dy));
            spry_vector *dx = on_device(d, x);
            assert_ok(ctx, spry_vector_copy(x, y));
            assert_ok(ctx, spry_vector_copy(dx, dy));
            assert_ok(ctx, spry_vector_copy(dy, back));
            assert_memory_equal(y->data, back->data, N * spry_type_size(support_types[t]));
            assert_ok(ctx, spry_vector_fill(dy, (spry_scalar){1, 0}));
            assert_ok(ctx, spry_vector_copy(x, dy));
            assert_ok(ctx, spry_vector_fill(back, (spry_scalar){0, 0}));
            assert_ok(ctx, spry_vector_copy(dy, back));
            assert_memory_equal(y->data, back->data, N * spry_type_size(support_types[t]));
            spry_vector *const all[] = {x, y, dx, dy, back};
            for (size_t i = 0; i < sizeof all / sizeof *all; i++)
                spry_vector_free(all[i]);
        }
}

/* To another type on the device itself, with the bits of the host: numbers of all sizes, and those
 * that are none. What does not fit is reported as on the host. */
static void other_types(spry_context *ctx, spry_device *d)
{
    enum { N = 70001, ODD = 4 };
    static const double odd[ODD] = {INFINITY, -INFINITY, 1e-42, -0.0};
    for (int s = 0; s < 4; s++)
        for (int t = 0; t < 4; t++) {
            const spry_type from = support_types[s], to = support_types[t];
            spry_vector *x = numeric_random(ctx, NULL, from, N, 3), *y = NULL, *dy = NULL,
                        *back = NULL;
            for (int64_t i = 0; i < N; i++) {
                const spry_scalar v = value_get(from, x->data, i);
                const double scale = ldexp(1, (int)(i % 240) - 120);
                value_set(from, x->data, i,
                          i < ODD ? (spry_scalar){odd[i], 0}
                                  : factor(to, v.re * scale, v.im * scale));
            }
            assert_ok(ctx, spry_vector_new(ctx, to, N, NULL, SPRY_OWN_COPY, &y));
            assert_ok(ctx, spry_vector_new(ctx, to, N, NULL, SPRY_OWN_COPY, &back));
            assert_ok(ctx, spry_vector_on(d, to, N, NULL, &dy));
            spry_vector *dx = on_device(d, x);
            const int64_t moved = d->moved;
            assert_ok(ctx, spry_vector_copy(dx, dy));
            assert_in_range(d->moved - moved, 0, 16); /* nothing but whether it fits */
            assert_ok(ctx, spry_vector_copy(x, y));
            assert_ok(ctx, spry_vector_copy(dy, back));
            assert_memory_equal(y->data, back->data, N * spry_type_size(to));
            spry_vector *const all[] = {x, y, dx, dy, back};
            for (size_t i = 0; i < sizeof all / sizeof *all; i++)
                spry_vector_free(all[i]);
        }
}

static void types_that_do_not_fit(spry_context *ctx, spry_device *d)
{
    spry_vector *z = NULL, *real = NULL, *single = NULL;
    assert_ok(ctx, spry_vector_on(d, SPRY_TYPE_C, 3, NULL, &single));
    assert_ok(ctx, spry_vector_on(d, SPRY_TYPE_Z, 3, NULL, &z));
    assert_ok(ctx, spry_vector_fill(z, (spry_scalar){1, -1e39}));
    assert_status(ctx, SPRY_STATUS_BAD_INPUT, spry_vector_copy(z, single));
    support_message_has(ctx, "does not fit type c");
    spry_vector_free(single);
    assert_ok(ctx, spry_vector_on(d, SPRY_TYPE_D, 3, NULL, &real));
    assert_ok(ctx, spry_vector_fill(z, (spry_scalar){1, 2}));
    assert_status(ctx, SPRY_STATUS_BAD_INPUT, spry_vector_copy(z, real));
    support_message_has(ctx, "imaginary part");
    spry_vector_free(z);
    spry_vector_free(real);
}

static void borrowed(spry_context *ctx, spry_device *d)
{
    spry_vector *owner = NULL, *v = NULL;
    double norm;
    assert_ok(ctx, spry_vector_on(d, SPRY_TYPE_D, 100, NULL, &owner));
    assert_ok(ctx,
              spry_vector_on(d, SPRY_TYPE_D, 25, device_address(device_vector_memory(owner)), &v));
    assert_ok(ctx, spry_vector_fill(v, (spry_scalar){2, 0}));
    spry_vector_free(v);
    assert_ok(ctx, spry_vector_norm(owner, &norm));
    assert_true(norm == 10);
    if (d->facts.has_pointers)
        assert_ptr_equal(spry_vector_data(owner), device_address(device_vector_memory(owner)));
    else
        assert_null(spry_vector_data(owner));
    spry_vector_free(owner);
}

static void wrong_uses(spry_context *ctx, spry_device *d)
{
    spry_vector *host = numeric_random(ctx, NULL, SPRY_TYPE_D, 10, 1),
                *of_device = on_device(d, host), *v = NULL;
    spry_scalar sum;
    assert_status(ctx, SPRY_STATUS_BAD_USAGE,
                  spry_vector_axpy((spry_scalar){1, 0}, host, of_device));
    support_message_has(ctx, spry_device_name(d));
    assert_status(ctx, SPRY_STATUS_BAD_USAGE, spry_vector_dot(host, of_device, &sum));
    support_message_has(ctx, spry_device_name(d));
    assert_status(ctx, SPRY_STATUS_BAD_USAGE, spry_vector_multiply(of_device, of_device, host));
    assert_status(ctx, SPRY_STATUS_BAD_USAGE, spry_vector_on(d, SPRY_TYPE_D, -1, NULL, &v));
    assert_null(v);
    assert_status(ctx, SPRY_STATUS_NO_MEMORY,
                  spry_vector_on(d, SPRY_TYPE_D, INT64_MAX / 2, NULL, &v));
    assert_status(ctx, SPRY_STATUS_BAD_USAGE, spry_vector_fill(of_device, (spry_scalar){0, 1}));
    spry_vector_free(host);
    spry_vector_free(of_device);
}

/* y = alpha op(A) x + beta y with x and y on the host and on the device gives the same bits. */
static void products(spry_context *ctx, spry_device *d)
{
    const spry_scalar alpha = {-0.5, 0.25}, beta = {1.5, -2};
    spry_matrix *A = support_sorted(ctx, SPRY_TYPE_Z, SUPPORT_UNIFORM, 301, 301, 2000, 5);
    spry_operator *op = NULL, *jacobi = NULL, *host = NULL;
    assert_ok(ctx, spry_operator_from_matrix(A, d, "auto", &op));
    assert_ptr_equal(spry_operator_device(op), d);
    assert_ok(ctx, spry_operator_from_matrix(A, NULL, "csr", &host));
    assert_null(spry_operator_device(host));
    spry_vector *x = numeric_random(ctx, NULL, SPRY_TYPE_Z, 301, 6),
                *y = numeric_random(ctx, NULL, SPRY_TYPE_Z, 301, 7), *back = NULL;
    spry_vector *dx = on_device(d, x), *dy = on_device(d, y);
    assert_ok(ctx, spry_vector_like(x, 301, &back));
    for (int t = SPRY_TRANSPOSE_NO; t <= SPRY_TRANSPOSE_CONJUGATE; t++) {
        const spry_transpose transpose = (spry_transpose)t;
        assert_ok(ctx, spry_operator_multiply(op, transpose, alpha, x, beta, y));
        assert_ok(ctx, spry_operator_multiply(op, transpose, alpha, dx, beta, dy));
        assert_ok(ctx, spry_vector_copy(dy, back));
        assert_memory_equal(y->data, back->data, 301 * sizeof(spry_scalar));
        /* x on the host, y on the device */
        assert_ok(ctx, spry_operator_multiply(op, transpose, alpha, x, beta, dy));
        assert_ok(ctx, spry_operator_multiply(op, transpose, alpha, dx, beta, y));
        assert_ok(ctx, spry_vector_copy(dy, back));
        assert_memory_equal(y->data, back->data, 301 * sizeof(spry_scalar));
    }
    /* An operator of the host's with vectors of the device's. */
    assert_ok(ctx, spry_operator_multiply(host, SPRY_TRANSPOSE_NO, alpha, x, beta, y));
    assert_ok(ctx, spry_operator_multiply(host, SPRY_TRANSPOSE_NO, alpha, dx, beta, dy));
    assert_ok(ctx, spry_vector_copy(dy, back));
    assert_memory_equal(y->data, back->data, 301 * sizeof(spry_scalar));
    assert_status(ctx, SPRY_STATUS_BAD_USAGE, spry_operator_apply(op, dx, dx));
    (void)jacobi;
    spry_vector *const all[] = {x, y, dx, dy, back};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        spry_vector_free(all[i]);
    spry_operator_free(op);
    spry_operator_free(host);
    spry_matrix_free(A);
}

/* Jacobi's preconditioner on the device. */
static void diagonals(spry_context *ctx, spry_device *d)
{
    enum { N = 300 };
    double numbers[N];
    int64_t offsets[N + 1];
    int32_t columns[N];
    for (int i = 0; i < N; i++) {
        numbers[i] = 1 + i % 7;
        offsets[i] = columns[i] = i;
    }
    offsets[N] = N;
    spry_matrix *A = NULL, *C = NULL;
    assert_ok(ctx, spry_matrix_from_csr(ctx, SPRY_TYPE_D, N, N, offsets, columns, numbers,
                                        SPRY_OWN_COPY, &A));
    assert_ok(ctx, spry_matrix_cast(A, SPRY_TYPE_Z, &C));
    for (int64_t i = 0; i < N; i++)
        support_put(C, i, (spry_scalar){1 + (double)(i % 7), (double)(i % 3) - 1});
    spry_operator *M = NULL, *of_device = NULL;
    assert_ok(ctx, spry_precon_new(C, NULL, "jacobi", &M));
    assert_ok(ctx, device_diagonal_operator(d, M, NULL, &of_device));
    assert_string_equal(spry_operator_name(of_device), "jacobi");
    assert_non_null(device_diagonal(of_device, SPRY_TRANSPOSE_NO));
    assert_null(device_diagonal(M, SPRY_TRANSPOSE_NO));
    spry_vector *x = numeric_random(ctx, NULL, SPRY_TYPE_Z, N, 6),
                *y = numeric_random(ctx, NULL, SPRY_TYPE_Z, N, 7);
    spry_vector *dx = on_device(d, x), *dy = on_device(d, y);
    for (int t = SPRY_TRANSPOSE_NO; t <= SPRY_TRANSPOSE_CONJUGATE; t++) {
        assert_ok(ctx, spry_vector_copy(y, dy));
        assert_ok(ctx, spry_operator_multiply(M, (spry_transpose)t, (spry_scalar){0.5, 1}, x,
                                              (spry_scalar){0.25, 0}, y));
        assert_ok(ctx, spry_operator_multiply(of_device, (spry_transpose)t, (spry_scalar){0.5, 1},
                                              dx, (spry_scalar){0.25, 0}, dy));
        check_near(d, y, dy, 8, "diagonal");
    }
    spry_vector *const all[] = {x, y, dx, dy};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        spry_vector_free(all[i]);
    spry_operator_free(M);
    spry_operator_free(of_device);
    spry_matrix_free(A);
    spry_matrix_free(C);
}

/* Dense blocks on the device give the bits of those of the host. */
static void check_block(spry_device *d, const spry_operator *op, int64_t n, int64_t m, int cols,
                        bool by_rows, bool reads)
{
    spry_context *ctx = d->ctx;
    const int64_t step_b = by_rows ? cols + 2 : n + 1, step_c = by_rows ? cols + 1 : m + 2;
    const int64_t size_b = (by_rows ? n : cols) * step_b, size_c = (by_rows ? m : cols) * step_c;
    spry_vector *b = numeric_random(ctx, NULL, SPRY_TYPE_D, size_b, 8),
                *c = numeric_random(ctx, NULL, SPRY_TYPE_D, size_c, 9);
    spry_vector *db = on_device(d, b), *dc = on_device(d, c), *back = NULL;
    const spry_dense B = {0, n, cols, step_b, by_rows, b->data, NULL};
    const spry_dense C = {0, m, cols, step_c, by_rows, c->data, NULL};
    spry_dense device_B = B, device_C = C;
    device_B.device = device_C.device = d;
    device_B.data = device_address(device_vector_memory(db));
    device_C.data = device_address(device_vector_memory(dc));
    const spry_scalar beta = {reads ? 0.5 : 0, 0};
    assert_ok(ctx, spry_operator_multiply_dense(op, SPRY_TRANSPOSE_NO, (spry_scalar){2, 0}, &B,
                                                beta, &C));
    assert_ok(ctx, spry_operator_multiply_dense(op, SPRY_TRANSPOSE_NO, (spry_scalar){2, 0},
                                                &device_B, beta, &device_C));
    assert_ok(ctx, spry_vector_like(c, size_c, &back));
    assert_ok(ctx, spry_vector_copy(dc, back));
    if (memcmp(c->data, back->data, (size_t)size_c * sizeof(double)) != 0)
        fail_msg("%d columns, by_rows %d, beta %g: other bits", cols, by_rows, beta.re);
    assert_status(ctx, SPRY_STATUS_BAD_USAGE,
                  spry_operator_multiply_dense(op, SPRY_TRANSPOSE_NO, (spry_scalar){2, 0},
                                               &device_B, beta, &C));
    support_message_has(ctx, spry_device_name(d));
    spry_vector *const all[] = {b, c, db, dc, back};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        spry_vector_free(all[i]);
}

static void blocks(spry_context *ctx, spry_device *d)
{
    spry_matrix *A = support_sorted(ctx, SPRY_TYPE_D, SUPPORT_UNIFORM, 203, 307, 2000, 5);
    static const int columns[] = {1, 3, 9};
    spry_operator *op = NULL;
    assert_ok(ctx, spry_operator_from_matrix(A, d, "csr", &op));
    for (int c = 0; c < 3; c++)
        for (int by_rows = 0; by_rows < 2; by_rows++)
            check_block(d, op, 307, 203, columns[c], by_rows, c != 1);
    spry_operator_free(op);
    spry_matrix_free(A);
}

int main(void)
{
    static const devices_test tests[] = {
        DEVICES_TEST(arithmetic),
        DEVICES_TEST(extreme_norms),
        DEVICES_TEST(copies),
        DEVICES_TEST(other_types),
        DEVICES_TEST(types_that_do_not_fit),
        DEVICES_TEST(borrowed),
        DEVICES_TEST(wrong_uses),
        DEVICES_TEST(products),
        DEVICES_TEST(diagonals),
        DEVICES_TEST(blocks),
    };
    return DEVICES_RUN(tests);
}
