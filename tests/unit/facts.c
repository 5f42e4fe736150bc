/* What is known of a matrix: who says so, what is carried along, what is forgotten, and that
 * nothing is computed twice. */
#include "support/files.h"
#include "support/support.h"

#include "operator/operator.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static spry_truth found(const spry_matrix *A, spry_fact fact)
{
    spry_truth truth;
    assert_ok(A->ctx, spry_matrix_find_fact(A, fact, &truth));
    return truth;
}

/* A copy of which nothing is known. */
static spry_matrix *copy_of(const spry_matrix *A)
{
    spry_matrix *B;
    assert_ok(A->ctx, spry_matrix_convert(A, A->a.format, &B));
    matrix_forget(B, FACTS_ALL);
    return B;
}

/* What is known of A must be what a fresh look finds. */
static void assert_true_facts(const spry_matrix *A)
{
    spry_matrix *B = copy_of(A);
    for (int f = 0; f < SPRY_FACT_COUNT; f++) {
        const spry_truth known = spry_matrix_fact(A, (spry_fact)f);
        if (known != SPRY_TRUTH_UNKNOWN && f != SPRY_FACT_DEFINITE)
            if (known != found(B, (spry_fact)f))
                fail_msg("%s: noted %d, found %d", fact_name((spry_fact)f), known,
                         found(B, (spry_fact)f));
    }
    spry_matrix_free(B);
}

static void a_file_that_says_symmetric_is_believed(void **state)
{
    static const char *const kinds[] = {"real symmetric", "complex hermitian", "complex symmetric",
                                        "real general"};
    const char *path = files_path("facts.mtx");
    for (int k = 0; k < 4; k++) {
        const bool is_complex = k == 1 || k == 2;
        FILE *file = fopen(path, "w");
        fprintf(file, "%%%%MatrixMarket matrix coordinate %s\n2 2 3\n", kinds[k]);
        fputs(is_complex ? "1 1 2 0\n2 1 1 1\n2 2 3 0\n" : "1 1 2\n2 1 1\n2 2 3\n", file);
        fclose(file);
        spry_matrix *A;
        assert_ok(*state, spry_matrix_read(*state, path, NULL, &A));
        const spry_truth yes = SPRY_TRUTH_YES, unknown = SPRY_TRUTH_UNKNOWN;
        assert_int_equal(spry_matrix_fact(A, SPRY_FACT_SORTED), yes);
        assert_int_equal(spry_matrix_fact(A, SPRY_FACT_UNIQUE), yes);
        assert_int_equal(spry_matrix_fact(A, SPRY_FACT_FINITE), yes);
        assert_int_equal(spry_matrix_fact(A, SPRY_FACT_HERMITIAN), k < 2 ? yes : unknown);
        assert_int_equal(spry_matrix_fact(A, SPRY_FACT_SYMMETRIC),
                         k == 0 || k == 2 ? yes : unknown);
        assert_int_equal(spry_matrix_fact(A, SPRY_FACT_DEFINITE), unknown);
        assert_true_facts(A);
        spry_matrix_free(A);
    }
}

/* Whether Cholesky's method comes to the end: A's leading blocks are positive definite. */
static bool is_definite(const spry_matrix *A)
{
    const int64_t n = A->a.rows;
    spry_scalar *l = calloc((size_t)(n * n), sizeof *l);
    for (int64_t i = 0; i < n; i++)
        for (int64_t k = A->a.offsets[i]; k < A->a.offsets[i + 1]; k++)
            l[i * n + A->a.col_index[k]] = value_get(A->a.type, A->a.values, k);
    bool fine = true;
    for (int64_t j = 0; j < n && fine; j++) {
        fine = l[j * n + j].re > 0;
        for (int64_t i = j + 1; i < n; i++) { /* eliminates column j of what is left */
            const double re = l[i * n + j].re / l[j * n + j].re,
                         im = l[i * n + j].im / l[j * n + j].re;
            for (int64_t k = j + 1; k < n; k++) {
                const spry_scalar u = l[j * n + k];
                l[i * n + k].re -= re * u.re - im * u.im;
                l[i * n + k].im -= re * u.im + im * u.re;
            }
        }
    }
    free(l);
    return fine;
}

static void generators_say_what_is_so(void **state)
{
    spry_entry kind = SPRY_ENTRY_INIT;
    int claims = 0;
    for (int k = 0; spry_list_at(SPRY_LIST_GENERATORS, k, &kind); k++)
        for (int t = 0; t < 4 && strcmp(kind.name, "tiled") != 0; t++) {
            char options[64];
            spry_matrix *A;
            snprintf(options, sizeof options, "size=%d type=%s",
                     strcmp(kind.name, "elasticity") == 0 ? 2 : 5,
                     spry_type_name(support_types[t]));
            assert_ok(*state, spry_generate(*state, kind.name, options, &A));
            assert_int_equal(spry_matrix_fact(A, SPRY_FACT_FINITE), SPRY_TRUTH_YES);
            assert_true_facts(A);
            if (spry_matrix_fact(A, SPRY_FACT_DEFINITE) == SPRY_TRUTH_YES) {
                assert_true(is_definite(A));
                claims++;
            }
            spry_matrix_free(A);
        }
    assert_int_equal(claims, 7 * 4);
}

/* The largest numbers that options allow are numbers in single precision, too. */
static void generated_numbers_are_finite(void **state)
{
    static const struct {
        const char *kind, *options;
    } cases[] = {{"helmholtz", "size=6 layer=3 absorption=1e12 wavelength=2 type=c"},
                 {"convection-diffusion", "size=6 peclet=1e12 type=s"},
                 {"anisotropic", "size=6 epsilon=1e12 angle=30 type=s"},
                 {"random", "size=50 dominance=1e6 per-row=40 type=s"},
                 {"elasticity", "size=3 nu=0.4999 type=s"},
                 {"diffusion", "size=6 nz=6 jump=30 type=s"},
                 {"stokes", "size=3 elements=q1q1 jump=30 type=s"},
                 {"maxwell", "size=3 sigma=1e12 jump=30 type=c"},
                 {"graph", "size=50 ground=1e12 type=s"},
                 {"interior-point", "size=100 decades=60 type=s"},
                 {"circuit", "size=300 nets=64 net-share=1 transistors=1 type=s"}};
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        spry_matrix *A, *tiled;
        assert_ok(*state, spry_generate(*state, cases[k].kind, cases[k].options, &A));
        assert_ok(*state, spry_generate_tiled(A, 100, &tiled));
        assert_int_equal(spry_matrix_fact(tiled, SPRY_FACT_FINITE), SPRY_TRUTH_YES);
        assert_ok(*state, matrix_check_values(A));
        assert_ok(*state, matrix_check_values(tiled));
        assert_true_facts(A); /* which looks at the numbers again */
        spry_matrix_free(tiled);
        spry_matrix_free(A);
    }
}

/* Entries that differ by as many roundings of sqrt(|a_ii a_jj|) are the same or not, however rows
 * and columns are scaled alike. */
static void what_is_the_same_up_to_rounding(void **state)
{
    for (int t = 0; t < 2; t++)
        for (int power = -60; power <= 60; power += 60)
            for (int more = 0; more < 2; more++) {
                const double unit = t == 0 ? FLT_EPSILON / 2.0 : DBL_EPSILON / 2;
                const double off = ldexp(1 + (more ? 4096 : 512) * unit * 2, power);
                const double rows[] = {2, ldexp(1, power), off, ldexp(2, 2 * power)};
                spry_matrix *A = support_from_rows(*state, support_types[t], 2, 2, rows);
                const spry_truth expected = more ? SPRY_TRUTH_NO : SPRY_TRUTH_YES;
                assert_int_equal(found(A, SPRY_FACT_SYMMETRIC), expected);
                assert_int_equal(spry_matrix_fact(A, SPRY_FACT_HERMITIAN), expected);
                spry_matrix_free(A);
            }
}

static void triangles_and_patterns_are_distinguished(void **state)
{
    const double upper[] = {1, 1, 0, 1}, lower[] = {1, 0, 1, 1}, tiny[] = {1, 0, 1e-17, 1};
    spry_matrix *A = support_from_rows(*state, SPRY_TYPE_D, 2, 2, upper);
    assert_int_equal(found(A, SPRY_FACT_SYMMETRIC), SPRY_TRUTH_NO);
    assert_int_equal(found(A, SPRY_FACT_PATTERN_SYMMETRIC), SPRY_TRUTH_NO);
    spry_matrix_free(A);
    A = support_from_rows(*state, SPRY_TYPE_D, 2, 2, lower);
    assert_int_equal(found(A, SPRY_FACT_SYMMETRIC), SPRY_TRUTH_NO);
    spry_matrix_free(A);
    A = support_from_rows(*state, SPRY_TYPE_D, 2, 2, tiny); /* a zero up to rounding */
    assert_int_equal(found(A, SPRY_FACT_SYMMETRIC), SPRY_TRUTH_YES);
    assert_int_equal(found(A, SPRY_FACT_PATTERN_SYMMETRIC), SPRY_TRUTH_NO);
    spry_matrix_free(A);
    const double wide[] = {1, 2, 3, 4, 5, 6};
    A = support_from_rows(*state, SPRY_TYPE_D, 2, 3, wide);
    assert_int_equal(found(A, SPRY_FACT_SYMMETRIC), SPRY_TRUTH_NO);
    assert_int_equal(found(A, SPRY_FACT_POSITIVE_DIAGONAL), SPRY_TRUTH_NO);
    spry_matrix_free(A);
    const double unsymmetric[] = {1, 2, 0, 3, 1, 4, 0, 5, 1}; /* of a symmetric pattern */
    A = support_from_rows(*state, SPRY_TYPE_D, 3, 3, unsymmetric);
    assert_int_equal(found(A, SPRY_FACT_SYMMETRIC), SPRY_TRUTH_NO);
    assert_int_equal(found(A, SPRY_FACT_PATTERN_SYMMETRIC), SPRY_TRUTH_YES);
    spry_matrix_free(A);
}

/* Matrices of all kinds through everything that makes one of another: what is carried along must be
 * true of what came out. */
static void what_is_carried_along_is_true(void **state)
{
    for (int t = 0; t < 4; t++)
        for (int format = SPRY_FORMAT_COO; format <= SPRY_FORMAT_CSC; format++)
            for (int symmetry = SPRY_SYMMETRY_GENERAL; symmetry <= SPRY_SYMMETRY_HERMITIAN;
                 symmetry++)
                for (int sorted = 0; sorted < 2; sorted++) {
                    const support_recipe recipe = {.type = support_types[t],
                                                   .format = (spry_format)format,
                                                   .symmetry = (spry_symmetry)symmetry,
                                                   .rows = 24,
                                                   .cols = 24,
                                                   .nnz = 90,
                                                   .seed = 5,
                                                   .sorted = sorted};
                    spry_matrix *A = support_matrix(*state, &recipe), *B;
                    for (int f = 0; f < SPRY_FACT_COUNT; f++)
                        found(A, (spry_fact)f);
                    assert_true_facts(A);
                    for (int other = SPRY_FORMAT_COO; other <= SPRY_FORMAT_CSC; other++) {
                        assert_ok(*state, spry_matrix_convert(A, (spry_format)other, &B));
                        assert_true_facts(B);
                        assert_ok(*state, matrix_become(B, (spry_format)((other + 1) % 3)));
                        assert_true_facts(B);
                        spry_matrix_free(B);
                    }
                    assert_ok(*state, spry_matrix_transpose(A, true, &B));
                    assert_true_facts(B);
                    spry_matrix_free(B);
                    assert_ok(*state, spry_matrix_cast(A, SPRY_TYPE_C, &B));
                    assert_true_facts(B);
                    spry_matrix_free(B);
                    assert_ok(*state, spry_matrix_expand(A, &B));
                    assert_true_facts(B);
                    spry_matrix *C;
                    assert_ok(*state,
                              spry_matrix_add((spry_scalar){2, 0}, A, (spry_scalar){-1, 0}, B, &C));
                    assert_true_facts(C);
                    spry_matrix_free(C);
                    assert_ok(*state, spry_matrix_gram(A, t >= 2, &C));
                    assert_true_facts(C);
                    spry_matrix_free(C);
                    spry_matrix_free(B);
                    int32_t perm[24];
                    for (int i = 0; i < 24; i++)
                        perm[i] = (int32_t)((i * 7 + 3) % 24);
                    for (int both = 0; both < 2; both++) {
                        assert_ok(*state, spry_matrix_permute(A, perm, both ? perm : NULL, &B));
                        assert_true_facts(B);
                        spry_matrix_free(B);
                    }
                    assert_ok(*state, spry_matrix_sum_duplicates(A));
                    assert_true_facts(A);
                    spry_matrix_free(A);
                }
}

static void new_values_make_facts_unknown(void **state)
{
    spry_matrix *A;
    spry_vector *left;
    assert_ok(*state, spry_generate(*state, "poisson2d", "size=4", &A));
    assert_ok(*state, spry_vector_ones(*state, A, &left));
    spry_vector_data(left);
    ((double *)spry_vector_data(left))[3] = NAN;
    assert_int_equal(found(A, SPRY_FACT_FINITE), SPRY_TRUTH_YES);
    assert_ok(*state, spry_matrix_scale(A, left, NULL));
    assert_int_equal(spry_matrix_fact(A, SPRY_FACT_SORTED), SPRY_TRUTH_YES);
    assert_int_equal(spry_matrix_fact(A, SPRY_FACT_FINITE), SPRY_TRUTH_UNKNOWN);
    assert_int_equal(spry_matrix_fact(A, SPRY_FACT_DEFINITE), SPRY_TRUTH_UNKNOWN);
    assert_int_equal(found(A, SPRY_FACT_FINITE), SPRY_TRUTH_NO);
    assert_int_equal(found(A, SPRY_FACT_HERMITIAN), SPRY_TRUTH_NO);
    spry_vector_free(left);
    spry_matrix_free(A);
}

static void the_caller_is_believed_but_for_safety(void **state)
{
    const int64_t offsets[] = {0, 2, 3};
    const int32_t columns[] = {1, 0, 1};
    const double values[] = {1, 1, 1};
    spry_matrix *A;
    assert_ok(*state, spry_matrix_from_csr(*state, SPRY_TYPE_D, 2, 2, offsets, columns, values,
                                           SPRY_OWN_COPY, &A));
    assert_ok(*state, spry_matrix_set_fact(A, SPRY_FACT_SYMMETRIC, SPRY_TRUTH_YES));
    assert_int_equal(spry_matrix_fact(A, SPRY_FACT_HERMITIAN), SPRY_TRUTH_YES);
    assert_ok(*state, spry_matrix_set_fact(A, SPRY_FACT_SYMMETRIC, SPRY_TRUTH_NO));
    assert_int_equal(spry_matrix_fact(A, SPRY_FACT_HERMITIAN), SPRY_TRUTH_NO);
    assert_ok(*state, spry_matrix_set_fact(A, SPRY_FACT_DEFINITE, SPRY_TRUTH_YES));
    assert_ok(*state, spry_matrix_set_fact(A, SPRY_FACT_DEFINITE, SPRY_TRUTH_UNKNOWN));
    assert_int_equal(spry_matrix_fact(A, SPRY_FACT_DEFINITE), SPRY_TRUTH_UNKNOWN);
    assert_status(*state, SPRY_STATUS_BAD_INPUT,
                  spry_matrix_set_fact(A, SPRY_FACT_SORTED, SPRY_TRUTH_YES));
    support_message_has(*state, "not sorted");
    assert_status(*state, SPRY_STATUS_BAD_USAGE,
                  spry_matrix_set_fact(A, SPRY_FACT_COUNT, SPRY_TRUTH_YES));
    assert_status(*state, SPRY_STATUS_BAD_USAGE,
                  spry_matrix_set_fact(A, SPRY_FACT_FINITE, (spry_truth)3));
    spry_matrix_free(A);
}

/* How often each fact of a matrix with so many entries was looked for. */
typedef struct tally {
    int64_t nnz;
    int looks[SPRY_FACT_COUNT];
} tally;

static void count_looks(void *data, spry_log_level level, const char *text)
{
    tally *t = data;
    char expected[128];
    (void)level;
    for (int f = 0; f < SPRY_FACT_COUNT; f++) {
        snprintf(expected, sizeof expected, "looking whether a matrix of %lld entries is %s",
                 (long long)t->nnz, fact_name((spry_fact)f));
        t->looks[f] += strcmp(text, expected) == 0;
    }
}

static void no_fact_is_looked_for_twice_in_a_solve(void **state)
{
    static const char *const options[] = {"",
                                          "precon=ic",
                                          "method=cg precon=ic",
                                          "precon=amg",
                                          "precon=direct",
                                          "precon=poly",
                                          "precon=fsai",
                                          "method=cg precon=jacobi"};
    (void)state;
    for (int known = 0; known < 2; known++)
        for (size_t k = 0; k < sizeof options / sizeof *options; k++) {
            spry_context *ctx = support_context("log=debug");
            tally t = {0};
            spry_matrix *A, *B;
            spry_vector *b, *x;
            spry_result result = {0};
            assert_ok(ctx, spry_generate(ctx, "anisotropic", "size=40", &A));
            B = known ? A : copy_of(A);
            assert_ok(ctx, spry_vector_ones(ctx, B, &b));
            assert_ok(ctx, spry_vector_zeros(ctx, B, &x));
            t.nnz = B->a.nnz;
            spry_context_set_log(ctx, count_looks, &t);
            assert_ok(ctx, spry_quick_solve(ctx, B, b, x, options[k], &result));
            spry_context_set_log(ctx, NULL, NULL);
            assert_true(result.converged);
            for (int f = 0; f < SPRY_FACT_COUNT; f++)
                if (t.looks[f] > 1)
                    fail_msg("%s: %s: looked for %d times", options[k], fact_name((spry_fact)f),
                             t.looks[f]);
            if (known) /* the generator has said it */
                assert_int_equal(t.looks[SPRY_FACT_HERMITIAN] + t.looks[SPRY_FACT_SORTED], 0);
            else
                assert_int_equal(t.looks[SPRY_FACT_SORTED], 1);
            spry_result_clear(ctx, &result);
            spry_vector_free(x);
            spry_vector_free(b);
            if (B != A)
                spry_matrix_free(B);
            spry_matrix_free(A);
            support_context_free(ctx);
        }
}

static void finding_out_fails_without_harm(void **state)
{
    for (int64_t nth = 1;; nth++) {
        spry_matrix *A = support_sorted(*state, SPRY_TYPE_Z, SUPPORT_UNIFORM, 20, 20, 60, 3);
        spry_truth truth;
        base_fail_allocation(*state, nth, false);
        const spry_status status = spry_matrix_find_fact(A, SPRY_FACT_HERMITIAN, &truth);
        base_fail_allocation(*state, 0, false);
        spry_matrix_free(A);
        if (status == SPRY_STATUS_OK)
            break;
        assert_int_equal(status, SPRY_STATUS_NO_MEMORY);
        assert_in_range(nth, 1, 100);
    }
}

/* What two say of one fact, one after the other or at once: the first is believed, and the fact
 * does not become unknown for good. */
static void the_first_word_stands(void **state)
{
    spry_matrix *A = support_from_rows(*state, SPRY_TYPE_D, 2, 2, (double[]){2, 1, 1, 2});
    matrix_forget(A, FACTS_ALL);
    assert_ok(*state, spry_matrix_set_fact(A, SPRY_FACT_HERMITIAN, SPRY_TRUTH_NO));
    assert_ok(*state, spry_matrix_set_fact(A, SPRY_FACT_SYMMETRIC, SPRY_TRUTH_UNKNOWN));
    assert_int_equal(found(A, SPRY_FACT_SYMMETRIC), SPRY_TRUTH_YES);
    assert_int_equal(spry_matrix_fact(A, SPRY_FACT_HERMITIAN), SPRY_TRUTH_NO);
    spry_matrix_free(A);
}

/* The statistics, the facts and products with an operator go by one measure: mirror images may be
 * 1,024 units of rounding apart. */
static spry_status product(void *data, spry_transpose op, const void *x, void *y)
{
    const double *a = data, *from = x;
    double *to = y;
    (void)op;
    for (int i = 0; i < 2; i++)
        to[i] = a[(ptrdiff_t)2 * i] * from[0] + a[2 * i + 1] * from[1];
    return SPRY_STATUS_OK;
}

static void one_measure_of_symmetry(void **state)
{
    const struct {
        double units;
        bool yes, sure; /* sure: products show it, too, with whatever random numbers */
    } cases[] = {{0, true, true},
                 {1, true, true},
                 {1000, true, true},
                 {5000, false, false},
                 {1e9, false, true}};
    for (int k = 0; k < 5; k++) {
        double a[] = {4, 1, 1 + cases[k].units * DBL_EPSILON / 2 * 4, 4};
        spry_matrix *A = support_from_rows(*state, SPRY_TYPE_D, 2, 2, a);
        spry_stats stats = SPRY_STATS_INIT;
        spry_operator *op = NULL;
        spry_solver *solver = NULL;
        spry_vector *b = NULL, *x = NULL;
        spry_result result = SPRY_RESULT_INIT;
        matrix_forget(A, FACTS_ALL);
        assert_ok(*state, spry_matrix_stats(A, &stats));
        assert_int_equal(stats.symmetric, cases[k].yes);
        assert_int_equal(stats.hermitian, cases[k].yes);
        assert_true(stats.value_symmetry == (cases[k].units == 0 ? 1 : 0)); /* bit by bit */
        assert_int_equal(found(A, SPRY_FACT_HERMITIAN),
                         cases[k].yes ? SPRY_TRUTH_YES : SPRY_TRUTH_NO);
        assert_ok(*state,
                  spry_operator_from_function(*state, SPRY_TYPE_D, 2, 2, false, product, a, &op));
        assert_ok(*state, spry_vector_ones(*state, A, &b));
        assert_ok(*state, spry_vector_zeros(*state, A, &x));
        assert_ok(*state, spry_solver_new(*state, &solver));
        assert_ok(*state, spry_solver_set_operator(solver, op));
        assert_ok(*state, spry_solve(solver, b, x, &result));
        if (cases[k].sure)
            assert_string_equal(result.method, cases[k].yes ? "cg" : "bicgstabl");
        spry_result_clear(*state, &result);
        spry_solver_free(solver);
        spry_operator_free(op);
        spry_vector_free(b);
        spry_vector_free(x);
        spry_matrix_free(A);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_file_that_says_symmetric_is_believed, support_setup,
                                        support_teardown),
        cmocka_unit_test_setup_teardown(generators_say_what_is_so, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(generated_numbers_are_finite, support_setup,
                                        support_teardown),
        cmocka_unit_test_setup_teardown(what_is_the_same_up_to_rounding, support_setup,
                                        support_teardown),
        cmocka_unit_test_setup_teardown(triangles_and_patterns_are_distinguished, support_setup,
                                        support_teardown),
        cmocka_unit_test_setup_teardown(what_is_carried_along_is_true, support_setup,
                                        support_teardown),
        cmocka_unit_test_setup_teardown(new_values_make_facts_unknown, support_setup,
                                        support_teardown),
        cmocka_unit_test_setup_teardown(the_caller_is_believed_but_for_safety, support_setup,
                                        support_teardown),
        cmocka_unit_test(no_fact_is_looked_for_twice_in_a_solve),
        cmocka_unit_test_setup_teardown(the_first_word_stands, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(one_measure_of_symmetry, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(finding_out_fails_without_harm, support_setup,
                                        support_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
