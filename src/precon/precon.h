/*
 * Preconditioners by name. One is a file with a precon_kind and a line in the registry; options,
 * nesting, checks of the matrix, lower precision, transfer between places and the command line's
 * help come from what is here, once for all.
 */
#ifndef SPRY_PRECON_INTERNAL_H
#define SPRY_PRECON_INTERNAL_H

#include "base/stop.h"
#include "direct/forecast.h"
#include "host/apply.h"
#include "matrix/entries.h"
#include "operator/operator.h"
#include "precon/spec.h"

#include "precon_kinds.h"

#include <spry/precon.h>

/* What a preconditioner is made from. */
typedef struct precon_job {
    const spry_matrix
        *A;              /* square, general CSR with sorted rows, all numbers finite; stays alive */
    spry_device *device; /* where the result is to live; NULL: the host */
    const void *options; /* the kind's struct, filled in */
    const struct precon_list *list; /* for those within */
    bool singular;                  /* A is so on purpose: a generalized inverse is wanted */
    const char *values;             /* how precon_store() keeps values: "own", "f16" */
    int depth;                      /* of nesting */
    const spry_matrix *near; /* the matrix as given, for its near-null vectors; NULL: nested */
    const spry_operator *op; /* A where it is on that device already, while making; or NULL */
    spry_operator **begun;   /* what begin() gave, which make() takes; or NULL */
} precon_job;
/* What may be kept of a job for new values: nothing that is the caller's, who may free it. */
static inline precon_job precon_kept(const precon_job *job)
{
    return (precon_job){
        .device = job->device, .list = job->list, .values = job->values, .depth = job->depth};
}

/* The options that every kind has, first in its list and so in its struct. */
#define PRECON_COMMON(item)                                                                 \
    item(WORD, precision, "same", 0, 0, "same single half",                                 \
         "of its numbers: that of the matrix, single, or for those that are products with " \
         "sparse matrices half (stored in 16 bits)")
enum { PRECON_SAME, PRECON_SINGLE, PRECON_HALF };
typedef struct precon_common {
    PRECON_COMMON(SPRY_OPTION_FIELD)
} precon_common;

struct device_matrix;

/* What options say of rows, which another order of them changes. */
typedef struct precon_rows {
    bool named;     /* by number */
    bool patterned; /* blocks of several sizes, which the pattern shows */
    int64_t block;  /* rows that stay together; 0: nothing is said of it */
} precon_rows;

enum { PRECON_MOST_DEPTH = 4 };

/* What is known of a kind before it is made, by rules of thumb: supposed, not fitted to a set of
 * matrices. What is left out is not known. */
typedef struct precon_cost {
    double kept, work;   /* bytes over those of A in CSR: for good, and while it is made */
    double products;     /* of the set-up, in products with A */
    double solve;        /* the same of a whole solve, where it hardly grows; 0: it does */
    double vectors;      /* that it keeps */
    bool made_on_device; /* the set-up is on devices, where it can live on them */
    double share;        /* iterations over those without; both 0: as many */
    double iterations;   /* or as many, where they hardly grow with the matrix */
    double sweeps;       /* of an application, in products with A that wait for x */
    const char *method;  /* that takes A and M as they are; NULL: what suits A */
    bool exact;          /* M = A^-1 but for rounding */
} precon_cost;

typedef struct precon_kind {
    const char *name, *summary;
    spry_option_list options;
    /* *M answers z = M r with M about A^-1. On the job's device, where the kind can live on
     * devices, else on the host; the caller sees which. A failure's message says why and what to
     * try. */
    spry_status (*make)(const precon_job *job, spry_operator **M);
    /* Fails where A, or the options with it, are nothing that it is for; make() begins with the
     * same. NULL: only the numbers show it. */
    spry_status (*check)(const precon_job *job);
    /* Forecast of the set-up; *begun keeps its intermediate results for make(), NULL where there
     * are none. Fails where make() would, as far as is seen by then. NULL: its cost record alone
     * is known. */
    spry_status (*begin)(const precon_job *job, precon_forecast *forecast, spry_operator **begun);
    /* The same of the job's operator, where there is no matrix (job->A is NULL). NULL: it needs
     * one. */
    spry_status (*make_of)(const precon_job *job, spry_operator **M);
    /* The same of a matrix that is distributed over ranks, together. NULL: each of them has one of
     * its own block. */
    spry_status (*make_ranks)(const precon_job *job, spry_operator **M);
    /* The same on the job's device from a matrix in its memory, without the job's A; *made is false
     * where that does not go. NULL: never. */
    spry_status (*make_on_device)(const precon_job *job, const struct device_matrix *A, bool *made,
                                  spry_operator **M);
    /* Whether what was made shows that no row or column of A is all zeros. NULL: A is looked
     * through for those. */
    bool (*sound)(const spry_operator *M);
    /* Adds what its options say of rows. NULL: nothing. */
    void (*rows)(const void *options, precon_rows *rows);
    precon_cost cost;
    bool on_devices;       /* it can live on a device */
    bool ranks_on_devices; /* also across ranks, some of which may work on processors */
    bool diagonal;         /* M is one, which sweeps read */
    const char *place;     /* how the names of devices begin that it can live on; NULL: all do */
    bool half;             /* it can store 16 bits: all its matrices go through precon_store() */
} precon_kind;

/* What "auto" may be for A, best first, "none" last, with forecasts of the seconds that set-up and
 * solve take on one core, which only serve to be compared; NAN: not known. */
typedef struct precon_candidate {
    char spec[96];
    double seconds;
    double iterations; /* by a trial; 0: there was none */
} precon_candidate;
typedef struct precon_choice {
    precon_candidate list[14];
    int count;
} precon_choice;
/* The kinds that can be named, and what "auto" is for a matrix, best first (choose/precons.h). */
typedef struct precon_list {
    const precon_kind *const *kinds;
    int count;
    spry_status (*choose)(spry_context *ctx, const spry_matrix *A, int systems, bool on_device,
                          precon_choice *choice);
} precon_list;
/* The kind with a name of `length` characters; NULL when there is none. */
const precon_kind *precon_find(const precon_list *list, const char *name, size_t length);

/* Whether another one may do where making one has failed so: not where a device is lost, or
 * somebody asked to stop. */
bool precon_may_change(spry_status status);
/* Makes what a spec asks for, of A, for an operator of A's own (NULL: there is none) and on its
 * device. *M is NULL for none; its name is filled in, and the log has why auto chose it. A may be
 * NULL when only an operator is known; it must stay alive. `begun` is what precon_begin() gave
 * (NULL: it was not called), which is taken, also when this fails. */
spry_status precon_make(spry_context *ctx, const spry_matrix *A, const spry_operator *op,
                        const precon_spec *spec, spry_operator **begun, spry_operator **M,
                        char name[32]);
/* The same with the place that a job says. */
spry_status precon_make_for(spry_context *ctx, const precon_job *place, const precon_spec *spec,
                            spry_operator **M, char name[32]);
/* One that has no others within, on the host. */
spry_status precon_make_kind(const spry_matrix *A, const precon_kind *kind, const char *options,
                             spry_operator **M);
/* Before that: what it will take, and *begun (NULL: nothing was). A must have its pattern still,
 * and the spec a kind. It fails where A is nothing that the kind is for. */
spry_status precon_begin(spry_context *ctx, const spry_matrix *A, const spry_operator *op,
                         const precon_spec *spec, precon_forecast *forecast, spry_operator **begun);
/* By the rules of a kind. */
precon_forecast precon_rule(const spry_matrix *A, const precon_kind *kind);
/* Iterations with a kind (NULL: not chosen yet) where it takes `alone` without; what waits for x
 * in an iteration with it, counted in products with A: half of one at least is meant to be certain.
 */
double precon_iterations(const precon_kind *kind, double alone);
double precon_sweeps(const precon_kind *kind);
/*
 * On ranks (ranked.c), collective, all fail or none. The first makes what `spec` names for a matrix
 * that is distributed over them, near the product with the own block where that is on a device
 * (NULL: it is not): jacobi as it is, anything else as block Jacobi, one of it for the own block of
 * each rank, and its name says so. The second takes one that was made of the own block, with the
 * status of that, as one that all ranks have.
 */
spry_status precon_make_ranked(spry_context *ctx, const spry_matrix *A, const spry_operator *near,
                               const precon_spec *spec, spry_operator **begun, spry_operator **M,
                               char name[32]);
/* What this rank's will take, and what was begun of it; of kinds that work across ranks by this
 * rank's share of A. */
spry_status precon_begin_ranked(spry_context *ctx, const spry_matrix *A, const spry_operator *near,
                                const precon_spec *spec, precon_forecast *forecast,
                                spry_operator **begun, char name[32]);
spry_status precon_distribute(const spry_matrix *A, spry_status made, spry_operator **M);
/* The status of a product that a rank makes by itself, between messages of all: the first one may
 * find no memory, on one rank alone, so that they agree upon it; *warmed is whether it was made. */
spry_status precon_warm(spry_context *ctx, bool *warmed, spry_status status);
/* Of kinds that work across ranks, on this rank's device if they can; *made is false of others; and
 * before that, as precon_begin_ranked(). */
spry_status precon_begin_across(const spry_matrix *A, const precon_spec *spec, bool *across,
                                precon_forecast *forecast, char name[32]);
spry_status precon_make_across(const spry_matrix *A, const precon_spec *spec, spry_device *device,
                               bool *made, spry_operator **M, char name[32]);
/* Rows and columns of A for which sparse factors of precon direct found no pivot, as many of each:
 * the rank is less by that. None for other operators. */
typedef struct precon_unpivoted {
    int64_t count;
    const int32_t *rows, *cols;
} precon_unpivoted;
precon_unpivoted precon_direct_unpivoted(const spry_operator *M);
/* What the rank of A lacks to its number of rows, as the factors of precon direct of any kind show
 * it; 0 for other operators. */
int64_t precon_direct_nullity(const spry_operator *M);
/* Whether M, which may be NULL, solves by factors of precon direct, on the host or on a device; not
 * by an inverse that was written out. */
bool precon_direct_factors(const spry_operator *M);
/* One within another: for a matrix A of the outer one's making, which is general CSR, sorted and
 * finite. *M is NULL for "none". */
spry_status precon_make_inner(const precon_job *outer, const spry_matrix *A, const char *spec,
                              spry_operator **M);

/* The same for a matrix on the outer one's device, where the kind can be made of that; *made is
 * false otherwise. */
spry_status precon_make_on_device(const precon_job *outer, const struct device_matrix *A,
                                  const char *spec, bool *made, spry_operator **M);

/* An operator of a class for the job's matrix, with a cleared state of `size` bytes, whose address
 * goes to the pointer at `state`. It may be made, and is to be freed, when this fails. */
spry_status precon_operator(const precon_job *job, const operator_class *class, size_t size,
                            void *state, spry_operator **op);
/* Ends a make(): M is op, which it takes, once its update() has filled it from A. */
spry_status precon_fill(spry_operator *op, const spry_matrix *A, spry_operator **M);
/* The product with a matrix of the preconditioner's own making, which it takes (also when it
 * fails), where the job says and with values as it says. Collective where that is distributed. */
spry_status precon_store(const precon_job *job, spry_matrix *A, spry_operator **op);
/* The job's matrix in the memory of its device, as CSR: from its product on the device, or by a
 * copy. */
spry_status precon_device_matrix(const precon_job *job, struct device_matrix *A);
/* A vector where the job says: a copy of an array of the host's, or zeros (NULL). */
spry_status precon_vector(const precon_job *job, int64_t n, const void *from, spry_vector **v);

/* The inverse of A's diagonal. A matrix that is not square, and an entry without an inverse (the
 * message names its row), fail for `who` needs it. */
spry_status precon_inverse_diagonal(const spry_matrix *A, const char *who, spry_vector **d);

/* Fails where A is not hermitian, for precon `name`; `instead` is what to take then. *pattern:
 * whether the pattern is symmetric. */
spry_status precon_check_hermitian(const spry_matrix *A, const char *name, const char *instead,
                                   bool *pattern);

/* Warns where a row or a column of A, general CSR and sorted, has nothing but zeros. */
spry_status precon_warn_singular(const spry_matrix *A, const char *name);
/*
 * How far M is from A^-1: the smaller one of |u - M A u| / |u| and |u - A M u| / |u| for random u,
 * of which rows and columns of different sizes blow up one each. Factors that are no use at all
 * have it in the thousands and more (E. Chow, Y. Saad, Experimental study of ILU preconditioners
 * for indefinite matrices, J. Comput. Appl. Math. 86 (1997), 387-414, look at |M e| alone). Where
 * the first is `enough`, the second is not looked for.
 */
#define PRECON_MOST_DISTANCE 1e3
spry_status precon_distance(const spry_operator *M, const spry_matrix *A, double enough,
                            double *distance);

/* M for A in single precision behind an operator of A's own type; takes M, also when it fails. */
spry_status precon_lower(spry_type type, spry_operator *M, spry_operator **op);

/*
 * How kkt suits A (sorted CSR), where it is known to: H has a diagonal of one sign, and either
 * constraints have nothing among themselves and a sparse Schur complement, and the diagonal of H is
 * as large as the rest in at least half of its rows; or A is like Stokes' equations: constant
 * velocities are in the null space of H and constant pressures in that of B, but near walls. Then
 * the diagonal of E D^-1 B is like the mass matrix of pressures, which is as good as the Schur
 * complement itself (H. Elman, D. Silvester, A. Wathen, Finite Elements and Fast Iterative
 * Solvers, section 4.2).
 */
typedef struct precon_saddle {
    const char *spec; /* NULL: it is not known to */
    double products;  /* that the iterations take for a right-hand side */
} precon_saddle;
spry_status precon_kkt_suits(const spry_matrix *A, precon_saddle *found);
/* How edges suits A (sorted CSR): whether rows of a sample are edges that meet others at a node, so
 * that a gradient of theirs is in the null space of A, but for a small part. */
spry_status precon_edges_suits(const spry_matrix *A, bool *yes);
/* The kinds, found by their files. */
#define PRECON_DECLARE(name) extern const precon_kind precon_kind_##name;
PRECON_KINDS(PRECON_DECLARE)
extern const precon_kind precon_kind_none, precon_kind_inner;

#endif
