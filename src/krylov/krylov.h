/*
 * What methods and the solver share. A method is a text in src/krylov/methods, parsed and fused by
 * src/program. It never decides by itself when to stop: it reports its residuals, and the iteration
 * judges.
 */
#ifndef SPRY_KRYLOV_INTERNAL_H
#define SPRY_KRYLOV_INTERNAL_H

#include "operator/operator.h"
#include "program/run.h"

#include <spry/solver.h>

#define SOLVER_OPTIONS(item)                                                                       \
    item(REAL, tol, "1e-8", 0, 1, NULL,                                                            \
         "relative true residual |b - A x| / |b| to reach; 1e-4 in single precision unless said")  \
    item(                                                                                          \
        REAL, atol, "0", 0, 1e300, NULL,                                                           \
        "absolute residual |b - A x| that is enough: converged at the larger of tol |b| and this") \
    item(INT, max_iter, "10000", 0, 9e18, NULL, "iterations at most")                              \
    item(TEXT, method, "auto", 0, 0, NULL,                                                         \
         "method, with its options after a colon: gmres:restart=50,side=left; `spry "              \
         "explain` lists them")                                                                    \
    item(TEXT, method_file, "", 0, 0, NULL, "file with a method of yours, see docs/notation.md")   \
    item(TEXT, precon, "auto", 0, 0, NULL,                                                         \
         "preconditioner, with its options after a colon: ssor:omega=1.2; one within another in "  \
         "brackets: schwarz:overlap=2,sub=[ilu:level=1]")                                          \
    item(INT, restart, "0", 0, 10000, NULL,                                                        \
         "steps between restarts, for methods that restart; 0: the method's own number")           \
    item(TEXT, format, "csr", 0, 0, NULL,                                                          \
         "storage format of A, with its options after a colon: sell:C=8,sigma=256; auto lets "     \
         "the tuner choose by timing, so that the last bits may differ from run to run")           \
    item(TEXT, device, "auto", 0, 0, NULL,                                                         \
         "where to compute: auto, cpu, gpu, cuda, cuda:1, opencl, opencl:1; auto takes a CUDA "    \
         "device for matrices that are large enough, or what the variable SPRY_DEVICE names")      \
    item(WORD, reorder, "auto", 0, 0, "auto none rcm hubs",                                        \
         "permute rows and columns for the solve, by reverse Cuthill-McKee or columns with many "  \
         "entries first: auto where that is forecast to pay; b and x stay as they are")            \
    item(BOOL, reformat, "yes", 0, 0, NULL,                                                        \
         "with format=auto: a solve that goes on for much longer than the format was chosen for "  \
         "changes it once; the result names the iteration")                                        \
    item(BOOL, fuse, "yes", 0, 0, NULL, "fuse the method's statements into few sweeps")            \
    item(INT, stall, "1000", 0, 9e18, NULL,                                                        \
         "iterations over which the mean residual must fall, else stagnation; 0: never")           \
    item(REAL, divergence, "1e20", 1, 1e300, NULL,                                                 \
         "growth over the first residual that counts as divergence")                               \
    item(WORD, keep, "best", 0, 0, "best last",                                                    \
         "the x of a solve that has not converged: the one with the smallest true residual, or "   \
         "the last")                                                                               \
    item(BOOL, report_start, "no", 0, 0, NULL,                                                     \
         "call monitors and watches for the first guess too, as iteration 0")                      \
    item(WORD, nullspace, "none", 0, 0, "none constant",                                           \
         "of a matrix that is singular on purpose: constant vectors, as with pure Neumann "        \
         "conditions; removed from b and x, so that x is the solution of least norm")              \
    item(BOOL, memory, "no", 0, 0, NULL,                                                           \
         "remember what solved a matrix where something else did not, and begin with it")
enum { NULLSPACE_NONE, NULLSPACE_CONSTANT };
enum { KEEP_BEST, KEEP_LAST };
enum { REORDER_AUTO, REORDER_NONE, REORDER_RCM, REORDER_HUBS };
struct solver_order;

typedef struct solver_options {
    SOLVER_OPTIONS(SPRY_OPTION_FIELD)
    spry_given given;
} solver_options;
/* The options of solvers. */
spry_option_list solver_option_list(void);

enum { WARNINGS_SIZE = 1024, DETAIL_SIZE = sizeof((spry_result *)0)->detail };

/* Orthonormal vectors. */
typedef struct null_basis {
    int count;
    spry_vector **v;
} null_basis;
/* x = x - V (V, x) */
spry_status null_basis_remove(const null_basis *basis, spry_vector *x);
void null_basis_clear(spry_context *ctx, null_basis *basis);

/* How a run ended, as the members of an iteration. */
typedef struct iteration_end {
    spry_reason reason;
    char detail[DETAIL_SIZE];
    int64_t count;
    double residual, gradient;
    bool drifted; /* its residual said nothing in the end */
} iteration_end;

/*
 * What rounding makes of a product A x at most: each row of it is off by u (longest row + 2) times
 * the sum of its |a_ij x_j| (N. J. Higham, Accuracy and Stability of Numerical Algorithms, SIAM
 * (2002), section 3.5). NAN: not asked for yet, infinite: not known.
 */
typedef struct wide_bounds {
    double rows; /* over sqrt(n) max |x_j|: u (longest row + 2) |A|_inf */
    double both; /* over |x|: u (longest row + 2) sqrt(|A|_1 |A|_inf) */
    double unit; /* u (longest row + 2), as soon as rows is found */
} wide_bounds;

/* Whom an iteration reports to, and which x. */
typedef struct iteration_listener {
    spry_monitor_fn monitor;
    void *monitor_data;
    spry_watch_fn watch;
    void *watch_data;
    struct iteration **reporting; /* points to the iteration while its monitor or watch is called */
    bool accepted;                /* one of them took x as it is */
    spry_vector *shown;           /* for the monitor, where x is not what it sees */
    bool shows;                   /* all ranks have agreed that it is allocated */
    bool stale;                   /* and x is to be made first: the method does so at the end */
    bool on_host;                 /* the caller's x is on the host, wherever x is */
} iteration_listener;

/* How fast an attempt goes, and whether it still pays; see iteration_attempt(). */
typedef struct iteration_pace {
    int64_t began_at, patience;
    double began_from, marked; /* residual at its begin, and at mark_at */
    int64_t mark_at;
    bool more;        /* another attempt can follow */
    bool gave_up;     /* it would have arrived later than the next attempt */
    int64_t idle;     /* residuals reported in the loop since then that are no iterations */
    double least;     /* smallest of this run */
    int64_t least_at; /* and its iteration */
    double window_log, last_mean; /* logarithms: sum over this window, mean over the one before */
    int64_t window_count;
} iteration_pace;

/* The x with the smallest true residual known. */
typedef struct iteration_best {
    spry_vector *x;
    double residual; /* relative; infinite while nothing is saved */
    int64_t at;      /* its iteration */
    bool found;      /* by the attempt at hand */
} iteration_best;

/* The attempt that x is from, which the result is of. */
typedef struct iteration_source {
    char method[32], precon[32]; /* "": none has ended yet */
    double setup_seconds, run_seconds;
    int64_t began_at, ended_at; /* iterations before it, and with it */
    double residual;            /* the last one of its recurrence */
    int64_t bytes;              /* per iteration */
    double traffic;             /* bytes of all systems */
    spry_reason reason;
    char detail[DETAIL_SIZE];
    bool last; /* none came after it */
} iteration_source;

/* A run that is repeated up to an iteration; see iteration_find_better(). */
typedef struct iteration_replay {
    int64_t from;      /* iterations before the run */
    int64_t to;        /* NONE: it is not repeated */
    int64_t count;     /* iterations that were done twice */
    iteration_end end; /* how it had ended */
} iteration_replay;

/* Least squares. */
typedef struct iteration_squares {
    double gradient;     /* the method's; infinite where it reports none */
    double goal;         /* which that must reach; below tol once that was not enough */
    double tol;          /* what the true gradient of a least-squares solution must reach */
    int64_t stays_until; /* up to which iteration the residual is to stay for that; or NONE */
    bool found;          /* x was found to be a least-squares solution */
} iteration_squares;

/* What |x - A^-1 b|_A^2 has fallen by in each iteration of the run at hand, as cg and its kin know
 * it (energy.c). */
typedef struct iteration_energy {
    double *falls;
    int64_t count, room;
    double error; /* |x - A^-1 b|_A / |x|_A of the x that is returned, estimated; 0: not known */
} iteration_energy;

/* What the method is like. */
typedef struct iteration_traits {
    bool estimates; /* iterations are counted at estimates, not at residuals */
    bool left;      /* the method's residual is that of M r: another norm's, with a factor */
    bool coupled;   /* its run depends on other right-hand sides: it cannot be repeated alone */
    bool curable;   /* it has products x^T y of complex vectors, which may be 0 for any */
} iteration_traits;

/* A solve in progress. */
typedef struct iteration iteration;
struct iteration {
    spry_context *ctx;
    const solver_options *options;
    const spry_operator *A;
    const spry_operator *M;    /* as it was given or made; NULL: none */
    const spry_matrix *matrix; /* A's entries; NULL: not known */
    wide_bounds *bounds;       /* of its rounding */
    const spry_vector *b;
    spry_vector *x;
    int system; /* its place among those of the call */
    double b_norm;
    double tol;     /* relative: the larger of the options tol and atol / |b| */
    double a_norm;  /* of A, for least squares; 0: not known yet */
    runner *runner; /* and the right-hand side in it, to bring x up to date */
    rhs *rhs;
    int exponent;           /* b and x are scaled by 2^-exponent; mostly 0 */
    spry_vector *own_b;     /* b points to it when it is scaled, or was freed of a null space */
    const null_basis *null; /* what is removed from x; NULL: nothing */
    spry_vector *spare;     /* for true residuals, as long as b; the solver's, as is best.x */
    const struct solver_order *order; /* of b and x, which is not the caller's; NULL: it is */
    int64_t format_at; /* the iteration from which on A is in another format; 0: it stayed; NONE:
                          that came after the end */
    iteration_traits traits;
    iteration_listener listener;
    iteration_pace pace;
    iteration_squares squares;
    iteration_energy energy;
    iteration_best best;
    iteration_source from;
    iteration_replay replay;

    int64_t count; /* iterations done */
    bool begun;    /* the run at hand has reported a residual */
    bool stop;     /* the monitor or an interrupt asked for the end */
    bool interrupted;
    bool product_known; /* spare is A x of the x that the first run begins with */
    bool from_zero;     /* the run at hand began with x = 0, else with what is saved */
    double residual;    /* of the recurrence, relative */
    double initial;
    double checked;     /* recurrence's residual at the last look at the true one */
    int64_t checked_at; /* and its iteration */
    bool drifted;       /* the run ended because the two had parted */
    double truth;       /* the true residual of x, relative */
    double before;      /* the same after the run before */
    double goal;        /* what the recurrence must reach; below tol once that was not enough */
    bool at_rounding;   /* and no less can be had in this precision */
    bool rounded;       /* exact factors have brought x as near as its own digits allow */
    int64_t nullity;    /* of A, as a search for what keeps it from its tolerance has found it */
    bool beyond;        /* the solution is beyond the range of the type, and x is 0 */
    bool ended;         /* for good */
    spry_reason reason;
    char detail[DETAIL_SIZE];
    double *history;
    int64_t history_room;
    char warnings[WARNINGS_SIZE];
};

/* Whether that is less than the best so far by more than rounding of the same x makes. */
static inline bool iteration_gains(const iteration *it, double relative)
{
    return relative < (1 - 1e-9) * it->best.residual;
}
/* One status for all ranks that solve this system. */
spry_status iteration_agree(const iteration *it, spry_status status);
/* The iteration's side of a right-hand side: takes what the method reports. */
spry_status iteration_report(void *it, report_kind kind, bool loop, double value, bool *go_on);
void iteration_limits(void *it, run_limits *limits);
void iteration_breakdown(void *it, const char *text, bool finite);
void iteration_accept(void *it, const char *text);
/* From here on an attempt, after which `more` can follow: it gives up once it has cost half of what
 * the next one is forecast to, which is `patience` iterations (0: there is none), and will not
 * arrive for as much again. */
void iteration_attempt(iteration *it, bool more, int64_t patience);
/* Iterations to come, by the fall of the residual since the attempt began, or of late: the better
 * of the two, as many methods begin slowly. */
double iteration_to_come(const iteration *it);
/* Reports the first guess to monitor and watch, where that is wanted; they may end the solve. */
spry_status iteration_report_start(iteration *it);
/* Takes the residual of this iteration into the history. */
spry_status iteration_note(iteration *it);
/* |b|, and |b - A x| by a product of its own. */
spry_status iteration_first_norms(iteration *it, double *residual);
/* Whether all numbers of x are finite, whose norm is known. */
spry_status iteration_is_finite(const spry_vector *x, double norm, bool *yes);
/* |b - A x| / |b| by a product of its own; NaN where a number of x is not finite, which a residual
 * does not show if A has no entry for it. */
spry_status iteration_true_residual(iteration *it, double *relative);
/* The true residual in twice the precision, where rounding affects its first digits or in
 * whether it is below tol. */
spry_status iteration_confirm(iteration *it);
/* r = b - A x in twice the precision, and |r| / |b|, of vectors of the host. */
spry_status wide_residual(const iteration *it, const spry_matrix *A, const spry_vector *b,
                          const spry_vector *x, spry_vector *r, double *relative);
/* |b - A x| in twice the precision. */
spry_status wide_measure(const spry_matrix *A, const spry_vector *b, const spry_vector *x,
                         spry_vector *room, double *norm);
/* Remembers x when it is the best so far. */
spry_status iteration_keep(iteration *it, double relative);
/* Where x may be the least-squares solution of a system that has none: |A^H r| / (|A| |r|) of the
 * true r, or the worst column's share in it. */
spry_status iteration_true_gradient(iteration *it, double *relative);
/*
 * The best x of a run that has ended badly is often one that was not looked at. What runs do
 * depends on nothing but their start, so the run is repeated up to there: that costs nothing where
 * solves converge, and works where x is made at the end of a cycle alone. Up to which iteration it
 * is worth it; NONE: it is not. Where the method's residual had drifted from the true one, it is
 * believed for half of its way. Begins; and ends it, with what was found.
 */
int64_t iteration_find_better(const iteration *it, bool drifted);
spry_status iteration_begin_replay(iteration *it, int64_t to, bool drifted);
spry_status iteration_end_replay(iteration *it);
/* r = b - A x */
spry_status iteration_residual(const iteration *it, const spry_vector *x, spry_vector *r);

/* Of energy.c: at the end, estimates the error of an x that has converged. */
spry_status energy_settle(iteration *it);

/* Of measure.c. The true residual that rounding alone makes of x; 0 where the entries of A are not
 * known. */
spry_status measure_rounding(const iteration *it, double *level);
/* The distance of 1 to the next number of a type. */
double measure_unit(spry_type type);
/* The largest share that a column of A has in A^H r, relative to its own size; 0 likewise. */
spry_status measure_columns(const iteration *it, const spry_vector *r, double r_norm,
                            double *worst);

/* The methods, from their files; the table ends with a NULL name. */
extern const spry_entry krylov_texts[];
/* The parts that they share, which texts of users may use, too; the last has no name. */
typedef struct krylov_part {
    const char *name, *text;
} krylov_part;
extern const krylov_part krylov_parts[];
extern const base_sized krylov_result_sized;

/* Parses the method `spec` names, or the one in `text` or else in `file`, NULL or "" where there is
 * none. Its options are what follows a colon in `spec` ("gmres:restart=50"), and before that
 * `restart`, where it is no 0 and the method has one. */
spry_status krylov_parse(spry_context *ctx, const char *spec, const char *text, const char *file,
                         int64_t restart, program **p);
/* Whether the library's method of a name is for square matrices alone. */
spry_status krylov_square_only(spry_context *ctx, const char *method, bool *yes);

#endif
