/*
 * The numbers of incomplete factors with a known pattern: set by set, by all threads.
 *
 * A pivot that is zero, tiny, not finite, or for hermitian matrices not positive, is no reason to
 * give up: the factorization is made anew for a matrix whose diagonal is larger by alpha times the
 * sum of magnitudes of its row, with alpha growing until it works (T. A. Manteuffel, An incomplete
 * factorization technique for positive definite linear systems, Math. Comp. 34 (1980), 473-497).
 */
#include "precon/factors.h"

typedef struct run {
    const precon_kernels *kernels;
    ilu_job job;
    int64_t n, longest;
    size_t size;
    int32_t *where; /* n for each thread */
    char *room;     /* longest for each thread */
    int64_t *bad;   /* the place that failed, for each thread; -1: none */
} run;

static bool factorize_places(void *data, int thread, int64_t begin, int64_t end)
{
    run *r = data;
    const int64_t stopped = r->kernels->ilu_rows(&r->job, begin, end, r->where + thread * r->n,
                                                 r->room + (size_t)(thread * r->longest) * r->size);
    if (stopped < end)
        r->bad[thread] = stopped;
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
static int64_t first_bad(const run *r, int threads)
{
    int64_t first = -1;
    for (int t = 0; t < threads; t++)
        if (r->bad[t] >= 0 && (first < 0 || r->bad[t] < first))
            first = r->bad[t];
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
                     "of %g times the row; try %s:shift=%g, more tries, or another order",
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

/* Tries once more with a larger shift while it may. */
static spry_status try_shifts(const spry_matrix *A, const factors_wanted *wanted, int threads,
                              run *r, factors *f)
{
    spry_status status = SPRY_STATUS_OK;
    for (int turn = 0;; turn++) {
        for (int t = 0; t < threads; t++)
            r->bad[t] = -1;
        if (triangle_each_stage(A->ctx, &f->sets, threads, false, factorize_places, r))
            break;
        const int64_t bad = first_bad(r, threads);
        SPRY_GO(A->ctx, factors_next_shift(A, wanted, f->sets.rows ? f->sets.rows[bad] : bad, turn,
                                           &r->job.shift));
    }
    f->shift = r->job.shift;
done:
    return status;
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

spry_status factors_compute(const spry_matrix *A, const factors_wanted *wanted, factors *f)
{
    spry_context *ctx = A->ctx;
    const triangle *l = &f->chain.t[0], *u = &f->chain.t[1];
    const int64_t n = f->sets.n, work = l->offsets[n] + u->offsets[n];
    const int threads = triangle_threads(ctx, &f->sets, work);
    spry_status status = SPRY_STATUS_OK;
    run r = {.kernels = precon_kernels_for(ctx, l->type),
             .n = n,
             .longest = longest_row(f),
             .size = spry_type_size(l->type)};
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
                      .shift = wanted->shift,
                      .modified = wanted->modified,
                      .hermitian = wanted->hermitian};
    /* What modified ones lose on one side would go to the diagonals of rows on the other. */
    if (wanted->hermitian && wanted->modified == 0)
        SPRY_GO(ctx, base_alloc(ctx, n, r.size, &r.job.pivot));
    SPRY_GO(ctx, base_calloc(ctx, n * threads, sizeof *r.where, &r.where));
    SPRY_GO(ctx, base_alloc(ctx, r.longest * threads, r.size, &r.room));
    SPRY_GO(ctx, base_alloc(ctx, threads, sizeof *r.bad, &r.bad));
    SPRY_GO(ctx, try_shifts(A, wanted, threads, &r, f));
    if (wanted->hermitian && !r.job.pivot)
        SPRY_GO(ctx, factors_mirror(ctx, f));
done:
    base_free(ctx, r.job.pivot);
    base_free(ctx, r.where);
    base_free(ctx, r.room);
    base_free(ctx, r.bad);
    return status;
}
