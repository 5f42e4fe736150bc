/* How far a preconditioner is from the inverse. */
#include "precon/precon.h"

/* |u - F G u| / |u| */
static spry_status product_distance(const spry_operator *F, const spry_operator *G,
                                    const spry_vector *u, spry_vector *v, spry_vector *w,
                                    double *distance)
{
    spry_context *ctx = u->ctx;
    double size = 0, off = 0;
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(ctx, spry_operator_apply(G, u, v));
    SPRY_GO(ctx, spry_operator_apply(F, v, w));
    SPRY_GO(ctx, spry_vector_axpy((spry_scalar){-1, 0}, u, w));
    SPRY_GO(ctx, spry_vector_norm(u, &size));
    SPRY_GO(ctx, spry_vector_norm(w, &off));
    *distance = isfinite(off) ? off / size : HUGE_VAL;
done:
    return status;
}

spry_status precon_distance(const spry_operator *M, const spry_matrix *A, double enough,
                            double *distance)
{
    spry_context *ctx = M->ctx;
    spry_operator *op = NULL;
    spry_vector *v[3] = {0};
    double other = 0;
    spry_status status = SPRY_STATUS_OK;
    *distance = 0;
    if (M->rows == 0)
        return SPRY_STATUS_OK;
    SPRY_GO(ctx, host_csr_operator(A, &op));
    for (int k = 0; k < 3; k++)
        SPRY_GO(ctx, vector_new_at(ctx, NULL, M->type, M->rows, &v[k]));
    SPRY_GO(ctx, vector_random(v[0], 1));
    SPRY_GO(ctx, product_distance(M, op, v[0], v[1], v[2], distance));
    if (*distance <= enough)
        goto done;
    SPRY_GO(ctx, product_distance(op, M, v[0], v[1], v[2], &other));
    *distance = other < *distance ? other : *distance;
done:
    for (int k = 0; k < 3; k++)
        spry_vector_free(v[k]);
    spry_operator_free(op);
    return status;
}
