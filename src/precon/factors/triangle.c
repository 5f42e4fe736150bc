/* Triangles of patterns and matrices, in the order of their sets. */
#include "precon/factors/triangle.h"

#include "matrix/entries.h"

void triangle_clear(spry_context *ctx, triangle *t)
{
    base_free(ctx, t->offsets);
    base_free(ctx, t->columns);
    base_free(ctx, t->values);
    *t = (triangle){0};
}

int64_t triangle_bytes(const triangle *t)
{
    const int64_t n = t->sets->n;
    return matrix_csr_bytes(t->type, n, t->offsets[n]);
}

/* Turns the lengths of rows in offsets[k + 1] into offsets, and allocates the rest. */
static spry_status allocate(spry_context *ctx, triangle *t)
{
    const int64_t n = t->sets->n;
    spry_status status = SPRY_STATUS_OK;
    t->offsets[0] = 0;
    SPRY_GO(ctx, base_prefix_sum(ctx, t->offsets, n));
    SPRY_GO(ctx, base_alloc(ctx, t->offsets[n], sizeof *t->columns, &t->columns));
    SPRY_GO(ctx, base_alloc(ctx, t->offsets[n], spry_type_size(t->type), &t->values));
done:
    return status;
}

/* Which row of A is at a place, and where a column is. */
static int64_t row_of(const triangle_sets *s, int64_t place)
{
    return s->rows ? s->rows[place] : place;
}
static int32_t place_of(const triangle_sets *s, int32_t row)
{
    return s->places ? s->places[row] : row;
}

static int64_t count_row(const triangle *t, const triangle_pattern *p, int64_t k)
{
    const int64_t i = row_of(t->sets, k);
    int64_t count = 0;
    for (int64_t e = p->offsets[i]; e < p->offsets[i + 1]; e++) {
        const int64_t j = place_of(t->sets, p->columns[e]);
        count += t->upper ? j > k : j < k;
    }
    return count;
}

/* The columns of a row, which were in the order of A's rows. */
static void fill_columns(const triangle *t, const triangle_pattern *p, int64_t k)
{
    const int64_t i = row_of(t->sets, k), begin = t->offsets[k];
    int64_t to = begin;
    bool sorted = true;
    for (int64_t e = p->offsets[i]; e < p->offsets[i + 1]; e++) {
        const int32_t j = place_of(t->sets, p->columns[e]);
        if (t->upper ? j <= k : j >= k)
            continue;
        sorted = sorted && (to == begin || t->columns[to - 1] < j);
        t->columns[to++] = j;
    }
    if (!sorted)
        matrix_sort_columns(t->columns + begin, to - begin);
}

/* Where an entry of a row is; -1: there is none. */
static int64_t find_entry(const triangle *t, int64_t k, int32_t column)
{
    int64_t low = t->offsets[k], high = t->offsets[k + 1];
    while (high - low > 8) {
        const int64_t middle = low + (high - low) / 2;
        if (t->columns[middle] <= column)
            low = middle;
        else
            high = middle;
    }
    while (low < high && t->columns[low] != column)
        low++;
    return low < high ? low : -1;
}

ALWAYS_INLINE void fill_values(size_t size, const triangle *t, const triangle_pattern *p,
                               const void *values, int64_t k)
{
    const int64_t i = row_of(t->sets, k);
    for (int64_t e = p->offsets[i]; e < p->offsets[i + 1]; e++) {
        const int32_t j = place_of(t->sets, p->columns[e]);
        const int64_t to = (t->upper ? j > k : j < k) ? find_entry(t, k, j) : -1;
        if (to >= 0)
            element_move(size, t->values, to, values, e);
    }
}

static void fill_any_values(const triangle *t, const triangle_pattern *p, const void *values,
                            int64_t k)
{
    switch (spry_type_size(t->type)) {
    case 4:
        fill_values(4, t, p, values, k);
        break;
    case 8:
        fill_values(8, t, p, values, k);
        break;
    default:
        fill_values(16, t, p, values, k);
    }
}

static void fill_row(const triangle *t, const triangle_pattern *p, const void *values, int64_t k)
{
    fill_columns(t, p, k);
    if (values)
        fill_any_values(t, p, values, k);
}

void triangle_load(const spry_context *ctx, const spry_matrix *A, triangle *t)
{
    const triangle_pattern p = {.offsets = A->a.offsets, .columns = A->a.col_index};
    const int64_t n = t->sets->n;
    memset(t->values, 0, (size_t)t->offsets[n] * spry_type_size(t->type));
#pragma omp parallel for num_threads(host_threads(ctx, t->offsets[n])) schedule(static)
    for (int64_t k = 0; k < n; k++)
        fill_any_values(t, &p, A->a.values, k);
}

spry_status triangle_of_pattern(spry_context *ctx, const triangle_pattern *p, const void *values,
                                const triangle_sets *sets, spry_type type, bool upper, triangle *t)
{
    const int64_t n = sets->n;
    const int threads = host_threads(ctx, p->offsets[n] + n);
    spry_status status = SPRY_STATUS_OK;
    *t = (triangle){.sets = sets, .type = type, .upper = upper};
    SPRY_GO(ctx, base_alloc(ctx, n + 1, sizeof *t->offsets, &t->offsets));
#pragma omp parallel for num_threads(threads) schedule(static)
    for (int64_t k = 0; k < n; k++)
        t->offsets[k + 1] = count_row(t, p, k);
    SPRY_GO(ctx, allocate(ctx, t));
#pragma omp parallel for num_threads(threads) schedule(static)
    for (int64_t k = 0; k < n; k++)
        fill_row(t, p, values, k);
done:
    if (status != SPRY_STATUS_OK)
        triangle_clear(ctx, t);
    return status;
}

/* The length of row k of the lower triangle, or of both. */
static int64_t count_lower(const triangle_pattern *p, const triangle_sets *sets, int64_t k,
                           int64_t *both)
{
    const int64_t i = row_of(sets, k), end = p->offsets[i + 1];
    int64_t lower = 0;
    if (p->sorted && sets->natural) {
        int64_t e = p->offsets[i];
        while (e < end && p->columns[e] < i)
            e++;
        lower = e - p->offsets[i];
        *both = end - p->offsets[i] - (e < end && p->columns[e] == i);
        return lower;
    }
    *both = 0;
    for (int64_t e = p->offsets[i]; e < end; e++) {
        const int32_t j = p->columns[e];
        *both += j != i;
        lower += sets->natural ? j < i : place_of(sets, j) < k;
    }
    return lower;
}

/* The columns of row k of both triangles. */
static void fill_both(const triangle_pattern *p, const triangle_sets *sets, int64_t k,
                      triangle t[2])
{
    const int64_t i = row_of(sets, k), end = p->offsets[i + 1];
    int32_t *to[2] = {t[0].columns + t[0].offsets[k], t[1].columns + t[1].offsets[k]};
    int32_t last[2] = {-1, -1};
    bool sorted = true;
    for (int64_t e = p->offsets[i]; e < end; e++) {
        const int32_t j = place_of(sets, p->columns[e]);
        const int side = j > k;
        if (j == k)
            continue;
        sorted = sorted && last[side] < j;
        last[side] = j;
        *to[side]++ = j;
    }
    for (int side = 0; side < 2 && !sorted; side++)
        matrix_sort_columns(t[side].columns + t[side].offsets[k],
                            t[side].offsets[k + 1] - t[side].offsets[k]);
}

spry_status triangles_of_pattern(spry_context *ctx, const triangle_pattern *p,
                                 const triangle_sets *sets, spry_type type, triangle t[2])
{
    const int64_t n = sets->n;
    const int threads = host_threads(ctx, p->offsets[n] + n);
    spry_status status = SPRY_STATUS_OK;
    for (int side = 0; side < 2; side++) {
        t[side] = (triangle){.sets = sets, .type = type, .upper = side == 1};
        SPRY_GO(ctx, base_alloc(ctx, n + 1, sizeof *t->offsets, &t[side].offsets));
    }
#pragma omp parallel for num_threads(threads) schedule(static)
    for (int64_t k = 0; k < n; k++) {
        int64_t both;
        const int64_t lower = count_lower(p, sets, k, &both);
        t[0].offsets[k + 1] = lower;
        t[1].offsets[k + 1] = both - lower;
    }
    for (int side = 0; side < 2; side++)
        SPRY_GO(ctx, allocate(ctx, &t[side]));
#pragma omp parallel for num_threads(threads) schedule(static)
    for (int64_t k = 0; k < n; k++)
        fill_both(p, sets, k, t);
done:
    if (status != SPRY_STATUS_OK) {
        triangle_clear(ctx, &t[0]);
        triangle_clear(ctx, &t[1]);
    }
    return status;
}

spry_status triangle_of_matrix(const spry_matrix *A, const triangle_sets *sets, bool upper,
                               const spry_vector *scale, triangle *t)
{
    const triangle_pattern p = {.offsets = A->a.offsets, .columns = A->a.col_index};
    const precon_kernels *kernels = precon_kernels_for(A->ctx, A->a.type);
    const size_t size = spry_type_size(A->a.type);
    const spry_status status =
        triangle_of_pattern(A->ctx, &p, A->a.values, sets, A->a.type, upper, t);
    if (status != SPRY_STATUS_OK)
        return status;
#pragma omp parallel for num_threads(host_threads(A->ctx, t->offsets[sets->n])) schedule(static)
    for (int64_t k = 0; k < sets->n; k++) {
        char *at = (char *)t->values + (size_t)t->offsets[k] * size;
        kernels->scale_entries(t->offsets[k + 1] - t->offsets[k],
                               value_load(A->a.type, scale->data, row_of(sets, k)), at, at);
    }
    return SPRY_STATUS_OK;
}

ALWAYS_INLINE void turn(size_t size, const triangle *t, int64_t *next, const triangle *to)
{
    for (int64_t k = 0; k < t->sets->n; k++)
        for (int64_t e = t->offsets[k]; e < t->offsets[k + 1]; e++) {
            const int64_t at = next[t->columns[e]]++;
            to->columns[at] = (int32_t)k;
            element_move(size, to->values, at, t->values, e);
        }
}

spry_status triangle_turn(spry_context *ctx, const triangle *t, triangle *to)
{
    int64_t *next = NULL;
    const int64_t n = t->sets->n;
    const spry_status status = base_alloc(ctx, n + 1, sizeof *next, &next);
    if (status != SPRY_STATUS_OK)
        return status;
    memcpy(next, to->offsets, (size_t)(n + 1) * sizeof *next);
    switch (spry_type_size(t->type)) {
    case 4:
        turn(4, t, next, to);
        break;
    case 8:
        turn(8, t, next, to);
        break;
    default:
        turn(16, t, next, to);
    }
    base_free(ctx, next);
    return SPRY_STATUS_OK;
}

spry_status triangle_transpose(spry_context *ctx, const triangle *t, triangle *to)
{
    const int64_t n = t->sets->n;
    spry_status status = SPRY_STATUS_OK;
    *to = (triangle){.sets = t->sets, .type = t->type, .upper = !t->upper};
    SPRY_GO(ctx, base_calloc(ctx, n + 1, sizeof *to->offsets, &to->offsets));
    for (int64_t e = 0; e < t->offsets[n]; e++)
        to->offsets[t->columns[e] + 1]++;
    SPRY_GO(ctx, allocate(ctx, to));
    SPRY_GO(ctx, triangle_turn(ctx, t, to));
done:
    if (status != SPRY_STATUS_OK)
        triangle_clear(ctx, to);
    return status;
}

/* --- matrices ------------------------------------------------------------------------------------
 */

ALWAYS_INLINE void write_rows(size_t size, const triangle *t, const void *values,
                              const matrix_arrays *a, int threads)
{
#pragma omp parallel for num_threads(threads) schedule(static)
    for (int64_t i = 0; i < a->rows; i++) {
        const int64_t k = place_of(t->sets, (int32_t)i);
        for (int64_t e = t->offsets[k], to = a->offsets[i]; e < t->offsets[k + 1]; e++, to++) {
            a->col_index[to] = (int32_t)row_of(t->sets, t->columns[e]);
            element_move(size, a->values, to, values, e);
        }
    }
}

spry_status triangle_matrix(spry_context *ctx, const triangle *t, const void *values,
                            spry_matrix **A)
{
    const int64_t n = t->sets->n;
    const int threads = host_threads(ctx, t->offsets[n] + n);
    spry_status status = SPRY_STATUS_OK;
    matrix_arrays a = {
        .format = SPRY_FORMAT_CSR, .type = t->type, .rows = n, .cols = n, .nnz = t->offsets[n]};
    *A = NULL;
    SPRY_GO(ctx, matrix_allocate(ctx, &a));
    a.offsets[0] = 0;
    for (int64_t i = 0; i < n; i++) {
        const int64_t k = place_of(t->sets, (int32_t)i);
        a.offsets[i + 1] = a.offsets[i] + t->offsets[k + 1] - t->offsets[k];
    }
    switch (spry_type_size(t->type)) {
    case 4:
        write_rows(4, t, values, &a, threads);
        break;
    case 8:
        write_rows(8, t, values, &a, threads);
        break;
    default:
        write_rows(16, t, values, &a, threads);
    }
    SPRY_GO(ctx, matrix_wrap(ctx, &a, A));
    SPRY_GO(ctx, t->sets->rows ? spry_matrix_sort(*A) : SPRY_STATUS_OK);
done:
    return status == SPRY_STATUS_OK ? status : matrix_drop_failed(status, A);
}
