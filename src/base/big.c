/* Small exact arithmetic on natural numbers, and the table of powers of five that is made with it.
 */
#include "base/number.h"

#include <pthread.h>
#include <string.h>

/* 5^13 is the largest power of five in a limb. */
enum { POWERS = POWER_MAX - POWER_MIN + 1, FIVES_IN_LIMB = 13, ROUNDED_UP = 27, TABLE_LIMBS = 40 };

static power table[POWERS];
static pthread_once_t table_once = PTHREAD_ONCE_INIT;

void base_big_set(big *b, uint64_t value)
{
    b->limb[0] = (uint32_t)value;
    b->limb[1] = (uint32_t)(value >> 32);
    b->count = b->limb[1] != 0 ? 2 : b->limb[0] != 0;
}

void base_big_multiply_add(big *b, uint32_t factor, uint32_t term)
{
    uint64_t carry = term;
    for (int i = 0; i < b->count; i++) {
        carry += (uint64_t)b->limb[i] * factor;
        b->limb[i] = (uint32_t)carry;
        carry >>= 32;
    }
    if (carry != 0 && b->count < BIG_LIMBS)
        b->limb[b->count++] = (uint32_t)carry;
}

void base_big_multiply_power_of_five(big *b, int exponent)
{
    for (; exponent >= FIVES_IN_LIMB; exponent -= FIVES_IN_LIMB)
        base_big_multiply_add(b, 1220703125, 0);
    for (; exponent > 0; exponent--)
        base_big_multiply_add(b, 5, 0);
}

void base_big_shift_left(big *b, int bits)
{
    const int limbs = bits / 32;
    base_big_multiply_add(b, (uint32_t)1 << bits % 32, 0);
    if (b->count == 0 || limbs == 0 || b->count + limbs > BIG_LIMBS)
        return;
    memmove(b->limb + limbs, b->limb, (size_t)b->count * sizeof b->limb[0]);
    memset(b->limb, 0, (size_t)limbs * sizeof b->limb[0]);
    b->count += limbs;
}

int base_big_compare(const big *a, const big *b)
{
    if (a->count != b->count)
        return a->count < b->count ? -1 : 1;
    for (int i = a->count - 1; i >= 0; i--)
        if (a->limb[i] != b->limb[i])
            return a->limb[i] < b->limb[i] ? -1 : 1;
    return 0;
}

static void divide_by_five(big *b)
{
    uint64_t rest = 0;
    for (int i = b->count - 1; i >= 0; i--) {
        rest = rest << 32 | b->limb[i];
        b->limb[i] = (uint32_t)(rest / 5);
        rest %= 5;
    }
    while (b->count > 0 && b->limb[b->count - 1] == 0)
        b->count--;
}

/* The 128 bits from the leading one on. */
static power leading_bits(const big *b)
{
    uint32_t top[5] = {0};
    for (int i = 0; i < 5 && i < b->count; i++)
        top[i] = b->limb[b->count - 1 - i];
    const int shift = __builtin_clz(top[0]);
    for (int i = 0; i < 4 && shift > 0; i++)
        top[i] = top[i] << shift | top[i + 1] >> (32 - shift);
    return (power){(uint64_t)top[0] << 32 | top[1], (uint64_t)top[2] << 32 | top[3]};
}

static void make_table(void)
{
    big b;
    base_big_set(&b, 1);
    for (int q = 0; q <= POWER_MAX; q++) {
        table[q - POWER_MIN] = leading_bits(&b);
        base_big_multiply_add(&b, 5, 0);
    }
    /* Cutting 2^n / 5^k off after each division is cutting it off once. */
    base_big_set(&b, 1);
    base_big_shift_left(&b, 32 * TABLE_LIMBS - 1);
    for (int q = -1; q >= POWER_MIN; q--) {
        divide_by_five(&b);
        power p = leading_bits(&b);
        if (q >= -ROUNDED_UP) {
            p.low++;
            p.high += p.low == 0;
        }
        table[q - POWER_MIN] = p;
    }
}

power base_power_of_five(int q)
{
    pthread_once(&table_once, make_table);
    return table[q - POWER_MIN];
}
