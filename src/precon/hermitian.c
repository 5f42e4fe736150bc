/* Whether a matrix is hermitian: one measure for all who ask, and a sharper one for those who will
 * take one triangle for the whole. */
#include "precon/kernels.h"
#include "precon/precon.h"

/* The first row that is not its column; entries before the diagonal are looked at only if asked.
 * *balance is 0 where the pattern is symmetric. */
static int64_t find_unlike(const spry_matrix *A, bool all, int64_t *balance)
{
    enum { CHUNK = 1024 };
    const precon_kernels *kernels = precon_kernels_for(A->ctx, A->a.type);
    const host_csr csr = {A->a.offsets, A->a.col_index, A->a.values};
    const int64_t n = A->a.rows, chunks = (n + CHUNK - 1) / CHUNK;
    int64_t first = n, sum = 0;
#pragma omp parallel for num_threads(host_threads(A->ctx, A->a.nnz)) reduction(min : first) \
    reduction(+ : sum)
    for (int64_t c = 0; c < chunks; c++) {
        const int64_t end = (c + 1) * CHUNK < n ? (c + 1) * CHUNK : n;
        const int64_t bad = kernels->not_hermitian(&csr, c * CHUNK, end, all, &sum);
        if (bad < end && bad < first)
            first = bad;
    }
    *balance = sum;
    return first;
}

int64_t precon_first_unlike(const spry_matrix *A, bool *symmetric)
{
    const int64_t n = A->a.rows;
    int64_t balance, first = find_unlike(A, false, &balance);
    /* Where all behind the diagonal have a mirror image and none is left before it, that is all. */
    *symmetric = first == n && balance == 0;
    if (first == n && balance != 0)
        first = find_unlike(A, true, &balance);
    return first;
}

spry_status precon_check_hermitian(const spry_matrix *A, const char *name, const char *instead,
                                   bool *symmetric)
{
    const int64_t first = precon_first_unlike(A, symmetric);
    if (first == A->a.rows)
        return SPRY_STATUS_OK;
    const bool is_complex = spry_type_is_complex(A->a.type);
    return SPRY_FAIL(A->ctx, SPRY_STATUS_BAD_INPUT,
                     "precon %s: row %" PRId64 " (from 0) is not the %s its column, and %s is "
                     "for %s matrices; take %s",
                     name, first, is_complex ? "conjugate of" : "same as", name,
                     is_complex ? "hermitian" : "symmetric", instead);
}

/* Whether row i is that of a hermitian A with a positive diagonal d, as far as rounding can tell.
 */
static bool is_mirrored(const spry_arrays *a, int64_t i, const void *d, double unit)
{
    const double own = value_load(a->type, d, i).re;
    for (int64_t k = a->offsets[i]; k < a->offsets[i + 1]; k++) {
        const int64_t j = a->col_index[k], back = matrix_find(a, j, i);
        if (back < 0)
            return false;
        const spry_scalar v = value_load(a->type, a->values, k),
                          w = value_load(a->type, a->values, back);
        const double scale = sqrt(own) * sqrt(value_load(a->type, d, j).re);
        if (!(hypot(v.re - w.re, v.im + w.im) <= 64 * unit * scale))
            return false;
    }
    return true;
}

spry_status precon_is_definite(const spry_matrix *A, bool *yes)
{
    spry_context *ctx = A->ctx;
    const spry_arrays *a = &A->a;
    const double unit = type_is_single(a->type) ? 6e-8 : 1.2e-16;
    const int threads = host_threads(ctx, a->nnz);
    bool fine = true;
    spry_vector *d = NULL;
    const spry_status status = spry_matrix_diagonal(A, &d);
    *yes = false;
    if (status != SPRY_STATUS_OK)
        return status;
#pragma omp parallel for num_threads(threads) schedule(static) reduction(&& : fine)
    for (int64_t i = 0; i < a->rows; i++) {
        const spry_scalar v = value_load(a->type, d->data, i);
        fine = fine && v.re > 0 && v.im == 0;
    }
    if (fine) {
#pragma omp parallel for num_threads(threads) schedule(static) reduction(&& : fine)
        for (int64_t i = 0; i < a->rows; i++)
            fine = fine && is_mirrored(a, i, d->data, unit);
    }
    *yes = fine;
    spry_vector_free(d);
    return SPRY_STATUS_OK;
}
