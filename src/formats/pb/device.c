/* Propagation blocking on devices: see pb.knl. */
#include "formats/pb/pb.h"

#include "formats/shared/device_make.h"

enum { GROUP = 512, SMALL_GROUP = 256, GROUP_OF_PROCESSOR = 64, MOST_ITEMS_AT_ONCE = 2048 };

/* --- products ------------------------------------------------------------------------------------
 */

/* Local memory of the two kernels, in bytes. */
typedef struct pb_local {
    int64_t x, kept, all; /* all: of the larger one, with what is next to it */
} pb_local;

static pb_local local_of(const spry_device *d, const layout *L, int group)
{
    enum { RESERVED = 1024, LONG = 32 };
    const int64_t size = (int64_t)spry_type_size(L->type), items = L->number[PB_ITEMS];
    /* where lanes are not added up in registers */
    const int64_t lanes = d->facts.has_pointers ? 0 : group * size;
    pb_local b = {.x = L->number[PB_WIDTH] * size, .kept = (items + items / 16 + 1) * size};
    const int64_t needed = (items / LONG + 2) * 4 + lanes;
    b.all = (b.x > b.kept + needed ? b.x : b.kept + needed) + RESERVED;
    return b;
}

/* Lanes that fetch a piece: about as many as it has entries. */
static int lanes_for(const layout *L)
{
    const int64_t pieces = L->array[PB_RUNS].count, each = pieces > 0 ? L->nnz / pieces : 0;
    return each >= 24 ? 32 : each >= 12 ? 16 : 8;
}

static int64_t clip(int64_t value, int64_t low, int64_t high)
{
    return value < low ? low : value > high ? high : value;
}

static spry_status open(const spry_device *d, const layout *L, int columns, device_form *form)
{
    const device_facts *f = &d->facts;
    /* entries that are on their way at once; a processor has other means */
    const int ahead = f->processor ? 1 : spry_type_size(L->type) > 8 ? 2 : 4;
    form->group = f->processor ? GROUP_OF_PROCESSOR : GROUP;
    pb_local local = local_of(d, L, form->group);
    if (local.all > f->most_local)
        return SPRY_FAIL(L->ctx, SPRY_STATUS_UNSUPPORTED,
                         "format pb: bins take %" PRId64 " bytes of local memory, %s has %" PRId64
                         "; take a smaller room",
                         local.all, f->name, f->most_local);
    if (!f->processor && 3 * local.all <= f->unit_local)
        form->group = SMALL_GROUP;
    form->group = (int)clip(form->group, 1, f->most_group);
    const int64_t resident =
        f->processor ? 1 : clip(f->unit_local / local.all, 1, MOST_ITEMS_AT_ONCE / 2 / form->group);
    form->text = "formats/pb";
    form->by_units = true;
    form->positions = L->units;
    form->before = (f->processor ? 4 : resident) * f->units;
    form->before_local = columns == 1 ? local.x : 0;
    form->local = local.kept;
    form->number[0] = (device_number){"nnz", L->nnz};
    form->number[1] = (device_number){"chunks", L->number[PB_CHUNKS]};
    form->number[2] = (device_number){"cols", L->cols};
    snprintf(form->defines, sizeof form->defines,
             "ITEMS=%d WIDTH=%d PIECE=%d LANES=%d RESIDENT=%d NEAR=%d BATCH=%d AHEAD=%d",
             (int)L->number[PB_ITEMS], (int)L->number[PB_WIDTH], PB_PIECE, lanes_for(L),
             (int)resident, columns == 1, f->processor ? 1 : 2 * ahead, ahead);
    return SPRY_STATUS_OK;
}

static spry_status arrays(const layout *L, layout_array *array)
{
    for (int i = 0; i <= PB_PLACES; i++)
        array[i] = L->array[i];
    array[PB_PLACES + 1] = (layout_array){.name = "carry_at",
                                          .count = L->units + 1,
                                          .size = sizeof *L->carry_at,
                                          .data = L->carry_at};
    return SPRY_STATUS_OK;
}

/* --- made on the device --------------------------------------------------------------------------
 */

/* Entries that are sorted at once. */
static int64_t sort_size(const layout *L)
{
    int64_t size = 2;
    while (size < L->number[PB_ITEMS])
        size *= 2;
    return size;
}

static spry_status build(const device_maker *m, device_program **p)
{
    char options[48];
    snprintf(options, sizeof options, "-DSORT=%d -DPIECE=%d", (int)sort_size(m->L), PB_PIECE);
    return make_build(m, "make_pb", options, p);
}

/* Sorted slots, and where the entries of each chunk of each bin begin. */
static spry_status sort_bins(device_maker *m, device_program *p, const device_memory *starts,
                             device_memory *slots, device_memory *counts)
{
    spry_context *ctx = m->d->ctx;
    const int64_t units = m->L->units, chunks = m->L->number[PB_CHUNKS];
    const int32_t width = (int32_t)m->L->number[PB_WIDTH];
    device_memory *heads = NULL;
    spry_status status = SPRY_STATUS_OK;
    const device_arg sort[] = {DEVICE_VALUE(units),
                               DEVICE_VALUE(chunks),
                               DEVICE_VALUE(width),
                               device_arg_memory(starts),
                               device_arg_memory(m->A->columns),
                               device_arg_memory(slots),
                               device_arg_memory(counts),
                               {0}};
    SPRY_GO(ctx, make_launch_local(p, "sort_bins", units,
                                   sort_size(m->L) * (int64_t)sizeof(uint32_t), sort));
    SPRY_GO(ctx, device_sum_up(m->d, counts, chunks * units + 1));
    SPRY_GO(ctx, make_add(m, PB_HEADS, "heads", chunks + 1, sizeof(int64_t), &heads));
    const device_arg list[] = {DEVICE_VALUE(units),
                               DEVICE_VALUE(chunks),
                               device_arg_memory(counts),
                               device_arg_memory(heads),
                               {0}};
    SPRY_GO(ctx, make_launch(p, "list_heads", chunks + 1, list));
done:
    return status;
}

/* What is made on the way; `first` and the like are the layout's. */
typedef struct pb_work {
    device_memory *counts, *sums, *first, *runs, *places;
} pb_work;

static spry_status list_pieces(device_maker *m, device_program *p, pb_work *w)
{
    spry_context *ctx = m->d->ctx;
    const int64_t units = m->L->units, chunks = m->L->number[PB_CHUNKS];
    int64_t pieces = 0;
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(ctx, make_cleared(m->d, units + 1, sizeof(int64_t), &w->sums));
    const device_arg count[] = {DEVICE_VALUE(units),
                                DEVICE_VALUE(chunks),
                                device_arg_memory(w->counts),
                                device_arg_memory(w->sums),
                                {0}};
    SPRY_GO(ctx, make_launch(p, "count_pieces", units, count));
    SPRY_GO(ctx, device_sum_up(m->d, w->sums, units + 1));
    SPRY_GO(ctx, make_look(w->sums, units, &pieces));
    m->elsewhere = pieces > INT32_MAX; /* which reports it */
    if (m->elsewhere)
        goto done;
    SPRY_GO(ctx, make_add(m, PB_FIRST, "first", units + 1, sizeof(int32_t), &w->first));
    SPRY_GO(ctx, make_add(m, PB_RUNS, "runs", pieces, sizeof(uint32_t), &w->runs));
    SPRY_GO(ctx, make_add(m, PB_PLACES, "places", pieces, sizeof(uint16_t), &w->places));
    const device_arg list[] = {DEVICE_VALUE(units),          DEVICE_VALUE(chunks),
                               device_arg_memory(w->counts), device_arg_memory(w->sums),
                               device_arg_memory(w->first),  device_arg_memory(w->runs),
                               device_arg_memory(w->places), {0}};
    SPRY_GO(ctx, make_launch(p, "list_pieces", units + 1, list));
done:
    return status;
}

static spry_status fill(device_maker *m)
{
    spry_context *ctx = m->d->ctx;
    const make_merge at = {PB_STARTS, PB_ENDS, PB_PLACES + 1};
    const int64_t nnz = m->A->nnz, units = m->L->units, chunks = m->L->number[PB_CHUNKS];
    const int32_t width = (int32_t)m->L->number[PB_WIDTH];
    device_program *p = NULL;
    device_memory *values = NULL, *columns = NULL, *slots = NULL, *starts = NULL;
    pb_work w = {0};
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(ctx, build(m, &p));
    SPRY_GO(ctx, make_add(m, PB_VALUES, "values", nnz, m->size, &values));
    SPRY_GO(ctx, make_add(m, PB_COLUMNS, "columns", nnz, sizeof(uint16_t), &columns));
    SPRY_GO(ctx, make_add(m, PB_SLOTS, "slots", nnz, sizeof(uint16_t), &slots));
    SPRY_GO(ctx, make_merge_cut(m, m->L->number[PB_ITEMS], &at, &starts));
    SPRY_GO(ctx, make_cleared(m->d, chunks * units + 1, sizeof(int64_t), &w.counts));
    SPRY_GO(ctx, sort_bins(m, p, starts, slots, w.counts));
    SPRY_GO(ctx, list_pieces(m, p, &w));
    if (m->elsewhere)
        goto done;
    const device_arg args[] = {DEVICE_VALUE(width),
                               device_arg_memory(starts),
                               device_arg_memory(w.first),
                               device_arg_memory(w.runs),
                               device_arg_memory(w.places),
                               device_arg_memory(slots),
                               device_arg_memory(m->A->columns),
                               device_arg_memory(m->values),
                               device_arg_memory(columns),
                               device_arg_memory(values),
                               {0}};
    SPRY_GO(ctx, make_launch_local(p, "fill_bins", units, 0, args));
done:
    device_free(w.counts);
    device_free(w.sums);
    return status;
}

/* Bins that local memory has no room to sort are the host's, and so is reporting what cannot be. */
static spry_status make(device_maker *m)
{
    const matrix_arrays sizes = {
        .type = m->L->type, .rows = m->A->rows, .cols = m->A->cols, .nnz = m->A->nnz};
    const int64_t room = make_option(m, "room");
    pb_shape s;
    const spry_status status = pb_find_shape(m->d->ctx, &sizes, room, &s);
    if (status != SPRY_STATUS_OK)
        return status;
    pb_describe(m->L, &s, room);
    m->elsewhere = s.chunks >= UINT16_MAX ||
                   sort_size(m->L) * (int64_t)sizeof(uint32_t) > m->d->facts.most_local;
    return m->elsewhere ? SPRY_STATUS_OK : fill(m);
}

const device_format device_format_pb = {
    .name = "pb", .open = open, .grid = "room=104|32", .arrays = arrays, .make = make};
