/*
 * Algebraic multigrid: a hierarchy of matrices, each made from the one before by A_c = R A P, and
 * cycles through it. Where P comes from is the business of a coarsening (smoothed aggregation,
 * classical); levels, smoothers, cycles, coarse solves and new values are the same for all.
 */
#ifndef SPRY_PRECON_AMG_H
#define SPRY_PRECON_AMG_H

#include "device/linalg/matrix.h"
#include "device/linalg/step.h"
#include "precon/kernels.h"
#include "precon/precon.h"
#include "ranks/reach.h"

/* The options that all kinds of multigrid have. */
#define AMG_COMMON(item)                                                                           \
    item(WORD, cycle, "auto", 0, 0, "auto v w k",                                                  \
         "how coarse levels are visited: once, twice, or with two steps of a Krylov method (then " \
         "it is no fixed operator: take fcg, fgmres or gcr outside); auto: twice where levels "    \
         "shrink fast, so that it costs little")                                                   \
    item(TEXT, smoother, "auto", 0, 0, NULL,                                                       \
         "chebyshev, jacobi, l1-jacobi, hybrid-gs, or another preconditioner with its options in " \
         "brackets; auto: chebyshev for hermitian matrices, else hybrid-gs, on devices "           \
         "sai:tau=0.9,most=32")                                                                    \
    item(INT, degree, "0", 0, 16, NULL, "of the polynomial that chebyshev smooths with; 0: 2")     \
    item(INT, pre, "1", 1, 16, NULL, "sweeps before the coarse correction")                        \
    item(INT, post, "1", 1, 16, NULL, "sweeps after it")                                           \
    item(REAL, damping, "0", 0, 2, NULL, "of jacobi; 0: 4/3 over the largest eigenvalue")          \
    item(TEXT, coarse, "auto", 0, 0, NULL,                                                         \
         "on the coarsest level: a preconditioner, or smoother; auto: direct where it is small")   \
    item(INT, coarse_size, "400", 1, 20000, NULL, "rows of a level that is not coarsened further") \
    item(INT, levels, "25", 1, 40, NULL, "levels at most")                                         \
    item(WORD, setup, "auto", 0, 0, "auto host",                                                   \
         "where levels of a preconditioner on a device are set up: on the device, or always on "   \
         "the host")

enum { AMG_SETUP_AUTO, AMG_SETUP_HOST };
enum { AMG_AUTO, AMG_V, AMG_W, AMG_K };
/* The last: rows of a last level that is solved by dense factors where that is left to us. */
enum { AMG_MOST_LEVELS = 40, AMG_MOST_DEGREE = 16, AMG_DENSE_MOST = 2000 };
typedef struct amg_common {
    PRECON_COMMON(SPRY_OPTION_FIELD)
    AMG_COMMON(SPRY_OPTION_FIELD)
} amg_common;

/*
 * x += S (b - A x) with a polynomial in F A, F diagonal, with a preconditioner, or with sweeps over
 * the rows (sweeps.c). Polynomials are sequences of steps (device/linalg/step.h):
 * x_k+1 = x_k + move_k (x_k - x_k-1) + take_k F (b - A x_k).
 */
typedef struct amg_smoother {
    int degree;
    double take[AMG_MOST_DEGREE], move[AMG_MOST_DEGREE];
    spry_vector *factor, *conjugate; /* F and conj(F), which may be the same vector */
    double largest;        /* about the largest eigenvalue of F A; an upper bound mostly */
    spry_operator *inside; /* the preconditioner */
    bool warmed[3][2];     /* its products, by transpose and whether added, on ranks */
    bool sweeps;           /* of hybrid-gs, with F the inverse of the diagonal */
    spry_matrix *turned;   /* A^H for those of the adjoint, when it was first needed */
    int32_t *before[2];    /* entries of each row before the diagonal's, of A and of A^H */
    bool adjoint;          /* its adjoint smooths after the correction, since A is hermitian */
} amg_smoother;

typedef struct amg_level {
    const spry_matrix *A;    /* on the host; NULL where the set-up was the device's alone */
    spry_matrix *own;        /* the same, where no other object keeps it */
    int64_t rows, nnz;       /* rows of this rank, entries of all ranks */
    ranks_reach *reach;      /* of a level that is distributed over ranks, while it is coarsened */
    bool twice;              /* visited so for each visit of the level above */
    spry_operator *op;       /* the product with it */
    operator_step *steps[3]; /* by spry_transpose; NULL: not needed so far */
    amg_smoother smoother;
    spry_operator *P, *R; /* from and to the next level */
    /* What coarsening keeps for new values: which aggregate or coarse unknown a node belongs to. */
    int block;       /* unknowns of a node */
    int32_t *map;    /* a node's aggregate; -1: none */
    int64_t coarse;  /* nodes of the next level */
    int32_t *second; /* the map of points that were coarsened twice at once, after the first */
    int64_t between; /* how many points that is for */
    /* Of edge elements: the nodes at which each row's edge begins and ends, -1: it has none there;
     * and what smooths gradients. */
    int32_t *ends;
    struct amg_level *nodes; /* G^H A G, with G as P and G^H as R; NULL: nothing */
    spry_vector *t;          /* room as long as x */
    spry_vector *x, *b;      /* of levels below the first */
    spry_vector *extra[4];   /* for w and k cycles */
} amg_level;

/* Candidates for errors that smoothers leave: `count` numbers per row, of the matrix's type. */
typedef struct amg_near {
    int count;
    void *values;
} amg_near;

struct amg;
/* Makes P of level l, or leaves it NULL where that level cannot be coarsened. Where the level has a
 * map already, that is to be used. */
typedef spry_status (*amg_coarsen)(struct amg *h, const precon_job *job, int l, spry_matrix **P);

/* A hierarchy that a device makes, at its last level so far. */
typedef struct amg_on_device {
    struct amg *h;
    const precon_job *job;
    spry_device *d;
    device_matrix A;
    /* Of smoothed aggregation: */
    double theta;        /* of the first level */
    device_memory *near; /* near-null vectors; NULL: one of ones */
    int vectors, block;
} amg_on_device;

/* A kind of multigrid. */
typedef struct amg_kind {
    const char *name;
    size_t options;       /* bytes of its struct, which begins with amg_common */
    const char *smoother; /* where that is left to us; NULL: by the matrix */
    /* Adds to level l what its smoother needs beside its matrix, or what solves it exactly if it is
     * the last one. NULL: nothing. */
    spry_status (*open)(struct amg *h, const precon_job *job, int l, bool last);
    amg_coarsen coarsen;
    /* The same on a device. Begins with the first level; NULL: there is nothing to do. */
    spry_status (*begin_on_device)(amg_on_device *w);
    /* P of level l, or none; *vanished of its columns are zeros. */
    spry_status (*coarsen_on_device)(amg_on_device *w, int l, device_matrix *P, int64_t *vanished);
    /* The same across ranks; NULL: each has multigrid of its own block. First the unknowns of a
     * node of the first level, then P of level l, with the ranks of its columns in *first
     * (base_alloc()); and the solver of a level that all ranks have whole. */
    spry_status (*begin_ranks)(struct amg *h, const precon_job *job);
    spry_status (*coarsen_ranks)(struct amg *h, const precon_job *job, int l, ranks_rows *P,
                                 int64_t **first);
    spry_status (*finish_whole)(struct amg *h, const precon_job *job, int l, spry_matrix *whole,
                                spry_operator **M);
} amg_kind;

typedef struct amg {
    spry_context *ctx;
    spry_type type;
    bool hermitian; /* the matrix is */
    amg_common common;
    void *options; /* a copy of the kind's struct */
    const amg_kind *kind;
    const char *name;
    precon_job job; /* what is kept of it for new values */
    int count;
    amg_level levels[AMG_MOST_LEVELS];
    amg_near near;         /* of the level that is being coarsened */
    double theta;          /* of the first level */
    spry_operator *bottom; /* coarse solve; NULL: smoother */
} amg;

/* Makes the operator of a kind. */
spry_status amg_make(const precon_job *job, const amg_kind *kind, spry_operator **M);

/* hierarchy.c; `old`, if any, gives its maps. */
spry_status amg_build(amg *h, const precon_job *job, const amg *old);
/* hierarchy_device.c: all levels by the device that the preconditioner lives on; *made is false,
 * and h without levels, where that is left to the host. */
spry_status amg_build_on_device(amg *h, const precon_job *job, bool *made);
/* ranks.c: all levels of a matrix that is distributed over ranks, down to one that all of them have
 * whole. Collective. */
spry_status amg_build_ranks(amg *h, const precon_job *job, const amg *old);
/* levels.c: what all of them need. */
void amg_clear(amg *h);
spry_status amg_open_level(amg *h, const precon_job *job, spry_matrix *own, amg_level **out);
spry_status amg_copy_maps(const amg *h, const amg_level *from, amg_level *to);
void amg_finish_levels(amg *h, const precon_job *job);
spry_status amg_make_vectors(const amg *h, const precon_job *job, amg_level *level);
spry_status amg_make_bottom(amg *h, const precon_job *job, const amg_level *level);
void amg_mend(const spry_matrix *A);

/* smooth.c */
/* Takes the smoother's name into h, also where that is left to us. */
spry_status amg_smoother_choose(amg *h, const precon_job *job);
/* `on_device`: the level's matrix where a device set it up, or NULL. Where the
 * smoother's set-up needs it, it is copied to the host and stays as level->A. */
spry_status amg_smoother_make(const amg *h, const precon_job *job, amg_level *level,
                              const device_matrix *on_device);
void amg_smoother_clear(spry_context *ctx, amg_smoother *s);
/* How many vectors the solution changes place in a sweep: it begins in one and ends in the other
 * when that is odd. */
int amg_smoother_moves(const amg_smoother *s, int sweeps, bool from_zero);
/* Sweeps with op(A); x is in a, or zero, and ends in the vector that amg_smoother_moves() gives. */
spry_status amg_smooth(amg_level *level, spry_transpose transpose, bool after, int sweeps,
                       bool from_zero, const spry_vector *b, spry_vector *a, spry_vector *other);
/* The step with op(A). */
spry_status amg_step(amg_level *level, spry_transpose transpose, const operator_step **step);

/* sweeps.c: one sweep of hybrid-gs with op(A) from `old` (NULL: zero) to `new`; not on devices. */
spry_status amg_sweep(amg_level *level, spry_transpose transpose, bool backward,
                      const spry_vector *b, const spry_vector *old, spry_vector *new);
/* r = b - op(A) x after one sweep forth from zero, which has done half of it. */
spry_status amg_sweep_rest(amg_level *level, spry_transpose transpose, const spry_vector *b,
                           const spry_vector *x, spry_vector *r);

/* cycle.c: plain, or the adjoint (SPRY_TRANSPOSE_CONJUGATE) */
spry_status amg_cycle(const amg *h, int l, spry_transpose transpose, const spry_vector *b,
                      spry_vector *x);

/* strength.c */
typedef struct amg_graph {
    int64_t nodes;
    int block;
    const int64_t *offsets; /* of the matrix: node i's neighbours begin at offsets[i block] */
    int32_t *lengths, *columns;
    void *inverse;  /* of the diagonal of the filtered matrix, a number per row */
    double largest; /* bound of the eigenvalues of that inverse times the filtered matrix */
} amg_graph;
spry_status amg_graph_make(const spry_matrix *A, int block, double theta, amg_graph *g);
void amg_graph_clear(spry_context *ctx, amg_graph *g);

/* aggregate.c: map[i] is the aggregate of node i, -1 for nodes without strong neighbours. */
spry_status amg_aggregate(spry_context *ctx, const amg_graph *g, int32_t *map, int64_t *count);

/* gathered.c: z = M r for what all ranks have whole, from their parts of r; takes M and `whole`,
 * which it was made of, also when it fails. Collective. */
spry_status amg_gathered(const spry_matrix *A, spry_matrix *whole, spry_operator *M,
                         spry_operator **op);
/* The hierarchy that such an operator has within; NULL of others. */
const amg *amg_gathered_levels(const spry_operator *op);
/* All rows of a matrix that is distributed over ranks, on each of them. */
spry_status amg_gather(const spry_matrix *A, spry_matrix **whole);

/* classical_device.c: P of the level at work; `twice` at once or not. */
typedef struct amg_classical_rules {
    double theta, dominance, small;
    int64_t most;
} amg_classical_rules;
spry_status amg_classical_coarsen_on_device(const amg_on_device *w,
                                            const amg_classical_rules *rules, bool twice,
                                            device_matrix *P);

/* C = R A P, sorted. */
spry_status amg_galerkin(const spry_matrix *R, const spry_matrix *A, const spry_matrix *P,
                         spry_matrix **C);
/* pmis.c: map[i] is the number of a coarse point, -1 for fine ones. */
spry_status amg_pmis(spry_context *ctx, const amg_graph *g, int32_t *map, int64_t *count);

#endif
