/* Programs compiled before they are asked for, with a fake device (tests/fakes/cuda.c). */
#include "support/opened.h"

#include "device/engine/precompile.h"
#include "device/engine/program_list.h"

#include <spry/generate.h>

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

static void precompile(opened *s, int count)
{
    char options[32];
    for (int k = 0; k < count; k++) {
        option(k, options);
        device_precompile(s->d, text, options);
    }
}

/* What was precompiled is not compiled by the caller; it is one program, in memory and on disk. */
static void test_taken(void **state)
{
    enum { MANY = 40 };
    opened s;
    char options[32];
    device_program *p = NULL, *again = NULL;
    (void)state;
    opened_open(&s, "cuda");
    precompile(&s, MANY);
    precompile(&s, MANY); /* once is enough */
    precompile_finish(s.d);
    for (int k = MANY - 1; k >= 0; k--) {
        option(k, options);
        assert_ok(s.ctx, device_build(s.d, text, options, &p));
        assert_ok(s.ctx, device_build(s.d, text, options, &again));
        assert_ptr_equal(p, again);
        assert_ok(s.ctx, device_launch(p, "triple", NULL, 1, 64, NULL, 0));
    }
    assert_int_equal(s.d->cache->compiled, MANY);
    assert_int_equal(s.d->cache->precompiled, MANY);
    assert_int_equal(place_count(&fake.place), MANY);
    assert_ok(s.ctx, device_build(s.d, text, "-DOTHER", &p));
    assert_int_equal(s.d->cache->precompiled, MANY);
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
    precompile(&s, MANY);
    for (int k = 0; k < MANY; k++) {
        option(k, options);
        assert_ok(s.ctx, device_build(s.d, text, options, &p));
    }
    assert_int_equal(s.d->cache->compiled, MANY);
    opened_close(&s);
}

/* What was compiled unasked is on disk for the next one, who compiles nothing then. */
static void test_kept(void **state)
{
    opened s;
    device_program *p = NULL;
    (void)state;
    opened_open(&s, "cuda");
    precompile(&s, 3);
    precompile_finish(s.d);
    assert_int_equal(place_count(&fake.place), 0);
    opened_close(&s);
    assert_int_equal(place_count(&fake.place), 3);
    opened_open(&s, "cuda");
    precompile(&s, 3);
    assert_null(s.d->cache->queue);
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
        precompile(&s, 200);
        opened_close(&s);
    }
}

/* A failure is reported to who asks, as if nothing was precompiled; the last message stays. */
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
    device_precompile(s.d, "#error\n", "-DX=1");
    precompile_finish(s.d);
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
    precompile(&s, 2);
    precompile_finish(s.d);
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
    precompile(&s, 50);
    const pid_t child = fork();
    if (child == 0) {
        device_program *p = NULL;
        bool fine = device_build(s.d, text, "-DNUMBER=49", &p) == SPRY_STATUS_OK;
        device_precompile(s.d, text, "-DNUMBER=51");
        spry_context_free(s.ctx);
        _exit(fine ? 0 : 1);
    }
    assert_int_equal(waitpid(child, &how, 0), child);
    assert_true(WIFEXITED(how) && WEXITSTATUS(how) == 0);
    opened_close(&s);
}

/* Wherever memory is short, precompiling costs nothing but what it would have saved. */
static void test_torture(void **state)
{
    (void)state;
    for (int64_t nth = 1, last = 0; nth < last + 40; nth++) {
        opened s;
        device_program *p = NULL;
        char options[32];
        opened_open(&s, "cuda");
        option((int)nth, options);
        base_fail_allocation(s.ctx, nth, false);
        device_precompile(s.d, text, options);
        const spry_status status = device_build(s.d, text, options, &p);
        base_fail_allocation(s.ctx, 0, false);
        last = status != SPRY_STATUS_OK ? nth : last;
        assert_true(status == SPRY_STATUS_OK || status == SPRY_STATUS_NO_MEMORY);
        assert_ok(s.ctx, device_build(s.d, text, options, &p));
        opened_close(&s);
    }
}

/* --- the list of programs ------------------------------------------------------------------------
 */

/* Builds a text of the caller's and one of the library's, and closes the device. */
static void build_two(void)
{
    opened s;
    device_program *p = NULL;
    opened_open(&s, "cuda");
    assert_ok(s.ctx, device_build(s.d, text, "-DNUMBER=1", &p));
    assert_ok(s.ctx, device_build_text(s.d, "sums", "-DSP_TYPE=1 -DSP_GROUP=256", &p));
    opened_close(&s);
}

/* How many of the two are precompiled in a run that has another stamp. */
static int64_t prefetched(void)
{
    opened s;
    device_program *p = NULL;
    set_variable("SPRY_DEVICE_DEBUG", "1");
    opened_open(&s, "cuda");
    device_prefetch(s.d, "none", SPRY_TYPE_D);
    device_prefetch(s.d, "none", SPRY_TYPE_D); /* once is enough */
    precompile_finish(s.d);
    assert_ok(s.ctx, device_build(s.d, text, "-DNUMBER=1", &p));
    assert_ok(s.ctx, device_build_text(s.d, "sums", "-DSP_TYPE=1 -DSP_GROUP=256", &p));
    const int64_t count = s.d->cache->precompiled;
    opened_close(&s);
    set_variable("SPRY_DEVICE_DEBUG", NULL);
    return count;
}

static void test_list(void **state)
{
    opened s;
    (void)state;
    build_two();
    opened_open(&s, "cuda");
    device_prefetch(s.d, "none", SPRY_TYPE_D);
    assert_null(s.d->cache->queue); /* all are on disk */
    opened_close(&s);
    assert_int_equal(prefetched(), 2);
}

static void write_list(const char *path, const char *all, size_t length)
{
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(all, 1, length, file), length);
    fclose(file);
}

/* Cut short anywhere, or with another byte anywhere, it is read as far as it is whole. */
static void test_damaged_list(void **state)
{
    char path[256], whole[1024], changed[1024];
    (void)state;
    build_two();
    const size_t length = place_list(path, whole, sizeof whole);
    assert_true(length > 100 && length < sizeof whole);
    for (size_t at = 0; at <= length; at += 3) {
        write_list(path, whole, at);
        const int64_t after_cut = prefetched();
        assert_true(at < length ? after_cut < 2 : after_cut == 2);
        place_close(&fake.place);
        place_open(&fake.place);
        build_two();
        assert_int_equal(place_list(path, changed, sizeof changed), length);
        changed[at % length] ^= (char)(at % 7 + 1);
        write_list(path, changed, length);
        assert_true(prefetched() <= 2);
        place_close(&fake.place);
        place_open(&fake.place);
        build_two();
        (void)place_list(path, changed, sizeof changed);
    }
}

/* It has the latest, so many at most, each once. */
static void test_long_list(void **state)
{
    static char all[1 << 16];
    opened s;
    device_program *p = NULL;
    char path[256], options[32];
    (void)state;
    for (int run = 0; run < 2; run++) {
        opened_open(&s, "cuda");
        for (int k = 0; k < 200; k++) {
            option(150 * run + k, options);
            assert_ok(s.ctx, device_build(s.d, text, options, &p));
        }
        opened_close(&s);
    }
    all[place_list(path, all, sizeof all - 1)] = '\0';
    int count = 0;
    for (const char *at = all; (at = strstr(at, "\ntext ")); at++)
        count++;
    assert_int_equal(count, PROGRAM_LIST_MOST);
    assert_non_null(strstr(all, "-DNUMBER=349\n"));
    assert_non_null(strstr(all, "-DNUMBER=0\n"));
    assert_null(strstr(all, "-DNUMBER=199\n"));
}

/* What is asked for is checked first; without a compiler the first solve says so. */
static void test_prepare_refused(void **state)
{
    opened s;
    int made = -1;
    (void)state;
    opened_open(&s, "cuda");
    assert_status(s.ctx, SPRY_STATUS_BAD_USAGE,
                  spry_device_prepare(s.d, "d,q", "", NULL, NULL, NULL));
    support_message_has(s.ctx, "s d c z");
    assert_int_not_equal(spry_device_prepare(s.d, "d", "no-method", NULL, NULL, &made),
                         SPRY_STATUS_OK);
    support_message_has(s.ctx, "no-method");
    assert_int_equal(made, 0);
    set_variable("SPRY_NVRTC_LIBRARY", "/nowhere/libnvrtc.so");
    assert_status(s.ctx, SPRY_STATUS_UNSUPPORTED,
                  spry_device_prepare(s.d, "d", "cg", NULL, NULL, &made));
    support_message_has(s.ctx, "NVRTC");
    assert_int_equal(made, 0);
    opened_close(&s);
}

/* --- solves --------------------------------------------------------------------------------------
 */

/* A first set-up has the programs of its method compiled, in several parts, along with those that
 * all solves take, which are three; nothing has run yet. */
static void test_set_up(void **state)
{
    opened s;
    spry_matrix *A = NULL;
    spry_solver *solver = NULL;
    char *explained = NULL;
    (void)state;
    opened_open(&s, "cuda");
    assert_ok(s.ctx, spry_generate(s.ctx, "poisson2d", "size=20", &A));
    assert_ok(s.ctx, spry_solver_new(s.ctx, &solver));
    assert_ok(s.ctx, spry_solver_set(solver, "device=cuda:0,method=cg,precon=ic,format=csr"));
    assert_ok(s.ctx, spry_solver_set_matrix(solver, A));
    assert_ok(s.ctx, spry_solver_explain(solver, &explained));
    precompile_finish(s.d);
    spry_free(s.ctx, explained);
    spry_solver_free(solver);
    spry_matrix_free(A);
    opened_close(&s);
    assert_true(place_count(&fake.place) >= 3 + 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FAKE_TEST(test_taken, &fake),
        FAKE_TEST(test_at_once, &fake),
        FAKE_TEST(test_kept, &fake),
        FAKE_TEST(test_closed, &fake),
        FAKE_TEST(test_failure, &fake),
        FAKE_TEST(test_no_compiler, &fake),
        FAKE_TEST(test_fork, &fake),
        FAKE_TEST(test_torture, &fake),
        FAKE_TEST(test_list, &fake),
        FAKE_TEST(test_damaged_list, &fake),
        FAKE_TEST(test_long_list, &fake),
        FAKE_TEST(test_set_up, &fake),
        FAKE_TEST(test_prepare_refused, &fake),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
