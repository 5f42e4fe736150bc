/* Tests on every device there is. */
#include "support/devices.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_DEVICES = 16, MOST_TESTS = 256, SKIPPED = 77 };

typedef struct found_device {
    char name[32];
    spry_context *ctx;
    spry_device *d;
} found_device;

typedef struct test_on_device {
    const devices_test *test;
    found_device *found;
    char name[128];
} test_on_device;

static found_device devices[MOST_DEVICES];
static int device_total;

/* Whether SPRY_TEST_DEVICE asks for the device: by its name or by its engine's. */
static bool wanted(const char *name)
{
    const char *only = getenv("SPRY_TEST_DEVICE");
    const size_t length = only ? strlen(only) : 0;
    return length == 0 ||
           (strncmp(name, only, length) == 0 && (name[length] == '\0' || name[length] == ':'));
}

/* Whether a test is named, between commas, in SPRY_TEST_SKIP. */
static bool left_out(const char *name)
{
    const size_t length = strlen(name);
    const char *at = getenv("SPRY_TEST_SKIP");
    for (; at; at = strchr(at, ',') ? strchr(at, ',') + 1 : NULL)
        if (strncmp(at, name, length) == 0 && (at[length] == ',' || at[length] == '\0'))
            return true;
    return false;
}

static void find_devices(void)
{
    static const char *const engines[] = {"cuda", "opencl"};
    char why[256], name[32];
    for (size_t e = 0; e < sizeof engines / sizeof *engines; e++) {
        spry_context *ctx = support_context(NULL);
        const int count = device_count(ctx, engines[e], why, sizeof why);
        if (count == 0 && wanted(engines[e]))
            print_message("%s: %s\n", engines[e], why);
        support_context_free(ctx);
        for (int i = 0; i < count && device_total < MOST_DEVICES; i++) {
            snprintf(name, sizeof name, "%s:%d", engines[e], i);
            if (!wanted(name))
                continue;
            found_device *found = &devices[device_total];
            snprintf(found->name, sizeof found->name, "%s", name);
            found->ctx = support_context(NULL);
            if (device_open(found->ctx, name, &found->d) == SPRY_STATUS_OK) {
                device_total++;
                continue;
            }
            print_message("%s\n", spry_message(found->ctx));
            support_context_free(found->ctx);
        }
    }
}

static void run_one(void **state)
{
    const test_on_device *t = *state;
    int64_t before, used, most, free_bytes;
    device_memory_now(t->found->d, &before, &most, &free_bytes); /* a failed test leaves some */
    t->test->run(t->found->ctx, t->found->d);
    device_memory_now(t->found->d, &used, &most, &free_bytes);
    assert_int_equal(used, before);
}

static int close_devices(void **state)
{
    (void)state;
    int bad = 0;
    for (int i = 0; i < device_total; i++) {
        int64_t now, most;
        device_close(devices[i].d);
        spry_context_memory(devices[i].ctx, &now, &most);
        spry_context_free(devices[i].ctx);
        if (now != 0)
            print_error("%s: %lld bytes of the host are still in use\n", devices[i].name,
                        (long long)now);
        bad += now != 0;
    }
    return bad;
}

int devices_run(const devices_test *tests, size_t count)
{
    static test_on_device states[MOST_TESTS];
    static struct CMUnitTest all[MOST_TESTS];
    size_t total = 0;
    find_devices();
    if (device_total == 0) {
        print_message("SKIP: there is no device to test on\n");
        return SKIPPED;
    }
    for (int i = 0; i < device_total; i++) {
        for (size_t k = 0; k < count && total < MOST_TESTS; k++) {
            if (left_out(tests[k].name))
                continue;
            states[total].test = tests + k;
            states[total].found = devices + i;
            snprintf(states[total].name, sizeof states[total].name, "%.31s %.90s", devices[i].name,
                     tests[k].name);
            all[total] =
                (struct CMUnitTest){states[total].name, run_one, NULL, NULL, states + total};
            total++;
        }
    }
    return _cmocka_run_group_tests("devices", all, total, NULL, close_devices);
}

bool devices_few(const spry_device *d)
{
    return d->facts.processor && !support_full();
}

bool devices_tries(const spry_device *d, spry_type type)
{
    if (!d->facts.has_double && !type_is_single(type))
        return false;
    if (!devices_few(d))
        return true;
    const char *types = getenv("SPRY_TEST_TYPES");
    const char letter = "sdcz"[type];
    return types ? strchr(types, letter) != NULL : !d->facts.has_double || !type_is_single(type);
}

void devices_torture(spry_context *ctx, spry_device *d, int64_t least, support_call call,
                     void *data)
{
    static const device_work works[] = {WORK_ALLOC, WORK_COPY, WORK_LAUNCH};
    int64_t used, now, settled, most;
    assert_ok(ctx, call(ctx, data));
    device_memory_now(d, &used, &most, NULL);
    for (int w = 0; w < 3; w++) {
        int64_t n = 0;
        spry_status status = SPRY_STATUS_BAD_USAGE;
        while (status != SPRY_STATUS_OK) {
            device_fail_next(d, works[w], ++n);
            status = call(ctx, data);
            device_fail_next(d, works[w], 0);
            device_memory_now(d, &now, &most, NULL);
            assert_int_equal(now, used);
        }
        assert_true(n > least);
    }
    spry_context_memory(ctx, &settled, &most);
    for (int64_t n = 1;; n++) {
        base_fail_allocation(ctx, n, false);
        const spry_status status = call(ctx, data);
        base_fail_allocation(ctx, 0, false);
        spry_context_memory(ctx, &now, &most);
        assert_int_equal(now, settled);
        if (status == SPRY_STATUS_OK)
            break;
        assert_int_equal(status, SPRY_STATUS_NO_MEMORY);
    }
}
