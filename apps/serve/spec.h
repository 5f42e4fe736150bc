/*
 * What a job is asked to do: taken from JSON that a page sends or that a record on disk has, and
 * made into the words of a command. Nothing here touches files; tests/fuzz/serve.c feeds it with
 * anything.
 */
#ifndef SPRY_SERVE_SPEC_H
#define SPRY_SERVE_SPEC_H

#include "cli/reader.h"

#include <spry/types.h>
#include <stdio.h>

/* A kind of job is a command of spry. */
#define SPEC_KINDS(item) \
    item(solve)          \
    item(doctor)         \
    item(plan)           \
    item(tune)           \
    item(report)
#define SPEC_KIND_ENUM(name) KIND_##name,
enum { SPEC_KINDS(SPEC_KIND_ENUM) KIND_COUNT };
extern const char *const spec_kind_names[KIND_COUNT];

enum {
    NAME_SIZE = 256,      /* of a file in the folder, as file systems have it, and its end */
    WORD_SIZE = 512,      /* of an option's value */
    TEXT_MOST = 64 << 10, /* of a method's text */
    FAULT_SIZE = 256
};

typedef struct spec {
    int kind;
    char file[NAME_SIZE], rhs[NAME_SIZE];                         /* "": there is none */
    char method[WORD_SIZE], precon[WORD_SIZE], device[WORD_SIZE]; /* "": not set */
    double tol, max_iter;                                         /* NaN: not set */
    bool report; /* of a solve: with a page of what it came to */
    char *text;  /* of a method; NULL: it has a name. Freed by spec_free() */
} spec;

/* The name of a file in the folder, and of nothing else: no path, no file that hides, nothing that
 * a terminal would act on. */
bool name_is_good(const char *name);

/* False where it asks for nothing that can be done: fault says why. spec_free() is due in either
 * case.
 */
bool spec_read(spec *s, const reader *r, const reader_value *from, char fault[FAULT_SIZE]);
/* The method and the preconditioner alone. */
bool spec_read_method(spec *s, const reader *r, const reader_value *from, char fault[FAULT_SIZE]);
void spec_free(spec *s);

/* The words of a command, ended by NULL. */
enum { COMMAND_MOST = 24 };
typedef struct command {
    char *words[COMMAND_MOST + 1];
    int count;
    bool bad; /* there was no memory, or no room, for a word */
} command;

SPRY_PRINTF(2, 3) void command_add(command *c, const char *format, ...);
/* A file of the folder, which is no option, whatever its name begins with. */
void command_add_file(command *c, const char *name);
void command_free(command *c);
/* As a shell takes it. */
void command_print(const command *c, FILE *out);

/* How a job is run: with its files in a folder of its own (ended by /), where it reports its
 * progress if it can. */
typedef struct spec_place {
    const char *folder, *result; /* "": as a person types it, who has the answer on the screen */
    bool progress;
} spec_place;

void spec_command(const spec *s, const spec_place *place, command *c);

#endif
