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
void base_print_double(double value, char text[32])
{
    for (int digits = 15; digits <= 17; digits++) {
        double back;
        snprintf(text, 32, "%.*g", digits, value);
        char *to = text;
        for (const char *from = text; *from; from++) {
            const bool point = !strchr("0123456789+-einfa", *from);
            if (!point || to == text || to[-1] != '.') /* a point may have several bytes */
                *to++ = point ? '.' : *from;
        }
        *to = '\0';
        if (base_parse_double(text, to, &back) == to && back == value)
            return;
    }
}

static void *field_of(void *fields, const spry_option *option)
{
    return (char *)fields + option->offset;
}

spry_status spry_options_set_real(spry_context *ctx, spry_option_list list, void *fields,
                                  const char *name, double value)
{
    SPRY_NEED(ctx, fields, name);
    const spry_option *option;
    char shown[32];
    spry_status status = options_find(ctx, list, name, &option);
    if (status != SPRY_STATUS_OK)
        return status;
    base_print_double(value, shown);
    const bool whole = option->kind == SPRY_OPTION_INT;
    if ((!whole && option->kind != SPRY_OPTION_REAL) || isnan(value) ||
        (whole && (!(fabs(value) < 9e18) || value != floor(value))))
        return mismatch(ctx, option, shown);
    status = options_check_bounds(ctx, option, value, shown);
    if (status != SPRY_STATUS_OK)
        return status;
    if (whole)
        *(int64_t *)field_of(fields, option) = (int64_t)value;
    else
        *(double *)field_of(fields, option) = value;
    return SPRY_STATUS_OK;
}

spry_status spry_options_set_int(spry_context *ctx, spry_option_list list, void *fields,
                                 const char *name, int64_t value)
{
    SPRY_NEED(ctx, fields, name);
    const spry_option *option;
    char shown[32];
    spry_status status = options_find(ctx, list, name, &option);
    if (status != SPRY_STATUS_OK)
        return status;
    snprintf(shown, sizeof shown, "%" PRId64, value);
    if (option->kind != SPRY_OPTION_INT && option->kind != SPRY_OPTION_REAL)
        return mismatch(ctx, option, shown);
    status = options_check_bounds(ctx, option, (double)value, shown);
    if (status != SPRY_STATUS_OK)
        return status;
    if (option->kind == SPRY_OPTION_INT)
        *(int64_t *)field_of(fields, option) = value;
    else
        *(double *)field_of(fields, option) = (double)value;
    return SPRY_STATUS_OK;
}

spry_status spry_options_set_bool(spry_context *ctx, spry_option_list list, void *fields,
                                  const char *name, bool value)
{
    SPRY_NEED(ctx, fields, name);
    const spry_option *option;
    const spry_status status = options_find(ctx, list, name, &option);
    if (status != SPRY_STATUS_OK)
        return status;
    if (option->kind != SPRY_OPTION_BOOL)
        return mismatch(ctx, option, value ? "yes (a bool)" : "no (a bool)");
    *(bool *)field_of(fields, option) = value;
    return SPRY_STATUS_OK;
}

/* The field of an option that must be of a kind; REAL also stands for INT. */
static spry_status find_field(spry_context *ctx, spry_option_list list, const void *fields,
                              const char *name, spry_option_kind kind, const spry_option **option,
                              const void **field)
{
    const spry_status status = options_find(ctx, list, name, option);
    *field = NULL;
    if (status != SPRY_STATUS_OK)
        return status;
    if ((*option)->kind != kind &&
        !(kind == SPRY_OPTION_REAL && (*option)->kind == SPRY_OPTION_INT))
        return SPRY_FAIL(ctx, SPRY_STATUS_BAD_USAGE, "%s holds %s, not %s", (*option)->name,
                         kind_names[(*option)->kind], kind_names[kind]);
    *field = (const char *)fields + (*option)->offset;
    return SPRY_STATUS_OK;
}

spry_status spry_options_get_real(spry_context *ctx, spry_option_list list, const void *fields,
                                  const char *name, double *value)
{
    SPRY_NEED(ctx, fields, name, value);
    const spry_option *option;
    const void *field;
    const spry_status status =
        find_field(ctx, list, fields, name, SPRY_OPTION_REAL, &option, &field);
    if (status == SPRY_STATUS_OK && field)
        *value = option->kind == SPRY_OPTION_INT ? (double)*(const int64_t *)field
                                                 : *(const double *)field;
    return status;
}

spry_status spry_options_get_int(spry_context *ctx, spry_option_list list, const void *fields,
                                 const char *name, int64_t *value)
{
    SPRY_NEED(ctx, fields, name, value);
    const spry_option *option;
    const void *field;
    const spry_status status =
        find_field(ctx, list, fields, name, SPRY_OPTION_INT, &option, &field);
    if (status == SPRY_STATUS_OK && field)
        *value = *(const int64_t *)field;
    return status;
}

spry_status spry_options_get_bool(spry_context *ctx, spry_option_list list, const void *fields,
                                  const char *name, bool *value)
{
    SPRY_NEED(ctx, fields, name, value);
    const spry_option *option;
    const void *field;
    const spry_status status =
        find_field(ctx, list, fields, name, SPRY_OPTION_BOOL, &option, &field);
    if (status == SPRY_STATUS_OK && field)
        *value = *(const bool *)field;
    return status;
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

spry_status spry_options_get_text(spry_context *ctx, spry_option_list list, const void *fields,
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
        base_print_double(*(const double *)field, number);
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
