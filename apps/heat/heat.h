/* What the parts of the application share. */
#ifndef SPRY_HEAT_H
#define SPRY_HEAT_H

#include "common/app.h"

enum { HEAT_GRIDS = 8 };
#define HEAT_METHODS "euler heun rk4 implicit-euler crank-nicolson"
#define HEAT_METHOD_NAMES "euler", "heun", "rk4", "implicit-euler", "crank-nicolson"
enum { METHOD_EULER, METHOD_HEUN, METHOD_RK4, METHOD_IMPLICIT_EULER, METHOD_CRANK_NICOLSON };

#define HEAT_OPTIONS(item)                                                                         \
    item(INT, size, "64", 4, 16384, NULL, "intervals along each axis of the finest grid")          \
    item(INT, dimensions, "2", 1, 3, NULL, "a rod, a plate or a block")                            \
    item(INT, grids, "3", 1, HEAT_GRIDS, NULL, "each twice as fine as the one before")             \
    item(INT, order, "4", 2, 8, NULL, "of the differences: 2, 4, 6 or 8")                          \
    item(REAL, length, "1", 1e-12, 1e12, NULL, "of the sides, in m")                               \
    item(REAL, diffusivity, "1", 1e-12, 1e12, NULL, "in m^2/s")                                    \
    item(REAL, end, "0", 0, 1e30, NULL, "time to end at, in s; 0: length^2 / (20 diffusivity)")    \
    item(WORD, method, "rk4", 0, 0, HEAT_METHODS, "how steps are taken")                           \
    item(REAL, dt, "0", 0, 1e30, NULL,                                                             \
         "length of steps, in s; 0: nine tenths of what is stable, or, of implicit methods, what " \
         "suits the grid")                                                                         \
    item(REAL, tol, "1e-10", 0, 1, NULL, "of Poisson's residual")                                  \
    item(WORD, type, "d", 0, 0, "s d", "single or double precision")                               \
    item(INT, slices, "8", 1, 4096, NULL, "parareal: of time")                                     \
    item(REAL, change, "1e-6", 0, 1, NULL, "parareal: of the ends of slices, to stop at")          \
    item(INT, workers, "1", 1, 64, NULL, "parareal: threads of each process")                      \
    item(PATH, map, NULL, 0, 0, NULL,                                                              \
         "parareal: picture of what slices (across) lack of the fine run after iterations (up), "  \
         "from 1e-12, dark, to 1")                                                                 \
    item(PATH, output, NULL, 0, 0, NULL, "write the last u: .svg, .png, .vti, .h5 or .npy")        \
    item(TEXT, view, "", 0, 0, NULL, "FROM:TO,FROM:TO: the part of the plane that .svg shows")     \
    item(PATH, frames, NULL, 0, 0, NULL, "write pictures FILE-0001.png and so on of heat")         \
    item(INT, every, "100", 1, 1e15, NULL, "steps between two frames, or two checkpoints")         \
    item(PATH, checkpoint, NULL, 0, 0, NULL, "write a checkpoint, to resume from")                 \
    item(BOOL, resume, "no", 0, 0, NULL, "resume from the checkpoint, with the finest grid alone") \
    item(PATH, config, NULL, 0, 0, NULL, "read options from lines NAME = VALUE UNIT")              \
    CLI_JSON(item, "the table")                                                                    \
    item(BOOL, quiet, "no", 0, 0, NULL, "show no progress")

typedef struct heat_options {
    HEAT_OPTIONS(SPRY_OPTION_FIELD)
} heat_options;

/* A grid with its operators, and u. */
typedef struct heat_plate {
    spry_context *ctx;
    const heat_options *o;
    int64_t size;
    spry_grid *grid;
    spry_operator *A, *minus; /* of heat; of Poisson's equation */
    spry_vector *u;
} heat_plate;

/* A line of the table. */
typedef struct heat_row {
    int64_t size, count; /* count: steps, or iterations */
    double dt, error, seconds;
    bool converged;
} heat_row;

/* What is made is to be freed, also after a failure. */
spry_status heat_plate_make(spry_context *ctx, const heat_options *o, int64_t size, heat_plate *p);
void heat_plate_free(heat_plate *p);
/* max |u - factor sin sin| / factor */
double heat_error(const heat_plate *p, double factor);
/* d (pi/L)^2: minus the eigenvalue of the Laplacian. */
double heat_rate(const heat_options *o);
spry_status heat_write(const heat_plate *p);

int heat_parareal(spry_context *ctx, const heat_options *o); /* parareal.c */

#endif
