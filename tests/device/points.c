/*
 * Classical multigrid's points, interpolation and cut rows on devices against the host's, whose
 * algorithm they are: values are such that no two weights are equal, so that rounding decides
 * nothing.
 */
#include "support/devices.h"
#include "support/generated.h"
#include "support/numeric.h"

#include "device/linalg/operator.h"
#include "device/linalg/setup.h"
#include "precon/amg/amg.h"

#include <math.h>
#include <stdlib.h>

/* A number from 0 to 1 for each place, whatever the type. */
static double chance(int64_t i, int64_t j)
{
    return base_uniform(7, (uint64_t)(i * 100003 + j));
}

/* Entries of a generated matrix become others: up to twice as large, some with the sign of the
 * diagonal, complex ones turned. */
static spry_matrix *unequal(spry_context *ctx, spry_type type, const char *kind, const char *sizes)
{
    spry_matrix *A = generated_as(ctx, type, kind, "%s", sizes);
    const matrix_arrays *a = &A->a;
    for (int64_t i = 0; i < a->rows; i++)
        for (int64_t k = a->offsets[i]; k < a->offsets[i + 1]; k++) {
            const int64_t j = a->col_index[k];
            const spry_scalar v = value_get(type, a->values, k);
            const double sign = i != j && chance(j, i) < 0.05 ? -0.1 : 1;
            const double factor = i == j ? 1.3 : sign * (1 + chance(i, j));
            const double t = spry_type_is_complex(type) && i != j ? chance(j, i + 1) - 0.5 : 0;
            support_put(A, k, (spry_scalar){factor * v.re * cos(t), factor * v.re * sin(t)});
        }
    return A;
}

static const amg *host_levels(spry_context *ctx, const spry_matrix *A, const char *spec,
                              spry_operator **M)
{
    assert_ok(ctx, spry_precon_new(A, NULL, spec, M));
    return (*M)->state;
}

/* The same places, and values that differ by rounding: weights are about 1, of sums over some
 * hundred entries, divided by sums that do not cancel. */
static void check_matrix(const matrix_arrays *a, const device_matrix *on_device)
{
    spry_matrix *got = NULL;
    assert_ok(on_device->d->ctx, device_matrix_get(on_device, &got));
    const matrix_arrays *b = &got->a;
    const double allowed = 2000 * numeric_unit(a->type);
    assert_true(a->rows == b->rows && a->cols == b->cols && a->nnz == b->nnz && a->nnz > 0);
    assert_memory_equal(a->offsets, b->offsets, (size_t)(a->rows + 1) * sizeof *a->offsets);
    assert_memory_equal(a->col_index, b->col_index, (size_t)a->nnz * sizeof *a->col_index);
    for (int64_t k = 0; k < a->nnz; k++) {
        const spry_scalar x = value_get(a->type, a->values, k),
                          y = value_get(b->type, b->values, k);
        if (!(hypot(x.re - y.re, x.im - y.im) <= allowed))
            fail_msg("entry %d: %.17g%+.17gi, expected %.17g%+.17gi", (int)k, y.re, y.im, x.re,
                     x.im);
    }
    spry_matrix_free(got);
}

static void check_map(spry_context *ctx, const int32_t *want, int64_t n, const device_points *p)
{
    int32_t *map = malloc((size_t)n * sizeof *map);
    assert_non_null(map);
    assert_ok(ctx, device_get(p->map, 0, map, n * (int64_t)sizeof *map));
    for (int64_t i = 0; i < n; i++)
        if (map[i] != want[i])
            fail_msg("point %d: %d, expected %d", (int)i, map[i], want[i]);
    free(map);
}

/* Points and interpolation of one level. */
static void check_level(spry_context *ctx, spry_device *d, const spry_matrix *A)
{
    spry_operator *M = NULL;
    const amg *h = host_levels(
        ctx, A, "amg-classical:aggressive=0,levels=2,coarse-size=5,smoother=jacobi", &M);
    const amg_level *level = h->levels;
    device_matrix on_device = {0}, P = {0};
    device_points points;
    assert_ok(ctx, device_matrix_put(d, A, &on_device));
    assert_ok(ctx, device_points_make(&on_device, 0.25, 0.9, &points));
    assert_int_equal(points.count, level->P->cols);
    check_map(ctx, level->map, A->a.rows, &points);
    assert_ok(ctx, device_interpolate(&on_device, &points, 5, 0.01, &P));
    check_matrix(&level->P->kept->a, &P);
    device_matrix_free(&P);
    device_matrix_free(&on_device);
    device_points_free(&points);
    spry_operator_free(M);
}

static void test_level(spry_context *ctx, spry_device *d)
{
    DEVICES_EACH_TYPE (d, t) {
        spry_matrix *A = unequal(ctx, support_types[t], "poisson3d", "size=9"),
                    *B = unequal(ctx, support_types[t], "poisson3d", "size=8 points=27"),
                    *C = unequal(ctx, support_types[t], "convection-diffusion",
                                 "size=25 peclet=1000");
        check_level(ctx, d, A);
        check_level(ctx, d, B);
        check_level(ctx, d, C);
        spry_matrix_free(A);
        spry_matrix_free(B);
        spry_matrix_free(C);
    }
}

/* Twice at once, as levels of a preconditioner that the device makes. */
static void test_twice(spry_context *ctx, spry_device *d)
{
    static const char spec[] = "amg-classical:levels=2,coarse-size=5,smoother=jacobi,most=4";
    DEVICES_EACH_TYPE (d, t) {
        spry_matrix *A = unequal(ctx, support_types[t], "poisson3d", "size=9");
        spry_operator *M = NULL, *N = NULL;
        device_matrix P = {0};
        const amg *h = host_levels(ctx, A, spec, &M);
        assert_ok(ctx, spry_precon_new(A, d, spec, &N));
        const amg *on_device = N->state;
        assert_null(on_device->levels[0].map);
        assert_int_equal(on_device->count, 2);
        assert_ok(ctx, device_matrix_of(on_device->levels[0].P, &P));
        check_matrix(&h->levels[0].P->kept->a, &P);
        device_matrix_free(&P);
        spry_operator_free(M);
        spry_operator_free(N);
        spry_matrix_free(A);
    }
}

/* A row that depends on all points of a line, which do not depend on it: its table is in global
 * memory. */
static spry_matrix *line_and_hub(spry_context *ctx, int64_t n)
{
    matrix_arrays a = {.type = SPRY_TYPE_D,
                       .format = SPRY_FORMAT_CSR,
                       .rows = n + 1,
                       .cols = n + 1,
                       .nnz = 3 * n - 2 + n + 1};
    spry_matrix *A = NULL;
    int64_t to = 0;
    assert_ok(ctx, matrix_allocate(ctx, &a));
    for (int64_t i = 0; i <= n; i++) {
        a.offsets[i] = to;
        for (int64_t j = i < n && i > 0 ? i - 1 : 0; j <= (i < n ? i + 1 : n); j++) {
            if (i == n - 1 && j == n)
                continue;
            a.col_index[to] = (int32_t)j;
            value_set(a.type, a.values, to++,
                      (spry_scalar){i == j ? i < n ? 2.2 : (double)n : -1 - 0.1 * chance(i, j), 0});
        }
    }
    a.offsets[n + 1] = to;
    assert_int_equal(to, a.nnz);
    assert_ok(ctx, matrix_finish(ctx, SPRY_STATUS_OK, &a, &A));
    return A;
}

static void test_long_row(spry_context *ctx, spry_device *d)
{
    spry_matrix *A = line_and_hub(ctx, 9000);
    check_level(ctx, d, A);
    spry_matrix_free(A);
}

static spry_status make(spry_device *d, const spry_matrix *A)
{
    spry_context *ctx = d->ctx;
    device_matrix on_device = {0}, P = {0}, rows = {0}, cut = {0};
    device_points points = {0};
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(ctx, device_matrix_put(d, A, &on_device));
    SPRY_GO(ctx, device_points_make(&on_device, 0.25, 0.9, &points));
    SPRY_GO(ctx, device_interpolate(&on_device, &points, 5, 0.01, &P));
    SPRY_GO(ctx, device_matrix_pick(&on_device, &points, &rows));
    SPRY_GO(ctx, device_matrix_cut(&rows, 3, 0.01, &cut));
done:
    device_matrix_free(&on_device);
    device_matrix_free(&P);
    device_matrix_free(&rows);
    device_matrix_free(&cut);
    device_points_free(&points);
    return status;
}

/* Each call of the device's that fails in turn is reported, and leaves nothing behind. */
static void test_failures(spry_context *ctx, spry_device *d)
{
    static const device_work kinds[] = {WORK_ALLOC, WORK_COPY, WORK_LAUNCH};
    spry_matrix *A = unequal(ctx, SPRY_TYPE_D, "poisson2d", "size=6");
    int64_t used, most, left;
    assert_ok(ctx, make(d, A));
    for (int k = 0; k < 3; k++) {
        int failed = 0;
        for (int64_t n = 1;; n++, failed++) {
            device_fail_next(d, kinds[k], n);
            const spry_status status = make(d, A);
            device_fail_next(d, kinds[k], 0);
            device_memory_now(d, &used, &most, &left);
            assert_int_equal(used, 0);
            if (status == SPRY_STATUS_OK)
                break;
            assert_int_equal(status, k == 0 ? SPRY_STATUS_NO_MEMORY : SPRY_STATUS_DEVICE);
        }
        assert_true(failed > 5);
    }
    spry_matrix_free(A);
}

int main(void)
{
    static const devices_test tests[] = {DEVICES_TEST(test_level), DEVICES_TEST(test_twice),
                                         DEVICES_TEST(test_long_row), DEVICES_TEST(test_failures)};
    return DEVICES_RUN(tests);
}
