/*
 * Multigrid that a device makes by itself: coarse matrices are R A P, the cycle is hermitian and
 * shortens the error, and new values give what making it again gives.
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
    assert_ok(ctx, spry_operator_from_matrix(A, d, "csr", &op));
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

static double entries_of(const amg *h)
{
    double entries = 0;
    for (int l = 0; l < h->count; l++)
        entries += (double)h->levels[l].nnz;
    return entries;
}

/* Relative to the host's hierarchy with the same smoother: levels that the device made alone, at
 * most as many rows and entries and a share more, where `same` about as many, and cycles that fall
 * as fast.
 */
static void compare_with_host(spry_context *ctx, spry_device *d, const spry_matrix *A,
                              const char *spec, double share, bool same)
{
    spry_operator *M = NULL, *N = NULL, *op = NULL;
    char on_host[128];
    snprintf(on_host, sizeof on_host, "%s,setup=host", spec);
    assert_ok(ctx, spry_precon_new(A, d, spec, &M));
    assert_ok(ctx, spry_precon_new(A, d, on_host, &N));
    assert_ptr_equal(M->device, d);
    assert_ok(ctx, spry_operator_from_matrix(A, d, "csr", &op));
    const amg *h = M->state, *host = N->state;
    assert_true(h->count >= 3);
    for (int l = 0; l < h->count && l < host->count; l++) {
        const double want = (double)host->levels[l].rows;
        const double more = (double)h->levels[l].rows - want;
        if (!(more <= 4 + share * want && (!same || more >= -4 - share * want)))
            fail_msg("%s: level %d has %d rows, the host's %d", spec, l, (int)h->levels[l].rows,
                     (int)host->levels[l].rows);
    }
    for (int l = 0; l + 1 < h->count; l++) /* the first matrix may be looked at */
        assert_true(l == 0 || !h->levels[l].A);
    assert_true(entries_of(h) < (1 + share) * entries_of(host));
    const double left = shorten(d, op, M), hosts = shorten(d, op, N);
    if (!(left < 0.04 && left < 4 * hosts))
        fail_msg("%s: 8 cycles leave %g of the residual, the host's %g", spec, left, hosts);
    check_update(d, A, M, spec);
    spry_operator_free(op);
    spry_operator_free(M);
    spry_operator_free(N);
}

/* Where A is not hermitian the smoother must not blow up what turns instead of falling; aggregates
 * are of neighbours either way, and larger than the host's. */
static void test_flow(spry_context *ctx, spry_device *d)
{
    DEVICES_EACH_TYPE (d, t) {
        spry_matrix *A =
            matrix(ctx, "convection-diffusion", "size=16 nz=16 peclet=200", support_types[t]);
        compare_with_host(ctx, d, A, "amg:coarse-size=20", 0.1, false);
        spry_matrix_free(A);
    }
}

/* Other smoothers are made on the host, from copies of the levels. */
static void test_smoothers(spry_context *ctx, spry_device *d)
{
    static const char *const specs[] = {"amg:coarse-size=20,smoother=gs",
                                        "amg:coarse-size=20,smoother=l1-jacobi,pre=2,post=2",
                                        "amg:coarse-size=20,smoother=[ilu:precision=single]",
                                        "amg-classical:coarse-size=20,smoother=[poly:degree=2]"};
    spry_matrix *A = matrix(ctx, "poisson2d", "size=20", SPRY_TYPE_D);
    for (size_t k = 0; k < sizeof specs / sizeof *specs; k++) {
        spry_operator *M = NULL, *op = NULL;
        assert_ok(ctx, spry_precon_new(A, d, specs[k], &M));
        assert_ok(ctx, spry_operator_from_matrix(A, d, "csr", &op));
        const amg *h = M->state;
        assert_non_null(h->levels[1].A);
        assert_null(h->levels[1].map); /* which the host would have */
        assert_true(shorten(d, op, M) < 0.04);
        spry_operator_free(op);
        spry_operator_free(M);
    }
    spry_matrix_free(A);
}

/* Points are the host's, but where rounding decides. */
static void test_classical(spry_context *ctx, spry_device *d)
{
    DEVICES_EACH_TYPE (d, t) {
        spry_matrix *A = matrix(ctx, "poisson3d", "size=11", support_types[t]);
        compare_with_host(ctx, d, A, "amg-classical:coarse-size=20,aggressive=0", 0.1, true);
        spry_matrix_free(A);
    }
    spry_matrix *A = matrix(ctx, "anisotropic", "size=30", SPRY_TYPE_D);
    compare_with_host(ctx, d, A, "amg-classical:coarse-size=20", 0.1, true);
    spry_matrix_free(A);
}

/* What is nothing but flow: classical multigrid with the device's smoother still falls, and sweeps
 * by rows are refused. */
static void test_strong_flow(spry_context *ctx, spry_device *d)
{
    spry_matrix *A = matrix(ctx, "convection-diffusion", "size=16 nz=16 peclet=1e5", SPRY_TYPE_D);
    spry_operator *M = NULL;
    compare_with_host(ctx, d, A, "amg-classical:theta=0.5,aggressive=40", 0.1, true);
    assert_status(ctx, SPRY_STATUS_BAD_USAGE,
                  spry_precon_new(A, d, "amg-classical:smoother=hybrid-gs", &M));
    spry_matrix_free(A);
}

/* What the device has no memory for the host makes: the first failure of an allocation that is not
 * one of the levels' own ends in the host's hierarchy. */
static void test_no_memory(spry_context *ctx, spry_device *d)
{
    spry_matrix *A = matrix(ctx, "poisson2d", "size=16", SPRY_TYPE_D);
    int made = 0;
    for (int64_t n = 1; n < 200; n += 13) {
        spry_operator *M = NULL;
        device_fail_next(d, WORK_ALLOC, n);
        const spry_status status = spry_precon_new(A, d, "amg-classical:coarse-size=20", &M);
        device_fail_next(d, WORK_ALLOC, 0);
        if (status == SPRY_STATUS_OK) {
            const amg *h = M->state;
            made += h->levels[0].map != NULL;
            assert_true(h->count >= 2);
        }
        spry_operator_free(M);
    }
    assert_true(made > 3);
    spry_matrix_free(A);
}

/* The host hears of sizes, and of little else: for each product of matrices twice, for each
 * operator once, for some rounds of the aggregates or points, and for what smoothers need to know.
 */
static void test_waits(spry_context *ctx, spry_device *d)
{
    enum { EACH = 36 };
    static const char *const specs[] = {"amg:coarse-size=20", "amg-classical:coarse-size=20"},
                             *const kinds[] = {"poisson3d", "convection-diffusion"},
                             *const sizes[] = {"size=16", "size=16 nz=16 peclet=200"};
    for (int k = 0; k < 4; k++) {
        spry_matrix *A = matrix(ctx, kinds[k % 2], sizes[k % 2], SPRY_TYPE_D);
        spry_operator *M = NULL;
        const int64_t before = d->waits;
        assert_ok(ctx, spry_precon_new(A, d, specs[k / 2], &M));
        const amg *h = M->state;
        const int64_t waits = d->waits - before;
        if (waits > (int64_t)EACH * (h->count - 1))
            fail_msg("%s of %s: the host waited %d times for %d levels", specs[k / 2], kinds[k % 2],
                     (int)waits, h->count);
        spry_operator_free(M);
        spry_matrix_free(A);
    }
}

int main(void)
{
    static const devices_test tests[] = {
        DEVICES_TEST(test_poisson),     DEVICES_TEST(test_hermitian), DEVICES_TEST(test_elasticity),
        DEVICES_TEST(test_flow),        DEVICES_TEST(test_smoothers), DEVICES_TEST(test_classical),
        DEVICES_TEST(test_strong_flow), DEVICES_TEST(test_no_memory), DEVICES_TEST(test_waits)};
    return DEVICES_RUN(tests);
}
