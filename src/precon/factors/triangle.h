/*
 * Triangular systems, solved by sets of rows that do not depend on each other.
 *
 * A pattern is put into an order of places: sets one after the other, each row behind all its
 * neighbours (in the pattern of F + F^T) of earlier sets. Sets are levels: a row is in the first
 * set after those of the neighbours that come before it, which for an order by colours are the
 * colours. (E. Anderson, Y. Saad, Solving sparse triangular linear systems on parallel computers,
 * Int. J. High Speed Comput. 1 (1989).) A triangle holds the entries that lead to earlier places
 * (lower) or later ones (upper), rows and columns numbered by places, so that a set reads and
 * writes memory that lies together; what is given and asked for by rows is gathered and scattered
 * on the way. All threads share a set, and the result does not depend on how. On the
 * host chunks of a few neighbouring rows stand for rows: they stay together, as they lie together
 * in vectors, and are done in turn. Where sets have few rows each, rows keep their order, and one
 * thread does them all.
 *
 * The diagonal is one: rows were divided by it, and f multiplies the right-hand side instead:
 *
 *     w + T w = f .* r
 */
#ifndef SPRY_PRECON_TRIANGLE_H
#define SPRY_PRECON_TRIANGLE_H

#include "precon/kernels.h"
#include "precon/precon.h"

/* Rows that may stay together in sets of the host: about a line of the cache. */
enum { TRIANGLE_CHUNK = 8 };

/* Sets begin..end-1: a single one that is shared, or several small ones that one does in turn. */
typedef struct triangle_stage {
    int64_t begin, end;
    bool shared;
} triangle_stage;

typedef struct triangle_sets {
    int64_t n, count;
    int64_t *first;         /* count + 1: the place where each set begins */
    int32_t *rows, *places; /* the row of A at a place, the place of a row; NULL: they are equal */
    bool *begins;           /* rows that stay together, at a place; NULL: there is one set */
    bool natural;           /* a neighbour with a smaller number is at an earlier place */
    int64_t stages;
    triangle_stage *stage;
} triangle_sets;

/* A pattern by rows of A; the diagonal does not matter. */
typedef struct triangle_pattern {
    const int64_t *offsets;
    const int32_t *columns;
    bool symmetric; /* known to be; else it may be all the same */
    bool sorted;    /* columns rise in each row; else they may all the same */
} triangle_pattern;

/* The sets of the union of patterns of n rows; perm, where not NULL, is the order of the rows.
 * `always`: places are by sets also where those are small, and rows of a set do not depend on each
 * other, as devices want it. On failure it is
 * cleared. */
spry_status triangle_sets_make(spry_context *ctx, int64_t n, const triangle_pattern *p, int count,
                               const int32_t *perm, bool always, triangle_sets *s);
void triangle_sets_clear(spry_context *ctx, triangle_sets *s);
/* The places of a part of a set: rows that stay together are in one. */
range triangle_share(const triangle_sets *s, int64_t set, int parts, int part);
/* Rows that were numbered in the order `perm` (NULL: none) get the numbers they have in A. */
spry_status triangle_sets_rename(spry_context *ctx, triangle_sets *s, const int32_t *perm);

typedef struct triangle {
    const triangle_sets *sets;
    spry_type type;
    bool upper;
    int64_t *offsets;
    int32_t *columns; /* rising in each row */
    void *values;
} triangle;

void triangle_clear(spry_context *ctx, triangle *t);
/* One triangle of a pattern, with its values, or room for them (NULL). On failure it is cleared, as
 * below. */
spry_status triangle_of_pattern(spry_context *ctx, const triangle_pattern *p, const void *values,
                                const triangle_sets *sets, spry_type type, bool upper, triangle *t);
/* Both triangles of a pattern, lower first, with room for values. */
spry_status triangles_of_pattern(spry_context *ctx, const triangle_pattern *p,
                                 const triangle_sets *sets, spry_type type, triangle t[2]);
/* One triangle of a matrix, row i multiplied by scale_i, which is by rows. */
spry_status triangle_of_matrix(const spry_matrix *A, const triangle_sets *sets, bool upper,
                               const spry_vector *scale, triangle *t);
/* The values that A has in a triangle's pattern, zeros elsewhere. */
void triangle_load(const spry_context *ctx, const spry_matrix *A, triangle *t);
/* T^T, whose sets are the same; triangle_turn() fills an existing one. */
spry_status triangle_transpose(spry_context *ctx, const triangle *t, triangle *to);
spry_status triangle_turn(spry_context *ctx, const triangle *t, triangle *to);
/* A matrix by rows of A with the triangle's pattern and these values. */
spry_status triangle_matrix(spry_context *ctx, const triangle *t, const void *values,
                            spry_matrix **A);
int64_t triangle_bytes(const triangle *t);

/* --- solving -------------------------------------------------------------------------------------
 */

/* How threads share one triangle on the host: parts of each set, and for part p of set t the waits
 * first[t most + p]..first[t most + p + 1]-1, each for a part to have passed a number of sets. */
typedef struct triangle_wait {
    int32_t part;
    uint32_t steps;
} triangle_wait;

typedef struct triangle_waits {
    int most; /* parts of a set; 1: one thread does all */
    int32_t *parts;
    int64_t *first;
    triangle_wait *wait;
} triangle_waits;

/* On failure it is cleared. */
spry_status triangle_waits_make(spry_context *ctx, const triangle *t, triangle_waits *w);
void triangle_waits_clear(spry_context *ctx, triangle_waits *w);
/* One triangle on the host: see triangle_rows in kernels.h. */
triangle_pass triangle_pass_for(const triangle *t, bool conjugate, const void *f);
/* Runs triangles of the same sets, one after the other, with all threads. */
void triangle_run(const spry_context *ctx, spry_type type, const triangle_sets *sets, int count,
                  const triangle_pass *pass, const triangle_waits *waits);
/* Calls `work` for the stages of the sets (backward: last first) with ranges of places, the places
 * of a shared set distributed to the threads. What `work` does with its places may depend on all
 * that was done for earlier stages. It may report a failure: then later stages are left out. */
typedef bool (*triangle_work)(void *data, int thread, int64_t begin, int64_t end);
bool triangle_each_stage(const spry_context *ctx, const triangle_sets *sets, int threads,
                         bool backward, triangle_work work, void *data);
/* Threads worth waking for `entries` in all sets together. */
int triangle_threads(const spry_context *ctx, const triangle_sets *sets, int64_t entries);

/* --- chains --------------------------------------------------------------------------------------
 */

/* How a device does sets that follow each other: see triangle_device.h. */
typedef enum triangle_way {
    TRIANGLE_ANY,
    TRIANGLE_ALONE,  /* by one group */
    TRIANGLE_SHARED, /* by all groups, which wait for each other's rows */
    TRIANGLE_SET     /* by all groups, a set at a time */
} triangle_way;

/* What tests want of a device; zeros: as it thinks best. */
typedef struct triangle_wish {
    triangle_way way;
    int lanes, teams;
} triangle_wish;

/* One triangle or two, solved one after the other where they are to live. It owns what it has but
 * for the sets. */
typedef struct triangle_chain {
    spry_device *device; /* NULL: the host */
    const triangle_sets *sets;
    spry_type type;
    int count; /* 0: not made yet */
    triangle t[2];
    void *f[2]; /* by places; NULL: ones */
    void *w;    /* room, where rows are not at their places */
    triangle_waits waits[2];
    triangle_wish wish;
    struct triangle_device *on_device;
} triangle_chain;

/* After t, f and count were set, or their numbers changed: allocates and copies what it takes. */
spry_status triangle_chain_place(spry_context *ctx, triangle_chain *c);
void triangle_chain_clear(spry_context *ctx, triangle_chain *c);
/* M^T = (I + L^T)^-1 D^-1 (I + U^T)^-1 of two triangles with f[1] = D^-1, or of one without f. */
spry_status triangle_chain_transpose(spry_context *ctx, const triangle_chain *from,
                                     triangle_chain *c);
/* z = w of the last triangle, with all numbers conjugated if asked. r is not z. */
spry_status triangle_chain_apply(spry_context *ctx, const triangle_chain *c, bool conjugate,
                                 const spry_vector *r, spry_vector *z);
/* The same on a device, where `on_device` is. */
spry_status triangle_device_place(spry_context *ctx, triangle_chain *c);
spry_status triangle_device_apply(const triangle_chain *c, bool conjugate, const spry_vector *r,
                                  spry_vector *z);
void triangle_device_free(spry_context *ctx, struct triangle_device *on_device);
/* Bytes of its own that it reads. */
int64_t triangle_chain_bytes(const triangle_chain *c);
/* A copy by places of numbers by rows. */
spry_status triangle_by_places(spry_context *ctx, const triangle_sets *sets, spry_type type,
                               const void *by_rows, void **by_places);

#endif
