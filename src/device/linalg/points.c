/* Coarse and fine points of matrices in a device's memory: see setup.h. */
#include "device/linalg/setup.h"

enum { GROUP = 256, FIRST_ROUNDS = 4, MORE_ROUNDS = 2, MOST_ROUNDS = 1000 };

spry_status device_points_build(spry_device *d, spry_type type, device_program **p)
{
    return device_matrix_build(d, type, GROUP, "lengths points", "", p);
}

spry_status device_points_launch(device_program *p, const char *kernel, int64_t rows,
                                 const device_arg *args, int count)
{
    return device_launch(p, kernel, NULL, (rows + GROUP - 1) / GROUP, GROUP, args, count);
}

#define LAUNCH(p, kernel, rows, args) \
    device_points_launch(p, kernel, rows, args, (int)(sizeof(args) / sizeof *(args)))

/* --- points --------------------------------------------------------------------------------------
 */

void device_points_free(device_points *p)
{
    device_free(p->lengths);
    device_free(p->depends);
    device_free(p->coarse);
    device_free(p->map);
    *p = (device_points){0};
}

/* What the rounds need. */
typedef struct rounds {
    const device_matrix *A;
    device_program *p;
    int32_t rows;
    device_memory *depends, *depending, *keys, *state, *beaten, *left, *numbers;
} rounds;

static void rounds_close(rounds *r)
{
    device_free(r->depends);
    device_free(r->depending);
    device_free(r->keys);
    device_free(r->state);
    device_free(r->beaten);
    device_free(r->left);
    device_free(r->numbers);
}

static spry_status rounds_open(const device_matrix *A, rounds *r)
{
    spry_device *d = A->d;
    const int64_t ints = A->rows * (int64_t)sizeof(int32_t),
                  wide = A->rows * (int64_t)sizeof(int64_t);
    spry_status status = SPRY_STATUS_OK;
    *r = (rounds){.A = A, .rows = (int32_t)A->rows};
    if (A->rows != A->cols)
        return SPRY_FAIL(d->ctx, SPRY_STATUS_BAD_USAGE,
                         "points are those of square matrices, not of %" PRId64 " x %" PRId64,
                         A->rows, A->cols);
    SPRY_GO(d->ctx, device_points_build(d, A->type, &r->p));
    SPRY_GO(d->ctx, device_alloc(d, A->nnz * (int64_t)sizeof(int32_t), &r->depends));
    SPRY_GO(d->ctx, device_alloc(d, ints, &r->depending));
    SPRY_GO(d->ctx, device_alloc(d, wide, &r->keys));
    SPRY_GO(d->ctx, device_alloc(d, ints, &r->state));
    SPRY_GO(d->ctx, device_alloc(d, ints, &r->beaten));
    SPRY_GO(d->ctx, device_alloc(d, sizeof(int32_t), &r->left));
    SPRY_GO(d->ctx, device_alloc(d, wide + (int64_t)sizeof(int64_t), &r->numbers));
done:
    return status;
}

/* What rows depend on, and the points' keys. */
static spry_status weigh(const rounds *r, double theta, double dominance,
                         const device_memory *lengths)
{
    const device_matrix *A = r->A;
    spry_context *ctx = A->d->ctx;
    const device_arg depend[] = {DEVICE_VALUE(r->rows),
                                 device_arg_memory(A->offsets),
                                 device_arg_memory(A->columns),
                                 device_arg_memory(A->values),
                                 DEVICE_VALUE(theta),
                                 DEVICE_VALUE(dominance),
                                 device_arg_memory(lengths),
                                 device_arg_memory(r->depends),
                                 device_arg_memory(r->depending)};
    const device_arg weights[] = {DEVICE_VALUE(r->rows),           device_arg_memory(lengths),
                                  device_arg_memory(r->depending), device_arg_memory(r->keys),
                                  device_arg_memory(r->state),     device_arg_memory(r->beaten)};
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(ctx, device_clear(r->depending, 0, A->rows * (int64_t)sizeof(int32_t)));
    SPRY_GO(ctx, LAUNCH(r->p, "points_depend", A->rows, depend));
    SPRY_GO(ctx, LAUNCH(r->p, "points_weigh", A->rows, weights));
done:
    return status;
}

static spry_status run_round(const rounds *r, int32_t round, const device_memory *lengths)
{
    const device_matrix *A = r->A;
    const device_arg compare[] = {DEVICE_VALUE(r->rows),         DEVICE_VALUE(round),
                                  device_arg_memory(A->offsets), device_arg_memory(lengths),
                                  device_arg_memory(r->depends), device_arg_memory(r->keys),
                                  device_arg_memory(r->state),   device_arg_memory(r->beaten)};
    const device_arg decide[] = {DEVICE_VALUE(r->rows),         DEVICE_VALUE(round),
                                 device_arg_memory(A->offsets), device_arg_memory(lengths),
                                 device_arg_memory(r->depends), device_arg_memory(r->beaten),
                                 device_arg_memory(r->state),   device_arg_memory(r->left)};
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(A->d->ctx, LAUNCH(r->p, "points_compare", A->rows, compare));
    SPRY_GO(A->d->ctx, LAUNCH(r->p, "points_decide", A->rows, decide));
done:
    return status;
}

/* Rounds until no point is open; the host asks after some of them only, as a needless round costs
 * less than an answer. */
static spry_status choose(const rounds *r, const device_memory *lengths)
{
    spry_context *ctx = r->A->d->ctx;
    int32_t left = 1;
    spry_status status = SPRY_STATUS_OK;
    for (int32_t round = 1, asks = FIRST_ROUNDS; left && round <= MOST_ROUNDS; round++) {
        if (round == asks)
            SPRY_GO(ctx, device_clear(r->left, 0, sizeof left));
        SPRY_GO(ctx, run_round(r, round, lengths));
        if (round == asks) {
            SPRY_GO(ctx, device_get(r->left, 0, &left, sizeof left));
            asks += MORE_ROUNDS;
        }
    }
    if (left)
        status = SPRY_FAIL(ctx, SPRY_STATUS_UNSUPPORTED,
                           "coarse points of %d rows are not found after %d rounds", r->rows,
                           MOST_ROUNDS);
done:
    return status;
}

/* Numbers for coarse points, and what rows depend on, parted. */
static spry_status number(const rounds *r, device_points *p)
{
    const device_matrix *A = r->A;
    spry_context *ctx = A->d->ctx;
    const device_arg numbers[] = {DEVICE_VALUE(r->rows), device_arg_memory(r->state),
                                  device_arg_memory(r->numbers)};
    const device_arg part[] = {DEVICE_VALUE(r->rows),         device_arg_memory(A->offsets),
                               device_arg_memory(p->lengths), device_arg_memory(r->depends),
                               device_arg_memory(r->state),   device_arg_memory(r->numbers),
                               device_arg_memory(p->map),     device_arg_memory(p->coarse),
                               device_arg_memory(p->depends)};
    const int64_t last = A->rows * (int64_t)sizeof p->count;
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(ctx, LAUNCH(r->p, "points_number", A->rows, numbers));
    SPRY_GO(ctx, device_sum_up(A->d, r->numbers, A->rows + 1));
    SPRY_GO(ctx, LAUNCH(r->p, "points_part", A->rows, part));
    SPRY_GO(ctx, device_get(r->numbers, last, &p->count, sizeof p->count));
done:
    return status;
}

spry_status device_points_make(const device_matrix *A, double theta, double dominance,
                               device_points *out)
{
    spry_device *d = A->d;
    const int64_t ints = A->rows * (int64_t)sizeof(int32_t);
    device_points p = {0};
    rounds r = {0};
    spry_status status = SPRY_STATUS_OK;
    *out = p;
    if (A->rows == 0)
        return SPRY_STATUS_OK;
    SPRY_GO(d->ctx, rounds_open(A, &r));
    SPRY_GO(d->ctx, device_alloc(d, ints, &p.lengths));
    SPRY_GO(d->ctx, device_alloc(d, ints, &p.coarse));
    SPRY_GO(d->ctx, device_alloc(d, ints, &p.map));
    SPRY_GO(d->ctx, device_alloc(d, A->nnz * (int64_t)sizeof(int32_t), &p.depends));
    SPRY_GO(d->ctx, weigh(&r, theta, dominance, p.lengths));
    SPRY_GO(d->ctx, choose(&r, p.lengths));
    SPRY_GO(d->ctx, number(&r, &p));
    *out = p;
    p = (device_points){0};
done:
    rounds_close(&r);
    device_points_free(&p);
    return status;
}

spry_status device_matrix_pick(const device_matrix *A, const device_points *points,
                               device_matrix *out)
{
    spry_context *ctx = A->d->ctx;
    const int32_t rows = (int32_t)A->rows;
    device_program *p = NULL;
    device_matrix picked = {0};
    spry_status status = SPRY_STATUS_OK;
    *out = picked;
    SPRY_GO(ctx, device_points_build(A->d, A->type, &p));
    SPRY_GO(ctx, device_matrix_new(A->d, A->type, points->count, A->cols, &picked));
    const device_arg lengths[] = {DEVICE_VALUE(rows), device_arg_memory(A->offsets),
                                  device_arg_memory(points->map),
                                  device_arg_memory(picked.offsets)};
    SPRY_GO(ctx, LAUNCH(p, "pick_lengths", A->rows, lengths));
    SPRY_GO(ctx, device_matrix_allocate(&picked));
    const device_arg fill[] = {DEVICE_VALUE(rows),
                               device_arg_memory(A->offsets),
                               device_arg_memory(A->columns),
                               device_arg_memory(A->values),
                               device_arg_memory(points->map),
                               device_arg_memory(picked.offsets),
                               device_arg_memory(picked.columns),
                               device_arg_memory(picked.values)};
    SPRY_GO(ctx, LAUNCH(p, "pick_rows", A->rows, fill));
    *out = picked;
    picked = (device_matrix){0};
done:
    device_matrix_free(&picked);
    return status;
}
