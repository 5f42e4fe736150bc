/*
 * What solved a matrix is remembered by its fingerprint, where something else had failed
 * before, and how forecasts compare with what solves took is learned for each machine; both in the
 * tuner's files. Nothing of this can fail: without memory the forecasts decide.
 */
#include "choose/tune.h"
#include "krylov/solver.h"

#include <math.h>

static bool open_memory(const spry_solver *solver, tune_memory **m)
{
    *m = NULL;
    if (!solver->asked.options.memory || !solver->asked.matrix ||
        base_calloc(solver->ctx, 1, sizeof **m, m) != SPRY_STATUS_OK)
        return false;
    tune_memory_open(solver->setup.device, solver->asked.matrix, TUNE_SOLVES, true, *m);
    return (*m)->usable;
}

/* Factors that are tried first may take as long as what would follow is forecast to. */
static void limit_factors(spry_context *ctx, attempt *first, double seconds, double factor)
{
    char text[sizeof first->method];
    precon_spec limited;
    const precon_kind *kind = first->precon.kind;
    if (!kind || !kind->cost.exact || !*precon_spec_options(&first->precon) || isnan(seconds))
        return;
    snprintf(text, sizeof text, "%s:most=%.2g", kind->name, seconds / factor);
    if (precon_spec_read(ctx, text, &limited) != SPRY_STATUS_OK)
        return;
    first->precon = limited;
    if (first->method[0])
        memcpy(first->method, text, sizeof text);
}

/* Forecasts as the machine has taught. */
static void correct(spry_solver *solver, const tune_memory *m)
{
    attempts *all = &solver->setup.attempts;
    tune_machine *machine = NULL;
    if (base_calloc(solver->ctx, 1, sizeof *machine, &machine) != SPRY_STATUS_OK)
        return;
    tune_recall_machine(solver->ctx, m, machine);
    const bool known = all->list[1].forecast == all->list[0].forecast; /* which limits factors */
    for (int k = 0; k < all->count; k++)
        all->list[k].seconds *= tune_factor_of(machine, precon_spec_name(&all->list[k].precon));
    if (known)
        limit_factors(solver->ctx, &all->list[0], all->list[1].seconds,
                      tune_factor_of(machine, precon_spec_name(&all->list[0].precon)));
    base_free(solver->ctx, machine);
}

void solver_recall(spry_solver *solver)
{
    attempts *all = &solver->setup.attempts;
    tune_memory *m = NULL;
    tune_entry *entry = NULL;
    if (all->count > 1 && open_memory(solver, &m) &&
        base_calloc(solver->ctx, 1, sizeof *entry, &entry) == SPRY_STATUS_OK) {
        correct(solver, m);
        if (tune_recall(solver->ctx, m, entry))
            for (int k = 0; k < all->count; k++)
                if (strcmp(all->list[k].precon.text, entry->winner) == 0) {
                    base_log(solver->ctx, SPRY_LOG_INFO, "precon %s is remembered", entry->winner);
                    all->at = k;
                    solver_settle_attempt(solver);
                    break;
                }
    }
    base_free(solver->ctx, entry);
    base_free(solver->ctx, m);
}

void solver_remember(const spry_solver *solver, double seconds)
{
    const double worth = 0.01; /* seconds below which nothing is to be learned */
    const attempt *a = solver_attempt(solver);
    tune_memory *m = NULL;
    tune_entry *entry = NULL;
    tune_machine *machine = NULL;
    const spry_operator *M = solver_bare_precon(solver);
    const double forecast = M && M->forecast > 0 ? M->forecast : a->forecast;
    const bool learns = seconds > worth && forecast > 0;
    if ((solver->setup.attempts.tried[0] || learns) && open_memory(solver, &m) &&
        base_calloc(solver->ctx, 1, sizeof *entry, &entry) == SPRY_STATUS_OK &&
        base_calloc(solver->ctx, 1, sizeof *machine, &machine) == SPRY_STATUS_OK) {
        snprintf(entry->winner, sizeof entry->winner, "%.*s", TUNE_SPEC - 1, a->precon.text);
        entry->seconds = seconds;
        if (solver->setup.attempts.tried[0] && strlen(a->precon.text) < sizeof entry->winner)
            tune_keep(solver->ctx, m, entry);
        tune_recall_machine(solver->ctx, m, machine);
        if (learns) {
            tune_learn_factor(machine, precon_spec_name(&a->precon), seconds / forecast);
            tune_keep_machine(solver->ctx, m, machine);
        }
    }
    base_free(solver->ctx, machine);
    base_free(solver->ctx, entry);
    base_free(solver->ctx, m);
}
