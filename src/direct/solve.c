/*
 * Solves: up the tree and down again, tasks by threads, the nodes above them by all threads
 * together. What tasks take from rows above them is summed up by each task for itself and added in
 * the order of tasks, so that bits do not depend on who did what.
 */
#include "direct/inside.h"

#include <stdatomic.h>

/* Numbers of a node above that are worth more than one thread, and bytes of factors for each. */
static const double shared_node = 1e5, shared_all = 2e6;

/* --- room ----------------------------------------------------------------------------------------
 */

static void clear(const frontal *f, frontal_room *r)
{
    void *const all[] = {r->y, r->x, r->pieces, r->above, r->kept, r->above_at};
    for (size_t k = 0; k < sizeof all / sizeof *all; k++)
        base_free(f->ctx, all[k]);
    *r = (frontal_room){0};
}

void frontal_room_clear(const frontal *f)
{
    if (f->room)
        clear(f, f->room);
}

/* Whether a node of a task leaves its rest to nodes above. */
static bool is_root(const frontal *f, const frontal_task *task, int32_t s)
{
    return f->tree.parent[s] >= task->end;
}

static void count_room(const frontal *f, frontal_room *r)
{
    for (int32_t s = 0; s < f->tree.nodes; s++)
        r->longest = f->nodes[s].order > r->longest ? f->nodes[s].order : r->longest;
    for (int32_t k = 0; k < f->task_count; k++) {
        f->tasks[k].kept_at = r->kept_count;
        for (int32_t s = f->tasks[k].begin; s < f->tasks[k].end; s++)
            if (is_root(f, &f->tasks[k], s))
                r->kept_count += f->nodes[s].order - f->nodes[s].pivots;
    }
    for (int32_t k = 0; k < f->top_count; k++)
        r->above_count += frontal_own(&f->tree, f->top[k]);
}

static spry_status number_above(const frontal *f, frontal_room *r)
{
    int32_t count = 0;
    const spry_status status = base_calloc(f->ctx, f->n, sizeof *r->above_at, &r->above_at);
    for (int32_t k = 0; k < f->top_count && status == SPRY_STATUS_OK; k++)
        for (int32_t v = f->tree.first[f->top[k]]; v < f->tree.first[f->top[k] + 1]; v++)
            r->above_at[v] = count++;
    return status;
}

spry_status frontal_room_make(const frontal *f, int columns)
{
    spry_context *ctx = f->ctx;
    const size_t size = spry_type_size(f->type);
    frontal_room fresh = {.columns = columns, .threads = 1}, *r = &fresh;
    spry_status status = SPRY_STATUS_OK;
    const double worth = 1 + (double)f->outcome.bytes / shared_all;
    r->threads = base_team(ctx, spry_context_threads(ctx));
    r->threads = (double)r->threads > worth ? (int)worth : r->threads;
    count_room(f, r);
    const int64_t each = (int64_t)r->threads * columns;
    SPRY_GO(ctx, base_alloc(ctx, columns * f->n, size, &r->y));
    SPRY_GO(ctx, base_alloc(ctx, columns * f->n, size, &r->x));
    SPRY_GO(ctx, base_alloc(ctx, each * r->longest, size, &r->pieces));
    if (f->top_count > 0) {
        SPRY_GO(ctx, number_above(f, r));
        SPRY_GO(ctx, base_calloc(ctx, each * r->above_count, size, &r->above));
        SPRY_GO(ctx, base_alloc(ctx, columns * r->kept_count, size, &r->kept));
    }
    frontal_room_clear(f);
    *f->room = fresh;
done:
    if (status != SPRY_STATUS_OK)
        clear(f, r);
    return status;
}

/* --- up and down ---------------------------------------------------------------------------------
 */

/* What is of a thread. */
static front_pass pass_of(const frontal *f, const front_pass *all, int thread)
{
    const int64_t size = (int64_t)spry_type_size(f->type);
    const frontal_room *r = f->room;
    front_pass p = *all;
    p.piece = (char *)r->pieces + thread * r->columns * r->longest * size;
    if (r->above)
        p.above = (char *)r->above + thread * r->columns * r->above_count * size;
    return p;
}

static void task_forward(const frontal *f, const front_pass *all, int32_t k, int thread)
{
    const front_kernels *kernels = front_kernels_for(f->ctx, f->type);
    const frontal_task *task = &f->tasks[k];
    const int64_t size = all->count * (int64_t)spry_type_size(f->type);
    char *kept = f->room->kept ? (char *)f->room->kept + task->kept_at * size : NULL;
    front_pass p = pass_of(f, all, thread);
    p.end = f->tree.first[task->end];
    for (int32_t s = task->begin; s < task->end; s++) {
        const front_node *node = &f->nodes[s];
        kernels->front_forward_all(node, &p);
        if (is_root(f, task, s)) {
            kernels->front_take_above(node, &p, kept);
            kept += (node->order - node->pivots) * size;
        }
    }
}

static void task_backward(const frontal *f, const front_pass *all, int32_t k, int thread)
{
    const front_kernels *kernels = front_kernels_for(f->ctx, f->type);
    const front_pass p = pass_of(f, all, thread);
    for (int32_t s = f->tasks[k].end - 1; s >= f->tasks[k].begin; s--)
        kernels->front_backward_all(&f->nodes[s], &p);
}

/* Tasks are taken one after the other by idle threads; each share has its own work space. */
typedef struct all_tasks {
    const frontal *f;
    const front_pass *all;
    bool forward;
    atomic_int next;
} all_tasks;

static void run_tasks(void *argument, int share, int shares)
{
    all_tasks *t = argument;
    (void)shares;
    for (int k = atomic_fetch_add(&t->next, 1); k < t->f->task_count;
         k = atomic_fetch_add(&t->next, 1))
        if (t->forward)
            task_forward(t->f, t->all, k, share);
        else
            task_backward(t->f, t->all, k, share);
}

static void do_tasks(const frontal *f, const front_pass *all, bool forward, int team)
{
    all_tasks t = {.f = f, .all = all, .forward = forward};
    base_share_out(f->ctx, f->task_count > 1 ? team : 1, run_tasks, &t);
}

/* A node above, of which every share does some rows. */
typedef struct shared_top {
    const front_kernels *kernels;
    const front_pass *p;
    const front_node *node;
    bool forward;
} shared_top;

static void run_top(void *argument, int share, int shares)
{
    const shared_top *t = argument;
    const int64_t rows = t->forward ? t->node->order - t->node->pivots : t->node->pivots;
    const int64_t begin = rows * share / shares, end = rows * (share + 1) / shares;
    if (t->forward)
        t->kernels->front_forward_rest(t->node, t->p, begin, end);
    else
        t->kernels->front_backward_rest(t->node, t->p, begin, end);
}

/* Whether a node above is worth more than one thread. */
static bool is_shared(const front_node *node, int team)
{
    return team > 1 && (double)(node->order - node->pivots) * (double)node->pivots > shared_node;
}

static void top_forward(const frontal *f, const front_pass *p, const front_node *node, int team)
{
    const front_kernels *kernels = front_kernels_for(f->ctx, f->type);
    shared_top shared = {kernels, p, node, true};
    if (!is_shared(node, team)) {
        kernels->front_forward_all(node, p);
        return;
    }
    kernels->front_forward(node, p);
    base_share_out(f->ctx, team, run_top, &shared);
}

static void top_backward(const frontal *f, const front_pass *p, const front_node *node, int team)
{
    const front_kernels *kernels = front_kernels_for(f->ctx, f->type);
    shared_top shared = {kernels, p, node, false};
    if (!is_shared(node, team)) {
        kernels->front_backward_all(node, p);
        return;
    }
    kernels->front_backward_begin(node, p);
    base_share_out(f->ctx, team, run_top, &shared);
    kernels->front_backward(node, p);
}

static void up(const frontal *f, const front_pass *all, int team)
{
    const front_kernels *kernels = front_kernels_for(f->ctx, f->type);
    const int64_t size = all->count * (int64_t)spry_type_size(f->type);
    char *kept = f->room->kept;
    do_tasks(f, all, true, team);
    front_pass p = pass_of(f, all, 0);
    for (int32_t k = 0; k < f->task_count; k++) {
        const frontal_task *task = &f->tasks[k];
        p.end = f->tree.first[task->end];
        for (int32_t s = task->begin; s < task->end && kept; s++)
            if (is_root(f, task, s)) {
                kernels->front_add_above(&f->nodes[s], &p, kept);
                kept += (f->nodes[s].order - f->nodes[s].pivots) * size;
            }
    }
    p.end = INT32_MAX;
    for (int32_t k = 0; k < f->top_count; k++)
        top_forward(f, &p, &f->nodes[f->top[k]], team);
}

static void down(const frontal *f, const front_pass *all, int team)
{
    const front_pass first = pass_of(f, all, 0);
    for (int32_t k = f->top_count - 1; k >= 0; k--)
        top_backward(f, &first, &f->nodes[f->top[k]], team);
    do_tasks(f, all, false, team);
}

static void solve(const frontal *f, spry_transpose transpose, int count, void *const *z)
{
    const front_kernels *kernels = front_kernels_for(f->ctx, f->type);
    const int64_t size = (int64_t)spry_type_size(f->type);
    const bool symmetric = frontal_is_symmetric(f->kind);
    const bool hermitian = symmetric && f->kind != FRONTAL_SYMMETRIC;
    /* A^T of a hermitian matrix and A^H of a symmetric one are conj(A); A^H of another is
     * conj(A^T). */
    const bool conjugated =
        transpose == (hermitian ? SPRY_TRANSPOSE_YES : SPRY_TRANSPOSE_CONJUGATE);
    const bool transposed = !symmetric && transpose != SPRY_TRANSPOSE_NO;
    const frontal_room *r = f->room;
    const front_pass pass = {.symmetric = symmetric,
                             .hermitian = hermitian,
                             .transposed = transposed,
                             .count = count,
                             .y = r->y,
                             .x = r->x,
                             .step = f->n,
                             .piece_step = r->longest,
                             .above_at = r->above_at,
                             .above_step = r->above_count};
    for (int k = 0; k < count; k++)
        kernels->front_enter(f->n, transposed ? f->col_place : f->row_place,
                             transposed ? f->right : f->left, conjugated, z[k],
                             (char *)r->y + k * f->n * size);
    up(f, &pass, r->threads);
    down(f, &pass, r->threads);
    for (int k = 0; k < count; k++)
        kernels->front_return(f->n, transposed ? f->row_place : f->col_place,
                              transposed ? f->left : f->right, conjugated,
                              (char *)r->x + k * f->n * size, z[k]);
}

spry_status frontal_solve(const frontal *f, spry_transpose transpose, int count, void *const *z)
{
    const int most = count < FRONT_COLUMNS ? count : FRONT_COLUMNS;
    spry_status status = SPRY_STATUS_OK;
    if (f->room->columns < most)
        SPRY_GO(f->ctx, frontal_room_make(f, most));
    for (int k = 0; k < count; k += FRONT_COLUMNS)
        solve(f, transpose, count - k < FRONT_COLUMNS ? count - k : FRONT_COLUMNS, z + k);
done:
    return status;
}
