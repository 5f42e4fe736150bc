/*
 * Grids: problems on a grid of points without a matrix. A grid is a box cut into intervals along
 * each axis, equal ones unless you give points; a field is a vector with a number for each point;
 * an operator is made from a text such as "-laplace + 3*dx + k". docs/grid.md is the tutorial.
 */
#ifndef SPRY_GRID_H
#define SPRY_GRID_H

#include <spry/operator.h>
#include <spry/result.h>
#include <spry/vector.h>

SPRY_BEGIN

/** A grid of one to three dimensions, whose points are those of its axes. */
typedef struct spry_grid spry_grid;

/** Description of a grid; axes that it does not have are of one point. */
typedef struct spry_grid_info {
    size_t size;              /**< SPRY_GRID_INFO_INIT */
    int dimensions;           /**< 1 to 3 */
    int64_t unknowns;         /**< points with unknown values, of all ranks */
    int64_t points;           /**< all points, also those with known values */
    int64_t axis_unknowns[3]; /**< the same along each axis */
    int64_t axis_points[3];   /**< along each axis */
    int64_t intervals[3];     /**< that the box is cut into along each axis */
    double low[3];            /**< where the box begins */
    double high[3];           /**< where it ends */
    double spacing[3];        /**< from a point to the next; the mean where they differ */
    int ranks[3];             /**< along each axis; 1: it is not partitioned */
    int64_t begin[3];         /**< the first unknown along each axis that is this rank's */
    int64_t end[3];           /**< and the first behind them */
} spry_grid_info;
#define SPRY_GRID_INFO_INIT SPRY_SIZED(spry_grid_info)

/** The value of a function at a place of up to three coordinates. */
typedef void (*spry_place_fn)(void *data, const double *place, spry_scalar *value);
/**
 * Boundary values: if `axis` is -1 the value at a place, on faces with Dirichlet's condition; else
 * the derivative along the outward normal, at a place on a face of that axis (0 to 2) with
 * Neumann's; on one with robin(a,b) the value of a u + b du/dn.
 */
typedef void (*spry_boundary_fn)(void *data, int axis, const double *place, spry_scalar *value);

/**
 * Makes a grid from a text: the intervals of each axis, then options
 * (spry_grid_options("grid")). "128x128x64 box=0:1,0:1,0:0.5 boundary=dirichlet x=periodic
 * y=neumann:dirichlet".
 *
 * The points are the ends of intervals, so n intervals have n + 1 points. Points of a face with
 * Dirichlet's condition have known values and are no unknowns; those of one with Neumann's are, and
 * with Robin's, "x=robin(a,b)" for a known a u + b du/dn. On
 * a periodic axis the last point is the first one. So an axis of 128 intervals has 127, 128 or 129
 * unknowns, and one of 64 has every other of its points. "x=absorb layer=10" is a face with known
 * values behind an absorbing layer of 10 intervals: see spry_field_absorb().
 *
 * With a context of ranks (spry/mpi.h) the grid is partitioned into blocks, one for each rank: the
 * option `ranks`. A field is then this rank's part of a vector, the numbers of its own block with x
 * fastest, after those of the ranks before. All calls that make something from such a grid are
 * collective.
 */
SPRY_API spry_status spry_grid_new(spry_context *ctx, const char *text, spry_grid **grid);
/**
 * Sets the points of an axis for every field and operator made from the grid afterwards. The box
 * begins and ends with them. Rules for common cases are an option of spry_grid_new(): "64x64
 * stretch=y:cosine".
 *
 * @param grid    whose axis it is; not while another thread uses it
 * @param axis    0 to 2 for x to z
 * @param count   intervals of the axis + 1, also where it is periodic: the last one is the first
 *                of the next period
 * @param points  rising; copied. On a partitioned grid those of the whole axis, alike on all ranks;
 *                the call is collective
 */
SPRY_API spry_status spry_grid_set_points(spry_grid *grid, int axis, int64_t count,
                                          const double *points);
/**
 * The options of an object of this library: "grid" (spry_grid_new()), "absorb"
 * (spry_field_absorb()), "field" (spry_field_write()), "field-wave" (spry_field_wave()), "stencil",
 * "helmholtz" and "fourier" (spry_operator_...()), "bounded", "wave" and "stepper" (spry_..._new())
 * and "parareal". No rows when there is no such object.
 */
SPRY_API spry_option_list spry_grid_options(const char *object);
/** Frees a grid; NULL is allowed. Fields and operators stay. */
SPRY_API void spry_grid_free(spry_grid *grid);
/** Describes the grid. */
SPRY_API spry_status spry_grid_describe(const spry_grid *grid, spry_grid_info *info);
/** The three coordinates of an unknown of this rank, or (all_points) of a point; x runs fastest. */
SPRY_API spry_status spry_grid_place(const spry_grid *grid, bool all_points, int64_t index,
                                     double *place);

/**
 * A vector with a number for each unknown of a grid, or (all_points) for each point, as for
 * coefficients of operators; x runs fastest. The function is called by this thread, in the order of
 * elements; NULL makes zeros.
 */
SPRY_API spry_status spry_field_new(const spry_grid *grid, spry_type type, bool all_points,
                                    spry_place_fn function, void *data, spry_vector **field);
/** The surroundings of a rank's block of a field, for differences of your own. */
typedef struct spry_halo spry_halo;
/**
 * Prepares the exchange of the numbers around this rank's block of unknowns with the ranks that own
 * them. Along partitioned axes the block is widened at both ends, as far as the grid goes; along
 * periodic ones beyond that, with the numbers of the other end. Collective on a partitioned grid;
 * on others the box is the block.
 *
 * @param grid   whose fields they are
 * @param type   of their numbers
 * @param width  3 numbers: the points added along each axis
 * @param halo   out
 */
SPRY_API spry_status spry_halo_new(const spry_grid *grid, spry_type type, const int64_t *width,
                                   spry_halo **halo);
/** Frees a halo; NULL is allowed. */
SPRY_API void spry_halo_free(spry_halo *halo);
/** The box: 3 numbers of the first unknowns along each axis, and of the first behind them. */
SPRY_API spry_status spry_halo_box(const spry_halo *halo, int64_t *begin, int64_t *end);
/**
 * Fills the box. Collective on a partitioned grid.
 *
 * @param halo   made by spry_halo_new()
 * @param field  of unknowns, this rank's, on the host
 * @param wide   out: a vector of the host with the numbers of the box, x fastest
 */
SPRY_API spry_status spry_halo_exchange(const spry_halo *halo, const spry_vector *field,
                                        spry_vector *wide);

/**
 * The coefficient of operators that absorbs in layers before faces with the condition absorb: 0
 * (kind=rate) or 1 (kind=stretch, kind=pml) outside of layers. A rate a damps u by -a*u; a stretch
 * a = 1 / s makes waves decay if you write a*dx*(a*dx) for dx*dx, with a for each axis by itself
 * (axis=x). Layers that are perfectly matched are the same with symmetric matrices:
 * "dx(ax*dx) + dy(ay*dy) + k2*s" with kind=pml of axis=x, axis=y and axis=all.
 *
 * @param grid     with layers: "100x100 x=absorb layer=10"
 * @param type     of the field; a stretch and pml are complex
 * @param options  see spry_grid_options("absorb"): "kind=rate axis=x strength=40 power=2"; or NULL
 * @param field    out: a vector of all points
 */
SPRY_API spry_status spry_field_absorb(const spry_grid *grid, spry_type type, const char *options,
                                       spry_vector **field);
/**
 * Writes a field, of unknowns or of all points, by the ending of the path: .vti for ParaView, .vtr
 * with all coordinates for points that you set, .png a picture of a plane, a pixel for a point,
 * .npy an array whose last index is x, .h5 the same as the data set `field` of an HDF5 file, with
 * its place in attributes. Complex fields are two arrays in .vti and .vtr, a picture
 * has their real parts.
 *
 * @param grid     whose field it is
 * @param field    on the host or on a device
 * @param path     written as by spry_vector_write(): complete or absent
 * @param options  of pictures, see spry_grid_options("field"): "across=z at=0.5 low=-1 high=1"; or
 *                 NULL
 */
SPRY_API spry_status spry_field_write(const spry_grid *grid, const spry_vector *field,
                                      const char *path, const char *options);

/**
 * A difference operator from a text: a sum of products of dx, dy, dz and their powers
 * (dx^2 is the second derivative with a stencil of its own), laplace, div(k*grad), fluxes along one
 * axis, dx(k*dx), numbers and names of coefficients. Factors act on what is to their right:
 * dx*k*dx. It keeps what it needs of the grid and of the coefficients, and is an operator like any
 * other, with transposed products; spry_operator_to_matrix() makes a matrix.
 *
 * @param grid     of its unknowns
 * @param text     "-dx^2 - dy^2 + 3*dx + k"; faults are SPRY_STATUS_BAD_INPUT with line and column
 * @param options  see spry_grid_options("stencil"): "order=4 type=d device=cuda"; NULL: order 2,
 *                 type d, on the host. "domain=phi": only where that coefficient is negative, with
 *                 u known where it is 0
 * @param count    of coefficients
 * @param names    theirs
 * @param values   a vector of all points for each name, or of one element: a constant
 * @param A        out
 */
SPRY_API spry_status spry_operator_stencil(const spry_grid *grid, const char *text,
                                           const char *options, int count, const char *const *names,
                                           const spry_vector *const *values, spry_operator **A);
/**
 * The right-hand side of A u = f with boundary values: b = f - (A applied to the known values and
 * derivatives). You need it where these are not 0, with domain= (b is 0 outside), and for all
 * operators of
 * spry_operator_helmholtz(), whose schemes use the mean of f over neighbouring points.
 *
 * @param A         made by spry_operator_stencil() or spry_operator_helmholtz()
 * @param f         a field of unknowns; NULL: 0
 * @param boundary  called by this thread, several times for a place; NULL: all is 0
 * @param data      handed to it
 * @param b         out; may be f
 */
SPRY_API spry_status spry_stencil_rhs(const spry_operator *A, const spry_vector *f,
                                      spry_boundary_fn boundary, void *data, spry_vector *b);

/**
 * A + diag(d) as an operator of the same kind, with its multigrid: the Jacobian of A u + f(u) has d
 * = f'(u).
 *
 * @param A    made by spry_operator_stencil(), on a grid that is not partitioned
 * @param d    a number for each unknown
 * @param sum  out: where A is; it keeps what it needs of both
 */
SPRY_API spry_status spry_operator_add_diagonal(const spry_operator *A, const spry_vector *d,
                                                spry_operator **sum);
/**
 * Several unknowns per point: A = (A_ij), an m x m matrix of operators. Vectors have all numbers of
 * the first unknown, then those of the next. If blocks are of spry_operator_stencil(), on one grid,
 * with all on the diagonal, it has a multigrid of its own (precon=gmg), whose sweeps solve for all
 * unknowns of a point together. spry_operator_to_matrix() makes a matrix.
 *
 * @param m       1 to 8
 * @param blocks  m x m operators by rows; NULL: 0. Square, of one size and type, on the host; they
 *                must outlive A
 * @param A       out
 */
SPRY_API spry_status spry_operator_blocks(spry_context *ctx, int m,
                                          const spry_operator *const *blocks, spry_operator **A);

/** Forecast of the errors of waves on a grid, for the values of k2. */
typedef struct spry_helmholtz_info {
    size_t size;                  /**< SPRY_HELMHOLTZ_INFO_INIT */
    double points_per_wavelength; /**< of the shortest wave, along the axis with the longest
                                     intervals */
    double wavelengths;           /**< of that wave along the longest axis */
    double wave_number_error; /**< largest relative error of the wave number, of all directions */
    double phase_error; /**< the largest error of the phase, in radians, of a wave that has crossed
                           the box between the layers */
} spry_helmholtz_info;
#define SPRY_HELMHOLTZ_INFO_INIT SPRY_SIZED(spry_helmholtz_info)

/**
 * The operator laplace + k2 of waves exp(-i omega t), with layers before faces with the condition
 * absorb: "100x100x100 boundary=absorb layer=20". Right-hand sides go through spry_stencil_rhs().
 * Collective on a partitioned grid.
 *
 * With scheme=second, scheme=optimal and symmetric=yes the matrix is symmetric (complex symmetric:
 * cocg, cocr), Neumann's faces aside; else where k2 is constant and layers are none.
 *
 * @param grid     of equal intervals
 * @param k2       the square of the wave number: a vector of all points, or of one element
 * @param options  see spry_grid_options("helmholtz"): "scheme=optimal layer=pml device=cuda"; or
 *                 NULL
 * @param A        out: an operator like any other; NULL: fill info alone
 * @param info     out: the forecast errors of waves on this grid; may be NULL
 * @return SPRY_STATUS_BAD_INPUT where the grid is too coarse for the wavelength
 */
SPRY_API spry_status spry_operator_helmholtz(const spry_grid *grid, const spry_vector *k2,
                                             const char *options, spry_operator **A,
                                             spry_helmholtz_info *info);
/**
 * An incoming wave, or a source: kind=plane is exp(i k n (r - at)) for a direction n, kind=beam
 * a Gaussian beam with its focus at a place, kind=point 1 over the volume of a cell at a place, and
 * linear between points. "kind=beam k=9.9 direction=0:0:1 at=0.5:0.5:0.2 waist=0.3".
 *
 * @param grid        whose points they are
 * @param type        of the field; waves are complex
 * @param all_points  a field of all points, or of unknowns, like right-hand sides
 * @param options     see spry_grid_options("field-wave")
 * @param field       out
 */
SPRY_API spry_status spry_field_wave(const spry_grid *grid, spry_type type, bool all_points,
                                     const char *options, spry_vector **field);

/** Solves with bounds at each point of a grid: obstacle problems. */
typedef struct spry_bounded spry_bounded;

/** What a solve with bounds has in addition to its spry_result. */
typedef struct spry_bounded_stats {
    size_t size;         /**< SPRY_BOUNDED_STATS_INIT */
    int64_t untruncated; /**< cycles without truncation: see docs/obstacle.md */
    int64_t contacts;    /**< points at their bounds */
    int levels;          /**< grids of multigrid */
} spry_bounded_stats;
#define SPRY_BOUNDED_STATS_INIT SPRY_SIZED(spry_bounded_stats)

/**
 * Makes a solver for problems x >= lower, A x >= b, and at each point one of them an equality. If A
 * is an M-matrix, as that of -laplace with dx and a coefficient that is not negative, such a
 * problem has one solution.
 *
 * On a partitioned grid, making the solver and solving are collective, and x has the bits of one
 * rank.
 *
 * @param A        made by spry_operator_stencil(), of order 2, real, with neighbours along the axes
 *                 alone; it must outlive the solver
 * @param options  see spry_grid_options("bounded"): "method=multigrid tol=1e-8"; NULL: these
 * @param solver   out: works where A is, used by one thread at a time
 */
SPRY_API spry_status spry_bounded_new(const spry_operator *A, const char *options,
                                      spry_bounded **solver);
/** Frees a solver; NULL is allowed. */
SPRY_API void spry_bounded_free(spry_bounded *solver);
/**
 * Adds upper bounds to the problems that follow: lower <= x <= upper, and at each point A x = b, or
 * x at its lower bound and A x >= b, or at its upper one and A x <= b. On the host alone.
 *
 * Collective over the operator's processes.
 *
 * @param solver  made by spry_bounded_new(), with an operator on the host
 * @param upper   a field of unknowns, which is copied; above 1e37 there is none at a point; NULL:
 *                none anywhere, as in a new solver
 */
SPRY_API spry_status spry_bounded_set_upper(spry_bounded *solver, const spry_vector *upper);
/**
 * Solves with a right-hand side and bounds.
 *
 * @param solver  made by spry_bounded_new()
 * @param b       a field of unknowns where A is, as the following ones
 * @param lower   bounds; below -1e37 there is none at a point
 * @param x       in: the first guess; out: what was reached, within its bounds everywhere
 * @param result  as for spry_solve(). Residuals are max |min(A x - b, x - lower)|, with upper
 *                bounds max |max(min(A x - b, x - lower), x - upper)|: initial_residual that of the
 *                first guess, moved to its bounds; tolerance is tol max |b|, or tol
 *                where b is 0. iterations are cycles of multigrid, or relaxations. May be NULL
 * @param stats   out; may be NULL
 * @return SPRY_STATUS_OK whenever the iteration ran: its outcome is in result
 */
SPRY_API spry_status spry_bounded_solve(spry_bounded *solver, const spry_vector *b,
                                        const spry_vector *lower, spry_vector *x,
                                        spry_result *result, spry_bounded_stats *stats);

SPRY_END

#endif
