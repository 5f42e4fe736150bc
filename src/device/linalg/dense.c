/*
 * Products on devices with several columns, eight at a time. Columns on the device are used in
 * place where they are adjacent and an address can point to the first of them, and else
 * packed by a kernel; for those of the host see dense_host.c.
 */
#include "device/linalg/dense.h"
#include "device/linalg/product.h"
#include "device/linalg/vector.h"

/* Columns of a block, as the product takes them. */
typedef struct tile {
    device_memory *memory;
    int64_t ld;
    device_memory *made;     /* room for packed columns; NULL: not needed so far */
    device_memory *borrowed; /* memory that begins at the first of the columns */
} tile;

/* Numbers from the first to the last of a block. */
static int64_t extent(const spry_dense *M)
{
    const int64_t lines = M->by_rows ? M->rows : M->cols, line = M->by_rows ? M->cols : M->rows;
    return lines == 0 || line == 0 ? 0 : (lines - 1) * M->ld + line;
}

static void tile_clear(tile *t)
{
    device_free(t->made);
    device_free(t->borrowed);
    *t = (tile){0};
}

/* Room for packed columns, the widest first. */
static spry_status tile_room(const dense_job *j, const spry_dense *M, int count, tile *t)
{
    spry_status status = SPRY_STATUS_OK;
    if (!t->made)
        status = device_alloc(j->op->device, M->rows * count * (int64_t)j->size, &t->made);
    t->memory = t->made;
    t->ld = count;
    return status;
}

/* Columns first..first+count-1 of a block on the device. */
static spry_status tile_open(const dense_job *j, const spry_dense *M, device_memory *whole,
                             int64_t first, int count, bool numbers, tile *t)
{
    spry_context *ctx = j->op->ctx;
    spry_device *d = j->op->device;
    spry_status status = SPRY_STATUS_OK;
    device_free(t->borrowed);
    t->borrowed = NULL;
    if (M->by_rows && first == 0) {
        t->memory = whole;
        t->ld = M->ld;
        return SPRY_STATUS_OK;
    }
    if (M->by_rows && d->facts.has_pointers) {
        SPRY_GO(ctx, device_borrow(d, (char *)M->data + (size_t)first * j->size,
                                   (extent(M) - first) * (int64_t)j->size, &t->borrowed));
        t->memory = t->borrowed;
        t->ld = M->ld;
        return SPRY_STATUS_OK;
    }
    SPRY_GO(ctx, tile_room(j, M, count, t));
    if (numbers)
        SPRY_GO(ctx, device_copy_block(d, j->op->type, M->rows, count,
                                       (device_block){whole, first * dense_col_stride(M),
                                                      dense_row_stride(M), dense_col_stride(M)},
                                       (device_block){t->memory, 0, count, 1}));
done:
    return status;
}

static spry_status multiply_tile(const dense_job *j, int count, const tile *x, const tile *y)
{
    const device_product p = {.columns = count,
                              .alpha = j->alpha,
                              .beta = j->beta,
                              .x = x->memory,
                              .x_stride = x->ld,
                              .y = y->memory,
                              .y_stride = y->ld};
    return device_multiply_blocks(j->op, j->transpose, &p, 1);
}

/* A single column must have its numbers one after the other. */
static bool strided(const tile *t, int count)
{
    return count == 1 && t->ld != 1;
}

static spry_status unpack(const dense_job *j, const spry_dense *M, device_memory *whole,
                          int64_t first, int count, const tile *t)
{
    if (t->memory != t->made)
        return SPRY_STATUS_OK;
    return device_copy_block(j->op->device, j->op->type, M->rows, count,
                             (device_block){t->memory, 0, count, 1},
                             (device_block){whole, first * dense_col_stride(M), dense_row_stride(M),
                                            dense_col_stride(M)});
}

/* A single column out of several: packed. */
static spry_status pack_single(const dense_job *j, const spry_dense *M, device_memory *whole,
                               int64_t first, bool numbers, tile *t)
{
    spry_status status = tile_room(j, M, 1, t);
    if (status == SPRY_STATUS_OK && numbers)
        status = device_copy_block(j->op->device, j->op->type, M->rows, 1,
                                   (device_block){whole, first * dense_col_stride(M),
                                                  dense_row_stride(M), dense_col_stride(M)},
                                   (device_block){t->memory, 0, 1, 1});
    return status;
}

static spry_status multiply_on_device(const dense_job *j, const spry_dense *B, const spry_dense *C)
{
    spry_context *ctx = j->op->ctx;
    spry_device *d = j->op->device;
    device_memory *from = NULL, *to = NULL;
    tile x = {0}, y = {0};
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(ctx, device_borrow(d, B->data, extent(B) * (int64_t)j->size, &from));
    SPRY_GO(ctx, device_borrow(d, C->data, extent(C) * (int64_t)j->size, &to));
    for (int64_t first = 0; first < B->cols; first += DEVICE_MOST_COLUMNS) {
        const int64_t rest = B->cols - first;
        const int count = rest < DEVICE_MOST_COLUMNS ? (int)rest : DEVICE_MOST_COLUMNS;
        SPRY_GO(ctx, tile_open(j, B, from, first, count, true, &x));
        SPRY_GO(ctx, tile_open(j, C, to, first, count, dense_reads(j), &y));
        if (strided(&x, count))
            SPRY_GO(ctx, pack_single(j, B, from, first, true, &x));
        if (strided(&y, count))
            SPRY_GO(ctx, pack_single(j, C, to, first, dense_reads(j), &y));
        SPRY_GO(ctx, multiply_tile(j, count, &x, &y));
        SPRY_GO(ctx, unpack(j, C, to, first, count, &y));
    }
done:
    tile_clear(&x);
    tile_clear(&y);
    device_free(from);
    device_free(to);
    return status;
}

spry_status device_multiply_dense(const spry_operator *op, spry_transpose transpose,
                                  spry_scalar alpha, const spry_dense *B, spry_scalar beta,
                                  const spry_dense *C)
{
    const dense_job j = {op, transpose, alpha, beta, spry_type_size(op->type)};
    if (extent(B) == 0 && extent(C) == 0)
        return SPRY_STATUS_OK;
    return B->device ? multiply_on_device(&j, B, C) : device_multiply_dense_host(&j, B, C);
}
