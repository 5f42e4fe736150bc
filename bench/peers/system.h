/*
 * Linear systems that several libraries solve, from nothing to a true residual of 1e-8. A contender
 * is a program of its own, PROGRAM MATRIX THREADS CONFIGURATION, where the configuration is a text
 * that means something to its library; precon.sh starts them in turn. It answers with one line:
 *   set-up seconds, solve seconds, iterations, |b - A x| / |b|
 */
#ifndef BENCH_SYSTEM_H
#define BENCH_SYSTEM_H

#include "peer.h"

#define SYSTEM_TOLERANCE 1e-8
/* Libraries that trust a residual of their recurrence go on from where they ended when the true one
 * is larger, at most SYSTEM_PASSES times. */
enum { SYSTEM_ITERATIONS = 20000, SYSTEM_PASSES = 4 };

typedef struct peer_system {
    spry_context *ctx;
    spry_matrix *A; /* general CSR, rows sorted */
    spry_vector *b; /* ones; for a matrix from a file, A times ones */
    peer_arrays arrays;
    const char *matrix, *configuration;
    int threads, block; /* unknowns per node */
} peer_system;

/* Reads the command line and makes the system, with `threads` threads; refuses what it cannot. */
void system_open(int argc, char **argv, int threads, peer_system *s);
void system_close(peer_system *s);

/* Whether A is equal to its transpose, and of those, whether it may be positive definite. */
bool system_is_symmetric(const peer_system *s, bool *positive);

/* Stores zeros where the diagonal has no entry: some factorisations want a place there. */
void system_complete(peer_system *s);

/* Where a node of the generated elastic box is, in its spacing; false for other matrices. */
bool system_node(const peer_system *s, int64_t node, double at[3]);

/* The rows that a process has: numbers of entries are equal, but for whole nodes. */
void system_rows(const peer_system *s, int rank, int size, int64_t *begin, int64_t *end);

void system_answer(double setup, double solve, int64_t iterations, double residual);

#endif
