/* Sweeps over all points: what points.knl does at one, on the host or on a device. */
#ifndef SPRY_OCEAN_POINTS_H
#define SPRY_OCEAN_POINTS_H

#include <spry/grid.h>

#define OCEAN_SWEEPS(item) \
    item(metric)           \
    item(bottom)           \
    item(slopes)           \
    item(product)          \
    item(rates)            \
    item(drift)            \
    item(into)             \
    item(back)             \
    item(pick)             \
    item(put)              \
    item(filter)           \
    item(sums)
#define SWEEP_NAME(name) SWEEP_##name,
typedef enum ocean_sweep { OCEAN_SWEEPS(SWEEP_NAME) SWEEP_COUNT } ocean_sweep;

/* On ranks arrays have some of the basin's `all_y` lines: `first` is the number of the first one,
 * of which those from..to-1 are this rank's. */
typedef struct ocean_sizes {
    int nx, ny, nz, alpha;
    bool round_x, round_y;
    bool cut; /* neighbours of this rank's lines exist */
    int all_y, first, from, to;
} ocean_sizes;

/* The arrays of a sweep, as points.knl names them; those that it has no use for may be NULL. */
typedef struct ocean_arrays {
    const spry_vector *a, *b, *c, *e, *tables, *forcing;
    spry_vector *y;
} ocean_arrays;

/* Where sweeps are done. */
typedef struct ocean_points {
    spry_context *ctx;
    spry_device *device; /* NULL: the host */
    ocean_sizes sizes;
    spry_kernel *kernel[SWEEP_COUNT];
} ocean_points;

/* What is made is to be freed, also after a failure. */
spry_status ocean_points_make(spry_context *ctx, spry_device *device, const ocean_sizes *sizes,
                              ocean_points *points);
void ocean_points_free(ocean_points *points);
spry_status ocean_sweep_run(ocean_points *points, ocean_sweep which, double t, int mode,
                            const ocean_arrays *arrays);
/* Planes of a shape before those of d phi/d sigma. */
enum { SHAPE_PLANES = 5 };
/* How long `tables` is, and where its parts begin. */
typedef struct ocean_tables {
    int sigma, d1, d2, into, back, size;
    int width, row; /* of rows of d1 and d2, and of into and back */
} ocean_tables;
ocean_tables ocean_tables_of(const ocean_sizes *s);
enum {
    TABLE_X,
    TABLE_Y,
    TABLE_G,
    TABLE_SLOPE,
    TABLE_FILTER,
    TABLE_HEAD = 16,
    FORCING_COUNT = 0,
    FORCING_RAMP,
    FORCING_HEAD,
    FORCING_PRESSURE,
    FORCING_FROM_X,
    FORCING_FROM_Y,
    FORCING_SPEED_X,
    FORCING_SPEED_Y,
    FORCING_RADIUS_X,
    FORCING_RADIUS_Y,
    FORCING_TERMS = 16,
    FORCING_TERM = 8 /* numbers of each */
};

/* Planes that a sweep goes through, and by how many terms each is made. */
typedef struct ocean_planes {
    int from, to, terms;
} ocean_planes;
enum { OCEAN_TERMS = 4 }; /* at once */

/* Some pieces of lines on the host, numbered along x first; one for each order (points_2.c and so
 * on). A piece of all planes stays in a cache from one plane to the next. */
enum { OCEAN_PIECE = 1024 };
static inline int ocean_pieces(int nx)
{
    return (nx + OCEAN_PIECE - 1) / OCEAN_PIECE;
}
typedef struct ocean_numbers {
    const double *a, *b, *c, *e, *tables, *forcing;
    double *y;
} ocean_numbers;
typedef void (*ocean_lines_fn)(const ocean_sizes *s, ocean_planes planes, int from, int to,
                               double t, int mode, const ocean_numbers *n);
extern const ocean_lines_fn ocean_lines_2[SWEEP_COUNT], ocean_lines_4[SWEEP_COUNT],
    ocean_lines_6[SWEEP_COUNT], ocean_lines_8[SWEEP_COUNT];

#endif
