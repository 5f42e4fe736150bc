/*
 * The doctor: checks of a matrix and a right-hand side. Each check sees the same system and
 * adds findings to one list. Nothing is claimed that was not established: what is shown by a vector
 * (A v is nearly 0) is shown by a product with the matrix itself, whatever the vector came from.
 */
#ifndef SPRY_DOCTOR_INTERNAL_H
#define SPRY_DOCTOR_INTERNAL_H

#include "operator/operator.h"
#include "precon/precon.h"

#include <spry/doctor.h>
#include <spry/list.h>

/* item(NAME, word, summary, cause): every kind of finding, with a section of docs/doctor.md. */
#define DOCTOR_KINDS(item)                                                                         \
    item(NONFINITE, "nonfinite", "NaN or infinite numbers",                                        \
         "a division by zero or a number that was never set where the system was assembled, or a " \
         "file that was cut or misread")                                                           \
    item(ZERO_ROWS, "zero-rows", "rows with nothing but zeros",                                    \
         "equations that were never assembled: nodes that belong to no element, unknowns that "    \
         "were "                                                                                   \
         "left over")                                                                              \
    item(ZERO_COLUMNS, "zero-columns", "columns with nothing but zeros",                           \
         "unknowns that no equation mentions")                                                     \
    item(INDEX_BASE, "index-base", "indices that may be off by one",                               \
         "indices that count from 0 were taken to count from 1, or the other way round")           \
    item(STRUCTURE, "structurally-singular", "singular whatever the values are",                   \
         "more equations than unknowns in one part of the system, so that another part has more "  \
         "unknowns than equations: a condition given twice, one that is missing")                  \
    item(SINGULAR, "singular", "singular to working precision",                                    \
         "a missing boundary condition, an equation that follows from others, a floating part")    \
    item(NOT_IN_RANGE, "not-in-range", "b outside of the range of a singular matrix",              \
         "the equations contradict each other: sources that do not balance with pure Neumann "     \
         "conditions, values given to equations that are empty or repeated")                       \
    item(                                                                                          \
        ILL_CONDITIONED, "ill-conditioned", "close to a singular matrix",                          \
        "quantities of very different stiffness, nearly parallel equations, a mesh with slivers, " \
        "a penalty that is too large")                                                             \
    item(NULL_SPACE, "null-space", "the constant vector is a null vector, or nearly",              \
         "pure Neumann or periodic conditions, the Laplacian of a graph: x is known only up to a " \
         "constant")                                                                               \
    item(SCALING, "scaling", "rows or columns of very different size",                             \
         "mixed units, penalties, equations that were multiplied by different factors")            \
    item(SYMMETRY, "broken-symmetry", "almost symmetric, but not quite",                           \
         "rounding while assembling, values printed with few digits, boundary conditions that "    \
         "changed rows and not columns")                                                           \
    item(INDEFINITE, "indefinite", "symmetric (hermitian), but not positive definite",             \
         "a saddle point (constraints, mixed elements), a shift beyond an eigenvalue, a wrong "    \
         "sign")                                                                                   \
    item(ZERO_DIAGONAL, "zero-diagonal", "diagonal entries that are zero or missing",              \
         "equations in an order that has nothing to do with that of the unknowns, constraints, "   \
         "voltage sources")                                                                        \
    item(DUPLICATES, "duplicates", "several entries at one place",                                 \
         "contributions of elements that were not added up, or a file that has both triangles of " \
         "a matrix that it calls symmetric")                                                       \
    item(DISCONNECTED, "disconnected", "parts that have nothing to do with each other",            \
         "several systems in one, rows of boundary conditions that were kept, a mesh that is not " \
         "joined")                                                                                 \
    item(                                                                                          \
        NON_NORMAL, "non-normal", "far from normal",                                               \
        "transport that is stronger than diffusion, one-way coupling, rows that were changed and " \
        "columns not")                                                                             \
    item(RECTANGULAR, "rectangular", "not square",                                                 \
         "more equations than unknowns, or fewer: a fit, or a system that was not finished")       \
    item(UNSUITED, "unsuited", "a method or preconditioner that is not made for the matrix",       \
         "what was asked for needs properties that the matrix, or the preconditioner, does not "   \
         "have")                                                                                   \
    item(DRIFT, "drift", "the method's own residual has left the true one",                        \
         "rounding: the recurrence goes on falling while x gets no better, most of all where the " \
         "matrix is ill-conditioned or residuals were large on the way")                           \
    item(ROUNDING, "rounding", "a residual that is nothing but rounding",                          \
         "x is so large, or its terms cancel so far, that all digits of the precision are used "   \
         "up: a matrix that is badly scaled or ill-conditioned, or a b that asks for such an x")   \
    item(UNEXPLAINED, "unexplained", "a solve that ended badly, though nothing is wrong",          \
         "the method or its preconditioner is too weak for this matrix, or it was stopped early")  \
    item(UNCHECKED, "unchecked", "checks that there was no time or memory for",                    \
         "the matrix is large for the seconds that were given")

#define DOCTOR_KIND_ENUM(name, word, summary, cause) DOCTOR_##name,
typedef enum doctor_kind { DOCTOR_KINDS(DOCTOR_KIND_ENUM) DOCTOR_KIND_COUNT } doctor_kind;

#define DOCTOR_OPTIONS(item)                                                                      \
    item(REAL, seconds, "5", 0, 1e9, NULL,                                                        \
         "time to take, about; 0: what a few passes over A show")                                 \
    item(TEXT, method, "auto", 0, 0, NULL, "method to judge for this matrix; auto: none")         \
    item(TEXT, precon, "auto", 0, 0, NULL, "preconditioner to judge for this matrix; auto: none") \
    item(WORD, nullspace, "none", 0, 0, "none constant",                                          \
         "null space that a solve removes from b and x: what it explains is no fault")            \
    item(TEXT, matrix, "A.mtx", 0, 0, NULL, "what commands call the matrix")                      \
    item(TEXT, rhs, "", 0, 0, NULL, "what commands call the right-hand side")
typedef struct doctor_options {
    DOCTOR_OPTIONS(SPRY_OPTION_FIELD)
} doctor_options;
spry_option_list diagnose_option_list(void);

enum { DOCTOR_MOST_NULL = 8, DOCTOR_MOST_FINDINGS = 40 };

/* Vectors that B (B^H) sends to 0, orthonormal, and |B v| of each; see inverse.c. */
typedef struct doctor_null {
    int count;
    int64_t nullity; /* how many there are, as far as it was shown: count, or more */
    bool more;       /* there may be others */
    double next;     /* |B v| of the first that was found to be none; 0: not looked for */
    spry_vector *right[DOCTOR_MOST_NULL], *left[DOCTOR_MOST_NULL];
    double right_size[DOCTOR_MOST_NULL], left_size[DOCTOR_MOST_NULL];
} doctor_null;

/* The system that is checked. What cannot be had (a matrix with NaN has no B) is NULL. */
typedef struct doctor {
    spry_context *ctx;
    const doctor_options *options;
    double begin;
    bool known; /* what factors would show: none are made */
    const spry_matrix *given;
    spry_stats stats;
    const spry_matrix *A; /* general CSR, sorted, no place twice */
    spry_matrix *owned;   /* A where it is a copy */
    double roundoff;      /* of A's own type */
    bool square, hermitian, symmetric;
    bool column_sums_vanish; /* so that the constant vector is a left null vector */
    bool expected;           /* constant vectors are null vectors, and the solve was given them */
    int64_t zero_rows, zero_cols, structural_rank;
    /* In double precision: A, B = diag(left) A diag(right) with largest entries of about 1, b. */
    spry_type type;
    const spry_matrix *W;
    spry_matrix *W_owned, *B;
    spry_vector *left, *right;
    spry_operator *W_op, *B_op;
    spry_vector *b;
    double B_norm;          /* a lower bound of |B| */
    spry_operator *M;       /* the inverse of B, a generalized one where pivots are missing */
    const spry_operator *N; /* the same of A, which was given, in the place of M */
    double reached; /* the least |b - A x| / |b| that an x is known to have; infinite: none */
    bool counts;    /* it is work that ends checks, and not the clock */
    doctor_null null;
    double smallest; /* the least |B v| / |v| come upon; infinite: none */
    bool definite;   /* it was shown that it is not: false */
    double condition;
    char unchecked[256];
    spry_finding *findings;
    int count;
} doctor;

/* --- findings (findings.c) ----------------------------------------------------------------------
 */
/* For SPRY_LIST_FINDINGS: fills a cleared entry; false past the last. */
bool doctor_kind_at(int index, spry_entry *entry);
/* Adds one; there is always room for it. */
spry_finding *doctor_add(doctor *d, doctor_kind kind, spry_severity severity, const char *format,
                         ...) SPRY_PRINTF(4, 5);
/* Its next command: "spry solve A.mtx b.mtx ..." with names put in, or any other. */
void doctor_solve(const doctor *d, spry_finding *f, const char *arguments);
void doctor_next(spry_finding *f, const char *format, ...) SPRY_PRINTF(2, 3);
void doctor_figure(spry_finding *f, const char *name, double value);
/* One more row (column) that is concerned; the first ones are kept. */
void doctor_row(spry_finding *f, int64_t row);
void doctor_col(spry_finding *f, int64_t col);
/* "3, 17, 18 and 5 more" (from 0), of the rows or columns a finding has. */
const char *doctor_places(const int64_t *places, int64_t count, char *text, size_t size);
/* The first finding of a kind; NULL: none. */
const spry_finding *doctor_find(const doctor *d, doctor_kind kind);
bool doctor_has(const doctor *d, doctor_kind kind);
/* What there was no time for. */
void doctor_skip(doctor *d, const char *what);
/* Whether it is time to end: past a share of the seconds, or a stop was asked for. */
bool doctor_late(const doctor *d, double share);

/* --- the system (system.c) ----------------------------------------------------------------------
 */
spry_status doctor_open(doctor *d, const spry_matrix *A, const spry_vector *b,
                        const doctor_options *options);
void doctor_close(doctor *d);
/* W, B and what belongs to them; not for matrices with values that are not finite. */
spry_status doctor_prepare(doctor *d);
/* B and what belongs to it, of the factors that there are. */
spry_status doctor_scale(doctor *d);

/* --- checks --------------------------------------------------------------------------------------
 */
spry_status doctor_check_values(doctor *d);    /* nonfinite, duplicates, scaling (values.c) */
spry_status doctor_check_symmetry(doctor *d);  /* symmetry.c */
spry_status doctor_check_pattern(doctor *d);   /* zero rows, base, diagonal, parts (pattern.c) */
spry_status doctor_check_structure(doctor *d); /* structure.c */
spry_status doctor_check_sums(doctor *d);      /* the constant vector (sums.c) */
spry_status doctor_check_spectrum(doctor *d);  /* indefinite, non-normal (spectrum.c) */
spry_status doctor_check_inverse(doctor *d);   /* singular, ill-conditioned (inverse.c) */
spry_status doctor_check_range(doctor *d);     /* b (range.c) */
spry_status doctor_check_size(doctor *d);      /* x, relative to rounding errors (size.c) */
/* All of them. */
spry_status doctor_examine(doctor *d);

/* --- tools ---------------------------------------------------------------------------------------
 */
/* y = C x */
typedef spry_status (*doctor_product)(void *data, const spry_vector *x, spry_vector *y);
/* The least and largest eigenvalue of a hermitian C that `steps` steps of Lanczos come upon; both
 * are within its spectrum up to rounding. Ends early where time is up. */
spry_status doctor_lanczos(doctor *d, doctor_product product, void *data, int64_t n, int steps,
                           double *least, double *largest);
/* y = A x, or A^H x */
spry_status doctor_times(const spry_operator *A, bool conjugate, const spry_vector *x,
                         spry_vector *y);
/* A random vector of n numbers, of length 1. */
spry_status doctor_random(const doctor *d, int64_t n, uint64_t seed, spry_vector **v);
spry_status doctor_normalise(spry_vector *v);
/* v = v - Q (Q, v), twice. */
spry_status doctor_project(int count, spry_vector *const *q, spry_vector *v);
/* Whether B is hermitian where A is: |A| may be symmetric up to rounding alone. */
bool doctor_scaled_alike(const doctor *d);
/* A is hermitian and (x, A x) < 0 for some x, as its inverse showed. */
void doctor_report_negative(doctor *d, double least, double largest);
/* The inverse of B where it can be had within the time, and the vectors that B sends to 0. */
spry_status doctor_invert(doctor *d);
spry_status doctor_find_null(doctor *d);
/* Where B is singular: another scaling in its place with which it is not, if there is one. */
spry_status doctor_balance(doctor *d);
/* y = B^-1 x, or B^-H x, by M or N. */
bool doctor_has_inverse(const doctor *d);
spry_status doctor_inverse(const doctor *d, bool conjugate, const spry_vector *x, spry_vector *y);
/* x = A^-1 b by M, refined, from 0 on; r = b - A x. */
spry_status doctor_solution(const doctor *d, spry_vector *x, spry_vector *r);
/* The part of b outside of A's range, as far as the left null vectors known span it, and what
 * rounding may have made of that, over |b|; how many vectors show it. */
spry_status doctor_outside(doctor *d, int *count, double *outside, double *rounding);

/*
 * For a solver whose factors did not do: whether A is singular, and how far. Where nothing shows
 * it, `singular` is false. Null vectors are those of A, orthonormal, in double precision; the
 * caller clears the verdict. N (NULL: none) is an inverse of A, which is used where it has
 * reported missing pivots: factors of the same kind would show no more. The verdict depends on the
 * system alone: factors are made where they are forecast to take no more than `seconds`.
 */
typedef struct doctor_verdict {
    bool singular;
    bool more; /* the rank may be less */
    int64_t rank, structural_rank;
    double outside; /* |part of b outside of the range| / |b|, as far as vectors show; else 0 */
    int64_t row_count, rows[SPRY_FINDING_PLACES];
    int null_count; /* 0 where there are more than are known */
    spry_vector *null[DOCTOR_MOST_NULL];
} doctor_verdict;
spry_status doctor_singular(const spry_matrix *A, const spry_operator *N, const spry_vector *b,
                            double seconds, doctor_verdict *verdict);
void doctor_verdict_clear(doctor_verdict *verdict);

#endif
