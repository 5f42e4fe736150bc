/*
 * Options of an object: their names, what each takes, defaults, bounds, and a line of help. They
 * are set by text, "name=value name=value", wherever a function takes `options`. Blanks or commas
 * separate options; names may have '-' or '_'. A value with a colon goes on to the next blank, so
 * that it can have options of its own: "tol=1e-8 precon=sor:omega=1.5,order=natural method=cg".
 * A value in double quotes may have blanks, and quotes that are doubled; so may a value in
 * brackets, which may hold brackets: "amg:smoother=[sai:tau=0.9,power=2],cycle=w". Numbers have a
 * point, whatever the locale: spry_number_print().
 */
#ifndef SPRY_OPTIONS_H
#define SPRY_OPTIONS_H

#include <spry/context.h>

SPRY_BEGIN

enum { SPRY_OPTION_TEXT_SIZE = 256, SPRY_NUMBER_SIZE = 32 };

/** What an option takes, and the field that holds it. */
typedef enum spry_option_kind {
    SPRY_OPTION_INT,  /**< int64_t; the value may end in k, M or G */
    SPRY_OPTION_REAL, /**< double */
    SPRY_OPTION_BOOL, /**< bool: yes/no, true/false, on/off, 1/0 */
    SPRY_OPTION_WORD, /**< int: index into words */
    SPRY_OPTION_TEXT, /**< char[SPRY_OPTION_TEXT_SIZE] */
    SPRY_OPTION_PATH  /**< const char *: the pointer is kept, not copied */
} spry_option_kind;

/** One option of an object. Rows of tables may be longer: spry_options_at() finds them. */
typedef struct spry_option {
    const char *name;      /**< with '_' as in the struct; '-' and '_' are the same to the parser */
    spry_option_kind kind; /**< what it takes */
    size_t offset;         /**< of the field in the object's struct */
    const char *initial;   /**< default, as text; NULL leaves the field zero */
    double low, high;      /**< bounds of numbers, both allowed; none when both are 0 */
    const char *words;     /**< WORD: the choices, separated by spaces */
    const char *help;      /**< one sentence */
} spry_option;

/** A table of options. Passed by value: this struct stays as it is, the rows may grow. */
typedef struct spry_option_list {
    const spry_option *options; /**< the first row */
    int count;                  /**< of rows */
    size_t row_size;            /**< bytes from one row to the next; 0: those of 0.2.0 */
    size_t given;               /**< reserved */
} spry_option_list;

/**
 * Prints a number for a text of options: the shortest one that reads back, with a point whatever
 * the locale (snprintf() prints 0,001 in a German one, which no option takes).
 *
 *     char tol[SPRY_NUMBER_SIZE];
 *     snprintf(options, sizeof options, "tol=%s", spry_number_print(1e-3, tol));
 *
 * @param text  room for SPRY_NUMBER_SIZE characters
 * @return the text
 */
SPRY_API const char *spry_number_print(double value, char *text);

/** A row of a list; NULL past the last. */
SPRY_API const spry_option *spry_options_at(spry_option_list list, int index);

/**
 * The options of an object of SPRY_LIST_OBJECTS: "context" (spry_context_new()), "solver"
 * (spry_solver_set()), "read" (spry_matrix_read()), "generate", "tune", "diagnose", "kernel" and
 * "powers". No rows when there is no such object.
 */
SPRY_API spry_option_list spry_options_of(const char *object);

SPRY_END

#endif
