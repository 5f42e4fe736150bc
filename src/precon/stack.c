/* Preconditioners that are products of others. */
#include "precon/stack.h"

#include <spry/reorder.h>
#include <spry/scale.h>

/* Takes the factors out. */
static void clear(stack *s)
{
    for (int k = 0; k < s->count; k++) {
        spry_operator_free(s->f[k].product);
        triangle_chain_clear(s->ctx, &s->f[k].chain);
        triangle_chain_clear(s->ctx, &s->f[k].transposed);
        s->f[k] = (stack_factor){0};
    }
    s->count = 0;
    triangle_sets_clear(s->ctx, &s->sets);
}

static void stack_destroy(spry_operator *op)
{
    stack *s = op->state;
    if (!s)
        return;
    clear(s);
    for (int k = 0; k < 2; k++)
        spry_vector_free(s->w[k]);
    base_free(s->ctx, s->order);
    base_free(s->ctx, s->options);
    base_free(s->ctx, s);
}

static spry_status apply_factor(const stack *s, stack_factor *f, spry_transpose transpose,
                                const spry_vector *r, spry_vector *z)
{
    spry_status status = SPRY_STATUS_OK;
    if (f->product)
        return spry_operator_multiply(f->product, transpose, (spry_scalar){1, 0}, r,
                                      (spry_scalar){0, 0}, z);
    if (transpose == SPRY_TRANSPOSE_NO)
        return triangle_chain_apply(s->ctx, &f->chain, false, r, z);
    if (f->transposed.count == 0)
        SPRY_GO(s->ctx, triangle_chain_transpose(s->ctx, &f->chain, &f->transposed));
    SPRY_GO(s->ctx, triangle_chain_apply(s->ctx, &f->transposed,
                                         transpose == SPRY_TRANSPOSE_CONJUGATE, r, z));
done:
    return status;
}

static spry_status stack_apply(const spry_operator *op, spry_transpose transpose,
                               const spry_vector *r, spry_vector *z)
{
    stack *s = op->state;
    const bool forward =
        transpose == SPRY_TRANSPOSE_NO || (transpose == SPRY_TRANSPOSE_CONJUGATE && op->hermitian);
    const spry_transpose each = forward ? SPRY_TRANSPOSE_NO : transpose;
    const spry_vector *from = r;
    for (int k = 0; k < s->count; k++) {
        spry_vector *to = k == s->count - 1 ? z : s->w[k % 2];
        stack_factor *f = &s->f[forward ? k : s->count - 1 - k];
        const spry_status status = apply_factor(s, f, each, from, to);
        if (status != SPRY_STATUS_OK)
            return status;
        from = to;
    }
    return SPRY_STATUS_OK;
}

static void count_bytes(spry_operator *op)
{
    const stack *s = op->state;
    const int64_t vector = s->n * (int64_t)spry_type_size(s->type);
    op->own_bytes = (s->count - 1) * 2 * vector;
    for (int k = 0; k < s->count; k++)
        op->own_bytes +=
            s->f[k].product ? s->f[k].product->own_bytes : triangle_chain_bytes(&s->f[k].chain);
    op->bytes = op->own_bytes + 2 * vector;
}

static spry_status stack_update(spry_operator *op, const spry_matrix *A)
{
    stack *s = op->state;
    spry_status status = SPRY_STATUS_OK;
    clear(s);
    SPRY_GO(op->ctx, s->fill(op, A));
    count_bytes(op);
done:
    return status;
}

static const operator_class stack_class = {.name = "stack",
                                           .has_transpose = true,
                                           .multiply = operator_apply_arrays,
                                           .multiply_vectors = operator_apply_vectors,
                                           .apply = stack_apply,
                                           .update = stack_update,
                                           .destroy = stack_destroy};

const stack *stack_of(const spry_operator *op)
{
    return op->class == &stack_class ? op->state : NULL;
}

spry_status stack_operator(const precon_job *job, const char *name, size_t options,
                           spry_status (*fill)(spry_operator *op, const spry_matrix *A),
                           spry_operator **M)
{
    const spry_matrix *A = job->A;
    spry_context *ctx = A->ctx;
    spry_operator *op = NULL;
    stack *s = NULL;
    spry_status status = SPRY_STATUS_OK;
    *M = NULL;
    SPRY_GO(ctx, precon_operator(job, &stack_class, sizeof *s, &s, &op));
    op->name = name;
    op->device = job->device;
    *s = (stack){
        .ctx = ctx, .place = precon_kept(job), .type = A->a.type, .n = A->a.rows, .fill = fill};
    SPRY_GO(ctx, base_alloc(ctx, 1, options, &s->options));
    memcpy(s->options, job->options, options);
    for (int k = 0; k < 2; k++)
        SPRY_GO(ctx, vector_new_at(ctx, job->device, s->type, s->n, &s->w[k]));
    return precon_fill(op, A, M);
done:
    spry_operator_free(op);
    return status;
}

/* --- factors -------------------------------------------------------------------------------------
 */

spry_status stack_push_matrix(stack *s, spry_matrix *W)
{
    stack_factor *f = &s->f[s->count++];
    return precon_store(&s->place, W, &f->product);
}

spry_status stack_exchange(stack *s, int at, spry_matrix *W)
{
    spry_operator_free(s->f[at].product);
    s->f[at].product = NULL;
    return precon_store(&s->place, W, &s->f[at].product);
}

spry_status stack_push_triangles(stack *s, triangle_chain *chain)
{
    stack_factor *f = &s->f[s->count++];
    f->chain = *chain;
    *chain = (triangle_chain){0};
    return triangle_chain_place(s->ctx, &f->chain);
}

spry_status stack_push_selection(stack *s, const int32_t *columns, const spry_vector *scale,
                                 bool by_rows)
{
    spry_matrix *W = NULL;
    matrix_arrays a = {
        .format = SPRY_FORMAT_CSR, .type = s->type, .rows = s->n, .cols = s->n, .nnz = s->n};
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(s->ctx, matrix_allocate(s->ctx, &a));
    for (int64_t k = 0; k <= s->n; k++)
        a.offsets[k] = k;
    for (int64_t k = 0; k < s->n; k++) {
        a.col_index[k] = columns[k];
        value_set(s->type, a.values, k, value_get(s->type, scale->data, by_rows ? k : columns[k]));
    }
    SPRY_GO(s->ctx, matrix_wrap(s->ctx, &a, &W));
    SPRY_GO(s->ctx, stack_push_matrix(s, W));
done:
    return status;
}

int64_t stack_entries(const stack *s)
{
    int64_t entries = 0;
    for (int k = 0; k < s->count; k++)
        for (int t = 0; t < s->f[k].chain.count; t++)
            entries += s->f[k].chain.t[t].offsets[s->n];
    return entries;
}

double stack_share(const stack *s, const spry_matrix *A)
{
    return (double)(stack_entries(s) + s->n) / (double)(A->a.nnz > 0 ? A->a.nnz : 1);
}

/* --- beforehand ----------------------------------------------------------------------------------
 */

/* The order of the rows that a word of STACK_ORDERS names, found once. */
static spry_status find_order(stack *s, const spry_matrix *A, int word)
{
    static const char *const orders[] = {"amd", "none", "rcm", "amd", "nd"};
    return s->order || word == 1 ? SPRY_STATUS_OK : spry_reorder(A, orders[word], &s->order);
}

spry_status stack_equilibrate(const spry_matrix *A, spry_matrix **scaled, spry_vector **left,
                              spry_vector **right)
{
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(A->ctx, spry_scaling(A, "equilibrate", left, right));
    SPRY_GO(A->ctx, spry_matrix_convert(A, SPRY_FORMAT_CSR, scaled));
    SPRY_GO(A->ctx, spry_matrix_scale(*scaled, *left, *right));
done:
    return status;
}

static spry_status try_once(spry_operator *op, stack_try *t,
                            spry_status (*make)(spry_operator *op, const stack_try *t, bool *fine),
                            bool *fine)
{
    spry_matrix *scaled = NULL;
    spry_vector *left = NULL, *right = NULL;
    spry_status status = SPRY_STATUS_OK;
    clear(op->state);
    SPRY_GO(op->ctx, stack_equilibrate(t->A, &scaled, &left, &right));
    t->scaled = scaled;
    t->left = left;
    t->right = right;
    SPRY_GO(op->ctx, make(op, t, fine));
done:
    spry_matrix_free(scaled);
    spry_vector_free(left);
    spry_vector_free(right);
    return status;
}

spry_status stack_drop(spry_operator *op, const spry_matrix *A, double tau, double fill, int order,
                       int64_t tries,
                       spry_status (*make)(spry_operator *op, const stack_try *t, bool *fine))
{
    stack_try t = {.A = A, .tau = tau, .fill = fill};
    bool fine = false;
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(op->ctx, find_order(op->state, A, order));
    for (int64_t turn = 0; !fine; turn++, t.tau /= 10, t.fill *= 2) {
        t.last = turn == tries;
        SPRY_GO(op->ctx, try_once(op, &t, make, &fine));
    }
done:
    return status;
}

spry_status stack_grow(spry_context *ctx, size_t size, int64_t used, int64_t need, int64_t *room,
                       int32_t **columns, void **values)
{
    spry_status status = SPRY_STATUS_OK;
    if (used + need <= *room)
        return SPRY_STATUS_OK;
    const int64_t more = used + need + used / 2;
    SPRY_GO(ctx, base_grow(ctx, used, more, sizeof **columns, columns));
    SPRY_GO(ctx, base_grow(ctx, used, more, size, values));
    *room = more;
done:
    return status;
}

/* --- afterwards ----------------------------------------------------------------------------------
 */

spry_status stack_check(const spry_operator *op, const spry_matrix *A, bool last, bool *fine)
{
    const double most = last ? PRECON_MOST_DISTANCE : 10; /* which is worth trying again for */
    double distance = 0;
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(op->ctx, precon_distance(op, A, most, &distance));
    *fine = distance <= most;
    base_log(op->ctx, SPRY_LOG_INFO, "precon %s: |u - M A u| = %.1e |u|%s", op->name, distance,
             *fine  ? ""
             : last ? ": no use"
                    : ": again with less dropped");
    if (!*fine && last)
        status = SPRY_FAIL(op->ctx, SPRY_STATUS_BAD_INPUT,
                           "precon %s: the factors are unstable: |u - M A u| is %.1e |u|; try a "
                           "smaller tau, a larger fill, another ordering, or precon direct",
                           op->name, distance);
done:
    return status;
}
