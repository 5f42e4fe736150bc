/* Classical multigrid by the device that the preconditioner lives on: what classical.c does, from
 * the pieces of device/linalg/setup.h. Points are the host's where the numbers are. */
#include "precon/amg/amg.h"

#include "device/linalg/setup.h"

/* Splits the points of A and interpolates; no P where there are no coarse points. */
static spry_status split(const device_matrix *A, const amg_classical_rules *rules,
                         device_points *points, device_matrix *P)
{
    spry_context *ctx = A->d->ctx;
    spry_status status = SPRY_STATUS_OK;
    *P = (device_matrix){0};
    SPRY_GO(ctx, device_points_make(A, rules->theta, rules->dominance, points));
    if (points->count > 0)
        SPRY_GO(ctx, device_interpolate(A, points, rules->most, rules->small, P));
done:
    return status;
}

/* P = P_1 P_2, cut. */
static spry_status go_further(const device_matrix *A, const device_points *points,
                              const amg_classical_rules *rules, device_matrix *P)
{
    spry_context *ctx = A->d->ctx;
    device_matrix rows = {0}, between = {0}, further = {0}, product = {0}, cut = {0};
    device_points second = {0};
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(ctx, device_matrix_pick(A, points, &rows));
    SPRY_GO(ctx, device_matrix_multiply(&rows, P, &between));
    device_matrix_free(&rows);
    SPRY_GO(ctx, split(&between, rules, &second, &further));
    if (!further.offsets)
        goto done;
    SPRY_GO(ctx, device_matrix_multiply(P, &further, &product));
    SPRY_GO(ctx, device_matrix_cut(&product, rules->most, rules->small, &cut));
    device_matrix_free(P);
    *P = cut;
done:
    device_points_free(&second);
    device_matrix_free(&rows);
    device_matrix_free(&between);
    device_matrix_free(&further);
    device_matrix_free(&product);
    return status;
}

spry_status amg_classical_coarsen_on_device(const amg_on_device *w,
                                            const amg_classical_rules *rules, bool twice,
                                            device_matrix *P)
{
    spry_context *ctx = w->h->ctx;
    device_points points = {0};
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(ctx, split(&w->A, rules, &points, P));
    if (P->offsets && twice)
        SPRY_GO(ctx, go_further(&w->A, &points, rules, P));
done:
    if (status != SPRY_STATUS_OK)
        device_matrix_free(P);
    device_points_free(&points);
    return status;
}
