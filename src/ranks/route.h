/*
 * Items that each go to a rank: what rows, vectors and lines of files are sent by. A route is found
 * once and serves any number of arrays, there and back. Calls are collective.
 */
#ifndef SPRY_DEAL_ROUTE_H
#define SPRY_DEAL_ROUTE_H

#include "base/base.h"
#include "base/team.h"

typedef struct route {
    int64_t sends, receives;           /* items */
    int64_t *send_each, *receive_each; /* the same, to and from each rank */
    int64_t *place;                    /* of each item among those that are sent, by rank */
} route;

/* The route of `count` items, item k going to rank to[k]. Cleared on failure. */
spry_status route_make(spry_context *ctx, int64_t count, const int32_t *to, route *r);
void route_clear(spry_context *ctx, route *r);
/* Sends items of `size` bytes. Those received come by rank, and from one rank in its order. */
spry_status route_send(spry_context *ctx, const route *r, size_t size, const void *items,
                       void *received);
/* The other way: something of `size` bytes for every item received to where that came from. */
spry_status route_return(spry_context *ctx, const route *r, size_t size, const void *items,
                         void *returned);

#endif
