/* Numbers of any type: one at a time, and sign changes over whole arrays. */
#include "matrix/entries.h"

spry_scalar value_get(spry_type type, const void *values, int64_t k)
{
    return value_load(type, values, k);
}

const char *value_text(spry_type type, spry_scalar value, char text[VALUE_TEXT])
{
    if (spry_type_is_complex(type))
        snprintf(text, VALUE_TEXT, "%g%+gi", value.re, value.im);
    else
        snprintf(text, VALUE_TEXT, "%g", value.re);
    return text;
}

void value_set(spry_type type, void *values, int64_t k, spry_scalar value)
{
    value_store(type, values, k, value);
}
