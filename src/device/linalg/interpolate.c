/*
 * Interpolation from coarse points, and rows cut, in a device's memory: see setup.h. Tables of
 * weights are in local memory, by classes of rows (kernels/interpolate.knl); rows that are too long
 * for that have rooms in global memory.
 */
#include "device/linalg/setup.h"

enum {
    OPTIONS_SIZE = 64,
    MOST_CUT = 64,    /* entries that rows are cut to, at most */
    MOST_LOCAL = 2048 /* columns of tables in local memory */
};

#define LAUNCH(p, kernel, rows, args) \
    device_points_launch(p, kernel, rows, args, (int)(sizeof(args) / sizeof *(args)))

/* --- rows in tables ------------------------------------------------------------------------------
 */

/* Rows that are made by tables, each in `most` places. */
typedef struct table_rows {
    spry_device *d;
    spry_type type;
    int32_t rows, most;
    double small;
    device_memory *sizes, *counts, *columns, *values;
    device_arg args[24];
    int arg_count;
    const char *kernel;
} table_rows;

static void table_rows_close(table_rows *t)
{
    device_free(t->sizes);
    device_free(t->counts);
    device_free(t->columns);
    device_free(t->values);
}

static spry_status table_rows_open(const device_matrix *A, int64_t most, double small,
                                   table_rows *t)
{
    spry_device *d = A->d;
    const int64_t ints = A->rows * (int64_t)sizeof(int32_t);
    const int64_t size = (int64_t)spry_type_size(A->type);
    spry_status status = SPRY_STATUS_OK;
    *t = (table_rows){.d = d,
                      .type = A->type,
                      .rows = (int32_t)A->rows,
                      .most = (int32_t)(most < MOST_CUT ? most : MOST_CUT),
                      .small = small};
    SPRY_GO(d->ctx, device_alloc(d, ints, &t->sizes));
    SPRY_GO(d->ctx, device_alloc(d, ints, &t->counts));
    SPRY_GO(d->ctx, device_alloc(d, ints * t->most, &t->columns));
    SPRY_GO(d->ctx, device_alloc(d, A->rows * t->most * size, &t->values));
done:
    return status;
}

/* Who makes a row: on processors one work-item, as transpose.c has it. */
static device_team team_for(const spry_device *d, int class)
{
    const device_team t = device_team_for(d, class);
    return d->facts.processor ? (device_team){1, t.team > 1 ? 1 : t.group} : t;
}

static int bits_for(int64_t size)
{
    int bits = 3;
    while ((int64_t)1 << bits < 2 * size)
        bits++;
    return bits;
}

/* How many classes have their tables in local memory. */
static int local_tables(const spry_device *d, spry_type type)
{
    const int64_t size = (int64_t)spry_type_size(type);
    int tables = 0;
    while (device_class_size(d, tables) <= MOST_LOCAL) {
        const device_team t = team_for(d, tables);
        const int64_t slots = (int64_t)1 << bits_for(device_class_size(d, tables));
        const int64_t best = slots / 2 < MOST_CUT ? slots / 2 : MOST_CUT;
        const int64_t each = slots * (size + 6) + (best + 1) * (int64_t)sizeof(int32_t);
        if (t.group / t.team * each + t.group * size > d->facts.local_bytes)
            break;
        tables++;
    }
    return tables;
}

/* A program with tables of 2^bits slots; 0: in global memory. */
static spry_status build_table(spry_device *d, spry_type type, device_team t, int bits,
                               device_program **p)
{
    char options[OPTIONS_SIZE];
    snprintf(options, sizeof options, "-DTEAM=%d -DSLOT_BITS=%d", t.team, bits);
    return device_matrix_build(d, type, t.group, "teams lengths interpolate", options, p);
}

static spry_status run_class(table_rows *t, int class, int32_t begin, int32_t count)
{
    const device_team team = team_for(t->d, class);
    const int32_t bits = bits_for(device_class_size(t->d, class));
    const int teams = team.group / team.team;
    device_program *p = NULL;
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(t->d->ctx, build_table(t->d, t->type, team, bits, &p));
    t->args[0] = DEVICE_VALUE(begin);
    t->args[1] = DEVICE_VALUE(count);
    t->args[t->arg_count] = DEVICE_VALUE(bits);
    for (int k = 1; k <= 3; k++) /* no rooms are needed */
        t->args[t->arg_count + k] = device_arg_memory(k < 3 ? t->columns : t->values);
    SPRY_GO(t->d->ctx, device_launch(p, t->kernel, NULL, ((int64_t)count + teams - 1) / teams,
                                     team.group, t->args, t->arg_count + 4));
done:
    return status;
}

/* The largest of the sizes of rows of a list. */
static spry_status find_largest(const table_rows *t, const device_memory *list, int32_t begin,
                                int32_t count, int32_t *largest)
{
    spry_context *ctx = t->d->ctx;
    device_memory *on_device = NULL;
    device_program *p = NULL;
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(ctx, device_points_build(t->d, t->type, &p));
    SPRY_GO(ctx, device_alloc(t->d, sizeof *largest, &on_device));
    SPRY_GO(ctx, device_clear(on_device, 0, sizeof *largest));
    const device_arg args[] = {DEVICE_VALUE(begin), DEVICE_VALUE(count), device_arg_memory(list),
                               device_arg_memory(t->sizes), device_arg_memory(on_device)};
    SPRY_GO(ctx, LAUNCH(p, "points_largest", count, args));
    SPRY_GO(ctx, device_get(on_device, 0, largest, sizeof *largest));
done:
    device_free(on_device);
    return status;
}

/* Rows whose tables are in global memory: some at a time. */
static spry_status run_long(table_rows *t, const device_memory *list, int32_t begin, int32_t count)
{
    enum { EACH = 4, WARP = 32 };
    spry_context *ctx = t->d->ctx;
    const device_team team =
        t->d->facts.processor ? (device_team){1, 1} : (device_team){WARP * EACH, WARP * EACH};
    device_memory *keys = NULL, *listed = NULL, *weights = NULL;
    device_program *p = NULL;
    int32_t largest = 0;
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(ctx, find_largest(t, list, begin, count, &largest));
    const int32_t bits = bits_for(largest);
    const int64_t most = (int64_t)EACH * t->d->facts.units, groups = most < count ? most : count;
    const int64_t slots = groups << bits;
    SPRY_GO(ctx, build_table(t->d, t->type, team, 0, &p));
    SPRY_GO(ctx, device_alloc(t->d, slots * (int64_t)sizeof(int32_t), &keys));
    SPRY_GO(ctx, device_alloc(t->d, slots * (int64_t)sizeof(int32_t), &listed));
    SPRY_GO(ctx, device_alloc(t->d, slots * (int64_t)spry_type_size(t->type), &weights));
    t->args[0] = DEVICE_VALUE(begin);
    t->args[1] = DEVICE_VALUE(count);
    t->args[t->arg_count] = DEVICE_VALUE(bits);
    t->args[t->arg_count + 1] = device_arg_memory(keys);
    t->args[t->arg_count + 2] = device_arg_memory(listed);
    t->args[t->arg_count + 3] = device_arg_memory(weights);
    SPRY_GO(ctx, device_launch(p, t->kernel, NULL, groups, team.group, t->args, t->arg_count + 4));
done:
    device_free(keys);
    device_free(listed);
    device_free(weights);
    return status;
}

/* All rows by their sizes; the third argument of the kernel is the list of rows. */
static spry_status run_tables(table_rows *t)
{
    const int tables = local_tables(t->d, t->type);
    device_classes rows = {0};
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(t->d->ctx, device_classes_make(t->d, t->rows, t->sizes, tables + 1, &rows));
    t->args[2] = device_arg_memory(rows.rows);
    for (int c = 0; c <= tables; c++) {
        const int32_t begin = (int32_t)rows.first[c], count = (int32_t)rows.first[c + 1] - begin;
        if (count > 0)
            SPRY_GO(t->d->ctx, c < tables ? run_class(t, c, begin, count)
                                          : run_long(t, rows.rows, begin, count));
    }
done:
    device_classes_free(&rows);
    return status;
}

/* A matrix of what the tables made. */
static spry_status gather(const table_rows *t, device_program *p, int64_t cols, device_matrix *P)
{
    spry_context *ctx = t->d->ctx;
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(ctx, device_matrix_new(t->d, t->type, t->rows, cols, P));
    const device_arg lengths[] = {DEVICE_VALUE(t->rows), device_arg_memory(t->counts),
                                  device_arg_memory(P->offsets)};
    SPRY_GO(ctx, LAUNCH(p, "gather_lengths", (int64_t)t->rows + 1, lengths));
    SPRY_GO(ctx, device_matrix_allocate(P));
    const device_arg fill[] = {DEVICE_VALUE(t->rows),         DEVICE_VALUE(t->most),
                               device_arg_memory(t->columns), device_arg_memory(t->values),
                               device_arg_memory(P->offsets), device_arg_memory(P->columns),
                               device_arg_memory(P->values)};
    SPRY_GO(ctx, LAUNCH(p, "gather_rows", t->rows, fill));
done:
    if (status != SPRY_STATUS_OK)
        device_matrix_free(P);
    return status;
}

/* Rows by a kernel with these arguments, of which run_tables() fills in the first three. */
static spry_status make_rows(table_rows *t, const char *kernel, const device_arg *args, int count,
                             device_program *p, int64_t cols, device_matrix *out)
{
    memcpy(t->args, args, (size_t)count * sizeof *args);
    t->arg_count = count;
    t->kernel = kernel;
    const spry_status status = run_tables(t);
    return status == SPRY_STATUS_OK ? gather(t, p, cols, out) : status;
}

/* --- what is made of them ------------------------------------------------------------------------
 */

/* Coarse rows, and how many points the others may be interpolated from. */
static spry_status bound(const device_matrix *A, const device_points *points, device_program *p,
                         const table_rows *t)
{
    const int32_t all = (int32_t)points->count;
    const device_arg args[] = {DEVICE_VALUE(t->rows),
                               DEVICE_VALUE(t->most),
                               device_arg_memory(A->offsets),
                               device_arg_memory(points->lengths),
                               device_arg_memory(points->depends),
                               device_arg_memory(points->map),
                               device_arg_memory(points->coarse),
                               DEVICE_VALUE(all),
                               device_arg_memory(t->sizes),
                               device_arg_memory(t->counts),
                               device_arg_memory(t->columns),
                               device_arg_memory(t->values)};
    return LAUNCH(p, "points_bound", A->rows, args);
}

spry_status device_interpolate(const device_matrix *A, const device_points *points, int64_t most,
                               double small, device_matrix *P)
{
    spry_context *ctx = A->d->ctx;
    device_memory *diagonal = NULL;
    device_program *p = NULL;
    table_rows t = {0};
    spry_status status = SPRY_STATUS_OK;
    *P = (device_matrix){0};
    SPRY_GO(ctx, device_points_build(A->d, A->type, &p));
    SPRY_GO(ctx, table_rows_open(A, most, small, &t));
    SPRY_GO(ctx, device_alloc(A->d, A->rows * (int64_t)spry_type_size(A->type), &diagonal));
    SPRY_GO(ctx, device_matrix_diagonal(A, diagonal));
    SPRY_GO(ctx, bound(A, points, p, &t));
    const device_arg args[] = {{0},
                               {0},
                               {0},
                               device_arg_memory(A->offsets),
                               device_arg_memory(A->columns),
                               device_arg_memory(A->values),
                               device_arg_memory(diagonal),
                               device_arg_memory(points->lengths),
                               device_arg_memory(points->depends),
                               device_arg_memory(points->coarse),
                               device_arg_memory(points->map),
                               DEVICE_VALUE(t.most),
                               DEVICE_VALUE(t.small),
                               device_arg_memory(t.counts),
                               device_arg_memory(t.columns),
                               device_arg_memory(t.values)};
    SPRY_GO(ctx, make_rows(&t, "interpolate_rows", args, (int)(sizeof args / sizeof *args), p,
                           points->count, P));
done:
    device_free(diagonal);
    table_rows_close(&t);
    return status;
}

spry_status device_matrix_cut(const device_matrix *A, int64_t most, double small,
                              device_matrix *out)
{
    spry_context *ctx = A->d->ctx;
    device_program *p = NULL;
    table_rows t = {0};
    spry_status status = SPRY_STATUS_OK;
    *out = (device_matrix){0};
    SPRY_GO(ctx, device_points_build(A->d, A->type, &p));
    SPRY_GO(ctx, table_rows_open(A, most, small, &t));
    SPRY_GO(ctx, device_clear(t.counts, 0, A->rows * (int64_t)sizeof(int32_t)));
    SPRY_GO(ctx, device_row_lengths(A, t.sizes));
    const device_arg args[] = {{0},
                               {0},
                               {0},
                               device_arg_memory(A->offsets),
                               device_arg_memory(A->columns),
                               device_arg_memory(A->values),
                               DEVICE_VALUE(t.most),
                               DEVICE_VALUE(t.small),
                               device_arg_memory(t.counts),
                               device_arg_memory(t.columns),
                               device_arg_memory(t.values)};
    SPRY_GO(ctx,
            make_rows(&t, "cut_rows", args, (int)(sizeof args / sizeof *args), p, A->cols, out));
done:
    table_rows_close(&t);
    return status;
}
