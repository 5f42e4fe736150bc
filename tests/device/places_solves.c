/* Solves with vectors, blocks and operators of each place: see places.c. */
#include "support/files.h"
#include "support/places.h"

#include "device/engine/engine.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* x, wherever it is, solves A x = b to the tolerance. */
static void check_solution(const spry_matrix *A, const spry_vector *b, const spry_vector *x,
                           double tol)
{
    spry_context *ctx = b->ctx;
    spry_operator *op = NULL;
    spry_vector *on_host = NULL, *r = NULL;
    assert_ok(ctx, spry_operator_from_matrix(A, NULL, NULL, &op));
    assert_ok(ctx, spry_vector_like(b, b->n, &on_host));
    assert_ok(ctx, spry_vector_like(b, b->n, &r));
    assert_ok(ctx, spry_vector_copy(x, on_host));
    assert_ok(ctx, spry_vector_copy(b, r));
    assert_ok(ctx,
              spry_operator_multiply(op, SPRY_TRANSPOSE_NO, (spry_scalar){-1, 0}, on_host, one, r));
    /* The solver's residual may have been rounded otherwise: by a few units for every |A| |x|. */
    const double rounding = 64 * numeric_unit(b->type) * 8 * numeric_norm(on_host);
    assert_true(numeric_norm(r) <= tol * numeric_norm(b) + rounding);
    FREE_ALL(on_host, r);
    spry_operator_free(op);
}

/* By splitting, whose work is the host's. */
static void check_split(spry_device *d, spry_type type)
{
    spry_context *ctx = d->ctx;
    spry_matrix *A = grid(ctx, type);
    spry_vector *b = numbers(ctx, type, spry_matrix_rows(A), 14), *db = copy_on_device(d, b),
                *x = copy_on_device(d, b);
    spry_result result = SPRY_RESULT_INIT;
    assert_ok(ctx, spry_vector_fill(x, zero));
    assert_ok(ctx, spry_solve_split(A, db, x, "inner=ilu tol=1e-4", &result, NULL));
    assert_true(result.converged);
    check_solution(A, b, x, 1e-4);
    spry_result_clear(ctx, &result);
    if (!spry_type_is_complex(type)) { /* bounds that nothing comes near */
        spry_vector *lower = copy_on_device(d, b);
        assert_ok(ctx, spry_vector_fill(lower, (spry_scalar){-1e6, 0}));
        assert_ok(ctx, spry_vector_fill(x, zero));
        assert_ok(ctx, spry_solve_split_above(A, db, lower, x, "inner=gs tol=1e-5", &result, NULL));
        assert_true(result.converged);
        check_solution(A, b, x, 1e-4);
        spry_result_clear(ctx, &result);
        FREE_ALL(lower);
    }
    FREE_ALL(b, db, x);
    spry_matrix_free(A);
}

/* A diagonal with arrays on the device: offsets and columns of 64 bits as vectors of type d. */
static void check_arrays(spry_device *d, spry_type type)
{
    enum { N = 7 };
    spry_context *ctx = d->ctx;
    int64_t count[N + 1];
    for (int i = 0; i <= N; i++)
        count[i] = i;
    spry_vector *index = NULL;
    assert_ok(ctx, spry_vector_new(ctx, SPRY_TYPE_D, N + 1, count, SPRY_OWN_BORROW, &index));
    spry_vector *x = numbers(ctx, type, N, 3), *values = copy_on_device(d, x),
                *places = copy_on_device(d, index);
    spry_vector *ones = NULL, *y = NULL;
    spry_operator *op = NULL;
    spry_arrays a = SPRY_ARRAYS_INIT;
    a.type = type;
    a.format = SPRY_FORMAT_CSR;
    a.rows = a.cols = a.nnz = N;
    a.offsets = a.col_index = (void *)places->memory->block;
    a.values = (void *)values->memory->block;
    a.index_bits = 64;
    assert_ok(ctx, spry_device_finish(d));
    assert_ok(ctx, spry_operator_from_arrays(&a, d, "auto", &op));
    assert_ok(ctx, spry_vector_like(values, N, &ones));
    assert_ok(ctx, spry_vector_like(values, N, &y));
    assert_ok(ctx, spry_vector_fill(ones, one));
    assert_ok(ctx, spry_operator_apply(op, ones, y));
    same(x, y);
    spry_operator_free(op);
    FREE_ALL(index, x, values, places, ones, y);
}

/* What the solver works with: a matrix, by itself or with operators of the caller's. */
typedef enum solve_kind {
    BY_MATRIX,
    BY_OPERATOR,
    WITH_JACOBI, /* of the other place */
    WITH_ROWS,
    SOLVE_KINDS
} solve_kind;

static void check_solves(spry_device *d, spry_type type, solve_kind kind, bool on_device)
{
    spry_context *ctx = d->ctx;
    const double tol = type == SPRY_TYPE_D ? 1e-10 : 1e-4;
    char options[64];
    spry_matrix *A = grid(ctx, type);
    spry_operator *op = NULL, *M = NULL;
    spry_solver *solver = NULL;
    spry_vector *b = numbers(ctx, type, spry_matrix_rows(A), 14), *db = copy_on_device(d, b), *x[4];
    snprintf(options, sizeof options, "tol=%g method=cg device=%s", tol,
             on_device ? spry_device_name(d) : "cpu");
    assert_ok(ctx, spry_solver_new(ctx, &solver));
    assert_ok(ctx, spry_solver_set(solver, options));
    assert_ok(ctx, spry_operator_from_matrix(A, on_device ? d : NULL, "csr", &op));
    assert_ok(ctx, kind == WITH_JACOBI ? spry_precon_new(A, on_device ? NULL : d, "jacobi", &M)
                                       : spry_operator_from_matrix(A, on_device ? NULL : d, "csr",
                                                                   &M)); /* it is definite */
    assert_ok(ctx, kind == BY_OPERATOR ? spry_solver_set_operator(solver, op)
                                       : spry_solver_set_matrix(solver, A));
    if (kind >= WITH_JACOBI)
        assert_ok(ctx, spry_solver_set_precon(solver, M));
    const spry_vector *const bs[] = {b, db, b, db};
    for (int k = 0; k < 4; k++) {
        assert_ok(ctx, spry_vector_like(k >> 1 ? db : b, b->n, &x[k]));
        assert_ok(ctx, spry_solve(solver, bs[k], x[k], NULL));
        check_solution(A, b, x[k], tol);
        if (kind != BY_OPERATOR) { /* as on the host, where copies are looked at */
            double backward, bound, also;
            spry_vector *on_host = NULL;
            assert_ok(ctx, spry_vector_like(b, b->n, &on_host));
            assert_ok(ctx, spry_vector_copy(x[k], on_host));
            assert_ok(ctx, spry_solver_errors(solver, bs[k], x[k], &backward, &bound));
            assert_ok(ctx, spry_solver_errors(solver, b, on_host, &also, &bound));
            assert_true(backward == also && backward > 0 && backward < 1 && isnan(bound));
            spry_vector_free(on_host);
        }
        assert_ok(ctx, spry_vector_fill(x[k], zero));
    }
    assert_ok(ctx, spry_solve_many(solver, 4, bs, x, NULL)); /* of all places at once */
    for (int k = 0; k < 4; k++) {
        check_solution(A, b, x[k], tol);
        assert_ok(ctx, spry_vector_fill(x[k], zero));
        assert_ok(ctx, spry_quick_solve(ctx, A, bs[k], x[k], options, NULL));
        check_solution(A, b, x[k], tol);
    }
    spry_solver_free(solver);
    spry_operator_free(op);
    spry_operator_free(M);
    free_all(x, 4);
    FREE_ALL(b, db);
    spry_matrix_free(A);
}

/* By factors of the host, of vectors wherever they are. */
static void check_estimates(spry_device *d, spry_type type)
{
    spry_context *ctx = d->ctx;
    spry_matrix *A = grid(ctx, type);
    spry_solver *solver = NULL;
    spry_vector *b = numbers(ctx, type, spry_matrix_rows(A), 14), *x = NULL;
    double host, device;
    assert_ok(ctx, spry_solver_new(ctx, &solver));
    assert_ok(ctx, spry_solver_set(solver, "method=direct device=cpu"));
    assert_ok(ctx, spry_solver_set_matrix(solver, A));
    assert_ok(ctx, spry_vector_like(b, b->n, &x));
    assert_ok(ctx, spry_solve(solver, b, x, NULL));
    spry_vector *db = copy_on_device(d, b), *dx = copy_on_device(d, x);
    assert_ok(ctx, spry_solver_error_estimate(solver, b, x, &host));
    assert_ok(ctx, spry_solver_error_estimate(solver, db, dx, &device));
    assert_true(host > 0 && host < 1 && device == host);
    spry_solver_free(solver);
    FREE_ALL(b, x, db, dx);
    spry_matrix_free(A);
}

/* The differences around a ring, which the constant vector has none of. */
static spry_matrix *ring(spry_context *ctx, spry_type type, int32_t n)
{
    int64_t *offsets = calloc((size_t)n + 1, sizeof *offsets);
    int32_t *columns = calloc((size_t)n, 3 * sizeof *columns);
    void *values = calloc((size_t)n, 3 * spry_type_size(type));
    assert_true(offsets && columns && values);
    for (int32_t i = 0; i < n; i++)
        for (int32_t k = 0; k < 3; k++) {
            offsets[i + 1] = 3 * (i + 1);
            columns[3 * i + k] = (i + n + k - 1) % n;
            value_set(type, values, 3 * i + k, (spry_scalar){k == 1 ? 2 : -1, 0});
        }
    return support_from_csr(ctx, type, n, n, offsets, columns, values);
}

/* Null vectors of each place, for solves in each place. */
static void check_null_space(spry_device *d, spry_type type)
{
    enum { N = 60 };
    spry_context *ctx = d->ctx;
    const double tol = type == SPRY_TYPE_D ? 1e-10 : 1e-4;
    spry_matrix *A = ring(ctx, type, N);
    spry_vector *ones = NULL, *w = numbers(ctx, type, N, 15), *b = NULL, *x = NULL;
    spry_operator *op = NULL;
    assert_ok(ctx, spry_vector_ones(ctx, A, &ones));
    spry_vector *away = copy_on_device(d, ones);
    assert_ok(ctx, spry_operator_from_matrix(A, NULL, NULL, &op));
    assert_ok(ctx, spry_vector_like(w, N, &b));
    assert_ok(ctx, spry_operator_apply(op, w, b));
    for (int k = 0; k < 4; k++) {
        spry_solver *solver = NULL;
        spry_scalar mean;
        const spry_vector *const null[] = {k & 1 ? away : ones};
        assert_ok(ctx, spry_vector_zeros(ctx, A, &x));
        assert_ok(ctx, spry_solver_new(ctx, &solver));
        assert_ok(ctx, spry_solver_set(solver, k >> 1 ? "method=cg" : "method=cg device=cpu"));
        assert_ok(ctx, spry_solver_set_real(solver, "tol", tol));
        if (k >> 1)
            assert_ok(ctx, spry_solver_set_text(solver, "device", spry_device_name(d)));
        assert_ok(ctx, spry_solver_set_matrix(solver, A));
        assert_ok(ctx, spry_solver_set_null_space(solver, 1, null, NULL));
        assert_ok(ctx, spry_solve(solver, b, x, NULL));
        check_solution(A, b, x, tol);
        assert_ok(ctx, spry_vector_dot(ones, x, &mean)); /* which is removed from x: the shortest */
        assert_true(hypot(mean.re, mean.im) <= N * 64 * numeric_unit(type) * numeric_norm(x));
        spry_solver_free(solver);
        FREE_ALL(x);
    }
    spry_operator_free(op);
    FREE_ALL(ones, away, w, b);
    spry_matrix_free(A);
}

/* Right-hand sides and solutions as blocks of each place, columns together. */
static void check_blocks(spry_device *d, spry_type type)
{
    enum { COLS = 2 };
    spry_context *ctx = d->ctx;
    const double tol = type == SPRY_TYPE_D ? 1e-10 : 1e-4;
    spry_matrix *A = grid(ctx, type);
    const int64_t n = spry_matrix_rows(A), bytes = n * (int64_t)spry_type_size(type);
    spry_vector *b = numbers(ctx, type, n * COLS, 17), *db = copy_on_device(d, b);
    for (int k = 0; k < 4; k++) {
        const spry_vector *from = k & 1 ? db : b;
        spry_solver *solver = NULL;
        spry_vector *x = NULL, *back = NULL;
        assert_ok(ctx, spry_vector_like(k & 1 ? db : b, b->n, &x));
        assert_ok(ctx, spry_vector_like(b, b->n, &back));
        spry_dense B = SPRY_DENSE_INIT, X = SPRY_DENSE_INIT;
        B.rows = X.rows = B.ld = X.ld = n;
        B.cols = X.cols = COLS;
        B.device = X.device = k & 1 ? d : NULL;
        B.data = k & 1 ? spry_vector_handle(db) : spry_vector_data(b);
        X.data = k & 1 ? spry_vector_handle(x) : spry_vector_data(x);
        assert_ok(ctx, spry_solver_new(ctx, &solver));
        assert_ok(ctx, spry_solver_set(solver, "method=cg"));
        assert_ok(ctx, spry_solver_set_real(solver, "tol", tol));
        assert_ok(ctx,
                  spry_solver_set_text(solver, "device", k >> 1 ? spry_device_name(d) : "cpu"));
        assert_ok(ctx, spry_solver_set_matrix(solver, A));
        assert_ok(ctx, spry_solve_dense(solver, &B, &X, NULL));
        assert_ok(ctx, spry_vector_copy(x, back));
        same(b, from);
        for (int c = 0; c < COLS; c++) {
            spry_vector *column = NULL, *solution = NULL;
            assert_ok(ctx, spry_vector_new(ctx, type, n, (char *)spry_vector_data(b) + c * bytes,
                                           SPRY_OWN_BORROW, &column));
            assert_ok(ctx, spry_vector_new(ctx, type, n, (char *)spry_vector_data(back) + c * bytes,
                                           SPRY_OWN_BORROW, &solution));
            check_solution(A, column, solution, tol);
            FREE_ALL(column, solution);
        }
        spry_solver_free(solver);
        FREE_ALL(x, back);
    }
    FREE_ALL(b, db);
    spry_matrix_free(A);
}

/* What gcrot keeps goes out to vectors of each place and in again: the next solve needs fewer
 * iterations with it. */
static void check_space(spry_device *d, bool on_device)
{
    enum { KEPT = 2 };
    spry_context *ctx = d->ctx;
    spry_matrix *A = grid(ctx, SPRY_TYPE_D);
    const int64_t n = spry_matrix_rows(A);
    spry_vector *b = numbers(ctx, SPRY_TYPE_D, n, 18), *x = NULL, *u[KEPT], *du[KEPT];
    spry_solver *solver = NULL;
    spry_result result = SPRY_RESULT_INIT;
    assert_ok(ctx, spry_vector_like(b, n, &x));
    assert_ok(ctx, spry_solver_new(ctx, &solver));
    assert_ok(ctx, spry_solver_set(solver,
                                   "method=gcrot:restart=4,keep=2,recycle=yes precon=ic tol=1e-8"));
    assert_ok(ctx, spry_solver_set_text(solver, "device", on_device ? spry_device_name(d) : "cpu"));
    assert_ok(ctx, spry_solver_set_matrix(solver, A));
    assert_ok(ctx, spry_solve(solver, b, x, &result));
    check_solution(A, b, x, 1e-8);
    const int64_t first = result.iterations;
    for (int k = 0; k < KEPT; k++) {
        assert_ok(ctx, spry_vector_like(b, n, &u[k]));
        du[k] = copy_on_device(d, u[k]);
    }
    assert_ok(ctx, spry_solver_get_space(solver, "U", KEPT, u));
    assert_ok(ctx, spry_solver_get_space(solver, "U", KEPT, du));
    for (int k = 0; k < KEPT; k++)
        same(u[k], du[k]);
    assert_true(numeric_norm(u[0]) > 0);
    assert_ok(ctx, spry_solver_set_space(solver, "U", KEPT,
                                         (const spry_vector *const *)(on_device ? du : u)));
    assert_ok(ctx, spry_vector_fill(x, zero));
    spry_result_clear(ctx, &result);
    assert_ok(ctx, spry_solve(solver, b, x, &result));
    check_solution(A, b, x, 1e-8);
    assert_true(result.iterations <= first);
    spry_result_clear(ctx, &result);
    spry_solver_free(solver);
    free_all(u, KEPT);
    free_all(du, KEPT);
    FREE_ALL(b, x);
    spry_matrix_free(A);
}

/* u after some steps, explicit and implicit, and slices of time, with A and u in a place. */
static void take_steps(spry_operator *A, spry_vector *u)
{
    spry_context *ctx = u->ctx;
    static const char *const methods[] = {"method=rk4 dt=0.01", "method=crank-nicolson dt=0.01"};
    spry_stepper *s[2];
    double limit = 0;
    for (int k = 0; k < 2; k++) {
        assert_ok(ctx, spry_stepper_new(ctx, methods[k], &s[k]));
        assert_ok(ctx, spry_stepper_set_operator(s[k], A, NULL, NULL, NULL));
        assert_ok(ctx, spry_stepper_run(s[k], 0, 0.03, u, NULL));
    }
    assert_ok(ctx, spry_stepper_limit(s[0], u, &limit));
    assert_true(limit > 0);
    assert_ok(ctx, spry_parareal(1, &s[1], &s[0], 0, 0.02, u, "slices=2 tol=0", NULL, NULL));
    for (int k = 0; k < 2; k++)
        spry_stepper_free(s[k]);
}

/* Steps on the device give u of the host: what solves to 1e-10 leave is dt |A u| times that, a
 * hundredth of 8 |u|, three times; roundings are far less. */
static void check_steps(spry_device *d)
{
    spry_context *ctx = d->ctx;
    spry_matrix *A = grid(ctx, SPRY_TYPE_D);
    spry_operator *on_host = NULL, *on_device = NULL;
    spry_vector *u = numbers(ctx, SPRY_TYPE_D, spry_matrix_rows(A), 15), *du = copy_on_device(d, u),
                *back;
    assert_ok(ctx, spry_operator_from_matrix(A, NULL, "csr", &on_host));
    assert_ok(ctx, spry_operator_from_matrix(A, d, "csr", &on_device));
    take_steps(on_host, u);
    take_steps(on_device, du);
    assert_ok(ctx, spry_vector_like(u, spry_vector_size(u), &back));
    assert_ok(ctx, spry_vector_copy(du, back));
    assert_ok(ctx, spry_vector_axpy((spry_scalar){-1, 0}, u, back));
    assert_true(numeric_norm(back) <= 1e-10 * numeric_norm(u));
    spry_operator_free(on_host);
    spry_operator_free(on_device);
    FREE_ALL(u, du, back);
    spry_matrix_free(A);
}

static void check_datasets(spry_device *d, spry_type type)
{
    static const char *const names[] = {"a", "b"};
    static const int64_t sides[] = {2, 3, 20, 0, 0, 120};
    spry_context *ctx = d->ctx;
    spry_vector *x = numbers(ctx, type, 120, 4), *dx = copy_on_device(d, x), *back = NULL;
    const spry_vector *const both[] = {dx, x};
    int64_t got[3];
    assert_ok(ctx, spry_datasets_write(ctx, files_path("places.h5"), 2, names, sides, both));
    for (int k = 0; k < 2; k++) {
        assert_ok(ctx, spry_dataset_read(ctx, files_path("places.h5"), names[k], got, &back));
        assert_memory_equal(got, sides + 3 * k, sizeof got);
        assert_null(spry_vector_device(back));
        same(x, back);
        FREE_ALL(back);
    }
    FREE_ALL(x, dx);
}

/* T_3 of an operator in two vectors, in small whole numbers: on the host, and where it lives. */
static void check_powers(spry_device *d)
{
    spry_context *ctx = d->ctx;
    static const char *const options = "k=3 basis=chebyshev low=-1 high=1 results=last";
    char on_device_too[64];
    spry_grid *square;
    spry_operator *A, *B;
    spry_powers *p, *q;
    snprintf(on_device_too, sizeof on_device_too, "device=%s", spry_device_name(d));
    assert_ok(ctx, spry_grid_new(ctx, "6x6 box=0:6,0:6", &square));
    assert_ok(ctx, spry_operator_stencil(square, "-laplace", NULL, 0, NULL, NULL, &A));
    assert_ok(ctx, spry_operator_stencil(square, "-laplace", on_device_too, 0, NULL, NULL, &B));
    assert_ok(ctx, spry_powers_from_operator(A, options, &p));
    assert_ok(ctx, spry_powers_from_operator(B, options, &q));
    spry_vector *x = numbers(ctx, SPRY_TYPE_D, 25, 1), *y = numbers(ctx, SPRY_TYPE_D, 25, 2),
                *z = numbers(ctx, SPRY_TYPE_D, 25, 3);
    spry_vector *dx = copy_on_device(d, x), *dy = copy_on_device(d, y), *dz = copy_on_device(d, z);
    spry_vector *v[] = {y, z}, *dv[] = {dy, dz};
    assert_ok(ctx, spry_powers_apply(p, x, v));
    assert_ok(ctx, spry_powers_apply(q, dx, dv));
    same(y, dy);
    refused(d, spry_powers_apply(p, dx, v));
    refused(d, spry_powers_apply(q, x, dv));
    FREE_ALL(x, y, z, dx, dy, dz);
    spry_powers_free(p);
    spry_powers_free(q);
    spry_operator_free(A);
    spry_operator_free(B);
    spry_grid_free(square);
}

static void solves(spry_context *ctx, spry_device *d)
{
    (void)ctx;
    for (int t = 0; t < TYPES; t++) {
        check_datasets(d, types[t]);
        check_null_space(d, types[t]);
        check_blocks(d, types[t]);
        check_split(d, types[t]);
        check_arrays(d, types[t]);
        check_estimates(d, types[t]);
        for (int kind = 0; kind < SOLVE_KINDS; kind++) {
            check_solves(d, types[t], (solve_kind)kind, false);
            check_solves(d, types[t], (solve_kind)kind, true);
        }
    }
    check_space(d, false);
    check_space(d, true);
    check_steps(d);
    check_powers(d);
}

int main(void)
{
    static const devices_test tests[] = {DEVICES_TEST(solves)};
    return DEVICES_RUN(tests);
}
