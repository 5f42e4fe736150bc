/*
 * Rows of stencils. A strip of rows has its sums in registers while all the numbers around it are
 * added, one array of neighbours after the other; these come from the cache but for the one that
 * is read for the first time. Least traffic: u once, y once, each field once. Every row is the sum
 * of its terms in their order, however the line is cut.
 */
#include "host/kernels/arithmetic.h"

enum { PARTS = 1 + KERNEL_COMPLEX, TILE = 256, UNROLL = 8 };

#if defined(__AVX512F__)
enum { VEC_BYTES = 64 };
#elif defined(__AVX__)
enum { VEC_BYTES = 32 };
#else
enum { VEC_BYTES = 16 };
#endif
enum { WIDTH = VEC_BYTES / sizeof(real) };
typedef real vec __attribute__((vector_size(VEC_BYTES)));
typedef real vec_at __attribute__((vector_size(VEC_BYTES), aligned(sizeof(real)), may_alias));

/* `vecs` vectors of the sum; a constant where this is called. */
ALWAYS_INLINE void strip(int vecs, int64_t count, const int64_t *offset, const real *c,
                         const real *u, real *out)
{
    vec sum[UNROLL];
    const real *from = u + offset[0] * PARTS;
#pragma GCC unroll 8
    for (int v = 0; v < vecs; v++)
        sum[v] = c[0] * *(const vec_at *)(from + v * WIDTH);
    for (int64_t k = 1; k < count; k++) {
        const real factor = c[k * PARTS];
        from = u + offset[k] * PARTS;
#pragma GCC unroll 8
        for (int v = 0; v < vecs; v++)
            sum[v] += factor * *(const vec_at *)(from + v * WIDTH);
    }
#pragma GCC unroll 8
    for (int v = 0; v < vecs; v++)
        *(vec_at *)(out + v * WIDTH) = sum[v];
}

/* out = sum of n real numbers from each of some arrays, with real factors. */
static void add_reals(int64_t n, int64_t count, const int64_t *offset, const real *c, const real *u,
                      real *out)
{
    int64_t i = 0;
    for (; i + UNROLL * WIDTH <= n; i += UNROLL * WIDTH)
        strip(UNROLL, count, offset, c, u + i, out + i);
    for (; i + WIDTH <= n; i += WIDTH)
        strip(1, count, offset, c, u + i, out + i);
    for (; i < n; i++) {
        real sum = c[0] * u[offset[0] * PARTS + i];
        for (int64_t k = 1; k < count; k++)
            sum += c[k * PARTS] * u[offset[k] * PARTS + i];
        out[i] = sum;
    }
}

/* The sums of a group for n rows from row i of the line on, without its fields. */
static void add_group(const host_stencil *s, const host_stencil_group *g, bool conjugated,
                      int64_t n, const scalar *u, scalar *out)
{
    const int64_t *offset = s->offsets + g->first;
    const scalar *c = (const scalar *)s->coefficients + g->first;
    if (g->is_real) {
        add_reals(n * PARTS, g->count, offset, (const real *)c, (const real *)u, (real *)out);
        return;
    }
    for (int64_t i = 0; i < n; i++) {
        scalar sum = number(0);
        for (int64_t k = 0; k < g->count; k++)
            sum = muladd(conjugated ? conjugate(c[k]) : c[k], u[offset[k] + i], sum);
        out[i] = sum;
    }
}

static void multiply_fields(const host_stencil *s, const host_stencil_group *g, bool conjugated,
                            int64_t n, int64_t place, scalar *sum)
{
    for (int f = 0; f < 3; f++) {
        if (g->field[f] < 0)
            continue;
        const scalar *field = (const scalar *)s->fields[g->field[f]] + place + g->at[f];
        if (conjugated)
            X(multiply_conj)(n, field, sum, sum);
        else
            X(multiply)(n, field, sum, sum);
    }
}

/* n rows of one class, of which the first is row i of the line. */
static void rows_of_class(const host_stencil *s, const host_line *line, int64_t class, int64_t i,
                          int64_t n, factors f, const scalar *z, scalar *y)
{
    const host_stencil_group *g = s->groups + s->start[class],
                             *end = s->groups + s->start[class + 1];
    const scalar *u = (const scalar *)line->u + i;
    const bool conjugated = KERNEL_COMPLEX && line->conjugate;
    scalar sum[TILE], group[TILE];
    if (f.plain && g + 1 == end && g->field[0] < 0 && g->field[1] < 0 && g->field[2] < 0) {
        add_group(s, g, conjugated, n, u, y);
        return;
    }
    for (int64_t t = 0; t < n; t += TILE) {
        const int64_t length = n - t < TILE ? n - t : TILE;
        for (int64_t k = 0; k < length; k++)
            sum[k] = number(0);
        for (const host_stencil_group *at = g; at < end; at++) {
            add_group(s, at, conjugated, length, u + t, group);
            multiply_fields(s, at, conjugated, length, line->place + i + t, group);
            for (int64_t k = 0; k < length; k++)
                sum[k] = add(sum[k], group[k]);
        }
        for (int64_t k = 0; k < length; k++)
            y[t + k] =
                !f.reads ? mul(f.alpha, sum[k]) : muladd(f.beta, z[t + k], mul(f.alpha, sum[k]));
    }
}

/* z where it is read, else something to count from. */
void X(stencil)(const host_stencil *s, const host_line *line, int64_t begin, int64_t end,
                spry_scalar a, spry_scalar b, const void *z, void *y)
{
    const factors f = factors_of(a, b);
    const int64_t last = s->columns - s->high;
    const scalar *from = f.reads ? z : y;
    scalar *to = y;
    int64_t i = begin;
    for (; i < end && i < s->low; i++, from++, to++)
        rows_of_class(s, line, line->class + i, i, 1, f, from, to);
    if (i < end && i < last) {
        const int64_t n = (end < last ? end : last) - i;
        rows_of_class(s, line, line->class + s->low, i, n, f, from, to);
        i += n;
        from += n;
        to += n;
    }
    for (; i < end; i++, from++, to++)
        rows_of_class(s, line, line->class + s->low + 1 + i - last, i, 1, f, from, to);
}
