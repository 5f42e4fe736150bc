/*
 * A matrix as nodal analysis of a chip makes it: nodes placed row by row on a square, wires to
 * nodes nearby, conductances over four decades, a few nets (power, clock) on which a share of all
 * nodes hang and whose rows and columns are therefore huge, controlled sources, and a small
 * conductance from every node to ground. Real ones are strictly diagonally dominant by rows;
 * complex ones have a capacitor parallel to every conductance.
 */
#include "matrix/gen/gen.h"

#include <math.h>

enum { SIDE_SHIFTS = 10, NARROWEST = 8 };
static const double ground = 0x1p-10;

/* Where the wires of a node go: those after it in the numbering, in order. */
static const gen_shift ahead[SIDE_SHIFTS] = {{1, 0, 0}, {2, 0, 0}, {-2, 1, 0}, {-1, 1, 0},
                                             {0, 1, 0}, {1, 1, 0}, {2, 1, 0},  {-1, 2, 0},
                                             {0, 2, 0}, {1, 2, 0}};

spry_status gen_prepare_circuit(spry_context *ctx, gen_problem *p)
{
    (void)ctx;
    /* Narrower than this, two of the shifts would coincide. */
    p->nx = (int64_t)sqrt((double)p->rows);
    p->nx = p->nx < NARROWEST ? NARROWEST : p->nx;
    p->points = 2 * SIDE_SHIFTS + 1;
    for (int k = 0; k < SIDE_SHIFTS; k++) {
        gen_shift shift = ahead[k];
        p->shifts[SIDE_SHIFTS + 1 + k] = shift;
        p->shifts[SIDE_SHIFTS - 1 - k] = (gen_shift){-shift.dx, -shift.dy, 0};
    }
    if (p->options.nets > p->rows)
        p->options.nets = p->rows;
    /* A node is always joined to itself and the nodes before and after; the others are random. */
    p->table[0] = ((double)p->per_row - 3) / (p->points - 3);
    return SPRY_STATUS_OK;
}

static int64_t distance(const gen_problem *p, int k)
{
    return p->shifts[k].dx + p->nx * p->shifts[k].dy;
}

static bool is_near(const gen_problem *p, int64_t i, int64_t j)
{
    int64_t away = j > i ? j - i : i - j;
    bool near = false;
    for (int k = SIDE_SHIFTS + 1; k < p->points && away <= 2 * p->nx + 1; k++)
        near = near || distance(p, k) == away;
    return near;
}

/* Nets lie evenly distributed in the numbering. */
static int64_t net_place(const gen_problem *p, int64_t k)
{
    return k * (p->rows / p->options.nets);
}
static bool is_net(const gen_problem *p, int64_t i)
{
    int64_t nets = p->options.nets;
    return nets > 0 && i % (p->rows / nets) == 0 && i / (p->rows / nets) < nets;
}

/* Whether an element is present, and its value: between 1/64 and 128, from different bits. */
static bool is_present(uint64_t random, double chance)
{
    return (double)(random >> 40) * 0x1p-24 < chance;
}
static void add_element(const gen_problem *p, uint64_t random, spry_scalar *sum)
{
    uint64_t octave = (random >> 36 & 15) % 13;
    double size = (1 + (double)(random & 0xffffff) * 0x1p-24) * (double)(1 << octave) * 0x1p-6;
    sum->re += size;
    if (spry_type_is_complex(p->type))
        sum->im += size * (double)(random >> 24 & 0xfff) * 0x1p-12;
}

/* The wire between two nodes nearby; those next to each other always have one. */
static uint64_t wire_random(const gen_problem *p, int64_t i, int64_t j)
{
    int64_t low = i < j ? i : j;
    return base_random(p->streams[GEN_STREAM_WIRE], gen_key(low, i + j - low));
}
static bool has_wire(const gen_problem *p, int64_t i, int64_t j, uint64_t random)
{
    return (i - j == 1) | (j - i == 1) | is_present(random, p->table[0]);
}

/* A row while it is written. */
typedef struct node {
    const gen_problem *p;
    int64_t i;
    bool net;
    uint64_t source;    /* the random number of its controlled source */
    int64_t controller; /* the node whose voltage that source follows; -1: there is no source */
    gen_row *row;
    int64_t diagonal; /* its place in the row */
    spry_scalar sum;
} node;

/* Couples the node to j, which lies nearby or not and is a net or not. */
static void couple(node *n, int64_t j, bool near, bool net)
{
    const gen_problem *p = n->p;
    int64_t i = n->i;
    spry_scalar sum = {0, 0};
    if (i == j) {
        n->diagonal = n->row->count;
        gen_put(n->row, i, 0, 0);
        return;
    }
    uint64_t wire = near ? wire_random(p, i, j) : 0;
    if (near && has_wire(p, i, j, wire))
        add_element(p, wire, &sum);
    if (net != n->net) {
        uint64_t random =
            base_random(p->streams[GEN_STREAM_NET], net ? gen_key(j, i) : gen_key(i, j));
        if (is_present(random, p->options.net_share))
            add_element(p, random, &sum);
    }
    if (j == n->controller) /* a current into i that follows the voltage from j to i: no mirror */
        add_element(p, n->source, &sum);
    if (sum.re == 0)
        return;
    gen_put(n->row, j, -sum.re, -sum.im);
    n->sum.re += sum.re;
    n->sum.im += sum.im;
}

/* The nodes nearby that couple to it. Without branches, because chance cannot be predicted. */
static int find_near(const node *n, int64_t *found)
{
    const gen_problem *p = n->p;
    int count = 0;
    for (int k = 0; k < p->points; k++) {
        int64_t j = n->i + distance(p, k);
        bool present =
            has_wire(p, n->i, j, wire_random(p, n->i, j)) | (j == n->controller) | (j == n->i);
        found[count] = j;
        count += present & (j >= 0) & (j < p->rows);
    }
    return count;
}

/* The nodes nearby and the nets, merged. */
static void couple_node(node *n)
{
    int64_t found[2 * SIDE_SHIFTS + 1], nets = n->p->options.nets;
    int count = find_near(n, found), k = 0;
    for (int64_t net = 0; k < count || net < nets;) {
        int64_t near = k < count ? found[k] : INT64_MAX;
        int64_t far = net < nets ? net_place(n->p, net) : INT64_MAX;
        int64_t j = near < far ? near : far;
        k += j == near;
        net += j == far;
        couple(n, j, j == near, j == far);
    }
}

static void couple_net(node *n)
{
    for (int64_t j = 0; j < n->p->rows; j++)
        couple(n, j, is_near(n->p, n->i, j), is_net(n->p, j));
}

void gen_circuit_row(const void *data, int64_t i, gen_row *row)
{
    const gen_problem *p = data;
    node n = {.p = p, .i = i, .net = is_net(p, i), .row = row, .sum = {ground, 0}};
    n.source = base_random(p->streams[GEN_STREAM_SOURCE], (uint64_t)i);
    int to = (int)((n.source & 0xffff) % (2 * SIDE_SHIFTS));
    n.controller = is_present(n.source, p->options.transistors)
                       ? i + distance(p, to < SIDE_SHIFTS ? to : to + 1)
                       : -1;
    if (n.net)
        couple_net(&n);
    else
        couple_node(&n);
    gen_set(row, n.diagonal, n.sum.re, n.sum.im);
}
