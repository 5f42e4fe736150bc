/* Stencils from terms, and from other stencils: coarser ones, of another order or type, damped
 * ones. */
#include "grid/blocks.h"
#include "grid/domain.h"
#include "grid/terms.h"

const char stencil_name[] = "stencil";

const stencil *stencil_of(const spry_operator *op)
{
    return op->class->name == stencil_name ? op->state : NULL;
}

/* An operator without terms. */
static spry_status stencil_new(spry_context *ctx, const operator_class *class,
                               const grid_shape *shape, int order, spry_type type,
                               spry_operator **out)
{
    const grid_box own = grid_own(ctx, shape, false);
    const int64_t n = box_count(&own);
    stencil *s = NULL;
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(ctx, operator_new(ctx, class, type, n, n, out));
    SPRY_GO(ctx, base_calloc(ctx, 1, sizeof *s, &s));
    (*out)->state = s;
    (*out)->rows_part = (*out)->cols_part = grid_part(ctx, shape, false);
    s->host_class = class;
    s->shape = *shape;
    grid_hold(&s->shape);
    s->rows = own;
    s->order = order;
    s->kernels = host_kernels_for(ctx, type);
done:
    return status;
}

spry_status stencil_of_terms(spry_context *ctx, const operator_class *class,
                             const grid_shape *shape, int order, spry_type type,
                             const terms_given *given, spry_operator **A)
{
    const stencil_form *form;
    spry_operator *op = NULL;
    *A = NULL;
    spry_status status = stencil_new(ctx, class, shape, order, type, &op);
    SPRY_GO(ctx, grid_agree(ctx, shape, status));
    stencil *s = op->state;
    SPRY_GO(ctx, terms_make(ctx, type, given, s));
    if (s->domain.is)
        SPRY_GO(ctx, domain_fill(op, false));
    SPRY_GO(ctx, grid_agree(ctx, shape, stencil_find_form(op, SPRY_TRANSPOSE_NO, &form)));
    const int64_t size = (int64_t)spry_type_size(type);
    op->own_bytes = s->field_count * box_count(&s->points) * size;
    op->bytes = op->own_bytes + 2 * op->rows * size;
    *A = op;
    op = NULL;
done:
    spry_operator_free(op);
    return status;
}

typedef struct taking {
    const spry_operator *fine;
    const grid_shape *shape; /* of the coarser grid */
    spry_type type;
} taking;

/* Numbers of a field at points that both grids have. */
static spry_status take_points(void *data, int field, const grid_box *own, void *to)
{
    const taking *t = data;
    const stencil *f = t->fine->state;
    for (int64_t i = 0; i < box_count(own); i++) {
        int64_t at[GRID_AXES];
        box_split(own, i, at);
        for (int a = 0; a < GRID_AXES; a++)
            if (t->shape->axis[a].intervals > 0)
                at[a] *= f->shape.axis[a].intervals / t->shape->axis[a].intervals;
        value_set(t->type, to, i,
                  value_get(t->fine->type, f->fields[field], box_place(&f->points, at)));
    }
    return SPRY_STATUS_OK;
}

static spry_status copy_parts(spry_context *ctx, const stencil *fine, stencil *s)
{
    for (int p = 0; p < fine->parts_count; p++) {
        const stencil_part *from = &fine->parts[p];
        stencil_part *part = &s->parts[s->parts_count++];
        part->c = from->c;
        memcpy(part->field, from->field, sizeof part->field);
        for (int a = 0; a < s->shape.dimensions; a++) {
            if (!from->has[a])
                continue;
            spry_status status = axis_table_make(ctx, &s->shape.axis[a], "xyz"[a], s -> order,
                                                 &from -> work[a], &part -> table[a]);
            if (status == SPRY_STATUS_OK)
                status = axis_table_transpose(ctx, &part->table[a], &part->transposed[a]);
            if (status != SPRY_STATUS_OK)
                return status;
            part->work[a] = from->work[a];
            part->has[a] = true;
        }
    }
    return SPRY_STATUS_OK;
}

spry_status stencil_without_fields(const spry_operator *fine, const grid_shape *shape, int order,
                                   spry_type type, spry_operator **out)
{
    spry_context *ctx = fine->ctx;
    const stencil *from = fine->state;
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(ctx, stencil_new(ctx, from->host_class, shape, order, type, out));
    stencil *s = (*out)->state;
    SPRY_GO(ctx, base_calloc(ctx, from->field_count, sizeof *s->fields, &s->fields));
    s->domain = from->domain;
    SPRY_GO(ctx, copy_parts(ctx, from, s));
done:
    return status;
}

spry_status stencil_coarser(const spry_operator *fine, const grid_shape *shape, int order,
                            spry_type type, int layers, spry_operator **coarse)
{
    spry_context *ctx = fine->ctx;
    int64_t wider[GRID_AXES];
    spry_operator *op = NULL;
    *coarse = NULL;
    spry_status status = stencil_without_fields(fine, shape, order, type, &op);
    SPRY_GO(ctx, grid_agree(ctx, shape, status));
    stencil *s = op->state;
    terms_reach(s, false, wider);
    for (int a = 0; a < GRID_AXES; a++) /* what two colours of a sweep need */
        wider[a] = layers == 0 ? 0 : 2 * wider[a] > layers ? 2 * wider[a] : layers;
    taking t = {fine, shape, type};
    const int fields = ((const stencil *)fine->state)->field_count;
    SPRY_GO(ctx, terms_fill(ctx, type, s, fields, wider, take_points, &t));
    if (s->domain.is)
        SPRY_GO(ctx, domain_fill(op, shape->unknowns < fine->rows));
    const grid_box u = grid_wider(shape, false, &s->rows, wider);
    SPRY_GO(ctx, grid_agree(ctx, shape, stencil_form_make(op, false, &u, &s->plain)));
    *coarse = op;
    op = NULL;
done:
    spry_operator_free(op);
    return status;
}

/* Makes the rows anew, of the same box. Collective where the grid is cut. */
static spry_status remake(spry_operator *op)
{
    stencil *s = op->state;
    const grid_box u = s->plain.u;
    stencil_form_clear(op->ctx, &s->plain);
    return grid_agree(op->ctx, &s->shape, stencil_form_make(op, false, &u, &s->plain));
}

static spry_scalar times(spry_scalar a, spry_scalar b)
{
    return (spry_scalar){a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
}

spry_status stencil_scale(spry_operator *op, spry_scalar by)
{
    stencil *s = op->state;
    for (int p = 0; p < s->parts_count; p++)
        s->parts[p].c = times(by, s->parts[p].c);
    return remake(op);
}

spry_status stencil_damp(spry_operator *op, double shift)
{
    stencil *s = op->state;
    int damped = 0;
    for (int p = 0; p < s->parts_count; p++) {
        stencil_part *part = &s->parts[p];
        if (part->has[0] || part->has[1] || part->has[2] || (s->domain.is && p == s->domain.part))
            continue;
        part->c = times((spry_scalar){1, shift}, part->c);
        damped++;
    }
    if (damped == 0)
        return SPRY_FAIL(
            op->ctx, SPRY_STATUS_BAD_USAGE,
            "shift=%g damps terms without derivatives, such as k2 of laplace + k2; the "
            "operator has none",
            shift);
    return remake(op);
}
