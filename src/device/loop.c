/* Recordings that a device repeats by itself, see device_record_loop_begin(). */
#include "device/engine.h"

enum { LOOP_GROUP = 32 };

static spry_status build_loop(spry_device *d, device_program **p)
{
    return device_build(d, d->engine->loop_text, "-DSP_GROUP=32", p);
}

spry_status device_record_loop_begin(spry_device *d, uint64_t *loop)
{
    spry_status status;
    device_program *p = NULL;
    *loop = 0;
    if (!d->facts.has_loops)
        return SPRY_FAIL(d->ctx, SPRY_STATUS_UNSUPPORTED,
                         "%s: its driver has no recordings that repeat themselves", d->facts.name);
    SPRY_GO(d->ctx, device_begin(d, WORK_LAUNCH));
    /* Nothing may be compiled while it records. */
    status = build_loop(d, &p);
    if (status == SPRY_STATUS_DEVICE) {
        d->facts.has_loops = false;
        status = SPRY_STATUS_UNSUPPORTED;
    }
    SPRY_GO(d->ctx, status);
    SPRY_GO(d->ctx, device_end(d, d->engine->loop_begin(d, d->stream->handle, loop)));
done:
    return status;
}

spry_status device_record_loop_end(spry_device *d, uint64_t loop, const device_memory *flag,
                                   int64_t at, int wanted, device_graph **g)
{
    spry_status status;
    device_program *p = NULL;
    const int64_t place = at / 4;
    const device_arg args[] = {DEVICE_VALUE(loop), device_arg_memory(flag), DEVICE_VALUE(place),
                               DEVICE_VALUE(wanted)};
    device_graph *made = NULL;
    *g = NULL;
    status = build_loop(d, &p);
    if (status == SPRY_STATUS_OK)
        status = device_launch(p, "loop_again", NULL, 1, LOOP_GROUP, args, 4);
    /* A recording is ended also when something failed, and the first failure told. */
    const spry_status ended = device_record_end(d, &made);
    SPRY_GO(d->ctx, status);
    SPRY_GO(d->ctx, ended);
    *g = made;
    made = NULL;
done:
    device_graph_free(made);
    return status;
}
