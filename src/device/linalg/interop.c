/* Arrays and streams of the caller's, and the __cuda_array_interface__. */
#include "device/engine/engine.h"
#include "device/linalg/vector.h"

#include <spry/interop.h>

/* Four sums in parallel, so that the multiplications do not wait for each other. */
int64_t spry_fingerprint(const void *memory, int64_t bytes, int64_t seed)
{
    const uint64_t prime = UINT64_C(0x9e3779b97f4a7c15);
    uint64_t hash = (uint64_t)seed ^ (uint64_t)bytes;
    uint64_t sums[4] = {hash, hash + 1, hash + 2, hash + 3}, words[4] = {0};
    const unsigned char *from = memory;
    for (; memory && bytes >= (int64_t)sizeof words; bytes -= (int64_t)sizeof words) {
        memcpy(words, from, sizeof words);
        from += sizeof words;
        for (int k = 0; k < 4; k++)
            sums[k] = ((sums[k] ^ words[k]) * prime) ^ (sums[k] >> 29);
    }
    memset(words, 0, sizeof words);
    if (memory && bytes > 0)
        memcpy(words, from, (size_t)bytes);
    for (int k = 0; k < 4; k++)
        hash = ((hash ^ sums[k] ^ words[k]) * prime) ^ (hash >> 31);
    return (int64_t)hash;
}

spry_status spry_device_use_stream(spry_device *device, void *stream)
{
    SPRY_NEED(CTX_OF(device), device);
    return device_use_stream(device, stream);
}

spry_status spry_device_finish(spry_device *device)
{
    SPRY_NEED(CTX_OF(device), device);
    return device_finish(device);
}

static const char *const type_names[] = {
    [SPRY_TYPE_S] = "<f4", [SPRY_TYPE_D] = "<f8", [SPRY_TYPE_C] = "<c8", [SPRY_TYPE_Z] = "<c16"};

static const base_sized interface_sized = BASE_SIZED(spry_array_interface, stream);

spry_status spry_vector_array_interface(const spry_vector *v, spry_array_interface *array)
{
    SPRY_NEED(CTX_OF(v), v, array);
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(v->ctx, base_blank(v->ctx, array, &interface_sized));
    if (!v->device || !v->device->facts.has_pointers)
        return SPRY_FAIL(v->ctx, SPRY_STATUS_BAD_USAGE,
                         "the vector is on %s; __cuda_array_interface__ is for CUDA devices",
                         place_name(v->device));
    SPRY_GO(v->ctx, device_finish(v->device)); /* so that there is no stream to wait for */
    spry_array_interface made = {.shape = v->n, .data = v->n > 0 ? v->data : NULL, .version = 3};
    snprintf(made.typestr, sizeof made.typestr, "%s", type_names[v->type]);
    base_give(array, &made, &interface_sized);
done:
    return status;
}

static spry_status find_type(spry_context *ctx, const char *name, spry_type *type)
{
    for (int t = SPRY_TYPE_S; t <= SPRY_TYPE_Z; t++)
        if (strcmp(type_names[t], name) == 0 || strcmp(type_names[t] + 1, name) == 0) {
            *type = (spry_type)t;
            return SPRY_STATUS_OK;
        }
    return SPRY_FAIL(ctx, SPRY_STATUS_UNSUPPORTED,
                     "__cuda_array_interface__: typestr %.7s; expected <f4, <f8, <c8 or <c16",
                     name);
}

/* Work of the device waits for what is on a stream of another library's. */
static spry_status wait_for(spry_device *d, int64_t stream)
{
    device_stream other = {.d = d, .handle = (void *)(intptr_t)stream, .borrowed = true};
    return stream == 0 ? SPRY_STATUS_OK : device_stream_wait(d->stream, &other);
}

spry_status spry_vector_from_array_interface(spry_device *device, const spry_array_interface *given,
                                             spry_vector **v)
{
    SPRY_NEED(CTX_OF(device), device, given, v);
    spry_context *ctx = device->ctx;
    spry_array_interface taken, *array = &taken;
    spry_type type = SPRY_TYPE_D;
    device_memory *m = NULL;
    spry_status status = SPRY_STATUS_OK;
    *v = NULL;
    SPRY_GO(ctx, base_take(ctx, given, &taken, &interface_sized));
    if (!device->facts.has_pointers)
        return SPRY_FAIL(ctx, SPRY_STATUS_BAD_USAGE,
                         "device %s: __cuda_array_interface__ is for CUDA devices",
                         device->facts.name);
    SPRY_GO(ctx, find_type(ctx, array->typestr, &type));
    const int64_t size = (int64_t)spry_type_size(type), step = array->strides / size;
    if (array->shape < 0 || array->strides % size != 0 || step < 0 ||
        (array->shape > 0 && (step > INT64_MAX / 32 / array->shape || !array->data)))
        return SPRY_FAIL(ctx, SPRY_STATUS_BAD_INPUT,
                         "__cuda_array_interface__: %" PRId64 " elements %" PRId64
                         " bytes apart; expected a multiple of %" PRId64 " that is not negative, "
                         "and an address",
                         array->shape, array->strides, size);
    SPRY_GO(ctx, wait_for(device, array->stream));
    if (step <= 1 && !array->read_only && array->shape > 0) {
        SPRY_GO(ctx, spry_vector_on(device, type, array->shape, array->data, v));
        return SPRY_STATUS_OK;
    }
    SPRY_GO(ctx, spry_vector_on(device, type, array->shape, NULL, v));
    if (array->shape == 0)
        return SPRY_STATUS_OK;
    const int64_t apart = step > 0 ? step : 1;
    SPRY_GO(ctx, device_borrow(device, array->data, ((array->shape - 1) * apart + 1) * size, &m));
    SPRY_GO(ctx, device_copy_block(device, type, array->shape, 1, (device_block){m, 0, apart, 0},
                                   (device_block){(*v)->memory, 0, 1, 0}));
    SPRY_GO(ctx, device_finish(device));
done:
    device_free(m);
    if (status != SPRY_STATUS_OK) {
        spry_vector_free(*v);
        *v = NULL;
    }
    return status;
}
