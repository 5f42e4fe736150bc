/*
 * What multigrid on regular grids does with a line of points: relaxing every other one, going to
 * the line with half as many intervals, and back.
 */
#include "host/kernels/arithmetic.h"

/* (A u)_i without a_ii u_i, where u is not 0 (begins), and a_ii, of a row of one class. */
ALWAYS_INLINE void split_row(const host_stencil *s, const host_line *line, int64_t class, int64_t i,
                             bool begins, scalar *rest, scalar *diagonal)
{
    const scalar *u = (const scalar *)line->u + i;
    *rest = *diagonal = number(0);
    for (int64_t g = s->start[class]; g < s->start[class + 1]; g++) {
        const host_stencil_group *group = s->groups + g;
        const scalar *c = (const scalar *)s->coefficients + group->first;
        const int64_t *offset = s->offsets + group->first;
        scalar sum = number(0), own = number(0);
        for (int64_t k = 0; k < group->count; k++) {
            if (offset[k] == 0)
                own = add(own, c[k]);
            else if (!begins)
                sum = muladd(c[k], u[offset[k]], sum);
        }
        for (int f = 0; f < 3; f++)
            if (group->field[f] >= 0) {
                const scalar field =
                    ((const scalar *)s->fields[group->field[f]])[line->place + i + group->at[f]];
                sum = mul(field, sum);
                own = mul(field, own);
            }
        if (group->along >= 0) {
            const scalar by = ((const scalar *)s->along[group->along])[i];
            sum = mul(by, sum);
            own = mul(by, own);
        }
        *rest = add(*rest, sum);
        *diagonal = add(*diagonal, own);
    }
}

ALWAYS_INLINE void relax_row(const host_stencil *s, const host_line *line, int64_t class, int64_t i,
                             bool begins, real omega, const scalar *b, scalar *u)
{
    scalar rest = number(0), diagonal;
    split_row(s, line, class, i, begins, &rest, &diagonal);
    if (begins)
        u[i] = times(omega, mul(inverse(diagonal), b[i]));
    else
        u[i] = add(times(omega, mul(inverse(diagonal), sub(b[i], rest))), times(1 - omega, u[i]));
}

/* Rows of a class without fields, of which a_ii has no own loop: the usual one. */
static void relax_plain(const host_stencil *s, const host_stencil_group *g, bool begins,
                        int64_t first, int64_t last, real omega, const scalar *b, scalar *u)
{
    enum { MOST = 16 };
    const scalar *c = (const scalar *)s->coefficients + g->first;
    const int64_t *offset = s->offsets + g->first;
    scalar factor[MOST], own = number(0);
    int64_t at[MOST], count = 0;
    for (int64_t k = 0; k < g->count; k++) {
        if (offset[k] == 0) {
            own = c[k];
        } else {
            factor[count] = c[k];
            at[count++] = offset[k];
        }
    }
    const scalar scale = times(omega, inverse(own));
    if (begins) {
        for (int64_t i = first; i < last; i += 2)
            u[i] = mul(scale, b[i]);
        return;
    }
    for (int64_t k = 0; k < count; k++)
        factor[k] = mul(factor[k], sub(number(0), scale));
    if (count == 6) {
        for (int64_t i = first; i < last; i += 2) {
            scalar sum = muladd(scale, b[i], times(1 - omega, u[i]));
            sum = muladd(factor[0], u[i + at[0]], sum);
            sum = muladd(factor[1], u[i + at[1]], sum);
            scalar other = mul(factor[2], u[i + at[2]]);
            other = muladd(factor[3], u[i + at[3]], other);
            other = muladd(factor[4], u[i + at[4]], other);
            other = muladd(factor[5], u[i + at[5]], other);
            u[i] = add(sum, other);
        }
        return;
    }
    for (int64_t i = first; i < last; i += 2) {
        scalar sum = muladd(scale, b[i], times(1 - omega, u[i]));
        for (int64_t k = 0; k < count; k++)
            sum = muladd(factor[k], u[i + at[k]], sum);
        u[i] = sum;
    }
}

void X(relax)(const host_stencil *s, const host_line *line, int64_t first, bool begins,
              double omega, const void *right, void *solution)
{
    enum { MOST = 16 };
    const scalar *b = right;
    scalar *u = solution;
    const int64_t n = s->columns, last = n - s->high;
    const int64_t class = line->class + s->low;
    const host_stencil_group *g = s->groups + s->start[class];
    const bool plain = s->start[class + 1] == s->start[class] + 1 && g->count <= MOST &&
                       g->field[0] < 0 && g->field[1] < 0 && g->field[2] < 0 && g->along < 0;
    int64_t i = first;
    for (int64_t k = 1 - first; begins && k < n; k += 2)
        u[k] = number(0);
    for (; i < s->low && i < n; i += 2)
        relax_row(s, line, line->class + i, i, begins, (real)omega, b, u);
    if (plain && i < last) {
        relax_plain(s, g, begins, i, last, (real)omega, b, u);
        i += (last - i + 1) / 2 * 2;
    }
    for (; i < n; i += 2)
        relax_row(s, line, i < last ? class : class + 1 + i - last, i, begins, (real)omega, b, u);
}

void X(coarsen)(int64_t n, int64_t first, const void *fine, void *coarse)
{
    const scalar *from = (const scalar *)fine + first;
    scalar *to = coarse;
    for (int64_t j = 0; j < n; j++)
        to[j] = add(times((real)0.25, add(from[2 * j - 1], from[2 * j + 1])),
                    times((real)0.5, from[2 * j]));
}

void X(refine)(int64_t n, int64_t first, const void *coarse, void *fine)
{
    const scalar *from = coarse;
    scalar *to = fine;
    for (int64_t k = first; k < n; k += 2)
        to[k] = add(to[k], from[(k + first) / 2]);
    for (int64_t k = 1 - first; k < n; k += 2)
        to[k] = add(to[k], times((real)0.5, add(from[(k + first) / 2], from[(k + first) / 2 + 1])));
}
