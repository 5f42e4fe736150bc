/*
 * Rows of a block on a device (ranks.c). Those inside are made with all others, as if the block
 * were the grid and 0 around it: what comes of rows near cuts is of no use. These are made of the
 * windows of their slabs, which kernels see as grids of their own, and one program serves all of
 * them. Numbers of rows and the order in which they are added are those of the whole grid.
 */
#include "grid/ranks.h"

#include "device/linalg/operator.h"
#include "device/linalg/vector.h"
#include "grid/stencil_device.h"
#include "host/apply.h"
#include "ranks/halo_device.h"

struct ranks_edges {
    spry_device *d;
    stencil_copy copies[RANKS_SLABS];
    device_program *programs[RANKS_SLABS]; /* one, unless their texts have sizes written out */
    device_memory *windows, *comes;        /* and where their numbers are in the compact vector */
    device_memory *places;                 /* of the rows of all slabs among the edge rows */
};

void ranks_device_free(spry_context *ctx, struct ranks_edges *e)
{
    if (!e)
        return;
    for (int k = 0; k < RANKS_SLABS; k++)
        stencil_copy_clear(&e->copies[k]);
    device_free(e->windows);
    device_free(e->comes);
    device_free(e->places);
    base_free(ctx, e);
}

/* --- rows inside ---------------------------------------------------------------------------------
 */

static spry_status multiply_inside(const spry_operator *op, spry_transpose transpose,
                                   spry_scalar alpha, const device_memory *x, spry_scalar beta,
                                   device_memory *y)
{
    const ranks_side *s = op->state;
    stencil_product *p;
    const spry_status status = stencil_find_product(s->op, s->transpose, &p);
    (void)transpose;
    return status == SPRY_STATUS_OK
               ? stencil_product_run(p, s->transpose == SPRY_TRANSPOSE_CONJUGATE, alpha, beta,
                                     &(stencil_block){x, y, .columns = 1})
               : status;
}

static void leave(spry_operator *op)
{
    if (op->device)
        op->device->users--;
}

static const operator_class inside_class = {.name = "stencil inside",
                                            .multiply = operator_apply_arrays,
                                            .multiply_vectors = device_multiply_vectors,
                                            .device.multiply = multiply_inside,
                                            .destroy = leave};

/* --- edge rows -----------------------------------------------------------------------------------
 */

static void put_some(base_text *t, const stencil_copy *c, bool conjugate)
{
    const stencil_writing w = {.written = stencil_is_written(c),
                               .conjugate = conjugate,
                               .group = STENCIL_GROUP,
                               .prefix = "a_"};
    stencil_put_text(t, "put");
    stencil_put_words(t, c, &w);
    stencil_put_text(t, "stencil_some");
}

void stencil_put_some(base_text *t, const stencil_copy *c)
{
    put_some(t, c, false);
}

static void put_conjugate(base_text *t, const stencil_copy *c)
{
    put_some(t, c, true);
}

/* The rows of a slab, whose places begin with `first`. */
static spry_status run_slab(const ranks_side *s, int k, int64_t first, spry_scalar alpha,
                            spry_scalar beta, device_memory *sums)
{
    const struct ranks_edges *e = s->on_device;
    const ranks_slab *b = &s->slabs[k];
    const int64_t rows = box_count(&b->rows);
    const size_t size = spry_type_is_complex(s->op->type) ? sizeof alpha : sizeof alpha.re;
    int32_t from[GRID_AXES], n[GRID_AXES];
    for (int a = 0; a < GRID_AXES; a++) {
        from[a] = (int32_t)(b->rows.begin[a] - b->window.begin[a]);
        n[a] = (int32_t)box_length(&b->rows, a);
    }
    const device_arg before = DEVICE_VALUE(rows);
    const device_arg after[] = {DEVICE_VALUE(b->first),
                                device_arg_memory(e->windows),
                                device_arg_memory(sums),
                                DEVICE_VALUE(first),
                                device_arg_memory(e->places),
                                DEVICE_VALUE(from[0]),
                                DEVICE_VALUE(from[1]),
                                DEVICE_VALUE(from[2]),
                                DEVICE_VALUE(n[0]),
                                DEVICE_VALUE(n[1]),
                                (device_arg){NULL, &alpha, size},
                                (device_arg){NULL, &beta, size}};
    return stencil_launch(&e->copies[k], e->programs[k], "a_some",
                          (rows + STENCIL_GROUP - 1) / STENCIL_GROUP, 0, &before, after, 12);
}

static spry_status multiply_edges(const spry_operator *op, spry_transpose transpose,
                                  spry_scalar alpha, const device_memory *x, spry_scalar beta,
                                  device_memory *y)
{
    const ranks_side *s = op->state;
    const struct ranks_edges *e = s->on_device;
    int64_t first = 0;
    spry_status status = SPRY_STATUS_OK;
    (void)transpose;
    SPRY_GO(op->ctx, device_pick(e->d, op->type, s->cells, e->comes, false, x, e->windows));
    for (int k = 0; k < RANKS_SLABS; k++) {
        const int64_t rows = box_count(&s->slabs[k].rows);
        if (rows > 0)
            SPRY_GO(op->ctx, run_slab(s, k, first, alpha, beta, y));
        first += rows;
    }
done:
    return status;
}

static const operator_class edge_class = {.name = "stencil edges",
                                          .multiply = operator_apply_arrays,
                                          .multiply_vectors = device_multiply_vectors,
                                          .device.multiply = multiply_edges,
                                          .destroy = leave};

/* --- making --------------------------------------------------------------------------------------
 */

/* The place of each row of the slabs among the edge rows, which rise. */
static spry_status put_places(const ranks_side *s, struct ranks_edges *e)
{
    spry_context *ctx = s->op->ctx;
    const stencil *st = s->op->state;
    int32_t *places = NULL, *number = NULL;
    int64_t listed = 0;
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(ctx, base_alloc(ctx, s->links.edges, sizeof *places, &places));
    SPRY_GO(ctx, base_alloc(ctx, s->op->rows, sizeof *number, &number));
    for (int64_t k = 0; k < s->links.edges; k++)
        number[s->links.edge_rows[k]] = (int32_t)k;
    for (const ranks_slab *b = s->slabs; b < s->slabs + RANKS_SLABS; b++)
        for (int64_t i = 0; box_count(&b->rows) > 0 && i < box_count(&b->rows); i++) {
            int64_t at[GRID_AXES];
            box_split(&b->rows, i, at);
            places[listed++] = number[box_place(&st->rows, at)];
        }
    SPRY_GO(ctx, device_put_index(e->d, listed, places, &e->places));
done:
    base_free(ctx, places);
    base_free(ctx, number);
    return status;
}

/* What is not needed comes from the first number, as good as any. */
static spry_status put_comes(const ranks_side *s, struct ranks_edges *e)
{
    spry_context *ctx = s->op->ctx;
    int32_t *comes = NULL;
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(ctx, base_alloc(ctx, s->cells, sizeof *comes, &comes));
    for (int64_t i = 0; i < s->cells; i++)
        comes[i] = s->comes[i] > 0 ? (int32_t)s->comes[i] : 0;
    SPRY_GO(ctx, device_put_index(e->d, s->cells, comes, &e->comes));
    SPRY_GO(ctx, device_alloc(e->d, s->cells * (int64_t)spry_type_size(s->op->type), &e->windows));
done:
    base_free(ctx, comes);
    return status;
}

static spry_status make_edges(ranks_side *s, const stencil_copy *like)
{
    spry_context *ctx = s->op->ctx;
    const bool conjugate = s->transpose == SPRY_TRANSPOSE_CONJUGATE;
    struct ranks_edges *e = NULL;
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(ctx, base_calloc(ctx, 1, sizeof *e, &e));
    s->on_device = e;
    e->d = s->op->device;
    for (int k = 0; k < RANKS_SLABS; k++)
        if (box_count(&s->slabs[k].rows) > 0) {
            SPRY_GO(ctx, stencil_copy_place(like, s->op, s->transpose != SPRY_TRANSPOSE_NO,
                                            &s->slabs[k].window, &e->copies[k]));
            SPRY_GO(ctx, stencil_build(&e->copies[k], conjugate ? put_conjugate : stencil_put_some,
                                       false, &e->programs[k]));
        }
    SPRY_GO(ctx, put_comes(s, e));
    SPRY_GO(ctx, put_places(s, e));
done:
    return status;
}

static spry_status part_new(ranks_side *s, const operator_class *class, int64_t rows, int64_t cols,
                            spry_operator **op)
{
    const spry_status status = operator_new(s->op->ctx, class, s->op->type, rows, cols, op);
    if (status != SPRY_STATUS_OK)
        return status;
    (*op)->state = s;
    (*op)->device = s->op->device;
    s->op->device->users++;
    return status;
}

spry_status ranks_device_parts(ranks_side *s, dist_parts *parts)
{
    spry_context *ctx = s->op->ctx;
    const distributed *l = &s->links;
    stencil_product *p;
    spry_status status = SPRY_STATUS_OK;
    if (s->op->rows == 0)
        return status;
    SPRY_GO(ctx, stencil_find_product(s->op, s->transpose, &p));
    SPRY_GO(ctx, part_new(s, &inside_class, s->op->rows, s->op->rows, &parts->own));
    if (l->edges == 0)
        goto done;
    SPRY_GO(ctx, make_edges(s, &p->copy));
    SPRY_GO(ctx, part_new(s, &edge_class, l->edges, l->kept + l->ghosts, &parts->edge));
done:
    return status;
}
