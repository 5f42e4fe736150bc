/* Rows of stencils one by one: the matrix, its diagonal, and what is known at boundaries. */
#include "grid/grid.h"

#include "gen/gen.h"

static spry_scalar times(spry_scalar a, spry_scalar b)
{
    return (spry_scalar){a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
}

typedef struct row_job {
    const spry_operator *op;
    const stencil *s;
    int64_t at[GRID_AXES]; /* the row, as unknowns */
} row_job;

/* The number of a field at a distance from a row. */
static spry_scalar field_at(const row_job *j, int field, const int64_t *step)
{
    const grid_axis *a = j->s->shape.axis;
    int64_t at[GRID_AXES];
    for (int k = 0; k < GRID_AXES; k++)
        at[k] = j->at[k] + a[k].first + step[k];
    return value_get(j->op->type, j->s->fields[field],
                     at[0] + a[0].points * (at[1] + a[1].points * at[2]));
}

/* An entry's number, with its term's factor and fields. */
static spry_scalar entry_value(const row_job *j, const stencil_part *part, const stencil_entry *e)
{
    static const int64_t here[GRID_AXES] = {0};
    const int64_t *const steps[] = {here, e->mid, e->col};
    spry_scalar value = {part->c.re * e->c, part->c.im * e->c};
    for (int f = 0; f < 3; f++)
        if (part->field[f] >= 0)
            value = times(value, field_at(j, part->field[f], steps[f]));
    return value;
}

spry_scalar stencil_entry_value(const spry_operator *op, const int64_t at[GRID_AXES],
                                const stencil_part *part, const stencil_entry *e)
{
    const row_job job = {.op = op, .s = op->state, .at = {at[0], at[1], at[2]}};
    return entry_value(&job, part, e);
}

static bool is_known(const stencil_entry *e)
{
    return e->kind[0] != KNOWN_NOT || e->kind[1] != KNOWN_NOT || e->kind[2] != KNOWN_NOT;
}

/* --- the matrix ----------------------------------------------------------------------------------
 */

enum { ROW_MOST = 2048 };
typedef struct matrix_row {
    row_job job;
    int count;
    bool full;
    int64_t cols[ROW_MOST];
    spry_scalar values[ROW_MOST];
} matrix_row;

/* Keeps columns in order. */
static void add_entry(void *data, const stencil_part *part, const stencil_entry *e)
{
    matrix_row *row = data;
    const grid_axis *a = row->job.s->shape.axis;
    if (is_known(e))
        return;
    const int64_t col =
        row->job.at[0] + e->col[0] +
        a[0].unknowns * (row->job.at[1] + e->col[1] + a[1].unknowns * (row->job.at[2] + e->col[2]));
    const spry_scalar value = entry_value(&row->job, part, e);
    int k = row->count;
    while (k > 0 && row->cols[k - 1] > col)
        k--;
    if (k > 0 && row->cols[k - 1] == col) {
        row->values[k - 1].re += value.re;
        row->values[k - 1].im += value.im;
        return;
    }
    if (row->count == ROW_MOST) {
        row->full = true;
        return;
    }
    memmove(row->cols + k + 1, row->cols + k, (size_t)(row->count - k) * sizeof *row->cols);
    memmove(row->values + k + 1, row->values + k, (size_t)(row->count - k) * sizeof *row->values);
    row->cols[k] = col;
    row->values[k] = value;
    row->count++;
}

static void make_row(const spry_operator *op, int64_t i, matrix_row *row)
{
    const stencil *s = op->state;
    row->job = (row_job){.op = op, .s = s};
    row->count = 0;
    row->full = false;
    grid_split(&s->shape, false, i, row->job.at);
    for (int p = 0; p < s->parts_count; p++)
        stencil_visit_row(&s->parts[p], false, row->job.at, add_entry, row);
}

static void write_row(const void *data, int64_t i, gen_row *out)
{
    matrix_row row;
    make_row(data, i, &row);
    for (int k = 0; k < row.count; k++)
        gen_put(out, row.cols[k], row.values[k].re, row.values[k].im);
}

spry_status stencil_to_matrix(const spry_operator *op, spry_matrix **A)
{
    matrix_row row;
    if (op->rows > INT32_MAX)
        return SPRY_FAIL(op->ctx, SPRY_STATUS_UNSUPPORTED,
                         "a matrix has at most %d rows, the grid %" PRId64 " unknowns", INT32_MAX,
                         op->rows);
    make_row(op, op->rows / 2, &row);
    if (row.full)
        return SPRY_FAIL(op->ctx, SPRY_STATUS_UNSUPPORTED,
                         "a row of the stencil has more than %d entries", ROW_MOST);
    return gen_build(op->ctx, op->type, op->rows, write_row, op, A);
}

spry_status stencil_diagonal(const spry_operator *op, spry_vector **d)
{
    matrix_row row;
    const spry_status status = vector_new_at(op->ctx, NULL, op->type, op->rows, d);
    for (int64_t i = 0; i < op->rows && status == SPRY_STATUS_OK; i++) {
        make_row(op, i, &row);
        for (int k = 0; k < row.count; k++)
            if (row.cols[k] == i)
                value_set(op->type, (*d)->data, i, row.values[k]);
    }
    return status;
}

/* --- what is known at boundaries -----------------------------------------------------------------
 */

typedef struct known_row {
    row_job job;
    spry_boundary_fn boundary;
    void *data;
    spry_scalar sum;
    bool twice; /* a derivative of a derivative is needed, which nobody tells */
} known_row;

static void add_known(void *data, const stencil_part *part, const stencil_entry *e)
{
    known_row *row = data;
    const grid_shape *shape = &row->job.s->shape;
    double place[GRID_AXES] = {0};
    spry_scalar value = {0, 0};
    int slope = -1;
    if (!is_known(e))
        return;
    for (int a = 0; a < shape->dimensions; a++) {
        place[a] =
            grid_coordinate(&shape->axis[a], row->job.at[a] + shape->axis[a].first + e->col[a]);
        row->twice = row->twice || (slope >= 0 && e->kind[a] == KNOWN_SLOPE);
        slope = e->kind[a] == KNOWN_SLOPE ? a : slope;
    }
    row->boundary(row->data, slope, place, &value);
    value = times(value, entry_value(&row->job, part, e));
    if (slope >= 0) { /* outward, where tables have it along the axis and in spacings */
        const bool low = row->job.at[slope] + shape->axis[slope].first + e->col[slope] == 0;
        const double factor = low ? -shape->axis[slope].spacing : shape->axis[slope].spacing;
        value = (spry_scalar){value.re * factor, value.im * factor};
    }
    row->sum.re += value.re;
    row->sum.im += value.im;
}

static bool near_boundary(const stencil *s, const int64_t at[GRID_AXES])
{
    const stencil_form *f = &s->plain;
    for (int a = 0; a < GRID_AXES; a++)
        if (at[a] < f->low[a] || at[a] >= s->shape.axis[a].unknowns - f->high[a])
            return true;
    return false;
}

static spry_status check_rhs(const spry_operator *A, const spry_vector *v, const char *name)
{
    if (v->n == A->rows && v->type == A->type && !v->device && v->ctx == A->ctx)
        return vector_fetch(v);
    return SPRY_FAIL(A->ctx, SPRY_STATUS_BAD_USAGE,
                     "%s has to be a vector of the operator's context on the host, of type %s and "
                     "with %" PRId64 " elements; it is on %s, of type %s and with %" PRId64,
                     name, spry_type_name(A->type), A->rows, place_name(v->device),
                     spry_type_name(v->type), v->n);
}

spry_status spry_stencil_rhs(const spry_operator *A, const spry_vector *f,
                             spry_boundary_fn boundary, void *data, spry_vector *b)
{
    SPRY_NEED(CTX_OF(A), A, b);
    spry_context *ctx = A->ctx;
    const stencil *s = stencil_of(A);
    spry_status status = SPRY_STATUS_OK;
    if (!s)
        return SPRY_FAIL(ctx, SPRY_STATUS_BAD_USAGE,
                         "the operator is %s, not one of spry_operator_stencil()",
                         spry_operator_name(A));
    SPRY_GO(ctx, check_rhs(A, b, "b"));
    if (f)
        SPRY_GO(ctx, check_rhs(A, f, "f"));
    if (!f)
        SPRY_GO(ctx, spry_vector_fill(b, (spry_scalar){0, 0}));
    else if (f != b)
        SPRY_GO(ctx, spry_vector_copy(f, b));
    for (int64_t i = 0; i < A->rows && boundary; i++) {
        known_row row = {.job = {.op = A, .s = s}, .boundary = boundary, .data = data};
        grid_split(&s->shape, false, i, row.job.at);
        if (!near_boundary(s, row.job.at))
            continue;
        for (int p = 0; p < s->parts_count; p++)
            stencil_visit_row(&s->parts[p], false, row.job.at, add_known, &row);
        if (row.twice)
            return SPRY_FAIL(ctx, SPRY_STATUS_UNSUPPORTED,
                             "row %" PRId64 ": a mixed derivative where two faces with Neumann's "
                             "condition meet is not known",
                             i);
        const spry_scalar before = value_get(A->type, b->data, i);
        value_set(A->type, b->data, i,
                  (spry_scalar){before.re - row.sum.re, before.im - row.sum.im});
    }
done:
    return status;
}
