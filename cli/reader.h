/* Reading JSON: the files that this program has written, or anything that claims to be one. */
#ifndef SPRY_CLI_READER_H
#define SPRY_CLI_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A value, and what is within it: the first of them, and the next after it, by their places in the
 * document's list; 0: none, as the first is the document itself. */
typedef struct reader_value {
    char kind;        /* { [ " 0 (a number) t (true) f (false) n (null) */
    const char *text; /* of a string, ended by 0; "" of others */
    const char *key;  /* within an object */
    double number;    /* NaN where it is none */
    int32_t first, next;
} reader_value;

typedef struct reader {
    reader_value *values; /* [0] is the whole */
    int32_t count, room;
    char *bytes; /* the text, where strings lie with their escapes undone */
    const char *fault;
    size_t line; /* where that is, from 1 */
} reader;

/* Takes a text apart; false where it is no JSON: fault and line say why. What is there is freed by
 * reader_free(), also after a failure. */
bool reader_parse(reader *r, const char *text, size_t size);
void reader_free(reader *r);

/* A member of an object, an item of a list; NULL: there is none, also in NULL. */
const reader_value *reader_member(const reader *r, const reader_value *v, const char *key);
const reader_value *reader_first(const reader *r, const reader_value *v);
const reader_value *reader_next(const reader *r, const reader_value *v);
/* Of a member: its text ("" where it is none), its number (NaN). */
const char *reader_text(const reader *r, const reader_value *v, const char *key);
double reader_number(const reader *r, const reader_value *v, const char *key);

#endif
