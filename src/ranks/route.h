/*
 * Items that each go to a rank: what rows, vectors and lines of files are sent by. A route is found
 * once and serves any number of arrays, there and back. Calls are collective.
 */
#ifndef SPRY_RANKS_ROUTE_H
#define SPRY_RANKS_ROUTE_H

#include "base/base.h"
#include "base/team.h"

#include <string.h>

typedef struct route {
    int64_t sends, receives;           /* items */
    int64_t *send_each, *receive_each; /* the same, to and from each rank */
    int64_t *place;                    /* of each item among those that are sent, by rank */
} route;

/* to[place[k]] = from[k] for items of `size` bytes, and the inverse to[k] = from[place[k]]. */
static inline void items_scatter(int64_t count, const int64_t *place, size_t size, const void *from,
                                 void *to)
{
    for (int64_t k = 0; k < count; k++)
        memcpy((char *)to + (size_t)place[k] * size, (const char *)from + (size_t)k * size, size);
}
static inline void items_gather(int64_t count, const int64_t *place, size_t size, const void *from,
                                void *to)
{
    for (int64_t k = 0; k < count; k++)
        memcpy((char *)to + (size_t)k * size, (const char *)from + (size_t)place[k] * size, size);
}

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
