/* The doctor tries the commands that it gives, and ends where it is asked to. */
#include "matrix/matrix.h"
#include "support/diagnosed.h"
#include "support/generated.h"
#include "support/support.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A grid with a shift between its eigenvalues. */
static spry_matrix *shifted(spry_context *ctx)
{
    spry_matrix *A = generated_as(ctx, SPRY_TYPE_D, "poisson2d", "size=12");
    for (int64_t i = 0; i < A->a.rows; i++)
        for (int64_t k = A->a.offsets[i]; k < A->a.offsets[i + 1]; k++)
            if (A->a.col_index[k] == i)
                ((double *)A->a.values)[k] -= 1.5;
    return A;
}

/* What a solve with cg came to, after a long time. */
static spry_result failed_solve(const spry_matrix *A)
{
    spry_result result = SPRY_RESULT_INIT;
    snprintf(result.method, sizeof result.method, "cg");
    snprintf(result.precon, sizeof result.precon, "none");
    result.reason = SPRY_REASON_BREAKDOWN;
    result.true_residual = 0.5;
    result.tolerance = 1e-8;
    result.rows = A->a.rows;
    result.solve_seconds = 1000; /* as if */
    return result;
}

/* Commands that cost less than the solve did are tried: they have a figure, or are taken back. */
static void tries_what_it_advises(void **state)
{
    spry_context *ctx = *state;
    spry_matrix *A = shifted(ctx);
    spry_vector *b = NULL;
    spry_result result = failed_solve(A);
    assert_ok(ctx, spry_vector_new(ctx, SPRY_TYPE_D, A->a.rows, NULL, SPRY_OWN_COPY, &b));
    assert_ok(ctx, spry_vector_fill(b, (spry_scalar){1, 0}));
    for (int k = 0; k < 3; k++) {
        result.solve_seconds = k == 0 ? 0 : 1000; /* as if */
        result.tolerance = k < 2 ? 1e-8 : 1e-30;  /* which nothing reaches */
        result.true_residual = k < 2 ? 0.5 : 1e-17;
        spry_diagnosis d = diagnosed(ctx, A, b, "seconds=1000", &result);
        const spry_finding *f = diagnosed_must(&d, "unsuited", SPRY_SEVERITY_WARNING);
        const bool taken_back = !*f->next && strstr(f->text, "--method minres was tried");
        bool known = false;
        for (int i = 0; i < f->figure_count; i++)
            known = known || strcmp(f->figures[i].name, "next_residual") == 0;
        assert_int_equal(known, k == 1);
        assert_int_equal(taken_back, k == 2);
        assert_int_equal(*f->next != '\0', k < 2);
        assert_true(!known || diagnosed_figure(f, "next_residual") <= 1e-8);
        spry_diagnosis_clear(ctx, &d);
    }
    spry_vector_free(b);
    spry_matrix_free(A);
}

/* An allocator that asks its context to stop at the allocation of a number. */
typedef struct stopper {
    spry_context *ctx;
    int64_t left;
} stopper;

static void *stop_allocate(void *data, size_t bytes, size_t alignment)
{
    stopper *s = data;
    if (s->ctx && s->left-- == 1)
        spry_context_interrupt(s->ctx);
    return aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment);
}

static void stop_release(void *data, void *memory, size_t bytes)
{
    (void)data;
    (void)bytes;
    free(memory);
}

/* Asks for a stop at every `step`-th allocation of a call, until it comes to its end; how many were
 * ended. What ends by a request has taken it: what is written next is not for it. */
static int stop_everywhere(stopper *s, const spry_matrix *A, const spry_vector *b,
                           const spry_result *result, int64_t step)
{
    spry_context *ctx = A->ctx;
    spry_status status = SPRY_STATUS_INTERRUPTED;
    int ended = 0;
    s->left = 0;
    for (int64_t at = 1; s->left <= 0; at += step) {
        spry_diagnosis d = SPRY_DIAGNOSIS_INIT;
        *s = (stopper){ctx, at};
        status = spry_diagnose(A, b, "seconds=1000", result, &d);
        s->ctx = NULL;
        spry_diagnosis_clear(ctx, &d);
        const bool left = spry_context_interrupted(ctx, true);
        if (status != SPRY_STATUS_OK) {
            assert_int_equal(status, SPRY_STATUS_INTERRUPTED);
            ended++;
        }
        if (left != (status == SPRY_STATUS_OK && s->left <= 0))
            fail_msg("at allocation %d the request was %s", (int)at, left ? "left" : "lost");
    }
    assert_int_equal(status, SPRY_STATUS_OK);
    return ended;
}

static void takes_the_request_that_ends_it(void **state)
{
    stopper s = {0};
    const spry_allocator allocator = {sizeof allocator, stop_allocate, stop_release, &s};
    spry_context *ctx = NULL;
    spry_vector *b = NULL;
    (void)state;
    assert_int_equal(spry_context_new_with(&allocator, "threads=1", &ctx), SPRY_STATUS_OK);
    spry_matrix *A = diagnosed_grid(ctx, SPRY_TYPE_D), *B = shifted(ctx);
    assert_true(stop_everywhere(&s, A, NULL, NULL, 1) > 10);
    const spry_result result = failed_solve(B);
    assert_ok(ctx, spry_vector_new(ctx, SPRY_TYPE_D, B->a.rows, NULL, SPRY_OWN_COPY, &b));
    assert_ok(ctx, spry_vector_fill(b, (spry_scalar){1, 0}));
    assert_true(stop_everywhere(&s, B, b, &result, 5) > 10); /* in what is tried, too */
    spry_vector_free(b);
    spry_matrix_free(A);
    spry_matrix_free(B);
    spry_context_free(ctx);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, support_setup, support_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(tries_what_it_advises),
        TEST(takes_the_request_that_ends_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
