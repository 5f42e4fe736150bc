/* What a solve will do and take, reported before it runs. */
#ifndef SPRY_PLAN_H
#define SPRY_PLAN_H

#include <spry/solver.h>

SPRY_BEGIN

/** What a solver is about to do. Bytes and seconds are forecasts; those of set-up that the plan
 * itself has done are measured. On ranks, bytes and the device are this rank's, all else is of all
 * ranks, and seconds are the slowest rank's. */
typedef struct spry_plan {
    size_t size; /**< SPRY_PLAN_INIT */
    /** The first attempt that its forecast does not refuse. The method may change if the
     * preconditioner, once set up, does not suit it. */
    char method[32];
    char precon[256];                    /**< with its options */
    char format[136], ordering[16];      /**< of A; "as given" or "rcm" */
    char device[32];                     /**< "cpu", "cuda:0" */
    spry_type type;                      /**< of the numbers */
    int64_t rows, cols, nnz;             /**< of A */
    int64_t matrix_bytes, format_bytes;  /**< A as given, and what is stored in addition */
    int64_t vector_bytes;                /**< b, x, and those of the method */
    int64_t precon_bytes, work_bytes;    /**< of the preconditioner, and more during its set-up */
    int64_t memory_bytes, device_bytes;  /**< in use at most, on the host and on the device */
    int64_t memory_limit;                /**< of the context; 0: none */
    bool memory_known;                   /**< else these are without the preconditioner's bytes */
    double setup_seconds, solve_seconds; /**< forecast; NaN: not known */
    double least_seconds;     /**< likely lower bound of set-up and iterations; NaN: not known */
    double most_seconds;      /**< likely upper bound */
    int64_t iterations;       /**< estimate; 0: not known */
    int64_t least_iterations; /**< likely lower bound */
    int64_t most_iterations;  /**< likely upper bound */
    double plan_seconds;      /**< taken by the plan, whose work the solve uses */
    char *next;    /**< the fallbacks, one per line, or NULL; from the context's allocator */
    char *refused; /**< what was refused before the first attempt, with the reason, likewise */
    /* device_bytes by part; all are 0 where the solve is on the host */
    int64_t device_matrix_bytes; /**< A in its format; of an operator that was set: 0 */
    int64_t device_vector_bytes; /**< those of the method, and b and x if they are on the host */
    int64_t device_precon_bytes; /**< of the preconditioner, or of its copy on the device */
    int64_t device_other_bytes;  /**< all else in use, or during set-up */
} spry_plan;
#define SPRY_PLAN_INIT SPRY_SIZED(spry_plan)

/**
 * Reports what the next solve will do and take, and its fallbacks. It decides by the solve's own
 * code and does the work of that decision: facts about A, a dozen products, the ordering of A, its
 * storage format, the analysis of sparse factors; it sets up a preconditioner only if that takes a
 * tenth of a second or a few products with A; no iterations. The solver keeps the results.
 * Collective over the operator's processes.
 *
 * @param solver   with a matrix or operator set; used by one thread at a time
 * @param systems  right-hand sides of the next solve
 * @param plan     initialised or cleared
 * @return the status of a solve that would be refused; SPRY_STATUS_NO_MEMORY if no attempt is
 * forecast to fit; the message says what to allow or to use instead
 */
SPRY_API spry_status spry_solver_plan(spry_solver *solver, int systems, spry_plan *plan);
/** Frees what a plan holds and clears it, all but its size; NULL and cleared ones are allowed. */
SPRY_API void spry_plan_clear(spry_context *ctx, spry_plan *plan);

SPRY_END

#endif
