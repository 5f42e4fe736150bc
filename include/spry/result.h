/* The result record: the same fields in C, in JSON and in the bindings. */
#ifndef SPRY_RESULT_H
#define SPRY_RESULT_H

#include <spry/context.h>

SPRY_BEGIN

#define SPRY_REASON_LIST(item)                                                     \
    item(FAILED, "failed", "the call failed; the message says why")                \
    item(CONVERGED, "converged", "the true residual is at or below the tolerance") \
    item(ITERATIONS, "iterations", "the limit on iterations was reached")          \
    item(BREAKDOWN, "breakdown", "the method met a division it cannot do")         \
    item(STAGNATED, "stagnated", "the residual no longer falls")                   \
    item(DIVERGED, "diverged", "the residual grew beyond bounds")                  \
    item(NONFINITE, "nan", "a NaN or infinite number appeared")                    \
    item(STOPPED, "interrupted", "the caller asked to stop")                       \
    item(SINGULAR, "singular", "the matrix is singular within rounding errors")    \
    item(ACCEPTED, "accepted", "x was taken as it is, by the caller or by a rule of the method")

#define SPRY_REASON_ENUM(name, word, text) SPRY_REASON_##name,
/** Why a solve ended; a cleared result says FAILED. */
typedef enum spry_reason { SPRY_REASON_LIST(SPRY_REASON_ENUM) SPRY_REASON_COUNT } spry_reason;

/** The reason as one word: "converged". */
SPRY_API const char *spry_reason_name(spry_reason reason);

/** The outcome of a solve. Residuals are 2-norms relative to the right-hand side. */
typedef struct spry_result {
    size_t size; /**< SPRY_RESULT_INIT */
    /** true_residual <= tolerance. Methods for least squares also converge when x is the minimiser:
     * A^H r of the true r is that small in every column, as detail says. */
    bool converged;
    spry_reason reason; /**< why it ended */
    int64_t iterations; /**< as the method counts them */
    double residual;    /**< the recurrence's own last value */
    /** |b - A x| / |b|, computed from the x that is returned; with a null space, b without its part
     * in it. */
    double true_residual;
    double initial_residual;                 /**< the same for the first guess */
    char method[32], precon[32], device[32]; /**< names of what was used */
    /** Of A, with its options: "sell:C=8,sigma=256"; a solve that changed it (option reformat)
     * names both, and the iteration: "csr, then sell:C=8,sigma=1 from iteration 193". */
    char format[136];
    spry_type type;                                    /**< of the numbers */
    int64_t rows, cols, nnz;                           /**< of A */
    double read_seconds, setup_seconds, solve_seconds; /**< file, set-up, iterations */
    int64_t memory_bytes;                              /**< the context's memory in use at most */
    int64_t bytes_per_iteration; /**< least traffic, from the method's statements */
    double bandwidth_fraction;   /**< of the measured read bandwidth; 0 when not measured */
    double *history;      /**< residual of iteration 0, 1, ...; from the context's allocator */
    int64_t history_size; /**< numbers in history */
    char *warnings;       /**< one per line, or NULL; from the context's allocator */
    char detail[320]; /**< more about the reason: which breakdown, where the NaN was; may be "" */
    char *tried;      /**< failed attempts before, one per line, or NULL; as warnings */
    /** The bound for true_residual: tol, or atol / |b| if that is larger. */
    double tolerance;
    /** To find what solves the system: what is not setup_seconds and solve_seconds of the call,
     * failed attempts among it. */
    double choose_seconds;
    /** Dimension of A's null space as its factors show it in this precision: where it is not 0, A
     * has the rank cols - nullity, and x is one of many. 0: none was found, or not looked for. */
    int64_t nullity;
    /** |x - A^-1 b|_A / |x|_A in the energy norm, |v|_A^2 = v^H A v, as cg, fcg, cg-cg and pipecg
     * estimate it from their coefficients; mostly not less than it is; 0: not known. */
    double energy_error;
} spry_result;
#define SPRY_RESULT_INIT SPRY_SIZED(spry_result)

/** Frees what a result holds and clears it, all but its size; NULL and cleared results are allowed.
 */
SPRY_API void spry_result_clear(spry_context *ctx, spry_result *result);

SPRY_END

#endif
