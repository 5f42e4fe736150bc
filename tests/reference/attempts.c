/* What a solver tries where it chooses: each member of the chain made to fail, and what is
 * reported, kept and remembered of it. */
#include "krylov/solver.h"
#include "support/generated.h"
#include "support/spec.h"

#include <math.h>
#include <spry/plan.h>
#include <stdlib.h>
#include <time.h>

/* The second difference in two dimensions minus a shift: the diagonal stays positive, and some
 * eigenvalues do not (2 - 2 cos(k pi / 13) + 2 - 2 cos(l pi / 13) lie between 0.11 and 7.9). */
static spry_matrix *shifted_of(spry_context *ctx, spry_type type, int size, double shift)
{
    spry_matrix *A = NULL;
    char text[64];
    snprintf(text, sizeof text, "size=%d type=%s", size, spry_type_name(type));
    assert_ok(ctx, spry_generate(ctx, "poisson2d", text, &A));
    for (int64_t i = 0; i < A->a.rows; i++) {
        const int64_t k = matrix_find(&A->a, i, i);
        support_put(A, k, (spry_scalar){value_get(type, A->a.values, k).re - shift, 0});
    }
    assert_ok(ctx, spry_matrix_set_fact(A, SPRY_FACT_DEFINITE, SPRY_TRUTH_UNKNOWN));
    return A;
}

static spry_matrix *shifted(spry_context *ctx, spry_type type, double shift)
{
    return shifted_of(ctx, type, 12, shift);
}

typedef struct fixture {
    spry_context *ctx;
    spry_matrix *A;
    spry_vector *b, *x;
    spry_solver *solver;
    spry_result result;
} fixture;

static void open_solver(fixture *f, const char *options)
{
    f->result = (spry_result)SPRY_RESULT_INIT;
    assert_ok(f->ctx, spry_vector_ones(f->ctx, f->A, &f->b));
    assert_ok(f->ctx, spry_vector_zeros(f->ctx, f->A, &f->x));
    assert_ok(f->ctx, spry_solver_new(f->ctx, &f->solver));
    assert_ok(f->ctx, spry_solver_set(f->solver, options));
    assert_ok(f->ctx, spry_solver_set_matrix(f->solver, f->A));
}

static void close_solver(fixture *f)
{
    spry_result_clear(f->ctx, &f->result);
    spry_solver_free(f->solver);
    spry_vector_free(f->b);
    spry_vector_free(f->x);
}

static void solve(fixture *f)
{
    spry_result_clear(f->ctx, &f->result);
    assert_ok(f->ctx, spry_vector_fill(f->x, (spry_scalar){0, 0}));
    assert_ok(f->ctx, spry_solve(f->solver, f->b, f->x, &f->result));
}

static void has(const char *text, const char *part)
{
    if (!text || !strstr(text, part))
        fail_msg("\"%s\" has no \"%s\"", text ? text : "NULL", part);
}

/* A method that breaks down makes room for one that asks for nothing, and what arrived comes first
 * in the next solve. */
static void a_breakdown_is_not_the_end(void **state)
{
    for (int t = 0; t < 4; t++) {
        fixture f = {.ctx = *state};
        const bool single = type_is_single(support_types[t]);
        f.A = shifted(f.ctx, support_types[t], 0.3);
        open_solver(&f, single ? "precon=none tol=1e-3" : "precon=none restart=200");
        solve(&f);
        assert_true(f.result.converged);
        assert_string_equal(f.result.method, "fgmres");
        has(f.result.tried, "cg with none: breakdown after");
        assert_int_equal(f.result.history_size, f.result.iterations + 1);
        const int64_t first = f.result.iterations;
        solve(&f);
        assert_true(f.result.converged);
        assert_null(f.result.tried);
        assert_true(f.result.iterations <= first);
        close_solver(&f);
        spry_matrix_free(f.A);
    }
}

/* The choice looks at rows, however the matrix stores its entries. */
static void any_storage_is_chosen_for(void **state)
{
    static const spry_format formats[] = {SPRY_FORMAT_COO, SPRY_FORMAT_CSC, SPRY_FORMAT_CSR};
    spry_matrix *A = shifted(*state, SPRY_TYPE_D, -1);
    for (int k = 0; k < 3; k++) {
        fixture f = {.ctx = *state};
        assert_ok(f.ctx, spry_matrix_convert(A, formats[k], &f.A));
        open_solver(&f, "");
        solve(&f);
        assert_true(f.result.converged);
        assert_string_equal(f.result.precon, "direct");
        close_solver(&f);
        spry_matrix_free(f.A);
    }
    spry_matrix_free(A);
}

/* With everything said there is one attempt, and its failure is the end. */
static void what_is_asked_for_is_not_replaced(void **state)
{
    fixture f = {.ctx = *state};
    f.A = shifted(f.ctx, SPRY_TYPE_D, 0.3);
    open_solver(&f, "method=cg precon=none");
    solve(&f);
    assert_int_equal(f.result.reason, SPRY_REASON_BREAKDOWN);
    assert_null(f.result.tried);
    close_solver(&f);
    spry_matrix_free(f.A);
}

/* Makes what the list has before `last` fail: preconditioners that cannot be made, methods that do
 * not arrive. */
static void fail_before(fixture *f, const char *last)
{
    attempts *all = &f->solver->setup.attempts;
    assert_ok(f->ctx, solver_set_up(f->solver, NULL));
    assert_ok(f->ctx, solver_list_rest(f->solver));
    int k = 0;
    while (k < all->count && strcmp(all->list[k].precon.text, last) != 0)
        k++;
    assert_true(k < all->count);
    solver_drop(f->solver, STAGE_PRECON);
    f->solver->setup.chosen = NULL;
    for (int i = 0; i < k; i++) {
        all->list[i].method[0] = '\0';
        all->list[i].precon =
            support_spec(f->ctx, i % 2 ? "direct:most=1e-30,kind=sparse"
                                       : "schwarz:sub=[direct:most=1e-30,kind=sparse]");
    }
}

/* The chain with each of its members made to fail but one, which does it. */
static void each_member_takes_over(void **state)
{
    static const char *const lasts[] = {"ildl:definite=no", "direct"};
    for (int l = 0; l < 2; l++)
        for (int t = 0; t < 4; t++) {
            fixture f = {.ctx = *state};
            const spry_type type = support_types[t];
            f.A = shifted(f.ctx, type, 0.3);
            open_solver(&f, type_is_single(type) ? "tol=1e-4" : "tol=1e-9");
            fail_before(&f, lasts[l]);
            solve(&f);
            assert_true(f.result.converged);
            assert_string_equal(f.result.precon, l == 0 ? "ildl" : "direct");
            has(f.result.tried, "forecast");
            close_solver(&f);
            spry_matrix_free(f.A);
        }
}

/* None does: the best x of all is handed back, with the reason of the last. */
static void when_nothing_helps_the_best_is_kept(void **state)
{
    fixture f = {.ctx = *state};
    f.A = shifted(f.ctx, SPRY_TYPE_D, 0.3);
    open_solver(&f, "max-iter=60 precon=none restart=2");
    solve(&f);
    assert_false(f.result.converged);
    assert_true(f.result.true_residual <= 1);
    has(f.result.tried, "cg with none");
    solve(&f); /* the next one begins again, and knows what the first has found out of A */
    assert_string_equal(f.result.method, "minres");
    close_solver(&f);
    spry_matrix_free(f.A);
}

/* What solved a matrix where something else did not is known to a later solver, with its iterations
 * and what had failed, unless an option says not to ask. A plan says the same. */
static void what_helped_is_remembered(void **state)
{
    char folder[] = "/tmp/spry-attempts-XXXXXX", command[64];
    int64_t iterations = 0;
    assert_non_null(mkdtemp(folder));
    assert_int_equal(setenv("SPRY_CACHE", folder, 1), 0);
    for (int again = 0; again < 4; again++) {
        fixture f = {.ctx = *state};
        spry_plan found = SPRY_PLAN_INIT;
        f.A = shifted(f.ctx, SPRY_TYPE_D, 0.3);
        open_solver(&f, again == 3 ? "memory=no" : "memory=yes");
        attempts *all = &f.solver->setup.attempts;
        if (again == 0) {
            fail_before(&f, "ildl:definite=no");
            /* A name that the list of later solves has, too. */
            all->list[0].precon = support_spec(f.ctx, "jacobi");
            snprintf(all->list[0].method, sizeof all->list->method, "richardson:omega=0");
        } else if (again == 1) {
            assert_ok(f.ctx, spry_solver_plan(f.solver, 1, &found));
            assert_string_equal(found.method, "fgmres");
            assert_int_equal(strncmp(found.precon, "ildl", 4), 0);
            assert_int_equal(found.iterations, iterations);
            spry_plan_clear(f.ctx, &found);
        }
        solve(&f);
        assert_true(f.result.converged);
        assert_string_equal(f.result.precon, again == 3 ? "direct" : "ildl");
        assert_true((f.result.tried != NULL) == (again == 0));
        if (again == 0)
            iterations = f.result.iterations;
        if (again == 1 || again == 2) {
            assert_string_equal(f.result.method, "fgmres");
            assert_int_equal(f.result.iterations, iterations);
            assert_true(all->list[0].known == iterations && !all->list[0].failed);
            assert_string_equal(all->list[all->count - 1].precon.text, "jacobi");
            assert_true(all->list[all->count - 1].failed);
        }
        close_solver(&f);
        spry_matrix_free(f.A);
    }
    assert_int_equal(unsetenv("SPRY_CACHE"), 0);
    snprintf(command, sizeof command, "rm -rf '%s'", folder);
    assert_int_equal(system(command), 0);
}

/* Patience: an attempt whose residual hardly falls gives up once it has cost half of what the next
 * one is forecast to, and not before; one that falls goes on, and so does one that is known to have
 * solved A: for twice the iterations that it took then. */
static void slow_ones_give_up(void **state)
{
    for (int known = 0; known < 3; known++) {
        const bool slow = known == 1;
        fixture f = {.ctx = *state};
        assert_ok(f.ctx, spry_generate(f.ctx, "poisson2d", "size=60", &f.A));
        open_solver(&f, "tol=1e-10");
        assert_ok(f.ctx, solver_set_up(f.solver, NULL));
        attempts *all = &f.solver->setup.attempts;
        solver_drop(f.solver, STAGE_PRECON);
        f.solver->setup.chosen = NULL;
        /* 60 x 60 points take conjugate gradients about 150 iterations. */
        const double product = 1e-5;
        all->list[0].method[0] = all->list[1].method[0] = '\0';
        all->list[0].precon = support_spec(f.ctx, "none");
        all->list[0].seconds = NAN;
        all->list[0].iterations = 0;
        all->list[0].known = known == 2 ? 90 : 0;
        all->list[1].seconds = known > 0 ? product : 1e3;
        all->list[1].precon = support_spec(f.ctx, "direct");
        solve(&f);
        assert_true(f.result.converged);
        assert_string_equal(f.result.precon, slow ? "direct" : "none");
        assert_true((f.result.tried != NULL) == slow);
        close_solver(&f);
        spry_matrix_free(f.A);
    }
}

/* A watch that takes its time. */
typedef struct slow_watch {
    const spry_solver *solver;
    int64_t calls[2]; /* with factors, and without */
} slow_watch;

static bool take_time(void *data, int64_t count, double residual)
{
    slow_watch *w = data;
    const struct timespec time = {.tv_nsec = 2000000};
    (void)count;
    (void)residual;
    w->calls[strcmp(spry_solver_method(w->solver), "fgmres") == 0]++;
    nanosleep(&time, NULL);
    return true;
}

static double clock_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/*
 * Iterations, residuals and seconds are those of the attempt that x is from; what was spent on
 * others is what choosing took. A watch sleeps in each iteration, which is a lower bound for both;
 * together they are no more than the whole call.
 */
static void figures_are_of_the_method_that_is_named(void **state)
{
    const double slept = 2e-3;
    long long before = 0;
    fixture f = {.ctx = *state};
    f.A = shifted_of(f.ctx, SPRY_TYPE_D, 40, 0.3);
    open_solver(&f, "precon=none restart=400");
    slow_watch w = {.solver = f.solver};
    spry_solver_set_watch(f.solver, take_time, &w);
    /* One that is let go on for some iterations before the other. */
    assert_ok(f.ctx, solver_set_up(f.solver, NULL));
    attempts *all = &f.solver->setup.attempts;
    solver_drop(f.solver, STAGE_PRECON);
    f.solver->setup.chosen = NULL;
    snprintf(all->list[0].method, sizeof all->list->method, "minres");
    all->list[0].seconds = all->list[1].seconds = 1e-9;
    const double begin = clock_now();
    solve(&f);
    const double whole = clock_now() - begin;
    const spry_result *r = &f.result;
    assert_true(r->converged);
    assert_string_equal(r->method, "fgmres");
    assert_int_equal(sscanf(r->tried, "minres with none: stagnated after %lld", &before), 1);
    has(r->tried, " s to set up, ");
    assert_true(before > 0 && r->iterations > 0);
    assert_int_equal(w.calls[0], before);
    assert_int_equal(w.calls[1], r->iterations);
    assert_int_equal(r->history_size, r->iterations + 1);
    assert_true(r->history[0] < 1 && r->history[0] >= r->history[r->iterations]);
    assert_true(r->history[r->iterations] == r->residual && r->initial_residual == 1);
    assert_true(r->choose_seconds >= (double)w.calls[0] * slept);
    assert_true(r->solve_seconds >= (double)w.calls[1] * slept);
    assert_true(r->setup_seconds >= 0);
    assert_true(r->choose_seconds + r->setup_seconds + r->solve_seconds <= whole);
    close_solver(&f);
    spry_matrix_free(f.A);
}

/* Where nothing arrives the result is of the attempt that found the best x, and all are listed. */
static void the_best_is_named(void **state)
{
    long long count = 0;
    fixture f = {.ctx = *state};
    f.A = shifted_of(f.ctx, SPRY_TYPE_D, 40, 0.3);
    open_solver(&f, "precon=none stall=200");
    assert_ok(f.ctx, solver_set_up(f.solver, NULL));
    attempts *all = &f.solver->setup.attempts;
    solver_drop(f.solver, STAGE_PRECON);
    f.solver->setup.chosen = NULL;
    snprintf(all->list[0].method, sizeof all->list->method, "minres");
    snprintf(all->list[1].method, sizeof all->list->method, "richardson:omega=0");
    all->list[0].seconds = all->list[1].seconds = 1e-9;
    solve(&f);
    const spry_result *r = &f.result;
    assert_int_equal(r->reason, SPRY_REASON_STAGNATED);
    assert_string_equal(r->detail, "the residual falls too slowly");
    assert_string_equal(r->method, "minres");
    assert_int_equal(sscanf(r->tried, "minres with none: stagnated after %lld", &count), 1);
    has(r->tried, "\nrichardson with none: stagnated after ");
    assert_int_equal(r->iterations, count);
    assert_int_equal(r->history_size, count + 1);
    assert_true(r->history[count] == r->residual && r->true_residual < 1);
    close_solver(&f);
    spry_matrix_free(f.A);
}

/* The smallest residual of a method that wanders is that of its x: but for a tenth, and what
 * rounding makes of systems of 30 rows. */
static void a_wandering_method_hands_its_best_back(void **state)
{
    int wandered = 0;
    for (int seed = 1; seed <= 15; seed++) {
        fixture f = {.ctx = *state};
        char text[80];
        snprintf(text, sizeof text, "size=30 per-row=4 dominance=0.8 seed=%d", seed);
        assert_ok(f.ctx, spry_generate(f.ctx, "random", text, &f.A));
        open_solver(&f, "method=cgs precon=none max-iter=6");
        solve(&f);
        double least = INFINITY;
        for (int64_t k = 0; k < f.result.history_size; k++)
            least = fmin(least, f.result.history[k]);
        assert_true(f.result.true_residual <= least / 0.9 * 1.0001);
        wandered += f.result.residual > 2 * least;
        close_solver(&f);
        spry_matrix_free(f.A);
    }
    assert_true(wandered > 0);
}

static bool lists(const fixture *f, const char *precon)
{
    const attempts *all = &f->solver->setup.attempts;
    bool found = false;
    for (int k = 0; k < all->count; k++)
        found = found || strcmp(precon_spec_name(&all->list[k].precon), precon) == 0;
    return found;
}

/* A few products show that A is not definite, as long as it is not nearly so, and nothing is tried
 * that needs a definite one. Of 40 x 40 points the eigenvalues minus 1 lie between -0.99 and 7. */
static void products_show_what_is_indefinite(void **state)
{
    for (int t = 0; t < 4; t++)
        for (int definite = 0; definite < 2; definite++) {
            fixture f = {.ctx = *state};
            const bool single = type_is_single(support_types[t]);
            f.A = shifted_of(f.ctx, support_types[t], 40, definite ? 0 : 1);
            open_solver(&f, single ? "tol=1e-4" : "");
            assert_ok(f.ctx, solver_list_attempts(f.solver));
            assert_ok(f.ctx, solver_list_rest(f.solver));
            assert_int_equal(spry_matrix_fact(f.A, SPRY_FACT_DEFINITE),
                             definite ? SPRY_TRUTH_UNKNOWN : SPRY_TRUTH_NO);
            assert_int_equal(lists(&f, "ic"), definite);
            solve(&f);
            assert_true(f.result.converged);
            close_solver(&f);
            spry_matrix_free(f.A);
        }
}

/* Rows whose diagonal is 1.2 times the rest: the residual falls by that much at least in each
 * step, as a trial finds out, and no factors are made. */
static void little_is_tried_where_little_is_needed(void **state)
{
    for (int t = 0; t < 4; t++) {
        fixture f = {.ctx = *state};
        char text[80];
        snprintf(text, sizeof text, "size=3000 per-row=8 dominance=1.2 type=%s",
                 spry_type_name(support_types[t]));
        assert_ok(f.ctx, spry_generate(f.ctx, "random", text, &f.A));
        open_solver(&f, type_is_single(support_types[t]) ? "tol=1e-4" : "");
        solve(&f);
        assert_true(f.result.converged);
        assert_string_equal(f.result.precon, "jacobi");
        assert_null(f.result.tried);
        close_solver(&f);
        spry_matrix_free(f.A);
    }
}

/* A strong flow in three dimensions: incomplete factors come before the analysis of exact ones,
 * which alone takes longer. In two exact ones come first, and no format is looked for. Large grids
 * have multigrid, that between points where the flow is more than slight. */
static void a_flow_has_factors_by_dimension(void **state)
{
    static const struct {
        const char *grid, *precon;
    } flows[] = {{"size=70 peclet=1e3", "direct"},
                 {"size=18 nz=18 peclet=1e3", "ilu"},
                 {"size=350 peclet=1e3", "amg-classical"},
                 {"size=350 peclet=50", "amg"}};
    for (int k = 0; k < 4; k++) {
        fixture f = {.ctx = *state};
        assert_ok(f.ctx, spry_generate(f.ctx, "convection-diffusion", flows[k].grid, &f.A));
        open_solver(&f, "");
        solve(&f);
        assert_true(f.result.converged);
        assert_string_equal(f.result.precon, flows[k].precon);
        if (k == 0)
            assert_string_equal(f.result.format, "csr");
        assert_null(f.result.tried);
        close_solver(&f);
        spry_matrix_free(f.A);
    }
}

/* Where nothing foretells iterations, incomplete factors are begun before exact ones that take far
 * longer; not for a system of some hundred rows. Edge elements have multigrid, complex ones too.
 * Elasticity has it, and factors where it is nearly incompressible. */
static void a_start_is_cheap(void **state)
{
    static const struct {
        const char *kind, *options, *precon;
        spry_type type;
    } systems[] = {{"anisotropic", "size=100 angle=30", "ic:tries=0", SPRY_TYPE_D},
                   {"anisotropic", "size=20 angle=30", "direct", SPRY_TYPE_D},
                   {"maxwell", "size=18 sigma=100", "edges", SPRY_TYPE_Z},
                   {"elasticity", "size=16 nu=0.3", "amg", SPRY_TYPE_D},
                   {"elasticity", "size=16 nu=0.4999", "direct:kind", SPRY_TYPE_D}};
    for (size_t k = 0; k < sizeof systems / sizeof *systems; k++) {
        fixture f = {.ctx = *state};
        spry_plan ahead = SPRY_PLAN_INIT;
        f.A = generated_as(f.ctx, systems[k].type, systems[k].kind, "%s", systems[k].options);
        open_solver(&f, "");
        assert_ok(f.ctx, spry_solver_plan(f.solver, 1, &ahead));
        assert_memory_equal(ahead.precon, systems[k].precon, strlen(systems[k].precon));
        spry_plan_clear(f.ctx, &ahead);
        close_solver(&f);
        spry_matrix_free(f.A);
    }
}

/* All but triangular: incomplete factors are all but exact. */
static void one_triangle_is_enough(void **state)
{
    for (int t = 0; t < 4; t++) {
        fixture f = {.ctx = *state};
        const bool single = type_is_single(support_types[t]);
        f.A = shifted_of(f.ctx, support_types[t], 50, 0);
        for (int64_t i = 0; i < f.A->a.rows; i++)
            for (int64_t k = f.A->a.offsets[i]; k < f.A->a.offsets[i + 1]; k++)
                if (f.A->a.col_index[k] > i)
                    support_put(f.A, k, (spry_scalar){1e-4, 0});
        assert_ok(f.ctx, spry_matrix_set_fact(f.A, SPRY_FACT_SYMMETRIC, SPRY_TRUTH_UNKNOWN));
        assert_ok(f.ctx, spry_matrix_set_fact(f.A, SPRY_FACT_HERMITIAN, SPRY_TRUTH_UNKNOWN));
        open_solver(&f, single ? "tol=1e-4" : "");
        solve(&f);
        assert_true(f.result.converged);
        assert_string_equal(f.result.precon, "ilu");
        assert_null(f.result.tried);
        close_solver(&f);
        spry_matrix_free(f.A);
    }
}

/*
 * The least eigenvalue of 12 x 12 points, 4 - 4 cos(pi / 13), but for 1.4e-9: |x| is about 7e8 |b|,
 * and each rounding of A x makes up to 8 * 7e8 * 1e-16, above the tolerance. An iteration ends
 * there, and factors come after it, whose x is refined; what rounding allows is reported.
 */
static void factors_come_after_the_rounding_level(void **state)
{
    fixture f = {.ctx = *state};
    const double least = 4 - 4 * cos(acos(-1) / 13);
    f.A = shifted(f.ctx, SPRY_TYPE_D, least - 1.4e-9);
    open_solver(&f, "tol=1e-8");
    assert_ok(f.ctx, solver_set_up(f.solver, NULL));
    assert_ok(f.ctx, solver_list_rest(f.solver));
    attempts *all = &f.solver->setup.attempts;
    solver_drop(f.solver, STAGE_PRECON);
    f.solver->setup.chosen = NULL;
    snprintf(all->list[0].method, sizeof all->list[0].method, "gmres:restart=144");
    all->list[0].precon = support_spec(f.ctx, "jacobi");
    all->list[0].seconds = all->list[1].seconds = NAN;
    snprintf(all->list[1].method, sizeof all->list[1].method, "direct");
    all->list[1].precon = support_spec(f.ctx, "direct");
    solve(&f);
    assert_int_equal(f.result.reason, SPRY_REASON_STAGNATED);
    has(f.result.detail, "1e-08 was not reached");
    assert_string_equal(f.result.precon, "direct");
    has(f.result.tried, "gmres with jacobi: stagnated");
    close_solver(&f);
    spry_matrix_free(f.A);
}

#define UNIT(test) cmocka_unit_test_setup_teardown(test, support_setup, support_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        UNIT(a_breakdown_is_not_the_end),
        UNIT(products_show_what_is_indefinite),
        UNIT(little_is_tried_where_little_is_needed),
        UNIT(a_flow_has_factors_by_dimension),
        UNIT(a_start_is_cheap),
        UNIT(one_triangle_is_enough),
        UNIT(factors_come_after_the_rounding_level),
        UNIT(any_storage_is_chosen_for),
        UNIT(what_is_asked_for_is_not_replaced),
        UNIT(each_member_takes_over),
        UNIT(when_nothing_helps_the_best_is_kept),
        UNIT(what_helped_is_remembered),
        UNIT(slow_ones_give_up),
        UNIT(figures_are_of_the_method_that_is_named),
        UNIT(the_best_is_named),
        UNIT(a_wandering_method_hands_its_best_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
