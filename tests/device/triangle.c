/*
 * Triangular systems on devices, by one group, by groups that wait for each other and set by set,
 * against the same on the host. All ways give the same bits.
 */
#include "support/devices.h"
#include "support/numeric.h"

#include "precon/factors/triangle_device.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 1024 }; /* columns of a row */

/* Columns of row i off the diagonal, in any order; gives their number. */
typedef int (*neighbours)(int64_t n, int64_t i, int32_t *columns);

typedef struct subject {
    const char *name;
    int64_t n;
    neighbours row;
    bool shuffled;
} subject;

static int alone(int64_t n, int64_t i, int32_t *columns)
{
    (void)n, (void)i;
    columns[0] = -1; /* not counted */
    return 0;
}

static int path(int64_t n, int64_t i, int32_t *columns)
{
    int count = 0;
    if (i > 0)
        columns[count++] = (int32_t)(i - 1);
    if (i < n - 1)
        columns[count++] = (int32_t)(i + 1);
    return count;
}

static int grid(int64_t n, int64_t i, int32_t *columns)
{
    enum { WIDTH = 40 };
    int count = 0;
    if (i >= WIDTH)
        columns[count++] = (int32_t)(i - WIDTH);
    if (i % WIDTH > 0)
        columns[count++] = (int32_t)(i - 1);
    if (i % WIDTH < WIDTH - 1 && i < n - 1)
        columns[count++] = (int32_t)(i + 1);
    if (i + WIDTH < n)
        columns[count++] = (int32_t)(i + WIDTH);
    return count;
}

static int cube(int64_t n, int64_t i, int32_t *columns)
{
    enum { SIDE = 60 };
    const int64_t at[3] = {i % SIDE, i / SIDE % SIDE, i / SIDE / SIDE};
    int count = 0;
    (void)n;
    for (int64_t axis = 0, step = 1; axis < 3; axis++, step *= SIDE) {
        if (at[axis] > 0)
            columns[count++] = (int32_t)(i - step);
        if (at[axis] < SIDE - 1)
            columns[count++] = (int32_t)(i + step);
    }
    return count;
}

/* Three sets of a third of the rows each, more than a group has at once. */
static int layers(int64_t n, int64_t i, int32_t *columns)
{
    const int64_t third = n / 3;
    int count = 0;
    for (int j = 0; j < 5 && i >= third; j++)
        columns[count++] = (int32_t)(i / third * third - third + (i + 17 * j) % third);
    return count;
}

/* Sets of some rows that also name rows which were done long before. */
static int far_back(int64_t n, int64_t i, int32_t *columns)
{
    int count = 0;
    (void)n;
    if (i >= 20)
        columns[count++] = (int32_t)(i - 20);
    if (i >= 40)
        columns[count++] = (int32_t)(i / 5);
    return count;
}

/* Small sets between large ones, more than once. */
static int waist(int64_t n, int64_t i, int32_t *columns)
{
    enum { PERIOD = 1500, NARROW = 30 };
    int count = 0;
    (void)n;
    if (i % PERIOD < NARROW && i > 0)
        columns[count++] = (int32_t)(i - 1);
    else if (i % PERIOD >= NARROW)
        columns[count++] = (int32_t)(i - i % PERIOD + NARROW - 1);
    return count;
}

/* Some hundred entries in each row, and rows that are full. */
static int heavy(int64_t n, int64_t i, int32_t *columns)
{
    int count = 0;
    for (int64_t j = 0; j < n; j++)
        if (j != i && (i == n - 1 || i % 200 == 150 || (j < i && j % 8 == 0)))
            columns[count++] = (int32_t)j;
    return count;
}

static const subject subjects[] = {
    {"empty", 0, alone, false},         {"one row", 1, alone, false},
    {"diagonal", 777, alone, false},    {"path", 700, path, false},
    {"grid", 1600, grid, false},        {"shuffled grid", 1600, grid, true},
    {"layers", 3000, layers, false},    {"far back", 5000, far_back, false},
    {"waists", 6000, waist, false},     {"long rows", 401, heavy, false},
    {"shuffled path", 300, path, true},
};

typedef struct linear_system {
    int64_t n, longest, *offsets;
    int32_t *columns, *perm;
    void *values, *f; /* by rows */
} linear_system;

/* Numbers of a row sum up to at most 1/2, those of f and of right-hand sides are at most 1 in
 * either part. */
static linear_system make_system(spry_type type, const subject *s)
{
    static int32_t room[MOST];
    linear_system a = {.n = s->n, .longest = 0};
    a.offsets = calloc((size_t)s->n + 1, sizeof *a.offsets);
    for (int64_t i = 0; i < s->n; i++) {
        const int64_t count = s->row(s->n, i, room);
        a.offsets[i + 1] = a.offsets[i] + count;
        a.longest = count > a.longest ? count : a.longest;
    }
    const int64_t nnz = a.offsets[s->n];
    a.columns = calloc((size_t)nnz + 1, sizeof *a.columns);
    for (int64_t i = 0; i < s->n; i++)
        s->row(s->n, i, a.columns + a.offsets[i]);
    a.values = numeric_array(type, nnz, 0, 3);
    a.f = numeric_array(type, s->n, 0, 4);
    for (int64_t i = 0; i < s->n; i++)
        for (int64_t e = a.offsets[i]; e < a.offsets[i + 1]; e++) {
            const spry_scalar v = value_get(type, a.values, e);
            const double over = 4 * (double)(a.offsets[i + 1] - a.offsets[i]);
            value_set(type, a.values, e, (spry_scalar){v.re / over, v.im / over});
        }
    if (s->shuffled) {
        a.perm = calloc((size_t)s->n, sizeof *a.perm);
        for (int64_t i = 0; i < s->n; i++)
            a.perm[i] = (int32_t)(i * 131 % s->n); /* 131 is prime and divides no n */
    }
    return a;
}

static void free_system(spry_type type, linear_system *a)
{
    free(a->offsets);
    free(a->columns);
    free(a->perm);
    numeric_free(type, a->values, 0);
    numeric_free(type, a->f, 0);
}

/* (I + U)^-1 F (I + L)^-1, or the first triangle alone where count is 1. */
static void make_chain(spry_context *ctx, spry_device *d, spry_type type, const linear_system *a,
                       int count, triangle_wish wish, triangle_sets *sets, triangle_chain *c)
{
    const triangle_pattern p = {.offsets = a->offsets, .columns = a->columns};
    assert_ok(ctx, triangle_sets_make(ctx, a->n, &p, 1, a->perm, d != NULL, sets));
    *c = (triangle_chain){.device = d, .sets = sets, .type = type, .wish = wish};
    for (int k = 0; k < count; k++)
        assert_ok(ctx, triangle_of_pattern(ctx, &p, a->values, sets, type, k == 1, &c->t[k]));
    assert_ok(ctx, triangle_by_places(ctx, sets, type, a->f, &c->f[count - 1]));
    c->count = count;
    assert_ok(ctx, triangle_chain_place(ctx, c));
}

static void *apply(spry_context *ctx, const triangle_chain *c, bool conjugate, const void *r)
{
    const int64_t n = c->sets->n;
    const size_t bytes = (size_t)n * spry_type_size(c->type);
    spry_vector *x = numeric_random(ctx, c->device, c->type, n, 0),
                *z = numeric_random(ctx, c->device, c->type, n, 0);
    void *out = malloc(bytes + 1);
    spry_vector on_host = {.ctx = ctx, .type = c->type, .n = n, .data = (void *)(uintptr_t)r};
    assert_ok(ctx, spry_vector_copy(&on_host, x));
    assert_ok(ctx, triangle_chain_apply(ctx, c, conjugate, x, z));
    on_host.data = out;
    assert_ok(ctx, spry_vector_copy(z, &on_host));
    spry_vector_free(x);
    spry_vector_free(z);
    return out;
}

/*
 * With rows that sum up to q = 1/2 and m entries in them a solve makes its input's error e into at
 * most (e + g R) / (1 - q) with g = (4 m + 8) u and R the largest number it sees, its own being up
 * to R / (1 - q). Inputs are up to 2 (both parts), f doubles that: errors are below 64 g after two
 * solves, on either side.
 */
static void check_near(const subject *s, spry_type type, const linear_system *a,
                       const void *expected, const void *found)
{
    const double bound = 2 * 64 * (4 * (double)a->longest + 8) * numeric_unit(type);
    for (int64_t i = 0; i < a->n; i++) {
        const spry_scalar x = value_get(type, expected, i), y = value_get(type, found, i);
        if (!(fabs(x.re - y.re) <= bound && fabs(x.im - y.im) <= bound))
            fail_msg("%s, type %s: row %d is %g%+gi, on the host %g%+gi", s->name,
                     spry_type_name(type), (int)i, y.re, y.im, x.re, x.im);
    }
}

static void check_ways(spry_context *ctx, spry_device *d, spry_type type, const subject *s,
                       int count, int lanes)
{
    const size_t bytes = (size_t)s->n * spry_type_size(type);
    linear_system a = make_system(type, s);
    triangle_sets on_host, on_device;
    triangle_chain host, c;
    void *r = numeric_array(type, s->n, 0, 5), *first = NULL;
    const bool conjugate = lanes > 1;
    make_chain(ctx, NULL, type, &a, count, (triangle_wish){0}, &on_host, &host);
    void *expected = apply(ctx, &host, conjugate, r);
    for (int way = TRIANGLE_ANY; way <= TRIANGLE_SET; way++) {
        /* Teams of a processor may take turns where they do not meet within a row. */
        const triangle_wish wish = {.way = (triangle_way)way,
                                    .lanes = lanes,
                                    .teams = d->facts.processor && lanes == 1 ? 2 : 0};
        make_chain(ctx, d, type, &a, count, wish, &on_device, &c);
        for (int turn = 0; turn < 2; turn++) {
            void *z = apply(ctx, &c, conjugate, r);
            check_near(s, type, &a, expected, z);
            if (first)
                assert_memory_equal(first, z, bytes);
            else
                first = malloc(bytes + 1);
            memcpy(first, z, bytes);
            free(z);
        }
        triangle_chain_clear(ctx, &c);
        triangle_sets_clear(ctx, &on_device);
    }
    free(first);
    free(expected);
    numeric_free(type, r, 0);
    triangle_chain_clear(ctx, &host);
    triangle_sets_clear(ctx, &on_host);
    free_system(type, &a);
}

static void ways(spry_context *ctx, spry_device *d)
{
    for (size_t k = 0; k < sizeof subjects / sizeof *subjects; k++)
        DEVICES_EACH_TYPE (d, t) {
            check_ways(ctx, d, support_types[t], &subjects[k], 2, 1);
            check_ways(ctx, d, support_types[t], &subjects[k], 1, 4);
        }
}

/* Numbers with the bits of what is not there yet are not waited for. */
static void not_numbers(spry_context *ctx, spry_device *d)
{
    const subject s = {"path", 300, path, false};
    DEVICES_EACH_TYPE (d, t)
        for (int way = TRIANGLE_ALONE; way <= TRIANGLE_SET; way++) {
            const spry_type type = support_types[t];
            const bool single = type == SPRY_TYPE_S || type == SPRY_TYPE_C;
            linear_system a = make_system(type, &s);
            void *r = numeric_array(type, s.n, 0, 5);
            const uint64_t unknown = single ? UINT64_C(0xffffdeadffffdead) : ~UINT64_C(0x2152);
            triangle_sets sets;
            triangle_chain c;
            for (size_t at = 0; at < (size_t)s.n * spry_type_size(type) / 8; at++)
                memcpy((char *)r + 8 * at, &unknown, 8);
            make_chain(ctx, d, type, &a, 2, (triangle_wish){.way = (triangle_way)way}, &sets, &c);
            void *z = apply(ctx, &c, false, r);
            for (int64_t i = 0; i < s.n; i++)
                assert_true(isnan(value_get(type, z, i).re));
            free(z);
            numeric_free(type, r, 0);
            triangle_chain_clear(ctx, &c);
            triangle_sets_clear(ctx, &sets);
            free_system(type, &a);
        }
}

/* What was recorded gives the same each time it is played. */
static void recordings(spry_context *ctx, spry_device *d)
{
    const subject s = {"waists", 6000, waist, false};
    const spry_type type = SPRY_TYPE_D;
    linear_system a = make_system(type, &s);
    void *r = numeric_array(type, s.n, 0, 5);
    device_graph *g = NULL;
    triangle_sets sets;
    triangle_chain c;
    if (!d->facts.has_graphs) {
        numeric_free(type, r, 0);
        free_system(type, &a);
        return;
    }
    make_chain(ctx, d, type, &a, 2, (triangle_wish){.way = TRIANGLE_SHARED}, &sets, &c);
    void *expected = apply(ctx, &c, false, r);
    spry_vector *x = numeric_random(ctx, d, type, s.n, 0),
                *z = numeric_random(ctx, d, type, s.n, 0);
    spry_vector on_host = {.ctx = ctx, .type = type, .n = s.n, .data = r};
    assert_ok(ctx, spry_vector_copy(&on_host, x));
    assert_ok(ctx, device_record_begin(d));
    assert_ok(ctx, triangle_chain_apply(ctx, &c, false, x, z));
    assert_ok(ctx, device_record_end(d, &g));
    for (int turn = 0; turn < 3; turn++) {
        assert_ok(ctx, device_clear(z->memory, 0, s.n * 8));
        assert_ok(ctx, device_play(g));
        assert_ok(ctx, spry_vector_copy(z, &on_host));
        assert_memory_equal(expected, r, (size_t)s.n * 8);
    }
    device_graph_free(g);
    spry_vector_free(x);
    spry_vector_free(z);
    free(expected);
    numeric_free(type, r, 0);
    triangle_chain_clear(ctx, &c);
    triangle_sets_clear(ctx, &sets);
    free_system(type, &a);
}

static void check_plan(spry_context *ctx, const triangle_chain *c, bool some_alone,
                       bool some_shared)
{
    triangle_plan plan;
    int32_t next = 0;
    assert_ok(ctx, triangle_plan_make(c, &plan));
    for (int64_t t = 0; t < plan.stretches; t++) {
        assert_int_equal(plan.stretch[t].begin, next);
        next += plan.stretch[t].count;
    }
    assert_int_equal(next, plan.chunks);
    if (!some_alone || !some_shared) {
        assert_int_equal(plan.has[TRIANGLE_ALONE], some_alone);
        assert_int_equal(plan.has[TRIANGLE_SHARED] || plan.has[TRIANGLE_SET], some_shared);
        if (!plan.has[TRIANGLE_SET])
            assert_int_equal(plan.stretches, 1);
    }
    triangle_plan_clear(ctx, &plan);
}

/* Sets of one row are for one group, sets of thousands for all, and a cube may have both. */
static void plans(spry_context *ctx, spry_device *d)
{
    static const struct {
        subject s;
        bool alone, shared;
    } cases[] = {{{"path", 5000, path, false}, true, false},
                 {{"layers", 300000, layers, false}, false, true},
                 {{"diagonal", 300000, alone, false}, false, true},
                 {{"cube", 216000, cube, false}, true, true}};
    const spry_type type = SPRY_TYPE_D;
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        const subject *s = &cases[k].s;
        linear_system a = make_system(type, s);
        triangle_sets on_host, on_device;
        triangle_chain host, c;
        void *r = numeric_array(type, s->n, 0, 5);
        make_chain(ctx, NULL, type, &a, 2, (triangle_wish){0}, &on_host, &host);
        make_chain(ctx, d, type, &a, 2, (triangle_wish){0}, &on_device, &c);
        check_plan(ctx, &c, cases[k].alone, cases[k].shared);
        void *x = apply(ctx, &host, false, r);
        void *y = apply(ctx, &c, false, r);
        check_near(s, type, &a, x, y);
        free(x);
        free(y);
        numeric_free(type, r, 0);
        triangle_chain_clear(ctx, &host);
        triangle_chain_clear(ctx, &c);
        triangle_sets_clear(ctx, &on_host);
        triangle_sets_clear(ctx, &on_device);
        free_system(type, &a);
    }
}

int main(void)
{
    static const devices_test tests[] = {DEVICES_TEST(ways), DEVICES_TEST(not_numbers),
                                         DEVICES_TEST(recordings), DEVICES_TEST(plans)};
    return DEVICES_RUN(tests);
}
