/*
 * spry's conjugate gradients: bench_peer_spry MATRIX fused|unfused|read PRECON THREADS ITERATIONS.
 * "read" gives the seconds it takes to read a byte at this moment.
 */
#include "peer.h"

#include <stdio.h>
#include <string.h>

typedef struct state {
    spry_context *ctx;
    spry_vector *b, *x;
    spry_solver *solver;
    spry_result result;
} state;

/* The solver's set-up does not count, nor does that of the other programs. */
static double solve(void *data, int iterations)
{
    state *s = data;
    char options[64];
    snprintf(options, sizeof options, "tol=0 stall=0 max-iter=%d", iterations);
    peer_check(s->ctx, spry_solver_set(s->solver, options));
    peer_check(s->ctx, spry_vector_fill(s->x, (spry_scalar){0, 0}));
    spry_result_clear(s->ctx, &s->result);
    const double begin = peer_seconds();
    peer_check(s->ctx, spry_solve(s->solver, s->b, s->x, &s->result));
    const double seconds = peer_seconds() - begin - s->result.setup_seconds;
    if (s->result.iterations != iterations)
        peer_refuse(spry_reason_name(s->result.reason));
    return seconds;
}

static void run(state *s, const peer_job *job)
{
    char options[64];
    spry_matrix *A = peer_matrix(s->ctx, job->matrix);
    snprintf(options, sizeof options, "method=cg precon=%s", job->precon);
    peer_check(s->ctx, spry_vector_ones(s->ctx, A, &s->b));
    peer_check(s->ctx, spry_vector_zeros(s->ctx, A, &s->x));
    peer_check(s->ctx, spry_solver_new(s->ctx, &s->solver));
    peer_check(s->ctx, spry_solver_set(s->solver, options));
    if (strcmp(job->variant, "unfused") == 0)
        peer_check(s->ctx, spry_solver_set(s->solver, "fuse=no"));
    peer_check(s->ctx, spry_solver_set_matrix(s->solver, A));
    const double seconds = peer_iteration_time(solve, s, job->iterations);
    peer_answer(seconds, s->result.residual, s->result.bytes_per_iteration);
    spry_result_clear(s->ctx, &s->result);
    spry_solver_free(s->solver);
    spry_vector_free(s->b);
    spry_vector_free(s->x);
    spry_matrix_free(A);
}

static void read_memory(spry_context *ctx)
{
    spry_bandwidth bandwidth = SPRY_BANDWIDTH_INIT;
    peer_check(ctx, spry_device_bandwidth(ctx, NULL, true, &bandwidth));
    peer_answer(1 / bandwidth.read, 0, 0);
}

int main(int argc, char **argv)
{
    peer_job job;
    state s = {0};
    char threads[32];
    if (!peer_job_read(argc, argv, &job))
        peer_refuse("usage: bench_peer_spry MATRIX VARIANT PRECON THREADS ITERATIONS");
    snprintf(threads, sizeof threads, "threads=%d", job.threads);
    peer_check(s.ctx, spry_context_new(threads, &s.ctx));
    if (strcmp(job.variant, "read") == 0)
        read_memory(s.ctx);
    else
        run(&s, &job);
    spry_context_free(s.ctx);
    return 0;
}
