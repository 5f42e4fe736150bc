/* Matrices made to order. */
#ifndef SPRY_GENERATE_H
#define SPRY_GENERATE_H

#include <spry/matrix.h>

SPRY_BEGIN

/**
 * Makes a matrix of a kind as general CSR with sorted rows.
 *
 * @param kind     "poisson3d" and so on; see spry_generate_describe()
 * @param options  "size=100 points=27 type=d seed=1 ..." ; see spry_generate_options()
 */
SPRY_API spry_status spry_generate(spry_context *ctx, const char *kind, const char *options,
                                   spry_matrix **A);
/** base copied along the diagonal, with couplings between the copies, until there are size rows. */
SPRY_API spry_status spry_generate_tiled(const spry_matrix *base, int64_t size, spry_matrix **A);

/** The kinds there are: name and one line; false past the last. */
SPRY_API bool spry_generate_describe(int index, const char **name, const char **summary);

SPRY_END

#endif
