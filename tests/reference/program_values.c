/*
 * Fused plans against programs run as they read in long double: every residual and every x must be
 * within what the rounding errors of the operations allow. Programs at random, and the library's
 * methods. Where rounding decides which way a program goes the comparison ends, as it does when the
 * bound says nothing any more; most reports must be compared sharply.
 */
#include "support/bounded.h"
#include "support/courses.h"
#include "support/programs.h"
#include "support/support.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 40, REPORTS = 8 };

/* A fused run, and how far the comparison has come. */
typedef struct comparison {
    course found;
    int64_t cols;
    int at;         /* report */
    int sharp, all; /* reports whose bound says something, and all */
    char what[160];
} comparison;

/* Whether every element is within the bound; second-order terms are below the first-order ones. */
static bool near(const spry_scalar *a, const spry_scalar *b, int64_t n, double error)
{
    for (int64_t i = 0; i < n; i++)
        if (hypot(a[i].re - b[i].re, a[i].im - b[i].im) > 2 * error)
            return false;
    return true;
}

static bool compare(void *data, double value, double error, const spry_scalar *x, double x_error)
{
    comparison *c = data;
    const int k = c->at++;
    if (!isfinite(error) || !isfinite(x_error))
        return false;
    if (k >= c->found.reports)
        snprintf(c->what, sizeof c->what, "it ends at report %d", k);
    else if (fabs(c->found.value[k] - value) > 2 * error)
        snprintf(c->what, sizeof c->what, "report %d is %.17g, not %.17g within %g", k,
                 c->found.value[k], value, error);
    else if (!near(&c->found.seen[k * c->cols], x, c->cols, x_error))
        snprintf(c->what, sizeof c->what, "x differs by more than %g at report %d", x_error, k);
    c->all++;
    c->sharp += error <= 1e-3 * fabs(value) + 1e-6;
    return c->at < c->found.end_at && !c->what[0];
}

/* D^-1 of a dense picture. */
static void invert_diagonal(support_dense *M)
{
    for (int64_t i = 0; i < M->rows; i++)
        for (int64_t j = 0; j < M->cols; j++) {
            spry_scalar *a = &M->at[i * M->cols + j];
            *a = i == j ? scalar_divide((spry_scalar){1, 0}, *a) : (spry_scalar){0, 0};
        }
}

static bool runs_near(const course_system *system, const char *text, bool diagonal, comparison *c)
{
    spry_context *ctx = system->ctx;
    spry_scalar b[MOST], x[MOST], end[MOST];
    spry_scalar *seen = calloc((COURSE_LONGEST + 1) * MOST, sizeof *seen);
    support_dense A = support_dense_of(system->matrix), M = support_dense_of(system->square);
    const double unit =
        system->type == SPRY_TYPE_S || system->type == SPRY_TYPE_C ? FLT_EPSILON : DBL_EPSILON;
    double end_error;
    if (diagonal)
        invert_diagonal(&M);
    assert_non_null(seen);
    c->found = (course){.end_at = REPORTS, .look = ~0u, .seed = 1, .seen = seen};
    c->cols = system->cols;
    c->at = 0;
    c->what[0] = '\0';
    course_vectors(system, 1, b, x);
    course_of_plan(system, text, true, 1, &c->found);
    const bounded_operator dense[2] = {{A.rows, A.cols, A.at, 0},
                                       {M.rows, M.cols, M.at, diagonal ? 4 * unit : 0}};
    const bounded_input input = {.type = system->type,
                                 .A = &dense[0],
                                 .M = system->M ? &dense[1] : NULL,
                                 .b = b,
                                 .x = x,
                                 .report = compare,
                                 .data = c};
    const spry_status status = bounded_run(ctx, text, &input, end, &end_error);
    if (status != SPRY_STATUS_UNSUPPORTED && !c->what[0] && status != c->found.status)
        snprintf(c->what, sizeof c->what, "status %d, not %d: %s", c->found.status, status,
                 spry_message(ctx));
    const bool whole = status == SPRY_STATUS_OK && c->at == c->found.reports && isfinite(end_error);
    if (whole && !c->what[0] && !near(&seen[c->found.reports * c->cols], end, c->cols, end_error))
        snprintf(c->what, sizeof c->what, "the last x differs by more than %g", end_error);
    support_dense_free(&A);
    support_dense_free(&M);
    free(seen);
    return !c->what[0];
}

static void programs_by_chance(void **state)
{
    static char text[PROGRAMS_SIZE];
    static const int64_t sizes[] = {1, 3, 8, 20};
    static const course_operator inner[] = {COURSE_NONE, COURSE_ROWS, COURSE_DIAGONAL};
    const char *count = getenv("SPRY_TEST_COUNT"), *first = getenv("SPRY_TEST_SEED");
    const uint64_t begin = first ? strtoull(first, NULL, 10) : 1;
    const uint64_t end = begin + (count ? strtoull(count, NULL, 10) : 150);
    comparison c = {.all = 0};
    for (uint64_t seed = begin; seed < end; seed++) {
        const int64_t n = sizes[seed % 4], rows = seed % 5 == 0 ? n + n / 2 : n;
        const course_operator M = inner[seed % 3];
        course_system system;
        programs_write(seed, rows == n, text);
        course_open(*state, support_types[seed % 7 % 4], rows, n, COURSE_ROWS, M, seed, &system);
        if (!runs_near(&system, text, M == COURSE_DIAGONAL, &c))
            fail_msg("seed %llu: %s\n%s", (unsigned long long)seed, c.what, text);
        course_close(&system);
    }
    print_message("%d of %d reports compared sharply\n", c.sharp, c.all);
    assert_true(2 * c.sharp > c.all);
}

static void methods(void **state)
{
    comparison c = {.all = 0};
    spry_entry info = SPRY_ENTRY_INIT;
    for (int k = 0; spry_list_at(SPRY_LIST_METHODS, k, &info); k++)
        for (int t = 0; t < 4 && !strstr(info.text, "\nblock\n") && !strstr(info.text, "eig(");
             t++) {
            /* block.c and deflation.c have those */
            const course_operator M = t % 2 == 0 ? COURSE_DIAGONAL : COURSE_NONE;
            course_system system;
            course_open(*state, support_types[t], 30, 30, COURSE_ROWS, M, 3, &system);
            if (!runs_near(&system, info.text, M == COURSE_DIAGONAL, &c))
                fail_msg("%s, type %d: %s", info.name, t, c.what);
            course_close(&system);
        }
    print_message("%d of %d reports compared sharply\n", c.sharp, c.all);
    assert_true(2 * c.sharp > c.all);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(programs_by_chance, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(methods, support_setup, support_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
