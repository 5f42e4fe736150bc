/* Operators over CSR that a caller has on the device: the product of the same matrix of the host's,
 * whatever the widths of indices, and what is said of arrays that are none. */
#include "support/devices.h"
#include "support/layouts.h"

#include "device/engine/engine.h"

#include <stdlib.h>
#include <string.h>

/* A caller's arrays on the device. */
typedef struct lent {
    spry_arrays arrays;
    device_memory *memory[3];
} lent;

static void *put(spry_device *d, const void *from, int64_t bytes, device_memory **m)
{
    assert_ok(d->ctx, device_alloc(d, bytes, m));
    assert_ok(d->ctx, device_put(*m, 0, from, bytes));
    return (void *)(*m)->block;
}

/* n numbers of 64 bits as `bits` say, on the device. */
static void *put_index(spry_device *d, const int64_t *from, int64_t n, int bits, device_memory **m)
{
    int32_t *narrow = calloc((size_t)n + 1, sizeof *narrow);
    assert_non_null(narrow);
    for (int64_t i = 0; i < n; i++)
        narrow[i] = (int32_t)from[i];
    void *place = put(d, bits == 32 ? (const void *)narrow : from, n * bits / 8, m);
    free(narrow);
    return place;
}

typedef struct csr {
    spry_type type;
    int64_t rows, cols, nnz, *offsets, *columns;
    const void *values;
} csr;

static lent lend(spry_device *d, const csr *a, int offset_bits, int index_bits)
{
    lent l = {.arrays = SPRY_ARRAYS_INIT};
    l.arrays.type = a->type;
    l.arrays.format = SPRY_FORMAT_CSR;
    l.arrays.rows = a->rows;
    l.arrays.cols = a->cols;
    l.arrays.nnz = a->nnz;
    l.arrays.offset_bits = offset_bits;
    l.arrays.index_bits = index_bits;
    l.arrays.offsets = put_index(d, a->offsets, a->rows + 1, offset_bits, &l.memory[0]);
    if (a->nnz > 0) {
        l.arrays.col_index = put_index(d, a->columns, a->nnz, index_bits, &l.memory[1]);
        l.arrays.values =
            put(d, a->values, a->nnz * (int64_t)spry_type_size(a->type), &l.memory[2]);
    }
    return l;
}

static void lent_free(lent *l)
{
    for (int i = 0; i < 3; i++)
        device_free(l->memory[i]);
}

static void check(spry_device *d, const csr *a, const spry_matrix *A, const char *format)
{
    spry_context *ctx = d->ctx;
    for (int bits = 0; bits < 4; bits++) {
        lent l = lend(d, a, bits & 1 ? 32 : 64, bits & 2 ? 32 : 64);
        spry_operator *op = NULL;
        assert_ok(ctx, spry_operator_from_arrays(&l.arrays, d, format, &op));
        lent_free(&l); /* the operator has its own */
        assert_ptr_equal(spry_operator_device(op), d);
        const double terms = layouts_most_terms(ctx, A);
        for (int t = SPRY_TRANSPOSE_NO; t <= SPRY_TRANSPOSE_CONJUGATE; t++)
            layouts_check_product(ctx, A, op, format, (spry_transpose)t, 1, terms);
        spry_operator_free(op);
    }
}

/* The arrays of a matrix, with indices of 64 bits. */
static csr csr_of(const spry_matrix *A)
{
    csr a = {A->a.type, A->a.rows, A->a.cols, A->a.nnz, A->a.offsets, NULL, A->a.values};
    a.columns = calloc((size_t)a.nnz + 1, sizeof *a.columns);
    assert_non_null(a.columns);
    for (int64_t k = 0; k < a.nnz; k++)
        a.columns[k] = A->a.col_index[k];
    return a;
}

static void test_products(spry_context *ctx, spry_device *d)
{
    static const struct {
        spry_type type;
        support_shape shape;
        int64_t rows, cols, nnz;
    } cases[] = {{SPRY_TYPE_D, SUPPORT_UNIFORM, 701, 300, 4000},
                 {SPRY_TYPE_Z, SUPPORT_UNIFORM, 60, 901, 3000},
                 {SPRY_TYPE_S, SUPPORT_ONE_ROW, 400, 400, 2500},
                 {SPRY_TYPE_C, SUPPORT_BANDED, 1000, 1000, 5000},
                 {SPRY_TYPE_D, SUPPORT_UNIFORM, 7, 9, 0},
                 {SPRY_TYPE_D, SUPPORT_UNIFORM, 0, 0, 0}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        spry_matrix *A = support_sorted(ctx, cases[i].type, cases[i].shape, cases[i].rows,
                                        cases[i].cols, cases[i].nnz, 5);
        csr a = csr_of(A);
        check(d, &a, A, "auto");
        check(d, &a, A, "csr");
        free(a.columns);
        spry_matrix_free(A);
    }
}

/* Rows out of order and with duplicates; the first falls where a row begins are none. */
static void test_unsorted(spry_context *ctx, spry_device *d)
{
    int64_t offsets[] = {0, 3, 3, 5, 7}, columns[] = {2, 0, 1, 1, 2, 0, 0};
    const double values[] = {1, 2, 3, 4, 5, 6, 7};
    const csr a = {SPRY_TYPE_D, 4, 3, 7, offsets, columns, values};
    spry_arrays on_host = SPRY_ARRAYS_INIT;
    spry_matrix *A = NULL;
    on_host.type = SPRY_TYPE_D;
    on_host.format = SPRY_FORMAT_CSR;
    on_host.rows = 4;
    on_host.cols = 3;
    on_host.nnz = 7;
    on_host.offsets = offsets;
    on_host.col_index = columns;
    on_host.values = (void *)values;
    on_host.index_bits = 64;
    assert_ok(ctx, spry_matrix_new(ctx, &on_host, SPRY_OWN_COPY, &A));
    assert_ok(ctx, spry_matrix_sum_duplicates(A));
    check(d, &a, A, "auto");
    spry_matrix_free(A);
}

static void refuse(spry_device *d, const csr *a, const char *said)
{
    lent l = lend(d, a, 64, 64);
    spry_operator *op = NULL;
    assert_status(d->ctx, SPRY_STATUS_BAD_INPUT,
                  spry_operator_from_arrays(&l.arrays, d, "auto", &op));
    assert_null(op);
    if (!strstr(spry_message(d->ctx), said))
        fail_msg("%s, not: %s", said, spry_message(d->ctx));
    lent_free(&l);
}

static void test_faults(spry_context *ctx, spry_device *d)
{
    const double values[] = {1, 2, 3, 4};
    int64_t falls[] = {0, 3, 1, 4}, far[] = {0, 2, 3, 5}, low[] = {0, 2, 3, 3},
            late[] = {1, 2, 3, 4};
    int64_t good[] = {0, 2, 3, 4}, columns[] = {0, 1, 1, 2}, beyond[] = {0, 3, 1, 2};
    int64_t negative[] = {-1, 0, 1, 2}, huge_one[] = {0, (int64_t)1 << 32, 1, 2};
    const csr bad[] = {{SPRY_TYPE_D, 3, 3, 4, falls, columns, values},
                       {SPRY_TYPE_D, 3, 3, 4, far, columns, values},
                       {SPRY_TYPE_D, 3, 3, 4, low, columns, values},
                       {SPRY_TYPE_D, 3, 3, 4, late, columns, values},
                       {SPRY_TYPE_D, 3, 3, 4, good, beyond, values},
                       {SPRY_TYPE_D, 3, 3, 4, good, negative, values},
                       {SPRY_TYPE_D, 3, 3, 4, good, huge_one, values}};
    spry_operator *op = NULL;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        refuse(d, &bad[i], i < 4 ? "offsets" : "column");
    const csr sound = {SPRY_TYPE_D, 3, 3, 4, good, columns, values};
    lent l = lend(d, &sound, 64, 64);
    l.arrays.nnz = 3;
    assert_status(ctx, SPRY_STATUS_BAD_INPUT, spry_operator_from_arrays(&l.arrays, d, "auto", &op));
    l.arrays.nnz = 4;
    l.arrays.values = NULL;
    assert_status(ctx, SPRY_STATUS_BAD_USAGE, spry_operator_from_arrays(&l.arrays, d, "auto", &op));
    l.arrays.format = SPRY_FORMAT_COO;
    assert_status(ctx, SPRY_STATUS_UNSUPPORTED,
                  spry_operator_from_arrays(&l.arrays, d, "csr", &op));
    l.arrays.format = SPRY_FORMAT_CSR;
    l.arrays.rows = -1;
    assert_status(ctx, SPRY_STATUS_BAD_USAGE, spry_operator_from_arrays(&l.arrays, d, "csr", &op));
    assert_null(op);
    lent_free(&l);
}

int main(void)
{
    static const devices_test tests[] = {DEVICES_TEST(test_products), DEVICES_TEST(test_unsorted),
                                         DEVICES_TEST(test_faults)};
    return DEVICES_RUN(tests);
}
