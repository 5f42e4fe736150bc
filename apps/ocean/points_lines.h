/* points.knl on the host, by lines of points, for one order: ALPHA and LINES are given. */
#include "ocean/points.h"

#include <math.h>

typedef double scalar;
typedef ptrdiff_t offset;
#define SP_GLOBAL
#define SP_RESTRICT restrict
#define SP_INLINE static inline
#define SIZES const ocean_sizes *s, const int wide,
#define PASS s, wide,
#define WIDE wide
#define NX s->nx
#define NY s->ny
#define NZ s->nz
#define ROUND_X s->round_x
#define ROUND_Y s->round_y
#define ALL_Y s->all_y
#define FIRST_LINE s->first
#define CUT s->cut
#define OUT_FROM s->from
#define OUT_LINES (s->to - s->from)

/* all points have the same arguments, of which each uses some */
#pragma GCC diagnostic ignored "-Wunused-parameter"
#include "ocean/points.knl"

typedef void (*point_fn)(ARGUMENTS);

/* Points of a line that have all neighbours along x. Inlined with what is known where it is called,
 * so that the loop has no branches, and lanes can be filled. */
__attribute__((always_inline)) static inline void inner(point_fn point, const ocean_sizes *s,
                                                        int wide, int j, int k, int first, int last,
                                                        double t, int mode, const ocean_numbers *n)
{
    const ocean_sizes own = *s;
    const ocean_numbers v = *n;
    const line_place at = place_of(&own, wide, j, k);
#pragma omp simd
    for (int i = first; i < last; i++)
        point(&own, wide, at, i, j, k, 1, t, mode, v.a, v.b, v.c, v.e, v.tables, v.forcing, v.y);
}

/* Points of a line from one to another. */
__attribute__((always_inline)) static inline void line(point_fn point, const ocean_sizes *s,
                                                       int from, int to, int j, int k, double t,
                                                       int mode, const ocean_numbers *n)
{
    const int first = from < ALPHA ? (ALPHA < to ? ALPHA : to) : from;
    const int last = NX - ALPHA < first ? first : NX - ALPHA < to ? NX - ALPHA : to;
    const line_place at = place_of(s, ALL_Y > 1, j, k);
    for (int i = from < first ? from : last; i < to; i = i + 1 == first ? last : i + 1)
        point(s, ALL_Y > 1, at, i, j, k, 0, t, mode, n->a, n->b, n->c, n->e, n->tables, n->forcing,
              n->y);
    if (ALL_Y > 1)
        inner(point, s, 1, j, k, first, last, t, mode, n);
    else
        inner(point, s, 0, j, k, first, last, t, mode, n);
}

/* Some pieces of lines, each with all planes in turn: they read nearly the same numbers. */
__attribute__((always_inline)) static inline void pieces(point_fn point, const ocean_sizes *s,
                                                         ocean_planes planes, int from, int to,
                                                         double t, int mode, const ocean_numbers *n)
{
    const int across = ocean_pieces(NX);
    for (int piece = from; piece < to; piece++) {
        const int j = piece / across, begin = piece % across * OCEAN_PIECE;
        const int end = begin + OCEAN_PIECE < NX ? begin + OCEAN_PIECE : NX;
        for (int k = planes.from; k < planes.to; k++)
            for (int m = 0; m < planes.terms; m += OCEAN_TERMS)
                line(point, s, begin, end, j, k, t, mode + m, n);
    }
}

#define SWEEP_LINES(name)                                                                 \
    static void name##_lines(const ocean_sizes *s, ocean_planes planes, int from, int to, \
                             double t, int mode, const ocean_numbers *n)                  \
    {                                                                                     \
        pieces(name##_point, s, planes, from, to, t, mode, n);                            \
    }
OCEAN_SWEEPS(SWEEP_LINES)

#define SWEEP_ENTRY(name) name##_lines,
const ocean_lines_fn LINES[SWEEP_COUNT] = {OCEAN_SWEEPS(SWEEP_ENTRY)};
