/* Local problems solved for whole preconditioners, and the patterns that they come from: see
 * problems.h. Across ranks each rank has its rows of all of these: see local_ranks.h. */
#ifndef SPRY_PRECON_LOCAL_H
#define SPRY_PRECON_LOCAL_H

#include "precon/inverse/problems.h"
#include "precon/precon.h"

/* Solves all of them with all threads; x does not depend on their number. */
spry_status local_solve(spry_context *ctx, spry_type type, const local_problems *p,
                        local_outcome *outcome);

/* --- patterns ------------------------------------------------------------------------------------
 */

#define LOCAL_PATTERN(item)                                                                  \
    item(REAL, tau, "1", 0, 1, NULL,                                                         \
         "entries (i, j) of A with |a_ij| > (1 - tau) max |a_i.| make the pattern, and the " \
         "diagonal; 1: all of them")                                                         \
    item(INT, power, "1", 1, 8, NULL, "pattern of that power of what tau leaves of A")       \
    item(INT, most, "256", 1, 100000, NULL, "entries of a row (column) of the pattern at most")

typedef struct local_pattern {
    double tau;
    int64_t power, most;
    bool transposed; /* of columns: the pattern's rows are columns of M */
    bool lower;      /* entries on and below the diagonal alone */
} local_pattern;

/* What tau leaves of A, and the diagonal, with weights if these are wanted. */
spry_status local_thin(const spry_matrix *A, double tau, bool weigh, spry_matrix **S);
/* Cuts rows in place to what is on and below the diagonal, where that is asked for, and to the
 * `most` heaviest entries, the diagonal among them. */
spry_status local_cut(spry_matrix *P, bool lower, int64_t most);
/* The pattern as a matrix of A's size, sorted, without values; T is A^T where that is known, or
 * NULL. */
spry_status local_pattern_make(const spry_matrix *A, const spry_matrix *T, const local_pattern *how,
                               spry_matrix **P);

/* --- inverses ------------------------------------------------------------------------------------
 */

/* The problems of B with a pattern; x and scale are set later. */
local_problems local_problems_of(const spry_matrix *B, const spry_matrix *P, local_kind kind);
/* The messages for a row whose diagonal entry is not positive, for factors; and of a row or (right)
 * column of the inverse that is not finite. */
spry_status local_not_positive(spry_context *ctx, int64_t row);
spry_status local_beyond(spry_context *ctx, const char *name, bool right, int64_t row,
                         spry_type type);
/* Their scales; fails for factors where a diagonal entry is not positive. */
spry_status local_scales(const spry_matrix *B, local_kind kind, void **scale);
/* Solves them: *X has new values, freed by the caller, and the pattern's own arrays. */
spry_status local_values(const spry_matrix *B, const spry_matrix *P, local_kind kind, double shift,
                         matrix_arrays *X, local_outcome *outcome);
/* *made is X with copies of the pattern's arrays; it has taken its values, also when it fails. */
spry_status local_own(spry_context *ctx, const matrix_arrays *X, matrix_arrays *made);

/* Whether a device computes values: not where they are stored in fewer bits, which the host does.
 */
bool local_is_on_device(const precon_job *job, spry_type type);
/* The operator of the inverse with a pattern, which it takes, of M or (right) of M^T; it keeps the
 * pattern for new values. T is A^T, which it takes, or NULL. */
spry_status local_inverse(const precon_job *job, const char *name, local_kind kind, bool right,
                          spry_matrix *pattern, spry_matrix *T, spry_operator **M);
/* The same from how the pattern is made, on the device if that can. */
spry_status local_inverse_from(const precon_job *job, const char *name, local_kind kind,
                               const local_pattern *how, spry_operator **M);
struct device_matrix;
/* The same from a matrix that is on the job's device, whose A is not looked at; *made is false
 * where only the host can. */
spry_status local_inverse_on_device(const precon_job *job, const struct device_matrix *A,
                                    const char *name, local_kind kind, const local_pattern *how,
                                    bool *made, spry_operator **M);

/* How patterns grow: see grow.h. */
typedef struct local_growth {
    local_kind kind;
    double eps, shift;
    int64_t steps, add, most;
} local_growth;

/* Grows a pattern in place; T is B^T, and not looked at for factors. */
spry_status local_grow(const spry_matrix *B, const spry_matrix *T, const local_growth *how,
                       spry_matrix *P);

#endif
