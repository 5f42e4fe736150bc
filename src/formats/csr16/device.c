/*
 * CSR with columns of 16 bits on devices. The host's codes are a chain, four by four, which lanes
 * cannot follow side by side; so codes on devices are counted from a row's first column, and groups
 * of rows where that is not enough have columns of 32 bits. See csr16.knl.
 */
#include "formats/csr16/csr16.h"

#include "formats/shared/device_lanes.h"
#include "formats/shared/device_make.h"
#include "matrix/entries.h"

static spry_status open(const spry_device *d, const layout *L, int columns, device_form *form)
{
    enum { GROUP = 128, MOST_TRACKS = 16 };
    form->text = "formats/csr16";
    form->positions = L->rows;
    form->group = d->facts.most_group < GROUP ? d->facts.most_group : GROUP;
    const int ahead = device_choose_lanes(L, columns, form);
    form->lanes = form->lanes < MOST_TRACKS ? form->lanes : MOST_TRACKS; /* codes are short */
    snprintf(form->defines, sizeof form->defines, "GROUP_ROWS=%d AHEAD=%d", CSR16_GROUP, ahead);
    return SPRY_STATUS_OK;
}

/* The rows of a group: entries of each, and their columns' bounds. */
typedef struct group_rows {
    int64_t first; /* row */
    int64_t count[CSR16_GROUP];
    int64_t least[CSR16_GROUP], most[CSR16_GROUP];
} group_rows;

static void hear_bounds(void *data, int64_t row, int64_t col, int64_t place)
{
    (void)place;
    group_rows *g = data;
    const int64_t i = row - g->first;
    g->least[i] = g->count[i] == 0 || col < g->least[i] ? col : g->least[i];
    g->most[i] = g->count[i] == 0 || col > g->most[i] ? col : g->most[i];
    g->count[i]++;
}

/* A group's codes as they are written. */
typedef struct group_codes {
    uint16_t *codes;
    const int64_t *ends; /* of all rows, with bases above */
    int64_t first_value;
    bool wide;
} group_codes;

static void hear_codes(void *data, int64_t row, int64_t col, int64_t place)
{
    const group_codes *g = data;
    const int64_t k = place - g->first_value;
    if (g->wide)
        ((int32_t *)(void *)g->codes)[k] = (int32_t)col;
    else
        g->codes[k] = (uint16_t)(col - (g->ends[row] >> 32));
}

/* Ends and bases of a group's rows; what codes it has. */
static int64_t measure_group(const layout *L, int64_t group, int64_t *ends)
{
    group_rows g = {.first = group * CSR16_GROUP};
    int64_t end = 0;
    bool wide = false;
    format_csr16.entries(L, group, group + 1, hear_bounds, &g);
    for (int64_t i = 0; i < CSR16_GROUP && g.first + i < L->rows; i++) {
        end += g.count[i];
        ends[g.first + i] = (int64_t)((uint64_t)g.least[i] << 32 | (uint64_t)end);
        wide = wide || g.most[i] - g.least[i] > CSR16_REACH;
    }
    return wide ? 2 * end : (end + 1) / 2 * 2;
}

static void write_codes(const layout *L, const int64_t *starts, const int64_t *ends,
                        uint16_t *codes /* NOLINT(readability-non-const-parameter) */)
{
#pragma omp parallel for num_threads(matrix_parts(L->ctx, L->nnz)) schedule(dynamic, 64)
    for (int64_t g = 0; g < L->units; g++) {
        const int64_t values = starts[2 * g + 2] - starts[2 * g];
        const int64_t count = starts[2 * g + 3] - starts[2 * g + 1];
        group_codes data = {.codes = codes + starts[2 * g + 1],
                            .ends = ends,
                            .first_value = starts[2 * g],
                            .wide = count > values + 1};
        if (count == values + 1)
            data.codes[values] = 0;
        format_csr16.entries(L, g, g + 1, hear_codes, &data);
    }
}

static spry_status arrays(const layout *L, layout_array *array)
{
    enum { VALUES, CODES, STARTS, ENDS };
    spry_context *ctx = L->ctx;
    const int64_t *from = L->array[CSR16_STARTS].data;
    int64_t *starts = NULL, *ends = NULL;
    uint16_t *codes = NULL;
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(ctx, base_alloc(ctx, 2 * (L->units + 1), sizeof *starts, &starts));
    SPRY_GO(ctx, base_alloc(ctx, L->rows, sizeof *ends, &ends));
#pragma omp parallel for num_threads(matrix_parts(ctx, L->nnz)) schedule(dynamic, 64)
    for (int64_t g = 0; g < L->units; g++)
        starts[2 * g + 3] = measure_group(L, g, ends);
    starts[1] = 0;
    for (int64_t g = 0; g <= L->units; g++) {
        starts[2 * g] = from[CSR16_STEP * g + CSR16_VALUE];
        if (g > 0)
            starts[2 * g + 1] += starts[2 * g - 1];
    }
    const int64_t count = starts[2 * L->units + 1];
    SPRY_GO(ctx, base_alloc(ctx, count, sizeof *codes, &codes));
    write_codes(L, starts, ends, codes);
    array[VALUES] = L->array[CSR16_VALUES];
    array[CODES] = (layout_array){"codes", count, sizeof *codes, codes, true};
    array[STARTS] = (layout_array){"starts", 2 * (L->units + 1), sizeof *starts, starts, true};
    array[ENDS] = (layout_array){"ends", L->rows, sizeof *ends, ends, true};
    starts = ends = NULL;
done:
    base_free(ctx, starts);
    base_free(ctx, ends);
    return status;
}

/* --- on the device -------------------------------------------------------------------------------
 */

/* Where values and codes of groups start, and how many codes there are. */
static spry_status find_starts(const device_maker *m, device_program *p, device_memory *starts,
                               device_memory *ends, int64_t *codes)
{
    spry_context *ctx = m->d->ctx;
    const device_matrix *A = m->A;
    const int64_t groups = m->L->units;
    device_memory *counts = NULL;
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(ctx, make_cleared(m->d, groups + 1, sizeof(int64_t), &counts));
    const device_arg measure[] = {DEVICE_VALUE(A->rows),         device_arg_memory(A->offsets),
                                  device_arg_memory(A->columns), device_arg_memory(ends),
                                  device_arg_memory(counts),     {0}};
    SPRY_GO(ctx, make_launch(p, "measure", groups * MAKE_GROUP, measure));
    SPRY_GO(ctx, device_sum_up(m->d, counts, groups + 1));
    SPRY_GO(ctx, make_look(counts, groups, codes));
    const device_arg put[] = {DEVICE_VALUE(A->rows),         DEVICE_VALUE(groups),
                              device_arg_memory(A->offsets), device_arg_memory(counts),
                              device_arg_memory(starts),     {0}};
    SPRY_GO(ctx, make_launch(p, "put_starts", groups + 1, put));
done:
    device_free(counts);
    return status;
}

static spry_status build(const device_maker *m, device_program **p)
{
    char options[32];
    snprintf(options, sizeof options, "-DROWS=%d", CSR16_GROUP);
    return make_build(m, "make_csr16", options, p);
}

static spry_status make(device_maker *m)
{
    spry_context *ctx = m->d->ctx;
    const device_matrix *A = m->A;
    layout *L = m->L;
    device_program *p = NULL;
    device_memory *codes = NULL, *starts = NULL, *ends = NULL;
    const device_memory *columns = A->columns;
    int64_t count = 0;
    spry_status status = SPRY_STATUS_OK;
    L->units = (A->rows + CSR16_GROUP - 1) / CSR16_GROUP;
    L->unit_rows = CSR16_GROUP;
    L->stored = A->nnz;
    m->elsewhere =
        A->nnz > UINT32_MAX; /* where a group may have too many, which the host reports */
    if (m->elsewhere)
        return SPRY_STATUS_OK;
    SPRY_GO(ctx, build(m, &p));
    SPRY_GO(ctx, device_alloc(m->d, 2 * (L->units + 1) * (int64_t)sizeof(int64_t), &starts));
    SPRY_GO(ctx, device_alloc(m->d, A->rows * (int64_t)sizeof(int64_t), &ends));
    SPRY_GO(ctx, find_starts(m, p, starts, ends, &count));
    SPRY_GO(ctx, make_add_values(m, CSR16_VALUES));
    SPRY_GO(ctx, make_add(m, CSR16_CODES, "codes", count, sizeof(uint16_t), &codes));
    make_adopt(m, CSR16_STARTS, "starts", 2 * (L->units + 1), sizeof(int64_t), starts);
    make_adopt(m, CSR16_PARTS, "ends", A->rows, sizeof(int64_t), ends);
    const device_memory *from = starts, *lasts = ends;
    starts = ends = NULL;
    const device_arg args[] = {DEVICE_VALUE(A->rows),    device_arg_memory(columns),
                               device_arg_memory(from),  device_arg_memory(lasts),
                               device_arg_memory(codes), {0}};
    SPRY_GO(ctx, make_launch(p, "put_codes", L->units * MAKE_GROUP, args));
done:
    device_free(starts);
    device_free(ends);
    return status;
}

const device_format device_format_csr16 = {
    .name = "csr16", .open = open, .arrays = arrays, .make = make};
