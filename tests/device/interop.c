/* Memory and streams that are shared with other libraries. */
#include "support/devices.h"
#include "support/numeric.h"

#include "device/engine/engine.h"
#include "device/linalg/dlpack.h"
#include "device/linalg/vector.h"

#include <spry/interop.h>

enum { N = 1000 };

static spry_vector *counting(spry_context *ctx, spry_device *d)
{
    double numbers[N];
    spry_vector *on_host = NULL, *v = NULL;
    for (int i = 0; i < N; i++)
        numbers[i] = i;
    assert_ok(ctx, spry_vector_new(ctx, SPRY_TYPE_D, N, numbers, SPRY_OWN_BORROW, &on_host));
    assert_ok(ctx, spry_vector_on(d, SPRY_TYPE_D, N, NULL, &v));
    assert_ok(ctx, spry_vector_copy(on_host, v));
    spry_vector_free(on_host);
    return v;
}

static void assert_line(spry_context *ctx, const spry_vector *v, int64_t n, double first,
                        double step)
{
    double numbers[N];
    spry_vector *on_host = NULL;
    assert_int_equal(spry_vector_size(v), n);
    assert_ok(ctx, spry_vector_new(ctx, SPRY_TYPE_D, n, numbers, SPRY_OWN_BORROW, &on_host));
    assert_ok(ctx, spry_vector_copy(v, on_host));
    for (int64_t i = 0; i < n; i++)
        assert_true(numbers[i] == first + step * (double)i);
    spry_vector_free(on_host);
}

static void dlpack(spry_context *ctx, spry_device *d)
{
    spry_vector *v = counting(ctx, d), *w = NULL;
    struct DLManagedTensor *tensor = NULL;
    assert_ok(ctx, spry_vector_to_dlpack(v, &tensor));
    assert_int_equal(tensor->dl_tensor.device.type,
                     d->facts.has_pointers ? DLPACK_CUDA : DLPACK_OPENCL);
    assert_ok(ctx, spry_vector_from_dlpack(ctx, tensor, &w));
    assert_ptr_equal(spry_vector_device(w), d);
    assert_line(ctx, w, N, 0, 1);
    assert_ok(ctx, spry_vector_scale((spry_scalar){2, 0}, w));
    assert_line(ctx, v, N, 0, 2); /* the same memory */
    spry_vector_free(w);          /* and with it the tensor and v */
}

static void no_deleter(struct DLManagedTensor *self)
{
    (*(int *)self->manager_ctx)++;
}

/* Every third element from the tenth on; and back from the end. */
static void strides(spry_context *ctx, spry_device *d)
{
    spry_vector *v = counting(ctx, d), *w = NULL;
    int64_t shape = 50, stride = 3;
    int deleted = 0;
    struct DLManagedTensor t = {
        .dl_tensor = {.data = device_address(device_vector_memory(v)),
                      .device = {d->facts.has_pointers ? DLPACK_CUDA : DLPACK_OPENCL,
                                 d->facts.name[strlen(d->facts.name) - 1] - '0'},
                      .ndim = 1,
                      .dtype = {DLPACK_FLOAT, 64, 1},
                      .shape = &shape,
                      .strides = &stride,
                      .byte_offset = 10 * sizeof(double)},
        .manager_ctx = &deleted,
        .deleter = no_deleter};
    assert_ok(ctx, spry_vector_from_dlpack(ctx, &t, &w));
    assert_int_equal(deleted, 1);
    assert_line(ctx, w, 50, 10, 3);
    spry_vector_free(w);
    stride = -2;
    t.dl_tensor.byte_offset = 500 * sizeof(double);
    assert_ok(ctx, spry_vector_from_dlpack(ctx, &t, &w));
    assert_line(ctx, w, 50, 500, -2);
    spry_vector_free(w);
    stride = 1; /* shared where an address can point into memory, else copied */
    assert_ok(ctx, spry_vector_from_dlpack(ctx, &t, &w));
    assert_line(ctx, w, 50, 500, 1);
    spry_vector_free(w);
    assert_int_equal(deleted, 3);
    spry_vector_free(v);
}

static void array_interface(spry_context *ctx, spry_device *d)
{
    spry_vector *v = counting(ctx, d), *w = NULL;
    spry_array_interface array = SPRY_ARRAY_INTERFACE_INIT;
    if (!d->facts.has_pointers) {
        assert_status(ctx, SPRY_STATUS_BAD_USAGE, spry_vector_array_interface(v, &array));
        support_message_has(ctx, spry_device_name(d));
        spry_vector_free(v);
        return;
    }
    assert_ok(ctx, spry_vector_array_interface(v, &array));
    assert_string_equal(array.typestr, "<f8");
    assert_int_equal(array.shape, N);
    assert_int_equal(array.version, 3);
    assert_ptr_equal(array.data, spry_vector_data(v));
    assert_ok(ctx, spry_vector_from_array_interface(d, &array, &w));
    assert_ptr_equal(spry_vector_data(w), spry_vector_data(v));
    spry_vector_free(w);
    array.shape = N / 2;
    array.strides = 2 * sizeof(double);
    array.stream = 1;
    assert_ok(ctx, spry_vector_from_array_interface(d, &array, &w));
    assert_line(ctx, w, N / 2, 0, 2);
    spry_vector_free(w);
    array.typestr[1] = 'i';
    assert_status(ctx, SPRY_STATUS_UNSUPPORTED, spry_vector_from_array_interface(d, &array, &w));
    spry_vector_free(v);
}

/* A stream of the caller's: another of the same device. */
static void streams(spry_context *ctx, spry_device *d)
{
    spry_vector *v = counting(ctx, d);
    device_stream *other = NULL;
    assert_ok(ctx, device_stream_new(d, &other));
    assert_ok(ctx, spry_vector_scale((spry_scalar){2, 0}, v));
    assert_ok(ctx, spry_device_use_stream(d, other->handle));
    assert_ok(ctx, spry_vector_scale((spry_scalar){3, 0}, v));
    assert_line(ctx, v, N, 0, 6);
    assert_ok(ctx, spry_device_use_stream(d, NULL));
    assert_ok(ctx, spry_vector_scale((spry_scalar){0.5, 0}, v));
    assert_ok(ctx, spry_device_finish(d));
    assert_line(ctx, v, N, 0, 3);
    device_stream_free(other);
    spry_vector_free(v);
}

int main(void)
{
    static const devices_test tests[] = {DEVICES_TEST(dlpack), DEVICES_TEST(strides),
                                         DEVICES_TEST(array_interface), DEVICES_TEST(streams)};
    return DEVICES_RUN(tests);
}
