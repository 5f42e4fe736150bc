/* AXT on devices: see kernels/formats/segments.knl. A piece is a strand of TH or THW entries that
 * one row has, or, in the compacted variants, an entry. Where rows end in a unit takes the place of
 * the layout's row numbers, one a strand or one per entry. */
#include "matrix/formats/axt.h"

#include "device/formats/segments.h"
#include "matrix/entries.h"

static device_segments segments_of(const layout *L)
{
    const int TH = (int)L->number[AXT_TH], THW = (int)L->number[AXT_THW];
    const bool compact = L->number[AXT_COMPACT] != 0, down = TH > 1;
    return (device_segments){.count = compact ? L->nnz : L->array[AXT_ROWS].count,
                             .pieces = (int)L->number[AXT_SHARE],
                             .piece = compact ? 1
                                      : down  ? TH
                                              : THW,
                             .order = !down     ? SEGMENTS_ALONG
                                      : compact ? SEGMENTS_ENTRIES_DOWN
                                                : SEGMENTS_DOWN,
                             .TH = TH,
                             .THW = THW,
                             .leads = true,
                             .kept = L->number[AXT_KEPT] != 0};
}

static spry_status open(const spry_device *d, const layout *L, int columns, device_form *form)
{
    const device_segments s = segments_of(L);
    (void)d;
    return device_segments_open(L, columns, &s, form);
}

/* The row of a unit's piece. */
static int64_t row_of(const layout *L, const device_segments *s, int64_t unit, int64_t piece)
{
    if (s->piece > 1)
        return ((const int32_t *)L->array[AXT_ROWS].data)[piece];
    const int64_t tile = (int64_t)s->TH * s->THW, k = piece % tile;
    const int64_t place =
        s->order == SEGMENTS_ENTRIES_DOWN ? piece - k + k % s->TH * s->THW + k / s->TH : piece;
    const uint32_t hdr = ((const uint32_t *)L->array[AXT_ROWS].data)[place];
    return ((const int64_t *)L->array[AXT_FIRST].data)[unit] - 1 + (hdr >> L->number[AXT_BITS]);
}

/* Where the row that began before a unit, and those that begin in it, end: pieces of the unit. */
static void find_ends(const layout *L, const device_segments *s, int64_t unit, uint16_t *leads,
                      uint16_t *ends)
{
    const int64_t *first = L->array[AXT_FIRST].data, begin = unit * s->pieces;
    const int64_t end = begin + s->pieces < s->count ? begin + s->pieces : s->count;
    int64_t piece = begin;
    while (piece < end && row_of(L, s, unit, piece) < first[unit])
        piece++;
    leads[unit] = (uint16_t)(piece - begin);
    for (int64_t row = first[unit]; row < first[unit + 1]; row++) {
        while (piece < end && row_of(L, s, unit, piece) <= row)
            piece++;
        ends[row] = (uint16_t)(piece - begin);
    }
}

static spry_status arrays(const layout *L, layout_array *array)
{
    const device_segments s = segments_of(L);
    spry_status status = SPRY_STATUS_OK;
    uint16_t *leads = NULL, *ends = NULL;
    SPRY_GO(L->ctx, base_alloc(L->ctx, L->units, sizeof *leads, &leads));
    SPRY_GO(L->ctx, base_alloc(L->ctx, L->rows, sizeof *ends, &ends));
#pragma omp parallel for num_threads(matrix_parts(L->ctx, L->nnz + L->rows)) schedule(static)
    for (int64_t unit = 0; unit < L->units; unit++)
        find_ends(L, &s, unit, leads, ends);
    array[0] = L->array[AXT_AX];
    array[1] = L->array[AXT_COLUMNS];
    array[2] = L->array[AXT_FIRST];
    array[2].name = "firsts";
    array[3] = (layout_array){"leads", L->units, sizeof *leads, leads, true};
    array[4] = (layout_array){"ends", L->rows, sizeof *ends, ends, true};
    array[5] = device_segments_carries(L);
    return SPRY_STATUS_OK;
done:
    base_free(L->ctx, leads);
    base_free(L->ctx, ends);
    return status;
}

const device_format device_format_axt = {
    .name = "axt", .open = open, .arrays = arrays, .grid = "THW=32 TH=1|4|8 MODE=unc|com"};
