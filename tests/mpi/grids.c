/*
 * Grids that are cut into blocks: products, transposes, matrices, solves and multigrid are those of
 * one rank, to the bit; what fails fails on all ranks alike.
 */
#include "mpi/ranks.h"

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

static void noise(void *data, const double *place, spry_scalar *value)
{
    const double seed = *(const double *)data;
    *value = (spry_scalar){mix(place, seed) + 0.5, mix(place, seed + 1)};
}

static void positive(void *data, const double *place, spry_scalar *value)
{
    (void)data;
    *value = (spry_scalar){1.5 + mix(place, 3) / 2, 0};
}

/* A grid on ranks and the same one without. */
typedef struct pair {
    spry_context *ctx, *alone;
    spry_grid *grid, *whole;
    spry_operator *A, *W;
    spry_grid_info info;
} pair;

/* The grid's text and how it is cut. */
static spry_grid *grid_of(spry_context *ctx, const char *grid, const char *ranks)
{
    char text[160];
    spry_grid *made = NULL;
    snprintf(text, sizeof text, "%s%s%s", grid, ranks ? " ranks=" : "", ranks ? ranks : "");
    assert_ok(ctx, spry_grid_new(ctx, text, &made));
    return made;
}

static spry_operator *operator_of(spry_context *ctx, const spry_grid *grid, const char *text,
                                  const char *options, spry_type type)
{
    static const char *const names[] = {"k", "m"};
    char all[64];
    spry_vector *k = NULL, *m = NULL;
    spry_operator *A = NULL;
    double seed = 9;
    snprintf(all, sizeof all, "%s type=%s", options, spry_type_name(type));
    assert_ok(ctx, spry_field_new(grid, SPRY_TYPE_D, true, positive, NULL, &k));
    assert_ok(ctx, spry_field_new(grid, type, true, noise, &seed, &m));
    assert_ok(ctx,
              spry_operator_stencil(grid, text, all, 2, names, (const spry_vector *[]){k, m}, &A));
    spry_vector_free(k);
    spry_vector_free(m);
    return A;
}

static pair open_pair(spry_context *ctx, spry_context *alone, const char *grid, const char *ranks,
                      const char *text, const char *options, spry_type type)
{
    pair p = {.ctx = ctx, .alone = alone, .info = SPRY_GRID_INFO_INIT};
    p.grid = grid_of(ctx, grid, ranks);
    p.whole = grid_of(alone, grid, NULL);
    p.A = operator_of(ctx, p.grid, text, options, type);
    p.W = operator_of(alone, p.whole, text, options, type);
    assert_ok(ctx, spry_grid_describe(p.grid, &p.info));
    return p;
}

static void close_pair(pair *p)
{
    spry_operator_free(p->A);
    spry_operator_free(p->W);
    spry_grid_free(p->grid);
    spry_grid_free(p->whole);
}

/* The unknowns of this rank are those of the whole field, to the bit. */
static void same_field(const pair *p, const spry_vector *ranked, const spry_vector *single,
                       const char *what)
{
    const size_t size = spry_type_size(ranked->type);
    const spry_grid_info *g = &p->info;
    int64_t i = 0;
    for (int64_t z = g->begin[2]; z < g->end[2]; z++)
        for (int64_t y = g->begin[1]; y < g->end[1]; y++)
            for (int64_t x = g->begin[0]; x < g->end[0]; x++, i++) {
                const int64_t k = x + g->axis_unknowns[0] * (y + g->axis_unknowns[1] * z);
                if (memcmp((char *)ranked->data + (size_t)i * size,
                           (char *)single->data + (size_t)k * size, size) != 0)
                    fail_msg("%s: unknown %d %d %d is %.17g, without ranks %.17g", what, (int)x,
                             (int)y, (int)z, value_get(ranked->type, ranked->data, i).re,
                             value_get(single->type, single->data, k).re);
            }
    assert_int_equal(i, ranked->n);
}

static spry_vector *noise_on(spry_context *ctx, const spry_grid *grid, spry_type type, double seed)
{
    spry_vector *v = NULL;
    assert_ok(ctx, spry_field_new(grid, type, false, noise, &seed, &v));
    return v;
}

static void check_products(const pair *p, const char *what)
{
    const spry_type type = spry_operator_type(p->A);
    for (int t = 0; t < 3; t++)
        for (int scaled = 0; scaled < 2; scaled++) {
            const spry_scalar alpha = {scaled ? -0.5 : 1, 0}, beta = {scaled ? 2 : 0, 0};
            spry_vector *x = noise_on(p->ctx, p->grid, type, 1),
                        *y = noise_on(p->ctx, p->grid, type, 2),
                        *X = noise_on(p->alone, p->whole, type, 1),
                        *Y = noise_on(p->alone, p->whole, type, 2);
            same_field(p, x, X, what);
            assert_ok(p->ctx, spry_operator_multiply(p->A, (spry_transpose)t, alpha, x, beta, y));
            assert_ok(p->alone, spry_operator_multiply(p->W, (spry_transpose)t, alpha, X, beta, Y));
            same_field(p, y, Y, what);
            spry_vector_free(x);
            spry_vector_free(y);
            spry_vector_free(X);
            spry_vector_free(Y);
        }
}

typedef struct case_of {
    const char *grid, *text, *options;
    const char *ranks[4]; /* for 1 to 4 of them; NULL: auto */
} case_of;

/* Cuts along each axis and along several; few planes on a rank, or none; mixed derivatives, which
 * need edges and corners; one-sided differences, which reach farther than a rank has planes. */
static const case_of cases[] = {
    {"12x9x10", "-laplace", "order=2", {"1x1x1", NULL, NULL, NULL}},
    {"12x9x10", "-laplace", "order=4", {NULL, "2x1x1", "3x1x1", "2x2x1"}},
    {"9x10x11 boundary=neumann",
     "-div(k*grad) + dy(m*dy) + m",
     "order=4",
     {NULL, NULL, NULL, "1x2x2"}},
    {"9x8x7 boundary=periodic",
     "dx*k*dy + dz*dx*m + laplace",
     "order=2",
     {NULL, NULL, "1x3x1", NULL}},
    {"9x8x7 x=periodic z=periodic", "dx*dy + k*dz*dy", "order=4", {NULL, "2x1x1", NULL, "2x1x2"}},
    {"14x5 y=periodic", "-laplace + k*dy", "order=4", {NULL, "1x2", "1x3", "1x4"}},
    {"14x12 y=neumann:dirichlet", "m*dx^2*k + dy*m*dy", "order=6", {NULL, "2x1", "1x3", "2x2"}},
    {"10x11", "-laplace", "order=8", {NULL, NULL, NULL, "1x4"}},
    {"37", "-laplace + k", "order=6", {NULL, NULL, NULL, NULL}},
    {"6 x=periodic", "dx*m - laplace", "order=2", {NULL, NULL, NULL, NULL}},
    {"7x3", "-laplace", "order=2", {NULL, NULL, NULL, "1x4"}},
    {"9x8x11 stretch=x:cosine,z:ratio:1.1 y=neumann",
     "-div(k*grad) + m*dz",
     "order=4",
     {NULL, NULL, "1x1x3", NULL}},
    {"9x12 stretch=x:ratio:1.2,y:ratio:0.9 y=periodic",
     "-laplace + dy*m*dx",
     "order=2",
     {NULL, NULL, "3x1", NULL}},
};

static void products(void **state)
{
    (void)state;
    spry_context *ctx = ranks_context(NULL), *alone = support_context(NULL);
    const int ranks = spry_context_ranks(ctx);
    for (size_t k = 0; k < COUNT(cases); k++)
        for (int type = 0; type < 4; type++) {
            const case_of *c = &cases[k];
            char what[160];
            snprintf(what, sizeof what, "%s of %s, %s, type %d", c->text, c->grid, c->options,
                     type);
            pair p = open_pair(ctx, alone, c->grid, c->ranks[ranks - 1], c->text, c->options,
                               support_types[type]);
            check_products(&p, what);
            close_pair(&p);
        }
    support_context_free(alone);
    support_context_free(ctx);
}

/* The matrix of all ranks has the products of the operator, but for the order of sums; its rows and
 * columns are numbered as fields are. */
static void matrices(void **state)
{
    (void)state;
    spry_context *ctx = ranks_context(NULL), *alone = support_context(NULL);
    for (size_t k = 0; k < COUNT(cases); k++) {
        const case_of *c = &cases[k];
        const char *cut = c->ranks[spry_context_ranks(ctx) - 1];
        pair p = open_pair(ctx, alone, c->grid, cut, c->text, c->options, SPRY_TYPE_D);
        spry_matrix *A = NULL;
        spry_vector *x = noise_on(ctx, p.grid, SPRY_TYPE_D, 1), *d = NULL, *D = NULL;
        spry_vector *y = noise_on(ctx, p.grid, SPRY_TYPE_D, 2),
                    *z = noise_on(ctx, p.grid, SPRY_TYPE_D, 2);
        spry_operator *M = NULL;
        assert_ok(ctx, spry_operator_to_matrix(p.A, &A));
        assert_ok(ctx, spry_operator_from_matrix(A, NULL, NULL, &M));
        assert_ok(ctx, spry_operator_apply(p.A, x, y));
        assert_ok(ctx, spry_operator_apply(M, x, z));
        for (int64_t i = 0; i < x->n; i++) {
            /* Rows have at most 300 entries, of numbers up to 1.5 and the size of 1 / h^2 k m. */
            const double a = value_get(SPRY_TYPE_D, y->data, i).re;
            const double b = value_get(SPRY_TYPE_D, z->data, i).re;
            if (!(fabs(a - b) <= 300 * 0x1p-52 * 300 * 40 * 40 * 4))
                fail_msg("%s: row %d is %.17g, of the matrix %.17g", c->text, (int)i, a, b);
        }
        assert_ok(ctx, spry_operator_diagonal(p.A, &d));
        assert_ok(alone, spry_operator_diagonal(p.W, &D));
        same_field(&p, d, D, "diagonal");
        spry_vector_free(d);
        spry_vector_free(D);
        spry_vector_free(x);
        spry_vector_free(y);
        spry_vector_free(z);
        spry_operator_free(M);
        spry_matrix_free(A);
        close_pair(&p);
    }
    support_context_free(alone);
    support_context_free(ctx);
}

/* --- solves --------------------------------------------------------------------------------------
 */

/* Solves on ranks and without; the same course to the bit where `bits`, else as many iterations. */
static void solve_both(const pair *p, const char *options, bool bits)
{
    const spry_type type = spry_operator_type(p->A);
    spry_context *const ctx[] = {p->ctx, p->alone};
    const spry_grid *const grid[] = {p->grid, p->whole};
    spry_operator *const op[] = {p->A, p->W};
    spry_result result[] = {SPRY_RESULT_INIT, SPRY_RESULT_INIT};
    spry_vector *x[2], *b[2];
    for (int k = 0; k < 2; k++) {
        spry_solver *solver = NULL;
        b[k] = noise_on(ctx[k], grid[k], type, 5);
        assert_ok(ctx[k], spry_field_new(grid[k], type, false, NULL, NULL, &x[k]));
        assert_ok(ctx[k], spry_solver_new(ctx[k], &solver));
        assert_ok(ctx[k], spry_solver_set(solver, options));
        assert_ok(ctx[k], spry_solver_set_operator(solver, op[k]));
        assert_ok(ctx[k], spry_solve(solver, b[k], x[k], &result[k]));
        spry_solver_free(solver);
    }
    if (result[0].iterations != result[1].iterations || result[0].reason != result[1].reason)
        fail_msg("%s: %s after %d iterations (%s), without ranks %s after %d", options,
                 spry_reason_name(result[0].reason), (int)result[0].iterations, result[0].detail,
                 spry_reason_name(result[1].reason), (int)result[1].iterations);
    if (bits)
        same_field(p, x[0], x[1], options);
    for (int k = 0; k < 2; k++) {
        spry_result_clear(ctx[k], &result[k]);
        spry_vector_free(x[k]);
        spry_vector_free(b[k]);
    }
}

/* Several right-hand sides side by side, whose halos travel together. */
static void solve_many(const pair *p, const char *options)
{
    enum { MANY = 3 };
    const spry_type type = spry_operator_type(p->A);
    spry_context *const ctx[] = {p->ctx, p->alone};
    const spry_grid *const grid[] = {p->grid, p->whole};
    spry_operator *const op[] = {p->A, p->W};
    spry_vector *x[2][MANY], *b[2][MANY];
    for (int k = 0; k < 2; k++) {
        spry_solver *solver = NULL;
        for (int i = 0; i < MANY; i++) {
            b[k][i] = noise_on(ctx[k], grid[k], type, 5 + i);
            assert_ok(ctx[k], spry_field_new(grid[k], type, false, NULL, NULL, &x[k][i]));
        }
        assert_ok(ctx[k], spry_solver_new(ctx[k], &solver));
        assert_ok(ctx[k], spry_solver_set(solver, options));
        assert_ok(ctx[k], spry_solver_set_operator(solver, op[k]));
        assert_ok(ctx[k],
                  spry_solve_many(solver, MANY, (const spry_vector *const *)b[k], x[k], NULL));
        spry_solver_free(solver);
    }
    for (int i = 0; i < MANY; i++) {
        same_field(p, x[0][i], x[1][i], options);
        for (int k = 0; k < 2; k++) {
            spry_vector_free(x[k][i]);
            spry_vector_free(b[k][i]);
        }
    }
}

/* Planes of 4,096 unknowns, so that strict sums have whole chunks: fused sweeps with the products
 * in them. */
static void solves(void **state)
{
    (void)state;
    static const char *const options[] = {
        "method=cg precon=none max-iter=30", "method=bicgstab precon=none max-iter=12",
        "method=gmres precon=none max-iter=10", "method=bicg precon=none max-iter=10"};
    spry_context *ctx = ranks_context("repeat=strict"), *alone = support_context("repeat=strict");
    pair p = open_pair(ctx, alone, "65x65x8", NULL, "-div(k*grad)", "order=2", SPRY_TYPE_D);
    assert_true(p.info.ranks[2] == spry_context_ranks(ctx) && p.A->rows > 0);
    for (size_t k = 0; k < COUNT(options); k++)
        solve_both(&p, options[k], true);
    solve_many(&p, options[0]);
    close_pair(&p);
    /* Ranks begin with multiples of 4,096 unknowns, which these planes have nowhere. */
    p = open_pair(ctx, alone, "20x20x20", NULL, "-laplace", "order=4", SPRY_TYPE_D);
    solve_both(&p, options[1], true);
    close_pair(&p);
    support_context_free(alone);
    support_context_free(ctx);
}

/* --- multigrid -----------------------------------------------------------------------------------
 */

/* One cycle, to the bit. */
static void check_cycle(const pair *p, const char *spec)
{
    const spry_type type = spry_operator_type(p->A);
    spry_context *const ctx[] = {p->ctx, p->alone};
    const spry_grid *const grid[] = {p->grid, p->whole};
    spry_operator *const op[] = {p->A, p->W};
    spry_vector *x[2], *b[2];
    char options[160];
    snprintf(options, sizeof options, "method=richardson precon=%s max-iter=1 tol=1e-30", spec);
    for (int k = 0; k < 2; k++) {
        spry_solver *solver = NULL;
        spry_result result = SPRY_RESULT_INIT;
        b[k] = noise_on(ctx[k], grid[k], type, 5);
        assert_ok(ctx[k], spry_field_new(grid[k], type, false, NULL, NULL, &x[k]));
        assert_ok(ctx[k], spry_solver_new(ctx[k], &solver));
        assert_ok(ctx[k], spry_solver_set(solver, options));
        assert_ok(ctx[k], spry_solver_set_operator(solver, op[k]));
        assert_ok(ctx[k], spry_solve(solver, b[k], x[k], &result));
        assert_int_equal(result.iterations, 1);
        spry_result_clear(ctx[k], &result);
        spry_solver_free(solver);
    }
    same_field(p, x[0], x[1], spec);
    for (int k = 0; k < 2; k++) {
        spry_vector_free(x[k]);
        spry_vector_free(b[k]);
    }
}

static void multigrid(void **state)
{
    (void)state;
    static const char *const grids[][2] = {{"16x16x16", NULL},
                                           {"16x16x16 y=neumann z=periodic", NULL},
                                           {"16x32 x=periodic y=periodic", NULL},
                                           {"16x24x8 z=neumann:dirichlet", "y"},
                                           {"12x14x26", NULL}, /* halved once */
                                           {"16x16", "x"},
                                           {"64", NULL}};
    static const char *const specs[] = {
        /* auto takes lines without ranks */
        "gmg:rank-rows=1,coarsest=20,smoother=redblack",
        "gmg:rank-rows=40,coarsest=20,smoother=redblack,cycle=w,pre=2,symmetric=no",
        "gmg:rank-rows=1,coarsest=8,smoother=redblack,cycle=full,pre=0",
        "gmg:rank-rows=1,coarsest=20,smoother=redblack,cycle=full,interpolation=cubic",
        "gmg:rank-rows=1,coarsest=20,smoother=jacobi,post=2",
        "gmg:rank-rows=1,coarsest=20,smoother=chebyshev,pre=2,post=2",
        "gmg:rank-rows=1,coarsest=20,smoother=redblack,precision=single",
        "gmg:smoother=redblack"};
    spry_context *ctx = ranks_context(NULL), *alone = support_context(NULL);
    const int ranks = spry_context_ranks(ctx);
    for (size_t g = 0; g < COUNT(grids); g++)
        for (size_t k = 0; k < COUNT(specs); k += g < 2 ? 1 : 3) {
            char cut[32];
            snprintf(cut, sizeof cut, "%s%dx1", grids[g][1] && grids[g][1][0] == 'y' ? "1x" : "",
                     ranks);
            /* a zero-order term, as some of these have no known value */
            pair p = open_pair(ctx, alone, grids[g][0], grids[g][1] ? cut : NULL,
                               "-div(k*grad) + 4", k % 2 ? "order=4" : "order=2", SPRY_TYPE_D);
            check_cycle(&p, specs[k]);
            close_pair(&p);
        }
    /* lines along axes that are not cut, and points that are given */
    static const char *const lines[][3] = {
        {"16x16x16", "1x%dx1", "gmg:rank-rows=1,coarsest=20,smoother=line,line=z,pre=2"},
        {"16x16x12 x=periodic stretch=x:cosine", "1x1x%d", "gmg:rank-rows=1,coarsest=20"},
        {"16x24 stretch=x:cosine,y:ratio:1.1", "1x%d",
         "gmg:rank-rows=1,coarsest=20,smoother=line,line=x,cycle=w"}};
    for (size_t k = 0; k < COUNT(lines); k++) {
        char cut[32];
        snprintf(cut, sizeof cut, lines[k][1], ranks);
        pair l = open_pair(ctx, alone, lines[k][0], cut, "-div(k*grad) - 5*dy(k*dy)", "order=2",
                           SPRY_TYPE_D);
        check_cycle(&l, lines[k][2]);
        close_pair(&l);
    }
    /* damped waves: weights are found from rows of all ranks; the last level has sweeps, cut and
     * joined */
    static const char *const waves[] = {"gmg:shift=0.3,rank-rows=1,coarsest=20,last=6",
                                        "gmg:shift=0.3,rank-rows=200,coarsest=20,last=6,pre=2"};
    for (size_t k = 0; k < COUNT(waves); k++) {
        pair w = open_pair(ctx, alone, "16x16x16 y=neumann z=periodic", NULL, "laplace + 60*k",
                           "order=2", SPRY_TYPE_Z);
        check_cycle(&w, waves[k]);
        close_pair(&w);
    }
    pair p = open_pair(ctx, alone, "32x32x32", NULL, "-laplace", "order=4", SPRY_TYPE_D);
    solve_both(&p, "method=richardson precon=gmg:rank-rows=100 tol=1e-8", false);
    close_pair(&p);
    /* what b has no solution for is found on all ranks alike */
    p = open_pair(ctx, alone, "16x16x16 boundary=neumann", NULL, "-laplace", "order=4",
                  SPRY_TYPE_D);
    solve_both(&p, "method=richardson precon=gmg:rank-rows=100 nullspace=constant tol=1e-6", false);
    close_pair(&p);
    p = open_pair(ctx, alone, "16x16x16 x=robin(2) z=robin(1,0.5):neumann", NULL, "-laplace",
                  "order=4", SPRY_TYPE_D);
    solve_both(&p, "method=richardson precon=gmg:rank-rows=100 tol=1e-6", false);
    close_pair(&p);
    support_context_free(alone);
    support_context_free(ctx);
}

/* --- what is known at boundaries, shifts, files
 * ---------------------------------------------------
 */

static void known(void *data, int axis, const double *place, spry_scalar *value)
{
    (void)data;
    *value = (spry_scalar){mix(place, axis), 0};
}

static void boundaries(void **state)
{
    (void)state;
    spry_context *ctx = ranks_context(NULL), *alone = support_context(NULL);
    pair p = open_pair(ctx, alone, "9x8x10 y=neumann", NULL, "-div(k*grad) + m*dz", "order=4",
                       SPRY_TYPE_D);
    spry_vector *b = noise_on(ctx, p.grid, SPRY_TYPE_D, 1),
                *B = noise_on(alone, p.whole, SPRY_TYPE_D, 1);
    assert_ok(ctx, spry_stencil_rhs(p.A, b, known, NULL, b));
    assert_ok(alone, spry_stencil_rhs(p.W, B, known, NULL, B));
    same_field(&p, b, B, "right-hand side");
    spry_operator *s = NULL, *S = NULL;
    assert_ok(ctx,
              p.A->class->structure.shifted(p.A, (spry_scalar){2, 0}, (spry_scalar){-3, 0}, &s));
    assert_ok(alone,
              p.W->class->structure.shifted(p.W, (spry_scalar){2, 0}, (spry_scalar){-3, 0}, &S));
    spry_operator_free(p.A);
    spry_operator_free(p.W);
    p.A = s;
    p.W = S;
    check_products(&p, "shifted");
    spry_vector_free(b);
    spry_vector_free(B);
    close_pair(&p);
    support_context_free(alone);
    support_context_free(ctx);
}

/* Layers at faces, where ranks have their points. */
static void layers(void **state)
{
    (void)state;
    static const char text[] = "16x12x14 boundary=absorb layer=4";
    static const char *const names[] = {"a"};
    spry_context *ctx = ranks_context(NULL), *alone = support_context(NULL);
    pair p = {.ctx = ctx, .alone = alone, .info = SPRY_GRID_INFO_INIT};
    p.grid = grid_of(ctx, text, NULL);
    p.whole = grid_of(alone, text, NULL);
    assert_ok(ctx, spry_grid_describe(p.grid, &p.info));
    for (int k = 0; k < 2; k++) {
        spry_vector *a = NULL;
        assert_ok(k ? alone : ctx,
                  spry_field_absorb(k ? p.whole : p.grid, SPRY_TYPE_D, "strength=50", &a));
        assert_ok(k ? alone : ctx,
                  spry_operator_stencil(k ? p.whole : p.grid, "-laplace + a", NULL, 1, names,
                                        (const spry_vector *[]){a}, k ? &p.W : &p.A));
        spry_vector_free(a);
    }
    check_products(&p, text);
    check_cycle(&p, "gmg:rank-rows=1,coarsest=20,smoother=redblack");
    close_pair(&p);
    support_context_free(alone);
    support_context_free(ctx);
}

/* The bytes of a file. */
static size_t bytes_of(const char *path, char *bytes, size_t room)
{
    FILE *f = fopen(path, "rb");
    assert_non_null(f);
    const size_t count = fread(bytes, 1, room, f);
    fclose(f);
    assert_true(count < room);
    return count;
}

/* k2 whose largest and least numbers are on different ranks: the scheme is that of all of them. */
static void wave_numbers(void *data, const double *place, spry_scalar *value)
{
    (void)data;
    *value = (spry_scalar){10 + 30 * place[0] * place[1], 0};
}

static spry_operator *waves_on(spry_context *ctx, const spry_grid *grid, const char *scheme)
{
    spry_vector *k2 = NULL;
    spry_operator *A = NULL;
    assert_ok(ctx, spry_field_new(grid, SPRY_TYPE_D, true, wave_numbers, NULL, &k2));
    assert_ok(ctx, spry_operator_helmholtz(grid, k2, scheme, &A, NULL));
    spry_vector_free(k2);
    return A;
}

/* The Helmholtz equation, its right-hand sides and sources. */
static void waves(void **state)
{
    static const char *const schemes[] = {"scheme=optimal", "scheme=compact4"};
    (void)state;
    spry_context *ctx = ranks_context(NULL), *alone = support_context(NULL);
    for (int k = 0; k < 2; k++) {
        pair p = {.ctx = ctx, .alone = alone, .info = SPRY_GRID_INFO_INIT};
        p.grid = grid_of(ctx, "12x11x10 boundary=absorb z=periodic layer=3", NULL);
        p.whole = grid_of(alone, "12x11x10 boundary=absorb z=periodic layer=3", NULL);
        p.A = waves_on(ctx, p.grid, schemes[k]);
        p.W = waves_on(alone, p.whole, schemes[k]);
        assert_ok(ctx, spry_grid_describe(p.grid, &p.info));
        check_products(&p, schemes[k]);
        spry_vector *b = NULL, *B = NULL;
        const char *source = "kind=point at=0.4:0.52:0.01";
        assert_ok(ctx, spry_field_wave(p.grid, SPRY_TYPE_Z, false, source, &b));
        assert_ok(alone, spry_field_wave(p.whole, SPRY_TYPE_Z, false, source, &B));
        assert_ok(ctx, spry_stencil_rhs(p.A, b, NULL, NULL, b));
        assert_ok(alone, spry_stencil_rhs(p.W, B, NULL, NULL, B));
        same_field(&p, b, B, "sources");
        spry_vector_free(b);
        spry_vector_free(B);
        close_pair(&p);
    }
    support_context_free(alone);
    support_context_free(ctx);
}

/* One file, as one rank writes it. */
static void files(void **state)
{
    (void)state;
    static const char *const endings[] = {"vti", "vtr", "npy", "h5", "png"};
    enum { ROOM = 1 << 20 };
    char *bytes = malloc(ROOM), *expected = malloc(ROOM), ranked[64], single[64];
    spry_context *ctx = ranks_context(NULL), *alone = support_context(NULL);
    spry_grid *grid = grid_of(ctx, "9x8x10", NULL), *whole = grid_of(alone, "9x8x10", NULL);
    for (int all = 0; all < 2; all++)
        for (size_t k = 0; k < COUNT(endings); k++) {
            double seed = 4;
            spry_vector *v = NULL, *V = NULL;
            assert_ok(ctx, spry_field_new(grid, SPRY_TYPE_Z, all, noise, &seed, &v));
            assert_ok(alone, spry_field_new(whole, SPRY_TYPE_Z, all, noise, &seed, &V));
            snprintf(ranked, sizeof ranked, "grids-%d.%s", spry_context_ranks(ctx), endings[k]);
            snprintf(single, sizeof single, "grids-%d-alone.%s", spry_context_ranks(ctx),
                     endings[k]);
            assert_ok(ctx, spry_field_write(grid, v, ranked, NULL));
            if (spry_context_rank(ctx) == 0) {
                assert_ok(alone, spry_field_write(whole, V, single, NULL));
                const size_t n = bytes_of(ranked, bytes, ROOM),
                             m = bytes_of(single, expected, ROOM);
                assert_int_equal(n, m);
                assert_memory_equal(bytes, expected, n);
                remove(ranked);
                remove(single);
            }
            const spry_status status = spry_field_write(grid, v, "/nowhere/at/all.npy", NULL);
            assert_int_not_equal(status, SPRY_STATUS_OK);
            ranks_alike(ctx, status);
            spry_vector_free(v);
            spry_vector_free(V);
        }
    spry_grid_free(grid);
    spry_grid_free(whole);
    free(bytes);
    free(expected);
    support_context_free(alone);
    support_context_free(ctx);
}

/* --- faults --------------------------------------------------------------------------------------
 */

/* Lines across cuts are refused on all ranks; points are to be the same ones everywhere. */
static void lines_and_points(spry_context *ctx)
{
    double points[] = {0, 1, 2, 3, 4, 5, 6, 7, 9};
    spry_grid *grid = grid_of(ctx, "8x8", NULL);
    spry_operator *A = NULL, *M = NULL;
    assert_ok(ctx, spry_grid_set_points(grid, 0, 9, points));
    points[3] += spry_context_rank(ctx) == 1 ? 0.5 : 0;
    const spry_status status = spry_grid_set_points(grid, 0, 9, points);
    assert_int_equal(status, SPRY_STATUS_BAD_USAGE);
    ranks_alike(ctx, status);
    assert_ok(ctx, spry_operator_stencil(grid, "-laplace", NULL, 0, NULL, NULL, &A));
    assert_status(ctx, SPRY_STATUS_UNSUPPORTED, /* y is cut */
                  spry_precon_for_operator(A, NULL, "gmg:smoother=line,line=y", &M));
    assert_null(M);
    spry_operator_free(A);
    spry_grid_free(grid);
}

static void refused(void **state)
{
    (void)state;
    spry_context *ctx = ranks_context(NULL);
    spry_grid *grid = NULL;
    static const char *const bad[] = {"8x8 ranks=2", "8x8 ranks=axb", "8x8 ranks=99x1",
                                      "8x8 ranks=1x1x1", "8x8 ranks="};
    for (size_t k = 0; k < COUNT(bad); k++) {
        assert_int_equal(spry_grid_new(ctx, bad[k], &grid), SPRY_STATUS_BAD_USAGE);
        assert_null(grid);
    }
    if (spry_context_ranks(ctx) > 1) {
        spry_operator *A = NULL;
        assert_status(ctx, SPRY_STATUS_BAD_USAGE, spry_grid_new(ctx, "8x8 ranks=1x1", &grid));
        grid = grid_of(ctx, "8x8", NULL);
        /* a coefficient of another length on one rank: all hear of it */
        spry_vector *k = NULL;
        const char *names[] = {"k"};
        assert_ok(ctx, spry_vector_new(ctx, SPRY_TYPE_D, spry_context_rank(ctx) ? 1 : 2, NULL,
                                       SPRY_OWN_COPY, &k));
        const spry_status status =
            spry_operator_stencil(grid, "k*dx", NULL, 1, names, (const spry_vector *[]){k}, &A);
        assert_int_equal(status, SPRY_STATUS_BAD_USAGE);
        ranks_alike(ctx, status);
        spry_vector_free(k);
        assert_ok(ctx, spry_field_new(grid, SPRY_TYPE_D, true, positive, NULL, &k));
        assert_status(ctx, SPRY_STATUS_UNSUPPORTED,
                      spry_operator_stencil(grid, "laplace", "domain=k", 1, names,
                                            (const spry_vector *[]){k}, &A));
        support_message_has(ctx, "take ranks=none");
        spry_vector_free(k);
        spry_grid_free(grid);
        lines_and_points(ctx);
    }
    /* each rank for itself */
    grid = grid_of(ctx, "8x8", "none");
    spry_vector *v = NULL;
    assert_ok(ctx, spry_field_new(grid, SPRY_TYPE_D, false, NULL, NULL, &v));
    assert_int_equal(v->n, 49);
    assert_false(v->part.is);
    spry_vector_free(v);
    spry_grid_free(grid);
    support_context_free(ctx);
}

/* All that is made of a grid and one solve, with multigrid. */
static spry_status make_and_solve(spry_context *ctx)
{
    static const char *const names[] = {"k"};
    spry_grid *grid = NULL;
    spry_vector *k = NULL, *b = NULL, *x = NULL;
    spry_operator *A = NULL;
    spry_solver *solver = NULL;
    double seed = 1;
    spry_status status = spry_grid_new(ctx, "8x8x6", &grid);
    if (status == SPRY_STATUS_OK)
        status = spry_field_new(grid, SPRY_TYPE_D, true, positive, NULL, &k);
    if (status == SPRY_STATUS_OK)
        status = spry_operator_stencil(grid, "-div(k*grad)", NULL, 1, names,
                                       (const spry_vector *[]){k}, &A);
    if (status == SPRY_STATUS_OK)
        status = spry_field_new(grid, SPRY_TYPE_D, false, noise, &seed, &b);
    if (status == SPRY_STATUS_OK)
        status = spry_field_new(grid, SPRY_TYPE_D, false, NULL, NULL, &x);
    if (status == SPRY_STATUS_OK)
        status = spry_context_agree(ctx, spry_solver_new(ctx, &solver));
    if (status == SPRY_STATUS_OK)
        status = spry_context_agree(
            ctx,
            spry_solver_set(
                solver, "method=cg max-iter=2 precon=gmg:rank-rows=1,coarsest=20,smoother=jacobi"));
    if (status == SPRY_STATUS_OK)
        status = spry_context_agree(ctx, spry_solver_set_operator(solver, A));
    if (status == SPRY_STATUS_OK)
        status = spry_solve(solver, b, x, NULL);
    spry_solver_free(solver);
    spry_vector_free(k);
    spry_vector_free(b);
    spry_vector_free(x);
    spry_operator_free(A);
    spry_grid_free(grid);
    return status;
}

/* Each allocation of one rank fails in turn. */
static void memory(void **state)
{
    (void)state;
    spry_context *ctx = ranks_context(NULL);
    const int ranks = spry_context_ranks(ctx);
    int passed = 0;
    /* With more ranks nothing is made that two do not make. */
    for (int nth = 1; ranks < 3 && passed < 2 && nth < 2000; nth += nth < 40 ? 1 : 11) {
        int64_t before, after;
        spry_context_memory(ctx, &before, NULL);
        base_fail_allocation(ctx, spry_context_rank(ctx) == nth % ranks ? nth : 0, false);
        const spry_status status = make_and_solve(ctx);
        base_fail_allocation(ctx, 0, false);
        ranks_alike(ctx, status);
        if (status != SPRY_STATUS_OK)
            assert_int_equal(status, SPRY_STATUS_NO_MEMORY);
        passed = status == SPRY_STATUS_OK ? passed + 1 : 0;
        spry_context_memory(ctx, &after, NULL);
        assert_int_equal(after, before);
    }
    assert_true(passed > 0 || ranks > 2);
    support_context_free(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(products),   cmocka_unit_test(matrices),
                                       cmocka_unit_test(solves),     cmocka_unit_test(multigrid),
                                       cmocka_unit_test(boundaries), cmocka_unit_test(layers),
                                       cmocka_unit_test(waves),      cmocka_unit_test(files),
                                       cmocka_unit_test(refused),    cmocka_unit_test(memory)};
    MPI_Init(NULL, NULL);
    return ranks_run(cmocka_run_group_tests(tests, NULL, NULL));
}
