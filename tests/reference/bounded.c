/* Lower bounds on grids: methods agree, complementarity at every point, a contact set that is
 * known. */
#include "operator/operator.h"
#include "support/support.h"

#include <float.h>
#include <math.h>
#include <string.h>

#define COUNT(array) (sizeof(array) / sizeof *(array))

typedef struct problem {
    spry_grid *grid;
    spry_operator *A;
    spry_vector *b, *lower, *x;
} problem;

static problem make(spry_context *ctx, const char *grid, const char *text, const char *options,
                    spry_place_fn right, spry_place_fn bound)
{
    static const char *const names[] = {"k"};
    problem p = {0};
    spry_vector *k = NULL;
    assert_ok(ctx, spry_grid_new(ctx, grid, &p.grid));
    assert_ok(ctx, spry_field_new(p.grid, SPRY_TYPE_D, true, right, NULL, &k));
    for (int64_t i = 0; i < spry_vector_size(k); i++)
        ((double *)spry_vector_data(k))[i] = 1.5 + ((double *)spry_vector_data(k))[i] / 100;
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

static outcome solve(spry_context *ctx, problem *p, const char *options)
{
    spry_bounded *s = NULL;
    outcome stats = {.r = SPRY_RESULT_INIT, .b = SPRY_BOUNDED_STATS_INIT};
    assert_ok(ctx, spry_bounded_new(p->A, options, &s));
    assert_ok(ctx, spry_bounded_solve(s, p->b, p->lower, p->x, &stats.r, &stats.b));
    print_message("%s: %s, %d iterations (%d untruncated), residual %.2e, %d contacts\n", options,
                  spry_reason_name(stats.r.reason), (int)stats.r.iterations,
                  (int)stats.b.untruncated, stats.r.residual, (int)stats.b.contacts);
    spry_bounded_free(s);
    return stats;
}

/* max |min(A x - b, x - lower)| from the matrix, in long double: A x of a row errs by about as many
 * roundings as it has entries, of its largest product. */
static void check_points(spry_context *ctx, const problem *p, const outcome *stats)
{
    spry_matrix *matrix = NULL;
    spry_arrays arrays = SPRY_ARRAYS_INIT;
    const double *x = spry_vector_data_const(p->x), *b = spry_vector_data_const(p->b);
    const double *lower = spry_vector_data_const(p->lower);
    double worst = 0, rounding = 0;
    int64_t contacts = 0;
    assert_ok(ctx, spry_operator_to_matrix(p->A, &matrix));
    assert_ok(ctx, spry_matrix_arrays(matrix, &arrays));
    assert_int_equal(arrays.format, SPRY_FORMAT_CSR);
    assert_true(arrays.offset_bits != 32 && arrays.index_bits != 64);
    const int64_t *offsets = arrays.offsets;
    const int32_t *columns = arrays.col_index;
    const double *values = arrays.values;
    for (int64_t i = 0; i < spry_vector_size(p->x); i++) {
        long double left = -(long double)b[i];
        double size = fabs(b[i]);
        for (int64_t k = offsets[i]; k < offsets[i + 1]; k++) {
            left += (long double)values[k] * x[columns[k]];
            size += fabs(values[k] * x[columns[k]]);
        }
        assert_true(x[i] >= lower[i]); /* not a rounding below */
        worst = fmax(worst, fabs((double)fminl(left, (long double)x[i] - lower[i])));
        rounding = fmax(rounding, 10 * DBL_EPSILON * size);
        contacts += x[i] <= lower[i];
    }
    assert_true(fabs(worst - stats->r.residual) <= rounding);
    assert_int_equal(contacts, stats->b.contacts);
    spry_matrix_free(matrix);
}

static double difference(const spry_vector *a, const spry_vector *b)
{
    const double *x = spry_vector_data_const(a), *y = spry_vector_data_const(b);
    double most = 0;
    for (int64_t i = 0; i < spry_vector_size(a); i++)
        most = fmax(most, fabs(x[i] - y[i]));
    return most;
}

/* --- problems ------------------------------------------------------------------------------------
 */

static void waves(void *data, const double *place, spry_scalar *value)
{
    const double pi = acos(-1);
    (void)data;
    *value =
        (spry_scalar){cos(2 * pi * place[0]) * cos(4 * pi * place[1]) * cos(6 * pi * place[2]), 0};
}

static void nothing(void *data, const double *place, spry_scalar *value)
{
    (void)data;
    (void)place;
    *value = (spry_scalar){0, 0};
}

static void hill(void *data, const double *place, spry_scalar *value)
{
    (void)data;
    *value = (spry_scalar){
        0.5 - 8 * ((place[0] - 0.5) * (place[0] - 0.5) + (place[1] - 0.5) * (place[1] - 0.5)), 0};
}

static void noise(void *data, const double *place, spry_scalar *value)
{
    const uint64_t seed = (uint64_t)(1e6 * (place[0] + 1000 * place[1] + 1e6 * place[2]));
    (void)data;
    *value = (spry_scalar){0.2 * base_uniform(seed, 0) - 0.1, 0};
}

static void weight(void *data, const double *place, spry_scalar *value)
{
    (void)data;
    (void)place;
    *value = (spry_scalar){-10, 0};
}

static void nowhere(void *data, const double *place, spry_scalar *value)
{
    (void)data;
    (void)place;
    *value = (spry_scalar){-INFINITY, 0};
}

/*
 * All methods find the same x. Where e_i = min(A x - b, x - lower) x is the solution for b + e and
 * lower + e. With an M-matrix, and a w >= 0 with A w >= 1, the true solution plus (1 + w) max |e|
 * is above its bounds and its right-hand side, so that x is not above it, nor likewise below: they
 * differ by (1 + max w) max |e| at most. Where A 1 >= 1 the same holds with 1 in the place of 1 +
 * w. With -laplace between Dirichlet faces at 0 and 1 w = x (1 - x) / 2 is at most 1/8, with 8 dx
 * besides w = x / 8.
 */
static void methods(void **state)
{
    static const struct {
        const char *grid, *text;
        spry_place_fn right, bound;
        double factor;
        int most; /* cycles */
    } cases[] = {
        {"16x16x16", "-0.2*laplace + 152.6", waves, nothing, 1, 10},
        {"16x8x12 z=neumann x=periodic", "-laplace + 1", weight, noise, 1, 40},
        {"32x32", "-laplace", nothing, hill, 1.125, 20},
        {"32x32 y=periodic", "-laplace + 8*dx - 4*dy", weight, noise, 1.125, 40},
        {"32x24", "-div(k*grad) + k", waves, hill, 1, 20},
        {"64", "-laplace", nothing, waves, 1.125, 30},
        {"15x15x15", "-laplace", weight, noise, 1.125, 40},
        {"64x8 box=0:1,0:0.01", "-laplace", weight, noise, 1.125, 30},
        {"16x16x16", "-laplace", waves, nowhere, 1.125, 16},
    };
    static const char *const list[] = {"method=multigrid tol=1e-10", "method=redblack tol=1e-10",
                                       "method=richardson tol=1e-10 look-every=7"};
    for (size_t c = 0; c < COUNT(cases); c++) {
        problem p =
            make(*state, cases[c].grid, cases[c].text, NULL, cases[c].right, cases[c].bound);
        spry_vector *first = NULL;
        double residual = 0;
        print_message("%s %s\n", cases[c].grid, cases[c].text);
        for (size_t k = 0; k < COUNT(list); k++) {
            assert_ok(*state, spry_vector_fill(p.x, (spry_scalar){0.3, 0}));
            const outcome stats = solve(*state, &p, list[k]);
            assert_true(stats.r.converged && stats.r.residual <= stats.r.tolerance);
            check_points(*state, &p, &stats);
            if (k == 0) {
                residual = stats.r.residual;
                assert_true(stats.r.iterations <= cases[c].most);
                assert_ok(*state, spry_vector_like(p.x, spry_vector_size(p.x), &first));
                assert_ok(*state, spry_vector_copy(p.x, first));
            }
            assert_true(difference(first, p.x) <= cases[c].factor * (residual + stats.r.residual));
        }
        spry_vector_free(first);
        unmake(&p);
    }
}

/* --- a ball --------------------------------------------------------------------------------------
 */

enum { WEIGHT = 10 };
static const double radius = 0.3;

/* laplace u = WEIGHT outside of a ball, u = u' = 0 on it. */
static double above_ball(const double *place)
{
    const double r =
        sqrt((place[0] - 0.5) * (place[0] - 0.5) + (place[1] - 0.5) * (place[1] - 0.5) +
             (place[2] - 0.5) * (place[2] - 0.5));
    return r <= radius
               ? 0
               : WEIGHT * (r * r / 6 - radius * radius / 2 + radius * radius * radius / (3 * r));
}

static void at_boundary(void *data, int axis, const double *place, spry_scalar *value)
{
    (void)data;
    (void)axis;
    *value = (spry_scalar){above_ball(place), 0};
}

/*
 * A membrane under a weight s on the floor: the contact set is a ball of radius a. With spacing h
 * the differences of the exact solution u, and of its formula within the ball, which is not less
 * than u there, err by t = h^2/12 * 3 * (s a^3 / 3) * 24 / (a - h)^5 at most (the fourth
 * derivatives of 1/r are at most 24/r^5), and where a point within the ball has neighbours outside
 * they are at most s as long as h is below 0.4 (a - h). So u + t x (1 - x) / 2 is above the
 * discrete solution; and u - s h^2/2 - t x (1 - x) / 2, where that is positive, below it, as u(a +
 * h) is at most s h^2/2.
 *
 * Where the discrete solution is positive at a distance d within the ball, it minus s |x - x0|^2 /
 * 6 has no largest value but on the rim of the points nearer than d - h, so that somewhere in the
 * ball it is more than s (d - h)^2 / 6, which t/8 must be: d is below h + sqrt(6 t / (8 s)).
 */
static void ball(void **state)
{
    const int n = 32;
    const double h = 1.0 / n, s = WEIGHT, inner = radius - h;
    const double t = 2 * s * h * h * pow(radius, 3) / pow(inner, 5);
    const double most = s * h * h / 2 + t / 8, depth = h + sqrt(6 * t / (8 * s));
    problem p = make(*state, "32x32x32", "-laplace", NULL, weight, nothing);
    assert_ok(*state, spry_stencil_rhs(p.A, p.b, at_boundary, NULL, p.b));
    const outcome stats = solve(*state, &p, "tol=1e-10");
    assert_true(stats.r.converged);
    check_points(*state, &p, &stats);
    const double *x = spry_vector_data_const(p.x);
    double worst = 0;
    int64_t deep = 0;
    for (int64_t i = 0; i < spry_vector_size(p.x); i++) {
        double place[3], r = 0;
        assert_ok(*state, spry_grid_place(p.grid, false, i, place));
        for (int a = 0; a < 3; a++)
            r = hypot(r, place[a] - 0.5);
        const double u = above_ball(place);
        worst = fmax(worst, fabs(x[i] - u));
        if (r < radius - depth) {
            assert_true(x[i] == 0);
            deep++;
        }
        if (u > most + 1.125 * stats.r.residual)
            assert_true(x[i] > 0);
    }
    print_message("ball: error %.2e of %.2e, %d points surely in contact\n", worst, most,
                  (int)deep);
    assert_true(worst <= most + 1.125 * stats.r.residual);
    assert_true(deep > 0);
    unmake(&p);
}

/* --- other promises ------------------------------------------------------------------------------
 */

/* Cycles become few more on finer grids (a time step of docs/obstacle.md, which has larger ones).
 */
static void sizes(void **state)
{
    for (int n = 16; n <= 64; n *= 2) {
        char grid[48];
        snprintf(grid, sizeof grid, "%dx%dx%d", n, n, n);
        problem p = make(*state, grid, "-0.2*laplace + 152.6151515", NULL, waves, nothing);
        const outcome stats = solve(*state, &p, NULL);
        assert_true(stats.r.converged && stats.r.iterations <= 12);
        unmake(&p);
    }
}

/* Richardson's step is that of the largest diagonal element, wherever short intervals are. */
static void stretched(void **state)
{
    spry_context *ctx = *state;
    double points[17];
    problem p = {0};
    outcome stats;
    for (int i = 0; i <= 16; i++)
        points[i] = i == 5 ? 0.26 : i / 16.0; /* 0.01 behind point 4 */
    assert_ok(ctx, spry_grid_new(ctx, "16", &p.grid));
    assert_ok(ctx, spry_grid_set_points(p.grid, 0, 17, points));
    assert_ok(ctx, spry_operator_stencil(p.grid, "-laplace", NULL, 0, NULL, NULL, &p.A));
    assert_ok(ctx, spry_field_new(p.grid, SPRY_TYPE_D, false, weight, NULL, &p.b));
    assert_ok(ctx, spry_field_new(p.grid, SPRY_TYPE_D, false, hill, NULL, &p.lower));
    assert_ok(ctx, spry_field_new(p.grid, SPRY_TYPE_D, false, NULL, NULL, &p.x));
    stats = solve(ctx, &p, "method=richardson");
    assert_true(stats.r.converged);
    check_points(ctx, &p, &stats);
    unmake(&p);
}

/* Bits do not depend on threads. */
static void threads(void **state)
{
    spry_vector *kept[2] = {NULL};
    problem p[2];
    spry_context *ctx[2] = {NULL};
    (void)state;
    for (int k = 0; k < 2; k++) {
        assert_int_equal(spry_context_new(k == 0 ? "threads=1" : "threads=3", &ctx[k]),
                         SPRY_STATUS_OK);
        p[k] = make(ctx[k], "40x40x40", "-laplace", NULL, weight, noise);
        solve(ctx[k], &p[k], "max-iter=3");
        kept[k] = p[k].x;
    }
    assert_memory_equal(spry_vector_data(kept[0]), spry_vector_data(kept[1]),
                        (size_t)spry_vector_size(kept[0]) * sizeof(double));
    for (int k = 0; k < 2; k++) {
        unmake(&p[k]);
        spry_context_free(ctx[k]);
    }
}

/* Single precision comes as far as its rounding lets it, and says so. */
static void single(void **state)
{
    problem p = make(*state, "32x32x32", "-0.2*laplace + 152.6", "type=s", waves, nothing);
    outcome stats = solve(*state, &p, "tol=1e-4");
    assert_true(stats.r.converged);
    stats = solve(*state, &p, "tol=0");
    assert_int_equal(stats.r.reason, SPRY_REASON_STAGNATED);
    unmake(&p);
}

static void faults(void **state)
{
    spry_context *ctx = *state;
    spry_bounded *s = NULL;
    outcome stats = {.r = SPRY_RESULT_INIT, .b = SPRY_BOUNDED_STATS_INIT};
    problem p = make(ctx, "8x8", "-laplace", NULL, waves, nothing);
    spry_operator *A = NULL;
    spry_vector *longer = NULL;
    assert_int_equal(spry_bounded_new(p.A, "method=gauss", &s), SPRY_STATUS_BAD_USAGE);
    static const struct {
        const char *text, *options;
    } refused[] = {{"-laplace", "order=4"}, {"-laplace", "type=z"}, {"-laplace + dx*dy", NULL}};
    for (size_t k = 0; k < COUNT(refused); k++) {
        assert_ok(ctx, spry_operator_stencil(p.grid, refused[k].text, refused[k].options, 0, NULL,
                                             NULL, &A));
        assert_int_equal(spry_bounded_new(A, NULL, &s), SPRY_STATUS_UNSUPPORTED);
        assert_null(s);
        spry_operator_free(A);
    }
    assert_ok(ctx, spry_bounded_new(p.A, NULL, &s));
    assert_ok(ctx, spry_vector_new(ctx, SPRY_TYPE_D, 50, NULL, SPRY_OWN_COPY, &longer));
    assert_int_equal(spry_bounded_solve(s, longer, p.lower, p.x, &stats.r, &stats.b),
                     SPRY_STATUS_BAD_USAGE);
    ((double *)spry_vector_data(p.b))[3] = NAN;
    assert_ok(ctx, spry_bounded_solve(s, p.b, p.lower, p.x, &stats.r, &stats.b));
    assert_int_equal(stats.r.reason, SPRY_REASON_NONFINITE);
    spry_bounded_free(s);
    spry_vector_free(longer);
    unmake(&p);
    /* operators whose diagonal is not positive */
    p = make(ctx, "8x8", "laplace", NULL, waves, nothing);
    assert_int_equal(spry_bounded_new(p.A, "method=richardson", &s), SPRY_STATUS_BAD_INPUT);
    assert_ok(ctx, spry_bounded_new(p.A, NULL, &s));
    assert_ok(ctx, spry_bounded_solve(s, p.b, p.lower, p.x, &stats.r, &stats.b));
    assert_false(stats.r.converged);
    spry_bounded_free(s);
    unmake(&p);
}

typedef struct life_of {
    problem p;
    const char *options;
} life_of;

static spry_status life(spry_context *ctx, void *data)
{
    const life_of *l = data;
    spry_bounded *s = NULL;
    (void)ctx;
    spry_status status = spry_bounded_new(l->p.A, l->options, &s);
    if (status == SPRY_STATUS_OK)
        status = spry_bounded_solve(s, l->p.b, l->p.lower, l->p.x, NULL, NULL);
    spry_bounded_free(s);
    return status;
}

static void torture(void **state)
{
    life_of l = {make(*state, "8x8x8", "-div(k*grad)", NULL, waves, nothing), "max-iter=2"};
    support_torture(*state, life, &l);
    l.options = "method=richardson max-iter=3";
    support_torture(*state, life, &l);
    unmake(&l.p);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, support_setup, support_teardown)
int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(methods), TEST(ball),   TEST(sizes),  TEST(stretched), cmocka_unit_test(threads),
        TEST(single),  TEST(faults), TEST(torture)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
