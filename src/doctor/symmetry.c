/* Symmetry that was meant but is missing. */
#include "doctor/doctor.h"

#include "matrix/entries.h"
#include "matrix/stats.h"

/* How A differs from its mirror image: A^T, or A^H. */
typedef struct mirror {
    double difference, norm; /* Frobenius */
    int64_t entries, unlike; /* off the diagonal; and those that differ by more than rounding */
    int64_t unmatched;       /* of those, without a mirror image */
    int64_t first_row, first_col;
} mirror;

static void compare(const double *root, double tolerance, mirror *m, int64_t i, int64_t j,
                    spry_scalar v, spry_scalar w, bool matched)
{
    const double re = v.re - w.re, im = v.im - w.im;
    m->difference += re * re + im * im;
    m->entries += i != j;
    if (!(fabs(re) + fabs(im) <= tolerance * matrix_mirror_size(root, i, j, v, w))) {
        if (m->unlike == 0) {
            m->first_row = i;
            m->first_col = j;
        }
        m->unlike++;
        m->unmatched += !matched;
    }
}

/* Both are sorted; t is the transpose. An entry without a mirror image counts for two of the
 * difference, as its mirror place differs as well. */
static mirror compare_all(const doctor *d, const double *root, const matrix_arrays *t,
                          bool conjugate)
{
    const matrix_arrays *a = &d->A->a;
    const double tolerance = matrix_mirror_tolerance(type_is_single(a->type));
    mirror m = {.norm = d->stats.norm_frobenius};
    for (int64_t i = 0; i < a->rows; i++) {
        int64_t l = t->offsets[i];
        for (int64_t k = a->offsets[i]; k < a->offsets[i + 1]; k++) {
            const int32_t j = a->col_index[k];
            while (l < t->offsets[i + 1] && t->col_index[l] < j)
                l++;
            const bool matched = l < t->offsets[i + 1] && t->col_index[l] == j;
            const spry_scalar v = value_load(a->type, a->values, k);
            spry_scalar w = matched ? value_load(t->type, t->values, l) : (spry_scalar){0, 0};
            w.im = conjugate ? -w.im : w.im;
            compare(root, tolerance, &m, i, j, v, w, matched);
            if (!matched)
                m.difference += v.re * v.re + v.im * v.im;
        }
    }
    m.difference = sqrt(m.difference);
    return m;
}

/* From `few` of all entries on it is no oversight, and from `small` of the norm on no rounding. */
static void judge(doctor *d, const mirror *m, const char *word)
{
    const double small = type_is_single(d->A->a.type) ? 1e-4 : 1e-6, few = 0.02;
    const double relative = m->norm > 0 ? m->difference / m->norm : 0;
    const bool tiny = relative <= small, some = (double)m->unlike <= few * (double)m->entries;
    if (m->unlike == 0 || m->entries == 0 || !(tiny || some))
        return;
    spry_finding *f =
        doctor_add(d, DOCTOR_SYMMETRY, tiny ? SPRY_SEVERITY_WARNING : SPRY_SEVERITY_NOTE,
                   "A is almost %s: |A - A^%c| is %.2g of |A|; %" PRId64 " of %" PRId64
                   " entries off the diagonal differ from their mirror images (%" PRId64
                   " have none), the first at row %" PRId64 ", column %" PRId64
                   " (from 0). As it is, it is solved as one that is not %s",
                   word, *word == 'h' ? 'H' : 'T', relative, m->unlike, m->entries, m->unmatched,
                   m->first_row, m->first_col, word);
    doctor_figure(f, "asymmetry", relative);
    doctor_figure(f, "entries_that_differ", (double)m->unlike);
    doctor_row(f, m->first_row);
    doctor_col(f, m->first_col);
    doctor_solve(d, f, "--method gmres");
}

spry_status doctor_check_symmetry(doctor *d)
{
    spry_context *ctx = d->ctx;
    const spry_stats *s = &d->stats;
    matrix_arrays t = {0};
    double *root = NULL;
    spry_status status = SPRY_STATUS_OK;
    if (!d->square || s->nonfinite > 0 || d->A->a.rows == 0)
        return SPRY_STATUS_OK;
    SPRY_GO(ctx, matrix_find_out(ctx, d->A, SPRY_FACT_HERMITIAN, &d->hermitian));
    SPRY_GO(ctx, matrix_find_out(ctx, d->A, SPRY_FACT_SYMMETRIC, &d->symmetric));
    if (s->hermitian || s->symmetric || s->skew)
        return SPRY_STATUS_OK;
    if (doctor_late(d, 0.5)) {
        doctor_skip(d, "symmetry");
        return SPRY_STATUS_OK;
    }
    SPRY_GO(ctx, matrix_transpose_arrays(ctx, &d->A->a, &t));
    const bool complex = spry_type_is_complex(d->A->a.type);
    SPRY_GO(ctx, matrix_diagonal_roots(ctx, &d->A->a, &root));
    const mirror plain = compare_all(d, root, &t, false);
    const mirror turned = complex ? compare_all(d, root, &t, true) : plain;
    const bool by_turning = complex && turned.difference < plain.difference;
    judge(d, by_turning ? &turned : &plain, by_turning ? "hermitian" : "symmetric");
done:
    base_free(ctx, root);
    matrix_free_arrays(ctx, &t);
    return status;
}
