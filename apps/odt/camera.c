/*
 * Cameras. With w = f E, f = k_b^2 - k^2 and E the whole field, the scattered field far along the
 * camera's axis is (Weyl's expansion of Green's function)
 *
 *     E_s(r) = -i / (8 pi^2) integral exp(i (k, r)) / gamma sum_r' h^3 w(r') exp(-i (k, r')) dp dq
 *
 * with k = p right + q up + gamma axis on the sphere |k| = k_b. A camera's picture of side L has p
 * and q in steps of 2 pi / L, so that amplitudes are factor * sum_r' w(r') exp(-i (k, r')).
 */
#include "odt/camera.h"

#include <math.h>
#include <string.h>

static const double PI = 3.14159265358979323846;

static double dot(const double *a, const double *b)
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

static void normalise(double *a)
{
    const double length = sqrt(dot(a, a));
    for (int i = 0; i < 3; i++)
        a[i] /= length;
}

static void cross(const double *a, const double *b, double *c)
{
    for (int i = 0; i < 3; i++)
        c[i] = a[(i + 1) % 3] * b[(i + 2) % 3] - a[(i + 2) % 3] * b[(i + 1) % 3];
}

/* Turns a vector round where its largest part is negative. */
static void make_positive(double *a)
{
    int most = 0;
    for (int i = 1; i < 3; i++)
        if (fabs(a[i]) > fabs(a[most]))
            most = i;
    const double sign = a[most] < 0 ? -1 : 1;
    for (int i = 0; i < 3; i++)
        a[i] *= sign;
}

bool odt_is_along(const double *a, const double *b)
{
    const double one = sqrt(dot(a, a)), other = sqrt(dot(b, b));
    bool same = true;
    for (int k = 0; k < 3; k++)
        same = same && fabs(a[k] / one - b[k] / other) <= 1e-6;
    return same;
}

/* A camera along z has x to its right and y up, one along x has y and z, one along y has x and z:
 * as pictures of volumes have them. A small tilt does not turn its picture round: of the axes of
 * the volume that are about as perpendicular to it as the most perpendicular one, the last counts.
 */
void odt_camera_frame(double *axis, double *right, double *up)
{
    static const double ABOUT = 0.1;
    int least = 0;
    double helper[3] = {0};
    normalise(axis);
    const double most = fmin(fmin(fabs(axis[0]), fabs(axis[1])), fabs(axis[2])) + ABOUT;
    for (int a = 0; a < 3; a++)
        if (fabs(axis[a]) <= most)
            least = a;
    helper[least] = 1;
    cross(axis, helper, right);
    normalise(right);
    cross(axis, right, up);
    make_positive(right);
    make_positive(up);
}

double odt_view_extent(const odt_box *box, const double *given)
{
    double axis[3] = {given[0], given[1], given[2]}, right[3], up[3], extent[2] = {0};
    odt_camera_frame(axis, right, up);
    for (int a = 0; a < 3; a++) {
        extent[0] += fabs(right[a]) * (double)box->n[a] * box->h;
        extent[1] += fabs(up[a]) * (double)box->n[a] * box->h;
    }
    return fmax(extent[0], extent[1]);
}

/* --- making --------------------------------------------------------------------------------------
 */

/* The directions of the pupil. */
static void fill_pupil(odt_view *v, double voxel)
{
    const odt_optics *o = &v->optics;
    const double step = 2 * PI / o->field;
    const int side = 2 * v->reach + 1;
    v->count = 0;
    for (int q = -v->reach; q <= v->reach; q++)
        for (int p = -v->reach; p <= v->reach; p++) {
            const double across = step * hypot(p, q);
            if (across > o->sine * o->k)
                continue;
            const double gamma = sqrt(o->k * o->k - across * across);
            const double phase = gamma * o->distance - PI / 2;
            const double size = voxel * voxel * voxel / (2 * o->field * o->field * gamma);
            for (int a = 0; a < 3; a++)
                v->k[3 * v->count + a] =
                    step * p * v->right[a] + step * q * v->up[a] + gamma * v->axis[a];
            v->place[v->count] = (q + v->reach) * side + p + v->reach;
            v->factor[v->count++] = (spry_scalar){size * cos(phase), size * sin(phase)};
        }
}

/* Pixel i is at (i - pixels / 2) field / pixels. */
static void fill_turns(odt_view *v)
{
    const int m = v->optics.pixels, middle = m / 2;
    for (int p = -v->reach; p <= v->reach; p++)
        for (int i = 0; i < m; i++) {
            const double phase = 2 * PI * p * (i - middle) / m;
            v->turn[(p + v->reach) * m + i] = (spry_scalar){cos(phase), sin(phase)};
        }
}

/* The light as the camera sees it where nothing scatters. */
static void fill_reference(odt_view *v)
{
    const odt_optics *o = &v->optics;
    const double step = o->field / o->pixels;
    const int middle = o->pixels / 2;
    const double k[3] = {o->k * dot(v->light, v->right), o->k * dot(v->light, v->up),
                         o->k * dot(v->light, v->axis)};
    for (int j = 0; j < o->pixels; j++)
        for (int i = 0; i < o->pixels; i++) {
            const double phase =
                k[0] * step * (i - middle) + k[1] * step * (j - middle) + k[2] * o->distance;
            v->reference[j * o->pixels + i] = (spry_scalar){cos(phase), sin(phase)};
        }
}

spry_status odt_view_make(spry_context *ctx, spry_device *device, const odt_box *box,
                          const odt_optics *optics, const double *light, const double *axis,
                          odt_view *v)
{
    *v = (odt_view){.ctx = ctx, .optics = *optics, .exposure = 1};
    memcpy(v->light, light, sizeof v->light);
    memcpy(v->axis, axis, sizeof v->axis);
    normalise(v->light);
    odt_camera_frame(v->axis, v->right, v->up);
    v->reach = (int)(optics->sine * optics->k * optics->field / (2 * PI));
    const int64_t side = 2 * v->reach + 1, m = optics->pixels;
    v->place = odt_alloc(ctx, side * side, sizeof *v->place);
    v->factor = odt_alloc(ctx, side * side, sizeof *v->factor);
    v->k = odt_alloc(ctx, 3 * side * side, sizeof *v->k);
    v->turn = odt_alloc(ctx, side * m, sizeof *v->turn);
    v->reference = odt_alloc(ctx, m * m, sizeof *v->reference);
    v->square = odt_alloc(ctx, side * side, sizeof *v->square);
    v->half = odt_alloc(ctx, side * m, sizeof *v->half);
    v->picture = odt_alloc(ctx, m * m, sizeof *v->picture);
    v->other = odt_alloc(ctx, m * m, sizeof *v->other);
    if (!v->place || !v->factor || !v->k || !v->turn || !v->reference || !v->square || !v->half ||
        !v->picture || !v->other)
        return SPRY_STATUS_NO_MEMORY;
    fill_pupil(v, box->h);
    fill_turns(v);
    fill_reference(v);
    v->measured = odt_alloc(ctx, odt_view_numbers(v), sizeof *v->measured);
    if (!v->measured)
        return SPRY_STATUS_NO_MEMORY;
    return odt_waves_make(ctx, device, box, v->count, v->k, &v->waves);
}

void odt_view_free(odt_view *v)
{
    if (!v->ctx)
        return;
    void *const parts[] = {v->place,  v->factor, v->k,       v->turn,  v->reference,
                           v->square, v->half,   v->picture, v->other, v->measured};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        spry_free(v->ctx, parts[i]);
    odt_waves_free(&v->waves);
    *v = (odt_view){0};
}

/* --- pictures ------------------------------------------------------------------------------------
 */

void odt_view_picture(odt_view *v, const spry_scalar *a, spry_scalar *picture)
{
    const int side = 2 * v->reach + 1, m = v->optics.pixels;
    memset(v->square, 0, (size_t)(side * side) * sizeof *v->square);
    for (int s = 0; s < v->count; s++)
        v->square[v->place[s]] = a[s];
    for (int q = 0; q < side; q++)
        for (int i = 0; i < m; i++) {
            spry_scalar sum = {0, 0};
            for (int p = 0; p < side; p++)
                sum = odt_plus(sum, odt_times(v->square[q * side + p], v->turn[p * m + i]));
            v->half[q * m + i] = sum;
        }
    for (int j = 0; j < m; j++)
        for (int i = 0; i < m; i++) {
            spry_scalar sum = {0, 0};
            for (int q = 0; q < side; q++)
                sum = odt_plus(sum, odt_times(v->half[q * m + i], v->turn[q * m + j]));
            picture[j * m + i] = sum;
        }
}

/* The inverse on pictures that amplitudes make, and 1 / pixels^2 of the adjoint on all. */
void odt_view_pupil(odt_view *v, const spry_scalar *picture, spry_scalar *a)
{
    const int side = 2 * v->reach + 1, m = v->optics.pixels;
    const double scale = 1 / ((double)m * m);
    for (int q = 0; q < side; q++)
        for (int i = 0; i < m; i++) {
            spry_scalar sum = {0, 0};
            for (int j = 0; j < m; j++)
                sum = odt_plus(sum, odt_times(picture[j * m + i], odt_conj(v->turn[q * m + j])));
            v->half[q * m + i] = sum;
        }
    for (int s = 0; s < v->count; s++) {
        const int q = v->place[s] / side, p = v->place[s] % side;
        spry_scalar sum = {0, 0};
        for (int i = 0; i < m; i++)
            sum = odt_plus(sum, odt_times(v->half[q * m + i], odt_conj(v->turn[p * m + i])));
        a[s] = (spry_scalar){scale * sum.re, scale * sum.im};
    }
}

/* --- holograms -----------------------------------------------------------------------------------
 */

int odt_view_numbers(const odt_view *v)
{
    const int m = v->optics.pixels;
    return v->optics.kind == KIND_FIELD ? 2 * v->count : m * m;
}

/* The whole field at the pixels: reference and what is scattered. */
static void whole_picture(odt_view *v, const spry_scalar *a, spry_scalar *picture)
{
    const int m = v->optics.pixels;
    odt_view_picture(v, a, picture);
    for (int i = 0; i < m * m; i++)
        picture[i] = odt_plus(picture[i], v->reference[i]);
}

void odt_view_data(odt_view *v, const spry_scalar *a, double *y)
{
    const int m = v->optics.pixels;
    if (v->optics.kind == KIND_FIELD) {
        memcpy(y, a, (size_t)v->count * sizeof *a);
        return;
    }
    whole_picture(v, a, v->picture);
    for (int i = 0; i < m * m; i++)
        y[i] = odt_square(v->picture[i]) / (2 * m);
}

void odt_view_change(odt_view *v, const spry_scalar *da, double *dy)
{
    const int m = v->optics.pixels;
    if (v->optics.kind == KIND_FIELD) {
        memcpy(dy, da, (size_t)v->count * sizeof *da);
        return;
    }
    odt_view_picture(v, da, v->other);
    for (int i = 0; i < m * m; i++)
        dy[i] = odt_times(odt_conj(v->picture[i]), v->other[i]).re / m;
}

void odt_view_back(odt_view *v, const double *r, spry_scalar *c)
{
    const int m = v->optics.pixels;
    if (v->optics.kind == KIND_FIELD) {
        for (int s = 0; s < v->count; s++)
            c[s] = (spry_scalar){r[2 * s], -r[2 * s + 1]};
        return;
    }
    for (int i = 0; i < m * m; i++) /* m^2 times 1 / m of dy */
        v->other[i] = (spry_scalar){m * r[i] * v->picture[i].re, m * r[i] * v->picture[i].im};
    odt_view_pupil(v, v->other, c);
    for (int s = 0; s < v->count; s++)
        c[s] = odt_conj(c[s]);
}

void odt_view_show(odt_view *v, const spry_scalar *a, spry_scalar *picture)
{
    const int m = v->optics.pixels;
    if (v->optics.kind == KIND_FIELD) {
        odt_view_picture(v, a, picture);
        return;
    }
    whole_picture(v, a, picture);
    for (int i = 0; i < m * m; i++)
        picture[i] = (spry_scalar){odt_square(picture[i]), 0};
}

void odt_view_take(odt_view *v, const spry_scalar *picture, double *y)
{
    const int m = v->optics.pixels;
    if (v->optics.kind == KIND_FIELD)
        odt_view_pupil(v, picture, (spry_scalar *)y);
    for (int i = 0; v->optics.kind != KIND_FIELD && i < m * m; i++)
        y[i] = picture[i].re / (2 * m);
}
