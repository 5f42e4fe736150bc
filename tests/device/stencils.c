/*
 * Stencils on devices against sums in long double over the entries of their terms: all types,
 * transposes, faces of every kind, fields, marches along z and rows one by one; and as the operator
 * of methods.
 */
#include "support/columns.h"
#include "support/devices.h"
#include "support/numeric.h"

#include "grid/grid.h"

#include <spry/spry.h>

#include <math.h>

typedef struct row_sum {
    const spry_operator *op;
    const spry_vector *x;
    bool transposed, conjugate;
    int64_t at[GRID_AXES];
    wide sum;
    int count;
} row_sum;

static spry_scalar times(spry_scalar a, spry_scalar b)
{
    return (spry_scalar){a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
}

static int64_t place_of(const row_sum *r, bool points, const int64_t step[GRID_AXES])
{
    const grid_axis *a = stencil_of(r->op)->shape.axis;
    int64_t to[GRID_AXES];
    for (int k = 0; k < GRID_AXES; k++)
        to[k] = r->at[k] + step[k] + (points ? a[k].first : 0);
    return points ? to[0] + a[0].points * (to[1] + a[1].points * to[2])
                  : to[0] + a[0].unknowns * (to[1] + a[1].unknowns * to[2]);
}

static void add_entry(void *data, const stencil_part *part, const stencil_entry *e)
{
    static const int64_t none[GRID_AXES] = {0};
    row_sum *r = data;
    const stencil *s = stencil_of(r->op);
    const int64_t *const steps[] = {none, e->mid, e->col};
    spry_scalar a = {part->c.re * e->c, part->c.im * e->c};
    if (e->kind[0] != KNOWN_NOT || e->kind[1] != KNOWN_NOT || e->kind[2] != KNOWN_NOT)
        return;
    for (int f = 0; f < 3; f++) { /* rows of A^T are columns of A */
        const int field = part->field[r->transposed ? 2 - f : f];
        if (field >= 0)
            a = times(a, value_get(r->op->type, s->fields[field], place_of(r, true, steps[f])));
    }
    r->sum = numeric_muladd(r->sum, a, r->conjugate,
                            value_get(r->op->type, r->x->data, place_of(r, false, e->col)));
    r->count++;
}

/* Each number of a row is rounded, multiplied by up to three fields and by x, and added: 6
 * roundings for each term and those of the sum, twice as many with complex numbers. */
static void check_product(const spry_operator *A, spry_transpose transpose, const spry_vector *x,
                          const spry_vector *y, const char *what)
{
    const stencil *s = stencil_of(A);
    for (int64_t i = 0; i < A->rows; i++) {
        row_sum r = {.op = A,
                     .x = x,
                     .transposed = transpose != SPRY_TRANSPOSE_NO,
                     .conjugate = transpose == SPRY_TRANSPOSE_CONJUGATE};
        grid_split(&s->shape, false, i, r.at);
        for (int p = 0; p < s->parts_count; p++)
            stencil_visit_row(&s->parts[p], r.transposed, r.at, add_entry, &r);
        numeric_near(A->type, value_get(A->type, y->data, i), r.sum, 2.0 * (r.count + 6), what, i);
    }
}

static void wavy(void *data, const double *place, spry_scalar *value)
{
    (void)data;
    *value = (spry_scalar){1.5 + sin(7 * place[0]) * cos(5 * place[1]), sin(3 * place[0])};
}

static spry_operator *stencil_on(spry_device *d, const char *size, const char *text,
                                 const char *options)
{
    static const char *const names[] = {"k"};
    spry_context *ctx = d->ctx;
    char all[96];
    spry_grid *grid;
    spry_vector *k;
    spry_operator *A;
    const spry_type type =
        strstr(options, "type=c") || strstr(options, "type=z") ? SPRY_TYPE_Z : SPRY_TYPE_D;
    assert_ok(ctx, spry_grid_new(ctx, size, &grid));
    assert_ok(ctx, spry_field_new(grid, type, true, wavy, NULL, &k));
    snprintf(all, sizeof all, "%s device=%s", options, d->facts.name);
    assert_ok(ctx,
              spry_operator_stencil(grid, text, all, 1, names, (const spry_vector *[]){k}, &A));
    assert_ptr_equal(spry_operator_device(A), d);
    spry_vector_free(k);
    spry_grid_free(grid);
    return A;
}

/* Products of an operator, which is freed. */
static void check_operator(spry_device *d, spry_operator *A, const char *text, bool transposes)
{
    spry_context *ctx = d->ctx;
    spry_vector *x = numeric_random(ctx, NULL, A->type, A->rows, 3), *dx, *dy,
                *y = numeric_random(ctx, NULL, A->type, A->rows, 0);
    const bool complex = spry_type_is_complex(A->type);
    assert_ok(ctx, spry_vector_on(d, A->type, A->rows, NULL, &dx));
    assert_ok(ctx, spry_vector_on(d, A->type, A->rows, NULL, &dy));
    assert_ok(ctx, spry_vector_copy(x, dx));
    for (int t = 0; t <= (!transposes ? 0 : complex ? 2 : 1); t++) {
        assert_ok(ctx, spry_operator_multiply(A, (spry_transpose)t, (spry_scalar){1, 0}, dx,
                                              (spry_scalar){0, 0}, dy));
        assert_ok(ctx, spry_vector_copy(dy, y));
        check_product(A, (spry_transpose)t, x, y, text);
    }
    /* y = 2 A x - 2 y is 0, as doubling is exact and y has the same bits */
    double norm = 1;
    assert_ok(ctx, spry_operator_multiply(A, SPRY_TRANSPOSE_NO, (spry_scalar){1, 0}, dx,
                                          (spry_scalar){0, 0}, dy));
    assert_ok(ctx, spry_operator_multiply(A, SPRY_TRANSPOSE_NO, (spry_scalar){2, 0}, dx,
                                          (spry_scalar){-2, 0}, dy));
    assert_ok(ctx, spry_vector_norm(dy, &norm));
    assert_true(norm == 0);
    spry_vector_free(x);
    spry_vector_free(y);
    spry_vector_free(dx);
    spry_vector_free(dy);
    spry_operator_free(A);
}

static void check(spry_device *d, const char *size, const char *text, const char *options,
                  bool transposes)
{
    check_operator(d, stencil_on(d, size, text, options), text, transposes);
}

/* Strips are on the host, and what they leave in a sweep is found where the operator is. */
static void solve_by_strips(spry_device *d, const spry_operator *A)
{
    spry_context *ctx = d->ctx;
    spry_result result = SPRY_RESULT_INIT;
    spry_vector *b = numeric_random(ctx, d, A->type, A->rows, 3),
                *x = numeric_random(ctx, d, A->type, A->rows, 4);
    spry_solver *solver;
    assert_ok(ctx, spry_solver_new(ctx, &solver));
    assert_ok(ctx, spry_solver_set(solver, "method=gmres tol=1e-8 "
                                           "precon=strips:parts=2,sweeps=1,layer=3"));
    assert_ok(ctx, spry_solver_set_operator(solver, A));
    assert_ok(ctx, spry_solve(solver, b, x, &result));
    assert_true(result.converged && result.iterations < 40);
    spry_result_clear(ctx, &result);
    spry_solver_free(solver);
    spry_vector_free(b);
    spry_vector_free(x);
}

/* The Helmholtz equation: 27 points, layers, k that varies. */
static void test_waves(spry_context *ctx, spry_device *d)
{
    char options[64];
    spry_grid *grid;
    spry_vector *k2;
    spry_operator *A;
    assert_ok(ctx, spry_grid_new(ctx, "13x12x11 boundary=absorb layer=3", &grid));
    assert_ok(ctx, spry_field_new(grid, SPRY_TYPE_Z, true, wavy, NULL, &k2));
    snprintf(options, sizeof options, "device=%s", d->facts.name);
    assert_ok(ctx, spry_operator_helmholtz(grid, k2, options, &A, NULL));
    assert_ptr_equal(spry_operator_device(A), d);
    spry_vector_free(k2);
    spry_grid_free(grid);
    solve_by_strips(d, A);
    check_operator(d, A, "helmholtz", false);
}

static void test_marches(spry_context *ctx, spry_device *d)
{
    (void)ctx;
    check(d, "37x20x19", "-laplace", "", false);                  /* regular rows at faces */
    check(d, "34x21x18 z=periodic", "-laplace", "order=6", true); /* others */
    if (devices_few(d))
        return;
    check(d, "20x13x90 x=periodic", "-laplace + 3*dx", "type=s order=4", true);
    check(d, "20x13x14 boundary=neumann", "-laplace", "type=z order=8", true);
}

static void test_rows(spry_context *ctx, spry_device *d)
{
    (void)ctx;
    check(d, "17x12 x=neumann y=periodic", "-div(k*grad) + dy(k^2*dy) + 3*dx + k", "type=z", true);
    check(d, "9x10x11 y=periodic", "dx*k*dy + dz^2", "type=s", false);
    check(d, "17x12x9 y=periodic stretch=y:ratio:1.1,z:cosine", "-laplace", "", true);
    if (devices_few(d))
        return;
    check(d, "300 x=neumann:dirichlet", "dx*k*dx + dx^2", "type=c order=4", true);
    check(d, "130x70", "-div(k*grad)", "", true); /* regular with fields */
    check(d, "9x9x9", "dx*dy*dz + k", "order=4", true);
    check(d, "5x4x3", "-laplace", "", true); /* fewer points than classes */
}

/* Several columns in one launch, of marches with rows at the ends apart and without, and of rows
 * one by one. */
static void test_columns(spry_context *ctx, spry_device *d)
{
    static const struct {
        const char *size, *text, *options;
    } cases[] = {{"34x9x6 y=periodic", "-div(k*grad) + k", "type=z"},
                 {"17x12x5 x=neumann", "-laplace", ""},
                 {"40x7", "-div(k*grad)", "type=c"},
                 {"17x9x5", "-laplace + k", "type=s"}};
    (void)ctx;
    for (int i = 0; i < (devices_few(d) ? 3 : 4); i++) {
        spry_operator *A = stencil_on(d, cases[i].size, cases[i].text, cases[i].options);
        columns_check(A, SPRY_TRANSPOSE_NO, 3);
        columns_check(A, SPRY_TRANSPOSE_NO, i == 0 ? 17 : 1);
        if (i == 0)
            columns_check(A, SPRY_TRANSPOSE_CONJUGATE, 2);
        spry_operator_free(A);
    }
}

/* The rows of the operator in the method's sweeps, and the product called where those of A^H are
 * needed. */
static void test_methods(spry_context *ctx, spry_device *d)
{
    static const char *const methods[] = {"cg", "bicgstab", "gmres", "qmr"};
    spry_operator *A = stencil_on(d, "18x16x14", "-laplace + 1", "");
    spry_vector *b, *x;
    assert_ok(ctx, spry_vector_on(d, A->type, A->rows, NULL, &b));
    assert_ok(ctx, spry_vector_on(d, A->type, A->rows, NULL, &x));
    assert_ok(ctx, spry_vector_fill(b, (spry_scalar){1, 0}));
    for (int m = 0; m < (devices_few(d) ? 1 : 4); m++) {
        char options[64];
        spry_solver *solver;
        spry_result result = SPRY_RESULT_INIT;
        snprintf(options, sizeof options, "method=%s precon=none tol=1e-10", methods[m]);
        assert_ok(ctx, spry_vector_fill(x, (spry_scalar){0, 0}));
        assert_ok(ctx, spry_solver_new(ctx, &solver));
        assert_ok(ctx, spry_solver_set(solver, options));
        assert_ok(ctx, spry_solver_set_operator(solver, A));
        assert_ok(ctx, spry_solve(solver, b, x, &result));
        assert_true(result.converged && result.true_residual <= 1e-10);
        assert_string_equal(result.device, d->facts.name);
        spry_result_clear(ctx, &result);
        spry_solver_free(solver);
    }
    spry_vector_free(b);
    spry_vector_free(x);
    spry_operator_free(A);
}

static void ball(void *data, const double *at, spry_scalar *value)
{
    (void)data;
    *value = (spry_scalar){at[0] * at[0] + at[1] * at[1] + at[2] * at[2] - 0.6, 0};
}

/* Rows that a curved boundary cuts: fields before and behind differences, and the diagonal's. */
static void test_domain(spry_context *ctx, spry_device *d)
{
    static const char *const names[] = {"phi"}, *const grids[] = {"30x34 box=-1:1",
                                                                  "20x22x18 box=-1:1"};
    for (int g = 0; g < 2; g++) {
        char options[96];
        spry_grid *grid;
        spry_vector *phi;
        spry_operator *A;
        spry_solver *solver;
        spry_result result = SPRY_RESULT_INIT;
        snprintf(options, sizeof options, "domain=phi device=%s", d->facts.name);
        assert_ok(ctx, spry_grid_new(ctx, grids[g], &grid));
        assert_ok(ctx, spry_field_new(grid, SPRY_TYPE_D, true, ball, NULL, &phi));
        assert_ok(ctx, spry_operator_stencil(grid, "-laplace", options, 1, names,
                                             (const spry_vector *[]){phi}, &A));
        spry_vector *b = numeric_random(ctx, d, A->type, A->rows, 3),
                    *x = numeric_random(ctx, d, A->type, A->rows, 4);
        assert_ok(ctx, spry_solver_new(ctx, &solver));
        assert_ok(ctx, spry_solver_set(solver, "method=cg precon=gmg tol=1e-10"));
        assert_ok(ctx, spry_solver_set_operator(solver, A));
        assert_ok(ctx, spry_solve(solver, b, x, &result));
        assert_true(result.converged && result.iterations <= 20);
        spry_result_clear(ctx, &result);
        spry_solver_free(solver);
        spry_vector_free(phi);
        spry_vector_free(x);
        spry_vector_free(b);
        spry_grid_free(grid);
        check_operator(d, A, grids[g], true);
    }
}

static void test_faults(spry_context *ctx, spry_device *d)
{
    spry_grid *grid;
    spry_operator *A = NULL;
    assert_ok(ctx, spry_grid_new(ctx, "8x8", &grid));
    assert_int_not_equal(
        spry_operator_stencil(grid, "laplace", "device=nowhere", 0, NULL, NULL, &A),
        SPRY_STATUS_OK);
    assert_null(A);
    spry_grid_free(grid);
    char options[64];
    snprintf(options, sizeof options, "device=%s", d->facts.name);
    assert_ok(ctx, spry_grid_new(ctx, "16x8 stretch=x:cosine", &grid));
    assert_status(ctx, SPRY_STATUS_UNSUPPORTED,
                  spry_operator_stencil(grid, "laplace", options, 0, NULL, NULL, &A));
    support_message_has(ctx, "points were given along x");
    assert_null(A);
    spry_grid_free(grid);
}

int main(void)
{
    static const devices_test tests[] = {DEVICES_TEST(test_waves),   DEVICES_TEST(test_marches),
                                         DEVICES_TEST(test_rows),    DEVICES_TEST(test_methods),
                                         DEVICES_TEST(test_columns), DEVICES_TEST(test_domain),
                                         DEVICES_TEST(test_faults)};
    return DEVICES_RUN(tests);
}
