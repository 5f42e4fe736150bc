/* Local problems of a matrix that is distributed over ranks: each solves those of its own rows,
 * with the rows of others that they need, and gets what one process would. Calls are collective. */
#ifndef SPRY_PRECON_LOCAL_RANKS_H
#define SPRY_PRECON_LOCAL_RANKS_H

#include "precon/inverse/local.h"
#include "ranks/frame.h"

/* This rank's rows of local_pattern_make()'s; T is A^T, which is needed for transposed ones. The
 * values mean nothing. */
spry_status local_pattern_ranks(const spry_matrix *A, const spry_matrix *T,
                                const local_pattern *how, ranks_rows *P);
/* As local_grow(), of factors. */
spry_status local_grow_ranks(const spry_matrix *B, const local_growth *how, ranks_rows *P);
/* As local_values(): X has the rows of P with values; outcome->bad is a row of all ranks'. */
spry_status local_values_ranks(const spry_matrix *B, const ranks_rows *P, local_kind kind,
                               double shift, ranks_rows *X, local_outcome *outcome);
/* As local_inverse_from(), of a distributed matrix. */
spry_status local_inverse_ranks(const precon_job *job, const char *name, local_kind kind,
                                const local_pattern *how, spry_operator **M);

#endif
