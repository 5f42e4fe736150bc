/* Sliced COO made on a device: see device_make.h and make_scoo.knl. */
#include "formats/shared/device_bins.h"

#include "formats/scoo/scoo.h"
#include "formats/shared/device_make.h"

enum { CHUNK = DEVICE_BINS_CHUNK };

static spry_status build(const device_maker *m, device_program **p)
{
    char options[32];
    snprintf(options, sizeof options, "-DCHUNK=%d", CHUNK);
    return make_build(m, "make_scoo", options, p);
}

/* What is made on the way. */
typedef struct scoo_work {
    device_program *p;
    int32_t h;
    int64_t chunks;
    device_memory *row_of, *keys, *from, *to_keys, *to_from;
    device_memory *slices, *starts, *chunk; /* of slices: first rows, entries and chunks */
} scoo_work;

static void work_free(scoo_work *w)
{
    device_memory *const all[] = {w->row_of,  w->keys,   w->from,   w->to_keys,
                                  w->to_from, w->slices, w->starts, w->chunk};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        device_free(all[i]);
}

/* Places of entries with what they are sorted by: a column, or its group. */
static spry_status list_entries(const device_maker *m, scoo_work *w, int32_t shift)
{
    spry_context *ctx = m->d->ctx;
    device_memory **const all[] = {&w->row_of, &w->keys, &w->from, &w->to_keys, &w->to_from};
    spry_status status = SPRY_STATUS_OK;
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        SPRY_GO(ctx, device_alloc(m->d, m->A->nnz * (int64_t)sizeof(int32_t), all[i]));
    const device_arg args[] = {DEVICE_VALUE(m->A->rows),
                               DEVICE_VALUE(m->A->nnz),
                               DEVICE_VALUE(shift),
                               device_arg_memory(m->A->offsets),
                               device_arg_memory(m->A->columns),
                               device_arg_memory(w->row_of),
                               device_arg_memory(w->keys),
                               device_arg_memory(w->from),
                               {0}};
    if (m->A->nnz > 0)
        SPRY_GO(ctx, make_launch(w->p, "list_entries", m->A->nnz, args));
done:
    return status;
}

static void exchange(device_memory **a, device_memory **b)
{
    device_memory *const other = *a;
    *a = *b;
    *b = other;
}

static spry_status merge_rows(const device_maker *m, scoo_work *w)
{
    spry_status status = SPRY_STATUS_OK;
    for (int32_t reach = 1; reach < w->h && reach < m->A->rows && m->A->nnz > 0; reach *= 2) {
        const device_arg args[] = {DEVICE_VALUE(m->A->rows),
                                   DEVICE_VALUE(m->A->nnz),
                                   DEVICE_VALUE(w->h),
                                   DEVICE_VALUE(reach),
                                   device_arg_memory(m->A->offsets),
                                   device_arg_memory(w->row_of),
                                   device_arg_memory(w->keys),
                                   device_arg_memory(w->from),
                                   device_arg_memory(w->to_keys),
                                   device_arg_memory(w->to_from),
                                   {0}};
        SPRY_GO(m->d->ctx, make_launch(w->p, "merge_lists", m->A->nnz, args));
        exchange(&w->keys, &w->to_keys);
        exchange(&w->from, &w->to_from);
    }
done:
    return status;
}

static spry_status cut_slices(const device_maker *m, scoo_work *w)
{
    spry_context *ctx = m->d->ctx;
    const int64_t slices = m->L->units, bytes = (slices + 1) * (int64_t)sizeof(int64_t), h = w->h;
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(ctx, device_alloc(m->d, bytes, &w->slices));
    SPRY_GO(ctx, device_alloc(m->d, bytes, &w->starts));
    SPRY_GO(ctx, device_alloc(m->d, bytes, &w->chunk));
    const device_arg args[] = {DEVICE_VALUE(m->A->rows),
                               DEVICE_VALUE(slices),
                               DEVICE_VALUE(h),
                               device_arg_memory(m->A->offsets),
                               device_arg_memory(w->slices),
                               device_arg_memory(w->starts),
                               device_arg_memory(w->chunk),
                               {0}};
    SPRY_GO(ctx, make_launch(w->p, "cut_slices", slices + 1, args));
    SPRY_GO(ctx, device_sum_up(m->d, w->chunk, slices + 1));
    SPRY_GO(ctx, make_look(w->chunk, slices, &w->chunks));
done:
    return status;
}

/* Runs the kernel that writes the entries of all chunks into `filled`, arrays up to a NULL. */
static spry_status fill_entries(const device_maker *m, const scoo_work *w, const char *kernel,
                                int32_t number, device_memory *const *filled)
{
    enum { COMMON = 9, MOST_FILLED = 5 };
    const int64_t slices = m->L->units;
    device_arg args[COMMON + MOST_FILLED + 1] = {DEVICE_VALUE(slices),
                                                 DEVICE_VALUE(number),
                                                 device_arg_memory(w->chunk),
                                                 device_arg_memory(w->starts),
                                                 device_arg_memory(w->slices),
                                                 device_arg_memory(w->row_of),
                                                 device_arg_memory(m->A->columns),
                                                 device_arg_memory(w->from),
                                                 device_arg_memory(m->values)};
    for (int k = 0; filled[k]; k++)
        args[COMMON + k] = device_arg_memory(filled[k]);
    return w->chunks > 0 ? make_launch(w->p, kernel, w->chunks * MAKE_GROUP, args) : SPRY_STATUS_OK;
}

/* --- in the order of columns ---------------------------------------------------------------------
 */

/* The least column of each chunk; all are 0 where 16 bits do not do for what is counted from it. */
static spry_status find_bases(const device_maker *m, const scoo_work *w, device_memory *bases,
                              int32_t *narrow)
{
    spry_context *ctx = m->d->ctx;
    device_memory *wide = NULL;
    int32_t any = 0;
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(ctx, make_cleared(m->d, 1, sizeof any, &wide));
    const device_arg args[] = {DEVICE_VALUE(m->L->units),
                               device_arg_memory(w->chunk),
                               device_arg_memory(w->starts),
                               device_arg_memory(w->keys),
                               device_arg_memory(bases),
                               device_arg_memory(wide),
                               {0}};
    if (w->chunks > 0)
        SPRY_GO(ctx, make_launch(w->p, "find_bases", w->chunks * MAKE_GROUP, args));
    SPRY_GO(ctx, make_look32(wide, 0, &any));
    if (any != 0)
        SPRY_GO(ctx, device_clear(bases, 0, w->chunks * (int64_t)sizeof(int32_t)));
    *narrow = any == 0;
done:
    device_free(wide);
    return status;
}

static spry_status make_chunks(device_maker *m, scoo_work *w)
{
    spry_context *ctx = m->d->ctx;
    const int64_t nnz = m->A->nnz, slices = m->L->units;
    device_memory *bases = NULL, *values = NULL, *columns = NULL, *rows = NULL;
    int32_t narrow = 0;
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(ctx, device_alloc(m->d, w->chunks * (int64_t)sizeof(int32_t), &bases));
    SPRY_GO(ctx, find_bases(m, w, bases, &narrow));
    SPRY_GO(ctx, make_add(m, SCOO_VALUES, "values", nnz, m->size, &values));
    SPRY_GO(ctx, make_add(m, SCOO_COLUMNS, "columns", nnz, narrow ? 2 : 4, &columns));
    SPRY_GO(ctx, make_add(m, SCOO_ROWS, "rows", nnz, sizeof(uint16_t), &rows));
    device_memory *const filled[] = {bases, columns, columns, rows, values, NULL};
    SPRY_GO(ctx, fill_entries(m, w, "fill_chunks", narrow, filled));
    make_adopt(m, SCOO_STARTS, "starts", slices + 1, sizeof(int64_t), w->starts);
    make_adopt(m, SCOO_CHUNKS, "chunks", slices + 1, sizeof(int64_t), w->chunk);
    make_adopt(m, SCOO_BASES, "bases", w->chunks, sizeof(int32_t), bases);
    make_adopt(m, SCOO_SLICES, "slices", slices + 1, sizeof(int64_t), w->slices);
    w->starts = w->chunk = w->slices = bases = NULL;
done:
    device_free(bases);
    return status;
}

/* --- in the order of rows, by groups of columns --------------------------------------------------
 */

static spry_status cut_groups(const device_maker *m, const scoo_work *w, device_memory *starts)
{
    const int64_t slices = m->L->units, groups = m->L->number[SCOO_GROUPS];
    const device_arg args[] = {DEVICE_VALUE(slices),
                               DEVICE_VALUE(groups),
                               DEVICE_VALUE(m->A->nnz),
                               device_arg_memory(w->starts),
                               device_arg_memory(w->keys),
                               device_arg_memory(starts),
                               {0}};
    return make_launch(w->p, "cut_groups", slices * groups + 1, args);
}

static spry_status make_bins(device_maker *m, scoo_work *w)
{
    spry_context *ctx = m->d->ctx;
    const int64_t nnz = m->A->nnz, slices = m->L->units, groups = m->L->number[SCOO_GROUPS];
    const int32_t mask = (1 << m->L->number[SCOO_BITS]) - 1;
    device_memory *values = NULL, *columns = NULL, *slots = NULL, *rows = NULL, *starts = NULL;
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(ctx, make_add(m, SCOO_VALUES, "values", nnz, m->size, &values));
    SPRY_GO(ctx, make_add(m, SCOO_COLUMNS, "columns", nnz, sizeof(uint16_t), &columns));
    SPRY_GO(ctx, make_add(m, SCOO_SLOTS, "slots", nnz, sizeof(uint16_t), &slots));
    SPRY_GO(ctx, make_add(m, SCOO_ROWS, "rows", nnz, sizeof(uint16_t), &rows));
    SPRY_GO(ctx, make_add(m, SCOO_STARTS, "starts", slices * groups + 1, sizeof(int64_t), &starts));
    SPRY_GO(ctx, cut_groups(m, w, starts));
    device_memory *const filled[] = {columns, slots, rows, values, NULL};
    SPRY_GO(ctx, fill_entries(m, w, "fill_bins", mask, filled));
    make_adopt(m, SCOO_SLICES, "slices", slices + 1, sizeof(int64_t), w->slices);
    w->slices = NULL;
done:
    return status;
}

/* Slices whose height follows from their entries are the host's. */
spry_status device_make_scoo(device_maker *m)
{
    spry_context *ctx = m->d->ctx;
    const int64_t rows = m->A->rows, h = make_option(m, "h");
    scoo_work w = {.h = (int32_t)h};
    spry_status status = SPRY_STATUS_OK;
    m->elsewhere = h == 0 || m->A->nnz > UINT32_MAX;
    if (m->elsewhere)
        return SPRY_STATUS_OK;
    scoo_shape s = {.h = h,
                    .given_bits = make_option(m, "bits"),
                    .columns = (int)make_option(m, "columns"),
                    .order = (int)make_option(m, "order"),
                    .slices = (rows + h - 1) / h,
                    .longest = h < rows ? h : rows};
    SPRY_GO(ctx, scoo_decide(ctx, m->L, &s));
    scoo_describe(m->L, &s);
    const bool by_row = s.order == SCOO_BY_ROW_ORDER, bins = by_row && !s.wide;
    SPRY_GO(ctx, build(m, &w.p));
    SPRY_GO(ctx, list_entries(m, &w, bins ? (int32_t)s.bits : 0));
    if (bins || !by_row)
        SPRY_GO(ctx, merge_rows(m, &w));
    SPRY_GO(ctx, cut_slices(m, &w));
    SPRY_GO(ctx, bins ? make_bins(m, &w) : make_chunks(m, &w));
done:
    work_free(&w);
    return status;
}
