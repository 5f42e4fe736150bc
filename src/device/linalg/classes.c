/* Rows of matrices by their size, for kernels whose tables are as large as rows need: matrix.h. */
#include "device/linalg/matrix.h"

enum { GROUP = 256, OPTIONS_SIZE = 64, SMALLEST = 16 };

/* Processors, which have local memory in plenty, have few classes: programs take long to compile.
 */
static int step_of(const spry_device *d)
{
    enum { STEP = 1, PROCESSORS_STEP = 3 };
    return d->facts.processor ? PROCESSORS_STEP : STEP;
}

int device_class_size(const spry_device *d, int class)
{
    return SMALLEST << step_of(d) * class;
}

static spry_status build(spry_device *d, device_program **p)
{
    char options[OPTIONS_SIZE];
    snprintf(options, sizeof options, "-DSMALLEST=%d -DSTEP=%d", SMALLEST, step_of(d));
    return device_matrix_build(d, SPRY_TYPE_S, GROUP, "classes", options, p);
}

spry_status device_row_lengths(const device_matrix *A, device_memory *sizes)
{
    const int32_t rows = (int32_t)A->rows;
    device_program *p = NULL;
    const spry_status status = build(A->d, &p);
    if (status != SPRY_STATUS_OK)
        return status;
    const device_arg args[] = {DEVICE_VALUE(rows), device_arg_memory(A->offsets),
                               device_arg_memory(sizes)};
    return device_launch(p, "row_lengths", NULL, (A->rows + GROUP - 1) / GROUP, GROUP, args, 3);
}

void device_classes_free(device_classes *c)
{
    device_free(c->rows);
    device_free(c->sums);
    *c = (device_classes){0};
}

spry_status device_classes_begin(spry_device *d, int64_t rows, const device_memory *sizes,
                                 int classes, device_classes *out)
{
    const int64_t groups = (rows + GROUP - 1) / GROUP;
    const int64_t bytes = 2 * DEVICE_MOST_CLASSES * (int64_t)sizeof(int32_t);
    const int32_t row_count = (int32_t)rows, class_count = classes;
    device_classes made = {.classes = classes};
    device_program *p = NULL;
    spry_status status = SPRY_STATUS_OK;
    *out = (device_classes){0};
    SPRY_GO(d->ctx, build(d, &p));
    SPRY_GO(d->ctx, device_alloc(d, bytes, &made.sums));
    SPRY_GO(d->ctx, device_alloc(d, rows * (int64_t)sizeof(int32_t), &made.rows));
    SPRY_GO(d->ctx, device_clear(made.sums, 0, bytes));
    const device_arg args[] = {DEVICE_VALUE(row_count), DEVICE_VALUE(class_count),
                               device_arg_memory(sizes), device_arg_memory(made.sums),
                               device_arg_memory(made.rows)};
    SPRY_GO(d->ctx, device_launch(p, "classes_count", NULL, groups, GROUP, args, 4));
    SPRY_GO(d->ctx, device_launch(p, "classes_list", NULL, groups, GROUP, args, 5));
    *out = made;
    made = (device_classes){0};
done:
    device_classes_free(&made);
    return status;
}

spry_status device_classes_end(spry_device *d, device_classes *c, const device_piece *other)
{
    int32_t counts[DEVICE_MOST_CLASSES];
    device_piece pieces[2] = {{c->sums, 0, counts, sizeof counts}};
    if (other)
        pieces[1] = *other;
    const spry_status status = device_get_pieces(d, pieces, other ? 2 : 1);
    for (int k = 0; k < DEVICE_MOST_CLASSES && status == SPRY_STATUS_OK; k++)
        c->first[k + 1] = c->first[k] + counts[k];
    return status;
}

spry_status device_classes_make(spry_device *d, int64_t rows, const device_memory *sizes,
                                int classes, device_classes *out)
{
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(d->ctx, device_classes_begin(d, rows, sizes, classes, out));
    SPRY_GO(d->ctx, device_classes_end(d, out, NULL));
done:
    if (status != SPRY_STATUS_OK)
        device_classes_free(out);
    return status;
}

/*
 * Where warps run in step, a row's team are some neighbours of a warp, a quarter of the entries
 * that it may have; beyond a warp it is a whole group. Elsewhere teams of several are whole groups,
 * and processors, whose work-items run one after another, have teams of one while rows are short.
 */
device_team device_team_for(const spry_device *d, int class)
{
    enum { WARP = 32, MOST = 256, WARPS_GROUP = 128, ALONE = 128 };
    const int size = device_class_size(d, class), most = d->facts.most_group;
    /* NVIDIA's, by either engine: the only ones with a barrier of some of a warp. */
    const bool warps = d->facts.lanes == WARP && d->facts.has_tickets && !d->facts.processor;
    int team = size / 4;
    if (d->facts.processor && size <= ALONE)
        return (device_team){1, ALONE / size};
    if (warps && team <= WARP)
        return (device_team){team, WARPS_GROUP};
    team = team < WARP ? WARP : team > MOST ? MOST : team;
    while (team > most)
        team /= 2;
    return (device_team){team, team};
}
