/* Rows of R A P: a row of R A first, whose sums are few, then that times P. */
#include "precon/kernels/places.h"

#include "matrix/entries.h"

enum { AHEAD = 8 }; /* rows that are asked for before they are needed */

/* Adds f times a row. */
ALWAYS_INLINE void add_row(const host_csr *B, int64_t row, scalar f, amg_places *at, scalar *sums)
{
    const scalar *values = B->values;
    const int32_t *columns = B->columns;
    const int64_t end = B->offsets[row + 1];
    for (int64_t l = B->offsets[row]; l < end; l++)
        add_to(at, sums, columns[l], f, values[l]);
}

ALWAYS_INLINE void ask_for(const host_csr *B, int64_t row)
{
    const int64_t at = B->offsets[row];
    __builtin_prefetch(B->columns + at);
    __builtin_prefetch((const scalar *)B->values + at);
}

/* sum f_k B(rows_k, :) */
static amg_places add_rows(const host_csr *B, const int32_t *rows, const scalar *f, int64_t count,
                           amg_places at, scalar *sums)
{
    begin_places(&at);
    for (int64_t k = 0; k < count; k++) {
        if (k + AHEAD < count)
            ask_for(B, rows[k + AHEAD]);
        add_row(B, rows[k], f[k], &at, sums);
    }
    return at;
}

int64_t X(amg_galerkin)(amg_galerkin_job *job, int64_t begin, int64_t end)
{
    const host_csr *R = &job->R;
    amg_places *fine = &job->fine, *coarse = &job->coarse;
    for (int64_t row = begin; row < end; row++) {
        const int64_t first = R->offsets[row], count = R->offsets[row + 1] - first;
        *fine = add_rows(&job->A, R->columns + first, (const scalar *)R->values + first, count,
                         *fine, job->fine_sums);
        *coarse = add_rows(&job->P, fine->list, job->fine_sums, fine->found, *coarse, job->sums);
        if (coarse->found > job->room - job->count)
            return row;
        matrix_sort_columns(coarse->list, coarse->found);
        int32_t *columns = job->columns + job->count;
        scalar *values = (scalar *)job->values + job->count;
        for (int32_t k = 0; k < coarse->found; k++) {
            columns[k] = coarse->list[k];
            values[k] = ((const scalar *)job->sums)[place_of(coarse, coarse->list[k])];
        }
        job->lengths[row] = coarse->found;
        job->count += coarse->found;
    }
    return end;
}
