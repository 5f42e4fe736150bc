/*
 * Bases of Krylov spaces: v_0 = x and v_(j+1) = alpha_j A v_j + beta_j v_j + gamma_j v_(j-1), where
 * gamma_0 counts for nothing. All bases that are in use are so: powers (alpha = 1), Newton's
 * (beta = -shift), Chebyshev's.
 */
#ifndef SPRY_HOST_POWERS_H
#define SPRY_HOST_POWERS_H

#include "host/host.h"
#include "operator/operator.h"

/* The most steps at a time. */
enum { MOST_POWERS = 16 };

typedef struct power_step {
    spry_scalar alpha, beta, gamma;
    spry_vector *product; /* gets A v_j by itself, like those that are made; NULL: not wanted */
} power_step;

/*
 * v[j] = v_(j+1) for j = 0..count-1, count from 1 to MOST_POWERS: products one after the other, or
 * what the operator's class has in their place. A is square; x and v are vectors of its rows, all
 * in one place, of which none is x, and v[j] is neither v[j + 1]; it may be v[j + 2], where the
 * last of them are all that is wanted. transpose: A^T or A^H in A's place.
 */
spry_status operator_powers(const spry_operator *A, spry_transpose transpose, int count,
                            const power_step *steps, const spry_vector *x, spry_vector *const *v);

/* Steps of `count` that the operator makes together; 1: products one after the other. Its class is
 * asked by powers() without steps: *made is whether they go together. */
int operator_powers_depth(const spry_operator *A, int count);

/* The same by products, whatever the class has. */
spry_status operator_powers_plain(const spry_operator *A, spry_transpose transpose, int count,
                                  const power_step *steps, const spry_vector *x,
                                  spry_vector *const *v);

/* Hands on the product of a step, `bytes` of it from byte `at` of the vectors on, where somebody
 * asks for it: before the step is finished. */
void power_step_keep(const power_step *step, int64_t at, const void *product, int64_t bytes);
/* What a step does after the product, to n numbers of the host: next = alpha next + beta v + gamma
 * before. before: NULL where there is none. */
void power_step_finish(const host_kernels *kernels, const power_step *step, int64_t n,
                       const void *before, const void *v, void *next);

/*
 * A step of operators whose products add as they go: next = alpha A v_j + beta z, then + delta w.
 * z is v_(j-1) where that counts, and w v_j; else z is v_j and w is NULL. Bits are the same whether
 * a step is made whole or by rows.
 */
typedef struct power_terms {
    spry_scalar alpha, beta, delta;
    const void *z, *w;
} power_terms;
typedef spry_status (*power_whole)(const spry_operator *A, const power_terms *terms, const void *v,
                                   void *next);
/* Steps by such products; *made stays false where vectors are not the host's. */
spry_status operator_powers_whole(const spry_operator *A, power_whole step, int count,
                                  const power_step *steps, const spry_vector *x,
                                  spry_vector *const *v, bool *made);
/* A step of rows begin..end-1, with run_scaled where there is that, else run, which `next` must not
 * be `before` for. Arrays begin with row 0. */
void power_step_rows(const host_kernels *kernels, const operator_rows *rows, const power_step *step,
                     int64_t size, int64_t begin, int64_t end, const void *before, const void *v,
                     void *next);
/* Whether two vectors take turns. */
static inline bool power_turns(int count, spry_vector *const *v)
{
    return count > 2 && vector_same(v[0], v[2]);
}
/* The arrays of vectors, if all are the host's. */
spry_status power_arrays(int count, const spry_vector *x, spry_vector *const *v, void **arrays,
                         bool *on_host);

/* Powers themselves. */
void power_steps_plain(int count, power_step *steps);
/*
 * Newton's basis v_(j+1) = (A - shift_j) v_j. Real: for arithmetic in real numbers; shifts that are
 * not real come in pairs, a number and its conjugate next to each other, which two real steps make
 * together: (A - re) v_j, then (A - re) v_(j+1) + im^2 v_j, whose span is that of the pair
 * (M. Hoemmen, Communication-avoiding Krylov subspace methods, Berkeley 2010, section 7.3.2). The
 * last shift is alone where its partner would be number `count`.
 */
void power_steps_newton(int count, const spry_scalar *shifts, bool real, power_step *steps);
/* Chebyshev's polynomials of the interval from low to high, the first of which is 1: low < high. */
void power_steps_chebyshev(int count, double low, double high, power_step *steps);

#endif
