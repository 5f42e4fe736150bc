/* Factors by LAPACK, whose routines are Fortran's: all arguments are pointers. OpenBLAS has them in
 * it and is the fastest. */
#include "direct/factor.h"
#include "direct/library.h"

/* getrf(rows, columns, matrix, column step, pivots, info) and gbtrf with the numbers of diagonals
 * after the sizes, for each type. */
typedef void getrf(const int *m, const int *n, void *a, const int *step, int *pivots, int *info);
typedef void gbtrf(const int *m, const int *n, const int *low, const int *high, void *a,
                   const int *step, int *pivots, int *info);

static struct {
    getrf *dense[4];
    gbtrf *band[4];
} routines;

#define ROUTINE(name, member, type)                                             \
    {                                                                           \
        name, offsetof(__typeof__(routines), member) + (type) * sizeof(getrf *) \
    }
static const base_symbol symbols[] = {
    ROUTINE("sgetrf_", dense, SPRY_TYPE_S), ROUTINE("dgetrf_", dense, SPRY_TYPE_D),
    ROUTINE("cgetrf_", dense, SPRY_TYPE_C), ROUTINE("zgetrf_", dense, SPRY_TYPE_Z),
    ROUTINE("sgbtrf_", band, SPRY_TYPE_S),  ROUTINE("dgbtrf_", band, SPRY_TYPE_D),
    ROUTINE("cgbtrf_", band, SPRY_TYPE_C),  ROUTINE("zgbtrf_", band, SPRY_TYPE_Z),
};

static factor_library lapack = {
    .name = "LAPACK",
    .variable = "SPRY_LAPACK_LIBRARY",
    .files = {"libopenblas.so.0", "liblapack.so.3"},
    .symbols = symbols,
    .count = sizeof symbols / sizeof *symbols,
    .table = &routines,
};

/* The meaning of info: the first column whose pivot is 0, from 1, or 0. */
static int64_t first_bad(int info, int64_t n)
{
    return info > 0 ? info - 1 : n;
}

bool lapack_dense_factor(spry_context *ctx, spry_type type, int64_t n, void *a, int32_t *rows,
                         int64_t *bad)
{
    const int size = (int)n, step = n > 0 ? (int)n : 1;
    int info = 0;
    if (factor_library_load(ctx, &lapack) != SPRY_STATUS_OK)
        return false;
    routines.dense[type](&size, &size, a, &step, rows, &info);
    *bad = first_bad(info, n);
    return true;
}

bool lapack_band_factor(spry_context *ctx, spry_type type, const band_factors *f, int64_t *bad)
{
    const int size = (int)f->n, low = (int)f->low, high = (int)f->high;
    const int step = 2 * low + high + 1;
    int info = 0;
    if (factor_library_load(ctx, &lapack) != SPRY_STATUS_OK)
        return false;
    routines.band[type](&size, &size, &low, &high, f->factors, &step, f->rows, &info);
    *bad = first_bad(info, f->n);
    return true;
}
