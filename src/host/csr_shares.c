/* Making and running the shares of a CSR product. */
#include "host/csr_shares.h"

/* A row's offset, its y and the end of its loop cost about as much as this many entries. */
enum { ROW_WEIGHT = 4 };

static int64_t row_length(const csr_shares *shares, int64_t row)
{
    return shares->csr.offsets[row + 1] - shares->csr.offsets[row];
}

static int64_t chunk_count(const csr_shares *shares, int64_t row)
{
    return (row_length(shares, row) + LONG_ROW - 1) / LONG_ROW;
}

int64_t csr_shares_work(const csr_shares *shares, int64_t row)
{
    return shares->csr.offsets[row] - shares->csr.offsets[0] + ROW_WEIGHT * row;
}

/* The place with about `target` work before it. */
static csr_place find_cut(const csr_shares *shares, int64_t target)
{
    int64_t low = 0, high = shares->rows; /* csr_shares_work(low) <= target < csr_shares_work(high),
                                             at the ends too */
    while (high - low > 1) {
        const int64_t middle = low + (high - low) / 2;
        if (csr_shares_work(shares, middle) <= target)
            low = middle;
        else
            high = middle;
    }
    csr_place cut = {low, 0};
    if (row_length(shares, low) > LONG_ROW)
        cut.chunk = (target - csr_shares_work(shares, low)) / LONG_ROW;
    return cut;
}

static spry_status find_long_rows(spry_context *ctx, csr_shares *shares)
{
    int64_t count = 0;
#pragma omp parallel for reduction(+ : count) num_threads(host_threads(ctx, shares->rows))
    for (int64_t i = 0; i < shares->rows; i++)
        count += row_length(shares, i) > LONG_ROW;
    if (count == 0)
        return SPRY_STATUS_OK;
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(ctx, base_alloc(ctx, count + 1, sizeof *shares->longs, &shares->longs));
    int64_t first = 0;
    for (int64_t i = 0; shares->long_count < count; i++) {
        if (row_length(shares, i) > LONG_ROW) {
            shares->longs[shares->long_count++] = (csr_long_row){i, first};
            first += chunk_count(shares, i);
        }
    }
    shares->longs[count] = (csr_long_row){shares->rows, first};
    SPRY_GO(ctx, base_alloc(ctx, first, sizeof *shares->sums, &shares->sums));
done:
    return status;
}

spry_status csr_shares_make(spry_context *ctx, spry_type type, int64_t rows, int64_t cols,
                            const int64_t *offsets, const int32_t *columns, const void *values,
                            csr_shares *shares)
{
    *shares = (csr_shares){.ctx = ctx,
                           .kernels = host_kernels_for(ctx, type),
                           .type = type,
                           .csr = {offsets, columns, values},
                           .rows = rows,
                           .scattered = host_scattered(rows, cols, offsets, columns)};
    spry_status status = SPRY_STATUS_OK;
    const int64_t all = csr_shares_work(shares, rows);
    shares->parts = host_threads(ctx, all);
    SPRY_GO(ctx, base_alloc(ctx, shares->parts + 1, sizeof *shares->cuts, &shares->cuts));
    shares->cuts[0] = (csr_place){0, 0};
    for (int p = 1; p < shares->parts; p++) /* in double: all * p may not fit 64 bits */
        shares->cuts[p] = find_cut(shares, (int64_t)((double)all * p / shares->parts));
    shares->cuts[shares->parts] = (csr_place){rows, 0};
    SPRY_GO(ctx, find_long_rows(ctx, shares));
done:
    if (status != SPRY_STATUS_OK)
        csr_shares_clear(ctx, shares);
    return status;
}

void csr_shares_clear(spry_context *ctx, csr_shares *shares)
{
    base_free(ctx, shares->cuts);
    base_free(ctx, shares->longs);
    base_free(ctx, shares->sums);
    *shares = (csr_shares){0};
}

/* The arguments of one product. */
typedef struct product {
    bool conjugate;
    spry_scalar alpha, beta;
    const void *x;
    void *y;
} product;

/* The first long row at or after a row. */
static int64_t find_long(const csr_shares *shares, int64_t row)
{
    int64_t low = 0, high = shares->long_count;
    while (low < high) {
        const int64_t middle = low + (high - low) / 2;
        if (shares->longs[middle].row < row)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Sums of chunks begin..end-1 of a long row. */
static void run_chunks(const csr_shares *shares, const product *p, const csr_long_row *row,
                       int64_t begin, int64_t end)
{
    const int64_t start = shares->csr.offsets[row->row], length = row_length(shares, row->row);
    const int64_t size = (int64_t)spry_type_size(shares->type);
    for (int64_t chunk = begin; chunk < end; chunk++) {
        const int64_t from = chunk * LONG_ROW;
        const int64_t n = length - from < LONG_ROW ? length - from : LONG_ROW;
        shares->sums[row->first + chunk] = shares->kernels->csr_sum(
            n, shares->csr.columns + start + from,
            (const char *)shares->csr.values + (start + from) * size, p->conjugate, p->x);
    }
}

static void run_part(const csr_shares *shares, const product *p, csr_place from, csr_place to)
{
    int64_t row = from.row, chunk = from.chunk, next = find_long(shares, row);
    while (row < to.row || (row == to.row && chunk < to.chunk)) {
        const int64_t long_row = next < shares->long_count ? shares->longs[next].row : shares->rows;
        if (row == long_row) {
            run_chunks(shares, p, &shares->longs[next], chunk,
                       row == to.row ? to.chunk : chunk_count(shares, row));
            next++;
            row++;
            chunk = 0;
        } else {
            const int64_t stop = long_row < to.row ? long_row : to.row;
            shares->kernels->csr_rows(&shares->csr, row, stop, p->conjugate, p->alpha, p->x,
                                      p->beta,
                                      (char *)p->y + row * (int64_t)spry_type_size(shares->type));
            row = stop;
        }
    }
}

static spry_scalar multiply(spry_scalar a, spry_scalar b)
{
    return (spry_scalar){a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
}

/* Adds up the chunks of long row l and stores its y. */
static void join_chunks(const csr_shares *shares, const product *p, int64_t l)
{
    spry_scalar sum = {0, 0};
    for (int64_t k = shares->longs[l].first; k < shares->longs[l + 1].first; k++) {
        sum.re += shares->sums[k].re;
        sum.im += shares->sums[k].im;
    }
    sum = multiply(p->alpha, sum);
    if (p->beta.re != 0 || p->beta.im != 0) {
        const spry_scalar old =
            multiply(p->beta, value_get(shares->type, p->y, shares->longs[l].row));
        sum.re += old.re;
        sum.im += old.im;
    }
    value_set(shares->type, p->y, shares->longs[l].row, sum);
}

typedef struct shares_job {
    const csr_shares *shares;
    product p;
} shares_job;

static void run_share(void *argument, int part, int parts)
{
    const shares_job *job = argument;
    (void)parts;
    run_part(job->shares, &job->p, job->shares->cuts[part], job->shares->cuts[part + 1]);
}

static void join_share(void *argument, int part, int parts)
{
    const shares_job *job = argument;
    const range mine = base_share(job->shares->long_count, parts, part, 1);
    for (int64_t l = mine.begin; l < mine.end; l++)
        join_chunks(job->shares, &job->p, l);
}

void csr_shares_run(const csr_shares *shares, bool conjugate, spry_scalar alpha, const void *x,
                    spry_scalar beta, void *y)
{
    enum { FEW = 1024 }; /* long rows that one thread joins */
    shares_job job = {shares, {conjugate, alpha, beta, x, y}};
    base_share_out(shares->ctx, shares->parts, run_share, &job);
    if (shares->long_count > 0)
        base_share_out(shares->ctx, shares->long_count < FEW ? 1 : shares->parts, join_share, &job);
}
