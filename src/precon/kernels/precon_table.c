/* The table of all kernels of preconditioners of one scalar type and ISA level. */
#include "precon/kernels/kernel.h"

#define ENTRY(result, name, arguments) .name = X(name),

extern const precon_kernels X(precon_table);
const precon_kernels X(precon_table) = {PRECON_KERNELS(ENTRY)};
