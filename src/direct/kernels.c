/* Which kernels a context uses. */
#include "direct/kernels.h"

#include "isa_levels.h"

#define LEVEL_TABLES(isa)                                                          \
    extern const front_kernels host_front_table_s_##isa, host_front_table_d_##isa, \
        host_front_table_c_##isa, host_front_table_z_##isa;
SPRY_ISA_LEVELS(LEVEL_TABLES)

const front_kernels *front_kernels_for(const spry_context *ctx, spry_type type)
{
#define LEVEL_ROW(isa)                                                                \
    {&host_front_table_s_##isa, &host_front_table_d_##isa, &host_front_table_c_##isa, \
     &host_front_table_z_##isa},
    static const front_kernels *const tables[][4] = {SPRY_ISA_LEVELS(LEVEL_ROW)};
    return tables[ctx->isa][type];
}
