/* Numbers: read as strtod reads them, and printed so that they read back. */
#include "fuzz.h"

#include <math.h>

enum { LONGEST = 4096 };

static bool same(double a, double b)
{
    return memcmp(&a, &b, sizeof a) == 0 || (isnan(a) && isnan(b));
}

/* What strtod takes and we do not, or the other way round: hexadecimal, nan(...), d as exponent
 * mark, blanks. */
static bool comparable(const char *text)
{
    return strpbrk(text, "xXdDnN( \t\n\v\f\r") == NULL;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char text[LONGEST + 1], shortest[33];
    double value = 0, again = 0;
    int64_t integer = 0;
    const size_t length = size < LONGEST ? size : LONGEST;
    memcpy(text, data, length);
    text[length] = '\0';
    const char *from = (const char *)data, *after = base_parse_double(from, from + length, &value);
    fuzz_require(!after || (after > from && after <= from + length));
    if (comparable(text)) {
        char *end = NULL;
        const double expected = strtod(text, &end);
        fuzz_require(after ? end - text == after - from && same(value, expected) : end == text);
    }
    if (after) {
        const int printed = io_print_double(shortest, value);
        fuzz_require(printed > 0 && printed <= 32);
        fuzz_require(base_parse_double(shortest, shortest + printed, &again) == shortest + printed);
        fuzz_require(same(value, again));
    }
    after = base_parse_int(from, from + length, &integer);
    fuzz_require(!after || (after > from && after <= from + length));
    return 0;
}
