/*
 * A compared with its mirror image. Entries that are made twice, once for each triangle, differ by
 * roundings of sums that are as large as sqrt(|a_ii a_jj|) where A is positive definite. That
 * grows and shrinks with the entries when rows and columns are scaled alike.
 */
#include "matrix/entries.h"

enum { ROWS = 1024, HINTS = 4096 };

/* Where the mirror image of the next entry of a column is likely to be: after that of the last. */
typedef struct hints {
    int64_t next[HINTS];
} hints;

typedef struct comparison {
    const matrix_arrays *a;
    const double *root; /* sqrt |a_ii| */
    bool to_end;        /* all rows are looked at, for the pattern */
    double tolerance;
} comparison;

/* What a range of rows shows. */
typedef struct outcome {
    bool symmetric, hermitian;
    int64_t unlike;    /* first row against hermitian */
    int64_t unmatched; /* entries below the diagonal less the mirror images found above it */
    bool missing;      /* one above has none below */
} outcome;

/* Compares an entry with its mirror image, or with 0. */
ALWAYS_INLINE void compare(const comparison *c, int64_t i, int64_t j, spry_scalar v, spry_scalar w,
                           outcome *o)
{
    if (v.re == w.re && v.im == 0 && w.im == 0) /* as most are */
        return;
    const double most = c->tolerance * matrix_mirror_size(c->root, i, j, v, w);
    const double apart = fabs(v.re - w.re);
    if (!(apart + fabs(v.im - w.im) <= most))
        o->symmetric = false;
    if (!(apart + fabs(v.im + w.im) <= most)) {
        o->hermitian = false;
        o->unlike = i < o->unlike ? i : o->unlike;
    }
}

/* matrix_find() of entry (j, i), where rows i come one after the other. */
ALWAYS_INLINE int64_t find_mirror_image(const matrix_arrays *a, int64_t j, int64_t i, hints *h)
{
    int64_t *next = &h->next[j % HINTS], at = *next;
    if (at < a->offsets[j] || at >= a->offsets[j + 1] || a->col_index[at] != i)
        at = matrix_find(a, j, i);
    *next = at >= 0 ? at + 1 : *next;
    return at;
}

/* Entries above and on the diagonal; or, when asked for, those below without a mirror image. */
ALWAYS_INLINE void compare_rows(const comparison *c, spry_type type, range rows, bool below,
                                outcome *o)
{
    const matrix_arrays *a = c->a;
    hints h = {{0}};
    for (int64_t i = rows.begin; i < rows.end && (c->to_end || o->symmetric || o->hermitian); i++)
        for (int64_t k = a->offsets[i]; k < a->offsets[i + 1]; k++) {
            const int64_t j = a->col_index[k];
            o->unmatched += j < i && !below;
            if (below ? j >= i : j < i)
                continue;
            const int64_t back = j == i ? k : find_mirror_image(a, j, i, &h);
            if (below && back >= 0)
                continue;
            if (j > i) {
                o->unmatched -= back >= 0;
                o->missing |= back < 0;
            }
            const spry_scalar none = {0, 0};
            compare(c, i, j, value_load(type, a->values, k),
                    back < 0 ? none : value_load(type, a->values, back), o);
        }
}

static void compare_typed(const comparison *c, range rows, bool below, outcome *o)
{
    switch (c->a->type) {
    case SPRY_TYPE_S:
        compare_rows(c, SPRY_TYPE_S, rows, below, o);
        break;
    case SPRY_TYPE_D:
        compare_rows(c, SPRY_TYPE_D, rows, below, o);
        break;
    case SPRY_TYPE_C:
        compare_rows(c, SPRY_TYPE_C, rows, below, o);
        break;
    default:
        compare_rows(c, SPRY_TYPE_Z, rows, below, o);
    }
}

static outcome compare_all(const spry_context *ctx, const comparison *c, bool below)
{
    const int64_t n = c->a->rows, chunks = (n + ROWS - 1) / ROWS;
    bool symmetric = true, hermitian = true, missing = false;
    int64_t unlike = n, unmatched = 0;
#pragma omp parallel for num_threads(matrix_parts(ctx, c->a->nnz)) schedule(dynamic, 4)     \
    reduction(&& : symmetric, hermitian) reduction(|| : missing) reduction(min : unlike) \
    reduction(+ : unmatched)
    for (int64_t k = 0; k < chunks; k++) {
        const int64_t end = (k + 1) * ROWS < n ? (k + 1) * ROWS : n;
        outcome o = {true, true, n, 0, false};
        compare_typed(c, (range){k * ROWS, end}, below, &o);
        symmetric = symmetric && o.symmetric;
        hermitian = hermitian && o.hermitian;
        missing = missing || o.missing;
        unlike = o.unlike < unlike ? o.unlike : unlike;
        unmatched += o.unmatched;
    }
    return (outcome){symmetric, hermitian, unlike, unmatched, missing};
}

spry_status matrix_diagonal_roots(spry_context *ctx, const matrix_arrays *a, double **root)
{
    const spry_status status = base_alloc(ctx, a->rows, sizeof **root, root);
    if (status != SPRY_STATUS_OK)
        return status;
#pragma omp parallel for num_threads(matrix_parts(ctx, a->rows)) schedule(static)
    for (int64_t i = 0; i < a->rows; i++) {
        const int64_t k = matrix_find_diagonal(a, i);
        (*root)[i] = k < 0 ? 0 : sqrt(value_rough(value_load(a->type, a->values, k)));
    }
    return status;
}

spry_status matrix_compare_mirror(spry_context *ctx, const spry_matrix *A, bool pattern,
                                  matrix_mirror *found)
{
    const int64_t n = A->a.rows;
    double *root = NULL;
    spry_status status = SPRY_STATUS_OK;
    *found = (matrix_mirror){.unlike = 0};
    if (n != A->a.cols)
        return SPRY_STATUS_OK;
    SPRY_GO(ctx, matrix_diagonal_roots(ctx, &A->a, &root));
    const comparison c = {&A->a, root, pattern, matrix_mirror_tolerance(type_is_single(A->a.type))};
    outcome o = compare_all(ctx, &c, false);
    found->looked_through = pattern || o.symmetric || o.hermitian;
    found->pattern = !o.missing && o.unmatched == 0;
    if ((o.symmetric || o.hermitian) && o.unmatched != 0) { /* some below have no mirror image */
        const outcome below = compare_all(ctx, &c, true);
        o.symmetric = o.symmetric && below.symmetric;
        o.hermitian = o.hermitian && below.hermitian;
        o.unlike = below.unlike < o.unlike ? below.unlike : o.unlike;
    }
    found->symmetric = o.symmetric;
    found->hermitian = o.hermitian;
    found->unlike = o.unlike;
done:
    base_free(ctx, root);
    return status;
}
