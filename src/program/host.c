/* The host's side of a runner: memory for vectors, shares of the work. */
#include "program/sweep.h"

#include "formats/shared/device_formats.h"
#include "program/explain.h"

/* Shares of parts with about the same work each. */
static spry_status cut(runner *r, const operator_rows *rows, int space, int **out)
{
    spry_status status = base_alloc(r->ctx, r->host->threads + 1, sizeof **out, out);
    if (status != SPRY_STATUS_OK)
        return status;
    const int parts = r->host->parts[space];
    const int64_t n = r->n[space];
    const double all = (double)rows->work(rows, n);
    int part = 0;
    for (int t = 0; t <= r->host->threads; t++) {
        const double target = all * t / r->host->threads;
        for (; part < parts; part++) { /* whose middle is before it */
            const range of = base_share(n, parts, part, CHUNK);
            if ((double)(rows->work(rows, of.begin) + rows->work(rows, of.end)) >= 2 * target)
                break;
        }
        (*out)[t] = t == r->host->threads ? parts : t == 0 ? 0 : part;
    }
    return SPRY_STATUS_OK;
}

spry_status host_side_open_operators(runner *r)
{
    spry_context *ctx = r->ctx;
    const plan *p = r->p;
    spry_status status = SPRY_STATUS_OK;
    for (int i = 0; i < p->op_count; i++) {
        const plan_op *o = &p->ops[i];
        if (o->kind == OP_DIAGONAL)
            r->host->diagonal[o->op][o->transpose] =
                operator_diagonal(r->operators[o->op], o->transpose);
        if (o->kind != OP_APPLY || plan_calls(p, o) || r->host->rows[o->op][o->transpose].run)
            continue;
        operator_rows *rows = &r->host->rows[o->op][o->transpose];
        SPRY_GO(ctx, operator_open_rows(r->operators[o->op], o->transpose, rows));
        SPRY_GO(ctx, cut(r, rows, p->vars[o->out.var].space, &r->host->cuts[o->op][o->transpose]));
    }
done:
    return status;
}

/* What is new is opened before anything of the old one goes. */
spry_status host_side_exchange(runner *r, const spry_operator *A)
{
    spry_context *ctx = r->ctx;
    const plan *p = r->p;
    operator_rows rows[3] = {{0}};
    int *cuts[3] = {NULL};
    spry_status status = SPRY_STATUS_OK;
    for (int i = 0; i < p->op_count; i++) {
        const plan_op *o = &p->ops[i];
        const int t = (int)o->transpose;
        if (o->op != OPERATOR_A || o->kind != OP_APPLY || plan_calls(p, o) || rows[t].run)
            continue;
        SPRY_GO(ctx, operator_open_rows(A, o->transpose, &rows[t]));
        if (!rows[t].run) {
            status = SPRY_FAIL(ctx, SPRY_STATUS_UNSUPPORTED, "operator %s has no products by rows",
                               spry_operator_name(A));
            goto done;
        }
        SPRY_GO(ctx, cut(r, &rows[t], p->vars[o->out.var].space, &cuts[t]));
    }
    for (int t = 0; t < 3; t++) {
        int *before = r->host->cuts[OPERATOR_A][t];
        r->host->rows[OPERATOR_A][t] = rows[t];
        r->host->cuts[OPERATOR_A][t] = cuts[t];
        cuts[t] = before;
    }
done:
    for (int t = 0; t < 3; t++)
        base_free(ctx, cuts[t]);
    return status;
}

/*
 * All vectors of a right-hand side lie in one piece of memory, each a little further than a round
 * number of bytes after the one before: at the same place modulo a power of two they would compete
 * for the same lines of the first cache.
 */
enum { STAGGER = 17 * ALIGNMENT };

static int64_t spaced(const runner *r, int64_t n)
{
    return (n * r->size + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT + STAGGER;
}

/* Pieces of products are as long as a run of chunks, others as long as one; none is longer than the
 * vectors. They lie apart from each other's cache lines, as vectors do. */
static spry_status place_pieces(runner *r)
{
    const plan *p = r->p;
    const int64_t n = r->n[0] > r->n[1] ? r->n[0] : r->n[1];
    const spry_status status =
        base_calloc(r->ctx, p->locals + 1, sizeof *r->host->piece_at, &r->host->piece_at);
    if (status != SPRY_STATUS_OK)
        return status;
    for (int k = 0; k < p->locals; k++) {
        int64_t length = CHUNK;
        for (int v = 0; v < p->var_count; v++)
            if (p->vars[v].in_pieces && p->vars[v].number == k && p->vars[v].wide)
                length = RUN * CHUNK;
        r->host->piece_at[k + 1] = r->host->piece_at[k] + spaced(r, length < n ? length : n);
    }
    r->host->pieces_bytes = r->rhs_room * r->host->piece_at[p->locals];
    return SPRY_STATUS_OK;
}

/* The largest number of operands, inner products and bound operations a sweep can have. */
static spry_status allocate_sweep(runner *r)
{
    spry_context *ctx = r->ctx;
    const plan *p = r->p;
    int64_t operands = 1, slots = 1, terms = 1, products = 0;
    int longest = 1;
    spry_status status = SPRY_STATUS_OK;
    for (int f = 0; f < p->phase_count; f++) {
        int64_t in_phase = 0, dots = 0, phase_products = 0;
        for (int i = p->phases[f].first; i < p->phases[f].first + p->phases[f].sweep_count; i++) {
            const plan_op *o = &p->ops[i];
            int64_t vectors = o->kind == OP_DOT ? host_most_vectors(p, &o->in[0]) : 0;
            dots += vectors;
            for (int k = 0; o->kind == OP_COMBINE && k < o->terms; k++)
                vectors += host_most_vectors(p, &p->terms[o->term + k].v);
            terms = vectors > terms ? vectors : terms;
            in_phase += vectors;
            phase_products += o->kind == OP_APPLY && !plan_calls(p, o);
        }
        operands = in_phase > operands ? in_phase : operands;
        slots = dots > slots ? dots : slots;
        products = phase_products > products ? phase_products : products;
        longest = p->phases[f].sweep_count > longest ? p->phases[f].sweep_count : longest;
    }
    int64_t small = 0;
    for (int i = 0; i < p->op_count; i++)
        small = small_room(p, &p->ops[i]) > small ? small_room(p, &p->ops[i]) : small;
    const int most = r->host->parts[0] > r->host->parts[1] ? r->host->parts[0] : r->host->parts[1];
    r->host->most_terms = (int)terms;
    SPRY_GO(ctx, base_alloc(ctx, (int64_t)longest * r->rhs_room, sizeof *r->host->bound,
                            &r->host->bound));
    SPRY_GO(ctx,
            base_alloc(ctx, operands * r->rhs_room, sizeof *r->host->operands, &r->host->operands));
    SPRY_GO(ctx,
            base_alloc(ctx, operands * r->rhs_room, sizeof *r->host->factors, &r->host->factors));
    SPRY_GO(ctx,
            base_alloc(ctx, most * slots * r->rhs_room, sizeof *r->host->sums, &r->host->sums));
    if (small > 0)
        SPRY_GO(ctx, base_alloc(ctx, small, sizeof *r->host->small, &r->host->small));
    SPRY_GO(ctx, place_pieces(r));
    SPRY_GO(ctx, base_alloc(ctx, r->host->threads * r->host->pieces_bytes, 1, &r->host->pieces));
    SPRY_GO(ctx, base_alloc(ctx, r->host->threads * terms, sizeof *r->host->pointers,
                            &r->host->pointers));
    if (r->rhs_room > 1) { /* groups of right-hand sides fill whole packs, at least by half */
        const int64_t rows = products * (r->n[0] > r->n[1] ? r->n[0] : r->n[1]);
        SPRY_GO(ctx, base_alloc(ctx, rows, (size_t)(2 * r->rhs_room * r->size), &r->host->packed));
    }
done:
    return status;
}

static int64_t room_for(const runner *r, int space)
{
    return spaced(r, r->n[space]);
}

typedef struct zero_job {
    const runner *r;
    int space;
    char *memory;
} zero_job;

static void zero_share(void *argument, int share, int shares)
{
    const zero_job *j = argument;
    const runner *r = j->r;
    const range mine = base_share(r->host->parts[j->space], shares, share, 1);
    for (int64_t part = mine.begin; part < mine.end; part++) {
        const range rows = base_share(r->n[j->space], r->host->parts[j->space], (int)part, CHUNK);
        memset(j->memory + rows.begin * r->size, 0, (size_t)((rows.end - rows.begin) * r->size));
    }
}

/* The next vector of the memory at *at: zeros, each page placed by the thread that will use it. */
static char *take_vector(const runner *r, int space, char **at)
{
    char *memory = *at;
    *at += room_for(r, space);
    zero_job job = {r, space, memory};
    base_share_out(r->ctx, r->host->threads, zero_share, &job);
    return memory;
}

static spry_status allocate_vectors(runner *r, host_rhs *l)
{
    spry_context *ctx = r->ctx;
    const plan *p = r->p;
    spry_status status = SPRY_STATUS_OK;
    int64_t count[2];
    plan_count_vectors(p, count);
    for (int space = 0; space < 2; space++)
        if (count[space] > INT64_MAX / 4 / room_for(r, space))
            return SPRY_FAIL(ctx, SPRY_STATUS_NO_MEMORY,
                             "%" PRId64 " vectors of %" PRId64 " elements", count[space],
                             r->n[space]);
    const int64_t bytes = count[0] * room_for(r, 0) + count[1] * room_for(r, 1);
    SPRY_GO(ctx, base_alloc(ctx, bytes, 1, &l->memory));
    char *at = l->memory;
    for (int v = 0; v < p->var_count; v++) {
        const plan_var *var = &p->vars[v];
        if (plan_opens_slot(p, v))
            l->slots[var->number] = take_vector(r, var->space, &at);
        if (!var->array)
            continue;
        SPRY_GO(ctx, base_calloc(ctx, var->extent, sizeof **l->arrays, &l->arrays[v]));
        for (int64_t i = 0; i < var->extent; i++)
            l->arrays[v][i] = take_vector(r, var->space, &at);
    }
done:
    return status;
}

spry_status host_side_open_rhs(runner *r, int index)
{
    spry_context *ctx = r->ctx;
    const plan *p = r->p;
    host_rhs *l = &r->host->rhs[index];
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(ctx, base_calloc(ctx, p->slots + 1, sizeof *l->slots, &l->slots));
    SPRY_GO(ctx, base_calloc(ctx, p->var_count, sizeof *l->arrays, &l->arrays));
    SPRY_GO(ctx, allocate_vectors(r, l));
done:
    return status;
}

static int parts_of(const runner *r, int space)
{
    const int64_t chunks = (r->n[space] + CHUNK - 1) / CHUNK;
    if (device_of(r->operators[OPERATOR_A]) || chunks < 1)
        return 1;
    /* Where bits are strict, parts of all ranks are made of their chunks. */
    return chunks < MOST_PARTS || sweep_is_strict(r) ? (int)chunks : MOST_PARTS;
}

/* As many as their work pays, and of these as few as do it in the same number of turns. */
int host_side_threads(const runner *r)
{
    /* Long rows are work, too: an entry is a fourth of what an element of the vectors is, which a
     * sweep reads or writes a few times. */
    const int64_t n = r->n[0] > r->n[1] ? r->n[0] : r->n[1];
    const int parts[2] = {parts_of(r, 0), parts_of(r, 1)};
    const int most = parts[0] > parts[1] ? parts[0] : parts[1];
    const int pay = host_threads(r->ctx, 2 * (n + r->operators[OPERATOR_A]->own_bytes / 48));
    const int turns = (most + pay - 1) / pay;
    return (most + turns - 1) / turns;
}

/* The parts of the vectors of this rank. */
static spry_status open_parts(runner *r, const sweep_place *place)
{
    spry_context *ctx = r->ctx;
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(ctx, base_calloc(ctx, 1, sizeof *r->host, &r->host));
    const spry_device *d = device_of(r->operators[OPERATOR_A]);
    r->host->place = place;
    if (d)
        SPRY_GO(ctx, base_calloc(ctx, r->rhs_room, sizeof(void *), &r->host->residents));
    r->host->kernels = host_kernels_for(ctx, r->type);
    r->host->blocks = block_kernels_for(ctx, r->type);
    r->host->threads = host_side_threads(r);
    for (int space = 0; space < 2; space++)
        r->host->parts[space] = parts_of(r, space);
    SPRY_GO(ctx, base_calloc(ctx, r->rhs_room, sizeof *r->host->rhs, &r->host->rhs));
    SPRY_GO(ctx, base_calloc(ctx, r->rhs_room, sizeof *r->host->active, &r->host->active));
    SPRY_GO(ctx, base_calloc(ctx, r->rhs_room, sizeof *r->host->members, &r->host->members));
done:
    return status;
}

static spry_status open_all_rhs(runner *r)
{
    spry_status status = SPRY_STATUS_OK;
    for (int k = 0; k < r->rhs_room && status == SPRY_STATUS_OK; k++) {
        bool **skip = &r->host->rhs[k].skip;
        status = base_calloc(r->ctx, r->p->op_count + 1, sizeof **skip, skip);
        if (status == SPRY_STATUS_OK)
            status = r->host->place->open_rhs(r, k);
    }
    return status;
}

/* What each rank does by itself is agreed upon before they do the next thing together. */
spry_status host_side_open(runner *r, const sweep_place *place)
{
    spry_context *ctx = r->ctx;
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(ctx, course_agree(r, open_parts(r, place)));
    SPRY_GO(ctx, course_agree(r, place->open ? place->open(r) : SPRY_STATUS_OK));
    SPRY_GO(ctx, course_agree(r, allocate_sweep(r)));
    SPRY_GO(ctx, sweep_open_ranks(r));
    SPRY_GO(ctx, course_agree(r, open_all_rhs(r)));
done:
    return status;
}

/* Vectors are zeros when they are made. */
spry_status host_side_clear(runner *r, rhs *l)
{
    const plan *p = r->p;
    const host_rhs *h = host_rhs_of(r, l);
    for (int v = 0; r->used && v < p->var_count; v++) {
        const plan_var *var = &p->vars[v];
        const size_t bytes = (size_t)(r->n[var->space] * r->size);
        if (!var->seen_before || plan_keeps(p, v))
            continue;
        for (int64_t i = 0; var->array && i < var->extent; i++)
            memset(h->arrays[v][i], 0, bytes);
        if (!var->array && !var->in_pieces && var->number != NONE)
            memset(h->slots[var->number], 0, bytes);
    }
    return SPRY_STATUS_OK;
}

void host_side_close_rhs(runner *r, int index)
{
    const host_rhs *l = &r->host->rhs[index];
    for (int v = 0; l->arrays && v < r->p->var_count; v++)
        base_free(r->ctx, l->arrays[v]);
    base_free(r->ctx, l->memory);
    base_free(r->ctx, l->slots);
    base_free(r->ctx, l->arrays);
}

void host_side_close(runner *r)
{
    host_side *h = r->host;
    if (!h)
        return;
    for (int k = 0; h->rhs && k < r->rhs_room; k++) {
        h->place->close_rhs(r, k);
        base_free(r->ctx, h->rhs[k].skip);
    }
    for (int k = 0; k < OPERATOR_COUNT; k++)
        for (int t = 0; t < 3; t++)
            base_free(r->ctx, h->cuts[k][t]);
    sweep_close_ranks(r);
    void *const arrays[] = {h->rhs,      h->active,    h->members, h->bound,    h->operands,
                            h->factors,  h->sums,      h->pieces,  h->pointers, h->packed,
                            h->piece_at, h->residents, h->small};
    for (size_t k = 0; k < sizeof arrays / sizeof *arrays; k++)
        base_free(r->ctx, arrays[k]);
    base_free(r->ctx, h);
    r->host = NULL;
}
