/*
 * Methods on a device against the same plans on the host: what they report, how they end, and their
 * x. The host's arithmetic and the device's differ by rounding alone, which a method multiplies by
 * what its steps amplify: the first reports must agree to a few thousand units in the last place,
 * and the x of each must solve the system as well as it claims.
 */
#include "support/devices.h"
#include "support/generated.h"

#include "device/operator.h"
#include "krylov/krylov.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

enum { MOST_TOLD = 400 };

typedef struct told {
    runner *r;
    lane *l;
    double value[MOST_TOLD];
    int count, most;
    double goal;
    bool converged, broken, every; /* every: each report is judged at once */
    char text[160];
} told;

static spry_status hear(void *data, report_kind kind, bool loop, double value, bool *go_on)
{
    told *t = data;
    (void)loop;
    if (kind == REPORT_GRADIENT)
        return SPRY_OK;
    if (t->count < MOST_TOLD)
        t->value[t->count++] = value;
    if (t->count == 1)
        t->goal *= value;
    t->converged = value <= t->goal;
    *go_on = !t->converged && t->count < t->most;
    return t->every && kind == REPORT_RESIDUAL ? runner_settle(t->r, t->l) : SPRY_OK;
}

static void limit(void *data, run_limits *limits)
{
    const told *t = data;
    *limits = (run_limits){t->goal, INFINITY, -INFINITY, t->every ? 1 : t->most - t->count};
}

static void break_down(void *data, const char *text, bool finite)
{
    told *t = data;
    (void)finite;
    t->broken = true;
    snprintf(t->text, sizeof t->text, "%s", text);
}

static plan *plan_for(spry_context *ctx, const char *method, const spry_operator *A,
                      const spry_operator *M)
{
    program *g = NULL;
    plan *p = NULL;
    const char *options;
    plan_setup setup = {.fuse = true, .square = true};
    assert_ok(ctx, krylov_parse(ctx, method, NULL, "", &g, &options));
    assert_ok(ctx, runner_use(A, g->uses_transpose, &setup.use[OPERATOR_A]));
    assert_ok(ctx, runner_use(M, g->uses_transpose, &setup.use[OPERATOR_M]));
    assert_ok(ctx, plan_make(g, options, &setup, &p));
    return p;
}

static void run_method(spry_context *ctx, const char *method, const spry_operator *A,
                       const spry_operator *M, const void *b, void *x, told *t)
{
    const runner_operators operators = {A, M};
    plan *p = plan_for(ctx, method, A, M);
    runner *r = NULL;
    assert_ok(ctx, runner_new(p, &operators, 1, &r));
    lane *l = runner_lane(r, 0);
    l->b = b;
    l->x = x;
    l->data = t;
    l->report = hear;
    l->limits = limit;
    l->breakdown = break_down;
    t->r = r;
    t->l = l;
    assert_ok(ctx, runner_run(r));
    runner_free(r);
    plan_free(p);
}

typedef struct system {
    spry_matrix *matrix;
    spry_operator *host, *there, *M, *M_there;
    int64_t n;
    void *b, *x, *y;
} system_of;

/* |b - A x| / |b| */
static double true_residual(spry_context *ctx, const system_of *s, const void *x)
{
    const spry_type type = s->host->type;
    spry_vector *r = NULL;
    double norm, all;
    assert_ok(ctx, spry_vector_new(ctx, type, s->n, s->b, SPRY_COPY, &r));
    assert_ok(ctx, spry_vector_norm(r, &all));
    assert_ok(ctx, s->host->class->multiply(s->host, SPRY_PLAIN, (spry_scalar){-1, 0}, x,
                                            (spry_scalar){1, 0}, r->data));
    assert_ok(ctx, spry_vector_norm(r, &norm));
    spry_vector_free(r);
    return norm / all;
}

static void compare(spry_context *ctx, spry_device *d, const system_of *s, const char *method,
                    const spry_operator *M, bool every)
{
    const spry_type type = s->host->type;
    const int64_t bytes = s->n * (int64_t)spry_type_size(type);
    const double eps = type == SPRY_S || type == SPRY_C ? FLT_EPSILON : DBL_EPSILON;
    const double goal = 1e5 * eps;
    told here = {.goal = goal, .most = 120}, there = {.goal = goal, .most = 120, .every = every};
    device_memory *b = NULL, *x = NULL;
    memset(s->x, 0, (size_t)bytes);
    memset(s->y, 0, (size_t)bytes);
    run_method(ctx, method, s->host, M, s->b, s->x, &here);
    assert_ok(ctx, device_alloc(d, bytes, &b));
    assert_ok(ctx, device_alloc(d, bytes, &x));
    assert_ok(ctx, device_put(b, 0, s->b, bytes));
    assert_ok(ctx, device_put(x, 0, s->y, bytes));
    run_method(ctx, method, s->there, M, b, x, &there);
    assert_ok(ctx, device_get(x, 0, s->y, bytes));
    device_free(b);
    device_free(x);
    const double h = true_residual(ctx, s, s->x), t = true_residual(ctx, s, s->y);
    const int first = here.count < 5 ? here.count : 5;
    bool same = here.broken == there.broken && abs(here.count - there.count) <= 2 + here.count / 10;
    for (int k = 0; k < first && k < there.count; k++)
        same = same && fabs(here.value[k] - there.value[k]) <= 4096 * eps * here.value[0];
    same = same && t <= 10 * h + 100 * eps;
    if (!same) {
        print_error("%s %s: host %d reports, %g, breakdown '%s'; device %d, %g, '%s'\n", method,
                    spry_type_name(type), here.count, h, here.text, there.count, t, there.text);
        for (int k = 0; k < first; k++)
            print_error("  %.17g %.17g\n", here.value[k], k < there.count ? there.value[k] : NAN);
        fail();
    }
}

static void open_system(spry_context *ctx, spry_device *d, const char *kind, spry_type type,
                        const char *more, system_of *s)
{
    char options[128];
    *s = (system_of){0};
    snprintf(options, sizeof options, "%s type=%s", more, spry_type_name(type));
    s->matrix = generated(ctx, kind, options);
    s->n = s->matrix->a.rows;
    assert_ok(ctx, spry_operator_from_matrix(s->matrix, &s->host));
    assert_ok(ctx, device_operator(d, s->matrix, "csr", &s->there));
    const int64_t bytes = s->n * (int64_t)spry_type_size(type);
    s->b = malloc((size_t)bytes);
    s->x = malloc((size_t)bytes);
    s->y = malloc((size_t)bytes);
    for (int64_t i = 0; i < s->n; i++)
        value_set(type, s->b, i, (spry_scalar){base_uniform(7, (uint64_t)i), 0.25});
}

static void close_system(system_of *s)
{
    spry_operator_free(s->host);
    spry_operator_free(s->there);
    spry_operator_free(s->M);
    spry_operator_free(s->M_there);
    spry_matrix_free(s->matrix);
    free(s->b);
    free(s->x);
    free(s->y);
}

/* Every method, each with the type of its turn: PoCL takes a second to compile one. */
static void test_methods(spry_context *ctx, spry_device *d)
{
    static const spry_type types[] = {SPRY_D, SPRY_Z, SPRY_S, SPRY_C};
    const char *only = getenv("SPRY_TEST_METHOD");
    system_of systems[4];
    for (int k = 0; k < 4; k++)
        open_system(ctx, d, "poisson2d", types[k], "size=13", &systems[k]);
    for (int m = 0; krylov_texts[m].name; m++) {
        if (only && strcmp(only, krylov_texts[m].name) != 0)
            continue;
        for (int k = 0; k < (only ? 4 : 1); k++)
            compare(ctx, d, &systems[(m + k) % 4], krylov_texts[m].name, NULL, m % 3 == 2);
    }
    for (int k = 0; k < 4; k++)
        close_system(&systems[k]);
}

int main(void)
{
    static const devices_test tests[] = {DEVICES_TEST(test_methods)};
    return DEVICES_RUN(tests);
}
