/*
 * Grouping entries by row or column: the stable counting sort behind conversion and transposition.
 * A stable order is unique, so the result does not depend on how many threads worked on it.
 *
 * Three ways lead to it. Keys that rise already need no sort. Keys with locality (a band, a mesh)
 * are scattered in one pass. Keys without it would miss the cache with every entry; they are first
 * sorted into buckets of neighbouring keys, each of which is then scattered within the cache.
 */
#include "matrix/entries.h"

bool matrix_rises(const spry_context *ctx, const int32_t *index, int64_t n)
{
    enum { BLOCK = 4096 };
    const int parts = matrix_parts(ctx, n);
    int falls = 0;
#pragma omp parallel for num_threads(parts) schedule(static, 1) reduction(| : falls)
    for (int part = 0; part < parts; part++) {
        const range r = base_share(n, parts, part, 1);
        int bad = 0;
        for (int64_t first = r.begin; first < r.end && !bad; first += BLOCK) {
            const int64_t stop = first + BLOCK < r.end ? first + BLOCK : r.end;
            for (int64_t k = first > 0 ? first : 1; k < stop; k++)
                bad |= index[k - 1] > index[k];
        }
        falls |= bad;
    }
    return !falls;
}

void matrix_count_rising(const spry_context *ctx, const int32_t *index, int64_t n, int64_t major,
                         int64_t *offsets)
{
    const int parts = matrix_parts(ctx, n);
#pragma omp parallel for num_threads(parts) schedule(static, 1)
    for (int part = 0; part < parts; part++) {
        const range r = base_share(n, parts, part, 1);
        int64_t row = r.begin > 0 ? index[r.begin - 1] : -1;
        for (int64_t k = r.begin; k < r.end; k++)
            while (row < index[k])
                offsets[++row] = k;
    }
    for (int64_t row = n > 0 ? index[n - 1] : -1; row < major;)
        offsets[++row] = n;
}

/* The keys of a part of the entries, and how often each occurs. */
typedef struct window {
    range entries;
    int64_t low, size;
    int64_t *count; /* of key low + i; becomes the next place of such an entry */
} window;

static const int32_t *keys_of(const matrix_arrays *a, bool by_row)
{
    return by_row ? a->row_index : a->col_index;
}

static void count_keys(const int32_t *key, int shift, window *w)
{
    memset(w->count, 0, (size_t)w->size * sizeof *w->count);
    for (int64_t k = w->entries.begin; k < w->entries.end; k++)
        w->count[(key[k] >> shift) - w->low]++;
}

/* Where a scatter puts entries; key may be NULL. */
typedef struct target {
    int32_t *key, *other;
    void *values;
} target;

/* Moves the window's entries to the next place of their key, which moves on. */
ALWAYS_INLINE void scatter_sized(size_t size, bool keep_key, const matrix_arrays *a, bool by_row,
                                 int shift, const window *to, const target *out)
{
    /* Locals, so that stores to the arrays are known not to change what steers the loop. */
    int64_t *restrict next = to->count;
    int32_t *restrict out_key = out->key, *restrict out_other = out->other;
    char *restrict out_values = out->values;
    const int64_t low = to->low;
    entry_loop w;
    entry_loop_start(&w, a, to->entries);
    while (entry_loop_next(&w)) {
        const int32_t *key = by_row ? w.row : w.col, *other = by_row ? w.col : w.row;
        const char *values = (const char *)a->values + (size_t)w.first * size;
        const int count = w.count;
        for (int i = 0; i < count; i++) {
            const int64_t place = next[(key[i] >> shift) - low]++;
            if (keep_key)
                out_key[place] = key[i];
            out_other[place] = other[i];
            element_move(size, out_values, place, values, i);
        }
    }
}

static void scatter(const matrix_arrays *a, bool by_row, int shift, const window *to,
                    const target *out)
{
    const size_t size = spry_type_size(a->type);
    const bool keep = out->key != NULL;
    if (size == 4)
        keep ? scatter_sized(4, true, a, by_row, shift, to, out)
             : scatter_sized(4, false, a, by_row, shift, to, out);
    else if (size == 8)
        keep ? scatter_sized(8, true, a, by_row, shift, to, out)
             : scatter_sized(8, false, a, by_row, shift, to, out);
    else
        keep ? scatter_sized(16, true, a, by_row, shift, to, out)
             : scatter_sized(16, false, a, by_row, shift, to, out);
}

/*
 * Whether neighbouring entries mostly go to neighbouring places: a sample of runs is played through
 * a picture of a cache whose lines are 16 keys.
 */
static bool keys_are_local(const int32_t *key, int64_t n)
{
    enum { RUNS = 16, RUN = 2048, SLOTS = 1024, KEY_BITS = 4 };
    int32_t seen[SLOTS];
    int64_t hits = 0;
    if (n < RUNS * RUN)
        return true;
    for (int run = 0; run < RUNS; run++) {
        const int32_t *sample = key + n / RUNS * run;
        memset(seen, 0xff, sizeof seen);
        for (int k = 0; k < RUN; k++) {
            const int32_t line = sample[k] >> KEY_BITS;
            hits += seen[line % SLOTS] == line;
            seen[line % SLOTS] = line;
        }
    }
    return 2 * hits > RUNS * RUN;
}

/* Cuts the entries into parts and finds the keys each has; returns how many counts they need
 * together. */
static int64_t find_windows(const int32_t *key, int64_t n, int parts, window *windows)
{
    int64_t total = 0;
#pragma omp parallel for num_threads(parts) schedule(static, 1) reduction(+ : total)
    for (int part = 0; part < parts; part++) {
        const range r = base_share(n, parts, part, 1);
        int32_t low = INT32_MAX, high = 0;
        for (int64_t k = r.begin; k < r.end; k++) {
            low = key[k] < low ? key[k] : low;
            high = key[k] > high ? key[k] : high;
        }
        windows[part] = (window){r, low, high >= low ? (int64_t)high - low + 1 : 0, NULL};
        total += windows[part].size;
    }
    return total;
}

/* Count of a key in a window, and its place once that is known. */
static int64_t *count_in(const window *w, int64_t key)
{
    return key >= w->low && key < w->low + w->size ? &w->count[key - w->low] : NULL;
}

/* Turns the windows' counts into offsets and into each window's first places. */
static spry_status place_windows(spry_context *ctx, int64_t keys, int parts, const window *windows,
                                 int64_t *offsets)
{
    const int threads = matrix_parts(ctx, keys);
    offsets[0] = 0;
#pragma omp parallel for num_threads(threads) schedule(static)
    for (int64_t key = 0; key < keys; key++) {
        int64_t sum = 0;
        for (int part = 0; part < parts; part++) {
            const int64_t *count = count_in(&windows[part], key);
            sum += count ? *count : 0;
        }
        offsets[key + 1] = sum;
    }
    const spry_status status = base_prefix_sum(ctx, offsets, keys);
    if (status != SPRY_STATUS_OK)
        return status;
#pragma omp parallel for num_threads(threads) schedule(static)
    for (int64_t key = 0; key < keys; key++) {
        int64_t place = offsets[key];
        for (int part = 0; part < parts; part++) {
            int64_t *count = count_in(&windows[part], key);
            if (!count)
                continue;
            const int64_t many = *count;
            *count = place;
            place += many;
        }
    }
    return SPRY_STATUS_OK;
}

/* One pass; *finished is false when the parts' counts would outgrow the offsets or the entries. */
static spry_status group_directly(spry_context *ctx, const matrix_arrays *a, bool by_row,
                                  int64_t *offsets, const target *out, bool *finished)
{
    const int32_t *key = keys_of(a, by_row);
    const int64_t keys = by_row ? a->rows : a->cols;
    const int parts = matrix_parts(ctx, a->nnz);
    spry_status status = SPRY_STATUS_OK;
    window *windows = NULL;
    int64_t *counts = NULL;
    SPRY_GO(ctx, base_alloc(ctx, parts, sizeof *windows, &windows));
    const int64_t total = find_windows(key, a->nnz, parts, windows);
    *finished = total / 4 <= keys && total / 64 <= a->nnz;
    if (!*finished)
        goto done;
    SPRY_GO(ctx, base_alloc(ctx, total, sizeof *counts, &counts));
    windows[0].count = counts;
    for (int part = 1; part < parts; part++)
        windows[part].count = windows[part - 1].count + windows[part - 1].size;
#pragma omp parallel for num_threads(parts) schedule(static, 1)
    for (int part = 0; part < parts; part++)
        count_keys(key, 0, &windows[part]);
    SPRY_GO(ctx, place_windows(ctx, keys, parts, windows, offsets));
#pragma omp parallel for num_threads(parts) schedule(static, 1)
    for (int part = 0; part < parts; part++)
        scatter(a, by_row, 0, &windows[part], out);
done:
    base_free(ctx, counts);
    base_free(ctx, windows);
    return status;
}

/* Distributes the entries to buckets of 2^shift keys, stably; start[b] is bucket b's first place in
 * `out`. */
static spry_status to_buckets(spry_context *ctx, const matrix_arrays *a, bool by_row, int shift,
                              int64_t buckets, int64_t *start, const target *out)
{
    const int parts = matrix_parts(ctx, a->nnz);
    spry_status status = SPRY_STATUS_OK;
    window *windows = NULL;
    int64_t *counts = NULL;
    SPRY_GO(ctx, base_alloc(ctx, parts, sizeof *windows, &windows));
    SPRY_GO(ctx, base_alloc(ctx, parts * buckets, sizeof *counts, &counts));
#pragma omp parallel for num_threads(parts) schedule(static, 1)
    for (int part = 0; part < parts; part++) {
        windows[part] =
            (window){base_share(a->nnz, parts, part, 1), 0, buckets, counts + part * buckets};
        count_keys(keys_of(a, by_row), shift, &windows[part]);
    }
    SPRY_GO(ctx, place_windows(ctx, buckets, parts, windows, start));
#pragma omp parallel for num_threads(parts) schedule(static, 1)
    for (int part = 0; part < parts; part++)
        scatter(a, by_row, shift, &windows[part], out);
done:
    base_free(ctx, counts);
    base_free(ctx, windows);
    return status;
}

/* Sorts one bucket's entries into their places. Until the scatter is over, offsets[key + 1] is the
 * next place of key; then it is key's end, as it should be. */
static void group_bucket(const matrix_arrays *bucketed, bool by_row, range entries, range keys,
                         int64_t *offsets, const target *out)
{
    int64_t *next = offsets + 1 + keys.begin;
    window w = {entries, keys.begin, keys.end - keys.begin, next};
    count_keys(keys_of(bucketed, by_row), 0, &w);
    int64_t place = entries.begin;
    for (int64_t i = 0; i < w.size; i++) {
        const int64_t many = w.count[i];
        w.count[i] = place;
        place += many;
    }
    scatter(bucketed, by_row, 0, &w, out);
}

static spry_status group_by_buckets(spry_context *ctx, const matrix_arrays *a, bool by_row,
                                    int64_t *offsets, const target *out)
{
    enum { BUCKETS = 512 };
    const int64_t keys = by_row ? a->rows : a->cols;
    int shift = 0;
    while ((keys - 1) >> shift >= BUCKETS)
        shift++;
    const int64_t buckets = ((keys - 1) >> shift) + 1;
    int64_t start[BUCKETS + 1];
    matrix_arrays bucketed = matrix_like(a, SPRY_FORMAT_COO);
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(ctx, matrix_allocate(ctx, &bucketed));
    const target middle = {by_row ? bucketed.row_index : bucketed.col_index,
                           by_row ? bucketed.col_index : bucketed.row_index, bucketed.values};
    SPRY_GO(ctx, to_buckets(ctx, a, by_row, shift, buckets, start, &middle));
    offsets[0] = 0;
    const int parts = matrix_parts(ctx, a->nnz);
#pragma omp parallel for num_threads(parts) schedule(dynamic, 1)
    for (int64_t bucket = 0; bucket < buckets; bucket++) {
        const int64_t first = bucket << shift, next = (bucket + 1) << shift;
        group_bucket(&bucketed, by_row, (range){start[bucket], start[bucket + 1]},
                     (range){first, next < keys ? next : keys}, offsets, out);
    }
done:
    matrix_free_arrays(ctx, &bucketed);
    return status;
}

/* Entries whose keys rise stay where they are. */
static void group_rising(spry_context *ctx, const matrix_arrays *a, bool by_row, int64_t *offsets,
                         const target *out)
{
    const int32_t *other = keys_of(a, !by_row);
    matrix_count_rising(ctx, keys_of(a, by_row), a->nnz, by_row ? a->rows : a->cols, offsets);
    if (other)
        matrix_copy_bytes(ctx, out->other, other, (size_t)a->nnz * sizeof *other);
    else
        matrix_write_major(ctx, a, out->other);
    matrix_copy_bytes(ctx, out->values, a->values, (size_t)a->nnz * spry_type_size(a->type));
}

spry_status matrix_group(spry_context *ctx, const matrix_arrays *a, bool by_row,
                         const matrix_arrays *to)
{
    const int32_t *key = keys_of(a, by_row);
    const target out = {NULL, matrix_minor(to), to->values};
    int64_t *offsets = to->offsets;
    if (matrix_rises(ctx, key, a->nnz)) {
        group_rising(ctx, a, by_row, offsets, &out);
        return SPRY_STATUS_OK;
    }
    bool finished = false;
    spry_status status = SPRY_STATUS_OK;
    if (keys_are_local(key, a->nnz))
        SPRY_GO(ctx, group_directly(ctx, a, by_row, offsets, &out, &finished));
    if (!finished)
        SPRY_GO(ctx, group_by_buckets(ctx, a, by_row, offsets, &out));
done:
    return status;
}
