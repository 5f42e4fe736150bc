/* Objects on a device are freed in any order, the context before them as well: it, and the device,
 * go with the last. */
#include "support/devices.h"
#include "support/kept.h"

static kept make(support_counts *counts, const char *name)
{
    spry_device *d = NULL;
    char options[64];
    kept k = kept_begin(counts, "threads=1");
    assert_ok(k.ctx, spry_device_open(k.ctx, name, &d));
    assert_ok(k.ctx, spry_operator_from_matrix(k.A, d, "sell", &k.op));
    assert_ok(k.ctx, spry_precon_new(k.A, d, "poly", &k.M));
    assert_ok(k.ctx, spry_vector_on(d, SPRY_TYPE_D, 81, NULL, &k.x));
    assert_ok(k.ctx, spry_vector_like(k.x, 81, &k.b));
    assert_ok(k.ctx, spry_vector_fill(k.b, (spry_scalar){1, 0}));
    snprintf(options, sizeof options, "method=cg precon=jacobi device=%s", name);
    assert_ok(k.ctx, spry_solver_set(k.solver, options));
    assert_ok(k.ctx, spry_solve(k.solver, k.b, k.x, NULL));
    return k;
}

/* The context first, last and in each place between. */
static void any_order(spry_context *ctx, spry_device *d)
{
    (void)ctx;
    for (int first = 0; first < KEPT_COUNT; first++) {
        support_counts counts = {0};
        kept k = make(&counts, spry_device_name(d));
        for (int i = 0; i < KEPT_COUNT; i++)
            kept_drop(&k, (first + i * (first % 2 ? KEPT_COUNT - 1 : 1)) % KEPT_COUNT);
        assert_int_equal(counts.blocks, 0);
    }
}

/* A device that something lives on stays open when all are closed. */
static void closing(spry_context *ctx, spry_device *d)
{
    (void)ctx;
    support_counts counts = {0};
    double norm = 0;
    kept k = make(&counts, spry_device_name(d));
    spry_device_close_all(k.ctx);
    spry_device_close_all(k.ctx);
    assert_ok(k.ctx, spry_vector_norm(k.x, &norm));
    assert_true(norm > 0);
    for (int i = KEPT_COUNT - 1; i >= 0; i--) {
        if (i == 0)
            spry_device_close_all(k.ctx); /* now it is closed */
        kept_drop(&k, i);
    }
    assert_int_equal(counts.blocks, 0);
}

int main(void)
{
    static const devices_test tests[] = {DEVICES_TEST(any_order), DEVICES_TEST(closing)};
    return DEVICES_RUN(tests);
}
