/* What a kernel's text says of its arguments. */
#ifndef SPRY_DEVICE_SIGNATURE_H
#define SPRY_DEVICE_SIGNATURE_H

#include "device/engine/device.h"

enum { PARAMETER_NAME = 48, PARAMETER_SHOWN = 64 };

/* One argument, with the types of the dialect resolved for a scalar type. */
typedef struct kernel_parameter {
    char name[PARAMETER_NAME];
    char shown[PARAMETER_SHOWN]; /* "const scalar *" */
    bool pointer, constant;      /* constant: of what it points to */
    bool whole, has_sign;        /* integers */
    int size;                    /* bytes of one */
    spry_type type;              /* of those that are no integers */
} kernel_parameter;

/* The arguments of kernel `name`, from the context's memory. Fails where there is no such kernel,
 * or where an argument is none that both dialects have; messages name the line. */
spry_status signature_parse(spry_context *ctx, const char *text, const char *name, spry_type type,
                            kernel_parameter **parameters, int *count);
/* How many dimensions the words of a text go by: 1 to 3. */
int signature_dimensions(const char *text);
/* Whether a text is an identifier of C that fits into `size` bytes. */
bool signature_is_name(const char *text, size_t length, size_t size);

#endif
