/*
 * Products with CSR rows. What bounds them outside the cache is memory, but only if the core keeps
 * up: two loads per entry are the least (column and x; values come in pairs), so the loop around
 * them must be nearly free. Hence four sums side by side, eight entries per turn, one walk through
 * columns and values for all rows, and columns taken as unsigned, which spares their sign
 * extension.
 */
#include "host/kernels/sums.h"

ALWAYS_INLINE cursor row_at(const host_csr *A, int64_t row)
{
    return (cursor){A->columns + A->offsets[row], (const stored *)A->values + A->offsets[row]};
}

/* y = A x: the common case, without a test of the factors in the loop. */
ALWAYS_INLINE void rows_plain(const host_csr *A, int64_t begin, int64_t end, const scalar *x,
                              scalar *y)
{
    const stored *values = A->values;
    const int64_t *stop = A->offsets + 1;
    cursor at = row_at(A, begin);
    for (int64_t i = begin; i < end; i++)
        y[i - begin] = sum_entries(&at, values + stop[i], false, x);
}

ALWAYS_INLINE void rows_scaled(const host_csr *A, int64_t begin, int64_t end, bool conjugated,
                               factors f, const scalar *x, scalar *y)
{
    const stored *values = A->values;
    const int64_t *stop = A->offsets + 1;
    cursor at = row_at(A, begin);
    for (int64_t i = begin; i < end; i++)
        put(f, sum_entries(&at, values + stop[i], conjugated, x), y + (i - begin));
}

void X(csr_rows)(const host_csr *A, int64_t begin, int64_t end, bool conjugated, spry_scalar a,
                 const void *x, spry_scalar b, void *y)
{
    const factors f = factors_of(a, b);
    if (f.plain && !conjugated)
        rows_plain(A, begin, end, x, y);
    else
        rows_scaled(A, begin, end, conjugated, f, x, y);
}

spry_scalar X(csr_sum)(int64_t n, const int32_t *columns, const void *values, bool conjugated,
                       const void *x)
{
    cursor at = {columns, values};
    return to_scalar(sum_entries(&at, (const stored *)values + n, conjugated, x));
}
