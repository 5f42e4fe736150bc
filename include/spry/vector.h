/* Dense vectors, in the host's memory or a device's. */
#ifndef SPRY_VECTOR_H
#define SPRY_VECTOR_H

#include <spry/context.h>
#include <spry/device.h>

SPRY_BEGIN

/** Numbers of one type, on the host or on a device. */
typedef struct spry_vector spry_vector;
/** A sparse matrix; see spry/matrix.h. */
typedef struct spry_matrix spry_matrix;

/**
 * Makes a vector over n numbers of a type.
 *
 * @param data  the numbers; NULL gives zeros, placed by the threads that will use them
 * @param own   who owns data; SPRY_OWN_BORROW lets the caller see results in place
 */
SPRY_API spry_status spry_vector_new(spry_context *ctx, spry_type type, int64_t n, void *data,
                                     spry_own own, spry_vector **v);
/** Zeros as long as A has columns: an x for A x. */
SPRY_API spry_status spry_vector_zeros(spry_context *ctx, const spry_matrix *A, spry_vector **x);
/** Ones as long as A has rows: a b for A x = b. */
SPRY_API spry_status spry_vector_ones(spry_context *ctx, const spry_matrix *A, spry_vector **b);
/**
 * A vector in a device's memory. Every function of the library takes it: those that combine vectors
 * need them in one place, and report where they are if not; spry_vector_copy() copies between any
 * places.
 *
 * @param data  your memory on that device, which stays yours: a CUDA pointer, or a cl_mem; NULL
 *              gives zeros
 */
SPRY_API spry_status spry_vector_on(spry_device *device, spry_type type, int64_t n, void *data,
                                    spry_vector **v);
/** n zeros of v's type, in v's place. */
SPRY_API spry_status spry_vector_like(const spry_vector *v, int64_t n, spry_vector **w);
/** Sets the function called once when the vector is gone and borrowed memory is no longer used;
 * NULL removes it. SPRY_STATUS_BAD_USAGE if the memory has an owner already (a tensor of DLPack).
 */
SPRY_API spry_status spry_vector_set_release(spry_vector *v, spry_release_fn release, void *data);
/** Frees a vector; NULL is allowed. Memory that was borrowed stays as it is. The b or x of a solve,
 * freed by a function that the solve calls, goes when the solve has ended. */
SPRY_API void spry_vector_free(spry_vector *v);

/** How many numbers it has. */
SPRY_API int64_t spry_vector_size(const spry_vector *v);
/** The type of its numbers. */
SPRY_API spry_type spry_vector_type(const spry_vector *v);
/** The device it is on; NULL: the host. */
SPRY_API spry_device *spry_vector_device(const spry_vector *v);
/** The numbers; complex ones as pairs (re, im). On a device: a device address, which the host
 * cannot read; NULL if memory has none (OpenCL). */
SPRY_API void *spry_vector_data(spry_vector *v);
/** The same, read only. */
SPRY_API const void *spry_vector_data_const(const spry_vector *v);
/** What spry_dense.data is for the vector's memory: its address, or the cl_mem. */
SPRY_API void *spry_vector_handle(const spry_vector *v);

/** Sets every element. */
SPRY_API spry_status spry_vector_fill(spry_vector *v, spry_scalar value);
/** y = x, from any place to any other; lengths equal, types may differ (complex to real needs
 * imaginary parts of 0). */
SPRY_API spry_status spry_vector_copy(const spry_vector *x, spry_vector *y);
/** y = alpha x + y */
SPRY_API spry_status spry_vector_axpy(spry_scalar alpha, const spry_vector *x, spry_vector *y);
/** x = alpha x */
SPRY_API spry_status spry_vector_scale(spry_scalar alpha, spry_vector *x);
/** z = x * y element by element */
SPRY_API spry_status spry_vector_multiply(const spry_vector *x, const spry_vector *y,
                                          spry_vector *z);
/** sum conj(x_i) y_i; the order of additions does not depend on the number of threads. */
SPRY_API spry_status spry_vector_dot(const spry_vector *x, const spry_vector *y,
                                     spry_scalar *result);
/** sqrt((x, x)), without overflow or underflow of the squares. */
SPRY_API spry_status spry_vector_norm(const spry_vector *x, double *result);

SPRY_END

#endif
