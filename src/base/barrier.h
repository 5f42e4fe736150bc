/* A number that threads wait for to change: they spin for a while, and then sleep. */
#ifndef SPRY_BARRIER_H
#define SPRY_BARRIER_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

enum { BARRIER_LINE = 64 }; /* bytes: barriers have cache lines of their own */

typedef struct barrier {
    _Alignas(BARRIER_LINE) atomic_uint word;
    atomic_int asleep;
    pthread_mutex_t lock;
    pthread_cond_t changed;
} barrier;

#define BARRIER_INIT                                                           \
    {                                                                          \
        .lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER \
    }

/* Spins until the word is no longer `old`, but no longer than a sleeping thread takes to be awake
 * again; whether it has changed. */
bool barrier_spin(const barrier *g, unsigned old);
/* Returns when the word is no longer `old`. */
void barrier_wait(barrier *g, unsigned old);
/* Changes the word and wakes who sleeps. */
void barrier_set(barrier *g, unsigned word);
/* The second half of that: to be called after a fence, where the word was changed without it. */
void barrier_wake(barrier *g);
void barrier_clear(barrier *g);

#endif
