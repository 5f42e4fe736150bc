/*
 * Rows of a factorised approximate inverse, several at once: with the vectors of problem k as
 * columns, which for hermitian B make conj(B(J, J)) = L L^H, the row is x = L^-H e_k, because k is
 * the last in J.
 */
#include "precon/kernels/gather.h"

int64_t X(local_roots)(int64_t begin, int64_t end, const int64_t *at, const int32_t *columns,
                       const void *values, void *scale)
{
    const scalar *a = values;
    real *to = scale;
    int64_t bad = end;
    for (int64_t i = end - 1; i >= begin; i--) {
        real diagonal = 0;
        int exponent = 0;
        for (int64_t k = at[i]; k < at[i + 1]; k++)
            if (columns[k] == i)
                diagonal = real_of(a[k]);
        frexp((double)diagonal, &exponent);
        to[i] = (real)ldexp(1, -exponent / 2);
        if (!(diagonal > 0))
            bad = i;
    }
    return bad;
}

/* Puts the lower triangle of problem k into its lane, with its diagonal raised. */
static void put_triangle(const local_problems *p, int64_t k, const shape *s, const gather *g,
                         int lane)
{
    const scalar *values = p->values;
    const real *scale = p->scale, raise = (real)(1 + p->shift);
    const int32_t *J = p->pattern + p->pattern_at[k], *places = s->places;
    const int64_t cols = p->pattern_at[k + 1] - p->pattern_at[k];
    int64_t at = 0;
    for (int64_t j = 0; j < cols; j++) {
        wide *to = g->a + j * g->ld;
        const int64_t end = p->at[J[j] + 1];
        for (int64_t e = p->at[J[j]]; e < end; e++, at++) {
            const real f = scale[J[j]] * scale[p->columns[e]] * (places[at] == j ? raise : 1);
            if (places[at] >= j)
                wide_set(to + places[at], lane, times(f, values[e]));
        }
    }
}

/* L in place; g->x gets the inverses of its diagonal. Gives lanes that are not definite, as bits.
 */
static unsigned factor(const gather *g, int64_t cols)
{
    unsigned indefinite = 0;
    for (int64_t j = 0; j < cols; j++) {
        wide *v = g->a + j * g->ld;
        reals inverse = {0};
        for (int l = 0; l < WIDE; l++) {
            const real d = real_of(wide_get(v + j, l));
            /* diagonals were brought to [1/2, 2) */
            const bool fine = d > (real)(4 * UNIT) * (real)cols;
            indefinite |= (unsigned)!fine << l;
            *lane_of(&inverse, l) = fine ? 1 / (real)sqrt((double)d) : 0;
        }
        g->x[j] = (wide){.re = inverse};
        for (int64_t i = j + 1; i < cols; i++)
            wide_scale(v + i, &inverse);
        for (int64_t c = j + 1; c < cols; c++) {
            wide *a = g->a + c * g->ld;
            const wide f = v[c];
            for (int64_t i = c; i < cols; i++)
                wide_less_conj(a + i, v + i, &f);
        }
    }
    return indefinite;
}

/* g->x = L^-H e, with e the last one. */
static void solve_back(const gather *g, int64_t cols)
{
    for (int64_t j = cols - 2; j >= 0; j--) {
        const wide *v = g->a + j * g->ld;
        wide sum = {0};
        for (int64_t i = j + 1; i < cols; i++)
            wide_dot(&sum, v + i, g->x + i);
        const reals inverse = g->x[j].re;
        g->x[j] = (wide){0};
        wide_scale(&sum, &inverse);
        EACH_PART g->x[j].re.part[h] -= sum.re.part[h];
#if KERNEL_COMPLEX
        EACH_PART g->x[j].im.part[h] -= sum.im.part[h];
#endif
    }
}

/* Takes problems in and solves them; gives lanes that are not definite. */
static unsigned solve(const local_problems *p, const int32_t *list, int count, int64_t cols,
                      gather *g)
{
    for (int64_t j = 0; j < cols; j++)
        memset(g->a + j * g->ld + j, 0, (size_t)(cols - j) * sizeof *g->a);
    for (int l = 0; l < count; l++)
        put_triangle(p, list[l], gather_shape(p, list[l], g), g, l);
    const unsigned indefinite = factor(g, cols);
    solve_back(g, cols);
    return indefinite;
}

local_outcome X(local_factors)(const local_problems *p, const local_size *most, const int32_t *list,
                               int64_t count, void *room)
{
    const real *scale = p->scale;
    gather g;
    local_outcome outcome = {0, -1};
    gather_cut(most, room, &g);
    for (int64_t first = 0; first < count; first += WIDE) {
        const int64_t cols = p->pattern_at[list[first] + 1] - p->pattern_at[list[first]];
        const int lanes_used = count - first < WIDE ? (int)(count - first) : (int)WIDE;
        const unsigned indefinite = solve(p, list + first, lanes_used, cols, &g);
        for (int l = 0; l < lanes_used; l++) {
            const int64_t k = list[first + l];
            scalar *x = (scalar *)p->x + p->pattern_at[k];
            bool fine = !(indefinite >> l & 1);
            for (int64_t j = 0; j < cols; j++) {
                x[j] = times(scale[p->pattern[p->pattern_at[k] + j]], wide_get(g.x + j, l));
                fine = fine && finite_number(x[j]);
            }
            if (!fine && (outcome.bad < 0 || k < outcome.bad))
                outcome.bad = k;
        }
    }
    return outcome;
}
