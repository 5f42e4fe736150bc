/*
 * R-MAT: a pattern with a power law. Each entry falls, level by level, into one of the quarters of
 * what is left, with probabilities a, b, c, d. D. Chakrabarti, Y. Zhan, C. Faloutsos, R-MAT: a
 * recursive model for graph mining, SDM 2004 (without their noise on the probabilities). The square
 * is that of the next power of two, scaled down when the rows are another number.
 */
#include "matrix/gen/gen.h"

#include <math.h>

/* Levels that one 64-bit random number decides, bits for each, and words for 31 levels. */
enum { LEVELS = 3, BITS = 21, RANGE = 1 << BITS, WORDS = 16 };

spry_status gen_prepare_rmat(spry_context *ctx, gen_problem *p)
{
    const gen_options *o = &p->options;
    if (o->a + o->b + o->c > 1 + 1e-12)
        return SPRY_FAIL(ctx, SPRY_STATUS_BAD_USAGE, "a + b + c = %g; the most is 1",
                         o->a + o->b + o->c);
    return SPRY_STATUS_OK;
}

/* Levels until the quarters are single places. */
static int levels_of(int64_t rows)
{
    int levels = 0;
    while (INT64_C(1) << levels < rows)
        levels++;
    return levels;
}

/* Without branches within a level: a guess at chance would be wrong half of the time. */
static void place_entry(const gen_problem *p, int levels, const int64_t limits[3], int64_t entry,
                        int32_t *row, int32_t *col)
{
    int64_t i = 0, j = 0;
    uint64_t random = 0;
    for (int level = 0; level < levels; level++) {
        if (level % LEVELS == 0)
            random = base_random(p->streams[GEN_STREAM_PLACE],
                                 (uint64_t)entry * WORDS + (uint64_t)(level / LEVELS));
        int64_t draw = (int64_t)(random & (RANGE - 1));
        random >>= BITS;
        int64_t lower = draw >= limits[1];
        int64_t right = (draw >= limits[0]) - lower + (draw >= limits[2]);
        i = 2 * i + lower;
        j = 2 * j + right;
    }
    *row = (int32_t)(i * p->rows >> levels);
    *col = (int32_t)(j * p->rows >> levels);
}

static void place_entries(spry_context *ctx, const gen_problem *p, const matrix_arrays *coo)
{
    const gen_options *o = &p->options;
    const int64_t drawn = coo->nnz - p->rows;
    const int levels = levels_of(p->rows);
    const int64_t limits[3] = {(int64_t)(RANGE * o->a), (int64_t)(RANGE * (o->a + o->b)),
                               (int64_t)(RANGE * (o->a + o->b + o->c))};
#pragma omp parallel for num_threads(spry_context_threads(ctx)) schedule(static)
    for (int64_t k = 0; k < coo->nnz; k++) {
        if (k < drawn)
            place_entry(p, levels, limits, k, &coo->row_index[k], &coo->col_index[k]);
        else
            coo->row_index[k] = coo->col_index[k] = (int32_t)(k - drawn);
        value_set(p->type, coo->values, k,
                  gen_random_value(p, coo->row_index[k], coo->col_index[k]));
    }
}

static void set_diagonals(spry_context *ctx, const gen_problem *p, const matrix_arrays *csr)
{
#pragma omp parallel for num_threads(spry_context_threads(ctx)) schedule(static)
    for (int64_t i = 0; i < csr->rows; i++) {
        int64_t diagonal = 0;
        double sum = 0;
        for (int64_t k = csr->offsets[i]; k < csr->offsets[i + 1]; k++) {
            spry_scalar value = value_get(p->type, csr->values, k);
            if (csr->col_index[k] == i)
                diagonal = k;
            else
                sum += hypot(value.re, value.im);
        }
        value_set(p->type, csr->values, diagonal, (spry_scalar){gen_dominant(p, sum), 0});
    }
}

spry_status gen_make_rmat(spry_context *ctx, const gen_problem *p, spry_matrix **A)
{
    matrix_arrays a = {
        .type = p->type, .format = SPRY_FORMAT_COO, .rows = p->rows, .cols = p->rows};
    spry_matrix *matrix = NULL;
    spry_status status = SPRY_STATUS_OK;
    a.nnz = p->rows * p->per_row; /* those drawn and the diagonal */
    SPRY_GO(ctx, matrix_allocate(ctx, &a));
    place_entries(ctx, p, &a);
    SPRY_GO(ctx, matrix_wrap(ctx, &a, &matrix));
    SPRY_GO(ctx, matrix_become(matrix, SPRY_FORMAT_CSR));
    SPRY_GO(ctx, spry_matrix_sum_duplicates(matrix));
    set_diagonals(ctx, p, &matrix->a);
    *A = matrix;
    matrix = NULL;
done:
    spry_matrix_free(matrix);
    return status;
}
