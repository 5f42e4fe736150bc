/*
 * Products with CSR rows. What bounds them outside the cache is memory, but only if the core keeps
 * up: two loads an entry are the least (column and x; values come in pairs), so the loop around
 * them must be nearly free. Hence four sums side by side, eight entries a turn, one walk through
 * columns and values for all rows, and columns taken as unsigned, which spares their sign
 * extension.
 */
#include "host/kernels/kernel.h"

/* More x at once than two gain nothing: they need more sums than there are registers. */
enum { PAIR = 2 };

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

/*
 * The sums over the entries up to the value at `end`, where the cursor stands afterwards, for each
 * of `count` x. `count` is a constant where this is called: the loops over it vanish.
 */
ALWAYS_INLINE void sum_entries(cursor *from, const scalar *end, bool conjugated, int count,
                               const scalar *const *x, scalar *sum)
{
    sums s[PAIR] = {0};
    cursor at = *from;
    while (end - at.value >= 8) {
        for (int c = 0; c < count; c++) {
            add_four(&s[c], at, 0, x[c]);
            add_four(&s[c], at, 4, x[c]);
        }
        advance(&at, 8);
    }
    const int64_t rest = end - at.value;
    if (rest & 4) {
        for (int c = 0; c < count; c++)
            add_four(&s[c], at, 0, x[c]);
        advance(&at, 4);
    }
    if (rest & 2) {
        for (int c = 0; c < count; c++)
            add_two(&s[c], 0, at, 0, x[c]);
        advance(&at, 2);
    }
    if (rest & 1) {
        for (int c = 0; c < count; c++)
            add_one(&s[c], 2, at, 0, x[c]);
        advance(&at, 1);
    }
    *from = at;
    for (int c = 0; c < count; c++)
        sum[c] = total(&s[c], conjugated);
}

ALWAYS_INLINE scalar sum_one(cursor *from, const scalar *end, bool conjugated, const scalar *x)
{
    scalar sum;
    sum_entries(from, end, conjugated, 1, &x, &sum);
    return sum;
}

/* y = A x: the common case, without a test of the factors in the loop. */
ALWAYS_INLINE void rows_plain(const host_csr *A, int64_t begin, int64_t end, const scalar *x,
                              scalar *y)
{
    const scalar *values = A->values;
    const int64_t *stop = A->offsets + 1;
    cursor at = {A->columns + A->offsets[begin], values + A->offsets[begin]};
    for (int64_t i = begin; i < end; i++)
        y[i - begin] = sum_one(&at, values + stop[i], false, x);
}

ALWAYS_INLINE void rows_scaled(const host_csr *A, int64_t begin, int64_t end, bool conjugated,
                               scalar a, const scalar *x, scalar b, scalar *y)
{
    const scalar *values = A->values;
    const int64_t *stop = A->offsets + 1;
    cursor at = {A->columns + A->offsets[begin], values + A->offsets[begin]};
    const bool reads = !is_zero(b);
    for (int64_t i = begin; i < end; i++) {
        const scalar product = mul(a, sum_one(&at, values + stop[i], conjugated, x));
        y[i - begin] = reads ? muladd(b, y[i - begin], product) : product;
    }
}

void X(csr_rows)(const host_csr *A, int64_t begin, int64_t end, bool conjugated, spry_scalar a,
                 const void *x, spry_scalar b, void *y)
{
    const scalar alpha = from_scalar(a), beta = from_scalar(b);
    if (is_one(alpha) && is_zero(beta) && !conjugated)
        rows_plain(A, begin, end, x, y);
    else
        rows_scaled(A, begin, end, conjugated, alpha, x, beta, y);
}

void X(csr_solve)(const host_csr *A, int64_t begin, int64_t end, bool conjugated,
                  const int32_t *rows, const void *factors, const void *r, void *z)
{
    const scalar *values = A->values, *in = r, *factor = factors;
    scalar *out = z;
    cursor at = {A->columns + A->offsets[begin], values + A->offsets[begin]};
    for (int64_t k = begin; k < end; k++) {
        const int32_t i = rows[k];
        const scalar sum = sum_one(&at, values + A->offsets[k + 1], conjugated, out);
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
    return to_scalar(sum_one(&at, (const scalar *)values + n, conjugated, x));
}

/* y_0 = A x_0 and y_1 = A x_1, with each entry loaded once. */
ALWAYS_INLINE void rows_pair(const host_csr *A, int64_t begin, int64_t end, bool conjugated,
                             const scalar *const x[PAIR], scalar *const y[PAIR])
{
    const scalar *values = A->values;
    const int64_t *stop = A->offsets + 1;
    cursor at = {A->columns + A->offsets[begin], values + A->offsets[begin]};
    for (int64_t i = begin; i < end; i++) {
        scalar sum[PAIR];
        sum_entries(&at, values + stop[i], conjugated, PAIR, x, sum);
        y[0][i - begin] = sum[0];
        y[1][i - begin] = sum[1];
    }
}

void X(csr_rows_many)(const host_csr *A, int64_t begin, int64_t end, bool conjugated, int count,
                      const void *const *x, void *const *y)
{
    /* So few rows at a time that their entries are in a near cache for all x but the first. */
    enum { PANEL = 64 };
    const spry_scalar one = {1, 0}, zero = {0, 0};
    for (int64_t i = begin; i < end; i += PANEL) {
        const int64_t stop = end - i < PANEL ? end : i + PANEL, to = i - begin;
        int c = 0;
        for (; c + PAIR <= count; c += PAIR)
            rows_pair(A, i, stop, conjugated, (const scalar *const[]){x[c], x[c + 1]},
                      (scalar *const[]){(scalar *)y[c] + to, (scalar *)y[c + 1] + to});
        if (c < count)
            X(csr_rows)(A, i, stop, conjugated, one, x[c], zero, (scalar *)y[c] + to);
    }
}
