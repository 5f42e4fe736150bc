/* Programs of likely solves: see spry_device_prepare(). */
#include "support/devices.h"
#include "support/opened.h"

typedef struct heard {
    spry_context *ctx;
    int done, all, stop_at;
} heard;

static void hear(void *data, int done, int all)
{
    heard *h = data;
    assert_true(done > h->done && done <= all);
    h->done = done;
    h->all = all;
    if (h->stop_at > 0 && done >= h->stop_at)
        spry_context_interrupt(h->ctx);
}

/* What is prepared is on disk; the second time nothing is left to do. */
static void test_prepare(spry_context *ctx, spry_device *d)
{
    cache_place place;
    int made = 0, again = -1;
    heard h = {.ctx = ctx};
    place_open(&place);
    assert_ok(ctx, spry_device_prepare(d, "s", "", hear, &h, &made));
    assert_true(made > 15);
    assert_int_equal(h.done, h.all);
    assert_true(place_count(&place) > 15 && place_count(&place) <= made);
    assert_ok(ctx, spry_device_prepare(d, "s", "", NULL, NULL, &again));
    assert_int_equal(again, 0);
    place_close(&place);
}

/* A request to stop ends it; what was compiled is kept. */
static void test_stopped(spry_context *ctx, spry_device *d)
{
    cache_place place;
    int made = 0, again = -1;
    heard h = {.ctx = ctx, .stop_at = 2};
    place_open(&place);
    assert_status(ctx, SPRY_STATUS_INTERRUPTED, spry_device_prepare(d, "s", "cg", hear, &h, &made));
    support_message_has(ctx, "were compiled and kept");
    assert_true(made >= 2 && h.done < h.all);
    h.done = 0;
    h.stop_at = 1;
    assert_status(ctx, SPRY_STATUS_INTERRUPTED,
                  spry_device_prepare(d, "s", "cg", hear, &h, &again));
    assert_int_equal(again, 0);
    place_close(&place);
}

int main(void)
{
    static const devices_test tests[] = {DEVICES_TEST(test_prepare), DEVICES_TEST(test_stopped)};
    return DEVICES_RUN(tests);
}
