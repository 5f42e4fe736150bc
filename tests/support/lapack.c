/* Dense systems by LAPACK, whose routines are Fortran's: all arguments are pointers, and lengths of
 * texts come last. */
#include "support/lapack.h"

#include "matrix/matrix.h"

#include <dlfcn.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef void gesv(const int *n, const int *columns, void *a, const int *step, int *pivots, void *b,
                  const int *b_step, int *info);
typedef void sysv(const char *triangle, const int *n, const int *columns, void *a, const int *step,
                  int *pivots, void *b, const int *b_step, void *work, const int *size, int *info,
                  size_t length);
typedef void posv(const char *triangle, const int *n, const int *columns, void *a, const int *step,
                  void *b, const int *b_step, int *info, size_t length);
typedef void getrf(const int *rows, const int *columns, void *a, const int *step, int *pivots,
                   int *info);
typedef void getri(const int *n, void *a, const int *step, const int *pivots, void *work,
                   const int *size, int *info);

static void *library;

static void *zeros(int64_t count, size_t size)
{
    void *block = calloc(count > 0 ? (size_t)count : 1, size);
    assert_non_null(block);
    return block;
}

bool lapack_is_present(void)
{
    static const char *const files[] = {"liblapack.so.3", "libopenblas.so.0"};
    const char *named = getenv("SPRY_LAPACK_LIBRARY");
    setenv("OPENBLAS_NUM_THREADS", "1", 0); /* threads of others are no part of the tests */
    if (!library && named)
        library = *named ? dlopen(named, RTLD_NOW) : NULL;
    for (int k = 0; !library && !named && k < 2; k++)
        library = dlopen(files[k], RTLD_NOW);
    return library != NULL;
}

/* A function of a type, "dgesv_"; ISO C has no word for what dlsym gives. */
static void find(spry_type type, const char *name, void *function)
{
    static const char letters[] = {
        [SPRY_TYPE_S] = 's', [SPRY_TYPE_D] = 'd', [SPRY_TYPE_C] = 'c', [SPRY_TYPE_Z] = 'z'};
    char symbol[16];
    snprintf(symbol, sizeof symbol, "%c%s_", letters[type], name);
    void *found = dlsym(library, symbol);
    if (!found)
        fail_msg("LAPACK has no %s", symbol);
    memcpy(function, &found, sizeof found);
}

static double complex at(spry_type type, const void *a, int64_t k)
{
    const spry_scalar v = value_get(type, a, k);
    return v.re + v.im * I;
}

static void *packed(spry_type type, int64_t count, const double complex *a)
{
    void *to = zeros(count, spry_type_size(type));
    for (int64_t k = 0; k < count; k++)
        value_set(type, to, k, (spry_scalar){creal(a[k]), cimag(a[k])});
    return to;
}

/* Blocks of D in the lower triangle: two negative pivots are one of two rows. */
static void look_at_blocks(spry_type type, int64_t n, const void *a, const int *pivots,
                           bool hermitian, lapack_signs *found)
{
    for (int64_t k = 0; k < n; k++) {
        const double complex d = at(type, a, k * n + k);
        if (pivots[k] > 0) {
            found->log_det += log(cabs(d));
            found->positive += creal(d) > 0;
            found->negative += creal(d) < 0;
            continue;
        }
        const double complex b = at(type, a, k * n + k + 1), c = at(type, a, (k + 1) * n + k + 1);
        found->log_det += log(cabs(d * c - b * (hermitian ? conj(b) : b)));
        found->positive++;
        found->negative++;
        k++;
    }
}

static void look_at_diagonal(spry_type type, int64_t n, const void *a, int times,
                             lapack_signs *found)
{
    for (int64_t k = 0; k < n; k++)
        found->log_det += times * log(cabs(at(type, a, k * n + k)));
}

bool lapack_solve(spry_type type, lapack_kind kind, int64_t n, const double complex *a,
                  double complex *x, lapack_signs *found)
{
    const int size = (int)n, one = 1, room = 64 * size;
    const bool is_complex = spry_type_is_complex(type);
    const bool hermitian = kind == LAPACK_HERMITIAN && is_complex;
    void *matrix = packed(type, n * n, a), *b = packed(type, n, x);
    void *work = zeros(room, spry_type_size(type));
    int *pivots = zeros(n, sizeof *pivots), info = 0;
    *found = (lapack_signs){.signs = kind == LAPACK_HERMITIAN || kind == LAPACK_DEFINITE ||
                                     (kind == LAPACK_SYMMETRIC && !is_complex)};
    if (kind == LAPACK_GENERAL) {
        gesv *call;
        find(type, "gesv", &call);
        call(&size, &one, matrix, &size, pivots, b, &size, &info);
        look_at_diagonal(type, n, matrix, 1, found);
    } else if (kind == LAPACK_DEFINITE) {
        posv *call;
        find(type, "posv", &call);
        call("L", &size, &one, matrix, &size, b, &size, &info, 1);
        look_at_diagonal(type, n, matrix, 2, found);
        found->positive = n;
    } else {
        sysv *call;
        find(type, hermitian ? "hesv" : "sysv", &call);
        call("L", &size, &one, matrix, &size, pivots, b, &size, work, &room, &info, 1);
        look_at_blocks(type, n, matrix, pivots, hermitian, found);
    }
    for (int64_t k = 0; k < n; k++)
        x[k] = at(type, b, k);
    free(matrix);
    free(b);
    free(work);
    free(pivots);
    return info == 0;
}

bool lapack_invert(int64_t n, double complex *a)
{
    const int size = (int)n, room = 64 * size;
    int *pivots = zeros(n, sizeof *pivots), info = 0;
    void *work = zeros(room, sizeof *a);
    getrf *factor;
    getri *invert;
    find(SPRY_TYPE_Z, "getrf", &factor);
    find(SPRY_TYPE_Z, "getri", &invert);
    factor(&size, &size, a, &size, pivots, &info);
    if (info == 0)
        invert(&size, a, &size, pivots, work, &room, &info);
    free(work);
    free(pivots);
    return info == 0;
}
