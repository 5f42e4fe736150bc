/*
 * Layouts in a device's memory and their products: what operators on devices are made of. Programs
 * are made at the first product that needs them, one for each number of columns, and one more for
 * the conjugate of a complex matrix.
 */
#ifndef SPRY_DEVICE_LAYOUT_H
#define SPRY_DEVICE_LAYOUT_H

#include "formats/shared/device_formats.h"

/* Columns that share one reading of the matrix at most. */
enum { DEVICE_MOST_COLUMNS = 8, DEVICE_OPTIONS_SIZE = 96 };

/* y = alpha A x + beta y, or conj(A) in A's place; beta = 0 does not read y. Element (i, c) of
 * several columns is at i stride + c. */
typedef struct device_product {
    bool conjugate;
    int columns;
    spry_scalar alpha, beta;
    const device_memory *x;
    int64_t x_stride;
    device_memory *y;
    int64_t y_stride;
} device_product;

/* Copies L's arrays to the device. The result owns L, also when it fails. */
spry_status device_layout_new(spry_device *d, layout *L, device_layout **out);
/* What a maker (device_make.h) has made; its layout, arrays and carries are the result's then. */
spry_status device_layout_made(device_maker *m, device_layout **out);
/*
 * A layout that is on the device only while it is needed: its arrays stay on the host, in pinned
 * memory where there is enough of it. bring copies them to the device on a stream, which is ordered
 * after all earlier uses of the pool's memory; drop frees that memory for what follows the products
 * on the device's stream. The result owns L, also when it fails.
 */
spry_status device_layout_new_away(spry_device *d, layout *L, device_layout **out);
spry_status device_layout_load(device_layout *D, device_stream *s);
void device_layout_drop(device_layout *D);
void device_layout_free(device_layout *D);
const layout *device_layout_host(const device_layout *D);
spry_device *device_layout_device(const device_layout *D);
/* One of its arrays in the device's memory; NULL: there is none of that name. */
device_memory *device_layout_array(const device_layout *D, const char *name);
spry_status device_layout_multiply(device_layout *D, const device_product *p);
/* Sets up what the first product would, so that it takes no longer than later ones. */
spry_status device_layout_prepare(device_layout *D, const device_product *p);
/* See device_open_rows(). */
spry_status device_layout_rows(device_layout *D, bool conjugate, const char *prefix, int columns,
                               device_rows *rows);

/* The options to compile a program for products with. */
void device_layout_options(const layout *L, const device_form *form,
                           char options[DEVICE_OPTIONS_SIZE]);
/* Kernels of such a program: SpMV and SpMM of row formats, of unit formats, what units carry. */
#define DEVICE_ROWS_KERNEL "a_rows"
#define DEVICE_UNITS_KERNEL "a_units"
#define DEVICE_BEFORE_KERNEL "a_before"
#define DEVICE_CARRY_KERNEL "carry_add"

#endif
