/* What tests of devices share that need a context, a device and a cache folder of their own. */
#ifndef SPRY_TESTS_OPENED_H
#define SPRY_TESTS_OPENED_H

#include "support/support.h"

#include "device/engine/cache.h"

/* A folder of the test's own, which SPRY_CACHE names; it is removed at the end. */
typedef struct cache_place {
    char folder[64];
} cache_place;
void place_open(cache_place *place);
void place_close(cache_place *place);
/* The path of the one program kept there; fails the test when there is another number of them. */
void place_program(const cache_place *place, char path[256]);
int place_count(const cache_place *place); /* of programs kept */
/* The path of the list of programs there, and its bytes. */
size_t place_list(char path[256], char *all, size_t size);

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

/* The entry of the list of devices with that name, which must be there. */
spry_device_info opened_described(spry_context *ctx, const char *name);

/* An engine of tests/fakes. */
typedef struct fake_engine {
    const char *kind;         /* "cuda" */
    const char *library;      /* its path */
    const char *variables[2]; /* that name the library */
    const char *weather;      /* the variable that says what goes wrong */
    cache_place place;
} fake_engine;
#define FAKE_CUDA_ENGINE                                                                 \
    {                                                                                    \
        .kind = "cuda", .library = FAKE_CUDA,                                            \
        .variables = {"SPRY_CUDA_LIBRARY", "SPRY_NVRTC_LIBRARY"}, .weather = "FAKE_CUDA" \
    }
#define FAKE_OPENCL_ENGINE                                                              \
    {                                                                                   \
        .kind = "opencl", .library = FAKE_OPENCL, .variables = {"SPRY_OPENCL_LIBRARY"}, \
        .weather = "FAKE_OPENCL"                                                        \
    }
/* A program for them. */
#define FAKE_TEXT "SP_KERNEL triple(const int n, SP_GLOBAL int *a) {}\n"

/* A test that has the engine, fair weather and a cache folder of its own. */
#define FAKE_TEST(function, engine) \
    cmocka_unit_test_prestate_setup_teardown(function, fake_setup, fake_teardown, engine)
int fake_setup(void **engine);
int fake_teardown(void **engine);
/* Opens the first device in that weather, which must succeed. */
void fake_open(const fake_engine *engine, const char *weather, opened *s);
/* With that library and weather there is no device, and the messages have both texts; so has what
 * `spry devices` says. */
void fake_refused(const fake_engine *engine, const char *library, const char *weather,
                  const char *what, const char *advice);

#endif
