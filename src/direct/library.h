/*
 * Libraries of others that factor matrices, loaded where they are first needed: a program that
 * never factors does not pay for them. OpenBLAS, which they all end at, makes its threads while it
 * is loaded, ends the process where it gets none, and waits for memory for ever.
 */
#ifndef SPRY_PRECON_LIBRARY_H
#define SPRY_PRECON_LIBRARY_H

#include "base/base.h"

typedef struct factor_library {
    const char *name;     /* "LAPACK" */
    const char *variable; /* of the environment, with the name of a file to load; empty: none */
    const char *files[3]; /* else the first of these that can be loaded; NULL: no more */
    const base_symbol *symbols;
    size_t count;
    void *table;             /* of pointers to functions, filled when it is loaded */
    bool loaded, is_present; /* is_present is known once it was loaded or could not be */
} factor_library;

/* Loads a library unless it is loaded. SPRY_STATUS_UNSUPPORTED: it is missing;
 * SPRY_STATUS_NO_MEMORY: not now. No message is set; the log has the reason. */
spry_status factor_library_load(spry_context *ctx, factor_library *library);

/* For tables of a library's functions by their headers: a member with its type, its line in the
 * list of symbols of a `struct functions`, and a number of the header's as text. */
#define FACTOR_FIELD(name) __typeof__(&(name)) name;
#define FACTOR_SYMBOL(name) {#name, offsetof(struct functions, name)},
#define FACTOR_TEXT_OF(number) #number
#define FACTOR_TEXT(macro) FACTOR_TEXT_OF(macro)

#endif
