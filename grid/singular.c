/*
 * Operators without a known value anywhere, pure Neumann or periodic: a constant goes to 0, and the
 * last level has no factors. With c added to one diagonal entry, A + c e e^T, it has. Where the
 * system A x = b has solutions, that is w^T b = 0 for the w with w^T A = 0, the one of the new
 * matrix is one of them: w^T times the equation is c w_e x_e = w^T b = 0, so x is 0 there, and A x
 * = b. Other solutions differ by a constant, which the solver removes (nullspace=constant).
 *
 * Residuals of a higher order are orthogonal to another w, and what is left of w^T b stands at e as
 * a source. In the middle of the grid w_e is largest and that source least, at a corner 8 times as
 * large in three dimensions: defect correction with order 8 fails with that.
 */
#include "grid/gmg.h"

#include <float.h>

/* Whether all rows add up to 0, but for roundings of their entries, which are made of few numbers.
 */
static bool kills_constants(const spry_matrix *A)
{
    enum { ROUNDINGS = 16 };
    const double unit = type_is_single(A->a.type) ? FLT_EPSILON : DBL_EPSILON;
    for (int64_t i = 0; i < A->a.rows; i++) {
        spry_scalar sum = {0, 0};
        double size = 0;
        for (int64_t k = A->a.offsets[i]; k < A->a.offsets[i + 1]; k++) {
            const spry_scalar a = value_get(A->a.type, A->a.values, k);
            sum = (spry_scalar){sum.re + a.re, sum.im + a.im};
            size += hypot(a.re, a.im);
        }
        if (!(hypot(sum.re, sum.im) <= ROUNDINGS * unit * size))
            return false;
    }
    return true;
}

bool gmg_pin(spry_matrix *A)
{
    if (!kills_constants(A))
        return false;
    const int64_t e = A->a.rows / 2;
    for (int64_t k = A->a.offsets[e]; k < A->a.offsets[e + 1]; k++)
        if (A->a.col_index[k] == e) {
            const spry_scalar a = value_get(A->a.type, A->a.values, k);
            value_set(A->a.type, A->a.values, k, (spry_scalar){2 * a.re, 2 * a.im});
        }
    return true;
}
