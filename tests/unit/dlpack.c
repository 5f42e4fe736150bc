/* Vectors of the host to and from DLPack's tensors. */
#include "support/numeric.h"

#include "device/linalg/dlpack.h"

#include <spry/interop.h>
#include <stdlib.h>

/* A tensor of the test's, which counts how often it is deleted. */
typedef struct foreign {
    dlpack_managed plain;
    dlpack_versioned versioned;
    int64_t shape[3], strides[3];
    int deleted;
} foreign;

static void delete_plain(struct DLManagedTensor *self)
{
    ((foreign *)self->manager_ctx)->deleted++;
}

static void delete_versioned(struct DLManagedTensorVersioned *self)
{
    ((foreign *)self->manager_ctx)->deleted++;
}

static void foreign_make(foreign *f, void *data, dlpack_type type, int64_t n)
{
    *f = (foreign){.shape = {n, 1, 1}, .strides = {1, 1, 1}};
    const dlpack_tensor t = {.data = data,
                             .device = {DLPACK_CPU, 0},
                             .ndim = 1,
                             .dtype = type,
                             .shape = f->shape,
                             .strides = f->strides};
    f->plain = (dlpack_managed){t, f, delete_plain};
    f->versioned = (dlpack_versioned){{1, 0}, f, delete_versioned, 0, t};
}

static const dlpack_type types[] = {{DLPACK_FLOAT, 32, 1},
                                    {DLPACK_FLOAT, 64, 1},
                                    {DLPACK_COMPLEX, 64, 1},
                                    {DLPACK_COMPLEX, 128, 1}};

/* Sizes and places of members as other compilers' headers have them. */
static void test_layout(void **state)
{
    (void)state;
    if (sizeof(void *) != 8)
        skip();
    assert_int_equal(sizeof(dlpack_tensor), 48);
    assert_int_equal(offsetof(dlpack_tensor, device), 8);
    assert_int_equal(offsetof(dlpack_tensor, ndim), 16);
    assert_int_equal(offsetof(dlpack_tensor, dtype), 20);
    assert_int_equal(offsetof(dlpack_tensor, shape), 24);
    assert_int_equal(offsetof(dlpack_tensor, byte_offset), 40);
    assert_int_equal(offsetof(dlpack_managed, manager_ctx), 48);
    assert_int_equal(sizeof(dlpack_managed), 64);
    assert_int_equal(offsetof(dlpack_versioned, flags), 24);
    assert_int_equal(offsetof(dlpack_versioned, dl_tensor), 32);
}

static void test_round_trip(void **state)
{
    spry_context *ctx = *state;
    for (int t = 0; t < 4; t++) {
        spry_vector *v = NULL, *w = NULL;
        struct DLManagedTensor *tensor = NULL;
        struct DLManagedTensorVersioned *versioned = NULL;
        assert_ok(ctx, spry_vector_new(ctx, support_types[t], 5, NULL, SPRY_OWN_COPY, &v));
        const void *data = spry_vector_data(v);
        assert_ok(ctx, spry_vector_to_dlpack(v, &tensor));
        assert_int_equal(tensor->dl_tensor.dtype.code, types[t].code);
        assert_int_equal(tensor->dl_tensor.dtype.bits, types[t].bits);
        assert_int_equal(tensor->dl_tensor.device.type, DLPACK_CPU);
        assert_int_equal(tensor->dl_tensor.ndim, 1);
        assert_int_equal(tensor->dl_tensor.shape[0], 5);
        assert_int_equal(tensor->dl_tensor.strides[0], 1);
        assert_ptr_equal(tensor->dl_tensor.data, data);
        assert_ok(ctx, spry_vector_from_dlpack(ctx, tensor, &w));
        assert_ptr_equal(spry_vector_data(w), data);
        assert_int_equal(spry_vector_type(w), support_types[t]);
        /* and once more on top, as a struct of version 1.0 */
        assert_ok(ctx, spry_vector_to_dlpack_versioned(w, &versioned));
        assert_int_equal(versioned->version.major, 1);
        assert_ptr_equal(versioned->dl_tensor.data, data);
        versioned->deleter(versioned); /* frees w, which frees v */
    }
}

static void test_shared(void **state)
{
    spry_context *ctx = *state;
    double numbers[7] = {0, 1, 2, 3, 4, 5, 6};
    foreign f;
    spry_vector *v = NULL;
    foreign_make(&f, numbers, types[1], 5);
    f.plain.dl_tensor.byte_offset = 2 * sizeof(double);
    f.plain.dl_tensor.strides = NULL; /* compact */
    assert_ok(ctx, spry_vector_from_dlpack(ctx, &f.plain, &v));
    assert_ok(ctx, spry_vector_scale((spry_scalar){2, 0}, v));
    assert_true(numbers[1] == 1 && numbers[2] == 4 && numbers[6] == 12);
    assert_int_equal(f.deleted, 0);
    spry_vector_free(v);
    assert_int_equal(f.deleted, 1);
}

/* Elements apart from each other, from the end to the beginning, read-only: copies. */
static void test_copied(void **state)
{
    spry_context *ctx = *state;
    static const int64_t strides[] = {2, -1, 0, 1};
    static const double expected[][3] = {{0, 2, 4}, {6, 5, 4}, {3, 3, 3}, {1, 2, 3}};
    static const uint64_t first[] = {0, 6, 3, 1};
    for (int k = 0; k < 4; k++) {
        double numbers[7] = {0, 1, 2, 3, 4, 5, 6};
        foreign f;
        spry_vector *v = NULL;
        foreign_make(&f, numbers, types[1], 3);
        f.strides[0] = strides[k];
        f.versioned.dl_tensor.byte_offset = first[k] * sizeof(double);
        f.versioned.flags = k == 3 ? DLPACK_READ_ONLY : 0;
        assert_ok(ctx, spry_vector_from_dlpack_versioned(ctx, &f.versioned, &v));
        assert_int_equal(f.deleted, 1);
        memset(numbers, 0, sizeof numbers);
        assert_memory_equal(spry_vector_data(v), expected[k], sizeof expected[k]);
        spry_vector_free(v);
        assert_int_equal(f.deleted, 1);
    }
}

/* A column of a matrix, and what has no elements. */
static void test_shapes(void **state)
{
    spry_context *ctx = *state;
    float numbers[6] = {0, 1, 2, 3, 4, 5};
    foreign f;
    spry_vector *v = NULL;
    foreign_make(&f, numbers, types[0], 1);
    f.plain.dl_tensor.ndim = 3;
    f.shape[1] = 2;
    f.strides[1] = 3;
    assert_ok(ctx, spry_vector_from_dlpack(ctx, &f.plain, &v));
    assert_int_equal(spry_vector_size(v), 2);
    assert_true(((const float *)spry_vector_data(v))[1] == 3);
    spry_vector_free(v);
    assert_int_equal(f.deleted, 1);
    foreign_make(&f, NULL, types[0], 0);
    assert_ok(ctx, spry_vector_from_dlpack(ctx, &f.plain, &v));
    assert_int_equal(spry_vector_size(v), 0);
    spry_vector_free(v);
    assert_int_equal(f.deleted, 1);
}

static void refuse(spry_context *ctx, foreign *f, spry_status status, const char *word)
{
    spry_vector *v = NULL;
    assert_status(ctx, status, spry_vector_from_dlpack(ctx, &f->plain, &v));
    support_message_has(ctx, word);
    assert_null(v);
    assert_int_equal(f->deleted, 0); /* still the caller's */
}

static void test_refused(void **state)
{
    spry_context *ctx = *state;
    double numbers[4] = {0};
    spry_vector *v = NULL;
    foreign f;
    foreign_make(&f, numbers, (dlpack_type){0, 32, 1}, 4);
    refuse(ctx, &f, SPRY_STATUS_UNSUPPORTED, "code 0 with 32 bits");
    foreign_make(&f, numbers, (dlpack_type){DLPACK_FLOAT, 32, 2}, 2);
    refuse(ctx, &f, SPRY_STATUS_UNSUPPORTED, "2 lanes");
    foreign_make(&f, numbers, types[1], 2);
    f.plain.dl_tensor.ndim = 2;
    f.shape[1] = 2;
    refuse(ctx, &f, SPRY_STATUS_UNSUPPORTED, "longer than 1");
    f.plain.dl_tensor.ndim = 0;
    refuse(ctx, &f, SPRY_STATUS_UNSUPPORTED, "0 dimensions");
    foreign_make(&f, numbers, types[1], -3);
    refuse(ctx, &f, SPRY_STATUS_BAD_INPUT, "is -3");
    foreign_make(&f, NULL, types[1], 3);
    refuse(ctx, &f, SPRY_STATUS_BAD_INPUT, "no data");
    foreign_make(&f, numbers, types[1], 3);
    f.strides[0] = INT64_MIN;
    refuse(ctx, &f, SPRY_STATUS_BAD_INPUT, "stride");
    f.strides[0] = INT64_MAX / 2;
    refuse(ctx, &f, SPRY_STATUS_BAD_INPUT, "stride");
    foreign_make(&f, numbers, types[1], 3);
    f.plain.dl_tensor.device.type = 7;
    refuse(ctx, &f, SPRY_STATUS_UNSUPPORTED, "device type 7");
    foreign_make(&f, numbers, types[1], 3);
    f.versioned.version.major = 2;
    assert_status(ctx, SPRY_STATUS_UNSUPPORTED,
                  spry_vector_from_dlpack_versioned(ctx, &f.versioned, &v));
    support_message_has(ctx, "DLPack 2.0");
    assert_int_equal(f.deleted, 0);
}

static spry_status round_trip(spry_context *ctx, void *data)
{
    spry_vector *v = NULL, *w = NULL;
    struct DLManagedTensor *tensor = NULL;
    (void)data;
    spry_status status = spry_vector_new(ctx, SPRY_TYPE_D, 5, NULL, SPRY_OWN_COPY, &v);
    if (status != SPRY_STATUS_OK)
        return status;
    status = spry_vector_to_dlpack(v, &tensor);
    if (status != SPRY_STATUS_OK) {
        spry_vector_free(v);
        return status;
    }
    status = spry_vector_from_dlpack(ctx, tensor, &w);
    if (status == SPRY_STATUS_OK)
        spry_vector_free(w);
    else
        tensor->deleter(tensor);
    return status;
}

static void test_torture(void **state)
{
    support_torture(*state, round_trip, NULL);
}

static void test_array_interface_of_host(void **state)
{
    spry_context *ctx = *state;
    spry_vector *v = NULL;
    spry_array_interface array = SPRY_ARRAY_INTERFACE_INIT;
    assert_ok(ctx, spry_vector_new(ctx, SPRY_TYPE_D, 5, NULL, SPRY_OWN_COPY, &v));
    assert_status(ctx, SPRY_STATUS_BAD_USAGE, spry_vector_array_interface(v, &array));
    support_message_has(ctx, "CUDA");
    spry_vector_free(v);
}

/* Every byte and its place count: what sums of bits do not see is seen. */
static void test_fingerprint(void **state)
{
    (void)state;
    double numbers[65];
    for (int k = 0; k < 65; k++)
        numbers[k] = k + 1;
    const int64_t bytes = sizeof numbers, before = spry_fingerprint(numbers, bytes, 0);
    assert_true(spry_fingerprint(numbers, bytes, 0) == before);
    assert_true(spry_fingerprint(numbers, bytes, 1) != before);
    for (int k = 0; k < 64; k++) { /* two change places */
        const double first = numbers[k];
        numbers[k] = numbers[k + 1];
        numbers[k + 1] = first;
        assert_true(spry_fingerprint(numbers, bytes, 0) != before);
        numbers[k + 1] = numbers[k];
        numbers[k] = first;
    }
    for (int64_t size = 0; size < bytes; size++)
        assert_true(spry_fingerprint(numbers, size, 0) != before);
    for (int k = 0; k < 64; k++)
        numbers[k] = -numbers[k];
    assert_true(spry_fingerprint(numbers, bytes, 0) != before);
    assert_true(spry_fingerprint(NULL, 0, 3) == spry_fingerprint(numbers, 0, 3));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_fingerprint),
        cmocka_unit_test(test_layout),
        cmocka_unit_test_setup_teardown(test_round_trip, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(test_shared, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(test_copied, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(test_shapes, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(test_refused, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(test_torture, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(test_array_interface_of_host, support_setup,
                                        support_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
