/* Constant diagonals on devices: see kernels/formats/crf.knl. */
#include "matrix/formats/crf.h"

#include "device/formats.h"

#include <math.h>

/* Rows that share a place in `chunks`, and a run's numbers; the kernel reads them as they are. */
enum { CHUNK = 32, KIND_SHIFT = 28 };
/* Rows of a brick of a grid: those of a group. */
enum { BRICK = 512 };

typedef struct device_run {
    int32_t first, terms;
    uint32_t low, high; /* of the place, and the kind above it */
} device_run;

static int term_count(const layout *L)
{
    const int32_t *places = L->array[CRF_PLACES].data;
    int32_t terms = 0;
    for (int64_t i = 0; i < L->array[CRF_PLACES].count; i++)
        terms = places[i] >= terms ? places[i] + 1 : terms;
    return terms;
}

/* Whether terms become part of the program, which takes a compilation for each matrix: not worth
 * its time for small ones, and for few enough terms, of numbers that can be written down. */
static bool terms_known(const layout *L)
{
    enum { LEAST_ROWS = 1 << 15, MOST = 32 };
    const int terms = term_count(L);
    bool finite = true;
    for (int t = 0; t < terms; t++) {
        const spry_scalar a = layout_load(L, t);
        finite = finite && isfinite(a.re) && isfinite(a.im);
    }
    return L->rows >= LEAST_ROWS && terms <= MOST && finite;
}

/* A bit for each term of a shape. */
static uint32_t shape_bits(const layout *L, int shape)
{
    const int32_t *starts = L->array[CRF_STARTS].data, *places = L->array[CRF_PLACES].data;
    uint32_t bits = 0;
    for (int32_t i = starts[shape]; i < starts[shape + 1]; i++)
        bits |= (uint32_t)1 << places[i];
    return bits;
}

/* The shape of most rows. */
static int common_shape(const layout *L)
{
    const crf_run *runs = L->array[CRF_RUNS].data;
    int64_t rows[CRF_MOST_SHAPES] = {0};
    int common = 0;
    for (int64_t r = 0; r < L->array[CRF_RUNS].count; r++)
        rows[runs[r].shape] += runs[r].rows;
    for (int s = 1; s < CRF_MOST_SHAPES; s++)
        common = rows[s] > rows[common] ? s : common;
    return common;
}

/* The list of terms, as the text wants it. */
static void write_terms(const layout *L, device_form *form)
{
    const int32_t *offsets = L->array[CRF_OFFSETS].data, *places = L->array[CRF_PLACES].data;
    const int64_t listed = L->array[CRF_PLACES].count;
    const int terms = term_count(L);
    size_t used = strlen(form->defines);
    used += (size_t)snprintf(form->defines + used, sizeof form->defines - used,
                             " COMMON=%d TERMS=", (int)shape_bits(L, common_shape(L)));
    for (int t = 0; t < terms; t++) {
        const spry_scalar a = layout_load(L, t);
        int64_t i = 0;
        while (i < listed - 1 && places[i] != t)
            i++;
        used += (size_t)snprintf(form->defines + used, sizeof form->defines - used,
                                 "CRF_TERM(%d,%d,%a,%a)", t, (int)offsets[i], a.re, a.im);
    }
}

/* The largest distance of a term below `below` that divides `whole`; 0: there is none. */
static int64_t find_distance(const layout *L, int64_t below, int64_t whole)
{
    const int32_t *offsets = L->array[CRF_OFFSETS].data;
    int64_t found = 0;
    for (int64_t i = 0; i < L->array[CRF_OFFSETS].count; i++)
        if (offsets[i] > found && offsets[i] < below && whole % offsets[i] == 0)
            found = offsets[i];
    return found;
}

/*
 * Rows of a grid in bricks of BRICK points, so that most of the x that a group needs of other lines
 * and planes is what its neighbours need, too, and comes from the nearest cache. Lines and planes
 * are distances of terms, one a multiple of the other; whatever they are, all rows are there.
 */
static void cut_grid(const layout *L, device_form *form)
{
    enum { LEAST = 16, WIDE = 32 };
    const size_t used = strlen(form->defines);
    int64_t plane = find_distance(L, L->rows, L->rows);
    int64_t line = find_distance(L, plane, plane);
    if (line < LEAST) { /* two dimensions */
        line = plane;
        plane = L->rows;
    }
    if (line < LEAST || line % LEAST != 0 || plane < line)
        return;
    const int64_t x = line % WIDE == 0 ? WIDE : LEAST, lines = plane / line;
    const int64_t planes = L->rows / plane, z = planes > 1 ? 4 : 1, y = BRICK / (x * z);
    const int64_t positions = line / x * ((lines + y - 1) / y) * ((planes + z - 1) / z) * BRICK;
    if (positions > INT32_MAX)
        return;
    form->group = BRICK;
    form->positions = positions;
    snprintf(form->defines + used, sizeof form->defines - used,
             " LINE=%d LINES=%d PLANES=%d WIDTH=%d HEIGHT=%d DEPTH=%d", (int)line, (int)lines,
             (int)planes, (int)x, (int)y, (int)z);
}

static spry_status open(const spry_device *d, const layout *L, int columns, device_form *form)
{
    (void)columns;
    form->text = "formats/crf";
    form->positions = L->rows;
    snprintf(form->defines, sizeof form->defines, "CHUNK=%d NONE=%d EACH=%d REAL=%d", CHUNK,
             CRF_NONE, CRF_EACH, (int)L->number[CRF_REAL]);
    if (terms_known(L)) {
        write_terms(L, form);
        if (d->facts.most_group >= BRICK)
            cut_grid(L, form);
    }
    return SPRY_STATUS_OK;
}

/* Runs as the kernel reads them, one more at the end, and the first of each CHUNK rows. */
static void fill(const layout *L, bool known, device_run *runs, int32_t *chunks)
{
    const crf_run *all = L->array[CRF_RUNS].data;
    const int64_t count = L->array[CRF_RUNS].count;
    int64_t row = 0, chunk = 0;
    for (int64_t r = 0; r < count; row += all[r++].rows) {
        const uint64_t place = (uint64_t)all[r].place;
        runs[r] = (device_run){
            (int32_t)row, known ? (int32_t)shape_bits(L, all[r].shape) : all[r].shape,
            (uint32_t)place, (uint32_t)(place >> 32) | (uint32_t)all[r].main << KIND_SHIFT};
        for (; chunk * CHUNK < row + all[r].rows; chunk++)
            chunks[chunk] = (int32_t)r;
    }
    runs[count] = (device_run){.first = (int32_t)L->rows};
}

static spry_status arrays(const layout *L, layout_array *array)
{
    const int64_t count = L->array[CRF_RUNS].count + 1, chunks = (L->rows + CHUNK - 1) / CHUNK;
    const bool known = terms_known(L);
    device_run *runs = NULL;
    int32_t *chunk = NULL;
    spry_status status = SPRY_STATUS_OK;
    if (count > INT32_MAX)
        return SPRY_FAIL(L->ctx, SPRY_STATUS_UNSUPPORTED,
                         "format crf: %" PRId64 " runs of rows, more than devices count; take dia",
                         count);
    SPRY_GO(L->ctx, base_alloc(L->ctx, count, sizeof *runs, &runs));
    SPRY_GO(L->ctx, base_alloc(L->ctx, chunks, sizeof *chunk, &chunk));
    fill(L, known, runs, chunk);
    array[0] = L->array[CRF_VALUES];
    array[1] = (layout_array){"runs", count, sizeof *runs, runs, true};
    array[2] = (layout_array){"chunks", chunks, sizeof *chunk, chunk, true};
    for (int i = 0; i < 3 && !known; i++)
        array[3 + i] = L->array[CRF_STARTS + i];
    return SPRY_STATUS_OK;
done:
    base_free(L->ctx, runs);
    base_free(L->ctx, chunk);
    return status;
}

const device_format device_format_crf = {.name = "crf", .open = open, .arrays = arrays};
