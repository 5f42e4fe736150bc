/* Numbers: read exactly as the C library's strtod rounds them, printed as short as they can be. */
#include "support/support.h"

#include "base/base.h"
#include "io/io.h"

#include <math.h>
#include <stdlib.h>

enum { RANDOM = 40000, TEXT = 2048 };

static uint64_t bits_of(double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static double double_of(uint64_t bits)
{
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* Reads the text from a block that ends with it, and compares with strtod. */
static void reads_as_strtod(const char *text)
{
    const size_t length = strlen(text);
    char *exact = malloc(length);
    double value = 0;
    assert_non_null(exact);
    memcpy(exact, text, length);
    const char *after = base_parse_double(exact, exact + length, &value);
    if (after != exact + length || bits_of(value) != bits_of(strtod(text, NULL))) {
        print_error("%s is read as %a, not %a\n", text, value, strtod(text, NULL));
        fail();
    }
    free(exact);
}

static void random_numbers(void **state)
{
    (void)state;
    char text[TEXT];
    for (uint64_t i = 0; i < RANDOM; i++) {
        const double value = double_of(base_random(1, i));
        if (!isfinite(value))
            continue;
        /* From 1 digit, which is a short way off, to 21, which is past 19. */
        snprintf(text, sizeof text, "%.*e", (int)(i % 21), value);
        reads_as_strtod(text);
        snprintf(text, sizeof text, "%.17g", base_uniform(2, i));
        reads_as_strtod(text);
    }
}

/* The exact decimal of the point between two neighbours, with more and less digits behind it. */
static void half_way(double low)
{
    /* Long double has 64 bits or more, so that the middle is exact in it. */
    char text[TEXT];
    const double high = nextafter(low, INFINITY);
    const long double middle = (long double)low + ((long double)high - (long double)low) / 2;
    const int length = snprintf(text, sizeof text - 2, "%.1100Lf", middle);
    assert_true(length > 0 && length < TEXT - 2);
    reads_as_strtod(text);
    text[length] = '1';
    text[length + 1] = '\0';
    reads_as_strtod(text);
    /* The last digit that counts made smaller: a hair below the middle. */
    text[length] = '\0';
    char *p = text + length - 1;
    while (*p == '0')
        p--;
    if (*p != '.') {
        (*p)--;
        reads_as_strtod(text);
    }
}

static void half_way_points(void **state)
{
    (void)state;
    half_way(1);
    half_way(9007199254740992.0);
    half_way(1e22);
    half_way(4.9e-324);
    half_way(2.2250738585072009e-308);
    for (uint64_t i = 0; i < 300; i++)
        half_way(ldexp(1 + base_uniform(3, i), (int)(base_random(4, i) % 1800) - 1060));
}

static void special_numbers(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "0",
        "-0",
        "0.0e5",
        "+7",
        ".5",
        "5.",
        "1.e3",
        "1e400",
        "-1e400",
        "1e-400",
        "-1e-400",
        "1.7976931348623157e308",
        "1.7976931348623158e308",
        "1.7976931348623159e308",
        "4.9e-324",
        "2.4703282292062327e-324",
        "2.4703282292062328e-324",
        "2.2250738585072011e-308",
        "2.2250738585072014e-308",
        "9007199254740993",
        "9007199254740992.99999999999999999",
        "18446744073709551615",
        "18446744073709551616",
        "123456789012345678901234567890",
        "0.00000000000000000000000000000000000001234567890123",
        "1e99999999999999999999",
        "1e-99999999999999999999",
        "0e99999999999999999999",
        "1e23",
        "8.5e22",
        "7.2057594037927933e16",
        "6.631236846766476e-316",
        "3."
        "237883913302901289588352412501532174863037669423108059901297049552301970670676565786835742"
        "587799557860615776559838283435514391084153169252689190564396459577394618038928365305143463"
        "955100356696665629202017331344031730044369360205258345803431471660032699580731300954848363"
        "975548690010751530018881758184174569652173110473696022749934638425380623369774736560008997"
        "404060967498028389191878963968575439222206416981462690113342524002724385941651051293552601"
        "421155333430225237291523843322331326138431477823591142408800030775170625915670728657003151"
        "953664260769822494937951845801530895238439819708403389937873241463484205608000027270531106"
        "827387907791444918534771598750162812548862768493201518991668028251730299953143924168545708"
        "663913273994694463908672332763671875e-319"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        reads_as_strtod(texts[i]);
}

static void long_numbers(void **state)
{
    (void)state;
    static char text[20000];
    /* 1 with a tail far behind the digits that are kept. */
    snprintf(text, sizeof text, "9007199254740993.%0*d1", 15000, 0);
    reads_as_strtod(text);
    snprintf(text, sizeof text, "0.%0*d1e15001", 15000, 0);
    reads_as_strtod(text);
    memset(text, '9', 900);
    snprintf(text + 900, 100, "e-600");
    reads_as_strtod(text);
}

static void other_spellings(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        int length; /* -1: refused */
        double value;
    } cases[] = {{"1d3", 3, 1000},
                 {"1.5D+02 ", 7, 150},
                 {"1e", 1, 1},
                 {"1e+", 1, 1},
                 {"2e5x", 3, 2e5},
                 {"inf", 3, INFINITY},
                 {"-INF", 4, -INFINITY},
                 {"Infinity", 8, INFINITY},
                 {"infinit", 3, INFINITY},
                 {"", -1, 0},
                 {"-", -1, 0},
                 {".", -1, 0},
                 {"e5", -1, 0},
                 {"abc", -1, 0},
                 {"in", -1, 0},
                 {"0x10", 1, 0},
                 {"12345678", 8, 12345678},
                 {"1234567:", 7, 1234567},
                 {"1234567/", 7, 1234567},
                 {" 1", -1, 0}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *text = cases[i].text;
        double value = 0;
        const char *after = base_parse_double(text, text + strlen(text), &value);
        assert_int_equal(after ? after - text : -1, cases[i].length);
        if (after)
            assert_true(value == cases[i].value);
    }
    static const char not_a_number[] = "NaN";
    double value = 0;
    assert_ptr_equal(base_parse_double(not_a_number, not_a_number + 3, &value), not_a_number + 3);
    assert_true(isnan(value));
}

static void integers(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        int length;
        int64_t value;
    } cases[] = {{"0", 1, 0},
                 {"-1", 2, -1},
                 {"+12 ", 3, 12},
                 {"9223372036854775807", 19, INT64_MAX},
                 {"-9223372036854775808", 20, INT64_MIN},
                 {"9223372036854775808", -1, 0},
                 {"-9223372036854775809", -1, 0},
                 {"99999999999999999999999", -1, 0},
                 {"00000000000000000000000000042", 29, 42},
                 {"", -1, 0},
                 {"-", -1, 0},
                 {"x", -1, 0}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *text = cases[i].text;
        int64_t value = 0;
        const char *after = base_parse_int(text, text + strlen(text), &value);
        assert_int_equal(after ? after - text : -1, cases[i].length);
        if (after)
            assert_true(value == cases[i].value);
        if (after && cases[i].text[0] != '+' && cases[i].text[0] != '0') {
            char printed[32];
            assert_int_equal(io_print_int(printed, value), cases[i].length);
            assert_memory_equal(printed, text, (size_t)cases[i].length);
        }
    }
}

/* Significant digits of a printed number. */
static int digits_in(const char *text)
{
    char digits[64];
    int count = 0;
    for (; *text && *text != 'e'; text++)
        if (*text >= '0' && *text <= '9' && (count > 0 || *text != '0'))
            digits[count++] = *text;
    while (count > 1 && digits[count - 1] == '0')
        count--;
    return count;
}

/* The fewest digits of "%.*e" that read back as the value: what the shortest must match. */
static int fewest_digits(double value, bool single)
{
    char text[64];
    for (int n = 1;; n++) {
        snprintf(text, sizeof text, "%.*e", n - 1, value);
        if (single ? strtof(text, NULL) == (float)value : strtod(text, NULL) == value)
            return n;
    }
}

static void prints_shortest(double value)
{
    char text[33];
    const int length = io_print_double(text, value);
    assert_in_range(length, 1, 32);
    text[length] = '\0';
    assert_true(bits_of(strtod(text, NULL)) == bits_of(value));
    if (value != 0 && digits_in(text) > fewest_digits(value, false)) {
        print_error("%s is not the shortest for %a\n", text, value);
        fail();
    }
}

static void prints_shortest_float(float value)
{
    char text[33];
    double again = 0;
    const int length = io_print_float(text, value);
    assert_in_range(length, 1, 32);
    text[length] = '\0';
    assert_true(strtof(text, NULL) == value);
    assert_non_null(base_parse_double(text, text + length, &again));
    assert_true((float)again == value);
    if (value != 0)
        assert_true(digits_in(text) <= fewest_digits(value, true));
}

static void printing(void **state)
{
    (void)state;
    for (uint64_t i = 0; i < RANDOM / 4; i++) {
        const uint64_t bits = base_random(5, i);
        const uint32_t half = (uint32_t)bits;
        float single;
        memcpy(&single, &half, sizeof single);
        if (isfinite(double_of(bits)))
            prints_shortest(double_of(bits));
        if (isfinite(single))
            prints_shortest_float(single);
        prints_shortest((double)(bits % 100000) / 1000);
        prints_shortest((double)(int64_t)bits);
    }
    /* Powers of two, where the gap below is half the gap above; all of them. */
    for (int e = -1074; e <= 1023; e++)
        prints_shortest(ldexp(1, e));
    for (int e = -149; e <= 127; e++)
        prints_shortest_float(ldexpf(1, e));
}

static void printed_forms(void **state)
{
    (void)state;
    static const struct {
        double value;
        const char *text;
    } cases[] = {{0, "0"},
                 {-0.0, "-0"},
                 {1, "1"},
                 {-26, "-26"},
                 {0.1, "0.1"},
                 {123.456, "123.456"},
                 {0.00001, "0.00001"},
                 {0.0000012, "1.2e-6"},
                 {1e15, "1000000000000000"},
                 {1e16, "10000000000000000"},
                 {1e17, "1e17"},
                 {1.5e300, "1.5e300"},
                 {5e-324, "5e-324"},
                 {1.7976931348623157e308, "1.7976931348623157e308"},
                 {INFINITY, "inf"},
                 {-INFINITY, "-inf"},
                 {NAN, "nan"}};
    char text[33];
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        text[io_print_double(text, cases[i].value)] = '\0';
        assert_string_equal(text, cases[i].text);
    }
    text[io_print_float(text, 0.1F)] = '\0';
    assert_string_equal(text, "0.1");
    text[io_print_float(text, -INFINITY)] = '\0';
    assert_string_equal(text, "-inf");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_numbers),  cmocka_unit_test(half_way_points),
        cmocka_unit_test(special_numbers), cmocka_unit_test(long_numbers),
        cmocka_unit_test(other_spellings), cmocka_unit_test(integers),
        cmocka_unit_test(printing),        cmocka_unit_test(printed_forms),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
