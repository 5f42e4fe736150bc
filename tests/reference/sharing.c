/*
 * One matrix, several threads with a context each: solves and all that reads the matrix go on at
 * once, and give what they give alone. To be run under the thread sanitizer (`make tsan`), too.
 */
#include "support/support.h"

#include "operator/operator.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { THREADS = 2, ROUNDS = 3, RESULT = 4096 };

typedef void (*work)(spry_context *ctx, const spry_matrix *A, const char *what, char *result);

/* What a thread does, and what came of it: bytes to compare, or the message of what failed. */
typedef struct job {
    const spry_matrix *A;
    work run;
    const char *what;
    pthread_barrier_t *start;
    char result[RESULT];
} job;

/* Not cmocka's: it is for one thread. */
static void need(const spry_context *ctx, spry_status status, char *result)
{
    if (status != SPRY_STATUS_OK && !result[0])
        snprintf(result, RESULT, "failed: %s", spry_message(ctx));
}

/* A sum over the bytes of an array, which differs when a bit does. */
static void note(char *result, const char *name, const void *data, size_t bytes)
{
    uint64_t sum = 14695981039346656037u;
    for (size_t k = 0; k < bytes; k++)
        sum = (sum ^ ((const unsigned char *)data)[k]) * 1099511628211u;
    const size_t used = strlen(result);
    snprintf(result + used, RESULT - used, "%s %016" PRIx64 " ", name, sum);
}

static void note_vector(char *result, const char *name, const spry_vector *v)
{
    note(result, name, v->data, (size_t)v->n * spry_type_size(v->type));
}

static void solve(spry_context *ctx, const spry_matrix *A, const char *what, char *result)
{
    spry_solver *solver = NULL;
    spry_vector *b = NULL, *x = NULL;
    spry_result r = SPRY_RESULT_INIT;
    need(ctx, spry_solver_new(ctx, &solver), result);
    need(ctx, spry_solver_set(solver, what), result);
    need(ctx, spry_solver_set_matrix(solver, A), result);
    need(ctx, spry_vector_ones(ctx, A, &b), result);
    need(ctx, spry_vector_zeros(ctx, A, &x), result);
    need(ctx, spry_solve(solver, b, x, &r), result);
    if (!r.converged && !result[0])
        snprintf(result, RESULT, "failed: %s", r.detail);
    note_vector(result, r.method, x);
    spry_result_clear(ctx, &r);
    spry_vector_free(b);
    spry_vector_free(x);
    spry_solver_free(solver);
}

static void multiply(spry_context *ctx, const spry_matrix *A, const char *what, char *result)
{
    spry_matrix *mine = NULL;
    spry_operator *op = NULL;
    spry_vector *x = NULL, *y = NULL;
    need(ctx, spry_matrix_share(ctx, A, &mine), result);
    need(ctx, spry_operator_from_matrix(mine, NULL, what, &op), result);
    need(ctx, spry_vector_ones(ctx, mine, &x), result);
    need(ctx, spry_vector_zeros(ctx, mine, &y), result);
    for (int t = 0; t < 2; t++) {
        need(ctx,
             spry_operator_multiply(op, t ? SPRY_TRANSPOSE_CONJUGATE : SPRY_TRANSPOSE_NO,
                                    (spry_scalar){1, 0}, x, (spry_scalar){0, 0}, y),
             result);
        note_vector(result, what, y);
    }
    spry_vector_free(x);
    spry_vector_free(y);
    spry_operator_free(op);
    spry_matrix_free(mine);
}

/* All that looks at a matrix: facts are found out by both, statistics, conversions, algebra. */
static void look(spry_context *ctx, const spry_matrix *A, const char *what, char *result)
{
    spry_matrix *mine = NULL, *made[4] = {NULL};
    spry_stats stats = SPRY_STATS_INIT;
    spry_vector *d = NULL;
    (void)what;
    need(ctx, spry_matrix_share(ctx, A, &mine), result);
    for (int f = 0; f < SPRY_FACT_COUNT; f++) {
        spry_truth truth;
        need(ctx, spry_matrix_find_fact(mine, (spry_fact)f, &truth), result);
        note(result, fact_name((spry_fact)f), &truth, sizeof truth);
    }
    need(ctx, spry_matrix_stats(mine, &stats), result);
    note(result, "norm", &stats.norm_frobenius, sizeof stats.norm_frobenius);
    need(ctx, spry_matrix_diagonal(mine, &d), result);
    note_vector(result, "diagonal", d);
    need(ctx, spry_matrix_transpose(mine, true, &made[0]), result);
    need(ctx, spry_matrix_convert(mine, SPRY_FORMAT_COO, &made[1]), result);
    need(ctx, spry_matrix_multiply(mine, mine, &made[2]), result);
    need(ctx, spry_matrix_cast(mine, SPRY_TYPE_Z, &made[3]), result);
    for (int k = 0; k < 4; k++) {
        note(result, "values", made[k]->a.values,
             (size_t)made[k]->a.nnz * spry_type_size(made[k]->a.type));
        spry_matrix_free(made[k]);
    }
    spry_vector_free(d);
    spry_matrix_free(mine);
}

static void *run(void *data)
{
    job *j = data;
    spry_context *ctx = NULL;
    if (spry_context_new("threads=2", &ctx) != SPRY_STATUS_OK) {
        snprintf(j->result, RESULT, "failed: no context");
        return NULL;
    }
    if (j->start)
        pthread_barrier_wait(j->start);
    j->run(ctx, j->A, j->what, j->result);
    spry_context_free(ctx);
    return NULL;
}

/* The work by one thread alone, then by all at once: the same bits. A itself stays as it is, but
 * for what is known of it, which is found out again in every round. */
static void at_once(spry_context *ctx, spry_matrix *A, work run_it, const char *what)
{
    static job alone, jobs[THREADS];
    pthread_barrier_t start;
    pthread_t threads[THREADS];
    int64_t before, after, most;
    assert_int_equal(pthread_barrier_init(&start, NULL, THREADS), 0);
    spry_context_memory(ctx, &before, &most);
    matrix_forget(A, FACTS_ALL);
    alone = (job){.A = A, .run = run_it, .what = what};
    run(&alone);
    if (strncmp(alone.result, "failed", 6) == 0)
        fail_msg("%s: %s", what, alone.result);
    for (int round = 0; round < ROUNDS; round++) {
        matrix_forget(A, FACTS_ALL);
        for (int t = 0; t < THREADS; t++) {
            jobs[t] = (job){.A = A, .run = run_it, .what = what, .start = &start};
            assert_int_equal(pthread_create(&threads[t], NULL, run, &jobs[t]), 0);
        }
        for (int t = 0; t < THREADS; t++) {
            assert_int_equal(pthread_join(threads[t], NULL), 0);
            assert_string_equal(jobs[t].result, alone.result);
        }
    }
    spry_context_memory(ctx, &after, &most);
    assert_int_equal(before, after);
    assert_string_equal(spry_message(ctx), "");
    pthread_barrier_destroy(&start);
}

static spry_matrix *matrix(spry_context *ctx, const char *kind, const char *options)
{
    spry_matrix *A = NULL;
    assert_ok(ctx, spry_generate(ctx, kind, options, &A));
    return A;
}

static void solves(void **state)
{
    static const char *const definite[] = {
        "",
        "method=cg precon=jacobi",
        "method=cg precon=ic",
        "method=cg precon=amg",
        "method=cg precon=poly format=sell",
        "method=pipecg precon=ssor",
        "method=minres precon=none format=sym",
        "method=fcg precon=inner",
    };
    static const char *const others[] = {
        "",
        "method=gmres precon=ilu",
        "method=bicgstab precon=sai",
        "method=bicg precon=none format=ell",
        "method=idr precon=direct",
        "method=gmres precon=schwarz",
    };
    spry_matrix *A = matrix(*state, "poisson2d", "size=24"),
                *B = matrix(*state, "convection-diffusion", "size=20 peclet=10 type=z");
    for (size_t k = 0; k < sizeof definite / sizeof *definite; k++)
        at_once(*state, A, solve, definite[k]);
    for (size_t k = 0; k < sizeof others / sizeof *others; k++)
        at_once(*state, B, solve, others[k]);
    spry_matrix_free(A);
    spry_matrix_free(B);
}

static void products(void **state)
{
    static const char *const formats[] = {"csr", "sell", "ell", "jds", "bsr", "merge", "dia"};
    spry_matrix *A = matrix(*state, "poisson2d", "size=40 type=c"), *C = NULL;
    for (size_t k = 0; k < sizeof formats / sizeof *formats; k++)
        at_once(*state, A, multiply, formats[k]);
    /* Not CSR: each makes a copy of its own. */
    assert_ok(*state, spry_matrix_convert(A, SPRY_FORMAT_CSC, &C));
    at_once(*state, C, multiply, "csr");
    spry_matrix_free(A);
    spry_matrix_free(C);
}

static void looks(void **state)
{
    spry_matrix *A = matrix(*state, "poisson2d", "size=40 type=d");
    at_once(*state, A, look, "look");
    spry_matrix_free(A);
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, support_setup, support_teardown)
int main(void)
{
    const struct CMUnitTest tests[] = {TEST(solves), TEST(products), TEST(looks)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
