/*
 * What a solve is expected to take on the host and on a device, from what this machine has shown:
 * a device notes how long it took to open, how fast it reads and how fast the bus is when it is
 * closed, in a file of the folder for what is remembered. No driver is loaded to forecast: that
 * alone takes longer than a small solve.
 */
#ifndef SPRY_DEVICE_FORECAST_H
#define SPRY_DEVICE_FORECAST_H

#include "device/engine/device.h"

/* Of one engine's first device. */
typedef struct device_pace {
    double start; /* seconds to open it, the driver's start included */
    double read;  /* bytes per second of its memory */
    double bus;   /* and of copies to it */
} device_pace;

/* What is remembered of this machine; what is not as usual. */
device_pace device_pace_recall(const char *engine);
/* Notes what an open device has shown, if that is anything new. */
void device_pace_remember(const spry_device *d);

/* Work of a solve: bytes of A, and products with it, vectors counted as such. */
typedef struct device_work_load {
    double bytes, products;
    bool open;     /* the device is: nothing has to start */
    bool compiled; /* programs are on disk */
} device_work_load;
/* Seconds on the device, by parts, and on the host with memory of such a bandwidth. */
typedef struct device_forecast {
    double start, compile, bus, work, all, host;
} device_forecast;
device_forecast device_forecast_make(const device_pace *pace, const device_work_load *load,
                                     double host_rate);
/* Whether programs were compiled on this machine before. */
bool device_forecast_compiled(void);

#endif
