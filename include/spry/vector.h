/* Dense vectors on the host. */
#ifndef SPRY_VECTOR_H
#define SPRY_VECTOR_H

#include <spry/context.h>

SPRY_BEGIN

typedef struct spry_vector spry_vector;
typedef struct spry_matrix spry_matrix;

/**
 * Makes a vector over n numbers of a type.
 *
 * @param data  the numbers; NULL gives zeros, placed by the threads that will use them
 * @param own   who owns data; SPRY_BORROW lets the caller see results in place
 */
SPRY_API spry_status spry_vector_new(spry_context *ctx, spry_type type, int64_t n, void *data,
                                     spry_own own, spry_vector **v);
/** Zeros as long as A has columns: an x for A x. */
SPRY_API spry_status spry_vector_zeros(spry_context *ctx, const spry_matrix *A, spry_vector **x);
/** Ones as long as A has rows: a b for A x = b. */
SPRY_API spry_status spry_vector_ones(spry_context *ctx, const spry_matrix *A, spry_vector **b);
SPRY_API void spry_vector_free(spry_vector *v);

SPRY_API int64_t spry_vector_size(const spry_vector *v);
SPRY_API spry_type spry_vector_type(const spry_vector *v);
/** The numbers; complex ones as pairs (re, im). */
SPRY_API void *spry_vector_data(spry_vector *v);
SPRY_API const void *spry_vector_read(const spry_vector *v);

/** Sets every element. */
SPRY_API spry_status spry_vector_fill(spry_vector *v, spry_scalar value);
/** y = x; lengths equal, types may differ (complex to real needs imaginary parts of 0). */
SPRY_API spry_status spry_vector_copy(const spry_vector *x, spry_vector *y);
/** y = alpha x + y */
SPRY_API spry_status spry_vector_axpy(spry_scalar alpha, const spry_vector *x, spry_vector *y);
/** y = x + beta y */
SPRY_API spry_status spry_vector_xpay(const spry_vector *x, spry_scalar beta, spry_vector *y);
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
