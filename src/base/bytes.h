/* Bytes of memory in messages: how many, and how to get more. */
#ifndef SPRY_BYTES_H
#define SPRY_BYTES_H

#include "base/base.h"

/* "12.3 MB" */
enum { BASE_BYTES = 32 };
const char *base_bytes(double bytes, char text[BASE_BYTES]);
/* Bytes that limits of this process leave it beyond what it has, INT64_MAX without any, and the
 * name by which a shell sets the one that leaves least. */
int64_t base_limited_memory(const char **name);
/* How to get `bytes` bytes in all: by a higher limit of the context, and of the process where that
 * is too low. */
enum { BASE_ADVICE = 96 };
const char *base_allow(const spry_context *ctx, int64_t bytes, char text[BASE_ADVICE]);

#endif
