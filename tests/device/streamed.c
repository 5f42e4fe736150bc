/*
 * Products that are streamed: dense blocks of the host's in chunks of columns, matrices that do not
 * fit into the device's memory in blocks of rows. The device is made as small as that takes.
 * Numbers are eighths, whose sums are exact in every order: all results must be the host's, bit by
 * bit.
 */
#include "support/devices.h"

#include "device/linalg/operator.h"
#include "host/powers.h"
#include "operator/operator.h"

#include <stdlib.h>
#include <string.h>

enum { ROWS = 203, COLS = 307 };

static spry_matrix *a_matrix(spry_context *ctx, spry_type type)
{
    return support_sorted(ctx, type, SUPPORT_UNIFORM, ROWS, COLS, 3000, 5);
}

/* Bytes the device may have besides what is used now; 0: no limit. */
static void leave(spry_device *d, int64_t bytes)
{
    int64_t used, most, free_bytes;
    device_memory_now(d, &used, &most, &free_bytes);
    device_limit_memory(d, bytes > 0 ? 2 * used + bytes : 0); /* blocks are up to twice as large */
}

static int64_t used_on(spry_device *d)
{
    int64_t used, most, free_bytes;
    device_memory_now(d, &used, &most, &free_bytes);
    return used;
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
    spry_dense M = {0, rows, cols, step, by_rows, NULL, NULL};
    M.data = malloc((size_t)count * spry_type_size(type) + 1);
    assert_non_null(M.data);
    for (int64_t i = 0; i < count; i++)
        value_set(type, M.data, i, support_number(type, seed, (uint64_t)i));
    return M;
}

static size_t block_bytes(spry_type type, const spry_dense *M)
{
    return (size_t)((M->by_rows ? M->rows : M->cols) * M->ld) * spry_type_size(type);
}

/* Three blocks: of what is multiplied, of the host's answer, and of the device's. */
typedef struct blocks {
    spry_dense B, expected, found;
    spry_scalar alpha, beta;
} blocks;

static blocks blocks_for(spry_context *ctx, const spry_operator *host, const dense_case *c)
{
    const spry_type type = host->type;
    const bool plain = c->transpose == SPRY_TRANSPOSE_NO;
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
            const dense_case c = {k % 2 == 0 ? SPRY_TRANSPOSE_NO : SPRY_TRANSPOSE_CONJUGATE,
                                  columns[k], (ways & 1) != 0, (ways & 2) != 0,
                                  (k + (size_t)ways) % 2 == 0};
            check_dense(ctx, op, host, &c);
        }
}

/* With room for all, for few chunks of several panels, for one panel, and for single columns. */
static void chunks(spry_context *ctx, spry_device *d)
{
    static const spry_type types[] = {SPRY_TYPE_S, SPRY_TYPE_Z};
    static const int64_t rooms[] = {0, 4 << 20, 400 << 10, 64 << 10};
    for (size_t t = 0; t < sizeof types / sizeof *types; t++) {
        spry_matrix *A = a_matrix(ctx, types[t]);
        spry_operator *op = NULL, *host = NULL;
        assert_ok(ctx, spry_operator_from_matrix(A, d, "csr", &op));
        assert_ok(ctx, spry_operator_from_matrix(A, NULL, NULL, &host));
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
            spry_matrix *A =
                support_sorted(ctx, SPRY_TYPE_D, SUPPORT_UNIFORM, sizes[k][0], sizes[k][1], 0, 1);
            spry_operator *op = NULL, *host = NULL;
            const dense_case c = {SPRY_TRANSPOSE_NO, cols, true, false, true};
            assert_ok(ctx, spry_operator_from_matrix(A, d, "csr", &op));
            assert_ok(ctx, spry_operator_from_matrix(A, NULL, NULL, &host));
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
    const dense_case c = {SPRY_TRANSPOSE_NO, 30, true, false, true};
    blocks b = blocks_for(ctx, host, &c);
    int64_t before, used, most, free_bytes, n = 1;
    device_memory_now(d, &before, &most, &free_bytes);
    for (;; n++) {
        device_fail_next(d, work, n);
        const spry_status status =
            spry_operator_multiply_dense(op, c.transpose, b.alpha, &b.B, b.beta, &b.found);
        device_fail_next(d, work, 0);
        if (status == SPRY_STATUS_OK)
            break;
        assert_int_equal(status, work == WORK_ALLOC ? SPRY_STATUS_NO_MEMORY : SPRY_STATUS_DEVICE);
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
    spry_matrix *A = a_matrix(ctx, SPRY_TYPE_D);
    spry_operator *op = NULL, *host = NULL;
    assert_ok(ctx, spry_operator_from_matrix(A, d, "csr", &op));
    assert_ok(ctx, spry_operator_from_matrix(A, NULL, NULL, &host));
    leave(d, 400 << 10);
    fail_dense(ctx, d, op, host, WORK_ALLOC);
    fail_dense(ctx, d, op, host, WORK_COPY);
    fail_dense(ctx, d, op, host, WORK_LAUNCH);
    /* Less than a column's room: the same status as everywhere. */
    const dense_case c = {SPRY_TRANSPOSE_NO, 30, true, false, true};
    blocks b = blocks_for(ctx, host, &c);
    device_limit_memory(d, 1);
    assert_status(ctx, SPRY_STATUS_NO_MEMORY,
                  spry_operator_multiply_dense(op, c.transpose, b.alpha, &b.B, b.beta, &b.found));
    support_message_has(ctx, "asked for");
    leave(d, 0);
    blocks_free(&b);
    check_dense(ctx, op, host, &c);
    spry_operator_free(op);
    spry_operator_free(host);
    spry_matrix_free(A);
}

/* --- matrices ------------------------------------------------------------------------------------
 */

/* Warnings that were logged, and the last of them. */
typedef struct heard {
    int count;
    char text[512];
} heard;

static void hear(void *data, spry_log_level level, const char *text)
{
    heard *t = data;
    if (level != SPRY_LOG_WARNING)
        return;
    t->count++;
    snprintf(t->text, sizeof t->text, "%s", text);
}

/* All products of an operator of a matrix that does not fit. */
static void check_products(spry_context *ctx, spry_device *d, const spry_operator *op,
                           const spry_operator *host, const char *what)
{
    const spry_type type = op->type;
    for (int t = SPRY_TRANSPOSE_NO; t <= SPRY_TRANSPOSE_CONJUGATE; t++) {
        const int64_t n = t == SPRY_TRANSPOSE_NO ? op->cols : op->rows;
        const int64_t m = t == SPRY_TRANSPOSE_NO ? op->rows : op->cols;
        const spry_scalar alpha = {2, 0}, beta = {t == SPRY_TRANSPOSE_YES ? 0 : -0.5, 0};
        spry_vector *x = NULL, *y = NULL, *z = NULL, *on_device = NULL;
        assert_ok(ctx, spry_vector_new(ctx, type, n, NULL, SPRY_OWN_COPY, &x));
        assert_ok(ctx, spry_vector_new(ctx, type, m, NULL, SPRY_OWN_COPY, &y));
        assert_ok(ctx, spry_vector_new(ctx, type, m, NULL, SPRY_OWN_COPY, &z));
        for (int64_t i = 0; i < n; i++)
            value_set(type, x->data, i, support_number(type, 3, (uint64_t)i));
        for (int64_t i = 0; i < m; i++)
            value_set(type, y->data, i, support_number(type, 4, (uint64_t)i));
        assert_ok(ctx, spry_vector_on(d, type, m, NULL, &on_device));
        assert_ok(ctx, spry_vector_copy(y, on_device));
        assert_ok(ctx, spry_operator_multiply(op, (spry_transpose)t, alpha, x, beta, on_device));
        assert_ok(ctx, spry_vector_copy(on_device, z));
        assert_ok(ctx, spry_operator_multiply(host, (spry_transpose)t, alpha, x, beta, y));
        if (memcmp(y->data, z->data, (size_t)m * spry_type_size(type)) != 0)
            fail_msg("%s, type %s, transpose %d: other numbers", what, spry_type_name(type), t);
        spry_vector *const all[] = {x, y, z, on_device};
        for (size_t i = 0; i < sizeof all / sizeof *all; i++)
            spry_vector_free(all[i]);
    }
}

/* Storage is that of all blocks, and the matrix comes back. */
static void check_storage(spry_context *ctx, const spry_operator *op, const spry_matrix *A)
{
    spry_storage storage = SPRY_STORAGE_INIT;
    spry_matrix *back = NULL;
    device_rows rows;
    assert_ok(ctx, spry_operator_storage(op, &storage));
    assert_int_equal(storage.nnz, A->a.nnz);
    assert_true(storage.stored >= storage.nnz);
    assert_int_equal(op->own_bytes, storage.read_bytes);
    assert_ok(ctx, spry_operator_to_matrix(op, &back));
    support_same_arrays(A, back);
    spry_matrix_free(back);
    /* It cannot be part of a sweep. */
    assert_ok(ctx, device_open_rows(op, SPRY_TRANSPOSE_NO, "A_", 1, &rows));
    assert_null(rows.text);
}

/* A matrix of 3000 rows that takes about 500 kB, on a device with as much as that or less. */
static spry_matrix *large_matrix(spry_context *ctx, spry_type type, int64_t cols)
{
    return support_sorted(ctx, type, SUPPORT_ONE_ROW, 3000, cols, 40000, 6);
}

static void matrices(spry_context *ctx, spry_device *d)
{
    static const char *const formats[] = {"csr", "sell", "merge", "auto", "hyb"};
    static const spry_type types[] = {SPRY_TYPE_D, SPRY_TYPE_C, SPRY_TYPE_S, SPRY_TYPE_D,
                                      SPRY_TYPE_D};
    (void)ctx;
    for (size_t k = 0; k < sizeof formats / sizeof *formats; k++) {
        heard t = {0};
        spry_context *own = support_context(NULL);
        spry_device *small = NULL;
        spry_operator *op = NULL, *host = NULL;
        spry_context_set_log(own, hear, &t);
        spry_matrix *A = large_matrix(own, types[k], 900);
        assert_ok(own, device_open(own, d->facts.name, &small));
        leave(small, types[k] == SPRY_TYPE_S ? 160 << 10 : 350 << 10);
        assert_ok(own, spry_operator_from_matrix(A, small, formats[k], &op));
        assert_ok(own, spry_operator_from_matrix(A, NULL, NULL, &host));
        assert_int_equal(t.count, 0);
        check_storage(own, op, A);
        check_products(own, small, op, host, formats[k]);
        assert_int_equal(t.count, 2); /* A and A^T, once each */
        assert_non_null(strstr(t.text, "blocks of rows; the first took"));
        assert_non_null(strstr(t.text, "B/s"));
        assert_non_null(strstr(t.text, "times as long"));
        assert_true(used_on(op->device) < op->own_bytes / 2);
        const dense_case c = {SPRY_TRANSPOSE_NO, 11, true, false, true};
        check_dense(own, op, host, &c);
        assert_int_equal(t.count, 2);
        spry_operator_free(op);
        spry_operator_free(host);
        spry_matrix_free(A);
        spry_device_close_all(own);
        support_context_free(own);
    }
}

/*
 * Several steps with one pass: the host's numbers, which are exact here: eighths times eighths, of
 * a few places more with each of four products. Blocks are larger, or smaller.
 */
static void powers(spry_context *ctx, spry_device *d)
{
    enum { K = 4, N = 6000 };
    static const int64_t room[] = {300 << 10, 150 << 10};
    power_step steps[K] = {{{0.5, 0}, {2, 0}, {0, 0}, NULL},
                           {{1, 0}, {0, 0}, {-1, 0}, NULL},
                           {{2, 0}, {0, 0}, {0, 0}, NULL},
                           {{1, 0}, {-0.5, 0}, {0.25, 0}, NULL}};
    (void)ctx;
    for (int way = 0; way < 2; way++) {
        spry_context *own = support_context("log=quiet");
        spry_device *small = NULL;
        spry_operator *op = NULL, *host = NULL;
        spry_vector *x[2], *v[K], *w[K], *back, *product[2];
        spry_matrix *A = support_sorted(own, SPRY_TYPE_D, SUPPORT_BANDED, N, N, 40000, 6);
        bool made = false;
        assert_ok(own, device_open(own, d->facts.name, &small));
        assert_ok(own, spry_operator_from_matrix(A, NULL, NULL, &host));
        assert_ok(own, spry_vector_new(own, SPRY_TYPE_D, N, NULL, SPRY_OWN_COPY, &x[0]));
        for (int64_t i = 0; i < N; i++)
            value_set(SPRY_TYPE_D, x[0]->data, i, support_number(SPRY_TYPE_D, 3, (uint64_t)i));
        assert_ok(own, spry_vector_on(small, SPRY_TYPE_D, N, NULL, &x[1]));
        assert_ok(own, spry_vector_copy(x[0], x[1]));
        assert_ok(own, spry_vector_like(x[0], N, &back));
        for (int j = 0; j < K; j++) {
            assert_ok(own, spry_vector_like(x[0], N, &w[j]));
            assert_ok(own, spry_vector_like(x[1], N, &v[j]));
        }
        for (int k = 0; k < 2; k++)
            assert_ok(own, spry_vector_like(x[k], N, &product[k]));
        leave(small, room[way]);
        assert_ok(own, spry_operator_from_matrix(A, small, "csr", &op));
        assert_true(operator_powers_depth(op, K) > 1);
        assert_int_equal(operator_powers_depth(host, K), 1);
        device_rows rows;
        assert_ok(own, device_open_rows(op, SPRY_TRANSPOSE_NO, "A_", 1, &rows));
        assert_null(rows.text); /* it does not fit */
        const int64_t used = used_on(small);
        steps[1].product = product[1];
        assert_ok(own, op->class->powers(op, K, steps, x[1], v, &made));
        assert_true(made);
        assert_true(used_on(small) <= used);
        steps[1].product = NULL;
        assert_ok(own, operator_powers(host, SPRY_TRANSPOSE_NO, K, steps, x[0], w));
        assert_ok(own, spry_operator_apply(host, w[0], product[0]));
        assert_ok(own, spry_vector_copy(product[1], back));
        assert_memory_equal(back->data, product[0]->data, N * sizeof(double));
        for (int turn = 0; turn < 2; turn++) {
            for (int j = 0; j < K; j++) {
                assert_ok(own, spry_vector_copy(v[j], back));
                assert_memory_equal(back->data, w[j]->data, N * sizeof(double));
            }
            assert_ok(own, operator_powers(op, SPRY_TRANSPOSE_NO, K, steps, x[1], v));
        }
        made = false; /* vectors of the host go by way of products */
        assert_ok(own, op->class->powers(op, K, steps, x[0], w, &made));
        assert_false(made);
        for (int j = 0; j < K; j++) {
            spry_vector_free(v[j]);
            spry_vector_free(w[j]);
        }
        spry_vector_free(back);
        for (int k = 0; k < 2; k++) {
            spry_vector_free(x[k]);
            spry_vector_free(product[k]);
        }
        spry_operator_free(op);
        spry_operator_free(host);
        spry_matrix_free(A);
        spry_device_close_all(own);
        support_context_free(own);
    }
}

/* Blocks of every format that devices have; those that do not hold blocks of rows are in csr. */
static void every_format(spry_context *ctx, spry_device *d)
{
    const spry_scalar one = {1, 0}, zero = {0, 0};
    spry_matrix *A = support_sorted(ctx, SPRY_TYPE_D, SUPPORT_BANDED, 6000, 6000, 40000, 6);
    spry_operator *host = NULL;
    spry_vector *x = NULL, *y = NULL, *z = NULL;
    assert_ok(ctx, spry_operator_from_matrix(A, NULL, NULL, &host));
    assert_ok(ctx, spry_vector_new(ctx, SPRY_TYPE_D, 6000, NULL, SPRY_OWN_COPY, &x));
    assert_ok(ctx, spry_vector_like(x, 6000, &y));
    assert_ok(ctx, spry_vector_like(x, 6000, &z));
    for (int64_t i = 0; i < 6000; i++)
        value_set(SPRY_TYPE_D, x->data, i, support_number(SPRY_TYPE_D, 3, (uint64_t)i));
    assert_ok(ctx, spry_operator_multiply(host, SPRY_TRANSPOSE_NO, one, x, zero, y));
    leave(d, 300 << 10);
    for (int k = 0; layout_class_at(k); k++) {
        const char *name = layout_class_at(k)->name;
        spry_operator *op = NULL;
        if (!device_format_for(layout_class_at(k)))
            continue;
        assert_ok(ctx, spry_operator_from_matrix(A, d, name, &op));
        assert_ok(ctx, spry_operator_multiply(op, SPRY_TRANSPOSE_NO, one, x, zero, z));
        if (memcmp(y->data, z->data, 6000 * sizeof(double)) != 0)
            fail_msg("%s: other numbers", name);
        assert_true(used_on(op->device) < op->own_bytes / 2);
        spry_operator_free(op);
    }
    leave(d, 0);
    spry_vector_free(x);
    spry_vector_free(y);
    spry_vector_free(z);
    spry_operator_free(host);
    spry_matrix_free(A);
}

/* Vectors on the device: no call waits for the last product before its matrix is freed. */
static void freed_at_work(spry_context *ctx, spry_device *d)
{
    const spry_scalar one = {1, 0}, zero = {0, 0};
    spry_matrix *A = support_sorted(ctx, SPRY_TYPE_D, SUPPORT_BANDED, 6000, 6000, 400000, 6);
    spry_vector *x = NULL, *y = NULL, *first = NULL, *later = NULL;
    assert_ok(ctx, spry_vector_new(ctx, SPRY_TYPE_D, 6000, NULL, SPRY_OWN_COPY, &first));
    assert_ok(ctx, spry_vector_like(first, 6000, &later));
    assert_ok(ctx, spry_vector_on(d, SPRY_TYPE_D, 6000, NULL, &x));
    assert_ok(ctx, spry_vector_on(d, SPRY_TYPE_D, 6000, NULL, &y));
    assert_ok(ctx, spry_vector_fill(x, (spry_scalar){0.5, 0}));
    leave(d, 600 << 10);
    for (int turn = 0; turn < 20; turn++) {
        spry_operator *op = NULL;
        assert_ok(ctx, spry_operator_from_matrix(A, d, "csr", &op));
        for (int k = 0; k < 2; k++) /* the first is measured, and waited for */
            assert_ok(ctx, spry_operator_multiply(op, SPRY_TRANSPOSE_NO, one, x, zero, y));
        assert_true(used_on(d) < op->own_bytes / 2);
        spry_operator_free(op);
        assert_ok(ctx, spry_vector_copy(y, turn ? later : first));
        if (turn)
            assert_memory_equal(first->data, later->data, 6000 * sizeof(double));
    }
    leave(d, 0);
    spry_vector_free(first);
    spry_vector_free(later);
    spry_vector_free(x);
    spry_vector_free(y);
    spry_matrix_free(A);
}

/* Building and multiplying, with the first, second, ... such call failing. */
static spry_status build_and_multiply(spry_device *d, const spry_matrix *A, const spry_vector *x,
                                      spry_vector *y)
{
    spry_operator *op = NULL;
    spry_status status = spry_operator_from_matrix(A, d, "merge", &op);
    for (int k = 0; status == SPRY_STATUS_OK && k < 2; k++)
        status = spry_operator_multiply(op, SPRY_TRANSPOSE_NO, (spry_scalar){1, 0}, x,
                                        (spry_scalar){-0.5, 0}, y);
    spry_operator_free(op);
    return status;
}

static void failures_of_matrices(spry_context *ctx, spry_device *d)
{
    static const device_work kinds[] = {WORK_ALLOC, WORK_COPY, WORK_LAUNCH};
    spry_matrix *A = large_matrix(ctx, SPRY_TYPE_D, 900);
    spry_vector *x = NULL, *y = NULL, *z = NULL;
    assert_ok(ctx, spry_vector_new(ctx, SPRY_TYPE_D, 900, NULL, SPRY_OWN_COPY, &x));
    assert_ok(ctx, spry_vector_new(ctx, SPRY_TYPE_D, 3000, NULL, SPRY_OWN_COPY, &y));
    assert_ok(ctx, spry_vector_like(y, 3000, &z));
    assert_ok(ctx, spry_vector_fill(x, (spry_scalar){0.5, 0}));
    assert_ok(ctx, spry_vector_fill(y, (spry_scalar){1, 0}));
    assert_ok(ctx, build_and_multiply(d, A, x, y)); /* in memory */
    leave(d, 350 << 10);
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        spry_status status = SPRY_STATUS_DEVICE;
        int64_t used, before, most, free_bytes, failures = 0;
        device_memory_now(d, &before, &most, &free_bytes);
        for (int64_t n = 1; status != SPRY_STATUS_OK || d->fail_in[kinds[k]] == 0; n++) {
            device_fail_next(d, kinds[k], n);
            assert_ok(ctx, spry_vector_fill(z, (spry_scalar){1, 0}));
            status = build_and_multiply(d, A, x, z);
            if (status == SPRY_STATUS_OK) /* also without memory that can be pinned */
                assert_memory_equal(z->data, y->data, 3000 * sizeof(double));
            else
                assert_int_equal(status, kinds[k] == WORK_ALLOC ? SPRY_STATUS_NO_MEMORY
                                                                : SPRY_STATUS_DEVICE);
            failures += status != SPRY_STATUS_OK;
            device_memory_now(d, &used, &most, &free_bytes);
            assert_int_equal(used, before);
        }
        device_fail_next(d, kinds[k], 0);
        assert_true(failures > 20); /* there are ten blocks or so */
    }
    leave(d, 0);
    spry_vector_free(x);
    spry_vector_free(y);
    spry_vector_free(z);
    spry_matrix_free(A);
}

/* A symmetric band, 44 on the diagonal and -1 next to it. */
static spry_matrix *band(spry_context *ctx, int n, int half)
{
    matrix_arrays a = {.type = SPRY_TYPE_D, .format = SPRY_FORMAT_CSR, .rows = n, .cols = n};
    spry_matrix *A = NULL;
    a.nnz = (int64_t)n * (2 * half + 1) - half * (half + 1);
    assert_ok(ctx, matrix_allocate(ctx, &a));
    int64_t at = 0;
    for (int i = 0; i < n; i++) {
        a.offsets[i] = at;
        for (int k = i < half ? 0 : i - half; k <= i + half && k < n; k++) {
            a.col_index[at] = k;
            value_set(SPRY_TYPE_D, a.values, at++, (spry_scalar){i == k ? 2 * half + 4 : -1, 0});
        }
    }
    a.offsets[n] = at;
    assert_int_equal(at, a.nnz);
    assert_ok(ctx, matrix_wrap(ctx, &a, &A));
    return A;
}

/* A method runs on such a matrix, product by product. */
static void solve_by(const spry_device *d, const char *method, int half, int64_t memory)
{
    enum { N = 5000 };
    spry_context *own = support_context(NULL);
    spry_device *small = NULL;
    spry_matrix *A = band(own, N, half);
    spry_solver *solver = NULL;
    spry_vector *b = NULL, *x = NULL;
    spry_result result = SPRY_RESULT_INIT;
    char options[96];
    heard t = {0};
    spry_context_set_log(own, hear, &t);
    assert_ok(own, device_open(own, d->facts.name, &small));
    device_limit_memory(small, memory); /* less than the matrix takes */
    assert_ok(own, spry_vector_new(own, SPRY_TYPE_D, N, NULL, SPRY_OWN_COPY, &b));
    assert_ok(own, spry_vector_like(b, N, &x));
    assert_ok(own, spry_vector_fill(b, (spry_scalar){1, 0}));
    assert_ok(own, spry_solver_new(own, &solver));
    snprintf(options, sizeof options, "method=%s tol=1e-10 device=%s", method, d->facts.name);
    assert_ok(own, spry_solver_set(solver, options));
    assert_ok(own, spry_solver_set_matrix(solver, A));
    assert_ok(own, spry_solve(solver, b, x, &result));
    assert_true(result.converged);
    assert_string_equal(result.device, d->facts.name);
    assert_true(result.true_residual <= 1e-10);
    assert_int_equal(t.count, 1);
    assert_non_null(strstr(t.text, "blocks of rows"));
    spry_result_clear(own, &result);
    spry_solver_free(solver);
    spry_vector_free(b);
    spry_vector_free(x);
    spry_matrix_free(A);
    spry_device_close_all(own);
    support_context_free(own);
}

/* Product by product, or with several steps for each time that A is brought. */
static void solves(spry_context *ctx, spry_device *d)
{
    (void)ctx;
    solve_by(d, "cg precon=jacobi", 20, 2 << 20);             /* of 2.5 MB */
    solve_by(d, "s-step-cg:s=2 precon=none", 60, 5 << 20);    /* of 7.3 MB: both steps */
    solve_by(d, "s-step-cg:s=2 precon=none", 20, 1400 << 10); /* no room for both */
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
    assert_status(own, SPRY_STATUS_NO_MEMORY, device_alloc(small, 1000001, &m));
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
    assert_status(own, SPRY_STATUS_BAD_USAGE, device_open(own, d->facts.name, &small));
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
        DEVICES_TEST(matrices),
        DEVICES_TEST(every_format),
        DEVICES_TEST(powers),
        DEVICES_TEST(freed_at_work),
        DEVICES_TEST(failures_of_matrices),
        DEVICES_TEST(solves),
    };
    return DEVICES_RUN(tests);
}
