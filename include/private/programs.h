/*
 * What our own programs alone need of libspry: not installed, and exported under a version that
 * other programs are not linked with (cmake/SpryExports.cmake).
 */
#ifndef SPRY_PRIVATE_PROGRAMS_H
#define SPRY_PRIVATE_PROGRAMS_H

#include <private/options.h>
#include <spry/spry.h>

SPRY_BEGIN

/** Writes any text by the rules of spry_matrix_write(); compressed by gzip where the name ends in
 * .gz.
 */
SPRY_API spry_status spry_text_write(spry_context *ctx, const char *text, size_t size,
                                     const char *path);

/**
 * Packs a picture as PNG, in memory: for a page that has it within, or for spry_text_write().
 *
 * @param ctx     the context that the memory is of
 * @param width   of the picture, at most 16384
 * @param height  likewise
 * @param pixels  three bytes each (red, green, blue), rows from the top
 * @param png     out: to be given back to spry_free()
 * @param size    out: its bytes
 */
SPRY_API spry_status spry_png_pack(spry_context *ctx, int64_t width, int64_t height,
                                   const void *pixels, void **png, size_t *size);
/**
 * Writes arrays with names as the data sets of an HDF5 file (.h5), which h5py, MATLAB and ParaView
 * read; complex numbers are compounds of r and i. By the rules of spry_matrix_write().
 *
 * @param ctx     receives the message of a failure
 * @param path    of the file
 * @param count   of data sets, 1 to 8
 * @param names   theirs, of one to seven letters and sorted as strcmp() has it
 * @param sides   three for each data set, the last of them running fastest; leading ones that are 0
 *                are of dimensions that it has not
 * @param values  as many numbers as sides say, on the host or a device
 */
SPRY_API spry_status spry_datasets_write(spry_context *ctx, const char *path, int count,
                                         const char *const *names, const int64_t *sides,
                                         const spry_vector *const *values);
/**
 * Reads a data set of up to three dimensions of an HDF5 file, in one piece or in chunks; whole
 * numbers become real ones.
 *
 * @param ctx     of the vector
 * @param path    of the file
 * @param name    of the data set, in the file's first group
 * @param sides   out: three, as spry_datasets_write() takes them; all 0 where the file can be read
 *                and has none of the name, -1 where it has, or is not known to have none
 * @param values  out
 * @return SPRY_STATUS_BAD_INPUT where there is none of the name, or it has no numbers
 */
SPRY_API spry_status spry_dataset_read(spry_context *ctx, const char *path, const char *name,
                                       int64_t *sides, spry_vector **values);

/** Whether a vector, or else a matrix, can be written under a name, judging by its ending: for a
 * check before long work. */
SPRY_API spry_status spry_file_check_name(spry_context *ctx, const char *path, bool vector);
/** Whether a file with the name can be made or replaced, judging by the present state of the file
 * system. */
SPRY_API spry_status spry_file_check_place(spry_context *ctx, const char *path);

/** Bytes that the context may have in use at once: the option memory_limit, or what the machine
 * and the limits of the process allow; 0: not known. */
SPRY_API int64_t spry_context_memory_limit(const spry_context *ctx);

/** Closes the devices of a context that no object lives on any more, as freeing it does. */
SPRY_API void spry_device_close_all(spry_context *ctx);

/**
 * Copies base along the diagonal, the last copy cut off, until there are size rows, and couples
 * neighbouring copies. The result is general CSR with sorted rows; symmetric, hermitian, positive
 * definite or diagonally dominant when base is.
 *
 * @param base  square; any format, one triangle stored or all
 */
SPRY_API spry_status spry_generate_tiled(const spry_matrix *base, int64_t size, spry_matrix **A);

/** The reason as a sentence. */
SPRY_API const char *spry_reason_text(spry_reason reason);

/** spry_precon_new() for an operator of A that exists already: M is made on its device, from its
 * data where these suffice; A is NULL for operators that have no matrix: gmg of those on grids,
 * jacobi of those that know their diagonal. Both must stay alive. */
SPRY_API spry_status spry_precon_for_operator(const spry_operator *op, const spry_matrix *A,
                                              const char *spec, spry_operator **M);

/**
 * The factors of a square matrix, for Python's splu: A[rows, columns] = L U up to rounding errors,
 * by sparse factors with exchanges of rows. They may be made in another order than those of precon
 * direct, which takes symmetric matrices as such.
 *
 * @param A        regular; singular ones are SPRY_STATUS_BAD_INPUT
 * @param L        out: with a diagonal of ones, CSC, not sorted
 * @param U        out: CSR, not sorted
 * @param rows     out: of A, by pivots
 * @param columns  out: likewise
 */
SPRY_API spry_status spry_matrix_factors(const spry_matrix *A, spry_matrix **L, spry_matrix **U,
                                         int32_t *rows, int32_t *columns);

/**
 * The same of precon ilutp on the host: A[rows, columns] is about L U, as M applies them. L and U
 * are CSR.
 *
 * @param M  made by spry_precon_new(); others are SPRY_STATUS_UNSUPPORTED
 */
SPRY_API spry_status spry_precon_factors(const spry_operator *M, spry_matrix **L, spry_matrix **U,
                                         int32_t *rows, int32_t *columns);

/** What an iteration of a method costs without a preconditioner, as fused by the library. */
typedef struct spry_cost {
    size_t size;       /**< SPRY_COST_INIT */
    double products;   /**< with A or A^H */
    double reductions; /**< points where inner products are gathered */
    double vectors;    /**< read or written in addition to A */
    int memory;        /**< vectors kept in addition to x and b */
    bool transpose;    /**< whether A^H is needed */
} spry_cost;
#define SPRY_COST_INIT SPRY_SIZED(spry_cost)
/** Of a method of SPRY_LIST_METHODS. */
SPRY_API spry_status spry_method_cost(spry_context *ctx, const char *method, spry_cost *cost);

/** The name of the method at work, for monitors and watches; "" before there was a solve. */
SPRY_API const char *spry_solver_method(const spry_solver *solver);
/** The name of the preconditioner at work, likewise. */
SPRY_API const char *spry_solver_precon(const spry_solver *solver);

/** After factors spry_solver_errors(), and spry_solver_error_estimate() where there is no bound
 * (else NaN), with residuals that are computed once. Without: the same of a dominant matrix, from
 * one pass over A with ordinary residuals, whose rounding is in them; of others it ends at the
 * first row that is not dominant, and all are NaN. */
SPRY_API spry_status spry_solver_judge(spry_solver *solver, const spry_vector *b,
                                       const spry_vector *x, double *backward, double *bound,
                                       double *estimate);

/** What one of the ranks did in a solve. */
typedef struct spry_rank_report {
    size_t size;              /**< SPRY_RANK_REPORT_INIT */
    int64_t rows, nnz;        /**< of this rank */
    int64_t received;         /**< elements of other ranks that a product needs */
    int64_t neighbours;       /**< ranks that these come from */
    int64_t messages, bytes;  /**< sent to neighbours */
    int64_t reductions;       /**< reductions over all ranks */
    double setup_seconds;     /**< set-up */
    double solve_seconds;     /**< the solve */
    double message_seconds;   /**< waiting for neighbours in the solve */
    double reduction_seconds; /**< waiting for reductions */
    int64_t memory_bytes;     /**< at most so far */
    int64_t threads;          /**< in use */
    double share;             /**< of the work, as assigned: a part of 1 */
    char device[32];          /**< where it worked: "cpu", "cuda:0" */
    char transport[32]; /**< how halos travelled: "memory", "staged" through pinned memory of the
                           host, "direct" from the device's */
} spry_rank_report;
#define SPRY_RANK_REPORT_INIT SPRY_SIZED(spry_rank_report)
/** What a rank did in the last solve of a matrix that is distributed over ranks; each rank can ask
 * for every other. SPRY_STATUS_BAD_USAGE without such a solve or rank. */
SPRY_API spry_status spry_solver_rank(const spry_solver *solver, int rank,
                                      spry_rank_report *report);

/** Drops what is remembered of A, or of all matrices when A is NULL; count: files that went. */
SPRY_API spry_status spry_tune_forget(spry_context *ctx, const spry_matrix *A, int64_t *count);

/**
 * Writes a checkpoint of a solve: x, its number of iterations, and
 * fingerprints of A, b and x.
 * The file is a .mtx vector. Collective; without ranks, too.
 */
SPRY_API spry_status spry_checkpoint_write(const spry_matrix *A, const spry_vector *b,
                                           const spry_vector *x, int64_t iterations,
                                           const char *path);
/**
 * Reads one back, with any number of ranks.
 *
 * @param x           out: a vector to go on from
 * @param iterations  out: as they were written
 * @return SPRY_STATUS_BAD_INPUT where it is of another system, or damaged
 */
SPRY_API spry_status spry_checkpoint_read(const spry_matrix *A, const spry_vector *b,
                                          const char *path, spry_vector **x, int64_t *iterations);

/** How a solve by splitting went on this rank. */
typedef struct spry_split_stats {
    size_t size;           /**< SPRY_SPLIT_STATS_INIT */
    int64_t iterations;    /**< of this rank */
    int64_t received;      /**< times that newer elements of a neighbour were taken */
    double mean_age;       /**< iterations of this rank that a neighbour's elements were used for */
    int64_t most_age;      /**< the most of them */
    double idle_seconds;   /**< spent waiting */
    double seconds;        /**< of all */
    bool was_asynchronous; /**< when it ended */
    int64_t checks;        /**< of the residual of all ranks, with elements of the moment */
    int64_t switches;      /**< from synchronous to asynchronous, and back */
} spry_split_stats;
#define SPRY_SPLIT_STATS_INIT SPRY_SIZED(spry_split_stats)

/**
 * Solves A x = b by splitting A at the boundaries of ranks: each rank improves its elements of x
 * with its own rows, while those of the others stay as it last heard of them. Synchronously all
 * exchange elements after each iteration, which is block Jacobi; asynchronously each goes on with
 * what it has. That converges where the spectral radius of |M^-1 N| is below 1, as for M-matrices
 * (Chazan and Miranker, 1969; Frommer and Szyld, 2000). Collective.
 *
 * The end is agreed upon: when every rank has said twice in turn that its own residual is small,
 * all stop, exchange elements and compute |b - A x|; where that is above the tolerance they go on.
 *
 * @param options  of spry_options_of("split"): inner=jacobi, ilu, ... (a preconditioner of the own
 *                 block, applied once), or inner=solve with `solver` (options of a spry_solver for
 *                 the own block); mode=async, sync or auto, which begins synchronously and goes on
 *                 without waiting where waiting took a quarter of the time
 * @param stats    out: of this rank; NULL: not wanted
 * @return the same on all ranks
 */
SPRY_API spry_status spry_solve_split(const spry_matrix *A, const spry_vector *b, spry_vector *x,
                                      const char *options, spry_result *result,
                                      spry_split_stats *stats);
/**
 * The same with a lower bound for each element of x: x >= lower, A x >= b, and in each row one of
 * them an equality; each rank relaxes its own rows and keeps to their bounds. Converges for
 * M-matrices, also without waiting (M. Chau et al., 2011). Collective.
 *
 * Residuals are max |min(A x - b, x - lower)| over max |b| of all ranks, or by themselves where b
 * is 0.
 *
 * @param lower    bounds of this rank's elements, as long as b
 * @param x        in: the first guess; out: at or above its bounds
 * @param options  of spry_options_of("split"): inner=jacobi takes the rows all at once (the
 *                 projected method of Richardson), inner=gs (here the default) one after the other,
 *                 in the order they have; there are no others
 */
SPRY_API spry_status spry_solve_split_above(const spry_matrix *A, const spry_vector *b,
                                            const spry_vector *lower, spry_vector *x,
                                            const char *options, spry_result *result,
                                            spry_split_stats *stats);

SPRY_END

#endif
