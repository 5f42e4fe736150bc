/* Chains of attempts, and systems to walk them for. */
#include "support/chain.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const double chain_first = 0.1;
static const char stay[] = "richardson:omega=0";

/* --- systems -------------------------------------------------------------------------------------
 */

static spry_matrix *generate(spry_context *ctx, spry_type type, const char *name, const char *text)
{
    spry_matrix *A = NULL;
    char options[96];
    snprintf(options, sizeof options, "%s type=%s", text, spry_type_name(type));
    assert_ok(ctx, spry_generate(ctx, name, options, &A));
    return A;
}

/* a_ij i^(i - j): exact, as hermitian as before, and of the same moduli. */
static void turn(spry_matrix *A)
{
    for (int64_t i = 0; i < A->a.rows && spry_type_is_complex(A->a.type); i++)
        for (int64_t k = A->a.offsets[i]; k < A->a.offsets[i + 1]; k++) {
            const spry_scalar v = value_get(A->a.type, A->a.values, k);
            const spry_scalar turned[] = {
                {v.re, v.im}, {-v.im, v.re}, {-v.re, -v.im}, {v.im, -v.re}};
            support_put(A, k, turned[(i - A->a.col_index[k]) & 3]);
        }
}

/* The second difference minus a shift between its eigenvalues. */
static void shift(spry_matrix *A, double by)
{
    for (int64_t i = 0; i < A->a.rows; i++) {
        const int64_t k = matrix_find(&A->a, i, i);
        support_put(A, k, (spry_scalar){value_get(A->a.type, A->a.values, k).re - by, 0});
    }
    assert_ok(A->ctx, spry_matrix_set_fact(A, SPRY_FACT_DEFINITE, SPRY_TRUTH_UNKNOWN));
}

/* [H B; B^T 0]: H has 4 on its diagonal and -1 next to it, row i of B^T is 1 and -1 / 2 at 2 i and
 * 2 i + 1. B^T H^-1 B has a condition below 10. Entries are enough for kkt to be looked for. */
static spry_matrix *kkt_of(spry_context *ctx, spry_type type)
{
    enum { FREE = 1200, ALL = FREE + FREE / 2, MOST = 4 * FREE + FREE };
    int64_t *offsets = calloc(ALL + 1, sizeof *offsets), to = 0;
    int32_t *columns = calloc(MOST, sizeof *columns);
    void *values = calloc(MOST, spry_type_size(type));
    for (int32_t i = 0; i < ALL; i++) {
        const bool bound = i >= FREE;
        const int32_t first = 2 * (i - FREE);
        const int32_t at[] = {bound ? first : i - 1, bound ? first + 1 : i, i + 1, FREE + i / 2};
        const double by[] = {bound ? 1 : -1, bound ? -0.5 : 4, -1, i % 2 ? -0.5 : 1};
        for (int k = 0; k < (bound ? 2 : 4); k++)
            if (at[k] >= 0 && (k == 3 || at[k] < FREE)) {
                columns[to] = at[k];
                value_set(type, values, to++, (spry_scalar){by[k], 0});
            }
        offsets[i + 1] = to;
    }
    return support_from_csr(ctx, type, ALL, ALL, offsets, columns, values);
}

/* A dominant one whose rows are in another order: nothing on its diagonal. */
static spry_matrix *no_diagonal(spry_context *ctx, spry_type type)
{
    enum { N = 100 };
    static double a[N * N];
    memset(a, 0, sizeof a);
    for (int i = 0; i < N; i++) {
        const int row = (i + 37) % N;
        a[row * N + i] = 5;
        for (int k = 1; k <= 3; k++) {
            const int j = (i + k * k * 7) % N;
            if (j != row)
                a[row * N + j] = k % 2 ? 1 : -1;
        }
    }
    return support_from_rows(ctx, type, N, N, a);
}

void chain_problem(spry_context *ctx, chain_kind kind, spry_type type, problem *p)
{
    spry_matrix *A = NULL;
    if (kind == CHAIN_KKT)
        A = kkt_of(ctx, type);
    else if (kind == CHAIN_NO_DIAGONAL)
        A = no_diagonal(ctx, type);
    else if (kind == CHAIN_DOMINANT)
        A = generate(ctx, type, "random", "size=700 per-row=8 dominance=1.2");
    else if (kind == CHAIN_CONVECTION)
        A = generate(ctx, type, "convection-diffusion", "size=16 peclet=20");
    else
        A = generate(ctx, type, "poisson2d", kind == CHAIN_GRID ? "size=100" : "size=14");
    if (kind == CHAIN_INDEFINITE) /* between 0.087 and 7.91 of 14 x 14 points */
        shift(A, 0.3);
    if (kind != CHAIN_DOMINANT)
        turn(A);
    problem_from_matrix(ctx, A, p);
}

/* --- chains --------------------------------------------------------------------------------------
 */

static void arm(chain *c)
{
    base_fail_allocation(c->p->ctx, c->ways[c->at] == CHAIN_NOT_MADE, true);
}

/* Each line on what was tried: the next member is at hand. */
static void hear(void *data, spry_log_level level, const char *text)
{
    chain *c = data;
    (void)level;
    if (strncmp(text, "tried ", 6) != 0)
        return;
    c->at += c->at < ATTEMPTS;
    arm(c);
}

static bool watch(void *data, int64_t count, double residual)
{
    chain *c = data;
    (void)count;
    if (isnan(c->begins[c->at]))
        c->begins[c->at] = residual;
    return true;
}

void chain_open(chain *c, problem *p, const char *options)
{
    *c = (chain){.p = p, .result = SPRY_RESULT_INIT};
    c->tol = type_is_single(p->type) ? 1e-4 : 1e-9;
    assert_ok(p->ctx, spry_solver_new(p->ctx, &c->solver));
    assert_ok(p->ctx, spry_solver_set(c->solver, options));
    assert_ok(p->ctx, spry_solver_set_real(c->solver, "tol", c->tol));
    assert_ok(p->ctx, spry_solver_set_real(c->solver, "stall", 60));
    assert_ok(p->ctx, spry_solver_set_matrix(c->solver, p->A));
    assert_ok(p->ctx, solver_set_up(c->solver, NULL)); /* the operator stands, and the list */
    assert_ok(p->ctx, solver_list_rest(c->solver));
    c->all = c->solver->setup.attempts;
    p->ctx->options.log = SPRY_LOG_INFO + 1; /* 0 is quiet */
    spry_context_set_log(p->ctx, hear, c);
    spry_solver_set_watch(c->solver, watch, c);
}

void chain_close(chain *c)
{
    spry_context_set_log(c->p->ctx, NULL, NULL);
    c->p->ctx->options.log = 0;
    spry_result_clear(c->p->ctx, &c->result);
    spry_solver_free(c->solver);
}

/* The list as it was found, but for who has another method; without forecasts, which would have
 * attempts end by the clock's share. */
void chain_begin(chain *c, int failing, chain_way way)
{
    attempts *all = &c->solver->setup.attempts;
    chain_way in_turn = CHAIN_STAYS;
    solver_drop(c->solver, STAGE_PRECON);
    c->solver->setup.chosen = NULL;
    *all = c->all;
    all->at = 0;
    all->tried[0] = '\0';
    all->indefinite = false;
    for (int k = 0; k <= ATTEMPTS; k++) {
        c->begins[k] = NAN;
        c->ways[k] = CHAIN_RUNS;
    }
    for (int k = 0; k < all->count; k++) {
        all->list[k].seconds = NAN;
        if (k >= failing)
            continue;
        const bool direct = all->list[k].precon.kind == &precon_kind_direct;
        c->ways[k] = direct ? CHAIN_NOT_MADE : way != CHAIN_RUNS ? way : in_turn;
        if (!direct)
            in_turn = in_turn == CHAIN_STAYS ? CHAIN_NOT_MADE : CHAIN_STAYS;
        if (c->ways[k] == CHAIN_STAYS)
            snprintf(all->list[k].method, sizeof all->list[k].method, "%s", stay);
    }
    c->at = 0;
}

spry_status chain_run(chain *c)
{
    problem *p = c->p;
    void *x = spry_vector_data(p->x);
    spry_result_clear(p->ctx, &c->result);
    for (int64_t i = 0; i < spry_vector_size(p->x); i++) {
        const spry_scalar v = p->answer[i];
        value_set(p->type, x, i, (spry_scalar){(1 - chain_first) * v.re, (1 - chain_first) * v.im});
    }
    arm(c);
    const spry_status status = spry_solve(c->solver, p->b, p->x, &c->result);
    base_fail_allocation(p->ctx, 0, false);
    return status;
}

static spry_status solve(chain *c, int failing, chain_way way)
{
    chain_begin(c, failing, way);
    return chain_run(c);
}

/* The k-th line of text; false: there are not so many. */
static bool line_of(const char *text, int k, char line[256])
{
    for (; text && k > 0; k--) {
        text = strchr(text, '\n');
        text = text ? text + 1 : NULL;
    }
    if (!text || !*text)
        return false;
    snprintf(line, 256, "%.*s", (int)strcspn(text, "\n"), text);
    return true;
}

static void wrong(const chain *c, int failing, const char *what)
{
    char list[1024] = "";
    for (int k = 0; k < c->all.count; k++) {
        const size_t used = strlen(list);
        snprintf(list + used, sizeof list - used, " %s", c->all.list[k].precon.text);
    }
    fail_msg("type %s, list%s, %d failing: %s; %s with %s, %s, true residual %g, tried\n%s",
             spry_type_name(c->p->type), list, failing, what, c->result.method, c->result.precon,
             c->result.detail, c->result.true_residual,
             c->result.tried ? c->result.tried : "nothing");
}

/* Each of those that failed is reported by its name, with the reason. */
static void check_tried(const chain *c, int failing)
{
    char line[256], begin[300];
    for (int k = 0; k < failing; k++) {
        const char *precon = c->all.list[k].precon.text;
        const int kind = (int)strcspn(precon, ":");
        double residual = NAN;
        if (!line_of(c->result.tried, k, line))
            wrong(c, failing, "a line is missing");
        if (c->ways[k] == CHAIN_NOT_MADE)
            snprintf(begin, sizeof begin, "%s: ", precon);
        else
            snprintf(begin, sizeof begin, "richardson with %.*s: stagnated after ", kind, precon);
        if (strncmp(line, begin, strlen(begin)) != 0)
            wrong(c, failing, begin);
        if (c->ways[k] == CHAIN_NOT_MADE && !strstr(line, "memory"))
            wrong(c, failing, "no reason");
        const char *reported = strstr(line, ", residual ");
        if (c->ways[k] == CHAIN_STAYS &&
            (!reported || sscanf(reported, ", residual %lf", &residual) != 1 ||
             !(residual <= 1.05 * chain_first))) /* reported with two digits */
            wrong(c, failing, "the best x is lost");
    }
}

/* Those that stay begin where the best x is: where the first guess was, as nothing moves. */
static void check_begins(const chain *c, int failing)
{
    const double unit = type_is_single(c->p->type) ? 1e-3 : 1e-6;
    for (int k = 0; k < failing; k++)
        if (c->ways[k] == CHAIN_STAYS && !(fabs(c->begins[k] / chain_first - 1) < unit))
            wrong(c, failing, "it does not begin with the best x");
}

/* What is said of x is true of it, by sums in long double. */
static void check_truth(const chain *c, int failing)
{
    double rounding = 0;
    const double truth = problem_residual(c->p, &rounding);
    if (!(fabs(c->result.true_residual - truth) <= rounding))
        wrong(c, failing, "the true residual is not true");
    if (c->result.converged != (c->result.reason == SPRY_REASON_CONVERGED) ||
        (c->result.converged && !(truth <= c->tol + rounding)))
        wrong(c, failing, "it is not converged");
    if (!(truth <= chain_first * (1 + 1e-6) + rounding))
        wrong(c, failing, "x is worse than the first guess");
}

/* Members whose making and method do not ask for too much of the systems here: all but no
 * preconditioner, or a diagonal, where that does not do. */
static bool must_arrive(const chain *c, int k)
{
    const precon_kind *kind = c->all.list[k].precon.kind;
    const bool last = k == c->all.count - 1;
    return !last || (kind->make && kind != &precon_kind_jacobi);
}

static void check_survivor(const chain *c, int failing)
{
    check_truth(c, failing);
    check_tried(c, failing);
    check_begins(c, failing);
    if (!must_arrive(c, failing))
        return;
    char line[256];
    if (!c->result.converged)
        wrong(c, failing, "it does not arrive");
    if (strcmp(precon_spec_name(&c->all.list[failing].precon), c->result.precon) != 0 ||
        line_of(c->result.tried, failing, line))
        wrong(c, failing, "it is not the next one that takes over");
}

/* None is left: reported as it is, with the best x. */
static void check_end(chain *c, chain_way way)
{
    const int count = c->all.count;
    const spry_status status = solve(c, count, way);
    if (way == CHAIN_NOT_MADE) { /* not even vectors for a method: no solve */
        assert_status(c->p->ctx, SPRY_STATUS_NO_MEMORY, status);
        assert_non_null(strstr(spry_message(c->p->ctx), "memory"));
        return;
    }
    assert_ok(c->p->ctx, status);
    check_truth(c, count);
    if (c->result.converged || c->result.reason != SPRY_REASON_STAGNATED || !c->result.detail[0])
        wrong(c, count, "it is not reported that nothing arrived");
    check_tried(c, count);
    check_begins(c, count);
}

void chain_walk(problem *p, const char *options)
{
    static const chain_way ways[] = {CHAIN_NOT_MADE, CHAIN_STAYS, CHAIN_RUNS};
    chain c;
    chain_open(&c, p, options);
    for (int w = 0; w < 3; w++) {
        for (int failing = 0; failing < c.all.count; failing++) {
            assert_ok(p->ctx, solve(&c, failing, ways[w]));
            check_survivor(&c, failing);
        }
        check_end(&c, ways[w]);
        assert_ok(p->ctx, solve(&c, 0, CHAIN_RUNS)); /* and nothing stays of it */
        check_survivor(&c, 0);
    }
    chain_close(&c);
}
