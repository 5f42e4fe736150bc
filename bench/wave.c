/*
 * usage: bench_wave [SIDE [TYPE [DEVICE [INDEX [OPTIONS]]]]]
 * A plane wave of ten points on four spheres in a cube of SIDE^3 points, each 3.2 wavelengths wide
 * and of a refractive index (1.1), solved by the Born series' operator: iterations, seconds, the
 * time of an iteration and what share of the read bandwidth its bytes are. Then a Fourier transform
 * of the padded grid by itself. OPTIONS are those of spry_wave_new(): "method=born tol=1e-3".
 */
#include "peers/peer.h"

#include <math.h>
#include <spry/grid.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double WAVELENGTH = 10, RADIUS = 15.8;

typedef struct scene {
    double side, index, k2;
} scene;

/* Whether a place is in one of the spheres, which stand at the corners of a tetrahedron. */
static bool is_inside(const scene *s, const double *place)
{
    static const double at[4][3] = {
        {0.3, 0.3, 0.3}, {0.7, 0.7, 0.3}, {0.7, 0.3, 0.7}, {0.3, 0.7, 0.7}};
    for (int k = 0; k < 4; k++) {
        double sum = 0;
        for (int a = 0; a < 3; a++)
            sum += (place[a] - at[k][a] * s->side) * (place[a] - at[k][a] * s->side);
        if (sum < RADIUS * RADIUS)
            return true;
    }
    return false;
}

static void medium(void *data, const double *place, spry_scalar *value)
{
    const scene *s = data;
    *value = (spry_scalar){s->k2 * (is_inside(s, place) ? s->index * s->index : 1), 0};
}

/* -(k^2 - kb^2) u0 of a plane wave along z */
static void source(void *data, const double *place, spry_scalar *value)
{
    const scene *s = data;
    const double contrast = is_inside(s, place) ? s->k2 * (s->index * s->index - 1) : 0;
    const double phase = sqrt(s->k2) * place[2];
    *value = (spry_scalar){-contrast * cos(phase), -contrast * sin(phase)};
}

/* The best of some transforms of the padded grid. */
static void print_transform(spry_context *ctx, const spry_wave_info *info, const char *options,
                            double bandwidth)
{
    char text[128];
    double best = 1e30;
    spry_grid *grid;
    spry_operator *F;
    spry_vector *x, *y, *a, *b;
    snprintf(text, sizeof text, "%dx%dx%d boundary=periodic", (int)info->padded[0],
             (int)info->padded[1], (int)info->padded[2]);
    peer_need(ctx, spry_grid_new(ctx, text, &grid));
    peer_need(ctx, spry_operator_fourier(grid, options, &F));
    const spry_type type = spry_operator_type(F);
    const int64_t n = spry_operator_rows(F);
    spry_device *device = spry_operator_device(F);
    peer_need(ctx, spry_field_new(grid, type, false, NULL, NULL, &a));
    peer_need(ctx, spry_vector_like(a, n, &b));
    x = a;
    y = b;
    if (device) {
        peer_need(ctx, spry_vector_on(device, type, n, NULL, &x));
        peer_need(ctx, spry_vector_on(device, type, n, NULL, &y));
    }
    peer_need(ctx, spry_vector_fill(x, (spry_scalar){1, 0}));
    for (int k = 0; k < 5; k++) {
        double seconds = 0;
        const double begin = peer_seconds();
        if (device)
            peer_need(ctx, spry_device_mark(device));
        peer_need(ctx, spry_operator_apply(F, x, y));
        if (device)
            peer_need(ctx, spry_device_elapsed(device, &seconds));
        else
            seconds = peer_seconds() - begin;
        best = seconds < best ? seconds : best;
    }
    printf("a transform: %.2f ms, %.2f of its bytes'\n", 1e3 * best,
           (double)spry_operator_bytes(F) / best / bandwidth);
    if (device) {
        spry_vector_free(x);
        spry_vector_free(y);
    }
    spry_vector_free(a);
    spry_vector_free(b);
    spry_operator_free(F);
    spry_grid_free(grid);
}

int main(int argc, char **argv)
{
    const int side = argc > 1 ? atoi(argv[1]) : 160;
    const char *type = argc > 2 ? argv[2] : "z", *where = argc > 3 ? argv[3] : "cpu";
    scene s = {.side = side, .index = argc > 4 ? atof(argv[4]) : 1.1};
    char text[128], options[256];
    spry_context *ctx;
    spry_grid *grid;
    spry_vector *k2, *f, *u;
    spry_wave *wave;
    spry_wave_info info = SPRY_WAVE_INFO_INIT;
    spry_bandwidth bandwidth = SPRY_BANDWIDTH_INIT;
    s.k2 = 4 * acos(-1.0) * acos(-1.0) / (WAVELENGTH * WAVELENGTH);
    if (side < 8 || spry_context_new(NULL, &ctx) != SPRY_STATUS_OK)
        return 2;
    snprintf(text, sizeof text, "%dx%dx%d box=0:%d,0:%d,0:%d boundary=neumann", side - 1, side - 1,
             side - 1, side - 1, side - 1, side - 1);
    peer_need(ctx, spry_grid_new(ctx, text, &grid));
    peer_need(ctx, spry_field_new(grid, SPRY_TYPE_D, false, medium, &s, &k2));
    const spry_type numbers = *type == 'c' ? SPRY_TYPE_C : SPRY_TYPE_Z;
    peer_need(ctx, spry_field_new(grid, numbers, false, source, &s, &f));
    peer_need(ctx, spry_vector_like(f, spry_vector_size(f), &u));
    snprintf(options, sizeof options, "type=%s device=%s %s", type, where, argc > 5 ? argv[5] : "");
    peer_need(ctx, spry_device_bandwidth(ctx, strcmp(where, "cpu") == 0 ? NULL : where, true,
                                         &bandwidth));
    const double begin = peer_seconds();
    peer_need(ctx, spry_wave_new(grid, k2, options, &wave));
    const double made = peer_seconds() - begin;
    peer_need(ctx, spry_wave_describe(wave, &info));
    printf("%d^3, type %s, %s, index %g: padded %dx%dx%d, %.1f points a wavelength, eps %.3f k0^2, "
           "%.2f GB; made in %.2f s\n",
           side, type, where, s.index, (int)info.padded[0], (int)info.padded[1],
           (int)info.padded[2], info.per_wavelength, info.epsilon / info.centre,
           1e-9 * (double)(info.bytes + info.solve_bytes), made);
    for (int k = 0; k < 2; k++) { /* programs are compiled for the first */
        spry_result result = SPRY_RESULT_INIT;
        const double from = peer_seconds();
        peer_need(ctx, spry_wave_solve(wave, f, u, &result));
        const double seconds = peer_seconds() - from;
        printf("%s: %d iterations of %s, residual %.1e, %.2f s; %.2f ms an iteration, %.2f of "
               "its bytes'\n",
               spry_reason_name(result.reason), (int)result.iterations, result.method,
               result.true_residual, seconds,
               1e3 * result.solve_seconds / (double)(result.iterations > 0 ? result.iterations : 1),
               result.bandwidth_fraction);
        spry_result_clear(ctx, &result);
        if (strcmp(where, "cpu") == 0)
            break;
    }
    spry_wave_free(wave);
    spry_vector_free(k2);
    spry_vector_free(f);
    spry_vector_free(u);
    spry_grid_free(grid);
    snprintf(options, sizeof options, "type=%s device=%s", type, where);
    print_transform(ctx, &info, options, bandwidth.read);
    spry_context_free(ctx);
    return 0;
}
