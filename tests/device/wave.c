/*
 * Fourier transforms on devices against sums in long double, and waves solved on the device against
 * those of the host; failures one after the other.
 */
#include "support/devices.h"
#include "support/numeric.h"
#include "support/transforms.h"

#include <float.h>
#include <math.h>
#include <string.h>

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

/* The medium once more, from the device. */
static spry_status renew(spry_wave *wave, const spry_vector *k2, const char *where)
{
    spry_device *d;
    spry_vector *on_device = NULL;
    spry_status status = spry_device_open(k2->ctx, where, &d);
    if (status == SPRY_STATUS_OK)
        status = spry_vector_on(d, k2->type, k2->n, NULL, &on_device);
    if (status == SPRY_STATUS_OK)
        status = spry_vector_copy(k2, on_device);
    if (status == SPRY_STATUS_OK)
        status = spry_wave_set_medium(wave, on_device);
    spry_vector_free(on_device);
    return status;
}

/* A solve on the host, where `where` is "cpu", or on a device. */
static spry_status solve_on_device(const spry_grid *grid, const char *where, double tol,
                                   spry_transpose transpose, const spry_vector *f, spry_vector *u)
{
    char options[96];
    spry_vector *k2 = NULL;
    spry_wave *wave = NULL;
    spry_status status = spry_field_new(grid, SPRY_TYPE_Z, false, medium, NULL, &k2);
    snprintf(options, sizeof options, "layer=5 tol=%g device=%s", tol, where);
    if (status == SPRY_STATUS_OK)
        status = spry_wave_new(grid, k2, options, &wave);
    if (status == SPRY_STATUS_OK && strcmp(where, "cpu") != 0)
        status = renew(wave, k2, where);
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
        spry_vector *on_device = numeric_random(ctx, d, SPRY_TYPE_Z, f->n, 0);
        spry_vector *source = numeric_random(ctx, d, SPRY_TYPE_Z, f->n, 0);
        assert_ok(ctx, spry_vector_copy(f, source));
        assert_ok(ctx, solve_on_device(grid, "cpu", 1e-9, transposes[k], f, u));
        assert_ok(ctx, solve_on_device(grid, d->facts.name, 1e-9, transposes[k], f, v));
        assert_ok(ctx,
                  solve_on_device(grid, d->facts.name, 1e-9, transposes[k], source, on_device));
        spry_vector *const found[] = {v, on_device};
        for (int i = 0; i < 2; i++) {
            assert_ok(ctx, spry_vector_copy(found[i], v));
            assert_ok(ctx, spry_vector_axpy((spry_scalar){-1, 0}, u, v));
            assert_true(numeric_norm(v) <= 2e-9 * numeric_norm(f) / LOSS);
        }
        spry_vector_free(u);
        spry_vector_free(v);
        spry_vector_free(on_device);
        spry_vector_free(source);
    }
    spry_vector_free(f);
    spry_grid_free(grid);
}

/* More than go through a pass together: each has the bits that it has alone. */
static void together(spry_context *ctx, spry_device *d)
{
    enum { COUNT = 5 };
    char options[96];
    spry_grid *grid;
    spry_wave *wave;
    spry_vector *k2, *f[COUNT], *u[COUNT], *alone;
    assert_ok(ctx, spry_grid_new(ctx, "9x6x4 box=0:9,0:6,0:4 boundary=neumann", &grid));
    assert_ok(ctx, spry_field_new(grid, SPRY_TYPE_Z, false, medium, NULL, &k2));
    snprintf(options, sizeof options, "layer=4 tol=1e-2 device=%s", d->facts.name);
    assert_ok(ctx, spry_wave_new(grid, k2, options, &wave));
    for (int k = 0; k < COUNT; k++) {
        f[k] = numeric_random(ctx, NULL, SPRY_TYPE_Z, 10 * 7 * 5, 3 + (uint64_t)k);
        u[k] = numeric_random(ctx, NULL, SPRY_TYPE_Z, f[k]->n, 0);
    }
    assert_ok(ctx, spry_wave_solve_many(wave, SPRY_TRANSPOSE_NO, COUNT,
                                        (const spry_vector *const *)f, u, NULL));
    alone = numeric_random(ctx, NULL, SPRY_TYPE_Z, f[0]->n, 0);
    for (int k = 0; k < COUNT; k++) {
        assert_ok(ctx, spry_wave_solve(wave, f[k], alone, NULL));
        assert_memory_equal(alone->data, u[k]->data, (size_t)alone->n * sizeof(spry_scalar));
        spry_vector_free(f[k]);
        spry_vector_free(u[k]);
    }
    spry_vector_free(alone);
    spry_vector_free(k2);
    spry_wave_free(wave);
    spry_grid_free(grid);
}

/* Whether two solvers know the same of their media, but for roundings of numbers of the same size.
 */
static void alike(spry_context *ctx, const spry_wave *one, const spry_wave *other)
{
    spry_wave_info a = SPRY_WAVE_INFO_INIT, b = SPRY_WAVE_INFO_INIT;
    assert_ok(ctx, spry_wave_describe(one, &a));
    assert_ok(ctx, spry_wave_describe(other, &b));
    assert_true(a.centre == b.centre && a.epsilon == b.epsilon);
    assert_true(a.per_wavelength == b.per_wavelength);
    assert_true(fabs(a.farthest - b.farthest) <= 16 * DBL_EPSILON * a.farthest);
}

/*
 * A medium that is on the device already: the same as by way of the host, for all types. Of complex
 * ones, which absorb, solutions are compared as in waves(). What is wrong with one is reported, and
 * the next is taken.
 */
static void another_medium(spry_context *ctx, spry_device *d)
{
    static const spry_type types[] = {SPRY_TYPE_Z, SPRY_TYPE_C, SPRY_TYPE_D, SPRY_TYPE_S};
    char options[96];
    spry_grid *grid;
    spry_wave *on_host, *on_device;
    spry_vector *plain;
    assert_ok(ctx, spry_grid_new(ctx, "9x6x4 box=0:9,0:6,0:4 boundary=neumann", &grid));
    snprintf(options, sizeof options, "layer=4 tol=1e-9 device=%s", d->facts.name);
    assert_ok(ctx, spry_vector_new(ctx, SPRY_TYPE_D, 1, NULL, SPRY_OWN_COPY, &plain));
    assert_ok(ctx, spry_vector_fill(plain, (spry_scalar){0.5, 0}));
    assert_ok(ctx, spry_wave_new(grid, plain, options, &on_host));
    assert_ok(ctx, spry_wave_new(grid, plain, options, &on_device));
    spry_vector *f = numeric_random(ctx, NULL, SPRY_TYPE_Z, 10 * 7 * 5, 3);
    spry_vector *u = numeric_random(ctx, NULL, SPRY_TYPE_Z, f->n, 0);
    spry_vector *v = numeric_random(ctx, NULL, SPRY_TYPE_Z, f->n, 0);
    for (int t = 0; t < 4; t++) {
        spry_vector *k2, *k2_on_device = numeric_random(ctx, d, types[t], f->n, 0), *bad;
        assert_ok(ctx, spry_field_new(grid, types[t], false, medium, NULL, &k2));
        assert_ok(ctx, spry_vector_copy(k2, k2_on_device));
        assert_ok(ctx, spry_vector_like(k2, k2->n, &bad));
        assert_ok(ctx, spry_vector_copy(k2, bad));
        value_set(types[t], bad->data, 10 * 7 + 11, (spry_scalar){t % 2 == 0 ? NAN : 12, 0});
        assert_ok(ctx, spry_vector_copy(bad, k2_on_device));
        assert_status(ctx, SPRY_STATUS_BAD_INPUT, spry_wave_set_medium(on_device, k2_on_device));
        support_message_has(ctx, "point (1, 1, 1)");
        assert_status(ctx, SPRY_STATUS_BAD_USAGE, spry_wave_solve(on_device, f, v, NULL));
        assert_ok(ctx, spry_vector_copy(k2, k2_on_device));
        assert_ok(ctx, spry_wave_set_medium(on_host, k2));
        assert_ok(ctx, spry_wave_set_medium(on_device, k2_on_device));
        alike(ctx, on_host, on_device);
        if (t < 2) {
            assert_ok(ctx, spry_wave_solve(on_host, f, u, NULL));
            assert_ok(ctx, spry_wave_solve(on_device, f, v, NULL));
            assert_ok(ctx, spry_vector_axpy((spry_scalar){-1, 0}, u, v));
            assert_true(numeric_norm(v) <= 2e-9 * numeric_norm(f) / LOSS);
        }
        spry_vector_free(k2);
        spry_vector_free(k2_on_device);
        spry_vector_free(bad);
    }
    spry_vector *const vectors[] = {plain, f, u, v};
    for (int k = 0; k < 4; k++)
        spry_vector_free(vectors[k]);
    spry_wave_free(on_host);
    spry_wave_free(on_device);
    spry_grid_free(grid);
}

/* k^2 = 0.4 to 0.7 for intervals of 1, in units of *data. */
static void medium_in_units(void *data, const double *place, spry_scalar *value)
{
    const double unit = *(const double *)data;
    *value = (spry_scalar){(0.4 + 0.3 * pow(sin(0.4 * place[0] / unit), 2)) / (unit * unit),
                           LOSS / (unit * unit)};
}

/* The same waves in units of 2^-30, as those of light have in metres: u is the same but for a power
 * of two, in single precision, too, where p^4 has no number. What is below 2^-126 may be 0. */
static void units(spry_context *ctx, spry_device *d)
{
    const double lengths[] = {1, ldexp(1, -30)}, strengths[] = {1, ldexp(1, -40)};
    spry_vector *u[2];
    for (int k = 0; k < 2; k++) {
        char text[160], options[96];
        double unit = lengths[k];
        spry_vector *k2, *f = numeric_random(ctx, NULL, SPRY_TYPE_C, 12 * 10 * 7, 5);
        spry_result result = SPRY_RESULT_INIT;
        spry_grid *grid;
        spry_wave *wave;
        snprintf(text, sizeof text, "11x9x6 box=0:%.17g,0:%.17g,0:%.17g boundary=neumann",
                 11 * unit, 9 * unit, 6 * unit);
        snprintf(options, sizeof options, "layer=5 tol=1e-4 type=c device=%s", d->facts.name);
        assert_ok(ctx, spry_grid_new(ctx, text, &grid));
        assert_ok(ctx, spry_field_new(grid, SPRY_TYPE_Z, false, medium_in_units, &unit, &k2));
        assert_ok(ctx, spry_vector_scale((spry_scalar){strengths[k], 0}, f));
        u[k] = numeric_random(ctx, NULL, SPRY_TYPE_C, f->n, 0);
        assert_ok(ctx, spry_wave_new(grid, k2, options, &wave));
        assert_ok(ctx, spry_wave_solve(wave, f, u[k], &result));
        assert_true(result.converged);
        spry_result_clear(ctx, &result);
        spry_wave_free(wave);
        spry_vector_free(k2);
        spry_vector_free(f);
        spry_grid_free(grid);
    }
    assert_ok(ctx, spry_vector_scale((spry_scalar){ldexp(1, 100), 0}, u[1]));
    for (int64_t i = 0; i < u[0]->n; i++) {
        const spry_scalar a = value_get(SPRY_TYPE_C, u[0]->data, i);
        const spry_scalar b = value_get(SPRY_TYPE_C, u[1]->data, i);
        assert_true(hypot(a.re - b.re, a.im - b.im) <= ldexp(1, -25));
    }
    spry_vector_free(u[0]);
    spry_vector_free(u[1]);
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
    return solve_on_device(j->grid, j->where, 0.5, SPRY_TRANSPOSE_NO, j->f, j->u);
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
                                         DEVICES_TEST(together),   DEVICES_TEST(another_medium),
                                         DEVICES_TEST(units),      DEVICES_TEST(failures)};
    return DEVICES_RUN(tests);
}
