/* Incomplete LU factors with pivots, for matrices that have no dominant diagonal: see
 * kernels/ilutp.c. */
#include "precon/stack.h"

#define ILUTP_OPTIONS(item)                                                                     \
    STACK_DROPPED(item)                                                                         \
    item(REAL, pivot, "0.1", 0, 1, NULL,                                                        \
         "the diagonal entry is the pivot unless it is smaller than `pivot` times the largest") \
    item(BOOL, defer, "yes", 0, 0, NULL, "rows without a good pivot go to the end")             \
    STACK_TRIES(item)

typedef struct ilutp_options {
    PRECON_COMMON(SPRY_OPTION_FIELD)
    ILUTP_OPTIONS(SPRY_OPTION_FIELD)
} ilutp_options;
SPRY_OPTION_TABLE(table, ilutp_options,
                  PRECON_COMMON(SPRY_OPTION_ROW) ILUTP_OPTIONS(SPRY_OPTION_ROW))

static void clear_job(spry_context *ctx, const ilutp_job *p)
{
    void *const all[] = {p->l_offsets, p->u_offsets, p->l_columns, p->u_columns, p->l_values,
                         p->u_values,  p->inverse,   p->row,       p->column,    p->place,
                         p->later,     p->w,         p->l_growth,  p->u_growth,  p->mark,
                         p->heap,      p->lower,     p->upper};
    for (size_t k = 0; k < sizeof all / sizeof *all; k++)
        base_free(ctx, all[k]);
}

static spry_status open_job(const stack *s, const spry_matrix *A, ilutp_job *p)
{
    spry_context *ctx = s->ctx;
    const int64_t n = s->n;
    const size_t size = spry_type_size(s->type);
    spry_status status = SPRY_STATUS_OK;
    p->n = n;
    p->a_offsets = A->a.offsets;
    p->a_columns = A->a.col_index;
    p->a_values = A->a.values;
    p->order = s->order;
    p->mean = n > 0 ? (A->a.nnz + n - 1) / n : 0;
    SPRY_GO(ctx, base_calloc(ctx, n + 1, sizeof *p->l_offsets, &p->l_offsets));
    SPRY_GO(ctx, base_calloc(ctx, n + 1, sizeof *p->u_offsets, &p->u_offsets));
    SPRY_GO(ctx, base_alloc(ctx, n, size, &p->inverse));
    SPRY_GO(ctx, base_alloc(ctx, n, size, &p->w));
    SPRY_GO(ctx, base_calloc(ctx, n, size, &p->l_growth));
    SPRY_GO(ctx, base_calloc(ctx, n, size, &p->u_growth));
    SPRY_GO(ctx, base_calloc(ctx, n, sizeof *p->mark, &p->mark));
    int32_t **const arrays[] = {&p->row,  &p->column, &p->place, &p->later,
                                &p->heap, &p->lower,  &p->upper};
    for (size_t k = 0; k < sizeof arrays / sizeof *arrays; k++)
        SPRY_GO(ctx, base_alloc(ctx, n, sizeof **arrays[k], arrays[k]));
    for (int64_t k = 0; k < n; k++)
        p->place[k] = -1;
done:
    return status;
}

static spry_status factorize(const stack *s, ilutp_job *p)
{
    enum { CHUNK = 64 };
    spry_context *ctx = s->ctx;
    const precon_kernels *kernels = precon_kernels_for(ctx, s->type);
    const size_t size = spry_type_size(s->type);
    spry_status status = SPRY_STATUS_OK;
    for (int64_t step = 0; step < s->n;) {
        const int64_t end = step + CHUNK < s->n ? step + CHUNK : s->n;
        if (spry_context_interrupted(ctx, false))
            return SPRY_FAIL(ctx, SPRY_STATUS_INTERRUPTED, "precon ilutp: interrupted");
        SPRY_GO(ctx, stack_grow(ctx, size, p->l_offsets[step], p->need, &p->l_room, &p->l_columns,
                                &p->l_values));
        SPRY_GO(ctx, stack_grow(ctx, size, p->u_offsets[step], p->need, &p->u_room, &p->u_columns,
                                &p->u_values));
        step = kernels->ilutp_rows(p, step, end);
    }
    for (int64_t e = 0; e < p->u_offsets[s->n]; e++)
        p->u_columns[e] = p->place[p->u_columns[e]];
done:
    return status;
}

/* The rows, numbered by steps, as triangles. */
static spry_status push_triangles(stack *s, const ilutp_job *p)
{
    spry_context *ctx = s->ctx;
    const triangle_pattern patterns[2] = {{.offsets = p->l_offsets, .columns = p->l_columns},
                                          {.offsets = p->u_offsets, .columns = p->u_columns}};
    triangle_chain chain = {.device = s->place.device, .sets = &s->sets, .type = s->type};
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(ctx, triangle_sets_make(ctx, s->n, patterns, 2, NULL, s->place.device, &s->sets));
    for (int k = 0; k < 2; k++)
        SPRY_GO(ctx, triangle_of_pattern(ctx, &patterns[k], k ? p->u_values : p->l_values, &s->sets,
                                         s->type, k == 1, &chain.t[k]));
    SPRY_GO(ctx, triangle_by_places(ctx, &s->sets, s->type, p->inverse, &chain.f[1]));
    chain.count = 2;
    SPRY_GO(ctx, stack_push_triangles(s, &chain));
done:
    triangle_chain_clear(ctx, &chain);
    return status;
}

/* Fails for rows without a pivot where nothing was dropped: A is singular. */
static spry_status check_regular(const stack *s, const stack_try *t, const ilutp_job *p)
{
    if (p->perturbed == 0 || t->tau > 0 || t->fill < (double)s->n)
        return SPRY_STATUS_OK;
    return SPRY_FAIL(s->ctx, SPRY_STATUS_BAD_INPUT,
                     "precon ilutp: the matrix is singular: no pivot for %" PRId64
                     " of its rows; try direct:regular=yes, or a tau above 0",
                     p->perturbed);
}

static spry_status make_factors(spry_operator *op, const stack_try *t, bool *fine)
{
    stack *s = op->state;
    const ilutp_options *o = s->options;
    spry_context *ctx = s->ctx;
    ilutp_job job = {.tau = t->tau, .fill = t->fill, .pivot = o->pivot, .defer = o->defer};
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(ctx, open_job(s, t->scaled, &job));
    SPRY_GO(ctx, factorize(s, &job));
    SPRY_GO(ctx, check_regular(s, t, &job));
    SPRY_GO(ctx, stack_push_selection(s, job.row, t->left, false));
    SPRY_GO(ctx, push_triangles(s, &job));
    SPRY_GO(ctx, stack_push_selection(s, job.place, t->right, true));
    base_log(ctx, SPRY_LOG_INFO,
             "precon ilutp: %" PRId64 " entries (%.2f times those of A), %" PRId64
             " rows put off, %" PRId64 " without a pivot were given one",
             stack_entries(s) + s->n, stack_share(s, t->A), job.put_off, job.perturbed);
    SPRY_GO(ctx, stack_check(op, t->A, t->last, fine));
done:
    clear_job(ctx, &job);
    return status;
}

static spry_status fill_ilutp(spry_operator *op, const spry_matrix *A)
{
    const ilutp_options *o = ((const stack *)op->state)->options;
    return stack_drop(op, A, o->tau, o->fill, o->order, o->tries, make_factors);
}

static spry_status make(const precon_job *job, spry_operator **M)
{
    return stack_operator(job, "ilutp", sizeof(ilutp_options), fill_ilutp, M);
}

const precon_kind precon_kind_ilutp = {
    .name = "ilutp",
    .summary = "incomplete LU factors with pivots, dropped by the growth of inverses",
    .options = SPRY_OPTION_LIST(table),
    .make = make,
    .on_devices = true,
    .cost = {.kept = 3, .work = 1.5, .products = 300, .vectors = 4, .share = 0.2}};
