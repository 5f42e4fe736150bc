/* Programs compiled before they are asked for, with a fake device (tests/fakes/cuda.c). */
#include "support/opened.h"

#include "device/engine/ahead.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static const char text[] = FAKE_TEXT;

static fake_engine fake = FAKE_CUDA_ENGINE;

static void option(int k, char options[32])
{
    snprintf(options, 32, "-DNUMBER=%d", k);
}

static void foresee(opened *s, int count)
{
    char options[32];
    for (int k = 0; k < count; k++) {
        option(k, options);
        assert_ok(s->ctx, device_build(s->d, text, options, NULL));
    }
}

/* What was foreseen is not compiled by the caller; it is one program, in memory and on disk. */
static void test_taken(void **state)
{
    enum { MANY = 40 };
    opened s;
    char options[32];
    device_program *p = NULL, *again = NULL;
    (void)state;
    opened_open(&s, "cuda");
    foresee(&s, MANY);
    foresee(&s, MANY); /* once is enough */
    ahead_finish(s.d);
    for (int k = MANY - 1; k >= 0; k--) {
        option(k, options);
        assert_ok(s.ctx, device_build(s.d, text, options, &p));
        assert_ok(s.ctx, device_build(s.d, text, options, &again));
        assert_ptr_equal(p, again);
        assert_ok(s.ctx, device_launch(p, "triple", NULL, 1, 64, NULL, 0));
    }
    assert_int_equal(s.d->cache->compiled, MANY);
    assert_int_equal(s.d->cache->unforeseen, 0);
    assert_int_equal(place_count(&fake.place), MANY);
    assert_ok(s.ctx, device_build(s.d, text, "-DOTHER", &p));
    assert_int_equal(s.d->cache->unforeseen, 1);
    assert_int_equal(s.warnings + s.infos, 0);
    opened_close(&s);
}

/* Asked for at once, when some are waiting, some at work and some are done. */
static void test_at_once(void **state)
{
    enum { MANY = 100 };
    opened s;
    char options[32];
    device_program *p = NULL;
    (void)state;
    opened_open(&s, "cuda");
    foresee(&s, MANY);
    for (int k = 0; k < MANY; k++) {
        option(k, options);
        assert_ok(s.ctx, device_build(s.d, text, options, &p));
    }
    assert_int_equal(s.d->cache->compiled, MANY);
    assert_int_equal(s.d->cache->unforeseen, 0);
    opened_close(&s);
}

/* What nobody asked for is on disk for the next one, who compiles nothing then. */
static void test_kept(void **state)
{
    opened s;
    device_program *p = NULL;
    (void)state;
    opened_open(&s, "cuda");
    foresee(&s, 3);
    ahead_finish(s.d);
    assert_int_equal(place_count(&fake.place), 0);
    opened_close(&s);
    assert_int_equal(place_count(&fake.place), 3);
    opened_open(&s, "cuda");
    foresee(&s, 3);
    assert_null(s.d->cache->ahead);
    assert_ok(s.ctx, device_build(s.d, text, "-DNUMBER=1", &p));
    assert_int_equal(s.d->cache->loaded, 1);
    assert_int_equal(s.d->cache->compiled, 0);
    opened_close(&s);
}

/* A device that is closed while there is much to do waits for what was begun alone. */
static void test_closed(void **state)
{
    (void)state;
    for (int round = 0; round < 20; round++) {
        opened s;
        opened_open(&s, "cuda");
        foresee(&s, 200);
        opened_close(&s);
    }
}

/* A failure is told to who asks, as if nobody had foreseen it; the message before it stands. */
static void test_failure(void **state)
{
    opened s;
    char plain[1024];
    device_program *p = NULL;
    (void)state;
    opened_open(&s, "cuda");
    assert_status(s.ctx, SPRY_STATUS_DEVICE, device_build(s.d, "#error\n", "-DX=1", &p));
    snprintf(plain, sizeof plain, "%s", spry_message(s.ctx));
    spry_context_set_message(s.ctx, "before");
    assert_ok(s.ctx, device_build(s.d, "#error\n", "-DX=1", NULL));
    ahead_finish(s.d);
    assert_string_equal(spry_message(s.ctx), "before");
    assert_status(s.ctx, SPRY_STATUS_DEVICE, device_build(s.d, "#error\n", "-DX=1", &p));
    assert_string_equal(spry_message(s.ctx), plain);
    assert_null(p);
    assert_true(s.d->cache->refused);
    opened_close(&s);
}

static void test_no_compiler(void **state)
{
    opened s;
    device_program *p = NULL;
    (void)state;
    opened_open(&s, "cuda");
    set_variable("SPRY_NVRTC_LIBRARY", "/nowhere/libnvrtc.so");
    foresee(&s, 2);
    ahead_finish(s.d);
    assert_status(s.ctx, SPRY_STATUS_UNSUPPORTED, device_build(s.d, text, "-DNUMBER=1", &p));
    support_message_has(s.ctx, "cuda:0");
    support_message_has(s.ctx, "NVRTC");
    set_variable("SPRY_NVRTC_LIBRARY", FAKE_CUDA);
    assert_ok(s.ctx, device_build(s.d, text, "-DNUMBER=1", &p));
    opened_close(&s);
}

/* A child of a fork has none of the threads: it compiles by itself, and can end. */
static void test_fork(void **state)
{
    opened s;
    int how = 0;
    (void)state;
    opened_open(&s, "cuda");
    foresee(&s, 50);
    const pid_t child = fork();
    if (child == 0) {
        device_program *p = NULL;
        bool fine = device_build(s.d, text, "-DNUMBER=49", &p) == SPRY_STATUS_OK;
        (void)device_build(s.d, text, "-DNUMBER=51", NULL);
        spry_context_free(s.ctx);
        _exit(fine ? 0 : 1);
    }
    assert_int_equal(waitpid(child, &how, 0), child);
    assert_true(WIFEXITED(how) && WEXITSTATUS(how) == 0);
    opened_close(&s);
}

/* Wherever memory is short, foreseeing costs nothing but what it would have saved. */
static void test_torture(void **state)
{
    (void)state;
    for (int64_t nth = 1, last = 0; nth < last + 40; nth++) {
        opened s;
        device_program *p = NULL;
        char options[32];
        opened_open(&s, "cuda");
        option((int)nth, options);
        spry_context_fail_allocation(s.ctx, nth, false);
        assert_int_equal(device_build(s.d, text, options, NULL), SPRY_STATUS_OK);
        const spry_status status = device_build(s.d, text, options, &p);
        spry_context_fail_allocation(s.ctx, 0, false);
        last = status != SPRY_STATUS_OK ? nth : last;
        assert_true(status == SPRY_STATUS_OK || status == SPRY_STATUS_NO_MEMORY);
        assert_ok(s.ctx, device_build(s.d, text, options, &p));
        opened_close(&s);
    }
}

typedef struct heard {
    spry_context *ctx;
    int calls, done, all, stop_at;
} heard;

static void hear(void *data, int done, int all)
{
    heard *h = data;
    h->calls++;
    assert_true(done >= h->done && done <= all);
    h->done = done;
    h->all = all;
    if (h->stop_at > 0 && done >= h->stop_at)
        spry_context_interrupt(h->ctx);
}

/* What is prepared is on disk; the second time nothing is left to do. */
static void test_prepare(void **state)
{
    opened s;
    int made = 0, again = -1;
    (void)state;
    opened_open(&s, "cuda");
    heard h = {.ctx = s.ctx};
    assert_ok(s.ctx, spry_device_prepare(s.d, "d", "cg", hear, &h, &made));
    assert_true(made > 60);
    assert_int_equal(h.done, made);
    assert_int_equal(h.all, made);
    assert_true(place_count(&fake.place) >= made);
    opened_close(&s);
    opened_open(&s, "cuda");
    assert_ok(s.ctx, spry_device_prepare(s.d, "d", "cg", NULL, NULL, &again));
    assert_int_equal(again, 0);
    assert_status(s.ctx, SPRY_STATUS_BAD_USAGE,
                  spry_device_prepare(s.d, "d,q", "", NULL, NULL, NULL));
    support_message_has(s.ctx, "s d c z");
    assert_int_not_equal(spry_device_prepare(s.d, "d", "no-method", NULL, NULL, &again),
                         SPRY_STATUS_OK);
    support_message_has(s.ctx, "no-method");
    opened_close(&s);
}

static void test_prepare_stopped(void **state)
{
    opened s;
    int made = 0;
    (void)state;
    opened_open(&s, "cuda");
    heard h = {.ctx = s.ctx, .stop_at = 3};
    assert_status(s.ctx, SPRY_STATUS_INTERRUPTED,
                  spry_device_prepare(s.d, "s", "", hear, &h, &made));
    support_message_has(s.ctx, "were compiled and kept");
    assert_int_equal(made, h.done);
    assert_true(made >= 3 && place_count(&fake.place) >= 3);
    opened_close(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FAKE_TEST(test_taken, &fake),   FAKE_TEST(test_at_once, &fake),
        FAKE_TEST(test_kept, &fake),    FAKE_TEST(test_closed, &fake),
        FAKE_TEST(test_failure, &fake), FAKE_TEST(test_no_compiler, &fake),
        FAKE_TEST(test_fork, &fake),    FAKE_TEST(test_torture, &fake),
        FAKE_TEST(test_prepare, &fake), FAKE_TEST(test_prepare_stopped, &fake),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
