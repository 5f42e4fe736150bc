/* Blocks of a file: where they lie in the ring, reading one, and what may go wrong. */
#ifndef SPRY_POWERS_STREAM_READ_H
#define SPRY_POWERS_STREAM_READ_H

#include "powers/stream.h"

/* Reported by a thread that has no context. */
typedef struct stream_fault {
    enum { FAULT_NONE, FAULT_SYSTEM, FAULT_SHORT, FAULT_CHANGED } kind;
    int error; /* the system's */
    int64_t row;
} stream_fault;

/* Reads a block into its slot and looks at its indices. */
stream_fault stream_read_block(stream *s, int64_t block);
/* The message of a fault. */
spry_status stream_report(const stream *s, const stream_fault *fault);
/* The rows of a block, counted from 0, in its slot. */
host_csr stream_slot(const stream *s, int64_t block);

#endif
