/* Operators of differences: products by lines of points, and the object. */
#include "grid/grid.h"

#include "grid/options.h"
#include "grid/ranks.h"
#include "grid/stencil_device.h"
#include "grid/terms.h"
#include "host/apply.h"
#include "host/powers.h"
#include "ranks/halo_device.h"

/* --- products ------------------------------------------------------------------------------------
 */

/* The rows of op(A), made if they have to be. */
spry_status stencil_find_form(const spry_operator *op, spry_transpose transpose,
                              const stencil_form **form)
{
    stencil *s = op->state;
    stencil_form *f = transpose == SPRY_TRANSPOSE_NO ? &s->plain : &s->transposed;
    *form = f;
    return f->made ? SPRY_STATUS_OK
                   : stencil_form_make(op, transpose != SPRY_TRANSPOSE_NO, &s->rows, f);
}

enum { TOGETHER = 8 }; /* lines */

/* One product: all that its threads have in common. */
typedef struct stencil_job {
    const spry_operator *op;
    const stencil_form *form;
    const grid_box *rows;
    bool conjugate;
    spry_scalar alpha, beta;
    const char *x, *z;
    char *y;
    int columns;              /* of x, and of y and z */
    int64_t x_apart, y_apart; /* bytes from one to the next */
    const power_terms *more;  /* what else is added; NULL: nothing */
    int64_t block; /* lines of a plane that are done in all planes before the next ones */
} stencil_job;

/* The class of a row along an axis; one beyond the end of a periodic axis is another one again. */
static int64_t class_along(const stencil *s, const stencil_form *form, int a, int64_t row)
{
    const int64_t n = s->shape.axis[a].unknowns;
    if (row < 0 || row >= n)
        row = (row % n + n) % n;
    return axis_class(n, form->low[a], form->high[a], row);
}

host_line stencil_line(const stencil *s, const stencil_form *form, bool conjugate, int64_t size,
                       int64_t line, const char *x)
{
    const grid_axis *a = s->shape.axis;
    const grid_box *u = &form->u;
    const int64_t y = u->begin[1] + line % box_length(u, 1);
    const int64_t z = u->begin[2] + line / box_length(u, 1);
    const int64_t point[] = {a[0].first, y + a[1].first, z + a[2].first};
    return (host_line){.class = form->classes[0] * (class_along(s, form, 1, y) +
                                                    form->classes[1] * class_along(s, form, 2, z)),
                       .place = box_place(&s->points, point),
                       .count = 1,
                       .u = x + (line * box_length(u, 0) - u->begin[0]) * size,
                       .conjugate = conjugate};
}

/* The same for up to `most` lines of its class that follow each other, as those of a box do that
 * has all of x. */
static host_line stencil_lines(const stencil *s, const stencil_form *form, bool conjugate,
                               int64_t size, int64_t line, int64_t most, const char *x)
{
    const int64_t y = form->u.begin[1] + line % box_length(&form->u, 1);
    const int64_t last = s->shape.axis[1].unknowns - form->high[1];
    host_line at = stencil_line(s, form, conjugate, size, line, x);
    if (s->shape.axis[0].ranks <= 1 && y >= form->low[1] && y < last)
        at.count = most < last - y ? most : last - y;
    return at;
}

/* Lines begin..end-1 of a plane, of one column. */
static void run_lines(const stencil_job *j, int column, int64_t begin, int64_t end)
{
    const stencil *s = j->op->state;
    const grid_box *rows = j->rows, *u = &j->form->u;
    const int64_t ny = box_length(rows, 1), size = (int64_t)spry_type_size(j->op->type);
    const char *x = j->x + column * j->x_apart, *z = j->z + column * j->y_apart;
    char *y = j->y + column * j->y_apart;
    for (int64_t k = begin, count; k < end; k += count) {
        const int64_t at[] = {rows->begin[0], rows->begin[1] + k % ny, rows->begin[2] + k / ny};
        const int64_t place = box_place(u, at), line = place / box_length(u, 0);
        const int64_t most = end - k < TOGETHER ? end - k : TOGETHER;
        const host_line of = stencil_lines(s, j->form, j->conjugate, size, line, most, x);
        count = of.count;
        s->kernels->stencil(&j->form->host, &of, rows->begin[0], rows->end[0], j->alpha, j->beta,
                            z + place * size, y + place * size);
        if (j->more && j->more->w) /* lines follow each other: the grid is not cut */
            s->kernels->axpy(count * box_length(rows, 0), j->more->delta,
                             (const char *)j->more->w + place * size, y + place * size);
    }
}

/* A share of lines. Blocks of lines go through all planes, so that the planes around are still in
 * the cache when a block comes to them, and so are the fields when another column does. */
static void multiply_share(void *argument, int part, int parts)
{
    const stencil_job *j = argument;
    const int64_t ny = box_length(j->rows, 1);
    const range lines = base_share(ny * box_length(j->rows, 2), parts, part, 1);
    for (int64_t first = 0; first < ny; first += j->block)
        for (int64_t plane = lines.begin / ny * ny; plane < lines.end; plane += ny) {
            const int64_t from = plane + first > lines.begin ? plane + first : lines.begin;
            const int64_t to = plane + (first + j->block < ny ? first + j->block : ny);
            for (int c = 0; c < j->columns; c++)
                run_lines(j, c, from, to < lines.end ? to : lines.end);
        }
}

static spry_status run_job(stencil_job *job, spry_transpose transpose)
{
    enum { CACHE = 512 << 10, LEAST = 4 }; /* half of a second cache */
    const spry_operator *op = job->op;
    const stencil *s = op->state;
    const spry_status status = stencil_find_form(op, transpose, &job->form);
    if (status != SPRY_STATUS_OK || box_count(job->rows) == 0)
        return status;
    const int64_t line = box_length(job->rows, 0) * (int64_t)spry_type_size(op->type);
    job->conjugate = transpose == SPRY_TRANSPOSE_CONJUGATE;
    job->block = CACHE / (line * (s->order + 2) * job->columns);
    job->block = job->block < LEAST ? LEAST : job->block;
    base_share_out(op->ctx, host_threads(op->ctx, box_count(job->rows)), multiply_share, job);
    return SPRY_STATUS_OK;
}

spry_status stencil_run_rows(const spry_operator *op, spry_transpose transpose,
                             const grid_box *rows, spry_scalar alpha, const void *x,
                             spry_scalar beta, const void *z, void *y)
{
    stencil_job job = {
        .op = op, .rows = rows, .alpha = alpha, .beta = beta, .x = x, .z = z, .y = y, .columns = 1};
    return run_job(&job, transpose);
}

spry_status stencil_run(const spry_operator *op, spry_transpose transpose, spry_scalar alpha,
                        const void *x, spry_scalar beta, const void *z, void *y)
{
    const stencil *s = op->state;
    return stencil_run_rows(op, transpose, &s->rows, alpha, x, beta, z, y);
}

static spry_status stencil_multiply(const spry_operator *op, spry_transpose transpose,
                                    spry_scalar alpha, const void *x, spry_scalar beta, void *y)
{
    const stencil *s = op->state;
    if (s->ranks)
        return stencil_ranks_multiply(op, transpose, alpha, x, beta, y);
    return stencil_run(op, transpose, alpha, x, beta, y, y);
}

/* Columns whose numbers stand one after the other, some at a time: fields are read once for them,
 * and where there are none, one by one is as good. On ranks, and others: one by one. */
static spry_status stencil_multiply_dense(const spry_operator *op, spry_transpose transpose,
                                          spry_scalar alpha, const spry_dense *B, spry_scalar beta,
                                          const spry_dense *C)
{
    enum { TOGETHER_COLUMNS = 4 }; /* more take longer: their lines share the cache */
    const stencil *s = op->state;
    const int64_t size = (int64_t)spry_type_size(op->type);
    const int64_t together = s->field_count > 0 ? TOGETHER_COLUMNS : 1;
    spry_status status = SPRY_STATUS_OK;
    if (s->ranks || B->by_rows || C->by_rows)
        return host_multiply_singly(op, transpose, alpha, B, beta, C);
    for (int64_t c = 0; c < B->cols && status == SPRY_STATUS_OK; c += together) {
        char *y = (char *)C->data + c * C->ld * size;
        stencil_job job = {.op = op,
                           .rows = &s->rows,
                           .alpha = alpha,
                           .beta = beta,
                           .x = (const char *)B->data + c * B->ld * size,
                           .z = y,
                           .y = y,
                           .columns = (int)(B->cols - c < together ? B->cols - c : together),
                           .x_apart = B->ld * size,
                           .y_apart = C->ld * size};
        status = run_job(&job, transpose);
    }
    return status;
}

static void run_scaled(const operator_rows *rows, int64_t begin, int64_t end, spry_scalar alpha,
                       const void *x, spry_scalar beta, const void *z, void *y)
{
    const spry_operator *op = rows->state;
    const stencil *s = op->state;
    const int64_t nx = s->shape.axis[0].unknowns, size = (int64_t)spry_type_size(op->type);
    const stencil_form *form = &s->plain;
    for (int64_t row = begin; row < end;) {
        const int64_t line = row / nx, from = row - line * nx;
        const int64_t to = end - line * nx < nx ? end - line * nx : nx;
        const int64_t whole = from == 0 && to == nx ? (end - row) / nx : 1;
        const host_line at = stencil_lines(s, form, false, size, line, whole, x);
        const int64_t done = (row - begin) * size;
        s->kernels->stencil(&form->host, &at, from, to, alpha, beta,
                            z ? (const char *)z + done : NULL, (char *)y + done);
        row += (at.count - 1) * nx + to - from;
    }
}

static void run_rows(const operator_rows *rows, int64_t begin, int64_t end, const void *x, void *y)
{
    run_scaled(rows, begin, end, (spry_scalar){1, 0}, x, (spry_scalar){0, 0}, NULL, y);
}

static int64_t row_work(const operator_rows *rows, int64_t row)
{
    (void)rows;
    return 8 * row;
}

/* Plain products alone: those of A^T and A^H are made whole. */
static spry_status stencil_open_rows(const spry_operator *op, spry_transpose transpose,
                                     operator_rows *rows)
{
    const stencil *s = op->state;
    const stencil_form *form;
    if (s->ranks)
        return stencil_ranks_open_rows(op, transpose, rows);
    if (transpose != SPRY_TRANSPOSE_NO)
        return SPRY_STATUS_OK;
    const spry_status status = stencil_find_form(op, transpose, &form);
    if (status == SPRY_STATUS_OK)
        *rows = (operator_rows){.state = op,
                                .run = run_rows,
                                .run_scaled = run_scaled,
                                .reach = form->reach,
                                .grain = s->shape.dimensions > 1 ? s->shape.axis[0].unknowns : 0,
                                .work = row_work};
    return status;
}

/* The whole of a step in one pass. Across ranks what the product adds is copied first, and the rest
 * comes behind, with the same bits. */
static spry_status whole_step(const spry_operator *op, const power_terms *t, const void *v,
                              void *next)
{
    const stencil *s = op->state;
    stencil_job job = {.op = op,
                       .rows = &s->rows,
                       .alpha = t->alpha,
                       .beta = t->beta,
                       .x = v,
                       .z = t->z,
                       .y = next,
                       .columns = 1,
                       .more = t};
    if (!s->ranks)
        return run_job(&job, SPRY_TRANSPOSE_NO);
    if (t->z != next && (t->beta.re != 0 || t->beta.im != 0))
        memcpy(next, t->z, (size_t)op->rows * spry_type_size(op->type));
    const spry_status status =
        stencil_ranks_multiply(op, SPRY_TRANSPOSE_NO, t->alpha, v, t->beta, next);
    if (status == SPRY_STATUS_OK && t->w)
        s->kernels->axpy(op->rows, t->delta, t->w, next);
    return status;
}

static spry_status stencil_powers(const spry_operator *op, int count, const power_step *steps,
                                  const spry_vector *x, spry_vector *const *v, bool *made)
{
    return operator_powers_whole(op, whole_step, count, steps, x, v, made);
}

/* --- the object ----------------------------------------------------------------------------------
 */

void stencil_destroy(spry_operator *op)
{
    stencil *s = op->state;
    if (!s)
        return;
    spry_operator_free(s->mean);
    stencil_ranks_free(op->ctx, s->ranks);
    stencil_form_clear(op->ctx, &s->plain);
    stencil_form_clear(op->ctx, &s->transposed);
    terms_clear(op->ctx, s);
    base_free(op->ctx, s->waves);
    grid_drop(op->ctx, &s->shape);
    base_free(op->ctx, s);
}

const operator_precon stencil_precons[] = {
    {"gmg", gmg_make}, {"strips", strips_make}, {NULL, NULL}};

static const operator_class stencil_class = {.name = "stencil",
                                             .has_transpose = true,
                                             .multiply = stencil_multiply,
                                             .blocks.dense = stencil_multiply_dense,
                                             .destroy = stencil_destroy,
                                             .rows.open = stencil_open_rows,
                                             .structure.precons = stencil_precons,
                                             .structure.shifted = stencil_shifted,
                                             .stored.to_matrix = stencil_to_matrix,
                                             .stored.diagonal = stencil_diagonal,
                                             .powers = stencil_powers};

const stencil *stencil_of(const spry_operator *op)
{
    return op->class == &stencil_class || op->class == &stencil_on_device ? op->state : NULL;
}

#define STENCIL_OPTIONS(item)                                                   \
    item(INT, order, "2", 2, 8, NULL, "order of the differences: 2, 4, 6 or 8") \
    item(WORD, type, "d", 0, 0, "s d c z", "type of the numbers")               \
    item(TEXT, device, "cpu", 0, 0, NULL, "where it lives: cpu, cuda, opencl:1")

typedef struct stencil_options {
    STENCIL_OPTIONS(SPRY_OPTION_FIELD)
} stencil_options;
SPRY_OPTION_TABLE(option_rows, stencil_options, STENCIL_OPTIONS(SPRY_OPTION_ROW))
static const spry_option_list option_list = SPRY_OPTION_LIST(option_rows);

spry_option_list stencil_option_list(void)
{
    return option_list;
}

static spry_status read_options(spry_context *ctx, const char *text, stencil_options *options)
{
    const spry_status status = options_take(ctx, option_list, options, text);
    if (status == SPRY_STATUS_OK && options->order % 2 != 0)
        return SPRY_FAIL(ctx, SPRY_STATUS_BAD_USAGE, "order=%" PRId64 ", expected 2, 4, 6 or 8",
                         options->order);
    return status;
}

/* An operator without terms. */
static spry_status operator_new_here(spry_context *ctx, const grid_shape *shape, int order,
                                     spry_type type, spry_operator **out)
{
    const grid_box own = grid_own(ctx, shape, false);
    const int64_t n = box_count(&own);
    stencil *s = NULL;
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(ctx, operator_new(ctx, &stencil_class, type, n, n, out));
    SPRY_GO(ctx, base_calloc(ctx, 1, sizeof *s, &s));
    (*out)->state = s;
    (*out)->rows_part = (*out)->cols_part = grid_part(ctx, shape, false);
    s->shape = *shape;
    grid_hold(&s->shape);
    s->rows = own;
    s->order = order;
    s->kernels = host_kernels_for(ctx, type);
done:
    return status;
}

/* The device that is named, NULL for none; of a grid that is cut this rank's, and all ranks have
 * one or none has. */
static spry_status open_device(spry_context *ctx, const grid_shape *shape, const char *wanted,
                               spry_device **d)
{
    char name[DEVICE_NAME];
    int64_t count = 0;
    spry_status status = SPRY_STATUS_OK;
    *d = NULL;
    if (!grid_is_cut(shape))
        return strcmp(wanted, "cpu") != 0 ? device_open(ctx, wanted, d) : status;
    device_for_rank(ctx, wanted, name);
    if (strcmp(name, "cpu") != 0)
        status = device_open(ctx, name, d);
    SPRY_GO(ctx, team_agree(ctx, status));
    SPRY_GO(ctx, team_sum(ctx, *d != NULL, &count));
    if (count == 0)
        return status;
    if (count < team_ranks(ctx))
        return SPRY_FAIL(ctx, SPRY_STATUS_UNSUPPORTED,
                         "device=%s: %" PRId64 " of %d ranks have devices, and of a grid that is "
                         "cut all work there or none; name one for each rank, or take device=cpu",
                         wanted, count, team_ranks(ctx));
    SPRY_GO(ctx, device_dist_choose_transport(ctx, *d));
done:
    return status;
}

/* Makes what products take, where it is to live. */
spry_status stencil_settle(spry_operator *op, spry_device *d)
{
    if (d)
        return stencil_move(op, d);
    return grid_is_cut(&((const stencil *)op->state)->shape) ? stencil_ranks_make(op)
                                                             : SPRY_STATUS_OK;
}

spry_status spry_operator_stencil(const spry_grid *grid, const char *text, const char *options,
                                  int count, const char *const *names,
                                  const spry_vector *const *values, spry_operator **A)
{
    SPRY_NEED(CTX_OF(grid), grid, text, A);
    static const spry_type types[] = {SPRY_TYPE_S, SPRY_TYPE_D, SPRY_TYPE_C, SPRY_TYPE_Z};
    spry_context *ctx = grid->ctx;
    const grid_shape *shape = &grid->shape;
    stencil *s = NULL;
    const terms_given given = {text, count, names, values};
    stencil_options chosen = {0};
    spry_operator *op = NULL;
    spry_device *device = NULL;
    const stencil_form *form;
    spry_status status = SPRY_STATUS_OK;
    *A = NULL;
    if (count < 0 || (count > 0 && (!names || !values)))
        status =
            SPRY_FAIL(ctx, SPRY_STATUS_BAD_USAGE,
                      "%d coefficients, expected 0 or more with their names and values", count);
    if (status == SPRY_STATUS_OK)
        status = read_options(ctx, options, &chosen);
    const spry_type type = status == SPRY_STATUS_OK ? types[chosen.type] : SPRY_TYPE_D;
    if (status == SPRY_STATUS_OK)
        status = operator_new_here(ctx, shape, (int)chosen.order, type, &op);
    SPRY_GO(ctx, grid_agree(ctx, shape, status));
    s = op->state;
    SPRY_GO(ctx, terms_make(ctx, type, &given, s));
    SPRY_GO(ctx, grid_agree(ctx, shape, stencil_find_form(op, SPRY_TRANSPOSE_NO, &form)));
    const int64_t size = (int64_t)spry_type_size(type);
    op->own_bytes = s->field_count * box_count(&s->points) * size;
    op->bytes = op->own_bytes + 2 * op->rows * size;
    SPRY_GO(ctx, open_device(ctx, shape, chosen.device, &device));
    SPRY_GO(ctx, stencil_settle(op, device));
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
    SPRY_GO(ctx, operator_new_here(ctx, shape, order, type, out));
    stencil *s = (*out)->state;
    SPRY_GO(ctx, base_calloc(ctx, from->field_count, sizeof *s->fields, &s->fields));
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
    const grid_box u = grid_wider(shape, false, &s->rows, wider);
    SPRY_GO(ctx, grid_agree(ctx, shape, stencil_form_make(op, false, &u, &s->plain)));
    *coarse = op;
    op = NULL;
done:
    spry_operator_free(op);
    return status;
}
