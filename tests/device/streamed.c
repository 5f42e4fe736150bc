/*
 * Products that are streamed: dense blocks of the host's in chunks of columns, matrices that do not
 * fit into the device's memory in blocks of rows. The device is made as small as that takes.
 * Numbers are eighths, whose sums are exact in every order: all results must be the host's, bit by
 * bit.
 */
#include "support/devices.h"

#include "device/operator.h"
#include "matrix/matrix.h"

#include <stdlib.h>
#include <string.h>

enum { ROWS = 203, COLS = 307 };

static spry_matrix *a_matrix(spry_context *ctx, spry_type type)
{
    return support_matrix(ctx, &(support_recipe){.type = type,
                                                 .format = SPRY_CSR,
                                                 .rows = ROWS,
                                                 .cols = COLS,
                                                 .nnz = 3000,
                                                 .seed = 5,
                                                 .sorted = true});
}

/* Bytes the device may have beside what is used now; 0: no limit. */
static void leave(spry_device *d, int64_t bytes)
{
    int64_t used, most, free_bytes;
    device_memory_now(d, &used, &most, &free_bytes);
    device_limit_memory(d, bytes > 0 ? 2 * used + bytes : 0); /* blocks are up to twice as large */
}

/* --- dense blocks --------------------------------------------------------------------------------
 */

typedef struct dense_case {
    spry_transpose transpose;
    int64_t cols;
    bool b_by_rows, c_by_rows, reads;
} dense_case;

static spry_dense a_block(spry_type type, int64_t rows, int64_t cols, bool by_rows, uint64_t seed)
{
    const int64_t step = (by_rows ? cols : rows) + 3, count = (by_rows ? rows : cols) * step;
    spry_dense M = {rows, cols, step, by_rows, NULL, NULL};
    M.data = malloc((size_t)count * spry_type_size(type) + 1);
    assert_non_null(M.data);
    for (int64_t i = 0; i < count; i++)
        value_set(type, M.data, i, support_number(type, seed, (uint64_t)i));
    return M;
}

static size_t block_bytes(spry_type type, const spry_dense *M)
{
    return (size_t)((M->by_rows ? M->rows : M->cols) * M->step) * spry_type_size(type);
}

/* Three blocks: of what is multiplied, of the host's answer, and of the device's. */
typedef struct blocks {
    spry_dense B, expected, found;
    spry_scalar alpha, beta;
} blocks;

static blocks blocks_for(spry_context *ctx, const spry_operator *host, const dense_case *c)
{
    const spry_type type = host->type;
    const bool plain = c->transpose == SPRY_PLAIN;
    const int64_t n = plain ? host->cols : host->rows, m = plain ? host->rows : host->cols;
    blocks b = {.B = a_block(type, n, c->cols, c->b_by_rows, 1),
                .expected = a_block(type, m, c->cols, c->c_by_rows, 2),
                .found = a_block(type, m, c->cols, c->c_by_rows, 2),
                .alpha = {-0.5, spry_type_is_complex(type) ? 2 : 0},
                .beta = {c->reads ? 0.25 : 0, 0}};
    assert_ok(ctx,
              spry_operator_multiply_dense(host, c->transpose, b.alpha, &b.B, b.beta, &b.expected));
    return b;
}

static void blocks_free(blocks *b)
{
    free(b->B.data);
    free(b->expected.data);
    free(b->found.data);
}

/* What lies between the columns must be untouched, too. */
static void blocks_same(spry_type type, const blocks *b, const dense_case *c)
{
    if (memcmp(b->expected.data, b->found.data, block_bytes(type, &b->found)) != 0)
        fail_msg("type %s, transpose %d, %lld columns, B by %s, C by %s, beta %g: other numbers",
                 spry_type_name(type), (int)c->transpose, (long long)c->cols,
                 c->b_by_rows ? "rows" : "columns", c->c_by_rows ? "rows" : "columns", b->beta.re);
}

static void check_dense(spry_context *ctx, const spry_operator *op, const spry_operator *host,
                        const dense_case *c)
{
    blocks b = blocks_for(ctx, host, c);
    assert_ok(ctx, spry_operator_multiply_dense(op, c->transpose, b.alpha, &b.B, b.beta, &b.found));
    blocks_same(op->type, &b, c);
    blocks_free(&b);
}

static void check_shapes(spry_context *ctx, const spry_operator *op, const spry_operator *host)
{
    static const int64_t columns[] = {1, 5, 8, 21, 150};
    for (size_t k = 0; k < sizeof columns / sizeof *columns; k++)
        for (int ways = 0; ways < 4; ways++) {
            const dense_case c = {k % 2 == 0 ? SPRY_PLAIN : SPRY_CONJUGATE, columns[k],
                                  (ways & 1) != 0, (ways & 2) != 0, (k + (size_t)ways) % 2 == 0};
            check_dense(ctx, op, host, &c);
        }
}

/* With room for all, for few chunks of several panels, for one panel, and for single columns. */
static void chunks(spry_context *ctx, spry_device *d)
{
    static const spry_type types[] = {SPRY_S, SPRY_Z};
    static const int64_t rooms[] = {0, 4 << 20, 400 << 10, 64 << 10};
    for (size_t t = 0; t < sizeof types / sizeof *types; t++) {
        spry_matrix *A = a_matrix(ctx, types[t]);
        spry_operator *op = NULL, *host = NULL;
        assert_ok(ctx, spry_operator_on(d, A, "csr", &op));
        assert_ok(ctx, spry_operator_from_matrix(A, &host));
        check_shapes(ctx, op, host); /* A^H is there from here on */
        for (size_t k = 1; k < sizeof rooms / sizeof *rooms; k++) {
            leave(d, rooms[k]);
            check_shapes(ctx, op, host);
        }
        leave(d, 0);
        spry_operator_free(op);
        spry_operator_free(host);
        spry_matrix_free(A);
    }
}

/* No columns, no rows, nothing to read. */
static void empty_blocks(spry_context *ctx, spry_device *d)
{
    static const int64_t sizes[][2] = {{7, 0}, {0, 7}, {3, 5}};
    for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++)
        for (int64_t cols = 0; cols < 12; cols += 11) {
            spry_matrix *A = support_matrix(ctx, &(support_recipe){.type = SPRY_D,
                                                                   .format = SPRY_CSR,
                                                                   .rows = sizes[k][0],
                                                                   .cols = sizes[k][1],
                                                                   .seed = 1,
                                                                   .sorted = true});
            spry_operator *op = NULL, *host = NULL;
            const dense_case c = {SPRY_PLAIN, cols, true, false, true};
            assert_ok(ctx, spry_operator_on(d, A, "csr", &op));
            assert_ok(ctx, spry_operator_from_matrix(A, &host));
            check_dense(ctx, op, host, &c);
            spry_operator_free(op);
            spry_operator_free(host);
            spry_matrix_free(A);
        }
}

/* Makes the first, second, ... such call of a product fail until none is left, and goes on with the
 * same operator after each. */
static void fail_dense(spry_context *ctx, spry_device *d, const spry_operator *op,
                       const spry_operator *host, device_work work)
{
    const dense_case c = {SPRY_PLAIN, 30, true, false, true};
    blocks b = blocks_for(ctx, host, &c);
    int64_t before, used, most, free_bytes, n = 1;
    device_memory_now(d, &before, &most, &free_bytes);
    for (;; n++) {
        device_fail_next(d, work, n);
        const spry_status status =
            spry_operator_multiply_dense(op, c.transpose, b.alpha, &b.B, b.beta, &b.found);
        device_fail_next(d, work, 0);
        if (status == SPRY_OK)
            break;
        assert_int_equal(status, work == WORK_ALLOC ? SPRY_NO_MEMORY : SPRY_DEVICE);
        support_message_has(ctx, d->facts.name);
        device_memory_now(d, &used, &most, &free_bytes);
        assert_int_equal(used, before);
        check_dense(ctx, op, host, &c);
        blocks_free(&b);
        b = blocks_for(ctx, host, &c);
    }
    blocks_same(op->type, &b, &c);
    assert_true(n > 4); /* two chunks at least */
    blocks_free(&b);
}

static void failures_of_chunks(spry_context *ctx, spry_device *d)
{
    spry_matrix *A = a_matrix(ctx, SPRY_D);
    spry_operator *op = NULL, *host = NULL;
    assert_ok(ctx, spry_operator_on(d, A, "csr", &op));
    assert_ok(ctx, spry_operator_from_matrix(A, &host));
    leave(d, 400 << 10);
    fail_dense(ctx, d, op, host, WORK_ALLOC);
    fail_dense(ctx, d, op, host, WORK_COPY);
    fail_dense(ctx, d, op, host, WORK_LAUNCH);
    /* Less than a column's room: the same status as everywhere. */
    const dense_case c = {SPRY_PLAIN, 30, true, false, true};
    blocks b = blocks_for(ctx, host, &c);
    device_limit_memory(d, 1);
    assert_status(ctx, SPRY_NO_MEMORY,
                  spry_operator_multiply_dense(op, c.transpose, b.alpha, &b.B, b.beta, &b.found));
    support_message_has(ctx, "asked for");
    leave(d, 0);
    blocks_free(&b);
    check_dense(ctx, op, host, &c);
    spry_operator_free(op);
    spry_operator_free(host);
    spry_matrix_free(A);
}

/* SPRY_DEVICE_MEMORY makes a device small when it is opened. */
static void small_by_variable(spry_context *ctx, spry_device *d)
{
    spry_context *own = support_context(NULL);
    spry_device *small = NULL;
    device_memory *m = NULL;
    int64_t used, most, free_bytes;
    (void)ctx;
    setenv("SPRY_DEVICE_MEMORY", "1000000", 1);
    assert_ok(own, device_open(own, d->facts.name, &small));
    device_memory_now(small, &used, &most, &free_bytes);
    assert_int_equal(free_bytes, 1000000);
    assert_status(own, SPRY_NO_MEMORY, device_alloc(small, 1000001, &m));
    support_message_has(own, "1.0 MB asked for, 1.0 MB of 1.0 MB are free");
    assert_ok(own, device_alloc(small, 500000, &m));
    device_memory_now(small, &used, &most, &free_bytes);
    assert_int_equal(free_bytes, 1000000 - 524288); /* blocks are powers of two */
    device_free(m);
    device_memory_now(small, &used, &most, &free_bytes);
    assert_int_equal(free_bytes, 1000000); /* what the pool keeps is free */
    assert_ok(own, device_alloc(small, 200000, &m));
    device_free(m);
    spry_device_close_all(own);
    setenv("SPRY_DEVICE_MEMORY", "some", 1);
    assert_status(own, SPRY_BAD_USAGE, device_open(own, d->facts.name, &small));
    support_message_has(own, "SPRY_DEVICE_MEMORY=some");
    unsetenv("SPRY_DEVICE_MEMORY");
    support_context_free(own);
}

int main(void)
{
    static const devices_test tests[] = {
        DEVICES_TEST(chunks),
        DEVICES_TEST(empty_blocks),
        DEVICES_TEST(failures_of_chunks),
        DEVICES_TEST(small_by_variable),
    };
    return DEVICES_RUN(tests);
}
