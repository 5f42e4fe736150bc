/* Work in parallel with the thread that uses a context: by a thread of the library's own, with a
 * context of its own, whose memory comes over at the end. */
#ifndef SPRY_BACKGROUND_H
#define SPRY_BACKGROUND_H

#include "base/base.h"

#include <pthread.h>

/* Starts a thread: signals are for the threads of the program, but for its own faults. False where
 * the system refuses. */
bool base_start_thread(pthread_t *thread, void *(*run)(void *), void *data);
/* The calling thread, as the system counts; 0 where it does not. */
int base_thread_id(void);
/* Seconds that a thread of this process has been ready to run and had no core; infinite where the
 * system does not tell. */
double base_thread_waited(int id);
/* Says whether the calling thread's work is that of iterations now, which come without parallel
 * regions between them and want OpenMP's spinning threads ended (thread_pool.c); gives what was
 * said before. */
bool base_iterate(bool yes);
/* Whether another thread may allocate at the same time, by a context of its own: the allocator is
 * not one of the caller's, who is promised calls by one thread at a time. */
bool base_allocates_anywhere(const spry_context *ctx);
/* All memory of another context, of the same allocator, is counted as this one's from here on, and
 * is to be freed by it; what that had at most was in use in addition to this one's. */
void base_take_memory(spry_context *ctx, spry_context *from);

#endif
