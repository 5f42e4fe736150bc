/* Operators as objects: what all kinds share, and the checks before a product. */
#include "operator/operator.h"
#include "base/team.h"
#include "matrix/entries.h"

typedef struct operator_block {
    spry_operator op;
    operator_memory room;
} operator_block;

spry_status operator_new(spry_context *ctx, const operator_class *class, spry_type type,
                         int64_t rows, int64_t cols, spry_operator **op)
{
    operator_block *block = NULL;
    const spry_status status = base_object_new(ctx, sizeof *block, &block);
    *op = NULL;
    if (status == SPRY_STATUS_OK) {
        block->op = (spry_operator){.ctx = ctx,
                                    .class = class,
                                    .type = type,
                                    .rows = rows,
                                    .cols = cols,
                                    .square = rows == cols,
                                    .room = &block->room};
        *op = &block->op;
    }
    return status;
}

spry_status operator_room(const spry_operator *op, int64_t count, size_t size)
{
    if (op->room->bytes / (int64_t)size >= count && op->room->data)
        return SPRY_STATUS_OK;
    base_free(op->ctx, op->room->data);
    *op->room = (operator_memory){0, NULL};
    const spry_status status = base_alloc(op->ctx, count, size, &op->room->data);
    if (status == SPRY_STATUS_OK)
        op->room->bytes = count * (int64_t)size;
    return status;
}

void spry_operator_free(spry_operator *op)
{
    if (!op)
        return;
    if (op->maker)
        op->maker->destroy(op);
    if (op->class->destroy)
        op->class->destroy(op);
    spry_matrix_free(op->kept);
    spry_matrix_free(op->view);
    base_free(op->ctx, op->room->data);
    const spry_release_fn release = op->release;
    void *owner = op->owner;
    base_object_free(op->ctx, op);
    if (release)
        release(owner);
}

spry_status spry_operator_set_release(spry_operator *op, spry_release_fn release, void *data)
{
    SPRY_NEED(CTX_OF(op), op);
    op->release = release;
    op->owner = data;
    return SPRY_STATUS_OK;
}

static spry_status check_vector(const spry_operator *op, const char *name, const spry_vector *v,
                                int64_t n)
{
    if (v->ctx != op->ctx)
        return SPRY_FAIL(op->ctx, SPRY_STATUS_BAD_USAGE,
                         "%s and the operator are of different contexts", name);
    if (v->type != op->type)
        return SPRY_FAIL(op->ctx, SPRY_STATUS_BAD_USAGE,
                         "%s is of type %s, the operator of type %s", name, spry_type_name(v->type),
                         spry_type_name(op->type));
    if (v->n != n)
        return SPRY_FAIL(op->ctx, SPRY_STATUS_BAD_USAGE,
                         "%s has %" PRId64 " elements, the product needs %" PRId64, name, v->n, n);
    return SPRY_STATUS_OK;
}

spry_status operator_check_product(const spry_operator *op, spry_transpose transpose,
                                   spry_scalar alpha, spry_scalar beta)
{
    spry_context *ctx = op->ctx;
    const bool plain = transpose == SPRY_TRANSPOSE_NO;
    if (!plain && transpose != SPRY_TRANSPOSE_YES && transpose != SPRY_TRANSPOSE_CONJUGATE)
        return SPRY_FAIL(ctx, SPRY_STATUS_BAD_USAGE,
                         "transpose is %d, expected plain, transpose or conjugate", (int)transpose);
    if (!spry_type_is_complex(op->type) && (alpha.im != 0 || beta.im != 0))
        return SPRY_FAIL(ctx, SPRY_STATUS_BAD_USAGE,
                         "a factor has an imaginary part, the operator is of type %s",
                         spry_type_name(op->type));
    if (!plain && !spry_operator_has_transpose(op))
        return SPRY_FAIL(ctx, SPRY_STATUS_UNSUPPORTED, "operator %s has no transposed product",
                         op->class->name);
    return SPRY_STATUS_OK;
}

static spry_status check_vectors(const spry_operator *op, spry_transpose transpose,
                                 const spry_vector *x, const spry_vector *y)
{
    const bool plain = transpose == SPRY_TRANSPOSE_NO;
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(op->ctx, check_vector(op, "x", x, plain ? op->cols : op->rows));
    SPRY_GO(op->ctx, check_vector(op, "y", y, plain ? op->rows : op->cols));
    if (vector_same(x, y))
        return SPRY_FAIL(op->ctx, SPRY_STATUS_BAD_USAGE, "x and y of a product are the same array");
    SPRY_GO(op->ctx, vector_fetch(x));
    SPRY_GO(op->ctx, vector_fetch(y));
done:
    return status;
}

/* A product on the host with vectors that are not: by way of copies. */
static spry_status multiply_copies(const spry_operator *op, spry_transpose transpose,
                                   spry_scalar alpha, const spry_vector *x, spry_scalar beta,
                                   spry_vector *y)
{
    spry_context *ctx = op->ctx;
    spry_vector *from = NULL, *to = NULL;
    spry_status status = SPRY_STATUS_OK;
    if (x->device != y->device)
        return SPRY_FAIL(ctx, SPRY_STATUS_BAD_USAGE,
                         "x is on %s, y on %s; take vectors of one place", place_name(x->device),
                         place_name(y->device));
    SPRY_GO(ctx, spry_vector_new(ctx, x->type, x->n, NULL, SPRY_OWN_COPY, &from));
    SPRY_GO(ctx, spry_vector_new(ctx, y->type, y->n, NULL, SPRY_OWN_COPY, &to));
    SPRY_GO(ctx, spry_vector_copy(x, from));
    if (beta.re != 0 || beta.im != 0)
        SPRY_GO(ctx, spry_vector_copy(y, to));
    SPRY_GO(ctx, op->class->multiply(op, transpose, alpha, from->data, beta, to->data));
    SPRY_GO(ctx, spry_vector_copy(to, y));
done:
    spry_vector_free(from);
    spry_vector_free(to);
    return status;
}

/* --- new values ----------------------------------------------------------------------------------
 */

void operator_made_from(spry_operator *op, const spry_matrix *A, spry_matrix *view)
{
    if (view != op->view)
        spry_matrix_free(op->view);
    op->view = view;
    op->source = A;
    op->version = matrix_version(A);
}

spry_status operator_follow(const spry_operator *op)
{
    if (op->view)
        matrix_follow(op->view);
    return op->class->stored.follow ? op->class->stored.follow(op) : SPRY_STATUS_OK;
}

spry_status operator_agree(const spry_operator *op, spry_status status)
{
    return op->rows_part.is ? team_agree(op->ctx, status) : status;
}

spry_status operator_check_transpose(const spry_operator *op, const spry_matrix *A, int64_t version)
{
    return matrix_version(A) == version
               ? SPRY_STATUS_OK
               : SPRY_FAIL(op->ctx, SPRY_STATUS_BAD_USAGE,
                           "operator %s has old values of its matrix, and no transpose of them: "
                           "spry_operator_update() brings the new ones",
                           spry_operator_name(op));
}

bool spry_operator_is_current(const spry_operator *op)
{
    if (!op)
        return false;
    const bool follows = op->class->stored.follow && !op->maker;
    return !op->source || follows || matrix_version(op->source) == op->version;
}

bool operator_has_update(const spry_operator *op)
{
    return op->maker || op->class->update;
}

/* Whether it stores values in a way of its own, which are built again as a whole. */
static bool stores(const spry_operator *op)
{
    return !op->maker && op->class->stored.remake && op->source;
}

bool operator_takes_values(const spry_operator *op)
{
    return stores(op) || operator_has_update(op);
}

void operator_keep(spry_operator *op, spry_matrix *A)
{
    if (op->maker) {
        spry_matrix_free(A);
        return;
    }
    spry_matrix_free(op->kept);
    op->kept = A;
}

void operator_become(spry_operator *op, spry_operator *fresh)
{
    const spry_operator before = *op;
    *op = *fresh;
    op->name = before.name;
    op->changes = before.changes + 1;
    op->maker = before.maker;
    op->making = before.making;
    op->source = before.source;
    op->version = before.version;
    op->view = before.view;
    *fresh = before;
    fresh->maker = NULL;
    fresh->view = NULL;
    operator_memory *room = op->room; /* each has its own besides */
    op->room = fresh->room;
    fresh->room = room;
    spry_operator_free(fresh);
}

/* By what the operator's kind does with values alone. */
static spry_status take_values(spry_operator *op, const spry_matrix *A)
{
    const spry_matrix *csr = NULL;
    spry_matrix *owned = NULL;
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(op->ctx, matrix_check_finite(A, "new values for operator", spry_operator_name(op)));
    SPRY_GO(op->ctx, matrix_as_sorted_csr(A, &csr, &owned));
    if (owned) { /* facts about A hold for its temporary copy */
        owned->near_null = A->near_null;
        owned->near_count = A->near_count;
    }
    op->changes++;
    status = op->maker ? op->maker->update(op, csr) : op->class->update(op, csr);
    if (owned) {
        owned->near_null = NULL;
        owned->near_count = 0;
    }
    SPRY_GO(op->ctx, status);
    if (owned) {
        operator_keep(op, owned);
        owned = NULL;
    }
done:
    spry_matrix_free(owned);
    return status;
}

static spry_status remake(spry_operator *op, const spry_matrix *A)
{
    spry_operator *fresh = NULL;
    const spry_status status = op->class->stored.remake(op, A, &fresh);
    if (status == SPRY_STATUS_OK)
        operator_become(op, fresh);
    return status;
}

spry_status spry_operator_update(spry_operator *op, const spry_matrix *A)
{
    SPRY_NEED(CTX_OF_ANY(op, A), op, A);
    matrix_follow(A);
    spry_matrix *view = NULL;
    spry_status status = SPRY_STATUS_OK;
    if (!operator_takes_values(op))
        return SPRY_FAIL(op->ctx, SPRY_STATUS_UNSUPPORTED,
                         "operator %s cannot take new values: create it again",
                         spry_operator_name(op));
    if (A->a.type != op->type || A->a.rows != op->rows || A->a.cols != op->cols)
        return SPRY_FAIL(op->ctx, SPRY_STATUS_BAD_USAGE,
                         "new values for operator %s: the matrix is another, %" PRId64 " x %" PRId64
                         " of type %s",
                         spry_operator_name(op), A->a.rows, A->a.cols, spry_type_name(A->a.type));
    if (A->ctx != op->ctx)
        SPRY_GO(op->ctx, matrix_view(op->ctx, A, &view));
    const spry_matrix *from = view ? view : A;
    SPRY_GO(op->ctx, stores(op) ? remake(op, from) : take_values(op, from));
    if (op->source) {
        operator_made_from(op, A, view);
        view = NULL;
    }
done:
    spry_matrix_free(view);
    return status;
}

spry_status spry_operator_multiply(const spry_operator *op, spry_transpose transpose,
                                   spry_scalar alpha, const spry_vector *x, spry_scalar beta,
                                   spry_vector *y)
{
    SPRY_NEED(CTX_OF_ANY(op, x), op, x, y);
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(op->ctx, operator_check_product(op, transpose, alpha, beta));
    SPRY_GO(op->ctx, check_vectors(op, transpose, x, y));
    if (op->view)
        matrix_follow(op->view);
    if (op->class->multiply_vectors && op->rows_part.is && op->device && x->class && y->class) {
        spry_vector from = *x, to = *y; /* what a rank does by itself sees no parts */
        from.part = to.part = (vector_part){0};
        SPRY_GO(op->ctx, team_note(op->ctx, op->class->multiply_vectors(op, transpose, alpha, &from,
                                                                        beta, &to)));
    } else if (op->class->multiply_vectors && !op->rows_part.is)
        SPRY_GO(op->ctx, op->class->multiply_vectors(op, transpose, alpha, x, beta, y));
    else if (x->class || y->class)
        SPRY_GO(op->ctx, multiply_copies(op, transpose, alpha, x, beta, y));
    else
        SPRY_GO(op->ctx, op->class->multiply(op, transpose, alpha, x->data, beta, y->data));
done:
    return status;
}

spry_status spry_operator_apply(const spry_operator *op, const spry_vector *x, spry_vector *y)
{
    return spry_operator_multiply(op, SPRY_TRANSPOSE_NO, (spry_scalar){1, 0}, x,
                                  (spry_scalar){0, 0}, y);
}

spry_status operator_open_rows(const spry_operator *op, spry_transpose transpose,
                               operator_rows *rows)
{
    *rows = (operator_rows){0};
    if (!op->class->rows.open ||
        (transpose != SPRY_TRANSPOSE_NO && !spry_operator_has_transpose(op)))
        return SPRY_STATUS_OK;
    return op->class->rows.open(op, transpose, rows);
}

const void *operator_diagonal(const spry_operator *op, spry_transpose transpose)
{
    return op->class->rows.diagonal ? op->class->rows.diagonal(op, transpose) : NULL;
}

const char *operator_suits(const spry_operator *op)
{
    return op->class->structure.suits ? op->class->structure.suits(op) : NULL;
}

const operator_precon *operator_find_precon(const spry_operator *op, const char *kind)
{
    const operator_precon *p = op->class->structure.precons;
    while (p && p->kind && strcmp(p->kind, kind) != 0)
        p++;
    return p && p->kind ? p : NULL;
}

int64_t spry_operator_rows(const spry_operator *op)
{
    return op ? op->rows : 0;
}

int64_t spry_operator_cols(const spry_operator *op)
{
    return op ? op->cols : 0;
}

spry_type spry_operator_type(const spry_operator *op)
{
    return op ? op->type : SPRY_TYPE_D;
}

const char *spry_operator_name(const spry_operator *op)
{
    return !op ? "" : op->name ? op->name : op->class->name;
}

int64_t spry_operator_bytes(const spry_operator *op)
{
    return op ? op->bytes : 0;
}

spry_device *spry_operator_device(const spry_operator *op)
{
    return op ? op->device : NULL;
}

bool spry_operator_has_transpose(const spry_operator *op)
{
    return op && op->class->has_transpose && !op->one_way;
}

static spry_status no_matrix(const spry_operator *op)
{
    return SPRY_FAIL(op->ctx, SPRY_STATUS_BAD_USAGE, "operator %s stores no matrix",
                     spry_operator_name(op));
}

spry_status spry_operator_storage(const spry_operator *op, spry_storage *storage)
{
    SPRY_NEED(CTX_OF(op), op, storage);
    static const base_sized sized = BASE_SIZED(spry_storage, exact);
    spry_storage found = {0};
    spry_status status = base_blank(op->ctx, storage, &sized);
    if (status == SPRY_STATUS_OK)
        status = op->class->stored.storage ? op->class->stored.storage(op, &found) : no_matrix(op);
    if (status == SPRY_STATUS_OK)
        base_give(storage, &found, &sized);
    return status;
}

spry_status spry_operator_to_matrix(const spry_operator *op, spry_matrix **A)
{
    SPRY_NEED(CTX_OF(op), op, A);
    *A = NULL;
    return op->class->stored.to_matrix ? op->class->stored.to_matrix(op, A) : no_matrix(op);
}

spry_status spry_operator_diagonal(const spry_operator *op, spry_vector **d)
{
    SPRY_NEED(CTX_OF(op), op, d);
    *d = NULL;
    return op->class->stored.diagonal ? op->class->stored.diagonal(op, d) : no_matrix(op);
}
