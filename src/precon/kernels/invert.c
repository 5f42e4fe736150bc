/* Inverses, element by element. */
#include "precon/kernels/kernel.h"

int64_t X(invert)(int64_t n, const void *x, void *y)
{
    const scalar *from = x;
    scalar *to = y;
    int64_t first = n;
    for (int64_t i = n - 1; i >= 0; i--) {
        to[i] = inverse(from[i]);
        first = finite_number(to[i]) ? first : i;
    }
    return first;
}
