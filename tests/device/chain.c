/* The chain of what a solver tries, its members made to fail in turn, where attempts run on a
 * device. */
#include "support/chain.h"
#include "support/devices.h"

static void walk(spry_context *ctx, spry_device *d, chain_kind kind, spry_type type)
{
    problem p;
    char options[96];
    snprintf(options, sizeof options, "device=%s", spry_device_name(d));
    chain_problem(ctx, kind, type, &p);
    chain_walk(&p, options);
    problem_free(&p);
}

static void definite(spry_context *ctx, spry_device *d)
{
    walk(ctx, d, CHAIN_DEFINITE, SPRY_TYPE_D);
}

static void saddle_points(spry_context *ctx, spry_device *d)
{
    if (!devices_few(d))
        walk(ctx, d, CHAIN_KKT, SPRY_TYPE_C);
}

static void nothing_on_the_diagonal(spry_context *ctx, spry_device *d)
{
    if (!devices_few(d)) /* the host's test has both */
        walk(ctx, d, CHAIN_NO_DIAGONAL, SPRY_TYPE_S);
}

int main(void)
{
    const devices_test tests[] = {
        DEVICES_TEST(definite),
        DEVICES_TEST(saddle_points),
        DEVICES_TEST(nothing_on_the_diagonal),
    };
    return DEVICES_RUN(tests);
}
