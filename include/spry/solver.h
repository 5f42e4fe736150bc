/* Solvers: a method, a preconditioner and options, used on one operator. */
#ifndef SPRY_SOLVER_H
#define SPRY_SOLVER_H

#include <spry/list.h>
#include <spry/precon.h>
#include <spry/result.h>

SPRY_BEGIN

/**
 * A method, a preconditioner and options, with what was built for a matrix. It belongs to its
 * context and is used by one thread at a time. While one of its calls runs, functions of yours that
 * it calls (monitor, watch, an operator) may read its options and set monitor and watch for the
 * next solve; other calls with it are SPRY_STATUS_BAD_USAGE. They may use other solvers of the
 * context.
 */
typedef struct spry_solver spry_solver;

/** Called after each iteration, and with the option report-start=yes for the first guess, as
 * iteration 0; x is the current iterate, for all methods: those that compute x only at the end of a
 * cycle (gmres and its kin, bicgstabl) do so when you first read it, which costs as much as the end
 * of the solve. If your x is on the host, so is this one, wherever the solve runs; its numbers come
 * from the device when you first read it. Do not use it after the function has returned. Return
 * false to stop. */
typedef bool (*spry_monitor_fn)(void *data, int64_t iteration, double residual,
                                const spry_vector *x);

/** Makes a solver with default options. */
SPRY_API spry_status spry_solver_new(spry_context *ctx, spry_solver **solver);
/** Frees a solver; NULL is allowed. Called from within one of the solver's own calls, it frees the
 * solver when that call has ended.
 */
SPRY_API void spry_solver_free(spry_solver *solver);

/**
 * Sets options from "tol=1e-8 max-iter=500 method=cg precon=jacobi"; see spry_options_of("solver").
 * Set-up is kept unless the option affects it: tol, max-iter, stall and divergence drop nothing;
 * method, restart and fuse the method's plan; precon the preconditioner as well; format and device
 * all of it. Setting an option to its present value drops nothing.
 */
SPRY_API spry_status spry_solver_set(spry_solver *solver, const char *options);
/** The same for one option by its name; methods, preconditioners and formats may have their own
 * options: spry_solver_set_text(s, "precon", "amg:cycle=w"). */
SPRY_API spry_status spry_solver_set_text(spry_solver *solver, const char *name, const char *value);
/** The same for an option that takes a number, without conversion to text; it must be whole if the
 * option takes whole numbers. */
SPRY_API spry_status spry_solver_set_real(spry_solver *solver, const char *name, double value);
/**
 * Reads the number of an option. "method:NAME" is the option NAME of the method as it is in effect
 * ("method:restart"); for this the solver is set up as for a solve and must have a matrix or
 * operator. The same reads the numbers of the method's text after the last solve, the first of
 * several: "method:fnorm" of lsqr and lsmr is their estimate of |A|, "method:acond" that of its
 * condition.
 */
SPRY_API spry_status spry_solver_get_real(spry_solver *solver, const char *name, double *value);
/** Any option as text; room for SPRY_OPTION_TEXT_SIZE characters is enough. */
SPRY_API spry_status spry_solver_get_text(spry_solver *solver, const char *name, char *text,
                                          size_t size);
/**
 * The matrix to solve with, of any context, which must stay alive; format and preconditioner are
 * made from it. After spry_matrix_set_values() the next solve uses the new values, and refreshes
 * storage and preconditioner, or makes them again if that is not possible.
 */
SPRY_API spry_status spry_solver_set_matrix(spry_solver *solver, const spry_matrix *A);
/** Refreshes values now rather than at the next solve; without new values it does nothing. */
SPRY_API spry_status spry_solver_update(spry_solver *solver);
/** An operator instead of a matrix; precon=jacobi is not possible then, a precon operator is. A
 * solve with one that has old values of its matrix (spry_operator_is_current) is
 * SPRY_STATUS_BAD_USAGE. */
SPRY_API spry_status spry_solver_set_operator(spry_solver *solver, const spry_operator *A);
/** A preconditioner of yours: z = M r. NULL removes it. It may be made from older values of the
 * matrix: that takes more iterations for the same answer. */
SPRY_API spry_status spry_solver_set_precon(spry_solver *solver, const spry_operator *M);
/**
 * The null space of a matrix that is singular on purpose (pure Neumann conditions, the Laplacian of
 * a graph): it is removed from b, from x and from the preconditioner's results, and x is the
 * solution of least norm. Residuals are relative to the rest of b; a warning reports the removed
 * part. The option nullspace=constant is this for the constant vector. The next solve checks |A v|:
 * SPRY_STATUS_BAD_INPUT where it is not small, with the figure.
 *
 * @param solver  drops only the method's plan
 * @param count   number of vectors; 0 removes them
 * @param right   null vectors of A, of one type and place; orthonormal copies are kept
 * @param left    null vectors of A^H, to which b must be orthogonal; NULL: those of A if they are
 *                null vectors of A^H, as for hermitian matrices, else b stays as it is
 */
SPRY_API spry_status spry_solver_set_null_space(spry_solver *solver, int count,
                                                const spry_vector *const *right,
                                                const spry_vector *const *left);
/** A method of yours as text, see docs/notation.md; it is parsed at the next solve. NULL removes
 * it. Then set its own options by method=NAME:step=2, as for others. The option method-file does
 * the same with a file, which is read at the next solve, and again when you set the option again.
 */
SPRY_API spry_status spry_solver_set_method_text(spry_solver *solver, const char *text);
/**
 * Vectors that a method keeps from one solve to the next: of an array that its text `keeps`, such
 * as U, the corrections, and C = A U of gcrot:recycle=yes. For solves of one right-hand side.
 *
 * @param solver  after a solve
 * @param name    of the array in the method's text
 * @param count   number of vectors, from the first on; those not yet computed are 0
 * @param v       out: copies, as long as x or b, of A's type, on the host or where the solve runs
 */
SPRY_API spry_status spry_solver_get_space(spry_solver *solver, const char *name, int count,
                                           spry_vector *const *v);
/** Puts vectors into such an array, which then holds them alone; the first are replaced first.
 * gcrot computes C from U if it is not A U: when A has changed, U of the last solve is still a
 * space for the next. */
SPRY_API spry_status spry_solver_set_space(spry_solver *solver, const char *name, int count,
                                           const spry_vector *const *v);
/** Sets the function that sees each iteration; NULL: none. */
SPRY_API void spry_solver_set_monitor(spry_solver *solver, spry_monitor_fn monitor, void *data);
/** Called for each iteration without x; on a device for many at a time, while the solve goes on (a
 * monitor makes every iteration wait). A run that is repeated up to its best x is reported again.
 * Return false to stop. */
typedef bool (*spry_watch_fn)(void *data, int64_t iteration, double residual);
/** Sets the function called for each iteration; NULL: none. */
SPRY_API void spry_solver_set_watch(spry_solver *solver, spry_watch_fn watch, void *data);
/**
 * Accepts the x of this iteration. Call it in a monitor or a watch: the solve of this system then
 * ends, whatever they return. The reason is SPRY_REASON_ACCEPTED, unless the true residual is
 * within the tolerance. x is that of the iteration, not the best; after a watch on a device it may
 * be some iterations further. Elsewhere it is SPRY_STATUS_BAD_USAGE.
 */
SPRY_API spry_status spry_solver_accept(spry_solver *solver);
/** The right-hand side of spry_solve_many() that a monitor or watch is called for, from 0; -1
 * elsewhere. */
SPRY_API int spry_solver_system(const spry_solver *solver);

/**
 * Solves A x = b.
 *
 * @param solver  with a matrix or operator set; used by one thread at a time
 * @param b       right-hand side of the operator's type; b and x are used in place if they are
 *                where the solve runs, else copied, and x copied back
 * @param x       in: first guess; out: the best iterate, also when not converged
 * @param result  initialised or cleared; filled on every return; may be NULL
 * @return SPRY_STATUS_OK whenever the iteration ran: stalling is result->reason, not an error
 */
SPRY_API spry_status spry_solve(spry_solver *solver, const spry_vector *b, spry_vector *x,
                                spry_result *result);

/**
 * How good an x is, from the entries of A, with residuals in twice the precision. The error bound
 * is proven. Where each diagonal entry is larger than the rest of its row, these rows show it. Else
 * it needs the factors of a solve by method direct, and holds also where they are bad: for small
 * matrices (rows times bytes of factors up to 10^9) each row of the inverse is tried; for larger
 * ones there is a bound where A is diagonally dominant but for a scaling, as those of diffusion
 * are, for one more solve. spry_solver_error_estimate() is for the rest.
 *
 * @param solver    with a matrix set, after a solve
 * @param b         right-hand side
 * @param x         the solution to examine
 * @param backward  x solves a system whose entries of A and b differ by at most this relative
 *                  amount (Oettli and Prager); infinite where x is not finite
 * @param bound     |x - A^-1 b| / |x|, both in the maximum norm, is at most this; 1 or more:
 *                  possibly no digit is right; NaN: there is no bound, because A is not dominant
 *                  and the last solve had no factors in A's precision, A is singular or nearly so,
 * or is too large
 */
SPRY_API spry_status spry_solver_errors(spry_solver *solver, const spry_vector *b,
                                        const spry_vector *x, double *backward, double *bound);

/**
 * About |x - A^-1 b| / |x|, by the factors of a solve by method direct, whatever the size of A. It
 * takes about as long as five solves for the first x and two products for others, or as five more
 * solves where the condition number alone says little.
 *
 * @param solver    with a matrix set, after a solve
 * @param b         right-hand side
 * @param x         the solution to examine
 * @param estimate  mostly more than the error, but not always; infinite where A is so
 *                  ill-conditioned that x may have no correct digit; NaN: there are no factors
 */
SPRY_API spry_status spry_solver_error_estimate(spry_solver *solver, const spry_vector *b,
                                                const spry_vector *x, double *estimate);

/**
 * Solves A x_k = b_k for several right-hand sides together, in groups of eight that share the
 * reading of A; each is judged by itself and has its own result.
 *
 * @param results  count of them, each initialised or cleared, all of one size; may be NULL
 */
SPRY_API spry_status spry_solve_many(spry_solver *solver, int count, const spry_vector *const *b,
                                     spry_vector *const *x, spry_result *results);

/**
 * The same for the columns of dense blocks of A's type, each of them on the host or a device.
 * Contiguous columns (not by_rows) are used in place, others are copied; so are those of a cl_mem.
 *
 * @param solver   with a matrix or operator set
 * @param B        right-hand sides
 * @param X        in: first guesses; out: solutions
 * @param results  one per column, as for spry_solve_many(); may be NULL
 */
SPRY_API spry_status spry_solve_dense(spry_solver *solver, const spry_dense *B, const spry_dense *X,
                                      spry_result *results);

/** Makes a solver, sets options and matrix, solves, and frees it. */
SPRY_API spry_status spry_quick_solve(spry_context *ctx, const spry_matrix *A, const spry_vector *b,
                                      spry_vector *x, const char *options, spry_result *result);

/**
 * Explains the solver's method: notation, options, sweeps, the traffic of an iteration; with
 * figures for the solver's matrix, if it has one.
 *
 * @param text  out: to be freed by spry_free()
 */
SPRY_API spry_status spry_solver_explain(spry_solver *solver, char **text);

SPRY_END

#endif
