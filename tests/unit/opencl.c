/* The OpenCL engine in bad weather, on a library that fails on command (tests/fakes/opencl.c). */
#include "support/opened.h"

#include "device/engine/device.h"
#include "device/engine/engine.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char text[] = FAKE_TEXT;

static fake_engine fake = FAKE_OPENCL_ENGINE;

/* --- opening -------------------------------------------------------------------------------------
 */

static void test_no_library(void **state)
{
    (void)state;
    fake_refused(&fake, "/nowhere/libOpenCL.so.1", NULL, "no OpenCL library",
                 "install ocl-icd-libopencl1");
    fake_refused(&fake, "", NULL, "SPRY_OPENCL_LIBRARY is empty", "unset it");
    fake_refused(&fake, "libm.so.6", NULL, "libm.so.6 has no clGetPlatformIDs",
                 "1.2 or later is needed");
    fake_refused(&fake, FAKE_OPENCL_PARTIAL, NULL, "has no clEnqueueFillBuffer",
                 "1.2 or later is needed");
}

static void test_no_device(void **state)
{
    (void)state;
    fake_refused(&fake, FAKE_OPENCL, "platforms=0", "no OpenCL driver is installed",
                 "pocl-opencl-icd");
    fake_refused(&fake, FAKE_OPENCL, "platforms=0 none=-1001", "CL_PLATFORM_NOT_FOUND_KHR",
                 "/etc/OpenCL");
    fake_refused(&fake, FAKE_OPENCL, "none=-6", "CL_OUT_OF_HOST_MEMORY", "/etc/OpenCL");
    fake_refused(&fake, FAKE_OPENCL, "platforms=2 devices=0", "2 platforms, but no device", "/dev");
}

/* A device that is there but cannot be used says why, also in the list. */
static void unusable(const char *weather, const char *why)
{
    opened s;
    set_variable("FAKE_OPENCL", weather);
    const spry_status status = opened_try(&s, "opencl:0");
    assert_status(s.ctx, SPRY_STATUS_UNSUPPORTED, status);
    support_message_has(s.ctx, "opencl:0");
    support_message_has(s.ctx, "Fake 0");
    support_message_has(s.ctx, why);
    const spry_device_info info = opened_described(s.ctx, "opencl:0");
    assert_string_equal(info.description, "Fake 0");
    assert_false(info.usable);
    assert_non_null(strstr(info.why, why));
    opened_close(&s);
}

static void test_unusable(void **state)
{
    (void)state;
    unusable("double=1", "no double precision");
    unusable("version=11", "OpenCL 1.1 of a fake, and 1.2 or later is needed");
    unusable("compiler=0", "no compiler");
    unusable("available=0", "not available");
}

/* "opencl" is the first device that can be used; devices of all platforms are numbered through. */
static void test_first(void **state)
{
    (void)state;
    opened s;
    spry_device *d = NULL;
    fake_open(&fake, "platforms=2 devices=3 double=2", &s);
    assert_string_equal(s.d->facts.name, "opencl:2");
    assert_string_equal(s.d->facts.description, "Fake 2");
    assert_ok(s.ctx, device_open(s.ctx, "opencl:5", &d));
    assert_string_equal(d->facts.description, "Fake 2");
    assert_ptr_not_equal(d, s.d);
    assert_status(s.ctx, SPRY_STATUS_UNSUPPORTED, device_open(s.ctx, "opencl:6", &d));
    support_message_has(s.ctx, "opencl:5");
    spry_device_close_all(s.ctx);
    s.d = NULL;
    opened_close(&s);
    set_variable("FAKE_OPENCL", "devices=2 double=2");
    spry_status status = opened_try(&s, "opencl");
    assert_status(s.ctx, SPRY_STATUS_UNSUPPORTED, status);
    support_message_has(s.ctx, "opencl:0");
    opened_close(&s);
    set_variable("FAKE_OPENCL", "context=-6");
    status = opened_try(&s, "opencl");
    assert_status(s.ctx, SPRY_STATUS_NO_MEMORY, status);
    support_message_has(s.ctx, "clCreateContext");
    opened_close(&s);
}

static void test_facts(void **state)
{
    (void)state;
    opened s;
    int64_t used, most, left;
    fake_open(&fake, "nvidia=1", &s);
    assert_int_equal(s.d->facts.lanes, 32);
    assert_true(s.d->facts.has_tickets && !s.d->facts.processor);
    assert_string_equal(s.d->facts.driver, "OpenCL 3.0, NVIDIA CUDA 7.7");
    device_memory_now(s.d, &used, &most, &left);
    assert_int_equal(left, 1 << 30);
    opened_close(&s);
    fake_open(&fake, "amd=1", &s);
    assert_int_equal(s.d->facts.lanes, 64);
    assert_false(s.d->facts.has_tickets);
    device_memory_now(s.d, &used, &most, &left);
    assert_int_equal(left, 12345 * 1024);
    opened_close(&s);
}

/* --- programs ------------------------------------------------------------------------------------
 */

static void test_build(void **state)
{
    (void)state;
    opened s;
    device_program *p = NULL;
    fake_open(&fake, "nvidia=1 build=1", &s);
    assert_status(s.ctx, SPRY_STATUS_DEVICE, device_build(s.d, text, "-DWORD=3", &p));
    assert_null(p);
    support_message_has(s.ctx, "opencl:0");
    support_message_has(s.ctx, "<kernel>:3:4: error: reported with -cl-std=CL1.2 -w -DSP_NVIDIA=1");
    support_message_has(s.ctx, "-DWORD=3");
    assert_ok(s.ctx, device_build(s.d, text, "-DWORD=3", &p));
    assert_status(s.ctx, SPRY_STATUS_DEVICE, device_launch(p, "missing", NULL, 1, 1, NULL, 0));
    support_message_has(s.ctx, "CL_INVALID_KERNEL_NAME");
    support_message_has(s.ctx, "missing");
    char *options = calloc(1, 4000);
    assert_non_null(options);
    memset(options, ' ', 3999);
    assert_status(s.ctx, SPRY_STATUS_BAD_USAGE, device_build(s.d, text, options, &p));
    free(options);
    opened_close(&s);
    fake_open(&fake, "build=1", &s);
    assert_status(s.ctx, SPRY_STATUS_DEVICE, device_build(s.d, text, "-DOTHER", &p));
    assert_null(strstr(spry_message(s.ctx), "SP_NVIDIA"));
    opened_close(&s);
}

/* A compiler that does not look at #line (NVIDIA's) complains of a line counted from the first of
 * all. */
static void test_own_lines(void **state)
{
    static const char *const texts[][2] = {
        {"a\nb\nc\n", "<kernel>:3:4: error"},
        {"#line 1 \"mine\"\nb\nc\n", "mine:2:4: error"},
        {"#line 1 \"other\"\n#line 1 \"mine\"\nc\n", "mine:1:4: error"},
        {"a\nb\n#line 1 \"mine\"\nc\n", "<kernel>:3:4: error"},
        {"#line 1 \"mine\"", "mine:2:4: error"},
    };
    (void)state;
    for (size_t k = 0; k < sizeof texts / sizeof *texts; k++) {
        opened s;
        void *binary = NULL;
        size_t size = 0;
        char complaint[64], weather[64];
        snprintf(weather, sizeof weather, "nvidia=1 turn=%zu build=1", k); /* another each time */
        fake_open(&fake, weather, &s);
        assert_int_equal(s.d->engine->compile(s.d, s.ctx, texts[k][0], "", &binary, &size,
                                              complaint, sizeof complaint),
                         SPRY_STATUS_DEVICE);
        assert_null(binary);
        assert_non_null(strstr(complaint, texts[k][1]));
        opened_close(&s);
    }
}

/* What is on disk but not to the driver's liking is compiled again. */
static void test_binary(void **state)
{
    (void)state;
    opened s;
    device_program *p = NULL;
    opened_open(&s, "opencl");
    assert_ok(s.ctx, device_build(s.d, text, "", &p));
    opened_close(&s);
    fake_open(&fake, "binary=1", &s);
    assert_ok(s.ctx, device_build(s.d, text, "", &p));
    assert_int_equal(s.d->cache->compiled, 1);
    assert_int_equal(s.d->cache->loaded, 0);
    opened_close(&s);
    fake_open(&fake, NULL, &s);
    assert_ok(s.ctx, device_build(s.d, text, "", &p));
    assert_int_equal(s.d->cache->loaded, 1);
    opened_close(&s);
}

/* Dimensions that have one work-item are not reported. */
static void test_shapes(void **state)
{
    const device_range solid = {{3, 2, 1}, {8, 4, 2}, 0}, flat = {{3, 2, 1}, {8, 4, 1}, 0},
                       line = {{3, 1, 1}, {8, 1, 1}, 0};
    (void)state;
    opened s;
    device_program *p = NULL;
    static const char *const weathers[] = {"shape=321842", "shape=3284", "shape=38"};
    for (int k = 0; k < 3; k++) {
        fake_open(&fake, weathers[k], &s);
        assert_ok(s.ctx, device_build(s.d, text, "", &p));
        assert_int_equal(device_launch_range(p, "triple", &solid, NULL, 0) == SPRY_STATUS_OK,
                         k == 0);
        assert_int_equal(device_launch_range(p, "triple", &flat, NULL, 0) == SPRY_STATUS_OK,
                         k == 1);
        assert_int_equal(device_launch_range(p, "triple", &line, NULL, 0) == SPRY_STATUS_OK,
                         k == 2);
        opened_close(&s);
    }
}

/* --- memory --------------------------------------------------------------------------------------
 */

static void no_memory(const char *weather, int64_t bytes, const char *more)
{
    opened s;
    device_memory *m = NULL;
    fake_open(&fake, weather, &s);
    assert_status(s.ctx, SPRY_STATUS_NO_MEMORY, device_alloc(s.d, bytes, &m));
    assert_null(m);
    support_message_has(s.ctx, "opencl:0 (Fake 0): ");
    support_message_has(s.ctx, "asked for");
    support_message_has(s.ctx, "of 1.1 GB are free");
    support_message_has(s.ctx, more);
    assert_ok(s.ctx, device_alloc(s.d, 1 << 20, &m)); /* it works on */
    device_free(m);
    opened_close(&s);
}

static void test_no_memory(void **state)
{
    (void)state;
    no_memory("alloc=1", 12300000, "12.3 MB asked for");
    no_memory("touch=1", 5000, "5.0 kB asked for");
    no_memory("alloc=1 error=-61", 100, "100 bytes asked for");
    no_memory(NULL, (int64_t)1 << 29, "268 MB at most in one block");
}

/* What the pool keeps goes back before memory is found to be short. */
static void test_trim(void **state)
{
    (void)state;
    opened s;
    device_memory *a = NULL, *b = NULL;
    int64_t used, most, left;
    fake_open(&fake, "alloc=3", &s);
    assert_ok(s.ctx, device_alloc(s.d, 1 << 20, &a));
    assert_ok(s.ctx, device_alloc(s.d, 1 << 21, &b));
    device_free(a);
    device_memory_now(s.d, &used, &most, &left);
    assert_int_equal(left, (1 << 30) - (1 << 21));    /* what is kept counts as free */
    assert_ok(s.ctx, device_alloc(s.d, 1 << 22, &a)); /* refused, trimmed, asked again */
    device_memory_now(s.d, &used, &most, &left);
    assert_int_equal(used, (1 << 21) + (1 << 22));
    assert_int_equal(left, (1 << 30) - (1 << 21) - (1 << 22));
    device_free(a);
    device_free(b);
    opened_close(&s);
}

static void test_copy(void **state)
{
    (void)state;
    opened s;
    device_memory *m = NULL;
    const int number = 17;
    int back = 0;
    void *pinned = NULL;
    fake_open(&fake, "copy=2 map=-12", &s);
    assert_ok(s.ctx, device_alloc(s.d, 4, &m));
    assert_ok(s.ctx, device_put(m, 0, &number, 4));
    assert_status(s.ctx, SPRY_STATUS_DEVICE, device_get(m, 0, &back, 4));
    support_message_has(s.ctx,
                        "opencl:0 (Fake 0): clEnqueueReadBuffer: CL_INVALID_MEM_OBJECT (-38)");
    assert_ok(s.ctx, device_get(m, 0, &back, 4));
    assert_int_equal(back, number);
    assert_status(s.ctx, SPRY_STATUS_DEVICE, device_pinned_alloc(s.d, 4, &pinned));
    support_message_has(s.ctx, "clEnqueueMapBuffer");
    device_free(m);
    opened_close(&s);
}

/* --- a device that is lost -----------------------------------------------------------------------
 */

static void lost(const char *weather, const char *call)
{
    opened s;
    device_memory *m = NULL;
    device_program *p = NULL;
    fake_open(&fake, weather, &s);
    assert_ok(s.ctx, device_alloc(s.d, 64, &m));
    assert_ok(s.ctx, device_build(s.d, text, "", &p));
    spry_status status = device_launch(p, "triple", NULL, 1, 1, NULL, 0);
    if (status == SPRY_STATUS_OK)
        status = device_finish(s.d);
    assert_status(s.ctx, SPRY_STATUS_DEVICE_LOST, status);
    support_message_has(s.ctx, call);
    assert_status(s.ctx, SPRY_STATUS_DEVICE_LOST, device_clear(m, 0, 4));
    support_message_has(s.ctx, call);
    support_message_has(s.ctx, "close it");
    device_free(m);
    opened_close(&s);
    fake_open(&fake, NULL, &s);
    assert_ok(s.ctx, device_build(s.d, text, "", &p));
    assert_ok(s.ctx, device_launch(p, "triple", NULL, 1, 1, NULL, 0));
    opened_close(&s);
}

static void test_lost(void **state)
{
    (void)state;
    lost("launch=1", "illegal read or write");
    lost("launch=1 error=-36", "CL_INVALID_COMMAND_QUEUE");
    lost("finish=1", "clFinish");
    lost("finish=1 error=-2", "CL_DEVICE_NOT_AVAILABLE");
}

static void test_events(void **state)
{
    (void)state;
    opened s;
    device_event *a = NULL, *b = NULL;
    double seconds = -1;
    opened_open(&s, "opencl");
    assert_ok(s.ctx, device_event_new(s.d, &a));
    assert_ok(s.ctx, device_event_new(s.d, &b));
    assert_ok(s.ctx, device_event_record(a, NULL));
    assert_status(s.ctx, SPRY_STATUS_BAD_USAGE, device_event_seconds(a, b, &seconds));
    assert_ok(s.ctx, device_event_record(b, NULL));
    assert_ok(s.ctx, device_event_record(b, NULL)); /* the second counts */
    assert_ok(s.ctx, device_event_seconds(a, b, &seconds));
    assert_true(seconds > 1.99e-6 && seconds < 2.01e-6);
    set_variable("FAKE_OPENCL", "profiling=0");
    assert_status(s.ctx, SPRY_STATUS_DEVICE, device_event_seconds(a, b, &seconds));
    support_message_has(s.ctx, "CL_PROFILING_INFO_NOT_AVAILABLE");
    device_event_free(a);
    device_event_free(b);
    opened_close(&s);
}

/* --- bandwidth -----------------------------------------------------------------------------------
 */

/* The one file that remembers a bandwidth. */
static void bandwidth_file(char path[256])
{
    int count = 0;
    DIR *all = opendir(fake.place.folder);
    assert_non_null(all);
    for (const struct dirent *entry; (entry = readdir(all));) {
        if (strncmp(entry->d_name, "bandwidth-", 10) != 0)
            continue;
        snprintf(path, 256, "%.60s/%.100s", fake.place.folder, entry->d_name);
        count++;
    }
    closedir(all);
    assert_int_equal(count, 1);
}

static double bandwidth_of(const char *weather, bool again, spry_status expected)
{
    spry_bandwidth found = {.read = -1};
    set_variable("FAKE_OPENCL", weather);
    spry_context *ctx = support_context(NULL);
    assert_status(ctx, expected, spry_device_bandwidth(ctx, "opencl", again, &found));
    support_context_free(ctx); /* nothing stays open */
    return found.read;
}

/* Measured once, by events a microsecond apart; taken from disk where no launch works; a file that
 * was changed is not believed. */
static void test_bandwidth(void **state)
{
    (void)state;
    char path[256], line[512] = "";
    const double expected = (double)(1 << 26) / 1e-6;
    const double first = bandwidth_of("nvidia=1", false, SPRY_STATUS_OK);
    assert_true(first > 0.999 * expected && first < 1.001 * expected);
    assert_true(bandwidth_of("nvidia=1 launch=1", false, SPRY_STATUS_OK) == first);
    assert_true(bandwidth_of("nvidia=1 launch=1 error=-5", true, SPRY_STATUS_NO_MEMORY) == 0);
    assert_true(bandwidth_of("launch=1 error=-5", false, SPRY_STATUS_NO_MEMORY) ==
                0); /* another driver */
    bandwidth_file(path);
    FILE *file = fopen(path, "r+");
    assert_non_null(file);
    const size_t size = fread(line, 1, sizeof line - 1, file);
    char *digit = strstr(line, " bytes per second");
    assert_true(size > 0 && digit);
    digit[-1] = digit[-1] == '1' ? '2' : '1';
    rewind(file);
    assert_int_equal(fwrite(line, 1, size, file), size);
    assert_int_equal(fclose(file), 0);
    assert_true(bandwidth_of("nvidia=1 launch=1 error=-5", false, SPRY_STATUS_NO_MEMORY) == 0);
    assert_true(bandwidth_of("nvidia=1", false, SPRY_STATUS_OK) == first);
    assert_int_equal(truncate(path, 20), 0);
    assert_true(bandwidth_of("nvidia=1", false, SPRY_STATUS_OK) == first);
    bandwidth_file(path);
    /* Nowhere to keep it: measured each time. */
    set_variable("SPRY_CACHE", "");
    assert_true(bandwidth_of("nvidia=1", false, SPRY_STATUS_OK) == first);
    assert_true(bandwidth_of("nvidia=1 launch=1 error=-5", false, SPRY_STATUS_NO_MEMORY) == 0);
    set_variable("SPRY_CACHE", "/proc/nowhere");
    assert_true(bandwidth_of("nvidia=1", false, SPRY_STATUS_OK) == first);
}

#define CASE(function) FAKE_TEST(function, &fake)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(test_no_library), CASE(test_no_device), CASE(test_unusable),  CASE(test_first),
        CASE(test_facts),      CASE(test_build),     CASE(test_own_lines), CASE(test_shapes),
        CASE(test_binary),     CASE(test_no_memory), CASE(test_trim),      CASE(test_copy),
        CASE(test_lost),       CASE(test_events),    CASE(test_bandwidth),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
