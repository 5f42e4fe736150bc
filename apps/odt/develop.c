/*
 * An intensity is exposure * background * |1 + scattered|^2. Exposure and background, a polynomial
 * of degree 2 where there is no picture of it, are fitted by least squares whose weights fall with
 * the residual (Cauchy's), so that particles count little.
 *
 * An off-axis hologram is |R exp(-i (q, x)) + light (1 + E)|^2. What is at q in its spectrum (the
 * side band) is R light (1 + E) exp(i (q, x)). The carrier, R light exp(i (q, x)), is fitted
 * together with the background, and both are taken off before the rest is shifted: what is left of
 * them would leak into the aperture from the edges of the picture.
 */
#include "odt/develop.h"
#include "odt/small.h"

#include <math.h>
#include <spry/grid.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { COLUMNS = 8, SMOOTH = 6, ROUNDS = 10 };

/* What is fitted to a picture: columns at each pixel. */
typedef struct model {
    int pixels, columns;
    const float *background; /* NULL: a polynomial */
    bool carrier;
    double q[2];          /* of the carrier, in radians per pixel */
    double shape[SMOOTH]; /* its amplitude's */
    double x[COLUMNS];
} model;

static void powers_at(int pixels, int64_t i, int64_t j, double *c)
{
    const double u = (double)(2 * i - pixels) / pixels, v = (double)(2 * j - pixels) / pixels;
    const double powers[SMOOTH] = {1, u, v, u * u, u * v, v * v};
    memcpy(c, powers, sizeof powers);
}

/* The carrier's phase, and its amplitude over that in the middle. */
static double phase_at(const model *m, int64_t i, int64_t j)
{
    return m->q[0] * ((double)i - 0.5 * m->pixels) + m->q[1] * ((double)j - 0.5 * m->pixels);
}

static double shape_at(const model *m, int64_t i, int64_t j)
{
    double c[SMOOTH];
    powers_at(m->pixels, i, j, c);
    return odt_dot(SMOOTH, m->shape, c);
}

static void columns_at(const model *m, int64_t i, int64_t j, double *c)
{
    if (m->background)
        c[0] = (double)m->background[j * m->pixels + i];
    else
        powers_at(m->pixels, i, j, c);
    if (m->carrier) {
        const double phase = phase_at(m, i, j), shape = shape_at(m, i, j);
        c[SMOOTH] = shape * cos(phase);
        c[SMOOTH + 1] = shape * sin(phase);
    }
}

static double value_at(const model *m, int64_t i, int64_t j)
{
    double c[COLUMNS], sum = 0;
    columns_at(m, i, j, c);
    for (int k = 0; k < m->columns; k++)
        sum += m->x[k] * c[k];
    return sum;
}

static int compare_floats(const void *a, const void *b)
{
    const float x = *(const float *)a, y = *(const float *)b;
    return (x > y) - (x < y);
}

/* Least squares with a weight for each pixel; NULL: all 1. */
static bool fit_weighted(model *m, const float *grey, const float *weight)
{
    double A[COLUMNS * COLUMNS] = {0}, c[COLUMNS];
    const int n = m->columns;
    memset(m->x, 0, sizeof m->x);
    for (int64_t j = 0; j < m->pixels; j++)
        for (int64_t i = 0; i < m->pixels; i++) {
            const int64_t k = j * m->pixels + i;
            const double w = weight ? (double)weight[k] : 1;
            columns_at(m, i, j, c);
            for (int p = 0; p < n; p++) {
                m->x[p] += w * c[p] * (double)grey[k];
                for (int q = 0; q <= p; q++)
                    A[p * n + q] += w * c[p] * c[q];
            }
        }
    if (!odt_factor(n, A))
        return false;
    odt_substitute(n, A, m->x);
    return true;
}

/* The same with weights 1 / (1 + (r / s)^2), s the median of the residuals' moduli over 0.67. */
static spry_status fit_robust(spry_context *ctx, model *m, const float *grey)
{
    const int64_t n = (int64_t)m->pixels * m->pixels;
    float *weight = odt_alloc(ctx, n, sizeof *weight), *sorted = odt_alloc(ctx, n, sizeof *sorted);
    spry_status status = weight && sorted ? SPRY_STATUS_OK : SPRY_STATUS_NO_MEMORY;
    for (int round = 0; round < ROUNDS && status == SPRY_STATUS_OK; round++) {
        if (!fit_weighted(m, grey, round > 0 ? weight : NULL)) {
            spry_context_set_message(ctx, "the background is no background: it is all zero, or too "
                                          "few pixels");
            status = SPRY_STATUS_BAD_INPUT;
            break;
        }
        for (int64_t k = 0; k < n; k++)
            sorted[k] = fabsf(grey[k] - (float)value_at(m, k % m->pixels, k / m->pixels));
        memcpy(weight, sorted, (size_t)n * sizeof *weight);
        qsort(sorted, (size_t)n, sizeof *sorted, compare_floats);
        const float scale = fmaxf(sorted[n / 2] / 0.67f, 1e-6f);
        for (int64_t k = 0; k < n; k++)
            weight[k] = 1 / (1 + (weight[k] / scale) * (weight[k] / scale));
    }
    spry_free(ctx, weight);
    spry_free(ctx, sorted);
    return status;
}

/* --- the carrier ---------------------------------------------------------------------------------
 */

static double hann(int64_t i, int pixels)
{
    const double s = sin(acos(-1) * ((double)i + 0.5) / pixels);
    return s * s;
}

/* |spectrum|^2 at a frequency, of a picture that ends smoothly. */
static double power_at(const float *grey, int pixels, double mean, const double *q)
{
    double re = 0, im = 0;
    for (int64_t j = 0; j < pixels; j++) {
        double row_re = 0, row_im = 0;
        for (int64_t i = 0; i < pixels; i++) {
            const double v = hann(i, pixels) * ((double)grey[j * pixels + i] - mean);
            row_re += v * cos(q[0] * (double)i);
            row_im -= v * sin(q[0] * (double)i);
        }
        const double c = hann(j, pixels) * cos(q[1] * (double)j);
        const double s = -hann(j, pixels) * sin(q[1] * (double)j);
        re += row_re * c - row_im * s;
        im += row_re * s + row_im * c;
    }
    return re * re + im * im;
}

/* The largest bin of half of the spectrum beyond `reach` of its middle. */
static void find_bin(const spry_scalar *spectrum, int pixels, int reach, bool left, double *bin)
{
    double most = -1;
    for (int64_t k = 0; k < (int64_t)pixels * pixels; k++) {
        const int64_t i = k % pixels, j = k / pixels;
        const double p = (double)(i > pixels / 2 ? i - pixels : i);
        const double q = (double)(j > pixels / 2 ? j - pixels : j);
        const bool right = p > 0 || (p == 0 && q > 0);
        if (right == left || hypot(p, q) <= reach || odt_square(spectrum[k]) <= most)
            continue;
        most = odt_square(spectrum[k]);
        bin[0] = p;
        bin[1] = q;
    }
}

static spry_status transform(spry_context *ctx, int pixels, const float *grey, double mean,
                             spry_scalar *spectrum)
{
    char text[80];
    const int64_t n = (int64_t)pixels * pixels;
    spry_grid *grid = NULL;
    spry_operator *F = NULL;
    spry_vector *u = NULL, *v = NULL;
    spry_status status = SPRY_STATUS_OK;
    snprintf(text, sizeof text, "%dx%d boundary=neumann", pixels - 1, pixels - 1);
    ODT_GO(spry_grid_new(ctx, text, &grid));
    ODT_GO(spry_operator_fourier(grid, "type=z", &F));
    ODT_GO(spry_vector_new(ctx, SPRY_TYPE_Z, n, NULL, SPRY_OWN_COPY, &u));
    ODT_GO(spry_vector_new(ctx, SPRY_TYPE_Z, n, spectrum, SPRY_OWN_BORROW, &v));
    spry_scalar *values = spry_vector_data(u);
    for (int64_t k = 0; k < n; k++)
        values[k] = (spry_scalar){
            hann(k % pixels, pixels) * hann(k / pixels, pixels) * ((double)grey[k] - mean), 0};
    ODT_GO(spry_operator_apply(F, u, v));
done:
    spry_vector_free(u);
    spry_vector_free(v);
    spry_operator_free(F);
    spry_grid_free(grid);
    return status;
}

/* The carrier to a small part of a bin: tops of parabolas, each of a smaller step. */
static spry_status find_carrier(const odt_view *view, const float *grey, bool left,
                                spry_scalar *room, double *q)
{
    static const double steps[] = {0.5, 0.2, 0.05, 0.02};
    const int m = view->optics.pixels;
    const double unit = 2 * acos(-1) / m;
    double mean = 0, bin[2] = {0};
    for (int64_t k = 0; k < (int64_t)m * m; k++)
        mean += (double)grey[k] / ((double)m * m);
    const spry_status status = transform(view->ctx, m, grey, mean, room);
    if (status != SPRY_STATUS_OK)
        return status;
    find_bin(room, m, view->reach, left, bin);
    for (int a = 0; a < 2; a++)
        q[a] = unit * bin[a];
    for (size_t k = 0; k < 2 * sizeof steps / sizeof *steps; k++) {
        const int a = (int)(k % 2);
        const double step = unit * steps[k / 2], at = q[a];
        double log_power[3];
        for (int p = 0; p < 3; p++) {
            q[a] = at + (p - 1) * step;
            log_power[p] = log(fmax(power_at(grey, m, mean, q), 1e-300));
        }
        const double bend = log_power[0] - 2 * log_power[1] + log_power[2];
        const double by = bend < 0 ? 0.5 * (log_power[0] - log_power[2]) / bend : 0;
        q[a] = at + step * fmin(fmax(by, -2), 2);
    }
    return SPRY_STATUS_OK;
}

/* --- holograms -----------------------------------------------------------------------------------
 */

static spry_status refuse(spry_context *ctx, const char *text)
{
    spry_context_set_message(ctx, text);
    return SPRY_STATUS_BAD_INPUT;
}

static const char DARK[] = "the background has pixels that are dark: there is no light to divide "
                           "by";

/* What the carrier has to be, that there is a side band to take. */
static spry_status check_carrier(const odt_view *view, const model *m, odt_developed *found)
{
    const double unit = 2 * acos(-1) / m->pixels;
    const double far = hypot(m->q[0], m->q[1]) / unit;
    const double edge = fmax(fabs(m->q[0]), fabs(m->q[1])) / unit + view->reach;
    char text[300];
    found->overlaps = far < 3 * view->reach;
    for (int a = 0; a < 2; a++)
        found->carrier[a] = m->q[a] / (2 * acos(-1));
    if (found->fringes < 0.02)
        return refuse(view->ctx, "no carrier is in the image: an off-axis hologram has fringes all "
                                 "over it; in-line ones are of kind = intensity");
    if (edge > 0.5 * m->pixels) {
        snprintf(text, sizeof text,
                 "the carrier of %.3f %.3f cycles per pixel and the aperture reach beyond half a "
                 "cycle per pixel: the pixels are too coarse, or na is not that of the camera",
                 found->carrier[0], found->carrier[1]);
        return refuse(view->ctx, text);
    }
    return SPRY_STATUS_OK;
}

/* 2 / C times what is left over, shifted by the carrier, and turned as the light is. */
static spry_status take_side_band(odt_view *view, const model *m, const float *grey,
                                  spry_scalar carrier, const model *all, spry_scalar *picture)
{
    const double scale = 2 / odt_square(carrier);
    spry_scalar *a = odt_alloc(view->ctx, view->count, sizeof *a);
    if (!a)
        return SPRY_STATUS_NO_MEMORY;
    for (int64_t j = 0; j < m->pixels; j++)
        for (int64_t i = 0; i < m->pixels; i++) {
            const int64_t k = j * m->pixels + i;
            const double left = scale * ((double)grey[k] - value_at(all, i, j)) / shape_at(m, i, j);
            const double phase = phase_at(m, i, j);
            const spry_scalar turned =
                odt_times(odt_conj(carrier), (spry_scalar){cos(phase), -sin(phase)});
            picture[k] =
                odt_times((spry_scalar){left * turned.re, left * turned.im}, view->reference[k]);
        }
    odt_view_pupil(view, picture, a);
    odt_view_picture(view, a, picture);
    spry_free(view->ctx, a);
    return SPRY_STATUS_OK;
}

static spry_status develop_off_axis(odt_view *view, const float *grey, const float *background,
                                    bool left, spry_scalar *picture, odt_developed *found)
{
    const float *clean = background ? background : grey; /* whose carrier it is */
    model m = {.pixels = view->optics.pixels, .columns = SMOOTH + 2, .carrier = true, .shape = {1}};
    model all = {.pixels = m.pixels, .columns = 1, .background = background};
    spry_status status = SPRY_STATUS_OK;
    ODT_GO(find_carrier(view, clean, left, picture, m.q));
    ODT_GO(fit_robust(view->ctx, &m, clean));
    for (int k = 0; k < SMOOTH; k++) /* both waves have passed the same lenses */
        m.shape[k] = m.x[k] / m.x[0];
    for (int64_t k = 0; k < (int64_t)m.pixels * m.pixels; k++)
        if (!(shape_at(&m, k % m.pixels, k / m.pixels) > 0.01))
            return refuse(view->ctx, DARK);
    ODT_GO(fit_robust(view->ctx, &m, clean));
    if (background)
        ODT_GO(fit_robust(view->ctx, &all, grey));
    const double share = background ? all.x[0] : 1;
    const spry_scalar carrier = {share * m.x[SMOOTH], -share * m.x[SMOOTH + 1]};
    found->brightness = share * m.x[0];
    found->fringes = found->brightness > 0 ? sqrt(odt_square(carrier)) / found->brightness : 0;
    ODT_GO(check_carrier(view, &m, found));
    ODT_GO(take_side_band(view, &m, grey, carrier, background ? &all : &m, picture));
done:
    return status;
}

spry_status odt_develop(odt_view *view, const float *grey, const float *background, bool left,
                        spry_scalar *picture, odt_developed *found)
{
    const int pixels = view->optics.pixels;
    *found = (odt_developed){0};
    if (view->optics.kind == KIND_FIELD)
        return develop_off_axis(view, grey, background, left, picture, found);
    model m = {.pixels = pixels, .columns = background ? 1 : SMOOTH, .background = background};
    const spry_status status = fit_robust(view->ctx, &m, grey);
    found->brightness = value_at(&m, pixels / 2, pixels / 2);
    for (int64_t k = 0; k < (int64_t)pixels * pixels && status == SPRY_STATUS_OK; k++) {
        const double light = value_at(&m, k % pixels, k / pixels);
        if (!(light > 0.01 * found->brightness))
            return refuse(view->ctx, DARK);
        picture[k] = (spry_scalar){(double)grey[k] / light, 0};
    }
    return status;
}
