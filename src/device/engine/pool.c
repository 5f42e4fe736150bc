/*
 * Memory of a device. Drivers take long to give and take blocks, and some wait for all work before
 * they do, so blocks are kept and given again by size: sizes are rounded up to a power of two, or
 * for larger ones to an eighth of it, which wastes little and makes blocks fit. All work that uses
 * a block is on the device's stream, in order: who gets it next comes after who had it. When the
 * driver has no memory left, what is kept goes back and it is asked once more.
 */
#include "base/bytes.h"
#include "device/engine/engine.h"

#include <stdlib.h>

enum {
    STEPS = 8, /* sizes between two powers of two */
    CLASSES = 64 * STEPS,
    LEAST = 256,   /* bytes */
    FINE = 1 << 20 /* bytes from which on steps are eighths */
};

typedef struct device_pool {
    device_memory *idle[CLASSES]; /* by size */
    int64_t used, most;           /* bytes asked for: now, and at most so far */
    int64_t held;                 /* bytes of all blocks, idle ones included */
    int64_t kept;                 /* bytes of idle ones */
    int64_t limit;                /* bytes of all blocks at most; 0: as many as there are */
} device_pool;

/* The size of the block that holds `bytes`, and its place in the list of sizes. */
static int64_t block_size(int64_t bytes, int *class)
{
    int power = 8; /* LEAST */
    while (power < 62 && bytes > (int64_t)1 << power)
        power++;
    int64_t room = (int64_t)1 << power;
    *class = power * STEPS;
    if (room <= FINE)
        return room;
    const int64_t step = room / 2 / STEPS; /* above half of it */
    const int64_t steps = (bytes - room / 2 + step - 1) / step;
    *class = (power - 1) * STEPS + (int)steps; /* STEPS of them make the power itself */
    return room / 2 + steps * step;
}

spry_status device_pool_open(spry_device *d)
{
    spry_status status = SPRY_STATUS_OK;
    const char *limit = getenv("SPRY_DEVICE_MEMORY");
    SPRY_GO(d->ctx, base_calloc(d->ctx, 1, sizeof *d->pool, &d->pool));
    if (limit && *limit) {
        const char *end = limit + strlen(limit);
        int64_t bytes = 0;
        if (base_parse_int(limit, end, &bytes) != end || bytes < 0)
            status =
                SPRY_FAIL(d->ctx, SPRY_STATUS_BAD_USAGE,
                          "SPRY_DEVICE_MEMORY=%.40s: expected a number of bytes, 0 for all", limit);
        else
            device_limit_memory(d, bytes);
    }
done:
    return status;
}

/* Gives everything that is kept back to the driver; false: there was nothing. */
static bool trim(spry_device *d)
{
    device_pool *pool = d->pool;
    bool any = false;
    for (int i = 0; i < CLASSES; i++) {
        while (pool->idle[i]) {
            device_memory *m = pool->idle[i];
            pool->idle[i] = m->next;
            d->engine->release(d, m->block);
            pool->held -= m->room;
            pool->kept -= m->room;
            base_free(d->ctx, m);
            any = true;
        }
    }
    return any;
}

void device_limit_memory(spry_device *d, int64_t bytes)
{
    d->pool->limit = bytes;
    if (bytes > 0 && d->pool->held > bytes)
        trim(d); /* what is kept does not fit a device as small as that */
}

void device_pool_close(spry_device *d)
{
    if (!d->pool)
        return;
    trim(d);
    base_free(d->ctx, d->pool);
    d->pool = NULL;
}

static int64_t free_now(spry_device *d)
{
    int64_t now = -1;
    d->engine->memory(d, &now);
    if (now < 0) /* the driver does not say: what others use is unknown */
        now = d->facts.memory_bytes - d->pool->held;
    if (d->pool->limit > 0 && now > d->pool->limit - d->pool->held)
        now = d->pool->limit - d->pool->held;
    now += d->pool->kept;
    return now > 0 ? now : 0;
}

static spry_status no_memory(spry_device *d, int64_t bytes)
{
    char asked[BASE_BYTES], left[BASE_BYTES], all[BASE_BYTES], used[BASE_BYTES], most[BASE_BYTES];
    char block[96] = "";
    const int64_t whole = d->pool->limit > 0 ? d->pool->limit : d->facts.memory_bytes;
    if (d->facts.most_alloc > 0 && bytes > d->facts.most_alloc)
        snprintf(block, sizeof block, " (%s at most in one block, says its driver)",
                 base_bytes((double)d->facts.most_alloc, most));
    return SPRY_FAIL(d->ctx, SPRY_STATUS_NO_MEMORY,
                     "%s (%s): %s asked for, %s of %s are free%s, %s are used by this context; "
                     "try a type or format that takes fewer bytes, free other objects, or "
                     "compute on the cpu",
                     d->facts.name, d->facts.description, base_bytes((double)bytes, asked),
                     base_bytes((double)free_now(d), left), base_bytes((double)whole, all), block,
                     base_bytes((double)d->pool->used, used));
}

static spry_status ask(spry_device *d, device_memory *m)
{
    if (d->pool->limit > 0 && d->pool->held > d->pool->limit - m->room)
        return SPRY_STATUS_NO_MEMORY;
    return d->engine->allocate(d, m->room, &m->block);
}

static spry_status new_block(spry_device *d, device_memory *m)
{
    spry_status status = ask(d, m);
    if (status == SPRY_STATUS_NO_MEMORY && trim(d))
        status = ask(d, m);
    if (status == SPRY_STATUS_NO_MEMORY)
        return no_memory(d, m->bytes);
    if (status == SPRY_STATUS_OK)
        d->pool->held += m->room;
    return device_end(d, status);
}

/* The class of an idle block for `room` bytes, whose own is `class`: large ones may be a quarter
 * larger, as the driver takes longer to give another than many kernels run. CLASSES: there is none.
 */
static int find_idle(const device_pool *pool, int64_t room, int class)
{
    const int last = room > FINE ? class + STEPS / 4 : class;
    for (int k = class; k <= last && k < CLASSES; k++)
        if (pool->idle[k])
            return k;
    return CLASSES;
}

spry_status device_alloc(spry_device *d, int64_t bytes, device_memory **out)
{
    device_pool *pool = d->pool;
    spry_status status = SPRY_STATUS_OK;
    device_memory *m = NULL;
    int class = 0;
    *out = NULL;
    SPRY_GO(d->ctx, device_begin(d, WORK_ALLOC));
    if (bytes < 0 || bytes > INT64_MAX / 4) {
        status = no_memory(d, bytes < 0 ? INT64_MAX : bytes);
        goto done;
    }
    const int64_t room = block_size(bytes, &class);
    const int idle = bytes > 0 ? find_idle(pool, room, class) : CLASSES;
    if (idle < CLASSES) {
        m = pool->idle[idle];
        pool->idle[idle] = m->next;
        pool->kept -= m->room;
    } else {
        SPRY_GO(d->ctx, base_calloc(d->ctx, 1, sizeof *m, &m));
        m->d = d;
        m->bytes = bytes;
        m->room = bytes > 0 ? room : 0;
        if (bytes > 0)
            SPRY_GO(d->ctx, new_block(d, m));
    }
    m->bytes = bytes;
    m->next = NULL;
    pool->used += bytes;
    if (pool->used > pool->most)
        pool->most = pool->used;
    d->users++;
    *out = m;
    m = NULL;
done:
    base_free(d->ctx, m);
    return status;
}

spry_status device_borrow(spry_device *d, void *pointer, int64_t bytes, device_memory **out)
{
    spry_status status = SPRY_STATUS_OK;
    device_memory *m = NULL;
    *out = NULL;
    if (bytes < 0 || (bytes > 0 && !pointer)) {
        status = SPRY_FAIL(d->ctx, SPRY_STATUS_BAD_USAGE, "%s: %" PRId64 " bytes at %s",
                           d->facts.name, bytes, pointer ? "an address" : "no address");
        goto done;
    }
    SPRY_GO(d->ctx, base_calloc(d->ctx, 1, sizeof *m, &m));
    m->d = d;
    m->block = (engine_block)pointer;
    m->bytes = bytes;
    m->borrowed = true;
    d->users++;
    *out = m;
done:
    return status;
}

void device_free(device_memory *m)
{
    if (!m)
        return;
    spry_device *d = m->d;
    d->users--;
    if (m->borrowed || m->room == 0) {
        base_free(d->ctx, m);
        return;
    }
    int class = 0;
    (void)block_size(m->room, &class);
    d->pool->used -= m->bytes;
    m->next = d->pool->idle[class];
    d->pool->idle[class] = m;
    d->pool->kept += m->room;
}

void *device_address(const device_memory *m)
{
    return (void *)m->block;
}

void device_memory_now(spry_device *d, int64_t *used, int64_t *most, int64_t *free)
{
    *used = d->pool->used;
    *most = d->pool->most;
    if (free)
        *free = free_now(d);
}
