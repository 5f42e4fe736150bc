/*
 * With f = kb^2 - k^2 the scattered field of a view is E_s = S f E_0, S the solution of
 * (laplace + k^2) u = (.), and E = E_0 + E_s. A small change of f changes w = f E by (1 + f S) df
 * E. The transpose of that, applied to waves b that go backwards from the camera, is E (b + S f b),
 * as S is symmetric: a second solve of the same kind.
 */
#include "odt/model.h"

#include "odt_sphere.h" /* made by the build: the text of sphere.knl */

#include <math.h>
#include <stdio.h>
#include <string.h>

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

static spry_status make_wave(odt_model *m)
{
    char options[160];
    const odt_setup *s = &m->setup;
    spry_status status = SPRY_STATUS_OK;
    snprintf(options, sizeof options, "tol=%.17g max-iter=%lld layer=%lld type=%s device=%.60s",
             s->tol, (long long)s->most_iterations, (long long)s->layer, s->type, s->device);
    ODT_GO(spry_vector_fill(m->medium, (spry_scalar){m->kb2, 0}));
    ODT_GO(spry_wave_new(m->grid, m->medium, options, &m->wave));
    if (strcmp(s->type, "c") == 0) {
        ODT_GO(new_vector(m, SPRY_TYPE_C, &m->cu));
        ODT_GO(new_vector(m, SPRY_TYPE_C, &m->cv));
    }
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
    if (!m->view || !m->light || !m->total)
        return SPRY_STATUS_NO_MEMORY;
    if (strcmp(setup->device, "cpu") != 0) {
        ODT_GO(spry_device_open(ctx, setup->device, &m->device));
        ODT_GO(spry_kernel_new(m->device, odt_sphere_text, "sphere_send", "type=z", &m->send));
    }
    ODT_GO(make_grid(m));
    ODT_GO(spry_vector_new(ctx, SPRY_TYPE_D, n, NULL, SPRY_OWN_COPY, &m->medium));
    ODT_GO(spry_vector_new(ctx, SPRY_TYPE_Z, n, NULL, SPRY_OWN_COPY, &m->here));
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
        if (m->total)
            spry_vector_free(m->total[i]);
    }
    spry_vector *const vectors[] = {m->medium, m->here, m->f,  m->u, m->v,
                                    m->x,      m->sum,  m->cu, m->cv};
    for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++)
        spry_vector_free(vectors[i]);
    spry_kernel_free(m->send);
    spry_wave_free(m->wave);
    spry_grid_free(m->grid);
    if (m->ctx) {
        spry_free(m->ctx, m->view);
        spry_free(m->ctx, m->light);
        spry_free(m->ctx, (void *)m->total);
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

static double contrast_of(const odt_model *m, const odt_particle *p)
{
    const double n = p->index / m->setup.fluid;
    return n * n - 1;
}

/* Visits the voxels of a sphere: their numbers in the volume and in the part, and its contrast. */
typedef void (*visit_fn)(void *data, int64_t in_volume, int64_t in_part, double contrast);

static void visit_sphere(const odt_model *m, const odt_particle *p, const odt_part *part,
                         visit_fn visit, void *data)
{
    const int64_t *n = m->setup.box.n;
    const double contrast = contrast_of(m, p);
    for (int64_t i = 0; i < part->n[0] * part->n[1] * part->n[2]; i++) {
        const int64_t voxel[3] = {part->begin[0] + i % part->n[0],
                                  part->begin[1] + i / part->n[0] % part->n[1],
                                  part->begin[2] + i / part->n[0] / part->n[1]};
        visit(data, (voxel[2] * n[1] + voxel[1]) * n[0] + voxel[0], i,
              contrast * odt_sphere_share(&m->setup.box, p, voxel));
    }
}

static void add_contrast(void *data, int64_t in_volume, int64_t in_part, double contrast)
{
    (void)in_part;
    ((double *)data)[in_volume] += contrast;
}

/* --- fields --------------------------------------------------------------------------------------
 */

/* u = S b, both where the model works. */
static spry_status solve(odt_model *m, spry_vector *b, spry_vector *u)
{
    spry_result result = SPRY_RESULT_INIT;
    const bool other = m->cu != NULL;
    spry_status status = SPRY_STATUS_OK;
    if (other)
        ODT_GO(spry_vector_copy(b, m->cu));
    ODT_GO(spry_wave_solve(m->wave, other ? m->cu : b, other ? m->cv : u, &result));
    if (other)
        ODT_GO(spry_vector_copy(m->cv, u));
    m->solves++;
    m->iterations += result.iterations;
    m->seconds += result.solve_seconds;
    if (result.reason == SPRY_REASON_STOPPED) {
        spry_context_set_message(m->ctx, "interrupted; with --checkpoint, --resume goes on");
        status = SPRY_STATUS_INTERRUPTED;
    } else if (!result.converged) {
        char text[240];
        snprintf(text, sizeof text,
                 "a solve of the wave equation ended with a residual of %.1e where %.1e was asked "
                 "for, after %lld iterations (%s); allow more by --max-iter, or a larger --tol",
                 result.true_residual, m->setup.tol, (long long)result.iterations,
                 spry_reason_text(result.reason));
        spry_context_set_message(m->ctx, text);
        status = SPRY_STATUS_BAD_INPUT;
    }
done:
    spry_result_clear(m->ctx, &result);
    return status;
}

/* to = b + S f b; b is kept. */
static spry_status through_medium(odt_model *m, spry_vector *b, spry_vector *to)
{
    spry_status status = SPRY_STATUS_OK;
    if (m->empty)
        return spry_vector_copy(b, to);
    ODT_GO(spry_vector_multiply(m->f, b, m->v));
    ODT_GO(solve(m, m->v, to));
    ODT_GO(spry_vector_axpy((spry_scalar){1, 0}, b, to));
done:
    return status;
}

/* The medium is in place: f, and the whole fields. */
static spry_status set_medium(odt_model *m)
{
    static const spry_scalar one = {1, 0};
    spry_status status = SPRY_STATUS_OK;
    const int64_t n = odt_voxels(&m->setup.box);
    const double *k2 = spry_vector_data_const(m->medium);
    spry_scalar *f = spry_vector_data(m->here);
    m->empty = true;
    for (int64_t i = 0; i < n; i++) {
        f[i] = (spry_scalar){m->kb2 - k2[i], 0};
        m->empty = m->empty && f[i].re == 0;
    }
    ODT_GO(spry_vector_copy(m->here, m->f));
    ODT_GO(spry_wave_set_medium(m->wave, m->medium));
    for (int i = 0; i < m->setup.views; i++) {
        ODT_GO(odt_waves_sum(&m->light[i], &one, m->u));
        ODT_GO(through_medium(m, m->u, m->total[i]));
    }
done:
    return status;
}

spry_status odt_model_set_contrast(odt_model *m, const double *contrast)
{
    double *k2 = spry_vector_data(m->medium);
    for (int64_t i = 0; i < odt_voxels(&m->setup.box); i++)
        k2[i] = m->kb2 * (1 + contrast[i]);
    return set_medium(m);
}

spry_status odt_model_set_particles(odt_model *m, const odt_particles *particles)
{
    double *k2 = spry_vector_data(m->medium);
    const int64_t n = odt_voxels(&m->setup.box);
    memset(k2, 0, (size_t)n * sizeof *k2);
    for (int j = 0; j < particles->count; j++) {
        const odt_part part = odt_sphere_part(&m->setup.box, &particles->p[j]);
        visit_sphere(m, &particles->p[j], &part, add_contrast, k2);
    }
    for (int64_t i = 0; i < n; i++)
        k2[i] = m->kb2 * (1 + k2[i]);
    return set_medium(m);
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

static void send(void *data, int64_t in_volume, int64_t in_part, double contrast)
{
    const sending *s = data;
    const double f = -s->kb2 * contrast;
    s->w[in_part] = (spry_scalar){f * s->field[in_volume].re, f * s->field[in_volume].im};
}

static spry_status send_on_device(odt_model *m, int view, const odt_particle *p,
                                  const odt_part *part)
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
    ODT_GO(odt_set_ints(m->send, 8, numbers));
    for (int a = 0; a < 3; a++)
        ODT_GO(spry_kernel_set_real(m->send, middles[a], odt_number(b, a, p->at[a])));
    ODT_GO(spry_kernel_set_real(m->send, "radius", 0.5 * p->diameter / b->h));
    ODT_GO(spry_kernel_set_real(m->send, "strength", -m->kb2 * contrast_of(m, p)));
    ODT_GO(spry_kernel_set_input(m->send, "field", m->total[view]));
    ODT_GO(spry_kernel_set_vector(m->send, "w", m->v));
    ODT_GO(spry_kernel_launch(m->send, 1, &n));
done:
    return status;
}

/* What a particle sends is w = f E on its part of the volume, in v. */
static spry_status see_particle(odt_model *m, int view, const odt_particle *p, spry_scalar *a)
{
    const odt_part part = odt_sphere_part(&m->setup.box, p);
    spry_status status = SPRY_STATUS_OK;
    if (m->device) {
        status = send_on_device(m, view, p, &part);
    } else {
        sending s = {spry_vector_data_const(m->total[view]), spry_vector_data(m->v), m->kb2};
        visit_sphere(m, p, &part, send, &s);
    }
    return status == SPRY_STATUS_OK ? read_amplitudes(m, view, &part, m->v, a) : status;
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

spry_status odt_model_see_change(odt_model *m, int view, const double *change, spry_scalar *a)
{
    spry_status status = SPRY_STATUS_OK;
    spry_scalar *df = spry_vector_data(m->here);
    for (int64_t i = 0; i < odt_voxels(&m->setup.box); i++)
        df[i] = (spry_scalar){-m->kb2 * change[i], 0};
    ODT_GO(spry_vector_copy(m->here, m->u));
    ODT_GO(spry_vector_multiply(m->u, m->total[view], m->u));
    if (!m->empty) { /* (1 + f S) df E */
        ODT_GO(solve(m, m->u, m->v));
        ODT_GO(spry_vector_multiply(m->f, m->v, m->v));
        ODT_GO(spry_vector_axpy((spry_scalar){1, 0}, m->v, m->u));
    }
    ODT_GO(see_source(m, view, m->u, a));
done:
    return status;
}

/* --- the image -----------------------------------------------------------------------------------
 */

spry_status odt_model_back(odt_model *m, int view, const spry_scalar *c)
{
    spry_status status = SPRY_STATUS_OK;
    ODT_GO(odt_waves_sum(&m->view[view].waves, c, m->u));
    ODT_GO(through_medium(m, m->u, m->x));
    ODT_GO(spry_vector_multiply(m->x, m->total[view], m->x));
done:
    return status;
}

spry_status odt_model_take(odt_model *m, const spry_vector *from, spry_scalar *to)
{
    spry_vector *here = NULL;
    spry_status status = SPRY_STATUS_OK;
    ODT_GO(spry_vector_new(m->ctx, SPRY_TYPE_Z, odt_voxels(&m->setup.box), to, SPRY_OWN_BORROW,
                           &here));
    ODT_GO(spry_vector_copy(from, here));
done:
    spry_vector_free(here);
    return status;
}

spry_status odt_model_image(odt_model *m, const spry_scalar *const *c, spry_scalar *image)
{
    spry_status status = SPRY_STATUS_OK;
    ODT_GO(spry_vector_fill(m->sum, (spry_scalar){0, 0}));
    for (int i = 0; i < m->setup.views; i++) {
        ODT_GO(odt_model_back(m, i, c[i]));
        ODT_GO(spry_vector_axpy((spry_scalar){1, 0}, m->x, m->sum));
    }
    ODT_GO(odt_model_take(m, m->sum, image));
done:
    return status;
}
