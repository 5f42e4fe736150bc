/* Statistics of rows and their values. */
#include "matrix/stats.h"

/* The bin of row_histogram: 0, 1, 2-3, 4-7, ... */
static int bin_of(int64_t length)
{
    int bin = 0;
    while (length > 0 && bin < SPRY_STATS_BINS - 1) {
        length >>= 1;
        bin++;
    }
    return bin;
}

/* What one row's values come to. */
typedef struct row_values {
    double others; /* sum of |a_ij|, j != i, finite ones */
    spry_scalar diagonal;
    bool has_diagonal, finite;
} row_values;

ALWAYS_INLINE row_values look_at_values(spry_type type, const matrix_arrays *a, int64_t i,
                                        spry_stats *s)
{
    row_values row = {.finite = true};
    for (int64_t k = a->offsets[i]; k < a->offsets[i + 1]; k++) {
        const spry_scalar v = value_load(type, a->values, k);
        const bool diagonal = a->col_index[k] == i;
        if (diagonal) {
            row.has_diagonal = true;
            row.diagonal = v;
        }
        if (!value_finite(v)) {
            s->nonfinite++;
            row.finite = false;
            continue;
        }
        const double size = scalar_size(type, v);
        s->value_max = size > s->value_max ? size : s->value_max;
        if (size > 0 && size < s->value_min)
            s->value_min = size;
        s->explicit_zeros += size == 0;
        row.others += diagonal ? 0 : size;
    }
    return row;
}

ALWAYS_INLINE void look_at_row(spry_type type, const matrix_arrays *a, int64_t i, spry_stats *s)
{
    const row_values row = look_at_values(type, a, i, s);
    const spry_scalar d = row.diagonal;
    const double size = value_finite(d) ? scalar_size(type, d) : 0;
    const bool on_diagonal = i < a->cols;
    s->missing_diagonal += on_diagonal && !row.has_diagonal;
    s->zero_diagonal += row.has_diagonal && scalar_zero(d);
    s->positive_diagonal += d.re > 0 && d.im == 0;
    s->dominant_rows += row.finite && size >= row.others;
    s->strictly_dominant_rows += row.finite && size > row.others;
    s->norm_inf = size + row.others > s->norm_inf ? size + row.others : s->norm_inf;
}

static void look_at_pattern(const matrix_arrays *a, int64_t i, atomic_uint_least64_t *diagonals,
                            spry_stats *s)
{
    const int64_t begin = a->offsets[i], end = a->offsets[i + 1], length = end - begin;
    s->row_min = length < s->row_min ? length : s->row_min;
    s->row_max = length > s->row_max ? length : s->row_max;
    s->row_histogram[bin_of(length)]++;
    s->empty_rows += length == 0;
    if (length == 0)
        return;
    const int64_t lower = i - a->col_index[begin], upper = a->col_index[end - 1] - i;
    s->lower_bandwidth = lower > s->lower_bandwidth ? lower : s->lower_bandwidth;
    s->upper_bandwidth = upper > s->upper_bandwidth ? upper : s->upper_bandwidth;
    s->profile += lower > 0 ? lower : 0;
    for (int64_t k = begin; k < end; k++) {
        const uint64_t number = (uint64_t)(a->col_index[k] - i + a->rows - 1);
        const uint_least64_t bit = UINT64_C(1) << (number % 64);
        atomic_uint_least64_t *word = &diagonals[number / 64];
        if (!(atomic_load_explicit(word, memory_order_relaxed) & bit))
            atomic_fetch_or_explicit(word, bit, memory_order_relaxed);
    }
}

static void look_at_rows(const matrix_arrays *a, range rows, atomic_uint_least64_t *diagonals,
                         spry_stats *s)
{
    for (int64_t i = rows.begin; i < rows.end; i++) {
        look_at_pattern(a, i, diagonals, s);
        switch (a->type) {
        case SPRY_TYPE_S:
            look_at_row(SPRY_TYPE_S, a, i, s);
            break;
        case SPRY_TYPE_D:
            look_at_row(SPRY_TYPE_D, a, i, s);
            break;
        case SPRY_TYPE_C:
            look_at_row(SPRY_TYPE_C, a, i, s);
            break;
        case SPRY_TYPE_Z:
            look_at_row(SPRY_TYPE_Z, a, i, s);
            break;
        }
    }
}

static void merge_counts(spry_stats *to, const spry_stats *from)
{
    for (int bin = 0; bin < SPRY_STATS_BINS; bin++)
        to->row_histogram[bin] += from->row_histogram[bin];
    to->empty_rows += from->empty_rows;
    to->profile += from->profile;
    to->missing_diagonal += from->missing_diagonal;
    to->zero_diagonal += from->zero_diagonal;
    to->explicit_zeros += from->explicit_zeros;
    to->nonfinite += from->nonfinite;
    to->dominant_rows += from->dominant_rows;
    to->strictly_dominant_rows += from->strictly_dominant_rows;
    to->positive_diagonal += from->positive_diagonal;
}

#define KEEP_MORE(field) to->field = from->field > to->field ? from->field : to->field
#define KEEP_LESS(field) to->field = from->field < to->field ? from->field : to->field
static void merge_extremes(spry_stats *to, const spry_stats *from)
{
    KEEP_LESS(row_min);
    KEEP_MORE(row_max);
    KEEP_MORE(lower_bandwidth);
    KEEP_MORE(upper_bandwidth);
    KEEP_LESS(value_min);
    KEEP_MORE(value_max);
    KEEP_MORE(norm_inf);
}

spry_status stats_rows(spry_context *ctx, const matrix_arrays *a, spry_stats *stats)
{
    spry_status status = SPRY_STATUS_OK;
    atomic_uint_least64_t *diagonals = NULL; /* a bit for each of rows + cols - 1 */
    const int64_t words = (a->rows + a->cols) / 64 + 1;
    const int64_t blocks = (a->rows + STATS_BLOCK - 1) / STATS_BLOCK;
    const int threads = matrix_parts(ctx, a->nnz + a->rows);
    SPRY_GO(ctx, base_calloc(ctx, words, sizeof *diagonals, &diagonals));
    stats->row_min = a->rows > 0 ? INT64_MAX : 0;
    stats->value_min = INFINITY;
#pragma omp parallel num_threads(threads)
    {
        spry_stats mine = {.row_min = INT64_MAX, .value_min = INFINITY};
#pragma omp for schedule(dynamic, 1) nowait
        for (int64_t block = 0; block < blocks; block++) {
            const int64_t begin = block * STATS_BLOCK, end = begin + STATS_BLOCK;
            look_at_rows(a, (range){begin, end < a->rows ? end : a->rows}, diagonals, &mine);
        }
#pragma omp critical(stats_rows_merge)
        {
            merge_counts(stats, &mine);
            merge_extremes(stats, &mine);
        }
    }
    for (int64_t w = 0; w < words; w++)
        stats->diagonals += __builtin_popcountll(atomic_load(&diagonals[w]));
    if (stats->value_max == 0) /* no finite value but 0 */
        stats->value_min = 0;
done:
    base_free(ctx, diagonals);
    return status;
}
