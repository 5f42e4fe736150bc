/*
 * Who does what, and what it takes. Subtrees whose work is a small share of all are tasks, which
 * threads do by themselves; the nodes above them come one after the other, each by all threads. The
 * cut depends on the tree alone.
 */
#include "direct/inside.h"

enum { SHARES = 32 };
/* Operations that are not worth cutting. */
static const double little = 4e6;

static int64_t round_up(int64_t bytes)
{
    return (bytes + 63) / 64 * 64;
}

void *frontal_take(frontal_arena *arena, int64_t bytes)
{
    const int64_t size = round_up(bytes);
    if (size > arena->size - arena->used)
        return NULL;
    void *piece = arena->base + arena->used;
    arena->used += size;
    return piece;
}

/* Pieces as frontal_node() takes them. */
int64_t frontal_front_bytes(const frontal *f, int64_t order, int64_t full)
{
    const int64_t size = (int64_t)spry_type_size(f->type);
    const int64_t panel = full < FRONT_PANEL ? full : FRONT_PANEL;
    return round_up(order * order * size) +
           (frontal_is_symmetric(f->kind) ? round_up(panel * order * size) : 0) +
           round_up(front_packed_size(order, full) * size) + 2 * round_up(order * size) +
           round_up(2 * full * size);
}

int64_t frontal_factor_bytes(const frontal *f, int64_t order, int64_t full)
{
    const int64_t size = (int64_t)spry_type_size(f->type);
    const int64_t ints = round_up(order * (int64_t)sizeof(int32_t));
    const int64_t lower = round_up(order * full * size);
    if (frontal_is_symmetric(f->kind))
        return ints + lower + round_up(2 * full * size);
    return 2 * ints + lower + round_up((order - full) * full * size) + round_up(full * size);
}

/* Operations of a front: sums of squares, in closed form. */
static double front_flops(const frontal *f, double order, double own)
{
    const double m = order - 1, k = order - own - 1;
    const double squares = (m * (m + 1) * (2 * m + 1) - k * (k + 1) * (2 * k + 1)) / 6;
    const double each = spry_type_is_complex(f->type) ? 4 : 1;
    return each * (frontal_is_symmetric(f->kind) ? 1 : 2) * squares +
           each * (m * (m + 1) - k * (k + 1)) / 2 + 1;
}

static int64_t left_bytes(const frontal *f, int32_t s)
{
    const int64_t listed = frontal_listed(&f->tree, s);
    return round_up(listed * listed * (int64_t)spry_type_size(f->type));
}

/* What the nodes of a task need. */
static void measure_task(const frontal *f, frontal_task *task)
{
    const frontal_tree *t = &f->tree;
    int64_t kept = 0;
    for (int32_t s = task->begin; s < task->end; s++) {
        const int64_t own = frontal_own(t, s), order = own + frontal_listed(t, s);
        const int64_t peak = kept + frontal_front_bytes(f, order, own);
        task->stack_bytes = peak > task->stack_bytes ? peak : task->stack_bytes;
        task->factor_bytes += frontal_factor_bytes(f, order, own);
        for (int32_t c = t->child[s]; c >= 0; c = t->next[c])
            kept -= left_bytes(f, c);
        kept += left_bytes(f, s);
    }
}

/* The same of those above, of size -1: fronts share the largest so far, and what is left is kept.
 */
static void measure_all(frontal *f, const int32_t *size)
{
    const frontal_tree *t = &f->tree;
    frontal_forecast *c = &f->forecast;
    int64_t stacks = 0, kept = 0, widest = 0, most = 0, spare = 0;
    *c = (frontal_forecast){.fronts = t->nodes};
    for (int32_t s = 0; s < t->nodes; s++) {
        const int64_t own = frontal_own(t, s), order = own + frontal_listed(t, s);
        c->flops += front_flops(f, (double)order, (double)own);
        c->entries += own * order + (frontal_is_symmetric(f->kind) ? 0 : own * (order - own));
        c->factor_bytes += frontal_factor_bytes(f, order, own);
        c->largest = order > c->largest ? order : c->largest;
    }
    for (int32_t k = 0; k < f->task_count; k++) { /* as prepare_tasks() has it */
        stacks += (int64_t)(f->slack * (double)f->tasks[k].stack_bytes);
        spare += (int64_t)((f->slack - 1) * (double)f->tasks[k].factor_bytes);
    }
    for (int32_t k = 0; k < f->top_count; k++) {
        const int32_t s = f->top[k];
        const int64_t own = frontal_own(t, s), order = own + frontal_listed(t, s);
        const int64_t bytes = frontal_front_bytes(f, order, own);
        widest = bytes > widest ? bytes : widest;
        const int64_t peak = kept + widest + left_bytes(f, s);
        most = peak > most ? peak : most;
        for (int32_t d = t->child[s]; d >= 0; d = t->next[d])
            if (size[d] < 0)
                kept -= left_bytes(f, d);
        kept += left_bytes(f, s);
    }
    c->kept_bytes = c->factor_bytes + spare;
    c->peak_bytes = c->kept_bytes + stacks + most;
}

/* Which nodes are of tasks: work[s] is the work of its subtree, size[s] its nodes, and -1
 * for those of none. */
static void cut(frontal *f, const double *work, int32_t *size, double limit)
{
    const frontal_tree *t = &f->tree;
    for (int32_t s = 0; s < t->nodes; s++) {
        if (work[s] > limit) {
            f->top[f->top_count++] = s;
            size[s] = -1;
            continue;
        }
        if (t->parent[s] >= 0 && work[t->parent[s]] <= limit)
            continue;
        frontal_task *last = f->task_count > 0 ? &f->tasks[f->task_count - 1] : NULL;
        const int32_t begin = s - size[s] + 1;
        if (!last || last->end != begin || last->flops + work[s] > limit) {
            last = &f->tasks[f->task_count++];
            /* NOLINTNEXTLINE(clang-analyzer-core.NullDereference): base_alloc() gave tasks */
            *last = (frontal_task){.begin = begin};
        }
        last->end = s + 1;
        last->flops += work[s];
    }
}

spry_status frontal_cut(frontal *f)
{
    spry_context *ctx = f->ctx;
    const frontal_tree *t = &f->tree;
    double *work = NULL, all = 0;
    int32_t *size = NULL;
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(ctx, base_calloc(ctx, t->nodes, sizeof *work, &work));
    SPRY_GO(ctx, base_calloc(ctx, t->nodes, sizeof *size, &size));
    SPRY_GO(ctx, base_alloc(ctx, t->nodes, sizeof *f->tasks, &f->tasks));
    SPRY_GO(ctx, base_alloc(ctx, t->nodes, sizeof *f->top, &f->top));
    for (int32_t s = 0; s < t->nodes; s++) {
        const int64_t own = frontal_own(t, s);
        work[s] += front_flops(f, (double)(own + frontal_listed(t, s)), (double)own);
        size[s]++;
        if (t->parent[s] >= 0) {
            work[t->parent[s]] += work[s];
            size[t->parent[s]] += size[s];
        } else {
            all += work[s];
        }
    }
    cut(f, work, size, all < little ? all : fmax(all / SHARES, little / 8));
    for (int32_t k = 0; k < f->task_count; k++)
        measure_task(f, &f->tasks[k]);
    measure_all(f, size);
done:
    base_free(ctx, work);
    base_free(ctx, size);
    return status;
}
