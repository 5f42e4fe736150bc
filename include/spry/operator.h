/* Operators: everything that answers y = A x. Matrices, preconditioners, a caller's function. */
#ifndef SPRY_OPERATOR_H
#define SPRY_OPERATOR_H

#include <spry/matrix.h>

SPRY_BEGIN

typedef struct spry_operator spry_operator;

/** A caller's product: y = op(A) x on arrays of the operator's type; not SPRY_OK ends the solve
 * with it. */
typedef spry_status (*spry_apply)(void *data, spry_transpose op, const void *x, void *y);

/**
 * The product with a matrix, which must stay alive. Any format; CSR and general is used in place.
 * The first transposed product makes A^T and keeps it, as much memory again, unless A is CSC. To be
 * used by one thread at a time; results do not depend on how many it uses itself.
 */
SPRY_API spry_status spry_operator_from_matrix(const spry_matrix *A, spry_operator **op);
/** A caller's function; has_transpose says whether it answers more than SPRY_PLAIN. */
SPRY_API spry_status spry_operator_from_function(spry_context *ctx, spry_type type, int64_t rows,
                                                 int64_t cols, bool has_transpose, spry_apply apply,
                                                 void *data, spry_operator **op);
/** Jacobi's preconditioner D^-1; SPRY_BAD_INPUT names the first row without a usable diagonal
 * entry. */
SPRY_API spry_status spry_operator_jacobi(const spry_matrix *A, spry_operator **op);
SPRY_API void spry_operator_free(spry_operator *op);

/** y = A x */
SPRY_API spry_status spry_operator_apply(const spry_operator *op, const spry_vector *x,
                                         spry_vector *y);
/** y = alpha op(A) x + beta y; beta = 0 does not read y. */
SPRY_API spry_status spry_operator_multiply(const spry_operator *op, spry_transpose transpose,
                                            spry_scalar alpha, const spry_vector *x,
                                            spry_scalar beta, spry_vector *y);

SPRY_API int64_t spry_operator_rows(const spry_operator *op);
SPRY_API int64_t spry_operator_cols(const spry_operator *op);
SPRY_API spry_type spry_operator_type(const spry_operator *op);
/** "csr", "jacobi", "function". */
SPRY_API const char *spry_operator_name(const spry_operator *op);
/** The least bytes one plain product moves through memory; 0 when unknown. */
SPRY_API int64_t spry_operator_bytes(const spry_operator *op);
SPRY_API bool spry_operator_has_transpose(const spry_operator *op);

SPRY_END

#endif
