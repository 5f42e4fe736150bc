/* Definiteness of hermitian matrices, and how far others are from normal ones. */
#include "doctor/doctor.h"

#include "matrix/entries.h"
#include "matrix/stats.h"

static spry_status apply(void *data, const spry_vector *x, spry_vector *y)
{
    return doctor_times(data, false, x, y);
}

/* A way to see that a hermitian matrix is not positive definite. */
typedef struct witness {
    int64_t negative, zero, positive; /* diagonal entries */
    int64_t row, col;                 /* of a minor a_ii a_jj < |a_ij|^2; -1: none */
    double least, largest;            /* values of Rayleigh's quotient */
} witness;

/* What entries show. In e_i alone (x, A x) is a_ii; in the plane of e_i and e_j it takes both signs
 * where a_ii a_jj - |a_ij|^2 < 0. */
static witness look(const doctor *d)
{
    const matrix_arrays *a = &d->W->a;
    const double margin = 1 + 64 * d->roundoff;
    witness w = {.row = -1, .col = -1, .least = INFINITY, .largest = -INFINITY};
    for (int64_t i = 0; i < a->rows; i++) {
        const int64_t at = matrix_find_diagonal(a, i);
        const double own = at >= 0 ? value_load(a->type, a->values, at).re : 0;
        w.negative += own < 0;
        w.zero += own == 0;
        w.positive += own > 0;
        for (int64_t k = a->offsets[i]; k < a->offsets[i + 1] && w.row < 0; k++) {
            const int64_t j = a->col_index[k];
            const int64_t other_at = j > i ? matrix_find_diagonal(a, j) : -1;
            const double other = other_at >= 0 ? value_load(a->type, a->values, other_at).re : 0;
            const double size = scalar_size(a->type, value_load(a->type, a->values, k));
            if (j > i && size > margin * sqrt(fabs(own)) * sqrt(fabs(other))) {
                w.row = i;
                w.col = j;
            }
        }
    }
    return w;
}

static void report_indefinite(doctor *d, const witness *w, bool all_negative)
{
    const char *word = spry_type_is_complex(d->type) ? "hermitian" : "symmetric";
    spry_finding *f =
        doctor_add(d, DOCTOR_INDEFINITE, SPRY_SEVERITY_WARNING,
                   "A is %s, but not positive definite: %" PRId64 " diagonal entries are negative "
                   "and %" PRId64 " are 0",
                   word, w->negative, w->zero);
    size_t used = strlen(f->text);
    if (w->row >= 0) {
        doctor_row(f, w->row);
        doctor_col(f, w->col);
        snprintf(f->text + used, sizeof f->text - used,
                 ", and rows and columns %" PRId64 " and %" PRId64
                 " (from 0) alone have eigenvalues "
                 "of both signs",
                 w->row, w->col);
    } else if (w->least < 0) {
        snprintf(
            f->text + used, sizeof f->text - used,
            "; Lanczos's method comes upon eigenvalues of %.3g and %.3g, rows and columns scaled",
            w->least, w->largest);
    }
    used = strlen(f->text);
    if (all_negative)
        snprintf(f->text + used, sizeof f->text - used,
                 ". All that was seen is negative: -A may be positive definite");
    else
        snprintf(f->text + used, sizeof f->text - used,
                 ". Conjugate gradients and ic may break down");
    doctor_figure(f, "negative_diagonal", (double)w->negative);
    doctor_figure(f, "zero_diagonal", (double)w->zero);
    if (isfinite(w->least)) {
        doctor_figure(f, "least_eigenvalue_seen", w->least);
        doctor_figure(f, "largest_eigenvalue_seen", w->largest);
    }
    d->definite = false;
    doctor_solve(d, f, "--method minres");
}

bool doctor_scaled_alike(const doctor *d)
{
    return memcmp(d->left->data, d->right->data,
                  (size_t)d->left->n * spry_type_size(d->left->type)) == 0;
}

static spry_status check_definite(doctor *d)
{
    enum { STEPS = 48 };
    const double rounding = 1e3 * d->roundoff;
    witness w = look(d);
    spry_status status = SPRY_STATUS_OK;
    const bool seen = w.negative > 0 || w.row >= 0;
    if (!seen && doctor_late(d, 0.5)) {
        doctor_skip(d, "definiteness");
        return SPRY_STATUS_OK;
    }
    if (!doctor_late(d, 0.5) && doctor_scaled_alike(d))
        SPRY_GO(d->ctx,
                doctor_lanczos(d, apply, d->B_op, d->B->a.rows, STEPS, &w.least, &w.largest));
    if (seen || w.least < -rounding * fmax(fabs(w.least), fabs(w.largest)))
        report_indefinite(d, &w, w.positive == 0 && w.row < 0 && !(w.largest > 0));
done:
    return status;
}

void doctor_report_negative(doctor *d, double least, double largest)
{
    witness w = look(d);
    w.least = least;
    w.largest = largest;
    report_indefinite(d, &w, !(largest > 0));
}

/* y = (A^H A - A A^H) x, and y = A^H A x. */
typedef struct pair {
    const spry_operator *A;
    spry_vector *work, *other;
} pair;

static spry_status gram(void *data, const spry_vector *x, spry_vector *y)
{
    pair *p = data;
    const spry_status status = doctor_times(p->A, false, x, p->work);
    return status == SPRY_STATUS_OK ? doctor_times(p->A, true, p->work, y) : status;
}

static spry_status commutator(void *data, const spry_vector *x, spry_vector *y)
{
    pair *p = data;
    spry_context *ctx = p->A->ctx;
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(ctx, gram(p, x, y));
    SPRY_GO(ctx, doctor_times(p->A, true, x, p->work));
    SPRY_GO(ctx, doctor_times(p->A, false, p->work, p->other));
    SPRY_GO(ctx, spry_vector_axpy((spry_scalar){-1, 0}, p->other, y));
done:
    return status;
}

/* |A^H A - A A^H| / |A|^2 is 0 for normal matrices and at most 1. Both norms come from below. */
static spry_status check_normal(doctor *d)
{
    enum { STEPS = 16 };
    const double strong = 0.25;
    spry_context *ctx = d->ctx;
    pair p = {.A = d->W_op};
    double least = 0, most = 0, unused = 0, square = 0;
    spry_status status = SPRY_STATUS_OK;
    if (doctor_late(d, 0.6)) {
        doctor_skip(d, "normality");
        return SPRY_STATUS_OK;
    }
    SPRY_GO(ctx, spry_vector_new(ctx, d->type, d->W->a.rows, NULL, SPRY_OWN_TAKE, &p.work));
    SPRY_GO(ctx, spry_vector_like(p.work, p.work->n, &p.other));
    SPRY_GO(ctx, doctor_lanczos(d, commutator, &p, p.work->n, STEPS, &least, &most));
    SPRY_GO(ctx, doctor_lanczos(d, gram, &p, p.work->n, STEPS, &unused, &square));
    const double size = fmax(fabs(least), fabs(most));
    if (square > 0 && size > strong * square) {
        spry_finding *f = doctor_add(
            d, DOCTOR_NON_NORMAL, SPRY_SEVERITY_NOTE,
            "A is far from normal: |A^H A - A A^H| is about %.2g |A|^2 (0 for normal matrices, 1 "
            "at "
            "most). Its eigenvalues do not show how fast a method converges, and residuals may "
            "stay for long before they fall",
            size / square);
        doctor_figure(f, "departure", size / square);
        doctor_solve(d, f,
                     doctor_has(d, DOCTOR_ZERO_DIAGONAL)
                         ? "--method direct"
                         : "--method gmres:restart=100 --precon ilu");
    }
done:
    spry_vector_free(p.work);
    spry_vector_free(p.other);
    return status;
}

spry_status doctor_check_spectrum(doctor *d)
{
    if (!d->square || d->A->a.rows == 0)
        return SPRY_STATUS_OK;
    if (d->hermitian)
        return check_definite(d);
    return d->stats.skew ? SPRY_STATUS_OK : check_normal(d);
}
