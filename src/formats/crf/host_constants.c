/*
 * Products with constant diagonals by runs of rows. A row takes the bytes of x and y, and where the
 * main diagonal differs from row to row, a value: 16 to 24 for d, 32 to 48 for z, where CSR takes
 * 12 and 20 per entry. What bounds the loop is memory; on arm64, nearly so, the loads of x: one
 * vector per entry, three per cycle. Numbers of terms are real almost always, which halves the work
 * of complex types.
 */
#include "formats/crf/crf.h"
#include "host/kernels/strip.h"

/* The terms of a run's rows and their main diagonal. */
typedef struct run {
    int64_t terms;
    const int32_t *offsets, *places;
    crf_main kind;
    const scalar *main; /* NULL: none */
} run;

ALWAYS_INLINE run run_of(const layout *A, const crf_run *r)
{
    const int32_t *starts = A->array[CRF_STARTS].data;
    const int32_t start = starts[r->shape];
    return (run){starts[r->shape + 1] - start, (const int32_t *)A->array[CRF_OFFSETS].data + start,
                 (const int32_t *)A->array[CRF_PLACES].data + start, (crf_main)r->main,
                 (const scalar *)A->array[CRF_VALUES].data + r->place};
}

/* The sum of a row in the order, and with the sums, of strips. */
ALWAYS_INLINE scalar row_sum(const run *r, const scalar *values, int64_t i, bool conjugated,
                             const scalar *x)
{
#if KERNEL_COMPLEX
    scalar by_re = {0, 0}, by_im = {0, 0};
    for (int64_t t = r->kind == CRF_NONE ? 0 : -1; t < r->terms; t++) {
        const scalar c = t >= 0 ? values[r->places[t]] : r->main[r->kind == CRF_EACH ? i : 0];
        const scalar other = t >= 0 ? x[r->offsets[t]] : x[0];
        by_re = (scalar){by_re.re + c.re * other.re, by_re.im + c.re * other.im};
        by_im = (scalar){by_im.re + c.im * other.re, by_im.im + c.im * other.im};
    }
    return conjugated ? (scalar){by_re.re + by_im.im, by_re.im - by_im.re}
                      : (scalar){by_re.re - by_im.im, by_re.im + by_im.re};
#else
    (void)conjugated;
    scalar sum = r->kind == CRF_NONE ? 0 : r->main[r->kind == CRF_EACH ? i : 0] * x[0];
    for (int64_t t = 0; t < r->terms; t++)
        sum = muladd(values[r->places[t]], x[r->offsets[t]], sum);
    return sum;
#endif
}

/* Adds rows i, i + 1, ... of a run, all of whose x can be read; x_0 is that of row i. */
ALWAYS_INLINE void add_rows(strip *s, const run *r, const scalar *values, int64_t i, bool real_only,
                            const scalar *x)
{
    if (r->kind == CRF_EACH)
        strip_add(s, (const stored *)r->main + i, x);
    else if (r->kind == CRF_SAME && to_scalar(*r->main).im == 0)
        strip_add_constant(s, *r->main, true, x);
    else if (r->kind == CRF_SAME)
        strip_add_constant(s, *r->main, false, x);
    for (int64_t t = 0; t < r->terms; t++)
        strip_add_constant(s, values[r->places[t]], real_only, x + r->offsets[t]);
}

/* Whether the numbers of x and of the main diagonal that a strip reads from row i of a run on
 * exist, also those past its end, which are not used. */
ALWAYS_INLINE bool readable(const layout *A, const run *r, int64_t row, int64_t i)
{
    const int32_t last = r->terms > 0 ? r->offsets[r->terms - 1] : 0;
    const scalar *end = (const scalar *)A->array[CRF_VALUES].data + A->stored;
    return row + STRIP_ROWS + (last > 0 ? last : 0) <= A->cols &&
           (r->kind != CRF_EACH || end - r->main >= i + STRIP_ROWS);
}

ALWAYS_INLINE void runs(const layout *A, int64_t begin, int64_t end, const host_product *p,
                        bool real_only)
{
    enum { FEW = 2 }; /* rows that are faster one by one */
    const factors f = factors_of(p->alpha, p->beta);
    const int64_t *unit_runs = A->array[CRF_UNIT_RUNS].data;
    const crf_run *all = A->array[CRF_RUNS].data;
    const scalar *values = A->array[CRF_VALUES].data, *x = p->x;
    scalar *y = (scalar *)p->y - p->first;
    int64_t row = begin * CRF_UNIT_ROWS;
    for (int64_t k = begin < end ? unit_runs[begin] : 0; begin < end && k < unit_runs[end]; k++) {
        const run r = run_of(A, &all[k]);
        const int64_t rows = all[k].rows;
        int64_t i = 0;
        for (; i + STRIP_ROWS <= rows; i += STRIP_ROWS) {
            strip s = {0};
            add_rows(&s, &r, values, i, real_only, x + row + i);
            strip_put(&s, f, p->conjugate, STRIP_ROWS, y + row + i);
        }
        if (rows - i > FEW && readable(A, &r, row + i, i)) {
            strip s = {0};
            add_rows(&s, &r, values, i, real_only, x + row + i);
            strip_put(&s, f, p->conjugate, rows - i, y + row + i);
            i = rows;
        }
        for (; i < rows; i++)
            put(f, row_sum(&r, values, i, p->conjugate, x + row + i), y + row + i);
        row += rows;
    }
}

void W(constants_multiply)(const layout *A, int64_t begin, int64_t end, const host_product *p)
{
    if (!KERNEL_COMPLEX || A->number[CRF_REAL])
        runs(A, begin, end, p, true);
    else
        runs(A, begin, end, p, false);
}

ALWAYS_INLINE void columns(const layout *A, int64_t begin, int64_t end, const host_columns *p,
                           int vectors)
{
    const factors f = factors_of(p->alpha, p->beta);
    const int64_t *unit_runs = A->array[CRF_UNIT_RUNS].data;
    const crf_run *all = A->array[CRF_RUNS].data;
    const scalar *values = A->array[CRF_VALUES].data;
    const real *x = p->x;
    int64_t row = begin * CRF_UNIT_ROWS;
    for (int64_t k = begin < end ? unit_runs[begin] : 0; begin < end && k < unit_runs[end]; k++) {
        const run r = run_of(A, &all[k]);
        for (int64_t i = 0; i < all[k].rows; i++, row++) {
            tile sum = {0};
            if (r.kind != CRF_NONE)
                tile_add(&sum, vectors, r.main[r.kind == CRF_EACH ? i : 0], x + row * p->x_stride);
            for (int64_t t = 0; t < r.terms; t++)
                tile_add(&sum, vectors, values[r.places[t]],
                         x + (row + r.offsets[t]) * p->x_stride);
            tile_put(&sum, vectors, p, f, row);
        }
    }
}

void W(constants_columns)(const layout *A, int64_t begin, int64_t end, const host_columns *p)
{
    if (p->packs == 1)
        columns(A, begin, end, p, TILE_PACK);
    else
        columns(A, begin, end, p, TILE_MOST);
}
