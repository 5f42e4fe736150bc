/* What the rows of A show, and a trial of a few steps. */
#include "choose/traits.h"

#include "precon/trial.h"

#include <float.h>

enum { PIECES = 256 };

/* What an entry is of all off the diagonal where ilut drops it. */
static const double light = 1e-3;

/* Sums over a piece of the rows. Pieces are always as many and added up in turn, so that no
 * decision depends on the number of threads. */
typedef struct part_sums {
    int64_t bad, zero, longest;
    double below, all, least;
    double upper;    /* of all */
    double distance; /* of entries from the diagonal, all together */
    int64_t heavy;
} part_sums;

/* Entries of a row off the diagonal that are not light. */
static int64_t count_heavy(const matrix_arrays *a, int64_t i, double rest)
{
    int64_t count = 0;
    for (int64_t k = a->offsets[i]; k < a->offsets[i + 1]; k++) {
        const spry_scalar v = value_load(a->type, a->values, k);
        count += a->col_index[k] != i && fabs(v.re) + fabs(v.im) > light * rest;
    }
    return count;
}

static part_sums look_at(const matrix_arrays *a, int64_t begin, int64_t end)
{
    part_sums sums = {.bad = a->rows, .zero = a->rows, .least = DBL_MAX};
    for (int64_t i = begin; i < end; i++) {
        spry_scalar d = {0, 0};
        double rest = 0;
        for (int64_t k = a->offsets[i]; k < a->offsets[i + 1]; k++) {
            const spry_scalar v = value_load(a->type, a->values, k);
            const double size = fabs(v.re) + fabs(v.im);
            if (a->col_index[k] == i) {
                d = v;
                continue;
            }
            rest += size;
            sums.upper += a->col_index[k] > i ? size : 0;
            sums.distance += fabs((double)(a->col_index[k] - i));
            sums.below += v.re < 0 ? -v.re : 0;
        }
        sums.all += rest;
        sums.heavy += count_heavy(a, i, rest);
        const int64_t length = a->offsets[i + 1] - a->offsets[i];
        sums.longest = length > sums.longest ? length : sums.longest;
        const double share = rest > 0 ? (fabs(d.re) + fabs(d.im)) / rest : DBL_MAX;
        sums.least = share < sums.least ? share : sums.least;
        if ((!(d.re > 0) || d.im != 0) && i < sums.bad)
            sums.bad = i;
        if (d.re == 0 && d.im == 0 && i < sums.zero)
            sums.zero = i;
    }
    return sums;
}

traits traits_of_rows(const spry_matrix *A)
{
    const matrix_arrays *a = &A->a;
    part_sums parts[PIECES], sums = {.bad = a->rows, .zero = a->rows, .least = DBL_MAX};
#pragma omp parallel for num_threads(matrix_parts(A->ctx, a->nnz)) schedule(static)
    for (int p = 0; p < PIECES; p++)
        parts[p] = look_at(a, a->rows * p / PIECES, a->rows * (p + 1) / PIECES);
    for (int p = 0; p < PIECES; p++) {
        sums.bad = parts[p].bad < sums.bad ? parts[p].bad : sums.bad;
        sums.zero = parts[p].zero < sums.zero ? parts[p].zero : sums.zero;
        sums.least = parts[p].least < sums.least ? parts[p].least : sums.least;
        sums.longest = parts[p].longest > sums.longest ? parts[p].longest : sums.longest;
        sums.below += parts[p].below;
        sums.all += parts[p].all;
        sums.upper += parts[p].upper;
        sums.distance += parts[p].distance;
        sums.heavy += parts[p].heavy;
    }
    return (traits){.positive = sums.bad == a->rows,
                    .full = sums.zero == a->rows,
                    .bad = sums.bad,
                    .negative = sums.all > 0 ? sums.below / sums.all : 0,
                    .dominance = sums.least,
                    .lesser = sums.all > 0 ? fmin(sums.upper, sums.all - sums.upper) / sums.all : 0,
                    .longest = (double)sums.longest * (double)a->rows / (double)(a->nnz + 1),
                    .heavy = (double)sums.heavy / (double)(a->rows + 1),
                    .distance = sums.distance / (double)(a->nnz + 1) / (double)(a->rows + 1)};
}

double traits_skew(const spry_matrix *A)
{
    const matrix_arrays *a = &A->a;
    const int64_t sample = 2000, step = a->rows / sample + 1;
    double different = 0, all = 0;
    for (int64_t i = 0; i < a->rows; i += step)
        for (int64_t k = a->offsets[i]; k < a->offsets[i + 1]; k++) {
            if (a->col_index[k] == i)
                continue;
            const int64_t at = matrix_find(a, a->col_index[k], i);
            const spry_scalar v = value_load(a->type, a->values, k);
            const spry_scalar w =
                at >= 0 ? value_load(a->type, a->values, at) : (spry_scalar){0, 0};
            different += hypot(v.re - w.re, v.im + w.im);
            all += 2 * hypot(v.re, v.im);
        }
    return all > 0 ? different / all : 0;
}

spry_status traits_try_diagonal(const spry_matrix *given, const spry_matrix *A, traits *t)
{
    precon_trial_result found;
    if (t->indefinite || !(t->hermitian ? t->positive : t->full))
        return SPRY_STATUS_OK;
    const base_kept before = base_try(A->ctx);
    const spry_status status = precon_trial(A, t->hermitian, &found);
    if (status == SPRY_STATUS_NO_MEMORY) /* the rows have to say enough */
        base_forgive(A->ctx, &before);
    if (status != SPRY_STATUS_OK)
        return status == SPRY_STATUS_NO_MEMORY ? SPRY_STATUS_OK : status;
    t->iterations = found.iterations;
    t->indefinite = found.indefinite;
    if (t->indefinite)
        matrix_note(given, SPRY_FACT_DEFINITE, false);
    return SPRY_STATUS_OK;
}
