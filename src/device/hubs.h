/*
 * Hub columns. A gather of one number brings 32 bytes from the cache that all work-items share,
 * and this is what bounds products with matrices whose columns are all over the place. Where few
 * columns have many of the entries, their elements of x, copied side by side before each product,
 * fit into the cache next to the work-items, if the others are kept out of it: entries of hubs cost
 * 12 bytes then, and not 44.
 *
 * A second array of columns has hubs by their names (~k, the k-th of them), others by their
 * numbers. Neither the entries nor the order of sums are others than without, so results are the
 * same bit by bit. Products with several columns of x do without: rows of x fill what is brought.
 *
 * The way there, in bytes per entry: 4 and an atomic for those of the sample (4 million at most),
 * then 8 and a gather, which is about what a product takes; per column 16. A product has 20 bytes
 * more for each hub, of which there are some thousand.
 */
#ifndef SPRY_DEVICE_HUBS_H
#define SPRY_DEVICE_HUBS_H

#include "device/device.h"

typedef struct device_hubs {
    int64_t count;          /* 0: there are none, and nothing else is here */
    device_memory *columns; /* int32_t, of all entries: names */
    device_memory *list;    /* int32_t: the columns that are hubs */
    device_memory *x;       /* their elements of x during a product */
    device_program *program;
} device_hubs;

/* The hubs of so many entries whose columns are an array of int32_t of the device; none where x is
 * small, where they would have few of the entries, or where there is no memory for them. */
spry_status device_hubs_find(spry_device *d, spry_type type, int64_t cols, int64_t entries,
                             const device_memory *columns, device_hubs *h);
/* Brings their elements of x. */
spry_status device_hubs_gather(const device_hubs *h, const device_memory *x);
void device_hubs_free(device_hubs *h);
/* The program of all this, as device_build() with no place for one does it, where it is likely. */
void device_hubs_foresee(spry_device *d, spry_type type, int64_t cols);

#endif
