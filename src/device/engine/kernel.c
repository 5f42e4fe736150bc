/* Kernels of the caller's: their options, arguments and launches. */
#include "device/engine/cache.h"
#include "device/engine/engine.h"
#include "device/engine/signature.h"
#include "device/linalg/vector.h"

#include <spry/kernel.h>
#include <stdlib.h>

#define KERNEL_OPTIONS(item)                                                                     \
    item(WORD, type, "d", 0, 0, "s d c z", "what scalar, real and number are")                   \
    item(TEXT, group, "auto", 0, 0, NULL,                                                        \
         "work-items of a group, as 256, 64x4 or 64x4x1; auto: these, by the words of the text") \
    item(TEXT, define, "", 0, 0, NULL, "constants of the text, as [WIDTH=3 HEIGHT=2]")

typedef struct kernel_options {
    KERNEL_OPTIONS(SPRY_OPTION_FIELD)
} kernel_options;

SPRY_OPTION_TABLE(option_table, kernel_options, KERNEL_OPTIONS(SPRY_OPTION_ROW))

spry_option_list kernel_option_list(void)
{
    return (spry_option_list)SPRY_OPTION_LIST(option_table);
}

/* The value of a number by value: as wide as the widest. */
typedef struct kernel_number {
    _Alignas(16) unsigned char bytes[16];
} kernel_number;

struct spry_kernel {
    spry_device *d;
    char name[PARAMETER_NAME];
    device_program *program;
    int dimensions, group[3];
    int count; /* of arguments */
    kernel_parameter *parameters;
    device_arg *args;
    kernel_number *numbers; /* which arguments point to */
    device_memory **owned;  /* of arguments that are memory of the caller's; else NULL */
    bool *set;
};

/* --- making one ---------------------------------------------------------------------------------
 */

/* Reads "64x4x1", or chooses a shape where that is "auto". */
static spry_status choose_group(spry_kernel *k, const char *spec, const char *text)
{
    static const int shapes[3][3] = {{256, 1, 1}, {64, 4, 1}, {64, 4, 1}};
    const char *end = spec + strlen(spec);
    int64_t all = 1;
    memcpy(k->group, (int[]){1, 1, 1}, sizeof k->group);
    if (strcmp(spec, "auto") == 0) {
        k->dimensions = signature_dimensions(text);
        memcpy(k->group, shapes[k->dimensions - 1], sizeof k->group);
        while (k->group[0] * k->group[1] > k->d->facts.most_group && k->group[0] > 1)
            k->group[0] /= 2;
        return SPRY_STATUS_OK;
    }
    for (const char *p = spec; p && k->dimensions < 3; k->dimensions++) {
        int64_t side = 0;
        p = base_parse_int(p, end, &side);
        if (!p || side < 1 || side > k->d->facts.most_group || (p < end && *p != 'x'))
            break;
        k->group[k->dimensions] = (int)side;
        all *= side;
        if (p == end && all <= k->d->facts.most_group) {
            k->dimensions++;
            return SPRY_STATUS_OK;
        }
        p++;
    }
    return SPRY_FAIL(k->d->ctx, SPRY_STATUS_BAD_USAGE,
                     "group=%.40s: expected auto, or sides as 256, 64x4 or 64x4x1, with at most %d "
                     "work-items on %s",
                     spec, k->d->facts.most_group, k->d->facts.name);
}

/* Lines "#define NAME VALUE" of "NAME=VALUE NAME=VALUE". They are no options of the compiler, which
 * has other powers. */
static spry_status put_constants(spry_context *ctx, const char *define, base_text *t)
{
    for (const char *p = define; *p;) {
        const size_t length = strcspn(p, " ,"), name = strcspn(p, "= ,");
        if (length > 0 && !signature_is_name(p, name, 64))
            return SPRY_FAIL(ctx, SPRY_STATUS_BAD_USAGE,
                             "define=[%.80s]: \"%.*s\" is no NAME=VALUE", define, (int)length, p);
        if (length > 0)
            base_text_put(t, "#define %.*s %.*s\n", (int)name, p,
                          (int)(length > name ? length - name - 1 : 1),
                          length > name ? p + name + 1 : "1");
        p += length + (p[length] != '\0');
    }
    return SPRY_STATUS_OK;
}

static spry_status build(spry_kernel *k, const char *text, const kernel_options *o)
{
    spry_context *ctx = k->d->ctx;
    base_text t = {.ctx = ctx};
    char options[160], *all = NULL;
    spry_status status = SPRY_STATUS_OK;
    const int *group = k->group;
    int used = snprintf(options, sizeof options, "-DSP_TYPE=%d -DSP_GROUP=%d", o->type,
                        group[0] * group[1] * group[2]);
    if (k->dimensions > 1)
        snprintf(options + used, sizeof options - (size_t)used,
                 " -DSP_DIMENSIONS=%d -DSP_GROUP_0=%d -DSP_GROUP_1=%d -DSP_GROUP_2=%d",
                 k->dimensions, group[0], group[1], group[2]);
    status = put_constants(ctx, o->define, &t);
    base_text_put(&t, "#line 1 \"%s\"\n%s\n", k->name, text); /* messages name its own lines */
    const spry_status taken = base_text_take(&t, &all);
    SPRY_GO(ctx, status);
    SPRY_GO(ctx, taken);
    status = device_build(k->d, all, options, &k->program);
    if (status == SPRY_STATUS_DEVICE && k->d->cache && k->d->cache->refused)
        status = SPRY_STATUS_BAD_INPUT;
    SPRY_GO(ctx, status);
done:
    base_free(ctx, all);
    return status;
}

static spry_status make_arguments(spry_kernel *k, const char *text, spry_type type)
{
    spry_context *ctx = k->d->ctx;
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(ctx, signature_parse(ctx, text, k->name, type, &k->parameters, &k->count));
    SPRY_GO(ctx, base_calloc(ctx, k->count, sizeof *k->args, &k->args));
    SPRY_GO(ctx, base_calloc(ctx, k->count, sizeof *k->numbers, &k->numbers));
    SPRY_GO(ctx, base_calloc(ctx, k->count, sizeof *k->owned, &k->owned));
    SPRY_GO(ctx, base_calloc(ctx, k->count, sizeof *k->set, &k->set));
done:
    return status;
}

spry_status spry_kernel_new(spry_device *device, const char *text, const char *name,
                            const char *options, spry_kernel **kernel)
{
    if (kernel)
        *kernel = NULL;
    if (!device)
        return SPRY_STATUS_BAD_USAGE;
    spry_context *ctx = device->ctx;
    spry_kernel *k = NULL;
    kernel_options o;
    spry_status status = SPRY_STATUS_OK;
    if (!text || !name || !kernel || !signature_is_name(name, strlen(name), PARAMETER_NAME))
        return SPRY_FAIL(ctx, SPRY_STATUS_BAD_USAGE,
                         "a kernel needs a text, a name of less than %d letters, and a place to go",
                         PARAMETER_NAME);
    SPRY_GO(ctx, options_take(ctx, kernel_option_list(), &o, options));
    SPRY_GO(ctx, device_check_type(device, (spry_type)o.type));
    SPRY_GO(ctx, base_object_new(ctx, sizeof *k, &k));
    k->d = device;
    device->users++;
    snprintf(k->name, sizeof k->name, "%s", name);
    SPRY_GO(ctx, choose_group(k, o.group, text));
    SPRY_GO(ctx, make_arguments(k, text, (spry_type)o.type));
    SPRY_GO(ctx, build(k, text, &o));
    *kernel = k;
    k = NULL;
done:
    spry_kernel_free(k);
    return status;
}

void spry_kernel_free(spry_kernel *k)
{
    if (!k)
        return;
    spry_context *ctx = k->d->ctx;
    for (int i = 0; k->owned && i < k->count; i++)
        device_free(k->owned[i]);
    base_free(ctx, k->parameters);
    base_free(ctx, k->args);
    base_free(ctx, k->numbers);
    base_free(ctx, k->owned);
    base_free(ctx, k->set);
    k->d->users--;
    base_object_free(ctx, k);
}

int kernel_group(const spry_kernel *kernel, int dimension)
{
    return kernel && dimension >= 0 && dimension < 3 ? kernel->group[dimension] : 1;
}

/* --- arguments ----------------------------------------------------------------------------------
 */

/* The place of an argument by its name. */
static spry_status find(const spry_kernel *k, const char *name, int *place)
{
    char names[512] = "", what[96];
    if (!k)
        return SPRY_STATUS_BAD_USAGE;
    for (*place = 0; name && *place < k->count; ++*place) {
        if (strcmp(k->parameters[*place].name, name) == 0)
            return SPRY_STATUS_OK;
        base_add_word(names, sizeof names, k->parameters[*place].name);
    }
    snprintf(what, sizeof what, "argument of kernel %s", k->name);
    return base_unknown_word(k->d->ctx, what, name ? name : "NULL", names);
}

static spry_status mismatch(const spry_kernel *k, int place, const char *given)
{
    return SPRY_FAIL(k->d->ctx, SPRY_STATUS_BAD_USAGE, "kernel %s: argument %s is %s, not %s",
                     k->name, k->parameters[place].name, k->parameters[place].shown, given);
}

/* What a place holds from here on: memory (NULL: a null pointer), or its number. */
static void take(spry_kernel *k, int place, const device_memory *memory, device_memory *owned)
{
    const kernel_parameter *p = &k->parameters[place];
    device_free(k->owned[place]);
    k->owned[place] = owned;
    k->args[place] = p->pointer ? device_arg_memory(memory)
                                : (device_arg){NULL, &k->numbers[place], (size_t)p->size};
    k->set[place] = true;
}

spry_status spry_kernel_set_int(spry_kernel *kernel, const char *name, int64_t value)
{
    int place;
    const spry_status status = find(kernel, name, &place);
    if (status != SPRY_STATUS_OK)
        return status;
    const kernel_parameter *p = &kernel->parameters[place];
    if (p->pointer || !p->whole)
        return mismatch(kernel, place, "a whole number");
    const int bits = 8 * p->size - (p->has_sign ? 1 : 0);
    const int64_t most = bits < 63 ? ((int64_t)1 << bits) - 1 : INT64_MAX;
    if (value > most || value < (p->has_sign ? -most - 1 : 0))
        return SPRY_FAIL(kernel->d->ctx, SPRY_STATUS_BAD_USAGE,
                         "kernel %s: %" PRId64 " does not fit argument %s, which is %s",
                         kernel->name, value, name, p->shown);
    /* Little-endian, as all hosts that devices are in: the low bytes are the shorter number. */
    memcpy(kernel->numbers[place].bytes, &value, (size_t)p->size);
    take(kernel, place, NULL, NULL);
    return SPRY_STATUS_OK;
}

spry_status spry_kernel_set_scalar(spry_kernel *kernel, const char *name, spry_scalar value)
{
    int place;
    const spry_status status = find(kernel, name, &place);
    if (status != SPRY_STATUS_OK)
        return status;
    const kernel_parameter *p = &kernel->parameters[place];
    if (p->pointer || p->whole)
        return mismatch(kernel, place, "a number");
    if (value.im != 0 && !spry_type_is_complex(p->type))
        return mismatch(kernel, place, "a complex number");
    value_set(p->type, kernel->numbers[place].bytes, 0, value);
    take(kernel, place, NULL, NULL);
    return SPRY_STATUS_OK;
}

spry_status spry_kernel_set_real(spry_kernel *kernel, const char *name, double value)
{
    return spry_kernel_set_scalar(kernel, name, (spry_scalar){value, 0});
}

static spry_status set_vector(spry_kernel *k, const char *name, const spry_vector *v, bool written)
{
    int place;
    char given[64];
    const spry_status status = find(k, name, &place);
    if (status != SPRY_STATUS_OK)
        return status;
    const kernel_parameter *p = &k->parameters[place];
    if (!v)
        return mismatch(k, place, "NULL; spry_kernel_set_memory() sets null pointers");
    snprintf(given, sizeof given, "a vector of type %s", spry_type_name(v->type));
    if (!p->pointer || p->whole || p->type != v->type)
        return mismatch(k, place, given);
    if (!written && !p->constant)
        return mismatch(k, place,
                        "for vectors that are only read: spry_kernel_set_vector() sets "
                        "those that may be written");
    if (v->device != k->d)
        return SPRY_FAIL(k->d->ctx, SPRY_STATUS_BAD_USAGE,
                         "kernel %s: vector %s is on %s, the kernel on %s; spry_vector_copy() "
                         "brings vectors to another place",
                         k->name, name, place_name(v->device), k->d->facts.name);
    const spry_status fetched = vector_fetch(v);
    if (fetched == SPRY_STATUS_OK)
        take(k, place, device_vector_memory(v), NULL);
    return fetched;
}

spry_status spry_kernel_set_input(spry_kernel *kernel, const char *name, const spry_vector *v)
{
    return set_vector(kernel, name, v, false);
}

spry_status spry_kernel_set_vector(spry_kernel *kernel, const char *name, spry_vector *v)
{
    return set_vector(kernel, name, v, true);
}

spry_status spry_kernel_set_memory(spry_kernel *kernel, const char *name, void *memory)
{
    int place;
    device_memory *owned = NULL;
    spry_status status = find(kernel, name, &place);
    if (status != SPRY_STATUS_OK)
        return status;
    if (!kernel->parameters[place].pointer)
        return mismatch(kernel, place, "memory");
    if (memory) /* whose size is the caller's to know */
        status = device_borrow(kernel->d, memory, INT64_MAX, &owned);
    if (status == SPRY_STATUS_OK)
        take(kernel, place, owned, owned);
    return status;
}

/* --- launching ----------------------------------------------------------------------------------
 */

spry_status spry_kernel_launch(spry_kernel *kernel, int dimensions, const int64_t *sides)
{
    if (!kernel)
        return SPRY_STATUS_BAD_USAGE;
    spry_context *ctx = kernel->d->ctx;
    device_range all = {{1, 1, 1}, {1, 1, 1}, 0};
    if (!sides || dimensions < 1 || dimensions > kernel->dimensions)
        return SPRY_FAIL(
            ctx, SPRY_STATUS_BAD_USAGE,
            "kernel %s: a range of %d dimensions; its groups of %d x %d x %d work-items "
            "have %d, which option group=64x4x1 sets",
            kernel->name, sides ? dimensions : 0, kernel->group[0], kernel->group[1],
            kernel->group[2], kernel->dimensions);
    for (int i = 0; i < 3; i++) {
        const int64_t side = i < dimensions ? sides[i] : 1;
        if (side < 0)
            return SPRY_FAIL(ctx, SPRY_STATUS_BAD_USAGE,
                             "kernel %s: a range of %" PRId64 " work-items in dimension %d",
                             kernel->name, side, i);
        all.group[i] = kernel->group[i];
        all.groups[i] = side / all.group[i] + (side % all.group[i] != 0);
    }
    for (int i = 0; i < kernel->count; i++)
        if (!kernel->set[i])
            return SPRY_FAIL(ctx, SPRY_STATUS_BAD_USAGE, "kernel %s: argument %s (%s) was not set",
                             kernel->name, kernel->parameters[i].name, kernel->parameters[i].shown);
    return device_launch_range(kernel->program, kernel->name, &all, kernel->args, kernel->count);
}
