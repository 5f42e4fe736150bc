/* The front of a node, from what its children left to the factors. */
#include "direct/inside.h"

#include "matrix/entries.h"

void frontal_node_sizes(const frontal *f, int32_t s, int64_t *order, int64_t *full)
{
    const frontal_tree *t = &f->tree;
    int64_t delayed = 0;
    for (int32_t c = t->child[s]; c >= 0; c = t->next[c])
        delayed += f->nodes[c].delayed;
    *full = delayed + frontal_own(t, s);
    *order = *full + frontal_listed(t, s);
}

/* The variables of a front: those that children delayed, its own, those of its list. Those of a
 * child come in this order, too, so that entries below its diagonal are below this front's
 * diagonal. */
static void list_variables(const frontal *f, int32_t s, bool columns, int32_t *to, int32_t *at)
{
    const frontal_tree *t = &f->tree;
    int64_t count = 0;
    for (int32_t c = t->child[s]; c >= 0; c = t->next[c]) {
        const front_node *child = &f->nodes[c];
        const int32_t *from = (columns ? child->cols : child->rows) + child->pivots;
        for (int64_t k = 0; k < child->delayed; k++)
            to[count++] = from[k];
    }
    for (int32_t v = t->first[s]; v < t->first[s + 1]; v++)
        to[count++] = v;
    for (int64_t e = t->list_at[s]; e < t->list_at[s + 1]; e++)
        to[count++] = t->list[e];
    for (int64_t k = 0; k < count; k++)
        at[to[k]] = (int32_t)k;
}

/* The places of n variables; `to` may be where they stand in the child, which is done with. */
static void find_places(int64_t n, const int32_t *variables, const int32_t *at, int32_t *to)
{
    for (int64_t k = 0; k < n; k++)
        to[k] = at[variables[k]];
}

void frontal_each(const frontal_columns *c, int64_t columns, int threads, frontal_work work)
{
    enum { LARGE = 1 << 16, EACH = 16 }; /* numbers; columns at a time */
    if (threads == 1 || columns * c->fr->order < LARGE) {
        work(c, 0, columns);
        return;
    }
#pragma omp parallel for num_threads(threads) schedule(dynamic, 1)
    for (int64_t begin = 0; begin < columns; begin += EACH)
        work(c, begin, columns - begin < EACH ? columns : begin + EACH);
}

static void clear_columns(const frontal_columns *c, int64_t begin, int64_t end)
{
    const int64_t n = c->fr->order;
    for (int64_t j = begin; j < end; j++) {
        const int64_t above = c->fr->symmetric ? j : 0;
        memset((char *)c->fr->a + (j * n + above) * c->size, 0, (size_t)((n - above) * c->size));
    }
}

static void add_columns(const frontal_columns *c, int64_t begin, int64_t end)
{
    c->kernels->front_add(c->fr, c->node, c->rows, c->cols, begin, end);
}

static void store_columns(const frontal_columns *c, int64_t begin, int64_t end)
{
    c->kernels->front_store(c->fr, c->node, begin, end);
}

static void assemble(const frontal *f, const frontal_place *place, int32_t s, const front *fr,
                     int32_t *rows, int32_t *cols)
{
    const frontal_tree *t = &f->tree;
    const front_kernels *kernels = front_kernels_for(f->ctx, f->type);
    frontal_columns columns = {
        .kernels = kernels, .fr = fr, .size = (int64_t)spry_type_size(f->type), .rows = rows};
    frontal_each(&columns, fr->order, place->threads, clear_columns);
    for (int32_t v = t->first[s]; v < t->first[s + 1]; v++) {
        const int64_t start = f->entry_start[v];
        const front_entries e = {.variable = v,
                                 .count = f->entry_start[v + 1] - start,
                                 .index = f->entry_index + start,
                                 .from = f->entry_at + start,
                                 .row_at = place->row_at,
                                 .col_at = place->col_at,
                                 .left = f->left,
                                 .right = f->right,
                                 .values = place->A->a.values};
        kernels->front_gather(fr, &e);
    }
    for (int32_t c = t->child[s]; c >= 0; c = t->next[c]) {
        const front_node *child = &f->nodes[c];
        const int64_t rest = child->order - child->pivots;
        find_places(rest, child->rows + child->pivots, place->row_at, rows);
        if (!fr->symmetric)
            find_places(rest, child->cols + child->pivots, place->col_at, cols);
        columns.node = child;
        columns.cols = fr->symmetric ? rows : cols;
        frontal_each(&columns, rest, place->threads, add_columns);
    }
}

/* Rows beyond the panel, which the update reads. */
static void ready_rows(const frontal *f, const front *fr, int64_t piece)
{
    const front_kernels *kernels = front_kernels_for(f->ctx, f->type);
    const int64_t begin = fr->done + piece * FRONT_ROWS, end = begin + FRONT_ROWS;
    const int64_t last = end < fr->order ? end : fr->order;
    if (fr->definite)
        kernels->front_rows(fr, begin, last);
    kernels->front_pack(fr, begin, last);
}

static void update_chunk(const frontal *f, const front *fr, int64_t chunk)
{
    const front_kernels *kernels = front_kernels_for(f->ctx, f->type);
    const int64_t begin = fr->done + chunk * FRONT_CHUNK, end = begin + FRONT_CHUNK;
    if (!spry_context_interrupted(f->ctx, false))
        kernels->front_update(fr, begin, end < fr->order ? end : fr->order);
}

/* The rest of a front after a panel. A parallel region of one thread still takes a system call:
 * small fronts have none. */
static void update(const frontal *f, const front *fr, int threads)
{
    const int64_t rest = fr->order - fr->done;
    const int64_t pieces = (rest + FRONT_ROWS - 1) / FRONT_ROWS;
    const int64_t chunks = (rest + FRONT_CHUNK - 1) / FRONT_CHUNK;
    const double work = (double)rest * (double)rest * (double)(fr->done - fr->begin);
    if (threads == 1 || chunks == 1 || work < 1e6) {
        for (int64_t k = 0; k < pieces; k++)
            ready_rows(f, fr, k);
        for (int64_t k = 0; k < chunks; k++)
            update_chunk(f, fr, k);
        return;
    }
#pragma omp parallel num_threads(threads)
    {
#pragma omp for schedule(dynamic, 1)
        for (int64_t k = 0; k < pieces; k++)
            ready_rows(f, fr, k);
#pragma omp for schedule(dynamic, 1)
        for (int64_t k = 0; k < chunks; k++)
            update_chunk(f, fr, k);
    }
}

static bool eliminate(const frontal *f, int threads, front *fr)
{
    const front_kernels *kernels = front_kernels_for(f->ctx, f->type);
    while (kernels->front_panel(fr)) {
        if (spry_context_interrupted(f->ctx, false))
            return false;
        if (fr->done == fr->order)
            break;
        update(f, fr, threads);
    }
    return true;
}

/* The pieces of a front and of its variables; false: there is no room. */
static bool take_room(const frontal *f, frontal_arena *factors, frontal_arena *stack, front *fr)
{
    const int64_t size = (int64_t)spry_type_size(f->type), n = fr->order;
    const int64_t panel = fr->full < FRONT_PANEL ? fr->full : FRONT_PANEL;
    if (frontal_front_bytes(f, n, fr->full) > stack->size - stack->used ||
        frontal_factor_bytes(f, n, fr->full) > factors->size - factors->used)
        return false;
    fr->rows = frontal_take(factors, n * (int64_t)sizeof *fr->rows);
    fr->cols = fr->symmetric ? fr->rows : frontal_take(factors, n * (int64_t)sizeof *fr->cols);
    fr->a = frontal_take(stack, n * n * size);
    if (fr->symmetric)
        fr->mirror = frontal_take(stack, panel * n * size);
    fr->packed = frontal_take(stack, front_packed_size(n, fr->full) * size);
    fr->columns[0] = frontal_take(stack, n * size);
    fr->columns[1] = frontal_take(stack, n * size);
    fr->inverse = frontal_take(stack, 2 * fr->full * size);
    return true;
}

static void store(const frontal *f, int threads, const front *fr, frontal_arena *factors,
                  front_node *node)
{
    const int64_t size = (int64_t)spry_type_size(f->type), n = fr->order;
    node->order = n;
    node->pivots = fr->root ? fr->full : fr->done + fr->nulls;
    node->nulls = node->pivots - fr->done;
    node->delayed = fr->full - node->pivots;
    node->pairs = fr->pairs;
    node->rows = fr->rows;
    node->cols = fr->cols;
    node->lower = frontal_take(factors, n * node->pivots * size);
    node->upper =
        fr->symmetric ? NULL : frontal_take(factors, (n - node->pivots) * node->pivots * size);
    node->inverse = frontal_take(factors, (fr->symmetric ? 2 : 1) * node->pivots * size);
    const frontal_columns columns = {
        .kernels = front_kernels_for(f->ctx, f->type), .fr = fr, .node = node};
    frontal_each(&columns, node->pivots, threads, store_columns);
}

/*
 * What counts as 0 in a matrix whose largest values are about 1: rounding errors of as many sums as
 * there are rows, of random sign, times the growth from multipliers. Single precision is for an
 * outer iteration, which corrects the rest.
 */
static double small_number(const frontal *f)
{
    const double unit = type_is_single(f->type) ? 6e-8 : 1.1e-16;
    const double sums = f->coarse ? (double)f->n : type_is_single(f->type) ? 2 : sqrt((double)f->n);
    return (frontal_is_symmetric(f->kind) ? 32 : 8) * sums * unit;
}

/* For a symmetric matrix 1/2 is the largest threshold that pairs can always satisfy. */
static double threshold_of(const frontal *f)
{
    if (frontal_is_symmetric(f->kind))
        return f->strict ? 0.5 : 0.01;
    return f->strict ? 1 : 0.1;
}

frontal_result frontal_node(frontal *f, const frontal_place *place, int32_t s,
                            frontal_arena *factors, frontal_arena *stack, front *fr)
{
    *fr = (front){.row_at = place->row_at,
                  .symmetric = frontal_is_symmetric(f->kind),
                  .hermitian = f->kind == FRONTAL_HERMITIAN || f->kind == FRONTAL_DEFINITE,
                  .definite = f->kind == FRONTAL_DEFINITE,
                  .root = f->tree.parent[s] < 0,
                  .threshold = threshold_of(f),
                  .small = small_number(f)};
    frontal_node_sizes(f, s, &fr->order, &fr->full);
    fr->tried = fr->full - frontal_own(&f->tree, s);
    if (spry_context_interrupted(f->ctx, false))
        return FRONTAL_STOPPED;
    if (!take_room(f, factors, stack, fr))
        return FRONTAL_NO_ROOM;
    list_variables(f, s, false, fr->rows, place->row_at);
    if (!fr->symmetric)
        list_variables(f, s, true, fr->cols, place->col_at);
    /* The candidates' columns are room for places of rows and columns: no number is as short. */
    assemble(f, place, s, fr, fr->columns[0], fr->columns[1]);
    if (!eliminate(f, place->threads, fr))
        return FRONTAL_STOPPED;
    if (fr->failed) {
        if (fr->negative)
            atomic_store(&f->negative, true);
        return FRONTAL_NOT_DEFINITE;
    }
    store(f, place->threads, fr, factors, &f->nodes[s]);
    return FRONTAL_DONE;
}
