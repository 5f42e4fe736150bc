/* Places for numbers of all ranks, and matrices that have them. */
#include "ranks/frame.h"

#include "matrix/entries.h"

void ranks_frame_clear(spry_context *ctx, ranks_frame *f)
{
    base_free(ctx, f->others);
    *f = (ranks_frame){0};
}

/* -1: the number has none. */
static int64_t place_of(const ranks_frame *f, int64_t number)
{
    if (number >= f->begin && number < f->begin + f->own)
        return f->below + number - f->begin;
    const int64_t found = ranks_find(f->others, f->count, number);
    return found < f->below ? found : found + f->own;
}

spry_status ranks_frame_add(spry_context *ctx, ranks_frame *f, const ranks_rows *rows)
{
    const spry_status status =
        ranks_list_outside(ctx, rows, f->begin, f->begin + f->own, &f->count, &f->others);
    if (status != SPRY_STATUS_OK)
        return status;
    while (f->below < f->count && f->others[f->below] < f->begin)
        f->below++;
    if (ranks_frame_size(f) > INT32_MAX)
        return SPRY_FAIL(ctx, SPRY_STATUS_UNSUPPORTED,
                         "a rank would have %" PRId64 " columns with those of others around its "
                         "own; take more ranks",
                         ranks_frame_size(f));
    return SPRY_STATUS_OK;
}

/* --- matrices ------------------------------------------------------------------------------------
 */

static int64_t row_of(const ranks_frame *f, const ranks_part *part, int64_t i)
{
    return part->numbers ? place_of(f, part->numbers[i]) : part->first + i;
}

/* Counts the entries of each row that have places, from offsets[1] on. */
static void count_entries(const ranks_frame *f, const ranks_part *part, int64_t *offsets)
{
    const ranks_rows *rows = part->rows;
    for (int64_t i = 0; i < rows->rows; i++) {
        int64_t *length = &offsets[row_of(f, part, i) + 1];
        for (int64_t k = rows->offsets[i]; k < rows->offsets[i + 1]; k++)
            *length += place_of(f, rows->columns[k]) >= 0;
    }
}

static void put_entries(const ranks_frame *f, const ranks_part *part, const matrix_arrays *a)
{
    const ranks_rows *rows = part->rows;
    const size_t size = spry_type_size(rows->type);
    for (int64_t i = 0; i < rows->rows; i++) {
        int64_t at = a->offsets[row_of(f, part, i)];
        for (int64_t k = rows->offsets[i]; k < rows->offsets[i + 1]; k++) {
            const int64_t place = place_of(f, rows->columns[k]);
            if (place < 0)
                continue;
            a->col_index[at] = (int32_t)place;
            element_move(size, a->values, at++, rows->values, k);
        }
    }
}

spry_status ranks_frame_matrix(spry_context *ctx, const ranks_frame *f, int64_t rows, int count,
                               const ranks_part *parts, spry_matrix **A)
{
    matrix_arrays a = {.type = parts[0].rows->type,
                       .format = SPRY_FORMAT_CSR,
                       .rows = rows,
                       .cols = ranks_frame_size(f)};
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(ctx, base_calloc(ctx, rows + 1, sizeof *a.offsets, &a.offsets));
    for (int p = 0; p < count; p++)
        count_entries(f, &parts[p], a.offsets);
    for (int64_t i = 0; i < rows; i++)
        a.offsets[i + 1] += a.offsets[i];
    a.nnz = a.offsets[rows];
    SPRY_GO(ctx, base_alloc(ctx, a.nnz, sizeof *a.col_index, &a.col_index));
    SPRY_GO(ctx, base_alloc(ctx, a.nnz, spry_type_size(a.type), &a.values));
    for (int p = 0; p < count; p++)
        put_entries(f, &parts[p], &a);
done:
    return matrix_finish(ctx, status, &a, A);
}

spry_status ranks_frame_square(spry_context *ctx, const ranks_frame *f, const ranks_rows *mine,
                               const ranks_rows *theirs, const int64_t *numbers, spry_matrix **A)
{
    const ranks_part parts[] = {{mine, f->below, NULL}, {theirs, 0, numbers}};
    return ranks_frame_matrix(ctx, f, ranks_frame_size(f), theirs ? 2 : 1, parts, A);
}

spry_status ranks_frame_rows(const ranks_frame *f, const spry_matrix *A, int64_t all,
                             ranks_rows *rows)
{
    spry_context *ctx = A->ctx;
    const matrix_arrays *a = &A->a;
    const int64_t *from = a->offsets + f->below, nnz = from[f->own] - from[0];
    const size_t size = spry_type_size(a->type);
    spry_status status = SPRY_STATUS_OK;
    *rows = (ranks_rows){
        .type = a->type, .begin = f->begin, .rows = f->own, .all_rows = all, .all_cols = all};
    SPRY_GO(ctx, base_alloc(ctx, f->own + 1, sizeof *rows->offsets, &rows->offsets));
    SPRY_GO(ctx, base_alloc(ctx, nnz, sizeof *rows->columns, &rows->columns));
    SPRY_GO(ctx, base_calloc(ctx, nnz, size, &rows->values));
    for (int64_t i = 0; i <= f->own; i++)
        rows->offsets[i] = from[i] - from[0];
    for (int64_t k = 0; k < nnz; k++)
        rows->columns[k] = ranks_frame_number(f, a->col_index[from[0] + k]);
    if (a->values && nnz > 0)
        memcpy(rows->values, (const char *)a->values + (size_t)from[0] * size, (size_t)nnz * size);
done:
    if (status != SPRY_STATUS_OK)
        ranks_rows_clear(ctx, rows);
    return status;
}
