/* Which kernels a context uses. */
#include "precon/kernels.h"

#include "isa_levels.h"

#define LEVEL_TABLES(isa)                                                             \
    extern const precon_kernels host_precon_table_s_##isa, host_precon_table_d_##isa, \
        host_precon_table_c_##isa, host_precon_table_z_##isa;
SPRY_ISA_LEVELS(LEVEL_TABLES)

const precon_kernels *precon_kernels_for(const spry_context *ctx, spry_type type)
{
#define LEVEL_ROW(isa)                                                                   \
    {&host_precon_table_s_##isa, &host_precon_table_d_##isa, &host_precon_table_c_##isa, \
     &host_precon_table_z_##isa},
    static const precon_kernels *const tables[][4] = {SPRY_ISA_LEVELS(LEVEL_ROW)};
    return tables[ctx->isa][type];
}
