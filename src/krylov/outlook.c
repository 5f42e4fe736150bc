/*
 * What a solve will do and take, before it is done. Deciding is the solver's own work
 * (solver_foretell()); here are its forecasts: memory from what is in use and what is still to be
 * allocated, seconds from a product that is timed and the iterations that are expected.
 */
#include "krylov/solver.h"

#include "device/formats.h"

#include <math.h>
#include <spry/plan.h>

static const base_sized plan_sized = BASE_SIZED(spry_plan, refused);

void spry_plan_clear(spry_context *ctx, spry_plan *p)
{
    if (p && base_size(p, &plan_sized) > 0) {
        base_free(ctx, p->next);
        base_free(ctx, p->refused);
        base_blank(ctx, p, &plan_sized);
    }
}

/* --- iterations ----------------------------------------------------------------------------------
 */

static bool is_exact(const solver_outlook *o)
{
    return precon_is(o->precon, "direct");
}

static int64_t clip(double iterations, const spry_solver *solver)
{
    const double most = (double)solver->options.max_iter;
    return (int64_t)ceil(fmax(fmin(iterations, most), 1));
}

/* A trial tells how fast residuals fall at first, which later ones do more slowly, or, where
 * eigenvalues lie in groups, faster; rules of thumb are for grids, and others are far from them. */
static void guess_iterations(const spry_solver *solver, const solver_outlook *o, spry_plan *p)
{
    const double trial = 2, rule = 5, steps = 4;
    const double told = solver_attempt(solver)->iterations;
    const double tol = log(fmin(fmax(solver->options.tol, 1e-16), 0.1)) / log(1e-8);
    if (is_exact(o)) {
        p->iterations = p->least_iterations = 1;
        p->most_iterations = clip(steps, solver);
        return;
    }
    const bool tried = told > 0 && precon_is(o->precon, "jacobi");
    const double products = solver_guess(o->method, o->precon, p->rows, INT64_MAX);
    const double each = o->products > 1.5 ? 2 : 1; /* as solver_guess() counts them */
    const double guess = tol * (tried ? told : products) / each;
    const double times = tried ? trial : rule;
    p->iterations = clip(guess, solver);
    p->least_iterations = clip(guess / times, solver);
    p->most_iterations = clip(guess * times, solver);
}

/* --- bytes ---------------------------------------------------------------------------------------
 */

static int64_t bytes_of(const spry_matrix *A)
{
    const int64_t size = (int64_t)spry_type_size(A->a.type);
    return A->a.nnz * (size + (int64_t)sizeof(int32_t)) +
           (A->a.rows + 1) * (int64_t)sizeof(int64_t);
}

/* Storage beside A's own arrays. */
static int64_t format_bytes(const spry_solver *solver)
{
    spry_storage storage = SPRY_STORAGE_INIT;
    const spry_operator *A = solver->own_operator;
    const int64_t ordered = solver->order.matrix ? bytes_of(solver->order.matrix) : 0;
    if (!A || !A->class->storage || device_of(A) ||
        spry_operator_storage(A, &storage) != SPRY_STATUS_OK || strcmp(storage.format, "csr") == 0)
        return ordered;
    return ordered + storage.bytes;
}

/* In use at most: what is in use now, and what is to come. */
static void count_bytes(const spry_solver *solver, const solver_outlook *o, int systems,
                        spry_plan *p)
{
    enum { SAVED = 2, BROUGHT = 2 }; /* vectors of an iteration, and copies of the caller's */
    const spry_context *ctx = solver->ctx;
    const int64_t vector = p->rows * (int64_t)spry_type_size(p->type);
    const int beside = systems < SHARED_READING ? systems : SHARED_READING;
    const int64_t moved = solver->device || solver->order.matrix ? BROUGHT : 0;
    const int64_t method = beside * (o->kept + SAVED + moved) * vector;
    const int64_t now = ctx->memory_now, there = solver_device_bytes(solver);
    p->matrix_bytes = solver->given_matrix ? bytes_of(solver->given_matrix) : 0;
    p->format_bytes = format_bytes(solver);
    p->vector_bytes = method + 2 * systems * vector;
    p->precon_bytes = o->begun_bytes + o->forecast.bytes;
    p->work_bytes = o->forecast.work;
    p->memory_limit = ctx->options.memory_limit;
    p->memory_known = o->forecast.known || !o->uses_precon;
    const int64_t here = solver->device ? 0 : method;
    const int64_t making = now + o->forecast.bytes + o->forecast.work;
    const int64_t solving = now + o->forecast.bytes + here;
    p->memory_bytes = making > solving ? making : solving;
    if (ctx->memory_most > p->memory_bytes)
        p->memory_bytes = ctx->memory_most;
    p->device_bytes = solver->device ? there + method + p->precon_bytes : 0;
}

static spry_status check_room(const spry_solver *solver, const spry_plan *p)
{
    spry_context *ctx = solver->ctx;
    const int64_t limit = p->memory_limit;
    if (limit <= 0 || p->memory_bytes <= limit)
        return SPRY_STATUS_OK;
    return SPRY_FAIL(ctx, SPRY_STATUS_NO_MEMORY,
                     "%s with %.64s is forecast to need %.3g GB, and %.3g GB are allowed: allow "
                     "more, memory_limit=%" PRId64 ", or take precon=jacobi, which needs least",
                     p->method, p->precon, (double)p->memory_bytes * 1e-9, (double)limit * 1e-9,
                     p->memory_bytes + (p->memory_bytes >> 2));
}

/* --- seconds -------------------------------------------------------------------------------------
 */

/* Of an iteration, by the pace of a product with A. */
static spry_status find_step(const spry_solver *solver, const solver_outlook *o, const spry_plan *p,
                             double *step)
{
    enum { TIMED = 3 };
    const spry_operator *A = solver_operator(solver);
    const double vectors = o->vectors * (double)p->rows * (double)spry_type_size(p->type);
    double product = 0;
    const spry_status status = solver_time_product(solver->device, A, TIMED, &product);
    const double bytes = (double)(A->bytes > 0 ? A->bytes : 1);
    *step = product * (o->products + ((double)o->forecast.reads + vectors) / bytes);
    return status;
}

static spry_status count_seconds(const spry_solver *solver, const solver_outlook *o, int systems,
                                 double spent, spry_plan *p)
{
    const double solves = 3, rate = 4e9; /* with exact factors, which are read */
    const double doubtful = 2;           /* times a forecast of what is made */
    double step = 0;
    spry_status status = SPRY_STATUS_OK;
    p->setup_seconds = p->solve_seconds = p->least_seconds = p->most_seconds = NAN;
    if (!p->memory_known)
        return SPRY_STATUS_OK;
    const double made = o->forecast.seconds;
    p->setup_seconds = spent + made;
    if (is_exact(o)) {
        p->solve_seconds = systems * solves * (double)o->forecast.reads / rate;
        p->least_seconds = spent + made / doubtful;
        p->most_seconds = spent + doubtful * (made + p->solve_seconds);
        return SPRY_STATUS_OK;
    }
    SPRY_GO(solver->ctx, find_step(solver, o, p, &step));
    p->solve_seconds = systems * step * (double)p->iterations;
    p->least_seconds =
        spent + made / doubtful + systems * step * (double)p->least_iterations / doubtful;
    p->most_seconds = spent + doubtful * (made + systems * step * (double)p->most_iterations);
done:
    return status;
}

/* --- the plan ------------------------------------------------------------------------------------
 */

static void describe(const spry_solver *solver, const solver_outlook *o, spry_plan *p)
{
    const spry_operator *A = solver_operator(solver);
    p->type = A->type;
    p->rows = A->rows;
    p->cols = A->cols;
    p->nnz = solver->given_matrix ? solver->given_matrix->a.nnz : 0;
    snprintf(p->method, sizeof p->method, "%s", o->method);
    snprintf(p->precon, sizeof p->precon, "%s", o->precon);
    reformat_name(A, p->format, sizeof p->format);
    snprintf(p->order, sizeof p->order, "%s", solver->order.matrix ? "rcm" : "as given");
    snprintf(p->device, sizeof p->device, "%s",
             solver->device ? spry_device_name(solver->device) : "cpu");
}

/* What is tried after the one at hand. */
static spry_status list_next(const spry_solver *solver, spry_plan *p)
{
    const attempts *all = &solver->attempts;
    base_text t = {.ctx = solver->ctx};
    if (!solver_has_next(solver))
        return SPRY_STATUS_OK;
    for (int k = all->at + 1; k < all->count; k++) {
        const attempt *a = &all->list[k];
        base_text_put(&t, "%s%s%s%s", k > all->at + 1 ? "\n" : "", a->method,
                      a->method[0] && !precon_is(a->method, "direct") ? " with " : "",
                      precon_is(a->method, "direct") ? "" : a->precon);
        if (a->seconds > 0)
            base_text_put(&t, ", about %.2g s", a->seconds);
    }
    const spry_status status = base_text_take(&t, &p->next);
    base_free(solver->ctx, t.text);
    return status;
}

static spry_status foretell(spry_solver *solver, int systems, spry_plan *p)
{
    spry_context *ctx = solver->ctx;
    solver_outlook o;
    const double begin = base_seconds();
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(ctx, solver_foretell(solver, &o));
    const double spent = base_seconds() - begin;
    describe(solver, &o, p);
    guess_iterations(solver, &o, p);
    count_bytes(solver, &o, systems, p);
    SPRY_GO(ctx, check_room(solver, p));
    SPRY_GO(ctx, count_seconds(solver, &o, systems, spent, p));
    SPRY_GO(ctx, list_next(solver, p));
    if (solver->attempts.tried[0]) {
        p->refused = base_copy_text(ctx, solver->attempts.tried);
        if (!p->refused)
            return SPRY_STATUS_NO_MEMORY;
    }
    p->plan_seconds = base_seconds() - begin;
done:
    return status;
}

spry_status spry_solver_plan(spry_solver *solver, int systems, spry_plan *p)
{
    SPRY_NEED(CTX_OF(solver), solver, p);
    spry_context *ctx = solver->ctx;
    spry_plan found = SPRY_PLAN_INIT;
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(ctx, base_blank(ctx, p, &plan_sized));
    if (systems < 1)
        return SPRY_FAIL(ctx, SPRY_STATUS_BAD_USAGE, "%d right-hand sides", systems);
    if (solver_ranked(solver))
        return SPRY_FAIL(ctx, SPRY_STATUS_UNSUPPORTED,
                         "a plan is of a solve in one process, not of ranks");
    SPRY_GO(ctx, solver_begin(solver));
    solver_expect(solver, systems);
    solver_begin_attempts(solver);
    status = foretell(solver, systems, &found);
    if (status == SPRY_STATUS_OK)
        base_give(p, &found, &plan_sized);
    else
        spry_plan_clear(ctx, &found);
    solver_end(solver, status);
done:
    return status;
}
