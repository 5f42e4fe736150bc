/* Multigrid across ranks: levels that move to fewer ranks, ranks without rows, new values, and a
 * rank that has no memory in the midst of it. */
#include "mpi/systems.h"

#include "precon/amg/amg.h"
#include "support/spec.h"

/* Of more than 10,000 rows, which would be gathered at once; thirds of it are not. */
static const char small[] = "size=101", large[] = "size=190";

static void make(const system_t *s, const char *spec, spry_operator **M)
{
    char name[32];
    bool made = false;
    const precon_spec read = support_spec(s->ctx, spec);
    assert_ok(s->ctx, precon_make_across(s->A, &read, NULL, &made, M, name));
    assert_true(made);
}

/* How the last level comes to all ranks: by one gather, which takes of each what the one with most
 * rows has, or from few ranks without. */
static void count_gathers(const system_t *s, const spry_operator *M)
{
    const amg *h = M->state;
    const amg_level *last = &h->levels[h->count - 1];
    int64_t with_rows;
    spry_vector *z;
    assert_ok(s->ctx, team_sum(s->ctx, last->rows > 0, &with_rows));
    assert_ok(s->ctx, spry_vector_zeros(s->ctx, s->A, &z));
    const int64_t before = s->ctx->team->counts.reductions;
    assert_ok(s->ctx, spry_operator_apply(M, s->b, z));
    const int64_t after = s->ctx->team->counts.reductions;
    assert_true((after > before) == (4 * with_rows > spry_context_ranks(s->ctx)));
    spry_vector_free(z);
}

/* Levels are the same wherever their rows are: all rows are there, on as many ranks as are to have
 * some, and iterations are about as many. */
static void fewer_ranks(void **state)
{
    (void)state;
    static const char *const specs[] = {"amg:rank-rows=1", "amg", "amg:rank-rows=2000",
                                        "amg:rank-rows=4000", "amg:rank-rows=1000000"};
    static const int64_t least[] = {1, 1000, 2000, 4000, 1000000};
    system_t s;
    int64_t iterations = 0, level_rows = 0;
    system_open(&s, NULL, "anisotropic", large, RANKS_FIRST_EMPTY, 1);
    const int ranks = spry_context_ranks(s.ctx), busy = ranks > 1 ? ranks - 1 : 1;
    for (int k = 0; k < 5; k++) {
        spry_operator *M = NULL;
        spry_result result = SPRY_RESULT_INIT;
        spry_vector *x;
        char options[64];
        if (s.A->distributed) {
            int64_t all, with_rows;
            make(&s, specs[k], &M);
            const amg *h = M->state;
            assert_true(h->count > 1);
            const int64_t own = h->levels[1].rows;
            assert_ok(s.ctx, team_sum(s.ctx, own, &all));
            assert_ok(s.ctx, team_sum(s.ctx, own > 0, &with_rows));
            assert_in_range(all, 10001, s.B->n / 2); /* else it would be gathered */
            level_rows = k == 0 ? all : level_rows;
            assert_int_equal(all, level_rows);
            const int64_t wanted = all / least[k] > 1 ? all / least[k] : 1;
            assert_int_equal(with_rows, wanted < busy ? wanted : busy);
            count_gathers(&s, M);
            spry_operator_free(M);
        }
        snprintf(options, sizeof options, "method=cg precon=%s", specs[k]);
        assert_ok(s.ctx, spry_vector_zeros(s.ctx, s.A, &x));
        assert_ok(s.ctx, spry_quick_solve(s.ctx, s.A, s.b, x, options, &result));
        assert_true(result.converged);
        iterations = k == 0 ? result.iterations : iterations;
        assert_in_range(result.iterations, iterations - 1, iterations + 1);
        spry_result_clear(s.ctx, &result);
        spry_vector_free(x);
    }
    system_close(&s);
}

/* Smoothers that are preconditioners of own blocks, of which some ranks have none. */
static void ranks_without_rows(void **state)
{
    (void)state;
    static const ranks_way ways[] = {RANKS_FIRST_EMPTY, RANKS_ALL_ON_LAST};
    for (int k = 0; k < 2; k++) {
        system_t s;
        spry_result result = SPRY_RESULT_INIT;
        spry_vector *x;
        system_open(&s, NULL, "convection-diffusion", small, ways[k], 1);
        assert_ok(s.ctx, spry_vector_zeros(s.ctx, s.A, &x));
        assert_ok(s.ctx, spry_quick_solve(s.ctx, s.A, s.b, x, "method=gmres precon=amg", &result));
        assert_true(result.converged);
        assert_string_equal(result.precon, "amg");
        spry_result_clear(s.ctx, &result);
        spry_vector_free(x);
        system_close(&s);
    }
}

/* Aggregates stay where values change. Those of twice the matrix are its own, so that what was
 * brought up to date is what is made again, to the bit. */
static void new_values(void **state)
{
    (void)state;
    static const ranks_way ways[] = {RANKS_EVEN, RANKS_FIRST_EMPTY};
    for (int k = 0; k < 2; k++) {
        system_t s;
        spry_operator *kept = NULL, *fresh = NULL;
        spry_vector *x, *y;
        system_open(&s, NULL, "anisotropic", small, ways[k], 1);
        if (s.A->distributed) {
            assert_ok(s.ctx, spry_vector_zeros(s.ctx, s.A, &x));
            assert_ok(s.ctx, spry_vector_zeros(s.ctx, s.A, &y));
            make(&s, "amg:rank-rows=100000", &kept);
            double *values = s.whole->a.values;
            for (int64_t e = 0; e < s.whole->a.nnz; e++)
                values[e] *= 2;
            values += s.whole->a.offsets[s.rows.first];
            assert_ok(s.ctx, spry_matrix_set_values(s.A, values, SPRY_OWN_COPY));
            assert_ok(s.ctx, spry_operator_update(kept, s.A));
            make(&s, "amg:rank-rows=100000", &fresh);
            assert_ok(s.ctx, spry_operator_apply(kept, s.b, x));
            assert_ok(s.ctx, spry_operator_apply(fresh, s.b, y));
            assert_memory_equal(x->data, y->data, (size_t)x->n * sizeof(double));
            spry_operator_free(kept);
            spry_operator_free(fresh);
            spry_vector_free(x);
            spry_vector_free(y);
        }
        system_close(&s);
    }
}

/* Makes one, applies it every way, and brings it up to date, as far as that goes. */
static spry_status use(const system_t *s, spry_vector *z, spry_operator **M)
{
    const spry_scalar one = {1, 0};
    char name[32];
    bool made;
    const precon_spec spec = support_spec(s->ctx, "amg");
    spry_status status = precon_make_across(s->A, &spec, NULL, &made, M, name);
    for (int t = 0; t < 3 && status == SPRY_STATUS_OK; t++)
        status = spry_operator_multiply(*M, (spry_transpose)t, one, s->b, (spry_scalar){0, 0}, z);
    return status == SPRY_STATUS_OK ? spry_operator_update(*M, s->A) : status;
}

/* The nth allocation of one rank fails, between messages of all. */
static void memory_of(const char *kind, const char *matrix)
{
    system_t s;
    spry_vector *z;
    system_open(&s, NULL, kind, matrix, RANKS_EVEN, 1);
    const int ranks = spry_context_ranks(s.ctx);
    const int fewer = getenv("SPRY_TEST_EVERY") ? 0 : 1; /* and fewer of the places */
    assert_ok(s.ctx, spry_vector_zeros(s.ctx, s.A, &z));
    for (int nth = 1, fine = 0; s.A->distributed && fine < ranks; nth += 1 + fewer * nth / 3) {
        spry_operator *M = NULL;
        int64_t before, after;
        spry_context_memory(s.ctx, &before, NULL);
        if (spry_context_rank(s.ctx) == nth % ranks)
            base_fail_allocation(s.ctx, nth, false);
        const spry_status status = use(&s, z, &M);
        base_fail_allocation(s.ctx, 0, false);
        ranks_alike(s.ctx, status);
        fine = status == SPRY_STATUS_OK ? fine + 1 : 0;
        if (status != SPRY_STATUS_OK)
            assert_int_equal(status, SPRY_STATUS_NO_MEMORY);
        spry_operator_free(M);
        spry_context_memory(s.ctx, &after, NULL);
        if (after != before)
            fail_msg("%s, allocation %d: %lld bytes stay", kind, nth, (long long)(after - before));
    }
    spry_vector_free(z);
    system_close(&s);
}

static void memory(void **state)
{
    (void)state;
    memory_of("helmholtz", "nx=101 ny=101 nz=1"); /* not hermitian, and complex */
    if (getenv("SPRY_TEST_EVERY"))
        memory_of("anisotropic", small);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(fewer_ranks),
                                       cmocka_unit_test(ranks_without_rows),
                                       cmocka_unit_test(new_values), cmocka_unit_test(memory)};
    MPI_Init(NULL, NULL);
    cmocka_set_test_filter(getenv("SPRY_TEST")); /* NULL: all */
    return ranks_run(cmocka_run_group_tests(tests, NULL, NULL));
}
