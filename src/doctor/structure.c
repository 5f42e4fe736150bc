/*
 * Structural singularity: a matching of rows with columns that is as large as can be has fewer
 * pairs than rows. From a row without a column, alternating paths lead to rows that have entries in
 * fewer columns than they are (P. Hall, On representatives of subsets, J. London Math. Soc. 10
 * (1935), 26-30): these rows, and these columns, are what to look at.
 */
#include "doctor/doctor.h"

#include "matrix/algebra/algebra.h"
#include "matrix/entries.h"
#include "matrix/stats.h"

#include <stdlib.h>

/* A search through one side of a matching: rows with columns, or columns with rows of A^T. */
typedef struct side {
    const matrix_arrays *a;
    const int32_t *column_of, *row_of;
    int32_t *queue, *columns; /* rows met, in the order of the search; columns met */
    bool *row_met, *col_met;
    int64_t row_count, col_count;
} side;

static void forget(side *s)
{
    for (int64_t k = 0; k < s->row_count; k++)
        s->row_met[s->queue[k]] = false;
    for (int64_t k = 0; k < s->col_count; k++)
        s->col_met[s->columns[k]] = false;
    s->row_count = s->col_count = 0;
}

static void search(side *s, int32_t start)
{
    const matrix_arrays *a = s->a;
    forget(s);
    s->queue[s->row_count++] = start;
    s->row_met[start] = true;
    for (int64_t head = 0; head < s->row_count; head++) {
        const int32_t i = s->queue[head];
        for (int64_t k = a->offsets[i]; k < a->offsets[i + 1]; k++) {
            const int32_t j = a->col_index[k];
            const spry_scalar v = value_load(a->type, a->values, k);
            if (s->col_met[j] || scalar_zero(v) || !value_finite(v))
                continue;
            s->col_met[j] = true;
            s->columns[s->col_count++] = j;
            const int32_t next = s->row_of[j];
            if (next >= 0 && !s->row_met[next]) {
                s->row_met[next] = true;
                s->queue[s->row_count++] = next;
            }
        }
    }
}

static spry_status open_side(spry_context *ctx, side *s)
{
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(ctx, base_alloc(ctx, s->a->rows, sizeof *s->queue, &s->queue));
    SPRY_GO(ctx, base_alloc(ctx, s->a->cols, sizeof *s->columns, &s->columns));
    SPRY_GO(ctx, base_calloc(ctx, s->a->rows, sizeof *s->row_met, &s->row_met));
    SPRY_GO(ctx, base_calloc(ctx, s->a->cols, sizeof *s->col_met, &s->col_met));
done:
    return status;
}

static void close_side(spry_context *ctx, side *s)
{
    base_free(ctx, s->queue);
    base_free(ctx, s->columns);
    base_free(ctx, s->row_met);
    base_free(ctx, s->col_met);
}

/* The smallest set of rows, of two and more, with one column less than they are. */
static void find_smallest(const doctor *d, side *s)
{
    enum { TRIES = 64 };
    int32_t best = -1;
    int64_t size = INT64_MAX;
    for (int32_t i = 0, tried = 0; i < s->a->rows && tried < TRIES; i++) {
        if (s->column_of[i] >= 0 || (best >= 0 && doctor_late(d, 0.2)))
            continue;
        search(s, i);
        if (s->row_count > 1 && s->row_count < size) {
            size = s->row_count;
            best = i;
        }
        tried += s->row_count > 1;
    }
    forget(s);
    if (best >= 0)
        search(s, best);
}

static int rising(const void *a, const void *b)
{
    const int32_t p = *(const int32_t *)a, q = *(const int32_t *)b;
    return (p > q) - (p < q);
}

static void report(doctor *d, side *rows, side *cols)
{
    const int64_t n = d->A->a.rows < d->A->a.cols ? d->A->a.rows : d->A->a.cols;
    char first[160], second[160];
    /* The smaller set explains more; columns stand for rows on the other side. */
    const bool by_cols =
        cols->row_count > 1 && (rows->row_count < 2 || cols->row_count < rows->row_count);
    side *s = by_cols ? cols : rows;
    spry_finding *f = doctor_add(d, DOCTOR_STRUCTURE, SPRY_SEVERITY_ERROR, "-");
    qsort(s->queue, (size_t)s->row_count, sizeof *s->queue, rising);
    qsort(s->columns, (size_t)s->col_count, sizeof *s->columns, rising);
    for (int64_t k = 0; k < s->row_count; k++)
        (by_cols ? doctor_col : doctor_row)(f, s->queue[k]);
    for (int64_t k = 0; k < s->col_count; k++)
        (by_cols ? doctor_row : doctor_col)(f, s->columns[k]);
    const int64_t *many = by_cols ? f->cols : f->rows, *few = by_cols ? f->rows : f->cols;
    const int used =
        snprintf(f->text, sizeof f->text,
                 "at most %" PRId64 " of %" PRId64 " rows can have a column of their own with an "
                 "entry, so that the matrix is singular whatever its values are",
                 d->structural_rank, n);
    if (s->row_count > 1)
        snprintf(f->text + used, sizeof f->text - (size_t)used,
                 ". For one, the %" PRId64 " %s %s have entries in only %" PRId64
                 " %s: %s (from 0)",
                 s->row_count, by_cols ? "columns" : "rows",
                 doctor_places(many, s->row_count, first, sizeof first), s->col_count,
                 s->col_count == 1 ? (by_cols ? "row" : "column") : (by_cols ? "rows" : "columns"),
                 doctor_places(few, s->col_count, second, sizeof second));
    doctor_figure(f, "structural_rank", (double)d->structural_rank);
    doctor_figure(f, "missing", (double)(n - d->structural_rank));
    doctor_solve(d, f, "--method lsmr");
}

/* A whole diagonal is a matching. */
static bool has_diagonal(const doctor *d)
{
    return d->square && d->stats.missing_diagonal == 0 && d->stats.zero_diagonal == 0 &&
           d->stats.nonfinite == 0;
}

spry_status doctor_check_structure(doctor *d)
{
    spry_context *ctx = d->ctx;
    const matrix_arrays *a = &d->A->a;
    matrix_arrays t = {0};
    matching m = {0};
    side rows = {.a = a}, cols = {.a = &t};
    const int64_t rest_rows = a->rows - d->zero_rows, rest_cols = a->cols - d->zero_cols;
    spry_status status = SPRY_STATUS_OK;
    if (has_diagonal(d) || a->rows == 0 || a->cols == 0)
        return SPRY_STATUS_OK;
    if (doctor_late(d, 0.3)) {
        doctor_skip(d, "structural rank");
        return SPRY_STATUS_OK;
    }
    SPRY_GO(ctx, algebra_match(ctx, a, &m));
    d->structural_rank = m.rank;
    if (m.rank == (rest_rows < rest_cols ? rest_rows : rest_cols))
        goto done; /* rows and columns of zeros are reported already */
    SPRY_GO(ctx, matrix_transpose_arrays(ctx, a, &t));
    rows.column_of = cols.row_of = m.column_of;
    rows.row_of = cols.column_of = m.row_of;
    SPRY_GO(ctx, open_side(ctx, &rows));
    SPRY_GO(ctx, open_side(ctx, &cols));
    find_smallest(d, &rows);
    find_smallest(d, &cols);
    report(d, &rows, &cols);
done:
    close_side(ctx, &rows);
    close_side(ctx, &cols);
    matrix_free_arrays(ctx, &t);
    algebra_match_clear(ctx, &m);
    return status;
}
