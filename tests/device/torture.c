/* Failures one after the other: of allocations, copies, launches and compilations, of the device
 * and of the host. Each is reported, nothing is left behind, and the same device goes on working.
 */
#include "support/devices.h"

#include "device/engine/engine.h"

#include <string.h>

enum { GROUP = 64, COUNT = 500 };

static const char *const text = "SP_KERNEL twice(const int n, SP_GLOBAL int *a)\n"
                                "{\n"
                                "    if (SP_GLOBAL_ID < n)\n"
                                "        a[SP_GLOBAL_ID] *= FACTOR;\n"
                                "}\n";

/* Some of everything a device does; the answer is checked. */
static spry_status work(spry_context *ctx, spry_device *d, int factor)
{
    int numbers[COUNT];
    const int n = COUNT;
    char options[64];
    spry_status status = SPRY_STATUS_OK;
    device_memory *a = NULL, *b = NULL;
    device_stream *s = NULL;
    device_event *e = NULL;
    device_program *p = NULL;
    void *pinned = NULL;
    for (int i = 0; i < COUNT; i++)
        numbers[i] = i;
    snprintf(options, sizeof options, "-DSP_GROUP=64 -DFACTOR=%d", factor);
    SPRY_GO(ctx, device_alloc(d, sizeof numbers, &a));
    SPRY_GO(ctx, device_alloc(d, sizeof numbers, &b));
    SPRY_GO(ctx, device_pinned_alloc(d, 4096, &pinned));
    SPRY_GO(ctx, device_stream_new(d, &s));
    SPRY_GO(ctx, device_event_new(d, &e));
    SPRY_GO(ctx, device_build(d, text, options, &p));
    SPRY_GO(ctx, device_clear(a, 0, sizeof numbers));
    SPRY_GO(ctx, device_put(a, 0, numbers, sizeof numbers));
    const device_arg args[] = {DEVICE_VALUE(n), device_arg_memory(b)};
    SPRY_GO(ctx, device_copy(a, 0, b, 0, sizeof numbers));
    SPRY_GO(ctx, device_launch(p, "twice", NULL, (COUNT + GROUP - 1) / GROUP, GROUP, args, 2));
    SPRY_GO(ctx, device_launch(p, "twice", NULL, (COUNT + GROUP - 1) / GROUP, GROUP, args, 2));
    SPRY_GO(ctx, device_event_record(e, NULL));
    SPRY_GO(ctx, device_stream_wait(s, d->stream));
    SPRY_GO(ctx, device_get_on(s, b, 0, pinned, 4));
    SPRY_GO(ctx, device_stream_finish(s));
    SPRY_GO(ctx, device_get(b, 0, numbers, sizeof numbers));
    for (int i = 0; i < COUNT; i++)
        assert_int_equal(numbers[i], i * factor * factor);
done:
    device_event_free(e);
    device_stream_free(s);
    device_pinned_free(d, pinned);
    device_free(a);
    device_free(b);
    return status;
}

static int64_t host_memory(const spry_context *ctx)
{
    int64_t now, most;
    spry_context_memory(ctx, &now, &most);
    return now;
}

static void device_failures(spry_context *ctx, spry_device *d)
{
    static const struct kind {
        device_work work;
        const char *name;
        int calls; /* of work() */
    } kinds[] = {{WORK_ALLOC, "allocation", 3},
                 {WORK_COPY, "copy", 5},
                 {WORK_LAUNCH, "launch", 2},
                 {WORK_COMPILE, "compilation", 1}};
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        int failures = 0;
        for (int64_t n = 1;; n++) {
            /* A program of its own for each compilation, which is not done twice. */
            const int factor = kinds[k].work == WORK_COMPILE ? 100 : 2;
            device_fail_next(d, kinds[k].work, n);
            const spry_status status = work(ctx, d, factor);
            device_fail_next(d, kinds[k].work, 0);
            if (status == SPRY_STATUS_OK)
                break;
            assert_int_equal(status, kinds[k].work == WORK_ALLOC ? SPRY_STATUS_NO_MEMORY
                                                                 : SPRY_STATUS_DEVICE);
            support_message_has(ctx, kinds[k].name);
            support_message_has(ctx, d->facts.name);
            assert_false(d->lost);
            assert_ok(ctx, work(ctx, d, 2)); /* the next time it works */
            failures++;
        }
        assert_int_equal(failures, kinds[k].calls);
    }
}

/* Allocations of the host: those that the device keeps (programs, blocks) stay where they were
 * made, so that memory in use settles; a failure never adds to it. */
static void host_failures(spry_context *ctx, spry_device *d)
{
    assert_ok(ctx, work(ctx, d, 2));
    const int64_t settled = host_memory(ctx);
    for (int64_t n = 1;; n++) {
        base_fail_allocation(ctx, n, false);
        const spry_status status = work(ctx, d, 2);
        base_fail_allocation(ctx, 0, false);
        assert_int_equal(host_memory(ctx), settled);
        if (status == SPRY_STATUS_OK)
            break;
        assert_int_equal(status, SPRY_STATUS_NO_MEMORY);
    }
}

/* The same for opening a device, and for building a program. */
static void fresh_failures(spry_context *ctx, spry_device *d)
{
    (void)ctx;
    spry_context *own = support_context(NULL);
    int failures = 0;
    for (int64_t n = 1;; n++) {
        spry_device *again = NULL;
        base_fail_allocation(own, n, false);
        spry_status status = device_open(own, d->facts.name, &again);
        if (status == SPRY_STATUS_OK)
            status = work(own, again, 2);
        base_fail_allocation(own, 0, false);
        spry_device_close_all(own);
        assert_int_equal(host_memory(own), 0);
        if (status == SPRY_STATUS_OK)
            break;
        assert_int_equal(status, SPRY_STATUS_NO_MEMORY);
        failures++;
    }
    assert_true(failures > 8);
    support_context_free(own);
}

/* More than there is: reported with numbers, and the device works on. */
static void too_much(spry_context *ctx, spry_device *d)
{
    device_memory *m = NULL;
    int64_t used, most, left;
    assert_status(ctx, SPRY_STATUS_NO_MEMORY, device_alloc(d, (int64_t)1 << 50, &m));
    assert_null(m);
    support_message_has(ctx, d->facts.name);
    support_message_has(ctx, d->facts.description);
    support_message_has(ctx, "1.1 PB asked for");
    support_message_has(ctx, "are free");
    assert_status(ctx, SPRY_STATUS_NO_MEMORY, device_alloc(d, INT64_MAX, &m));
    assert_status(ctx, SPRY_STATUS_NO_MEMORY, device_alloc(d, -1, &m));
    device_memory_now(d, &used, &most, &left);
    assert_int_equal(used, 0);
    assert_true(left > 0 && left <= d->facts.memory_bytes);
    assert_ok(ctx, work(ctx, d, 2));
}

/* Blocks come again for the sizes they fit, and are counted. */
static void pool(spry_context *ctx, spry_device *d)
{
    device_memory *a = NULL, *b = NULL, *c = NULL;
    int64_t before, used, most, most_after, left;
    device_memory_now(d, &before, &most, &left);
    assert_int_equal(before, 0);
    assert_ok(ctx, device_alloc(d, 3000000, &a));
    void *place = device_address(a);
    device_memory_now(d, &used, &most, &left);
    assert_int_equal(used, 3000000);
    assert_true(most >= used);
    device_free(a);
    assert_ok(ctx, device_alloc(d, 2999999, &a));
    assert_ptr_equal(device_address(a), place);
    assert_int_equal(a->bytes, 2999999);
    assert_ok(ctx, device_alloc(d, 2999999, &b));
    assert_ptr_not_equal(device_address(b), place);
    assert_ok(ctx, device_alloc(d, 0, &c));
    device_memory_now(d, &used, &most_after, &left);
    assert_int_equal(used, 2 * 2999999);
    assert_true(most_after >= used && most_after >= most);
    device_free(a);
    device_free(b);
    device_free(c);
    /* Sizes around the steps: never less than asked for, and no class gives another's. */
    for (int64_t size = 1; size < (int64_t)1 << 22; size = size * 5 / 4 + 1) {
        for (int64_t bytes = size - 1; bytes <= size + 1; bytes++) {
            assert_ok(ctx, device_alloc(d, bytes, &a));
            assert_true(a->room >= bytes && a->room <= (bytes < 256 ? 256 : 2 * bytes));
            assert_ok(ctx, device_clear(a, 0, bytes));
            device_free(a);
        }
    }
}

/* A device that is lost says so until it is closed; opened again it works. */
static void lost(spry_context *ctx, spry_device *d)
{
    (void)ctx;
    spry_context *own = support_context(NULL);
    spry_device *again = NULL;
    assert_ok(own, device_open(own, d->facts.name, &again));
    assert_ok(own, work(own, again, 2));
    (void)device_end(again, SPRY_FAIL(own, SPRY_STATUS_DEVICE_LOST, "the cable was pulled"));
    for (int i = 0; i < 2; i++) {
        device_event *e = NULL;
        assert_status(own, SPRY_STATUS_DEVICE_LOST, work(own, again, 2));
        support_message_has(own, "the cable was pulled");
        support_message_has(own, d->facts.name);
        assert_status(own, SPRY_STATUS_DEVICE_LOST, device_finish(again));
        assert_status(own, SPRY_STATUS_DEVICE_LOST, device_event_new(again, &e));
        support_message_has(own, "close it");
    }
    device_close(again);
    assert_ok(own, device_open(own, d->facts.name, &again));
    assert_ok(own, work(own, again, 2));
    device_close(again);
    support_context_free(own);
}

static void bandwidth(spry_context *ctx, spry_device *d)
{
    double first = 0, second = 0;
    spry_bandwidth named = SPRY_BANDWIDTH_INIT;
    assert_ok(ctx, device_read_bandwidth(d, false, &first));
    assert_true(first > 1e7);
    assert_ok(ctx, device_read_bandwidth(d, false, &second));
    assert_true(first == second);
    assert_ok(ctx, spry_device_bandwidth(ctx, d->facts.name, false, &named));
    assert_true(first == named.read && named.triad == 0);
}

int main(void)
{
    static const devices_test tests[] = {
        DEVICES_TEST(pool),           DEVICES_TEST(device_failures), DEVICES_TEST(host_failures),
        DEVICES_TEST(fresh_failures), DEVICES_TEST(too_much),        DEVICES_TEST(lost),
        DEVICES_TEST(bandwidth),
    };
    return DEVICES_RUN(tests);
}
