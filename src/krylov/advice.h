/* Whether the commands that findings name help. */
#ifndef SPRY_KRYLOV_ADVICE_H
#define SPRY_KRYLOV_ADVICE_H

#include "doctor/doctor.h"

/* Tries the commands of findings about a solve of A x = b that has failed, as far as they take less
 * time than that did, and the doctor's: those that help have the residual they came to as figure
 * next_residual, and those that do not are taken back. Others stay as they are. */
spry_status advice_try(doctor *d, const spry_vector *b, const spry_result *failed);

#endif
