/*
 * Printing numbers: the shortest decimal that reads back as the same number, the nearest to it
 * among those. R. Giulietti, "The Schubfach way to render doubles" (2020): the interval that rounds
 * to the number is scaled by a power of ten that leaves one or two candidates, found in 128-bit
 * arithmetic.
 */
#include "base/number.h"
#include "io/io.h"

#include <math.h>

enum { MAX_DIGITS = 17, FIXED_LOW = -5, FIXED_HIGH = 17 };

/* significand * 2^exponent, and how the number below it lies. */
typedef struct binary {
    uint64_t significand;
    int exponent;
    bool narrow_below; /* a power of two: the gap below is half the one above */
} binary;

typedef struct short_decimal {
    uint64_t digits;
    int exponent;
} short_decimal;

static const char two_digits[] = "0001020304050607080910111213141516171819"
                                 "2021222324252627282930313233343536373839"
                                 "4041424344454647484950515253545556575859"
                                 "6061626364656667686970717273747576777879"
                                 "8081828384858687888990919293949596979899";

/* The power rounded up when it is not exact, as Schubfach wants it. */
static power power_above(int q)
{
    power p = base_power_of_five(q);
    if (q < -27 || q > 55) {
        p.low++;
        p.high += p.low == 0;
    }
    return p;
}

/* g * c / 2^128, with the last bit set if anything was cut off. */
static uint64_t round_to_odd(power g, uint64_t c)
{
    const uint128 product = (uint128)g.high * c + (uint64_t)((uint128)g.low * c >> 64);
    return (uint64_t)(product >> 64) | ((uint64_t)product > 1);
}

static short_decimal shortest(binary b)
{
    const uint64_t c = b.significand;
    const int q = b.exponent;
    if (q <= 0 && q > -53 && (c & (((uint64_t)1 << -q) - 1)) == 0)
        return (short_decimal){c >> -q, 0};
    /* floor(log10(2^q)), or of 3/4 2^q below a narrow gap; then 2^h * 10^-k in [1, 16). */
    const int k = floor_shift(q * 1262611 - (b.narrow_below ? 524031 : 0), 22);
    const int h = q + floor_shift(-k * 1741647, 19) + 1;
    const power g = power_above(-k);
    const uint64_t middle = round_to_odd(g, 4 * c << h);
    const uint64_t odd = c & 1; /* an odd significand does not own the ends of its interval */
    const uint64_t low = round_to_odd(g, (4 * c - 2 + b.narrow_below) << h) + odd;
    const uint64_t high = round_to_odd(g, (4 * c + 2) << h) - odd;
    const uint64_t s = middle / 4;
    if (s >= 10) {
        const uint64_t tens = s / 10;
        const bool below = low <= 40 * tens, above = 40 * tens + 40 <= high;
        if (below != above)
            return (short_decimal){tens + above, k + 1};
    }
    const bool below = low <= 4 * s, above = 4 * s + 4 <= high;
    if (below != above)
        return (short_decimal){s + above, k};
    const uint64_t half = 4 * s + 2;
    return (short_decimal){s + (middle > half || (middle == half && (s & 1) != 0)), k};
}

/* The decimal digits of value, written to end before `end`; returns where they begin. */
static char *write_digits(char *end, uint64_t value)
{
    while (value >= 100) {
        end -= 2;
        memcpy(end, two_digits + 2 * (value % 100), 2);
        value /= 100;
    }
    if (value >= 10) {
        end -= 2;
        memcpy(end, two_digits + 2 * value, 2);
    } else {
        *--end = (char)('0' + value);
    }
    return end;
}

int io_print_int(char *out, int64_t value)
{
    char text[20], *end = text + sizeof text, *p = out;
    if (value < 0)
        *p++ = '-';
    const char *begin = write_digits(end, value < 0 ? 0 - (uint64_t)value : (uint64_t)value);
    memcpy(p, begin, (size_t)(end - begin));
    return (int)(p - out + (end - begin));
}

/* d.ddd * 10^scale as 123.45, 0.00123 or 1.23e-9, whatever is usual for the size. */
static char *layout(char *out, const char *digits, int count, int scale)
{
    if (scale >= FIXED_LOW && scale < 0) {
        memcpy(out, "0.0000", 6);
        out += 1 - scale;
        memcpy(out, digits, (size_t)count);
        return out + count;
    }
    const bool fixed = scale >= 0 && scale < FIXED_HIGH;
    const int whole = fixed ? scale + 1 : 1;
    for (int i = 0; i < whole; i++)
        *out++ = i < count ? digits[i] : '0';
    if (count > whole) {
        *out++ = '.';
        memcpy(out, digits + whole, (size_t)(count - whole));
        out += count - whole;
    }
    if (!fixed) {
        *out++ = 'e';
        out += io_print_int(out, scale);
    }
    return out;
}

static int print_word(char *out, double value)
{
    const char *word = isnan(value) ? "nan" : value < 0 ? "-inf" : "inf";
    const size_t length = strlen(word);
    memcpy(out, word, length);
    return (int)length;
}

/* Prints the magnitude b after a sign. */
static int print(char *out, bool negative, binary b)
{
    char text[20], *end = text + sizeof text, *p = out;
    if (negative)
        *p++ = '-';
    if (b.significand == 0) {
        *p++ = '0';
        return (int)(p - out);
    }
    short_decimal d = shortest(b);
    const char *digits = write_digits(end, d.digits);
    const int scale = d.exponent + (int)(end - digits) - 1;
    while (end - digits > 1 && end[-1] == '0')
        end--;
    p = layout(p, digits, (int)(end - digits), scale);
    return (int)(p - out);
}

int io_print_double(char *out, double value)
{
    uint64_t bits;
    if (!isfinite(value))
        return print_word(out, value);
    memcpy(&bits, &value, sizeof bits);
    const int field = (int)(bits >> 52 & 0x7ff);
    const uint64_t fraction = bits & (((uint64_t)1 << 52) - 1);
    const binary b = {.significand = field > 0 ? fraction | (uint64_t)1 << 52 : fraction,
                      .exponent = (field > 0 ? field : 1) - 1075,
                      .narrow_below = fraction == 0 && field > 1};
    return print(out, bits >> 63 != 0, b);
}

int io_print_float(char *out, float value)
{
    uint32_t bits;
    if (!isfinite(value))
        return print_word(out, value);
    memcpy(&bits, &value, sizeof bits);
    const int field = (int)(bits >> 23 & 0xff);
    const uint32_t fraction = bits & (((uint32_t)1 << 23) - 1);
    const binary b = {.significand = field > 0 ? fraction | (uint32_t)1 << 23 : fraction,
                      .exponent = (field > 0 ? field : 1) - 150,
                      .narrow_below = fraction == 0 && field > 1};
    return print(out, bits >> 31 != 0, b);
}
