/*
 * Grids: problems on a regular grid of points without a matrix. A grid is a box cut into equal
 * intervals, a field is a vector with a number for each point, an operator is made of a text such
 * as
 * "-laplace + 3*dx + k". docs/grid.md is the tutorial.
 */
#ifndef SPRY_GRID_H
#define SPRY_GRID_H

#include <spry/operator.h>
#include <spry/vector.h>

SPRY_BEGIN

/** A regular grid of one to three dimensions. */
typedef struct spry_grid spry_grid;

/** What a grid is; axes that it does not have are of one point. */
typedef struct spry_grid_info {
    size_t size;              /**< SPRY_GRID_INFO_INIT */
    int dimensions;           /**< 1 to 3 */
    int64_t unknowns;         /**< points whose numbers are to be found, of all ranks */
    int64_t points;           /**< all points, those with known values among them */
    int64_t axis_unknowns[3]; /**< the same along each axis */
    int64_t axis_points[3];   /**< along each axis */
    int64_t intervals[3];     /**< that the box is cut into along each axis */
    double low[3];            /**< where the box begins */
    double high[3];           /**< where it ends */
    double spacing[3];        /**< from a point to the next */
    int ranks[3];             /**< that each axis is cut for; 1: it is not */
    int64_t begin[3];         /**< the first unknown along each axis that is this rank's */
    int64_t end[3];           /**< and the first behind them */
} spry_grid_info;
#define SPRY_GRID_INFO_INIT SPRY_SIZED(spry_grid_info)

/** The value of a function at a place of up to three coordinates. */
typedef void (*spry_place_fn)(void *data, const double *place, spry_scalar *value);
/**
 * What is known at the boundary: where `axis` is -1 the value at a place, on faces with Dirichlet's
 * condition; else the derivative along the outward normal, at a place on a face of that axis
 * (0 to 2) with Neumann's.
 */
typedef void (*spry_boundary_fn)(void *data, int axis, const double *place, spry_scalar *value);

/**
 * Makes a grid of a text: how many intervals each axis has, then options (spry_grid_options).
 * "128x128x64 box=0:1,0:1,0:0.5 boundary=dirichlet x=periodic y=neumann:dirichlet".
 *
 * The points are the ends of intervals, so n intervals have n + 1 points. Points of a face with
 * Dirichlet's condition have known values and are no unknowns; those of one with Neumann's are. On
 * a periodic axis the last point is the first one. So an axis of 128 intervals has 127, 128 or 129
 * unknowns, and one of 64 has every other of its points.
 *
 * With a context of ranks (spry/mpi.h) it is cut into blocks, one for each rank: the option `ranks`.
 * A field is this rank's part of a vector then, the numbers of its own block with x fastest, and
 * follows those of the ranks before. All that is made of such a grid is made by all ranks together.
 */
SPRY_API spry_status spry_grid_new(spry_context *ctx, const char *text, spry_grid **grid);
/** The options of spry_grid_new(). */
SPRY_API spry_option_list spry_grid_options(void);
/** Frees a grid; NULL is allowed. Fields and operators stay. */
SPRY_API void spry_grid_free(spry_grid *grid);
/** Tells what the grid is. */
SPRY_API spry_status spry_grid_describe(const spry_grid *grid, spry_grid_info *info);
/** The three coordinates of an unknown of this rank, or (all_points) of a point; x runs fastest. */
SPRY_API spry_status spry_grid_place(const spry_grid *grid, bool all_points, int64_t index,
                                     double *place);

/**
 * A vector with a number for each unknown of a grid, or (all_points) for each point, as
 * coefficients of operators are given; x runs fastest. The function is called by this thread, in
 * the order of elements; NULL makes zeros.
 */
SPRY_API spry_status spry_field_new(const spry_grid *grid, spry_type type, bool all_points,
                                    spry_place_fn function, void *data, spry_vector **field);
/**
 * Writes a field, of unknowns or of all points, by the ending of the path: .vti for ParaView, .png
 * a picture of a plane, .npy an array whose last index is x. Complex fields are two arrays in .vti,
 * a picture has their real parts.
 *
 * @param grid     whose field it is
 * @param field    on the host or on a device
 * @param path     written aside and renamed, as all files are
 * @param options  of pictures, see spry_field_options(): "across=z at=0.5 low=-1 high=1"; or NULL
 */
SPRY_API spry_status spry_field_write(const spry_grid *grid, const spry_vector *field,
                                      const char *path, const char *options);
/** The options of spry_field_write(). */
SPRY_API spry_option_list spry_field_options(void);

/**
 * An operator of differences, made of a text: a sum of products of dx, dy, dz and their powers
 * (dx^2 is the second derivative with a stencil of its own), laplace, div(k*grad), numbers and
 * names of coefficients. Factors act on what is to their right: dx*k*dx. It keeps what it needs of
 * the grid and of the coefficients, and is an operator like any other: transposed products, all
 * methods, spry_operator_to_matrix() for what needs entries.
 *
 * @param grid     on whose unknowns it acts
 * @param text     "-dx^2 - dy^2 + 3*dx + k"; faults are SPRY_STATUS_BAD_INPUT with line and column
 * @param options  see spry_stencil_options(): "order=4 type=d device=cuda"; NULL: order 2, type d,
 *                 on the host
 * @param count    of coefficients
 * @param names    theirs
 * @param values   a vector of all points for each name, or of one element: a constant
 * @param A        out
 */
SPRY_API spry_status spry_operator_stencil(const spry_grid *grid, const char *text,
                                           const char *options, int count, const char *const *names,
                                           const spry_vector *const *values, spry_operator **A);
/** The options of spry_operator_stencil(). */
SPRY_API spry_option_list spry_stencil_options(void);
/**
 * The right-hand side of A u = f with what is known at the boundary brought over: b = f - (what A
 * makes of the known values and derivatives). Not needed where all of them are 0.
 *
 * @param A         made by spry_operator_stencil()
 * @param f         a field of unknowns; NULL: 0
 * @param boundary  called by this thread, several times for a place; NULL: all is 0
 * @param data      handed to it
 * @param b         out; may be f
 */
SPRY_API spry_status spry_stencil_rhs(const spry_operator *A, const spry_vector *f,
                                      spry_boundary_fn boundary, void *data, spry_vector *b);

SPRY_END

#endif
