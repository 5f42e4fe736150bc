/*
 * Conjugate gradients by hand, with OpenBLAS for the vectors:
 * bench_peer_openblas MATRIX VARIANT PRECON THREADS ITERATIONS. A variant is made of these words:
 *   threads  OpenBLAS shares each call among its own threads
 *   parts    OpenMP threads call OpenBLAS, each for its part of the vectors
 *   axpby    p = z + beta p by cblas_daxpby, which OpenBLAS never shares; else by dscal and daxpy
 *   csr      the product in a plain OpenMP loop, else spry's
 * Without a preconditioner (r, r) is both rho and the norm, as anyone would write it.
 */
#include "peer.h"

#include <cblas.h>
#include <math.h>
#include <omp.h>
#include <stdio.h>
#include <string.h>

typedef struct state {
    spry_context *ctx;
    bool parts, axpby, csr;
    int threads;
    int64_t n;
    peer_arrays a;
    spry_operator *A, *M; /* M is NULL without a preconditioner */
    spry_vector *b, *x, *r, *p, *q, *z;
    double norm;
} state;

typedef struct part {
    int64_t begin;
    blasint size;
} part;

static part my_part(const state *s)
{
    const int64_t me = omp_get_thread_num(), all = omp_get_num_threads();
    const int64_t begin = s->n * me / all, end = s->n * (me + 1) / all;
    return (part){begin, (blasint)(end - begin)};
}

static double dot(const state *s, const spry_vector *x, const spry_vector *y)
{
    const double *u = spry_vector_data_const(x), *v = spry_vector_data_const(y);
    if (!s->parts)
        return cblas_ddot((blasint)s->n, u, 1, v, 1);
    double sum = 0;
#pragma omp parallel num_threads(s->threads) reduction(+ : sum)
    {
        const part mine = my_part(s);
        sum += cblas_ddot(mine.size, u + mine.begin, 1, v + mine.begin, 1);
    }
    return sum;
}

/* y = y + alpha x */
static void axpy(const state *s, double alpha, const spry_vector *x, spry_vector *y)
{
    const double *u = spry_vector_data_const(x);
    double *v = spry_vector_data(y);
    if (!s->parts) {
        cblas_daxpy((blasint)s->n, alpha, u, 1, v, 1);
        return;
    }
#pragma omp parallel num_threads(s->threads)
    {
        const part mine = my_part(s);
        cblas_daxpy(mine.size, alpha, u + mine.begin, 1, v + mine.begin, 1);
    }
}

static void scale_add(bool axpby, blasint n, double beta, const double *z, double *p)
{
    if (axpby) {
        cblas_daxpby(n, 1, z, 1, beta, p, 1);
    } else {
        cblas_dscal(n, beta, p, 1);
        cblas_daxpy(n, 1, z, 1, p, 1);
    }
}

/* p = z + beta p. A z that is not r is free to take the sum: then one daxpy does it. */
static void next_direction(state *s, double beta)
{
    if (s->M && !s->axpby) {
        spry_vector *sum = s->z;
        axpy(s, beta, s->p, sum);
        s->z = s->p;
        s->p = sum;
        return;
    }
    const double *z = spry_vector_data_const(s->z);
    double *p = spry_vector_data(s->p);
    if (!s->parts) {
        scale_add(s->axpby, (blasint)s->n, beta, z, p);
        return;
    }
#pragma omp parallel num_threads(s->threads)
    {
        const part mine = my_part(s);
        scale_add(s->axpby, mine.size, beta, z + mine.begin, p + mine.begin);
    }
}

/* q = A p */
static void multiply(const state *s)
{
    if (!s->csr) {
        peer_check(s->ctx, spry_operator_apply(s->A, s->p, s->q));
        return;
    }
    const double *values = s->a.values, *p = spry_vector_data_const(s->p);
    double *q = spry_vector_data(s->q);
#pragma omp parallel for schedule(static) num_threads(s->threads)
    for (int64_t i = 0; i < s->n; i++) {
        double sum = 0;
        for (int64_t k = s->a.offsets[i]; k < s->a.offsets[i + 1]; k++)
            sum += values[k] * p[s->a.col_index[k]];
        q[i] = sum;
    }
}

/* z = M r, where there is an M; then rho = (r, z) */
static double precondition(state *s)
{
    const double square = dot(s, s->r, s->r);
    s->norm = sqrt(square);
    if (!s->M)
        return square;
    peer_check(s->ctx, spry_operator_apply(s->M, s->r, s->z));
    return dot(s, s->r, s->z);
}

static double solve(void *data, int iterations)
{
    state *s = data;
    const double begin = peer_seconds();
    peer_check(s->ctx, spry_vector_fill(s->x, (spry_scalar){0, 0}));
    peer_check(s->ctx, spry_vector_copy(s->b, s->r));
    double rho = precondition(s);
    peer_check(s->ctx, spry_vector_copy(s->M ? s->z : s->r, s->p));
    for (int k = 0; k < iterations; k++) {
        multiply(s);
        const double alpha = rho / dot(s, s->p, s->q);
        axpy(s, alpha, s->p, s->x);
        axpy(s, -alpha, s->q, s->r);
        const double rho1 = precondition(s);
        next_direction(s, rho1 / rho);
        rho = rho1;
    }
    return peer_seconds() - begin;
}

static void run(state *s, const peer_job *job)
{
    spry_matrix *A = peer_matrix(s->ctx, job->matrix);
    spry_vector **const all[] = {&s->x, &s->r, &s->p, &s->q, &s->z};
    enum { VECTORS = sizeof all / sizeof *all };
    s->a = peer_arrays_of(A);
    s->n = s->a.rows;
    if (s->a.type != SPRY_TYPE_D || s->a.format != SPRY_FORMAT_CSR || s->n > INT32_MAX)
        peer_refuse("this program is for CSR in double");
    peer_check(s->ctx, spry_vector_ones(s->ctx, A, &s->b));
    for (int k = 0; k < VECTORS; k++)
        peer_check(s->ctx, spry_vector_zeros(s->ctx, A, all[k]));
    peer_check(s->ctx, spry_operator_from_matrix(A, NULL, NULL, &s->A));
    if (strcmp(job->precon, "jacobi") == 0)
        peer_check(s->ctx, spry_precon_new(A, NULL, "jacobi", &s->M));
    if (!s->M) {
        spry_vector_free(s->z);
        s->z = s->r;
    }
    const double seconds = peer_iteration_time(solve, s, job->iterations);
    peer_answer(seconds, s->norm / sqrt(dot(s, s->b, s->b)), 0);
    for (int k = 0; k < VECTORS - (s->M == NULL); k++)
        spry_vector_free(*all[k]);
    spry_vector_free(s->b);
    spry_operator_free(s->M);
    spry_operator_free(s->A);
    spry_matrix_free(A);
}

int main(int argc, char **argv)
{
    peer_job job;
    char threads[32];
    if (argc == 2 && strcmp(argv[1], "--version") == 0) {
        printf("%s, %s threads\n", openblas_get_config(),
               openblas_get_parallel() == OPENBLAS_OPENMP   ? "OpenMP's"
               : openblas_get_parallel() == OPENBLAS_THREAD ? "its own"
                                                            : "no");
        return 0;
    }
    if (!peer_job_read(argc, argv, &job))
        peer_refuse("usage: bench_peer_openblas MATRIX VARIANT PRECON THREADS ITERATIONS");
    state s = {.parts = strstr(job.variant, "parts"),
               .axpby = strstr(job.variant, "axpby"),
               .csr = strstr(job.variant, "csr"),
               .threads = job.threads};
    openblas_set_num_threads(s.parts ? 1 : job.threads);
    snprintf(threads, sizeof threads, "threads=%d", job.threads);
    peer_check(s.ctx, spry_context_new(threads, &s.ctx));
    run(&s, &job);
    spry_context_free(s.ctx);
    return 0;
}
