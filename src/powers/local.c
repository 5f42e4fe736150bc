/* Parts in the local memory of a device's groups; see local.h. */
#include "powers/local.h"

#include "device/linalg/vector.h"

/* As in device/kernels/powers.knl. */
enum { ADDS = 1, READS = 2, SCALES = 4, REMEMBERS = 8, FLAGS = 4 };
enum { ROWS_AT, ENDS_AT, COLUMNS_AT, WORDS, HEAD };

/* --- sizes ---------------------------------------------------------------------------------------
 */

int64_t powers_local_room(const spry_device *d, int64_t wanted)
{
    /* Places and entries of so few bytes are counted in 16 bits. CUDA's manual states what a group
     * takes besides its own. */
    enum { MOST = 256 << 10, RESERVED = 1 << 10 };
    const int64_t half = d->facts.unit_local / 2 - RESERVED;
    int64_t room = d->facts.most_local < half ? d->facts.most_local : half;
    room = room < MOST ? room : MOST;
    return wanted > 0 && wanted < room ? wanted : room;
}

/* Where the arrays of an image are, counted in numbers of the type. */
static void lay_out(const part *p, int depth, int64_t size, int64_t head[HEAD])
{
    const int64_t entries = p->entries[depth - 1], rows = p->layer[depth - 1];
    head[ROWS_AT] = entries;
    head[ENDS_AT] = head[ROWS_AT] + (p->layer[depth] * 4 + size - 1) / size;
    head[COLUMNS_AT] = head[ENDS_AT] + (rows * 2 + size - 1) / size;
    head[WORDS] = head[COLUMNS_AT] + (entries * 2 + size - 1) / size;
}

int64_t powers_local_image(const part *p, int depth, spry_type type)
{
    const int64_t size = (int64_t)spry_type_size(type);
    int64_t head[HEAD];
    lay_out(p, depth, size, head);
    return head[WORDS] * size;
}

int64_t powers_local_bytes(const part *p, int depth, spry_type type)
{
    return powers_local_image(p, depth, type) + 2 * p->layer[depth] * (int64_t)spry_type_size(type);
}

/* --- making --------------------------------------------------------------------------------------
 */

static void fill_image(const part *p, int depth, int64_t size, const int64_t *head, char *image)
{
    uint16_t *ends = (uint16_t *)(image + head[ENDS_AT] * size);
    uint16_t *columns = (uint16_t *)(image + head[COLUMNS_AT] * size);
    memset(image, 0, (size_t)(head[WORDS] * size));
    memcpy(image, p->values, (size_t)(p->entries[depth - 1] * size));
    memcpy(image + head[ROWS_AT] * size, p->rows, (size_t)p->layer[depth] * sizeof *p->rows);
    for (int64_t i = 0; i < p->layer[depth - 1]; i++)
        ends[i] = (uint16_t)p->offsets[i + 1];
    for (int64_t k = 0; k < p->entries[depth - 1]; k++)
        columns[k] = (uint16_t)p->columns[k];
}

/* The host's side of what the device is given. */
typedef struct local_tables {
    int64_t *starts; /* of images, in numbers of the type; one more than parts */
    int32_t *sizes;  /* of each part: where arrays are, then rows up to each layer */
    char *images;
} local_tables;

static spry_status fill_tables(spry_context *ctx, const part_set *set, local_tables *t)
{
    const int64_t size = (int64_t)spry_type_size(set->type), each = HEAD + set->depth + 1;
    spry_status status = SPRY_STATUS_OK;
    int64_t at = 0;
    SPRY_GO(ctx, base_alloc(ctx, set->count + 1, sizeof *t->starts, &t->starts));
    SPRY_GO(ctx, base_alloc(ctx, set->count * each, sizeof *t->sizes, &t->sizes));
    for (int32_t p = 0; p < set->count; p++) {
        t->starts[p] = at;
        at += powers_local_image(&set->parts[p], set->depth, set->type) / size;
    }
    t->starts[set->count] = at;
    SPRY_GO(ctx, base_alloc(ctx, at, (size_t)size, &t->images));
    for (int32_t p = 0; p < set->count; p++) {
        const part *from = &set->parts[p];
        int64_t head[HEAD];
        lay_out(from, set->depth, size, head);
        fill_image(from, set->depth, size, head, t->images + t->starts[p] * size);
        for (int i = 0; i < HEAD; i++)
            t->sizes[p * each + i] = (int32_t)head[i];
        for (int l = 0; l <= set->depth; l++)
            t->sizes[p * each + HEAD + l] = (int32_t)from->layer[l];
    }
done:
    return status;
}

static spry_status put(spry_device *d, const void *from, int64_t bytes, device_memory **to)
{
    const spry_status status = device_alloc(d, bytes, to);
    return status == SPRY_STATUS_OK ? device_put(*to, 0, from, bytes) : status;
}

static spry_status build(spry_device *d, int lanes, local_parts *local)
{
    enum { GROUP = 512, FEWER = 256, MANY = 64 }; /* bytes of sums that registers last for */
    const int64_t size = (int64_t)spry_type_size(local->type);
    char options[96];
    local->group = lanes * size > MANY ? FEWER : GROUP;
    if (local->group > d->facts.most_group)
        local->group = d->facts.most_group;
    snprintf(options, sizeof options, "-DSP_TYPE=%d -DSP_GROUP=%d -DLANES=%d -DROOM=%" PRId64,
             (int)local->type, local->group, lanes, local->room / size);
    return device_build_text(d, "powers", options, &local->program);
}

spry_status powers_local_make(spry_device *d, const part_set *set, int64_t room, int lanes,
                              local_parts *local)
{
    spry_context *ctx = d->ctx;
    const int64_t size = (int64_t)spry_type_size(set->type);
    local_tables t = {0};
    spry_status status = SPRY_STATUS_OK;
    *local = (local_parts){
        .type = set->type, .depth = set->depth, .count = set->count, .room = room / size * size};
    SPRY_GO(ctx, fill_tables(ctx, set, &t));
    const int64_t images = t.starts[set->count] * size,
                  starts = (set->count + 1) * (int64_t)sizeof *t.starts,
                  sizes = set->count * (HEAD + set->depth + 1) * (int64_t)sizeof *t.sizes;
    local->bytes = images + starts + sizes;
    SPRY_GO(ctx, put(d, t.images, images, &local->images));
    SPRY_GO(ctx, put(d, t.starts, starts, &local->starts));
    SPRY_GO(ctx, put(d, t.sizes, sizes, &local->sizes));
    SPRY_GO(ctx, device_alloc(d, sizeof local->put, &local->factors));
    SPRY_GO(ctx, device_clear(local->factors, 0, sizeof local->put));
    SPRY_GO(ctx, build(d, lanes, local));
done:
    base_free(ctx, t.images);
    base_free(ctx, t.starts);
    base_free(ctx, t.sizes);
    if (status != SPRY_STATUS_OK)
        powers_local_clear(local);
    return status;
}

void powers_local_clear(local_parts *local)
{
    device_free(local->images);
    device_free(local->starts);
    device_free(local->sizes);
    device_free(local->factors);
    *local = (local_parts){0};
}

/* --- running -------------------------------------------------------------------------------------
 */

static bool is_number(spry_scalar a, double re)
{
    return a.re == re && a.im == 0;
}

/* What a step does after the product, as operator_powers_plain() does it on devices. */
static int64_t flags_of(const power_step *step, bool before)
{
    const bool adds = !is_number(step->beta, 0);
    return (adds ? ADDS : 0) | (!is_number(step->alpha, 0) ? READS : 0) |
           (!adds && !is_number(step->alpha, 1) ? SCALES : 0) |
           (before && !is_number(step->gamma, 0) ? REMEMBERS : 0);
}

/* Where they are not those of the run before. */
static spry_status put_factors(local_parts *local, int count, const power_step *steps)
{
    spry_scalar factors[3 * MOST_POWERS] = {{0, 0}};
    double real[3 * MOST_POWERS];
    bool same = true;
    for (int j = 0; j < count; j++) {
        factors[3 * j] = steps[j].alpha;
        factors[3 * j + 1] = steps[j].beta;
        factors[3 * j + 2] = steps[j].gamma;
    }
    for (int k = 0; k < 3 * MOST_POWERS; k++) {
        same = same && factors[k].re == local->put[k].re && factors[k].im == local->put[k].im;
        real[k] = factors[k].re;
    }
    if (same)
        return SPRY_STATUS_OK;
    const spry_status status = spry_type_is_complex(local->type)
                                   ? device_put(local->factors, 0, factors, sizeof factors)
                                   : device_put(local->factors, 0, real, sizeof real);
    if (status == SPRY_STATUS_OK)
        memcpy(local->put, factors, sizeof factors);
    return status;
}

/* One launch: steps first..first+count-1, at most the depth. */
static spry_status run_pass(const local_parts *local, int first, int count, const power_step *steps,
                            const spry_vector *before, const spry_vector *x, spry_vector *const *v)
{
    static const spry_scalar one = {1, 0};
    device_arg args[12 + MOST_POWERS];
    uint64_t flags = 0; /* those of 16 steps take every bit */
    for (int j = 0; j < count; j++)
        flags |= (uint64_t)flags_of(&steps[j], before || j > 0) << (FLAGS * j);
    const int32_t remembers = before && (flags & REMEMBERS);
    int n = 0;
    args[n++] = DEVICE_VALUE(local->depth);
    args[n++] = DEVICE_VALUE(count);
    args[n++] = device_arg_memory(local->starts);
    args[n++] = device_arg_memory(local->sizes);
    args[n++] = device_arg_memory(local->images);
    args[n++] = DEVICE_VALUE(flags);
    args[n++] =
        (device_arg){NULL, &one, spry_type_is_complex(local->type) ? sizeof one : sizeof one.re};
    args[n++] = device_arg_memory(local->factors);
    args[n++] = DEVICE_VALUE(first);
    args[n++] = DEVICE_VALUE(remembers);
    args[n++] = device_arg_memory(remembers ? before->memory : NULL);
    args[n++] = device_arg_memory(x->memory);
    for (int j = 0; j < MOST_POWERS; j++)
        args[n++] = device_arg_memory(j < count ? v[j]->memory : NULL);
    return device_launch_local(local->program, "powers_parts", local->count, local->group,
                               local->room, args, n);
}

spry_status powers_local_run(local_parts *local, int count, const power_step *steps,
                             const spry_vector *x, spry_vector *const *v)
{
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(x->ctx, put_factors(local, count, steps));
    for (int j = 0; j < count; j += local->depth) {
        const int together = count - j < local->depth ? count - j : local->depth;
        const spry_vector *before = j > 1 ? v[j - 2] : j == 1 ? x : NULL;
        SPRY_GO(x->ctx,
                run_pass(local, j, together, steps + j, before, j > 0 ? v[j - 1] : x, v + j));
    }
done:
    return status;
}
