/* The CUDA engine in bad weather, on a driver that fails on command (tests/fakes/cuda.c). */
#include "support/opened.h"

#include "device/engine/cuda.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char text[] = FAKE_TEXT;

static fake_engine fake = FAKE_CUDA_ENGINE;

/* --- opening ------------------------------------------------------------------------------------
 */

static void test_no_driver(void **state)
{
    (void)state;
    fake_refused(&fake, "/nowhere/libcuda.so.1", NULL, "cannot be loaded",
                 "install NVIDIA's driver");
    fake_refused(&fake, "", NULL, "SPRY_CUDA_LIBRARY is empty", "unset it");
    fake_refused(&fake, "libm.so.6", NULL, "does not report its version", "is it a CUDA driver?");
}

static void test_old_driver(void **state)
{
    (void)state;
    fake_refused(&fake, FAKE_CUDA, "version=10020",
                 "the driver is for CUDA 10.2, and 11.4 is needed", "driver 470 or newer");
    fake_refused(&fake, FAKE_CUDA_PARTIAL, NULL, "cuGraphInstantiateWithFlags",
                 "install NVIDIA's driver again");
}

static void test_no_device(void **state)
{
    (void)state;
    fake_refused(&fake, FAKE_CUDA, "init=100", "finds no NVIDIA device", "nvidia-smi");
    fake_refused(&fake, FAKE_CUDA, "devices=0", "finds no NVIDIA device", "CUDA_VISIBLE_DEVICES");
    fake_refused(&fake, FAKE_CUDA, "init=803", "two versions", "restart the machine");
    fake_refused(&fake, FAKE_CUDA, "init=34", "stub", "SPRY_CUDA_LIBRARY");
    fake_refused(&fake, FAKE_CUDA, "init=999", "cuInit: CUDA_ERROR_OF_A_FAKE (999)", "nvidia-smi");
}

static void test_facts(void **state)
{
    opened s;
    (void)state;
    set_variable("FAKE_CUDA", "devices=2 arch=86 version=12040");
    opened_open(&s, "cuda:1");
    const device_facts *f = &s.d->facts;
    assert_string_equal(f->name, "cuda:1");
    assert_string_equal(f->description, "Fake 1");
    assert_string_equal(f->target, "sm_86");
    assert_string_equal(f->driver, "CUDA 12.4");
    assert_int_equal(f->memory_bytes, 1 << 30);
    assert_int_equal(f->units, 7);
    assert_int_equal(f->lanes, 32);
    assert_int_equal(f->local_bytes, 48 << 10);
    assert_true(f->has_double && f->has_graphs && f->has_cooperation && f->has_tickets &&
                f->has_pointers && !f->processor);
    opened_close(&s);
    opened_open(&s, "gpu"); /* the one there is */
    assert_string_equal(s.d->facts.name, "cuda:0");
    opened_close(&s);
}

/* Another user of CUDA in this thread finds the context current that he has left so. */
static void test_neighbours(void **state)
{
    opened s;
    int other = 0;
    void *now = NULL;
    device_memory *m = NULL;
    (void)state;
    opened_open(&s, "cuda");
    const cuda_driver *driver = &cuda_of(s.d)->driver;
    for (int k = 0; k < 2; k++) {
        void *before = k == 0 ? (void *)&other : cuda_of(s.d)->context;
        assert_int_equal(driver->cuCtxPushCurrent(before), CUDA_OK);
        assert_ok(s.ctx, device_alloc(s.d, 64, &m));
        assert_ok(s.ctx, device_clear(m, 0, 64));
        assert_ok(s.ctx, device_finish(s.d));
        device_free(m);
        assert_int_equal(driver->cuCtxGetCurrent(&now), CUDA_OK);
        assert_ptr_equal(now, before);
        assert_int_equal(driver->cuCtxPopCurrent(&now), CUDA_OK);
        assert_int_equal(driver->cuCtxGetCurrent(&now), CUDA_OK);
        assert_null(now); /* nothing of ours is left on the stack */
    }
    opened_close(&s);
}

/* --- while it runs -------------------------------------------------------------------------------
 */

static void test_no_memory(void **state)
{
    opened s;
    device_memory *m[4] = {NULL};
    (void)state;
    fake_open(&fake, "alloc=3", &s);
    for (int i = 0; i < 4; i++) {
        assert_status(s.ctx, i == 2 ? SPRY_STATUS_NO_MEMORY : SPRY_STATUS_OK,
                      device_alloc(s.d, 5000000 << i, &m[i]));
        if (i == 2)
            support_message_has(s.ctx, "20.0 MB asked for");
    }
    assert_null(m[2]);
    assert_ok(s.ctx, device_clear(m[3], 0, 1000)); /* the device goes on working */
    for (int i = 0; i < 4; i++)
        device_free(m[i]);
    opened_close(&s);
}

/* Every call fails with the same message from then on; a device that is opened again works. */
static void check_lost(opened *s, device_memory *m, device_program *p)
{
    char first[1024], byte = 0;
    device_memory *more = NULL;
    device_program *other = NULL;
    snprintf(first, sizeof first, "%s", spry_message(s->ctx));
    support_message_has(s->ctx, "cuda:0 (Fake 0)");
    support_message_has(s->ctx, "as requested");
    support_message_has(s->ctx, "run again, and under compute-sanitizer if it happens again");
    support_message_has(s->ctx, "close it");
    assert_status(s->ctx, SPRY_STATUS_DEVICE_LOST, device_get(m, 0, &byte, 1));
    assert_string_equal(spry_message(s->ctx), first);
    assert_status(s->ctx, SPRY_STATUS_DEVICE_LOST, device_alloc(s->d, 8, &more));
    assert_status(s->ctx, SPRY_STATUS_DEVICE_LOST, device_build(s->d, text, "-DA", &other));
    assert_status(s->ctx, SPRY_STATUS_DEVICE_LOST,
                  device_launch(p, "triple", NULL, 1, 64, NULL, 0));
    assert_status(s->ctx, SPRY_STATUS_DEVICE_LOST, device_finish(s->d));
    assert_string_equal(spry_message(s->ctx), first);
    device_free(m);
    opened_close(s);
    fake_open(&fake, NULL, s);
    assert_ok(s->ctx, device_alloc(s->d, 8, &more));
    assert_ok(s->ctx, device_put(more, 0, "12345678", 8));
    device_free(more);
    opened_close(s);
}

static void start_work(opened *s, const char *weather, device_memory **m, device_program **p)
{
    fake_open(&fake, weather, s);
    assert_ok(s->ctx, device_alloc(s->d, 64, m));
    assert_ok(s->ctx, device_put(*m, 0, "1", 1));
    assert_ok(s->ctx, device_build(s->d, text, "", p));
}

static void test_lost(void **state)
{
    opened s;
    device_memory *m = NULL;
    device_program *p = NULL;
    (void)state;
    start_work(&s, "launch=2 error=700", &m, &p);
    assert_ok(s.ctx, device_launch(p, "triple", NULL, 1, 64, NULL, 0));
    assert_status(s.ctx, SPRY_STATUS_DEVICE_LOST, device_launch(p, "triple", NULL, 1, 64, NULL, 0));
    support_message_has(s.ctx, "kernel triple: cuLaunchKernel: CUDA_ERROR_ILLEGAL_ADDRESS (700)");
    check_lost(&s, m, p);
    start_work(&s, "copy=2 error=214", &m, &p);
    assert_status(s.ctx, SPRY_STATUS_DEVICE_LOST, device_put(m, 0, "2", 1));
    support_message_has(s.ctx, "cuMemcpyHtoDAsync");
    check_lost(&s, m, p);
}

/* Local memory comes with the launch, as much as the device has; the fake lets a kernel have what
 * it was allowed. */
static void test_local(void **state)
{
    opened s;
    device_memory *m = NULL;
    device_program *p = NULL;
    (void)state;
    start_work(&s, "", &m, &p);
    assert_ok(s.ctx, device_launch_local(p, "triple", 1, 64, s.d->facts.most_local, NULL, 0));
    assert_status(s.ctx, SPRY_STATUS_UNSUPPORTED,
                  device_launch_local(p, "triple", 1, 64, s.d->facts.most_local + 1, NULL, 0));
    support_message_has(s.ctx, "bytes of local memory");
    device_free(m);
    opened_close(&s);
}

static void test_shapes(void **state)
{
    const device_range fits = {{3, 2, 1}, {8, 4, 2}, 0}, other = {{3, 1, 2}, {8, 4, 2}, 0};
    const device_range none = {{3, 0, 1}, {8, 4, 2}, 0}, wide = {{1, 65536, 1}, {8, 1, 1}, 0};
    const device_range many = {{1 << 20, 1 << 12, 1}, {8, 1, 1}, 0};
    const device_range thick = {{1, 1, 1}, {64, 64, 1}, 0};
    opened s;
    device_memory *m = NULL;
    device_program *p = NULL;
    (void)state;
    start_work(&s, "shape=321842", &m, &p);
    assert_ok(s.ctx, device_launch_range(p, "triple", &fits, NULL, 0));
    assert_status(s.ctx, SPRY_STATUS_DEVICE, device_launch_range(p, "triple", &other, NULL, 0));
    assert_ok(s.ctx, device_launch_range(p, "triple", &none, NULL, 0)); /* is not launched */
    assert_status(s.ctx, SPRY_STATUS_UNSUPPORTED, device_launch_range(p, "triple", &wide, NULL, 0));
    support_message_has(s.ctx, "65536 groups in dimension 1");
    assert_status(s.ctx, SPRY_STATUS_UNSUPPORTED, device_launch_range(p, "triple", &many, NULL, 0));
    support_message_has(s.ctx, "1048576 x 4096 x 1 groups");
    assert_status(s.ctx, SPRY_STATUS_UNSUPPORTED,
                  device_launch_range(p, "triple", &thick, NULL, 0));
    support_message_has(s.ctx, "64 x 64 x 1 work-items");
    device_free(m);
    opened_close(&s);
}

/* An error that is not final ends one call and no more. */
static void test_passing_error(void **state)
{
    opened s;
    device_memory *m = NULL;
    device_program *p = NULL;
    (void)state;
    start_work(&s, "launch=1 error=701", &m, &p);
    assert_status(s.ctx, SPRY_STATUS_DEVICE, device_launch_whole(p, "triple", 1, 64, NULL, 0));
    support_message_has(s.ctx, "cuLaunchCooperativeKernel: CUDA_ERROR_OF_A_FAKE (701)");
    assert_ok(s.ctx, device_launch_whole(p, "triple", 1, 64, NULL, 0));
    assert_int_equal(device_whole_groups(p, "triple", 256), 7 * 8);
    assert_ok(s.ctx, device_launch_whole(p, "triple", 7 * 8, 256, NULL, 0));
    assert_status(s.ctx, SPRY_STATUS_UNSUPPORTED,
                  device_launch_whole(p, "triple", 7 * 8 + 1, 256, NULL, 0));
    support_message_has(s.ctx, "57 groups of 256 work-items are to run at once; cuda:0 can run 56");
    assert_int_equal(device_whole_groups(p, "nothing", 256), 0);
    assert_status(s.ctx, SPRY_STATUS_BAD_USAGE, device_launch(p, "nothing", NULL, 1, 64, NULL, 0));
    support_message_has(s.ctx, "no kernel \"nothing\"");
    device_free(m);
    opened_close(&s);
}

static void test_recording(void **state)
{
    opened s;
    device_memory *m = NULL;
    device_program *p = NULL;
    device_graph *g = NULL;
    (void)state;
    start_work(&s, "launch=3 error=719", &m, &p);
    assert_ok(s.ctx, device_record_begin(s.d));
    assert_ok(s.ctx, device_launch(p, "triple", NULL, 1, 64, NULL, 0));
    assert_ok(s.ctx, device_record_end(s.d, &g));
    assert_ok(s.ctx, device_play(g));
    assert_status(s.ctx, SPRY_STATUS_DEVICE_LOST, device_play(g));
    device_graph_free(g);
    check_lost(&s, m, p);
}

/* --- the compiler --------------------------------------------------------------------------------
 */

/* What was compiled before is found on disk; anything else needs NVRTC. */
static void test_no_nvrtc(void **state)
{
    opened s;
    device_program *p = NULL;
    (void)state;
    opened_open(&s, "cuda");
    assert_ok(s.ctx, device_build(s.d, text, "", &p));
    opened_close(&s);
    set_variable("SPRY_NVRTC_LIBRARY", "/nowhere/libnvrtc.so");
    opened_open(&s, "cuda");
    assert_ok(s.ctx, device_build(s.d, text, "", &p));
    assert_int_equal(s.d->cache->loaded, 1);
    assert_ok(s.ctx, device_launch(p, "triple", NULL, 1, 64, NULL, 0));
    assert_status(s.ctx, SPRY_STATUS_UNSUPPORTED, device_build(s.d, text, "-DOTHER", &p));
    support_message_has(s.ctx, "NVRTC, CUDA's compiler, cannot be loaded");
    support_message_has(s.ctx, "pip install nvidia-cuda-nvrtc");
    support_message_has(s.ctx, "SPRY_NVRTC_LIBRARY");
    set_variable("SPRY_NVRTC_LIBRARY", "");
    assert_status(s.ctx, SPRY_STATUS_UNSUPPORTED, device_build(s.d, text, "-DOTHER", &p));
    support_message_has(s.ctx, "SPRY_NVRTC_LIBRARY is empty");
    set_variable("SPRY_NVRTC_LIBRARY", "libm.so.6");
    assert_status(s.ctx, SPRY_STATUS_UNSUPPORTED, device_build(s.d, text, "-DOTHER", &p));
    support_message_has(s.ctx, "NVRTC is too old, it has no nvrtcVersion");
    set_variable("SPRY_NVRTC_LIBRARY", FAKE_CUDA); /* installed meanwhile */
    assert_ok(s.ctx, device_build(s.d, text, "-DOTHER", &p));
    opened_close(&s);
}

static void test_versions(void **state)
{
    opened s;
    device_program *p = NULL;
    (void)state;
    fake_open(&fake, "nvrtc=13040 version=12020", &s);
    assert_status(s.ctx, SPRY_STATUS_UNSUPPORTED, device_build(s.d, text, "", &p));
    support_message_has(s.ctx, "NVRTC 13.4 is newer than the driver, which is for CUDA 12.2");
    opened_close(&s);
    fake_open(&fake, "arch=61", &s);
    assert_status(s.ctx, SPRY_STATUS_UNSUPPORTED, device_build(s.d, text, "", &p));
    support_message_has(s.ctx, "compiles for sm_75 and newer, and the device is sm_61");
    opened_close(&s);
    fake_open(&fake, "load=1 error=222", &s);
    assert_status(s.ctx, SPRY_STATUS_DEVICE, device_build(s.d, text, "", &p));
    support_message_has(s.ctx, "does not take what NVRTC made; install a newer driver");
    assert_ok(s.ctx, device_build(s.d, text, "", &p));
    opened_close(&s);
}

/* What the fake was asked to compile for, which it puts before the text. */
static void compiled_as(spry_context *ctx, const char *weather, int arch, const char *expected)
{
    char why[512], complaint[64];
    nvrtc_library nvrtc;
    void *binary = NULL;
    size_t size = 0;
    set_variable("FAKE_CUDA", weather);
    assert_true(nvrtc_load(&nvrtc, 0, why, sizeof why));
    assert_ok(ctx, nvrtc_compile(ctx, &nvrtc, arch, "text", "-DA=1 -DB=2", &binary, &size,
                                 complaint, sizeof complaint));
    assert_string_equal(binary, expected);
    assert_int_equal(size, strlen(expected) + 1);
    spry_free(ctx, binary);
}

static void test_targets(void **state)
{
    spry_context *ctx = support_context(NULL);
    (void)state;
    compiled_as(ctx, "newest=90", 90,
                "--gpu-architecture=sm_90 --std=c++17 -default-device -DA=1 -DB=2 text");
    compiled_as(ctx, "newest=90", 103, /* a card that NVRTC does not know */
                "--gpu-architecture=compute_90 --std=c++17 -default-device -DA=1 -DB=2 text");
    compiled_as(ctx, "newest=90", 86,
                "--gpu-architecture=compute_75 --std=c++17 -default-device -DA=1 -DB=2 text");
    set_variable("SPRY_DEVICE_DEBUG", "1");
    compiled_as(ctx, "newest=90", 90,
                "--gpu-architecture=sm_90 --std=c++17 -default-device -lineinfo -DA=1 -DB=2 text");
    set_variable("SPRY_DEVICE_DEBUG", NULL);
    support_context_free(ctx);
}

static void test_complaint(void **state)
{
    opened s;
    device_program *p = NULL;
    (void)state;
    opened_open(&s, "cuda");
    assert_status(s.ctx, SPRY_STATUS_DEVICE, device_build(s.d, "#error\n", "-DX=1", &p));
    assert_null(p);
    support_message_has(s.ctx, "options \"-DX=1\"");
    support_message_has(s.ctx, "spry.cu(7): error: the fake reports #error");
    assert_null(strstr(spry_message(s.ctx), "second"));
    assert_null(strstr(spry_message(s.ctx), "warning"));
    assert_int_equal(place_count(&fake.place), 0);
    device_fail_next(s.d, WORK_COMPILE, 2);
    assert_ok(s.ctx, device_build(s.d, text, "", &p));
    assert_ok(s.ctx, device_build(s.d, text, "", &p)); /* is there already: nothing is compiled */
    assert_int_not_equal(device_build(s.d, text, "-DZ", &p), SPRY_STATUS_OK);
    support_message_has(s.ctx, "was asked to fail");
    assert_ok(s.ctx, device_build(s.d, text, "-DZ", &p));
    device_fail_next(s.d, WORK_LAUNCH, 1);
    assert_int_not_equal(device_launch(p, "triple", NULL, 1, 64, NULL, 0), SPRY_STATUS_OK);
    assert_ok(s.ctx, device_launch(p, "triple", NULL, 1, 64, NULL, 0));
    opened_close(&s);
}

int main(void)
{
#define TEST(function) FAKE_TEST(function, &fake)
    const struct CMUnitTest tests[] = {
        TEST(test_no_driver),  TEST(test_old_driver),    TEST(test_no_device), TEST(test_facts),
        TEST(test_neighbours), TEST(test_no_memory),     TEST(test_lost),      TEST(test_shapes),
        TEST(test_local),      TEST(test_passing_error), TEST(test_recording), TEST(test_no_nvrtc),
        TEST(test_versions),   TEST(test_targets),       TEST(test_complaint),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
