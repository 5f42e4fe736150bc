/*
 * Options from one list, for the library and our own programs. An object's list gives its struct,
 * defaults, bounds, parser, --help, man page and completion; docs/architecture.md has an example.
 */
#ifndef SPRY_PRIVATE_OPTIONS_H
#define SPRY_PRIVATE_OPTIONS_H

#include <spry/options.h>

SPRY_BEGIN

/** Field of an INT option. */
typedef int64_t spry_field_INT;
/** Field of a REAL option. */
typedef double spry_field_REAL;
/** Field of a BOOL option. */
typedef bool spry_field_BOOL;
/** Field of a WORD option. */
typedef int spry_field_WORD;
/** Field of a TEXT option. */
typedef char spry_field_TEXT[SPRY_OPTION_TEXT_SIZE];
/** Field of a PATH option. */
typedef const char *spry_field_PATH;

enum { SPRY_OPTION_MOST = 128 };
/** Which options of a struct were set, one bit for each row: what spry_options_set() and
 * spry_options_parse() note, and spry_options_default() clears. */
typedef struct spry_given {
    int64_t bits[2]; /**< SPRY_OPTION_MOST of them */
} spry_given;

/*
 * A list is a macro LIST(item) of item(KIND, field, default, low, high, words, help).
 * SPRY_OPTION_FIELD makes the struct's members of it, SPRY_OPTION_ROW the table:
 *
 *     typedef struct thing { THING_OPTIONS(SPRY_OPTION_FIELD) } thing;
 *     SPRY_OPTION_TABLE(rows, thing, THING_OPTIONS(SPRY_OPTION_ROW))
 *
 * A file has one struct with tables; it may have several tables of it, by SPRY_OPTION_ROWS.
 */
#define SPRY_OPTION_FIELD(kind, field, initial, low, high, words, help) spry_field_##kind field;
#define SPRY_OPTION_ROW(kind, field, initial, low, high, words, help) \
    {#field, SPRY_OPTION_##kind, offsetof(OPTION_OWNER, field), initial, low, high, words, help},
#define SPRY_OPTION_ROWS(name, ...) static const spry_option name[] = {__VA_ARGS__};
#define SPRY_OPTION_TABLE(name, owner, ...) \
    typedef owner OPTION_OWNER;             \
    SPRY_OPTION_ROWS(name, __VA_ARGS__)

/** Initialises a list by an array of rows. */
#define SPRY_OPTION_LIST(rows)                                        \
    {                                                                 \
        rows, (int)(sizeof(rows) / sizeof *(rows)), sizeof *(rows), 0 \
    }
/** The same where the struct has a member spry_given given. */
#define SPRY_OPTION_LIST_GIVEN(rows, owner)                                                \
    {                                                                                      \
        rows, (int)(sizeof(rows) / sizeof *(rows)), sizeof *(rows), offsetof(owner, given) \
    }

/** Bytes of the struct that a list's fields are in: for those who do not know it, and fill it by
 * spry_options_default() and spry_options_set() alone. It begins as zeros. */
SPRY_API size_t spry_options_size(spry_option_list list);

/** Sets every field to its default. */
SPRY_API spry_status spry_options_default(spry_context *ctx, spry_option_list list, void *fields);
/** Sets one option by name; an unknown name's message suggests the nearest, a bad value's says what
 * is allowed. */
SPRY_API spry_status spry_options_set(spry_context *ctx, spry_option_list list, void *fields,
                                      const char *name, const char *value);
/**
 * Sets options from "name=value name=value", separated by blanks or commas; NULL is empty. A value
 * with a colon goes on to the next blank, so that it can have options of its own:
 * "tol=1e-8 precon=sor:omega=1.5,order=natural method=cg". One in double quotes can have blanks,
 * and quotes that are doubled; so can one in brackets, which may hold brackets:
 * "amg:smoother=[sai:tau=0.9,power=2],cycle=w". Quotes and brackets that are not closed are
 * SPRY_STATUS_BAD_USAGE, with their place.
 */
SPRY_API spry_status spry_options_parse(spry_context *ctx, spry_option_list list, void *fields,
                                        const char *text);
/** The option with the name, or NULL. */
SPRY_API const spry_option *spry_options_find(spry_option_list list, const char *name);

/** The word of a space-separated list that is nearest in spelling; false when none is near. */
SPRY_API bool spry_nearest(const char *word, const char *words, char *nearest, size_t size);

/**
 * Options as a struct in the place of text: what this context reads, generates, tunes, solves with
 * or builds from now on begins with these instead of the list's defaults. Text that is handed over
 * as well changes what it names. Names and values go from a command line, or from a language's own
 * arguments, into the struct, and need not be put into a text with its quotes.
 *
 * Those of spry_options_of("context") are the context's own: they hold at once, and can be set
 * while it has no objects and no memory.
 *
 * @param list    of an object: SPRY_LIST_OBJECTS has them all
 * @param fields  spry_options_size() bytes, filled in; kept as they are, not copied, until the next
 *                call with the list or the end of the context. NULL: the list's defaults again
 */
SPRY_API spry_status spry_context_set_options(spry_context *ctx, spry_option_list list,
                                              const void *fields);

SPRY_END

#endif
