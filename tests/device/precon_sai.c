/*
 * Sparse approximate inverses made in a device's memory against the host's: the same patterns, and
 * values that are apart by rounding; problems in local memory and beyond it; vectors that depend on
 * each other; the same bits each time; new values; what cannot be held.
 */
#include "support/devices.h"
#include "support/generated.h"
#include "support/numeric.h"

#include "device/linalg/operator.h"
#include "operator/operator.h"

#include <math.h>
#include <string.h>

static spry_matrix *inverse_of(const spry_matrix *A, spry_device *d, const char *spec)
{
    spry_operator *M = NULL;
    spry_matrix *X = NULL;
    assert_ok(A->ctx, spry_precon_new(A, d, spec, &M));
    assert_true(spry_operator_device(M) == d);
    assert_ok(A->ctx, spry_operator_to_matrix(M, &X));
    spry_operator_free(M);
    return X;
}

/*
 * Both are the exact solutions of problems whose vectors are off by some rows times cols units, so
 * that they are apart by that times the condition of the vectors, relative to the largest number of
 * a column; the matrices here have dominant diagonals, and conditions below 30.
 */
static void check_near(const spry_matrix *want, const spry_matrix *got, const char *what,
                       double size)
{
    const matrix_arrays *a = &want->a, *b = &got->a;
    const double unit = numeric_unit(a->type);
    double most = 0;
    assert_int_equal(a->nnz, b->nnz);
    assert_memory_equal(a->offsets, b->offsets, (size_t)(a->rows + 1) * sizeof *a->offsets);
    assert_memory_equal(a->col_index, b->col_index, (size_t)a->nnz * sizeof *a->col_index);
    for (int64_t k = 0; k < a->nnz; k++) {
        const spry_scalar v = value_get(a->type, a->values, k);
        most = fmax(most, fmax(fabs(v.re), fabs(v.im)));
    }
    for (int64_t k = 0; k < a->nnz; k++) {
        const spry_scalar v = value_get(a->type, a->values, k);
        const spry_scalar w = value_get(a->type, b->values, k);
        const double off = fmax(fabs(v.re - w.re), fabs(v.im - w.im));
        if (!(off <= 30 * size * unit * most))
            fail_msg("%s, type %s, entry %d: %g, not %g", what, spry_type_name(a->type), (int)k,
                     w.re, v.re);
    }
}

static spry_matrix *random_matrix(spry_context *ctx, spry_type type, int size, int per_row)
{
    return generated_as(ctx, type, "random", "size=%d per-row=%d dominance=2 seed=3", size,
                        per_row);
}

static void check_alike(const spry_matrix *A, spry_device *d, const char *spec, double size)
{
    spry_matrix *on_host = inverse_of(A, NULL, spec), *on_device = inverse_of(A, d, spec);
    check_near(on_host, on_device, spec, size);
    spry_matrix *again = inverse_of(A, d, spec);
    support_same_arrays(on_device, again);
    spry_matrix_free(on_host);
    spry_matrix_free(on_device);
    spry_matrix_free(again);
}

static void alike(spry_context *ctx, spry_device *d)
{
    static const char *const specs[] = {
        "sai",  "sai:tau=0.7",       "sai:side=left,power=2", "isai", "sai:power=2,most=12",
        "spai", "sai:tau=0.9,most=4"};
    DEVICES_EACH_TYPE (d, t) {
        spry_matrix *A = random_matrix(ctx, support_types[t], 80, 5);
        for (size_t k = 0; k < sizeof specs / sizeof *specs; k++)
            check_alike(A, d, specs[k], 200);
        spry_matrix_free(A);
    }
}

/* Problems of about a hundred vectors have no room in local memory. */
static void large(spry_context *ctx, spry_device *d)
{
    spry_matrix *A = random_matrix(ctx, SPRY_TYPE_D, 110, 12);
    check_alike(A, d, "sai:power=2", 110 * 12);
    spry_matrix_free(A);
}

/* As many problems at a time as fit: the same values. */
static void little_memory(spry_context *ctx, spry_device *d)
{
    int64_t used, most, available;
    spry_matrix *A = random_matrix(ctx, SPRY_TYPE_D, 110, 12);
    spry_matrix *plenty = inverse_of(A, d, "sai:power=2");
    device_memory_now(d, &used, &most, &available);
    device_limit_memory(d, used + (3 << 20));
    spry_matrix *little = inverse_of(A, d, "sai:power=2");
    device_limit_memory(d, 0);
    support_same_arrays(plenty, little);
    spry_matrix_free(plenty);
    spry_matrix_free(little);
    spry_matrix_free(A);
}

/* Vectors that depend on each other, are empty, or lead nowhere: residuals are the host's. */
static void deficient(spry_context *ctx, spry_device *d)
{
    static const double equal[] = {1, 1, 2, 0, 1, 1, 2, 0, 3, 3, 6, 1, 1, 1, 0, 2};
    static const double empty[] = {0, 0, 0, 0, 0, 2, 1, 0, 0, 1, 0, 0, 0, 0, 0, 5};
    static const double *const all[] = {equal, empty};
    for (int m = 0; m < 2; m++) {
        spry_matrix *A = support_from_rows(ctx, SPRY_TYPE_D, 4, 4, all[m]);
        check_alike(A, d, "sai", 64);
        spry_matrix_free(A);
    }
    spry_operator *M = NULL;
    spry_matrix *A = support_from_rows(ctx, SPRY_TYPE_D, 2, 2, (double[]){1, 0, 0, 0x1p-1074});
    assert_status(ctx, SPRY_STATUS_BAD_INPUT, spry_precon_new(A, d, "sai", &M));
    support_message_has(ctx, "column 1 (from 0) of the inverse is beyond what type d can hold");
    spry_matrix_free(A);
}

/* Factors: M as it is applied, for real and complex numbers, with problems beyond local memory; a
 * block that is not definite. */
static void factors(spry_context *ctx, spry_device *d)
{
    static const char *const specs[] = {"fsai", "fsai:power=8,most=400", "fsai:tau=0,growth=2"};
    const spry_scalar one = {1, 0}, zero = {0, 0};
    for (int t = 0; t < 12; t++) {
        const spry_type type = support_types[t % 4];
        spry_matrix *A = generated_as(ctx, type, "poisson2d", "size=10");
        spry_operator *on_host = NULL, *on_device = NULL;
        spry_vector *r = NULL, *z = NULL, *w = NULL;
        double off, size;
        for (int64_t i = 0; i < A->a.rows; i++)
            for (int64_t k = A->a.offsets[i]; k < A->a.offsets[i + 1]; k++) {
                const spry_scalar v = value_get(type, A->a.values, k);
                const int64_t j = A->a.col_index[k];
                if (spry_type_is_complex(type) && i != j)
                    support_put(A, k, (spry_scalar){0, j > i ? v.re : -v.re});
            }
        assert_ok(ctx, spry_precon_new(A, NULL, specs[t / 4], &on_host));
        assert_ok(ctx, spry_precon_new(A, d, specs[t / 4], &on_device));
        assert_ok(ctx, spry_vector_ones(ctx, A, &r));
        assert_ok(ctx, spry_vector_zeros(ctx, A, &z));
        assert_ok(ctx, spry_vector_zeros(ctx, A, &w));
        assert_ok(ctx, spry_operator_multiply(on_host, SPRY_TRANSPOSE_NO, one, r, zero, z));
        assert_ok(ctx, spry_operator_multiply(on_device, SPRY_TRANSPOSE_NO, one, r, zero, w));
        assert_ok(ctx, spry_vector_norm(z, &size));
        assert_ok(ctx, spry_vector_axpy((spry_scalar){-1, 0}, z, w));
        assert_ok(ctx, spry_vector_norm(w, &off));
        /* some 100 roundings, times the condition of the matrix, which is below 50 */
        assert_true(size > 0 && off <= numeric_unit(type) * 100 * 50 * size);
        spry_vector_free(r);
        spry_vector_free(z);
        spry_vector_free(w);
        spry_operator_free(on_host);
        spry_operator_free(on_device);
        spry_matrix_free(A);
    }
    spry_operator *M = NULL;
    spry_matrix *A = support_from_rows(ctx, SPRY_TYPE_D, 2, 2, (double[]){1, 2, 2, 1});
    assert_status(ctx, SPRY_STATUS_BAD_INPUT, spry_precon_new(A, d, "fsai", &M));
    support_message_has(ctx, "its block of the matrix is not positive definite");
    spry_matrix_free(A);
}

static void updates(spry_context *ctx, spry_device *d)
{
    spry_matrix *A = random_matrix(ctx, SPRY_TYPE_D, 150, 6), *updated = NULL;
    spry_operator *M = NULL;
    assert_ok(ctx, spry_precon_new(A, d, "sai", &M));
    for (int64_t k = 0; k < A->a.nnz; k++)
        support_put(A, k,
                    (spry_scalar){((double *)A->a.values)[k] * (1 + 0.125 * (double)(k % 3)), 0});
    assert_ok(ctx, spry_operator_update(M, A));
    spry_matrix *fresh = inverse_of(A, d, "sai");
    assert_ok(ctx, spry_operator_to_matrix(M, &updated));
    support_same_arrays(fresh, updated);
    assert_string_equal(spry_operator_name(M), "sai");
    spry_matrix_free(fresh);
    spry_matrix_free(updated);
    spry_operator_free(M);
    spry_matrix_free(A);
}

/* Every failure of the device is passed on, or the host does it; nothing is left behind. */
static void failures(spry_context *ctx, spry_device *d)
{
    static const device_work works[] = {WORK_ALLOC, WORK_COPY, WORK_LAUNCH};
    spry_matrix *A = random_matrix(ctx, SPRY_TYPE_D, 40, 4);
    for (int w = 0; w < 3; w++)
        for (int64_t nth = 1; nth < 12; nth++) {
            int64_t before, after, most, available;
            spry_operator *M = NULL;
            device_memory_now(d, &before, &most, &available);
            device_fail_next(d, works[w], nth);
            const spry_status status = spry_precon_new(A, d, "sai", &M);
            device_fail_next(d, works[w], 0);
            assert_true((status == SPRY_STATUS_OK) == (M != NULL));
            spry_operator_free(M);
            device_memory_now(d, &after, &most, &available);
            assert_int_equal(before, after);
        }
    spry_matrix_free(A);
}

int main(void)
{
    static const devices_test tests[] = {DEVICES_TEST(alike),         DEVICES_TEST(large),
                                         DEVICES_TEST(little_memory), DEVICES_TEST(deficient),
                                         DEVICES_TEST(factors),       DEVICES_TEST(updates),
                                         DEVICES_TEST(failures)};
    return DEVICES_RUN(tests);
}
