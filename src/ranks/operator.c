/*
 * Products with rows that are distributed over ranks. What others need of x is sent, the rows of
 * the own block are multiplied meanwhile, and when what others have sent has come, the edge rows,
 * which need it, are computed as a whole (distributed.h). So every row is summed up in the order of
 * its entries, as without ranks. Ranks on hosts and on devices send the same messages in the same
 * order.
 *
 * Products with A^T and A^H are those with the rows of these, which are built and distributed at
 * the first one.
 */
#include "ranks/operator.h"

#include "device/linalg/operator.h"
#include "host/apply.h"
#include "ranks/operator_side.h"

typedef struct dist_state {
    spry_device *d; /* NULL: the host */
    dist_source source;
    const spry_matrix *A; /* whose rows they are; NULL: of no matrix */
    dist_side *sides[3];  /* by transpose */
} dist_state;

/* --- sides ---------------------------------------------------------------------------------------
 */

static void side_free(dist_side *s)
{
    if (!s)
        return;
    if (s->d)
        dist_device_close(s);
    else
        dist_host_close(s);
    spry_operator_free(s->own);
    spry_operator_free(s->edge);
    spry_matrix_free(s->kept);
    base_free(s->ctx, s);
}

/* Whether products can be run by rows: on all ranks or on none, as where one works on a device. */
static spry_status agree_by_rows(dist_side *s)
{
    bool mine = false, lacking = true;
    /* NOLINTNEXTLINE(clang-analyzer-core.NullDereference): all have agreed that it exists */
    spry_status status = s->d ? SPRY_STATUS_OK : dist_host_find_rows(s, &mine);
    SPRY_GO(s->ctx, team_agree(s->ctx, status));
    SPRY_GO(s->ctx, team_any(s->ctx, !mine, &lacking));
done:
    s->by_rows = !lacking;
    return status;
}

/* Takes the parts, also when it fails; `made` is the status that they were made with. */
static spry_status side_new(spry_context *ctx, spry_device *d, spry_type type, spry_status made,
                            dist_parts *parts, dist_side **out)
{
    dist_side *s = NULL;
    spry_status status = made == SPRY_STATUS_OK ? base_calloc(ctx, 1, sizeof *s, &s) : made;
    *out = NULL;
    if (s) {
        *s = (dist_side){.ctx = ctx,
                         .d = d,
                         .type = type,
                         .links = parts->links,
                         .own = parts->own,
                         .edge = parts->edge,
                         .kept = parts->kept};
        *parts = (dist_parts){0};
    }
    SPRY_GO(ctx, team_agree(ctx, status));
    /* NOLINTNEXTLINE(clang-analyzer-core.NullDereference): all have agreed that it was made */
    SPRY_GO(ctx, agree_by_rows(s));
    SPRY_GO(ctx, d ? dist_device_open(s) : dist_host_open(s));
    *out = s;
    s = NULL;
done:
    spry_operator_free(parts->own);
    spry_operator_free(parts->edge);
    spry_matrix_free(parts->kept);
    side_free(s);
    return status;
}

/* Which of the three products a transpose is: of real numbers two are the same. */
static spry_transpose kind_of(spry_type type, spry_transpose transpose)
{
    return transpose == SPRY_TRANSPOSE_CONJUGATE && !spry_type_is_complex(type) ? SPRY_TRANSPOSE_YES
                                                                                : transpose;
}

/* The rows of A^T or A^H, made at the first use. */
static spry_status find_side(const spry_operator *op, spry_transpose transpose, dist_side **out)
{
    dist_state *state = op->state;
    const spry_transpose kind = kind_of(op->type, transpose);
    spry_status status = SPRY_STATUS_OK;
    if (!state->sides[kind]) {
        dist_parts parts = {0};
        const spry_status made = state->source.open(state->source.state, kind, &parts);
        SPRY_GO(op->ctx, side_new(op->ctx, state->d, op->type, made, &parts, &state->sides[kind]));
    }
    *out = state->sides[kind];
done:
    return status;
}

/* --- the operator --------------------------------------------------------------------------------
 */

static spry_status dist_multiply(const spry_operator *op, spry_transpose transpose,
                                 spry_scalar alpha, const void *x, spry_scalar beta, void *y)
{
    dist_side *s = NULL;
    const spry_status status = find_side(op, transpose, &s);
    return status == SPRY_STATUS_OK ? dist_host_multiply(s, alpha, x, beta, y) : status;
}

spry_status device_dist_multiply(const spry_operator *op, spry_transpose transpose,
                                 spry_scalar alpha, const device_memory *x, spry_scalar beta,
                                 device_memory *y)
{
    dist_side *s = NULL;
    const spry_status status = find_side(op, transpose, &s);
    return status == SPRY_STATUS_OK ? dist_device_multiply(s, alpha, x, beta, y) : status;
}

spry_status device_dist_skip(const spry_operator *op, spry_transpose transpose)
{
    dist_side *s = NULL;
    const spry_status status = find_side(op, transpose, &s);
    return status == SPRY_STATUS_OK ? device_halo_exchange(s->device.halo) : status;
}

static spry_status dist_open_rows(const spry_operator *op, spry_transpose transpose,
                                  operator_rows *rows)
{
    dist_side *s = NULL;
    const spry_status status = find_side(op, transpose, &s);
    if (status == SPRY_STATUS_OK && s->by_rows)
        dist_host_rows(s, rows);
    return status;
}

const spry_operator *device_dist_own(const spry_operator *op)
{
    const dist_state *state = op->state;
    return state->sides[SPRY_TRANSPOSE_NO]->own;
}

static spry_status dist_storage(const spry_operator *op, spry_storage *storage)
{
    const spry_operator *own = device_dist_own(op);
    return own->class->stored.storage(own, storage);
}

static spry_status dist_diagonal(const spry_operator *op, spry_vector **diagonal)
{
    const dist_state *state = op->state;
    const dist_side *s = state->sides[SPRY_TRANSPOSE_NO];
    const spry_status status = s->d ? spry_matrix_diagonal(s->links->own, diagonal)
                                    : s->own->class->stored.diagonal(s->own, diagonal);
    if (status == SPRY_STATUS_OK)
        (*diagonal)->part = op->rows_part;
    return status;
}

static void dist_destroy(spry_operator *op)
{
    dist_state *state = op->state;
    for (int k = 0; state && k < 3; k++)
        side_free(state->sides[k]);
    if (op->device)
        op->device->users--;
    base_free(op->ctx, state);
}

/* New values: the own block in the format that it has. */
static spry_status dist_remake(const spry_operator *op, const spry_matrix *A, spry_operator **fresh)
{
    const spry_operator *old = device_dist_own(op);
    spry_operator *own = NULL;
    const spry_status made = old->class->stored.remake
                                 ? old->class->stored.remake(old, A->distributed->own, &own)
                                 : host_csr_operator(A->distributed->own, &own);
    return dist_operator(A, NULL, made, own, fresh);
}

static const operator_class host_class = {.name = "distributed",
                                          .has_transpose = true,
                                          .multiply = dist_multiply,
                                          .destroy = dist_destroy,
                                          .rows.open = dist_open_rows,
                                          .stored.storage = dist_storage,
                                          .stored.diagonal = dist_diagonal,
                                          .stored.remake = dist_remake};

static const operator_class device_class = {.name = "distributed",
                                            .has_transpose = true,
                                            .multiply = operator_apply_arrays,
                                            .multiply_vectors = device_multiply_vectors,
                                            .destroy = dist_destroy,
                                            .device.multiply = device_dist_multiply,
                                            .stored.storage = dist_storage,
                                            .stored.diagonal = dist_diagonal};

bool device_is_distributed(const spry_operator *op)
{
    return op->class == &device_class;
}

/* An operator without its sides. */
static spry_status operator_without_sides(spry_context *ctx, spry_device *d, spry_type type,
                                          int64_t rows, int64_t cols, const dist_source *source,
                                          spry_operator **op)
{
    dist_state *state = NULL;
    spry_status status = operator_new(ctx, d ? &device_class : &host_class, type, rows, cols, op);
    if (status == SPRY_STATUS_OK)
        status = base_calloc(ctx, 1, sizeof *state, &state);
    if (state)
        *state = (dist_state){.d = d, .source = *source};
    if (*op)
        (*op)->state = state;
    if (status == SPRY_STATUS_OK && d) {
        /* NOLINTNEXTLINE(clang-analyzer-core.NullDereference): it was made */
        (*op)->device = d;
        d->users++;
    }
    return status;
}

spry_status dist_operator_of(spry_context *ctx, spry_device *d, spry_type type, int64_t rows,
                             const dist_source *source, spry_operator **out)
{
    spry_operator *op = NULL;
    dist_side *s = NULL;
    spry_status status = SPRY_STATUS_OK;
    *out = NULL;
    SPRY_GO(ctx, team_agree(ctx, operator_without_sides(ctx, d, type, rows, rows, source, &op)));
    SPRY_GO(ctx, find_side(op, SPRY_TRANSPOSE_NO, &s));
    *out = op;
    op = NULL;
done:
    spry_operator_free(op);
    return status;
}

/* --- of matrices ---------------------------------------------------------------------------------
 */

static spry_status block_operator(spry_device *d, const spry_matrix *A, spry_operator **op)
{
    return d ? device_operator(d, A, "csr", op) : host_csr_operator(A, op);
}

/* The rows of a distributed matrix, with the product of its own block or the status of one that
 * failed. */
static spry_status parts_of(spry_device *d, const spry_matrix *A, spry_status made,
                            spry_operator *own, dist_parts *parts)
{
    *parts = (dist_parts){.links = A->distributed, .own = own};
    return made == SPRY_STATUS_OK && (!d || A->distributed->edges > 0)
               ? block_operator(d, A->distributed->edge, &parts->edge)
               : made;
}

static spry_status open_transposed(const void *source, spry_transpose transpose, dist_parts *parts)
{
    const dist_state *state = source;
    spry_matrix *T = NULL;
    spry_operator *own = NULL;
    spry_status status = dist_transpose(state->A, transpose == SPRY_TRANSPOSE_CONJUGATE, &T);
    if (status != SPRY_STATUS_OK)
        return status;
    const spry_status made = block_operator(state->d, T->distributed->own, &own);
    status = parts_of(state->d, T, made, own, parts);
    parts->kept = T;
    return status;
}

/* What an operator of A is, made of the own block's and of that of the edge rows. */
static void note_matrix(spry_operator *op, const spry_matrix *A, const dist_side *s)
{
    op->rows_part = dist_own_rows(A);
    op->cols_part = dist_own_cols(A);
    op->square = A->distributed->square;
    operator_made_from(op, A, NULL);
    op->own_bytes = s->own->own_bytes + (s->edge ? s->edge->own_bytes : 0);
    op->bytes = s->own->bytes + (s->edge ? s->edge->bytes : 0);
}

spry_status dist_operator(const spry_matrix *A, spry_device *d, spry_status made,
                          spry_operator *own, spry_operator **out)
{
    spry_context *ctx = d ? d->ctx : A->ctx;
    spry_operator *op = NULL;
    dist_parts parts;
    dist_side *s = NULL;
    *out = NULL;
    spry_status status =
        operator_without_sides(ctx, d, A->a.type, A->a.rows, A->a.cols, &(dist_source){0}, &op);
    dist_state *state = op ? op->state : NULL;
    if (state) {
        state->A = A;
        state->source = (dist_source){state, open_transposed};
    }
    made = parts_of(d, A, made != SPRY_STATUS_OK ? made : status, own, &parts);
    status = side_new(ctx, d, A->a.type, made, &parts, &s);
    if (state)
        state->sides[SPRY_TRANSPOSE_NO] = s;
    SPRY_GO(ctx, status);
    /* NOLINTNEXTLINE(clang-analyzer-core.NullDereference): all have agreed that it was made */
    note_matrix(op, A, s);
    *out = op;
    op = NULL;
done:
    spry_operator_free(op);
    return status;
}
