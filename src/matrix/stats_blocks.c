/*
 * Block structure: cut into b x b blocks, how full are the blocks that hold an entry? A cheap bound
 * rules out most sizes. A block lies in at most b rows, so there are at least 1 / b as many blocks
 * as pairs (row, block of columns touched by it), which are counted along the rows alone.
 */
#include "matrix/stats.h"

enum { BLOCK_MOST = 8 };
static const double fill_least = 0.8;

/* Whether an entry is in another block of b columns than the one before. */
ALWAYS_INLINE int64_t is_other(const int32_t *col, int32_t b)
{
    return col[0] / b != col[-1] / b;
}

/* Fills touches[b] with the pairs (row, block of b columns touched), for b of 2 to 8. */
static void count_touches(spry_context *ctx, const matrix_arrays *a,
                          int64_t touches[BLOCK_MOST + 1])
{
    const int threads = matrix_parts(ctx, a->nnz + a->rows);
    int64_t far = 0, t2 = 0, t3 = 0, t4 = 0, t5 = 0, t6 = 0, t7 = 0, t8 = 0;
#pragma omp parallel for num_threads(threads) schedule(dynamic, STATS_BLOCK)                       \
    reduction(+ : far, t2, t3, t4, t5, t6, t7, t8)
    for (int64_t i = 0; i < a->rows; i++) {
        const int64_t end = a->offsets[i + 1];
        far += a->offsets[i] < end;
        for (int64_t k = a->offsets[i] + 1; k < end; k++) {
            const int32_t *col = a->col_index + k;
            if (col[0] - col[-1] >= BLOCK_MOST) { /* whatever b is */
                far++;
                continue;
            }
            /* constants, so that the divisions become multiplications */
            t2 += is_other(col, 2);
            t3 += is_other(col, 3);
            t4 += is_other(col, 4);
            t5 += is_other(col, 5);
            t6 += is_other(col, 6);
            t7 += is_other(col, 7);
            t8 += is_other(col, 8);
        }
    }
    const int64_t near[] = {0, 0, t2, t3, t4, t5, t6, t7, t8};
    for (int b = 2; b <= BLOCK_MOST; b++)
        touches[b] = far + near[b];
}

/* Blocks that the b rows from `first` on touch: their entries merged, a block at a time. */
static int64_t count_row_blocks(const matrix_arrays *a, int64_t first, int b)
{
    int64_t at[BLOCK_MOST], blocks = 0;
    const int rows = a->rows - first < b ? (int)(a->rows - first) : b;
    for (int r = 0; r < rows; r++)
        at[r] = a->offsets[first + r];
    for (;;) {
        int64_t nearest = INT64_MAX;
        for (int r = 0; r < rows; r++)
            if (at[r] < a->offsets[first + r + 1] && a->col_index[at[r]] < nearest)
                nearest = a->col_index[at[r]];
        if (nearest == INT64_MAX)
            return blocks;
        blocks++;
        const int64_t end = (nearest / b + 1) * b;
        for (int r = 0; r < rows; r++)
            while (at[r] < a->offsets[first + r + 1] && a->col_index[at[r]] < end)
                at[r]++;
    }
}

static int64_t count_blocks(spry_context *ctx, const matrix_arrays *a, int b)
{
    const int threads = matrix_parts(ctx, a->nnz + a->rows);
    const int64_t row_blocks = (a->rows + b - 1) / b;
    int64_t blocks = 0;
#pragma omp parallel for num_threads(threads) schedule(dynamic, STATS_BLOCK) reduction(+ : blocks)
    for (int64_t i = 0; i < row_blocks; i++)
        blocks += count_row_blocks(a, i * b, b);
    return blocks;
}

void stats_blocks(spry_context *ctx, const matrix_arrays *a, spry_stats *stats)
{
    int64_t touches[BLOCK_MOST + 1];
    stats->block_size = 1;
    stats->block_fill = 1;
    if (a->nnz == 0)
        return;
    count_touches(ctx, a, touches);
    for (int b = BLOCK_MOST; b > 1; b--) {
        const double nnz = (double)a->nnz;
        if (nnz / ((double)b * (double)touches[b]) < fill_least)
            continue;
        const double fill = nnz / ((double)(b * b) * (double)count_blocks(ctx, a, b));
        if (fill < fill_least)
            continue;
        stats->block_size = b;
        stats->block_fill = fill;
        return;
    }
}

/* A sample begins where blocks of all sizes do. */
int stats_find_block(const spry_matrix *A)
{
    enum { STEP = 840, SAMPLE = 4 * STEP };
    const int64_t n = A->a.rows;
    int block = 0;
    for (int k = 0; k < 2; k++) {
        const int64_t first = k == 0 ? 0 : n / 2 / STEP * STEP;
        matrix_arrays part = A->a;
        spry_stats stats = SPRY_STATS_INIT;
        part.rows = n - first < SAMPLE ? n - first : SAMPLE;
        part.offsets += first;
        part.nnz = part.offsets[part.rows] - part.offsets[0];
        stats_blocks(A->ctx, &part, &stats);
        block = k == 0 || block == stats.block_size ? stats.block_size : 1;
    }
    return n % block == 0 ? block : 1;
}
