/* What the tests of generators share: making and looking at matrices small enough to write out. */
#ifndef SPRY_TESTS_GENERATED_H
#define SPRY_TESTS_GENERATED_H

#include "operator/operator.h"
#include "support/support.h"

/* Makes a matrix and checks its shape: square general CSR, offsets that rise, columns that rise
 * strictly. */
spry_matrix *generated(spry_context *ctx, const char *kind, const char *options);
/* The same of a type; the other options are made as printf() does. */
spry_matrix *generated_as(spry_context *ctx, spry_type type, const char *kind, const char *options,
                          ...) __attribute__((format(printf, 4, 5)));
/* Turns the entries of complex matrices by phases, A_ij exp(i angle (i - j)), and those of the
 * diagonal by q as well: q = 1 keeps hermitian ones so. */
void generated_turn(spry_matrix *A, double angle, spry_scalar q);
/* A band of given offsets, general CSR, whose main diagonal is one number per row, one for many, or
 * (where rows may be `bare`) missing in turns of so many rows; the number of another diagonal
 * changes with these turns, and a third is missing in some. Numbers of complex types are complex.
 */
spry_matrix *generated_band(spry_context *ctx, spry_type type, int64_t rows, int64_t cols,
                            int64_t turn, bool bare);
/* What generated() makes, written out. */
support_dense generated_dense(spry_context *ctx, const char *kind, const char *options);
/* The shape checks alone. */
void generated_check(const spry_matrix *A);

spry_scalar generated_at(const support_dense *A, int64_t i, int64_t j);
/* Whether A[i, j] is A[j, i], or its conjugate, to the bit. */
bool generated_symmetric(const support_dense *A, bool conjugate);
/* Whether Cholesky's factorization of a hermitian matrix goes through; A is overwritten. */
bool generated_definite(support_dense *A);
/* Sum of the magnitudes of row i apart from the diagonal. */
double generated_others(const support_dense *A, int64_t i);

#endif
