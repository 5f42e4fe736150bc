/* What the rows of A show, and a trial of a few steps. */
#include "choose/traits.h"

#include "matrix/stats.h"
#include "precon/trial.h"

#include <float.h>

enum { PIECES = 256 };

/* Light entries are counted in one of so many rows. */
enum { EACH = 8 };

/* What an entry is of all off the diagonal where ilut drops it. */
static const double light = 1e-3;

/* How many times the weakest entry off the diagonal the strongest one is at most where all are of
 * about one size: the triangles and tetrahedra of even meshes have that. */
static const double alike = 8;

/* Sums over a piece of the rows. Pieces are always as many and added up in turn, so that no
 * decision depends on the number of threads. */
typedef struct part_sums {
    int64_t bad, zero, longest;
    double below, all, least;
    double upper;              /* of all */
    double distance;           /* of entries from the diagonal, all together */
    double weakest, strongest; /* entry off the diagonal that is not 0 */
    int64_t heavy;
} part_sums;

/* Entries of a row off the diagonal that are not light. */
ALWAYS_INLINE int64_t count_heavy(const matrix_arrays *a, spry_type type, int64_t i, double rest)
{
    int64_t count = 0;
    for (int64_t k = a->offsets[i]; k < a->offsets[i + 1]; k++) {
        const spry_scalar v = value_load(type, a->values, k);
        count += a->col_index[k] != i && fabs(v.re) + fabs(v.im) > light * rest;
    }
    return count;
}

ALWAYS_INLINE part_sums look_at_typed(const matrix_arrays *a, spry_type type, int64_t begin,
                                      int64_t end)
{
    part_sums sums = {.bad = a->rows, .zero = a->rows, .least = DBL_MAX, .weakest = DBL_MAX};
    for (int64_t i = begin; i < end; i++) {
        spry_scalar d = {0, 0};
        double rest = 0;
        for (int64_t k = a->offsets[i]; k < a->offsets[i + 1]; k++) {
            const spry_scalar v = value_load(type, a->values, k);
            const double size = fabs(v.re) + fabs(v.im);
            if (a->col_index[k] == i) {
                d = v;
                continue;
            }
            rest += size;
            sums.weakest = size > 0 && size < sums.weakest ? size : sums.weakest;
            sums.strongest = size > sums.strongest ? size : sums.strongest;
            sums.upper += a->col_index[k] > i ? size : 0;
            sums.distance += fabs((double)(a->col_index[k] - i));
            sums.below += v.re < 0 ? -v.re : 0;
        }
        sums.all += rest;
        sums.heavy += i % EACH == 0 ? count_heavy(a, type, i, rest) : 0;
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

static part_sums look_at(const matrix_arrays *a, int64_t begin, int64_t end)
{
    switch (a->type) {
    case SPRY_TYPE_S:
        return look_at_typed(a, SPRY_TYPE_S, begin, end);
    case SPRY_TYPE_D:
        return look_at_typed(a, SPRY_TYPE_D, begin, end);
    case SPRY_TYPE_C:
        return look_at_typed(a, SPRY_TYPE_C, begin, end);
    default:
        return look_at_typed(a, SPRY_TYPE_Z, begin, end);
    }
}

traits traits_of_rows(const spry_matrix *A)
{
    const matrix_arrays *a = &A->a;
    part_sums parts[PIECES],
        sums = {.bad = a->rows, .zero = a->rows, .least = DBL_MAX, .weakest = DBL_MAX};
#pragma omp parallel for num_threads(matrix_parts(A->ctx, a->nnz)) schedule(static)
    for (int p = 0; p < PIECES; p++)
        parts[p] = look_at(a, a->rows * p / PIECES, a->rows * (p + 1) / PIECES);
    for (int p = 0; p < PIECES; p++) {
        sums.bad = parts[p].bad < sums.bad ? parts[p].bad : sums.bad;
        sums.zero = parts[p].zero < sums.zero ? parts[p].zero : sums.zero;
        sums.least = parts[p].least < sums.least ? parts[p].least : sums.least;
        sums.longest = parts[p].longest > sums.longest ? parts[p].longest : sums.longest;
        sums.weakest = fmin(parts[p].weakest, sums.weakest);
        sums.strongest = fmax(parts[p].strongest, sums.strongest);
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
                    .alike = sums.strongest <= alike * sums.weakest,
                    .heavy = (double)(sums.heavy * EACH) / (double)(a->rows + EACH),
                    .distance = sums.distance / (double)(a->nnz + 1) / (double)(a->rows + 1)};
}

/* --- depth ---------------------------------------------------------------------------------------
 */

/* A search that visits a row and its neighbours, level by level. */
typedef struct ball {
    bool *seen;
    int64_t *rows; /* in the order of their visits */
    int64_t count, entries;
    int64_t most; /* rows that decide */
} ball;

/* Rows and entries that a neighbourhood looks at at most: more is deep in any case. */
enum { BALL_ROWS = 4000, BALL_ENTRIES = 100000 };

static void visit(ball *b, int64_t row)
{
    if (!b->seen[row] && b->count < b->most) {
        b->seen[row] = true;
        b->rows[b->count++] = row;
    }
}

/* Visits what the rows from `from` on are next to. */
static void widen(ball *b, const matrix_arrays *a, int64_t from)
{
    const int64_t to = b->count;
    for (int64_t r = from; r < to && b->entries < BALL_ENTRIES && b->count < b->most; r++) {
        const int64_t i = b->rows[r];
        b->entries += a->offsets[i + 1] - a->offsets[i];
        for (int64_t k = a->offsets[i]; k < a->offsets[i + 1]; k++)
            visit(b, a->col_index[k]);
    }
}

/* Whether more than so many times as many rows are within twice some steps, or too many to see. */
static bool grows(ball *b, const matrix_arrays *a, int64_t row, double times)
{
    enum { NEAR = 3 };
    int64_t from = 0;
    b->count = b->entries = 0;
    b->most = BALL_ROWS;
    visit(b, row);
    for (int step = 0; step < 2 * NEAR; step++) {
        const int64_t reached = b->count;
        widen(b, a, from);
        from = reached;
        if (step + 1 == NEAR && b->count < BALL_ROWS)
            b->most = (int64_t)fmin(times * (double)b->count + 1, BALL_ROWS);
    }
    for (int64_t k = 0; k < b->count; k++)
        b->seen[b->rows[k]] = false;
    return b->count == b->most || b->entries >= BALL_ENTRIES;
}

spry_status traits_find_depth(const spry_matrix *A, bool *deep)
{
    /* Growths are 3.4 (5 points) and 3.5 (9 points) in two dimensions, 6 and 6.4 (7 and 27 points)
     * in three: the limit is 2 to the power of 2.2. Most of the samples decide. */
    enum { SAMPLES = 9 };
    static const double plane = 4.6, golden = 0.6180339887498949;
    const matrix_arrays *a = &A->a;
    ball b = {0};
    int grown = 0;
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(A->ctx, base_calloc(A->ctx, a->rows + 1, sizeof *b.seen, &b.seen));
    SPRY_GO(A->ctx, base_alloc(A->ctx, BALL_ROWS, sizeof *b.rows, &b.rows));
    for (int s = 1;
         s <= SAMPLES && a->rows > 0 && 2 * grown <= SAMPLES && 2 * (s - 1 - grown) <= SAMPLES;
         s++) {
        const double share =
            fmod(s * golden, 1); /* lines of a grid are not all met at their ends */
        grown += grows(&b, a, (int64_t)(share * (double)a->rows), plane);
    }
    *deep = 2 * grown > SAMPLES;
done:
    base_free(A->ctx, b.seen);
    base_free(A->ctx, b.rows);
    return status;
}

double traits_skew(const spry_matrix *A)
{
    const matrix_arrays *a = &A->a;
    const int64_t sample = 500, step = a->rows / sample + 1;
    double different = 0, all = 0;
    for (int64_t i = 0; i < a->rows; i += step)
        for (int64_t k = a->offsets[i]; k < a->offsets[i + 1]; k++) {
            if (a->col_index[k] == i)
                continue;
            const int64_t at = matrix_find(a, a->col_index[k], i);
            const spry_scalar v = value_load(a->type, a->values, k);
            const spry_scalar w =
                at >= 0 ? value_load(a->type, a->values, at) : (spry_scalar){0, 0};
            different += scalar_size(a->type, (spry_scalar){v.re - w.re, v.im + w.im});
            all += 2 * scalar_size(a->type, v);
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
