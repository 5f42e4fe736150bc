/*
 * Bounds on a grid (<spry/grid/grid.h>, spry_bounded): bounded.c has the object and the course of
 * a solve, bounded_host.c and bounded_device.c the steps it is made of, on the host
 * or on a device.
 */
#ifndef SPRY_GRID_BOUNDED_H
#define SPRY_GRID_BOUNDED_H

#include "grid/gmg.h"
#include "grid/stencil_device.h"

#define BOUNDED_OPTIONS(item)                                                                     \
    item(WORD, method, "multigrid", 0, 0, "multigrid redblack richardson",                        \
         "truncated monotone multigrid, or relaxations: projected Gauss-Seidel by colours, or "   \
         "the projected method of Richardson")                                                    \
    item(REAL, tol, "1e-8", 0, 1, NULL,                                                           \
         "max |min(A x - b, x - lower)| to reach, relative to max |b|; absolute where b is 0")    \
    item(INT, max_iter, "0", 0, 1e15, NULL,                                                       \
         "cycles, or relaxations, at most; 0: 200 cycles, 1000000 relaxations")                   \
    item(INT, pre, "2", 1, 64, NULL, "multigrid: relaxations before going down")                  \
    item(INT, post, "2", 1, 64, NULL, "multigrid: relaxations after coming up")                   \
    item(INT, look_every, "16", 1, 1e9, NULL, "relaxations between two residual checks")          \
    item(INT, rank_rows, "1000", 1, 1e9, NULL,                                                    \
         "multigrid on ranks: grids with fewer unknowns per rank are stored completely on every " \
         "rank")
typedef struct bounded_options {
    BOUNDED_OPTIONS(SPRY_OPTION_FIELD)
} bounded_options;
enum { BOUNDED_MULTIGRID, BOUNDED_REDBLACK, BOUNDED_RICHARDSON };

/* What ranks report to each other about x. */
typedef struct bounded_poll {
    double residual;
    int64_t contacts;
    int64_t status, interrupted;
} bounded_poll;

typedef struct bounded_place bounded_place;
struct spry_bounded {
    spry_context *ctx;
    bounded_options o;
    const bounded_place *place;
    gmg m; /* levels; x, b and bounds of the first one are the caller's while a solve lasts, unless
              it is cut or joined */
    int64_t rows;      /* of the caller's vectors */
    bounded_poll *all; /* of each rank; NULL: the grid is not cut */
    double gamma;
    void *upper;                   /* host: the caller's upper bounds of -x, rows; or NULL */
    void *other;                   /* host: where Richardson's method puts the next x */
    struct bounded_device *device; /* what is on a device; NULL: nothing */
    int64_t coarsest_sweeps;
};

/* The steps, which are the same on the host and on devices up to rounding. */
struct bounded_place {
    spry_status (*open)(spry_bounded *s);
    void (*close)(spry_bounded *s);
    /* Takes the caller's vectors for a solve, and makes x feasible. */
    spry_status (*begin)(spry_bounded *s, const spry_vector *b, const spry_vector *lower,
                         spry_vector *x);
    spry_status (*end)(spry_bounded *s, spry_vector *x);
    /* Relaxations by colours, the other one first after coming up. */
    spry_status (*smooth)(spry_bounded *s, int level, int sweeps, gmg_start start);
    /* The right-hand side and the bounds of the next level. */
    spry_status (*down)(spry_bounded *s, int level);
    spry_status (*richardson)(spry_bounded *s);
    /* Takes upper bounds for solves to come; NULL: none. */
    spry_status (*set_upper)(spry_bounded *s, const spry_vector *upper);
    /* max |min(A x - b, x - lower)|, and how many x are at their bounds, of this rank's rows. */
    spry_status (*measure)(spry_bounded *s, double *residual, int64_t *contacts);
};
/* The larger of two residuals; a NaN stays. */
static inline double bounded_larger(double a, double b)
{
    return b > a || b != b ? b : a;
}
extern const bounded_place bounded_on_host, bounded_on_device;
/* The text of the programs that levels on a device have. */
void bounded_device_put(base_text *t, const stencil_copy *c);

#endif
