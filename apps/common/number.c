/* Numbers as SPICE writes them. */
#include "common/expression.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

bool text_number(const char *word, double *value)
{
    static const struct {
        const char *name;
        double factor;
    } units[] = {{"meg", 1e6}, {"mil", 25.4e-6}, {"t", 1e12}, {"g", 1e9},   {"k", 1e3},
                 {"m", 1e-3},  {"u", 1e-6},      {"n", 1e-9}, {"p", 1e-12}, {"f", 1e-15}};
    char *after = NULL;
    /* strtod() also takes hexadecimal numbers, inf and nan */
    const char *digits = word + (*word == '+' || *word == '-');
    if (!isdigit((unsigned char)digits[*digits == '.']) || tolower((unsigned char)digits[1]) == 'x')
        return false;
    *value = strtod(word, &after);
    for (size_t k = 0; k < sizeof units / sizeof *units; k++)
        if (strncmp(after, units[k].name, strlen(units[k].name)) == 0) {
            *value *= units[k].factor;
            after += strlen(units[k].name);
            break;
        }
    while (isalpha((unsigned char)*after))
        after++; /* V, Hz, F */
    return *after == '\0' && isfinite(*value);
}
