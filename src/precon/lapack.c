/* Factors by LAPACK, whose routines are Fortran's: all arguments are pointers. */
#include "precon/factor.h"

#ifndef SPRY_HAVE_LAPACK

bool lapack_dense_factor(spry_type type, int64_t n, void *a, int32_t *rows, int64_t *bad)
{
    (void)type, (void)n, (void)a, (void)rows, (void)bad;
    return false;
}

bool lapack_band_factor(spry_type type, const precon_band *f, int64_t *bad)
{
    (void)type, (void)f, (void)bad;
    return false;
}

#else

/* getrf(rows, columns, matrix, column step, pivots, info) and gbtrf with the numbers of diagonals
 * after the sizes, for each type. */
typedef void getrf(const int *m, const int *n, void *a, const int *step, int *pivots, int *info);
typedef void gbtrf(const int *m, const int *n, const int *low, const int *high, void *a,
                   const int *step, int *pivots, int *info);
extern getrf sgetrf_, dgetrf_, cgetrf_, zgetrf_;
extern gbtrf sgbtrf_, dgbtrf_, cgbtrf_, zgbtrf_;

/* What info tells: the first column whose pivot is 0, from 1, or 0. */
static int64_t first_bad(int info, int64_t n)
{
    return info > 0 ? info - 1 : n;
}

bool lapack_dense_factor(spry_type type, int64_t n, void *a, int32_t *rows, int64_t *bad)
{
    static getrf *const routines[] = {[SPRY_TYPE_S] = sgetrf_,
                                      [SPRY_TYPE_D] = dgetrf_,
                                      [SPRY_TYPE_C] = cgetrf_,
                                      [SPRY_TYPE_Z] = zgetrf_};
    const int size = (int)n, step = n > 0 ? (int)n : 1;
    int info = 0;
    routines[type](&size, &size, a, &step, rows, &info);
    *bad = first_bad(info, n);
    return true;
}

bool lapack_band_factor(spry_type type, const precon_band *f, int64_t *bad)
{
    static gbtrf *const routines[] = {[SPRY_TYPE_S] = sgbtrf_,
                                      [SPRY_TYPE_D] = dgbtrf_,
                                      [SPRY_TYPE_C] = cgbtrf_,
                                      [SPRY_TYPE_Z] = zgbtrf_};
    const int size = (int)f->n, low = (int)f->low, high = (int)f->high;
    const int step = 2 * low + high + 1;
    int info = 0;
    routines[type](&size, &size, &low, &high, f->factors, &step, f->rows, &info);
    *bad = first_bad(info, f->n);
    return true;
}

#endif
