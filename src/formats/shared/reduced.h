/*
 * Numbers of 16 bits: f16 (IEEE 754 binary16: 10 bits after the point, exponents from -14) and bf16
 * (the upper half of a float: 7 bits, exponents from -126). Rounded to nearest, ties to even, from
 * the double itself, so that nothing is rounded twice. Infinities and NaN are not stored.
 */
#ifndef SPRY_REDUCED_H
#define SPRY_REDUCED_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

typedef struct f16 {
    uint16_t bits;
} f16;
typedef struct bf16 {
    uint16_t bits;
} bf16;

/* A finite number with `digits` bits after the point and exponents from `low`; what is too large
 * gets an exponent past the largest. */
static inline uint32_t reduced_round(double value, int digits, int low)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    const int exponent = (int)(bits >> 52 & 0x7ff) - 1023;
    const int shift = 52 - digits + (exponent < low ? low - exponent : 0);
    if (shift > 54) /* less than half of the least number */
        return 0;
    const uint64_t whole = (bits & 0xfffffffffffff) | (uint64_t)(exponent > -1023) << 52;
    const uint64_t half = ((uint64_t)1 << (shift - 1)) - 1 + (whole >> shift & 1);
    return (uint32_t)((whole + half) >> shift) +
           ((uint32_t)((exponent < low ? low : exponent) - low) << digits);
}

static inline f16 f16_from(double value)
{
    const uint32_t sign = signbit(value) ? 0x8000 : 0;
    return (f16){(uint16_t)(sign | reduced_round(fabs(value), 10, -14))};
}
static inline bool f16_fits(double value)
{
    return isfinite(value) && fabs(value) < 65520;
}
static inline bf16 bf16_from(double value)
{
    const uint32_t sign = signbit(value) ? 0x8000 : 0;
    return (bf16){(uint16_t)(sign | reduced_round(fabs(value), 7, -126))};
}
static inline bool bf16_fits(double value)
{
    return isfinite(value) && reduced_round(fabs(value), 7, -126) < 0x7f80;
}

static inline float reduced_float(uint32_t bits)
{
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}
/* The bits moved to a float's places have an exponent that is 112 too small, also of numbers below
 * the least normal one; the product is exact. */
static inline float f16_value(f16 h)
{
    const uint32_t sign = (uint32_t)(h.bits & 0x8000) << 16;
    return reduced_float(sign | (uint32_t)(h.bits & 0x7fff) << 13) * 0x1p112f;
}
static inline float bf16_value(bf16 h)
{
    return reduced_float((uint32_t)h.bits << 16);
}

#endif
