/* Transposes and sorting of rows in a device's memory, and R A P: see matrix.h. */
#include "device/linalg/matrix.h"

enum { GROUP = 256, LANES = 8, OPTIONS_SIZE = 64, MOST_SORTED = 2048 };

static int64_t groups_for(int64_t count)
{
    return (count + GROUP - 1) / GROUP;
}

/* --- sorting -------------------------------------------------------------------------------------
 */

/* Who sorts a row. On processors it is one work-item, whatever the size: in groups compiled by PoCL
 * 3.1 work-items past the end of a row of 129 to 256 entries were seen to write what a row before
 * had left in local memory. */
static device_team team_for(const spry_device *d, int class)
{
    return d->facts.processor && device_team_for(d, class).team > 1 ? (device_team){1, 1}
                                                                    : device_team_for(d, class);
}

/* Sizes of rows that local memory is enough for. */
static int sort_tables(const spry_device *d, spry_type type)
{
    int tables = 0;
    while (device_class_size(d, tables) <= MOST_SORTED) {
        const device_team t = team_for(d, tables);
        const int64_t slots = (int64_t)t.group / t.team * device_class_size(d, tables);
        if (slots * (int64_t)(8 + spry_type_size(type)) > d->facts.local_bytes)
            break;
        tables++;
    }
    return tables;
}

static spry_status build_sort(spry_device *d, spry_type type, int class, device_program **p)
{
    const device_team t = team_for(d, class);
    char options[OPTIONS_SIZE];
    snprintf(options, sizeof options, "-DTEAM=%d -DSIZE=%d", t.team, device_class_size(d, class));
    return device_matrix_build(d, type, t.group, "teams sort", options, p);
}

static spry_status sort_class(const device_matrix *A, int class, int32_t begin, int32_t count,
                              const device_memory *list)
{
    const device_team t = team_for(A->d, class);
    const int teams = t.group / t.team;
    const device_arg args[] = {DEVICE_VALUE(begin),           DEVICE_VALUE(count),
                               device_arg_memory(list),       device_arg_memory(A->offsets),
                               device_arg_memory(A->columns), device_arg_memory(A->values)};
    device_program *p = NULL;
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(A->d->ctx, build_sort(A->d, A->type, class, &p));
    SPRY_GO(A->d->ctx, device_launch(p, "sort_rows", NULL, ((int64_t)count + teams - 1) / teams,
                                     t.group, args, sizeof args / sizeof *args));
done:
    return status;
}

static spry_status sort_long(const device_matrix *A, int32_t begin, int32_t count,
                             const device_memory *list)
{
    const device_arg args[] = {DEVICE_VALUE(begin), device_arg_memory(list),
                               device_arg_memory(A->offsets), device_arg_memory(A->columns),
                               device_arg_memory(A->values)};
    device_program *p = NULL;
    const spry_status status = device_matrix_build(A->d, A->type, GROUP, "sort_long", "", &p);
    return status == SPRY_STATUS_OK ? device_launch(p, "sort_long_rows", NULL, count, GROUP, args,
                                                    sizeof args / sizeof *args)
                                    : status;
}

/* Sorts rows whose columns are all different; sizes are their lengths (device_row_lengths). */
static spry_status sort_rows(device_matrix *A, const device_memory *sizes)
{
    const int tables = sort_tables(A->d, A->type);
    device_classes rows = {0};
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(A->d->ctx, device_classes_make(A->d, A->rows, sizes, tables + 1, &rows));
    for (int c = 0; c <= tables; c++) {
        const int32_t begin = (int32_t)rows.first[c], count = (int32_t)rows.first[c + 1] - begin;
        if (count > 0)
            SPRY_GO(A->d->ctx, c < tables ? sort_class(A, c, begin, count, rows.rows)
                                          : sort_long(A, begin, count, rows.rows));
    }
done:
    device_classes_free(&rows);
    return status;
}

spry_status device_matrix_sort(device_matrix *A)
{
    device_memory *sizes = NULL;
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(A->d->ctx, device_alloc(A->d, A->rows * (int64_t)sizeof(int32_t), &sizes));
    SPRY_GO(A->d->ctx, device_row_lengths(A, sizes));
    SPRY_GO(A->d->ctx, sort_rows(A, sizes));
done:
    device_free(sizes);
    return status;
}

/* --- transposes ----------------------------------------------------------------------------------
 */

/* The offsets of A^T and room for its entries. */
static spry_status count_columns(device_program *p, const device_matrix *A, device_memory *counts,
                                 device_matrix *T)
{
    spry_context *ctx = A->d->ctx;
    const int32_t rows = (int32_t)T->rows;
    const device_arg count_args[] = {DEVICE_VALUE(A->nnz), device_arg_memory(A->columns),
                                     device_arg_memory(counts)};
    const device_arg length_args[] = {DEVICE_VALUE(rows), device_arg_memory(counts),
                                      device_arg_memory(T->offsets)};
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(ctx, device_clear(counts, 0, T->rows * (int64_t)sizeof(int32_t)));
    SPRY_GO(ctx,
            device_launch(p, "transpose_count", NULL, groups_for(A->nnz), GROUP, count_args, 3));
    SPRY_GO(ctx, device_launch(p, "transpose_lengths", NULL, groups_for(T->rows + 1), GROUP,
                               length_args, 3));
    SPRY_GO(ctx, device_sum_up(T->d, T->offsets, T->rows + 1));
    T->nnz = A->nnz;
    SPRY_GO(ctx, device_matrix_allocate_known(T));
done:
    return status;
}

static spry_status scatter(device_program *p, const device_matrix *A, bool conjugate,
                           const device_memory *counts, const device_matrix *T)
{
    const int32_t rows = (int32_t)A->rows, conjugates = conjugate;
    const device_arg args[] = {
        DEVICE_VALUE(rows),           device_arg_memory(A->offsets), device_arg_memory(A->columns),
        device_arg_memory(A->values), DEVICE_VALUE(conjugates),      device_arg_memory(T->offsets),
        device_arg_memory(counts),    device_arg_memory(T->columns), device_arg_memory(T->values)};
    return device_launch(p, "transpose_scatter", NULL, groups_for(A->rows * LANES), GROUP, args,
                         sizeof args / sizeof *args);
}

static spry_status build(spry_device *d, spry_type type, device_program **p)
{
    char options[OPTIONS_SIZE];
    snprintf(options, sizeof options, "-DLANES=%d", LANES);
    return device_matrix_build(d, type, GROUP, "transpose", options, p);
}

spry_status device_matrix_transpose(const device_matrix *A, bool conjugate, device_matrix *out)
{
    spry_device *d = A->d;
    device_matrix T = {0};
    device_memory *counts = NULL;
    device_program *p = NULL;
    spry_status status = SPRY_STATUS_OK;
    *out = (device_matrix){0};
    SPRY_GO(d->ctx, build(d, A->type, &p));
    SPRY_GO(d->ctx, device_matrix_new(d, A->type, A->cols, A->rows, &T));
    SPRY_GO(d->ctx, device_alloc(d, T.rows * (int64_t)sizeof(int32_t), &counts));
    SPRY_GO(d->ctx, count_columns(p, A, counts, &T));
    SPRY_GO(d->ctx, scatter(p, A, conjugate, counts, &T));
    SPRY_GO(d->ctx, sort_rows(&T, counts));
    *out = T;
    T = (device_matrix){0};
done:
    device_free(counts);
    device_matrix_free(&T);
    return status;
}

spry_status device_matrix_triple(const device_matrix *R, const device_matrix *A,
                                 const device_matrix *P, device_matrix *C)
{
    spry_context *ctx = A->d->ctx;
    device_matrix half = {0}, own = {0};
    spry_status status = SPRY_STATUS_OK;
    *C = (device_matrix){0};
    SPRY_GO(ctx, device_matrix_multiply(A, P, &half));
    if (!R)
        SPRY_GO(ctx, device_matrix_transpose(P, true, &own));
    SPRY_GO(ctx, device_matrix_multiply(R ? R : &own, &half, C));
done:
    device_matrix_free(&half);
    device_matrix_free(&own);
    return status;
}
