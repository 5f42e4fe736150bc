/*
 * Products with CSR rows. What bounds them outside the cache is memory, but only if the core keeps
 * up: two loads an entry are the least (column and x; values come in pairs), so the loop around
 * them must be nearly free. Hence four sums side by side, eight entries a turn, one walk through
 * columns and values for all rows, and columns taken as unsigned, which spares their sign
 * extension.
 */
#include "host/kernels/kernel.h"

#define ALWAYS_INLINE static inline __attribute__((always_inline))

/* A place in the arrays of columns and values. */
typedef struct cursor {
    const int32_t *column;
    const scalar *value;
} cursor;

/* sum + value * x of the entry k after the cursor */
ALWAYS_INLINE scalar entry(cursor at, int k, bool conjugated, const scalar *x, scalar sum)
{
    const scalar value = conjugated ? conjugate(at.value[k]) : at.value[k];
    return muladd(value, x[(uint32_t)at.column[k]], sum);
}

ALWAYS_INLINE void four_entries(cursor at, int k, bool conjugated, const scalar *x, scalar sum[4])
{
    for (int l = 0; l < 4; l++)
        sum[l] = entry(at, k + l, conjugated, x, sum[l]);
}

/* The sum over the entries up to the value at `end`; the cursor stands there afterwards. */
ALWAYS_INLINE scalar sum_entries(cursor *cursor_, const scalar *end, bool conjugated,
                                 const scalar *x)
{
    scalar sum[4] = {zero(), zero(), zero(), zero()};
    cursor at = *cursor_;
    while (at.value + 8 <= end) {
        four_entries(at, 0, conjugated, x, sum);
        four_entries(at, 4, conjugated, x, sum);
        at.value += 8;
        at.column += 8;
    }
    const int64_t rest = end - at.value;
    if (rest & 4) {
        four_entries(at, 0, conjugated, x, sum);
        at.value += 4;
        at.column += 4;
    }
    if (rest & 2) {
        sum[0] = entry(at, 0, conjugated, x, sum[0]);
        sum[1] = entry(at, 1, conjugated, x, sum[1]);
        at.value += 2;
        at.column += 2;
    }
    if (rest & 1) {
        sum[2] = entry(at, 0, conjugated, x, sum[2]);
        at.value++;
        at.column++;
    }
    *cursor_ = at;
    return add(add(sum[0], sum[1]), add(sum[2], sum[3]));
}

/* y = A x: the common case, without a test of the factors in the loop. */
ALWAYS_INLINE void rows_plain(const host_csr *A, int64_t begin, int64_t end, const scalar *x,
                              scalar *y)
{
    const scalar *values = A->values;
    const int64_t *stop = A->offsets + 1;
    cursor at = {A->columns + A->offsets[begin], values + A->offsets[begin]};
    for (int64_t i = begin; i < end; i++)
        y[i] = sum_entries(&at, values + stop[i], false, x);
}

ALWAYS_INLINE void rows_scaled(const host_csr *A, int64_t begin, int64_t end, bool conjugated,
                               scalar a, const scalar *x, scalar b, scalar *y)
{
    const scalar *values = A->values;
    const int64_t *stop = A->offsets + 1;
    cursor at = {A->columns + A->offsets[begin], values + A->offsets[begin]};
    const bool reads = !is_zero(b);
    for (int64_t i = begin; i < end; i++) {
        const scalar sum = mul(a, sum_entries(&at, values + stop[i], conjugated, x));
        y[i] = reads ? muladd(b, y[i], sum) : sum;
    }
}

void X(csr_rows)(const host_csr *A, int64_t begin, int64_t end, bool conjugated, spry_scalar a,
                 const void *x, spry_scalar b, void *y)
{
    const scalar alpha = from_scalar(a), beta = from_scalar(b);
    if (begin >= end)
        return;
    if (KERNEL_COMPLEX && conjugated)
        rows_scaled(A, begin, end, true, alpha, x, beta, y);
    else if (is_one(alpha) && is_zero(beta))
        rows_plain(A, begin, end, x, y);
    else
        rows_scaled(A, begin, end, false, alpha, x, beta, y);
}

spry_scalar X(csr_sum)(int64_t n, const int32_t *columns, const void *values, bool conjugated,
                       const void *x)
{
    const scalar *end = (const scalar *)values + n;
    cursor at = {columns, values};
    if (KERNEL_COMPLEX && conjugated)
        return to_scalar(sum_entries(&at, end, true, x));
    return to_scalar(sum_entries(&at, end, false, x));
}
