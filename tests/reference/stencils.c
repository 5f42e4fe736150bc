/*
 * Operators of differences: products against those with their matrices, transposes, threads, fused
 * sweeps, solves. stencil_orders.c has their orders.
 */
#include "choose/precons.h"
#include "operator/operator.h"
#include "support/support.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define COUNT(array) (sizeof(array) / sizeof *(array))

/* --- against the matrix --------------------------------------------------------------------------
 */

static void noise(void *data, const double *place, spry_scalar *value)
{
    uint64_t *seed = data;
    (void)place;
    *value = (spry_scalar){base_uniform(*seed, 0) + 0.5, base_uniform(*seed, 1) - 0.5};
    *seed += 1;
}

static spry_vector *random_field(const spry_grid *grid, spry_type type, bool all, uint64_t seed)
{
    spry_vector *v;
    assert_int_equal(spry_field_new(grid, type, all, noise, &seed, &v), SPRY_STATUS_OK);
    return v;
}

static const char *const some_grids[] = {"23",
                                         "12 x=neumann",
                                         "40 x=periodic",
                                         "9x11",
                                         "14x9 x=periodic y=neumann:dirichlet",
                                         "9x10x11 boundary=neumann",
                                         "40x9x9 z=periodic",
                                         "11x3000 y=periodic",
                                         "70 x=neumann:dirichlet stretch=x:ratio:1.02",
                                         "90x9 stretch=x:cosine",
                                         "14x90 y=periodic stretch=y:ratio:0.99",
                                         "80x9x11 x=periodic z=neumann "
                                         "stretch=x:ratio:1.02,y:cosine,z:ratio:0.9"};
static const char *const some_texts[] = {"-laplace",
                                         "-div(k*grad) + k",
                                         "k*dx^2 + 3*dx - m",
                                         "dx*k*dx",
                                         "dx*k + m*dx*k^2*dx*m",
                                         "-(dx + m)*(dx - 2)/4",
                                         "-div(k*m*grad)*m + 2*k*laplace",
                                         "k*dx(m*dx)*m - 2*dx(dx) + dx((k + 3*m)*dx)",
                                         "0.5"};

/* max |x - y| over what roundings of sums of |A| |u| allow. */
static void assert_near(const spry_vector *x, const spry_vector *y, const spry_vector *size,
                        double terms)
{
    const double unit = type_is_single(x->type) ? FLT_EPSILON : DBL_EPSILON;
    for (int64_t i = 0; i < x->n; i++) {
        const spry_scalar a = value_get(x->type, x->data, i), b = value_get(y->type, y->data, i);
        const double bound = terms * unit * value_get(size->type, size->data, i).re;
        if (!(hypot(a.re - b.re, a.im - b.im) <= bound))
            fail_msg("element %d: %.17g %.17g, bound %.3g", (int)i, a.re, b.re, bound);
    }
}

/* |A| |u|, in double, from the matrix in double's place of A or A^T */
static spry_vector *sizes(spry_context *ctx, const spry_matrix *A, const spry_vector *u,
                          bool turned)
{
    spry_vector *s;
    assert_ok(ctx, vector_new_at(ctx, NULL, SPRY_TYPE_D, u->n, &s));
    for (int64_t i = 0; i < A->a.rows; i++)
        for (int64_t k = A->a.offsets[i]; k < A->a.offsets[i + 1]; k++) {
            const int64_t j = A->a.col_index[k];
            const spry_scalar a = value_get(A->a.type, A->a.values, k),
                              x = value_get(u->type, u->data, turned ? i : j);
            ((double *)s->data)[turned ? j : i] += hypot(a.re, a.im) * hypot(x.re, x.im);
        }
    /* numbers of an entry may cancel, fields among them: the diagonal of derivatives of order 8 */
    double most = 0;
    for (int64_t i = 0; i < s->n; i++)
        most = fmax(most, ((double *)s->data)[i]);
    for (int64_t i = 0; i < s->n; i++)
        ((double *)s->data)[i] += most;
    return s;
}

static void check_products(spry_context *ctx, const char *grid_text, const char *text, int order,
                           spry_type type)
{
    char options[32];
    spry_grid *grid;
    spry_operator *A, *B;
    spry_matrix *M;
    const char *names[] = {"k", "m"};
    snprintf(options, sizeof options, "order=%d type=%s", order, spry_type_name(type));
    assert_ok(ctx, spry_grid_new(ctx, grid_text, &grid));
    spry_vector *k = random_field(grid, type, true, 3), *m = random_field(grid, type, true, 99);
    const spry_vector *values[] = {k, m};
    assert_ok(ctx, spry_operator_stencil(grid, text, options, 2, names, values, &A));
    spry_vector *u = random_field(grid, type, false, 7), *y = random_field(grid, type, false, 8),
                *z = random_field(grid, type, false, 8);
    assert_ok(ctx, spry_operator_to_matrix(A, &M));
    assert_ok(ctx, spry_operator_from_matrix(M, NULL, NULL, &B));
    const spry_transpose all[] = {SPRY_TRANSPOSE_NO, SPRY_TRANSPOSE_YES, SPRY_TRANSPOSE_CONJUGATE};
    for (int t = 0; t < 3; t++) {
        const spry_scalar alpha = {t == 1 ? 2 : 1, 0}, beta = {t == 1 ? -1 : 0, 0};
        assert_ok(ctx, spry_operator_multiply(A, all[t], alpha, u, beta, y));
        assert_ok(ctx, spry_operator_multiply(B, all[t], alpha, u, beta, z));
        spry_vector *s = sizes(ctx, M, u, t > 0);
        assert_near(y, z, s, 200);
        spry_vector_free(s);
    }
    spry_vector *d, *e;
    assert_ok(ctx, spry_operator_diagonal(A, &d));
    assert_ok(ctx, spry_matrix_diagonal(M, &e));
    for (int64_t i = 0; i < d->n; i++) {
        const spry_scalar a = value_get(type, d->data, i), b = value_get(type, e->data, i);
        assert_true(a.re == b.re && a.im == b.im);
    }
    spry_vector_free(d);
    spry_vector_free(e);
    spry_vector_free(u);
    spry_vector_free(y);
    spry_vector_free(z);
    spry_vector_free(k);
    spry_vector_free(m);
    spry_operator_free(A);
    spry_operator_free(B);
    spry_matrix_free(M);
    spry_grid_free(grid);
}

static void products(void **state)
{
    for (size_t g = 0; g < COUNT(some_grids); g++)
        for (size_t t = 0; t < COUNT(some_texts); t++)
            if ((g + t / 2) % 2 == 0 || support_full())
                check_products(*state, some_grids[g], some_texts[t], 2 + 2 * (int)((g + t) % 3),
                               support_types[(g + t) % 4]);
}

/* The laplacian of order 2 is the matrix of the books, and symmetric; so is a flux. */
static void symmetric(void **state)
{
    spry_context *ctx = *state;
    spry_grid *grid;
    spry_operator *A;
    spry_matrix *M;
    bool yes;
    static const char *const texts[] = {"-laplace", "-div(k*grad)"};
    for (int t = 0; t < 2; t++) {
        assert_ok(ctx, spry_grid_new(ctx, "6x6 box=0:6 y=periodic", &grid));
        spry_vector *k = random_field(grid, SPRY_TYPE_D, true, 5);
        const char *names[] = {"k"};
        const spry_vector *values[] = {k};
        assert_ok(ctx, spry_operator_stencil(grid, texts[t], NULL, 1, names, values, &A));
        assert_ok(ctx, spry_operator_to_matrix(A, &M));
        assert_ok(ctx, matrix_find_out(ctx, M, SPRY_FACT_SYMMETRIC, &yes));
        assert_true(yes);
        if (t == 0)
            for (int64_t i = 0; i < M->a.nnz; i++) {
                const double v = ((double *)M->a.values)[i];
                assert_true(v == 4 || v == -1);
            }
        spry_vector_free(k);
        spry_matrix_free(M);
        spry_operator_free(A);
        spry_grid_free(grid);
    }
}

/* Fluxes along all axes, one by one, are those of div(k*grad) to the last bit. */
static void fluxes_of_axes(void **state)
{
    spry_context *ctx = *state;
    const char *names[] = {"k"};
    for (int order = 2; order <= 8; order += 2) {
        char options[32];
        spry_grid *grid;
        spry_operator *A, *B;
        snprintf(options, sizeof options, "order=%d type=z", order);
        assert_ok(ctx, spry_grid_new(ctx, "14x11x12 x=periodic y=neumann:dirichlet", &grid));
        spry_vector *k = random_field(grid, SPRY_TYPE_Z, true, 5),
                    *u = random_field(grid, SPRY_TYPE_Z, false, 1),
                    *y = random_field(grid, SPRY_TYPE_Z, false, 2),
                    *z = random_field(grid, SPRY_TYPE_Z, false, 3);
        const spry_vector *values[] = {k};
        assert_ok(ctx, spry_operator_stencil(grid, "div(k*grad)", options, 1, names, values, &A));
        assert_ok(ctx, spry_operator_stencil(grid, "dx(k*dx) + dy(k*dy) + dz(k*dz)", options, 1,
                                             names, values, &B));
        assert_ok(ctx, spry_operator_apply(A, u, y));
        assert_ok(ctx, spry_operator_apply(B, u, z));
        assert_memory_equal(y->data, z->data, (size_t)u->n * spry_type_size(SPRY_TYPE_Z));
        spry_vector_free(k);
        spry_vector_free(u);
        spry_vector_free(y);
        spry_vector_free(z);
        spry_operator_free(A);
        spry_operator_free(B);
        spry_grid_free(grid);
    }
}

/* A product by pieces of rows that begin and end anywhere has the bits of a whole one. */
static void check_pieces(const spry_operator *A, const spry_vector *u, const spry_vector *y,
                         int64_t piece)
{
    const size_t size = spry_type_size(y->type);
    operator_rows rows = {0};
    char *z = test_malloc((size_t)u->n * size);
    assert_ok(A->ctx, operator_open_rows(A, SPRY_TRANSPOSE_NO, &rows));
    assert_non_null(rows.run);
    for (int64_t i = 0; i < u->n; i += piece)
        rows.run(&rows, i, i + piece < u->n ? i + piece : u->n, u->data, z + (size_t)i * size);
    assert_memory_equal(y->data, z, (size_t)u->n * size);
    test_free(z);
}

static void check_cuts(spry_context *ctx, const char *grid_text, const char *text, int order,
                       spry_type type)
{
    char options[32];
    const char *names[] = {"k"};
    spry_grid *grid;
    spry_operator *A;
    snprintf(options, sizeof options, "order=%d type=%s", order, spry_type_name(type));
    assert_ok(ctx, spry_grid_new(ctx, grid_text, &grid));
    spry_vector *k = random_field(grid, type, true, 5), *u = random_field(grid, type, false, 1),
                *y = random_field(grid, type, false, 2);
    assert_ok(ctx,
              spry_operator_stencil(grid, text, options, 1, names, (const spry_vector *[]){k}, &A));
    assert_ok(ctx, spry_operator_apply(A, u, y));
    check_pieces(A, u, y, 37);
    spry_vector_free(k);
    spry_vector_free(u);
    spry_vector_free(y);
    spry_operator_free(A);
    spry_grid_free(grid);
}

/* Neighbours along the axes alone, which have kernels of their own: lines are longer than a strip,
 * and strips do not divide them. */
static void stars(void **state)
{
    spry_context *ctx = *state;
    static const char *const grids[] = {"61x23", "61x13x12"};
    for (int g = 0; g < 2; g++)
        for (int order = 2; order <= 8; order += 2) {
            const spry_type type = support_types[(order / 2 + g) % 4];
            check_products(ctx, grids[g], "-laplace", order, type);
            check_products(ctx, grids[g], "laplace + 1", order, SPRY_TYPE_D);
            check_cuts(ctx, grids[g], "-laplace", order, type);
            check_cuts(ctx, grids[g], "-laplace", order, SPRY_TYPE_D);
            check_cuts(ctx, grids[g], "-laplace + dx*k + k*dx*k", order, SPRY_TYPE_D);
        }
    check_cuts(ctx, "161x13 stretch=x:cosine", "-laplace", 2, SPRY_TYPE_D);
    check_cuts(ctx, "161x13 stretch=x:cosine", "-laplace + k*dx", 4, SPRY_TYPE_C);
}

/* The same bits for every number of threads, and by pieces of rows. */
static void same_bits(void **state)
{
    double *first = NULL;
    (void)state;
    for (int t = 0; t < 4; t++) {
        char options[32];
        snprintf(options, sizeof options, "threads=%d", support_threads[t]);
        spry_context *ctx = support_context(options);
        base_use_all_threads(true);
        spry_grid *grid;
        spry_operator *A;
        assert_ok(ctx, spry_grid_new(ctx, "70x35x21 x=neumann y=periodic", &grid));
        spry_vector *k = random_field(grid, SPRY_TYPE_D, true, 5),
                    *u = random_field(grid, SPRY_TYPE_D, false, 1),
                    *y = random_field(grid, SPRY_TYPE_D, false, 2);
        const char *names[] = {"k"};
        const spry_vector *values[] = {k};
        assert_ok(ctx,
                  spry_operator_stencil(grid, "-laplace + k*dx", "order=4", 1, names, values, &A));
        assert_ok(ctx, spry_operator_apply(A, u, y));
        check_pieces(A, u, y, OPERATOR_GRAIN);
        if (!first) {
            first = malloc((size_t)u->n * sizeof(double));
            memcpy(first, y->data, (size_t)u->n * sizeof(double));
        }
        assert_memory_equal(first, y->data, (size_t)u->n * sizeof(double));
        spry_vector_free(k);
        spry_vector_free(u);
        spry_vector_free(y);
        spry_operator_free(A);
        spry_grid_free(grid);
        base_use_all_threads(false);
        support_context_free(ctx);
    }
    free(first);
}

/* --- solves --------------------------------------------------------------------------------------
 */

/* u = prod sin(w x + 0.4), and its derivatives along an axis. In one dimension the wave is short,
 * so that errors of high order are above those of roundings on grids that are fine enough; with
 * slopes of order 6 it is long, since the term of h^7 is as large as that of h^6 else: on grids
 * that are coarser for it, whose roundings are smaller, too. */
typedef struct wave_kind {
    int dimensions;
    double w;
} wave_kind;
static const wave_kind on_a_line = {1, 5}, long_one = {1, 2}, in_a_plane = {2, 1.5};

static double wave(const wave_kind *k, int axis, int power, const double *place)
{
    double value = 1;
    for (int a = 0; a < k->dimensions; a++) {
        const int q = a == axis ? power : 0;
        value *= pow(k->w, q) * sin(k->w * place[a] + 0.4 + q * acos(0));
    }
    return value;
}

static void wave_value(void *data, const double *place, spry_scalar *value)
{
    *value = (spry_scalar){wave(data, -1, 0, place), 0};
}

static void wave_field(void *data, const double *place, spry_scalar *value)
{
    (void)data;
    *value = (spry_scalar){2 + cos(place[0]), 0};
}

/* -laplace u, or in one dimension -(k u')' */
static void wave_result(void *data, const double *place, spry_scalar *value)
{
    const wave_kind *k = data;
    double sum = 0;
    for (int a = 0; k->dimensions > 1 && a < k->dimensions; a++)
        sum -= wave(k, a, 2, place);
    if (k->dimensions == 1)
        sum = sin(place[0]) * wave(k, 0, 1, place) - (2 + cos(place[0])) * wave(k, 0, 2, place);
    *value = (spry_scalar){sum, 0};
}

static void wave_boundary(void *data, int axis, const double *place, spry_scalar *value)
{
    const double d = wave(data, axis, 1, place);
    *value = (spry_scalar){axis >= 0 && place[axis] < 0.5 ? -d : d, 0};
}

/* The largest error of a solution; by factors of the matrix where no method is named. */
static double solved(spry_context *ctx, wave_kind kind, const char *method, const char *faces,
                     const char *operator, int order, int n)
{
    char text[64], options[64];
    const char *names[] = {"k"};
    spry_grid *grid;
    spry_operator *A;
    spry_matrix *M = NULL;
    spry_solver *solver;
    spry_vector *b, *x, *u, *k;
    spry_result result = SPRY_RESULT_INIT;
    if (kind.dimensions == 1)
        snprintf(text, sizeof text, "%d %s", n, faces);
    else
        snprintf(text, sizeof text, "%dx%d %s", n, n, faces);
    snprintf(options, sizeof options, "order=%d", order);
    assert_ok(ctx, spry_grid_new(ctx, text, &grid));
    assert_ok(ctx, spry_field_new(grid, SPRY_TYPE_D, true, wave_field, NULL, &k));
    assert_ok(ctx, spry_operator_stencil(grid, operator, options, 1, names,
                                         (const spry_vector *[]){k}, &A));
    assert_ok(ctx, spry_field_new(grid, SPRY_TYPE_D, false, wave_value, &kind, &u));
    assert_ok(ctx, spry_field_new(grid, SPRY_TYPE_D, false, wave_result, &kind, &b));
    assert_ok(ctx, spry_field_new(grid, SPRY_TYPE_D, false, NULL, NULL, &x));
    assert_ok(ctx, spry_stencil_rhs(A, b, wave_boundary, &kind, b));
    assert_ok(ctx, spry_solver_new(ctx, &solver));
    snprintf(options, sizeof options, "%s tol=1e-12", method ? method : "precon=direct");
    assert_ok(ctx, spry_solver_set(solver, options));
    if (method) {
        assert_ok(ctx, spry_solver_set_operator(solver, A));
    } else {
        assert_ok(ctx, spry_operator_to_matrix(A, &M));
        assert_ok(ctx, spry_solver_set_matrix(solver, M));
    }
    assert_ok(ctx, spry_solve(solver, b, x, &result));
    if (!result.converged)
        fail_msg("%s, %s, order %d: %s", operator, faces, order, result.detail);
    double worst = 0;
    for (int64_t i = 0; i < x->n; i++)
        worst = fmax(worst, fabs(((double *)x->data)[i] - ((double *)u->data)[i]));
    spry_result_clear(ctx, &result);
    spry_solver_free(solver);
    spry_matrix_free(M);
    spry_operator_free(A);
    spry_vector_free(b);
    spry_vector_free(x);
    spry_vector_free(u);
    spry_vector_free(k);
    spry_grid_free(grid);
    return worst;
}

/* Twice as many intervals have to gain 2^order; a third of an order may be missing, since terms of
 * the next orders are not nothing on such grids. */
static void check_rate(spry_context *ctx, wave_kind kind, const char *method, const char *faces,
                       const char *operator, int order, int n)
{
    const double coarse = solved(ctx, kind, method, faces, operator, order, n),
                 fine = solved(ctx, kind, method, faces, operator, order, 2 * n);
    print_message(
        "%s, %s, order %d: %.3g with %d intervals, %.3g with twice as many: %.2f\n", operator,
        faces, order, coarse, n, fine, log2(coarse / fine));
    assert_true(log2(coarse / fine) > order - 0.35);
}

static const char *const solved_faces[] = {"boundary=dirichlet", "x=neumann:dirichlet",
                                           "x=neumann y=dirichlet:neumann"};

/* By methods for any matrix: rows at faces are not symmetric, those of mirror images and, beyond
 * order 2, all that are one-sided, so that cg does not converge there. A residual of 1e-12 is
 * within reach of double precision: rounding A x makes about 2^-53 |A| |x| / |b|, less than 2^-53
 * times the condition, which with n = 40 and one face with known values is 4 (2 n / pi)^2 = 2600.
 */
static void solutions(void **state)
{
    static const char *const methods[] = {"method=idr", "method=bicgstab",
                                          "method=gmres restart=60"};
    for (int f = 0; f < 3; f++)
        for (int order = 2; order <= 4; order += 2)
            check_rate(*state, in_a_plane, methods[f], solved_faces[f], "-laplace", order, 20);
    check_rate(*state, in_a_plane, "method=cg", "boundary=dirichlet", "-laplace", 2, 16);
}

/* Rows near faces whose order is one less (stencil_orders.c) are few, and the solution does not
 * lose it: an error of h^(p - 1) in a row at a face with a known value makes one of h^(p + 1) of
 * the solution, at one with a known slope h^p. */
static void solutions_of_fluxes(void **state)
{
    for (int f = 0; f < 2; f++) {
        for (int order = 2; order <= (f == 0 ? 6 : 4); order += 2)
            check_rate(*state, on_a_line, NULL, solved_faces[f], "-div(k*grad)", order, 64);
        check_rate(*state, on_a_line, NULL, solved_faces[f], "-dx*k*dx", 4, 64);
    }
    for (int n = 16; n <= 32; n *= 2) {
        check_rate(*state, long_one, NULL, "x=neumann:dirichlet", "-dx(k*dx)", 6, n);
        check_rate(*state, long_one, NULL, "x=dirichlet:neumann", "-dx(k*dx)", 6, n);
    }
}

/* --- faults --------------------------------------------------------------------------------------
 */

/* Jacobi's preconditioner of the operator, without its matrix: r / d, with the roundings of an
 * inverse and a product, each of a few units with complex numbers. */
static void point_precons(void **state)
{
    spry_context *ctx = *state;
    static const char *const names[] = {"k"};
    for (int t = 0; t < 4; t++) {
        const spry_type type = support_types[t];
        const double unit = type_is_single(type) ? FLT_EPSILON : DBL_EPSILON;
        spry_grid *grid;
        spry_operator *A, *M;
        spry_vector *d, *r, *z;
        char options[16], name[32];
        snprintf(options, sizeof options, "type=%s", spry_type_name(type));
        assert_ok(ctx, spry_grid_new(ctx, "9x12 x=neumann:dirichlet", &grid));
        spry_vector *k = random_field(grid, type, true, 5);
        assert_ok(ctx, spry_operator_stencil(grid, "-div(k*grad) + k", options, 1, names,
                                             (const spry_vector *[]){k}, &A));
        r = random_field(grid, type, false, 8);
        assert_ok(ctx, spry_vector_like(r, r->n, &z));
        assert_ok(ctx, spry_operator_diagonal(A, &d));
        assert_ok(ctx, precon_make_from_text(ctx, NULL, A, "jacobi", &M, name));
        assert_string_equal(name, "jacobi");
        assert_ok(ctx, spry_operator_apply(M, r, z));
        for (int64_t i = 0; i < z->n; i++) {
            const spry_scalar a = value_get(type, d->data, i), b = value_get(type, r->data, i),
                              c = value_get(type, z->data, i);
            const double re = c.re * a.re - c.im * a.im - b.re;
            const double im = c.re * a.im + c.im * a.re - b.im;
            assert_true(hypot(re, im) <= 16 * unit * hypot(b.re, b.im));
        }
        assert_status(ctx, SPRY_STATUS_UNSUPPORTED,
                      precon_make_from_text(ctx, NULL, A, "jacobi:precision=half",
                                            &(spry_operator *){0}, name));
        assert_status(ctx, SPRY_STATUS_BAD_USAGE,
                      precon_make_from_text(ctx, NULL, A, "ilu", &(spry_operator *){0}, name));
        support_message_has(ctx, "spry_operator_to_matrix() makes one");
        assert_status(ctx, SPRY_STATUS_BAD_USAGE,
                      precon_make_from_text(ctx, NULL, M, "jacobi", &(spry_operator *){0}, name));
        support_message_has(ctx, "an operator that knows its diagonal");
        spry_operator_free(M);
        spry_operator_free(A);
        spry_vector_free(d);
        spry_vector_free(r);
        spry_vector_free(z);
        spry_vector_free(k);
        spry_grid_free(grid);
    }
}

static void faults(void **state)
{
    static const struct {
        const char *text, *options, *message;
    } cases[] = {{"", NULL, "1:1: expected a number"},
                 {"dx +", NULL, "1:5: expected"},
                 {"dx\n + q", NULL, "2:4: q is no coefficient"},
                 {"dz", NULL, "the grid has 2 dimensions"},
                 {"laplac", NULL, "is laplace meant"},
                 {"dx^5", NULL, "1:4: expected a power of 1 to 4"},
                 {"(((((((((dx)))))))))", NULL, "8 deep"},
                 {"dx/dy", NULL, "divided by constants"},
                 {"dx/0", NULL, "divided by constants"},
                 {"grad", NULL, "grad stands in"},
                 {"div(dx*grad)", NULL, "coefficients alone"},
                 {"div(k*grad", NULL, "expected ), found the end"},
                 {"dx(k*dy)", NULL, "1:6: between dx( and dx stand coefficients alone"},
                 {"dy(k)", NULL, "expected *, found )"},
                 {"dx*dy(k*dy)", NULL, "1:4: a flux"},
                 {"dz(k*dz)", NULL, "1:1: dz: the grid has 2 dimensions"},
                 {"dx*div(k*grad)", NULL, "1:4: a flux, div( *grad) or dx( *dx), stands behind no"},
                 {"dx*k*dx*k*dx", NULL, "1:11: a term has at most one field"},
                 {"(1+dx+dy+dx^2)^8", NULL, "more than 32 terms"},
                 {"dx # dy", NULL, "found #"},
                 {"dx^2", "order=8",
                  "order=8: a derivative of power 2 along x needs 10 points, the grid has 9"},
                 {"dx", "order=3", "expected 2, 4, 6 or 8"},
                 {"dx", "odrer=2", "order"}};
    spry_context *ctx = *state;
    spry_grid *grid;
    spry_operator *A;
    assert_ok(ctx, spry_grid_new(ctx, "8x8", &grid));
    spry_vector *k = random_field(grid, SPRY_TYPE_D, true, 1);
    const char *names[] = {"k"};
    const spry_vector *values[] = {k};
    for (size_t i = 0; i < COUNT(cases); i++) {
        assert_int_not_equal(
            spry_operator_stencil(grid, cases[i].text, cases[i].options, 1, names, values, &A),
            SPRY_STATUS_OK);
        assert_null(A);
        support_message_has(ctx, cases[i].message);
    }
    spry_vector_free(k);
    k = random_field(grid, SPRY_TYPE_D, false, 1);
    values[0] = k;
    assert_status(ctx, SPRY_STATUS_BAD_USAGE,
                  spry_operator_stencil(grid, "k", NULL, 1, names, values, &A));
    support_message_has(ctx, "one for each of the 81 points");
    spry_vector_free(k);
    spry_grid_free(grid);
}

static void grids(void **state)
{
    static const char *const bad[] = {"",
                                      "x",
                                      "8x",
                                      "8x8x8x8",
                                      "0",
                                      "8 box=1:0",
                                      "8 box=0",
                                      "8 box=0:1,0:1",
                                      "8 y=neumann",
                                      "8 x=periodic:neumann",
                                      "1",
                                      "8 x=nuemann",
                                      "99999999999"};
    spry_context *ctx = *state;
    spry_grid *grid;
    spry_grid_info info = SPRY_GRID_INFO_INIT;
    double place[3];
    for (size_t i = 0; i < COUNT(bad); i++) {
        assert_status(ctx, SPRY_STATUS_BAD_USAGE, spry_grid_new(ctx, bad[i], &grid));
        assert_null(grid);
    }
    assert_ok(ctx, spry_grid_new(ctx, "8x4x2 box=0:1,0:2 y=neumann:dirichlet z=periodic", &grid));
    assert_ok(ctx, spry_grid_describe(grid, &info));
    assert_int_equal(info.axis_unknowns[0], 7);
    assert_int_equal(info.axis_unknowns[1], 4);
    assert_int_equal(info.axis_unknowns[2], 2);
    assert_int_equal(info.points, 9 * 5 * 2);
    assert_int_equal(info.unknowns, 7 * 4 * 2);
    assert_ok(ctx, spry_grid_place(grid, false, 7 + 1, place));
    assert_true(place[0] == 0.25 && place[1] == 0.5 && place[2] == 0);
    assert_ok(ctx, spry_grid_place(grid, true, 89, place));
    assert_true(place[0] == 1 && place[1] == 2 && place[2] == 1);
    assert_status(ctx, SPRY_STATUS_BAD_USAGE, spry_grid_place(grid, true, 90, place));
    spry_grid_free(grid);
}

/* --- memory --------------------------------------------------------------------------------------
 */

static spry_status whole_life(spry_context *ctx, void *data)
{
    const spry_vector *const *values = data;
    const char *names[] = {"k"};
    spry_grid *grid = NULL;
    spry_operator *A = NULL;
    spry_matrix *M = NULL;
    spry_vector *u = NULL, *y = NULL;
    spry_status status = spry_grid_new(ctx, "6x7 x=periodic", &grid);
    if (status == SPRY_STATUS_OK)
        status = spry_operator_stencil(grid, "-div(k*grad) + k*dx", NULL, 1, names, values, &A);
    if (status == SPRY_STATUS_OK)
        status = spry_field_new(grid, SPRY_TYPE_D, false, NULL, NULL, &u);
    if (status == SPRY_STATUS_OK)
        status = spry_field_new(grid, SPRY_TYPE_D, false, NULL, NULL, &y);
    if (status == SPRY_STATUS_OK)
        status = spry_operator_multiply(A, SPRY_TRANSPOSE_YES, (spry_scalar){1, 0}, u,
                                        (spry_scalar){0, 0}, y);
    if (status == SPRY_STATUS_OK)
        status = spry_operator_to_matrix(A, &M);
    spry_matrix_free(M);
    spry_vector_free(u);
    spry_vector_free(y);
    spry_operator_free(A);
    spry_grid_free(grid);
    return status;
}

static void torture(void **state)
{
    spry_context *ctx = *state;
    spry_grid *grid;
    assert_ok(ctx, spry_grid_new(ctx, "6x7 x=periodic", &grid));
    spry_vector *k = random_field(grid, SPRY_TYPE_D, true, 1);
    const spry_vector *values[] = {k};
    support_torture(ctx, whole_life, values);
    spry_vector_free(k);
    spry_grid_free(grid);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(products, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(symmetric, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(fluxes_of_axes, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(stars, support_setup, support_teardown),
        cmocka_unit_test(same_bits),
        cmocka_unit_test_setup_teardown(solutions, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(solutions_of_fluxes, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(point_precons, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(faults, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(grids, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(torture, support_setup, support_teardown)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
