/*
 * The numbers of all particles fitted together: places, and as many of diameter, index and
 * absorption as are asked for, by damped steps of Gauss and Newton (Levenberg and Marquardt). The
 * derivatives are those of the model itself, with all multiple scattering: one solve for each
 * number and view. They are kept for as long as steps with them do well, as the slope is always
 * that of the present misfit; and made again at the end, for the covariance s^2 (J^T J)^-1.
 */
#include "odt/search.h"
#include "odt/small.h"

#include <math.h>
#include <string.h>

typedef struct fit {
    odt_search *s;
    int width, n; /* numbers of a particle, and of all */
    double *A;    /* J^T J */
    double *L, *step, *slope;
    double **J; /* of each view: the change of its numbers with each of ours */
    odt_particle *from;
} fit;

/* The change of the contrast with number p, to where the model expects it. */
static void put_change(const fit *f, int p)
{
    odt_model *m = f->s->m;
    const odt_box *b = &m->setup.box;
    const odt_particle *ball = &f->s->found.p[p / f->width];
    const odt_part part = odt_sphere_part(b, ball);
    spry_scalar *change = spry_vector_data(m->on_host);
    memset(change, 0, (size_t)odt_voxels(b) * sizeof *change);
    for (int64_t i = 0; i < part.n[0] * part.n[1] * part.n[2]; i++) {
        int64_t voxel[3];
        const int64_t k = odt_voxel_of(b, &part, i, voxel);
        change[k] = odt_change_of(m, ball, p % f->width, voxel);
    }
}

static spry_status find_jacobian(fit *f)
{
    odt_search *s = f->s;
    spry_status status = SPRY_STATUS_OK;
    memset(f->A, 0, (size_t)f->n * (size_t)f->n * sizeof *f->A);
    for (int p = 0; p < f->n; p++) {
        put_change(f, p);
        ODT_GO(odt_model_see_change(s->m, s->c));
        for (int i = 0; i < s->m->setup.views; i++) {
            const int numbers = odt_view_numbers(&s->m->view[i]);
            double *J = f->J[i] + (ptrdiff_t)p * numbers;
            odt_view_change(&s->m->view[i], s->c[i], J);
            for (int q = 0; q <= p; q++)
                f->A[p * f->n + q] += odt_dot(numbers, J, f->J[i] + (ptrdiff_t)q * numbers);
        }
    }
done:
    return status;
}

static spry_status find_slope(fit *f)
{
    const spry_status status = odt_search_look(f->s);
    for (int p = 0; p < f->n && status == SPRY_STATUS_OK; p++)
        f->slope[p] = odt_slope_of(f->s, p / f->width, p % f->width);
    return status;
}

/* A number that went from `from` by a step, within what can be. */
static double limit(const fit *f, const odt_particle *from, int number, double step)
{
    const odt_model *m = f->s->m;
    const odt_box *b = &m->setup.box;
    const double fluid = m->setup.fluid, h = b->h;
    const double sign = f->s->sample.index < fluid ? -1 : 1;
    odt_particle p = *from;
    const double was = *odt_number_of(&p, number);
    const double most = 0.25 * from->diameter;
    if (number < NUMBER_DIAMETER) {
        const double room = 0.5 * ((double)b->n[number] - 1) * h - 0.5 * from->diameter - 2 * h;
        return fmin(fmax(was + fmin(fmax(step * h, -most), most), fmin(-room, 0)), fmax(room, 0));
    }
    if (number == NUMBER_DIAMETER)
        return fmin(fmax(was + fmin(fmax(step * h, -most), most), 2 * h),
                    3 * f->s->sample.diameter);
    if (number == NUMBER_ABSORPTION)
        return fmin(fmax(was + step, 0), 10);
    const double contrast = sign * (was - fluid), up = sign * step;
    const double next = contrast + fmin(fmax(up, -0.5 * contrast), contrast);
    const double finest = 2 * acos(-1) * fluid / (m->setup.optics.k * 4 * h); /* 4 voxels to one */
    return fmax(fmin(fluid + sign * next, finest), 1);
}

/* A damped step from `from`; how far it goes, in voxels or hundredths of an index. */
static bool try_step(fit *f, double damping, double *longest)
{
    odt_search *s = f->s;
    *longest = 0;
    memcpy(f->L, f->A, (size_t)f->n * (size_t)f->n * sizeof *f->L);
    for (int p = 0; p < f->n; p++) {
        f->L[p * f->n + p] *= 1 + damping;
        f->step[p] = -f->slope[p];
    }
    if (!odt_factor(f->n, f->L))
        return false;
    odt_substitute(f->n, f->L, f->step);
    for (int p = 0; p < f->n; p++) {
        const int j = p / f->width, number = p % f->width;
        const double unit = number > NUMBER_DIAMETER ? 0.01 : s->m->setup.box.h;
        odt_particle *to = &s->found.p[j];
        double *value = odt_number_of(to, number);
        const double was = *odt_number_of(&f->from[j], number);
        *value = limit(f, &f->from[j], number, f->step[p]);
        *longest = fmax(*longest, fabs(*value - was) / unit);
    }
    return true;
}

/* One step to a smaller misfit; `gain`: the misfit after over before, 1 where there is none. */
static spry_status step_once(fit *f, double *damping, double *gain, double *longest)
{
    enum { TRIES = 5 };
    odt_search *s = f->s;
    const double before = s->misfit;
    const size_t bytes = (size_t)s->found.count * sizeof *f->from;
    spry_status status = SPRY_STATUS_OK;
    *gain = 1;
    ODT_GO(find_slope(f));
    memcpy(f->from, s->found.p, bytes);
    for (int k = 0; k < TRIES; k++, *damping *= 10) {
        if (!try_step(f, *damping, longest))
            continue;
        ODT_GO(odt_search_evaluate(s));
        if (s->misfit < before) {
            *gain = s->misfit / before;
            *damping = fmax(*damping / 10, 1e-9);
            return status;
        }
    }
    memcpy(s->found.p, f->from, bytes);
    ODT_GO(odt_search_evaluate(s));
done:
    return status;
}

/* Standard deviations, from what is left over at the least misfit. */
static void find_sigma(fit *f)
{
    odt_search *s = f->s;
    double numbers = 0;
    for (int i = 0; i < s->m->setup.views; i++)
        numbers += odt_view_numbers(&s->m->view[i]);
    const double variance = s->misfit * s->empty / fmax(numbers - f->n, 1);
    memcpy(f->L, f->A, (size_t)f->n * (size_t)f->n * sizeof *f->L);
    const bool known = odt_factor(f->n, f->L);
    for (int p = 0; p < f->n; p++) {
        const int number = p % f->width;
        memset(f->step, 0, (size_t)f->n * sizeof *f->step);
        f->step[p] = 1;
        if (known)
            odt_substitute(f->n, f->L, f->step);
        s->found.p[p / f->width].sigma[number] =
            known ? sqrt(variance * f->step[p]) * (number > NUMBER_DIAMETER ? 1 : s->m->setup.box.h)
                  : INFINITY;
    }
}

static spry_status make(fit *f)
{
    spry_context *ctx = f->s->m->ctx;
    const int views = f->s->m->setup.views;
    f->A = odt_alloc(ctx, (int64_t)f->n * f->n, sizeof *f->A);
    f->L = odt_alloc(ctx, (int64_t)f->n * f->n, sizeof *f->L);
    f->step = odt_alloc(ctx, f->n, sizeof *f->step);
    f->slope = odt_alloc(ctx, f->n, sizeof *f->slope);
    f->from = odt_alloc(ctx, f->s->found.count, sizeof *f->from);
    f->J = odt_alloc(ctx, views, sizeof *f->J);
    if (!f->A || !f->L || !f->step || !f->slope || !f->from || !f->J)
        return SPRY_STATUS_NO_MEMORY;
    for (int i = 0; i < views; i++) {
        f->J[i] =
            odt_alloc(ctx, (int64_t)f->n * odt_view_numbers(&f->s->m->view[i]), sizeof **f->J);
        if (!f->J[i])
            return SPRY_STATUS_NO_MEMORY;
    }
    return SPRY_STATUS_OK;
}

spry_status odt_search_fit(odt_search *s)
{
    enum { STEPS = 20 };
    const double least = 0.005, slow = 0.2, end = 0.999;
    fit f = {.s = s, .width = NUMBER_DIAMETER + s->fit};
    spry_context *ctx = s->m->ctx;
    double damping = 1e-3, gain = 1, longest = INFINITY;
    bool fresh = false;
    f.n = f.width * s->found.count;
    spry_status status = f.n > 0 ? make(&f) : SPRY_STATUS_OK;
    for (int k = 0; k < STEPS && f.n > 0 && status == SPRY_STATUS_OK; k++) {
        if (!fresh && gain > slow) {
            ODT_GO(find_jacobian(&f));
            fresh = true;
        }
        ODT_GO(step_once(&f, &damping, &gain, &longest));
        if (longest < least || (fresh && gain > end))
            break;
        fresh = false;
    }
    if (f.n > 0 && status == SPRY_STATUS_OK) {
        ODT_GO(find_jacobian(&f));
        find_sigma(&f);
    }
done:
    for (int i = 0; i < s->m->setup.views && f.J; i++)
        spry_free(ctx, f.J[i]);
    void *const parts[] = {f.A, f.L, f.step, f.slope, f.from, (void *)f.J};
    for (size_t k = 0; k < sizeof parts / sizeof *parts; k++)
        spry_free(ctx, parts[k]);
    return status;
}
