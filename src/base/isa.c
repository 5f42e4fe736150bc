/* Which instruction sets this processor can run, of those the host kernels were compiled for. */
#include "base/base.h"

#include "isa_levels.h"

#define LEVEL_NAME(name) #name,
static const char *const names[] = {SPRY_ISA_LEVELS(LEVEL_NAME)};

int isa_count(void)
{
    return (int)(sizeof names / sizeof *names);
}

const char *isa_name(int level)
{
    return names[level];
}

/* A build may leave levels out (SPRY_ISA). */
#define LEVEL static __attribute__((unused)) bool

LEVEL usable_base(void)
{
    return true;
}

#if defined(__x86_64__)
/* What -march=haswell and -march=skylake-avx512 may use (cmake/SpryKernels.cmake). */
LEVEL usable_avx2(void)
{
    __builtin_cpu_init();
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
           __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2");
}

LEVEL usable_avx512(void)
{
    return usable_avx2() && __builtin_cpu_supports("avx512f") &&
           __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq") &&
           __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512cd");
}
#endif

bool isa_usable(int level)
{
#define LEVEL_TEST(name) usable_##name,
    static bool (*const tests[])(void) = {SPRY_ISA_LEVELS(LEVEL_TEST)};
    return tests[level]();
}
