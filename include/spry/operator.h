/* Operators: everything that answers y = A x. Matrices, preconditioners, a caller's function. */
#ifndef SPRY_OPERATOR_H
#define SPRY_OPERATOR_H

#include <spry/matrix.h>
#include <spry/options.h>

SPRY_BEGIN

/** Whatever can be applied to a vector. */
typedef struct spry_operator spry_operator;

/** A caller's product: y = op(A) x on arrays of the operator's type; not SPRY_STATUS_OK ends the
 * solve with it, and with the message that spry_context_set_message() or a failing call of the
 * library left. */
typedef spry_status (*spry_apply_fn)(void *data, spry_transpose op, const void *x, void *y);

/**
 * The same on vectors that are where the operator lives. On a device it launches its work, on the
 * device's stream, and comes back without waiting for it; spry_kernel_launch() does just that. The
 * vectors are there for the length of the call.
 *
 * @param data    the caller's
 * @param op      which product; SPRY_TRANSPOSE_NO alone where there is no other
 * @param x       not to be changed
 * @param y       to be set; what it holds before is nothing
 * @param stream  a CUstream or cl_command_queue; NULL on the host
 */
typedef spry_status (*spry_product_fn)(void *data, spry_transpose op, const spry_vector *x,
                                       spry_vector *y, void *stream);

/**
 * The product with a matrix. The first transposed product makes A^T and keeps it, as much memory
 * again, unless A is CSC. One thread at a time uses an operator; results do not depend on how many
 * threads the product itself uses. The operator belongs to the device's context, or to A's;
 * spry_matrix_share() gives A another.
 *
 * @param A       must stay alive; may be of another context than the device
 * @param device  where products run; NULL: the host. Products with vectors of that device stay on
 *                it, others copy. A matrix that does not fit into its memory stays on the host and
 *                is copied for every product, which is slow; a warning says so.
 * @param format  NULL: "csr", on the host in place where A is CSR and general. Else a name of
 *                SPRY_LIST_FORMATS with its options after a colon ("sell:C=8,sigma=256"), or "auto"
 *                (spry_tune()): entries are sorted and duplicates added up first, and a transposed
 *                product stores A^T in the same format, or in CSR where that format does not hold
 *                it. Formats without kernels for devices are SPRY_STATUS_UNSUPPORTED on one.
 * @param op      out
 */
SPRY_API spry_status spry_operator_from_matrix(const spry_matrix *A, spry_device *device,
                                               const char *format, spry_operator **op);
/**
 * The same of a matrix whose arrays are in the device's memory already: general CSR that counts
 * from 0, with pointers of CUDA, or cl_mem, in `arrays`. It is copied on the device, and the arrays
 * stay the caller's; work that fills them must be done. Rows that are not sorted, or have
 * duplicates, go by way of the host, which names the place of a fault.
 *
 * @param format  "auto", csr or sell with their options: formats that the device builds of any
 *                matrix; "auto" is sell, or csr where that would have much fill
 */
SPRY_API spry_status spry_operator_from_arrays(const spry_arrays *arrays, spry_device *device,
                                               const char *format, spry_operator **op);
/** A caller's function; has_transpose says whether it answers more than SPRY_TRANSPOSE_NO. */
SPRY_API spry_status spry_operator_from_function(spry_context *ctx, spry_type type, int64_t rows,
                                                 int64_t cols, bool has_transpose,
                                                 spry_apply_fn apply, void *data,
                                                 spry_operator **op);
/**
 * A caller's function that works where its vectors are: a solve with it runs on the device with all
 * else, and copies nothing to the host. See examples/stencil.c.
 *
 * @param ctx            that opened the device
 * @param device         where it lives; NULL: the host
 * @param type           of the numbers of its vectors
 * @param rows           elements of y
 * @param cols           elements of x
 * @param has_transpose  whether it answers more than SPRY_TRANSPOSE_NO
 * @param product        the function
 * @param data           handed to it; it must outlive the operator
 * @param op             out
 */
SPRY_API spry_status spry_operator_from_product(spry_context *ctx, spry_device *device,
                                                spry_type type, int64_t rows, int64_t cols,
                                                bool has_transpose, spry_product_fn product,
                                                void *data, spry_operator **op);
/**
 * One operator after another: y = outer (inner x), without their product being made. Both must stay
 * alive, in one place. It is A = B C where only B and C are there, and preconditioners that are
 * given in two parts: z = M2^-1 (M1^-1 r) for spry_solver_set_precon() is outer = M2^-1, inner =
 * M1^-1. Transposed products are there where both have them.
 */
SPRY_API spry_status spry_operator_compose(const spry_operator *outer, const spry_operator *inner,
                                           spry_operator **op);
/** Tells how many bytes a product of a caller's function moves through memory, x and y included:
 * what spry_operator_bytes() and the figures of a solve then go by. */
SPRY_API spry_status spry_operator_set_bytes(spry_operator *op, int64_t bytes);
/** Tells that x and y of a caller's square function are parts of vectors of all ranks, as `like`
 * is, a field of a grid that is cut (spry_grid_new()), say: then a solve with it is one of all
 * ranks, and the function is called by all of them together. */
SPRY_API spry_status spry_operator_set_ranked(spry_operator *op, const spry_vector *like);
/**
 * Whether the operator has the values that its matrix has now (spry_matrix_set_values). One that
 * has not can be applied all the same, as a preconditioner of the step before: it works with its
 * old values, or with new ones where it reads the matrix in place. CSR on the host always does, and
 * is current. Operators that were not made from a matrix are, too.
 */
SPRY_API bool spry_operator_is_current(const spry_operator *op);
/**
 * Gives an operator that was made from a matrix the values of A: of that matrix, with its new
 * values, or of another one with its pattern. Storage keeps its format, a preconditioner what
 * depends on the pattern alone, which is cheaper than making it anew. A must stay alive then.
 *
 * @return SPRY_STATUS_UNSUPPORTED: it has to be made anew (a function of the caller's; a format
 * that cannot hold these values), and is as before. After another failure it can only be freed, or
 * given values again
 */
SPRY_API spry_status spry_operator_update(spry_operator *op, const spry_matrix *A);
/** Who hears, once, when the operator is gone, that a function's data are no longer used; NULL
 * takes it back. */
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

/** A dense matrix in a caller's memory, of the operator's type. Entry (i, j) is number i ld + j
 * of data when by_rows, else j ld + i. */
typedef struct spry_dense {
    size_t size;         /**< SPRY_DENSE_INIT */
    int64_t rows, cols;  /**< its shape */
    int64_t ld;          /**< leading dimension: from one row (column) to the next, in numbers */
    bool by_rows;        /**< rows are together, else columns */
    void *data;          /**< on a device: a CUDA pointer, or a cl_mem */
    spry_device *device; /**< where data is; NULL: the host */
} spry_dense;
#define SPRY_DENSE_INIT SPRY_SIZED(spry_dense)

/**
 * C = alpha op(A) B + beta C, which must not share memory with B; beta = 0 does not read C. A is
 * read once for every 8 real or 4 complex columns. Columns side by side (by_rows) are fastest;
 * others are packed, 8 at a time, in room that the operator keeps for the next time, and so are
 * those of a B whose rows are 32 reals or more apart. B and C are both on the host, or both on the
 * operator's device, where it stores a matrix or is a stencil of a grid that is not cut into blocks
 * of ranks; 8 columns share a reading. Those of the host go to a device and back in chunks, beside
 * the products: they may be larger than its memory.
 */
SPRY_API spry_status spry_operator_multiply_dense(const spry_operator *op, spry_transpose transpose,
                                                  spry_scalar alpha, const spry_dense *B,
                                                  spry_scalar beta, const spry_dense *C);

/** How an operator stores its matrix. */
typedef struct spry_storage {
    size_t size;      /**< SPRY_STORAGE_INIT */
    char format[32];  /**< "sell" */
    char options[96]; /**< "C=8,sigma=256", as they came out; "" when it has none */
    int64_t nnz;      /**< entries of the matrix */
    int64_t stored; /**< places for values, fill included; half the entries where that is enough */
    int64_t bytes;  /**< of all arrays */
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
