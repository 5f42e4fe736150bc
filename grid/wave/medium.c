/*
 * The medium of the padded grid. Beyond the faces of the box it goes on as it is there, in layers
 * that absorb by the rule of G. Osnabrugge, S. Leedumrongwatthanakun, I. Vellekoop, J. Comput.
 * Phys. 322 (2016), 113-124: with P_N(t) the first terms of exp(t), up to t^N / N!,
 *
 *     k^2(x) = k^2 + a^2 (N - a x + 2 i k x) (a x)^(N-1) / (P_N(a x) N!)
 *
 * lets P_N(a x) exp(i k x - a x) through without reflecting it. Two layers meet where the grid
 * closes around, and what leaves the box passes both before it comes in again.
 */
#include "grid/wave/wave.h"
#include "host/host.h"

#include <math.h>

enum { POWER = 4 };                    /* N */
static const double WAVELENGTHS = 2.5; /* that a layer is thick by itself */

spry_status wave_frame_make(spry_context *ctx, int64_t thickness, double longest, wave_frame *frame)
{
    double count = 1;
    frame->longest = longest;
    frame->count = 1;
    for (int a = 0; a < WAVE_AXES; a++) {
        frame->padded[a] = frame->box[a];
        frame->first[a] = 0;
        if (frame->open[a]) {
            const double layer =
                thickness > 0 ? (double)thickness : ceil(WAVELENGTHS * longest / frame->spacing[a]);
            if (!(layer < 1e9))
                return SPRY_FAIL(ctx, SPRY_STATUS_BAD_INPUT,
                                 "the longest wave at the faces is %.3g long, a layer for it has "
                                 "%.3g points: layer=N sets how many there shall be",
                                 longest, layer);
            frame->padded[a] = wave_good_length(frame->box[a] + 2 * (int64_t)layer);
            frame->first[a] = (frame->padded[a] - frame->box[a]) / 2;
        }
        count *= (double)frame->padded[a];
        if (count > 1e15)
            return SPRY_FAIL(ctx, SPRY_STATUS_BAD_INPUT,
                             "a padded grid of %.3g points and more; make the box or its layers "
                             "smaller",
                             count);
        frame->count *= frame->padded[a];
    }
    return SPRY_STATUS_OK;
}

/* What absorbs at a depth in a layer of a thickness; the imaginary part is to be multiplied with k
 * as it is at the face. */
static spry_scalar absorbed(double depth, double thickness, double strength)
{
    const double a = strength / thickness, t = a * depth;
    const double sum = 1 + t * (1 + t / 2 * (1 + t / 3 * (1 + t / POWER)));
    const double common = a * a * t * t * t / (24 * sum);
    return (spry_scalar){common * (POWER - t), common * 2 * depth};
}

/* A thick layer may be stronger before it reflects: found by experiment, see docs/born.md. */
static double strength_of(const wave_frame *frame, double thickness)
{
    const double s = 8 + 0.8 * (thickness / frame->longest - 1.5);
    return s < 6 ? 6 : s > 12 ? 12 : s;
}

/* Points of an axis that are outside of the box, and the nearest one within. */
static int64_t nearest_within(const wave_frame *frame, int axis, int64_t at, int64_t *outside)
{
    const int64_t i = at - frame->first[axis], last = frame->box[axis] - 1;
    const int64_t within = i < 0 ? 0 : i > last ? last : i;
    *outside = i < within ? within - i : i - within;
    return within;
}

spry_status wave_layers_make(spry_context *ctx, const wave_frame *frame,
                             spry_scalar *layer[WAVE_AXES])
{
    spry_scalar *all;
    const spry_status status =
        base_calloc(ctx, frame->padded[0] + frame->padded[1] + frame->padded[2], sizeof *all, &all);
    layer[0] = all;
    if (status != SPRY_STATUS_OK)
        return status;
    for (int a = 0; a < WAVE_AXES; a++) {
        const double h = frame->spacing[a];
        const double thickness = h * (double)(frame->padded[a] - frame->box[a]) / 2;
        layer[a] = a == 0 ? all : layer[a - 1] + frame->padded[a - 1];
        for (int64_t i = 0; i < frame->padded[a]; i++) {
            int64_t outside;
            (void)nearest_within(frame, a, i, &outside);
            if (outside > 0)
                layer[a][i] =
                    absorbed(h * (double)outside, thickness, strength_of(frame, thickness));
        }
    }
    return status;
}

static spry_scalar medium_at(const wave_frame *frame, spry_scalar *const layer[WAVE_AXES],
                             const spry_scalar *box, const int64_t at[WAVE_AXES])
{
    int64_t place = 0, outside, all = 0;
    for (int a = WAVE_AXES - 1; a >= 0; a--) {
        place = place * frame->box[a] + nearest_within(frame, a, at[a], &outside);
        all += outside;
    }
    spry_scalar k2 = box[place];
    const double k = all > 0 ? sqrt(fabs(k2.re)) : 0;
    for (int a = 0; all > 0 && a < WAVE_AXES; a++) {
        k2.re += layer[a][at[a]].re;
        k2.im += k * layer[a][at[a]].im;
    }
    return k2;
}

static void split(const int64_t n[WAVE_AXES], int64_t i, int64_t at[WAVE_AXES])
{
    for (int a = 0; a < WAVE_AXES; a++) {
        at[a] = i % n[a];
        i /= n[a];
    }
}

/* Points in the wavelength that belongs to k^2, at a spacing. */
static double points_of(double k2, double spacing)
{
    return 2 * M_PI / (sqrt(fabs(k2)) * spacing);
}

static spry_status report_fault(spry_context *ctx, const wave_frame *frame, spry_scalar k2,
                                int64_t place, int coarse)
{
    const double h = frame->spacing[coarse], points = points_of(k2.re, h);
    int64_t at[WAVE_AXES];
    split(frame->box, place, at);
    if (!value_finite(k2) || k2.im < 0)
        return SPRY_FAIL(ctx, SPRY_STATUS_BAD_INPUT,
                         "k^2 is %g%+gi at point (%" PRId64 ", %" PRId64 ", %" PRId64
                         "), expected finite numbers with an imaginary part of 0 or more: waves "
                         "are exp(i k r) here, and lose strength where k^2 has a positive "
                         "imaginary part",
                         k2.re, k2.im, at[0], at[1], at[2]);
    return SPRY_FAIL(ctx, SPRY_STATUS_BAD_INPUT,
                     "k^2 is %g at point (%" PRId64 ", %" PRId64 ", %" PRId64
                     "): the wavelength there is %.3g, %.3g points along %c; expected more than "
                     "2, and 4 or more to be of use: take a finer grid",
                     k2.re, at[0], at[1], at[2], points * h, points, "xyz"[coarse]);
}

spry_status wave_medium_check(spry_context *ctx, const wave_frame *frame, const spry_scalar *box,
                              wave_medium *medium)
{
    const int64_t count = frame->box[0] * frame->box[1] * frame->box[2];
    const int threads = host_threads(ctx, count);
    int coarse = 0;
    int64_t bad = count;
    double least = INFINITY, most = -INFINITY;
    for (int a = 1; a < frame->axes; a++)
        coarse = frame->spacing[a] > frame->spacing[coarse] ? a : coarse;
    const double h = frame->spacing[coarse];
#pragma omp parallel for num_threads(threads) schedule(static) reduction(min           \
                                                                         : least, bad) \
    reduction(max                                                                      \
              : most)
    for (int64_t i = 0; i < count; i++) {
        const bool too_short = box[i].re > 0 && points_of(box[i].re, h) <= 2;
        if (!value_finite(box[i]) || box[i].im < 0 || too_short)
            bad = i < bad ? i : bad;
        least = box[i].re < least ? box[i].re : least;
        most = box[i].re > most ? box[i].re : most;
    }
    medium->least = least;
    medium->most = most;
    if (bad < count)
        return report_fault(ctx, frame, box[bad], bad, coarse);
    if (most <= 0)
        return SPRY_FAIL(ctx, SPRY_STATUS_BAD_INPUT,
                         "the real part of k^2 is at most %g, expected one above 0 somewhere: "
                         "there are no waves in this medium",
                         most);
    return SPRY_STATUS_OK;
}

/* The longest wave at the faces, outside of which there are layers. */
double wave_medium_longest(const wave_frame *frame, const spry_scalar *box, double most)
{
    const int64_t count = frame->box[0] * frame->box[1] * frame->box[2];
    double least = most;
    for (int64_t i = 0; i < count; i++) {
        int64_t at[WAVE_AXES];
        bool is_face = false;
        split(frame->box, i, at);
        for (int a = 0; a < WAVE_AXES; a++)
            is_face = is_face || (frame->open[a] && (at[a] == 0 || at[a] == frame->box[a] - 1));
        /* Where waves hardly travel at all a layer of theirs is not needed. */
        if (is_face && box[i].re >= most / 100)
            least = fmin(least, box[i].re);
    }
    return 2 * M_PI / sqrt(least);
}

/* How near V comes to 0, over the shift: it is divided by. */
static double nearest(const spry_context *ctx, const wave_frame *frame, const wave_medium *medium)
{
    double least = INFINITY;
#pragma omp parallel for num_threads(host_threads(ctx, frame->count)) schedule(static) \
    reduction(min                                                                      \
              : least)
    for (int64_t i = 0; i < frame->count; i++) {
        const double re = medium->k2[i].re - medium->centre;
        const double im = medium->k2[i].im - medium->epsilon;
        const double square = re * re + im * im;
        least = square < least ? square : least;
    }
    return sqrt(least) / medium->epsilon;
}

void wave_medium_choose(double shift, wave_medium *medium)
{
    const double half = (medium->most - medium->least) / 2;
    medium->centre = (medium->most + medium->least) / 2;
    /* Any will do; the fewest iterations were found with these. */
    medium->epsilon =
        shift > 0 ? shift * medium->most : fmax(0.35 * fabs(medium->centre), 1.1 * half);
}

spry_status wave_medium_make(spry_context *ctx, const wave_frame *frame, const spry_scalar *box,
                             double shift, wave_medium *medium)
{
    spry_scalar *layer[WAVE_AXES] = {NULL};
    double farthest = 0;
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(ctx, base_alloc(ctx, frame->count, sizeof *medium->k2, &medium->k2));
    SPRY_GO(ctx, wave_layers_make(ctx, frame, layer));
    wave_medium_choose(shift, medium);
#pragma omp parallel for num_threads(host_threads(ctx, frame->count)) schedule(static) \
    reduction(max                                                                      \
              : farthest)
    for (int64_t i = 0; i < frame->count; i++) {
        int64_t at[WAVE_AXES];
        split(frame->padded, i, at);
        const spry_scalar k2 = medium_at(frame, layer, box, at);
        const double re = k2.re - medium->centre, square = re * re + k2.im * k2.im;
        medium->k2[i] = k2;
        farthest = square > farthest ? square : farthest;
    }
    medium->farthest = sqrt(farthest);
    for (int k = 0; k < WAVE_TRIES && nearest(ctx, frame, medium) < WAVE_NEAREST; k++)
        medium->epsilon *= WAVE_ASIDE;
done:
    base_free(ctx, layer[0]);
    return status;
}
