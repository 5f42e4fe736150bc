/* The table of all kernels of one scalar type and ISA level. */
#include "host/kernels/kernel.h"

#define ENTRY(result, name, arguments) .name = X(name),

extern const host_kernels X(table);
const host_kernels X(table) = {HOST_KERNELS(ENTRY)};
