/* The table of all kernels of sparse factors of one scalar type and ISA level. */
#include "direct/kernels/kernel.h"

#define ENTRY(result, name, arguments) .name = X(name),

extern const front_kernels X(front_table);
const front_kernels X(front_table) = {FRONT_KERNELS(ENTRY)};
