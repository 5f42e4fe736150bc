/* Products by rows with packed columns: what operators of the host share. */
#ifndef SPRY_HOST_ROWS_H
#define SPRY_HOST_ROWS_H

#include "host/host.h"
#include "operator/operator.h"

/* The columns of a product that is run from row `first` on, x packed and each y by itself. */
static inline host_columns rows_columns(const operator_rows *rows, int64_t first, bool scattered,
                                        int packs, const void *x, int count, void *const *y)
{
    return (host_columns){.conjugate = rows->conjugate,
                          .alpha = {1, 0},
                          .x = x,
                          .x_stride = packs * HOST_PACK,
                          .scattered = scattered,
                          .packs = packs,
                          .count = count,
                          .y = y,
                          .y_stride = 1,
                          .first = first};
}

#endif
