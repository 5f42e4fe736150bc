#include "support/transforms.h"

#include "support/numeric.h"

#include <math.h>
#include <stdlib.h>

typedef struct wide_pair {
    long double re, im;
} wide_pair;

double transforms_bound(spry_type type, const int n[3])
{
    double sum = 2;
    for (int a = 0; a < 3; a++)
        for (int left = n[a], r = 2; left > 1; r++)
            for (; left % r == 0; left /= r)
                sum += (r + 2) * sqrt(r) + 4;
    return sum * numeric_unit(type);
}

/* In place along one axis: `inner` numbers lie between the points of a line. */
static void sum_lines(wide_pair *x, int64_t count, int n, int64_t inner, int sign)
{
    wide_pair *line = malloc((size_t)n * sizeof *line), *root = malloc((size_t)n * sizeof *root);
    assert_non_null(line);
    assert_non_null(root);
    for (int j = 0; j < n; j++) {
        const long double turn =
            sign * 2 * 3.14159265358979323846264338327950288L * (long double)j / (long double)n;
        root[j] = (wide_pair){cosl(turn), sinl(turn)};
    }
    for (int64_t l = 0; l < count / n; l++) {
        wide_pair *from = x + l / inner * inner * n + l % inner;
        for (int q = 0; q < n; q++) {
            line[q] = (wide_pair){0, 0};
            for (int j = 0; j < n; j++) {
                const wide_pair w = root[(int64_t)q * j % n], v = from[j * inner];
                line[q].re += w.re * v.re - w.im * v.im;
                line[q].im += w.re * v.im + w.im * v.re;
            }
        }
        for (int q = 0; q < n; q++)
            from[q * inner] =
                (wide_pair){line[q].re / sqrtl((long double)n), line[q].im / sqrtl((long double)n)};
    }
    free(line);
    free(root);
}

/* |y - sum of x| / |x| */
static double distance(const spry_vector *x, const spry_vector *y, const int n[3], int sign)
{
    wide_pair *sums = malloc((size_t)x->n * sizeof *sums);
    long double size = 0, off = 0;
    int64_t inner = 1;
    assert_non_null(sums);
    for (int64_t i = 0; i < x->n; i++) {
        const spry_scalar v = value_get(x->type, x->data, i);
        sums[i] = (wide_pair){(long double)v.re, (long double)v.im};
        size += sums[i].re * sums[i].re + sums[i].im * sums[i].im;
    }
    for (int a = 0; a < 3; inner *= n[a++])
        sum_lines(sums, x->n, n[a], inner, sign);
    for (int64_t i = 0; i < x->n; i++) {
        const spry_scalar v = value_get(y->type, y->data, i);
        const long double re = (long double)v.re - sums[i].re, im = (long double)v.im - sums[i].im;
        off += re * re + im * im;
    }
    free(sums);
    return (double)sqrtl(off / size);
}

void transforms_check(const spry_operator *F, const int n[3])
{
    static const int signs[] = {-1, -1, 1}; /* F, F^T, F^H */
    spry_context *ctx = F->ctx;
    const double bound = transforms_bound(F->type, n);
    spry_vector *x = numeric_random(ctx, NULL, F->type, F->rows, (uint64_t)F->rows);
    spry_vector *y = numeric_random(ctx, NULL, F->type, F->rows, 0);
    assert_int_equal(F->rows, (int64_t)n[0] * n[1] * n[2]);
    for (int op = SPRY_TRANSPOSE_NO; op <= SPRY_TRANSPOSE_CONJUGATE; op++) {
        assert_ok(ctx, spry_operator_multiply(F, (spry_transpose)op, (spry_scalar){1, 0}, x,
                                              (spry_scalar){0, 0}, y));
        const double off = distance(x, y, n, signs[op]);
        if (!(off <= bound))
            fail_msg("%dx%dx%d, type %s, product %d: off by %g, bound %g", n[0], n[1], n[2],
                     spry_type_name(F->type), op, off, bound);
    }
    spry_vector_free(x);
    spry_vector_free(y);
}
