/*
 * Whether another order of rows and columns pays, and the order: by what products fetch of x
 * (algebra/locality.c) in samples, and rules for the time that takes. No clock is asked, and not
 * how many threads there are: the choice, and with it the bits of x, depends on the matrix and on
 * the machine alone.
 */
#include "krylov/reorder.h"

#include "algebra/algebra.h"

#include <stdlib.h>

/* Seconds for a line of x that is not near: measured at 1.8e-9 and more (docs/figures.md). Seconds
 * to find an order of rows without one, for an entry of the matrix that is looked at, and to bring
 * the matrix into it, for a row and for an entry. */
static const double line_seconds = 1.8e-9, search_seconds = 5e-8;
static const double row_seconds = 6e-8, entry_seconds = 1.2e-8;
/* How much more than its cost an order must promise. */
static const double margin = 1.25;
/* Elements of x for each row above which no order helps; lines for each row that are hoped for. */
static const double most_expansion = 3, lines_hoped = 0.6;
/* The part of the lines that an order must save to be taken. */
static const double least_saving = 0.4;

/* The seconds that an order saves which fetches so many lines of x fewer for a row. */
static double gain(const order_forecast *f, const matrix_arrays *a, double lines_fewer)
{
    const double bytes = (double)spry_type_size(a->type) * (double)a->cols;
    const double away = bytes > f->cache ? 1 - f->cache / bytes : 0;
    return f->products * (double)a->rows * lines_fewer * away * line_seconds / f->workers;
}

/* With blocks, one entry of each is looked at. */
static double search_cost(const matrix_arrays *a, int block)
{
    return (double)a->nnz * (search_seconds / (block * block) + (block > 1 ? entry_seconds : 0));
}

static double move_cost(const matrix_arrays *a)
{
    return entry_seconds * (double)a->nnz + row_seconds * (double)a->rows;
}

/* Whether it is worth to look for an order: by what one would save at most, then by whether there
 * can be one. */
static spry_status looks_worth(const spry_matrix *csr, const order_forecast *f, int block,
                               double *lines, bool *worth)
{
    spry_context *ctx = csr->ctx;
    const matrix_arrays *a = &csr->a;
    const double cost = search_cost(a, block) + move_cost(a);
    const double mean = (double)a->nnz / (double)(a->rows > 0 ? a->rows : 1);
    double expansion = 1;
    spry_status status = SPRY_STATUS_OK;
    *worth = false;
    if (gain(f, a, mean) <= margin * cost) /* each entry its own line */
        return SPRY_STATUS_OK;
    SPRY_GO(ctx, algebra_lines(ctx, a, NULL, NULL, lines));
    if (gain(f, a, *lines - lines_hoped) <= margin * cost)
        return SPRY_STATUS_OK;
    SPRY_GO(ctx, algebra_expansion(ctx, a, &expansion));
    *worth = expansion <= most_expansion;
    base_log(ctx, SPRY_LOG_DEBUG,
             "order: %.2f lines of x per row, %.2f elements of x for a row of a group: %s", *lines,
             expansion, *worth ? "looking for a better one" : "none would be better");
done:
    return status;
}

spry_status order_find(const spry_matrix *csr, const order_forecast *f, bool asked, int block,
                       int32_t **from)
{
    spry_context *ctx = csr->ctx;
    const matrix_arrays *a = &csr->a;
    int32_t *to = NULL;
    double before = 0, after = 0;
    bool worth = asked;
    spry_status status = SPRY_STATUS_OK;
    *from = NULL;
    if (!asked)
        SPRY_GO(ctx, looks_worth(csr, f, block, &before, &worth));
    if (!worth)
        return SPRY_STATUS_OK;
    SPRY_GO(ctx, algebra_order_blocks(csr, "rcm", block, from));
    if (asked)
        return SPRY_STATUS_OK;
    SPRY_GO(ctx, matrix_invert(ctx, "order", *from, a->rows, &to));
    SPRY_GO(ctx, algebra_lines(ctx, a, *from, to, &after));
    base_log(ctx, SPRY_LOG_DEBUG, "order: %.2f lines of x per row by rcm", after);
    if (after > (1 - least_saving) * before || gain(f, a, before - after) <= move_cost(a)) {
        base_free(ctx, *from);
        *from = NULL;
    }
done:
    base_free(ctx, to);
    if (status != SPRY_STATUS_OK) {
        base_free(ctx, *from);
        *from = NULL;
    }
    return status;
}

/* --- vectors -------------------------------------------------------------------------------------
 */

static spry_status move(const int32_t *from, const spry_vector *x, spry_vector *y)
{
    spry_vector *moved = NULL;
    spry_status status = SPRY_STATUS_OK;
    if (!from)
        return spry_vector_copy(x, y);
    if (x->device == y->device && x->type == y->type)
        return algebra_gather(x, from, y);
    SPRY_GO(y->ctx, spry_vector_like(x, x->n, &moved));
    SPRY_GO(y->ctx, algebra_gather(x, from, moved));
    SPRY_GO(y->ctx, spry_vector_copy(moved, y));
done:
    spry_vector_free(moved);
    return status;
}

spry_status order_put(const solver_order *order, const spry_vector *v, spry_vector *inside)
{
    return move(order ? order->from : NULL, v, inside);
}

spry_status order_get(const solver_order *order, const spry_vector *inside, spry_vector *v)
{
    return move(order ? order->to : NULL, inside, v);
}

/* --- messages ------------------------------------------------------------------------------------
 */

/* Whether what comes before a row says that it is one of a part of A, which counts for itself. */
static bool is_of_part(const char *text, const char *at)
{
    static const char *const parts[] = {"schwarz: part ", "kkt: the ", "mlilu: the last"};
    for (size_t k = 0; k < sizeof parts / sizeof *parts; k++) {
        const char *part = strstr(text, parts[k]);
        if (part && part < at)
            return true;
    }
    return false;
}

/* The number at `at` becomes the caller's; where what follows it begins. NULL: it is none. */
static char *name_row(const solver_order *order, const char *text, size_t size, char *at)
{
    char *end = NULL, rest[MESSAGE_SIZE];
    const long long row = strtoll(at, &end, 10);
    const size_t room = size - (size_t)(at - text);
    if (end == at || row < 0 || row >= order->matrix->a.rows)
        return NULL;
    snprintf(rest, sizeof rest, "%s", end);
    const int used = snprintf(at, room, "%d%s", order->from[row], rest) - (int)strlen(rest);
    return (size_t)used < room ? at + used : NULL;
}

/* Messages are made by rooms that do not know of orders, from rows as they see them; all of them
 * name rows, and columns, alike: "row 5 (from 0)", "row 5, column 7 (from 0)", "rows 4..5 (from
 * 0)", "rows 4, 7 and 2 more (from 0)". */
void order_name_rows(const solver_order *order, char *text, size_t size)
{
    static const char *const words[] = {"row ", "column ", "rows "};
    for (int w = 0; w < 3 && order && order->matrix; w++) {
        char *at = strstr(text, words[w]);
        if (!at || (!strstr(at, "(from 0)") && !strstr(at, "does not fit type")) ||
            is_of_part(text, at))
            continue;
        at = name_row(order, text, size, at + strlen(words[w]));
        while (w == 2 && at && (strncmp(at, "..", 2) == 0 || strncmp(at, ", ", 2) == 0))
            at = name_row(order, text, size, at + 2);
    }
}
