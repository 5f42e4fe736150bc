/* What is below the surface: see inside.h. */
#include "ocean/inside.h"

#include <math.h>
#include <string.h>

/* --- neighbours ----------------------------------------------------------------------------------
 */

static int turn(int i, int n, bool round)
{
    if (round)
        return ((i % n) + n) % n;
    return i < 0 ? -i : i >= n ? 2 * (n - 1) - i : i;
}

/* As many as differences of the order have, around the nearest. */
static void find_near(const ocean_inside *in, int n, bool round, double spacing, double place,
                      ocean_near *near)
{
    const int order = in->f->setup.order, middle = (int)lround(place / spacing);
    double node[WIDTH_MOST];
    near->count = n == 1 ? 1 : order + 1;
    near->index[0] = 0;
    near->weight[0][0] = 1;
    near->weight[1][0] = 0;
    if (n == 1)
        return;
    for (int m = 0; m <= order; m++) {
        near->index[m] = turn(middle + m - order / 2, n, round);
        node[m] = (middle + m - order / 2) * spacing;
    }
    for (int q = 0; q < 2; q++)
        ocean_difference(q, place, order + 1, node, false, near->weight[q]);
}

void ocean_inside_near(const ocean_inside *in, double x, double y, ocean_near near[2])
{
    const ocean_sizes *s = &in->f->points.sizes;
    find_near(in, s->nx, s->round_x, in->f->dx, x, &near[0]);
    find_near(in, s->all_y, s->round_y, in->f->dy, y, &near[1]);
}

/* Levels around one place of sigma. */
static void find_levels(const ocean_inside *in, double sigma, ocean_near *near)
{
    const ocean_vertical *v = &in->f->vertical;
    int first = 0;
    while (first < v->intervals - v->order && fabs(v->sigma[first + v->order / 2 + 1] - sigma) <
                                                  fabs(v->sigma[first + v->order / 2] - sigma))
        first++;
    near->count = v->width;
    for (int m = 0; m < v->width; m++)
        near->index[m] = first + m;
    for (int q = 0; q < 2; q++)
        ocean_difference(q, sigma, v->width, v->sigma + first, false, near->weight[q]);
}

/* A level itself. */
static void take_level(const ocean_inside *in, int level, ocean_near *near)
{
    const ocean_vertical *v = &in->f->vertical;
    near->count = v->width;
    for (int m = 0; m < v->width; m++) {
        near->index[m] = v->first[level] + m;
        near->weight[0][m] = v->first[level] + m == level;
        near->weight[1][m] = v->d1[level * v->width + m];
    }
}

/* --- values --------------------------------------------------------------------------------------
 */

/* A value and its slopes along x and y. */
typedef struct sloped {
    double value, x, y;
} sloped;

static void add(sloped *s, const ocean_near near[2], int a, int b, double number)
{
    s->value += near[0].weight[0][a] * near[1].weight[0][b] * number;
    s->x += near[0].weight[1][a] * near[1].weight[0][b] * number;
    s->y += near[0].weight[0][a] * near[1].weight[1][b] * number;
}

static bool counts(const ocean_near near[2], int a, int b)
{
    const double x = near[0].weight[0][a], y = near[1].weight[0][b];
    return x * y != 0 || near[0].weight[1][a] * y != 0 || x * near[1].weight[1][b] != 0;
}

static sloped plane_at(const ocean_inside *in, const double *plane, const ocean_near near[2])
{
    sloped s = {0, 0, 0};
    for (int b = 0; b < near[1].count; b++)
        for (int a = 0; a < near[0].count; a++)
            add(&s, near, a, b,
                plane[(ptrdiff_t)near[1].index[b] * in->f->points.sizes.nx + near[0].index[a]]);
    return s;
}

double ocean_inside_depth(const ocean_inside *in, const ocean_near near[2])
{
    return plane_at(in, in->depth, near).value;
}

/* Below a column's surface, at sigma with its levels. */
static void water_at(const ocean_inside *in, const ocean_near near[2], const ocean_near *levels,
                     sloped h, sloped eta, double sigma, ocean_water *w)
{
    const ocean_sizes *s = &in->f->points.sizes;
    const ptrdiff_t plane = (ptrdiff_t)s->nx * s->all_y;
    const double d = h.value + eta.value, g = in->f->setup.gravity;
    sloped phi = {0, 0, 0}, up = phi, rising = phi;
    for (int b = 0; b < near[1].count; b++)
        for (int a = 0; a < near[0].count; a++) {
            double sum = 0, slope = 0, rate = 0;
            if (!counts(near, a, b))
                continue;
            for (int m = 0; m < levels->count; m++) {
                const ptrdiff_t p = levels->index[m] * plane + (ptrdiff_t)near[1].index[b] * s->nx +
                                    near[0].index[a];
                sum += levels->weight[0][m] * in->phi[p];
                slope += levels->weight[1][m] * in->phi[p];
                rate += levels->weight[0][m] * in->rising[p];
            }
            add(&phi, near, a, b, sum);
            add(&up, near, a, b, slope);
            add(&rising, near, a, b, rate);
        }
    double *v = w->velocity;
    w->phi = phi.value;
    v[0] = phi.x + (h.x - sigma * (h.x + eta.x)) / d * up.value;
    v[1] = phi.y + (h.y - sigma * (h.y + eta.y)) / d * up.value;
    v[2] = up.value / d;
    w->pressure = in->f->drive[FORCING_HEAD] - rising.value - g * (sigma * d - h.value) -
                  (v[0] * v[0] + v[1] * v[1] + v[2] * v[2]) / 2;
}

bool ocean_inside_at(const ocean_inside *in, const ocean_near near[2], double z, ocean_water *w)
{
    const sloped h = plane_at(in, in->depth, near), eta = plane_at(in, in->eta, near);
    const double sigma = (z + h.value) / (h.value + eta.value);
    ocean_near levels;
    if (!(sigma > -1e-9 && sigma < 1 + 1e-9))
        return false;
    find_levels(in, sigma, &levels);
    water_at(in, near, &levels, h, eta, sigma, w);
    return true;
}

void ocean_inside_level(const ocean_inside *in, const ocean_near near[2], int level, double *z,
                        ocean_water *w)
{
    const sloped h = plane_at(in, in->depth, near), eta = plane_at(in, in->eta, near);
    const double sigma = in->f->vertical.sigma[level];
    ocean_near levels;
    take_level(in, level, &levels);
    water_at(in, near, &levels, h, eta, sigma, w);
    *z = sigma * (h.value + eta.value) - h.value;
}

/* --- forces --------------------------------------------------------------------------------------
 */

/* Weights of levels in the integral over sigma from 0 to 1: between two levels that of the
 * polynomial through those around them, by Gauss' formula of five points, which is exact for it. */
static void make_integral(ocean_inside *in)
{
    static const double place[] = {-0.906179845938664, -0.538469310105683, 0, 0.538469310105683,
                                   0.906179845938664};
    static const double weight[] = {0.236926885056189, 0.478628670499366, 0.568888888888889,
                                    0.478628670499366, 0.236926885056189};
    const ocean_vertical *v = &in->f->vertical;
    for (int k = 0; k < v->intervals; k++)
        for (int g = 0; g < 5; g++) {
            const double half = (v->sigma[k + 1] - v->sigma[k]) / 2;
            ocean_near levels;
            find_levels(in, v->sigma[k] + half * (1 + place[g]), &levels);
            for (int m = 0; m < levels.count; m++)
                in->integral[levels.index[m]] += half * weight[g] * levels.weight[0][m];
        }
}

/* p/rho over the height of a wall at a point, less that of still water. */
static double push(const ocean_inside *in, double x, double y)
{
    ocean_near near[2];
    ocean_inside_near(in, x, y, near);
    const double h = plane_at(in, in->depth, near).value, eta = plane_at(in, in->eta, near).value;
    double sum = 0;
    for (int k = 0; k <= in->f->vertical.intervals; k++) {
        ocean_water w;
        double z;
        ocean_inside_level(in, near, k, &z, &w);
        sum += in->integral[k] * w.pressure;
    }
    return sum * (h + eta) - in->f->setup.gravity * h * h / 2;
}

/* Between walls all is its own mirror image, so that halves at the ends integrate smooth functions
 * as well as whole periods do. */
void ocean_inside_forces(const ocean_inside *in, double force[4])
{
    const ocean_sizes *s = &in->f->points.sizes;
    const ocean_setup *setup = &in->f->setup;
    for (int wall = 0; wall < 4; wall++) {
        const bool along_y = wall < 2, is = along_y ? !s->round_x : !s->round_y && s->all_y > 1;
        const int n = along_y ? s->all_y : s->nx;
        const double spacing = along_y ? in->f->dy : in->f->dx;
        force[wall] = 0;
        for (int i = 0; is && i < n; i++) {
            const bool end =
                n > 1 && (i == 0 || i == n - 1) && !(along_y ? s->round_y : s->round_x);
            const double at = i * spacing, part = (n == 1 ? 1 : spacing) * (end ? 0.5 : 1);
            const double far = wall % 2 == 0 ? 0 : along_y ? setup->length : setup->width;
            force[wall] += part * (along_y ? push(in, far, at) : push(in, at, far));
        }
    }
}

/* --- making and looking --------------------------------------------------------------------------
 */

/* All numbers of a vector of some planes, on the host. */
static spry_status bring(const ocean_flow *f, int planes, const spry_vector *v, double *to)
{
    spry_vector *host = NULL;
    if (ocean_is_cut(f))
        return ocean_ranks_collect(f, planes, v, to);
    spry_status status =
        spry_vector_new(f->ctx, SPRY_TYPE_D, planes * f->plane, to, SPRY_OWN_BORROW, &host);
    if (status == SPRY_STATUS_OK)
        status = spry_vector_copy(v, host);
    spry_vector_free(host);
    return status;
}

spry_status ocean_flow_depths(const ocean_flow *f, double *depths)
{
    const ocean_sizes *s = &f->points.sizes;
    spry_vector *still = NULL, *own = NULL;
    spry_status status = SPRY_STATUS_OK;
    OCEAN_GO(spry_vector_new(f->ctx, SPRY_TYPE_D, 4 * f->wide, NULL, SPRY_OWN_TAKE, &still));
    OCEAN_GO(spry_vector_copy(f->still, still));
    const double *from = spry_vector_data(still);
    if (ocean_is_cut(f)) {
        OCEAN_GO(ocean_flow_own_vector(f, 1, &own));
        memcpy(spry_vector_data(own), from + (ptrdiff_t)s->from * s->nx,
               (size_t)f->plane * sizeof *from);
        OCEAN_GO(ocean_ranks_collect(f, 1, own, depths));
    } else {
        memcpy(depths, from, (size_t)f->plane * sizeof *from);
    }
done:
    spry_vector_free(still);
    spry_vector_free(own);
    return status;
}

spry_status ocean_inside_make(ocean_flow *f, ocean_inside *in)
{
    const ocean_sizes *s = &f->points.sizes;
    const size_t plane = (size_t)s->nx * (size_t)s->all_y, levels = (size_t)s->nz + 1;
    spry_status status = SPRY_STATUS_OK;
    *in = (ocean_inside){.f = f};
    in->numbers = spry_alloc(f->ctx, plane * (3 + 2 * levels) * sizeof *in->numbers);
    if (!in->numbers)
        return SPRY_STATUS_NO_MEMORY;
    in->depth = in->numbers;
    in->phi = in->depth + plane;
    in->rising = in->phi + levels * plane;
    in->eta = in->rising + levels * plane; /* two planes: u */
    OCEAN_GO(ocean_flow_depths(f, in->depth));
    OCEAN_GO(ocean_flow_own_vector(f, 2, &in->u));
    OCEAN_GO(ocean_flow_own_vector(f, s->nz, &in->phi_t));
    make_integral(in);
done:
    return status;
}

void ocean_inside_free(ocean_inside *in)
{
    if (in->f)
        spry_free(in->f->ctx, in->numbers);
    spry_vector_free(in->u);
    spry_vector_free(in->phi_t);
    *in = (ocean_inside){0};
}

/* f_t - w eta_t, in the place of f_t. rate: eta_t, f_t */
static void make_target(const ocean_inside *in, double *rate)
{
    const ocean_sizes *s = &in->f->points.sizes;
    const ocean_vertical *v = &in->f->vertical;
    const ptrdiff_t plane = (ptrdiff_t)s->nx * s->all_y;
    for (ptrdiff_t p = 0; p < plane; p++) {
        double w = 0;
        for (int m = 0; m < v->width; m++)
            w += v->d1[s->nz * v->width + m] * in->phi[(v->first[s->nz] + m) * plane + p];
        rate[plane + p] -= w / (in->depth[p] + in->eta[p]) * rate[p];
    }
}

spry_status ocean_inside_take(ocean_inside *in, const spry_vector *u, const spry_vector *rate)
{
    ocean_flow *f = in->f;
    const ocean_sizes *s = &f->points.sizes;
    const ptrdiff_t plane = (ptrdiff_t)s->nx * s->all_y, top = s->nz * plane;
    double *both = in->rising; /* until phi_t comes: nz is 2 or more */
    spry_status status = SPRY_STATUS_OK;
    OCEAN_GO(bring(f, 2, u, in->eta));
    OCEAN_GO(bring(f, s->nz, f->phi, in->phi));
    memcpy(in->phi + top, in->eta + plane, (size_t)plane * sizeof *both);
    OCEAN_GO(bring(f, 2, rate, both));
    make_target(in, both);
    memcpy(in->rising + top, both + plane, (size_t)plane * sizeof *both);
    memcpy(both, in->eta, (size_t)plane * sizeof *both);
    if (ocean_is_cut(f))
        ocean_ranks_take(f, 2, both, in->u);
    else
        OCEAN_GO(ocean_flow_copy(f, both, in->u));
    OCEAN_GO(ocean_flow_solve_for(f, in->u, in->phi_t));
    OCEAN_GO(bring(f, s->nz, in->phi_t, in->rising));
done:
    return status;
}
