/*
 * Jacobi's sweeps with weights that fit a level, for operators whose eigenvalues are complex and on
 * both sides of 0, as those of damped waves, laplace + (1 + i shift) k2, are: one real weight makes
 * some errors larger there, and so do colours. What a row does to a wave of some frequency, were it
 * the row of all points, is its symbol (local Fourier analysis); over the diagonal it is the number
 * z that a sweep multiplies the wave's error by 1 - w z of. Weights are those whose polynomial is
 * least in the mean square (polynomial.c) over z of rows distributed over the grid and of
 * frequencies that the next level does not see.
 *
 * On the last level there are more sweeps, which solve its system: the damping keeps eigenvalues of
 * D^-1 A away from 0, so that no factors are needed, whatever the size. A polynomial of a high
 * degree is large soon relative to the numbers it was fitted to, and in absorbing layers rows
 * differ too much from one to the next for their symbols to hold. So this one is what as many steps
 * of GMRES find for noise, by Arnoldi's process with D^-1 A itself (Q. Liu, R. B. Morgan, W.
 * Wilcox, SIAM J. Sci. Comput. 37 (2015), S407-S428).
 */
#include "grid/gmg.h"
#include "grid/polynomial.h"

#include <stdlib.h>

enum { LATTICE = 1728, CORNERS = 8, EXTREMES = 16, ROWS = 48, FREQUENCIES = 729 };
/* By dimensions: rows of the lattice along an axis, and frequencies 0..pi, less one. */
static const int lattice_side[] = {1728, 41, 12}, intervals[] = {128, 16, 8};

/* (k h)^2 of a grid on which waves are seen yet, that is 4 points in a wavelength. */
#define COARSEST_WAVE 2.5

/* Numbers z of rows of the lattice, for angles of 0 and, a bit for each axis, pi. Those of 0 are
 * sums of rows, which derivatives leave to the terms without any. */
typedef struct lattice {
    double complex z[LATTICE][CORNERS];
} lattice;

/* An inner row of the lattice. */
static void row_of(const stencil *s, int k, int64_t at[GRID_AXES])
{
    const int side = lattice_side[s->shape.dimensions - 1];
    for (int a = 0; a < GRID_AXES; a++) {
        const int64_t n = s->shape.axis[a].unknowns;
        at[a] = n < 3 ? n / 2 : 1 + k % side * (n - 3) / (side - 1);
        k /= side;
    }
}

/* What a row does to waves exp(i theta j) of its point j, with theta of 0, pi / steps, ... along
 * each axis, up or down. */
typedef struct row_symbol {
    const spry_operator *A;
    int64_t at[GRID_AXES];
    int dimensions, steps;
    int sign[GRID_AXES];
    const double complex *turn; /* exp(i pi k / steps) for k < 2 steps */
    double complex own, corner[CORNERS];
    double complex *value; /* of each frequency, x fastest; NULL: none */
} row_symbol;

static void add_entry(void *data, const stencil_part *part, const stencil_entry *e)
{
    row_symbol *r = data;
    bool own = true;
    for (int a = 0; a < GRID_AXES; a++) {
        if (e->kind[a] == KNOWN_SLOPE)
            return;
        own = own && e->far_col[a] == 0;
    }
    const spry_scalar number = stencil_entry_value(r->A, r->at, part, e);
    const double complex v = number.re + I * number.im;
    r->own += own ? v : 0;
    for (int c = 0; c < CORNERS; c++) {
        int64_t odd = 0;
        for (int a = 0; a < GRID_AXES; a++)
            odd += c >> a & 1 ? e->far_col[a] : 0;
        r->corner[c] += odd % 2 ? -v : v;
    }
    const int each = r->steps + 1, period = 2 * r->steps;
    int count = r->value ? 1 : 0;
    for (int a = 0; a < r->dimensions; a++)
        count *= each;
    for (int k = 0; k < count; k++) {
        int64_t angle = 0;
        for (int a = 0, rest = k; a < r->dimensions; a++, rest /= each)
            angle += r->sign[a] * (rest % each) * e->far_col[a];
        r->value[k] += v * r->turn[(angle % period + period) % period];
    }
}

static void visit(const stencil *s, row_symbol *r)
{
    for (int p = 0; p < s->parts_count; p++)
        stencil_visit_row(&s->parts[p], false, r->at, add_entry, r);
}

/* Adds up numbers of ranks, of which one has each and the others 0, where the grid is cut. */
static spry_status add_up(spry_context *ctx, const grid_shape *shape, int64_t count,
                          double *numbers)
{
    const int ranks = grid_is_cut(shape) ? team_ranks(ctx) : 1;
    double *all = NULL;
    spry_status status = SPRY_STATUS_OK;
    if (ranks == 1)
        return status;
    SPRY_GO(ctx, team_agree(ctx, base_alloc(ctx, ranks * count, sizeof *all, &all)));
    SPRY_GO(ctx, team_gather(ctx, numbers, count * (int64_t)sizeof *all, all));
    for (int64_t k = 0; k < count; k++) {
        numbers[k] = 0;
        for (int r = 0; r < ranks; r++)
            numbers[k] += all[r * count + k];
    }
done:
    base_free(ctx, all);
    return status;
}

static spry_status look_around(const spry_operator *A, lattice **found)
{
    const stencil *s = A->state;
    spry_status status = base_calloc(A->ctx, 1, sizeof **found, found);
    SPRY_GO(A->ctx, grid_agree(A->ctx, &s->shape, status));
    for (int k = 0; k < LATTICE; k++) {
        row_symbol r = {.A = A};
        row_of(s, k, r.at);
        if (!box_has(&s->rows, r.at))
            continue;
        visit(s, &r);
        for (int c = 0; c < CORNERS && r.own != 0; c++)
            (*found)->z[k][c] = r.corner[c] / r.own;
    }
    SPRY_GO(A->ctx, add_up(A->ctx, &s->shape, sizeof **found / sizeof(double), (double *)*found));
done:
    return status;
}

spry_status gmg_resolves_waves(const gmg *m, int level, bool *yes)
{
    const spry_operator *A = m->level[level].A;
    const int dimensions = m->level[level].s->shape.dimensions;
    const double damped = hypot(1, m->options.shift);
    int lost = 0;
    lattice *found = NULL;
    spry_status status = look_around(A, &found);
    *yes = false;
    if (status == SPRY_STATUS_OK) {
        for (int k = 0; k < LATTICE; k++) {
            const double complex k2 = found->z[k][0], rest = 1 - k2;
            const double size = 2 * dimensions * cabs(k2) / damped;
            /* of the other sign than derivatives: else nothing oscillates */
            lost += creal(k2 * conj(rest)) < 0 && 4 * size > COARSEST_WAVE * cabs(rest);
        }
        *yes = 2 * lost <= LATTICE;
    }
    base_free(m->ctx, found);
    return status;
}

/* Rows that weights are fitted to: some, and those with extreme numbers along EXTREMES directions
 * of the complex plane, beyond which polynomials grow. Where neighbours lie along the axes z is
 * linear in the cosines of the angles, so that corners are extreme. */
static void choose_rows(const lattice *found, int chosen[ROWS])
{
    for (int q = 0; q < EXTREMES; q++) {
        const double complex back = cexp(-I * (2 * acos(-1) * q / EXTREMES));
        double most = -INFINITY;
        for (int k = 0; k < LATTICE * CORNERS; k++) {
            const double far = creal(back * found->z[k / CORNERS][k % CORNERS]);
            chosen[q] = far > most ? k / CORNERS : chosen[q];
            most = far > most ? far : most;
        }
    }
    for (int q = EXTREMES; q < ROWS; q++)
        chosen[q] = (int)(base_uniform((uint64_t)q, 11) * LATTICE);
}

/* Numbers z of rows and frequencies, those alone that have more than pi / 2 along an axis that is
 * halved, a bit each. */
typedef struct numbers {
    int64_t count;
    double complex z[ROWS * FREQUENCIES];
} numbers;

static spry_status add_row(const spry_operator *A, int row, int number, unsigned halved,
                           const double complex *turn, numbers *to)
{
    const stencil *s = A->state;
    double complex value[FREQUENCIES] = {0};
    row_symbol r = {.A = A, .dimensions = s->shape.dimensions, .turn = turn, .value = value};
    spry_status status = SPRY_STATUS_OK;
    r.steps = intervals[r.dimensions - 1];
    row_of(s, row, r.at);
    for (int a = 0; a < GRID_AXES; a++)
        r.sign[a] = number >> a & 1 ? -1 : 1;
    if (box_has(&s->rows, r.at))
        visit(s, &r);
    int count = 1;
    for (int a = 0; a < r.dimensions; a++)
        count *= r.steps + 1;
    for (int k = 0; k < count && r.own != 0; k++)
        value[k] /= r.own;
    SPRY_GO(A->ctx, add_up(A->ctx, &s->shape, 2 * count, (double *)value));
    for (int k = 0; k < count; k++) {
        bool kept = false;
        for (int a = 0, rest = k; a < r.dimensions; a++, rest /= r.steps + 1)
            kept = kept || ((halved >> a & 1) && 2 * (rest % (r.steps + 1)) > r.steps);
        if (kept)
            to->z[to->count++] = value[k];
    }
done:
    return status;
}

static spry_status find_numbers(const spry_operator *A, unsigned halved, numbers *to)
{
    const int steps = intervals[((const stencil *)A->state)->shape.dimensions - 1];
    int chosen[ROWS] = {0};
    double complex turn[256];
    lattice *found = NULL;
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(A->ctx, look_around(A, &found));
    choose_rows(found, chosen);
    for (int k = 0; k < 2 * steps; k++)
        turn[k] = cexp(I * (acos(-1) * k / steps));
    for (int q = 0; q < ROWS; q++)
        SPRY_GO(A->ctx, add_row(A, chosen[q], q, halved, turn, to));
done:
    base_free(A->ctx, found);
    return status;
}

/* Weights of sweeps before and after, for what oscillates along axes that are halved. */
static spry_status fit_smoother(gmg *m, gmg_level *l)
{
    const int64_t sweeps[] = {m->options.pre, m->options.post};
    unsigned halved = 0;
    numbers *found = NULL;
    spry_status status = base_calloc(m->ctx, 1, sizeof *found, &found);
    SPRY_GO(m->ctx, grid_agree(m->ctx, &l->s->shape, status));
    for (int a = 0; a < GRID_AXES; a++)
        if (l->s->shape.axis[a].intervals != l[1].s->shape.axis[a].intervals)
            halved |= 1u << a;
    SPRY_GO(m->ctx, find_numbers(l->A, halved, found));
    for (int k = 0; k < 2; k++) {
        int count;
        if (sweeps[k] == 0)
            continue;
        SPRY_GO(m->ctx, base_calloc(m->ctx, sweeps[k], sizeof *l->weights[k], &l->weights[k]));
        SPRY_GO(m->ctx, polynomial_fit(m->ctx, found->count, found->z, (int)sweeps[k], &count,
                                       l->weights[k]));
    }
done:
    base_free(m->ctx, found);
    return status;
}

/* --- the last level ------------------------------------------------------------------------------
 */

/* Vectors of Arnoldi's process, each of a level's box and 0 outside of the rows made on this rank;
 * the last one has what others have, too. */
typedef struct arnoldi {
    const gmg *m;
    const gmg_level *l;
    char *room;
} arnoldi;

static spry_vector vector_of(const arnoldi *a, int k)
{
    const size_t size = (size_t)a->l->count * spry_type_size(a->m->type);
    return vector_over(a->m->ctx, a->m->type, a->l->count, a->room + (size_t)k * size);
}

static spry_status dot(const arnoldi *a, const spry_vector *u, const spry_vector *v,
                       double complex *sum)
{
    spry_scalar found = {0, 0};
    spry_status status = spry_vector_dot(u, v, &found);
    double parts[] = {found.re, found.im};
    if (status == SPRY_STATUS_OK)
        status = add_up(a->m->ctx, &a->l->s->shape, 2, parts);
    *sum = parts[0] + I * parts[1];
    return status;
}

static spry_status normalise(const arnoldi *a, spry_vector *v, double *size)
{
    double complex square;
    const spry_status status = dot(a, v, v, &square);
    *size = sqrt(creal(square));
    if (status != SPRY_STATUS_OK || !(*size > 0))
        return status;
    return spry_vector_scale((spry_scalar){1 / *size, 0}, v);
}

/* v_(j+1) = D^-1 A v_j, by way of the vector `spare`, made orthogonal to those before. */
static spry_status next_vector(const arnoldi *a, int j, int spare, polynomial_basis *b)
{
    const gmg_level *l = a->l;
    const spry_vector from = vector_of(a, j);
    spry_vector work = vector_of(a, spare), next = vector_of(a, j + 1);
    double size = 0;
    spry_status status = SPRY_STATUS_OK;
    memcpy(work.data, from.data, (size_t)l->count * spry_type_size(a->m->type));
    SPRY_GO(a->m->ctx, gmg_bring_x(l, work.data));
    SPRY_GO(a->m->ctx, stencil_run(l->A, SPRY_TRANSPOSE_NO, (spry_scalar){1, 0}, work.data,
                                   (spry_scalar){0, 0}, l->r, l->r));
    l->s->kernels->multiply(l->count, l->r, l->diagonal->data, next.data);
    for (int i = 0; i <= j; i++) {
        const spry_vector before = vector_of(a, i);
        double complex h;
        SPRY_GO(a->m->ctx, dot(a, &before, &next, &h));
        SPRY_GO(a->m->ctx, spry_vector_axpy((spry_scalar){-creal(h), -cimag(h)}, &before, &next));
        b->h[i][j] = h;
    }
    SPRY_GO(a->m->ctx, normalise(a, &next, &size));
    b->h[j + 1][j] = fmax(size, 1e-10);
    b->degree = size > 1e-10 ? j + 1 : -(j + 1); /* there is no next one */
done:
    return status;
}

/* Bits are to be the same on any number of ranks, whose sums are not: weights have as many as are
 * of use. */
static double rounded(double number)
{
    int exponent;
    const double part = frexp(number, &exponent);
    return ldexp(nearbyint(ldexp(part, 16)), exponent - 16);
}

static spry_status fit_last(gmg *m, gmg_level *l)
{
    const int degree = (int)m->options.last;
    const grid_box whole = grid_whole(&l->s->shape, false);
    arnoldi a = {.m = m, .l = l};
    polynomial_basis *b = NULL;
    double complex centre = 0;
    double radius = 0, size;
    spry_status status = base_calloc(m->ctx, 1, sizeof *b, &b);
    if (status == SPRY_STATUS_OK)
        status = base_calloc(m->ctx, (degree + 2) * l->count, spry_type_size(m->type), &a.room);
    if (status == SPRY_STATUS_OK)
        status = base_calloc(m->ctx, degree, sizeof *l->weights[0], &l->weights[0]);
    SPRY_GO(m->ctx, grid_agree(m->ctx, &l->s->shape, status));
    spry_vector first = vector_of(&a, 0);
    for (int64_t i = 0; i < box_count(&l->rows); i++) {
        int64_t at[GRID_AXES];
        box_split(&l->rows, i, at);
        const uint64_t number = (uint64_t)box_place(&whole, at);
        value_set(m->type, first.data, box_place(&l->box, at),
                  (spry_scalar){base_uniform(number, 7) - 0.5, base_uniform(number, 8) - 0.5});
    }
    SPRY_GO(m->ctx, normalise(&a, &first, &size));
    for (int j = 0; j < degree && b->degree >= 0; j++)
        SPRY_GO(m->ctx, next_vector(&a, j, degree + 1, b));
    b->degree = abs(b->degree);
    for (int j = 0; j < b->degree; j++)
        centre += b->h[j][j] / b->degree;
    for (int j = 0; j < b->degree; j++)
        radius = fmax(radius, cabs(b->h[j][j] - centre) + cabs(b->h[j + 1][j]));
    SPRY_GO(m->ctx, polynomial_weights(m->ctx, b, centre, radius, l->weights[0]));
    for (int k = 0; k < b->degree; k++)
        l->weights[0][k] =
            (spry_scalar){rounded(l->weights[0][k].re), rounded(l->weights[0][k].im)};
done:
    base_free(m->ctx, a.room);
    base_free(m->ctx, b);
    return status;
}

spry_status gmg_fit(gmg *m, int level)
{
    gmg_level *l = &m->level[level];
    return level == m->count - 1 ? fit_last(m, l) : fit_smoother(m, l);
}

spry_scalar gmg_weight(const gmg *m, int level, int sweeps, int k)
{
    const spry_scalar *const *weights = (const spry_scalar *const *)m->level[level].weights;
    if (m->options.smoother != GMG_FITTED)
        return (spry_scalar){m->options.omega > 0 ? m->options.omega : 0.8, 0};
    return level == m->count - 1 || sweeps == m->options.pre ? weights[0][k] : weights[1][k];
}
