/* Whether a matrix is hermitian: one measure for all who ask. */
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
        return SPRY_OK;
    const bool is_complex = spry_type_is_complex(A->a.type);
    return SPRY_FAIL(A->ctx, SPRY_BAD_INPUT,
                     "precon %s: row %" PRId64 " (from 0) is not the %s its column, and %s is "
                     "for %s matrices; take %s",
                     name, first, is_complex ? "conjugate of" : "same as", name,
                     is_complex ? "hermitian" : "symmetric", instead);
}
