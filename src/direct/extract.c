/*
 * The factors of fronts as sparse matrices. Fronts have those of the scaled matrix R A C; with D
 * the part of R that belongs to the pivots' rows, P A Q = (D^-1 L D) (D^-1 U C^-1) has the first
 * one's diagonal of ones, too, and no scaling.
 */
#include "direct/inside.h"
#include "matrix/entries.h"

#include <inttypes.h>
#include <private/programs.h>

/* What the walk over all pivots needs. */
typedef struct walk {
    const frontal *f;
    int32_t *row_pivot, *col_pivot; /* of variables */
} walk;

/* Entry i of column t of a node's part of L, from the diagonal on, or of row t of that of U. */
static spry_scalar entry_of(const frontal *f, const front_node *node, bool upper, int64_t t,
                            int64_t i)
{
    const int64_t n = node->order, pivots = node->pivots;
    if (upper)
        return i < pivots ? value_load(f->type, node->lower, i * n + t)
                          : value_load(f->type, node->upper, t * (n - pivots) + i - pivots);
    return i > t ? value_load(f->type, node->lower, t * n + i) : (spry_scalar){1, 0};
}

/* The number that it is multiplied by. */
static double factor_of(const frontal *f, const front_node *node, bool upper, int64_t t, int64_t i)
{
    const double pivot = f->left[node->rows[t]];
    return upper ? 1 / pivot / f->right[node->cols[i]] : pivot / f->left[node->rows[i]];
}

/* Writes column k of L, or row k of U, without entries that are 0; where the arrays have no room
 * yet it counts them. */
static void put_pivot(const walk *w, const front_node *node, int64_t t, int64_t k,
                      const matrix_arrays *to)
{
    const bool upper = to->format == SPRY_FORMAT_CSR;
    const int32_t *pivot = upper ? w->col_pivot : w->row_pivot;
    const int32_t *variables = upper ? node->cols : node->rows;
    int64_t at = to->offsets[k];
    for (int64_t i = t; i < node->order; i++) {
        spry_scalar v = entry_of(w->f, node, upper, t, i);
        if (v.re == 0 && v.im == 0)
            continue;
        if (to->values) {
            const double factor = factor_of(w->f, node, upper, t, i);
            matrix_minor(to)[at] = pivot[variables[i]];
            value_store(to->type, to->values, at, (spry_scalar){factor * v.re, factor * v.im});
        }
        at++;
    }
    to->offsets[k + 1] = at;
}

static void put_all(const walk *w, const matrix_arrays *to)
{
    int64_t k = 0;
    to->offsets[0] = 0;
    for (int32_t s = 0; s < w->f->tree.nodes; s++)
        for (int64_t t = 0; t < w->f->nodes[s].pivots; t++)
            put_pivot(w, &w->f->nodes[s], t, k++, to);
}

static spry_status make_triangle(const walk *w, spry_format format, spry_matrix **made)
{
    spry_context *ctx = w->f->ctx;
    matrix_arrays a = {.type = w->f->type, .format = format, .rows = w->f->n, .cols = w->f->n};
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(ctx, base_alloc(ctx, a.rows + 1, sizeof *a.offsets, &a.offsets));
    put_all(w, &a);
    a.nnz = a.offsets[a.rows];
    SPRY_GO(ctx, matrix_allocate_entries(ctx, &a));
    put_all(w, &a);
done:
    return matrix_finish(ctx, status, &a, made);
}

/* The rows and columns of A that have the pivots, and the pivots of variables. */
static spry_status number_pivots(walk *w, int32_t *rows, int32_t *columns)
{
    const frontal *f = w->f;
    spry_context *ctx = f->ctx;
    int32_t *row_of = NULL, *col_of = NULL, k = 0;
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(ctx, base_alloc(ctx, f->n, sizeof *w->row_pivot, &w->row_pivot));
    SPRY_GO(ctx, base_alloc(ctx, f->n, sizeof *w->col_pivot, &w->col_pivot));
    SPRY_GO(ctx, matrix_invert(ctx, "rows", f->row_place, f->n, &row_of));
    SPRY_GO(ctx, matrix_invert(ctx, "columns", f->col_place, f->n, &col_of));
    for (int32_t s = 0; s < f->tree.nodes; s++)
        for (int64_t t = 0; t < f->nodes[s].pivots; t++, k++) {
            const int32_t row = f->nodes[s].rows[t], col = f->nodes[s].cols[t];
            w->row_pivot[row] = w->col_pivot[col] = k;
            rows[k] = row_of[row];
            columns[k] = col_of[col];
        }
done:
    base_free(ctx, row_of);
    base_free(ctx, col_of);
    return status;
}

static spry_status factor_general(const spry_matrix *A, frontal **f)
{
    bool fits = false;
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(A->ctx, frontal_analyse(A, FRONTAL_GENERAL, 0, f));
    SPRY_GO(A->ctx, frontal_factor(*f, A, &fits));
    if ((*f)->outcome.rank < A->a.rows)
        return SPRY_FAIL(A->ctx, SPRY_STATUS_BAD_INPUT,
                         "factors: the matrix is singular: rank about %" PRId64 " of %" PRId64,
                         (*f)->outcome.rank, A->a.rows);
done:
    return status;
}

spry_status spry_matrix_factors(const spry_matrix *A, spry_matrix **L, spry_matrix **U,
                                int32_t *rows, int32_t *columns)
{
    SPRY_NEED(CTX_OF(A), A, L, U, rows, columns);
    spry_context *ctx = A->ctx;
    walk w = {.f = NULL};
    frontal *f = NULL;
    const spry_matrix *csr = NULL;
    spry_matrix *owned = NULL;
    spry_status status = SPRY_STATUS_OK;
    *L = *U = NULL;
    if (A->a.rows != A->a.cols || A->a.rows == 0)
        return SPRY_FAIL(ctx, SPRY_STATUS_BAD_INPUT,
                         "factors: a square matrix is needed, this one is %" PRId64 " x %" PRId64,
                         A->a.rows, A->a.cols);
    SPRY_GO(ctx, matrix_check_finite(A, "sparse", "factors"));
    SPRY_GO(ctx, matrix_as_sorted_csr(A, &csr, &owned));
    SPRY_GO(ctx, factor_general(csr, &f));
    w.f = f;
    SPRY_GO(ctx, number_pivots(&w, rows, columns));
    SPRY_GO(ctx, make_triangle(&w, SPRY_FORMAT_CSC, L));
    SPRY_GO(ctx, make_triangle(&w, SPRY_FORMAT_CSR, U));
done:
    base_free(ctx, w.row_pivot);
    base_free(ctx, w.col_pivot);
    frontal_free(f);
    spry_matrix_free(owned);
    return matrix_drop_failed(status, L);
}
