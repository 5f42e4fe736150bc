/* Products of stencils on the host, by lines of points; of all rows, or of some of them. */
#include "grid/grid.h"

#include "host/apply.h"
#include "host/powers.h"

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

/* Columns whose numbers stand one after the other, some at a time: fields are read once for them,
 * and where there are none, one by one is as good. On ranks, and others: one by one. */
spry_status stencil_multiply_dense(const spry_operator *op, spry_transpose transpose,
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

spry_status stencil_host_open_rows(const spry_operator *op, spry_transpose transpose,
                                   operator_rows *rows)
{
    const stencil *s = op->state;
    const stencil_form *form;
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

spry_status stencil_run_step(const spry_operator *op, const power_terms *t, const void *v,
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
    return run_job(&job, SPRY_TRANSPOSE_NO);
}
