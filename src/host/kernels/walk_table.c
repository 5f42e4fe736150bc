/* The table of all walks of one scalar type, kind of values and ISA level. */
#include "host/kernels/walk_kernel.h"

#define ENTRY(name) [WALK_##name] = {W(name##_multiply), W(name##_columns)},

extern const host_walk W(walks)[LAYOUT_WALK_COUNT];
#ifdef KERNEL_KIND_own
const host_walk W(walks)[LAYOUT_WALK_COUNT] = {LAYOUT_WALKS(ENTRY)};
#else
const host_walk W(walks)[LAYOUT_WALK_COUNT] = {LAYOUT_REDUCED_WALKS(ENTRY)};
#endif
