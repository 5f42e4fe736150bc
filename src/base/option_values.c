/* Options by type: numbers set and read without a way through text, and any option as text. */
#include "base/base.h"

#include <math.h>

/* What an option of a kind takes, and what a caller may have given instead. */
static const char *const kind_names[] = {
    [SPRY_OPTION_INT] = "a whole number", [SPRY_OPTION_REAL] = "a number",
    [SPRY_OPTION_BOOL] = "yes or no",     [SPRY_OPTION_WORD] = "a word",
    [SPRY_OPTION_TEXT] = "a text",        [SPRY_OPTION_PATH] = "a path",
};

static spry_status mismatch(spry_context *ctx, const spry_option *option, const char *given)
{
    if (option->kind == SPRY_OPTION_WORD)
        return SPRY_FAIL(ctx, SPRY_STATUS_BAD_USAGE, "%s takes a word of: %s; not %s", option->name,
                         option->words, given);
    return SPRY_FAIL(ctx, SPRY_STATUS_BAD_USAGE, "%s takes %s, not %s", option->name,
                     kind_names[option->kind], given);
}

/* The shortest of 15, 16 and 17 digits that reads back, with the point of the C locale. */
const char *spry_number_print(double value, char *text)
{
    if (!text)
        return "";
    for (int digits = 15; digits <= 17; digits++) {
        double back;
        snprintf(text, SPRY_NUMBER_SIZE, "%.*g", digits, value);
        char *to = text;
        for (const char *from = text; *from; from++) {
            const bool point = !strchr("0123456789+-einfa", *from);
            if (!point || to == text || to[-1] != '.') /* a point may have several bytes */
                *to++ = point ? '.' : *from;
        }
        *to = '\0';
        if (base_parse_double(text, to, &back) == to && back == value)
            break;
    }
    return text;
}

/* A number of the caller's: as a double and, where it is one, as a whole number. */
typedef struct given_number {
    double real;
    int64_t whole;
    bool is_whole;
    char shown[32];
} given_number;

static spry_status set_number(spry_context *ctx, spry_option_list list, void *fields,
                              const char *name, const given_number *n)
{
    const spry_option *option;
    const spry_status status = options_find(ctx, list, name, &option);
    if (status != SPRY_STATUS_OK)
        return status;
    if (option->kind == SPRY_OPTION_INT ? !n->is_whole
                                        : option->kind != SPRY_OPTION_REAL || isnan(n->real))
        return mismatch(ctx, option, n->shown);
    const spry_status put = options_put_number(ctx, option, (char *)fields + option->offset,
                                               n->real, n->whole, n->shown);
    if (put == SPRY_STATUS_OK)
        options_note(list, fields, name);
    return put;
}

spry_status options_set_real(spry_context *ctx, spry_option_list list, void *fields,
                             const char *name, double value)
{
    SPRY_NEED(ctx, fields, name);
    given_number n = {.real = value, .is_whole = fabs(value) < 9e18 && value == floor(value)};
    n.whole = n.is_whole ? (int64_t)value : 0;
    spry_number_print(value, n.shown);
    return set_number(ctx, list, fields, name, &n);
}

/* The field of an option that must be of a kind, into a value of that kind; REAL also stands for
 * INT. */
static spry_status get(spry_context *ctx, spry_option_list list, const void *fields,
                       const char *name, spry_option_kind kind, void *value)
{
    const spry_option *option;
    const spry_status status = options_find(ctx, list, name, &option);
    if (status != SPRY_STATUS_OK)
        return status;
    const void *field = (const char *)fields + option->offset;
    if (option->kind == kind)
        memcpy(value, field, options_field_size(kind));
    else if (kind == SPRY_OPTION_REAL && option->kind == SPRY_OPTION_INT)
        *(double *)value = (double)*(const int64_t *)field;
    else
        return SPRY_FAIL(ctx, SPRY_STATUS_BAD_USAGE, "%s holds %s, not %s", option->name,
                         kind_names[option->kind], kind_names[kind]);
    return SPRY_STATUS_OK;
}

spry_status options_get_real(spry_context *ctx, spry_option_list list, const void *fields,
                             const char *name, double *value)
{
    SPRY_NEED(ctx, fields, name, value);
    return get(ctx, list, fields, name, SPRY_OPTION_REAL, value);
}

/* The word of an index in a space-separated list, and its length. */
static const char *word_at(const char *words, int index, size_t *length)
{
    const char *word = words + strspn(words, " ");
    for (int k = 0; k < index; k++) {
        word += strcspn(word, " ");
        word += strspn(word, " ");
    }
    *length = strcspn(word, " ");
    return word;
}

spry_status options_get_text(spry_context *ctx, spry_option_list list, const void *fields,
                             const char *name, char *text, size_t size)
{
    SPRY_NEED(ctx, fields, name, text);
    const spry_option *option;
    const spry_status status = options_find(ctx, list, name, &option);
    if (status != SPRY_STATUS_OK)
        return status;
    const void *field = (const char *)fields + option->offset;
    char number[32];
    const char *shown = number;
    size_t length = SIZE_MAX;
    switch (option->kind) {
    case SPRY_OPTION_INT:
        snprintf(number, sizeof number, "%" PRId64, *(const int64_t *)field);
        break;
    case SPRY_OPTION_REAL:
        spry_number_print(*(const double *)field, number);
        break;
    case SPRY_OPTION_BOOL:
        shown = *(const bool *)field ? "yes" : "no";
        break;
    case SPRY_OPTION_WORD:
        shown = word_at(option->words, *(const int *)field, &length);
        break;
    case SPRY_OPTION_TEXT:
        shown = field;
        break;
    case SPRY_OPTION_PATH:
        shown = *(const char *const *)field ? *(const char *const *)field : "";
        break;
    }
    length = length == SIZE_MAX ? strlen(shown) : length;
    if (length >= size)
        return SPRY_FAIL(ctx, SPRY_STATUS_BAD_USAGE,
                         "%s is a text of %zu characters, which %zu cannot hold with its zero",
                         option->name, length, size);
    memcpy(text, shown, length);
    text[length] = '\0';
    return SPRY_STATUS_OK;
}
