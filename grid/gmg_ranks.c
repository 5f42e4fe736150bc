/*
 * Multigrid on grids that are cut into blocks. A level is cut as the first one is: a coarse unknown
 * belongs to the rank that has the fine one there. Each rank keeps x and b of a box around its own
 * rows, as wide as two colours of a sweep reach, so that a sweep, a residual for the next level and
 * a correction from there take one exchange of numbers around the rows each. Where ranks would have
 * few rows each, the level is joined: every rank gets all of b and goes on by itself, as without
 * ranks, and nothing has to come back. All rows are made of the same numbers in the same order, so
 * that bits are those of one rank.
 */
#include "grid/gmg.h"

int64_t gmg_locate(const gmg_level *l, int a, const grid_box *box, int64_t k)
{
    const int64_t n = l->s->shape.axis[a].unknowns;
    if (k >= box->begin[a] && k < box->end[a])
        return k;
    if (k - n >= box->begin[a] && k - n < box->end[a])
        return k - n;
    return k + n >= box->begin[a] && k + n < box->end[a] ? k + n : INT64_MIN;
}

grid_box gmg_around(const gmg_level *l, int64_t times)
{
    int64_t width[GRID_AXES];
    for (int a = 0; a < GRID_AXES; a++)
        width[a] = times * l->reach[a];
    return l->shared == GMG_CUT ? grid_wider(&l->s->shape, false, &l->rows, width) : l->rows;
}

spry_status gmg_bring_x(const gmg_level *l, void *x)
{
    return l->shared == GMG_CUT ? grid_halo_exchange(&l->halo, x) : SPRY_STATUS_OK;
}

spry_status gmg_bring_given(const gmg_level *l, void *array)
{
    return l->halo.halo.ctx ? grid_halo_exchange(&l->halo, array) : SPRY_STATUS_OK;
}

spry_status gmg_take(const gmg *m, const void *given, void *array)
{
    const gmg_level *l = &m->level[0];
    box_copy(m->type, &l->given, &l->given, given, &l->box, array);
    return gmg_bring_given(l, array);
}

void gmg_give_x(const gmg *m, void *x)
{
    const gmg_level *l = &m->level[0];
    box_copy(m->type, &l->given, &l->box, l->x, &l->given, x);
}

bool gmg_joins(const gmg *m, const grid_shape *shape)
{
    const double each = (double)shape->unknowns / team_ranks(m->ctx);
    return shape->axis[0].ranks > 1 || shape->unknowns <= m->options.coarsest ||
           each < (double)m->options.rank_rows;
}

spry_status gmg_place_level(gmg *m, gmg_level *l, const grid_shape *cut)
{
    l->s = l->A->state;
    l->rows = l->s->rows;
    l->box = l->s->plain.u;
    l->count = box_count(&l->box);
    l->given = grid_own(m->ctx, cut, false);
    l->shared = grid_is_cut(&l->s->shape) ? GMG_CUT : grid_is_cut(cut) ? GMG_JOINED : GMG_WHOLE;
    terms_reach(l->s, false, l->reach);
    for (int a = 0; a < GRID_AXES; a++) /* coarse points lie between */
        l->reach[a] = l->reach[a] > 1 ? l->reach[a] : 1;
    return l->shared == GMG_WHOLE ? SPRY_STATUS_OK
                                  : grid_halo_make(m->ctx, m->type, cut, false, &l->box, &l->halo);
}

/* All numbers of a field, from what ranks have of it. */
static spry_status join_field(const spry_operator *cut, const grid_halo *halo, int f,
                              spry_operator *whole)
{
    spry_context *ctx = cut->ctx;
    const stencil *from = cut->state;
    stencil *s = whole->state;
    const grid_box own = grid_own(ctx, &from->shape, true);
    const spry_status status =
        base_calloc(ctx, box_count(&s->points), spry_type_size(whole->type), &s->fields[f]);
    const spry_status agreed = team_agree(ctx, status);
    if (agreed != SPRY_STATUS_OK)
        return agreed;
    s->field_count++;
    box_copy(whole->type, &own, &from->points, from->fields[f], &s->points, s->fields[f]);
    return grid_halo_exchange(halo, s->fields[f]);
}

spry_status gmg_join(const spry_operator *cut, spry_operator **whole)
{
    spry_context *ctx = cut->ctx;
    const stencil *from = cut->state;
    const stencil_form *form;
    grid_shape shape = from->shape;
    grid_halo halo = {0};
    spry_operator *op = NULL;
    grid_join(&shape);
    const grid_box points = grid_whole(&shape, true);
    *whole = NULL;
    spry_status status = stencil_without_fields(cut, &shape, from->order, cut->type, &op);
    SPRY_GO(ctx, team_agree(ctx, status));
    ((stencil *)op->state)->points = points;
    if (from->field_count > 0)
        SPRY_GO(ctx, grid_halo_make(ctx, cut->type, &from->shape, true, &points, &halo));
    for (int f = 0; f < from->field_count; f++)
        SPRY_GO(ctx, join_field(cut, &halo, f, op));
    SPRY_GO(ctx, team_agree(ctx, stencil_find_form(op, SPRY_TRANSPOSE_NO, &form)));
    *whole = op;
    op = NULL;
done:
    grid_halo_clear(&halo);
    spry_operator_free(op);
    return status;
}
