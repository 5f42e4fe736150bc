/* Rows of stencils one by one: the matrix, its diagonal, and what is known at boundaries. */
#include "grid/blocks.h"

#include "grid/domain.h"

#include "matrix/gen/gen.h"

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
static spry_scalar field_at(const row_job *j, int field, const int64_t *step, const int64_t *far)
{
    const grid_axis *a = j->s->shape.axis;
    int64_t at[GRID_AXES];
    for (int k = 0; k < GRID_AXES; k++)
        at[k] = j->at[k] + a[k].first + (a[k].ranks > 1 ? far[k] : step[k]);
    return value_get(j->op->type, j->s->fields[field], box_place(&j->s->points, at));
}

/* An entry's number, with its term's factor and fields. */
static spry_scalar entry_value(const row_job *j, const stencil_part *part, const stencil_entry *e)
{
    static const int64_t zero[GRID_AXES] = {0};
    const int64_t *const steps[] = {zero, e->mid, e->col}, *const far[] = {zero, e->far_mid,
                                                                           e->far_col};
    spry_scalar value = {part->c.re * e->c, part->c.im * e->c};
    for (int f = 0; f < 3; f++)
        if (part->field[f] >= 0)
            value = times(value, field_at(j, part->field[f], steps[f], far[f]));
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
    const int64_t *starts; /* of ranks, where the grid is cut */
    int count;
    bool full;
    int64_t cols[ROW_MOST];
    spry_scalar values[ROW_MOST];
} matrix_row;

/* Keeps columns in order. */
static void add_entry(void *data, const stencil_part *part, const stencil_entry *e)
{
    matrix_row *row = data;
    const stencil *s = row->job.s;
    if (is_known(e))
        return;
    int64_t at[GRID_AXES];
    for (int a = 0; a < GRID_AXES; a++)
        at[a] = row->job.at[a] + e->col[a];
    const int64_t col =
        row->starts ? grid_number(&s->shape, false, row->starts, at) : box_place(&s->rows, at);
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

/* Row i of this rank. */
static void make_row(const spry_operator *op, const int64_t *starts, int64_t i, matrix_row *row)
{
    const stencil *s = op->state;
    row->job = (row_job){.op = op, .s = s};
    row->starts = starts;
    row->count = 0;
    row->full = false;
    box_split(&s->rows, i, row->job.at);
    for (int p = 0; p < s->parts_count; p++)
        stencil_visit_row(&s->parts[p], false, row->job.at, add_entry, row);
}

static void write_row(const void *data, int64_t i, gen_row *out)
{
    matrix_row row;
    make_row(data, NULL, i, &row);
    for (int k = 0; k < row.count; k++)
        gen_put(out, row.cols[k], row.values[k].re, row.values[k].im);
}

static spry_status row_too_long(const spry_operator *op)
{
    return SPRY_FAIL(op->ctx, SPRY_STATUS_UNSUPPORTED,
                     "a row of the stencil has more than %d entries", ROW_MOST);
}

/* This rank's rows, with columns of all ranks; arrays are the caller's to free. */
static spry_status list_rows(const spry_operator *op, const int64_t *starts, int64_t **offsets,
                             int64_t **columns, void **values)
{
    spry_context *ctx = op->ctx;
    matrix_row row;
    int64_t n = 0;
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(ctx, base_calloc(ctx, op->rows + 1, sizeof **offsets, offsets));
    for (int fills = 0; fills < 2; fills++) {
        n = 0;
        for (int64_t i = 0; i < op->rows; i++) {
            make_row(op, starts, i, &row);
            if (row.full)
                return row_too_long(op);
            for (int k = 0; k < row.count && fills; k++) {
                (*columns)[n + k] = row.cols[k];
                value_set(op->type, *values, n + k, row.values[k]);
            }
            n += row.count;
            (*offsets)[i + 1] = n;
        }
        if (fills == 0) {
            SPRY_GO(ctx, base_alloc(ctx, n, sizeof **columns, columns));
            SPRY_GO(ctx, base_alloc(ctx, n, spry_type_size(op->type), values));
        }
    }
done:
    return status;
}

/* The matrix of a grid that is cut: distributed over ranks as fields are. */
static spry_status to_distributed_matrix(const spry_operator *op, spry_matrix **A)
{
    spry_context *ctx = op->ctx;
    const stencil *s = op->state;
    int64_t *starts = NULL, *offsets = NULL, *columns = NULL;
    void *values = NULL;
    spry_status status = grid_starts(ctx, &s->shape, false, &starts);
    if (status == SPRY_STATUS_OK)
        status = list_rows(op, starts, &offsets, &columns, &values);
    SPRY_GO(ctx, team_agree(ctx, status));
    const dist_rows mine = {op->type, op->rows, op->rows, offsets, columns, values};
    SPRY_GO(ctx, dist_make(ctx, &mine, A));
done:
    base_free(ctx, starts);
    base_free(ctx, offsets);
    base_free(ctx, columns);
    base_free(ctx, values);
    return status;
}

spry_status stencil_to_matrix(const spry_operator *op, spry_matrix **A)
{
    matrix_row row;
    if (grid_is_cut(&((const stencil *)op->state)->shape))
        return to_distributed_matrix(op, A);
    if (op->rows > INT32_MAX)
        return SPRY_FAIL(op->ctx, SPRY_STATUS_UNSUPPORTED,
                         "a matrix has at most %d rows, the grid %" PRId64 " unknowns", INT32_MAX,
                         op->rows);
    make_row(op, NULL, op->rows / 2, &row);
    return row.full ? row_too_long(op) : gen_build(op->ctx, op->type, op->rows, write_row, op, A);
}

typedef struct diagonal_row {
    row_job job;
    spry_scalar sum;
} diagonal_row;

static void add_diagonal(void *data, const stencil_part *part, const stencil_entry *e)
{
    diagonal_row *row = data;
    if (is_known(e) || e->col[0] != 0 || e->col[1] != 0 || e->col[2] != 0)
        return;
    const spry_scalar value = entry_value(&row->job, part, e);
    row->sum = (spry_scalar){row->sum.re + value.re, row->sum.im + value.im};
}

spry_status stencil_diagonal(const spry_operator *op, spry_vector **d)
{
    const stencil *s = op->state;
    spry_status status = vector_new_at(op->ctx, NULL, op->type, op->rows, d);
    status = grid_agree(op->ctx, &s->shape, status);
    for (int64_t i = 0; i < op->rows && status == SPRY_STATUS_OK; i++) {
        diagonal_row row = {.job = {.op = op, .s = s}};
        box_split(&s->rows, i, row.job.at);
        for (int p = 0; p < s->parts_count; p++)
            stencil_visit_row(&s->parts[p], false, row.job.at, add_diagonal, &row);
        value_set(op->type, (*d)->data, i, row.sum);
    }
    if (status == SPRY_STATUS_OK)
        (*d)->part = op->rows_part;
    return status;
}

/* --- what is known at boundaries -----------------------------------------------------------------
 */

typedef struct known_row {
    row_job job;
    spry_boundary_fn boundary;
    void *data;
    spry_scalar sum;
    bool twice; /* a derivative of a derivative is needed, which is not supported */
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
        const grid_axis *axis = &shape->axis[slope];
        const bool low = row->job.at[slope] + axis->first + e->col[slope] == 0;
        const double factor = (low ? -axis->spacing : axis->spacing) / axis->unit[!low];
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

/* Subtracts what is known from this rank's rows near boundaries. */
static spry_status subtract_known(const spry_operator *A, spry_boundary_fn boundary, void *data,
                                  spry_vector *b)
{
    const stencil *s = A->state;
    for (int64_t i = 0; i < A->rows && boundary; i++) {
        known_row row = {.job = {.op = A, .s = s}, .boundary = boundary, .data = data};
        box_split(&s->rows, i, row.job.at);
        if (!near_boundary(s, row.job.at))
            continue;
        for (int p = 0; p < s->parts_count; p++)
            stencil_visit_row(&s->parts[p], false, row.job.at, add_known, &row);
        if (row.twice)
            return SPRY_FAIL(A->ctx, SPRY_STATUS_UNSUPPORTED,
                             "row %" PRId64 ": a mixed derivative where two faces with Neumann's "
                             "condition meet is not known",
                             i);
        const spry_scalar before = value_get(A->type, b->data, i);
        value_set(A->type, b->data, i,
                  (spry_scalar){before.re - row.sum.re, before.im - row.sum.im});
    }
    return SPRY_STATUS_OK;
}

/* b = f, or the mean of f that a scheme wants; b may be f. */
static spry_status take_source(const spry_operator *A, const spry_vector *f, spry_vector *b)
{
    const spry_operator *mean = ((const stencil *)A->state)->mean;
    spry_vector *copy = NULL;
    spry_status status = SPRY_STATUS_OK;
    if (!f)
        return spry_vector_fill(b, (spry_scalar){0, 0});
    if (!mean)
        return f == b ? SPRY_STATUS_OK : spry_vector_copy(f, b);
    if (f == b) {
        status = spry_vector_like(b, b->n, &copy);
        if (status == SPRY_STATUS_OK)
            status = spry_vector_copy(b, copy);
    }
    SPRY_GO(A->ctx, grid_agree(A->ctx, &((const stencil *)A->state)->shape, status));
    SPRY_GO(A->ctx, spry_operator_apply(mean, copy ? copy : f, b));
done:
    spry_vector_free(copy);
    return status;
}

spry_status spry_stencil_rhs(const spry_operator *A, const spry_vector *f,
                             spry_boundary_fn boundary, void *data, spry_vector *b)
{
    SPRY_NEED(CTX_OF(A), A, b);
    spry_context *ctx = A->ctx;
    const stencil *s = stencil_of(A);
    if (!s)
        return SPRY_FAIL(ctx, SPRY_STATUS_BAD_USAGE,
                         "the operator is %s, not one of spry_operator_stencil()",
                         spry_operator_name(A));
    spry_status status = check_rhs(A, b, "b");
    if (status == SPRY_STATUS_OK && f)
        status = check_rhs(A, f, "f");
    SPRY_GO(ctx, grid_agree(ctx, &s->shape, status));
    SPRY_GO(ctx, grid_agree(ctx, &s->shape, take_source(A, f, b)));
    SPRY_GO(ctx, grid_agree(ctx, &s->shape, subtract_known(A, boundary, data, b)));
    if (s->domain.is)
        domain_subtract(A, boundary, data, b);
done:
    return status;
}
