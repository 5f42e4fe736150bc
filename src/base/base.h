/* What every file of the library sees: context, failing, memory, threads, timers. */
#ifndef SPRY_BASE_H
#define SPRY_BASE_H

#include <inttypes.h>
#include <private/hooks.h>
#include <private/options.h>
#include <spry/context.h>
#include <spry/device.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

enum { MESSAGE_SIZE = 1024, ALIGNMENT = 64, MOST_LISTS = 16 };

#define CONTEXT_OPTIONS(item)                                                                      \
    item(INT, threads, "0", 0, 1e9, NULL,                                                          \
         "threads to use, at most 64 or four for each core; 0 takes the cores this process may "   \
         "use")                                                                                    \
    item(TEXT, isa, "auto", 0, 0, NULL, "host kernels: auto, or one that `spry devices` lists")    \
    item(                                                                                          \
        INT, memory_limit, "0", 0, 9e18, NULL,                                                     \
        "bytes the library may allocate; 0 takes four fifths of the memory this process may use, " \
        "and refuses blocks larger than the free memory")                                          \
    item(WORD, repeat, "ranks", 0, 0, "ranks strict",                                              \
         "reproducible bits: for the same number of ranks, or (strict) for any number, which "     \
         "then begin at multiples of 4,096 rows, with format=csr")                                 \
    item(TEXT, delays, "", 0, 0, NULL,                                                             \
         "least time of messages between ranks in seconds, to simulate a slow network: "           \
         "halo=0.01,reduction=0.001")                                                              \
    item(                                                                                          \
        WORD, partition, "rows", 0, 0, "rows graph ptscotch",                                      \
        "how rows are distributed to ranks: in their order, or so that ranks have little to send " \
        "each other, by METIS on one rank (graph) or by PT-Scotch on all")                         \
    item(WORD, log, "warning", 0, 0, "quiet warning info debug",                                   \
         "what is reported besides the result")

typedef struct context_options {
    CONTEXT_OPTIONS(SPRY_OPTION_FIELD)
} context_options;
enum { REPEAT_RANKS, REPEAT_STRICT };
enum { PARTITION_ROWS, PARTITION_GRAPH, PARTITION_PTSCOTCH };

struct spry_context {
    atomic_int users; /* its objects, and the caller until it is freed */
    spry_allocator allocator;
    context_options options;
    spry_log_fn log;
    void *log_data;
    char message[MESSAGE_SIZE];
    atomic_bool interrupted;
    int calls; /* that a request to stop is for, one within the other: see base_stopped() */
    _Atomic int64_t memory_now; /* objects may be freed by any thread */
    int64_t memory_most;
    const char *meminfo; /* where the system reports its free memory; NULL: not asked */
    size_t large;        /* blocks allocated so far, of the large ones */
    int64_t fail_in;     /* allocations until one fails; 0: none */
    bool fail_all;
    int isa;                  /* index into the levels of isa_name() */
    spry_bandwidth bandwidth; /* 0 until measured */
    spry_device *devices;     /* that are open, and what closes them */
    void (*close_devices)(spry_context *ctx);
    struct spry_team *team; /* the ranks that solve together (team.h); NULL: there is one */
    struct {
        const spry_option *list; /* its rows */
        const void *fields;      /* the caller's */
    } given[MOST_LISTS];         /* by spry_context_set_options() */
};

/* A context for a rank of a team, or for no team (NULL). */
spry_status context_new(struct spry_team *t, const spry_allocator *allocator, const char *options,
                        spry_context **out);

/*
 * Failing. SPRY_FAIL notes a message and is the status; SPRY_GO passes a failure on to the label
 * done of a function with a variable `status`; SPRY_CAUSE puts what was being done before the
 * message.
 */
spry_status base_fail(spry_context *ctx, spry_status status, const char *file, int line,
                      const char *format, ...) SPRY_PRINTF(5, 6);
void base_trace(spry_context *ctx, spry_status status, const char *file, int line);
spry_status base_cause(spry_context *ctx, spry_status status, const char *format, ...)
    SPRY_PRINTF(3, 4);

#define SPRY_FAIL(ctx, status, ...) \
    base_same(status, base_fail(ctx, status, __FILE__, __LINE__, __VA_ARGS__))
/* A failure is never SPRY_STATUS_OK: stated so for static analysers. */
static inline spry_status base_same(spry_status status, spry_status given)
{
    (void)given;
    return status;
}
#define SPRY_GO(ctx, call)                               \
    do {                                                 \
        status = (call);                                 \
        if (status != SPRY_STATUS_OK) {                  \
            base_trace(ctx, status, __FILE__, __LINE__); \
            goto done;                                   \
        }                                                \
    } while (0)
#define SPRY_CAUSE(ctx, status, ...) base_cause(ctx, status, __VA_ARGS__)

/*
 * An attempt that may fail without a failure of the caller's call: base_try() keeps the message
 * that the context has, base_forgive() puts it back.
 *
 *     const base_kept before = base_try(ctx);
 *     if (device_build(d) != SPRY_STATUS_OK) {
 *         base_forgive(ctx, &before);
 *         ...
 */
typedef struct base_kept {
    char message[MESSAGE_SIZE];
} base_kept;
static inline base_kept base_try(const spry_context *ctx)
{
    base_kept kept;
    memcpy(kept.message, ctx->message, sizeof kept.message);
    return kept;
}
static inline void base_forgive(spry_context *ctx, const base_kept *kept)
{
    memcpy(ctx->message, kept->message, sizeof kept->message);
}

/*
 * Arguments. SPRY_NEED, at the head of a public function, ends it with SPRY_STATUS_BAD_USAGE where
 * one of the pointers that it cannot do without is NULL. The context that hears which may be NULL
 * itself: CTX_OF gives that of an object, if there is one.
 */
#define CTX_OF(object) ((object) ? (object)->ctx : NULL)
#define CTX_OF_ANY(object, other) ((object) ? (object)->ctx : CTX_OF(other))
#define SPRY_NEED(ctx, ...)                                                                    \
    do {                                                                                       \
        const void *const needed[] = {__VA_ARGS__};                                            \
        if (base_missing(ctx, __func__, #__VA_ARGS__, needed, sizeof needed / sizeof *needed)) \
            return SPRY_STATUS_BAD_USAGE;                                                      \
    } while (0)
/* Whether one of them is NULL; `names` are theirs, with ", " between. */
bool base_missing(spry_context *ctx, const char *function, const char *names,
                  const void *const *needed, size_t count);

/* To be called where a call ends because a stop was asked for: the request is taken back, unless
 * another call is around this one (a solve around an inner one, or around what its monitor writes),
 * which is to end, too. */
void base_stopped(spry_context *ctx);

void base_log(const spry_context *ctx, spry_log_level level, const char *format, ...)
    SPRY_PRINTF(3, 4);

/*
 * Memory. base_alloc gives count * size bytes (checked for overflow), 64-byte aligned, untouched,
 * so that the first thread to write a page places it; NULL memory never comes with SPRY_STATUS_OK,
 * also for 0 bytes. base_free takes NULL. Only the thread that owns the context calls these, never
 * inside a parallel region.
 */
spry_status base_alloc(spry_context *ctx, int64_t count, size_t size, void *pointer_to_pointer);
spry_status base_calloc(spry_context *ctx, int64_t count, size_t size, void *pointer_to_pointer);
/* Grows to count elements, keeping the first `keep`; frees the old memory. */
spry_status base_grow(spry_context *ctx, int64_t keep, int64_t count, size_t size,
                      void *pointer_to_pointer);
void base_free(spry_context *ctx, void *memory); /* spry_free by the room's name */
/* Objects that callers hold, cleared. Each keeps its context alive: the last of them, where the
 * context was freed before, ends it. */
spry_status base_object_new(spry_context *ctx, size_t size, void *pointer_to_pointer);
void base_object_free(spry_context *ctx, void *object);
spry_allocator base_default_allocator(void);
/* A copy of a whole block, which may be of another context; of NULL it is NULL. */
spry_status base_copy(spry_context *ctx, const void *block, void *pointer_to_pointer);
char *base_copy_text(spry_context *ctx, const char *text);

/* A text that grows as it is written; cleared but for ctx at first. A failure is kept until the
 * text is taken, which gives it to the caller or frees it. */
typedef struct base_text {
    spry_context *ctx;
    char *text;
    size_t used, room;
    spry_status status;
} base_text;
void base_text_put(base_text *t, const char *format, ...) SPRY_PRINTF(2, 3);
spry_status base_text_take(base_text *t, char **text);

/*
 * What is remembered between runs. The folder's path: SPRY_CACHE, or spry in the user's cache
 * folder; false when none is named. base_make_folders makes a folder and those above it; 0, or
 * errno. base_file_open gives a descriptor and the size of a regular file of at most `most` bytes;
 * base_file_fill reads that many and closes it: how many there were; both -1 - errno on failure.
 * base_file_replace writes aside and renames; 0, or errno, whose text base_error_text gives.
 */
bool base_cache_folder(char *path, size_t size);
int base_make_folders(char *path);
int base_file_open(const char *path, int64_t most, int64_t *size);
int64_t base_file_fill(int file, void *data, int64_t size);
int base_file_replace(const char *path, const void *data, size_t size);
const char *base_error_text(int error, char *text, size_t size);

/*
 * Structs that callers allocate (see SPRY_SIZED): how large they are here and were in 0.2.0, which
 * ended with a member that is named once and for all. base_blank fails for a size that no version
 * had, and clears the struct but for its size; base_give fills in as much as it has room for.
 * base_take fails likewise, and copies one that is read, with 0 for what it does not have.
 */
typedef struct base_sized {
    const char *name;
    size_t own, first;
} base_sized;
#define BASE_SIZED(type, last)                                                   \
    {                                                                            \
#type, sizeof(type), offsetof(type, last) + sizeof(((type *)NULL)->last) \
    }
/* Bytes that a caller's struct has; 0 where they are not to be believed. */
size_t base_size(const void *caller, const base_sized *s);
spry_status base_check_size(spry_context *ctx, const void *caller, const base_sized *s);
spry_status base_blank(spry_context *ctx, void *caller, const base_sized *s);
void base_give(void *caller, const void *from, const base_sized *s);
spry_status base_take(spry_context *ctx, const void *caller, void *to, const base_sized *s);

/* Fills a table of pointers to functions from a library that dlopen() gave; the first name that is
 * missing, or NULL. */
typedef struct base_symbol {
    const char *name;
    size_t at; /* of the pointer in the table */
} base_symbol;
const char *base_find_symbols(void *library, const base_symbol *symbols, size_t count, void *table);

/* Fails when a caller's type is none of the four. */
spry_status base_check_type(spry_context *ctx, spry_type type);

/* The place of a word in a space-separated list, whatever its case and whether - or _; -1: none. */
int base_find_word(const char *words, const char *word);
/* Fails because `word` is none of the space-separated words that `what` may be; suggests the
 * nearest. */
spry_status base_unknown_word(spry_context *ctx, const char *what, const char *word,
                              const char *words);
/* The option of a name, or a failure that names the nearest; the field of an INT or REAL option
 * set to a number within its bounds, `shown` being how the caller wrote it; bytes of a field. */
spry_status options_find(spry_context *ctx, spry_option_list list, const char *name,
                         const spry_option **option);
spry_status options_put_number(spry_context *ctx, const spry_option *option, void *field,
                               double real, int64_t whole, const char *shown);
size_t options_field_size(spry_option_kind kind);
/* Whether an option was given, in a struct whose list keeps that (SPRY_OPTION_LIST_GIVEN), and the
 * note that it was. */
bool options_given(spry_option_list list, const void *fields, const char *name);
void options_note(spry_option_list list, void *fields, const char *name);
/* Fills a struct: the context's options of the list, or else the defaults, then what a text says.
 */
spry_status options_take(spry_context *ctx, spry_option_list list, void *fields, const char *text);
/* The options of contexts. */
spry_option_list context_option_list(void);
/* What spry_context_set_options() does for a list that is an object's. */
spry_status context_set_options(spry_context *ctx, spry_option_list list, const void *fields);
/*
 * One option by a number: it goes to the field as it is, within the option's bounds; an INT option
 * takes a whole one. Reading back: a number from REAL and INT options; any option as text that
 * spry_options_set() takes back to the same value, SPRY_STATUS_BAD_USAGE saying how many characters
 * are needed where `size` is too small.
 */
spry_status options_set_real(spry_context *ctx, spry_option_list list, void *fields,
                             const char *name, double value);
spry_status options_get_real(spry_context *ctx, spry_option_list list, const void *fields,
                             const char *name, double *value);
spry_status options_get_text(spry_context *ctx, spry_option_list list, const void *fields,
                             const char *name, char *text, size_t size);
/* Appends a word to a space-separated list of `size` bytes, cutting what does not fit. */
void base_add_word(char *words, size_t size, const char *word);

/* Numbers and words as text, the same whatever the process's locale. */
/* Whether the text begins with a word given in lower case, whatever the case it is written in. */
bool base_starts_with(const char *p, const char *end, const char *word);

/* Parses a decimal number at p (before end) to the nearest double, as strtod in the C locale would;
 * accepts d and D as exponent marks (Fortran), nan, inf, infinity. Returns the place after it, or
 * NULL. */
const char *base_parse_double(const char *p, const char *end, double *value);
/* The same for integers; NULL also on overflow. */
const char *base_parse_int(const char *p, const char *end, int64_t *value);

/* Threads: run inside `#pragma omp parallel num_threads(spry_context_threads(ctx))`. base_team is
 * how many of those wanted this process gets: all, unless the system refuses some or the process is
 * a fork's child. */
int base_team(const spry_context *ctx, int wanted);
/* Work of iterations has threads of the library's own (thread_pool.c), which do not keep each other
 * from their cores. Within it and within parallel regions further calls have one thread. Work
 * contains no parallel regions: its threads are none of OpenMP's. */
typedef void (*base_work)(void *argument, int share, int shares);
/* Runs work(argument, share, shares) for each share, by as many threads as serve. Any thread may
 * run several shares, one after the other. */
void base_share_out(const spry_context *ctx, int shares, base_work work, void *argument);
/* Runs work(argument, me, team) by a team of at most `wanted` threads that all run at the same
 * time; they wait for each other where they call base_barrier(), all of them equally often. Or one
 * waits until another has called base_step() a number of times; a barrier is a step, too. */
void base_work_together(const spry_context *ctx, int wanted, base_work work, void *argument);
void base_barrier(void);
void base_step(void);
void base_wait_for(int member, unsigned steps);
/* For tests: threads are used even where they do not serve. */
void base_use_all_threads(bool yes);
typedef struct range {
    int64_t begin, end;
} range;
/* Part `index` of 0..n-1 cut into `parts` nearly equal ranges, begins rounded to multiples of
 * grain. */
range base_share(int64_t n, int parts, int index, int64_t grain);
/* The part an element is in. */
int base_share_of(int64_t n, int parts, int64_t element, int64_t grain);
/* offsets[i+1] = counts summed up to i, in place: array of n + 1, counts at 1..n, 0 at 0. In
 * parallel. */
spry_status base_prefix_sum(spry_context *ctx, int64_t *array, int64_t n);

/* ISA levels of this build, worst first: their names, and whether this processor can run them. */
int isa_count(void);
const char *isa_name(int level);
bool isa_usable(int level);

/* Bytes of memory this process may use: the machine's, or less where its control group is limited;
 * 0 when unknown. */
int64_t base_machine_memory(void);
/* Bytes that the system can give without taking them from others, by /proc/meminfo, which `path`
 * is; 0 when unknown. */
int64_t base_free_memory(const char *path);
/* The group's share in that, INT64_MAX when unlimited: `list` is /proc/self/cgroup, `mount` where
 * groups are folders. */
int64_t base_group_memory(const char *list, const char *mount);
/* The most threads a context takes. OpenMP runtimes end the process when the system refuses them
 * one, and more than a few per processor serve tests alone. */
int base_most_threads(void);

/* Seconds of a steady clock. */
double base_seconds(void);

/* A counter-based random number (splitmix64 of seed and index): the same for any thread count. */
uint64_t base_random(uint64_t seed, uint64_t index);
/* The same as a double in [0, 1). */
double base_uniform(uint64_t seed, uint64_t index);

#endif
