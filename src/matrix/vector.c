/* Vectors as objects: making them, who owns the numbers, looking at them, freeing. */
#include "matrix/matrix.h"

#include <omp.h>

/* Sets or copies the numbers with the threads that will work on them, chunk by chunk as they will,
 * so that each page lies near its thread. */
static void place(const spry_vector *v, const void *from)
{
    const int64_t size = (int64_t)spry_type_size(v->type);
#pragma omp parallel num_threads(spry_context_threads(v->ctx)) if (v->n > VECTOR_CHUNK)
    {
        const range part =
            base_share(v->n, omp_get_num_threads(), omp_get_thread_num(), VECTOR_CHUNK);
        char *to = (char *)v->data + part.begin * size;
        const size_t bytes = (size_t)((part.end - part.begin) * size);
        if (bytes > 0 && from)
            memcpy(to, (const char *)from + part.begin * size, bytes);
        else if (bytes > 0)
            memset(to, 0, bytes);
    }
}

spry_status spry_vector_new(spry_context *ctx, spry_type type, int64_t n, void *data, spry_own own,
                            spry_vector **out)
{
    *out = NULL;
    if (n < 0)
        return SPRY_FAIL(ctx, SPRY_STATUS_BAD_USAGE, "a vector cannot have %" PRId64 " elements",
                         n);
    if (own != SPRY_OWN_BORROW && own != SPRY_OWN_COPY && own != SPRY_OWN_TAKE)
        return SPRY_FAIL(ctx, SPRY_STATUS_BAD_USAGE, "own is %d, expected borrow, copy or take",
                         (int)own);

    spry_vector *v = NULL;
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(ctx, base_check_type(ctx, type));
    SPRY_GO(ctx, base_calloc(ctx, 1, sizeof *v, &v));
    *v = vector_over(ctx, type, n, data);
    v->owned = own == SPRY_OWN_TAKE;
    if (!data || own == SPRY_OWN_COPY) {
        v->owned = true;
        SPRY_GO(ctx, base_alloc(ctx, n, spry_type_size(type), &v->data));
        place(v, data);
    }
    *out = v;
    v = NULL;
done:
    base_free(ctx, v);
    return status;
}

spry_status spry_vector_zeros(spry_context *ctx, const spry_matrix *A, spry_vector **x)
{
    return spry_vector_new(ctx, A->a.type, A->a.cols, NULL, SPRY_OWN_COPY, x);
}

void spry_vector_free(spry_vector *v)
{
    if (!v)
        return;
    if (v->class)
        v->class->destroy(v);
    else if (v->owned)
        base_free(v->ctx, v->data);
    if (v->release)
        v->release(v->owner);
    base_free(v->ctx, v);
}

int64_t spry_vector_size(const spry_vector *v)
{
    return v->n;
}

spry_type spry_vector_type(const spry_vector *v)
{
    return v->type;
}

void *spry_vector_data(spry_vector *v)
{
    return vector_fetch(v) == SPRY_STATUS_OK ? v->data : NULL;
}

const void *spry_vector_data_const(const spry_vector *v)
{
    return vector_fetch(v) == SPRY_STATUS_OK ? v->data : NULL;
}

spry_device *spry_vector_device(const spry_vector *v)
{
    return v->device;
}

spry_status spry_vector_like(const spry_vector *v, int64_t n, spry_vector **w)
{
    *w = NULL;
    if (!v->class)
        return spry_vector_new(v->ctx, v->type, n, NULL, SPRY_OWN_COPY, w);
    if (n < 0)
        return SPRY_FAIL(v->ctx, SPRY_STATUS_BAD_USAGE, "a vector cannot have %" PRId64 " elements",
                         n);
    return v->class->make(v->device, v->type, n, w);
}

spry_status vector_new_at(spry_context *ctx, spry_device *device, spry_type type, int64_t n,
                          spry_vector **v)
{
    return device ? spry_vector_on(device, type, n, NULL, v)
                  : spry_vector_new(ctx, type, n, NULL, SPRY_OWN_COPY, v);
}

spry_status vector_fetch(const spry_vector *v)
{
    if (!v->behind)
        return SPRY_STATUS_OK;
    /* Who looks at a vector does not change it; that its numbers came later is ours to know. */
    spry_vector *late = (spry_vector *)(uintptr_t)v;
    const spry_vector *from = v->behind;
    late->behind = NULL;
    return spry_vector_copy(from, late);
}

spry_status vector_here(const spry_vector *v, const spry_vector **here, spry_vector **copy)
{
    spry_status status = SPRY_STATUS_OK;
    *copy = NULL;
    *here = v;
    if (!v->class)
        return vector_fetch(v);
    SPRY_GO(v->ctx, spry_vector_new(v->ctx, v->type, v->n, NULL, SPRY_OWN_COPY, copy));
    SPRY_GO(v->ctx, v->class->get(v, (*copy)->data));
    *here = *copy;
done:
    return status;
}

const char *vector_place(const spry_vector *v)
{
    return v->device ? spry_device_name(v->device) : "cpu";
}
