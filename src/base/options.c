/* Options from one list: defaults, parsing, bounds, and the nearest word for what is misspelt. */
#include "base/base.h"

#include <math.h>

enum { WORD_SIZE = 64 };

static char fold(char c)
{
    return c == '_' ? '-' : c >= 'A' && c <= 'Z' ? (char)(c + ('a' - 'A')) : c;
}

static bool same_name(const char *a, const char *b)
{
    while (*a && *b && fold(*a) == fold(*b))
        a++, b++;
    return *a == *b;
}

/* Levenshtein's distance, over the first WORD_SIZE - 1 characters. */
static int distance(const char *a, const char *b)
{
    int row[WORD_SIZE];
    int length = (int)strnlen(b, WORD_SIZE - 1);
    for (int j = 0; j <= length; j++)
        row[j] = j;
    for (int i = 0; i < WORD_SIZE - 1 && a[i]; i++) {
        int diagonal = row[0];
        row[0] = i + 1;
        for (int j = 0; j < length; j++) {
            int change = diagonal + (fold(a[i]) != fold(b[j]));
            int least = row[j] < row[j + 1] ? row[j] + 1 : row[j + 1] + 1;
            diagonal = row[j + 1];
            row[j + 1] = change < least ? change : least;
        }
    }
    return row[length];
}

/* The next word of a space-separated list into `word`; NULL at its end. */
static const char *next_word(const char *words, char word[WORD_SIZE])
{
    while (*words == ' ')
        words++;
    if (!*words)
        return NULL;
    const size_t length = strcspn(words, " ");
    const size_t kept = length < WORD_SIZE ? length : WORD_SIZE - 1;
    memcpy(word, words, kept);
    word[kept] = '\0';
    return words + length;
}

bool spry_nearest(const char *word, const char *words, char *nearest, size_t size)
{
    if (!word || !words || !nearest)
        return false;
    char candidate[WORD_SIZE];
    int best = 1 + (int)strlen(word) / 3; /* one slip in three letters, and one more */
    bool found = false;
    for (const char *p = words; (p = next_word(p, candidate));) {
        int d = distance(word, candidate);
        /* An abbreviation is as good as one slip. */
        if (strlen(word) >= 2 && strncmp(word, candidate, strlen(word)) == 0)
            d = d < 1 ? d : 1;
        if (d < best || (d == best && !found)) {
            best = d;
            found = true;
            snprintf(nearest, size, "%s", candidate);
        }
    }
    return found;
}

static const base_sized row_sized = BASE_SIZED(spry_option, help);

const spry_option *spry_options_at(spry_option_list list, int index)
{
    const size_t row = list.row_size ? list.row_size : row_sized.first;
    if (!list.options || index < 0 || index >= list.count)
        return NULL;
    return (const spry_option *)(const void *)((const char *)list.options + (size_t)index * row);
}

size_t options_field_size(spry_option_kind kind)
{
    static const size_t sizes[] = {
        [SPRY_OPTION_INT] = sizeof(spry_field_INT),   [SPRY_OPTION_REAL] = sizeof(spry_field_REAL),
        [SPRY_OPTION_BOOL] = sizeof(spry_field_BOOL), [SPRY_OPTION_WORD] = sizeof(spry_field_WORD),
        [SPRY_OPTION_TEXT] = sizeof(spry_field_TEXT), [SPRY_OPTION_PATH] = sizeof(spry_field_PATH),
    };
    return sizes[kind];
}

size_t spry_options_size(spry_option_list list)
{
    size_t size = 0;
    const spry_option *option;
    for (int i = 0; (option = spry_options_at(list, i)); i++) {
        const size_t end = option->offset + options_field_size(option->kind);
        size = end > size ? end : size;
    }
    const size_t given = list.given ? list.given + sizeof(spry_given) : 0;
    return given > size ? given : size;
}

/* A row with 0 for what a table of an earlier version does not have. */
static spry_option whole_row(spry_option_list list, const spry_option *row)
{
    const size_t size = list.row_size ? list.row_size : row_sized.first;
    spry_option whole = {0};
    memcpy(&whole, row, size < sizeof whole ? size : sizeof whole);
    return whole;
}

const spry_option *spry_options_find(spry_option_list list, const char *name)
{
    const spry_option *option;
    for (int i = 0; name && (option = spry_options_at(list, i)); i++)
        if (same_name(option->name, name))
            return option;
    return NULL;
}

/* The bit of a name in the struct's bookkeeping, and the word it is in; NULL: there is none. */
static int64_t *given_word(spry_option_list list, const void *fields, const char *name,
                           int64_t *bit)
{
    const spry_option *option;
    for (int i = 0; list.given && i < SPRY_OPTION_MOST && (option = spry_options_at(list, i)); i++)
        if (same_name(option->name, name)) {
            *bit = (int64_t)(UINT64_C(1) << i % 64);
            return ((spry_given *)(void *)((char *)fields + list.given))->bits + i / 64;
        }
    return NULL;
}

void options_note(spry_option_list list, void *fields, const char *name)
{
    int64_t bit, *word = given_word(list, fields, name, &bit);
    if (word)
        *word |= bit;
}

bool options_given(spry_option_list list, const void *fields, const char *name)
{
    int64_t bit, *word = given_word(list, fields, name, &bit);
    return word && (*word & bit);
}

int base_find_word(const char *words, const char *word)
{
    char candidate[WORD_SIZE];
    int index = 0;
    for (const char *p = words; (p = next_word(p, candidate)); index++)
        if (same_name(candidate, word))
            return index;
    return -1;
}

spry_status base_unknown_word(spry_context *ctx, const char *what, const char *word,
                              const char *words)
{
    char nearest[WORD_SIZE];
    if (spry_nearest(word, words, nearest, sizeof nearest))
        return SPRY_FAIL(ctx, SPRY_STATUS_BAD_USAGE,
                         "%s %.64s is unknown; did you mean %s? There are: %.600s", what, word,
                         nearest, words);
    return SPRY_FAIL(ctx, SPRY_STATUS_BAD_USAGE, "%s %.64s is unknown; there are: %.600s", what,
                     word, words);
}

void base_add_word(char *words, size_t size, const char *word)
{
    size_t used = strlen(words);
    snprintf(words + used, size - used, "%s%s", used ? " " : "", word);
}

static spry_status unknown_option(spry_context *ctx, spry_option_list list, const char *name)
{
    char names[2048] = "", shown[WORD_SIZE];
    for (int i = 0; i < list.count; i++) {
        snprintf(shown, sizeof shown, "%s", spry_options_at(list, i)->name);
        for (char *c = shown; *c; c++)
            *c = fold(*c);
        base_add_word(names, sizeof names, shown);
    }
    return base_unknown_word(ctx, "option", name, names);
}

spry_status options_find(spry_context *ctx, spry_option_list list, const char *name,
                         const spry_option **option)
{
    *option = name ? spry_options_find(list, name) : NULL;
    return *option ? SPRY_STATUS_OK : unknown_option(ctx, list, name ? name : "NULL");
}

spry_status options_put_number(spry_context *ctx, const spry_option *option, void *field,
                               double real, int64_t whole, const char *shown)
{
    const bool bounded = option->low != 0 || option->high != 0;
    const double number = option->kind == SPRY_OPTION_INT ? (double)whole : real;
    if (bounded && !(number >= option->low && number <= option->high))
        return SPRY_FAIL(ctx, SPRY_STATUS_BAD_USAGE, "%s=%.64s is outside %g..%g", option->name,
                         shown, option->low, option->high);
    if (option->kind == SPRY_OPTION_INT)
        *(int64_t *)field = whole;
    else
        *(double *)field = real;
    return SPRY_STATUS_OK;
}

/* The number of a k, M or G that ends a text, which loses it; else 1. */
static int64_t take_unit(const char *text, const char **end)
{
    static const char letters[] = "kKMG";
    static const int64_t units[] = {1000, 1000, 1000000, 1000000000};
    const char *letter = *end > text ? strchr(letters, (*end)[-1]) : NULL;
    *end -= letter != NULL;
    return letter ? units[letter - letters] : 1;
}

/* A whole number, also as 1e6 or with a k (K), M or G; false when the text is not one that fits. */
static bool parse_integer(const char *text, int64_t *integer)
{
    const char *end = text + strlen(text);
    const int64_t unit = take_unit(text, &end);
    if (base_parse_int(text, end, integer) == end)
        return !__builtin_mul_overflow(*integer, unit, integer);
    double number;
    if (unit > 1 || base_parse_double(text, end, &number) != end || !(fabs(number) < 9e18) ||
        number != floor(number))
        return false;
    *integer = (int64_t)number;
    return true;
}

static bool parse_real(const char *text, double *number)
{
    const char *end = text + strlen(text);
    return base_parse_double(text, end, number) == end && !isnan(*number);
}

static spry_status set_number(spry_context *ctx, const spry_option *option, void *field,
                              const char *value)
{
    double number = 0;
    int64_t integer = 0;
    bool whole = option->kind == SPRY_OPTION_INT;
    if (strchr(value, ',') && value[strspn(value, "+-0123456789,.eE")] == '\0')
        return SPRY_FAIL(ctx, SPRY_STATUS_BAD_USAGE,
                         "%s=%.64s: numbers have a point, whatever the locale", option->name,
                         value);
    if (whole ? !parse_integer(value, &integer) : !parse_real(value, &number))
        return SPRY_FAIL(ctx, SPRY_STATUS_BAD_USAGE, "%s=%.64s is not a %s", option->name, value,
                         whole ? "whole number" : "number");
    return options_put_number(ctx, option, field, number, integer, value);
}

static spry_status set_bool(spry_context *ctx, const spry_option *option, bool *field,
                            const char *value)
{
    static const char *const yes[] = {"yes", "true", "on", "1"};
    static const char *const no[] = {"no", "false", "off", "0"};
    for (int i = 0; i < 4; i++) {
        if (same_name(value, yes[i]) || same_name(value, no[i])) {
            *field = same_name(value, yes[i]);
            return SPRY_STATUS_OK;
        }
    }
    return SPRY_FAIL(ctx, SPRY_STATUS_BAD_USAGE, "%s=%.64s is neither yes nor no", option->name,
                     value);
}

static spry_status set_word(spry_context *ctx, const spry_option *option, int *field,
                            const char *value)
{
    const int index = base_find_word(option->words, value);
    if (index < 0)
        return base_unknown_word(ctx, option->name, value, option->words);
    *field = index;
    return SPRY_STATUS_OK;
}

static spry_status set_field(spry_context *ctx, const spry_option *option, void *fields,
                             const char *value)
{
    void *field = (char *)fields + option->offset;
    switch (option->kind) {
    case SPRY_OPTION_INT:
    case SPRY_OPTION_REAL:
        return set_number(ctx, option, field, value);
    case SPRY_OPTION_BOOL:
        return set_bool(ctx, option, field, value);
    case SPRY_OPTION_WORD:
        return set_word(ctx, option, field, value);
    case SPRY_OPTION_TEXT:
        if (strlen(value) >= SPRY_OPTION_TEXT_SIZE)
            return SPRY_FAIL(ctx, SPRY_STATUS_BAD_USAGE, "%s: text longer than %d characters",
                             option->name, SPRY_OPTION_TEXT_SIZE - 1);
        memcpy(field, value, strlen(value) + 1);
        return SPRY_STATUS_OK;
    case SPRY_OPTION_PATH:
        *(const char **)field = value;
        return SPRY_STATUS_OK;
    }
    return SPRY_FAIL(ctx, SPRY_STATUS_BAD_USAGE, "option %s has no known kind", option->name);
}

spry_status spry_options_set(spry_context *ctx, spry_option_list list, void *fields,
                             const char *name, const char *value)
{
    SPRY_NEED(ctx, fields, name, value);
    const spry_option *option;
    const spry_status status = options_find(ctx, list, name, &option);
    if (status != SPRY_STATUS_OK)
        return status;
    const spry_option whole = whole_row(list, option);
    const spry_status set = set_field(ctx, &whole, fields, value);
    if (set == SPRY_STATUS_OK)
        options_note(list, fields, name);
    return set;
}

spry_status spry_options_default(spry_context *ctx, spry_option_list list, void *fields)
{
    SPRY_NEED(ctx, fields);
    spry_status status = SPRY_STATUS_OK;
    if (list.given)
        memset((char *)fields + list.given, 0, sizeof(spry_given));
    for (int i = 0; i < list.count && status == SPRY_STATUS_OK; i++) {
        const spry_option option = whole_row(list, spry_options_at(list, i));
        if (option.initial)
            status = set_field(ctx, &option, fields, option.initial);
    }
    return status;
}

spry_status options_take(spry_context *ctx, spry_option_list list, void *fields, const char *text)
{
    const void *given = NULL;
    for (int k = 0; k < MOST_LISTS; k++)
        if (ctx->given[k].list == list.options)
            given = ctx->given[k].fields;
    spry_status status = SPRY_STATUS_OK;
    if (given)
        memcpy(fields, given, spry_options_size(list));
    else
        status = spry_options_default(ctx, list, fields);
    return status == SPRY_STATUS_OK ? spry_options_parse(ctx, list, fields, text) : status;
}

/* Where what a bracket opens has its end: the place of the closing one, or of the text's end. */
static size_t bracket_length(const char *p)
{
    size_t at = 0;
    for (int depth = 0; p[at]; at++) {
        depth += strchr("[(", p[at]) ? 1 : strchr("])", p[at]) ? -1 : 0;
        if (depth == 0)
            break;
    }
    return at;
}

/* The quote that ends what a quote begins, in which two of them stand for one; NULL: none. */
static const char *closing_quote(const char *value)
{
    const char *quote = strchr(value + 1, '"');
    while (quote && quote[1] == '"')
        quote = strchr(quote + 2, '"');
    return quote;
}

/* Says that something at a place of the text has no end, or no beginning. */
static spry_status fail_at(spry_context *ctx, const char *text, const char *at, const char *what)
{
    return SPRY_FAIL(ctx, SPRY_STATUS_BAD_USAGE,
                     "character %d of \"%.100s%s\": the %c is %s; a value with quotes, brackets or "
                     "blanks in it stands in double quotes, which are doubled within",
                     (int)(at - text) + 1, text, strlen(text) > 100 ? "..." : "", *at, what);
}

/* Quotes and brackets of the pair at p are closed by their own kind, within the pair. */
static spry_status check_closed(spry_context *ctx, const char *text, const char *p, size_t length)
{
    enum { DEEPEST = 16 };
    const char *open[DEEPEST];
    int depth = 0;
    const size_t name = strcspn(p, "= ,\t\n");
    if (p[name] == '=' && p[name + 1] == '"') {
        const char *quote = closing_quote(p + name + 1);
        if (!quote)
            return fail_at(ctx, text, p + name + 1, "not closed");
        return !quote[1] || strchr(" ,\t\n", quote[1])
                   ? SPRY_STATUS_OK
                   : fail_at(ctx, text, quote, "followed by more than a blank or comma");
    }
    for (const char *at = p; at < p + length; at++) {
        if (*at == '[' || *at == '(') {
            if (depth == DEEPEST)
                return fail_at(ctx, text, at, "within too many others");
            open[depth++] = at;
        } else if (*at == ']' || *at == ')') {
            if (depth == 0)
                return fail_at(ctx, text, at, "not opened");
            if (*open[--depth] != (*at == ']' ? '[' : '('))
                return fail_at(ctx, text, open[depth], "closed by one of another kind");
        }
    }
    return depth > 0 ? fail_at(ctx, text, open[depth - 1], "not closed") : SPRY_STATUS_OK;
}

/* Where "name=value" ends: at a blank or comma, but commas after a colon belong to the value, and
 * all that is in quotes or brackets. */
static size_t pair_length(const char *p)
{
    const size_t name = strcspn(p, "= ,\t\n");
    const char *value = p[name] == '=' ? p + name + 1 : "";
    const char *quote = *value == '"' ? closing_quote(value) : NULL;
    if (quote)
        return (size_t)(quote - p) + 1;
    const bool colon = p[name + strcspn(p + name, " ,:[(\t\n")] == ':';
    size_t at = name;
    while (p[at] && !strchr(colon ? " \t\n" : " ,\t\n", p[at])) {
        if (strchr("[(", p[at]))
            at += bracket_length(p + at);
        at += p[at] != '\0';
    }
    return at;
}

/* A value without the quotes or brackets around it. */
static const char *unquote(char *value)
{
    const size_t length = strlen(value);
    static const char open[] = "\"[(", close[] = "\"])";
    const char *kind = length >= 2 ? strchr(open, value[0]) : NULL;
    if (!kind || value[length - 1] != close[kind - open])
        return value;
    value[length - 1] = '\0';
    char *to = value + 1;
    for (const char *from = to; *kind == '"' && *from; from += from[0] == '"' ? 2 : 1)
        *to++ = *from;
    if (*kind == '"')
        *to = '\0';
    return value + 1;
}

spry_status spry_options_parse(spry_context *ctx, spry_option_list list, void *fields,
                               const char *text)
{
    SPRY_NEED(ctx, fields);
    const char *const all = text ? text : "";
    for (const char *p = all; *(p += strspn(p, " ,\t\n"));) {
        char pair[SPRY_OPTION_TEXT_SIZE + WORD_SIZE];
        size_t length = pair_length(p);
        const spry_status closed = check_closed(ctx, all, p, length);
        if (closed != SPRY_STATUS_OK)
            return closed;
        if (length >= sizeof pair)
            return SPRY_FAIL(ctx, SPRY_STATUS_BAD_USAGE, "option text is too long: %.40s...", p);
        snprintf(pair, sizeof pair, "%.*s", (int)length, p);
        p += length;
        char *equals = strchr(pair, '=');
        if (!equals)
            return SPRY_FAIL(ctx, SPRY_STATUS_BAD_USAGE, "\"%.64s\" is not name=value%s", pair,
                             strspn(pair, "0123456789") > 0 && p - length > all &&
                                     p[-(ptrdiff_t)length - 1] == ','
                                 ? "; if it is the end of a number, numbers have a point, whatever "
                                   "the locale"
                                 : "");
        *equals = '\0';
        const char *value = unquote(equals + 1);
        const spry_option *option = spry_options_find(list, pair);
        if (option && option->kind == SPRY_OPTION_PATH)
            return SPRY_FAIL(ctx, SPRY_STATUS_BAD_USAGE, "%s cannot be set by option text", pair);
        spry_status status = spry_options_set(ctx, list, fields, pair, value);
        if (status != SPRY_STATUS_OK)
            return status;
    }
    return SPRY_STATUS_OK;
}
