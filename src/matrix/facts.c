/* What is known of a matrix: noted by whoever finds out, so that nobody has to look again. */
#include "matrix/distribution.h"
#include "matrix/entries.h"
#include "matrix/stats.h"

const char *fact_name(spry_fact fact)
{
#define FACT_NAME(name, word, text) [SPRY_FACT_##name] = word,
    static const char *const names[] = {SPRY_FACT_LIST(FACT_NAME)};
    return (unsigned)fact < SPRY_FACT_COUNT ? names[fact] : "unknown";
}

const char *fact_text(spry_fact fact)
{
#define FACT_TEXT(name, word, text) [SPRY_FACT_##name] = text,
    static const char *const texts[] = {SPRY_FACT_LIST(FACT_TEXT)};
    return (unsigned)fact < SPRY_FACT_COUNT ? texts[fact] : "unknown";
}

/* Both bits of a fact, shifted to its place. */
static unsigned both(spry_fact fact)
{
    return 3u << (2 * fact);
}

/* Facts are no part of the matrix's value: those who only read it note them, too, and with the
 * matrix whose arrays they see. */
static atomic_uint *facts_of(const spry_matrix *A)
{
    while (A->origin)
        A = A->origin;
    return &((spry_matrix *)(uintptr_t)A)->facts;
}

spry_truth matrix_known(const spry_matrix *A, spry_fact fact)
{
    const unsigned bits = atomic_load(facts_of(A)) >> (2 * fact) & 3u;
    return bits == 1 ? SPRY_TRUTH_YES : bits == 2 ? SPRY_TRUTH_NO : SPRY_TRUTH_UNKNOWN;
}

/* What one fact says of another: a real matrix that is symmetric is hermitian. */
static unsigned implied(const spry_matrix *A, spry_fact fact, bool yes)
{
    const unsigned bit = yes ? 1u : 2u;
    unsigned bits = bit << (2 * fact);
    if (!spry_type_is_complex(A->a.type) &&
        (fact == SPRY_FACT_SYMMETRIC || fact == SPRY_FACT_HERMITIAN))
        bits |= bit << (2 * SPRY_FACT_SYMMETRIC) | bit << (2 * SPRY_FACT_HERMITIAN);
    return bits;
}

/* The first word on a fact stands, also where two are noted at once. */
void matrix_note(const spry_matrix *A, spry_fact fact, bool yes)
{
    enum { FIRST_BITS = 0x55555555 }; /* of each pair */
    atomic_uint *facts = facts_of(A);
    unsigned before = atomic_load(facts), more;
    if (before & both(fact))
        return;
    do {
        const unsigned known = (before | before >> 1) & FIRST_BITS;
        more = implied(A, fact, yes) & ~(known | known << 1);
    } while (!atomic_compare_exchange_weak(facts, &before, before | more));
}

void matrix_note_all(const spry_matrix *A, unsigned facts)
{
    for (int f = 0; f < SPRY_FACT_COUNT; f++)
        if (facts & FACT_BIT(f))
            matrix_note(A, (spry_fact)f, true);
}

void matrix_forget(const spry_matrix *A, unsigned facts)
{
    unsigned bits = 0;
    for (int f = 0; f < SPRY_FACT_COUNT; f++)
        bits |= facts & FACT_BIT(f) ? both((spry_fact)f) : 0;
    atomic_fetch_and(facts_of(A), ~bits);
}

void matrix_changed(spry_matrix *A)
{
    matrix_touch(A, false);
    matrix_forget(A, FACTS_ALL & ~FACTS_OF_PATTERN);
}

void matrix_carry(const spry_matrix *A, const spry_matrix *B, unsigned facts)
{
    for (int f = 0; f < SPRY_FACT_COUNT; f++) {
        const spry_truth known = matrix_known(A, (spry_fact)f);
        if (facts & FACT_BIT(f) && known != SPRY_TRUTH_UNKNOWN)
            matrix_note(B, (spry_fact)f, known == SPRY_TRUTH_YES);
    }
}

void matrix_note_symmetry(const spry_matrix *A, spry_symmetry symmetry)
{
    if (symmetry == SPRY_SYMMETRY_GENERAL)
        return;
    matrix_note(A, SPRY_FACT_PATTERN_SYMMETRIC, true);
    if (symmetry != SPRY_SYMMETRY_SKEW) /* which may be 0 */
        matrix_note(A,
                    symmetry == SPRY_SYMMETRY_HERMITIAN ? SPRY_FACT_HERMITIAN : SPRY_FACT_SYMMETRIC,
                    true);
}

/* --- finding out ---------------------------------------------------------------------------------
 */

/* So that it can be seen that nothing is looked for twice. */
static void tell(spry_context *ctx, const spry_matrix *A, spry_fact fact)
{
    base_log(ctx, SPRY_LOG_DEBUG, "looking whether a matrix of %" PRId64 " entries is %s", A->a.nnz,
             fact_name(fact));
}

bool matrix_is_sorted(spry_context *ctx, const spry_matrix *A, bool strictly)
{
    const spry_truth sorted = matrix_known(A, SPRY_FACT_SORTED),
                     unique = matrix_known(A, SPRY_FACT_UNIQUE);
    if (sorted != SPRY_TRUTH_UNKNOWN &&
        (!strictly || unique != SPRY_TRUTH_UNKNOWN || sorted == SPRY_TRUTH_NO))
        return sorted == SPRY_TRUTH_YES && (!strictly || unique == SPRY_TRUTH_YES);
    if (strictly && unique == SPRY_TRUTH_NO)
        return false;
    tell(ctx, A, SPRY_FACT_SORTED);
    if (matrix_sorted(ctx, &A->a, true)) {
        matrix_note(A, SPRY_FACT_SORTED, true);
        matrix_note(A, SPRY_FACT_UNIQUE, true);
        return true;
    }
    const bool rises = sorted == SPRY_TRUTH_YES || matrix_sorted(ctx, &A->a, false);
    matrix_note(A, SPRY_FACT_SORTED, rises);
    if (rises)
        matrix_note(A, SPRY_FACT_UNIQUE, false);
    return rises && !strictly;
}

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
        tell(ctx, A, fact);
        matrix_note(A, fact, matrix_first_bad(A) < 0);
    } else {
        tell(ctx, A, fact);
        status = fact == SPRY_FACT_UNIQUE ? find_unique(ctx, A) : find_in_rows(ctx, A, fact);
    }
    *yes = matrix_known(A, fact) == SPRY_TRUTH_YES;
    return status;
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
