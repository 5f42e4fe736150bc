/* Making orders and triangles, and solving with them. */
#include "precon/triangle.h"

#include <omp.h>

void relax_order_clear(spry_context *ctx, relax_order *order)
{
    base_free(ctx, order->set);
    base_free(ctx, order->first);
    base_free(ctx, order->rows);
    *order = (relax_order){0};
}

spry_status relax_order_make(const spry_matrix *A, bool natural, relax_order *order)
{
    spry_context *ctx = A->ctx;
    const int64_t n = A->a.rows;
    int64_t *next = NULL;
    spry_status status = SPRY_OK;
    *order = (relax_order){.n = n, .sets = n};
    if (natural)
        return SPRY_OK;
    SPRY_GO(ctx, base_alloc(ctx, n, sizeof *order->set, &order->set));
    SPRY_GO(ctx, matrix_colour(A, order->set, &order->sets));
    SPRY_GO(ctx, base_calloc(ctx, order->sets + 1, sizeof *order->first, &order->first));
    SPRY_GO(ctx, base_alloc(ctx, n, sizeof *order->rows, &order->rows));
    for (int64_t i = 0; i < n; i++)
        order->first[order->set[i] + 1]++;
    for (int64_t s = 0; s < order->sets; s++)
        order->first[s + 1] += order->first[s];
    SPRY_GO(ctx, base_alloc(ctx, order->sets, sizeof *next, &next));
    memcpy(next, order->first, (size_t)order->sets * sizeof *next);
    for (int64_t i = 0; i < n; i++)
        order->rows[next[order->set[i]]++] = (int32_t)i;
done:
    base_free(ctx, next);
    if (status != SPRY_OK)
        relax_order_clear(ctx, order);
    return status;
}

void relax_triangle_clear(spry_context *ctx, relax_triangle *s)
{
    base_free(ctx, s->offsets);
    base_free(ctx, s->columns);
    base_free(ctx, s->values);
    base_free(ctx, s->rows);
    *s = (relax_triangle){0};
}

/* Whether entry (i, j) belongs to the triangle. */
static bool belongs(const relax_triangle *s, int64_t i, int64_t j)
{
    const int32_t *set = s->order->set;
    const int64_t from = set ? set[i] : i, to = set ? set[j] : j;
    return s->upper ? to > from : to < from;
}

static int64_t count_row(const relax_triangle *s, const spry_arrays *a, int64_t i)
{
    int64_t count = 0;
    for (int64_t k = a->offsets[i]; k < a->offsets[i + 1]; k++)
        count += belongs(s, i, a->col_index[k]);
    return count;
}

static void fill_row(const relax_triangle *s, const spry_arrays *a, int64_t i, spry_scalar f,
                     int64_t to)
{
    for (int64_t k = a->offsets[i]; k < a->offsets[i + 1]; k++) {
        if (!belongs(s, i, a->col_index[k]))
            continue;
        const spry_scalar v = value_get(a->type, a->values, k);
        s->columns[to] = a->col_index[k];
        value_set(a->type, s->values, to++,
                  (spry_scalar){f.re * v.re - f.im * v.im, f.re * v.im + f.im * v.re});
    }
}

/* Row k of the triangle becomes which row of A. */
static int32_t row_at(const relax_triangle *s, int64_t k)
{
    const int64_t at = s->upper ? s->order->n - 1 - k : k;
    return s->order->rows ? s->order->rows[at] : (int32_t)at;
}

spry_status relax_triangle_make(const spry_matrix *A, const relax_order *order, bool upper,
                                const spry_vector *scale, relax_triangle *s)
{
    spry_context *ctx = A->ctx;
    const spry_arrays *a = &A->a;
    const int64_t n = order->n;
    const int threads = host_threads(ctx, a->nnz + n);
    spry_status status = SPRY_OK;
    *s =
        (relax_triangle){.kernels = host_kernels_for(ctx, a->type), .order = order, .upper = upper};
    SPRY_GO(ctx, base_alloc(ctx, n, sizeof *s->rows, &s->rows));
    SPRY_GO(ctx, base_alloc(ctx, n + 1, sizeof *s->offsets, &s->offsets));
    s->offsets[0] = 0;
#pragma omp parallel for num_threads(threads) schedule(dynamic, 4096)
    for (int64_t k = 0; k < n; k++) {
        s->rows[k] = row_at(s, k);
        s->offsets[k + 1] = count_row(s, a, s->rows[k]);
    }
    SPRY_GO(ctx, base_prefix_sum(ctx, s->offsets, n));
    SPRY_GO(ctx, base_alloc(ctx, s->offsets[n], sizeof *s->columns, &s->columns));
    SPRY_GO(ctx, base_alloc(ctx, s->offsets[n], spry_type_size(a->type), &s->values));
#pragma omp parallel for num_threads(threads) schedule(dynamic, 4096)
    for (int64_t k = 0; k < n; k++)
        fill_row(s, a, s->rows[k], value_get(a->type, scale->data, s->rows[k]), s->offsets[k]);
    s->csr = (host_csr){s->offsets, s->columns, s->values};
done:
    if (status != SPRY_OK)
        relax_triangle_clear(ctx, s);
    return status;
}

int64_t relax_triangle_bytes(const relax_triangle *s, spry_type type)
{
    const int64_t n = s->order->n;
    return s->offsets[n] * (4 + (int64_t)spry_type_size(type)) + (n + 1) * 8 + n * 4;
}

/* The rows of the triangle that are solved as set t. */
static range find_set(const relax_triangle *s, int64_t t)
{
    const relax_order *o = s->order;
    if (!s->upper)
        return (range){o->first[t], o->first[t + 1]};
    return (range){o->n - o->first[o->sets - t], o->n - o->first[o->sets - 1 - t]};
}

void relax_triangle_run(const spry_context *ctx, const relax_triangle *s, bool conjugate,
                        const void *f, const void *r, void *z)
{
    const relax_order *o = s->order;
    const int threads = o->set ? host_threads(ctx, s->offsets[o->n] + o->n) : 1;
    if (threads == 1) {
        s->kernels->csr_solve(&s->csr, 0, o->n, conjugate, s->rows, f, r, z);
        return;
    }
#pragma omp parallel num_threads(threads)
    for (int64_t t = 0; t < o->sets; t++) {
        const range set = find_set(s, t);
        const range mine =
            base_share(set.end - set.begin, omp_get_num_threads(), omp_get_thread_num(), 1);
        s->kernels->csr_solve(&s->csr, set.begin + mine.begin, set.begin + mine.end, conjugate,
                              s->rows, f, r, z);
#pragma omp barrier
    }
}
