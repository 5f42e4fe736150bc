/* Statistics that are sums of floating-point numbers over all rows, and over columns. */
#include "matrix/stats.h"

/* Sums of a fixed block of rows; blocks are added up in their order. */
typedef struct block_sums {
    double deviation; /* of (length - mean)^2 */
    double squares;   /* of |scale a_ij|^2 */
} block_sums;

/* A power of two that brings numbers of this size near 1, so that squares neither overflow nor
 * vanish. */
static double scale_for(double largest)
{
    int exponent = 0;
    frexp(largest, &exponent);
    return ldexp(1, exponent > -1000 ? -exponent : 1000);
}

static double squares_of_row(const matrix_arrays *a, int64_t i, double scale)
{
    double sum = 0;
    for (int64_t k = a->offsets[i]; k < a->offsets[i + 1]; k++) {
        const spry_scalar v = value_load(a->type, a->values, k);
        if (!value_finite(v))
            continue;
        const double re = v.re * scale, im = v.im * scale;
        sum += re * re + im * im;
    }
    return sum;
}

spry_status stats_sums(spry_context *ctx, const matrix_arrays *a, spry_stats *stats)
{
    spry_status status = SPRY_STATUS_OK;
    block_sums *sums = NULL;
    const int64_t blocks = (a->rows + STATS_BLOCK - 1) / STATS_BLOCK;
    const double mean = a->rows > 0 ? (double)a->nnz / (double)a->rows : 0;
    const double scale = scale_for(stats->value_max);
    const int threads = matrix_parts(ctx, a->nnz + a->rows);
    SPRY_GO(ctx, base_calloc(ctx, blocks, sizeof *sums, &sums));
#pragma omp parallel for num_threads(threads) schedule(dynamic, 1)
    for (int64_t block = 0; block < blocks; block++) {
        const int64_t end = (block + 1) * STATS_BLOCK;
        for (int64_t i = block * STATS_BLOCK; i < (end < a->rows ? end : a->rows); i++) {
            const double off = (double)(a->offsets[i + 1] - a->offsets[i]) - mean;
            sums[block].deviation += off * off;
            sums[block].squares += squares_of_row(a, i, scale);
        }
    }
    block_sums total = {0, 0};
    for (int64_t block = 0; block < blocks; block++) {
        total.deviation += sums[block].deviation;
        total.squares += sums[block].squares;
    }
    stats->row_mean = mean;
    stats->row_deviation = a->rows > 0 ? sqrt(total.deviation / (double)a->rows) : 0;
    stats->norm_frobenius = sqrt(total.squares) / scale;
done:
    base_free(ctx, sums);
    return status;
}

void stats_columns(spry_context *ctx, const matrix_arrays *transpose, spry_stats *stats)
{
    const matrix_arrays *t = transpose;
    const int threads = matrix_parts(ctx, t->nnz + t->rows);
    int64_t empty = 0;
    double largest = 0;
#pragma omp parallel for num_threads(threads) schedule(dynamic, STATS_BLOCK)                       \
    reduction(+ : empty) reduction(max : largest)
    for (int64_t j = 0; j < t->rows; j++) {
        double sum = 0;
        for (int64_t k = t->offsets[j]; k < t->offsets[j + 1]; k++) {
            const spry_scalar v = value_load(t->type, t->values, k);
            sum += value_finite(v) ? scalar_size(t->type, v) : 0;
        }
        empty += t->offsets[j] == t->offsets[j + 1];
        largest = sum > largest ? sum : largest;
    }
    stats->empty_cols = empty;
    stats->norm_one = largest;
}
