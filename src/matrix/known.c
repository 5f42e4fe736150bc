/* What is known of a matrix: noted once found, so that it is not searched for again. */
#include "matrix/entries.h"

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

/* The first note on a fact counts, also where two are noted at once. */
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

/* So that it can be seen that nothing is looked for twice. */
void fact_log_search(spry_context *ctx, const spry_matrix *A, spry_fact fact)
{
    base_log(ctx, SPRY_LOG_DEBUG, "looking whether a matrix of %" PRId64 " entries is %s", A->a.nnz,
             fact_name(fact));
}
