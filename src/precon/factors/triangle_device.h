/*
 * How a device goes through the sets of a triangle.
 *
 * Sets are cut into chunks, and chunks are done in stretches, each by one launch: one group that
 * does its chunks in turn, with a barrier after each, where sets are small; all groups where they
 * are large, each row waiting for those that it needs (device/kernels/triangle_alone.knl and
 * triangle_shared.knl). Where groups cannot wait for each other a large set is a stretch.
 */
#ifndef SPRY_PRECON_TRIANGLE_DEVICE_H
#define SPRY_PRECON_TRIANGLE_DEVICE_H

#include "device/engine/device.h"
#include "precon/factors/triangle.h"

enum { TRIANGLE_TEAM = 256 }; /* work-items of a chunk */

/* Chunks begin..begin+count-1, and groups that run at once. */
typedef struct triangle_stretch {
    triangle_way way;
    int32_t begin, count;
    int64_t groups;
} triangle_stretch;

typedef struct triangle_plan {
    int lanes; /* work-items of a row */
    int32_t chunks;
    int32_t *first; /* chunks + 1: places, none of two sets in a chunk */
    int64_t stretches;
    triangle_stretch *stretch;
    bool has[TRIANGLE_SET + 1]; /* stretches of each way */
} triangle_plan;

/* For both triangles of a chain. On failure it is cleared. */
spry_status triangle_plan_make(const triangle_chain *c, triangle_plan *plan);
/* Columns of a triangle as kernels read them: where one group does a stretch and keeps its last
 * results in `recent` places (a power of two) of its local memory, ~(c mod recent) stands for those
 * in local memory. A chunk's own places may overwrite those `recent` before. */
void triangle_plan_columns(const spry_context *ctx, const triangle_plan *plan, const triangle *t,
                           int64_t recent, int32_t *columns);
void triangle_plan_clear(spry_context *ctx, triangle_plan *plan);

#endif
