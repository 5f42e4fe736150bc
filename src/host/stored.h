/*
 * The operator of a storage format in two steps, of which the first may be done by another thread,
 * with a share of A in a context of its own (base/background.h).
 */
#ifndef SPRY_STORED_H
#define SPRY_STORED_H

#include "host/walk.h"

typedef struct host_stored {
    layout *L;
    bool scattered; /* see host_scattered() */
} host_stored;

/* What the operator stores. */
spry_status host_store(const spry_matrix *A, const char *spec, host_stored *stored);
/* The operator of A with that, which it takes, also where it fails: it is counted as memory of A's
 * context by then. */
spry_status host_stored_operator(const spry_matrix *A, const char *spec, host_stored *stored,
                                 spry_operator **op);

/* Whether any range of rows that begins and ends at multiples of OPERATOR_GRAIN is made of whole
 * units, which give nothing but these rows. */
static inline bool layout_by_rows(const layout *L)
{
    return L->unit_rows > 0 && OPERATOR_GRAIN % L->unit_rows == 0;
}

#endif
