/*
 * How the host goes through an array: lines side by side come into planes that stay in the first
 * cache, are transformed there and go back. Least traffic: the array once, and again for the axis
 * across planes; a pass there goes forth, times G, and back. Of several arrays each is moved as
 * often, and what they are multiplied with is read once for all.
 */
#include "grid/wave/wave.h"
#include "host/host.h"

/* Passes that are done plane by plane, or a single one by its blocks. */
typedef struct phase {
    const fourier *f;
    const wave_pass *passes;
    int count;
    bool by_planes;
} phase;

static int64_t over(int64_t n, int64_t by)
{
    return (n + by - 1) / by;
}

/* Blocks of lines of a pass, in a plane, or where it goes across them in all. */
static int64_t block_count(const wave_pass *p)
{
    const fourier *f = p->f;
    const int lanes = wave_lanes(f->type);
    const int64_t across = over(f->n[0], lanes);
    return p->axis == 0 ? over(f->n[1], lanes) : p->axis == 1 ? across : across * f->n[1];
}

/* The lines of a block and where the first one begins; x and y of that. */
static wave_lines block_lines(const wave_pass *p, int64_t block, int64_t at[2])
{
    const fourier *f = p->f;
    const int64_t lanes = wave_lanes(f->type), rows = f->n[0], across = over(rows, lanes);
    const int64_t left = p->axis == 0 ? f->n[1] - block * lanes : rows - block % across * lanes;
    at[0] = p->axis == 0 ? 0 : block % across * lanes;
    at[1] = p->axis == 0 ? block * lanes : block / across;
    return (wave_lines){.n = f->n[p->axis],
                        .count = (int)(left < lanes ? left : lanes),
                        .point = p->axis == 0   ? 1
                                 : p->axis == 1 ? rows
                                                : rows * f->n[1],
                        .line = p->axis == 0 ? rows : 1};
}

/* G for the lines of a block: the axis of the pass is the last one. */
static wave_green green_of(const wave_pass *p, const int64_t at[2])
{
    const fourier_green *g = p->green;
    const size_t size = spry_type_size(p->f->type) / 2;
    wave_green out = {
        .along = g->squares[p->axis], .base = -g->centre, .epsilon = g->epsilon, .scale = g->scale};
    if (p->axis > 0)
        out.across = (const char *)g->squares[0] + (size_t)at[0] * size;
    if (p->axis > 1)
        out.base += size == sizeof(float) ? (double)((const float *)g->squares[1])[at[1]]
                                          : ((const double *)g->squares[1])[at[1]];
    return out;
}

/* Some columns of a block; G of its lines is made once for them. */
static void run_block(const wave_pass *p, int64_t plane, int64_t block, range columns, char *room)
{
    const fourier *f = p->f;
    const wave_kernels *kernels = wave_kernels_for(f->ctx, f->type);
    int64_t at[2];
    const wave_lines lines = block_lines(p, block, at);
    const int64_t first = (plane * f->n[1] + at[1]) * f->n[0] + at[0];
    const int64_t bytes = first * (int64_t)spry_type_size(f->type);
    char *G = room + 4 * lines.n * WAVE_LINE_BYTES;
    if (p->green) {
        const wave_green g = green_of(p, at);
        kernels->green(lines.n, &g, G);
    }
#define AT(array) ((array) ? (const char *)(array) + bytes : NULL)
    for (int64_t c = columns.begin; c < columns.end; c++) {
        kernels->load(&lines, AT(p->from[c]), AT(p->before), p->inverse, room);
        int pair = kernels->transform(&f->side[p->axis], 0, room);
        if (p->green) {
            kernels->times(lines.n, G, pair, room);
            pair = kernels->transform(&f->side[p->axis], pair, room);
        }
        kernels->store(&lines, p->scale, AT(p->after), p->less ? AT(p->less[c]) : NULL,
                       p->green ? !p->inverse : p->inverse, pair, room, (char *)p->to[c] + bytes);
    }
#undef AT
}

/* Of planes each column goes through all passes while its plane is in the cache, and what they are
 * multiplied with stays there for the next. */
static void run_share(void *argument, int share, int shares)
{
    const phase *w = argument;
    const int64_t columns = w->passes->columns;
    char *room = w->f->room + share * w->f->share_bytes;
    const range part =
        base_share(w->by_planes ? w->f->n[2] : block_count(w->passes), shares, share, 1);
    for (int64_t i = part.begin; i < part.end; i++) {
        if (!w->by_planes) {
            run_block(w->passes, 0, i, (range){0, columns}, room);
            continue;
        }
        for (int64_t c = 0; c < columns; c++)
            for (int k = 0; k < w->count; k++)
                for (int64_t b = 0; b < block_count(&w->passes[k]); b++)
                    run_block(&w->passes[k], i, b, (range){c, c + 1}, room);
    }
}

void wave_run_passes(const fourier *f, int count, const wave_pass *passes)
{
    const int threads = host_threads(f->ctx, f->count * passes->columns);
    for (int k = 0; k < count;) {
        phase w = {.f = f, .passes = passes + k, .count = 1};
        w.by_planes = f->n[2] > 1 && passes[k].axis < 2;
        while (w.by_planes && k + w.count < count && passes[k + w.count].axis < 2)
            w.count++;
        base_share_out(f->ctx, threads < f->shares ? threads : f->shares, run_share, &w);
        k += w.count;
    }
}
