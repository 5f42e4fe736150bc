/*
 * Preconditioners that are made of the whole matrix across ranks: with repeat=strict they have the
 * bits that they have without ranks, for any number of them and odd partitions. What one rank
 * cannot do fails on all of them.
 */
#include "mpi/systems.h"

#include "precon/precon.h"
#include "support/spec.h"

#include <float.h>

typedef struct kase {
    const char *method, *precon;
} kase;

static void same_of(ranks_way way, const char *kind, const char *matrix, int count,
                    const kase *cases)
{
    system_t s;
    char options[160];
    system_open(&s, "repeat=strict", kind, matrix, way, GRAIN);
    for (int k = 0; k < count; k++) {
        snprintf(options, sizeof options,
                 "method=%s precon=%s max-iter=9 tol=1e-12 keep=last restart=4 format=csr",
                 cases[k].method, cases[k].precon);
        same_bits(&s, options);
    }
    system_close(&s);
}

/* Every way to a pattern: all of A, what is large, powers, rows that are cut, growth. */
static void same_even(void **state)
{
    (void)state;
    static const kase general[] = {{"bicgstab", "sai"},
                                   {"gmres", "sai:side=left"},
                                   {"gmres", "sai:tau=0.7,power=2"},
                                   {"gmres", "sai:power=3,most=9"},
                                   {"gmres", "sai:most=3"},
                                   {"bicg", "isai"}};
    static const kase definite[] = {{"cg", "fsai"},
                                    {"cg", "fsai:power=2,most=5"},
                                    {"pipecg", "fsai:growth=3,add=2"},
                                    {"minres", "fsai:tau=0.5,shift=0.1"}};
    static const kase indefinite[] = {{"gmres", "sai:power=2"}, {"bicg", "sai:side=left"}};
    same_of(RANKS_EVEN, "convection-diffusion", "size=130", 6, general);
    same_of(RANKS_EVEN, "poisson2d", "size=130", 4, definite);
    same_of(RANKS_EVEN, "helmholtz", "nx=130 ny=130 nz=1", 2, indefinite);
}

static void same_odd(void **state)
{
    (void)state;
    static const kase general[] = {{"gmres", "sai"}, {"gmres", "isai:power=2"}};
    static const kase definite[] = {{"cg", "fsai:growth=2"}};
    same_of(RANKS_FIRST_EMPTY, "convection-diffusion", "size=130", 2, general);
    same_of(RANKS_ALL_ON_LAST, "convection-diffusion", "size=130", 2, general);
    same_of(RANKS_FIRST_SMALL, "poisson2d", "size=130", 1, definite);
}

/* M r on ranks and without: of plain products the bits, of transposed ones, which are summed up in
 * another order, as many digits as sums of so few numbers have. */
static void compare(system_t *s, const char *spec, const spry_operator *ranked,
                    const spry_operator *single, spry_transpose transpose)
{
    const spry_scalar one = {1, 0}, zero = {0, 0};
    const double unit = type_is_single(s->b->type) ? FLT_EPSILON : DBL_EPSILON;
    spry_vector *z, *Z;
    assert_ok(s->ctx, spry_vector_zeros(s->ctx, s->A, &z));
    assert_ok(s->alone, spry_vector_zeros(s->alone, s->whole, &Z));
    assert_ok(s->ctx, spry_operator_multiply(ranked, transpose, one, s->b, zero, z));
    assert_ok(s->alone, spry_operator_multiply(single, transpose, one, s->B, zero, Z));
    const double least = transpose == SPRY_TRANSPOSE_NO ? 0 : 256 * unit;
    for (int64_t i = 0; i < z->n; i++) {
        const spry_scalar a = value_get(z->type, z->data, i),
                          b = value_get(Z->type, Z->data, s->cols.first + i);
        if (!(fabs(a.re - b.re) + fabs(a.im - b.im) <= least * (1 + fabs(b.re) + fabs(b.im))))
            fail_msg("%s, transpose %d: row %lld is %.17g %.17g, without ranks %.17g %.17g", spec,
                     (int)transpose, (long long)(s->cols.first + i), a.re, a.im, b.re, b.im);
    }
    spry_vector_free(z);
    spry_vector_free(Z);
}

/* Cuts anywhere, of every type. */
static void check_products(system_t *s, const char *spec)
{
    spry_operator *ranked = NULL, *single = NULL;
    char name[32];
    bool made = true;
    const precon_spec read = support_spec(s->ctx, spec);
    if (s->A->distributed)
        assert_ok(s->ctx, precon_make_across(s->A, &read, NULL, &made, &ranked, name));
    else
        assert_ok(s->ctx, spry_precon_new(s->A, NULL, spec, &ranked));
    assert_true(made);
    assert_ok(s->alone, spry_precon_new(s->whole, NULL, spec, &single));
    for (int t = 0; t < 3; t++)
        compare(s, spec, ranked, single, (spry_transpose)t);
    spry_operator_free(ranked);
    spry_operator_free(single);
}

static void products(void **state)
{
    (void)state;
    static const struct {
        const char *kind, *matrix, *spec;
    } cases[] = {{"helmholtz", "nx=13 ny=11 nz=3", "sai:power=2"},
                 {"helmholtz", "nx=13 ny=11 nz=3", "isai:side=left"},
                 {"circuit", "size=300", "sai:power=2,most=40"},
                 {"circuit", "size=300", "sai:tau=0.8,side=left,power=2"},
                 {"elasticity", "size=4", "fsai:growth=9,add=3"},
                 {"elasticity", "size=4", "fsai:power=2,tau=0.9"},
                 {"poisson3d", "size=6 type=s", "fsai:power=2"},
                 {"tridiagonal", "size=5", "sai:power=8"},
                 {"tridiagonal", "size=3 type=c", "fsai:growth=20"},
                 /* so small that all ranks have it whole */
                 {"anisotropic", "size=30", "amg"},
                 {"tridiagonal", "size=5", "amg:coarse-size=1"},
                 {"elasticity", "size=5", "amg:coarse-size=30"},
                 {"helmholtz", "nx=13 ny=11 nz=3", "amg:coarse-size=30"}};
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++)
        for (int way = 0; way < RANKS_WAYS; way++) {
            system_t s;
            system_open(&s, NULL, cases[k].kind, cases[k].matrix, (ranks_way)way, 1);
            check_products(&s, cases[k].spec);
            system_close(&s);
        }
}

/* Rows of any order, whose diagonal entries are given by halves, in the order of the other ones. */
static void give_reversed(system_t *s)
{
    const matrix_arrays *w = &s->whole->a;
    const int64_t rows = s->b->n, from = w->offsets[s->rows.first];
    const int64_t most = w->offsets[s->rows.first + rows] - from + rows;
    int64_t *offsets = calloc((size_t)rows + 1, sizeof *offsets), n = 0;
    int64_t *columns = calloc((size_t)most + 1, sizeof *columns);
    double *values = calloc((size_t)most + 1, sizeof *values);
    for (int64_t i = 0; i < rows; i++) {
        const int64_t row = s->rows.first + i;
        for (int64_t k = w->offsets[row + 1] - 1; k >= w->offsets[row]; k--) {
            const int times = w->col_index[k] == row ? 2 : 1;
            for (int t = 0; t < times; t++) {
                columns[n] = w->col_index[k];
                values[n++] = ((const double *)w->values)[k] / times;
            }
        }
        offsets[i + 1] = n;
    }
    spry_matrix_free(s->A);
    assert_ok(s->ctx, spry_matrix_new_ranked(s->ctx, SPRY_TYPE_D, rows, -1, offsets, columns,
                                             values, &s->A));
    free(offsets);
    free(columns);
    free(values);
}

static void any_order(void **state)
{
    (void)state;
    static const struct {
        const char *kind, *matrix, *spec;
    } cases[] = {{"circuit", "size=300", "sai:power=2,most=40"},
                 {"convection-diffusion", "size=9", "isai:side=left"},
                 {"elasticity", "size=4", "fsai:growth=3,add=3"},
                 {"poisson2d", "size=30", "amg"}};
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        system_t s;
        system_open(&s, NULL, cases[k].kind, cases[k].matrix, RANKS_EVEN, 1);
        give_reversed(&s);
        check_products(&s, cases[k].spec);
        system_close(&s);
    }
}

/* Other vectors than the matrix's nodes have unknowns. */
static void near_null(void **state)
{
    (void)state;
    enum { COUNT = 2 };
    system_t s;
    spry_vector *ranked[COUNT], *single[COUNT];
    system_open(&s, NULL, "elasticity", "size=5", RANKS_EVEN, 3);
    for (int c = 0; c < COUNT; c++) {
        assert_ok(s.ctx, spry_vector_zeros(s.ctx, s.A, &ranked[c]));
        assert_ok(s.alone, spry_vector_zeros(s.alone, s.whole, &single[c]));
        for (int64_t i = 0; i < s.B->n; i++)
            value_set(SPRY_TYPE_D, single[c]->data, i,
                      support_number(SPRY_TYPE_D, 9 + (uint64_t)c, (uint64_t)i));
        memcpy(ranked[c]->data, (double *)single[c]->data + s.rows.first,
               (size_t)ranked[c]->n * sizeof(double));
    }
    assert_ok(s.ctx, spry_matrix_set_near_null(s.A, COUNT, (const spry_vector *const *)ranked));
    assert_ok(s.alone,
              spry_matrix_set_near_null(s.whole, COUNT, (const spry_vector *const *)single));
    check_products(&s, "amg:coarse-size=30");
    /* On one rank alone. */
    const bool bad = spry_context_rank(s.ctx) == spry_context_ranks(s.ctx) - 1;
    spry_vector *x;
    assert_ok(s.ctx, spry_vector_zeros(s.ctx, s.A, &x));
    assert_ok(s.ctx, spry_matrix_set_near_null(s.A, bad, (const spry_vector *const *)ranked));
    const spry_status status = spry_quick_solve(s.ctx, s.A, s.b, x, "method=cg precon=amg", NULL);
    ranks_alike(s.ctx, status);
    if (s.A->distributed)
        support_message_has(s.ctx, "a rank has 0 near-null vectors and another one 1");
    spry_vector_free(x);
    for (int c = 0; c < COUNT; c++) {
        spry_vector_free(ranked[c]);
        spry_vector_free(single[c]);
    }
    system_close(&s);
}

/* The nth allocation of one rank of three fails, at every place of making them. */
static void memory(void **state)
{
    (void)state;
    static const char *const specs[] = {"sai:power=2", "fsai:growth=2", "amg"};
    spry_context *ctx = ranks_context(NULL);
    const int ranks = spry_context_ranks(ctx);
    spry_matrix *W = NULL, *A = NULL;
    assert_ok(ctx, spry_generate(ctx, "poisson2d", "size=6", &W));
    assert_ok(ctx, spry_matrix_distribute(W, &A));
    spry_matrix_free(W);
    for (size_t k = 0; ranks == 3 && k < sizeof specs / sizeof *specs; k++) {
        /* Until there are no more allocations, on any rank; some failures are got over. */
        for (int nth = 1, fine = 0; fine < 2 * ranks; nth++) {
            spry_operator *M = NULL;
            char name[32];
            bool made;
            int64_t before, after;
            spry_context_memory(ctx, &before, NULL);
            base_fail_allocation(ctx, spry_context_rank(ctx) == nth % ranks ? nth : 0, false);
            const precon_spec spec = support_spec(A->ctx, specs[k]);
            const spry_status status = precon_make_across(A, &spec, NULL, &made, &M, name);
            base_fail_allocation(ctx, 0, false);
            ranks_alike(ctx, status);
            fine = status == SPRY_STATUS_OK ? fine + 1 : 0;
            if (status != SPRY_STATUS_OK)
                assert_int_equal(status, SPRY_STATUS_NO_MEMORY);
            spry_operator_free(M);
            spry_context_memory(ctx, &after, NULL);
            if (after != before)
                fail_msg("%s, allocation %d: %lld bytes stay", specs[k], nth,
                         (long long)(after - before));
        }
    }
    spry_matrix_free(A);
    support_context_free(ctx);
}

/* A matrix that a kind is not for, in rows of one rank alone. */
static void refused(void **state)
{
    (void)state;
    spry_context *ctx = ranks_context(NULL);
    const int ranks = spry_context_ranks(ctx);
    spry_matrix *W = NULL, *A = NULL;
    spry_vector *b, *x;
    assert_ok(ctx, spry_generate(ctx, "poisson2d", "size=8", &W));
    double *values = W->a.values;
    values[W->a.nnz - 1] = -4; /* the last diagonal entry */
    matrix_changed(W);
    assert_ok(ctx, spry_matrix_distribute(W, &A));
    assert_ok(ctx, spry_vector_ones(ctx, A, &b));
    assert_ok(ctx, spry_vector_zeros(ctx, A, &x));
    spry_status status = spry_quick_solve(ctx, A, b, x, "method=cg precon=fsai", NULL);
    assert_status(ctx, SPRY_STATUS_BAD_INPUT, status);
    ranks_alike(ctx, status);
    support_message_has(ctx, "row 63 (from 0): the diagonal entry is not positive");
    if (ranks > 1) {
        status = spry_quick_solve(ctx, A, b, x, "method=cg precon=sai:precision=single", NULL);
        assert_status(ctx, SPRY_STATUS_UNSUPPORTED, status);
        support_message_has(ctx, "block-jacobi:inner=[sai:precision=single]");
    }
    spry_matrix_free(A);
    values[W->a.nnz - 1] = 4;
    values[W->a.nnz - 2] = -2; /* not what its mirror is */
    matrix_changed(W);
    assert_ok(ctx, spry_matrix_distribute(W, &A));
    status = spry_quick_solve(ctx, A, b, x, "method=gmres precon=fsai", NULL);
    assert_status(ctx, SPRY_STATUS_BAD_INPUT, status);
    ranks_alike(ctx, status);
    support_message_has(ctx, "take sai or isai");
    spry_vector_free(b);
    spry_vector_free(x);
    spry_matrix_free(A);
    spry_matrix_free(W);
    support_context_free(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(memory),    cmocka_unit_test(same_even),
                                       cmocka_unit_test(same_odd),  cmocka_unit_test(products),
                                       cmocka_unit_test(any_order), cmocka_unit_test(near_null),
                                       cmocka_unit_test(refused)};
    MPI_Init(NULL, NULL);
    cmocka_set_test_filter(getenv("SPRY_TEST")); /* NULL: all */
    return ranks_run(cmocka_run_group_tests(tests, NULL, NULL));
}
