/*
 * Orders found on a device: see order.h and kernels/order.knl.
 *
 * Reverse Cuthill-McKee by levels: as src/matrix/algebra/rcm.c, but for neighbours of one
 * row, which are ordered by their numbers and not by their degrees, and for the start, which is the
 * first row of the last level of one search (K. I. Karantasis, A. Lenharth, D. Nguyen, M. J.
 * Garzaran, K. Pingali, Parallelization of reordering algorithms for bandwidth and wavefront
 * reduction, SC 2014, for levels whose rows are placed all at once).
 */
#include "device/linalg/order.h"

#include "device/engine/staging.h"
#include "device/linalg/setup.h"

enum { GROUP = 256, LANES = 8, GROUPS_OF_HUBS = 31 };

typedef struct search {
    spry_context *ctx;
    const device_matrix *A;
    device_program *p;
    int32_t rows;
    device_memory *queue, *parents; /* int32_t, one per row */
    device_memory *numbers;         /* int64_t, one more than rows */
    device_memory *found;           /* int32_t, one */
    int64_t levels, most;           /* so far, and at most */
} search;

static void search_close(search *s)
{
    device_free(s->queue);
    device_free(s->parents);
    device_free(s->numbers);
    device_free(s->found);
}

static spry_status search_open(const device_matrix *A, int64_t most, search *s)
{
    spry_device *d = A->d;
    const int64_t bytes = A->rows * (int64_t)sizeof(int32_t);
    char options[32];
    spry_status status = SPRY_STATUS_OK;
    *s = (search){.ctx = d->ctx, .A = A, .rows = (int32_t)A->rows, .most = most};
    snprintf(options, sizeof options, "-DLANES=%d", LANES);
    SPRY_GO(s->ctx, device_matrix_build(d, A->type, GROUP, "order", options, &s->p));
    SPRY_GO(s->ctx, device_alloc(d, bytes, &s->queue));
    SPRY_GO(s->ctx, device_alloc(d, bytes, &s->parents));
    SPRY_GO(s->ctx, device_alloc(d, (A->rows + 1) * (int64_t)sizeof(int64_t), &s->numbers));
    SPRY_GO(s->ctx, device_alloc(d, sizeof(int32_t), &s->found));
done:
    return status;
}

static spry_status launch(const search *s, const char *kernel, int64_t items,
                          const device_arg *args, int count)
{
    return device_launch(s->p, kernel, NULL, (items + GROUP - 1) / GROUP, GROUP, args, count);
}

#define LAUNCH(s, kernel, items, args) \
    launch(s, kernel, items, args, (int)(sizeof(args) / sizeof *(args)))

/* Rows with a 1 in numbers come to the queue, from place *begin on, which moves on. */
static spry_status place_rows(const search *s, int32_t *begin)
{
    int64_t count = 0;
    const device_arg args[] = {DEVICE_VALUE(s->rows), device_arg_memory(s->numbers),
                               DEVICE_VALUE(*begin), device_arg_memory(s->queue)};
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(s->ctx, device_sum_up(s->A->d, s->numbers, (int64_t)s->rows + 1));
    SPRY_GO(s->ctx, LAUNCH(s, "order_place", s->rows, args));
    SPRY_GO(s->ctx, device_get(s->numbers, s->rows * (int64_t)sizeof count, &count, sizeof count));
    *begin += (int32_t)count;
done:
    return status;
}

/* --- levels --------------------------------------------------------------------------------------
 */

/* From the level at places begin..begin + *count - 1 to the next, which has *count rows then. */
static spry_status next_level(const search *s, int32_t begin, int32_t *count)
{
    const device_matrix *A = s->A;
    const int64_t items = (int64_t)*count * LANES;
    int64_t met = 0;
    const device_arg mark[] = {DEVICE_VALUE(begin),           DEVICE_VALUE(*count),
                               device_arg_memory(A->offsets), device_arg_memory(A->columns),
                               device_arg_memory(s->queue),   device_arg_memory(s->parents)};
    const device_arg take[] = {
        mark[0], mark[1], mark[2], mark[3], mark[4], mark[5], device_arg_memory(s->numbers)};
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(s->ctx, LAUNCH(s, "order_mark", items, mark));
    SPRY_GO(s->ctx, LAUNCH(s, "order_count", items, take));
    SPRY_GO(s->ctx, device_sum_up(A->d, s->numbers, (int64_t)*count + 1));
    SPRY_GO(s->ctx, LAUNCH(s, "order_fill", items, take));
    SPRY_GO(s->ctx, device_get(s->numbers, *count * (int64_t)sizeof met, &met, sizeof met));
    *count = (int32_t)met;
done:
    return status;
}

/* A search from a row, whose place is `begin`: *end is the place after the last row that was met,
 * *last where the last level begins. Stops where there are too many levels. */
static spry_status distributed(search *s, int32_t row, int32_t begin, int32_t *end, int32_t *last)
{
    const device_arg args[] = {DEVICE_VALUE(row), DEVICE_VALUE(begin),
                               device_arg_memory(s->parents), device_arg_memory(s->queue)};
    int32_t count = 1;
    spry_status status = SPRY_STATUS_OK;
    *last = *end = begin;
    SPRY_GO(s->ctx, LAUNCH(s, "order_start", 1, args));
    for (; count > 0 && s->levels <= s->most; s->levels++) {
        *last = *end;
        *end += count;
        SPRY_GO(s->ctx, next_level(s, *last, &count));
    }
done:
    return status;
}

/* The component of a row, from place *begin on, which moves on: by a search from an end that
 * another search has found. */
static spry_status number_component(search *s, int32_t row, int32_t *begin)
{
    int32_t end = 0, last = 0;
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(s->ctx, distributed(s, row, *begin, &end, &last));
    SPRY_GO(s->ctx, device_get(s->queue, last * (int64_t)sizeof row, &row, sizeof row));
    const int32_t count = end - *begin;
    const device_arg args[] = {DEVICE_VALUE(*begin), DEVICE_VALUE(count),
                               device_arg_memory(s->queue), device_arg_memory(s->parents)};
    SPRY_GO(s->ctx, LAUNCH(s, "order_reset", count, args));
    SPRY_GO(s->ctx, distributed(s, row, *begin, &end, &last));
    *begin = end;
done:
    return status;
}

/* The first row that no search has met. */
static spry_status seek(const search *s, int32_t *row)
{
    const device_arg args[] = {DEVICE_VALUE(s->rows), device_arg_memory(s->parents),
                               device_arg_memory(s->found)};
    spry_status status = SPRY_STATUS_OK;
    *row = INT32_MAX;
    SPRY_GO(s->ctx, device_put(s->found, 0, row, sizeof *row));
    SPRY_GO(s->ctx, LAUNCH(s, "order_seek", s->rows, args));
    SPRY_GO(s->ctx, device_get(s->found, 0, row, sizeof *row));
done:
    return status;
}

/* Rows alone, then every component; turned round into `parents`. */
static spry_status number_all(search *s, bool *whole)
{
    const device_arg begin_args[] = {DEVICE_VALUE(s->rows), device_arg_memory(s->A->offsets),
                                     device_arg_memory(s->A->columns),
                                     device_arg_memory(s->parents), device_arg_memory(s->numbers)};
    const device_arg turn_args[] = {DEVICE_VALUE(s->rows), device_arg_memory(s->queue),
                                    device_arg_memory(s->parents)};
    int32_t done_rows = 0, row = 0;
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(s->ctx, LAUNCH(s, "order_begin", s->rows, begin_args));
    SPRY_GO(s->ctx, place_rows(s, &done_rows));
    while (done_rows < s->rows && s->levels <= s->most) {
        SPRY_GO(s->ctx, seek(s, &row));
        SPRY_GO(s->ctx, number_component(s, row, &done_rows));
    }
    *whole = s->levels <= s->most;
    if (*whole)
        SPRY_GO(s->ctx, LAUNCH(s, "order_turn", s->rows, turn_args));
done:
    return status;
}

/* --- hubs ----------------------------------------------------------------------------------------
 */

/* As order_hubs() of src/matrix/algebra/reorder.c, group by group. */
static spry_status number_hubs(const search *s)
{
    const int32_t last = GROUPS_OF_HUBS;
    int32_t done_rows = 0, group = 0;
    const device_arg count_args[] = {DEVICE_VALUE(s->A->nnz), device_arg_memory(s->A->columns),
                                     device_arg_memory(s->parents)};
    const device_arg group_args[] = {DEVICE_VALUE(s->rows), DEVICE_VALUE(s->A->nnz),
                                     DEVICE_VALUE(group),   DEVICE_VALUE(last),
                                     count_args[2],         device_arg_memory(s->numbers)};
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(s->ctx, device_clear(s->parents, 0, s->rows * (int64_t)sizeof(int32_t)));
    SPRY_GO(s->ctx, LAUNCH(s, "order_columns", s->A->nnz, count_args));
    for (; group <= last; group++) {
        SPRY_GO(s->ctx, LAUNCH(s, "order_group", s->rows, group_args));
        SPRY_GO(s->ctx, place_rows(s, &done_rows));
    }
done:
    return status;
}

/* --- the matrix on the device
 * ----------------------------------------------------------------------------
 */

/* The places of entries; numbers with them mean nothing. */
static spry_status put_places(spry_device *d, const matrix_arrays *csr, device_matrix *A)
{
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(d->ctx, device_matrix_new(d, SPRY_TYPE_S, csr->rows, csr->cols, A));
    A->nnz = csr->nnz;
    SPRY_GO(d->ctx, device_matrix_allocate_known(A));
    SPRY_GO(d->ctx, device_put_large(A->offsets, csr->offsets,
                                     (csr->rows + 1) * (int64_t)sizeof *csr->offsets));
    SPRY_GO(d->ctx, device_put_large(A->columns, csr->col_index,
                                     csr->nnz * (int64_t)sizeof *csr->col_index));
done:
    return status;
}

/* Places of A and A^T together. */
static spry_status make_symmetric(device_matrix *A)
{
    const spry_scalar one = {1, 0};
    device_matrix T = {0}, sum = {0};
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(A->d->ctx, device_clear(A->values, 0, A->nnz * (int64_t)spry_type_size(A->type)));
    SPRY_GO(A->d->ctx, device_matrix_transpose(A, false, &T));
    SPRY_GO(A->d->ctx, device_matrix_add(one, A, one, NULL, &T, &sum));
    device_matrix_free(A);
    *A = sum;
done:
    device_matrix_free(&T);
    return status;
}

spry_status device_order(spry_device *d, const matrix_arrays *csr, const char *order,
                         bool symmetric, int64_t most, int32_t **from)
{
    spry_context *ctx = d->ctx;
    const bool hubs = strcmp(order, "hubs") == 0;
    const int64_t bytes = csr->rows * (int64_t)sizeof **from;
    device_matrix A = {0};
    search s = {0};
    bool whole = true;
    spry_status status = SPRY_STATUS_OK;
    *from = NULL;
    if (csr->rows == 0)
        return base_alloc(ctx, 0, sizeof **from, from);
    SPRY_GO(ctx, put_places(d, csr, &A));
    if (!hubs && !symmetric)
        SPRY_GO(ctx, make_symmetric(&A));
    SPRY_GO(ctx, search_open(&A, most, &s));
    SPRY_GO(ctx, hubs ? number_hubs(&s) : number_all(&s, &whole));
    if (!whole)
        goto done;
    SPRY_GO(ctx, base_alloc(ctx, csr->rows, sizeof **from, from));
    SPRY_GO(ctx, device_get_large(hubs ? s.queue : s.parents, *from, bytes));
done:
    search_close(&s);
    device_matrix_free(&A);
    if (status != SPRY_STATUS_OK) {
        base_free(ctx, *from);
        *from = NULL;
    }
    return status;
}
