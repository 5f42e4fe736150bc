/* What the doctor finds in a solve that failed. */
#include "findings.h"
#include "solve.h"

#include <string.h>

/* The first system that did not converge, as a vector that borrows its part of b; -1: all did, or
 * the user did not want to wait. */
static int first_failed(const solve_job *job)
{
    for (int k = 0; k < job->count; k++)
        if (!job->results[k].converged)
            return job->results[k].reason == SPRY_REASON_STOPPED ||
                           job->results[k].reason == SPRY_REASON_ACCEPTED
                       ? -1
                       : k;
    return -1;
}

/* What the doctor is to know: names for commands, what was removed from b, and what was asked for
 * where no result reports what was used. */
static void describe_solve(const solve_job *job, bool ran, char *options, size_t size)
{
    const cli_arguments *a = job->arguments;
    const int *nullspace = cli_field(a, cli_solver_options, "nullspace");
    findings_names(a, options, size);
    findings_put(options, size, "nullspace", nullspace && *nullspace ? "constant" : "none");
    findings_put(options, size, "seconds", "2");
    if (!ran)
        findings_put(options, size, "method", cli_field(a, cli_solver_options, "method"));
}

void solve_diagnose(solve_job *job)
{
    const int k = first_failed(job);
    const int64_t n = spry_matrix_rows(job->A);
    spry_vector *b = NULL;
    char options[4 * CLI_WORDS];
    if (k < 0 || (job->options->quiet && !job->options->json) || (job->refused && !job->doubtful))
        return;
    job->found_in = k;
    const bool ran = job->results[k].reason != SPRY_REASON_FAILED;
    describe_solve(job, ran, options, sizeof options);
    progress_note(&job->line, PHASE_CHECK, "asking the doctor");
    spry_status status =
        spry_vector_new(job->ctx, spry_vector_type(job->b), n,
                        (char *)spry_vector_data(job->b) +
                            (size_t)k * (size_t)n * spry_type_size(spry_vector_type(job->b)),
                        SPRY_OWN_BORROW, &b);
    if (status == SPRY_STATUS_OK)
        status = spry_diagnose(job->A, b, options, ran ? &job->results[k] : NULL, &job->found);
    progress_clear(&job->line);
    if (status != SPRY_STATUS_OK && status != SPRY_STATUS_INTERRUPTED)
        cli_log(NULL, SPRY_LOG_WARNING, spry_message(job->ctx));
    spry_vector_free(b);
}
