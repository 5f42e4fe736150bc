/* Hub columns change no bit of a product, and are taken where they pay only. */
#include "support/devices.h"

#include "device/layout.h"
#include "device/make.h"
#include "matrix/layout.h"

#include <stdlib.h>
#include <string.h>

enum { ROWS = 3001, COLS = 160000, EACH = 24, MANY = 2500, MOST_COLUMNS = 3 };

static int compare_columns(const void *a, const void *b)
{
    const int32_t left = *(const int32_t *)a, right = *(const int32_t *)b;
    return (left > right) - (left < right);
}

/* ROWS x COLS: every fifth row is empty, others have up to EACH entries, one MANY; two of three
 * entries are in one of 700 columns that lie apart, or all are anywhere. */
static spry_matrix *make_matrix(spry_context *ctx, spry_type type, bool hubs)
{
    spry_matrix *A = NULL;
    matrix_arrays a = {.type = type,
                       .format = SPRY_FORMAT_CSR,
                       .rows = ROWS,
                       .cols = COLS,
                       .nnz = (int64_t)ROWS * EACH + MANY};
    int64_t at = 0;
    assert_ok(ctx, matrix_allocate(ctx, &a));
    a.offsets[0] = 0;
    for (int64_t row = 0; row < ROWS; row++) {
        const int64_t length = row % 5 == 2 ? 0 : row == 1600 ? MANY : row % EACH;
        int32_t *const mine = a.col_index + at;
        for (int64_t k = 0; k < length; k++) {
            const uint64_t number = base_random(7, (uint64_t)(row * MANY + k));
            mine[k] = (int32_t)(hubs && k % 3 > 0 ? 13 + number % 700 * 57 : number % COLS);
        }
        qsort(mine, (size_t)length, sizeof *mine, compare_columns);
        for (int64_t k = 0; k < length; k++)
            if (k == 0 || mine[k] != a.col_index[at - 1])
                a.col_index[at++] = mine[k];
        a.offsets[row + 1] = at;
    }
    a.nnz = at;
    for (int64_t k = 0; k < at; k++)
        value_set(type, a.values, k,
                  (spry_scalar){base_uniform(5, (uint64_t)k) - 0.5,
                                spry_type_is_complex(type) ? base_uniform(6, (uint64_t)k) : 0});
    assert_ok(ctx, matrix_wrap(ctx, &a, &A));
    return A;
}

/* y = 0.75 A x + 2 y, or conj(A)'s, of so many columns; how many launches it took. */
static int64_t multiply(device_layout *D, bool conjugate, int columns, void **y)
{
    spry_device *d = device_layout_device(D);
    const layout *L = device_layout_host(D);
    const int64_t size = (int64_t)spry_type_size(L->type);
    const int64_t from = L->cols * columns, to = L->rows * columns;
    device_memory *x_there = NULL, *y_there = NULL;
    void *x = NULL;
    assert_ok(d->ctx, base_alloc(d->ctx, from, (size_t)size, &x));
    assert_ok(d->ctx, base_alloc(d->ctx, to, (size_t)size, y));
    for (int64_t i = 0; i < from; i++)
        value_set(L->type, x, i,
                  (spry_scalar){base_uniform(3, (uint64_t)i), base_uniform(4, (uint64_t)i)});
    for (int64_t i = 0; i < to; i++)
        value_set(L->type, *y, i, (spry_scalar){base_uniform(8, (uint64_t)i), 0});
    assert_ok(d->ctx, device_alloc(d, from * size, &x_there));
    assert_ok(d->ctx, device_alloc(d, to * size, &y_there));
    assert_ok(d->ctx, device_put(x_there, 0, x, from * size));
    assert_ok(d->ctx, device_put(y_there, 0, *y, to * size));
    const device_product p = {.conjugate = conjugate,
                              .columns = columns,
                              .alpha = {0.75, 0},
                              .beta = {2, 0},
                              .x = x_there,
                              .x_stride = columns,
                              .y = y_there,
                              .y_stride = columns};
    const int64_t before = d->done[WORK_LAUNCH];
    assert_ok(d->ctx, device_layout_multiply(D, &p));
    const int64_t launches = d->done[WORK_LAUNCH] - before;
    assert_ok(d->ctx, device_get(y_there, 0, *y, to * size));
    device_free(x_there);
    device_free(y_there);
    base_free(d->ctx, x);
    return launches;
}

static device_layout *make_there(spry_device *d, const spry_matrix *A, const char *spec,
                                 int64_t hubs_from)
{
    device_matrix csr;
    device_layout *D = NULL;
    bool made = false;
    d->hubs_from = hubs_from;
    assert_ok(d->ctx, device_matrix_put(d, A, &csr));
    assert_ok(d->ctx, device_layout_make(&csr, false, spec, &made, &D));
    assert_true(made);
    device_matrix_free(&csr);
    d->hubs_from = 0;
    return D;
}

static device_layout *make_here(spry_device *d, const spry_matrix *A, const char *spec,
                                int64_t hubs_from)
{
    layout *L = NULL;
    device_layout *D = NULL;
    d->hubs_from = hubs_from;
    assert_ok(d->ctx, layout_build(A, spec, &L));
    assert_ok(d->ctx, device_layout_new(d, L, &D));
    d->hubs_from = 0;
    return D;
}

/* Bit by bit the same, with so many launches more. */
static void compare(device_layout *plain, device_layout *hubs, bool conjugate, int columns,
                    int64_t more)
{
    const layout *L = device_layout_host(plain);
    void *want = NULL, *found = NULL;
    const int64_t few = multiply(plain, conjugate, columns, &want);
    assert_int_equal(multiply(hubs, conjugate, columns, &found) - few, more);
    assert_memory_equal(want, found, (size_t)(L->rows * columns) * spry_type_size(L->type));
    base_free(L->ctx, want);
    base_free(L->ctx, found);
}

static void same_bits(spry_context *ctx, spry_device *d)
{
    static const char *const specs[] = {"merge:items=2048", "merge:items=1024"};
    for (int type = SPRY_TYPE_S; type <= SPRY_TYPE_Z; type++) {
        if (!d->facts.has_double && !type_is_single((spry_type)type))
            continue;
        spry_matrix *A = make_matrix(ctx, (spry_type)type, true);
        device_layout *plain = make_there(d, A, specs[type % 2], INT64_MAX);
        device_layout *hubs = make_there(d, A, specs[type % 2], 1);
        compare(plain, hubs, false, 1, 1);
        compare(plain, hubs, false, 1, 1); /* and again */
        compare(plain, hubs, true, 1, 1);
        compare(plain, hubs, false, MOST_COLUMNS, 0);
        device_layout_free(hubs);
        hubs = make_here(d, A, specs[type % 2], 1);
        compare(plain, hubs, false, 1, 1);
        device_layout_free(hubs);
        device_layout_free(plain);
        spry_matrix_free(A);
    }
}

/* Neither where no columns have many entries, nor where x is small, nor without entries. */
static void none(spry_context *ctx, spry_device *d)
{
    const spry_type type = d->facts.has_double ? SPRY_TYPE_D : SPRY_TYPE_S;
    const int64_t bytes = COLS * (int64_t)spry_type_size(type);
    for (int k = 0; k < 3; k++) {
        spry_matrix *A = make_matrix(ctx, type, k > 0);
        if (k == 2) {
            memset(A->a.offsets, 0, (ROWS + 1) * sizeof *A->a.offsets);
            A->a.nnz = 0;
        }
        device_layout *plain = make_there(d, A, "merge:items=2048", INT64_MAX);
        device_layout *hubs = make_there(d, A, "merge:items=2048", k == 1 ? bytes + 1 : bytes);
        compare(plain, hubs, false, 1, 0);
        device_layout_free(hubs);
        device_layout_free(plain);
        spry_matrix_free(A);
    }
}

/* What hubs need beside the layout may be missing: it is done without them then. */
static void memory(spry_context *ctx, spry_device *d)
{
    const spry_type type = d->facts.has_double ? SPRY_TYPE_D : SPRY_TYPE_S;
    spry_matrix *A = make_matrix(ctx, type, true);
    layout *L = NULL;
    device_layout *plain = make_there(d, A, "merge:items=2048", INT64_MAX);
    int refused = 0, without = 0;
    bool with = false;
    for (int64_t n = 1; !with && n < 40; n++) {
        device_layout *D = NULL;
        void *y = NULL;
        assert_ok(ctx, layout_build(A, "merge:items=2048", &L));
        d->hubs_from = 1;
        device_fail_next(d, WORK_ALLOC, n);
        const spry_status status = device_layout_new(d, L, &D);
        device_fail_next(d, WORK_ALLOC, 0);
        d->hubs_from = 0;
        if (status != SPRY_STATUS_OK) {
            assert_int_equal(status, SPRY_STATUS_NO_MEMORY);
            assert_null(D);
            refused++;
            continue;
        }
        const int64_t few = multiply(plain, false, 1, &y);
        base_free(ctx, y);
        with = multiply(D, false, 1, &y) > few;
        base_free(ctx, y);
        without += !with;
        compare(plain, D, false, 1, with);
        device_layout_free(D);
    }
    assert_true(with && refused > 0);
    assert_int_equal(without, 6); /* degrees, bins, names: count, list, x, columns */
    device_layout_free(plain);
    spry_matrix_free(A);
}

int main(void)
{
    static const devices_test tests[] = {DEVICES_TEST(same_bits), DEVICES_TEST(none),
                                         DEVICES_TEST(memory)};
    return DEVICES_RUN(tests);
}
