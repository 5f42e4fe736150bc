/* Products of an operator with several columns, against those with each by itself. */
#ifndef SPRY_TEST_COLUMNS_H
#define SPRY_TEST_COLUMNS_H

#include <spry/operator.h>

/* C = alpha op(A) B + beta C where the operator lives, by columns and by rows, with numbers between
 * the columns that are left alone: each column has the bits of its own product. */
void columns_check(const spry_operator *A, spry_transpose transpose, int columns);

#endif
