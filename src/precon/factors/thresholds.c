/* Incomplete factors whose pattern is found with their numbers: row after row, by one thread. */
#include "precon/factors/factors.h"

/* Factors in the making, with as much room as the next rows may take. */
typedef struct maker {
    spry_context *ctx;
    const spry_matrix *A;
    size_t size;
    ilut_job job;
    int64_t l_room, u_room, linked;
} maker;

static void clear_maker(maker *m)
{
    ilut_job *p = &m->job;
    void *const all[] = {p->l_offsets, p->u_offsets, p->l_columns, p->u_columns,
                         p->l_values,  p->u_values,  p->inverse,   p->w,
                         p->mark,      p->heap,      p->lower,     p->upper,
                         p->head,      p->tail,      p->next,      p->row_of};
    for (size_t k = 0; k < sizeof all / sizeof *all; k++)
        base_free(m->ctx, all[k]);
}

static spry_status open_maker(maker *m)
{
    spry_context *ctx = m->ctx;
    ilut_job *p = &m->job;
    const int64_t n = m->A->a.rows;
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(ctx, base_calloc(ctx, n + 1, sizeof *p->l_offsets, &p->l_offsets));
    SPRY_GO(ctx, base_calloc(ctx, n + 1, sizeof *p->u_offsets, &p->u_offsets));
    SPRY_GO(ctx, base_alloc(ctx, n, m->size, &p->inverse));
    SPRY_GO(ctx, base_alloc(ctx, n, m->size, &p->w));
    SPRY_GO(ctx, base_calloc(ctx, n, sizeof *p->mark, &p->mark));
    SPRY_GO(ctx, base_alloc(ctx, n, sizeof *p->heap, &p->heap));
    SPRY_GO(ctx, base_alloc(ctx, n, sizeof *p->lower, &p->lower));
    SPRY_GO(ctx, base_alloc(ctx, n, sizeof *p->upper, &p->upper));
    if (p->hermitian) {
        SPRY_GO(ctx, base_alloc(ctx, n, sizeof *p->head, &p->head));
        SPRY_GO(ctx, base_alloc(ctx, n, sizeof *p->tail, &p->tail));
    }
done:
    return status;
}

/* Room for `count` entries, of which `used` are set. */
static spry_status grow(maker *m, int64_t used, int64_t count, int64_t *room, int32_t **columns,
                        void **values)
{
    spry_context *ctx = m->ctx;
    spry_status status = SPRY_STATUS_OK;
    if (count <= *room)
        return SPRY_STATUS_OK;
    const int64_t more = count > used + used / 2 ? count : used + used / 2;
    SPRY_GO(ctx, base_grow(ctx, used, more, sizeof **columns, columns));
    SPRY_GO(ctx, base_grow(ctx, used, more, m->size, values));
    *room = more;
done:
    return status;
}

/* What rows begin..end-1 may take. */
static spry_status make_room(maker *m, int64_t begin, int64_t end)
{
    spry_context *ctx = m->ctx;
    ilut_job *p = &m->job;
    const int64_t n = m->A->a.rows;
    int64_t l = p->l_offsets[begin], u = p->u_offsets[begin];
    spry_status status = SPRY_STATUS_OK;
    for (int64_t k = begin; k < end; k++) {
        const int64_t i = p->rows ? p->rows[k] : k;
        const int64_t most = p->fill + p->a_offsets[i + 1] - p->a_offsets[i];
        l += most < k ? most : k; /* no row is longer than its triangle */
        u += most < n - 1 - k ? most : n - 1 - k;
    }
    SPRY_GO(ctx, grow(m, p->l_offsets[begin], l, &m->l_room, &p->l_columns, &p->l_values));
    if (!p->hermitian)
        SPRY_GO(ctx, grow(m, p->u_offsets[begin], u, &m->u_room, &p->u_columns, &p->u_values));
    if (p->hermitian && m->linked < m->l_room) {
        const int64_t used = p->l_offsets[begin];
        SPRY_GO(ctx, base_grow(ctx, used, m->l_room, sizeof *p->next, &p->next));
        SPRY_GO(ctx, base_grow(ctx, used, m->l_room, sizeof *p->row_of, &p->row_of));
        m->linked = m->l_room;
    }
done:
    return status;
}

/* All rows; *bad is the one without a pivot, n: none. */
static spry_status make_rows(maker *m, int64_t *bad)
{
    enum { CHUNK = 64 };
    const precon_kernels *kernels = precon_kernels_for(m->ctx, m->A->a.type);
    const int64_t n = m->A->a.rows;
    ilut_job *p = &m->job;
    spry_status status = SPRY_STATUS_OK;
    for (int64_t k = 0; k < n && p->hermitian; k++)
        p->head[k] = -1;
    *bad = n;
    for (int64_t begin = 0; begin < n && *bad == n; begin += CHUNK) {
        const int64_t end = begin + CHUNK < n ? begin + CHUNK : n;
        if (spry_context_interrupted(m->ctx, false))
            return SPRY_FAIL(m->ctx, SPRY_STATUS_INTERRUPTED, "factors by thresholds: interrupted");
        SPRY_GO(m->ctx, make_room(m, begin, end));
        const int64_t stopped = kernels->ilut_rows(p, begin, end);
        *bad = stopped < end ? stopped : n;
    }
done:
    return status;
}

/* Takes the rows, which are numbered in their order, into triangles, and the order into the sets.
 */
static spry_status take_rows(const maker *m, const int32_t *perm, bool always, factors *f)
{
    spry_context *ctx = m->ctx;
    const ilut_job *p = &m->job;
    const int64_t n = m->A->a.rows;
    const spry_type type = m->A->a.type;
    const triangle_pattern patterns[2] = {{.offsets = p->l_offsets, .columns = p->l_columns},
                                          {.offsets = p->u_offsets, .columns = p->u_columns}};
    triangle *t = f->chain.t;
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(ctx,
            triangle_sets_make(ctx, n, patterns, p->hermitian ? 1 : 2, NULL, always, &f->sets));
    SPRY_GO(ctx, triangle_of_pattern(ctx, &patterns[0], p->l_values, &f->sets, type, false, &t[0]));
    if (p->hermitian) {
        SPRY_GO(ctx, triangle_transpose(ctx, &t[0], &t[1]));
        SPRY_GO(ctx, factors_mirror(ctx, f));
    } else {
        SPRY_GO(ctx,
                triangle_of_pattern(ctx, &patterns[1], p->u_values, &f->sets, type, true, &t[1]));
    }
    SPRY_GO(ctx, triangle_by_places(ctx, &f->sets, type, p->inverse, &f->chain.f[1]));
    SPRY_GO(ctx, triangle_sets_rename(ctx, &f->sets, perm));
done:
    return status;
}

spry_status factors_choose(const spry_matrix *A, const factors_wanted *wanted, const int32_t *perm,
                           bool always, factors *f)
{
    spry_context *ctx = A->ctx;
    int32_t *rank = NULL;
    int64_t bad = 0;
    spry_status status = SPRY_STATUS_OK;
    maker m = {.ctx = ctx, .A = A, .size = spry_type_size(A->a.type)};
    m.job = (ilut_job){.a_offsets = A->a.offsets,
                       .a_columns = A->a.col_index,
                       .a_values = A->a.values,
                       .rows = perm,
                       .tau = wanted->tau,
                       .shift = wanted->shift,
                       .fill = wanted->fill,
                       .hermitian = wanted->hermitian};
    f->chain = (triangle_chain){.sets = &f->sets, .type = A->a.type};
    if (perm)
        SPRY_GO(ctx, matrix_invert(ctx, "order", perm, A->a.rows, &rank));
    m.job.places = rank;
    SPRY_GO(ctx, open_maker(&m));
    for (int turn = 0;; turn++) {
        SPRY_GO(ctx, make_rows(&m, &bad));
        if (bad == A->a.rows)
            break;
        SPRY_GO(ctx, factors_next_shift(A, wanted, perm ? perm[bad] : bad, turn, &m.job.shift));
    }
    f->shift = m.job.shift;
    SPRY_GO(ctx, take_rows(&m, perm, always, f));
done:
    base_free(ctx, rank);
    clear_maker(&m);
    return status;
}
