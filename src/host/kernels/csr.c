/*
 * Products with CSR rows. What bounds them outside the cache is memory, but only if the core keeps
 * up: two loads an entry are the least (column and x; values come in pairs), so the loop around
 * them must be nearly free. Hence four sums side by side, eight entries a turn, one walk through
 * columns and values for all rows, and columns taken as unsigned, which spares their sign
 * extension.
 */
#include "host/kernels/kernel.h"

/* A place in the arrays of columns and values. */
typedef struct cursor {
    const int32_t *column;
    const scalar *value;
} cursor;

typedef real pair __attribute__((vector_size(2 * sizeof(real))));
/* A pair in memory, with the alignment of its numbers. */
typedef real pair_at
    __attribute__((vector_size(2 * sizeof(real)), aligned(sizeof(real)), may_alias));

#ifndef KERNEL_TYPE_d
ALWAYS_INLINE pair load_pair(const void *at)
{
    return *(const pair_at *)at;
}
#endif

ALWAYS_INLINE const scalar *other(cursor at, int k, const scalar *x)
{
    return x + (uint32_t)at.column[k];
}

/*
 * Sums of products that run side by side, kept so that the compilers make good code of them: plain
 * numbers for d, pairs for s, and for complex types the products with the values' real and
 * imaginary parts apart: each is a number times a pair, and conjugation matters at the end only.
 * Two single numbers are loaded at once, as loading them one by one takes arm64 three times as
 * long.
 */
#if KERNEL_COMPLEX
typedef struct sums {
    pair by_re[4], by_im[4];
} sums;

ALWAYS_INLINE void add_one(sums *s, int l, cursor at, int k, const scalar *x)
{
#ifdef KERNEL_TYPE_c
    const pair parts = load_pair(at.value + k);
    const scalar value = {parts[0], parts[1]};
#else
    const scalar value = at.value[k];
#endif
    const pair number = load_pair(other(at, k, x));
    s->by_re[l] += value.re * number;
    s->by_im[l] += value.im * number;
}
ALWAYS_INLINE void add_two(sums *s, int l, cursor at, int k, const scalar *x)
{
    add_one(s, l, at, k, x);
    add_one(s, l + 1, at, k + 1, x);
}
ALWAYS_INLINE scalar total(const sums *s, bool conjugated)
{
    const pair re = (s->by_re[0] + s->by_re[1]) + (s->by_re[2] + s->by_re[3]);
    const pair im = (s->by_im[0] + s->by_im[1]) + (s->by_im[2] + s->by_im[3]);
    return conjugated ? (scalar){re[0] + im[1], re[1] - im[0]}
                      : (scalar){re[0] - im[1], re[1] + im[0]};
}
#elif defined(KERNEL_TYPE_s)
typedef struct sums {
    pair lane[2];
} sums;

ALWAYS_INLINE void add_one(sums *s, int l, cursor at, int k, const scalar *x)
{
    s->lane[l / 2][l % 2] += at.value[k] * *other(at, k, x);
}
ALWAYS_INLINE void add_two(sums *s, int l, cursor at, int k, const scalar *x)
{
    s->lane[l / 2] += load_pair(at.value + k) * (pair){*other(at, k, x), *other(at, k + 1, x)};
}
ALWAYS_INLINE scalar total(const sums *s, bool conjugated)
{
    (void)conjugated;
    const pair both = s->lane[0] + s->lane[1];
    return both[0] + both[1];
}
#else
typedef struct sums {
    real lane[4];
} sums;

ALWAYS_INLINE void add_one(sums *s, int l, cursor at, int k, const scalar *x)
{
    s->lane[l] += at.value[k] * *other(at, k, x);
}
ALWAYS_INLINE void add_two(sums *s, int l, cursor at, int k, const scalar *x)
{
    add_one(s, l, at, k, x);
    add_one(s, l + 1, at, k + 1, x);
}
ALWAYS_INLINE scalar total(const sums *s, bool conjugated)
{
    (void)conjugated;
    return (s->lane[0] + s->lane[1]) + (s->lane[2] + s->lane[3]);
}
#endif

ALWAYS_INLINE void add_four(sums *s, cursor at, int k, const scalar *x)
{
    add_two(s, 0, at, k, x);
    add_two(s, 2, at, k + 2, x);
}

ALWAYS_INLINE void advance(cursor *at, int k)
{
    at->column += k;
    at->value += k;
}

/* The sum over the entries up to the value at `end`, where the cursor stands afterwards. */
ALWAYS_INLINE scalar sum_entries(cursor *from, const scalar *end, bool conjugated, const scalar *x)
{
    sums s = {0};
    cursor at = *from;
    while (end - at.value >= 8) {
        add_four(&s, at, 0, x);
        add_four(&s, at, 4, x);
        advance(&at, 8);
    }
    const int64_t rest = end - at.value;
    if (rest & 4) {
        add_four(&s, at, 0, x);
        advance(&at, 4);
    }
    if (rest & 2) {
        add_two(&s, 0, at, 0, x);
        advance(&at, 2);
    }
    if (rest & 1) {
        add_one(&s, 2, at, 0, x);
        advance(&at, 1);
    }
    *from = at;
    return total(&s, conjugated);
}

/* y = A x: the common case, without a test of the factors in the loop. */
ALWAYS_INLINE void rows_plain(const host_csr *A, int64_t begin, int64_t end, const scalar *x,
                              scalar *y)
{
    const scalar *values = A->values;
    const int64_t *stop = A->offsets + 1;
    cursor at = {A->columns + A->offsets[begin], values + A->offsets[begin]};
    for (int64_t i = begin; i < end; i++)
        y[i - begin] = sum_entries(&at, values + stop[i], false, x);
}

ALWAYS_INLINE void rows_scaled(const host_csr *A, int64_t begin, int64_t end, bool conjugated,
                               factors f, const scalar *x, scalar *y)
{
    const scalar *values = A->values;
    const int64_t *stop = A->offsets + 1;
    cursor at = {A->columns + A->offsets[begin], values + A->offsets[begin]};
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

void X(csr_solve)(const host_csr *A, int64_t begin, int64_t end, bool conjugated,
                  const int32_t *rows, const void *diagonal, const void *r, void *z)
{
    const scalar *values = A->values, *in = r, *factor = diagonal;
    scalar *out = z;
    cursor at = {A->columns + A->offsets[begin], values + A->offsets[begin]};
    for (int64_t k = begin; k < end; k++) {
        const int32_t i = rows[k];
        const scalar sum = sum_entries(&at, values + A->offsets[k + 1], conjugated, out);
        scalar from = in[i];
        if (factor)
            from = mul(conjugated ? conjugate(factor[i]) : factor[i], from);
        out[i] = sub(from, sum);
    }
}

spry_scalar X(csr_sum)(int64_t n, const int32_t *columns, const void *values, bool conjugated,
                       const void *x)
{
    cursor at = {columns, values};
    return to_scalar(sum_entries(&at, (const scalar *)values + n, conjugated, x));
}
