/* The order of small sparse matrices, and room for their factors. */
#include "direct/lu.h"

#include "matrix/algebra/algebra.h"
#include "matrix/entries.h"

/* Rows at most, and operations for each: beyond these fronts gain more than they cost. */
enum { MOST_ROWS = 4096, MOST_EACH = 5000 };

/* Partial pivoting keeps a wanted pivot that is a tenth of its row. */
static const double threshold = 0.1;

void lu_free(lu *l)
{
    if (!l)
        return;
    void *const all[] = {l->numbers, l->f.left, l->f.c_step, l->f.r_step, l->f.c, l->f.r, l->f.x};
    for (size_t k = 0; k < sizeof all / sizeof *all; k++)
        base_free(l->ctx, all[k]);
    base_free(l->ctx, l);
}

static void look_at(lu *l, const spry_matrix *A)
{
    l->f.offsets = A->a.offsets;
    l->f.columns = A->a.col_index;
}

static spry_status make_numbers(lu *l, int64_t n)
{
    spry_context *ctx = l->ctx;
    lu_factors *f = &l->f;
    int32_t **const arrays[] = {&f->row_of, &f->column_of, &f->step_of, &f->mark,
                                &f->path,   &f->next,      &f->found,   &f->fresh,
                                &f->pruned, &l->wanted,    &f->c_at,    &f->r_at};
    const int64_t count = (int64_t)(sizeof arrays / sizeof *arrays);
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(ctx, base_calloc(ctx, count * (n + 1), sizeof *l->numbers, &l->numbers));
    for (int64_t k = 0; k < count; k++)
        *arrays[k] = l->numbers + k * (n + 1);
    SPRY_GO(ctx, base_alloc(ctx, 2 * n, sizeof *f->left, &f->left));
    f->right = f->left + n;
    SPRY_GO(ctx, base_alloc(ctx, 2 * n, spry_type_size(l->type), &f->x));
    f->inverse = (char *)f->x + (size_t)n * spry_type_size(l->type);
done:
    return status;
}

static spry_status make_room(lu *l, double below)
{
    const double room = 2 * below + 4 * (double)l->f.n; /* pivots from elsewhere bring in more */
    const size_t size = spry_type_size(l->type);
    spry_context *ctx = l->ctx;
    lu_factors *f = &l->f;
    spry_status status = SPRY_STATUS_OK;
    f->room = (int32_t)room;
    SPRY_GO(ctx, base_alloc(ctx, f->room, sizeof *f->c_step, &f->c_step));
    SPRY_GO(ctx, base_alloc(ctx, f->room, sizeof *f->r_step, &f->r_step));
    SPRY_GO(ctx, base_alloc(ctx, f->room, size, &f->c));
    SPRY_GO(ctx, base_alloc(ctx, f->room, size, &f->r));
done:
    return status;
}

/* Rows that partners bring to the diagonal, where there are weak numbers; NULL: as they are. */
static spry_status find_diagonal(const lu *l, const spry_matrix *A, int32_t **row_of)
{
    spry_context *ctx = l->ctx;
    matching m = {0};
    spry_status status = SPRY_STATUS_OK;
    if (front_kernels_for(ctx, l->type)->lu_scale(&l->f, A->a.values))
        return SPRY_STATUS_OK;
    SPRY_GO(ctx, algebra_match(ctx, &A->a, &m));
    SPRY_GO(ctx, base_alloc(ctx, l->f.n, sizeof **row_of, row_of));
    algebra_match_order(&m, *row_of);
done:
    algebra_match_clear(ctx, &m);
    return status;
}

/* The graph of A + A^T with row row_of[v] in the place of row v (NULL: v): neighbours of v are
 * those from offsets[v] on, without v. */
typedef struct pattern {
    int64_t *offsets;
    int32_t *neighbours;
} pattern;

/* Entries of A and of A^T one after the other. */
static void fill_pattern(const matrix_arrays *a, const int32_t *row_of, const pattern *g)
{
    int64_t *to = g->offsets + 1;
    for (int64_t v = 0; v < a->rows; v++) {
        const int64_t i = row_of ? row_of[v] : v;
        to[v + 1] += a->offsets[i + 1] - a->offsets[i];
        for (int64_t k = a->offsets[i]; k < a->offsets[i + 1]; k++)
            to[a->col_index[k] + 1]++;
    }
    for (int64_t v = 0; v < a->rows; v++)
        to[v + 1] += to[v];
    for (int64_t v = 0; v < a->rows; v++) {
        const int64_t i = row_of ? row_of[v] : v;
        for (int64_t k = a->offsets[i]; k < a->offsets[i + 1]; k++) {
            const int32_t w = a->col_index[k];
            g->neighbours[to[v]++] = w;
            g->neighbours[to[w]++] = (int32_t)v;
        }
    }
}

/* Each neighbour once; seen[w] > v marks that v has w. */
static void merge_pattern(int64_t n, const pattern *g, int32_t *seen)
{
    int64_t kept = 0, begin = 0;
    for (int32_t v = 0; v < n; v++) {
        const int64_t end = g->offsets[v + 1];
        seen[v] = v + 1;
        for (int64_t k = begin; k < end; k++) {
            const int32_t w = g->neighbours[k];
            if (seen[w] > v)
                continue;
            seen[w] = v + 1;
            g->neighbours[kept++] = w;
        }
        begin = end;
        g->offsets[v + 1] = kept;
    }
}

static spry_status make_pattern(const lu *l, const matrix_arrays *a, const int32_t *row_of,
                                pattern *g)
{
    spry_context *ctx = l->ctx;
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(ctx, base_calloc(ctx, a->rows + 2, sizeof *g->offsets, &g->offsets));
    SPRY_GO(ctx, base_alloc(ctx, 2 * a->nnz, sizeof *g->neighbours, &g->neighbours));
    fill_pattern(a, row_of, g);
    merge_pattern(a->rows, g, l->f.mark);
done:
    return status;
}

/*
 * Entries below the diagonal of the columns of L, along the elimination tree (J. W. H. Liu, The
 * role of elimination trees in sparse factorization, SIAM J. Matrix Anal. Appl. 11 (1990),
 * 134-172), and what eliminating them takes; false: too much.
 */
static bool count_entries(const lu *l, const pattern *g, const int32_t *perm, double *below,
                          double *flops)
{
    const lu_factors *f = &l->f;
    const double most = MOST_EACH * (double)f->n;
    int32_t *place = f->step_of, *parent = f->path, *count = f->next, *seen = f->fresh;
    *below = *flops = 0;
    for (int32_t k = 0; k < f->n; k++) {
        place[perm[k]] = k;
        parent[k] = -1;
        count[k] = 0;
    }
    for (int32_t k = 0; k < f->n; k++) {
        seen[k] = k;
        for (int64_t e = g->offsets[perm[k]]; e < g->offsets[perm[k] + 1]; e++) {
            const int32_t i = place[g->neighbours[e]];
            for (int32_t j = i; i < k && seen[j] != k; j = parent[j]) {
                parent[j] = parent[j] < 0 ? k : parent[j];
                *flops += 4 * (double)count[j]++ + 3; /* c + 2 c^2 in the end */
                seen[j] = k;
                ++*below;
            }
        }
        if (*flops > most)
            return false;
    }
    return true;
}

/* The order, and the columns that rows want in it; *fits is false where fronts are better. */
static spry_status find_order(lu *l, const spry_matrix *A, bool *fits)
{
    spry_context *ctx = l->ctx;
    const int64_t each = (int64_t)(spry_type_size(l->type) + sizeof *l->numbers);
    int32_t *row_of = NULL, *perm = NULL;
    pattern g = {0};
    double below = 0, flops = 0;
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(ctx, find_diagonal(l, A, &row_of));
    SPRY_GO(ctx, make_pattern(l, &A->a, row_of, &g));
    SPRY_GO(ctx, algebra_amd(ctx, l->f.n, g.offsets, g.neighbours, &perm));
    *fits = count_entries(l, &g, perm, &below, &flops);
    if (!*fits)
        goto done;
    for (int64_t k = 0; k < l->f.n; k++) {
        l->wanted[k] = perm[k];
        l->f.row_of[k] = row_of ? row_of[perm[k]] : perm[k];
    }
    l->f.stamp = (int32_t)l->f.n; /* more than there are marks */
    SPRY_GO(ctx, make_room(l, below));
    l->forecast = (precon_forecast){.known = true,
                                    .bytes = 2 * l->f.room * each + l->f.n * (16 + 2 * each),
                                    .reads = (int64_t)(2 * below) * each,
                                    .seconds = direct_seconds(flops, 2 * below, 0)};
done:
    base_free(ctx, row_of);
    base_free(ctx, perm);
    base_free(ctx, g.offsets);
    base_free(ctx, g.neighbours);
    return status;
}

spry_status lu_analyse(const spry_matrix *A, lu **out)
{
    spry_context *ctx = A->ctx;
    const int64_t n = A->a.rows;
    lu *l = NULL;
    bool fits = false;
    spry_status status = SPRY_STATUS_OK;
    *out = NULL;
    if (n == 0 || n > MOST_ROWS)
        return SPRY_STATUS_OK;
    SPRY_GO(ctx, base_calloc(ctx, 1, sizeof *l, &l));
    *l = (lu){.ctx = ctx, .type = A->a.type, .f = {.n = n, .threshold = threshold}};
    look_at(l, A);
    SPRY_GO(ctx, make_numbers(l, n));
    SPRY_GO(ctx, find_order(l, A, &fits));
    if (fits) {
        *out = l;
        l = NULL;
    }
done:
    lu_free(l);
    return status;
}

/* Steps and patterns anew. */
static bool fill_anew(lu *l, const void *values)
{
    const front_kernels *kernels = front_kernels_for(l->ctx, l->type);
    const int64_t each = (int64_t)(spry_type_size(l->type) + sizeof *l->numbers);
    lu_factors *f = &l->f;
    for (int32_t k = 0; k < f->n; k++) {
        f->column_of[k] = l->wanted[k];
        f->step_of[l->wanted[k]] = k;
    }
    l->found = kernels->lu_factor(f, values);
    l->bytes = (f->c_at[f->n] + f->r_at[f->n]) * each + f->n * (16 + 2 * each);
    return l->found;
}

double lu_fill(lu *l, const spry_matrix *A)
{
    const front_kernels *kernels = front_kernels_for(l->ctx, l->type);
    const void *values = A->a.values;
    look_at(l, A);
    kernels->lu_scale(&l->f, values);
    const bool fits = (l->found && kernels->lu_refill(&l->f, values)) || fill_anew(l, values);
    const double growth = fits ? kernels->lu_growth(&l->f) : INFINITY;
    return isfinite(growth) ? growth : INFINITY;
}

int lu_sign(const lu *l)
{
    const lu_factors *f = &l->f;
    bool negative = false;
    for (int64_t k = 0; k < f->n; k++) {
        if (f->row_of[k] != f->column_of[k])
            return 0;
        negative = negative || value_get(l->type, f->inverse, k).re < 0;
    }
    return negative ? -1 : 1;
}
