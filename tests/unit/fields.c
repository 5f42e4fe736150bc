/* Fields as files: what is written is looked at byte by byte. */
#include "io/hdf5.h"
#include "matrix/matrix.h"
#include "support/files.h"
#include "support/support.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

static void count_up(void *data, const double *place, spry_scalar *value)
{
    double *number = data;
    (void)place;
    *value = (spry_scalar){*number, -*number};
    *number += 1;
}

static spry_vector *counted(const spry_grid *grid, spry_type type, bool all)
{
    double number = 0;
    spry_vector *v;
    assert_int_equal(spry_field_new(grid, type, all, count_up, &number, &v), SPRY_STATUS_OK);
    return v;
}

static uint32_t number_at(const unsigned char *p)
{
    return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

static void picture(void **state)
{
    spry_context *ctx = *state;
    const char *path = files_path("field.png");
    spry_grid *grid;
    size_t size;
    unsigned char rows[3 * (3 * 5 + 1)];
    uLongf unpacked = sizeof rows;
    assert_ok(ctx, spry_grid_new(ctx, "6x4x3", &grid)); /* unknowns: 5 x 3 x 2 */
    spry_vector *v = counted(grid, SPRY_TYPE_D, false);
    assert_ok(ctx, spry_field_write(grid, v, path, "across=z at=1 low=15 high=29"));
    unsigned char *data = (unsigned char *)files_load(path, &size);
    assert_memory_equal(data, "\x89PNG\r\n\x1a\n", 8);
    assert_int_equal(number_at(data + 8), 13);
    assert_memory_equal(data + 12, "IHDR", 4);
    assert_int_equal(number_at(data + 16), 5);
    assert_int_equal(number_at(data + 20), 3);
    const unsigned char *chunk = data + 8 + 12 + 13;
    const uint32_t length = number_at(chunk);
    assert_memory_equal(chunk + 4, "IDAT", 4);
    assert_int_equal(number_at(chunk + 8 + length), crc32(0, chunk + 4, length + 4));
    assert_int_equal(uncompress(rows, &unpacked, chunk + 8, length), Z_OK);
    assert_int_equal(unpacked, sizeof rows);
    /* the last unknown is at the right of the uppermost row, and brightest; the darkest is below */
    static const unsigned char bright[] = {252, 252, 190}, dark[] = {8, 8, 40};
    assert_memory_equal(rows + 1 + 3 * 4, bright, 3);
    assert_memory_equal(rows + 2 * 16 + 1, dark, 3);
    assert_memory_equal(chunk + 12 + length + 4, "IEND", 4);
    assert_int_equal(chunk + 12 + length + 12 - data, size);
    free(data);
    unlink(path);
    assert_status(ctx, SPRY_STATUS_BAD_USAGE,
                  spry_field_write(grid, v, files_path("field.gif"), NULL));
    assert_status(ctx, SPRY_STATUS_BAD_USAGE, spry_field_write(grid, v, path, "at=2"));
    spry_vector_free(v);
    spry_grid_free(grid);
}

static void paraview(void **state)
{
    spry_context *ctx = *state;
    const char *path = files_path("field.vti");
    for (int t = 0; t < 4; t++) {
        const spry_type type = support_types[t];
        const bool is_complex = spry_type_is_complex(type), single = type_is_single(type);
        const size_t number = single ? 4 : 8;
        spry_grid *grid;
        size_t size;
        uint64_t bytes;
        assert_ok(ctx, spry_grid_new(ctx, "4x4 box=0:1,2:4 x=neumann", &grid));
        spry_vector *v = counted(grid, type, false);
        assert_ok(ctx, spry_field_write(grid, v, path, NULL));
        unsigned char *data = (unsigned char *)files_load(path, &size);
        assert_non_null(strstr(
            (char *)data, "WholeExtent=\"0 4 0 2 0 0\" Origin=\"0 2.5 0\" Spacing=\"0.25 0.5 1\""));
        assert_non_null(strstr((char *)data, single ? "Float32" : "Float64"));
        const unsigned char *at =
            (unsigned char *)strstr((char *)data, "encoding=\"raw\">\n_") + 17;
        for (int part = 0; part <= is_complex; part++) {
            memcpy(&bytes, at, 8);
            assert_int_equal(bytes, 15 * number);
            for (size_t k = 0; k < 15; k++) {
                float f;
                double d;
                memcpy(&f, at + 8 + k * number, 4);
                memcpy(&d, at + 8 + k * number, single ? 4 : 8);
                assert_true((single ? (double)f : d) == (part ? -(double)k : (double)k));
            }
            at += 8 + bytes;
        }
        assert_memory_equal(at, "\n</AppendedData>", 16);
        free(data);
        spry_vector_free(v);
        spry_grid_free(grid);
    }
    unlink(path);
}

static void array(void **state)
{
    spry_context *ctx = *state;
    const char *path = files_path("field.npy");
    spry_grid *grid;
    size_t size;
    assert_ok(ctx, spry_grid_new(ctx, "6x4x3", &grid));
    spry_vector *v = counted(grid, SPRY_TYPE_D, true);
    assert_ok(ctx, spry_field_write(grid, v, path, NULL));
    unsigned char *data = (unsigned char *)files_load(path, &size);
    assert_non_null(strstr((char *)data + 10, "'shape': (4, 5, 7)"));
    assert_int_equal(size % 64, v->n * 8 % 64);
    assert_memory_equal(data + size - v->n * 8, v->data, (size_t)v->n * 8);
    free(data);
    unlink(path);
    spry_vector_free(v);
    spry_grid_free(grid);
}

/* What the header of the data set says: sides, and attributes by their names. */
typedef struct described {
    int rank;
    uint64_t sides[3];
    char names[3][2];
    double origin[3], spacing[3];
    int attributes;
} described;

static size_t padded(size_t bytes)
{
    return (bytes + 7) / 8 * 8;
}

static spry_status take_message(void *data, const hdf5_message *m)
{
    enum { SPACE = 1, ATTRIBUTE = 12 };
    described *d = data;
    const char *body = m->body.data;
    if (m->type == SPACE) {
        d->rank = body[1];
        memcpy(d->sides, body + 8, 8 * (size_t)d->rank);
    }
    if (m->type != ATTRIBUTE)
        return SPRY_STATUS_OK;
    const char *name = body + 8, *type = name + padded(hdf5_number(body + 2, 2));
    const char *space = type + padded(hdf5_number(body + 4, 2));
    const char *value = space + padded(hdf5_number(body + 6, 2));
    const size_t bytes = hdf5_number(type + 4, 4) * hdf5_number(space + 8, 8);
    assert_int_equal(space[1], 1);
    assert_true(value + bytes <= body + m->body.size);
    void *to = strcmp(name, "names") == 0     ? (void *)d->names
               : strcmp(name, "origin") == 0  ? (void *)d->origin
               : strcmp(name, "spacing") == 0 ? (void *)d->spacing
                                              : NULL;
    assert_non_null(to);
    assert_int_equal(bytes, (to == d->names ? 2 : 8) * (size_t)d->rank);
    memcpy(to, value, bytes);
    d->attributes++;
    return SPRY_STATUS_OK;
}

/* By our own reader. Where it takes the numbers for a matrix, they come back that way, too. */
static void hdf5(void **state)
{
    static const struct {
        const char *text;
        bool all;
        described d;
    } cases[] = {
        {"6 box=-1:2", false, {1, {5}, {"x"}, {-0.5}, {0.5}, 3}},
        {"4x4 box=0:1,2:4 x=neumann", false, {2, {3, 5}, {"y", "x"}, {2.5, 0}, {0.5, 0.25}, 3}},
        {"6x4x2", true, {3, {3, 5, 7}, {"z", "y", "x"}, {0, 0, 0}, {0.5, 0.25, 1.0 / 6}, 3}}};
    spry_context *ctx = *state;
    const char *path = files_path("field.h5");
    for (int k = 0; k < 12; k++) {
        const described *expected = &cases[k / 4].d;
        const spry_type type = support_types[k % 4];
        const size_t size = spry_type_size(type);
        described d = {0};
        spry_grid *grid;
        spry_vector *back = NULL;
        int64_t columns = 0;
        io_bytes bytes = {.path = path};
        hdf5_file f;
        hdf5_object root, object;
        assert_ok(ctx, spry_grid_new(ctx, cases[k / 4].text, &grid));
        spry_vector *v = counted(grid, type, cases[k / 4].all);
        assert_ok(ctx, spry_field_write(grid, v, path, NULL));
        bytes.data = files_load(path, &bytes.size);
        assert_ok(ctx, hdf5_open(ctx, &bytes, &f));
        assert_ok(ctx, hdf5_describe(&f, f.root, &root));
        assert_ok(ctx, hdf5_find(&f, &root, "field", &object));
        assert_ok(ctx, hdf5_messages(&f, object.address, take_message, &d));
        assert_memory_equal(&d, expected, sizeof d);
        assert_int_equal(object.type.part, type_is_single(type) ? MI_SINGLE : MI_DOUBLE);
        assert_int_equal(object.type.complex, spry_type_is_complex(type));
        assert_int_equal(object.start + (size_t)v->n * size, bytes.size);
        assert_memory_equal(bytes.data + object.start, v->data, (size_t)v->n * size);
        if (d.rank < 3) {
            assert_ok(ctx, spry_columns_read(ctx, path, NULL, &back, &columns));
            assert_int_equal(columns, d.rank == 1 ? 1 : d.sides[0]);
            assert_memory_equal(back->data, v->data, (size_t)v->n * size);
        }
        spry_vector_free(back);
        free((char *)bytes.data);
        spry_vector_free(v);
        spry_grid_free(grid);
    }
    unlink(path);
}

static spry_status write_all(spry_context *ctx, void *data)
{
    const char *const paths[] = {files_path("t.png"), files_path("t.vti"), files_path("t.npy"),
                                 files_path("t.h5")};
    const spry_vector *v = data;
    spry_grid *grid = NULL;
    spry_status status = spry_grid_new(ctx, "6x4", &grid);
    for (int k = 0; k < 4 && status == SPRY_STATUS_OK; k++)
        status = spry_field_write(grid, v, paths[k], NULL);
    for (int k = 0; k < 4; k++)
        unlink(paths[k]);
    spry_grid_free(grid);
    return status;
}

static void torture(void **state)
{
    spry_vector *v;
    assert_ok(*state, vector_new_at(*state, NULL, SPRY_TYPE_Z, 15, &v));
    support_torture(*state, write_all, v);
    spry_vector_free(v);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(picture, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(paraview, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(array, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(hdf5, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(torture, support_setup, support_teardown)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
