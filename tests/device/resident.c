/*
 * Methods on a device against the same plans on the host: what they report, how they end, and their
 * x. The host's arithmetic and the device's differ by rounding alone, which a method multiplies by
 * what its steps amplify: the first reports must agree to a few thousand units in the last place,
 * and the x of each must solve the system as well as it claims.
 */
#include "support/devices.h"
#include "support/generated.h"

#include "choose/precons.h"
#include "device/linalg/operator.h"
#include "device/linalg/vector.h"
#include "krylov/krylov.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

enum { MOST_TOLD = 400 };

typedef struct heard {
    runner *r;
    rhs *l;
    double value[MOST_TOLD];
    int count, most;
    double goal;
    bool converged, broken, every; /* every: each report is judged at once */
    char text[160];
} heard;

static spry_status hear(void *data, report_kind kind, bool loop, double value, bool *go_on)
{
    heard *t = data;
    (void)loop;
    if (kind > REPORT_ESTIMATE) /* no report of how far it is */
        return SPRY_STATUS_OK;
    if (t->count < MOST_TOLD)
        t->value[t->count++] = value;
    if (t->count == 1)
        t->goal *= value;
    t->converged = value <= t->goal;
    *go_on = !t->converged && t->count < t->most;
    return t->every && kind == REPORT_RESIDUAL ? runner_settle(t->r, t->l) : SPRY_STATUS_OK;
}

static void limit(void *data, run_limits *limits)
{
    const heard *t = data;
    *limits = (run_limits){.low = t->goal,
                           .high = INFINITY,
                           .look = -INFINITY,
                           .gradient = -INFINITY,
                           .reports = t->every ? 1 : t->most - t->count};
}

static void break_down(void *data, const char *text, bool finite)
{
    heard *t = data;
    (void)finite;
    t->broken = true;
    snprintf(t->text, sizeof t->text, "%s", text);
}

/* The method of a name, or where it has several lines the text itself. */
static plan *plan_for(spry_context *ctx, const char *method, const spry_operator *A,
                      const spry_operator *M)
{
    program *g = NULL;
    plan *p = NULL;
    plan_setup setup = {.fuse = true, .square = A->rows == A->cols, .apart = device_of(A) != NULL};
    const bool text = strchr(method, '\n') != NULL;
    assert_ok(ctx, krylov_parse(ctx, text ? "auto" : method, text ? method : NULL, "", 0, &g));
    assert_ok(ctx, runner_use(A, g->uses_transpose, &setup.use[OPERATOR_A]));
    assert_ok(ctx, runner_use(M, g->uses_transpose, &setup.use[OPERATOR_M]));
    assert_ok(ctx, plan_make(g, &setup, &p));
    return p;
}

static spry_status run_method(spry_context *ctx, const char *method, const spry_operator *A,
                              const spry_operator *M, const void *b, void *x, heard *t)
{
    const runner_operators operators = {.A = A, .M = M};
    plan *p = plan_for(ctx, method, A, M);
    runner *r = NULL;
    assert_ok(ctx, runner_new(p, &operators, 1, &r));
    rhs *l = runner_rhs(r, 0);
    l->b = b;
    l->x = x;
    l->data = t;
    l->report = hear;
    l->limits = limit;
    l->breakdown = break_down;
    t->r = r;
    t->l = l;
    const spry_status status = runner_run(r);
    runner_free(r);
    plan_free(p);
    return status;
}

typedef struct system {
    spry_matrix *matrix;
    spry_operator *host, *on_device;
    int64_t rows, n;
    void *b, *x, *y;
} system_of;

/* |b - A x| / |b| */
static double true_residual(spry_context *ctx, const system_of *s, const void *x)
{
    const spry_type type = s->host->type;
    spry_vector *r = NULL;
    double norm, all;
    assert_ok(ctx, spry_vector_new(ctx, type, s->rows, s->b, SPRY_OWN_COPY, &r));
    assert_ok(ctx, spry_vector_norm(r, &all));
    assert_ok(ctx, s->host->class->multiply(s->host, SPRY_TRANSPOSE_NO, (spry_scalar){-1, 0}, x,
                                            (spry_scalar){1, 0}, r->data));
    assert_ok(ctx, spry_vector_norm(r, &norm));
    spry_vector_free(r);
    return norm / all;
}

/* Runs a method on the device: b and x are copied to the device and back. */
static spry_status run_on_device(spry_context *ctx, spry_device *d, const system_of *s,
                                 const char *method, const spry_operator *M, heard *t)
{
    const int64_t size = (int64_t)spry_type_size(s->host->type);
    device_memory *b = NULL, *x = NULL;
    assert_ok(ctx, device_alloc(d, s->rows * size, &b));
    assert_ok(ctx, device_alloc(d, s->n * size, &x));
    assert_ok(ctx, device_put(b, 0, s->b, s->rows * size));
    assert_ok(ctx, device_put(x, 0, s->y, s->n * size));
    const spry_status status = run_method(ctx, method, s->on_device, M, b, x, t);
    assert_ok(ctx, device_get(x, 0, s->y, s->n * size));
    device_free(b);
    device_free(x);
    return status;
}

/* How much rounding may grow on the way to the first reports. Methods that make several steps
 * between sums go by inner products of a basis: the first five powers here, each of length 1, have
 * a condition of 1,200. */
static double growth(const char *method)
{
    for (int m = 0; krylov_texts[m].name; m++)
        if (strcmp(method, krylov_texts[m].name) == 0)
            return strstr(krylov_texts[m].text, "powers(") ? 1200 : 1;
    return 1;
}

/* M of the device's plan may be another operator than that of the host's. */
static void compare(spry_context *ctx, spry_device *d, const system_of *s, const char *method,
                    const spry_operator *M, const spry_operator *M_on_device, bool every)
{
    const spry_type type = s->host->type;
    const size_t bytes = (size_t)s->n * spry_type_size(type);
    const double eps = type == SPRY_TYPE_S || type == SPRY_TYPE_C ? FLT_EPSILON : DBL_EPSILON;
    const double goal = 1e5 * eps;
    heard on_host = {.goal = goal, .most = 120},
          on_device = {.goal = goal, .most = 120, .every = every};
    memset(s->x, 0, bytes);
    memset(s->y, 0, bytes);
    assert_ok(ctx, run_method(ctx, method, s->host, M, s->b, s->x, &on_host));
    assert_ok(ctx, run_on_device(ctx, d, s, method, M_on_device, &on_device));
    const double h = true_residual(ctx, s, s->x), t = true_residual(ctx, s, s->y);
    const int first = on_host.count < 5 ? on_host.count : 5;
    bool same = on_host.broken == on_device.broken &&
                abs(on_host.count - on_device.count) <= 2 + on_host.count / 10;
    for (int k = 0; k < first && k < on_device.count; k++)
        same = same && fabs(on_host.value[k] - on_device.value[k]) <=
                           4096 * eps * growth(method) * on_host.value[0];
    /* Those that do not get there, Jacobi's here, have no x to compare. */
    same = same && on_host.converged == on_device.converged;
    same = same && (!on_host.converged || t <= 10 * h + 100 * eps);
    if (!same) {
        print_error("%s %s: host %d reports, %g, breakdown '%s'; device %d, %g, '%s'\n", method,
                    spry_type_name(type), on_host.count, h, on_host.text, on_device.count, t,
                    on_device.text);
        for (int k = 0; k < first; k++)
            print_error("  %.17g %.17g\n", on_host.value[k],
                        k < on_device.count ? on_device.value[k] : NAN);
        fail();
    }
}

/* Takes the matrix. */
static void open_matrix(spry_context *ctx, spry_device *d, spry_matrix *A, const char *format,
                        system_of *s)
{
    const spry_type type = A->a.type;
    const size_t size = spry_type_size(type);
    *s = (system_of){.matrix = A, .rows = A->a.rows, .n = A->a.cols};
    assert_ok(ctx, spry_operator_from_matrix(s->matrix, NULL, NULL, &s->host));
    assert_ok(ctx, device_operator(d, s->matrix, format, &s->on_device));
    s->b = malloc((size_t)s->rows * size);
    s->x = calloc((size_t)s->n, size);
    s->y = calloc((size_t)s->n, size);
    assert_true(s->b && s->x && s->y);
    for (int64_t i = 0; i < s->rows; i++)
        value_set(type, s->b, i, (spry_scalar){base_uniform(7, (uint64_t)i), 0.25});
}

static void open_system(spry_context *ctx, spry_device *d, const char *kind, spry_type type,
                        const char *more, const char *format, system_of *s)
{
    open_matrix(ctx, d, generated_as(ctx, type, kind, "%s", more), format, s);
}

static void close_system(system_of *s)
{
    spry_operator_free(s->host);
    spry_operator_free(s->on_device);
    spry_matrix_free(s->matrix);
    free(s->b);
    free(s->x);
    free(s->y);
}

/* Every method, each with the type of its turn; on processors every fifth. */
static void test_methods(spry_context *ctx, spry_device *d)
{
    static const spry_type types[] = {SPRY_TYPE_D, SPRY_TYPE_Z, SPRY_TYPE_S, SPRY_TYPE_C};
    const char *only = getenv("SPRY_TEST_METHOD");
    system_of systems[4];
    for (int k = 0; k < 4; k++)
        open_system(ctx, d, "poisson2d", types[k], "size=13", "csr", &systems[k]);
    for (int m = 0; krylov_texts[m].name; m++) {
        if (only ? strcmp(only, krylov_texts[m].name) != 0 : devices_few(d) && m % 5 != 0)
            continue;
        for (int k = 0; k < (only ? 4 : 1); k++)
            compare(ctx, d, &systems[(m + k) % 4], krylov_texts[m].name, NULL, NULL, m % 3 == 2);
    }
    for (int k = 0; k < 4; k++)
        close_system(&systems[k]);
}

/* A preconditioner that is a diagonal on the device, one that is called on the host, and a matrix
 * in a format whose products are no rows. */
static void test_operators(spry_context *ctx, spry_device *d)
{
    system_of s;
    spry_operator *jacobi = NULL, *on_device = NULL, *ssor = NULL;
    char name[32];
    open_system(ctx, d, "convection-diffusion", SPRY_TYPE_D, "size=7", "csr", &s);
    assert_ok(ctx, spry_precon_new(s.matrix, NULL, "jacobi", &jacobi));
    assert_ok(ctx, device_diagonal_operator(d, jacobi, NULL, &on_device));
    assert_ok(ctx, precon_make_from_text(ctx, s.matrix, NULL, "ssor:omega=0.9", &ssor, name));
    compare(ctx, d, &s, "bicgstab", jacobi, on_device, false);
    compare(ctx, d, &s, "bicgstab", ssor, ssor, false);
    compare(ctx, d, &s, "gmres:restart=7,side=left", ssor, ssor, true);
    close_system(&s);
    open_system(ctx, d, "convection-diffusion", SPRY_TYPE_D, "size=7", "merge", &s);
    compare(ctx, d, &s, "bicgstab", NULL, NULL, false);
    compare(ctx, d, &s, "bicg", jacobi, on_device, false);
    close_system(&s);
    spry_operator_free(jacobi);
    spry_operator_free(on_device);
    spry_operator_free(ssor);
}

/* Vectors of two lengths. */
static void test_rectangular(spry_context *ctx, spry_device *d)
{
    enum { ROWS = 700, COLS = 300 };
    system_of s;
    matrix_arrays a = {.type = SPRY_TYPE_Z, .format = SPRY_FORMAT_CSR, .rows = ROWS, .cols = COLS};
    spry_matrix *A = NULL;
    a.offsets = spry_alloc(ctx, (ROWS + 1) * sizeof *a.offsets);
    a.col_index = spry_alloc(ctx, 2 * ROWS * sizeof *a.col_index);
    a.values = spry_alloc(ctx, 2 * ROWS * spry_type_size(a.type));
    for (int i = 0; i < ROWS; i++) {
        const int first = i % COLS, second = (i * 7 + 3) % COLS;
        a.offsets[i] = a.nnz;
        a.col_index[a.nnz] = first < second ? first : second;
        value_set(a.type, a.values, a.nnz++, (spry_scalar){1 + i % 3, 0.5});
        if (first == second)
            continue;
        a.col_index[a.nnz] = first < second ? second : first;
        value_set(a.type, a.values, a.nnz++, (spry_scalar){0.25, -0.125});
    }
    a.offsets[ROWS] = a.nnz;
    assert_ok(ctx, support_new(ctx, &a, SPRY_OWN_TAKE, &A));
    open_matrix(ctx, d, A, "csr", &s);
    compare(ctx, d, &s, "lsmr", NULL, NULL, false);
    compare(ctx, d, &s, "cgls", NULL, NULL, true);
    close_system(&s);
}

/* What goes wrong is reported as on the host: wrong indices, breakdowns, numbers that are not
 * finite.
 */
static void test_faults(spry_context *ctx, spry_device *d)
{
    static const char wrong[] =
        "method t \"of a test\"\nfor \"tests\"\nreference \"none\"\nvectors "
        "V[3]\nscalars h[3]\nstart:\n    r = b - A x\n"
        "    residual |r|\n    k = 0\nloop:\n    V[k] = r\n"
        "    x = x + 0.1 V[k]\n    r = b - A x\n    residual |r|\n"
        "    k = k + 1\n";
    static const char broken[] = "method t \"of a test\"\nfor \"tests\"\nreference "
                                 "\"none\"\nstart:\n    r = b - A x\n    residual |r|\n    n = 0\n"
                                 "loop:\n    x = x + 0.1 r\n    r = b - A x\n    n = n + |r|\n"
                                 "    residual |r|\n    breakdown if n > 3 |r| \"n is {n}\"\n";
    heard on_host = {.goal = 1e-9, .most = 50}, on_device = on_host;
    system_of s;
    char message[MESSAGE_SIZE];
    open_system(ctx, d, "poisson2d", SPRY_TYPE_D, "size=6", "csr", &s);
    assert_int_equal(SPRY_STATUS_BAD_INPUT,
                     run_method(ctx, wrong, s.host, NULL, s.b, s.x, &on_host));
    snprintf(message, sizeof message, "%s", spry_message(ctx));
    assert_int_equal(SPRY_STATUS_BAD_INPUT, run_on_device(ctx, d, &s, wrong, NULL, &on_device));
    assert_string_equal(message, spry_message(ctx));
    on_host = on_device = (heard){.goal = 1e-9, .most = 50};
    memset(s.x, 0, (size_t)s.n * sizeof(double));
    memset(s.y, 0, (size_t)s.n * sizeof(double));
    assert_ok(ctx, run_method(ctx, broken, s.host, NULL, s.b, s.x, &on_host));
    assert_ok(ctx, run_on_device(ctx, d, &s, broken, NULL, &on_device));
    assert_true(on_host.broken && on_device.broken);
    assert_string_equal(on_host.text, on_device.text);
    assert_int_equal(on_host.count, on_device.count);
    /* NaN is reported, and ends the run. */
    on_device = (heard){.goal = 1e-9, .most = 50};
    ((double *)s.b)[5] = NAN;
    assert_ok(ctx, run_on_device(ctx, d, &s, broken, NULL, &on_device));
    assert_true(isnan(on_device.value[0]));
    close_system(&s);
}

/* Every n-th call of the device fails until the run goes well: each failure is reported, and the
 * device goes on working. */
static void test_failures(spry_context *ctx, spry_device *d)
{
    static const device_work works[] = {WORK_ALLOC, WORK_COPY, WORK_LAUNCH};
    system_of s;
    open_system(ctx, d, "poisson2d", SPRY_TYPE_D, "size=5", "csr", &s);
    plan *p = plan_for(ctx, "cg", s.on_device, NULL);
    device_memory *b = NULL, *x = NULL;
    assert_ok(ctx, device_alloc(d, s.rows * 8, &b));
    assert_ok(ctx, device_alloc(d, s.n * 8, &x));
    assert_ok(ctx, device_put(b, 0, s.b, s.rows * 8));
    for (size_t w = 0; w < sizeof works / sizeof *works; w++) {
        spry_status status = SPRY_STATUS_NO_MEMORY;
        int n = 0;
        while (status != SPRY_STATUS_OK) {
            const runner_operators operators = {.A = s.on_device};
            heard t = {.goal = 1e-8, .most = 100};
            runner *r = NULL;
            assert_ok(ctx, device_clear(x, 0, s.n * 8));
            device_fail_next(d, works[w], ++n);
            status = runner_new(p, &operators, 1, &r);
            if (status == SPRY_STATUS_OK) {
                rhs *l = runner_rhs(r, 0);
                *l = (rhs){.scalars = l->scalars,
                           .fault = NONE,
                           .reports_at_restart = -1,
                           .b = b,
                           .x = x,
                           .data = &t,
                           .report = hear,
                           .limits = limit,
                           .breakdown = break_down};
                t.r = r;
                t.l = l;
                status = runner_run(r);
            }
            runner_free(r);
            device_fail_next(d, works[w], 0);
            assert_true(status == SPRY_STATUS_OK || spry_message(ctx)[0]);
            assert_true(status != SPRY_STATUS_OK || t.converged);
            assert_in_range(n, 1, 1000);
        }
        assert_true(n > 2);
    }
    device_free(b);
    device_free(x);
    plan_free(p);
    close_system(&s);
}

/* Breakdowns and restarts while an update of x is late: x is what the text says. */
static void test_settled(spry_context *ctx, spry_device *d)
{
    static const char again[] =
        "method t \"of a test\"\nfor \"tests\"\nreference \"none\"\nstart:\n"
        "    r = b - A x\n    residual |r|\n    z = M r\n    p = z\n    rho = (r, z)\n    n = 0\n"
        "loop:\n    q = A p\n    alpha = rho / (p, q)\n    x = x + alpha p\n    r = r - alpha q\n"
        "    residual |r|\n    n = n + 1\n    restart if n == 10\n    z = M r\n"
        "    rho1 = (r, z)\n    beta = rho1 / rho\n    rho = rho1\n    p = z + beta p\n";
    static const char *const methods[] = {again, "cg", "cr"};
    system_of s;
    spry_operator *ssor = NULL;
    char name[32];
    open_system(ctx, d, "poisson2d", SPRY_TYPE_D, "size=24", "csr", &s);
    assert_ok(ctx, precon_make_from_text(ctx, s.matrix, NULL, "ssor:omega=0.9", &ssor, name));
    for (int k = 0; k < 5; k++) { /* few reports: nothing has converged */
        heard on_host = {.goal = 1e-30, .most = 34}, on_device = {.goal = 1e-30, .most = 34};
        const spry_operator *M = k % 2 == 0 ? ssor : NULL;
        on_host.every = on_device.every = k > 2;
        memset(s.x, 0, (size_t)s.n * sizeof(double));
        memset(s.y, 0, (size_t)s.n * sizeof(double));
        assert_ok(ctx, run_method(ctx, methods[k % 3], s.host, M, s.b, s.x, &on_host));
        assert_ok(ctx, run_on_device(ctx, d, &s, methods[k % 3], M, &on_device));
        assert_int_equal(on_host.count, on_device.count);
        for (int64_t i = 0; i < s.n; i++)
            if (!(fabs(((double *)s.x)[i] - ((double *)s.y)[i]) <=
                  1e-9 * (1 + fabs(((double *)s.x)[i]))))
                fail_msg("case %d, element %d: %g on the host, %g on the device", k, (int)i,
                         ((double *)s.x)[i], ((double *)s.y)[i]);
    }
    spry_operator_free(ssor);
    close_system(&s);
}

/* A caller that asks for the end is heard, whatever the device does next. */
static spry_status hear_stop(void *data, report_kind kind, bool loop, double value, bool *go_on)
{
    heard *t = data;
    (void)kind, (void)loop, (void)value;
    *go_on = ++t->count < 12;
    return SPRY_STATUS_OK;
}

static void far_limits(void *data, run_limits *limits)
{
    (void)data;
    *limits = (run_limits){.low = -INFINITY,
                           .high = INFINITY,
                           .look = -INFINITY,
                           .gradient = -INFINITY,
                           .reports = 1000};
}

static void test_stop(spry_context *ctx, spry_device *d)
{
    system_of s;
    device_memory *b = NULL, *x = NULL;
    heard t = {0};
    runner *r = NULL;
    open_system(ctx, d, "poisson2d", SPRY_TYPE_D, "size=24", "csr", &s);
    plan *p = plan_for(ctx, "gmres:restart=5", s.on_device, NULL);
    const runner_operators operators = {.A = s.on_device};
    assert_ok(ctx, device_alloc(d, s.rows * 8, &b));
    assert_ok(ctx, device_alloc(d, s.n * 8, &x));
    assert_ok(ctx, device_put(b, 0, s.b, s.rows * 8));
    assert_ok(ctx, device_clear(x, 0, s.n * 8));
    assert_ok(ctx, runner_new(p, &operators, 1, &r));
    rhs *l = runner_rhs(r, 0);
    l->b = b;
    l->x = x;
    l->data = &t;
    l->report = hear_stop;
    l->limits = far_limits;
    l->breakdown = break_down;
    assert_ok(ctx, runner_run(r));
    assert_int_equal(t.count, 12);
    runner_free(r);
    plan_free(p);
    device_free(b);
    device_free(x);
    close_system(&s);
}

int main(void)
{
    static const devices_test tests[] = {
        DEVICES_TEST(test_methods), DEVICES_TEST(test_operators), DEVICES_TEST(test_rectangular),
        DEVICES_TEST(test_faults),  DEVICES_TEST(test_settled),   DEVICES_TEST(test_stop),
        DEVICES_TEST(test_failures)};
    return DEVICES_RUN(tests);
}
