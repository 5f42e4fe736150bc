/* Vectors from one precision to the other, where they are. */
#include "device/linalg/step.h"

#include "device/engine/device.h"

static bool is_double(const spry_vector *v)
{
    return v->type == SPRY_TYPE_D || v->type == SPRY_TYPE_Z;
}

enum { GROUP = 256 };

static spry_status build(spry_device *d, bool from_double, bool to_double, device_program **p)
{
    char options[96];
    snprintf(options, sizeof options, "-DSP_GROUP=%d -DFROM=%s -DTO=%s", GROUP,
             from_double ? "double" : "float", to_double ? "double" : "float");
    return device_build_text(d, "recast", options, p);
}

static spry_status recast_on_device(double factor, const spry_vector *x, int64_t n, spry_vector *y)
{
    spry_device *d = x->device;
    device_program *p = NULL;
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(d->ctx, build(d, is_double(x), is_double(y), &p));
    const device_arg args[] = {DEVICE_VALUE(n), DEVICE_VALUE(factor), device_arg_memory(x->memory),
                               device_arg_memory(y->memory)};
    SPRY_GO(d->ctx, device_launch(p, "recast", NULL, (n + GROUP - 1) / GROUP, GROUP, args, 4));
done:
    return status;
}

spry_status step_recast(double factor, const spry_vector *x, spry_vector *y)
{
    const int64_t n = x->n * (spry_type_is_complex(x->type) ? 2 : 1);
    if (x->device)
        return recast_on_device(factor, x, n, y);
    const int threads = host_threads(x->ctx, n);
    if (is_double(x)) {
        const double *from = x->data;
        float *to = y->data;
#pragma omp parallel for simd num_threads(threads) schedule(static)
        for (int64_t i = 0; i < n; i++)
            to[i] = (float)(factor * from[i]);
    } else {
        const float *from = x->data;
        double *to = y->data;
#pragma omp parallel for simd num_threads(threads) schedule(static)
        for (int64_t i = 0; i < n; i++)
            to[i] = factor * (double)from[i];
    }
    return SPRY_STATUS_OK;
}
