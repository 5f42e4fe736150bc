/*
 * What an engine must do. Functions fail with a message that names the driver's call and error;
 * common code (device.c, pool.c, cache.c, program.c) adds what the caller was about. Engines do no
 * caching, no counting, no injected failures.
 */
#ifndef SPRY_ENGINE_H
#define SPRY_ENGINE_H

#include "device/engine/device.h"

#include <spry/kernel.h>

/* A block as the engine knows it: a CUdeviceptr, or a cl_mem. */
typedef uintptr_t engine_block;
typedef void *engine_stream; /* CUstream, cl_command_queue */
typedef void *engine_event;

struct engine_class {
    const char *name; /* "cuda" */
    /* The number of devices; 0 with the reason and what to do in `why`. Loads the driver when that
     * was not done yet, and never fails otherwise. */
    int (*count)(spry_context *ctx, char *why, size_t size);
    /* Opens device `index`: fills state and facts (all but name). */
    spry_status (*open)(spry_device *d, int index);
    void (*close)(spry_device *d);
    /* Fills the facts alone, also when it fails as far as they are known, and leaves nothing open.
     */
    spry_status (*describe)(spry_device *d, int index);

    /* See device_enter(); NULL where nothing is current. */
    bool (*enter)(const spry_device *d);
    void (*leave)(const spry_device *d, bool entered);

    /* Out of memory is SPRY_STATUS_NO_MEMORY, without a message of its own. */
    spry_status (*allocate)(spry_device *d, int64_t bytes, engine_block *block);
    void (*release)(spry_device *d, engine_block block);
    void (*memory)(spry_device *d, int64_t *free_bytes); /* -1: the driver does not say */
    spry_status (*pin)(spry_device *d, int64_t bytes, void **memory);
    void (*unpin)(spry_device *d, void *memory);

    /* wait: come back when the host's memory may be used again. */
    spry_status (*put)(spry_device *d, engine_stream s, engine_block to, int64_t at,
                       const void *from, int64_t bytes, bool wait);
    spry_status (*get)(spry_device *d, engine_stream s, engine_block from, int64_t at, void *to,
                       int64_t bytes, bool wait);
    spry_status (*copy)(spry_device *d, engine_stream s, engine_block from, int64_t from_at,
                        engine_block to, int64_t to_at, int64_t bytes);
    spry_status (*clear)(spry_device *d, engine_stream s, engine_block to, int64_t at,
                         int64_t bytes);

    spry_status (*stream_new)(spry_device *d, engine_stream *s);
    void (*stream_free)(spry_device *d, engine_stream s);
    spry_status (*stream_finish)(spry_device *d, engine_stream s);
    spry_status (*stream_wait)(spry_device *d, engine_stream s, engine_stream other);

    /* Makes the compiler ready for compile() by several threads at once; one of them at a time
     * calls it, any number of times. Failures are reported in the context. NULL: it takes one. */
    spry_status (*open_compiler)(spry_device *d, spry_context *ctx);
    /* Text to what the device loads; *binary is allocated by the context, which also
     * gets failures. `complaint` gets what the compiler said, also when it succeeded. */
    spry_status (*compile)(spry_device *d, spry_context *ctx, const char *text, const char *options,
                           void **binary, size_t *size, char *complaint, size_t complaint_size);
    spry_status (*load)(spry_device *d, const void *binary, size_t size, void **module);
    void (*unload)(spry_device *d, void *module);
    spry_status (*kernel)(spry_device *d, void *module, const char *name, void **kernel);
    void (*kernel_free)(spry_device *d, void *kernel);
    spry_status (*launch)(spry_device *d, engine_stream s, void *kernel, const device_range *over,
                          const device_arg *args, int count, bool whole);
    int64_t (*whole_groups)(spry_device *d, void *kernel, int group);

    /* NULL where facts.has_graphs is false. */
    spry_status (*record_begin)(spry_device *d, engine_stream s);
    spry_status (*record_end)(spry_device *d, engine_stream s, void **graph);
    spry_status (*play)(spry_device *d, engine_stream s, void *graph);
    void (*graph_free)(spry_device *d, void *graph);

    spry_status (*event_new)(spry_device *d, engine_event *e);
    void (*event_free)(spry_device *d, engine_event e);
    spry_status (*event_record)(spry_device *d, engine_event *e, engine_stream s);
    spry_status (*event_seconds)(spry_device *d, engine_event from, engine_event to,
                                 double *seconds);
};

extern const engine_class engine_cuda, engine_opencl;
/* All of them, in this order; NULL past the last. */
const engine_class *device_engine(int index);
/* One thread at a time asks drivers what there is and opens it: the first question starts them, and
 * PoCL's ends the program where another is asked meanwhile. */
void device_drivers_hold(bool hold);
/* Options for OpenCL's compiler behind ours: SPRY_OPENCL_OPTIONS, or what a driver needs. */
const char *device_more_options(const spry_device *d);

/*
 * Around every call of an engine. begin fails when the device was lost or when a test wants this
 * call to fail; end puts the device's name before a message and remembers when it is lost.
 */
spry_status device_begin(spry_device *d, device_work work);
spry_status device_end(spry_device *d, spry_status status);

/* What the parts of a device do when it is opened and closed. */
spry_status device_pool_open(spry_device *d);
void device_pool_close(spry_device *d);
void device_programs_close(spry_device *d);

/* device_memory as engines and common code see it. */
struct device_memory {
    spry_device *d;
    engine_block block;
    int64_t bytes, room; /* asked for, and of the block */
    bool borrowed;
    struct device_memory *next; /* in the pool */
};

/* A stream, an event or a recording: what the engine has made, and a stream of the caller's. */
struct device_handle {
    spry_device *d;
    void *handle;
    bool borrowed;
};

/* The options of spry_kernel_new(). */
spry_option_list kernel_option_list(void);

/* Work-items of a group in a dimension: what group=auto came to. */
int kernel_group(const spry_kernel *kernel, int dimension);

#endif
