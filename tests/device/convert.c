/* Conversions in a device's memory give bit by bit what the host builds. */
#include "support/devices.h"

#include "device/convert.h"
#include "device/engine.h"
#include "matrix/formats/sell.h"
#include "matrix/layout.h"

#include <stdio.h>
#include <string.h>

static void check_array(spry_device *d, const layout_array *want, const device_memory *found)
{
    const int64_t bytes = want->count * (int64_t)want->size;
    void *copy = NULL;
    assert_non_null(found);
    assert_true(found->bytes >= bytes);
    if (bytes == 0)
        return;
    assert_ok(d->ctx, base_alloc(d->ctx, bytes, 1, &copy));
    assert_ok(d->ctx, device_get(found, 0, copy, bytes));
    if (!want->data || memcmp(copy, want->data, (size_t)bytes) != 0)
        fail_msg("array %s is not the host's", want->name);
    base_free(d->ctx, copy);
}

static void check_sell(spry_device *d, const spry_matrix *A, int C)
{
    char spec[32];
    layout *L = NULL;
    device_sell s;
    device_matrix csr;
    snprintf(spec, sizeof spec, "sell:C=%d", C);
    assert_ok(d->ctx, layout_build(A, spec, &L));
    assert_ok(d->ctx, device_matrix_put(d, A, &csr));
    assert_ok(d->ctx, device_csr_to_sell(d, &csr, C, &s));
    assert_int_equal(s.slices, L->number[SELL_SLICES]);
    assert_int_equal(s.stored, L->stored);
    assert_int_equal(s.any_mixed, L->array[SELL_MIXED].data != NULL);
    check_array(d, &L->array[SELL_VALUES], s.values);
    check_array(d, &L->array[SELL_COLUMNS], s.columns);
    check_array(d, &L->array[SELL_OFFSETS], s.offsets);
    check_array(d, &L->array[SELL_LENGTHS], s.lengths);
    if (s.any_mixed)
        check_array(d, &L->array[SELL_MIXED], s.mixed);
    device_sell_free(&s);
    layout_free(L);
    device_matrix_free(&csr);
}

static spry_matrix *sorted(spry_context *ctx, spry_type type, support_shape shape, int64_t rows,
                           int64_t nnz)
{
    const int64_t cols = rows > 0 ? rows : 3;
    return support_sorted(ctx, type, shape, rows, cols, nnz, 5);
}

/* Rows of all lengths, some empty, slices that are not full; more slices than one group sums up. */
static void sell(spry_context *ctx, spry_device *d)
{
    static const struct {
        spry_type type;
        support_shape shape;
        int64_t rows, nnz;
        int C;
    } cases[] = {{SPRY_TYPE_D, SUPPORT_UNIFORM, 301, 900, 32},
                 {SPRY_TYPE_D, SUPPORT_UNIFORM, 90001, 270000, 32},
                 {SPRY_TYPE_D, SUPPORT_ONE_ROW, 301, 250, 32},
                 {SPRY_TYPE_D, SUPPORT_UNIFORM, 0, 0, 32},
                 {SPRY_TYPE_D, SUPPORT_UNIFORM, 40, 0, 32},
                 {SPRY_TYPE_S, SUPPORT_UNIFORM, 30000, 20000, 8},
                 {SPRY_TYPE_Z, SUPPORT_UNIFORM, 1000, 9000, 32},
                 {SPRY_TYPE_C, SUPPORT_UNIFORM, 33, 100, 16}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        spry_matrix *A = sorted(ctx, cases[i].type, cases[i].shape, cases[i].rows, cases[i].nnz);
        check_sell(d, A, cases[i].C);
        spry_matrix_free(A);
    }
}

int main(void)
{
    static const devices_test tests[] = {DEVICES_TEST(sell)};
    return DEVICES_RUN(tests);
}
