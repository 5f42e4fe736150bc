/* Constant diagonals on devices: see crf.knl. */
#include "formats/crf/device.h"

#include "matrix/entries.h"

enum { CHUNK = DEVICE_CRF_CHUNK };
/* Rows of a brick of a grid: those of a group. */
enum { BRICK = 512 };

/* Whether x is read for all terms before anything else is known: where registers last for it, and
 * all rows have a value to multiply their own element by. */
static bool reads_at_once(const layout *L)
{
    enum { MOST_BYTES = 128 };
    return !L->number[CRF_BARE] &&
           device_crf_terms(L) * (int64_t)spry_type_size(L->type) <= MOST_BYTES;
}

/* The list of terms, as the text wants it. */
static void write_terms(const layout *L, device_form *form)
{
    const int32_t *offsets = L->array[CRF_OFFSETS].data, *places = L->array[CRF_PLACES].data;
    const int64_t listed = L->array[CRF_PLACES].count;
    const int terms = device_crf_terms(L);
    int64_t least = 0, most = 0;
    for (int64_t i = 0; i < listed; i++) {
        least = offsets[i] < least ? offsets[i] : least;
        most = offsets[i] > most ? offsets[i] : most;
    }
    size_t used = strlen(form->defines);
    used += (size_t)snprintf(
        form->defines + used, sizeof form->defines - used,
        " COMMON=%d BEGIN=%d END=%d COLS=%d%s TERMS=", (int)device_crf_common(L, true), (int)-least,
        (int)(L->cols - most), (int)L->cols, form->at_once ? " AT_ONCE=1" : "");
    for (int t = 0; t < terms; t++) {
        const spry_scalar a = value_get(L->type, L->array[CRF_TERMS].data, t);
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
 * Bricks, of the `down` across all lines, that are walked through plane after plane before the next
 * are: x of the planes above is needed again for those, and a layer of bricks, with what sweeps
 * read and write besides x, has to stay in the second cache until then. All of them where it does,
 * else a part of them that goes into all, if there is one of some size: at its sides x is read
 * twice.
 */
static int64_t strip_of(const spry_device *d, const layout *L, int64_t layer, int64_t down)
{
    enum { STREAMS = 6, MOST = 16, LEAST = 6 };
    int64_t strip = MOST < down ? MOST : down;
    if (layer * (int64_t)spry_type_size(L->type) * STREAMS <= d->facts.cache_bytes / 2)
        return down;
    while (down % strip != 0)
        strip--;
    return strip >= LEAST ? strip : down;
}

/*
 * Rows of a grid in bricks of BRICK points, so that most of the x that a group needs of other lines
 * and planes is what its neighbours need, too, and comes from the nearest cache. Lines and planes
 * are distances of terms, one a multiple of the other; whatever they are, all rows are covered.
 */
static void cut_grid(const spry_device *d, const layout *L, device_form *form)
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
    const int64_t down = (lines + y - 1) / y;
    const int64_t positions = line / x * down * ((planes + z - 1) / z) * BRICK;
    if (positions > INT32_MAX)
        return;
    form->group = BRICK;
    form->positions = positions;
    snprintf(form->defines + used, sizeof form->defines - used,
             " LINE=%d LINES=%d PLANES=%d WIDTH=%d HEIGHT=%d DEPTH=%d STRIP=%d", (int)line,
             (int)lines, (int)planes, (int)x, (int)y, (int)z,
             planes > z ? (int)strip_of(d, L, plane * z, down) : (int)down);
}

static spry_status open(const spry_device *d, const layout *L, int columns, device_form *form)
{
    form->text = "formats/crf";
    form->positions = L->rows;
    snprintf(form->defines, sizeof form->defines, "CHUNK=%d REAL=%d%s", CHUNK,
             (int)L->number[CRF_REAL], L->number[CRF_BARE] ? " BARE=0x80000000u" : "");
    if (!device_crf_known(L)) {
        form->number[0] = (device_number){"common", (int32_t)device_crf_common(L, false)};
    } else {
        form->at_once = columns == 1 && reads_at_once(L);
        write_terms(L, form);
        if (d->facts.most_group >= BRICK)
            cut_grid(d, L, form);
    }
    return SPRY_STATUS_OK;
}

/* Bits begin .. end - 1. */
static uint32_t bits_of(int64_t begin, int64_t end)
{
    return (uint32_t)((((uint64_t)1 << end) - 1) & ~(((uint64_t)1 << begin) - 1));
}

/* Sets the chunks of a run from row `first` on, with `code` for those that need it in `odd`. */
static void describe_run(const crf_run *run, int64_t first, const uint32_t *code,
                         device_chunk *chunks, uint32_t *odd)
{
    const int64_t end = first + run->rows;
    for (int64_t row = first, next; row < end; row = next) {
        device_chunk *chunk = &chunks[row / CHUNK];
        const int64_t begin = row / CHUNK * CHUNK;
        next = begin + CHUNK < end ? begin + CHUNK : end;
        const uint32_t rows = bits_of(row - begin, next - begin);
        if (run->main == CRF_EACH)
            chunk->steps |= rows;
        else if (run->main == CRF_SAME && row == first)
            chunk->steps |= bits_of(row - begin, row - begin + 1);
        if (!code)
            continue;
        for (int64_t i = row; i < next; i++)
            odd[chunk->first + (uint32_t)__builtin_popcount(chunk->odd) + (uint32_t)(i - row)] =
                *code;
        chunk->odd |= rows;
    }
}

/* All chunks, and the codes of rows that are not of the common one; with no room for these their
 * number is all that comes out. */
static int64_t describe(const layout *L, bool known, device_chunk *chunks, uint32_t *odd)
{
    const crf_run *runs = L->array[CRF_RUNS].data;
    const uint32_t common = device_crf_common(L, known);
    const int64_t all = (L->rows + CHUNK - 1) / CHUNK;
    int64_t codes = 0;
    for (int64_t r = 0, row = 0, chunk = 0; r < L->array[CRF_RUNS].count; row += runs[r++].rows) {
        const uint32_t code = device_crf_code(L, known, runs[r].shape, runs[r].main == CRF_NONE);
        const bool is_odd = code != common;
        for (; chunks && chunk < all && chunk * CHUNK < row + runs[r].rows; chunk++) {
            const int64_t before = chunk * CHUNK > row ? chunk * CHUNK - row : 0;
            const int64_t values = runs[r].main == CRF_EACH ? before : before > 0;
            chunks[chunk] = (device_chunk){
                .place = (uint32_t)(runs[r].place + (runs[r].main == CRF_NONE ? 0 : values) - 1),
                .first = (uint32_t)(codes + (is_odd ? before : 0))};
        }
        if (chunks)
            describe_run(&runs[r], row, is_odd ? &code : NULL, chunks, odd);
        codes += is_odd ? runs[r].rows : 0;
    }
    return codes;
}

static spry_status arrays(const layout *L, layout_array *array)
{
    const int64_t chunks = (L->rows + CHUNK - 1) / CHUNK;
    const bool known = device_crf_known(L);
    const int64_t codes = describe(L, known, NULL, NULL);
    device_chunk *chunk = NULL;
    uint32_t *odd = NULL;
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(L->ctx, base_alloc(L->ctx, chunks, sizeof *chunk, &chunk));
    SPRY_GO(L->ctx, base_alloc(L->ctx, codes, sizeof *odd, &odd));
    (void)describe(L, known, chunk, odd);
    array[0] = L->array[CRF_VALUES];
    array[1] = (layout_array){"chunks", chunks, sizeof *chunk, chunk, true};
    array[2] = (layout_array){"odd", codes, sizeof *odd, odd, true};
    for (int i = 0; i < 3 && !known; i++)
        array[3 + i] = L->array[CRF_STARTS + i];
    return SPRY_STATUS_OK;
done:
    base_free(L->ctx, chunk);
    base_free(L->ctx, odd);
    return status;
}

const device_format device_format_crf = {
    .name = "crf", .open = open, .arrays = arrays, .make = device_make_crf};
