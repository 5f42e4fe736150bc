/* A plate: its grid, operators and heat, compared with the exact solution. */
#include "heat/heat.h"

#include <math.h>
#include <string.h>

static double sine_product(const heat_plate *p, const double *place)
{
    double value = 1;
    for (int a = 0; a < p->o->dimensions; a++)
        value *= sin(acos(-1) * place[a] / p->o->length);
    return value;
}

static void initial(void *data, const double *place, spry_scalar *value)
{
    *value = (spry_scalar){sine_product(data, place), 0};
}

double heat_rate(const heat_options *o)
{
    const double wave = acos(-1) / o->length;
    return (double)o->dimensions * wave * wave;
}

spry_status heat_plate_make(spry_context *ctx, const heat_options *o, int64_t size, heat_plate *p)
{
    char text[128], grid[192], options[64];
    *p = (heat_plate){.ctx = ctx, .o = o, .size = size};
    snprintf(text, sizeof text, "%lld", (long long)size);
    for (int a = 1; a < o->dimensions; a++)
        snprintf(text + strlen(text), sizeof text - strlen(text), "x%lld", (long long)size);
    /* ranks share time, not the plate */
    snprintf(grid, sizeof grid, "%s box=0:%.17g ranks=none", text, o->length);
    snprintf(options, sizeof options, "order=%lld type=%c", (long long)o->order, "sd"[o->type]);
    spry_status status = spry_grid_new(ctx, grid, &p->grid);
    /* the diffusivity is a factor of the operator */
    snprintf(text, sizeof text, "%.17g*laplace", o->diffusivity);
    if (status == SPRY_STATUS_OK)
        status = spry_operator_stencil(p->grid, text, options, 0, NULL, NULL, &p->A);
    if (status == SPRY_STATUS_OK)
        status = spry_operator_stencil(p->grid, "-laplace", options, 0, NULL, NULL, &p->minus);
    if (status == SPRY_STATUS_OK)
        status =
            spry_field_new(p->grid, o->type ? SPRY_TYPE_D : SPRY_TYPE_S, false, initial, p, &p->u);
    return status;
}

void heat_plate_free(heat_plate *p)
{
    spry_vector_free(p->u);
    spry_operator_free(p->A);
    spry_operator_free(p->minus);
    spry_grid_free(p->grid);
}

double heat_error(const heat_plate *p, double factor)
{
    const void *numbers = spry_vector_data_const(p->u);
    double worst = 0;
    for (int64_t i = 0; i < spry_vector_size(p->u); i++) {
        double place[3];
        spry_grid_place(p->grid, false, i, place);
        const double found =
            p->o->type ? ((const double *)numbers)[i] : (double)((const float *)numbers)[i];
        worst = fmax(worst, fabs(found - factor * sine_product(p, place)));
    }
    return worst / factor;
}

static spry_status draw_svg(const heat_plate *p)
{
    const heat_options *o = p->o;
    app_field field = {.title = "u",
                       .x = "x, m",
                       .y = "y, m",
                       .plane = "at=0.5",
                       .length = o->length,
                       .intervals = p->size};
    (void)app_field_view(o->view, o->length, field.view); /* was checked */
    return app_field_draw(p->ctx, p->grid, p->u, &field, o->output);
}

spry_status heat_write(const heat_plate *p)
{
    const heat_options *o = p->o;
    if (!o->output || ranks_silent())
        return SPRY_STATUS_OK;
    if (app_field_is_svg(o->output))
        return draw_svg(p);
    return spry_field_write(p->grid, p->u, o->output, NULL);
}
