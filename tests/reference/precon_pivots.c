/*
 * Factors with pivots and block factors: what theory says of them where nothing is dropped, and
 * that factors which are of no use are noticed.
 */
#include "matrix/entries.h"
#include "support/generated.h"
#include "support/numeric.h"
#include "support/precons.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { FIRST = 40, SECOND = 15, ALL = FIRST + SECOND };

/* A matrix of what is not 0 in an array by rows. */
static spry_matrix *from_dense(spry_context *ctx, spry_type type, int64_t n, const spry_scalar *a)
{
    int64_t *offsets = calloc((size_t)n + 1, sizeof *offsets), count = 0;
    int32_t *columns = malloc((size_t)(n * n) * sizeof *columns);
    void *values = malloc((size_t)(n * n) * spry_type_size(type));
    spry_matrix *A = NULL;
    for (int64_t i = 0; i < n; i++) {
        for (int64_t j = 0; j < n; j++) {
            const spry_scalar v = a[i * n + j];
            if (v.re == 0 && v.im == 0)
                continue;
            columns[count] = (int32_t)j;
            value_set(type, values, count++, v);
        }
        offsets[i + 1] = count;
    }
    assert_ok(ctx,
              spry_matrix_from_csr(ctx, type, n, n, offsets, columns, values, SPRY_OWN_COPY, &A));
    free(offsets);
    free(columns);
    free(values);
    return A;
}

/* A grid's matrix with its rows moved on by three, so that no large entry is on the diagonal. */
static spry_matrix *moved(spry_context *ctx, spry_type type)
{
    spry_matrix *A = generated_as(ctx, type, "convection-diffusion", "size=9 peclet=3");
    generated_turn(A, 0.7, (spry_scalar){0.6, 0.8});
    const int64_t n = A->a.rows;
    spry_scalar *a = calloc((size_t)(n * n), sizeof *a);
    for (int64_t i = 0; i < n; i++)
        for (int64_t k = A->a.offsets[i]; k < A->a.offsets[i + 1]; k++)
            a[(i + 3) % n * n + A->a.col_index[k]] = value_get(type, A->a.values, k);
    spry_matrix_free(A);
    spry_matrix *B = from_dense(ctx, type, n, a);
    free(a);
    return B;
}

/* A saddle point: [H  E^H; E  0] with E^T for E^H if it is to be complex symmetric. H is diagonal
 * with numbers of 1 to 4, and has neighbours where `coupled`; rows of E depend on each other in no
 * way, since each has a column of its own. */
static spry_matrix *saddle(spry_context *ctx, spry_type type, bool conjugate, bool coupled)
{
    spry_scalar *a = calloc((size_t)ALL * ALL, sizeof *a);
    const bool turns = spry_type_is_complex(type);
    for (int i = 0; i < FIRST; i++) {
        a[i * ALL + i] = (spry_scalar){1 + i % 4, turns && !conjugate ? 0.5 : 0};
        if (coupled && i + 1 < FIRST) {
            a[i * ALL + i + 1] = (spry_scalar){0.25, turns ? 0.25 : 0};
            a[(i + 1) * ALL + i] = (spry_scalar){0.25, turns ? (conjugate ? -0.25 : 0.25) : 0};
        }
    }
    for (int j = 0; j < SECOND; j++) {
        const int places[3] = {j, SECOND + (7 * j) % (FIRST - SECOND), FIRST - 1 - j % 5};
        for (int k = 0; k < 3; k++) {
            const spry_scalar v = {1 - 0.25 * k, turns ? 0.5 * k : 0};
            a[(FIRST + j) * ALL + places[k]] = v;
            a[places[k] * ALL + FIRST + j] = (spry_scalar){v.re, conjugate ? -v.im : v.im};
        }
    }
    spry_matrix *A = from_dense(ctx, type, ALL, a);
    free(a);
    return A;
}

/* y = A x, y = M x */
static void apply(const spry_operator *op, const spry_vector *x, spry_vector *y)
{
    assert_ok(op->ctx, spry_operator_apply(op, x, y));
}

/*
 * A polynomial of A M, of degree 3 at most and given by its coefficients, makes nothing of a random
 * vector. Errors: each product adds n units times
 * |A| |M|, which is below 100 for the matrices here, and coefficients are small.
 */
static void check_polynomial(const spry_matrix *A, const char *spec, const double p[4])
{
    spry_context *ctx = A->ctx;
    const spry_type type = A->a.type;
    const int64_t n = A->a.rows;
    spry_operator *op = NULL, *M = precons_make(A, spec);
    spry_vector *x = numeric_random(ctx, NULL, type, n, 3),
                *sum = numeric_random(ctx, NULL, type, n, 0),
                *z = numeric_random(ctx, NULL, type, n, 0);
    assert_ok(ctx, spry_operator_from_matrix(A, NULL, NULL, &op));
    const double size = numeric_norm(x);
    for (int k = 0; k < 4; k++) {
        assert_ok(ctx, spry_vector_axpy((spry_scalar){p[k], 0}, x, sum));
        apply(M, x, z);
        apply(op, z, x);
    }
    const double off = numeric_norm(sum) / size,
                 allowed = 3 * 8 * 100 * (double)n * numeric_unit(type);
    if (!(off <= allowed))
        fail_msg("%s, type %s: %g from 0, allowed %g", spec, spry_type_name(type), off, allowed);
    spry_vector_free(x);
    spry_vector_free(sum);
    spry_vector_free(z);
    spry_operator_free(op);
    spry_operator_free(M);
}

static const double inverse[4] = {-1, 1, 0, 0};    /* A M = I */
static const double involution[4] = {-1, 0, 1, 0}; /* (A M)^2 = I */
/* (T - I) (T^2 - T - I) = T^3 - 2 T^2 + I */
static const double three[4] = {1, 0, -2, 1};

/* Nothing dropped: the inverse, with entries to find for every pivot. */
static void test_exact_lu(void **state)
{
    for (int t = 0; t < 4; t++) {
        spry_matrix *A = moved(*state, support_types[t]),
                    *B = saddle(*state, support_types[t], true, true);
        static const char *const specs[] = {
            "ilutp:tau=0,fill=1000", "ilutp:tau=0,fill=1000,order=none,pivot=1",
            "mlilu:tau=0,size=3", "mlilu:tau=0,size=0,levels=2,pivot=1,last=direct",
            "ilutp:tau=0,fill=1000,order=rcm,pivot=0"};
        for (size_t k = 0; k < 4; k++)
            check_polynomial(A, specs[k], inverse);
        for (size_t k = 0; k < 5; k++)
            check_polynomial(B, specs[k], inverse);
        spry_matrix_free(A);
        spry_matrix_free(B);
    }
}

/* The same of L D L^H and L D L^T; with |D| the preconditioned matrix is one of signs. */
static void test_exact_ldl(void **state)
{
    for (int t = 0; t < 4; t++)
        for (int conjugate = 0; conjugate < 2; conjugate++) {
            spry_matrix *A = saddle(*state, support_types[t], conjugate, true);
            const bool hermitian = conjugate || !spry_type_is_complex(support_types[t]);
            check_polynomial(A, "ildl:tau=0,fill=1000,definite=no", inverse);
            check_polynomial(A, "ildl:tau=0,fill=1000,definite=no,order=none,pivot=0.5", inverse);
            if (hermitian)
                check_polynomial(A, "ildl:tau=0,fill=1000", involution);
            spry_matrix_free(A);
        }
}

/* Pivots of two alone, which the order finds nothing of: all entries of the diagonal are 0. */
static void test_pairs(void **state)
{
    enum { N = 20 };
    for (int t = 0; t < 4; t++) {
        const spry_type type = support_types[t];
        spry_scalar a[N * N] = {{0}};
        for (int i = 0; i < N; i++) {
            const int j = N - 1 - i;
            const double angle = spry_type_is_complex(type) ? (i < j ? 0.5 : -0.5) : 0;
            a[i * N + j] = (spry_scalar){(1 + (i < j ? i : j)) * cos(angle), 8 * sin(angle)};
        }
        spry_matrix *A = from_dense(*state, type, N, a);
        check_polynomial(A, "ildl:definite=no", inverse);
        check_polynomial(A, "ildl", involution);
        check_polynomial(A, "ilutp", inverse);
        spry_matrix_free(A);
    }
}

/* M says that it is positive definite, and (x, M x) > 0. */
static void test_definite(void **state)
{
    spry_context *ctx = *state;
    static const char *const specs[] = {"ildl", "ildl:tau=0.1,fill=2",
                                        "kkt:definite=yes,schur=[ildl:definite=yes]"};
    for (int t = 0; t < 4; t++)
        for (size_t k = 0; k < sizeof specs / sizeof *specs; k++) {
            spry_matrix *A = saddle(ctx, support_types[t], true, true);
            spry_operator *M = precons_make(A, specs[k]);
            spry_vector *x = numeric_random(ctx, NULL, support_types[t], ALL, 5 + k),
                        *z = numeric_random(ctx, NULL, support_types[t], ALL, 0);
            spry_scalar product;
            assert_true(M->hermitian && M->definite);
            apply(M, x, z);
            assert_ok(ctx, spry_vector_dot(x, z, &product));
            assert_true(product.re > 0);
            assert_true(fabs(product.im) <= 8 * ALL * numeric_unit(support_types[t]) *
                                                numeric_norm(x) * numeric_norm(z));
            spry_vector_free(x);
            spry_vector_free(z);
            spry_operator_free(M);
            spry_matrix_free(A);
        }
}

/* H is its diagonal: the constraint form is the inverse, the blocks alone leave three eigenvalues,
 * 1 and (1 +- sqrt(5)) / 2. */
static void test_kkt(void **state)
{
    for (int t = 0; t < 4; t++)
        for (int conjugate = 0; conjugate < 2; conjugate++) {
            const bool hermitian = conjugate || !spry_type_is_complex(support_types[t]);
            spry_matrix *A = saddle(*state, support_types[t], conjugate, false);
            check_polynomial(A, "kkt:schur=direct", inverse);
            check_polynomial(A, "kkt:sub=ilu,schur=[ilutp:tau=0,fill=1000]", inverse);
            check_polynomial(A, "kkt:rows=15,schur=direct", inverse);
            if (hermitian)
                check_polynomial(A, "kkt:definite=yes,schur=direct", three);
            spry_matrix_free(A);
        }
}

static void refuse(const spry_matrix *A, const char *spec, const char *words)
{
    spry_operator *M = NULL;
    assert_status(A->ctx, SPRY_STATUS_BAD_INPUT, spry_precon_new(A, NULL, spec, &M));
    support_message_has(A->ctx, words);
    assert_null(M);
}

static void test_refused(void **state)
{
    spry_matrix *A = generated_as(*state, SPRY_TYPE_Z, "convection-diffusion", "size=6"),
                *B = saddle(*state, SPRY_TYPE_Z, false, true),
                *C = generated_as(*state, SPRY_TYPE_D, "poisson2d", "size=6");
    refuse(A, "ildl", "take ilutp");
    refuse(B, "ildl:definite=yes", "take definite=no");
    refuse(B, "kkt:definite=yes", "take definite=no");
    refuse(C, "kkt", "take ildl");
    spry_matrix_free(A);
    spry_matrix_free(B);
    spry_matrix_free(C);
}

/* Pressures of stabilised flows have negative diagonal entries: they are the second block, just as
 * where it is given by its number, but not where A is not hermitian. */
static void test_kkt_by_signs(void **state)
{
    spry_matrix *A = generated(*state, "stokes", "size=8 elements=q1q1");
    const int64_t n = A->a.rows;
    spry_vector *r = numeric_random(*state, NULL, SPRY_TYPE_D, n, 3), *z[2];
    for (int named = 0; named < 2; named++) {
        spry_operator *M = precons_make(A, named ? "kkt:rows=81" : "kkt");
        z[named] = numeric_random(*state, NULL, SPRY_TYPE_D, n, 0);
        apply(M, r, z[named]);
        spry_operator_free(M);
    }
    assert_memory_equal(z[0]->data, z[1]->data, (size_t)n * sizeof(double));
    support_put(A, matrix_find(&A->a, 0, 2), (spry_scalar){7, 0});
    matrix_forget(A, FACT_BIT(SPRY_FACT_HERMITIAN) | FACT_BIT(SPRY_FACT_SYMMETRIC));
    refuse(A, "kkt", "take ildl");
    for (int k = 0; k < 2; k++)
        spry_vector_free(z[k]);
    spry_vector_free(r);
    spry_matrix_free(A);
}

/* The Brusselator's reaction and diffusion (two unknowns for each point of a grid, as the matrices
 * rdb of the NEP collection): factors in the pattern of A are unstable, and A needs none. */
static spry_matrix *brusselator(spry_context *ctx, int size, double length)
{
    enum { MOST = 6 };
    const int n = 2 * size * size;
    const double step = length / (size + 1),
                 diffusion[2] = {0.008 / (step * step), 0.004 / (step * step)};
    static const double reaction[2][2] = {{4.45, 4}, {-5.45, -4}};
    int64_t *offsets = calloc((size_t)n + 1, sizeof *offsets), count = 0;
    int32_t *columns = malloc((size_t)n * MOST * sizeof *columns);
    double *values = malloc((size_t)n * MOST * sizeof *values);
    spry_matrix *A = NULL;
    for (int i = 0; i < n; i++) {
        const int point = i / 2, kind = i % 2, x = point % size, y = point / size;
        const int near[4] = {y > 0 ? i - 2 * size : -1, x > 0 ? i - 2 : -1,
                             x < size - 1 ? i + 2 : -1, y < size - 1 ? i + 2 * size : -1};
        for (int k = 0; k < 4; k++) {
            for (int other = 0; other < 2 && k == 2; other++) {
                columns[count] = 2 * point + other;
                values[count++] = reaction[kind][other] - (other == kind ? 4 * diffusion[kind] : 0);
            }
            if (near[k] < 0)
                continue;
            columns[count] = near[k];
            values[count++] = diffusion[kind];
        }
        offsets[i + 1] = count;
    }
    assert_ok(ctx, spry_matrix_from_csr(ctx, SPRY_TYPE_D, n, n, offsets, columns, values,
                                        SPRY_OWN_COPY, &A));
    free(offsets);
    free(columns);
    free(values);
    return A;
}

static void test_unstable(void **state)
{
    spry_context *ctx = *state;
    spry_matrix *A = brusselator(ctx, 32, 2);
    spry_operator *M = NULL;
    refuse(A, "ilu", "try ilutp");
    assert_ok(ctx, spry_precon_new(A, NULL, "auto", &M)); /* goes on */
    assert_true(!M || strcmp(spry_operator_name(M), "ilu") != 0);
    spry_operator_free(M);
    spry_operator_free(precons_make(A, "ilutp"));
    spry_matrix_free(A);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_exact_lu, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(test_exact_ldl, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(test_pairs, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(test_definite, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(test_kkt_by_signs, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(test_kkt, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(test_refused, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(test_unstable, support_setup, support_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
