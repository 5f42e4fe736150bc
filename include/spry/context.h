/* The context: memory, messages, log, threads. Every object belongs to one, and keeps it alive. */
#ifndef SPRY_CONTEXT_H
#define SPRY_CONTEXT_H

#include <spry/types.h>

SPRY_BEGIN

/**
 * Memory, messages, log and threads of a group of objects. One thread at a time uses a context and
 * what belongs to it; but several threads that have a context each may read one matrix, as long as
 * nobody changes it: docs/threads.md says all of it.
 */
typedef struct spry_context spry_context;

/** Where memory comes from; NULL members take the default. Called from one thread at a time, but
 * for release where objects are freed by other threads. */
typedef struct spry_allocator {
    size_t size;                                                   /**< SPRY_ALLOCATOR_INIT */
    void *(*allocate)(void *data, size_t bytes, size_t alignment); /**< NULL when there is none */
    void (*release)(void *data, void *memory, size_t bytes);       /**< takes memory back */
    void *data; /**< the functions' first argument */
} spry_allocator;
#define SPRY_ALLOCATOR_INIT SPRY_SIZED(spry_allocator)

/** How much a line of the log matters. */
typedef enum spry_log_level { SPRY_LOG_WARNING, SPRY_LOG_INFO, SPRY_LOG_DEBUG } spry_log_level;

/** Receives what the library has to tell; it never prints by itself. */
typedef void (*spry_log_fn)(void *data, spry_log_level level, const char *text);

/**
 * Makes a context.
 *
 * @param options  "name=value ..." or NULL; see spry_options_of("context")
 * @param ctx      out: the context, to be freed by spry_context_free() also after a failure (it
 *                 holds the message then); NULL only when there was no memory for it
 */
SPRY_API spry_status spry_context_new(const char *options, spry_context **ctx);

/** The same with an allocator of the caller's. */
SPRY_API spry_status spry_context_new_with(const spry_allocator *allocator, const char *options,
                                           spry_context **ctx);

/** Frees a context; NULL is allowed. Where objects of it are left (matrices, vectors, operators,
 * solvers), they go on working, without a log, and it goes with the last of them: the order in
 * which things are freed does not matter. Results, reports and memory of spry_alloc() are no
 * objects: they are freed before. */
SPRY_API void spry_context_free(spry_context *ctx);

/** The last failure's message with its causes ("" when there was none); valid until the next call.
 */
SPRY_API const char *spry_message(const spry_context *ctx);

/** Sets that message: for functions of the caller's that the library calls, before they come back
 * with a failure. NULL is "". */
SPRY_API void spry_context_set_message(spry_context *ctx, const char *text);

/** The function that hears the log; NULL: none. */
SPRY_API void spry_context_set_log(spry_context *ctx, spry_log_fn log, void *data);

/** Threads in use by products and vector work: those asked for, or fewer, with a warning, where the
 * system refuses some. Each needs a stack of 256 kB: where `ulimit -s` gives less, set
 * OMP_STACKSIZE.
 *
 * After fork() a child may go on using its objects, with one thread if its parent had used several
 * (they do not live on in a child), and gets the same numbers. Devices must be opened anew there,
 * by a context of the child's own. A child that calls exec() is not concerned. */
SPRY_API int spry_context_threads(const spry_context *ctx);
/** The instruction set the host kernels were chosen for: "base", "avx2", "avx512". */
SPRY_API const char *spry_context_isa(const spry_context *ctx);

/**
 * Asks the call that runs, or else the next one that listens, to stop; may be called from a signal
 * handler or another thread. Solves, their set-up included (they return SPRY_STATUS_OK, and
 * result.reason says interrupted), the making of preconditioners by themselves, and the reading and
 * writing of files (SPRY_STATUS_INTERRUPTED) listen. The call that ends because of it takes
 * the request back, and later ones run; a solve that ends by itself at the same moment leaves it to
 * the next. What runs within a call (an inner solve, a file that a monitor writes) leaves it to
 * that call. The tuner comes to its choice sooner, and leaves it.
 */
SPRY_API void spry_context_interrupt(spry_context *ctx);
/** Whether a request to stop is there that no call has taken yet; clear takes it back: for those
 * who do not want one from before to end what they start now. */
SPRY_API bool spry_context_interrupted(spry_context *ctx, bool clear);

/** 64-byte aligned memory of the context, zero bytes included; NULL and a message when there is
 * none. */
SPRY_API void *spry_alloc(spry_context *ctx, size_t bytes);
/** Gives back what spry_alloc(), or a call that says so, has given; NULL is allowed. */
SPRY_API void spry_free(spry_context *ctx, void *memory);
/** Bytes in use now and at most so far. */
SPRY_API void spry_context_memory(const spry_context *ctx, int64_t *now, int64_t *most);
/** Bytes that the context may have in use at once: the option memory_limit, or what the machine
 * and the limits of the process allow; 0: nobody knows. */
SPRY_API int64_t spry_context_memory_limit(const spry_context *ctx);

SPRY_END

#endif
