/* Domains with curved boundaries: orders of solutions, symmetry, multigrid, all types. */
#include "host/apply.h"
#include "operator/operator.h"
#include "support/support.h"

#include <math.h>
#include <string.h>

#define COUNT(array) (sizeof(array) / sizeof *(array))

/* --- shapes --------------------------------------------------------------------------------------
 */

static double distance(const double *at, double x, double y, double z)
{
    return sqrt((at[0] - x) * (at[0] - x) + (at[1] - y) * (at[1] - y) + (at[2] - z) * (at[2] - z));
}

static void ball(void *data, const double *at, spry_scalar *value)
{
    (void)data;
    *value = (spry_scalar){distance(at, 0.03, -0.05, 0) - 0.71, 0};
}

/* No distance, but a smooth function: an ellipse. */
static void ellipse(void *data, const double *at, spry_scalar *value)
{
    (void)data;
    *value = (spry_scalar){at[0] * at[0] / 0.6 + at[1] * at[1] / 0.3 + at[2] * at[2] - 1, 0};
}

static void ring(void *data, const double *at, spry_scalar *value)
{
    (void)data;
    *value = (spry_scalar){fmax(distance(at, 0, 0, 0) - 0.83, 0.31 - distance(at, 0.1, 0.2, 0)), 0};
}

/* Beyond a periodic axis, and beyond faces. */
static void band(void *data, const double *at, spry_scalar *value)
{
    (void)data;
    *value = (spry_scalar){fabs(at[1] - 0.1) - 0.6 - 0.1 * cos(3.14159265358979 * at[0]), 0};
}

static void corner(void *data, const double *at, spry_scalar *value)
{
    (void)data;
    *value = (spry_scalar){distance(at, -1, -1, 0) - 1.37, 0};
}

/* --- solutions -----------------------------------------------------------------------------------
 */

/* u = cos(pi x) exp(y - z / 2), and its derivative along an axis; pi makes it periodic. */
static const double pi = 3.14159265358979323846;
static double exact(const double *at, int axis)
{
    static const double rate[] = {0, 1, -0.5};
    const double others = exp(at[1] - at[2] / 2);
    return axis == 0 ? -pi * sin(pi * at[0]) * others
                     : (axis < 0 ? 1 : rate[axis]) * cos(pi * at[0]) * others;
}

static void known(void *data, int axis, const double *at, spry_scalar *value)
{
    (void)data;
    *value = (spry_scalar){axis < 0 ? exact(at, -1) : (at[axis] < 0 ? -1 : 1) * exact(at, axis), 0};
}

/* k = 1.5 + x / 2 + y / 4 */
static void varying(void *data, const double *at, spry_scalar *value)
{
    (void)data;
    *value = (spry_scalar){1.5 + at[0] / 2 + at[1] / 4, 0};
}

typedef struct shape {
    const char *grid, *text, *solver;
    spry_place_fn phi;
    int dimensions;
} shape;

/* f of the texts below. */
static void source(void *data, const double *at, spry_scalar *value)
{
    const shape *s = data;
    const double rates = s->dimensions > 2 ? 1.25 : 1, laplace = (rates - pi * pi) * exact(at, -1);
    spry_scalar k;
    varying(NULL, at, &k);
    value->im = 0;
    value->re = -laplace;
    if (strcmp(s->text, "-div(k*grad)") == 0)
        value->re = -k.re * laplace - exact(at, 0) / 2 - exact(at, 1) / 4;
    if (strcmp(s->text, "-laplace + 3*dx - dy*k + k") == 0)
        value->re = -laplace + 3 * exact(at, 0) - k.re * exact(at, 1) - exact(at, -1) / 4 +
                    k.re * exact(at, -1);
}

typedef struct problem {
    spry_grid *grid;
    spry_operator *A;
    spry_vector *k, *phi, *b, *x;
    spry_result result;
} problem;

static problem make(spry_context *ctx, const shape *s, int size, const char *options)
{
    static const char *const names[] = {"k", "phi"};
    problem p = {.result = SPRY_RESULT_INIT};
    char grid[128], all[96];
    snprintf(grid, sizeof grid, s->grid, size, size, size);
    snprintf(all, sizeof all, "domain=phi %s", options);
    assert_ok(ctx, spry_grid_new(ctx, grid, &p.grid));
    assert_ok(ctx, spry_field_new(p.grid, SPRY_TYPE_D, true, varying, NULL, &p.k));
    assert_ok(ctx, spry_field_new(p.grid, SPRY_TYPE_D, true, s->phi, NULL, &p.phi));
    assert_ok(ctx, spry_operator_stencil(p.grid, s->text, all, 2, names,
                                         (const spry_vector *[]){p.k, p.phi}, &p.A));
    const spry_type type = spry_operator_type(p.A);
    assert_ok(ctx, spry_field_new(p.grid, type, false, source, (void *)(uintptr_t)s, &p.b));
    assert_ok(ctx, spry_field_new(p.grid, type, false, NULL, NULL, &p.x));
    assert_ok(ctx, spry_stencil_rhs(p.A, p.b, known, NULL, p.b));
    return p;
}

static void unmake(spry_context *ctx, problem *p)
{
    spry_result_clear(ctx, &p->result);
    spry_operator_free(p->A);
    spry_vector_free(p->k);
    spry_vector_free(p->phi);
    spry_vector_free(p->b);
    spry_vector_free(p->x);
    spry_grid_free(p->grid);
}

static void solve(spry_context *ctx, problem *p, const char *options)
{
    spry_solver *solver;
    assert_ok(ctx, spry_solver_new(ctx, &solver));
    assert_ok(ctx, spry_solver_set(solver, options));
    assert_ok(ctx, spry_solver_set_operator(solver, p->A));
    assert_ok(ctx, spry_solve(solver, p->b, p->x, &p->result));
    spry_solver_free(solver);
    if (!p->result.converged)
        print_message("%s: %d iterations, %g\n", options, (int)p->result.iterations,
                      p->result.true_residual);
}

typedef struct errors {
    double most, rms;
} errors;

/* Errors inside; outside x is 0, up to rounding. */
static errors errors_of(spry_context *ctx, const problem *p, const shape *s)
{
    errors e = {0, 0};
    int64_t count = 0;
    for (int64_t i = 0; i < p->x->n; i++) {
        double at[3];
        spry_scalar phi;
        assert_ok(ctx, spry_grid_place(p->grid, false, i, at));
        s->phi(NULL, at, &phi);
        const double x = value_get(p->x->type, p->x->data, i).re;
        if (phi.re < 0) {
            e.most = fmax(e.most, fabs(x - exact(at, -1)));
            e.rms += pow(x - exact(at, -1), 2);
            count++;
        } else
            assert_true(fabs(x) < 1e-6); /* of relaxation no more than rounding is left */
    }
    e.rms = sqrt(e.rms / (double)count);
    return e;
}

static const shape shapes[] = {
    {"%dx%d box=-1:1", "-laplace", "method=cg precon=gmg", ball, 2},
    {"%dx%dx%d box=-1:1", "-laplace", "method=cg precon=gmg", ball, 3},
    {"%dx%d box=-1:1", "-laplace", "method=cg precon=gmg", ellipse, 2},
    {"%dx%d box=-1:1", "-laplace", "method=cg precon=gmg", ring, 2},
    {"%dx%d box=-1:1", "-div(k*grad)", "method=cg precon=gmg", ball, 2},
    {"%dx%dx%d box=-1:1", "-div(k*grad)", "method=cg precon=gmg", ellipse, 3},
    {"%dx%d box=-1:1", "-laplace + 3*dx - dy*k + k", "method=bicgstab precon=gmg", ball, 2},
    {"%dx%d box=-1:1 x=periodic", "-laplace", "method=cg precon=gmg", band, 2},
    {"%dx%d box=-1:1 x=neumann:dirichlet y=neumann:dirichlet", "-laplace",
     "method=bicgstab precon=gmg", corner, 2},
    {"%dx%d box=-1:1 stretch=x:cosine", "-laplace", "method=bicgstab precon=gmg", ball, 2},
};

/* Errors are c h^2 with a c that changes with theta of each point: the largest one is not alike on
 * two grids, the mean is. */
static void orders(void **state)
{
    spry_context *ctx = *state;
    for (size_t k = 0; k < COUNT(shapes); k++) {
        const shape *s = &shapes[k];
        const int sizes[] = {s->dimensions > 2 ? 16 : 32, s->dimensions > 2 ? 64 : 128};
        errors e[2];
        for (int i = 0; i < 2; i++) {
            problem p = make(ctx, s, sizes[i], "");
            char options[96];
            snprintf(options, sizeof options, "%s tol=1e-10 max-iter=60", s->solver);
            solve(ctx, &p, options);
            e[i] = errors_of(ctx, &p, s);
            print_message("shape %d, %s, size %d: %d iterations, error %.2e, rms %.2e\n", (int)k,
                          s->text, sizes[i], (int)p.result.iterations, e[i].most, e[i].rms);
            assert_true(p.result.converged && p.result.iterations <= 20);
            unmake(ctx, &p);
        }
        const double most = log(e[0].most / e[1].most) / log(4);
        const double rms = log(e[0].rms / e[1].rms) / log(4);
        print_message("order %.2f, rms %.2f\n", most, rms);
        assert_true(most > 1.5 && rms > 1.9);
    }
}

/* Products with A, with A^T and with the matrix agree; -laplace is symmetric. */
static void products(void **state)
{
    spry_context *ctx = *state;
    for (size_t k = 0; k < COUNT(shapes); k++) {
        problem p = make(ctx, &shapes[k], 16, "");
        const int64_t n = p.x->n;
        spry_vector *y, *z;
        spry_matrix *M;
        spry_operator *B;
        spry_scalar left, right;
        double size, norm;
        assert_ok(ctx, spry_vector_like(p.x, n, &y));
        assert_ok(ctx, spry_vector_like(p.x, n, &z));
        assert_ok(ctx, vector_random(p.x, 3));
        assert_ok(ctx, vector_random(p.b, 4));
        assert_ok(ctx, spry_operator_to_matrix(p.A, &M));
        assert_ok(ctx, spry_operator_from_matrix(M, NULL, "csr", &B));
        assert_ok(ctx, spry_operator_apply(p.A, p.x, y));
        assert_ok(ctx, spry_operator_apply(B, p.x, z));
        assert_ok(ctx, spry_vector_norm(y, &size));
        assert_ok(ctx, spry_vector_axpy((spry_scalar){-1, 0}, y, z));
        assert_ok(ctx, spry_vector_norm(z, &norm));
        assert_true(norm <=
                    64 * 2.3e-16 * size * sqrt((double)n)); /* sums of seven and a few more */
        assert_ok(ctx, spry_vector_dot(p.b, y, &left));
        const bool symmetric = shapes[k].solver[7] == 'c';
        assert_ok(ctx, symmetric
                           ? spry_operator_apply(p.A, p.b, z)
                           : spry_operator_multiply(p.A, SPRY_TRANSPOSE_YES, (spry_scalar){1, 0},
                                                    p.b, (spry_scalar){0, 0}, z));
        assert_ok(ctx, spry_vector_dot(z, p.x, &right));
        assert_true(fabs(left.re - right.re) <= 64 * 2.3e-16 * size * sqrt((double)n));
        spry_vector_free(y);
        spry_vector_free(z);
        spry_operator_free(B);
        spry_matrix_free(M);
        unmake(ctx, &p);
    }
}

static void types(void **state)
{
    spry_context *ctx = *state;
    static const char *const names[] = {"s", "d", "c", "z"};
    double e[4];
    for (int t = 0; t < 4; t++) {
        char options[32];
        snprintf(options, sizeof options, "type=%s", names[t]);
        problem p = make(ctx, &shapes[0], 32, options);
        solve(ctx, &p, "method=cg precon=gmg tol=1e-5");
        assert_true(p.result.converged);
        e[t] = errors_of(ctx, &p, &shapes[0]).most;
        unmake(ctx, &p);
    }
    for (int t = 0; t < 4; t++) /* 2.5e-3 is the grid's */
        assert_true(fabs(e[t] - e[1]) < 1e-4);
    problem p = make(ctx, &shapes[0], 32, ""); /* levels in single precision, and by itself */
    solve(ctx, &p, "method=cg precon=gmg:precision=single tol=1e-10");
    assert_true(p.result.converged);
    spry_result_clear(ctx, &p.result);
    solve(ctx, &p, "method=richardson precon=gmg:symmetric=no tol=1e-10 max-iter=40");
    assert_true(p.result.converged);
    unmake(ctx, &p);
}

/* All of the grid, and none of it. */
static void everywhere(void *data, const double *at, spry_scalar *value)
{
    (void)at;
    *value = (spry_scalar){*(const double *)data, 0};
}

static void extremes(void **state)
{
    spry_context *ctx = *state;
    const double signs[] = {-1, 1, 0};
    for (int k = 0; k < 3; k++) {
        static const char *const names[] = {"phi"};
        const double sign = signs[k];
        spry_grid *grid;
        spry_vector *phi, *x, *y, *z;
        spry_operator *A, *B;
        assert_ok(ctx, spry_grid_new(ctx, "12x9", &grid));
        assert_ok(ctx, spry_field_new(grid, SPRY_TYPE_D, true, everywhere, (void *)(uintptr_t)&sign,
                                      &phi));
        assert_ok(ctx, spry_operator_stencil(grid, "-laplace", "domain=phi", 1, names,
                                             (const spry_vector *[]){phi}, &A));
        assert_ok(ctx, spry_operator_stencil(grid, "-laplace", NULL, 0, NULL, NULL, &B));
        assert_ok(ctx, spry_field_new(grid, SPRY_TYPE_D, false, NULL, NULL, &x));
        assert_ok(ctx, spry_vector_like(x, x->n, &y));
        assert_ok(ctx, spry_vector_like(x, x->n, &z));
        assert_ok(ctx, vector_random(x, 3));
        assert_ok(ctx, spry_operator_apply(A, x, y));
        assert_ok(ctx, spry_operator_apply(B, x, z));
        for (int64_t i = 0; i < x->n; i++) {
            const double *a = x->data, *b = y->data, *c = z->data;
            assert_true(sign < 0 ? fabs(b[i] - c[i]) < 1e-11 : b[i] == a[i]);
        }
        spry_vector_free(x);
        spry_vector_free(y);
        spry_vector_free(z);
        spry_vector_free(phi);
        spry_operator_free(A);
        spry_operator_free(B);
        spry_grid_free(grid);
    }
}

static void faults(void **state)
{
    spry_context *ctx = *state;
    static const struct {
        const char *text, *options, *message;
    } cases[] = {{"-laplace", "domain=psi", "domain=psi is no coefficient"},
                 {"-laplace", "domain=phi order=4", "is for order=2"},
                 {"-laplace + dx*dy", "domain=phi", "neighbours along the axes"},
                 {"-dx^4", "domain=phi", "neighbours along the axes"},
                 {"-laplace", "domain=one", "is a constant"}};
    static const char *const names[] = {"phi", "one"};
    spry_grid *grid;
    spry_vector *phi, *one;
    assert_ok(ctx, spry_grid_new(ctx, "16x16 box=-1:1", &grid));
    assert_ok(ctx, spry_field_new(grid, SPRY_TYPE_D, true, ball, NULL, &phi));
    assert_ok(ctx, spry_vector_new(ctx, SPRY_TYPE_D, 1, NULL, SPRY_OWN_COPY, &one));
    for (size_t k = 0; k < COUNT(cases); k++) {
        spry_operator *A;
        assert_int_not_equal(spry_operator_stencil(grid, cases[k].text, cases[k].options, 2, names,
                                                   (const spry_vector *[]){phi, one}, &A),
                             SPRY_STATUS_OK);
        assert_null(A);
        support_message_has(ctx, cases[k].message);
    }
    spry_operator *none;
    ((double *)spry_vector_data(phi))[7] = NAN;
    assert_status(ctx, SPRY_STATUS_BAD_INPUT,
                  spry_operator_stencil(grid, "-laplace", "domain=phi", 2, names,
                                        (const spry_vector *[]){phi, one}, &none));
    support_message_has(ctx, "the number of point 7 is not finite");
    spry_vector_free(one);
    spry_vector_free(phi);
    spry_grid_free(grid);
}

static spry_status life(spry_context *ctx, void *data)
{
    static const char *const names[] = {"phi"};
    spry_operator *A = NULL;
    spry_vector **fields = data;
    spry_grid *grid = NULL;
    spry_solver *solver = NULL;
    spry_status status = spry_grid_new(ctx, "16x16 box=-1:1", &grid);
    if (status == SPRY_STATUS_OK)
        status = spry_operator_stencil(grid, "-laplace", "domain=phi", 1, names,
                                       (const spry_vector *[]){fields[0]}, &A);
    if (status == SPRY_STATUS_OK)
        status = spry_stencil_rhs(A, fields[1], known, NULL, fields[1]);
    if (status == SPRY_STATUS_OK)
        status = spry_solver_new(ctx, &solver);
    if (status == SPRY_STATUS_OK)
        status = spry_solver_set(solver, "method=cg precon=gmg:coarsest=20");
    if (status == SPRY_STATUS_OK)
        status = spry_solver_set_operator(solver, A);
    if (status == SPRY_STATUS_OK)
        status = spry_solve(solver, fields[1], fields[2], NULL);
    spry_solver_free(solver);
    spry_operator_free(A);
    spry_grid_free(grid);
    return status;
}

static void torture(void **state)
{
    spry_context *ctx = *state;
    spry_grid *grid;
    spry_vector *fields[3];
    assert_ok(ctx, spry_grid_new(ctx, "16x16 box=-1:1", &grid));
    assert_ok(ctx, spry_field_new(grid, SPRY_TYPE_D, true, ball, NULL, &fields[0]));
    for (int k = 1; k < 3; k++)
        assert_ok(ctx, spry_field_new(grid, SPRY_TYPE_D, false, NULL, NULL, &fields[k]));
    support_torture(ctx, life, fields);
    for (int k = 0; k < 3; k++)
        spry_vector_free(fields[k]);
    spry_grid_free(grid);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(orders, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(products, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(types, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(extremes, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(faults, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(torture, support_setup, support_teardown)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
