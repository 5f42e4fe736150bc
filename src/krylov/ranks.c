/* A solver on ranks: what they agree upon, and what each of them did. */
#include "krylov/solver.h"

bool solver_ranked(const spry_solver *solver)
{
    return solver->asked.operator? solver->asked.operator->rows_part.is
        : solver->setup.matrix && solver->setup.matrix->distributed;
}

spry_status solver_agree(const spry_solver *solver, spry_status status)
{
    return solver_ranked(solver) ? team_agree(solver->ctx, status) : status;
}

bool solver_interrupted(const spry_solver *solver)
{
    bool any = spry_context_interrupted(solver->ctx, false);
    if (solver_ranked(solver) && team_any(solver->ctx, any, &any) == SPRY_STATUS_OK && any)
        spry_context_interrupt(solver->ctx);
    return any;
}

spry_status solver_report_ranks(spry_solver *solver, const team_counts *before)
{
    spry_context *ctx = solver->ctx;
    const distributed *s = solver->setup.matrix ? solver->setup.matrix->distributed : NULL;
    spry_status status = SPRY_STATUS_OK;
    base_free(ctx, solver->run.ranks);
    solver->run.ranks = NULL;
    if (!solver_ranked(solver))
        return SPRY_STATUS_OK;
    const team_counts *now = &ctx->team->counts;
    spry_rank_report mine = {.size = sizeof mine,
                             .rows = solver_operator(solver) ? solver_operator(solver)->rows : 0,
                             .messages = now->halo_messages - before->halo_messages,
                             .bytes = now->halo_bytes - before->halo_bytes,
                             .reductions = now->reductions - before->reductions,
                             .setup_seconds = solver->run.setup_seconds,
                             .solve_seconds = solver->run.solve_seconds,
                             .message_seconds = now->halo_seconds - before->halo_seconds,
                             .reduction_seconds =
                                 now->reduction_seconds - before->reduction_seconds,
                             .threads = spry_context_threads(ctx),
                             .share = ranks_share(ctx)};
    snprintf(mine.device, sizeof mine.device, "%s", place_name(solver->setup.device));
    snprintf(mine.transport, sizeof mine.transport, "%s",
             !solver->setup.device   ? "memory"
             : ctx->team->on_devices ? "direct"
                                     : "staged");
    if (s) {
        mine.nnz = s->own->a.nnz;
        for (int64_t k = 0; k < s->edge->a.nnz; k++) /* own entries of edge rows are stored twice */
            mine.nnz += s->edge->a.col_index[k] >= s->kept;
        mine.received = s->ghosts;
        mine.neighbours = s->receives;
    }
    spry_context_memory(ctx, NULL, &mine.memory_bytes);
    status = base_alloc(ctx, team_ranks(ctx), sizeof mine, &solver->run.ranks);
    SPRY_GO(ctx, team_agree(ctx, status));
    SPRY_GO(ctx, team_gather(ctx, &mine, sizeof mine, solver->run.ranks));
done:
    return status;
}

spry_status spry_solver_rank(const spry_solver *solver, int rank, spry_rank_report *report)
{
    static const base_sized sized = BASE_SIZED(spry_rank_report, threads);
    SPRY_NEED(CTX_OF(solver), solver, report);
    const spry_status status = base_blank(solver->ctx, report, &sized);
    if (status != SPRY_STATUS_OK)
        return status;
    if (!solver->run.ranks || rank < 0 || rank >= team_ranks(solver->ctx))
        return SPRY_FAIL(solver->ctx, SPRY_STATUS_BAD_USAGE, "rank %d of a solve %s: there is none",
                         rank, solver->run.ranks ? "on fewer ranks" : "without ranks");
    base_give(report, &solver->run.ranks[rank], &sized);
    return SPRY_STATUS_OK;
}
