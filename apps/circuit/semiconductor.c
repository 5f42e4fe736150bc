/*
 * Diodes, bipolar transistors (H. K. Gummel and H. C. Poon, 1970) and MOSFETs (H. Shichman and D.
 * A. Hodges, 1968) as in SPICE (L. Nagel, 1975), at 27 degrees Celsius; charges in the place of
 * capacitances, so that none is lost in steps.
 */
#include "circuit/circuit.h"

#include <math.h>

static const double VT = 1.380649e-23 * 300.15 / 1.602176634e-19;

/* A function of one voltage and its slope. */
typedef struct curve_point {
    double v, d;
} curve_point;

/* exp(), continued by its tangent where it would overflow. */
static curve_point exponential(double x)
{
    const double most = 80;
    if (x <= most)
        return (curve_point){exp(x), exp(x)};
    return (curve_point){exp(most) * (1 + x - most), exp(most)};
}

/* is (exp(v/(n VT)) - 1) */
static curve_point junction(double is, double n, double v)
{
    const curve_point e = exponential(v / (n * VT));
    return (curve_point){is * (e.v - 1), is * e.d / (n * VT)};
}

/* Charge of a depletion layer, linear in capacitance from fc vj on. */
static curve_point depletion(double c, double vj, double m, double fc, double v)
{
    if (c == 0)
        return (curve_point){0, 0};
    if (v < fc * vj) {
        const double base = 1 - v / vj;
        return (curve_point){c * vj / (1 - m) * (1 - pow(base, 1 - m)), c * pow(base, -m)};
    }
    const double f1 = vj / (1 - m) * (1 - pow(1 - fc, 1 - m)), f2 = pow(1 - fc, 1 + m);
    const double f3 = 1 - fc * (1 + m), edge = fc * vj;
    return (curve_point){c * (f1 + (f3 * (v - edge) + m / (2 * vj) * (v * v - edge * edge)) / f2),
                         c / f2 * (f3 + m * v / vj)};
}

/* The voltage of a junction at which its exponential is continued: SPICE's limiting. */
static double limit_junction(equations *s, double v, double *old, double is, double n)
{
    const double vt = n * VT, critical = vt * log(vt / (sqrt(2) * is));
    double limited = v;
    if (s->starts) {
        limited = critical;
    } else if (v > critical && fabs(v - *old) > 2 * vt) {
        if (*old > 0) {
            const double x = 1 + (v - *old) / vt;
            limited = x > 0 ? *old + vt * log(x) : critical;
        } else {
            limited = vt * log(v / vt);
        }
    }
    s->limited = s->limited || fabs(limited - v) > 1e-9 * (1 + fabs(v));
    *old = limited;
    return limited;
}

static double limit_change(equations *s, double v, double *old)
{
    const double most = fmax(2, fabs(*old));
    double limited = v;
    if (s->starts)
        limited = 0;
    else if (fabs(v - *old) > most)
        limited = *old + copysign(most, v - *old);
    s->limited = s->limited || limited != v;
    *old = limited;
    return limited;
}

/* Current and charge between two nodes, as functions of v at `at`, continued by tangents to v. */
static void put_pair(equations *s, int a, int b, double v, double at, double sign, curve_point i,
                     curve_point q)
{
    const double current = sign * (i.v + i.d * (v - at)), charge = sign * (q.v + q.d * (v - at));
    s->f[a] += current;
    s->f[b] -= current;
    s->q[a] += charge;
    s->q[b] -= charge;
    put_between(s, put_g, a, b, i.d);
    put_between(s, put_c, a, b, q.d);
}

static void put_resistor(equations *s, const double *x, int a, int b, double g)
{
    const double current = a == b ? 0 : g * (x[a] - x[b]);
    if (a == b)
        return;
    s->f[a] += current;
    s->f[b] -= current;
    put_between(s, put_g, a, b, g);
}

static void put_capacitor(equations *s, const double *x, int a, int b, double c)
{
    if (c == 0)
        return;
    s->q[a] += c * (x[a] - x[b]);
    s->q[b] -= c * (x[a] - x[b]);
    put_between(s, put_c, a, b, c);
}

void device_diode(equations *s, element *e, const double *x)
{
    const double *n = e->model->number, area = e->second;
    const int a = e->inner[0], b = e->node[1];
    const double v = x[a] - x[b];
    double at;
    if (n[D_BV] > 0 && v < fmin(0, 10 * VT - n[D_BV])) {
        double above = -(e->state[0] + n[D_BV]);
        at = -limit_junction(s, -(v + n[D_BV]), &above, n[D_IS], n[D_N]) - n[D_BV];
        e->state[0] = at;
    } else {
        at = limit_junction(s, v, &e->state[0], n[D_IS], n[D_N]);
    }
    curve_point i = junction(area * n[D_IS], n[D_N], at);
    curve_point q = depletion(area * n[D_CJO], n[D_VJ], n[D_M], n[D_FC], at);
    q.v += n[D_TT] * i.v;
    q.d += n[D_TT] * i.d;
    if (n[D_BV] > 0) {
        const curve_point down = exponential(-(at + n[D_BV]) / (n[D_N] * VT));
        i.v -= area * n[D_IBV] * down.v;
        i.d += area * n[D_IBV] * down.d / (n[D_N] * VT);
    }
    i.v += s->gmin * at;
    i.d += s->gmin;
    put_pair(s, a, b, v, at, 1, i, q);
    put_resistor(s, x, e->node[0], a, area / fmax(n[D_RS], 1e-30));
}

/* A function of two voltages, be and bc. */
typedef struct surface {
    double v, be, bc;
} surface;

/* Rows of collector, base and emitter: flows into the first two, `rows` being put_g or put_c. */
static void put_three(equations *s, const element *e, surface c, surface b, double sign,
                      const double d[2], double *into, void (*rows)(equations *, int, int, double))
{
    const int *n = e->inner;
    const double vc = sign * (c.v + c.be * d[0] + c.bc * d[1]);
    const double vb = sign * (b.v + b.be * d[0] + b.bc * d[1]);
    const surface all[3] = {c, b, {0, -c.be - b.be, -c.bc - b.bc}};
    into[n[0]] += vc;
    into[n[1]] += vb;
    into[n[2]] -= vc + vb;
    for (int k = 0; k < 3; k++) {
        rows(s, n[k], n[0], -all[k].bc);
        rows(s, n[k], n[1], all[k].be + all[k].bc);
        rows(s, n[k], n[2], -all[k].be);
    }
}

/* The base charge of Gummel and Poon. */
static surface base_charge(const double *n, double vbe, double vbc, curve_point forward,
                           curve_point reverse, double area)
{
    const double early = n[Q_VAF] > 0 ? 1 / n[Q_VAF] : 0, late = n[Q_VAR] > 0 ? 1 / n[Q_VAR] : 0;
    const double high = n[Q_IKF] > 0 ? 1 / (n[Q_IKF] * area) : 0;
    const double low = n[Q_IKR] > 0 ? 1 / (n[Q_IKR] * area) : 0;
    const double q1 = 1 / fmax(1 - vbc * early - vbe * late, 1e-3);
    const double q2 = high * forward.v + low * reverse.v, root = sqrt(fmax(1 + 4 * q2, 1e-6));
    return (surface){q1 * (1 + root) / 2,
                     q1 * q1 * late * (1 + root) / 2 + q1 * high * forward.d / root,
                     q1 * q1 * early * (1 + root) / 2 + q1 * low * reverse.d / root};
}

void device_bipolar(equations *s, element *e, const double *x)
{
    const double *n = e->model->number, sign = e->model->sign, area = e->second;
    const double vbe = sign * (x[e->inner[1]] - x[e->inner[2]]);
    const double vbc = sign * (x[e->inner[1]] - x[e->inner[0]]);
    const double be = limit_junction(s, vbe, &e->state[0], n[Q_IS], n[Q_NF]);
    const bool starts = s->starts;
    if (starts) { /* SPICE begins with the collector's junction at rest */
        s->starts = false;
        e->state[1] = 0;
    }
    const double bc = starts ? 0 : limit_junction(s, vbc, &e->state[1], n[Q_IS], n[Q_NR]);
    s->starts = starts;
    const double d[2] = {vbe - be, vbc - bc};
    const curve_point f = junction(area * n[Q_IS], n[Q_NF], be);
    const curve_point r = junction(area * n[Q_IS], n[Q_NR], bc);
    const curve_point fe = junction(area * n[Q_ISE], n[Q_NE], be);
    const curve_point rc = junction(area * n[Q_ISC], n[Q_NC], bc);
    const surface qb = base_charge(n, be, bc, f, r, area);
    const double it = (f.v - r.v) / qb.v;
    const surface ic = {it - r.v / n[Q_BR] - rc.v - s->gmin * bc, (f.d - it * qb.be) / qb.v,
                        (-r.d - it * qb.bc) / qb.v - r.d / n[Q_BR] - rc.d - s->gmin};
    const surface ib = {f.v / n[Q_BF] + fe.v + r.v / n[Q_BR] + rc.v + s->gmin * (be + bc),
                        f.d / n[Q_BF] + fe.d + s->gmin, r.d / n[Q_BR] + rc.d + s->gmin};
    put_three(s, e, ic, ib, sign, d, s->f, put_g);
    const curve_point je = depletion(area * n[Q_CJE], n[Q_VJE], n[Q_MJE], n[Q_FC], be);
    const curve_point jc = depletion(area * n[Q_CJC], n[Q_VJC], n[Q_MJC], n[Q_FC], bc);
    const double stored = n[Q_TF] * f.v / qb.v;
    const surface qc = {-jc.v - n[Q_TR] * r.v, 0, -jc.d - n[Q_TR] * r.d};
    const surface qbase = {stored + je.v - qc.v, (n[Q_TF] * f.d - stored * qb.be) / qb.v + je.d,
                           -stored * qb.bc / qb.v - qc.bc};
    put_three(s, e, qc, qbase, sign, d, s->q, put_c);
    static const int resistances[3] = {Q_RC, Q_RB, Q_RE};
    for (int k = 0; k < 3; k++)
        put_resistor(s, x, e->node[k], e->inner[k], area / fmax(n[resistances[k]], 1e-30));
}

/* The channel's current by vgs, vds >= 0 and vbs. */
typedef struct channel {
    double id, gm, gds, gmbs;
} channel;

static channel channel_of(const element *e, double vgs, double vds, double vbs)
{
    const double *n = e->model->number;
    const double beta = n[M_KP] * e->second * e->width / (e->length - 2 * n[M_LD]);
    const double rest = sqrt(n[M_PHI]);
    const double root = vbs <= 0 ? sqrt(n[M_PHI] - vbs) : fmax(0, rest - vbs / (2 * rest));
    const double body = root > 0 ? n[M_GAMMA] / (2 * root) : 0;
    const double over = vgs - (e->model->sign * n[M_VTO] + n[M_GAMMA] * (root - rest));
    const double more = beta * (1 + n[M_LAMBDA] * vds);
    channel c = {0, 0, 0, 0};
    if (over > 0 && over <= vds) {
        c.id = more * over * over / 2;
        c.gm = more * over;
        c.gds = n[M_LAMBDA] * beta * over * over / 2;
    } else if (over > 0) {
        c.id = more * vds * (over - vds / 2);
        c.gm = more * vds;
        c.gds = more * (over - vds) + n[M_LAMBDA] * beta * vds * (over - vds / 2);
    }
    c.gmbs = c.gm * body;
    return c;
}

/* From drain to source, which change places where the voltage is negative. */
static void put_channel(equations *s, element *e, const double *x)
{
    const int gate = e->node[1], bulk = e->node[3];
    const double sign = e->model->sign;
    const bool turned = sign * (x[e->inner[0]] - x[e->inner[1]]) < 0;
    const int drain = e->inner[turned], source = e->inner[!turned];
    const double vgs = sign * (x[gate] - x[source]), vds = sign * (x[drain] - x[source]);
    const double vbs = sign * (x[bulk] - x[source]);
    const double gs = limit_change(s, vgs, &e->state[0]);
    const double ds = fabs(limit_change(s, vds, &e->state[1]));
    const channel c = channel_of(e, gs, ds, vbs);
    const double id = sign * (c.id + c.gm * (vgs - gs) + c.gds * (vds - ds));
    s->f[drain] += id;
    s->f[source] -= id;
    /* in an order that does not depend on which is the drain */
    for (int k = 0; k < 2; k++) {
        const int row = e->inner[k];
        const double way = (k == 0) != turned ? 1 : -1;
        for (int j = 0; j < 2; j++)
            put_g(s, row, e->inner[j], way * ((j == 0) != turned ? c.gds : -c.gm - c.gds - c.gmbs));
        put_g(s, row, gate, way * c.gm);
        put_g(s, row, bulk, way * c.gmbs);
    }
}

void device_mosfet(equations *s, element *e, const double *x)
{
    const double *n = e->model->number, sign = e->model->sign;
    const int gate = e->node[1], bulk = e->node[3];
    const double many = e->second, width = e->width * many;
    static const int capacitances[2] = {M_CBD, M_CBS};
    put_channel(s, e, x);
    for (int k = 0; k < 2; k++) { /* bulk to drain and source */
        const double v = sign * (x[bulk] - x[e->inner[k]]);
        const double at = limit_junction(s, v, &e->state[2 + k], n[M_IS], 1);
        curve_point i = junction(many * n[M_IS], 1, at);
        i.v += many * s->gmin * at;
        i.d += many * s->gmin;
        put_pair(s, bulk, e->inner[k], v, at, sign, i,
                 depletion(many * n[capacitances[k]], n[M_PB], n[M_MJ], n[M_FC], at));
    }
    put_capacitor(s, x, gate, e->inner[0], n[M_CGDO] * width);
    put_capacitor(s, x, gate, e->inner[1], n[M_CGSO] * width);
    put_capacitor(s, x, gate, bulk, n[M_CGBO] * (e->length - 2 * n[M_LD]) * many);
    put_resistor(s, x, e->node[0], e->inner[0], many / fmax(n[M_RD], 1e-30));
    put_resistor(s, x, e->node[2], e->inner[1], many / fmax(n[M_RS], 1e-30));
}
