/*
 * How powers of a matrix in memory are made. What is compared is time by a simple model: the bytes
 * that come from memory, or the work on what is in the cache, whichever takes longer. How fast
 * these two are is measured where the choice depends on it: a processor whose cores get their
 * fill of bytes has nothing to gain.
 */
#include "powers/powers.h"

#include "host/csr_shares.h"

/* Bytes per second from memory, and of work in the cache, by all threads, while nothing is
 * measured: their ratio alone counts. */
static const powers_pace SUPPOSED = {1, 1 / 0.7};
/* Seconds that a block costs besides its work, as the processor begins to fetch other streams;
 * 0.5e-6 was measured (docs/powers.md). */
static const double BLOCK_SECONDS = 0.5e-6;
/* Fast memory of a thread where the system does not report it. */
enum { UNKNOWN_CACHE = 1 << 20 };

void powers_way_clear(spry_context *ctx, powers_way *way)
{
    skew_clear(ctx, &way->skewed);
    powers_parts_clear(ctx, &way->parts);
    powers_local_clear(&way->local);
    base_free(ctx, way->room);
    *way = (powers_way){.schedule = SCHEDULE_PLAIN, .depth = 1};
}

static int64_t matrix_bytes(const matrix_arrays *a)
{
    return matrix_csr_bytes(a->type, a->rows, a->nnz);
}

static int64_t vector_bytes(const matrix_arrays *a)
{
    return a->rows * (int64_t)spry_type_size(a->type);
}

int64_t powers_fast_memory(const spry_powers *p)
{
    const int64_t cache = host_cache_bytes() / 2 / spry_context_threads(p->ctx);
    return p->options.memory > 0 ? p->options.memory : cache > 0 ? cache : UNKNOWN_CACHE;
}

static bool has_long_rows(const matrix_arrays *a)
{
    for (int64_t i = 0; i < a->rows; i++)
        if (a->offsets[i + 1] - a->offsets[i] > LONG_ROW)
            return true;
    return false;
}

int powers_most_depth(const spry_powers *p)
{
    const int64_t depth = p->options.depth;
    return (int)(depth > 0 && depth < p->options.k ? depth : p->options.k);
}

int powers_passes(int steps, int depth)
{
    return (steps + depth - 1) / depth;
}

int powers_even_depth(int steps, int depth)
{
    const int passes = powers_passes(steps, depth);
    return (steps + passes - 1) / passes;
}

void powers_way_forecast(const spry_powers *p, int64_t read, powers_way *way)
{
    const matrix_arrays *a = &p->csr->a;
    spry_powers_info *info = &way->info;
    const int k = (int)p->options.k, passes = powers_passes(k, way->depth);
    const int64_t entry = 4 + (int64_t)spry_type_size(a->type);
    double work = (double)k * (double)matrix_bytes(a);
    for (int j = 0; j < k; j++) {
        const int step = j % way->depth;
        info->ghost_rows[j] = way->parts.ghost_rows[step];
        info->ghost_entries[j] = way->parts.ghost_entries[step];
        work += (double)(info->ghost_rows[j] * 8 + info->ghost_entries[j] * entry);
    }
    info->steps = k;
    info->depth = way->depth;
    info->plain_bytes = k * (matrix_bytes(a) + 2 * vector_bytes(a));
    info->bytes = passes * read + k * vector_bytes(a);
    const powers_pace pace = p->pace.memory > 0 ? p->pace : SUPPOSED;
    const double blocks = p->pace.memory > 0 ? (double)(k * way->skewed.count) : 0;
    const double seconds =
        fmax((double)info->bytes / pace.memory,
             work / pace.cached + blocks * BLOCK_SECONDS / spry_context_threads(p->ctx));
    info->gain = seconds > 0 ? (double)info->plain_bytes / pace.memory / seconds : 1;
}

static void forecast_plain(const spry_powers *p, powers_way *way)
{
    way->schedule = SCHEDULE_PLAIN;
    way->cut = CUT_ROWS;
    way->depth = 1;
    powers_way_forecast(p, matrix_bytes(&p->csr->a) + vector_bytes(&p->csr->a), way);
    way->info.parts = 1;
    way->info.gain = 1;
}

/* --- skewed --------------------------------------------------------------------------------------
 */

/* What the rows of each block need. */
static void look_at_blocks(const spry_powers *p, const host_csr *csr, skew *s)
{
    const int64_t size = (int64_t)spry_type_size(p->type);
#pragma omp parallel for schedule(static) num_threads(host_threads(p->ctx, p->csr->a.nnz))
    for (int64_t b = 0; b < s->count; b++) {
        const int64_t begin = csr->offsets[s->row[b]], end = csr->offsets[s->row[b + 1]];
        const int64_t rows = s->row[b + 1] - s->row[b];
        skew_rows found = {.bytes = (end - begin) * (4 + size) + rows * 8};
        int32_t low = INT32_MAX, high = -1;
        for (int64_t k = begin; k < end; k++) {
            low = csr->columns[k] < low ? csr->columns[k] : low;
            high = csr->columns[k] > high ? csr->columns[k] : high;
        }
        if (high >= 0)
            found.columns = (range){low, (int64_t)high + 1};
        skew_note(s, b, &found);
    }
    skew_close(s);
}

/* The arrays that a skewed way works on. */
static host_csr skewed_csr(const spry_powers *p, const powers_way *way)
{
    const matrix_arrays *a = &p->csr->a;
    const part *one = way->parts.parts;
    return one ? (host_csr){one->offsets, one->columns, one->values}
               : (host_csr){a->offsets, a->col_index, a->values};
}

/* The deepest that fits; 1: none does. */
static int find_depth(const spry_powers *p, const skew *s)
{
    const int64_t size = (int64_t)spry_type_size(p->type), room = powers_fast_memory(p);
    const int most = powers_most_depth(p);
    int depth = most;
    if (p->options.depth == 0)
        while (depth > 1 && skew_window(s, depth, size) > room)
            depth--;
    return powers_even_depth(most, depth);
}

/* The matrix in the order rcm, as a part of all rows. */
static spry_status put_in_order(const spry_powers *p, powers_way *way)
{
    row_cuts cuts = {0};
    bool stops;
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(p->ctx, powers_cuts_make(p->csr, CUT_RCM, 1, &cuts));
    SPRY_GO(p->ctx, powers_parts_make(p->ctx, &p->csr->a, &cuts, 1, true, 0, &way->parts, &stops));
done:
    powers_cuts_clear(p->ctx, &cuts);
    return status;
}

static spry_status try_skewed(const spry_powers *p, int cut, powers_way *way)
{
    const matrix_arrays *a = &p->csr->a;
    const int64_t size = (int64_t)spry_type_size(p->type);
    spry_status status = SPRY_STATUS_OK;
    way->schedule = SCHEDULE_SKEWED;
    way->cut = cut;
    if (cut == CUT_RCM)
        SPRY_GO(p->ctx, put_in_order(p, way));
    const host_csr csr = skewed_csr(p, way);
    SPRY_GO(p->ctx, skew_open(p->ctx, p->n, skew_block_rows(p->n, 0, SKEW_BLOCK), &way->skewed));
    look_at_blocks(p, &csr, &way->skewed);
    way->depth = find_depth(p, &way->skewed);
    SPRY_GO(p->ctx, skew_share(p->ctx, way->depth, spry_context_threads(p->ctx), &way->skewed));
    if (cut == CUT_RCM) {
        const int64_t vectors = way->depth + 2;
        SPRY_GO(p->ctx, base_alloc(p->ctx, vectors * p->n, (size_t)size, &way->room));
        way->info.memory = way->parts.bytes + vectors * vector_bytes(a);
    }
    /* Reordered, x is read twice and written once, and each v once more as it is permuted back. */
    powers_way_forecast(
        p, matrix_bytes(a) + (cut == CUT_RCM ? 3 + way->depth : 1) * vector_bytes(a), way);
    way->info.parts = way->skewed.shares;
    way->info.part_bytes = skew_window(&way->skewed, way->depth, size);
done:
    return status;
}

/* --- parts ---------------------------------------------------------------------------------------
 */

/* Parts of this depth that fit, as far as some trials show; `stops` where ghosts are too many. */
static spry_status try_parts(const spry_powers *p, int cut, int depth, powers_way *way, bool *stops)
{
    enum { TRIALS = 4, MOST_GHOSTS = 2 };
    const matrix_arrays *a = &p->csr->a;
    const int64_t room = powers_fast_memory(p);
    const int64_t all = matrix_bytes(a) + (depth + 1) * vector_bytes(a);
    row_cuts cuts = {0};
    spry_status status = SPRY_STATUS_OK;
    int64_t count = all / room + 1;
    *stops = false;
    way->schedule = SCHEDULE_PARTS;
    way->cut = cut;
    way->depth = depth;
    for (int trial = 0; trial < TRIALS && !*stops; trial++) {
        count = count > a->rows ? a->rows : count;
        powers_cuts_clear(p->ctx, &cuts);
        powers_parts_clear(p->ctx, &way->parts);
        SPRY_GO(p->ctx, powers_cuts_make(p->csr, cut, (int32_t)count, &cuts));
        SPRY_GO(p->ctx,
                powers_parts_make(p->ctx, a, &cuts, depth, false, MOST_GHOSTS, &way->parts, stops));
        if (way->parts.largest_bytes <= room || count == a->rows || trial + 1 == TRIALS)
            break;
        count += count * (way->parts.largest_bytes - room) / room / 2 + 1;
    }
    if (!*stops) {
        powers_parts_clear(p->ctx, &way->parts);
        SPRY_GO(p->ctx,
                powers_parts_make(p->ctx, a, &cuts, depth, true, MOST_GHOSTS, &way->parts, stops));
        const int64_t size = (int64_t)spry_type_size(p->type);
        powers_way_forecast(p, way->parts.bytes + way->parts.gathered * size, way);
        way->info.parts = way->parts.count;
        way->info.part_bytes = way->parts.largest_bytes;
        way->info.memory =
            way->parts.bytes + way->parts.shares * (depth + 2) * way->parts.largest * size;
    }
done:
    powers_cuts_clear(p->ctx, &cuts);
    return status;
}

/* --- pace --------------------------------------------------------------------------------------
 */

/* Rows from the middle of A, of about `bytes` bytes. */
static range sample_rows(const matrix_arrays *a, int64_t bytes)
{
    const int64_t each = matrix_bytes(a) / a->rows + 1;
    const int64_t count = bytes / each < a->rows ? bytes / each + 1 : a->rows;
    const int64_t begin = (a->rows - count) / 2;
    return (range){begin, begin + count};
}

/* A product from memory, and rows in the cache again and again; the best of some. */
static spry_status measure(spry_powers *p)
{
    enum { PRODUCTS = 2, TURNS = 8, SAMPLE = 1 << 18 };
    const matrix_arrays *a = &p->csr->a;
    const host_kernels *kernels = host_kernels_for(p->ctx, p->type);
    const host_csr csr = {a->offsets, a->col_index, a->values};
    const spry_scalar one = {1, 0}, zero = {0, 0};
    const range rows = sample_rows(a, SAMPLE);
    spry_vector *x = NULL, *y = NULL;
    double product = INFINITY, cached = INFINITY;
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(p->ctx, spry_vector_new(p->ctx, p->type, p->n, NULL, SPRY_OWN_COPY, &x));
    SPRY_GO(p->ctx, spry_vector_new(p->ctx, p->type, p->n, NULL, SPRY_OWN_COPY, &y));
    for (int t = 0; t < PRODUCTS; t++) {
        const double begin = base_seconds();
        SPRY_GO(p->ctx, spry_operator_apply(p->product, x, y));
        product = fmin(product, base_seconds() - begin);
    }
    for (int t = 0; t < TURNS; t++) {
        const double begin = base_seconds();
        kernels->csr_rows(&csr, rows.begin, rows.end, false, one, x->data, zero, y->data);
        cached = fmin(cached, base_seconds() - begin);
    }
    const double bytes = (double)matrix_csr_bytes(p->type, rows.end - rows.begin,
                                                  a->offsets[rows.end] - a->offsets[rows.begin]);
    if (product > 0 && cached > 0)
        p->pace = (powers_pace){(double)(matrix_bytes(a) + 2 * vector_bytes(a)) / product,
                                bytes / cached * spry_context_threads(p->ctx)};
done:
    spry_vector_free(x);
    spry_vector_free(y);
    return status;
}

/* What would be gained if no byte came from memory. */
static double most_gain(const spry_powers *p)
{
    const matrix_arrays *a = &p->csr->a;
    const double bytes = (double)(matrix_bytes(a) + 2 * vector_bytes(a));
    return p->pace.memory > 0 ? bytes / p->pace.memory / ((double)matrix_bytes(a) / p->pace.cached)
                              : INFINITY;
}

/* --- choosing ------------------------------------------------------------------------------------
 */

void powers_way_keep(spry_context *ctx, powers_way *best, powers_way *other, bool wanted)
{
    const bool better =
        other->depth > 1 && (wanted || other->info.gain > fmax(best->info.gain, POWERS_LEAST_GAIN));
    if (better) {
        powers_way_clear(ctx, best);
        *best = *other;
    } else {
        powers_way_clear(ctx, other);
    }
    *other = (powers_way){0};
}

static spry_status consider_skewed(spry_powers *p, powers_way *best)
{
    const bool wanted = p->options.schedule == SCHEDULE_SKEWED;
    const int cut = p->options.cut;
    powers_way trial = {0};
    spry_status status = SPRY_STATUS_OK;
    if (cut == CUT_ROWS || cut == CUT_AUTO) {
        SPRY_GO(p->ctx, try_skewed(p, CUT_ROWS, &trial));
        powers_way_keep(p->ctx, best, &trial, wanted);
    }
    const int depth = best->depth;
    if (cut == CUT_RCM || (cut == CUT_AUTO && depth < p->options.k)) {
        SPRY_GO(p->ctx, try_skewed(p, CUT_RCM, &trial));
        powers_way_keep(p->ctx, best, &trial, cut == CUT_RCM && wanted);
    }
done:
    powers_way_clear(p->ctx, &trial);
    return status;
}

/* With all steps together, and with half of them. */
static spry_status consider_parts(spry_powers *p, powers_way *best)
{
    const bool wanted = p->options.schedule == SCHEDULE_PARTS;
    const int cut = p->options.cut == CUT_AUTO ? CUT_METIS : p->options.cut;
    powers_way trial = {0};
    spry_status status = SPRY_STATUS_OK;
    bool stops;
    int depth = powers_most_depth(p);
    for (; depth > 1; depth = p->options.depth > 0 ? 1 : depth / 2) {
        SPRY_GO(p->ctx, try_parts(p, cut, depth, &trial, &stops));
        if (stops)
            powers_way_clear(p->ctx, &trial);
        const bool first = best->schedule != SCHEDULE_PARTS;
        powers_way_keep(p->ctx, best, &trial, wanted && first);
    }
done:
    powers_way_clear(p->ctx, &trial);
    return status;
}

static spry_status choose(spry_powers *p, powers_way *best)
{
    const matrix_arrays *a = &p->csr->a;
    const int schedule = p->options.schedule, threads = spry_context_threads(p->ctx);
    spry_status status = SPRY_STATUS_OK;
    *best = (powers_way){0};
    forecast_plain(p, best);
    if (schedule == SCHEDULE_PLAIN || p->options.k == 1 || a->nnz == 0 || has_long_rows(a))
        return SPRY_STATUS_OK;
    const bool cached = matrix_bytes(a) / threads <= powers_fast_memory(p);
    if (schedule == SCHEDULE_AUTO && !cached) {
        SPRY_GO(p->ctx, measure(p));
        if (most_gain(p) < POWERS_LEAST_GAIN)
            return SPRY_STATUS_OK; /* orders and partitions would take their time for nothing */
    }
    if (schedule == SCHEDULE_SKEWED || (schedule == SCHEDULE_AUTO && !cached))
        if (p->options.cut != CUT_METIS)
            SPRY_GO(p->ctx, consider_skewed(p, best));
    if (schedule == SCHEDULE_PARTS ||
        (schedule == SCHEDULE_AUTO && !cached && best->depth < p->options.k))
        SPRY_GO(p->ctx, consider_parts(p, best));
done:
    if (status != SPRY_STATUS_OK)
        powers_way_clear(p->ctx, best);
    return status;
}

void powers_way_name(powers_way *way)
{
    static const char *const schedules[] = {"auto", "plain", "skewed", "parts"};
    static const char *const cuts[] = {"rows", "rcm", "metis"};
    snprintf(way->info.schedule, sizeof way->info.schedule, "%s", schedules[way->schedule]);
    snprintf(way->info.cut, sizeof way->info.cut, "%s", cuts[way->cut]);
}

spry_status powers_choose(spry_powers *p)
{
    powers_way way;
    const spry_status status = choose(p, &way);
    if (status != SPRY_STATUS_OK)
        return status;
    way.version = matrix_version(p->matrix);
    powers_way_name(&way);
    way.info.memory +=
        p->copy ? 2 * matrix_bytes(&p->csr->a) : 0; /* own copy and that of the product */
    powers_way_clear(p->ctx, &p->way);
    p->way = way;
    return SPRY_STATUS_OK;
}

/* --- running -------------------------------------------------------------------------------------
 */

/* The vectors of steps, in the order of the arrays; v[0] is v_(-1), v[1] x. */
typedef struct skewed_job {
    const host_kernels *kernels;
    operator_rows rows;
    const power_step *steps;
    int64_t size;
    const char *v[MOST_POWERS + 2];
    const int32_t *places; /* of another order: where numbers go to */
    void *const *out;
} skewed_job;

static void skewed_step(const void *data, int step, int64_t begin, int64_t end)
{
    const skewed_job *job = data;
    const power_step *this = &job->steps[step];
    const int64_t at = begin * job->size, n = end - begin;
    const char *before = job->v[step], *v = job->v[step + 1];
    char *next = (char *)(uintptr_t)job->v[step + 2];
    if (!this->product) {
        power_step_rows(job->kernels, &job->rows, this, job->size, begin, end, before, v, next);
    } else {
        job->rows.run(&job->rows, begin, end, v, next + at);
        if (job->places)
            powers_scatter(n, job->places + begin, job->size, next + at, this->product->data);
        else
            power_step_keep(this, at, next + at, n * job->size);
        power_step_finish(job->kernels, this, n, before ? before + at : NULL, v + at, next + at);
    }
    if (job->places)
        powers_scatter(n, job->places + begin, job->size, next + at, job->out[step]);
}

/* The rows of a matrix that go skewed. */
typedef struct csr_rows {
    const host_kernels *kernels;
    host_csr csr;
} csr_rows;

static void run_csr(const operator_rows *rows, int64_t begin, int64_t end, const void *x, void *y)
{
    const csr_rows *of = rows->state;
    of->kernels->csr_rows(&of->csr, begin, end, false, (spry_scalar){1, 0}, x, (spry_scalar){0, 0},
                          y);
}

void powers_way_run(const spry_powers *p, int count, const power_step *steps, const void *before,
                    const void *x, void *const *v)
{
    const powers_way *way = &p->way;
    if (way->schedule == SCHEDULE_PARTS) {
        powers_parts_run(p->ctx, &way->parts, count, steps, before, x, v);
        return;
    }
    const host_kernels *kernels = host_kernels_for(p->ctx, p->type);
    csr_rows of = {.kernels = kernels};
    if (p->matrix)
        of.csr = skewed_csr(p, way);
    skewed_job job = {.kernels = kernels,
                      .rows = p->matrix ? (operator_rows){.state = &of, .run = run_csr} : p->rows,
                      .steps = steps,
                      .size = (int64_t)spry_type_size(p->type),
                      .out = v};
    if (way->room) {
        const int64_t stride = p->n * job.size;
        job.places = way->parts.parts->rows;
        for (int j = 0; j < count + 2; j++)
            job.v[j] = way->room + j * stride;
        if (before)
            powers_gather(p->ctx, p->n, job.places, job.size, before, way->room);
        else
            job.v[0] = NULL;
        powers_gather(p->ctx, p->n, job.places, job.size, x, way->room + stride);
    } else {
        job.v[0] = before;
        job.v[1] = x;
        for (int j = 0; j < count; j++)
            job.v[j + 2] = v[j];
    }
    skew_run(p->ctx, &way->skewed, count, skewed_step, &job);
}
