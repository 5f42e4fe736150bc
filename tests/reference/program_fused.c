/*
 * Programs at random run as their texts read, as unfused plans and as fused ones, one right-hand
 * side and several side by side, looked at in every report, in some and in none: all must report
 * the same residuals and have the same x, bit by bit. Where they do not, the program is made
 * shorter line by line and shown.
 *
 * SPRY_TEST_SEED and SPRY_TEST_COUNT: the first seed, and how many programs.
 */
#include "support/courses.h"
#include "support/programs.h"
#include "support/support.h"

#include <stdio.h>
#include <stdlib.h>

enum { LANES = 3 };

/* What a seed means with its program. */
typedef struct fused_case {
    uint64_t seed;
    spry_type type;
    int64_t rows, cols;
    int threads, end_at[LANES];
    bool twice;
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
        if (DRAW(8) == 0) { /* more chunks than parts */
            c.type = SPRY_TYPE_S;
            c.rows = c.cols = (MOST_PARTS + 4) * CHUNK;
        }
    } else if (DRAW(4) == 0) {
        c.rows = 1 + c.cols * (1 + DRAW(6)) / 3;
    }
    for (int k = 0; k < LANES; k++)
        c.end_at[k] = 1 + DRAW(12);
    c.look = (uint32_t)base_random(seed, drawn++);
    c.twice = DRAW(3) == 0;
    c.A = c.rows != c.cols || DRAW(10) < 7 ? COURSE_ROWS : COURSE_FUNCTION;
    if (DRAW(20) == 0 && c.rows == c.cols)
        c.A = COURSE_DIAGONAL;
    do
        c.M = (course_operator)DRAW(COURSE_OPERATORS);
    while (c.M == COURSE_FUNCTION && c.A == COURSE_FUNCTION);
#undef DRAW
    return c;
}

/* Compares one run of right-hand sides with what the text says; `what` reports the difference. */
static bool run_alike(const course_system *system, const char *text, bool fuse, int count,
                      uint32_t look, const course *expected, char what[240])
{
    course found[LANES];
    char where[160];
    for (int k = 0; k < count; k++)
        found[k] = (course){.end_at = expected[k].end_at,
                            .twice = expected[k].twice,
                            .look = look,
                            .seed = expected[k].seed};
    course_of_plan(system, text, fuse, count, found);
    for (int k = 0; k < count; k++)
        if (!course_same(&expected[k], &found[k], where)) {
            snprintf(what, 240, "%s, %d right-hand sides, number %d, looked at %08x: %s",
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
        expected[k] = (course){
            .end_at = c->end_at[k], .twice = c->twice, .look = ~0u, .seed = c->seed + (uint64_t)k};
        course_of_text(system, text, &expected[k]);
        all_ok = all_ok && expected[k].status == SPRY_STATUS_OK;
    }
    course_system ranked = *system;
    ranked.ranked = true;
    return run_alike(system, text, false, 1, ~0u, expected, what) &&
           run_alike(system, text, true, 1, ~0u, expected, what) &&
           run_alike(system, text, true, 1, 0, expected, what) &&
           run_alike(system, text, true, 1, c->look, expected, what) &&
           run_alike(&ranked, text, true, 1, c->look, expected, what) &&
           run_alike(&ranked, text, false, 1, 0, expected, what) &&
           (!all_ok || run_alike(system, text, true, LANES, c->look, expected, what)) &&
           (!all_ok || run_alike(&ranked, text, true, LANES, c->look, expected, what)) &&
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
                    program_parse(system->ctx, "x", shorter, strlen(shorter), &p) == SPRY_STATUS_OK;
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

/* Programs that were once run wrongly, and why they are hard. */
static const char *const hard[] = {
    "method m \"a restart comes before what follows it, and the loop sees that\"\n"
    "vectors W[2]\n"
    "scalars h[2]\n"
    "start:\n"
    "    k = 0\n"
    "    r = b - A x\n"
    "    c = A^H r\n"
    "loop:\n"
    "    h[0..k] = W[0..k]^T x\n"
    "    residual |h[0]|\n"
    "    restart if k == 0\n"
    "    W[mod(k + 1, 1)] = c .* b\n",
    "method m \"start reads what the loop has left\"\n"
    "vectors V[4]\n"
    "scalars h[4], g[4]\n"
    "start:\n"
    "    r = b - A x\n"
    "    for j = 0 .. 2: g[j] = h[j] / (1 + |h[j]|); end\n"
    "    c = b .* V[2]\n"
    "loop:\n"
    "    q = A r\n"
    "    residual |r|\n"
    "    if real(|q|) > 0:\n"
    "        for i = 2 down to 0:\n"
    "            V[i] = random(0) + 0.5 c\n"
    "            x = x - V[0..i] g[0..i]\n"
    "        end\n"
    "    end\n"
    "    for i = 0 .. 2:\n"
    "        h[i] = 0.5 (q, r)\n"
    "    end\n"
    "    restart if real(h[0]) < 1000\n",
    "method m \"an exit asks for an update of x whose factor changes later\"\n"
    "start:\n"
    "    q = 0.25\n"
    "    r = b - A x\n"
    "    c = A^H r\n"
    "loop:\n"
    "    x = b + q c + r\n"
    "    estimate |b|\n"
    "    x = x + M M ((b, x) / 16 c)\n"
    "    if |q| < 1: q = 2 q; else: q = 0.5; end\n"
    "finish:\n",
    "method m \"finish leaves a vector for the next finish\"\n"
    "vectors u\n"
    "start:\n"
    "    r = b - A x\n"
    "loop:\n"
    "    residual |r|\n"
    "    restart if |r| > 0\n"
    "    u = M A r\n"
    "    restart if 1\n"
    "finish:\n"
    "    if |r| > 0:\n"
    "        x = x + A u\n"
    "        u = r\n"
    "    end\n",
    "method m \"equal texts, different vectors\"\n"
    "vectors V[4]\n"
    "start:\n"
    "    k = 0\n"
    "    r = b - A x\n"
    "loop:\n"
    "    residual |V[k]|\n"
    "    k = mod(k + 1, 4)\n"
    "    r = A r / (1 + |r|) + (|V[k]| / (1 + |b|)) b\n"
    "    V[k] = r .* x\n"
    "    x = x + 0.125 V[k]\n",
    "method m \"an x that only an exit sees\"\n"
    "start:\n"
    "    r = b - A x\n"
    "loop:\n"
    "    c = x .* x\n"
    "    x = 0.5 b - ((c, b) / (1 + |c| * |b|)) r\n"
    "    residual |c|\n"
    "    x = 0.25 b\n",
    "method m \"an exit stands before an index that would be outside\"\n"
    "vectors V[3]\n"
    "scalars h[3]\n"
    "start:\n"
    "    k = 0\n"
    "    r = b - A x\n"
    "loop:\n"
    "    residual |r|\n"
    "    restart if k == 3\n"
    "    breakdown if k == 4 \"k is {k}\"\n"
    "    h[k] = 1\n"
    "    V[k] = h[k] r\n"
    "    x = x + 0.1 V[k]\n"
    "    k = k + 1\n",
    "method m \"copies of copies\"\n"
    "start:\n"
    "    u = x; v = u; w = v; y = b\n"
    "    x = y; y = x\n"
    "    r = b - A x\n"
    "loop:\n"
    "    old = r; r = w; w = v; v = old; u = u\n"
    "    t = r; r = A t; t = r\n"
    "    residual |t|\n"
    "    z = x; x = x + 0.01 w; y = z; w = y - z + 0.5 w\n"
    "    residual |y|\n",
    "method m \"the factor of a late update of x is read late\"\n"
    "vectors V[3]\n"
    "scalars g[3]\n"
    "start:\n"
    "    n = 1; q = 0.5; s = 0.25\n"
    "    r = b - A x\n"
    "    c = A^H r\n"
    "loop:\n"
    "    x = sign(1) * b + s * c + sign(1) * r\n"
    "    estimate |b|\n"
    "    x = x + M M (((b, V[1]) / (1 + n)) * c)\n"
    "    if real(q) > 0.1: s = q * 0.5; else: s = g[0]; end\n"
    "finish:\n",
    "method m \"an x that is gone when the next is made, but for an exit\"\n"
    "scalars h[4]\n"
    "start:\n"
    "    k = 0; n = 1; q = 0.5\n"
    "    r = b - A x\n"
    "    c = A^H r\n"
    "    d = c\n"
    "loop:\n"
    "    u = x .* x\n"
    "    x = where(real(0.1) > 0, 0.5, 0.1) * b + b / (1 + |h[2]|) - ((u, b) / (1 + n)) * r\n"
    "    residual |u|\n"
    "    x = q * b\n"
    "    h[mod(k + 1, 3)] = |d|\n",
    "method m \"an inner product whose name is used again\"\n"
    "vectors u, v\n"
    "scalars h[3]\n"
    "start:\n"
    "    k = 0\n"
    "    u = b - A x\n"
    "    v = A u\n"
    "loop:\n"
    "    s = (u, v)\n"
    "    h[k] = (v, v)\n"
    "    u = u / (1 + |s|)\n"
    "    residual |s|\n"
    "    s = (u, v)\n"
    "    t = s\n"
    "    s = 2\n"
    "    s2 = (u, v)\n"
    "    k = mod(k + 1, 3)\n"
    "    t2 = (v, v)\n"
    "    x = x + t / (1 + |t|) * u + s2 / (1 + |s2|) * v + t2 / (1 + t2) b\n"
    "    residual |s2 + s|\n",
    /* Tracks end at different reports; finish must not disturb those that go on. */
    "method m \"one track finishes\"\n"
    "vectors V[2]\n"
    "start:\n"
    "    r = b - A x\n"
    "loop:\n"
    "    estimate |x|\n"
    "    s = |r|\n"
    "    estimate s\n"
    "    r = r - A r / (1 + s)\n"
    "finish:\n"
    "    x = x + r / (1 + |r|)\n",
};

static void hard_programs_run_as_they_read(void **state)
{
    const fused_case c = {.seed = 1, .end_at = {9, 3, 5}, .twice = true, .look = 0x55555555};
    for (size_t k = 0; k < sizeof hard / sizeof *hard; k++)
        for (int m = COURSE_NONE; m < COURSE_OPERATORS; m++) {
            const spry_type type = support_types[(k + (size_t)m) % 4];
            course_system system;
            char what[240];
            course_open(*state, type, 40, 40, COURSE_ROWS, (course_operator)m, 1, &system);
            if (!runs_alike(&c, &system, hard[k], what))
                fail_msg("type %d, M %d: %s\n%s", type, m, what, hard[k]);
            course_close(&system);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(hard_programs_run_as_they_read, support_setup,
                                        support_teardown),
        cmocka_unit_test(programs_run_as_they_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
