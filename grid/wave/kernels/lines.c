/*
 * Fourier transforms of lines that lie side by side, by Stockham's method: a stage with radix r
 * takes numbers that are n / r apart and puts their sums next to each other, so that the last one
 * leaves all in order (C. Van Loan, Computational Frameworks for the Fast Fourier Transform, SIAM
 * 1992, section 1.7). Loops go over lines, and over numbers that have the same roots. Instances for
 * real types work on complex numbers of their precision, too.
 */
#include "grid/wave/kernels.h"
#include "host/kernels/kernel.h"

WAVE_KERNELS(KERNEL_DECLARE)

enum { LANES = WAVE_LINE_BYTES / sizeof(real) };

/* Some lines at once: as many as a register has. */
#if defined(__AVX512F__)
enum { WIDTH = 64 };
#elif defined(__AVX__)
enum { WIDTH = 32 };
#else
enum { WIDTH = 16 };
#endif
typedef real some __attribute__((vector_size(WIDTH), may_alias));
enum { SOME = WIDTH / sizeof(real) };

typedef struct pair {
    real re, im;
} pair;
typedef struct pairs {
    some re, im;
} pairs;

/* What a stage works on: m times s numbers, of which s have the same roots; those that are added up
 * are m s apart. */
typedef struct stage {
    int64_t m, s;
    const real *roots; /* r - 1 for each of m, behind those of a radix that is none of ours */
    const real *re, *im;
    real *to_re, *to_im;
} stage;

ALWAYS_INLINE pairs plus(pairs a, pairs b)
{
    return (pairs){a.re + b.re, a.im + b.im};
}
ALWAYS_INLINE pairs less(pairs a, pairs b)
{
    return (pairs){a.re - b.re, a.im - b.im};
}
/* -i a */
ALWAYS_INLINE pairs quarter(pairs a)
{
    return (pairs){a.im, -a.re};
}
ALWAYS_INLINE pairs scaled(real s, pairs a)
{
    return (pairs){s * a.re, s * a.im};
}
ALWAYS_INLINE pair product(pair a, pair b)
{
    return (pair){a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
}

ALWAYS_INLINE void sums_of_2(const pairs *a, pairs *b)
{
    b[0] = plus(a[0], a[1]);
    b[1] = less(a[0], a[1]);
}
ALWAYS_INLINE void sums_of_3(const pairs *a, pairs *b)
{
    const real half = (real)0.5, root = (real)0.86602540378443864676;
    const pairs sum = plus(a[1], a[2]), rest = less(a[0], scaled(half, sum));
    const pairs side = quarter(scaled(root, less(a[1], a[2])));
    b[0] = plus(a[0], sum);
    b[1] = plus(rest, side);
    b[2] = less(rest, side);
}
ALWAYS_INLINE void sums_of_4(const pairs *a, pairs *b)
{
    const pairs even = plus(a[0], a[2]), even_less = less(a[0], a[2]);
    const pairs odd = plus(a[1], a[3]), odd_less = quarter(less(a[1], a[3]));
    b[0] = plus(even, odd);
    b[1] = plus(even_less, odd_less);
    b[2] = less(even, odd);
    b[3] = less(even_less, odd_less);
}
ALWAYS_INLINE void sums_of_5(const pairs *a, pairs *b)
{
    const real c1 = (real)0.30901699437494742410, c2 = (real)-0.80901699437494742410;
    const real s1 = (real)0.95105651629515357212, s2 = (real)0.58778525229247312917;
    const pairs outer = plus(a[1], a[4]), inner = plus(a[2], a[3]);
    const pairs outer_less = less(a[1], a[4]), inner_less = less(a[2], a[3]);
    const pairs first = plus(a[0], plus(scaled(c1, outer), scaled(c2, inner)));
    const pairs second = plus(a[0], plus(scaled(c2, outer), scaled(c1, inner)));
    const pairs first_side = quarter(plus(scaled(s1, outer_less), scaled(s2, inner_less)));
    const pairs second_side = quarter(less(scaled(s2, outer_less), scaled(s1, inner_less)));
    b[0] = plus(a[0], plus(outer, inner));
    b[1] = plus(first, first_side);
    b[2] = plus(second, second_side);
    b[3] = less(second, second_side);
    b[4] = less(first, first_side);
}

/* Planes are aligned to lines of the cache, and all that is taken from them begins at a register's
 * width. */
ALWAYS_INLINE pairs take(const real *re, const real *im, int64_t at)
{
    return (pairs){*(const some *)(re + at), *(const some *)(im + at)};
}
ALWAYS_INLINE void give(pairs a, real *re, real *im, int64_t at)
{
    *(some *)(re + at) = a.re;
    *(some *)(im + at) = a.im;
}

/* A stage with one of our radices, a constant where it is called. */
ALWAYS_INLINE void run_stage(int radix, const stage *g, void (*sums)(const pairs *, pairs *))
{
    const int64_t s = g->s, apart = g->m * s;
    for (int64_t p = 0; p < g->m; p++) {
        const real *roots = g->roots + 2 * (radix - 1) * p;
        const real *re = g->re + s * p, *im = g->im + s * p;
        real *to_re = g->to_re + s * radix * p, *to_im = g->to_im + s * radix * p;
        for (int64_t q = 0; q < s; q += SOME) {
            pairs a[5], b[5];
            for (int j = 0; j < radix; j++)
                a[j] = take(re, im, q + apart * j);
            sums(a, b);
            give(b[0], to_re, to_im, q);
            for (int k = 1; k < radix; k++) {
                const real wr = roots[2 * k - 2], wi = roots[2 * k - 1];
                const pairs turned = {wr * b[k].re - wi * b[k].im, wr * b[k].im + wi * b[k].re};
                give(turned, to_re, to_im, q + s * k);
            }
        }
    }
}

/* One with any other: each sum by itself. */
static void run_other(int64_t radix, const stage *g)
{
    const int64_t s = g->s, apart = g->m * s;
    const real *unit = g->roots, *roots = g->roots + 2 * radix;
    for (int64_t p = 0; p < g->m; p++) {
        for (int64_t k = 0; k < radix; k++) {
            const pair w = k == 0 ? (pair){1, 0}
                                  : (pair){roots[2 * ((radix - 1) * p + k - 1)],
                                           roots[2 * ((radix - 1) * p + k - 1) + 1]};
            for (int64_t q = 0; q < s; q++) {
                pair sum = {0, 0};
                for (int64_t j = 0; j < radix; j++) {
                    const int64_t at = j * k % radix, from = s * p + q + apart * j;
                    const pair more = product((pair){unit[2 * at], unit[2 * at + 1]},
                                              (pair){g->re[from], g->im[from]});
                    sum = (pair){sum.re + more.re, sum.im + more.im};
                }
                sum = product(w, sum);
                g->to_re[s * (radix * p + k) + q] = sum.re;
                g->to_im[s * (radix * p + k) + q] = sum.im;
            }
        }
    }
}

int X(transform)(const wave_side *side, int pair_of, void *memory)
{
    real *planes = memory;
    const int64_t plane = side->n * LANES;
    stage g = {.m = side->n, .s = LANES};
    for (int i = 0; i < side->stages; i++) {
        const int64_t radix = side->radix[i];
        real *from = planes + 2 * plane * pair_of, *to = planes + 2 * plane * (1 - pair_of);
        g.m /= radix;
        g.roots = (const real *)side->roots + side->roots_at[i];
        g.re = from;
        g.im = from + plane;
        g.to_re = to;
        g.to_im = to + plane;
        if (radix == 2)
            run_stage(2, &g, sums_of_2);
        else if (radix == 3)
            run_stage(3, &g, sums_of_3);
        else if (radix == 4)
            run_stage(4, &g, sums_of_4);
        else if (radix == 5)
            run_stage(5, &g, sums_of_5);
        else
            run_other(radix, &g);
        g.s *= radix;
        pair_of = 1 - pair_of;
    }
    return pair_of;
}

void X(load)(const wave_lines *lines, const void *x, const void *factor, bool turned, void *memory)
{
    const pair *from = x, *times = factor;
    real *planes = memory;
    const int64_t plane = lines->n * LANES;
    real *re = planes + (turned ? plane : 0), *im = planes + (turned ? 0 : plane);
    for (int64_t i = 0; i < lines->n; i++) {
        for (int k = 0; k < lines->count; k++) {
            const int64_t at = i * lines->point + k * lines->line;
            const pair value = times ? product(times[at], from[at]) : from[at];
            re[i * LANES + k] = value.re;
            im[i * LANES + k] = value.im;
        }
        for (int k = lines->count; k < LANES; k++)
            re[i * LANES + k] = im[i * LANES + k] = 0;
    }
}

void X(green)(int64_t n, const wave_green *g, void *memory)
{
    real *restrict re = memory, *restrict im = re + n * LANES;
    const real *along = g->along, *across = g->across;
    const real epsilon = (real)g->epsilon, scale = (real)g->scale, base = (real)g->base;
    real rest[LANES];
    for (int k = 0; k < LANES; k++)
        rest[k] = across ? across[k] + base : base;
    for (int64_t i = 0; i < n; i++) {
        for (int k = 0; k < LANES; k++) {
            const real q = along[i] + rest[k], size = scale / (q * q + epsilon * epsilon);
            re[i * LANES + k] = q * size;
            im[i * LANES + k] = epsilon * size;
        }
    }
}

void X(times)(int64_t n, const void *G, int pair_of, void *memory)
{
    const int64_t plane = n * LANES;
    const real *restrict g_re = G, *restrict g_im = g_re + plane;
    real *restrict re = (real *)memory + 2 * plane * pair_of, *restrict im = re + plane;
    for (int64_t i = 0; i < plane; i++) {
        const pair value = product((pair){g_re[i], g_im[i]}, (pair){re[i], im[i]});
        re[i] = value.im;
        im[i] = value.re;
    }
}

void X(store)(const wave_lines *lines, double scale, const void *factor, const void *minus,
              bool turned, int pair_of, const void *memory, void *to)
{
    const pair *times = factor, *from = minus;
    pair *out = to;
    const int64_t plane = lines->n * LANES;
    const real *planes = (const real *)memory + 2 * plane * pair_of;
    const real *re = planes + (turned ? plane : 0), *im = planes + (turned ? 0 : plane);
    for (int64_t i = 0; i < lines->n; i++) {
        for (int k = 0; k < lines->count; k++) {
            const int64_t at = i * lines->point + k * lines->line;
            const pair value = {(real)scale * re[i * LANES + k], (real)scale * im[i * LANES + k]};
            out[at] =
                times ? product(times[at], (pair){from[at].re - value.re, from[at].im - value.im})
                      : value;
        }
    }
}

#define ENTRY(result, name, arguments) .name = X(name),
extern const wave_kernels X(wave_table);
const wave_kernels X(wave_table) = {WAVE_KERNELS(ENTRY)};
