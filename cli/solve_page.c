/* The page of a solve: what it came to, and what is known of its system. */
#include "findings.h"
#include "solve.h"

#include <string.h>

/* The doctor was asked where the solve failed; else it is now, for a little while. */
static bool examine(const solve_job *job, spry_diagnosis *own)
{
    char options[4 * CLI_WORDS];
    findings_names(job->arguments, options, sizeof options);
    findings_put(options, sizeof options, "seconds", "2");
    return spry_diagnose(job->A, NULL, options, NULL, own) == SPRY_STATUS_OK;
}

/* Formats where the solve has run. */
static bool tune(const solve_job *job, spry_tune_report *tuned)
{
    const char *place = job->results[0].device;
    spry_device *device = NULL;
    return cli_open_device(job->ctx, *place ? place : "cpu", &device) == SPRY_STATUS_OK &&
           spry_tune(job->A, device, "always=yes", tuned) == SPRY_STATUS_OK && tuned->count > 0;
}

int solve_page(const solve_job *job)
{
    spry_diagnosis own = SPRY_DIAGNOSIS_INIT;
    spry_tune_report tuned = SPRY_TUNE_REPORT_INIT;
    page_run shown[PAGE_RUNS] = {0};
    const spry_result *first = job->results;
    page p = {.ctx = job->ctx,
              .arguments = job->arguments,
              .name = job->arguments->operands[0],
              .A = job->unread ? NULL : job->A,
              .place = strcmp(first->device, "") != 0 ? first->device : "cpu",
              .runs = shown,
              .runs_in_all = job->count,
              .peak = true};
    if (job->refused || job->unread)
        p.unsolved = first->detail;
    else
        for (; p.run_count < job->count && p.run_count < PAGE_RUNS; p.run_count++) {
            page_run *run = &shown[p.run_count];
            page_run_fill(job->ctx, run, job->solver, &job->results[p.run_count]);
            if (job->count > 1) {
                const size_t used = strlen(run->label);
                snprintf(run->label + used, sizeof run->label - used, ", b %d", p.run_count + 1);
            }
        }
    p.found = job->found.count > 0 ? &job->found : &own;
    p.examined = p.A && (job->found.count > 0 || examine(job, &own));
    p.tuned = p.A && !job->refused && tune(job, &tuned) ? &tuned : NULL;
    const int exit_status = page_write(&p, job->options->report);
    for (int k = 0; k < p.run_count; k++)
        page_run_clear(job->ctx, &shown[k]);
    spry_tune_report_clear(job->ctx, &tuned);
    spry_diagnosis_clear(job->ctx, &own);
    return exit_status;
}
