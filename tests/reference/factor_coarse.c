/*
 * What factors are estimated to take before any ordering, against what the analysis finds; and
 * where the analysis gives up.
 */
#include "support/support.h"

#include "choose/precons.h"
#include "direct/forecast.h"
#include "direct/frontal.h"

#include <stdlib.h>

static spry_matrix *make(spry_context *ctx, const char *kind, const char *options)
{
    spry_matrix *A = NULL;
    assert_ok(ctx, spry_generate(ctx, kind, options, &A));
    return A;
}

static double estimate(const spry_matrix *A, bool symmetric)
{
    double seconds = -1;
    assert_ok(A->ctx, direct_estimate(A, symmetric, &seconds));
    return seconds;
}

static double analysed(const spry_matrix *A, frontal_kind kind)
{
    frontal *f = NULL;
    assert_ok(A->ctx, frontal_analyse(A, kind, 0, &f));
    const frontal_forecast *c = frontal_forecast_of(f);
    const double seconds = direct_seconds(c->flops, (double)c->entries, (double)c->fronts);
    frontal_free(f);
    return seconds;
}

/* Levels of grids are about as large as the separators of nested dissection: within the scatter
 * that direct_estimate() has for grids of nearest neighbours. */
static void grids_are_as_they_are_analysed(void **state)
{
    static const struct {
        const char *kind, *options;
        frontal_kind factors;
    } grids[] = {{"poisson2d", "size=60", FRONTAL_DEFINITE},
                 {"poisson2d", "nx=400 ny=12", FRONTAL_DEFINITE},
                 {"poisson3d", "size=16", FRONTAL_DEFINITE},
                 {"convection-diffusion", "size=60", FRONTAL_GENERAL},
                 {"convection-diffusion", "size=16 nz=16", FRONTAL_GENERAL},
                 {"helmholtz", "size=14", FRONTAL_SYMMETRIC}};
    for (size_t k = 0; k < sizeof grids / sizeof *grids; k++) {
        spry_matrix *A = make(*state, grids[k].kind, grids[k].options);
        const double found = analysed(A, grids[k].factors);
        const double coarse = estimate(A, grids[k].factors != FRONTAL_GENERAL);
        if (!(coarse > 0.5 * found && coarse < 2 * found))
            fail_msg("%s %s: %g, analysed %g", grids[k].kind, grids[k].options, coarse, found);
        spry_matrix_free(A);
    }
}

/* Rows of trees, and a row that all others have an entry with, leave nothing to separate. */
static void trees_and_long_rows_cost_nothing(void **state)
{
    spry_matrix *A = make(*state, "tridiagonal", "size=7000");
    spry_matrix *B = make(*state, "arrowhead", "size=7000");
    const double fronts = direct_seconds(0, 0, 1000);
    assert_true(estimate(A, true) == fronts);
    assert_true(estimate(B, true) == fronts);
    spry_matrix_free(A);
    spry_matrix_free(B);
}

/* Of a random matrix no level separates anything: its factors are dense ones, twice as many
 * operations where they are not symmetric. */
static void what_has_no_separator_is_dense(void **state)
{
    spry_matrix *A = make(*state, "random", "size=3000 per-row=20");
    const double n = 3000, dense = direct_seconds(2 * n * n * n / 3, 0, 0);
    const double found = estimate(A, false);
    assert_true(found > dense && found < 2 * dense);
    spry_matrix_free(A);
}

/* A quick ordering is enough to see that a cube is not factored within a microsecond. */
static void hopeless_factors_are_not_ordered_twice(void **state)
{
    spry_context *ctx = *state;
    spry_matrix *A = make(ctx, "poisson3d", "size=30");
    frontal *f = NULL;
    assert_int_equal(frontal_analyse(A, FRONTAL_DEFINITE, 1e-6, &f), SPRY_STATUS_UNSUPPORTED);
    assert_null(f);
    assert_non_null(strstr(spry_message(ctx), "factors are forecast to take more than"));
    assert_ok(ctx, frontal_analyse(A, FRONTAL_DEFINITE, 1e3, &f));
    frontal_free(f);
    spry_matrix_free(A);
}

static int place_of(const precon_choice *choice, const char *text)
{
    for (int k = 0; k < choice->count; k++)
        if (strncmp(choice->list[k].spec, text, strlen(text)) == 0)
            return k;
    return choice->count;
}

/* Waves in a cube have factors after incomplete ones, those in a plate before: the same numbers,
 * other separators. */
static void the_choice_follows_the_estimate(void **state)
{
    spry_context *ctx = *state;
    spry_matrix *cube = make(ctx, "helmholtz", "size=48"),
                *bar = make(ctx, "helmholtz", "nx=400 ny=6 nz=6");
    precon_choice choice;
    assert_ok(ctx, precon_choose(ctx, cube, 1, false, &choice));
    assert_int_equal(place_of(&choice, "ilu"), 0);
    assert_true(place_of(&choice, "direct:most=") > 0);
    assert_ok(ctx, precon_choose(ctx, bar, 1, false, &choice));
    assert_int_equal(place_of(&choice, "direct:most="), 0);
    spry_matrix_free(cube);
    spry_matrix_free(bar);
}

#define UNIT(test) cmocka_unit_test_setup_teardown(test, support_setup, support_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        UNIT(grids_are_as_they_are_analysed),  UNIT(trees_and_long_rows_cost_nothing),
        UNIT(what_has_no_separator_is_dense),  UNIT(hopeless_factors_are_not_ordered_twice),
        UNIT(the_choice_follows_the_estimate),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
