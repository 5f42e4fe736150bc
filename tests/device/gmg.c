/* Geometric multigrid on devices: a cycle gives what it gives on the host, and solves stay on the
 * device.
 */
#include "support/devices.h"
#include "support/numeric.h"

#include "choose/precons.h"
#include "grid/grid.h"

#include <spry/spry.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

static void bumpy(void *data, const double *place, spry_scalar *value)
{
    (void)data;
    *value = (spry_scalar){1.5 + sin(7 * place[0]) * cos(5 * place[1]), 0};
}

/* A stencil on a device, or (NULL) on the host. */
static spry_operator *stencil_on(spry_context *ctx, const spry_device *d, const char *size,
                                 const char *text, const char *options)
{
    static const char *const names[] = {"k"};
    char all[96];
    spry_grid *grid;
    spry_vector *k;
    spry_operator *A;
    assert_ok(ctx, spry_grid_new(ctx, size, &grid));
    assert_ok(ctx, spry_field_new(grid, SPRY_TYPE_D, true, bumpy, NULL, &k));
    snprintf(all, sizeof all, "%s device=%s", options, d ? d->facts.name : "cpu");
    assert_ok(ctx,
              spry_operator_stencil(grid, text, all, 1, names, (const spry_vector *[]){k}, &A));
    spry_vector_free(k);
    spry_grid_free(grid);
    return A;
}

/*
 * One application of M against the host's. Sweeps, restriction and interpolation have norms of
 * about 1, so each of a few dozen steps adds a few roundings of the largest number there is; the
 * solve on the coarsest level loses its condition besides, which is below 1000 for grids of up to
 * 40 points along an axis: 64 steps of 4 roundings and 1000.
 */
static void check_cycle(spry_context *ctx, spry_device *d, const char *size, const char *text,
                        const char *options, const char *precon)
{
    spry_operator *A = stencil_on(ctx, NULL, size, text, options),
                  *B = stencil_on(ctx, d, size, text, options), *M, *N;
    spry_vector *r = numeric_random(ctx, NULL, A->type, A->rows, 9),
                *z = numeric_random(ctx, NULL, A->type, A->rows, 0),
                *got = numeric_random(ctx, NULL, A->type, A->rows, 0), *dr, *dz;
    double largest = 0, worst = 0;
    char name[32], fully[96]; /* whatever the couplings are, unless it says so */
    snprintf(fully, sizeof fully, "%s%s", precon,
             strstr(precon, "coarsening")  ? ""
             : strchr(precon, ':') != NULL ? ",coarsening=full"
                                           : ":coarsening=full");
    assert_ok(ctx, precon_make_from_text(ctx, NULL, A, fully, &M, name));
    assert_ok(ctx, precon_make_from_text(ctx, NULL, B, fully, &N, name));
    assert_ptr_equal(spry_operator_device(N), d);
    assert_ok(ctx, spry_vector_on(d, A->type, A->rows, NULL, &dr));
    assert_ok(ctx, spry_vector_on(d, A->type, A->rows, NULL, &dz));
    assert_ok(ctx, spry_vector_copy(r, dr));
    assert_ok(ctx, spry_operator_apply(M, r, z));
    for (int time = 0; time < 2; time++) { /* nothing is left behind by the first */
        worst = largest = 0;
        assert_ok(ctx, spry_vector_fill(dz, (spry_scalar){7, 0}));
        assert_ok(ctx, spry_operator_apply(N, dr, dz));
        assert_ok(ctx, spry_vector_copy(dz, got));
        for (int64_t i = 0; i < A->rows; i++) {
            const spry_scalar a = value_get(A->type, z->data, i),
                              b = value_get(A->type, got->data, i);
            largest = fmax(largest, hypot(a.re, a.im));
            worst = fmax(worst, hypot(a.re - b.re, a.im - b.im));
        }
        if (!(worst <= (64 * 4 + 1000) * numeric_unit(A->type) * largest))
            fail_msg("%s, %s, %s: %.3g, largest %.3g", size, text, precon, worst, largest);
    }
    assert_true(largest > 0);
    spry_vector_free(r);
    spry_vector_free(z);
    spry_vector_free(got);
    spry_vector_free(dr);
    spry_vector_free(dz);
    spry_operator_free(M);
    spry_operator_free(N);
    spry_operator_free(A);
    spry_operator_free(B);
}

/* Groups that march have 64 x 16 columns: grids of several groups, and faces of every kind along
 * each axis. */
static void test_cycles(spry_context *ctx, spry_device *d)
{
    check_cycle(ctx, d, "72x40x24", "-laplace", "", "gmg");
    check_cycle(ctx, d, "80x40x24 x=periodic z=neumann", "-laplace", "",
                "gmg:cycle=full,symmetric=no,pre=2");
    check_cycle(ctx, d, "24x40x16 x=neumann:dirichlet y=dirichlet:neumann z=periodic", "-laplace",
                "", "gmg:cycle=w,smoother=jacobi,pre=2,post=1,coarsest=300");
    check_cycle(ctx, d, "32x32 x=periodic y=neumann:dirichlet", "-div(k*grad) + k", "type=z",
                "gmg:cycle=f,coarsest=20");
    /* some axes alone: y, then x and y, then all; and x alone, with an axis that is not halved */
    check_cycle(ctx, d, "16x32x8 y=neumann:dirichlet x=periodic", "-laplace", "",
                "gmg:coarsening=semi,smoother=redblack,cycle=full,coarsest=100");
    check_cycle(ctx, d, "64x9 x=neumann", "-div(k*grad) + k", "type=z",
                "gmg:coarsening=semi,smoother=jacobi,pre=2,coarsest=30");
    check_cycle(ctx, d, "16x32 stretch=y:ratio:1.05", "-laplace", "",
                "gmg:smoother=redblack,coarsest=30");
    /* damped waves: complex weights, and sweeps on the last level */
    check_cycle(ctx, d, "72x40x24", "laplace + 2000", "type=z", "gmg:shift=0.3,last=4");
    check_cycle(ctx, d, "48x32 x=neumann", "laplace + 200*k", "type=c",
                "gmg:shift=0.3,pre=2,last=6");
    const int units = d->facts.units; /* marches of one plane, as grids that are small have them */
    d->facts.units = 1 << 20;
    check_cycle(ctx, d, "72x40x24", "-laplace", "", "gmg:symmetric=no,post=2,omega=1.1");
    d->facts.units = units;
    if (devices_few(d))
        return;
    d->facts.units = 1 << 20;
    check_cycle(ctx, d, "80x40x24 x=periodic z=neumann", "-laplace", "",
                "gmg:cycle=full,symmetric=no,pre=2");
    d->facts.units = units;
    check_cycle(ctx, d, "64", "-laplace", "type=s", "gmg:coarsest=4");
    check_cycle(ctx, d, "32x32", "-laplace", "order=4", "gmg:coarsest=30");
    check_cycle(ctx, d, "32x32", "-laplace + dx*dy/2", "type=c", "gmg:coarsest=30,pre=0");
    check_cycle(ctx, d, "32x32x16", "-div(k*grad)", "", "gmg:omega=1.1");
    check_cycle(ctx, d, "40x36x16", "-laplace", "type=s", "gmg");
    check_cycle(ctx, d, "40x36x16", "-laplace", "type=z", "gmg");
    check_cycle(ctx, d, "36x40x16", "-laplace", "order=4 type=c", "gmg:coarsest=1000");
}

/* All vectors stay on the device, and the count of iterations is the host's. */
static void test_solve(spry_context *ctx, spry_device *d)
{
    static const char *const options[] = {
        "method=cg precon=gmg:coarsening=full tol=1e-8",
        "method=richardson precon=gmg:coarsening=full,symmetric=no tol=1e-8",
        "method=richardson precon=gmg:coarsening=full,precision=single tol=1e-8"};
    enum { SOLVES = sizeof options / sizeof *options };
    int64_t counts[2][SOLVES];
    for (int on_device = 0; on_device < 2; on_device++)
        for (int k = 0; k < SOLVES; k++) {
            spry_operator *A = stencil_on(ctx, on_device ? d : NULL, "32x16x24", "-laplace", "");
            spry_vector *b = numeric_random(ctx, on_device ? d : NULL, A->type, A->rows, 4),
                        *x = numeric_random(ctx, on_device ? d : NULL, A->type, A->rows, 0);
            spry_solver *solver;
            spry_result result = SPRY_RESULT_INIT;
            assert_ok(ctx, spry_solver_new(ctx, &solver));
            assert_ok(ctx, spry_solver_set(solver, options[k]));
            assert_ok(ctx, spry_solver_set_operator(solver, A));
            assert_ok(ctx, spry_solve(solver, b, x, &result));
            assert_true(result.converged);
            assert_string_equal(result.device, on_device ? d->facts.name : "cpu");
            assert_string_equal(result.warnings ? result.warnings : "", "");
            counts[on_device][k] = result.iterations;
            spry_result_clear(ctx, &result);
            if (on_device) { /* what the host makes would cross the bus twice in each iteration */
                const int64_t before = d->moved, bytes = A->rows * (int64_t)sizeof(double);
                assert_ok(ctx, spry_vector_fill(x, (spry_scalar){0, 0}));
                assert_ok(ctx, spry_solve(solver, b, x, NULL));
                assert_true(d->moved - before < counts[on_device][k] * bytes / 2);
            }
            spry_solver_free(solver);
            spry_vector_free(b);
            spry_vector_free(x);
            spry_operator_free(A);
        }
    for (int k = 0; k < SOLVES; k++)
        assert_true(llabs(counts[0][k] - counts[1][k]) <= 1);
}

typedef struct cycle {
    const spry_device *d;
    const spry_grid *grid;
    const spry_vector *k, *r;
    spry_vector *z;
} cycle;

/* A stencil with a field, multigrid for it, and a cycle of sweeps that do not work in place. */
static spry_status life(spry_context *ctx, void *data)
{
    static const char *const names[] = {"k"};
    const cycle *c = data;
    char options[64], name[32];
    spry_operator *A = NULL, *M = NULL;
    snprintf(options, sizeof options, "device=%s", c->d->facts.name);
    spry_status status =
        spry_operator_stencil(c->grid, "-div(k*grad) + k", options, 1, names, &c->k, &A);
    if (status == SPRY_STATUS_OK)
        status =
            precon_make_from_text(ctx, NULL, A, "gmg:smoother=jacobi,pre=2,coarsest=20", &M, name);
    if (status == SPRY_STATUS_OK)
        status = spry_operator_apply(M, c->r, c->z);
    spry_operator_free(M);
    spry_operator_free(A);
    return status;
}

static void test_failures(spry_context *ctx, spry_device *d)
{
    spry_grid *grid;
    spry_vector *k, *r = numeric_random(ctx, d, SPRY_TYPE_D, 225, 3),
                    *z = numeric_random(ctx, d, SPRY_TYPE_D, 225, 0);
    assert_ok(ctx, spry_grid_new(ctx, "16x16", &grid));
    assert_ok(ctx, spry_field_new(grid, SPRY_TYPE_D, true, bumpy, NULL, &k));
    cycle c = {d, grid, k, r, z};
    devices_torture(ctx, d, 3, life, &c);
    spry_vector_free(k);
    spry_vector_free(r);
    spry_vector_free(z);
    spry_grid_free(grid);
}

static void test_faults(spry_context *ctx, spry_device *d)
{
    char name[32];
    spry_operator *A = stencil_on(ctx, d, "32x32", "dx + dy", ""), *M = NULL;
    assert_status(ctx, SPRY_STATUS_BAD_INPUT,
                  precon_make_from_text(ctx, NULL, A, "gmg:coarsest=30", &M, name));
    support_message_has(ctx, "the diagonal of level 0 is 0");
    assert_null(M);
    spry_operator_free(A);
}

int main(void)
{
    static const devices_test tests[] = {DEVICES_TEST(test_cycles), DEVICES_TEST(test_solve),
                                         DEVICES_TEST(test_failures), DEVICES_TEST(test_faults)};
    return DEVICES_RUN(tests);
}
