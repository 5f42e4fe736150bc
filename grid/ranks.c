/*
 * Products of stencils on grids that are cut into blocks, with the messages that matrices on ranks
 * have (ranks/operator.h). Rows inside a block need this rank's numbers alone, and are made
 * where these are. Those near a cut are edge rows. They lie in up to six slabs: the first and last
 * planes, of what is between the first and last lines, and so on. Each slab has a window, a small
 * array with its own numbers and those around it, for which the rows of the stencil are made once
 * more with other distances. So each row is summed up as without ranks, to the bit.
 */
#include "grid/ranks.h"

#include <stdlib.h>

enum { SLABS = RANKS_SLABS };
typedef ranks_slab slab;
typedef ranks_side side;

typedef struct stencil_ranks {
    spry_operator *product;
    side *sides[3];
} stencil_ranks;

static void side_free(spry_context *ctx, side *s)
{
    if (!s)
        return;
    ranks_device_free(ctx, s->on_device);
    for (int k = 0; k < SLABS; k++)
        stencil_form_clear(ctx, &s->slabs[k].form);
    const distributed *l = &s->links;
    void *const arrays[] = {l->row_starts, l->edge_rows, l->kept_index, l->ghost_cols,
                            l->sent,       l->receive,   l->send,       s->comes};
    for (size_t k = 0; k < sizeof arrays / sizeof *arrays; k++)
        base_free(ctx, arrays[k]);
    base_free(ctx, s);
}

void stencil_ranks_free(spry_context *ctx, struct stencil_ranks *r)
{
    if (!r)
        return;
    spry_operator_free(r->product);
    for (int k = 0; k < 3; k++)
        side_free(ctx, r->sides[k]);
    base_free(ctx, r);
}

/* --- which rows need what ------------------------------------------------------------------------
 */

static const axis_table *table_of(const side *s, const stencil_part *part, int a)
{
    return s->transpose == SPRY_TRANSPOSE_NO ? &part->table[a] : &part->transposed[a];
}

/* The columns along an axis that a part's rows need, besides themselves. */
static range needs_of(const side *s, const stencil_part *part, int a, range rows)
{
    range need = rows;
    const axis_table *t = table_of(s, part, a);
    for (int64_t i = rows.begin; part->has[a] && i < rows.end; i++) {
        const int64_t class = axis_class(t->rows, t->low, t->high, i);
        for (int64_t k = t->start[class]; k < t->start[class + 1]; k++) {
            const int64_t col = i + t->entries[k].far_col;
            if (t->entries[k].kind != KNOWN_NOT)
                continue;
            need.begin = col < need.begin ? col : need.begin;
            need.end = col >= need.end ? col + 1 : need.end;
        }
    }
    return need;
}

/* The same of all parts. */
static range all_needs(const side *s, int a, range rows)
{
    const stencil *st = s->op->state;
    range need = rows;
    for (int p = 0; p < st->parts_count; p++) {
        const range of = needs_of(s, &st->parts[p], a, rows);
        need.begin = of.begin < need.begin ? of.begin : need.begin;
        need.end = of.end > need.end ? of.end : need.end;
    }
    return need;
}

/* The rows along an axis that need numbers of this rank alone. */
static range find_inside(const side *s, int a)
{
    const stencil *st = s->op->state;
    const range own = {st->rows.begin[a], st->rows.end[a]};
    range inside = own;
    if (st->shape.axis[a].ranks <= 1)
        return own;
    for (int64_t i = own.begin; i < own.end; i++) {
        const range need = all_needs(s, a, (range){i, i + 1});
        if (need.begin < own.begin)
            inside.begin = i + 1;
        if (need.end > own.end && i < inside.end)
            inside.end = i;
    }
    if (inside.end < inside.begin)
        inside.end = inside.begin;
    return inside;
}

/* A slab before (side 0) or behind what is inside along an axis; along slower ones it is inside,
 * along faster ones it is the whole block. */
static grid_box slab_rows(const side *s, int a, int behind)
{
    const stencil *st = s->op->state;
    grid_box rows = st->rows;
    for (int k = a + 1; k < GRID_AXES; k++) {
        rows.begin[k] = s->inside.begin[k];
        rows.end[k] = s->inside.end[k];
    }
    if (behind)
        rows.begin[a] = s->inside.end[a];
    else
        rows.end[a] = s->inside.begin[a];
    return rows;
}

static void place_slabs(side *s)
{
    const stencil *st = s->op->state;
    for (int a = 0; a < GRID_AXES; a++) {
        const range r = find_inside(s, a);
        s->inside.begin[a] = r.begin;
        s->inside.end[a] = r.end;
    }
    for (int k = 0; k < SLABS; k++) {
        slab *b = &s->slabs[k];
        b->rows = b->window = slab_rows(s, k / 2, k % 2);
        b->first = s->cells;
        if (box_count(&b->rows) == 0)
            continue;
        for (int a = 0; a < GRID_AXES; a++) {
            range need = {0, st->shape.axis[a].unknowns};
            if (st->shape.axis[a].ranks > 1)
                need = all_needs(s, a, (range){b->rows.begin[a], b->rows.end[a]});
            b->window.begin[a] = need.begin;
            b->window.end[a] = need.end;
        }
        s->cells += box_count(&b->window);
    }
}

/* Marks the numbers of a window that rows of its slab need: `comes` is 0 there. */
static void mark_needs(side *s, const slab *b)
{
    const stencil *st = s->op->state;
    for (int p = 0; p < st->parts_count; p++) {
        grid_box need;
        for (int a = 0; a < GRID_AXES; a++) {
            range r = {b->rows.begin[a], b->rows.end[a]};
            if (st->shape.axis[a].ranks > 1)
                r = needs_of(s, &st->parts[p], a, r);
            else if (st->parts[p].has[a])
                r = (range){b->window.begin[a], b->window.end[a]};
            need.begin[a] = r.begin;
            need.end[a] = r.end;
        }
        for (int64_t i = 0; i < box_count(&need); i++) {
            int64_t at[GRID_AXES];
            box_split(&need, i, at);
            s->comes[b->first + box_place(&b->window, at)] = 0;
        }
    }
}

/* --- lists ---------------------------------------------------------------------------------------
 */

static int by_number(const void *a, const void *b)
{
    const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

/* The number over all ranks of a cell of a window. */
static int64_t number_of(const side *s, const slab *b, int64_t cell)
{
    const stencil *st = s->op->state;
    int64_t at[GRID_AXES];
    box_split(&b->window, cell, at);
    return grid_number(&st->shape, false, s->links.row_starts, at);
}

/* Own numbers that windows need, in the order of windows, and the ghosts, each once. */
static spry_status list_compact(side *s)
{
    spry_context *ctx = s->op->ctx;
    distributed *l = &s->links;
    const int64_t first = l->row_starts[team_rank(ctx)], end = first + s->op->rows;
    int64_t listed = 0;
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(ctx, base_alloc(ctx, s->cells, sizeof *l->kept_index, &l->kept_index));
    SPRY_GO(ctx, base_alloc(ctx, s->cells, sizeof *l->ghost_cols, &l->ghost_cols));
    for (const slab *b = s->slabs; b < s->slabs + SLABS; b++)
        for (int64_t i = 0; box_count(&b->rows) > 0 && i < box_count(&b->window); i++) {
            if (s->comes[b->first + i] < 0)
                continue;
            const int64_t number = number_of(s, b, i);
            if (number < first || number >= end) {
                l->ghost_cols[listed++] = number;
            } else {
                s->comes[b->first + i] = l->kept;
                l->kept_index[l->kept++] = (int32_t)(number - first);
            }
        }
    qsort(l->ghost_cols, (size_t)listed, sizeof *l->ghost_cols, by_number);
    for (int64_t k = 0; k < listed; k++)
        if (l->ghosts == 0 || l->ghost_cols[l->ghosts - 1] != l->ghost_cols[k])
            l->ghost_cols[l->ghosts++] = l->ghost_cols[k];
    for (const slab *b = s->slabs; b < s->slabs + SLABS; b++)
        for (int64_t i = 0; box_count(&b->rows) > 0 && i < box_count(&b->window); i++) {
            const int64_t number = s->comes[b->first + i] < 0 ? first : number_of(s, b, i);
            if (number < first || number >= end)
                s->comes[b->first + i] = l->kept + ranks_find(l->ghost_cols, l->ghosts, number);
        }
    l->spare = s->cells;
done:
    return status;
}

static spry_status list_edges(side *s)
{
    spry_context *ctx = s->op->ctx;
    const stencil *st = s->op->state;
    distributed *l = &s->links;
    const int64_t inside = box_count(&s->inside);
    const spry_status status =
        base_alloc(ctx, s->op->rows - inside, sizeof *l->edge_rows, &l->edge_rows);
    for (int64_t i = 0; i < s->op->rows && status == SPRY_STATUS_OK; i++) {
        int64_t at[GRID_AXES];
        box_split(&st->rows, i, at);
        if (!box_has(&s->inside, at))
            l->edge_rows[l->edges++] = (int32_t)i;
    }
    return status;
}

/* What a rank makes by itself. */
static spry_status prepare(side *s)
{
    spry_context *ctx = s->op->ctx;
    const stencil *st = s->op->state;
    const stencil_form *form;
    spry_status status = SPRY_STATUS_OK;
    if (s->op->rows > INT32_MAX)
        return SPRY_FAIL(ctx, SPRY_STATUS_UNSUPPORTED,
                         "%" PRId64 " unknowns on one rank, expected at most 2^31 - 1: take more "
                         "ranks",
                         s->op->rows);
    SPRY_GO(ctx, stencil_find_form(s->op, s->transpose, &form));
    SPRY_GO(ctx, grid_starts(ctx, &st->shape, false, &s->links.row_starts));
    s->links.col_starts = s->links.row_starts;
    s->links.square = true;
    place_slabs(s);
    SPRY_GO(ctx, base_alloc(ctx, s->cells, sizeof *s->comes, &s->comes));
    for (int64_t i = 0; i < s->cells; i++)
        s->comes[i] = -1;
    for (slab *b = s->slabs; b < s->slabs + SLABS; b++)
        if (box_count(&b->rows) > 0) {
            mark_needs(s, b);
            if (!s->op->device)
                SPRY_GO(ctx, stencil_form_make(s->op, s->transpose != SPRY_TRANSPOSE_NO, &b->window,
                                               &b->form));
        }
    SPRY_GO(ctx, list_compact(s));
    SPRY_GO(ctx, list_edges(s));
done:
    return status;
}

/* --- rows inside ---------------------------------------------------------------------------------
 */

static spry_status multiply_inside(const spry_operator *op, spry_transpose transpose,
                                   spry_scalar alpha, const void *x, spry_scalar beta, void *y)
{
    const side *s = op->state;
    (void)transpose;
    return stencil_run_rows(s->op, s->transpose, &s->inside, alpha, x, beta, y, y);
}

/* Rows of the form's box along a line, from unknown `from` on. */
static void run_line(const side *s, const stencil_form *form, const int64_t from[GRID_AXES],
                     int64_t count, spry_scalar alpha, spry_scalar beta, const void *x, void *y)
{
    const stencil *st = s->op->state;
    const int64_t line = box_place(&form->u, from) / box_length(&form->u, 0);
    const host_line at = stencil_line(st, form, s->transpose == SPRY_TRANSPOSE_CONJUGATE,
                                      (int64_t)spry_type_size(s->op->type), line, x);
    st->kernels->stencil(&form->host, &at, from[0], from[0] + count, alpha, beta, y, y);
}

/* Edge rows are left as they are. */
static void run_inside(const operator_rows *rows, int64_t begin, int64_t end, const void *x,
                       void *y)
{
    const spry_operator *op = rows->state;
    const side *s = op->state;
    const stencil *st = s->op->state;
    const stencil_form *form = s->transpose == SPRY_TRANSPOSE_NO ? &st->plain : &st->transposed;
    const int64_t size = (int64_t)spry_type_size(op->type);
    for (int64_t row = begin, n; row < end; row += n) {
        int64_t at[GRID_AXES];
        box_split(&st->rows, row, at);
        n = st->rows.end[0] - at[0] < end - row ? st->rows.end[0] - at[0] : end - row;
        const int64_t last = at[0] + n < s->inside.end[0] ? at[0] + n : s->inside.end[0];
        const int64_t skipped = at[0] < s->inside.begin[0] ? s->inside.begin[0] - at[0] : 0;
        at[0] += skipped;
        if (at[0] < last && box_has(&s->inside, at))
            run_line(s, form, at, last - at[0], (spry_scalar){1, 0}, (spry_scalar){0, 0}, x,
                     (char *)y + (row + skipped - begin) * size);
    }
}

static int64_t work_before(const operator_rows *rows, int64_t row)
{
    (void)rows;
    return 8 * row;
}

static spry_status open_inside(const spry_operator *op, spry_transpose transpose,
                               operator_rows *rows)
{
    (void)transpose;
    *rows = (operator_rows){.state = op, .run = run_inside, .work = work_before};
    return SPRY_STATUS_OK;
}

static const operator_class inside_class = {
    .name = "stencil inside", .multiply = multiply_inside, .rows.open = open_inside};

/* --- edge rows -----------------------------------------------------------------------------------
 */

/* The windows follow the compact vector. */
static char *windows_behind(const side *s, const void *compact)
{
    const int64_t size = (int64_t)spry_type_size(s->op->type);
    return (char *)(uintptr_t)compact + (s->links.kept + s->links.ghosts) * size;
}

static void fill_windows(const side *s, const void *compact)
{
    const size_t size = spry_type_size(s->op->type);
    char *windows = windows_behind(s, compact);
    for (int64_t i = 0; i < s->cells; i++)
        if (s->comes[i] >= 0)
            memcpy(windows + (size_t)i * size, (const char *)compact + (size_t)s->comes[i] * size,
                   size);
}

/* y = alpha (rows) + beta y for some edge rows. */
static void run_some_edges(const side *s, range edges, spry_scalar alpha, spry_scalar beta,
                           const void *compact, char *y)
{
    const stencil *st = s->op->state;
    const int64_t size = (int64_t)spry_type_size(s->op->type);
    for (int64_t e = edges.begin, n; e < edges.end; e += n) {
        const slab *b = s->slabs;
        int64_t at[GRID_AXES];
        box_split(&st->rows, s->links.edge_rows[e], at);
        while (!box_has(&b->rows, at))
            b++;
        n = b->rows.end[0] - at[0] < edges.end - e ? b->rows.end[0] - at[0] : edges.end - e;
        run_line(s, &b->form, at, n, alpha, beta, windows_behind(s, compact) + b->first * size,
                 y + (e - edges.begin) * size);
    }
}

typedef struct edge_job {
    const side *s;
    spry_scalar alpha, beta;
    const void *compact;
    char *y;
} edge_job;

static void edge_share(void *argument, int share, int shares)
{
    const edge_job *j = argument;
    const range part = base_share(j->s->links.edges, shares, share, 1);
    run_some_edges(j->s, part, j->alpha, j->beta, j->compact,
                   j->y + part.begin * (int64_t)spry_type_size(j->s->op->type));
}

static spry_status multiply_edges(const spry_operator *op, spry_transpose transpose,
                                  spry_scalar alpha, const void *x, spry_scalar beta, void *y)
{
    const side *s = op->state;
    edge_job job = {s, alpha, beta, x, y};
    (void)transpose;
    fill_windows(s, x);
    base_share_out(op->ctx, host_threads(op->ctx, s->links.edges), edge_share, &job);
    return SPRY_STATUS_OK;
}

static void run_edges(const operator_rows *rows, int64_t begin, int64_t end, const void *x, void *y)
{
    const spry_operator *op = rows->state;
    run_some_edges(op->state, (range){begin, end}, (spry_scalar){1, 0}, (spry_scalar){0, 0}, x, y);
}

static spry_status begin_edges(const operator_rows *rows, int count, const void *const *x)
{
    const spry_operator *op = rows->state;
    for (int k = 0; k < count; k++)
        fill_windows(op->state, x[k]);
    return SPRY_STATUS_OK;
}

static spry_status open_edges(const spry_operator *op, spry_transpose transpose,
                              operator_rows *rows)
{
    (void)transpose;
    *rows =
        (operator_rows){.state = op, .run = run_edges, .work = work_before, .begin = begin_edges};
    return SPRY_STATUS_OK;
}

static const operator_class edge_class = {
    .name = "stencil edges", .multiply = multiply_edges, .rows.open = open_edges};

/* --- the product ---------------------------------------------------------------------------------
 */

/* The operators of a side on the host. */
static spry_status make_parts(side *s, dist_parts *parts)
{
    spry_context *ctx = s->op->ctx;
    const distributed *l = &s->links;
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(ctx,
            operator_new(ctx, &inside_class, s->op->type, s->op->rows, s->op->rows, &parts->own));
    parts->own->state = s;
    SPRY_GO(ctx, operator_new(ctx, &edge_class, s->op->type, l->edges, l->kept + l->ghosts,
                              &parts->edge));
    parts->edge->state = s;
done:
    return status;
}

/* The parts of one side; the side itself stays with the operator. */
static spry_status open_side(const void *state, spry_transpose transpose, dist_parts *parts)
{
    const spry_operator *op = state;
    spry_context *ctx = op->ctx;
    stencil_ranks *ranks = ((const stencil *)op->state)->ranks;
    side *s = NULL;
    spry_status status = base_calloc(ctx, 1, sizeof *s, &s);
    side_free(ctx, ranks->sides[transpose]); /* of one that failed later on */
    ranks->sides[transpose] = s;
    if (status == SPRY_STATUS_OK) {
        s->op = op;
        s->transpose = transpose;
        status = prepare(s);
    }
    if (status == SPRY_STATUS_OK)
        status = op->device ? ranks_device_parts(s, parts) : make_parts(s, parts);
    SPRY_GO(ctx, team_agree(ctx, status));
    /* NOLINTNEXTLINE(clang-analyzer-core.NullDereference): all have agreed that it is there */
    SPRY_GO(ctx, dist_find_neighbours(ctx, &s->links));
    parts->links = &s->links;
done:
    if (status != SPRY_STATUS_OK) {
        side_free(ctx, s);
        ranks->sides[transpose] = NULL;
    }
    return status;
}

spry_status stencil_ranks_make(spry_operator *op)
{
    stencil *s = op->state;
    const dist_source source = {op, open_side};
    const spry_status status =
        team_agree(op->ctx, base_calloc(op->ctx, 1, sizeof *s->ranks, &s->ranks));
    if (status != SPRY_STATUS_OK)
        return status;
    return dist_operator_of(op->ctx, op->device, op->type, op->rows, &source, &s->ranks->product);
}

spry_status stencil_ranks_multiply_memory(const spry_operator *op, spry_transpose transpose,
                                          spry_scalar alpha, const device_memory *x,
                                          spry_scalar beta, device_memory *y)
{
    const spry_operator *product = ((const stencil *)op->state)->ranks->product;
    return device_dist_multiply(product, transpose, alpha, x, beta, y);
}

spry_status stencil_ranks_multiply(const spry_operator *op, spry_transpose transpose,
                                   spry_scalar alpha, const void *x, spry_scalar beta, void *y)
{
    const spry_operator *product = ((const stencil *)op->state)->ranks->product;
    return product->class->multiply(product, transpose, alpha, x, beta, y);
}

spry_status stencil_ranks_open_rows(const spry_operator *op, spry_transpose transpose,
                                    operator_rows *rows)
{
    const spry_operator *product = ((const stencil *)op->state)->ranks->product;
    return product->class->rows.open(product, transpose, rows);
}
