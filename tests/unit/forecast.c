/* Whether a solve pays on a device, by what the machine has shown; with a fake device. */
#include "support/generated.h"
#include "support/opened.h"

#include "device/engine/forecast.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static fake_engine fake = FAKE_CUDA_ENGINE;

static device_work_load load(double bytes, double products)
{
    return (device_work_load){.bytes = bytes, .products = products, .compiled = true};
}

/* The parts add up; what is there already costs nothing; large work pays, small work does not. */
static void test_model(void **state)
{
    const device_pace pace = {.start = 0.4, .read = 1e12, .bus = 1e10};
    device_work_load l = load(1e8, 100);
    (void)state;
    const device_forecast f = device_forecast_make(&pace, &l, 1e10);
    assert_true(f.start == 0.4 && f.compile == 0 && f.bus == 1e8 / 1e10);
    assert_true(f.host == 100 * 1e8 / 1e10);
    assert_true(f.work >= 100 * 1e8 / 1e12 && f.work < 2 * 100 * 1e8 / 1e12);
    assert_true(f.all == f.start + f.compile + f.bus + f.work && f.all < f.host);
    l.compiled = false;
    assert_true(device_forecast_make(&pace, &l, 1e10).all > f.all);
    l.compiled = l.open = true;
    assert_true(device_forecast_make(&pace, &l, 1e10).start == 0);
    l = load(1e5, 100);
    const device_forecast small = device_forecast_make(&pace, &l, 1e10);
    assert_true(small.all > small.host);
}

/* What a device has shown is there for the next forecast; a file that is not whole is not. */
static void test_remembered(void **state)
{
    opened s;
    char command[256];
    const device_pace usual = device_pace_recall("cuda");
    (void)state;
    opened_open(&s, "cuda");
    s.d->opening = 7.25;
    s.d->read_bandwidth = 123456789;
    s.d->bus_rate = 987654321;
    opened_close(&s);
    device_pace p = device_pace_recall("cuda");
    assert_true(p.start == 7.25 && p.read == 123456789 && p.bus == 987654321);
    opened_open(&s, "cuda"); /* who shows nothing new leaves it as it is */
    s.d->opening = 0;
    opened_close(&s);
    p = device_pace_recall("cuda");
    assert_true(p.start == 7.25 && p.read == 123456789);
    assert_true(device_pace_recall("opencl").start == usual.start);
    snprintf(command, sizeof command, "for f in '%s'/pace-*; do echo more >> \"$f\"; done",
             fake.place.folder);
    assert_int_equal(system(command), 0);
    assert_true(device_pace_recall("cuda").start == usual.start);
}

static void test_compiled(void **state)
{
    opened s;
    char options[32];
    device_program *p = NULL;
    (void)state;
    assert_false(device_forecast_compiled());
    opened_open(&s, "cuda");
    for (int k = 0; k < 24; k++) {
        snprintf(options, sizeof options, "-DK=%d", k);
        assert_ok(s.ctx, device_build(s.d, FAKE_TEXT, options, &p));
    }
    opened_close(&s);
    assert_true(device_forecast_compiled());
    set_variable("SPRY_CACHE", "");
    assert_false(device_forecast_compiled());
}

/* Remembers a machine whose device is so fast, or so slow, that there is no question. */
static void set_pace(double start, double rate)
{
    opened s;
    opened_open(&s, "cuda");
    s.d->opening = start;
    s.d->read_bandwidth = s.d->bus_rate = rate;
    opened_close(&s);
}

typedef struct heard {
    bool taken, left;
} heard;

static void hear(void *data, spry_log_level level, const char *text)
{
    heard *h = data;
    if (strstr(text, "device auto") && strstr(text, "not taken"))
        h->left = level == SPRY_LOG_DEBUG;
    else if (strstr(text, "device auto") && strstr(text, "taken"))
        h->taken = level == SPRY_LOG_INFO;
}

/* Solves, although a fake device computes nothing, and reports what was heard of the choice. */
static heard choose(const char *precon)
{
    spry_context *ctx = support_context("log=debug");
    spry_vector *b = NULL, *x = NULL;
    char options[96];
    heard h = {0};
    spry_context_set_log(ctx, hear, &h);
    spry_matrix *A = generated(ctx, "poisson2d", "size=150");
    assert_ok(ctx, spry_vector_ones(ctx, A, &b));
    assert_ok(ctx, spry_vector_zeros(ctx, A, &x));
    snprintf(options, sizeof options, "method=cg precon=%s format=csr max-iter=1", precon);
    (void)spry_quick_solve(ctx, A, b, x, options, NULL);
    spry_vector_free(b);
    spry_vector_free(x);
    spry_matrix_free(A);
    spry_context_free(ctx);
    return h;
}

static void test_choice(void **state)
{
    (void)state;
    set_variable("SPRY_DEVICE", NULL);
    set_pace(1000, 1e6);
    assert_true(choose("none").left);
    set_pace(1e-4, 1e15);
    for (int k = 0; k < 24; k++) { /* compiled as far as a forecast looks */
        char command[256];
        snprintf(command, sizeof command, "touch '%s/programs/%d'", fake.place.folder, k);
        if (k == 0)
            snprintf(command, sizeof command, "mkdir -p '%s/programs'", fake.place.folder);
        assert_int_equal(system(command), 0);
    }
    assert_true(choose("none").taken);
    const heard host_only =
        choose("schwarz"); /* which does not go to the device: it is not asked */
    assert_false(host_only.taken || host_only.left);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FAKE_TEST(test_model, &fake),
        FAKE_TEST(test_remembered, &fake),
        FAKE_TEST(test_compiled, &fake),
        FAKE_TEST(test_choice, &fake),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
