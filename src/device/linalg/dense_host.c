/*
 * Products with dense blocks of the host's, which may be larger than the device's memory: columns
 * go to the device and back in chunks, and while one chunk is copied or multiplied, the host packs
 * or unpacks another (staging.h). A chunk is several panels of eight columns, which share one
 * reading of the matrix. Elements of a panel's row are adjacent; all threads pack them.
 */
#include "device/engine/staging.h"
#include "device/linalg/dense.h"
#include "device/linalg/product.h"
#include "matrix/entries.h"

enum { MOST_PANELS = DEVICE_MOST_PRODUCTS, LEAST_CHUNKS = 4 };

/* Bytes of B's or C's part of a chunk: what chunks are cut to, what panels have at most before they
 * have fewer than eight columns, and what is not worth a chunk of its own. */
static const int64_t chunk_bytes = 64 << 20, panel_bytes = 256 << 20, least_bytes = 1 << 20;

/* One of two chunks under way. */
typedef struct side {
    device_memory *x[MOST_PANELS], *y[MOST_PANELS];
} side;

typedef struct stream_job {
    const dense_job *j;
    const spry_dense *B, *C;
    int columns;    /* of a panel */
    int panels;     /* of a chunk */
    int64_t chunks; /* of all */
    device_staging *staging;
    side sides[STAGING_SIDES];
} stream_job;

static int64_t smaller(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* How many columns there are in panel p of a chunk; 0 past the last. */
static int panel_columns(const stream_job *s, int64_t chunk, int p)
{
    const int64_t first = (chunk * s->panels + p) * s->columns;
    const int64_t rest = s->B->cols - first;
    return rest <= 0 || p >= s->panels ? 0 : (int)smaller(rest, s->columns);
}

/* Cuts columns so that two chunks take a fourth of the memory that is free. */
static void cut(stream_job *s)
{
    const int64_t size = (int64_t)s->j->size, cols = s->B->cols;
    const int64_t rows = s->B->rows > s->C->rows ? s->B->rows : s->C->rows;
    const int64_t both = (s->B->rows + s->C->rows) * size;
    int64_t used, most, free_bytes;
    device_memory_now(s->j->op->device, &used, &most, &free_bytes);
    const int64_t room = free_bytes / 4 / STAGING_SIDES;
    s->columns = (int)smaller(cols, DEVICE_MOST_COLUMNS);
    while (s->columns > 1 && (s->columns * both > room || s->columns * rows * size > panel_bytes))
        s->columns /= 2;
    const int64_t panels = (cols + s->columns - 1) / s->columns, panel = s->columns * rows * size;
    int64_t each = smaller(panels, MOST_PANELS);
    while (each > 1 && (each * panel > chunk_bytes || each * s->columns * both > room ||
                        (panels < LEAST_CHUNKS * each && each * panel > least_bytes)))
        each--;
    s->panels = (int)each;
    s->chunks = (panels + each - 1) / each;
}

static spry_status make_room(stream_job *s)
{
    spry_device *d = s->j->op->device;
    const int64_t x_bytes = s->B->rows * s->columns * (int64_t)s->j->size;
    const int64_t y_bytes = s->C->rows * s->columns * (int64_t)s->j->size;
    spry_status status = SPRY_STATUS_OK;
    for (int k = 0; k < smaller(STAGING_SIDES, s->chunks); k++)
        for (int p = 0; p < s->panels; p++) {
            SPRY_GO(d->ctx, device_alloc(d, x_bytes, &s->sides[k].x[p]));
            SPRY_GO(d->ctx, device_alloc(d, y_bytes, &s->sides[k].y[p]));
        }
    SPRY_GO(d->ctx, device_staging_open(d, s->panels * x_bytes, s->panels * y_bytes, &s->staging));
done:
    return status;
}

/* --- the host's part -----------------------------------------------------------------------------
 */

/* Columns first..first+count-1 of M to or from an array that holds their rows one by one. */
ALWAYS_INLINE void move_rows(size_t size, const spry_dense *M, int64_t first, int count,
                             void *packed, bool out, range rows)
{
    const int64_t row = dense_row_stride(M), col = dense_col_stride(M);
    for (int64_t i = rows.begin; i < rows.end; i++)
        for (int64_t c = 0; c < count; c++) {
            const int64_t at = i * row + (first + c) * col;
            if (out)
                element_move(size, M->data, at, packed, i * count + c);
            else
                element_move(size, packed, i * count + c, M->data, at);
        }
}

/* A piece of rows at a time, so that what is read of each column is read to its end. */
static void move_panel(size_t size, const spry_dense *M, int64_t first, int count, void *packed,
                       bool out, range rows)
{
    switch (size) {
    case 4:
        move_rows(4, M, first, count, packed, out, rows);
        break;
    case 8:
        move_rows(8, M, first, count, packed, out, rows);
        break;
    default:
        move_rows(16, M, first, count, packed, out, rows);
        break;
    }
}

/* A chunk of M to or from pinned memory. */
static void move_chunk(const stream_job *s, const spry_dense *M, int64_t chunk, void *packed,
                       bool out)
{
    enum { PIECE = 256 };
    const size_t size = s->j->size;
    const int64_t pieces = (M->rows + PIECE - 1) / PIECE;
    const int64_t numbers = M->rows * s->columns * s->panels;
#pragma omp parallel for num_threads(matrix_parts(s->j->op->ctx, numbers)) schedule(static)
    for (int64_t piece = 0; piece < pieces; piece++) {
        const range rows = {piece * PIECE, smaller(M->rows, (piece + 1) * PIECE)};
        for (int p = 0; panel_columns(s, chunk, p) > 0; p++)
            move_panel(size, M, (chunk * s->panels + p) * s->columns, panel_columns(s, chunk, p),
                       (char *)packed + (size_t)(p * M->rows * s->columns) * size, out, rows);
    }
}

/* --- chunks --------------------------------------------------------------------------------------
 */

/* Copies a chunk between pinned memory and its panels on the device. */
static spry_status copy_panels(const stream_job *s, const spry_dense *M, int64_t chunk,
                               device_stream *stream, char *packed, device_memory *const *panel,
                               bool out)
{
    const int64_t size = (int64_t)s->j->size, step = M->rows * s->columns * size;
    spry_status status = SPRY_STATUS_OK;
    for (int p = 0; status == SPRY_STATUS_OK && panel_columns(s, chunk, p) > 0; p++) {
        const int64_t bytes = M->rows * panel_columns(s, chunk, p) * size;
        status = out ? device_get_on(stream, panel[p], 0, packed + p * step, bytes)
                     : device_put_on(stream, panel[p], 0, packed + p * step, bytes);
    }
    return status;
}

static spry_status multiply_chunk(const stream_job *s, int64_t chunk, const side *now)
{
    device_product products[MOST_PANELS];
    int count = 0;
    for (int p = 0; panel_columns(s, chunk, p) > 0; p++) {
        const int columns = panel_columns(s, chunk, p);
        products[count++] = (device_product){.columns = columns,
                                             .alpha = s->j->alpha,
                                             .beta = s->j->beta,
                                             .x = now->x[p],
                                             .x_stride = columns,
                                             .y = now->y[p],
                                             .y_stride = columns};
    }
    return device_multiply_blocks(s->j->op, s->j->transpose, products, count);
}

/* Products are on the device's own stream, in the order of chunks. */
static spry_status begin_chunk(stream_job *s, int64_t chunk)
{
    spry_device *d = s->j->op->device;
    const side *now = &s->sides[chunk % STAGING_SIDES];
    const device_staging *staging = &s->staging[chunk % STAGING_SIDES];
    spry_status status = SPRY_STATUS_OK;
    move_chunk(s, s->B, chunk, staging->in, false);
    SPRY_GO(d->ctx, copy_panels(s, s->B, chunk, staging->stream, staging->in, now->x, false));
    if (dense_reads(s->j)) {
        move_chunk(s, s->C, chunk, staging->out, false);
        SPRY_GO(d->ctx, copy_panels(s, s->C, chunk, staging->stream, staging->out, now->y, false));
    }
    SPRY_GO(d->ctx, device_stream_wait(d->stream, staging->stream));
    SPRY_GO(d->ctx, multiply_chunk(s, chunk, now));
    SPRY_GO(d->ctx, device_stream_wait(staging->stream, d->stream));
    SPRY_GO(d->ctx, copy_panels(s, s->C, chunk, staging->stream, staging->out, now->y, true));
done:
    return status;
}

static spry_status end_chunk(stream_job *s, int64_t chunk)
{
    const device_staging *staging = &s->staging[chunk % STAGING_SIDES];
    const spry_status status = device_stream_finish(staging->stream);
    if (status == SPRY_STATUS_OK)
        move_chunk(s, s->C, chunk, staging->out, true);
    return status;
}

spry_status device_multiply_dense_host(const dense_job *j, const spry_dense *B, const spry_dense *C)
{
    spry_context *ctx = j->op->ctx;
    stream_job s = {.j = j, .B = B, .C = C};
    spry_status status = SPRY_STATUS_OK;
    cut(&s);
    SPRY_GO(ctx, make_room(&s));
    for (int64_t chunk = 0; chunk < s.chunks + STAGING_SIDES; chunk++) {
        if (chunk >= STAGING_SIDES)
            SPRY_GO(ctx, end_chunk(&s, chunk - STAGING_SIDES));
        if (chunk < s.chunks)
            SPRY_GO(ctx, begin_chunk(&s, chunk));
    }
done:
    device_staging_finish(j->op->device);
    for (int k = 0; k < STAGING_SIDES; k++)
        for (int p = 0; p < MOST_PANELS; p++) {
            device_free(s.sides[k].x[p]);
            device_free(s.sides[k].y[p]);
        }
    return status;
}
