/*
 * Solves by one solver again and again, where vectors, plans and all else stay from one to the
 * next: each must come to what it comes to by a new solver, to the bit, and allocate next to
 * nothing.
 */
#include "support/support.h"

#include "choose/tune.h"
#include "host/apply.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NX = 35, NY = 40, SYSTEMS = 4 };

typedef struct system {
    spry_context *ctx;
    spry_matrix *A;
    spry_vector *b[SYSTEMS], *x[SYSTEMS];
    char *alone[SYSTEMS]; /* x of a new solver */
    size_t bytes;
} system_;

static void open_system(spry_context *ctx, spry_type type, system_ *s)
{
    char options[64];
    *s = (system_){.ctx = ctx};
    snprintf(options, sizeof options, "nx=%d ny=%d type=%s", NX, NY, spry_type_name(type));
    assert_ok(ctx, spry_generate(ctx, "poisson2d", options, &s->A));
    s->bytes = NX * NY * spry_type_size(type);
    for (int k = 0; k < SYSTEMS; k++) {
        assert_ok(ctx, spry_vector_zeros(ctx, s->A, &s->b[k]));
        assert_ok(ctx, spry_vector_zeros(ctx, s->A, &s->x[k]));
        assert_ok(ctx, vector_random(s->b[k], (uint64_t)k + 1));
        assert_non_null(s->alone[k] = malloc(s->bytes));
    }
}

static void close_system(system_ *s)
{
    for (int k = 0; k < SYSTEMS; k++) {
        spry_vector_free(s->b[k]);
        spry_vector_free(s->x[k]);
        free(s->alone[k]);
    }
    spry_matrix_free(s->A);
}

static spry_solver *new_solver(const system_ *s, const char *options)
{
    spry_solver *solver = NULL;
    assert_ok(s->ctx, spry_solver_new(s->ctx, &solver));
    assert_ok(s->ctx, spry_solver_set(solver, options));
    assert_ok(s->ctx, spry_solver_set_matrix(solver, s->A));
    return solver;
}

/* Systems first..first+count-1 at once, from zeros. */
static void solve(const system_ *s, spry_solver *solver, int first, int count)
{
    for (int k = first; k < first + count; k++)
        assert_ok(s->ctx, spry_vector_fill(s->x[k], (spry_scalar){0, 0}));
    assert_ok(s->ctx, spry_solve_many(solver, count, (const spry_vector *const *)s->b + first,
                                      s->x + first, NULL));
}

static void check(const system_ *s, const char *options, const char *what, int first, int count)
{
    for (int k = first; k < first + count; k++)
        if (memcmp(spry_vector_data_const(s->x[k]), s->alone[k], s->bytes) != 0)
            fail_msg("%s, system %d %s: other bits than by a new solver", options, k, what);
}

/* What a new solver makes of systems that are solved at once. */
static void remember(const system_ *s, const char *options, int first, int count)
{
    spry_solver *fresh = new_solver(s, options);
    solve(s, fresh, first, count);
    for (int k = first; k < first + count; k++)
        memcpy(s->alone[k], spry_vector_data_const(s->x[k]), s->bytes);
    spry_solver_free(fresh);
}

/* One solver for systems in any order, alone and side by side, more and fewer of them. In methods
 * with a block systems see each other: the bits are those of a new solver for the same ones. */
static void check_method(const system_ *s, const char *options, bool block)
{
    for (int k = 0; k < SYSTEMS; k++)
        remember(s, options, k, 1);
    spry_solver *solver = new_solver(s, options);
    solve(s, solver, 0, 1);
    check(s, options, "at first", 0, 1);
    solve(s, solver, 1, 1);
    solve(s, solver, 0, 1);
    check(s, options, "after another", 0, 2);
    if (block)
        remember(s, options, 0, SYSTEMS);
    solve(s, solver, 0, SYSTEMS);
    check(s, options, "with others", 0, SYSTEMS);
    if (block) {
        remember(s, options, 2, 2);
        remember(s, options, 1, 1);
    }
    solve(s, solver, 2, 2);
    solve(s, solver, 1, 1);
    check(s, options, "after more of them", 1, 3);
    spry_solver_free(solver);
}

static void all_methods_come_to_the_same_bits(void **state)
{
    spry_entry info = SPRY_ENTRY_INIT;
    static const spry_type types[] = {SPRY_TYPE_D, SPRY_TYPE_C};
    for (int t = 0; t < 2; t++) {
        system_ s;
        open_system(*state, types[t], &s);
        for (int k = 0; spry_list_at(SPRY_LIST_METHODS, k, &info); k++) {
            if (strcmp(info.name, "dcg") == 0)
                continue; /* begins with what solves before have left */
            if (k % 2 != t && !support_full())
                continue;
            char options[128];
            snprintf(options, sizeof options, "method=%s max-iter=40 stall=0 precon=jacobi",
                     info.name);
            check_method(&s, options, strstr(info.text, "\nblock\n") != NULL);
        }
        check_method(&s, "method=gmres:restart=7 precon=ssor max-iter=60", false);
        check_method(&s, "method=fgmres precon=inner max-iter=20", false);
        close_system(&s);
    }
}

/* A solve that fails or breaks down leaves nothing behind. */
static void failures_leave_nothing_behind(void **state)
{
    spry_context *ctx = *state;
    system_ s;
    open_system(ctx, SPRY_TYPE_D, &s);
    spry_solver *solver = new_solver(&s, "method=cg precon=jacobi max-iter=50");
    solve(&s, solver, 0, 1);
    memcpy(s.alone[0], spry_vector_data_const(s.x[0]), s.bytes);
    double *b = spry_vector_data(s.b[1]);
    const double before = b[5];
    b[5] = NAN;
    assert_status(ctx, SPRY_STATUS_BAD_INPUT, spry_solve(solver, s.b[1], s.x[1], NULL));
    b[5] = before;
    solve(&s, solver, 0, 1);
    check(&s, "cg", "after a solve with NaN", 0, 1);
    for (int nth = 1; nth < 12; nth++) { /* what is short of memory */
        base_fail_allocation(ctx, nth, false);
        (void)spry_solve_many(solver, 3, (const spry_vector *const *)s.b, s.x, NULL);
        base_fail_allocation(ctx, 0, false);
        solve(&s, solver, 0, 1);
        check(&s, "cg", "after a failed allocation", 0, 1);
    }
    spry_solver_free(solver);
    close_system(&s);
}

/* A preconditioner of the caller's with new values is used with these. */
static void changed_operators_are_seen(void **state)
{
    spry_context *ctx = *state;
    system_ s;
    spry_operator *M = NULL;
    spry_matrix *scaled = NULL;
    open_system(ctx, SPRY_TYPE_D, &s);
    assert_ok(ctx, spry_precon_new(s.A, NULL, "jacobi", &M));
    spry_solver *solver = new_solver(&s, "method=richardson max-iter=5 stall=0");
    assert_ok(ctx, spry_solver_set_precon(solver, M));
    solve(&s, solver, 0, 1);
    assert_ok(ctx, spry_matrix_convert(s.A, SPRY_FORMAT_CSR, &scaled));
    for (int64_t k = 0; k < scaled->a.nnz; k++)
        ((double *)(uintptr_t)scaled->a.values)[k] *= 4;
    assert_ok(ctx, spry_operator_update(M, scaled));
    solve(&s, solver, 0, 1);
    memcpy(s.alone[0], spry_vector_data_const(s.x[0]), s.bytes);
    spry_solver *fresh = new_solver(&s, "method=richardson max-iter=5 stall=0");
    assert_ok(ctx, spry_solver_set_precon(fresh, M));
    solve(&s, fresh, 0, 1);
    check(&s, "richardson", "with a changed preconditioner", 0, 1);
    spry_solver_free(solver);
    spry_solver_free(fresh);
    spry_operator_free(M);
    spry_matrix_free(scaled);
    close_system(&s);
}

/* --- allocations --------------------------------------------------------------------------------
 */

/* From the second solve on a solve allocates its history, cg that of the energy, too, and nothing
 * else. */
static void later_solves_allocate_their_history(void **state)
{
    static const char *const methods[] = {"cg", "gmres", "bicgstab precon=ssor", "lsmr"};
    support_counts counts = {0};
    const spry_allocator allocator = support_counted(&counts);
    (void)state;
    for (size_t m = 0; m < sizeof methods / sizeof *methods; m++) {
        spry_context *ctx = NULL;
        system_ s;
        char options[96];
        assert_int_equal(spry_context_new_with(&allocator, "threads=2", &ctx), SPRY_STATUS_OK);
        open_system(ctx, SPRY_TYPE_D, &s);
        snprintf(options, sizeof options, "max-iter=100 method=%s", methods[m]);
        spry_solver *solver = new_solver(&s, options);
        solve(&s, solver, 0, 1);
        for (int k = 0; k < 3; k++) {
            counts.asked = 0;
            solve(&s, solver, k, 1);
            if (counts.asked != (m == 0 ? 2 : 1))
                fail_msg("%s: %d allocations", methods[m], counts.asked);
        }
        spry_solver_free(solver);
        close_system(&s);
        spry_context_free(ctx);
    }
}

/* What the tuner has said, and how often. */
typedef struct heard {
    int count;
    double products;
} heard;

static void hear(void *data, spry_log_level level, const char *message)
{
    heard *h = data;
    const char *number = strstr(message, " products, ");
    (void)level;
    if (strncmp(message, "format ", 7) != 0 || !number)
        return;
    while (number > message && number[-1] >= '0' && number[-1] <= '9')
        number--;
    h->count++;
    h->products = strtod(number, NULL);
}

/* With multigrid one solve is too few products to look for a format. A solver that had many such
 * solves looks for one, once, and for as many products as it has had. */
static void formats_are_looked_for_when_solves_are_many(void **state)
{
    spry_context *ctx = NULL;
    char options[64];
    spry_matrix *A = NULL;
    spry_vector *b = NULL, *x = NULL;
    spry_solver *solver = NULL;
    heard h = {0, 0};
    int64_t side = 64, iterations = 0;
    (void)state;
    assert_int_equal(spry_context_new("log=info", &ctx), SPRY_STATUS_OK);
    while (side * side * 5 * 12 <= 2 * tune_second_cache())
        side *= 2;
    snprintf(options, sizeof options, "nx=%d ny=%d", (int)side, (int)side);
    assert_ok(ctx, spry_generate(ctx, "poisson2d", options, &A));
    assert_ok(ctx, spry_vector_ones(ctx, A, &b));
    assert_ok(ctx, spry_vector_zeros(ctx, A, &x));
    assert_ok(ctx, spry_solver_new(ctx, &solver));
    assert_ok(ctx, spry_solver_set(solver, "method=cg precon=amg format=auto device=cpu"));
    assert_ok(ctx, spry_solver_set_matrix(solver, A));
    spry_context_set_log(ctx, hear, &h);
    for (int k = 0; k < 24; k++) {
        spry_result r = SPRY_RESULT_INIT;
        const int before = h.count;
        assert_ok(ctx, spry_vector_fill(x, (spry_scalar){0, 0}));
        assert_ok(ctx, spry_solve(solver, b, x, &r));
        assert_true(r.converged);
        assert_int_equal(h.count, iterations >= TUNE_RACED_PRODUCTS);
        if (h.count > before)
            assert_true(h.products == (double)iterations);
        if (h.count == 0)
            assert_string_equal(r.format, "csr");
        iterations += r.iterations;
        spry_result_clear(ctx, &r);
    }
    assert_int_equal(h.count, 1);
    spry_solver_free(solver);
    spry_vector_free(b);
    spry_vector_free(x);
    spry_matrix_free(A);
    spry_context_free(ctx);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, support_setup, support_teardown)
    const struct CMUnitTest tests[] = {
        TEST(all_methods_come_to_the_same_bits),
        TEST(failures_leave_nothing_behind),
        TEST(changed_operators_are_seen),
        cmocka_unit_test(formats_are_looked_for_when_solves_are_many),
        cmocka_unit_test(later_solves_allocate_their_history),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
