/*
 * Whether another order of rows and columns pays, and the order: by what products fetch of x
 * (matrix/algebra/locality.c) in samples, and rules for the time that takes. No clock is asked, and
 * not how many threads there are: the choice, and with it the bits of x, depends on the matrix and
 * on the machine alone.
 */
#include "krylov/reorder.h"

#include "device/linalg/order.h"
#include "matrix/algebra/algebra.h"
#include "matrix/entries.h"

#include <stdlib.h>

/* How much more than its cost an order must promise. */
static const double margin = 1.25;
/* Elements of x for each row above which no order brings rows together; lines for each row that are
 * hoped for where one does. */
static const double most_expansion = 3, lines_hoped = 0.6;
/* The part of the lines that such an order must save to be taken, and the part of all entries that
 * hubs must bring near: a random matrix, whose columns differ by chance, has 0.04. */
static const double least_saving = 0.4, least_share = 0.1;

/* Measured: docs/figures.md. A line was 1.8e-9 s and more in shuffled grids and 3e-9 and more in
 * power laws, rows of many entries took three times as long to be sorted as those of grids. */
order_forecast order_on_host(double cache, double products, double workers)
{
    return (order_forecast){.cache = cache,
                            .products = products,
                            .line = 1.8e-9 / workers,
                            .hub_line = 3e-9 / workers,
                            .search = 5e-8,
                            .count = 1.2e-8,
                            .entry = 1.2e-8,
                            .hub_entry = 4e-8,
                            .row = 6e-8};
}

/* A line, a level and an entry are an H200's (docs/figures.md): on others the gain is more. Places
 * of entries cross the bus, and so does the matrix, both ways; a level is some launches. */
order_forecast order_on_device(double cache, double products)
{
    return (order_forecast){.cache = cache,
                            .products = products,
                            .line = 3e-11,
                            .hub_line = 1.4e-11,
                            .search = 1e-9,
                            .count = 1.2e-8,
                            .entry = 1.5e-9,
                            .hub_entry = 1.5e-9,
                            .row = 1e-8,
                            .level = 4.5e-5};
}

/* The seconds that an order saves which fetches fewer lines of x for a row. */
static double gain(const order_forecast *f, const matrix_arrays *a, double lines_fewer)
{
    const double bytes = (double)spry_type_size(a->type) * (double)a->cols;
    const double away = bytes > f->cache ? 1 - f->cache / bytes : 0;
    return f->products * (double)a->rows * lines_fewer * away * f->line;
}

/* The same of one that brings so large a part of the entries to lines that stay near. */
static double hub_gain(const order_forecast *f, const matrix_arrays *a, double share)
{
    return f->products * (double)a->nnz * share * f->hub_line;
}

/* With blocks, one entry of each is looked at. */
static double search_cost(const order_forecast *f, const matrix_arrays *a, int block)
{
    return (double)a->nnz * (f->search / (block * block) + (block > 1 ? f->entry : 0));
}

static double move_cost(const order_forecast *f, const matrix_arrays *a)
{
    return f->entry * (double)a->nnz + f->row * (double)a->rows;
}

/* Which order it is worth to look for (NULL: none): by what one would save at most, then by whether
 * rows can be brought together. Where they cannot, columns with many entries still can. */
static spry_status suggest(const spry_matrix *csr, const order_forecast *f, int block,
                           double *lines, const char **name)
{
    spry_context *ctx = csr->ctx;
    const matrix_arrays *a = &csr->a;
    const double cost = search_cost(f, a, block) + move_cost(f, a);
    const double hub_cost = (f->count + f->hub_entry) * (double)a->nnz;
    const double mean = (double)a->nnz / (double)(a->rows > 0 ? a->rows : 1);
    double expansion = 1;
    spry_status status = SPRY_STATUS_OK;
    *name = NULL;
    if (gain(f, a, mean) <= margin * fmin(cost, hub_cost)) /* each entry its own line */
        return SPRY_STATUS_OK;
    SPRY_GO(ctx, algebra_lines(ctx, a, NULL, NULL, lines));
    if (gain(f, a, *lines - lines_hoped) <= margin * fmin(cost, hub_cost))
        return SPRY_STATUS_OK;
    SPRY_GO(ctx, algebra_expansion(ctx, a, &expansion));
    if (expansion <= most_expansion)
        *name = gain(f, a, *lines - lines_hoped) > margin * cost ? "rcm" : NULL;
    else
        *name = hub_gain(f, a, 1) > margin * hub_cost ? "hubs" : NULL;
    base_log(ctx, SPRY_LOG_DEBUG,
             "order: %.2f lines of x per row, %.2f elements of x for a row of a group: %s", *lines,
             expansion, *name ? *name : "none would be better");
done:
    return status;
}

/* Whether an order that was found keeps what was hoped for; `lines` are those without it. */
static spry_status keeps(const spry_matrix *csr, const order_forecast *f, const solver_order *order,
                         double lines, bool *pays)
{
    spry_context *ctx = csr->ctx;
    const matrix_arrays *a = &csr->a;
    double after = 0, as_is = 0, in_order = 0;
    spry_status status = SPRY_STATUS_OK;
    if (strcmp(order->name, "hubs") == 0) {
        SPRY_GO(ctx, algebra_hot_share(ctx, a, order->from, f->cache, &as_is, &in_order));
        base_log(ctx, SPRY_LOG_DEBUG, "order: %.2f of the entries near, %.2f by hubs", as_is,
                 in_order);
        *pays = in_order - as_is >= least_share &&
                hub_gain(f, a, in_order - as_is) > margin * f->hub_entry * (double)a->nnz;
    } else {
        SPRY_GO(ctx, algebra_lines(ctx, a, order->from, order->to, &after));
        base_log(ctx, SPRY_LOG_DEBUG, "order: %.2f lines of x per row by rcm", after);
        *pays = after <= (1 - least_saving) * lines && gain(f, a, lines - after) > move_cost(f, a);
    }
done:
    return status;
}

/* How an order is looked for. */
typedef struct finding {
    const char *name;
    spry_device *d;
    int64_t levels; /* a device searches by at most that number */
} finding;

/* Where it is the device that could not, nothing has failed: the host can, or it is done without.
 */
static spry_status forgive_device(spry_context *ctx, spry_status status, const base_kept *before)
{
    if (status != SPRY_STATUS_NO_MEMORY && status != SPRY_STATUS_UNSUPPORTED &&
        status != SPRY_STATUS_DEVICE && status != SPRY_STATUS_DEVICE_LOST)
        return status;
    base_log(ctx, SPRY_LOG_DEBUG, "order: %s", spry_message(ctx));
    base_forgive(ctx, before);
    return SPRY_STATUS_OK;
}

static spry_status find(const spry_matrix *A, const void *how, int32_t **perm)
{
    spry_context *ctx = A->ctx;
    const finding *f = how;
    const base_kept before = base_try(ctx);
    const spry_matrix *csr = NULL;
    spry_matrix *owned = NULL;
    spry_status status = SPRY_STATUS_OK;
    if (!f->d)
        return spry_reorder(A, f->name, perm);
    SPRY_GO(ctx, matrix_as_sorted_csr(A, &csr, &owned));
    status = device_order(f->d, &csr->a, f->name,
                          matrix_known(A, SPRY_FACT_PATTERN_SYMMETRIC) == SPRY_TRUTH_YES, f->levels,
                          perm);
    status = forgive_device(ctx, status, &before);
done:
    spry_matrix_free(owned);
    return status;
}

/* One that is asked for, and deeper than a device should search, or more than it can do, is found
 * on the host. */
static spry_status find_asked(const spry_matrix *csr, const order_forecast *f, int block,
                              solver_order *order)
{
    enum { MOST_LEVELS = 20000 }; /* of two searches: about a second */
    finding how = {.name = order->name, .d = f->device, .levels = MOST_LEVELS};
    spry_status status = algebra_order_blocks(csr, block, find, &how, &order->from);
    how.d = NULL;
    if (status == SPRY_STATUS_OK && !order->from)
        status = algebra_order_blocks(csr, block, find, &how, &order->from);
    return status;
}

/* One that looks as if it will pay; `lines` are those without it. Searches go as deep as pays. */
static spry_status find_paying(const spry_matrix *csr, const order_forecast *f, int block,
                               solver_order *order, double *lines)
{
    const matrix_arrays *a = &csr->a;
    finding how = {.d = f->device, .levels = INT32_MAX};
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(csr->ctx, suggest(csr, f, block, lines, &order->name));
    if (!order->name)
        return SPRY_STATUS_OK;
    const double left =
        gain(f, a, *lines - lines_hoped) / margin - search_cost(f, a, block) - move_cost(f, a);
    if (f->level > 0 && left < INT32_MAX * f->level)
        how.levels = (int64_t)(left / f->level);
    how.name = order->name;
    SPRY_GO(csr->ctx, algebra_order_blocks(csr, block, find, &how, &order->from));
done:
    return status;
}

spry_status order_find(const spry_matrix *csr, const order_forecast *f, const char *asked,
                       int block, solver_order *order)
{
    spry_context *ctx = csr->ctx;
    double lines = 0;
    bool pays = true;
    spry_status status = SPRY_STATUS_OK;
    order->name = asked;
    SPRY_GO(ctx,
            asked ? find_asked(csr, f, block, order) : find_paying(csr, f, block, order, &lines));
    if (!order->from)
        return SPRY_STATUS_OK;
    SPRY_GO(ctx, matrix_invert(ctx, "order", order->from, csr->a.rows, &order->to));
    if (!asked)
        SPRY_GO(ctx, keeps(csr, f, order, lines, &pays));
done:
    if (status != SPRY_STATUS_OK || !pays)
        order_free(ctx, order);
    return status;
}

/* On the device, by way of the bus; NULL: it cannot, or entries would be added up on it. */
static spry_status permute_on_device(spry_device *d, const spry_matrix *csr, const int32_t *from,
                                     spry_matrix **B)
{
    spry_context *ctx = csr->ctx;
    const base_kept before = base_try(ctx);
    device_matrix A = {0}, P = {0};
    spry_status status = SPRY_STATUS_OK;
    if (!matrix_is_sorted(ctx, csr, true))
        return SPRY_STATUS_OK;
    SPRY_GO(ctx, device_matrix_put_csr(d, &csr->a, &A));
    SPRY_GO(ctx, device_matrix_permute(&A, from, &P));
    SPRY_GO(ctx, device_matrix_get(&P, B));
    matrix_note_all(*B, FACT_BIT(SPRY_FACT_SORTED) | FACT_BIT(SPRY_FACT_UNIQUE));
    matrix_carry(csr, *B, FACTS_BUT_ORDER);
done:
    device_matrix_free(&A);
    device_matrix_free(&P);
    return forgive_device(ctx, status, &before);
}

spry_status order_apply(const solver_order *order, spry_device *d, const spry_matrix *csr,
                        spry_matrix **B)
{
    spry_status status = SPRY_STATUS_OK;
    *B = NULL;
    if (d)
        status = permute_on_device(d, csr, order->from, B);
    return status == SPRY_STATUS_OK && !*B ? spry_matrix_permute(csr, order->from, order->from, B)
                                           : status;
}

void order_free(spry_context *ctx, solver_order *order)
{
    spry_matrix_free(order->matrix);
    base_free(ctx, order->from);
    base_free(ctx, order->to);
    *order = (solver_order){0};
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
        if (!at || !strstr(at, "(from 0)") || is_of_part(text, at))
            continue;
        at = name_row(order, text, size, at + strlen(words[w]));
        while (w == 2 && at && (strncmp(at, "..", 2) == 0 || strncmp(at, ", ", 2) == 0))
            at = name_row(order, text, size, at + 2);
    }
}
