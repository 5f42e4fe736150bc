/* Random numbers and the clock: what needs nothing else. */
#include "base/base.h"

#include <time.h>

double base_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

uint64_t base_random(uint64_t seed, uint64_t index)
{
    /* splitmix64: Steele, Lea, Flood, Fast splittable pseudorandom number generators, OOPSLA 2014.
     */
    uint64_t z = seed * UINT64_C(0xd1342543de82ef95) + (index + 1) * UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

double base_uniform(uint64_t seed, uint64_t index)
{
    return (double)(base_random(seed, index) >> 11) * 0x1p-53;
}
