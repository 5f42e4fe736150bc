/*
 * Fourier transforms on devices against sums in long double, and waves solved there against those
 * of the host; failures one after the other.
 */
#include "support/devices.h"
#include "support/numeric.h"
#include "support/transforms.h"

#include <math.h>

static spry_operator *fourier_of(spry_context *ctx, const spry_device *d, const int n[3],
                                 const char *type)
{
    char text[96], options[96];
    spry_grid *grid;
    spry_operator *F;
    int used = snprintf(text, sizeof text, "%d", n[0]);
    for (int a = 1; a < 3 && n[a] > 1; a++)
        used += snprintf(text + used, sizeof text - (size_t)used, "x%d", n[a]);
    snprintf(text + used, sizeof text - (size_t)used, " boundary=periodic");
    snprintf(options, sizeof options, "type=%s device=%s", type, d->facts.name);
    assert_ok(ctx, spry_grid_new(ctx, text, &grid));
    assert_ok(ctx, spry_operator_fourier(grid, options, &F));
    assert_ptr_equal(spry_operator_device(F), d);
    spry_grid_free(grid);
    return F;
}

/* All radices, others, and lines that do not fill their last group. */
static void transforms(spry_context *ctx, spry_device *d)
{
    static const int shapes[][3] = {{14, 9, 10}, {60, 13, 1}, {128, 1, 1}, {9, 25, 4}, {216, 2, 3}};
    const int count = devices_few(d) ? 2 : 5;
    for (int i = 0; i < count; i++)
        for (int t = 0; t < 2; t++) {
            if (devices_few(d) && t != i % 2)
                continue;
            spry_operator *F = fourier_of(ctx, d, shapes[i], t == 0 ? "z" : "c");
            transforms_check(F, shapes[i]);
            spry_operator_free(F);
        }
}

static const double LOSS = 0.04;

static void medium(void *data, const double *place, spry_scalar *value)
{
    (void)data;
    *value = (spry_scalar){0.4 + 0.3 * pow(sin(0.4 * place[0]), 2), LOSS};
}

/* A solve on the host, where `where` is "cpu", or on a device. */
static spry_status solve_there(const spry_grid *grid, const char *where, double tol,
                               spry_transpose transpose, const spry_vector *f, spry_vector *u)
{
    char options[96];
    spry_vector *k2 = NULL;
    spry_wave *wave = NULL;
    spry_status status = spry_field_new(grid, SPRY_TYPE_Z, false, medium, NULL, &k2);
    snprintf(options, sizeof options, "layer=5 tol=%g device=%s", tol, where);
    if (status == SPRY_STATUS_OK)
        status = spry_wave_new(grid, k2, options, &wave);
    if (status == SPRY_STATUS_OK)
        status = spry_wave_solve_many(wave, transpose, 1, &f, &u, NULL);
    spry_wave_free(wave);
    spry_vector_free(k2);
    return status;
}

/*
 * Both solve A u = f but for residuals of 1e-9 |f|, and |A^-1| is at most 1 / LOSS: the imaginary
 * part of (u, A u) is LOSS |u|^2 or more.
 */
static void waves(spry_context *ctx, spry_device *d)
{
    static const spry_transpose transposes[] = {SPRY_TRANSPOSE_NO, SPRY_TRANSPOSE_CONJUGATE};
    spry_grid *grid;
    assert_ok(ctx, spry_grid_new(ctx, "11x9x6 box=0:11,0:9,0:6 boundary=neumann", &grid));
    spry_vector *f = numeric_random(ctx, NULL, SPRY_TYPE_Z, 12 * 10 * 7, 3);
    for (int k = 0; k < 2; k++) {
        spry_vector *u = numeric_random(ctx, NULL, SPRY_TYPE_Z, f->n, 0);
        spry_vector *v = numeric_random(ctx, NULL, SPRY_TYPE_Z, f->n, 0);
        spry_vector *there = numeric_random(ctx, d, SPRY_TYPE_Z, f->n, 0);
        spry_vector *source = numeric_random(ctx, d, SPRY_TYPE_Z, f->n, 0);
        assert_ok(ctx, spry_vector_copy(f, source));
        assert_ok(ctx, solve_there(grid, "cpu", 1e-9, transposes[k], f, u));
        assert_ok(ctx, solve_there(grid, d->facts.name, 1e-9, transposes[k], f, v));
        assert_ok(ctx, solve_there(grid, d->facts.name, 1e-9, transposes[k], source, there));
        spry_vector *const found[] = {v, there};
        for (int i = 0; i < 2; i++) {
            assert_ok(ctx, spry_vector_copy(found[i], v));
            assert_ok(ctx, spry_vector_axpy((spry_scalar){-1, 0}, u, v));
            assert_true(numeric_norm(v) <= 2e-9 * numeric_norm(f) / LOSS);
        }
        spry_vector_free(u);
        spry_vector_free(v);
        spry_vector_free(there);
        spry_vector_free(source);
    }
    spry_vector_free(f);
    spry_grid_free(grid);
}

typedef struct job {
    spry_grid *grid;
    spry_vector *f, *u;
    const char *where;
} job;

static spry_status solve_once(spry_context *ctx, void *data)
{
    const job *j = data;
    (void)ctx; /* a few iterations have all there is */
    return solve_there(j->grid, j->where, 0.5, SPRY_TRANSPOSE_NO, j->f, j->u);
}

static void failures(spry_context *ctx, spry_device *d)
{
    job j = {.where = d->facts.name};
    assert_ok(ctx, spry_grid_new(ctx, "4x3 box=0:4,0:3 boundary=neumann", &j.grid));
    j.f = numeric_random(ctx, NULL, SPRY_TYPE_Z, 20, 3);
    j.u = numeric_random(ctx, NULL, SPRY_TYPE_Z, 20, 0);
    devices_torture(ctx, d, 3, solve_once, &j);
    spry_vector_free(j.f);
    spry_vector_free(j.u);
    spry_grid_free(j.grid);
}

int main(void)
{
    static const devices_test tests[] = {DEVICES_TEST(transforms), DEVICES_TEST(waves),
                                         DEVICES_TEST(failures)};
    return DEVICES_RUN(tests);
}
