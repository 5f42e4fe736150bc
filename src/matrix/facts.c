/* Finding facts of a matrix out, and what they are checked for. */
#include "matrix/distribution.h"
#include "matrix/entries.h"
#include "matrix/stats.h"

/* Whether all diagonal entries are real and positive, for square general CSR with sorted rows. */
static bool has_positive_diagonal(const spry_context *ctx, const matrix_arrays *a)
{
    bool fine = a->rows == a->cols;
#pragma omp parallel for num_threads(matrix_parts(ctx, a->rows)) schedule(static) \
    reduction(&& : fine)
    for (int64_t i = 0; i < a->rows; i++) {
        const int64_t k = fine ? matrix_find_diagonal(a, i) : -1;
        const spry_scalar d = k < 0 ? (spry_scalar){0, 0} : value_load(a->type, a->values, k);
        fine = fine && d.re > 0 && d.im == 0;
    }
    return fine;
}

static spry_status find_mirror(spry_context *ctx, const spry_matrix *A, const spry_matrix *csr,
                               bool pattern)
{
    matrix_mirror found;
    const spry_status status = matrix_compare_mirror(ctx, csr, pattern, &found);
    if (status == SPRY_STATUS_OK) {
        if (found.looked_through)
            matrix_note(A, SPRY_FACT_PATTERN_SYMMETRIC, found.pattern);
        matrix_note(A, SPRY_FACT_SYMMETRIC, found.symmetric);
        matrix_note(A, SPRY_FACT_HERMITIAN, found.hermitian);
    }
    return status;
}

/* Of entries in any order: a copy is sorted for it. */
static spry_status find_unique(spry_context *ctx, const spry_matrix *A)
{
    spry_matrix *copy = NULL;
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(ctx, matrix_copy(A, &copy));
    SPRY_GO(ctx, spry_matrix_sort(copy));
    matrix_note(A, SPRY_FACT_UNIQUE, matrix_is_sorted(ctx, copy, true));
done:
    spry_matrix_free(copy);
    return status;
}

/* Of what is seen in sorted rows alone. */
static spry_status find_in_rows(spry_context *ctx, const spry_matrix *A, spry_fact fact)
{
    const spry_matrix *csr = NULL;
    spry_matrix *owned = NULL;
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(ctx, matrix_as_sorted_csr(A, &csr, &owned));
    if (fact == SPRY_FACT_POSITIVE_DIAGONAL)
        matrix_note(A, fact, has_positive_diagonal(ctx, &csr->a));
    else
        SPRY_GO(ctx, find_mirror(ctx, A, csr, fact == SPRY_FACT_PATTERN_SYMMETRIC));
done:
    spry_matrix_free(owned);
    return status;
}

spry_status matrix_find_out(spry_context *ctx, const spry_matrix *A, spry_fact fact, bool *yes)
{
    spry_status status = SPRY_STATUS_OK;
    if (matrix_known(A, fact) == SPRY_TRUTH_UNKNOWN)
        matrix_note_symmetry(A, A->a.symmetry);
    if (matrix_known(A, fact) != SPRY_TRUTH_UNKNOWN) {
        /* nothing to do */
    } else if (A->distributed) {
        status = A->distributed->class->find_out(ctx, A, fact);
    } else if (fact == SPRY_FACT_SORTED) {
        matrix_is_sorted(ctx, A, false);
    } else if (fact == SPRY_FACT_UNIQUE && matrix_is_sorted(ctx, A, false)) {
        matrix_is_sorted(ctx, A, true);
    } else if (fact == SPRY_FACT_FINITE) {
        fact_log_search(ctx, A, fact);
        matrix_note(A, fact, matrix_first_bad(A) < 0);
    } else {
        fact_log_search(ctx, A, fact);
        status = fact == SPRY_FACT_UNIQUE ? find_unique(ctx, A) : find_in_rows(ctx, A, fact);
    }
    *yes = matrix_known(A, fact) == SPRY_TRUTH_YES;
    return status;
}

/* --- finite values ------------------------------------------------------------------------------
 */

spry_status matrix_check_values(const spry_matrix *A)
{
    SPRY_NEED(CTX_OF(A), A);
    matrix_follow(A);
    const matrix_arrays *a = &A->a;
    bool finite;
    const spry_status status = matrix_find_out(A->ctx, A, SPRY_FACT_FINITE, &finite);
    if (status != SPRY_STATUS_OK || finite)
        return status;
    int64_t row, col;
    const int64_t bad = matrix_first_bad(A);
    matrix_place(a, bad, &row, &col);
    const spry_scalar v = value_get(a->type, a->values, bad);
    if (!spry_type_is_complex(a->type))
        return SPRY_FAIL(A->ctx, SPRY_STATUS_BAD_INPUT,
                         "row %" PRId64 ", column %" PRId64 " (from 0): the value is %g", row, col,
                         v.re);
    return SPRY_FAIL(A->ctx, SPRY_STATUS_BAD_INPUT,
                     "row %" PRId64 ", column %" PRId64 " (from 0): the value is (%g, %g)", row,
                     col, v.re, v.im);
}

spry_status matrix_check_finite(const spry_matrix *A, const char *what, const char *name)
{
    bool finite;
    const spry_status status = matrix_find_out(A->ctx, A, SPRY_FACT_FINITE, &finite);
    if (status != SPRY_STATUS_OK || finite)
        return status;
    if (A->distributed) /* the rank that has it says where */
        return A->distributed->class->check_values(A);
    const int64_t bad = matrix_first_bad(A);
    int64_t row, col;
    matrix_place(&A->a, bad, &row, &col);
    char text[VALUE_TEXT];
    const spry_scalar v = value_get(A->a.type, A->a.values, bad);
    return SPRY_FAIL(A->ctx, SPRY_STATUS_BAD_INPUT,
                     "%s %s: entry (%" PRId64 ", %" PRId64 ") (from 0) is %s: the matrix must have "
                     "finite numbers",
                     what, name, row, col, value_text(A->a.type, v, text));
}

/* --- the caller's side ---------------------------------------------------------------------------
 */

static spry_status check_fact(spry_context *ctx, spry_fact fact)
{
    if ((unsigned)fact < SPRY_FACT_COUNT)
        return SPRY_STATUS_OK;
    return SPRY_FAIL(ctx, SPRY_STATUS_BAD_USAGE, "fact is %d, expected 0..%d", (int)fact,
                     SPRY_FACT_COUNT - 1);
}

spry_truth spry_matrix_fact(const spry_matrix *A, spry_fact fact)
{
    return A && (unsigned)fact < SPRY_FACT_COUNT ? matrix_known(A, fact) : SPRY_TRUTH_UNKNOWN;
}

/* What is not hermitian, or has a diagonal entry that is not positive, is not definite. */
static spry_status look_for_definite(spry_context *ctx, const spry_matrix *A)
{
    bool hermitian = false, positive = false;
    spry_status status = matrix_find_out(ctx, A, SPRY_FACT_HERMITIAN, &hermitian);
    if (status == SPRY_STATUS_OK && hermitian)
        status = matrix_find_out(ctx, A, SPRY_FACT_POSITIVE_DIAGONAL, &positive);
    if (status == SPRY_STATUS_OK && hermitian && !positive)
        matrix_note(A, SPRY_FACT_DEFINITE, false);
    return status;
}

spry_status spry_matrix_find_fact(const spry_matrix *A, spry_fact fact, spry_truth *truth)
{
    SPRY_NEED(CTX_OF(A), A, truth);
    matrix_follow(A);
    spry_context *ctx = A->ctx;
    bool yes;
    spry_status status = SPRY_STATUS_OK;
    *truth = SPRY_TRUTH_UNKNOWN;
    SPRY_GO(ctx, check_fact(ctx, fact));
    SPRY_GO(ctx, fact == SPRY_FACT_DEFINITE ? look_for_definite(ctx, A)
                                            : matrix_find_out(ctx, A, fact, &yes));
    *truth = matrix_known(A, fact);
done:
    return status;
}

spry_status spry_matrix_set_fact(spry_matrix *A, spry_fact fact, spry_truth truth)
{
    SPRY_NEED(CTX_OF(A), A);
    spry_context *ctx = A->ctx;
    bool yes = false;
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(ctx, check_fact(ctx, fact));
    if (truth < SPRY_TRUTH_UNKNOWN || truth > SPRY_TRUTH_YES)
        return SPRY_FAIL(ctx, SPRY_STATUS_BAD_USAGE, "truth is %d, expected 0..%d", (int)truth,
                         SPRY_TRUTH_YES);
    matrix_forget(A, FACT_BIT(fact));
    if (truth == SPRY_TRUTH_UNKNOWN)
        return SPRY_STATUS_OK;
    if (!(FACT_BIT(fact) & FACTS_OF_PATTERN)) {
        if (!spry_type_is_complex(A->a.type) && fact == SPRY_FACT_SYMMETRIC)
            matrix_forget(A, FACT_BIT(SPRY_FACT_HERMITIAN));
        if (!spry_type_is_complex(A->a.type) && fact == SPRY_FACT_HERMITIAN)
            matrix_forget(A, FACT_BIT(SPRY_FACT_SYMMETRIC));
        matrix_note(A, fact, truth == SPRY_TRUTH_YES);
    } else if (truth == SPRY_TRUTH_YES) {
        SPRY_GO(ctx, matrix_find_out(ctx, A, fact, &yes));
        if (!yes)
            status = SPRY_FAIL(ctx, SPRY_STATUS_BAD_INPUT, "the matrix is not %s: %s",
                               fact_name(fact), fact_text(fact));
    }
done:
    return status;
}

spry_status matrix_may_be_definite(const spry_matrix *A, bool *yes)
{
    spry_status status = SPRY_STATUS_OK;
    *yes = matrix_known(A, SPRY_FACT_DEFINITE) != SPRY_TRUTH_NO;
    if (*yes)
        SPRY_GO(A->ctx, matrix_find_out(A->ctx, A, SPRY_FACT_HERMITIAN, yes));
    if (*yes)
        SPRY_GO(A->ctx, matrix_find_out(A->ctx, A, SPRY_FACT_POSITIVE_DIAGONAL, yes));
done:
    return status;
}
