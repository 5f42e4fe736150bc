/* Matrices made to order. */
#ifndef SPRY_GENERATE_H
#define SPRY_GENERATE_H

#include <spry/matrix.h>

SPRY_BEGIN

/**
 * Makes a matrix of a kind as general CSR with sorted rows.
 *
 * @param kind     "poisson3d" and so on; see spry_generate_describe()
 * @param options  "size=100 points=27 type=d seed=1 ..." ; see spry_generate_options() for all and
 *                 spry_generate_reads() for those of a kind, the only ones it takes
 * @return SPRY_STATUS_BAD_USAGE also when the size makes more rows than 32-bit columns can number
 */
SPRY_API spry_status spry_generate(spry_context *ctx, const char *kind, const char *options,
                                   spry_matrix **A);
/**
 * Copies base along the diagonal, the last copy cut off, until there are size rows, and couples
 * neighbouring copies. The result is general CSR with sorted rows; symmetric, hermitian, positive
 * definite or diagonally dominant when base is.
 *
 * @param base  square; any format, one triangle stored or all
 */
SPRY_API spry_status spry_generate_tiled(const spry_matrix *base, int64_t size, spry_matrix **A);

/** The kinds there are: name and one line; false past the last. */
SPRY_API bool spry_generate_describe(int index, const char **name, const char **summary);
/** Whether a kind reads an option of spry_generate_options(); false for names that do not exist. */
SPRY_API bool spry_generate_reads(const char *kind, const char *option);

SPRY_END

#endif
