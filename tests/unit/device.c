/* What the host says about itself, and the bandwidth it measures. */
#include "support/support.h"

#include "host/host.h"

#include <stdlib.h>
#include <string.h>

static void test_names(void **state)
{
    (void)state;
    static const struct sample {
        const char *cpuinfo, *name;
    } samples[] = {
        {"processor\t: 0\nvendor_id\t: GenuineIntel\nmodel\t\t: 143\nmodel name\t: Intel(R) "
         "Xeon(R) Platinum 8480C\nstepping\t: 8\n",
         "Intel(R) Xeon(R) Platinum 8480C"},
        {"processor\t: 0\nCPU implementer\t: 0x41\nCPU architecture: 8\nCPU part\t: 0xd40\n",
         "ARM Neoverse-V1"},
        {"CPU implementer : 0x61\nCPU part : 0x022", "Apple M1"},
        {"CPU implementer\t: 0x99\nCPU part\t: 0x123\n", "ARM designer 0x99 part 0x123"},
        {"CPU implementer\t: 0x41\n", ""},
        {"model name", ""},
        {"model name\t:", ""},
        {"", ""},
        {"\n\n", ""},
    };
    for (size_t i = 0; i < sizeof samples / sizeof *samples; i++) {
        char name[64] = "?";
        host_processor_name(samples[i].cpuinfo, name, sizeof name);
        assert_string_equal(name, samples[i].name);
    }
    char small[6];
    host_processor_name(samples[0].cpuinfo, small, sizeof small);
    assert_string_equal(small, "Intel");
}

static void test_describe(void **state)
{
    spry_context *ctx = *state;
    spry_device_info info = SPRY_DEVICE_INFO_INIT;
    assert_true(spry_device_describe(ctx, 0, &info));
    assert_string_equal(info.name, "cpu");
    assert_string_equal(info.isa, spry_context_isa(ctx));
    assert_non_null(strstr(info.isa_list, info.isa));
    assert_non_null(strstr(info.isa_list, isa_name(0)));
    assert_int_equal(info.threads, spry_context_threads(ctx));
    assert_true(info.cores >= 1);
    assert_true(info.memory_bytes > 1 << 20);
    assert_true(info.cache_bytes >= 0);
    assert_string_equal(info.kind, "cpu");
    assert_true(info.usable && info.units == info.cores);
    assert_false(spry_device_describe(ctx, -1, &info));
}

/* After the host come CUDA's and OpenCL's devices, or why there are none; asking opens nothing. */
static void test_describe_devices(void **state)
{
    spry_context *ctx = *state;
    spry_device_info info = SPRY_DEVICE_INFO_INIT;
    int cuda = 0, opencl = 0, index = 1;
    for (; spry_device_describe(ctx, index, &info); index++) {
        cuda += strcmp(info.kind, "cuda") == 0;
        opencl += strcmp(info.kind, "opencl") == 0;
        assert_int_equal(strncmp(info.name, info.kind, strlen(info.kind)), 0);
        assert_int_equal(info.usable, info.why[0] == '\0');
        assert_true(!info.usable || (info.units > 0 && info.memory_bytes > 0 && info.driver[0]));
    }
    assert_true(cuda >= 1 && opencl >= 1);
    assert_int_equal(index, 1 + cuda + opencl);
    assert_string_equal(info.name, "");
    assert_string_equal(spry_message(ctx), "");
}

static void test_host_is_no_device(void **state)
{
    spry_context *ctx = *state;
    spry_device *d = NULL;
    assert_status(ctx, SPRY_STATUS_BAD_USAGE, spry_device_open(ctx, "cpu", &d));
    support_message_has(ctx, "the host, which needs no device");
}

/* Without drivers there is an entry an engine. */
static void test_no_drivers(void **state)
{
    spry_context *ctx = *state;
    spry_device_info info = SPRY_DEVICE_INFO_INIT;
    spry_bandwidth found = {.read = 1};
    setenv("SPRY_CUDA_LIBRARY", "/nowhere/libcuda.so", 1);
    setenv("SPRY_OPENCL_LIBRARY", "/nowhere/libOpenCL.so", 1);
    for (int index = 1; index <= 2; index++) {
        const char *name = index == 1 ? "cuda" : "opencl";
        assert_true(spry_device_describe(ctx, index, &info));
        assert_string_equal(info.name, name);
        assert_string_equal(info.kind, name);
        assert_false(info.usable);
        assert_non_null(strstr(info.why, "/nowhere/"));
        assert_non_null(strstr(info.why, "install"));
        assert_status(ctx, SPRY_STATUS_UNSUPPORTED,
                      spry_device_bandwidth(ctx, name, false, &found));
        support_message_has(ctx, "/nowhere/");
        assert_true(found.read == 0);
    }
    assert_false(spry_device_describe(ctx, 3, &info));
    assert_status(ctx, SPRY_STATUS_UNSUPPORTED, spry_device_bandwidth(ctx, "gpu", false, &found));
    support_message_has(ctx, "gpu: cuda: ");
    assert_status(ctx, SPRY_STATUS_BAD_USAGE, spry_device_bandwidth(ctx, "tpu", false, &found));
    unsetenv("SPRY_CUDA_LIBRARY");
    unsetenv("SPRY_OPENCL_LIBRARY");
}

static void test_bandwidth(void **state)
{
    spry_context *ctx = *state;
    spry_bandwidth first = SPRY_BANDWIDTH_INIT, second = SPRY_BANDWIDTH_INIT;
    assert_ok(ctx, spry_device_bandwidth(ctx, NULL, false, &first));
    assert_true(first.read > 1e6 && first.triad > 1e6);
    assert_ok(ctx, spry_device_bandwidth(ctx, "cpu", false, &second));
    assert_memory_equal(&first, &second, sizeof first); /* remembered */
}

/* Only the arrays are allocated: each in turn is missing; a measurement that works is not needed.
 */
static void test_no_memory(void **state)
{
    spry_context *ctx = *state;
    for (int64_t nth = 1; nth <= 3; nth++) {
        spry_bandwidth bandwidth = SPRY_BANDWIDTH_INIT;
        int64_t now, most;
        base_fail_allocation(ctx, nth, false);
        assert_status(ctx, SPRY_STATUS_NO_MEMORY,
                      spry_device_bandwidth(ctx, NULL, true, &bandwidth));
        base_fail_allocation(ctx, 0, false);
        assert_true(bandwidth.read == 0);
        spry_context_memory(ctx, &now, &most);
        assert_int_equal(now, 0);
    }
}

#define CASE(test) cmocka_unit_test_setup_teardown(test, support_setup, support_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(test_names),
        CASE(test_describe),
        CASE(test_describe_devices),
        CASE(test_host_is_no_device),
        CASE(test_no_drivers),
        CASE(test_bandwidth),
        CASE(test_no_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
