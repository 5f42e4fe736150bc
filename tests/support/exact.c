#include "support/exact.h"

#include "support/generated.h"

#include <math.h>
#include <stdlib.h>

static const spry_scalar one = {1, 0}, zero = {0, 0};

spry_matrix *exact_matrix(spry_context *ctx, spry_type type, bool hermitian, int size)
{
    spry_matrix *A =
        hermitian ? generated_as(ctx, type, "poisson2d", "size=%d", size)
                  : generated_as(ctx, type, "convection-diffusion", "size=%d peclet=3", size);
    generated_turn(A, 0.7, hermitian ? one : (spry_scalar){0.6, 0.8});
    return A;
}

spry_matrix *exact_shifted(spry_context *ctx, spry_type type, int size, double shift)
{
    spry_matrix *A = exact_matrix(ctx, type, true, size);
    for (int64_t i = 0; i < A->a.rows; i++)
        for (int64_t k = A->a.offsets[i]; k < A->a.offsets[i + 1]; k++)
            if (A->a.col_index[k] == i) {
                const spry_scalar v = value_get(type, A->a.values, k);
                support_put(A, k, (spry_scalar){v.re - shift, v.im});
            }
    return A;
}

spry_matrix *exact_neumann(spry_context *ctx, spry_type type, int size)
{
    spry_matrix *A = exact_matrix(ctx, type, true, size);
    for (int64_t i = 0; i < A->a.rows; i++) {
        double sum = 0;
        int64_t at = 0;
        for (int64_t k = A->a.offsets[i]; k < A->a.offsets[i + 1]; k++)
            if (A->a.col_index[k] == i)
                at = k;
            else {
                const spry_scalar v = value_get(type, A->a.values, k);
                sum += hypot(v.re, v.im);
            }
        support_put(A, at, (spry_scalar){nearbyint(sum), 0});
    }
    return A;
}

void exact_check(spry_context *ctx, const spry_matrix *A, const spry_operator *M, spry_transpose op,
                 double growth, const char *what)
{
    const spry_type type = A->a.type;
    const int64_t n = A->a.rows;
    spry_scalar *found = malloc((size_t)n * sizeof *found),
                *back = malloc((size_t)n * sizeof *back);
    void *r = numeric_array(type, n, 0, 5), *z = numeric_array(type, n, 0, 6);
    spry_vector *vr = numeric_vector(ctx, type, n, r), *vz = numeric_vector(ctx, type, n, z);
    assert_ok(ctx, spry_operator_multiply(M, op, one, vr, zero, vz));
    double norm = 0, most = 0, worst = 0;
    for (int64_t i = 0; i < n; i++) {
        double sum = 0;
        for (int64_t k = A->a.offsets[i]; k < A->a.offsets[i + 1]; k++)
            sum += (double)numeric_size(value_get(type, A->a.values, k));
        norm = fmax(norm, sum);
        found[i] = value_get(type, z, i);
        most = fmax(most, (double)numeric_size(found[i]));
    }
    support_multiply(A, op, found, back);
    for (int64_t i = 0; i < n; i++) {
        const spry_scalar v = value_get(type, r, i);
        worst = fmax(worst, hypot(v.re - back[i].re, v.im - back[i].im));
    }
    /* Columns of these matrices have sums of at most twice the rows'. */
    const double allowed = 8 * growth * (double)n * numeric_unit(type) * 2 * norm * most;
    if (!(worst <= allowed))
        fail_msg("%s, type %s, product %d: residual %g, allowed %g", what, spry_type_name(type), op,
                 worst, allowed);
    spry_vector_free(vr);
    spry_vector_free(vz);
    numeric_free(type, r, 0);
    numeric_free(type, z, 0);
    free(found);
    free(back);
}
