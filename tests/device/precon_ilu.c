/*
 * Incomplete factors and relaxation on devices against the same on the host: by sets that are
 * shared and by small ones in turn, by sweeps, by approximate inverses; transposed; with new
 * values.
 */
#include "support/devices.h"
#include "support/generated.h"
#include "support/numeric.h"

#include "precon/factors/factors.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char *const specs[] = {
    "ilu:order=multicolour", /* two large sets */
    "ilu",                   /* many small ones */
    "ilu:level=1,order=multicolour",
    "ilu:solve=sweeps,sweeps=3",
    "ilu:solve=isai,order=rcm",
    "ilu:construct=sweeps,order=multicolour",
    "ic:construct=sweeps,rounds=5",
    "ilut:tau=0.01",
    "ic",
    "ict:order=multicolour",
    "gs",
    "sor:order=natural,omega=1.2",
    "ssor:omega=1.2",
};
enum { SPECS = sizeof specs / sizeof *specs, SIDE = 36, ROWS = SIDE * SIDE };

/* A grid whose diagonal dominates: the sum of the other numbers of a row is at most 4/9 of it. */
static spry_matrix *grid(spry_context *ctx, spry_type type, double diagonal)
{
    spry_matrix *A = generated_as(ctx, type, "poisson2d", "size=%d", SIDE);
    for (int64_t i = 0; i < A->a.rows; i++)
        for (int64_t e = A->a.offsets[i]; e < A->a.offsets[i + 1]; e++)
            if (A->a.col_index[e] == i)
                support_put(A, e, (spry_scalar){diagonal, 0});
    generated_turn(A, 1, (spry_scalar){1, 0});
    return A;
}

static void *product(const spry_operator *M, spry_transpose op)
{
    void *r = numeric_array(M->type, ROWS, 0, 5), *z = numeric_array(M->type, ROWS, 0, 6);
    assert_ok(M->ctx, spry_operator_multiply(
                          M, op, (spry_scalar){1, 0},
                          &(spry_vector){.ctx = M->ctx, .type = M->type, .n = ROWS, .data = r},
                          (spry_scalar){0, 0},
                          &(spry_vector){.ctx = M->ctx, .type = M->type, .n = ROWS, .data = z}));
    numeric_free(M->type, r, 0);
    return z;
}

/*
 * Rows of L and U sum up to at most q = 4/7 (pivots are at least 9 - 4/7 4, times omega 1.2), so
 * that an error of a row grows by at most 1 / (1 - q) in each of two solves, which have factors up
 * to (1 + q) / (1 - q) of their own numbers; a row has at most 16 terms, and roundings of the
 * factors are of the same kind.
 */
static void check_near(const spry_operator *M, const void *expected, const void *found,
                       const char *spec)
{
    const double q = 4.0 / 7, growth = (1 + q) / (1 - q) / (1 - q);
    double most = 0;
    for (int64_t i = 0; i < ROWS; i++) {
        const spry_scalar v = value_get(M->type, expected, i);
        most = fmax(most, fabs(v.re) + fabs(v.im));
    }
    const double bound = 4 * 2 * (4 * 16 + 24) * growth * numeric_unit(M->type) * most;
    for (int64_t i = 0; i < ROWS; i++) {
        const spry_scalar a = value_get(M->type, expected, i), b = value_get(M->type, found, i);
        if (!(fabs(a.re - b.re) <= bound && fabs(a.im - b.im) <= bound))
            fail_msg("%s, type %s: row %d is %g%+gi, on the host %g%+gi", spec,
                     spry_type_name(M->type), (int)i, b.re, b.im, a.re, a.im);
    }
}

static void check_spec(spry_context *ctx, spry_device *d, spry_type type, const char *spec)
{
    spry_matrix *A = grid(ctx, type, 9), *B = grid(ctx, type, 11);
    spry_operator *on_host = NULL, *on_device = NULL, *fresh = NULL;
    assert_ok(ctx, spry_precon_new(A, NULL, spec, &on_host));
    assert_ok(ctx, spry_precon_new(A, d, spec, &on_device));
    assert_ptr_equal(spry_operator_device(on_device), d);
    for (int op = SPRY_TRANSPOSE_NO; op <= SPRY_TRANSPOSE_CONJUGATE; op++) {
        void *x = product(on_host, (spry_transpose)op), *y = product(on_device, (spry_transpose)op);
        void *again = product(on_device, (spry_transpose)op);
        check_near(on_host, x, y, spec);
        assert_memory_equal(y, again, ROWS * spry_type_size(type));
        numeric_free(type, x, 0);
        numeric_free(type, y, 0);
        numeric_free(type, again, 0);
    }
    assert_ok(ctx, spry_operator_update(on_device, B));
    assert_ok(ctx, spry_precon_new(B, d, spec, &fresh));
    for (int op = SPRY_TRANSPOSE_NO; op <= SPRY_TRANSPOSE_YES; op++) {
        void *x = product(on_device, (spry_transpose)op), *y = product(fresh, (spry_transpose)op);
        assert_memory_equal(x, y, ROWS * spry_type_size(type));
        numeric_free(type, x, 0);
        numeric_free(type, y, 0);
    }
    spry_operator_free(on_host);
    spry_operator_free(on_device);
    spry_operator_free(fresh);
    spry_matrix_free(A);
    spry_matrix_free(B);
}

static void solves(spry_context *ctx, spry_device *d)
{
    DEVICES_EACH_TYPE (d, t)
        for (int k = 0; k < SPECS; k++)
            check_spec(ctx, d, support_types[t], specs[k]);
}

static void failures(spry_context *ctx, spry_device *d)
{
    spry_matrix *A = grid(ctx, SPRY_TYPE_D, 9);
    spry_operator *M = NULL;
    static const device_work works[] = {WORK_ALLOC, WORK_COPY};
    for (int w = 0; w < 2; w++)
        for (int n = 1; n <= 9; n += 2) {
            device_fail_next(d, works[w], n);
            const spry_status status = spry_precon_new(A, d, "ilu:order=multicolour", &M);
            assert_true(status != SPRY_STATUS_OK);
            assert_null(M);
            device_fail_next(d, works[w], 0);
        }
    assert_ok(ctx, spry_precon_new(A, d, "ilu:order=multicolour", &M));
    spry_operator_free(M);
    spry_matrix_free(A);
}

int main(void)
{
    static const devices_test tests[] = {DEVICES_TEST(solves), DEVICES_TEST(failures)};
    return DEVICES_RUN(tests);
}
