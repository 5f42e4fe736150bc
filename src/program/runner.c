/* Making a runner: memory for vectors and scalars, shares of the work. */
#include "program/resident.h"

#include <float.h>
#include <math.h>

/* Sweeps on a device have products with A alone: those with A^T go by other positions. */
static spry_status use_on_device(const spry_operator *operator, bool transposed, operator_use *use)
{
    device_rows rows = {0};
    const spry_status status =
        transposed ? SPRY_STATUS_OK : device_open_rows(operator, SPRY_TRANSPOSE_NO, "A_", &rows);
    if (rows.text)
        *use = USE_ROWS;
    base_free(operator->ctx, rows.text);
    return status;
}

spry_status runner_use(const spry_operator *operator, bool transposed, operator_use *use)
{
    operator_rows rows = {0};
    *use = USE_NOTHING;
    if (!operator)
        return SPRY_STATUS_OK;
    *use = USE_DIAGONAL;
    if (operator_diagonal(operator, SPRY_TRANSPOSE_NO) ||
        device_diagonal(operator, SPRY_TRANSPOSE_NO))
        return SPRY_STATUS_OK;
    *use = USE_CALL;
    if (device_of(operator))
        return use_on_device(operator, transposed, use);
    spry_status status = operator_open_rows(operator, SPRY_TRANSPOSE_NO, &rows);
    if (status != SPRY_STATUS_OK || !rows.run)
        return status;
    if (transposed) {
        status = operator_open_rows(operator, SPRY_TRANSPOSE_CONJUGATE, &rows);
        if (status != SPRY_STATUS_OK || !rows.run)
            return status;
    }
    *use = USE_ROWS;
    return SPRY_STATUS_OK;
}

/* Shares of parts with about the same work each. */
static spry_status cut(runner *r, const operator_rows *rows, int space, int **out)
{
    spry_status status = base_alloc(r->ctx, r->threads + 1, sizeof **out, out);
    if (status != SPRY_STATUS_OK)
        return status;
    const int parts = r->parts[space];
    const int64_t n = r->n[space];
    const double all = (double)rows->work(rows, n);
    int part = 0;
    for (int t = 0; t <= r->threads; t++) {
        const double target = all * t / r->threads;
        while (part < parts &&
               (double)rows->work(rows, base_share(n, parts, part, CHUNK).begin) < target)
            part++;
        (*out)[t] = t == r->threads ? parts : t == 0 ? 0 : part;
    }
    return SPRY_STATUS_OK;
}

static spry_status open_operators(runner *r)
{
    spry_context *ctx = r->ctx;
    const plan *p = r->p;
    spry_status status = SPRY_STATUS_OK;
    for (int i = 0; i < p->op_count; i++) {
        const plan_op *o = &p->ops[i];
        if (o->kind == OP_DIAGONAL)
            r->diagonal[o->op][o->transpose] = operator_diagonal(r->operators[o->op], o->transpose);
        if (o->kind != OP_APPLY || plan_calls(p, o) || r->rows[o->op][o->transpose].run)
            continue;
        operator_rows *rows = &r->rows[o->op][o->transpose];
        SPRY_GO(ctx, operator_open_rows(r->operators[o->op], o->transpose, rows));
        SPRY_GO(ctx, cut(r, rows, p->vars[o->out.var].space, &r->cuts[o->op][o->transpose]));
    }
done:
    return status;
}

/* Vectors an operand stands for at most. */
static int64_t most_vectors(const plan *p, const vref *v)
{
    return v->first == v->last ? 1 : p->vars[v->var].extent;
}

/*
 * All vectors of a lane lie in one piece of memory, each a little further than a round number of
 * bytes after the one before: at the same place modulo a power of two they would compete for the
 * same lines of the first cache.
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
        base_calloc(r->ctx, p->locals + 1, sizeof *r->piece_at, &r->piece_at);
    if (status != SPRY_STATUS_OK)
        return status;
    for (int k = 0; k < p->locals; k++) {
        int64_t length = CHUNK;
        for (int v = 0; v < p->var_count; v++)
            if (p->vars[v].in_pieces && p->vars[v].number == k && p->vars[v].wide)
                length = RUN * CHUNK;
        r->piece_at[k + 1] = r->piece_at[k] + spaced(r, length < n ? length : n);
    }
    r->pieces_bytes = r->lane_count * r->piece_at[p->locals];
    return SPRY_STATUS_OK;
}

/* The largest number of operands, inner products and steps a sweep can have. */
static spry_status allocate_sweep(runner *r)
{
    spry_context *ctx = r->ctx;
    const plan *p = r->p;
    int64_t operands = 1, slots = 1, terms = 1, products = 0;
    int steps = 1;
    spry_status status = SPRY_STATUS_OK;
    for (int f = 0; f < p->phase_count; f++) {
        int64_t in_phase = 0, dots = 0, here_products = 0;
        for (int i = p->phases[f].first; i < p->phases[f].first + p->phases[f].sweep_count; i++) {
            const plan_op *o = &p->ops[i];
            int64_t here = o->kind == OP_DOT ? most_vectors(p, &o->in[0]) : 0;
            dots += here;
            for (int k = 0; o->kind == OP_COMBINE && k < o->terms; k++)
                here += most_vectors(p, &p->terms[o->term + k].v);
            terms = here > terms ? here : terms;
            in_phase += here;
            here_products += o->kind == OP_APPLY && !plan_calls(p, o);
        }
        operands = in_phase > operands ? in_phase : operands;
        slots = dots > slots ? dots : slots;
        products = here_products > products ? here_products : products;
        steps = p->phases[f].sweep_count > steps ? p->phases[f].sweep_count : steps;
    }
    const int most = r->parts[0] > r->parts[1] ? r->parts[0] : r->parts[1];
    r->most_terms = (int)terms;
    SPRY_GO(ctx, base_alloc(ctx, (int64_t)steps * r->lane_count, sizeof *r->steps, &r->steps));
    SPRY_GO(ctx, base_alloc(ctx, operands * r->lane_count, sizeof *r->operands, &r->operands));
    SPRY_GO(ctx, base_alloc(ctx, operands * r->lane_count, sizeof *r->factors, &r->factors));
    SPRY_GO(ctx, base_alloc(ctx, most * slots * r->lane_count, sizeof *r->sums, &r->sums));
    SPRY_GO(ctx, place_pieces(r));
    SPRY_GO(ctx, base_alloc(ctx, r->threads * r->pieces_bytes, 1, &r->pieces));
    SPRY_GO(ctx, base_alloc(ctx, r->threads * terms, sizeof *r->pointers, &r->pointers));
    if (r->lane_count > 1) { /* groups of lanes fill whole units, at least by half */
        const int64_t rows = products * (r->n[0] > r->n[1] ? r->n[0] : r->n[1]);
        SPRY_GO(ctx, base_alloc(ctx, rows, (size_t)(2 * r->lane_count * r->size), &r->packed));
    }
done:
    return status;
}

static int64_t room_for(const runner *r, int space)
{
    return spaced(r, r->n[space]);
}

/* The next vector of the memory at *at: zeros, each page placed by the thread that will use it. */
static char *take_vector(const runner *r, int space, char **at)
{
    char *memory = *at;
    *at += room_for(r, space);
#pragma omp parallel for num_threads(r->threads) schedule(static)
    for (int part = 0; part < r->parts[space]; part++) {
        const range rows = base_share(r->n[space], r->parts[space], part, CHUNK);
        memset(memory + rows.begin * r->size, 0, (size_t)((rows.end - rows.begin) * r->size));
    }
    return memory;
}

/* Whether a variable has a slot that no variable before it has. */
static bool opens_slot(const plan *p, int var)
{
    const plan_var *v = &p->vars[var];
    if (v->array || v->number == NONE || v->in_pieces)
        return false;
    for (int w = 0; w < var; w++)
        if (!p->vars[w].array && !p->vars[w].in_pieces && p->vars[w].number == v->number)
            return false;
    return true;
}

static spry_status allocate_vectors(runner *r, lane *l)
{
    spry_context *ctx = r->ctx;
    const plan *p = r->p;
    spry_status status = SPRY_STATUS_OK;
    int64_t count[2] = {0, 0};
    for (int v = 0; v < p->var_count; v++)
        count[p->vars[v].space] += p->vars[v].array ? p->vars[v].extent : opens_slot(p, v);
    for (int space = 0; space < 2; space++)
        if (count[space] > INT64_MAX / 4 / room_for(r, space))
            return SPRY_FAIL(ctx, SPRY_STATUS_NO_MEMORY,
                             "%" PRId64 " vectors of %" PRId64 " elements", count[space],
                             r->n[space]);
    l->memory_bytes = count[0] * room_for(r, 0) + count[1] * room_for(r, 1);
    SPRY_GO(ctx, base_alloc(ctx, l->memory_bytes, 1, &l->memory));
    char *at = l->memory;
    for (int v = 0; v < p->var_count; v++) {
        const plan_var *var = &p->vars[v];
        if (opens_slot(p, v))
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

static spry_status open_lane(runner *r, lane *l)
{
    spry_context *ctx = r->ctx;
    const plan *p = r->p;
    spry_status status = SPRY_STATUS_OK;
    const bool single = type_is_single(r->type);
    l->scalars = (scalars){.program = p->program,
                           .offset = p->offset,
                           .extent = (const int64_t(*)[2])p->extent,
                           .real = !spry_type_is_complex(r->type),
                           .eps = single ? FLT_EPSILON : DBL_EPSILON,
                           .fault = NONE};
    l->reports_at_restart = -1;
    l->fault = NONE;
    SPRY_GO(ctx,
            base_calloc(ctx, p->scalar_count + 1, sizeof *l->scalars.values, &l->scalars.values));
    memcpy(l->scalars.values, p->options, (size_t)p->option_count * sizeof *p->options);
    if (r->resident)
        return SPRY_STATUS_OK;
    SPRY_GO(ctx, base_calloc(ctx, p->op_count + 1, sizeof *l->skip, &l->skip));
    SPRY_GO(ctx, base_calloc(ctx, p->slots + 1, sizeof *l->slots, &l->slots));
    SPRY_GO(ctx, base_calloc(ctx, p->var_count, sizeof *l->arrays, &l->arrays));
    SPRY_GO(ctx, allocate_vectors(r, l));
done:
    return status;
}

spry_status runner_new(plan *p, const runner_operators *operators, int lanes, runner **out)
{
    spry_context *ctx = p->ctx;
    const spry_operator *A = operators->A;
    spry_status status = SPRY_STATUS_OK;
    runner *r = NULL;
    *out = NULL;
    SPRY_GO(ctx, base_calloc(ctx, 1, sizeof *r, &r));
    r->p = p;
    r->ctx = ctx;
    r->type = A->type;
    r->kernels = host_kernels_for(ctx, A->type);
    r->size = (int64_t)spry_type_size(A->type);
    r->n[0] = A->rows;
    r->n[1] = A->cols;
    r->operators[OPERATOR_A] = A;
    for (int k = OPERATOR_M; k < OPERATOR_COUNT; k++)
        r->operators[k] = operators->M;
    /* Long rows are work, too: an entry is a fourth of what an element of the vectors is. */
    r->threads = host_threads(ctx, (r->n[0] > r->n[1] ? r->n[0] : r->n[1]) + A->own_bytes / 48);
    for (int space = 0; space < 2; space++) {
        const int64_t chunks = (r->n[space] + CHUNK - 1) / CHUNK;
        r->parts[space] = chunks < 1 ? 1 : chunks < MOST_PARTS ? (int)chunks : MOST_PARTS;
    }
    r->lane_count = lanes;
    r->most_turns = (int64_t)1 << 28; /* seconds; GMRES(10000) needs 2^26 in finish */
    SPRY_GO(ctx, base_calloc(ctx, lanes, sizeof *r->lanes, &r->lanes));
    SPRY_GO(ctx, base_calloc(ctx, lanes, sizeof *r->active, &r->active));
    if (device_of(A)) {
        SPRY_GO(ctx, resident_open(r));
    } else {
        SPRY_GO(ctx, open_operators(r));
        SPRY_GO(ctx, allocate_sweep(r));
    }
    for (int k = 0; k < lanes; k++)
        SPRY_GO(ctx, open_lane(r, &r->lanes[k]));
    *out = r;
    r = NULL;
done:
    runner_free(r);
    return status;
}

static void close_lane(runner *r, lane *l)
{
    const plan *p = r->p;
    for (int v = 0; l->arrays && v < p->var_count; v++)
        base_free(r->ctx, l->arrays[v]);
    base_free(r->ctx, l->memory);
    base_free(r->ctx, l->slots);
    base_free(r->ctx, l->arrays);
    base_free(r->ctx, l->skip);
    base_free(r->ctx, l->scalars.values);
}

void runner_free(runner *r)
{
    if (!r)
        return;
    resident_close(r);
    for (int k = 0; r->lanes && k < r->lane_count; k++)
        close_lane(r, &r->lanes[k]);
    for (int k = 0; k < OPERATOR_COUNT; k++)
        for (int t = 0; t < 3; t++)
            base_free(r->ctx, r->cuts[k][t]);
    void *const arrays[] = {r->lanes, r->active, r->steps,    r->operands, r->factors,
                            r->sums,  r->pieces, r->pointers, r->packed,   r->piece_at};
    for (size_t k = 0; k < sizeof arrays / sizeof *arrays; k++)
        base_free(r->ctx, arrays[k]);
    base_free(r->ctx, r);
}

lane *runner_lane(runner *r, int index)
{
    return &r->lanes[index];
}
