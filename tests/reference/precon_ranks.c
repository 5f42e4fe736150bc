/* Preconditioners across ranks, which are threads here: the same answers as one process has, and
 * not many more iterations. */
#include "support/ranked.h"

#include "ranks/distributed.h"
#include "ranks/partition.h"

#include <math.h>
#include <stdlib.h>

typedef struct job {
    const char *kind, *options, *solver; /* "poisson3d", "size=20", "method=cg precon=..." */
    int block;                           /* ranks begin at multiples of this */
    int64_t iterations;                  /* by one process; 0: it is solved there now */
    double more;                         /* iterations allowed beyond it, as a factor */
    bool empty;                          /* the second rank has no rows */
    const double *x;                     /* one process's answer */
} job;

static const char *solve(spry_context *ctx, const job *j, const spry_matrix *A, double *x,
                         spry_result *r)
{
    spry_solver *s = NULL;
    spry_vector *b = NULL, *v = NULL;
    CHECK_OK(ctx, spry_solver_new(ctx, &s));
    CHECK_OK(ctx, spry_solver_set(s, j->solver));
    CHECK_OK(ctx, spry_solver_set_matrix(s, A));
    CHECK_OK(ctx, spry_vector_ones(ctx, A, &b));
    CHECK_OK(ctx, spry_vector_zeros(ctx, A, &v));
    const spry_status status = spry_solve(s, b, v, r);
    if (status == SPRY_STATUS_OK)
        memcpy(x, spry_vector_data(v), (size_t)spry_vector_size(v) * sizeof *x);
    spry_vector_free(b);
    spry_vector_free(v);
    spry_solver_free(s);
    const spry_result found = *r;
    spry_result_clear(ctx, r);
    r->converged = found.converged;
    r->iterations = found.iterations;
    CHECK_OK(ctx, status);
    return NULL;
}

static void cut(const job *j, int64_t rows, int ranks, int64_t *starts)
{
    for (int r = 0; r <= ranks; r++)
        starts[r] = r == ranks ? rows : rows / j->block * r / ranks * j->block;
    if (j->empty && ranks > 1)
        starts[1] = starts[2];
}

static const char *work(spry_context *ctx, void *data)
{
    const job *j = data;
    const int me = team_rank(ctx);
    int64_t starts[9];
    spry_matrix *whole = NULL, *A = NULL;
    spry_result r = SPRY_RESULT_INIT;
    CHECK_OK(ctx, spry_generate(ctx, j->kind, j->options, &whole));
    cut(j, whole->a.rows, team_ranks(ctx), starts);
    CHECK_OK(ctx, dist_from_whole(whole, starts, NULL, &A));
    double *x = malloc((size_t)(A->a.rows + 1) * sizeof *x);
    const char *wrong = solve(ctx, j, A, x, &r);
    double most = 0, size = 0;
    for (int64_t i = 0; !wrong && i < A->a.rows; i++) {
        most = fmax(most, fabs(x[i] - j->x[starts[me] + i]));
        size = fmax(size, fabs(x[i]));
    }
    free(x);
    spry_matrix_free(A);
    spry_matrix_free(whole);
    if (wrong)
        return wrong;
    if (me == 0)
        print_message("    %s %s, %d ranks: %d iterations, %d by one process\n", j->kind, j->solver,
                      team_ranks(ctx), (int)r.iterations, (int)j->iterations);
    CHECK(r.converged);
    CHECK((double)r.iterations <= (1 + j->more) * (double)j->iterations + 1);
    CHECK(most <= 1e-5 * size); /* residuals of 1e-10 and conditions below 1e5 */
    return NULL;
}

static void compare(job j)
{
    spry_context *ctx = support_context("threads=1");
    spry_matrix *A = NULL;
    spry_result r = SPRY_RESULT_INIT;
    assert_ok(ctx, spry_generate(ctx, j.kind, j.options, &A));
    double *x = malloc((size_t)A->a.rows * sizeof *x);
    assert_null(solve(ctx, &j, A, x, &r));
    assert_true(r.converged);
    j.x = x;
    j.iterations = r.iterations;
    spry_matrix_free(A);
    support_context_free(ctx);
    for (int ranks = 1; ranks <= 4; ranks++)
        ranked_run(ranks, work, &j);
    free(x);
}

static void schwarz(void **state)
{
    (void)state;
    /* Parts are larger, but one process has as many as it likes: as good within a factor of two. */
    compare((job){"poisson2d", "size=40", "tol=1e-10 method=cg precon=schwarz:kind=as,sub=ic", 1,
                  .more = 1});
    compare((job){"poisson2d", "size=40", "tol=1e-10 method=bicgstab precon=schwarz:overlap=3", 7,
                  .more = 1});
    compare((job){"poisson2d", "size=40", "tol=1e-10 method=gmres precon=schwarz:sub=direct", 1,
                  .more = 30, .empty = true}); /* by one process it is exact */
    compare((job){"poisson2d", "size=30", "tol=1e-10 method=qmr precon=schwarz:overlap=0", 1,
                  .more = 1});
}

static void multigrid(void **state)
{
    (void)state;
    compare((job){"poisson3d", "size=24", "tol=1e-10 method=cg precon=amg", 1, .more = 0.2});
    compare((job){"poisson2d", "size=110", "tol=1e-10 method=cg precon=amg", 1, .more = 0.2,
                  .empty = true});
    /* Few layers of nodes on each rank: aggregates that end at cuts are a good part of all. */
    compare((job){"elasticity", "size=15", "tol=1e-10 method=cg precon=amg", 3, .more = 0.2});
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(schwarz),
        cmocka_unit_test(multigrid),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
