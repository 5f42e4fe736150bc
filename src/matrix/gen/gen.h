/*
 * Inside of the generators. A kind of matrix is one function that writes one row, and one line of
 * the table in generate.c; gen_build() makes the matrix of it, in parallel and for every scalar
 * type.
 */
#ifndef SPRY_GEN_H
#define SPRY_GEN_H

#include "matrix/matrix.h"

#include <spry/generate.h>
#include <spry/list.h>

/* clang-format off */
/* The options, in groups that kinds have whole. */
#define GEN_SIZE(item) \
    item(INT, size, "0", 0, INT32_MAX, NULL, "points or cells per side of a grid, or rows; 0 takes the kind's own size") \
    item(WORD, type, "auto", 0, 0, "auto s d c z", "type of the numbers; auto is z for helmholtz and d else")
#define GEN_XY(item) \
    item(INT, nx, "0", 0, INT32_MAX, NULL, "points in x; 0 takes size") \
    item(INT, ny, "0", 0, INT32_MAX, NULL, "points in y; 0 takes size")
#define GEN_Z(item) \
    item(INT, nz, "0", 0, INT32_MAX, NULL, "points in z; 0 takes size (where a kind may be flat: 0 makes it two-dimensional)")
#define GEN_POINTS(item) \
    item(INT, points, "0", 0, 27, NULL, "points of the stencil: poisson2d 5 or 9, poisson3d 7 or 27; 0 takes the fewer")
#define GEN_SEED(item) \
    item(INT, seed, "1", 0, 9e18, NULL, "start of the random numbers")
#define GEN_PER_ROW(item) \
    item(INT, per_row, "0", 0, 1e6, NULL, "entries per row: exactly (random) or about (rmat, circuit, graph, interior-point); 0 takes the kind's own")
#define GEN_DOMINANCE(item) \
    item(REAL, dominance, "1.1", 1e-6, 1e6, NULL, "diagonal entry over the sum of the magnitudes of the others in its row")
#define GEN_DIFFUSION(item) \
    item(REAL, epsilon, "0.01", 1e-12, 1e12, NULL, "diffusion across the strong direction over that along it") \
    item(REAL, angle, "0", -360, 360, NULL, "strong direction in degrees from the x axis")
#define GEN_FLOW(item) \
    item(REAL, peclet, "100", 0, 1e12, NULL, "strength of the flow against diffusion") \
    item(WORD, scheme, "upwind", 0, 0, "upwind central", "differences for the flow")
#define GEN_ELASTIC(item) \
    item(REAL, nu, "0.3", -0.99, 0.4999, NULL, "Poisson's ratio of the material")
#define GEN_WAVES(item) \
    item(REAL, wavelength, "10", 2, 1e12, NULL, "length of a wave in grid spacings") \
    item(INT, layer, "8", 0, INT32_MAX, NULL, "width of the absorbing layer in grid points; complex types only") \
    item(REAL, absorption, "1", 0, 1e12, NULL, "growth of the layer's damping up to the boundary")
#define GEN_QUARTERS(item) \
    item(REAL, a, "0.57", 0, 1, NULL, "probability of the upper left quarter") \
    item(REAL, b, "0.19", 0, 1, NULL, "probability of the upper right quarter") \
    item(REAL, c, "0.19", 0, 1, NULL, "probability of the lower left quarter; the rest is the fourth's")
#define GEN_NETS(item) \
    item(INT, nets, "4", 0, 64, NULL, "huge nets, such as power and clock") \
    item(REAL, net_share, "0.1", 0, 1, NULL, "share of the nodes that hang on each huge net") \
    item(REAL, transistors, "0.1", 0, 1, NULL, "share of the nodes with a controlled source, which makes it nonsymmetric; 0 is symmetric")
#define GEN_JUMP(item) \
    item(REAL, jump, "0", 0, 30, NULL, "decades over which the coefficient jumps between blocks, 16 per side")
#define GEN_ELEMENTS(item) \
    item(WORD, elements, "q2q1", 0, 0, "q2q1 q1q1", "Taylor-Hood, or of equal order and stabilised")
#define GEN_SIGMA(item) \
    item(REAL, sigma, "1", 0, 1e12, NULL, "coefficient of the mass term, imaginary in complex types; 0 leaves it out")
#define GEN_GRAPH(item) \
    item(WORD, model, "geometric", 0, 0, "geometric preferential", "points nearby are joined, or nodes to those that have many edges") \
    item(REAL, ground, "1", 0, 1e12, NULL, "weight of an edge from the first node to ground; 0: singular")
#define GEN_DECADES(item) \
    item(REAL, decades, "8", 0, 60, NULL, "decades over which the diagonal is spread")
#define GEN_BASE(item) \
    item(PATH, base, NULL, 0, 0, NULL, "file with the matrix to copy")
#define GEN_OPTIONS(item) \
    GEN_SIZE(item) GEN_XY(item) GEN_Z(item) GEN_POINTS(item) GEN_SEED(item) GEN_PER_ROW(item) GEN_DOMINANCE(item) \
    GEN_DIFFUSION(item) GEN_FLOW(item) GEN_ELASTIC(item) GEN_WAVES(item) GEN_QUARTERS(item) GEN_NETS(item) GEN_JUMP(item) \
    GEN_ELEMENTS(item) GEN_SIGMA(item) GEN_GRAPH(item) GEN_DECADES(item) GEN_BASE(item)
/* clang-format on */

typedef struct gen_options {
    GEN_OPTIONS(SPRY_OPTION_FIELD)
} gen_options;
spry_option_list generate_option_list(void);

/* Where a row function writes: columns rise. While cols is NULL entries are only counted. */
typedef struct gen_row {
    spry_type type;
    int32_t *cols;
    void *values;
    int64_t count;
} gen_row;

static inline void gen_set(gen_row *row, int64_t k, double re, double im)
{
    if (row->cols)
        value_set(row->type, row->values, k, (spry_scalar){re, im});
}

static inline void gen_put(gen_row *row, int64_t col, double re, double im)
{
    if (row->cols)
        row->cols[row->count] = (int32_t)col;
    gen_set(row, row->count++, re, im);
}

/* Writes, or counts, row i of a matrix that `data` describes. Called by many threads. */
typedef void (*gen_row_function)(const void *data, int64_t i, gen_row *row);

/* Makes a square general CSR matrix of a row function. */
spry_status gen_build(spry_context *ctx, spry_type type, int64_t rows, gen_row_function write_row,
                      const void *data, spry_matrix **A);

/* Steps to a neighbour in a grid. */
typedef struct gen_shift {
    int dx, dy, dz;
} gen_shift;

/* Random numbers: one stream a purpose, counted by place, so that any thread can make any of them.
 */
typedef enum gen_stream {
    GEN_STREAM_RE,
    GEN_STREAM_IM,
    GEN_STREAM_PLACE,
    GEN_STREAM_WIRE,
    GEN_STREAM_NET,
    GEN_STREAM_SOURCE,
    GEN_STREAMS
} gen_stream;

/* Finite elements of elements.c: fields of unknowns, and for each two of them a form. */
enum { GEN_FIELDS = 4, GEN_TERMS = 5, GEN_INTEGRALS = 405 };
typedef struct gen_axis {
    int space;            /* functions on a cell */
    int64_t first, count; /* places on the lattice of half cells */
} gen_axis;
typedef struct gen_field {
    gen_axis axes[3];
    int64_t begin;    /* its first unknown; the next is `share` further */
    int place, share; /* of fields whose unknowns alternate */
} gen_field;
typedef struct gen_term {
    double factor;
    int modes[3]; /* what is derived, by axis */
    bool imaginary;
    int weight; /* power of the cell's coefficient: -1, 0, 1 */
} gen_term;
typedef struct gen_form {
    int count;
    gen_term terms[GEN_TERMS];
} gen_form;
typedef struct gen_elements {
    int fields;
    gen_field field[GEN_FIELDS];
    gen_form form[GEN_FIELDS][GEN_FIELDS];
} gen_elements;

/* What is to be made: the options as read, and what a kind's prepare function works out of them. */
typedef struct gen_problem {
    gen_options options;
    spry_type type;
    int dimensions;
    int64_t rows, nx, ny, nz; /* nx, ny, nz are 1 in directions that the grid does not have */
    int64_t per_row;
    uint64_t streams[GEN_STREAMS];
    int points;                  /* of the stencil, in the order of columns */
    gen_shift shifts[27];        /* to them */
    double table[GEN_INTEGRALS]; /* the stencil's numbers, or integrals over a cell */
    gen_elements elements;
} gen_problem;

typedef struct gen_kind {
    const char *name;
    spry_option_list options; /* those it reads, of gen_options */
    int dimensions;           /* of its grid; rows are size^dimensions * unknowns */
    int unknowns;             /* a grid point */
    int64_t size, per_row;
    spry_type type;
    spry_status (*prepare)(spry_context *ctx, gen_problem *problem); /* may be NULL */
    gen_row_function write_row; /* its data are the problem; NULL where make does it all */
    spry_status (*make)(spry_context *ctx, const gen_problem *problem, spry_matrix **A);
    const char *summary;
    unsigned facts; /* FACT_BITs of what is so whatever the options */
} gen_kind;

static inline uint64_t gen_key(int64_t i, int64_t j)
{
    return (uint64_t)i << 32 | (uint64_t)j;
}
/* A number for entry (i, j), each part uniform in [-1, 1); im is 0 for real types. */
spry_scalar gen_random_value(const gen_problem *problem, int64_t i, int64_t j);
/* The diagonal entry that dominates others whose magnitudes add up to `sum`; 1 when it stands
 * alone. */
double gen_dominant(const gen_problem *problem, double sum);

/* For SPRY_LIST_GENERATORS: fills a cleared entry; false past the last. */
bool gen_entry_at(int index, spry_entry *entry);

/* The kinds, by file. */
spry_status gen_prepare_stencil(spry_context *ctx, gen_problem *problem);
spry_status gen_prepare_anisotropic(spry_context *ctx, gen_problem *problem);
void gen_stencil_row(const void *data, int64_t i, gen_row *row);
void gen_convection_row(const void *data, int64_t i, gen_row *row);
void gen_helmholtz_row(const void *data, int64_t i, gen_row *row);

spry_status gen_prepare_elasticity(spry_context *ctx, gen_problem *problem);
spry_status gen_prepare_diffusion(spry_context *ctx, gen_problem *problem);
spry_status gen_prepare_stokes(spry_context *ctx, gen_problem *problem);
spry_status gen_prepare_darcy(spry_context *ctx, gen_problem *problem);
spry_status gen_prepare_maxwell(spry_context *ctx, gen_problem *problem);
void gen_element_row(const void *data, int64_t i, gen_row *row);

spry_status gen_prepare_dense(spry_context *ctx, gen_problem *problem);
spry_status gen_prepare_random(spry_context *ctx, gen_problem *problem);
void gen_dense_row(const void *data, int64_t i, gen_row *row);
void gen_random_row(const void *data, int64_t i, gen_row *row);
void gen_arrowhead_row(const void *data, int64_t i, gen_row *row);

spry_status gen_prepare_circuit(spry_context *ctx, gen_problem *problem);
void gen_circuit_row(const void *data, int64_t i, gen_row *row);

spry_status gen_prepare_rmat(spry_context *ctx, gen_problem *problem);
spry_status gen_make_rmat(spry_context *ctx, const gen_problem *problem, spry_matrix **A);

spry_status gen_prepare_plane(spry_context *ctx, gen_problem *problem);
spry_status gen_make_graph(spry_context *ctx, const gen_problem *problem, spry_matrix **A);
spry_status gen_prepare_power(spry_context *ctx, gen_problem *problem);
void gen_power_row(const void *data, int64_t i, gen_row *row);
spry_status gen_prepare_interior(spry_context *ctx, gen_problem *problem);
void gen_interior_row(const void *data, int64_t i, gen_row *row);

#endif
