/*
 * Products of a CSR matrix with several vectors that are packed: number c of all of them side by
 * side, row by row, so that an entry of A meets its numbers in one line of the cache. The sums are
 * those of csr.c, entry by entry, and give the same bits.
 */
#include "host/kernels/kernel.h"

/* Vectors of 16 bytes: wider ones go through memory where the processor has none. */
enum {
    LANES = 16 / sizeof(real),
    UNIT = HOST_UNIT / LANES, /* vectors */
    PARTS = 1 + KERNEL_COMPLEX,
    MOST = HOST_MOST_UNITS * UNIT
};

typedef real vec __attribute__((vector_size(16)));
typedef real vec_at __attribute__((vector_size(16), aligned(sizeof(real)), may_alias));

/* Four sums side by side, as in csr.c; of complex types the products with the values' real and
 * imaginary parts apart. Indices are constants wherever this is used, so that it lives in
 * registers. */
typedef struct sums {
    vec by[PARTS][4][MOST];
} sums;

/* Adds an entry times its packed numbers, `vectors` of them, to sum l. */
ALWAYS_INLINE void add(sums *s, int l, int vectors, const scalar *value, int32_t column,
                       const real *x)
{
    const vec_at *number = (const vec_at *)(x + (int64_t)column * (vectors * LANES));
#pragma GCC unroll 8
    for (int u = 0; u < vectors; u++) {
#if KERNEL_COMPLEX
        s->by[0][l][u] += value->re * number[u];
        s->by[1][l][u] += value->im * number[u];
#else
        s->by[0][l][u] += *value * number[u];
#endif
    }
}

/* The sums of one part, in the order of csr.c. */
ALWAYS_INLINE vec total(const sums *s, int part, int u)
{
    const vec *const a = &s->by[part][0][u], *const b = &s->by[part][1][u];
    const vec *const c = &s->by[part][2][u], *const d = &s->by[part][3][u];
#ifdef KERNEL_TYPE_s
    return (*a + *c) + (*b + *d);
#else
    return (*a + *b) + (*c + *d);
#endif
}

/* Stores the sums of a row as number i of each y. */
ALWAYS_INLINE void store(const sums *s, bool conjugated, int vectors, int count, int64_t i,
                         void *const *y)
{
    enum { NUMBERS = LANES / PARTS };
#pragma GCC unroll 8
    for (int u = 0; u < vectors; u++) {
        const vec re = total(s, 0, u);
#if KERNEL_COMPLEX
        const vec im = total(s, 1, u);
#endif
#pragma GCC unroll 4
        for (int c = 0; c < NUMBERS; c++) {
            if (u * NUMBERS + c >= count)
                return;
            scalar *to = (scalar *)y[u * NUMBERS + c] + i;
#if KERNEL_COMPLEX
            *to = conjugated ? (scalar){re[2 * c] + im[2 * c + 1], re[2 * c + 1] - im[2 * c]}
                             : (scalar){re[2 * c] - im[2 * c + 1], re[2 * c + 1] + im[2 * c]};
#else
            (void)conjugated;
            *to = re[c];
#endif
        }
    }
}

ALWAYS_INLINE void rows(const host_csr *A, int64_t begin, int64_t end, bool conjugated, int vectors,
                        const real *x, int count, void *const *y)
{
    const scalar *values = A->values;
    for (int64_t i = begin; i < end; i++) {
        const scalar *value = values + A->offsets[i], *stop = values + A->offsets[i + 1];
        const int32_t *column = A->columns + A->offsets[i];
        sums s = {0};
        for (; stop - value >= 4; value += 4, column += 4) {
            add(&s, 0, vectors, value, column[0], x);
            add(&s, 1, vectors, value + 1, column[1], x);
            add(&s, 2, vectors, value + 2, column[2], x);
            add(&s, 3, vectors, value + 3, column[3], x);
        }
        if ((stop - value) & 2) {
            add(&s, 0, vectors, value, column[0], x);
            add(&s, 1, vectors, value + 1, column[1], x);
            value += 2;
            column += 2;
        }
        if ((stop - value) & 1)
            add(&s, 2, vectors, value, column[0], x);
        store(&s, conjugated, vectors, count, i - begin, y);
    }
}

void X(csr_rows_packed)(const host_csr *A, int64_t begin, int64_t end, bool conjugated, int units,
                        const void *x, int count, void *const *y)
{
    if (units == 1)
        rows(A, begin, end, conjugated, UNIT, x, count, y);
    else
        rows(A, begin, end, conjugated, MOST, x, count, y);
}

void X(pack)(int64_t n, int units, int count, const void *const *x, void *packed)
{
    const int width = units * HOST_UNIT / PARTS;
    scalar *to = packed;
    const scalar zero = from_scalar((spry_scalar){0, 0});
    for (int c = 0; c < width; c++) {
        const scalar *from = c < count ? x[c] : NULL;
        for (int64_t i = 0; i < n; i++)
            to[i * width + c] = from ? from[i] : zero;
    }
}
