/* Rows of triangular systems. What there is to do besides the sum is decided outside of the loops,
 * since rows are short. */
#include "host/kernels/sums.h"
#include "precon/kernels.h"

PRECON_KERNELS(KERNEL_DECLARE)

/* Takes a short row from the right-hand side, the neighbour that was solved last at the end: rows
 * that follow each other wait for that one product alone. */
ALWAYS_INLINE scalar take_few(const triangle_pass *p, int64_t begin, int64_t n, bool upper,
                              bool conjugated, scalar from)
{
    const scalar *values = (const scalar *)p->values + begin, *w = p->w;
    const int32_t *columns = p->columns + begin;
    for (int64_t k = 0; k < n; k++) {
        const int64_t at = upper ? n - 1 - k : k;
        const scalar v = conjugated ? conjugate(values[at]) : values[at];
        from = sub(from, mul(v, w[(uint32_t)columns[at]]));
    }
    return from;
}

ALWAYS_INLINE void solve_row(const triangle_pass *p, int64_t k, bool upper, bool conjugated,
                             bool scaled, bool gathers, bool scatters)
{
    enum { FEW = 8 };
    const scalar *in = p->in, *f = p->f;
    scalar *w = p->w, *out = p->out;
    const stored *values = p->values;
    const int64_t begin = p->offsets[k], end = p->offsets[k + 1];
    cursor at = {p->columns + begin, values + begin};
    scalar from = in[gathers ? p->in_rows[k] : k];
    if (scaled)
        from = mul(conjugated ? conjugate(f[k]) : f[k], from);
    if (end - begin <= FEW)
        from = take_few(p, begin, end - begin, upper, conjugated, from);
    else
        from = sub(from, sum_entries(&at, values + end, conjugated, w));
    w[k] = from;
    if (scatters)
        out[p->out_rows[k]] = from;
}

ALWAYS_INLINE void solve_rows(const triangle_pass *p, int64_t begin, int64_t end, bool conjugated,
                              bool scaled, bool gathers, bool scatters)
{
    if (p->upper)
        for (int64_t k = end - 1; k >= begin; k--)
            solve_row(p, k, true, conjugated, scaled, gathers, scatters);
    else
        for (int64_t k = begin; k < end; k++)
            solve_row(p, k, false, conjugated, scaled, gathers, scatters);
}

/* The four ways of factors that are applied, and all others. */
void X(triangle_rows)(const triangle_pass *p, int64_t begin, int64_t end)
{
    const bool conjugated = KERNEL_COMPLEX && p->conjugate;
    const bool scaled = p->f, gathers = p->in_rows, scatters = p->out;
    if (!conjugated && !scaled && gathers && !scatters)
        solve_rows(p, begin, end, false, false, true, false);
    else if (!conjugated && !scaled && !gathers && !scatters)
        solve_rows(p, begin, end, false, false, false, false);
    else if (!conjugated && scaled && !gathers && scatters)
        solve_rows(p, begin, end, false, true, false, true);
    else if (!conjugated && scaled && !gathers && !scatters)
        solve_rows(p, begin, end, false, true, false, false);
    else
        solve_rows(p, begin, end, conjugated, scaled, gathers, scatters);
}

void X(scale_entries)(int64_t n, spry_scalar f, const void *values, void *to)
{
    const scalar factor = from_scalar(f), *from = values;
    scalar *out = to;
    for (int64_t k = 0; k < n; k++)
        out[k] = mul(factor, from[k]);
}

void X(conjugate_entries)(int64_t n, const void *values, void *to)
{
    const scalar *from = values;
    scalar *out = to;
    for (int64_t k = 0; k < n; k++)
        out[k] = conjugate(from[k]);
}
