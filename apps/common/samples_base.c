/* What readers of samples share: faults, and lines of an axis that rise. */
#include "common/samples.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>

enum { TEXT_SIZE = 1024 };

spry_status app_samples_fail(const app_samples *s, int64_t line, int64_t column, const char *format,
                             ...)
{
    char text[TEXT_SIZE], place[64] = "";
    va_list arguments;
    if (line > 0)
        snprintf(place, sizeof place, ":%" PRId64 ":%" PRId64, line, column);
    const int begins = snprintf(text, sizeof text, "%.500s%s: ", s->path, place);
    va_start(arguments, format);
    (void)vsnprintf(text + begins, sizeof text - (size_t)begins, format, arguments);
    va_end(arguments);
    spry_context_set_message(s->ctx, text);
    return SPRY_STATUS_BAD_INPUT;
}

static void swap(double *a, double *b)
{
    const double kept = *a;
    *a = *b;
    *b = kept;
}

spry_status app_samples_sort(app_samples *s, int axis)
{
    const int64_t nx = s->axis[0].count, ny = s->axis[1].count, n = s->axis[axis].count;
    double *at = s->axis[axis].at;
    if (!at)
        return SPRY_STATUS_OK;
    if (n > 1 && at[0] > at[1]) {
        for (int64_t i = 0; i < n / 2; i++)
            swap(&at[i], &at[n - 1 - i]);
        for (int64_t j = 0; j < ny; j++)
            for (int64_t i = 0; i < nx; i++) {
                const int64_t other = axis == 0 ? j * nx + nx - 1 - i : (ny - 1 - j) * nx + i;
                if (other > j * nx + i)
                    swap(&s->value[j * nx + i], &s->value[other]);
            }
    }
    for (int64_t i = 0; i < n; i++)
        if (!isfinite(at[i]) || (i > 0 && !(at[i] > at[i - 1])))
            return app_samples_fail(s, 0, 0,
                                    "places along %s neither rise nor fall all the way: %g and %g",
                                    axis == 0 ? "x" : "y", at[i > 0 ? i - 1 : 0], at[i]);
    return SPRY_STATUS_OK;
}
