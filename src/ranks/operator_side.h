/* One side of a distributed product, A, A^T or A^H by rows: what operator.c has the host or a
 * device do. */
#ifndef SPRY_RANKS_OPERATOR_SIDE_H
#define SPRY_RANKS_OPERATOR_SIDE_H

#include "ranks/halo_device.h"

enum { DIST_MOST_TOGETHER = 64 }; /* x whose elements travel in one message */

/* Memory for the messages of several x at once. */
typedef struct dist_post {
    team_halo *messages;
    char *send, *receive; /* by neighbour, and then by x */
} dist_post;

typedef struct dist_host_side {
    operator_rows own_rows, edge_rows;
    int room; /* of x in what follows */
    char *compact, *sums;
    dist_post posts[DIST_MOST_TOGETHER]; /* by the number of x, less 1 */
    int count;                           /* of x in the messages at hand */
    const void *x[DIST_MOST_TOGETHER];
} dist_host_side;

typedef struct dist_device_side {
    device_memory *kept_index, *edge_rows; /* places in x and y */
    device_memory *compact, *sums;
    device_halo *halo;
} dist_device_side;

typedef struct dist_side {
    spry_context *ctx;
    spry_device *d; /* where this rank works; NULL: the host */
    spry_type type;
    const distributed *links;
    spry_matrix *kept; /* freed with it; may be NULL */
    spry_operator *own, *edge;
    bool by_rows; /* on all ranks */
    union {
        dist_host_side host;
        dist_device_side device;
    };
} dist_side;

/* Whether rows can be run by themselves on this rank. */
spry_status dist_host_find_rows(dist_side *s, bool *found);
/* Opens the messages. Collective. */
spry_status dist_host_open(dist_side *s);
void dist_host_close(dist_side *s);
/* y = alpha A x + beta y. Collective. */
spry_status dist_host_multiply(dist_side *s, spry_scalar alpha, const void *x, spry_scalar beta,
                               void *y);
void dist_host_rows(const dist_side *s, operator_rows *rows);

/* The same on a device. */
spry_status dist_device_open(dist_side *s);
void dist_device_close(dist_side *s);
spry_status dist_device_multiply(dist_side *s, spry_scalar alpha, const device_memory *x,
                                 spry_scalar beta, device_memory *y);

#endif
