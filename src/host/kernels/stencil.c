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

enum { PARTS = 1 + KERNEL_COMPLEX, TILE = 256, UNROLL = 8, LINES = 8, MOST_FIELDS = 4 };

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
 * of a multiply-add, not the same one everywhere, and bits would depend on where a line was cut. */
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
    const int64_t *offsets; /* those of s */
    const real *coefficients;
    factors f;
    int64_t place; /* in fields */
    int64_t first; /* in numbers along the line */
    const real *u, *z;
    real *y;
} rows;

/* The same rows a number of lines on. */
static void next_lines(rows *r, int64_t lines)
{
    const int64_t line = lines * r->s->columns * PARTS;
    r->place += lines * r->s->points;
    r->u += line;
    r->z += line;
    r->y += line;
}

static inline real real_part(scalar a)
{
#if KERNEL_COMPLEX
    return a.re;
#else
    return a;
#endif
}

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

/* y = alpha sum + beta z, both factors real */
ALWAYS_INLINE void put_strip(int vecs, const rows *r, int64_t i, vec *sum)
{
    if (!r->f.plain) {
        const real alpha = real_part(r->f.alpha), beta = real_part(r->f.beta);
#pragma GCC unroll 8
        for (int v = 0; v < vecs; v++) {
            sum[v] *= alpha;
            ROUND(sum[v]);
            if (r->f.reads)
                sum[v] += beta * *(const vec_at *)(r->z + i + v * WIDTH);
        }
    }
#pragma GCC unroll 8
    for (int v = 0; v < vecs; v++)
        *(vec_at *)(r->y + i + v * WIDTH) = sum[v];
}

/* --- strips --------------------------------------------------------------------------------------
 */

/* The sums of a group, without its fields; count is a constant where all are known, else 0. */
ALWAYS_INLINE void add_group(int vecs, int count, const rows *r, const host_stencil_group *g,
                             int64_t i, vec *sum)
{
    const int64_t *offset = r->offsets + g->first;
    const real *c = r->coefficients + g->first * PARTS, *u = r->u + i;
    add_stream(vecs, true, c[0], u + offset[0] * PARTS, sum);
    if (count == 0) {
        for (int64_t k = 1; k < g->count; k++)
            add_stream(vecs, false, c[k * PARTS], u + offset[k] * PARTS, sum);
    } else {
#pragma GCC unroll 32
        for (int k = 1; k < count; k++)
            add_stream(vecs, false, c[k * PARTS], u + offset[k] * PARTS, sum);
    }
}

/* The fields of a group, and its numbers along the line, counted from r->u: how many there are.
 * Rows at the ends of lines, which are made of several lines together, have none of the latter. */
ALWAYS_INLINE int find_fields(const rows *r, const host_stencil_group *g,
                              const real *field[MOST_FIELDS])
{
    int count = 0;
    for (int f = 0; f < 3 && !KERNEL_COMPLEX; f++)
        if (g->field[f] >= 0)
            field[count++] = (const real *)r->s->fields[g->field[f]] + r->place + g->at[f];
    if (g->along >= 0 && !KERNEL_COMPLEX)
        field[count++] = (const real *)r->s->along[g->along] + r->first;
    return count;
}

ALWAYS_INLINE void multiply_field(int vecs, const real *field, vec *part)
{
#pragma GCC unroll 8
    for (int v = 0; v < vecs; v++) {
        part[v] *= *(const vec_at *)(field + v * WIDTH);
        ROUND(part[v]);
    }
}

/* One more group; its last field is part of a multiply-add. */
ALWAYS_INLINE void add_other(int vecs, const rows *r, const host_stencil_group *g, int64_t i,
                             vec *sum)
{
    const real *field[MOST_FIELDS];
    const int fields = find_fields(r, g, field);
    vec part[UNROLL];
    add_group(vecs, 0, r, g, i, part);
    for (int f = 0; f + 1 < fields; f++)
        multiply_field(vecs, field[f] + i, part);
    if (fields == 0) {
#pragma GCC unroll 8
        for (int v = 0; v < vecs; v++)
            sum[v] += part[v];
    } else {
#pragma GCC unroll 8
        for (int v = 0; v < vecs; v++)
            sum[v] += part[v] * *(const vec_at *)(field[fields - 1] + i + v * WIDTH);
    }
}

/* A strip of rows of one group of `count` terms without fields, or (0) of any rows. */
ALWAYS_INLINE void strip(int vecs, int count, const rows *r, const host_stencil_group *first,
                         int64_t i)
{
    vec sum[UNROLL];
    add_group(vecs, count, r, first, i, sum);
    if (count == 0) {
        const real *field[MOST_FIELDS];
        const int fields = find_fields(r, r->g, field);
        for (int f = 0; f < fields; f++)
            multiply_field(vecs, field[f] + i, sum);
        for (const host_stencil_group *g = r->g + 1; g < r->end; g++)
            add_other(vecs, r, g, i, sum);
    }
    put_strip(vecs, r, i, sum);
}

/* --- single numbers ------------------------------------------------------------------------------
 */

/* The sums of a group's terms for number i of some lines, in the order of strips. */
ALWAYS_INLINE void add_numbers(int lines, const rows *r, const host_stencil_group *g, int64_t i,
                               real *sum)
{
    const int64_t *offset = r->offsets + g->first, line = r->s->columns * PARTS;
    const real *c = r->coefficients + g->first * PARTS, *u = r->u + i;
    for (int l = 0; l < lines; l++) {
        sum[l] = c[0] * u[offset[0] * PARTS + l * line];
        ROUND(sum[l]);
    }
    for (int64_t k = 1; k < g->count; k++)
#pragma GCC unroll 8
        for (int l = 0; l < lines; l++) {
            sum[l] += c[k * PARTS] * u[offset[k] * PARTS + l * line];
            ROUND(sum[l]);
        }
}

/* Number i of each of `lines` lines, which do not wait for each other; `lines` is a constant. */
ALWAYS_INLINE void one_number(int lines, const rows *r, int64_t i)
{
    const int64_t line = r->s->columns * PARTS;
    real sum[LINES] = {0};
    for (const host_stencil_group *g = r->g; g < r->end; g++) {
        const real *field[MOST_FIELDS];
        const int fields = find_fields(r, g, field), last = g == r->g ? fields : fields - 1;
        real part[LINES];
        add_numbers(lines, r, g, i, part);
        for (int l = 0; l < lines; l++) {
            const int64_t at = i + l * r->s->points;
            for (int f = 0; f < last; f++) {
                part[l] *= field[f][at];
                ROUND(part[l]);
            }
            if (g == r->g)
                sum[l] = part[l];
            else if (fields == 0)
                sum[l] += part[l];
            else
                sum[l] += part[l] * field[last][at];
        }
    }
    const real alpha = real_part(r->f.alpha), beta = real_part(r->f.beta);
    for (int l = 0; l < lines; l++) {
        if (!r->f.plain) {
            sum[l] *= alpha;
            ROUND(sum[l]);
            sum[l] = r->f.reads ? sum[l] + beta * r->z[i + l * line] : sum[l];
        }
        r->y[i + l * line] = sum[l];
    }
}

/* A row at an end of each of `lines` lines. */
static void end_rows(const rows *all, int64_t lines)
{
    rows r = *all;
    for (; lines >= LINES; lines -= LINES, next_lines(&r, LINES))
        one_number(LINES, &r, 0);
    for (; lines > 0; lines--, next_lines(&r, 1))
        one_number(1, &r, 0);
}

/* --- rows of one class ---------------------------------------------------------------------------
 */

static bool has_fields(const host_stencil_group *g)
{
    return g->field[0] >= 0 || g->field[1] >= 0 || g->field[2] >= 0 || g->along >= 0;
}

/* Of n numbers of a line all that strips of full width can do: how many. A last strip may begin
 * before the end of the one before, unless what that has written is read again. */
ALWAYS_INLINE int64_t run_strips(int count, const rows *all, int64_t n)
{
    const rows copy = *all, *r = &copy; /* in registers, which no store can change */
    const host_stencil_group first = *r->g;
    const int64_t step = UNROLL * WIDTH;
    int64_t i = 0;
    for (; i + step <= n; i += step)
        strip(UNROLL, count, r, &first, i);
    if (i < n && n >= step && !(r->f.reads && r->z == r->y)) {
        strip(UNROLL, count, r, &first, n - step);
        i = n;
    }
    return i;
}

/* Functions of their own, as compilers have better registers for one loop than for many. */
#define STAR(count)                                       \
    static int64_t star_##count(const rows *r, int64_t n) \
    {                                                     \
        return run_strips(count, r, n);                   \
    }
STAR(5)
STAR(7)
STAR(9)
STAR(13)
STAR(17)
STAR(19)
STAR(25)
STAR(0)
#undef STAR

/* Stars of two and three axes that reach 1 to 4 points far; other rows. */
static int64_t (*strips_for(const rows *r))(const rows *, int64_t)
{
    if (r->g + 1 < r->end || has_fields(r->g))
        return star_0;
    switch (r->g->count) {
    case 5:
        return star_5;
    case 7:
        return star_7;
    case 9:
        return star_9;
    case 13:
        return star_13;
    case 17:
        return star_17;
    case 19:
        return star_19;
    case 25:
        return star_25;
    default:
        return star_0;
    }
}

/* n numbers of each of `lines` lines. */
static void add_lines(const rows *all, int64_t n, int64_t lines)
{
    int64_t (*const run)(const rows *, int64_t) = strips_for(all);
    rows r = *all;
    for (; lines > 0; lines--, next_lines(&r, 1)) {
        int64_t i = run(&r, n);
        for (; i + 2 * WIDTH <= n; i += 2 * WIDTH)
            strip(2, 0, &r, r.g, i);
        for (; i < n; i++)
            one_number(1, &r, i);
    }
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
        const rows plain = {.s = r->s,
                            .g = g,
                            .end = g + 1,
                            .offsets = r->offsets,
                            .coefficients = r->coefficients,
                            .f = {.plain = true},
                            .u = (const real *)u,
                            .y = (real *)out};
        add_lines(&plain, length * PARTS, 1);
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

/* n rows of one class of each of `lines` lines. */
static void add_rows(const rows *all, bool conjugated, int64_t n, int64_t lines)
{
    rows r = *all;
    (void)conjugated;
#if KERNEL_COMPLEX
    const bool single = r.g + 1 == r.end && !has_fields(r.g);
    if (!single || !r.g->is_real || r.f.alpha.im != 0 || r.f.beta.im != 0) {
        for (; lines > 0; lines--, next_lines(&r, 1))
            add_tiles(&r, conjugated, n);
        return;
    }
#endif
    if (r.g < r.end) {
        add_lines(&r, n * PARTS, lines);
        return;
    }
    for (; lines > 0; lines--, next_lines(&r, 1)) /* without terms */
        for (int64_t i = 0; i < n * PARTS; i++)
            one_number(1, &r, i);
}

/* n rows of lines from row i on, of one class along x, which are `done` rows behind z and y. */
static void add_part(const host_line *line, int64_t class, int64_t i, int64_t done, int64_t n,
                     rows r)
{
    r.g = r.s->groups + r.s->start[line->class + class];
    r.end = r.s->groups + r.s->start[line->class + class + 1];
    r.place = line->place + i;
    r.first = i;
    r.u = (const real *)line->u + i * PARTS;
    r.z += done * PARTS;
    r.y += done * PARTS;
    if (class != r.s->low && !KERNEL_COMPLEX && r.g < r.end)
        end_rows(&r, line->count);
    else
        add_rows(&r, line->conjugate, n, line->count);
}

/* The rows between the ends first: they go through memory in its order, so that what the ends need
 * has come when it is their turn. */
void X(stencil)(const host_stencil *s, const host_line *line, int64_t begin, int64_t end,
                spry_scalar a, spry_scalar b, const void *z, void *y)
{
    const int64_t last = s->columns - s->high;
    const int64_t from = begin > s->low ? begin : s->low, to = end < last ? end : last;
    rows r = {.s = s,
              .offsets = s->offsets,
              .coefficients = s->coefficients,
              .f = factors_of(a, b),
              .y = y};
    r.z = r.f.reads ? z : y; /* z where it is read, else something to count from */
    if (from < to)
        add_part(line, s->low, from, from - begin, to - from, r);
    for (int64_t i = begin; i < s->low && i < end; i++)
        add_part(line, i, i, i - begin, 1, r);
    for (int64_t i = begin > last ? begin : last; i < end; i++)
        add_part(line, s->low + 1 + i - last, i, i - begin, 1, r);
}
