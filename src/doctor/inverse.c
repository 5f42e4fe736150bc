/*
 * How near to a singular matrix A is, and where: factors of B, which is A with rows and columns
 * scaled. Where pivots are missing, each column without one gives a null vector, e_j - M B e_j with
 * the generalized inverse M that the others make, and each row one of B^H; inverse iteration finds
 * those that the pivots hide. Whatever v came from, |B v| / |v| is computed with B itself, and the
 * least singular value is no larger: B - (B v) v^H / |v|^2 is singular.
 */
#include "doctor/doctor.h"

#include "base/machine.h"
#include "matrix/entries.h"
#include "precon/precon.h"

#include <float.h>

/* --- factors -------------------------------------------------------------------------------------
 */

/* Sparse factors of P, which reveal its rank. Factors that would take too long or too much memory
 * are left out; that is no failure. Nor is anything ordered that takes longer by that alone. */
static spry_status try_direct(const doctor *d, const spry_matrix *P, spry_operator **M)
{
    spry_context *ctx = d->ctx;
    const double spent = d->counts ? 0 : base_seconds() - d->begin, least = 1e-3;
    const double most = fmax(d->options->seconds - spent, least);
    char options[96];
    if (MACHINE_ORDERING * (double)P->a.nnz > most)
        return SPRY_STATUS_OK;
    snprintf(options, sizeof options, "kind=sparse,regular=yes,most=%.3g", most);
    const base_kept before = base_try(ctx);
    spry_status status = precon_make_kind(P, &precon_kind_direct, options, M);
    if (status == SPRY_STATUS_BAD_INPUT || status == SPRY_STATUS_UNSUPPORTED ||
        status == SPRY_STATUS_NO_MEMORY) {
        base_forgive(ctx, &before);
        status = SPRY_STATUS_OK;
    }
    return status;
}

spry_status doctor_invert(doctor *d)
{
    const spry_status status = try_direct(d, d->B, &d->M);
    if (status == SPRY_STATUS_OK && !d->M)
        doctor_skip(d, "whether A is singular (factors would take too long, or too much memory)");
    return status;
}

bool doctor_has_inverse(const doctor *d)
{
    return d->M || d->N;
}

/* The places without a pivot. */
static precon_unpivoted unpivoted(const doctor *d)
{
    return precon_direct_unpivoted(d->M ? d->M : d->N);
}

/* y = x ./ scale, which has no zeros. */
static void divide(const doctor *d, const spry_vector *x, const spry_vector *scale, spry_vector *y)
{
    for (int64_t i = 0; i < x->n; i++) {
        const spry_scalar v = value_load(d->type, x->data, i);
        const double size = value_load(d->type, scale->data, i).re;
        value_store(d->type, y->data, i, (spry_scalar){v.re / size, v.im / size});
    }
}

/* B = L A R, so that B^-1 = R^-1 N L^-1. */
spry_status doctor_inverse(const doctor *d, bool conjugate, const spry_vector *x, spry_vector *y)
{
    const spry_vector *first = conjugate ? d->right : d->left;
    const spry_vector *last = conjugate ? d->left : d->right;
    spry_vector *own = NULL;
    if (d->M)
        return doctor_times(d->M, conjugate, x, y);
    spry_status status = spry_vector_like(x, x->n, &own);
    if (status == SPRY_STATUS_OK) {
        divide(d, x, first, own);
        status = doctor_times(d->N, conjugate, own, y);
        divide(d, y, last, y);
    }
    spry_vector_free(own);
    return status;
}

/* --- inverse iteration ---------------------------------------------------------------------------
 */

/* y = M x, or M^H x, without what the vectors found before have, of length 1. */
static spry_status step(const doctor *d, bool conjugate, const spry_vector *x, spry_vector *y)
{
    const doctor_null *z = &d->null;
    spry_status status = doctor_inverse(d, conjugate, x, y);
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

/* Vectors with |B v| up to a limit, one after the other. The first is always kept: it shows where A
 * is nearly singular. */
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
        if (!(z->right_size[k] <= limit)) {
            z->next = z->right_size[k];
            break;
        }
        z->count++;
        z->more = z->count == DOCTOR_MOST_NULL || doctor_late(d, 1.5);
        if (z->more)
            break;
    }
done:
    return status;
}

/* --- columns without a pivot ---------------------------------------------------------------------
 */

/* y = M x, or M^H x, where M may be of single precision; NULL: the inverse that there is. */
static spry_status solve(const doctor *d, const spry_operator *M, bool back, const spry_vector *x,
                         spry_vector *y)
{
    spry_vector *from = NULL, *to = NULL;
    spry_status status = SPRY_STATUS_OK;
    if (!M || M->type == d->type)
        return M ? doctor_times(M, back, x, y) : doctor_inverse(d, back, x, y);
    SPRY_GO(d->ctx, spry_vector_new(d->ctx, M->type, x->n, NULL, SPRY_OWN_TAKE, &from));
    SPRY_GO(d->ctx, spry_vector_like(from, x->n, &to));
    SPRY_GO(d->ctx, spry_vector_copy(x, from));
    SPRY_GO(d->ctx, doctor_times(M, back, from, to));
    SPRY_GO(d->ctx, spry_vector_copy(to, y));
done:
    spry_vector_free(from);
    spry_vector_free(to);
    return status;
}

/* v, which has numbers in places without a pivot alone, gets those for which B v is 0 wherever
 * there are pivots: v - M B v, without the null vectors known, which M makes large. More than once
 * is refinement. */
static spry_status complete(const doctor *d, const spry_operator *M, bool back, spry_vector *v)
{
    enum { TURNS = 3 };
    spry_context *ctx = d->ctx;
    spry_vector *r = NULL, *y = NULL;
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(ctx, spry_vector_like(v, v->n, &r));
    SPRY_GO(ctx, spry_vector_like(v, v->n, &y));
    for (int turn = 0; turn < TURNS; turn++) {
        SPRY_GO(ctx, doctor_times(d->B_op, back, v, r));
        SPRY_GO(ctx, solve(d, M, back, r, y));
        SPRY_GO(ctx, doctor_project(d->null.count, back ? d->null.left : d->null.right, y));
        SPRY_GO(ctx, spry_vector_axpy((spry_scalar){-1, 0}, y, v));
    }
    SPRY_GO(ctx, doctor_normalise(v));
done:
    spry_vector_free(r);
    spry_vector_free(y);
    return status;
}

/* What counts as 0 for a vector computed from factors: their missing pivots are as small as the
 * rounding errors of many sums. */
static double made_limit(const doctor *d)
{
    return 16 * singular_limit(d);
}

/* Whether B sends all vectors that belong to places without a pivot to 0: it does so with random
 * ones of them. They are independent, so that the rank is no larger than that of the factors. */
static spry_status probe(const doctor *d, const spry_operator *M, const precon_unpivoted *rest,
                         bool back, bool *null)
{
    enum { PROBES = 2 };
    spry_context *ctx = d->ctx;
    const int32_t *places = back ? rest->rows : rest->cols;
    spry_vector *v = NULL, *r = NULL;
    double size = 0;
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(ctx, spry_vector_new(ctx, d->type, d->B->a.rows, NULL, SPRY_OWN_TAKE, &v));
    SPRY_GO(ctx, spry_vector_like(v, v->n, &r));
    for (int k = 0; k < PROBES && *null; k++) {
        SPRY_GO(ctx, spry_vector_fill(v, (spry_scalar){0, 0}));
        for (int64_t i = 0; i < rest->count; i++)
            value_store(d->type, v->data, places[i],
                        (spry_scalar){base_uniform(31 + (uint64_t)k, (uint64_t)i) - 0.5, 0});
        SPRY_GO(ctx, complete(d, M, back, v));
        SPRY_GO(ctx, doctor_times(d->B_op, back, v, r));
        SPRY_GO(ctx, spry_vector_norm(r, &size));
        *null = size <= made_limit(d);
    }
done:
    spry_vector_free(v);
    spry_vector_free(r);
    return status;
}

/* The vector of one place without a pivot, orthogonal to those before it. */
static spry_status make_vector(doctor *d, bool back, int64_t place)
{
    spry_context *ctx = d->ctx;
    doctor_null *z = &d->null;
    spry_vector **own = back ? z->left : z->right, **v = &own[z->count];
    spry_status status = SPRY_STATUS_OK;
    if (!*v)
        SPRY_GO(ctx, spry_vector_new(ctx, d->type, d->B->a.rows, NULL, SPRY_OWN_TAKE, v));
    SPRY_GO(ctx, spry_vector_fill(*v, (spry_scalar){0, 0}));
    value_store(d->type, (*v)->data, place, (spry_scalar){1, 0});
    SPRY_GO(ctx, complete(d, NULL, back, *v));
    SPRY_GO(ctx, doctor_project(z->count, own, *v));
    SPRY_GO(ctx, doctor_normalise(*v));
done:
    return status;
}

/* Vectors of places without a pivot, as many as fit; with them those of B^H. */
static spry_status take_unpivoted(doctor *d, const precon_unpivoted *rest, spry_vector *work)
{
    spry_context *ctx = d->ctx;
    doctor_null *z = &d->null;
    spry_status status = SPRY_STATUS_OK;
    for (int64_t i = 0; i < rest->count && z->count < DOCTOR_MOST_NULL; i++) {
        const int k = z->count;
        SPRY_GO(ctx, make_vector(d, false, rest->cols[i]));
        SPRY_GO(ctx, make_vector(d, true, rest->rows[i]));
        SPRY_GO(ctx, measure(d, k, work));
        z->count += z->right_size[k] <= made_limit(d) && z->left_size[k] <= made_limit(d);
    }
done:
    return status;
}

/* The rank of factors M (NULL: those that there are), where all that has no pivot was shown to be
 * null; else the vectors that there are. */
static spry_status count_unpivoted(doctor *d, const spry_operator *M)
{
    const precon_unpivoted rest = M ? precon_direct_unpivoted(M) : unpivoted(d);
    doctor_null *z = &d->null;
    bool null = rest.count > 0;
    spry_status status = SPRY_STATUS_OK;
    if (null)
        SPRY_GO(d->ctx, probe(d, M, &rest, false, &null));
    if (null)
        SPRY_GO(d->ctx, probe(d, M, &rest, true, &null));
    if (null && rest.count > z->nullity)
        z->nullity = rest.count;
done:
    return status;
}

/* More vectors than fit: for a matrix in single precision, factors in single precision give their
 * number, as both have the same zeros. */
static spry_status count_in_single(doctor *d)
{
    spry_context *ctx = d->ctx;
    spry_matrix *P = NULL;
    spry_operator *M = NULL;
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(ctx, spry_matrix_cast(d->B, d->A->a.type, &P));
    SPRY_GO(ctx, try_direct(d, P, &M));
    if (M) {
        SPRY_GO(ctx, count_unpivoted(d, M));
        d->null.more = !(d->null.nullity > DOCTOR_MOST_NULL);
    }
done:
    spry_operator_free(M);
    spry_matrix_free(P);
    return status;
}

spry_status doctor_find_null(doctor *d)
{
    spry_context *ctx = d->ctx;
    const int64_t n = d->B->a.rows;
    const precon_unpivoted rest = unpivoted(d);
    doctor_null *z = &d->null;
    spry_vector *work = NULL;
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(ctx, spry_vector_new(ctx, d->type, n, NULL, SPRY_OWN_TAKE, &work));
    SPRY_GO(ctx, count_unpivoted(d, NULL));
    /* Those that pivots hide first: M makes them so large that all others have a share in them. */
    SPRY_GO(ctx, collect(d, rest.count > 0 ? made_limit(d) : singular_limit(d), work));
    const int hidden = z->count;
    SPRY_GO(ctx, take_unpivoted(d, &rest, work));
    if (z->nullity > 0)
        z->nullity += hidden;
    if (z->more && type_is_single(d->A->a.type))
        SPRY_GO(ctx, count_in_single(d));
    z->more = z->more || z->nullity < rest.count;
    z->nullity = z->nullity > z->count ? z->nullity : z->count;
    if (n - d->structural_rank > z->nullity)
        z->nullity = n - d->structural_rank;
    if (z->nullity > n) /* rows of zeros that were hidden, and counted by the pattern */
        z->nullity = n;
done:
    spry_vector_free(work);
    return status;
}
