/* Generated test matrices. */
#ifndef SPRY_GENERATE_H
#define SPRY_GENERATE_H

#include <spry/matrix.h>

SPRY_BEGIN

/**
 * Makes a matrix of a kind as general CSR with sorted rows.
 *
 * @param kind     "poisson3d" and so on; see SPRY_LIST_GENERATORS
 * @param options  "size=100 points=27 type=d seed=1 ..." ; spry_options_of("generate") has all, the
 *                 entry of a kind its own, the only ones it takes
 * @return SPRY_STATUS_BAD_USAGE also when the size makes more rows than 32-bit columns can number
 */
SPRY_API spry_status spry_generate(spry_context *ctx, const char *kind, const char *options,
                                   spry_matrix **A);

SPRY_END

#endif
