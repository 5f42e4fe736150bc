/* Hub columns: see hubs.h. */
#include "device/hubs.h"

#include "device/make.h"

enum {
    ROOM = 64 << 10,     /* bytes of x that hubs may have: less than the cache next to work-items */
    LEAST_X = 512 << 10, /* of an x that does not fit there anyway */
    SAMPLE = 4 << 20,    /* entries that are counted */
    SIDE_BY_SIDE = 32,   /* of them */
    BINS = 128
};

/* The part of all entries that hubs must have: a kernel more and the look at each name are to be
 * paid for, and a cache that is left to all holds of any x what it has room for, say twice ROOM. */
static double least_part(int64_t room, int64_t cols)
{
    return 0.15 + 2 * (double)room / (double)cols;
}

static bool is_likely(const spry_device *d, spry_type type, int64_t cols)
{
    if (d->hubs_from == 0 && d->facts.processor)
        return false; /* whose cores have caches that hold as much as is worth it */
    return cols * (int64_t)spry_type_size(type) >= (d->hubs_from > 0 ? d->hubs_from : LEAST_X);
}

static spry_status build(spry_device *d, spry_type type, device_program **p)
{
    char constants[32];
    snprintf(constants, sizeof constants, "-DBINS=%d", BINS);
    return device_matrix_build(d, type, MAKE_GROUP, "hubs", constants, p);
}

void device_hubs_foresee(spry_device *d, spry_type type, int64_t cols)
{
    if (is_likely(d, type, cols))
        (void)build(d, type, NULL);
}

void device_hubs_free(device_hubs *h)
{
    device_free(h->columns);
    device_free(h->list);
    device_free(h->x);
    *h = (device_hubs){0};
}

/* The degrees of columns in the sample, and how many columns are in each bin of degrees. */
static spry_status count_degrees(spry_device *d, device_program *p, int64_t cols, int64_t entries,
                                 int64_t *sample, const device_memory *columns,
                                 device_memory **degrees, int32_t bins[BINS])
{
    device_memory *counts = NULL;
    const int64_t step = (entries + SAMPLE - 1) / SAMPLE;
    const int64_t blocks = (entries + SIDE_BY_SIDE * step - 1) / (SIDE_BY_SIDE * step);
    const int64_t items = blocks * SIDE_BY_SIDE;
    spry_status status = SPRY_STATUS_OK;
    *sample = items < entries ? items : entries;
    SPRY_GO(d->ctx, make_cleared(d, cols, sizeof(int32_t), degrees));
    SPRY_GO(d->ctx, make_cleared(d, BINS, sizeof(int32_t), &counts));
    const device_arg count[] = {DEVICE_VALUE(items),         DEVICE_VALUE(step),
                                DEVICE_VALUE(entries),       device_arg_memory(columns),
                                device_arg_memory(*degrees), {0}};
    SPRY_GO(d->ctx, make_launch(p, "hub_count", items, count));
    const device_arg sort[] = {
        DEVICE_VALUE(cols), device_arg_memory(*degrees), device_arg_memory(counts), {0}};
    SPRY_GO(d->ctx, make_launch(p, "hub_bins", cols, sort));
    SPRY_GO(d->ctx, device_get(counts, 0, bins, BINS * (int64_t)sizeof *bins));
done:
    device_free(counts);
    return status;
}

/* The least bin whose columns are hubs, with all above it, and how many there are; 0: too few
 * entries would have them. A bin's columns count with its least degree. */
static int32_t choose_least(const int32_t bins[BINS], int64_t room, double needed, int64_t *count)
{
    double part = 0;
    int least = BINS;
    for (*count = 0; least > 0 && *count + bins[least - 1] <= room; *count += bins[least]) {
        least--;
        part += bins[least] * ldexp(4 + least % 4, least / 4 - 2);
    }
    if (part < needed)
        *count = 0;
    return least;
}

static spry_status name_hubs(spry_device *d, spry_type type, int64_t cols, int64_t entries,
                             int32_t least, const device_memory *columns, device_memory *names,
                             device_hubs *h)
{
    device_memory *count = NULL;
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(d->ctx, make_cleared(d, 1, sizeof(int32_t), &count));
    SPRY_GO(d->ctx, device_alloc(d, h->count * (int64_t)sizeof(int32_t), &h->list));
    SPRY_GO(d->ctx, device_alloc(d, h->count * (int64_t)spry_type_size(type), &h->x));
    SPRY_GO(d->ctx, device_alloc(d, entries * (int64_t)sizeof(int32_t), &h->columns));
    const device_arg name[] = {DEVICE_VALUE(cols),       DEVICE_VALUE(least),
                               device_arg_memory(names), device_arg_memory(h->list),
                               device_arg_memory(count), {0}};
    SPRY_GO(d->ctx, make_launch(h->program, "hub_names", cols, name));
    const device_arg rename[] = {DEVICE_VALUE(entries),
                                 device_arg_memory(names),
                                 device_arg_memory(columns),
                                 device_arg_memory(h->columns),
                                 {0}};
    SPRY_GO(d->ctx, make_launch(h->program, "hub_rename", entries, rename));
done:
    device_free(count);
    return status;
}

spry_status device_hubs_find(spry_device *d, spry_type type, int64_t cols, int64_t entries,
                             const device_memory *columns, device_hubs *h)
{
    char before[MESSAGE_SIZE];
    const int64_t room = ROOM / (int64_t)spry_type_size(type); /* in elements */
    device_memory *degrees = NULL;
    int64_t sample = 0;
    int32_t bins[BINS], least = 0;
    spry_status status = SPRY_STATUS_OK;
    *h = (device_hubs){0};
    if (entries == 0 || !is_likely(d, type, cols))
        return SPRY_STATUS_OK;
    memcpy(before, d->ctx->message, sizeof before);
    SPRY_GO(d->ctx, build(d, type, &h->program));
    SPRY_GO(d->ctx, count_degrees(d, h->program, cols, entries, &sample, columns, &degrees, bins));
    least = choose_least(bins, room, least_part(room, cols) * (double)sample, &h->count);
    if (h->count > 0)
        SPRY_GO(d->ctx, name_hubs(d, type, cols, entries, least, columns, degrees, h));
done:
    device_free(degrees);
    if (status != SPRY_STATUS_OK)
        device_hubs_free(h);
    if (status != SPRY_STATUS_NO_MEMORY)
        return status;
    memcpy(d->ctx->message, before, sizeof before); /* nothing failed for the caller */
    return SPRY_STATUS_OK;
}

spry_status device_hubs_gather(const device_hubs *h, const device_memory *x)
{
    const device_arg args[] = {DEVICE_VALUE(h->count),
                               device_arg_memory(h->list),
                               device_arg_memory(x),
                               device_arg_memory(h->x),
                               {0}};
    return make_launch(h->program, "hub_gather", h->count, args);
}
