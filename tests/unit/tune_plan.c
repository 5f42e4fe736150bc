/* Who is tried on a device and who wins, with candidates and times that are made up: the same each
 * time, whatever noise there is in times. */
#include "support/support.h"

#include "choose/tune.h"

#include <stdio.h>
#include <string.h>

enum { MOST = 8 };

typedef struct fake {
    tune_list list;
    tune_candidate all[MOST];
} fake;

static const layout_class *class_of(const char *name)
{
    for (int i = 0; layout_class_at(i); i++)
        if (strcmp(layout_class_at(i)->name, name) == 0)
            return layout_class_at(i);
    fail_msg("there is no format %s", name);
    return NULL;
}

static void open_fake(fake *f)
{
    memset(f, 0, sizeof *f);
    f->list.all = f->all;
    f->list.count = 1;
    f->all[0] = (tune_candidate){.row = {.format = "csr", .bytes = 1000}, .possible = true};
    tune_expect(&f->list, &f->all[0]);
}

static tune_candidate *add(fake *f, const char *format, int64_t bytes)
{
    char name[32];
    snprintf(name, sizeof name, "%.*s", (int)strcspn(format, ":"), format);
    tune_candidate *c = &f->all[f->list.count++];
    *c = (tune_candidate){.class = class_of(name), .possible = true};
    c->row.bytes = bytes;
    snprintf(c->row.format, sizeof c->row.format, "%s", format);
    tune_expect(&f->list, c);
    return c;
}

static void set_time(tune_candidate *c, double seconds)
{
    c->samples = 3;
    c->row.seconds = seconds;
}

/* Ties go to the first, also where the later one is faster by a hair, and by other hairs. */
static void test_ties(void **state)
{
    (void)state;
    for (int k = -3; k <= 3; k++) {
        const double noise = 1 + 0.002 * k;
        fake f;
        open_fake(&f);
        set_time(&f.all[0], 2.0);
        set_time(add(&f, "sell:C=32,sigma=1", 900), 1.00 / noise);
        set_time(add(&f, "sell16:C=32,sigma=1", 600), 0.995 * noise);
        add(&f, "dia:block=128", 500); /* was never timed */
        assert_int_equal(tune_pick(&f.list, 100000), 1);
        set_time(&f.all[2], 0.9 * noise);
        assert_int_equal(tune_pick(&f.list, 100000), 2);
        set_time(&f.all[0], 0.905);
        assert_int_equal(tune_pick(&f.list, 100000), 0);
    }
}

/* For few products what is made for nothing wins, for many what is fast. What the clock said of
 * making does not count for what the device makes, but for what the host does. */
static void test_making(void **state)
{
    (void)state;
    fake f;
    open_fake(&f);
    set_time(&f.all[0], 1.0);
    set_time(add(&f, "sell16:C=32,sigma=1", 600), 0.8);
    f.all[1].row.conversion_seconds = 1e6;
    assert_int_equal(tune_pick(&f.list, 5), 0);
    assert_int_equal(tune_pick(&f.list, 500), 1);
    set_time(add(&f, "scoo", 600), 0.4);
    f.all[2].row.conversion_seconds = 1000;
    assert_int_equal(tune_pick(&f.list, 500), 1);
    assert_int_equal(tune_pick(&f.list, 50000), 2);
}

/* Where CSR waits for one long row, what is made is not charged as if making waited, too. */
static void test_making_uneven(void **state)
{
    (void)state;
    fake f;
    open_fake(&f);
    f.list.uneven = true;
    set_time(&f.all[0], 100);
    set_time(add(&f, "merge", 1010), 0.50);
    set_time(add(&f, "teams", 1010), 0.45);
    tune_expect(&f.list, &f.all[1]);
    tune_expect(&f.list, &f.all[2]);
    assert_int_equal(tune_pick(&f.list, 1000), 2);
    assert_int_equal(tune_pick(&f.list, 10), 1);
}

/* One of each format first, by forecast; the first options where forecasts are the same. */
static void test_order(void **state)
{
    (void)state;
    fake f;
    open_fake(&f);
    add(&f, "sell:C=32,sigma=1", 1000);
    add(&f, "sell:C=32,sigma=256", 999); /* sorting gains nothing */
    add(&f, "sell16:C=32,sigma=1", 700);
    add(&f, "scoo", 100);   /* the host's */
    add(&f, "bsr", 5000);   /* hopeless */
    add(&f, "merge", 1010); /* rows are alike: little hope, but some */
    set_time(&f.all[0], 1.0);
    static const int want[] = {3, 1, 6, 0};
    for (size_t k = 0; k < sizeof want / sizeof *want; k++) {
        const int next = tune_next_class(&f.list);
        assert_int_equal(next, want[k]);
        if (next > 0)
            set_time(&f.all[next], next == 1 ? 0.98 : 0.99); /* no better than CSR */
    }
    assert_int_equal(tune_next_option(&f.list), 2); /* its format is near the best */
    set_time(&f.all[2], 0.985);
    assert_int_equal(tune_next_option(&f.list), 0);
    f.all[6].samples = 0;
    set_time(&f.all[1], 0.7); /* as it was hoped for: merge has no hope then */
    assert_int_equal(tune_next_class(&f.list), 0);
    f.list.uneven = true; /* then merge comes first */
    f.all[6].samples = 0;
    tune_expect(&f.list, &f.all[6]);
    assert_int_equal(tune_next_class(&f.list), 6);
    f.list.uneven = false;
    f.all[1].samples = f.all[2].samples = 0;
    set_time(&f.all[6], 0.99);
    f.all[1].dropped = true; /* could not be made: other options come in its place */
    assert_int_equal(tune_next_class(&f.list), 2);
}

/* --- noise -----------------------------------------------------------------------------------
 */

/* A device that takes as long as it does and up to 3% longer; now and then much longer. */
typedef struct noisy {
    fake *f;
    const double *truth; /* of each candidate */
    uint64_t seed, at;
    int runs;
} noisy;

static spry_status run_noisy(void *data, tune_candidate *c)
{
    noisy *n = data;
    const double chance = (double)(base_random(n->seed, n->at++) >> 11) * 0x1p-53;
    const double seconds =
        n->truth[c - n->f->all] * (chance < 0.02 ? 2 : 1 + 0.03 * (chance - 0.02) / 0.98);
    c->row.seconds = c->samples == 0 || seconds < c->row.seconds ? seconds : c->row.seconds;
    c->samples++;
    n->runs++;
    return SPRY_STATUS_OK;
}

/* How often of 1,000 the choice is `want`; the course is that of a race from the first products on.
 * Five candidates in all, with times as given. */
static int replay(const double truth[5], int want)
{
    int same = 0;
    for (uint64_t seed = 0; seed < 1000; seed++) {
        static const char *const names[] = {"csr16", "sell:C=32,sigma=1", "sell:C=32,sigma=256",
                                            "sell16:C=32,sigma=1"};
        fake f;
        noisy n = {&f, truth, seed, 0, 0};
        open_fake(&f);
        for (size_t k = 0; k < sizeof names / sizeof *names; k++)
            add(&f, names[k], 800);
        for (int i = 0; i < f.list.count; i++)
            for (int k = 0; k < 2; k++)
                run_noisy(&n, &f.all[i]);
        const int before = n.runs;
        assert_int_equal(tune_finals(&f.list, 100000, 20, run_noisy, &n), SPRY_STATUS_OK);
        assert_true(n.runs - before <= 20);
        same += tune_pick(&f.list, 100000) == want;
    }
    return same;
}

/* The same choice in 99 of 100 races: of what differs by less than 1% the first, of what differs by
 * more than 5% the fastest. */
static void test_noise(void **state)
{
    (void)state;
    for (int k = 0; k <= 4; k++) {
        const double gap = 0.0024 * k; /* up to 0.96% */
        assert_true(replay((double[]){1, 0.9, 0.7, 0.95, 0.7 / (1 + gap)}, 2) >= 990);
        assert_true(replay((double[]){1, 0.9, 0.7, 0.95, 0.7 * (1 + gap)}, 2) >= 990);
        assert_true(replay((double[]){0.7, 0.7 / (1 + gap), 1, 1, 1}, 0) >= 990);
        assert_true(replay((double[]){1, 0.9, 0.7 * (1.05 + gap), 0.9, 0.7}, 4) >= 990);
        assert_true(replay((double[]){0.7 * (1.05 + gap), 1, 1, 0.7, 0.9}, 3) >= 990);
    }
}

/* Turns go on as long as there is something to decide. */
static void test_turns(void **state)
{
    (void)state;
    const double clear[] = {1, 0.9, 0.7, 0.9, 0.8}, close[] = {1, 0.9, 0.7, 0.9, 0.705};
    fake f;
    for (int k = 0; k < 2; k++) {
        noisy n = {&f, k == 0 ? clear : close, 1, 0, 0};
        open_fake(&f);
        add(&f, "csr16", 800);
        add(&f, "sell:C=32,sigma=1", 800);
        add(&f, "sell:C=32,sigma=256", 800);
        add(&f, "sell16:C=32,sigma=1", 800);
        for (int i = 0; i < f.list.count; i++)
            set_time(&f.all[i], n.truth[i]);
        f.all[4].dropped = false;
        assert_int_equal(tune_finals(&f.list, 100000, 20, run_noisy, &n), SPRY_STATUS_OK);
        assert_int_equal(n.runs, k == 0 ? 2 : 20); /* one turn of those within a fifth */
        if (k == 1) {                              /* one that has left does not come back */
            n.runs = 0;
            f.all[4].dropped = true;
            assert_int_equal(tune_finals(&f.list, 100000, 20, run_noisy, &n), SPRY_STATUS_OK);
            assert_int_equal(n.runs, 0);
            assert_int_equal(tune_pick(&f.list, 100000), 2);
        }
    }
}

/* One that was timed while the card woke up gets its chance. */
static void test_waking(void **state)
{
    (void)state;
    const double truth[] = {1, 0.7, 0.9, 0.74};
    fake f;
    noisy n = {&f, truth, 7, 0, 0};
    open_fake(&f);
    add(&f, "csr16", 800);
    add(&f, "sell:C=32,sigma=1", 800);
    add(&f, "sell16:C=32,sigma=1", 800);
    for (int i = 0; i < f.list.count; i++)
        set_time(&f.all[i], i == 1 ? 1.12 * truth[i] : truth[i]);
    assert_int_equal(tune_pick(&f.list, 100000), 3);
    assert_int_equal(tune_finals(&f.list, 100000, 20, run_noisy, &n), SPRY_STATUS_OK);
    assert_int_equal(tune_pick(&f.list, 100000), 1);
}

/* For many products more, what was raced: only where it pays for its conversion, by more than the
 * noise of times, and never CSR, which has none. */
static void test_later(void **state)
{
    (void)state;
    spry_tune_row rows[] = {
        {.format = "csr", .bytes = 9, .seconds = 1.0},
        {.format = "sell:C=8,sigma=1", .bytes = 9, .seconds = 0.8, .conversion_seconds = 5},
        {.format = "sell16:C=8,sigma=1", .bytes = 9, .seconds = 0.5, .conversion_seconds = 100},
        {.format = "dia", .bytes = 1},
    };
    spry_tune_report report = {.format = "csr", .rows = rows, .count = 4};
    char format[TUNE_SPEC];
    tune_later(&report, 10, format); /* 13 and 105 against 10 */
    assert_string_equal(format, "");
    tune_later(&report, 100, format); /* 85 and 150 against 100 */
    assert_string_equal(format, "sell:C=8,sigma=1");
    tune_later(&report, 1000, format);
    assert_string_equal(format, "sell16:C=8,sigma=1");
    snprintf(report.format, sizeof report.format, "sell:C=8,sigma=1");
    tune_later(&report, 300, format); /* 250 against 240 */
    assert_string_equal(format, "");
    tune_later(&report, 1000, format);
    assert_string_equal(format, "sell16:C=8,sigma=1");
    rows[2].seconds = 0.79; /* 890 against 800: the conversion */
    tune_later(&report, 1000, format);
    assert_string_equal(format, "");
    tune_later(&report, 1000000, format); /* 1.2%: noise */
    assert_string_equal(format, "");
    snprintf(report.format, sizeof report.format, "dia"); /* which was not timed */
    tune_later(&report, 1000, format);
    assert_string_equal(format, "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_noise),         cmocka_unit_test(test_turns),
        cmocka_unit_test(test_waking),        cmocka_unit_test(test_ties),
        cmocka_unit_test(test_making),        cmocka_unit_test(test_order),
        cmocka_unit_test(test_making_uneven), cmocka_unit_test(test_later)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
