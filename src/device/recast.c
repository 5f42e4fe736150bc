/* Vectors from one precision to the other, where they are. */
#include "device/step.h"

#include "device/device.h"

static bool is_double(const spry_vector *v)
{
    return v->type == SPRY_TYPE_D || v->type == SPRY_TYPE_Z;
}

static spry_status recast_there(double factor, const spry_vector *x, int64_t n, spry_vector *y)
{
    enum { GROUP = 256 };
    spry_device *d = x->device;
    char options[96];
    device_program *p = NULL;
    spry_status status = SPRY_STATUS_OK;
    snprintf(options, sizeof options, "-DSP_GROUP=%d -DFROM=%s -DTO=%s", GROUP,
             is_double(x) ? "double" : "float", is_double(y) ? "double" : "float");
    SPRY_GO(d->ctx, device_build(d, device_text("recast"), options, &p));
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
        return recast_there(factor, x, n, y);
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
