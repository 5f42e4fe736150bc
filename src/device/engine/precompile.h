/*
 * Programs that are precompiled by threads of the device's own while the caller does other things:
 * device_precompile() puts a text into the queue, device_build() takes the program from it. A
 * failure is reported then, as if the text had been compiled then.
 */
#ifndef SPRY_DEVICE_PRECOMPILE_H
#define SPRY_DEVICE_PRECOMPILE_H

#include "device/engine/cache.h"

/* What a compiler has made of a text, or what it has said. `own` is the context that all of it
 * belongs to: a thread that compiles has one of its own. */
typedef struct compiled {
    spry_context *own;
    void *binary;
    size_t size;
    char *complaint; /* COMPLAINT_SIZE characters */
    double seconds;
    spry_status status;
} compiled;

enum { COMPLAINT_SIZE = 16384 };

/* Room for what a compiler makes; `own` NULL: with a new context. */
spry_status compiled_open(compiled *c, spry_context *own);
void compiled_free(compiled *c, const spry_device *d);
/* Compiles, in any thread where the engine has open_compiler. */
void compiled_make(compiled *c, spry_device *d, const char *text, const char *options);

/* Has a text compiled; `text`, which is the device's context's, belongs to the queue from then on,
 * also where nothing comes of it. */
void precompile_add(spry_device *d, cache_key key, char *text, const char *options);
/* Takes what has become of a text: waits for it where it is being compiled. False: it is not in the
 * queue, or no thread has begun it. */
bool precompile_take(spry_device *d, cache_key key, compiled *c);
/* Ends the threads, once what they have begun is made, and keeps on disk what was not taken. */
void precompile_close(spry_device *d);
/* Waits until all is made. */
void precompile_finish(spry_device *d);

#endif
