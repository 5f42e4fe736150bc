/* An operator that goes wrong at a certain call. */
#include "support/faulty.h"

#include <math.h>

spry_status faulty_difference(void *data, spry_transpose op, const void *in, void *out)
{
    faulty *f = data;
    const double *x = in;
    double *y = out;
    (void)op; /* symmetric */
    for (int64_t i = 0; i < f->n; i++)
        y[i] = 2.1 * x[i] - (i > 0 ? x[i - 1] : 0) - (i + 1 < f->n ? x[i + 1] : 0);
    f->calls++;
    if (f->calls < f->from || (f->once && f->calls > f->from))
        return SPRY_STATUS_OK;
    if (f->fail)
        return SPRY_STATUS_IO;
    y[f->n / 2] = NAN;
    return SPRY_STATUS_OK;
}
