/* Preconditioners by name: one file each, one line in the registry. */
#ifndef SPRY_PRECON_INTERNAL_H
#define SPRY_PRECON_INTERNAL_H

#include "matrix/matrix.h"

/* Makes the preconditioner `spec` names ("none", "jacobi", "auto") for A. *M is NULL for none; name
 * and why (what was chosen and the reason, for people) are filled. A may be NULL when only an
 * operator is known. */
spry_status precon_make(spry_context *ctx, const spry_matrix *A, const char *spec,
                        spry_operator **M, char name[32], char why[160]);

#endif
