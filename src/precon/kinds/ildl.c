/* Incomplete L D L^H factors with pivots of one and two rows, for symmetric, hermitian and complex
 * symmetric matrices that are indefinite: see kernels/ildl.c. */
#include "precon/stack.h"

#include <float.h>

enum { DEFINITE_AUTO, DEFINITE_YES, DEFINITE_NO };
#define ILDL_OPTIONS(item)                                                                       \
    STACK_DROPPED(item)                                                                          \
    item(REAL, pivot, "0.01", 0, 0.5, NULL,                                                      \
         "a pivot does where no entry of L becomes larger than one over this")                   \
    item(WORD, definite, "auto", 0, 0, "auto yes no",                                            \
         "whether |D| replaces D: a positive definite M, as minres and cg need it; auto: where " \
         "A is hermitian")                                                                       \
    STACK_TRIES(item)

typedef struct ildl_options {
    PRECON_COMMON(SPRY_OPTION_FIELD)
    ILDL_OPTIONS(SPRY_OPTION_FIELD)
} ildl_options;
SPRY_OPTION_TABLE(table, ildl_options, PRECON_COMMON(SPRY_OPTION_ROW) ILDL_OPTIONS(SPRY_OPTION_ROW))

static void clear_job(spry_context *ctx, const ildl_job *p)
{
    void *const all[] = {(void *)(uintptr_t)p->rank,
                         p->offsets,
                         p->rows,
                         p->values,
                         p->diagonal,
                         p->below,
                         p->wide,
                         p->row,
                         p->step,
                         p->head,
                         p->next,
                         p->step_of,
                         p->growth,
                         p->w[0],
                         p->w[1],
                         p->mark[0],
                         p->mark[1],
                         p->list[0],
                         p->list[1]};
    for (size_t k = 0; k < sizeof all / sizeof *all; k++)
        base_free(ctx, all[k]);
}

static spry_status open_job(const stack *s, const spry_matrix *A, ildl_job *p)
{
    spry_context *ctx = s->ctx;
    const int64_t n = s->n;
    const size_t size = spry_type_size(s->type);
    int32_t *rank = NULL;
    spry_status status = SPRY_STATUS_OK;
    p->n = n;
    p->a_offsets = A->a.offsets;
    p->a_columns = A->a.col_index;
    p->a_values = A->a.values;
    p->order = s->order;
    if (s->order)
        SPRY_GO(ctx, matrix_invert(ctx, "order", s->order, n, &rank));
    p->rank = rank;
    p->mean = n > 0 ? (A->a.nnz + n - 1) / n : 0;
    SPRY_GO(ctx, base_calloc(ctx, n + 1, sizeof *p->offsets, &p->offsets));
    SPRY_GO(ctx, base_calloc(ctx, n, size, &p->diagonal));
    SPRY_GO(ctx, base_calloc(ctx, n, size, &p->below));
    SPRY_GO(ctx, base_calloc(ctx, n, size, &p->growth));
    SPRY_GO(ctx, base_calloc(ctx, n, sizeof *p->wide, &p->wide));
    SPRY_GO(ctx, base_alloc(ctx, n, sizeof *p->row, &p->row));
    SPRY_GO(ctx, base_alloc(ctx, n, sizeof *p->step, &p->step));
    SPRY_GO(ctx, base_alloc(ctx, n, sizeof *p->head, &p->head));
    for (int k = 0; k < 2; k++) {
        SPRY_GO(ctx, base_alloc(ctx, n, size, &p->w[k]));
        SPRY_GO(ctx, base_calloc(ctx, n, sizeof *p->mark[k], &p->mark[k]));
        SPRY_GO(ctx, base_alloc(ctx, n, sizeof *p->list[k], &p->list[k]));
    }
    for (int64_t k = 0; k < n; k++) {
        const int64_t own = A->a.offsets[k + 1] - A->a.offsets[k];
        p->longest = own > p->longest ? own : p->longest;
        p->step[k] = -1;
        p->head[k] = -1;
    }
done:
    return status;
}

static spry_status grow(const stack *s, ildl_job *p, int64_t used)
{
    spry_context *ctx = s->ctx;
    const int64_t before = p->room;
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(ctx, stack_grow(ctx, spry_type_size(s->type), used, 2 * p->need, &p->room, &p->rows,
                            &p->values));
    if (p->room > before) {
        SPRY_GO(ctx, base_grow(ctx, used, p->room, sizeof *p->next, &p->next));
        SPRY_GO(ctx, base_grow(ctx, used, p->room, sizeof *p->step_of, &p->step_of));
    }
done:
    return status;
}

static spry_status factorize(const stack *s, ildl_job *p)
{
    enum { CHUNK = 64 };
    const precon_kernels *kernels = precon_kernels_for(s->ctx, s->type);
    spry_status status = SPRY_STATUS_OK;
    for (int64_t step = 0; step < s->n;) {
        const int64_t end = step + CHUNK < s->n ? step + CHUNK : s->n;
        if (spry_context_interrupted(s->ctx, false))
            return SPRY_FAIL(s->ctx, SPRY_STATUS_INTERRUPTED, "precon ildl: interrupted");
        SPRY_GO(s->ctx, grow(s, p, p->offsets[step]));
        step = kernels->ildl_columns(p, step, end);
    }
    for (int64_t e = 0; e < p->offsets[s->n]; e++)
        p->rows[e] = p->step[p->rows[e]];
done:
    return status;
}

/* --- D -------------------------------------------------------------------------------------------
 */

static double size_of(spry_scalar a)
{
    return hypot(a.re, a.im);
}
static spry_scalar times(spry_scalar a, spry_scalar b)
{
    return (spry_scalar){a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
}
static spry_scalar over(spry_scalar a, spry_scalar b)
{
    const double size = size_of(b);
    const spry_scalar by = {b.re / size, -b.im / size}, c = times(a, by);
    return (spry_scalar){c.re / size, c.im / size};
}

/* A pivot's D: [first, above; below, second]. */
typedef struct block {
    spry_scalar first, above, below, second;
} block;

static block inverse_of(block d)
{
    const spry_scalar x = times(d.first, d.second), y = times(d.above, d.below),
                      det = {x.re - y.re, x.im - y.im};
    return (block){.first = over(d.second, det),
                   .above = over((spry_scalar){-d.above.re, -d.above.im}, det),
                   .below = over((spry_scalar){-d.below.re, -d.below.im}, det),
                   .second = over(d.first, det)};
}

/* |B| of a hermitian block: for its eigenvalues p and q, (B^2 + |p q| I) / (|p| + |q|). */
static block modulus_of(block b)
{
    const double trace = b.first.re + b.second.re, size = size_of(b.below),
                 det = b.first.re * b.second.re - size * size,
                 root = hypot(b.first.re - b.second.re, 2 * size);
    const double sum = det < 0 ? root : fabs(trace); /* |p| + |q| */
    return (block){.first = {(b.first.re * b.first.re + size * size + fabs(det)) / sum, 0},
                   .above = {b.above.re * trace / sum, b.above.im * trace / sum},
                   .below = {b.below.re * trace / sum, b.below.im * trace / sum},
                   .second = {(b.second.re * b.second.re + size * size + fabs(det)) / sum, 0}};
}

/* D^-1, or |D|^-1, as a matrix. */
static spry_status inverse_blocks(const stack *s, const ildl_job *p, bool definite, spry_matrix **W)
{
    const int64_t n = s->n;
    const spry_type type = s->type;
    matrix_arrays a = {
        .format = SPRY_FORMAT_CSR, .type = type, .rows = n, .cols = n, .nnz = n + 2 * p->pairs};
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(s->ctx, matrix_allocate(s->ctx, &a));
    for (int64_t k = 0, to = 0; k < n; k++) {
        const spry_scalar d = value_get(type, p->diagonal, k);
        a.offsets[k] = to;
        if (!p->wide[k]) {
            const spry_scalar v = over((spry_scalar){1, 0}, d);
            a.col_index[to] = (int32_t)k;
            value_set(type, a.values, to++, definite ? (spry_scalar){fabs(v.re), 0} : v);
            continue;
        }
        const spry_scalar below = value_get(type, p->below, k),
                          above = {below.re, p->hermitian ? -below.im : below.im};
        block b = inverse_of((block){d, above, below, value_get(type, p->diagonal, k + 1)});
        if (definite)
            b = modulus_of(b);
        const spry_scalar four[4] = {b.first, b.above, b.below, b.second};
        a.offsets[k + 1] = to + 2;
        for (int e = 0; e < 4; e++) {
            a.col_index[to] = (int32_t)(k + e % 2);
            value_set(type, a.values, to++, four[e]);
        }
        k++;
    }
    a.offsets[n] = a.nnz;
    SPRY_GO(s->ctx, matrix_wrap(s->ctx, &a, W));
done:
    return status;
}

/* --- the operator --------------------------------------------------------------------------------
 */

/* L, D^-1 and L^H or L^T; columns of L are rows of the last. */
static spry_status push_factors(stack *s, const ildl_job *p)
{
    spry_context *ctx = s->ctx;
    const triangle_pattern pattern = {.offsets = p->offsets, .columns = p->rows};
    triangle_chain lower = {.device = s->place.device, .sets = &s->sets, .type = s->type},
                   upper = lower;
    spry_matrix *W = NULL;
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(ctx, triangle_sets_make(ctx, s->n, &pattern, 1, NULL, s->place.device, &s->sets));
    SPRY_GO(ctx,
            triangle_of_pattern(ctx, &pattern, p->values, &s->sets, s->type, true, &upper.t[0]));
    SPRY_GO(ctx, triangle_transpose(ctx, &upper.t[0], &lower.t[0]));
    if (p->hermitian && spry_type_is_complex(s->type))
        precon_kernels_for(ctx, s->type)
            ->conjugate_entries(upper.t[0].offsets[s->n], upper.t[0].values, upper.t[0].values);
    lower.count = upper.count = 1;
    SPRY_GO(ctx, stack_push_triangles(s, &lower));
    SPRY_GO(ctx, inverse_blocks(s, p, false, &W));
    SPRY_GO(ctx, stack_push_matrix(s, W));
    SPRY_GO(ctx, stack_push_triangles(s, &upper));
done:
    triangle_chain_clear(ctx, &lower);
    triangle_chain_clear(ctx, &upper);
    return status;
}

/* What is near to A^-1 is judged with D as it is. */
static spry_status make_factors(spry_operator *op, const stack_try *t, bool *fine)
{
    stack *s = op->state;
    const ildl_options *o = s->options;
    spry_context *ctx = s->ctx;
    ildl_job job = {.tau = t->tau, .fill = t->fill, .pivot = o->pivot, .hermitian = op->hermitian};
    spry_matrix *W = NULL;
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(ctx, open_job(s, t->scaled, &job));
    SPRY_GO(ctx, factorize(s, &job));
    SPRY_GO(ctx, stack_push_selection(s, job.row, t->left, false));
    SPRY_GO(ctx, push_factors(s, &job));
    SPRY_GO(ctx, stack_push_selection(s, job.step, t->right, true));
    base_log(ctx, SPRY_LOG_INFO,
             "precon ildl: %" PRId64 " entries (%.2f times those of A), %" PRId64
             " pivots of two rows, %" PRId64 " rows without a pivot were given one",
             stack_entries(s) + s->n, stack_share(s, t->A), job.pairs, job.perturbed);
    SPRY_GO(ctx, stack_check(op, t->A, t->last, fine));
    if (*fine && op->definite) {
        SPRY_GO(ctx, inverse_blocks(s, &job, true, &W));
        SPRY_GO(ctx, stack_exchange(s, 2, W));
    }
done:
    clear_job(ctx, &job);
    return status;
}

/* Whether A is hermitian, or else symmetric. */
static spry_status find_symmetry(const spry_matrix *A, const ildl_options *o, bool *hermitian)
{
    spry_context *ctx = A->ctx;
    bool symmetric = false, pattern;
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(ctx, matrix_find_out(ctx, A, SPRY_FACT_HERMITIAN, hermitian));
    if (*hermitian)
        return SPRY_STATUS_OK;
    if (spry_type_is_complex(A->a.type))
        SPRY_GO(ctx, matrix_find_out(ctx, A, SPRY_FACT_SYMMETRIC, &symmetric));
    if (!symmetric)
        SPRY_GO(ctx, precon_check_hermitian(A, "ildl", "ilutp", &pattern));
    if (o->definite == DEFINITE_YES)
        status = SPRY_FAIL(ctx, SPRY_STATUS_BAD_INPUT,
                           "precon ildl: factors of a complex symmetric matrix are not definite; "
                           "take definite=no");
done:
    return status;
}

static spry_status fill_ildl(spry_operator *op, const spry_matrix *A)
{
    const ildl_options *o = ((const stack *)op->state)->options;
    const spry_status status = find_symmetry(A, o, &op->hermitian);
    op->definite = o->definite == DEFINITE_YES || (o->definite == DEFINITE_AUTO && op->hermitian);
    return status == SPRY_STATUS_OK
               ? stack_drop(op, A, o->tau, o->fill, o->order, o->tries, make_factors)
               : status;
}

static spry_status check(const precon_job *job)
{
    bool hermitian;
    return find_symmetry(job->A, job->options, &hermitian);
}

static spry_status make(const precon_job *job, spry_operator **M)
{
    return stack_operator(job, "ildl", sizeof(ildl_options), fill_ildl, M);
}

const precon_kind precon_kind_ildl = {
    .name = "ildl",
    .summary = "incomplete L D L^T factors with pivots, for symmetric indefinite matrices",
    .options = SPRY_OPTION_LIST(table),
    .check = check,
    .make = make,
    .on_devices = true,
    .cost = {
        .kept = 2, .work = 1, .products = 300, .vectors = 4, .share = 0.3, .method = "fgmres"}};
