/*
 * Krylov methods written by hand over cuSPARSE and cuBLAS, as a user of these libraries writes them
 * who takes care: the product is the fastest that cuSPARSE has, scalars stay on the device, memory
 * is allocated beforehand, and the host waits for nothing but the norm of the residual.
 */
#ifndef BENCH_CUDA_METHODS_H
#define BENCH_CUDA_METHODS_H

#include "cuda_peers.h"

typedef enum cuda_method { CUDA_CG, CUDA_BICGSTAB, CUDA_GMRES } cuda_method;
enum { CUDA_RESTART = 30 }; /* of GMRES, with classical Gram-Schmidt twice */

/* How a solve goes. */
typedef struct cuda_course {
    int iterations; /* at most */
    int every;      /* iterations between looks at the norm */
    bool graph;     /* an iteration is a recorded graph; not for GMRES */
    double tol;     /* relative to |b| */
} cuda_course;

typedef struct cuda_solver cuda_solver;

/* Of a matrix in double whose product was chosen. b is the host's. */
cuda_solver *cuda_solver_new(cuda_matrix *A, cuda_method method, const double *b);
void cuda_solver_free(cuda_solver *s);
/* Copies b to the device, solves from x = 0, copies x back; all of that in seconds. */
double cuda_solve(cuda_solver *s, const cuda_course *course, double *x);
/* |r| / |b| at the last look, and the iterations of the last solve. */
double cuda_solver_residual(const cuda_solver *s);
int cuda_solver_iterations(const cuda_solver *s);

#endif
