#include "support/rods.h"

#include "operator/operator.h"

#include <math.h>

const char *const rod_fines[2] = {"method=rk4 dt=0.0007", "method=crank-nicolson dt=0.001"};

static void bump(void *data, const double *place, spry_scalar *value)
{
    (void)data;
    *value = (spry_scalar){place[0] * (1 - place[0]) * exp(3 * place[0]), 0};
}

/* r->u, moved to the operator's device. */
static spry_status move_u(spry_context *ctx, rod *r)
{
    spry_vector *moved = NULL;
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(ctx, vector_new_at(ctx, r->A->device, r->u->type, r->u->n, &moved));
    SPRY_GO(ctx, spry_vector_copy(r->u, moved));
    spry_vector_free(r->u);
    r->u = moved;
    moved = NULL;
done:
    spry_vector_free(moved);
    return status;
}

spry_status rod_make(spry_context *ctx, spry_type type, const char *fine, const char *device,
                     rod *r)
{
    char options[64];
    spry_status status = SPRY_STATUS_OK;
    *r = (rod){0};
    snprintf(options, sizeof options, "type=%s device=%s", spry_type_name(type),
             device ? device : "cpu");
    SPRY_GO(ctx, spry_grid_new(ctx, "25 ranks=none", &r->grid));
    SPRY_GO(ctx, spry_operator_stencil(r->grid, "laplace", options, 0, NULL, NULL, &r->A));
    SPRY_GO(ctx, spry_field_new(r->grid, type, false, bump, NULL, &r->u));
    if (device)
        SPRY_GO(ctx, move_u(ctx, r));
    SPRY_GO(ctx, spry_stepper_new(ctx, "method=implicit-euler dt=0.01", &r->coarse));
    SPRY_GO(ctx, spry_stepper_new(ctx, fine, &r->fine));
    SPRY_GO(ctx, spry_stepper_set_operator(r->coarse, r->A, NULL, NULL, NULL));
    SPRY_GO(ctx, spry_stepper_set_operator(r->fine, r->A, NULL, NULL, NULL));
done:
    return status;
}

void rod_free(rod *r)
{
    spry_stepper_free(r->coarse);
    spry_stepper_free(r->fine);
    spry_vector_free(r->u);
    spry_operator_free(r->A);
    spry_grid_free(r->grid);
    *r = (rod){0};
}

spry_status rod_run_fine(const rod *r, int slices)
{
    spry_status status = SPRY_STATUS_OK;
    for (int n = 0; n < slices && status == SPRY_STATUS_OK; n++)
        status =
            spry_stepper_run(r->fine, n * (ROD_END / slices),
                             n + 1 == slices ? ROD_END : (n + 1) * (ROD_END / slices), r->u, NULL);
    return status;
}
