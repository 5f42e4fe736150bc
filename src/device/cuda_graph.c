/* Launches that are recorded once and played often, as CUDA graphs. */
#include "device/cuda.h"

spry_status cuda_record_begin(spry_device *d, engine_stream s)
{
    spry_status status;
    const bool entered = cuda_enter(d);
    /* Other threads may go on with whatever they do. */
    CUDA_GO(d, cuStreamBeginCapture, s, CUDA_CAPTURE_THREAD_LOCAL);
done:
    cuda_leave(d, entered);
    return status;
}

/* The driver knows cudaGraphSetConditional() and links it when it loads the program. */
const char cuda_loop_text[] =
    "extern \"C\" __device__ void cudaGraphSetConditional(sp_u64 handle, unsigned int value);\n"
    "SP_KERNEL loop_again(const sp_u64 loop, SP_GLOBAL const int *flag, const offset place,\n"
    "                     const int wanted)\n"
    "{\n"
    "    if (SP_GLOBAL_ID == 0)\n"
    "        cudaGraphSetConditional(loop, flag[place] == wanted);\n"
    "}\n";

/* A graph of one node, which repeats the graph that is recorded from here on; the condition holds
 * when it is launched. */
spry_status cuda_loop_begin(spry_device *d, engine_stream s, uint64_t *loop)
{
    spry_status status;
    cuda_state *state = cuda_of(d);
    unsigned long long handle = 0;
    cuda_handle node = NULL;
    cuda_loop_node params = {.type = CUDA_GRAPH_NODE_CONDITIONAL,
                             .condition = CUDA_CONDITION_WHILE,
                             .size = 1,
                             .context = state->context};
    const bool entered = cuda_enter(d);
    CUDA_GO(d, cuGraphCreate, &state->loop, 0);
    CUDA_GO(d, cuGraphConditionalHandleCreate, &handle, state->loop, state->context, 1,
            CUDA_CONDITION_ASSIGN_DEFAULT);
    params.handle = handle;
    CUDA_GO(d, cuGraphAddNode, &node, state->loop, NULL, NULL, 0, &params);
    CUDA_GO(d, cuStreamBeginCaptureToGraph, s, params.bodies[0], NULL, NULL, 0,
            CUDA_CAPTURE_THREAD_LOCAL);
    *loop = handle;
done:
    if (status != SPRY_STATUS_OK && state->loop) {
        state->driver.cuGraphDestroy(state->loop);
        state->loop = NULL;
    }
    cuda_leave(d, entered);
    return status;
}

spry_status cuda_record_end(spry_device *d, engine_stream s, void **graph)
{
    spry_status status;
    cuda_state *state = cuda_of(d);
    cuda_handle recorded = NULL, all = state->loop; /* which owns the body that comes */
    *graph = NULL;
    const bool entered = cuda_enter(d);
    CUDA_GO(d, cuStreamEndCapture, s, &recorded);
    if (!all)
        all = recorded;
    if (!recorded)
        status =
            SPRY_FAIL(d->ctx, SPRY_STATUS_DEVICE, "cuStreamEndCapture: the recording was spoilt");
    else
        CUDA_GO(d, cuGraphInstantiate, graph, all, 0);
done:
    if (all)
        state->driver.cuGraphDestroy(all);
    state->loop = NULL;
    cuda_leave(d, entered);
    return status;
}

spry_status cuda_play(spry_device *d, engine_stream s, void *graph)
{
    spry_status status;
    const bool entered = cuda_enter(d);
    CUDA_GO(d, cuGraphLaunch, graph, s);
done:
    cuda_leave(d, entered);
    return status;
}

void cuda_graph_free(spry_device *d, void *graph)
{
    const bool entered = cuda_enter(d);
    if (graph)
        cuda_of(d)->driver.cuGraphExecDestroy(graph);
    cuda_leave(d, entered);
}
