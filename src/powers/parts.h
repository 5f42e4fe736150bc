/*
 * Several steps part by part: a part has rows of its own and those around it, in layers, from which
 * all steps of its own rows can be computed without anything else: layer 1 are the rows that its
 * own rows need, layer 2 those that these need, and so on. These ghost rows are computed by more
 * than one part. A part is stored as a matrix of its own: its rows by layers, so that every step is
 * a product with the first rows (J. Demmel, M. Hoemmen, M. Mohiyuddin, K. Yelick, Avoiding
 * communication in sparse matrix computations, IPDPS 2008, algorithm PA1).
 */
#ifndef SPRY_POWERS_PARTS_H
#define SPRY_POWERS_PARTS_H

#include "host/host.h"
#include "host/powers.h"

/* Rows in an order, cut into ranges. */
typedef struct row_cuts {
    int32_t count;
    int32_t *order; /* NULL: as they are */
    int64_t *start; /* count + 1 */
} row_cuts;

typedef struct part {
    int64_t layer[MOST_POWERS + 1]; /* rows up to each; layer 0 are its own */
    int64_t entries[MOST_POWERS];   /* of the rows up to each */
    int32_t *rows;                  /* of A */
    int64_t *offsets;               /* of all but the last layer, whose rows are not computed */
    int32_t *columns;               /* counted within the part */
    void *values;
} part;

typedef struct part_set {
    spry_type type;
    int depth;
    int32_t count;
    part *parts;
    bool stored;                        /* else their sizes alone are known */
    int64_t largest;                    /* rows of the largest, its last layer included */
    int64_t largest_bytes;              /* of a part with its vectors */
    int64_t bytes;                      /* of all parts, without vectors */
    int64_t gathered;                   /* numbers of x that all parts take */
    int64_t ghost_rows[MOST_POWERS];    /* computed more than once in each step */
    int64_t ghost_entries[MOST_POWERS]; /* of them */
    int shares;
    char *room; /* the vectors of a part, for each share */
} part_set;

/* Cuts rows into `count` parts: as they are, by the order rcm, or by METIS. */
enum { CUT_ROWS, CUT_RCM, CUT_METIS };
spry_status powers_cuts_make(const spry_matrix *A, int how, int32_t count, row_cuts *cuts);
/* Cuts part p again, into pieces[p]. */
spry_status powers_cuts_split(spry_context *ctx, const int32_t *pieces, row_cuts *cuts);
void powers_cuts_clear(spry_context *ctx, row_cuts *cuts);

/*
 * The parts of general CSR for `depth` steps. store: with their matrices; else counted alone. It
 * ends early, with *stops, where ghosts are more than `most` times all other work (0: never).
 */
spry_status powers_parts_make(spry_context *ctx, const matrix_arrays *a, const row_cuts *cuts,
                              int depth, bool store, int most, part_set *set, bool *stops);
void powers_parts_clear(spry_context *ctx, part_set *set);
/* From one vector of a part's room to the next, in bytes. */
int64_t powers_parts_stride(const part_set *set);
/* `count` steps, at most the depth; `before` is v_(-1), NULL where there is none. */
void powers_parts_run(const spry_context *ctx, const part_set *set, int count,
                      const power_step *steps, const void *before, const void *x, void *const *v);

/* to_i = from[rows[i]], numbers of `size` bytes, by all threads; to[rows[i]] = from_i, by the
 * calling one. */
void powers_gather(const spry_context *ctx, int64_t n, const int32_t *rows, int64_t size,
                   const void *from, void *to);
void powers_scatter(int64_t n, const int32_t *rows, int64_t size, const void *from, void *to);

#endif
