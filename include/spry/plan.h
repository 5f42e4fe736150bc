/* What a solve will do and take, told before it is done. */
#ifndef SPRY_SOLVER_PLAN_H
#define SPRY_SOLVER_PLAN_H

#include <spry/solver.h>

SPRY_BEGIN

/** What a solver is about to do. Bytes and seconds are forecasts, of what is still to come, and
 * measured for what the plan itself has done. On ranks bytes, and the device, are of this rank, all
 * else is of all ranks, and seconds are of the slowest. */
typedef struct spry_plan {
    size_t size; /**< SPRY_PLAN_INIT */
    /** What will be tried first of what is not refused by its forecast. The method may become
     * another one where the preconditioner, once it is made, turns out not to suit it. */
    char method[32];
    char precon[256];                   /**< with its options */
    char format[136], order[16];        /**< of A; "as given" or "rcm" */
    char device[32];                    /**< "cpu", "cuda:0" */
    spry_type type;                     /**< of the numbers */
    int64_t rows, cols, nnz;            /**< of A */
    int64_t matrix_bytes, format_bytes; /**< A as it was given, and what is stored beside that */
    int64_t vector_bytes;               /**< b, x, and those of the method */
    int64_t precon_bytes, work_bytes; /**< of the preconditioner, and beside it while it is made */
    int64_t memory_bytes, device_bytes;  /**< in use at most, on the host and on the device */
    int64_t memory_limit;                /**< of the context; 0: none */
    bool memory_known;                   /**< else the preconditioner's bytes are not in these */
    double setup_seconds, solve_seconds; /**< forecast; NaN: not known */
    double least_seconds; /**< set-up and iterations are likely to take no less; NaN: not known */
    double most_seconds;  /**< and no more */
    int64_t iterations;   /**< a guess; 0: not known */
    int64_t least_iterations; /**< likely no fewer */
    int64_t most_iterations;  /**< nor more */
    double plan_seconds; /**< that the plan has taken; what it has made the solve goes on from */
    char *next;    /**< what comes next where that does not arrive, one per line, or NULL; from the
                        context's allocator */
    char *refused; /**< what was refused before, with the reason, likewise */
    /* device_bytes by part; all are 0 where the solve is on the host */
    int64_t device_matrix_bytes; /**< A there, in its format; of an operator that was set: 0 */
    int64_t device_vector_bytes; /**< those of the method, and b and x where they come from here */
    int64_t device_precon_bytes; /**< of the preconditioner, or of its copy there */
    int64_t device_other_bytes;  /**< what else is in use, or was while these were made */
} spry_plan;
#define SPRY_PLAN_INIT SPRY_SIZED(spry_plan)

/**
 * Tells what the next solve will do, take and fall back to. It decides as the solve does, by the
 * same code, and does what that takes: facts about A, a dozen products, the order of A, its storage
 * format, the analysis of sparse factors; a preconditioner only where making it takes a tenth of a
 * second or a few products with A; no iterations. The solver keeps this. Collective over the
 * operator's processes.
 *
 * @param solver   with a matrix or operator set; used by one thread at a time
 * @param systems  right-hand sides of the solve to come
 * @param plan     initialised or cleared
 * @return as the solve does of what it would refuse; SPRY_STATUS_NO_MEMORY where nothing that is to
 *         be tried is forecast to fit; the message says what to allow or to take instead
 */
SPRY_API spry_status spry_solver_plan(spry_solver *solver, int systems, spry_plan *plan);
/** Frees what a plan holds and clears it, all but its size; NULL and cleared ones are allowed. */
SPRY_API void spry_plan_clear(spry_context *ctx, spry_plan *plan);

SPRY_END

#endif
