/*
 * The matching of largest product, and the scaling that belongs to it: I. S. Duff, J. Koster, The
 * design and use of algorithms for permuting large entries to the diagonal of sparse matrices, SIAM
 * J. Matrix Anal. Appl. 20 (1999), 889-901, and 22 (2001), 973-996.
 *
 * The costs c_ij = log max_j |a_ij| - log |a_ij| >= 0 are assigned (assign.c); the duals v_i + u_j
 * <= c_ij give the factors left_i = exp(v_i) / max_j |a_ij| and right_j = exp(u_j).
 *
 * Where not all rows can have columns, the matrix falls into two: rows that are reached from those
 * without a column, together with their columns, and the rest (A. L. Dulmage, N. S. Mendelsohn,
 * Coverings of bipartite graphs, Canad. J. Math. 10 (1958), 517-534). Matchings that are as large
 * as can be have no pairs across, so each part is solved for itself: the first, in which all
 * columns have rows, as its transpose.
 */
#include "matrix/algebra/algebra.h"
#include "matrix/algebra/assign.h"

#include "matrix/entries.h"

void algebra_match_clear(spry_context *ctx, matching *m)
{
    base_free(ctx, m->column_of);
    base_free(ctx, m->row_of);
    base_free(ctx, m->left);
    base_free(ctx, m->right);
    *m = (matching){0};
}

void algebra_match_order(const matching *m, int32_t *perm)
{
    int64_t single = 0;
    for (int64_t j = 0; j < m->cols; j++) {
        perm[j] = m->row_of[j];
        while (perm[j] < 0 && m->column_of[single] >= 0)
            single++;
        if (perm[j] < 0)
            perm[j] = (int32_t)single++;
    }
}

/* log |a_k|; -inf where it counts for none. */
static double log_size(const matrix_arrays *a, int64_t k)
{
    const spry_scalar v = value_load(a->type, a->values, k);
    if (!isfinite(v.re) || !isfinite(v.im))
        return -INFINITY;
    if (v.im == 0)
        return log(fabs(v.re));
    const double size = hypot(v.re, v.im);
    return isfinite(size) ? log(size) : log(hypot(v.re / 2, v.im / 2)) + log(2);
}

/* Costs of entries, and of each row the log of its largest (0 for a row without). */
static void make_costs(const spry_context *ctx, const matrix_arrays *a, double *cost, double *most)
{
    const int parts = matrix_parts(ctx, a->nnz);
#pragma omp parallel for num_threads(parts) schedule(dynamic, 1024)
    for (int64_t i = 0; i < a->rows; i++) {
        double largest = -INFINITY;
        for (int64_t k = a->offsets[i]; k < a->offsets[i + 1]; k++) {
            cost[k] = log_size(a, k);
            largest = cost[k] > largest ? cost[k] : largest;
        }
        most[i] = isfinite(largest) ? largest : 0;
        for (int64_t k = a->offsets[i]; k < a->offsets[i + 1]; k++)
            cost[k] = most[i] - cost[k];
    }
}

/* What the parts of algebra_match() work on: the assignment of all rows, and logs of factors. */
typedef struct problem {
    spry_context *ctx;
    assignment s;
    double *cost, *most;
} problem;

static spry_status make_problem(problem *p, const matrix_arrays *a, matching *m)
{
    spry_context *ctx = p->ctx;
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(ctx, base_alloc(ctx, a->nnz, sizeof *p->cost, &p->cost));
    SPRY_GO(ctx, base_alloc(ctx, a->rows, sizeof *p->most, &p->most));
    SPRY_GO(ctx, base_alloc(ctx, a->cols, sizeof *p->s.shut, &p->s.shut));
    SPRY_GO(ctx, base_alloc(ctx, a->rows, sizeof *m->column_of, &m->column_of));
    SPRY_GO(ctx, base_alloc(ctx, a->cols, sizeof *m->row_of, &m->row_of));
    SPRY_GO(ctx, base_alloc(ctx, a->rows, sizeof *m->left, &m->left));
    SPRY_GO(ctx, base_alloc(ctx, a->cols, sizeof *m->right, &m->right));
    make_costs(ctx, a, p->cost, p->most);
    p->s.rows = m->rows = a->rows;
    p->s.cols = m->cols = a->cols;
    p->s.offsets = a->offsets;
    p->s.columns = a->col_index;
    p->s.cost = p->cost;
    p->s.column_of = m->column_of;
    p->s.row_of = m->row_of;
    p->s.v = m->left;
    p->s.u = m->right;
done:
    return status;
}

/* The shut part, transposed: its columns as rows (`major`, old numbers), its rows as columns. */
typedef struct part {
    int64_t rows, cols, nnz;
    int32_t *major, *minor;         /* old numbers of its rows and columns */
    int32_t *new_major, *new_minor; /* the other way; -1: not of the part */
    int64_t *offsets;
    int32_t *columns, *column_of, *row_of;
    double *cost, *v, *u;
    bool *shut;
} part;

static void free_part(spry_context *ctx, part *t)
{
    base_free(ctx, t->major);
    base_free(ctx, t->minor);
    base_free(ctx, t->new_major);
    base_free(ctx, t->new_minor);
    base_free(ctx, t->offsets);
    base_free(ctx, t->columns);
    base_free(ctx, t->column_of);
    base_free(ctx, t->row_of);
    base_free(ctx, t->cost);
    base_free(ctx, t->v);
    base_free(ctx, t->u);
    base_free(ctx, t->shut);
}

/* Whether row i is of the shut part: it has no column, or a shut one. */
static bool row_is_shut(const assignment *s, int64_t i)
{
    return s->column_of[i] < 0 || s->shut[s->column_of[i]];
}

/* Numbers those of n that are shut; how many. */
static int64_t number_shut(const assignment *s, bool rows, int64_t n, int32_t *old, int32_t *new)
{
    int64_t count = 0;
    for (int64_t i = 0; i < n; i++) {
        const bool in = rows ? row_is_shut(s, i) : s->shut[i];
        new[i] = in ? (int32_t)count : -1;
        if (in)
            old[count++] = (int32_t)i;
    }
    return count;
}

static spry_status number_part(spry_context *ctx, const assignment *s, part *t)
{
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(ctx, base_alloc(ctx, s->cols, sizeof *t->major, &t->major));
    SPRY_GO(ctx, base_alloc(ctx, s->rows, sizeof *t->minor, &t->minor));
    SPRY_GO(ctx, base_alloc(ctx, s->cols, sizeof *t->new_major, &t->new_major));
    SPRY_GO(ctx, base_alloc(ctx, s->rows, sizeof *t->new_minor, &t->new_minor));
    t->rows = number_shut(s, false, s->cols, t->major, t->new_major);
    t->cols = number_shut(s, true, s->rows, t->minor, t->new_minor);
    SPRY_GO(ctx, base_calloc(ctx, t->rows + 1, sizeof *t->offsets, &t->offsets));
    SPRY_GO(ctx, base_alloc(ctx, t->rows, sizeof *t->column_of, &t->column_of));
    SPRY_GO(ctx, base_alloc(ctx, t->rows, sizeof *t->v, &t->v));
    SPRY_GO(ctx, base_alloc(ctx, t->cols, sizeof *t->row_of, &t->row_of));
    SPRY_GO(ctx, base_alloc(ctx, t->cols, sizeof *t->u, &t->u));
    SPRY_GO(ctx, base_alloc(ctx, t->cols, sizeof *t->shut, &t->shut));
done:
    return status;
}

/* Rows of the part have no entries but those in its columns. Some rows go without, so the costs are
 * no longer counted from the largest of each row but from the largest of each column: `least` is
 * the least -log |a| in these columns. */
static spry_status fill_part(const problem *p, part *t, double *least)
{
    spry_context *ctx = p->ctx;
    const assignment *s = &p->s;
    spry_status status = SPRY_STATUS_OK;
    for (int64_t q = 0; q < t->rows; q++)
        least[q] = INFINITY;
    for (int64_t c = 0; c < t->cols; c++)
        for (int64_t k = s->offsets[t->minor[c]]; k < s->offsets[t->minor[c] + 1]; k++)
            if (isfinite(s->cost[k])) {
                const int32_t q = t->new_major[s->columns[k]];
                t->offsets[q + 1]++;
                least[q] = fmin(least[q], s->cost[k] - p->most[t->minor[c]]);
            }
    SPRY_GO(ctx, base_prefix_sum(ctx, t->offsets, t->rows));
    t->nnz = t->offsets[t->rows];
    SPRY_GO(ctx, base_alloc(ctx, t->nnz, sizeof *t->columns, &t->columns));
    SPRY_GO(ctx, base_alloc(ctx, t->nnz, sizeof *t->cost, &t->cost));
    for (int64_t c = 0; c < t->cols; c++)
        for (int64_t k = s->offsets[t->minor[c]]; k < s->offsets[t->minor[c] + 1]; k++)
            if (isfinite(s->cost[k])) {
                const int32_t q = t->new_major[s->columns[k]];
                const int64_t to = t->offsets[q]++;
                t->columns[to] = (int32_t)c;
                t->cost[to] = s->cost[k] - p->most[t->minor[c]] - least[q];
            }
    for (int64_t q = t->rows; q > 0; q--)
        t->offsets[q] = t->offsets[q - 1];
    t->offsets[0] = 0;
done:
    return status;
}

/* Solves the shut part, and puts its pairs and duals in the place of those it had. */
static spry_status match_part(problem *p)
{
    spry_context *ctx = p->ctx;
    assignment *s = &p->s;
    double *least = NULL;
    part t = {0};
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(ctx, number_part(ctx, s, &t));
    SPRY_GO(ctx, base_alloc(ctx, t.rows, sizeof *least, &least));
    SPRY_GO(ctx, fill_part(p, &t, least));
    assignment inner = {.rows = t.rows,
                        .cols = t.cols,
                        .offsets = t.offsets,
                        .columns = t.columns,
                        .cost = t.cost,
                        .column_of = t.column_of,
                        .row_of = t.row_of,
                        .v = t.v,
                        .u = t.u,
                        .shut = t.shut};
    SPRY_GO(ctx, assign(ctx, &inner, false));
    for (int64_t c = 0; c < t.cols; c++) {
        s->column_of[t.minor[c]] = t.row_of[c] < 0 ? -1 : t.major[t.row_of[c]];
        s->v[t.minor[c]] = t.u[c] + p->most[t.minor[c]];
    }
    for (int64_t q = 0; q < t.rows; q++) {
        s->row_of[t.major[q]] = t.minor[t.column_of[q]]; /* every row of t has a column */
        s->u[t.major[q]] = t.v[q] + least[q];
    }
done:
    base_free(ctx, least);
    free_part(ctx, &t);
    return status;
}

/* By how much rows of the part are raised and its columns lowered, so that entries of other rows in
 * these columns are at most 1, too. */
static void settle_part(const assignment *s)
{
    double over = 0;
    for (int64_t i = 0; i < s->rows; i++)
        for (int64_t k = s->offsets[i]; !row_is_shut(s, i) && k < s->offsets[i + 1]; k++)
            if (s->shut[s->columns[k]])
                over = fmax(over, s->v[i] + s->u[s->columns[k]] - s->cost[k]);
    for (int64_t i = 0; i < s->rows; i++)
        if (row_is_shut(s, i))
            s->v[i] += over;
    for (int64_t j = 0; j < s->cols; j++)
        if (s->shut[j])
            s->u[j] -= over;
}

/* Rows and columns without a partner: their largest entry becomes 1. All entries of one without a
 * partner are in columns (rows) that have one. `gap` has room for the columns. */
static void raise_single(const assignment *s, double *gap)
{
    for (int64_t j = 0; j < s->cols; j++)
        gap[j] = INFINITY;
    for (int64_t i = 0; i < s->rows; i++) {
        double least = INFINITY;
        for (int64_t k = s->offsets[i]; k < s->offsets[i + 1]; k++) {
            const int32_t j = s->columns[k];
            const double under = s->cost[k] - s->u[j] - s->v[i];
            least = fmin(least, under);
            gap[j] = fmin(gap[j], under);
        }
        if (s->column_of[i] < 0)
            s->v[i] = isfinite(least) ? s->v[i] + least : 0;
    }
    for (int64_t j = 0; j < s->cols; j++)
        if (s->row_of[j] < 0 && isfinite(gap[j]))
            s->u[j] += gap[j];
}

/* exp(), within what doubles of full precision can be. */
static double as_factor(double log_factor)
{
    const double most = 1022 * log(2);
    return exp(fmin(fmax(log_factor, -most), most));
}

spry_status algebra_match(spry_context *ctx, const matrix_arrays *a, matching *m)
{
    problem p = {.ctx = ctx};
    double *gap = NULL;
    spry_status status = SPRY_STATUS_OK;
    *m = (matching){0};
    SPRY_GO(ctx, make_problem(&p, a, m));
    const bool square = a->rows == a->cols;
    SPRY_GO(ctx, assign(ctx, &p.s, square));
    if (p.s.rank < a->rows || p.s.rank < a->cols) {
        if (square) /* not all columns are taken: those that are must be the best */
            SPRY_GO(ctx, assign(ctx, &p.s, false));
        if (p.s.rank < a->rows) {
            SPRY_GO(ctx, match_part(&p));
            settle_part(&p.s);
        }
        SPRY_GO(ctx, base_alloc(ctx, a->cols, sizeof *gap, &gap));
        raise_single(&p.s, gap);
    }
    m->rank = p.s.rank;
    for (int64_t i = 0; i < a->rows; i++)
        m->left[i] = as_factor(m->left[i] - p.most[i]);
    for (int64_t j = 0; j < a->cols; j++)
        m->right[j] = as_factor(m->right[j]);
done:
    base_free(ctx, gap);
    base_free(ctx, p.s.shut);
    base_free(ctx, p.cost);
    base_free(ctx, p.most);
    return status;
}
