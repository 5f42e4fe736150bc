/* Parts of a vector, and their sums. */
#include "precon/kernels/kernel.h"

void X(gather)(int64_t n, const int32_t *rows, const bool *mine, const void *x, void *y)
{
    const scalar *from = x;
    scalar *to = y;
    for (int64_t i = 0; i < n; i++)
        to[i] = !mine || mine[i] ? from[rows[i]] : number(0);
}

void X(sum_places)(int64_t begin, int64_t end, const int64_t *offsets, const int64_t *places,
                   const void *x, void *y)
{
    const scalar *from = x;
    scalar *to = y;
    for (int64_t i = begin; i < end; i++) {
        scalar sum = number(0);
        for (int64_t k = offsets[i]; k < offsets[i + 1]; k++)
            sum = add(sum, from[places[k]]);
        to[i] = sum;
    }
}
