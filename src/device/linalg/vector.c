/* Vectors in a device's memory: what vector_class asks for. */
#include "device/linalg/vector.h"

#include <math.h>

enum { GROUP = 256 };

void *spry_vector_handle(const spry_vector *v)
{
    if (v && vector_fetch(v) != SPRY_STATUS_OK)
        return NULL;
    return !v ? NULL : v->memory ? device_address(v->memory) : v->data;
}

device_memory *device_vector_memory(const spry_vector *v)
{
    return v->memory;
}

spry_status device_check_type(const spry_device *d, spry_type type)
{
    if (type_is_single(type) || d->facts.has_double)
        return SPRY_STATUS_OK;
    return SPRY_FAIL(d->ctx, SPRY_STATUS_UNSUPPORTED,
                     "device %s has no double precision; take type s or c", d->facts.name);
}

static spry_status program_for(spry_device *d, spry_type type, const char *text, device_program **p)
{
    char options[48];
    const spry_status status = device_check_type(d, type);
    if (status != SPRY_STATUS_OK)
        return status;
    snprintf(options, sizeof options, "-DSP_TYPE=%d -DSP_GROUP=%d", (int)type, GROUP);
    return device_build_text(d, text, options, p);
}

static spry_status launch_of(spry_device *d, spry_type type, const char *text, const char *kernel,
                             int64_t work, const device_arg *args, int count)
{
    device_program *p = NULL;
    const spry_status status = program_for(d, type, text, &p);
    if (status != SPRY_STATUS_OK)
        return status;
    return device_launch(p, kernel, NULL, (work + GROUP - 1) / GROUP, GROUP, args, count);
}

static spry_status launch(spry_device *d, spry_type type, const char *kernel, int64_t work,
                          const device_arg *args, int count)
{
    return launch_of(d, type, "vector", kernel, work, args, count);
}

#define LAUNCH(d, type, kernel, work, args) \
    launch(d, type, kernel, work, args, (int)(sizeof(args) / sizeof *(args)))

/* A number by value: a pair for complex types. */
static device_arg factor_arg(spry_type type, const spry_scalar *factor)
{
    return (device_arg){NULL, factor,
                        spry_type_is_complex(type) ? sizeof *factor : sizeof factor->re};
}

static int64_t bytes_of(const spry_vector *v)
{
    return v->n * (int64_t)spry_type_size(v->type);
}

/* --- making and copying --------------------------------------------------------------------------
 */

static void destroy(spry_vector *v)
{
    device_free(v->memory);
    v->device->users--;
}

static spry_status put(spry_vector *v, const void *from)
{
    return device_put(v->memory, 0, from, bytes_of(v));
}

static spry_status get(const spry_vector *v, void *to)
{
    return device_get(v->memory, 0, to, bytes_of(v));
}

static spry_status copy(const spry_vector *x, spry_vector *y)
{
    return device_copy(x->memory, 0, y->memory, 0, bytes_of(x));
}

/* Of both types and of what the one has not from the other. */
static void retype_options(spry_type from, spry_type to, size_t room, char *options)
{
    const char *const numbers[] = {"double", "float"};
    snprintf(options, room, "-DSP_GROUP=%d -DFROM=%s -DFROM_WIDTH=%d -DTO=%s -DTO_WIDTH=%d%s",
             GROUP, numbers[type_is_single(from)], spry_type_is_complex(from) ? 2 : 1,
             numbers[type_is_single(to)], spry_type_is_complex(to) ? 2 : 1,
             type_is_single(to) && !type_is_single(from) ? " -DTO_SINGLE" : "");
}

static spry_status retype(const spry_vector *x, spry_vector *y, bool *fits)
{
    char options[128];
    int32_t flag = 1;
    device_program *p = NULL;
    device_memory *on_device = NULL;
    spry_status status = SPRY_STATUS_OK;
    retype_options(x->type, y->type, sizeof options, options);
    SPRY_GO(x->ctx, device_build_text(x->device, "retype", options, &p));
    SPRY_GO(x->ctx, device_alloc(x->device, sizeof flag, &on_device));
    SPRY_GO(x->ctx, device_put(on_device, 0, &flag, sizeof flag));
    const device_arg args[] = {DEVICE_VALUE(x->n), device_arg_memory(x->memory),
                               device_arg_memory(y->memory), device_arg_memory(on_device)};
    SPRY_GO(x->ctx, device_launch(p, "retype", NULL, (x->n + GROUP - 1) / GROUP, GROUP, args, 4));
    SPRY_GO(x->ctx, device_get(on_device, 0, &flag, sizeof flag));
    *fits = flag != 0;
done:
    device_free(on_device);
    return status;
}

static spry_status make(spry_device *d, spry_type type, int64_t n, spry_vector **v)
{
    return spry_vector_on(d, type, n, NULL, v);
}

/* --- elements ------------------------------------------------------------------------------------
 */

static spry_status fill(spry_vector *v, spry_scalar value)
{
    const device_arg args[] = {DEVICE_VALUE(v->n), factor_arg(v->type, &value),
                               device_arg_memory(v->memory)};
    return LAUNCH(v->device, v->type, "vector_fill", v->n, args);
}

static spry_status by_chance(spry_vector *v, uint64_t seed)
{
    const device_arg args[] = {DEVICE_VALUE(v->n), DEVICE_VALUE(seed),
                               device_arg_memory(v->memory)};
    return launch_of(v->device, v->type, "random", "random_fill", v->n, args, 3);
}

static spry_status blend(spry_scalar a, const spry_vector *x, spry_scalar b, spry_vector *y)
{
    const int32_t reads = b.re != 0 || b.im != 0;
    const device_arg args[] = {DEVICE_VALUE(y->n),           factor_arg(y->type, &a),
                               device_arg_memory(x->memory), factor_arg(y->type, &b),
                               DEVICE_VALUE(reads),          device_arg_memory(y->memory)};
    return LAUNCH(y->device, y->type, "vector_blend", y->n, args);
}

spry_status device_multiply_elements(spry_device *dev, spry_type type, int64_t n, spry_scalar a,
                                     const device_memory *d, bool conjugate, const device_memory *x,
                                     spry_scalar b, device_memory *z)
{
    const int32_t reads = b.re != 0 || b.im != 0, other = conjugate;
    const device_arg args[] = {DEVICE_VALUE(n),     factor_arg(type, &a), device_arg_memory(d),
                               DEVICE_VALUE(other), device_arg_memory(x), factor_arg(type, &b),
                               DEVICE_VALUE(reads), device_arg_memory(z)};
    return LAUNCH(dev, type, "vector_multiply", n, args);
}

static spry_status multiply(const spry_vector *x, const spry_vector *y, spry_vector *z)
{
    return device_multiply_elements(z->device, z->type, z->n, (spry_scalar){1, 0}, x->memory, false,
                                    y->memory, (spry_scalar){0, 0}, z->memory);
}

spry_status device_pick(spry_device *d, spry_type type, int64_t n, const device_memory *places,
                        bool back, const device_memory *x, device_memory *y)
{
    const device_arg args[] = {DEVICE_VALUE(n), device_arg_memory(places), device_arg_memory(x),
                               device_arg_memory(y)};
    return LAUNCH(d, type, back ? "vector_scatter" : "vector_gather", n, args);
}

static spry_status gather(const spry_vector *x, const int32_t *from, spry_vector *y)
{
    const int64_t bytes = x->n * (int64_t)sizeof *from;
    device_memory *places = NULL;
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(x->ctx, device_alloc(x->device, bytes, &places));
    SPRY_GO(x->ctx, device_put(places, 0, from, bytes));
    SPRY_GO(x->ctx, device_pick(x->device, x->type, x->n, places, false, x->memory, y->memory));
done:
    device_free(places);
    return status;
}

spry_status device_copy_block(spry_device *d, spry_type type, int64_t n, int columns,
                              device_block from, device_block to)
{
    const int32_t count = columns;
    const device_arg args[] = {DEVICE_VALUE(n),
                               DEVICE_VALUE(count),
                               device_arg_memory(from.memory),
                               DEVICE_VALUE(from.at),
                               DEVICE_VALUE(from.row),
                               DEVICE_VALUE(from.col),
                               device_arg_memory(to.memory),
                               DEVICE_VALUE(to.at),
                               DEVICE_VALUE(to.row),
                               DEVICE_VALUE(to.col)};
    return LAUNCH(d, type, "vector_tile", n * columns, args);
}

/* --- sums ----------------------------------------------------------------------------------------
 */

enum { MOST_GROUPS = 512, PER_ITEM = 4 };

/* Groups that work on n elements. */
static int64_t groups_for(int64_t n)
{
    const int64_t groups = (n + (int64_t)GROUP * PER_ITEM - 1) / ((int64_t)GROUP * PER_ITEM);
    return groups < MOST_GROUPS ? groups : MOST_GROUPS;
}

/* Launches a kernel whose last argument is memory for `bytes` of parts of the result, and brings
 * them. */
static spry_status take_parts(const spry_vector *x, const char *kernel, device_arg *args, int count,
                              int64_t bytes, void *parts)
{
    spry_context *ctx = x->ctx;
    device_memory *m = NULL;
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(ctx, device_alloc(x->device, bytes, &m));
    args[count] = device_arg_memory(m);
    SPRY_GO(ctx, launch(x->device, x->type, kernel, groups_for(x->n) * GROUP, args, count + 1));
    SPRY_GO(ctx, device_get(m, 0, parts, bytes));
done:
    device_free(m);
    return status;
}

/* Sums of groups, in the order of groups. */
static spry_scalar add_groups(int64_t groups, int width, const double *parts)
{
    spry_scalar sum = {0, 0};
    for (int64_t g = 0; g < groups; g++) {
        sum.re += parts[g * width];
        sum.im += width == 2 ? parts[g * width + 1] : 0;
    }
    return sum;
}

static spry_status dot(const spry_vector *x, const spry_vector *y, spry_scalar *result)
{
    double parts[2 * MOST_GROUPS];
    const int width = spry_type_is_complex(x->type) ? 2 : 1;
    const int64_t groups = groups_for(x->n);
    device_arg args[4] = {DEVICE_VALUE(x->n), device_arg_memory(x->memory),
                          device_arg_memory(y->memory)};
    *result = (spry_scalar){0, 0};
    if (groups == 0)
        return SPRY_STATUS_OK;
    const spry_status status =
        take_parts(x, "vector_dot", args, 3, groups * width * (int64_t)sizeof *parts, parts);
    if (status == SPRY_STATUS_OK)
        *result = add_groups(groups, width, parts);
    return status;
}

/* All are launched before the first is waited for. */
static spry_status squares(int count, const spry_vector *const *x, double scale, double *results)
{
    spry_context *ctx = x[0]->ctx;
    double parts[2 * MOST_GROUPS * VECTOR_MOST_NORMS];
    const int width = spry_type_is_complex(x[0]->type) ? 2 : 1;
    device_memory *m = NULL;
    int64_t at[VECTOR_MOST_NORMS + 1] = {0}; /* groups before */
    spry_status status = SPRY_STATUS_OK;
    for (int k = 0; k < count; k++)
        at[k + 1] = at[k] + groups_for(x[k]->n);
    const int64_t bytes = at[count] * width * (int64_t)sizeof *parts;
    SPRY_GO(ctx, device_alloc(x[0]->device, bytes, &m));
    for (int k = 0; k < count; k++) {
        const device_arg args[] = {DEVICE_VALUE(x[k]->n), DEVICE_VALUE(scale),
                                   device_arg_memory(x[k]->memory), device_arg_memory(m),
                                   DEVICE_VALUE(at[k])};
        SPRY_GO(ctx, launch(x[k]->device, x[k]->type, "vector_squares", groups_for(x[k]->n) * GROUP,
                            args, 5));
    }
    SPRY_GO(ctx, device_get(m, 0, parts, bytes));
    for (int k = 0; k < count; k++)
        results[k] = add_groups(at[k + 1] - at[k], width, parts + at[k] * width).re;
done:
    device_free(m);
    return status;
}

static spry_status largest(const spry_vector *x, double *result)
{
    double parts[MOST_GROUPS];
    const int64_t groups = groups_for(x->n);
    device_arg args[3] = {DEVICE_VALUE(x->n), device_arg_memory(x->memory)};
    *result = 0;
    if (groups == 0)
        return SPRY_STATUS_OK;
    const spry_status status =
        take_parts(x, "vector_largest", args, 2, groups * (int64_t)sizeof *parts, parts);
    for (int64_t g = 0; g < groups && status == SPRY_STATUS_OK; g++)
        *result = fmax(*result, parts[g]);
    return status;
}

/* --- the object ----------------------------------------------------------------------------------
 */

const vector_class device_vectors = {.destroy = destroy,
                                     .make = make,
                                     .put = put,
                                     .get = get,
                                     .copy = copy,
                                     .retype = retype,
                                     .fill = fill,
                                     .random = by_chance,
                                     .blend = blend,
                                     .multiply = multiply,
                                     .gather = gather,
                                     .dot = dot,
                                     .squares = squares,
                                     .largest = largest};

spry_vector device_vector_over(spry_device *d, spry_type type, int64_t n, const device_memory *m)
{
    spry_vector v = vector_over(d->ctx, type, n, NULL);
    v.class = &device_vectors;
    v.device = d;
    v.memory = (device_memory *)(uintptr_t)m;
    v.data = d->facts.has_pointers ? device_address(m) : NULL;
    return v;
}

spry_status spry_vector_on(spry_device *device, spry_type type, int64_t n, void *data,
                           spry_vector **out)
{
    SPRY_NEED(CTX_OF(device), device, out);
    spry_context *ctx = device->ctx;
    spry_vector *v = NULL;
    spry_status status = SPRY_STATUS_OK;
    *out = NULL;
    if (n < 0)
        return SPRY_FAIL(ctx, SPRY_STATUS_BAD_USAGE, "a vector cannot have %" PRId64 " elements",
                         n);
    SPRY_GO(ctx, base_check_type(ctx, type));
    SPRY_GO(ctx, base_object_new(ctx, sizeof *v, &v));
    *v = vector_over(ctx, type, n, NULL);
    if (n > INT64_MAX / 16 / 2)
        SPRY_GO(ctx, SPRY_FAIL(ctx, SPRY_STATUS_NO_MEMORY, "a vector of %" PRId64 " elements", n));
    if (data) {
        SPRY_GO(ctx, device_borrow(device, data, bytes_of(v), &v->memory));
    } else {
        SPRY_GO(ctx, device_alloc(device, bytes_of(v), &v->memory));
        SPRY_GO(ctx, device_clear(v->memory, 0, bytes_of(v)));
    }
    v->class = &device_vectors;
    v->device = device;
    device->users++;
    v->data = device->facts.has_pointers ? device_address(v->memory) : NULL;
    *out = v;
    v = NULL;
done:
    if (v)
        device_free(v->memory);
    base_object_free(ctx, v);
    return status;
}
