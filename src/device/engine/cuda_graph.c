/* Launches that are recorded once and played often, as CUDA graphs. */
#include "device/engine/cuda.h"

spry_status cuda_record_begin(spry_device *d, engine_stream s)
{
    spry_status status;
    /* Other threads may go on with whatever they do. */
    CUDA_CALL(d, cuStreamBeginCapture, s, CUDA_CAPTURE_THREAD_LOCAL);
    return status;
}

spry_status cuda_record_end(spry_device *d, engine_stream s, void **graph)
{
    spry_status status;
    cuda_state *state = cuda_of(d);
    cuda_handle recorded = NULL;
    *graph = NULL;
    const bool entered = cuda_enter(d);
    CUDA_GO(d, cuStreamEndCapture, s, &recorded);
    if (!recorded)
        status =
            SPRY_FAIL(d->ctx, SPRY_STATUS_DEVICE, "cuStreamEndCapture: the recording was spoilt");
    else
        CUDA_GO(d, cuGraphInstantiate, graph, recorded, 0);
done:
    if (recorded)
        state->driver.cuGraphDestroy(recorded);
    cuda_leave(d, entered);
    return status;
}

spry_status cuda_play(spry_device *d, engine_stream s, void *graph)
{
    spry_status status;
    CUDA_CALL(d, cuGraphLaunch, graph, s);
    return status;
}

void cuda_graph_free(spry_device *d, void *graph)
{
    const bool entered = cuda_enter(d);
    if (graph)
        cuda_of(d)->driver.cuGraphExecDestroy(graph);
    cuda_leave(d, entered);
}
