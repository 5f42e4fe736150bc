/*
 * Products with several columns: cut into tiles of at most two packs, for each of which the
 * operator goes through its matrix once. Rows of B that hold a whole tile side by side are used in
 * place; others are packed, one tile at a time, so that the room this takes does not grow with the
 * number of columns. The operator keeps it: fresh memory would cost as much as packing does.
 */
#include "host/apply.h"
#include "host/host.h"
#include "operator/operator.h"

/* Entries of row i that are within four columns of one of the row before. */
static int64_t count_followed(const int64_t *offsets, const int32_t *columns, int64_t i)
{
    enum { NEAR = 4 };
    int64_t count = 0, b = offsets[i - 1];
    for (int64_t k = offsets[i]; k < offsets[i + 1]; k++) {
        while (b < offsets[i] && (int64_t)columns[b] < (int64_t)columns[k] - NEAR)
            b++;
        count += b < offsets[i] && (int64_t)columns[b] <= (int64_t)columns[k] + NEAR;
    }
    return count;
}

bool host_scattered(int64_t rows, int64_t cols, const int64_t *offsets, const int32_t *columns)
{
    enum { SAMPLES = 1024, MOST = 64, FEW = 1 << 14 };
    const int64_t stride = rows / SAMPLES + 1;
    int64_t entries = 0, followed = 0;
    if (cols < FEW) /* B is in the caches anyway */
        return false;
    for (int64_t i = stride; i < rows; i += stride) {
        if (offsets[i + 1] - offsets[i - 1] > MOST * 2)
            continue; /* long rows are not worth looking through */
        entries += offsets[i + 1] - offsets[i];
        followed += count_followed(offsets, columns, i);
    }
    return followed < entries / 2;
}

/* One product with a dense matrix. */
typedef struct job {
    const spry_operator *op;
    spry_transpose transpose;
    spry_scalar alpha, beta;
    const spry_dense *B, *C;
    int64_t size; /* bytes of a scalar */
    int per_pack; /* columns in a pack */
} job;

static char *column(const job *j, const spry_dense *M, int64_t c)
{
    return (char *)M->data + c * (M->by_rows ? 1 : M->ld) * j->size;
}

static int64_t row_stride(const spry_dense *M)
{
    return M->by_rows ? M->ld : 1;
}

typedef struct tile {
    const job *j;
    int64_t first;
    int count, packs;
} tile;

static void pack_panels(void *argument, int share, int shares)
{
    enum { PANEL = 256 };
    const tile *t = argument;
    const job *j = t->j;
    const host_kernels *kernels = host_kernels_for(j->op->ctx, j->op->type);
    const int64_t stride = row_stride(j->B);
    const range mine = base_share(j->B->rows, shares, share, PANEL);
    char *packed = j->op->room->data;
    for (int64_t row = mine.begin; row < mine.end; row += PANEL) {
        const void *x[HOST_MOST_PACKS * HOST_PACK];
        for (int c = 0; c < t->count; c++)
            x[c] = column(j, j->B, t->first + c) + row * stride * j->size;
        kernels->pack(mine.end - row < PANEL ? mine.end - row : PANEL, t->packs, t->count, x,
                      stride, packed + row * t->packs * j->per_pack * j->size);
    }
}

/* Packs columns first..first+count-1 of B. */
static spry_status pack_tile(const job *j, int64_t first, int count, int packs)
{
    const spry_context *ctx = j->op->ctx;
    const int64_t n = j->B->rows;
    const spry_status status =
        operator_room(j->op, n, (size_t)(HOST_MOST_PACKS * j->per_pack * j->size));
    if (status != SPRY_STATUS_OK)
        return status;
    tile t = {j, first, count, packs};
    base_share_out(ctx, host_threads(ctx, n * count), pack_panels, &t);
    return SPRY_STATUS_OK;
}

/* Whether rows of B are so wide that tiles of them use a part of the caches only: where the tiles
 * of all rows begin in every fourth line, a fourth of its sets. Packing is faster then. */
static bool is_wide(const job *j)
{
    enum { WIDE = 4 };
    return j->B->ld >= (int64_t)WIDE * HOST_MOST_PACKS * j->per_pack;
}

static spry_status run_tile(const job *j, int64_t first, int count)
{
    const int packs = count > j->per_pack ? 2 : 1;
    const int reals = HOST_PACK / j->per_pack;
    void *y[HOST_MOST_PACKS * HOST_PACK];
    host_columns p = {.alpha = j->alpha,
                      .beta = j->beta,
                      .packs = packs,
                      .count = count,
                      .y = y,
                      .y_stride = row_stride(j->C),
                      .together = j->C->by_rows && count == packs * j->per_pack};
    for (int c = 0; c < count; c++)
        y[c] = column(j, j->C, first + c);
    if (j->B->by_rows && count == packs * j->per_pack && !is_wide(j)) {
        p.x = column(j, j->B, first);
        p.x_stride = j->B->ld * reals;
    } else {
        const spry_status status = pack_tile(j, first, count, packs);
        if (status != SPRY_STATUS_OK)
            return status;
        p.x = j->op->room->data;
        p.x_stride = packs * HOST_PACK;
    }
    return j->op->class->blocks.columns(j->op, j->transpose, &p);
}

/* Copies column c between M and an array. */
static void copy_column(const job *j, const spry_dense *M, int64_t c, void *array, bool out)
{
    const int64_t stride = row_stride(M);
    char *from = column(j, M, c), *to = array;
    for (int64_t i = 0; i < M->rows; i++) {
        char *a = from + i * stride * j->size, *b = to + i * j->size;
        memcpy(out ? a : b, out ? b : a, (size_t)j->size);
    }
}

/* Column by column, for operators that know nothing else. */
static spry_status run_singly(const job *j)
{
    spry_context *ctx = j->op->ctx;
    void *x = NULL, *y = NULL;
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(ctx, base_alloc(ctx, j->B->rows, (size_t)j->size, &x));
    SPRY_GO(ctx, base_alloc(ctx, j->C->rows, (size_t)j->size, &y));
    for (int64_t c = 0; c < j->B->cols; c++) {
        copy_column(j, j->B, c, x, false);
        if (j->beta.re != 0 || j->beta.im != 0)
            copy_column(j, j->C, c, y, false);
        SPRY_GO(ctx, j->op->class->multiply(j->op, j->transpose, j->alpha, x, j->beta, y));
        copy_column(j, j->C, c, y, true);
    }
done:
    base_free(ctx, x);
    base_free(ctx, y);
    return status;
}

spry_status host_multiply_singly(const spry_operator *op, spry_transpose transpose,
                                 spry_scalar alpha, const spry_dense *B, spry_scalar beta,
                                 const spry_dense *C)
{
    const job j = {.op = op,
                   .transpose = transpose,
                   .alpha = alpha,
                   .beta = beta,
                   .B = B,
                   .C = C,
                   .size = (int64_t)spry_type_size(op->type)};
    return run_singly(&j);
}

/* Columns that the operator takes together. */
static spry_status run_many(const job *j)
{
    enum { MOST = 8 };
    spry_status status = SPRY_STATUS_OK;
    for (int64_t c = 0; c < j->B->cols && status == SPRY_STATUS_OK; c += MOST) {
        const void *x[MOST];
        void *y[MOST];
        const int count = j->B->cols - c < MOST ? (int)(j->B->cols - c) : MOST;
        for (int k = 0; k < count; k++) {
            x[k] = column(j, j->B, c + k);
            y[k] = column(j, j->C, c + k);
        }
        status = j->op->class->apply_many(j->op, j->transpose, count, x, y);
    }
    return status;
}

static spry_status check_dense(const spry_operator *op, const char *name, const spry_dense *M,
                               int64_t rows, int64_t cols)
{
    if (M->rows != rows || M->cols != cols || cols < 0)
        return SPRY_FAIL(op->ctx, SPRY_STATUS_BAD_USAGE,
                         "%s is %" PRId64 " x %" PRId64 ", expected %" PRId64 " x %" PRId64, name,
                         M->rows, M->cols, rows, cols);
    const int64_t least = M->by_rows ? cols : rows, lines = M->by_rows ? rows : cols;
    if (M->ld < least)
        return SPRY_FAIL(op->ctx, SPRY_STATUS_BAD_USAGE,
                         "%s: ld is %" PRId64 ", expected at least %" PRId64, name, M->ld, least);
    if (lines > 0 && M->ld > INT64_MAX / 16 / lines)
        return SPRY_FAIL(op->ctx, SPRY_STATUS_BAD_USAGE,
                         "%s: %" PRId64 " lines of %" PRId64 " numbers are more than any memory "
                         "holds",
                         name, lines, M->ld);
    if (!M->data && rows > 0 && cols > 0)
        return SPRY_FAIL(op->ctx, SPRY_STATUS_BAD_USAGE, "%s has no data", name);
    return SPRY_STATUS_OK;
}

bool host_dense_overlap(const spry_dense *B, const spry_dense *C, int64_t size)
{
    if (B->device != C->device || (B->device && B->data != C->data))
        return false; /* addresses of a cl_mem mean nothing; of others the caller knows */
    const spry_dense *M[2] = {B, C};
    const char *end[2];
    for (int i = 0; i < 2; i++) {
        const int64_t lines = M[i]->by_rows ? M[i]->rows : M[i]->cols;
        const int64_t line = M[i]->by_rows ? M[i]->cols : M[i]->rows;
        if (lines == 0 || line == 0)
            return false;
        end[i] = (const char *)M[i]->data + ((lines - 1) * M[i]->ld + line) * size;
    }
    return (const char *)M[0]->data < end[1] && (const char *)M[1]->data < end[0];
}

static spry_status multiply_dense(const spry_operator *op, spry_transpose transpose,
                                  spry_scalar alpha, const spry_dense *B, spry_scalar beta,
                                  const spry_dense *C)
{
    const bool plain = transpose == SPRY_TRANSPOSE_NO;
    const job j = {op,
                   transpose,
                   alpha,
                   beta,
                   B,
                   C,
                   (int64_t)spry_type_size(op->type),
                   HOST_PACK / (1 + spry_type_is_complex(op->type))};
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(op->ctx, operator_check_product(op, transpose, alpha, beta));
    SPRY_GO(op->ctx, check_dense(op, "B", B, plain ? op->cols : op->rows, B->cols));
    SPRY_GO(op->ctx, check_dense(op, "C", C, plain ? op->rows : op->cols, B->cols));
    if (B->device != C->device || (B->device && B->device != op->device))
        return SPRY_FAIL(op->ctx, SPRY_STATUS_BAD_USAGE,
                         "B is on %s, C on %s, the operator on %s; take blocks of the operator's "
                         "device, or both of the host",
                         place_name(B->device), place_name(C->device), place_name(op->device));
    if (B->device && !op->class->blocks.dense)
        return SPRY_FAIL(op->ctx, SPRY_STATUS_BAD_USAGE,
                         "B and C are on %s; operator %s takes blocks of the host, or vectors one "
                         "by one",
                         place_name(B->device), spry_operator_name(op));
    if (host_dense_overlap(B, C, j.size))
        return SPRY_FAIL(op->ctx, SPRY_STATUS_BAD_USAGE, "B and C of a product share memory");
    if (op->class->blocks.dense)
        return op->class->blocks.dense(op, transpose, alpha, B, beta, C);
    const bool plain_product = alpha.re == 1 && alpha.im == 0 && beta.re == 0 && beta.im == 0;
    if (op->class->apply_many && !op->device && plain_product && row_stride(B) == 1 &&
        row_stride(C) == 1)
        return run_many(&j);
    if (!op->class->blocks.columns)
        return run_singly(&j);
    for (int64_t c = 0; c < B->cols; c += HOST_MOST_PACKS * j.per_pack) {
        const int64_t rest = B->cols - c;
        const int count =
            rest < HOST_MOST_PACKS * j.per_pack ? (int)rest : HOST_MOST_PACKS * j.per_pack;
        if (count == 1 && row_stride(B) == 1 && row_stride(C) == 1)
            SPRY_GO(op->ctx, op->class->multiply(op, transpose, alpha, column(&j, B, c), beta,
                                                 column(&j, C, c)));
        else
            SPRY_GO(op->ctx, run_tile(&j, c, count));
    }
done:
    return status;
}

spry_status spry_operator_multiply_dense(const spry_operator *op, spry_transpose transpose,
                                         spry_scalar alpha, const spry_dense *B, spry_scalar beta,
                                         const spry_dense *C)
{
    SPRY_NEED(CTX_OF(op), op, B, C);
    static const base_sized sized = BASE_SIZED(spry_dense, device);
    spry_dense from, to;
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(op->ctx, base_take(op->ctx, B, &from, &sized));
    SPRY_GO(op->ctx, base_take(op->ctx, C, &to, &sized));
    SPRY_GO(op->ctx, multiply_dense(op, transpose, alpha, &from, beta, &to));
done:
    return status;
}
