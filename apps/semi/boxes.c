/* Boxes along three axes, each cut into simplices with right angles (H. Freudenthal, 1942; H. W.
 * Kuhn, 1960): the dual boxes of nodes are boxes, and no coupling is below 0. */
#include "semi/semi.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The interval that is wanted at a place. */
static double wanted(const semi_part *p, double at, double growth, double most)
{
    const double slope = log(growth);
    return fmin(most, fmin(p->h_from + slope * (at - p->from), p->h_to + slope * (p->to - at)));
}

/* Intervals in a part: 1 / wanted, integrated; places where it comes to whole shares. */
static int64_t divide(const semi_part *p, double growth, double most, double *places)
{
    enum { STEPS = 4000 };
    const double h = (p->to - p->from) / STEPS;
    double sum = 0, done = 0;
    for (int k = 0; k < STEPS; k++)
        sum += h / wanted(p, p->from + (k + 0.5) * h, growth, most);
    const int64_t count = sum > 1 ? (int64_t)ceil(sum - 1e-6) : 1;
    int64_t next = 1;
    for (int k = 0; k < STEPS && places && next < count; k++) {
        const double share = h / wanted(p, p->from + (k + 0.5) * h, growth, most) / sum;
        for (; next < count && done + share >= (double)next / (double)count; next++)
            places[next] = p->from + h * (k + ((double)next / (double)count - done) / share);
        done += share;
    }
    if (places)
        places[count] = p->to;
    return count;
}

void semi_axis_make(semi_axis *axis, const semi_part *parts, int count, double growth, double most)
{
    int64_t total = 0, at = 0;
    for (int k = 0; k < count; k++)
        total += divide(&parts[k], growth, most, NULL);
    axis->count = total + 1;
    axis->at = cli_alloc((size_t)(total + 1) * sizeof(double));
    axis->at[0] = parts[0].from;
    for (int k = 0; k < count; k++)
        at += divide(&parts[k], growth, most, axis->at + at);
}

/* The nodes of simplex number s of a box, as corners of the box: bit a is the side along axis a. */
static int simplices(int dim, int corner[6][4])
{
    static const int orders[6][3] = {{0, 1, 2}, {1, 0, 2}, {0, 2, 1},
                                     {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};
    const int count = dim == 3 ? 6 : dim;
    for (int s = 0; s < count; s++) {
        corner[s][0] = 0;
        for (int k = 0; k < dim; k++)
            corner[s][k + 1] = corner[s][k] | 1 << orders[s][k];
    }
    return count;
}

static int64_t number_of(const semi_boxes *b, const int64_t *i, int corner)
{
    return i[0] + (corner & 1) +
           b->axis[0].count *
               (i[1] + (corner >> 1 & 1) + b->axis[1].count * (i[2] + (corner >> 2 & 1)));
}

static void place_at(const semi_boxes *b, const int64_t *i, double half, double *place)
{
    for (int a = 0; a < 3; a++)
        place[a] = a >= b->dim   ? 0
                   : half == 0.0 ? b->axis[a].at[i[a]]
                                 : 0.5 * (b->axis[a].at[i[a]] + b->axis[a].at[i[a] + 1]);
}

static int64_t boxes_along(const semi_boxes *b, int a)
{
    return a < b->dim ? b->axis[a].count - 1 : 1;
}

/* Cells of the grid's nodes, counted if `corner` is NULL. */
static int64_t put_cells(const semi_boxes *b, int32_t *corner, int32_t *region)
{
    int of[6][4];
    const int per_box = simplices(b->dim, of);
    int64_t count = 0, i[3];
    for (i[2] = 0; i[2] < boxes_along(b, 2); i[2]++)
        for (i[1] = 0; i[1] < boxes_along(b, 1); i[1]++)
            for (i[0] = 0; i[0] < boxes_along(b, 0); i[0]++) {
                double centre[3];
                place_at(b, i, 0.5, centre);
                const int here = b->region(b->data, centre);
                for (int s = 0; here >= 0 && s < per_box; s++, count++) {
                    for (int k = 0; corner && k <= b->dim; k++)
                        corner[count * (b->dim + 1) + k] = (int32_t)number_of(b, i, of[s][k]);
                    if (region)
                        region[count] = here;
                }
            }
    return count;
}

void semi_boxes_make(const semi_boxes *b, semi_mesh *m)
{
    const int64_t all = b->axis[0].count * b->axis[1].count * b->axis[2].count;
    int32_t *number = cli_alloc((size_t)all * sizeof *number);
    int64_t i[3], node = 0;
    m->dim = b->dim;
    m->cells = put_cells(b, NULL, NULL);
    m->corner = cli_alloc((size_t)(m->cells * (b->dim + 1)) * sizeof *m->corner);
    m->region = cli_alloc((size_t)m->cells * sizeof *m->region);
    put_cells(b, m->corner, m->region);
    for (int64_t k = 0; k < m->cells * (b->dim + 1); k++)
        number[m->corner[k]] = 1;
    for (int64_t k = 0; k < all; k++)
        number[k] = number[k] ? (int32_t)m->nodes++ : -1;
    m->place = cli_alloc((size_t)m->nodes * 3 * sizeof(double));
    m->contact = cli_alloc((size_t)m->nodes);
    for (i[2] = 0; i[2] < b->axis[2].count; i[2]++)
        for (i[1] = 0; i[1] < b->axis[1].count; i[1]++)
            for (i[0] = 0; i[0] < b->axis[0].count; i[0]++) {
                if (number[number_of(b, i, 0)] < 0)
                    continue;
                place_at(b, i, 0, m->place + 3 * node);
                m->contact[node] = (int8_t)b->contact(b->data, m->place + 3 * node);
                node++;
            }
    for (int64_t k = 0; k < m->cells * (b->dim + 1); k++)
        m->corner[k] = number[m->corner[k]];
    free(number);
}
