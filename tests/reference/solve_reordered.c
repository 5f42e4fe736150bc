/*
 * Solves in another order of rows (reorder=rcm) against solves of P A P^T that was made by hand:
 * what comes out is the same to the bit, in the caller's order wherever vectors cross the border.
 * And which orders are taken without being asked for.
 */
#include "support/neumann.h"
#include "support/support.h"

#include "krylov/solver.h"
#include "matrix/algebra/algebra.h"

#include <spry/spry.h>
#include <stdlib.h>

enum { SHOWN = 4, SIDES = 3 };

/* A, in which nothing stands where it belongs, and the same by hand. */
typedef struct fixture {
    spry_context *ctx;
    spry_matrix *A, *B;
    spry_solver *inside, *by_hand;
    spry_vector *b[SIDES], *x[SIDES], *hand_b[SIDES], *hand_x[SIDES];
} fixture;

/* Groups of so many rows change places: R. A. Fisher, F. Yates, with numbers of a simple generator.
 */
static spry_matrix *shuffle(spry_context *ctx, spry_matrix *A, int group)
{
    const int64_t n = A->a.rows, groups = n / group;
    spry_matrix *shuffled = NULL;
    int32_t *perm = malloc((size_t)n * sizeof *perm), *places = malloc((size_t)n * sizeof *places);
    uint64_t number = 1;
    assert_true(perm && places);
    for (int64_t i = 0; i < groups; i++)
        places[i] = (int32_t)i;
    for (int64_t i = groups - 1; i > 0; i--) {
        number = number * UINT64_C(6364136223846793005) + 1;
        const int64_t j = (int64_t)((number >> 33) % (uint64_t)(i + 1));
        const int32_t t = places[i];
        places[i] = places[j];
        places[j] = t;
    }
    for (int64_t i = 0; i < n; i++)
        perm[i] = (int32_t)(places[i / group] * group + i % group);
    assert_ok(ctx, spry_matrix_permute(A, perm, perm, &shuffled));
    spry_matrix_free(A);
    free(places);
    free(perm);
    return shuffled;
}

static spry_solver *make_solver(spry_context *ctx, const spry_matrix *A, const char *order,
                                const char *options)
{
    spry_solver *solver = NULL;
    assert_ok(ctx, spry_solver_new(ctx, &solver));
    assert_ok(ctx, spry_solver_set(solver, options));
    assert_ok(ctx, spry_solver_set_text(solver, "reorder", order));
    assert_ok(ctx, spry_solver_set_matrix(solver, A));
    return solver;
}

static spry_vector *random_vector(spry_context *ctx, const spry_matrix *A, uint64_t seed)
{
    spry_vector *v = NULL;
    assert_ok(ctx, spry_vector_zeros(ctx, A, &v));
    assert_ok(ctx, vector_random(v, seed));
    return v;
}

/* v in the order of B. */
static spry_vector *in_order(const fixture *f, const spry_vector *v)
{
    spry_vector *moved = NULL;
    assert_ok(f->ctx, spry_vector_like(v, v->n, &moved));
    assert_ok(f->ctx, spry_vector_permute(v, f->inside->setup.order.from, false, moved));
    return moved;
}

static void open_ordered(fixture *f, spry_context *ctx, spry_matrix *A, const char *order,
                         const char *options)
{
    *f = (fixture){.ctx = ctx, .A = A};
    f->inside = make_solver(ctx, f->A, order, options);
    assert_ok(ctx, solver_begin(f->inside));
    const spry_status status = solver_set_up(f->inside, NULL);
    solver_end(f->inside, status);
    assert_ok(ctx, status);
    assert_non_null(f->inside->setup.order.matrix);
    const int32_t *from = f->inside->setup.order.from;
    assert_ok(ctx, spry_matrix_permute(f->A, from, from, &f->B));
    f->by_hand = make_solver(ctx, f->B, "none", options);
    for (int k = 0; k < SIDES; k++) {
        f->b[k] = random_vector(ctx, A, 2 * (uint64_t)k + 1);
        f->x[k] = random_vector(ctx, A, 2 * (uint64_t)k + 2);
        f->hand_b[k] = in_order(f, f->b[k]);
        f->hand_x[k] = in_order(f, f->x[k]);
    }
}

static void open_fixture(fixture *f, spry_context *ctx, spry_matrix *A, const char *options)
{
    open_ordered(f, ctx, A, "rcm", options);
}

static void close_fixture(fixture *f)
{
    for (int k = 0; k < SIDES; k++) {
        spry_vector_free(f->b[k]);
        spry_vector_free(f->x[k]);
        spry_vector_free(f->hand_b[k]);
        spry_vector_free(f->hand_x[k]);
    }
    spry_solver_free(f->inside);
    spry_solver_free(f->by_hand);
    spry_matrix_free(f->A);
    spry_matrix_free(f->B);
}

static void check_same(const fixture *f, const spry_vector *v, const spry_vector *by_hand)
{
    spry_vector *moved = in_order(f, v);
    assert_memory_equal(moved->data, by_hand->data, (size_t)v->n * spry_type_size(v->type));
    spry_vector_free(moved);
}

/* Solves both ways, all right-hand sides together, from what x is. */
static void solve_both(fixture *f, int count)
{
    spry_result one[SIDES] = {SPRY_RESULT_INIT, SPRY_RESULT_INIT, SPRY_RESULT_INIT};
    spry_result two[SIDES] = {SPRY_RESULT_INIT, SPRY_RESULT_INIT, SPRY_RESULT_INIT};
    assert_ok(f->ctx,
              spry_solve_many(f->inside, count, (const spry_vector *const *)f->b, f->x, one));
    assert_ok(f->ctx, spry_solve_many(f->by_hand, count, (const spry_vector *const *)f->hand_b,
                                      f->hand_x, two));
    assert_null(f->by_hand->setup.order.matrix);
    for (int k = 0; k < count; k++) {
        assert_true(one[k].converged);
        assert_int_equal(one[k].iterations, two[k].iterations);
        assert_true(one[k].true_residual == two[k].true_residual);
        assert_int_equal(one[k].nnz, two[k].nnz);
        check_same(f, f->x[k], f->hand_x[k]);
        spry_result_clear(f->ctx, &one[k]);
        spry_result_clear(f->ctx, &two[k]);
    }
}

static spry_matrix *shuffled_grid(spry_context *ctx, const char *options)
{
    spry_matrix *A = NULL;
    assert_ok(ctx, spry_generate(ctx, "poisson2d", options, &A));
    return shuffle(ctx, A, 1);
}

/* All that is made of A, for every type: first guesses are not 0. */
static void solves_as_by_hand(void **state)
{
    static const char *const options[] = {"",
                                          "method=cg precon=jacobi",
                                          "method=cg precon=amg",
                                          "method=gmres precon=ilu",
                                          "method=lsqr precon=none", /* products with A^T */
                                          "method=cg precon=none format=sell",
                                          "method=direct"};
    static const char *const sizes[] = {"size=18 type=d", "size=18 type=s", "size=18 type=z"};
    spry_context *ctx = *state;
    for (int t = 0; t < 3; t++)
        for (int o = 0; o < (t == 0 ? 7 : 2); o++) {
            fixture f;
            open_fixture(&f, ctx, shuffled_grid(ctx, sizes[t]), options[o]);
            solve_both(&f, 1);
            solve_both(&f, SIDES);
            close_fixture(&f);
        }
}

static void change_values(spry_context *ctx, spry_matrix *A)
{
    double *values = malloc((size_t)A->a.nnz * sizeof *values);
    assert_non_null(values);
    for (int64_t i = 0; i < A->a.rows; i++)
        for (int64_t k = A->a.offsets[i]; k < A->a.offsets[i + 1]; k++)
            values[k] = ((const double *)A->a.values)[k] * (A->a.col_index[k] == i ? 1.5 : 1);
    assert_ok(ctx, spry_matrix_set_values(A, values, SPRY_OWN_COPY));
    free(values);
}

/* A matrix with hubs, for which nothing but the order is another. */
static void solves_by_hubs(void **state)
{
    spry_context *ctx = *state;
    spry_matrix *A = NULL;
    fixture f;
    assert_ok(ctx, spry_generate(ctx, "rmat", "size=400 per-row=6", &A));
    open_ordered(&f, ctx, shuffle(ctx, A, 1), "hubs", "method=bicgstab precon=jacobi");
    assert_string_equal(f.inside->setup.order.name, "hubs");
    solve_both(&f, 1);
    solve_both(&f, SIDES);
    change_values(ctx, f.A);
    change_values(ctx, f.B);
    solve_both(&f, 1);
    close_fixture(&f);
}

typedef struct shown {
    spry_vector *x[SHOWN];
    int count;
} shown;

static bool keep_shown(void *data, int64_t at, double residual, const spry_vector *x)
{
    shown *s = data;
    (void)residual;
    if (at >= 1 && at <= SHOWN)
        if (spry_vector_copy(x, s->x[s->count]) == SPRY_STATUS_OK)
            s->count++;
    return true;
}

/* gmres has no x of its own before the end of a cycle. */
static void monitors_see_the_callers_order(void **state)
{
    static const char *const methods[] = {"method=cg precon=jacobi", "method=gmres precon=none"};
    spry_context *ctx = *state;
    for (int m = 0; m < 2; m++) {
        fixture f;
        shown inside = {.count = 0}, by_hand = {.count = 0};
        open_fixture(&f, ctx, shuffled_grid(ctx, "size=18"), methods[m]);
        for (int k = 0; k < SHOWN; k++) {
            assert_ok(ctx, spry_vector_like(f.x[0], f.x[0]->n, &inside.x[k]));
            assert_ok(ctx, spry_vector_like(f.x[0], f.x[0]->n, &by_hand.x[k]));
        }
        spry_solver_set_monitor(f.inside, keep_shown, &inside);
        spry_solver_set_monitor(f.by_hand, keep_shown, &by_hand);
        solve_both(&f, 1);
        assert_int_equal(inside.count, SHOWN);
        assert_int_equal(by_hand.count, SHOWN);
        for (int k = 0; k < SHOWN; k++) {
            check_same(&f, inside.x[k], by_hand.x[k]);
            spry_vector_free(inside.x[k]);
            spry_vector_free(by_hand.x[k]);
        }
        close_fixture(&f);
    }
}

static void takes_new_values(void **state)
{
    static const char *const options[] = {"method=cg precon=jacobi", "method=cg precon=ic"};
    spry_context *ctx = *state;
    for (int o = 0; o < 2; o++) {
        fixture f;
        open_fixture(&f, ctx, shuffled_grid(ctx, "size=18"), options[o]);
        solve_both(&f, 1);
        const spry_matrix *ordered = f.inside->setup.order.matrix;
        change_values(ctx, f.A);
        change_values(ctx, f.B);
        solve_both(&f, 1);
        assert_ptr_equal(f.inside->setup.order.matrix, ordered);
        close_fixture(&f);
    }
}

static void has_the_callers_null_space(void **state)
{
    spry_context *ctx = *state;
    const neumann_grid g = {.nx = 11, .ny = 8, .nz = 2};
    spry_matrix *A = neumann_matrix(ctx, SPRY_TYPE_D, &g);
    const int64_t n = A->a.rows;
    spry_vector *scale = NULL, *null = NULL;
    /* D A D has the null vector D^-1 1, which is no constant: orders show. Powers of two. */
    assert_ok(ctx, spry_vector_zeros(ctx, A, &scale));
    assert_ok(ctx, spry_vector_zeros(ctx, A, &null));
    for (int64_t i = 0; i < n; i++) {
        ((double *)scale->data)[i] = (double)(1 << i % 3);
        ((double *)null->data)[i] = 1.0 / (1 << i % 3);
    }
    assert_ok(ctx, spry_matrix_scale(A, scale, scale));
    fixture f;
    open_fixture(&f, ctx, A, "method=cg precon=jacobi");
    spry_vector *moved = in_order(&f, null);
    assert_ok(ctx,
              spry_solver_set_null_space(f.inside, 1, (const spry_vector *const *)&null, NULL));
    assert_ok(ctx,
              spry_solver_set_null_space(f.by_hand, 1, (const spry_vector *const *)&moved, NULL));
    spry_result result = SPRY_RESULT_INIT;
    assert_ok(ctx, spry_solve(f.inside, f.b[0], f.x[0], &result));
    assert_true(result.converged);
    spry_result_clear(ctx, &result);
    /* Of the given vector x has nothing left but rounding. */
    spry_scalar part;
    double size, length;
    assert_ok(ctx, spry_vector_dot(null, f.x[0], &part));
    assert_ok(ctx, spry_vector_norm(f.x[0], &size));
    assert_ok(ctx, spry_vector_norm(null, &length));
    assert_true(fabs(part.re) <= (double)n * 0x1p-52 * size * length);
    spry_vector_free(moved);
    spry_vector_free(null);
    spry_vector_free(scale);
    close_fixture(&f);
}

/* Nodes stay together, and near-null vectors go with their rows. */
static void keeps_nodes_of_elasticity(void **state)
{
    spry_context *ctx = *state;
    spry_matrix *A = NULL;
    spry_vector *near[3] = {NULL, NULL, NULL}, *moved[3];
    fixture f;
    assert_ok(ctx, spry_generate(ctx, "elasticity", "size=8", &A));
    A = shuffle(ctx, A, 3);
    for (int k = 0; k < 3; k++) {
        assert_ok(ctx, spry_vector_zeros(ctx, A, &near[k]));
        for (int64_t i = k; i < A->a.rows; i += 3)
            ((double *)near[k]->data)[i] = 1 + 0.01 * (double)(i % 17);
    }
    assert_ok(ctx, spry_matrix_set_near_null(A, 3, (const spry_vector *const *)near));
    open_fixture(&f, ctx, A, "method=cg precon=amg");
    for (int64_t i = 0; i < A->a.rows; i++)
        assert_int_equal(f.inside->setup.order.from[i] % 3, i % 3);
    assert_int_equal(f.inside->setup.order.matrix->near_count, 3);
    for (int k = 0; k < 3; k++)
        moved[k] = in_order(&f, near[k]);
    assert_ok(ctx, spry_matrix_set_near_null(f.B, 3, (const spry_vector *const *)moved));
    solve_both(&f, 1);
    for (int k = 0; k < 3; k++) {
        spry_vector_free(near[k]);
        spry_vector_free(moved[k]);
    }
    close_fixture(&f);
}

static void reports_errors_and_spaces(void **state)
{
    enum { KEEP = 3 };
    spry_context *ctx = *state;
    fixture f;
    double backward[2], bound[2];
    spry_vector *U[KEEP], *hand_U[KEEP];
    open_fixture(&f, ctx, shuffled_grid(ctx, "size=18"), "method=direct");
    solve_both(&f, 1);
    assert_ok(ctx, spry_solver_errors(f.inside, f.b[0], f.x[0], &backward[0], &bound[0]));
    assert_ok(ctx,
              spry_solver_errors(f.by_hand, f.hand_b[0], f.hand_x[0], &backward[1], &bound[1]));
    assert_true(backward[0] == backward[1] && bound[0] == bound[1]);
    close_fixture(&f);

    open_fixture(&f, ctx, shuffled_grid(ctx, "size=18"),
                 "method=gcrot:restart=10,keep=3,recycle=yes precon=none");
    solve_both(&f, 1);
    for (int k = 0; k < KEEP; k++) {
        assert_ok(ctx, spry_vector_like(f.x[0], f.x[0]->n, &U[k]));
        assert_ok(ctx, spry_vector_like(f.x[0], f.x[0]->n, &hand_U[k]));
    }
    assert_ok(ctx, spry_solver_get_space(f.inside, "U", KEEP, U));
    assert_ok(ctx, spry_solver_get_space(f.by_hand, "U", KEEP, hand_U));
    for (int k = 0; k < KEEP; k++)
        check_same(&f, U[k], hand_U[k]);
    assert_ok(ctx, spry_solver_set_space(f.inside, "U", KEEP, (const spry_vector *const *)U));
    assert_ok(ctx, spry_solver_set_space(f.by_hand, "U", KEEP, (const spry_vector *const *)hand_U));
    assert_ok(ctx, spry_vector_fill(f.x[0], (spry_scalar){0, 0}));
    assert_ok(ctx, spry_vector_fill(f.hand_x[0], (spry_scalar){0, 0}));
    solve_both(&f, 1);
    for (int k = 0; k < KEEP; k++) {
        spry_vector_free(U[k]);
        spry_vector_free(hand_U[k]);
    }
    close_fixture(&f);
}

/* Messages name rows of the caller's matrix. */
static void names_the_callers_rows(void **state)
{
    enum { ROW = 5 };
    char name[32];
    spry_context *ctx = *state;
    fixture f;
    open_fixture(&f, ctx, shuffled_grid(ctx, "size=18"), "method=cg precon=jacobi");
    assert_int_not_equal(f.inside->setup.order.from[ROW], ROW);
    snprintf(name, sizeof name, "row %d (from 0)", ROW);
    ((double *)f.b[0]->data)[ROW] = NAN;
    assert_status(ctx, SPRY_STATUS_BAD_INPUT, spry_solve(f.inside, f.b[0], f.x[0], NULL));
    support_message_has(ctx, name);
    ((double *)f.b[0]->data)[ROW] = 1;
    for (int64_t k = f.A->a.offsets[ROW]; k < f.A->a.offsets[ROW + 1]; k++)
        if (f.A->a.col_index[k] == ROW)
            ((double *)f.A->a.values)[k] = 0;
    matrix_changed(f.A);
    assert_status(ctx, SPRY_STATUS_BAD_INPUT, spry_solve(f.inside, f.b[0], f.x[0], NULL));
    support_message_has(ctx, name);
    assert_status(ctx, SPRY_STATUS_BAD_INPUT, spry_solve(f.inside, f.b[0], f.x[0], NULL));
    support_message_has(ctx, name);
    close_fixture(&f);
}

static void refuse(spry_context *ctx, const fixture *f, const char *text)
{
    assert_status(ctx, SPRY_STATUS_BAD_USAGE, spry_solve(f->inside, f->b[0], f->x[0], NULL));
    support_message_has(ctx, text);
}

static void says_where_it_cannot(void **state)
{
    static const struct {
        const char *precon, *text;
    } unsuited[] = {{"block-jacobi:block=5", "would tear the blocks"},
                    {"schwarz:sub=[amg:block=5]", "would tear the blocks"},
                    {"schwarz:sub=[block-jacobi]", "would tear the blocks"},
                    {"prepare:sub=[kkt:rows=9]", "name rows by number"},
                    {"inner:precon=kkt:rows=9", "name rows by number"}};
    spry_context *ctx = *state;
    spry_operator *M = NULL, *op = NULL;
    fixture f;
    open_fixture(&f, ctx, shuffled_grid(ctx, "size=18"), "method=cg precon=jacobi");
    assert_ok(ctx, spry_precon_new(f.A, NULL, "jacobi", &M));
    assert_ok(ctx, spry_solver_set_precon(f.inside, M));
    refuse(ctx, &f, "reorder=rcm needs a preconditioner of its own");
    assert_ok(ctx, spry_solver_set_precon(f.inside, NULL));
    solve_both(&f, 1);
    assert_ok(ctx, spry_solver_set(f.inside, "precon=block-jacobi"));
    refuse(ctx, &f, "reorder=rcm would tear the blocks");
    assert_ok(ctx, spry_solver_set(f.inside, "reorder=hubs"));
    refuse(ctx, &f, "reorder=hubs would tear the blocks");
    for (size_t k = 0; k < sizeof unsuited / sizeof *unsuited; k++) {
        assert_ok(ctx, spry_solver_set_text(f.inside, "precon", unsuited[k].precon));
        refuse(ctx, &f, unsuited[k].text);
    }
    assert_ok(ctx, spry_solver_set(f.inside, "precon=jacobi reorder=auto"));
    assert_ok(ctx, spry_solve(f.inside, f.b[0], f.x[0], NULL)); /* and x is near all the time */
    assert_null(f.inside->setup.order.matrix);
    assert_ok(ctx, spry_operator_from_matrix(f.A, NULL, NULL, &op));
    assert_ok(ctx, spry_solver_set_operator(f.inside, op));
    assert_ok(ctx, spry_solver_set(f.inside, "precon=none reorder=rcm"));
    refuse(ctx, &f, "reorder=rcm needs a matrix");
    close_fixture(&f);
    spry_operator_free(op);
    spry_operator_free(M);
}

/* What is taken for many products without being asked for. */
static void check_taken(spry_context *ctx, const char *expected, const char *kind,
                        const char *options, bool shuffled, const order_forecast *f)
{
    spry_matrix *A = NULL;
    solver_order order = {0};
    assert_ok(ctx, spry_generate(ctx, kind, options, &A));
    if (shuffled)
        A = shuffle(ctx, A, 1);
    assert_ok(ctx, order_find(A, f, NULL, 1, &order));
    assert_string_equal(order.from ? order.name : "none", expected);
    order_free(ctx, &order);
    spry_matrix_free(A);
}

/* Grids in no order, for many products of an x that is not near, and power laws; no more. */
static void takes_what_pays(void **state)
{
    spry_context *ctx = *state;
    const order_forecast many = order_on_host(32768, 1e6, 1), few = order_on_host(32768, 3, 1),
                         near = order_on_host(1e9, 1e6, 1), shared = order_on_host(32768, 300, 64);
    check_taken(ctx, "rcm", "poisson3d", "size=25", true, &many);
    check_taken(ctx, "rcm", "poisson3d", "size=20 points=27", true, &many);
    check_taken(ctx, "rcm", "poisson2d", "size=120", true, &many);
    check_taken(ctx, "none", "poisson3d", "size=25", true, &few);
    check_taken(ctx, "none", "poisson3d", "size=25", true, &near);
    check_taken(ctx, "none", "poisson3d", "size=25", false, &many);
    check_taken(ctx, "none", "random", "size=20000 per-row=16", true, &many);
    check_taken(ctx, "hubs", "rmat", "size=20000 per-row=8", true, &many);
    check_taken(ctx, "none", "rmat", "size=20000 per-row=8", false, &many); /* they are first */
    check_taken(ctx, "none", "rmat", "size=20000 per-row=8", true, &few);
    check_taken(ctx, "none", "rmat", "size=20000 per-row=8", true, &near);
    check_taken(ctx, "none", "rmat", "size=20000 per-row=8", true, &shared);
}

/* The same where a device would multiply: a line costs less than a hundredth there, the rest of the
 * work nearly as much. */
static void takes_what_pays_on_devices(void **state)
{
    spry_context *ctx = *state;
    const order_forecast many = order_on_device(32768, 1e6), some = order_on_device(32768, 300),
                         near = order_on_device(1e9, 1e6);
    check_taken(ctx, "rcm", "poisson3d", "size=25", true, &many);
    check_taken(ctx, "hubs", "rmat", "size=20000 per-row=8", true, &many);
    check_taken(ctx, "none", "poisson3d", "size=25", true, &some);
    check_taken(ctx, "none", "rmat", "size=20000 per-row=8", true, &some);
    check_taken(ctx, "none", "poisson3d", "size=25", true, &near);
    check_taken(ctx, "none", "poisson3d", "size=25", false, &many);
    check_taken(ctx, "none", "random", "size=20000 per-row=16", true, &many);
}

typedef struct tortured {
    spry_matrix *A;
    spry_vector *b, *x;
} tortured;

static spry_status solve_tortured(spry_context *ctx, void *data)
{
    const tortured *t = data;
    memset(t->x->data, 0, (size_t)t->x->n * sizeof(double));
    return spry_quick_solve(ctx, t->A, t->b, t->x, "method=cg precon=jacobi reorder=rcm", NULL);
}

static void survives_without_memory(void **state)
{
    spry_context *ctx = *state;
    tortured t = {.A = shuffled_grid(ctx, "size=18")};
    t.b = random_vector(ctx, t.A, 1);
    t.x = random_vector(ctx, t.A, 2);
    assert_ok(ctx, spry_matrix_set_near_null(t.A, 1, (const spry_vector *const *)&t.b));
    support_torture(ctx, solve_tortured, &t);
    spry_vector_free(t.b);
    spry_vector_free(t.x);
    spry_matrix_free(t.A);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(solves_as_by_hand),
        cmocka_unit_test(solves_by_hubs),
        cmocka_unit_test(monitors_see_the_callers_order),
        cmocka_unit_test(takes_new_values),
        cmocka_unit_test(has_the_callers_null_space),
        cmocka_unit_test(keeps_nodes_of_elasticity),
        cmocka_unit_test(reports_errors_and_spaces),
        cmocka_unit_test(names_the_callers_rows),
        cmocka_unit_test(says_where_it_cannot),
        cmocka_unit_test(takes_what_pays),
        cmocka_unit_test(takes_what_pays_on_devices),
        cmocka_unit_test(survives_without_memory),
    };
    return cmocka_run_group_tests(tests, support_setup, support_teardown);
}
