/* Whether an operator is symmetric, by products with random vectors. */
#include "base/team.h"
#include "choose/precons.h"
#include "host/host.h"

/* A random vector where the operator lives. */
static spry_status random_vector(const spry_operator *A, uint64_t seed, spry_vector **v)
{
    const spry_status status = vector_new_at(A->ctx, A->device, A->type, A->rows, v);
    if (status == SPRY_STATUS_OK)
        (*v)->part = A->rows_part;
    return status == SPRY_STATUS_OK ? vector_random(*v, seed) : status;
}

/* sum x_i y_i without conjugation: that of conj(x) on the host, where complex ones come to. */
static spry_status plain_dot(const spry_vector *x, const spry_vector *y, spry_scalar *result)
{
    const spry_vector *a, *b;
    spry_vector *copy_a = NULL, *copy_b = NULL;
    spry_status status = SPRY_STATUS_OK;
    if (!spry_type_is_complex(x->type))
        return spry_vector_dot(x, y, result);
    SPRY_GO(x->ctx, vector_on_host(x, &a, &copy_a));
    SPRY_GO(x->ctx, vector_on_host(y, &b, &copy_b));
    *result = host_kernels_for(x->ctx, x->type)->dot_plain(x->n, a->data, b->data);
    if (x->part.is) {
        const spry_scalar mine = *result, *all = x->ctx->team->room;
        SPRY_GO(x->ctx, team_gather(x->ctx, &mine, sizeof mine, x->ctx->team->room));
        *result = (spry_scalar){0, 0};
        for (int r = 0; r < team_ranks(x->ctx); r++) {
            result->re += all[r].re;
            result->im += all[r].im;
        }
    }
done:
    spry_vector_free(copy_a);
    spry_vector_free(copy_b);
    return status;
}

spry_status precon_probe(const spry_operator *A, precon_symmetry *probe)
{
    spry_context *ctx = A->ctx;
    spry_vector *u = NULL, *v = NULL, *Au = NULL, *Av = NULL;
    spry_scalar left, right;
    double norm_u, norm_v, norm_Au, norm_Av;
    spry_status status = SPRY_STATUS_OK;
    *probe = (precon_symmetry){0};
    if (!A->square)
        return SPRY_STATUS_OK;
    SPRY_GO(ctx, operator_agree(A, random_vector(A, 1, &u)));
    SPRY_GO(ctx, operator_agree(A, spry_vector_like(u, A->rows, &Au)));
    SPRY_GO(ctx, operator_agree(A, spry_operator_apply(A, u, Au)));
    SPRY_GO(ctx, spry_vector_dot(u, Au, &left));
    probe->positive = left.re > 0;
    if (A->hermitian) {
        probe->hermitian = true;
        probe->symmetric = !spry_type_is_complex(A->type);
        goto done;
    }
    SPRY_GO(ctx, operator_agree(A, random_vector(A, 2, &v)));
    SPRY_GO(ctx, operator_agree(A, spry_vector_like(u, A->rows, &Av)));
    SPRY_GO(ctx, operator_agree(A, spry_operator_apply(A, v, Av)));
    SPRY_GO(ctx, spry_vector_norm(Au, &norm_Au));
    SPRY_GO(ctx, spry_vector_norm(Av, &norm_Av));
    SPRY_GO(ctx, spry_vector_norm(u, &norm_u));
    SPRY_GO(ctx, spry_vector_norm(v, &norm_v));
    const double most = matrix_mirror_tolerance(A->single || type_is_single(A->type)) *
                        fmax(norm_Au * norm_v, norm_u * norm_Av);
    SPRY_GO(ctx, spry_vector_dot(Au, v, &left));
    SPRY_GO(ctx, spry_vector_dot(u, Av, &right));
    probe->hermitian = !(hypot(left.re - right.re, left.im - right.im) > most);
    SPRY_GO(ctx, plain_dot(Au, v, &left));
    SPRY_GO(ctx, plain_dot(u, Av, &right));
    probe->symmetric = !(hypot(left.re - right.re, left.im - right.im) > most);
    SPRY_GO(ctx, spry_vector_dot(v, Av, &right));
    probe->positive = probe->positive && right.re > 0;
    const void *diagonal = operator_diagonal(A, SPRY_TRANSPOSE_NO);
    for (int64_t i = 0; diagonal && i < A->rows && probe->positive; i++)
        probe->positive = value_get(A->type, diagonal, i).re > 0;
    if (A->rows_part.is) {
        bool negative = false;
        SPRY_GO(ctx, team_any(ctx, !probe->positive, &negative));
        probe->positive = !negative;
    }
done:
    spry_vector_free(u);
    spry_vector_free(v);
    spry_vector_free(Au);
    spry_vector_free(Av);
    return status;
}
