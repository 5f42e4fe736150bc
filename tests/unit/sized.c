/*
 * Structs that callers allocate may be those of an earlier or a later version: each function is
 * called with one whose size is 0, as here, and longer, and guards behind it; sizes that no version
 * has are refused, and nothing is written then.
 */
#include "base/base.h"
#include "support/numeric.h"
#include "support/support.h"

#include <stdlib.h>
#include <string.h>

enum { GUARD = 64, LONGEST = 8192 };
static const unsigned char guard = 0xA5;

/* What a function that fills or reads a struct is called with. */
typedef struct bench {
    spry_context *ctx;
    spry_matrix *A;
    spry_operator *op;
    spry_solver *solver;
    spry_vector *b, *x;
} bench;

typedef struct sized_case {
    const char *name;
    size_t own;
    spry_status (*call)(const bench *t, void *caller);
    size_t filled; /* offset of 8 bytes that are not all 0 afterwards; 0: it is read, not filled */
} sized_case;

static spry_status call_stats(const bench *t, void *caller)
{
    return spry_matrix_stats(t->A, caller);
}

static spry_status call_ranked(const bench *t, void *caller)
{
    return spry_matrix_ranked(t->A, caller);
}

static spry_status call_storage(const bench *t, void *caller)
{
    return spry_operator_storage(t->op, caller);
}

static spry_status call_grid(const bench *t, void *caller)
{
    spry_grid *grid = NULL;
    spry_status status = spry_grid_new(t->ctx, "8", &grid);
    if (status == SPRY_STATUS_OK)
        status = spry_grid_describe(grid, caller);
    spry_grid_free(grid);
    return status;
}

static spry_status call_device_info(const bench *t, void *caller)
{
    return spry_device_describe(t->ctx, 0, caller) ? SPRY_STATUS_OK : SPRY_STATUS_BAD_USAGE;
}

static spry_status call_bandwidth(const bench *t, void *caller)
{
    return spry_device_bandwidth(t->ctx, NULL, false, caller);
}

static spry_status call_cost(const bench *t, void *caller)
{
    return spry_method_cost(t->ctx, "cg", caller);
}

static spry_status call_entry(const bench *t, void *caller)
{
    (void)t;
    return spry_list_at(SPRY_LIST_METHODS, 0, caller) ? SPRY_STATUS_OK : SPRY_STATUS_BAD_USAGE;
}

/* Clearing, too, writes no more than there is. */
static spry_status call_tune(const bench *t, void *caller)
{
    spry_tune_report *report = caller;
    const spry_status status = spry_tune(t->A, NULL, "remember=no", report);
    if (status == SPRY_STATUS_OK) {
        assert_int_equal(report->row_size, sizeof(spry_tune_row));
        assert_null(spry_tune_row_at(report, report->count));
        spry_tune_report_clear(t->ctx, report);
        assert_null(report->rows);
        report->format[0] = 'x';
    }
    return status;
}

static spry_status call_diagnose(const bench *t, void *caller)
{
    spry_diagnosis *d = caller;
    const spry_status status = spry_diagnose(t->A, NULL, "seconds=0", NULL, d);
    if (status == SPRY_STATUS_OK) {
        assert_int_equal(d->finding_size, sizeof(spry_finding));
        assert_true(d->count > 0 && !spry_finding_at(d, d->count)); /* no time: unchecked */
        spry_diagnosis_clear(t->ctx, d);
        assert_null(d->findings);
        d->count = 1;
    }
    return status;
}

static spry_status call_plan(const bench *t, void *caller)
{
    spry_plan *p = caller;
    const spry_status status = spry_solver_plan(t->solver, 1, p);
    if (status == SPRY_STATUS_OK) {
        spry_plan_clear(t->ctx, p);
        assert_null(p->next);
        p->method[0] = 'x';
    }
    return status;
}

/* The solve's result is read. */
static spry_status call_diagnose_result(const bench *t, void *caller)
{
    spry_diagnosis d = SPRY_DIAGNOSIS_INIT;
    const spry_status status = spry_diagnose(t->A, NULL, "seconds=0", caller, &d);
    spry_diagnosis_clear(t->ctx, &d);
    return status;
}

static spry_status call_result(const bench *t, void *caller)
{
    spry_result *result = caller;
    assert_ok(t->ctx, spry_vector_fill(t->x, (spry_scalar){0, 0}));
    const spry_status status = spry_solve(t->solver, t->b, t->x, result);
    if (status == SPRY_STATUS_OK) {
        assert_true(result->converged && result->history);
        spry_result_clear(t->ctx, result);
        assert_null(result->history);
        result->detail[0] = 'x';
    }
    return status;
}

static spry_status call_quick(const bench *t, void *caller)
{
    const spry_status status = spry_quick_solve(t->ctx, t->A, t->b, t->x, "method=cg", caller);
    if (status == SPRY_STATUS_OK)
        spry_result_clear(t->ctx, caller);
    ((spry_result *)caller)->detail[0] = (char)(status == SPRY_STATUS_OK ? 'x' : guard);
    return status;
}

/* One column; a struct of the caller's that is read. */
static spry_status call_dense(const bench *t, void *caller)
{
    spry_dense *B = caller, C = SPRY_DENSE_INIT;
    B->rows = C.rows = B->ld = C.ld = spry_vector_size(t->b);
    B->cols = C.cols = 1;
    B->by_rows = false;
    B->data = spry_vector_data(t->b);
    B->device = NULL;
    C.data = spry_vector_data(t->x);
    return spry_operator_multiply_dense(t->op, SPRY_TRANSPOSE_NO, (spry_scalar){1, 0}, B,
                                        (spry_scalar){0, 0}, &C);
}

static spry_status call_arrays(const bench *t, void *caller)
{
    return spry_matrix_arrays(t->A, caller);
}

/* An empty matrix; a struct that is read. */
static spry_status call_new(const bench *t, void *caller)
{
    spry_matrix *A = NULL;
    const spry_status status = spry_matrix_new(t->ctx, caller, SPRY_OWN_COPY, &A);
    spry_matrix_free(A);
    return status;
}

static spry_status call_allocator(const bench *t, void *caller)
{
    spry_allocator *allocator = caller;
    support_counts counts = {0};
    const spry_allocator counted = support_counted(&counts);
    spry_context *ctx = NULL;
    (void)t;
    allocator->allocate = counted.allocate;
    allocator->release = counted.release;
    allocator->data = counted.data;
    const spry_status status = spry_context_new_with(allocator, NULL, &ctx);
    assert_true((ctx != NULL) == (status == SPRY_STATUS_OK) && counts.asked == (ctx != NULL));
    spry_context_free(ctx);
    return status;
}

static spry_status call_split(const bench *t, void *caller)
{
    return spry_solve_split(t->A, t->b, t->x, "inner=jacobi max-iter=3", NULL, caller);
}

/* One step with the matrix. */
static spry_status call_steps(const bench *t, void *caller)
{
    spry_stepper *s = NULL;
    spry_status status = spry_stepper_new(t->ctx, "dt=0.01", &s);
    if (status == SPRY_STATUS_OK)
        status = spry_stepper_set_operator(s, t->op, NULL, NULL, NULL);
    if (status == SPRY_STATUS_OK)
        status = spry_stepper_run(s, 0, 0.01, t->x, caller);
    spry_stepper_free(s);
    return status;
}

static spry_status call_parareal(const bench *t, void *caller)
{
    spry_stepper *s = NULL;
    spry_status status = spry_stepper_new(t->ctx, "dt=0.01", &s);
    if (status == SPRY_STATUS_OK)
        status = spry_stepper_set_operator(s, t->op, NULL, NULL, NULL);
    if (status == SPRY_STATUS_OK)
        status = spry_parareal(1, &s, &s, 0, 0.01, t->x, NULL, NULL, caller);
    spry_stepper_free(s);
    return status;
}

static spry_status call_helmholtz(const bench *t, void *caller)
{
    spry_grid *grid = NULL;
    spry_vector *k2 = NULL;
    spry_status status = spry_grid_new(t->ctx, "8", &grid);
    if (status == SPRY_STATUS_OK)
        status = spry_vector_like(t->x, 1, &k2);
    if (status == SPRY_STATUS_OK)
        status = spry_vector_fill(k2, (spry_scalar){9, 0});
    if (status == SPRY_STATUS_OK)
        status = spry_operator_helmholtz(grid, k2, NULL, NULL, caller);
    spry_vector_free(k2);
    spry_grid_free(grid);
    return status;
}

/* A line of four points. */
static spry_status call_bounded(const bench *t, void *caller)
{
    spry_grid *grid = NULL;
    spry_operator *A = NULL;
    spry_bounded *s = NULL;
    spry_vector *v[3] = {NULL};
    spry_status status = spry_grid_new(t->ctx, "5", &grid);
    if (status == SPRY_STATUS_OK)
        status = spry_operator_stencil(grid, "-laplace", NULL, 0, NULL, NULL, &A);
    if (status == SPRY_STATUS_OK)
        status = spry_bounded_new(A, NULL, &s);
    for (int k = 0; k < 3 && status == SPRY_STATUS_OK; k++)
        status = spry_field_new(grid, SPRY_TYPE_D, false, NULL, NULL, &v[k]);
    if (status == SPRY_STATUS_OK)
        status = spry_bounded_solve(s, v[0], v[1], v[2], NULL, caller);
    for (int k = 0; k < 3; k++)
        spry_vector_free(v[k]);
    spry_bounded_free(s);
    spry_operator_free(A);
    spry_grid_free(grid);
    return status;
}

static spry_status call_wave(const bench *t, void *caller)
{
    spry_grid *grid = NULL;
    spry_vector *k2 = NULL;
    spry_wave *wave = NULL;
    spry_status status = spry_grid_new(t->ctx, "5 box=0:5", &grid);
    if (status == SPRY_STATUS_OK)
        status = spry_vector_new(t->ctx, SPRY_TYPE_D, 1, NULL, SPRY_OWN_COPY, &k2);
    if (status == SPRY_STATUS_OK)
        status = spry_vector_fill(k2, (spry_scalar){0.5, 0});
    if (status == SPRY_STATUS_OK)
        status = spry_wave_new(grid, k2, NULL, &wave);
    if (status == SPRY_STATUS_OK)
        status = spry_wave_describe(wave, caller);
    spry_wave_free(wave);
    spry_vector_free(k2);
    spry_grid_free(grid);
    return status;
}

static spry_status call_powers(const bench *t, void *caller)
{
    spry_powers *powers = NULL;
    spry_status status = spry_powers_new(t->A, NULL, &powers);
    if (status == SPRY_STATUS_OK)
        status = spry_powers_forecast(powers, caller);
    spry_powers_free(powers);
    return status;
}

static const sized_case cases[] = {
    {"stats", sizeof(spry_stats), call_stats, offsetof(spry_stats, rows)},
    {"ranked", sizeof(spry_ranked), call_ranked, offsetof(spry_ranked, rows)},
    {"storage", sizeof(spry_storage), call_storage, offsetof(spry_storage, format)},
    {"grid_info", sizeof(spry_grid_info), call_grid, offsetof(spry_grid_info, unknowns)},
    {"helmholtz info", sizeof(spry_helmholtz_info), call_helmholtz,
     offsetof(spry_helmholtz_info, wavelengths)},
    {"device_info", sizeof(spry_device_info), call_device_info, offsetof(spry_device_info, name)},
    {"bandwidth", sizeof(spry_bandwidth), call_bandwidth, offsetof(spry_bandwidth, read)},
    {"cost", sizeof(spry_cost), call_cost, offsetof(spry_cost, memory)},
    {"entry", sizeof(spry_entry), call_entry, offsetof(spry_entry, name)},
    {"tune_report", sizeof(spry_tune_report), call_tune, offsetof(spry_tune_report, format)},
    {"diagnosis", sizeof(spry_diagnosis), call_diagnose, offsetof(spry_diagnosis, count)},
    {"plan", sizeof(spry_plan), call_plan, offsetof(spry_plan, method)},
    {"diagnosed result", sizeof(spry_result), call_diagnose_result, 0},
    {"result", sizeof(spry_result), call_result, offsetof(spry_result, detail)},
    {"quick result", sizeof(spry_result), call_quick, offsetof(spry_result, detail)},
    {"split stats", sizeof(spry_split_stats), call_split, offsetof(spry_split_stats, checks)},
    {"bounded stats", sizeof(spry_bounded_stats), call_bounded,
     offsetof(spry_bounded_stats, contacts)},
    {"step stats", sizeof(spry_step_stats), call_steps, offsetof(spry_step_stats, steps)},
    {"parareal stats", sizeof(spry_parareal_stats), call_parareal,
     offsetof(spry_parareal_stats, slices)},
    {"wave info", sizeof(spry_wave_info), call_wave, offsetof(spry_wave_info, padded)},
    {"powers info", sizeof(spry_powers_info), call_powers, offsetof(spry_powers_info, steps)},
    {"dense", sizeof(spry_dense), call_dense, 0},
    {"arrays", sizeof(spry_arrays), call_arrays, offsetof(spry_arrays, rows)},
    {"new", sizeof(spry_arrays), call_new, 0},
    {"allocator", sizeof(spry_allocator), call_allocator, 0},
};

static int set_up(void **state)
{
    bench *t = calloc(1, sizeof *t);
    t->ctx = support_context("threads=1");
    assert_ok(t->ctx, spry_generate(t->ctx, "poisson2d", "size=8", &t->A));
    assert_ok(t->ctx, spry_operator_from_matrix(t->A, NULL, "sell", &t->op));
    assert_ok(t->ctx, spry_vector_ones(t->ctx, t->A, &t->b));
    assert_ok(t->ctx, spry_vector_zeros(t->ctx, t->A, &t->x));
    assert_ok(t->ctx, spry_solver_new(t->ctx, &t->solver));
    assert_ok(t->ctx, spry_solver_set_matrix(t->solver, t->A));
    *state = t;
    return 0;
}

static int tear_down(void **state)
{
    bench *t = *state;
    spry_solver_free(t->solver);
    spry_operator_free(t->op);
    spry_vector_free(t->b);
    spry_vector_free(t->x);
    spry_matrix_free(t->A);
    support_context_free(t->ctx);
    free(t);
    return 0;
}

/* Calls with a struct of `size` bytes, 0 for one that was cleared, in memory full of guards. */
static void call_sized(const bench *t, const sized_case *c, size_t size, bool fits)
{
    _Alignas(16) static unsigned char memory[LONGEST];
    unsigned char *caller = memory + GUARD;
    const size_t room = size && fits ? size : c->own;
    memset(memory, guard, sizeof memory);
    if (c->filled == 0 || size == 0)
        memset(caller, 0, room);
    memcpy(caller, &size, sizeof size);
    unsigned char before[LONGEST];
    memcpy(before, memory, sizeof memory);
    assert_status(t->ctx, fits ? SPRY_STATUS_OK : SPRY_STATUS_BAD_USAGE, c->call(t, caller));
    assert_memory_equal(caller, &size, sizeof size);
    assert_memory_equal(memory, before, GUARD);
    const size_t written = room < c->own ? room : c->own;
    assert_memory_equal(caller + written, before + GUARD + written, LONGEST - GUARD - written);
    if (!fits && c->filled > 0)
        assert_memory_equal(memory, before, sizeof memory);
    if (fits && c->filled > 0)
        assert_true(memcmp(caller + c->filled, (char[8]){0}, 8) != 0 &&
                    memcmp(caller + c->filled, memory, 8) != 0); /* which has guards */
}

static void test_sizes(void **state)
{
    const bench *t = *state;
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        const sized_case *c = &cases[k];
        print_message("%s\n", c->name);
        call_sized(t, c, 0, true);
        call_sized(t, c, c->own, true);
        call_sized(t, c, c->own + 40, true);
        call_sized(t, c, 1, false);
        call_sized(t, c, c->own / 2, false);
        call_sized(t, c, SIZE_MAX, false);
        call_sized(t, c, (size_t)1 << 40, false);
    }
}

/* Several results stand as far apart as their size says, and all say the same. */
static void test_results_in_a_row(void **state)
{
    enum { COUNT = 11, STRIDE = sizeof(spry_result) + 48 };
    const bench *t = *state;
    const spry_vector *b[COUNT];
    spry_vector *x[COUNT];
    char *memory = calloc(COUNT + 1, STRIDE);
    const size_t size = STRIDE;
    for (int k = 0; k < COUNT; k++) {
        b[k] = t->b;
        assert_ok(t->ctx, spry_vector_zeros(t->ctx, t->A, &x[k]));
        memset(memory + k * STRIDE, guard, STRIDE);
        memcpy(memory + k * STRIDE, &size, sizeof size);
    }
    assert_ok(t->ctx, spry_solve_many(t->solver, COUNT, b, x, (spry_result *)(void *)memory));
    for (int k = 0; k < COUNT; k++) {
        spry_result *result = (spry_result *)(void *)(memory + k * STRIDE);
        assert_int_equal(result->size, STRIDE);
        assert_true(result->converged && result->iterations > 0);
        for (size_t i = sizeof *result; i < STRIDE; i++)
            assert_int_equal((unsigned char)memory[(size_t)k * STRIDE + i], guard);
        spry_result_clear(t->ctx, result);
        assert_int_equal(result->size, STRIDE);
    }
    memset(memory + 3 * STRIDE, 0, sizeof size);
    assert_status(t->ctx, SPRY_STATUS_BAD_USAGE,
                  spry_solve_many(t->solver, COUNT, b, x, (spry_result *)(void *)memory));
    support_message_has(t->ctx, "result 3");
    for (int k = 0; k < COUNT; k++)
        spry_vector_free(x[k]);
    free(memory);
}

/* --- what comes later: a struct that has grown here, and callers that know less or more of it
 * -----
 */

typedef struct early {
    size_t size;
    int32_t a, b;
} early;
typedef struct late {
    size_t size;
    int32_t a, b, c, d;
} late;

static void test_growing(void **state)
{
    const bench *t = *state;
    const base_sized sized = BASE_SIZED(late, b); /* b was the last of the first version */
    const late own = {.a = 1, .b = 2, .c = 3, .d = 4};
    struct {
        early e;
        int32_t behind;
    } before = {{0, 9, 9}, 9};
    for (size_t size = 0; size <= sizeof(early); size += sizeof(early)) {
        before.e.size = size;
        assert_ok(t->ctx, base_blank(t->ctx, &before, &sized));
        assert_true(before.e.a == 0 && before.e.b == 0 && before.behind == 9);
        base_give(&before, &own, &sized);
        assert_true(before.e.a == 1 && before.e.b == 2 && before.behind == 9);
        assert_int_equal(before.e.size, size);
        late taken;
        assert_ok(t->ctx, base_take(t->ctx, &before, &taken, &sized));
        assert_true(taken.a == 1 && taken.b == 2 && taken.c == 0 && taken.d == 0);
        assert_int_equal(taken.size, sizeof taken);
    }
    struct {
        late l;
        int32_t e;
    } after = {{sizeof after, 9, 9, 9, 9}, 9};
    base_give(&after, &own, &sized);
    assert_true(after.l.d == 4 && after.e == 9);
    after.l.size = sizeof(early) - 1;
    assert_status(t->ctx, SPRY_STATUS_BAD_USAGE, base_check_size(t->ctx, &after, &sized));
    support_message_has(t->ctx, "late");
}

/* Rows of a table that are longer than those that the library knows. */
static void test_long_rows(void **state)
{
    typedef struct fields {
        int64_t one, two;
    } fields;
    static const struct {
        spry_option row;
        const char *more;
    } rows[] = {{{"one", SPRY_OPTION_INT, offsetof(fields, one), "1", 0, 9, NULL, "first"}, "x"},
                {{"two", SPRY_OPTION_INT, offsetof(fields, two), "2", 0, 9, NULL, "last"}, "y"}};
    const spry_option_list list = {&rows[0].row, 2, sizeof *rows, 0};
    const bench *t = *state;
    fields f = {0, 0};
    assert_ok(t->ctx, spry_options_default(t->ctx, list, &f));
    assert_true(f.one == 1 && f.two == 2);
    assert_ok(t->ctx, spry_options_parse(t->ctx, list, &f, "two=7"));
    assert_int_equal(f.two, 7);
    assert_ptr_equal(spry_options_at(list, 1), &rows[1].row);
    assert_ptr_equal(spry_options_find(list, "two"), &rows[1].row);
    assert_null(spry_options_at(list, 2));
    assert_null(spry_options_at(list, -1));
    assert_status(t->ctx, SPRY_STATUS_BAD_USAGE, spry_options_set(t->ctx, list, &f, "three", "1"));
    support_message_has(t->ctx, "one two");
}

/* Where the last member of 0.2.0 stands, and how long structs were: members are appended, never put
 * between others, moved or made wider. (Where pointers have 64 bits; elsewhere likewise.) */
static void test_layouts(void **state)
{
#define LAYOUT(type, last, place, size)                        \
    {                                                          \
#type, offsetof(type, last), sizeof(type), place, size \
    }
    static const struct {
        const char *name;
        size_t place, size, first_place, first_size;
    } layouts[] = {
        LAYOUT(spry_allocator, data, 24, 32),
        LAYOUT(spry_array_interface, stream, 48, 56),
        LAYOUT(spry_arrays, spare, 92, 96),
        LAYOUT(spry_bandwidth, triad, 16, 24),
        LAYOUT(spry_bounded_stats, levels, 24, 32),
        LAYOUT(spry_cost, transpose, 36, 40),
        LAYOUT(spry_dense, device, 48, 56),
        LAYOUT(spry_device_info, why, 473, 736),
        LAYOUT(spry_entry, flexible, 96, 104),
        LAYOUT(spry_grid_info, spacing, 152, 176),
        LAYOUT(spry_helmholtz_info, phase_error, 32, 40),
        LAYOUT(spry_option, help, 56, 64),
        LAYOUT(spry_option_list, given, 24, 32),
        LAYOUT(spry_parareal_stats, difference, 64, 72),
        LAYOUT(spry_powers_info, wait_seconds, 368, 376),
        LAYOUT(spry_result, tolerance, 712, 720),
        LAYOUT(spry_scalar, im, 8, 16),
        LAYOUT(spry_split_stats, switches, 72, 80),
        LAYOUT(spry_stats, norm_frobenius, 520, 528),
        LAYOUT(spry_step_stats, stopped, 88, 96),
        LAYOUT(spry_storage, exact, 184, 192),
        LAYOUT(spry_tune_report, row_size, 432, 440),
        LAYOUT(spry_tune_row, note, 168, 264),
        LAYOUT(spry_wave_info, farthest, 96, 104),
    };
    (void)state;
    for (size_t k = 0; sizeof(void *) == 8 && k < sizeof layouts / sizeof *layouts; k++) {
        if (layouts[k].place != layouts[k].first_place || layouts[k].size < layouts[k].first_size)
            fail_msg("%s: the last member of 0.2.0 is at %zu of %zu bytes, it was at %zu of %zu",
                     layouts[k].name, layouts[k].place, layouts[k].size, layouts[k].first_place,
                     layouts[k].first_size);
    }
    /* What is passed by value stays. */
    assert_true(sizeof(void *) != 8 || sizeof(spry_option_list) == 32);
    assert_int_equal(sizeof(spry_scalar), 16);
}

static void test_version(void **state)
{
    (void)state;
    char text[32];
    snprintf(text, sizeof text, "%d.%d.%d", SPRY_VERSION_MAJOR, SPRY_VERSION_MINOR,
             SPRY_VERSION_PATCH);
    assert_string_equal(spry_version(), text);
    assert_string_equal(SPRY_VERSION_TEXT, text);
    assert_int_equal(spry_version_number(), SPRY_VERSION);
    assert_int_equal(SPRY_VERSION_OF(1, 12, 3), 11203);
#if !SPRY_VERSION_AT_LEAST(0, 2, 0) || SPRY_VERSION_AT_LEAST(99, 0, 0)
    fail();
#endif
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sizes),   cmocka_unit_test(test_results_in_a_row),
        cmocka_unit_test(test_growing), cmocka_unit_test(test_long_rows),
        cmocka_unit_test(test_layouts), cmocka_unit_test(test_version),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
