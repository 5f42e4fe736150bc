/*
 * C = A B in a device's memory, in two phases: rows of C are counted, then made. Rows of one size
 * go together, each with a team of work-items and a table in local memory
 * (kernels/product_fill.knl); those that are too long for that have marks in global memory
 * (kernels/product_long.knl).
 */
#include "device/linalg/matrix.h"

enum {
    GROUP = 256,
    LANES = 8,
    OPTIONS_SIZE = 96,
    MOST_COUNTED = 4096, /* columns of rows that have tables */
    MOST_FILLED = 2048,
    PIECE = 8192 /* entries of A's rows that are added one after another */
};

typedef struct product {
    spry_device *d;
    const device_matrix *A, *B;
    device_matrix C;
    device_memory *sizes; /* of rows: bounds, then lengths */
    device_memory *flag;  /* int32_t: rows of A are to be cut into pieces */
    device_classes rows;  /* by their sizes */
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
static spry_status build_table(spry_device *d, spry_type type, int class, const char *names,
                               device_program **program)
{
    const device_team t = device_team_for(d, class);
    char options[OPTIONS_SIZE];
    int bits = 0;
    while ((int64_t)1 << bits < slots_of(d, class))
        bits++;
    snprintf(options, sizeof options, "-DTEAM=%d -DSLOT_BITS=%d", t.team, bits);
    return device_matrix_build(d, type, t.group, names, options, program);
}

/* A program of kernels by groups. */
static spry_status build_rows(spry_device *d, spry_type type, const char *names,
                              device_program **program)
{
    char options[OPTIONS_SIZE];
    snprintf(options, sizeof options, "-DLANES=%d -DPIECE=%d", LANES, PIECE);
    return device_matrix_build(d, type, GROUP, names, options, program);
}

static const char count_text[] = "teams table product_count",
                  fill_text[] = "teams table product_fill", rows_text[] = "marks product_rows";

/* Launches a kernel of product_rows for the rows of the last class, with as many groups as there is
 * memory for; args have room for three more. */
static spry_status run_long(product *p, bool fills, int64_t count, device_arg *args, int arg_count)
{
    enum { SHARE = 8, EACH = 4 };
    int64_t used, most, free_bytes, groups = (int64_t)EACH * p->d->facts.units;
    device_program *program = NULL;
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(p->d->ctx, fills ? build_rows(p->d, p->A->type, "marks product_long", &program)
                             : build_rows(p->d, SPRY_TYPE_S, rows_text, &program));
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

static spry_status find_bounds(product *p)
{
    const int32_t rows = (int32_t)p->A->rows;
    device_program *program = NULL;
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(p->d->ctx, build_rows(p->d, SPRY_TYPE_S, rows_text, &program));
    SPRY_GO(p->d->ctx, device_alloc(p->d, p->A->rows * (int64_t)sizeof(int32_t), &p->sizes));
    SPRY_GO(p->d->ctx, device_alloc(p->d, sizeof(int32_t), &p->flag));
    SPRY_GO(p->d->ctx, device_clear(p->flag, 0, sizeof(int32_t)));
    const device_arg args[] = {DEVICE_VALUE(rows),
                               DEVICE_VALUE(p->B->cols),
                               device_arg_memory(p->A->offsets),
                               device_arg_memory(p->A->columns),
                               device_arg_memory(p->B->offsets),
                               device_arg_memory(p->sizes),
                               device_arg_memory(p->flag)};
    SPRY_GO(p->d->ctx, device_launch(program, "product_bounds", NULL,
                                     (p->A->rows * LANES + GROUP - 1) / GROUP, GROUP, args, 7));
done:
    return status;
}

/* Puts rows together by their sizes; another number comes along. */
static spry_status sort_out(product *p, int tables, const device_piece *other)
{
    spry_status status = SPRY_STATUS_OK;
    device_classes_free(&p->rows);
    SPRY_GO(p->d->ctx, device_classes_begin(p->d, p->A->rows, p->sizes, tables + 1, &p->rows));
    SPRY_GO(p->d->ctx, device_classes_end(p->d, &p->rows, other));
done:
    return status;
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
    spry_status status = SPRY_STATUS_OK;
    device_arg args[12] = {DEVICE_VALUE(list->begin),        DEVICE_VALUE(list->count),
                           device_arg_memory(list->rows),    device_arg_memory(p->A->offsets),
                           device_arg_memory(p->A->columns), device_arg_memory(p->B->offsets),
                           device_arg_memory(p->B->columns), DEVICE_VALUE(part),
                           device_arg_memory(p->C.offsets)};
    if (is_long)
        return run_long(p, false, list->count, args, 9);
    const device_team t = device_team_for(p->d, class);
    const int teams = t.group / t.team;
    SPRY_GO(p->d->ctx, build_table(p->d, SPRY_TYPE_S, class, count_text, &program));
    SPRY_GO(p->d->ctx, device_launch(program, "product_count", NULL,
                                     ((int64_t)list->count + teams - 1) / teams, t.group, args, 9));
done:
    return status;
}

static spry_status fill_class(product *p, int class, bool is_long, const row_list *list)
{
    device_program *program = NULL;
    spry_status status = SPRY_STATUS_OK;
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
    SPRY_GO(p->d->ctx, build_table(p->d, p->A->type, class, fill_text, &program));
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
    spry_status status = SPRY_STATUS_OK;
    for (int c = 0; c <= tables; c++) {
        const int64_t *first = p->rows.first + c;
        const row_list list = {(int32_t)first[0], (int32_t)(first[1] - first[0]), p->rows.rows};
        if (list.count > 0)
            SPRY_GO(p->d->ctx, run(p, c, c == tables, &list));
    }
done:
    return status;
}

/* Offsets of C and room for its entries, from the bounds; rows are sorted out by their lengths. */
static spry_status count_rows(product *p)
{
    const int64_t bytes = (p->A->rows + 1) * (int64_t)sizeof(int64_t);
    device_matrix *C = &p->C;
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(p->d->ctx, device_matrix_new(p->d, p->A->type, p->A->rows, p->B->cols, C));
    SPRY_GO(p->d->ctx, device_clear(C->offsets, 0, bytes));
    SPRY_GO(p->d->ctx, for_classes(p, count_tables(p->d), count_class));
    SPRY_GO(p->d->ctx, device_sum_up(p->d, C->offsets, C->rows + 1));
    SPRY_GO(p->d->ctx, device_row_lengths(C, p->sizes));
    const device_piece nnz = {C->offsets, bytes - (int64_t)sizeof C->nnz, &C->nnz, sizeof C->nnz};
    SPRY_GO(p->d->ctx, sort_out(p, fill_tables(p->d, p->A->type), &nnz));
    SPRY_GO(p->d->ctx, device_matrix_allocate_known(C));
done:
    return status;
}

/* --- rows in pieces ------------------------------------------------------------------------------
 */

/* A's rows in pieces, a matrix with A's own entries, and the one that adds them up again. */
static spry_status cut_rows(const product *p, device_matrix *pieces, device_matrix *adder)
{
    const device_matrix *A = p->A;
    const int64_t groups = (A->rows + GROUP - 1) / GROUP;
    const int32_t rows = (int32_t)A->rows;
    device_program *program = NULL;
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(p->d->ctx, build_rows(p->d, A->type, rows_text, &program));
    SPRY_GO(p->d->ctx, device_matrix_new(p->d, A->type, A->rows, 0, adder));
    const device_arg count[] = {DEVICE_VALUE(rows), device_arg_memory(A->offsets),
                                device_arg_memory(adder->offsets)};
    SPRY_GO(p->d->ctx, device_launch(program, "pieces_count", NULL, groups, GROUP, count, 3));
    SPRY_GO(p->d->ctx, device_matrix_allocate(adder));
    if (adder->nnz > INT32_MAX) {
        status = SPRY_FAIL(p->d->ctx, SPRY_STATUS_UNSUPPORTED,
                           "product on %s: rows of the first matrix make %" PRId64 " pieces",
                           p->d->facts.name, adder->nnz);
        goto done;
    }
    adder->cols = adder->nnz;
    SPRY_GO(p->d->ctx, device_matrix_new(p->d, A->type, adder->nnz, A->cols, pieces));
    pieces->nnz = A->nnz;
    const device_arg cut[] = {DEVICE_VALUE(rows),
                              device_arg_memory(A->offsets),
                              device_arg_memory(adder->offsets),
                              device_arg_memory(pieces->offsets),
                              device_arg_memory(adder->columns),
                              device_arg_memory(adder->values)};
    SPRY_GO(p->d->ctx, device_launch(program, "pieces_cut", NULL, groups, GROUP, cut, 6));
done:
    return status;
}

/* C = S (A' B); *C is made, or has its pattern and gets values. */
static spry_status multiply_pieces(const product *p, bool again, device_matrix *C)
{
    device_matrix pieces = {.d = p->d}, adder = {.d = p->d}, half = {0};
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(p->d->ctx, cut_rows(p, &pieces, &adder));
    pieces.columns = p->A->columns;
    pieces.values = p->A->values;
    SPRY_GO(p->d->ctx, device_matrix_multiply(&pieces, p->B, &half));
    SPRY_GO(p->d->ctx, again ? device_matrix_multiply_again(&adder, &half, C)
                             : device_matrix_multiply(&adder, &half, C));
done:
    pieces.columns = pieces.values = NULL; /* A's */
    device_matrix_free(&pieces);
    device_matrix_free(&adder);
    device_matrix_free(&half);
    return status;
}

/* --- the products --------------------------------------------------------------------------------
 */

static spry_status check_pair(const device_matrix *A, const device_matrix *B)
{
    if (A->d == B->d && A->type == B->type && A->cols == B->rows)
        return SPRY_STATUS_OK;
    return SPRY_FAIL(A->d->ctx, SPRY_STATUS_BAD_USAGE,
                     "product on %s: %" PRId64 " x %" PRId64 " of type %s times %" PRId64
                     " x %" PRId64 " of type %s do not go together",
                     A->d->facts.name, A->rows, A->cols, spry_type_name(A->type), B->rows, B->cols,
                     spry_type_name(B->type));
}

static void product_clear(product *p)
{
    device_free(p->sizes);
    device_free(p->flag);
    device_classes_free(&p->rows);
}

spry_status device_matrix_multiply(const device_matrix *A, const device_matrix *B, device_matrix *C)
{
    spry_context *ctx = A->d->ctx;
    product p = {.d = A->d, .A = A, .B = B};
    int32_t any_long = 0;
    spry_status status = SPRY_STATUS_OK;
    *C = (device_matrix){0};
    SPRY_GO(ctx, check_pair(A, B));
    SPRY_GO(ctx, find_bounds(&p));
    const device_piece flag = {p.flag, 0, &any_long, sizeof any_long};
    SPRY_GO(ctx, sort_out(&p, count_tables(p.d), &flag));
    if (any_long) {
        SPRY_GO(ctx, multiply_pieces(&p, false, C));
        goto done;
    }
    SPRY_GO(ctx, count_rows(&p));
    SPRY_GO(ctx, for_classes(&p, fill_tables(p.d, A->type), fill_class));
    *C = p.C;
    p.C = (device_matrix){0};
done:
    product_clear(&p);
    device_matrix_free(&p.C);
    return status;
}

spry_status device_matrix_multiply_again(const device_matrix *A, const device_matrix *B,
                                         device_matrix *C)
{
    spry_context *ctx = A->d->ctx;
    product p = {.d = A->d, .A = A, .B = B, .C = *C};
    const int tables = fill_tables(p.d, A->type);
    int32_t any_long = 0;
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(ctx, check_pair(A, B));
    SPRY_GO(ctx, find_bounds(&p));
    SPRY_GO(ctx, device_row_lengths(C, p.sizes));
    const device_piece flag = {p.flag, 0, &any_long, sizeof any_long};
    SPRY_GO(ctx, sort_out(&p, tables, &flag));
    SPRY_GO(ctx, any_long ? multiply_pieces(&p, true, C) : for_classes(&p, tables, fill_class));
done:
    product_clear(&p);
    return status;
}
