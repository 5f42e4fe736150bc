/*
 * A sweep of the fixed-point iteration for incomplete factors (E. Chow, A. Patel, Fine-grained
 * parallel incomplete LU factorization, SIAM J. Sci. Comput. 37 (2015), C169-C193): every number
 * from those of the sweep before, v_ij = a_ij - sum over k < i, j of v_ik u_kj with v = l d below
 * the diagonal, d on it, and u = v / d above.
 */
#include "precon/kernels/kernel.h"

/* What is left of `from` when row i of L and column j of U are multiplied up to the diagonal. */
static scalar rest(const parilu_job *p, scalar from, int64_t i, int64_t j)
{
    const scalar *l = p->l_old, *u = p->u_old;
    int64_t a = p->l_offsets[i], b = p->u_offsets[j];
    const int64_t a_end = p->l_offsets[i + 1], b_end = p->u_offsets[j + 1], limit = i < j ? i : j;
    while (a < a_end && b < b_end) {
        const int32_t x = p->l_columns[a], y = p->u_rows[b];
        if (x >= limit || y >= limit)
            break;
        if (x == y)
            from = sub(from, mul(l[a], u[b]));
        a += x <= y;
        b += y <= x;
    }
    return from;
}

void X(parilu_rows)(const parilu_job *p, int64_t begin, int64_t end)
{
    const scalar *l_from = p->l_from, *u_from = p->u_from, *d_from = p->d_from;
    const scalar *inverses = p->inverse_old;
    scalar *l = p->l_new, *u = p->u_new, *to = p->inverse_new;
    for (int64_t i = begin; i < end; i++) {
        for (int64_t e = p->l_offsets[i]; e < p->l_offsets[i + 1]; e++)
            l[e] = rest(p, l_from[e], i, p->l_columns[e]);
        for (int64_t e = p->u_offsets[i]; e < p->u_offsets[i + 1]; e++) {
            const int32_t row = p->u_rows[e];
            u[e] = mul(rest(p, u_from[e], row, i), inverses[row]);
        }
        to[i] = inverse(rest(p, d_from[i], i, i));
    }
}

/* l = v / d; hermitian: the diagonal is real. Gives the first place where that is not possible. */
int64_t X(parilu_finish)(const parilu_job *p, int64_t n, bool hermitian)
{
    scalar *l = p->l_new, *to = p->inverse_new;
    const scalar *u = p->u_new;
    for (int64_t i = 0; i < n; i++) {
        bool fine = finite_number(to[i]) && !is_zero(to[i]);
        if (hermitian) {
            to[i] = inverse(number(real_of(inverse(to[i]))));
            fine = fine && finite_number(to[i]) && real_of(to[i]) > 0;
        }
        for (int64_t e = p->l_offsets[i]; e < p->l_offsets[i + 1]; e++) {
            l[e] = mul(l[e], to[p->l_columns[e]]);
            fine = fine && finite_number(l[e]);
        }
        for (int64_t e = p->u_offsets[i]; e < p->u_offsets[i + 1]; e++)
            fine = fine && finite_number(u[e]);
        if (!fine)
            return i;
    }
    return n;
}

void X(parilu_start)(const parilu_job *p, int64_t n)
{
    const scalar *l_from = p->l_from, *u_from = p->u_from, *d_from = p->d_from;
    scalar *l = p->l_new, *u = p->u_new, *to = p->inverse_new;
    for (int64_t i = 0; i < n; i++)
        to[i] = inverse(d_from[i]);
    for (int64_t e = 0; e < p->l_offsets[n]; e++)
        l[e] = l_from[e];
    for (int64_t e = 0; e < p->u_offsets[n]; e++)
        u[e] = mul(u_from[e], to[p->u_rows[e]]);
}

void X(shift_rows)(int64_t n, const int64_t *offsets, const void *values, const int32_t *rows,
                   double by, bool hermitian, void *d)
{
    const scalar *from = values;
    scalar *to = d;
    for (int64_t k = 0; k < n && by != 0; k++) {
        const int64_t i = rows ? rows[k] : k;
        real sum = 0;
        for (int64_t e = offsets[i]; e < offsets[i + 1]; e++)
            sum += size_of(from[e]);
        const real length = size_of(to[k]);
        to[k] = hermitian || length == 0 ? add(to[k], number((real)by * sum))
                                         : times(1 + (real)by * sum / length, to[k]);
    }
}
