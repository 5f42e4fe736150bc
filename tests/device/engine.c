/* What every engine must do: memory, copies, streams, events, programs. */
#include "support/devices.h"

#include "device/engine/engine.h"

#include <stdlib.h>
#include <string.h>

enum { GROUP = 64 };

static const char *const text =
    "SP_KERNEL triple(const int n, SP_GLOBAL int *a)\n"
    "{\n"
    "    const offset i = SP_GLOBAL_ID;\n"
    "    if (i < n)\n"
    "        a[i] = 3 * a[i];\n"
    "}\n"
    "SP_KERNEL wide(const offset big, const double real_part, SP_GLOBAL offset *out,\n"
    "               SP_GLOBAL const int *none)\n"
    "{\n"
    "    if (SP_GLOBAL_ID == 0) {\n"
    "        out[0] = big * 3;\n"
    "        out[1] = (offset)((sp_u64)big >> 3);\n"
    "        out[2] = (offset)(real_part * 4294967296.0);\n"
    "        out[3] = (offset)sizeof(offset) * 100 + (offset)sizeof(sp_u64) * 10 + "
    "(offset)sizeof(int);\n"
    "        out[4] = (offset)(none == 0);\n"
    "    }\n"
    "}\n"
    "SP_KERNEL busy(const int turns, SP_GLOBAL double *a)\n"
    "{\n"
    "    double x = a[SP_GLOBAL_ID];\n"
    "    for (int i = 0; i < turns; i++)\n"
    "        x = fma(x, 0.999, 1.0);\n"
    "    a[SP_GLOBAL_ID] = x;\n"
    "}\n";
static const char *const options = "-DSP_GROUP=64 -DSP_TYPE=1";

static device_memory *block(spry_context *ctx, spry_device *d, int64_t bytes)
{
    device_memory *m = NULL;
    assert_ok(ctx, device_alloc(d, bytes, &m));
    assert_non_null(m);
    assert_int_equal(m->bytes, bytes);
    return m;
}

static void facts(spry_context *ctx, spry_device *d)
{
    const device_facts *f = &d->facts;
    spry_device *again = NULL;
    assert_ok(ctx, device_open(ctx, f->name, &again));
    assert_ptr_equal(again, d);
    assert_true(f->description[0] && f->driver[0] && f->target[0]);
    assert_true(f->memory_bytes > 1 << 24 && f->local_bytes >= 16384 && f->units >= 1);
    assert_true(f->most_group >= 256 && f->lanes >= 1 && f->lanes <= 64 && f->has_double);
    char name[64];
    const int length = (int)strcspn(f->name, ":");
    snprintf(name, sizeof name, "%.*s", length, f->name);
    assert_ok(ctx, device_open(ctx, name, &again)); /* "opencl": the first */
    snprintf(name, sizeof name, "%.*s:999", length, f->name);
    assert_status(ctx, SPRY_STATUS_UNSUPPORTED, device_open(ctx, name, &again));
    support_message_has(ctx, "spry devices");
    name[strlen(name) - 1] = 'x';
    assert_status(ctx, SPRY_STATUS_BAD_USAGE, device_open(ctx, name, &again));
    assert_status(ctx, SPRY_STATUS_BAD_USAGE, device_open(ctx, "opencool", &again));
    support_message_has(ctx, "opencl");
    assert_null(again);
}

static void copies(spry_context *ctx, spry_device *d)
{
    enum { SIZE = 100003 };
    unsigned char *from = malloc(SIZE), *to = malloc(SIZE);
    assert_true(from && to);
    for (int i = 0; i < SIZE; i++)
        from[i] = (unsigned char)(i * 7 + i / 251);
    device_memory *a = block(ctx, d, SIZE), *b = block(ctx, d, SIZE), *none = block(ctx, d, 0);
    assert_ok(ctx, device_put(a, 0, from, SIZE));
    assert_ok(ctx, device_clear(b, 0, SIZE));
    assert_ok(ctx, device_copy(a, 11, b, 5, SIZE - 11));
    assert_ok(ctx, device_clear(b, 1001, 77)); /* odd place, odd length */
    assert_ok(ctx, device_clear(b, 2048, 4096));
    assert_ok(ctx, device_put(b, SIZE - 3, "xyz", 3));
    memset(to, 255, SIZE);
    assert_ok(ctx, device_get(b, 0, to, SIZE));
    for (int i = 0; i < SIZE; i++) {
        const bool cleared =
            i < 5 || i >= SIZE - 6 || (i >= 1001 && i < 1078) || (i >= 2048 && i < 2048 + 4096);
        const int expected = i >= SIZE - 3 ? "xyz"[i - SIZE + 3] : cleared ? 0 : from[i + 6];
        assert_int_equal(to[i], expected);
    }
    assert_ok(ctx, device_get(a, 12345, to, 10));
    assert_memory_equal(to, from + 12345, 10);
    /* Nothing to do is done; what does not fit is refused, on every side. */
    assert_ok(ctx, device_put(none, 0, from, 0));
    assert_ok(ctx, device_get(a, SIZE, to, 0));
    assert_ok(ctx, device_clear(none, 0, 0));
    assert_status(ctx, SPRY_STATUS_BAD_USAGE, device_put(a, 1, from, SIZE));
    assert_status(ctx, SPRY_STATUS_BAD_USAGE, device_get(a, -1, to, 2));
    assert_status(ctx, SPRY_STATUS_BAD_USAGE, device_get(none, 0, to, 1));
    assert_status(ctx, SPRY_STATUS_BAD_USAGE, device_copy(a, 0, b, 1, SIZE));
    assert_status(ctx, SPRY_STATUS_BAD_USAGE, device_clear(a, SIZE, 1));
    device_free(a);
    device_free(b);
    device_free(none);
    device_free(NULL);
    free(from);
    free(to);
}

static void launches(spry_context *ctx, spry_device *d)
{
    enum { COUNT = 1000 };
    int numbers[COUNT];
    const int n = COUNT;
    for (int i = 0; i < COUNT; i++)
        numbers[i] = i - 500;
    device_memory *a = block(ctx, d, sizeof numbers);
    device_program *p = NULL, *same = NULL;
    assert_ok(ctx, device_build(d, text, options, &p));
    assert_ok(ctx, device_build(d, text, options, &same));
    assert_ptr_equal(p, same);
    assert_ok(ctx, device_put(a, 0, numbers, sizeof numbers));
    const device_arg args[] = {DEVICE_VALUE(n), device_arg_memory(a)};
    const int64_t groups = (COUNT + GROUP - 1) / GROUP;
    assert_ok(ctx, device_launch(p, "triple", NULL, groups, GROUP, args, 2));
    assert_ok(ctx, device_launch(p, "triple", NULL, 0, GROUP, args, 2)); /* does nothing */
    assert_ok(ctx, device_launch(p, "triple", NULL, 1, GROUP, args, 2)); /* the first group */
    assert_ok(ctx, device_get(a, 0, numbers, sizeof numbers));
    for (int i = 0; i < COUNT; i++)
        assert_int_equal(numbers[i], (i - 500) * (i < GROUP ? 9 : 3));
    assert_status(ctx, SPRY_STATUS_UNSUPPORTED,
                  device_launch(p, "triple", NULL, (int64_t)1 << 31, GROUP, args, 2));
    assert_int_not_equal(SPRY_STATUS_OK,
                         device_launch(p, "no_such_kernel", NULL, 1, GROUP, args, 2));
    support_message_has(ctx, d->facts.name);
    device_free(a);
}

/* Numbers by value keep their 64 bits, and no memory is a null pointer. */
static void values(spry_context *ctx, spry_device *d)
{
    int64_t out[5] = {0};
    const int64_t big = -((int64_t)5 << 40) - 3;
    const double real_part = 3.25;
    device_memory *m = block(ctx, d, sizeof out);
    device_program *p = NULL;
    assert_ok(ctx, device_build(d, text, options, &p));
    const device_arg args[] = {DEVICE_VALUE(big), DEVICE_VALUE(real_part), device_arg_memory(m),
                               (device_arg){NULL, NULL, 0}};
    assert_ok(ctx, device_launch(p, "wide", NULL, 1, GROUP, args, 4));
    assert_ok(ctx, device_get(m, 0, out, sizeof out));
    assert_int_equal(out[0], big * 3);
    assert_int_equal(out[1], (int64_t)((uint64_t)big >> 3));
    assert_int_equal(out[2], (int64_t)13 << 30);
    assert_int_equal(out[3], 884);
    assert_int_equal(out[4], 1);
    device_free(m);
}

static void complaints(spry_context *ctx, spry_device *d)
{
    device_program *p = NULL;
    assert_int_not_equal(SPRY_STATUS_OK, device_build(d,
                                                      "SP_KERNEL bad(SP_GLOBAL int *a)\n"
                                                      "{\n"
                                                      "    a[0] = undeclared_thing;\n"
                                                      "}\n",
                                                      options, &p));
    assert_null(p);
    support_message_has(ctx, "undeclared_thing"); /* the compiler's own words */
    support_message_has(ctx, d->facts.name);
    assert_ok(ctx, device_build(d, text, options, &p)); /* nothing is spoiled */
}

/* Copies on two streams in parallel with work on the device's own; events order and time them. */
static void streams(spry_context *ctx, spry_device *d)
{
    enum { NUMBERS = 1 << 16, BYTES = NUMBERS * 8 };
    const int turns = 200;
    double *pinned = NULL, *back = NULL, seconds = -1;
    device_stream *in = NULL, *out = NULL;
    device_event *begin = NULL, *end = NULL;
    device_program *p = NULL;
    assert_ok(ctx, device_build(d, text, options, &p));
    assert_ok(ctx, device_stream_new(d, &in));
    assert_ok(ctx, device_stream_new(d, &out));
    assert_ok(ctx, device_event_new(d, &begin));
    assert_ok(ctx, device_event_new(d, &end));
    assert_ok(ctx, device_pinned_alloc(d, BYTES, (void **)&pinned));
    assert_ok(ctx, device_pinned_alloc(d, BYTES, (void **)&back));
    device_memory *m = block(ctx, d, BYTES);
    for (int round = 0; round < 3; round++) {
        for (int i = 0; i < NUMBERS; i++)
            pinned[i] = i + round;
        const device_arg args[] = {DEVICE_VALUE(turns), device_arg_memory(m)};
        assert_ok(ctx, device_put_on(in, m, 0, pinned, BYTES));
        assert_ok(ctx, device_stream_wait(d->stream, in));
        assert_ok(ctx, device_event_record(begin, NULL));
        assert_ok(ctx, device_launch(p, "busy", NULL, NUMBERS / GROUP, GROUP, args, 2));
        assert_ok(ctx, device_event_record(end, NULL));
        assert_ok(ctx, device_stream_wait(out, d->stream));
        assert_ok(ctx, device_get_on(out, m, 0, back, BYTES));
        assert_ok(ctx, device_stream_finish(out));
        for (int i = 0; i < NUMBERS; i += 997) {
            double x = i + round;
            for (int k = 0; k < turns; k++)
                x = __builtin_fma(x, 0.999, 1.0);
            assert_true(back[i] == x);
        }
        assert_ok(ctx, device_event_seconds(begin, end, &seconds));
        assert_true(seconds > 0 && seconds < 60);
    }
    assert_ok(ctx, device_finish(d));
    device_free(m);
    device_pinned_free(d, pinned);
    device_pinned_free(d, back);
    device_event_free(begin);
    device_event_free(end);
    device_stream_free(in);
    device_stream_free(out);
}

/* A stream of the caller's takes the place of the device's own, and work keeps its order. */
static void foreign_stream(spry_context *ctx, spry_device *d)
{
    enum { COUNT = 640 };
    const int n = COUNT;
    int numbers[COUNT];
    device_stream *own = NULL;
    device_program *p = NULL;
    device_memory *m = block(ctx, d, sizeof numbers);
    assert_ok(ctx, device_build(d, text, options, &p));
    assert_ok(ctx, device_stream_new(d, &own));
    for (int i = 0; i < COUNT; i++)
        numbers[i] = i;
    assert_ok(ctx, device_put(m, 0, numbers, sizeof numbers));
    const device_arg args[] = {DEVICE_VALUE(n), device_arg_memory(m)};
    void *handle = own->handle; /* as a caller has one */
    for (int i = 0; i < 4; i++) {
        assert_ok(ctx, device_use_stream(d, i % 2 ? NULL : handle));
        assert_ok(ctx, device_launch(p, "triple", NULL, COUNT / GROUP, GROUP, args, 2));
    }
    assert_ok(ctx, device_use_stream(d, handle));
    assert_ok(ctx, device_use_stream(d, handle));
    assert_ok(ctx, device_get(m, 0, numbers, sizeof numbers));
    assert_ok(ctx, device_use_stream(d, NULL));
    for (int i = 0; i < COUNT; i++)
        assert_int_equal(numbers[i], i * 81);
    device_stream_free(own);
    device_free(m);
}

int main(void)
{
    static const devices_test tests[] = {
        DEVICES_TEST(facts),      DEVICES_TEST(copies),  DEVICES_TEST(launches),
        DEVICES_TEST(values),     DEVICES_TEST(streams), DEVICES_TEST(foreign_stream),
        DEVICES_TEST(complaints),
    };
    return DEVICES_RUN(tests);
}
