/* Skewed orders of steps; see skew.h. The idea is time skewing (D. Wonnacott, 2000) with trapezoids
 * (M. Frigo, V. Strumpen, 2005), for rows of any pattern. */
#include "host/skew.h"

/* Blocks have a multiple of what vector loops take at once, so that these have no ends within a
 * vector. Short vectors are cut into about that many blocks. */
enum { BLOCK_GRAIN = 16, FEW_BLOCKS = 64 };

void skew_clear(spry_context *ctx, skew *s)
{
    base_free(ctx, s->row);
    base_free(ctx, s->bytes);
    base_free(ctx, s->low);
    base_free(ctx, s->high);
    base_free(ctx, s->ranges);
    *s = (skew){0};
}

int64_t skew_block_rows(int64_t n, int64_t grain, int64_t most)
{
    if (grain == 0 || grain > 2 * most)
        grain = BLOCK_GRAIN;
    most = grain < most ? most / grain * grain : grain;
    const int64_t rows = (n / FEW_BLOCKS + grain - 1) / grain * grain;
    return rows > most ? most : rows < grain ? grain : rows;
}

static spry_status allocate(spry_context *ctx, int64_t count, int64_t rows, skew *s)
{
    spry_status status = SPRY_STATUS_OK;
    *s = (skew){.count = count, .rows = rows};
    SPRY_GO(ctx, base_alloc(ctx, count + 1, sizeof *s->row, &s->row));
    SPRY_GO(ctx, base_calloc(ctx, count + 1, sizeof *s->bytes, &s->bytes));
    SPRY_GO(ctx, base_alloc(ctx, count, sizeof *s->low, &s->low));
    SPRY_GO(ctx, base_alloc(ctx, count, sizeof *s->high, &s->high));
done:
    if (status != SPRY_STATUS_OK)
        skew_clear(ctx, s);
    return status;
}

spry_status skew_open(spry_context *ctx, int64_t n, int64_t rows, skew *s)
{
    const spry_status status = allocate(ctx, (n + rows - 1) / rows, rows, s);
    for (int64_t b = 0; status == SPRY_STATUS_OK && b <= s->count; b++)
        s->row[b] = b * rows < n ? b * rows : n;
    return status;
}

spry_status skew_open_at(spry_context *ctx, int64_t count, const int64_t *starts, skew *s)
{
    const spry_status status = allocate(ctx, count, 0, s);
    if (status == SPRY_STATUS_OK)
        memcpy(s->row, starts, ((size_t)count + 1) * sizeof *starts);
    return status;
}

/* The block of a row. */
static int64_t block_of(const skew *s, int64_t row)
{
    int64_t low = 0, high = s->count;
    if (s->rows > 0)
        return row / s->rows;
    while (high - low > 1) {
        const int64_t middle = low + (high - low) / 2;
        if (s->row[middle] <= row)
            low = middle;
        else
            high = middle;
    }
    return low;
}

void skew_note(skew *s, int64_t block, const skew_rows *found)
{
    const bool needs = found->columns.begin < found->columns.end;
    const int64_t low = needs ? block_of(s, found->columns.begin) : block;
    const int64_t high = needs ? block_of(s, found->columns.end - 1) : block;
    s->low[block] = low < block ? low : block; /* and itself: v_j is a part of v_(j+1) */
    s->high[block] = high > block ? high : block;
    s->bytes[block + 1] = found->bytes;
}

void skew_close(skew *s)
{
    for (int64_t b = 1; b < s->count; b++) {
        s->high[b] = s->high[b] > s->high[b - 1] ? s->high[b] : s->high[b - 1];
        s->bytes[b + 1] += s->bytes[b];
    }
    for (int64_t b = s->count - 1; b > 0; b--)
        s->low[b - 1] = s->low[b] < s->low[b - 1] ? s->low[b] : s->low[b - 1];
}

bool skew_may_go(const skew *s, const skew_fronts *f, int step)
{
    const int64_t block = f->next[step];
    return block < f->end[step] && s->high[block] < f->next[step - 1];
}

/* Goes through all blocks; at each moment the window is from the last step's block to the first
 * one's. What measures it may add up anything. */
typedef int64_t (*measure)(const skew *s, int64_t begin, int64_t end, int64_t vector_bytes);

static int64_t most_of_windows(const skew *s, int depth, measure of, int64_t vector_bytes)
{
    skew_fronts f = {0};
    int64_t most = 0;
    for (int j = 0; j < depth; j++)
        f.end[j] = s->count;
    while (f.next[0] < s->count) {
        const int64_t begin = depth > 1 ? f.next[depth - 1] : f.next[0];
        const int64_t size = of(s, begin, ++f.next[0], vector_bytes);
        most = size > most ? size : most;
        for (int j = 1; j < depth; j++)
            while (skew_may_go(s, &f, j))
                f.next[j]++;
    }
    return most;
}

static int64_t bytes_between(const skew *s, int64_t begin, int64_t end, int64_t vector_bytes)
{
    return s->bytes[end] - s->bytes[begin] + vector_bytes * (s->row[end] - s->row[begin]);
}

static int64_t blocks_between(const skew *s, int64_t begin, int64_t end, int64_t vector_bytes)
{
    (void)s;
    (void)vector_bytes;
    return end - begin;
}

int64_t skew_window(const skew *s, int depth, int64_t size)
{
    return most_of_windows(s, depth, bytes_between, (depth + 1) * size);
}

int64_t skew_window_blocks(const skew *s, int depth)
{
    return most_of_windows(s, depth, blocks_between, 0);
}

/* The blocks of each step that need nothing but those of the step before: false where none are left
 * in the end. */
static bool find_ranges(const skew *s, range all, int depth, range *ranges)
{
    ranges[0] = all; /* of x there is all */
    for (int j = 1; j < depth; j++) {
        range r = ranges[j - 1];
        while (r.begin < r.end && s->low[r.begin] < ranges[j - 1].begin)
            r.begin++;
        while (r.begin < r.end && s->high[r.end - 1] >= ranges[j - 1].end)
            r.end--;
        ranges[j] = r;
    }
    return ranges[depth - 1].begin < ranges[depth - 1].end;
}

/* Block number `share` of shares with about the same work each. */
static int64_t find_cut(const skew *s, int share, int shares)
{
    const double all = (double)(s->bytes[s->count] + s->row[s->count]);
    const double target = all * share / shares;
    int64_t low = 0, high = s->count;
    while (low < high) {
        const int64_t middle = low + (high - low) / 2;
        if ((double)(s->bytes[middle] + s->row[middle]) < target)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

spry_status skew_share(spry_context *ctx, int depth, int threads, skew *s)
{
    spry_status status = SPRY_STATUS_OK;
    int shares = threads;
    base_free(ctx, s->ranges);
    s->ranges = NULL;
    SPRY_GO(ctx, base_alloc(ctx, (int64_t)shares * depth, sizeof *s->ranges, &s->ranges));
    for (bool fits = false; !fits; shares -= !fits) {
        fits = true;
        for (int share = 0; fits && share < shares && shares > 1; share++)
            fits =
                find_ranges(s, (range){find_cut(s, share, shares), find_cut(s, share + 1, shares)},
                            depth, s->ranges + share * depth);
    }
    if (shares == 1)
        (void)find_ranges(s, (range){0, s->count}, depth, s->ranges);
    s->depth = depth;
    s->shares = shares;
done:
    return status;
}

typedef struct skew_job {
    const skew *s;
    int count;
    skew_step step;
    const void *data;
} skew_job;

static void run_block(const skew_job *job, int step, int64_t block)
{
    job->step(job->data, step, job->s->row[block], job->s->row[block + 1]);
}

static void run_share(void *argument, int share, int shares)
{
    const skew_job *job = argument;
    const range *ranges = job->s->ranges + share * job->s->depth;
    skew_fronts f = {0};
    (void)shares;
    for (int j = 0; j < job->count; j++) {
        f.next[j] = ranges[j].begin;
        f.end[j] = ranges[j].end;
    }
    while (f.next[0] < f.end[0]) {
        run_block(job, 0, f.next[0]++);
        for (int j = 1; j < job->count; j++)
            while (skew_may_go(job->s, &f, j))
                run_block(job, j, f.next[j]++);
    }
}

/* Between a share and the next one. */
static void run_gap(void *argument, int share, int shares)
{
    const skew_job *job = argument;
    const range *before = job->s->ranges + share * job->s->depth, *behind = before + job->s->depth;
    (void)shares;
    for (int j = 1; j < job->count; j++)
        for (int64_t block = before[j].end; block < behind[j].begin; block++)
            run_block(job, j, block);
}

void skew_run(const spry_context *ctx, const skew *s, int count, skew_step step, const void *data)
{
    skew_job job = {s, count, step, data};
    base_share_out(ctx, s->shares, run_share, &job);
    if (s->shares > 1 && count > 1)
        base_share_out(ctx, s->shares - 1, run_gap, &job);
}
