/*
 * Methods as text, planned and run on a system of five unknowns, fused and not: both must come to
 * the same end, with the same x to the bit, in bounded time and memory. Block methods have two
 * right-hand sides, which see each other.
 */
#include "fuzz.h"

#include "program/explain.h"
#include "program/sweep.h"

#include <spry/precon.h>

enum { N = 5, MOST_REPORTS = 20, MOST_TURNS = 100, SIDES = 2 };

/* What a run came to. */
typedef struct ending {
    spry_status status;
    int reports, breakdowns;
    double values[MOST_REPORTS];
    char x[N * sizeof(spry_scalar)];
    runner *r;
    rhs *l;
} ending;

static spry_status report(void *data, report_kind kind, bool loop, double value, bool *go_on)
{
    ending *e = data;
    (void)kind, (void)loop;
    e->values[e->reports++] = value;
    *go_on = e->reports < MOST_REPORTS;
    return e->reports % 3 == 0 ? runner_settle(e->r, e->l) : SPRY_STATUS_OK;
}

static void breakdown(void *data, const char *text, bool finite)
{
    ending *e = data;
    (void)finite;
    fuzz_require(strlen(text) < 160);
    e->breakdowns++;
}

/* Tridiagonal, unsymmetric; complex types get imaginary parts off the diagonal. */
static spry_matrix *matrix(spry_context *ctx, spry_type type)
{
    int64_t offsets[N + 1] = {0};
    int32_t columns[3 * N];
    char values[3 * N * sizeof(spry_scalar)];
    spry_arrays a = {.type = type,
                     .format = SPRY_FORMAT_CSR,
                     .rows = N,
                     .cols = N,
                     .offsets = offsets,
                     .col_index = columns,
                     .values = values};
    spry_matrix *A = NULL;
    for (int i = 0; i < N; i++) {
        for (int j = i > 0 ? i - 1 : 0; j <= i + 1 && j < N; j++) {
            columns[a.nnz] = j;
            value_set(type, values, a.nnz++,
                      i == j ? (spry_scalar){4 + i, 0} : (spry_scalar){-1, 0.5 * (j - i)});
        }
        offsets[i + 1] = a.nnz;
    }
    fuzz_require(spry_matrix_new(ctx, &a, SPRY_OWN_COPY, &A) == SPRY_STATUS_OK);
    return A;
}

static spry_status run_plan(plan *p, const runner_operators *operators, ending *ends)
{
    spry_context *ctx = p->ctx;
    const int rhs_count = p->program->block ? SIDES : 1;
    char b[SIDES][N * sizeof(spry_scalar)];
    runner *r = NULL;
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(ctx, runner_new(p, operators, rhs_count, &r));
    r->most_turns = MOST_TURNS;
    for (int k = 0; k < rhs_count; k++) {
        ending *e = &ends[k];
        for (int i = 0; i < N; i++) {
            value_set(operators->A->type, b[k], i, (spry_scalar){1 + i + k * (i % 2), 0.25 * i});
            value_set(operators->A->type, e->x, i, (spry_scalar){0.5, -0.125 * i});
        }
        e->r = r;
        e->l = runner_rhs(r, k);
        e->l->b = b[k];
        e->l->x = e->x;
        e->l->data = e;
        e->l->report = report;
        e->l->breakdown = breakdown;
    }
    status = runner_run(r);
done:
    runner_free(r);
    return status;
}

/* What people are shown must hold for any plan. */
static void explain(spry_context *ctx, const plan *p)
{
    base_text text = {.ctx = ctx};
    plan_cost cost;
    char *shown = NULL;
    plan_explain(p, &text);
    if (base_text_take(&text, &shown) == SPRY_STATUS_OK)
        spry_free(ctx, shown);
    if (plan_count(p, &cost) == SPRY_STATUS_OK)
        fuzz_require(!(cost.sweeps < 0) && !(cost.vectors[0] < 0));
    fuzz_require(plan_whole_vectors(p) >= 0);
}

static void run_text(spry_context *ctx, const uint8_t *data, size_t size, bool fuse, int powers,
                     const runner_operators *operators, ending ends[SIDES])
{
    program *g = NULL;
    plan *p = NULL;
    plan_setup setup = {.fuse = fuse, .square = true, .powers = powers};
    spry_status status = SPRY_STATUS_OK;
    memset(ends, 0, SIDES * sizeof *ends);
    SPRY_GO(ctx, program_parse(ctx, "fuzz", (const char *)data, size, &g));
    SPRY_GO(ctx, runner_use(operators->A, g->uses_transpose, &setup.use[OPERATOR_A]));
    SPRY_GO(ctx, runner_use(operators->M, g->uses_transpose, &setup.use[OPERATOR_M]));
    program *handed = g;
    g = NULL;
    SPRY_GO(ctx, plan_make(handed, &setup, &p));
    if (fuse)
        explain(ctx, p);
    status = run_plan(p, operators, ends);
done:
    fuzz_require(status == SPRY_STATUS_OK || spry_message(ctx)[0] != '\0');
    ends[0].status = ends[1].status = status;
    program_free(g);
    plan_free(p);
}

static void compare(const ending *a, const ending *b)
{
    if (a->status == SPRY_STATUS_NO_MEMORY || b->status == SPRY_STATUS_NO_MEMORY)
        return;
    fuzz_require(a->status == b->status);
    if (a->status != SPRY_STATUS_OK) /* a fault ends a sweep before what it would have reported */
        return;
    fuzz_require(a->reports == b->reports && a->breakdowns == b->breakdowns);
    fuzz_require(memcmp(a->values, b->values, sizeof a->values) == 0);
    fuzz_require(memcmp(a->x, b->x, sizeof a->x) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    int64_t memory = 0;
    spry_context *ctx = fuzz_begin(&memory);
    spry_operator *A = NULL, *M = NULL;
    ending ends[3][SIDES];
    spry_matrix *B = matrix(ctx, size % 2 == 0 ? SPRY_TYPE_D : SPRY_TYPE_Z);
    fuzz_require(spry_operator_from_matrix(B, NULL, NULL, &A) == SPRY_STATUS_OK);
    if (size % 3 != 0)
        fuzz_require((size % 3 == 1
                          ? spry_precon_new(B, NULL, "jacobi", &M)
                          : spry_operator_from_matrix(B, NULL, NULL, &M)) == SPRY_STATUS_OK);
    const runner_operators operators = {.A = A, .M = M};
    for (int fuse = 0; fuse < 2; fuse++)
        run_text(ctx, data, size, fuse == 1, 0, &operators, ends[fuse]);
    /* Several steps of a basis at a time, which may be other numbers where those are not finite. */
    run_text(ctx, data, size, true, MOST_POWERS, &operators, ends[2]);
    for (int k = 0; k < SIDES; k++)
        compare(&ends[0][k], &ends[1][k]);
    spry_operator_free(A);
    spry_operator_free(M);
    spry_matrix_free(B);
    fuzz_end(ctx, memory);
    return 0;
}
