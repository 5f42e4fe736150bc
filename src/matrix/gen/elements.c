/*
 * Finite elements on a box of nx * ny * nz unit cells, for functions that are products of functions
 * of one axis: constant, linear or quadratic on a cell. An unknown lies at a point of the lattice
 * of half cells, vertices at even places and middles at odd ones: linear functions at vertices,
 * constant ones in the middle, quadratic ones at both. Edge elements are constant along their axis
 * and linear across, fluxes through faces the other way round.
 *
 * A form is a sum of terms, each an integral over the box of a product over the axes. Cells come in
 * the same order for both functions of an entry: symmetric forms are symmetric to the bit.
 */
#include "matrix/gen/gen.h"

#include <math.h>

typedef enum space { CONSTANT, LINEAR, QUADRATIC } space;
enum { PLACES = 3, FUNCTIONS = 3 * PLACES, NO_AXIS = 3, MEANS = 4, MODES, BLOCKS = 16 };
enum { ALL_ENDS = 7, FREE_OUTFLOW = 6 }; /* axes, as bits, at whose ends a function is zero */

/* --- one axis ------------------------------------------------------------------------------------
 */

/* Coefficients of 1, t, t^2 on the cell from 0 to 1, by the place: its start, middle, end. */
static const double functions[FUNCTIONS][3] = {{0},    {1},        {0},        {1, -1},   {0},
                                               {0, 1}, {1, -3, 2}, {0, 4, -4}, {0, -1, 2}};

/* Integral of a times b over the cell; mode: 1 derives b, 2 derives a, 3 both, 4 takes the product
 * of the two integrals. */
static double integral(const double *a, const double *b, int mode)
{
    double u[2][3], sum = 0;
    if (mode == MEANS)
        return (a[0] + a[1] / 2 + a[2] / 3) * (b[0] + b[1] / 2 + b[2] / 3);
    for (int k = 0; k < 3; k++) {
        const double up = k + 1;
        u[0][k] = mode & 2 ? (k < 2 ? up * a[k + 1] : 0) : a[k];
        u[1][k] = mode & 1 ? (k < 2 ? up * b[k + 1] : 0) : b[k];
    }
    for (int degree = 0; degree <= 4; degree++) {
        double c = 0; /* exact: the coefficients are small integers */
        for (int k = 0; k < 3; k++)
            c += degree >= k && degree - k < 3 ? u[0][k] * u[1][degree - k] : 0;
        sum += c / (degree + 1);
    }
    return sum;
}

static void fill_table(double *table)
{
    for (int a = 0; a < FUNCTIONS; a++)
        for (int b = 0; b < FUNCTIONS; b++)
            for (int mode = 0; mode < MODES; mode++)
                *table++ = integral(functions[a], functions[b], mode);
}

static int64_t cells(const gen_problem *p, int axis)
{
    return axis == 0 ? p->nx : axis == 1 ? p->ny : p->nz;
}

/* First and last cell that have a place. */
static range cells_at(const gen_problem *p, int axis, int64_t at)
{
    const int64_t last = cells(p, axis) - 1, before = at / 2 - (at > 0), after = at / 2;
    if (at % 2)
        return (range){at / 2, at / 2};
    return (range){before, after < last ? after : last};
}

/* Axes that the box has; the compiler sees that they are at most three. */
static int axes_of(const gen_problem *p)
{
    return p->dimensions > 2 ? 3 : 2;
}

static int64_t step_of(const gen_axis *a)
{
    return a->space == QUADRATIC ? 1 : 2;
}

/* --- building a form -----------------------------------------------------------------------------
 */

/* Adds a field of one function along an axis and another across; it is number `place` of `share`
 * fields whose unknowns alternate. low, high: where it is zero. */
static void add_field(gen_problem *p, int axis, space along, space across, int low, int high,
                      int place, int share)
{
    gen_elements *e = &p->elements;
    gen_field *f = &e->field[e->fields++];
    int64_t points = 1;
    for (int d = 0; d < 3; d++) {
        gen_axis *a = &f->axes[d];
        a->space = (int)(d >= axes_of(p) ? CONSTANT : d == axis ? along : across);
        const int64_t step = step_of(a), end = 2 * cells(p, d);
        a->first = a->space == CONSTANT ? 1 : (low >> d & 1) * step;
        const int64_t last = a->space == CONSTANT ? end - 1 : end - (high >> d & 1) * step;
        a->count = last < a->first ? 0 : (last - a->first) / step + 1;
        points *= a->count;
    }
    f->share = share;
    f->place = place;
    f->begin = place ? f[-1].begin : p->rows;
    p->rows += place == share - 1 ? share * points : 0;
}

/* Adds factor * (D_row of the row's function, D_col of the column's), times the cell's number to
 * the power of `weight`. */
static gen_term *add_term(gen_problem *p, int row, int col, int by_row, int by_col, double factor,
                          int weight)
{
    gen_form *form = &p->elements.form[row][col];
    gen_term *t = &form->terms[form->count++];
    *t = (gen_term){.factor = factor, .weight = weight};
    for (int d = 0; d < 3; d++)
        t->modes[d] = by_row == MEANS ? MEANS : 2 * (by_row == d) + (by_col == d);
    return t;
}

static void begin(gen_problem *p)
{
    fill_table(p->table);
    p->rows = 0;
}

static spry_status finish(spry_context *ctx, const gen_problem *p)
{
    if (p->rows < 1 || p->rows > INT32_MAX)
        return SPRY_FAIL(ctx, SPRY_STATUS_BAD_USAGE,
                         "%" PRId64 " x %" PRId64 " x %" PRId64 " cells make %" PRId64
                         " rows; expected 1 to %d",
                         p->nx, p->ny, p->nz, p->rows, INT32_MAX);
    return SPRY_STATUS_OK;
}

/* (grad u, grad v) with the cell's coefficient. */
static void add_gradients(gen_problem *p, int field, double factor)
{
    for (int d = 0; d < axes_of(p); d++)
        add_term(p, field, field, d, d, factor, 1);
}

/* -(q, div v) and its transpose, between the fields 0, 1, 2 and the last. */
static void add_divergence(gen_problem *p)
{
    const int last = axes_of(p);
    for (int d = 0; d < axes_of(p); d++) {
        add_term(p, d, last, d, NO_AXIS, -1, 0);
        add_term(p, last, d, NO_AXIS, d, -1, 0);
    }
}

/* -div(k grad u), bilinear or trilinear, u = 0 on the boundary; k jumps between blocks of cells. */
spry_status gen_prepare_diffusion(spry_context *ctx, gen_problem *p)
{
    p->nx++;
    p->ny++;
    p->nz += p->dimensions > 2;
    begin(p);
    add_field(p, NO_AXIS, LINEAR, LINEAR, ALL_ENDS, ALL_ENDS, 0, 1);
    add_gradients(p, 0, 1);
    return finish(ctx, p);
}

/* Linear elasticity, trilinear, three displacements per node, Young's modulus 1. The nodes at x = 0
 * are clamped and left out. */
spry_status gen_prepare_elasticity(spry_context *ctx, gen_problem *p)
{
    const double nu = p->options.nu, lambda = nu / ((1 + nu) * (1 - 2 * nu)), mu = 1 / (2 + 2 * nu);
    if (p->ny < 2 || p->nz < 2)
        return SPRY_FAIL(ctx, SPRY_STATUS_BAD_USAGE,
                         "%" PRId64 " x %" PRId64 " x %" PRId64
                         " nodes: an element needs two nodes or more in y and z",
                         p->nx, p->ny, p->nz);
    p->ny--;
    p->nz--;
    begin(p);
    for (int i = 0; i < 3; i++) {
        add_field(p, NO_AXIS, LINEAR, LINEAR, 1, 0, i, 3);
        for (int j = 0; j < 3; j++) {
            add_term(p, i, j, i, j, lambda, 0);
            add_term(p, i, j, j, i, mu, 0);
        }
        add_gradients(p, i, mu);
    }
    return finish(ctx, p);
}

/*
 * Stokes: -div(k grad u) + grad p, div u = 0; u = 0 at all walls but the one at the end of x, where
 * the flow leaves freely. q2q1 (Taylor-Hood) or q1q1 stabilised by projection (C. R. Dohrmann, P.
 * B. Bochev, A stabilized finite element method for the Stokes problem based on polynomial pressure
 * projections, Int. J. Numer. Meth. Fluids 46 (2004), 183-201); H. Elman, D. Silvester, A. Wathen,
 * Finite Elements and Fast Iterative Solvers, section 3.3.
 */
spry_status gen_prepare_stokes(spry_context *ctx, gen_problem *p)
{
    const bool stable = p->options.elements == 0;
    const space v = stable ? QUADRATIC : LINEAR;
    const int last = axes_of(p);
    begin(p);
    for (int c = 0; c < last; c++) {
        add_field(p, NO_AXIS, v, v, ALL_ENDS, FREE_OUTFLOW, c, last);
        add_gradients(p, c, 1);
    }
    add_field(p, NO_AXIS, LINEAR, LINEAR, 0, 0, 0, 1);
    add_divergence(p);
    if (!stable) {
        add_term(p, last, last, NO_AXIS, NO_AXIS, -1, -1);
        add_term(p, last, last, MEANS, MEANS, 1, -1);
    }
    return finish(ctx, p);
}

/* Darcy: u / k + grad p = 0, div u = 0 with p = 0 on the boundary; fluxes through faces of lowest
 * order and a pressure per cell (P. A. Raviart, J. M. Thomas, 1977). */
spry_status gen_prepare_darcy(spry_context *ctx, gen_problem *p)
{
    begin(p);
    for (int c = 0; c < axes_of(p); c++) {
        add_field(p, c, LINEAR, CONSTANT, 0, 0, 0, 1);
        add_term(p, c, c, NO_AXIS, NO_AXIS, 1, -1);
    }
    add_field(p, NO_AXIS, CONSTANT, CONSTANT, 0, 0, 0, 1);
    add_divergence(p);
    return finish(ctx, p);
}

/*
 * Maxwell: curl curl u + sigma k u, or i sigma k in complex types, in a perfect conductor, with
 * sigma for a box whose side is 1; edges of lowest order (J. C. Nedelec, Mixed finite elements in
 * R^3, Numer. Math. 35 (1980), 315-341). With sigma = 0 gradients are the null space.
 */
spry_status gen_prepare_maxwell(spry_context *ctx, gen_problem *p)
{
    const double h = 1 / (double)p->nx, mass = p->options.sigma * h * h;
    begin(p);
    for (int a = 0; a < 3; a++) {
        add_field(p, a, CONSTANT, LINEAR, ALL_ENDS, ALL_ENDS, 0, 1);
        for (int b = 0; b < 3; b++) {
            if (a != b) {
                add_term(p, a, a, b, b, 1, 0);
                add_term(p, a, b, b, a, -1, 0);
            }
        }
        if (mass > 0)
            add_term(p, a, a, NO_AXIS, NO_AXIS, mass, 1)->imaginary = spry_type_is_complex(p->type);
    }
    return finish(ctx, p);
}

/* --- writing rows --------------------------------------------------------------------------------
 */

/* A row's unknown. */
typedef struct spot {
    const gen_problem *p;
    const gen_field *field;
    int64_t at[3];
    range cells[3];
    double numbers[8]; /* of the cells around it */
} spot;

/* A cell's coefficient: one for each of 16 blocks per side, spread over 10^jump. */
static double number_of(const gen_problem *p, int64_t x, int64_t y, int64_t z)
{
    const int64_t block =
        x * BLOCKS / p->nx + BLOCKS * (y * BLOCKS / p->ny + BLOCKS * (z * BLOCKS / p->nz));
    return pow(10, p->options.jump *
                       (base_uniform(p->streams[GEN_STREAM_PLACE], (uint64_t)block) - 0.5));
}

/* What the cells from `low` to `high` add to the entry for the unknown at `to`. */
static void add_cells(const spot *s, const gen_field *other, const int64_t *to, const int64_t *low,
                      const int64_t *high, double number, const gen_form *form, spry_scalar *sum)
{
    double line[3][MODES];
    for (int d = 0; d < 3; d++) {
        for (int mode = 0; mode < MODES; mode++)
            line[d][mode] = 0;
        for (int64_t c = low[d]; c <= high[d]; c++) {
            const int64_t a = s->field->axes[d].space * PLACES + s->at[d] - 2 * c;
            const int64_t b = other->axes[d].space * PLACES + to[d] - 2 * c;
            for (int mode = 0; mode < MODES; mode++)
                line[d][mode] += s->p->table[(a * FUNCTIONS + b) * MODES + mode];
        }
    }
    for (int k = 0; k < form->count; k++) {
        const gen_term *t = &form->terms[k];
        double v = line[0][t->modes[0]] * line[1][t->modes[1]] * line[2][t->modes[2]] * t->factor;
        v = t->weight > 0 ? v * number : t->weight < 0 ? v / number : v;
        sum->re += t->imaginary ? 0 : v;
        sum->im += t->imaginary ? v : 0;
    }
}

/* Cells with one coefficient are added up along the axes; with jumps each comes alone. */
static spry_scalar entry(const spot *s, const gen_field *other, const int64_t *to,
                         const gen_form *form)
{
    const bool alone = s->p->options.jump > 0;
    int64_t low[3], high[3], at[3];
    spry_scalar sum = {0, 0};
    for (int d = 0; d < 3; d++) {
        const range mine = s->cells[d], its = cells_at(s->p, d, to[d]);
        low[d] = mine.begin > its.begin ? mine.begin : its.begin;
        high[d] = mine.end < its.end ? mine.end : its.end;
    }
    if (!alone) {
        add_cells(s, other, to, low, high, 1, form, &sum);
        return sum;
    }
    for (at[2] = low[2]; at[2] <= high[2]; at[2]++)
        for (at[1] = low[1]; at[1] <= high[1]; at[1]++)
            for (at[0] = low[0]; at[0] <= high[0]; at[0]++) {
                const int64_t k = at[0] - s->cells[0].begin +
                                  2 * (at[1] - s->cells[1].begin + 2 * (at[2] - s->cells[2].begin));
                add_cells(s, other, to, at, at, s->numbers[k], form, &sum);
            }
    return sum;
}

/* The unknowns of fields that alternate, at one point. */
static void put_point(const spot *s, int row_field, int first, const int64_t *to, gen_row *row)
{
    const gen_elements *e = &s->p->elements;
    const gen_field *f = &e->field[first];
    int64_t point = 0;
    for (int d = 2; d >= 0; d--)
        point = point * f->axes[d].count + (to[d] - f->axes[d].first) / step_of(&f->axes[d]);
    for (int k = 0; k < f->share; k++) {
        const gen_form *form = &e->form[row_field][first + k];
        if (form->count == 0)
            continue;
        const spry_scalar v = row->cols ? entry(s, f, to, form) : (spry_scalar){0, 0};
        gen_put(row, f->begin + f->share * point + k, v.re, v.im);
    }
}

/* Places of a field that share a cell with the row's. */
static range places(const spot *s, const gen_axis *a, int d)
{
    const int64_t step = step_of(a), last = a->first + (a->count - 1) * step;
    const int64_t from = 2 * s->cells[d].begin, to = 2 * s->cells[d].end + 2;
    const int64_t skip = from > a->first ? (from - a->first + step - 1) / step : 0;
    return (range){a->first + skip * step, to < last ? to : last};
}

static void put_fields(const spot *s, int row_field, int first, gen_row *row)
{
    const gen_axis *a = s->p->elements.field[first].axes;
    const range x = places(s, &a[0], 0), y = places(s, &a[1], 1), z = places(s, &a[2], 2);
    int64_t to[3];
    for (to[2] = z.begin; to[2] <= z.end; to[2] += step_of(&a[2]))
        for (to[1] = y.begin; to[1] <= y.end; to[1] += step_of(&a[1]))
            for (to[0] = x.begin; to[0] <= x.end; to[0] += step_of(&a[0]))
                put_point(s, row_field, first, to, row);
}

static void find_numbers(spot *s)
{
    const range *c = s->cells;
    for (int64_t z = c[2].begin; z <= c[2].end; z++)
        for (int64_t y = c[1].begin; y <= c[1].end; y++)
            for (int64_t x = c[0].begin; x <= c[0].end; x++)
                s->numbers[x - c[0].begin + 2 * (y - c[1].begin + 2 * (z - c[2].begin))] =
                    number_of(s->p, x, y, z);
}

void gen_element_row(const void *data, int64_t i, gen_row *row)
{
    const gen_problem *p = data;
    const gen_elements *e = &p->elements;
    int first = 0;
    while (first + e->field[first].share < e->fields &&
           e->field[first + e->field[first].share].begin <= i)
        first += e->field[first].share;
    const gen_field *f = &e->field[first];
    spot s = {.p = p, .field = f};
    int64_t point = (i - f->begin) / f->share;
    for (int d = 0; d < 3; d++) {
        s.at[d] = f->axes[d].first + point % f->axes[d].count * step_of(&f->axes[d]);
        s.cells[d] = cells_at(p, d, s.at[d]);
        point /= f->axes[d].count;
    }
    if (row->cols && p->options.jump > 0)
        find_numbers(&s);
    const int own = first + (int)((i - f->begin) % f->share);
    for (int g = 0; g < e->fields; g += e->field[g].share)
        put_fields(&s, own, g, row);
}
