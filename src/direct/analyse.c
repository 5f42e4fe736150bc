/* Before any number is eliminated: matching and scaling, the order, the tree, and where the entries
 * go. */
#include "direct/inside.h"

#include "matrix/algebra/algebra.h"
#include "matrix/algebra/graph.h"
#include "matrix/entries.h"

#include <spry/scale.h>

/* The graph of A with its rows in another order, row row_of[i] being the i-th; NULL: as they are.
 */
static spry_status make_graph(const spry_matrix *A, const int32_t *row_of, graph *g)
{
    spry_context *ctx = A->ctx;
    const matrix_arrays *a = &A->a;
    matrix_arrays moved = {.type = SPRY_TYPE_S,
                           .format = SPRY_FORMAT_CSR,
                           .rows = a->rows,
                           .cols = a->cols,
                           .nnz = a->nnz};
    spry_matrix *B = NULL;
    spry_status status = SPRY_STATUS_OK;
    if (!row_of)
        return graph_make(A, g);
    SPRY_GO(ctx, matrix_allocate(ctx, &moved));
    moved.offsets[0] = 0;
    for (int64_t i = 0; i < a->rows; i++) {
        const int64_t begin = a->offsets[row_of[i]], count = a->offsets[row_of[i] + 1] - begin;
        moved.offsets[i + 1] = moved.offsets[i] + count;
        memcpy(moved.col_index + moved.offsets[i], a->col_index + begin,
               (size_t)count * sizeof *moved.col_index);
    }
    memset(moved.values, 0, (size_t)a->nnz * spry_type_size(moved.type));
    SPRY_GO(ctx, matrix_wrap(ctx, &moved, &B));
    matrix_note(B, SPRY_FACT_SORTED, true);
    matrix_note(B, SPRY_FACT_UNIQUE, true);
    SPRY_GO(ctx, graph_make(B, g));
done:
    spry_matrix_free(B);
    return status;
}

/* A factor as a power of two. */
static double settle(const frontal *f, double factor)
{
    const int most = algebra_most_exponent(f->type);
    const double exponent = round(log2(factor));
    return ldexp(1, (int)fmin(fmax(exponent, -most), most));
}

/* Which variable brings in which entries. */
static spry_status sort_entries(frontal *f, const spry_matrix *A)
{
    spry_context *ctx = f->ctx;
    const matrix_arrays *a = &A->a;
    const bool symmetric = frontal_is_symmetric(f->kind);
    int64_t *start = NULL;
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(ctx, base_calloc(ctx, f->n + 2, sizeof *start, &start));
    f->entry_start = start;
    for (int64_t i = 0; i < f->n; i++)
        for (int64_t k = a->offsets[i]; k < a->offsets[i + 1]; k++) {
            const int32_t row = f->row_place[i], col = f->col_place[a->col_index[k]];
            if (row >= col || !symmetric)
                start[(row < col ? row : col) + 2]++;
        }
    for (int64_t i = 0; i < f->n; i++)
        start[i + 2] += start[i + 1];
    const int64_t all = start[f->n + 1];
    SPRY_GO(ctx, base_alloc(ctx, all, sizeof *f->entry_index, &f->entry_index));
    SPRY_GO(ctx, base_alloc(ctx, all, sizeof *f->entry_at, &f->entry_at));
    for (int64_t i = 0; i < f->n; i++)
        for (int64_t k = a->offsets[i]; k < a->offsets[i + 1]; k++) {
            const int32_t row = f->row_place[i], col = f->col_place[a->col_index[k]];
            if (row < col && symmetric)
                continue;
            const int64_t at = start[(row < col ? row : col) + 1]++;
            f->entry_index[at] = row >= col ? row : ~col;
            f->entry_at[at] = k;
        }
done:
    return status;
}

/* Places of rows and columns from those of the graph's vertices. */
static spry_status place_all(frontal *f, const int32_t *row_of)
{
    spry_context *ctx = f->ctx;
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(ctx, base_alloc(ctx, f->n, sizeof *f->row_place, &f->row_place));
    if (frontal_is_symmetric(f->kind))
        f->col_place = f->row_place;
    else
        SPRY_GO(ctx, base_alloc(ctx, f->n, sizeof *f->col_place, &f->col_place));
    for (int64_t v = 0; v < f->n; v++) {
        f->row_place[row_of ? row_of[v] : v] = f->tree.place[v];
        f->col_place[v] = f->tree.place[v];
    }
done:
    return status;
}

/* Factors that bring the largest numbers of rows and columns near 1. */
static spry_status equilibrate(const spry_matrix *A, double *left, double *right)
{
    spry_vector *rows = NULL, *cols = NULL;
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(A->ctx, spry_scaling(A, "equilibrate", &rows, &cols));
    for (int64_t i = 0; i < A->a.rows; i++) {
        left[i] = value_get(A->a.type, rows->data, i).re;
        right[i] = value_get(A->a.type, cols->data, i).re;
    }
done:
    spry_vector_free(rows);
    spry_vector_free(cols);
    return status;
}

/* Before the ordering: scaling factors of rows and columns from A's values, and rows permuted so
 * that the diagonal is large, or pairs of an indefinite one. *row_of and *pair are NULL where there
 * is none. */
static spry_status prepare(frontal *f, const spry_matrix *A, int32_t **row_of, int32_t **pair,
                           double **left, double **right)
{
    spry_context *ctx = f->ctx;
    matching m = {0};
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(ctx, base_alloc(ctx, f->n, sizeof **left, left));
    SPRY_GO(ctx, base_alloc(ctx, f->n, sizeof **right, right));
    if (f->kind == FRONTAL_DEFINITE) {
        for (int64_t i = 0; i < f->n; i++) {
            const double size =
                value_get(A->a.type, A->a.values, matrix_find_diagonal(&A->a, i)).re;
            (*left)[i] = (*right)[i] = 1 / sqrt(size);
        }
        return SPRY_STATUS_OK;
    }
    SPRY_GO(ctx, algebra_match(ctx, &A->a, &m));
    /* Along chains of a structurally singular matrix they may rise without bound. */
    const bool trusted = algebra_match_within(&m, algebra_most_exponent(f->type));
    if (frontal_is_symmetric(f->kind)) {
        SPRY_GO(ctx, base_alloc(ctx, f->n, sizeof **pair, pair));
        SPRY_GO(ctx, algebra_match_pairs(ctx, &A->a, &m, *left, *pair));
    } else {
        SPRY_GO(ctx, base_alloc(ctx, f->n, sizeof **row_of, row_of));
        algebra_match_order(&m, *row_of);
        memcpy(*left, m.left, (size_t)f->n * sizeof **left);
        memcpy(*right, m.right, (size_t)f->n * sizeof **right);
    }
    if (!trusted)
        SPRY_GO(ctx, equilibrate(A, *left, *right));
done:
    algebra_match_clear(ctx, &m);
    return status;
}

/* Factors by places. */
static spry_status place_factors(frontal *f, const double *left, const double *right)
{
    spry_context *ctx = f->ctx;
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(ctx, base_alloc(ctx, f->n, sizeof *f->left, &f->left));
    for (int64_t i = 0; i < f->n; i++)
        f->left[f->row_place[i]] = settle(f, left[i]);
    if (frontal_is_symmetric(f->kind)) {
        f->right = f->left;
        return SPRY_STATUS_OK;
    }
    SPRY_GO(ctx, base_alloc(ctx, f->n, sizeof *f->right, &f->right));
    for (int64_t j = 0; j < f->n; j++)
        f->right[f->col_place[j]] = settle(f, right[j]);
done:
    return status;
}

spry_status frontal_analyse(const spry_matrix *A, frontal_kind kind, double most, frontal **out)
{
    spry_context *ctx = A->ctx;
    frontal *f = NULL;
    graph g = {0};
    frontal_order o = {0};
    int32_t *row_of = NULL, *pair = NULL;
    double *left = NULL, *right = NULL;
    spry_status status = SPRY_STATUS_OK;
    *out = NULL;
    SPRY_GO(ctx, base_calloc(ctx, 1, sizeof *f, &f));
    f->ctx = ctx;
    f->kind = kind;
    f->type = A->a.type;
    f->n = A->a.rows;
    f->nnz = A->a.nnz;
    f->failed = true;
    f->slack = kind == FRONTAL_DEFINITE ? 1 : 1.25;
    SPRY_GO(ctx, prepare(f, A, &row_of, &pair, &left, &right));
    SPRY_GO(ctx, make_graph(A, row_of, &g));
    SPRY_GO(ctx, frontal_order_choose(ctx, &g, pair, frontal_is_symmetric(kind), most,
                                      spry_type_is_complex(A->a.type) ? 4 : 1, &o));
    SPRY_GO(ctx, frontal_tree_make(ctx, &g, &o, pair, &f->tree));
    SPRY_GO(ctx, place_all(f, row_of));
    SPRY_GO(ctx, place_factors(f, left, right));
    SPRY_GO(ctx, sort_entries(f, A));
    SPRY_GO(ctx, base_calloc(ctx, f->tree.nodes, sizeof *f->nodes, &f->nodes));
    SPRY_GO(ctx, base_calloc(ctx, f->tree.nodes, sizeof *f->blocks, &f->blocks));
    SPRY_GO(ctx, base_calloc(ctx, 1, sizeof *f->room, &f->room));
    SPRY_GO(ctx, frontal_cut(f));
    *out = f;
    f = NULL;
done:
    frontal_free(f);
    frontal_order_clear(ctx, &o);
    graph_clear(ctx, &g);
    base_free(ctx, row_of);
    base_free(ctx, pair);
    base_free(ctx, left);
    base_free(ctx, right);
    return status;
}
