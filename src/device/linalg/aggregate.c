/* Aggregates of graphs in a device's memory: see setup.h. */
#include "device/linalg/setup.h"

enum { GROUP = 256, FIRST_ROUNDS = 6, MORE_ROUNDS = 3, MOST_ROUNDS = 1000 };

/* What rounds over the rows of a graph need. */
typedef struct rounds {
    const device_matrix *S;
    spry_context *ctx;
    device_program *p;
    int32_t rows;
    device_memory *keys, *once, *twice; /* uint64_t, one per row */
    device_memory *left;                /* int32_t: whether rows are still open */
    device_memory *numbers;             /* int64_t, of chosen rows */
} rounds;

static void rounds_close(rounds *r)
{
    device_free(r->keys);
    device_free(r->once);
    device_free(r->twice);
    device_free(r->left);
    device_free(r->numbers);
}

static spry_status build(spry_device *d, spry_type type, device_program **p)
{
    return device_matrix_build(d, type, GROUP, "lengths aggregate", "", p);
}

static spry_status rounds_open(const device_matrix *S, rounds *r)
{
    const int64_t bytes = S->rows * (int64_t)sizeof(uint64_t);
    spry_device *d = S->d;
    spry_status status = SPRY_STATUS_OK;
    *r = (rounds){.S = S, .ctx = d->ctx, .rows = (int32_t)S->rows};
    if (S->rows != S->cols)
        return SPRY_FAIL(d->ctx, SPRY_STATUS_BAD_USAGE,
                         "aggregates are of square matrices, not of %" PRId64 " x %" PRId64,
                         S->rows, S->cols);
    SPRY_GO(r->ctx, build(d, S->type, &r->p));
    SPRY_GO(r->ctx, device_alloc(d, bytes, &r->keys));
    SPRY_GO(r->ctx, device_alloc(d, bytes, &r->once));
    SPRY_GO(r->ctx, device_alloc(d, bytes, &r->twice));
    SPRY_GO(r->ctx, device_alloc(d, sizeof(int32_t), &r->left));
    SPRY_GO(r->ctx, device_alloc(d, bytes + (int64_t)sizeof(int64_t), &r->numbers));
done:
    return status;
}

static spry_status launch(const rounds *r, const char *kernel, const device_arg *args, int count)
{
    return device_launch(r->p, kernel, NULL, ((int64_t)r->rows + GROUP - 1) / GROUP, GROUP, args,
                         count);
}

#define LAUNCH(r, kernel, args) launch(r, kernel, args, (int)(sizeof(args) / sizeof *(args)))

/* Rounds until no row is open. Each decides the largest key that is open, at least. The host asks
 * after some of them only, as a needless round costs less than an answer. */
static spry_status repeat(rounds *r, spry_status (*round)(rounds *))
{
    int32_t left = 1;
    spry_status status = SPRY_STATUS_OK;
    for (int i = 1, asks = FIRST_ROUNDS; left && i <= MOST_ROUNDS; i++) {
        if (i == asks)
            SPRY_GO(r->ctx, device_clear(r->left, 0, sizeof left));
        SPRY_GO(r->ctx, round(r));
        if (i == asks) {
            SPRY_GO(r->ctx, device_get(r->left, 0, &left, sizeof left));
            asks += MORE_ROUNDS;
        }
    }
    if (left)
        status = SPRY_FAIL(r->ctx, SPRY_STATUS_UNSUPPORTED,
                           "an independent set of %d rows was not found after %d rounds", r->rows,
                           MOST_ROUNDS);
done:
    return status;
}

/* Numbers for the chosen rows, in their order. */
static spry_status number_chosen(const rounds *r, int64_t *count)
{
    const device_arg args[] = {DEVICE_VALUE(r->rows), device_arg_memory(r->keys),
                               device_arg_memory(r->numbers)};
    spry_status status = SPRY_STATUS_OK;
    *count = 0;
    if (r->rows == 0)
        return SPRY_STATUS_OK;
    SPRY_GO(r->ctx, LAUNCH(r, "keys_number", args));
    SPRY_GO(r->ctx, device_sum_up(r->S->d, r->numbers, (int64_t)r->rows + 1));
    SPRY_GO(r->ctx, device_get(r->numbers, r->rows * (int64_t)sizeof *count, count, sizeof *count));
done:
    return status;
}

/* --- aggregates ----------------------------------------------------------------------------------
 */

static spry_status distributed(const rounds *r, const device_memory *from, device_memory *to)
{
    const device_arg args[] = {DEVICE_VALUE(r->rows), device_arg_memory(r->S->offsets),
                               device_arg_memory(r->S->columns), device_arg_memory(from),
                               device_arg_memory(to)};
    return LAUNCH(r, "keys_distributed", args);
}

static spry_status aggregate_round(rounds *r)
{
    const device_arg args[] = {DEVICE_VALUE(r->rows), device_arg_memory(r->twice),
                               device_arg_memory(r->keys), device_arg_memory(r->left)};
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(r->ctx, distributed(r, r->keys, r->once));
    SPRY_GO(r->ctx, distributed(r, r->once, r->twice));
    SPRY_GO(r->ctx, LAUNCH(r, "keys_decide", args));
done:
    return status;
}

static spry_status join(const rounds *r, device_memory *aggregate)
{
    device_memory *near_by = r->once; /* has room enough */
    const device_matrix *S = r->S;
    const device_arg first[] = {DEVICE_VALUE(r->rows),         device_arg_memory(S->offsets),
                                device_arg_memory(S->columns), device_arg_memory(r->keys),
                                device_arg_memory(r->numbers), device_arg_memory(near_by)};
    const device_arg second[] = {DEVICE_VALUE(r->rows),         device_arg_memory(S->offsets),
                                 device_arg_memory(S->columns), device_arg_memory(S->values),
                                 device_arg_memory(near_by),    device_arg_memory(aggregate)};
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(r->ctx, LAUNCH(r, "join_near", first));
    SPRY_GO(r->ctx, LAUNCH(r, "join_far", second));
done:
    return status;
}

spry_status device_aggregate(const device_matrix *S, bool alone, device_memory *aggregate,
                             int64_t *count)
{
    const int32_t stands_alone = alone;
    rounds r = {0};
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(S->d->ctx, rounds_open(S, &r));
    const device_arg args[] = {DEVICE_VALUE(r.rows), device_arg_memory(S->offsets),
                               device_arg_memory(S->columns), DEVICE_VALUE(stands_alone),
                               device_arg_memory(r.keys)};
    SPRY_GO(r.ctx, LAUNCH(&r, "keys_start", args));
    SPRY_GO(r.ctx, repeat(&r, aggregate_round));
    SPRY_GO(r.ctx, number_chosen(&r, count));
    SPRY_GO(r.ctx, join(&r, aggregate));
done:
    rounds_close(&r);
    return status;
}
