/* spry solve --out-of-core: A stays in its file, and its rows come by blocks for every product. */
#include "solve.h"

#include <string.h>

int64_t solve_rows(const solve_job *job)
{
    return job->in_file ? spry_operator_rows(job->in_file) : spry_matrix_rows(job->A);
}

int64_t solve_cols(const solve_job *job)
{
    return job->in_file ? spry_operator_cols(job->in_file) : spry_matrix_cols(job->A);
}

spry_type solve_type(const solve_job *job)
{
    return job->in_file ? spry_operator_type(job->in_file) : spry_matrix_type(job->A);
}

/* The preconditioner that was asked for. */
static bool asks_for(const solve_job *job, const char *precon)
{
    return strcmp(cli_field(job->arguments, cli_solver_options, "precon"), precon) == 0;
}

int solve_file_check(const solve_job *job)
{
    const solve_options *o = job->options;
    const char *device = cli_field(job->arguments, cli_solver_options, "device");
    const struct {
        bool given;
        const char *name;
    } needs[] = {{o->plan, "plan"},
                 {o->report != NULL, "report"},
                 {o->near_null != NULL, "near-null"},
                 {o->checkpoint != NULL, "checkpoint"},
                 {o->resume != NULL, "resume"},
                 {o->split[0] != '\0', "split"},
                 {spry_context_ranks(job->ctx) > 1, "mpi"}};
    if (o->out_of_core == 0)
        return EXIT_DONE;
    for (size_t k = 0; k < sizeof needs / sizeof *needs; k++)
        if (needs[k].given)
            return cli_fail(EXIT_INPUT, "--%s needs A in memory; leave --out-of-core out",
                            needs[k].name);
    if (strcmp(device, "auto") != 0 && strcmp(device, "cpu") != 0)
        return cli_fail(EXIT_INPUT, "--out-of-core works on the processor, not on %s", device);
    if (!asks_for(job, "auto") && !asks_for(job, "none") && !asks_for(job, "jacobi"))
        return cli_fail(EXIT_INPUT, "--out-of-core goes with --precon none or jacobi: others need "
                                    "A in memory");
    return EXIT_DONE;
}

spry_status solve_file_open(solve_job *job)
{
    char options[64];
    snprintf(options, sizeof options, "k=%d memory=%lld", SPRY_POWERS_MOST,
             (long long)job->options->out_of_core);
    const spry_status status =
        spry_powers_open(job->ctx, job->arguments->operands[0], options, &job->file);
    return status == SPRY_STATUS_OK ? spry_powers_operator(job->file, &job->in_file) : status;
}

int64_t solve_file_entries(const solve_job *job)
{
    spry_storage storage = SPRY_STORAGE_INIT;
    return spry_operator_storage(job->in_file, &storage) == SPRY_STATUS_OK ? storage.nnz : 0;
}

void solve_file_free(solve_job *job)
{
    spry_operator_free(job->in_file);
    spry_powers_free(job->file);
}

void solve_file_report(const solve_job *job, FILE *out)
{
    spry_powers_info info = SPRY_POWERS_INFO_INIT;
    if (!job->file || spry_powers_forecast(job->file, &info) != SPRY_STATUS_OK)
        return;
    fprintf(out, "file       %s read in all, %s/s; %s waited for it; %s for its rows in memory\n",
            text_bytes((double)info.read_bytes),
            text_bytes((double)info.read_bytes / (info.read_seconds > 0 ? info.read_seconds : 1)),
            text_seconds(info.wait_seconds), text_bytes((double)info.memory));
}
