/* Operators of differences: the object, which has all rows or those of a rank, on the host or on a
 * device. */
#include "grid/options.h"
#include "grid/ranks.h"
#include "grid/stencil_device.h"
#include "grid/terms.h"

#include "device/linalg/operator.h"
#include "device/linalg/vector.h"
#include "host/apply.h"
#include "ranks/halo_device.h"

/* --- products ------------------------------------------------------------------------------------
 */

static spry_status stencil_multiply(const spry_operator *op, spry_transpose transpose,
                                    spry_scalar alpha, const void *x, spry_scalar beta, void *y)
{
    const stencil *s = op->state;
    if (s->ranks)
        return stencil_ranks_multiply(op, transpose, alpha, x, beta, y);
    return stencil_run(op, transpose, alpha, x, beta, y, y);
}

/* Plain products alone: those of A^T and A^H are made whole. */
static spry_status stencil_open_rows(const spry_operator *op, spry_transpose transpose,
                                     operator_rows *rows)
{
    const stencil *s = op->state;
    return s->ranks ? stencil_ranks_open_rows(op, transpose, rows)
                    : stencil_host_open_rows(op, transpose, rows);
}

/* The whole of a step in one pass. Across ranks what the product adds is copied first, and the rest
 * comes behind, with the same bits. */
static spry_status whole_step(const spry_operator *op, const power_terms *t, const void *v,
                              void *next)
{
    const stencil *s = op->state;
    if (!s->ranks)
        return stencil_run_step(op, t, v, next);
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

static void stencil_destroy(spry_operator *op)
{
    stencil *s = op->state;
    if (!s)
        return;
    spry_operator_free(s->mean);
    stencil_ranks_free(op->ctx, s->ranks); /* which uses what follows */
    stencil_device_free(op->ctx, s->device);
    if (op->device)
        op->device->users--;
    stencil_form_clear(op->ctx, &s->plain);
    stencil_form_clear(op->ctx, &s->transposed);
    terms_clear(op->ctx, s);
    base_free(op->ctx, s->waves);
    grid_drop(op->ctx, &s->shape);
    base_free(op->ctx, s);
}

static const operator_precon stencil_precons[] = {
    {"gmg", gmg_make}, {"strips", strips_make}, {NULL, NULL}};

static spry_status stencil_shifted(const spry_operator *A, spry_scalar alpha, spry_scalar beta,
                                   spry_operator **shifted);

static const operator_class stencil_class = {.name = stencil_name,
                                             .has_transpose = true,
                                             .multiply = stencil_multiply,
                                             .blocks.dense = stencil_multiply_dense,
                                             .destroy = stencil_destroy,
                                             .rows.open = stencil_open_rows,
                                             .structure.precons = stencil_precons,
                                             .structure.suits = gmg_suits,
                                             .structure.left_null = stencil_left_null,
                                             .structure.shifted = stencil_shifted,
                                             .stored.to_matrix = stencil_to_matrix,
                                             .stored.diagonal = stencil_diagonal,
                                             .powers = stencil_powers};

static spry_status multiply_memory(const spry_operator *op, spry_transpose transpose,
                                   spry_scalar alpha, const device_memory *x, spry_scalar beta,
                                   device_memory *y)
{
    const stencil *s = op->state;
    return s->ranks ? stencil_ranks_multiply_memory(op, transpose, alpha, x, beta, y)
                    : stencil_device_multiply(op, transpose, alpha, x, beta, y);
}

static const operator_class stencil_device_class = {.name = stencil_name,
                                                    .has_transpose = true,
                                                    .multiply = operator_apply_arrays,
                                                    .multiply_vectors = device_multiply_vectors,
                                                    .device.multiply = multiply_memory,
                                                    .blocks.dense = stencil_device_multiply_dense,
                                                    .device.open_rows = stencil_device_open_rows,
                                                    .destroy = stencil_destroy,
                                                    .structure.precons = stencil_precons,
                                                    .structure.suits = gmg_suits,
                                                    .structure.left_null = stencil_left_null,
                                                    .structure.shifted = stencil_shifted,
                                                    .stored.to_matrix = stencil_to_matrix,
                                                    .stored.diagonal = stencil_diagonal};

/* Makes what products take, where the operator is to live. Collective where the grid is cut. */
static spry_status settle(spry_operator *op, spry_device *d)
{
    const grid_shape *shape = &((const stencil *)op->state)->shape;
    spry_status status = SPRY_STATUS_OK;
    if (d) {
        status = grid_agree(op->ctx, shape, stencil_device_make(op, d));
        op->class = &stencil_device_class;
    }
    return status == SPRY_STATUS_OK && grid_is_cut(shape) ? stencil_ranks_make(op) : status;
}

/* A copy with its rows, which has room for another term. */
static spry_status copy_terms(const spry_operator *A, spry_operator **op)
{
    const stencil *from = A->state;
    if (from->parts_count == TERMS_MOST)
        return SPRY_FAIL(A->ctx, SPRY_STATUS_UNSUPPORTED,
                         "an operator of %d terms has no room for another", TERMS_MOST);
    return stencil_coarser(A, &from->shape, from->order, A->type, 0, op);
}

/* The rows of a copy whose terms were changed, where A lives. */
static spry_status renew(const spry_operator *A, spry_operator *op)
{
    stencil *s = op->state;
    spry_status status = SPRY_STATUS_OK;
    stencil_form_clear(op->ctx, &s->plain);
    SPRY_GO(A->ctx,
            grid_agree(A->ctx, &s->shape, stencil_form_make(op, false, &s->rows, &s->plain)));
    const int64_t size = (int64_t)spry_type_size(op->type);
    const int more = s->field_count - ((const stencil *)A->state)->field_count;
    op->own_bytes = A->own_bytes + more * box_count(&s->points) * size;
    op->bytes = A->bytes + op->own_bytes - A->own_bytes;
    SPRY_GO(A->ctx, settle(op, A->device));
done:
    return status;
}

/* alpha A + beta I, where A is, with its multigrid. */
static spry_status stencil_shifted(const spry_operator *A, spry_scalar alpha, spry_scalar beta,
                                   spry_operator **shifted)
{
    spry_operator *op = NULL;
    spry_status status = SPRY_STATUS_OK;
    *shifted = NULL;
    SPRY_GO(A->ctx, copy_terms(A, &op));
    stencil *s = op->state;
    for (int p = 0; p < s->parts_count; p++) {
        const spry_scalar c = s->parts[p].c;
        s->parts[p].c =
            (spry_scalar){alpha.re * c.re - alpha.im * c.im, alpha.re * c.im + alpha.im * c.re};
    }
    s->domain.behind[s->parts_count] = -1;
    s->parts[s->parts_count++] = (stencil_part){.c = beta, .field = {-1, -1, -1}};
    SPRY_GO(A->ctx, renew(A, op));
    *shifted = op;
    op = NULL;
done:
    spry_operator_free(op);
    return status;
}

/* Adds a field with the numbers of unknowns; those of other points are in no row. */
static spry_status add_field(spry_operator *op, const spry_vector *d)
{
    stencil *s = op->state;
    const spry_vector *on_host = NULL;
    spry_vector *copy = NULL;
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(op->ctx,
            base_grow(op->ctx, s->field_count, s->field_count + 1, sizeof *s->fields, &s->fields));
    SPRY_GO(op->ctx, base_calloc(op->ctx, box_count(&s->points), spry_type_size(op->type),
                                 &s->fields[s->field_count]));
    s->field_count++;
    SPRY_GO(op->ctx, vector_on_host(d, &on_host, &copy));
    for (int64_t i = 0; i < op->rows; i++) {
        int64_t at[GRID_AXES];
        box_split(&s->rows, i, at);
        for (int a = 0; a < GRID_AXES; a++)
            at[a] += s->shape.axis[a].first;
        value_set(op->type, s->fields[s->field_count - 1], box_place(&s->points, at),
                  value_get(d->type, on_host->data, i));
    }
done:
    spry_vector_free(copy);
    return status;
}

static spry_status check_diagonal(const spry_operator *A, const spry_vector *d)
{
    const stencil *s = stencil_of(A);
    if (!s || s->waves)
        return SPRY_FAIL(A->ctx, SPRY_STATUS_BAD_USAGE,
                         "a diagonal is added to operators of spry_operator_stencil(), not to %s",
                         s ? "one of spry_operator_helmholtz()" : spry_operator_name(A));
    if (grid_is_cut(&s->shape))
        return SPRY_FAIL(A->ctx, SPRY_STATUS_UNSUPPORTED,
                         "a diagonal is not added to operators on grids that are cut for ranks; "
                         "make one with a coefficient");
    if (d->ctx != A->ctx || d->n != A->rows ||
        (spry_type_is_complex(d->type) && !spry_type_is_complex(A->type)))
        return SPRY_FAIL(A->ctx, SPRY_STATUS_BAD_USAGE,
                         "the diagonal has %" PRId64 " elements of type %s%s, the operator %" PRId64
                         " rows of type %s",
                         d->n, spry_type_name(d->type),
                         d->ctx == A->ctx ? "" : ", and is of another context", A->rows,
                         spry_type_name(A->type));
    return SPRY_STATUS_OK;
}

spry_status spry_operator_add_diagonal(const spry_operator *A, const spry_vector *d,
                                       spry_operator **sum)
{
    SPRY_NEED(CTX_OF(A), A, d, sum);
    spry_operator *op = NULL;
    spry_status status = SPRY_STATUS_OK;
    *sum = NULL;
    SPRY_GO(A->ctx, check_diagonal(A, d));
    SPRY_GO(A->ctx, copy_terms(A, &op));
    SPRY_GO(A->ctx, add_field(op, d));
    stencil *s = op->state;
    s->domain.behind[s->parts_count] = -1;
    s->parts[s->parts_count++] = (stencil_part){.c = {1, 0}, .field = {s->field_count - 1, -1, -1}};
    SPRY_GO(A->ctx, renew(A, op));
    *sum = op;
    op = NULL;
done:
    spry_operator_free(op);
    return status;
}

#define STENCIL_OPTIONS(item)                                                                    \
    item(INT, order, "2", 2, 8, NULL, "order of the differences: 2, 4, 6 or 8")                  \
    item(WORD, type, "d", 0, 0, "s d c z", "type of the numbers")                                \
    item(TEXT, device, "cpu", 0, 0, NULL, "where it lives: cpu, cuda, opencl:1")                 \
    item(TEXT, domain, "", 0, 0, NULL,                                                           \
         "a coefficient that is negative in the part of the grid to solve in, such as a signed " \
         "distance; u is known where it is 0")

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
                         "cut all use one or none does; name one for each rank, or take device=cpu",
                         wanted, count, team_ranks(ctx));
    SPRY_GO(ctx, device_dist_choose_transport(ctx, *d));
done:
    return status;
}

spry_status spry_operator_stencil(const spry_grid *grid, const char *text, const char *options,
                                  int count, const char *const *names,
                                  const spry_vector *const *values, spry_operator **A)
{
    SPRY_NEED(CTX_OF(grid), grid, text, A);
    static const spry_type types[] = {SPRY_TYPE_S, SPRY_TYPE_D, SPRY_TYPE_C, SPRY_TYPE_Z};
    spry_context *ctx = grid->ctx;
    const grid_shape *shape = &grid->shape;
    terms_given given = {text, count, names, values, NULL};
    stencil_options chosen = {0};
    spry_operator *op = NULL;
    spry_device *device = NULL;
    spry_status status = SPRY_STATUS_OK;
    *A = NULL;
    if (count < 0 || (count > 0 && (!names || !values)))
        status =
            SPRY_FAIL(ctx, SPRY_STATUS_BAD_USAGE,
                      "%d coefficients, expected 0 or more with their names and values", count);
    if (status == SPRY_STATUS_OK)
        status = read_options(ctx, options, &chosen);
    const spry_type type = status == SPRY_STATUS_OK ? types[chosen.type] : SPRY_TYPE_D;
    SPRY_GO(ctx, grid_agree(ctx, shape, status));
    given.domain = chosen.domain;
    SPRY_GO(ctx,
            stencil_of_terms(ctx, &stencil_class, shape, (int)chosen.order, type, &given, &op));
    SPRY_GO(ctx, open_device(ctx, shape, chosen.device, &device));
    SPRY_GO(ctx, settle(op, device));
    *A = op;
    op = NULL;
done:
    spry_operator_free(op);
    return status;
}
