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

/* x of a least-squares problem, as parts of columns: by the first rank. */
static spry_status put_whole(const solve_job *job, const spry_vector *x, const char *path)
{
    spry_vector *all = NULL;
    spry_status status = spry_vector_collect(x, &all);
    if (status != SPRY_STATUS_OK)
        return status;
    if (spry_context_rank(job->ctx) == 0)
        status = spry_vector_write(all, path);
    spry_vector_free(all);
    return spry_context_agree(job->ctx, status);
}

spry_status solve_put_checkpoint(const solve_job *job, const spry_vector *x, int64_t iterations)
{
    const char *path = job->options->checkpoint;
    spry_ranked all = SPRY_RANKED_INIT;
    const spry_status status = spry_matrix_ranked(job->A, &all);
    if (status != SPRY_STATUS_OK)
        return status;
    const bool square = all.rows == all.cols;
    if (is_known(path) && square)
        return spry_checkpoint_write(job->A, job->b, x, job->resumed + iterations, path);
    if (spry_context_ranks(job->ctx) == 1)
        return spry_vector_write(x, path);
    return square ? spry_vector_write_ranked(job->A, x, path) : put_whole(job, x, path);
}

bool solve_checkpoint_due(const solve_job *job, int64_t iteration)
{
    const bool due = cli_clock() - job->last_checkpoint >= job->options->checkpoint_every;
    if (spry_context_ranks(job->ctx) == 1)
        return due;
    if (iteration % RANKS_LOOK != 0)
        return false;
    /* One rank that decides is enough, and only the first does. */
    const bool decides = due && spry_context_rank(job->ctx) == 0;
    return spry_context_agree(job->ctx, decides ? SPRY_STATUS_INTERRUPTED : SPRY_STATUS_OK) !=
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
