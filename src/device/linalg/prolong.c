/* Prolongators in a device's memory: see setup.h. */
#include "device/linalg/setup.h"

#include <float.h>

enum { GROUP = 256, OPTIONS_SIZE = 96 };

static int64_t groups_for(int64_t count)
{
    return (count + GROUP - 1) / GROUP;
}

/* Entries for rows of nodes, `vectors` each, in the columns of their aggregate; as many as `nnz`
 * says, unless that is negative. */
static spry_status make_tentative(spry_device *d, device_program *p, spry_type type,
                                  const device_nodes *n, int64_t nnz, device_matrix *T)
{
    const int32_t rows = (int32_t)(n->count * n->block), has_vectors = n->near_null != NULL;
    const int32_t given = n->aggregate != NULL;
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(d->ctx, device_matrix_new(d, type, rows, n->aggregates * n->vectors, T));
    const device_memory *aggregate = given ? n->aggregate : T->offsets; /* not read then */
    const device_arg lengths[] = {DEVICE_VALUE(rows), DEVICE_VALUE(given),
                                  device_arg_memory(aggregate), device_arg_memory(T->offsets)};
    SPRY_GO(d->ctx, device_launch(p, "tentative_lengths", NULL, groups_for((int64_t)rows + 1),
                                  GROUP, lengths, 4));
    if (nnz >= 0) {
        T->nnz = nnz;
        SPRY_GO(d->ctx, device_sum_up(d, T->offsets, (int64_t)rows + 1));
        SPRY_GO(d->ctx, device_matrix_allocate_known(T));
    } else {
        SPRY_GO(d->ctx, device_matrix_allocate(T));
    }
    const device_arg fill[] = {DEVICE_VALUE(rows),
                               DEVICE_VALUE(given),
                               device_arg_memory(aggregate),
                               DEVICE_VALUE(has_vectors),
                               device_arg_memory(n->near_null ? n->near_null : T->values),
                               device_arg_memory(T->offsets),
                               device_arg_memory(T->columns),
                               device_arg_memory(T->values)};
    SPRY_GO(d->ctx, device_launch(p, "tentative_fill", NULL, groups_for(rows), GROUP, fill, 8));
done:
    if (status != SPRY_STATUS_OK)
        device_matrix_free(T);
    return status;
}

static spry_status build(spry_device *d, spry_type type, int block, int vectors, device_program **p)
{
    char options[OPTIONS_SIZE];
    const bool single = type_is_single(type);
    snprintf(options, sizeof options, "-DBLOCK=%d -DVECTORS=%d -DNEGLIGIBLE=%.1e", block, vectors,
             64 * (single ? (double)FLT_EPSILON : DBL_EPSILON));
    return device_matrix_build(d, type, GROUP, "lengths prolong", options, p);
}

/* The nodes of each aggregate, `count` in all, as the columns of a matrix. */
static spry_status list_nodes(spry_device *d, const device_nodes *n, int64_t count,
                              device_matrix *members)
{
    const device_nodes single = {n->count, n->aggregates, n->aggregate, 1, 1, NULL};
    device_program *p = NULL;
    device_matrix M = {0};
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(d->ctx, build(d, SPRY_TYPE_S, 1, 1, &p));
    SPRY_GO(d->ctx, make_tentative(d, p, SPRY_TYPE_S, &single, count, &M));
    SPRY_GO(d->ctx, device_matrix_transpose(&M, false, members));
done:
    device_matrix_free(&M);
    return status;
}

static spry_status orthonormalise(device_program *p, const device_nodes *n, device_matrix *T,
                                  device_memory *coarse, int64_t *vanished)
{
    spry_device *d = T->d;
    const int32_t aggregates = (int32_t)n->aggregates;
    device_matrix members = {0};
    device_memory *counter = NULL;
    int32_t zeros = 0;
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(d->ctx, list_nodes(d, n, T->nnz / n->vectors / n->block, &members));
    SPRY_GO(d->ctx, device_alloc(d, sizeof zeros, &counter));
    SPRY_GO(d->ctx, device_clear(counter, 0, sizeof zeros));
    const device_arg args[] = {
        DEVICE_VALUE(aggregates),           device_arg_memory(members.offsets),
        device_arg_memory(members.columns), device_arg_memory(T->offsets),
        device_arg_memory(T->values),       device_arg_memory(coarse),
        device_arg_memory(counter)};
    SPRY_GO(d->ctx, device_launch(p, "orthonormalise", NULL, groups_for(n->aggregates), GROUP, args,
                                  sizeof args / sizeof *args));
    if (n->near_null) /* ones do not vanish */
        SPRY_GO(d->ctx, device_get(counter, 0, &zeros, sizeof zeros));
    *vanished = zeros;
done:
    device_matrix_free(&members);
    device_free(counter);
    return status;
}

spry_status device_tentative(spry_device *d, spry_type type, const device_nodes *nodes,
                             device_matrix *T, device_memory **coarse, int64_t *vanished)
{
    const int64_t numbers = nodes->aggregates * nodes->vectors * nodes->vectors;
    device_program *p = NULL;
    spry_status status = SPRY_STATUS_OK;
    *T = (device_matrix){0};
    *coarse = NULL;
    SPRY_GO(d->ctx, build(d, type, nodes->block, nodes->vectors, &p));
    SPRY_GO(d->ctx, make_tentative(d, p, type, nodes, -1, T));
    SPRY_GO(d->ctx, device_alloc(d, numbers * (int64_t)spry_type_size(type), coarse));
    SPRY_GO(d->ctx, orthonormalise(p, nodes, T, *coarse, vanished));
done:
    if (status != SPRY_STATUS_OK) {
        device_matrix_free(T);
        device_free(*coarse);
        *coarse = NULL;
    }
    return status;
}

spry_status device_smooth_prolongator(const device_matrix *A, const device_memory *inverse,
                                      double omega, const device_matrix *T, device_matrix *P)
{
    device_matrix product = {0};
    spry_status status = SPRY_STATUS_OK;
    *P = (device_matrix){0};
    SPRY_GO(A->d->ctx, device_matrix_multiply(A, T, &product));
    SPRY_GO(A->d->ctx, device_matrix_add((spry_scalar){1, 0}, T, (spry_scalar){-omega, 0}, inverse,
                                         &product, P));
done:
    device_matrix_free(&product);
    return status;
}

/* --- nodes of blocks -----------------------------------------------------------------------------
 */

static spry_status square(const device_matrix *A, int32_t roots, const device_memory *from,
                          device_memory *to)
{
    const device_arg args[] = {DEVICE_VALUE(A->nnz), DEVICE_VALUE(roots), device_arg_memory(from),
                               device_arg_memory(to)};
    device_program *p = NULL;
    const spry_status status = device_entries_build(A->d, A->type, &p);
    return status == SPRY_STATUS_OK
               ? device_launch(p, "square_entries", NULL, groups_for(A->nnz), GROUP, args, 4)
               : status;
}

/* The sums of |a_ij|^2 over blocks are E^T |A|^2 E, where E has a one in each row. */
spry_status device_matrix_condense(const device_matrix *A, int block, device_matrix *out)
{
    spry_device *d = A->d;
    const int64_t count = A->rows / block;
    const device_nodes nodes = {.count = count, .aggregates = count, .block = block, .vectors = 1};
    device_memory *squares = NULL;
    device_program *p = NULL;
    device_matrix E = {0}, B = *A;
    spry_status status = SPRY_STATUS_OK;
    *out = (device_matrix){0};
    if (A->rows != A->cols || A->rows % block != 0)
        return SPRY_FAIL(d->ctx, SPRY_STATUS_BAD_USAGE,
                         "%" PRId64 " x %" PRId64 " is not a square of blocks of %d", A->rows,
                         A->cols, block);
    SPRY_GO(d->ctx, build(d, A->type, block, 1, &p));
    SPRY_GO(d->ctx, make_tentative(d, p, A->type, &nodes, A->rows, &E));
    SPRY_GO(d->ctx, device_alloc(d, A->nnz * (int64_t)spry_type_size(A->type), &squares));
    SPRY_GO(d->ctx, square(A, 0, A->values, squares));
    B.values = squares;
    SPRY_GO(d->ctx, device_matrix_triple(NULL, &B, &E, out));
    SPRY_GO(d->ctx, square(out, 1, out->values, out->values));
done:
    if (status != SPRY_STATUS_OK)
        device_matrix_free(out);
    device_free(squares);
    device_matrix_free(&E);
    return status;
}
