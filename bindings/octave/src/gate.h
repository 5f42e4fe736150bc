/*
 * The gateway between Octave or MATLAB and the library: one MEX function,
 *
 *     [...] = spry_mex(COMMAND, ...)
 *
 * a command a function, in a few files. Commands come back with false after gate_fail(): only when
 * all of the library's objects of a call are freed does mexFunction() raise the error, which does
 * not come back.
 */
#ifndef SPRY_GATE_H
#define SPRY_GATE_H

#include <stdbool.h> /* before MATLAB's headers, which have a bool of their own otherwise */

#include <mex.h>
#include <spry/spry.h>

/** What a call was given, after the command's name, and what it gives. */
typedef struct gate_call {
    int in_count, out_count; /**< out_count: as asked for, may be 0 */
    const mxArray **in;
    mxArray **out; /**< room for one at least */
} gate_call;
typedef bool (*gate_command)(gate_call *call);

/* spry_mex.c */
/** Notes an error with its identifier ("badShape" becomes spry:badShape); false. */
bool gate_fail(const char *id, const char *format, ...) SPRY_PRINTF(2, 3);
/** True for SPRY_STATUS_OK; else notes the library's message. */
bool gate_check(spry_status status);
/** The same for a call with a context of its own. */
bool gate_check_of(spry_status status, const spry_context *ctx);
/** How many arguments a command must be given. */
bool gate_count(const gate_call *call, int least, int most);
/** A text of the caller's; NULL and an error when it is none. Octave frees it after the call. */
char *gate_text(const mxArray *array, const char *what);

/* words.c */
/** A message of the library's with rows and columns that count from 1; mxFree() frees it. */
char *gate_words(const char *text);

/* context.c */
/** The one context all objects belong to; NULL and an error. */
spry_context *gate_context(void);
/** Requests to stop (Ctrl-C) go to the library from here to gate_listen_end(). */
void gate_listen(void);
/** Back to what was; a request that came meanwhile is then handed on. True when one came. */
bool gate_listen_end(void);
/** Whether MATLAB has noted a request that came without a signal. */
bool gate_stop_asked(void);
/** Whether MATLAB can be asked that. */
bool gate_can_ask(void);
bool command_open(gate_call *call);
void context_close(void);

/* arrays.c */
/** The library's type for a full or sparse array of numbers; an error names `what` otherwise. */
bool arrays_type(const mxArray *array, const char *what, spry_type *type);
/** The type that both go into: complex if one is, single if one is. */
spry_type arrays_join(spry_type a, spry_type b);
/** A sparse matrix over the arrays of the caller's, which are borrowed, or a copy of another type.
 */
bool arrays_matrix(const mxArray *array, const char *what, spry_type type, spry_matrix **A);
/** The numbers of a full array as those of a type: where they are, or converted in memory that
 * Octave frees after the call; NULL and an error. */
void *arrays_numbers(const mxArray *array, const char *what, spry_type type);
/** The same for the real or the imaginary part of complex ones, as those of a real type. */
void *arrays_part(const mxArray *array, bool imaginary, spry_type type);
/** A new full array of zeros. */
mxArray *arrays_full(spry_type type, int64_t rows, int64_t cols);
/** Room for the numbers of a new array: its own, or for complex ones a block of pairs, which
 * arrays_set() takes. */
void *arrays_room(mxArray *array, spry_type type);
/** Sets the numbers of an array from such room, and frees that if it is not the array's own. */
void arrays_set(mxArray *array, spry_type type, void *room);
/** A matrix of the library's as a sparse array. */
bool arrays_sparse(const spry_matrix *A, mxArray **array);
/** Checks that an array has `rows` rows. cols: out. */
bool arrays_columns(const mxArray *array, const char *what, int64_t rows, int64_t *cols);

/* kept.c */
/** A matrix that is kept between calls, with what was made from it. */
typedef struct kept {
    uint64_t id;
    int64_t pattern, values; /**< fingerprints of the arrays it was made from */
    spry_type type;
    spry_matrix *A; /**< NULL: an operator without a matrix, of a grid */
    spry_operator *op;
    spry_solver *solver; /**< of the last solve; NULL: none so far */
    char *options;       /**< that it was made with */
    char device[32], format[136];
    int users; /**< calls that use it now */
    bool dead; /**< was freed by one of them: goes with the last */
    struct kept *next;
} kept;
/** The kept matrix with an id, for the length of a call: kept_leave() ends it. */
kept *kept_enter(const mxArray *id);
/** What an id says of it: the matrix itself, or a transpose. Ids are multiples of 4, and those of
 * transposes 1 (A.') or 2 (A') more. */
spry_transpose kept_transpose(const mxArray *id);
void kept_leave(kept *k);
/** Keeps an operator, which it takes; also after a failure. */
bool kept_operator(spry_operator *op, mxArray **id);
/** Whether an argument is an id rather than a matrix. */
bool kept_is_id(const mxArray *array);
void kept_free_all(void);
bool command_keep(gate_call *call);
bool command_free(gate_call *call);
bool command_matches(gate_call *call);
bool command_update(gate_call *call);
bool command_describe(gate_call *call);
bool command_arrays(gate_call *call);
bool command_multiply(gate_call *call);

/* functions.c */
/** A function of the caller's as an operator. */
typedef struct function {
    const mxArray *handle;
    spry_type type;
    int64_t rows, cols;
    bool flags; /**< called as f(x, 'notransp') and f(x, 'transp') */
    spry_operator *op;
} function;
bool function_open(function *f, const mxArray *handle, spry_type type, int64_t rows, int64_t cols,
                   bool flags);
void function_close(function *f);
/** Functions come wrapped, so that errors do not pass through the library: [y, message] = f(x).
 * A monitor of the caller's: go_on = f(iteration, residual); data is one of these. */
typedef struct watching {
    const mxArray *handle; /**< NULL: none, Ctrl-C is looked for alone */
    bool failed;           /**< gate_fail() has the reason */
} watching;
bool function_watch(void *data, int64_t iteration, double residual);

/* options.c */
/** Fields of an options struct that are not the solver's. */
typedef struct solve_options {
    const mxArray *x0, *precon, *monitor;
    int64_t cols;   /**< of a function that is not square; 0: square */
    bool transpose; /**< functions answer 'transp', too */
    bool single;
} solve_options;
bool options_pick(const mxArray *options, solve_options *picked);
bool options_set(const mxArray *options, spry_solver *solver);
/** All of the solver's as one text, to compare; mxFree() frees it. */
char *options_print(const mxArray *options);
/** A struct's fields as "name=value ..." for calls that take text. */
char *options_text(const mxArray *options);

/* result.c */
mxArray *result_struct(const spry_result *results, int64_t count);

/* solve.c */
bool command_solve(gate_call *call);

/* grids.c */
bool command_stencil(gate_call *call);
bool command_helmholtz(gate_call *call);
bool command_places(gate_call *call);
bool command_step(gate_call *call);
bool command_bounded(gate_call *call);

/* lists.c */
bool command_info(gate_call *call);
bool command_tune(gate_call *call);
bool command_list(gate_call *call);
bool command_devices(gate_call *call);
bool command_read(gate_call *call);
bool command_write(gate_call *call);
bool command_generate(gate_call *call);

#endif
