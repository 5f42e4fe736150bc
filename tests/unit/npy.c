/* NumPy's .npy files: types, byte orders, shapes, written and read, and wrong ones. */
#include "support/files.h"
#include "support/numpy.h"

#include <math.h>
#include <stdlib.h>

static void expect(spry_context *ctx, const numpy_bytes *bytes, spry_type type, int64_t rows,
                   int64_t cols, const void *values)
{
    io_content content;
    assert_ok(ctx, files_read_memory(ctx, &io_npy, bytes->data, bytes->size, &content));
    assert_null(content.matrix);
    assert_int_equal(content.dense.type, type);
    assert_int_equal(content.dense.rows, rows);
    assert_int_equal(content.dense.cols, cols);
    assert_memory_equal(content.dense.values, values, (size_t)(rows * cols) * spry_type_size(type));
    files_free(ctx, &content);
}

/* Turns the bytes of n elements around. */
static void reverse(void *data, size_t n, size_t size)
{
    unsigned char *p = data;
    for (size_t k = 0; k < n; k++, p += size)
        for (size_t i = 0; i < size / 2; i++) {
            const unsigned char c = p[i];
            p[i] = p[size - 1 - i];
            p[size - 1 - i] = c;
        }
}

static bool little(void)
{
    const uint16_t one = 1;
    return *(const unsigned char *)&one == 1;
}

/* Reads n elements given in this machine's order, then the same the other way around. */
static void both_orders(spry_context *ctx, const char *kind, size_t part, const void *data,
                        size_t n, size_t size, spry_type type, const void *values)
{
    char descr[8], bytes[256];
    numpy_bytes array;
    snprintf(descr, sizeof descr, "%c%s", little() ? '<' : '>', kind);
    memcpy(bytes, data, n * size);
    numpy_plain(&array, descr, "3,", bytes, n * size);
    expect(ctx, &array, type, 3, 1, values);
    descr[0] = little() ? '>' : '<';
    reverse(bytes, n * size / part, part);
    numpy_plain(&array, descr, "3,", bytes, n * size);
    expect(ctx, &array, type, 3, 1, values);
}

static void reads_every_type(void **state)
{
    spry_context *ctx = *state;
    const float f4[] = {1.5F, -0.0F, 3e38F, 4, 5, -6};
    const double f8[] = {1.5, -0.0, 1e308, 4, 5, -6};
    both_orders(ctx, "f4", 4, f4, 3, 4, SPRY_TYPE_S, f4);
    both_orders(ctx, "f8", 8, f8, 3, 8, SPRY_TYPE_D, f8);
    both_orders(ctx, "c8", 4, f4, 3, 8, SPRY_TYPE_C, f4);
    both_orders(ctx, "c16", 8, f8, 3, 16, SPRY_TYPE_Z, f8);
    const int8_t i1[] = {-128, 0, 127};
    both_orders(ctx, "i1", 1, i1, 3, 1, SPRY_TYPE_D, (double[]){-128, 0, 127});
    both_orders(ctx, "u1", 1, i1, 3, 1, SPRY_TYPE_D, (double[]){128, 0, 127});
    both_orders(ctx, "b1", 1, i1, 3, 1, SPRY_TYPE_D, (double[]){1, 0, 1});
    const int16_t i2[] = {-32768, 1, 2};
    both_orders(ctx, "i2", 2, i2, 3, 2, SPRY_TYPE_D, (double[]){-32768, 1, 2});
    both_orders(ctx, "u2", 2, i2, 3, 2, SPRY_TYPE_D, (double[]){32768, 1, 2});
    const int32_t i4[] = {INT32_MIN, 1, 2};
    both_orders(ctx, "i4", 4, i4, 3, 4, SPRY_TYPE_D, (double[]){-2147483648.0, 1, 2});
    both_orders(ctx, "u4", 4, i4, 3, 4, SPRY_TYPE_D, (double[]){2147483648.0, 1, 2});
    const int64_t i8[] = {INT64_MIN, 1, INT64_C(1) << 53};
    both_orders(ctx, "i8", 8, i8, 3, 8, SPRY_TYPE_D, (double[]){-0x1p63, 1, 0x1p53});
    both_orders(ctx, "u8", 8, i8, 3, 8, SPRY_TYPE_D, (double[]){0x1p63, 1, 0x1p53});
    numpy_bytes array;
    numpy_plain(&array, "|b1", "2,", "\0\1", 2);
    expect(ctx, &array, SPRY_TYPE_D, 2, 1, (double[]){0, 1});
    numpy_plain(&array, "f8", "1,", f8, 8); /* no mark of an order: this machine's */
    expect(ctx, &array, SPRY_TYPE_D, 1, 1, f8);
}

static void reads_shapes_and_versions(void **state)
{
    spry_context *ctx = *state;
    const signed char numbers[] = {1, 2, 3, 4, 5, 6};
    const double by_columns[] = {1, 4, 2, 5, 3, 6}, as_given[] = {1, 2, 3, 4, 5, 6};
    numpy_bytes array;
    numpy_plain(&array, "|i1", "2, 3", numbers, 6);
    expect(ctx, &array, SPRY_TYPE_D, 2, 3, by_columns);
    numpy_plain(&array, "|i1", "6L,", numbers, 6);
    expect(ctx, &array, SPRY_TYPE_D, 6, 1, as_given);
    numpy_plain(&array, "|i1", "1, 6", numbers, 6);
    expect(ctx, &array, SPRY_TYPE_D, 1, 6, as_given);
    numpy_plain(&array, "|i1", "0,", numbers, 0);
    expect(ctx, &array, SPRY_TYPE_D, 0, 1, as_given);
    for (int version = 1; version <= 3; version++) {
        numpy_array(&array, version,
                    "{\"shape\":(2,3),\t'fortran_order':True , 'descr' : '|i1'}   \n", numbers, 6);
        expect(ctx, &array, SPRY_TYPE_D, 2, 3, as_given);
    }
    const double tall[] = {1, 2, 3, 4, 5, 6};
    numpy_plain(&array, little() ? "<f8" : ">f8", "3, 2", tall, sizeof tall);
    expect(ctx, &array, SPRY_TYPE_D, 3, 2, (double[]){1, 3, 5, 2, 4, 6});
}

/* Planes one below the other, which are columns, and neither a matrix nor a vector. */
static void planes_are_columns(void **state)
{
    spry_context *ctx = *state;
    const double numbers[] = {1, 2, 3, 4, 5, 6};
    numpy_bytes array;
    io_content content;
    numpy_plain(&array, little() ? "<f8" : ">f8", "3, 1, 2", numbers, sizeof numbers);
    expect(ctx, &array, SPRY_TYPE_D, 3, 2, (double[]){1, 3, 5, 2, 4, 6});
    assert_ok(ctx, files_read_memory(ctx, &io_npy, array.data, array.size, &content));
    assert_int_equal(content.dense.planes, 3);
    files_free(ctx, &content);
    io_bytes bytes = {.path = "memory", .data = array.data, .size = array.size};
    spry_matrix *A = NULL;
    assert_int_equal(io_read_bytes(ctx, &bytes, &io_npy, NULL, &A), SPRY_STATUS_BAD_INPUT);
    support_message_has(ctx, "the array has 3 dimensions, a vector has 1 and a matrix 2");
    assert_null(A);
}

static void refuses_what_is_wrong(void **state)
{
    static const char *const headers[][2] = {
        {"", "not a dictionary"},
        {"{", "not a dictionary"},
        {"{}", "not a dictionary"},
        {"{'descr': '<f8', 'fortran_order': False}", "not a dictionary"},
        {"{'descr': '<f8', 'fortran_order': False, 'shape': (1,)} x", "not a dictionary"},
        {"{'descr': '<f8', 'fortran_order': False, 'shape': (1,) 'x'}", "does not end with }"},
        {"{'descr': '<f8' 'fortran_order': False, 'shape': (1,)}", "does not end with }"},
        {"{'descr' '<f8'}", "not a dictionary"},
        {"{'descr\\': '<f8'}", "not a dictionary"},
        {"{'descr", "not a dictionary"},
        {"{'a very long word, too long': 1}", "not a dictionary"},
        {"{'colour': 1}", "an unknown word 'colour'"},
        {"{'descr': [('a', '<f8')], 'shape': (1,)}", "several fields"},
        {"{'descr': 8}", "not a short text"},
        {"{'descr': '<f2'}", "elements of type '<f2' cannot be read"},
        {"{'descr': '<f16'}", "elements of type '<f16' cannot be read"},
        {"{'descr': '|O'}", "elements of type '|O' cannot be read"},
        {"{'descr': ''}", "elements of type '' cannot be read"},
        {"{'descr': '<i3'}", "elements of type '<i3' cannot be read"},
        {"{'descr': '<M8[ns]'}", "elements of type '<M8[ns]' cannot be read"},
        {"{'descr': '<S99999999999'}", "cannot be read"},
        {"{'fortran_order': 0}", "neither True nor False"},
        {"{'fortran_order': Tru", "neither True nor False"},
        {"{'shape': 3}", "not a tuple"},
        {"{'shape': (-1,)}", "not a tuple of sizes"},
        {"{'shape': (x,)}", "not a tuple of sizes"},
        {"{'shape': (1 2)}", "not a tuple of sizes"},
        {"{'shape': (1", "not a tuple of sizes"},
        {"{'shape': (9999999999999999999,)}", "not a tuple of sizes"},
        {"{'shape': (1, 1, 1, 1)}", "more than 3 dimensions"},
        {"{'shape': (999999999999999999, 999999999999999999)}", "larger than any memory"},
        {"{'descr': '<f8', 'fortran_order': False, 'shape': (2,)}", "8 bytes follow"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (1,)}", "8 bytes follow"},
        {"{'descr': '<f8', 'fortran_order': False, 'shape': (999999999999999999, 9)}",
         "8 bytes follow"},
        {"{'descr': '<f8', 'fortran_order': False, 'shape': ()}", "0 dimensions"},
        {"{'descr': '<f8', 'fortran_order': True, 'shape': (1, 1, 1)}",
         "3 dimensions in Fortran's order"},
        {"{'descr': '|S8', 'fortran_order': False, 'shape': (1,)}", "holds text"},
        {"{'descr': '<U2', 'fortran_order': False, 'shape': (1,)}", "holds text"},
    };
    spry_context *ctx = *state;
    numpy_bytes array;
    const double one = 1;
    for (size_t i = 0; i < sizeof headers / sizeof *headers; i++) {
        numpy_array(&array, 1, headers[i][0], &one, sizeof one);
        files_refused(ctx, &io_npy, array.data, array.size, headers[i][1]);
    }
    numpy_plain(&array, "<f8", "3, 0", &one, 0);
    files_refused(ctx, &io_npy, array.data, array.size, "rows or columns, but no numbers");
    numpy_plain(&array, "<f8", "3000000000, 0", &one, 0);
    files_refused(ctx, &io_npy, array.data, array.size, "a side is at most 2147483647");
    numpy_plain(&array, "<f8", "1,", &one, sizeof one);
    for (size_t cut = 0; cut < array.size; cut++)
        files_refused(ctx, &io_npy, array.data, cut, "memory: ");
    array.data[6] = 4;
    files_refused(ctx, &io_npy, array.data, array.size, "version 4 of .npy is not known");
    array.data[0] = 'x';
    files_refused(ctx, &io_npy, array.data, array.size, "does not begin as a NumPy array");
    assert_false(io_npy.matches(&(io_bytes){.data = array.data, .size = array.size}));
}

static void vectors_come_back_bit_by_bit(void **state)
{
    enum { N = 1000 };
    spry_context *ctx = *state;
    for (int t = 0; t < 4; t++) {
        spry_vector *v = NULL;
        io_content content;
        assert_ok(ctx, spry_vector_new(ctx, support_types[t], N, NULL, SPRY_OWN_COPY, &v));
        for (int64_t k = 0; k < N; k++)
            value_set(v->type, v->data, k, support_number(v->type, 3, (uint64_t)k));
        assert_ok(ctx, io_npy.write_vector(v, 1, files_path("v.npy")));
        assert_ok(ctx, files_read(ctx, &io_npy, files_path("v.npy"), &content));
        assert_int_equal(content.dense.type, v->type);
        assert_int_equal(content.dense.rows, N);
        assert_int_equal(content.dense.cols, 1);
        assert_memory_equal(content.dense.values, v->data, N * spry_type_size(v->type));
        files_free(ctx, &content);
        spry_vector_free(v);
    }
}

/* Entries at one place add up, the implied triangle and zeros are written. */
static void matrices_are_written_out(void **state)
{
    spry_context *ctx = *state;
    for (int t = 0; t < 4; t++)
        for (int symmetry = SPRY_SYMMETRY_GENERAL; symmetry <= SPRY_SYMMETRY_HERMITIAN;
             symmetry++) {
            const support_recipe recipe = {.type = support_types[t],
                                           .format = SPRY_FORMAT_COO,
                                           .symmetry = (spry_symmetry)symmetry,
                                           .rows = 12,
                                           .cols = symmetry == SPRY_SYMMETRY_GENERAL ? 9 : 12,
                                           .nnz = 60,
                                           .seed = 5};
            io_content content;
            spry_matrix *A = support_matrix(ctx, &recipe);
            support_dense expected = support_dense_of(A);
            assert_ok(ctx, io_npy.write_matrix(A, files_path("a.npy")));
            assert_ok(ctx, files_read(ctx, &io_npy, files_path("a.npy"), &content));
            assert_int_equal(content.dense.type, recipe.type);
            assert_int_equal(content.dense.rows, recipe.rows);
            assert_int_equal(content.dense.cols, recipe.cols);
            for (int64_t i = 0; i < recipe.rows; i++)
                for (int64_t j = 0; j < recipe.cols; j++) {
                    const spry_scalar a = expected.at[i * recipe.cols + j];
                    const spry_scalar b =
                        value_get(recipe.type, content.dense.values, j * recipe.rows + i);
                    assert_true(a.re == b.re && a.im == b.im);
                }
            support_dense_free(&expected);
            files_free(ctx, &content);
            spry_matrix_free(A);
        }
}

static void aligns_numbers(void **state)
{
    spry_context *ctx = *state;
    spry_vector *v = NULL;
    size_t size;
    assert_ok(ctx, spry_vector_new(ctx, SPRY_TYPE_D, 3, NULL, SPRY_OWN_COPY, &v));
    assert_ok(ctx, io_npy.write_vector(v, 1, files_path("v.npy")));
    char *data = files_load(files_path("v.npy"), &size);
    assert_int_equal(size % 64, 3 * sizeof(double));
    assert_int_equal(data[size - 3 * sizeof(double) - 1], '\n');
    assert_true(io_npy.matches(&(io_bytes){.data = data, .size = size}));
    free(data);
    spry_vector_free(v);
}

static spry_status read_again(spry_context *ctx, void *data)
{
    io_content content;
    const spry_status status = files_read(ctx, &io_npy, data, &content);
    files_free(ctx, &content);
    return status;
}

static spry_status write_again(spry_context *ctx, void *data)
{
    (void)ctx;
    return io_npy.write_matrix(data, files_path("torture.npy"));
}

static spry_status write_vector_again(spry_context *ctx, void *data)
{
    (void)ctx;
    return io_npy.write_vector(data, 1, files_path("vector.npy"));
}

static void survives_lack_of_memory(void **state)
{
    spry_context *ctx = *state;
    const support_recipe recipe = {
        .type = SPRY_TYPE_D, .format = SPRY_FORMAT_COO, .rows = 10, .cols = 20, .nnz = 50};
    spry_matrix *A = support_matrix(ctx, &recipe);
    spry_vector *v = NULL;
    assert_ok(ctx, spry_vector_new(ctx, SPRY_TYPE_D, 3, NULL, SPRY_OWN_COPY, &v));
    support_torture(ctx, write_again, A);
    support_torture(ctx, write_vector_again, v);
    support_torture(ctx, read_again, (void *)files_path("torture.npy"));
    assert_status(ctx, SPRY_STATUS_IO, io_npy.write_vector(v, 1, "/no such folder/v.npy"));
    assert_status(ctx, SPRY_STATUS_IO, io_npy.write_matrix(A, "/no such folder/a.npy"));
    spry_vector_free(v);
    spry_matrix_free(A);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(reads_every_type, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(reads_shapes_and_versions, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(planes_are_columns, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(refuses_what_is_wrong, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(vectors_come_back_bit_by_bit, support_setup,
                                        support_teardown),
        cmocka_unit_test_setup_teardown(matrices_are_written_out, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(aligns_numbers, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(survives_lack_of_memory, support_setup, support_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
