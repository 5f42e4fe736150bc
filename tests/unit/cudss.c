/*
 * Factors by cuDSS in bad weather, with a library that fails on command (tests/fakes/cudss.c) on
 * a driver whose memory is the host's. Kernels do nothing there, so that no product is asked for
 * that conjugates vectors: tests/device/cudss.c has those.
 */
#include "support/exact.h"
#include "support/opened.h"

#include <math.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static fake_engine fake = FAKE_CUDA_ENGINE;
static const char *const versions[] = {"version=700", "version=10000"};
static const char spec[] = "direct:kind=cudss";

static void weather(const char *words)
{
    set_variable("FAKE_CUDSS", words);
}

/* Enough rows for auto to think of cuDSS, and enough entries in them. */
static spry_matrix *long_matrix(spry_context *ctx)
{
    const int64_t n = 10001, near_by = 12;
    int64_t *offsets = malloc((size_t)(n + 1) * sizeof *offsets);
    int32_t *columns = malloc((size_t)((2 * near_by + 1) * n) * sizeof *columns);
    double *values = malloc((size_t)((2 * near_by + 1) * n) * sizeof *values);
    int64_t at = 0;
    for (int64_t i = 0; i < n; i++) {
        offsets[i] = at;
        for (int64_t j = i > near_by ? i - near_by : 0; j <= i + near_by && j < n; j++) {
            columns[at] = (int32_t)j;
            values[at++] = i == j ? 30 : -1;
        }
    }
    offsets[n] = at;
    return support_from_csr(ctx, SPRY_TYPE_D, n, n, offsets, columns, values);
}

/* Before all others: a process looks for the library once. */
static void test_missing(void **state)
{
    int how = 0;
    (void)state;
    const pid_t child = fork();
    if (child == 0) {
        opened s;
        spry_operator *M = NULL, *home = NULL;
        setenv("SPRY_CUDSS_LIBRARY", "", 1);
        opened_open(&s, "cuda");
        spry_matrix *A = exact_matrix(s.ctx, SPRY_TYPE_D, true, 5), *B = long_matrix(s.ctx);
        bool fine = spry_precon_new(A, s.d, spec, &M) == SPRY_STATUS_UNSUPPORTED &&
                    strstr(spry_message(s.ctx), "SPRY_CUDSS_LIBRARY");
        fine = fine && spry_precon_new(B, s.d, "direct:regular=yes", &home) == SPRY_STATUS_OK &&
               !spry_operator_device(home);
        _exit(fine ? 0 : 1);
    }
    assert_int_equal(waitpid(child, &how, 0), child);
    assert_true(WIFEXITED(how) && WEXITSTATUS(how) == 0);
}

static void test_versions(void **state)
{
    static const char *const unknown[] = {"version=600", "version=800", "version=20000"};
    static const char *const names[] = {"cuDSS 0.6", "cuDSS 0.8", "cuDSS 2.0"};
    opened s;
    (void)state;
    opened_open(&s, "cuda");
    spry_matrix *A = exact_matrix(s.ctx, SPRY_TYPE_D, true, 5);
    for (int k = 0; k < 3; k++) {
        spry_operator *M = NULL;
        weather(unknown[k]);
        assert_status(s.ctx, SPRY_STATUS_UNSUPPORTED, spry_precon_new(A, s.d, spec, &M));
        support_message_has(s.ctx, names[k]);
        support_message_has(s.ctx, "0.7 and 1 are known");
    }
    spry_matrix_free(A);
    opened_close(&s);
}

/* M on the device, and its products; those that conjugate are left out. */
static void check_all(const opened *s, const spry_matrix *A, const spry_operator *M, bool hermitian,
                      double growth, const char *what)
{
    const bool is_complex = spry_type_is_complex(A->a.type);
    assert_ptr_equal(spry_operator_device(M), s->d);
    exact_check(s->ctx, A, M, SPRY_TRANSPOSE_NO, growth, what);
    if (!is_complex || !hermitian)
        exact_check(s->ctx, A, M, SPRY_TRANSPOSE_YES, growth, what);
    if (!is_complex || hermitian)
        exact_check(s->ctx, A, M, SPRY_TRANSPOSE_CONJUGATE, growth, what);
}

static void solve_one(const opened *s, spry_type type, const char *version)
{
    /* positive definite, neither nor, indefinite; then with the values of the next one */
    for (int k = 0; k < 3; k++) {
        spry_operator *M = NULL;
        spry_matrix *A =
            k < 2 ? exact_matrix(s->ctx, type, k == 0, 12) : exact_shifted(s->ctx, type, 12, 3.3);
        weather(version);
        assert_ok(s->ctx, spry_precon_new(A, s->d, spec, &M));
        check_all(s, A, M, k != 1, k == 2 ? 1e4 : 1, version);
        if (k == 0) { /* other values: no longer definite, no longer hermitian */
            for (int64_t i = 0; i < A->a.rows; i++)
                for (int64_t e = A->a.offsets[i]; e < A->a.offsets[i + 1]; e++)
                    if (A->a.col_index[e] > i)
                        support_put(A, e, (spry_scalar){0.25, 0});
            assert_ok(s->ctx, spry_operator_update(M, A));
            check_all(s, A, M, false, 1, "updated");
        }
        spry_operator_free(M);
        spry_matrix_free(A);
    }
}

static void test_solves(void **state)
{
    opened s;
    (void)state;
    opened_open(&s, "cuda");
    for (int t = 0; t < 4; t++)
        for (int v = 0; v < 2; v++)
            solve_one(&s, support_types[t], versions[v]);
    opened_close(&s);
}

/* Values alone: the analysis stands, which may fail from then on. */
static void test_values(void **state)
{
    opened s;
    spry_operator *M = NULL;
    (void)state;
    opened_open(&s, "cuda");
    spry_matrix *A = exact_matrix(s.ctx, SPRY_TYPE_D, false, 9);
    weather("analysis=2");
    assert_ok(s.ctx, spry_precon_new(A, s.d, spec, &M));
    for (int64_t k = 0; k < A->a.nnz; k++)
        support_put(A, k, (spry_scalar){2 * value_get(SPRY_TYPE_D, A->a.values, k).re, 0});
    assert_ok(s.ctx, spry_operator_update(M, A));
    exact_check(s.ctx, A, M, SPRY_TRANSPOSE_NO, 1, "twice");
    spry_operator_free(M);
    spry_matrix_free(A);
    opened_close(&s);
}

/* Nothing of this is a result, whatever went wrong; under auto the host's factors do it. */
static void test_failures(void **state)
{
    static const struct {
        const char *words, *message;
        spry_status status;
    } cases[] = {
        {"create=1 error=1", "cuDSS's Create: not initialized (1)", SPRY_STATUS_DEVICE},
        {"analysis=1 error=6", "cuDSS's analysis: internal error (6)", SPRY_STATUS_DEVICE},
        {"analysis=1 error=2", "cuDSS's analysis: no memory (2)", SPRY_STATUS_NO_MEMORY},
        {"bytes=2000000", "2.0 GB", SPRY_STATUS_NO_MEMORY},
        {"factor=1 error=2", "cuDSS's factorization: no memory (2)", SPRY_STATUS_NO_MEMORY},
        {"factor=1", "cuDSS's factorization: execution failed (5)", SPRY_STATUS_DEVICE},
        {"solve=1 error=99", "cuDSS's solve: an error without a name (99)", SPRY_STATUS_DEVICE},
        {"refuse=0", "of no use", SPRY_STATUS_BAD_INPUT},
    };
    opened s;
    (void)state;
    opened_open(&s, "cuda");
    spry_matrix *A = exact_matrix(s.ctx, SPRY_TYPE_D, true, 5), *B = long_matrix(s.ctx);
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        spry_operator *M = NULL;
        char again[64];
        weather(cases[k].words);
        assert_status(s.ctx, cases[k].status, spry_precon_new(A, s.d, spec, &M));
        support_message_has(s.ctx, cases[k].message);
        assert_null(M);
        snprintf(again, sizeof again, "%s turn=2", cases[k].words); /* counts from 1 */
        weather(again);
        assert_ok(s.ctx, spry_precon_new(B, s.d, "direct:regular=yes", &M));
        assert_null(spry_operator_device(M));
        exact_check(s.ctx, B, M, SPRY_TRANSPOSE_NO, 1, cases[k].words);
        spry_operator_free(M);
    }
    weather(NULL);
    spry_matrix_free(A);
    spry_matrix_free(B);
    opened_close(&s);
}

/* Factors that solve nothing are not kept, and kinds that are not supported are passed over. */
static void test_ladder(void **state)
{
    static const char *const words[] = {"useless=1", "refuse=3", "refuse=1", "useless=1 refuse=1",
                                        "useless=2 refuse=3"};
    opened s;
    (void)state;
    opened_open(&s, "cuda");
    spry_matrix *A = exact_matrix(s.ctx, SPRY_TYPE_Z, true, 9);
    for (size_t k = 0; k < sizeof words / sizeof *words; k++) {
        spry_operator *M = NULL;
        weather(words[k]);
        assert_ok(s.ctx, spry_precon_new(A, s.d, spec, &M));
        check_all(&s, A, M, true, 1, words[k]);
        spry_operator_free(M);
    }
    weather(NULL);
    spry_matrix_free(A);
    opened_close(&s);
}

static void test_singular(void **state)
{
    opened s;
    (void)state;
    opened_open(&s, "cuda");
    weather(NULL);
    for (int t = 0; t < 4; t++) {
        spry_matrix *A = exact_neumann(s.ctx, support_types[t], 9);
        spry_operator *M = NULL;
        assert_status(s.ctx, SPRY_STATUS_BAD_INPUT, spry_precon_new(A, s.d, spec, &M));
        support_message_has(s.ctx, "singular");
        assert_ok(s.ctx, spry_precon_new(A, s.d, "direct:kind=cudss,regular=yes", &M));
        assert_null(spry_operator_device(M));
        spry_operator_free(M);
        spry_matrix_free(A);
    }
    opened_close(&s);
}

/* What auto takes by itself, and what kind=cudss is where there is no device. */
static void test_auto(void **state)
{
    opened s;
    spry_operator *M = NULL, *home = NULL;
    (void)state;
    opened_open(&s, "cuda");
    weather(NULL);
    spry_matrix *A = long_matrix(s.ctx), *B = exact_matrix(s.ctx, SPRY_TYPE_D, true, 20);
    assert_ok(s.ctx, spry_precon_new(A, s.d, "direct:regular=yes", &M));
    check_all(&s, A, M, true, 1, "auto");
    assert_ok(s.ctx, spry_precon_new(A, NULL, spec, &home));
    assert_null(spry_operator_device(home));
    exact_check(s.ctx, A, home, SPRY_TRANSPOSE_NO, 1, "host");
    spry_operator_free(home);
    assert_ok(s.ctx, spry_precon_new(B, s.d, "direct", &home)); /* few rows */
    assert_null(spry_operator_device(home));
    spry_operator_free(home);
    spry_operator_free(M);
    spry_matrix_free(A);
    spry_matrix_free(B);
    opened_close(&s);
}

static void test_recording(void **state)
{
    opened s;
    spry_operator *M = NULL;
    device_graph *g = NULL;
    (void)state;
    opened_open(&s, "cuda");
    weather(NULL);
    spry_matrix *A = exact_matrix(s.ctx, SPRY_TYPE_D, false, 5);
    assert_ok(s.ctx, spry_precon_new(A, s.d, spec, &M));
    spry_vector *r = numeric_random(s.ctx, s.d, SPRY_TYPE_D, A->a.rows, 5),
                *z = numeric_random(s.ctx, s.d, SPRY_TYPE_D, A->a.rows, 0);
    for (int op = 0; op < 2; op++) {
        assert_ok(s.ctx, device_record_begin(s.d));
        assert_status(s.ctx, SPRY_STATUS_UNSUPPORTED,
                      spry_operator_multiply(M, (spry_transpose)op, (spry_scalar){1, 0}, r,
                                             (spry_scalar){0, 0}, z));
        assert_ok(s.ctx, device_record_end(s.d, &g));
        device_graph_free(g);
        support_message_has(s.ctx, "recording");
    }
    spry_vector_free(r);
    spry_vector_free(z);
    spry_operator_free(M);
    spry_matrix_free(A);
    opened_close(&s);
}

/* A failure of memory or of the device anywhere is passed on, and leaves nothing behind. */
static void test_torture(void **state)
{
    opened s;
    (void)state;
    opened_open(&s, "cuda");
    weather(NULL);
    spry_matrix *A = exact_matrix(s.ctx, SPRY_TYPE_Z, false, 4);
    for (int way = 0; way < 4; way++) {
        int successes = 0;
        for (int64_t nth = 1; successes < 3 && nth < 500; nth++) {
            int64_t before, after, most;
            spry_operator *M = NULL;
            device_memory_now(s.d, &before, &most, NULL);
            if (way < 3)
                device_fail_next(s.d, (device_work)way, nth);
            else
                base_fail_allocation(s.ctx, nth, false);
            const spry_status status = spry_precon_new(A, s.d, spec, &M);
            device_fail_next(s.d, way < 3 ? (device_work)way : WORK_ALLOC, 0);
            base_fail_allocation(s.ctx, 0, false);
            assert_true((status == SPRY_STATUS_OK) == (M != NULL));
            successes += status == SPRY_STATUS_OK;
            spry_operator_free(M);
            device_memory_now(s.d, &after, &most, NULL);
            assert_int_equal(before, after);
        }
        assert_int_equal(successes, 3);
    }
    spry_matrix_free(A);
    opened_close(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FAKE_TEST(test_missing, &fake),   FAKE_TEST(test_versions, &fake),
        FAKE_TEST(test_solves, &fake),    FAKE_TEST(test_values, &fake),
        FAKE_TEST(test_failures, &fake),  FAKE_TEST(test_ladder, &fake),
        FAKE_TEST(test_singular, &fake),  FAKE_TEST(test_auto, &fake),
        FAKE_TEST(test_recording, &fake), FAKE_TEST(test_torture, &fake),
    };
    setenv("SPRY_CUDSS_LIBRARY", FAKE_CUDSS, 1);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
