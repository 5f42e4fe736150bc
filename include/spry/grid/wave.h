/*
 * Waves: the Fourier transform of fields, and the Helmholtz equation (laplace + k^2) u = f in open
 * space, solved by the convergent Born series and by Krylov methods on its operator. docs/born.md
 * is the manual.
 */
#ifndef SPRY_WAVE_H
#define SPRY_WAVE_H

#include <spry/grid/grid.h>
#include <spry/operator.h>
#include <spry/result.h>
#include <spry/vector.h>

SPRY_BEGIN

/**
 * The discrete Fourier transform of a grid's fields of unknowns along all axes, unitary: element q
 * of F u is sum_j u_j exp(-2 pi i (q, j / n)) / sqrt(number of unknowns), for q and j of 0 to n - 1
 * along each axis, x fastest. Its adjoint (SPRY_TRANSPOSE_CONJUGATE) is its inverse; F is its own
 * transpose. Sides of any length will do, those with the factors 2, 3 and 5 alone are fast.
 *
 * @param grid     of the unknowns, not partitioned over ranks; boundaries do not matter
 * @param options  see spry_grid_options("fourier"): "type=c device=cuda"; NULL: type z, on the host
 * @param F        out; keeps what it needs of the grid
 */
SPRY_API spry_status spry_operator_fourier(const spry_grid *grid, const char *options,
                                           spry_operator **F);

/** Solves (laplace + k^2) u = f with one medium; used by one thread at a time. */
typedef struct spry_wave spry_wave;

/** Description of a wave solver. */
typedef struct spry_wave_info {
    size_t size;       /**< SPRY_WAVE_INFO_INIT */
    int64_t padded[3]; /**< points along each axis, absorbing layers included */
    int64_t layer[3];  /**< layer before the box, in points; the one behind is as wide or a little
                          wider */
    double centre;     /**< k0^2: the middle of the medium's real parts */
    double epsilon;    /**< the shift of the background into the complex; see docs/born.md */
    double per_wavelength; /**< points in the shortest wavelength, along the axis with the fewest */
    int64_t bytes;         /**< of its memory, where it works */
    int64_t solve_bytes;   /**< about, for a solve of one right-hand side, in addition */
    double farthest;       /**< largest |k^2 - k0^2|, layers included */
} spry_wave_info;
#define SPRY_WAVE_INFO_INIT SPRY_SIZED(spry_wave_info)

/**
 * Makes a solver of (laplace + k^2) u = f on a grid's points, with waves that leave through the
 * faces: outside of the box the medium continues as at the faces, in absorbing layers that the
 * solver adds internally. Periodic axes of the grid have no layers; other conditions at faces do
 * not matter. laplace is exact for all waves that the grid can represent, which needs two points
 * per wavelength or more (four or more to resolve the place of an edge of the medium).
 *
 * Outgoing waves are exp(i k r): a medium that absorbs has an imaginary part of k^2 above 0, none
 * may have one below. A plane wave or a beam u0 that comes from outside, with (laplace + kb^2) u0 =
 * 0, is brought in by f = -(k^2 - kb^2) u0, and u0 + u is the whole field.
 *
 * @param grid     one to three axes of equal intervals, not partitioned over ranks
 * @param k2       k^2, real or complex of any type: a field of the grid's unknowns, or of all its
 *                 points, or one element for all; on the host or a device. It is copied
 * @param options  see spry_grid_options("wave"): "tol=1e-6 layer=20 type=c device=cuda"; NULL: type
 *                 z, on the host
 * @param wave     out
 * @return SPRY_STATUS_BAD_INPUT where the medium amplifies, is not finite or too fine for the grid;
 * the message names the point
 */
SPRY_API spry_status spry_wave_new(const spry_grid *grid, const spry_vector *k2,
                                   const char *options, spry_wave **wave);
/** Frees a solver; NULL is allowed. */
SPRY_API void spry_wave_free(spry_wave *wave);
/** Another medium on the same grid, as for spry_wave_new(); the padded grid, the transforms and
 * their memory are kept. After a failure the solver has no medium until you set one. */
SPRY_API spry_status spry_wave_set_medium(spry_wave *wave, const spry_vector *k2);
/** Describes the solver. */
SPRY_API spry_status spry_wave_describe(const spry_wave *wave, spry_wave_info *info);

/**
 * Solves (laplace + k^2) u = f.
 *
 * @param wave    made by spry_wave_new()
 * @param f       a field of the grid's unknowns, of the solver's type, on the host or its device
 * @param u       out: the solution, or the last iterate, in a place that f may have; not read
 *                before
 * @param result  as for spry_solve(); true_residual is |f - (laplace + k^2) u| / |f| on the padded
 *                grid, with the spectral laplace. May be NULL
 * @return SPRY_STATUS_OK whenever the iteration ran: its outcome is in result
 */
SPRY_API spry_status spry_wave_solve(spry_wave *wave, const spry_vector *f, spry_vector *u,
                                     spry_result *result);
/**
 * The same for several right-hand sides, and for the transposed and the adjoint problem. The
 * discrete operator is complex symmetric, so that the transposed problem is the problem itself, and
 * the adjoint one, A^H v = g, is A conj(v) = conj(g): (u, g) = (f, v) holds as far as both were
 * solved.
 *
 * @param wave       made by spry_wave_new()
 * @param transpose  SPRY_TRANSPOSE_CONJUGATE: the adjoint problem; others: the problem itself
 * @param count      of right-hand sides; up to eight, limited by half of the free memory, are
 *                   solved together, each with the bits that it has alone
 * @param f          each as for spry_wave_solve()
 * @param u          out: a solution for each; u[k] may be f[k]
 * @param results    count of them, each initialised or cleared, all of one size; may be NULL
 */
SPRY_API spry_status spry_wave_solve_many(spry_wave *wave, spry_transpose transpose, int count,
                                          const spry_vector *const *f, spry_vector *const *u,
                                          spry_result *results);

SPRY_END

#endif
