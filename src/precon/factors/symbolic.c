/*
 * The pattern of incomplete factors by levels of fill.
 *
 * Entry (i, j) of the factors has level k where the shortest way from i to j in the graph of A,
 * over rows that come before both, has k + 1 edges (D. Hysom, A. Pothen, Level-based incomplete LU
 * factorization: graph model and algorithms, LLNL UCRL-JC-150789, 2002). Entries behind the
 * diagonal are so found by a search from each row, all rows at once; those before it by the same in
 * A^T.
 */
#include "precon/factors/factors.h"

#include <omp.h>
#include <spry/reorder.h>

/* A pattern in the making. */
typedef struct fill {
    const spry_matrix *A;
    const int32_t *rank; /* of each row in the order; NULL: its number */
    int level;
    int64_t *offsets;
    int32_t *columns;
} fill;

static void clear_fill(spry_context *ctx, fill *f)
{
    base_free(ctx, f->offsets);
    base_free(ctx, f->columns);
    *f = (fill){0};
}

static bool comes_before(const fill *f, int64_t i, int64_t j)
{
    return f->rank ? f->rank[i] < f->rank[j] : i < j;
}

/* Entries of row i behind the diagonal: how many, the first `most` of them to `to`. `seen` is not
 * i + 1 anywhere at first; `ways` has room for all rows. */
static int64_t search(const fill *f, int64_t i, int32_t *seen, int32_t *ways, int32_t *to,
                      int64_t most)
{
    const matrix_arrays *a = &f->A->a;
    const int32_t stamp = (int32_t)i + 1;
    int64_t begin = 0, end = 1, found = 0;
    ways[0] = (int32_t)i;
    seen[i] = stamp;
    for (int depth = 0; depth <= f->level && begin < end; depth++) {
        const int64_t stop = end;
        for (; begin < stop; begin++)
            for (int64_t k = a->offsets[ways[begin]]; k < a->offsets[ways[begin] + 1]; k++) {
                const int32_t j = a->col_index[k];
                if (seen[j] == stamp)
                    continue;
                seen[j] = stamp;
                if (comes_before(f, j, i)) {
                    ways[end++] = j;
                } else {
                    if (found < most)
                        to[found] = j;
                    found++;
                }
            }
    }
    return found;
}

/* What threads search with, and rows that were kept when they were counted, so that they need not
 * be searched for twice. */
typedef struct search_room {
    int threads;
    int32_t *marks; /* seen and ways of each thread */
    int32_t *store;
    int64_t each; /* entries of the store of each thread */
    int64_t *at;  /* where a row is in it; -1: there was no room */
} search_room;

static int64_t count_row(const fill *f, const search_room *room, int64_t i, int32_t *marks,
                         int64_t *next, int64_t end)
{
    const int64_t most = end - *next;
    const int64_t found = search(f, i, marks, marks + f->A->a.rows, room->store + *next, most);
    room->at[i] = found <= most ? *next : -1;
    *next += found <= most ? found : 0;
    return found;
}

static void write_row(const fill *f, const search_room *room, int64_t i, int32_t *marks)
{
    int32_t *to = f->columns + f->offsets[i];
    const int64_t length = f->offsets[i + 1] - f->offsets[i];
    if (room->at[i] >= 0)
        memcpy(to, room->store + room->at[i], (size_t)length * sizeof *to);
    else
        search(f, i, marks, marks + f->A->a.rows, to, length);
}

/* All rows; with columns allocated they are written, otherwise counted. Fill can be more than
 * anyone will wait for. */
static spry_status search_all(const fill *f, const search_room *room)
{
    const int64_t n = f->A->a.rows;
#pragma omp parallel num_threads(room->threads)
    {
        const int thread = omp_get_thread_num();
        int32_t *marks = room->marks + 2 * n * thread;
        int64_t next = room->each * thread;
        const int64_t end = next + room->each;
        memset(marks, 0, (size_t)n * sizeof *marks);
#pragma omp for schedule(dynamic, 512)
        for (int64_t i = 0; i < n; i++) {
            if (spry_context_interrupted(f->A->ctx, false))
                continue; /* it is looked at afterwards */
            if (f->columns)
                write_row(f, room, i, marks);
            else
                f->offsets[i + 1] = count_row(f, room, i, marks, &next, end);
        }
    }
    return spry_context_interrupted(f->A->ctx, false)
               ? SPRY_FAIL(f->A->ctx, SPRY_STATUS_INTERRUPTED,
                           "fill of level %d: interrupted; take a lower one", f->level)
               : SPRY_STATUS_OK;
}

/* The entries behind the diagonal. */
static spry_status find_fill(const spry_matrix *A, const int32_t *rank, int level, fill *f)
{
    enum { TIMES = 2 }; /* the entries of A: what the first levels of fill take, as a rule */
    spry_context *ctx = A->ctx;
    const int64_t n = A->a.rows;
    search_room room = {.threads = host_threads(ctx, A->a.nnz + n)};
    spry_status status = SPRY_STATUS_OK;
    *f = (fill){.A = A, .rank = rank, .level = level};
    room.each = TIMES * A->a.nnz / room.threads;
    SPRY_GO(ctx, base_alloc(ctx, n + 1, sizeof *f->offsets, &f->offsets));
    SPRY_GO(ctx, base_alloc(ctx, n * room.threads, 2 * sizeof *room.marks, &room.marks));
    SPRY_GO(ctx, base_alloc(ctx, room.each * room.threads, sizeof *room.store, &room.store));
    SPRY_GO(ctx, base_alloc(ctx, n, sizeof *room.at, &room.at));
    f->offsets[0] = 0;
    SPRY_GO(ctx, search_all(f, &room));
    SPRY_GO(ctx, base_prefix_sum(ctx, f->offsets, n));
    SPRY_GO(ctx, base_alloc(ctx, f->offsets[n], sizeof *f->columns, &f->columns));
    SPRY_GO(ctx, search_all(f, &room));
done:
    base_free(ctx, room.marks);
    base_free(ctx, room.store);
    base_free(ctx, room.at);
    if (status != SPRY_STATUS_OK)
        clear_fill(ctx, f);
    return status;
}

/* Both triangles: `above` of A and `below` of A^T, which is left empty where the pattern is
 * symmetric, or is to be taken so. */
static spry_status find_both(const spry_matrix *A, const factors_wanted *wanted,
                             const int32_t *rank, fill *above, fill *below)
{
    spry_context *ctx = A->ctx;
    bool symmetric = wanted->hermitian;
    spry_matrix *transposed = NULL;
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(ctx, find_fill(A, rank, wanted->level, above));
    if (!symmetric)
        SPRY_GO(ctx, matrix_find_out(ctx, A, SPRY_FACT_PATTERN_SYMMETRIC, &symmetric));
    if (!symmetric) {
        SPRY_GO(ctx, spry_matrix_transpose(A, false, &transposed));
        SPRY_GO(ctx, find_fill(transposed, rank, wanted->level, below));
    }
done:
    spry_matrix_free(transposed);
    return status;
}

/* Entries of row i of A before the diagonal, in the order of places, and all but it. */
static int64_t count_lower(const spry_matrix *A, const triangle_sets *sets, int64_t i,
                           int64_t *both)
{
    const int64_t begin = A->a.offsets[i], end = A->a.offsets[i + 1];
    const int32_t *columns = A->a.col_index;
    int64_t e = begin + (end - begin) / 2, lower = 0;
    if (sets->natural ||
        !sets->places) { /* columns rise, with the diagonal in the middle of most */
        if (e == end || columns[e] != i)
            for (e = begin; e < end && columns[e] < i;)
                e++;
        *both = end - begin - (e < end && columns[e] == i);
        return e - begin;
    }
    *both = 0;
    for (e = begin; e < end; e++) {
        *both += columns[e] != i;
        lower += sets->places[columns[e]] < sets->places[i];
    }
    return lower;
}

/* Room for both triangles of A, lower first: columns are not written. */
static spry_status make_room(const spry_matrix *A, const triangle_sets *sets, triangle t[2])
{
    spry_context *ctx = A->ctx;
    const int64_t n = sets->n;
    spry_status status = SPRY_STATUS_OK;
    for (int side = 0; side < 2; side++) {
        t[side] = (triangle){.sets = sets, .type = A->a.type, .upper = side == 1};
        SPRY_GO(ctx, base_alloc(ctx, n + 1, sizeof *t->offsets, &t[side].offsets));
        t[side].offsets[0] = 0;
    }
#pragma omp parallel for num_threads(host_threads(ctx, A->a.nnz + n)) schedule(static)
    for (int64_t i = 0; i < n; i++) {
        const int64_t k = sets->places ? sets->places[i] : i;
        int64_t both;
        const int64_t lower = count_lower(A, sets, i, &both);
        t[0].offsets[k + 1] = lower;
        t[1].offsets[k + 1] = both - lower;
    }
    for (int side = 0; side < 2; side++) {
        SPRY_GO(ctx, base_prefix_sum(ctx, t[side].offsets, n));
        SPRY_GO(ctx, base_alloc(ctx, t[side].offsets[n], sizeof *t->columns, &t[side].columns));
        SPRY_GO(ctx, base_alloc(ctx, t[side].offsets[n], spry_type_size(t->type), &t[side].values));
    }
done:
    return status;
}

/* The pattern is A's own. */
static spry_status take_pattern(const spry_matrix *A, const factors_wanted *wanted,
                                const int32_t *perm, bool always, factors *f)
{
    spry_context *ctx = A->ctx;
    const bool symmetric = wanted->hermitian
                               ? wanted->symmetric
                               : matrix_known(A, SPRY_FACT_PATTERN_SYMMETRIC) == SPRY_TRUTH_YES;
    const triangle_pattern p = {A->a.offsets, A->a.col_index, symmetric, true};
    triangle *t = f->chain.t;
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(ctx, triangle_sets_make(ctx, A->a.rows, &p, 1, perm, always, &f->sets));
    if (wanted->hermitian && !wanted->symmetric) { /* zeros on one side alone */
        SPRY_GO(ctx, triangle_of_pattern(ctx, &p, NULL, &f->sets, A->a.type, false, &t[0]));
        SPRY_GO(ctx, triangle_transpose(ctx, &t[0], &t[1]));
    } else if (wanted->construct == FACTORS_EXACT) {
        SPRY_GO(ctx, make_room(A, &f->sets, t));
        f->own = true;
    } else {
        SPRY_GO(ctx, triangles_of_pattern(ctx, &p, &f->sets, A->a.type, t));
    }
done:
    return status;
}

static spry_status take_fill(const spry_matrix *A, const factors_wanted *wanted,
                             const int32_t *perm, bool always, factors *f)
{
    spry_context *ctx = A->ctx;
    const spry_type type = A->a.type;
    fill above = {0}, below = {0};
    triangle turned = {0}, *t = f->chain.t;
    int32_t *rank = NULL;
    spry_status status = SPRY_STATUS_OK;
    if (perm)
        SPRY_GO(ctx, matrix_invert(ctx, "order", perm, A->a.rows, &rank));
    SPRY_GO(ctx, find_both(A, wanted, rank, &above, &below));
    const triangle_pattern p[2] = {{.offsets = above.offsets, .columns = above.columns},
                                   {.offsets = below.offsets, .columns = below.columns}};
    SPRY_GO(ctx,
            triangle_sets_make(ctx, A->a.rows, p, below.offsets ? 2 : 1, perm, always, &f->sets));
    SPRY_GO(ctx, triangle_of_pattern(ctx, &p[0], NULL, &f->sets, type, true, &t[1]));
    if (!below.offsets) {
        SPRY_GO(ctx, triangle_transpose(ctx, &t[1], &t[0]));
    } else {
        SPRY_GO(ctx, triangle_of_pattern(ctx, &p[1], NULL, &f->sets, type, true, &turned));
        clear_fill(ctx, &above);
        clear_fill(ctx, &below);
        SPRY_GO(ctx, triangle_transpose(ctx, &turned, &t[0]));
    }
done:
    base_free(ctx, rank);
    clear_fill(ctx, &above);
    clear_fill(ctx, &below);
    triangle_clear(ctx, &turned);
    return status;
}

spry_status factors_analyse(const spry_matrix *A, const factors_wanted *wanted, const int32_t *perm,
                            bool always, factors *f)
{
    spry_context *ctx = A->ctx;
    spry_status status = SPRY_STATUS_OK;
    f->chain = (triangle_chain){.sets = &f->sets, .type = A->a.type};
    status = wanted->level == 0 ? take_pattern(A, wanted, perm, always, f)
                                : take_fill(A, wanted, perm, always, f);
    if (status == SPRY_STATUS_NO_MEMORY && wanted->level > 0)
        SPRY_CAUSE(ctx, status, "precon %s: fill of level %d; take a lower one", wanted->name,
                   wanted->level);
    if (status == SPRY_STATUS_OK)
        status = base_calloc(ctx, A->a.rows, spry_type_size(A->a.type), &f->chain.f[1]);
    return status;
}
