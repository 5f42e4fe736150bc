/* Objects on a device are freed in any order, the context before them as well: it, and the device,
 * go with the last. */
#include "support/devices.h"

#include <stdlib.h>

static void *allocate(void *data, size_t bytes, size_t alignment)
{
    ++*(int *)data;
    return aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment);
}

static void release(void *data, void *memory, size_t bytes)
{
    (void)bytes;
    --*(int *)data;
    free(memory);
}

enum { OBJECTS = 6 };

typedef struct kept {
    spry_context *ctx;
    spry_matrix *A;
    spry_operator *op, *M;
    spry_vector *x;
    spry_solver *solver;
} kept;

static kept make(int *blocks, const char *name)
{
    const spry_allocator allocator = {
        .size = sizeof allocator, .allocate = allocate, .release = release, .data = blocks};
    spry_device *d = NULL;
    spry_vector *b = NULL;
    char options[64];
    kept k = {0};
    assert_int_equal(spry_context_new_with(&allocator, "threads=1", &k.ctx), SPRY_STATUS_OK);
    assert_ok(k.ctx, spry_device_open(k.ctx, name, &d));
    assert_ok(k.ctx, spry_generate(k.ctx, "poisson2d", "size=9", &k.A));
    assert_ok(k.ctx, spry_operator_on(d, k.A, "sell", &k.op));
    assert_ok(k.ctx, spry_precon_new(k.A, d, "poly", &k.M));
    assert_ok(k.ctx, spry_vector_on(d, SPRY_TYPE_D, 81, NULL, &k.x));
    assert_ok(k.ctx, spry_vector_like(k.x, 81, &b));
    assert_ok(k.ctx, spry_vector_fill(b, (spry_scalar){1, 0}));
    assert_ok(k.ctx, spry_solver_new(k.ctx, &k.solver));
    snprintf(options, sizeof options, "method=cg precon=jacobi device=%s", name);
    assert_ok(k.ctx, spry_solver_set(k.solver, options));
    assert_ok(k.ctx, spry_solver_set_matrix(k.solver, k.A));
    assert_ok(k.ctx, spry_solve(k.solver, b, k.x, NULL));
    spry_vector_free(b);
    return k;
}

static void drop(kept *k, int which)
{
    switch (which) {
    case 0:
        spry_context_free(k->ctx);
        break;
    case 1:
        spry_solver_free(k->solver);
        break;
    case 2:
        spry_operator_free(k->M);
        break;
    case 3:
        spry_operator_free(k->op);
        break;
    case 4:
        spry_vector_free(k->x);
        break;
    default:
        spry_matrix_free(k->A);
    }
}

/* The context first, last and in each place between. */
static void any_order(spry_context *ctx, spry_device *d)
{
    (void)ctx;
    for (int first = 0; first < OBJECTS; first++) {
        int blocks = 0;
        kept k = make(&blocks, spry_device_name(d));
        for (int i = 0; i < OBJECTS; i++)
            drop(&k, (first + i * (first % 2 ? OBJECTS - 1 : 1)) % OBJECTS);
        assert_int_equal(blocks, 0);
    }
}

/* A device that something lives on stays open when all are closed. */
static void closing(spry_context *ctx, spry_device *d)
{
    (void)ctx;
    int blocks = 0;
    double norm = 0;
    kept k = make(&blocks, spry_device_name(d));
    spry_device_close_all(k.ctx);
    spry_device_close_all(k.ctx);
    assert_ok(k.ctx, spry_vector_norm(k.x, &norm));
    assert_true(norm > 0);
    for (int i = OBJECTS - 1; i >= 0; i--) {
        if (i == 0)
            spry_device_close_all(k.ctx); /* now it is closed */
        drop(&k, i);
    }
    assert_int_equal(blocks, 0);
}

int main(void)
{
    static const devices_test tests[] = {DEVICES_TEST(any_order), DEVICES_TEST(closing)};
    return DEVICES_RUN(tests);
}
