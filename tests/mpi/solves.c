/*
 * Every method on ranks: with repeat=strict bit by bit what it is without ranks, for any number of
 * them and odd partitions; else within what rounding allows.
 */
#include "base/team.h"
#include "mpi/systems.h"

/* Every method there is, or each third from `first` on; few iterations show as much as many. */
static void all_methods(ranks_way way, const char *kind, const char *matrix, const char *precon,
                        int first)
{
    char options[160];
    system_t s;
    system_open(&s, "repeat=strict", kind, matrix, way, GRAIN);
    spry_entry method = SPRY_ENTRY_INIT;
    for (int k = 0; spry_list_at(SPRY_LIST_METHODS, k, &method); k++) {
        if (strcmp(method.name, "direct") == 0 || strcmp(method.name, "refine") == 0 ||
            (first >= 0 && k % 3 != first && !support_full()))
            continue;
        snprintf(options, sizeof options,
                 "method=%s precon=%s max-iter=11 tol=1e-12 keep=last restart=4", method.name,
                 precon);
        same_bits(&s, options);
    }
    system_close(&s);
}

static void methods_even(void **state)
{
    (void)state;
    all_methods(RANKS_EVEN, "poisson2d", "size=130", "jacobi", -1);
    all_methods(RANKS_EVEN, "convection-diffusion", "size=130", "none", 2);
    all_methods(RANKS_EVEN, "helmholtz", "nx=130 ny=130 nz=1", "jacobi", 0);
}

static void methods_odd(void **state)
{
    (void)state;
    all_methods(RANKS_FIRST_EMPTY, "convection-diffusion", "size=130", "jacobi", 0);
    all_methods(RANKS_ALL_ON_LAST, "poisson2d", "size=130", "none", 1);
    all_methods(RANKS_FIRST_SMALL, "helmholtz", "nx=130 ny=130 nz=1", "none", 2);
}

/* Without strict: the answer is one by its own measure, and iterations are about as many. */
static void methods_converge(void **state)
{
    (void)state;
    static const char *const options[] = {
        "method=cg precon=jacobi",        "method=cg precon=none format=sell",
        "method=pipecg precon=none",      "method=minres precon=none",
        "method=gmres precon=jacobi",     "method=idr precon=none",
        "method=bicgstabl precon=none",   "method=lsqr precon=none",
        "method=cgls precon=none",        "method=qmr precon=jacobi",
        "method=cg fuse=no precon=jacobi"};
    for (int way = 0; way < RANKS_WAYS; way++) {
        system_t s;
        system_open(&s, "threads=2", "poisson2d", "size=21", (ranks_way)way, 1);
        for (size_t k = 0; k < sizeof options / sizeof *options; k++) {
            spry_result ranked = SPRY_RESULT_INIT, single = SPRY_RESULT_INIT;
            spry_vector *x, *X;
            solve_both(&s, options[k], &ranked, &single, &x, &X);
            if (!ranked.converged || !(ranked.true_residual <= ranked.tolerance))
                fail_msg("%s: %s %g %s", options[k], spry_reason_name(ranked.reason),
                         ranked.true_residual, ranked.detail);
            assert_in_range(ranked.iterations, single.iterations * 8 / 10,
                            single.iterations * 12 / 10 + 2);
            assert_true((ranked.energy_error > 0) == (single.energy_error > 0));
            free_both(&s, &ranked, &single, x, X);
        }
        system_close(&s);
    }
}

/* Others than none, jacobi and those that work across ranks are block Jacobi's inside, and say so;
 * also what is chosen. */
static void blocks(void **state)
{
    (void)state;
    static const struct {
        const char *options, *name;
    } cases[] = {{"method=cg precon=ic", "block-jacobi:inner=ic"},
                 {"method=gmres precon=block-jacobi:inner=[ilu:level=1]", "block-jacobi:inner=ilu"},
                 {"method=cg precon=block-jacobi:inner=amg", "block-jacobi:inner=amg"},
                 {"method=cg precon=amg", "amg"},
                 {"method=gmres precon=schwarz:overlap=2", "schwarz"},
                 {"method=fgmres precon=inner", "block-jacobi:inner=inner"},
                 {"method=bicgstabl precon=direct", "block-jacobi:inner=direct"},
                 {"method=minres precon=ssor nullspace=none", "block-jacobi:inner=ssor"},
                 {"", ""}};
    for (int way = 0; way < RANKS_WAYS; way++) {
        system_t s;
        system_open(&s, NULL, "poisson2d", "size=25", (ranks_way)way, 1);
        for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
            spry_result result = SPRY_RESULT_INIT;
            spry_vector *x;
            assert_ok(s.ctx, spry_vector_zeros(s.ctx, s.A, &x));
            assert_ok(s.ctx, spry_quick_solve(s.ctx, s.A, s.b, x, cases[k].options, &result));
            if (!result.converged || !(result.true_residual <= result.tolerance))
                fail_msg("%s: %s %g %s", cases[k].options, spry_reason_name(result.reason),
                         result.true_residual, result.detail);
            if (spry_context_ranks(s.ctx) > 1 && *cases[k].name)
                assert_string_equal(result.precon, cases[k].name);
            spry_result_clear(s.ctx, &result);
            spry_vector_free(x);
        }
        system_close(&s);
    }
}

/* Several right-hand sides at once, with their halos in one message. */
static void side_by_side(void **state)
{
    (void)state;
    enum { COUNT = 5 };
    system_t s;
    system_open(&s, "repeat=strict", "poisson2d", "size=130", RANKS_EVEN, GRAIN);
    spry_solver *one = NULL, *many = NULL;
    spry_vector *b[COUNT], *x[COUNT], *y;
    const spry_vector *given[COUNT];
    assert_ok(s.ctx, spry_solver_new(s.ctx, &one));
    assert_ok(s.ctx, spry_solver_new(s.ctx, &many));
    assert_ok(s.ctx, spry_solver_set(one, "method=bicg precon=jacobi max-iter=20 keep=last"));
    assert_ok(s.ctx, spry_solver_set(many, "method=bicg precon=jacobi max-iter=20 keep=last"));
    assert_ok(s.ctx, spry_solver_set_matrix(one, s.A));
    assert_ok(s.ctx, spry_solver_set_matrix(many, s.A));
    for (int k = 0; k < COUNT; k++) {
        assert_ok(s.ctx, spry_vector_like(s.b, s.b->n, &b[k]));
        assert_ok(s.ctx, spry_vector_like(s.b, s.b->n, &x[k]));
        assert_ok(s.ctx, spry_vector_copy(s.b, b[k]));
        if (b[k]->n > k)
            value_set(b[k]->type, b[k]->data, k, (spry_scalar){7 + k, 0});
        given[k] = b[k];
    }
    assert_ok(s.ctx, spry_solve_many(many, COUNT, given, x, NULL));
    assert_ok(s.ctx, spry_vector_like(s.b, s.b->n, &y));
    for (int k = 0; k < COUNT; k++) {
        assert_ok(s.ctx, spry_vector_fill(y, (spry_scalar){0, 0}));
        assert_ok(s.ctx, spry_solve(one, b[k], y, NULL));
        assert_memory_equal(x[k]->data, y->data, (size_t)y->n * 8);
        spry_vector_free(b[k]);
        spry_vector_free(x[k]);
    }
    spry_vector_free(y);
    spry_solver_free(one);
    spry_solver_free(many);
    system_close(&s);
}

/* Right-hand side k of a block: the second is that of the first, the third is 0, others have one
 * number changed. `first` is the row that it begins with here. */
static spry_vector *column_of(const spry_vector *b, int k, int64_t first)
{
    spry_vector *v = NULL;
    assert_ok(b->ctx, spry_vector_like(b, b->n, &v));
    for (int64_t i = 0; i < b->n && k != 2; i++)
        value_set(b->type, v->data, i,
                  k > 2 && first + i == 900 * k ? (spry_scalar){100, 0}
                                                : value_get(b->type, b->data, i));
    return v;
}

/* Right-hand sides that share one space: bit by bit what they are without ranks. */
static void one_space(void **state)
{
    (void)state;
    enum { COUNT = 6 };
    static const char *const options[] = {"method=block-cg precon=jacobi max-iter=20 keep=last",
                                          "method=block-cg precon=none tol=1e-6",
                                          "method=block-gmres:restart=4 precon=jacobi max-iter=6 "
                                          "keep=last",
                                          "method=block-gcr:restart=4 precon=none max-iter=6 "
                                          "keep=last",
                                          "method=block-bicgstab precon=jacobi max-iter=6 "
                                          "keep=last",
                                          "method=gmres-dr:restart=6,keep=2 precon=none "
                                          "max-iter=14 keep=last",
                                          "method=dcg:keep=3,gather=5 precon=jacobi max-iter=8 "
                                          "keep=last"};
    for (size_t m = 0; m < sizeof options / sizeof *options; m++) {
        system_t s;
        spry_solver *ranked = NULL, *single = NULL;
        spry_vector *b[2][COUNT], *x[2][COUNT];
        system_open(&s, "repeat=strict", "poisson2d", "size=130",
                    m == 0 ? RANKS_EVEN : RANKS_FIRST_SMALL, GRAIN);
        assert_ok(s.ctx, spry_solver_new(s.ctx, &ranked));
        assert_ok(s.alone, spry_solver_new(s.alone, &single));
        assert_ok(s.ctx, spry_solver_set(ranked, options[m]));
        assert_ok(s.alone, spry_solver_set(single, options[m]));
        assert_ok(s.ctx, spry_solver_set_matrix(ranked, s.A));
        assert_ok(s.alone, spry_solver_set_matrix(single, s.whole));
        for (int k = 0; k < COUNT; k++) {
            b[0][k] = column_of(s.b, k, s.rows.first);
            b[1][k] = column_of(s.B, k, 0);
            assert_ok(s.ctx, spry_vector_zeros(s.ctx, s.A, &x[0][k]));
            assert_ok(s.alone, spry_vector_zeros(s.alone, s.whole, &x[1][k]));
        }
        assert_ok(s.ctx,
                  spry_solve_many(ranked, COUNT, (const spry_vector *const *)b[0], x[0], NULL));
        assert_ok(s.alone,
                  spry_solve_many(single, COUNT, (const spry_vector *const *)b[1], x[1], NULL));
        for (int k = 0; k < COUNT; k++) {
            const double *all = x[1][k]->data;
            assert_memory_equal(x[0][k]->data, all + s.cols.first, (size_t)x[0][k]->n * 8);
            for (int place = 0; place < 2; place++) {
                spry_vector_free(b[place][k]);
                spry_vector_free(x[place][k]);
            }
        }
        spry_solver_free(ranked);
        spry_solver_free(single);
        system_close(&s);
    }
}

/* What the text does not need at once is summed up while the next product runs: of so many
 * messages, however late they come, and with the same bits. */
static void sums_under_way(void **state)
{
    (void)state;
    static const struct {
        const char *method;
        int sent, begun; /* per iteration */
    } cases[] = {{"cg", 2, 0},
                 {"cg-cg", 1, 0},
                 {"pipecg", 1, 1},
                 {"bicgstab", 3, 0},
                 {"pipebicgstab", 2, 2}};
    system_t s;
    system_open(&s, "repeat=strict delays=[reduction=0.001]", "poisson2d", "size=130", RANKS_EVEN,
                GRAIN);
    const int several = spry_context_ranks(s.ctx) > 1; /* one alone sends nothing */
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        team_counts used[3]; /* by 5 iterations, 15, and 25; the first finds facts of A, too */
        for (int i = 0; i < 3; i++) {
            const team_counts before = s.ctx->team->counts;
            char options[100];
            snprintf(options, sizeof options,
                     "method=%s precon=jacobi max-iter=%d tol=1e-12 keep=last", cases[k].method,
                     5 + 10 * i);
            same_bits(&s, options);
            used[i].reductions = s.ctx->team->counts.reductions - before.reductions;
            used[i].begun = s.ctx->team->counts.begun - before.begun;
        }
        assert_int_equal(used[2].reductions - used[1].reductions, several * 10 * cases[k].sent);
        assert_int_equal(used[2].begun - used[1].begun, several * 10 * cases[k].begun);
    }
    system_close(&s);
}

/* New values: a solver that is kept solves with them as a new one does with a new matrix, to the
 * bit; and what is no set of values fails on all ranks. */
static void new_values(void **state)
{
    (void)state;
    static const char *const options[] = {"method=gmres precon=jacobi format=sell",
                                          "method=bicg precon=none",
                                          "method=gmres precon=ilu format=csr",
                                          "method=cg precon=amg",
                                          "method=gmres precon=sai",
                                          "method=cg precon=fsai:power=2"};
    for (int way = 0; way < RANKS_WAYS; way++)
        for (size_t k = 0; k < sizeof options / sizeof *options; k++) {
            spry_context *ctx = ranks_context(NULL);
            spry_matrix *whole = NULL, *A = NULL, *fresh = NULL;
            spry_solver *kept = NULL;
            spry_vector *b = NULL, *x = NULL, *y = NULL;
            int64_t starts[16];
            assert_ok(ctx, spry_generate(ctx, "poisson2d", "size=17", &whole));
            ranks_starts(ctx, (ranks_way)way, whole->a.rows, 1, starts);
            assert_ok(ctx, dist_from_whole(whole, starts, NULL, &A));
            assert_ok(ctx, spry_vector_ones(ctx, A, &b));
            assert_ok(ctx, spry_vector_zeros(ctx, A, &x));
            assert_ok(ctx, spry_vector_zeros(ctx, A, &y));
            assert_ok(ctx, spry_solver_new(ctx, &kept));
            assert_ok(ctx, spry_solver_set(kept, options[k]));
            assert_ok(ctx, spry_solver_set_matrix(kept, A));
            assert_ok(ctx, spry_solve(kept, b, x, NULL));
            double *values = whole->a.values;
            for (int64_t i = 0; i < whole->a.rows; i++) /* more on the diagonal */
                for (int64_t e = whole->a.offsets[i]; e < whole->a.offsets[i + 1]; e++)
                    values[e] += whole->a.col_index[e] == i ? 0.25 * (double)(i % 5) : 0;
            matrix_changed(whole);
            const int64_t first = whole->a.offsets[starts[spry_context_rank(ctx)]];
            const bool bad = spry_context_rank(ctx) == 0;
            if (spry_context_ranks(ctx) > 1 && way == RANKS_EVEN)
                assert_status(
                    ctx, SPRY_STATUS_BAD_USAGE,
                    spry_matrix_set_values(A, bad ? NULL : values + first, SPRY_OWN_COPY));
            assert_ok(ctx, spry_matrix_set_values(A, values + first, SPRY_OWN_COPY));
            assert_ok(ctx, spry_vector_fill(x, (spry_scalar){0, 0}));
            assert_ok(ctx, spry_solve(kept, b, x, NULL));
            assert_ok(ctx, dist_from_whole(whole, starts, NULL, &fresh));
            assert_ok(ctx, spry_quick_solve(ctx, fresh, b, y, options[k], NULL));
            assert_memory_equal(x->data, y->data, (size_t)x->n * sizeof(double));
            spry_solver_free(kept);
            spry_vector_free(b);
            spry_vector_free(x);
            spry_vector_free(y);
            spry_matrix_free(A);
            spry_matrix_free(fresh);
            spry_matrix_free(whole);
            support_context_free(ctx);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(methods_even),     cmocka_unit_test(methods_odd),
        cmocka_unit_test(methods_converge), cmocka_unit_test(blocks),
        cmocka_unit_test(side_by_side),     cmocka_unit_test(one_space),
        cmocka_unit_test(sums_under_way),   cmocka_unit_test(new_values)};
    MPI_Init(NULL, NULL);
    cmocka_set_test_filter(getenv("SPRY_TEST")); /* NULL: all */
    return ranks_run(cmocka_run_group_tests(tests, NULL, NULL));
}
