/* Geometric multigrid over stencils. */
#ifndef SPRY_GRID_GMG_H
#define SPRY_GRID_GMG_H

#include "grid/blocks.h"
#include "grid/bounds.h"
#include "grid/terms.h"
#include "precon/kinds/gmg.h"

enum { GMG_LEVELS = 32, GMG_FACTORS = 4 };

/* How the levels of a grid on ranks are had: each rank has rows of its own, with what is around
 * them in a box; or all have the whole level. Without ranks levels are whole. */
typedef enum gmg_share { GMG_WHOLE, GMG_CUT, GMG_JOINED } gmg_share;

typedef struct gmg gmg;

/* A level; of the first one x, b and bounds are the caller's, unless it is cut or joined. */
typedef struct gmg_level {
    spry_operator *A; /* of order 2; owned but for one that is the caller's */
    const stencil *s;
    gmg_share shared;
    grid_box rows;            /* made on this rank: all, where it is not cut */
    grid_box given;           /* of these, those whose b comes from its own finer level */
    grid_box box;             /* of all arrays */
    int64_t count;            /* of its elements */
    int64_t reach[GRID_AXES]; /* of rows */
    grid_halo halo;           /* brings to the box what others have */
    void *x, *b;
    void *r;                 /* for Jacobi's and Chebyshev's sweeps, as is `diagonal` */
    void *p;                 /* Chebyshev's direction */
    double lambda;           /* its largest eigenvalue of D^-1 A */
    spry_vector *diagonal;   /* inverse */
    spry_scalar *weights[2]; /* fitted ones of sweeps, before and after; of the last level all */
    void *lower;             /* bounds of x, see bounded.h; NULL: there are none */
    void *tiles;             /* two lines for each thread, each with an element before and behind */
    unsigned lines; /* axes whose lines are solved, a bit for each; 0: points are relaxed */
    void *factors[GRID_AXES][GMG_FACTORS]; /* of such lines: lower, inverse pivots, upper, and
                                              around where ends meet */
    void *room; /* for their residuals, room_size bytes for each thread */
    int64_t room_size;
} gmg_level;

/* What a pass of smoothing begins with: x as it is; 0, whatever x holds; x with what the next level
 * has found. */
typedef enum gmg_start { GMG_GIVEN, GMG_ZERO, GMG_FROM_BELOW } gmg_start;

/* The steps of a cycle, on the host or on a device. */
typedef struct gmg_steps {
    /* Makes and frees what all levels have on a device; NULL: nothing. Collective where the grid is
     * cut; to be freed also after a failure. */
    spry_status (*make)(gmg *m);
    void (*free)(gmg *m);
    /* z = M r by the steps between these two. */
    spry_status (*begin)(gmg *m, const spry_vector *r, spry_vector *z);
    spry_status (*end)(gmg *m, spry_vector *z);
    /* x = smoothed x, in the order of colours or (back) the other one. */
    spry_status (*smooth)(const gmg *m, int level, int sweeps, bool back, gmg_start start);
    /* b of the next level = restricted b - A x, or (plain) b */
    spry_status (*down)(const gmg *m, int level, bool plain);
    /* x = interpolated x of the next level; or *start says that smoothing is to begin with that. */
    spry_status (*guess)(const gmg *m, int level, gmg_start *start);
    /* b and x of the last level. */
    void (*last_system)(const gmg *m, spry_vector *b, spry_vector *x);
} gmg_steps;
extern const gmg_steps gmg_host_steps, gmg_device_steps; /* gmg_host.c, gmg_device.c */

struct gmg {
    const gmg_steps *steps;
    spry_context *ctx;
    spry_type type;
    gmg_options options;
    bool redblack, owns_first;
    bool sweeps_last;            /* the last level has sweeps, no factors */
    const bound_kernels *bounds; /* for levels with bounds */
    bool truncates;              /* with bounds: what is at them is left out of corrections */
    bool ranked;                 /* its grid is cut into blocks of ranks */
    int64_t most; /* unknowns for factors, beyond which there is to be no such M; 0: any number */
    int count;
    gmg_level level[GMG_LEVELS];
    spry_operator *coarsest;
    spry_device *place;        /* where it lives; NULL: the host */
    struct gmg_device *device; /* its part on the device (gmg_device.c) */
};

/* gmg of levels with the same terms and numbers of a type; *M is NULL where the last of them has
 * more than `most` unknowns (0: never). */
spry_status gmg_make_of_terms(const precon_job *job, spry_type type, int64_t most,
                              spry_operator **M);

/* Notes a failure of this rank, and goes on: others would wait for it. */
static inline spry_status gmg_noted(const gmg *m, spry_status status)
{
    return m->ranked ? team_note(m->ctx, status) : status;
}
/* The index along an axis of row k in a box, where its copy beyond the end of a periodic axis may
 * stand; INT64_MIN: it does not exist. */
int64_t gmg_locate(const gmg_level *l, int a, const grid_box *box, int64_t k);
/* The row that an index beyond the end of a periodic axis is. */
static inline int64_t gmg_inside(const gmg_level *l, int a, int64_t k)
{
    const int64_t n = l->s->shape.axis[a].unknowns;
    return k < 0 ? k + n : k >= n ? k - n : k;
}
/* The rows of a level and `times` times the reach of a row around them. */
grid_box gmg_around(const gmg_level *l, int64_t times);
/* Messages of levels that are cut (gmg_ranks.c), nothing for others: what is around x, or in an
 * array like it; what comes from the finer level, with which a joined one becomes whole. */
spry_status gmg_bring_x(const gmg_level *l, void *x);
spry_status gmg_bring_given(const gmg_level *l, void *array);
/* An array of the first level from the caller's, and the caller's x from the first level. */
spry_status gmg_take(const gmg *m, const void *given, void *array);
void gmg_give_x(const gmg *m, void *x);
/* Fills in how a level is stored, when its operator exists. Collective. */
spry_status gmg_place_level(gmg *m, gmg_level *l, const grid_shape *cut);
/* The operator of a level that each rank has whole, from one that is cut. Collective. */
spry_status gmg_join(const spry_operator *cut, spry_operator **whole);
/* Whether a level of a cut shape is to be joined. */
bool gmg_joins(const gmg *m, const grid_shape *shape);

/* Smooths by colours, in one pass over memory (wave.c). */
spry_status gmg_wave(const gmg *m, int level, int sweeps, bool back, gmg_start start);
/* Whether such sweeps can divide by the diagonal. */
spry_status gmg_check_diagonal(const gmg *m, int level);
/* The same by Chebyshev's polynomials, and what they need of a level with a diagonal; zero: x is 0,
 * whatever it holds. */
spry_status gmg_chebyshev(const gmg *m, int level, int sweeps, bool zero);
spry_status gmg_chebyshev_make(gmg *m, int level);
/* The same by lines along axes, and what they need of a level (lines.c). */
spry_status gmg_lines(const gmg *m, int level, int sweeps, bool back, gmg_start start);
spry_status gmg_lines_make(gmg *m, int level);
void gmg_lines_clear(const gmg *m, gmg_level *l);
/* Whether lines along an axis are whole on this rank and tridiagonal, and neighbours of theirs of
 * the other colour. */
bool gmg_has_lines(const stencil *s, int axis);
/* Whether the grid after this level's would have points enough in a wavelength. Collective. */
spry_status gmg_resolves_waves(const gmg *m, int level, bool *yes);
/* Finds the weights of sweeps that fit a level (fitted.c). Collective. */
spry_status gmg_fit(gmg *m, int level);
/* The weight of Jacobi sweep k of `sweeps`. */
spry_scalar gmg_weight(const gmg *m, int level, int sweeps, int k);
/* Levels that have sweeps. */
static inline int gmg_swept(const gmg *m)
{
    return m->sweeps_last ? m->count : m->count - 1;
}
/* b of the next level = restricted b - A x, or (plain) b */
void gmg_down(const gmg *m, int level, bool plain);
/* Bounds of the next level: no correction within them takes x below its own. */
void gmg_bounds_down(const gmg *m, int level);
/* Whether neighbours have the other colour: they lie along one axis, next to the row, and periodic
 * axes have an even number of points. */
bool gmg_two_colours(const stencil *s);
/* What is free to be chosen for a level: axes that are halved, all or those with strong couplings;
 * lines, none, some where points do not do, or those along one axis (line is its number) or along
 * what is strongest (-1). */
typedef struct gmg_freedom {
    bool fully;
    enum { GMG_NO_LINES, GMG_SOME_LINES, GMG_LINES } lines;
    int line;
} gmg_freedom;
/* The intervals of the next level, of an operator's shape, and axes for lines on this one, a bit
 * each; whether any can be halved. Collective where the grid is cut. */
spry_status gmg_halve(const spry_operator *A, const gmg_freedom *free, unsigned *lines,
                      grid_shape *shape, bool *halved);
/* The highest derivative along an axis. */
int gmg_highest_power(const stencil *s, int axis);
/* The first level; where ranks have one together, it is one with arrays of its own. Collective. */
spry_status gmg_add_first(gmg *m, const spry_operator *A);
/* The next level, where the last one can be halved. Collective. */
spry_status gmg_add_coarser(gmg *m, const gmg_freedom *free, bool *halved);
void gmg_level_clear(gmg *m, int level);
/* x = x of the next level by cubic interpolation */
void gmg_guess(const gmg *m, int level);
/* Makes the matrix of the last level regular where it takes constants to 0; whether it did. */
bool gmg_pin(spry_matrix *A);
/* x += interpolated x of the next level, of all lines or of one of the level's box */
void gmg_up(const gmg *m, int level);
void gmg_up_line(const gmg *m, int level, int64_t line, int share);

#endif
