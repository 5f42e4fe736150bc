/* Programs on devices: options, the cache on disk, recordings, launches of all groups at once. */
#include "support/devices.h"
#include "support/opened.h"

#include "device/engine/engine.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { GROUP = 64 };

static const char text[] = "#ifndef STEP\n"
                           "#define STEP 1\n"
                           "#endif\n"
                           "SP_KERNEL forward(SP_GLOBAL int *a)\n"
                           "{\n"
                           "    a[SP_GLOBAL_ID] += STEP;\n"
                           "}\n"
                           "SP_KERNEL multiply(SP_GLOBAL int *a, const int by)\n"
                           "{\n"
                           "    a[SP_GLOBAL_ID] *= by;\n"
                           "}\n";

/* The program's numbers after one step from 5. */
static int stepped(spry_device *d, device_program *p)
{
    int numbers[GROUP];
    device_memory *m = NULL;
    for (int i = 0; i < GROUP; i++)
        numbers[i] = 5;
    assert_ok(d->ctx, device_alloc(d, sizeof numbers, &m));
    const device_arg args[] = {device_arg_memory(m)};
    assert_ok(d->ctx, device_put(m, 0, numbers, sizeof numbers));
    assert_ok(d->ctx, device_launch(p, "forward", NULL, 1, GROUP, args, 1));
    assert_ok(d->ctx, device_get(m, 0, numbers, sizeof numbers));
    for (int i = 1; i < GROUP; i++)
        assert_int_equal(numbers[i], numbers[0]);
    device_free(m);
    return numbers[0];
}

/* Builds on a device that knows nothing yet. */
static int build(const char *name, const char *options, bool from_disk)
{
    opened s;
    device_program *p = NULL, *same = NULL;
    opened_open(&s, name);
    assert_ok(s.ctx, device_build(s.d, text, options, &p));
    assert_ok(s.ctx, device_build(s.d, text, options, &same));
    assert_ptr_equal(p, same);
    assert_int_equal(s.d->cache->compiled, !from_disk);
    assert_int_equal(s.d->cache->loaded, from_disk);
    const int number = stepped(s.d, p);
    opened_close(&s);
    return number;
}

static void disk(spry_context *ctx, spry_device *d)
{
    cache_place place;
    char path[256], bytes[4096];
    const char *name = d->facts.name;
    const char *before = getenv("SPRY_CACHE");
    char *old = before ? strdup(before) : NULL;
    (void)ctx;
    place_open(&place);
    assert_int_equal(build(name, "-DSP_GROUP=64", false), 6);
    assert_int_equal(build(name, "-DSP_GROUP=64", true), 6);
    place_program(&place, path);
    assert_int_equal(build(name, "-DSP_GROUP=64 -DSTEP=10", false), 15);
    assert_int_equal(build(name, "-DSP_GROUP=64 -DSTEP=10", true), 15);
    /* Damage in the midst of the code. */
    FILE *file = fopen(path, "r+b");
    assert_non_null(file);
    assert_int_equal(fread(bytes, 1, 300, file), 300);
    bytes[299] = (char)(bytes[299] ^ 16);
    rewind(file);
    assert_int_equal(fwrite(bytes, 1, 300, file), 300);
    fclose(file);
    assert_int_equal(build(name, "-DSP_GROUP=64", false), 6);
    assert_int_equal(build(name, "-DSP_GROUP=64", true), 6);
    set_variable("SPRY_CACHE", "/dev/null/below");
    assert_int_equal(build(name, "-DSP_GROUP=64", false), 6);
    place_close(&place);
    set_variable("SPRY_CACHE", old);
    free(old);
}

/* --- recordings ----------------------------------------------------------------------------------
 */

static void recording(spry_context *ctx, spry_device *d)
{
    int numbers[GROUP] = {0};
    const int by = 3;
    device_memory *a = NULL, *b = NULL;
    device_program *p = NULL;
    device_graph *g = NULL;
    if (!d->facts.has_graphs) {
        assert_int_not_equal(device_record_begin(d), SPRY_STATUS_OK);
        return;
    }
    assert_ok(ctx, device_build(d, text, "-DSP_GROUP=64", &p));
    assert_ok(ctx, device_alloc(d, sizeof numbers, &a));
    assert_ok(ctx, device_alloc(d, sizeof numbers, &b));
    const device_arg args[] = {device_arg_memory(a), DEVICE_VALUE(by)};
    assert_ok(ctx, device_put(a, 0, numbers, sizeof numbers));
    assert_ok(ctx, device_record_begin(d));
    assert_ok(ctx, device_launch(p, "forward", NULL, 1, GROUP, args, 1));
    assert_ok(ctx, device_launch(p, "multiply", NULL, 1, GROUP, args, 2));
    assert_ok(ctx, device_clear(b, 0, sizeof numbers));
    assert_ok(ctx, device_copy(a, 0, b, 4, sizeof numbers - 4));
    assert_ok(ctx, device_record_end(d, &g));
    assert_ok(ctx, device_get(a, 0, numbers, sizeof numbers));
    assert_int_equal(numbers[7], 0); /* nothing was done yet */
    for (int i = 0; i < 5; i++)
        assert_ok(ctx, device_play(g));
    assert_ok(ctx, device_get(b, 0, numbers, sizeof numbers));
    assert_int_equal(numbers[0], 0);
    assert_int_equal(numbers[7], 363); /* x = 3 (x + 1), five times from 0 */
    device_graph_free(g);
    /* A recording that failed can be ended, and the device goes on. */
    assert_ok(ctx, device_record_begin(d));
    device_fail_next(d, WORK_LAUNCH, 1);
    assert_int_not_equal(device_launch(p, "forward", NULL, 1, GROUP, args, 1), SPRY_STATUS_OK);
    assert_ok(ctx, device_record_end(d, &g));
    device_graph_free(g);
    assert_ok(ctx, device_launch(p, "forward", NULL, 1, GROUP, args, 1));
    assert_ok(ctx, device_get(a, 0, numbers, sizeof numbers));
    assert_int_equal(numbers[7], 364);
    device_free(a);
    device_free(b);
}

/* --- all groups at once --------------------------------------------------------------------------
 */

/* Groups wait for each other at tickets, and each then reads what its neighbour wrote. */
static const char meeting[] =
    "SP_KERNEL meet(SP_GLOBAL int *ticket, SP_GLOBAL volatile int *a, const int rounds)\n"
    "{\n"
    "    for (int k = 0; k < rounds; k++) {\n"
    "        if (SP_LOCAL_ID == 0) {\n"
    "            a[SP_GROUP_ID] = a[SP_GROUP_ID] + 1;\n"
    "            SP_FENCE();\n"
    "            SP_ATOMIC_NEXT(ticket);\n"
    "            while (*(SP_GLOBAL volatile int *)ticket < (2 * k + 1) * SP_GROUPS)\n"
    "                ;\n"
    "            SP_FENCE();\n"
    "            const int next = a[(SP_GROUP_ID + 1) % SP_GROUPS];\n"
    "            SP_ATOMIC_NEXT(ticket);\n"
    "            while (*(SP_GLOBAL volatile int *)ticket < (2 * k + 2) * SP_GROUPS)\n"
    "                ;\n"
    "            SP_FENCE();\n"
    "            if (next != k + 1)\n"
    "                a[SP_GROUP_ID] = -1000;\n"
    "        }\n"
    "        SP_BARRIER();\n"
    "    }\n"
    "}\n";

static void whole(spry_context *ctx, spry_device *d)
{
    enum { ROUNDS = 50 };
    const int rounds = ROUNDS;
    device_memory *ticket = NULL, *a = NULL;
    device_program *p = NULL;
    assert_ok(ctx, device_build(d, meeting, "-DSP_GROUP=64", &p));
    const int64_t groups = device_whole_groups(p, "meet", GROUP);
    if (!d->facts.has_cooperation) {
        assert_int_equal(groups, 0);
        assert_status(ctx, SPRY_STATUS_UNSUPPORTED,
                      device_launch_whole(p, "meet", 1, GROUP, NULL, 0));
        return;
    }
    assert_true(groups >= d->facts.units);
    int *found = calloc((size_t)groups, sizeof *found);
    assert_non_null(found);
    assert_ok(ctx, device_alloc(d, 4, &ticket));
    assert_ok(ctx, device_alloc(d, groups * 4, &a));
    assert_ok(ctx, device_clear(ticket, 0, 4));
    assert_ok(ctx, device_clear(a, 0, groups * 4));
    const device_arg args[] = {device_arg_memory(ticket), device_arg_memory(a),
                               DEVICE_VALUE(rounds)};
    assert_ok(ctx, device_launch_whole(p, "meet", groups, GROUP, args, 3));
    assert_ok(ctx, device_get(a, 0, found, groups * 4));
    for (int64_t i = 0; i < groups; i++)
        assert_int_equal(found[i], ROUNDS);
    assert_status(ctx, SPRY_STATUS_UNSUPPORTED,
                  device_launch_whole(p, "meet", groups + 1, GROUP, args, 3));
    support_message_has(ctx, "are to run at once");
    assert_false(d->lost);
    free(found);
    device_free(ticket);
    device_free(a);
}

int main(void)
{
    static const devices_test tests[] = {DEVICES_TEST(disk), DEVICES_TEST(recording),
                                         DEVICES_TEST(whole)};
    return DEVICES_RUN(tests);
}
