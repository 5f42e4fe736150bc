/* Operators of differences: products by lines of points, and the object. */
#include "grid/grid.h"

#include "grid/stencil_device.h"
#include "grid/terms.h"

/* --- products ------------------------------------------------------------------------------------
 */

/* The rows of op(A), made if they have to be. */
spry_status stencil_find_form(const spry_operator *op, spry_transpose transpose,
                              const stencil_form **form)
{
    stencil *s = op->state;
    stencil_form *f = transpose == SPRY_TRANSPOSE_NO ? &s->plain : &s->transposed;
    *form = f;
    return f->made ? SPRY_STATUS_OK : stencil_form_make(op, transpose != SPRY_TRANSPOSE_NO, f);
}

enum { TOGETHER = 8 }; /* lines */

/* One product: all that its threads have in common. */
typedef struct stencil_job {
    const spry_operator *op;
    const stencil_form *form;
    bool conjugate;
    spry_scalar alpha, beta;
    const char *x, *z;
    char *y;
    int64_t block; /* lines of a plane that are done in all planes before the next ones */
} stencil_job;

host_line stencil_line(const stencil *s, const stencil_form *form, bool conjugate, int64_t size,
                       int64_t line, const char *x)
{
    const grid_axis *a = s->shape.axis;
    const int64_t y = line % a[1].unknowns, z = line / a[1].unknowns;
    const int64_t class_y = axis_class(a[1].unknowns, form->low[1], form->high[1], y);
    const int64_t class_z = axis_class(a[2].unknowns, form->low[2], form->high[2], z);
    return (host_line){.class = form->classes[0] * (class_y + form->classes[1] * class_z),
                       .place = a[0].first +
                                a[0].points * (y + a[1].first + a[1].points * (z + a[2].first)),
                       .count = 1,
                       .u = x + line * a[0].unknowns * size,
                       .conjugate = conjugate};
}

/* The same for up to `most` lines of its class that follow each other. */
static host_line stencil_lines(const stencil *s, const stencil_form *form, bool conjugate,
                               int64_t size, int64_t line, int64_t most, const char *x)
{
    const int64_t ny = s->shape.axis[1].unknowns, y = line % ny;
    const int64_t last = ny - form->high[1];
    host_line at = stencil_line(s, form, conjugate, size, line, x);
    if (y >= form->low[1] && y < last)
        at.count = most < last - y ? most : last - y;
    return at;
}

/* A share of lines. Blocks of lines go through all planes, so that the planes around are still in
 * the cache when a block comes to them. */
static void multiply_share(void *argument, int part, int parts)
{
    const stencil_job *j = argument;
    const stencil *s = j->op->state;
    const int64_t nx = s->shape.axis[0].unknowns, ny = s->shape.axis[1].unknowns;
    const int64_t size = (int64_t)spry_type_size(j->op->type);
    const range lines = base_share(ny * s->shape.axis[2].unknowns, parts, part, 1);
    for (int64_t first = 0; first < ny; first += j->block)
        for (int64_t plane = lines.begin / ny * ny; plane < lines.end; plane += ny) {
            const int64_t from = plane + first > lines.begin ? plane + first : lines.begin;
            int64_t to = plane + (first + j->block < ny ? first + j->block : ny);
            to = to < lines.end ? to : lines.end;
            for (int64_t line = from, count; line < to; line += count) {
                const int64_t most = to - line < TOGETHER ? to - line : TOGETHER;
                const host_line at =
                    stencil_lines(s, j->form, j->conjugate, size, line, most, j->x);
                count = at.count;
                s->kernels->stencil(&j->form->host, &at, 0, nx, j->alpha, j->beta,
                                    j->z + line * nx * size, j->y + line * nx * size);
            }
        }
}

spry_status stencil_run(const spry_operator *op, spry_transpose transpose, spry_scalar alpha,
                        const void *x, spry_scalar beta, const void *z, void *y)
{
    enum { CACHE = 512 << 10, LEAST = 4 }; /* half of a second cache */
    const stencil *s = op->state;
    stencil_job job = {.op = op,
                       .conjugate = transpose == SPRY_TRANSPOSE_CONJUGATE,
                       .alpha = alpha,
                       .beta = beta,
                       .x = x,
                       .z = z,
                       .y = y};
    const spry_status status = stencil_find_form(op, transpose, &job.form);
    if (status != SPRY_STATUS_OK)
        return status;
    const int64_t line = s->shape.axis[0].unknowns * (int64_t)spry_type_size(op->type);
    job.block = CACHE / (line * (s->order + 2));
    job.block = job.block < LEAST ? LEAST : job.block;
    base_share_out(op->ctx, host_threads(op->ctx, op->rows), multiply_share, &job);
    return SPRY_STATUS_OK;
}

static spry_status stencil_multiply(const spry_operator *op, spry_transpose transpose,
                                    spry_scalar alpha, const void *x, spry_scalar beta, void *y)
{
    return stencil_run(op, transpose, alpha, x, beta, y, y);
}

static void run_rows(const operator_rows *rows, int64_t begin, int64_t end, const void *x, void *y)
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
        s->kernels->stencil(&form->host, &at, from, to, (spry_scalar){1, 0}, (spry_scalar){0, 0},
                            NULL, (char *)y + (row - begin) * size);
        row += (at.count - 1) * nx + to - from;
    }
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
    const stencil_form *form;
    if (transpose != SPRY_TRANSPOSE_NO)
        return SPRY_STATUS_OK;
    const spry_status status = stencil_find_form(op, transpose, &form);
    if (status == SPRY_STATUS_OK)
        *rows = (operator_rows){.state = op, .run = run_rows, .work = row_work};
    return status;
}

/* --- the object ----------------------------------------------------------------------------------
 */

void stencil_destroy(spry_operator *op)
{
    stencil *s = op->state;
    if (!s)
        return;
    stencil_form_clear(op->ctx, &s->plain);
    stencil_form_clear(op->ctx, &s->transposed);
    terms_clear(op->ctx, s);
    grid_drop(op->ctx, &s->shape);
    base_free(op->ctx, s);
}

static const operator_class stencil_class = {.name = "stencil",
                                             .has_transpose = true,
                                             .multiply = stencil_multiply,
                                             .destroy = stencil_destroy,
                                             .open_rows = stencil_open_rows,
                                             .multigrid = gmg_make,
                                             .shifted = stencil_shifted,
                                             .to_matrix = stencil_to_matrix,
                                             .matrix_diagonal = stencil_diagonal};

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
#define OPTION_OWNER stencil_options
static const spry_option option_rows[] = {STENCIL_OPTIONS(SPRY_OPTION_ROW)};
#undef OPTION_OWNER
static const spry_option_list option_list = SPRY_OPTION_LIST(option_rows);

spry_option_list spry_stencil_options(void)
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

spry_status spry_operator_stencil(const spry_grid *grid, const char *text, const char *options,
                                  int count, const char *const *names,
                                  const spry_vector *const *values, spry_operator **A)
{
    SPRY_NEED(CTX_OF(grid), grid, text, A);
    spry_context *ctx = grid->ctx;
    static const spry_type types[] = {SPRY_TYPE_S, SPRY_TYPE_D, SPRY_TYPE_C, SPRY_TYPE_Z};
    const int64_t n = grid->shape.unknowns;
    stencil_options chosen;
    spry_operator *op = NULL;
    stencil *s = NULL;
    spry_device *device = NULL;
    const stencil_form *form;
    spry_status status = SPRY_STATUS_OK;
    *A = NULL;
    if (count < 0 || (count > 0 && (!names || !values)))
        return SPRY_FAIL(ctx, SPRY_STATUS_BAD_USAGE,
                         "%d coefficients, expected 0 or more with their names and values", count);
    SPRY_GO(ctx, read_options(ctx, options, &chosen));
    const spry_type type = types[chosen.type];
    SPRY_GO(ctx, operator_new(ctx, &stencil_class, type, n, n, &op));
    SPRY_GO(ctx, base_calloc(ctx, 1, sizeof *s, &s));
    op->state = s;
    s->shape = grid->shape;
    grid_hold(&s->shape);
    s->order = (int)chosen.order;
    s->kernels = host_kernels_for(ctx, type);
    const terms_given given = {text, count, names, values};
    SPRY_GO(ctx, terms_make(ctx, type, &given, s));
    SPRY_GO(ctx, stencil_find_form(op, SPRY_TRANSPOSE_NO, &form));
    const int64_t size = (int64_t)spry_type_size(type);
    op->own_bytes = s->field_count * s->shape.points * size;
    op->bytes = op->own_bytes + 2 * n * size;
    if (strcmp(chosen.device, "cpu") != 0) {
        SPRY_GO(ctx, device_open(ctx, chosen.device, &device));
        SPRY_GO(ctx, stencil_move(op, device));
    }
    *A = op;
    op = NULL;
done:
    spry_operator_free(op);
    return status;
}

/* Numbers of a field at the points that the coarser grid has. */
static void take_points(const spry_operator *fine, const grid_shape *shape, spry_type type,
                        const void *from, void *to)
{
    const grid_axis *f = ((const stencil *)fine->state)->shape.axis;
    for (int64_t i = 0; i < shape->points; i++) {
        int64_t at[GRID_AXES];
        grid_split(shape, true, i, at);
        for (int a = 0; a < GRID_AXES; a++)
            if (shape->axis[a].intervals > 0)
                at[a] *= f[a].intervals / shape->axis[a].intervals;
        const int64_t k = at[0] + f[0].points * (at[1] + f[1].points * at[2]);
        value_set(type, to, i, value_get(fine->type, from, k));
    }
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

spry_status stencil_coarser(const spry_operator *fine, const grid_shape *shape, int order,
                            spry_type type, spry_operator **coarse)
{
    spry_context *ctx = fine->ctx;
    const stencil *from = fine->state;
    spry_operator *op = NULL;
    stencil *s = NULL;
    const stencil_form *form;
    spry_status status = SPRY_STATUS_OK;
    *coarse = NULL;
    SPRY_GO(ctx, operator_new(ctx, &stencil_class, type, shape->unknowns, shape->unknowns, &op));
    SPRY_GO(ctx, base_calloc(ctx, 1, sizeof *s, &s));
    op->state = s;
    s->shape = *shape;
    grid_hold(&s->shape);
    s->order = order;
    s->kernels = host_kernels_for(ctx, type);
    SPRY_GO(ctx, base_calloc(ctx, from->field_count, sizeof *s->fields, &s->fields));
    for (int f = 0; f < from->field_count; f++) {
        SPRY_GO(ctx, base_alloc(ctx, shape->points, spry_type_size(type), &s->fields[f]));
        s->field_count++;
        take_points(fine, shape, type, from->fields[f], s->fields[f]);
    }
    SPRY_GO(ctx, copy_parts(ctx, from, s));
    SPRY_GO(ctx, stencil_find_form(op, SPRY_TRANSPOSE_NO, &form));
    *coarse = op;
    op = NULL;
done:
    spry_operator_free(op);
    return status;
}
