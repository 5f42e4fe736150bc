/* A few steps with A before anything is chosen, and with a preconditioner before it is given up. */
#ifndef SPRY_PRECON_TRIAL_H
#define SPRY_PRECON_TRIAL_H

#include "precon/precon.h"

typedef struct precon_trial_result {
    double iterations; /* that a method scaled by the diagonal is likely to need; may be infinite */
    bool indefinite;   /* shown: (p, A p) < 0 by more than rounding */
} precon_trial_result;

/* A is CSR and has a diagonal without zeros; that of a hermitian one is positive. About a dozen
 * products, and the same result for any number of threads. */
spry_status precon_trial(const spry_matrix *A, bool hermitian, precon_trial_result *result);

/* What a dozen steps of a minimal residual method with M leave of a random residual, which is 1 at
 * first; fewer where rows are few, or where that is `enough`. A is CSR. */
spry_status precon_try(const spry_operator *M, const spry_matrix *A, double enough, double *left);

#endif
