/*
 * Whether, and how, powers of a matrix in a device's memory go by parts in local memory. The model
 * is that of choose.c: bytes from the device's memory, or work on what is in local memory,
 * whichever takes longer. Where A fits into the second cache nothing is gained.
 */
#include "powers/powers.h"

#include "device/linalg/operator.h"
#include "matrix/entries.h"

/* Bytes of CSR's entries per second that groups work through, over bytes per second from memory,
 * of which the ratio alone counts, as an H200 was found to have it (docs/figures.md). */
static const powers_pace SUPPOSED = {1, 2};

/* What parts take of local memory, on an average; pieces: into how many each is to be cut so that
 * none takes more than there is, and whether any is. */
static double look_at_parts(const part_set *set, int64_t room, int32_t *pieces, bool *split)
{
    double all = 0;
    *split = false;
    for (int32_t p = 0; p < set->count; p++) {
        const int64_t bytes = powers_local_bytes(&set->parts[p], set->depth, set->type);
        const int64_t own = set->parts[p].layer[0], wanted = (bytes + room - 1) / room;
        all += (double)bytes;
        pieces[p] = wanted <= 1 ? 1 : (int32_t)(wanted < own ? wanted : own > 0 ? own : 1);
        *split = *split || wanted > 1;
    }
    return all / set->count;
}

/* Parts alone counted, of which those that do not fit are cut again; stops: ghosts are too many,
 * or a row by itself does not fit. */
static spry_status split_parts(const spry_powers *p, int depth, int64_t room, int most,
                               row_cuts *cuts, part_set *set, bool *stops)
{
    const matrix_arrays *a = &p->csr->a;
    int32_t *pieces = NULL;
    spry_status status = SPRY_STATUS_OK;
    for (bool split = true; split && !*stops;) {
        base_free(p->ctx, pieces);
        pieces = NULL;
        powers_parts_clear(p->ctx, set);
        SPRY_GO(p->ctx, powers_parts_make(p->ctx, a, cuts, depth, false, most, set, stops));
        SPRY_GO(p->ctx, base_alloc(p->ctx, set->count, sizeof *pieces, &pieces));
        if (*stops)
            break;
        (void)look_at_parts(set, room, pieces, &split);
        const int32_t before = cuts->count;
        if (split)
            SPRY_GO(p->ctx, powers_cuts_split(p->ctx, pieces, cuts));
        *stops = split && cuts->count == before;
    }
done:
    base_free(p->ctx, pieces);
    return status;
}

/*
 * As many parts as it takes for most of them to fit. Parts of half the rows take more than half of
 * the memory, as their ghosts stay: the more so, the more of them there are. So it is over where
 * ghosts of few parts are too many.
 */
static spry_status cut_parts(const spry_powers *p, int cut, int depth, int64_t room, int most,
                             row_cuts *cuts, part_set *set, bool *stops)
{
    enum { TRIALS = 3 };
    static const double full = 0.93, growth = 1.3; /* on a plane 1.3, in space 1.5 */
    const matrix_arrays *a = &p->csr->a;
    const int64_t size = (int64_t)spry_type_size(a->type);
    const double all = (double)(a->nnz * (size + 2) + a->rows * (2 * size + 6));
    int32_t *pieces = NULL;
    spry_status status = SPRY_STATUS_OK;
    double count = 1 + all / (double)room, fill = 0;
    for (int trial = 0; trial < TRIALS && !*stops; trial++) {
        bool split;
        count = fmin(count, (double)a->rows);
        powers_cuts_clear(p->ctx, cuts);
        powers_parts_clear(p->ctx, set);
        SPRY_GO(p->ctx, powers_cuts_make(p->csr, cut, (int32_t)count, cuts));
        SPRY_GO(p->ctx, powers_parts_make(p->ctx, a, cuts, depth, false, most, set, stops));
        SPRY_GO(p->ctx, base_alloc(p->ctx, set->count, sizeof *pieces, &pieces));
        fill = look_at_parts(set, room, pieces, &split) / (double)room;
        base_free(p->ctx, pieces);
        pieces = NULL;
        if (!split || fill <= 1 || count >= (double)a->rows)
            break;
        count = 1 + count * pow(fill / full, growth);
    }
    SPRY_GO(p->ctx, split_parts(p, depth, room, most, cuts, set, stops));
done:
    base_free(p->ctx, pieces);
    return status;
}

/* Of one depth; it stays without a depth where no more than `least` is gained. */
static spry_status try_local(const spry_powers *p, int cut, int depth, int lanes, double least,
                             powers_way *way)
{
    enum { MOST_GHOSTS = 2 };
    spry_device *d = p->product->device;
    const int64_t room = powers_local_room(d, p->options.memory),
                  size = (int64_t)spry_type_size(p->type);
    row_cuts cuts = {0};
    bool stops = false;
    int64_t images = 0;
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(p->ctx, cut_parts(p, cut, depth, room, MOST_GHOSTS, &cuts, &way->parts, &stops));
    if (stops)
        goto done;
    *way =
        (powers_way){.schedule = SCHEDULE_PARTS, .cut = cut, .depth = depth, .parts = way->parts};
    for (int32_t i = 0; i < way->parts.count; i++) {
        const int64_t bytes = powers_local_bytes(&way->parts.parts[i], depth, p->type);
        images += powers_local_image(&way->parts.parts[i], depth, p->type);
        way->info.part_bytes = bytes > way->info.part_bytes ? bytes : way->info.part_bytes;
    }
    powers_way_forecast(p, images + way->parts.gathered * size, way);
    way->info.parts = way->parts.count;
    if (way->info.gain <= least) {
        way->depth = 1;
        goto done;
    }
    powers_parts_clear(p->ctx, &way->parts);
    SPRY_GO(p->ctx,
            powers_parts_make(p->ctx, &p->csr->a, &cuts, depth, true, 0, &way->parts, &stops));
    SPRY_GO(p->ctx, powers_local_make(d, &way->parts, room, lanes, &way->local));
    way->info.memory = way->local.bytes;
done:
    powers_parts_clear(p->ctx, &way->parts);
    powers_cuts_clear(p->ctx, &cuts);
    return status;
}

/* With all steps together, then with half of them, and so on. */
static spry_status try_depths(const spry_powers *p, int cut, int lanes, powers_way *best)
{
    const bool wanted = p->options.schedule == SCHEDULE_PARTS;
    powers_way trial = {0};
    spry_status status = SPRY_STATUS_OK;
    int depth = powers_most_depth(p);
    for (; depth > 1; depth = p->options.depth > 0 ? 1 : depth / 2) {
        const double least = fmax(best->info.gain, POWERS_LEAST_GAIN);
        SPRY_GO(p->ctx,
                try_local(p, cut, depth, lanes, wanted && best->depth == 1 ? 0 : least, &trial));
        powers_way_keep(p->ctx, best, &trial, true);
    }
done:
    powers_way_clear(p->ctx, &trial);
    return status;
}

static spry_status choose(const spry_powers *p, int lanes, powers_way *best)
{
    const int cut = (int)p->options.cut;
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(p->ctx, try_depths(p, cut == CUT_AUTO ? CUT_ROWS : cut, lanes, best));
    /* METIS takes as long as ten thousands of products, and its rows are all over memory, of which
     * the model knows nothing: only for those who want parts. */
    if (cut == CUT_AUTO && p->options.schedule == SCHEDULE_PARTS &&
        best->info.gain < POWERS_LEAST_GAIN)
        SPRY_GO(p->ctx, try_depths(p, CUT_METIS, lanes, best));
done:
    return status;
}

/* Whether A comes from memory for every product, and its rows are the device's. */
static spry_status may_gain(const spry_powers *p, int *lanes, bool *may)
{
    const device_facts *facts = &p->product->device->facts;
    device_rows rows;
    const spry_status status = device_open_rows(p->product, SPRY_TRANSPOSE_NO, "A_", 1, &rows);
    *lanes = rows.lanes;
    *may = status == SPRY_STATUS_OK && rows.text && p->options.k > 1 && p->matrix->a.nnz > 0 &&
           (p->options.schedule == SCHEDULE_PARTS ||
            (!facts->processor && p->product->own_bytes > facts->cache_bytes));
    base_free(p->ctx, rows.text);
    return status;
}

spry_status powers_choose_local(spry_powers *p)
{
    const bool wanted = p->options.schedule == SCHEDULE_PARTS;
    powers_way way = {.depth = 1, .info = {.gain = 1}};
    bool may = false;
    int lanes;
    spry_status status = SPRY_STATUS_OK;
    const base_kept before = base_try(p->ctx);
    SPRY_GO(p->ctx, may_gain(p, &lanes, &may));
    if (!may)
        return SPRY_STATUS_OK;
    p->pace = SUPPOSED;
    matrix_follow(p->matrix);
    SPRY_GO(p->ctx, matrix_as_sorted_csr(p->matrix, &p->csr, &p->copy));
    status = choose(p, lanes, &way);
    if (status == SPRY_STATUS_NO_MEMORY && !wanted) { /* products need no more than there is */
        base_forgive(p->ctx, &before);
        status = SPRY_STATUS_OK;
    }
    SPRY_GO(p->ctx, status);
    if (way.local.count > 0) {
        way.version = p->way.version;
        powers_way_name(&way);
        p->way = way;
        way = (powers_way){0};
    }
done:
    powers_way_clear(p->ctx, &way);
    spry_matrix_free(p->copy); /* the device has its own */
    p->copy = NULL;
    p->csr = NULL;
    return status;
}
