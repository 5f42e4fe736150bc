/* Which kernels for blocks of vectors a context uses. */
#include "program/blocks.h"

#include "isa_levels.h"

#define LEVEL_TABLES(isa)                                                            \
    extern const block_kernels host_blocks_table_s_##isa, host_blocks_table_d_##isa, \
        host_blocks_table_c_##isa, host_blocks_table_z_##isa;
SPRY_ISA_LEVELS(LEVEL_TABLES)

const block_kernels *block_kernels_for(const spry_context *ctx, spry_type type)
{
#define LEVEL_ROW(isa)                                                                   \
    {&host_blocks_table_s_##isa, &host_blocks_table_d_##isa, &host_blocks_table_c_##isa, \
     &host_blocks_table_z_##isa},
    static const block_kernels *const tables[][4] = {SPRY_ISA_LEVELS(LEVEL_ROW)};
    return tables[ctx->isa][type];
}
