/*
 * Optics from holograms of particles: the size of a pixel (as the field), the plane in focus and
 * the tilt of each view, fitted together with the places of the particles by steps of Gauss and
 * Newton. What the holograms do not show (one camera knows no defocus, as all particles could be
 * further away) stays near where it was: each of these numbers is known beforehand to within
 * KNOWN_..., weighed against what is left of the holograms.
 */
#include "odt/odt.h"
#include "odt/small.h"

#include <math.h>
#include <string.h>

enum { OF_SCALE, OF_DISTANCE, OF_TILT }; /* tilts: two for each view; then places */
static const double KNOWN_SCALE = 0.05, KNOWN_TILT = 0.05, KNOWN_WAVES = 2;

typedef struct calibration {
    odt_run *r;
    odt_setup base; /* as the file has it */
    double *directions;
    odt_particles now;
    int views, n, numbers;
    double *x, *next; /* what is fitted, by steps of the derivative */
    double *y, *changed, *measured, *J, *A, *L, *step;
    double *sigma;
} calibration;

/* Steps of derivatives: what moves a particle's picture by about a quarter of a voxel. */
static double unit_of(const calibration *c, int p)
{
    const odt_box *b = &c->base.box;
    const double half = 0.5 * (double)b->n[0] * b->h;
    if (p == OF_DISTANCE)
        return b->h;
    return p < OF_TILT + 2 * c->views ? 0.25 * b->h / half : 0.25 * b->h;
}

/* How far off a number may be before anything is seen, in its unit; 0: as far as it likes. */
static double known_of(const calibration *c, int p)
{
    const double wavelength = 2 * acos(-1) / c->base.optics.k;
    const double known = p == OF_SCALE      ? KNOWN_SCALE
                         : p == OF_DISTANCE ? KNOWN_WAVES * wavelength
                                            : KNOWN_TILT;
    return p < OF_TILT + 2 * c->views ? known / unit_of(c, p) : 0;
}

/* The optics of x. The pupil stays that of the pixels: apertures become smaller as fields grow. */
static spry_status apply(const calibration *c, const double *x, odt_setup *s)
{
    *s = c->base;
    const double scale = 1 + x[OF_SCALE] * unit_of(c, OF_SCALE);
    s->optics.field *= scale;
    s->optics.sine /= scale;
    s->optics.distance += x[OF_DISTANCE] * unit_of(c, OF_DISTANCE);
    s->directions = c->directions;
    for (int i = 0; i < c->views; i++) {
        const double *from = c->base.directions + 6 * (ptrdiff_t)i;
        double *to = c->directions + 6 * (ptrdiff_t)i, right[3], up[3];
        double axis[3] = {from[3], from[4], from[5]};
        odt_camera_frame(axis, right, up);
        memcpy(to, from, 6 * sizeof *to);
        const bool in_line = odt_is_along(from, from + 3);
        for (int a = 0; a < 3; a++) {
            const double *tilt = x + OF_TILT + 2 * (ptrdiff_t)i;
            to[3 + a] = axis[a] + unit_of(c, OF_TILT) * (tilt[0] * right[a] + tilt[1] * up[a]);
            to[a] = in_line ? to[3 + a] : from[a];
        }
    }
    for (int j = 0; j < c->now.count; j++)
        for (int a = 0; a < 3; a++) {
            const int p = OF_TILT + 2 * c->views + 3 * j + a;
            c->now.p[j].at[a] = c->r->record.found.p[j].at[a] + x[p] * unit_of(c, p);
        }
    return s->optics.sine < 1 ? SPRY_STATUS_OK
                              : odt_fail(c->r->ctx, "the fitted field is too small for na");
}

/*
 * Phases of fields are those that the light has in the plane in focus, of views in line by how they
 * were measured. So with another plane they are others: the light's way to it.
 */
static spry_scalar turn_of(const calibration *c, const double *x, int view)
{
    const double *d = c->base.directions + 6 * (ptrdiff_t)view;
    const double way = x[OF_DISTANCE] * unit_of(c, OF_DISTANCE);
    const double phase = odt_is_along(d, d + 3) ? c->base.optics.k * way : 0;
    return (spry_scalar){cos(phase), sin(phase)};
}

/* The numbers that cameras would have; `measured` is set where it is not NULL. */
static spry_status predict(calibration *c, const double *x, double *y, double *measured)
{
    odt_setup setup;
    odt_model m = {0};
    spry_status status = apply(c, x, &setup);
    int at = 0;
    if (status != SPRY_STATUS_OK)
        return status;
    ODT_GO(odt_model_make(c->r->ctx, &setup, &m));
    ODT_GO(odt_model_set_particles(&m, &c->now));
    for (int i = 0; i < c->views; i++) {
        odt_view *v = &m.view[i];
        const int64_t square = (int64_t)v->optics.pixels * v->optics.pixels;
        spry_scalar *a = odt_alloc(c->r->ctx, v->count, sizeof *a);
        if (!a)
            ODT_GO(SPRY_STATUS_NO_MEMORY);
        status = odt_model_see(&m, i, a);
        if (status == SPRY_STATUS_OK) {
            const spry_scalar back = odt_conj(turn_of(c, x, i));
            for (int k = 0; v->optics.kind == KIND_FIELD && k < v->count; k++)
                a[k] = odt_times(a[k], back);
            odt_view_data(v, a, y + at);
            if (measured)
                odt_view_take(v, c->r->record.holo + i * square, measured + at);
            at += odt_view_numbers(v);
            c->numbers = at;
        }
        spry_free(c->r->ctx, a);
        ODT_GO(status);
    }
    c->r->model.solves += m.solves;
    c->r->model.iterations += m.iterations;
    c->r->model.seconds += m.seconds;
done:
    odt_model_free(&m);
    return status;
}

static double misfit_of(const calibration *c, const double *y)
{
    double sum = 0;
    for (int k = 0; k < c->numbers; k++)
        sum += (y[k] - c->measured[k]) * (y[k] - c->measured[k]);
    return sum;
}

/* J^T J, and what is known beforehand on its diagonal, for a variance of the holograms' numbers. */
static spry_status find_system(calibration *c, double variance)
{
    spry_status status = SPRY_STATUS_OK;
    for (int p = 0; p < c->n; p++) {
        double *J = c->J + (ptrdiff_t)p * c->numbers;
        memcpy(c->next, c->x, (size_t)c->n * sizeof *c->x);
        c->next[p] += 1;
        ODT_GO(predict(c, c->next, J, NULL));
        for (int k = 0; k < c->numbers; k++)
            J[k] -= c->y[k];
        for (int q = 0; q <= p; q++)
            c->A[p * c->n + q] = odt_dot(c->numbers, J, c->J + (ptrdiff_t)q * c->numbers);
        c->step[p] = 0;
        for (int k = 0; k < c->numbers; k++)
            c->step[p] -= J[k] * (c->y[k] - c->measured[k]);
        const double known = known_of(c, p);
        if (known > 0) {
            c->A[p * c->n + p] += variance / (known * known);
            c->step[p] -= variance / (known * known) * c->x[p];
        }
    }
    memcpy(c->L, c->A, (size_t)c->n * (size_t)c->n * sizeof *c->A);
    for (int p = 0; p < c->n; p++)
        c->L[p * c->n + p] *= 1 + 1e-9;
    if (!odt_factor(c->n, c->L))
        ODT_GO(odt_fail(c->r->ctx, "the holograms do not show where the particles are"));
done:
    return status;
}

static double variance_of(const calibration *c, double misfit)
{
    return fmax(misfit / fmax(c->numbers - c->n, 1), 1e-300);
}

/* Steps until none is longer than a hundredth of what a derivative's is. */
static spry_status descend(calibration *c, double *misfit)
{
    enum { STEPS = 12, HALVINGS = 4 };
    spry_status status = SPRY_STATUS_OK;
    bool again = true;
    ODT_GO(predict(c, c->x, c->y, c->measured));
    misfit[0] = misfit[1] = misfit_of(c, c->y);
    for (int k = 0; k < STEPS && again; k++) {
        double longest = 0;
        ODT_GO(find_system(c, variance_of(c, misfit[1])));
        odt_substitute(c->n, c->L, c->step);
        for (int p = 0; p < c->n; p++)
            longest = fmax(longest, fabs(c->step[p]));
        again = false;
        double share = fmin(1, 8 / fmax(longest, 1e-300)); /* two voxels */
        for (int h = 0; h < HALVINGS && !again; h++, share /= 3) {
            for (int p = 0; p < c->n; p++)
                c->next[p] = c->x[p] + share * c->step[p];
            ODT_GO(predict(c, c->next, c->changed, NULL));
            again = misfit_of(c, c->changed) < misfit[1];
        }
        if (again) {
            memcpy(c->x, c->next, (size_t)c->n * sizeof *c->x);
            memcpy(c->y, c->changed, (size_t)c->numbers * sizeof *c->y);
            again = longest > 0.02 && misfit_of(c, c->y) < 0.9999 * misfit[1];
            misfit[1] = misfit_of(c, c->y);
        }
    }
    ODT_GO(find_system(c, variance_of(c, misfit[1])));
    for (int p = 0; p < c->n; p++) {
        memset(c->step, 0, (size_t)c->n * sizeof *c->step);
        c->step[p] = 1;
        odt_substitute(c->n, c->L, c->step);
        c->sigma[p] = sqrt(variance_of(c, misfit[1]) * c->step[p]) * unit_of(c, p);
    }
done:
    return status;
}

static void report(const calibration *c, const double *misfit)
{
    const double degree = acos(-1) / 180;
    const double scale = 1 + c->x[OF_SCALE] * unit_of(c, OF_SCALE);
    const double pixel = c->base.optics.field / c->base.optics.pixels;
    printf("pixel         %.5f +- %.2g um, was %.5f\n", 1e6 * pixel * scale,
           1e6 * pixel * c->sigma[OF_SCALE], 1e6 * pixel);
    printf("distance      %.4f +- %.2g um, was %.4f\n",
           1e6 * (c->base.optics.distance + c->x[OF_DISTANCE] * unit_of(c, OF_DISTANCE)),
           1e6 * c->sigma[OF_DISTANCE], 1e6 * c->base.optics.distance);
    for (int i = 0; i < c->views; i++) {
        const int p = OF_TILT + 2 * i;
        printf("tilt %-8d %.3f +- %.2g degrees to the right, %.3f +- %.2g up\n", i + 1,
               c->x[p] * unit_of(c, p) / degree, c->sigma[p] / degree,
               c->x[p + 1] * unit_of(c, p + 1) / degree, c->sigma[p + 1] / degree);
    }
    printf("misfit        %.3e of what it was, %.2e per number\n", misfit[1] / misfit[0],
           variance_of(c, misfit[1]));
    printf("solves        %lld\n", (long long)c->r->model.solves);
}

/* What was fitted, to the record. */
static spry_status keep(calibration *c)
{
    odt_record *f = &c->r->record;
    odt_setup setup;
    const spry_status status = apply(c, c->x, &setup);
    f->setup[SETUP_field] = setup.optics.field;
    f->setup[SETUP_distance] = setup.optics.distance;
    const int64_t square = (int64_t)setup.optics.pixels * setup.optics.pixels;
    for (int64_t k = 0; k < c->views * square && setup.optics.kind == KIND_FIELD; k++)
        f->holo[k] = odt_times(f->holo[k], turn_of(c, c->x, (int)(k / square)));
    memcpy(f->directions, setup.directions, 6 * (size_t)c->views * sizeof *f->directions);
    for (int j = 0; j < f->found.count; j++) {
        memcpy(f->found.p[j].at, c->now.p[j].at, sizeof f->found.p[j].at);
        memset(f->found.p[j].sigma, 0, sizeof f->found.p[j].sigma);
    }
    return status;
}

static spry_status make(calibration *c)
{
    spry_context *ctx = c->r->ctx;
    const double *s = c->r->record.setup;
    const int64_t views = c->views, side = 2 * (int64_t)(c->base.optics.sine * c->base.optics.k *
                                                         c->base.optics.field / (2 * acos(-1))) +
                                           1;
    /* amplitudes are at most those of the square around the pupil */
    const int64_t most =
        views * (s[SETUP_kind] == KIND_FIELD ? 2 * side * side
                                             : (int64_t)(s[SETUP_pixels] * s[SETUP_pixels]));
    c->directions = odt_alloc(ctx, 6 * views, sizeof *c->directions);
    c->now.p = odt_alloc(ctx, c->now.count, sizeof *c->now.p);
    double **const small[] = {&c->x, &c->next, &c->step, &c->sigma};
    double **const large[] = {&c->y, &c->changed, &c->measured};
    bool made = c->directions && c->now.p;
    for (int k = 0; k < 4; k++)
        made = (*small[k] = odt_alloc(ctx, c->n, sizeof(double))) && made;
    for (int k = 0; k < 3; k++)
        made = (*large[k] = odt_alloc(ctx, most, sizeof(double))) && made;
    c->A = odt_alloc(ctx, (int64_t)c->n * c->n, sizeof *c->A);
    c->L = odt_alloc(ctx, (int64_t)c->n * c->n, sizeof *c->L);
    c->J = odt_alloc(ctx, c->n * most, sizeof *c->J);
    return made && c->A && c->L && c->J ? SPRY_STATUS_OK : SPRY_STATUS_NO_MEMORY;
}

spry_status odt_calibrate(odt_run *r)
{
    odt_record *f = &r->record;
    const odt_particles *from = f->found.count > 0 ? &f->found : &f->truth;
    calibration c = {.r = r, .base = r->setup, .views = f->views};
    double misfit[2] = {0};
    spry_status status = SPRY_STATUS_OK;
    if (from->count == 0)
        return odt_fail(r->ctx, "there are no particles to calibrate with; reconstruct makes a "
                                "result that has some");
    c.now.count = from->count;
    c.n = OF_TILT + 2 * c.views + 3 * from->count;
    ODT_GO(make(&c));
    memcpy(c.now.p, from->p, (size_t)from->count * sizeof *from->p);
    if (f->found.count == 0) { /* which the result has then */
        f->found.p = odt_alloc(r->ctx, from->count, sizeof *from->p);
        if (!f->found.p)
            ODT_GO(SPRY_STATUS_NO_MEMORY);
        memcpy(f->found.p, from->p, (size_t)from->count * sizeof *from->p);
        f->found.count = from->count;
    }
    progress_part(&r->line, 0, "optics and places");
    ODT_GO(descend(&c, misfit));
    ODT_GO(keep(&c));
    ODT_GO(odt_record_write(r->ctx, f, r->o->output));
    progress_clear(&r->line);
    report(&c, misfit);
done:;
    void *const parts[] = {c.directions, c.now.p, c.x, c.next, c.y,    c.changed,
                           c.measured,   c.J,     c.A, c.L,    c.step, c.sigma};
    for (size_t k = 0; k < sizeof parts / sizeof *parts; k++)
        spry_free(r->ctx, parts[k]);
    return status;
}
