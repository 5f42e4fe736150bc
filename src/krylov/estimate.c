/*
 * What a solve will do and take, before it is done. Deciding is the solver's own work
 * (solver_estimate_attempt()); this file forecasts: memory from what is in use and what is still to
 * be allocated, seconds from a product that is timed and the iterations that are expected.
 */
#include "base/bytes.h"
#include "base/machine.h"
#include "krylov/solver.h"

#include "formats/shared/device_formats.h"

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

/* On ranks factors are those of blocks. */
static bool is_exact(const spry_solver *solver, const solver_estimate *o)
{
    return o->precon.kind && o->precon.kind->cost.exact && !solver_ranked(solver);
}

static int64_t clip(double iterations, const spry_solver *solver)
{
    const double most = (double)solver->asked.options.max_iter;
    return (int64_t)ceil(fmax(fmin(iterations, most), 1));
}

/* A trial shows how fast residuals fall at first, which later ones do more slowly, or, where
 * eigenvalues lie in groups, faster; rules of thumb are for grids, and others are far from them. */
static void guess_iterations(const spry_solver *solver, const solver_estimate *o, spry_plan *p)
{
    const double trial = 2, rule = 5, steps = 4;
    const spry_matrix *A = solver->asked.matrix;
    const double found = solver_attempt(solver)->iterations;
    const double tol = log(fmin(fmax(solver->asked.options.tol, 1e-16), 0.1)) / log(1e-8);
    const double known = (double)solver_attempt(solver)->known;
    if (is_exact(solver, o)) {
        p->iterations = p->least_iterations = 1;
        p->most_iterations = clip(steps, solver);
        return;
    }
    if (known > 0) { /* with the same A and maybe another b */
        p->iterations = clip(known, solver);
        p->least_iterations = clip(known / trial, solver);
        p->most_iterations = clip(known * trial, solver);
        return;
    }
    if (A && p->nnz <= p->rows &&
        o->precon.kind == &precon_kind_jacobi) { /* a diagonal, most likely */
        p->iterations = p->least_iterations = p->most_iterations = 1;
        return;
    }
    const bool tried = found > 0 && o->precon.kind == &precon_kind_jacobi;
    const double guess = tol * (tried ? found / fmax(o->products, 1)
                                      : solver_guess(o->precon.kind, p->rows, INT64_MAX));
    const double times = tried ? trial : rule;
    p->iterations = clip(guess, solver);
    p->least_iterations = clip(guess / times, solver);
    p->most_iterations = clip(guess * times, solver);
}

/* --- bytes ---------------------------------------------------------------------------------------
 */

/* On ranks the own block, and the edge rows with it. */
static int64_t bytes_of(const spry_matrix *A)
{
    if (A->distributed)
        return bytes_of(A->distributed->own) + bytes_of(A->distributed->edge);
    return matrix_csr_bytes(A->a.type, A->a.rows, A->a.nnz);
}

/* Storage besides A's own arrays. */
static int64_t format_bytes(const spry_solver *solver)
{
    spry_storage storage = SPRY_STORAGE_INIT;
    const spry_operator *A = solver->setup.own_operator;
    const int64_t ordered = solver->setup.order.matrix ? bytes_of(solver->setup.order.matrix) : 0;
    if (!A || !A->class->stored.storage || device_of(A) ||
        spry_operator_storage(A, &storage) != SPRY_STATUS_OK || strcmp(storage.format, "csr") == 0)
        return ordered;
    return ordered + storage.bytes;
}

/* Whether the preconditioner will be on the device. */
static bool precon_on_device(const spry_solver *solver, const solver_estimate *o)
{
    const spry_device *d = solver->setup.device;
    const precon_kind *kind = o->precon.kind;
    return d && kind && kind->on_devices &&
           (!kind->place || strncmp(spry_device_name(d), kind->place, strlen(kind->place)) == 0);
}

/* Vectors: of an iteration and copies of the caller's, half of them as long as b and half as long
 * as x; and those that factors are scaled and measured with. */
enum { SAVED = 2, BROUGHT = 2, MEASURED = 7 };

/* Elements of x on this rank. */
static int64_t columns_of(const spry_operator *A)
{
    return A->square ? A->rows : A->cols;
}

/* Bytes of a right-hand side's vectors while it is solved, but for the caller's. */
static int64_t vector_bytes(const spry_solver *solver, const solver_estimate *o)
{
    const spry_operator *A = solver_operator(solver);
    const int each =
        (SAVED + (solver->setup.device || solver->setup.order.matrix ? BROUGHT : 0)) / 2;
    return ((o->kept[0] + each) * A->rows + (o->kept[1] + each) * columns_of(A)) *
           (int64_t)spry_type_size(A->type);
}

/* How many right-hand sides have theirs already, from a solve before. */
static int standing_vectors(const spry_solver *solver)
{
    int count = 0;
    while (solver->run.work.runner && count < SOLVED_TOGETHER && solver->run.work.rhs[count].saved)
        count++;
    return count;
}

/* What is on the device, and what is to come, which is returned: of `vectors` bytes `standing`
 * are on it already. What a set-up had on it for a while may have been the most. */
static int64_t count_device_bytes(const spry_solver *solver, const solver_estimate *o,
                                  int64_t vectors, int64_t standing, spry_plan *p)
{
    if (!solver->setup.device)
        return 0;
    /* What stays on the host takes nothing of it. */
    const int64_t to_come = precon_on_device(solver, o) ? o->forecast.bytes : 0;
    const int64_t most = solver_device_bytes(solver);
    const int64_t ahead = vectors - standing + to_come;
    const int64_t then = solver_bytes_now(solver).device + ahead;
    p->device_matrix_bytes = solver->setup.own_operator ? solver->setup.operator_bytes.device : 0;
    p->device_vector_bytes = vectors;
    p->device_precon_bytes = o->begun.device + to_come;
    const int64_t known = p->device_matrix_bytes + vectors + p->device_precon_bytes;
    p->device_bytes = most > then ? most : then;
    if (p->device_bytes < known)
        p->device_bytes = known;
    p->device_other_bytes = p->device_bytes - known;
    return ahead;
}

/* Peak bytes: current use plus forecast, or the earlier peak. Returns the peak from now on on the
 * host, and what is still to come on the device. */
static solver_bytes count_bytes(const spry_solver *solver, const solver_estimate *o, int systems,
                                spry_plan *p)
{
    /* Of a method's text and what runs it, and of a device's kernels, by seven small systems. */
    enum { TEXT = 96 << 10, SHORT_TEXT = 32 << 10, KERNELS = 192 << 10 };
    const spry_context *ctx = solver->ctx;
    const int64_t vector = solver_operator(solver)->rows * (int64_t)spry_type_size(p->type);
    const int64_t given =
        vector + columns_of(solver_operator(solver)) * (int64_t)spry_type_size(p->type);
    const int together = systems < o->together ? systems : o->together;
    const int64_t each = vector_bytes(solver, o), method = together * each;
    const int stand = standing_vectors(solver);
    const int64_t standing = (stand < together ? stand : together) * each;
    const int64_t now = ctx->memory_now;
    p->matrix_bytes = solver->asked.matrix ? bytes_of(solver->asked.matrix) : 0;
    p->format_bytes = format_bytes(solver);
    p->vector_bytes = method + systems * given;
    p->precon_bytes = o->begun.host + o->begun.device + o->forecast.bytes;
    p->work_bytes = o->forecast.work;
    p->memory_limit = ctx->options.memory_limit;
    p->memory_known = o->forecast.known || !o->uses_precon;
    const int64_t of_method = solver->setup.device ? 0 : method - standing;
    const int64_t measured = is_exact(solver, o) ? MEASURED * vector : 0;
    const int64_t work = o->forecast.work > measured ? o->forecast.work : measured;
    const int64_t whole = is_exact(solver, o) ? SHORT_TEXT : TEXT;
    const int64_t text = (o->made ? whole / 3 : whole) /* what runs it is still to come */
                         + (solver->setup.device ? KERNELS : 0);
    const int64_t making = o->made ? 0 : now + o->forecast.bytes + work + text / 2;
    const int64_t solving = now + o->forecast.bytes + of_method + text;
    const int64_t ahead = making > solving ? making : solving;
    p->memory_bytes = ctx->memory_most > ahead ? ctx->memory_most : ahead;
    return (solver_bytes){ahead, count_device_bytes(solver, o, method, standing, p)};
}

static const char *least_advice(const precon_spec *precon)
{
    return precon->kind == &precon_kind_jacobi || precon->kind == &precon_kind_none
               ? ""
               : ", or precon=jacobi, which needs least";
}

/* By the context's limit and by those of the process. What was in use at most before, and is not
 * now, needs no room again: `ahead` is in use at most from now on. */
static spry_status check_room(const spry_solver *solver, const solver_estimate *o,
                              const spry_plan *p, int64_t ahead)
{
    spry_context *ctx = solver->ctx;
    const char *name;
    const int64_t limit = p->memory_limit, left = base_limited_memory(&name);
    const bool fits = left >= ahead - ctx->memory_now;
    char need[BASE_BYTES], room[BASE_BYTES], more[BASE_ADVICE];
    if (fits && (limit <= 0 || ahead <= limit))
        return SPRY_STATUS_OK;
    return SPRY_FAIL(ctx, SPRY_STATUS_NO_MEMORY,
                     "%s with %.64s is forecast to need %s, and %s are allowed%s%s: allow more, "
                     "%s%s",
                     p->method, p->precon, base_bytes((double)ahead, need),
                     base_bytes((double)(fits ? limit : left + ctx->memory_now), room),
                     fits ? "" : " by ", fits ? "" : name,
                     base_allow(ctx, ahead + (ahead >> 2), more), least_advice(&o->precon));
}

/* By what is free on the device. Where the solver takes one by itself, it tries what may need less
 * than is forecast. */
static spry_status check_device(const spry_solver *solver, const solver_estimate *o,
                                const spry_plan *p, int64_t ahead)
{
    char need[BASE_BYTES], room[BASE_BYTES];
    int64_t used = 0, most = 0, left = 0;
    if (!solver->setup.device || strcmp(solver->asked.options.device, "auto") == 0)
        return SPRY_STATUS_OK;
    device_memory_now(solver->setup.device, &used, &most, &left);
    if (ahead <= left)
        return SPRY_STATUS_OK;
    return SPRY_FAIL(solver->ctx, SPRY_STATUS_NO_MEMORY,
                     "%s with %.64s is forecast to need %s more on %s, where %s are free: take "
                     "device=cpu%s",
                     p->method, p->precon, base_bytes((double)ahead, need), p->device,
                     base_bytes((double)left, room), least_advice(&o->precon));
}

/* Ranks that are all on one machine share its memory, of which each has a limit by default. */
static spry_status check_machine(const spry_solver *solver, const solver_estimate *o, int64_t ahead)
{
    spry_context *ctx = solver->ctx;
    char need[BASE_BYTES], room[BASE_BYTES];
    bool known = ctx->meminfo == NULL;
    const int64_t machine =
        base_machine_memory() / 5 * 4; /* limits of a process are for one rank */
    int64_t sum = 0;
    spry_status status = SPRY_STATUS_OK;
    if (!solver_ranked(solver) || ctx->team->on_machine < team_ranks(ctx))
        return SPRY_STATUS_OK;
    SPRY_GO(ctx, team_any(ctx, known, &known));
    SPRY_GO(ctx, team_sum(ctx, ahead, &sum));
    if (!known && machine > 0 && sum > machine)
        status = SPRY_FAIL(ctx, SPRY_STATUS_NO_MEMORY,
                           "%d ranks on this machine are forecast to need %s, of which it has %s "
                           "for them: take more machines%s",
                           team_ranks(ctx), base_bytes((double)sum, need),
                           base_bytes((double)machine, room), least_advice(&o->precon));
    status = team_agree(ctx, status);
done:
    return status;
}

/* --- seconds -------------------------------------------------------------------------------------
 */

enum { TIMED = 3 };

/* Of a product, the least of some, where the solver works: on a device a small one takes as long as
 * a launch, and triangles take as many as they have levels. */
static spry_status time_product(spry_device *d, const spry_operator *op, double *seconds)
{
    spry_context *ctx = op->ctx;
    spry_vector *x = NULL, *y = NULL;
    spry_status status = SPRY_STATUS_OK;
    *seconds = INFINITY;
    status = vector_new_at(ctx, d, op->type, op->cols, &x);
    if (status == SPRY_STATUS_OK)
        status = vector_new_at(ctx, d, op->type, op->rows, &y);
    if (op->rows_part.is) /* no rank waits for messages of one that has no vectors */
        status = team_agree(ctx, status);
    SPRY_GO(ctx, status);
    for (int k = 0; k < TIMED; k++) { /* the first may have something to compile */
        if (d)
            SPRY_GO(ctx, device_finish(d));
        const double begin = base_seconds();
        SPRY_GO(ctx, spry_operator_apply(op, x, y));
        if (d)
            SPRY_GO(ctx, device_finish(d));
        *seconds = fmin(*seconds, base_seconds() - begin);
    }
done:
    spry_vector_free(x);
    spry_vector_free(y);
    return status;
}

/* The least that a sum over ranks takes: a message of all to all. */
static spry_status time_sum(const spry_solver *solver, double *seconds)
{
    double least, most;
    spry_status status = SPRY_STATUS_OK;
    *seconds = INFINITY;
    for (int k = 0; k < TIMED && status == SPRY_STATUS_OK; k++) {
        const double begin = base_seconds();
        status = team_bounds(solver->ctx, begin, &least, &most);
        *seconds = fmin(*seconds, base_seconds() - begin);
    }
    return status;
}

/* Of an iteration, by the pace of a product with A, which on ranks has its messages in it, and by
 * the sums of all ranks. It is as long as that of the slowest. What a device makes has that pace,
 * too. */
static spry_status find_step(const spry_solver *solver, const solver_estimate *o, double *made,
                             double *step)
{
    const double launches = 0.05; /* seconds, of what is made on a device, however small it is */
    const spry_operator *A = solver_operator(solver);
    spry_context *ctx = solver->ctx;
    const double vectors =
        (o->vectors[0] * (double)A->rows + o->vectors[1] * (double)columns_of(A)) *
        (double)spry_type_size(A->type);
    const double bytes = (double)(A->bytes > 0 ? A->bytes : 1);
    double product = 0, sum = 0, least;
    spry_status status = time_product(solver->setup.device, A, &product);
    SPRY_GO(ctx, solver_agree(solver, status));
    *step = product * (o->products + ((double)o->forecast.reads + vectors) / bytes);
    if (precon_on_device(solver, o) && o->forecast.device_products > 0)
        *made = launches + o->forecast.device_products * product;
    if (solver_ranked(solver)) {
        SPRY_GO(ctx, time_sum(solver, &sum));
        SPRY_GO(ctx, team_bounds(ctx, *step + o->reductions * sum, &least, step));
    }
done:
    return status;
}

/* On ranks the longest of what each would take by itself. */
static spry_status take_longest(const spry_solver *solver, double *seconds)
{
    double least;
    return solver_ranked(solver) ? team_bounds(solver->ctx, *seconds, &least, seconds)
                                 : SPRY_STATUS_OK;
}

static spry_status count_seconds(const spry_solver *solver, const solver_estimate *o, int systems,
                                 double spent, spry_plan *p)
{
    const double solves = 3;   /* with exact factors, which are read */
    const double doubtful = 2; /* times a forecast of what is made */
    double step = 0;
    spry_status status = SPRY_STATUS_OK;
    p->setup_seconds = p->solve_seconds = p->least_seconds = p->most_seconds = NAN;
    bool unknown = !p->memory_known;
    if (solver_ranked(solver))
        SPRY_GO(solver->ctx, team_any(solver->ctx, unknown, &unknown));
    if (unknown)
        return SPRY_STATUS_OK;
    double made = o->forecast.seconds, read = (double)o->forecast.reads / MACHINE_FACTOR_RATE;
    if (!is_exact(solver, o))
        SPRY_GO(solver->ctx, find_step(solver, o, &made, &step));
    SPRY_GO(solver->ctx, take_longest(solver, &made));
    p->setup_seconds = spent + made;
    if (is_exact(solver, o)) {
        p->solve_seconds = systems * solves * read;
        p->least_seconds = spent + made / doubtful;
        p->most_seconds = spent + doubtful * (made + p->solve_seconds);
        return SPRY_STATUS_OK;
    }
    p->solve_seconds = systems * step * (double)p->iterations;
    p->least_seconds =
        spent + made / doubtful + systems * step * (double)p->least_iterations / doubtful;
    p->most_seconds = spent + doubtful * (made + systems * step * (double)p->most_iterations);
done:
    return status;
}

/* --- the plan ------------------------------------------------------------------------------------
 */

static void describe(const spry_solver *solver, const solver_estimate *o, spry_plan *p)
{
    const spry_operator *A = solver_operator(solver);
    const spry_matrix *given = solver->asked.matrix;
    p->type = A->type;
    p->rows = operator_all_rows(A);
    p->cols = operator_all_cols(A);
    p->nnz = !given ? 0 : given->distributed ? given->distributed->nnz : given->a.nnz;
    snprintf(p->method, sizeof p->method, "%s", o->method);
    snprintf(p->precon, sizeof p->precon, "%s",
             o->ranked_name[0] ? o->ranked_name : o->precon.text);
    reformat_name(A, p->format, sizeof p->format);
    snprintf(p->ordering, sizeof p->ordering, "%s",
             solver->setup.order.matrix ? "rcm" : "as given");
    snprintf(p->device, sizeof p->device, "%s",
             solver->setup.device ? spry_device_name(solver->setup.device) : "cpu");
}

/* What is tried after the one at hand. */
static spry_status list_next(const spry_solver *solver, spry_plan *p)
{
    const attempts *all = &solver->setup.attempts;
    base_text t = {.ctx = solver->ctx};
    if (!solver_has_next(solver))
        return SPRY_STATUS_OK;
    for (int k = all->at + 1; k < all->count; k++) {
        const attempt *a = &all->list[k];
        const bool whole = a->method[0] && a->precon.kind->cost.exact;
        base_text_put(&t, "%s%s%s%s", k > all->at + 1 ? "\n" : "", a->method,
                      a->method[0] && !whole ? " with " : "", whole ? "" : a->precon.text);
        if (a->seconds > 0)
            base_text_put(&t, ", about %.2g s", a->seconds);
    }
    const spry_status status = base_text_take(&t, &p->next);
    base_free(solver->ctx, t.text);
    return status;
}

static spry_status fill_plan(spry_solver *solver, int systems, spry_plan *p)
{
    spry_context *ctx = solver->ctx;
    solver_estimate o;
    const double begin = base_seconds();
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(ctx, solver_estimate_attempt(solver, &o));
    SPRY_GO(ctx, solver_list_rest(solver));
    if (solver->asked.matrix) /* which the first product of the solve would find */
        SPRY_GO(ctx, dist_check_values(solver->asked.matrix));
    const double spent = base_seconds() - begin;
    describe(solver, &o, p);
    guess_iterations(solver, &o, p);
    const solver_bytes ahead = count_bytes(solver, &o, systems, p);
    SPRY_GO(ctx, solver_agree(solver, check_room(solver, &o, p, ahead.host)));
    SPRY_GO(ctx, solver_agree(solver, check_device(solver, &o, p, ahead.device)));
    SPRY_GO(ctx, check_machine(solver, &o, ahead.host));
    SPRY_GO(ctx, count_seconds(solver, &o, systems, spent, p));
    status = list_next(solver, p);
    if (status == SPRY_STATUS_OK && solver->setup.attempts.tried[0]) {
        p->refused = base_copy_text(ctx, solver->setup.attempts.tried);
        status = p->refused ? SPRY_STATUS_OK : SPRY_STATUS_NO_MEMORY;
    }
    SPRY_GO(ctx, solver_agree(solver, status));
    p->plan_seconds = base_seconds() - begin;
done:
    return status;
}

/* On the host instead, where the solve would. */
static bool stays(spry_solver *solver, spry_status *status)
{
    const bool again = solver_stay(solver, *status, false);
    *status = again ? SPRY_STATUS_OK : *status;
    return again;
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
    SPRY_GO(ctx, solver_begin(solver));
    solver_expect(solver, systems);
    status = solver_check_alike(solver, systems);
    do {
        solver_begin_attempts(solver);
        spry_plan_clear(ctx, &found);
        if (status == SPRY_STATUS_OK)
            status = fill_plan(solver, systems, &found);
    } while (stays(solver, &status));
    if (status == SPRY_STATUS_OK)
        base_give(p, &found, &plan_sized);
    else
        spry_plan_clear(ctx, &found);
    solver_end(solver, status);
done:
    return status;
}
