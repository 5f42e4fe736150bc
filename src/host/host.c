/* Which kernels a context uses, and with how many threads. */
#include "host/walk.h"

#include "isa_levels.h"

#include <math.h>

#define LEVEL_TABLES(isa)                                                                 \
    extern const host_kernels host_table_s_##isa, host_table_d_##isa, host_table_c_##isa, \
        host_table_z_##isa;
SPRY_ISA_LEVELS(LEVEL_TABLES)

const host_kernels *host_kernels_for(const spry_context *ctx, spry_type type)
{
#define LEVEL_ROW(isa) \
    {&host_table_s_##isa, &host_table_d_##isa, &host_table_c_##isa, &host_table_z_##isa},
    static const host_kernels *const tables[][4] = {SPRY_ISA_LEVELS(LEVEL_ROW)};
    return tables[ctx->isa][type];
}

#define LEVEL_WALKS(isa)                                                               \
    extern const host_walk host_walks_s_own_##isa[], host_walks_c_own_##isa[],         \
        host_walks_d_own_##isa[], host_walks_d_f32_##isa[], host_walks_d_f16_##isa[],  \
        host_walks_d_bf16_##isa[], host_walks_z_own_##isa[], host_walks_z_f32_##isa[], \
        host_walks_z_f16_##isa[], host_walks_z_bf16_##isa[];
SPRY_ISA_LEVELS(LEVEL_WALKS)

const host_walk *host_walk_for(const layout *A)
{
#define WALK_ROW(isa)                                                         \
    {{host_walks_s_own_##isa},                                                \
     {host_walks_d_own_##isa, host_walks_d_f32_##isa, host_walks_d_f16_##isa, \
      host_walks_d_bf16_##isa},                                               \
     {host_walks_c_own_##isa},                                                \
     {host_walks_z_own_##isa, host_walks_z_f32_##isa, host_walks_z_f16_##isa, \
      host_walks_z_bf16_##isa}},
    static const host_walk *const tables[][4][STORED_KINDS] = {SPRY_ISA_LEVELS(WALK_ROW)};
    return &tables[A->ctx->isa][A->type][A->kind][A->class->walk];
}

/* To wake a team and to wait for it takes about as long as 3,000 numbers and 450 for each thread
 * (1 us + 0.15 us: bench/threads.sh): n / t + 450 t is least at the root. */
int host_threads(const spry_context *ctx, int64_t n)
{
    enum { SMALL = 16384, EACH = 450 };
    const int64_t most = spry_context_threads(ctx);
    const int64_t best = n < SMALL ? 1 : (int64_t)sqrt((double)n / EACH);
    return (int)(best < most ? best : most);
}
