/* alpha A + beta B: rows that rise are merged, in two passes: counted, then made. Numbers are
 * multiplied and added in double arithmetic, and rounded once. */
#include "matrix/algebra/algebra.h"

#include "matrix/entries.h"

typedef struct addition {
    const matrix_arrays *a, *b;
    spry_scalar alpha, beta;
    matrix_arrays c;
} addition;

static int64_t count_row(const addition *s, int64_t i)
{
    int64_t k = s->a->offsets[i], l = s->b->offsets[i], count = 0;
    const int64_t k_end = s->a->offsets[i + 1], l_end = s->b->offsets[i + 1];
    for (; k < k_end && l < l_end; count++) {
        const int32_t p = s->a->col_index[k], q = s->b->col_index[l];
        k += p <= q;
        l += q <= p;
    }
    return count + (k_end - k) + (l_end - l);
}

ALWAYS_INLINE void fill_row(spry_type type, const addition *s, int64_t i)
{
    const bool real = type == SPRY_TYPE_S || type == SPRY_TYPE_D;
    const spry_scalar alpha = {s->alpha.re, real ? 0 : s->alpha.im};
    const spry_scalar beta = {s->beta.re, real ? 0 : s->beta.im};
    int64_t k = s->a->offsets[i], l = s->b->offsets[i];
    const int64_t k_end = s->a->offsets[i + 1], l_end = s->b->offsets[i + 1];
    for (int64_t to = s->c.offsets[i]; k < k_end || l < l_end; to++) {
        const int32_t p = k < k_end ? s->a->col_index[k] : INT32_MAX;
        const int32_t q = l < l_end ? s->b->col_index[l] : INT32_MAX;
        spry_scalar v;
        if (p < q) {
            v = algebra_times(alpha, value_load(type, s->a->values, k++));
        } else if (q < p) {
            v = algebra_times(beta, value_load(type, s->b->values, l++));
        } else {
            const spry_scalar one = algebra_times(alpha, value_load(type, s->a->values, k++));
            const spry_scalar other = algebra_times(beta, value_load(type, s->b->values, l++));
            v = (spry_scalar){one.re + other.re, one.im + other.im};
        }
        s->c.col_index[to] = p < q ? p : q;
        value_store(type, s->c.values, to, v);
    }
}

/* One loop a type, so that none asks for the type of each number. */
static void fill_rows(const addition *s, range rows)
{
    for (int64_t i = rows.begin; i < rows.end; i++) {
        switch (s->c.type) {
        case SPRY_TYPE_S:
            fill_row(SPRY_TYPE_S, s, i);
            break;
        case SPRY_TYPE_D:
            fill_row(SPRY_TYPE_D, s, i);
            break;
        case SPRY_TYPE_C:
            fill_row(SPRY_TYPE_C, s, i);
            break;
        default:
            fill_row(SPRY_TYPE_Z, s, i);
        }
    }
}

static spry_status add(spry_context *ctx, addition *s)
{
    const int64_t rows = s->a->rows;
    const int parts = matrix_parts(ctx, s->a->nnz + s->b->nnz + rows);
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(ctx, base_alloc(ctx, rows + 1, sizeof *s->c.offsets, &s->c.offsets));
    s->c.offsets[0] = 0;
#pragma omp parallel for num_threads(parts) schedule(dynamic, 4096)
    for (int64_t i = 0; i < rows; i++)
        s->c.offsets[i + 1] = count_row(s, i);
    SPRY_GO(ctx, base_prefix_sum(ctx, s->c.offsets, rows));
    s->c.nnz = s->c.offsets[rows];
    SPRY_GO(ctx, matrix_allocate_entries(ctx, &s->c));
#pragma omp parallel for num_threads(parts) schedule(static, 1)
    for (int part = 0; part < parts; part++)
        fill_rows(s, matrix_rows_of_part(s->c.offsets, rows, parts, part));
done:
    return status;
}

static spry_status check_factor(const spry_matrix *A, const char *name, spry_scalar factor)
{
    if (factor.im == 0 || spry_type_is_complex(A->a.type))
        return SPRY_STATUS_OK;
    return SPRY_FAIL(A->ctx, SPRY_STATUS_BAD_USAGE,
                     "sum: %s has an imaginary part of %g, the matrices are of type %s", name,
                     factor.im, spry_type_name(A->a.type));
}

/* Sums of symmetric matrices are symmetric, those of hermitian ones hermitian, where factors are
 * real. */
static void note_sum(spry_scalar alpha, const spry_matrix *A, spry_scalar beta,
                     const spry_matrix *B, const spry_matrix *C)
{
    static const spry_fact kept[] = {SPRY_FACT_PATTERN_SYMMETRIC, SPRY_FACT_SYMMETRIC,
                                     SPRY_FACT_HERMITIAN};
    matrix_note_all(C, FACT_BIT(SPRY_FACT_SORTED) | FACT_BIT(SPRY_FACT_UNIQUE));
    for (size_t k = 0; k < sizeof kept / sizeof *kept; k++)
        if (matrix_known(A, kept[k]) == SPRY_TRUTH_YES &&
            matrix_known(B, kept[k]) == SPRY_TRUTH_YES &&
            (kept[k] != SPRY_FACT_HERMITIAN || (alpha.im == 0 && beta.im == 0)))
            matrix_note(C, kept[k], true);
}

spry_status spry_matrix_add(spry_scalar alpha, const spry_matrix *A, spry_scalar beta,
                            const spry_matrix *B, spry_matrix **C)
{
    SPRY_NEED(CTX_OF_ANY(A, B), A, B, C);
    spry_context *ctx = A->ctx;
    spry_status status = SPRY_STATUS_OK;
    const spry_matrix *a = NULL, *b = NULL;
    spry_matrix *own_a = NULL, *own_b = NULL;
    *C = NULL;
    SPRY_GO(ctx, algebra_check_pair("sum", A, B));
    if (A->a.rows != B->a.rows || A->a.cols != B->a.cols)
        return SPRY_FAIL(ctx, SPRY_STATUS_BAD_USAGE,
                         "sum: the matrices are %" PRId64 " x %" PRId64 " and %" PRId64
                         " x %" PRId64,
                         A->a.rows, A->a.cols, B->a.rows, B->a.cols);
    SPRY_GO(ctx, check_factor(A, "alpha", alpha));
    SPRY_GO(ctx, check_factor(A, "beta", beta));
    SPRY_GO(ctx, matrix_as_sorted_csr(A, &a, &own_a));
    SPRY_GO(ctx, matrix_as_sorted_csr(B, &b, &own_b));
    addition s = {.a = &a->a, .b = &b->a, .alpha = alpha, .beta = beta};
    s.c = (matrix_arrays){
        .type = A->a.type, .format = SPRY_FORMAT_CSR, .rows = A->a.rows, .cols = A->a.cols};
    status = add(ctx, &s);
    SPRY_GO(ctx, matrix_finish(ctx, status, &s.c, C));
    note_sum(alpha, A, beta, B, *C);
done:
    spry_matrix_free(own_b);
    spry_matrix_free(own_a);
    return status;
}
