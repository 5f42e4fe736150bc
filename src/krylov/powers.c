/*
 * Methods that ask for several steps of a basis at a time, powers(A, B), and who makes them. An
 * operator that does that by itself where it gains something: a matrix in its file, one that is
 * brought to a device for each product, one of spry_powers_operator(). A matrix that is distributed
 * over ranks is given rows of other ranks, so that several steps need one message; what is made for
 * it lives as long as the plan.
 */
#include "host/powers.h"
#include "formats/shared/device_formats.h"
#include "krylov/solver.h"

/* Products of several right-hand sides share their messages, steps of a basis do not. */
static bool saves(const spry_solver *solver, int count, int depth)
{
    const int systems = solver->run.systems > 1 ? solver->run.systems : 1;
    return systems * ((count + depth - 1) / depth) <
           count * ((systems + SHARED_READING - 1) / SHARED_READING);
}

/* Without room for the rows of others products are made one by one. */
static spry_status make_ranked(spry_solver *solver, int count, int *depth)
{
    spry_context *ctx = solver->ctx;
    char options[16];
    spry_powers_info info = SPRY_POWERS_INFO_INIT;
    const base_kept before = base_try(ctx);
    snprintf(options, sizeof options, "k=%d", count);
    spry_status status =
        solver_agree(solver, spry_powers_new(solver->setup.matrix, options, &solver->setup.powers));
    if (status == SPRY_STATUS_OK)
        status = solver_agree(
            solver, spry_powers_operator(solver->setup.powers, &solver->setup.powers_operator));
    if (status == SPRY_STATUS_OK)
        status = spry_powers_forecast(solver->setup.powers, &info);
    *depth = status == SPRY_STATUS_OK && saves(solver, count, info.depth) ? info.depth : 0;
    if (*depth > 0)
        base_log(ctx, SPRY_LOG_INFO, "%d of %d steps of a basis go with one message", *depth,
                 count);
    else
        solver_drop_powers(solver);
    if (status != SPRY_STATUS_NO_MEMORY)
        return status;
    base_forgive(ctx, &before); /* nothing failed for the caller */
    return SPRY_STATUS_OK;
}

/* What is made from CSR has the bits of products in that format alone; ranks may have chosen
 * different ones. */
static spry_status find_other_bits(const spry_solver *solver, bool *other)
{
    spry_storage storage = SPRY_STORAGE_INIT;
    *other = solver->ctx->options.repeat == REPEAT_STRICT &&
             (spry_operator_storage(solver_operator(solver), &storage) != SPRY_STATUS_OK ||
              strcmp(storage.format, "csr") != 0);
    return team_any(solver->ctx, *other, other);
}

spry_status solver_make_powers(spry_solver *solver, const program *p, bool apart, int *depth)
{
    const spry_operator *A = solver_operator(solver);
    const int count = program_most_powers(p, solver_precon(solver) != NULL);
    *depth = 0;
    solver_drop_powers(solver);
    if (count < 2 || count > MOST_POWERS || !A->square || (device_of(A) && !p->by_host))
        return SPRY_STATUS_OK;
    *depth = operator_powers_depth(A, count);
    if (*depth > 1 || apart || !solver->setup.matrix || !solver->setup.matrix->distributed ||
        !saves(solver, count, count))
        return SPRY_STATUS_OK;
    bool other;
    const spry_status status = find_other_bits(solver, &other);
    return status == SPRY_STATUS_OK && !other ? make_ranked(solver, count, depth) : status;
}
