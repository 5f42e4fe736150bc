/* Dense arrays of several columns, written and read back in every format that has them. */
#include "support/files.h"
#include "support/support.h"

#include <stdio.h>
#include <string.h>

enum { ROWS = 5, COLS = 3, COUNT = ROWS * COLS };

static spry_vector *numbers(spry_context *ctx, spry_type type)
{
    spry_vector *v = NULL;
    assert_ok(ctx, spry_vector_new(ctx, type, COUNT, NULL, SPRY_OWN_COPY, &v));
    double *d = spry_vector_data(v);
    float *f = spry_vector_data(v);
    const bool complex = spry_type_is_complex(type);
    const bool single = type == SPRY_TYPE_S || type == SPRY_TYPE_C;
    for (int k = 0; k < COUNT * (complex ? 2 : 1); k++) {
        const spry_scalar s = support_number(SPRY_TYPE_D, 5, (uint64_t)k);
        if (single)
            f[k] = (float)s.re;
        else
            d[k] = s.re;
    }
    return v;
}

static const char *const names[] = {"c.mtx", "c.mtx.gz", "c.npy", "c.spry"};

static void columns_come_back_bit_by_bit(void **state)
{
    spry_context *ctx = *state;
    for (int t = 0; t < 4; t++)
        for (size_t f = 0; f < sizeof names / sizeof *names; f++) {
            spry_vector *v = numbers(ctx, support_types[t]), *back = NULL;
            const char *type = spry_type_name(support_types[t]);
            char options[16];
            int64_t cols;
            snprintf(options, sizeof options, "type=%s", type); /* text has no single precision */
            assert_ok(ctx, spry_columns_write(v, COLS, files_path(names[f])));
            assert_ok(ctx, spry_columns_read(ctx, files_path(names[f]), options, &back, &cols));
            assert_int_equal(cols, COLS);
            assert_int_equal(spry_vector_size(back), COUNT);
            assert_int_equal(spry_vector_type(back), support_types[t]);
            assert_memory_equal(spry_vector_data_const(back), spry_vector_data_const(v),
                                COUNT * spry_type_size(support_types[t]));
            spry_vector_free(back);
            /* One vector it is not; a matrix of that shape it is. */
            spry_matrix *A = NULL;
            assert_status(ctx, SPRY_STATUS_BAD_INPUT,
                          spry_vector_read(ctx, files_path(names[f]), NULL, &back));
            support_message_has(ctx, "is 5 x 3; a vector has one column, or one row");
            assert_ok(ctx, spry_matrix_read(ctx, files_path(names[f]), NULL, &A));
            assert_int_equal(spry_matrix_rows(A), ROWS);
            assert_int_equal(spry_matrix_cols(A), COLS);
            spry_matrix_free(A);
            spry_vector_free(v);
        }
}

/* What is one column, or one row, is one vector for both readers. */
static void one_row_is_one_vector(void **state)
{
    spry_context *ctx = *state;
    static const char row[] = "%%MatrixMarket matrix array real general\n1 3\n1\n2\n3\n";
    spry_vector *v = NULL;
    int64_t cols;
    assert_ok(ctx, spry_text_write(ctx, row, strlen(row), files_path("row.mtx")));
    assert_ok(ctx, spry_columns_read(ctx, files_path("row.mtx"), NULL, &v, &cols));
    assert_int_equal(cols, 1);
    assert_int_equal(spry_vector_size(v), 3);
    spry_vector_free(v);
}

/* Sparse ones are not filled up: a small file could ask for any memory. */
static void refuses_what_is_no_array(void **state)
{
    (void)state;
    spry_context *ctx = support_context("memory-limit=10M");
    static const char sparse[] =
        "%%MatrixMarket matrix coordinate real general\n100000 100000 1\n1 1 1\n";
    spry_vector *v = NULL;
    int64_t cols;
    assert_ok(ctx, spry_text_write(ctx, sparse, strlen(sparse), files_path("sparse.mtx")));
    assert_status(ctx, SPRY_STATUS_BAD_INPUT,
                  spry_columns_read(ctx, files_path("sparse.mtx"), NULL, &v, &cols));
    assert_null(v);
    v = numbers(ctx, SPRY_TYPE_D);
    assert_status(ctx, SPRY_STATUS_BAD_USAGE, spry_columns_write(v, 4, files_path("c.mtx")));
    support_message_has(ctx, "15 numbers make no 4 columns");
    assert_status(ctx, SPRY_STATUS_BAD_USAGE, spry_columns_write(v, 0, files_path("c.mtx")));
    spry_vector_free(v);
    support_context_free(ctx);
}

static spry_status read_again(spry_context *ctx, void *data)
{
    spry_vector *v = NULL;
    int64_t cols;
    const spry_status status = spry_columns_read(ctx, data, "type=z", &v, &cols);
    spry_vector_free(v);
    return status;
}

static void survives_lack_of_memory(void **state)
{
    spry_context *ctx = *state;
    spry_vector *v = numbers(ctx, SPRY_TYPE_D);
    for (size_t f = 0; f < sizeof names / sizeof *names; f++) {
        char path[512];
        snprintf(path, sizeof path, "%s", files_path(names[f]));
        assert_ok(ctx, spry_columns_write(v, COLS, path));
        support_torture(ctx, read_again, path);
    }
    spry_vector_free(v);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(columns_come_back_bit_by_bit, support_setup,
                                        support_teardown),
        cmocka_unit_test_setup_teardown(one_row_is_one_vector, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(refuses_what_is_no_array, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(survives_lack_of_memory, support_setup, support_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
