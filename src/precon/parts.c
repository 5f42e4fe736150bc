/* Parts of the rows with their overlap, and their matrices. */
#include "precon/parts.h"

#include "matrix/algebra/graph.h"

#include <stdlib.h>

void parts_clear(parts *p)
{
    base_free(p->ctx, p->first);
    base_free(p->ctx, p->rows);
    base_free(p->ctx, p->mine);
}

/* Work of making parts: the rows found so far, which part has seen a row last, and the parts' own
 * rows in order. */
typedef struct finder {
    const graph *g;
    const int32_t *part;
    int32_t *seen, *found;
    int64_t count;
} finder;

static void take(finder *f, int32_t row, int32_t p)
{
    if (f->seen[row] == p)
        return;
    f->seen[row] = p;
    f->found[f->count++] = row;
}

static int by_number(const void *a, const void *b)
{
    const int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
    return (x > y) - (x < y);
}

/* The rows of a part, whose own ones stand in own[0..count-1], with its overlap, in order. */
static void find_rows(finder *f, int32_t p, const int32_t *own, int64_t count, int64_t overlap)
{
    f->count = 0;
    for (int64_t i = 0; i < count; i++)
        take(f, own[i], p);
    for (int64_t layer = 0, begin = 0; layer < overlap; layer++) {
        const int64_t end = f->count;
        for (int64_t i = begin; i < end; i++)
            for (int64_t k = f->g->offsets[f->found[i]]; k < f->g->offsets[f->found[i] + 1]; k++)
                take(f, f->g->neighbours[k], p);
        begin = end;
    }
    qsort(f->found, (size_t)f->count, sizeof *f->found, by_number);
}

/* Rows by their parts: own[begin[p]..begin[p + 1] - 1] are those of p. */
static void sort_rows(const int32_t *part, int64_t n, int64_t count, int64_t *begin, int32_t *own)
{
    memset(begin, 0, (size_t)(count + 2) * sizeof *begin);
    for (int64_t i = 0; i < n; i++)
        begin[part[i] + 2]++;
    for (int64_t k = 0; k < count; k++)
        begin[k + 2] += begin[k + 1];
    for (int64_t i = 0; i < n; i++)
        own[begin[part[i] + 1]++] = (int32_t)i;
}

/* Appends a part's rows. */
static spry_status append(parts *p, const finder *f, int32_t number, int64_t *room)
{
    spry_status status = SPRY_STATUS_OK;
    if (p->total + f->count > *room) {
        *room = (p->total + f->count) * 3 / 2;
        SPRY_GO(p->ctx, base_grow(p->ctx, p->total, *room, sizeof *p->rows, &p->rows));
        SPRY_GO(p->ctx, base_grow(p->ctx, p->total, *room, sizeof *p->mine, &p->mine));
    }
    for (int64_t i = 0; i < f->count; i++) {
        p->rows[p->total] = f->found[i];
        p->mine[p->total++] = f->part[f->found[i]] == number;
    }
    p->first[++p->count] = p->total;
done:
    return status;
}

spry_status parts_make(const spry_matrix *A, int64_t count, int64_t overlap, parts *p)
{
    spry_context *ctx = A->ctx;
    const int64_t n = A->a.rows;
    int64_t room = n, *begin = NULL;
    int32_t *part = NULL, *own = NULL;
    graph g = {0};
    finder f = {.g = &g};
    spry_status status = SPRY_STATUS_OK;
    count = count < n ? count : n;
    *p = (parts){.ctx = ctx, .n = n};
    SPRY_GO(ctx, graph_make(A, &g));
    SPRY_GO(ctx, base_alloc(ctx, n, sizeof *part, &part));
    SPRY_GO(ctx, base_alloc(ctx, n, sizeof *own, &own));
    SPRY_GO(ctx, base_alloc(ctx, n, sizeof *f.seen, &f.seen));
    SPRY_GO(ctx, base_alloc(ctx, n, sizeof *f.found, &f.found));
    SPRY_GO(ctx, base_alloc(ctx, count + 2, sizeof *begin, &begin));
    SPRY_GO(ctx, base_alloc(ctx, count + 1, sizeof *p->first, &p->first));
    SPRY_GO(ctx, base_alloc(ctx, room, sizeof *p->rows, &p->rows));
    SPRY_GO(ctx, base_alloc(ctx, room, sizeof *p->mine, &p->mine));
    p->first[0] = 0;
    if (n > 0)
        SPRY_GO(ctx, graph_partition(ctx, &g, (int32_t)count, part));
    f.part = part;
    for (int64_t i = 0; i < n; i++)
        f.seen[i] = -1;
    sort_rows(part, n, count, begin, own);
    for (int64_t k = 0; k < count; k++) {
        find_rows(&f, (int32_t)k, own + begin[k], begin[k + 1] - begin[k], overlap);
        if (f.count > 0)
            SPRY_GO(ctx, append(p, &f, (int32_t)k, &room));
    }
done:
    graph_clear(ctx, &g);
    base_free(ctx, begin);
    base_free(ctx, part);
    base_free(ctx, own);
    base_free(ctx, f.seen);
    base_free(ctx, f.found);
    return status;
}

/* --- matrices of parts ---------------------------------------------------------------------------
 */

/* Entries of A in the rows and columns of part k; `local` has -1 for all rows, and again after.
 * Where `to` has arrays they are filled. */
static int64_t extract(const spry_matrix *A, const parts *p, int64_t k, int32_t *local,
                       const matrix_arrays *to)
{
    const matrix_arrays *a = &A->a;
    const int32_t *rows = p->rows + p->first[k];
    const int64_t n = p->first[k + 1] - p->first[k];
    const size_t size = spry_type_size(a->type);
    int64_t count = 0;
    for (int64_t i = 0; i < n; i++)
        local[rows[i]] = (int32_t)i;
    for (int64_t i = 0; i < n; i++) {
        for (int64_t e = a->offsets[rows[i]]; e < a->offsets[rows[i] + 1]; e++) {
            if (local[a->col_index[e]] < 0)
                continue;
            if (to) {
                to->col_index[count] = local[a->col_index[e]];
                element_move(size, to->values, count, a->values, e);
            }
            count++;
        }
        if (to)
            to->offsets[i + 1] = count;
    }
    for (int64_t i = 0; i < n; i++)
        local[rows[i]] = -1;
    return count;
}

spry_status parts_matrix(const spry_matrix *A, const parts *p, int64_t k, int32_t *local,
                         spry_matrix **out)
{
    const int64_t n = p->first[k + 1] - p->first[k];
    matrix_arrays to = {.type = A->a.type,
                        .format = SPRY_FORMAT_CSR,
                        .rows = n,
                        .cols = n,
                        .nnz = extract(A, p, k, local, NULL)};
    const spry_status status = matrix_allocate(A->ctx, &to);
    *out = NULL;
    if (status != SPRY_STATUS_OK)
        return status;
    to.offsets[0] = 0;
    extract(A, p, k, local, &to);
    return matrix_wrap(A->ctx, &to, out);
}

spry_status parts_local(spry_context *ctx, int64_t n, int32_t **local)
{
    const spry_status status = base_alloc(ctx, n, sizeof **local, local);
    for (int64_t i = 0; status == SPRY_STATUS_OK && i < n; i++)
        (*local)[i] = -1;
    return status;
}

void parts_fill(const spry_matrix *A, const parts *p, int64_t k, int32_t *local, spry_matrix *part)
{
    extract(A, p, k, local, &part->a);
}
