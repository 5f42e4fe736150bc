/*
 * How a matrix compares with its transpose. Row i of the transpose holds the mirror images of the
 * places of row i; both rows are sorted, so one walk along the two finds every pair.
 */
#include "matrix/stats.h"

typedef struct pairs {
    int64_t entries;                    /* off the diagonal */
    int64_t stored;                     /* of these, with a mirror image that is stored */
    int64_t equal, conjugate, opposite; /* with such a mirror image; 0 where none is stored */
    int64_t nonzero_diagonal;
} pairs;

static void compare_rows(const matrix_arrays *a, const matrix_arrays *t, int64_t i, pairs *p)
{
    int64_t other = t->offsets[i];
    const int64_t end = t->offsets[i + 1];
    for (int64_t k = a->offsets[i]; k < a->offsets[i + 1]; k++) {
        const int32_t j = a->col_index[k];
        const spry_scalar v = value_load(a->type, a->values, k);
        if (j == i) {
            p->nonzero_diagonal += !scalar_zero(v);
            continue;
        }
        while (other < end && t->col_index[other] < j)
            other++;
        const bool stored = other < end && t->col_index[other] == j;
        const spry_scalar m = stored ? value_load(t->type, t->values, other) : (spry_scalar){0, 0};
        p->entries++;
        p->stored += stored;
        p->equal += v.re == m.re && v.im == m.im;
        p->conjugate += v.re == m.re && v.im == -m.im;
        p->opposite += v.re == -m.re && v.im == -m.im;
    }
}

void stats_symmetry(spry_context *ctx, const matrix_arrays *a, const matrix_arrays *transpose,
                    spry_stats *stats)
{
    if (a->rows != a->cols)
        return; /* no place has a mirror image: shares of 0 */
    const int threads = matrix_parts(ctx, a->nnz + a->rows);
    pairs all = {0};
#pragma omp parallel num_threads(threads)
    {
        pairs mine = {0};
#pragma omp for schedule(dynamic, STATS_BLOCK) nowait
        for (int64_t i = 0; i < a->rows; i++)
            compare_rows(a, transpose, i, &mine);
#pragma omp critical(stats_symmetry_merge)
        {
            all.entries += mine.entries;
            all.stored += mine.stored;
            all.equal += mine.equal;
            all.conjugate += mine.conjugate;
            all.opposite += mine.opposite;
            all.nonzero_diagonal += mine.nonzero_diagonal;
        }
    }
    const bool none = all.entries == 0;
    const double entries = (double)all.entries;
    stats->pattern_symmetry = none ? 1 : (double)all.stored / entries;
    stats->value_symmetry = none ? 1 : (double)all.equal / entries;
    stats->hermitian_symmetry = none ? 1 : (double)all.conjugate / entries;
    stats->skew = all.opposite == all.entries && all.nonzero_diagonal == 0;
}
