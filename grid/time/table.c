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
#define ARK3_GAMMA (1767732205903.0 / 4055673282236.0)
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
    /* P. Bogacki, L. F. Shampine, A 3(2) pair of Runge-Kutta formulas, Appl. Math. Lett. 2 (1989)
     * 321-325 */
    {.name = "bs3",
     .stages = 4,
     .order = 3,
     .a = {{0}, {0.5}, {0, 0.75}, {2.0 / 9, 1.0 / 3, 4.0 / 9}},
     .b = {2.0 / 9, 1.0 / 3, 4.0 / 9},
     .lower = {7.0 / 24, 0.25, 1.0 / 3, 0.125},
     .c = {0, 0.5, 0.75, 1}},
    /* J. R. Dormand, P. J. Prince, A family of embedded Runge-Kutta formulae, J. Comput. Appl.
     * Math. 6 (1980) 19-26 */
    {.name = "dp5",
     .stages = 7,
     .order = 5,
     .a = {{0},
           {1.0 / 5},
           {3.0 / 40, 9.0 / 40},
           {44.0 / 45, -56.0 / 15, 32.0 / 9},
           {19372.0 / 6561, -25360.0 / 2187, 64448.0 / 6561, -212.0 / 729},
           {9017.0 / 3168, -355.0 / 33, 46732.0 / 5247, 49.0 / 176, -5103.0 / 18656},
           {35.0 / 384, 0, 500.0 / 1113, 125.0 / 192, -2187.0 / 6784, 11.0 / 84}},
     .b = {35.0 / 384, 0, 500.0 / 1113, 125.0 / 192, -2187.0 / 6784, 11.0 / 84},
     .lower = {5179.0 / 57600, 0, 7571.0 / 16695, 393.0 / 640, -92097.0 / 339200, 187.0 / 2100,
               1.0 / 40},
     .c = {0, 1.0 / 5, 3.0 / 10, 4.0 / 5, 8.0 / 9, 1, 1}},
    /* ARK3(2)4L[2]SA and ARK4(3)6L[2]SA of C. A. Kennedy, M. H. Carpenter, Additive Runge-Kutta
     * schemes for convection-diffusion-reaction equations, Appl. Numer. Math. 44 (2003) 139-181:
     * the implicit part is stiffly accurate and L-stable */
    {.name = "ark3",
     .stages = 4,
     .order = 3,
     .a = {{0},
           {ARK3_GAMMA, ARK3_GAMMA},
           {2746238789719.0 / 10658868560708.0, -640167445237.0 / 6845629431997.0, ARK3_GAMMA},
           {1471266399579.0 / 7840856788654.0, -4482444167858.0 / 7529755066697.0,
            11266239266428.0 / 11593286722821.0, ARK3_GAMMA}},
     .b = {1471266399579.0 / 7840856788654.0, -4482444167858.0 / 7529755066697.0,
           11266239266428.0 / 11593286722821.0, ARK3_GAMMA},
     .lower = {2756255671327.0 / 12835298489170.0, -10771552573575.0 / 22201958757719.0,
               9247589265047.0 / 10645013368117.0, 2193209047091.0 / 5459859503100.0},
     .c = {0, 2 * ARK3_GAMMA, 0.6, 1},
     .gamma = ARK3_GAMMA,
     .partner = {{0},
                 {2 * ARK3_GAMMA},
                 {5535828885825.0 / 10492691773637.0, 788022342437.0 / 10882634858940.0},
                 {6485989280629.0 / 16251701735622.0, -4246266847089.0 / 9704473918619.0,
                  10755448449292.0 / 10357097424841.0}}},
    {.name = "ark4",
     .stages = 6,
     .order = 4,
     .a = {{0},
           {0.25, 0.25},
           {8611.0 / 62500, -1743.0 / 31250, 0.25},
           {5012029.0 / 34652500, -654441.0 / 2922500, 174375.0 / 388108, 0.25},
           {15267082809.0 / 155376265600.0, -71443401.0 / 120774400, 730878875.0 / 902184768,
            2285395.0 / 8070912, 0.25},
           {82889.0 / 524892, 0, 15625.0 / 83664, 69875.0 / 102672, -2260.0 / 8211, 0.25}},
     .b = {82889.0 / 524892, 0, 15625.0 / 83664, 69875.0 / 102672, -2260.0 / 8211, 0.25},
     .lower = {4586570599.0 / 29645900160.0, 0, 178811875.0 / 945068544, 814220225.0 / 1159782912,
               -3700637.0 / 11593932, 61727.0 / 225920},
     .c = {0, 0.5, 83.0 / 250, 31.0 / 50, 17.0 / 20, 1},
     .gamma = 0.25,
     .partner = {{0},
                 {0.5},
                 {13861.0 / 62500, 6889.0 / 62500},
                 {-116923316275.0 / 2393684061468.0, -2731218467317.0 / 15368042101831.0,
                  9408046702089.0 / 11113171139209.0},
                 {-451086348788.0 / 2902428689909.0, -2682348792572.0 / 7519795681897.0,
                  12662868775082.0 / 11960479115383.0, 3355817975965.0 / 11060851509271.0},
                 {647845179188.0 / 3216320057751.0, 73281519250.0 / 8382639484533.0,
                  552539513391.0 / 3454668386233.0, 3354512671639.0 / 8306763924573.0,
                  4040.0 / 17871}}},
};

const time_table *time_table_at(int index)
{
    return &tables[index];
}

bool time_table_is_fsal(const time_table *table)
{
    const int last = table->stages - 1;
    if (table->c[0] != 0 || table->a[0][0] != 0 || table->c[last] != 1)
        return false;
    for (int j = 0; j < table->stages; j++)
        if (table->a[last][j] != table->b[j])
            return false;
    return true;
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
