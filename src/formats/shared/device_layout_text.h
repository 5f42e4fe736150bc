/* Pieces of texts, shared by device_layout_text.c and device_layout.c. */
#ifndef SPRY_DEVICE_LAYOUT_TEXT_H
#define SPRY_DEVICE_LAYOUT_TEXT_H

#include "formats/shared/device_layout.h"

/* The arrays a format's products read on a device; those with `aside` set were made for it. */
typedef struct device_arrays {
    spry_context *ctx;
    layout_array array[DEVICE_MOST_ARRAYS];
    int count;
} device_arrays;

spry_status device_arrays_open(const layout *L, device_arrays *a);
void device_arrays_close(device_arrays *a);

/* How L is used on d; the group is never 0. `packed`: rows of several columns of x are aligned as
 * if these were all there is. */
spry_status device_form_open(const spry_device *d, const layout *L, int columns, bool packed,
                             device_form *form);
/* The arguments of a format, as they are declared and as they are passed. */
void device_put_args(const device_arrays *a, const device_form *form, const char *prefix,
                     base_text *args, base_text *pass);
/* A format's text with all it is promised, followed by the text `kernel` unless that is NULL, and
 * the end of all macros. */
void device_put_format(base_text *t, const device_arrays *a, const device_form *form, int columns,
                       bool conjugate, const char *prefix, const char *kernel);

/* The whole text of a program for products; with a kernel for what units carry, where they do. */
spry_status device_program_text(const layout *L, const device_arrays *arrays,
                                const device_form *form, int columns, bool conjugate, bool carries,
                                char **text);

#endif
