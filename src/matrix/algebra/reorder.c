/* The orderings by name, those that need no graph, and permuted vectors. */
#include "matrix/algebra/algebra.h"
#include "matrix/algebra/graph.h"

#include "matrix/entries.h"

#include <spry/reorder.h>

/* Stable: perm lists the rows by rising key. Keys are 0..most. */
static spry_status sort_by(spry_context *ctx, const int32_t *key, int64_t n, int64_t most,
                           int32_t *perm)
{
    int64_t *first = NULL;
    const spry_status status = base_calloc(ctx, most + 2, sizeof *first, &first);
    if (status != SPRY_STATUS_OK)
        return status;
    for (int64_t i = 0; i < n; i++)
        first[key[i] + 1]++;
    for (int64_t k = 0; k < most; k++)
        first[k + 1] += first[k];
    for (int64_t i = 0; i < n; i++)
        perm[first[key[i]]++] = (int32_t)i;
    base_free(ctx, first);
    return SPRY_STATUS_OK;
}

static spry_status order_none(const spry_matrix *A, int32_t *perm)
{
    for (int64_t i = 0; i < A->a.rows; i++)
        perm[i] = (int32_t)i;
    return SPRY_STATUS_OK;
}

/* Keys of A's rows, which are 0..most; to be freed. */
typedef spry_status row_keys(const spry_matrix *csr, int32_t **key, int64_t *most);

static spry_status order_by(const spry_matrix *A, row_keys *find, int32_t *perm)
{
    spry_context *ctx = A->ctx;
    const spry_matrix *csr = NULL;
    spry_matrix *owned = NULL;
    int32_t *key = NULL;
    int64_t most = 0;
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(ctx, matrix_as_csr(A, &csr, &owned));
    SPRY_GO(ctx, find(csr, &key, &most));
    SPRY_GO(ctx, sort_by(ctx, key, csr->a.rows, most, perm));
done:
    base_free(ctx, key);
    spry_matrix_free(owned);
    return status;
}

static spry_status keys_of_length(const spry_matrix *csr, int32_t **key, int64_t *most)
{
    const int64_t *offsets = csr->a.offsets, n = csr->a.rows;
    const int64_t longest = matrix_longest_row(csr->ctx, &csr->a);
    *most = longest < INT32_MAX ? longest : INT32_MAX; /* duplicates may make rows longer */
    const spry_status status = base_alloc(csr->ctx, n, sizeof **key, key);
    for (int64_t i = 0; status == SPRY_STATUS_OK && i < n; i++) {
        const int64_t less = *most - (offsets[i + 1] - offsets[i]);
        (*key)[i] = (int32_t)(less > 0 ? less : 0);
    }
    return status;
}

static spry_status order_length(const spry_matrix *A, int32_t *perm)
{
    return order_by(A, keys_of_length, perm);
}

/*
 * Columns with many entries, whose elements of x are needed again and again, come first, so that
 * they share lines of memory: those with more than 2^k times the mean before those with fewer, and
 * in such a group, as among all that have at most the mean, as they stood (V. Balaji, B. Lucia,
 * When is graph reordering an optimization?, IEEE IISWC 2018, 203-214; P. Faldu, J. Diamond, B.
 * Grot, A closer look at lightweight graph reordering, IEEE IISWC 2019, 1-13, for the groups).
 */
static spry_status keys_of_hubs(const spry_matrix *csr, int32_t **key, int64_t *most)
{
    enum { GROUPS = 31 };
    const int64_t n = csr->a.rows;
    const spry_status status = algebra_count_columns(csr->ctx, &csr->a, key);
    *most = GROUPS;
    for (int64_t j = 0; status == SPRY_STATUS_OK && j < n; j++) {
        int group = GROUPS;
        for (int64_t over = (*key)[j] * n; over > csr->a.nnz && group > 0; over /= 2)
            group--;
        (*key)[j] = group;
    }
    return status;
}

static spry_status order_hubs(const spry_matrix *A, int32_t *perm)
{
    return order_by(A, keys_of_hubs, perm);
}

static spry_status keys_of_colour(const spry_matrix *csr, int32_t **key, int64_t *most)
{
    const spry_status status = base_alloc(csr->ctx, csr->a.rows, sizeof **key, key);
    return status == SPRY_STATUS_OK ? matrix_colour(csr, *key, most) : status;
}

static spry_status order_colour(const spry_matrix *A, int32_t *perm)
{
    return order_by(A, keys_of_colour, perm);
}

/* Strong components of A's own graph: the block form for partners on the diagonal. */
static spry_status order_btf(const spry_matrix *A, int32_t *perm)
{
    spry_context *ctx = A->ctx;
    const spry_matrix *csr = NULL;
    spry_matrix *owned = NULL;
    block_form form = {0};
    matching same = {.rows = A->a.rows, .cols = A->a.cols, .rank = A->a.rows};
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(ctx, matrix_as_sorted_csr(A, &csr, &owned));
    SPRY_GO(ctx, order_none(A, perm));
    same.column_of = same.row_of = perm;
    SPRY_GO(ctx, algebra_block_form(ctx, &csr->a, &same, &form));
    memcpy(perm, form.row_perm, (size_t)A->a.rows * sizeof *perm);
done:
    algebra_block_form_clear(ctx, &form);
    spry_matrix_free(owned);
    return status;
}

static spry_status order_amd(spry_context *ctx, const graph *g, int32_t *perm)
{
    int32_t *found = NULL;
    const spry_status status = algebra_amd(ctx, g->n, g->offsets, g->neighbours, &found);
    if (status == SPRY_STATUS_OK)
        memcpy(perm, found, (size_t)g->n * sizeof *perm);
    base_free(ctx, found);
    return status;
}

typedef struct order_kind {
    const char *name, *summary;
    spry_status (*make)(const spry_matrix *A, int32_t *perm);
    /* or by the graph */
    spry_status (*number)(spry_context *ctx, const graph *g, int32_t *perm);
    bool any_shape;
} order_kind;

static const order_kind kinds[] = {
    {"none", "as it is", order_none, NULL, true},
    {"rcm", "reverse Cuthill-McKee: a narrow band", NULL, graph_rcm, false},
    {"amd", "approximate minimum degree: little fill", NULL, order_amd, false},
    {"nd", "nested dissection: little fill, independent parts (METIS)", NULL, graph_nd, false},
    {"length", "rows with many entries first", order_length, NULL, true},
    {"colour", "rows that do not depend on each other together", order_colour, NULL, false},
    {"btf", "block triangular form: what depends on nothing else last", order_btf, NULL, false},
    {"hubs", "columns with many entries first, and their rows", order_hubs, NULL, false},
};
enum { KINDS = sizeof kinds / sizeof *kinds };

bool algebra_order_at(int index, spry_entry *entry)
{
    if (index >= KINDS)
        return false;
    entry->name = kinds[index].name;
    entry->summary = kinds[index].summary;
    return true;
}

static spry_status find_kind(spry_context *ctx, const char *name, const order_kind **kind)
{
    char names[128] = "";
    for (int i = 0; i < KINDS; i++)
        base_add_word(names, sizeof names, kinds[i].name);
    const int found = base_find_word(names, name);
    if (found < 0)
        return base_unknown_word(ctx, "order", name, names);
    *kind = &kinds[found];
    return SPRY_STATUS_OK;
}

static spry_status number_graph(const spry_matrix *A, const order_kind *kind, int32_t *perm)
{
    spry_context *ctx = A->ctx;
    graph g = {0};
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(ctx, graph_make(A, &g));
    if (g.offsets[g.n] > 0)
        SPRY_GO(ctx, kind->number(ctx, &g, perm));
    else
        SPRY_GO(ctx, order_none(A, perm)); /* not every library takes a graph without edges */
done:
    graph_clear(ctx, &g);
    return status;
}

spry_status spry_reorder(const spry_matrix *A, const char *order, int32_t **perm)
{
    SPRY_NEED(CTX_OF(A), A, order, perm);
    matrix_follow(A);
    spry_context *ctx = A->ctx;
    const order_kind *kind = NULL;
    spry_status status = SPRY_STATUS_OK;
    *perm = NULL;
    SPRY_GO(ctx, find_kind(ctx, order, &kind));
    if (!kind->any_shape && A->a.rows != A->a.cols)
        return SPRY_FAIL(ctx, SPRY_STATUS_BAD_USAGE,
                         "order %s is for square matrices, this one is %" PRId64 " x %" PRId64,
                         kind->name, A->a.rows, A->a.cols);
    SPRY_GO(ctx, base_alloc(ctx, A->a.rows, sizeof **perm, perm));
    if (kind->make)
        SPRY_GO(ctx, kind->make(A, *perm));
    else
        SPRY_GO(ctx, number_graph(A, kind, *perm));
done:
    if (status == SPRY_STATUS_INTERRUPTED)
        base_stopped(ctx);
    if (status != SPRY_STATUS_OK) {
        base_free(ctx, *perm);
        *perm = NULL;
    }
    return status;
}

spry_status spry_matrix_match(const spry_matrix *A, int32_t **perm, int64_t *rank)
{
    SPRY_NEED(CTX_OF(A), A, perm);
    spry_context *ctx = A->ctx;
    const spry_matrix *csr = NULL;
    spry_matrix *owned = NULL;
    matching m = {0};
    spry_status status = SPRY_STATUS_OK;
    *perm = NULL;
    if (A->a.rows != A->a.cols)
        return SPRY_FAIL(ctx, SPRY_STATUS_BAD_USAGE,
                         "matching rows with columns is for square matrices, this one is %" PRId64
                         " x %" PRId64,
                         A->a.rows, A->a.cols);
    SPRY_GO(ctx, matrix_as_sorted_csr(A, &csr, &owned));
    SPRY_GO(ctx, algebra_match(ctx, &csr->a, &m));
    SPRY_GO(ctx, base_alloc(ctx, A->a.rows, sizeof **perm, perm));
    algebra_match_order(&m, *perm);
    if (rank)
        *rank = m.rank;
done:
    if (status == SPRY_STATUS_INTERRUPTED)
        base_stopped(ctx);
    algebra_match_clear(ctx, &m);
    spry_matrix_free(owned);
    return status;
}

/* y_i = x[from[i]] */
ALWAYS_INLINE void gather(size_t size, const spry_vector *x, const int32_t *from, spry_vector *y)
{
    const int parts = matrix_parts(x->ctx, x->n);
#pragma omp parallel for num_threads(parts) schedule(static)
    for (int64_t i = 0; i < x->n; i++)
        element_move(size, y->data, i, x->data, from[i]);
}

spry_status algebra_gather(const spry_vector *x, const int32_t *from, spry_vector *y)
{
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(x->ctx, vector_fetch(x));
    SPRY_GO(x->ctx, vector_fetch(y));
    if (x->class)
        return x->class->gather(x, from, y);
    switch (spry_type_size(x->type)) {
    case 4:
        gather(4, x, from, y);
        break;
    case 8:
        gather(8, x, from, y);
        break;
    default:
        gather(16, x, from, y);
    }
done:
    return status;
}

static spry_status move_elements(const spry_vector *x, const int32_t *perm, bool back,
                                 spry_vector *y)
{
    spry_context *ctx = x->ctx;
    int32_t *inverse = NULL;
    spry_status status = SPRY_STATUS_OK;
    if (x->ctx != y->ctx || x->n != y->n || x->type != y->type)
        return SPRY_FAIL(ctx, SPRY_STATUS_BAD_USAGE,
                         "permutation: the vectors are of %" PRId64 " and %" PRId64
                         " numbers, types %s and %s%s",
                         x->n, y->n, spry_type_name(x->type), spry_type_name(y->type),
                         x->ctx == y->ctx ? "" : ", of different contexts");
    if (x->device != y->device)
        return SPRY_FAIL(ctx, SPRY_STATUS_BAD_USAGE,
                         "permutation: the vectors are on %s and %s; spry_vector_copy() brings "
                         "them to one place",
                         place_name(x->device), place_name(y->device));
    if (vector_same(x, y))
        return SPRY_FAIL(ctx, SPRY_STATUS_BAD_USAGE,
                         "permutation: both vectors have the same numbers");
    SPRY_GO(ctx, matrix_invert(ctx, "perm", perm, x->n, &inverse)); /* which also checks it */
    SPRY_GO(ctx, algebra_gather(x, back ? inverse : perm, y));
done:
    base_free(ctx, inverse);
    return status;
}

spry_status spry_vector_permute(const spry_vector *x, const int32_t *perm, bool inverse,
                                spry_vector *y)
{
    SPRY_NEED(CTX_OF_ANY(x, y), x, perm, y);
    return move_elements(x, perm, inverse, y);
}
