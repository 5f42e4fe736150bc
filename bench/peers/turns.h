/* Contenders that take turns, so that what disturbs a machine disturbs all alike. */
#ifndef BENCH_TURNS_H
#define BENCH_TURNS_H

#include "peer.h"

/* Work that is asked for again and again, and need not be done when the call comes back. */
typedef struct turn {
    char name[64];
    void (*work)(void *data);
    void (*finish)(void *data); /* waits for all of it; NULL: work waits itself */
    void *data;
    peer_times times; /* out: seconds of one */
} turn;

/* In each round each works for about `seconds` seconds. */
void turns_take(turn *turns, int count, int rounds, double seconds);

#endif
