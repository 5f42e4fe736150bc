/* Host kernels of Fourier transforms, by type and ISA level: kernels/lines.c. */
#ifndef SPRY_WAVE_KERNELS_H
#define SPRY_WAVE_KERNELS_H

#include "base/base.h"

/*
 * Some lines side by side, as many as a line of the cache has reals, in two pairs of planes: real
 * parts and imaginary parts, point after point and the lines of a point together. A stage of a
 * transform goes from one pair to the other.
 */
enum { WAVE_LINE_BYTES = 64, WAVE_STAGES = 64 };
static inline int wave_lanes(spry_type type)
{
    return WAVE_LINE_BYTES / (type == SPRY_TYPE_S || type == SPRY_TYPE_C ? 4 : 8);
}

/* The transform of one length: its factors, and for each stage the roots of unity it takes. */
typedef struct wave_side {
    int64_t n;
    int stages;
    int64_t radix[WAVE_STAGES];
    int64_t roots_at[WAVE_STAGES]; /* the first number of a stage among `roots` */
    int64_t roots_count;
    void *roots; /* reals, in pairs */
} wave_side;

/* Lines in an array of complex numbers. */
typedef struct wave_lines {
    int64_t n;           /* points of each */
    int count;           /* lines, at most as many as lie side by side; the others are 0 */
    int64_t point, line; /* from a point of a line to the next, and from a line to the next */
} wave_lines;

/* What G does: 1 / (p^2 - k0^2 - i eps), times a scale, where p^2 - k0^2 of a point is along[i] +
 * across[line] + base. */
typedef struct wave_green {
    const void *along, *across; /* reals; across may be NULL: 0 */
    double base, epsilon, scale;
} wave_green;

/* clang-format off */
/*
 * item(result, name, arguments). `turned` swaps real and imaginary parts, which makes a transform
 * its inverse.
 *
 * load       planes of the first pair = x, times factor element by element unless that is NULL
 * transform  all stages, beginning in a pair of planes (0 or 1); which pair it ended in
 * green      two planes = G of the lines of a block
 * times      a pair of planes = G times that pair, turned
 * store      to = scale times the planes of a pair; or factor (minus - that) where these are not NULL
 */
#define WAVE_KERNELS(item) \
    item(void, load,      (const wave_lines *lines, const void *x, const void *factor, bool turned, \
                           void *planes)) \
    item(int,  transform, (const wave_side *side, int pair, void *planes)) \
    item(void, green,     (int64_t n, const wave_green *g, void *G)) \
    item(void, times,     (int64_t n, const void *G, int pair, void *planes)) \
    item(void, store,     (const wave_lines *lines, double scale, const void *factor, \
                           const void *minus, bool turned, int pair, const void *planes, void *to))
/* clang-format on */

#define WAVE_KERNEL_MEMBER(result, name, arguments) result(*name) arguments;
typedef struct wave_kernels {
    WAVE_KERNELS(WAVE_KERNEL_MEMBER)
} wave_kernels;

/* The kernels of a type for the context's ISA level. */
const wave_kernels *wave_kernels_for(const spry_context *ctx, spry_type type);

#endif
