/*
 * Lower bounds on grids that are cut into blocks: every method has the course and the bits of one
 * rank, and a contact set that is known is found; what fails fails on all ranks alike.
 */
#include "mpi/ranks.h"

#include <float.h>
#include <math.h>
#include <spry/spry.h>
#include <stdio.h>
#include <string.h>

#define COUNT(array) (sizeof(array) / sizeof *(array))

/* Numbers that depend on the place alone, so that all ranks and one make the same. */
static double mix(const double *place, double seed)
{
    double t = seed;
    for (int a = 0; a < 3; a++)
        t += (place[a] + 0.137) * (12.9898 + 65.233 * a);
    t *= 43.75;
    return t - (double)(int64_t)t;
}

static void positive(void *data, const double *place, spry_scalar *value)
{
    (void)data;
    *value = (spry_scalar){1.5 + mix(place, 3) / 2, 0};
}

static void load(void *data, const double *place, spry_scalar *value)
{
    (void)data;
    *value = (spry_scalar){20 * mix(place, 1) - 14, 0};
}

static void floor_of(void *data, const double *place, spry_scalar *value)
{
    (void)data;
    *value = (spry_scalar){mix(place, 2) < 0.1 ? -INFINITY : 0.1 * mix(place, 2) - 0.1, 0};
}

/* A problem on ranks (0) and the same one without (1). */
typedef struct problem {
    spry_context *ctx;
    spry_grid *grid;
    spry_operator *A;
    spry_vector *b, *lower, *x;
} problem;

static problem make(spry_context *ctx, const char *grid, const char *text, const char *options,
                    spry_place_fn right, spry_place_fn bound)
{
    static const char *const names[] = {"k"};
    problem p = {.ctx = ctx};
    spry_vector *k = NULL;
    assert_ok(ctx, spry_grid_new(ctx, grid, &p.grid));
    assert_ok(ctx, spry_field_new(p.grid, SPRY_TYPE_D, true, positive, NULL, &k));
    assert_ok(ctx, spry_operator_stencil(p.grid, text, options, 1, names,
                                         (const spry_vector *[]){k}, &p.A));
    const spry_type type = spry_operator_type(p.A);
    assert_ok(ctx, spry_field_new(p.grid, type, false, right, NULL, &p.b));
    assert_ok(ctx, spry_field_new(p.grid, type, false, bound, NULL, &p.lower));
    assert_ok(ctx, spry_field_new(p.grid, type, false, NULL, NULL, &p.x));
    spry_vector_free(k);
    return p;
}

static void unmake(problem *p)
{
    spry_operator_free(p->A);
    spry_vector_free(p->b);
    spry_vector_free(p->lower);
    spry_vector_free(p->x);
    spry_grid_free(p->grid);
}

typedef struct outcome {
    spry_result r;
    spry_bounded_stats b;
} outcome;

static outcome solve(problem *p, const char *options)
{
    spry_bounded *s = NULL;
    outcome stats = {.r = SPRY_RESULT_INIT, .b = SPRY_BOUNDED_STATS_INIT};
    assert_ok(p->ctx, spry_vector_fill(p->x, (spry_scalar){-0.5, 0})); /* below most bounds */
    assert_ok(p->ctx, spry_bounded_new(p->A, options, &s));
    assert_ok(p->ctx, spry_bounded_solve(s, p->b, p->lower, p->x, &stats.r, &stats.b));
    spry_bounded_free(s);
    return stats;
}

/* The unknowns of this rank are those of the whole field, to the bit. */
static void same_field(const problem *ranked, const problem *single, const char *what)
{
    const size_t size = spry_type_size(ranked->x->type);
    spry_grid_info g = SPRY_GRID_INFO_INIT;
    int64_t i = 0;
    assert_ok(ranked->ctx, spry_grid_describe(ranked->grid, &g));
    for (int64_t z = g.begin[2]; z < g.end[2]; z++)
        for (int64_t y = g.begin[1]; y < g.end[1]; y++)
            for (int64_t x = g.begin[0]; x < g.end[0]; x++, i++) {
                const int64_t k = x + g.axis_unknowns[0] * (y + g.axis_unknowns[1] * z);
                if (memcmp((char *)ranked->x->data + (size_t)i * size,
                           (char *)single->x->data + (size_t)k * size, size) != 0)
                    fail_msg("%s: unknown %d %d %d is %.17g, without ranks %.17g", what, (int)x,
                             (int)y, (int)z, value_get(ranked->x->type, ranked->x->data, i).re,
                             value_get(single->x->type, single->x->data, k).re);
            }
    assert_int_equal(i, ranked->x->n);
}

/* Cuts along each axis and several; blocks of few planes, or of none; all boundaries; axes that are
 * halved one at a time, or once; levels that are cut to the last, joined on the way and from the
 * first one on. */
static void bits(void **state)
{
    static const struct {
        const char *grid, *text, *options;
        const char *ranks[4]; /* for 1 to 4 of them; NULL: auto */
    } cases[] = {
        {"16x16x16", "-laplace + 3", NULL, {NULL, NULL, NULL, "1x2x2"}},
        {"16x8x12 y=neumann z=periodic", "-div(k*grad) + k", NULL, {"1x1x1", "1x2x1", NULL, NULL}},
        {"8x8x8 x=periodic", "-laplace + 2*dz", "type=s", {NULL, "2x1x1", "1x3x1", "2x1x2"}},
        {"16x24 y=periodic stretch=x:cosine", "-laplace + 1", NULL, {NULL, NULL, NULL, NULL}},
        {"8x20 y=periodic", "-laplace + 1", NULL, {NULL, NULL, NULL, NULL}}, /* 5 are no colours */
        {"64x8 box=0:1,0:0.05", "-div(k*grad)", NULL, {NULL, NULL, "1x3", "1x4"}},
        {"8x4 y=dirichlet:neumann", "-laplace", NULL, {NULL, NULL, NULL, "1x4"}},
        {"7x5", "-laplace", NULL, {NULL, NULL, NULL, "1x4"}},
        {"64", "-laplace", NULL, {NULL, NULL, NULL, NULL}},
    };
    static const char *const options[] = {
        "max-iter=2 tol=0 rank-rows=1",
        "max-iter=3 tol=0 rank-rows=12 pre=1 post=3",
        "method=richardson max-iter=5 tol=0 look-every=3",
        "method=redblack max-iter=5 tol=0 look-every=2",
        "max-iter=2 tol=0",
    };
    (void)state;
    spry_context *ctx = ranks_context(NULL), *alone = support_context(NULL);
    const int ranks = spry_context_ranks(ctx);
    for (size_t c = 0; c < COUNT(cases); c++) {
        const char *cut = cases[c].ranks[ranks - 1];
        char text[96];
        snprintf(text, sizeof text, "%s%s%s", cases[c].grid, cut ? " ranks=" : "", cut ? cut : "");
        problem p = make(ctx, text, cases[c].text, cases[c].options, load, floor_of);
        problem w = make(alone, cases[c].grid, cases[c].text, cases[c].options, load, floor_of);
        for (size_t k = c % 2; k < COUNT(options); k += 2) {
            const outcome s = solve(&p, options[k]), t = solve(&w, options[k]);
            if (s.r.residual != t.r.residual || s.r.initial_residual != t.r.initial_residual ||
                s.b.contacts != t.b.contacts || s.b.levels != t.b.levels ||
                s.b.untruncated != t.b.untruncated || s.r.iterations != t.r.iterations ||
                s.r.tolerance != t.r.tolerance || s.b.contacts == 0)
                fail_msg("%s, %s: residual %.17g, %d contacts, %d levels; without ranks %.17g, "
                         "%d, %d",
                         text, options[k], s.r.residual, (int)s.b.contacts, s.b.levels,
                         t.r.residual, (int)t.b.contacts, t.b.levels);
            same_field(&p, &w, text);
        }
        unmake(&p);
        unmake(&w);
    }
    support_context_free(alone);
    support_context_free(ctx);
}

/* --- a strip -------------------------------------------------------------------------------------
 */

enum { WEIGHT = 10 };
static const double edge = 0.25;

static double above_strip(const double *place)
{
    const double y = place[1] < 0.5 ? place[1] : 1 - place[1];
    return y < edge ? WEIGHT * (edge - y) * (edge - y) / 2 : 0;
}

static void weight(void *data, const double *place, spry_scalar *value)
{
    (void)data;
    (void)place;
    *value = (spry_scalar){-WEIGHT, 0};
}

static void nothing(void *data, const double *place, spry_scalar *value)
{
    (void)data;
    (void)place;
    *value = (spry_scalar){0, 0};
}

static void at_faces(void *data, int axis, const double *place, spry_scalar *value)
{
    (void)data;
    *value = (spry_scalar){axis < 0 ? above_strip(place) : 0, 0};
}

/*
 * A membrane under a weight s between two edges at s a^2 / 2 lies on the floor from a to 1 - a, and
 * is s (a - y)^2 / 2 off it, of which differences are exact where a is a point: u is the
 * discrete solution, too, with A u - b at least s / 2 in contact and u at least s h^2 / 2 next to
 * it. So the contact set is known point by point as long as the residual e is less than these, and
 * x differs from u by (1 + 1/8) e at most (tests/reference/bounded.c), and by the rounding of b: 4
 * numbers as large as s / h^2 in a row, and w = y (1 - y) / 2.
 */
static void strip(void **state)
{
    enum { ALONG = 16, ACROSS = 8 };
    (void)state;
    spry_context *ctx = ranks_context(NULL);
    problem p = make(ctx, "8x16x8 x=periodic z=neumann", "-laplace", NULL, weight, nothing);
    assert_ok(ctx, spry_stencil_rhs(p.A, p.b, at_faces, NULL, p.b));
    const outcome stats = solve(&p, "tol=1e-10 rank-rows=20");
    assert_true(stats.r.converged);
    assert_int_equal(stats.b.contacts, (ALONG / 2 + 1) * ACROSS * (ACROSS + 1));
    const double *x = spry_vector_data_const(p.x);
    const double error =
        1.125 * stats.r.residual + 0.125 * 4 * DBL_EPSILON * WEIGHT * ALONG * ALONG;
    for (int64_t i = 0; i < spry_vector_size(p.x); i++) {
        double place[3];
        assert_ok(ctx, spry_grid_place(p.grid, false, i, place));
        const double u = above_strip(place);
        assert_true(fabs(x[i] - u) <= error);
        assert_int_equal(x[i] == 0, u == 0);
    }
    unmake(&p);
    support_context_free(ctx);
}

/* --- faults --------------------------------------------------------------------------------------
 */

/* One rank's options, vectors and wish to stop concern all. */
static void faults(void **state)
{
    (void)state;
    spry_context *ctx = ranks_context(NULL);
    const bool first = spry_context_rank(ctx) == 0;
    problem p = make(ctx, "8x8x8", "-laplace", NULL, load, floor_of);
    spry_bounded *s = NULL;
    outcome stats = {.r = SPRY_RESULT_INIT, .b = SPRY_BOUNDED_STATS_INIT};
    spry_vector *other = NULL;
    spry_status status = spry_bounded_new(p.A, first ? "tol=2" : NULL, &s);
    assert_int_not_equal(status, SPRY_STATUS_OK);
    ranks_alike(ctx, status);
    if (spry_context_ranks(ctx) > 1) {
        status = spry_bounded_new(p.A, first ? "tol=0.1" : NULL, &s);
        assert_int_equal(status, SPRY_STATUS_BAD_USAGE);
        ranks_alike(ctx, status);
    }
    assert_null(s);
    assert_ok(ctx, spry_bounded_new(p.A, "rank-rows=1", &s));
    const int64_t n = spry_vector_size(p.x) + first;
    assert_ok(ctx, spry_vector_new(ctx, SPRY_TYPE_D, n, NULL, SPRY_OWN_COPY, &other));
    status = spry_bounded_solve(s, p.b, p.lower, other, NULL, NULL);
    assert_int_equal(status, SPRY_STATUS_BAD_USAGE);
    ranks_alike(ctx, status);
    if (first)
        spry_context_interrupt(ctx);
    assert_ok(ctx, spry_bounded_solve(s, p.b, p.lower, p.x, &stats.r, &stats.b));
    assert_int_equal(stats.r.reason, SPRY_REASON_STOPPED);
    if (first)
        (void)spry_context_interrupted(ctx, true);
    if (first && p.b->n > 0)
        ((double *)spry_vector_data(p.b))[0] = NAN;
    assert_ok(ctx, spry_bounded_solve(s, p.b, p.lower, p.x, &stats.r, &stats.b));
    assert_int_equal(stats.r.reason, SPRY_REASON_NONFINITE);
    spry_vector_free(other);
    spry_bounded_free(s);
    unmake(&p);
    support_context_free(ctx);
}

/* Each allocation of one rank fails in turn. */
static void memory(void **state)
{
    (void)state;
    spry_context *ctx = ranks_context(NULL);
    const int ranks = spry_context_ranks(ctx);
    problem p = make(ctx, "8x8x8", "-div(k*grad)", NULL, load, floor_of);
    int passed = 0;
    /* With more ranks nothing is made that two do not make. */
    for (int nth = 1; ranks < 3 && passed < 2 && nth < 2000; nth += nth < 40 ? 1 : 11) {
        int64_t before, after;
        spry_bounded *s = NULL;
        spry_context_memory(ctx, &before, NULL);
        base_fail_allocation(ctx, spry_context_rank(ctx) == nth % ranks ? nth : 0, false);
        spry_status status = spry_bounded_new(p.A, "rank-rows=20 max-iter=1", &s);
        if (status == SPRY_STATUS_OK)
            status = spry_bounded_solve(s, p.b, p.lower, p.x, NULL, NULL);
        base_fail_allocation(ctx, 0, false);
        spry_bounded_free(s);
        ranks_alike(ctx, status);
        if (status != SPRY_STATUS_OK)
            assert_int_equal(status, SPRY_STATUS_NO_MEMORY);
        passed = status == SPRY_STATUS_OK ? passed + 1 : 0;
        spry_context_memory(ctx, &after, NULL);
        assert_int_equal(after, before);
    }
    assert_true(passed > 0 || ranks > 2);
    unmake(&p);
    support_context_free(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(bits), cmocka_unit_test(strip),
                                       cmocka_unit_test(faults), cmocka_unit_test(memory)};
    MPI_Init(NULL, NULL);
    return ranks_run(cmocka_run_group_tests(tests, NULL, NULL));
}
