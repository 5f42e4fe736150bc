/*
 * The vector that right-hand sides have to be orthogonal to where no value is known at any face. A
 * sum of operators along axes has w^T A = 0 for the product of w_a, with w_a^T A_a = 0 along each
 * axis: of order 2 that is 1, and 1/2 on a face. A flux d (k d) has that of k = 1, since it is the
 * outer difference that takes w_a to 0. Others, as k*dx^2 and dx*dy, have none that is such a
 * product: the solver sees that by a product with A.
 *
 * Along an axis A_a 1 = 0, and (A_a^T + c e e^T) w = c e for a unit vector e has w = 1 there.
 */
#include "grid/blocks.h"

#include "matrix/gen/gen.h"

#include <spry/precon.h>
#include <stdlib.h>

enum { REACH = 64 };

typedef struct axis_sum {
    const stencil *s;
    int axis;
    double pin;
} axis_sum;

static bool acts_alone(const stencil_part *part, int axis)
{
    for (int a = 0; a < GRID_AXES; a++)
        if (part->has[a] != (a == axis))
            return false;
    return true;
}

/* Row i of A_a^T, its diagonal in the middle; false: it reaches too far. */
static bool sum_row(const axis_sum *sum, int64_t i, double row[2 * REACH + 1])
{
    memset(row, 0, (2 * REACH + 1) * sizeof *row);
    for (int p = 0; p < sum->s->parts_count; p++) {
        const stencil_part *part = &sum->s->parts[p];
        const axis_table *t = &part->transposed[sum->axis];
        if (!acts_alone(part, sum->axis))
            continue;
        const int64_t c = axis_class(t->rows, t->low, t->high, i);
        for (int64_t k = t->start[c]; k < t->start[c + 1]; k++) {
            if (llabs(t->entries[k].col) > REACH)
                return false;
            row[t->entries[k].col + REACH] += part->c.re * t->entries[k].c;
        }
    }
    return true;
}

static void write_row(const void *data, int64_t i, gen_row *out)
{
    const axis_sum *sum = data;
    double row[2 * REACH + 1];
    sum_row(sum, i, row);
    row[REACH] += i == 0 ? sum->pin : 0;
    for (int k = 0; k <= 2 * REACH; k++)
        if (row[k] != 0)
            gen_put(out, i + k - REACH, row[k], 0);
}

/* w of an axis, or NULL where it is 1, or none is known. */
static spry_status solve_axis(spry_context *ctx, axis_sum *sum, spry_vector **w)
{
    const int64_t n = sum->s->shape.axis[sum->axis].unknowns;
    double row[2 * REACH + 1];
    spry_matrix *T = NULL;
    spry_operator *factors = NULL;
    spry_vector *e = NULL;
    spry_status status = SPRY_STATUS_OK;
    *w = NULL;
    if (!sum_row(sum, n / 2, row) || !sum_row(sum, 0, row) || row[REACH] == 0 || n > INT32_MAX)
        return status;
    sum->pin = row[REACH];
    SPRY_GO(ctx, gen_build(ctx, SPRY_TYPE_D, n, write_row, sum, &T));
    SPRY_GO(ctx, spry_precon_new(T, NULL, "direct", &factors));
    SPRY_GO(ctx, vector_new_at(ctx, NULL, SPRY_TYPE_D, n, &e));
    SPRY_GO(ctx, vector_new_at(ctx, NULL, SPRY_TYPE_D, n, w));
    value_set(SPRY_TYPE_D, e->data, 0, (spry_scalar){sum->pin, 0});
    SPRY_GO(ctx, spry_operator_apply(factors, e, *w));
done:
    spry_vector_free(e);
    spry_operator_free(factors);
    spry_matrix_free(T);
    return status;
}

/* Whether no value is known: all faces are periodic, or Neumann's, and all terms derivatives. */
static bool is_free(const stencil *s)
{
    for (int p = 0; p < s->parts_count; p++)
        if (s->parts[p].c.im != 0 ||
            !(s->parts[p].has[0] || s->parts[p].has[1] || s->parts[p].has[2]))
            return false;
    for (int a = 0; a < s->shape.dimensions; a++)
        for (int side = 0; side < 2; side++)
            if (s->shape.axis[a].face[side] == GRID_DIRICHLET || s->shape.axis[a].robin[side] != 0)
                return false;
    return true;
}

static void multiply_axes(const stencil *s, spry_vector *const *w, spry_vector *v)
{
    for (int64_t i = 0; i < v->n; i++) {
        int64_t at[GRID_AXES];
        double value = 1;
        box_split(&s->rows, i, at);
        for (int a = 0; a < GRID_AXES; a++)
            value *= w[a] ? ((const double *)w[a]->data)[at[a]] : 1;
        value_set(v->type, v->data, i, (spry_scalar){value, 0});
    }
}

spry_status stencil_left_null(const spry_operator *A, spry_vector *v)
{
    const stencil *s = A->state;
    const bool none_known = is_free(s);
    spry_vector *w[GRID_AXES] = {NULL};
    spry_status status = SPRY_STATUS_OK;
    for (int a = 0; a < s->shape.dimensions && status == SPRY_STATUS_OK && none_known; a++) {
        axis_sum sum = {.s = s, .axis = a};
        if (s->shape.axis[a].face[0] != GRID_PERIODIC)
            status = solve_axis(A->ctx, &sum, &w[a]);
    }
    if (status == SPRY_STATUS_OK)
        multiply_axes(s, w, v);
    for (int a = 0; a < GRID_AXES; a++)
        spry_vector_free(w[a]);
    return grid_agree(A->ctx, &s->shape, status);
}
