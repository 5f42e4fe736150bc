/* Fields as files: what is written is looked at byte by byte. */
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

static spry_status write_all(spry_context *ctx, void *data)
{
    const char *const paths[] = {files_path("t.png"), files_path("t.vti"), files_path("t.npy")};
    const spry_vector *v = data;
    spry_grid *grid = NULL;
    spry_status status = spry_grid_new(ctx, "6x4", &grid);
    for (int k = 0; k < 3 && status == SPRY_STATUS_OK; k++)
        status = spry_field_write(grid, v, paths[k], NULL);
    for (int k = 0; k < 3; k++)
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
        cmocka_unit_test_setup_teardown(torture, support_setup, support_teardown)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
