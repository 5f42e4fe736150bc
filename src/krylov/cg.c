/*
 * Conjugate gradients, for hermitian positive definite A and M.
 * M. R. Hestenes, E. Stiefel: Methods of conjugate gradients for solving linear systems, J. Res.
 * Nat. Bur. Standards 49 (1952), 409-436.
 *
 *     start:  r = b - A x;  z = M r;  p = z;  rho = (r, z)
 *     loop:   q = A p;  alpha = rho / (p, q);  x = x + alpha p;  r = r - alpha q
 *             z = M r;  rho1 = (r, z);  beta = rho1 / rho;  rho = rho1;  p = z + beta p
 *
 * Vectors moved an iteration beside A and M: (p, q) 2, x 3, r 3, |r| 1, (r, z) 2, p 3: 14 n
 * numbers.
 */
#include "krylov/krylov.h"

#include <math.h>

/* Both inner products of CG are real and positive unless A or M is not definite. */
static bool is_definite(spry_scalar product)
{
    return product.re > 0 && isfinite(product.re) &&
           fabs(product.im) <= 1e-3 * fabs(product.re); /* far above rounding: not hermitian */
}

/* Zero or infinite products of vectors that are neither come from the range of numbers, not from A
 * or M. */
static spry_status name_breakdown(iteration *it, const char *product, spry_scalar value,
                                  const char *culprit)
{
    if (!value_finite(value))
        return iteration_breakdown(it, "%s overflows: scale %s", product, culprit);
    return iteration_breakdown(it, "%s = %.3g is not positive: %s is not positive definite",
                               product, value.re, culprit);
}

static spry_status cg_run(iteration *it)
{
    spry_context *ctx = it->ctx;
    spry_vector *r = it->work[0], *p = it->work[1], *q = it->work[2];
    spry_vector *z = it->M ? it->work[3] : r;
    spry_scalar rho, rho1, pq;
    double norm;
    spry_status status = SPRY_OK;

    SPRY_GO(ctx, iteration_residual(it, it->x, r));
    SPRY_GO(ctx, spry_vector_norm(r, &norm));
    if (!iteration_goes_on(it, norm, true))
        return it->status;
    if (it->M)
        SPRY_GO(ctx, spry_operator_apply(it->M, r, z));
    SPRY_GO(ctx, spry_vector_copy(z, p));
    SPRY_GO(ctx, spry_vector_dot(r, z, &rho));
    for (;;) {
        if (!is_definite(rho))
            return name_breakdown(it, "(r, M r)", rho, "the preconditioner");
        SPRY_GO(ctx, spry_operator_apply(it->A, p, q));
        SPRY_GO(ctx, spry_vector_dot(p, q, &pq));
        if (!is_definite(pq))
            return name_breakdown(it, "(p, A p)", pq, "the matrix");
        double alpha = rho.re / pq.re;
        SPRY_GO(ctx, spry_vector_axpy((spry_scalar){alpha, 0}, p, it->x));
        SPRY_GO(ctx, spry_vector_axpy((spry_scalar){-alpha, 0}, q, r));
        SPRY_GO(ctx, spry_vector_norm(r, &norm));
        if (!iteration_goes_on(it, norm, false))
            return it->status;
        if (it->M)
            SPRY_GO(ctx, spry_operator_apply(it->M, r, z));
        SPRY_GO(ctx, spry_vector_dot(r, z, &rho1));
        SPRY_GO(ctx, spry_vector_xpay(z, (spry_scalar){rho1.re / rho.re, 0}, p));
        rho = rho1;
    }
done:
    return status;
}

const krylov_method krylov_cg = {
    .name = "cg",
    .summary = "conjugate gradients, for symmetric or hermitian positive definite matrices",
    .vectors = 3,
    .precon_vectors = 1,
    .products = 1,
    .preconditionings = 1,
    .vector_passes = 13,
    .run = cg_run,
};
