/*
 * Patterns of sparse approximate inverses: what is large in A, and powers of that (L. Yu.
 * Kolotilina, Explicit preconditioning of systems with dense matrices, J. Sov. Math. 43 (1988);
 * E. Chow, A priori sparsity patterns for parallel sparse approximate inverse preconditioners, SIAM
 * J. Sci. Comput. 21 (2000), 1804-1822). Weights |a_ij| / max |a_i.| go along through the powers,
 * so that the largest are kept where a row has too many.
 */
#include "host/host.h"
#include "matrix/algebra/algebra.h"
#include "precon/inverse/local.h"

#include <stdlib.h>

static double size_of(spry_scalar v)
{
    return v.im == 0 ? fabs(v.re) : hypot(v.re, v.im);
}

static double row_most(const matrix_arrays *a, int64_t row)
{
    double most = 0;
    for (int64_t k = a->offsets[row]; k < a->offsets[row + 1]; k++)
        most = fmax(most, size_of(value_load(a->type, a->values, k)));
    return most;
}

/* The entries of a row that stay, with the diagonal; how many. Nothing is written where columns is
 * NULL, and no weights where those are. */
static int64_t thin_row(const matrix_arrays *a, int64_t row, double tau, int32_t *columns,
                        float *weights)
{
    const double most = tau < 1 || weights ? row_most(a, row) : 0;
    const int64_t end = a->offsets[row + 1];
    bool diagonal = false;
    int64_t count = 0;
    for (int64_t k = a->offsets[row]; k <= end; k++) {
        const int64_t j = k < end ? a->col_index[k] : a->cols;
        if (!diagonal && j >= row) {
            if (columns)
                columns[count] = (int32_t)row;
            if (weights)
                weights[count] = 1;
            diagonal = true;
            count++;
        }
        if (k == end || j == row)
            continue;
        const double size = tau < 1 || weights ? size_of(value_load(a->type, a->values, k)) : 0;
        if (tau < 1 && !(size > (1 - tau) * most))
            continue;
        if (columns)
            columns[count] = (int32_t)j;
        if (weights)
            weights[count] = (float)(most > 0 ? size / most : 0);
        count++;
    }
    return count;
}

spry_status local_thin(const spry_matrix *A, double tau, bool weigh, spry_matrix **S)
{
    spry_context *ctx = A->ctx;
    const matrix_arrays *a = &A->a;
    const int threads = host_threads(ctx, a->nnz);
    matrix_arrays to = {
        .format = SPRY_FORMAT_CSR, .type = SPRY_TYPE_S, .rows = a->rows, .cols = a->cols};
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(ctx, base_alloc(ctx, a->rows + 1, sizeof *to.offsets, &to.offsets));
    to.offsets[0] = 0;
#pragma omp parallel for num_threads(threads)
    for (int64_t i = 0; i < a->rows; i++)
        to.offsets[i + 1] = thin_row(a, i, tau, NULL, NULL);
    SPRY_GO(ctx, base_prefix_sum(ctx, to.offsets, a->rows));
    to.nnz = to.offsets[a->rows];
    SPRY_GO(ctx, base_alloc(ctx, to.nnz, sizeof *to.col_index, &to.col_index));
    if (weigh)
        SPRY_GO(ctx, base_alloc(ctx, to.nnz, sizeof(float), &to.values));
#pragma omp parallel for num_threads(threads)
    for (int64_t i = 0; i < a->rows; i++)
        thin_row(a, i, tau, to.col_index + to.offsets[i],
                 weigh ? (float *)to.values + to.offsets[i] : NULL);
done:
    return matrix_finish(ctx, status, &to, S);
}

/* --- rows that are too long ----------------------------------------------------------------------
 */

typedef struct weighted {
    float weight;
    int32_t column;
} weighted;

static int by_weight(const void *a, const void *b)
{
    const weighted *x = a, *y = b;
    if (x->weight != y->weight)
        return x->weight < y->weight ? 1 : -1;
    return x->column < y->column ? -1 : 1; /* columns differ */
}

static int by_column(const void *a, const void *b)
{
    return *(const int32_t *)a < *(const int32_t *)b ? -1 : 1;
}

/* Leaves the `most` heaviest entries of a row, the diagonal among them; room holds the row. */
static int64_t shorten(int64_t row, int64_t count, int64_t most, int32_t *columns,
                       const float *weights, weighted *room)
{
    for (int64_t k = 0; k < count; k++)
        room[k] = (weighted){columns[k] == row ? INFINITY : weights[k], columns[k]};
    qsort(room, (size_t)count, sizeof *room, by_weight);
    for (int64_t k = 0; k < most; k++)
        columns[k] = room[k].column;
    qsort(columns, (size_t)most, sizeof *columns, by_column);
    return most;
}

/* What is behind the entries that go moves up. */
spry_status local_cut(spry_matrix *P, bool lower, int64_t most)
{
    spry_context *ctx = P->ctx;
    matrix_arrays *a = &P->a;
    weighted *room = NULL;
    const int64_t longest = matrix_longest_row(ctx, a);
    int64_t at = 0;
    spry_status status = SPRY_STATUS_OK;
    if (longest <= most && !lower)
        return SPRY_STATUS_OK;
    SPRY_GO(ctx, base_alloc(ctx, longest, sizeof *room, &room));
    for (int64_t i = 0; i < a->rows; i++) {
        const int64_t begin = a->offsets[i];
        int64_t count = a->offsets[i + 1] - begin;
        int32_t *columns = a->col_index + begin;
        while (lower && count > 0 && columns[count - 1] > i)
            count--;
        if (count > most)
            count = shorten(i, count, most, columns, (const float *)a->values + begin, room);
        a->offsets[i] = at;
        memmove(a->col_index + at, columns, (size_t)count * sizeof *columns);
        at += count;
    }
    a->offsets[a->rows] = at;
    a->nnz = at;
done:
    base_free(ctx, room);
    return status;
}

/* --- the pattern ---------------------------------------------------------------------------------
 */

/* *W becomes other; frees what it was. */
static void replace(spry_matrix **W, spry_matrix *other)
{
    spry_matrix_free(*W);
    *W = other;
}

/* A power of what tau leaves of a matrix. */
static spry_status raise(const spry_matrix *from, const local_pattern *how, bool weigh,
                         spry_matrix **P)
{
    spry_context *ctx = from->ctx;
    spry_matrix *S = NULL, *W = NULL, *next = NULL;
    spry_status status = SPRY_STATUS_OK;
    *P = NULL;
    SPRY_GO(ctx, local_thin(from, how->tau, weigh, &S));
    for (int64_t k = 1; k < how->power; k++) {
        SPRY_GO(ctx, algebra_multiply(W ? W : S, S, false, false, &next));
        replace(&W, next);
    }
    if (W)
        replace(&S, W);
    W = NULL;
    *P = S;
    S = NULL;
done:
    spry_matrix_free(S);
    spry_matrix_free(W);
    return status;
}

spry_status local_pattern_make(const spry_matrix *A, const spry_matrix *T, const local_pattern *how,
                               spry_matrix **P)
{
    spry_context *ctx = A->ctx;
    /* Where all entries stay, A^T's own powers have the pattern; weights are those of A's rows. */
    const bool direct = T && how->transposed && how->tau >= 1;
    bool transposes = how->transposed && !direct;
    spry_matrix *S = NULL, *next = NULL;
    spry_status status = SPRY_STATUS_OK;
    *P = NULL;
    if (direct) {
        SPRY_GO(
            ctx,
            raise(T, how, how->power > 1 || matrix_longest_row(T->ctx, &T->a) + 1 > how->most, &S));
        transposes = how->power > 1 && matrix_longest_row(S->ctx, &S->a) > how->most;
    }
    if (!direct || transposes) {
        replace(&S, NULL);
        SPRY_GO(ctx, raise(A, how,
                           how->power > 1 || transposes ||
                               matrix_longest_row(A->ctx, &A->a) + 1 > how->most,
                           &S));
    }
    if (transposes) {
        SPRY_GO(ctx, spry_matrix_transpose(S, false, &next));
        replace(&S, next);
    }
    SPRY_GO(ctx, local_cut(S, how->lower, how->most));
    base_free(ctx, S->a.values);
    S->a.values = NULL;
    *P = S;
    S = NULL;
done:
    spry_matrix_free(S);
    return status;
}
