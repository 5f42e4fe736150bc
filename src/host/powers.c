/* Bases of Krylov spaces, product by product, and the factors of their steps. */
#include "host/powers.h"

static bool is_zero(spry_scalar a)
{
    return a.re == 0 && a.im == 0;
}

/* One step; what has a factor of 0 is not looked at. */
static spry_status step_once(const spry_operator *A, spry_transpose transpose,
                             const power_step *step, const spry_vector *before,
                             const spry_vector *v, spry_vector *next)
{
    const spry_scalar zero = {0, 0};
    spry_status status = spry_operator_multiply(A, transpose, step->alpha, v, zero, next);
    if (status == SPRY_STATUS_OK && !is_zero(step->beta))
        status = spry_vector_axpy(step->beta, v, next);
    if (status == SPRY_STATUS_OK && before && !is_zero(step->gamma))
        status = spry_vector_axpy(step->gamma, before, next);
    return status;
}

/* Whether the class's own way is for these vectors. */
static bool takes(const spry_operator *A, spry_transpose transpose, int count, const spry_vector *x,
                  spry_vector *const *v)
{
    bool yes = A->class->powers && transpose == SPRY_TRANSPOSE_NO && !A->rows_part.is && !x->class;
    for (int j = 0; j < count; j++)
        yes = yes && !v[j]->class;
    return yes;
}

spry_status operator_powers(const spry_operator *A, spry_transpose transpose, int count,
                            const power_step *steps, const spry_vector *x, spry_vector *const *v)
{
    spry_status status = SPRY_STATUS_OK;
    if (takes(A, transpose, count, x, v)) {
        void *arrays[MOST_POWERS];
        SPRY_GO(A->ctx, vector_fetch(x));
        for (int j = 0; j < count; j++) {
            SPRY_GO(A->ctx, vector_fetch(v[j]));
            arrays[j] = v[j]->data;
        }
        return A->class->powers(A, count, steps, x->data, arrays);
    }
    for (int j = 0; j < count; j++) {
        const spry_vector *before = j > 1 ? v[j - 2] : j == 1 ? x : NULL;
        SPRY_GO(A->ctx, step_once(A, transpose, &steps[j], before, j > 0 ? v[j - 1] : x, v[j]));
    }
done:
    return status;
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
