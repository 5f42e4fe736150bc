/* points.knl on the host, by lines of points, for one order: ALPHA and LINES are given. */
#include "ocean/points.h"

#include <math.h>

typedef double scalar;
typedef ptrdiff_t offset;
#define SP_GLOBAL
#define SP_RESTRICT restrict
#define SP_INLINE static inline
#define SIZES const ocean_sizes *s,
#define PASS s,
#define NX s->nx
#define NY s->ny
#define NZ s->nz
#define ROUND_X s->round_x
#define ROUND_Y s->round_y

/* all points have the same arguments, of which each uses some */
#pragma GCC diagnostic ignored "-Wunused-parameter"
#include "ocean/points.knl"

typedef void (*point_fn)(ARGUMENTS);

/* Some lines of points. Inlined with the point it is called with: the loops must see it. */
__attribute__((always_inline)) static inline void lines(point_fn point, const ocean_sizes *s,
                                                        int from, int to, double t, int mode,
                                                        const ocean_numbers *n)
{
    const int first = ALPHA < NX ? ALPHA : NX, last = NX - ALPHA > first ? NX - ALPHA : first;
    for (int l = from; l < to; l++) {
        const int j = l % NY, k = l / NY;
        for (int i = 0; i < first; i++)
            point(s, i, j, k, 0, t, mode, n->a, n->b, n->c, n->e, n->tables, n->forcing, n->y);
        for (int i = first; i < last; i++)
            point(s, i, j, k, 1, t, mode, n->a, n->b, n->c, n->e, n->tables, n->forcing, n->y);
        for (int i = last; i < NX; i++)
            point(s, i, j, k, 0, t, mode, n->a, n->b, n->c, n->e, n->tables, n->forcing, n->y);
    }
}

#define SWEEP_LINES(name)                                                                \
    static void name##_lines(const ocean_sizes *s, int from, int to, double t, int mode, \
                             const ocean_numbers *n)                                     \
    {                                                                                    \
        lines(name##_point, s, from, to, t, mode, n);                                    \
    }
OCEAN_SWEEPS(SWEEP_LINES)

#define SWEEP_ENTRY(name) name##_lines,
const ocean_lines_fn LINES[SWEEP_COUNT] = {OCEAN_SWEEPS(SWEEP_ENTRY)};
