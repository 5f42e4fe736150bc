/* What the parts of the application share. */
#ifndef SPRY_OBSTACLE_H
#define SPRY_OBSTACLE_H

#include "common/app.h"

#define OBSTACLE_METHODS "auto multigrid redblack richardson"
enum { METHOD_AUTO, METHOD_MULTIGRID, METHOD_REDBLACK, METHOD_RICHARDSON };
enum { MODE_ASYNC, MODE_SYNC };
enum { MOST_STEPS = 100000 };

#define OBSTACLE_OPTIONS(item)                                                                     \
    item(INT, size, "64", 4, 65536, NULL, "intervals along each side of the unit cube")            \
    item(WORD, method, "auto", 0, 0, OBSTACLE_METHODS,                                             \
         "truncated monotone multigrid, or relaxations: projected Gauss-Seidel by colours, the "   \
         "projected method of Richardson; auto: multigrid")                                        \
    item(WORD, mode, "async", 0, 0, "async sync",                                                  \
         "whether ranks wait for each other in relaxations; those of multigrid do")                \
    item(INT, steps, "3", 1, MOST_STEPS, NULL, "of time")                                          \
    item(REAL, dt, "0.0066", 1e-12, 1e12, NULL, "length of steps, in s")                           \
    item(REAL, eta, "0.2", 1e-12, 1e12, NULL, "diffusion, in m^2/s")                               \
    item(REAL, bx, "0", -1e12, 1e12, NULL, "wind along x, in m/s")                                 \
    item(REAL, by, "0", -1e12, 1e12, NULL, "wind along y, in m/s")                                 \
    item(REAL, bz, "0", -1e12, 1e12, NULL, "wind along z, in m/s")                                 \
    item(REAL, c, "1.1", 0, 1e12, NULL, "decay, in Hz")                                            \
    item(TEXT, force, "", 0, 0, NULL,                                                              \
         "f: an expression of x, y and z, or a file with a number for each unknown, x fastest")    \
    item(TEXT, lower, "", 0, 0, NULL, "lower bound, likewise; without it: 0")                      \
    item(TEXT, upper, "", 0, 0, NULL,                                                              \
         "upper bound, likewise; on the host, not with relaxations "                               \
         "on ranks")                                                                               \
    item(TEXT, start, "", 0, 0, NULL, "u at the beginning, likewise; without it: 0")               \
    item(TEXT, faces, "", 0, 0, NULL, "u on the faces, an expression; without it: 0, or as known") \
    item(REAL, tol, "1e-6", 0, 1, NULL,                                                            \
         "largest |min(A u - g, u - phi)| to reach in each step, relative to the largest |g|")     \
    item(INT, max_iter, "0", 0, 1e15, NULL,                                                        \
         "cycles or relaxations of a step at most; 0: 200 or 1000000")                             \
    item(TEXT, device, "cpu", 0, 0, NULL, "cpu, cuda or opencl, with :N for number N")             \
    item(WORD, type, "d", 0, 0, "s d", "single or double precision")                               \
    item(PATH, output, NULL, 0, 0, NULL, "write the last u: .svg, .png, .vti or .npy")             \
    item(PATH, contact, NULL, 0, 0, NULL, "write where it lies on the obstacle: 1 there, else 0")  \
    item(TEXT, view, "", 0, 0, NULL, "FROM:TO,FROM:TO: the part of the plane that .svg shows")     \
    item(WORD, across, "z", 0, 0, "x y z", "axis normal to the plane of the picture")              \
    item(REAL, at, "0.5", 0, 1, NULL, "where that plane is")                                       \
    item(PATH, config, NULL, 0, 0, NULL, "read options from lines NAME = VALUE UNIT")              \
    CLI_JSON(item, "the table")                                                                    \
    item(BOOL, quiet, "no", 0, 0, NULL, "show no progress")

typedef struct obstacle_options {
    OBSTACLE_OPTIONS(SPRY_OPTION_FIELD)
} obstacle_options;

/*
 * A problem on the unit cube: u_t + b.grad u - eta laplace u + c u >= f, u >= 0, one of them an
 * equality; what is known on the faces; and the solution, where that is known.
 */
typedef struct obstacle_problem {
    const char *name;
    bool steady;                          /* no u_t, eta 1, nothing else: one step */
    double (*force)(int axis, double x);  /* f is a product of these */
    double (*known)(const double *place); /* u on the faces, and (exact) everywhere */
    bool exact;
} obstacle_problem;
/* NULL after a message. */
const obstacle_problem *obstacle_find(const char *name);
#define OBSTACLE_PROBLEMS "source ball steady"

/* Data of the caller's own (data.c). */
enum {
    OBSTACLE_FORCE,
    OBSTACLE_LOWER,
    OBSTACLE_UPPER,
    OBSTACLE_START,
    OBSTACLE_FACES,
    OBSTACLE_FIELDS
};

/* A step as it is reported. */
typedef struct obstacle_step {
    spry_reason reason;
    bool converged;
    double residual, tolerance, seconds;
    int64_t iterations; /* cycles, or relaxations of the rank that made most */
    int64_t all;        /* the same of all ranks together */
    int64_t contacts;
} obstacle_step;

/* A run; what is made is freed by its owner. */
typedef struct obstacle_run {
    spry_context *ctx;
    const obstacle_options *o;
    const obstacle_problem *p;
    int method;
    int64_t n; /* unknowns along a side */
    double h, shift, eta, wind[3], dt;
    int64_t steps, done;
    obstacle_step *step;
    double setup_seconds, seconds;
    int levels;                    /* of multigrid */
    double *factors;               /* of f along the axes at the unknowns, 3 n of them */
    double *field[OBSTACLE_FACES]; /* at all unknowns, x fastest; NULL: not given */
    struct expression *faces;      /* NULL: not given */
    spry_grid *grid;
    spry_vector *u; /* all of it, on the host; of the first rank */
    progress line;
} obstacle_run;

/* data.c: reads what is given, an exit status; frees it. Bytes of that are one number an unknown
 * for each that is given. */
int obstacle_take_fields(obstacle_run *r);
void obstacle_free_fields(obstacle_run *r);
int obstacle_fields_given(const obstacle_options *o);
/* A field at an unknown; u on a face. */
double obstacle_value(const obstacle_run *r, int which, const int64_t at[3]);
double obstacle_face(const obstacle_run *r, const double *place);
spry_type obstacle_type(const obstacle_options *o);
/* Keeps a step, and shows that it is done. */
void obstacle_note(obstacle_run *r, const obstacle_step *step);
/* Steps in one process, on the host or a device, and by multigrid on ranks; by
 * relaxations on ranks, which may be without waiting. */
spry_status obstacle_bounded(obstacle_run *r);
spry_status obstacle_ranks(obstacle_run *r);

#endif
