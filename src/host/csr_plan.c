/* Making and running the plan of a CSR product. */
#include "host/csr_plan.h"

#include <omp.h>

/* A row's offset, its y and the end of its loop cost about as much as this many entries. */
enum { ROW_WEIGHT = 4 };

static int64_t row_length(const csr_plan *plan, int64_t row)
{
    return plan->csr.offsets[row + 1] - plan->csr.offsets[row];
}

static int64_t chunk_count(const csr_plan *plan, int64_t row)
{
    return (row_length(plan, row) + LONG_ROW - 1) / LONG_ROW;
}

int64_t csr_plan_work(const csr_plan *plan, int64_t row)
{
    return plan->csr.offsets[row] - plan->csr.offsets[0] + ROW_WEIGHT * row;
}

/* The place with about `target` work before it. */
static csr_place find_cut(const csr_plan *plan, int64_t target)
{
    int64_t
        low = 0,
        high = plan->rows; /* csr_plan_work(low) <= target < csr_plan_work(high), at the ends too */
    while (high - low > 1) {
        const int64_t middle = low + (high - low) / 2;
        if (csr_plan_work(plan, middle) <= target)
            low = middle;
        else
            high = middle;
    }
    csr_place cut = {low, 0};
    if (row_length(plan, low) > LONG_ROW)
        cut.chunk = (target - csr_plan_work(plan, low)) / LONG_ROW;
    return cut;
}

static spry_status find_long_rows(spry_context *ctx, csr_plan *plan)
{
    int64_t count = 0;
#pragma omp parallel for reduction(+ : count) num_threads(host_threads(ctx, plan->rows))
    for (int64_t i = 0; i < plan->rows; i++)
        count += row_length(plan, i) > LONG_ROW;
    if (count == 0)
        return SPRY_STATUS_OK;
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(ctx, base_alloc(ctx, count + 1, sizeof *plan->longs, &plan->longs));
    int64_t first = 0;
    for (int64_t i = 0; plan->long_count < count; i++) {
        if (row_length(plan, i) > LONG_ROW) {
            plan->longs[plan->long_count++] = (csr_long_row){i, first};
            first += chunk_count(plan, i);
        }
    }
    plan->longs[count] = (csr_long_row){plan->rows, first};
    SPRY_GO(ctx, base_alloc(ctx, first, sizeof *plan->sums, &plan->sums));
done:
    return status;
}

spry_status csr_plan_make(spry_context *ctx, spry_type type, int64_t rows, int64_t cols,
                          const int64_t *offsets, const int32_t *columns, const void *values,
                          csr_plan *plan)
{
    *plan = (csr_plan){.kernels = host_kernels_for(ctx, type),
                       .type = type,
                       .csr = {offsets, columns, values},
                       .rows = rows,
                       .scattered = host_scattered(rows, cols, offsets, columns)};
    spry_status status = SPRY_STATUS_OK;
    const int64_t all = csr_plan_work(plan, rows);
    plan->parts = host_threads(ctx, all);
    SPRY_GO(ctx, base_alloc(ctx, plan->parts + 1, sizeof *plan->cuts, &plan->cuts));
    plan->cuts[0] = (csr_place){0, 0};
    for (int p = 1; p < plan->parts; p++) /* in double: all * p may not fit 64 bits */
        plan->cuts[p] = find_cut(plan, (int64_t)((double)all * p / plan->parts));
    plan->cuts[plan->parts] = (csr_place){rows, 0};
    SPRY_GO(ctx, find_long_rows(ctx, plan));
done:
    if (status != SPRY_STATUS_OK)
        csr_plan_clear(ctx, plan);
    return status;
}

void csr_plan_clear(spry_context *ctx, csr_plan *plan)
{
    base_free(ctx, plan->cuts);
    base_free(ctx, plan->longs);
    base_free(ctx, plan->sums);
    *plan = (csr_plan){0};
}

/* The arguments of one product. */
typedef struct product {
    bool conjugate;
    spry_scalar alpha, beta;
    const void *x;
    void *y;
} product;

/* The first long row at or after a row. */
static int64_t find_long(const csr_plan *plan, int64_t row)
{
    int64_t low = 0, high = plan->long_count;
    while (low < high) {
        const int64_t middle = low + (high - low) / 2;
        if (plan->longs[middle].row < row)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Sums of chunks begin..end-1 of a long row. */
static void run_chunks(const csr_plan *plan, const product *p, const csr_long_row *row,
                       int64_t begin, int64_t end)
{
    const int64_t start = plan->csr.offsets[row->row], length = row_length(plan, row->row);
    const int64_t size = (int64_t)spry_type_size(plan->type);
    for (int64_t chunk = begin; chunk < end; chunk++) {
        const int64_t from = chunk * LONG_ROW;
        const int64_t n = length - from < LONG_ROW ? length - from : LONG_ROW;
        plan->sums[row->first + chunk] = plan->kernels->csr_sum(
            n, plan->csr.columns + start + from,
            (const char *)plan->csr.values + (start + from) * size, p->conjugate, p->x);
    }
}

static void run_part(const csr_plan *plan, const product *p, csr_place from, csr_place to)
{
    int64_t row = from.row, chunk = from.chunk, next = find_long(plan, row);
    while (row < to.row || (row == to.row && chunk < to.chunk)) {
        const int64_t long_row = next < plan->long_count ? plan->longs[next].row : plan->rows;
        if (row == long_row) {
            run_chunks(plan, p, &plan->longs[next], chunk,
                       row == to.row ? to.chunk : chunk_count(plan, row));
            next++;
            row++;
            chunk = 0;
        } else {
            const int64_t stop = long_row < to.row ? long_row : to.row;
            plan->kernels->csr_rows(&plan->csr, row, stop, p->conjugate, p->alpha, p->x, p->beta,
                                    (char *)p->y + row * (int64_t)spry_type_size(plan->type));
            row = stop;
        }
    }
}

static spry_scalar multiply(spry_scalar a, spry_scalar b)
{
    return (spry_scalar){a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
}

/* Adds up the chunks of long row l and stores its y. */
static void join_chunks(const csr_plan *plan, const product *p, int64_t l)
{
    spry_scalar sum = {0, 0};
    for (int64_t k = plan->longs[l].first; k < plan->longs[l + 1].first; k++) {
        sum.re += plan->sums[k].re;
        sum.im += plan->sums[k].im;
    }
    sum = multiply(p->alpha, sum);
    if (p->beta.re != 0 || p->beta.im != 0) {
        const spry_scalar old = multiply(p->beta, value_get(plan->type, p->y, plan->longs[l].row));
        sum.re += old.re;
        sum.im += old.im;
    }
    value_set(plan->type, p->y, plan->longs[l].row, sum);
}

void csr_plan_run(const csr_plan *plan, bool conjugate, spry_scalar alpha, const void *x,
                  spry_scalar beta, void *y)
{
    const product p = {conjugate, alpha, beta, x, y};
    if (plan->parts == 1) {
        run_part(plan, &p, plan->cuts[0], plan->cuts[1]);
        for (int64_t l = 0; l < plan->long_count; l++)
            join_chunks(plan, &p, l);
        return;
    }
#pragma omp parallel num_threads(plan->parts)
    {
        /* The team may be smaller than asked for. */
        const int team = omp_get_num_threads(), me = omp_get_thread_num();
        for (int part = me; part < plan->parts; part += team)
            run_part(plan, &p, plan->cuts[part], plan->cuts[part + 1]);
        if (plan->long_count > 0) {
#pragma omp barrier
            const range mine = base_share(plan->long_count, team, me, 1);
            for (int64_t l = mine.begin; l < mine.end; l++)
                join_chunks(plan, &p, l);
        }
    }
}
