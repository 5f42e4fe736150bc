/*
 * Grids whose points were given: weights of differences by what they have to do with polynomials,
 * orders of solutions, and faults. stencils.c has products, gmg_factors.c multigrid on them.
 */
#include "grid/grid.h"
#include "support/files.h"
#include "support/support.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define COUNT(array) (sizeof(array) / sizeof *(array))

enum { POINTS_MOST = 161 };
static const spry_scalar one = {1, 0}, minus = {-1, 0};
static const char *const faces_of[] = {"dirichlet", "neumann", "neumann:dirichlet", "periodic"};

/* Intervals of 0.4 to 1.6 in no order. */
static double scattered(int i)
{
    return i + 0.3 * sin(12.9898 * i);
}

/* --- polynomials ---------------------------------------------------------------------------------
 */

/* ((x - centre) / half)^degree along an axis, which is -1..1 there, and for fluxes a coefficient
 * of another degree. */
typedef struct trial {
    int axis, degree, k_degree, power;
    double centre, half;
} trial;

static double monomial(const trial *t, int degree, int q, double x)
{
    double factor = 1;
    for (int k = 0; k < q; k++)
        factor *= (degree - k) / t->half;
    return factor == 0 ? 0 : factor * pow((x - t->centre) / t->half, degree - q);
}

static void value_of(void *data, const double *place, spry_scalar *value)
{
    const trial *t = data;
    *value = (spry_scalar){monomial(t, t->degree, 0, place[t->axis]), 0};
}

static void coefficient_of(void *data, const double *place, spry_scalar *value)
{
    const trial *t = data;
    *value = (spry_scalar){monomial(t, t->k_degree, 0, place[t->axis]), 0};
}

/* The derivative, or of a flux (k u')' = k' u' + k u''. */
static void expected_of(void *data, const double *place, spry_scalar *value)
{
    const trial *t = data;
    const double x = place[t->axis];
    *value = (spry_scalar){t->power > 0
                               ? monomial(t, t->degree, t->power, x)
                               : monomial(t, t->k_degree, 1, x) * monomial(t, t->degree, 1, x) +
                                     monomial(t, t->k_degree, 0, x) * monomial(t, t->degree, 2, x),
                           0};
}

static void boundary_of(void *data, int axis, const double *place, spry_scalar *value)
{
    const trial *t = data;
    const double x = place[t->axis], d = monomial(t, t->degree, axis == t->axis, x);
    *value = (spry_scalar){axis == t->axis && x < t->centre ? -d
                           : axis >= 0 && axis != t->axis   ? 0
                                                            : d,
                           0};
}

static spry_grid *scattered_grid(spry_context *ctx, int axis, int n, const char *faces)
{
    char text[64];
    double points[POINTS_MOST];
    spry_grid *grid;
    if (axis == 0)
        snprintf(text, sizeof text, "%d x=%s", n, faces);
    else
        snprintf(text, sizeof text, "4x%d x=neumann y=%s", n, faces);
    assert_ok(ctx, spry_grid_new(ctx, text, &grid));
    for (int i = 0; i <= n; i++)
        points[i] = scattered(i);
    assert_ok(ctx, spry_grid_set_points(grid, axis, n + 1, points));
    return grid;
}

/* The sum of |numbers| |u| of a row, and how many there are. */
typedef struct row_size {
    const stencil *s;
    const trial *t;
    int64_t at[3];
    double sum;
    int terms;
} row_size;

static void add_size(void *data, const stencil_part *part, const stencil_entry *e)
{
    row_size *r = data;
    const trial *t = r->t;
    const grid_axis *a = &r->s->shape.axis[t->axis];
    const int64_t point = r->at[t->axis] + a->first, n = a->intervals;
    const bool slope = e->kind[t->axis] == KNOWN_SLOPE;
    (void)part;
    if (point + e->mid[t->axis] < 0 || point + e->mid[t->axis] > n)
        return;
    const double x = grid_coordinate(a, point + e->col[t->axis]),
                 k = grid_coordinate(a, point + e->mid[t->axis]);
    r->sum += fabs(e->c) * fabs(monomial(t, t->degree, slope, x)) * (slope ? a->spacing : 1) *
              (t->power > 0 ? 1 : fabs(monomial(t, t->k_degree, 0, k)));
    r->terms++;
}

/*
 * The largest error of a row over what roundings make: each term has one for its weight, which is
 * made in long double, for its power and for each addition. Numbers of a flux are sums, so that
 * what was added up for a row may be larger than its numbers: all rows have about as much, and the
 * largest counts. Rows that go round the end of a periodic axis know nothing of polynomials.
 */
static double worst_row(spry_context *ctx, const spry_grid *grid, const spry_operator *A, trial *t,
                        bool periodic)
{
    enum { AROUND = 10 };
    const stencil *s = stencil_of(A);
    const grid_axis *a = &s->shape.axis[t->axis];
    spry_vector *u, *f;
    double worst = 0, most = 0, terms = 0;
    assert_ok(ctx, spry_field_new(grid, SPRY_TYPE_D, false, value_of, t, &u));
    assert_ok(ctx, spry_field_new(grid, SPRY_TYPE_D, false, expected_of, t, &f));
    assert_ok(ctx, spry_stencil_rhs(A, f, boundary_of, t, f));
    assert_ok(ctx, spry_operator_multiply(A, SPRY_TRANSPOSE_NO, one, u, minus, f));
    for (int turn = 0; turn < 2; turn++)
        for (int64_t i = 0; i < f->n; i++) {
            row_size r = {.s = s, .t = t};
            grid_split(&s->shape, false, i, r.at);
            if (periodic && (r.at[t->axis] < AROUND || r.at[t->axis] >= a->unknowns - AROUND))
                continue;
            for (int p = 0; p < s->parts_count; p++)
                stencil_visit_row(&s->parts[p], false, r.at, add_size, &r);
            most = fmax(most, r.sum);
            terms = fmax(terms, r.terms);
            const double size = t->power > 0 ? r.sum : most;
            const double bound = (terms + t->degree + t->k_degree + 16) * DBL_EPSILON * size;
            if (turn == 1 && fabs(((double *)f->data)[i]) > 0)
                worst = fmax(worst, fabs(((double *)f->data)[i]) / bound);
        }
    spry_vector_free(u);
    spry_vector_free(f);
    return worst;
}

static trial trial_of(int axis, int n, int power)
{
    return (trial){.axis = axis,
                   .power = power,
                   .centre = (scattered(0) + scattered(n)) / 2,
                   .half = (scattered(n) - scattered(0)) / 2};
}

/* Rows have as many nodes as between equal intervals, where those of even powers are exact for one
 * degree more than nodes, by symmetry: that one is missing here. */
static void derivatives(void **state)
{
    spry_context *ctx = *state;
    for (size_t f = 0; f < COUNT(faces_of); f++)
        for (int axis = 0; axis < 2; axis++)
            for (int power = 1; power <= POWER_MOST; power++)
                for (int order = 2; order <= 8; order += 2) {
                    const int n = axis == 0 ? 150 : 40,
                              exact = order + power - 1 - (power % 2 == 0);
                    char text[16], options[32];
                    double next;
                    spry_operator *A;
                    snprintf(text, sizeof text, "d%c^%d", "xy"[axis], power);
                    snprintf(options, sizeof options, "order=%d", order);
                    spry_grid *grid = scattered_grid(ctx, axis, n, faces_of[f]);
                    assert_ok(ctx, spry_operator_stencil(grid, text, options, 0, NULL, NULL, &A));
                    trial t = trial_of(axis, n, power);
                    for (t.degree = 0; t.degree <= exact; t.degree++) {
                        const double found = worst_row(ctx, grid, A, &t, f == 3);
                        if (!(found <= 1))
                            fail_msg("%s of order %d, %s, degree %d: %.3g times its bound", text,
                                     order, faces_of[f], t.degree, found);
                    }
                    next = worst_row(ctx, grid, A, &t, f == 3);
                    if (!(next > 1))
                        fail_msg("%s of order %d, %s: exact for a degree more", text, order,
                                 faces_of[f]);
                    spry_operator_free(A);
                    spry_grid_free(grid);
                }
}

/* Fluxes of degree less than their order; u has one degree less than nodes of equal intervals do.
 */
static void fluxes(void **state)
{
    spry_context *ctx = *state;
    static const char *const names[] = {"k"};
    for (size_t f = 0; f < COUNT(faces_of); f++)
        for (int order = 2; order <= 8; order += 2)
            for (int k_degree = 0; k_degree < 2; k_degree++) {
                const int n = 100;
                char options[32];
                spry_operator *A;
                spry_vector *k;
                trial t = trial_of(0, n, 0);
                t.k_degree = k_degree;
                snprintf(options, sizeof options, "order=%d", order);
                spry_grid *grid = scattered_grid(ctx, 0, n, faces_of[f]);
                assert_ok(ctx, spry_field_new(grid, SPRY_TYPE_D, true, coefficient_of, &t, &k));
                assert_ok(ctx, spry_operator_stencil(grid, "div(k*grad)", options, 1, names,
                                                     (const spry_vector *[]){k}, &A));
                for (t.degree = 0; t.degree < order; t.degree++) {
                    const double found = worst_row(ctx, grid, A, &t, f == 3);
                    if (!(found <= 1))
                        fail_msg("flux of order %d, %s, degrees %d %d: %.3g times its bound", order,
                                 faces_of[f], k_degree, t.degree, found);
                }
                t.degree = order + 2;
                assert_true(worst_row(ctx, grid, A, &t, f == 3) > 1);
                spry_operator_free(A);
                spry_vector_free(k);
                spry_grid_free(grid);
            }
}

/* --- orders of solutions -------------------------------------------------------------------------
 */

/* u = sin(5 x + 0.4) and k = 2 + cos(x) */
static void wave_value(void *data, const double *place, spry_scalar *value)
{
    (void)data;
    *value = (spry_scalar){sin(5 * place[0] + 0.4), 0};
}

static void wave_field(void *data, const double *place, spry_scalar *value)
{
    (void)data;
    *value = (spry_scalar){2 + cos(place[0]), 0};
}

/* -u'' or (data) -(k u')' */
static void wave_result(void *data, const double *place, spry_scalar *value)
{
    const double x = place[0], slope = 5 * cos(5 * x + 0.4), bend = -25 * sin(5 * x + 0.4);
    *value = (spry_scalar){data ? sin(x) * slope - (2 + cos(x)) * bend : -bend, 0};
}

static void wave_boundary(void *data, int axis, const double *place, spry_scalar *value)
{
    const double slope = 5 * cos(5 * place[0] + 0.4);
    (void)data;
    *value = (spry_scalar){axis < 0 ? sin(5 * place[0] + 0.4) : place[0] < 0.5 ? -slope : slope, 0};
}

/* The largest error of a solution by factors, on points t + sin(2 pi t) / 10 or those of a rule. */
static double solved(spry_context *ctx, const char *faces, const char *text, int order, int n)
{
    char grid_text[96], options[32];
    const char *names[] = {"k"};
    const bool flux = strstr(text, "div") != NULL, rule = strstr(faces, "stretch") != NULL;
    double *points = test_malloc((size_t)(n + 1) * sizeof *points), worst = 0;
    spry_grid *grid;
    spry_operator *A;
    spry_matrix *M;
    spry_vector *k, *b, *x, *u;
    snprintf(grid_text, sizeof grid_text, "%d %s", n, faces);
    snprintf(options, sizeof options, "order=%d", order);
    assert_ok(ctx, spry_grid_new(ctx, grid_text, &grid));
    for (int i = 0; i <= n; i++)
        points[i] = (double)i / n + sin(2 * acos(-1) * i / n) / 10;
    if (!rule)
        assert_ok(ctx, spry_grid_set_points(grid, 0, n + 1, points));
    assert_ok(ctx, spry_field_new(grid, SPRY_TYPE_D, true, wave_field, NULL, &k));
    assert_ok(ctx,
              spry_operator_stencil(grid, text, options, 1, names, (const spry_vector *[]){k}, &A));
    assert_ok(ctx, spry_field_new(grid, SPRY_TYPE_D, false, wave_value, NULL, &u));
    assert_ok(ctx, spry_field_new(grid, SPRY_TYPE_D, false, wave_result, flux ? &worst : NULL, &b));
    assert_ok(ctx, spry_field_new(grid, SPRY_TYPE_D, false, NULL, NULL, &x));
    assert_ok(ctx, spry_stencil_rhs(A, b, wave_boundary, NULL, b));
    assert_ok(ctx, spry_operator_to_matrix(A, &M));
    assert_ok(ctx, spry_quick_solve(ctx, M, b, x, "precon=direct tol=1e-12", NULL));
    for (int64_t i = 0; i < x->n; i++)
        worst = fmax(worst, fabs(((double *)x->data)[i] - ((double *)u->data)[i]));
    test_free(points);
    spry_matrix_free(M);
    spry_operator_free(A);
    spry_vector_free(b);
    spry_vector_free(x);
    spry_vector_free(u);
    spry_vector_free(k);
    spry_grid_free(grid);
    return worst;
}

/* Points that are a smooth function of their number lose nothing: twice as many gain 2^order, but
 * for terms of the next orders, as in stencils.c. */
static void orders(void **state)
{
    static const struct {
        const char *faces, *text;
        int most;
    } cases[] = {{"x=dirichlet", "-laplace", 6},
                 {"x=dirichlet", "-div(k*grad)", 6},
                 {"x=neumann:dirichlet", "-laplace", 4},
                 {"x=neumann:dirichlet", "-div(k*grad)", 4},
                 {"x=dirichlet stretch=x:cosine", "-laplace", 4}};
    for (size_t k = 0; k < COUNT(cases); k++)
        for (int order = 2; order <= cases[k].most; order += 2) {
            const int n = 64;
            const double coarse = solved(*state, cases[k].faces, cases[k].text, order, n),
                         fine = solved(*state, cases[k].faces, cases[k].text, order, 2 * n);
            print_message("%s, %s, order %d: %.3g, %.3g: %.2f\n", cases[k].text, cases[k].faces,
                          order, coarse, fine, log2(coarse / fine));
            assert_true(log2(coarse / fine) > order - 0.35);
        }
}

/* --- objects -------------------------------------------------------------------------------------
 */

/* Where points are, and that operators keep them when the grid is gone or gets others. */
static void places(void **state)
{
    spry_context *ctx = *state;
    spry_grid *grid;
    spry_operator *A;
    spry_vector *x, *y;
    spry_grid_info info = SPRY_GRID_INFO_INIT;
    double place[3];
    static const double points[] = {-1, 0, 0.5, 2, 6};
    assert_ok(ctx, spry_grid_new(ctx, "4x4 stretch=y:ratio:2,x:cosine box=0:2,0:15", &grid));
    assert_ok(ctx, spry_grid_place(grid, true, 1 + 5 * 1, place));
    assert_true(fabs(place[0] - (1 - cos(acos(-1) / 4))) <= 4 * DBL_EPSILON);
    assert_true(fabs(place[1] - 1) <= 8 * DBL_EPSILON);
    assert_ok(ctx, spry_grid_set_points(grid, 0, 5, points));
    assert_ok(ctx, spry_grid_describe(grid, &info));
    assert_true(info.low[0] == -1 && info.high[0] == 6 && info.spacing[0] == 1.75);
    assert_ok(ctx, spry_grid_place(grid, false, 1, place));
    assert_true(place[0] == 0.5);
    assert_ok(ctx, spry_operator_stencil(grid, "dx", NULL, 0, NULL, NULL, &A));
    assert_ok(ctx, spry_field_new(grid, SPRY_TYPE_D, false, NULL, NULL, &x));
    assert_ok(ctx, spry_field_new(grid, SPRY_TYPE_D, false, NULL, NULL, &y));
    assert_ok(ctx, spry_grid_set_points(grid, 0, 5, (const double[]){0, 1, 2, 3, 4}));
    spry_grid_free(grid);
    ((double *)x->data)[0] = 1; /* at 0, between -1 and 0.5: u' of the parabola there */
    assert_ok(ctx, spry_operator_apply(A, x, y));
    assert_true(fabs(((double *)y->data)[0] - (1 / 1.0 - 1 / 0.5)) <= 4 * DBL_EPSILON);
    spry_vector_free(x);
    spry_vector_free(y);
    spry_operator_free(A);
}

static void files(void **state)
{
    spry_context *ctx = *state;
    const char *path = files_path("field.vtr");
    static const double points[] = {0, 1, 4, 9, 16};
    spry_grid *grid;
    spry_vector *v;
    size_t size;
    assert_ok(ctx, spry_grid_new(ctx, "4x3 x=neumann", &grid));
    assert_ok(ctx, spry_grid_set_points(grid, 0, 5, points));
    assert_ok(ctx, spry_field_new(grid, SPRY_TYPE_Z, false, NULL, NULL, &v));
    assert_status(ctx, SPRY_STATUS_BAD_USAGE,
                  spry_field_write(grid, v, files_path("field.vti"), NULL));
    support_message_has(ctx, "take .vtr");
    assert_ok(ctx, spry_field_write(grid, v, path, NULL));
    unsigned char *data = (unsigned char *)files_load(path, &size);
    assert_non_null(strstr((char *)data, "<RectilinearGrid WholeExtent=\"0 4 0 1 0 0\">"));
    assert_non_null(strstr((char *)data, "Name=\"x\" format=\"appended\" offset=\"176\""));
    const unsigned char *at = (unsigned char *)strstr((char *)data, "encoding=\"raw\">\n_") + 17;
    uint64_t bytes;
    memcpy(&bytes, at + 176, 8); /* two arrays of 10 numbers */
    assert_int_equal(bytes, sizeof points);
    assert_memory_equal(at + 184, points, sizeof points);
    free(data);
    unlink(path);
    spry_vector_free(v);
    spry_grid_free(grid);
}

static void faults(void **state)
{
    static const char *const bad[] = {
        "8 stretch=x",           "8 stretch=y:cosine",          "8 stretch=x:ratio:0",
        "8 stretch=x:ratio:-1",  "8 stretch=x:cosine:2",        "8 stretch=w:cosine",
        "8 stretch=x:ratio:inf", "8 stretch=x:cosine,y:cosine", "4096 stretch=x:ratio:2"};
    static const struct {
        int axis, count;
        double points[4];
        const char *message;
    } cases[] = {{1, 4, {0}, "axes 0 to 0"},
                 {0, 3, {0}, "all 3 intervals: 4"},
                 {0, 4, {0, 1, 1, 2}, "point 2 along x is 1, not above"},
                 {0, 4, {0, 1, NAN, 2}, "point 2 along x"},
                 {0, 4, {-DBL_MAX, 0, 1, DBL_MAX}, "too far apart"}};
    spry_context *ctx = *state;
    spry_grid *grid;
    for (size_t k = 0; k < COUNT(bad); k++)
        assert_status(ctx, SPRY_STATUS_BAD_USAGE, spry_grid_new(ctx, bad[k], &grid));
    assert_ok(ctx, spry_grid_new(ctx, "3", &grid));
    for (size_t k = 0; k < COUNT(cases); k++) {
        assert_status(ctx, SPRY_STATUS_BAD_USAGE,
                      spry_grid_set_points(grid, cases[k].axis, cases[k].count, cases[k].points));
        support_message_has(ctx, cases[k].message);
    }
    spry_grid_free(grid);
}

static spry_status life(spry_context *ctx, void *data)
{
    spry_grid *grid = NULL;
    spry_operator *A = NULL;
    spry_vector *x = NULL, *y = NULL;
    (void)data;
    spry_status status = spry_grid_new(ctx, "20x6 x=periodic stretch=x:ratio:1.1,y:cosine", &grid);
    if (status == SPRY_STATUS_OK)
        status = spry_operator_stencil(grid, "-laplace + dx", NULL, 0, NULL, NULL, &A);
    if (status == SPRY_STATUS_OK)
        status = spry_field_new(grid, SPRY_TYPE_D, false, NULL, NULL, &x);
    if (status == SPRY_STATUS_OK)
        status = spry_field_new(grid, SPRY_TYPE_D, false, NULL, NULL, &y);
    if (status == SPRY_STATUS_OK)
        status = spry_operator_multiply(A, SPRY_TRANSPOSE_YES, one, x, one, y);
    spry_vector_free(x);
    spry_vector_free(y);
    spry_operator_free(A);
    spry_grid_free(grid);
    return status;
}

static void torture(void **state)
{
    support_torture(*state, life, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(derivatives, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(fluxes, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(orders, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(places, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(files, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(faults, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(torture, support_setup, support_teardown)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
