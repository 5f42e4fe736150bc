/* Powers of five to 128 bits, shared by reading and printing of numbers; and the few big integers
 * behind them. */
#ifndef SPRY_BASE_NUMBER_H
#define SPRY_BASE_NUMBER_H

#include <stdbool.h>
#include <stdint.h>

__extension__ typedef unsigned __int128 uint128;

enum { POWER_MIN = -342, POWER_MAX = 324, POWER_DOUBLE_MAX = 308 };

/* floor(x / 2^bits), also of negative x. */
static inline int floor_shift(int64_t x, int bits)
{
    const int64_t unit = (int64_t)1 << bits;
    return (int)((x < 0 ? x - (unit - 1) : x) / unit);
}

/* The leading 128 bits of 5^q, the top one set: cut off, but rounded up for -27 <= q < 0, where
 * Eisel and Lemire's proof wants it so. Exact for 0 <= q <= 55. */
typedef struct power {
    uint64_t high, low;
} power;

/* The power for POWER_MIN <= q <= POWER_MAX, from a table made at the first call of any thread. */
power base_power_of_five(int q);

/* Natural numbers of up to BIG_LIMBS * 32 bits, enough for 810 decimal digits times 2^600 or
 * 5^1150. */
enum { BIG_LIMBS = 112 };
typedef struct big {
    uint32_t limb[BIG_LIMBS]; /* lowest first; none above count */
    int count;
} big;

void base_big_set(big *b, uint64_t value);
/* b = b * factor + term */
void base_big_multiply_add(big *b, uint32_t factor, uint32_t term);
void base_big_multiply_power_of_five(big *b, int exponent);
void base_big_shift_left(big *b, int bits);
int base_big_compare(const big *a, const big *b);

#endif
