/*
 * What the tests of storage formats share: every format with all the options its tuner would try,
 * and the checks that each has to pass with any matrix.
 */
#ifndef SPRY_TESTS_LAYOUTS_H
#define SPRY_TESTS_LAYOUTS_H

#include "support/numeric.h"

#include "formats/shared/layout.h"

/* Calls test(spec, data) for every format, or for the one that the variable SPRY_TEST_FORMAT names:
 * with its defaults, with all options of its grid, and with values=f32, f16 and bf16 where it has
 * them. */
void layouts_each(void (*test)(const char *spec, void *data), void *data);

/* The same for the choices of one grid. */
void layouts_each_choice(const char *name, const char *grid,
                         void (*test)(const char *spec, void *data), void *data);

/* Whether a spec asks for values of 16 bits, which types s and c do not have. */
bool layouts_too_short(spry_type type, const char *spec);
/* Whether a format says that it cannot hold the matrix: then it must say so with
 * SPRY_STATUS_BAD_INPUT or SPRY_STATUS_UNSUPPORTED and a message; with SPRY_STATUS_BAD_USAGE where
 * values are too short for the type. */
bool layouts_refused(spry_context *ctx, spry_type type, const char *spec, spry_status status);

/* Everything that must hold for a layout of A (general CSR, sorted, without duplicates): the
 * forecast is what is built, conversion back is the identity, the diagonal is A's, products of all
 * kinds are within their bounds of rounding, for several columns too. False where the format
 * refuses the matrix. */
bool layouts_check(spry_context *ctx, const spry_matrix *A, const char *spec);

/* Parts of that, for operators that are made otherwise. A is what the operator holds, `terms` no
 * less than the terms of any of its sums; `which` is 0, 1 or 2, for factors of several kinds. */
spry_matrix *layouts_rounded(spry_context *ctx, const spry_matrix *A, stored_kind kind);
double layouts_most_terms(spry_context *ctx, const spry_matrix *A); /* its longest row or column */
void layouts_check_product(spry_context *ctx, const spry_matrix *A, const spry_operator *op,
                           const char *spec, spry_transpose transpose, int which, double terms);
void layouts_check_columns(spry_context *ctx, const spry_matrix *A, const spry_operator *op,
                           const char *spec, spry_transpose transpose, int which, int cols,
                           bool by_rows, double terms);

/* Products with any number of threads have the same bits, of one column and of several. */
void layouts_same_bits(const support_recipe *recipe, const char *spec);

/* Building and both kinds of products where every allocation fails in turn. */
void layouts_torture(spry_context *ctx, const spry_matrix *A, const char *spec);

/* The 6 x 6 matrix of docs/formats. */
spry_matrix *layouts_example(spry_context *ctx, spry_type type);

#endif
