/* Checkpoints of a solve, and going on from one: .mtx files know what they are of, others are x. */
#include "solve.h"

#include <string.h>
#include <strings.h>

/* A look at the clock is a message on ranks: the first one's counts. */
enum { RANKS_LOOK = 16 };

static bool is_known(const char *path)
{
    const size_t length = strlen(path);
    return length > 4 && strcasecmp(path + length - 4, ".mtx") == 0;
}

spry_status solve_put_checkpoint(const solve_job *job, const spry_vector *x, int64_t iterations)
{
    const char *path = job->options->checkpoint;
    const bool square = spry_matrix_rows(job->A) == spry_matrix_cols(job->A);
    if (is_known(path) && square)
        return spry_checkpoint_write(job->A, job->b, x, job->resumed + iterations, path);
    return spry_context_ranks(job->ctx) > 1 ? spry_vector_write_ranked(job->A, x, path)
                                            : spry_vector_write(x, path);
}

bool solve_checkpoint_due(const solve_job *job, int64_t iteration)
{
    const bool due = cli_clock() - job->last_checkpoint >= job->options->checkpoint_every;
    if (spry_context_ranks(job->ctx) == 1)
        return due;
    if (iteration % RANKS_LOOK != 0)
        return false;
    /* One that says so is enough, and only the first does. */
    const bool says = due && spry_context_rank(job->ctx) == 0;
    return spry_context_agree(job->ctx, says ? SPRY_STATUS_INTERRUPTED : SPRY_STATUS_OK) !=
           SPRY_STATUS_OK;
}

spry_status solve_resume(solve_job *job)
{
    if (!job->options->resume)
        return SPRY_STATUS_OK;
    spry_vector_free(job->x);
    job->x = NULL;
    return spry_checkpoint_read(job->A, job->b, job->options->resume, &job->x, &job->resumed);
}
