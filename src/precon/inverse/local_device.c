/*
 * Problems distributed to a device: by the room that they need, so that those that fit are in local
 * memory, a team of work-items each; the others have rooms in global memory, as many at a time as
 * there is memory for.
 */
#include "precon/inverse/local_device.h"
#include "base/bytes.h"

enum {
    GROUP = 256,
    PIECE = 64, /* bytes that rooms are counted in */
    WARP = 32,
    MOST_LOCAL = 65536, /* bytes per group on processors, where all memory is alike */
    MOST_GROUP = 128,
    OPTIONS_SIZE = 96
};

static int64_t groups_for(int64_t count)
{
    return (count + GROUP - 1) / GROUP;
}

static spry_status build(spry_device *d, spry_type type, device_program **p)
{
    char options[OPTIONS_SIZE];
    snprintf(options, sizeof options, "-DPIECE=%d", PIECE);
    return device_matrix_build(d, type, GROUP, "sai_sizes", options, p);
}

/* --- patterns ------------------------------------------------------------------------------------
 */

/* What is large in A, with weights. */
static spry_status thin(const device_matrix *A, double tau, device_matrix *S)
{
    spry_context *ctx = A->d->ctx;
    const int32_t rows = (int32_t)A->rows;
    device_program *p = NULL;
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(ctx, build(A->d, A->type, &p));
    SPRY_GO(ctx, device_matrix_new(A->d, SPRY_TYPE_S, A->rows, A->cols, S));
    SPRY_GO(ctx, device_clear(S->offsets, 0, (int64_t)sizeof(int64_t)));
    for (int32_t fill = 0; fill < 2; fill++) {
        const device_arg args[] = {DEVICE_VALUE(rows),
                                   DEVICE_VALUE(tau),
                                   device_arg_memory(A->offsets),
                                   device_arg_memory(A->columns),
                                   device_arg_memory(A->values),
                                   DEVICE_VALUE(fill),
                                   device_arg_memory(S->offsets),
                                   device_arg_memory(S->columns),
                                   device_arg_memory(S->values)};
        SPRY_GO(ctx, device_launch(p, "sai_thin", NULL, groups_for(A->rows), GROUP, args, 9));
        if (!fill)
            SPRY_GO(ctx, device_matrix_allocate(S));
    }
done:
    if (status != SPRY_STATUS_OK)
        device_matrix_free(S);
    return status;
}

/* The most entries that a row has. */
static spry_status longest_row(const device_matrix *A, int64_t *longest)
{
    spry_context *ctx = A->d->ctx;
    const int32_t rows = (int32_t)A->rows;
    int32_t found = 0;
    device_memory *memory = NULL;
    device_program *p = NULL;
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(ctx, build(A->d, A->type, &p));
    SPRY_GO(ctx, device_alloc(A->d, sizeof found, &memory));
    SPRY_GO(ctx, device_clear(memory, 0, sizeof found));
    const device_arg args[] = {DEVICE_VALUE(rows), device_arg_memory(A->offsets),
                               device_arg_memory(memory)};
    SPRY_GO(ctx, device_launch(p, "sai_longest", NULL, groups_for(A->rows), GROUP, args, 3));
    SPRY_GO(ctx, device_get(memory, 0, &found, sizeof found));
    *longest = found;
done:
    device_free(memory);
    return status;
}

static void replace(device_matrix *S, device_matrix *by)
{
    device_matrix_free(S);
    *S = *by;
    *by = (device_matrix){0};
}

/* S with the `most` heaviest entries of each row, and without weights. */
static spry_status shorten(const device_matrix *S, int64_t most, device_matrix *P)
{
    spry_context *ctx = S->d->ctx;
    const int32_t rows = (int32_t)S->rows, longest = (int32_t)most;
    device_program *p = NULL;
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(ctx, build(S->d, S->type, &p));
    SPRY_GO(ctx, device_matrix_new(S->d, S->type, S->rows, S->cols, P));
    for (int32_t fill = 0; fill < 2; fill++) {
        const device_arg args[] = {DEVICE_VALUE(rows),
                                   DEVICE_VALUE(longest),
                                   device_arg_memory(S->offsets),
                                   device_arg_memory(S->columns),
                                   device_arg_memory(S->values),
                                   DEVICE_VALUE(fill),
                                   device_arg_memory(P->offsets),
                                   device_arg_memory(P->columns)};
        SPRY_GO(ctx, device_launch(p, "sai_shorten", NULL, groups_for(S->rows), GROUP, args, 8));
        if (!fill)
            SPRY_GO(ctx, device_matrix_allocate(P));
    }
done:
    if (status != SPRY_STATUS_OK)
        device_matrix_free(P);
    return status;
}

spry_status local_device_pattern(const device_matrix *A, const local_pattern *how, bool *made,
                                 device_matrix *P)
{
    spry_context *ctx = A->d->ctx;
    device_matrix S = {0}, W = {0}, next = {0};
    int64_t longest;
    spry_status status = SPRY_STATUS_OK;
    *P = (device_matrix){0};
    *made = false;
    if (how->lower)
        return SPRY_STATUS_OK;
    SPRY_GO(ctx, thin(A, how->tau, &S));
    for (int64_t k = 1; k < how->power; k++) {
        SPRY_GO(ctx, device_matrix_multiply(k > 1 ? &W : &S, &S, &next));
        replace(&W, &next);
    }
    if (how->power > 1)
        replace(&S, &W);
    if (how->transposed) {
        SPRY_GO(ctx, device_matrix_transpose(&S, false, &next));
        replace(&S, &next);
    }
    SPRY_GO(ctx, longest_row(&S, &longest));
    if (longest > how->most) {
        SPRY_GO(ctx, shorten(&S, how->most, &next));
        replace(&S, &next);
    }
    device_free(S.values);
    S.values = NULL;
    replace(P, &S);
    *made = true;
done:
    device_matrix_free(&S);
    device_matrix_free(&W);
    return status;
}

spry_status local_device_put_pattern(spry_device *d, const spry_matrix *P, device_matrix *out)
{
    const matrix_arrays *a = &P->a;
    const int64_t column_bytes = a->nnz * (int64_t)sizeof *a->col_index;
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(d->ctx, device_matrix_new(d, a->type, a->rows, a->cols, out));
    out->nnz = a->nnz;
    SPRY_GO(d->ctx, device_alloc(d, column_bytes, &out->columns));
    SPRY_GO(d->ctx,
            device_put(out->offsets, 0, a->offsets, (a->rows + 1) * (int64_t)sizeof *a->offsets));
    SPRY_GO(d->ctx, device_put(out->columns, 0, a->col_index, column_bytes));
done:
    if (status != SPRY_STATUS_OK)
        device_matrix_free(out);
    return status;
}

/* --- problems ------------------------------------------------------------------------------------
 */

/* What the kernels are given. */
typedef struct problems {
    spry_device *d;
    const device_matrix *B, *P;
    local_kind kind;
    double shift;
    device_memory *scale, *scalars, *most, *pieces, *found;
    device_memory *x;
} problems;

static void problems_clear(problems *p)
{
    device_free(p->scale);
    device_free(p->scalars);
    device_free(p->most);
    device_free(p->pieces);
    device_free(p->found);
}

/* The team that a device has for rooms of `bytes` bytes, in groups that local memory is enough for;
 * false: it is not. */
static bool team_for(const spry_device *d, int64_t bytes, device_team *team)
{
    /* NVIDIA's, by either engine: the only ones with a barrier of some of a warp. */
    const bool warps = d->facts.lanes == WARP && d->facts.has_tickets && !d->facts.processor;
    if (d->facts.processor) {
        *team = (device_team){1, 1};
        return bytes <= MOST_LOCAL && bytes <= d->facts.local_bytes / 2;
    }
    team->team = bytes <= 1024 ? 4 : bytes <= 4096 ? 8 : bytes <= 8192 ? 16 : WARP;
    if (!warps)
        team->team = WARP; /* barriers are those of groups */
    team->group = warps ? MOST_GROUP : team->team;
    /* Sums where there are no shuffles; padding that keeps the buffers of a warp in different
     * banks. */
    const int64_t sums = 2 * team->group * 16;
    while (team->group > WARP && team->group / team->team * bytes > d->facts.local_bytes - sums)
        team->group /= 2;
    return team->group / team->team * bytes <= d->facts.local_bytes - sums;
}

/* How many classes have local memory, and the bytes of a class. */
static int64_t class_bytes(const spry_device *d, int class)
{
    return (int64_t)device_class_size(d, class) * PIECE;
}

static int local_classes(const spry_device *d)
{
    device_team team;
    int classes = 0;
    while (classes < DEVICE_MOST_CLASSES - 1 && team_for(d, class_bytes(d, classes), &team))
        classes++;
    return classes;
}

static spry_status prepare(problems *p)
{
    spry_device *d = p->d;
    const int64_t n = p->B->rows, ints = n * (int64_t)sizeof(int32_t);
    const int32_t rows = (int32_t)n, team = d->facts.processor ? 1 : WARP;
    const int32_t square = p->kind != LOCAL_LEAST_SQUARES;
    const int32_t nothing[2] = {0, INT32_MAX};
    device_program *program = NULL;
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(d->ctx, build(d, p->B->type, &program));
    SPRY_GO(d->ctx, device_alloc(d, n * (int64_t)spry_type_size(p->B->type), &p->scale));
    SPRY_GO(d->ctx, device_alloc(d, ints, &p->scalars));
    SPRY_GO(d->ctx, device_alloc(d, ints, &p->most));
    SPRY_GO(d->ctx, device_alloc(d, ints, &p->pieces));
    SPRY_GO(d->ctx, device_alloc(d, sizeof nothing, &p->found));
    SPRY_GO(d->ctx, device_put(p->found, 0, nothing, sizeof nothing));
    const device_arg scales[] = {DEVICE_VALUE(rows), device_arg_memory(p->B->offsets),
                                 device_arg_memory(p->B->values), device_arg_memory(p->scale)};
    const device_arg roots[] = {DEVICE_VALUE(rows),
                                device_arg_memory(p->B->offsets),
                                device_arg_memory(p->B->columns),
                                device_arg_memory(p->B->values),
                                device_arg_memory(p->scale),
                                device_arg_memory(p->found)};
    if (p->kind == LOCAL_FACTOR)
        SPRY_GO(d->ctx, device_launch(program, "sai_roots", NULL, groups_for(n), GROUP, roots, 6));
    else
        SPRY_GO(d->ctx,
                device_launch(program, "sai_scales", NULL, groups_for(n), GROUP, scales, 4));
    const device_arg sizes[] = {DEVICE_VALUE(rows),
                                DEVICE_VALUE(team),
                                DEVICE_VALUE(square),
                                device_arg_memory(p->B->offsets),
                                device_arg_memory(p->B->columns),
                                device_arg_memory(p->P->offsets),
                                device_arg_memory(p->P->columns),
                                device_arg_memory(p->scalars),
                                device_arg_memory(p->most),
                                device_arg_memory(p->pieces)};
    SPRY_GO(d->ctx, device_launch(program, "sai_sizes", NULL, groups_for(n), GROUP, sizes, 10));
done:
    return status;
}

/* Solves problems begin..begin+count-1 of a list; stride: bytes of rooms in global memory, of which
 * there are `together`. */
static spry_status launch(const problems *p, const device_memory *list, int64_t begin,
                          int64_t count, device_team team, int64_t room_bytes,
                          const device_memory *rooms, int64_t stride, int64_t together)
{
    spry_device *d = p->d;
    char options[OPTIONS_SIZE];
    device_program *program = NULL;
    spry_status status = SPRY_STATUS_OK;
    const int64_t teams = team.group / team.team;
    snprintf(options, sizeof options, "-DTEAM=%d -DROOM=%d -DSQUARE=%d -DFACTOR=%d", team.team,
             (int)room_bytes, p->kind != LOCAL_LEAST_SQUARES, p->kind == LOCAL_FACTOR);
    SPRY_GO(d->ctx, device_matrix_build(d, p->B->type, team.group, "teams sai", options, &program));
    for (int64_t done = 0; done < count; done += together) {
        const int32_t first = (int32_t)(begin + done);
        const int32_t now = (int32_t)(count - done < together ? count - done : together);
        const device_arg args[] = {DEVICE_VALUE(first),
                                   DEVICE_VALUE(now),
                                   device_arg_memory(list),
                                   device_arg_memory(p->B->offsets),
                                   device_arg_memory(p->B->columns),
                                   device_arg_memory(p->B->values),
                                   device_arg_memory(p->scale),
                                   device_arg_memory(p->P->offsets),
                                   device_arg_memory(p->P->columns),
                                   device_arg_memory(p->scalars),
                                   device_arg_memory(p->most),
                                   device_arg_memory(p->x),
                                   device_arg_memory(p->found),
                                   device_arg_memory(rooms),
                                   DEVICE_VALUE(stride),
                                   DEVICE_VALUE(p->shift)};
        SPRY_GO(d->ctx, device_launch(program, "sai_rows", NULL, (now + teams - 1) / teams,
                                      team.group, args, sizeof args / sizeof *args));
    }
done:
    return status;
}

/* The largest room that a problem of a list needs. */
static spry_status largest(const problems *p, const device_memory *list, int64_t begin,
                           int64_t count, int64_t *bytes)
{
    spry_device *d = p->d;
    const int32_t first = (int32_t)begin, rows = (int32_t)count;
    int32_t found = 1;
    device_memory *memory = NULL;
    device_program *program = NULL;
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(d->ctx, build(d, p->B->type, &program));
    SPRY_GO(d->ctx, device_alloc(d, sizeof found, &memory));
    SPRY_GO(d->ctx, device_put(memory, 0, &found, sizeof found));
    const device_arg args[] = {DEVICE_VALUE(first), DEVICE_VALUE(rows), device_arg_memory(list),
                               device_arg_memory(p->pieces), device_arg_memory(memory)};
    SPRY_GO(d->ctx, device_launch(program, "sai_largest", NULL, groups_for(count), GROUP, args, 5));
    SPRY_GO(d->ctx, device_get(memory, 0, &found, sizeof found));
    *bytes = (int64_t)found * PIECE;
done:
    device_free(memory);
    return status;
}

/* Those that are too large for local memory: a warp each, half of what is free for their rooms. */
static spry_status solve_large(const problems *p, const device_memory *list, int64_t begin,
                               int64_t count)
{
    spry_device *d = p->d;
    const device_team team = d->facts.processor ? (device_team){1, 1} : (device_team){WARP, WARP};
    int64_t bytes, used, most, available;
    device_memory *rooms = NULL;
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(d->ctx, largest(p, list, begin, count, &bytes));
    device_memory_now(d, &used, &most, &available);
    available = available < 0 ? d->facts.memory_bytes / 2 : available;
    available = available / 2 < d->facts.most_alloc ? available / 2 : d->facts.most_alloc;
    int64_t together = bytes > 0 ? available / bytes : 0;
    together = together > count ? count : together;
    if (together < 1 || bytes >= (int64_t)INT32_MAX * PIECE) {
        char asked[BASE_BYTES], left[BASE_BYTES];
        status = SPRY_FAIL(d->ctx, SPRY_STATUS_NO_MEMORY,
                           "the largest local problem takes %s on %s, where %s are free; try a "
                           "smaller most=, tau= or power=",
                           base_bytes((double)bytes, asked), d->facts.name,
                           base_bytes((double)available, left));
        goto done;
    }
    SPRY_GO(d->ctx, device_alloc(d, together * bytes, &rooms));
    SPRY_GO(d->ctx, launch(p, list, begin, count, team, 0, rooms, bytes, together));
done:
    device_free(rooms);
    return status;
}

/* Those that fit into local memory, in rooms of a class's size, or where many share that memory, of
 * one that is not much larger than it must be. A program is made for each size. */
static spry_status solve_local(const problems *p, const device_memory *list, int class,
                               int64_t begin, int64_t count)
{
    int64_t bytes = class_bytes(p->d, class), step = PIECE;
    device_team team;
    const spry_status status =
        p->d->facts.processor ? SPRY_STATUS_OK : largest(p, list, begin, count, &bytes);
    if (status != SPRY_STATUS_OK)
        return status;
    while (bytes > 4 * step)
        step *= 2;
    bytes = (bytes + step - 1) / step * step;
    return team_for(p->d, bytes, &team) ? launch(p, list, begin, count, team, bytes, NULL, 0, count)
                                        : solve_large(p, list, begin, count);
}

spry_status local_device_matrix(const device_matrix *P, spry_type type, device_memory *x,
                                device_matrix *X)
{
    spry_context *ctx = P->d->ctx;
    const int64_t offset_bytes = (P->rows + 1) * (int64_t)sizeof(int64_t);
    const int64_t column_bytes = P->nnz * (int64_t)sizeof(int32_t);
    spry_status status = SPRY_STATUS_OK;
    *X = *P;
    X->type = type;
    X->values = x;
    X->offsets = NULL;
    X->columns = NULL;
    SPRY_GO(ctx, device_alloc(P->d, offset_bytes, &X->offsets));
    SPRY_GO(ctx, device_alloc(P->d, column_bytes, &X->columns));
    SPRY_GO(ctx, device_copy(P->offsets, 0, X->offsets, 0, offset_bytes));
    SPRY_GO(ctx, device_copy(P->columns, 0, X->columns, 0, column_bytes));
done:
    if (status != SPRY_STATUS_OK)
        device_matrix_free(X);
    return status;
}

spry_status local_device_values(const device_matrix *B, const device_matrix *P, local_kind kind,
                                double shift, device_memory **x, local_outcome *outcome)
{
    spry_device *d = B->d;
    problems p = {.d = d, .B = B, .P = P, .kind = kind, .shift = shift};
    const int classes = local_classes(d);
    device_classes rows = {0};
    int32_t found[2];
    spry_status status = SPRY_STATUS_OK;
    *x = NULL;
    SPRY_GO(d->ctx, device_alloc(d, P->nnz * (int64_t)spry_type_size(B->type), &p.x));
    SPRY_GO(d->ctx, prepare(&p));
    SPRY_GO(d->ctx, device_classes_make(d, B->rows, p.pieces, classes + 1, &rows));
    for (int c = 0; c <= classes; c++) {
        const int64_t begin = rows.first[c], count = rows.first[c + 1] - begin;
        if (count == 0)
            continue;
        SPRY_GO(d->ctx, c == classes ? solve_large(&p, rows.rows, begin, count)
                                     : solve_local(&p, rows.rows, c, begin, count));
    }
    SPRY_GO(d->ctx, device_get(p.found, 0, found, sizeof found));
    *outcome = (local_outcome){found[0], found[1] == INT32_MAX ? -1 : found[1]};
    *x = p.x;
    p.x = NULL;
done:
    device_free(p.x);
    problems_clear(&p);
    device_classes_free(&rows);
    return status;
}
