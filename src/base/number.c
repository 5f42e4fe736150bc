/*
 * Reading numbers. A decimal w * 10^q with up to 19 digits in w becomes the nearest double by one
 * of:
 * - W. D. Clinger, "How to read floating point numbers accurately" (PLDI 1990): small w and q are
 *   exact doubles, so that one rounding of their product or quotient is the right one;
 * - D. Lemire, "Number parsing at a gigabyte per second" (Software: Practice and Experience 51,
 * 2021) after M. Eisel: w times 5^q to 128 bits; N. Mushtak and D. Lemire, "Fast number parsing
 * without fallback" (2023), show that this always decides. With more digits, w cut off and w + 1
 * bracket the number; when they round to different doubles, the digits are compared with the point
 * half way between in exact integers.
 */
#include "base/number.h"

#include "base/base.h"

#include <math.h>

enum {
    MANTISSA_BITS = 52,
    EXPONENT_BIAS = 1023,
    EXPONENT_INFINITE = 0x7ff,
    WORD_DIGITS = 19, /* decimal digits that always fit into 64 bits */
    EXACT_POWER = 22, /* 10^22 is the largest power of ten that is a double */
    /* A point half way between doubles has at most 767 digits; those after this many say only "and
       more". */
    LONG_DIGITS = 800
};
#define EXPONENT_CAP ((int64_t)1 << 60)

static const double power_of_ten[EXACT_POWER + 1] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                                     1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                                     1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};

/* The text of a number taken apart: digits[0..end) with at most one point among them, times
 * 10^exponent. */
typedef struct decimal {
    const char *digits, *end;
    int64_t exponent; /* of the last digit */
} decimal;

static bool is_digit(char c)
{
    return (unsigned char)(c - '0') < 10;
}

#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
/* Eight digits at once: each byte pair, then each pair of pairs, is joined by one multiplication.
 */
static bool eight_digits(const char *p, uint32_t *value)
{
    uint64_t bytes;
    memcpy(&bytes, p, sizeof bytes);
    const uint64_t low = bytes - 0x3030303030303030;
    const uint64_t above = low + 0x7676767676767676; /* sets the top bit of what is over 9 */
    if (((low | above) & 0x8080808080808080) != 0)
        return false;
    uint64_t pairs = low * 10 + (low >> 8);
    pairs = ((pairs & 0x000000ff000000ff) * (100 + ((uint64_t)1000000 << 32)) +
             (pairs >> 16 & 0x000000ff000000ff) * (1 + ((uint64_t)10000 << 32))) >>
            32;
    *value = (uint32_t)pairs;
    return true;
}
#else
static bool eight_digits(const char *p, uint32_t *value)
{
    (void)p, (void)value;
    return false;
}
#endif

/* Appends the digits at p to *word, which wraps when they are too many. */
static const char *scan_digits(const char *p, const char *end, uint64_t *word)
{
    uint64_t w = *word;
    uint32_t eight;
    while (end - p >= 8 && eight_digits(p, &eight)) {
        w = w * 100000000 + eight;
        p += 8;
    }
    for (; p < end && is_digit(*p); p++)
        w = w * 10 + (uint64_t)(*p - '0');
    *word = w;
    return p;
}

/* The exponent after e or d, or nothing when no digit follows. */
static const char *scan_exponent(const char *p, const char *end, int64_t *exponent)
{
    if (p == end || ((*p | 0x20) != 'e' && (*p | 0x20) != 'd'))
        return p;
    const char *mark = p++;
    const bool negative = p < end && *p == '-';
    if (p < end && (*p == '-' || *p == '+'))
        p++;
    if (p == end || !is_digit(*p))
        return mark;
    int64_t value = 0;
    for (; p < end && is_digit(*p); p++)
        if (value < EXPONENT_CAP / 16)
            value = value * 10 + (*p - '0');
    *exponent += negative ? -value : value;
    return p;
}

static double from_bits(uint64_t bits)
{
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* w * 5^q as a 128-bit product, the second half of the power taken in only when the first leaves
 * doubt. */
static uint128 product(uint64_t w, int q)
{
    const power p = base_power_of_five(q);
    const uint64_t doubtful = UINT64_MAX >> (MANTISSA_BITS + 3);
    uint128 result = (uint128)w * p.high;
    if (((uint64_t)(result >> 64) & doubtful) == doubtful)
        result += (uint64_t)((uint128)w * p.low >> 64);
    return result;
}

/* The bits of the double nearest to w * 10^q, ties to even: Eisel and Lemire. */
static uint64_t nearest(uint64_t w, int64_t q)
{
    if (w == 0 || q < POWER_MIN)
        return 0;
    if (q > POWER_DOUBLE_MAX)
        return (uint64_t)EXPONENT_INFINITE << MANTISSA_BITS;
    const int zeros = __builtin_clzll(w);
    const uint128 result = product(w << zeros, (int)q);
    const uint64_t high = (uint64_t)(result >> 64), low = (uint64_t)result;
    const int carry = (int)(high >> 63), cut = carry + 64 - MANTISSA_BITS - 3;
    uint64_t mantissa = high >> cut;
    /* 217706 / 65536 is log2(10) to the precision needed here. */
    int exponent = floor_shift(217706 * q, 16) + 63 + carry - zeros + EXPONENT_BIAS;
    if (exponent <= 0) {
        if (exponent <= -63)
            return 0;
        mantissa >>= 1 - exponent;
        mantissa = (mantissa + (mantissa & 1)) >> 1;
        return mantissa; /* a carry into the hidden bit is the smallest normal number, as it should
                          */
    }
    /* Half way, exactly: only possible where 5^q or 5^-q divides a 64-bit number. */
    if (low <= 1 && q >= -4 && q <= 23 && (mantissa & 3) == 1 && mantissa << cut == high)
        mantissa &= ~(uint64_t)1;
    mantissa = (mantissa + (mantissa & 1)) >> 1;
    if (mantissa >> (MANTISSA_BITS + 1) != 0) {
        mantissa >>= 1;
        exponent++;
    }
    if (exponent >= EXPONENT_INFINITE)
        return (uint64_t)EXPONENT_INFINITE << MANTISSA_BITS;
    return (uint64_t)exponent << MANTISSA_BITS | (mantissa & (((uint64_t)1 << MANTISSA_BITS) - 1));
}

/* The first of 800 digits or all of them as an integer; *exponent becomes that of its last digit.
 */
static void exact_digits(const decimal *d, big *b, int64_t *exponent)
{
    int kept = 0;
    int64_t dropped = 0;
    bool more = false;
    base_big_set(b, 0);
    for (const char *p = d->digits; p < d->end; p++) {
        if (*p == '.')
            continue;
        if (kept == LONG_DIGITS) {
            dropped++;
            more = more || *p != '0';
        } else {
            base_big_multiply_add(b, 10, (uint32_t)(*p - '0'));
            kept++;
        }
    }
    /* Anything beyond only has to differ from nothing. */
    base_big_multiply_add(b, 10, more);
    *exponent = d->exponent + dropped - 1;
}

/* Chooses between the double of the bits given and the next one up, by the number's exact place. */
static uint64_t choose(const decimal *d, uint64_t bits)
{
    big number, half;
    int64_t ten;
    exact_digits(d, &number, &ten);
    const int field = (int)(bits >> MANTISSA_BITS);
    uint64_t mantissa = bits & (((uint64_t)1 << MANTISSA_BITS) - 1);
    if (field > 0)
        mantissa |= (uint64_t)1 << MANTISSA_BITS;
    const int two = (field > 0 ? field : 1) - EXPONENT_BIAS - MANTISSA_BITS - 1;
    base_big_set(&half, 2 * mantissa + 1);
    base_big_multiply_power_of_five(ten < 0 ? &half : &number, (int)(ten < 0 ? -ten : ten));
    const int shift = (int)ten - two;
    base_big_shift_left(shift > 0 ? &number : &half, shift > 0 ? shift : -shift);
    const int order = base_big_compare(&number, &half);
    return bits + (order > 0 || (order == 0 && (bits & 1) != 0));
}

/* The bits of a number with any count of digits. */
static uint64_t long_number(decimal d)
{
    uint64_t w = 0;
    int64_t kept = 0, left = 0;
    while (d.digits < d.end && (*d.digits == '0' || *d.digits == '.'))
        d.digits++;
    for (const char *p = d.digits; p < d.end; p++) {
        if (*p == '.')
            continue;
        if (kept < WORD_DIGITS) {
            w = w * 10 + (uint64_t)(*p - '0');
            kept++;
        } else {
            left++;
        }
    }
    const uint64_t below = nearest(w, d.exponent + left);
    if (left == 0 || below == nearest(w + 1, d.exponent + left))
        return below;
    return choose(&d, below);
}

bool base_starts_with(const char *p, const char *end, const char *word)
{
    for (; *word; p++, word++) {
        const char lower = (char)(p < end && *p >= 'A' && *p <= 'Z' ? *p + ('a' - 'A') : 0);
        if (p == end || (*p != *word && lower != *word))
            return false;
    }
    return true;
}

static const char *parse_word(const char *p, const char *end, double *value)
{
    if (base_starts_with(p, end, "nan")) {
        *value = NAN;
        return p + 3;
    }
    *value = HUGE_VAL;
    if (base_starts_with(p, end, "infinity"))
        return p + 8;
    return base_starts_with(p, end, "inf") ? p + 3 : NULL;
}

const char *base_parse_double(const char *p, const char *end, double *value)
{
    const bool negative = p < end && *p == '-';
    if (p < end && (*p == '-' || *p == '+'))
        p++;
    uint64_t w = 0;
    decimal d = {.digits = p};
    p = scan_digits(p, end, &w);
    int64_t count = p - d.digits;
    if (p < end && *p == '.') {
        const char *fraction = ++p;
        p = scan_digits(p, end, &w);
        d.exponent = fraction - p;
        count += p - fraction;
    }
    double magnitude;
    if (count == 0) {
        p = parse_word(d.digits, end, &magnitude);
        if (!p)
            return NULL;
    } else {
        d.end = p;
        p = scan_exponent(p, end, &d.exponent);
        const int64_t q = d.exponent;
        if (count > WORD_DIGITS)
            magnitude = from_bits(long_number(d));
        else if (w >> (MANTISSA_BITS + 1) == 0 && q >= -EXACT_POWER && q <= EXACT_POWER)
            magnitude = q < 0 ? (double)w / power_of_ten[-q] : (double)w * power_of_ten[q];
        else
            magnitude = from_bits(nearest(w, q));
    }
    *value = negative ? -magnitude : magnitude;
    return p;
}

const char *base_parse_int(const char *p, const char *end, int64_t *value)
{
    const bool negative = p < end && *p == '-';
    if (p < end && (*p == '-' || *p == '+'))
        p++;
    while (end - p > 1 && *p == '0' && is_digit(p[1]))
        p++;
    uint64_t w = 0;
    const char *digits = p;
    p = scan_digits(p, end, &w);
    if (p == digits || p - digits > WORD_DIGITS || w > (uint64_t)INT64_MAX + negative)
        return NULL;
    *value = negative ? (int64_t)(0 - w) : (int64_t)w;
    return p;
}
