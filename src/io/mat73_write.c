/* Writing MATLAB's files of level 7.3: one variable, A or x, in HDF5 behind MATLAB's header. */
#include "io/hdf5_write.h"
#include "io/mat.h"

enum { USER_BLOCK = 512, MOST_DATA = 3, PIECE = 4096 };

static hdf5_attribute class_attribute(const char *class)
{
    return (hdf5_attribute){"MATLAB_class", HDF5_TEXT, strlen(class), 0, class};
}

static hdf5_attribute count_attribute(const char *name, size_t bytes, const uint64_t *number)
{
    return (hdf5_attribute){name, HDF5_COUNT, bytes, 0, number};
}

/* MATLAB's own header: its text, version 2, and which bytes come first. */
static void begin_file(io_writer *w, const hdf5_image *m)
{
    char block[USER_BLOCK] = {0};
    memset(block, ' ', MAT_HEADER - 12);
    memcpy(block, "MATLAB 7.3 MAT-file, written by spry HDF5 schema 1.00 .", 55);
    memcpy(block + MAT_HEADER - 4, "\x00\x02IM", 4);
    io_write(w, block, sizeof block);
    io_write(w, m->bytes, m->used);
}

/* Whole numbers as 64 bits. */
static void put_whole(io_writer *w, const void *numbers, bool wide, int64_t count)
{
    for (int64_t first = 0; first < count && !io_write_failed(w); first += PIECE) {
        uint64_t values[PIECE];
        int used = 0;
        for (; used < PIECE && first + used < count; used++)
            values[used] = wide ? (uint64_t)((const int64_t *)numbers)[first + used]
                                : (uint64_t)((const int32_t *)numbers)[first + used];
        io_write(w, values, (size_t)used * sizeof *values);
    }
}

/* Numbers as double precision: MATLAB's sparse matrices have no other. */
static void put_doubles(io_writer *w, spry_type type, const void *values, int64_t count)
{
    const int parts = spry_type_is_complex(type) ? 2 : 1;
    for (int64_t first = 0; first < count && !io_write_failed(w); first += PIECE) {
        double doubles[2 * PIECE];
        int used = 0;
        for (int k = 0; k < PIECE && first + k < count; k++) {
            const spry_scalar value = value_get(type, values, first + k);
            doubles[used++] = value.re;
            if (parts == 2)
                doubles[used++] = value.im;
        }
        io_write(w, doubles, (size_t)used * sizeof *doubles);
    }
}

spry_status io_mat_by_columns(const spry_matrix *A, spry_matrix **B)
{
    spry_context *ctx = A->ctx;
    spry_status status = SPRY_STATUS_OK;
    spry_matrix *whole = NULL;
    SPRY_GO(ctx, spry_matrix_expand(A, &whole));
    SPRY_GO(ctx, spry_matrix_convert(whole, SPRY_FORMAT_CSC, B));
    SPRY_GO(ctx, spry_matrix_sum_duplicates(*B));
done:
    spry_matrix_free(whole);
    return status;
}

spry_status io_mat73_write_matrix(const spry_matrix *A, const char *path)
{
    static const char *const variable[] = {"A"}, *const members[] = {"data", "ir", "jc"};
    spry_context *ctx = A->ctx;
    spry_status status = SPRY_STATUS_OK;
    spry_matrix *B = NULL;
    io_writer *w = NULL;
    hdf5_image m = {.user_block = USER_BLOCK};
    size_t root_target, targets[MOST_DATA];
    SPRY_GO(ctx, io_mat_by_columns(A, &B));
    const matrix_arrays *a = &B->a;
    const bool complex = spry_type_is_complex(a->type);
    const uint64_t nnz = (uint64_t)a->nnz, rows = (uint64_t)a->rows;
    const hdf5_attribute attributes[] = {class_attribute("double"),
                                         count_attribute("MATLAB_sparse", 8, &rows)};
    hdf5_piece pieces[MOST_DATA] = {{.type = complex ? SPRY_TYPE_Z : SPRY_TYPE_D,
                                     .parts = {"real", "imag"},
                                     .rank = 1,
                                     .sides = {nnz}},
                                    {.whole = true, .rank = 1, .sides = {nnz}},
                                    {.whole = true, .rank = 1, .sides = {(uint64_t)a->cols + 1}}};
    hdf5_begin(&m);
    hdf5_set_root(&m, hdf5_put_group(&m, 1, variable, 0, NULL, &root_target));
    hdf5_set_target(&m, root_target, hdf5_put_group(&m, 3, members, 2, attributes, targets));
    for (int k = 0; k < MOST_DATA; k++)
        hdf5_set_target(&m, targets[k], hdf5_put_data(&m, &pieces[k]));
    hdf5_settle(&m, MOST_DATA, pieces);
    SPRY_GO(ctx, io_create(ctx, path, &w));
    begin_file(w, &m);
    put_doubles(w, a->type, a->values, a->nnz);
    put_whole(w, a->row_index, false, a->nnz);
    put_whole(w, a->offsets, true, a->cols + 1);
    SPRY_GO(ctx, io_commit(ctx, w));
done:
    spry_matrix_free(B);
    return status;
}

/* An empty array is the list of its sides. */
spry_status io_mat73_write_vector(const spry_vector *v, int64_t cols, const char *path)
{
    static const char *const variable[] = {"x"};
    spry_context *ctx = v->ctx;
    spry_status status = SPRY_STATUS_OK;
    io_writer *w = NULL;
    hdf5_image m = {.user_block = USER_BLOCK};
    size_t target;
    const uint64_t yes = 1;
    const bool single = v->type == SPRY_TYPE_S || v->type == SPRY_TYPE_C, empty = v->n == 0;
    const int64_t sides[2] = {v->n / cols, cols};
    const hdf5_attribute attributes[] = {class_attribute(single ? "single" : "double"),
                                         count_attribute("MATLAB_empty", 1, &yes)};
    hdf5_piece p = {.type = v->type,
                    .parts = {"real", "imag"},
                    .whole = empty,
                    .rank = empty ? 1 : 2,
                    .sides = {empty ? 2 : (uint64_t)sides[1], (uint64_t)sides[0]},
                    .attributes = empty ? 2 : 1,
                    .attribute = attributes};
    hdf5_begin(&m);
    hdf5_set_root(&m, hdf5_put_group(&m, 1, variable, 0, NULL, &target));
    hdf5_set_target(&m, target, hdf5_put_data(&m, &p));
    hdf5_settle(&m, 1, &p);
    SPRY_GO(ctx, io_create(ctx, path, &w));
    begin_file(w, &m);
    if (empty)
        put_whole(w, sides, true, 2);
    else
        io_write(w, v->data, (size_t)v->n * spry_type_size(v->type));
    SPRY_GO(ctx, io_commit(ctx, w));
done:
    return status;
}
