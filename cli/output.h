/* Everything that goes out: files, numbers for people, tables, JSON, the progress line. */
#ifndef SPRY_CLI_OUTPUT_H
#define SPRY_CLI_OUTPUT_H

#include "cli.h"

/* files.c. "-" is the standard output. */
/* Of the three standard streams, one that is closed is taken by what fails, lest a file get its
 * number and messages. */
void file_prepare(void);
bool file_is_stdout(const char *path); /* NULL, too */
/* Whether two names are of one file, so that writing one would lose the other. */
bool file_is_same(const char *a, const char *b);
/* Whether a matrix or vector, or a text, can be written to a path, asked before much work is done
 * for it. */
int file_check_output(spry_context *ctx, const char *path, bool vector);
int file_check_text(spry_context *ctx, const char *path);
spry_status file_write_matrix(const spry_matrix *A, const char *path);
spry_status file_write_vector(const spry_vector *v, int64_t cols, const char *path);
/* Flushes; what could not be written (a full disk) changes the exit status. */
int file_finish_stdout(int exit_status);

/* Has a text written to the standard output ("-") or to a file, as matrices are. */
int file_write_text(spry_context *ctx, const char *path, void (*write)(FILE *out, const void *data),
                    const void *data);

/* program.c. The device that an option names; NULL for cpu and auto. */
spry_status cli_open_device(spry_context *ctx, const char *name, spry_device **device);

/* text.c. As wide as text gets. */
enum { TEXT_COLUMNS = 100 };
/* Numbers for people; a text lives until the eighth call after its own. */
const char *text_count(int64_t n);        /* 1,234,567 */
const char *text_bytes(double bytes);     /* 12.3 MB */
const char *text_seconds(double seconds); /* 0.123 s */
const char *text_type(spry_type type);    /* real double */
/* Names of files, and texts that have such or what was read in them, come from others: what a
 * terminal would act on, or nobody would see, is shown as \x1b. A name's text lives until the
 * fourth call after its own; in texts lines and tabs stay. */
const char *text_name(const char *name);
void text_put(FILE *out, const char *text);
/* Length of the UTF-8 character at p, 0 when the bytes are not one; whether it is a control one;
 * and whether it is one, or is not seen, or turns the order of others around. */
int text_utf8_length(const unsigned char *p);
bool text_is_control(const unsigned char *p);
bool text_is_hidden(const unsigned char *p);
/* The number of a character of `length` bytes. */
uint32_t text_code(const unsigned char *p, int length);
/* Prints a word as a shell takes it back; what nobody would see in it as $'\342\200\256'. */
void text_word(FILE *out, const char *word);
/* The name of a file so, or FILE where that has no room. */
void text_file(const char *name, char *text, size_t size);
/* Prints text from a column on, broken at spaces before column 100 and indented there. */
void text_wrap(FILE *out, int column, int indent, const char *text);

/* table.c. Columns as wide as their widest cell. */
typedef struct table table;
table *table_new(const char *heads); /* "name|>seconds": '>' sets a column to the right */
void table_cell(table *t, const char *format, ...) SPRY_PRINTF(2, 3);
void table_print(table *t, FILE *out); /* frees it */

/* json.c. Commas and indents come by themselves; keys are NULL inside lists. */
typedef struct json {
    FILE *out;
    bool flat; /* all of it on one line */
    int depth;
    /* Of the object or list of each depth: something precedes; it was a number of a list. */
    bool filled[8], one_line[8];
} json;
void json_open(json *j, const char *key, char bracket);     /* '{' or '[' */
void json_close(json *j, char bracket);                     /* '}' or ']' */
void json_text(json *j, const char *key, const char *text); /* NULL gives null */
void json_real(json *j, const char *key, double value);     /* null when not finite */
void json_int(json *j, const char *key, int64_t value);
void json_bool(json *j, const char *key, bool value);
void json_lines(json *j, const char *lines); /* of a text (NULL: none), each as one of a list */

/*
 * progress.c. What goes on, on the standard error: one line on a terminal, rewritten in place; with
 * --progress json an object a line, which docs/cli.md describes.
 */
enum { PROGRESS_AUTO, PROGRESS_JSON, PROGRESS_NONE };
#define CLI_PROGRESS(item)                                                                       \
    item(WORD, progress, "auto", 0, 0, "auto json none",                                         \
         "what is reported on the standard error while it works: a line on a terminal, or, for " \
         "programs, an object of JSON a line")
typedef enum progress_phase {
    PHASE_READ,
    PHASE_CHECK,
    PHASE_TUNE,
    PHASE_SETUP,
    PHASE_ITERATE,
    PHASE_FINISH
} progress_phase;
typedef struct progress {
    bool shown, begun;
    bool json, unprinted; /* objects are printed; the last state was not, as it came too soon */
    double start, last;   /* seconds */
    double target;        /* log10 of the residual asked for */
    int64_t most;         /* iterations after which it stops; 0: not known */
    struct {
        int64_t iteration;
        double log;
    } old, recent; /* where the rate is measured from */
    struct {
        int64_t iteration;
        double seconds;
    } first; /* that was heard of */
    /* What is reported. */
    progress_phase phase;
    double since;  /* when it began */
    char note[64]; /* what it is called on a terminal; "": nothing is shown */
    int64_t iteration;
    double residual, rate, left; /* NaN: not known */
    char method[32], precon[32];
} progress;
void progress_start(progress *p, bool quiet, double tol);
void progress_start_as(progress *p, int how, bool quiet, double tol);
/* A phase begins, and what it is called on a terminal. From here to progress_clear() a clock
 * reports every second that it goes on, where nothing else does. */
void progress_note(progress *p, progress_phase phase, const char *text);
/* What solves, for the objects that follow. */
void progress_names(progress *p, const char *method, const char *precon);
void progress_step(progress *p, int64_t iteration, double residual);
/* So much of the whole (0 to 1) is done, and a few words on it; seldom enough to cost nothing. */
void progress_part(progress *p, double part, const char *text);
/* The line goes; what was not printed is. */
void progress_clear(progress *p);
/* The line makes room for a message, which is written with the clock at rest. */
void progress_hide(void);
void progress_show(void);
/* The last object: where it came to, after `iteration` iterations (0: there were none). */
void progress_finish(progress *p, int64_t iteration, double residual);

#endif
