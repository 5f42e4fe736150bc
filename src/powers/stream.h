/*
 * A matrix that stays in its native file: its rows come by blocks, which a thread prefetches into a
 * ring of slots, and several steps go over them in skewed order, so that the file is read once for
 * all of these. Memory is bounded: the slots, and the vectors.
 */
#ifndef SPRY_POWERS_STREAM_H
#define SPRY_POWERS_STREAM_H

#include "host/skew.h"
#include "io/io.h"

typedef struct stream {
    spry_context *ctx;
    char *path;
    int fd;
    matrix_arrays sizes; /* without arrays */
    int64_t places[3];   /* of offsets, columns and values in the file */
    int64_t bytes;       /* of them */
    skew blocks;
    int64_t *entry;            /* the first of each block, and the end */
    int32_t *low, *high;       /* columns of each block; high < low: it has none */
    bool has_long;             /* rows whose products sum up by chunks */
    int depth;                 /* steps for which the window fits */
    int64_t slots, slot_bytes; /* the ring */
    int64_t slot_rows, slot_entries;
    char *room;
    bool keeps; /* what was read stays in the system's cache as it may */
    int64_t read_bytes;
    double read_seconds, wait_seconds;
} stream;

/* What to do with the rows: y = alpha A x + beta y, or steps of a basis. */
typedef struct stream_work {
    int count;
    const power_step *steps; /* NULL: a product, with these factors */
    spry_scalar alpha, beta;
    const void *before, *x; /* v_(-1), or NULL */
    void *const *v;
} stream_work;

/*
 * Opens a file and looks at all of its indices once.
 *
 * @param steps   the most that are to be made together
 * @param memory  bytes for the slots
 */
spry_status stream_open(spry_context *ctx, const char *path, int steps, int64_t memory, bool keeps,
                        stream **out);
void stream_close(stream *s);
/* Steps of a basis, as many at a time as the depth is. */
spry_status stream_steps(stream *s, int count, const power_step *steps, const void *x,
                         void *const *v);
/* y = alpha A x + beta y */
spry_status stream_multiply(stream *s, spry_scalar alpha, const void *x, spry_scalar beta, void *y);
/* The diagonal, by one reading, too; duplicate entries are added up. */
spry_status stream_diagonal(stream *s, void *d);

#endif
