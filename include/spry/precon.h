/* Preconditioners: operators M that approximate A^-1, by name and options. */
#ifndef SPRY_PRECON_H
#define SPRY_PRECON_H

#include <spry/operator.h>

SPRY_BEGIN

/**
 * Makes a preconditioner for A, which must stay alive and may be of another context than the
 * device: z = M r by spry_operator_apply(). A solver makes its own from precon=SPEC; use this for a
 * preconditioner by itself, or for one that several solvers share (spry_solver_set_precon).
 *
 * @param device  where it lives; NULL: the host. A kind without code for devices is made on the
 *                host: see spry_operator_device().
 * @param spec    "ilu", "ilu:level=1", nested "amg:smoother=[sai:tau=0.9],coarse=direct"; "auto"
 *                chooses. SPRY_LIST_PRECONS has them all; see docs/preconditioners.md.
 * @param M       NULL for "none"
 * @return SPRY_STATUS_BAD_USAGE for an unknown name or option, SPRY_STATUS_BAD_INPUT when the
 * matrix does not allow it (a zero pivot, a NaN; the message says where and what to try)
 */
SPRY_API spry_status spry_precon_new(const spry_matrix *A, spry_device *device, const char *spec,
                                     spry_operator **M);

SPRY_END

#endif
