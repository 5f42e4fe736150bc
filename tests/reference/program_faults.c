/* Programs that go wrong while they are planned or run: each failure names its place, comes when
 * the text comes to it and not before, and leaves the context as it was. */
#include "support/courses.h"
#include "support/support.h"

#include "program/sweep.h"

#include <stdio.h>
#include <string.h>

enum { N = 6, ALL = 30 };

/* A run of a text on a system of N unknowns, ended after ALL reports. */
typedef struct trial {
    int reports, breakdowns;
    char text[160];
    int64_t most_turns; /* 0: as it is */
    spry_operator *A;   /* of the test's; NULL: a matrix by rows */
} trial;

static spry_status hear(void *data, report_kind kind, bool loop, double value, bool *go_on)
{
    trial *t = data;
    (void)kind, (void)loop, (void)value;
    *go_on = ++t->reports < ALL;
    return SPRY_STATUS_OK;
}

static void hear_breakdown(void *data, const char *text, bool finite)
{
    trial *t = data;
    (void)finite;
    t->breakdowns++;
    snprintf(t->text, sizeof t->text, "%s", text);
}

static spry_status run_plan(const course_system *system, plan *p, trial *t)
{
    spry_context *ctx = system->ctx;
    const runner_operators operators = {.A = t->A ? t->A : system->A, .M = system->M};
    spry_scalar b[N], x[N];
    runner *r = NULL;
    spry_status status = SPRY_STATUS_OK;
    for (int i = 0; i < N; i++) {
        value_set(system->type, b, i, (spry_scalar){1 + i, 0});
        value_set(system->type, x, i, (spry_scalar){0, 0});
    }
    SPRY_GO(ctx, runner_new(p, &operators, 1, &r));
    if (t->most_turns > 0)
        r->most_turns = t->most_turns;
    rhs *l = runner_rhs(r, 0);
    l->b = b;
    l->x = x;
    l->data = t;
    l->report = hear;
    l->breakdown = hear_breakdown;
    status = runner_run(r);
done:
    runner_free(r);
    return status;
}

static spry_status run_text(const course_system *system, const char *text, const char *options,
                            bool fuse, trial *t)
{
    spry_context *ctx = system->ctx;
    plan_setup setup = {.fuse = fuse, .square = true};
    program *g = NULL;
    plan *p = NULL;
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(ctx, program_parse(ctx, "t", text, strlen(text), &g));
    SPRY_GO(ctx, program_set_options(g, options));
    SPRY_GO(ctx, runner_use(t->A ? t->A : system->A, g->uses_transpose, &setup.use[OPERATOR_A]));
    SPRY_GO(ctx, runner_use(system->M, g->uses_transpose, &setup.use[OPERATOR_M]));
    program *handed = g;
    g = NULL;
    SPRY_GO(ctx, plan_make(handed, &setup, &p));
    status = run_plan(system, p, t);
done:
    program_free(g);
    plan_free(p);
    return status;
}

#define HEAD                                                                \
    "method m \"m\"\noption m = 3 1..10 \"m\"; option w = 0.5 0..2 \"w\"\n" \
    "option o = p (p q) \"o\"\n"                                            \
    "vectors V[m + 1], u; scalars H[m + 1, m], h[m + 1]\n"

/* Texts that fail, with the reports before. */
static const struct {
    const char *text, *options;
    spry_status status;
    int reports;
    const char *message;
} faults[] = {
    {HEAD "start: r = b; k = 0\nloop: residual |r|\nV[7] = r\nx = V[7]\n", "",
     SPRY_STATUS_BAD_INPUT, 0, "t:7:1: V[7..7] is outside 0..3"},
    {HEAD "start: r = b; k = 0\nloop: residual |r|\nV[k] = r; k = k + 1\nx = x + V[0]\n", "",
     SPRY_STATUS_BAD_INPUT, 5, "t:7:3: an index is outside its array"},
    {HEAD "start: r = b; k = 0\nloop: residual |r|\nr = r - V[k]; k = k + 1\n", "",
     SPRY_STATUS_BAD_INPUT, 5, "t:7:11: an index is outside its array"},
    {HEAD "start: r = b; k = 0\nloop: residual |r|\nh[k] = |r|; k = k + 1\nx = x + h[0] r\n", "",
     SPRY_STATUS_BAD_INPUT, 5, "t:7:3: an index is outside its array"},
    {HEAD "start: r = b; k = 0\nloop: residual |r|\nr = A V[k]; k = k + 1\n", "",
     SPRY_STATUS_BAD_INPUT, 5, "t:7:9: an index is outside its array"},
    {HEAD "start: r = b; k = 0\nloop: residual |r|\nh[0..k] = (V[0..k], r); k = k + 1\n"
          "x = x + h[0] r\n",
     "", SPRY_STATUS_BAD_INPUT, 5, "t:7:14: an index is outside its array"},
    {HEAD "start: r = b; k = 0\nloop: residual |r|\nh[k..k + 1] = (V[0..1], r); k = k + 1\n"
          "x = x + h[0] r\n",
     "", SPRY_STATUS_BAD_INPUT, 4, "t:7:1: an index is outside its array"},
    {HEAD "start: r = b; k = 0\nloop: residual |r|\nh[0..1] = (V[0..2], r)\nx = x + h[0] r\n", "",
     SPRY_STATUS_BAD_INPUT, 0, "t:7:1: h has 2 elements here, V has 3"},
    {HEAD "start: r = b; k = 0\nloop: residual |r|\nx = x + V[1..2] h[0..2]\n", "",
     SPRY_STATUS_BAD_INPUT, 0, "t:7:17: h has 3 elements here, V has 2"},
    {HEAD "start: r = b; k = 0\nloop: residual |r|\nfor i = 0 .. 1: h[0..i] = (V[0..1], r); end\n"
          "x = x + h[0] r\n",
     "", SPRY_STATUS_BAD_INPUT, 0, "t:7:17: h has 1 elements here, V has 2"},
    {HEAD "start: r = b; k = 1\nloop: residual |r|\nh[0..1] = (V[0..k], r); k = k + 1\n"
          "x = x + h[0] r\n",
     "", SPRY_STATUS_BAD_INPUT, 2,
     "t:7:1: an index is outside its array, or no whole number, or runs"},
    {HEAD "start: r = b; k = 0\nloop: residual |r|\nh[0..k] = (V[1..k], r); k = k + 1\n"
          "x = x + h[0] r\n",
     "", SPRY_STATUS_BAD_INPUT, 1, "runs of different lengths meet"},
    {HEAD "start: r = b; k = 0\nloop: residual |r|\nx = x + V[0..1] h[0..k]; k = k + 1\n", "",
     SPRY_STATUS_BAD_INPUT, 1, "t:7:17: an index is outside its array"},
    {HEAD "start: r = b; k = 0\nloop: residual |r|\nx = x + V[0..k] h[0..k]; k = k + 1\n", "",
     SPRY_STATUS_BAD_INPUT, 5, "t:7:11: an index is outside its array"},
    {HEAD "start: r = b; k = 0\nloop: residual |r| + h[k]\nk = k + 1\n", "", SPRY_STATUS_BAD_INPUT,
     4, "t:6:24: an index is outside its array"},
    {HEAD "start: r = b; k = 0\nloop: residual |r|\nbreakdown if h[k] > 1 \"\"\nk = k + 1\n", "",
     SPRY_STATUS_BAD_INPUT, 5, "t:7:16: an index is outside its array"},
    {HEAD "start: r = b; k = 0\nloop: residual |r|\nif h[k] > 1: r = 2 r; end\nk = k + 1\n", "",
     SPRY_STATUS_BAD_INPUT, 5, "t:7:6: an index is outside its array"},
    {HEAD "start: r = b; k = 0\nloop: residual |r|\n"
          "for i = 0 .. k / 2: r = r / 2; end\nk = k + 1\n",
     "", SPRY_STATUS_BAD_INPUT, 2, "t:7:14: an index is outside its array"},
    {HEAD "start: r = b; k = 0\nloop: residual |r|\n"
          "for i = 0 .. k: h[i] = 1; end\nk = k + 1; x = x + h[0] r\n",
     "", SPRY_STATUS_BAD_INPUT, 5, "t:7:19: an index is outside its array"},
    {HEAD "start: r = b\nloop: if |r| > 100: residual |r|; end\n", "", SPRY_STATUS_BAD_INPUT, 0,
     "t: a turn of the loop reported no residual and no estimate"},
    {"method m \"m\"\noption w = 0.5 0..2 \"w\"\nvectors V[w]\nstart:\nloop: residual |b|\n", "",
     SPRY_STATUS_BAD_USAGE, 0, "t: the array V would have 0.5 elements"},
    {"method m \"m\"\noption w = 0.5 0..2 \"w\"\nvectors V[w - 2]\nstart:\nloop: residual |b|\n",
     "w=1", SPRY_STATUS_BAD_USAGE, 0, "t: the array V would have -1 elements"},
    {"method m \"m\"\nscalars h[2000000]\nstart:\nloop: residual |b|\n", "", SPRY_STATUS_BAD_USAGE,
     0, "t: the array h would have 2e+06 elements"},
    {"method m \"m\"\nscalars h[1000000, 1000000]\nstart:\nloop: residual |b|\n", "",
     SPRY_STATUS_NO_MEMORY, 0, ""},
    {HEAD "start: r = b\nloop: residual |r|\n", "n=3", SPRY_STATUS_BAD_USAGE, 0,
     "option of method m n is unknown"},
    {HEAD "start: r = b\nloop: residual |r|\n", "m=11", SPRY_STATUS_BAD_USAGE, 0,
     "m=11: a whole number from 1 to 10 is needed"},
    {HEAD "start: r = b\nloop: residual |r|\n", "m=2.5", SPRY_STATUS_BAD_USAGE, 0,
     "m=2.5: a whole number from 1 to 10 is needed"},
    {HEAD "start: r = b\nloop: residual |r|\n", "w=x", SPRY_STATUS_BAD_USAGE, 0,
     "w=x: a number from 0 to 2 is needed"},
    {HEAD "start: r = b\nloop: residual |r|\n", "m=2,o=r", SPRY_STATUS_BAD_USAGE, 0,
     "o r is unknown"},
    {HEAD "start: r = b\nloop: residual |r|\n", "m", SPRY_STATUS_BAD_USAGE, 0,
     "method m: \"m\" should be name=value"},
};

static void failures_name_their_place(void **state)
{
    course_system system;
    course_open(*state, SPRY_TYPE_D, N, N, COURSE_ROWS, COURSE_NONE, 1, &system);
    for (size_t k = 0; k < sizeof faults / sizeof *faults; k++)
        for (int fuse = 0; fuse < 2; fuse++) {
            trial t = {0};
            const spry_status status =
                run_text(&system, faults[k].text, faults[k].options, fuse == 1, &t);
            if (status != faults[k].status || t.reports != faults[k].reports ||
                !strstr(spry_message(*state), faults[k].message))
                fail_msg("%s\nfuse %d: status %d, %d reports, %s", faults[k].text, fuse, status,
                         t.reports, spry_message(*state));
        }
    course_close(&system);
}

static void sums_have_at_most_64_vectors(void **state)
{
    char text[2048] = HEAD "start: r = b\nloop: residual |r|\n";
    course_system system;
    trial t = {0};
    course_open(*state, SPRY_TYPE_D, N, N, COURSE_ROWS, COURSE_NONE, 1, &system);
    /* 51 terms as written, 101 vectors. */
    strcat(text, "x = x");
    for (int k = 0; k < 50; k++)
        strcat(text, " + (r + b)");
    strcat(text, "\n");
    assert_status(*state, SPRY_STATUS_BAD_INPUT, run_text(&system, text, "", true, &t));
    support_message_has(*state, "a sum of more than 64 vectors");
    course_close(&system);
}

/* Loops that report nothing end, one way or the other; finish is done to the end. */
static void loops_end(void **state)
{
    static const char *const texts[] = {
        "method m \"m\"\nstart: t = 0; r = b\nloop: for i = 1 .. 1000000000000: t = t + i; end\n"
        "residual |r| + t\n",
        "method m \"m\"\nstart: r = b; k = 1000000\n"
        "loop: for i = k * k down to 1: r = r - A r; end\nresidual |r|\n",
    };
    course_system system;
    course_open(*state, SPRY_TYPE_D, N, N, COURSE_ROWS, COURSE_NONE, 1, &system);
    for (size_t k = 0; k < sizeof texts / sizeof *texts; k++) {
        trial t = {.most_turns = 5000};
        assert_status(*state, SPRY_STATUS_BAD_INPUT, run_text(&system, texts[k], "", true, &t));
        support_message_has(*state, "loops took more than 5000 turns without a residual");
        spry_context_interrupt(*state);
        trial again = {0};
        assert_status(*state, SPRY_STATUS_INTERRUPTED,
                      run_text(&system, texts[k], "", true, &again));
        support_message_has(*state, "t: interrupted in a loop");
        spry_context_interrupted(*state, true);
    }
    /* A caller's wish to stop is the listener's business where reports come often enough. */
    trial often = {0};
    spry_context_interrupt(*state);
    assert_ok(
        *state,
        run_text(&system,
                 "method m \"m\"\nstart: r = b; k = 100\nloop: for i = 0 .. k: r = r - A r / 4\n"
                 "residual |r|; end\nfinish: for i = 0 .. 10 * k: x = x + r; end\n",
                 "", true, &often));
    spry_context_interrupted(*state, true);
    assert_int_equal(often.reports, ALL);
    course_close(&system);
}

static void breakdowns_report_their_numbers(void **state)
{
    static const struct {
        spry_type type;
        const char *text, *expected;
    } cases[] = {
        {SPRY_TYPE_D, "s = 1.5; breakdown if s > 1 \"s = {s}, m = {m}, {\"", NULL},
        {SPRY_TYPE_D, "s = 1.5; breakdown if s > 1 \"s = {s}!\"", "s = 1.5!"},
        {SPRY_TYPE_Z, "s = sqrt(-4); breakdown if imag(s) > 1 \"{s}{s}\"", "0+2i0+2i"},
        {SPRY_TYPE_Z, "s = 3; breakdown if s == 3 \"{s}\"", "3"},
        {SPRY_TYPE_D, "restart if 1", "a restart was needed twice without progress between"},
    };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        course_system system;
        char text[512];
        trial t = {0};
        course_open(*state, cases[k].type, N, N, COURSE_ROWS, COURSE_NONE, 1, &system);
        snprintf(text, sizeof text, HEAD "start: r = b\nloop: %s\nresidual |r|\n", cases[k].text);
        const spry_status status = run_text(&system, text, "", true, &t);
        assert_int_equal(status, cases[k].expected ? SPRY_STATUS_OK : SPRY_STATUS_BAD_INPUT);
        if (cases[k].expected)
            assert_string_equal(t.text, cases[k].expected);
        assert_int_equal(t.breakdowns, cases[k].expected != NULL);
        course_close(&system);
    }
}

/* A long message is cut, whatever stands in it. */
static void long_breakdowns_are_cut(void **state)
{
    char text[1024] = HEAD "start: r = b\nloop: s = 1.25\nbreakdown if 1 \"";
    course_system system;
    trial t = {0};
    for (int k = 0; k < 60; k++)
        strcat(text, "{s}-");
    strcat(text, "\"\nresidual |r|\n");
    course_open(*state, SPRY_TYPE_D, N, N, COURSE_ROWS, COURSE_NONE, 1, &system);
    assert_ok(*state, run_text(&system, text, "", true, &t));
    assert_int_equal(strlen(t.text), 159);
    assert_int_equal(strncmp(t.text, "1.25-1.25-1.25-", 15), 0);
    course_close(&system);
}

/* M is as long as x: a method that applies it to what is as long as b needs a square matrix, and
 * one whose vectors M alone touches has them as long as x. */
static void preconditioners_belong_to_x(void **state)
{
    static const char *const texts[] = {
        "method m \"m\"\nstart: r = b - A x\nloop: z = M r\nx = x + A^H z\nresidual |r|\n",
        "method m \"m\"\nvectors V[2]\nstart: r = b - A x\nloop: V[0] = M V[1]; V[1] = random(1)\n"
        "residual |V[0]| + |r|\n"};
    for (int wide = 0; wide < 2; wide++)
        for (int diagonal = 0; diagonal < 2; diagonal++)
            for (int k = 0; k < 2; k++) {
                course_system system;
                course c = {.end_at = 5, .look = ~0u};
                course_open(*state, SPRY_TYPE_D, wide ? 1000 : 3000, wide ? 3000 : 1000,
                            COURSE_ROWS, diagonal ? COURSE_DIAGONAL : COURSE_ROWS, 1, &system);
                course_of_plan(&system, texts[k], true, 1, &c);
                assert_int_equal(c.status, k == 0 ? SPRY_STATUS_UNSUPPORTED : SPRY_STATUS_OK);
                course_close(&system);
            }
}

static spry_status refuse(void *data, spry_transpose op, const void *x, void *y)
{
    (void)op, (void)x, (void)y;
    return --*(int *)data < 0 ? SPRY_STATUS_IO : SPRY_STATUS_OK;
}

static void failures_of_operators_end_the_run(void **state)
{
    course_system system;
    int calls = 3;
    trial t = {0};
    course_open(*state, SPRY_TYPE_D, N, N, COURSE_ROWS, COURSE_NONE, 1, &system);
    assert_ok(*state,
              spry_operator_from_function(*state, SPRY_TYPE_D, N, N, false, refuse, &calls, &t.A));
    assert_status(
        *state, SPRY_STATUS_IO,
        run_text(&system, HEAD "start: r = b\nloop: r = A r\nresidual |r|\n", "", true, &t));
    assert_int_equal(t.reports, 3);
    spry_operator_free(t.A);
    course_close(&system);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(failures_name_their_place, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(sums_have_at_most_64_vectors, support_setup,
                                        support_teardown),
        cmocka_unit_test_setup_teardown(loops_end, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(breakdowns_report_their_numbers, support_setup,
                                        support_teardown),
        cmocka_unit_test_setup_teardown(long_breakdowns_are_cut, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(preconditioners_belong_to_x, support_setup,
                                        support_teardown),
        cmocka_unit_test_setup_teardown(failures_of_operators_end_the_run, support_setup,
                                        support_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
