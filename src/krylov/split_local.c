/* What a rank does by itself: see split.h. */
#include "krylov/split.h"

static const spry_scalar one = {1, 0}, minus_one = {-1, 0};

static spry_status make_vector(split *p, int64_t n, void *data, spry_vector **v)
{
    return spry_vector_new(p->alone, p->type, n, data, SPRY_OWN_BORROW, v);
}

/* What improves x: a preconditioner of the own block, or a solver for it. */
static spry_status make_inner(split *p)
{
    spry_status status = SPRY_STATUS_OK;
    if (p->own->a.rows == 0)
        return status;
    if (strcmp(p->o.inner, "solve") != 0)
        return spry_precon_new(p->own, NULL, p->o.inner, &p->M);
    SPRY_GO(p->alone, spry_solver_new(p->alone, &p->inner));
    SPRY_GO(p->alone, spry_solver_set(p->inner, p->o.solver));
    SPRY_GO(p->alone, spry_solver_set_matrix(p->inner, p->own));
done:
    return status;
}

static spry_status make_parts(split *p, const spry_matrix *A, const spry_vector *b,
                              const spry_vector *lower, spry_vector *x)
{
    spry_context *ctx = p->alone;
    const distributed *s = p->s;
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(ctx, matrix_view(ctx, s ? s->own : A, &p->own));
    SPRY_GO(ctx, host_csr_operator(p->own, &p->own_product));
    SPRY_GO(ctx, make_vector(p, b->n, b->data, &p->b));
    SPRY_GO(ctx, make_vector(p, x->n, x->data, &p->x));
    SPRY_GO(ctx, make_vector(p, b->n, NULL, &p->c));
    SPRY_GO(ctx, make_vector(p, b->n, NULL, &p->r));
    SPRY_GO(ctx, make_vector(p, b->n, NULL, &p->z));
    if (s) {
        SPRY_GO(ctx, matrix_view(ctx, s->edge, &p->edge));
        SPRY_GO(ctx, host_csr_operator(p->edge, &p->edge_product));
        SPRY_GO(ctx, make_vector(p, s->kept + s->ghosts, NULL, &p->compact));
        SPRY_GO(ctx, make_vector(p, s->edges, NULL, &p->edge_sums));
        SPRY_GO(ctx, base_calloc(p->ctx, s->sent_count + 1, p->element, &p->out));
        p->ghosts = (char *)p->compact->data + (size_t)s->kept * p->element;
    }
    SPRY_GO(ctx, lower ? split_above_open(p, lower) : make_inner(p));
    p->fresh = true;
done:
    return status;
}

spry_status split_open(split *p, const spry_matrix *A, const spry_vector *b,
                       const spry_vector *lower, spry_vector *x)
{
    spry_context *ctx = p->ctx;
    char options[64];
    snprintf(options, sizeof options, "threads=%d", spry_context_threads(ctx));
    spry_status status = spry_context_new(options, &p->alone);
    if (status != SPRY_STATUS_OK)
        return SPRY_FAIL(ctx, status, "no context for the rows of rank %d", team_rank(ctx));
    status = make_parts(p, A, b, lower, x);
    if (status != SPRY_STATUS_OK)
        return SPRY_FAIL(ctx, status, "%s", spry_message(p->alone));
    return status;
}

void split_close(split *p)
{
    spry_vector *const vectors[] = {p->b, p->x, p->c, p->r, p->z, p->compact, p->edge_sums};
    for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++)
        spry_vector_free(vectors[i]);
    split_above_close(p);
    spry_solver_free(p->inner);
    spry_operator_free(p->M);
    spry_operator_free(p->edge_product);
    spry_operator_free(p->own_product);
    spry_matrix_free(p->edge);
    spry_matrix_free(p->own);
    base_free(p->ctx, p->out);
    spry_context_free(p->alone);
}

/* c = b - E g: what others' elements take from b. */
static spry_status take_ghosts(split *p)
{
    const distributed *s = p->s;
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(p->alone, spry_vector_copy(p->b, p->c));
    if (s && s->edges > 0) {
        SPRY_GO(p->alone, spry_operator_apply(p->edge_product, p->compact, p->edge_sums));
        for (int64_t i = 0; i < s->edges; i++) {
            const spry_scalar at = value_get(p->type, p->c->data, s->edge_rows[i]);
            const spry_scalar less = value_get(p->type, p->edge_sums->data, i);
            value_set(p->type, p->c->data, s->edge_rows[i],
                      (spry_scalar){at.re - less.re, at.im - less.im});
        }
    }
    p->fresh = false;
done:
    return status;
}

spry_status split_poll(split *p)
{
    double norm = 0;
    spry_status status = SPRY_STATUS_OK;
    if (p->fresh)
        SPRY_GO(p->alone, take_ghosts(p));
    SPRY_GO(p->alone, spry_vector_copy(p->c, p->r));
    SPRY_GO(p->alone,
            spry_operator_multiply(p->own_product, SPRY_TRANSPOSE_NO, minus_one, p->x, one, p->r));
    if (p->lower) {
        split_above_look(p);
        return status;
    }
    SPRY_GO(p->alone, spry_vector_norm(p->r, &norm));
    p->square = norm * norm;
    p->small = p->square * team_ranks(p->ctx) <=
               p->o.tol * p->o.tol * p->scale * p->scale * p->tight * p->tight;
done:
    return status == SPRY_STATUS_OK ? status
                                    : SPRY_FAIL(p->ctx, status, "%s", spry_message(p->alone));
}

spry_status split_improve(split *p)
{
    spry_result result = SPRY_RESULT_INIT;
    spry_status status = SPRY_STATUS_OK;
    p->stats.iterations++;
    for (int k = 0; p->s && k < p->s->receives; k++) {
        p->age[k]++;
        p->age_sum += p->age[k];
        p->age_count++;
        if (p->age[k] > p->stats.most_age)
            p->stats.most_age = p->age[k];
    }
    if (p->own->a.rows == 0)
        return SPRY_STATUS_OK;
    if (p->lower) {
        split_above_improve(p);
    } else if (p->inner) { /* however far it comes: what is left is seen in the next look */
        SPRY_GO(p->alone, spry_vector_fill(p->z, (spry_scalar){0, 0}));
        SPRY_GO(p->alone, spry_solve(p->inner, p->r, p->z, &result));
    } else if (p->M) {
        SPRY_GO(p->alone, spry_operator_apply(p->M, p->r, p->z));
    }
    if (!p->lower)
        SPRY_GO(p->alone, spry_vector_axpy(one, p->M || p->inner ? p->z : p->r, p->x));
    for (int k = 0; p->s && k < p->s->sends; k++)
        p->changed[k] = true;
done:
    spry_result_clear(p->alone, &result);
    return status == SPRY_STATUS_OK ? status
                                    : SPRY_FAIL(p->ctx, status, "%s", spry_message(p->alone));
}

const void *split_pack(split *p, int k)
{
    const dist_neighbour *n = &p->s->send[k];
    char *to = p->out + (size_t)n->first * p->element;
    for (int64_t i = 0; i < n->count; i++)
        memcpy(to + (size_t)i * p->element,
               (const char *)p->x->data + (size_t)p->s->sent[n->first + i] * p->element,
               p->element);
    return to;
}
