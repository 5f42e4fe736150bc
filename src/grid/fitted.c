/*
 * Jacobi's sweeps with weights that fit a level, for operators whose eigenvalues are complex and on
 * both sides of 0, as those of damped waves, laplace + (1 + i shift) k2, are: one real weight makes
 * some errors larger there, and so do colours. What a row does to a wave of some frequency, were it
 * the row of all points, is its symbol (local Fourier analysis); over the diagonal it is the number
 * z that a sweep multiplies the wave's error by 1 - w z of. Weights are those whose polynomial is
 * least in the mean square (polynomial.c) over z of rows spread over the grid and of frequencies
 * that the next level does not see. On the last level these are all frequencies, and as many sweeps
 * solve its system: the damping keeps z away from 0, so that no factors are needed, whatever the
 * size.
 *
 * A polynomial of a high degree is large soon beside the numbers it was fitted to. So rows with
 * extreme diagonals are among those that are looked at: of the lattice below the first along each
 * of EXTREMES directions of the complex plane.
 */
#include "grid/gmg.h"
#include "grid/polynomial.h"

enum { LATTICE = 4096, EXTREMES = 16, ROWS = 48, FREQUENCIES = 729 };
/* By dimensions: rows of the lattice along an axis, and frequencies 0..pi, less one. */
static const int lattice_side[] = {4096, 64, 16}, intervals[] = {128, 16, 8};

/* (k h)^2 of a grid on which waves are seen yet, that is 4 points in a wavelength. */
#define COARSEST_WAVE 2.5

/* Rows of the lattice: their diagonals, and sums of all entries, which derivatives leave to the
 * terms without any. */
typedef struct lattice {
    spry_scalar own[LATTICE], sum[LATTICE];
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
    double complex own, sum;
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
    r->sum += v;
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
        (*found)->own[k] = (spry_scalar){creal(r.own), cimag(r.own)};
        (*found)->sum[k] = (spry_scalar){creal(r.sum), cimag(r.sum)};
    }
    SPRY_GO(A->ctx, add_up(A->ctx, &s->shape, sizeof **found / sizeof(double), (double *)*found));
done:
    return status;
}

spry_status gmg_sees_waves(const gmg *m, int level, bool *yes)
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
            const double complex k2 = found->sum[k].re + I * found->sum[k].im;
            const double complex own = found->own[k].re + I * found->own[k].im;
            const double size = 2 * dimensions * cabs(k2) / damped;
            /* of the other sign than derivatives: else nothing oscillates */
            lost += creal(k2 / (own - k2)) < 0 && 4 * size > COARSEST_WAVE * cabs(own - k2);
        }
        *yes = 2 * lost <= LATTICE;
    }
    base_free(m->ctx, found);
    return status;
}

/* Rows that weights are fitted to: those with extreme diagonals, and some others. */
static void choose_rows(const lattice *found, int chosen[ROWS])
{
    for (int q = 0; q < EXTREMES; q++) {
        const double angle = 2 * acos(-1) * q / EXTREMES;
        double most = -INFINITY;
        for (int k = 0; k < LATTICE; k++) {
            const double far = cos(angle) * found->own[k].re + sin(angle) * found->own[k].im;
            chosen[q] = far > most ? k : chosen[q];
            most = far > most ? far : most;
        }
    }
    for (int q = EXTREMES; q < ROWS; q++)
        chosen[q] = (int)(base_uniform((uint64_t)q, 11) * LATTICE);
}

/* Numbers z of rows and frequencies, those alone that have more than pi / 2 along an axis that is
 * halved, a bit each, or all. */
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
        bool kept = halved == 0;
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

spry_status gmg_fit(gmg *m, int level)
{
    gmg_level *l = &m->level[level];
    const bool last = level == m->count - 1;
    const int64_t sweeps[] = {last ? m->options.last : m->options.pre, last ? 0 : m->options.post};
    unsigned halved = 0;
    numbers *found = NULL;
    spry_status status = base_calloc(m->ctx, 1, sizeof *found, &found);
    SPRY_GO(m->ctx, grid_agree(m->ctx, &l->s->shape, status));
    for (int a = 0; a < GRID_AXES && !last; a++)
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

spry_scalar gmg_weight(const gmg *m, int level, int sweeps, int k)
{
    const spry_scalar *const *weights = (const spry_scalar *const *)m->level[level].weights;
    if (m->options.smoother != GMG_FITTED)
        return (spry_scalar){m->options.omega > 0 ? m->options.omega : 0.8, 0};
    return level == m->count - 1 || sweeps == m->options.pre ? weights[0][k] : weights[1][k];
}
