/* From a row function to a matrix: count, add up, fill. */
#include "matrix/gen/gen.h"

#include <omp.h>

static void count_rows(spry_context *ctx, matrix_arrays *a, gen_row_function write_row,
                       const void *data)
{
#pragma omp parallel num_threads(spry_context_threads(ctx))
    {
        range part = base_share(a->rows, omp_get_num_threads(), omp_get_thread_num(), 1);
        for (int64_t i = part.begin; i < part.end; i++) {
            gen_row row = {.type = a->type};
            write_row(data, i, &row);
            a->offsets[i + 1] = row.count;
        }
    }
}

/* Threads get the rows that they get in products, and so place the pages they will read. */
static void fill_rows(spry_context *ctx, const matrix_arrays *a, gen_row_function write_row,
                      const void *data)
{
    size_t size = spry_type_size(a->type);
#pragma omp parallel num_threads(spry_context_threads(ctx))
    {
        range part =
            matrix_rows_of_part(a->offsets, a->rows, omp_get_num_threads(), omp_get_thread_num());
        for (int64_t i = part.begin; i < part.end; i++) {
            gen_row row = {a->type, a->col_index + a->offsets[i],
                           (char *)a->values + (size_t)a->offsets[i] * size, 0};
            write_row(data, i, &row);
        }
    }
}

spry_status gen_build(spry_context *ctx, spry_type type, int64_t rows, gen_row_function write_row,
                      const void *data, spry_matrix **A)
{
    matrix_arrays a = {.type = type, .format = SPRY_FORMAT_CSR, .rows = rows, .cols = rows};
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(ctx, base_alloc(ctx, rows + 1, sizeof *a.offsets, &a.offsets));
    a.offsets[0] = 0;
    count_rows(ctx, &a, write_row, data);
    SPRY_GO(ctx, base_prefix_sum(ctx, a.offsets, rows));
    a.nnz = a.offsets[rows];
    SPRY_GO(ctx, base_alloc(ctx, a.nnz, sizeof *a.col_index, &a.col_index));
    SPRY_GO(ctx, base_alloc(ctx, a.nnz, spry_type_size(type), &a.values));
    fill_rows(ctx, &a, write_row, data);
    status = matrix_wrap(ctx, &a, A);
    a = (matrix_arrays){0}; /* the matrix has them, or they were freed */
    if (status == SPRY_STATUS_OK)
        matrix_note_all(*A, FACT_BIT(SPRY_FACT_SORTED) | FACT_BIT(SPRY_FACT_UNIQUE));
done:
    matrix_free_arrays(ctx, &a);
    return status;
}
