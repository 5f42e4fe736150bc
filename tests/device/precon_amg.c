/*
 * Multigrid that a device makes by itself: coarse matrices are R A P, the cycle is hermitian and
 * shortens the error, and new values give what making it anew gives.
 */
#include "support/devices.h"
#include "support/generated.h"
#include "support/numeric.h"

#include "precon/amg/amg.h"

#include <math.h>

static const spry_scalar one = {1, 0}, zero = {0, 0}, less = {-1, 0};

static spry_matrix *matrix(spry_context *ctx, const char *kind, const char *sizes, spry_type type)
{
    spry_matrix *A = generated_as(ctx, type, kind, "%s", sizes);
    generated_turn(A, 0.01, one);
    return A;
}

static spry_vector *product(const spry_operator *op, const spry_vector *x)
{
    spry_vector *y = numeric_random(op->device->ctx, op->device, op->type, op->rows, 0);
    assert_ok(op->ctx, spry_operator_multiply(op, SPRY_TRANSPOSE_NO, one, x, zero, y));
    return y;
}

/* <A x, y> is <x, B y>. */
static void check_pair(const spry_operator *A, const spry_operator *B, const char *what)
{
    spry_vector *x = numeric_random(A->device->ctx, A->device, A->type, A->cols, 3),
                *y = numeric_random(A->device->ctx, A->device, A->type, A->rows, 4);
    spry_vector *Ax = product(A, x), *By = product(B, y);
    spry_scalar a, b;
    assert_ok(A->ctx, spry_vector_dot(Ax, y, &a));
    assert_ok(A->ctx, spry_vector_dot(x, By, &b));
    const double bound = 1000 * numeric_unit(A->type) * numeric_norm(Ax) * numeric_norm(y);
    if (!(hypot(a.re - b.re, a.im - b.im) <= bound))
        fail_msg("%s: <A x, y> = %.17g%+.17gi, <x, B y> = %.17g%+.17gi, allowed %g", what, a.re,
                 a.im, b.re, b.im, bound);
    spry_vector *all[] = {x, y, Ax, By};
    for (int k = 0; k < 4; k++)
        spry_vector_free(all[k]);
}

static void check_levels(spry_device *d, const amg *h)
{
    assert_true(h->count >= 3);
    for (int l = 0; l + 1 < h->count; l++) {
        const amg_level *level = &h->levels[l];
        check_pair(level->P, level->R, "P and R");
        check_pair(level->op, level->op, "A");
        spry_vector *x = numeric_random(d->ctx, d, h->type, h->levels[l + 1].rows, 3);
        spry_vector *Px = product(level->P, x), *APx = product(level->op, Px),
                    *down = product(level->R, APx), *direct = product(h->levels[l + 1].op, x);
        assert_null(level->A); /* the device made it */
        assert_ok(d->ctx, spry_vector_axpy(less, direct, down));
        assert_true(numeric_norm(down) <= 400 * numeric_unit(h->type) * numeric_norm(direct));
        spry_vector *all[] = {x, Px, APx, down, direct};
        for (int k = 0; k < 5; k++)
            spry_vector_free(all[k]);
    }
    check_pair(h->levels[h->count - 1].op, h->levels[h->count - 1].op, "the coarsest matrix");
    check_pair(h->bottom, h->bottom, "the coarsest level");
}

/* How much 8 corrections x += M (b - A x) shorten the residual. */
static double shorten(spry_device *d, const spry_operator *op, const spry_operator *M)
{
    spry_vector *r = numeric_random(d->ctx, d, M->type, M->rows, 5);
    const double before = numeric_norm(r);
    for (int k = 0; k < 8; k++) {
        spry_vector *z = product(M, r);
        assert_ok(d->ctx, spry_operator_multiply(op, SPRY_TRANSPOSE_NO, less, z, one, r));
        spry_vector_free(z);
    }
    const double after = numeric_norm(r);
    spry_vector_free(r);
    return after / before;
}

static void check_update(spry_device *d, const spry_matrix *A, spry_operator *M, const char *spec)
{
    spry_context *ctx = d->ctx;
    spry_matrix *B = NULL;
    spry_operator *N = NULL;
    assert_ok(ctx, spry_matrix_convert(A, SPRY_FORMAT_CSR, &B));
    for (int64_t k = 0; k < B->a.nnz; k++) {
        const spry_scalar v = value_get(B->a.type, B->a.values, k);
        support_put(B, k, (spry_scalar){3 * v.re, 3 * v.im});
    }
    assert_ok(ctx, spry_precon_new(B, d, spec, &N));
    assert_ok(ctx, spry_operator_update(M, B));
    spry_vector *x = numeric_random(d->ctx, d, M->type, M->rows, 6);
    spry_vector *y = product(M, x), *z = product(N, x);
    assert_ok(ctx, spry_vector_axpy(less, y, z));
    assert_true(numeric_norm(y) > 0);
    assert_true(numeric_norm(z) == 0);
    spry_vector_free(x);
    spry_vector_free(y);
    spry_vector_free(z);
    spry_operator_free(N);
    spry_matrix_free(B);
}

static void check(spry_context *ctx, spry_device *d, const spry_matrix *A, const char *spec)
{
    spry_operator *M = NULL, *op = NULL;
    assert_ok(ctx, spry_precon_new(A, d, spec, &M));
    assert_ptr_equal(M->device, d);
    assert_ok(ctx, spry_operator_on(d, A, "csr", &op));
    check_levels(d, M->state);
    check_pair(M, M, "M");
    /* A cycle is to leave two thirds of the residual at most. */
    const double left = shorten(d, op, M);
    if (!(left < 0.04))
        fail_msg("%s: 8 cycles leave %g of the residual", spec, left);
    check_update(d, A, M, spec);
    spry_operator_free(op);
    spry_operator_free(M);
}

static void test_poisson(spry_context *ctx, spry_device *d)
{
    spry_matrix *A = matrix(ctx, "poisson3d", "size=11", SPRY_TYPE_D);
    check(ctx, d, A, "amg:coarse-size=20");
    spry_matrix_free(A);
}

static void test_hermitian(spry_context *ctx, spry_device *d)
{
    spry_matrix *A = matrix(ctx, "poisson2d", "size=24", SPRY_TYPE_C);
    check(ctx, d, A, "amg:coarse-size=20");
    spry_matrix_free(A);
}

static void test_elasticity(spry_context *ctx, spry_device *d)
{
    spry_matrix *A = matrix(ctx, "elasticity", "size=8", SPRY_TYPE_D);
    check(ctx, d, A, "amg:coarse-size=20,theta=0.02,degree=3");
    spry_matrix_free(A);
}

/* Cycles on the device bring the residual down. */
static void check_falls(spry_context *ctx, spry_device *d, const spry_matrix *A, const char *spec)
{
    spry_operator *M = NULL, *op = NULL;
    assert_ok(ctx, spry_precon_new(A, d, spec, &M));
    assert_ptr_equal(M->device, d);
    assert_ok(ctx, spry_operator_on(d, A, "csr", &op));
    const double left = shorten(d, op, M);
    if (!(left < 0.04))
        fail_msg("8 cycles leave %g of the residual", left);
    spry_operator_free(op);
    spry_operator_free(M);
}

/* Where A is not hermitian the smoother must not blow up what turns instead of falling: cycles
 * fall as fast as the host's do, with another smoother. */
static void test_flow(spry_context *ctx, spry_device *d)
{
    spry_matrix *A = matrix(ctx, "convection-diffusion", "size=16 nz=16 peclet=200", SPRY_TYPE_D);
    check_falls(ctx, d, A, "amg:coarse-size=60");
    spry_matrix_free(A);
}

/* What is nothing but flow: classical multigrid with the device's smoother still falls, and sweeps
 * by rows are refused. */
static void test_strong_flow(spry_context *ctx, spry_device *d)
{
    spry_matrix *A = matrix(ctx, "convection-diffusion", "size=16 nz=16 peclet=1e5", SPRY_TYPE_D);
    spry_operator *M = NULL;
    check_falls(ctx, d, A, "amg-classical:theta=0.5,aggressive=40");
    assert_status(ctx, SPRY_STATUS_BAD_USAGE,
                  spry_precon_new(A, d, "amg-classical:smoother=hybrid-gs", &M));
    spry_matrix_free(A);
}

int main(void)
{
    static const devices_test tests[] = {DEVICES_TEST(test_poisson), DEVICES_TEST(test_hermitian),
                                         DEVICES_TEST(test_elasticity), DEVICES_TEST(test_flow),
                                         DEVICES_TEST(test_strong_flow)};
    return DEVICES_RUN(tests);
}
