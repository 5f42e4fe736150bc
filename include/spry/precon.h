/* Preconditioners: operators M that are about A^-1, by name and options. */
#ifndef SPRY_PRECON_H
#define SPRY_PRECON_H

#include <spry/operator.h>

SPRY_BEGIN

/**
 * Makes a preconditioner for A, which must stay alive and may be of another context than the
 * device: z = M r by spry_operator_apply(). A solver makes its own from precon=SPEC; this is for
 * those who want one by itself, or one for several solvers (spry_solver_set_precon).
 *
 * @param device  where it is to live; NULL: the host. One that has no device's side is made on the
 *                host all the same: spry_operator_device() tells.
 * @param spec    "ilu", "ilu:level=1", nested "amg:smoother=[sai:tau=0.9],coarse=direct"; "auto"
 *                chooses. SPRY_LIST_PRECONS has them all, docs/preconditioners.md tells more.
 * @param M       NULL for "none"
 * @return SPRY_STATUS_BAD_USAGE for a name or option that is not there, SPRY_STATUS_BAD_INPUT when
 * the matrix does not allow it (a zero pivot, a NaN; the message says where and what to try)
 */
SPRY_API spry_status spry_precon_new(const spry_matrix *A, spry_device *device, const char *spec,
                                     spry_operator **M);
/** The same where an operator of A is already: M is made there, from what is there where that will
 * do; A is NULL for operators that have no matrix: gmg of those on grids, jacobi of those that know
 * their diagonal. Both must stay alive. */
SPRY_API spry_status spry_precon_beside(const spry_operator *op, const spry_matrix *A,
                                        const char *spec, spry_operator **M);

SPRY_END

#endif
