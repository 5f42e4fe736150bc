/*
 * Devices as the rest of the library sees them: memory, copies, programs made of kernel texts,
 * launches, recordings. An engine (cuda.c, opencl.c; engine.h) does the work; pools, the cache of
 * compiled programs, failure injection and messages are common to all engines.
 *
 * A device belongs to the context that opened it and is used by one thread at a time. Work is done
 * in the order of the calls, on the device's stream; launches and copies within the device come
 * back before they are done. A failure never spoils the device, but for DEVICE_LOST: then every
 * call fails with the same message until it is closed.
 */
#ifndef SPRY_DEVICE_INTERNAL_H
#define SPRY_DEVICE_INTERNAL_H

#include "operator/operator.h"

#include <spry/operator.h>

typedef struct engine_class engine_class;
typedef struct device_memory device_memory;
typedef struct device_program device_program;
typedef struct device_handle device_handle, device_stream, device_event, device_graph;

/* What is known of a device when it is open. */
typedef struct device_facts {
    char name[32];         /* "cuda:0": as --device takes it */
    char description[128]; /* "NVIDIA H200" */
    char driver[96];       /* versions of driver and compiler: part of the cache's key */
    char target[64];       /* what texts are compiled for: "sm_90" */
    int64_t memory_bytes, cache_bytes;
    int64_t most_alloc;  /* bytes of one block */
    int64_t local_bytes; /* local memory of a work-group without special asking, */
    int64_t most_local;  /* with it (device_launch_local()), */
    int64_t unit_local;  /* and of all groups that a unit runs at once */
    int units;           /* multiprocessors, compute units */
    int most_group;      /* work-items of a group at most */
    int lanes;           /* work-items that run in step (a warp); 1: none */
    bool processor;      /* it is a CPU, and its memory is the host's */
    bool has_double;
    bool has_graphs;      /* device_record() works */
    bool has_cooperation; /* device_launch_whole() works */
    bool has_compilers;   /* programs can be compiled in parallel */
    bool has_tickets;     /* groups see each other's global writes after a fence and an atomic */
    bool has_pointers;    /* memory has an address (device_address): CUDA */
} device_facts;

struct spry_device {
    vector_device base; /* the first member: see matrix.h */
    spry_context *ctx;
    const engine_class *engine;
    void *state; /* the engine's */
    device_facts facts;
    struct device_pool *pool;
    struct device_cache *cache;     /* programs built so far, in memory */
    device_stream *stream;          /* where work goes unless another is given */
    void *own_stream;               /* its handle while a caller's is in its place */
    struct device_staging *staging; /* see staging.h; NULL until used */
    void *bounce;                   /* pinned memory for small copies to the host; NULL: none */
    bool bounces;                   /* it was asked for */
    int64_t fail_in[4];             /* see device_fail_next() */
    int64_t done[4];                /* calls so far, by device_work */
    double building;                /* seconds that went into programs so far */
    int64_t waits;                  /* times that the host has waited for the device */
    int64_t moved;                  /* bytes copied from the host and to it so far */
    bool recording;                 /* launches are kept for later, not done */
    bool lost;
    char why_lost[512];
    double read_bandwidth;    /* bytes per second; 0 until measured */
    double bus_rate;          /* of the last large copy to it; 0: there was none */
    double opening;           /* seconds, of the first one in a process; else 0 */
    device_event *marks[2];   /* of spry_device_mark(); NULL until used */
    int64_t users;            /* objects that hold it */
    struct spry_device *next; /* of the context's open devices */
};

/* --- opening -------------------------------------------------------------------------------------
 */

/* Opens "cuda", "cuda:1", "opencl:0"; the context keeps what it has opened, so the second call is
 * cheap, and closes all when it is freed. The message of a failure says why and what to do. */
spry_status device_open(spry_context *ctx, const char *name, spry_device **d);
/*
 * Where a rank works, "cpu" or "cuda:0". Names by its place on its machine, "cuda:0,cuda:1,cpu",
 * the last for all further ones; an engine alone, "cuda", is distributed, one device after the
 * other. With "auto" a rank works where SPRY_DEVICE says, and else on the host.
 */
enum { DEVICE_NAME = 32 };
void device_for_rank(spry_context *ctx, const char *wanted, char name[DEVICE_NAME]);
/* Closes a device and what is left of it; NULL is fine. */
void device_close(spry_device *d);
/* Why no device of an engine can be used, or "" when one can; with its number of devices. */
int device_count(spry_context *ctx, const char *engine, char *why, size_t size);

/* --- memory --------------------------------------------------------------------------------------
 */

/* From the pool; not cleared. Out of memory is SPRY_STATUS_NO_MEMORY with a message that says how
 * much was asked for and how much there is. 0 bytes are fine. */
spry_status device_alloc(spry_device *d, int64_t bytes, device_memory **m);
/* Memory of the caller's: a CUDA pointer, or a cl_mem. */
spry_status device_borrow(spry_device *d, void *pointer, int64_t bytes, device_memory **m);
void device_free(
    device_memory *m); /* takes NULL; back to the pool once work that uses it is done */
/* The address (CUDA) or the cl_mem. */
void *device_address(const device_memory *m);
/* For other libraries that are given such addresses: the device is this thread's current one, until
 * it is left. Whether it has to be left. */
bool device_enter(const spry_device *d);
void device_leave(const spry_device *d);
/* Bytes in use now, in use at most so far, and free: on the device as its driver says, together
 * with what the pool keeps. The driver takes its time: NULL for `free` does not ask it. */
void device_memory_now(spry_device *d, int64_t *used, int64_t *most, int64_t *free);
/* Makes the device as small as that, as SPRY_DEVICE_MEMORY=BYTES does when it is opened; 0: as it
 * is. Blocks are counted as the pool rounds them. */
void device_limit_memory(spry_device *d, int64_t bytes);

/* Copies of bytes; put and get come back when the host's memory may be used again. */
spry_status device_put(device_memory *to, int64_t at, const void *from, int64_t bytes);
spry_status device_get(const device_memory *from, int64_t at, void *to, int64_t bytes);
spry_status device_copy(const device_memory *from, int64_t from_at, device_memory *to,
                        int64_t to_at, int64_t bytes);
/* Some small pieces, whole 4 bytes each, for which the host waits once. */
typedef struct device_piece {
    const device_memory *from;
    int64_t at;
    void *to;
    int64_t bytes;
} device_piece;
spry_status device_get_pieces(spry_device *d, const device_piece *pieces, int count);
spry_status device_clear(device_memory *m, int64_t at, int64_t bytes); /* zeros */

/* Streams other than the device's own, for copies that overlap with work. Pinned memory is the
 * host's that copies without a detour; put_on and get_on do not wait: the caller keeps both sides
 * until stream_finish() or an event says so. */
spry_status device_stream_new(spry_device *d, device_stream **s);
void device_stream_free(device_stream *s);
spry_status device_pinned_alloc(spry_device *d, int64_t bytes, void **memory);
void device_pinned_free(spry_device *d, void *memory);
spry_status device_put_on(device_stream *s, device_memory *to, int64_t at, const void *from,
                          int64_t bytes);
spry_status device_get_on(device_stream *s, const device_memory *from, int64_t at, void *to,
                          int64_t bytes);
spry_status device_stream_finish(device_stream *s);
/* All that was asked for so far is done. */
spry_status device_finish(spry_device *d);
/* Everything after this on `s` waits for what is on `other` now. */
spry_status device_stream_wait(device_stream *s, device_stream *other);
/* A caller's CUstream or cl_command_queue in the place of the device's own; NULL: back to that. */
spry_status device_use_stream(spry_device *d, void *stream);

/* --- programs ------------------------------------------------------------------------------------
 */

/* The text of a file under src/device/kernels, "formats/sell", or "dialect"; NULL: there is none.
 */
const char *device_text(const char *name);
/*
 * Compiles a text, with the dialect before it, or takes it from the cache in memory or on disk.
 * `options` are -D constants. The program stays with the device until that is closed; the same
 * text and options give the same program. A failure's message has the compiler's first complaint.
 */
spry_status device_build(spry_device *d, const char *text, const char *options, device_program **p);

/* Several at once, in parallel where the engine's compiler can: after a failure, which is that of
 * the first, no program is set. */
typedef struct device_text_job {
    const char *text, *options;
    const char *names; /* of device_text() that the text is made of; NULL: of none */
    device_program *program;
} device_text_job;
spry_status device_build_all(spry_device *d, device_text_job *jobs, int count);

/* The same for texts of device_text(), by their names with blanks between them; quick from the
 * second time on. */
spry_status device_build_text(spry_device *d, const char *names, const char *options,
                              device_program **p);

/* Precompiles what such work asks for (first.list), and what the last runs on such a device
 * compiled, where it is not kept on disk: by threads of the device's own, where its compiler works
 * in several. Later calls for the same work do nothing. See program_list.h. */
void device_prefetch(spry_device *d, const char *work, spry_type type);
/* Whether anything had to be precompiled so far: programs of first solves are not on disk. */
bool device_is_cold(const spry_device *d);
/* Has one of the threads compile a program; device_build() takes the result, or waits for it. */
void device_precompile(spry_device *d, const char *text, const char *options);

/* An argument of a kernel: memory, or a number by value. */
typedef struct device_arg {
    const device_memory *memory; /* NULL: a value; or a null pointer where size is 0 too */
    const void *value;
    size_t size;
} device_arg;
static inline device_arg device_arg_memory(const device_memory *m)
{
    return (device_arg){m, NULL, 0};
}
#define DEVICE_VALUE(variable) ((device_arg){NULL, &(variable), sizeof(variable)})

/* Launches kernel `name` with groups x group work-items on s (NULL: the device's stream); args are
 * read before it comes back. 0 groups do nothing. */
spry_status device_launch(device_program *p, const char *name, device_stream *s, int64_t groups,
                          int group, const device_arg *args, int count);
/* Work-items in three dimensions: the number of groups, and the shape of one. */
typedef struct device_range {
    int64_t groups[3];
    int group[3];
    int64_t
        local; /* bytes of SP_ROOM(), the dialect's large local memory; 0: the kernel has none */
} device_range;
/* The same for a program that was built with the group's shape (see dialect.h). */
spry_status device_launch_range(device_program *p, const char *name, const device_range *over,
                                const device_arg *args, int count);
/* The same as device_launch() for a kernel with SP_ROOM() of `local` bytes. */
spry_status device_launch_local(device_program *p, const char *name, int64_t groups, int group,
                                int64_t local, const device_arg *args, int count);
/* The same with all groups running at once, so that they may wait for each other; groups are at
 * most device_whole_groups(). */
spry_status device_launch_whole(device_program *p, const char *name, int64_t groups, int group,
                                const device_arg *args, int count);
/* How many groups of a kernel the device can run at once; 0: it cannot. */
int64_t device_whole_groups(device_program *p, const char *name, int group);

/* --- recording and timing ------------------------------------------------------------------------
 */

/* What is launched on the device's stream between begin and end is not done but recorded; device
 * and allocation calls other than launches and device_copy/clear are not allowed between. */
spry_status device_record_begin(spry_device *d);
spry_status device_record_end(spry_device *d, device_graph **g); /* also ends a failed recording */
spry_status device_play(device_graph *g);
void device_graph_free(device_graph *g);

spry_status device_event_new(spry_device *d, device_event **e);
void device_event_free(device_event *e);
spry_status device_event_record(device_event *e, device_stream *s);
/* Seconds between two events, once both have happened: waits for them. */
spry_status device_event_seconds(device_event *from, device_event *to, double *seconds);
/* Read bandwidth in bytes per second, measured once per device and remembered on disk. */
spry_status device_read_bandwidth(spry_device *d, bool again, double *bytes_per_second);

/* --- failures for tests --------------------------------------------------------------------------
 */

typedef enum device_work { WORK_ALLOC, WORK_COPY, WORK_LAUNCH, WORK_COMPILE } device_work;
/* Makes the n-th such call from now on fail (1: the next); 0: none. */
void device_fail_next(spry_device *d, device_work work, int64_t n);

#endif
