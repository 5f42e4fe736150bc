/*
 * Rows of stencils. A strip of rows has its sums in registers while all the numbers around it are
 * added, one array of neighbours after the other; these come from the cache but for the one that
 * is read for the first time. Least traffic: u once, y once, each field once. Every row is the sum
 * of its terms in their order, however lines are cut.
 *
 * Most rows are those of a star, neighbours along the axes alone, with constant factors. For these
 * the numbers of terms are constants, so that nothing is left of loops over them, and strips may be
 * of two lines side by side: what one has beside it along y the other one needs, too, and each of
 * the numbers is loaded once.
 */
#include "host/kernels/arithmetic.h"

enum { PARTS = 1 + KERNEL_COMPLEX, TILE = 256, UNROLL = 8 };

/* PAIR: vectors of each line of a strip of two; with more registers more sums that do not wait for
 * each other. */
#if defined(__AVX512F__)
enum { VEC_BYTES = 64, PAIR = 6 };
#elif defined(__AVX__)
enum { VEC_BYTES = 32, PAIR = 4 };
#else
enum { VEC_BYTES = 16, PAIR = 6 };
#endif
enum { WIDTH = VEC_BYTES / sizeof(real) };
typedef real vec __attribute__((vector_size(VEC_BYTES)));
typedef real vec_at __attribute__((vector_size(VEC_BYTES), aligned(sizeof(real)), may_alias));

/* Rows of one class: their terms, and where they are. Numbers are counted in `real`. */
typedef struct rows {
    const host_stencil *s;
    const host_stencil_group *g, *end;
    factors f;
    int64_t place, next; /* in fields, and how far the next line is there */
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
    }
}

/* y = alpha sum + beta z */
ALWAYS_INLINE void put_strip(int vecs, const rows *r, int64_t i, vec *sum)
{
#if !KERNEL_COMPLEX
    if (!r->f.plain)
#pragma GCC unroll 8
        for (int v = 0; v < vecs; v++) {
            sum[v] *= r->f.alpha;
            if (r->f.reads)
                sum[v] += r->f.beta * *(const vec_at *)(r->z + i + v * WIDTH);
        }
#endif
#pragma GCC unroll 8
    for (int v = 0; v < vecs; v++)
        *(vec_at *)(r->y + i + v * WIDTH) = sum[v];
}

/* --- stars ---------------------------------------------------------------------------------------
 */

/* A strip of `lines` lines of a star of some axes. All arguments but r and i are constants where
 * this is called. */
ALWAYS_INLINE void star_strip(int lines, int axes, int reach, const rows *r, int64_t i)
{
    enum { MOST = 2 };
    const int vecs = lines == 2 ? PAIR : UNROLL, along_y = reach, along_z = axes > 2 ? reach : 0;
    const int64_t *offset = r->s->offsets + r->g->first, next = r->s->columns * PARTS;
    const real *c = (const real *)r->s->coefficients + r->g->first * PARTS, *u = r->u + i;
    const real *x = c + (along_z + along_y) * PARTS, *middle = x + reach * PARTS;
    const int total = 2 * (along_z + along_y + reach) + 1;
    vec sum[MOST][UNROLL];
#pragma GCC unroll 8
    for (int k = 0; k < along_z; k++)
#pragma GCC unroll 2
        for (int l = 0; l < lines; l++)
            add_stream(vecs, k == 0, c[k * PARTS], u + l * next + offset[k] * PARTS, sum[l]);
            /* Lines of the plane from the lowest one on; each is added to those of the strip that
             * it is a neighbour of, and where it is one of the strip its numbers along x are. */
#pragma GCC unroll 16
    for (int j = -along_y; j < along_y + lines; j++) {
        const real *line = u + j * next;
#pragma GCC unroll 2
        for (int l = 0; l < lines; l++) {
            const int d = j - l; /* from the line of the sum to this one */
            const bool begins = along_z == 0 && (d == -along_y);
            if (d == 0) {
#pragma GCC unroll 16
                for (int k = -reach; k <= reach; k++)
                    add_stream(vecs, begins && k == -reach, middle[k * PARTS], line + k * PARTS,
                               sum[l]);
            } else if (d >= -along_y && d <= along_y) {
                const real *factor = d < 0 ? x + d * PARTS : middle + (reach + d) * PARTS;
                add_stream(vecs, begins, *factor, line, sum[l]);
            }
        }
    }
#pragma GCC unroll 8
    for (int k = total - along_z; k < total; k++)
#pragma GCC unroll 2
        for (int l = 0; l < lines; l++)
            add_stream(vecs, false, c[k * PARTS], u + l * next + offset[k] * PARTS, sum[l]);
#pragma GCC unroll 2
    for (int l = 0; l < lines; l++)
        put_strip(vecs, r, i + l * next, sum[l]);
}

/* n numbers of each line, or less: how many were done. A last strip may begin before the end of the
 * one before, unless what it has written is read again. */
ALWAYS_INLINE int64_t star_rows(int lines, int axes, int reach, const rows *r, int64_t n)
{
    const int64_t step = (lines == 2 ? PAIR : UNROLL) * WIDTH;
    int64_t i = 0;
    for (; i + step <= n; i += step)
        star_strip(lines, axes, reach, r, i);
    if (i < n && n >= step && !r->f.reads) {
        star_strip(lines, axes, reach, r, n - step);
        i = n;
    }
    return i;
}

#define STAR(axes, reach)                                                                      \
    static int64_t star_##axes##_##reach(int lines, const rows *r, int64_t n)                  \
    {                                                                                          \
        return lines == 2 ? star_rows(2, axes, reach, r, n) : star_rows(1, axes, reach, r, n); \
    }
STAR(2, 1)
STAR(2, 2) STAR(2, 3) STAR(2, 4) STAR(3, 1) STAR(3, 2) STAR(3, 3) STAR(3, 4)

    static int64_t add_star(int lines, const rows *r, int64_t n)
{
    static int64_t (*const stars[2][HOST_STAR_REACH])(int, const rows *, int64_t) = {
        {star_2_1, star_2_2, star_2_3, star_2_4}, {star_3_1, star_3_2, star_3_3, star_3_4}};
    const host_stencil_group *g = r->g;
    return stars[g->star_axes - 2][g->star_reach - 1](lines, r, n);
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
ALWAYS_INLINE void multiply_fields(int vecs, const rows *r, const host_stencil_group *g, int64_t i,
                                   vec *sum)
{
    for (int f = 0; f < 3; f++) {
        if (g->field[f] < 0)
            continue;
        const real *field = (const real *)r->s->fields[g->field[f]] + r->place + g->at[f] + i;
#pragma GCC unroll 8
        for (int v = 0; v < vecs; v++)
            sum[v] *= *(const vec_at *)(field + v * WIDTH);
    }
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

static void one_row(const rows *r, int64_t i)
{
    real sum = 0;
    for (const host_stencil_group *g = r->g; g < r->end; g++) {
        const int64_t *offset = r->s->offsets + g->first;
        const real *c = (const real *)r->s->coefficients + g->first * PARTS, *u = r->u + i;
        real part = c[0] * u[offset[0] * PARTS];
        for (int64_t k = 1; k < g->count; k++)
            part += c[k * PARTS] * u[offset[k] * PARTS];
#if !KERNEL_COMPLEX
        for (int f = 0; f < 3; f++)
            if (g->field[f] >= 0)
                part *= ((const real *)r->s->fields[g->field[f]])[r->place + g->at[f] + i];
#endif
        sum = g == r->g ? part : sum + part;
    }
#if !KERNEL_COMPLEX
    if (!r->f.plain)
        sum = r->f.reads ? r->f.beta * r->z[i] + r->f.alpha * sum : r->f.alpha * sum;
#endif
    r->y[i] = sum;
}

/* Numbers i..n-1 of a line. */
static void add_any(const rows *r, int64_t i, int64_t n)
{
    for (; i + UNROLL * WIDTH <= n; i += UNROLL * WIDTH)
        strip(UNROLL, r, i);
    for (; i + 2 * WIDTH <= n; i += 2 * WIDTH)
        strip(2, r, i);
    for (; i < n; i++)
        one_row(r, i);
}

static bool has_fields(const host_stencil_group *g)
{
    return g->field[0] >= 0 || g->field[1] >= 0 || g->field[2] >= 0;
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

/* n rows of one class of one line, or of two. */
static void add_rows(const rows *r, bool conjugated, int lines, int64_t n)
{
    const int64_t next = r->s->columns;
    rows line = *r;
    int64_t done = 0;
    const bool single = r->g + 1 == r->end && !has_fields(r->g);
    const bool strips = !KERNEL_COMPLEX || (single && r->g->is_real && r->f.plain);
    if (strips && single && r->g->star_reach > 0)
        done = add_star(lines, r, n * PARTS);
    for (int l = 0; l < lines; l++) {
        if (r->g == r->end)
            for (int64_t i = 0; i < n * PARTS; i++)
                line.y[i] = 0; /* a row without entries */
        else if (strips)
            add_any(&line, done, n * PARTS);
#if KERNEL_COMPLEX
        else
            add_tiles(&line, conjugated, n);
#endif
        line.u += next * PARTS;
        line.z += next * PARTS;
        line.y += next * PARTS;
        line.place += line.next;
    }
    (void)conjugated;
}

void X(stencil)(const host_stencil *s, const host_line *line, int64_t begin, int64_t end,
                spry_scalar a, spry_scalar b, const void *z, void *y)
{
    const int64_t last = s->columns - s->high;
    rows r = {.s = s, .f = factors_of(a, b), .next = line->next};
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
        r.u = (const real *)line->u + i * PARTS;
        r.z = from + (i - begin) * PARTS;
        r.y = (real *)y + (i - begin) * PARTS;
        add_rows(&r, line->conjugate, line->lines > 1 ? 2 : 1, n);
    }
}
