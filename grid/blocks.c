/* Cutting grids into blocks, and what a rank needs of others around its own. */
#include "grid/blocks.h"

#include <stdlib.h>

/* --- cuts ----------------------------------------------------------------------------------------
 */

/* The first unknown of block p of an axis. Those of a grid with half the intervals lie on points
 * that this one has, and belong to the same rank. */
static int64_t cut_at(const grid_axis *axis, int p)
{
    const int ranks = axis->ranks > 1 ? axis->ranks : 1;
    if (p <= 0 || p >= ranks)
        return p <= 0 ? 0 : axis->unknowns;
    const int64_t even = axis->cut_unknowns / ranks * p + axis->cut_unknowns % ranks * p / ranks;
    const int64_t cut = even / axis->cut_unit * axis->cut_unit, step = (int64_t)1 << axis->halved;
    return (cut + axis->first + step - 1) / step - axis->first;
}

/* The block of an axis that has an unknown. */
static int block_with(const grid_axis *axis, int64_t k)
{
    int low = 0, high = axis->ranks > 1 ? axis->ranks : 1; /* cut_at(low) <= k < cut_at(high) */
    while (high - low > 1) {
        const int middle = low + (high - low) / 2;
        if (cut_at(axis, middle) <= k)
            low = middle;
        else
            high = middle;
    }
    return low;
}

/* Block p of an axis, of unknowns or points. */
static range block_of(const grid_axis *axis, bool all_points, int p)
{
    const int last = axis->ranks > 1 ? axis->ranks - 1 : 0;
    range r = {cut_at(axis, p), cut_at(axis, p + 1)};
    if (all_points) {
        r.begin = p == 0 ? 0 : r.begin + axis->first;
        r.end = p == last ? axis->points : r.end + axis->first;
    }
    return r;
}

static grid_box block_at(const grid_shape *shape, bool all_points, const int p[GRID_AXES])
{
    grid_box b;
    for (int a = 0; a < GRID_AXES; a++) {
        const range r = block_of(&shape->axis[a], all_points, p[a]);
        b.begin[a] = r.begin;
        b.end[a] = r.end;
    }
    return b;
}

static grid_box block_of_rank(const grid_shape *shape, bool all_points, int rank)
{
    int p[GRID_AXES];
    for (int a = 0; a < GRID_AXES; a++) {
        const int ranks = shape->axis[a].ranks > 1 ? shape->axis[a].ranks : 1;
        p[a] = rank % ranks;
        rank /= ranks;
    }
    return block_at(shape, all_points, p);
}

bool grid_is_cut(const grid_shape *shape)
{
    for (int a = 0; a < GRID_AXES; a++)
        if (shape->axis[a].ranks > 1)
            return true;
    return false;
}

void grid_join(grid_shape *shape)
{
    for (int a = 0; a < GRID_AXES; a++)
        shape->axis[a].ranks = 0;
}

grid_box grid_whole(const grid_shape *shape, bool all_points)
{
    grid_box b = {0};
    for (int a = 0; a < GRID_AXES; a++)
        b.end[a] = all_points ? shape->axis[a].points : shape->axis[a].unknowns;
    return b;
}

grid_box grid_own(const spry_context *ctx, const grid_shape *shape, bool all_points)
{
    return grid_is_cut(shape) ? block_of_rank(shape, all_points, team_rank(ctx))
                              : grid_whole(shape, all_points);
}

grid_box grid_wider(const grid_shape *shape, bool all_points, const grid_box *box,
                    const int64_t width[GRID_AXES])
{
    const grid_box whole = grid_whole(shape, all_points);
    grid_box wide = *box;
    for (int a = 0; a < GRID_AXES; a++) {
        const grid_axis *axis = &shape->axis[a];
        if (axis->ranks <= 1)
            continue;
        wide.begin[a] -= width[a];
        wide.end[a] += width[a];
        if (axis->face[0] == GRID_PERIODIC)
            continue;
        wide.begin[a] = wide.begin[a] > 0 ? wide.begin[a] : 0;
        wide.end[a] = wide.end[a] < whole.end[a] ? wide.end[a] : whole.end[a];
    }
    return wide;
}

spry_status grid_starts(spry_context *ctx, const grid_shape *shape, bool all_points,
                        int64_t **starts)
{
    const int ranks = team_ranks(ctx);
    const spry_status status = base_alloc(ctx, (int64_t)ranks + 1, sizeof **starts, starts);
    for (int r = 0; r <= ranks && status == SPRY_STATUS_OK; r++) {
        const grid_box before = block_of_rank(shape, all_points, r > 0 ? r - 1 : 0);
        (*starts)[r] = r > 0 ? (*starts)[r - 1] + box_count(&before) : 0;
    }
    return status;
}

vector_part grid_part(const spry_context *ctx, const grid_shape *shape, bool all_points)
{
    vector_part part = {0};
    if (!grid_is_cut(shape))
        return part;
    part.is = true;
    part.all = all_points ? shape->points : shape->unknowns;
    for (int r = 0; r < team_rank(ctx); r++) {
        const grid_box b = block_of_rank(shape, all_points, r);
        part.first += box_count(&b);
    }
    return part;
}

int64_t grid_number(const grid_shape *shape, bool all_points, const int64_t *starts,
                    const int64_t at[GRID_AXES])
{
    int64_t inside[GRID_AXES];
    int p[GRID_AXES], rank = 0;
    for (int a = GRID_AXES - 1; a >= 0; a--) {
        const grid_axis *axis = &shape->axis[a];
        const int64_t n = all_points ? axis->points : axis->unknowns;
        inside[a] = at[a];
        if (axis->face[0] == GRID_PERIODIC && axis->intervals > 0)
            inside[a] = (at[a] % n + n) % n;
        int64_t k = inside[a] - (all_points ? axis->first : 0); /* the unknown there, or nearest */
        k = k < 0 ? 0 : k >= axis->unknowns ? axis->unknowns - 1 : k;
        p[a] = block_with(axis, k);
        if (all_points && inside[a] < axis->first) /* at the ends: who has the first, the last */
            p[a] = 0;
        if (all_points && inside[a] >= axis->first + axis->unknowns)
            p[a] = axis->ranks > 1 ? axis->ranks - 1 : 0;
        rank = rank * (axis->ranks > 1 ? axis->ranks : 1) + p[a];
    }
    const grid_box b = block_at(shape, all_points, p);
    return starts[rank] + box_place(&b, inside);
}

/* --- how many along which axis -------------------------------------------------------------------
 */

/* Numbers that go over the cuts, where each of p ranks per axis has a block as even as can be;
 * lines along x are left whole as long as another axis can be cut. */
static double faces_of(const grid_shape *shape, const int p[GRID_AXES])
{
    double sum = 0;
    for (int a = 0; a < GRID_AXES; a++) { /* one that is not there has one unknown */
        const double n = (double)shape->axis[a].unknowns;
        if (p[a] > n)
            return INFINITY;
        const double face = (double)shape->unknowns / n;
        sum += (p[a] - 1) * face * (a == 0 && shape->dimensions > 1 ? 8 : 1);
    }
    return sum;
}

/* The cuts with the smallest faces; of equal ones those along slow axes. */
static void choose_ranks(const grid_shape *shape, int ranks, int best[GRID_AXES])
{
    double least = INFINITY;
    const int slow = shape->dimensions - 1;
    best[0] = best[1] = best[2] = 1;
    best[slow] = ranks; /* where there are more ranks than can have an unknown */
    for (int x = 1; x <= ranks; x++)
        for (int y = 1; ranks % x == 0 && y <= ranks / x; y++) {
            const int p[GRID_AXES] = {x, y, ranks / x / y};
            const double size = ranks / x % y == 0 ? faces_of(shape, p) : INFINITY;
            if (size < least) {
                least = size;
                memcpy(best, p, sizeof p);
            }
        }
}

static spry_status read_ranks(spry_context *ctx, const char *text, const grid_shape *shape,
                              int p[GRID_AXES])
{
    const char *at = text, *end = text + strlen(text);
    int64_t all = 1;
    for (int a = 0; a < GRID_AXES; a++)
        p[a] = 1;
    for (int a = 0; a < shape->dimensions && at; a++) {
        int64_t n = 0;
        at = base_parse_int(at, end, &n);
        at = at && n >= 1 && n <= team_ranks(ctx) ? at : NULL;
        if (at && a + 1 < shape->dimensions)
            at = at < end && *at == 'x' ? at + 1 : NULL;
        if (at) {
            p[a] = (int)n;
            all *= n;
        }
    }
    if (at != end)
        return SPRY_FAIL(ctx, SPRY_STATUS_BAD_USAGE,
                         "ranks=%s: expected auto, none, or a number of 1 to %d for each of the %d "
                         "axes, as in %s",
                         text, team_ranks(ctx), shape->dimensions,
                         shape->dimensions == 1   ? "4"
                         : shape->dimensions == 2 ? "2x2"
                                                  : "1x2x2");
    if (all != team_ranks(ctx))
        return SPRY_FAIL(ctx, SPRY_STATUS_BAD_USAGE,
                         "ranks=%s makes %" PRId64 " blocks, there are %d ranks", text, all,
                         team_ranks(ctx));
    return SPRY_STATUS_OK;
}

/* Reductions of all ranks are those of one where no first chunk is cut: so cuts lie across the
 * slowest axis alone, at planes that begin with a chunk. */
static spry_status cut_strictly(spry_context *ctx, const char *text, grid_shape *shape,
                                const int p[GRID_AXES])
{
    const int slow = shape->dimensions - 1;
    const int64_t plane = shape->unknowns / shape->axis[slow].unknowns;
    int64_t unit = VECTOR_CHUNK;
    for (int a = 0; a < slow; a++)
        if (p[a] > 1)
            return SPRY_FAIL(ctx, SPRY_STATUS_BAD_USAGE,
                             "ranks=%s: with repeat=strict a grid is cut along %c alone", text,
                             "xyz"[slow]);
    while (unit > 1 && plane * (unit / 2) % VECTOR_CHUNK == 0)
        unit /= 2;
    shape->axis[slow].cut_unit = unit;
    bool empty = false;
    for (int k = 0; k < p[slow]; k++)
        empty = empty || cut_at(&shape->axis[slow], k) == cut_at(&shape->axis[slow], k + 1);
    if (empty)
        base_log(
            ctx, SPRY_LOG_WARNING,
            "repeat=strict: ranks begin with a multiple of %d unknowns, which planes of %" PRId64
            " have after %" PRId64 " of them: some ranks have none",
            VECTOR_CHUNK, plane, unit);
    return SPRY_STATUS_OK;
}

spry_status grid_cut(spry_context *ctx, const char *text, grid_shape *shape)
{
    const bool strict = ctx->options.repeat == REPEAT_STRICT, chosen = strcmp(text, "auto") == 0;
    int p[GRID_AXES];
    spry_status status = SPRY_STATUS_OK;
    if (strcmp(text, "none") == 0 || (chosen && team_ranks(ctx) == 1))
        return status;
    if (!chosen)
        status = read_ranks(ctx, text, shape, p);
    else
        choose_ranks(shape, team_ranks(ctx), p);
    if (chosen && strict) {
        p[0] = p[1] = p[2] = 1;
        p[shape->dimensions - 1] = team_ranks(ctx);
    }
    for (int a = 0; a < GRID_AXES && status == SPRY_STATUS_OK; a++) {
        shape->axis[a].ranks = p[a];
        shape->axis[a].cut_unknowns = shape->axis[a].unknowns;
        shape->axis[a].cut_unit = 1;
    }
    if (status == SPRY_STATUS_OK && strict)
        status = cut_strictly(ctx, text, shape, p);
    return status;
}

/* --- halos ---------------------------------------------------------------------------------------
 */

void grid_halo_clear(grid_halo *h)
{
    spry_context *ctx = h->halo.ctx;
    if (!ctx)
        return;
    base_free(ctx, h->place);
    base_free(ctx, h->from);
    base_free(ctx, h->to);
    base_free(ctx, h->brought);
    ranks_halo_clear(&h->halo);
    *h = (grid_halo){0};
}

/* A number of another rank and where it goes. */
typedef struct wanted {
    int64_t number, place;
} wanted;

static int by_number(const void *a, const void *b)
{
    const wanted *x = a, *y = b;
    return x->number != y->number ? (x->number > y->number) - (x->number < y->number)
                                  : (x->place > y->place) - (x->place < y->place);
}

/* What is wanted of others, with rising numbers, and the numbers alone; own ones are listed. */
static spry_status list_wanted(spry_context *ctx, spry_type type, const grid_shape *shape,
                               bool all_points, const grid_box *box, const int64_t *starts,
                               grid_halo *h, int64_t **numbers)
{
    const grid_box own = grid_own(ctx, shape, all_points);
    const int rank = team_rank(ctx);
    const int64_t cells = box_count(box), outside = cells - box_count(&own);
    wanted *list = NULL;
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(ctx, base_alloc(ctx, outside, sizeof *list, &list));
    SPRY_GO(ctx, base_alloc(ctx, outside, sizeof *h->from, &h->from));
    SPRY_GO(ctx, base_alloc(ctx, outside, sizeof *h->to, &h->to));
    for (int64_t i = 0; i < cells; i++) {
        int64_t at[GRID_AXES], inside[GRID_AXES];
        box_split(box, i, at);
        if (box_has(&own, at))
            continue;
        const int64_t number = grid_number(shape, all_points, starts, at);
        if (number >= starts[rank] && number < starts[rank + 1]) {
            box_split(&own, number - starts[rank], inside);
            h->from[h->copies] = box_place(box, inside);
            h->to[h->copies++] = i;
        } else {
            list[h->count++] = (wanted){number, i};
        }
    }
    SPRY_GO(ctx, base_alloc(ctx, h->count, sizeof **numbers, numbers));
    SPRY_GO(ctx, base_alloc(ctx, h->count, sizeof *h->place, &h->place));
    SPRY_GO(ctx, base_alloc(ctx, h->count, spry_type_size(type), &h->brought));
    qsort(list, (size_t)h->count, sizeof *list, by_number);
    for (int64_t k = 0; k < h->count; k++) {
        (*numbers)[k] = list[k].number;
        h->place[k] = list[k].place;
    }
done:
    base_free(ctx, list);
    return status;
}

spry_status grid_halo_make(spry_context *ctx, spry_type type, const grid_shape *shape,
                           bool all_points, const grid_box *box, grid_halo *h)
{
    const grid_box own = grid_own(ctx, shape, all_points);
    int64_t *starts = NULL, *numbers = NULL;
    *h = (grid_halo){.halo.ctx = ctx};
    spry_status status = grid_starts(ctx, shape, all_points, &starts);
    if (status == SPRY_STATUS_OK)
        status = list_wanted(ctx, type, shape, all_points, box, starts, h, &numbers);
    SPRY_GO(ctx, team_agree(ctx, status));
    SPRY_GO(ctx, ranks_halo_make(ctx, type, starts, h->count, numbers, &h->halo));
    if (box_count(box) > INT32_MAX)
        status = SPRY_FAIL(ctx, SPRY_STATUS_UNSUPPORTED,
                           "a rank has %" PRId64 " numbers of a grid, expected fewer than 2^31: "
                           "take more ranks",
                           box_count(box));
    SPRY_GO(ctx, team_agree(ctx, status));
    for (int64_t k = 0; k < h->halo.sent_count; k++) { /* sent from where they are in the box */
        int64_t at[GRID_AXES];
        box_split(&own, h->halo.sent[k], at);
        h->halo.sent[k] = (int32_t)box_place(box, at);
    }
done:
    base_free(ctx, starts);
    base_free(ctx, numbers);
    if (status != SPRY_STATUS_OK) {
        h->halo.ctx = ctx; /* which a failure has cleared */
        grid_halo_clear(h);
    }
    return status;
}

spry_status grid_halo_exchange(const grid_halo *h, void *box)
{
    const size_t size = spry_type_size(h->halo.type);
    const spry_status status = ranks_halo_exchange(&h->halo, box, h->brought);
    for (int64_t k = 0; k < h->count; k++)
        memcpy((char *)box + (size_t)h->place[k] * size, h->brought + (size_t)k * size, size);
    for (int64_t k = 0; k < h->copies; k++)
        memcpy((char *)box + (size_t)h->to[k] * size, (char *)box + (size_t)h->from[k] * size,
               size);
    return status;
}

void box_copy(spry_type type, const grid_box *part, const grid_box *from_box, const void *from,
              const grid_box *to_box, void *to)
{
    const size_t size = spry_type_size(type);
    for (int64_t z = part->begin[2]; z < part->end[2] && box_length(part, 0) > 0; z++)
        for (int64_t y = part->begin[1]; y < part->end[1]; y++) {
            const int64_t at[GRID_AXES] = {part->begin[0], y, z};
            memcpy((char *)to + (size_t)box_place(to_box, at) * size,
                   (const char *)from + (size_t)box_place(from_box, at) * size,
                   (size_t)box_length(part, 0) * size);
        }
}
