/*
 * Tests that run on every device there is: each test becomes one for each device, named after both.
 * SPRY_TEST_DEVICE=opencl, or cuda:1, restricts them, SPRY_TEST_SKIP=NAME,NAME leaves some out.
 * Devices stay open for all tests of a program.
 */
#ifndef SPRY_TESTS_DEVICES_H
#define SPRY_TESTS_DEVICES_H

#include "support/support.h"

#include "device/engine/device.h"

typedef struct devices_test {
    const char *name;
    void (*run)(spry_context *ctx, spry_device *d);
} devices_test;
#define DEVICES_TEST(function) \
    {                          \
#function, function    \
    }

/* What main() returns; 77, which counts as skipped, where there is no device. After each test no
 * memory of the device may be in use, and after the last one none of the context's. */
int devices_run(const devices_test *tests, size_t count);
#define DEVICES_RUN(tests) devices_run(tests, sizeof(tests) / sizeof *(tests))

/* Whether a test is to compile few programs: a processor takes seconds for each. SPRY_TEST_FULL=1
 * has all of them there, too. */
bool devices_few(const spry_device *d);

/* Whether a test over all types is to try one: where programs are to be few, those that
 * SPRY_TEST_TYPES names, by their letters; without it d and z (s and c where the device has no
 * double numbers). make test-all has sdcz. */
bool devices_tries(const spry_device *d, spry_type type);
/* Goes through those, as places of support_types. */
#define DEVICES_EACH_TYPE(d, t) \
    for (int t = 0; t < 4; t++) \
        if (devices_tries(d, support_types[t]))

/* Calls it with failures one after the other, of the device's allocations, copies and launches (of
 * each more than `least`) and of the host's memory: nothing may be left behind. */
void devices_torture(spry_context *ctx, spry_device *d, int64_t least, support_call call,
                     void *data);

#endif
