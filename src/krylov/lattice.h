/*
 * The nearest point of a lattice: whole numbers z for which |y - R z| is small, R being an upper
 * triangle of columns that are dependent or nearly so. Its columns are first exchanged and combined
 * until they are short and far from parallel.
 *
 * A. K. Lenstra, H. W. Lenstra, L. Lovasz, Factoring polynomials with rational coefficients, Math.
 * Ann. 261 (1982), 515-534; L. Babai, On Lovasz' lattice reduction and the nearest lattice point
 * problem, Combinatorica 6 (1986), 1-13.
 */
#ifndef SPRY_KRYLOV_LATTICE_H
#define SPRY_KRYLOV_LATTICE_H

enum { LATTICE_MOST = 64 };

typedef struct lattice {
    int n;                                /* columns, LATTICE_MOST at most */
    double r[LATTICE_MOST][LATTICE_MOST]; /* column by column; below the diagonal 0 */
    double y[LATTICE_MOST];
    double made[LATTICE_MOST][LATTICE_MOST]; /* reduced columns, of those that were given */
} lattice;

/* What is in r and y is lost. Numbers may be too large to be whole where rounding was all there
 * is. */
void lattice_nearest(lattice *l, double z[LATTICE_MOST]);

#endif
