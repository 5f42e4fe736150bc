/* Walking over entries: cutting them into parts, finding an entry's row, blocks with both indices.
 */
#include "matrix/entries.h"

#include "matrix/distribution.h"

int64_t matrix_major(const matrix_arrays *a)
{
    return a->format == SPRY_FORMAT_CSC ? a->cols : a->rows;
}

int matrix_parts(const spry_context *ctx, int64_t n)
{
    enum { LEAST = 1 << 13 }; /* units that are worth waking a thread for */
    const int threads = spry_context_threads(ctx);
    return n / LEAST + 1 < threads ? (int)(n / LEAST + 1) : threads;
}

int64_t matrix_longest_row(const spry_context *ctx, const matrix_arrays *a)
{
    const int64_t major = matrix_major(a);
    int64_t longest = 0;
#pragma omp parallel for num_threads(matrix_parts(ctx, major)) reduction(max : longest)
    for (int64_t i = 0; i < major; i++) {
        const int64_t length = a->offsets[i + 1] - a->offsets[i];
        longest = length > longest ? length : longest;
    }
    return longest;
}

void matrix_copy_bytes(const spry_context *ctx, void *to, const void *from, size_t bytes)
{
    const int64_t n = (int64_t)bytes;
    const int parts = matrix_parts(ctx, n / 16);
#pragma omp parallel for num_threads(parts) schedule(static, 1)
    for (int part = 0; part < parts; part++) {
        const range r = base_share(n, parts, part, 4096);
        if (r.begin < r.end)
            memcpy((char *)to + r.begin, (const char *)from + r.begin, (size_t)(r.end - r.begin));
    }
}

int64_t matrix_first_from(const int64_t *list, int64_t count, int64_t least)
{
    int64_t low = 0, high = count;
    while (low < high) {
        const int64_t middle = low + (high - low) / 2;
        if (list[middle] < least)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* The first row whose offset plus `weight` times its number reaches the target. */
static int64_t first_reaching(const int64_t *offsets, int64_t major, int64_t weight, int64_t target)
{
    int64_t low = 0, high = major;
    while (low < high) {
        const int64_t middle = low + (high - low) / 2;
        if (offsets[middle] + weight * middle < target)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

range matrix_rows_of_part(const int64_t *offsets, int64_t major, int parts, int index)
{
    const range work = base_share(offsets[major] + major, parts, index, 1);
    return (range){first_reaching(offsets, major, 1, work.begin),
                   first_reaching(offsets, major, 1, work.end)};
}

int64_t matrix_major_of(const matrix_arrays *a, int64_t k)
{
    return first_reaching(a->offsets, matrix_major(a), 0, k + 1) - 1;
}

void matrix_place(const matrix_arrays *a, int64_t k, int64_t *row, int64_t *col)
{
    const int64_t major = a->offsets ? matrix_major_of(a, k) : 0;
    *row = a->format == SPRY_FORMAT_CSR ? major : a->row_index[k];
    *col = a->format == SPRY_FORMAT_CSC ? major : a->col_index[k];
}

/* Writes the rows of entries begin..end-1, the first of which lies in row `major` or a later one;
 * returns the last entry's. */
static int64_t write_major(const int64_t *offsets, int64_t major, int64_t begin, int64_t end,
                           int32_t *index)
{
    for (int64_t k = begin; k < end;) {
        while (offsets[major + 1] <= k)
            major++;
        const int64_t stop = offsets[major + 1] < end ? offsets[major + 1] : end;
        for (; k < stop; k++)
            index[k - begin] = (int32_t)major;
    }
    return major;
}

void matrix_write_major(const spry_context *ctx, const matrix_arrays *a, int32_t *index)
{
    const int parts = matrix_parts(ctx, a->nnz);
#pragma omp parallel for num_threads(parts) schedule(static, 1)
    for (int part = 0; part < parts; part++) {
        const range r = base_share(a->nnz, parts, part, 1);
        if (r.begin < r.end)
            write_major(a->offsets, matrix_major_of(a, r.begin), r.begin, r.end, index + r.begin);
    }
}

void entry_loop_start(entry_loop *w, const matrix_arrays *a, range entries)
{
    w->a = a;
    w->at = entries.begin;
    w->end = entries.end;
    w->major = a->offsets && entries.begin < entries.end ? matrix_major_of(a, entries.begin) : 0;
}

bool entry_loop_next(entry_loop *w)
{
    if (w->at >= w->end)
        return false;
    const matrix_arrays *a = w->a;
    w->first = w->at;
    w->count = w->end - w->at < WALK_SIZE ? (int)(w->end - w->at) : WALK_SIZE;
    w->at += w->count;
    if (a->offsets)
        w->major = write_major(a->offsets, w->major, w->first, w->at, w->implied);
    w->row = a->format == SPRY_FORMAT_CSR ? w->implied : a->row_index + w->first;
    w->col = a->format == SPRY_FORMAT_CSC ? w->implied : a->col_index + w->first;
    return true;
}

/* Whether one of n numbers is not finite: all bits of its exponent are ones. */
static bool has_bad_floats(const float *x, int64_t n)
{
    const uint32_t ones = 0x7f800000;
    uint32_t bad = 0, bits;
    for (int64_t k = 0; k < n; k++) {
        memcpy(&bits, x + k, sizeof bits);
        bad |= (bits & ones) == ones;
    }
    return bad;
}
static bool has_bad_doubles(const double *x, int64_t n)
{
    const uint64_t ones = (uint64_t)0x7ff << 52;
    uint64_t bad = 0, bits;
    for (int64_t k = 0; k < n; k++) {
        memcpy(&bits, x + k, sizeof bits);
        bad |= (bits & ones) == ones;
    }
    return bad;
}

int64_t matrix_first_bad(const spry_matrix *A)
{
    enum { CHUNK = 4096 };
    const matrix_arrays *a = &A->a;
    const bool single = type_is_single(a->type);
    const int parts = spry_type_is_complex(a->type) ? 2 : 1;
    const int64_t chunks = (a->nnz + CHUNK - 1) / CHUNK;
    int64_t first = chunks;
#pragma omp parallel for num_threads(matrix_parts(A->ctx, a->nnz / 4)) reduction(min : first)
    for (int64_t c = 0; c < chunks; c++) {
        const int64_t begin = c * CHUNK, left = a->nnz - begin;
        const int64_t n = parts * (left < CHUNK ? left : CHUNK);
        const bool bad = single ? has_bad_floats((const float *)a->values + parts * begin, n)
                                : has_bad_doubles((const double *)a->values + parts * begin, n);
        if (bad && c < first)
            first = c;
    }
    if (first == chunks)
        return -1;
    int64_t k = first * CHUNK;
    while (value_finite(value_load(a->type, a->values, k)))
        k++;
    return k;
}
