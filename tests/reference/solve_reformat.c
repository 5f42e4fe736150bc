/*
 * Solves that go on for much longer than their storage format was chosen for, and change it once:
 * up to there they are those of the format they began with, bit by bit; what comes after does not
 * depend on threads, nor on where and how fast the other format was made; and what keeps it from
 * being made leaves the solve as it is.
 */
#include "choose/tune.h"
#include "krylov/solver.h"
#include "support/support.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { PRODUCTS = 10, BEGIN = 128, TAKE = 192 }; /* chosen for; begun and taken after */
static const char cg[] = "method=cg precon=none device=cpu tol=1e-10 reorder=none ";
/* The same, which ends a little after the change. */
static const char cg_ends[] =
    "method=cg precon=none device=cpu tol=1e-10 reorder=none max-iter=200";

/* A grid, of a side for which conjugate gradients need more than TAKE iterations; where the format
 * is to be forecast its matrix is just too large for the second-level cache: products take time. */
enum { LARGE = 0, SMALL = 80, SMALLEST = 64 };
typedef struct fixture {
    spry_context *ctx;
    int64_t side;
    spry_matrix *A;
    spry_vector *b, *x;
    spry_solver *solver;
    spry_result result;
    /* What the watch does. */
    int64_t stop_at, interrupt_at;
    struct refusing *allocator;
} fixture;

/* An allocator that refuses the nth block that is asked for in some iterations. */
typedef struct refusing {
    support_counts counts;
    spry_allocator inner;
    bool counts_now;
    int seen, nth;
} refusing;

static void *refuse_nth(void *data, size_t bytes, size_t alignment)
{
    refusing *r = data;
    r->seen += r->counts_now;
    return r->counts_now && r->seen == r->nth ? NULL
                                              : r->inner.allocate(r->inner.data, bytes, alignment);
}

static void release(void *data, void *memory, size_t bytes)
{
    refusing *r = data;
    r->inner.release(r->inner.data, memory, bytes);
}

static bool watch(void *data, int64_t at, double residual)
{
    fixture *f = data;
    (void)residual;
    if (f->allocator)
        f->allocator->counts_now = at == TAKE;
    if (at == f->interrupt_at)
        spry_context_interrupt(f->ctx);
    return at != f->stop_at;
}

static void open_with(fixture *f, spry_context *ctx, int64_t side)
{
    char options[64];
    *f = (fixture){.ctx = ctx, .side = side > 0 ? side : 128, .result = SPRY_RESULT_INIT};
    while (side == 0 && (5 * f->side - 4) * f->side * 12 <= tune_second_cache())
        f->side += 8;
    snprintf(options, sizeof options, "nx=%d ny=%d", (int)f->side, (int)f->side);
    assert_ok(ctx, spry_generate(ctx, "poisson2d", options, &f->A));
    assert_ok(ctx, spry_vector_ones(ctx, f->A, &f->b));
    assert_ok(ctx, spry_vector_zeros(ctx, f->A, &f->x));
    for (int64_t i = 0; i < f->b->n; i++)
        ((double *)f->b->data)[i] = base_uniform(7, (uint64_t)i) - 0.5;
    assert_ok(ctx, spry_solver_new(ctx, &f->solver));
    assert_ok(ctx, spry_solver_set_matrix(f->solver, f->A));
    spry_solver_set_watch(f->solver, watch, f);
}

static void open_fixture(fixture *f, const char *options, int64_t side)
{
    spry_context *ctx = NULL;
    assert_int_equal(spry_context_new(options, &ctx), SPRY_STATUS_OK);
    open_with(f, ctx, side);
}

/* With an allocator of the caller's, which no other thread may call. */
static void open_refusing(fixture *f, refusing *r, int64_t side)
{
    spry_allocator allocator = SPRY_ALLOCATOR_INIT;
    spry_context *ctx = NULL;
    *r = (refusing){.nth = 0};
    r->inner = support_counted(&r->counts);
    allocator.allocate = refuse_nth;
    allocator.release = release;
    allocator.data = r;
    assert_int_equal(spry_context_new_with(&allocator, "threads=2", &ctx), SPRY_STATUS_OK);
    open_with(f, ctx, side);
    f->allocator = r;
}

static void close_fixture(fixture *f)
{
    int64_t left, most;
    spry_result_clear(f->ctx, &f->result);
    spry_solver_free(f->solver);
    spry_vector_free(f->b);
    spry_vector_free(f->x);
    spry_matrix_free(f->A);
    spry_context_memory(f->ctx, &left, &most);
    assert_int_equal(left, 0);
    spry_context_free(f->ctx);
}

/* Nothing fails for the caller. */
static void solve(fixture *f, const char *how, const char *more)
{
    assert_ok(f->ctx, spry_solver_set(f->solver, how));
    assert_ok(f->ctx, spry_solver_set(f->solver, more));
    spry_result_clear(f->ctx, &f->result);
    assert_ok(f->ctx, spry_vector_fill(f->x, (spry_scalar){0, 0}));
    assert_ok(f->ctx, spry_solve(f->solver, f->b, f->x, &f->result));
    assert_string_equal(spry_message(f->ctx), "");
}

static double *copy_of(const spry_vector *v)
{
    double *copy = malloc((size_t)v->n * sizeof *copy);
    assert_non_null(copy);
    memcpy(copy, v->data, (size_t)v->n * sizeof *copy);
    return copy;
}

static void same_bits(const spry_vector *v, const double *expected)
{
    assert_memory_equal(v->data, expected, (size_t)v->n * sizeof *expected);
}

/* "csr, then sell:C=8,sigma=1 from iteration 193"; 0: from any. */
static void check_reported(const fixture *f, const char *other, int64_t from)
{
    char begin[64], end[64] = " from iteration ";
    const char *format = f->result.format;
    snprintf(begin, sizeof begin, "csr, then %s", other);
    if (from > 0)
        snprintf(end, sizeof end, " from iteration %d", (int)from);
    if (strncmp(format, begin, strlen(begin)) != 0 || !strstr(format, end))
        fail_msg("format \"%s\", expected \"%s\" and \"%s\"", format, begin, end);
}

/* As the solve in CSR up to the change, and as good after it. Both x have |b - A x| <= tol |b|, and
 * the least eigenvalue of the grid's matrix is 8 sin^2(pi / (2 (side + 1))): they differ by at most
 * twice tol |b| over that. */
static void format_changes_once(void **state)
{
    (void)state;
    fixture f;
    char other[136];
    open_fixture(&f, "threads=2", LARGE);
    solve(&f, cg, "tol=1e-6 format=csr");
    assert_string_equal(f.result.format, "csr");
    assert_true(f.result.converged && f.result.iterations > TAKE + 32);
    double *x = copy_of(f.x), b, distance = 0;
    double *history = malloc((TAKE + 1) * sizeof *history);
    assert_non_null(history);
    memcpy(history, f.result.history, (TAKE + 1) * sizeof *history);
    solve(&f, cg, "tol=1e-6 format=auto:products=10");
    assert_true(f.result.converged);
    check_reported(&f, "", TAKE + 1);
    assert_memory_equal(f.result.history, history, (TAKE + 1) * sizeof *history);
    assert_ok(f.ctx, spry_vector_norm(f.b, &b));
    for (int64_t i = 0; i < f.x->n; i++) {
        const double d = ((double *)f.x->data)[i] - x[i];
        distance += d * d;
    }
    const double angle = acos(-1) / (2 * (double)(f.side + 1)), least = 8 * pow(sin(angle), 2);
    assert_true(sqrt(distance) <= 2 * 1e-6 * b / least);
    /* the next solve begins with the other one, and keeps it */
    snprintf(other, sizeof other, "%.120s", f.result.format + strlen("csr, then "));
    *strstr(other, " from") = '\0';
    spry_operator *op = f.solver->setup.own_operator;
    solve(&f, cg, "max-iter=40");
    assert_string_equal(f.result.format, other);
    assert_ptr_equal(f.solver->setup.own_operator, op);
    double *again = copy_of(f.x);
    char named[160];
    snprintf(named, sizeof named, "max-iter=40 format=%s", other);
    solve(&f, cg, named);
    same_bits(f.x, again);
    free(again);
    free(history);
    free(x);
    close_fixture(&f);
}

/* One x for all: any number of threads, made in parallel with the iteration or within it. */
static void bits_do_not_depend_on_who_makes_it(void **state)
{
    (void)state;
    static const char *const threads[] = {"threads=1", "threads=3", NULL};
    double *expected = NULL;
    char format[136] = "";
    for (int k = 0; k < 3; k++) {
        refusing r = {.nth = 0};
        fixture f;
        if (threads[k])
            open_fixture(&f, threads[k], LARGE);
        else
            open_refusing(&f, &r, LARGE);
        solve(&f, cg_ends, "format=auto:products=10");
        check_reported(&f, "", TAKE + 1);
        if (k == 0) {
            expected = copy_of(f.x);
            snprintf(format, sizeof format, "%s", f.result.format);
        }
        assert_string_equal(f.result.format, format);
        same_bits(f.x, expected);
        close_fixture(&f);
        assert_int_equal(r.counts.blocks, 0);
    }
    free(expected);
}

/* Nothing is changed where it was not asked for, where the solve is short, and where it stops while
 * the other format is being made. */
static void format_stays(void **state)
{
    (void)state;
    fixture f;
    open_fixture(&f, "threads=2", LARGE);
    solve(&f, cg_ends, "format=csr");
    double *x = copy_of(f.x);
    solve(&f, cg_ends, "format=auto:products=10 reformat=no");
    assert_string_equal(f.result.format, "csr");
    same_bits(f.x, x);
    free(x);
    solve(&f, cg, "reformat=yes max-iter=192");
    assert_string_equal(f.result.format, "csr");
    assert_int_equal(f.result.iterations, TAKE);
    f.stop_at = BEGIN + 1;
    solve(&f, cg_ends, "");
    assert_string_equal(f.result.format, "csr");
    assert_int_equal(f.result.reason, SPRY_REASON_STOPPED);
    f.stop_at = 0;
    f.interrupt_at = BEGIN + 2;
    solve(&f, cg, "");
    assert_string_equal(f.result.format, "csr");
    assert_int_equal(f.result.reason, SPRY_REASON_STOPPED);
    f.interrupt_at = 0;
    solve(&f, cg_ends, "method=bicg"); /* whose products with A^H would need another one */
    assert_string_equal(f.result.format, "csr");
    solve(&f, cg_ends, "");
    check_reported(&f, "", TAKE + 1);
    close_fixture(&f);
}

/* Where there is no room for another format, in parallel with the iteration, the solve is that in
 * CSR. */
static void memory_may_be_short(void **state)
{
    (void)state;
    fixture f;
    int64_t now, most;
    char options[64];
    open_fixture(&f, "threads=2", LARGE);
    solve(&f, cg_ends, "format=auto:products=10 reformat=no");
    double *x = copy_of(f.x);
    spry_context_memory(f.ctx, &now, &most);
    close_fixture(&f);
    snprintf(options, sizeof options, "threads=2 memory-limit=%" PRId64, most + (1 << 12));
    open_fixture(&f, options, LARGE);
    solve(&f, cg_ends, "format=auto:products=10");
    assert_string_equal(f.result.format, "csr");
    same_bits(f.x, x);
    free(x);
    close_fixture(&f);
}

/* What another context has comes over, and how much that was at most. */
static void memory_comes_over(void **state)
{
    (void)state;
    spry_context *one = NULL, *other = NULL;
    int64_t now, most, own, other_now, other_most;
    assert_int_equal(spry_context_new("", &one), SPRY_STATUS_OK);
    assert_int_equal(spry_context_new("", &other), SPRY_STATUS_OK);
    void *first = spry_alloc(one, 1000), *gone = spry_alloc(other, 100000);
    spry_free(other, gone);
    void *kept = spry_alloc(other, 1000);
    assert_true(first && kept);
    spry_context_memory(one, &own, NULL);
    spry_context_memory(other, &other_now, &other_most);
    base_take_memory(one, other);
    spry_context_memory(one, &now, &most);
    assert_int_equal(now, own + other_now);
    assert_int_equal(most, own + other_most);
    spry_context_memory(other, &other_now, &other_most);
    assert_int_equal(other_now, 0);
    assert_int_equal(other_most, 0);
    spry_free(one, kept);
    spry_free(one, first);
    spry_context_memory(one, &now, NULL);
    assert_int_equal(now, 0);
    spry_context_free(one);
    spry_context_free(other);
}

/* Sets a solver up whose format was raced against one that is better for many products. */
static void set_raced(fixture *f, const char *how, const char *format)
{
    solve(f, how, "format=csr max-iter=1"); /* what was made is dropped */
    solve(f, how, "format=auto:products=10 max-iter=1");
    f->solver->setup.later = (solver_later){.by = LATER_RACED, .products = PRODUCTS};
    snprintf(f->solver->setup.later.format, sizeof f->solver->setup.later.format, "%s", format);
}

/* The nth allocation of the change fails: the solve goes on as it was, and says so. All of them
 * where the format is known, some where it is looked for. */
static void allocations_may_fail(void **state)
{
    (void)state;
    for (int raced = 0; raced < 2; raced++) {
        refusing r;
        fixture f;
        int all = 1, stayed = 0;
        open_refusing(&f, &r, raced ? SMALLEST : LARGE);
        for (int n = 0; n <= all; n += n < 1 || raced ? 1 : all / 3 + 1) {
            if (raced)
                set_raced(&f, cg, "sell:C=8,sigma=1");
            else
                solve(&f, cg, "format=csr max-iter=1");
            r.nth = n;
            r.seen = 0;
            solve(&f, cg, "format=auto:products=10 max-iter=200");
            assert_int_equal(f.result.iterations, 200);
            if (n == 0 || strcmp(f.result.format, "csr") != 0)
                check_reported(&f, "", TAKE + 1); /* some can be done without */
            else
                stayed++;
            all = n == 0 ? r.seen : all;
        }
        print_message("%d allocations, %d of them keep the format\n", all, stayed);
        assert_true(stayed > 0);
        close_fixture(&f);
        assert_int_equal(r.counts.blocks, 0);
    }
}

/* |b - A x| / |b| of every method's x, by a product of its own; and it changes at the first turn of
 * its loop after so many iterations: gmres has one for each 20, begins after 140 and takes it at
 * the first after 140 + 64. Sums of 5 products, of numbers of A with |A| <= 8, are off by
 * 7 u 8 |x| at most, in both formats. */
static void methods_change(void **state)
{
    (void)state;
    static const struct {
        const char *method;
        int64_t from;
    } methods[] = {
        {"cg", 193}, {"minres", 193}, {"cr", 193}, {"gmres:restart=20", 221}, {"bicgstab", 193}};
    fixture f;
    spry_operator *csr = NULL;
    spry_vector *r = NULL;
    open_fixture(&f, "threads=1", SMALL);
    assert_ok(f.ctx, spry_operator_from_matrix(f.A, NULL, NULL, &csr));
    assert_ok(f.ctx, spry_vector_like(f.b, f.b->n, &r));
    for (size_t m = 0; m < sizeof methods / sizeof *methods; m++) {
        char how[160], more[32];
        double norm, b, x;
        snprintf(how, sizeof how, "method=%s precon=none device=cpu tol=1e-13 reorder=none",
                 methods[m].method);
        set_raced(&f, how, "sell:C=8,sigma=1");
        snprintf(more, sizeof more, "max-iter=%d", (int)methods[m].from + 9);
        solve(&f, how, more);
        check_reported(&f, "sell:C=8,sigma=1", methods[m].from);
        assert_ok(f.ctx, spry_vector_copy(f.b, r));
        assert_ok(f.ctx, spry_operator_multiply(csr, SPRY_TRANSPOSE_NO, (spry_scalar){-1, 0}, f.x,
                                                (spry_scalar){1, 0}, r));
        assert_ok(f.ctx, spry_vector_norm(r, &norm));
        assert_ok(f.ctx, spry_vector_norm(f.b, &b));
        assert_ok(f.ctx, spry_vector_norm(f.x, &x));
        assert_true(fabs(norm / b - f.result.true_residual) <=
                    2 * 7 * 8 * DBL_EPSILON * (x + b) / b);
    }
    spry_operator_free(csr);
    spry_vector_free(r);
    close_fixture(&f);
}

/* A format that has no products by rows, where sweeps go by rows; and one that is none. */
static void unsuited_formats_are_left(void **state)
{
    (void)state;
    static const char *const formats[] = {"merge", "sell:C=8,sigma=1,values=f16", "nothing"};
    fixture f;
    open_fixture(&f, "threads=1", SMALL);
    solve(&f, cg_ends, "format=csr");
    double *x = copy_of(f.x);
    for (int k = 0; k < 3; k++) {
        if (k == 1) /* a value that 16 bits do not hold */
            support_put(f.A, 0, (spry_scalar){4 + 0x1p-30, 0});
        set_raced(&f, cg, formats[k]);
        solve(&f, cg_ends, "");
        assert_string_equal(f.result.format, "csr");
        if (k == 0)
            same_bits(f.x, x);
    }
    free(x);
    close_fixture(&f);
}

/* The last iteration of a run whose residual is far above one before it, after the change, that is
 * the least of all; 0: there is none. */
static int64_t find_bad_end(const double *history, int64_t count, int64_t *best)
{
    *best = 0;
    for (int64_t k = 1; k < count; k++) {
        if (*best > TAKE && history[k] > 4 * history[*best])
            return k;
        *best = history[k] < history[*best] ? k : *best;
    }
    return 0;
}

/* A run that is repeated up to its best x is repeated in both formats: x is that of as many
 * iterations, bit by bit. */
static void repeated_runs_change_as_before(void **state)
{
    (void)state;
    fixture f;
    char options[64];
    int64_t best;
    static const char how[] = "method=cgs precon=none device=cpu tol=1e-14 reorder=none stall=0";
    static const char other[] = "sell:C=8,sigma=1";
    open_fixture(&f, "threads=1", SMALL);
    set_raced(&f, how, other);
    solve(&f, how, "keep=last max-iter=600");
    check_reported(&f, other, TAKE + 1);
    const int64_t end = find_bad_end(f.result.history, f.result.history_size, &best);
    if (end == 0)
        fail_msg("no residual of cgs rises after iteration %d: take another system", TAKE);
    set_raced(&f, how, other);
    snprintf(options, sizeof options, "keep=last max-iter=%d", (int)best);
    solve(&f, how, options);
    check_reported(&f, other, TAKE + 1);
    double *x = copy_of(f.x);
    set_raced(&f, how, other);
    snprintf(options, sizeof options, "keep=best max-iter=%d", (int)end);
    solve(&f, how, options);
    check_reported(&f, other, TAKE + 1);
    same_bits(f.x, x);
    free(x);
    close_fixture(&f);
}

/* Several systems change together; one that has ended before has what it began with: that of a
 * vector that is nearly an eigenvector has its x at once. */
static void systems_change_together(void **state)
{
    (void)state;
    fixture f;
    spry_vector *b2 = NULL, *x2 = NULL;
    spry_result results[2] = {SPRY_RESULT_INIT, SPRY_RESULT_INIT};
    open_fixture(&f, "threads=2", LARGE);
    solve(&f, cg_ends, "format=auto:products=10");
    double *alone = copy_of(f.x);
    assert_ok(f.ctx, spry_vector_like(f.b, f.b->n, &b2));
    assert_ok(f.ctx, spry_vector_like(f.b, f.b->n, &x2));
    const double angle = acos(-1) / (double)(f.side + 1);
    for (int64_t i = 0; i < b2->n; i++)
        ((double *)b2->data)[i] =
            sin(angle * (double)(i % f.side + 1)) * sin(angle * (double)(i / f.side + 1));
    assert_ok(f.ctx, spry_solver_set(f.solver, "format=csr"));
    assert_ok(f.ctx, spry_solver_set(f.solver, "format=auto:products=10"));
    assert_ok(f.ctx, spry_vector_fill(f.x, (spry_scalar){0, 0}));
    assert_ok(f.ctx, spry_vector_fill(x2, (spry_scalar){0, 0}));
    const spry_vector *const b[] = {f.b, b2};
    spry_vector *const x[] = {f.x, x2};
    assert_ok(f.ctx, spry_solve_many(f.solver, 2, b, x, results));
    assert_true(results[1].converged && results[1].iterations < BEGIN);
    assert_string_equal(results[1].format, "csr");
    assert_string_equal(results[0].format, f.result.format);
    same_bits(f.x, alone);
    for (int k = 0; k < 2; k++)
        spry_result_clear(f.ctx, &results[k]);
    free(alone);
    spry_vector_free(b2);
    spry_vector_free(x2);
    close_fixture(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(format_changes_once),
        cmocka_unit_test(bits_do_not_depend_on_who_makes_it),
        cmocka_unit_test(format_stays),
        cmocka_unit_test(memory_may_be_short),
        cmocka_unit_test(memory_comes_over),
        cmocka_unit_test(allocations_may_fail),
        cmocka_unit_test(methods_change),
        cmocka_unit_test(unsuited_formats_are_left),
        cmocka_unit_test(repeated_runs_change_as_before),
        cmocka_unit_test(systems_change_together),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
