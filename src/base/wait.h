/* A number that threads wait for to change: they spin for a while, and then sleep. */
#ifndef SPRY_GATE_H
#define SPRY_GATE_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

enum { GATE_LINE = 64 }; /* bytes: gates have cache lines of their own */

typedef struct gate {
    _Alignas(GATE_LINE) atomic_uint word;
    atomic_int asleep;
    pthread_mutex_t lock;
    pthread_cond_t changed;
} gate;

#define GATE_INIT                                                              \
    {                                                                          \
        .lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER \
    }

/* Spins until the word is no longer `old`, but no longer than a sleeping thread takes to be awake
 * again; whether it has changed. */
bool gate_spin(const gate *g, unsigned old);
/* Returns when the word is no longer `old`. */
void gate_wait(gate *g, unsigned old);
/* Changes the word and wakes who sleeps. */
void gate_set(gate *g, unsigned word);
void gate_clear(gate *g);

#endif
