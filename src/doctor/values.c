/* What single values show: NaN and Inf, duplicates, the sizes of rows and columns. */
#include "doctor/doctor.h"

#include "matrix/entries.h"
#include "matrix/stats.h"

#include <float.h>

static void check_finite(doctor *d)
{
    const matrix_arrays *a = &d->A->a;
    char places[160];
    if (d->stats.nonfinite > 0) {
        int64_t row = -1, col = -1, bad = 0;
        spry_finding *f = doctor_add(d, DOCTOR_NONFINITE, SPRY_SEVERITY_ERROR, "-");
        for (int64_t i = 0; i < a->rows; i++) {
            bool met = false;
            for (int64_t k = a->offsets[i]; k < a->offsets[i + 1]; k++)
                if (!value_finite(value_load(a->type, a->values, k))) {
                    row = row < 0 ? i : row;
                    col = col < 0 ? a->col_index[k] : col;
                    met = true;
                    bad++;
                }
            if (met)
                doctor_row(f, i);
        }
        snprintf(f->text, sizeof f->text,
                 "%" PRId64 " entr%s NaN or infinite, the first at row %" PRId64 ", column %" PRId64
                 " (from 0)",
                 bad, bad == 1 ? "y is" : "ies are", row, col);
        doctor_figure(f, "entries", (double)bad);
        doctor_next(f, "spry info %s --nonfinite keep", d->options->matrix);
    }
    if (d->b) {
        spry_finding *f = NULL;
        for (int64_t i = 0; i < d->b->n; i++)
            if (!value_finite(value_load(d->type, d->b->data, i))) {
                if (!f)
                    f = doctor_add(d, DOCTOR_NONFINITE, SPRY_SEVERITY_ERROR, "-");
                doctor_row(f, i);
            }
        if (f) {
            snprintf(f->text, sizeof f->text,
                     "the right-hand side is NaN or infinite in rows %s (from 0)",
                     doctor_places(f->rows, f->row_count, places, sizeof places));
            doctor_figure(f, "rhs_entries", (double)f->row_count);
            doctor_next(f, "grep -inE 'nan|inf' %s | head",
                        *d->options->rhs ? d->options->rhs : "b.mtx");
        }
    }
}

static void check_duplicates(doctor *d)
{
    const int64_t count = d->stats.duplicates;
    if (count == 0)
        return;
    spry_finding *f =
        doctor_add(d, DOCTOR_DUPLICATES, SPRY_SEVERITY_WARNING,
                   "%" PRId64 " entr%s at a place that is taken; they are added up, and everything "
                   "else in this report is about the sums",
                   count, count == 1 ? "y stands" : "ies stand");
    doctor_figure(f, "entries", (double)count);
    doctor_solve(d, f, "--duplicates sum");
}

/* The smallest and largest of what is not 0 in the largest numbers of rows, or of columns. */
typedef struct spread {
    double least, most;
    int64_t least_at;
} spread;

static spread spread_of(int64_t n, const double *sizes)
{
    spread s = {INFINITY, 0, -1};
    for (int64_t i = 0; i < n; i++) {
        if (sizes[i] > 0 && sizes[i] < s.least) {
            s.least = sizes[i];
            s.least_at = i;
        }
        s.most = sizes[i] > s.most ? sizes[i] : s.most;
    }
    return s;
}

/* From which ratio on rows or columns are reported, and warned about: a residual of 1e-8 of all of
 * b shows nothing about rows that are smaller than that. */
static spry_status check_scaling(doctor *d)
{
    const bool single = type_is_single(d->A->a.type);
    const double reported = 1e4, warned = single ? 1e6 : 1e10;
    const matrix_arrays *a = &d->A->a;
    double *rows = NULL, *cols = NULL;
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(d->ctx, base_calloc(d->ctx, a->rows, sizeof *rows, &rows));
    SPRY_GO(d->ctx, base_calloc(d->ctx, a->cols, sizeof *cols, &cols));
    for (int64_t i = 0; i < a->rows; i++)
        for (int64_t k = a->offsets[i]; k < a->offsets[i + 1]; k++) {
            const double size = scalar_size(a->type, value_load(a->type, a->values, k));
            const int32_t j = a->col_index[k];
            if (!isfinite(size))
                continue;
            rows[i] = size > rows[i] ? size : rows[i];
            cols[j] = size > cols[j] ? size : cols[j];
        }
    const spread r = spread_of(a->rows, rows), c = spread_of(a->cols, cols);
    const double row_ratio = r.most / r.least, col_ratio = c.most / c.least;
    const double ratio = row_ratio > col_ratio ? row_ratio : col_ratio;
    if (!(ratio >= reported) || !(r.most > 0))
        goto done;
    spry_finding *f = doctor_add(
        d, DOCTOR_SCALING, ratio >= warned ? SPRY_SEVERITY_WARNING : SPRY_SEVERITY_NOTE,
        "the largest numbers of rows lie between %.2g (row %" PRId64 ") and %.2g, those of columns "
        "between %.2g (column %" PRId64
        ") and %.2g; a residual |b - A x| / |b| shows nothing about "
        "the small rows. Scaling of rows and columns mends it: largest numbers of 1/2 to 2",
        r.least, r.least_at, r.most, c.least, c.least_at, c.most);
    doctor_row(f, r.least_at);
    doctor_col(f, c.least_at);
    doctor_figure(f, "row_ratio", row_ratio);
    doctor_figure(f, "column_ratio", col_ratio);
    doctor_figure(f, "value_min", d->stats.value_min);
    doctor_figure(f, "value_max", d->stats.value_max);
    doctor_next(f,
                "spry convert %s scaled.mtx --scale equilibrate --left-out l.npy --right-out r.npy",
                d->options->matrix);
done:
    base_free(d->ctx, rows);
    base_free(d->ctx, cols);
    return status;
}

spry_status doctor_check_values(doctor *d)
{
    check_finite(d);
    check_duplicates(d);
    return check_scaling(d);
}
