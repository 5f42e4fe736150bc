/* Bases of Krylov spaces, product by product, and the factors of their steps. */
#include "host/powers.h"

#include "matrix/distribution.h"

static bool is_zero(spry_scalar a)
{
    return a.re == 0 && a.im == 0;
}

void power_step_keep(const power_step *step, int64_t at, const void *product, int64_t bytes)
{
    if (step->product)
        memcpy((char *)step->product->data + at, product, (size_t)bytes);
}

void power_step_finish(const host_kernels *kernels, const power_step *step, int64_t n,
                       const void *before, const void *v, void *next)
{
    const void *arrays[3] = {next};
    spry_scalar factors[3] = {step->alpha};
    int terms = 1;
    if (!is_zero(step->beta)) {
        arrays[terms] = v;
        factors[terms++] = step->beta;
    }
    if (before && !is_zero(step->gamma)) {
        arrays[terms] = before;
        factors[terms++] = step->gamma;
    }
    if (terms > 1 || step->alpha.re != 1 || step->alpha.im != 0)
        kernels->combine(n, terms, factors, arrays, next);
}

typedef struct finish_job {
    const host_kernels *kernels;
    const power_step *step;
    int64_t n, size;
    const char *before, *v;
    char *next;
} finish_job;

static void finish_share(void *argument, int share, int shares)
{
    const finish_job *job = argument;
    const range part = base_share(job->n, shares, share, VECTOR_CHUNK);
    const int64_t at = part.begin * job->size;
    power_step_keep(job->step, at, job->next + at, (part.end - part.begin) * job->size);
    power_step_finish(job->kernels, job->step, part.end - part.begin,
                      job->before ? job->before + at : NULL, job->v + at, job->next + at);
}

/* The same with vectors of any place, by all threads. */
static spry_status finish(const power_step *step, const spry_vector *before, const spry_vector *v,
                          spry_vector *next)
{
    const spry_scalar one = {1, 0};
    if (!next->class) {
        finish_job job = {host_kernels_for(next->ctx, next->type),
                          step,
                          next->n,
                          (int64_t)spry_type_size(next->type),
                          before ? before->data : NULL,
                          v->data,
                          next->data};
        base_share_out(next->ctx, host_threads(next->ctx, next->n), finish_share, &job);
        return SPRY_STATUS_OK;
    }
    spry_status status = step->product ? spry_vector_copy(next, step->product) : SPRY_STATUS_OK;
    if (status == SPRY_STATUS_OK && !is_zero(step->beta))
        status = vector_note(next, next->class->blend(step->beta, v, step->alpha, next));
    else if (status == SPRY_STATUS_OK && (step->alpha.re != 1 || step->alpha.im != 0))
        status = spry_vector_scale(step->alpha, next);
    if (status == SPRY_STATUS_OK && before && !is_zero(step->gamma))
        status = vector_note(next, next->class->blend(step->gamma, before, one, next));
    return status;
}

static power_terms terms_of(const power_step *step, const void *before, const void *v)
{
    if (!before || is_zero(step->gamma))
        return (power_terms){.alpha = step->alpha, .beta = step->beta, .z = v};
    return (power_terms){.alpha = step->alpha,
                         .beta = step->gamma,
                         .delta = step->beta,
                         .z = before,
                         .w = is_zero(step->beta) ? NULL : v};
}

void power_step_rows(const host_kernels *kernels, const operator_rows *rows, const power_step *step,
                     int64_t size, int64_t begin, int64_t end, const void *before, const void *v,
                     void *next)
{
    const int64_t at = begin * size, n = end - begin;
    const char *was = before ? (const char *)before + at : NULL, *is = (const char *)v + at;
    char *to = (char *)next + at;
    if (!rows->run_scaled) {
        rows->run(rows, begin, end, v, to);
        power_step_finish(kernels, step, n, was, is, to);
        return;
    }
    const power_terms terms = terms_of(step, was, is);
    rows->run_scaled(rows, begin, end, terms.alpha, v, terms.beta, terms.z, to);
    if (terms.w)
        kernels->axpy(n, terms.delta, terms.w, to);
}

spry_status power_arrays(int count, const spry_vector *x, spry_vector *const *v, void **arrays,
                         bool *on_host)
{
    spry_status status = SPRY_STATUS_OK;
    *on_host = !x->class;
    for (int j = 0; j < count; j++)
        *on_host = *on_host && !v[j]->class;
    if (!*on_host)
        return SPRY_STATUS_OK;
    SPRY_GO(x->ctx, vector_fetch(x));
    for (int j = 0; j < count; j++) {
        SPRY_GO(x->ctx, vector_fetch(v[j]));
        arrays[j] = v[j]->data;
    }
done:
    return status;
}

spry_status operator_powers_whole(const spry_operator *A, power_whole step, int count,
                                  const power_step *steps, const spry_vector *x,
                                  spry_vector *const *v, bool *made)
{
    void *arrays[MOST_POWERS];
    bool on_host;
    spry_status status = SPRY_STATUS_OK;
    if (!steps) /* none go together */
        return SPRY_STATUS_OK;
    for (int j = 0; j < count; j++)
        if (steps[j].product) /* which is not stored by itself */
            return SPRY_STATUS_OK;
    SPRY_GO(A->ctx, power_arrays(count, x, v, arrays, &on_host));
    for (int j = 0; j < count && on_host; j++) {
        const void *before = j > 1 ? arrays[j - 2] : j == 1 ? x->data : NULL;
        const void *is = j > 0 ? arrays[j - 1] : x->data;
        const power_terms terms = terms_of(&steps[j], before, is);
        SPRY_GO(A->ctx, step(A, &terms, is, arrays[j]));
    }
    *made = on_host;
done:
    return status;
}

static spry_status step_once(const spry_operator *A, spry_transpose transpose,
                             const power_step *step, const spry_vector *before,
                             const spry_vector *v, spry_vector *next)
{
    const spry_scalar one = {1, 0}, zero = {0, 0};
    if (before && vector_same(before, next) && !is_zero(step->gamma)) {
        const spry_status status =
            spry_operator_multiply(A, transpose, step->alpha, v, step->gamma, next);
        return status == SPRY_STATUS_OK ? spry_vector_axpy(step->beta, v, next) : status;
    }
    const spry_status status = spry_operator_multiply(A, transpose, one, v, zero, next);
    return status == SPRY_STATUS_OK ? finish(step, before, v, next) : status;
}

spry_status operator_powers_plain(const spry_operator *A, spry_transpose transpose, int count,
                                  const power_step *steps, const spry_vector *x,
                                  spry_vector *const *v)
{
    spry_status status = SPRY_STATUS_OK;
    for (int j = 0; j < count; j++) {
        const spry_vector *before = j > 1 ? v[j - 2] : j == 1 ? x : NULL;
        SPRY_GO(A->ctx, step_once(A, transpose, &steps[j], before, j > 0 ? v[j - 1] : x, v[j]));
    }
done:
    return status;
}

spry_status operator_powers(const spry_operator *A, spry_transpose transpose, int count,
                            const power_step *steps, const spry_vector *x, spry_vector *const *v)
{
    bool made = false;
    const spry_status status = A->class->powers && transpose == SPRY_TRANSPOSE_NO
                                   ? A->class->powers(A, count, steps, x, v, &made)
                                   : SPRY_STATUS_OK;
    return status != SPRY_STATUS_OK || made
               ? status
               : operator_powers_plain(A, transpose, count, steps, x, v);
}

int operator_powers_depth(const spry_operator *A, int count)
{
    for (; count > 1 && A->class->powers; count--) {
        bool together = false;
        if (A->class->powers(A, count, NULL, NULL, NULL, &together) == SPRY_STATUS_OK && together)
            return count;
    }
    return 1;
}

void power_steps_plain(int count, power_step *steps)
{
    for (int j = 0; j < count; j++)
        steps[j] = (power_step){.alpha = {1, 0}};
}

void power_steps_newton(int count, const spry_scalar *shifts, bool real, power_step *steps)
{
    for (int j = 0; j < count; j++)
        steps[j] = (power_step){.alpha = {1, 0}, .beta = {-shifts[j].re, real ? 0 : -shifts[j].im}};
    for (int j = 0; real && j + 1 < count; j++) {
        if (shifts[j].im != 0) { /* shift j + 1 is its conjugate */
            steps[j + 1].gamma.re = shifts[j].im * shifts[j].im;
            j++;
        }
    }
}

/* T_1 = z, T_(j+1) = 2 z T_j - T_(j-1), with z = (A - middle) / half. */
void power_steps_chebyshev(int count, double low, double high, power_step *steps)
{
    const double middle = low + (high - low) / 2, half = (high - low) / 2;
    for (int j = 0; j < count; j++) {
        const double alpha = (j == 0 ? 1 : 2) / half;
        steps[j] = (power_step){
            .alpha = {alpha, 0}, .beta = {-alpha * middle, 0}, .gamma = {j == 0 ? 0 : -1, 0}};
    }
}
