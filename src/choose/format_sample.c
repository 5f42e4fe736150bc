/* Some of a large matrix's rows, to forecast from. */
#include "choose/tune.h"

/* Blocks begin at, and columns move by, multiples of a number that the sizes of blocks and slices
 * divide. */
enum { LEAST_BLOCKS = 4, MOST_BLOCKS = 16, GRAIN = 960, SAMPLE_ENTRIES = 1 << 18 };
/* Products on a device are over soon, and looking at a sample for all candidates should be, too:
 * all forecasts together then take about as long as going through it fifty times on one core, which
 * is a third of a millisecond for FEW_ENTRIES. Where rows are long blocks are smaller. */
enum { FEW_BLOCKS = 2, FEW_GRAIN = 480, LEAST_GRAIN = 60, FEW_ENTRIES = 1 << 14 };

typedef struct blocks {
    int64_t grain, count, rows; /* of each, neighbours in A */
} blocks;

static blocks cut_blocks(const matrix_arrays *a, bool few)
{
    const double mean = (double)a->nnz / (double)a->rows;
    const int64_t least = few ? FEW_BLOCKS : LEAST_BLOCKS;
    const int64_t rows = (int64_t)((few ? FEW_ENTRIES : SAMPLE_ENTRIES) / (mean > 1 ? mean : 1));
    int64_t grain = few ? FEW_GRAIN : GRAIN;
    while (few && grain > LEAST_GRAIN && (least * grain > rows || 2 * least * grain > a->rows))
        grain /= 2;
    const int64_t grains = rows / grain;
    blocks b = {grain, grains < least ? least : grains, grain};
    if (b.count > MOST_BLOCKS)
        b = (blocks){grain, MOST_BLOCKS, grains / MOST_BLOCKS * grain};
    return b;
}

static int64_t block_begin(const matrix_arrays *a, const blocks *b, int64_t block)
{
    const double free_rows = (double)(a->rows - b->rows);
    const int64_t at = (int64_t)(free_rows * (double)block / (double)(b->count - 1));
    return at - at % (at >= GRAIN ? GRAIN : b->grain);
}

static int64_t whole_grains(int64_t rows)
{
    return (rows + GRAIN - 1) / GRAIN * GRAIN;
}

/* Column j of row i becomes column j - i + i' of row i', moved right by as much as keeps it from
 * falling below 0, where all such columns can be numbered. */
static void copy_rows(const matrix_arrays *a, const blocks *b, matrix_arrays *s)
{
    const size_t size = spry_type_size(a->type);
    const bool moved = s->cols > a->cols;
    int64_t at = 0;
    s->offsets[0] = 0;
    for (int64_t block = 0; block < b->count; block++) {
        const int64_t begin = block_begin(a, b, block);
        const int64_t first = a->offsets[begin], count = a->offsets[begin + b->rows] - first;
        const int64_t shift = moved ? whole_grains(a->rows) - begin + block * b->rows : 0;
        for (int64_t k = 0; k < count; k++)
            s->col_index[at + k] = (int32_t)(a->col_index[first + k] + shift);
        memcpy((char *)s->values + (size_t)at * size,
               (const char *)a->values + (size_t)first * size, (size_t)count * size);
        for (int64_t i = 0; i < b->rows; i++)
            s->offsets[block * b->rows + i + 1] = a->offsets[begin + i + 1] - first + at;
        at += count;
    }
}

spry_status tune_sample(const spry_matrix *A, bool few, spry_matrix **sample)
{
    spry_context *ctx = A->ctx;
    const matrix_arrays *a = &A->a;
    spry_status status = SPRY_STATUS_OK;
    *sample = NULL;
    const int64_t entries = few ? FEW_ENTRIES : SAMPLE_ENTRIES;
    if (a->nnz <= 2 * entries || a->rows == 0)
        return SPRY_STATUS_OK;
    const blocks b = cut_blocks(a, few);
    matrix_arrays s = {.type = a->type, .format = SPRY_FORMAT_CSR, .rows = b.count * b.rows};
    if (s.rows > a->rows / 2) /* of few rows all are looked at */
        return SPRY_STATUS_OK;
    for (int64_t block = 0; block < b.count; block++) {
        const int64_t begin = block_begin(a, &b, block);
        s.nnz += a->offsets[begin + b.rows] - a->offsets[begin];
    }
    if (s.nnz > a->nnz / 2 || s.nnz == 0)
        return SPRY_STATUS_OK;
    s.cols = whole_grains(a->rows) + a->cols + s.rows;
    if (s.cols > INT32_MAX)
        s.cols = a->cols;
    SPRY_GO(ctx, matrix_allocate(ctx, &s));
    copy_rows(a, &b, &s);
    status = matrix_wrap(ctx, &s, sample);
done:
    return status;
}
