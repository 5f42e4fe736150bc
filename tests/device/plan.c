/* A plan's bytes on a device: the parts add up, and each is what the device then has in use. */
#include "support/devices.h"

#include <spry/plan.h>

#include <stdlib.h>

enum { SIDE = 96, ROWS = SIDE * SIDE };

/* A device of its own, so that what was in use at most is of one solver. */
typedef struct bench {
    spry_context *ctx;
    spry_device *d;
    spry_matrix *A;
    spry_vector *b, *x;
    spry_solver *solver;
    spry_plan plan;
} bench;

static void open_bench(bench *t, const spry_device *like, const char *options)
{
    char text[256];
    *t = (bench){.plan = SPRY_PLAN_INIT};
    t->ctx = support_context("threads=1");
    assert_ok(t->ctx, device_open(t->ctx, spry_device_name(like), &t->d));
    snprintf(text, sizeof text, "size=%d type=%s", SIDE, like->facts.has_double ? "d" : "s");
    assert_ok(t->ctx, spry_generate(t->ctx, "poisson2d", text, &t->A));
    assert_ok(t->ctx, spry_vector_ones(t->ctx, t->A, &t->b));
    assert_ok(t->ctx, spry_vector_zeros(t->ctx, t->A, &t->x));
    assert_ok(t->ctx, spry_solver_new(t->ctx, &t->solver));
    snprintf(text, sizeof text, "memory=no device=%s %s", spry_device_name(like), options);
    assert_ok(t->ctx, spry_solver_set(t->solver, text));
    assert_ok(t->ctx, spry_solver_set_matrix(t->solver, t->A));
}

static void close_bench(bench *t)
{
    spry_plan_clear(t->ctx, &t->plan);
    spry_solver_free(t->solver);
    spry_vector_free(t->x);
    spry_vector_free(t->b);
    spry_matrix_free(t->A);
    device_close(t->d);
    support_context_free(t->ctx);
}

static int64_t in_use(const bench *t)
{
    int64_t used, most;
    device_memory_now(t->d, &used, &most, NULL);
    return used;
}

static int64_t at_most(const bench *t)
{
    int64_t used, most;
    device_memory_now(t->d, &used, &most, NULL);
    return most;
}

static int64_t sum_of(const spry_plan *p)
{
    return p->device_matrix_bytes + p->device_vector_bytes + p->device_precon_bytes +
           p->device_other_bytes;
}

/* Not forecast is what runs a method (scalars, control blocks, partial sums), and of vectors those
 * two that triangular solves make when they are first applied. */
static void assert_near(const char *what, int64_t forecast, int64_t measured)
{
    const int64_t slack = (48 << 10) + 2 * ROWS * (int64_t)sizeof(double);
    if (llabs(forecast - measured) > slack)
        fail_msg("%s: forecast %lld, measured %lld bytes", what, (long long)forecast,
                 (long long)measured);
}

static void solve(const bench *t)
{
    spry_result result = SPRY_RESULT_INIT;
    assert_ok(t->ctx, spry_solve(t->solver, t->b, t->x, &result));
    assert_true(result.converged); /* else advice is looked for, with vectors of its own */
    spry_result_clear(t->ctx, &result);
}

/* What operators take that are made as the solver makes its own. */
static void measure(const bench *t, const char *format, const char *precon, int64_t bytes[2])
{
    spry_operator *A = NULL, *M = NULL;
    const int64_t before = in_use(t);
    assert_ok(t->ctx, spry_operator_from_matrix(t->A, t->d, format, &A));
    bytes[0] = in_use(t) - before;
    assert_ok(t->ctx, spry_precon_for_operator(A, t->A, precon, &M));
    bytes[1] = in_use(t) - before - bytes[0];
    spry_operator_free(M);
    spry_operator_free(A);
}

/* The plan before a solve; and after it, when all that it forecast exists. */
static void check(const spry_device *d, const char *format, const char *precon)
{
    bench t;
    char options[128];
    int64_t made[2];
    snprintf(options, sizeof options, "format=%s precon=%s method=cg", format, precon);
    open_bench(&t, d, options);
    assert_ok(t.ctx, spry_solver_plan(t.solver, 1, &t.plan));
    const spry_plan p = t.plan;
    const int64_t planned = in_use(&t);
    assert_string_equal(p.device, spry_device_name(d));
    assert_int_equal(sum_of(&p), p.device_bytes);
    solve(&t);
    const int64_t ran = in_use(&t), most = at_most(&t);
    assert_near("vectors", p.device_vector_bytes, ran - planned);
    assert_near("all", p.device_bytes, most);
    spry_plan_clear(t.ctx, &t.plan);
    assert_ok(t.ctx, spry_solver_plan(t.solver, 1, &t.plan));
    assert_int_equal(sum_of(&t.plan), t.plan.device_bytes);
    assert_int_equal(t.plan.device_matrix_bytes, p.device_matrix_bytes);
    assert_int_equal(t.plan.device_precon_bytes, p.device_precon_bytes);
    assert_near("all again", t.plan.device_bytes, most);
    measure(&t, format, precon, made);
    assert_int_equal(p.device_matrix_bytes, made[0]);
    assert_int_equal(p.device_precon_bytes, made[1]);
    close_bench(&t);
}

static void parts(spry_context *ctx, spry_device *d)
{
    (void)ctx;
    check(d, "csr", "jacobi");
    check(d, "sell", "ic");
    if (!devices_few(d))
        check(d, "csr", "amg");
}

/* What is still to come has to fit on the device: A does, the vectors of eight systems do not. */
static void refusals(spry_context *ctx, spry_device *d)
{
    (void)ctx;
    bench t;
    open_bench(&t, d, "format=csr precon=jacobi method=cg");
    assert_ok(t.ctx, spry_solver_plan(t.solver, 1, &t.plan));
    device_limit_memory(t.d, 2 * t.plan.device_bytes + (1 << 20)); /* blocks are rounded */
    spry_plan_clear(t.ctx, &t.plan);
    assert_ok(t.ctx, spry_solver_plan(t.solver, 1, &t.plan));
    spry_plan_clear(t.ctx, &t.plan);
    assert_int_equal(spry_solver_plan(t.solver, 8, &t.plan), SPRY_STATUS_NO_MEMORY);
    support_message_has(t.ctx, "more on");
    support_message_has(t.ctx, "device=cpu");
    close_bench(&t);
}

int main(void)
{
    static const devices_test tests[] = {DEVICES_TEST(parts), DEVICES_TEST(refusals)};
    return DEVICES_RUN(tests);
}
