/*
 * Bases of Krylov spaces: v_0 = x and v_(j+1) = alpha_j A v_j + beta_j v_j + gamma_j v_(j-1), where
 * gamma_0 counts for nothing. All bases that are in use are so: powers (alpha = 1), Newton's
 * (beta = -shift), Chebyshev's.
 */
#ifndef SPRY_HOST_POWERS_H
#define SPRY_HOST_POWERS_H

#include "host/host.h"
#include "matrix/matrix.h"

/* The most steps at a time. */
enum { MOST_POWERS = 16 };

typedef struct power_step {
    spry_scalar alpha, beta, gamma;
} power_step;

/*
 * v[j] = v_(j+1) for j = 0..count-1, count from 1 to MOST_POWERS: products one after the other, or
 * what the operator's class has in their place, with the same bits. A is square; x and v are
 * vectors of its rows, all in one place, of which v are no two the same and none is x. transpose:
 * A^T or A^H in A's place.
 */
spry_status operator_powers(const spry_operator *A, spry_transpose transpose, int count,
                            const power_step *steps, const spry_vector *x, spry_vector *const *v);

/* The same by products, whatever the class has. */
spry_status operator_powers_plain(const spry_operator *A, spry_transpose transpose, int count,
                                  const power_step *steps, const spry_vector *x,
                                  spry_vector *const *v);

/* What a step does after the product, to n numbers of the host: next = alpha next + beta v + gamma
 * before. before: NULL where there is none. */
void power_step_finish(const host_kernels *kernels, const power_step *step, int64_t n,
                       const void *before, const void *v, void *next);

/* Powers themselves. */
void power_steps_plain(int count, power_step *steps);
/*
 * Newton's basis v_(j+1) = (A - shift_j) v_j. Real: for arithmetic in real numbers; shifts that are
 * not real come in pairs, a number and its conjugate next to each other, which two real steps make
 * together: (A - re) v_j, then (A - re) v_(j+1) + im^2 v_j, whose span is that of the pair
 * (M. Hoemmen, Communication-avoiding Krylov subspace methods, Berkeley 2010, section 7.3.2). The
 * last shift stands alone where its partner would be number `count`.
 */
void power_steps_newton(int count, const spry_scalar *shifts, bool real, power_step *steps);
/* Chebyshev's polynomials of the interval from low to high, the first of which is 1: low < high. */
void power_steps_chebyshev(int count, double low, double high, power_step *steps);

#endif
