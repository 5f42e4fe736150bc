/*
 * Domains with curved boundaries, where u is known. A field phi is negative inside; phi is linear
 * between two points, and 0 at a distance of theta spacings from the inner one. A row with a
 * neighbour outside takes what the line through its own point and the boundary has there:
 *
 *     u_j = u_i + (u_b - u_i) / theta
 *
 * (F. Gibou, R. Fedkiw, L.-T. Cheng, M. Kang, A second-order-accurate symmetric discretization of
 * the Poisson equation on irregular domains, J. Comput. Phys. 176 (2002), 205-227.) So a_ij u_j
 * becomes a_ij (1 - 1/theta) u_i, on the diagonal, and a_ij u_b / theta on the right-hand side:
 * symmetric matrices stay so, and solutions have order 2, though these rows have not.
 *
 * All numbers are those of the terms with fields that are 0 outside before and behind derivatives,
 * and one more term, a field for the diagonal. Outside that is the only number of a row, and u is
 * 0. Coarser levels have phi at their points, and a diagonal of their own.
 */
#include "grid/domain.h"

#include "grid/blocks.h"

#define THETA_LEAST 1e-6 /* points closer to the boundary are moved away by that much */

typedef struct cut_row {
    const spry_operator *op;
    const stencil *s;
    int64_t at[GRID_AXES]; /* unknowns */
    const stencil_part *part;
    int number; /* of the part */
    spry_scalar own, diagonal;
    bool far; /* other entries than those of neighbours along the axes */
    /* of a right-hand side */
    spry_boundary_fn boundary;
    void *data;
    spry_scalar known;
} cut_row;

static spry_scalar times(spry_scalar a, spry_scalar b)
{
    return (spry_scalar){a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
}

static spry_scalar field_at(const cut_row *r, int field, const int64_t *step)
{
    static const int64_t zero[GRID_AXES] = {0};
    int64_t at[GRID_AXES];
    for (int a = 0; a < GRID_AXES; a++)
        at[a] = r->at[a] + r->s->shape.axis[a].first + (step ? step : zero)[a];
    return value_get(r->op->type, r->s->fields[field], box_place(&r->s->points, at));
}

/* An entry's number in the row of an inner point, also where its column lies outside. */
static spry_scalar whole_value(const cut_row *r, const stencil_part *part, const stencil_entry *e)
{
    const int behind = r->s->domain.behind[r->number];
    spry_scalar value = {part->c.re * e->c, part->c.im * e->c};
    if (part->field[0] >= 0)
        value = times(value, field_at(r, part->field[0], NULL));
    if (part->field[1] >= 0)
        value = times(value, field_at(r, part->field[1], e->mid));
    return behind >= 0 ? times(value, field_at(r, behind, e->col)) : value;
}

/* The axis of a neighbour; -1: the row's own point, -2: neither. */
static int axis_of(const stencil_entry *e)
{
    int axis = -1;
    for (int a = 0; a < GRID_AXES; a++) {
        if (e->far_col[a] == 0)
            continue;
        if (axis >= 0 || e->far_col[a] < -1 || e->far_col[a] > 1)
            return -2;
        axis = a;
    }
    return axis;
}

/* Adds an entry u_b / theta to what is known. */
static void add_boundary(cut_row *r, int axis, const stencil_entry *e, double theta,
                         spry_scalar value)
{
    const grid_axis *axes = r->s->shape.axis;
    double place[GRID_AXES] = {0};
    spry_scalar u = {0, 0};
    for (int a = 0; a < r->s->shape.dimensions; a++)
        place[a] = grid_coordinate(&axes[a], r->at[a] + axes[a].first);
    /* the next point of a periodic axis may be at its other end */
    const int64_t i = r->at[axis] + axes[axis].first, step = e->far_col[axis];
    const bool round = i + step < 0 || i + step > axes[axis].intervals;
    const double length =
        round ? grid_coordinate(&axes[axis], step < 0 ? axes[axis].intervals : 1) -
                    grid_coordinate(&axes[axis], step < 0 ? axes[axis].intervals - 1 : 0)
              : fabs(grid_coordinate(&axes[axis], i + step) - place[axis]);
    place[axis] += (double)step * theta * length;
    r->boundary(r->data, -1, place, &u);
    u = times(u, value);
    r->known.re += u.re / theta;
    r->known.im += u.im / theta;
}

static void visit(void *data, const stencil_part *part, const stencil_entry *e)
{
    cut_row *r = data;
    const int axis = axis_of(e);
    for (int a = 0; a < GRID_AXES; a++)
        if (e->kind[a] == KNOWN_SLOPE)
            return;
    if (axis == -2) {
        r->far = true;
        return;
    }
    const spry_scalar value = whole_value(r, part, e);
    if (axis == -1) {
        r->own.re += value.re;
        r->own.im += value.im;
        return;
    }
    const double here = field_at(r, r->s->domain.phi, NULL).re;
    const double there = field_at(r, r->s->domain.phi, e->col).re;
    if (there < 0)
        return;
    const double theta = fmax(here / (here - there), THETA_LEAST);
    r->diagonal.re += value.re * (1 - 1 / theta);
    r->diagonal.im += value.im * (1 - 1 / theta);
    if (r->boundary)
        add_boundary(r, axis, e, theta, value);
}

/* Visits the terms of a row; false: its point is outside. */
static bool visit_row(cut_row *r)
{
    const stencil *s = r->s;
    if (!(field_at(r, s->domain.phi, NULL).re < 0))
        return false;
    for (int p = 0; p < s->parts_count; p++) {
        r->number = p;
        if (p != s->domain.part)
            stencil_visit_row(&s->parts[p], false, r->at, visit, r);
    }
    return true;
}

spry_status domain_fill(spry_operator *op, bool coarse)
{
    enum { LARGE = 1 << 20 }; /* what is restricted to outer points of coarser levels is to go */
    stencil *s = op->state;
    const int field = s->parts[s->domain.part].field[0];
    void *to = s->fields[field];
    spry_scalar outside = {1, 0};
    double most = 0;
    s->parts[s->domain.part].c = (spry_scalar){1, 0};
    for (int turn = 0; turn < 2; turn++) /* inner points, then the others */
        for (int64_t i = 0; i < op->rows; i++) {
            cut_row r = {.op = op, .s = s};
            int64_t at[GRID_AXES];
            box_split(&s->rows, i, r.at);
            for (int a = 0; a < GRID_AXES; a++)
                at[a] = r.at[a] + s->shape.axis[a].first;
            const int64_t place = box_place(&s->points, at);
            if (turn == 1) {
                if (!(field_at(&r, s->domain.phi, NULL).re < 0))
                    value_set(op->type, to, place, outside);
                continue;
            }
            if (!visit_row(&r))
                continue;
            if (r.far)
                return SPRY_FAIL(op->ctx, SPRY_STATUS_UNSUPPORTED,
                                 "domain= is for differences between a point and its neighbours "
                                 "along the axes, as laplace, dx or div(k*grad); row %" PRId64
                                 " has others",
                                 i);
            value_set(op->type, to, place, r.diagonal);
            const double size = hypot(r.own.re, r.own.im);
            if (size > most) {
                const double by = coarse ? LARGE : 1;
                most = size;
                outside = (spry_scalar){by * r.own.re, by * r.own.im};
            }
        }
    return SPRY_STATUS_OK;
}

void domain_subtract(const spry_operator *A, spry_boundary_fn boundary, void *data, spry_vector *b)
{
    const stencil *s = A->state;
    for (int64_t i = 0; i < A->rows; i++) {
        cut_row r = {.op = A, .s = s, .boundary = boundary, .data = data};
        box_split(&s->rows, i, r.at);
        const bool inside = visit_row(&r);
        const spry_scalar before = value_get(A->type, b->data, i);
        const spry_scalar after = {before.re - r.known.re, before.im - r.known.im};
        value_set(A->type, b->data, i, inside ? after : (spry_scalar){0, 0});
    }
}
