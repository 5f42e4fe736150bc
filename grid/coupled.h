/* Operators of several unknowns per point, and their multigrid. */
#ifndef GRID_COUPLED_H
#define GRID_COUPLED_H

#include "grid/gmg.h"

enum { COUPLED_MOST = 8 };

/* m x m operators of n x n, by rows; NULL: 0. A vector has all n numbers of the first unknown, then
 * those of the next. */
typedef struct coupled {
    int m;
    int64_t n;
    bool owns;
    const spry_operator *block[COUPLED_MOST * COUPLED_MOST];
} coupled;

static inline const spry_operator *coupled_block(const coupled *c, int i, int j)
{
    return c->block[i * c->m + j];
}
/* The operator of blocks that are alike, of a class with the members below; where it owns them they
 * are freed with it, also when this fails. */
spry_status coupled_make(spry_context *ctx, const operator_class *class, const coupled *blocks,
                         spry_operator **op);
spry_status coupled_multiply(const spry_operator *op, spry_transpose transpose, spry_scalar alpha,
                             const void *x, spry_scalar beta, void *y);
void coupled_destroy(spry_operator *op);
spry_status coupled_to_matrix(const spry_operator *op, spry_matrix **A);
/* Frees blocks that it owns. */
void coupled_free_blocks(const coupled *c);
spry_status coupled_gmg_make(const precon_job *job, spry_operator **M);

#endif
