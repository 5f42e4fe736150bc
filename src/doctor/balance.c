/*
 * A second look at a B that seems to be singular: the scaling that makes it from A may have done
 * so, where rows and columns differ by more than all digits. With the scaling of a matching B is
 * the same for all D A E, and what is regular there is regular.
 */
#include "doctor/doctor.h"

#include "matrix/algebra/algebra.h"

#include <math.h>

/* What depends on the scaling. */
typedef struct scaled {
    spry_matrix *B;
    spry_vector *left, *right;
    spry_operator *B_op, *M;
    const spry_operator *N;
    double B_norm, smallest;
    doctor_null null;
} scaled;

static scaled take(const doctor *d)
{
    return (scaled){d->B, d->left, d->right, d->B_op, d->M, d->N, d->B_norm, d->smallest, d->null};
}

static void put(doctor *d, const scaled *s)
{
    d->B = s->B;
    d->left = s->left;
    d->right = s->right;
    d->B_op = s->B_op;
    d->M = s->M;
    d->N = s->N;
    d->B_norm = s->B_norm;
    d->smallest = s->smallest;
    d->null = s->null;
}

static void drop(const scaled *s)
{
    for (int k = 0; k < DOCTOR_MOST_NULL; k++) {
        spry_vector_free(s->null.right[k]);
        spry_vector_free(s->null.left[k]);
    }
    spry_operator_free(s->M);
    spry_operator_free(s->B_op);
    spry_vector_free(s->left);
    spry_vector_free(s->right);
    spry_matrix_free(s->B);
}

spry_status doctor_balance(doctor *d)
{
    spry_context *ctx = d->ctx;
    const scaled first = take(d), none = {.smallest = INFINITY};
    spry_status status = SPRY_STATUS_OK;
    put(d, &none);
    SPRY_GO(ctx, algebra_balance(d->W, &d->left, &d->right));
    SPRY_GO(ctx, doctor_scale(d));
    SPRY_GO(ctx, doctor_invert(d));
    if (doctor_has_inverse(d))
        SPRY_GO(ctx, doctor_find_null(d));
done:;
    const bool regular = status == SPRY_STATUS_OK && doctor_has_inverse(d) && d->null.count == 0 &&
                         d->null.nullity == 0 && !d->null.more;
    const scaled second = take(d);
    drop(regular ? &first : &second);
    if (!regular)
        put(d, &first);
    return status;
}
