/*
 * How the ordering of rows and columns suits the caches: what a product with A fetches of x, and
 * whether another ordering could make that less. Both look at samples, in a time that does not grow
 * with the matrix.
 */
#include "matrix/algebra/algebra.h"

#include <stdlib.h>

enum { LINE = 64 }; /* bytes that come from memory together */

/* A sample of rows that are neighbours in some ordering. */
enum { WINDOW = 1024, WINDOWS = 16 };

/* Marks the lines of x that row i needs; how many of them were not marked before. `to`: where
 * columns stand, NULL: where they are. */
static int64_t mark_row(const matrix_arrays *a, int64_t i, const int32_t *to, int64_t per_line,
                        unsigned char *marks, bool value)
{
    int64_t fresh = 0;
    for (int64_t k = a->offsets[i]; k < a->offsets[i + 1]; k++) {
        const int64_t j = to ? to[a->col_index[k]] : a->col_index[k], line = j / per_line;
        fresh += marks[line] != value;
        marks[line] = value;
    }
    return fresh;
}

spry_status algebra_lines(spry_context *ctx, const matrix_arrays *a, const int32_t *from,
                          const int32_t *to, double *per_row)
{
    const int64_t per_line = LINE / (int64_t)spry_type_size(a->type);
    const int64_t rows = a->rows < WINDOW ? a->rows : WINDOW, free_rows = a->rows - rows;
    unsigned char *marks = NULL;
    int64_t lines = 0;
    *per_row = 0;
    const spry_status status = base_calloc(ctx, a->cols / per_line + 1, 1, &marks);
    for (int w = 0; status == SPRY_STATUS_OK && w < WINDOWS; w++) {
        const int64_t begin = free_rows * w / (WINDOWS - 1);
        for (int64_t i = begin; i < begin + rows; i++)
            lines += mark_row(a, from ? from[i] : i, to, per_line, marks, true);
        for (int64_t i = begin; i < begin + rows; i++)
            mark_row(a, from ? from[i] : i, to, per_line, marks, false);
    }
    base_free(ctx, marks);
    if (rows > 0)
        *per_row = (double)lines / (double)(WINDOWS * rows);
    return status;
}

/* Rows around one, by a search to neighbours and theirs: how many of `most`, and in the queue after
 * them the others that they need x of. Stops where that takes more than `limit` of these. */
static int64_t grow(const matrix_arrays *a, int32_t start, int64_t most, int64_t limit,
                    unsigned char *seen, int32_t *queue, int64_t *needed)
{
    int64_t head = 0, tail = 1;
    queue[0] = start;
    seen[start] = 1;
    for (; head < tail && head < most && tail < limit; head++)
        for (int64_t k = a->offsets[queue[head]]; k < a->offsets[queue[head] + 1]; k++) {
            const int32_t j = a->col_index[k];
            if (tail < limit && !seen[j]) {
                seen[j] = 1;
                queue[tail++] = j;
            }
        }
    for (int64_t i = 0; i < tail; i++)
        seen[queue[i]] = 0;
    *needed = tail;
    return head;
}

spry_status algebra_expansion(spry_context *ctx, const matrix_arrays *a, double *ratio)
{
    enum { STARTS = 8, LIMIT = 64 * WINDOW };
    unsigned char *seen = NULL;
    int32_t *queue = NULL;
    int64_t rows = 0, all = 0;
    spry_status status = SPRY_STATUS_OK;
    *ratio = 1;
    SPRY_GO(ctx, base_calloc(ctx, a->rows, 1, &seen));
    SPRY_GO(ctx, base_alloc(ctx, LIMIT, sizeof *queue, &queue));
    for (int s = 0; s < STARTS && a->rows > 0; s++) {
        int64_t needed = 0;
        int32_t start = (int32_t)((a->rows - 1) * (2 * s + 1) / (2 * STARTS));
        while (start < a->rows - 1 && a->offsets[start + 1] - a->offsets[start] < 2)
            start++; /* there is nothing to gather around a row alone */
        rows += grow(a, start, WINDOW, LIMIT, seen, queue, &needed);
        all += needed;
    }
    if (rows > 0)
        *ratio = (double)all / (double)rows;
done:
    base_free(ctx, queue);
    base_free(ctx, seen);
    return status;
}

spry_status algebra_count_columns(spry_context *ctx, const matrix_arrays *a, int32_t **counts)
{
    const spry_status status = base_calloc(ctx, a->cols, sizeof **counts, counts);
    for (int64_t k = 0; status == SPRY_STATUS_OK && k < a->nnz; k++)
        (*counts)[a->col_index[k]]++;
    return status;
}

static int descending(const void *a, const void *b)
{
    const int64_t p = *(const int64_t *)a, q = *(const int64_t *)b;
    return (p < q) - (p > q);
}

/* The part of all entries that are in columns of the `most` lines with the most of them. */
static double hottest(const matrix_arrays *a, const int32_t *counts, const int32_t *from,
                      int64_t most, int64_t *lines)
{
    const int64_t per_line = LINE / (int64_t)spry_type_size(a->type);
    const int64_t all = (a->cols + per_line - 1) / per_line;
    int64_t near = 0;
    memset(lines, 0, (size_t)all * sizeof *lines);
    for (int64_t j = 0; j < a->cols; j++)
        lines[j / per_line] += counts[from ? from[j] : j];
    qsort(lines, (size_t)all, sizeof *lines, descending);
    for (int64_t l = 0; l < all && l < most; l++)
        near += lines[l];
    return a->nnz > 0 ? (double)near / (double)a->nnz : 1;
}

spry_status algebra_hot_share(spry_context *ctx, const matrix_arrays *a, const int32_t *from,
                              double cache, double *as_is, double *in_order)
{
    int32_t *counts = NULL;
    int64_t *lines = NULL;
    const int64_t most = (int64_t)(cache / LINE);
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(ctx, algebra_count_columns(ctx, a, &counts));
    SPRY_GO(ctx, base_alloc(ctx, a->cols, sizeof *lines, &lines));
    *as_is = hottest(a, counts, NULL, most, lines);
    *in_order = hottest(a, counts, from, most, lines);
done:
    base_free(ctx, lines);
    base_free(ctx, counts);
    return status;
}

/* The matrix of blocks: an entry where any of a block is. Columns of a row are in the order in
 * which they are met. */
static spry_status condense(const spry_matrix *A, int block, spry_matrix **nodes)
{
    spry_context *ctx = A->ctx;
    const matrix_arrays *a = &A->a;
    matrix_arrays c = {.type = SPRY_TYPE_S,
                       .format = SPRY_FORMAT_CSR,
                       .rows = a->rows / block,
                       .cols = a->cols / block,
                       .nnz = a->nnz};
    int32_t *last = NULL; /* the row that met a column last */
    int64_t count = 0;
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(ctx, base_alloc(ctx, c.cols, sizeof *last, &last));
    memset(last, 0xff, (size_t)c.cols * sizeof *last);
    SPRY_GO(ctx, matrix_allocate(ctx, &c));
    c.offsets[0] = 0;
    for (int32_t i = 0; i < c.rows; i++) {
        for (int64_t k = a->offsets[(int64_t)i * block]; k < a->offsets[(int64_t)(i + 1) * block];
             k++) {
            const int32_t j = a->col_index[k] / block;
            if (last[j] != i)
                c.col_index[count++] = j;
            last[j] = i;
        }
        c.offsets[i + 1] = count;
    }
    c.nnz = count;
    memset(c.values, 0, (size_t)count * sizeof(float));
    status = matrix_wrap(ctx, &c, nodes);
done:
    base_free(ctx, last);
    return status;
}

spry_status algebra_order_blocks(const spry_matrix *A, int block, algebra_finder *find,
                                 const void *how, int32_t **perm)
{
    spry_context *ctx = A->ctx;
    spry_matrix *nodes = NULL;
    int32_t *of_nodes = NULL;
    spry_status status = SPRY_STATUS_OK;
    *perm = NULL;
    if (block == 1)
        return find(A, how, perm);
    SPRY_GO(ctx, condense(A, block, &nodes));
    SPRY_GO(ctx, find(nodes, how, &of_nodes));
    if (!of_nodes)
        goto done;
    SPRY_GO(ctx, base_alloc(ctx, A->a.rows, sizeof **perm, perm));
    for (int64_t i = 0; i < A->a.rows; i++)
        (*perm)[i] = of_nodes[i / block] * block + (int32_t)(i % block);
done:
    base_free(ctx, of_nodes);
    spry_matrix_free(nodes);
    return status;
}
