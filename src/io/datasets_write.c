/* Named arrays of HDF5 files, written. */
#include "io/hdf5_write.h"

#include <private/programs.h>

enum { MOST = 8 };

/* How many dimensions there are, leading sides of 0 not being any, and how many numbers. */
static int dimensions_of(const int64_t *sides, int64_t *count)
{
    int first = 0;
    while (first < HDF5_SIDES && sides[first] == 0)
        first++;
    *count = first < HDF5_SIDES ? 1 : 0;
    for (int k = first; k < HDF5_SIDES; k++)
        *count = sides[k] > 0 && *count <= INT64_MAX / sides[k] ? *count * sides[k] : -1;
    return HDF5_SIDES - first;
}

static spry_status check_set(spry_context *ctx, const char *name, const char *before,
                             const int64_t *sides, const spry_vector *values)
{
    int64_t count = 0;
    const int dimensions = dimensions_of(sides, &count);
    if (!name || !values)
        return SPRY_FAIL(ctx, SPRY_STATUS_BAD_USAGE, "a data set has no name or no values");
    if (!*name || strlen(name) >= HDF5_SLOT)
        return SPRY_FAIL(ctx, SPRY_STATUS_BAD_USAGE,
                         "data set \"%s\": a name has one to %d letters", name, HDF5_SLOT - 1);
    if (before && strcmp(before, name) >= 0)
        return SPRY_FAIL(ctx, SPRY_STATUS_BAD_USAGE,
                         "data set %s comes before %s, and only once: names are sorted", name,
                         before);
    if (dimensions == 0 || count != values->n)
        return SPRY_FAIL(ctx, SPRY_STATUS_BAD_USAGE,
                         "data set %s: %" PRId64 " numbers for sides of %" PRId64 ", %" PRId64
                         " and %" PRId64,
                         name, values->n, sides[0], sides[1], sides[2]);
    return SPRY_STATUS_OK;
}

static void put_sets(hdf5_image *m, int count, const char *const *names, hdf5_piece *pieces)
{
    size_t targets[MOST] = {0};
    hdf5_begin(m);
    hdf5_set_root(m, hdf5_put_group(m, count, names, 0, NULL, targets));
    for (int k = 0; k < count; k++)
        hdf5_set_target(m, targets[k], hdf5_put_data(m, &pieces[k]));
    hdf5_settle(m, count, pieces);
}

spry_status spry_datasets_write(spry_context *ctx, const char *path, int count,
                                const char *const *names, const int64_t *sides,
                                const spry_vector *const *values)
{
    SPRY_NEED(ctx, ctx, path, names, sides, values);
    spry_status status = SPRY_STATUS_OK;
    const spry_vector *on_host[MOST] = {0};
    spry_vector *copies[MOST] = {0};
    hdf5_piece pieces[MOST] = {0};
    hdf5_image m = {.user_block = 0};
    io_writer *w = NULL;
    if (count < 1 || count > MOST)
        return SPRY_FAIL(ctx, SPRY_STATUS_BAD_USAGE, "%d data sets; a file has 1 to %d", count,
                         MOST);
    for (int k = 0; k < count; k++) {
        const int64_t *its = sides + (ptrdiff_t)HDF5_SIDES * k;
        int64_t elements;
        SPRY_GO(ctx, check_set(ctx, names[k], k > 0 ? names[k - 1] : NULL, its, values[k]));
        SPRY_GO(ctx, vector_on_host(values[k], &on_host[k], &copies[k]));
        pieces[k] = (hdf5_piece){
            .type = values[k]->type, .parts = {"r", "i"}, .rank = dimensions_of(its, &elements)};
        for (int d = 0; d < pieces[k].rank; d++)
            pieces[k].sides[d] = (uint64_t)its[HDF5_SIDES - pieces[k].rank + d];
    }
    put_sets(&m, count, names, pieces);
    SPRY_GO(ctx, io_create(ctx, path, &w));
    io_write(w, m.bytes, m.used);
    for (int k = 0; k < count; k++)
        io_write(w, on_host[k]->data, (size_t)on_host[k]->n * spry_type_size(on_host[k]->type));
    SPRY_GO(ctx, io_commit(ctx, w));
done:
    for (int k = 0; k < MOST; k++)
        spry_vector_free(copies[k]);
    return status;
}
