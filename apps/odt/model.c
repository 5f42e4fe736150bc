/*
 * With f = kb^2 - k^2 the scattered field of a view is E_s = S f E_0, S the solution of
 * (laplace + k^2) u = (.), and E = E_0 + E_s. A small change of f changes w = f E by (1 + f S) df
 * E. The transpose of that, applied to waves b that go backwards from the camera, is E (b + S f b),
 * as S is symmetric: a second solve of the same kind.
 */
#include "odt/model.h"

#include "odt_sphere.h" /* made by the build: the text of sphere.knl */

#include <math.h>
#include <private/programs.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

/* --- making --------------------------------------------------------------------------------------
 */

static spry_status new_vector(const odt_model *m, spry_type type, spry_vector **v)
{
    const int64_t n = odt_voxels(&m->setup.box);
    return m->device ? spry_vector_on(m->device, type, n, NULL, v)
                     : spry_vector_new(m->ctx, type, n, NULL, SPRY_OWN_COPY, v);
}

spry_status odt_model_vector(const odt_model *m, spry_vector **v)
{
    return new_vector(m, SPRY_TYPE_Z, v);
}

/* Voxels are points of a grid that has no known values. */
static spry_status make_grid(odt_model *m)
{
    const odt_box *b = &m->setup.box;
    char text[400];
    double low[3];
    for (int a = 0; a < 3; a++)
        low[a] = odt_place(b, a, 0);
    snprintf(text, sizeof text,
             "%lldx%lldx%lld box=%.17g:%.17g,%.17g:%.17g,%.17g:%.17g boundary=neumann",
             (long long)b->n[0] - 1, (long long)b->n[1] - 1, (long long)b->n[2] - 1, low[0],
             -low[0], low[1], -low[1], low[2], -low[2]);
    return spry_grid_new(m->ctx, text, &m->grid);
}

static spry_status make_views(odt_model *m)
{
    const odt_setup *s = &m->setup;
    spry_status status = SPRY_STATUS_OK;
    for (int i = 0; i < s->views; i++) {
        const double *light = s->directions + 6 * (ptrdiff_t)i;
        double k[3];
        ODT_GO(
            odt_view_make(m->ctx, m->device, &s->box, &s->optics, light, light + 3, &m->view[i]));
        for (int a = 0; a < 3; a++)
            k[a] = -s->optics.k * m->view[i].light[a]; /* waves are exp(-i (k, r)) */
        ODT_GO(odt_waves_make(m->ctx, m->device, &s->box, 1, k, &m->light[i]));
        ODT_GO(new_vector(m, SPRY_TYPE_Z, &m->total[i]));
    }
done:
    return status;
}

static spry_type type_of_solves(const odt_model *m)
{
    return strcmp(m->setup.type, "c") == 0 ? SPRY_TYPE_C : SPRY_TYPE_Z;
}

static spry_status make_wave(odt_model *m)
{
    char options[160];
    const odt_setup *s = &m->setup;
    spry_status status = SPRY_STATUS_OK;
    snprintf(options, sizeof options, "tol=%.17g max-iter=%lld layer=%lld type=%s device=%.60s",
             s->tol, (long long)s->most_iterations, (long long)s->layer, s->type, s->device);
    ODT_GO(spry_vector_fill(m->medium, (spry_scalar){m->kb2, 0}));
    ODT_GO(spry_wave_new(m->grid, m->medium, options, &m->wave));
    for (int i = 0; i < s->views; i++)
        ODT_GO(new_vector(m, type_of_solves(m), &m->source[i]));
done:
    return status;
}

spry_status odt_model_make(spry_context *ctx, const odt_setup *setup, odt_model *m)
{
    const int64_t n = odt_voxels(&setup->box);
    spry_status status = SPRY_STATUS_OK;
    *m = (odt_model){.ctx = ctx, .setup = *setup, .kb2 = setup->optics.k * setup->optics.k};
    m->view = odt_alloc(ctx, setup->views, sizeof *m->view);
    m->light = odt_alloc(ctx, setup->views, sizeof *m->light);
    m->total = odt_alloc(ctx, setup->views, sizeof *m->total);
    m->back = odt_alloc(ctx, setup->views, sizeof *m->back);
    m->source = odt_alloc(ctx, setup->views, sizeof *m->source);
    if (!m->view || !m->light || !m->total || !m->back || !m->source)
        return SPRY_STATUS_NO_MEMORY;
    if (strcmp(setup->device, "cpu") != 0) {
        ODT_GO(spry_device_open(ctx, setup->device, &m->device));
        ODT_GO(spry_kernel_new(m->device, odt_sphere_text, "sphere_send", "type=z", &m->send));
        ODT_GO(spry_kernel_new(m->device, odt_sphere_text, "sphere_add", "type=z", &m->add));
        ODT_GO(spry_kernel_new(m->device, odt_sphere_text, "medium_make", "type=z", &m->make));
    }
    ODT_GO(make_grid(m));
    ODT_GO(new_vector(m, SPRY_TYPE_Z, &m->medium));
    ODT_GO(spry_vector_new(ctx, SPRY_TYPE_Z, n, NULL, SPRY_OWN_COPY, &m->on_host));
    ODT_GO(new_vector(m, SPRY_TYPE_Z, &m->f));
    ODT_GO(new_vector(m, SPRY_TYPE_Z, &m->u));
    ODT_GO(new_vector(m, SPRY_TYPE_Z, &m->v));
    ODT_GO(new_vector(m, SPRY_TYPE_Z, &m->x));
    ODT_GO(new_vector(m, SPRY_TYPE_Z, &m->sum));
    ODT_GO(make_wave(m));
    ODT_GO(make_views(m));
done:
    return status;
}

void odt_model_free(odt_model *m)
{
    for (int i = 0; i < m->setup.views; i++) {
        if (m->view)
            odt_view_free(&m->view[i]);
        if (m->light)
            odt_waves_free(&m->light[i]);
        spry_vector **const lists[] = {m->total, m->back, m->source};
        for (int k = 0; k < 3; k++)
            if (lists[k])
                spry_vector_free(lists[k][i]);
    }
    spry_vector *const vectors[] = {m->medium, m->on_host, m->f, m->u, m->v, m->x, m->sum};
    for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++)
        spry_vector_free(vectors[i]);
    spry_kernel_free(m->send);
    spry_kernel_free(m->add);
    spry_kernel_free(m->make);
    spry_wave_free(m->wave);
    spry_grid_free(m->grid);
    if (m->ctx) {
        spry_free(m->ctx, m->view);
        spry_free(m->ctx, m->light);
        spry_free(m->ctx, (void *)m->total);
        spry_free(m->ctx, (void *)m->back);
        spry_free(m->ctx, (void *)m->source);
    }
    *m = (odt_model){0};
}

/* --- spheres -------------------------------------------------------------------------------------
 */

odt_part odt_sphere_part(const odt_box *box, const odt_particle *p)
{
    const double reach = 0.5 * p->diameter / box->h + 1;
    odt_part part;
    for (int a = 0; a < 3; a++) {
        const double middle = odt_number(box, a, p->at[a]);
        const double low = fmax(ceil(middle - reach), 0);
        const double high = fmin(floor(middle + reach), (double)(box->n[a] - 1));
        part.begin[a] = (int64_t)low;
        part.n[a] = high >= low ? (int64_t)(high - low) + 1 : 0;
    }
    return part;
}

/* 1 inside, 0 outside, a ramp of one voxel over the surface: as much as a plane there cuts off. */
double odt_sphere_share(const odt_box *box, const odt_particle *p, const int64_t *voxel)
{
    double distance = 0;
    for (int a = 0; a < 3; a++)
        distance = hypot(distance, odt_place(box, a, voxel[a]) - p->at[a]);
    return fmin(fmax((0.5 * p->diameter - distance) / box->h + 0.5, 0), 1);
}

spry_scalar odt_contrast_of(const odt_model *m, const odt_particle *p)
{
    const double n = p->index / m->setup.fluid, k = p->absorption / m->setup.fluid;
    return (spry_scalar){n * n - k * k - 1, 2 * n * k};
}

double odt_index_of(double fluid, spry_scalar contrast)
{
    const double re = 1 + contrast.re;
    return fluid * sqrt(0.5 * (hypot(re, contrast.im) + re));
}

/* Visits the voxels of a sphere: their numbers in the volume and in the part, and its contrast. */
typedef void (*visit_fn)(void *data, int64_t in_volume, int64_t in_part, spry_scalar contrast);

static void visit_sphere(const odt_model *m, const odt_particle *p, const odt_part *part,
                         visit_fn visit, void *data)
{
    const spry_scalar contrast = odt_contrast_of(m, p);
    for (int64_t i = 0; i < part->n[0] * part->n[1] * part->n[2]; i++) {
        int64_t voxel[3];
        const int64_t in_volume = odt_voxel_of(&m->setup.box, part, i, voxel);
        const double share = odt_sphere_share(&m->setup.box, p, voxel);
        visit(data, in_volume, i, (spry_scalar){share * contrast.re, share * contrast.im});
    }
}

static void add_contrast(void *data, int64_t in_volume, int64_t in_part, spry_scalar contrast)
{
    spry_scalar *all = data;
    (void)in_part;
    all[in_volume] = odt_plus(all[in_volume], contrast);
}

/* A kernel of spheres, with the voxels of a part; what it reads and writes was set. */
static spry_status launch_sphere(odt_model *m, spry_kernel *kernel, const odt_particle *p,
                                 const odt_part *part, spry_scalar strength)
{
    static const char *const middles[] = {"middle_x", "middle_y", "middle_z"};
    const odt_box *b = &m->setup.box;
    const int64_t n = part->n[0] * part->n[1] * part->n[2];
    const odt_argument numbers[] = {{"nx", b->n[0]},
                                    {"ny", b->n[1]},
                                    {"first_x", part->begin[0]},
                                    {"first_y", part->begin[1]},
                                    {"first_z", part->begin[2]},
                                    {"part_x", part->n[0]},
                                    {"part_y", part->n[1]},
                                    {"part_n", n}};
    spry_status status = SPRY_STATUS_OK;
    if (n == 0)
        return status;
    ODT_GO(odt_set_ints(kernel, 8, numbers));
    for (int a = 0; a < 3; a++)
        ODT_GO(spry_kernel_set_real(kernel, middles[a], odt_number(b, a, p->at[a])));
    ODT_GO(spry_kernel_set_real(kernel, "radius", 0.5 * p->diameter / b->h));
    ODT_GO(spry_kernel_set_real(kernel, "strength_re", strength.re));
    ODT_GO(spry_kernel_set_real(kernel, "strength_im", strength.im));
    ODT_GO(spry_kernel_launch(kernel, 1, &n));
done:
    return status;
}

/* --- fields --------------------------------------------------------------------------------------
 */

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static spry_status check_result(odt_model *m, const spry_result *result)
{
    m->solves++;
    m->iterations += result->iterations;
    if (result->reason == SPRY_REASON_STOPPED) {
        spry_context_set_message(m->ctx, "interrupted; with --checkpoint, --resume goes on");
        return SPRY_STATUS_INTERRUPTED;
    }
    if (!result->converged) {
        char text[240];
        snprintf(text, sizeof text,
                 "a solve of the wave equation ended with a residual of %.1e where %.1e was asked "
                 "for, after %lld iterations (%s); allow more by --max-iter, or a larger --tol",
                 result->true_residual, m->setup.tol, (long long)result->iterations,
                 spry_reason_text(result->reason));
        spry_context_set_message(m->ctx, text);
        return SPRY_STATUS_BAD_INPUT;
    }
    return SPRY_STATUS_OK;
}

/* What is in the sources becomes S times that, all views side by side. */
static spry_status solve(odt_model *m)
{
    const int views = m->setup.views;
    const double begun = now();
    spry_result *results = odt_alloc(m->ctx, views, sizeof *results);
    spry_status status = SPRY_STATUS_OK;
    if (!results)
        return SPRY_STATUS_NO_MEMORY;
    for (int i = 0; i < views; i++)
        results[i] = (spry_result)SPRY_RESULT_INIT;
    ODT_GO(spry_wave_solve_many(m->wave, SPRY_TRANSPOSE_NO, views,
                                (const spry_vector *const *)m->source, m->source, results));
    for (int i = 0; i < views; i++)
        ODT_GO(check_result(m, &results[i]));
    m->seconds += now() - begun;
done:
    for (int i = 0; i < views; i++)
        spry_result_clear(m->ctx, &results[i]);
    spry_free(m->ctx, results);
    return status;
}

/* What a view's source is to be: a times b. */
static spry_status put_source(odt_model *m, int view, const spry_vector *a, const spry_vector *b)
{
    spry_vector *source = m->source[view];
    const bool other = type_of_solves(m) != SPRY_TYPE_Z;
    const spry_status status = spry_vector_multiply(a, b, other ? m->v : source);
    return status == SPRY_STATUS_OK && other ? spry_vector_copy(m->v, source) : status;
}

/* What came of it, of type z; in v, where solves have another. */
static spry_status take_source(odt_model *m, int view, const spry_vector **s)
{
    const bool other = type_of_solves(m) != SPRY_TYPE_Z;
    *s = other ? m->v : m->source[view];
    return other ? spry_vector_copy(m->source[view], m->v) : SPRY_STATUS_OK;
}

/* Fields b of all views become b + S f b. */
static spry_status through_medium(odt_model *m, spry_vector *const *b)
{
    const spry_vector *scattered;
    spry_status status = SPRY_STATUS_OK;
    if (m->empty)
        return status;
    for (int i = 0; i < m->setup.views; i++)
        ODT_GO(put_source(m, i, m->f, b[i]));
    ODT_GO(solve(m));
    for (int i = 0; i < m->setup.views; i++) {
        ODT_GO(take_source(m, i, &scattered));
        ODT_GO(spry_vector_axpy((spry_scalar){1, 0}, scattered, b[i]));
    }
done:
    return status;
}

/* Of the contrast in the place of the medium: that itself, and f. */
static spry_status make_medium(odt_model *m)
{
    const int64_t n = odt_voxels(&m->setup.box);
    spry_status status = SPRY_STATUS_OK;
    if (m->device) {
        ODT_GO(spry_kernel_set_int(m->make, "n", n));
        ODT_GO(spry_kernel_set_real(m->make, "kb2", m->kb2));
        ODT_GO(spry_kernel_set_vector(m->make, "medium", m->medium));
        ODT_GO(spry_kernel_set_vector(m->make, "f", m->f));
        ODT_GO(spry_kernel_launch(m->make, 1, &n));
        return status;
    }
    spry_scalar *k2 = spry_vector_data(m->medium), *f = spry_vector_data(m->f);
    for (int64_t i = 0; i < n; i++) {
        k2[i] = (spry_scalar){m->kb2 * (1 + k2[i].re), m->kb2 * k2[i].im};
        f[i] = (spry_scalar){m->kb2 - k2[i].re, -k2[i].im};
    }
done:
    return status;
}

/* The contrast is in the medium's place: makes that, f, and the whole fields. */
static spry_status set_medium(odt_model *m)
{
    static const spry_scalar one = {1, 0};
    spry_status status = SPRY_STATUS_OK;
    ODT_GO(make_medium(m));
    ODT_GO(spry_wave_set_medium(m->wave, m->medium));
    for (int i = 0; i < m->setup.views; i++)
        ODT_GO(odt_waves_sum(&m->light[i], &one, m->total[i]));
    ODT_GO(through_medium(m, m->total));
done:
    return status;
}

spry_status odt_model_set_contrast(odt_model *m, const double *contrast)
{
    const int64_t n = odt_voxels(&m->setup.box);
    spry_vector *given = NULL;
    spry_status status = SPRY_STATUS_OK;
    m->empty = true;
    for (int64_t i = 0; i < n && m->empty; i++)
        m->empty = contrast[i] == 0;
    ODT_GO(spry_vector_new(m->ctx, SPRY_TYPE_D, n, (void *)(uintptr_t)contrast, SPRY_OWN_BORROW,
                           &given));
    ODT_GO(spry_vector_copy(given, m->medium));
    ODT_GO(set_medium(m));
done:
    spry_vector_free(given);
    return status;
}

void odt_model_contrast(const odt_model *m, const odt_particles *particles, spry_scalar *contrast)
{
    memset(contrast, 0, (size_t)odt_voxels(&m->setup.box) * sizeof *contrast);
    for (int j = 0; j < particles->count; j++) {
        const odt_part part = odt_sphere_part(&m->setup.box, &particles->p[j]);
        visit_sphere(m, &particles->p[j], &part, add_contrast, contrast);
    }
}

spry_status odt_model_set_particles(odt_model *m, const odt_particles *particles)
{
    spry_status status = SPRY_STATUS_OK;
    m->empty = particles->count == 0;
    if (m->device) {
        ODT_GO(spry_vector_fill(m->medium, (spry_scalar){0, 0}));
        ODT_GO(spry_kernel_set_vector(m->add, "contrast", m->medium));
        for (int j = 0; j < particles->count; j++) {
            const odt_particle *p = &particles->p[j];
            const odt_part part = odt_sphere_part(&m->setup.box, p);
            ODT_GO(launch_sphere(m, m->add, p, &part, odt_contrast_of(m, p)));
        }
    } else {
        odt_model_contrast(m, particles, spry_vector_data(m->medium));
    }
    ODT_GO(set_medium(m));
done:
    return status;
}

/* --- what cameras see ----------------------------------------------------------------------------
 */

static spry_status read_amplitudes(odt_model *m, int view, const odt_part *part,
                                   const spry_vector *w, spry_scalar *a)
{
    odt_view *v = &m->view[view];
    const spry_status status = odt_waves_read(&v->waves, part, w, a);
    for (int s = 0; s < v->count && status == SPRY_STATUS_OK; s++)
        a[s] = odt_times(a[s], v->factor[s]);
    return status;
}

typedef struct sending {
    const spry_scalar *field;
    spry_scalar *w;
    double kb2;
} sending;

static void send(void *data, int64_t in_volume, int64_t in_part, spry_scalar contrast)
{
    const sending *s = data;
    const spry_scalar f = {-s->kb2 * contrast.re, -s->kb2 * contrast.im};
    s->w[in_part] = odt_times(f, s->field[in_volume]);
}

/* What a particle sends is w = f E on its part of the volume, in v. */
static spry_status see_particle(odt_model *m, int view, const odt_particle *p, spry_scalar *a)
{
    const odt_part part = odt_sphere_part(&m->setup.box, p);
    spry_status status = SPRY_STATUS_OK;
    if (m->device) {
        ODT_GO(spry_kernel_set_input(m->send, "field", m->total[view]));
        ODT_GO(spry_kernel_set_vector(m->send, "w", m->v));
        const spry_scalar contrast = odt_contrast_of(m, p);
        const spry_scalar f = {-m->kb2 * contrast.re, -m->kb2 * contrast.im};
        ODT_GO(launch_sphere(m, m->send, p, &part, f));
    } else {
        sending s = {spry_vector_data_const(m->total[view]), spry_vector_data(m->v), m->kb2};
        visit_sphere(m, p, &part, send, &s);
    }
    ODT_GO(read_amplitudes(m, view, &part, m->v, a));
done:
    return status;
}

spry_status odt_model_see_particles(odt_model *m, int view, const odt_particles *particles,
                                    spry_scalar *a)
{
    spry_status status = SPRY_STATUS_OK;
    for (int j = 0; j < particles->count && status == SPRY_STATUS_OK; j++)
        status = see_particle(m, view, &particles->p[j], a + (ptrdiff_t)j * m->view[view].count);
    return status;
}

static spry_status see_source(odt_model *m, int view, const spry_vector *w, spry_scalar *a)
{
    odt_part all = {.begin = {0}};
    memcpy(all.n, m->setup.box.n, sizeof all.n);
    return read_amplitudes(m, view, &all, w, a);
}

spry_status odt_model_see(odt_model *m, int view, spry_scalar *a)
{
    const spry_status status = spry_vector_multiply(m->f, m->total[view], m->u);
    return status == SPRY_STATUS_OK ? see_source(m, view, m->u, a) : status;
}

spry_status odt_model_see_change(odt_model *m, spry_scalar *const *a)
{
    const spry_vector *scattered;
    spry_status status = SPRY_STATUS_OK;
    spry_scalar *df = spry_vector_data(m->on_host);
    for (int64_t i = 0; i < odt_voxels(&m->setup.box); i++)
        df[i] = (spry_scalar){-m->kb2 * df[i].re, -m->kb2 * df[i].im};
    ODT_GO(spry_vector_copy(m->on_host, m->x));
    for (int i = 0; i < m->setup.views && !m->empty; i++)
        ODT_GO(put_source(m, i, m->x, m->total[i]));
    if (!m->empty)
        ODT_GO(solve(m));
    for (int i = 0; i < m->setup.views; i++) { /* (1 + f S) df E */
        ODT_GO(spry_vector_multiply(m->x, m->total[i], m->u));
        if (!m->empty) {
            ODT_GO(take_source(m, i, &scattered));
            ODT_GO(spry_vector_multiply(m->f, scattered, m->v));
            ODT_GO(spry_vector_axpy((spry_scalar){1, 0}, m->v, m->u));
        }
        ODT_GO(see_source(m, i, m->u, a[i]));
    }
done:
    return status;
}

/* --- the image -----------------------------------------------------------------------------------
 */

spry_status odt_model_make_back(odt_model *m)
{
    spry_status status = SPRY_STATUS_OK;
    for (int i = 0; i < m->setup.views && status == SPRY_STATUS_OK; i++)
        if (!m->back[i])
            status = new_vector(m, SPRY_TYPE_Z, &m->back[i]);
    return status;
}

spry_status odt_model_back(odt_model *m, const spry_scalar *const *c)
{
    spry_status status = SPRY_STATUS_OK;
    ODT_GO(odt_model_make_back(m));
    for (int i = 0; i < m->setup.views; i++)
        ODT_GO(odt_waves_sum(&m->view[i].waves, c[i], m->back[i]));
    ODT_GO(through_medium(m, m->back));
done:
    return status;
}

spry_status odt_model_show(odt_model *m, int view)
{
    return spry_vector_multiply(m->back[view], m->total[view], m->x);
}

spry_status odt_model_take(odt_model *m, const spry_vector *from, spry_scalar *to)
{
    spry_vector *on_host = NULL;
    spry_status status = SPRY_STATUS_OK;
    ODT_GO(spry_vector_new(m->ctx, SPRY_TYPE_Z, odt_voxels(&m->setup.box), to, SPRY_OWN_BORROW,
                           &on_host));
    ODT_GO(spry_vector_copy(from, on_host));
done:
    spry_vector_free(on_host);
    return status;
}

spry_status odt_model_image(odt_model *m, const spry_scalar *const *c, spry_scalar *image)
{
    spry_status status = SPRY_STATUS_OK;
    ODT_GO(spry_vector_fill(m->sum, (spry_scalar){0, 0}));
    ODT_GO(odt_model_back(m, c));
    for (int i = 0; i < m->setup.views; i++) {
        ODT_GO(odt_model_show(m, i));
        ODT_GO(spry_vector_axpy((spry_scalar){1, 0}, m->x, m->sum));
    }
    ODT_GO(odt_model_take(m, m->sum, image));
done:
    return status;
}
