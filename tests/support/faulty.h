/* The second difference as a caller's function that gives NaN, or fails, at a certain call. */
#ifndef SPRY_TESTS_FAULTY_H
#define SPRY_TESTS_FAULTY_H

#include "support/support.h"

typedef struct faulty {
    int64_t n;
    int calls, from; /* the first call that goes wrong, from 1 */
    bool fail;       /* it fails; else there is a NaN in its product */
    bool once;       /* the calls after it are right again */
} faulty;

/* A spry_apply_fn for spry_operator_from_function(), for double; symmetric. */
spry_status faulty_difference(void *data, spry_transpose op, const void *in, void *out);

#endif
