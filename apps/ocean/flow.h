/*
 * Water of a depth h(x, y) below a surface eta(x, y, t): the state u is eta and the potential at
 * the surface, its rate comes from the two conditions there, with the vertical velocity from
 * Laplace's equation below. That is written in sigma = (z + h) / (eta + h), so that the water is a
 * box, and solved at each call by a Krylov method or defect correction: the preconditioner has
 * second order and the still water's depth, so that it falls apart into modes of the vertical
 * axis, each a Helmholtz equation on the plane, for geometric multigrid.
 *
 * On ranks each has some lines along x of the basin. Vectors of the state and of the solver have
 * the points of these alone; what differences along y are taken of is brought to wider arrays
 * first, which have lines of the neighbour ranks, too (ranks.c).
 */
#ifndef SPRY_OCEAN_FLOW_H
#define SPRY_OCEAN_FLOW_H

#include "ocean/vertical.h"
#include "ocean/wave.h"

/* What a flow is made of. */
typedef struct ocean_setup {
    int nx, ny, nz;        /* intervals; ny = 0: waves along x alone */
    int order;             /* of the differences: 2, 4, 6, 8 */
    bool clustered;        /* levels lie closer together towards the surface */
    bool round_x, round_y; /* periodic; else walls */
    double length, width, gravity;
    double depth;         /* where `depths` is NULL */
    const double *depths; /* of all points, x fastest */
    const char *method;   /* of the solver, and its precision */
    double tol;
    const char *device; /* "cpu", "cuda", "opencl:1" */
    bool single;        /* multigrid in single precision */
} ocean_setup;

enum { DRIVE_SIZE = FORCING_TERMS + FORCING_TERM * WAVE_MOST };
typedef struct ocean_flow {
    spry_context *ctx;
    spry_device *device;
    ocean_setup setup;
    ocean_vertical vertical;
    ocean_points points; /* over wide arrays */
    ocean_points own;    /* over this rank's lines alone; without ranks the same */
    int64_t plane;       /* points of the surface, this rank's */
    int64_t wide;        /* of a plane of wide arrays */
    /* On ranks: the grids of u and of phi, this rank's numbers in wider arrays, and how many lines
     * each rank has. */
    spry_grid *pair, *volume;
    spry_halo *around_pair, *around_volume;
    spry_vector *wide_u, *wide_phi, *lines;
    double dx, dy, shallow, deep;
    spry_grid *surface; /* of plane numbers */
    spry_vector *still, *shape, *tables, *forcing, *zones, *phi, *rhs, *ones;
    spry_vector *parts;   /* a plane, for sums */
    spry_vector *nothing; /* zeros, as a surface or below it */
    /* For first guesses: the solution before phi, and, on the host, how many there are, the time of
     * phi and that of `past`. */
    spry_vector *past, *times;
    /* Of each mode: the Helmholtz operator, its multigrid; and its plane of `before` and `behind`,
     * or, where memory has no addresses (OpenCL), one plane for all that they are copied to. */
    spry_operator *mode[LEVELS_MOST], *cycle[LEVELS_MOST];
    spry_vector *before, *behind, *in[LEVELS_MOST], *out[LEVELS_MOST];
    bool apart; /* planes are copied */
    spry_operator *laplace, *precon;
    spry_solver *solver;
    double drive[DRIVE_SIZE]; /* what `forcing` has */
    int64_t solves, iterations, worst;
    /* A ship, with which the box moves: see ship.h. */
    double speed;
    spry_vector *ship, *lever;
    /* Of all solves: what they move at least, in bytes, and seconds. */
    double traffic, seconds;
} ocean_flow;

/* The points of a flow. */
ocean_sizes ocean_sizes_of(const ocean_setup *setup);
/* What is made is to be freed, also after a failure. */
spry_status ocean_flow_make(spry_context *ctx, const ocean_setup *setup, ocean_flow *f);
void ocean_flow_free(ocean_flow *f);
/* A vector where the flow is, with numbers of the host's, or 0 where they are NULL. */
spry_status ocean_flow_vector(const ocean_flow *f, int64_t n, const double *values,
                              spry_vector **v);
/* A vector of 0 with some planes of this rank's points: 1, 2 or nz. */
spry_status ocean_flow_own_vector(const ocean_flow *f, int planes, spry_vector **v);
/* Puts numbers of the host's into a vector. */
spry_status ocean_flow_copy(const ocean_flow *f, const double *values, spry_vector *v);
/* Notes a message about what was asked. */
spry_status ocean_fail(spry_context *ctx, const char *text);
#define OCEAN_GO(call)                \
    do {                              \
        status = (call);              \
        if (status != SPRY_STATUS_OK) \
            goto done;                \
    } while (0)
/* Where a point of a plane of wide arrays lies; and of one of this rank's. */
void ocean_flow_place(const ocean_flow *f, int64_t point, double *x, double *y);
void ocean_flow_own_place(const ocean_flow *f, int64_t point, double *x, double *y);

/* ranks.c */
static inline bool ocean_is_cut(const ocean_flow *f)
{
    return f->lines != NULL;
}
/* Cuts the basin for ranks: grids and halos, and sizes of wide arrays and of this rank's. */
spry_status ocean_ranks_make(ocean_flow *f, ocean_sizes *sizes, ocean_sizes *own);
void ocean_ranks_free(ocean_flow *f);
/* A vector of this rank's points, of 1, 2 or nz planes, as a part of that of all ranks. */
spry_status ocean_ranks_vector(const ocean_flow *f, int planes, spry_vector **v);
/* The same numbers in a wide array, with those around them: of u, of phi. Without ranks as it is.
 */
spry_status ocean_flow_widen(ocean_flow *f, bool volume, const spry_vector *v,
                             const spry_vector **wide);
/* All ranks' numbers of a vector of some planes, in the order of one process; and this rank's of
 * them. */
spry_status ocean_ranks_collect(const ocean_flow *f, int planes, const spry_vector *v, double *all);
void ocean_ranks_take(const ocean_flow *f, int planes, const double *all, spry_vector *v);

/* Waves that zones are to have; ramp: seconds until they are whole. */
spry_status ocean_flow_set_wave(ocean_flow *f, const ocean_wave *w, double ramp);
/* Pressure over the density in the middle of a round spot that moves, besides the waves. */
typedef struct ocean_spot {
    double pressure, x, y, speed, heading, radius;
} ocean_spot;
spry_status ocean_flow_set_spot(ocean_flow *f, const ocean_spot *spot);
/* How strongly u is drawn to the wave and to rest, in 1/s, at each point of wide arrays. */
spry_status ocean_flow_set_zones(ocean_flow *f, const double *wave, const double *rest);

/* Products with Laplace's operator, and with what preconditions it; spry_product_fn. */
spry_status ocean_flow_laplace(void *flow, spry_transpose op, const spry_vector *x, spry_vector *y,
                               void *stream);
spry_status ocean_flow_precon(void *flow, spry_transpose op, const spry_vector *x, spry_vector *y,
                              void *stream);

/*
 * bytes.c: what a product and the preconditioner move through memory at least, each sweep reading
 * and writing once what it works with; and what a run keeps, on the host and on the device.
 */
double ocean_bytes_product(const ocean_setup *setup);
double ocean_bytes_precon(const ocean_setup *setup, bool apart);
void ocean_bytes_kept(const ocean_setup *setup, double *host, double *device);

/* rate = F(t, u): a spry_rate_fn with the flow as its data. */
spry_status ocean_flow_rate(void *flow, double t, const spry_vector *u, spry_vector *rate);
/* Solves Laplace's equation below a surface, from the first guess in f->phi: f->phi, and f->shape
 * with its slopes. */
spry_status ocean_flow_solve(ocean_flow *f, const spry_vector *u);
/* Has the next solve begin from 0, whatever there was before. */
spry_status ocean_flow_forget(ocean_flow *f);
/* The same into another phi, from the first guess there; slopes are left undone. */
spry_status ocean_flow_solve_for(ocean_flow *f, const spry_vector *u, spry_vector *phi);
/* The depths of all points, on the host (inside.c). */
spry_status ocean_flow_depths(const ocean_flow *f, double *depths);
/* u, filtered along both axes. */
spry_status ocean_flow_filter(ocean_flow *f, spry_vector *u);
/* The water above the still one, and the energy over the density, of u with its rate. */
spry_status ocean_flow_sums(ocean_flow *f, const spry_vector *u, const spry_vector *rate,
                            double *water, double *energy);
/* The longest step that rk4 takes without growing small waves. */
double ocean_flow_limit(const ocean_flow *f);

#endif
