/*
 * Powers of an operator that is no matrix: how its steps are made. Rows whose reach is known are
 * skewed (host/skew.h), those of a stencil line by line: step j + 1 of a plane as soon as step j of
 * the planes around it is done. All others are made by products.
 *
 * What k products move at least is k times the operator's own bytes and two vectors. Skewed these
 * are the operator's bytes and x for each pass, and k vectors: with little of its own at most
 * 2 k / (k + 1) times less. Where the last is all that is wanted two vectors take turns, and a pass
 * moves three vectors, whatever its depth.
 */
#include "powers/powers.h"

/* Fast memory that `depth` steps take: of each the rows around the one that is made, of two
 * vectors, and what the operator reads for all rows of the window. */
static int64_t window_bytes(const spry_powers *p, int64_t block, int depth)
{
    const int64_t rows = p->rows.reach + block, size = (int64_t)spry_type_size(p->type);
    const int64_t own = p->n > 0 ? p->product->own_bytes / p->n : 0;
    return rows * (depth * (2 * size + own) + size);
}

/* Long blocks are the fastest, where fast memory has room for them. */
static int64_t block_rows(const spry_powers *p)
{
    int64_t most = 8 * SKEW_BLOCK, rows;
    do
        rows = skew_block_rows(p->n, p->rows.grain, most);
    while (window_bytes(p, rows, powers_most_depth(p)) > powers_fast_memory(p) &&
           (most /= 2) >= SKEW_BLOCK);
    return rows;
}

static spry_status open_blocks(const spry_powers *p, skew *s)
{
    const int64_t reach = p->rows.reach, n = p->n;
    const spry_status status = skew_open(p->ctx, n, block_rows(p), s);
    if (status != SPRY_STATUS_OK)
        return status;
    for (int64_t b = 0; b < s->count; b++) {
        const int64_t begin = s->row[b] - reach, end = s->row[b + 1] + reach;
        const skew_rows found = {.columns = {begin > 0 ? begin : 0, end < n ? end : n}};
        skew_note(s, b, &found);
    }
    skew_close(s);
    return status;
}

static int find_depth(const spry_powers *p, const skew *s)
{
    const int most = powers_most_depth(p);
    int depth = most;
    if (p->options.depth == 0)
        while (depth > 1 && window_bytes(p, s->rows, depth) > powers_fast_memory(p))
            depth--;
    return powers_even_depth(most, depth);
}

/* Fills in what a way costs. Where the steps were not measured work in the cache is supposed to
 * take 0.7 of a product. */
static void forecast(const spry_powers *p, powers_way *way)
{
    const int k = (int)p->options.k, passes = powers_passes(k, way->depth);
    const int64_t vector = p->n * (int64_t)spry_type_size(p->type), own = p->product->own_bytes;
    const int64_t plain = k * (own + 2 * vector);
    const bool last = p->options.results == RESULTS_LAST;
    way->info = (spry_powers_info){.steps = k,
                                   .depth = way->depth,
                                   .parts = 1,
                                   .plain_bytes = plain,
                                   .bytes = plain,
                                   .gain = 1};
    if (way->depth == 1)
        return;
    way->info.parts = way->skewed.shares;
    way->info.part_bytes = window_bytes(p, way->skewed.rows, way->depth);
    way->info.bytes = passes * (own + (last ? 3 : 1) * vector) + (last ? 0 : k * vector);
    way->info.gain = (double)plain / fmax((double)way->info.bytes, 0.7 * (double)plain);
}

static spry_status make_vectors(const spry_powers *p, int count, spry_vector **v)
{
    spry_status status = SPRY_STATUS_OK;
    for (int j = 0; j < count && status == SPRY_STATUS_OK; j++)
        status = spry_vector_new(p->ctx, p->type, p->n, NULL, SPRY_OWN_COPY, &v[j]);
    return status;
}

/* How many times as fast as products a pass is, both with two vectors that take turns. One follows
 * the other, so that other work on the machine does not count for one of them alone, and the best
 * turn of each counts. */
static spry_status measure(const spry_powers *p, double *gain)
{
    enum { TURNS = 4, VECTORS = 3 };
    const int depth = p->way.depth;
    spry_vector *v[VECTORS] = {NULL}, *steps_in[MOST_POWERS];
    void *arrays[MOST_POWERS];
    power_step steps[MOST_POWERS];
    double plain = INFINITY, skewed = INFINITY;
    spry_status status = SPRY_STATUS_OK;
    power_steps_plain(depth, steps);
    SPRY_GO(p->ctx, make_vectors(p, VECTORS, v));
    for (int j = 0; j < depth; j++) {
        steps_in[j] = v[1 + j % 2];
        arrays[j] = steps_in[j]->data;
    }
    for (int t = 0; t < TURNS; t++) {
        const double begin = base_seconds();
        SPRY_GO(p->ctx,
                operator_powers(p->product, SPRY_TRANSPOSE_NO, depth, steps, v[0], steps_in));
        const double middle = base_seconds();
        powers_way_run(p, depth, steps, NULL, v[0]->data, arrays);
        skewed = fmin(skewed, base_seconds() - middle);
        plain = fmin(plain, middle - begin);
    }
    *gain = skewed > 0 ? plain / skewed : 1;
done:
    for (int j = 0; j < VECTORS; j++)
        spry_vector_free(v[j]);
    return status;
}

/* Skewed, where it goes, and where it is measured to pay if that is asked. */
static spry_status try_skewed(spry_powers *p)
{
    powers_way *way = &p->way;
    spry_status status = SPRY_STATUS_OK;
    double gain;
    SPRY_GO(p->ctx, open_blocks(p, &way->skewed));
    way->schedule = SCHEDULE_SKEWED;
    way->depth = find_depth(p, &way->skewed);
    SPRY_GO(p->ctx, skew_share(p->ctx, way->depth, spry_context_threads(p->ctx), &way->skewed));
    forecast(p, way);
    if (way->depth > 1 && p->options.schedule == SCHEDULE_AUTO) {
        SPRY_GO(p->ctx, measure(p, &gain));
        way->info.gain = fmin(gain, (double)way->info.plain_bytes / (double)way->info.bytes);
    }
done:
    return status;
}

/* Whether all vectors of an application are in the cache anyway. */
static bool is_cached(const spry_powers *p)
{
    const int64_t vectors = p->options.results == RESULTS_LAST ? 3 : p->options.k + 1;
    const int64_t bytes = vectors * p->n * (int64_t)spry_type_size(p->type);
    return (bytes + p->product->own_bytes) / spry_context_threads(p->ctx) <= powers_fast_memory(p);
}

spry_status powers_choose_operator(spry_powers *p)
{
    const int schedule = p->options.schedule;
    powers_way *way = &p->way;
    spry_status status = SPRY_STATUS_OK;
    powers_way_clear(p->ctx, way);
    way->version = -1; /* until all is set up */
    p->rows = (operator_rows){0};
    if (!p->product->device && !p->product->rows_part.is)
        SPRY_GO(p->ctx, operator_open_rows(p->product, SPRY_TRANSPOSE_NO, &p->rows));
    if (p->rows.run_scaled && p->rows.reach > 0 && p->options.k > 1 && p->n > 0 &&
        (schedule == SCHEDULE_SKEWED || (schedule == SCHEDULE_AUTO && !is_cached(p))))
        SPRY_GO(p->ctx, try_skewed(p));
    if (way->depth == 1 || (schedule == SCHEDULE_AUTO && way->info.gain < POWERS_LEAST_GAIN)) {
        powers_way_clear(p->ctx, way);
        forecast(p, way);
    }
    powers_way_name(way);
    way->version = p->product->changes;
done:
    if (status != SPRY_STATUS_OK) {
        powers_way_clear(p->ctx, way);
        way->version = -1;
    }
    return status;
}
