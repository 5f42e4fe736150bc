/* ELLPACK and its kin made on a device: see device_make.h and formats/shared/columnwise.h. */
#include "formats/shared/device_columnwise_format.h"

#include "formats/shared/columnwise.h"
#include "formats/shared/device_make.h"

static spry_status build(const device_maker *m, device_program **p)
{
    char options[32];
    snprintf(options, sizeof options, "-DUNIT=%d", COLUMNWISE_UNIT);
    return make_build(m, "make_columnwise", options, p);
}

enum { BINS = 2048 };

static spry_status build_lengths(const device_maker *m, device_program **p)
{
    char options[32];
    snprintf(options, sizeof options, "-DBINS=%d", BINS);
    return make_build(m, "make_lengths", options, p);
}

/* What is laid out column by column. */
static spry_status fill(device_maker *m, device_program *p, device_memory *columns,
                        device_memory *values)
{
    const layout *L = m->L;
    const int32_t T = (int32_t)L->number[COLUMNWISE_T];
    const int64_t lines = L->number[COLUMNWISE_STRIDE], width = L->number[COLUMNWISE_WIDTH];
    const device_arg args[] = {DEVICE_VALUE(m->A->rows),
                               DEVICE_VALUE(lines),
                               DEVICE_VALUE(width),
                               DEVICE_VALUE(T),
                               device_arg_memory(m->A->offsets),
                               device_arg_memory(m->A->columns),
                               device_arg_memory(m->values),
                               device_arg_memory(columns),
                               device_arg_memory(values),
                               {0}};
    return width > 0 ? make_launch(p, "fill", lines, args) : SPRY_STATUS_OK;
}

static spry_status add_lengths(device_maker *m, device_program *p)
{
    const int64_t limit = m->L->number[COLUMNWISE_WIDTH] * m->L->number[COLUMNWISE_T];
    device_memory *lengths = NULL;
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(m->d->ctx,
            make_add(m, COLUMNWISE_LENGTHS, "lengths", m->A->rows, sizeof(int32_t), &lengths));
    const device_arg args[] = {DEVICE_VALUE(m->A->rows),
                               DEVICE_VALUE(limit),
                               device_arg_memory(m->A->offsets),
                               device_arg_memory(lengths),
                               {0}};
    SPRY_GO(m->d->ctx, make_launch(p, "kept_lengths", m->A->rows, args));
done:
    return status;
}

/* Values, columns, and lengths where they are read. */
static spry_status make_lines(device_maker *m, device_program *p, const columnwise_sizes *sizes,
                              device_memory **values, device_memory **columns)
{
    spry_context *ctx = m->d->ctx;
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(ctx, columnwise_describe(m->L, sizes));
    const int64_t stored = m->L->stored;
    SPRY_GO(ctx, make_add(m, COLUMNWISE_VALUES, "values", stored, m->size, values));
    SPRY_GO(ctx, make_add(m, COLUMNWISE_COLUMNS, "columns", stored, sizeof(int32_t), columns));
    if (sizes->lengths_read)
        SPRY_GO(ctx, add_lengths(m, p));
    else
        m->L->array[COLUMNWISE_LENGTHS].aside = true; /* as the host has them */
    SPRY_GO(ctx, fill(m, p, *columns, *values));
done:
    return status;
}

/* Rows distributed to T lines each. */
static spry_status make_all(device_maker *m, int64_t T, bool lengths_read)
{
    device_program *p = NULL;
    device_memory *values = NULL, *columns = NULL;
    int64_t longest = 0;
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(m->d->ctx, build(m, &p));
    SPRY_GO(m->d->ctx, make_longest(m, &longest));
    const columnwise_sizes sizes = {
        .T = T, .width = (longest + T - 1) / T, .lengths_read = lengths_read, .rest = -1};
    SPRY_GO(m->d->ctx, make_lines(m, p, &sizes, &values, &columns));
done:
    return status;
}

spry_status device_make_ell(device_maker *m)
{
    return make_all(m, 1, false);
}

spry_status device_make_ellr(device_maker *m)
{
    return make_all(m, 1, true);
}

spry_status device_make_ellr_t(device_maker *m)
{
    enum { LEAST_BS = 64 };
    const int64_t T = make_option(m, "T"), BS = make_option(m, "BS");
    if ((T & (T - 1)) != 0) {
        m->elsewhere = true; /* which reports it */
        return SPRY_STATUS_OK;
    }
    const spry_status status = make_all(m, T, true);
    layout_note(m->L, "T", T);
    if (BS > 0) {
        m->L->number[COLUMNWISE_BS] = LEAST_BS << (BS - 1);
        layout_note(m->L, "BS", m->L->number[COLUMNWISE_BS]);
    }
    return status;
}

/* --- hyb -----------------------------------------------------------------------------------------
 */

/* The width for the fewest bytes. */
static spry_status choose(const device_maker *m, int64_t *K)
{
    enum { GROUPS = 1024 };
    spry_context *ctx = m->d->ctx;
    const device_matrix *A = m->A;
    const int64_t most = columnwise_most(A->rows, A->nnz);
    const int32_t limit = (int32_t)most;
    device_program *p = NULL;
    device_memory *on_device = NULL;
    int32_t *counts = NULL;
    int64_t *wide = NULL;
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(ctx, build_lengths(m, &p));
    SPRY_GO(ctx, make_cleared(m->d, most + 1, sizeof *counts, &on_device));
    SPRY_GO(ctx, base_alloc(ctx, most + 1, sizeof *counts, &counts));
    SPRY_GO(ctx, base_alloc(ctx, most + 1, sizeof *wide, &wide));
    const device_arg args[] = {DEVICE_VALUE(A->rows),
                               device_arg_memory(A->offsets),
                               DEVICE_VALUE(limit),
                               device_arg_memory(on_device),
                               {0}};
    const int64_t groups = make_groups(A->rows) < GROUPS ? make_groups(A->rows) : GROUPS;
    SPRY_GO(ctx, make_launch(p, "count_lengths", groups * MAKE_GROUP, args));
    SPRY_GO(ctx, device_get(on_device, 0, counts, (most + 1) * (int64_t)sizeof *counts));
    for (int64_t k = 0; k <= most; k++)
        wide[k] = counts[k];
    *K = columnwise_choose(A->rows, A->nnz, m->size, wide);
done:
    device_free(on_device);
    base_free(ctx, counts);
    base_free(ctx, wide);
    return status;
}

/* Where each unit's other entries begin; how many on_device are. */
static spry_status count_rest(const device_maker *m, device_program *p, int64_t K,
                              device_memory **rest, int64_t *count)
{
    spry_context *ctx = m->d->ctx;
    const int64_t units = (m->A->rows + COLUMNWISE_UNIT - 1) / COLUMNWISE_UNIT;
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(ctx, make_cleared(m->d, units + 1, sizeof(int64_t), rest));
    const device_arg args[] = {DEVICE_VALUE(m->A->rows), DEVICE_VALUE(units),
                               DEVICE_VALUE(K),          device_arg_memory(m->A->offsets),
                               device_arg_memory(*rest), {0}};
    SPRY_GO(ctx, make_launch(p, "count_rest", units, args));
    SPRY_GO(ctx, device_sum_up(m->d, *rest, units + 1));
    SPRY_GO(ctx, make_look(*rest, units, count));
done:
    return status;
}

static spry_status fill_rest(const device_maker *m, device_program *p, const device_memory *rest,
                             const device_memory *rows, const device_memory *columns,
                             const device_memory *values)
{
    const layout *L = m->L;
    const int64_t K = L->number[COLUMNWISE_WIDTH];
    const int64_t base = L->stored - L->array[COLUMNWISE_REST_ROWS].count;
    const device_arg args[] = {DEVICE_VALUE(m->A->rows),
                               DEVICE_VALUE(K),
                               DEVICE_VALUE(base),
                               device_arg_memory(m->A->offsets),
                               device_arg_memory(m->A->columns),
                               device_arg_memory(m->values),
                               device_arg_memory(rest),
                               device_arg_memory(rows),
                               device_arg_memory(columns),
                               device_arg_memory(values),
                               {0}};
    return make_launch(p, "fill_rest", L->units * MAKE_GROUP, args);
}

spry_status device_make_hyb(device_maker *m)
{
    spry_context *ctx = m->d->ctx;
    device_program *p = NULL;
    device_memory *values = NULL, *columns = NULL, *rest = NULL, *rows = NULL;
    int64_t longest = 0, K = make_option(m, "K");
    columnwise_sizes sizes = {.T = 1};
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(ctx, build(m, &p));
    SPRY_GO(ctx, make_longest(m, &longest));
    if (K == 0)
        SPRY_GO(ctx, choose(m, &K));
    K = K < longest ? K : longest;
    layout_note(m->L, "K", K);
    SPRY_GO(ctx, count_rest(m, p, K, &rest, &sizes.rest));
    sizes.width = K;
    sizes.beyond = longest - K;
    SPRY_GO(ctx, make_lines(m, p, &sizes, &values, &columns));
    make_adopt(m, COLUMNWISE_REST, "rest", m->L->units + 1, sizeof(int64_t), rest);
    const device_memory *begins = rest;
    rest = NULL;
    SPRY_GO(ctx,
            make_add(m, COLUMNWISE_REST_ROWS, "rest_rows", sizes.rest, sizeof(int32_t), &rows));
    if (sizes.rest > 0)
        SPRY_GO(ctx, fill_rest(m, p, begins, rows, columns, values));
done:
    device_free(rest);
    return status;
}
