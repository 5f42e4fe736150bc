/*
 * What solved a matrix where something else had failed before is remembered by its fingerprint, in
 * the tuner's files, with what had failed. Nothing of this can fail: without memory the forecasts
 * decide.
 */
#include "choose/tune.h"
#include "krylov/solver.h"

/* Those of the list that have failed, or have not, in their order, from `to` on. */
static int take_failed(const attempts *all, bool failed, attempt *to)
{
    int count = 0;
    for (int k = 0; k < all->count; k++)
        if (k != all->at && all->list[k].failed == failed)
            to[count++] = all->list[k];
    return count;
}

void solver_settle_attempt(spry_solver *solver, int64_t iterations)
{
    attempts *all = &solver->setup.attempts;
    attempt order[ATTEMPTS], *first = &all->list[all->at];
    int count = 1;
    bool stays = all->at == 0;
    first->known = iterations;
    first->failed = false;
    for (int k = 0; k < all->count; k++)
        stays = stays && !all->list[k].failed;
    if (stays)
        return;
    order[0] = *first;
    count += take_failed(all, false, order + count);
    count += take_failed(all, true, order + count);
    memcpy(all->list, order, (size_t)count * sizeof *order);
    all->at = 0;
}

static bool open_memory(const spry_solver *solver, tune_memory **m)
{
    *m = NULL;
    if (!solver->asked.options.memory || !solver->asked.matrix ||
        base_calloc(solver->ctx, 1, sizeof **m, m) != SPRY_STATUS_OK)
        return false;
    tune_memory_open(solver->setup.device, solver->asked.matrix, TUNE_SOLVES, true, *m);
    return (*m)->usable;
}

/* Which of the list it was: the same preconditioner, with that method or one that A asks for; NONE:
 * it is not listed. */
static int find_solved(const attempts *all, const tune_solved *found)
{
    const size_t length = strlen(found->method);
    int place = NONE;
    for (int k = all->count - 1; k >= 0; k--) {
        const char *method = all->list[k].method;
        const bool named = strncmp(method, found->method, length) == 0 &&
                           (method[length] == ':' || method[length] == '\0');
        if (strcmp(all->list[k].precon.text, found->precon) == 0 && (named || !*method))
            place = k;
    }
    return place;
}

static void note_failed(attempts *all, const tune_solved *found)
{
    for (int k = 0; k < all->count; k++)
        for (int i = 0; i < found->count; i++)
            all->list[k].failed =
                all->list[k].failed || strcmp(all->list[k].precon.text, found->failed[i]) == 0;
}

static void begin_with(spry_solver *solver, const tune_solved *found)
{
    attempts *all = &solver->setup.attempts;
    const int k = find_solved(all, found);
    if (k == NONE)
        return;
    base_log(solver->ctx, SPRY_LOG_INFO,
             "precon %s is remembered: with %s it took %" PRId64 " iterations and %.2g s",
             found->precon, found->method, found->iterations, found->seconds);
    note_failed(all, found);
    if (!all->list[k].method[0])
        snprintf(all->list[k].method, sizeof all->list[k].method, "%s", found->method);
    all->at = k;
    solver_settle_attempt(solver, found->iterations);
}

void solver_recall(spry_solver *solver)
{
    tune_memory *m = NULL;
    tune_solved *found = NULL;
    /* It was one right-hand side; many may be better off with something else. */
    if (solver->setup.attempts.count > 1 && precon_choice_stands(solver->run.systems, 1) &&
        open_memory(solver, &m) &&
        base_calloc(solver->ctx, 1, sizeof *found, &found) == SPRY_STATUS_OK &&
        tune_recall_solved(solver->ctx, m, found))
        begin_with(solver, found);
    base_free(solver->ctx, found);
    base_free(solver->ctx, m);
}

void solver_remember(const spry_solver *solver, int64_t iterations, double seconds)
{
    const attempts *all = &solver->setup.attempts;
    const attempt *a = solver_attempt(solver);
    tune_memory *m = NULL;
    tune_solved *found = NULL;
    if (all->tried[0] && strlen(a->precon.text) < TUNE_SPEC && open_memory(solver, &m) &&
        base_calloc(solver->ctx, 1, sizeof *found, &found) == SPRY_STATUS_OK) {
        found->iterations = iterations;
        found->seconds = seconds;
        snprintf(found->precon, sizeof found->precon, "%.*s", TUNE_SPEC - 1, a->precon.text);
        snprintf(found->method, sizeof found->method, "%s", all->method);
        for (int k = 0; k < all->count && found->count < TUNE_FAILED; k++)
            if (all->list[k].failed && k != all->at && strlen(all->list[k].precon.text) < TUNE_SPEC)
                snprintf(found->failed[found->count++], TUNE_SPEC, "%.*s", TUNE_SPEC - 1,
                         all->list[k].precon.text);
        tune_keep_solved(solver->ctx, m, found);
    }
    base_free(solver->ctx, found);
    base_free(solver->ctx, m);
}
