/* The condition of A and its least singular vectors: what inverse.c finds, or Lanczos's method
 * without factors, and the findings on both. */
#include "doctor/doctor.h"

#include "matrix/entries.h"
#include "matrix/stats.h"

#include <float.h>

/* --- findings ------------------------------------------------------------------------------------
 */

/* The places where a vector of B's, in A's scale, is at least a tenth of its largest, those of the
 * largest numbers first. */
static spry_status find_places(doctor *d, const spry_vector *v, const spry_vector *scale,
                               spry_finding *f, void (*add)(spry_finding *, int64_t))
{
    spry_vector *own = NULL;
    double most = 0, before = INFINITY;
    int64_t count = 0, at_before = -1;
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(d->ctx, spry_vector_like(v, v->n, &own));
    SPRY_GO(d->ctx, spry_vector_multiply(v, scale, own));
    for (int64_t i = 0; i < v->n; i++)
        most = fmax(most, scalar_size(d->type, value_load(d->type, own->data, i)));
    for (int64_t i = 0; i < v->n; i++)
        count += scalar_size(d->type, value_load(d->type, own->data, i)) >= 0.1 * most;
    for (int64_t k = 0; k < count; k++) {
        int64_t at = -1;
        double size = -1;
        for (int64_t i = 0; i < v->n && k < SPRY_FINDING_PLACES; i++) {
            const double own_size = scalar_size(d->type, value_load(d->type, own->data, i));
            const bool after = own_size < before || (own_size == before && i > at_before);
            if (after && own_size > size) {
                size = own_size;
                at = i;
            }
        }
        before = size;
        at_before = at;
        add(f, at);
    }
done:
    spry_vector_free(own);
    return status;
}

/* The null space is the one the caller gave, and no larger, as it should be. */
static void report_expected(doctor *d)
{
    const int64_t n = d->B->a.rows;
    spry_finding *f = doctor_add(d, DOCTOR_SINGULAR, SPRY_SEVERITY_NOTE,
                                 "singular as expected: rank about %" PRId64 " of %" PRId64
                                 ", constant vectors are what A sends to 0, and nothing else",
                                 n - 1, n);
    doctor_figure(f, "rank", (double)(n - 1));
    doctor_solve(d, f, "--method direct");
    if (d->null.next > 0) /* that of what is left */
        d->condition = d->B_norm / d->null.next;
}

static spry_status report_singular(doctor *d)
{
    const doctor_null *z = &d->null;
    const int64_t n = d->B->a.rows;
    const double smallest = d->B_norm > 0 ? z->right_size[0] / d->B_norm : 0;
    char rows[160], cols[160], structural[48] = "";
    spry_status status = SPRY_STATUS_OK;
    if (d->structural_rank < n)
        snprintf(structural, sizeof structural, " (structural rank %" PRId64 ")",
                 d->structural_rank);
    spry_finding *f = doctor_add(d, DOCTOR_SINGULAR, SPRY_SEVERITY_ERROR, "-");
    SPRY_GO(d->ctx, find_places(d, z->left[0], d->left, f, doctor_row));
    SPRY_GO(d->ctx, find_places(d, z->right[0], d->right, f, doctor_col));
    snprintf(
        f->text, sizeof f->text,
        "singular: rank %s %" PRId64 " of %" PRId64 "%s. There is a v with |A v| = %.2g |A| |v| "
        "(rows and columns scaled), as small as rounding; it lives in columns %s (from 0), and "
        "the equations that depend on each other are rows %s",
        z->more ? "at most" : "about", n - z->nullity, n, structural, smallest,
        doctor_places(f->cols, f->col_count, cols, sizeof cols),
        doctor_places(f->rows, f->row_count, rows, sizeof rows));
    doctor_figure(f, "rank", (double)(n - z->nullity));
    doctor_figure(f, "smallest", smallest);
    doctor_solve(d, f,
                 d->column_sums_vanish && d->hermitian && !d->expected ? "--nullspace constant"
                                                                       : "--method lsmr");
done:
    return status;
}

static spry_status report_condition(doctor *d)
{
    const bool single = type_is_single(d->A->a.type);
    const double noted = single ? 1e-3 : 1e-6, warned = single ? 5e-2 : 1e-3;
    const double lost = d->condition * d->roundoff;
    char rows[160], cols[160];
    spry_status status = SPRY_STATUS_OK;
    if (!(lost >= noted))
        return status;
    spry_finding *f = doctor_add(d, DOCTOR_ILL_CONDITIONED,
                                 lost >= warned ? SPRY_SEVERITY_WARNING : SPRY_SEVERITY_NOTE, "-");
    if (d->null.right[0]) {
        SPRY_GO(d->ctx, find_places(d, d->null.left[0], d->left, f, doctor_row));
        SPRY_GO(d->ctx, find_places(d, d->null.right[0], d->right, f, doctor_col));
    }
    int used = snprintf(f->text, sizeof f->text,
                        "the condition is at least %.2g, rows and columns scaled: as few as %.0f "
                        "digits of x may be right in this precision",
                        d->condition, fmax(0, floor(-log10(2 * lost))));
    if (d->null.right[0])
        snprintf(f->text + used, sizeof f->text - (size_t)used,
                 ". The vector that A makes smallest lives in columns %s (from 0), and rows %s are "
                 "nearly dependent",
                 doctor_places(f->cols, f->col_count, cols, sizeof cols),
                 doctor_places(f->rows, f->row_count, rows, sizeof rows));
    doctor_figure(f, "condition", d->condition);
    doctor_figure(f, "smallest", d->smallest / d->B_norm);
    doctor_solve(d, f, "--method direct");
done:
    return status;
}

/* --- the check -----------------------------------------------------------------------------------
 */

static spry_status apply(void *data, const spry_vector *x, spry_vector *y)
{
    return doctor_inverse(data, false, x, y);
}

/* An inverse shows small negative eigenvalues best. */
static spry_status check_negative(doctor *d)
{
    enum { STEPS = 24 };
    double least = 0, largest = 0;
    spry_status status = SPRY_STATUS_OK;
    if (!d->hermitian || !d->definite || d->null.nullity > 0 || !doctor_scaled_alike(d))
        return SPRY_STATUS_OK;
    SPRY_GO(d->ctx, doctor_lanczos(d, apply, d, d->B->a.rows, STEPS, &least, &largest));
    const double size = fmax(fabs(least), fabs(largest));
    /* Rounding changes eigenvalues of B by about roundoff |B|, those of its inverse by size^2
     * times that. */
    if (least < -1e-8 * size && size * d->roundoff * d->B_norm * 1e3 < 1)
        doctor_report_negative(d, 1 / least, largest > 0 ? 1 / largest : 1 / least);
done:
    return status;
}

static spry_status gram(void *data, const spry_vector *x, spry_vector *y)
{
    const doctor *d = data;
    spry_vector *work = NULL;
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(d->ctx, spry_vector_new(d->ctx, d->type, d->B->a.rows, NULL, SPRY_OWN_TAKE, &work));
    SPRY_GO(d->ctx, doctor_times(d->B_op, false, x, work));
    SPRY_GO(d->ctx, doctor_times(d->B_op, true, work, y));
done:
    spry_vector_free(work);
    return status;
}

/* Without factors: Lanczos's method for B^H B, which sees no condition beyond 1e7. */
static spry_status estimate(doctor *d)
{
    enum { STEPS = 100 };
    double least = 0, largest = 0;
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(d->ctx, doctor_lanczos(d, gram, d, d->B->a.cols, STEPS, &least, &largest));
    if (least > 1e3 * DBL_EPSILON * largest) {
        d->smallest = sqrt(least);
        d->B_norm = fmax(d->B_norm, sqrt(largest));
        d->condition = largest > 4 * least ? sqrt(largest / least) : 0; /* else unknown */
    } else if (largest > 0) {
        d->condition = 1 / sqrt(1e3 * DBL_EPSILON);
    }
done:
    return status;
}

spry_status doctor_check_inverse(doctor *d)
{
    spry_context *ctx = d->ctx;
    spry_status status = SPRY_STATUS_OK;
    const int64_t n = d->B->a.rows;
    if (n == 0 || d->B->a.cols == 0 || d->stats.nnz == 0 || d->known)
        return SPRY_STATUS_OK;
    if (doctor_late(d, 0.7)) {
        doctor_skip(d, "condition");
        return SPRY_STATUS_OK;
    }
    if (d->square && !d->N)
        SPRY_GO(ctx, doctor_invert(d));
    if (!doctor_has_inverse(d)) {
        SPRY_GO(ctx, estimate(d));
        SPRY_GO(ctx, report_condition(d));
        goto done;
    }
    SPRY_GO(ctx, doctor_find_null(d));
    if (d->null.count > 0 && !d->expected && d->structural_rank == n)
        SPRY_GO(ctx, doctor_balance(d));
    d->condition = d->B_norm / fmax(d->smallest, DBL_EPSILON / 2 * d->B_norm);
    if (d->expected && d->null.nullity == 1 && !d->null.more)
        report_expected(d);
    else if (d->null.count > 0)
        SPRY_GO(ctx, report_singular(d));
    else
        SPRY_GO(ctx, report_condition(d));
    SPRY_GO(ctx, check_negative(d));
done:
    return status;
}
