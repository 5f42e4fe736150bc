/*
 * Runge-Kutta methods as tables, and how large their steps may be.
 * E. Hairer, G. Wanner, Solving Ordinary Differential Equations II (1996), IV.2: a step makes
 * R(z) u of u in u' = lambda u, with z = dt lambda.
 */
#include "grid/time/time.h"

#include <complex.h>
#include <float.h>

const double TIME_GROWTH = 10;

/* Crank and Nicolson's step (M - dt/2 A) u1 = (M + dt/2 A) u0 + dt (f0 + f1) / 2 is one stage with
 * a = 1/2 for a linear A: k = (u1 - u0) / dt solves (M - dt/2 A) k = A u0 + (f0 + f1) / 2. */
static const time_table tables[] = {
    {.name = "euler", .stages = 1, .b = {1}},
    {.name = "heun", .stages = 2, .a = {{0}, {1}}, .b = {0.5, 0.5}, .c = {0, 1}},
    {.name = "rk4",
     .stages = 4,
     .a = {{0}, {0.5}, {0, 0.5}, {0, 0, 1}},
     .b = {1.0 / 6, 1.0 / 3, 1.0 / 3, 1.0 / 6},
     .c = {0, 0.5, 0.5, 1}},
    {.name = "implicit-euler", .stages = 1, .a = {{1}}, .b = {1}, .c = {1}, .gamma = 1},
    {.name = "crank-nicolson",
     .stages = 1,
     .a = {{0.5}},
     .b = {1},
     .c = {0.5},
     .gamma = 0.5,
     .mean = true},
};

const time_table *time_table_at(int index)
{
    return &tables[index];
}

static spry_status check_row(spry_context *ctx, int i, const time_table *table)
{
    const double *row = table->a[i];
    for (int j = 0; j < table->stages; j++) {
        if (!isfinite(row[j]))
            return SPRY_FAIL(ctx, SPRY_STATUS_BAD_INPUT, "table: a[%d][%d] is not finite", i, j);
        if (j > i && row[j] != 0)
            return SPRY_FAIL(ctx, SPRY_STATUS_BAD_INPUT,
                             "table: a[%d][%d] is %g: stage %d would need stage %d, which comes "
                             "later; expected 0 above the diagonal",
                             i, j, row[j], i, j);
    }
    if (row[i] != 0 && row[i] != table->gamma)
        return SPRY_FAIL(ctx, SPRY_STATUS_BAD_INPUT,
                         "table: a[%d][%d] is %g and one before it %g: those of the diagonal that "
                         "are not 0 have to be the same",
                         i, i, row[i], table->gamma);
    return SPRY_STATUS_OK;
}

spry_status time_table_read(spry_context *ctx, int stages, const double *a, const double *b,
                            const double *c, time_table *table)
{
    *table = (time_table){.name = "table", .stages = stages};
    if (stages < 1 || stages > TIME_STAGES)
        return SPRY_FAIL(ctx, SPRY_STATUS_BAD_USAGE, "a table of %d stages, expected 1 to %d",
                         stages, TIME_STAGES);
    double sum = 0;
    for (int i = 0; i < stages; i++) {
        double row = 0;
        for (int j = 0; j < stages; j++) {
            table->a[i][j] = a[i * stages + j];
            row += table->a[i][j];
        }
        if (table->gamma == 0)
            table->gamma = table->a[i][i];
        table->b[i] = b[i];
        table->c[i] = c ? c[i] : row;
        sum += b[i];
        const spry_status status = check_row(ctx, i, table);
        if (status != SPRY_STATUS_OK)
            return status;
        if (!isfinite(table->c[i]))
            return SPRY_FAIL(ctx, SPRY_STATUS_BAD_INPUT, "table: c[%d] is not finite", i);
    }
    if (!(fabs(sum - 1) <= 16 * stages * DBL_EPSILON)) /* weights are given rounded */
        return SPRY_FAIL(ctx, SPRY_STATUS_BAD_INPUT, "table: the weights b sum up to %.17g, not 1",
                         sum);
    return SPRY_STATUS_OK;
}

/* |R(z)|, the factor that a step makes of u in u' = lambda u with z = dt lambda. */
static double step_factor(const time_table *table, spry_scalar at)
{
    const double complex z = at.re + at.im * I;
    double complex k[TIME_STAGES], u = 1;
    for (int i = 0; i < table->stages; i++) {
        double complex x = 1;
        for (int j = 0; j < i; j++)
            x += table->a[i][j] * k[j];
        k[i] = z * x / (1 - z * table->a[i][i]);
    }
    for (int i = 0; i < table->stages; i++)
        u += table->b[i] * k[i];
    return cabs(u);
}

double time_table_growth(const time_table *table, spry_scalar lambda, double dt, double span)
{
    const double own = lambda.re > 0 ? dt * lambda.re : 0;
    const double factor =
        log(step_factor(table, (spry_scalar){dt * lambda.re, dt * lambda.im})) - own;
    if (!isfinite(span))
        return factor <= 64 * DBL_EPSILON ? 1 : INFINITY;
    return exp(fmin(factor * span / dt, 700));
}

/* Goes up by small factors to the first step that is too large, and halves between. */
double time_table_limit(const time_table *table, spry_scalar lambda, double span)
{
    enum { TRIED = 1050 }; /* up to 1e3 / |lambda| */
    const double size = hypot(lambda.re, lambda.im), least = 1e-6;
    double at = least;
    if (!(size > 0))
        return INFINITY;
    for (int i = 0; i < TRIED; i++, at *= 1.02) {
        if (time_table_growth(table, lambda, at / size, span) < TIME_GROWTH)
            continue;
        double good = at == least ? 0 : at / 1.02, bad = at;
        for (int k = 0; k < 40 && good > 0; k++) {
            const double middle = (good + bad) / 2;
            if (time_table_growth(table, lambda, middle / size, span) < TIME_GROWTH)
                good = middle;
            else
                bad = middle;
        }
        return good / size;
    }
    return INFINITY;
}
