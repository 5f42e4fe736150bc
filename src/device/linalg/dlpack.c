/* Vectors to and from DLPack's tensors. */
#include "device/linalg/dlpack.h"

#include "device/linalg/vector.h"

#include <spry/interop.h>
#include <stdlib.h>

/* --- out -----------------------------------------------------------------------------------------
 */

/* A tensor with what it points to. */
typedef struct exported {
    dlpack_managed plain;
    dlpack_versioned versioned;
    int64_t shape, stride;
    spry_vector *v;
} exported;

static void drop(exported *e)
{
    spry_context *ctx = e->v->ctx;
    spry_vector_free(e->v);
    base_free(ctx, e);
}

static void delete_plain(struct DLManagedTensor *self)
{
    if (self)
        drop(self->manager_ctx);
}

static void delete_versioned(struct DLManagedTensorVersioned *self)
{
    if (self)
        drop(self->manager_ctx);
}

static int device_index(const spry_device *d)
{
    const char *colon = strchr(d->facts.name, ':');
    int64_t index = 0;
    if (colon)
        base_parse_int(colon + 1, colon + strlen(colon), &index);
    return (int)index;
}

static dlpack_device device_code(const spry_vector *v)
{
    if (!v->device)
        return (dlpack_device){DLPACK_CPU, 0};
    return (dlpack_device){v->device->facts.has_pointers ? DLPACK_CUDA : DLPACK_OPENCL,
                           device_index(v->device)};
}

static spry_status export(spry_vector *v, exported **out)
{
    spry_context *ctx = v->ctx;
    const bool is_complex = spry_type_is_complex(v->type);
    exported *e = NULL;
    spry_status status = SPRY_STATUS_OK;
    *out = NULL;
    SPRY_GO(ctx, vector_fetch(v));
    if (v->device)
        SPRY_GO(ctx, device_finish(v->device));
    SPRY_GO(ctx, base_calloc(ctx, 1, sizeof *e, &e));
    e->v = v;
    e->shape = v->n;
    e->stride = 1;
    const dlpack_tensor t = {
        .data = v->device ? device_address(v->memory) : v->data,
        .device = device_code(v),
        .ndim = 1,
        .dtype = {.code = is_complex ? DLPACK_COMPLEX : DLPACK_FLOAT,
                  .bits = (uint8_t)(8 * spry_type_size(v->type)),
                  .lanes = 1},
        .shape = &e->shape,
        .strides = &e->stride,
    };
    e->plain = (dlpack_managed){t, e, delete_plain};
    e->versioned = (dlpack_versioned){{DLPACK_MAJOR, DLPACK_MINOR}, e, delete_versioned, 0, t};
    *out = e;
done:
    return status;
}

spry_status spry_vector_to_dlpack(spry_vector *v, struct DLManagedTensor **tensor)
{
    SPRY_NEED(CTX_OF(v), v, tensor);
    exported *e;
    const spry_status status = export(v, &e);
    *tensor = e ? &e->plain : NULL;
    return status;
}

spry_status spry_vector_to_dlpack_versioned(spry_vector *v,
                                            struct DLManagedTensorVersioned **tensor)
{
    SPRY_NEED(CTX_OF(v), v, tensor);
    exported *e;
    const spry_status status = export(v, &e);
    *tensor = e ? &e->versioned : NULL;
    return status;
}

/* --- in ------------------------------------------------------------------------------------------
 */

/* A tensor as a vector: its elements, `stride` of them apart. */
typedef struct line {
    spry_type type;
    int64_t n, stride;
} line;

static spry_status find_type(spry_context *ctx, dlpack_type t, spry_type *type)
{
    const int code = t.lanes == 1 ? t.code * 1000 + t.bits : 0;
    switch (code) {
    case DLPACK_FLOAT * 1000 + 32:
        *type = SPRY_TYPE_S;
        return SPRY_STATUS_OK;
    case DLPACK_FLOAT * 1000 + 64:
        *type = SPRY_TYPE_D;
        return SPRY_STATUS_OK;
    case DLPACK_COMPLEX * 1000 + 64:
        *type = SPRY_TYPE_C;
        return SPRY_STATUS_OK;
    case DLPACK_COMPLEX * 1000 + 128:
        *type = SPRY_TYPE_Z;
        return SPRY_STATUS_OK;
    default:
        return SPRY_FAIL(ctx, SPRY_STATUS_UNSUPPORTED,
                         "DLPack: elements of code %d with %d bits and %d lanes; expected float "
                         "(2) of 32 or 64 bits or complex (5) of 64 or 128, one lane",
                         t.code, t.bits, t.lanes);
    }
}

/* The one dimension that is longer than 1. */
static spry_status find_line(spry_context *ctx, const dlpack_tensor *t, line *l)
{
    spry_status status = SPRY_STATUS_OK;
    int longer = 0;
    *l = (line){.n = 1, .stride = 1};
    SPRY_GO(ctx, find_type(ctx, t->dtype, &l->type));
    if (t->ndim < 1 || !t->shape)
        return SPRY_FAIL(ctx, SPRY_STATUS_UNSUPPORTED,
                         "DLPack: a tensor of %d dimensions is no vector", (int)t->ndim);
    for (int i = 0; i < t->ndim; i++) {
        if (t->shape[i] < 0)
            return SPRY_FAIL(ctx, SPRY_STATUS_BAD_INPUT, "DLPack: dimension %d is %" PRId64, i,
                             t->shape[i]);
        if (t->shape[i] == 1)
            continue;
        longer++;
        l->n = t->shape[i];
        l->stride = t->strides ? t->strides[i] : 1;
    }
    if (longer > 1)
        return SPRY_FAIL(ctx, SPRY_STATUS_UNSUPPORTED,
                         "DLPack: %d of the tensor's %d dimensions are longer than 1; a vector has "
                         "one",
                         longer, (int)t->ndim);
    if (l->n <= 1)
        l->stride = 1;
    const int64_t step = l->stride == INT64_MIN ? INT64_MAX : llabs(l->stride);
    if ((l->n > 0 && step > INT64_MAX / 32 / l->n) || t->byte_offset > INT64_MAX / 2)
        return SPRY_FAIL(ctx, SPRY_STATUS_BAD_INPUT,
                         "DLPack: %" PRId64 " elements with a stride of %" PRId64
                         " are more than any memory holds",
                         l->n, l->stride);
    if (!t->data && l->n > 0)
        return SPRY_FAIL(ctx, SPRY_STATUS_BAD_INPUT, "DLPack: the tensor has no data");
done:
    return status;
}

/* The device a tensor is on; NULL: the host. */
static spry_status find_device(spry_context *ctx, dlpack_device code, spry_device **d)
{
    char name[32];
    *d = NULL;
    switch (code.type) {
    case DLPACK_CPU:
    case DLPACK_CUDA_HOST:
        return SPRY_STATUS_OK;
    case DLPACK_CUDA:
    case DLPACK_CUDA_MANAGED:
        snprintf(name, sizeof name, "cuda:%d", (int)code.id);
        return device_open(ctx, name, d);
    case DLPACK_OPENCL:
        snprintf(name, sizeof name, "opencl:%d", (int)code.id);
        return device_open(ctx, name, d);
    default:
        return SPRY_FAIL(ctx, SPRY_STATUS_UNSUPPORTED,
                         "DLPack: device type %d; expected cpu (1), cuda (2, 3, 13) or opencl (4)",
                         (int)code.type);
    }
}

static spry_status import_host(spry_context *ctx, const dlpack_tensor *t, const line *l, bool share,
                               spry_vector **v)
{
    const size_t size = spry_type_size(l->type);
    char *data = t->data ? (char *)t->data + t->byte_offset : NULL;
    if (share)
        return spry_vector_new(ctx, l->type, l->n, data, SPRY_OWN_BORROW, v);
    const spry_status status = spry_vector_new(ctx, l->type, l->n, NULL, SPRY_OWN_COPY, v);
    for (int64_t i = 0; status == SPRY_STATUS_OK && data && i < l->n; i++)
        memcpy((char *)(*v)->data + (size_t)i * size, data + i * l->stride * (int64_t)size, size);
    return status;
}

/* Copies elements that have steps between them, or that begin inside a cl_mem. */
static spry_status import_copy(spry_device *d, const dlpack_tensor *t, const line *l,
                               spry_vector **v)
{
    spry_context *ctx = d->ctx;
    const int64_t size = (int64_t)spry_type_size(l->type);
    const int64_t step = l->stride < 0 ? -l->stride : l->stride;
    const int64_t reach = l->n > 0 ? (l->n - 1) * step : 0; /* from the lowest to the highest */
    const int64_t below = l->stride < 0 ? reach : 0;        /* before the first */
    int64_t at = below;
    char *base = (char *)t->data + (int64_t)t->byte_offset - below * size;
    device_memory *m = NULL;
    spry_status status = SPRY_STATUS_OK;
    if (!d->facts.has_pointers) { /* data is a name, not an address */
        base = t->data;
        at = (int64_t)t->byte_offset / size;
    }
    SPRY_GO(ctx, spry_vector_on(d, l->type, l->n, NULL, v));
    SPRY_GO(ctx, device_borrow(d, base, (reach + 1 + (d->facts.has_pointers ? 0 : at)) * size, &m));
    SPRY_GO(ctx, device_copy_block(d, l->type, l->n, 1, (device_block){m, at, l->stride, 0},
                                   (device_block){(*v)->memory, 0, 1, 0}));
    SPRY_GO(ctx, device_finish(d)); /* the tensor may go */
done:
    device_free(m);
    return status;
}

/* *shared: the vector uses the tensor's memory. */
static spry_status import(spry_context *ctx, const dlpack_tensor *t, bool read_only,
                          spry_vector **v, bool *shared)
{
    spry_device *d;
    line l;
    spry_status status = SPRY_STATUS_OK;
    *v = NULL;
    *shared = false;
    SPRY_GO(ctx, find_line(ctx, t, &l));
    SPRY_GO(ctx, find_device(ctx, t->device, &d));
    const int64_t size = (int64_t)spry_type_size(l.type);
    const bool aligned =
        ((uintptr_t)t->data + t->byte_offset) % (uint64_t)(size < 8 ? size : 8) == 0;
    *shared = l.stride == 1 && !read_only && l.n > 0 && aligned;
    if (!d) {
        SPRY_GO(ctx, import_host(ctx, t, &l, *shared, v));
    } else if (*shared && (d->facts.has_pointers || t->byte_offset == 0)) {
        SPRY_GO(ctx, spry_vector_on(d, l.type, l.n, (char *)t->data + t->byte_offset, v));
    } else if (!aligned || (!d->facts.has_pointers && t->byte_offset % (uint64_t)size != 0)) {
        status = SPRY_FAIL(ctx, SPRY_STATUS_UNSUPPORTED,
                           "DLPack: an offset of %" PRIu64 " bytes is not a multiple of the "
                           "elements' size",
                           t->byte_offset);
    } else {
        *shared = false;
        SPRY_GO(ctx, import_copy(d, t, &l, v));
    }
done:
    if (status != SPRY_STATUS_OK) {
        spry_vector_free(*v);
        *v = NULL;
    }
    return status;
}

static void release_plain(void *owner)
{
    struct DLManagedTensor *tensor = owner;
    if (tensor->deleter)
        tensor->deleter(tensor);
}

static void release_versioned(void *owner)
{
    struct DLManagedTensorVersioned *tensor = owner;
    if (tensor->deleter)
        tensor->deleter(tensor);
}

/* The tensor goes with the vector, or at once where that has a copy. */
static void hand_over(spry_vector *v, bool shared, void (*release)(void *), void *tensor)
{
    if (shared) {
        v->release = release;
        v->owner = tensor;
    } else {
        release(tensor);
    }
}

spry_status spry_vector_from_dlpack(spry_context *ctx, struct DLManagedTensor *tensor,
                                    spry_vector **v)
{
    SPRY_NEED(ctx, ctx, tensor, v);
    bool shared;
    const spry_status status = import(ctx, &tensor->dl_tensor, false, v, &shared);
    if (*v)
        hand_over(*v, shared, release_plain, tensor);
    return status;
}

spry_status spry_vector_from_dlpack_versioned(spry_context *ctx,
                                              struct DLManagedTensorVersioned *tensor,
                                              spry_vector **v)
{
    SPRY_NEED(ctx, ctx, tensor, v);
    bool shared;
    *v = NULL;
    if (tensor->version.major != DLPACK_MAJOR) /* only these members keep their places */
        return SPRY_FAIL(ctx, SPRY_STATUS_UNSUPPORTED, "DLPack %u.%u; expected 1.x",
                         tensor->version.major, tensor->version.minor);
    const spry_status status =
        import(ctx, &tensor->dl_tensor, tensor->flags & DLPACK_READ_ONLY, v, &shared);
    if (*v)
        hand_over(*v, shared, release_versioned, tensor);
    return status;
}
