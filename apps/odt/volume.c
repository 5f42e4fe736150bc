/*
 * The index of all voxels: the contrast v = n^2 / fluid^2 - 1 that makes the misfit and a prior
 * small together, by conjugate gradients of the misfit itself (Polak and Ribiere), with the length
 * of each step from the first-order change of what cameras see, halved where that goes too far.
 * Three solves for each view and step, and one more for each halving. Coarse grids first: they have
 * the large shapes for little.
 */
#include "odt/odt.h"

#include <math.h>
#include <string.h>

/* A grid on the way, and what is known on it. */
typedef struct level {
    odt_model *m;
    odt_model own; /* of coarse grids */
    int64_t n;
    double sign;           /* of contrasts: particles are denser than the fluid, or less dense */
    double strength;       /* of the prior's slopes */
    double small;          /* slopes below it count as smooth; 0: all do */
    double *v, *g, *p, *w; /* contrast, half the gradient, direction, stiffness of the prior */
    double *old, *start;   /* the gradient before, and the contrast before a step */
    spry_scalar **c;
    double **rest;
    double misfit; /* sum of squares */
} level;

/* --- the prior -----------------------------------------------------------------------------------
 */

/* The difference to the next voxel of an axis; 0 at the last. */
static double slope(const odt_box *b, const double *v, int64_t k, const int64_t *at, int axis)
{
    const int64_t steps[3] = {1, b->n[0], b->n[0] * b->n[1]};
    return at[axis] + 1 < b->n[axis] ? v[k + steps[axis]] - v[k] : 0;
}

static void split(const odt_box *b, int64_t k, int64_t *at)
{
    at[0] = k % b->n[0];
    at[1] = k / b->n[0] % b->n[1];
    at[2] = k / b->n[0] / b->n[1];
}

/* Squares of slopes weigh the same everywhere; total variation weighs them by 1 / |slope|. */
static void find_stiffness(level *l)
{
    const odt_box *b = &l->m->setup.box;
    for (int64_t k = 0; k < l->n; k++) {
        int64_t at[3];
        double sum = l->small * l->small;
        split(b, k, at);
        for (int a = 0; a < 3; a++)
            sum += slope(b, l->v, k, at, a) * slope(b, l->v, k, at, a);
        l->w[k] = l->small > 0 ? 0.5 * l->strength / sqrt(sum) : l->strength;
    }
}

/* to += - div(w grad v), and (v, - div(w grad v)) */
static double add_prior(const level *l, const double *v, double *to)
{
    const odt_box *b = &l->m->setup.box;
    const int64_t steps[3] = {1, b->n[0], b->n[0] * b->n[1]};
    double sum = 0;
    for (int64_t k = 0; k < l->n; k++) {
        int64_t at[3];
        split(b, k, at);
        for (int a = 0; a < 3; a++) {
            const double d = slope(b, v, k, at, a), flow = l->w[k] * d;
            sum += flow * d;
            if (to && at[a] + 1 < b->n[a]) {
                to[k] -= flow;
                to[k + steps[a]] += flow;
            }
        }
    }
    return sum;
}

/* --- the misfit ----------------------------------------------------------------------------------
 */

static spry_status evaluate(level *l)
{
    spry_status status = SPRY_STATUS_OK;
    double sum = 0;
    ODT_GO(odt_model_set_contrast(l->m, l->v));
    for (int i = 0; i < l->m->setup.views; i++) {
        odt_view *v = &l->m->view[i];
        ODT_GO(odt_model_see(l->m, i, l->c[i]));
        sum += odt_view_difference(v, l->c[i], l->rest[i]);
    }
    l->misfit = sum;
done:
    return status;
}

static spry_status find_gradient(level *l, spry_scalar *image)
{
    for (int i = 0; i < l->m->setup.views; i++) {
        odt_view *v = &l->m->view[i];
        odt_view_back(v, l->rest[i], l->c[i]);
        for (int k = 0; k < v->count; k++)
            l->c[i][k] = odt_times(l->c[i][k], v->factor[k]);
    }
    const spry_status status = odt_model_image(l->m, (const spry_scalar *const *)l->c, image);
    for (int64_t k = 0; k < l->n; k++)
        l->g[k] = -l->m->kb2 * image[k].re;
    add_prior(l, l->v, l->g);
    return status;
}

/* Voxels of the fluid do not become less than it. */
static bool is_held(const level *l, int64_t k, double by)
{
    return l->v[k] == 0 && by * l->sign < 0;
}

static void find_direction(level *l, bool first)
{
    double change = 0, before = 0;
    for (int64_t k = 0; k < l->n; k++) {
        if (is_held(l, k, -l->g[k]))
            l->g[k] = 0;
        change += l->g[k] * (l->g[k] - l->old[k]);
        before += l->old[k] * l->old[k];
    }
    const double beta = !first && before > 0 ? fmax(change / before, 0) : 0;
    for (int64_t k = 0; k < l->n; k++) {
        l->p[k] = -l->g[k] + beta * l->p[k];
        if (is_held(l, k, l->p[k]))
            l->p[k] = 0;
    }
    memcpy(l->old, l->g, (size_t)l->n * sizeof *l->old);
}

/* How far along the direction the model to first order is least. */
static spry_status find_length(level *l, double *length)
{
    spry_status status = SPRY_STATUS_OK;
    double bend = add_prior(l, l->p, NULL);
    spry_scalar *change = spry_vector_data(l->m->on_host);
    for (int64_t k = 0; k < l->n; k++)
        change[k] = (spry_scalar){l->p[k], 0};
    ODT_GO(odt_model_see_change(l->m, l->c));
    for (int i = 0; i < l->m->setup.views; i++) {
        odt_view *v = &l->m->view[i];
        const int n = odt_view_numbers(v);
        odt_view_change(v, l->c[i], l->rest[i]);
        bend += odt_dot(n, l->rest[i], l->rest[i]);
    }
    *length = bend > 0 ? -odt_dot(l->n, l->g, l->p) / bend : 0;
done:
    return status;
}

/* Steps along the direction, less far until misfit and prior are less than they were; with the
 * stiffness of where it begins, the sum is above total variation and meets it there. False: the
 * contrast is as before, and the next direction is the gradient's. */
static spry_status go_along(level *l, double length, bool *better)
{
    enum { HALVINGS = 8 };
    const double before = l->misfit + add_prior(l, l->v, NULL);
    spry_status status = SPRY_STATUS_OK;
    memcpy(l->start, l->v, (size_t)l->n * sizeof *l->v);
    *better = false;
    for (int halving = 0; halving < HALVINGS && length > 0 && !*better; halving++, length /= 2) {
        for (int64_t k = 0; k < l->n; k++) {
            const double v = l->start[k] + length * l->p[k];
            l->v[k] = v * l->sign < 0 ? 0 : v;
        }
        ODT_GO(evaluate(l));
        *better = l->misfit + add_prior(l, l->v, NULL) < before;
    }
    if (!*better) {
        memcpy(l->v, l->start, (size_t)l->n * sizeof *l->v);
        memset(l->p, 0, (size_t)l->n * sizeof *l->p);
        ODT_GO(evaluate(l));
    }
done:
    return status;
}

/* --- levels --------------------------------------------------------------------------------------
 */

/* Voxels of a coarse grid that cover `voxels` fine ones. */
static int64_t coarse_side(int64_t voxels, int coarse)
{
    return (voxels + (1 << coarse) - 1) >> coarse;
}

static spry_status make_level(odt_run *r, int coarse, level *l)
{
    spry_context *ctx = r->ctx;
    const double *s = r->record.setup;
    const double n = s[SETUP_index] / s[SETUP_fluid], contrast = n * n - 1;
    spry_status status = SPRY_STATUS_OK;
    odt_setup setup = r->setup;
    l->m = &r->model;
    for (int a = 0; a < 3; a++)
        setup.box.n[a] = coarse_side(setup.box.n[a], coarse);
    setup.box.h *= 1 << coarse;
    setup.layer = coarse_side(setup.layer, coarse);
    if (coarse > 0) {
        l->m = &l->own;
        ODT_GO(odt_model_make(ctx, &setup, &l->own));
        ODT_GO(odt_model_make_back(&l->own));
        for (int i = 0; i < setup.views; i++)
            memcpy(l->own.view[i].measured, r->model.view[i].measured,
                   (size_t)odt_view_numbers(&l->own.view[i]) * sizeof(double));
    }
    l->n = odt_voxels(&setup.box);
    l->sign = contrast < 0 ? -1 : 1;
    /* one particle's surface costs `weight` of the empty volume's misfit */
    const double surface = acos(-1) * pow(s[SETUP_diameter] / setup.box.h, 2);
    const double share = r->o->weight * r->search.empty / surface;
    l->small = r->o->prior == PRIOR_TV ? 0.05 * fabs(contrast) : 0;
    l->strength = l->small > 0 ? share / fabs(contrast) : share / (contrast * contrast);
    double **const arrays[] = {&l->v, &l->g, &l->p, &l->w, &l->old, &l->start};
    for (size_t k = 0; k < sizeof arrays / sizeof *arrays; k++) {
        *arrays[k] = odt_alloc(ctx, l->n, sizeof(double));
        if (!*arrays[k])
            ODT_GO(SPRY_STATUS_NO_MEMORY);
    }
    l->c = odt_alloc(ctx, setup.views, sizeof *l->c);
    l->rest = odt_alloc(ctx, setup.views, sizeof *l->rest);
    for (int i = 0; i < setup.views && l->c && l->rest; i++) {
        l->c[i] = odt_alloc(ctx, l->m->view[i].count, sizeof(spry_scalar));
        l->rest[i] = odt_alloc(ctx, odt_view_numbers(&l->m->view[i]), sizeof(double));
        if (!l->c[i] || !l->rest[i])
            ODT_GO(SPRY_STATUS_NO_MEMORY);
    }
    if (!l->c || !l->rest)
        ODT_GO(SPRY_STATUS_NO_MEMORY);
done:
    return status;
}

static void free_level(spry_context *ctx, level *l, int views)
{
    for (int i = 0; i < views; i++) {
        spry_free(ctx, l->c ? l->c[i] : NULL);
        spry_free(ctx, l->rest ? l->rest[i] : NULL);
    }
    void *const parts[] = {l->v, l->g, l->p, l->w, l->old, l->start, (void *)l->c, (void *)l->rest};
    for (size_t k = 0; k < sizeof parts / sizeof *parts; k++)
        spry_free(ctx, parts[k]);
    odt_model_free(&l->own);
    *l = (level){0};
}

/* v of a coarser level, linear between its voxels. */
static void bring_up(const level *from, level *to)
{
    const odt_box *a = &from->m->setup.box, *b = &to->m->setup.box;
    for (int64_t k = 0; k < to->n; k++) {
        int64_t at[3], low[3];
        double part[3], sum = 0;
        split(b, k, at);
        for (int d = 0; d < 3; d++) {
            const double last = (double)(a->n[d] - 1);
            const double place =
                fmin(fmax(odt_number(a, d, odt_place(b, d, at[d])), 0), last - 1e-9);
            low[d] = (int64_t)place;
            part[d] = place - (double)low[d];
        }
        for (int corner = 0; corner < 8; corner++) {
            double weight = 1;
            int64_t number = 0;
            for (int d = 2; d >= 0; d--) {
                const int high = corner >> d & 1;
                weight *= high ? part[d] : 1 - part[d];
                number = number * a->n[d] + low[d] + high;
            }
            sum += weight * from->v[number];
        }
        to->v[k] = sum;
    }
}

/* --- checkpoints ---------------------------------------------------------------------------------
 */

/* The contrast of a grid, the direction and the gradient before it are a step's: one behind the
 * other, each with room for the finest grid, so that files of all grids are as long. The number of
 * a step has the grid's, too. */
enum { KEPT = 3, STEPS_MOST = 100000 };

static spry_status name_checkpoint(const odt_run *r, spry_vector **room, char what[ODT_NAME])
{
    char kind[80];
    snprintf(kind, sizeof kind, " volume %s %.9g", r->o->prior == PRIOR_TV ? "tv" : "smooth",
             r->o->weight);
    odt_checkpoint_name(r, kind, what);
    return spry_vector_new(r->ctx, SPRY_TYPE_D, KEPT * odt_voxels(&r->setup.box), NULL,
                           SPRY_OWN_COPY, room);
}

static void move_state(const odt_run *r, level *l, double *kept, bool write)
{
    double *const arrays[KEPT] = {l->v, l->p, l->old};
    for (int k = 0; k < KEPT; k++) {
        double *copy = kept + k * odt_voxels(&r->setup.box);
        memcpy(write ? copy : arrays[k], write ? arrays[k] : copy, (size_t)l->n * sizeof *copy);
    }
}

static spry_status keep(const odt_run *r, level *l, int coarse, int done)
{
    char what[ODT_NAME];
    spry_vector *room = NULL;
    spry_status status = SPRY_STATUS_OK;
    if (!r->o->checkpoint)
        return status;
    ODT_GO(name_checkpoint(r, &room, what));
    move_state(r, l, spry_vector_data(room), true);
    const spry_vector *const list[] = {room};
    ODT_GO(app_checkpoint_write(r->ctx, r->o->checkpoint, what, (int64_t)coarse * STEPS_MOST + done,
                                0, 1, list));
done:
    spry_vector_free(room);
    return status;
}

/* The grid of a checkpoint, and how many of its steps are done. */
static spry_status find_kept(const odt_run *r, spry_vector **room, int *coarse, int *done)
{
    char what[ODT_NAME];
    int64_t step = 0;
    double t = 0;
    spry_status status = SPRY_STATUS_OK;
    ODT_GO(name_checkpoint(r, room, what));
    spry_vector *const list[] = {*room};
    ODT_GO(app_checkpoint_read(r->ctx, r->o->checkpoint, what, &step, &t, 1, list));
    if (step < 0 || step / STEPS_MOST > *coarse)
        ODT_GO(odt_fail(r->ctx, "the checkpoint has a coarser grid than --grids allows"));
    *coarse = (int)(step / STEPS_MOST);
    *done = (int)(step % STEPS_MOST);
done:
    return status;
}

/* --- the course ----------------------------------------------------------------------------------
 */

static spry_status improve(odt_run *r, level *l, int coarse, int begin, spry_scalar *image)
{
    spry_status status = SPRY_STATUS_OK;
    const int steps = (int)r->o->steps;
    int vain = 0; /* steps that led nowhere, in a row; the second is the gradient's */
    char text[120];
    ODT_GO(evaluate(l));
    for (int k = begin; k < steps && vain < 2; k++) {
        double length = 0;
        bool better;
        snprintf(text, sizeof text, "voxels of %.3g um, step %d of %d, misfit %.3g",
                 1e6 * l->m->setup.box.h, k + 1, steps, l->misfit / r->search.empty);
        progress_part(&r->line, (double)k / steps / (1 << 3 * coarse), text);
        find_stiffness(l);
        ODT_GO(find_gradient(l, image));
        find_direction(l, k == 0);
        ODT_GO(find_length(l, &length));
        ODT_GO(go_along(l, length, &better));
        vain = better ? 0 : vain + 1;
        ODT_GO(keep(r, l, coarse, k + 1));
    }
    r->search.misfit = l->misfit / r->search.empty;
done:
    return status;
}

/* The coarsest grid that still has enough voxels to a wavelength, and along each side. */
static int coarsest(const odt_run *r)
{
    enum { LEAST = 4 };
    const int64_t *n = r->setup.box.n;
    int64_t side = n[0] < n[1] ? n[0] : n[1];
    side = n[2] < side ? n[2] : side;
    const double *s = r->record.setup;
    const double per =
        s[SETUP_wavelength] / (fmax(s[SETUP_index], s[SETUP_fluid]) * s[SETUP_voxel]);
    int coarse = (int)r->o->grids - 1;
    while (coarse > 0 && (per / (1 << coarse) < LEAST || coarse_side(side, coarse) < LEAST))
        coarse--;
    return coarse;
}

spry_status odt_volume(odt_run *r)
{
    spry_status status = SPRY_STATUS_OK;
    level now = {0}, before = {0};
    spry_vector *kept = NULL;
    int first = coarsest(r), begin = 0;
    if (odt_has_checkpoint(r))
        ODT_GO(find_kept(r, &kept, &first, &begin));
    for (int coarse = first; coarse >= 0; coarse--) {
        ODT_GO(make_level(r, coarse, &now));
        if (before.m)
            bring_up(&before, &now);
        else if (kept)
            move_state(r, &now, spry_vector_data(kept), false);
        spry_vector_free(kept);
        kept = NULL;
        free_level(r->ctx, &before, r->record.views);
        /* the search's image is as large as the finest grid */
        ODT_GO(improve(r, &now, coarse, begin, r->search.image));
        begin = 0;
        before = now;
        if (before.m == &now.own)
            before.m = &before.own;
        now = (level){0};
    }
done:
    spry_vector_free(kept);
    free_level(r->ctx, &now, r->record.views);
    free_level(r->ctx, &before, r->record.views);
    return status;
}
