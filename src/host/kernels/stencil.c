/*
 * Rows of stencils. A strip of rows has its sums in registers while all the numbers around it are
 * added, one array of neighbours after the other; these come from the cache but for the one that
 * is read for the first time. Least traffic: u once, y once, each field once. Every row is the sum
 * of its terms in their order, however lines are cut.
 *
 * Most rows are those of a star, neighbours along the axes alone, with constant factors. For these
 * the numbers of terms are constants, so that nothing is left of loops over them.
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

/* Rounds a product before something is added to it. Of a b + c d compilers make either product part
 * of a multiply-add, not the same one everywhere, and bits would tell where a line was cut. */
#if defined(__aarch64__)
#define ROUND(product) __asm__("" : "+w"(product))
#elif defined(__x86_64__)
#define ROUND(product) __asm__("" : "+x"(product))
#else
#define ROUND(product) __asm__("" : "+m"(product))
#endif

/* Rows of one class: their terms, and where they are. Numbers are counted in `real`. */
typedef struct rows {
    const host_stencil *s;
    const host_stencil_group *g, *end;
    factors f;
    int64_t place; /* in fields */
    int64_t first; /* in numbers along the line */
    const real *u, *z;
    real *y;
} rows;

/* --- words of strips -----------------------------------------------------------------------------
 */

/* sum (+)= c from; `vecs` and `begins` are constants where this is called. */
ALWAYS_INLINE void add_stream(int vecs, bool begins, real c, const real *from, vec *sum)
{
#pragma GCC unroll 8
    for (int v = 0; v < vecs; v++) {
        const vec next = *(const vec_at *)(from + v * WIDTH);
        sum[v] = begins ? c * next : sum[v] + c * next;
        if (begins)
            ROUND(sum[v]);
    }
}

/* y = alpha sum + beta z */
ALWAYS_INLINE void put_strip(int vecs, const rows *r, int64_t i, vec *sum)
{
#if !KERNEL_COMPLEX
    if (!r->f.plain) {
#pragma GCC unroll 8
        for (int v = 0; v < vecs; v++) {
            sum[v] *= r->f.alpha;
            ROUND(sum[v]);
            if (r->f.reads)
                sum[v] += r->f.beta * *(const vec_at *)(r->z + i + v * WIDTH);
        }
    }
#endif
#pragma GCC unroll 8
    for (int v = 0; v < vecs; v++)
        *(vec_at *)(r->y + i + v * WIDTH) = sum[v];
}

/* --- stars ---------------------------------------------------------------------------------------
 */

/* A strip of a star of `count` terms, a constant where this is called. */
ALWAYS_INLINE void star_strip(int count, const rows *r, int64_t i)
{
    const int64_t *offset = r->s->offsets + r->g->first;
    const real *c = (const real *)r->s->coefficients + r->g->first * PARTS, *u = r->u + i;
    vec sum[UNROLL];
#pragma GCC unroll 32
    for (int k = 0; k < count; k++)
        add_stream(UNROLL, k == 0, c[k * PARTS], u + offset[k] * PARTS, sum);
    put_strip(UNROLL, r, i, sum);
}

/* Of n numbers the first so many: how many were done. A last strip may begin before the end of the
 * one before, unless what that has written is read again. */
ALWAYS_INLINE int64_t star_rows(int count, const rows *all, int64_t n)
{
    const rows copy = *all, *r = &copy; /* in registers, which no store can change */
    const int64_t step = UNROLL * WIDTH;
    int64_t i = 0;
    for (; i + step <= n; i += step)
        star_strip(count, r, i);
    if (i < n && n >= step && !r->f.reads) {
        star_strip(count, r, n - step);
        i = n;
    }
    return i;
}

/* Stars of two and three axes that reach 1 to 4 points far; 0 for other numbers of terms. */
static int64_t add_star(const rows *r, int64_t n)
{
    switch (r->g->count) {
    case 5:
        return star_rows(5, r, n);
    case 7:
        return star_rows(7, r, n);
    case 9:
        return star_rows(9, r, n);
    case 13:
        return star_rows(13, r, n);
    case 17:
        return star_rows(17, r, n);
    case 19:
        return star_rows(19, r, n);
    case 25:
        return star_rows(25, r, n);
    default:
        return 0;
    }
}

/* --- any terms -----------------------------------------------------------------------------------
 */

/* The sums of a group, without its fields. */
ALWAYS_INLINE void add_group(int vecs, const rows *r, const host_stencil_group *g, int64_t i,
                             vec *sum)
{
    const int64_t *offset = r->s->offsets + g->first;
    const real *c = (const real *)r->s->coefficients + g->first * PARTS;
    add_stream(vecs, true, c[0], r->u + i + offset[0] * PARTS, sum);
    for (int64_t k = 1; k < g->count; k++)
        add_stream(vecs, false, c[k * PARTS], r->u + i + offset[k] * PARTS, sum);
}

#if !KERNEL_COMPLEX
ALWAYS_INLINE void multiply_strip(int vecs, const real *by, vec *sum)
{
#pragma GCC unroll 8
    for (int v = 0; v < vecs; v++) {
        sum[v] *= *(const vec_at *)(by + v * WIDTH);
        ROUND(sum[v]);
    }
}

ALWAYS_INLINE void multiply_fields(int vecs, const rows *r, const host_stencil_group *g, int64_t i,
                                   vec *sum)
{
    for (int f = 0; f < 3; f++)
        if (g->field[f] >= 0)
            multiply_strip(vecs, (const real *)r->s->fields[g->field[f]] + r->place + g->at[f] + i,
                           sum);
    if (g->along >= 0)
        multiply_strip(vecs, (const real *)r->s->along[g->along] + r->first + i, sum);
}
#endif

ALWAYS_INLINE void strip(int vecs, const rows *r, int64_t i)
{
    vec sum[UNROLL];
    add_group(vecs, r, r->g, i, sum);
#if !KERNEL_COMPLEX
    multiply_fields(vecs, r, r->g, i, sum);
    for (const host_stencil_group *g = r->g + 1; g < r->end; g++) {
        vec part[UNROLL];
        add_group(vecs, r, g, i, part);
        multiply_fields(vecs, r, g, i, part);
#pragma GCC unroll 8
        for (int v = 0; v < vecs; v++)
            sum[v] += part[v];
    }
#endif
    put_strip(vecs, r, i, sum);
}

/* The sum of a group's terms for one number, in their order or (apart) in four sums, which do not
 * wait for each other. */
ALWAYS_INLINE real group_of(const rows *r, const host_stencil_group *g, int64_t i, bool apart)
{
    const int64_t *offset = r->s->offsets + g->first;
    const real *c = (const real *)r->s->coefficients + g->first * PARTS, *u = r->u + i;
    real sum = c[0] * u[offset[0] * PARTS], part[3] = {0};
    int64_t k = 1;
    ROUND(sum);
    for (; apart && k + 4 <= g->count; k += 4) {
        part[0] += c[k * PARTS] * u[offset[k] * PARTS];
        part[1] += c[(k + 1) * PARTS] * u[offset[k + 1] * PARTS];
        part[2] += c[(k + 2) * PARTS] * u[offset[k + 2] * PARTS];
        sum += c[(k + 3) * PARTS] * u[offset[k + 3] * PARTS];
    }
    for (; k < g->count; k++)
        sum += c[k * PARTS] * u[offset[k] * PARTS];
    return apart ? (sum + part[0]) + (part[1] + part[2]) : sum;
}

ALWAYS_INLINE void one_row(const rows *r, int64_t i, bool apart)
{
    real sum = 0;
    for (const host_stencil_group *g = r->g; g < r->end; g++) {
        real part = group_of(r, g, i, apart);
#if !KERNEL_COMPLEX
        for (int f = 0; f < 3; f++)
            if (g->field[f] >= 0) {
                part *= ((const real *)r->s->fields[g->field[f]])[r->place + g->at[f] + i];
                ROUND(part);
            }
        if (g->along >= 0) {
            part *= ((const real *)r->s->along[g->along])[r->first + i];
            ROUND(part);
        }
#endif
        sum = g == r->g ? part : sum + part;
    }
#if !KERNEL_COMPLEX
    if (!r->f.plain) {
        sum *= r->f.alpha;
        ROUND(sum);
        sum = r->f.reads ? sum + r->f.beta * r->z[i] : sum;
    }
#endif
    r->y[i] = sum;
}

/* A row at an end of a line, which is always by itself. */
static void end_row(const rows *all)
{
    const rows copy = *all;
    one_row(&copy, 0, true);
}

/* Numbers i..n-1 of a line. */
static void add_any(const rows *all, int64_t i, int64_t n)
{
    const rows copy = *all, *r = &copy;
    for (; r->g == r->end && i < n; i++)
        one_row(r, i, false); /* without terms */
    for (; i + UNROLL * WIDTH <= n; i += UNROLL * WIDTH)
        strip(UNROLL, r, i);
    for (; i + 2 * WIDTH <= n; i += 2 * WIDTH)
        strip(2, r, i);
    for (; i < n; i++)
        one_row(r, i, false);
}

static bool has_fields(const host_stencil_group *g)
{
    return g->field[0] >= 0 || g->field[1] >= 0 || g->field[2] >= 0 || g->along >= 0;
}

#if KERNEL_COMPLEX
/* The sums of a group for `length` rows, with its fields. */
static void make_group(const rows *r, const host_stencil_group *g, bool conjugated, int64_t t,
                       int64_t length, scalar *out)
{
    const int64_t *offset = r->s->offsets + g->first;
    const scalar *c = (const scalar *)r->s->coefficients + g->first;
    const scalar *u = (const scalar *)r->u + t;
    if (g->is_real) {
        const rows plain = {
            .s = r->s, .g = g, .end = g + 1, .u = (const real *)u, .y = (real *)out};
        add_any(&plain, 0, length * PARTS);
    } else {
        for (int64_t i = 0; i < length; i++) {
            scalar sum = number(0);
            for (int64_t k = 0; k < g->count; k++)
                sum = muladd(conjugated ? conjugate(c[k]) : c[k], u[offset[k] + i], sum);
            out[i] = sum;
        }
    }
    for (int f = 0; f < 3; f++) {
        if (g->field[f] < 0)
            continue;
        const scalar *field = (const scalar *)r->s->fields[g->field[f]] + r->place + g->at[f] + t;
        if (conjugated)
            X(multiply_conj)(length, field, out, out);
        else
            X(multiply)(length, field, out, out);
    }
    if (g->along >= 0)
        X(multiply)(length, (const scalar *)r->s->along[g->along] + r->first + t, out, out);
}

/* n rows by tiles, which groups go through one after the other. */
static void add_tiles(const rows *r, bool conjugated, int64_t n)
{
    const scalar *z = (const scalar *)r->z;
    scalar *y = (scalar *)r->y, sum[TILE], group[TILE];
    for (int64_t t = 0; t < n; t += TILE) {
        const int64_t length = n - t < TILE ? n - t : TILE;
        for (int64_t k = 0; k < length; k++)
            sum[k] = number(0);
        for (const host_stencil_group *g = r->g; g < r->end; g++) {
            make_group(r, g, conjugated, t, length, group);
            for (int64_t k = 0; k < length; k++)
                sum[k] = add(sum[k], group[k]);
        }
        for (int64_t k = 0; k < length; k++)
            y[t + k] = !r->f.reads ? mul(r->f.alpha, sum[k])
                                   : muladd(r->f.beta, z[t + k], mul(r->f.alpha, sum[k]));
    }
}
#endif

/* --- lines ---------------------------------------------------------------------------------------
 */

/* n rows of one class. */
static void add_rows(const rows *r, bool conjugated, int64_t n)
{
    const bool single = r->g + 1 == r->end && !has_fields(r->g);
    (void)conjugated;
#if KERNEL_COMPLEX
    if (!single || !r->g->is_real || !r->f.plain) {
        add_tiles(r, conjugated, n);
        return;
    }
#endif
    add_any(r, single ? add_star(r, n * PARTS) : 0, n * PARTS);
}

void X(stencil)(const host_stencil *s, const host_line *line, int64_t begin, int64_t end,
                spry_scalar a, spry_scalar b, const void *z, void *y)
{
    const int64_t last = s->columns - s->high;
    rows r = {.s = s, .f = factors_of(a, b)};
    const real *from = r.f.reads ? z : y; /* z where it is read, else something to count from */
    for (int64_t i = begin, n = 1; i < end; i += n) {
        const bool inside = i >= s->low && i < last;
        const int64_t class = line->class + (i < s->low ? i
                                             : inside   ? s->low
                                                        : s->low + 1 + i - last);
        n = inside ? (end < last ? end : last) - i : 1;
        r.g = s->groups + s->start[class];
        r.end = s->groups + s->start[class + 1];
        r.place = line->place + i;
        r.first = i;
        r.u = (const real *)line->u + i * PARTS;
        r.z = from + (i - begin) * PARTS;
        r.y = (real *)y + (i - begin) * PARTS;
        if (inside || KERNEL_COMPLEX || r.g == r.end)
            add_rows(&r, line->conjugate, n);
        else
            end_row(&r);
    }
}
