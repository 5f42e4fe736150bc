/* Matrices larger than a device's memory: blocks of rows, copied to it for every product. */
#include "device/linalg/streamed.h"
#include "base/bytes.h"

#include "device/engine/staging.h"
#include "device/linalg/operator.h"
#include "device/linalg/vector.h"
#include "formats/shared/device_layout_text.h"
#include "host/skew.h"
#include "matrix/entries.h"

/* Bytes of a block at most: copies reach their full speed with fewer, and of several steps each has
 * a block of its own on the device, or two. */
static const int64_t most_bytes = 16 << 20;

struct device_streamed {
    spry_device *d;
    spry_type type;
    int64_t count;
    device_layout **blocks;
    int64_t *first; /* rows the blocks begin with; count + 1 */
    int64_t bytes;  /* that a product brings */
    int64_t others; /* blocks in csr in the place of the format asked for */
    bool reported;
    skew order; /* of several steps; without blocks where A is not square */
};

static int64_t entry_bytes(const matrix_arrays *a)
{
    return (int64_t)spry_type_size(a->type) + (int64_t)sizeof *a->col_index;
}

/* Bytes of rows begin..end-1 as CSR. */
static int64_t rows_bytes(const matrix_arrays *a, int64_t begin, int64_t end)
{
    return (a->offsets[end] - a->offsets[begin]) * entry_bytes(a) +
           (end - begin) * (int64_t)sizeof *a->offsets;
}

/* --- how much there is ---------------------------------------------------------------------------
 */

/* Bytes of A in a format; CSR's where that is unknown: building it reports why. */
static int64_t estimate(const spry_matrix *A, const char *spec)
{
    const base_kept before = base_try(A->ctx);
    layout_forecast f;
    if (layout_estimate(A, spec, &f) == SPRY_STATUS_OK)
        return f.bytes;
    base_forgive(A->ctx, &before);
    return rows_bytes(&A->a, 0, A->a.rows);
}

int64_t device_streamed_needed(spry_device *d, const spry_matrix *A, const char *spec, bool *whole)
{
    enum {
        PARTS = 8,
        FAR = 4
    }; /* blocks under way are two, each array in a block twice as large */
    const matrix_arrays *a = &A->a;
    const int64_t vectors = 2 * (a->rows + a->cols) * (int64_t)spry_type_size(a->type);
    int64_t used, most, free_bytes;
    device_memory_now(d, &used, &most, &free_bytes);
    *whole = true;
    if (a->rows < 2 || FAR * rows_bytes(a, 0, a->rows) + vectors <= free_bytes)
        return 0;
    const int64_t bytes = estimate(A, spec);
    const int64_t room = free_bytes > vectors ? (free_bytes - vectors) / PARTS : 1;
    *whole = bytes + vectors <= free_bytes;
    if (bytes + vectors <= free_bytes - free_bytes / PARTS)
        return 0;
    return room < most_bytes ? room : most_bytes;
}

bool device_has_room(spry_device *d, const spry_matrix *A)
{
    const matrix_arrays *a = &A->a;
    const int64_t entries = a->symmetry == SPRY_SYMMETRY_GENERAL ? a->nnz : 2 * a->nnz;
    const int64_t vectors = 2 * (a->rows + a->cols) * (int64_t)spry_type_size(a->type);
    int64_t used, most, free_bytes;
    device_memory_now(d, &used, &most, &free_bytes);
    return entries * entry_bytes(a) + a->rows * (int64_t)sizeof *a->offsets + vectors <= free_bytes;
}

/* --- blocks --------------------------------------------------------------------------------------
 */

/* The row a block that begins with `first` ends before: as many as fit, one at least; a round
 * number where there are many, for formats with slices. */
static int64_t end_of_block(const matrix_arrays *a, int64_t first, int64_t bytes)
{
    enum { ROUND = 64 };
    int64_t low = first + 1, high = a->rows;
    while (low < high) {
        const int64_t middle = low + (high - low + 1) / 2;
        if (rows_bytes(a, first, middle) <= bytes)
            low = middle;
        else
            high = middle - 1;
    }
    if (low < a->rows && low - first > ROUND)
        low = first + (low - first) / ROUND * ROUND;
    return low;
}

static int64_t count_blocks(const matrix_arrays *a, int64_t bytes, int64_t *first)
{
    int64_t count = 0;
    for (int64_t row = 0; row < a->rows; count++) {
        if (first)
            first[count] = row;
        row = end_of_block(a, row, bytes);
    }
    if (first)
        first[count] = a->rows;
    return count;
}

/* Whether products of all entries are kept: they would take the room of blocks. */
static bool keeps_products(const spry_device *d, const layout *L)
{
    device_form form;
    return device_form_open(d, L, 1, false, &form) == SPRY_STATUS_OK && form.before > 0;
}

/* A block in a format; it may come out larger than estimated, as where rows of a slice differ. */
static spry_status store_block(device_streamed *S, const spry_matrix *block, const char *spec,
                               int64_t most, device_layout **out)
{
    layout *L = NULL;
    spry_status status = layout_build(block, spec, &L);
    if (status == SPRY_STATUS_OK && (layout_read_bytes(L) > most || keeps_products(S->d, L))) {
        layout_free(L);
        return SPRY_STATUS_UNSUPPORTED;
    }
    return status == SPRY_STATUS_OK ? device_layout_new_away(S->d, L, out) : status;
}

/* Rows of block k, in csr where the format does not do for them. */
static spry_status make_block(device_streamed *S, const spry_matrix *A, const char *spec,
                              int64_t most, int64_t k)
{
    spry_context *ctx = A->ctx;
    const int64_t first = S->first[k], rows = S->first[k + 1] - first;
    const int64_t entry = A->a.offsets[first];
    spry_matrix block = {.ctx = ctx, .a = A->a};
    const base_kept before = base_try(ctx);
    spry_status status = SPRY_STATUS_OK;
    block.a.rows = rows;
    block.a.nnz = A->a.offsets[first + rows] - entry;
    block.a.col_index = A->a.col_index + entry;
    block.a.values = (char *)A->a.values + (size_t)entry * spry_type_size(A->a.type);
    block.a.offsets = NULL;
    SPRY_GO(ctx, base_alloc(ctx, rows + 1, sizeof *block.a.offsets, &block.a.offsets));
    for (int64_t i = 0; i <= rows; i++)
        block.a.offsets[i] = A->a.offsets[first + i] - entry;
    status = store_block(S, &block, spec, most, &S->blocks[k]);
    if (status == SPRY_STATUS_UNSUPPORTED) {
        base_forgive(ctx, &before); /* nothing failed for the caller */
        S->others++;
        status = store_block(S, &block, "csr", INT64_MAX, &S->blocks[k]);
    }
    SPRY_GO(ctx, status);
    S->bytes += layout_read_bytes(device_layout_host(S->blocks[k]));
done:
    base_free(ctx, block.a.offsets);
    return status;
}

/* Which blocks each of them needs, for several steps. */
static spry_status look_at_blocks(device_streamed *S, const matrix_arrays *a)
{
    if (a->rows != a->cols)
        return SPRY_STATUS_OK;
    const spry_status status = skew_open_at(S->d->ctx, S->count, S->first, &S->order);
    for (int64_t k = 0; status == SPRY_STATUS_OK && k < S->count; k++) {
        skew_rows found = {.bytes = layout_read_bytes(device_layout_host(S->blocks[k]))};
        int32_t low = INT32_MAX, high = -1;
        for (int64_t i = a->offsets[S->first[k]]; i < a->offsets[S->first[k + 1]]; i++) {
            low = a->col_index[i] < low ? a->col_index[i] : low;
            high = a->col_index[i] > high ? a->col_index[i] : high;
        }
        if (high >= 0)
            found.columns = (range){low, (int64_t)high + 1};
        skew_note(&S->order, k, &found);
    }
    if (status == SPRY_STATUS_OK)
        skew_close(&S->order);
    return status;
}

spry_status device_streamed_new(spry_device *d, const spry_matrix *A, const char *spec,
                                int64_t block_bytes, device_streamed **out)
{
    spry_context *ctx = A->ctx;
    device_streamed *S = NULL;
    spry_status status = SPRY_STATUS_OK;
    /* What the format makes of CSR's bytes is about the same everywhere. */
    const double growth = (double)estimate(A, spec) / (double)rows_bytes(&A->a, 0, A->a.rows);
    const double limit = (double)block_bytes / (growth > 0.25 ? growth : 0.25);
    *out = NULL;
    SPRY_GO(ctx, base_calloc(ctx, 1, sizeof *S, &S));
    S->d = d;
    S->type = A->a.type;
    S->count = count_blocks(&A->a, (int64_t)limit, NULL);
    SPRY_GO(ctx, base_calloc(ctx, S->count, sizeof *S->blocks, &S->blocks));
    SPRY_GO(ctx, base_alloc(ctx, S->count + 1, sizeof *S->first, &S->first));
    (void)count_blocks(&A->a, (int64_t)limit, S->first);
    for (int64_t k = 0; k < S->count; k++)
        SPRY_GO(ctx, make_block(S, A, spec, 2 * block_bytes, k));
    SPRY_GO(ctx, look_at_blocks(S, &A->a));
    if (S->others > 0)
        base_log(ctx, SPRY_LOG_INFO, "%" PRId64 " of %" PRId64 " blocks of rows are kept as csr",
                 S->others, S->count);
    *out = S;
    S = NULL;
done:
    device_streamed_free(S);
    return status;
}

void device_streamed_free(device_streamed *S)
{
    if (!S)
        return;
    spry_context *ctx = S->d->ctx;
    device_staging_finish(S->d); /* the last product's copies may still be on their way */
    for (int64_t k = 0; S->blocks && k < S->count; k++)
        device_layout_free(S->blocks[k]);
    skew_clear(ctx, &S->order);
    base_free(ctx, S->blocks);
    base_free(ctx, S->first);
    base_free(ctx, S);
}

const layout *device_streamed_host(const device_streamed *S)
{
    return device_layout_host(S->blocks[0]);
}

void device_streamed_describe(const device_streamed *S, spry_storage *to)
{
    layout_describe(device_streamed_host(S), to);
    for (int64_t k = 1; k < S->count; k++) {
        spry_storage block = SPRY_STORAGE_INIT;
        layout_describe(device_layout_host(S->blocks[k]), &block);
        to->nnz += block.nnz;
        to->stored += block.stored;
        to->bytes += block.bytes;
        to->read_bytes += block.read_bytes;
        to->exact = to->exact && block.exact;
    }
    to->beta = to->stored > 0 ? (double)to->nnz / (double)to->stored : 1;
    to->fill = to->beta < 1 ? 1 - to->beta : 0;
}

/* --- products ------------------------------------------------------------------------------------
 */

/* One pass through the matrix. */
typedef struct pass {
    device_streamed *S;
    const device_product *products;
    int count;
    device_staging *sides;
    device_memory *y;        /* rows of a block */
    device_event *events[2]; /* NULL: it is not measured */
    double seconds;          /* of the products alone */
} pass;

/* Rows of y go through memory of their own: not every device can point into the middle of it. */
static spry_status multiply_rows(const pass *w, int64_t k)
{
    const device_streamed *S = w->S;
    spry_device *d = S->d;
    const int64_t first = S->first[k], rows = S->first[k + 1] - first;
    spry_status status = SPRY_STATUS_OK;
    for (int i = 0; i < w->count; i++) {
        device_product p = w->products[i];
        const device_block whole = {p.y, first * p.y_stride, p.y_stride, 1};
        const device_block part = {w->y, 0, p.columns, 1};
        if (p.beta.re != 0 || p.beta.im != 0)
            SPRY_GO(d->ctx, device_copy_block(d, S->type, rows, p.columns, whole, part));
        p.y = w->y;
        p.y_stride = p.columns;
        SPRY_GO(d->ctx, device_layout_multiply(S->blocks[k], &p));
        SPRY_GO(d->ctx, device_copy_block(d, S->type, rows, p.columns, part, whole));
    }
done:
    return status;
}

/* Memory that comes from the pool was used on the device's stream: after that. */
static spry_status bring(const pass *w, int64_t k)
{
    device_stream *s = w->sides[k % STAGING_SIDES].stream;
    const spry_status status = device_stream_wait(s, w->S->d->stream);
    return status == SPRY_STATUS_OK ? device_layout_load(w->S->blocks[k], s) : status;
}

/* Adds what a block's products took. A caller's queue may have no clock: then nothing is reported.
 */
static void add_seconds(pass *w)
{
    spry_context *ctx = w->S->d->ctx;
    const base_kept before = base_try(ctx);
    double seconds = 0;
    if (device_event_seconds(w->events[0], w->events[1], &seconds) == SPRY_STATUS_OK)
        w->seconds += seconds;
    else
        base_forgive(ctx, &before);
}

static spry_status run_block(pass *w, int64_t k)
{
    device_streamed *S = w->S;
    spry_device *d = S->d;
    spry_status status = SPRY_STATUS_OK;
    if (k + 1 < S->count)
        SPRY_GO(d->ctx, bring(w, k + 1));
    SPRY_GO(d->ctx, device_stream_wait(d->stream, w->sides[k % STAGING_SIDES].stream));
    if (w->events[0])
        SPRY_GO(d->ctx, device_event_record(w->events[0], NULL));
    SPRY_GO(d->ctx, multiply_rows(w, k));
    if (w->events[0]) {
        SPRY_GO(d->ctx, device_event_record(w->events[1], NULL));
        add_seconds(w);
    }
    device_layout_drop(S->blocks[k]);
done:
    return status;
}

static spry_status make_room(pass *w)
{
    device_streamed *S = w->S;
    int64_t rows = 0;
    int columns = 0;
    spry_status status = SPRY_STATUS_OK;
    for (int64_t k = 0; k < S->count; k++)
        rows = S->first[k + 1] - S->first[k] > rows ? S->first[k + 1] - S->first[k] : rows;
    for (int i = 0; i < w->count; i++)
        columns = w->products[i].columns > columns ? w->products[i].columns : columns;
    SPRY_GO(S->d->ctx,
            device_alloc(S->d, rows * columns * (int64_t)spry_type_size(S->type), &w->y));
    SPRY_GO(S->d->ctx, device_staging_open(S->d, 0, 0, &w->sides));
done:
    return status;
}

static spry_status run(pass *w)
{
    device_streamed *S = w->S;
    spry_context *ctx = S->d->ctx;
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(ctx, make_room(w));
    SPRY_GO(ctx, bring(w, 0));
    for (int64_t k = 0; k < S->count; k++)
        SPRY_GO(ctx, run_block(w, k));
done:
    if (status != SPRY_STATUS_OK) {
        device_staging_finish(S->d); /* before memory it copies to goes back */
        for (int64_t k = 0; k < S->count; k++)
            device_layout_drop(S->blocks[k]);
    }
    device_free(w->y);
    return status;
}

static void report_cost(const pass *w, double seconds)
{
    const device_streamed *S = w->S;
    const double bytes = (double)S->bytes;
    char slower[96] = "", all[BASE_BYTES], pace[BASE_BYTES];
    if (w->seconds > 0)
        snprintf(slower, sizeof slower, ", %.1f times as long as in its memory",
                 seconds / w->seconds);
    base_log(S->d->ctx, SPRY_LOG_WARNING,
             "a matrix of %s as %s does not fit into the memory of %s: every product copies it "
             "in %" PRId64 " blocks of rows; the first took %.3g s, %s/s%s; try a type "
             "or format that takes fewer bytes, or the cpu",
             base_bytes(bytes, all), device_streamed_host(S)->class->name, S->d->facts.name,
             S->count, seconds, base_bytes(seconds > 0 ? bytes / seconds : 0, pace), slower);
}

/* The first pass: programs are made before the clock starts, and it waits for its end. */
static spry_status run_measured(pass *w)
{
    device_streamed *S = w->S;
    spry_context *ctx = S->d->ctx;
    spry_status status = SPRY_STATUS_OK;
    for (int64_t k = 0; k < S->count; k++)
        for (int i = 0; i < w->count; i++)
            SPRY_GO(ctx, device_layout_prepare(S->blocks[k], &w->products[i]));
    for (int i = 0; i < 2; i++)
        SPRY_GO(ctx, device_event_new(S->d, &w->events[i]));
    SPRY_GO(ctx, device_finish(S->d));
    const double start = base_seconds();
    SPRY_GO(ctx, run(w));
    SPRY_GO(ctx, device_finish(S->d));
    report_cost(w, base_seconds() - start);
    S->reported = true;
done:
    device_event_free(w->events[0]);
    device_event_free(w->events[1]);
    return status;
}

spry_status device_streamed_multiply(device_streamed *S, const device_product *products, int count)
{
    pass w = {.S = S, .products = products, .count = count};
    return S->reported ? run(&w) : run_measured(&w);
}

/* --- several steps -------------------------------------------------------------------------------
 */

/* One pass for some steps: w.y has a block's rows of the step at hand, `other` of one before. */
typedef struct powers_pass {
    pass w;
    device_memory *other;
    int count;
    const power_step *steps;
    const spry_vector *before, *x;
    spry_vector *const *v;
} powers_pass;

/* y += factor of a block's rows of a vector; y times `scale` before. */
static spry_status add_rows(const powers_pass *w, int64_t k, spry_scalar factor,
                            const spry_vector *from, spry_scalar scale)
{
    const device_streamed *S = w->w.S;
    const int64_t first = S->first[k], rows = S->first[k + 1] - first;
    const device_block whole = {device_vector_memory(from), first, 1, 1},
                       part = {w->other, 0, 1, 1};
    const spry_vector other = device_vector_over(S->d, S->type, rows, w->other);
    spry_vector y = device_vector_over(S->d, S->type, rows, w->w.y);
    const spry_status status = device_copy_block(S->d, S->type, rows, 1, whole, part);
    return status == SPRY_STATUS_OK ? device_vectors.blend(factor, &other, scale, &y) : status;
}

static bool is_number(spry_scalar a, double re)
{
    return a.re == re && a.im == 0;
}

/* A step of a block that is on the device; in the order of operations that operator_powers() has.
 */
static spry_status step_block(const powers_pass *w, int j, int64_t k)
{
    const device_streamed *S = w->w.S;
    spry_device *d = S->d;
    const power_step *step = &w->steps[j];
    const int64_t first = S->first[k], rows = S->first[k + 1] - first;
    const spry_vector *from = j > 0 ? w->v[j - 1] : w->x;
    const spry_vector *before = j > 1 ? w->v[j - 2] : j == 1 ? w->x : w->before;
    const spry_scalar one = {1, 0}, zero = {0, 0};
    const device_product p = {.columns = 1,
                              .alpha = one,
                              .beta = zero,
                              .x = device_vector_memory(from),
                              .x_stride = 1,
                              .y = w->w.y,
                              .y_stride = 1};
    spry_vector y = device_vector_over(d, S->type, rows, w->w.y);
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(d->ctx, device_layout_multiply(S->blocks[k], &p));
    if (step->product)
        SPRY_GO(d->ctx, device_copy_block(
                            d, S->type, rows, 1, (device_block){w->w.y, 0, 1, 1},
                            (device_block){device_vector_memory(step->product), first, 1, 1}));
    if (!is_number(step->beta, 0))
        SPRY_GO(d->ctx, add_rows(w, k, step->beta, from, step->alpha));
    else if (!is_number(step->alpha, 1))
        SPRY_GO(d->ctx, device_vectors.blend(step->alpha, &y, zero, &y));
    if (before && !is_number(step->gamma, 0))
        SPRY_GO(d->ctx, add_rows(w, k, step->gamma, before, one));
    SPRY_GO(d->ctx, device_copy_block(d, S->type, rows, 1, (device_block){w->w.y, 0, 1, 1},
                                      (device_block){device_vector_memory(w->v[j]), first, 1, 1}));
done:
    return status;
}

static spry_status run_steps(powers_pass *w)
{
    device_streamed *S = w->w.S;
    spry_context *ctx = S->d->ctx;
    skew_fronts f = {0};
    int64_t dropped = 0;
    spry_status status = SPRY_STATUS_OK;
    for (int j = 0; j < w->count; j++)
        f.end[j] = S->count;
    SPRY_GO(ctx, bring(&w->w, 0));
    while (f.next[0] < S->count) {
        const int64_t k = f.next[0];
        if (k + 1 < S->count)
            SPRY_GO(ctx, bring(&w->w, k + 1));
        SPRY_GO(ctx, device_stream_wait(S->d->stream, w->w.sides[k % STAGING_SIDES].stream));
        SPRY_GO(ctx, step_block(w, 0, f.next[0]++));
        for (int j = 1; j < w->count; j++)
            while (skew_may_go(&S->order, &f, j))
                SPRY_GO(ctx, step_block(w, j, f.next[j]++));
        for (; dropped < f.next[w->count - 1]; dropped++)
            device_layout_drop(S->blocks[dropped]);
    }
done:
    if (status != SPRY_STATUS_OK) {
        device_staging_finish(S->d); /* before memory it copies to goes back */
        for (int64_t k = 0; k < S->count; k++)
            device_layout_drop(S->blocks[k]);
    }
    return status;
}

/* Bytes of the largest block and of a vector of its rows. */
static int64_t largest_block(const device_streamed *S, int64_t *rows)
{
    int64_t bytes = 0;
    *rows = 0;
    for (int64_t k = 0; k < S->count; k++) {
        const int64_t n = S->first[k + 1] - S->first[k];
        const int64_t size = S->order.bytes[k + 1] - S->order.bytes[k];
        *rows = n > *rows ? n : *rows;
        bytes = size > bytes ? size : bytes;
    }
    return bytes;
}

/* The most steps whose blocks, the next one, and some room for the pool fit: sizes of that are up
 * to an eighth larger than asked for, those of small blocks twice as large. */
int device_streamed_depth(const device_streamed *S, int count)
{
    enum { AHEAD = 2, LARGE = 8 << 20 };
    int64_t used, most, free_bytes, rows;
    if (S->order.count == 0)
        return 1;
    device_memory_now(S->d, &used, &most, &free_bytes);
    const int64_t block = largest_block(S, &rows);
    const int64_t others = AHEAD * block + 2 * rows * (int64_t)spry_type_size(S->type);
    int depth = count;
    while (depth > 1) {
        const int64_t window = skew_window(&S->order, depth, 0);
        if (window + (block > LARGE ? window / 4 : window) + others <= free_bytes)
            break;
        depth--;
    }
    return depth;
}

/* All steps, `depth` at a time. */
static spry_status run_powers(device_streamed *S, int depth, int count, const power_step *steps,
                              const spry_vector *x, spry_vector *const *v)
{
    powers_pass w = {.w = {.S = S}};
    spry_context *ctx = S->d->ctx;
    int64_t rows;
    spry_status status = SPRY_STATUS_OK;
    (void)largest_block(S, &rows);
    const int64_t bytes = rows * (int64_t)spry_type_size(S->type);
    SPRY_GO(ctx, device_alloc(S->d, bytes, &w.w.y));
    SPRY_GO(ctx, device_alloc(S->d, bytes, &w.other));
    SPRY_GO(ctx, device_staging_open(S->d, 0, 0, &w.w.sides));
    for (int j = 0; j < count; j += depth) {
        w.count = count - j < depth ? count - j : depth;
        w.steps = steps + j;
        w.before = j > 1 ? v[j - 2] : j == 1 ? x : NULL;
        w.x = j > 0 ? v[j - 1] : x;
        w.v = v + j;
        SPRY_GO(ctx, run_steps(&w));
    }
done:
    device_free(w.w.y);
    device_free(w.other);
    return status;
}

/* Where free memory turns out to be in too small pieces, fewer steps go together. */
spry_status device_streamed_powers(device_streamed *S, int count, const power_step *steps,
                                   const spry_vector *x, spry_vector *const *v, bool *made)
{
    spry_context *ctx = S->d->ctx;
    const base_kept before = base_try(ctx);
    for (int depth = device_streamed_depth(S, count); depth > 1; depth--) {
        const spry_status status = run_powers(S, depth, count, steps, x, v);
        *made = status == SPRY_STATUS_OK;
        if (status != SPRY_STATUS_NO_MEMORY)
            return status;
        base_forgive(ctx, &before); /* nothing failed for the caller */
    }
    return SPRY_STATUS_OK;
}
