/* Transposes of distributed matrices, and facts that depend on entries of several ranks. */
#include "ranks/distributed.h"

#include "matrix/entries.h"

#include <stdlib.h>

/* An entry on its way to the rank that has its column. */
typedef struct travelling {
    int64_t row, col; /* over all ranks */
    spry_scalar value;
    double root; /* sqrt |a_ii| of its row */
} travelling;

/* Entries of other ranks' columns are sent to them: what comes in is in the order of ranks, and of
 * their rows. */
typedef struct traffic {
    int64_t out_count, in_count;
    travelling *out, *in;
    int64_t *send_bytes, *receive_bytes, *eights;
} traffic;

static void traffic_free(spry_context *ctx, traffic *t)
{
    void *const arrays[] = {t->out, t->in, t->send_bytes, t->receive_bytes, t->eights};
    for (size_t k = 0; k < sizeof arrays / sizeof *arrays; k++)
        base_free(ctx, arrays[k]);
}

/* The neighbour that a ghost comes from. */
static const dist_neighbour *neighbour_of(const distributed *s, int64_t ghost)
{
    int k = 0;
    while (ghost >= s->receive[k].first + s->receive[k].count)
        k++;
    return &s->receive[k];
}

/* Calls with each ghost entry: its place in `edge`, and its ghost. */
static void fill_out(const spry_matrix *A, const double *root, traffic *t)
{
    const distributed *s = A->distributed;
    const matrix_arrays *a = &s->edge->a;
    const int64_t first = s->row_starts[team_rank(A->ctx)];
    int64_t *at = t->eights; /* where the next entry for a rank goes */
    int64_t sum = 0;
    for (int r = 0; r < team_ranks(A->ctx); r++) {
        at[r] = sum;
        sum += t->send_bytes[r] / (int64_t)sizeof *t->out;
    }
    for (int64_t e = 0; e < s->edges; e++)
        for (int64_t k = a->offsets[e]; k < a->offsets[e + 1]; k++) {
            const int64_t ghost = a->col_index[k] - s->kept;
            if (ghost < 0)
                continue;
            t->out[at[neighbour_of(s, ghost)->rank]++] =
                (travelling){.row = first + s->edge_rows[e],
                             .col = s->ghost_cols[ghost],
                             .value = value_get(a->type, a->values, k),
                             .root = root ? root[s->edge_rows[e]] : 0};
        }
}

/* Sends each entry of others' columns to them. */
static spry_status send_entries(const spry_matrix *A, const double *root, traffic *t)
{
    spry_context *ctx = A->ctx;
    const distributed *s = A->distributed;
    const matrix_arrays *a = &s->edge->a;
    const int ranks = team_ranks(ctx);
    const int64_t size = (int64_t)sizeof *t->out;
    spry_status status = base_calloc(ctx, ranks, sizeof *t->send_bytes, &t->send_bytes);
    if (status == SPRY_STATUS_OK)
        status = base_calloc(ctx, ranks, sizeof *t->receive_bytes, &t->receive_bytes);
    if (status == SPRY_STATUS_OK)
        status = base_calloc(ctx, ranks, sizeof *t->eights, &t->eights);
    for (int64_t k = 0; status == SPRY_STATUS_OK && k < a->nnz; k++)
        if (a->col_index[k] >= s->kept) {
            t->send_bytes[neighbour_of(s, a->col_index[k] - s->kept)->rank] += size;
            t->out_count++;
        }
    if (status == SPRY_STATUS_OK)
        status = base_alloc(ctx, t->out_count, sizeof *t->out, &t->out);
    SPRY_GO(ctx, team_agree(ctx, status));
    fill_out(A, root, t);
    for (int r = 0; r < ranks; r++)
        t->eights[r] = (int64_t)sizeof *t->eights;
    SPRY_GO(ctx, team_swap(ctx, t->eights, t->send_bytes, t->eights, t->receive_bytes));
    for (int r = 0; r < ranks; r++)
        t->in_count += t->receive_bytes[r] / size;
    SPRY_GO(ctx, team_agree(ctx, base_alloc(ctx, t->in_count, sizeof *t->in, &t->in)));
    SPRY_GO(ctx, team_swap(ctx, t->send_bytes, t->out, t->receive_bytes, t->in));
done:
    return status;
}

/* --- the transpose -------------------------------------------------------------------------------
 */

/* Rows of the transpose, with entries in the order of their columns: those of lower ranks, own
 * ones, those of higher. */
typedef struct turned {
    int64_t *offsets, *columns, *next;
    char *values;
} turned;

static void turned_free(spry_context *ctx, turned *t)
{
    base_free(ctx, t->offsets);
    base_free(ctx, t->columns);
    base_free(ctx, t->next);
    base_free(ctx, t->values);
}

static void put(const spry_matrix *A, turned *t, bool conjugate, int64_t row, int64_t col,
                spry_scalar v)
{
    const int64_t k = t->next[row]++;
    t->columns[k] = col;
    if (conjugate)
        v.im = -v.im;
    value_set(A->a.type, t->values, k, v);
}

static void put_incoming(const spry_matrix *A, turned *t, bool conjugate, const traffic *in,
                         bool lower)
{
    const int64_t first_row = A->distributed->row_starts[team_rank(A->ctx)];
    const int64_t first_col = A->distributed->col_starts[team_rank(A->ctx)];
    for (int64_t k = 0; k < in->in_count; k++)
        if ((in->in[k].row < first_row) == lower)
            put(A, t, conjugate, in->in[k].col - first_col, in->in[k].row, in->in[k].value);
}

static spry_status turn(const spry_matrix *A, bool conjugate, const traffic *in, turned *t)
{
    spry_context *ctx = A->ctx;
    const matrix_arrays *a = &A->distributed->own->a;
    const int64_t first_row = A->distributed->row_starts[team_rank(ctx)];
    const int64_t first_col = A->distributed->col_starts[team_rank(ctx)];
    const int64_t rows = a->cols, nnz = a->nnz + in->in_count;
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(ctx, base_calloc(ctx, rows + 1, sizeof *t->offsets, &t->offsets));
    SPRY_GO(ctx, base_alloc(ctx, rows + 1, sizeof *t->next, &t->next));
    SPRY_GO(ctx, base_alloc(ctx, nnz, sizeof *t->columns, &t->columns));
    SPRY_GO(ctx, base_alloc(ctx, nnz, spry_type_size(a->type), &t->values));
    for (int64_t k = 0; k < a->nnz; k++)
        t->offsets[a->col_index[k] + 1]++;
    for (int64_t k = 0; k < in->in_count; k++)
        t->offsets[in->in[k].col - first_col + 1]++;
    for (int64_t i = 0; i < rows; i++)
        t->offsets[i + 1] += t->offsets[i];
    memcpy(t->next, t->offsets, (size_t)(rows + 1) * sizeof *t->next);
    put_incoming(A, t, conjugate, in, true);
    for (int64_t i = 0; i < a->rows; i++)
        for (int64_t k = a->offsets[i]; k < a->offsets[i + 1]; k++)
            put(A, t, conjugate, a->col_index[k], first_row + i, value_get(a->type, a->values, k));
    put_incoming(A, t, conjugate, in, false);
done:
    return status;
}

spry_status dist_transpose(const spry_matrix *A, bool conjugate, spry_matrix **T)
{
    spry_context *ctx = A->ctx;
    traffic in = {0};
    turned t = {0};
    spry_status status = SPRY_STATUS_OK;
    *T = NULL;
    SPRY_GO(ctx, send_entries(A, NULL, &in));
    SPRY_GO(ctx, team_agree(ctx, turn(A, conjugate, &in, &t)));
    const dist_rows rows = {.type = A->a.type,
                            .rows = A->a.cols,
                            .cols = A->a.rows,
                            .offsets = t.offsets,
                            .columns = t.columns,
                            .values = t.values};
    SPRY_GO(ctx, dist_make_as(ctx, A->distributed->class, &rows, T));
done:
    traffic_free(ctx, &in);
    turned_free(ctx, &t);
    return status;
}

/* --- facts ---------------------------------------------------------------------------------------
 */

/* An own row's entry in a column of another rank; -1: there is none. */
static int64_t find_ghost_entry(const distributed *s, int64_t row, int64_t col)
{
    const matrix_arrays *a = &s->edge->a;
    const int64_t at = matrix_first_index(s->edge_rows, 0, s->edges, row);
    if (at == s->edges || s->edge_rows[at] != row)
        return -1;
    for (int64_t k = a->offsets[at]; k < a->offsets[at + 1]; k++)
        if (a->col_index[k] >= s->kept && s->ghost_cols[a->col_index[k] - s->kept] == col)
            return k;
    return -1;
}

/* Own entries compared with those that came in: every entry between two ranks is looked at by one
 * of them. */
static void compare(const spry_matrix *A, const traffic *in, const double *root,
                    matrix_mirror *found)
{
    const distributed *s = A->distributed;
    const matrix_arrays *a = &s->edge->a;
    const int64_t first = s->row_starts[team_rank(A->ctx)];
    const double tolerance = matrix_mirror_tolerance(type_is_single(a->type));
    for (int64_t n = 0; n < in->in_count; n++) {
        const travelling *t = &in->in[n];
        const int64_t i = t->col - first, k = find_ghost_entry(s, i, t->row);
        const spry_scalar none = {0, 0}, v = t->value,
                          w = k < 0 ? none : value_get(a->type, a->values, k);
        const double size = fmax(root[i] * t->root, fmax(value_rough(v), value_rough(w)));
        const double apart = fabs(v.re - w.re);
        found->pattern = found->pattern && k >= 0;
        found->symmetric = found->symmetric && apart + fabs(v.im - w.im) <= tolerance * size;
        found->hermitian = found->hermitian && apart + fabs(v.im + w.im) <= tolerance * size;
    }
}

/* All or nothing, over all ranks. */
static spry_status everywhere(spry_context *ctx, bool *yes)
{
    bool any_not = false;
    const spry_status status = team_any(ctx, !*yes, &any_not);
    *yes = !any_not;
    return status;
}

static spry_status find_mirror(spry_context *ctx, const spry_matrix *A)
{
    const distributed *s = A->distributed;
    matrix_mirror found = {0};
    traffic in = {0};
    double *root = NULL;
    const spry_matrix *own = NULL;
    spry_matrix *sorted = NULL; /* where callers gave entries in another order */
    spry_status status = SPRY_STATUS_OK;
    if (s->square) {
        status = matrix_as_sorted_csr(s->own, &own, &sorted);
        if (status == SPRY_STATUS_OK)
            status = matrix_diagonal_roots(ctx, &own->a, &root);
        if (status == SPRY_STATUS_OK)
            status = matrix_compare_mirror(ctx, own, true, &found);
        SPRY_GO(ctx, team_agree(ctx, status));
        SPRY_GO(ctx, send_entries(A, root, &in));
        compare(A, &in, root, &found);
    }
    SPRY_GO(ctx, everywhere(ctx, &found.pattern));
    SPRY_GO(ctx, everywhere(ctx, &found.symmetric));
    SPRY_GO(ctx, everywhere(ctx, &found.hermitian));
    matrix_note(A, SPRY_FACT_PATTERN_SYMMETRIC, found.pattern);
    matrix_note(A, SPRY_FACT_SYMMETRIC, found.symmetric);
    matrix_note(A, SPRY_FACT_HERMITIAN, found.hermitian);
done:
    traffic_free(ctx, &in);
    base_free(ctx, root);
    spry_matrix_free(sorted);
    return status;
}

spry_status dist_find_out(spry_context *ctx, const spry_matrix *A, spry_fact fact)
{
    const distributed *s = A->distributed;
    bool yes = false, edge = true;
    spry_status status = SPRY_STATUS_OK;
    if (fact == SPRY_FACT_PATTERN_SYMMETRIC || fact == SPRY_FACT_SYMMETRIC ||
        fact == SPRY_FACT_HERMITIAN)
        return find_mirror(ctx, A);
    status = matrix_find_out(ctx, s->own, fact, &yes);
    if (status == SPRY_STATUS_OK && fact == SPRY_FACT_FINITE)
        status = matrix_find_out(ctx, s->edge, fact, &edge);
    SPRY_GO(ctx, team_agree(ctx, status));
    yes = yes && edge;
    SPRY_GO(ctx, everywhere(ctx, &yes));
    matrix_note(A, fact, yes);
done:
    return status;
}

spry_status dist_check_values(const spry_matrix *A)
{
    if (!A->distributed)
        return matrix_check_values(A);
    spry_status status = matrix_check_values(A->distributed->own);
    if (status == SPRY_STATUS_OK)
        status = matrix_check_values(A->distributed->edge);
    return team_agree(A->ctx, status);
}
