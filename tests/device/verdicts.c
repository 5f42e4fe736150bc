/*
 * A solve that chooses by itself says the same of a system wherever it works: of systems with every
 * illness that there is, of real ones where SPRY_MATRICES names a folder of them, and of several at
 * once. What is called converged holds in long double, for the x of both places.
 */
#include "matrix/entries.h"
#include "support/devices.h"
#include "support/generated.h"
#include "support/numeric.h"
#include "support/problems.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- illnesses ---------------------------------------------------------------------------------
 */

enum { SIDE = 8 };

static spry_matrix *grid(spry_context *ctx, spry_type type)
{
    return generated_as(ctx, type, "poisson2d", "size=%d", SIDE);
}

static void put_diagonal(spry_matrix *A, double shift)
{
    for (int64_t i = 0; i < A->a.rows; i++) {
        const int64_t k = matrix_find(&A->a, i, i);
        support_put(A, k, (spry_scalar){value_get(A->a.type, A->a.values, k).re - shift, 0});
    }
    assert_ok(A->ctx, spry_matrix_set_fact(A, SPRY_FACT_DEFINITE, SPRY_TRUTH_UNKNOWN));
}

static spry_matrix *indefinite(spry_context *ctx, spry_type type)
{
    spry_matrix *A = grid(ctx, type);
    put_diagonal(A, 0.7);
    generated_turn(A, 0.3, (spry_scalar){1, 0});
    return A;
}

/* A general complex matrix, or a real one. */
static spry_matrix *turned(spry_context *ctx, spry_type type)
{
    spry_matrix *A =
        generated_as(ctx, type, "convection-diffusion", "size=%d peclet=1000", (int)SIDE);
    generated_turn(A, 0.7, (spry_scalar){0.8, 0.6});
    return A;
}

/* The rows of a grid in another order: most diagonal entries are no entries. */
static spry_matrix *no_diagonal(spry_context *ctx, spry_type type)
{
    spry_matrix *A = grid(ctx, type), *B = NULL;
    int32_t order[SIDE * SIDE], same[SIDE * SIDE];
    for (int32_t i = 0; i < SIDE * SIDE; i++) {
        order[i] = (i + 19) % (SIDE * SIDE);
        same[i] = i;
    }
    assert_ok(ctx, spry_matrix_permute(A, order, same, &B));
    spry_matrix_free(A);
    return B;
}

/* Rows and columns by powers of ten. */
static spry_matrix *badly_scaled(spry_context *ctx, spry_type type)
{
    spry_matrix *A = turned(ctx, type);
    const int most = numeric_unit(type) > 1e-10 ? 3 : 9;
    for (int64_t i = 0; i < A->a.rows; i++)
        for (int64_t k = A->a.offsets[i]; k < A->a.offsets[i + 1]; k++) {
            const spry_scalar v = value_get(type, A->a.values, k);
            const double factor =
                pow(10, (double)(i * 7 % most)) * pow(10, -(double)(A->a.col_index[k] * 5 % most));
            support_put(A, k, (spry_scalar){v.re * factor, v.im * factor});
        }
    return A;
}

/* Rows that sum to 0: constant vectors are its null space, and b = ones is not in its range. */
static spry_matrix *no_boundary(spry_context *ctx, spry_type type)
{
    spry_matrix *A = grid(ctx, type);
    for (int64_t i = 0; i < A->a.rows; i++)
        support_put(A, matrix_find(&A->a, i, i),
                    (spry_scalar){(double)(A->a.offsets[i + 1] - A->a.offsets[i] - 1), 0});
    assert_ok(ctx, spry_matrix_set_fact(A, SPRY_FACT_DEFINITE, SPRY_TRUTH_UNKNOWN));
    return A;
}

/* An equation that says nothing. */
static spry_matrix *empty_row(spry_context *ctx, spry_type type)
{
    spry_matrix *A = grid(ctx, type);
    for (int64_t k = A->a.offsets[11]; k < A->a.offsets[12]; k++)
        support_put(A, k, (spry_scalar){0, 0});
    assert_ok(ctx, spry_matrix_set_fact(A, SPRY_FACT_DEFINITE, SPRY_TRUTH_UNKNOWN));
    assert_ok(ctx, spry_matrix_set_fact(A, SPRY_FACT_HERMITIAN, SPRY_TRUTH_UNKNOWN));
    return A;
}

/* [H B^T; B 0] with constraints that each tie two unknowns. */
static spry_matrix *saddle(spry_context *ctx, spry_type type)
{
    enum { N = 24, M = 8, ALL = N + M };
    double at[ALL * ALL] = {0};
    for (int i = 0; i < N; i++) {
        at[i * ALL + i] = 1 + i % 5;
        if (i > 0)
            at[i * ALL + i - 1] = at[(i - 1) * ALL + i] = -0.5;
    }
    for (int k = 0; k < M; k++) {
        at[(N + k) * ALL + 3 * k] = at[3 * k * ALL + N + k] = 1;
        at[(N + k) * ALL + 3 * k + 1] = at[(3 * k + 1) * ALL + N + k] = -2;
    }
    return support_from_rows(ctx, type, ALL, ALL, at);
}

/* x grows by 1.9 from row to row, so that its own digits have a say in the residual. */
static spry_matrix *growing(spry_context *ctx, spry_type type)
{
    const int64_t n = numeric_unit(type) > 1e-10 ? 20 : 44;
    double *at = calloc((size_t)(n * n), sizeof *at);
    assert_non_null(at);
    for (int64_t i = 0; i < n; i++) {
        at[i * n + i] = 1;
        if (i > 0)
            at[i * n + i - 1] = -1.9;
        if (i > 1)
            at[i * n + i - 2] = 0.013;
    }
    spry_matrix *A = support_from_rows(ctx, type, n, n, at);
    free(at);
    return A;
}

static spry_matrix *hilbert(spry_context *ctx, spry_type type)
{
    enum { N = 12 };
    double at[N * N];
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++)
            at[i * N + j] = 1.0 / (1 + i + j);
    return support_from_rows(ctx, type, N, N, at);
}

/* A grid and rows that nothing ties to it. */
static spry_matrix *apart(spry_context *ctx, spry_type type)
{
    static const double at[] = {0, 3, 0, 0, 0, 2, 0, 0, 0, 0, 0, -1, 0, 0, 5, 1};
    return support_from_rows(ctx, type, 4, 4, at);
}

static spry_matrix *single(spry_context *ctx, spry_type type)
{
    static const double at[] = {-3};
    return support_from_rows(ctx, type, 1, 1, at);
}

static spry_matrix *helmholtz(spry_context *ctx, spry_type type)
{
    return generated_as(ctx, type, "helmholtz", "size=5");
}

static const struct {
    const char *name, *types; /* one type each letter, as processors take long to compile */
    spry_matrix *(*make)(spry_context *ctx, spry_type type);
} illnesses[] = {
    {"none", "sdcz", grid},
    {"indefinite", "dz", indefinite},
    {"convection", "dz", turned},
    {"no diagonal", "sdz", no_diagonal},
    {"badly scaled", "dz", badly_scaled},
    {"no boundary", "sdz", no_boundary},
    {"empty row", "d", empty_row},
    {"saddle", "dc", saddle},
    {"growing", "sd", growing},
    {"Hilbert", "d", hilbert},
    {"apart", "dz", apart},
    {"one row", "d", single},
    {"helmholtz", "z", helmholtz},
};
enum { ILLNESSES = sizeof illnesses / sizeof *illnesses };

/* --- both places -------------------------------------------------------------------------------
 */

/* Solves from zeros, with vectors of the host. */
static spry_result solve(const problem *p, const char *device, const char *options)
{
    spry_result result = SPRY_RESULT_INIT;
    char text[160];
    snprintf(text, sizeof text, "device=%s %s", device, options);
    assert_ok(p->ctx, spry_vector_fill(p->x, (spry_scalar){0, 0}));
    assert_ok(p->ctx, spry_quick_solve(p->ctx, p->A, p->b, p->x, text, &result));
    assert_string_equal(result.device, device);
    return result;
}

/* What is reported of p->x is true: the residual itself is summed in twice the precision where the
 * tolerance is near, so that nothing but the rounding of a norm is left. */
static void check_reported(const problem *p, const spry_result *r, const char *name, double tol)
{
    double rounding;
    const double truth = problem_residual(p, &rounding);
    if (!(fabs(truth - r->true_residual) <= rounding + 1e-3 * r->true_residual))
        fail_msg("%s on %s: reported %g, true %g", name, r->device, r->true_residual, truth);
    if (r->converged && !(truth <= tol * (1 + 1e-6)))
        fail_msg("%s on %s: converged with %.9g", name, r->device, truth);
}

/* The same problem on the host and on the device. */
static void compare(const problem *p, spry_device *d, const char *name)
{
    const bool low = numeric_unit(p->type) > 1e-10;
    const double tol = low ? 1e-4 : 1e-8;
    const char *const options = low ? "tol=1e-4" : "tol=1e-8";
    spry_result on_host = solve(p, "cpu", options);
    check_reported(p, &on_host, name, tol);
    spry_result on_device = solve(p, spry_device_name(d), options);
    check_reported(p, &on_device, name, tol);
    if (on_device.reason != on_host.reason)
        fail_msg("%s, type %s: %s with %g by %s and %s on the device (%s), here %s with %g by %s "
                 "and %s (%s)",
                 name, spry_type_name(p->type), spry_reason_name(on_device.reason),
                 on_device.true_residual, on_device.method, on_device.precon, on_device.detail,
                 spry_reason_name(on_host.reason), on_host.true_residual, on_host.method,
                 on_host.precon, on_host.detail);
    spry_result_clear(p->ctx, &on_host);
    spry_result_clear(p->ctx, &on_device);
}

static void make(spry_context *ctx, spry_matrix *A, problem *p)
{
    problem_from_matrix(ctx, A, p);
    assert_ok(ctx, spry_vector_fill(p->b, (spry_scalar){1, 0}));
}

static void every_illness(spry_context *ctx, spry_device *d)
{
    for (int k = 0; k < ILLNESSES; k++)
        for (int t = 0; t < 4; t++) {
            problem p;
            if (!strchr(illnesses[k].types, spry_type_name(support_types[t])[0]))
                continue;
            make(ctx, illnesses[k].make(ctx, support_types[t]), &p);
            compare(&p, d, illnesses[k].name);
            problem_free(&p);
        }
}

/* Kinds that stay on the host with those that do not: what does is reported. */
static const struct {
    const char *options;
    bool stays;
} parts[] = {{"method=direct", false},
             {"method=direct:kind=sparse", true},
             {"method=direct:kind=dense", false},
             {"method=fgmres precon=ilutp", false},
             {"method=fgmres precon=ildl", false},
             {"method=fgmres precon=prepare:sub=[ilut]", true},
             {"method=fgmres precon=kkt", false}};

static void check_part(const problem *p, spry_device *d, const char *part, bool stays)
{
    spry_result r[2];
    const double tol = problem_tolerance(p->type);
    char options[128];
    snprintf(options, sizeof options, "tol=%g %s", tol, part);
    for (int on_device = 0; on_device < 2; on_device++) {
        r[on_device] = solve(p, on_device ? spry_device_name(d) : "cpu", options);
        check_reported(p, &r[on_device], part, tol);
    }
    if (!r[0].converged || !r[1].converged)
        fail_msg("%s, type %s: %s here, %s on the device", part, spry_type_name(p->type),
                 spry_reason_name(r[0].reason), spry_reason_name(r[1].reason));
    assert_string_equal(r[0].precon, r[1].precon);
    const bool reported = r[1].warnings && strstr(r[1].warnings, "runs on the cpu");
    if (reported != stays)
        fail_msg("%s: %s", part, reported ? r[1].warnings : "no warning that it stays on the host");
    spry_result_clear(p->ctx, &r[0]);
    spry_result_clear(p->ctx, &r[1]);
}

/* A bound for the error is reported also where the factors are the device's. */
static void bounds_on_device(spry_context *ctx, spry_device *d)
{
    problem p;
    spry_solver *solver = NULL;
    double backward, bound;
    make(ctx, saddle(ctx, SPRY_TYPE_D), &p);
    assert_ok(ctx, spry_solver_new(ctx, &solver));
    assert_ok(ctx, spry_solver_set(solver, "method=direct:kind=dense"));
    assert_ok(ctx, spry_solver_set_text(solver, "device", spry_device_name(d)));
    assert_ok(ctx, spry_solver_set_matrix(solver, p.A));
    assert_ok(ctx, spry_solve(solver, p.b, p.x, NULL));
    assert_ok(ctx, spry_solver_errors(solver, p.b, p.x, &backward, &bound));
    assert_true(backward >= 0 && bound > 0 && bound < 1);
    spry_solver_free(solver);
    problem_free(&p);
}

/* Of one type, since processors take long to compile: SPRY_TEST_FULL=1 takes all. */
static void every_part(spry_context *ctx, spry_device *d)
{
    for (int t = 0; t < 4; t++) {
        const spry_type type = support_types[t];
        problem p;
        if (type != SPRY_TYPE_D && !support_full())
            continue;
        make(ctx, saddle(ctx, type), &p);
        for (size_t k = 0; k < sizeof parts / sizeof *parts; k++)
            check_part(&p, d, parts[k].options, parts[k].stays);
        problem_free(&p);
    }
}

/* --- vectors of the caller's -------------------------------------------------------------------
 */

/* The x of the device is the caller's, polished on the host, to the bit. */
static void vectors_on_device(spry_context *ctx, spry_device *d)
{
    spry_matrix *(*const makers[])(spry_context *, spry_type) = {growing, no_boundary, hilbert};
    for (size_t k = 0; k < sizeof makers / sizeof *makers; k++) {
        problem p;
        spry_vector *b = NULL, *x = NULL;
        spry_result far = SPRY_RESULT_INIT;
        make(ctx, makers[k](ctx, SPRY_TYPE_D), &p);
        const int64_t n = spry_matrix_rows(p.A);
        assert_ok(ctx, spry_vector_on(d, SPRY_TYPE_D, n, NULL, &b));
        assert_ok(ctx, spry_vector_on(d, SPRY_TYPE_D, n, NULL, &x));
        assert_ok(ctx, spry_vector_copy(p.b, b));
        assert_ok(ctx, spry_quick_solve(ctx, p.A, b, x, "", &far));
        assert_string_equal(far.device, spry_device_name(d));
        spry_result near = solve(&p, spry_device_name(d), "");
        double *numbers = malloc((size_t)n * sizeof *numbers);
        assert_non_null(numbers);
        memcpy(numbers, spry_vector_data_const(p.x), (size_t)n * sizeof *numbers);
        assert_ok(ctx, spry_vector_copy(x, p.x));
        check_reported(&p, &far, "vectors there", 1e-8);
        assert_int_equal(far.reason, near.reason);
        assert_memory_equal(numbers, spry_vector_data_const(p.x), (size_t)n * sizeof *numbers);
        free(numbers);
        spry_result_clear(ctx, &far);
        spry_result_clear(ctx, &near);
        spry_vector_free(b);
        spry_vector_free(x);
        problem_free(&p);
    }
}

/* Several at once, of which one can be solved, one not, and one is nothing. */
static void several(spry_context *ctx, spry_device *d)
{
    enum { COUNT = 3 };
    spry_matrix *A = no_boundary(ctx, SPRY_TYPE_D);
    spry_reason reasons[2][COUNT];
    for (int on_device = 0; on_device < 2; on_device++) {
        spry_solver *solver = NULL;
        spry_vector *b[COUNT], *x[COUNT];
        spry_result results[COUNT] = {SPRY_RESULT_INIT, SPRY_RESULT_INIT, SPRY_RESULT_INIT};
        char text[64];
        snprintf(text, sizeof text, "device=%s", on_device ? spry_device_name(d) : "cpu");
        for (int k = 0; k < COUNT; k++) {
            assert_ok(ctx, spry_vector_ones(ctx, A, &b[k]));
            assert_ok(ctx, spry_vector_zeros(ctx, A, &x[k]));
        }
        for (int64_t i = 0; i < spry_matrix_rows(A); i++)
            ((double *)spry_vector_data(b[1]))[i] = i % 2 ? 1 : -1; /* the sum is 0 */
        assert_ok(ctx, spry_vector_fill(b[2], (spry_scalar){0, 0}));
        assert_ok(ctx, spry_solver_new(ctx, &solver));
        assert_ok(ctx, spry_solver_set(solver, text));
        assert_ok(ctx, spry_solver_set_matrix(solver, A));
        assert_ok(ctx, spry_solve_many(solver, COUNT, (const spry_vector *const *)b, x, results));
        for (int k = 0; k < COUNT; k++) {
            reasons[on_device][k] = results[k].reason;
            spry_result_clear(ctx, &results[k]);
            spry_vector_free(b[k]);
            spry_vector_free(x[k]);
        }
        spry_solver_free(solver);
    }
    assert_int_equal(reasons[0][0], SPRY_REASON_SINGULAR);
    assert_int_equal(reasons[0][1], SPRY_REASON_CONVERGED);
    assert_memory_equal(reasons[0], reasons[1], sizeof reasons[0]);
    spry_matrix_free(A);
}

/* --- failures ----------------------------------------------------------------------------------
 */

/* A solve that is finished on the host, with vectors of the device; nothing stays behind. */
static spry_status finished_on_host(spry_device *d, const spry_matrix *A)
{
    spry_context *ctx = A->ctx;
    spry_vector *b = NULL, *x = NULL;
    spry_result result = SPRY_RESULT_INIT;
    int64_t before, after, most;
    spry_status status = SPRY_STATUS_OK;
    spry_context_memory(ctx, &before, &most);
    SPRY_GO(ctx, spry_vector_on(d, A->a.type, A->a.rows, NULL, &b));
    SPRY_GO(ctx, spry_vector_on(d, A->a.type, A->a.rows, NULL, &x));
    SPRY_GO(ctx, spry_vector_fill(b, (spry_scalar){1, 0}));
    SPRY_GO(ctx, spry_quick_solve(ctx, A, b, x, "method=direct:kind=sparse,regular=yes", &result));
    assert_false(result.converged);
done:
    spry_result_clear(ctx, &result);
    spry_vector_free(b);
    spry_vector_free(x);
    spry_context_memory(ctx, &after, &most);
    assert_true(status != SPRY_STATUS_OK || after <= before + (1 << 16)); /* pools of the device */
    return status;
}

/* Copies, launches and allocations of the device, and allocations of the host, that fail one after
 * the other; of the last every few, as there are many. Some are not needed that much. */
static void failures(spry_context *ctx, spry_device *d)
{
    static const device_work works[] = {WORK_ALLOC, WORK_COPY, WORK_LAUNCH};
    enum { EVERY = 7, ROUNDS = 150 };
    int64_t before[4], failed = 0;
    spry_matrix *A = no_boundary(ctx, SPRY_TYPE_D);
    assert_ok(ctx, finished_on_host(d, A));
    memcpy(before, d->done, sizeof before);
    assert_ok(ctx, finished_on_host(d, A));
    for (int k = 0; k < 4; k++)
        before[k] = d->done[k] - before[k];
    for (size_t k = 0; k < sizeof works / sizeof *works; k++)
        for (int64_t n = 1; n <= before[works[k]]; n++) {
            device_fail_next(d, works[k], n);
            const spry_status status = finished_on_host(d, A);
            device_fail_next(d, works[k], 0);
            assert_true(status == SPRY_STATUS_OK || spry_message(ctx)[0]);
            failed += status != SPRY_STATUS_OK;
        }
    assert_true(failed > 10);
    for (int n = 0; n < ROUNDS; n++) {
        base_fail_allocation(ctx, 1 + n * EVERY, false);
        const spry_status status = finished_on_host(d, A);
        base_fail_allocation(ctx, 0, false);
        assert_true(status == SPRY_STATUS_OK || status == SPRY_STATUS_NO_MEMORY);
    }
    assert_ok(ctx, finished_on_host(d, A));
    spry_matrix_free(A);
}

/* --- real ones ---------------------------------------------------------------------------------
 */

/* Zeros on the diagonal, bad scaling, singular ones, complex ones, residuals that rounding spoils.
 */
static const char *const real[] = {"west0479",      "bp_200",   "impcol_a", "mcca",     "hor_131",
                                   "lns_131",       "fidapm05", "lap_25",   "curtis54", "gent113",
                                   "ww_36_pmec_36", "bcsstk20", "dwg961b",  "olm500"};

static void real_matrices(spry_context *ctx, spry_device *d)
{
    const char *folder = getenv("SPRY_MATRICES");
    if (!folder || !*folder) {
        print_message("SPRY_MATRICES names no folder of matrices: not looked at\n");
        return;
    }
    for (size_t k = 0; k < sizeof real / sizeof *real; k++) {
        char path[4096];
        spry_matrix *A = NULL, *all = NULL, *csr = NULL;
        problem p;
        snprintf(path, sizeof path, "%s/%s.mtx.gz", folder, real[k]);
        FILE *file = fopen(path, "r");
        if (!file)
            continue;
        fclose(file);
        assert_ok(ctx, spry_matrix_read(ctx, path, NULL, &A));
        assert_ok(ctx, spry_matrix_expand(A, &all));
        assert_ok(ctx, spry_matrix_convert(all, SPRY_FORMAT_CSR, &csr));
        spry_matrix_free(A);
        spry_matrix_free(all);
        make(ctx, csr, &p);
        compare(&p, d, real[k]);
        problem_free(&p);
    }
}

int main(void)
{
    static const devices_test tests[] = {DEVICES_TEST(every_illness),     DEVICES_TEST(every_part),
                                         DEVICES_TEST(vectors_on_device), DEVICES_TEST(several),
                                         DEVICES_TEST(bounds_on_device),  DEVICES_TEST(failures),
                                         DEVICES_TEST(real_matrices)};
    return DEVICES_RUN(tests);
}
