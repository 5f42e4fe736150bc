/*
 * Matrix powers (<spry/powers.h>): host/skew.c and parts.c are the two ways to make several steps
 * with one reading of A, choose.c chooses; local.c has parts on devices, choose_local.c chooses for
 * them; stream.c is for matrices that stay in their files, ranks.c for those that are distributed
 * over ranks; powers.c is the object, file.c that of a file, operator.c that of an operator.
 */
#ifndef SPRY_POWERS_INTERNAL_H
#define SPRY_POWERS_INTERNAL_H

#include "host/skew.h"
#include "powers/local.h"
#include "powers/parts.h"
#include "powers/ranks.h"
#include "powers/stream.h"

#include <spry/powers.h>

_Static_assert((int)SPRY_POWERS_MOST == (int)MOST_POWERS, "one bound for all");

#define POWERS_OPTIONS(item)                                                                       \
    item(INT, k, "8", 1, MOST_POWERS, NULL, "how many powers")                                     \
    item(WORD, basis, "powers", 0, 0, "powers newton chebyshev",                                   \
         "A^j x; Newton's basis, with the shifts of spry_powers_set_shifts(); Chebyshev's "        \
         "polynomials of the interval from low to high")                                           \
    item(REAL, low, "0", 0, 0, NULL, "chebyshev: the lower end")                                   \
    item(REAL, high, "0", 0, 0, NULL, "chebyshev: the upper end")                                  \
    item(WORD, schedule, "auto", 0, 0, "auto plain skewed parts",                                  \
         "product by product; skewed (wavefront) steps; part by part with the rows around it; "    \
         "auto: the fastest by forecast")                                                          \
    item(WORD, cut, "auto", 0, 0, "rows rcm metis auto",                                           \
         "parts are cut out of the rows in their order, in the order rcm, or by METIS")            \
    item(INT, depth, "0", 0, MOST_POWERS, NULL, "steps per reading of A; 0: as many as fit")       \
    item(INT, memory, "0", 0, 9e18, NULL,                                                          \
         "bytes of fast memory for a part; 0: half of the cache, for each thread its share, on a " \
         "device the local memory of a group; of a file: for the rows in memory, 0: a "            \
         "quarter of the memory")                                                                  \
    item(TEXT, device, "cpu", 0, 0, NULL,                                                          \
         "where the vectors are and the work is done: cpu, cuda[:i], opencl[:i]")                  \
    item(WORD, keep, "auto", 0, 0, "auto yes no",                                                  \
         "of a file: what was read may stay in the system's cache; auto: where half of the "       \
         "memory is enough for it")                                                                \
    item(WORD, results, "all", 0, 0, "all last",                                                   \
         "of an operator: all steps, or the last alone, in two vectors")

typedef struct powers_options {
    POWERS_OPTIONS(SPRY_OPTION_FIELD)
} powers_options;
spry_option_list powers_option_list(void);
enum { BASIS_POWERS, BASIS_NEWTON, BASIS_CHEBYSHEV };
enum { SCHEDULE_AUTO, SCHEDULE_PLAIN, SCHEDULE_SKEWED, SCHEDULE_PARTS };
enum { KEEP_AUTO, KEEP_YES, KEEP_NO };
enum { RESULTS_ALL, RESULTS_LAST };
enum { CUT_AUTO = CUT_METIS + 1 };

/* How powers of a matrix in memory are made. */
typedef struct powers_way {
    int schedule, cut, depth;
    int64_t version; /* of the matrix or the operator that it was made for */
    skew skewed;
    part_set parts;        /* skewed in another order: the matrix in that order, as one part */
    local_parts local;     /* on a device; count is 0 elsewhere */
    char *room;            /* then: the vectors in that order */
    spry_powers_info info; /* without what is of files */
} powers_way;

/* Bytes per second from memory, and of rows in the cache, of all threads; 0: not measured. */
typedef struct powers_pace {
    double memory, cached;
} powers_pace;

struct spry_powers {
    spry_context *ctx;
    powers_options options;
    spry_type type;
    int64_t n;
    power_step steps[MOST_POWERS];
    bool ready;                /* there are steps */
    const spry_matrix *matrix; /* the caller's; NULL: a file, or an operator */
    const spry_matrix *csr;    /* the same, or `copy` */
    spry_matrix *copy;
    spry_operator *product; /* with the caller's, one by one; without a matrix it is theirs */
    operator_rows rows;     /* of an operator that goes skewed */
    powers_way way;
    powers_ranks
        ranks; /* of a matrix that is distributed; of the way there is the version and info */
    powers_pace pace;
    stream *file; /* the matrix stays in it; then those above are NULL, and only info of the way is
                     set */
};

/* The object before it has a matrix. */
spry_status powers_begin(spry_context *ctx, const char *options, spry_powers **out);
/* Hands it over, or frees it where something has failed. */
spry_status powers_end(spry_context *ctx, spry_status status, spry_powers *p, spry_powers **out);
/* Fails where the last result alone is asked for. */
spry_status powers_need_all(const spry_powers *p);

/* Less than that is not worth another order of the work. */
#define POWERS_LEAST_GAIN 1.1
/* Fast memory of a thread. */
int64_t powers_fast_memory(const spry_powers *p);
/* The most steps that may go together, by the options. */
int powers_most_depth(const spry_powers *p);
/* Passes of that depth, and the depth that makes them all about as deep. */
int powers_passes(int steps, int depth);
int powers_even_depth(int steps, int depth);
/* Chooses how, for matrices in memory, and for operators; the way before is replaced. */
spry_status powers_choose(spry_powers *p);
spry_status powers_choose_operator(spry_powers *p);
/* On a device that has the product with the matrix set up: parts in local memory replace the plain
 * way, if they are wanted or promise more. */
spry_status powers_choose_local(spry_powers *p);
/* Fills in what a way of its depth costs: `read` bytes of A and of x for each pass. */
void powers_way_forecast(const spry_powers *p, int64_t read, powers_way *way);
/* Keeps the better of two, of which `best` may be the plain one, and clears the other. */
void powers_way_keep(spry_context *ctx, powers_way *best, powers_way *other, bool wanted);
/* Names what was chosen in its info. */
void powers_way_name(powers_way *way);
void powers_way_clear(spry_context *ctx, powers_way *way);
/* Several steps by a way that is not the plain one, count at most its depth; before: v_(-1), or
 * NULL. */
void powers_way_run(const spry_powers *p, int count, const power_step *steps, const void *before,
                    const void *x, void *const *v);

#endif
