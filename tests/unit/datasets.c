/* Named arrays of HDF5 files: written and read again, and what is wrong with them. */
#include "support/support.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const char path[] = "/tmp/spry-datasets.h5";

static void test_round_trip(void **state)
{
    spry_context *ctx = *state;
    static const char *const names[] = {"a", "bb", "ccccccc", "d"};
    static const int64_t sides[] = {0, 0, 5, 0, 2, 3, 2, 3, 4, 1, 1, 1}, counts[] = {5, 6, 24, 1};
    spry_vector *v[4];
    for (int k = 0; k < 4; k++) {
        assert_ok(ctx,
                  spry_vector_new(ctx, support_types[k], counts[k], NULL, SPRY_OWN_COPY, &v[k]));
        for (int64_t i = 0; i < counts[k]; i++)
            assert_ok(ctx, spry_vector_fill(v[k], support_number(support_types[k], 1, 1)));
        memset(spry_vector_data(v[k]), 0, spry_type_size(support_types[k])); /* not all the same */
    }
    assert_ok(ctx, spry_datasets_write(ctx, path, 4, names, sides, (const spry_vector *const *)v));
    for (int k = 0; k < 4; k++) {
        int64_t got[3];
        spry_vector *w = NULL;
        assert_ok(ctx, spry_dataset_read(ctx, path, names[k], got, &w));
        assert_memory_equal(got, sides + 3 * k, sizeof got);
        assert_int_equal(spry_vector_type(w), support_types[k]);
        assert_int_equal(spry_vector_size(w), counts[k]);
        assert_memory_equal(spry_vector_data(w), spry_vector_data(v[k]),
                            (size_t)counts[k] * spry_type_size(support_types[k]));
        spry_vector_free(w);
        spry_vector_free(v[k]);
    }
    unlink(path);
}

static void refuse(spry_context *ctx, int count, const char *const *names, const int64_t *sides,
                   const spry_vector *const *v, const char *text)
{
    assert_int_equal(spry_datasets_write(ctx, path, count, names, sides, v), SPRY_STATUS_BAD_USAGE);
    support_message_has(ctx, text);
}

static void test_wrong(void **state)
{
    spry_context *ctx = *state;
    const char *names[] = {"b", "a"};
    int64_t sides[] = {0, 0, 2, 0, 0, 2}, got[3];
    spry_vector *v = NULL, *w = NULL;
    assert_ok(ctx, spry_vector_new(ctx, SPRY_TYPE_D, 2, NULL, SPRY_OWN_COPY, &v));
    const spry_vector *const list[] = {v, v};
    refuse(ctx, 2, names, sides, list, "names are sorted");
    refuse(ctx, 0, names, sides, list, "1 to 8");
    names[0] = "eight888";
    refuse(ctx, 1, names, sides, list, "one to 7 letters");
    names[0] = "b";
    sides[2] = 3;
    refuse(ctx, 1, names, sides, list, "2 numbers for sides of 0, 0 and 3");
    sides[2] = -2;
    refuse(ctx, 1, names, sides, list, "2 numbers");
    sides[2] = 2;
    assert_ok(ctx, spry_datasets_write(ctx, path, 1, names, sides, list));
    assert_int_equal(spry_dataset_read(ctx, path, "a", got, &w), SPRY_STATUS_BAD_INPUT);
    support_message_has(ctx, "there is no data set a");
    assert_true(got[0] == 0 && got[1] == 0 && got[2] == 0);
    FILE *file = fopen(path, "w");
    fputs("text", file);
    fclose(file);
    assert_int_equal(spry_dataset_read(ctx, path, "a", got, &w), SPRY_STATUS_BAD_INPUT);
    support_message_has(ctx, "no HDF5 file");
    assert_int_equal(got[2], -1);
    unlink(path);
    assert_int_equal(spry_dataset_read(ctx, path, "a", got, &w), SPRY_STATUS_IO);
    spry_vector_free(v);
}

static spry_status write_and_read(spry_context *ctx, void *data)
{
    const char *const name = "x";
    const int64_t sides[] = {2, 2, 2};
    int64_t got[3];
    spry_vector *v = NULL, *w = NULL;
    (void)data;
    spry_status status = spry_vector_new(ctx, SPRY_TYPE_Z, 8, NULL, SPRY_OWN_COPY, &v);
    if (status == SPRY_STATUS_OK) {
        const spry_vector *const list[] = {v};
        status = spry_datasets_write(ctx, path, 1, &name, sides, list);
    }
    if (status == SPRY_STATUS_OK)
        status = spry_dataset_read(ctx, path, name, got, &w);
    spry_vector_free(v);
    spry_vector_free(w);
    return status;
}

static void test_memory(void **state)
{
    support_torture(*state, write_and_read, NULL);
    unlink(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_round_trip, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(test_wrong, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(test_memory, support_setup, support_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
