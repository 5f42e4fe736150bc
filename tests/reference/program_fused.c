/*
 * Programs by chance run as their texts read, as unfused plans and as fused ones, one right-hand
 * side and several side by side, looked at in every report, in some and in none: all must tell the
 * same residuals and have the same x, bit by bit. Where they do not, the program is made shorter
 * line by line and shown.
 *
 * SPRY_TEST_SEED and SPRY_TEST_COUNT: the first seed, and how many programs.
 */
#include "support/courses.h"
#include "support/programs.h"
#include "support/support.h"

#include <stdio.h>
#include <stdlib.h>

enum { LANES = 3 };

/* What a seed means beside its program. */
typedef struct fused_case {
    uint64_t seed;
    spry_type type;
    int64_t rows, cols;
    int threads, end_at[LANES];
    uint32_t look;
    course_operator A, M;
} fused_case;

static fused_case case_of(uint64_t seed)
{
    static const int64_t sizes[] = {1, 2, 5, 5, 17, 17, 40, 40, 100, 1023, 1024, 1025, 3000};
    uint64_t drawn = 1000000;
    fused_case c = {.seed = seed};
#define DRAW(below) ((int)(base_random(seed, drawn++) % (below)))
    c.type = support_types[DRAW(4)];
    c.rows = c.cols = sizes[DRAW(13)];
    c.threads = 1;
    if (DRAW(40) == 0) { /* long enough for several threads */
        c.rows = c.cols = DRAW(4) == 0 ? 70000 : 16400;
        c.threads = 1 + DRAW(3);
    } else if (DRAW(4) == 0) {
        c.rows = 1 + c.cols * (1 + DRAW(6)) / 3;
    }
    for (int k = 0; k < LANES; k++)
        c.end_at[k] = 1 + DRAW(12);
    c.look = (uint32_t)base_random(seed, drawn++);
    c.A = c.rows != c.cols || DRAW(10) < 7 ? COURSE_ROWS : COURSE_FUNCTION;
    if (DRAW(20) == 0 && c.rows == c.cols)
        c.A = COURSE_DIAGONAL;
    do
        c.M = (course_operator)DRAW(COURSE_OPERATORS);
    while (c.M == COURSE_FUNCTION && c.A == COURSE_FUNCTION);
#undef DRAW
    return c;
}

/* Compares one run of lanes with what the text says; `what` tells the difference. */
static bool run_alike(const course_system *system, const char *text, bool fuse, int count,
                      uint32_t look, const course *expected, char what[240])
{
    course found[LANES];
    char where[160];
    for (int k = 0; k < count; k++)
        found[k] = (course){.end_at = expected[k].end_at, .look = look, .seed = expected[k].seed};
    course_of_plan(system, text, fuse, count, found);
    for (int k = 0; k < count; k++)
        if (!course_same(&expected[k], &found[k], where)) {
            snprintf(what, 240, "%s, %d lanes, lane %d, looked at %08x: %s",
                     fuse ? "fused" : "unfused", count, k, look, where);
            return false;
        }
    return true;
}

/* Whether the text runs alike in all ways; a text that does not parse does. */
static bool runs_alike(const fused_case *c, const course_system *system, const char *text,
                       char what[240])
{
    course expected[LANES];
    bool all_ok = true;
    for (int k = 0; k < LANES; k++) {
        expected[k] = (course){.end_at = c->end_at[k], .look = ~0u, .seed = c->seed + (uint64_t)k};
        course_of_text(system, text, &expected[k]);
        all_ok = all_ok && expected[k].status == SPRY_OK;
    }
    return run_alike(system, text, false, 1, ~0u, expected, what) &&
           run_alike(system, text, true, 1, ~0u, expected, what) &&
           run_alike(system, text, true, 1, 0, expected, what) &&
           run_alike(system, text, true, 1, c->look, expected, what) &&
           (!all_ok || run_alike(system, text, true, LANES, c->look, expected, what)) &&
           (!all_ok || run_alike(system, text, false, LANES, 0, expected, what));
}

/* Takes `count` lines out, from line `first` on; false past the end. */
static bool without_lines(const char *text, int first, int count, char *shorter)
{
    const char *begin = text;
    for (int k = 0; k < first && begin; k++)
        begin = (begin = strchr(begin, '\n')) ? begin + 1 : NULL;
    const char *end = begin;
    for (int k = 0; k < count && end; k++)
        end = (end = strchr(end, '\n')) ? end + 1 : NULL;
    if (!begin || !end || !*begin)
        return false;
    memcpy(shorter, text, (size_t)(begin - text));
    strcpy(shorter + (begin - text), end);
    return true;
}

/* Removes lines while the text still parses and still differs. */
static void shrink(const fused_case *c, const course_system *system, char *text)
{
    static char shorter[PROGRAMS_SIZE];
    char what[240];
    for (bool smaller = true; smaller;) {
        smaller = false;
        for (int count = 6; count > 0; count--)
            for (int first = 0; without_lines(text, first, count, shorter);) {
                program *p = NULL;
                const bool parses =
                    program_parse(system->ctx, "x", shorter, strlen(shorter), &p) == SPRY_OK;
                program_free(p);
                if (parses && !runs_alike(c, system, shorter, what)) {
                    strcpy(text, shorter);
                    smaller = true;
                } else {
                    first++;
                }
            }
    }
}

static void check_seed(uint64_t seed)
{
    static char text[PROGRAMS_SIZE];
    static const char *const operators[] = {"nothing", "rows", "diagonal", "function", "sweeps"};
    const fused_case c = case_of(seed);
    course_system system;
    char options[32], what[240];
    snprintf(options, sizeof options, "threads=%d", c.threads);
    spry_context *ctx = support_context(options);
    programs_write(seed, c.rows == c.cols, text);
    course_open(ctx, c.type, c.rows, c.cols, c.A, c.M, seed, &system);
    program *p = NULL;
    assert_ok(ctx, program_parse(ctx, "program", text, strlen(text), &p));
    program_free(p);
    if (!runs_alike(&c, &system, text, what)) {
        if (!getenv("SPRY_TEST_WHOLE"))
            shrink(&c, &system, text);
        runs_alike(&c, &system, text, what);
        print_error("seed %llu, type %s, %lld x %lld, %d threads, A by %s, M by %s: %s\n%s\n",
                    (unsigned long long)seed, spry_type_name(c.type), (long long)c.rows,
                    (long long)c.cols, c.threads, operators[c.A], operators[c.M], what, text);
        fail();
    }
    course_close(&system);
    support_context_free(ctx);
}

static uint64_t from_environment(const char *name, uint64_t otherwise)
{
    const char *value = getenv(name);
    return value ? strtoull(value, NULL, 10) : otherwise;
}

static void programs_run_as_they_read(void **state)
{
    (void)state;
    const uint64_t first = from_environment("SPRY_TEST_SEED", 1);
    const uint64_t count = from_environment("SPRY_TEST_COUNT", 300);
    for (uint64_t k = 0; k < count; k++)
        check_seed(first + k);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(programs_run_as_they_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
