/* A solver's options: set by type and read back, and what of a set-up each of them drops. */
#include "support/support.h"

#include "krylov/solver.h"

#include <spry/spry.h>

#include <math.h>

typedef struct fixture {
    spry_context *ctx;
    spry_matrix *A;
    spry_vector *b, *x, *fresh;
    spry_solver *solver;
} fixture;

static void open_fixture(fixture *f, const char *kind, const char *options)
{
    assert_int_equal(spry_context_new(NULL, &f->ctx), SPRY_STATUS_OK);
    assert_ok(f->ctx, spry_generate(f->ctx, kind, "size=20", &f->A));
    assert_ok(f->ctx, spry_vector_ones(f->ctx, f->A, &f->b));
    assert_ok(f->ctx, spry_vector_zeros(f->ctx, f->A, &f->x));
    assert_ok(f->ctx, spry_vector_zeros(f->ctx, f->A, &f->fresh));
    assert_ok(f->ctx, spry_solver_new(f->ctx, &f->solver));
    assert_ok(f->ctx, spry_solver_set(f->solver, options));
    assert_ok(f->ctx, spry_solver_set_matrix(f->solver, f->A));
}

static void close_fixture(fixture *f)
{
    spry_solver_free(f->solver);
    spry_vector_free(f->b);
    spry_vector_free(f->x);
    spry_vector_free(f->fresh);
    spry_matrix_free(f->A);
    spry_context_free(f->ctx);
}

static void solve(fixture *f)
{
    assert_ok(f->ctx, spry_vector_fill(f->x, (spry_scalar){0, 0}));
    assert_ok(f->ctx, spry_solve(f->solver, f->b, f->x, NULL));
}

static void numbers_go_as_they_are(void **state)
{
    (void)state;
    fixture f;
    double real;
    char text[SPRY_OPTION_TEXT_SIZE], small[4];
    const double awkward = 0x1.23456789abcdfp-31; /* 17 digits as text */
    open_fixture(&f, "poisson2d", "");
    assert_ok(f.ctx, spry_solver_set_real(f.solver, "tol", awkward));
    assert_ok(f.ctx, spry_solver_get_real(f.solver, "tol", &real));
    assert_true(real == awkward);
    assert_ok(f.ctx, spry_solver_get_text(f.solver, "tol", text, sizeof text));
    assert_ok(f.ctx, spry_solver_set_real(f.solver, "tol", 0.5));
    assert_ok(f.ctx, spry_solver_set_text(f.solver, "tol", text));
    assert_ok(f.ctx, spry_solver_get_real(f.solver, "tol", &real));
    assert_true(real == awkward);
    assert_ok(f.ctx, spry_solver_set_text(f.solver, "max-iter", "9007199254740993"));
    assert_ok(f.ctx, spry_solver_get_text(f.solver, "max_iter", text, sizeof text));
    assert_string_equal(text, "9007199254740993"); /* 2^53 + 1 is no double */
    assert_ok(f.ctx, spry_solver_set_real(f.solver, "tol", 1));
    assert_ok(f.ctx, spry_solver_get_text(f.solver, "tol", text, sizeof text));
    assert_string_equal(text, "1");
    assert_ok(f.ctx, spry_solver_set_real(f.solver, "max-iter", 1e6));
    assert_ok(f.ctx, spry_solver_get_real(f.solver, "max-iter", &real));
    assert_true(real == 1e6);
    assert_ok(f.ctx, spry_solver_set_text(f.solver, "fuse", "false"));
    assert_ok(f.ctx, spry_solver_get_text(f.solver, "fuse", text, sizeof text));
    assert_string_equal(text, "no");
    assert_ok(f.ctx,
              spry_solver_set_text(f.solver, "precon", "amg:smoother=[sai:tau=0.9],cycle=w"));
    assert_ok(f.ctx, spry_solver_get_text(f.solver, "precon", text, sizeof text));
    assert_string_equal(text, "amg:smoother=[sai:tau=0.9],cycle=w");
    assert_int_equal(spry_solver_get_text(f.solver, "precon", small, sizeof small),
                     SPRY_STATUS_BAD_USAGE);
    support_message_has(f.ctx, "precon is a text of 34 characters, which 4 cannot hold");
    close_fixture(&f);
}

static void mismatches_say_what_is_taken(void **state)
{
    (void)state;
    fixture f;
    double real = 3;
    open_fixture(&f, "poisson2d", "");
    spry_solver *s = f.solver;
    const struct {
        spry_status status;
        const char *message;
    } cases[] = {
        {spry_solver_set_real(s, "max-iter", 2.5), "max_iter takes a whole number, not 2.5"},
        {spry_solver_set_real(s, "max-iter", 1e300), "max_iter takes a whole number, not 1e+300"},
        {spry_solver_set_real(s, "tol", NAN), "tol takes a number, not"},
        {spry_solver_set_real(s, "tol", 1.5), "tol=1.5 is outside 0..1"},
        {spry_solver_set_real(s, "tol", -1), "tol=-1 is outside 0..1"},
        {spry_solver_set_real(s, "fuse", 1), "fuse takes yes or no, not 1"},
        {spry_solver_set_text(s, "tol", "yes"), "tol=yes is not a number"},
        {spry_solver_set_real(s, "precon", 1), "precon takes a text, not 1"},
        {spry_solver_set_real(s, "tolerance", 1), "option tolerance is unknown"},
        {spry_solver_set_text(s, "max-iter", "many"), "max_iter=many is not a whole number"},
        {spry_solver_set_text(s, NULL, "many"), "option NULL is unknown"},
        {spry_solver_get_real(s, "fuse", &real), "fuse holds yes or no, not a number"},
    };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++)
        assert_int_equal(cases[k].status, SPRY_STATUS_BAD_USAGE);
    support_message_has(f.ctx, cases[sizeof cases / sizeof *cases - 1].message);
    assert_true(real == 3);
    assert_int_equal(spry_solver_set_real(s, "max-iter", 2.5), SPRY_STATUS_BAD_USAGE);
    support_message_has(f.ctx, cases[0].message);
    assert_int_equal(spry_solver_set_real(s, "fuse", 1), SPRY_STATUS_BAD_USAGE);
    support_message_has(f.ctx, cases[5].message);
    close_fixture(&f);
}

/* What does not exist is refused when it is set, and what was set before stays. */
static void names_are_checked_when_they_are_set(void **state)
{
    static const char text[] = "method mine \"mine\"\nstart:\n    r = b - A x\n    residual |r|\n"
                               "loop:\n    x = x + 0.1 r\n    r = b - A x\n    residual |r|\n";
    static const struct {
        const char *name, *value, *message;
    } cases[] = {{"method", "cgg", "method cgg is unknown; did you mean cg?"},
                 {"method", "gmres:restrat=5", "did you mean restart?"},
                 {"precon", "ilux", "precon ilux is unknown"},
                 {"precon", "ilu:levle=1", "did you mean level?"}};
    (void)state;
    fixture f;
    char options[64], now[SPRY_OPTION_TEXT_SIZE];
    open_fixture(&f, "poisson2d", "method=cg precon=jacobi");
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        snprintf(options, sizeof options, "tol=1e-3 %s=%s", cases[k].name, cases[k].value);
        assert_status(f.ctx, SPRY_STATUS_BAD_USAGE, spry_solver_set(f.solver, options));
        support_message_has(f.ctx, cases[k].message);
        assert_status(f.ctx, SPRY_STATUS_BAD_USAGE,
                      spry_solver_set_text(f.solver, cases[k].name, cases[k].value));
        support_message_has(f.ctx, cases[k].message);
    }
    assert_ok(f.ctx, spry_solver_get_text(f.solver, "method", now, sizeof now));
    assert_string_equal(now, "cg");
    assert_status(f.ctx, SPRY_STATUS_BAD_USAGE, spry_solver_set(f.solver, "method=mine"));
    assert_ok(f.ctx, spry_solver_set_method_text(f.solver, text));
    assert_ok(f.ctx, spry_solver_set(f.solver, "method=mine"));
    close_fixture(&f);
}

/* "method:NAME" is what the method runs with, whoever has set it. */
static void the_methods_own_options_are_read(void **state)
{
    (void)state;
    fixture f;
    double restart;
    char text[SPRY_OPTION_TEXT_SIZE];
    open_fixture(&f, "poisson2d", "method=gmres");
    assert_ok(f.ctx, spry_solver_get_real(f.solver, "method:restart", &restart));
    assert_true(restart == 30);
    assert_ok(f.ctx, spry_solver_set_real(f.solver, "restart", 17));
    assert_ok(f.ctx, spry_solver_get_real(f.solver, "method:restart", &restart));
    assert_true(restart == 17);
    assert_ok(f.ctx, spry_solver_set_text(f.solver, "method", "gmres:restart=50,side=left"));
    assert_ok(f.ctx, spry_solver_get_text(f.solver, "method:restart", text, sizeof text));
    assert_string_equal(text, "50");
    assert_ok(f.ctx, spry_solver_get_text(f.solver, "method:side", text, sizeof text));
    assert_string_equal(text, "left");
    assert_int_equal(spry_solver_get_real(f.solver, "method:side", &restart),
                     SPRY_STATUS_BAD_USAGE);
    support_message_has(f.ctx, "method:side holds a word, not a number");
    assert_int_equal(spry_solver_get_real(f.solver, "method:restrat", &restart),
                     SPRY_STATUS_BAD_USAGE);
    support_message_has(f.ctx, "did you mean restart?");
    assert_ok(f.ctx, spry_solver_set(f.solver, "method=cg restart=0"));
    assert_int_equal(spry_solver_get_real(f.solver, "method:restart", &restart),
                     SPRY_STATUS_BAD_USAGE);
    support_message_has(f.ctx, "method cg has no options");
    close_fixture(&f);
}

/* The same x as a solver that has known these options from the beginning. */
static void solves_as_a_new_one(fixture *f)
{
    spry_solver *fresh = NULL;
    spry_result old = SPRY_RESULT_INIT, new = SPRY_RESULT_INIT;
    assert_ok(f->ctx, spry_solver_new(f->ctx, &fresh));
    fresh->asked.options = f->solver->asked.options;
    assert_ok(f->ctx, spry_solver_set_matrix(fresh, f->A));
    assert_ok(f->ctx, spry_vector_fill(f->x, (spry_scalar){0, 0}));
    assert_ok(f->ctx, spry_vector_fill(f->fresh, (spry_scalar){0, 0}));
    assert_ok(f->ctx, spry_solve(f->solver, f->b, f->x, &old));
    assert_ok(f->ctx, spry_solve(fresh, f->b, f->fresh, &new));
    assert_memory_equal(f->x->data, f->fresh->data, (size_t)f->x->n * spry_type_size(f->x->type));
    assert_string_equal(old.precon, new.precon);
    assert_string_equal(old.method, new.method);
    assert_string_equal(old.format, new.format);
    assert_string_equal(old.warnings ? old.warnings : "", new.warnings ? new.warnings : "");
    spry_result_clear(f->ctx, &old);
    spry_result_clear(f->ctx, &new);
    spry_solver_free(fresh);
}

/* Every option, by what stands right after it was set and after the next solve. */
static void options_drop_what_they_touch(void **state)
{
    (void)state;
    static const struct {
        const char *name, *value;
        bool keeps_operator, keeps_precon, keeps_plan;
    } cases[] = {
        {"tol", "1e-10", true, true, true},
        {"max-iter", "77", true, true, true},
        {"stall", "50", true, true, true},
        {"divergence", "1e9", true, true, true},
        {"keep", "last", true, true, true},
        {"atol", "1e-3", true, true, true},
        {"report-start", "yes", true, true, true},
        {"fuse", "no", true, true, false},
        {"restart", "5", true, true, false},
        {"method", "bicgstab", true, true, false},
        {"method", "gs", true, false, false},
        {"method", "lsqr", true, false, false},
        {"precon", "jacobi", true, false, false},
        {"precon", "ic:shift=1", true, false, false},
        {"format", "sell", false, false, false},
        {"device", "cpu", false, false, false},
        {"reorder", "rcm", false, false, false},
        {"precon", "amg:rank-rows=9", true, false, false},
        {"reformat", "no", true, true, true},
    };
    fixture f;
    char value[SPRY_OPTION_TEXT_SIZE];
    for (int k = 0; k < spry_options_of("solver").count; k++) {
        const char *name = spry_options_of("solver").options[k].name;
        /* a text as by spry_solver_set_method_text(); see null_space.c */
        bool known = strcmp(name, "method_file") == 0 || strcmp(name, "nullspace") == 0 ||
                     strcmp(name, "memory") == 0; /* attempts.c */
        for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
            known = known || spry_options_find(
                                 (spry_option_list){spry_options_of("solver").options + k, 1, 0, 0},
                                 cases[i].name);
        if (!known)
            fail_msg("option %s: a line here should say what it drops", name);
    }
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        open_fixture(&f, "poisson2d", "method=cg precon=auto");
        solve(&f);
        const spry_operator *A = f.solver->setup.own_operator, *M = f.solver->setup.own_precon;
        const plan *p = f.solver->setup.plan;
        assert_true(A && p);
        /* the value it has */
        assert_ok(f.ctx, spry_solver_get_text(f.solver, cases[k].name, value, sizeof value));
        assert_ok(f.ctx, spry_solver_set_text(f.solver, cases[k].name, value));
        assert_int_equal(f.solver->setup.made, STAGE_ALL);
        assert_ptr_equal(f.solver->setup.plan, p);
        assert_ok(f.ctx, spry_solver_set_text(f.solver, cases[k].name, cases[k].value));
        assert_true((f.solver->setup.own_operator == A) == cases[k].keeps_operator);
        assert_true((f.solver->setup.plan == p) == cases[k].keeps_plan);
        if (cases[k].keeps_precon)
            assert_ptr_equal(f.solver->setup.own_precon, M);
        solves_as_a_new_one(&f);
        if (cases[k].keeps_operator)
            assert_ptr_equal(f.solver->setup.own_operator, A);
        if (cases[k].keeps_precon)
            assert_ptr_equal(f.solver->setup.own_precon, M);
        if (cases[k].keeps_plan)
            assert_ptr_equal(f.solver->setup.plan, p);
        close_fixture(&f);
    }
}

typedef struct counted {
    const spry_operator *inner;
    int products;
} counted;

static spry_status apply_counted(void *data, spry_transpose op, const void *x, void *y)
{
    counted *c = data;
    c->products++;
    return c->inner->class->multiply(c->inner, op, (spry_scalar){1, 0}, x, (spry_scalar){0, 0}, y);
}

static bool seen(void *data, int64_t count, double residual, const spry_vector *x)
{
    (void)count, (void)residual, (void)x;
    ++*(int *)data;
    return true;
}

/* The method for A is looked for once: a new preconditioner, tolerance or monitor costs no products
 * with A but the solve's own. */
static void calls_drop_what_they_touch(void **state)
{
    (void)state;
    fixture f;
    spry_operator *op = NULL, *counting = NULL, *M = NULL;
    counted c = {0};
    int looks = 0;
    open_fixture(&f, "poisson2d", "method=auto precon=none");
    assert_ok(f.ctx, spry_operator_from_matrix(f.A, NULL, NULL, &op));
    c.inner = op;
    assert_ok(f.ctx, spry_operator_from_function(f.ctx, SPRY_TYPE_D, f.x->n, f.x->n, true,
                                                 apply_counted, &c, &counting));
    assert_ok(f.ctx, spry_solver_set_operator(f.solver, counting));
    solve(&f);
    const int first = c.products;
    c.products = 0;
    solve(&f);
    const int second = c.products;
    assert_true(second < first); /* two to see whether A is symmetric */
    c.products = 0;
    assert_ok(f.ctx, spry_solver_set_real(f.solver, "stall", 999));
    spry_solver_set_monitor(f.solver, seen, &looks);
    solve(&f);
    assert_int_equal(c.products, second);
    assert_true(looks > 0);
    spry_solver_set_monitor(f.solver, NULL, NULL);
    assert_ok(f.ctx, spry_precon_new(f.A, NULL, "jacobi", &M));
    assert_ok(f.ctx, spry_solver_set_precon(f.solver, M));
    c.products = 0;
    solve(&f); /* the diagonal is constant: the same course */
    assert_int_equal(c.products, second);
    assert_ok(f.ctx, spry_solver_set_matrix(f.solver, f.A));
    solve(&f);
    const spry_operator *own = f.solver->setup.own_operator;
    assert_ok(f.ctx, spry_solver_set_precon(f.solver, NULL));
    spry_entry info = SPRY_ENTRY_INIT;
    assert_true(spry_list_find(SPRY_LIST_METHODS, "cr", &info));
    assert_ok(f.ctx, spry_solver_set_method_text(f.solver, info.text));
    assert_ptr_equal(f.solver->setup.own_operator, own);
    solve(&f);
    assert_ptr_equal(f.solver->setup.own_operator, own);
    spry_operator_free(M);
    spry_operator_free(counting);
    spry_operator_free(op);
    close_fixture(&f);
}

/* A set-up that fails leaves what stands, and none of its warnings. */
static void what_stands_survives_a_failure(void **state)
{
    (void)state;
    fixture f;
    spry_result result = SPRY_RESULT_INIT;
    open_fixture(&f, "poisson2d", "precon=ic");
    solve(&f);
    const spry_operator *A = f.solver->setup.own_operator;
    assert_ok(f.ctx, spry_solver_set(f.solver, "method-file=/nosuch.krylov"));
    assert_int_equal(spry_solve(f.solver, f.b, f.x, NULL), SPRY_STATUS_IO);
    assert_ptr_equal(f.solver->setup.own_operator, A);
    static const char plain[] = "method plain \"steepest descent\"\n"
                                "start:\n    r = b - A x\n    residual |r|\n"
                                "loop:\n    q = A r\n    alpha = (r, r) / (r, q)\n"
                                "    x = x + alpha r\n    r = r - alpha q\n    residual |r|\n";
    assert_ok(f.ctx, spry_solver_set(f.solver, "method-file=\"\" max-iter=5"));
    assert_ok(f.ctx, spry_solver_set_method_text(f.solver, plain));
    assert_ok(f.ctx, spry_solve(f.solver, f.b, f.x, &result));
    assert_string_equal(result.warnings, "method plain uses no preconditioner");
    assert_null(f.solver->setup.own_precon);
    spry_result_clear(f.ctx, &result);
    assert_ok(f.ctx, spry_solver_set_method_text(f.solver, NULL));
    assert_ok(f.ctx, spry_solver_set(f.solver, "method=cg max-iter=1000"));
    assert_ok(f.ctx, spry_solve(f.solver, f.b, f.x, &result));
    assert_null(result.warnings);
    assert_string_equal(result.precon, "ic");
    assert_ptr_equal(f.solver->setup.own_operator, A);
    spry_result_clear(f.ctx, &result);
    close_fixture(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_go_as_they_are),
        cmocka_unit_test(mismatches_say_what_is_taken),
        cmocka_unit_test(names_are_checked_when_they_are_set),
        cmocka_unit_test(the_methods_own_options_are_read),
        cmocka_unit_test(options_drop_what_they_touch),
        cmocka_unit_test(calls_drop_what_they_touch),
        cmocka_unit_test(what_stands_survives_a_failure),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
