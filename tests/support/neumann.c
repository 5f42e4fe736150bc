/* Grids without a boundary condition but Neumann's. */
#include "support/neumann.h"

#include "matrix/matrix.h"

#include <complex.h>
#include <float.h>
#include <stdlib.h>

static int64_t size_of(const neumann_grid *g)
{
    return (int64_t)g->nx * g->ny * g->nz;
}

static double complex phase(const neumann_grid *g, int64_t i)
{
    return g->twisted ? cexp(I * 6.28 * base_uniform(9, (uint64_t)i)) : 1;
}

static bool first_half(const neumann_grid *g, int64_t i)
{
    return i % g->nx < g->nx / 2;
}

/* Of the edge to neighbour d (-z -y -x +x +y +z); 0: there is none. */
static double weight(const neumann_grid *g, int64_t i, int d, int64_t *j)
{
    const int64_t sizes[] = {g->nx, g->ny, g->nz}, steps[] = {1, g->nx, (int64_t)g->nx * g->ny};
    const int axis = d < 3 ? 2 - d : d - 3, way = d < 3 ? -1 : 1;
    const int64_t at = i / steps[axis] % sizes[axis] + way;
    *j = i + way * steps[axis];
    if (at < 0 || at >= sizes[axis] || (g->cut && first_half(g, i) != first_half(g, *j)))
        return 0;
    const int64_t low = *j < i ? *j : i;
    return (0.5 + base_uniform(4, (uint64_t)(3 * low + axis))) * (1 + way * g->wind);
}

spry_matrix *neumann_matrix(spry_context *ctx, spry_type type, const neumann_grid *g)
{
    const int64_t n = size_of(g);
    int64_t *offsets = malloc((size_t)(n + 1) * sizeof *offsets), k = 0, j;
    int32_t *columns = malloc((size_t)n * 7 * sizeof *columns);
    char *values = malloc((size_t)n * 7 * spry_type_size(type));
    assert_true(offsets && columns && values);
    for (int64_t i = 0; i < n; i++) {
        double sum = 0;
        int64_t diagonal = 0;
        offsets[i] = k;
        for (int d = 0; d < 6; d++) {
            if (d == 3) {
                diagonal = k;
                columns[k++] = (int32_t)i;
            }
            const double w = weight(g, i, d, &j);
            if (w == 0)
                continue;
            const double complex v = -w * phase(g, i) * conj(phase(g, j));
            sum += w;
            columns[k] = (int32_t)j;
            value_set(type, values, k++, (spry_scalar){creal(v), cimag(v)});
        }
        value_set(type, values, diagonal, (spry_scalar){sum, 0});
    }
    offsets[n] = k;
    return support_from_csr(ctx, type, n, n, offsets, columns, values);
}

spry_scalar neumann_null(const neumann_grid *g, int k, int64_t i)
{
    const double complex v = g->cut && first_half(g, i) != (k == 0) ? 0 : phase(g, i);
    return (spry_scalar){creal(v), cimag(v)};
}

spry_vector *neumann_rhs(spry_context *ctx, spry_type type, const neumann_grid *g, double share)
{
    const int64_t n = size_of(g);
    spry_vector *b = NULL;
    assert_ok(ctx, spry_vector_new(ctx, type, n, NULL, SPRY_OWN_COPY, &b));
    for (int64_t i = 0; i < n; i++) {
        const double re = base_uniform(1, (uint64_t)i) - 0.5,
                     im = base_uniform(2, (uint64_t)i) - 0.5;
        const double complex v = re + I * im + share * phase(g, i) * (first_half(g, i) ? 2 : 1);
        value_set(type, b->data, i, (spry_scalar){creal(v), cimag(v)});
    }
    return b;
}

typedef long double complex wide;

static wide get(const spry_vector *v, int64_t i)
{
    const spry_scalar s = value_get(v->type, v->data, i);
    return s.re + (wide)I * s.im;
}

/* v = v - q (q, v) / (q, q) for the null vectors; the moduli of the (q, v) / |q| squared. */
static long double remove_null(const neumann_grid *g, int count, wide *v)
{
    const int64_t n = size_of(g);
    long double all = 0;
    for (int k = 0; k < count; k++) {
        wide dot = 0;
        long double square = 0;
        for (int64_t i = 0; i < n; i++) {
            const spry_scalar q = neumann_null(g, k, i);
            dot += conjl(q.re + (wide)I * q.im) * v[i];
            square += (long double)q.re * q.re + (long double)q.im * q.im;
        }
        for (int64_t i = 0; i < n; i++) {
            const spry_scalar q = neumann_null(g, k, i);
            v[i] -= (q.re + (wide)I * q.im) * dot / square;
        }
        all += cabsl(dot) * cabsl(dot) / square;
    }
    return all;
}

static long double norm(const wide *v, int64_t n)
{
    long double sum = 0;
    for (int64_t i = 0; i < n; i++)
        sum += cabsl(v[i]) * cabsl(v[i]);
    return sqrtl(sum);
}

void neumann_check(const spry_matrix *A, const neumann_grid *g, int count, const spry_vector *b,
                   const spry_vector *x, double tol, double reported)
{
    const int64_t n = size_of(g);
    const long double eps = type_is_single(x->type) ? FLT_EPSILON : DBL_EPSILON;
    wide *r = calloc((size_t)n, sizeof *r), *v = calloc((size_t)n, sizeof *v);
    long double rounding = 0;
    assert_true(r && v);
    for (int64_t i = 0; i < n; i++)
        r[i] = get(b, i);
    const long double whole = norm(r, n);
    remove_null(g, count, r);
    const long double rest = norm(r, n);
    for (int64_t i = 0; i < n; i++) {
        v[i] = get(x, i);
        long double sizes = 0;
        for (int64_t k = A->a.offsets[i]; k < A->a.offsets[i + 1]; k++) {
            const spry_scalar a = value_get(A->a.type, A->a.values, k);
            const wide product = (a.re + (wide)I * a.im) * get(x, A->a.col_index[k]);
            r[i] -= product;
            sizes += cabsl(product);
        }
        rounding += 10 * eps * sizes * 10 * eps * sizes; /* 7 products and a difference */
    }
    /* b without its null vectors is itself known to n eps |b| in the worst case; sums go by chunks
     * and in pairs, for which 32 eps is ample */
    const long double slack = (sqrtl(rounding) + 32 * eps * whole) / rest;
    const long double residual = norm(r, n) / rest;
    if (!(residual <= tol + slack) || !(fabsl(residual - reported) <= slack))
        fail_msg("residual %Lg, reported %g, asked for %g, rounding %Lg", residual, reported, tol,
                 slack);
    const long double size = norm(v, n), part = sqrtl(remove_null(g, count, v));
    if (!(part <= (long double)n * eps * size))
        fail_msg("x has %Lg of its norm in the null space", part / size);
    free(r);
    free(v);
}
