/* Factors in long double. */
#include "support/factored.h"

#include "support/generated.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef factored_number number;

static number number_at(spry_type type, const void *values, int64_t k)
{
    const spry_scalar v = value_get(type, values, k);
    return (long double)v.re + I * (long double)v.im;
}

static int64_t row_at(const triangle_sets *s, int64_t place)
{
    return s->rows ? s->rows[place] : place;
}

static void write_triangle(const triangle *t, int64_t n, number *to, bool *has)
{
    for (int64_t k = 0; k < n; k++)
        for (int64_t e = t->offsets[k]; e < t->offsets[k + 1]; e++) {
            const int64_t at = row_at(t->sets, k) * n + row_at(t->sets, t->columns[e]);
            assert_true(t->upper ? t->columns[e] > k : t->columns[e] < k);
            assert_false(has[at]);
            assert_true(e == t->offsets[k] || t->columns[e] > t->columns[e - 1]);
            has[at] = true;
            to[at] = number_at(t->type, t->values, e);
        }
}

const factors *factors_of(const spry_operator *M)
{
    return strcmp(M->class->name, "factors") == 0 ? M->state : NULL;
}

factored factored_of(const spry_matrix *A, const spry_operator *M)
{
    const factors *from = factors_of(M);
    const int64_t n = A->a.rows;
    const size_t all = (size_t)(n * n) + 1;
    assert_non_null(from);
    factored f = {.n = n, .type = A->a.type};
    f.stored = calloc(all, sizeof *f.stored);
    f.has = calloc(all, sizeof *f.has);
    f.A = calloc(all, sizeof *f.A);
    f.lower = calloc(all, sizeof *f.lower);
    f.upper = calloc(all, sizeof *f.upper);
    f.d = calloc((size_t)n + 1, sizeof *f.d);
    f.order = calloc((size_t)n + 1, sizeof *f.order);
    for (int64_t i = 0; i < n; i++)
        for (int64_t e = A->a.offsets[i]; e < A->a.offsets[i + 1]; e++) {
            f.stored[i * n + A->a.col_index[e]] = true;
            f.A[i * n + A->a.col_index[e]] = number_at(A->a.type, A->a.values, e);
        }
    write_triangle(&from->chain.t[0], n, f.lower, f.has);
    write_triangle(&from->chain.t[1], n, f.upper, f.has);
    for (int64_t k = 0; k < n; k++) {
        f.order[k] = row_at(&from->sets, k);
        f.has[f.order[k] * n + f.order[k]] = true;
        f.d[f.order[k]] = 1 / number_at(f.type, from->chain.f[1], k);
    }
    return f;
}

void factored_free(factored *f)
{
    free(f->stored);
    free(f->has);
    free(f->A);
    free(f->lower);
    free(f->upper);
    free(f->d);
    free(f->order);
}

/* Entry (i, j) of (I + L) D (I + U); *size: the sum of the magnitudes of its terms, *terms: their
 * number. */
static number product_at(const factored *f, int64_t i, int64_t j, long double *size, int *terms)
{
    number sum = 0;
    *size = 0;
    *terms = 0;
    for (int64_t k = 0; k < f->n; k++) {
        const number l = k == i ? 1 : f->lower[i * f->n + k];
        const number u = k == j ? 1 : f->upper[k * f->n + j];
        const number term = l * f->d[k] * u;
        sum += term;
        *size += cabsl(term);
        *terms += term != 0;
    }
    return sum;
}

/*
 * a_ij less the sum of v_ik u_kj, where a product of complex numbers is off by at most 3 units of
 * its magnitude and each sum by one; the last term is a number that was divided by the pivot, the
 * inverse of which is off by at most 8 units (Smith's), or the pivot itself, which is known by its
 * inverse. The same for the shift, which is made of a sum over the row.
 */
static long double unit_bound(const factored *f, int terms, long double size)
{
    return (4 * (long double)terms + 24) * (long double)numeric_unit(f->type) * size;
}

static long double row_size(const factored *f, int64_t i)
{
    long double size = 0;
    for (int64_t j = 0; j < f->n; j++)
        size += fabsl(creall(f->A[i * f->n + j])) + fabsl(cimagl(f->A[i * f->n + j]));
    return size;
}

void factored_check_product(const factored *f, bool everywhere, double shift, const char *what)
{
    for (int64_t i = 0; i < f->n; i++)
        for (int64_t j = 0; j < f->n; j++) {
            long double size;
            int terms;
            number a = f->A[i * f->n + j];
            if (!everywhere && !f->has[i * f->n + j])
                continue;
            if (i == j && shift > 0) /* along the diagonal entry, which is not zero here */
                a += (long double)shift * row_size(f, i) * a / cabsl(a);
            const number p = product_at(f, i, j, &size, &terms);
            const long double bound =
                unit_bound(f, terms + (shift > 0 ? (int)f->n : 0), size + cabsl(a));
            if (!(cabsl(p - a) <= bound))
                fail_msg("%s, type %s: (L D U)(%lld, %lld) is off by %Lg, allowed %Lg", what,
                         spry_type_name(f->type), (long long)i, (long long)j, cabsl(p - a), bound);
        }
}

void factored_check_row_sums(const factored *f, const char *what)
{
    for (int64_t i = 0; i < f->n; i++) {
        long double size = 0;
        number off = 0;
        int terms = 0;
        for (int64_t j = 0; j < f->n; j++) {
            long double own;
            int count;
            off += product_at(f, i, j, &own, &count) - f->A[i * f->n + j];
            size += own + cabsl(f->A[i * f->n + j]);
            terms += count;
        }
        const long double bound = unit_bound(f, terms, size);
        if (!(cabsl(off) <= bound))
            fail_msg("%s, type %s: the sum of row %lld is off by %Lg, allowed %Lg", what,
                     spry_type_name(f->type), (long long)i, cabsl(off), bound);
    }
}

/* y = op(I + T) x, and the same with magnitudes alone. */
static void multiply(const factored *f, const number *T, spry_transpose op, const number *x,
                     const long double *size, number *y, long double *y_size)
{
    for (int64_t i = 0; i < f->n; i++) {
        y[i] = x[i];
        y_size[i] = size[i];
        for (int64_t j = 0; j < f->n; j++) {
            const number t = op == SPRY_TRANSPOSE_NO ? T[i * f->n + j] : T[j * f->n + i];
            y[i] += (op == SPRY_TRANSPOSE_CONJUGATE ? conjl(t) : t) * x[j];
            y_size[i] += cabsl(t) * size[j];
        }
    }
}

void factored_check_solve(const factored *f, const spry_operator *M, spry_transpose op,
                          const char *what)
{
    const int64_t n = f->n;
    void *r = numeric_array(f->type, n, 1, 11), *z = numeric_array(f->type, n, 1, 12);
    number *x = calloc((size_t)n + 1, sizeof *x), *y = calloc((size_t)n + 1, sizeof *y);
    long double *xs = calloc((size_t)n + 1, sizeof *xs), *ys = calloc((size_t)n + 1, sizeof *ys);
    assert_ok(M->ctx, M->class->multiply(M, op, (spry_scalar){1, 0}, r, (spry_scalar){0, 0}, z));
    for (int64_t i = 0; i < n; i++) {
        x[i] = number_at(f->type, z, i);
        xs[i] = cabsl(x[i]);
    }
    multiply(f, op == SPRY_TRANSPOSE_NO ? f->upper : f->lower, op, x, xs, y, ys);
    for (int64_t i = 0; i < n; i++) {
        y[i] *= op == SPRY_TRANSPOSE_CONJUGATE ? conjl(f->d[i]) : f->d[i];
        ys[i] *= cabsl(f->d[i]);
    }
    multiply(f, op == SPRY_TRANSPOSE_NO ? f->lower : f->upper, op, y, ys, x, xs);
    for (int64_t i = 0; i < n; i++) {
        /* two solves, each with a row of at most n terms, and the factor between them */
        const number off = x[i] - number_at(f->type, r, i);
        const long double bound = 3 * unit_bound(f, (int)n, xs[i]);
        if (!(cabsl(off) <= bound))
            fail_msg("%s, type %s: row %lld of op %d is off by %Lg, allowed %Lg", what,
                     spry_type_name(f->type), (long long)i, (int)op, cabsl(off), bound);
    }
    numeric_free(f->type, r, 1);
    numeric_free(f->type, z, 1);
    free(x);
    free(y);
    free(xs);
    free(ys);
}

spry_matrix *factored_unsymmetric(spry_context *ctx, spry_type type, int size)
{
    spry_matrix *A = generated_as(ctx, type, "random", "size=%d per-row=%d dominance=2 seed=3",
                                  size, size < 8 ? 2 : 5);
    generated_turn(A, 0, (spry_scalar){0.6, 0.8});
    return A;
}

spry_matrix *factored_hermitian(spry_context *ctx, spry_type type, int size)
{
    spry_matrix *A = generated_as(ctx, type, "poisson2d", "size=%d", size);
    generated_turn(A, 1, (spry_scalar){1, 0});
    return A;
}

void factored_check_residual(const spry_matrix *A, spry_transpose op, const void *r, const void *x,
                             double growth, const char *what)
{
    const spry_type type = A->a.type;
    const int64_t n = A->a.rows;
    spry_scalar *z = calloc((size_t)n, sizeof *z), *back = calloc((size_t)n, sizeof *back);
    double *sums = calloc((size_t)n, sizeof *sums), norm = 0, most = 0, worst = 0;
    for (int64_t i = 0; i < n; i++) {
        for (int64_t k = A->a.offsets[i]; k < A->a.offsets[i + 1]; k++)
            sums[op == SPRY_TRANSPOSE_NO ? i : A->a.col_index[k]] +=
                (double)numeric_size(value_get(type, A->a.values, k));
        z[i] = value_get(type, x, i);
        most = fmax(most, (double)numeric_size(z[i]));
    }
    for (int64_t i = 0; i < n; i++)
        norm = fmax(norm, sums[i]);
    support_multiply(A, op, z, back);
    for (int64_t i = 0; i < n; i++) {
        const spry_scalar v = value_get(type, r, i);
        worst = fmax(worst, hypot(v.re - back[i].re, v.im - back[i].im));
    }
    const double allowed = growth * (double)n * numeric_unit(type) * norm * most;
    if (!(worst <= allowed))
        fail_msg("%s, type %s, product %d: residual %g, allowed %g", what, spry_type_name(type), op,
                 worst, allowed);
    free(sums);
    free(z);
    free(back);
}
