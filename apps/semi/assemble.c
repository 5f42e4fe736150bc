/*
 * Residual and Jacobian, node by node: each row is written by one thread, in one order. At node i
 *
 *     psi:    sum eps c (psi_j - psi_i) + V (p - n + D) = 0
 *     phi:    sum c mu F_ij - V R - A v (n - n_0) = 0, F the flux of Scharfetter and Gummel
 *     lambda: V lambda - 2 b (sum c (sqrt(n_j / n_i) - 1) - W) = 0
 *
 * with ln n = u(s (psi - phi) + lambda + edge), s = 1 of electrons, -1 of holes; A v of Schottky
 * contacts, W of walls into which sqrt(n) fades. That is M. G. Ancona's density gradient, as
 * equations 1.4 to 1.8 of E. Coronado's thesis (2021) have it.
 */
#include "semi/semi.h"

#include <math.h>
#include <string.h>

/* The rows of a node on the way. */
typedef struct rows {
    semi_system *s;
    int64_t node;
    unsigned kinds, fixed;
    double residual[KINDS], own[KINDS][KINDS];
    int64_t at[KINDS], own_at[KINDS]; /* where the next entries go, and those of the node */
} rows;

double semi_difference(const semi_device *d, int kind, int64_t i, int64_t edge)
{
    const int32_t j = d->mesh.to[edge];
    return (d->x[kind][j] - d->x[kind][i]) + (d->offset[j] - d->offset[i]);
}

/* ln n of a node changes by this for each unknown. */
static void add_by_density(double by, int c, double du, double out[KINDS])
{
    const double sign = c == ELECTRONS ? 1 : -1;
    out[PSI] += by * sign * du;
    out[PHI_N + c] -= by * sign * du;
    out[LAM_N + c] += by * du;
}

semi_flow semi_carrier_flow(const semi_device *d, int c, int64_t i, int64_t edge)
{
    semi_flow flow = {0};
    const semi_mesh *m = &d->mesh;
    const int32_t j = m->to[edge];
    const double sign = c == ELECTRONS ? 1 : -1, couple = m->couple_semi[edge];
    if (couple == 0)
        return flow;
    const double drop = sign * semi_difference(d, PHI_N + c, i, edge);
    const double du_i = d->du[c][i], du_j = d->du[c][j];
    const semi_flux f = semi_flux_of(d->u[c][i], d->u[c][j], drop);
    double mobility = 0.5 * (d->mobility[c][i] + d->mobility[c][j]), slope = 0;
    if (d->o->mobility == MOBILITY_FIELD) {
        const semi_band *b = &d->matter[m->node_material[i]].band[c];
        const double free = mobility, field = drop / m->length[edge];
        mobility *= semi_saturation(free, field, b->velocity, b->power, &slope);
        slope *= free / m->length[edge] * sign;
    }
    const double g = couple * mobility;
    flow.value = g * f.value;
    /* By densities and by phi; with du = 1 the parts of by_delta in phi cancel exactly. */
    flow.by_j[PSI] = g * sign * du_j * (f.by_delta + f.from_j);
    flow.by_i[PSI] = -g * sign * du_i * (f.by_delta + f.from_i);
    flow.by_j[LAM_N + c] = sign * flow.by_j[PSI];
    flow.by_i[LAM_N + c] = sign * flow.by_i[PSI];
    flow.by_j[PHI_N + c] =
        g * sign * ((1 - du_j) * f.by_delta - du_j * f.from_j) + couple * f.value * slope;
    flow.by_i[PHI_N + c] =
        -g * sign * ((1 - du_i) * f.by_delta - du_i * f.from_i) - couple * f.value * slope;
    return flow;
}

/* sqrt(n_j / n_i) - 1: what the density gradient takes from a neighbour. */
static semi_flow root_flow(const semi_device *d, int c, int64_t i, int64_t edge)
{
    semi_flow flow = {0};
    const int32_t j = d->mesh.to[edge];
    const double couple = d->mesh.couple_semi[edge];
    const double g = -d->quantum * d->matter[d->mesh.node_material[i]].band[c].gradient * couple;
    const double root = fmin(0.5 * (d->u[c][j] - d->u[c][i]), 50);
    if (couple == 0)
        return flow;
    flow.value = g * expm1(root);
    add_by_density(0.5 * g * exp(root), c, d->du[c][j], flow.by_j);
    add_by_density(-0.5 * g * exp(root), c, d->du[c][i], flow.by_i);
    return flow;
}

static semi_flow flow_of(const semi_device *d, int kind, int64_t i, int64_t edge)
{
    semi_flow flow = {0};
    if (kind == PHI_N || kind == PHI_P)
        return semi_carrier_flow(d, kind - PHI_N, i, edge);
    if (kind == LAM_N || kind == LAM_P)
        return root_flow(d, kind - LAM_N, i, edge);
    flow.by_j[PSI] = d->mesh.couple_eps[edge];
    flow.by_i[PSI] = -flow.by_j[PSI];
    flow.value = flow.by_j[PSI] * semi_difference(d, PSI, i, edge);
    return flow;
}

static int count_bits(unsigned bits)
{
    int count = 0;
    for (; bits; bits &= bits - 1)
        count++;
    return count;
}

static void put_block(double *values, int64_t at, unsigned kinds, const double *row)
{
    for (int k = 0; k < KINDS; k++)
        if (kinds & BIT(k))
            values[at++] = row[k];
}

static void take_edge(rows *r, int64_t edge)
{
    const semi_device *d = r->s->d;
    const unsigned there = semi_kinds_at(d, r->s->kinds, d->mesh.to[edge]);
    for (int k = 0; k < KINDS; k++) {
        if (!(r->kinds & BIT(k)) || r->fixed & BIT(k))
            continue;
        const unsigned columns = semi_columns(k, false) & there;
        const semi_flow flow = flow_of(d, k, r->node, edge);
        r->residual[k] += flow.value;
        for (int l = 0; l < KINDS; l++)
            r->own[k][l] += flow.by_i[l];
        put_block(r->s->values, r->at[k], columns, flow.by_j);
        r->at[k] += count_bits(columns);
    }
}

/* What carriers give to the rows of their node. */
static void take_charge(rows *r)
{
    const semi_device *d = r->s->d;
    const int64_t i = r->node;
    const double volume = d->mesh.volume[i];
    r->residual[PSI] += volume * d->doping[i];
    for (int c = 0; c < CARRIERS; c++) {
        const double sign = c == ELECTRONS ? 1 : -1, n = exp(d->u[c][i]);
        r->residual[PSI] -= sign * volume * n;
        add_by_density(-sign * volume * n, c, d->du[c][i], r->own[PSI]);
    }
}

static void take_recombination(rows *r)
{
    const semi_device *d = r->s->d;
    const int64_t i = r->node;
    const double volume = d->mesh.volume[i];
    double by[4];
    if ((!d->o->srh && !d->o->auger) || d->o->carriers != CARRIERS_BOTH)
        return;
    const double rate = semi_recombination(d, &d->matter[d->mesh.node_material[i]], d->u[0][i],
                                           d->u[1][i], d->x[PHI_N][i] - d->x[PHI_P][i], by);
    for (int k = PHI_N; k <= PHI_P; k++) {
        r->residual[k] -= volume * rate;
        for (int c = 0; c < CARRIERS; c++) {
            add_by_density(-volume * by[c], c, d->du[c][i], r->own[k]);
            r->own[k][PHI_N + c] -= volume * by[2 + c];
        }
    }
}

/* Emission into a metal, whose level is phi = 0 relative to its own voltage. */
static void take_emission(rows *r)
{
    const semi_device *d = r->s->d;
    const int64_t i = r->node;
    for (int c = 0; c < CARRIERS; c++) {
        if (r->fixed & BIT(PHI_N + c))
            continue;
        const semi_band *b = &d->matter[d->mesh.node_material[i]].band[c];
        const double g = d->mesh.area[i] * b->emission, sign = c == ELECTRONS ? 1 : -1;
        double slope;
        const double eta = sign * d->x[PSI][i] + b->edge;
        const double rest = exp(b->states + semi_statistics(d->o->statistics, eta, &slope));
        r->residual[PHI_N + c] -= g * (exp(d->u[c][i]) - rest);
        add_by_density(-g * exp(d->u[c][i]), c, d->du[c][i], r->own[PHI_N + c]);
    }
}

static void take_quantum(rows *r)
{
    const semi_device *d = r->s->d;
    const int64_t i = r->node;
    for (int c = 0; c < CARRIERS; c++) {
        const double g = d->quantum * d->matter[d->mesh.node_material[i]].band[c].gradient;
        r->residual[LAM_N + c] += d->mesh.volume[i] * d->x[LAM_N + c][i] + g * d->mesh.wall[c][i];
        r->own[LAM_N + c][LAM_N + c] += d->mesh.volume[i];
    }
}

static void begin_rows(rows *r)
{
    const semi_system *s = r->s;
    int64_t row = s->first[r->node];
    r->kinds = semi_kinds_at(s->d, s->kinds, r->node);
    for (int k = 0; k < KINDS; k++)
        if (r->kinds & BIT(k)) {
            r->at[k] = s->offsets[row++];
            r->fixed |= semi_fixed(s->d, r->node, k) ? BIT(k) : 0;
        }
}

/* Keeps the place of the node's own entries. */
static void pass_own(rows *r)
{
    for (int k = 0; k < KINDS; k++) {
        if (!(r->kinds & BIT(k)))
            continue;
        r->own_at[k] = r->at[k];
        r->at[k] += r->fixed & BIT(k) ? 1 : count_bits(semi_columns(k, true) & r->kinds);
    }
}

/* Divides rows by their diagonals: all are then in kT/q. */
static void end_rows(rows *r, double largest[KINDS])
{
    semi_system *s = r->s;
    int64_t row = s->first[r->node];
    for (int k = 0; k < KINDS; k++) {
        if (!(r->kinds & BIT(k)))
            continue;
        const bool fixed = r->fixed & BIT(k);
        const double pivot = fixed || r->own[k][k] == 0 ? 1 : r->own[k][k];
        r->own[k][k] = pivot;
        put_block(s->values, r->own_at[k], fixed ? BIT(k) : semi_columns(k, true) & r->kinds,
                  r->own[k]);
        for (int64_t e = s->offsets[row]; e < s->offsets[row + 1]; e++)
            s->values[e] /= pivot;
        s->residual[row] = fixed ? 0 : r->residual[k] / pivot;
        if (!(fabs(s->residual[row]) <= largest[k]))
            largest[k] = fabs(s->residual[row]);
        row++;
    }
}

static void assemble_node(semi_system *s, int64_t i, double largest[KINDS])
{
    const semi_mesh *m = &s->d->mesh;
    rows r = {.s = s, .node = i};
    bool passed = false;
    begin_rows(&r);
    for (int64_t e = m->start[i]; e < m->start[i + 1]; e++) {
        if (!passed && m->to[e] > i) {
            pass_own(&r);
            passed = true;
        }
        take_edge(&r, e);
    }
    if (!passed)
        pass_own(&r);
    if (m->node_material[i] >= 0) {
        take_charge(&r);
        take_recombination(&r);
        if (m->contact[i] >= 0 && s->d->contact[m->contact[i]].kind == CONTACT_SCHOTTKY)
            take_emission(&r);
        take_quantum(&r);
    }
    end_rows(&r, largest);
}

void semi_assemble(semi_system *s, double largest[KINDS])
{
    double most[KINDS] = {0};
    semi_device_densities(s->d);
#pragma omp parallel for schedule(static) reduction(max : most[:KINDS])
    for (int64_t i = 0; i < s->d->mesh.nodes; i++)
        assemble_node(s, i, most);
    memcpy(largest, most, sizeof most);
}
