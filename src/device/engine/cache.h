/*
 * Compiled programs: those of a device in memory, and on disk for the next run. On disk one is a
 * file `programs/KEY.bin` in the folder for what is remembered. Code is loaded from it, so the
 * folder and the file must belong to the user and be writable by no one else.
 */
#ifndef SPRY_DEVICE_CACHE_H
#define SPRY_DEVICE_CACHE_H

#include "device/engine/device.h"

/* A hash of all that decides what a program is compiled to. */
typedef struct cache_key {
    uint64_t part[2];
} cache_key;

enum { CACHE_PATH = 4096 };

struct device_cache {
    device_program *programs;
    struct precompile_queue *queue; /* what is compiled before it is asked for; NULL: nothing yet */
    int64_t compiled, loaded;       /* how many were compiled and taken from disk so far, */
    int64_t precompiled; /* and of those compiled, by threads before they were asked for */
    base_text noted;     /* see program_list_note() */
    int noted_count;
    char prefetched[256]; /* see device_prefetch(): kinds of work */
    bool refused;         /* the last text was, by the compiler */
    bool warned;          /* why nothing is kept on disk */
};

enum { CACHE_MOST_BYTES = 256 << 20 };

/* SipHash-2-4 with 128 bits (Aumasson, Bernstein: SipHash: a fast short-input PRF, 2012). */
cache_key cache_hash(const void *data, size_t size, const uint8_t secret[16]);
cache_key cache_hash_of(const void *data, size_t size); /* with a secret of no meaning */

/* The folder, made where it does not exist; false where there is none that can be trusted. */
bool cache_folder(spry_device *d, char *path, size_t size);
/* Opens a file of between `least` and `most` bytes that can be trusted; its descriptor, or -1. */
int cache_open(spry_device *d, const char *path, int64_t least, int64_t most, int64_t *size);
/* A program from disk, allocated by the context; *binary is NULL when there is none that is whole.
 * Fails, as the others do, for want of memory alone. */
spry_status cache_read(spry_device *d, cache_key key, void **binary, size_t *size);
/* Whether there is a file for it. */
bool cache_has(spry_device *d, cache_key key);
/* Keeps a program; what hinders that is logged, once per device. */
spry_status cache_write(spry_device *d, cache_key key, const void *binary, size_t size);
/* Removes the programs in a folder that were not used for longest until the rest takes at most
 * `most_bytes`; with how many were removed. */
spry_status cache_trim(spry_context *ctx, const char *folder, int64_t most_bytes, int64_t *removed);

#endif
