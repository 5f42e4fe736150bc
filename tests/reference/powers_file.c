/*
 * Matrix powers of matrices that stay in their files: the bits of products in memory, bounded
 * memory, files that are damaged or change, stops, and solves.
 */
#include "host/powers.h"
#include "support/files.h"
#include "support/generated.h"
#include "support/numeric.h"
#include "support/stepped.h"

#include <fcntl.h>
#include <unistd.h>

enum { K = 6 };

static const char *written(spry_context *ctx, const spry_matrix *A, const char *name)
{
    const char *path = files_path(name);
    assert_ok(ctx, spry_matrix_write(A, path));
    return path;
}

/* Powers of the file are those of A in memory; depths are as expected (0: any). */
static void check(spry_context *ctx, const spry_matrix *A, const char *more, int depth)
{
    char options[128];
    const char *path = written(ctx, A, "powers.spry");
    spry_vector *v[K], *w[K], *x = numeric_random(ctx, NULL, A->a.type, A->a.rows, 7);
    spry_powers *p;
    spry_powers_info info = SPRY_POWERS_INFO_INIT;
    spry_operator *op, *file;
    stepped_make(ctx, NULL, A->a.type, A->a.rows, K, v);
    stepped_make(ctx, NULL, A->a.type, A->a.rows, K, w);
    snprintf(options, sizeof options, "k=%d %s", K, more);
    assert_ok(ctx, spry_powers_open(ctx, path, options, &p));
    assert_ok(ctx, spry_powers_forecast(p, &info));
    if (depth > 0)
        assert_int_equal(info.depth, depth);
    const int64_t looked = info.read_bytes;
    assert_ok(ctx, spry_powers_apply(p, x, v));
    assert_ok(ctx, spry_powers_forecast(p, &info));
    const int64_t blocks_more = 8 * A->a.rows / 16 + 8; /* offsets where blocks meet, read twice */
    assert_true(info.read_bytes - looked >= info.bytes - 8 * K);
    assert_true(info.read_bytes - looked <= info.bytes + K * blocks_more);
    assert_ok(ctx, spry_operator_from_matrix(A, NULL, NULL, &op));
    for (int j = 0; j < K; j++) {
        assert_ok(ctx, spry_operator_apply(op, j > 0 ? w[j - 1] : x, w[j]));
        stepped_same(v[j], w[j], "%s: power %d", options, j + 1);
    }
    /* and a product with factors */
    const spry_scalar alpha = {0.5, 0}, beta = {-2, 0};
    assert_ok(ctx, spry_powers_operator(p, &file));
    assert_ok(ctx, spry_operator_multiply(file, SPRY_TRANSPOSE_NO, alpha, x, beta, v[0]));
    assert_ok(ctx, spry_operator_multiply(op, SPRY_TRANSPOSE_NO, alpha, x, beta, w[0]));
    stepped_same(v[0], w[0], "%s: a product", options);
    assert_false(spry_operator_has_transpose(file));
    spry_operator_free(op);
    spry_operator_free(file);
    spry_powers_free(p);
    spry_vector_free(x);
    stepped_free(K, v);
    stepped_free(K, w);
}

static void types_and_threads(void **state)
{
    (void)state;
    base_use_all_threads(true);
    for (int t = 0; t < 4; t++)
        for (int threads = 1; threads <= 3; threads += 2) {
            char text[32];
            snprintf(text, sizeof text, "threads=%d", threads);
            spry_context *ctx = support_context(text);
            spry_matrix *A =
                generated_as(ctx, support_types[t], "convection-diffusion", "nx=41 ny=43");
            check(ctx, A, "", K);
            check(ctx, A, "depth=4 keep=no", 4);
            check(ctx, A, "schedule=plain", 1);
            spry_matrix_free(A);
            support_context_free(ctx);
        }
    base_use_all_threads(false);
}

static void patterns(void **state)
{
    spry_context *ctx = *state;
    spry_matrix *A = support_sorted(ctx, SPRY_TYPE_D, SUPPORT_UNIFORM, 300, 300, 900, 3);
    check(ctx, A, "", 0);
    spry_matrix_free(A);
    A = support_sorted(ctx, SPRY_TYPE_D, SUPPORT_ONE_ROW, 3000, 3000, 900, 4);
    check(ctx, A, "memory=500000", 0);
    spry_matrix_free(A);
    A = support_from_rows(ctx, SPRY_TYPE_D, 1, 1, (const double[]){0.5});
    check(ctx, A, "", 0);
    spry_matrix_free(A);
    A = support_long_row(ctx, SPRY_TYPE_D, 8200); /* whose sums are made by chunks */
    check(ctx, A, "", 0);
    spry_matrix_free(A);
}

/* Less memory: fewer steps at a time, until it is too little for a block. */
static void memory_is_bounded(void **state)
{
    spry_context *ctx = *state;
    spry_matrix *A = generated(ctx, "tridiagonal", "size=40000");
    const char *path = written(ctx, A, "band.spry");
    int before = K + 1, deeper = 0;
    for (int64_t memory = 1 << 20;; memory = memory * 3 / 4) {
        char options[64];
        spry_powers *p;
        spry_powers_info info = SPRY_POWERS_INFO_INIT;
        snprintf(options, sizeof options, "k=%d memory=%d", K, (int)memory);
        const spry_status status = spry_powers_open(ctx, path, options, &p);
        if (status != SPRY_STATUS_OK) {
            assert_status(ctx, SPRY_STATUS_NO_MEMORY, status);
            support_message_has(ctx, "are the least");
            break;
        }
        assert_ok(ctx, spry_powers_forecast(p, &info));
        assert_true(info.memory <= memory && info.depth <= before);
        before = info.depth;
        deeper += info.depth > 1 && info.depth < K;
        spry_powers_free(p);
    }
    assert_int_equal(before, 1);
    assert_true(deeper > 0);
    check(ctx, A, "memory=100000", 0);
    spry_matrix_free(A);
}

/* --- faults --------------------------------------------------------------------------------------
 */

static void overwrite(const char *path, int64_t place, const void *data, size_t size)
{
    const int file = open(path, O_WRONLY);
    assert_true(file >= 0);
    assert_int_equal(pwrite(file, data, size, place), (ssize_t)size);
    close(file);
}

static void refused(spry_context *ctx, const char *path, spry_status status, const char *message)
{
    spry_powers *p = NULL;
    assert_status(ctx, status, spry_powers_open(ctx, path, NULL, &p));
    support_message_has(ctx, message);
    support_message_has(ctx, path);
    assert_null(p);
}

/* Where the sections of a file begin, by its header. */
static int64_t section(const char *path, int which)
{
    int64_t place = 0;
    const int file = open(path, O_RDONLY);
    assert_true(file >= 0);
    assert_int_equal(pread(file, &place, sizeof place, 56 + 8 * which), sizeof place);
    close(file);
    return place;
}

static void bad_files(void **state)
{
    spry_context *ctx = *state;
    const int32_t outside = 25, negative = -1;
    const int64_t falling = 2, large = 1000;
    spry_matrix *A = generated(ctx, "poisson2d", "size=5"), *B;
    const char *path = written(ctx, A, "bad.spry");
    overwrite(path, section(path, 1) + 8, &outside, sizeof outside);
    refused(ctx, path, SPRY_STATUS_BAD_INPUT, "column 25 is outside 0..24");
    path = written(ctx, A, "bad.spry");
    overwrite(path, section(path, 1), &negative, sizeof negative);
    refused(ctx, path, SPRY_STATUS_BAD_INPUT, "column -1");
    path = written(ctx, A, "bad.spry");
    overwrite(path, section(path, 0) + 16, &falling, sizeof falling);
    refused(ctx, path, SPRY_STATUS_BAD_INPUT, "do not rise");
    path = written(ctx, A, "bad.spry");
    overwrite(path, section(path, 0) + 8 * 25, &large, sizeof large);
    refused(ctx, path, SPRY_STATUS_BAD_INPUT, "do not rise");
    path = written(ctx, A, "bad.spry");
    overwrite(path, 32, &large, sizeof large);
    refused(ctx, path, SPRY_STATUS_BAD_INPUT, "checksum");
    path = written(ctx, A, "bad.spry");
    assert_int_equal(truncate(path, 200), 0);
    refused(ctx, path, SPRY_STATUS_BAD_INPUT, "has 200 bytes");
    assert_int_equal(truncate(path, 20), 0);
    refused(ctx, path, SPRY_STATUS_BAD_INPUT, "ends within its header");
    assert_int_equal(truncate(path, 0), 0);
    refused(ctx, path, SPRY_STATUS_BAD_INPUT, "native file");
    refused(ctx, "/dev/null", SPRY_STATUS_BAD_INPUT, "plain file");
    refused(ctx, files_path("missing.spry"), SPRY_STATUS_IO, "No such file");
    spry_vector *x = numeric_random(ctx, NULL, SPRY_TYPE_D, 25, 1);
    path = files_path("dense.spry");
    assert_ok(ctx, spry_vector_write(x, path));
    refused(ctx, path, SPRY_STATUS_BAD_INPUT, "no matrix");
    spry_vector_free(x);
    B = support_from_rows(ctx, SPRY_TYPE_D, 1, 2, (const double[]){1, 2});
    refused(ctx, written(ctx, B, "flat.spry"), SPRY_STATUS_BAD_USAGE, "1 x 2");
    spry_matrix_free(B);
    const support_recipe half = {.type = SPRY_TYPE_D,
                                 .format = SPRY_FORMAT_CSR,
                                 .symmetry = SPRY_SYMMETRY_SYMMETRIC,
                                 .rows = 9,
                                 .cols = 9,
                                 .nnz = 20};
    B = support_matrix(ctx, &half);
    refused(ctx, written(ctx, B, "half.spry"), SPRY_STATUS_UNSUPPORTED, "one triangle");
    spry_matrix_free(B);
    spry_powers *p;
    path = written(ctx, A, "good.spry");
    assert_status(ctx, SPRY_STATUS_UNSUPPORTED, spry_powers_open(ctx, path, "cut=rcm", &p));
    support_message_has(ctx, "--reorder rcm");
    spry_matrix_free(A);
}

/* A file that changes while it is in use: what does not fit is reported, by where it is. */
static void files_that_change(void **state)
{
    spry_context *ctx = *state;
    spry_matrix *A = generated(ctx, "tridiagonal", "size=3000");
    spry_vector *v[K], *x = numeric_random(ctx, NULL, SPRY_TYPE_D, 3000, 7);
    stepped_make(ctx, NULL, SPRY_TYPE_D, 3000, K, v);
    const int32_t far = 2999;
    const int64_t falling = 0;
    for (int way = 0; way < 3; way++) {
        spry_powers *p;
        const char *path = written(ctx, A, "changing.spry");
        assert_ok(ctx, spry_powers_open(ctx, path, "k=6 memory=300000", &p));
        assert_ok(ctx, spry_powers_apply(p, x, v));
        if (way == 0)
            overwrite(path, section(path, 1) + 40, &far, sizeof far);
        else if (way == 1)
            overwrite(path, section(path, 0) + 8 * 2000, &falling, sizeof falling);
        else
            assert_int_equal(truncate(path, section(path, 2) + 3000), 0);
        assert_status(ctx, way < 2 ? SPRY_STATUS_BAD_INPUT : SPRY_STATUS_IO,
                      spry_powers_apply(p, x, v));
        support_message_has(ctx, way < 2 ? "must stay as it is" : "has become shorter");
        spry_powers_free(p);
    }
    stepped_free(K, v);
    spry_vector_free(x);
    spry_matrix_free(A);
}

static void stops(void **state)
{
    spry_context *ctx = *state;
    spry_matrix *A = generated(ctx, "tridiagonal", "size=3000");
    spry_vector *v[K], *x = numeric_random(ctx, NULL, SPRY_TYPE_D, 3000, 7);
    spry_powers *p;
    stepped_make(ctx, NULL, SPRY_TYPE_D, 3000, K, v);
    const char *path = written(ctx, A, "stop.spry");
    spry_context_interrupt(ctx);
    assert_status(ctx, SPRY_STATUS_INTERRUPTED, spry_powers_open(ctx, path, "k=6", &p));
    assert_ok(ctx, spry_powers_open(ctx, path, "k=6", &p));
    spry_context_interrupt(ctx);
    assert_status(ctx, SPRY_STATUS_INTERRUPTED, spry_powers_apply(p, x, v));
    assert_ok(ctx, spry_powers_apply(p, x, v));
    spry_powers_free(p);
    stepped_free(K, v);
    spry_vector_free(x);
    spry_matrix_free(A);
}

/* --- solves --------------------------------------------------------------------------------------
 */

/* cg has the same course wherever A is. */
static int64_t read_of(spry_context *ctx, const spry_powers *p)
{
    spry_powers_info info = SPRY_POWERS_INFO_INIT;
    assert_ok(ctx, spry_powers_forecast(p, &info));
    return info.read_bytes;
}

/* With a file or in memory, by a method that asks for several steps or not: the bytes that were
 * read, where x has the bits of a solve in memory. */
static int64_t solve_by(spry_context *ctx, const char *method, const char *precon)
{
    char options[128];
    spry_matrix *A = generated(ctx, "poisson2d", "nx=30 ny=20");
    spry_vector *b, *x[2];
    spry_powers *p;
    spry_operator *op;
    int64_t iterations[2];
    assert_ok(ctx, spry_vector_ones(ctx, A, &b));
    assert_ok(ctx, spry_powers_open(ctx, written(ctx, A, "solve.spry"), "memory=400000", &p));
    assert_ok(ctx, spry_powers_operator(p, &op));
    const int64_t before = read_of(ctx, p);
    snprintf(options, sizeof options, "method=%s precon=%s tol=1e-10 format=csr", method, precon);
    for (int way = 0; way < 2; way++) {
        spry_solver *solver;
        spry_result result = SPRY_RESULT_INIT;
        assert_ok(ctx, spry_vector_zeros(ctx, A, &x[way]));
        assert_ok(ctx, spry_solver_new(ctx, &solver));
        assert_ok(ctx, spry_solver_set(solver, options));
        assert_ok(ctx, way == 0 ? spry_solver_set_matrix(solver, A)
                                : spry_solver_set_operator(solver, op));
        assert_ok(ctx, spry_solve(solver, b, x[way], &result));
        assert_true(result.converged);
        iterations[way] = result.iterations;
        spry_result_clear(ctx, &result);
        spry_solver_free(solver);
    }
    assert_int_equal(iterations[0], iterations[1]);
    assert_memory_equal(x[0]->data, x[1]->data, (size_t)A->a.rows * sizeof(double));
    const int64_t read = read_of(ctx, p) - before;
    spry_operator_free(op);
    spry_powers_free(p);
    spry_vector_free(x[0]);
    spry_vector_free(x[1]);
    spry_vector_free(b);
    spry_matrix_free(A);
    return read;
}

/* What s steps need is read once, but for products at the beginning and where the residual is made
 * again; a preconditioner between the products has them made one by one. */
static void solves(void **state)
{
    static const char *const methods[] = {"s-step-cg:s=5", "ca-gmres:s=5", "s-step-bicgstab:s=3"};
    solve_by(*state, "cg", "none");
    for (size_t k = 0; k < sizeof methods / sizeof *methods; k++) {
        const int64_t together = solve_by(*state, methods[k], "none");
        assert_true(2 * together < solve_by(*state, methods[k], "jacobi"));
    }
}

typedef struct torture {
    const char *path;
    spry_vector *x, **v;
} torture;

static spry_status open_and_apply(spry_context *ctx, void *data)
{
    const torture *t = data;
    spry_powers *p = NULL;
    spry_status status = spry_powers_open(ctx, t->path, "k=6", &p);
    if (status == SPRY_STATUS_OK)
        status = spry_powers_apply(p, t->x, t->v);
    spry_powers_free(p);
    return status;
}

static void allocations(void **state)
{
    spry_context *ctx = *state;
    spry_matrix *A = generated(ctx, "poisson2d", "size=9");
    spry_vector *v[K], *x = numeric_random(ctx, NULL, SPRY_TYPE_D, 81, 7);
    stepped_make(ctx, NULL, SPRY_TYPE_D, 81, K, v);
    torture t = {written(ctx, A, "torture.spry"), x, v};
    support_torture(ctx, open_and_apply, &t);
    stepped_free(K, v);
    spry_vector_free(x);
    spry_matrix_free(A);
}

int main(void)
{
#define TEST(function) cmocka_unit_test_setup_teardown(function, support_setup, support_teardown)
    const struct CMUnitTest tests[] = {TEST(types_and_threads),
                                       TEST(patterns),
                                       TEST(memory_is_bounded),
                                       TEST(bad_files),
                                       TEST(files_that_change),
                                       TEST(stops),
                                       TEST(solves),
                                       TEST(allocations)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
