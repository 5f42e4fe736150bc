/* Numbers of 16 bits: every one there is, and rounding to nearest with ties to even. */
#include "support/support.h"

#include "formats/shared/reduced.h"

/* The value from the definition of the format. */
static double defined(uint32_t bits, int digits, int low)
{
    const uint32_t exponent = bits >> digits, rest = bits & ((1u << digits) - 1);
    return exponent == 0 ? ldexp(rest, low - digits)
                         : ldexp((1u << digits) + rest, (int)exponent - 1 + low - digits);
}

static void test_every_number(void **state)
{
    (void)state;
    for (uint32_t bits = 0; bits < 0x7c00; bits++) {
        const double value = (double)f16_value((f16){(uint16_t)bits});
        assert_true(value == defined(bits, 10, -14));
        assert_int_equal(f16_from(value).bits, bits);
        assert_int_equal(f16_from(-value).bits, bits | 0x8000);
        assert_true((double)f16_value((f16){(uint16_t)(bits | 0x8000)}) == -value);
        assert_true(f16_fits(value));
    }
    for (uint32_t bits = 0; bits < 0x7f80; bits++) {
        const double value = (double)bf16_value((bf16){(uint16_t)bits});
        assert_true(value == defined(bits, 7, -126));
        assert_int_equal(bf16_from(value).bits, bits);
        assert_int_equal(bf16_from(-value).bits, bits | 0x8000);
        assert_true(bf16_fits(value));
    }
}

/* Halfway between neighbours goes to the even one, a bit more or less to the nearer. */
static void test_rounding(void **state)
{
    (void)state;
    for (uint32_t bits = 0; bits + 1 < 0x7c00; bits++) {
        const double low = defined(bits, 10, -14), high = defined(bits + 1, 10, -14);
        const double middle = (low + high) / 2;
        assert_int_equal(f16_from(middle).bits, bits + bits % 2);
        assert_int_equal(f16_from(nextafter(middle, 0)).bits, bits);
        assert_int_equal(f16_from(nextafter(middle, 1e9)).bits, bits + 1);
    }
    for (uint32_t bits = 0; bits + 1 < 0x7f80; bits++) {
        const double low = defined(bits, 7, -126), high = defined(bits + 1, 7, -126);
        const double middle = (low + high) / 2;
        assert_int_equal(bf16_from(middle).bits, bits + bits % 2);
        assert_int_equal(bf16_from(nextafter(middle, 0)).bits, bits);
        assert_int_equal(bf16_from(nextafter(middle, 1e300)).bits, bits + 1);
    }
}

static void test_ends(void **state)
{
    (void)state;
    assert_true(f16_fits(65504) && f16_fits(-65519.99) && !f16_fits(65520) && !f16_fits(NAN));
    assert_false(f16_fits(-INFINITY));
    assert_int_equal(f16_from(65519.99).bits, 0x7bff);
    const double most = ldexp(255, 120), over = ldexp(511, 119); /* halfway past the largest */
    assert_true(bf16_fits(most) && !bf16_fits(over) && bf16_fits(nextafter(over, 0)));
    assert_false(bf16_fits(NAN) || bf16_fits(INFINITY));
    assert_int_equal(f16_from(0x1p-25).bits, 0); /* a tie with zero, which is even */
    assert_int_equal(f16_from(nextafter(0x1p-25, 1)).bits, 1);
    assert_int_equal(f16_from(5e-324).bits, 0);
    assert_int_equal(f16_from(-5e-324).bits, 0x8000);
    assert_int_equal(bf16_from(0x1p-134).bits, 0);
    assert_int_equal(bf16_from(nextafter(0x1p-134, 1)).bits, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_number),
        cmocka_unit_test(test_rounding),
        cmocka_unit_test(test_ends),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
