/*
 * C = A B in a device's memory, in two phases: rows of C are counted, then made. Rows of one size
 * go together, each with a team of work-items and a table in local memory
 * (kernels/product_fill.knl); those that are too long for that have marks in global memory
 * (kernels/product_long.knl).
 */
#include "device/matrix.h"

enum { GROUP = 256, LANES = 8, OPTIONS_SIZE = 96, MOST_COUNTED = 4096, MOST_FILLED = 2048 };

typedef struct product {
    spry_device *d;
    const device_matrix *A, *B;
    device_matrix C;
    device_memory *sizes; /* of rows: bounds, then lengths */
    device_memory *marks, *before;
    int64_t words; /* of marks, for one group */
} product;

static int64_t slots_of(const spry_device *d, int class)
{
    return 2 * (int64_t)device_class_size(d, class);
}

/* Local memory of product_fill's groups. */
static int64_t fill_bytes(const spry_device *d, spry_type type, int class)
{
    const device_team t = device_team_for(d, class);
    const int64_t size = (int64_t)spry_type_size(type), stage = t.team < 32 ? t.team : 32;
    return t.group / t.team * (slots_of(d, class) * (size + 6) + stage * (size + 12) + 4);
}

/* How many sizes of tables local memory is enough for. */
static int fill_tables(const spry_device *d, spry_type type)
{
    int tables = 0;
    while (device_class_size(d, tables) <= MOST_FILLED &&
           fill_bytes(d, type, tables) <= d->facts.local_bytes)
        tables++;
    return tables;
}

static int count_tables(const spry_device *d)
{
    int tables = 0;
    while (device_class_size(d, tables) <= MOST_COUNTED &&
           slots_of(d, tables) * 4 + 4 <= d->facts.local_bytes)
        tables++;
    return tables;
}

/* A program for the tables of a class. */
static spry_status build_table(const product *p, spry_type type, int class, const char *names,
                               device_program **program)
{
    const device_team t = device_team_for(p->d, class);
    char options[OPTIONS_SIZE];
    int bits = 0;
    while ((int64_t)1 << bits < slots_of(p->d, class))
        bits++;
    snprintf(options, sizeof options, "-DTEAM=%d -DSLOT_BITS=%d", t.team, bits);
    return device_matrix_build(p->d, type, t.group, names, options, program);
}

/* A program of kernels by groups. */
static spry_status build_rows(const product *p, spry_type type, const char *names,
                              device_program **program)
{
    char options[OPTIONS_SIZE];
    snprintf(options, sizeof options, "-DLANES=%d", LANES);
    return device_matrix_build(p->d, type, GROUP, names, options, program);
}

/* Launches a kernel of product_rows for the rows of the last class, with as many groups as there is
 * memory for; args have room for three more. */
static spry_status run_long(product *p, bool fills, int64_t count, device_arg *args, int arg_count)
{
    enum { SHARE = 8, EACH = 4 };
    int64_t used, most, free_bytes, groups = (int64_t)EACH * p->d->facts.units;
    device_program *program = NULL;
    spry_status status = SPRY_OK;
    SPRY_GO(p->d->ctx, fills ? build_rows(p, p->A->type, "marks product_long", &program)
                             : build_rows(p, SPRY_S, "marks product_rows", &program));
    p->words = (p->B->cols + 31) / 32;
    device_memory_now(p->d, &used, &most, &free_bytes);
    const int64_t bytes = p->words * (int64_t)sizeof(int32_t);
    if (groups > free_bytes / SHARE / (2 * bytes))
        groups = free_bytes / SHARE / (2 * bytes);
    groups = groups > count ? count : groups;
    groups = groups < 1 ? 1 : groups;
    SPRY_GO(p->d->ctx, device_alloc(p->d, groups * bytes, &p->marks));
    SPRY_GO(p->d->ctx, device_alloc(p->d, groups * bytes, &p->before));
    SPRY_GO(p->d->ctx, device_clear(p->marks, 0, groups * bytes));
    args[arg_count++] = DEVICE_VALUE(p->words);
    args[arg_count++] = device_arg_memory(p->marks);
    if (fills)
        args[arg_count++] = device_arg_memory(p->before);
    SPRY_GO(p->d->ctx, device_launch(program, fills ? "product_fill_long" : "product_count_long",
                                     NULL, groups, GROUP, args, arg_count));
done:
    device_free(p->marks);
    device_free(p->before);
    p->marks = p->before = NULL;
    return status;
}

/* --- the two phases ------------------------------------------------------------------------------
 */

static spry_status find_bounds(const product *p)
{
    const int32_t rows = (int32_t)p->A->rows;
    device_program *program = NULL;
    const spry_status status = build_rows(p, SPRY_S, "marks product_rows", &program);
    if (status != SPRY_OK)
        return status;
    const device_arg args[] = {DEVICE_VALUE(rows),
                               DEVICE_VALUE(p->B->cols),
                               device_arg_memory(p->A->offsets),
                               device_arg_memory(p->A->columns),
                               device_arg_memory(p->B->offsets),
                               device_arg_memory(p->sizes)};
    return device_launch(program, "product_bounds", NULL, (p->A->rows * LANES + GROUP - 1) / GROUP,
                         GROUP, args, sizeof args / sizeof *args);
}

/* Lanes for a row of B, as a power of two: as many as it has entries, on the average. */
static int32_t part_of(const device_matrix *B)
{
    int32_t part = 0;
    while (part < 5 && (int64_t)1 << part < B->nnz / (B->rows > 0 ? B->rows : 1))
        part++;
    return part;
}

/* Rows of a list. */
typedef struct row_list {
    int32_t begin, count;
    const device_memory *rows;
} row_list;

static spry_status count_class(product *p, int class, bool is_long, const row_list *list)
{
    const int32_t part = part_of(p->B);
    device_program *program = NULL;
    spry_status status = SPRY_OK;
    device_arg args[12] = {DEVICE_VALUE(list->begin),        DEVICE_VALUE(list->count),
                           device_arg_memory(list->rows),    device_arg_memory(p->A->offsets),
                           device_arg_memory(p->A->columns), device_arg_memory(p->B->offsets),
                           device_arg_memory(p->B->columns), DEVICE_VALUE(part),
                           device_arg_memory(p->C.offsets)};
    if (is_long)
        return run_long(p, false, list->count, args, 9);
    const device_team t = device_team_for(p->d, class);
    const int teams = t.group / t.team;
    SPRY_GO(p->d->ctx, build_table(p, SPRY_S, class, "teams table product_count", &program));
    SPRY_GO(p->d->ctx, device_launch(program, "product_count", NULL,
                                     ((int64_t)list->count + teams - 1) / teams, t.group, args, 9));
done:
    return status;
}

static spry_status fill_class(product *p, int class, bool is_long, const row_list *list)
{
    device_program *program = NULL;
    spry_status status = SPRY_OK;
    device_arg args[15] = {DEVICE_VALUE(list->begin),        DEVICE_VALUE(list->count),
                           device_arg_memory(list->rows),    device_arg_memory(p->A->offsets),
                           device_arg_memory(p->A->columns), device_arg_memory(p->A->values),
                           device_arg_memory(p->B->offsets), device_arg_memory(p->B->columns),
                           device_arg_memory(p->B->values),  device_arg_memory(p->C.offsets),
                           device_arg_memory(p->C.columns),  device_arg_memory(p->C.values)};
    if (is_long)
        return run_long(p, true, list->count, args, 12);
    const device_team t = device_team_for(p->d, class);
    const int teams = t.group / t.team;
    SPRY_GO(p->d->ctx, build_table(p, p->A->type, class, "teams table product_fill", &program));
    SPRY_GO(p->d->ctx,
            device_launch(program, "product_fill", NULL, ((int64_t)list->count + teams - 1) / teams,
                          t.group, args, 12));
done:
    return status;
}

typedef spry_status (*phase)(product *p, int class, bool is_long, const row_list *list);

/* Runs a phase for each class that has rows. */
static spry_status for_classes(product *p, int tables, phase run)
{
    device_classes rows = {0};
    spry_status status = SPRY_OK;
    SPRY_GO(p->d->ctx, device_classes_make(p->d, p->A->rows, p->sizes, tables + 1, &rows));
    for (int c = 0; c <= tables; c++) {
        const row_list list = {(int32_t)rows.first[c], (int32_t)(rows.first[c + 1] - rows.first[c]),
                               rows.rows};
        if (list.count > 0)
            SPRY_GO(p->d->ctx, run(p, c, c == tables, &list));
    }
done:
    device_classes_free(&rows);
    return status;
}

static spry_status multiply(product *p)
{
    spry_device *d = p->d;
    const int64_t rows = p->A->rows;
    spry_status status = SPRY_OK;
    SPRY_GO(d->ctx, device_alloc(d, rows * (int64_t)sizeof(int32_t), &p->sizes));
    SPRY_GO(d->ctx, device_clear(p->C.offsets, 0, (rows + 1) * (int64_t)sizeof(int64_t)));
    SPRY_GO(d->ctx, find_bounds(p));
    SPRY_GO(d->ctx, for_classes(p, count_tables(d), count_class));
    SPRY_GO(d->ctx, device_matrix_allocate(&p->C));
    SPRY_GO(d->ctx, device_row_lengths(&p->C, p->sizes));
    SPRY_GO(d->ctx, for_classes(p, fill_tables(d, p->A->type), fill_class));
done:
    device_free(p->sizes);
    return status;
}

spry_status device_matrix_multiply(const device_matrix *A, const device_matrix *B, device_matrix *C)
{
    product p = {.d = A->d, .A = A, .B = B};
    spry_status status = SPRY_OK;
    *C = (device_matrix){0};
    if (A->d != B->d || A->type != B->type || A->cols != B->rows)
        return SPRY_FAIL(A->d->ctx, SPRY_BAD_USAGE,
                         "product on %s: %" PRId64 " x %" PRId64 " of type %s times %" PRId64
                         " x %" PRId64 " of type %s do not go together",
                         A->d->facts.name, A->rows, A->cols, spry_type_name(A->type), B->rows,
                         B->cols, spry_type_name(B->type));
    SPRY_GO(A->d->ctx, device_matrix_new(A->d, A->type, A->rows, B->cols, &p.C));
    SPRY_GO(A->d->ctx, multiply(&p));
    *C = p.C;
    p.C = (device_matrix){0};
done:
    device_matrix_free(&p.C);
    return status;
}
