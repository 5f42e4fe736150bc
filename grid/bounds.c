/* Which kernels for bounds a context uses. */
#include "grid/bounds.h"

#include "isa_levels.h"

#define LEVEL_TABLES(isa)                                                            \
    extern const bound_kernels host_bounds_table_s_##isa, host_bounds_table_d_##isa, \
        host_bounds_table_c_##isa, host_bounds_table_z_##isa;
SPRY_ISA_LEVELS(LEVEL_TABLES)

const bound_kernels *bound_kernels_for(const spry_context *ctx, spry_type type)
{
#define LEVEL_ROW(isa)                                                                   \
    {&host_bounds_table_s_##isa, &host_bounds_table_d_##isa, &host_bounds_table_c_##isa, \
     &host_bounds_table_z_##isa},
    static const bound_kernels *const tables[][4] = {SPRY_ISA_LEVELS(LEVEL_ROW)};
    return tables[ctx->isa][type];
}
