/*
 * Simplices and the boxes around their nodes: the circumcentric dual (W. Fichtner, D. J. Rose and
 * R. E. Bank, 1983). An edge's coupling is the dual area across it over its length; where a mesh
 * is obtuse it may be below 0, which is counted.
 */
#include "semi/semi.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Cells at each node: what is asked of the mesh is asked node by node. */
typedef struct finish {
    semi_mesh *m;
    int64_t *start;
    int32_t *cell;
} finish;

typedef struct near {
    int32_t node;
    double eps, semi;
} near;
enum { NEAR_MOST = 4096, FACETS_MOST = 16384 };

static void minus(const double *a, const double *b, double *c)
{
    for (int k = 0; k < 3; k++)
        c[k] = a[k] - b[k];
}

static double dot(const double *a, const double *b)
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

static void cross(const double *a, const double *b, double *c)
{
    c[0] = a[1] * b[2] - a[2] * b[1];
    c[1] = a[2] * b[0] - a[0] * b[2];
    c[2] = a[0] * b[1] - a[1] * b[0];
}

/* From the middle of a b to the centre of the circle through a, b, c; above 0 on c's side. */
static double to_circle(const double *a, const double *b, const double *c)
{
    double u[3], v[3], w[3], e[3];
    minus(a, c, u);
    minus(b, c, v);
    minus(a, b, e);
    cross(u, v, w);
    return 0.5 * sqrt(dot(e, e)) * dot(u, v) / sqrt(dot(w, w));
}

/* From the centre of that circle to that of the sphere that has e as well; above 0 on e's side. */
static double to_sphere(const double *a, const double *b, const double *c, const double *e)
{
    double u[3], v[3], w[3], uv[3], vw[3], wu[3], centre[3];
    minus(b, a, u);
    minus(c, a, v);
    minus(e, a, w);
    cross(u, v, uv);
    cross(v, w, vw);
    cross(w, u, wu);
    const double volume = dot(uv, w);
    for (int k = 0; k < 3; k++)
        centre[k] = (dot(u, u) * vw[k] + dot(v, v) * wu[k] + dot(w, w) * uv[k]) / (2 * volume);
    return dot(centre, uv) / sqrt(dot(uv, uv)) * (volume > 0 ? 1 : -1);
}

static const double *place_of(const semi_mesh *m, int32_t node)
{
    return m->place + 3 * (int64_t)node;
}

static const int32_t *corners_of(const semi_mesh *m, int64_t cell)
{
    return m->corner + cell * (m->dim + 1);
}

/* Dual area of the edge between corners i and j of a cell. */
static double dual_area(const semi_mesh *m, const int32_t *corner, int i, int j)
{
    const double *other[2] = {NULL, NULL};
    const double *a = place_of(m, corner[i]), *b = place_of(m, corner[j]);
    for (int k = 0, count = 0; k <= m->dim; k++)
        if (k != i && k != j)
            other[count++] = place_of(m, corner[k]);
    if (m->dim == 1)
        return m->thick[0] * m->thick[1];
    if (m->dim == 2)
        return to_circle(a, b, other[0]) * m->thick[1];
    return 0.5 * (to_circle(a, b, other[0]) * to_sphere(a, b, other[0], other[1]) +
                  to_circle(a, b, other[1]) * to_sphere(a, b, other[1], other[0]));
}

/* Of the facet across from a corner: its area, and the corner's distance with the sign of a side.
 */
static double facet_area(const semi_mesh *m, const int32_t *facet, int32_t apex, double *side)
{
    const double *a = place_of(m, facet[0]);
    double u[3], v[3], w[3], up[3];
    minus(place_of(m, apex), a, up);
    if (m->dim == 1) {
        *side = up[0];
        return m->thick[0] * m->thick[1];
    }
    minus(place_of(m, facet[1]), a, u);
    if (m->dim == 2) {
        *side = (u[0] * up[1] - u[1] * up[0]) / sqrt(dot(u, u));
        return sqrt(dot(u, u)) * m->thick[1];
    }
    minus(place_of(m, facet[2]), a, v);
    cross(u, v, w);
    const double twice = sqrt(dot(w, w));
    *side = dot(w, up) / twice;
    return 0.5 * twice;
}

double semi_cell_volume(const semi_mesh *m, int64_t cell)
{
    double side;
    const int32_t *c = corners_of(m, cell);
    return facet_area(m, c, c[m->dim], &side) * fabs(side) / m->dim;
}

bool semi_conducts(const semi_mesh *m, int64_t cell)
{
    return m->materials->list[m->material[m->region[cell]]].nc > 0;
}

static spry_status fail_cell(const char *what, const semi_mesh *m, int64_t cell)
{
    const double *p = place_of(m, corners_of(m, cell)[0]);
    cli_fail(EXIT_INPUT, "cell %lld %s, at %.4g %.4g %.4g nm", (long long)cell + 1, what,
             p[0] * 1e9, p[1] * 1e9, p[2] * 1e9);
    return SPRY_STATUS_BAD_INPUT;
}

static void list_cells(finish *f)
{
    const semi_mesh *m = f->m;
    f->start = cli_alloc((size_t)(m->nodes + 2) * sizeof *f->start);
    f->cell = cli_alloc((size_t)(m->cells * (m->dim + 1) + 1) * sizeof *f->cell);
    for (int64_t k = 0; k < m->cells * (m->dim + 1); k++)
        f->start[m->corner[k] + 2]++;
    for (int64_t i = 1; i <= m->nodes; i++)
        f->start[i + 1] += f->start[i];
    for (int64_t k = 0; k < m->cells * (m->dim + 1); k++)
        f->cell[f->start[m->corner[k] + 1]++] = (int32_t)(k / (m->dim + 1));
}

/* --- edges -------------------------------------------------------------------------------------*/

static int by_node(const void *a, const void *b)
{
    const near *x = a, *y = b;
    return (x->node > y->node) - (x->node < y->node);
}

/* Adds what a cell gives to edges of a node; sizes of the whole become those of its material. */
static int add_cell(const finish *f, int64_t node, int64_t cell, near *list, int count)
{
    semi_mesh *m = f->m;
    const int32_t *corner = corners_of(m, cell);
    const semi_material *material = &f->m->materials->list[m->material[m->region[cell]]];
    int i = 0;
    while (corner[i] != node)
        i++;
    for (int j = 0; j <= m->dim; j++) {
        int k = 0;
        double e[3];
        if (j == i)
            continue;
        while (k < count && list[k].node != corner[j])
            k++;
        if (k == NEAR_MOST)
            return -1;
        if (k == count)
            list[count++] = (near){.node = corner[j]};
        minus(place_of(m, corner[i]), place_of(m, corner[j]), e);
        const double area = dual_area(m, corner, i, j), length = sqrt(dot(e, e));
        list[k].eps += material->permittivity * area / length;
        if (material->nc > 0) {
            list[k].semi += area / length;
            m->volume[node] += area * length / (2 * m->dim);
        }
    }
    return count;
}

/* Edges whose coupling is nothing but rounding (diagonals of boxes) go. */
static int keep_edges(near *list, int count)
{
    double most = 0;
    int kept = 0;
    for (int k = 0; k < count; k++)
        most = fmax(most, fabs(list[k].eps));
    for (int k = 0; k < count; k++)
        if (fabs(list[k].eps) > 1e-12 * most)
            list[kept++] = list[k];
    qsort(list, (size_t)kept, sizeof *list, by_node);
    return kept;
}

static void put_edges(semi_mesh *m, int64_t node, const near *list, int count, int64_t *room)
{
    const int64_t at = m->start[node];
    m->start[node + 1] = at + count;
    if (at + count > *room) {
        *room = 2 * (at + count) + 8 * m->nodes;
        m->to = realloc(m->to, (size_t)*room * sizeof *m->to);
        m->couple_eps = realloc(m->couple_eps, (size_t)*room * sizeof(double));
        m->couple_semi = realloc(m->couple_semi, (size_t)*room * sizeof(double));
        m->length = realloc(m->length, (size_t)*room * sizeof(double));
        if (!m->to || !m->couple_eps || !m->couple_semi || !m->length)
            exit(cli_fail(EXIT_RESOURCES, "no memory for a mesh of %lld nodes",
                          (long long)m->nodes));
    }
    for (int k = 0; k < count; k++) {
        double e[3];
        minus(place_of(m, (int32_t)node), place_of(m, list[k].node), e);
        m->to[at + k] = list[k].node;
        m->couple_eps[at + k] = list[k].eps;
        m->couple_semi[at + k] = fmax(list[k].semi, 0);
        m->length[at + k] = sqrt(dot(e, e));
        m->negative += list[k].node > node && list[k].semi < -1e-9 * fabs(list[k].eps);
    }
}

static spry_status make_edges(finish *f)
{
    semi_mesh *m = f->m;
    int64_t room = 0;
    near *list = cli_alloc(NEAR_MOST * sizeof *list);
    spry_status status = SPRY_STATUS_OK;
    m->start = cli_alloc((size_t)(m->nodes + 1) * sizeof *m->start);
    for (int64_t i = 0; i < m->nodes && status == SPRY_STATUS_OK; i++) {
        int count = 0;
        for (int64_t k = f->start[i]; k < f->start[i + 1] && count >= 0; k++)
            count = add_cell(f, i, f->cell[k], list, count);
        if (count < 0)
            status = fail_cell("has a node with too many neighbours", m, f->cell[f->start[i]]);
        else
            put_edges(m, i, list, keep_edges(list, count), &room);
    }
    free(list);
    return status;
}

/* --- facets ------------------------------------------------------------------------------------*/

typedef struct facet {
    int32_t node[3], apex;
    int64_t cell;
    bool matched;
} facet;

/* The facet across from a corner, sorted. */
static facet facet_of(const semi_mesh *m, int64_t cell, int apex)
{
    facet s = {.node = {-1, -1, -1}, .cell = cell};
    const int32_t *corner = corners_of(m, cell);
    int count = 0;
    for (int k = 0; k <= m->dim; k++) {
        if (k == apex)
            continue;
        int at = count++;
        for (; at > 0 && s.node[at - 1] > corner[k]; at--)
            s.node[at] = s.node[at - 1];
        s.node[at] = corner[k];
    }
    s.apex = corner[apex];
    return s;
}

/* How waves of both carriers fade in an insulator, per metre: barriers and masses of S. Jin, Y. J.
 * Park and H. S. Min (2004). hbar^2 / m is 0.0762 eV nm^2. */
static double decay(const semi_material *semi, const semi_material *wall, int carrier)
{
    const bool n = carrier == ELECTRONS;
    const double own = semi->quantum_mass[carrier], given = wall->barrier_mass[carrier];
    const double mass = given > 0 ? given : 0.3;
    const double barrier = n ? semi->affinity - wall->affinity
                             : wall->affinity + wall->gap - semi->affinity - semi->gap;
    return own / mass * sqrt(2 * mass * fmax(barrier, 0.1) / 0.0762) * 1e9;
}

static spry_status take_pair(const finish *f, const facet *a, const facet *b)
{
    semi_mesh *m = f->m;
    double one, other;
    const double area = facet_area(m, a->node, a->apex, &one) / m->dim;
    facet_area(m, a->node, b->apex, &other);
    if (one * other >= 0)
        return fail_cell("is turned inside out, or overlaps its neighbour", m, b->cell);
    if (semi_conducts(f->m, a->cell) == semi_conducts(f->m, b->cell))
        return SPRY_STATUS_OK;
    const facet *in = semi_conducts(f->m, a->cell) ? a : b, *out = in == a ? b : a;
    for (int c = 0; c < CARRIERS; c++)
        for (int k = 0; k < m->dim; k++)
            m->wall[c][a->node[k]] +=
                area * decay(&f->m->materials->list[m->material[m->region[in->cell]]],
                             &f->m->materials->list[m->material[m->region[out->cell]]], c);
    return SPRY_STATUS_OK;
}

/* A facet of one cell alone: a contact's, if all its nodes are. */
static void take_surface(semi_mesh *m, const facet *s)
{
    double side;
    const int8_t contact = m->contact[s->node[0]];
    for (int k = 0; k < m->dim; k++)
        if (m->contact[s->node[k]] != contact || contact < 0)
            return;
    const double area = facet_area(m, s->node, s->apex, &side) / m->dim;
    for (int k = 0; k < m->dim; k++)
        m->area[s->node[k]] += area;
}

/* All facets whose first node it is. */
static spry_status take_facets(const finish *f, int64_t node, facet *list)
{
    semi_mesh *m = f->m;
    int count = 0;
    for (int64_t k = f->start[node]; k < f->start[node + 1]; k++)
        for (int i = 0; i <= m->dim && count < FACETS_MOST; i++) {
            list[count] = facet_of(m, f->cell[k], i);
            count += list[count].node[0] == node;
        }
    for (int i = 0; i < count; i++) {
        for (int j = i + 1; j < count; j++) {
            if (memcmp(list[i].node, list[j].node, sizeof list[i].node) != 0)
                continue;
            if (list[i].matched)
                return fail_cell("shares a facet with two others", m, list[j].cell);
            list[i].matched = list[j].matched = true;
            const spry_status status = take_pair(f, &list[i], &list[j]);
            if (status != SPRY_STATUS_OK)
                return status;
        }
        if (!list[i].matched)
            take_surface(m, &list[i]);
    }
    return SPRY_STATUS_OK;
}

static spry_status check_cells(const finish *f)
{
    const semi_mesh *m = f->m;
    for (int64_t c = 0; c < m->cells; c++) {
        const facet s = facet_of(m, c, 0);
        const double *a = place_of(m, corners_of(m, c)[0]), *b = place_of(m, corners_of(m, c)[1]);
        double side, e[3];
        const double area = facet_area(m, s.node, s.apex, &side);
        minus(a, b, e);
        if (!(area > 0) || !(fabs(side) > 1e-9 * sqrt(dot(e, e))))
            return fail_cell("has no volume", m, c);
    }
    return SPRY_STATUS_OK;
}

static spry_status make_facets(const finish *f)
{
    facet *list = cli_alloc(FACETS_MOST * sizeof *list);
    spry_status status = check_cells(f);
    for (int64_t i = 0; i < f->m->nodes && status == SPRY_STATUS_OK; i++)
        status = take_facets(f, i, list);
    free(list);
    return status;
}

/* --- all ---------------------------------------------------------------------------------------*/

/* The semiconductor at each node: where two meet, that of the first region. */
static void find_materials(const finish *f)
{
    const semi_mesh *m = f->m;
    for (int64_t i = 0; i < m->nodes; i++) {
        int32_t first = SEMI_REGIONS;
        for (int64_t k = f->start[i]; k < f->start[i + 1]; k++)
            if (semi_conducts(f->m, f->cell[k]) && m->region[f->cell[k]] < first)
                first = m->region[f->cell[k]];
        m->node_material[i] = first == SEMI_REGIONS ? -1 : m->material[first];
    }
}

int semi_mesh_finish(semi_mesh *m)
{
    finish f = {.m = m};
    const size_t n = (size_t)m->nodes;
    m->volume = cli_alloc(n * sizeof(double));
    m->area = cli_alloc(n * sizeof(double));
    m->wall[ELECTRONS] = cli_alloc(n * sizeof(double));
    m->wall[HOLES] = cli_alloc(n * sizeof(double));
    m->node_material = cli_alloc(n * sizeof *m->node_material);
    list_cells(&f);
    find_materials(&f);
    spry_status status = make_facets(&f);
    if (status == SPRY_STATUS_OK)
        status = make_edges(&f);
    free(f.start);
    free(f.cell);
    return status == SPRY_STATUS_OK ? EXIT_DONE : EXIT_INPUT;
}

int semi_find(const char (*names)[SEMI_NAME], int count, const char *name)
{
    for (int k = 0; k < count; k++)
        if (strcmp(names[k], name) == 0)
            return k;
    return -1;
}

void semi_mesh_free(semi_mesh *m)
{
    void *const parts[] = {m->place,         m->corner, m->region, m->contact,
                           m->node_material, m->volume, m->area,   m->wall[ELECTRONS],
                           m->wall[HOLES],   m->start,  m->to,     m->couple_eps,
                           m->couple_semi,   m->length};
    for (size_t k = 0; k < sizeof parts / sizeof *parts; k++)
        free(parts[k]);
}
