/* What tests of devices share that need a context, a device and a cache folder of their own. */
#ifndef SPRY_TESTS_OPENED_H
#define SPRY_TESTS_OPENED_H

#include "support/support.h"

#include "device/cache.h"

/* A folder of the test's own, which SPRY_CACHE names; it is removed at the end. */
typedef struct cache_place {
    char folder[64];
} cache_place;
void place_open(cache_place *place);
void place_close(cache_place *place);
/* The path of the one program kept there; fails the test when there is another number of them. */
void place_program(const cache_place *place, char path[256]);
int place_count(const cache_place *place); /* of programs kept */

/* A context with a device and what its log has heard. */
typedef struct opened {
    spry_context *ctx;
    spry_device *d;
    int warnings, infos;
    char last[512]; /* of the log */
} opened;
/* Opens the device and hands back the status. */
spry_status opened_try(opened *s, const char *device);
void opened_open(opened *s, const char *device); /* which must succeed */
void opened_close(opened *s);

/* Sets a variable of the environment; NULL: unsets it. */
void set_variable(const char *name, const char *value);

#endif
