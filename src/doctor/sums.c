/* The constant vector: whether the rows, and the columns, sum to 0. */
#include "doctor/doctor.h"

#include "matrix/entries.h"
#include "matrix/stats.h"

/* |sums| and sums of moduli of rows, or of columns. */
typedef struct sums {
    double size, all;  /* 2-norms of both */
    bool vanish;       /* every sum is 0 up to the rounding of its terms */
    int64_t remaining; /* sums that do not vanish */
} sums;

static void add_sum(const doctor *d, sums *s, spry_scalar sum, double all, int64_t terms)
{
    const double size = hypot(sum.re, sum.im);
    s->size = hypot(s->size, size); /* squares of large entries are not numbers */
    s->all = hypot(s->all, all);
    s->remaining += size > 4 * d->roundoff * (double)(terms + 1) * all;
}

static sums finish(sums s)
{
    s.vanish = s.remaining == 0 && s.all > 0;
    return s;
}

static sums of_rows(const doctor *d, const matrix_arrays *a)
{
    sums s = {0};
    for (int64_t i = 0; i < a->rows; i++) {
        spry_scalar sum = {0, 0};
        double all = 0;
        for (int64_t k = a->offsets[i]; k < a->offsets[i + 1]; k++) {
            const spry_scalar v = value_load(a->type, a->values, k);
            sum.re += v.re;
            sum.im += v.im;
            all += scalar_size(a->type, v);
        }
        add_sum(d, &s, sum, all, a->offsets[i + 1] - a->offsets[i]);
    }
    return finish(s);
}

/* The constant vector is a null vector, as the caller declared: b is projected accordingly, where
 * the null vector of A^H is the same. The solver takes as much for 0. */
static spry_status expect(doctor *d, const sums *rows, const sums *cols)
{
    const double nothing = 2e-4;
    spry_vector *ones = NULL;
    spry_status status = SPRY_STATUS_OK;
    d->expected = rows->size <= nothing * rows->all;
    if (!d->expected || !d->b || !(cols->size <= nothing * cols->all))
        return SPRY_STATUS_OK;
    SPRY_GO(d->ctx, spry_vector_like(d->b, d->b->n, &ones));
    SPRY_GO(d->ctx, spry_vector_fill(ones, (spry_scalar){1, 0}));
    SPRY_GO(d->ctx, doctor_normalise(ones));
    SPRY_GO(d->ctx, doctor_project(1, &ones, d->b));
done:
    spry_vector_free(ones);
    return status;
}

spry_status doctor_check_sums(doctor *d)
{
    spry_context *ctx = d->ctx;
    /* So little of |A| that the constant vector is all but a null vector, and more than what is
     * left of a boundary: 1e-4 |A| with n rows of the boundary among n^2. */
    const double nearly = 1e-6;
    matrix_arrays t = {0};
    spry_status status = SPRY_STATUS_OK;
    if (!d->square || d->A->a.rows < 2)
        return SPRY_STATUS_OK;
    if (doctor_late(d, 0.5)) {
        doctor_skip(d, "null space");
        return SPRY_STATUS_OK;
    }
    const sums rows = of_rows(d, &d->A->a);
    SPRY_GO(ctx, matrix_transpose_arrays(ctx, &d->A->a, &t));
    const sums cols = of_rows(d, &t);
    d->column_sums_vanish = cols.vanish;
    if (d->options->nullspace)
        SPRY_GO(ctx, expect(d, &rows, &cols));
    if (!(rows.size <= nearly * rows.all) || rows.all == 0)
        goto done;
    const double relative = rows.size / rows.all;
    spry_finding *f;
    if (d->expected)
        f = doctor_add(d, DOCTOR_NULL_SPACE, SPRY_SEVERITY_NOTE,
                       "A times the constant vector is 0 (%.2g of what its rows hold), as declared "
                       "of its null space",
                       relative);
    else if (rows.vanish)
        f = doctor_add(
            d, DOCTOR_NULL_SPACE, SPRY_SEVERITY_WARNING,
            "every row sums to 0: A times the constant vector is 0, so that A is singular "
            "and x is known up to a constant alone%s",
            cols.vanish ? "; columns sum to 0 as well, so that the numbers of b must "
                          "sum to 0, too"
                        : "");
    else
        f = doctor_add(
            d, DOCTOR_NULL_SPACE, SPRY_SEVERITY_NOTE,
            "A times the constant vector is nearly 0 (%.2g of what its rows hold; %" PRId64
            " rows do not sum to 0): that vector converges last; multigrid carries it",
            relative, rows.remaining);
    doctor_figure(f, "row_sums", relative);
    doctor_figure(f, "column_sums", cols.all > 0 ? cols.size / cols.all : 0);
    doctor_solve(d, f,
                 d->expected   ? "--method direct"
                 : rows.vanish ? "--nullspace constant"
                               : "--precon amg");
done:
    matrix_free_arrays(ctx, &t);
    return status;
}
