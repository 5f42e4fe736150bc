/* Every allocation of every matrix function fails once: nothing leaks, nothing half-made comes out.
 */
#include "support/support.h"

#include "matrix/matrix.h"

#include <stdlib.h>

typedef struct job {
    spry_matrix *A;
    spry_format format;
    const int32_t *p, *q;
} job;

/* What makes a matrix must leave NULL when it fails. */
static spry_status made(spry_status status, spry_matrix *const *B)
{
    assert_true((status == SPRY_STATUS_OK) == (*B != NULL));
    spry_matrix_free(*B);
    return status;
}

static spry_status convert(spry_context *ctx, void *data)
{
    (void)ctx;
    const job *j = data;
    spry_matrix *B = j->A;
    return made(spry_matrix_convert(j->A, j->format, &B), &B);
}

static spry_status cast(spry_context *ctx, void *data)
{
    (void)ctx;
    const job *j = data;
    spry_matrix *B = j->A;
    return made(spry_matrix_cast(j->A, SPRY_TYPE_Z, &B), &B);
}

static spry_status transpose(spry_context *ctx, void *data)
{
    (void)ctx;
    const job *j = data;
    spry_matrix *B = j->A;
    return made(spry_matrix_transpose(j->A, true, &B), &B);
}

static spry_status expand(spry_context *ctx, void *data)
{
    (void)ctx;
    const job *j = data;
    spry_matrix *B = j->A;
    return made(spry_matrix_expand(j->A, &B), &B);
}

static spry_status as_csr(spry_context *ctx, void *data)
{
    (void)ctx;
    const job *j = data;
    const spry_matrix *csr = j->A;
    spry_matrix *owned = j->A;
    const spry_status status = matrix_as_csr(j->A, &csr, &owned);
    assert_true((status == SPRY_STATUS_OK) == (csr != NULL));
    spry_matrix_free(owned);
    return status;
}

static spry_status permute(spry_context *ctx, void *data)
{
    (void)ctx;
    const job *j = data;
    spry_matrix *B = j->A;
    return made(spry_matrix_permute(j->A, j->p, j->q, &B), &B);
}

static spry_status diagonal(spry_context *ctx, void *data)
{
    (void)ctx;
    const job *j = data;
    spry_vector *d = NULL;
    const spry_status status = spry_matrix_diagonal(j->A, &d);
    assert_true((status == SPRY_STATUS_OK) == (d != NULL));
    spry_vector_free(d);
    return status;
}

static spry_status stats(spry_context *ctx, void *data)
{
    (void)ctx;
    const job *j = data;
    spry_stats s = SPRY_STATS_INIT;
    return spry_matrix_stats(j->A, &s);
}

/* What changes a matrix leaves the same matrix behind when it fails, in the same format. */
static spry_status changed(spry_context *ctx, const job *j, spry_status (*change)(spry_matrix *))
{
    matrix_arrays a = j->A->a;
    spry_matrix *B = NULL;
    spry_status status = support_new(ctx, &a, SPRY_OWN_BORROW, &B);
    if (status != SPRY_STATUS_OK)
        return status;
    status = change(B);
    if (status != SPRY_STATUS_OK && a.rows <= 100) {
        assert_int_equal(spry_matrix_format(B), a.format);
        support_dense_same(support_dense_of(j->A), support_dense_of(B));
    }
    spry_matrix_free(B);
    return status;
}

static spry_status sort(spry_context *ctx, void *data)
{
    return changed(ctx, data, spry_matrix_sort);
}

static spry_status sum(spry_context *ctx, void *data)
{
    return changed(ctx, data, spry_matrix_sum_duplicates);
}

static spry_status become_csc(spry_matrix *A)
{
    return matrix_become(A, SPRY_FORMAT_CSC);
}

static spry_status become_coo(spry_matrix *A)
{
    const spry_status status = matrix_make_own(A);
    return status == SPRY_STATUS_OK ? matrix_become(A, SPRY_FORMAT_COO) : status;
}

static spry_status become(spry_context *ctx, void *data)
{
    const job *j = data;
    return changed(ctx, j, j->A->a.format == SPRY_FORMAT_COO ? become_csc : become_coo);
}

static void torture_all(spry_context *ctx, const support_recipe *recipe)
{
    int32_t *p = malloc((size_t)recipe->rows * sizeof *p);
    assert_non_null(p);
    for (int64_t i = 0; i < recipe->rows; i++)
        p[i] = (int32_t)(recipe->rows - 1 - i);
    job j = {support_matrix(ctx, recipe), SPRY_FORMAT_COO, p, p};
    for (int format = SPRY_FORMAT_COO; format <= SPRY_FORMAT_CSC; format++) {
        j.format = (spry_format)format;
        support_torture(ctx, convert, &j);
    }
    support_torture(ctx, cast, &j);
    support_torture(ctx, transpose, &j);
    support_torture(ctx, expand, &j);
    support_torture(ctx, as_csr, &j);
    support_torture(ctx, permute, &j);
    j.q = NULL; /* not the same permutation: a triangle is expanded */
    support_torture(ctx, permute, &j);
    support_torture(ctx, diagonal, &j);
    support_torture(ctx, stats, &j);
    support_torture(ctx, sort, &j);
    support_torture(ctx, sum, &j);
    support_torture(ctx, become, &j);
    spry_matrix_free(j.A);
    free(p);
}

static void small_matrices(void **state)
{
    for (int format = SPRY_FORMAT_COO; format <= SPRY_FORMAT_CSC; format++)
        for (int symmetry = SPRY_SYMMETRY_GENERAL; symmetry <= SPRY_SYMMETRY_HERMITIAN; symmetry++)
            torture_all(*state, &(support_recipe){.type = SPRY_TYPE_D,
                                                  .format = (spry_format)format,
                                                  .symmetry = (spry_symmetry)symmetry,
                                                  .rows = 30,
                                                  .cols = 30,
                                                  .nnz = 100,
                                                  .seed = 4});
}

/* Large enough for buckets and for threads. */
static void large_matrices(void **state)
{
    torture_all(*state, &(support_recipe){.type = SPRY_TYPE_S,
                                          .format = SPRY_FORMAT_COO,
                                          .rows = 20000,
                                          .cols = 20000,
                                          .nnz = 34000,
                                          .seed = 4});
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, support_setup, support_teardown)
int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(small_matrices),
        TEST(large_matrices),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
