/* Solvers: a method, a preconditioner and options, used on one operator. */
#ifndef SPRY_SOLVER_H
#define SPRY_SOLVER_H

#include <spry/list.h>
#include <spry/precon.h>
#include <spry/ranks.h>
#include <spry/result.h>

SPRY_BEGIN

/**
 * A method, a preconditioner and options, with what was built for a matrix. It belongs to its
 * context and is used by one thread at a time. While one of its calls runs, what that calls
 * (monitor, watch, a caller's operator) may read its options and set monitor and watch for the next
 * solve; to change it, to start it or to ask for more is SPRY_STATUS_BAD_USAGE. Other solvers of
 * the context can be used there.
 */
typedef struct spry_solver spry_solver;

/** Sees each iteration, and with the option tell-start=yes the first guess as iteration 0; x is the
 * current iterate, of all methods: where it is made at the end of a cycle alone (gmres and its kin,
 * bicgstabl), that is done at the first look at it, and costs what the end of the solve would. It
 * is of the host where the caller's x is, wherever the solve runs; then numbers come from the
 * device at the first look. It is not to be used after the function. Return false to stop. */
typedef bool (*spry_monitor_fn)(void *data, int64_t iteration, double residual,
                                const spry_vector *x);

/** Makes a solver with default options. */
SPRY_API spry_status spry_solver_new(spry_context *ctx, spry_solver **solver);
/** Frees a solver; NULL is allowed. Called from within one of the solver's own calls, it frees when
 * that has ended.
 */
SPRY_API void spry_solver_free(spry_solver *solver);

/**
 * Sets options from "tol=1e-8 max-iter=500 method=cg precon=jacobi"; see spry_options_of("solver").
 * What is built stays unless the option touches it: tol, max-iter, stall and divergence drop
 * nothing; method, restart and fuse the method's plan; precon the preconditioner as well; format
 * and device all of it. An option that is given the value it has drops nothing.
 */
SPRY_API spry_status spry_solver_set(spry_solver *solver, const char *options);
/** The same for one option by its name; any one, and the specs of methods, preconditioners and
 * formats whole: spry_solver_set_text(s, "precon", "amg:cycle=w"). */
SPRY_API spry_status spry_solver_set_text(spry_solver *solver, const char *name, const char *value);
/** The same for an option that takes a number, which does not go through text; whole numbers are
 * asked for where the option takes these. */
SPRY_API spry_status spry_solver_set_real(spry_solver *solver, const char *name, double value);
/**
 * Reads the number of an option. "method:NAME" is the option NAME of the method itself as it is in
 * effect ("method:restart"), whatever has set it; for this the solver is set up as for a solve, so
 * that it must have a matrix or operator. It also reads the numbers of the method's text as the
 * last solve has left them, the first of several: "method:fnorm" of lsqr and lsmr is their estimate
 * of |A|, "method:acond" that of its condition.
 */
SPRY_API spry_status spry_solver_get_real(spry_solver *solver, const char *name, double *value);
/** Any option as text; room for SPRY_OPTION_TEXT_SIZE characters is enough. */
SPRY_API spry_status spry_solver_get_text(spry_solver *solver, const char *name, char *text,
                                          size_t size);
/**
 * The matrix to solve with, of any context, which must stay alive; format and preconditioner are
 * made from it. After spry_matrix_set_values() the next solve is one with the new values: storage
 * and preconditioner take them, where they can without being made anew.
 */
SPRY_API spry_status spry_solver_set_matrix(spry_solver *solver, const spry_matrix *A);
/** Takes the matrix's new values now rather than at the next solve; where there are none it does
 * nothing. */
SPRY_API spry_status spry_solver_update(spry_solver *solver);
/** An operator instead of a matrix; precon=jacobi is not possible then, a precon operator is. A
 * solve with one that has old values of its matrix (spry_operator_is_current) is
 * SPRY_STATUS_BAD_USAGE. */
SPRY_API spry_status spry_solver_set_operator(spry_solver *solver, const spry_operator *A);
/** A preconditioner of the caller's: z = M r. NULL takes it back. It may have been made from older
 * values of the matrix: more iterations then, and no other answer. */
SPRY_API spry_status spry_solver_set_precon(spry_solver *solver, const spry_operator *M);
/**
 * The null space of a matrix that is singular on purpose (pure Neumann conditions, the Laplacian of
 * a graph): it is removed from b, from x and from what the preconditioner gives, and x is the
 * solution of least norm. Residuals are those of what is left of b; how much of it was removed is a
 * warning. The option nullspace=constant is this for the constant vector. At the next solve |A v|
 * is looked at: SPRY_STATUS_BAD_INPUT where it is not small, with the figure.
 *
 * @param solver  of which nothing is dropped but the method's plan
 * @param count   vectors; 0 forgets them
 * @param right   null vectors of A, of one type and place; orthonormal copies are kept
 * @param left    null vectors of A^H, which b must have no part in; NULL: those of A where they are
 *                ones, as for hermitian matrices, and else b stays as it is
 */
SPRY_API spry_status spry_solver_set_null_space(spry_solver *solver, int count,
                                                const spry_vector *const *right,
                                                const spry_vector *const *left);
/** A method of the caller's as text, see docs/notation.md; it is parsed at the next solve. NULL
 * takes it back. Its own options are set by method=NAME:step=2, as for others. The option
 * method-file does the same with a file, which is read at the next solve, and again when the option
 * is set again. */
SPRY_API spry_status spry_solver_set_method_text(spry_solver *solver, const char *text);
/**
 * Vectors that a method keeps from one solve to the next: of an array that its text `keeps`, such
 * as U, the corrections, and C = A U of gcrot:recycle=yes. For solves of one right-hand side.
 *
 * @param solver  after a solve
 * @param name    of the array in the method's text
 * @param count   how many, from the first on; those that are 0 are not there yet
 * @param v       where they are copied to: as long as x or b, of A's type, on the host or where the
 *                solve runs
 */
SPRY_API spry_status spry_solver_get_space(spry_solver *solver, const char *name, int count,
                                           spry_vector *const *v);
/** Puts vectors into such an array, those that are to be replaced first before others; what else it
 * had is forgotten. gcrot makes C from U where it is not A U: also for an A that has changed, U of
 * the solve before is a space for the next. */
SPRY_API spry_status spry_solver_set_space(spry_solver *solver, const char *name, int count,
                                           const spry_vector *const *v);
/** The function that sees each iteration; NULL: none. */
SPRY_API void spry_solver_set_monitor(spry_solver *solver, spry_monitor_fn monitor, void *data);
/** Hears of each iteration, but on a device of many at a time, while the solve goes on: a monitor
 * that sees x makes every iteration wait for it. A run that is repeated up to its best x is heard
 * of again. Return false to stop. */
typedef bool (*spry_watch_fn)(void *data, int64_t iteration, double residual);
/** The function that hears of each iteration; NULL: none. */
SPRY_API void spry_solver_set_watch(spry_solver *solver, spry_watch_fn watch, void *data);
/**
 * The x of this iteration is good enough: to be called by a monitor or a watch, whose solve of this
 * system ends with it, whatever they return. The reason is SPRY_REASON_ACCEPTED, unless x is within
 * the tolerance, too: `converged` is said of the true residual alone. x is that of the iteration,
 * not the best; after a watch on a device it may be some iterations further. Elsewhere it is
 * SPRY_STATUS_BAD_USAGE.
 */
SPRY_API spry_status spry_solver_accept(spry_solver *solver);
/** Which of the right-hand sides of spry_solve_many() a monitor or watch hears of, from 0; -1
 * elsewhere. */
SPRY_API int spry_solver_system(const spry_solver *solver);
/** The name of the method at work, for monitors and watches; "" before there was a solve. */
SPRY_API const char *spry_solver_method(const spry_solver *solver);
/** The name of the preconditioner at work, likewise. */
SPRY_API const char *spry_solver_precon(const spry_solver *solver);

/**
 * Solves A x = b.
 *
 * @param solver  with a matrix or operator set; used by one thread at a time
 * @param b       right-hand side of the operator's type; it and x are used in place where the solve
 *                runs, and else copied there, x also back
 * @param x       in: first guess; out: the best iterate, also when not converged
 * @param result  initialised or cleared; filled on every return; may be NULL
 * @return SPRY_STATUS_OK whenever the iteration ran: stalling is result->reason, not an error
 */
SPRY_API spry_status spry_solve(spry_solver *solver, const spry_vector *b, spry_vector *x,
                                spry_result *result);

/**
 * How good an x is, from the entries of A, with residuals in twice the precision. The error bound
 * needs the factors of a solve by method direct, and estimates the condition number with them once:
 * that takes about as long as five more solves, later bounds as long as two products with A, or as
 * five solves where the condition number alone says little.
 *
 * @param solver    with a matrix set, after a solve
 * @param b         right-hand side
 * @param x         what is taken as the solution
 * @param backward  x solves a system whose every entry of A and b is off by this share at most
 *                  (Oettli and Prager); infinite where x is not finite
 * @param bound     |x - A^-1 b| / |x|, each by its largest entry, is at most this, as far as the
 *                  estimate holds; 1 or more: no digit may be right; NaN: not known, as the last
 *                  solve had no factors in A's precision, or A is singular
 */
SPRY_API spry_status spry_solver_errors(spry_solver *solver, const spry_vector *b,
                                        const spry_vector *x, double *backward, double *bound);

/**
 * Solves A x_k = b_k for several right-hand sides, side by side in groups of eight that share the
 * reading of A; each is judged by itself and has its own result.
 *
 * @param results  count of them, each initialised or cleared, all of one size; may be NULL
 */
SPRY_API spry_status spry_solve_many(spry_solver *solver, int count, const spry_vector *const *b,
                                     spry_vector *const *x, spry_result *results);

/**
 * The same for the columns of dense blocks of A's type, each of them on the host or a device.
 * Columns whose numbers stand one after the other (not by_rows) are used in place, others are
 * copied; so are those of a cl_mem.
 *
 * @param solver   with a matrix or operator set
 * @param B        right-hand sides
 * @param X        in: first guesses; out: solutions
 * @param results  as many as there are columns, as for spry_solve_many(); may be NULL
 */
SPRY_API spry_status spry_solve_dense(spry_solver *solver, const spry_dense *B, const spry_dense *X,
                                      spry_result *results);

/** All of the above in one call. */
SPRY_API spry_status spry_quick_solve(spry_context *ctx, const spry_matrix *A, const spry_vector *b,
                                      spry_vector *x, const char *options, spry_result *result);

/** What an iteration of a method costs without a preconditioner, as fused by the library. */
typedef struct spry_cost {
    size_t size;       /**< SPRY_COST_INIT */
    double products;   /**< with A or A^H */
    double reductions; /**< points where inner products are gathered */
    double vectors;    /**< read or written beside A */
    int memory;        /**< vectors kept beside x and b */
    bool transpose;    /**< whether A^H is needed */
} spry_cost;
#define SPRY_COST_INIT SPRY_SIZED(spry_cost)
/** Of a method of SPRY_LIST_METHODS. */
SPRY_API spry_status spry_method_cost(spry_context *ctx, const char *method, spry_cost *cost);

/**
 * Explains the solver's method: notation, options, what runs together, the traffic of an iteration;
 * with figures for the solver's matrix, if it has one.
 *
 * @param text  to be given back to spry_free()
 */
SPRY_API spry_status spry_solver_explain(spry_solver *solver, char **text);

/** What a rank did in the last solve of a matrix that is distributed over ranks; every rank can ask
 * for each. SPRY_STATUS_BAD_USAGE where there was no such solve, or is no such rank. */
SPRY_API spry_status spry_solver_rank(const spry_solver *solver, int rank,
                                      spry_rank_report *report);

SPRY_END

#endif
