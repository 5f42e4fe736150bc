/* What a preconditioner, or its factors, are forecast to take. */
#ifndef SPRY_DIRECT_FORECAST_H
#define SPRY_DIRECT_FORECAST_H

#include "base/machine.h"
#include "matrix/matrix.h"

/* In addition to what was begun of it. */
typedef struct precon_forecast {
    bool known;
    int64_t bytes;          /* that it keeps */
    int64_t work;           /* in addition, while it is made */
    int64_t reads;          /* bytes that an application reads; 0: not known */
    double seconds;         /* to make it on the host; of exact ones with a few solves */
    double device_products; /* with A: what making it on a device takes; 0: the host does */
} precon_forecast;

/* Seconds that factors and a few solves with them take on one core, as measured over real matrices.
 */
double direct_seconds(double flops, double entries, double fronts);
/* The same of sparse factors of A, square CSR with sorted rows, in the time of a dozen products
 * with it, before any ordering. */
spry_status direct_estimate(const spry_matrix *A, bool symmetric, double *seconds);

#endif
