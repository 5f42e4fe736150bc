/*
 * The numbers of incomplete factors with a known pattern: set by set, by all threads.
 *
 * A pivot that is zero, tiny, not finite, or for hermitian matrices not positive, is no failure:
 * the factorization is repeated for a matrix whose diagonal is larger by alpha times the sum of
 * magnitudes of its row, with alpha growing until it works (T. A. Manteuffel, An incomplete
 * factorization technique for positive definite linear systems, Math. Comp. 34 (1980), 473-497).
 */
#include "precon/factors/factors.h"

#include <float.h>

/* A thread's room; lines of the cache are not shared. */
typedef struct place {
    _Alignas(64) ilu_room room;
    int64_t bad; /* the place that failed; -1: none */
} place;

typedef struct run {
    const precon_kernels *kernels;
    ilu_job job;
    int threads;
    place *places;
} run;

static bool factorize_places(void *data, int thread, int64_t begin, int64_t end)
{
    run *r = data;
    place *own = &r->places[thread];
    const int64_t stopped = r->kernels->ilu_rows(&r->job, begin, end, &own->room);
    if (stopped < end)
        own->bad = stopped;
    return stopped == end;
}

static int64_t longest_row(const factors *f)
{
    const int64_t *l = f->chain.t[0].offsets, *u = f->chain.t[1].offsets;
    int64_t longest = 0;
    for (int64_t k = 0; k < f->sets.n; k++) {
        const int64_t length = l[k + 1] - l[k] + u[k + 1] - u[k] + 1;
        longest = length > longest ? length : longest;
    }
    return longest;
}

/* The first place that failed in the sets that were done; -1: none. */
static int64_t first_bad(const run *r)
{
    int64_t first = -1;
    for (int t = 0; t < r->threads; t++) {
        const int64_t bad = r->places[t].bad;
        if (bad >= 0 && (first < 0 || bad < first))
            first = bad;
    }
    return first;
}

static bool row_is_empty(const spry_matrix *A, int64_t i)
{
    for (int64_t k = A->a.offsets[i]; k < A->a.offsets[i + 1]; k++) {
        const spry_scalar v = value_get(A->a.type, A->a.values, k);
        if (v.re != 0 || v.im != 0)
            return false;
    }
    return true;
}

static spry_status fail_pivot(const spry_matrix *A, const factors_wanted *wanted, int64_t i,
                              double shift)
{
    if (row_is_empty(A, i))
        return SPRY_FAIL(A->ctx, SPRY_STATUS_BAD_INPUT,
                         "precon %s: row %" PRId64
                         " (from 0) has no entry but zeros: the matrix is "
                         "singular; take the row and its column out, or give it a diagonal entry",
                         wanted->name, i);
    return SPRY_FAIL(A->ctx, SPRY_STATUS_BAD_INPUT,
                     "precon %s: row %" PRId64 " (from 0): the pivot is %s, with a diagonal shift "
                     "of %g times the row; try %s:shift=%g, more tries, or another ordering",
                     wanted->name, i,
                     wanted->hermitian ? "not positive, or numbers are not finite"
                                       : "zero, or numbers are not finite",
                     shift, wanted->name, shift > 0 ? 10 * shift : 0.01);
}

spry_status factors_next_shift(const spry_matrix *A, const factors_wanted *wanted, int64_t row,
                               int turn, double *shift)
{
    enum { GROWTH = 4 };
    if (turn >= wanted->tries || row_is_empty(A, row))
        return fail_pivot(A, wanted, row, *shift);
    *shift = *shift > 0 ? GROWTH * *shift : 1e-3;
    base_log(A->ctx, SPRY_LOG_INFO,
             "precon %s: no pivot in row %" PRId64 " (from 0); again with a diagonal shift of %g "
             "times the row",
             wanted->name, row, *shift);
    return SPRY_STATUS_OK;
}

/* A single thread takes the rows in A's order, each after those that it needs, where that reads
 * contiguous memory: short rows of A's own pattern. Where it fails, sets report the same place as
 * with several threads. */
static bool factorize_all(const spry_matrix *A, const triangle_sets *sets, run *r)
{
    r->job.in_turn = r->threads == 1 && sets->natural && sets->rows && r->job.own &&
                     A->a.nnz <= ILU_SHORT * A->a.rows;
    if (r->job.in_turn && factorize_places(r, 0, 0, sets->n))
        return true;
    r->job.in_turn = false;
    return triangle_each_stage(A->ctx, sets, r->threads, false, factorize_places, r);
}

/* Tries again with a larger shift while it may. */
static spry_status try_shifts(const spry_matrix *A, const factors_wanted *wanted, run *r,
                              factors *f)
{
    spry_status status = SPRY_STATUS_OK;
    for (int turn = 0;; turn++) {
        for (int t = 0; t < r->threads; t++) {
            place *p = &r->places[t];
            p->bad = -1;
            p->room.largest = p->room.growth = p->room.inverse = 0;
            p->room.dominant = true;
        }
        if (factorize_all(A, &f->sets, r))
            break;
        const int64_t bad = first_bad(r);
        SPRY_GO(A->ctx, factors_next_shift(A, wanted, f->sets.rows ? f->sets.rows[bad] : bad, turn,
                                           &r->job.shift));
    }
    f->shift = r->job.shift;
done:
    return status;
}

double factors_most_growth(spry_type type)
{
    return 1 / (type_is_single(type) ? (double)FLT_EPSILON : DBL_EPSILON);
}

/*
 * Whether the factorization itself shows that the factors are of use, so that no test solve is
 * needed: see judge() in factors.c.
 *
 * Hermitian: with g the largest sum of a row of |L^-1|, of n rows, M times ones is at most g in
 * modulus after L^-1, g max(1/d) after D^-1, and L^-H makes that longer by sqrt(n) g at most, as
 * |L^-1|_2^2 <= |L^-1|_1 |L^-1|_inf.
 * General: A with a dominant diagonal is an H-matrix, and its incomplete factors are a splitting
 * that is regular for the matrix of moduli: |u - M A u| <= |u| in the norm of the maximum (R. S.
 * Varga, E. B. Saff, V. Mehrmann, Incomplete factorizations of matrices and connections with
 * H-matrices, SIAM J. Numer. Anal. 17 (1980), 787-793).
 */
static bool is_sound(const run *r, spry_type type, int64_t n)
{
    ilu_room all = {.dominant = true};
    for (int t = 0; t < r->threads; t++) {
        const ilu_room *own = &r->places[t].room;
        all.largest = fmax(all.largest, own->largest);
        all.growth = fmax(all.growth, own->growth);
        all.inverse = fmax(all.inverse, own->inverse);
        all.dominant = all.dominant && own->dominant;
    }
    if (!r->job.pivot)
        return all.dominant && r->job.shift == 0 && r->job.modified == 0;
    const double most = all.growth * all.growth * all.inverse * sqrt((double)n) * all.largest;
    return 2 * most <= factors_most_growth(type);
}

spry_status factors_mirror(spry_context *ctx, factors *f)
{
    triangle *lower = &f->chain.t[0], *upper = &f->chain.t[1];
    const spry_status status = triangle_turn(ctx, lower, upper);
    if (status == SPRY_STATUS_OK && spry_type_is_complex(lower->type))
        precon_kernels_for(ctx, lower->type)
            ->conjugate_entries(upper->offsets[f->sets.n], upper->values, upper->values);
    return status;
}

static spry_status make_places(spry_context *ctx, const factors *f, run *r)
{
    const int64_t longest = longest_row(f);
    const size_t size = spry_type_size(f->chain.type);
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(ctx, base_calloc(ctx, r->threads, sizeof *r->places, &r->places));
    for (int t = 0; t < r->threads; t++) {
        ilu_room *room = &r->places[t].room;
        SPRY_GO(ctx, base_alloc(ctx, longest + 1, sizeof *room->columns, &room->columns));
        SPRY_GO(ctx, base_alloc(ctx, longest + ILU_LOST, size, &room->values));
        if (f->own && longest <= ILU_MERGED)
            continue;
        SPRY_GO(ctx, base_alloc(ctx, f->sets.n, sizeof *room->where, &room->where));
        for (int64_t k = 0; k < f->sets.n; k++)
            room->where[k] = ilu_lost((int32_t)k);
    }
done:
    return status;
}

static void free_places(spry_context *ctx, run *r)
{
    for (int t = 0; t < r->threads && r->places; t++) {
        base_free(ctx, r->places[t].room.columns);
        base_free(ctx, r->places[t].room.values);
        base_free(ctx, r->places[t].room.where);
    }
    base_free(ctx, r->places);
}

spry_status factors_compute(const spry_matrix *A, const factors_wanted *wanted, factors *f)
{
    spry_context *ctx = A->ctx;
    const triangle *l = &f->chain.t[0], *u = &f->chain.t[1];
    const int64_t n = f->sets.n, work = l->offsets[n] + u->offsets[n];
    const size_t size = spry_type_size(l->type);
    spry_status status = SPRY_STATUS_OK;
    run r = {.kernels = precon_kernels_for(ctx, l->type),
             .threads = triangle_threads(ctx, &f->sets, work)};
    r.job = (ilu_job){.a_offsets = A->a.offsets,
                      .a_columns = A->a.col_index,
                      .a_values = A->a.values,
                      .rows = f->sets.rows,
                      .places = f->sets.places,
                      .l_offsets = l->offsets,
                      .u_offsets = u->offsets,
                      .l_columns = l->columns,
                      .u_columns = u->columns,
                      .l_values = l->values,
                      .u_values = u->values,
                      .inverse = f->chain.f[1],
                      .own = f->own,
                      .shift = wanted->shift,
                      .modified = wanted->modified};
    if (wanted->hermitian) {
        SPRY_GO(ctx, base_alloc(ctx, n, size, &r.job.pivot));
        SPRY_GO(ctx, base_alloc(ctx, n, size, &r.job.growth));
    }
    SPRY_GO(ctx, make_places(ctx, f, &r));
    SPRY_GO(ctx, try_shifts(A, wanted, &r, f));
    f->sound = is_sound(&r, l->type, n);
done:
    base_free(ctx, r.job.pivot);
    base_free(ctx, r.job.growth);
    free_places(ctx, &r);
    return status;
}
