/*
 * Multigrid for media that jump from point to point, and for grids of any size ("black box":
 * J. E. Dendy, J. Comput. Phys. 48 (1982), 366-386). The operator becomes a matrix with rows of the
 * points around. Coarse points are every other one along some axes. A point between two of them is
 * interpolated so that its row, added up along all other axes, has no residual: where a coefficient
 * jumps the flux stays what it is. Points in the middle of a face or a cell of coarse points follow
 * from those on its edges. The coarse matrix is P^H A P, whose rows have the points around again,
 * so that all levels are made alike; cycles, smoothers and devices are those of algebraic multigrid
 * (precon/amg).
 *
 * The number of points along an axis is free: one beyond the last coarse point is interpolated from
 * that alone, with a weight that knows what is behind it.
 */
#include "grid/galerkin.h"

#include "grid/relax.h"

#include "precon/amg/amg.h"

#include <stdlib.h>

#define HALVED_LEAST 0.5 /* of a coupling to the strongest one, for an axis to be halved */
#define JUMP_LEAST 8     /* between neighbours, from which a coefficient jumps */

enum { AROUND = 27, CORNERS = 8 };

/* The unknowns of a level along an axis: coarse ones are `first`, first + 2, ... */
typedef struct box_axis {
    int64_t n;
    int first;
    bool periodic, halved;
} box_axis;
typedef struct box_level {
    box_axis axis[GRID_AXES];
} box_level;

/* The options of the hierarchy, and its levels so far. */
typedef struct box_options {
    amg_common common;
    box_level level[AMG_MOST_LEVELS];
} box_options;

typedef struct box_job {
    const spry_matrix *A;
    const box_level *level;
    bool hermitian;
    matrix_arrays *P;
} box_job;

static int64_t coarse_count(const box_axis *a)
{
    return a->halved ? (a->n - a->first + 1) / 2 : a->n;
}

static void split(const box_level *l, int64_t i, int64_t at[GRID_AXES])
{
    for (int a = 0; a < GRID_AXES; a++) {
        at[a] = i % l->axis[a].n;
        i /= l->axis[a].n;
    }
}

/* How far an index is from another, by the shorter way; 2: further than its neighbours. */
static int distance(const box_axis *a, int64_t from, int64_t to)
{
    int64_t d = to - from;
    if (a->periodic && a->n > 2 && llabs(d) == a->n - 1)
        d = -d / (a->n - 1);
    return llabs(d) <= 1 ? (int)d : 2;
}

static spry_scalar plus(spry_scalar a, spry_scalar b)
{
    return (spry_scalar){a.re + b.re, a.im + b.im};
}

static spry_scalar times(spry_scalar a, spry_scalar b)
{
    return (spry_scalar){a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
}

static double square(spry_scalar a)
{
    return a.re * a.re + a.im * a.im;
}

/* --- weights -------------------------------------------------------------------------------------
 */

/* A row, added up along all axes but those of a set: its numbers for the points around along these,
 * 3^a for each. */
static void collapse(const box_job *j, int64_t row, const int64_t at[GRID_AXES], unsigned set,
                     spry_scalar sum[AROUND])
{
    static const int power[] = {1, 3, 9};
    const matrix_arrays *m = &j->A->a;
    memset(sum, 0, AROUND * sizeof *sum);
    for (int64_t k = m->offsets[row]; k < m->offsets[row + 1]; k++) {
        int64_t to[GRID_AXES];
        int place = 1 + 3 + 9;
        split(j->level, m->col_index[k], to);
        for (int a = 0; a < GRID_AXES; a++)
            if (set >> a & 1)
                place += power[a] * distance(&j->level->axis[a], at[a], to[a]);
        sum[place] = plus(sum[place], value_get(m->type, m->values, k));
    }
}

/* The neighbour of a point at a distance along each axis; whether it exists. */
static bool step(const box_level *l, const int64_t at[GRID_AXES], const int d[GRID_AXES],
                 int64_t to[GRID_AXES])
{
    for (int a = 0; a < GRID_AXES; a++) {
        const int64_t n = l->axis[a].n;
        to[a] = at[a] + d[a];
        if (l->axis[a].periodic)
            to[a] = (to[a] + n) % n;
        if (to[a] < 0 || to[a] >= n)
            return false;
    }
    return true;
}

/* The axes along which a point lies between coarse ones, a bit each. */
static unsigned between(const box_level *l, const int64_t at[GRID_AXES])
{
    unsigned set = 0;
    for (int a = 0; a < GRID_AXES; a++)
        if (l->axis[a].halved && at[a] % 2 != l->axis[a].first)
            set |= 1u << a;
    return set;
}

/* Of a matrix that is not symmetric, numbers of the diagonal's sign take no part: the other side
 * has all the weight, as the flow comes from there. */
static void turn_upwind(spry_scalar sum[AROUND])
{
    const spry_scalar centre = sum[AROUND / 2];
    for (int k = 0; k < AROUND; k++)
        if (k != AROUND / 2 && sum[k].re * centre.re + sum[k].im * centre.im > 0) {
            sum[AROUND / 2] = plus(sum[AROUND / 2], sum[k]);
            sum[k] = (spry_scalar){0, 0};
        }
}

/* The weights of the coarse points at the corners around a point, a bit of the corner's number for
 * each axis: set where it is behind the point. */
static void find_weights(const box_job *j, const int64_t at[GRID_AXES], spry_scalar w[CORNERS])
{
    const box_level *l = j->level;
    const unsigned set = between(l, at);
    const int64_t row = at[0] + l->axis[0].n * (at[1] + l->axis[1].n * at[2]);
    spry_scalar sum[AROUND], beside[CORNERS];
    memset(w, 0, CORNERS * sizeof *w);
    if (set == 0) {
        w[0] = (spry_scalar){1, 0};
        return;
    }
    collapse(j, row, at, set, sum);
    if (!j->hermitian)
        turn_upwind(sum);
    const spry_scalar centre = sum[AROUND / 2];
    const double size = square(centre);
    if (!(size > 0))
        return; /* it is left to the smoother */
    const spry_scalar inverse = {-centre.re / size, centre.im / size};
    for (int k = 0; k < AROUND; k++) {
        const int d[] = {k % 3 - 1, k / 3 % 3 - 1, k / 9 - 1};
        int64_t to[GRID_AXES];
        unsigned behind = 0;
        if (k == AROUND / 2 || square(sum[k]) == 0 || !step(l, at, d, to))
            continue;
        for (int a = 0; a < GRID_AXES; a++)
            behind |= d[a] > 0 ? 1u << a : 0;
        const spry_scalar part = times(inverse, sum[k]);
        find_weights(j, to, beside);
        for (unsigned c = 0; c < CORNERS; c++)
            if (square(beside[c]) > 0)
                w[c | behind] = plus(w[c | behind], times(part, beside[c]));
    }
}

/* --- P -------------------------------------------------------------------------------------------
 */

/* The coarse indices around one along an axis, in rising order, and the side that each is on. */
static int sides(const box_axis *a, int64_t k, int64_t to[2], unsigned side[2])
{
    int count = 0;
    side[0] = side[1] = 0;
    if (!a->halved || k % 2 == a->first) {
        to[0] = a->halved ? (k - a->first) / 2 : k;
        return 1;
    }
    for (unsigned s = 0; s < 2; s++) {
        int64_t p = k - 1 + 2 * (int64_t)s;
        if (a->periodic)
            p = (p + a->n) % a->n;
        if (p < 0 || p >= a->n)
            continue;
        side[count] = s;
        to[count++] = (p - a->first) / 2;
    }
    if (count == 2 && to[0] > to[1]) {
        const int64_t last = to[0];
        to[0] = to[1];
        to[1] = last;
        side[0] = 1;
        side[1] = 0;
    }
    return count;
}

/* The entries of a row of P, and where its corners have their weights; how many. */
static int corners(const box_level *l, const int64_t at[GRID_AXES], int64_t column[CORNERS],
                   unsigned corner[CORNERS])
{
    int64_t to[GRID_AXES][2];
    unsigned side[GRID_AXES][2];
    int n[GRID_AXES], count = 0;
    for (int a = 0; a < GRID_AXES; a++)
        n[a] = sides(&l->axis[a], at[a], to[a], side[a]);
    for (int z = 0; z < n[2]; z++)
        for (int y = 0; y < n[1]; y++)
            for (int x = 0; x < n[0]; x++) {
                column[count] = to[0][x] + coarse_count(&l->axis[0]) *
                                               (to[1][y] + coarse_count(&l->axis[1]) * to[2][z]);
                corner[count++] = side[0][x] | side[1][y] << 1 | side[2][z] << 2;
            }
    return count;
}

static void fill_share(void *argument, int share, int shares)
{
    const box_job *j = argument;
    matrix_arrays *P = j->P;
    const range part = base_share(P->rows, shares, share, 1);
    for (int64_t i = part.begin; i < part.end; i++) {
        int64_t at[GRID_AXES], column[CORNERS];
        unsigned corner[CORNERS];
        spry_scalar w[CORNERS];
        split(j->level, i, at);
        const int count = corners(j->level, at, column, corner);
        find_weights(j, at, w);
        for (int k = 0; k < count; k++) {
            P->col_index[P->offsets[i] + k] = (int32_t)column[k];
            value_set(P->type, P->values, P->offsets[i] + k, w[corner[k]]);
        }
    }
}

static spry_status interpolate(const box_job *j, spry_matrix **P)
{
    spry_context *ctx = j->A->ctx;
    const box_level *l = j->level;
    box_job own = *j;
    matrix_arrays a = {.type = j->A->a.type, .format = SPRY_FORMAT_CSR, .rows = j->A->a.rows};
    spry_status status = SPRY_STATUS_OK;
    a.cols = coarse_count(&l->axis[0]) * coarse_count(&l->axis[1]) * coarse_count(&l->axis[2]);
    SPRY_GO(ctx, base_alloc(ctx, a.rows + 1, sizeof *a.offsets, &a.offsets));
    a.offsets[0] = 0;
    for (int64_t i = 0; i < a.rows; i++) {
        int64_t at[GRID_AXES], column[CORNERS];
        unsigned corner[CORNERS];
        split(l, i, at);
        a.offsets[i + 1] = a.offsets[i] + corners(l, at, column, corner);
    }
    a.nnz = a.offsets[a.rows];
    SPRY_GO(ctx, matrix_allocate_entries(ctx, &a));
    own.P = &a;
    base_share_out(ctx, host_threads(ctx, a.nnz), fill_share, &own);
done:
    return matrix_finish(ctx, status, &a, P);
}

/* --- wind ----------------------------------------------------------------------------------------
 */

/* Where column j stands in row i; -1: nowhere. */
static int64_t find_entry(const matrix_arrays *m, int64_t i, int64_t j)
{
    int64_t low = m->offsets[i], high = m->offsets[i + 1];
    while (low < high) {
        const int64_t middle = low + (high - low) / 2;
        if (m->col_index[middle] < j)
            low = middle + 1;
        else
            high = middle;
    }
    return low < m->offsets[i + 1] && m->col_index[low] == j ? low : -1;
}

static void add_to(const matrix_arrays *m, int64_t k, double d)
{
    spry_scalar v = value_get(m->type, m->values, k);
    v.re += d;
    value_set(m->type, m->values, k, v);
}

/*
 * Diffusion between neighbours, as much as takes away numbers of the diagonal's sign beside it
 * (D. Kuzmin, S. Turek, J. Comput. Phys. 175 (2002), 525-558, "discrete upwinding"): what is left
 * of a wind's centred differences are those against the wind, which sweeps can smooth and coarse
 * levels can follow.
 */
static void add_diffusion(const spry_matrix *A)
{
    const matrix_arrays *m = &A->a;
    for (int64_t i = 0; i < m->rows; i++) {
        const int64_t own = find_entry(m, i, i);
        for (int64_t k = m->offsets[i]; own >= 0 && k < m->offsets[i + 1]; k++) {
            const int64_t j = m->col_index[k], back = j > i ? find_entry(m, j, i) : -1,
                          other = back >= 0 ? find_entry(m, j, j) : -1;
            if (other < 0)
                continue;
            const double sign = value_get(m->type, m->values, own).re < 0 ? -1 : 1;
            const double here = sign * value_get(m->type, m->values, k).re,
                         there = sign * value_get(m->type, m->values, back).re;
            const double d = here > there ? here : there;
            if (!(d > 0))
                continue;
            add_to(m, k, -sign * d);
            add_to(m, back, -sign * d);
            add_to(m, own, sign * d);
            add_to(m, other, sign * d);
        }
    }
}

static spry_status open_level(amg *h, const precon_job *job, int l, bool last)
{
    (void)job;
    (void)last;
    if (!h->hermitian && h->levels[l].own)
        add_diffusion(h->levels[l].own);
    return SPRY_STATUS_OK;
}

/* --- levels --------------------------------------------------------------------------------------
 */

/* Adds to the mean sizes of couplings along each axis what the rows have of them, relative to their
 * diagonals; whether rows have the points around alone. */
static bool add_couplings(const spry_matrix *A, const box_level *l, double mean[GRID_AXES])
{
    const matrix_arrays *m = &A->a;
    for (int64_t i = 0; i < m->rows; i++) {
        int64_t at[GRID_AXES], to[GRID_AXES];
        spry_scalar side[GRID_AXES][2] = {{{0}}}, centre = {0, 0};
        split(l, i, at);
        for (int64_t k = m->offsets[i]; k < m->offsets[i + 1]; k++) {
            const spry_scalar v = value_get(m->type, m->values, k);
            split(l, m->col_index[k], to);
            centre = m->col_index[k] == i ? v : centre;
            for (int a = 0; a < GRID_AXES; a++) {
                const int d = distance(&l->axis[a], at[a], to[a]);
                if (d > 1)
                    return false;
                if (d != 0)
                    side[a][d > 0] = plus(side[a][d > 0], v);
            }
        }
        const double size = sqrt(square(centre));
        for (int a = 0; a < GRID_AXES && size > 0; a++)
            mean[a] += (sqrt(square(side[a][0])) + sqrt(square(side[a][1]))) / size;
    }
    return true;
}

static bool can_be_halved(const box_axis *a)
{
    return a->n >= (a->periodic ? 4 : 2);
}

static spry_status coarsen(amg *h, const precon_job *job, int l, spry_matrix **P)
{
    box_options *o = h->options;
    box_level *level = &o->level[l];
    box_job j = {.A = h->levels[l].A, .level = level, .hermitian = h->hermitian};
    double mean[GRID_AXES] = {0}, most = 0;
    bool any = false;
    (void)job;
    h->levels[l].block = 1;
    if (!add_couplings(j.A, level, mean))
        return SPRY_FAIL(h->ctx, SPRY_STATUS_UNSUPPORTED,
                         "precon gmg: levels=galerkin is for rows that reach to the points around "
                         "alone, and rows of these terms reach further; take levels=terms");
    for (int a = 0; a < GRID_AXES; a++)
        most = can_be_halved(&level->axis[a]) && mean[a] > most ? mean[a] : most;
    if (l + 1 == AMG_MOST_LEVELS)
        return SPRY_STATUS_OK;
    o->level[l + 1] = *level;
    for (int a = 0; a < GRID_AXES; a++) {
        box_axis *axis = &level->axis[a], *next = &o->level[l + 1].axis[a];
        axis->halved = can_be_halved(axis) && mean[a] > 0 && mean[a] >= HALVED_LEAST * most;
        next->n = coarse_count(axis);
        next->halved = false;
        any = any || axis->halved;
    }
    return any ? interpolate(&j, P) : SPRY_STATUS_OK;
}

/* Incomplete factors smooth along whatever is strong, wherever that is; where many work-items would
 * wait for each other, polynomials (of A hermitian) or sparse inverses. */
static const amg_kind on_host = {.name = "gmg",
                                 .options = sizeof(box_options),
                                 .smoother = "ilu",
                                 .open = open_level,
                                 .coarsen = coarsen},
                      on_device = {.name = "gmg",
                                   .options = sizeof(box_options),
                                   .open = open_level,
                                   .coarsen = coarsen};

/* --- set-up --------------------------------------------------------------------------------------
 */

/* What the options of gmg are for levels of matrices. */
static spry_status translate(const spry_operator *A, const gmg_options *g, box_options *o)
{
    static const char *const smoothers[] = {"auto", NULL, "jacobi", "chebyshev", NULL, NULL};
    const grid_axis *axis = stencil_of(A)->shape.axis;
    const char *smoother = smoothers[g->smoother];
    const char *said = !smoother                              ? "smoother=redblack, line or fitted"
                       : g->shift != 0                        ? "shift"
                       : g->pre != g->post || g->pre < 1      ? "pre that is not post, or 0"
                       : g->pre > 16                          ? "pre above 16"
                       : g->line != 0                         ? "line"
                       : g->coarsening != GMG_COARSENING_AUTO ? "coarsening"
                       : g->cycle == GMG_F || g->cycle == GMG_FULL ? "cycle=f or full"
                                                                   : NULL;
    if (said)
        return SPRY_FAIL(
            A->ctx, SPRY_STATUS_UNSUPPORTED,
            "precon gmg: levels=galerkin has no %s; leave it out, or take levels=terms", said);
    o->common = (amg_common){.cycle = g->cycle == GMG_W ? AMG_W : AMG_AUTO,
                             .pre = g->pre,
                             .post = g->post,
                             .damping = g->omega,
                             .coarse_size = g->coarsest,
                             .levels = AMG_MOST_LEVELS};
    snprintf(o->common.smoother, sizeof o->common.smoother, "%s", smoother);
    snprintf(o->common.coarse, sizeof o->common.coarse, "auto");
    for (int a = 0; a < GRID_AXES; a++)
        o->level[0].axis[a] =
            (box_axis){.n = axis[a].unknowns,
                       .first = axis[a].first > 0,
                       .periodic = axis[a].intervals > 0 && axis[a].face[0] == GRID_PERIODIC};
    return SPRY_STATUS_OK;
}

spry_status galerkin_make(const precon_job *job, spry_type type, spry_operator **M)
{
    const spry_operator *A = job->op;
    spry_context *ctx = A->ctx;
    const stencil *s = stencil_of(A);
    spry_operator *low = NULL;
    spry_matrix *matrix = NULL;
    box_options *o = NULL;
    precon_job own = *job;
    bool hermitian = false;
    double omega = 1;
    spry_status status = SPRY_STATUS_OK;
    *M = NULL;
    SPRY_GO(ctx, base_calloc(ctx, 1, sizeof *o, &o));
    SPRY_GO(ctx, translate(A, job->options, o));
    if (s->order > 2 || type != A->type)
        SPRY_GO(ctx, stencil_coarser(A, &s->shape, 2, type, 0, &low));
    if (s->order > 2) { /* scaled so that defect correction converges */
        SPRY_GO(ctx, stencil_relaxation(A, &omega));
        SPRY_GO(ctx, stencil_scale(low, (spry_scalar){1 / omega, 0}));
    }
    SPRY_GO(ctx, spry_operator_to_matrix(low ? low : A, &matrix));
    SPRY_GO(ctx, matrix_find_out(ctx, matrix, SPRY_FACT_HERMITIAN, &hermitian));
    if (!hermitian)
        add_diffusion(matrix);
    own.values = "own";
    own.device = A->device;
    own.A = own.near = matrix;
    own.options = o;
    SPRY_GO(ctx, amg_make(&own, A->device ? &on_device : &on_host, M));
    (*M)->kept = matrix;
    matrix = NULL;
    if (type != A->type) {
        spry_operator *inside = *M;
        *M = NULL; /* taken, also when that fails */
        SPRY_GO(ctx, precon_lower(A->type, inside, M));
    }
done:
    spry_operator_free(low);
    spry_matrix_free(matrix);
    base_free(ctx, o);
    return status;
}

/* Whether a line of numbers jumps, where its neighbours are `stride` further. */
static bool jumps(spry_type type, const void *field, int64_t i, int64_t k)
{
    const double a = square(value_get(type, field, i)), b = square(value_get(type, field, k));
    const double more = a > b ? a : b, less = a > b ? b : a;
    return more > (double)JUMP_LEAST * JUMP_LEAST * less;
}

bool galerkin_is_rough(const spry_operator *A)
{
    const stencil *s = stencil_of(A);
    for (int p = 0; p < s->parts_count; p++) {
        const int f = s->parts[p].field[1]; /* between two derivatives */
        int64_t at[GRID_AXES], stride = 1;
        for (int a = 0; f >= 0 && a < GRID_AXES; a++) {
            const int64_t n = box_length(&s->points, a), count = box_count(&s->points);
            for (int64_t i = 0; i + stride < count; i++) {
                at[a] = i / stride % n;
                if (at[a] + 1 < n && jumps(A->type, s->fields[f], i, i + stride))
                    return true;
            }
            stride *= n;
        }
    }
    return false;
}
