/*
 * What every preconditioner must do in every type, whatever its kind: come near to A^-1, have
 * transposes that agree, survive matrices it is not for, take new values as if made again, work in
 * lower precision, give the same bits with any number of threads, and leave nothing when memory
 * runs out.
 */
#include "support/precons.h"
#include "support/spec.h"

#include "support/generated.h"
#include "support/numeric.h"

#include "host/host.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const spry_scalar one = {1, 0}, zero = {0, 0};
enum { SIZE = 12, THREADED = 60 }; /* the second is large enough for several threads */

/* The spec with one more option. */
static void with_option(const precons_case *c, const char *option, char spec[128])
{
    const char *plain = precons_spec(c);
    snprintf(spec, 128, "%s%s%s", plain, strchr(plain, ':') ? "," : ":", option);
}

/* The mean of |r - A M r| / |r| over a few r; M NULL: with the multiple of r that is best. */
static double distance(const spry_matrix *A, const spry_operator *M)
{
    spry_context *ctx = A->ctx;
    const spry_type type = A->a.type;
    const int64_t n = A->a.rows;
    spry_operator *op = NULL;
    double sum = 0;
    assert_ok(ctx, spry_operator_from_matrix(A, NULL, NULL, &op));
    for (uint64_t seed = 1; seed <= 4; seed++) {
        spry_vector *r = numeric_random(ctx, NULL, type, n, seed),
                    *z = numeric_random(ctx, NULL, type, n, 0),
                    *s = numeric_random(ctx, NULL, type, n, 0);
        spry_scalar f = one;
        if (M)
            assert_ok(ctx, spry_operator_apply(M, r, z));
        else
            assert_ok(ctx, spry_vector_copy(r, z));
        assert_ok(ctx, spry_operator_apply(op, z, s));
        if (!M) {
            assert_ok(ctx, spry_vector_dot(s, r, &f));
            const double size = numeric_norm(s);
            f = (spry_scalar){f.re / size / size, f.im / size / size};
        }
        assert_ok(ctx, spry_vector_scale((spry_scalar){-f.re, -f.im}, s));
        assert_ok(ctx, spry_vector_axpy(one, r, s));
        sum += numeric_norm(s) / numeric_norm(r) / 4;
        spry_vector_free(r);
        spry_vector_free(z);
        spry_vector_free(s);
    }
    spry_operator_free(op);
    return sum;
}

/* --- nearness ------------------------------------------------------------------------------------
 */

/* Whether a kind promises fewer iterations than without it; else it need not beat Jacobi's. */
static bool promises(spry_context *ctx, const char *name)
{
    const precon_cost cost = support_spec(ctx, name).kind->cost;
    return cost.exact || cost.iterations > 0 || cost.share > 0 || cost.products == 0;
}

static void check_near(const precons_case *c, void *data)
{
    spry_context *ctx = data;
    const bool gains = promises(ctx, c->kind);
    for (int t = 0; t < 4; t++)
        for (int definite = c->definite; definite < 2; definite++) {
            spry_matrix *A = precons_matrix(ctx, support_types[t], definite, SIZE);
            spry_operator *M = precons_make(A, precons_spec(c)), *D = precons_make(A, "jacobi");
            const double with = distance(A, M), without = distance(A, NULL),
                         jacobi = distance(A, D);
            /* Jacobi's itself must be worth its while here, or the test says nothing. */
            if (!(jacobi < 0.8 * without))
                fail_msg("Jacobi's: |r - A M r| = %.3g |r|, without %.3g", jacobi, without);
            if (!(with < (gains ? jacobi : 0.95 * without)))
                fail_msg("%s, type %s%s: |r - A M r| = %.3g |r|, with Jacobi's %.3g, without %.3g",
                         precons_spec(c), spry_type_name(support_types[t]),
                         definite ? ", definite" : "", with, jacobi, without);
            spry_operator_free(M);
            spry_operator_free(D);
            spry_matrix_free(A);
        }
}

static void test_near(void **state)
{
    precons_each(check_near, *state);
}

/* --- transposes ----------------------------------------------------------------------------------
 */

/* sum a_i b_i, or with conj(a_i). */
static spry_scalar product(const spry_vector *a, const spry_vector *b, bool conjugate)
{
    wide sum = {0};
    for (int64_t i = 0; i < a->n; i++)
        sum = numeric_muladd(sum, value_get(a->type, a->data, i), conjugate,
                             value_get(b->type, b->data, i));
    return (spry_scalar){(double)sum.re, (double)sum.im};
}

/* y^T (M x) = (M^T y)^T x and y^H (M x) = (M^H y)^H x. Each product may be off by the errors of its
 * computation, some n units of its size; M is well conditioned apart from the scaling. */
static void check_transposes(const precons_case *c, void *data)
{
    spry_context *ctx = data;
    for (int t = 0; t < 4; t++) {
        const spry_type type = support_types[t];
        spry_matrix *A = precons_matrix(ctx, type, c->definite, SIZE);
        const int64_t n = A->a.rows;
        spry_operator *M = precons_make(A, precons_spec(c));
        spry_vector *x = numeric_random(ctx, NULL, type, n, 3),
                    *y = numeric_random(ctx, NULL, type, n, 4),
                    *z = numeric_random(ctx, NULL, type, n, 0),
                    *w = numeric_random(ctx, NULL, type, n, 0);
        if (!spry_operator_has_transpose(M))
            fail_msg("%s has no transposes", precons_spec(c));
        assert_ok(ctx, spry_operator_apply(M, x, z));
        for (int k = 0; k < 2; k++) {
            assert_ok(ctx,
                      spry_operator_multiply(M, k ? SPRY_TRANSPOSE_CONJUGATE : SPRY_TRANSPOSE_YES,
                                             one, y, zero, w));
            const spry_scalar a = product(y, z, k), b = product(w, x, k);
            const double size =
                numeric_norm(y) * numeric_norm(z) + numeric_norm(w) * numeric_norm(x);
            const double off = hypot(a.re - b.re, a.im - b.im),
                         allowed = 8 * (double)n * numeric_unit(type) * size;
            if (!(off <= allowed))
                fail_msg("%s, type %s, %s: %g%+gi and %g%+gi are %g apart, allowed %g",
                         precons_spec(c), spry_type_name(type), k ? "M^H" : "M^T", a.re, a.im, b.re,
                         b.im, off, allowed);
        }
        spry_vector_free(x);
        spry_vector_free(y);
        spry_vector_free(z);
        spry_vector_free(w);
        spry_operator_free(M);
        spry_matrix_free(A);
    }
}

static void test_transposes(void **state)
{
    precons_each(check_transposes, *state);
}

/* --- faults --------------------------------------------------------------------------------------
 */

static bool all_finite(const spry_vector *v)
{
    for (int64_t i = 0; i < v->n; i++)
        if (!value_finite(value_get(v->type, v->data, i)))
            return false;
    return true;
}

/* Whether a message says what to do. */
static bool helps(const char *message)
{
    static const char *const words[] = {" try ",   " take ", " must ",
                                        " needs ", " give ", " remove "};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strstr(message, words[i]))
            return true;
    return false;
}

static void check_fault(const precons_case *c, const spry_matrix *A, precons_fault fault)
{
    spry_context *ctx = A->ctx;
    const char *type = spry_type_name(A->a.type);
    spry_operator *M = NULL;
    const spry_status status = spry_precon_new(A, NULL, precons_spec(c), &M);
    if (status != SPRY_STATUS_OK) {
        if (M || status == SPRY_STATUS_NO_MEMORY || !helps(spry_message(ctx)))
            fail_msg("%s, type %s, %s: status %d, message '%s'", precons_spec(c), type,
                     precons_fault_names[fault], status, spry_message(ctx));
        return;
    }
    if (fault == PRECONS_NAN || fault == PRECONS_INFINITE)
        fail_msg("%s, type %s: took a matrix with %s", precons_spec(c), type,
                 precons_fault_names[fault]);
    spry_vector *r = numeric_random(ctx, NULL, A->a.type, A->a.rows, 7),
                *z = numeric_random(ctx, NULL, A->a.type, A->a.rows, 0);
    /* What is as large as A is kept from overflowing when it is divided by A. */
    if (fault == PRECONS_TINY)
        assert_ok(ctx,
                  spry_vector_scale(
                      (spry_scalar){
                          A->a.type == SPRY_TYPE_S || A->a.type == SPRY_TYPE_C ? 1e-37 : 1e-306, 0},
                      r));
    for (int op = 0; op < 3; op++) {
        assert_ok(ctx, spry_operator_multiply(M, (spry_transpose)op, one, r, zero, z));
        if (!all_finite(z))
            fail_msg("%s, type %s, %s, product %d: not all numbers are finite", precons_spec(c),
                     type, precons_fault_names[fault], op);
    }
    spry_vector_free(r);
    spry_vector_free(z);
    spry_operator_free(M);
}

static void check_faults(const precons_case *c, void *data)
{
    for (int t = 0; t < 4; t++)
        for (int fault = 0; fault < PRECONS_FAULTS; fault++) {
            spry_matrix *A = precons_faulty(data, support_types[t], (precons_fault)fault);
            check_fault(c, A, (precons_fault)fault);
            spry_matrix_free(A);
        }
}

static void test_faults(void **state)
{
    precons_each(check_faults, *state);
}

/* --- new values ----------------------------------------------------------------------------------
 */

/* |op(M) x - op(N) x| / |op(N) x| */
static double apart(const spry_operator *M, const spry_operator *N, spry_transpose op,
                    spry_context *ctx)
{
    const spry_type type = spry_operator_type(M);
    const int64_t n = spry_operator_rows(M);
    spry_vector *x = numeric_random(ctx, NULL, type, n, 8),
                *y = numeric_random(ctx, NULL, type, n, 0),
                *z = numeric_random(ctx, NULL, type, n, 0);
    assert_ok(ctx, spry_operator_multiply(M, op, one, x, zero, y));
    assert_ok(ctx, spry_operator_multiply(N, op, one, x, zero, z));
    const double size = numeric_norm(z);
    assert_ok(ctx, spry_vector_axpy((spry_scalar){-1, 0}, z, y));
    const double off = numeric_norm(y);
    spry_vector_free(x);
    spry_vector_free(y);
    spry_vector_free(z);
    return off / size;
}

/* Transposes are looked at before, so that what was made for them must follow as well. */
static void check_values(const precons_case *c, void *data)
{
    spry_context *ctx = data;
    for (int t = 0; t < 4; t++) {
        const spry_type type = support_types[t];
        spry_matrix *A = precons_matrix(ctx, type, c->definite, SIZE),
                    *B = precons_matrix(ctx, type, c->definite, SIZE);
        spry_operator *M = precons_make(A, precons_spec(c)),
                      *before = precons_make(A, precons_spec(c));
        precons_change(B);
        spry_operator *N = precons_make(B, precons_spec(c));
        assert_true(apart(M, N, SPRY_TRANSPOSE_NO, ctx) > 1e-3 &&
                    apart(M, N, SPRY_TRANSPOSE_CONJUGATE, ctx) > 1e-3);
        assert_ok(ctx, spry_operator_update(M, B));
        assert_true(apart(M, before, SPRY_TRANSPOSE_NO, ctx) > 1e-3);
        for (int op = 0; op < 3 && !c->keeps; op++) {
            const double off = apart(M, N, (spry_transpose)op, ctx),
                         allowed = 8 * (double)A->a.rows * numeric_unit(type);
            if (!(off <= allowed))
                fail_msg("%s, type %s, product %d: %g from one made again, allowed %g",
                         precons_spec(c), spry_type_name(type), op, off, allowed);
        }
        assert_ok(ctx, spry_operator_update(M, A)); /* and back */
        assert_true(apart(M, before, SPRY_TRANSPOSE_NO, ctx) <=
                    8 * (double)A->a.rows * numeric_unit(type));
        spry_operator_free(M);
        spry_operator_free(N);
        spry_operator_free(before);
        spry_matrix_free(A);
        spry_matrix_free(B);
    }
}

static void test_values(void **state)
{
    precons_each(check_values, *state);
}

/* Values that it may refuse, and good ones after that, which make it what it was. */
static void check_again(const precons_case *c, void *data)
{
    spry_context *ctx = data;
    for (int t = 0; t < 4; t++) {
        spry_matrix *A = precons_matrix(ctx, support_types[t], c->definite, SIZE),
                    *B = precons_matrix(ctx, support_types[t], c->definite, SIZE);
        spry_operator *M = precons_make(A, precons_spec(c)),
                      *before = precons_make(A, precons_spec(c));
        precons_clear(B, 20);
        (void)spry_operator_update(M, B);
        assert_ok(ctx, spry_operator_update(M, A));
        for (int op = 0; op < 3; op++)
            assert_true(apart(M, before, (spry_transpose)op, ctx) <=
                        8 * (double)A->a.rows * numeric_unit(support_types[t]));
        spry_operator_free(M);
        spry_operator_free(before);
        spry_matrix_free(A);
        spry_matrix_free(B);
    }
}

static void test_again(void **state)
{
    precons_each(check_again, *state);
}

/* --- precision -----------------------------------------------------------------------------------
 */

static void check_precision(const precons_case *c, void *data)
{
    spry_context *ctx = data;
    char spec[128];
    for (int t = 1; t < 4; t += 2) {
        spry_matrix *A = precons_matrix(ctx, support_types[t], c->definite, SIZE);
        spry_operator *M = precons_make(A, precons_spec(c));
        with_option(c, "precision=single", spec);
        spry_operator *S = precons_make(A, spec);
        const double near = distance(A, M), single = distance(A, S),
                     unit = 8 * (double)A->a.rows * numeric_unit(SPRY_TYPE_S);
        for (int op = 0; op < 3 && !c->decides; op++) {
            const double off = apart(S, M, (spry_transpose)op, ctx);
            if (!(off <= unit && off > 0))
                fail_msg("%s, type %s, product %d: %g from double precision, allowed %g", spec,
                         spry_type_name(support_types[t]), op, off, unit);
        }
        if (!(single <= near * 1.05 + unit))
            fail_msg("%s: |r - A M r| = %g, and %g in double precision", spec, single, near);
        /* A residual far below what single precision can hold. */
        spry_vector *r = numeric_random(ctx, NULL, support_types[t], A->a.rows, 5),
                    *z = numeric_random(ctx, NULL, support_types[t], A->a.rows, 0);
        assert_ok(ctx, spry_vector_scale((spry_scalar){1e-200, 0}, r));
        assert_ok(ctx, spry_operator_apply(S, r, z));
        assert_true(numeric_norm(z) > 1e-204 && numeric_norm(z) < 1e-196);
        spry_vector_free(r);
        spry_vector_free(z);
        spry_operator_free(S);
        S = NULL;
        with_option(c, "precision=half", spec);
        const spry_status status = spry_precon_new(A, NULL, spec, &S);
        if (status == SPRY_STATUS_OK) {
            const double half = distance(A, S);
            if (!(half <= near + 0.05))
                fail_msg("%s: |r - A M r| = %g, and %g in double precision", spec, half, near);
            spry_operator_free(S);
        } else {
            assert_status(ctx, SPRY_STATUS_UNSUPPORTED, status);
            support_message_has(ctx, "precision=single");
        }
        spry_operator_free(M);
        spry_matrix_free(A);
    }
}

static void test_precision(void **state)
{
    precons_each(check_precision, *state);
}

/* --- threads -------------------------------------------------------------------------------------
 */

/* op(M) r of a grid that is large enough for threads, the second time. */
static void *apply_with(const precons_case *c, const char *options, spry_transpose op)
{
    spry_context *ctx = support_context(options);
    spry_matrix *A = precons_matrix(ctx, SPRY_TYPE_D, c->definite, THREADED);
    const int64_t n = A->a.rows;
    spry_operator *M = precons_make(A, precons_spec(c));
    double *to = malloc((size_t)n * sizeof *to);
    spry_vector *r = numeric_random(ctx, NULL, SPRY_TYPE_D, n, 3),
                *z = numeric_vector(ctx, SPRY_TYPE_D, n, to);
    for (int k = 0; k < 2; k++)
        assert_ok(ctx, spry_operator_multiply(M, op, one, r, zero, z));
    spry_vector_free(r);
    spry_vector_free(z);
    spry_operator_free(M);
    spry_matrix_free(A);
    support_context_free(ctx);
    return to;
}

static void check_threads(const precons_case *c, void *data)
{
    (void)data;
    for (int op = 0; op < 2 && !c->dense; op++) {
        void *alone = apply_with(c, "threads=1", (spry_transpose)op),
             *shared = apply_with(c, "threads=3", (spry_transpose)op);
        if (memcmp(alone, shared, THREADED * THREADED * sizeof(double)) != 0)
            fail_msg("%s, product %d: other bits with three threads", precons_spec(c), op);
        free(alone);
        free(shared);
    }
}

static void test_threads(void **state)
{
    precons_each(check_threads, *state);
}

/* --- no memory -----------------------------------------------------------------------------------
 */

typedef struct torture {
    const precons_case *c;
    const spry_matrix *A;
} torture;

static spry_status use(spry_context *ctx, void *data)
{
    const torture *t = data;
    const int64_t n = t->A->a.rows;
    spry_operator *M = NULL;
    spry_vector *r = NULL, *z = NULL;
    spry_status status = spry_precon_new(t->A, NULL, precons_spec(t->c), &M);
    assert_true((status == SPRY_STATUS_OK) == (M != NULL));
    if (status == SPRY_STATUS_OK)
        status = spry_vector_new(ctx, t->A->a.type, n, NULL, SPRY_OWN_COPY, &r);
    if (status == SPRY_STATUS_OK)
        status = spry_vector_new(ctx, t->A->a.type, n, NULL, SPRY_OWN_COPY, &z);
    for (int op = 0; op < 3 && status == SPRY_STATUS_OK; op++)
        status = spry_operator_multiply(M, (spry_transpose)op, one, r, zero, z);
    if (status == SPRY_STATUS_OK)
        status = spry_operator_update(M, t->A);
    spry_vector_free(r);
    spry_vector_free(z);
    spry_operator_free(M);
    return status;
}

static void check_torture(const precons_case *c, void *data)
{
    spry_matrix *A = precons_matrix(data, SPRY_TYPE_Z, c->definite, 4);
    torture t = {c, A};
    support_torture(data, use, &t);
    spry_matrix_free(A);
}

static void test_torture(void **state)
{
    precons_each(check_torture, *state);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_near, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(test_transposes, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(test_faults, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(test_values, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(test_again, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(test_precision, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(test_threads, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(test_torture, support_setup, support_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
