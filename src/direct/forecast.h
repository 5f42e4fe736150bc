/* What a preconditioner, or its factors, are forecast to take. */
#ifndef SPRY_DIRECT_FORECAST_H
#define SPRY_DIRECT_FORECAST_H

#include <stdbool.h>
#include <stdint.h>

/* In addition to what was begun of it. */
typedef struct precon_forecast {
    bool known;
    int64_t bytes;          /* that it keeps */
    int64_t work;           /* in addition, while it is made */
    int64_t reads;          /* bytes that an application reads; 0: not known */
    double seconds;         /* to make it on the host; of exact ones with a few solves */
    double device_products; /* with A: what making it on a device takes; 0: the host does */
} precon_forecast;

#endif
