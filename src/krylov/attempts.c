/*
 * What a solver tries where method or preconditioner are its own choice: a list, best first, by
 * forecasts. An attempt that cannot be made, or that does not arrive, makes room for the next,
 * which goes on from the best x; the one that arrived comes first in later solves.
 */
#include "krylov/solver.h"

#include "base/machine.h"
#include "program/explain.h"

#include <float.h>
#include <math.h>
#include <stdarg.h>

static void add(attempts *all, const char *method, const precon_spec *precon, double seconds,
                double iterations)
{
    attempt *a = &all->list[all->count];
    if (all->count == ATTEMPTS)
        return;
    all->count++;
    *a = (attempt){.seconds = seconds, .iterations = iterations};
    snprintf(a->method, sizeof a->method, "%s", method);
    a->precon = *precon;
}

static bool chooses_precon(const spry_solver *solver)
{
    return !solver->setup.spec.kind && !solver->asked.precon;
}

/* Exact factors need no more than refinement, those of indefinite matrices a method that takes both
 * as they are. */
static const char *method_for(const precon_spec *precon)
{
    const precon_cost *c = &precon->kind->cost;
    return c->exact ? precon->text : c->method ? c->method : "";
}

/* On ranks: what suits the block of the rank that has most rows is tried by all of them. */
static spry_status choose_together(spry_solver *solver, precon_choice *choice)
{
    spry_context *ctx = solver->ctx;
    const distributed *s = solver->setup.matrix->distributed;
    int most = 0;
    for (int r = 1; r < team_ranks(ctx); r++)
        if (s->row_starts[r + 1] - s->row_starts[r] > s->row_starts[most + 1] - s->row_starts[most])
            most = r;
    spry_status status = SPRY_STATUS_OK;
    if (team_rank(ctx) == most)
        status = precon_choose(ctx, s->own, solver->run.systems, false, choice);
    SPRY_GO(ctx, team_agree(ctx, status));
    SPRY_GO(ctx, team_share(ctx, most, choice, sizeof *choice));
done:
    return status;
}

/*
 * Whether sparse factors are made before anything else is looked at: a small system takes less than
 * the question what suits it. What takes longer than that shows in its analysis.
 */
#define STRAIGHT "direct:most=0.003"
static bool goes_straight(const spry_solver *solver)
{
    enum { ROWS = 2000, EACH = 10 };
    const spry_matrix *A = solver->setup.matrix;
    return A && A->a.rows <= ROWS && A->a.nnz <= EACH * A->a.rows &&
           solver_chooses_method(solver) && !solver_ranked(solver) && !solver->setup.device &&
           !solver_has_null_space(solver);
}

static spry_status go_straight(spry_solver *solver)
{
    precon_spec spec;
    const spry_status status = precon_spec_read(solver->ctx, STRAIGHT, &spec);
    if (status == SPRY_STATUS_OK)
        add(&solver->setup.attempts, method_for(&spec), &spec, NAN, 0);
    solver->setup.attempts.open = true;
    return status;
}

/* Preconditioners that suit A, each with the method that suits both. */
static spry_status list_precons(spry_solver *solver)
{
    attempts *all = &solver->setup.attempts;
    precon_choice choice;
    bool finite = false;
    spry_status status = SPRY_STATUS_OK;
    const spry_matrix *A = solver->setup.matrix;
    if (A && matrix_is_square(A))
        SPRY_GO(solver->ctx, matrix_find_out(solver->ctx, A, SPRY_FACT_FINITE, &finite));
    if (finite && all->count == 0 && !all->looked && goes_straight(solver))
        return go_straight(solver);
    all->open = false;
    const char *own = A || !solver->asked.operator? NULL : operator_suits(solver->asked.operator);
    if (own) { /* with nothing to fall back on but no preconditioner */
        precon_spec spec;
        SPRY_GO(solver->ctx, precon_spec_read(solver->ctx, own, &spec));
        add(all, "", &spec, NAN, 0);
    }
    if (!finite) {
        if (!own)
            base_log(solver->ctx, SPRY_LOG_INFO,
                     "precon none: there is no square matrix with finite numbers to make one from");
        const precon_spec none = precon_spec_none("none");
        add(all, "", &none, NAN, 0);
        return SPRY_STATUS_OK;
    }
    if (solver_ranked(solver))
        SPRY_GO(solver->ctx, choose_together(solver, &choice));
    else
        SPRY_GO(solver->ctx, precon_choose(solver->ctx, A, solver->run.systems,
                                           solver->setup.device != NULL, &choice));
    /* A method that was asked for is to do the work: exact factors come in when all else fails. */
    const bool chooses = solver_chooses_method(solver);
    /* Factors of blocks are not exact, as the forecasts take them for. */
    const bool singular = solver_has_null_space(solver) || solver_ranked(solver);
    for (int k = 0; k < choice.count; k++) {
        precon_spec spec;
        SPRY_GO(solver->ctx, precon_spec_read(solver->ctx, choice.list[k].spec, &spec));
        const bool exact = spec.kind->cost.exact;
        if (exact && (singular || (!chooses && *precon_spec_options(&spec))))
            continue;
        if (all->count > 0 && precon_spec_same(&spec, &all->list[0].precon)) /* went straight */
            continue;
        add(all, chooses && !solver_ranked(solver) ? method_for(&spec) : "", &spec,
            choice.list[k].seconds, choice.list[k].iterations);
    }
done:
    return status;
}

/* Whether the method that was asked for brings its own preconditioner, or takes none, so that there
 * is nothing to choose. */
static spry_status is_settled(spry_solver *solver, bool *yes)
{
    *yes = false;
    if (!chooses_precon(solver) || solver_chooses_method(solver))
        return SPRY_STATUS_OK;
    const spry_status status = solver_parse_asked(solver);
    *yes = status == SPRY_STATUS_OK && program_settles_precon(solver->setup.parsed);
    return status;
}

spry_status solver_list_attempts(spry_solver *solver)
{
    attempts *all = &solver->setup.attempts;
    const precon_spec none = precon_spec_none("none");
    bool settled = false;
    spry_status status = SPRY_STATUS_OK;
    if (all->count > 0)
        return SPRY_STATUS_OK;
    status = is_settled(solver, &settled);
    if (status != SPRY_STATUS_OK)
        return status;
    if (settled)
        add(all, "", &none, NAN, 0);
    else if (chooses_precon(solver))
        status = list_precons(solver);
    else
        add(all, "", &solver->setup.spec, NAN, 0);
    /* Where A or M is not what the first method is for, one that asks for nothing. */
    const spry_matrix *A = solver->setup.matrix;
    const spry_operator *op = solver->asked.operator;
    const bool square = A ? matrix_is_square(A) : op->square;
    if (status == SPRY_STATUS_OK && solver_chooses_method(solver) && square &&
        (!chooses_precon(solver) || !A))
        add(all, "fgmres", &all->list[all->count - 1].precon, NAN, 0);
    if (status == SPRY_STATUS_OK && solver->asked.options.memory)
        status = solver_list_rest(solver);
    if (status == SPRY_STATUS_OK && !solver_ranked(solver)) /* ranks' folders may differ */
        solver_recall(solver);
    return status;
}

spry_status solver_list_rest(spry_solver *solver)
{
    return solver->setup.attempts.open ? list_precons(solver) : SPRY_STATUS_OK;
}

void solver_expect(spry_solver *solver, int systems)
{
    const bool stands = precon_choice_stands(systems, solver->run.systems);
    if (!stands && solver->setup.attempts.count > 0 && chooses_precon(solver)) {
        solver_drop(solver, STAGE_PRECON);
        solver_forget_attempts(solver);
    }
    if (solver->setup.chosen && solver_are_many(systems) != solver_are_many(solver->run.systems)) {
        solver_drop(solver, STAGE_PLAN); /* what suits one right-hand side may not suit several */
        solver->setup.chosen = NULL;
    }
    solver->run.systems = systems;
}

bool solver_has_next(const spry_solver *solver)
{
    const attempts *all = &solver->setup.attempts;
    return (all->open || all->at + 1 < all->count) && !all->alone;
}

static bool is_direct(const attempt *a)
{
    return a->precon.kind && a->precon.kind->cost.exact;
}

bool solver_has_factors(const spry_solver *solver)
{
    const attempts *all = &solver->setup.attempts;
    bool found = false;
    for (int k = all->at + 1; k < all->count && solver_has_next(solver); k++)
        found = found || is_direct(&all->list[k]);
    return found && !is_direct(&all->list[all->at]);
}

/* Factors that were made are not made again with a higher limit. */
static void drop_factors(attempts *all)
{
    int count = all->at + 1;
    if (!is_direct(&all->list[all->at]))
        return;
    for (int k = count; k < all->count; k++)
        if (!is_direct(&all->list[k]))
            all->list[count++] = all->list[k];
    all->count = count;
}

/* A line on what was tried. */
SPRY_PRINTF(2, 3) static void note(spry_solver *solver, const char *format, ...)
{
    char *text = solver->setup.attempts.tried;
    const size_t used = strlen(text), room = sizeof solver->setup.attempts.tried - used;
    va_list arguments;
    va_start(arguments, format);
    const size_t more = used > 0;
    if (more + 1 < room) {
        if (more)
            snprintf(text + used, room, "\n");
        vsnprintf(text + used + more, room - more, format, arguments);
        base_log(solver->ctx, SPRY_LOG_INFO, "tried %s", text + used + more);
    }
    va_end(arguments);
}

/* The same of one that could not be made. */
static void note_unmade(spry_solver *solver)
{
    note(solver, "%s: %s; %.2g s to find out", solver_attempt(solver)->precon.text,
         spry_message(solver->ctx), base_seconds() - solver->setup.attempts.began);
}

/* A preconditioner that the next one shares stays. */
static void step_on(spry_solver *solver)
{
    const attempt *a = solver_attempt(solver);
    const bool same = precon_spec_same(&a[0].precon, &a[1].precon);
    solver_drop(solver, same ? STAGE_PLAN : STAGE_PRECON);
    if (!same)
        solver->setup.attempts.setup_seconds = 0;
    solver->setup.chosen = NULL;
    solver->setup.attempts.list[solver->setup.attempts.at++].failed = true;
}

bool solver_skip_attempt(spry_solver *solver, spry_status status)
{
    attempts *all = &solver->setup.attempts;
    const attempt *a = solver_attempt(solver);
    const bool longer = all->open && status == SPRY_STATUS_UNSUPPORTED;
    if (longer) { /* the way was not straight: that is no attempt */
        all->count = 0;
        all->looked = true;
        solver_drop(solver, STAGE_PRECON);
        solver->setup.chosen = NULL;
    }
    if (!precon_may_change(status) || solver_list_rest(solver) != SPRY_STATUS_OK)
        return false;
    if (longer)
        return true;
    if (!solver_has_next(solver) || precon_spec_same(&a[0].precon, &a[1].precon))
        return false;
    note_unmade(solver);
    step_on(solver);
    return true;
}

void solver_note_attempt(spry_solver *solver, const iteration *it)
{
    const attempts *all = &solver->setup.attempts;
    const int64_t count = it->count - it->pace.began_at;
    note(solver,
         "%s with %s: %s after %" PRId64 " iteration%s, residual %.2g; %.2g s to set up, %.2g s "
         "to run",
         all->method, all->precon, spry_reason_name(it->reason), count, count == 1 ? "" : "s",
         it->truth, all->setup_seconds, all->run_seconds);
}

bool solver_next_attempt(spry_solver *solver, const iteration *it)
{
    drop_factors(&solver->setup.attempts);
    if (!solver_has_next(solver))
        return false;
    solver_note_attempt(solver, it);
    if (it->reason == SPRY_REASON_BREAKDOWN && solver->setup.plan->program->needs[NEED_DEFINITE])
        solver->setup.attempts.indefinite = true;
    step_on(solver);
    return true;
}

void solver_begin_attempts(spry_solver *solver)
{
    attempts *all = &solver->setup.attempts;
    all->tried[0] = '\0';
    all->setup_seconds = all->run_seconds = 0;
    if (all->at == 0)
        return;
    solver_drop(solver, STAGE_PRECON);
    solver->setup.chosen = NULL;
    all->at = 0;
}

/* What a product with A moves in CSR: its format may be the clock's choice. */
static double bytes_of(const spry_solver *solver, const spry_operator *A)
{
    const spry_matrix *matrix = solver->setup.matrix;
    return (double)(matrix ? matrix_product_bytes(&matrix->a) : A->bytes);
}

/* Of an iteration, its products with A and M, as forecasts count them: by bytes at the rate that
 * these are made with, on the host and on devices. No clock has a part in it. */
static double step_seconds(const spry_solver *solver, const plan_cost *cost)
{
    const spry_operator *A = solver_operator(solver), *M = solver_precon(solver);
    return (cost->products * bytes_of(solver, A) + (M ? cost->precons * (double)M->bytes : 0)) /
           MACHINE_CORE_RATE;
}

/* One product each where there is no memory to count them. */
static plan_cost count_products(spry_solver *solver)
{
    plan_cost *cost = &solver->setup.cost;
    const base_kept before = base_try(solver->ctx);
    if (cost->products > 0 ||
        (plan_count(solver->setup.plan, cost) == SPRY_STATUS_OK && cost->products > 0))
        return *cost;
    base_forgive(solver->ctx, &before);
    return (plan_cost){.products = 1, .precons = 1};
}

int64_t solver_patience(spry_solver *solver)
{
    const double most = 1e9, overdue = 3, wide = 2.4, usual = 1e-8;
    const attempt *a = solver_attempt(solver);
    if (!solver_has_next(solver))
        return 0;
    const plan_cost cost = count_products(solver);
    const double least = cost.products > 1 ? 10 : 20;
    /* Half of its patience an attempt has without being asked: twice what it took before, and some
     * more than is estimated to the tolerance. */
    const double depth = log(fmax(solver->asked.options.tol, DBL_EPSILON)) / log(usual);
    const double known = a->known > 0 ? 2 * (2 * (double)a->known + least)
                                      : fmax(wide * a->iterations * depth / cost.products, least);
    const bool known_next = solver->setup.attempts.at + 1 < solver->setup.attempts.count;
    const double seconds =
        fmin(!known_next || isnan(a[1].seconds) ? INFINITY : a[1].seconds, /* no NAN then */
             isnan(a[0].seconds) ? INFINITY : overdue * a[0].seconds);
    const double step = step_seconds(solver, &cost);
    return isinf(seconds) || !(step > 0) ? 0 : (int64_t)fmin(fmax(seconds / step, known), most);
}

spry_status solver_ends_attempts(spry_solver *solver, spry_status status)
{
    if (!precon_may_change(status))
        return status;
    note_unmade(solver);
    solver_drop(solver, STAGE_PRECON);
    return SPRY_STATUS_OK;
}

void solver_note_used(spry_solver *solver)
{
    attempts *all = &solver->setup.attempts;
    snprintf(all->method, sizeof all->method, "%s", solver->setup.plan->program->method);
    snprintf(all->precon, sizeof all->precon, "%s", solver->setup.precon_name);
}
