/* Named arrays of HDF5 files, read. */
#include "io/hdf5.h"

#include <private/programs.h>

static spry_status find_set(hdf5_file *f, const char *name, int64_t *sides, hdf5_object *set)
{
    spry_status status = SPRY_STATUS_OK;
    hdf5_object root;
    SPRY_GO(f->ctx, hdf5_describe(f, f->root, &root));
    SPRY_GO(f->ctx, hdf5_find(f, &root, name, set));
    if (set->address == 0)
        memset(sides, 0, HDF5_RANK * sizeof *sides);
    if (set->address == 0 || !set->is_data)
        return SPRY_FAIL(f->ctx, SPRY_STATUS_BAD_INPUT, "%s: there is no data set %s in it",
                         f->path, name);
    if (set->rank < 0 || set->type.part == 0)
        return SPRY_FAIL(f->ctx, SPRY_STATUS_BAD_INPUT,
                         "%s: data set %s is no array of numbers of up to %d dimensions", f->path,
                         name, HDF5_RANK);
done:
    return status;
}

static spry_status read_set(hdf5_file *f, const char *name, int64_t *sides, spry_vector **values)
{
    spry_status status = SPRY_STATUS_OK;
    hdf5_object set = {0};
    hdf5_numbers numbers = {0};
    io_content content = {0};
    SPRY_GO(f->ctx, find_set(f, name, sides, &set));
    SPRY_GO(f->ctx, hdf5_read(f, &set, &numbers));
    memset(sides, 0, HDF5_RANK * sizeof *sides);
    for (int k = 0; k < set.rank; k++)
        sides[HDF5_RANK - set.rank + k] = (int64_t)set.sides[k];
    if (set.rank == 0) /* one number by itself */
        sides[HDF5_RANK - 1] = 1;
    SPRY_GO(f->ctx,
            io_mat_take_dense(f->ctx, (int64_t)numbers.re.count, 1, set.type.part == MI_SINGLE,
                              &numbers.re, &numbers.im, &content));
    SPRY_GO(f->ctx, spry_vector_new(f->ctx, content.dense.type, (int64_t)numbers.re.count,
                                    content.dense.values, SPRY_OWN_TAKE, values));
    content.dense.values = NULL;
done:
    base_free(f->ctx, content.dense.values);
    base_free(f->ctx, numbers.memory);
    return status;
}

spry_status spry_dataset_read(spry_context *ctx, const char *path, const char *name, int64_t *sides,
                              spry_vector **values)
{
    SPRY_NEED(ctx, ctx, path, name, sides, values);
    io_bytes bytes = {0};
    hdf5_file f;
    spry_status status = SPRY_STATUS_OK;
    *values = NULL;
    for (int k = 0; k < HDF5_RANK; k++)
        sides[k] = -1;
    SPRY_GO(ctx, io_open(ctx, path, &bytes));
    if (!hdf5_is(&bytes))
        SPRY_GO(ctx, SPRY_FAIL(ctx, SPRY_STATUS_BAD_INPUT, "%s: this is no HDF5 file", path));
    SPRY_GO(ctx, hdf5_open(ctx, &bytes, &f));
    SPRY_GO(ctx, read_set(&f, name, sides, values));
done:
    io_close(ctx, &bytes);
    return status;
}
