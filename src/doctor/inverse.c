/*
 * How near to a singular matrix A is, and where: inverse iteration with factors of B, which is A
 * with rows and columns scaled. Where B is singular, factors are those of B + D with a small matrix
 * D, a permutation with random numbers, and the vectors that come out are corrected for D.
 * Whatever v came from, |B v| / |v| is computed with B itself, and the least singular value is no
 * larger: B - (B v) v^H / |v|^2 is singular.
 */
#include "doctor/doctor.h"

#include "matrix/entries.h"
#include "precon/precon.h"

#include <float.h>
#include <spry/algebra.h>

/* |D| over the largest numbers of B: far above rounding, so that factors are good, and far below
 * other singular values. Where the smaller one leaves no factors, the larger one is tried. */
static const double shift_sizes[] = {2e-11, 1e-7};
/* Operations a second that factoring can be trusted with. */
static const double speed = 2e9;

/* --- factors -------------------------------------------------------------------------------------
 */

/* B + D. D has a number in each row and column: where the structural rank is not full, a diagonal
 * one would leave null vectors of rows and columns that have nothing to do with each other. */
static spry_status add_shift(doctor *d, double size, spry_matrix **P)
{
    spry_context *ctx = d->ctx;
    const int64_t n = d->B->a.rows;
    matrix_arrays a = {.type = d->type, .format = SPRY_FORMAT_CSR, .rows = n, .cols = n, .nnz = n};
    spry_status status = SPRY_STATUS_OK;
    spry_matrix_free(d->D);
    d->D = NULL;
    SPRY_GO(ctx, matrix_allocate(ctx, &a));
    for (int64_t i = 0; i <= n; i++)
        a.offsets[i] = i;
    for (int64_t i = 0; i < n; i++) {
        a.col_index[i] = d->partner ? d->partner[i] : (int32_t)i;
        value_store(d->type, a.values, i,
                    (spry_scalar){size * (1 + base_uniform(5, (uint64_t)i)), 0});
    }
    SPRY_GO(ctx, matrix_wrap(ctx, &a, &d->D));
    d->shift_size = size;
    SPRY_GO(ctx, spry_matrix_add((spry_scalar){1, 0}, d->B, (spry_scalar){1, 0}, d->D, P));
done:
    return status;
}

/* A singular matrix, one that is too large and a lack of memory leave no factors, and are no
 * failures here; *singular tells the first. */
static spry_status try_direct(doctor *d, const spry_matrix *P, bool *singular)
{
    spry_context *ctx = d->ctx;
    char before[MESSAGE_SIZE], name[32];
    memcpy(before, ctx->message, sizeof before);
    spry_status status = precon_make_beside(ctx, P, NULL, "direct", &d->M, name);
    *singular = status == SPRY_STATUS_BAD_INPUT;
    if (status == SPRY_STATUS_BAD_INPUT || status == SPRY_STATUS_UNSUPPORTED ||
        status == SPRY_STATUS_NO_MEMORY) {
        memcpy(ctx->message, before, sizeof before);
        status = SPRY_STATUS_OK;
    }
    return status;
}

spry_status doctor_invert(doctor *d)
{
    spry_context *ctx = d->ctx;
    const double left = d->options->seconds - (base_seconds() - d->begin);
    /* Where pivots are off the diagonal, the order that was chosen for it serves less. */
    const double pivoting = doctor_has(d, DOCTOR_ZERO_DIAGONAL) ? 8 : 1;
    const double most = speed * (left > 0 ? left : 0) / pivoting;
    const bool known = d->zero_rows > 0 || d->zero_cols > 0 || d->structural_rank < d->B->a.rows;
    spry_matrix *P = NULL;
    double operations = 0;
    bool singular = known;
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(ctx, doctor_forecast(d->B, most, &operations));
    if (!(operations <= most)) {
        doctor_skip(d, "whether A is singular (factors would take too long)");
        goto done;
    }
    if (!known)
        SPRY_GO(ctx, try_direct(d, d->B, &singular));
    for (int k = 0; k < 2 && !d->M && singular; k++) {
        SPRY_GO(ctx, add_shift(d, shift_sizes[k], &P));
        status = try_direct(d, P, &singular);
        if (d->M)
            operator_keep(d->M, P);
        else
            spry_matrix_free(P);
        P = NULL;
        if (status != SPRY_STATUS_OK)
            break;
    }
done:
    return status;
}

/* --- inverse iteration ---------------------------------------------------------------------------
 */

/* y = M x, or M^H x, without what the vectors found before have, of length 1. */
static spry_status step(const doctor *d, bool conjugate, const spry_vector *x, spry_vector *y)
{
    const doctor_null *z = &d->null;
    spry_status status = doctor_times(d->M, conjugate, x, y);
    if (status == SPRY_STATUS_OK)
        status = doctor_normalise(y);
    if (status == SPRY_STATUS_OK)
        status = doctor_project(z->count, conjugate ? z->left : z->right, y);
    return status == SPRY_STATUS_OK ? doctor_normalise(y) : status;
}

/* One more pair of singular vectors, of the least singular value that is left: v of M^-1, w of
 * M^-H.
 */
static spry_status iterate(const doctor *d, spry_vector *v, spry_vector *w)
{
    enum { TURNS = 4 };
    spry_context *ctx = d->ctx;
    spry_status status = SPRY_STATUS_OK;
    for (int turn = 0; turn < TURNS; turn++) {
        SPRY_GO(ctx, step(d, true, v, w));
        SPRY_GO(ctx, step(d, false, w, v));
    }
done:
    return status;
}

/* |B v| below this is what rounding of B's entries makes. */
static double singular_limit(const doctor *d)
{
    const double sums = DBL_EPSILON / 2 * sqrt((double)d->stats.row_max); /* in computing |B v| */
    return (4 * d->roundoff + sums) * d->B_norm;
}

/* |B v| of vector k, and |B^H w|. */
static spry_status measure(doctor *d, int k, spry_vector *work)
{
    doctor_null *z = &d->null;
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(d->ctx, doctor_times(d->B_op, false, z->right[k], work));
    SPRY_GO(d->ctx, spry_vector_norm(work, &z->right_size[k]));
    SPRY_GO(d->ctx, doctor_times(d->B_op, true, z->left[k], work));
    SPRY_GO(d->ctx, spry_vector_norm(work, &z->left_size[k]));
    if (isfinite(z->right_size[k]))
        d->smallest = fmin(d->smallest, z->right_size[k]);
done:
    return status;
}

/* Vectors with |B v| up to a limit, one after the other. The first is kept whatever it is: it tells
 * where A is nearly singular. */
static spry_status collect(doctor *d, double limit, spry_vector *work)
{
    spry_context *ctx = d->ctx;
    const int64_t n = d->B->a.rows;
    doctor_null *z = &d->null;
    spry_status status = SPRY_STATUS_OK;
    while (z->count < DOCTOR_MOST_NULL && z->count < n) {
        const int k = z->count;
        SPRY_GO(ctx, doctor_random(d, n, 21 + (uint64_t)k, &z->right[k]));
        SPRY_GO(ctx, spry_vector_like(z->right[k], n, &z->left[k]));
        SPRY_GO(ctx, doctor_project(k, z->right, z->right[k]));
        SPRY_GO(ctx, iterate(d, z->right[k], z->left[k]));
        SPRY_GO(ctx, measure(d, k, work));
        if (!(z->right_size[k] <= limit))
            break;
        z->count++;
        z->more = z->count == DOCTOR_MOST_NULL || doctor_late(d, 1.5);
        if (z->more)
            break;
    }
done:
    return status;
}

/*
 * Vectors of B + D become those of B: v - (I - V V^H) M (I - W W^H) B v, where V and W span all
 * that M makes large, so that each turn gains |D| over the least singular value beside theirs. The
 * same for w and B^H.
 */
static spry_status polish(doctor *d, int k, bool back, spry_vector *r, spry_vector *y)
{
    enum { TURNS = 3 };
    spry_context *ctx = d->ctx;
    const doctor_null *z = &d->null;
    spry_vector *const *own = back ? z->left : z->right, *const *other = back ? z->right : z->left;
    spry_status status = SPRY_STATUS_OK;
    for (int turn = 0; turn < TURNS; turn++) {
        SPRY_GO(ctx, doctor_times(d->B_op, back, own[k], r));
        SPRY_GO(ctx, doctor_project(z->count, other, r));
        SPRY_GO(ctx, doctor_times(d->M, back, r, y));
        SPRY_GO(ctx, doctor_project(z->count, own, y));
        SPRY_GO(ctx, spry_vector_axpy((spry_scalar){-1, 0}, y, own[k]));
    }
    SPRY_GO(ctx, doctor_project(k, own, own[k]));
    SPRY_GO(ctx, doctor_normalise(own[k]));
done:
    return status;
}

/* Keeps the vectors that are null vectors of B itself, and the first. */
static void sift(doctor *d)
{
    doctor_null *z = &d->null;
    int kept = 0;
    for (int k = 0; k < z->count; k++) {
        if (!(z->right_size[k] <= singular_limit(d)))
            continue;
        spry_vector *const right = z->right[k], *const left = z->left[k];
        const double right_size = z->right_size[k], left_size = z->left_size[k];
        z->right[k] = z->right[kept];
        z->left[k] = z->left[kept];
        z->right_size[k] = z->right_size[kept];
        z->left_size[k] = z->left_size[kept];
        z->right[kept] = right;
        z->left[kept] = left;
        z->right_size[kept] = right_size;
        z->left_size[kept++] = left_size;
    }
    z->more = z->more && kept == z->count;
    z->count = kept;
}

spry_status doctor_find_null(doctor *d)
{
    spry_context *ctx = d->ctx;
    const int64_t n = d->B->a.rows;
    const double near = 100 * d->shift_size; /* what D may hide */
    spry_vector *work = NULL, *other = NULL;
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(ctx, spry_vector_new(ctx, d->type, n, NULL, SPRY_OWN_TAKE, &work));
    SPRY_GO(ctx, spry_vector_like(work, n, &other));
    SPRY_GO(ctx, collect(d, d->D ? near * d->B_norm : singular_limit(d), work));
    for (int k = 0; k < d->null.count && d->D; k++) {
        SPRY_GO(ctx, polish(d, k, false, work, other));
        SPRY_GO(ctx, polish(d, k, true, work, other));
        SPRY_GO(ctx, measure(d, k, work));
    }
    sift(d);
done:
    spry_vector_free(work);
    spry_vector_free(other);
    return status;
}
