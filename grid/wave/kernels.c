/* Which kernels of Fourier transforms a context uses. */
#include "grid/wave/kernels.h"

#include "isa_levels.h"

#define LEVEL_TABLES(isa)                                                       \
    extern const wave_kernels host_wave_table_s_##isa, host_wave_table_d_##isa, \
        host_wave_table_c_##isa, host_wave_table_z_##isa;
SPRY_ISA_LEVELS(LEVEL_TABLES)

const wave_kernels *wave_kernels_for(const spry_context *ctx, spry_type type)
{
#define LEVEL_ROW(isa)                                                             \
    {&host_wave_table_s_##isa, &host_wave_table_d_##isa, &host_wave_table_c_##isa, \
     &host_wave_table_z_##isa},
    static const wave_kernels *const tables[][4] = {SPRY_ISA_LEVELS(LEVEL_ROW)};
    return tables[ctx->isa][type];
}
