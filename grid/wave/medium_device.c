/*
 * Another medium for a solver whose k^2 is on its device: it is looked at, padded and made V and
 * the preconditioner on the device (kernels/medium.knl). What is odd about it is left to the host,
 * which reports it.
 */
#include "device/engine/device.h"

#include "device/linalg/operator.h"
#include "device/linalg/vector.h"
#include "grid/text.h"
#include "grid/wave/wave.h"

#include <math.h>

enum { GROUP = 128, MOST_GROUPS = 256, LOOKED = 3, MADE = 2 };

struct wave_padding {
    device_memory *layers, *found;
};

void wave_padding_free(spry_context *ctx, wave_padding *p)
{
    if (!p)
        return;
    device_free(p->layers);
    device_free(p->found);
    base_free(ctx, p);
}

static spry_status make_padding(spry_context *ctx, const wave_frame *frame, spry_device *d,
                                wave_padding **p)
{
    spry_scalar *layer[WAVE_AXES] = {NULL};
    const int64_t bytes =
        (frame->padded[0] + frame->padded[1] + frame->padded[2]) * (int64_t)sizeof(spry_scalar);
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(ctx, base_calloc(ctx, 1, sizeof **p, p));
    SPRY_GO(ctx, device_alloc(d, bytes, &(*p)->layers));
    SPRY_GO(ctx, device_alloc(d, MOST_GROUPS * LOOKED * (int64_t)sizeof(double), &(*p)->found));
    SPRY_GO(ctx, wave_layers_make(ctx, frame, layer));
    SPRY_GO(ctx, device_put((*p)->layers, 0, layer[0], bytes));
done:
    base_free(ctx, layer[0]);
    if (status != SPRY_STATUS_OK) {
        wave_padding_free(ctx, *p);
        *p = NULL;
    }
    return status;
}

static int64_t groups_of(int64_t count)
{
    const int64_t groups = (count + GROUP - 1) / GROUP;
    return groups < MOST_GROUPS ? groups : MOST_GROUPS;
}

/* The least of what all groups have found, of each of `kinds` numbers. */
static spry_status take_least(const wave_padding *p, int64_t groups, int kinds, double *least)
{
    double found[MOST_GROUPS * LOOKED];
    const spry_status status =
        device_get(p->found, 0, found, groups * kinds * (int64_t)sizeof *found);
    for (int k = 0; k < kinds; k++)
        least[k] = INFINITY;
    for (int64_t i = 0; status == SPRY_STATUS_OK && i < groups * kinds; i++)
        least[i % kinds] = fmin(least[i % kinds], found[i]);
    return status;
}

/* The program for k^2 of a type; it stays with the device. */
static spry_status build(const fourier *f, spry_type given, device_program **program)
{
    char options[96];
    snprintf(options, sizeof options, "-DSP_TYPE=%d -DSP_GROUP=%d -DMEDIUM_TYPE=%d", (int)f->type,
             GROUP, (int)given);
    return device_build(f->device, grid_text("medium"), options, program);
}

/* Sets least and most of a medium that nothing is wrong with. */
static spry_status look(const wave_padding *p, device_program *program, const wave_frame *frame,
                        const spry_vector *k2, wave_medium *medium, bool *fine)
{
    const int64_t count = k2->n, groups = groups_of(count);
    double coarse = 0, least[LOOKED] = {0};
    for (int a = 0; a < frame->axes; a++)
        coarse = fmax(coarse, frame->spacing[a]);
    /* Two points to the wavelength, but for what rounding may make of that. */
    const double bound = (1 - 1e-9) * (M_PI / coarse) * (M_PI / coarse);
    const device_arg args[] = {DEVICE_VALUE(count), DEVICE_VALUE(bound),
                               device_arg_memory(device_vector_memory(k2)),
                               device_arg_memory(p->found)};
    spry_status status = device_launch(program, "medium_look", NULL, groups, GROUP, args, 4);
    if (status == SPRY_STATUS_OK)
        status = take_least(p, groups, LOOKED, least);
    *fine = status == SPRY_STATUS_OK && least[2] >= 0 && least[1] < 0;
    if (*fine) {
        medium->least = least[0];
        medium->most = -least[1];
    }
    return status;
}

static spry_status fill(const fourier *f, const wave_padding *p, device_program *program,
                        const wave_frame *frame, const spry_vector *k2, const spry_vector *V,
                        const spry_operator *M, wave_medium *medium, double *nearest)
{
    int32_t numbers[3 * WAVE_AXES];
    const int64_t groups = groups_of(f->count);
    double least[MADE];
    device_arg args[4 + 3 * WAVE_AXES + 6];
    int count = 0;
    args[count++] = DEVICE_VALUE(f->count);
    for (int a = 0; a < WAVE_AXES; a++) {
        numbers[a] = (int32_t)frame->box[a];
        numbers[WAVE_AXES + a] = (int32_t)frame->padded[a];
        numbers[2 * WAVE_AXES + a] = (int32_t)frame->first[a];
    }
    for (int i = 0; i < 3 * WAVE_AXES; i++)
        args[count++] = DEVICE_VALUE(numbers[i]);
    args[count++] = DEVICE_VALUE(medium->centre);
    args[count++] = DEVICE_VALUE(medium->epsilon);
    args[count++] = DEVICE_VALUE(medium->unit);
    args[count++] = device_arg_memory(device_vector_memory(k2));
    args[count++] = device_arg_memory(p->layers);
    args[count++] = device_arg_memory(device_vector_memory(V));
    args[count++] = device_arg_memory(device_diagonal(M, SPRY_TRANSPOSE_NO));
    args[count++] = device_arg_memory(device_diagonal(M, SPRY_TRANSPOSE_CONJUGATE));
    args[count++] = device_arg_memory(p->found);
    spry_status status = device_launch(program, "medium_make", NULL, groups, GROUP, args, count);
    if (status == SPRY_STATUS_OK)
        status = take_least(p, groups, MADE, least);
    if (status == SPRY_STATUS_OK) {
        medium->farthest = sqrt(-least[0]);
        *nearest = sqrt(least[1]) / medium->epsilon;
    }
    return status;
}

spry_status wave_padding_set(const fourier *f, const wave_frame *frame, double shift,
                             const spry_vector *k2, const spry_vector *V, const spry_operator *M,
                             wave_padding **p, wave_medium *medium, bool *made)
{
    spry_context *ctx = f->ctx;
    device_program *program;
    double nearest = 0;
    bool fine;
    spry_status status = SPRY_STATUS_OK;
    *made = false;
    if (!*p)
        SPRY_GO(ctx, make_padding(ctx, frame, f->device, p));
    SPRY_GO(ctx, build(f, k2->type, &program));
    SPRY_GO(ctx, look(*p, program, frame, k2, medium, &fine));
    if (!fine)
        goto done;
    wave_medium_choose(shift, medium);
    SPRY_GO(ctx, fill(f, *p, program, frame, k2, V, M, medium, &nearest));
    for (int k = 0; k < WAVE_TRIES && nearest < WAVE_NEAREST; k++) {
        medium->epsilon *= WAVE_ASIDE;
        SPRY_GO(ctx, fill(f, *p, program, frame, k2, V, M, medium, &nearest));
    }
    *made = true;
done:
    return status;
}
