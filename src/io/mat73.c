/*
 * MATLAB's files of level 7.3, which are HDF5: the first sparse matrix by name, within structs,
 * too; where there is none, the first full array of numbers. A sparse matrix is a group of the data
 * sets ir, jc and data with the number of rows as an attribute, a full array is a data set by
 * columns, complex numbers are pairs. Octave's files (save -hdf5) are read likewise: their matrix
 * is a group of ridx, cidx, data, nr and nc in a group "value".
 */
#include "io/hdf5.h"

enum { DEPTH = 5, SIDES = 2 }; /* of groups in groups that are looked through; of matrices */

typedef struct reading {
    hdf5_file *f;
    io_content *content;
    bool dense; /* full arrays are taken, too */
    bool found;
    int depth;
} reading;

/* Numbers of a data set of a group; none where there is no such data set. */
static spry_status read_member(hdf5_file *f, const hdf5_object *group, const char *name,
                               hdf5_numbers *numbers, bool *found)
{
    spry_status status = SPRY_STATUS_OK;
    hdf5_object member;
    *found = false;
    SPRY_GO(f->ctx, hdf5_find(f, group, name, &member));
    if (!member.is_data || member.rank < 0 || member.rank > SIDES || member.type.part == 0)
        goto done;
    SPRY_GO(f->ctx, hdf5_read(f, &member, numbers));
    *found = true;
done:
    return status;
}

/* A whole number that is a data set by itself, or -1. */
static spry_status read_side(hdf5_file *f, const hdf5_object *group, const char *name,
                             int64_t *side)
{
    spry_status status = SPRY_STATUS_OK;
    hdf5_object o;
    hdf5_numbers n = {0};
    *side = -1;
    SPRY_GO(f->ctx, hdf5_find(f, group, name, &o));
    if (!o.is_data || o.rank < 0 || o.type.part == 0 || o.layout == HDF5_CHUNKS)
        goto done; /* no program cuts one number into chunks, but a hostile file could, of a
                      gigabyte each */
    for (int k = 0; k < o.rank; k++)
        if (o.sides[k] != 1)
            goto done;
    SPRY_GO(f->ctx, hdf5_read(f, &o, &n));
    *side = (int64_t)(hdf5_number(n.re.data, io_mat_number_size(n.re.type)) & INT64_MAX);
done:
    base_free(f->ctx, n.memory);
    return status;
}

static spry_status read_sparse(reading *m, const hdf5_object *group, const char *const names[3],
                               int64_t rows, int64_t cols)
{
    hdf5_file *f = m->f;
    spry_status status = SPRY_STATUS_OK;
    hdf5_numbers n[3] = {0};
    bool found[3];
    for (int k = 0; k < 3; k++)
        SPRY_GO(f->ctx, read_member(f, group, names[k], &n[k], &found[k]));
    if (!found[1] || n[1].re.count == 0)
        SPRY_GO(f->ctx, hdf5_broken(f, "a sparse matrix has no offsets of columns"));
    const mat_sparse s = {.rows = rows,
                          .cols = cols >= 0 ? cols : (int64_t)n[1].re.count - 1,
                          .row_index = n[0].re,
                          .offsets = n[1].re,
                          .re = n[2].re,
                          .im = n[2].im};
    SPRY_GO(f->ctx, io_mat_take_sparse(f->ctx, f->path, &s, m->content));
    m->found = true;
done:
    for (int k = 0; k < 3; k++)
        base_free(f->ctx, n[k].memory);
    return status;
}

/* Dimensions are listed last first: MATLAB's arrays are by columns, HDF5's by rows. */
static spry_status read_dense(reading *m, const hdf5_object *o)
{
    hdf5_file *f = m->f;
    spry_status status = SPRY_STATUS_OK;
    hdf5_numbers n = {0};
    if (o->rank < 0 || o->rank > SIDES || o->type.part == 0 || o->empty ||
        strcmp(o->class, "char") == 0)
        return SPRY_STATUS_OK;
    SPRY_GO(f->ctx, hdf5_read(f, o, &n));
    if (n.re.count == 0)
        return SPRY_STATUS_OK;
    const int64_t rows = o->rank > 0 ? (int64_t)o->sides[o->rank - 1] : 1;
    SPRY_GO(f->ctx, io_mat_take_dense(f->ctx, rows, (int64_t)n.re.count / rows,
                                      o->type.part == MI_SINGLE, &n.re, &n.im, m->content));
    m->found = true;
done:
    base_free(f->ctx, n.memory);
    return status;
}

static spry_status look_at(void *data, const char *name, uint64_t address, bool *done);

static spry_status read_group(reading *m, const hdf5_object *group)
{
    static const char *const matlab[3] = {"ir", "jc", "data"};
    static const char *const octave[3] = {"ridx", "cidx", "data"};
    hdf5_file *f = m->f;
    spry_status status = SPRY_STATUS_OK;
    int64_t rows = group->sparse_rows, cols = -1;
    if (rows >= 0)
        return m->dense ? SPRY_STATUS_OK : read_sparse(m, group, matlab, rows, cols);
    SPRY_GO(f->ctx, read_side(f, group, "nr", &rows));
    if (rows >= 0)
        SPRY_GO(f->ctx, read_side(f, group, "nc", &cols));
    if (rows >= 0 && cols >= 0)
        return m->dense ? SPRY_STATUS_OK : read_sparse(m, group, octave, rows, cols);
    m->depth++;
    SPRY_GO(f->ctx, hdf5_links(f, group, look_at, m));
    m->depth--;
done:
    return status;
}

/* A variable or a field; "#refs#" and its like have what cells and objects point to. */
static spry_status look_at(void *data, const char *name, uint64_t address, bool *done)
{
    reading *m = data;
    spry_status status = SPRY_STATUS_OK;
    hdf5_object o;
    if (name[0] == '#')
        return SPRY_STATUS_OK;
    SPRY_GO(m->f->ctx, hdf5_describe(m->f, address, &o));
    if (o.is_data && m->dense)
        SPRY_GO(m->f->ctx, read_dense(m, &o));
    else if (o.is_group && m->depth < DEPTH)
        SPRY_GO(m->f->ctx, read_group(m, &o));
    *done = m->found;
done:
    return status;
}

static spry_status read_file(spry_context *ctx, io_bytes *bytes, io_content *content)
{
    spry_status status = SPRY_STATUS_OK;
    hdf5_file f;
    reading m = {.f = &f, .content = content};
    for (int pass = 0; pass < 2 && !m.found; pass++) {
        hdf5_object root;
        m.dense = pass == 1;
        SPRY_GO(ctx, hdf5_open(ctx, bytes, &f));
        SPRY_GO(ctx, hdf5_describe(&f, f.root, &root));
        SPRY_GO(ctx, hdf5_links(&f, &root, look_at, &m));
    }
    if (!m.found)
        return SPRY_FAIL(ctx, SPRY_STATUS_BAD_INPUT, "%s: there is no matrix of numbers in it",
                         bytes->path);
done:
    return status;
}

const io_format io_mat73 = {
    .name = "mat73",
    .endings = ".v73.mat",
    .summary = "MATLAB's file, level 7.3 (HDF5), the first matrix in it; Octave's save -hdf5, too",
    .matches = hdf5_is,
    .read = read_file,
    .write_matrix = io_mat73_write_matrix,
    .write_vector = io_mat73_write_vector,
};
