/* Powers of a matrix that stays in its file: the object. */
#include "powers/powers.h"

static bool keeps(const spry_powers *p, int64_t bytes)
{
    const int64_t memory = base_machine_memory();
    return p->options.keep == KEEP_YES ||
           (p->options.keep == KEEP_AUTO && (memory == 0 || bytes < memory / 2));
}

/* Bytes for the ring of rows. */
static int64_t ring_memory(const spry_powers *p)
{
    enum { UNKNOWN = 1 << 28 };
    const int64_t all = base_machine_memory();
    return p->options.memory > 0 ? p->options.memory : all > 0 ? all / 4 : UNKNOWN;
}

/* The file alone counts: it is slower than all else. */
static void forecast(spry_powers *p)
{
    spry_powers_info *info = &p->way.info;
    const stream *s = p->file;
    const int k = (int)p->options.k, passes = (k + s->depth - 1) / s->depth;
    *info =
        (spry_powers_info){.cut = "rows",
                           .steps = k,
                           .depth = s->depth,
                           .parts = 1,
                           .part_bytes = skew_window_blocks(&s->blocks, s->depth) * s->slot_bytes,
                           .memory = s->slots * s->slot_bytes,
                           .plain_bytes = k * s->bytes,
                           .bytes = passes * s->bytes,
                           .gain = (double)k / passes};
    snprintf(info->schedule, sizeof info->schedule, "%s", s->depth > 1 ? "skewed" : "plain");
}

spry_status spry_powers_open(spry_context *ctx, const char *path, const char *options,
                             spry_powers **out)
{
    SPRY_NEED(ctx, ctx, path, out);
    spry_powers *p = NULL;
    spry_status status = SPRY_STATUS_OK;
    *out = NULL;
    SPRY_GO(ctx, powers_begin(ctx, options, &p));
    SPRY_GO(ctx, powers_need_all(p));
    if (strcmp(p->options.device, "cpu") != 0)
        SPRY_GO(ctx, SPRY_FAIL(ctx, SPRY_STATUS_UNSUPPORTED,
                               "%s: powers from files are made by processors: device=cpu", path));
    if (p->options.schedule == SCHEDULE_PARTS || p->options.cut == CUT_RCM ||
        p->options.cut == CUT_METIS)
        SPRY_GO(ctx, SPRY_FAIL(ctx, SPRY_STATUS_UNSUPPORTED,
                               "%s: a file is read in its order: schedule=skewed or plain, "
                               "cut=rows; `spry convert --reorder rcm` writes it in another one",
                               path));
    const int64_t deepest = p->options.schedule == SCHEDULE_PLAIN ? 1
                            : p->options.depth > 0                ? p->options.depth
                                                                  : p->options.k;
    const int most = (int)(deepest < p->options.k ? deepest : p->options.k);
    SPRY_GO(ctx,
            stream_open(ctx, path, most, ring_memory(p), p->options.keep != KEEP_NO, &p->file));
    p->file->keeps = keeps(p, p->file->bytes);
    p->type = p->file->sizes.type;
    p->n = p->file->sizes.rows;
    forecast(p);
done:
    return powers_end(ctx, status, p, out);
}
