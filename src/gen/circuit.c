/*
 * A matrix as nodal analysis of a chip makes it: nodes placed row by row on a square, wires to
 * nodes nearby, conductances over four decades, a few nets (power, clock) on which a share of all
 * nodes hang and whose rows and columns are therefore huge, controlled sources, and a small
 * conductance from every node to ground. Real ones are strictly diagonally dominant by rows;
 * complex ones have a capacitor beside every conductance.
 */
#include "gen/gen.h"

#include <math.h>

enum { SIDE_STEPS = 10, NARROWEST = 8 };
static const double ground = 0x1p-10;

/* Where the wires of a node go: those after it in the numbering, in order. */
static const gen_step ahead[SIDE_STEPS] = {{1, 0, 0}, {2, 0, 0}, {-2, 1, 0}, {-1, 1, 0}, {0, 1, 0},
                                           {1, 1, 0}, {2, 1, 0}, {-1, 2, 0}, {0, 2, 0},  {1, 2, 0}};

spry_status gen_prepare_circuit(spry_context *ctx, gen_problem *p)
{
    (void)ctx;
    /* Narrower than this, two of the steps would meet. */
    p->nx = (int64_t)sqrt((double)p->rows);
    p->nx = p->nx < NARROWEST ? NARROWEST : p->nx;
    p->points = 2 * SIDE_STEPS + 1;
    for (int k = 0; k < SIDE_STEPS; k++) {
        gen_step step = ahead[k];
        p->steps[SIDE_STEPS + 1 + k] = step;
        p->steps[SIDE_STEPS - 1 - k] = (gen_step){-step.dx, -step.dy, 0};
    }
    if (p->options.nets > p->rows)
        p->options.nets = p->rows;
    /* Itself and the nodes before and after are always there; chance takes the others. */
    p->table[0] = ((double)p->per_row - 3) / (p->points - 3);
    return SPRY_OK;
}

static int64_t distance(const gen_problem *p, int k)
{
    return p->steps[k].dx + p->nx * p->steps[k].dy;
}

static bool is_near(const gen_problem *p, int64_t i, int64_t j)
{
    int64_t away = j > i ? j - i : i - j;
    bool near = false;
    for (int k = SIDE_STEPS + 1; k < p->points && away <= 2 * p->nx + 1; k++)
        near = near || distance(p, k) == away;
    return near;
}

/* The place of net number k, and whether a node is the place of one. */
static int64_t net_place(const gen_problem *p, int64_t k)
{
    return k * (p->rows / p->options.nets);
}
static bool is_net(const gen_problem *p, int64_t i)
{
    if (p->options.nets == 0)
        return false;
    int64_t stride = p->rows / p->options.nets;
    return i % stride == 0 && i / stride < p->options.nets;
}

/* An element that is there with the chance given: its size from 1/64 to 128. */
static void add_element(uint64_t random, double chance, spry_scalar *sum)
{
    if ((double)(random >> 40) * 0x1p-24 >= chance)
        return;
    double size =
        ldexp(1 + (double)(random & 0xffffff) * 0x1p-24, (int)(random >> 36 & 15) % 13 - 6);
    sum->re += size;
    sum->im += size * (double)(random >> 24 & 0xfff) * 0x1p-12;
}

/* What couples row i to column j, which is near or not: -A[i, j]. */
static spry_scalar coupling(const gen_problem *p, int64_t i, int64_t j, bool near)
{
    int64_t low = i < j ? i : j, high = i < j ? j : i;
    spry_scalar sum = {0, 0};
    if (near)
        add_element(base_random(p->streams[GEN_STREAM_WIRE], gen_key(low, high)),
                    high - low == 1 ? 1 : p->table[0], &sum);
    bool net_i = is_net(p, i), net_j = is_net(p, j);
    if (net_i != net_j)
        add_element(base_random(p->streams[GEN_STREAM_NET], net_i ? gen_key(i, j) : gen_key(j, i)),
                    p->options.net_share, &sum);
    if (near) {
        /* A current into node i that follows the voltage from j to i: only row i has it. */
        uint64_t source = base_random(p->streams[GEN_STREAM_SOURCE], (uint64_t)i);
        int to = (int)((source & 0xffff) % (2 * SIDE_STEPS));
        if (j - i == distance(p, to < SIDE_STEPS ? to : to + 1))
            add_element(source, p->options.transistors, &sum);
    }
    if (!spry_type_is_complex(p->type))
        sum.im = 0;
    return sum;
}

typedef struct diagonal {
    int64_t place;
    spry_scalar sum;
} diagonal;

static void put_coupling(const gen_problem *p, int64_t i, int64_t j, bool near, gen_row *row,
                         diagonal *d)
{
    if (i == j) {
        d->place = row->count;
        gen_put(row, i, 0, 0);
        return;
    }
    spry_scalar value = coupling(p, i, j, near);
    if (value.re == 0)
        return;
    gen_put(row, j, -value.re, -value.im);
    d->sum.re += value.re;
    d->sum.im += value.im;
}

void gen_circuit_row(const void *data, int64_t i, gen_row *row)
{
    const gen_problem *p = data;
    diagonal d = {0, {ground, 0}};
    if (is_net(p, i)) {
        for (int64_t j = 0; j < p->rows; j++)
            put_coupling(p, i, j, is_near(p, i, j), row, &d);
    } else {
        /* The nodes nearby and the nets, merged. */
        int64_t net = 0;
        for (int k = 0; k < p->points || net < p->options.nets;) {
            int64_t near = k < p->points ? i + distance(p, k) : p->rows;
            int64_t far = net < p->options.nets ? net_place(p, net) : p->rows;
            int64_t j = near < far ? near : far;
            k += j == near;
            net += j == far;
            if (j >= 0 && j < p->rows)
                put_coupling(p, i, j, j == near, row, &d);
        }
    }
    gen_set(row, d.place, d.sum.re, d.sum.im);
}
