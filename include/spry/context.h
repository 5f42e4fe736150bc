/* The context: memory, messages, log, threads. Every object belongs to one, and keeps it alive. */
#ifndef SPRY_CONTEXT_H
#define SPRY_CONTEXT_H

#include <spry/types.h>

SPRY_BEGIN

/**
 * Memory, messages, log and threads of a group of objects. One thread at a time uses a context and
 * what belongs to it. Several threads with a context each may read one matrix, as long as no thread
 * changes it: see docs/threads.md.
 */
typedef struct spry_context spry_context;

/** Where memory comes from; NULL members take the default. Called from one thread at a time, except
 * for release when other threads free objects. */
typedef struct spry_allocator {
    size_t size;                                                   /**< SPRY_ALLOCATOR_INIT */
    void *(*allocate)(void *data, size_t bytes, size_t alignment); /**< NULL when there is none */
    void (*release)(void *data, void *memory, size_t bytes);       /**< frees memory */
    void *data; /**< the functions' first argument */
} spry_allocator;
#define SPRY_ALLOCATOR_INIT SPRY_SIZED(spry_allocator)

/** Importance of a line of the log. */
typedef enum spry_log_level { SPRY_LOG_WARNING, SPRY_LOG_INFO, SPRY_LOG_DEBUG } spry_log_level;

/** Receives a line of the log; the library itself never prints. */
typedef void (*spry_log_fn)(void *data, spry_log_level level, const char *text);

/**
 * Makes a context.
 *
 * @param options  "name=value ..." or NULL; see spry_options_of("context")
 * @param ctx      out: the context, to be freed by spry_context_free() also after a failure (it
 *                 holds the message then); NULL only when there was no memory for it
 */
SPRY_API spry_status spry_context_new(const char *options, spry_context **ctx);

/** The same with an allocator of yours. */
SPRY_API spry_status spry_context_new_with(const spry_allocator *allocator, const char *options,
                                           spry_context **ctx);

/** Frees a context; NULL is allowed. Objects of it that are left (matrices, vectors, operators,
 * solvers) keep working, without a log, and the context goes with the last of them: you may free
 * objects in any order. Results, reports and memory of spry_alloc() are not objects: free them
 * before. */
SPRY_API void spry_context_free(spry_context *ctx);

/** The last failure's message with its causes ("" when there was none); valid until the next call.
 */
SPRY_API const char *spry_message(const spry_context *ctx);

/** Sets that message: for your functions that the library calls, before they return a failure. NULL
 * is "". */
SPRY_API void spry_context_set_message(spry_context *ctx, const char *text);

/** Sets the function that receives the log; NULL: none. */
SPRY_API void spry_context_set_log(spry_context *ctx, spry_log_fn log, void *data);

/** Threads in use by products and vector work: those requested, or fewer, with a warning, if the
 * system refuses some. Each needs a stack of 256 kB: if `ulimit -s` gives less, set OMP_STACKSIZE.
 *
 * After fork() a child may keep using its objects and gets the same numbers, with one thread if its
 * parent used several (threads do not survive a fork). A child opens devices again, in a context of
 * its own. */
SPRY_API int spry_context_threads(const spry_context *ctx);
/** The instruction set of the host kernels in use: "base", "avx2", "avx512". */
SPRY_API const char *spry_context_isa(const spry_context *ctx);

/**
 * Asks the call that runs, or else the next one that listens, to stop. You may call it from a
 * signal handler or another thread. These listen: solves with their set-up (they return
 * SPRY_STATUS_OK, and result.reason is SPRY_REASON_STOPPED), spry_precon_new(), and the reading and
 * writing of files (SPRY_STATUS_INTERRUPTED). The call that stops clears the request, so later
 * calls run; a solve that ends by itself at the same moment leaves it to the next. Calls within a
 * call (an inner solve, a file that a monitor writes) leave it to the outer one. The tuner chooses
 * sooner, and leaves the request.
 */
SPRY_API void spry_context_interrupt(spry_context *ctx);
/** Whether a request to stop is pending; `clear` clears it, so that an old request does not end the
 * call you start now. */
SPRY_API bool spry_context_interrupted(spry_context *ctx, bool clear);

/** 64-byte aligned memory of the context, also for 0 bytes; NULL and a message when memory is
 * exhausted. */
SPRY_API void *spry_alloc(spry_context *ctx, size_t bytes);
/** Frees memory of spry_alloc(), or of a call that says so; NULL is allowed. */
SPRY_API void spry_free(spry_context *ctx, void *memory);
/** Bytes in use now, and the most so far. */
SPRY_API void spry_context_memory(const spry_context *ctx, int64_t *now, int64_t *most);

SPRY_END

#endif
