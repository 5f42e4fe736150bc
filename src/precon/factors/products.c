/*
 * Solves with incomplete factors that are no solves: products with matrices, which devices are fast
 * at where levels are many.
 *
 * Sweeps: y = r - L y from y = r, k times, is the solution up to the (k + 1)-th power of L, which
 * gets small, since L^n is 0 (E. Chow, A. Patel, Fine-grained parallel incomplete LU
 * factorization, SIAM J. Sci. Comput. 37 (2015), C169-C193; H. Anzt, E. Chow, J. Dongarra,
 * Iterative sparse triangular solves for preconditioning, Euro-Par 2015). Approximate inverses: y =
 * r + W r, see kernels/isai.c.
 */
#include "device/linalg/step.h"
#include "precon/factors/factors.h"

#include <omp.h>

struct factors_products {
    int solve, sweeps;
    spry_operator *op[2];      /* L and U, or their inverses' strict triangles */
    operator_step *step[2][3]; /* by way of transposition; NULL until used */
    spry_vector *d[2];         /* D^-1 and its conjugate, the same for real types */
    spry_vector *work[3];
};

void factors_products_free(spry_context *ctx, factors_products *p)
{
    if (!p)
        return;
    for (int k = 0; k < 2; k++) {
        for (int t = 0; t < 3; t++)
            step_free(p->step[k][t]);
        spry_operator_free(p->op[k]);
    }
    if (p->d[1] != p->d[0])
        spry_vector_free(p->d[1]);
    spry_vector_free(p->d[0]);
    for (int k = 0; k < 3; k++)
        spry_vector_free(p->work[k]);
    base_free(ctx, p);
}

int64_t factors_products_bytes(const factors_products *p)
{
    const int times = p->solve == FACTORS_SWEEPS ? p->sweeps : 1;
    const int64_t vector = p->d[0]->n * (int64_t)spry_type_size(p->d[0]->type);
    return times * (p->op[0]->bytes + p->op[1]->bytes + 2 * vector) + vector;
}

/* The strict part of the approximate inverse, in the pattern of t. */
static spry_status invert_triangle(spry_context *ctx, const triangle *t, void **inverse)
{
    enum { CHUNK = 512 };
    const precon_kernels *kernels = precon_kernels_for(ctx, t->type);
    const triangle_pass pass = triangle_pass_for(t, false, NULL);
    const int64_t n = t->sets->n, chunks = (n + CHUNK - 1) / CHUNK;
    const int threads = host_threads(ctx, t->offsets[n] + n);
    int32_t *where = NULL;
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(ctx, base_alloc(ctx, t->offsets[n], spry_type_size(t->type), inverse));
    SPRY_GO(ctx, base_calloc(ctx, n * threads, sizeof *where, &where));
#pragma omp parallel for num_threads(threads) schedule(static)
    for (int64_t c = 0; c < chunks; c++)
        kernels->isai_rows(&pass, c * CHUNK, (c + 1) * CHUNK < n ? (c + 1) * CHUNK : n,
                           where + n * omp_get_thread_num(), *inverse);
done:
    base_free(ctx, where);
    return status;
}

static spry_status store(const precon_job *job, const triangle *t, bool invert, spry_operator **op)
{
    spry_context *ctx = job->A->ctx;
    void *inverse = NULL;
    spry_matrix *matrix = NULL;
    spry_status status = SPRY_STATUS_OK;
    if (invert)
        SPRY_GO(ctx, invert_triangle(ctx, t, &inverse));
    SPRY_GO(ctx, triangle_matrix(ctx, t, invert ? inverse : t->values, &matrix));
    SPRY_GO(ctx, precon_store(job, matrix, op));
done:
    base_free(ctx, inverse);
    return status;
}

/* W^H of what is stored as W. */
static spry_status store_turned(const precon_job *job, const spry_operator *W, spry_operator **op)
{
    spry_context *ctx = job->A->ctx;
    spry_matrix *plain = NULL, *turned = NULL;
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(ctx, spry_operator_to_matrix(W, &plain));
    SPRY_GO(ctx, spry_matrix_transpose(plain, true, &turned));
    SPRY_GO(ctx, precon_store(job, turned, op));
done:
    spry_matrix_free(plain);
    return status;
}

/* D^-1 by rows, and its conjugate. */
static spry_status store_diagonal(const precon_job *job, const factors *f, factors_products *p)
{
    spry_context *ctx = job->A->ctx;
    const spry_type type = job->A->a.type;
    const int64_t n = f->sets.n;
    void *by_rows = NULL;
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(ctx, base_alloc(ctx, n, spry_type_size(type), &by_rows));
    for (int64_t k = 0; k < n; k++)
        value_store(type, by_rows, f->sets.rows ? f->sets.rows[k] : k,
                    value_load(type, f->chain.f[1], k));
    SPRY_GO(ctx, precon_vector(job, n, by_rows, &p->d[0]));
    p->d[1] = p->d[0];
    if (spry_type_is_complex(type)) {
        p->d[1] = NULL;
        precon_kernels_for(ctx, type)->conjugate_entries(n, by_rows, by_rows);
        SPRY_GO(ctx, precon_vector(job, n, by_rows, &p->d[1]));
    }
done:
    base_free(ctx, by_rows);
    return status;
}

spry_status factors_products_make(const precon_job *job, const factors_wanted *wanted,
                                  const factors *f, factors_products **out)
{
    spry_context *ctx = job->A->ctx;
    factors_products *p = NULL;
    spry_status status = SPRY_STATUS_OK;
    *out = NULL;
    SPRY_GO(ctx, base_calloc(ctx, 1, sizeof *p, &p));
    p->solve = wanted->solve;
    p->sweeps = wanted->sweeps;
    SPRY_GO(ctx, store(job, &f->chain.t[0], p->solve == FACTORS_ISAI, &p->op[0]));
    /* An approximate inverse of L^H is another one than that of L, turned: M would not be
     * hermitian. */
    if (p->solve == FACTORS_ISAI && wanted->hermitian)
        SPRY_GO(ctx, store_turned(job, p->op[0], &p->op[1]));
    else
        SPRY_GO(ctx, store(job, &f->chain.t[1], p->solve == FACTORS_ISAI, &p->op[1]));
    SPRY_GO(ctx, store_diagonal(job, f, p));
    for (int k = 0; k < (p->solve == FACTORS_ISAI ? 1 : 3); k++)
        SPRY_GO(ctx, precon_vector(job, f->sets.n, NULL, &p->work[k]));
    *out = p;
    p = NULL;
done:
    factors_products_free(ctx, p);
    return status;
}

static spry_status find_step(factors_products *p, int k, spry_transpose transpose,
                             const operator_step **step)
{
    spry_status status = SPRY_STATUS_OK;
    if (!p->step[k][transpose])
        status = step_open(p->op[k], transpose, &p->step[k][transpose]);
    *step = p->step[k][transpose];
    return status;
}

/* y = (I + T)^-1 b by sweeps, y and the room being none of the others. The sweeps go to and fro so
 * that the last one ends in y. */
static spry_status sweep(const operator_step *step, int sweeps, const spry_vector *b,
                         spry_vector *room, spry_vector *y)
{
    const host_step c = {-1, 1, 0, 0};
    const spry_vector *from = b;
    spry_status status = SPRY_STATUS_OK;
    for (int k = 0; k < sweeps; k++) {
        spry_vector *to = (sweeps - k) % 2 ? y : room;
        SPRY_GO(y->ctx, step_run(step, c, NULL, b, from, to));
        from = to;
    }
done:
    return status;
}

spry_status factors_products_apply(factors_products *p, spry_transpose transpose,
                                   const spry_vector *r, spry_vector *z)
{
    spry_context *ctx = r->ctx;
    const int first = transpose == SPRY_TRANSPOSE_NO ? 0 : 1;
    const spry_vector *d = p->d[transpose == SPRY_TRANSPOSE_CONJUGATE];
    const operator_step *one, *other;
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(ctx, find_step(p, first, transpose, &one));
    SPRY_GO(ctx, find_step(p, 1 - first, transpose, &other));
    if (p->solve == FACTORS_ISAI) {
        SPRY_GO(ctx, step_run(one, (host_step){1, 1, 0, 0}, d, r, r, p->work[0]));
        SPRY_GO(ctx, step_run(other, (host_step){1, 0, 1, 0}, NULL, NULL, p->work[0], z));
        goto done;
    }
    SPRY_GO(ctx, sweep(one, p->sweeps, r, p->work[0], p->work[1]));
    SPRY_GO(ctx, spry_vector_multiply(d, p->work[1], p->work[2]));
    SPRY_GO(ctx, sweep(other, p->sweeps, p->work[2], p->work[0], z));
done:
    return status;
}
