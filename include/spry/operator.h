/* Operators: everything that computes y = A x. Matrices, preconditioners, a function of yours. */
#ifndef SPRY_OPERATOR_H
#define SPRY_OPERATOR_H

#include <spry/matrix.h>
#include <spry/options.h>

SPRY_BEGIN

/** A linear map that can be applied to a vector. */
typedef struct spry_operator spry_operator;

/** Your product: y = op(A) x on arrays of the operator's type. Any status but SPRY_STATUS_OK ends
 * the solve with that status, and with the message of spry_context_set_message() or of the
 * library's call that failed. */
typedef spry_status (*spry_apply_fn)(void *data, spry_transpose op, const void *x, void *y);

/**
 * The same on vectors in the operator's memory. On a device it launches its work on the device's
 * stream and returns without waiting, as spry_kernel_launch() does. The vectors are valid during
 * the call.
 *
 * @param data    the pointer given with the function
 * @param op      which product; always SPRY_TRANSPOSE_NO for operators without a transpose
 * @param x       input; do not change it
 * @param y       output; its contents on entry are undefined
 * @param stream  a CUstream or cl_command_queue; NULL on the host
 */
typedef spry_status (*spry_product_fn)(void *data, spry_transpose op, const spry_vector *x,
                                       spry_vector *y, void *stream);

/**
 * The product with a matrix. The first transposed product builds and keeps A^T, which takes as much
 * memory again, unless A is CSC. One thread at a time uses an operator; results do not depend on
 * how many threads the product itself uses. The operator belongs to the device's context, or to
 * A's; spry_matrix_share() gives A another.
 *
 * @param A       must stay alive; may be of another context than the device
 * @param device  where products run; NULL: the host. Products with vectors of that device run on
 *                it, others copy. A matrix that does not fit into its memory stays on the host and
 *                is copied for every product, which is slow; you get a warning.
 * @param format  NULL: "csr", on the host in place where A is CSR and general. Else a name of
 *                SPRY_LIST_FORMATS with its options after a colon ("sell:C=8,sigma=256"), or "auto"
 *                (spry_tune()): entries are sorted and duplicates added up first, and a transposed
 *                product stores A^T in the same format, or in CSR if that format cannot hold it.
 *                Formats without kernels for devices are SPRY_STATUS_UNSUPPORTED on one.
 * @param op      out
 */
SPRY_API spry_status spry_operator_from_matrix(const spry_matrix *A, spry_device *device,
                                               const char *format, spry_operator **op);
/**
 * The same for a matrix whose arrays are in the device's memory already: general CSR that counts
 * from 0, with pointers of CUDA, or cl_mem, in `arrays`. It is copied on the device, and you keep
 * the arrays; work that fills them must be done. Rows that are not sorted, or have duplicates, go
 * through the host, which reports the place of a fault.
 *
 * @param format  "auto", csr or sell with their options: formats that the device builds of any
 *                matrix; "auto" is sell, or csr where that would have much fill
 */
SPRY_API spry_status spry_operator_from_arrays(const spry_arrays *arrays, spry_device *device,
                                               const char *format, spry_operator **op);
/** A function of yours; has_transpose says whether it computes more than SPRY_TRANSPOSE_NO. */
SPRY_API spry_status spry_operator_from_function(spry_context *ctx, spry_type type, int64_t rows,
                                                 int64_t cols, bool has_transpose,
                                                 spry_apply_fn apply, void *data,
                                                 spry_operator **op);
/**
 * A function of yours that works in its vectors' memory: a solve with it runs on the device and
 * copies nothing to the host. See examples/stencil.c.
 *
 * @param ctx            that opened the device
 * @param device         where it lives; NULL: the host
 * @param type           of the numbers of its vectors
 * @param rows           elements of y
 * @param cols           elements of x
 * @param has_transpose  whether it computes more than SPRY_TRANSPOSE_NO
 * @param product        the function
 * @param data           handed to it; it must outlive the operator
 * @param op             out
 */
SPRY_API spry_status spry_operator_from_product(spry_context *ctx, spry_device *device,
                                                spry_type type, int64_t rows, int64_t cols,
                                                bool has_transpose, spry_product_fn product,
                                                void *data, spry_operator **op);
/**
 * One operator after another: y = outer (inner x), without computing their product. Both must stay
 * alive and be in one place. Use it for A = B C when you have B and C alone, and for
 * preconditioners in two parts: z = M2^-1 (M1^-1 r) for spry_solver_set_precon() is outer = M2^-1,
 * inner = M1^-1. It has transposed products if both have them.
 */
SPRY_API spry_status spry_operator_compose(const spry_operator *outer, const spry_operator *inner,
                                           spry_operator **op);
/** States how many bytes a product of your function moves through memory, x and y included;
 * spry_operator_bytes() and the figures of a solve use it. */
SPRY_API spry_status spry_operator_set_bytes(spry_operator *op, int64_t bytes);
/** States that x and y of your square function are parts of vectors of all ranks, as `like` is, for
 * example a field of a partitioned grid (spry_grid_new()). A solve with it is then one of all
 * ranks, which call the function together. */
SPRY_API spry_status spry_operator_set_ranked(spry_operator *op, const spry_vector *like);
/**
 * Whether the operator has the values that its matrix has now (spry_matrix_set_values). One that
 * has not can still be applied, like the preconditioner of the step before: it works with its old
 * values, or with new ones if it reads the matrix in place. CSR on the host always does, and is
 * current. So are operators that were not made from a matrix.
 */
SPRY_API bool spry_operator_is_current(const spry_operator *op);
/**
 * Gives an operator that was made from a matrix the values of A: of that matrix, with its new
 * values, or of another one with its pattern. Storage keeps its format, a preconditioner what
 * depends on the pattern alone, which is cheaper than making it again. A must stay alive then.
 *
 * @return SPRY_STATUS_UNSUPPORTED: it has to be made again (a function of yours; a format that
 * cannot hold these values), and is unchanged. After another failure you can only free it, or give
 * it values again
 */
SPRY_API spry_status spry_operator_update(spry_operator *op, const spry_matrix *A);
/** Sets the function called once when the operator is gone and a function's data are no longer
 * used; NULL removes it. */
SPRY_API spry_status spry_operator_set_release(spry_operator *op, spry_release_fn release,
                                               void *data);
/** Frees an operator; NULL is allowed. */
SPRY_API void spry_operator_free(spry_operator *op);

/** y = A x */
SPRY_API spry_status spry_operator_apply(const spry_operator *op, const spry_vector *x,
                                         spry_vector *y);
/** y = alpha op(A) x + beta y; beta = 0 does not read y. */
SPRY_API spry_status spry_operator_multiply(const spry_operator *op, spry_transpose transpose,
                                            spry_scalar alpha, const spry_vector *x,
                                            spry_scalar beta, spry_vector *y);

/** A dense matrix in your memory, of the operator's type. Entry (i, j) is number i ld + j
 * of data when by_rows, else j ld + i. */
typedef struct spry_dense {
    size_t size;         /**< SPRY_DENSE_INIT */
    int64_t rows, cols;  /**< its shape */
    int64_t ld;          /**< leading dimension: from one row (column) to the next, in numbers */
    bool by_rows;        /**< rows are contiguous, else columns */
    void *data;          /**< on a device: a CUDA pointer, or a cl_mem */
    spry_device *device; /**< where data is; NULL: the host */
} spry_dense;
#define SPRY_DENSE_INIT SPRY_SIZED(spry_dense)

/**
 * C = alpha op(A) B + beta C, which must not share memory with B; beta = 0 does not read C. A is
 * read once for every 8 real or 4 complex columns. Interleaved columns (by_rows) are fastest;
 * others are packed, 8 at a time, in memory that the operator keeps, and so are those of a B whose
 * rows are 32 reals or more apart. B and C are both on the host, or both on the operator's device,
 * if it stores a matrix or is a stencil of a grid that is not partitioned over ranks; 8 columns
 * share a reading. Blocks on the host go to a device and back in chunks while products run, so they
 * may be larger than its memory.
 */
SPRY_API spry_status spry_operator_multiply_dense(const spry_operator *op, spry_transpose transpose,
                                                  spry_scalar alpha, const spry_dense *B,
                                                  spry_scalar beta, const spry_dense *C);

/** How an operator stores its matrix. */
typedef struct spry_storage {
    size_t size;        /**< SPRY_STORAGE_INIT */
    char format[32];    /**< "sell" */
    char options[96];   /**< "C=8,sigma=256", as chosen; "" when it has none */
    int64_t nnz;        /**< entries of the matrix */
    int64_t stored;     /**< stored values, fill included; of a symmetric matrix possibly half */
    int64_t bytes;      /**< of all arrays */
    int64_t read_bytes; /**< of those that a product reads */
    double fill;        /**< 1 - beta: share of places that hold no entry */
    double beta;        /**< nnz / stored */
    bool exact;         /**< the values are the matrix's own, bit by bit */
} spry_storage;
#define SPRY_STORAGE_INIT SPRY_SIZED(spry_storage)

/** Describes the storage of an operator made from a matrix; SPRY_STATUS_BAD_USAGE for others. */
SPRY_API spry_status spry_operator_storage(const spry_operator *op, spry_storage *storage);
/** The matrix an operator stores, as general CSR with sorted rows: the one it was made from, where
 * storage is exact. */
SPRY_API spry_status spry_operator_to_matrix(const spry_operator *op, spry_matrix **A);
/** Its diagonal, as long as the shorter side. */
SPRY_API spry_status spry_operator_diagonal(const spry_operator *op, spry_vector **d);

/** Rows: the length of y in y = A x. */
SPRY_API int64_t spry_operator_rows(const spry_operator *op);
/** Columns: the length of x. */
SPRY_API int64_t spry_operator_cols(const spry_operator *op);
/** The type of the vectors it takes. */
SPRY_API spry_type spry_operator_type(const spry_operator *op);
/** "csr", "jacobi", "function". */
SPRY_API const char *spry_operator_name(const spry_operator *op);
/** The least bytes one plain product moves through memory; 0 when unknown. */
SPRY_API int64_t spry_operator_bytes(const spry_operator *op);
/** The device it lives on; NULL: the host. */
SPRY_API spry_device *spry_operator_device(const spry_operator *op);
/** Whether it can be applied as A^T and A^H, too. */
SPRY_API bool spry_operator_has_transpose(const spry_operator *op);

SPRY_END

#endif
