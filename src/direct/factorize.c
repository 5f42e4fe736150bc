/* Factors: tasks by threads, then the nodes above them by all threads together. */
#include "base/bytes.h"
#include "direct/inside.h"

#include "matrix/entries.h"

#include <omp.h>

static void free_factors(frontal *f)
{
    spry_context *ctx = f->ctx;
    for (int32_t k = 0; k < f->task_count && f->tasks; k++) {
        base_free(ctx, f->tasks[k].factors.base);
        base_free(ctx, f->tasks[k].stack.base);
        f->tasks[k].factors = f->tasks[k].stack = (frontal_arena){0};
        f->tasks[k].result = FRONTAL_NOT_YET;
    }
    for (int32_t s = 0; s < f->tree.nodes && f->blocks; s++) {
        base_free(ctx, f->blocks[s]);
        f->blocks[s] = NULL;
    }
    base_free(ctx, f->null_rows);
    base_free(ctx, f->null_columns);
    f->null_rows = f->null_columns = NULL;
    frontal_room_clear(f);
}

void frontal_free(frontal *f)
{
    if (!f)
        return;
    spry_context *ctx = f->ctx;
    free_factors(f);
    frontal_tree_clear(ctx, &f->tree);
    if (f->col_place != f->row_place)
        base_free(ctx, f->col_place);
    base_free(ctx, f->row_place);
    if (f->right != f->left)
        base_free(ctx, f->right);
    base_free(ctx, f->left);
    base_free(ctx, f->entry_start);
    base_free(ctx, f->entry_index);
    base_free(ctx, f->entry_at);
    base_free(ctx, f->tasks);
    base_free(ctx, f->top);
    base_free(ctx, f->nodes);
    base_free(ctx, f->blocks);
    base_free(ctx, f->room);
    base_free(ctx, f);
}

const frontal_forecast *frontal_forecast_of(const frontal *f)
{
    return &f->forecast;
}
const frontal_outcome *frontal_outcome_of(const frontal *f)
{
    return &f->outcome;
}
void frontal_demand(frontal *f, bool strict, bool coarse)
{
    f->strict = strict;
    f->coarse = coarse;
}
bool frontal_met_negative(const frontal *f)
{
    return atomic_load(&f->negative);
}
const int32_t *frontal_null_rows(const frontal *f)
{
    return f->null_rows;
}
const int32_t *frontal_null_columns(const frontal *f)
{
    return f->null_columns;
}

/* --- tasks ---------------------------------------------------------------------------------------
 */

/* A task, from where it is. */
static void do_task(frontal *f, const frontal_place *place, frontal_task *task)
{
    const front_kernels *kernels = front_kernels_for(f->ctx, f->type);
    for (int32_t s; (s = task->next) < task->end; task->next++) {
        const int32_t child = f->tree.child[s];
        const int64_t begin =
            child >= 0 ? (char *)f->nodes[child].left - task->stack.base : task->stack.used;
        front_node *node = &f->nodes[s];
        front fr;
        const frontal_result result = frontal_node(f, place, s, &task->factors, &task->stack, &fr);
        if (result != FRONTAL_DONE) {
            task->result = (int)result;
            return;
        }
        /* What it leaves takes the place of what its children left. */
        const int64_t rest = node->order - node->pivots;
        task->stack.used = begin;
        node->left = frontal_take(&task->stack, rest * rest * (int64_t)spry_type_size(f->type));
        kernels->front_leave(&fr, node, 0, rest);
    }
    task->result = FRONTAL_DONE;
}

static spry_status take_arena(spry_context *ctx, int64_t bytes, frontal_arena *arena)
{
    base_free(ctx, arena->base);
    *arena = (frontal_arena){.size = bytes};
    return base_alloc(ctx, bytes, 1, &arena->base);
}

/* Memory for tasks, as much as forecast. */
static spry_status prepare_tasks(frontal *f)
{
    spry_status status = SPRY_STATUS_OK;
    for (int32_t k = 0; k < f->task_count; k++) {
        frontal_task *task = &f->tasks[k];
        SPRY_GO(f->ctx, take_arena(f->ctx, (int64_t)(f->slack * (double)task->factor_bytes) + 64,
                                   &task->factors));
        SPRY_GO(f->ctx, take_arena(f->ctx, (int64_t)(f->slack * (double)task->stack_bytes) + 64,
                                   &task->stack));
        task->next = task->begin;
    }
done:
    return status;
}

/* Takes a pointer along from one arena to another. */
static void *follow(const void *pointer, const char *from, char *to)
{
    return pointer ? to + ((const char *)pointer - from) : NULL;
}

/* Half as much again, and `more` bytes at least, in addition to what is in use, which nodes point
 * to. `bytes` is the forecast. */
static spry_status grow(frontal *f, const frontal_task *task, int64_t more, frontal_arena *arena,
                        int64_t *bytes)
{
    const int64_t half = arena->size + arena->size / 2;
    const frontal_arena old = *arena;
    spry_status status = SPRY_STATUS_OK;
    if (more <= old.size - old.used)
        return SPRY_STATUS_OK;
    arena->base = NULL;
    status = take_arena(f->ctx, half > old.used + more ? half : old.used + more, arena);
    if (status == SPRY_STATUS_OK) {
        memcpy(arena->base, old.base, (size_t)old.used);
        arena->used = old.used;
        *bytes = (int64_t)((double)arena->size / f->slack) + 1;
    }
    for (int32_t s = task->begin; s < task->next && status == SPRY_STATUS_OK; s++) {
        front_node *node = &f->nodes[s];
        if (arena == &task->stack) {
            node->left = follow(node->left, old.base, arena->base);
            continue;
        }
        node->rows = follow(node->rows, old.base, arena->base);
        node->cols = follow(node->cols, old.base, arena->base);
        node->lower = follow(node->lower, old.base, arena->base);
        node->upper = follow(node->upper, old.base, arena->base);
        node->inverse = follow(node->inverse, old.base, arena->base);
    }
    base_free(f->ctx, old.base);
    return status;
}

/* More memory for tasks that ran out of it, as delayed pivots make fronts larger. */
static spry_status grow_tasks(frontal *f)
{
    spry_status status = SPRY_STATUS_OK;
    for (int32_t k = 0; k < f->task_count; k++) {
        frontal_task *task = &f->tasks[k];
        int64_t order, full;
        if (task->result != FRONTAL_NO_ROOM)
            continue;
        frontal_node_sizes(f, task->next, &order, &full);
        SPRY_GO(f->ctx, grow(f, task, frontal_factor_bytes(f, order, full), &task->factors,
                             &task->factor_bytes));
        SPRY_GO(f->ctx, grow(f, task, frontal_front_bytes(f, order, full), &task->stack,
                             &task->stack_bytes));
        task->result = FRONTAL_NOT_YET;
    }
done:
    return status;
}

/* The worst of all results. */
static frontal_result do_tasks(frontal *f, const frontal_place *places, int threads)
{
    frontal_result worst = FRONTAL_DONE;
    const int team = f->task_count > 1 ? threads : 1;
#pragma omp parallel num_threads(team) if (team > 1)
    {
        const frontal_place *place = &places[team > 1 ? omp_get_thread_num() : 0];
#pragma omp for schedule(dynamic, 1)
        for (int32_t k = 0; k < f->task_count; k++)
            if (f->tasks[k].result == FRONTAL_NOT_YET)
                do_task(f, place, &f->tasks[k]);
    }
    for (int32_t k = 0; k < f->task_count; k++)
        worst = f->tasks[k].result > (int)worst ? (frontal_result)f->tasks[k].result : worst;
    return worst;
}

/* --- those above ---------------------------------------------------------------------------------
 */

static void leave_columns(const frontal_columns *c, int64_t begin, int64_t end)
{
    c->kernels->front_leave(c->fr, c->node, begin, end);
}

/* One node: its factors and what it leaves get blocks of their own; fronts share one, whose pages
 * the system then has to clear once. */
static spry_status do_top(frontal *f, const frontal_place *place, int32_t s, frontal_arena *stack,
                          frontal_result *result)
{
    spry_context *ctx = f->ctx;
    const int64_t size = (int64_t)spry_type_size(f->type);
    front_node *node = &f->nodes[s];
    frontal_arena factors = {0};
    int64_t order, full;
    front fr;
    spry_status status = SPRY_STATUS_OK;
    frontal_node_sizes(f, s, &order, &full);
    SPRY_GO(ctx, take_arena(ctx, frontal_factor_bytes(f, order, full), &factors));
    base_free(ctx, f->blocks[s]);
    f->blocks[s] = factors.base;
    if (frontal_front_bytes(f, order, full) > stack->size)
        SPRY_GO(ctx, take_arena(ctx, frontal_front_bytes(f, order, full), stack));
    stack->used = 0;
    *result = frontal_node(f, place, s, &factors, stack, &fr);
    for (int32_t c = f->tree.child[s]; c >= 0; c = f->tree.next[c]) {
        base_free(ctx, f->lefts[c]);
        f->lefts[c] = NULL;
    }
    if (*result != FRONTAL_DONE)
        goto done;
    const int64_t rest = node->order - node->pivots;
    SPRY_GO(ctx, base_alloc(ctx, rest * rest, (size_t)size, &f->lefts[s]));
    node->left = f->lefts[s];
    const frontal_columns columns = {
        .kernels = front_kernels_for(ctx, f->type), .fr = &fr, .node = node};
    frontal_each(&columns, rest, place->threads, leave_columns);
done:
    return status;
}

static spry_status do_all(frontal *f, frontal_place *places, int threads, frontal_result *result)
{
    spry_context *ctx = f->ctx;
    frontal_arena stack = {0};
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(ctx, prepare_tasks(f));
    while ((*result = do_tasks(f, places, threads)) == FRONTAL_NO_ROOM)
        SPRY_GO(ctx, grow_tasks(f));
    places[0].threads = threads;
    for (int32_t k = 0; k < f->top_count && *result == FRONTAL_DONE; k++)
        SPRY_GO(ctx, do_top(f, &places[0], f->top[k], &stack, result));
done:
    base_free(ctx, stack.base);
    for (int32_t k = 0; k < f->task_count; k++) {
        base_free(ctx, f->tasks[k].stack.base);
        f->tasks[k].stack = (frontal_arena){0};
    }
    return status;
}

/* --- the outcome ---------------------------------------------------------------------------------
 */

/* Rows and columns of A whose variables are as good as 0. */
static spry_status note_nulls(frontal *f, int64_t nulls)
{
    spry_context *ctx = f->ctx;
    int32_t *row_of = NULL, *col_of = NULL;
    int64_t count = 0;
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(ctx, base_alloc(ctx, nulls, sizeof *f->null_rows, &f->null_rows));
    SPRY_GO(ctx, base_alloc(ctx, nulls, sizeof *f->null_columns, &f->null_columns));
    SPRY_GO(ctx, matrix_invert(ctx, "rows", f->row_place, f->n, &row_of));
    SPRY_GO(ctx, matrix_invert(ctx, "columns", f->col_place, f->n, &col_of));
    for (int32_t s = 0; s < f->tree.nodes; s++) {
        const front_node *node = &f->nodes[s];
        for (int64_t k = node->pivots - node->nulls; k < node->pivots; k++) {
            f->null_rows[count] = row_of[node->rows[k]];
            f->null_columns[count++] = col_of[node->cols[k]];
        }
    }
done:
    base_free(ctx, row_of);
    base_free(ctx, col_of);
    return status;
}

static spry_status finish(frontal *f)
{
    int64_t nulls = 0, entries = 0;
    const int64_t size = (int64_t)spry_type_size(f->type);
    spry_status status = SPRY_STATUS_OK;
    f->outcome = (frontal_outcome){0};
    for (int32_t s = 0; s < f->tree.nodes; s++) {
        const front_node *node = &f->nodes[s];
        nulls += node->nulls;
        f->outcome.delayed += node->delayed;
        f->outcome.pairs += node->pairs;
        entries += node->order * node->pivots;
        if (!frontal_is_symmetric(f->kind))
            entries += (node->order - node->pivots) * node->pivots;
    }
    f->outcome.rank = f->n - nulls;
    f->outcome.bytes = entries * size + f->n * 2 * size;
    SPRY_GO(f->ctx, frontal_room_make(f, 1));
    if (nulls > 0)
        SPRY_GO(f->ctx, note_nulls(f, nulls));
done:
    return status;
}

spry_status frontal_check_room(const frontal *f)
{
    const int64_t limit = f->ctx->options.memory_limit, peak = f->forecast.peak_bytes;
    const int64_t left = limit - f->ctx->memory_now;
    char kept[BASE_BYTES], most[BASE_BYTES], room[BASE_BYTES], more[BASE_ADVICE];
    if (limit == 0 || peak <= left)
        return SPRY_STATUS_OK;
    return SPRY_FAIL(f->ctx, SPRY_STATUS_NO_MEMORY,
                     "sparse factors of %" PRId64
                     " rows: %s, and %s during the factorisation, are forecast; %s of the memory "
                     "limit are left; allow more, %s, or take precon=mlilu, which needs less",
                     f->n, base_bytes((double)f->forecast.factor_bytes, kept),
                     base_bytes((double)peak, most), base_bytes((double)left, room),
                     base_allow(f->ctx, f->ctx->memory_now + peak + (peak >> 2), more));
}

spry_status frontal_factor(frontal *f, const spry_matrix *A, bool *fits)
{
    spry_context *ctx = f->ctx;
    const int threads = f->forecast.flops > 1e7 ? base_team(ctx, spry_context_threads(ctx)) : 1;
    const int maps = frontal_is_symmetric(f->kind) ? 1 : 2;
    frontal_place *places = NULL;
    int32_t *room = NULL;
    frontal_result result = FRONTAL_DONE;
    spry_status status = SPRY_STATUS_OK;
    free_factors(f);
    f->failed = true;
    f->negative = false;
    SPRY_GO(ctx, frontal_check_room(f));
    SPRY_GO(ctx, base_calloc(ctx, threads, sizeof *places, &places));
    SPRY_GO(ctx, base_calloc(ctx, threads * maps * f->n, sizeof *room, &room));
    SPRY_GO(ctx, base_calloc(ctx, f->tree.nodes, sizeof *f->lefts, &f->lefts));
    for (int k = 0; k < threads; k++)
        places[k] = (frontal_place){.A = A,
                                    .row_at = room + k * maps * f->n,
                                    .col_at = room + (k * maps + maps - 1) * f->n,
                                    .threads = 1};
    SPRY_GO(ctx, do_all(f, places, threads, &result));
    *fits = result != FRONTAL_NOT_DEFINITE;
    if (result == FRONTAL_STOPPED)
        SPRY_GO(ctx, SPRY_FAIL(ctx, SPRY_STATUS_INTERRUPTED, "sparse factors: interrupted"));
    if (*fits)
        SPRY_GO(ctx, finish(f));
    f->failed = !*fits;
done:
    for (int32_t s = 0; s < f->tree.nodes && f->lefts; s++)
        base_free(ctx, f->lefts[s]);
    base_free(ctx, f->lefts);
    f->lefts = NULL;
    base_free(ctx, places);
    base_free(ctx, room);
    if (f->failed)
        free_factors(f);
    return status;
}
