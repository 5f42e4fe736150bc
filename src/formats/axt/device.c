/* AXT on devices: see formats/shared/segments.knl. A piece is a strand of TH or THW entries that
 * one row has, or, in the compacted variants, an entry. Where rows end in a unit takes the place of
 * the layout's row numbers, one a strand or one per entry. */
#include "formats/axt/axt.h"

#include "formats/shared/device_make.h"
#include "formats/shared/device_segments_format.h"
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

/* --- on the device -------------------------------------------------------------------------------
 */

static make_strands strands_of(const axt_shape *s)
{
    return (make_strands){
        .height = s->height, .TH = s->TH, .THW = s->THW, .compact = s->compact, .share = s->share};
}

/* Units, what they carry, and where rows end in them. */
static spry_status cut(device_maker *m, const axt_shape *shape, make_strands *s, int64_t padded,
                       device_memory **carry_at)
{
    spry_context *ctx = m->d->ctx;
    device_memory *firsts = NULL, *leads = NULL, *ends = NULL;
    int64_t most = 0;
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(ctx, make_cleared(m->d, s->units + 1, sizeof(int64_t), carry_at));
    SPRY_GO(ctx, make_cleared(m->d, s->units + 1, sizeof(int64_t), &firsts));
    SPRY_GO(ctx, make_strands_cut(m, s, *carry_at, firsts, &most));
    SPRY_GO(ctx, axt_check_rows(ctx, shape, most));
    SPRY_GO(ctx, make_list_carries(m, &(make_carried){s->first, 1, 0, -1}, *carry_at, firsts));
    make_adopt(m, AXT_FIRST, "firsts", s->units + 1, sizeof(int64_t), s->first);
    s->adopted = true;
    SPRY_GO(ctx, make_add(m, AXT_FIRST + 1, "leads", s->units, sizeof(uint16_t), &leads));
    SPRY_GO(ctx, make_add(m, AXT_FIRST + 2, "ends", m->A->rows, sizeof(uint16_t), &ends));
    SPRY_GO(ctx, make_strands_ends(m, s, padded, leads, ends));
done:
    device_free(firsts);
    return status;
}

static spry_status make(device_maker *m)
{
    spry_context *ctx = m->d->ctx;
    layout *L = m->L;
    axt_shape shape;
    device_memory *values = NULL, *columns = NULL, *carry_at = NULL;
    make_strands s = {0};
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(ctx, axt_find_shape(ctx, m->options, &shape));
    s = strands_of(&shape);
    m->elsewhere = shape.kept;
    if (m->elsewhere)
        goto done;
    SPRY_GO(ctx, make_strands_count(m, &s));
    axt_describe(L, &shape, s.count);
    s.units = L->units;
    m->elsewhere = s.units >= INT32_MAX;
    if (m->elsewhere)
        goto done;
    const int64_t numbers = axt_row_numbers(&shape, L->stored);
    L->array[AXT_ROWS] = (layout_array){
        .name = shape.compact ? "hdr" : "rwp", .count = numbers, .size = 4, .aside = true};
    SPRY_GO(ctx, make_add(m, AXT_AX, "ax", L->stored, m->size, &values));
    SPRY_GO(ctx, make_add(m, AXT_COLUMNS, "columns", L->stored, sizeof(int32_t), &columns));
    SPRY_GO(ctx, cut(m, &shape, &s, shape.compact ? s.count : numbers, &carry_at));
    make_adopt(m, AXT_FIRST + 3, "carry_at", s.units + 1, sizeof(int64_t), carry_at);
    carry_at = NULL;
    SPRY_GO(ctx, make_strands_fill(m, &s, L->stored, columns, values));
done:
    device_free(carry_at);
    make_strands_free(&s);
    return status;
}

const device_format device_format_axt = {.name = "axt",
                                         .open = open,
                                         .arrays = arrays,
                                         .grid = "THW=32 TH=1|4|8 MODE=unc|com",
                                         .make = make};
