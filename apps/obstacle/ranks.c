/*
 * Steps by relaxations on ranks, each with a slab of planes across z: the rows of a slab as a
 * matrix, whose splitting at the boundaries of ranks the library solves, with and without waiting.
 * Points of a slab are numbered red ones first (i + j + k even), so that relaxing rows one after
 * the other is Gauss-Seidel by colours.
 */
#include "obstacle/obstacle.h"

#include <math.h>
#include <string.h>

typedef struct slabs {
    int64_t n;
    int ranks;
    int64_t *reds; /* in all planes before each */
} slabs;

/* Red points of the first lines of a plane. */
static int64_t reds_of(int64_t n, int64_t lines, int64_t plane)
{
    const int64_t even = (lines + 1 - plane % 2) / 2; /* lines that begin with a red point */
    return even * ((n + 1) / 2) + (lines - even) * (n / 2);
}

static int64_t first_plane(const slabs *s, int rank)
{
    return s->n * rank / s->ranks;
}

static int rank_of(const slabs *s, int64_t plane)
{
    int rank = (int)(plane * s->ranks / s->n);
    while (first_plane(s, rank + 1) <= plane)
        rank++;
    while (first_plane(s, rank) > plane)
        rank--;
    return rank;
}

/* The row of a point, counted over all ranks. */
static int64_t number_of(const slabs *s, int64_t i, int64_t j, int64_t k)
{
    const int rank = rank_of(s, k);
    const int64_t n = s->n, first = first_plane(s, rank), past = first_plane(s, rank + 1);
    const int64_t before = ((k - first) * n + j) * n; /* points, and red ones, of its slab */
    const int64_t reds = s->reds[k] - s->reds[first] + reds_of(n, j, k);
    if ((i + j + k) % 2 == 0)
        return first * n * n + reds + i / 2;
    return first * n * n + s->reds[past] - s->reds[first] + before - reds + i / 2;
}

/* The rows of this rank, as they are filled. */
typedef struct rows {
    int64_t first, count;
    int64_t *offsets, *columns;
    double *values, *f;
} rows;

static void place_of(const obstacle_run *r, const int64_t at[3], double place[3])
{
    for (int a = 0; a < 3; a++)
        place[a] = (double)(at[a] + 1) * r->h;
}

/* Columns have to rise. */
static void put_entry(rows *m, int64_t begin, int64_t *end, int64_t column, double value)
{
    int64_t k = (*end)++;
    for (; k > begin && m->columns[k - 1] > column; k--) {
        m->columns[k] = m->columns[k - 1];
        m->values[k] = m->values[k - 1];
    }
    m->columns[k] = column;
    m->values[k] = value;
}

/* A row has room for seven entries; those that lead beyond a face are known. */
static void fill_row(const obstacle_run *r, const slabs *s, const int64_t at[3], rows *m)
{
    const int64_t row = number_of(s, at[0], at[1], at[2]) - m->first, begin = 7 * row;
    const double far = r->eta / (r->h * r->h);
    double place[3];
    int64_t end = begin;
    m->f[row] = obstacle_value(r, OBSTACLE_FORCE, at);
    put_entry(m, begin, &end, row + m->first, 6 * far + r->shift);
    for (int side = 0; side < 6; side++) {
        const int a = side / 2;
        int64_t next[3] = {at[0], at[1], at[2]};
        next[a] += side % 2 ? 1 : -1;
        const double value = (side % 2 ? 1 : -1) * r->wind[a] / (2 * r->h) - far;
        if (next[a] >= 0 && next[a] < r->n) {
            put_entry(m, begin, &end, number_of(s, next[0], next[1], next[2]), value);
        } else {
            place_of(r, next, place);
            m->f[row] -= value * obstacle_face(r, place);
        }
    }
    m->offsets[row + 1] = end - begin;
}

/* Entries follow each other without gaps. */
static void close_up(rows *m)
{
    for (int64_t i = 0; i < m->count; i++) {
        const int64_t count = m->offsets[i + 1], to = m->offsets[i];
        memmove(m->columns + to, m->columns + 7 * i, (size_t)count * sizeof *m->columns);
        memmove(m->values + to, m->values + 7 * i, (size_t)count * sizeof *m->values);
        m->offsets[i + 1] += to;
    }
}

/* What a rank has. */
typedef struct share {
    slabs s;
    rows m;
    spry_matrix *A;
    spry_vector *f, *g, *lower, *u;
} share;

static spry_status make_rows(obstacle_run *r, share *h)
{
    spry_context *ctx = r->ctx;
    rows *m = &h->m;
    const int rank = spry_context_rank(ctx);
    const int64_t n = r->n, first = first_plane(&h->s, rank), past = first_plane(&h->s, rank + 1);
    m->first = first * n * n;
    m->count = (past - first) * n * n;
    const size_t count = (size_t)m->count;
    m->offsets = spry_alloc(ctx, (count + 1) * sizeof *m->offsets);
    m->columns = spry_alloc(ctx, 7 * count * sizeof *m->columns);
    m->values = spry_alloc(ctx, 7 * count * sizeof *m->values);
    m->f = spry_alloc(ctx, count * sizeof *m->f);
    if (!m->offsets || !m->columns || !m->values || !m->f)
        return SPRY_STATUS_NO_MEMORY;
    m->offsets[0] = 0;
    for (int64_t k = first; k < past; k++)
        for (int64_t j = 0; j < n; j++)
            for (int64_t i = 0; i < n; i++)
                fill_row(r, &h->s, (const int64_t[]){i, j, k}, m);
    close_up(m);
    return SPRY_STATUS_OK;
}

/* The bounds and the beginning. */
static void fill_vectors(const obstacle_run *r, const share *h)
{
    double *lower = spry_vector_data(h->lower), *u = spry_vector_data(h->u);
    const int rank = spry_context_rank(r->ctx);
    for (int64_t k = first_plane(&h->s, rank); k < first_plane(&h->s, rank + 1); k++)
        for (int64_t j = 0; j < r->n; j++)
            for (int64_t i = 0; i < r->n; i++) {
                const int64_t at[] = {i, j, k}, row = number_of(&h->s, i, j, k) - h->m.first;
                lower[row] = obstacle_value(r, OBSTACLE_LOWER, at);
                u[row] = obstacle_value(r, OBSTACLE_START, at);
            }
}

static spry_status make(obstacle_run *r, share *h)
{
    spry_context *ctx = r->ctx;
    h->s = (slabs){.n = r->n, .ranks = spry_context_ranks(ctx)};
    h->s.reds = spry_alloc(ctx, ((size_t)r->n + 1) * sizeof *h->s.reds);
    spry_status status = h->s.reds ? SPRY_STATUS_OK : SPRY_STATUS_NO_MEMORY;
    for (int64_t k = 0; status == SPRY_STATUS_OK && k <= r->n; k++)
        h->s.reds[k] = k == 0 ? 0 : h->s.reds[k - 1] + reds_of(r->n, r->n, k - 1);
    if (status == SPRY_STATUS_OK)
        status = make_rows(r, h);
    status = spry_context_agree(ctx, status);
    if (status == SPRY_STATUS_OK)
        status = spry_matrix_new_ranked(ctx, SPRY_TYPE_D, h->m.count, -1, h->m.offsets,
                                        h->m.columns, h->m.values, &h->A);
    if (status == SPRY_STATUS_OK)
        status = spry_vector_new(ctx, SPRY_TYPE_D, h->m.count, h->m.f, SPRY_OWN_BORROW, &h->f);
    if (status == SPRY_STATUS_OK)
        status = spry_vector_zeros(ctx, h->A, &h->g);
    if (status == SPRY_STATUS_OK)
        status = spry_vector_zeros(ctx, h->A, &h->lower);
    if (status == SPRY_STATUS_OK)
        status = spry_vector_zeros(ctx, h->A, &h->u);
    if (status == SPRY_STATUS_OK)
        fill_vectors(r, h);
    return spry_context_agree(ctx, status);
}

static void unmake(spry_context *ctx, share *h)
{
    spry_vector_free(h->f);
    spry_vector_free(h->g);
    spry_vector_free(h->lower);
    spry_vector_free(h->u);
    spry_matrix_free(h->A);
    spry_free(ctx, h->s.reds);
    spry_free(ctx, h->m.offsets);
    spry_free(ctx, h->m.columns);
    spry_free(ctx, h->m.values);
    spry_free(ctx, h->m.f);
}

/* What all ranks have done in a step: relaxations, points in contact, the largest |g|. */
static spry_status add_up(obstacle_run *r, const share *h, int64_t iterations, obstacle_step *step,
                          double *scale)
{
    enum { EACH = 3 };
    const double *u = spry_vector_data_const(h->u), *g = spry_vector_data_const(h->g);
    const double *lower = spry_vector_data_const(h->lower);
    double mine[EACH] = {(double)iterations, 0, 0};
    spry_vector *own = NULL, *all = NULL;
    for (int64_t i = 0; i < h->m.count; i++) {
        mine[1] += u[i] <= lower[i];
        mine[2] = fmax(mine[2], fabs(g[i]));
    }
    spry_status status = spry_vector_new(r->ctx, SPRY_TYPE_D, EACH, mine, SPRY_OWN_BORROW, &own);
    status = spry_context_agree(r->ctx, status);
    if (status == SPRY_STATUS_OK)
        status = spry_vector_collect(own, &all);
    *scale = 0;
    for (int k = 0; status == SPRY_STATUS_OK && k < h->s.ranks; k++) {
        const double *his = (const double *)spry_vector_data_const(all) + EACH * k;
        step->all += (int64_t)his[0];
        step->contacts += (int64_t)his[1];
        *scale = fmax(*scale, his[2]);
    }
    spry_vector_free(own);
    spry_vector_free(all);
    return status;
}

static spry_status take_step(obstacle_run *r, share *h)
{
    const double begin = cli_clock();
    char options[128];
    spry_result result = SPRY_RESULT_INIT;
    spry_split_stats stats = SPRY_SPLIT_STATS_INIT;
    obstacle_step step = {0};
    double scale = 0;
    snprintf(options, sizeof options, "mode=%s inner=%s tol=%.17g max-iter=%lld",
             r->o->mode == MODE_SYNC ? "sync" : "async",
             r->method == METHOD_RICHARDSON ? "jacobi" : "gs", r->o->tol,
             (long long)(r->o->max_iter > 0 ? r->o->max_iter : 1000000));
    spry_status status = spry_vector_copy(h->f, h->g);
    if (status == SPRY_STATUS_OK && r->dt > 0)
        status = spry_vector_axpy((spry_scalar){1 / r->dt, 0}, h->u, h->g);
    status = spry_context_agree(r->ctx, status);
    if (status == SPRY_STATUS_OK)
        status = spry_solve_split_above(h->A, h->g, h->lower, h->u, options, &result, &stats);
    step.seconds = cli_clock() - begin;
    if (status == SPRY_STATUS_OK)
        status = add_up(r, h, stats.iterations, &step, &scale);
    scale = scale > 0 ? scale : 1;
    step.reason = result.reason;
    step.converged = result.converged;
    step.iterations = result.iterations;
    step.residual = result.true_residual * scale;
    step.tolerance = result.tolerance * scale;
    spry_result_clear(r->ctx, &result);
    if (status == SPRY_STATUS_OK)
        obstacle_note(r, &step);
    return status;
}

/* u in the order of the grid, of all ranks. */
static spry_status bring(obstacle_run *r, const share *h)
{
    const int64_t n = r->n;
    spry_vector *all = NULL;
    spry_status status = spry_vector_collect(h->u, &all);
    if (status == SPRY_STATUS_OK)
        status = spry_vector_new(r->ctx, SPRY_TYPE_D, n * n * n, NULL, SPRY_OWN_COPY, &r->u);
    for (int64_t k = 0; status == SPRY_STATUS_OK && k < n * n * n; k++)
        ((double *)spry_vector_data(r->u))[k] = ((const double *)spry_vector_data_const(
            all))[number_of(&h->s, k % n, k / n % n, k / n / n)];
    spry_vector_free(all);
    return spry_context_agree(r->ctx, status);
}

spry_status obstacle_ranks(obstacle_run *r)
{
    share h = {0};
    const double begin = cli_clock();
    spry_status status = make(r, &h);
    const double ready = cli_clock();
    while (status == SPRY_STATUS_OK && r->done < r->steps)
        status = take_step(r, &h);
    r->setup_seconds = ready - begin;
    r->seconds = cli_clock() - ready;
    if (status == SPRY_STATUS_OK)
        status = bring(r, &h);
    unmake(r->ctx, &h);
    return status;
}
