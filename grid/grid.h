/*
 * Grids and operators of differences. A text becomes terms (parse.c), a term a table of 1-D rows
 * for each axis (axis.c, from exact weights, weights.c), the tables of all terms the rows of each
 * class of points (classes.c), which a kernel of the host's goes through (stencil_host.c).
 */
#ifndef SPRY_GRID_INTERNAL_H
#define SPRY_GRID_INTERNAL_H

#include "host/host.h"
#include "host/powers.h"
#include "operator/operator.h"

#include <spry/grid/grid.h>

enum { GRID_AXES = 3 };
/* What is known at a face. An absorbing layer is one before a face with a known value; Robin's
 * condition is Neumann's, with a derivative that depends on the value. */
typedef enum grid_face { GRID_DIRICHLET, GRID_NEUMANN, GRID_PERIODIC } grid_face;
#define GRID_FACES "dirichlet neumann periodic absorb robin"
enum { GRID_ABSORB = GRID_PERIODIC + 1, GRID_ROBIN }; /* the words */

/* Coordinates that were given, from the beginning of an axis to its end; shared by all shapes that
 * have them, those of coarser grids among them. */
typedef struct grid_points {
    atomic_int users;
    double at[];
} grid_points;

typedef struct grid_axis {
    int64_t intervals;         /* 0: the grid has no such axis, but one point in its place */
    double low, high, spacing; /* the mean one where points were given */
    grid_points *given;        /* NULL: intervals are equal */
    int64_t stride;            /* from a point to the next among those given */
    grid_face face[2];         /* at its beginning and end */
    int64_t layer[2];          /* intervals of an absorbing layer there; 0: none */
    double robin[2];           /* r of r u + du/dn at a face of Neumann's kind */
    double unit[2];            /* what the given numbers there are divided by: b of a u + b du/dn */
    int64_t points, unknowns;
    int64_t first; /* the point that is unknown 0 */
    /* How it is cut into blocks of ranks (blocks.c); 0 and 1 ranks: it is not. */
    int ranks;
    int64_t cut_unknowns, cut_unit; /* of the grid that was cut, and what cuts are multiples of */
    int halved;                     /* how often its intervals have been since then */
} grid_axis;

/* Plain numbers: who needs a grid for long keeps a copy. */
typedef struct grid_shape {
    int dimensions;
    grid_axis axis[GRID_AXES];
    int64_t unknowns, points;
} grid_shape;

struct spry_grid {
    spry_context *ctx;
    grid_shape shape;
};

/* A box of unknowns, or of points: begin..end-1 along each axis, counted over the whole grid. Along
 * a periodic axis that is cut it may reach beyond both ends. */
typedef struct grid_box {
    int64_t begin[GRID_AXES], end[GRID_AXES];
} grid_box;
static inline int64_t box_length(const grid_box *b, int a)
{
    return b->end[a] - b->begin[a];
}
static inline int64_t box_count(const grid_box *b)
{
    return box_length(b, 0) * box_length(b, 1) * box_length(b, 2);
}
/* The place of an unknown or point in an array of a box, x fastest; and the number at it. */
static inline int64_t box_place(const grid_box *b, const int64_t at[GRID_AXES])
{
    return at[0] - b->begin[0] +
           box_length(b, 0) * (at[1] - b->begin[1] + box_length(b, 1) * (at[2] - b->begin[2]));
}
static inline void box_split(const grid_box *b, int64_t i, int64_t at[GRID_AXES])
{
    for (int a = 0; a < GRID_AXES; a++) {
        at[a] = b->begin[a] + i % box_length(b, a);
        i /= box_length(b, a);
    }
}
static inline bool box_has(const grid_box *b, const int64_t at[GRID_AXES])
{
    for (int a = 0; a < GRID_AXES; a++)
        if (at[a] < b->begin[a] || at[a] >= b->end[a])
            return false;
    return true;
}

/* Fills in what follows from intervals, box and faces; fails where there is no unknown. */
spry_status grid_complete(spry_context *ctx, grid_shape *shape);
/* A copy of a shape that is kept holds the points that were given, until it drops them. */
void grid_hold(const grid_shape *shape);
void grid_drop(spry_context *ctx, const grid_shape *shape);
/* The points of `stretch=`, for a shape that is complete. */
spry_status grid_stretch(spry_context *ctx, const char *text, grid_shape *shape);
/* The coordinate of point i of an axis. */
static inline double grid_coordinate(const grid_axis *axis, int64_t i)
{
    if (axis->given)
        return axis->given->at[i * axis->stride];
    /* From the nearer end, so that both ends are exact. */
    const int64_t left = axis->intervals - i;
    return i <= left ? axis->low + axis->spacing * (double)i
                     : axis->high - axis->spacing * (double)left;
}
/* The place of element i of a box of unknowns, or of points. */
void grid_place(const grid_shape *shape, bool all_points, const grid_box *box, int64_t i,
                double place[GRID_AXES]);
/* Indices along the axes of element i of unknowns, or of points, of the whole grid. */
void grid_split(const grid_shape *shape, bool all_points, int64_t i, int64_t at[GRID_AXES]);

/* --- weights (weights.c) -------------------------------------------------------------------------
 */

enum { WEIGHTS_MOST = 14 };
/* num / den in lowest terms, den > 0 */
typedef struct weight {
    int64_t num, den;
} weight;
/*
 * Weights w so that sum w_j f(node_j) is the derivative number q of f at a place, for unit spacing
 * and polynomials of less than `count` coefficients. Places are counted in halves of the spacing.
 * slope >= 0: the derivative at that node is known besides, its weight is w[count], and polynomials
 * have a coefficient more.
 */
void grid_weights(int q, int place, int count, const int *nodes, int slope, weight *w);
/* The nearest double. */
double grid_weight_value(weight w);
/* The same for nodes anywhere, with derivatives in the units of their places. */
void grid_weights_at(int q, long double place, int count, const long double *nodes, int slope,
                     double *w);

/* --- terms (parse.c) -----------------------------------------------------------------------------
 */

enum { TERMS_MOST = 32, ATOMS_MOST = 12, POWER_MOST = 4 };
typedef enum atom_kind { ATOM_FIELD, ATOM_DERIVATIVE, ATOM_FLUX } atom_kind;
typedef struct term_atom {
    atom_kind kind;
    int axis, power; /* of a derivative; a flux has an axis */
    int field;       /* a coefficient */
    int place;       /* in the text, for messages */
} term_atom;
/* A factor times a product of atoms, which act on what is to their right. A flux along an axis,
 * d (fields d), is followed by its fields and another ATOM_FLUX that closes it. */
typedef struct stencil_term {
    spry_scalar factor;
    int count;
    term_atom atoms[ATOMS_MOST];
} stencil_term;
typedef struct stencil_terms {
    int count;
    stencil_term list[TERMS_MOST];
} stencil_terms;

/* Names that a text may have; constants have their value. */
typedef struct coefficient_name {
    const char *name;
    bool constant;
    spry_scalar value;
} coefficient_name;
spry_status stencil_parse(spry_context *ctx, const char *text, int dimensions, int names,
                          const coefficient_name *name, stencil_terms *terms);
/* A fault at a place of the text. */
spry_status stencil_fault(spry_context *ctx, const char *text, int place, const char *format, ...)
    SPRY_PRINTF(4, 5);

/* --- tables (axis.c) -----------------------------------------------------------------------------
 */

/* What a 1-D row refers to: an unknown; a known value at the face; a known derivative there, times
 * the spacing, in the axis's direction. */
typedef enum known_kind { KNOWN_NOT, KNOWN_VALUE, KNOWN_SLOPE } known_kind;
/* c times the number at `col`, taken by way of the intermediate point `mid`, at which a field may
 * stand; both counted from the row's point. */
typedef struct axis_entry {
    int64_t mid, col;
    int64_t far_mid, far_col; /* the same as if a periodic axis went on beyond its ends */
    double c;
    known_kind kind;
} axis_entry;
/* The rows of a table: `low` at the beginning of the axis, one for all between, `high` at its end.
 * Rows are those of unknowns. Where points were given `low` is all rows. */
typedef struct axis_table {
    int64_t rows, low, high;
    int64_t *start; /* low + 1 + high + 1 */
    axis_entry *entries;
    bool periodic;
    bool given;
    int64_t begin, end; /* given: rows from `begin` on, before `end`, have entries at distances
                           that all of these can have */
} axis_table;

/* What a term does along one axis: derivatives, outer ones from the left, then across a field (mid)
 * the inner ones; or a flux. */
typedef struct axis_work {
    int outer_count, inner_count;
    int outer[ATOMS_MOST], inner[ATOMS_MOST]; /* powers */
    bool mid, flux;
    bool slopes; /* derivatives that are known at faces are those of what it acts on */
} axis_work;
/* The farthest that the rows of a table reach, to columns or to points between. */
int64_t axis_table_reach(const axis_table *table);
spry_status axis_table_make(spry_context *ctx, const grid_axis *axis, char name, int order,
                            const axis_work *work, axis_table *table);
spry_status axis_table_transpose(spry_context *ctx, const axis_table *from, axis_table *table);
void axis_table_clear(spry_context *ctx, axis_table *table);
/* Of points that were given: the distances of entries in rows begin..end-1, each once, with
 * numbers of 1. */
spry_status axis_table_pattern(spry_context *ctx, const axis_table *table, int64_t begin,
                               int64_t end, int *count, axis_entry **pattern);
/* The number of a row's class: 0..low-1, low, low+1..low+high. */
static inline int64_t axis_class(int64_t rows, int64_t low, int64_t high, int64_t row)
{
    return row < low ? row : row >= rows - high ? row - (rows - high) + low + 1 : low;
}

/* --- stencils (stencil.c, classes.c, rows.c) -----------------------------------------------------
 */

/* A term as tensor product of its tables: y_i = c f1_i sum f2_mid (...) f3_col u_col. */
typedef struct stencil_part {
    spry_scalar c;
    int field[3];        /* at the row, at mid, at the column; -1: none */
    bool has[GRID_AXES]; /* else it does nothing along the axis */
    axis_work work[GRID_AXES];
    axis_table table[GRID_AXES]; /* plain */
    axis_table transposed[GRID_AXES];
} stencil_part;

/* All rows of A, or of A^T, by classes of points. */
typedef struct stencil_form {
    bool made, transposed;
    bool local; /* rows are counted in the box, as if it were the grid and 0 around it */
    int64_t low[GRID_AXES], high[GRID_AXES], classes[GRID_AXES];
    grid_box u;        /* whose numbers are in the arrays that rows are made of */
    host_stencil host; /* points to the arrays below */
    int64_t *start;
    host_stencil_group *groups;
    int64_t *offsets;
    int64_t reach; /* the largest of them either way */
    void *coefficients;
    void **along; /* numbers along x, where its points were given */
    int along_count;
} stencil_form;

/* The part of a grid where a field is negative (domain.c). */
typedef struct stencil_domain {
    bool is;
    int phi;                /* the field */
    int part;               /* the term that is the diagonal's */
    int behind[TERMS_MOST]; /* the field behind derivatives as it is outside, too; -1: none */
} stencil_domain;

typedef struct stencil {
    const operator_class *host_class; /* of it on the host, and of those that are made from it */
    grid_shape shape;
    grid_box rows;   /* unknowns of this rank, or all */
    grid_box points; /* those that fields exist for */
    int order, parts_count, field_count;
    char *text;
    stencil_part parts[TERMS_MOST];
    stencil_domain domain;
    void **fields; /* of the operator's type */
    stencil_form plain, transposed;
    const host_kernels *kernels;
    struct stencil_device *device; /* its part on a device; NULL: it lives on the host */
    struct stencil_ranks *ranks;   /* its products across ranks; NULL: it has all rows */
    spry_operator *mean;           /* what right-hand sides go through; NULL: nothing */
    struct stencil_waves *waves;   /* of spry_operator_helmholtz() (helmholtz.h); NULL: of others */
} stencil;

/* The rows of op(A), made if they have to be. */
spry_status stencil_find_form(const spry_operator *op, spry_transpose transpose,
                              const stencil_form **form);
/* y = alpha op(A) x + beta z; z may be y. */
spry_status stencil_run(const spry_operator *op, spry_transpose transpose, spry_scalar alpha,
                        const void *x, spry_scalar beta, const void *z, void *y);
/* The members of the class for all rows; a step of powers in one pass. */
spry_status stencil_multiply_dense(const spry_operator *op, spry_transpose transpose,
                                   spry_scalar alpha, const spry_dense *B, spry_scalar beta,
                                   const spry_dense *C);
spry_status stencil_host_open_rows(const spry_operator *op, spry_transpose transpose,
                                   operator_rows *rows);
spry_status stencil_run_step(const spry_operator *op, const power_terms *t, const void *v,
                             void *next);
/* The same of some rows alone; arrays are those of the form's box. */
spry_status stencil_run_rows(const spry_operator *op, spry_transpose transpose,
                             const grid_box *rows, spry_scalar alpha, const void *x,
                             spry_scalar beta, const void *z, void *y);
/* A line of x, counted in the box of the form, as kernels want it: rows along x are counted over
 * the whole grid. */
host_line stencil_line(const stencil *s, const stencil_form *form, bool conjugate, int64_t size,
                       int64_t line, const char *x);
/* The same terms with differences of another order, and numbers of another type, on the same grid,
 * or one with half the intervals along some axes, whose shape is given; fields are taken from
 * points that both have. Where the grid is cut, its products are those of this rank's rows alone,
 * with arrays of a box that has `layers` layers around them at least (0: none), or as many as the
 * rows of two sweeps need. */
spry_status stencil_coarser(const spry_operator *fine, const grid_shape *shape, int order,
                            spry_type type, int layers, spry_operator **coarse);
/* The same without fields and forms. On failure what was made is in *out. */
spry_status stencil_without_fields(const spry_operator *fine, const grid_shape *shape, int order,
                                   spry_type type, spry_operator **out);
/* Multiplies all terms by a number, of an operator of stencil_coarser(). */
spry_status stencil_scale(spry_operator *op, spry_scalar by);
/* Multiplies its terms without derivatives by 1 + i shift; fails where there are none. */
spry_status stencil_damp(spry_operator *op, double shift);
struct precon_job;
spry_status gmg_make(const struct precon_job *job, spry_operator **M);
spry_status strips_make(const struct precon_job *job, spry_operator **M);
/* The preconditioner that suits: gmg, where differences of second order are all there is. */
const char *gmg_suits(const spry_operator *A);

/* Makes the rows of all classes, for arrays of a box. */
spry_status stencil_form_make(const spry_operator *op, bool transposed, const grid_box *u,
                              stencil_form *form);
/* The same as if the box were the grid, along axes that are cut: for devices. */
spry_status stencil_form_local(const spry_operator *op, bool transposed, const grid_box *u,
                               stencil_form *form);
void stencil_form_clear(spry_context *ctx, stencil_form *form);

/* An entry of a row: what it refers to along each axis, counted from the row, and its number. */
typedef struct stencil_entry {
    int64_t mid[GRID_AXES], col[GRID_AXES];
    int64_t far_mid[GRID_AXES], far_col[GRID_AXES]; /* see axis_entry */
    known_kind kind[GRID_AXES];
    double c; /* without the term's factor and fields */
} stencil_entry;
/* Calls visit for each entry of a row of one part of A, or A^T. */
typedef void (*stencil_visit)(void *data, const stencil_part *part, const stencil_entry *entry);
void stencil_visit_row(const stencil_part *part, bool transposed, const int64_t at[GRID_AXES],
                       stencil_visit visit, void *data);
/* An entry's number, with its term's factor and fields, in the row of an unknown. */
spry_scalar stencil_entry_value(const spry_operator *op, const int64_t at[GRID_AXES],
                                const stencil_part *part, const stencil_entry *e);
/* Of the class of every stencil; the stencil of an operator, NULL where it is none. */
extern const char stencil_name[];
const stencil *stencil_of(const spry_operator *op);
/* The matrix and its diagonal. */
spry_status stencil_to_matrix(const spry_operator *op, spry_matrix **A);
spry_status stencil_diagonal(const spry_operator *op, spry_vector **d);
/* Positive w, on the host, with w^T A = 0 where A takes constants to 0 and that is known; else 1
 * (null.c). */
spry_status stencil_left_null(const spry_operator *A, spry_vector *v);

#endif
