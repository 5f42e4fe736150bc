/* What the positions of entries show: empty rows and columns, indices off by one, the diagonal,
 * parts that are not joined. Entries that are 0 are none. */
#include "doctor/doctor.h"

#include "matrix/algebra/graph.h"
#include "matrix/entries.h"
#include "matrix/stats.h"

/* Entries other than 0 in each row and column, and on the diagonals next to the main one. */
typedef struct counts {
    int32_t *rows, *cols;
    int64_t below, on, above;
} counts;

static spry_status count(const doctor *d, counts *c)
{
    const matrix_arrays *a = &d->A->a;
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(d->ctx, base_calloc(d->ctx, a->rows, sizeof *c->rows, &c->rows));
    SPRY_GO(d->ctx, base_calloc(d->ctx, a->cols, sizeof *c->cols, &c->cols));
    for (int64_t i = 0; i < a->rows; i++)
        for (int64_t k = a->offsets[i]; k < a->offsets[i + 1]; k++) {
            if (scalar_zero(value_load(a->type, a->values, k)))
                continue;
            const int64_t j = a->col_index[k];
            c->rows[i]++;
            c->cols[j]++;
            c->below += j == i - 1;
            c->on += j == i;
            c->above += j == i + 1;
        }
done:
    return status;
}

static void check_empty(doctor *d, const counts *c)
{
    const matrix_arrays *a = &d->A->a;
    char places[160];
    spry_finding *rows = NULL, *cols = NULL;
    for (int64_t i = 0; i < a->rows; i++)
        if (c->rows[i] == 0) {
            if (!rows)
                rows = doctor_add(d, DOCTOR_ZERO_ROWS, SPRY_SEVERITY_ERROR, "-");
            doctor_row(rows, i);
        }
    for (int64_t j = 0; j < a->cols; j++)
        if (c->cols[j] == 0) {
            if (!cols)
                cols = doctor_add(d, DOCTOR_ZERO_COLUMNS, SPRY_SEVERITY_ERROR, "-");
            doctor_col(cols, j);
        }
    if (rows) {
        d->zero_rows = rows->row_count;
        snprintf(rows->text, sizeof rows->text,
                 "%" PRId64
                 " row%s nothing but zeros: %s (from 0); such an equation holds for no x "
                 "or for every x, and the matrix has no inverse",
                 rows->row_count, rows->row_count == 1 ? " has" : "s have",
                 doctor_places(rows->rows, rows->row_count, places, sizeof places));
        doctor_figure(rows, "rows", (double)rows->row_count);
        doctor_solve(d, rows, "--method lsmr");
    }
    if (cols) {
        d->zero_cols = cols->col_count;
        snprintf(cols->text, sizeof cols->text,
                 "%" PRId64 " column%s nothing but zeros: %s (from 0); these unknowns can have any "
                 "value, and the matrix has no inverse",
                 cols->col_count, cols->col_count == 1 ? " has" : "s have",
                 doctor_places(cols->cols, cols->col_count, places, sizeof places));
        doctor_figure(cols, "columns", (double)cols->col_count);
        doctor_solve(d, cols, "--method lsmr");
    }
}

/*
 * Indices off by one leave marks: the first (or last) row and column are empty and no other, and
 * where only rows or only columns are off, the diagonal that is whole lies next to the main one.
 */
static void check_base(doctor *d, const counts *c)
{
    const int64_t n = d->A->a.rows, least = 3;
    const char *what = NULL;
    if (!d->square || n < least)
        return;
    const bool only_one = d->zero_rows == 1 && d->zero_cols == 1;
    if (only_one && c->rows[0] == 0 && c->cols[0] == 0)
        what = "the first row and the first column are empty and no other is: it looks as if "
               "indices that count from 1 were taken to count from 0, in a matrix with one row and "
               "one column more than there are";
    else if (only_one && c->rows[n - 1] == 0 && c->cols[n - 1] == 0)
        what = "the last row and the last column are empty and no other is: it looks as if the "
               "matrix was made with one row and one column more than there are, as where indices "
               "count from 0 and sizes from 1";
    else if (only_one && c->above == n - 1 && c->cols[0] == 0 && c->rows[n - 1] == 0)
        what =
            "the diagonal above the main one is whole, the main one is not, and the first column "
            "and the last row alone are empty: it looks as if columns were counted from 1 and "
            "rows from 0";
    else if (only_one && c->below == n - 1 && c->rows[0] == 0 && c->cols[n - 1] == 0)
        what = "the diagonal below the main one is whole, the main one is not, and the first row "
               "and the last column alone are empty: it looks as if rows were counted from 1 and "
               "columns from 0";
    if (!what)
        return;
    spry_finding *f = doctor_add(d, DOCTOR_INDEX_BASE, SPRY_SEVERITY_WARNING, "%s", what);
    doctor_figure(f, "diagonal", (double)c->on);
    doctor_figure(f, "above", (double)c->above);
    doctor_figure(f, "below", (double)c->below);
    doctor_next(f, "spry info %s", d->options->matrix);
}

static void check_diagonal(doctor *d, const counts *c)
{
    const matrix_arrays *a = &d->A->a;
    char places[160];
    if (!d->square || c->on == a->rows)
        return;
    spry_finding *f = doctor_add(d, DOCTOR_ZERO_DIAGONAL,
                                 d->hermitian ? SPRY_SEVERITY_NOTE : SPRY_SEVERITY_WARNING, "-");
    for (int64_t i = 0; i < a->rows; i++) {
        const int64_t k = matrix_find_diagonal(a, i);
        if (k < 0 || scalar_zero(value_load(a->type, a->values, k)))
            doctor_row(f, i);
    }
    snprintf(f->text, sizeof f->text,
             "%" PRId64
             " diagonal entr%s zero or missing, in rows %s (from 0): jacobi, sor and ilu "
             "divide by them",
             f->row_count, f->row_count == 1 ? "y is" : "ies are",
             doctor_places(f->rows, f->row_count, places, sizeof places));
    doctor_figure(f, "rows", (double)f->row_count);
    doctor_solve(d, f, "--method direct");
}

/* Sizes of the parts of a graph, by searches from row after row. */
static void search(const graph *g, int32_t *queue, bool *met, int64_t *parts, int64_t *single,
                   int64_t *largest)
{
    for (int32_t start = 0; start < g->n; start++) {
        int64_t head = 0, tail = 0;
        if (met[start])
            continue;
        met[start] = true;
        queue[tail++] = start;
        while (head < tail) {
            const int32_t v = queue[head++];
            for (int64_t k = g->offsets[v]; k < g->offsets[v + 1]; k++)
                if (!met[g->neighbours[k]]) {
                    met[g->neighbours[k]] = true;
                    queue[tail++] = g->neighbours[k];
                }
        }
        *parts += 1;
        *single += tail == 1;
        *largest = tail > *largest ? tail : *largest;
    }
}

static spry_status check_parts(doctor *d)
{
    spry_context *ctx = d->ctx;
    graph g = {0};
    int32_t *queue = NULL;
    bool *met = NULL;
    int64_t parts = 0, single = 0, largest = 0;
    spry_status status = SPRY_STATUS_OK;
    if (!d->square || d->A->a.rows == 0)
        return SPRY_STATUS_OK;
    if (doctor_late(d, 0.5)) {
        doctor_skip(d, "parts");
        return SPRY_STATUS_OK;
    }
    SPRY_GO(ctx, graph_make(d->A, &g));
    SPRY_GO(ctx, base_alloc(ctx, g.n, sizeof *queue, &queue));
    SPRY_GO(ctx, base_calloc(ctx, g.n, sizeof *met, &met));
    search(&g, queue, met, &parts, &single, &largest);
    if (parts > 1) {
        spry_finding *f = doctor_add(
            d, DOCTOR_DISCONNECTED, SPRY_SEVERITY_NOTE,
            "%" PRId64 " parts that are not joined: the largest has %" PRId64 " of %" PRId64
            " rows, %" PRId64 " have a single row; each is a system of its own",
            parts, largest, d->A->a.rows, single);
        doctor_figure(f, "parts", (double)parts);
        doctor_figure(f, "largest", (double)largest);
        doctor_figure(f, "single_rows", (double)single);
        doctor_next(f, "spry info %s", d->options->matrix);
    }
done:
    graph_clear(ctx, &g);
    base_free(ctx, queue);
    base_free(ctx, met);
    return status;
}

spry_status doctor_check_pattern(doctor *d)
{
    counts c = {0};
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(d->ctx, count(d, &c));
    check_empty(d, &c);
    check_base(d, &c);
    check_diagonal(d, &c);
    if (!d->square) {
        spry_finding *f = doctor_add(
            d, DOCTOR_RECTANGULAR, SPRY_SEVERITY_NOTE,
            "%" PRId64 " rows and %" PRId64 " columns: %s", d->A->a.rows, d->A->a.cols,
            d->A->a.rows > d->A->a.cols ? "in general no x solves all equations, and the best one "
                                          "has the least residual"
                                        : "many x solve all equations, and the shortest is found");
        doctor_solve(d, f, "--method lsmr");
    }
    SPRY_GO(d->ctx, check_parts(d));
done:
    base_free(d->ctx, c.rows);
    base_free(d->ctx, c.cols);
    return status;
}
