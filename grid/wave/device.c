/*
 * Fourier transforms on devices: a kernel for each axis, of functions that kernels/fourier.knl has,
 * and one for the last axis that goes forth, times G, and back. All are of one program.
 */
#include "device/engine/device.h"

#include "device/linalg/vector.h"
#include "grid/text.h"
#include "grid/wave/wave.h"

#include <math.h>

enum { GROUP = 128, TEXT_OPTIONS = 64 };
/* As in kernels/fourier.knl. */
enum { TURNED = 1, BEFORE = 2, AFTER = 4, COLUMNS = 4 };

typedef struct fourier_device {
    device_program *program;
    device_memory *roots[WAVE_AXES];
    int lines[WAVE_AXES]; /* that a group has in its local memory */
} fourier_device;

static int64_t room_bytes(const fourier *f, int axis, int lines)
{
    return 2 * f->n[axis] * lines * (int64_t)spry_type_size(f->type);
}

/* As many lines as fill a sector of memory and more when read together, as far as there is
 * room. */
static spry_status choose_lines(const fourier *f, int axis, int *lines)
{
    enum { TOGETHER = 64 };
    const int64_t most = f->device->facts.most_local;
    *lines = TOGETHER / (int)spry_type_size(f->type);
    while (*lines > 1 && room_bytes(f, axis, *lines) > most / 2)
        *lines /= 2;
    if (room_bytes(f, axis, *lines) > most)
        return SPRY_FAIL(
            f->ctx, SPRY_STATUS_UNSUPPORTED,
            "a line of %" PRId64 " points along %c needs %" PRId64
            " bytes of %s's local memory, which has %" PRId64 "; take the host, or a shorter side",
            f->n[axis], "xyz"[axis], room_bytes(f, axis, *lines), f -> device -> facts.name, most);
    return SPRY_STATUS_OK;
}

/* The stages of an axis, from one half of the memory to the other; the half they end in. */
static int put_stages(base_text *t, const fourier *f, int axis, int lines, int half)
{
    const wave_side *side = &f->side[axis];
    int64_t s = 1;
    for (int i = 0; i < side->stages; i++) {
        const int64_t radix = side->radix[i];
        base_text_put(
            t, "    ft_stage%s(%d, %d, %d, %d, %d, roots + %" PRId64 ", room_%d, room_%d);\n",
            radix > 5 ? "_other" : "", (int)radix, axis == 0, (int)f->n[axis], lines, (int)s,
            side->roots_at[i] / 2, half, 1 - half);
        s *= radix;
        half = 1 - half;
    }
    return half;
}

/* Numbers between the points of a line. */
static int64_t inner_of(const fourier *f, int axis)
{
    return axis == 0 ? 1 : axis == 1 ? f->n[0] : f->n[0] * f->n[1];
}

static void put_kernel(base_text *t, const fourier *f, int axis, int lines, bool green)
{
    const int n = (int)f->n[axis];
    base_text_put(
        t,
        "SP_KERNEL %s_%d(const offset count, const int columns, const int how, const real scale,\n"
        "    SP_GLOBAL const scalar *roots, SP_GLOBAL const scalar *V,\n"
        "    FT_ARRAYS(const scalar, x), FT_ARRAYS(const scalar, w), FT_ARRAYS(scalar, y)%s)\n"
        "{\n"
        "    SP_ROOM(scalar, room, %d);\n"
        "    SP_LOCAL scalar *const room_0 = room, *const room_1 = room + %d;\n"
        "    const offset block = SP_GROUP_ID / columns;\n"
        "    const int column = SP_GROUP_ID %% columns;\n"
        "    ft_load(%d, %d, %" PRId64 ", block, count, how, FT_OF(x), V, room_0);\n",
        green ? "ft_green_pass" : "ft_pass", axis,
        green ? ",\n    SP_GLOBAL const real *squares, const real centre, "
                "const real epsilon"
              : "",
        2 * n * lines, n * lines, n, lines, inner_of(f, axis));
    int half = put_stages(t, f, axis, lines, 0);
    if (green) {
        base_text_put(
            t,
            "    ft_green(%d, %d, %d, block, %d, %d, %d, squares, centre, epsilon, scale, "
            "room_%d);\n",
            n, lines, axis == 0, f->axes, (int)f->n[0], (int)f->n[1], half);
        half = put_stages(t, f, axis, lines, half);
    }
    base_text_put(t,
                  "    ft_store(%d, %d, %" PRId64 ", block, count, how%s, %s, V, FT_OF(w), "
                  "room_%d, FT_OF(y));\n}\n",
                  n, lines, inner_of(f, axis), green ? " ^ FT_TURNED" : "",
                  green ? "(real)1" : "scale", half);
}

spry_status wave_device_text(const fourier *f, const int lines[WAVE_AXES], char **text)
{
    base_text t = {.ctx = f->ctx};
    base_text_put(&t, "%s", grid_text("fourier"));
    for (int a = 0; a < f->axes; a++)
        put_kernel(&t, f, a, lines[a], false);
    put_kernel(&t, f, f->axes - 1, lines[f->axes - 1], true);
    return base_text_take(&t, text);
}

spry_status wave_device_open(fourier *f)
{
    spry_context *ctx = f->ctx;
    fourier_device *d;
    char *text = NULL, options[TEXT_OPTIONS];
    spry_status status = SPRY_STATUS_OK;
    if (f->count > INT32_MAX)
        return SPRY_FAIL(ctx, SPRY_STATUS_UNSUPPORTED,
                         "a grid of %" PRId64 " points; devices take %d", f->count, INT32_MAX);
    SPRY_GO(ctx, base_calloc(ctx, 1, sizeof *d, &d));
    f->on_device = d;
    for (int a = 0; a < f->axes; a++) {
        const int64_t bytes = f->side[a].roots_count / 2 * (int64_t)spry_type_size(f->type);
        SPRY_GO(ctx, choose_lines(f, a, &d->lines[a]));
        SPRY_GO(ctx, device_alloc(f->device, bytes, &d->roots[a]));
        SPRY_GO(ctx, device_put(d->roots[a], 0, f->side[a].roots, bytes));
    }
    snprintf(options, sizeof options, "-DSP_TYPE=%d -DSP_GROUP=%d", (int)f->type, GROUP);
    SPRY_GO(ctx, wave_device_text(f, d->lines, &text));
    SPRY_GO(ctx, device_build(f->device, text, options, &d->program));
done:
    base_free(ctx, text);
    return status;
}

void wave_device_close(fourier *f)
{
    for (int a = 0; f->on_device && a < WAVE_AXES; a++)
        device_free(f->on_device->roots[a]);
    base_free(f->ctx, f->on_device);
}

spry_status wave_device_green(const fourier *f, fourier_green *g)
{
    const int64_t size = (int64_t)spry_type_size(f->type) / 2;
    int64_t at = 0;
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(f->ctx,
            device_alloc(f->device, (f->n[0] + f->n[1] + f->n[2]) * size, &g->device_tables));
    for (int a = 0; a < f->axes; a++) {
        SPRY_GO(f->ctx, device_put(g->device_tables, at, g->squares[a], f->n[a] * size));
        at += f->n[a] * size;
    }
done:
    return status;
}

/* --- launches ------------------------------------------------------------------------------------
 */

typedef struct pass {
    int axis, how, columns;
    double scale;
    const device_memory *V;
    const void *const *x, *const *w; /* memory of each column */
    void *const *y;
    const fourier_green *green;
} pass;

/* One launch for some columns; places of missing ones take any memory. */
static spry_status run_some(const fourier *f, const pass *p, int first, int32_t columns)
{
    enum { BEFORE_COLUMNS = 6, MOST = BEFORE_COLUMNS + 3 * COLUMNS + 3 };
    const fourier_device *d = f->on_device;
    const bool single = type_is_single(f->type);
    const int64_t count = f->count / f->n[p->axis];
    const int lines = d->lines[p->axis], axis = p->axis;
    const int32_t how = p->how;
    const double numbers[] = {p->green ? p->green->scale : p->scale,
                              p->green ? p->green->centre : 0, p->green ? p->green->epsilon : 0};
    float shorter[3];
    device_arg reals[3], args[MOST];
    char name[32];
    int given = BEFORE_COLUMNS;
    for (int i = 0; i < 3; i++) {
        shorter[i] = (float)numbers[i];
        reals[i] = single ? DEVICE_VALUE(shorter[i]) : DEVICE_VALUE(numbers[i]);
    }
    args[0] = DEVICE_VALUE(count);
    args[1] = DEVICE_VALUE(columns);
    args[2] = DEVICE_VALUE(how);
    args[3] = reals[0];
    args[4] = device_arg_memory(d->roots[axis]);
    args[5] = device_arg_memory(p->V);
    for (int c = 0; c < COLUMNS; c++, given++) {
        const int at = first + (c < columns ? c : 0);
        args[given] = device_arg_memory(p->x[at]);
        args[given + COLUMNS] = device_arg_memory(p->w ? p->w[at] : NULL);
        args[given + 2 * COLUMNS] = device_arg_memory(p->y[at]);
    }
    given += 2 * COLUMNS;
    if (p->green) {
        args[given++] = device_arg_memory(p->green->device_tables);
        args[given++] = reals[1];
        args[given++] = reals[2];
    }
    snprintf(name, sizeof name, "%s_%d", p->green ? "ft_green_pass" : "ft_pass", axis);
    return device_launch_local(d->program, name, (count + lines - 1) / lines * columns, GROUP,
                               room_bytes(f, axis, lines), args, given);
}

static spry_status run_pass(const fourier *f, const pass *p)
{
    spry_status status = SPRY_STATUS_OK;
    for (int c = 0; c < p->columns && status == SPRY_STATUS_OK; c += COLUMNS)
        status = run_some(f, p, c, p->columns - c < COLUMNS ? p->columns - c : COLUMNS);
    return status;
}

spry_status wave_device_run(fourier *f, bool inverse, int columns, const void *const *x,
                            void *const *y)
{
    spry_status status = SPRY_STATUS_OK;
    for (int a = 0; a < f->axes && status == SPRY_STATUS_OK; a++) {
        const pass p = {.axis = a,
                        .how = inverse ? TURNED : 0,
                        .columns = columns,
                        .scale = a + 1 == f->axes ? 1 / sqrt((double)f->count) : 1,
                        .x = a == 0 ? x : (const void *const *)y,
                        .y = y};
        status = run_pass(f, &p);
    }
    return status;
}

spry_status wave_device_scatter(fourier *f, const fourier_green *g, const spry_vector *V,
                                bool whole, int columns, const void *const *x, void *const *y)
{
    const device_memory *potential = device_vector_memory(V);
    const int last = f->axes - 1, count = 2 * f->axes - 1;
    spry_status status = SPRY_STATUS_OK;
    for (int k = 0; k < count && status == SPRY_STATUS_OK; k++) {
        const bool ends = whole && k + 1 == count;
        const pass p = {.axis = k <= last ? k : 2 * last - k,
                        .how = (k > last ? TURNED : 0) | (k == 0 ? BEFORE : 0) | (ends ? AFTER : 0),
                        .columns = columns,
                        .scale = 1,
                        .x = k == 0 ? x : (const void *const *)y,
                        .V = k == 0 || ends ? potential : NULL,
                        .w = ends ? x : NULL,
                        .y = y,
                        .green = k == last ? g : NULL};
        status = run_pass(f, &p);
    }
    return status;
}

spry_status wave_device_place(const fourier *f, const wave_frame *frame, bool back, bool conjugate,
                              const spry_vector *in, spry_vector *out)
{
    const int64_t count = out->n;
    int32_t numbers[] = {back,
                         conjugate,
                         (int32_t)frame->box[0],
                         (int32_t)frame->box[1],
                         (int32_t)frame->box[2],
                         (int32_t)frame->padded[0],
                         (int32_t)frame->padded[1],
                         (int32_t)frame->first[0],
                         (int32_t)frame->first[1],
                         (int32_t)frame->first[2]};
    enum { NUMBERS = sizeof numbers / sizeof *numbers };
    device_arg args[NUMBERS + 3];
    args[0] = DEVICE_VALUE(count);
    for (int i = 0; i < NUMBERS; i++)
        args[i + 1] = DEVICE_VALUE(numbers[i]);
    args[NUMBERS + 1] = device_arg_memory(device_vector_memory(in));
    args[NUMBERS + 2] = device_arg_memory(device_vector_memory(out));
    return device_launch(f->on_device->program, "ft_place", NULL, (count + GROUP - 1) / GROUP,
                         GROUP, args, NUMBERS + 3);
}
