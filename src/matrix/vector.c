/* Vectors as objects: making them, who owns the numbers, looking at them, copies, freeing. */
#include "matrix/distribution.h"

static void place_part(const spry_vector *v, const void *from, range part)
{
    const int64_t size = (int64_t)spry_type_size(v->type);
    char *to = (char *)v->data + part.begin * size;
    const size_t bytes = (size_t)((part.end - part.begin) * size);
    if (bytes > 0 && from)
        memcpy(to, (const char *)from + part.begin * size, bytes);
    else if (bytes > 0)
        memset(to, 0, bytes);
}

typedef struct place_job {
    const spry_vector *v;
    const void *from;
} place_job;

static void place_share(void *argument, int share, int shares)
{
    const place_job *job = argument;
    place_part(job->v, job->from, base_share(job->v->n, shares, share, VECTOR_CHUNK));
}

/* Sets or copies the numbers with the threads that will work on them, chunk by chunk as they will,
 * so that each page lies near its thread. */
static void place(const spry_vector *v, const void *from)
{
    place_job job = {v, from};
    base_share_out(v->ctx, v->n <= VECTOR_CHUNK ? 1 : spry_context_threads(v->ctx), place_share,
                   &job);
}

spry_status vector_check_own(spry_context *ctx, spry_own own)
{
    if (own == SPRY_OWN_BORROW || own == SPRY_OWN_COPY || own == SPRY_OWN_TAKE)
        return SPRY_STATUS_OK;
    return SPRY_FAIL(ctx, SPRY_STATUS_BAD_USAGE, "own is %d, expected borrow, copy or take",
                     (int)own);
}

spry_status spry_vector_new(spry_context *ctx, spry_type type, int64_t n, void *data, spry_own own,
                            spry_vector **out)
{
    SPRY_NEED(ctx, ctx, out);
    *out = NULL;
    if (n < 0)
        return SPRY_FAIL(ctx, SPRY_STATUS_BAD_USAGE, "a vector cannot have %" PRId64 " elements",
                         n);
    const spry_status owned = vector_check_own(ctx, own);
    if (owned != SPRY_STATUS_OK)
        return owned;

    spry_vector *v = NULL;
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(ctx, base_check_type(ctx, type));
    SPRY_GO(ctx, base_object_new(ctx, sizeof *v, &v));
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
    base_object_free(ctx, v);
    return status;
}

spry_status spry_vector_zeros(spry_context *ctx, const spry_matrix *A, spry_vector **x)
{
    SPRY_NEED(ctx, ctx, A, x);
    const spry_status status = spry_vector_new(ctx, A->a.type, A->a.cols, NULL, SPRY_OWN_COPY, x);
    if (status == SPRY_STATUS_OK)
        (*x)->part = dist_own_cols(A);
    return status;
}

spry_status spry_vector_set_release(spry_vector *v, spry_release_fn release, void *data)
{
    SPRY_NEED(CTX_OF(v), v);
    if (v->release && !v->owner_of_caller)
        return SPRY_FAIL(v->ctx, SPRY_STATUS_BAD_USAGE,
                         "the vector has an owner, who is notified when it is freed");
    v->release = release;
    v->owner = data;
    v->owner_of_caller = release != NULL;
    return SPRY_STATUS_OK;
}

static void destroy(spry_vector *v)
{
    if (v->class)
        v->class->destroy(v);
    else if (v->owned)
        base_free(v->ctx, v->data);
    const spry_release_fn release = v->release;
    void *owner = v->owner;
    base_object_free(v->ctx, v);
    if (release)
        release(owner);
}

void spry_vector_free(spry_vector *v)
{
    if (v && atomic_fetch_or(&v->holds, VECTOR_FREED) == 0)
        destroy(v);
}

void vector_hold(const spry_vector *v)
{
    atomic_fetch_add(&((spry_vector *)(uintptr_t)v)->holds, 1);
}

void vector_let_go(const spry_vector *v)
{
    spry_vector *it = (spry_vector *)(uintptr_t)v;
    if (atomic_fetch_sub(&it->holds, 1) == VECTOR_FREED + 1)
        destroy(it);
}

int64_t spry_vector_size(const spry_vector *v)
{
    return v ? v->n : 0;
}

spry_type spry_vector_type(const spry_vector *v)
{
    return v ? v->type : SPRY_TYPE_D;
}

void *spry_vector_data(spry_vector *v)
{
    return v && vector_fetch(v) == SPRY_STATUS_OK ? v->data : NULL;
}

const void *spry_vector_data_const(const spry_vector *v)
{
    return v && vector_fetch(v) == SPRY_STATUS_OK ? v->data : NULL;
}

spry_device *spry_vector_device(const spry_vector *v)
{
    return v ? v->device : NULL;
}

spry_status spry_vector_like(const spry_vector *v, int64_t n, spry_vector **w)
{
    SPRY_NEED(CTX_OF(v), v, w);
    *w = NULL;
    if (v->class && n < 0)
        return SPRY_FAIL(v->ctx, SPRY_STATUS_BAD_USAGE, "a vector cannot have %" PRId64 " elements",
                         n);
    const spry_status status =
        v->class ? v->class->make(v->device, v->type, n, w)
                 : spry_vector_new(v->ctx, v->type, n, NULL, SPRY_OWN_COPY, w);
    if (status == SPRY_STATUS_OK && n == v->n)
        (*w)->part = v->part;
    return status;
}

static const vector_device *vector_device_of(const spry_device *device)
{
    return (const vector_device *)device;
}

spry_status vector_new_at(spry_context *ctx, spry_device *device, spry_type type, int64_t n,
                          spry_vector **v)
{
    return device ? vector_device_of(device)->vectors->make(device, type, n, v)
                  : spry_vector_new(ctx, type, n, NULL, SPRY_OWN_COPY, v);
}

spry_status vector_fetch(const spry_vector *v)
{
    if (!v->bring)
        return SPRY_STATUS_OK;
    /* Reading a vector does not count as a change; lazy values are updated internally. */
    spry_vector *late = (spry_vector *)(uintptr_t)v;
    spry_status (*const bring)(void *, spry_vector *) = v->bring;
    late->bring = NULL;
    return bring(v->from, late);
}

spry_status vector_on_host(const spry_vector *v, const spry_vector **on_host, spry_vector **copy)
{
    spry_status status = SPRY_STATUS_OK;
    *copy = NULL;
    *on_host = v;
    SPRY_GO(v->ctx, vector_fetch(v));
    if (!v->class)
        return SPRY_STATUS_OK;
    SPRY_GO(v->ctx, spry_vector_new(v->ctx, v->type, v->n, NULL, SPRY_OWN_COPY, copy));
    SPRY_GO(v->ctx, v->class->get(v, (*copy)->data));
    *on_host = *copy;
done:
    return status;
}

const char *place_name(const spry_device *device)
{
    return device ? vector_device_of(device)->name : "cpu";
}

/* --- copies --- */

spry_status vector_check_lengths(const spry_vector *x, const spry_vector *y)
{
    if (x->ctx != y->ctx)
        return SPRY_FAIL(x->ctx, SPRY_STATUS_BAD_USAGE, "the vectors are of different contexts");
    if (x->n != y->n)
        return SPRY_FAIL(x->ctx, SPRY_STATUS_BAD_USAGE,
                         "the vectors have %" PRId64 " and %" PRId64 " elements", x->n, y->n);
    const spry_status status = vector_fetch(x);
    return status == SPRY_STATUS_OK ? vector_fetch(y) : status;
}

/* y = x with another type. */
static spry_status convert(const spry_vector *x, spry_vector *y)
{
    const bool drops = spry_type_is_complex(x->type) && !spry_type_is_complex(y->type);
    for (int64_t i = 0; drops && i < x->n; i++) {
        const double im = value_get(x->type, x->data, i).im;
        if (im != 0)
            return SPRY_FAIL(x->ctx, SPRY_STATUS_BAD_INPUT,
                             "element %" PRId64 " has an imaginary part of %g, a vector of type %s "
                             "cannot hold it",
                             i, im, spry_type_name(y->type));
    }
    const bool single = type_is_single(y->type);
    for (int64_t i = 0; i < x->n; i++) {
        const spry_scalar v = value_get(x->type, x->data, i);
        if (single && value_overflows_single(v))
            return SPRY_FAIL(x->ctx, SPRY_STATUS_BAD_INPUT,
                             "element %" PRId64 ": (%g, %g) does not fit type %s", i, v.re, v.im,
                             spry_type_name(y->type));
        value_set(y->type, y->data, i, v);
    }
    return SPRY_STATUS_OK;
}

/* y = x where one of them, or both, are on a device. What does not fit another type is left to the
 * host, which says what that is. */
static spry_status copy_between(const spry_vector *x, spry_vector *y)
{
    const bool same = x->type == y->type, same_device = x->class && x->device == y->device;
    spry_vector *from = NULL, *to = NULL;
    bool fits = false;
    spry_status status = SPRY_STATUS_OK;
    if (same && same_device)
        return vector_note(y, x->class->copy(x, y));
    if (same_device && x->n > 0)
        SPRY_GO(x->ctx, x->class->retype(x, y, &fits));
    if (fits)
        return vector_note(y, status);
    if (same && x->class && !y->class)
        return x->class->get(x, y->data);
    if (same && y->class && !x->class)
        return y->class->put(y, x->data);
    if (x->class) {
        SPRY_GO(x->ctx, spry_vector_new(x->ctx, x->type, x->n, NULL, SPRY_OWN_COPY, &from));
        SPRY_GO(x->ctx, x->class->get(x, from->data));
    }
    if (y->class)
        SPRY_GO(x->ctx, spry_vector_new(y->ctx, y->type, y->n, NULL, SPRY_OWN_COPY, &to));
    SPRY_GO(x->ctx, spry_vector_copy(from ? from : x, to ? to : y));
    if (to)
        SPRY_GO(x->ctx, y->class->put(y, to->data));
done:
    spry_vector_free(from);
    spry_vector_free(to);
    return status;
}

spry_status spry_vector_copy(const spry_vector *x, spry_vector *y)
{
    SPRY_NEED(CTX_OF_ANY(x, y), x, y);
    const spry_status status = vector_check_lengths(x, y);
    if (status != SPRY_STATUS_OK || vector_same(x, y))
        return status;
    if (x->class || y->class)
        return copy_between(x, y);
    if (x->type != y->type)
        return convert(x, y);
    place(y, x->data);
    return SPRY_STATUS_OK;
}
