/*
 * Tracks that see each other on devices: one launch for the columns of all, whatever their number
 * and type; right-hand sides that depend on each other, and texts with all that columns may do.
 */
#include "support/devices.h"
#include "support/problems.h"

#include "device/engine/device.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { MOST = 16, ROWS = 60, MANY_ROWS = 3000 };

typedef struct columns {
    problem p;
    int count;
    spry_vector *b[MOST], *x[MOST];
    spry_result results[MOST];
} columns;

/* Of several the second is the first again, and the third is 0. */
static void columns_open(spry_context *ctx, int64_t rows, spry_type type, int count, columns *s)
{
    problem_make(ctx, PROBLEM_DOMINANT, type, rows, &s->p);
    s->count = count;
    for (int k = 0; k < count; k++) {
        const int64_t n = spry_vector_size(s->p.b);
        assert_ok(ctx, spry_vector_like(s->p.b, n, &s->b[k]));
        assert_ok(ctx, spry_vector_like(s->p.b, n, &s->x[k]));
        for (int64_t i = 0; k != 2 && i < n; i++)
            value_set(type, s->b[k]->data, i,
                      support_number(type, (uint64_t)(k == 1 ? 0 : k), (uint64_t)i));
        s->results[k] = (spry_result)SPRY_RESULT_INIT;
    }
}

static void columns_close(columns *s)
{
    for (int k = 0; k < s->count; k++) {
        spry_result_clear(s->p.ctx, &s->results[k]);
        spry_vector_free(s->b[k]);
        spry_vector_free(s->x[k]);
    }
    problem_free(&s->p);
}

static void solve(columns *s, spry_device *d, const char *options, const char *text)
{
    spry_context *ctx = s->p.ctx;
    const spry_vector *b[MOST];
    spry_solver *solver = NULL;
    char place[64];
    snprintf(place, sizeof place, "device=%s", d ? spry_device_name(d) : "cpu");
    assert_ok(ctx, spry_solver_new(ctx, &solver));
    assert_ok(ctx, spry_solver_set(solver, options));
    assert_ok(ctx, spry_solver_set(solver, place));
    if (text)
        assert_ok(ctx, spry_solver_set_method_text(solver, text));
    assert_ok(ctx, spry_solver_set_matrix(solver, s->p.A));
    for (int k = 0; k < s->count; k++) {
        b[k] = s->b[k];
        spry_result_clear(ctx, &s->results[k]);
        assert_ok(ctx, spry_vector_fill(s->x[k], (spry_scalar){0, 0}));
    }
    assert_ok(ctx, spry_solve_many(solver, s->count, b, s->x, s->results));
    spry_solver_free(solver);
}

/* What an iteration of block-cg asks of the device, besides what a solve does: launches and copies
 * between the host and it. */
static void work_of(spry_context *ctx, spry_device *d, int count, int64_t work[2])
{
    static const device_work kinds[] = {WORK_LAUNCH, WORK_COPY};
    static const char *const options[] = {
        "method=block-cg precon=jacobi tol=1e-14 keep=last max-iter=2",
        "method=block-cg precon=jacobi tol=1e-14 keep=last max-iter=3"};
    columns s;
    columns_open(ctx, ROWS, SPRY_TYPE_D, count, &s);
    work[0] = work[1] = 0;
    for (int k = 0; k < 2; k++) {
        const int64_t before[2] = {d->done[kinds[0]], d->done[kinds[1]]};
        solve(&s, d, options[k], NULL);
        assert_int_equal(s.results[0].iterations, k + 2);
        for (int j = 0; j < 2; j++)
            work[j] += (k == 0 ? -1 : 1) * (d->done[kinds[j]] - before[j]);
    }
    columns_close(&s);
}

/* As many for 16 columns as for 2. */
static void launches(spry_context *ctx, spry_device *d)
{
    int64_t few[2], many[2];
    work_of(ctx, d, 2, few);
    work_of(ctx, d, 16, many);
    assert_true(few[0] > 0 && few[1] > 0);
    assert_int_equal(many[0], few[0]);
    assert_int_equal(many[1], few[1]);
}

/* All arrive, by their true residuals, and the second time with the same bits. */
static void check_repeats(columns *s, spry_device *d, const char *options, double tol)
{
    spry_context *ctx = s->p.ctx;
    const size_t bytes = (size_t)spry_vector_size(s->x[0]) * spry_type_size(s->x[0]->type);
    char *first = NULL;
    assert_ok(ctx, base_alloc(ctx, s->count, bytes, &first));
    for (int turn = 0; turn < 2; turn++) {
        solve(s, d, options, NULL);
        for (int k = 0; k < s->count; k++) {
            problem one = s->p;
            one.b = s->b[k];
            one.x = s->x[k];
            one.inverse = 0; /* the problem's own answer is to another b */
            if (k != 2)
                problem_check_converged(&one, &s->results[k], tol, options);
            assert_string_equal(s->results[k].device, spry_device_name(d));
            if (turn == 0)
                memcpy(first + (size_t)k * bytes, s->x[k]->data, bytes);
            else
                assert_memory_equal(first + (size_t)k * bytes, s->x[k]->data, bytes);
        }
    }
    base_free(ctx, first);
}

static void types(spry_context *ctx, spry_device *d)
{
    static const int counts[] = {16, 3, 5, 13}; /* by type */
    DEVICES_EACH_TYPE (d, t) {
        columns s;
        char options[80];
        const double tol = problem_tolerance(support_types[t]);
        snprintf(options, sizeof options, "method=block-cg precon=jacobi tol=%g", tol);
        columns_open(ctx, ROWS, support_types[t], counts[t], &s);
        check_repeats(&s, d, options, tol);
        columns_close(&s);
    }
}

/* Minimal residual steps, with what else a column may do: slices of its own, elements of arrays,
 * branches that some columns take, inner products with b, random numbers, shares of rows. */
static const char odd[] = "method odd \"minimal residual steps\"\n"
                          "for \"tests\"\n"
                          "block\n"
                          "vectors V[2]\n"
                          "scalars g[2], S[columns]\n"
                          "start:\n"
                          "    r = b - A x\n"
                          "    residual |r|\n"
                          "loop:\n"
                          "    V[0] = r\n"
                          "    q = A r\n"
                          "    V[1] = q\n"
                          "    g[0 .. 1] = (V[0 .. 1], q)\n"
                          "    alpha = g[0] / g[1]\n"
                          "    if real(alpha) > 0.22:\n"
                          "        x = x + alpha r\n"
                          "    else:\n"
                          "        h = share(0, 2)\n"
                          "        t = h .* r\n"
                          "        x = x + alpha t + alpha (r - t)\n"
                          "    end\n"
                          "    g[0] = 1\n"
                          "    g[1] = 0 - alpha\n"
                          "    r = V[0 .. 1] g[0 .. 1]\n"
                          "    z = random(3)\n"
                          "    S = ([r], b)\n"
                          "    e = (S, S)\n"
                          "    f = (z, r)\n"
                          "    residual |r| * (1 + real(e) * 1e-3 + real(f) * 1e-3)\n";

/* w may not have the memory of q, which the inner products of all columns read at the end of the
 * sweep. */
static const char shares[] = "method shares \"a vector that ends as another begins\"\n"
                             "for \"tests\"\n"
                             "block\n"
                             "scalars S[columns]\n"
                             "start:\n"
                             "    r = b - A x\n"
                             "    residual |r|\n"
                             "loop:\n"
                             "    q = A r\n"
                             "    g = (q, q)\n"
                             "    S = ([r], q)\n"
                             "    w = r + g b\n"
                             "    h = (w, w)\n"
                             "    e = (S, S)\n"
                             "    a = 1e-3 * e / (1 + real(e)) / (1 + real(h))\n"
                             "    x = x + a w\n"
                             "    r = r - a w\n"
                             "    residual |r| * (1 + real(e))\n";

/* p has other memory after the branch than where it was not taken. */
static const char moves[] = "method moves \"a vector that some columns exchange\"\n"
                            "for \"tests\"\n"
                            "block\n"
                            "scalars S[columns], T[columns]\n"
                            "start:\n"
                            "    r = b - A x\n"
                            "    p = r\n"
                            "    residual |r|\n"
                            "loop:\n"
                            "    q = A r\n"
                            "    g = (r, q) / (q, q)\n"
                            "    S = ([r], r)\n"
                            "    c = (b, b)\n"
                            "    if real(c) > 330:\n"
                            "        p = [p] S + r\n"
                            "    end\n"
                            "    T = ([p], q)\n"
                            "    e = (T, T)\n"
                            "    y = [p] S\n"
                            "    h = (y, y)\n"
                            "    x = x + g r\n"
                            "    r = r - g q\n"
                            "    residual |r| * (1 + real(e) + real(h))\n";

/* Columns that have ended go on for the sake of the others, with the x that they ended with. */
static const char ends[] = "method ends \"x is set, not updated\"\n"
                           "for \"tests\"\n"
                           "block\n"
                           "scalars S[columns]\n"
                           "start:\n"
                           "    r = b - A x\n"
                           "    c = (b, b)\n"
                           "    e = 0\n"
                           "    residual |r|\n"
                           "loop:\n"
                           "    q = A r\n"
                           "    a = (r, q) / (q, q)\n"
                           "    y = x + a r\n"
                           "    h = (y, y)\n"
                           "    r = r - a q\n"
                           "    residual |r| * (1 + real(e) + real(h))\n"
                           "    x = (1 + a) y\n"
                           "    p = x + r\n"
                           "    S = ([p], p)\n"
                           "    e = (S, S)\n"
                           "    breakdown if real(c) > 330 \"it ends here\"\n";

/* Factors of 16 complex columns, 4 kB a term, of which local memory has room for six. */
static const char wide[] = "method wide \"many vectors of all columns\"\n"
                           "for \"tests\"\n"
                           "block\n"
                           "scalars S[columns]\n"
                           "start:\n"
                           "    r = b - A x\n"
                           "    residual |r|\n"
                           "loop:\n"
                           "    q = A r\n"
                           "    g = (q, q)\n"
                           "    a = (q, r) / g\n"
                           "    w = r + a q\n"
                           "    S = ([r], q)\n"
                           "    y = [r] S + [q] S + [w] S - [r] S + [q] S + [w] S + [r] S\n"
                           "    h = (y, y)\n"
                           "    x = x + a r\n"
                           "    r = r - a q\n"
                           "    residual |r| * (1 + real(h))\n";

/* Inner products of rows that are made in the same sweep (S), and of rows that are not (T). */
static const char rows_made[] = "method rows-made \"minimal residual steps\"\n"
                                "for \"tests\"\n"
                                "block\n"
                                "scalars S[columns], T[columns]\n"
                                "start:\n"
                                "    r = b - A x\n"
                                "    residual |r|\n"
                                "loop:\n"
                                "    q = A r\n"
                                "    S = ([r], q)\n"
                                "    a = (q, r) / (q, q)\n"
                                "    x = x + a r\n"
                                "    r = r - a q\n"
                                "    T = ([r], r)\n"
                                "    e = (S, S)\n"
                                "    f = (T, T)\n"
                                "    residual |r| * (1 + real(e) / (1 + real(f)))\n";

/* The first iterations report the residuals of the host: they differ by the order of sums only, of
 * which the sixth has seen 6 for each row at most, each rounded to 2^-53 of the whole; products of
 * complex numbers are four. */
static void check_text(spry_context *ctx, spry_device *d, const char *text, int64_t rows,
                       spry_type type, int count)
{
    const char *const options = "precon=none tol=1e-14 keep=last max-iter=5";
    const double alike = (spry_type_is_complex(type) ? 4 : 1) * 6 * (double)rows * 0x1p-53 *
                         100; /* condition 10, both ways */
    columns on_host, on_device;
    int64_t most = 0;
    columns_open(ctx, rows, type, count, &on_host);
    columns_open(ctx, rows, type, count, &on_device);
    solve(&on_host, NULL, options, text);
    solve(&on_device, d, options, text);
    for (int k = 0; k < on_host.count; k++) {
        const spry_result *a = &on_host.results[k], *b = &on_device.results[k];
        assert_int_equal(a->history_size, b->history_size);
        most = a->history_size > most ? a->history_size : most;
        for (int64_t i = 0; i < a->history_size; i++)
            if (!(fabs(a->history[i] - b->history[i]) <= alike * a->history[i]))
                fail_msg("%.14s, column %d, %lld: %.15g, on the device %.15g", text, k,
                         (long long)i, a->history[i], b->history[i]);
    }
    assert_true(most > 3);
    columns_close(&on_host);
    columns_close(&on_device);
}

static void texts(spry_context *ctx, spry_device *d)
{
    static const char *const all[] = {odd, shares, moves, ends};
    for (size_t k = 0; k < sizeof all / sizeof *all; k++)
        check_text(ctx, d, all[k], ROWS, SPRY_TYPE_D, 5);
    check_text(ctx, d, wide, ROWS, SPRY_TYPE_Z, 16);
    /* with several tiles for a group */
    check_text(ctx, d, rows_made, MANY_ROWS, SPRY_TYPE_D, 16);
    check_text(ctx, d, rows_made, MANY_ROWS, SPRY_TYPE_Z, 3);
}

typedef struct tortured {
    columns s;
    const char *device;
} tortured;

static spry_status solve_once(spry_context *ctx, void *data)
{
    tortured *t = data;
    const spry_vector *b[2] = {t->s.b[0], t->s.b[1]};
    spry_solver *solver = NULL;
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(ctx, spry_solver_new(ctx, &solver));
    SPRY_GO(ctx, spry_solver_set(solver, "method=block-cg precon=jacobi format=csr max-iter=1"));
    SPRY_GO(ctx, spry_solver_set_text(solver, "device", t->device));
    SPRY_GO(ctx, spry_solver_set_matrix(solver, t->s.p.A));
    SPRY_GO(ctx, spry_solve_many(solver, 2, b, t->s.x, t->s.results));
done:
    for (int k = 0; k < 2; k++)
        spry_result_clear(ctx, &t->s.results[k]);
    spry_solver_free(solver);
    return status;
}

/* Copies, launches and allocations of the device that fail one after the other, and every few of
 * the host's: nothing is left behind. Some are not needed that much. */
static void failures(spry_context *ctx, spry_device *d)
{
    static const device_work works[] = {WORK_ALLOC, WORK_COPY, WORK_LAUNCH};
    enum { EVERY = 7, ROUNDS = 60 };
    tortured t = {.device = spry_device_name(d)};
    int64_t count[4], used, now, most, failed = 0;
    columns_open(ctx, ROWS, SPRY_TYPE_D, 2, &t.s);
    assert_ok(ctx, solve_once(ctx, &t));
    memcpy(count, d->done, sizeof count);
    assert_ok(ctx, solve_once(ctx, &t));
    device_memory_now(d, &used, &most, NULL);
    for (int k = 0; k < 4; k++)
        count[k] = d->done[k] - count[k];
    for (size_t k = 0; k < sizeof works / sizeof *works; k++)
        for (int64_t n = 1; n <= count[works[k]]; n++) {
            device_fail_next(d, works[k], n);
            const spry_status status = solve_once(ctx, &t);
            device_fail_next(d, works[k], 0);
            assert_true(status == SPRY_STATUS_OK || spry_message(ctx)[0]);
            failed += status != SPRY_STATUS_OK;
            device_memory_now(d, &now, &most, NULL);
            assert_int_equal(now, used);
        }
    assert_true(failed > 10);
    for (int n = 0; n < ROUNDS; n++) {
        base_fail_allocation(ctx, 1 + n * EVERY, false);
        const spry_status status = solve_once(ctx, &t);
        base_fail_allocation(ctx, 0, false);
        assert_true(status == SPRY_STATUS_OK || status == SPRY_STATUS_NO_MEMORY);
    }
    assert_ok(ctx, solve_once(ctx, &t));
    columns_close(&t.s);
}

int main(void)
{
    static const devices_test tests[] = {DEVICES_TEST(launches), DEVICES_TEST(types),
                                         DEVICES_TEST(texts), DEVICES_TEST(failures)};
    return DEVICES_RUN(tests);
}
