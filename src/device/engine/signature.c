/*
 * Reads the arguments of a kernel from its text: SP_KERNEL name(const offset n, SP_GLOBAL const
 * scalar *SP_RESTRICT x, ...). No more of C than that is understood, and what is not is refused
 * with its line: drivers do not report the types of arguments, and a wrong one is read as garbage.
 */
#include "device/engine/signature.h"

#include <ctype.h>

/* --- words --------------------------------------------------------------------------------------
 */

static bool is_word(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

/* The first character at or after p that is no blank and no comment. */
static const char *skip(const char *p)
{
    for (;;) {
        const char *end = NULL;
        if (p[0] == '/' && p[1] == '*')
            end = strstr(p + 2, "*/");
        else if (p[0] == '/' && p[1] == '/')
            end = strchr(p, '\n');
        if (end)
            p = end + (*end == '*' ? 2 : 1);
        else if (isspace((unsigned char)*p))
            p++;
        else
            return p;
    }
}

/* The word or the single character at p, after blanks; its length is 0 at the end of the text. */
static const char *next(const char *p, size_t *length)
{
    p = skip(p);
    *length = *p != '\0';
    while (is_word(*p) && is_word(p[*length]))
        (*length)++;
    return p;
}

static bool is(const char *p, size_t length, const char *word)
{
    return strlen(word) == length && strncmp(p, word, length) == 0;
}

bool signature_is_name(const char *text, size_t length, size_t size)
{
    if (length == 0 || length >= size || isdigit((unsigned char)*text))
        return false;
    for (size_t i = 0; i < length; i++)
        if (!is_word(text[i]))
            return false;
    return true;
}

static int line_of(const char *text, const char *at)
{
    int line = 1;
    for (; text < at; text++)
        line += *text == '\n';
    return line;
}

int signature_dimensions(const char *text)
{
    static const char *const stems[] = {"SP_GLOBAL_ID_", "SP_LOCAL_ID_", "SP_GROUP_ID_",
                                        "SP_GROUPS_", "SP_GROUP_"};
    int most = 1;
    size_t length;
    for (const char *p = next(text, &length); length > 0; p = next(p + length, &length))
        for (size_t k = 0; k < sizeof stems / sizeof *stems; k++) {
            const size_t stem = strlen(stems[k]);
            if (length == stem + 1 && strncmp(p, stems[k], stem) == 0 &&
                (p[stem] == '1' || p[stem] == '2') && p[stem] - '0' + 1 > most)
                most = p[stem] - '0' + 1;
        }
    return most;
}

/* --- types --------------------------------------------------------------------------------------
 */

typedef enum word_kind { SIGNED, UNSIGNED, REAL, SCALAR, NUMBER, FLOAT, DOUBLE } word_kind;

static const struct type_word {
    const char *word;
    word_kind kind;
    int size;
} type_words[] = {
    {"int", SIGNED, 4},      {"offset", SIGNED, 8},   {"sp_u8", UNSIGNED, 1},
    {"sp_u16", UNSIGNED, 2}, {"sp_u32", UNSIGNED, 4}, {"sp_u64", UNSIGNED, 8},
    {"real", REAL, 0},       {"scalar", SCALAR, 0},   {"number", NUMBER, 0},
    {"float", FLOAT, 0},     {"double", DOUBLE, 0},
};
enum { TYPE_WORDS = sizeof type_words / sizeof *type_words };

/* Fills in what a word means where scalars are of a type; false for words that are no types. */
static bool resolve(const char *p, size_t length, spry_type type, kernel_parameter *to)
{
    int k = 0;
    while (k < TYPE_WORDS && !is(p, length, type_words[k].word))
        k++;
    if (k == TYPE_WORDS)
        return false;
    const bool single = type == SPRY_TYPE_S || type == SPRY_TYPE_C;
    const spry_type of_kind[] = {
        [REAL] = single ? SPRY_TYPE_S : SPRY_TYPE_D,
        [SCALAR] = type,
        [NUMBER] = spry_type_is_complex(type) ? SPRY_TYPE_Z : SPRY_TYPE_D,
        [FLOAT] = SPRY_TYPE_S,
        [DOUBLE] = SPRY_TYPE_D,
    };
    const word_kind kind = type_words[k].kind;
    to->whole = kind == SIGNED || kind == UNSIGNED;
    to->has_sign = kind == SIGNED;
    to->type = to->whole ? type : of_kind[kind];
    to->size = to->whole ? type_words[k].size : (int)spry_type_size(to->type);
    snprintf(to->shown, sizeof to->shown, "%s%s%s", to->constant && to->pointer ? "const " : "",
             type_words[k].word, to->pointer ? " *" : "");
    return true;
}

/* --- arguments ----------------------------------------------------------------------------------
 */

/* A text with the kernel that is looked at, for messages. */
typedef struct reader {
    spry_context *ctx;
    const char *text, *name;
} reader;

static spry_status refuse(const reader *r, const char *at, const char *what)
{
    char words[160] = "";
    for (int k = 0; k < TYPE_WORDS; k++)
        base_add_word(words, sizeof words, type_words[k].word);
    return SPRY_FAIL(r->ctx, SPRY_STATUS_BAD_INPUT,
                     "kernel %.60s, line %d: %s; arguments are TYPE NAME or SP_GLOBAL [const] TYPE "
                     "*[SP_RESTRICT] NAME with a TYPE of %s",
                     r->name, line_of(r->text, at), what, words);
}

/* One argument from p on; *p is then at the comma or parenthesis behind it. */
static spry_status parse_one(const reader *r, const char **p, spry_type type,
                             kernel_parameter *parameter)
{
    const char *at, *type_at = NULL, *name_at = NULL, *begin = skip(*p);
    size_t length, type_length = 0, name_length = 0;
    bool global = false;
    *parameter = (kernel_parameter){0};
    for (at = next(*p, &length); !is(at, length, ",") && !is(at, length, ")");
         at = next(at + length, &length)) {
        if (length == 0)
            return refuse(r, begin, "the text ends among its arguments");
        if (is(at, length, "SP_LOCAL"))
            return refuse(r, at,
                          "local memory is no argument: SP_SHARED declares it in the kernel, "
                          "with a size from define=");
        if (is(at, length, "*") && !parameter->pointer)
            parameter->pointer = true;
        else if (is(at, length, "SP_GLOBAL"))
            global = true;
        else if (is(at, length, "const"))
            parameter->constant = parameter->constant || !parameter->pointer;
        else if (is(at, length, "SP_RESTRICT") || is(at, length, "restrict"))
            continue;
        else if (!type_at)
            type_at = at, type_length = length;
        else if (!name_at && signature_is_name(at, length, PARAMETER_NAME))
            name_at = at, name_length = length;
        else
            return refuse(r, at, "this is not understood");
    }
    *p = at;
    if (!type_at || !name_at)
        return refuse(r, begin, "an argument has a type and a name of less than 48 letters");
    if (parameter->pointer != global)
        return refuse(r, begin, "pointers are to SP_GLOBAL memory");
    if (!resolve(type_at, type_length, type, parameter))
        return refuse(r, type_at, "this type is not the same in CUDA and OpenCL, or is none");
    snprintf(parameter->name, sizeof parameter->name, "%.*s", (int)name_length, name_at);
    return SPRY_STATUS_OK;
}

/* Where the arguments of a kernel begin, after the parenthesis; NULL with the names of those there
 * are. */
static const char *find_kernel(const char *text, const char *name, char *names, size_t size)
{
    size_t length;
    for (const char *p = next(text, &length); length > 0; p = next(p + length, &length)) {
        if (!is(p, length, "SP_KERNEL"))
            continue;
        p = next(p + length, &length);
        char word[PARAMETER_NAME];
        snprintf(word, sizeof word, "%.*s", (int)(length < 47 ? length : 47), p);
        const bool found = is(p, length, name);
        const char *open = next(p + length, &length);
        if (found && is(open, length, "("))
            return open + 1;
        base_add_word(names, size, word);
        p = open;
    }
    return NULL;
}

spry_status signature_parse(spry_context *ctx, const char *text, const char *name, spry_type type,
                            kernel_parameter **parameters, int *count)
{
    const reader r = {ctx, text, name};
    char names[256] = "";
    int room = 0;
    spry_status status = SPRY_STATUS_OK;
    *parameters = NULL;
    *count = 0;
    const char *p = find_kernel(text, name, names, sizeof names);
    if (!p && !names[0])
        return SPRY_FAIL(ctx, SPRY_STATUS_BAD_INPUT,
                         "the text has no kernel: nothing begins with SP_KERNEL name(");
    if (!p)
        return base_unknown_word(ctx, "kernel", name, names);
    if (*skip(p) == ')')
        return SPRY_STATUS_OK;
    for (;;) {
        if (*count == room) {
            room = 2 * room + 8;
            SPRY_GO(ctx, base_grow(ctx, *count, room, sizeof **parameters, parameters));
        }
        SPRY_GO(ctx, parse_one(&r, &p, type, &(*parameters)[*count]));
        (*count)++;
        if (*p++ == ')')
            break;
    }
done:
    if (status != SPRY_STATUS_OK) {
        base_free(ctx, *parameters);
        *parameters = NULL;
        *count = 0;
    }
    return status;
}
