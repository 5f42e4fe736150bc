/* The chain of what a solver tries where it chooses: each prefix of each list made to fail, for
 * several kinds of systems and all types. */
#include "support/chain.h"
#include "support/generated.h"
#include "support/spec.h"

#include <math.h>

static void walk(spry_context *ctx, chain_kind kind)
{
    for (int t = 0; t < 4; t++) {
        problem p;
        if (!support_turn(t, kind))
            continue;
        chain_problem(ctx, kind, support_types[t], &p);
        chain_walk(&p, "");
        problem_free(&p);
    }
}

static void definite(void **state)
{
    walk(*state, CHAIN_DEFINITE);
}

static void indefinite(void **state)
{
    walk(*state, CHAIN_INDEFINITE);
}

static void saddle_points(void **state)
{
    walk(*state, CHAIN_KKT);
}

/* kkt is listed where it is known to suit, and not where H is indefinite or far from its diagonal.
 */
static void kkt_is_for_what_it_suits(void **state)
{
    for (int t = 0; t < 4; t++)
        for (int spoiled = 0; spoiled < 3; spoiled++) {
            problem p;
            precon_choice choice;
            precon_saddle suits;
            bool listed = false;
            chain_problem(*state, CHAIN_KKT, support_types[t], &p);
            for (int64_t i = 0; i < (spoiled == 1 ? 1 : 1200) && spoiled; i++)
                support_put(p.A, matrix_find(&p.A->a, i, i),
                            (spry_scalar){spoiled == 1 ? -4 : 1.5, 0}); /* next to 2 */
            assert_ok(*state, precon_kkt_suits(p.A, &suits));
            assert_ok(*state, precon_choose(*state, p.A, 1, false, &choice));
            for (int k = 0; k < choice.count; k++)
                listed = listed || strcmp(choice.list[k].spec, "kkt") == 0;
            assert_int_equal(suits.spec != NULL, !spoiled);
            assert_true(spoiled || strcmp(suits.spec, "kkt") == 0);
            assert_int_equal(listed, !spoiled);
            problem_free(&p);
        }
}

/* Flows are known by what constants do: one block by multigrid, and the diagonal of the other. */
static void kkt_knows_flows(void **state)
{
    static const char *const flow = "kkt:sub=amg,schur=jacobi";
    const struct {
        const char *kind, *options, *spec;
    } systems[] = {{"stokes", "size=10", flow},
                   {"stokes", "size=6 nz=6", flow},
                   {"stokes", "size=12 elements=q1q1 jump=3", flow},
                   {"stokes", "size=8 nz=8 elements=q1q1", flow},
                   {"darcy", "size=20 jump=3", "kkt"},
                   {"darcy", "size=10 nz=10", "kkt"},
                   {"darcy", "size=200", "kkt:schur=amg"},
                   {"interior-point", "size=2000", NULL}, /* too many products */
                   {"elasticity", "size=4", NULL}};
    for (size_t k = 0; k < sizeof systems / sizeof *systems; k++) {
        precon_saddle found;
        spry_matrix *A = generated(*state, systems[k].kind, systems[k].options);
        assert_ok(*state, precon_kkt_suits(A, &found));
        assert_int_equal(found.spec != NULL, systems[k].spec != NULL);
        if (found.spec)
            assert_string_equal(found.spec, systems[k].spec);
        spry_matrix_free(A);
    }
}

static int64_t iterations_of(spry_context *ctx, const char *options)
{
    spry_result result = SPRY_RESULT_INIT;
    problem p;
    problem_from_matrix(ctx, generated(ctx, "stokes", options), &p);
    assert_ok(ctx, spry_quick_solve(ctx, p.A, p.b, p.x,
                                    "method=fgmres precon=kkt:sub=amg,schur=jacobi", &result));
    assert_true(result.converged);
    const int64_t iterations = result.iterations;
    spry_result_clear(ctx, &result);
    problem_free(&p);
    return iterations;
}

/* Eigenvalues of flows with that M do not depend on the mesh, nor do iterations; by factors of H
 * or of E D^-1 B they grow with the side. */
static void flows_take_iterations_whatever_the_mesh(void **state)
{
    const int64_t coarse = iterations_of(*state, "size=58 elements=q1q1"),
                  fine = iterations_of(*state, "size=116 elements=q1q1");
    assert_true(2 * fine < 3 * coarse);
}

static void dominant(void **state)
{
    walk(*state, CHAIN_DOMINANT);
}

static void convection(void **state)
{
    walk(*state, CHAIN_CONVECTION);
}

static void nothing_on_the_diagonal(void **state)
{
    walk(*state, CHAIN_NO_DIAGONAL);
}

/* 10,000 rows: one type is enough. */
static void grids(void **state)
{
    problem p;
    chain_problem(*state, CHAIN_GRID, SPRY_TYPE_D, &p);
    chain_walk(&p, "");
    problem_free(&p);
}

/* One that gets somewhere and gives up, as its forecast was a few products: those after it, which
 * stay where they are, begin with its x, and so do factors; when these fail, too, it is handed
 * back. 60 x 60 points take conjugate gradients about 150 iterations. */
static void the_best_x_is_handed_on(void **state)
{
    for (int all = 0; all < 2; all++) {
        problem p;
        chain c;
        spry_matrix *A = NULL;
        assert_ok(*state, spry_generate(*state, "poisson2d", "size=60", &A));
        problem_from_matrix(*state, A, &p);
        chain_open(&c, &p, "");
        attempts *list = &c.all;
        list->list[0].precon = support_spec(*state, "none");
        snprintf(list->list[0].method, sizeof list->list[0].method, "cg");
        for (int k = 1; k < 3; k++) {
            list->list[k].precon = support_spec(*state, k == 1 ? "jacobi" : "none");
            snprintf(list->list[k].method, sizeof list->list[k].method, "richardson:omega=0");
        }
        list->list[3].precon = support_spec(*state, "direct");
        list->count = all ? 3 : 4;
        chain_begin(&c, 0, CHAIN_RUNS);
        c.solver->setup.attempts.list[0].seconds = 1e-9;
        c.solver->setup.attempts.list[0].iterations = 0;
        assert_ok(*state, chain_run(&c));
        assert_true(c.result.converged == !all);
        assert_true(c.begins[1] < 0.9 * chain_first && c.begins[1] > c.tol);
        assert_true(fabs(c.begins[2] / c.begins[1] - 1) < 1e-9);
        double rounding;
        const double truth = problem_residual(&p, &rounding);
        assert_true(fabs(c.result.true_residual - truth) <= rounding);
        if (all)
            assert_true(fabs(truth / c.begins[1] - 1) < 1e-9);
        chain_close(&c);
        problem_free(&p);
    }
}

#define UNIT(test) cmocka_unit_test_setup_teardown(test, support_setup, support_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        UNIT(definite),
        UNIT(indefinite),
        UNIT(saddle_points),
        UNIT(dominant),
        UNIT(convection),
        UNIT(nothing_on_the_diagonal),
        UNIT(grids),
        UNIT(the_best_x_is_handed_on),
        UNIT(kkt_is_for_what_it_suits),
        UNIT(kkt_knows_flows),
        UNIT(flows_take_iterations_whatever_the_mesh),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
