/* Before any number is eliminated: scaling, the order, the tree, and where the entries go. */
#include "factor/inside.h"

#include "algebra/graph.h"
#include "matrix/entries.h"

#include <spry/scale.h>

/* An order, or SPRY_STATUS_UNSUPPORTED without a message where this build has none such. */
typedef spry_status order_function(spry_context *ctx, const graph *g, int32_t *perm);

static spry_status try_order(spry_context *ctx, const graph *g, order_function *number,
                             int32_t *perm)
{
    char before[MESSAGE_SIZE];
    memcpy(before, ctx->message, sizeof before);
    const spry_status status = number(ctx, g, perm);
    if (status == SPRY_STATUS_UNSUPPORTED)
        memcpy(ctx->message, before, sizeof before);
    return status;
}

/* An order with its tree; *there is false where the build has it not. */
static spry_status make_order(spry_context *ctx, const graph *g, order_function *number,
                              frontal_order *o, bool *there)
{
    int32_t *perm = NULL;
    spry_status status = SPRY_STATUS_OK;
    *o = (frontal_order){0};
    SPRY_GO(ctx, base_alloc(ctx, g->n, sizeof *perm, &perm));
    if (g->n > 0 && g->offsets[g->n] > 0) {
        status = try_order(ctx, g, number, perm);
        *there = status != SPRY_STATUS_UNSUPPORTED;
        if (!*there)
            status = SPRY_STATUS_OK;
        if (!*there || status != SPRY_STATUS_OK)
            goto done;
    } else {
        *there = true;
        for (int32_t k = 0; k < g->n; k++)
            perm[k] = k;
    }
    SPRY_GO(ctx, frontal_order_make(ctx, g, perm, o));
done:
    base_free(ctx, perm);
    return status;
}

/*
 * Minimum degree, and nested dissection too where the work of elimination is worth another order:
 * the one with less of it. Reverse Cuthill-McKee where the build has neither.
 */
static spry_status choose_order(spry_context *ctx, const graph *g, bool symmetric, frontal_order *o)
{
    static const double worth = 2e4; /* operations for each edge that dissection looks at */
    frontal_order other = {0};
    bool there = false, other_there = false;
    spry_status status = SPRY_STATUS_OK;
    *o = (frontal_order){0};
    SPRY_GO(ctx, make_order(ctx, g, graph_amd, o, &there));
    const double flops = there ? frontal_order_flops(o, symmetric) : INFINITY;
    if (flops > worth * (double)(g->offsets[g->n] + g->n))
        SPRY_GO(ctx, make_order(ctx, g, graph_nd, &other, &other_there));
    if (!there && !other_there)
        SPRY_GO(ctx, make_order(ctx, g, graph_rcm, &other, &other_there));
    if (other_there && frontal_order_flops(&other, symmetric) < flops) {
        frontal_order_clear(ctx, o);
        *o = other;
        other = (frontal_order){0};
    }
done:
    frontal_order_clear(ctx, &other);
    if (status != SPRY_STATUS_OK)
        frontal_order_clear(ctx, o);
    return status;
}

/* The graph of A with its rows in another order, row row_of[i] being the i-th; NULL: as they are. */
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

/* Factors by places, as powers of two that neither single nor double precision minds. */
static void place_factors(const frontal *f, const spry_vector *v, const int32_t *place, double *to)
{
    const int most = type_is_single(f->type) ? 60 : 500;
    for (int64_t i = 0; i < f->n; i++) {
        int exponent = 0;
        frexp(value_get(f->type, v->data, i).re, &exponent);
        exponent = exponent > most ? most : exponent < -most ? -most : exponent;
        to[place[i]] = ldexp(1, exponent - 1);
    }
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

static spry_status scale(frontal *f, const spry_matrix *A)
{
    spry_context *ctx = f->ctx;
    spry_vector *left = NULL, *right = NULL;
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(ctx, spry_scaling(A, f->kind == FRONTAL_DEFINITE ? "symmetric" : "equilibrate", &left,
                              &right));
    SPRY_GO(ctx, base_alloc(ctx, f->n, sizeof *f->left, &f->left));
    place_factors(f, left, f->row_place, f->left);
    if (frontal_is_symmetric(f->kind)) {
        f->right = f->left;
    } else {
        SPRY_GO(ctx, base_alloc(ctx, f->n, sizeof *f->right, &f->right));
        place_factors(f, right, f->col_place, f->right);
    }
done:
    spry_vector_free(left);
    spry_vector_free(right);
    return status;
}

spry_status frontal_analyse(const spry_matrix *A, frontal_kind kind, frontal **out)
{
    spry_context *ctx = A->ctx;
    const size_t size = spry_type_size(A->a.type);
    frontal *f = NULL;
    graph g = {0};
    frontal_order o = {0};
    int32_t *row_of = NULL;
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
    SPRY_GO(ctx, make_graph(A, row_of, &g));
    SPRY_GO(ctx, choose_order(ctx, &g, frontal_is_symmetric(kind), &o));
    SPRY_GO(ctx, frontal_tree_make(ctx, &g, &o, &f->tree));
    SPRY_GO(ctx, place_all(f, row_of));
    SPRY_GO(ctx, scale(f, A));
    SPRY_GO(ctx, sort_entries(f, A));
    SPRY_GO(ctx, base_calloc(ctx, f->tree.nodes, sizeof *f->nodes, &f->nodes));
    SPRY_GO(ctx, base_calloc(ctx, f->tree.nodes, sizeof *f->blocks, &f->blocks));
    SPRY_GO(ctx, base_alloc(ctx, f->n, size, &f->work[0]));
    SPRY_GO(ctx, base_alloc(ctx, f->n, size, &f->work[1]));
    SPRY_GO(ctx, frontal_cut(f));
    *out = f;
    f = NULL;
done:
    frontal_free(f);
    frontal_order_clear(ctx, &o);
    graph_clear(ctx, &g);
    base_free(ctx, row_of);
    return status;
}
