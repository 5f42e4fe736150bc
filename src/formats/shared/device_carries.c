/* What units carry: for each row the places of its sums, in the order of units. */
#include "formats/shared/device_carries.h"

#include "device/engine/staging.h"

spry_status device_copy_over(spry_device *d, const void *from, int64_t bytes, device_memory **m)
{
    const spry_status status = device_alloc(d, bytes, m);
    return status == SPRY_STATUS_OK ? device_put_large(*m, from, bytes) : status;
}

void device_carries_free(device_carries *c)
{
    device_free(c->row);
    device_free(c->start);
    device_free(c->place);
    device_free(c->sums);
    *c = (device_carries){0};
}

typedef struct carry_lists {
    int32_t *row, *start, *place;
    int rows;
} carry_lists;

/* Places sorted by row, and for each row in the order of units. */
static spry_status sort_carries(const layout *L, carry_lists *lists)
{
    spry_context *ctx = L->ctx;
    int32_t *at = NULL;
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(ctx, base_calloc(ctx, L->rows + 1, sizeof *at, &at));
    for (int64_t u = 0; u < L->units; u++)
        for (int64_t k = L->carry_at[u]; k < L->carry_at[u + 1]; k++)
            at[L->carry_row[u] + k - L->carry_at[u]]++;
    for (int64_t i = 0; i < L->rows; i++)
        lists->rows += at[i] > 0;
    SPRY_GO(ctx, base_alloc(ctx, lists->rows, sizeof *lists->row, &lists->row));
    SPRY_GO(ctx, base_alloc(ctx, lists->rows + 1, sizeof *lists->start, &lists->start));
    SPRY_GO(ctx, base_alloc(ctx, L->carry_at[L->units], sizeof *lists->place, &lists->place));
    int32_t used = 0, next = 0;
    for (int64_t i = 0; i < L->rows; i++)
        if (at[i] > 0) {
            lists->row[next] = (int32_t)i;
            lists->start[next++] = used;
            used += at[i];
            at[i] = used - at[i];
        }
    lists->start[next] = used;
    for (int64_t u = 0; u < L->units; u++)
        for (int64_t k = L->carry_at[u]; k < L->carry_at[u + 1]; k++)
            lists->place[at[L->carry_row[u] + k - L->carry_at[u]]++] = (int32_t)k;
done:
    base_free(ctx, at);
    return status;
}

spry_status device_carries_room(spry_device *d, spry_type type, device_carries *c, int columns)
{
    if (!c->any || c->sums_columns >= columns)
        return SPRY_STATUS_OK;
    device_free(c->sums);
    c->sums = NULL;
    c->sums_columns = 0;
    const spry_status status =
        device_alloc(d, c->count * columns * (int64_t)spry_type_size(type), &c->sums);
    if (status == SPRY_STATUS_OK)
        c->sums_columns = columns;
    return status;
}

spry_status device_carries_copy(spry_device *d, const layout *L, device_carries *c)
{
    spry_context *ctx = L->ctx;
    carry_lists lists = {0};
    spry_status status = SPRY_STATUS_OK;
    if (!L->carry_at)
        return SPRY_STATUS_OK;
    c->any = true;
    c->count = L->carry_at[L->units];
    if (c->count >= INT32_MAX)
        return SPRY_FAIL(ctx, SPRY_STATUS_UNSUPPORTED,
                         "format %s: units carry %" PRId64 " sums, more than devices count; take "
                         "csr",
                         L->class->name, c->count);
    SPRY_GO(ctx, sort_carries(L, &lists));
    c->rows = lists.rows;
    SPRY_GO(ctx, device_copy_over(d, lists.row, c->rows * (int64_t)sizeof *lists.row, &c->row));
    SPRY_GO(ctx, device_copy_over(d, lists.start, (c->rows + 1) * (int64_t)sizeof *lists.start,
                                  &c->start));
    SPRY_GO(ctx,
            device_copy_over(d, lists.place, c->count * (int64_t)sizeof *lists.place, &c->place));
    SPRY_GO(ctx, device_carries_room(d, L->type, c, 1));
done:
    base_free(ctx, lists.row);
    base_free(ctx, lists.start);
    base_free(ctx, lists.place);
    return status;
}
