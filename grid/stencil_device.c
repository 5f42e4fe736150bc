/*
 * Stencils as operators on devices. Products go through the grid by marches along z where the
 * stencil allows it, else a point per work-item; least traffic: x once, y once, each field once, of
 * several columns, too.
 * Methods have the rows in their sweeps.
 */
#include "grid/stencil_device.h"

#include "grid/blocks.h"

#include "device/linalg/operator.h"
#include "device/linalg/vector.h"
#include "host/apply.h"

enum { MOST_COLUMNS = 64 }; /* of a launch; groups are counted by 32 bits */

typedef struct stencil_device {
    device_memory *fields;
    stencil_product plain, transposed;
} stencil_device;

/* --- programs ------------------------------------------------------------------------------------
 */

/* Rows at the ends whose numbers are in tables are left to a kernel of their own: warps would wait
 * for their loops in each plane. */
static const stencil_march product_march = {
    .kernel = "march",
    .args = "SP_GLOBAL scalar *SP_RESTRICT y, const number alpha, const number beta, "
            "const int columns, const offset x_apart, const offset y_apart",
    .begin = "const int group = SP_GROUP_ID / columns; "
             "x += SP_GROUP_ID % columns * x_apart; y += SP_GROUP_ID % columns * y_apart;",
    .on = "FORM_REGULAR || SP_F(is_inside)(FORM_PASS, i, j, k)",
    .value = "sum",
    .put = "sp_put(y + row, value, alpha, beta);"};

static bool ends_apart(const stencil_copy *c)
{
    return c->lines > 0 && !c->regular;
}

static int64_t count_ends(const stencil_copy *c)
{
    const stencil_sizes *s = &c->sizes;
    const int64_t between = (int64_t)(s->N0 - s->LOW0 - s->HIGH0) * (s->N1 - s->LOW1 - s->HIGH1) *
                            (s->N2 - s->LOW2 - s->HIGH2);
    return (int64_t)s->N0 * s->N1 * s->N2 - between;
}

static void put_product(base_text *t, const stencil_copy *c, bool conjugate)
{
    const stencil_writing w = {
        .written = true, .conjugate = conjugate, .group = STENCIL_GROUP, .prefix = "a_"};
    stencil_put_text(t, "put");
    stencil_put_words(t, c, &w);
    if (c->lines > 0)
        stencil_put_march(t, &product_march);
    else
        stencil_put_text(t, "stencil_product");
    if (ends_apart(c))
        stencil_put_text(t, "stencil_ends");
}

void stencil_put_plain(base_text *t, const stencil_copy *c)
{
    put_product(t, c, false);
}

static void put_conjugate(base_text *t, const stencil_copy *c)
{
    put_product(t, c, true);
}

static spry_status build(const stencil_copy *c, bool conjugate, device_program **p)
{
    return stencil_build(c, conjugate ? put_conjugate : stencil_put_plain, false, p);
}

/* op(A) of this rank's rows, made if it has to be. */
spry_status stencil_find_product(const spry_operator *op, spry_transpose transpose,
                                 stencil_product **found)
{
    stencil *s = op->state;
    const bool turned = transpose != SPRY_TRANSPOSE_NO;
    stencil_product *p = turned ? &s->device->transposed : &s->device->plain;
    const stencil_form *form;
    spry_status status = SPRY_STATUS_OK;
    *found = p;
    if (p->made)
        return status;
    SPRY_GO(op->ctx, stencil_find_form(op, transpose, &form));
    SPRY_GO(op->ctx, stencil_copy_make(op->device, op, form, s->device->fields, &p->copy));
    p->made = true;
done:
    return status;
}

spry_status stencil_product_run(stencil_product *p, bool conjugate, spry_scalar alpha,
                                spry_scalar beta, const stencil_block *b)
{
    spry_context *ctx = p->copy.d->ctx;
    const size_t size = spry_type_is_complex(p->copy.type) ? sizeof alpha : sizeof alpha.re;
    const int32_t columns = b->columns;
    device_arg args[STENCIL_ARGS + 8];
    int count = 1;
    int32_t depth = 0;
    spry_status status = SPRY_STATUS_OK;
    if (!p->program[conjugate])
        SPRY_GO(ctx, build(&p->copy, conjugate, &p->program[conjugate]));
    const bool marches = p->copy.lines > 0;
    const int64_t positions = stencil_positions(&p->copy, STENCIL_GROUP);
    const int64_t groups =
        marches ? stencil_march_groups(&p->copy, &depth) : positions / STENCIL_GROUP;
    args[0] = marches ? DEVICE_VALUE(depth) : DEVICE_VALUE(positions);
    count += stencil_args(&p->copy, true, args + count);
    args[count++] = device_arg_memory(b->x);
    args[count++] = device_arg_memory(b->y);
    args[count++] = (device_arg){NULL, &alpha, size};
    args[count++] = (device_arg){NULL, &beta, size};
    args[count++] = DEVICE_VALUE(columns);
    args[count++] = DEVICE_VALUE(b->x_apart);
    args[count++] = DEVICE_VALUE(b->y_apart);
    SPRY_GO(ctx, device_launch_local(p->program[conjugate], marches ? "a_march" : "a_product",
                                     groups * columns, STENCIL_GROUP, marches ? p->copy.room : 0,
                                     args, count));
    if (ends_apart(&p->copy)) {
        const int64_t ends = count_ends(&p->copy);
        args[0] = DEVICE_VALUE(ends);
        SPRY_GO(ctx, device_launch(p->program[conjugate], "a_ends", NULL,
                                   (ends + STENCIL_GROUP - 1) / STENCIL_GROUP * columns,
                                   STENCIL_GROUP, args, count));
    }
done:
    return status;
}

spry_status stencil_device_multiply(const spry_operator *op, spry_transpose transpose,
                                    spry_scalar alpha, const device_memory *x, spry_scalar beta,
                                    device_memory *y)
{
    const bool conjugate = transpose == SPRY_TRANSPOSE_CONJUGATE && spry_type_is_complex(op->type);
    stencil_product *p;
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(op->ctx, stencil_find_product(op, transpose, &p));
    SPRY_GO(op->ctx,
            stencil_product_run(p, conjugate, alpha, beta, &(stencil_block){x, y, .columns = 1}));
done:
    return status;
}

/* Where row i of column c is: at + i row + c col. */
static device_block block_of(const spry_dense *M, const device_memory *memory, int64_t first)
{
    const int64_t row = M->by_rows ? M->ld : 1, col = M->by_rows ? 1 : M->ld;
    return (device_block){memory, first * col, row, col};
}

/* Some columns by way of room for them, one behind the other. */
static spry_status multiply_packed(const spry_operator *op, stencil_product *p, bool conjugate,
                                   spry_scalar alpha, const spry_dense *B, spry_scalar beta,
                                   const spry_dense *C, const stencil_block *whole)
{
    enum { TOGETHER = 8 };
    spry_device *d = op->device;
    const int64_t bytes = TOGETHER * op->rows * (int64_t)spry_type_size(op->type);
    device_memory *x = NULL, *y = NULL;
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(op->ctx, device_alloc(d, bytes, &x));
    SPRY_GO(op->ctx, device_alloc(d, bytes, &y));
    for (int64_t c = 0; c < B->cols; c += TOGETHER) {
        const int count = B->cols - c < TOGETHER ? (int)(B->cols - c) : TOGETHER;
        const device_block from = {x, 0, 1, op->rows}, to = {y, 0, 1, op->rows};
        const device_block columns = block_of(C, whole->y, c);
        SPRY_GO(op->ctx,
                device_copy_block(d, op->type, op->rows, count, block_of(B, whole->x, c), from));
        if (beta.re != 0 || beta.im != 0)
            SPRY_GO(op->ctx, device_copy_block(d, op->type, op->rows, count, columns, to));
        SPRY_GO(op->ctx, stencil_product_run(p, conjugate, alpha, beta,
                                             &(stencil_block){x, y, count, op->rows, op->rows}));
        SPRY_GO(op->ctx, device_copy_block(d, op->type, op->rows, count, to, columns));
    }
done:
    device_free(x);
    device_free(y);
    return status;
}

/* Numbers from the first to the last of a block. */
static int64_t extent(const spry_dense *M)
{
    const int64_t lines = M->by_rows ? M->rows : M->cols, line = M->by_rows ? M->cols : M->rows;
    return (lines - 1) * M->ld + line;
}

/* Blocks of the device in one launch, where the grid is not cut; those of the host one by one. */
spry_status stencil_device_multiply_dense(const spry_operator *op, spry_transpose transpose,
                                          spry_scalar alpha, const spry_dense *B, spry_scalar beta,
                                          const spry_dense *C)
{
    const stencil *s = op->state;
    const bool conjugate = transpose == SPRY_TRANSPOSE_CONJUGATE && spry_type_is_complex(op->type);
    const int64_t size = (int64_t)spry_type_size(op->type);
    device_memory *from = NULL, *to = NULL;
    stencil_product *p;
    spry_status status = SPRY_STATUS_OK;
    if (B->device && s->ranks)
        return SPRY_FAIL(op->ctx, SPRY_STATUS_BAD_USAGE,
                         "B and C are on %s; operator %s of a grid that is cut takes blocks of the "
                         "host, or vectors one by one",
                         spry_device_name(B->device), spry_operator_name(op));
    if (!B->device || B->cols == 0 || op->rows == 0)
        return host_multiply_singly(op, transpose, alpha, B, beta, C);
    SPRY_GO(op->ctx, stencil_find_product(op, transpose, &p));
    SPRY_GO(op->ctx, device_borrow(op->device, B->data, extent(B) * size, &from));
    SPRY_GO(op->ctx, device_borrow(op->device, C->data, extent(C) * size, &to));
    const stencil_block b = {from, to, (int)B->cols, B->ld, C->ld};
    if (B->by_rows || C->by_rows || B->cols > MOST_COLUMNS)
        SPRY_GO(op->ctx, multiply_packed(op, p, conjugate, alpha, B, beta, C, &b));
    else
        SPRY_GO(op->ctx, stencil_product_run(p, conjugate, alpha, beta, &b));
done:
    device_free(from);
    device_free(to);
    return status;
}

/* --- rows of sweeps ------------------------------------------------------------------------------
 */

spry_status stencil_device_open_rows(const spry_operator *op, spry_transpose transpose,
                                     const char *prefix, device_rows *rows)
{
    enum { WIDE = 512, MOST_BYTES = 128 };
    const int group = op->device->facts.most_group >= WIDE ? WIDE : STENCIL_GROUP;
    const stencil_writing w = {.written = true,
                               .conjugate = transpose == SPRY_TRANSPOSE_CONJUGATE,
                               .group = group,
                               .prefix = prefix};
    base_text t = {.ctx = op->ctx};
    stencil_product *p;
    spry_status status = SPRY_STATUS_OK;
    if (((const stencil *)op->state)->ranks)
        return status; /* applied whole: others' numbers are waited for */
    SPRY_GO(op->ctx, stencil_find_product(op, transpose, &p));
    const stencil_copy *c = &p->copy;
    const int64_t positions = stencil_positions(c, group);
    if (positions > INT32_MAX)
        return status; /* applied whole */
    *rows = (device_rows){.rows = op->rows,
                          .positions = positions,
                          .lanes = 1,
                          .group = group,
                          .at_once =
                              c->regular && c->terms * (int)spry_type_size(c->type) <= MOST_BYTES};
    stencil_put_words(&t, c, &w);
    stencil_put_text(&t, "stencil_rows");
    stencil_end_words(&t);
    SPRY_GO(op->ctx, base_text_take(&t, &rows->text));
    snprintf(rows->args_text, sizeof rows->args_text,
             "SP_GLOBAL const scalar *%snumbers, SP_GLOBAL const offset *%stables, "
             "SP_GLOBAL const scalar *%sfields",
             prefix, prefix, prefix);
    snprintf(rows->pass_text, sizeof rows->pass_text, "%snumbers, %stables, %sfields", prefix,
             prefix, prefix);
    rows->arg_count = stencil_args(c, true, rows->args);
done:
    return status;
}

/* --- its part on a device
 * ----------------------------------------------------------------------------------
 */

void stencil_device_free(spry_context *ctx, struct stencil_device *s)
{
    if (!s)
        return;
    stencil_copy_clear(&s->plain.copy);
    stencil_copy_clear(&s->transposed.copy);
    device_free(s->fields);
    base_free(ctx, s);
}

/* This rank's part: fields, and where it has all rows the product of A. */
spry_status stencil_device_make(spry_operator *op, spry_device *d)
{
    spry_context *ctx = op->ctx;
    stencil *s = op->state;
    stencil_product *p;
    spry_status status = SPRY_STATUS_OK;
    if (box_count(&s->points) > INT32_MAX)
        return SPRY_FAIL(ctx, SPRY_STATUS_UNSUPPORTED,
                         "a grid of %" PRId64 " points; devices take %d", box_count(&s->points),
                         INT32_MAX);
    SPRY_GO(ctx, device_check_type(d, op->type));
    op->device = d;
    d->users++;
    SPRY_GO(ctx, base_calloc(ctx, 1, sizeof *s->device, &s->device));
    SPRY_GO(ctx, stencil_put_fields(d, op, &s->device->fields));
    if (grid_is_cut(&s->shape))
        goto done;
    SPRY_GO(ctx, stencil_find_product(op, SPRY_TRANSPOSE_NO, &p));
done:
    return status;
}
