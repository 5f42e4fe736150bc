/*
 * Particles one after the other (NLODT-P, algorithm 7 of G. Ortega, 2014, after J. Lobera and J. M.
 * Coupland): the image of what is not explained yet, through the medium of the particles found so
 * far; its matched filter; the largest value; on. docs/odt.md lists the steps.
 */
#include "odt/search.h"

#include <math.h>
#include <string.h>

/* Particles do not come nearer to each other than this share of their diameter; places whose scores
 * are high are fitted together CANDIDATES at a time, and TRIES of these are tried. */
static const double APART = 0.5;
enum { CANDIDATES = 10, TRIES = 3 };
/* A particle that explains as much of what it sends is where it is. */
static const double SURE = 0.9;

/* Whether a particle can be at a place: not on one that was found, or refused. */
static bool is_free(const odt_search *s, const double *at)
{
    for (int j = 0; j < s->found.count + s->refusals; j++) {
        const double *other =
            j < s->found.count ? s->found.p[j].at : s->refused[j - s->found.count].at;
        const double distance = hypot(hypot(at[0] - other[0], at[1] - other[1]), at[2] - other[2]);
        if (distance < APART * s->sample.diameter)
            return false;
    }
    return true;
}

/* The top of a parabola through three values, from -0.5 to 0.5. */
static double parabola(double before, double middle, double after)
{
    const double bend = before - 2 * middle + after;
    return bend < 0 ? fmin(fmax(0.5 * (before - after) / bend, -0.5), 0.5) : 0;
}

/*
 * Whether a voxel is a top of the image's modulus. Real parts have fringes within that, and a
 * particle that others stand before, which are not found yet, comes with a wrong phase: its fringes
 * have tops next to its place. There the modulus has none; and where it has one, the real part is
 * small until the others are known. So the particles that are seen undisturbed come first.
 */
static bool is_top(const odt_search *s, const int64_t *at, int64_t margin, int64_t k,
                   const int64_t *steps)
{
    const int64_t *n = s->m->setup.box.n;
    const double own = odt_square(s->match[k]);
    for (int a = 0; a < 3; a++) /* those where no particle can be do not count */
        if ((at[a] > margin && own < odt_square(s->match[k - steps[a]])) ||
            (at[a] < n[a] - margin - 1 && own < odt_square(s->match[k + steps[a]])))
            return false;
    return true;
}

static double modulus(const odt_search *s, int64_t k)
{
    return sqrt(odt_square(s->match[k]));
}

/* The voxel with the largest score where a particle can be, the place refined within it. */
static odt_particle find_peak(const odt_search *s)
{
    const odt_box *b = &s->m->setup.box;
    const int64_t *n = b->n, steps[3] = {1, n[0], n[0] * n[1]};
    const int64_t margin = (int64_t)ceil(odt_search_margin(s));
    odt_particle best = s->sample;
    int64_t top = -1;
    best.score = -INFINITY;
    for (int64_t z = margin; z < n[2] - margin; z++)
        for (int64_t y = margin; y < n[1] - margin; y++)
            for (int64_t x = margin; x < n[0] - margin; x++) {
                const int64_t k = x + y * steps[1] + z * steps[2];
                const double at[3] = {odt_place(b, 0, x), odt_place(b, 1, y), odt_place(b, 2, z)};
                const int64_t voxel[3] = {x, y, z};
                const double score = odt_search_score(s, k);
                if (score <= best.score || !is_top(s, voxel, margin, k, steps) || !is_free(s, at))
                    continue;
                best.score = score;
                memcpy(best.at, at, sizeof best.at);
                top = k;
            }
    for (int a = 0; a < 3 && top >= 0; a++)
        best.at[a] += b->h * parabola(modulus(s, top - steps[a]), modulus(s, top),
                                      modulus(s, top + steps[a]));
    return best;
}

/* --- the search ----------------------------------------------------------------------------------
 */

/* Amplitudes of one particle near the middle, what it scores, and the filter. */
static spry_status learn_sample(odt_search *s)
{
    spry_status status = SPRY_STATUS_OK;
    const odt_box *b = &s->m->setup.box;
    const odt_particles one = {1, &s->sample};
    for (int a = 0; a < 3; a++)
        s->sample.at[a] = odt_place(b, a, b->n[a] / 2);
    ODT_GO(odt_model_set_particles(s->m, &one));
    for (int i = 0; i < s->m->setup.views; i++) {
        odt_view *v = &s->m->view[i];
        const int n = odt_view_numbers(v);
        ODT_GO(odt_model_see_particles(s->m, i, &one, s->sample_a[i]));
        memset(s->c[i], 0, (size_t)v->count * sizeof(spry_scalar));
        s->empty += odt_view_difference(v, s->c[i], s->rest[i]);
        double *with = spry_alloc(s->m->ctx, (size_t)n * sizeof *with);
        if (!with)
            return SPRY_STATUS_NO_MEMORY;
        odt_view_data(v, s->sample_a[i], with);
        odt_view_data(v, s->c[i], s->rest[i]); /* back at the empty volume */
        for (int k = 0; k < n; k++)
            with[k] = s->rest[i][k] - with[k];
        odt_view_back(v, with, s->c[i]);
        spry_free(s->m->ctx, with);
        for (int k = 0; k < v->count; k++)
            s->norm -= odt_times(s->c[i][k], s->sample_a[i][k]).re;
    }
    ODT_GO(odt_filter_learn(&s->filter, &s->sample, s->image));
done:
    return status;
}

spry_status odt_search_make(odt_search *s)
{
    spry_context *ctx = s->m->ctx;
    const int views = s->m->setup.views;
    const int64_t n = odt_voxels(&s->m->setup.box);
    s->sample_a = odt_alloc(ctx, views, sizeof *s->sample_a);
    s->alone = odt_alloc(ctx, views, sizeof *s->alone);
    s->rest = odt_alloc(ctx, views, sizeof *s->rest);
    s->c = odt_alloc(ctx, views, sizeof *s->c);
    s->image = odt_alloc(ctx, n, sizeof *s->image);
    s->match = odt_alloc(ctx, n, sizeof *s->match);
    s->found.p = odt_alloc(ctx, s->most + 1, sizeof *s->found.p);
    s->kept = odt_alloc(ctx, s->most + 1, sizeof *s->kept);
    s->start = odt_alloc(ctx, s->most + 1, sizeof *s->start);
    s->best = odt_alloc(ctx, s->most + 1, sizeof *s->best);
    s->refused = odt_alloc(ctx, 1 + CANDIDATES, sizeof *s->refused);
    if (!s->sample_a || !s->alone || !s->rest || !s->c || !s->image || !s->match || !s->found.p ||
        !s->kept || !s->start || !s->best || !s->refused)
        return SPRY_STATUS_NO_MEMORY;
    for (int i = 0; i < views; i++) {
        const int64_t count = s->m->view[i].count;
        s->sample_a[i] = odt_alloc(ctx, count, sizeof(spry_scalar));
        s->alone[i] = odt_alloc(ctx, count * (s->most + 1), sizeof(spry_scalar));
        s->rest[i] = odt_alloc(ctx, odt_view_numbers(&s->m->view[i]), sizeof(double));
        s->c[i] = odt_alloc(ctx, count, sizeof(spry_scalar));
        if (!s->sample_a[i] || !s->alone[i] || !s->rest[i] || !s->c[i])
            return SPRY_STATUS_NO_MEMORY;
    }
    spry_status status = odt_model_make_back(s->m);
    if (status == SPRY_STATUS_OK)
        status = odt_filter_make(s->m, &s->filter);
    return status == SPRY_STATUS_OK ? learn_sample(s) : status;
}

void odt_search_free(odt_search *s)
{
    spry_context *ctx = s->m ? s->m->ctx : NULL;
    if (!ctx)
        return;
    for (int i = 0; i < s->m->setup.views; i++) {
        spry_free(ctx, s->sample_a ? s->sample_a[i] : NULL);
        spry_free(ctx, s->alone ? s->alone[i] : NULL);
        spry_free(ctx, s->rest ? s->rest[i] : NULL);
        spry_free(ctx, s->c ? s->c[i] : NULL);
    }
    spry_free(ctx, (void *)s->sample_a);
    spry_free(ctx, (void *)s->alone);
    spry_free(ctx, (void *)s->rest);
    spry_free(ctx, (void *)s->c);
    spry_free(ctx, s->image);
    spry_free(ctx, s->match);
    odt_filter_free(&s->filter);
    spry_free(ctx, s->found.p);
    spry_free(ctx, s->kept);
    spry_free(ctx, s->start);
    spry_free(ctx, s->best);
    spry_free(ctx, s->refused);
}

/* Peaks of one image, the largest first. */
static spry_status take_peaks(odt_search *s)
{
    spry_status status = odt_search_look(s);
    while (status == SPRY_STATUS_OK && s->found.count < s->most) {
        const odt_particle p = find_peak(s);
        if (!(p.score >= s->threshold))
            break;
        s->found.p[s->found.count++] = p;
        status = s->note ? s->note(s->data) : SPRY_STATUS_OK;
    }
    return status;
}

/* How much worse the misfit would be without a particle, to first order, over what the particle
 * sends: 1 where it explains all of that, below 0 where it explains nothing. */
static spry_status worth_of(odt_search *s, int j, double *worth)
{
    double loss = 0, sent = 0;
    for (int i = 0; i < s->m->setup.views; i++) {
        odt_view *v = &s->m->view[i];
        const int n = odt_view_numbers(v);
        double *dy = odt_alloc(s->m->ctx, n, sizeof *dy);
        if (!dy)
            return SPRY_STATUS_NO_MEMORY;
        odt_view_change(v, s->alone[i] + (ptrdiff_t)j * v->count, dy);
        const double square = odt_dot(n, dy, dy);
        loss += square - 2 * odt_dot(n, s->rest[i], dy);
        sent += square;
        spry_free(s->m->ctx, dy);
    }
    *worth = sent > 0 ? loss / sent : 0;
    return SPRY_STATUS_OK;
}

/* All as it was before the last trial. */
static void put_back(odt_search *s, int count)
{
    memcpy(s->found.p, s->kept, (size_t)count * sizeof *s->kept);
    s->found.count = count;
}

static void keep(odt_search *s)
{
    memcpy(s->kept, s->found.p, (size_t)s->found.count * sizeof *s->kept);
}

/* The numbers that a particle would add to a view, as if it were alone: those of the sample,
 * turned. */
static void expect(odt_search *s, int view, const double *at, spry_scalar *da, double *dy)
{
    odt_view *v = &s->m->view[view];
    for (int k = 0; k < v->count; k++) {
        double phase = 0;
        for (int a = 0; a < 3; a++)
            phase +=
                (s->m->setup.optics.k * v->light[a] - v->k[3 * k + a]) * (at[a] - s->sample.at[a]);
        da[k] = odt_times(s->sample_a[view][k], (spry_scalar){cos(phase), sin(phase)});
    }
    odt_view_change(v, da, dy);
}

/* Products with each other of what candidates would add. */
static spry_status compare(odt_search *s, int count, const odt_particle *p, double *A)
{
    spry_context *ctx = s->m->ctx;
    for (int i = 0; i < s->m->setup.views; i++) {
        odt_view *v = &s->m->view[i];
        const int n = odt_view_numbers(v);
        double *dy = odt_alloc(ctx, (int64_t)count * n, sizeof *dy);
        spry_scalar *da = odt_alloc(ctx, v->count, sizeof *da);
        for (int j = 0; j < count && dy && da; j++) {
            expect(s, i, p[j].at, da, dy + (ptrdiff_t)j * n);
            for (int k = 0; k <= j; k++) {
                A[j * count + k] += odt_dot(n, dy + (ptrdiff_t)j * n, dy + (ptrdiff_t)k * n);
                A[k * count + j] = A[j * count + k];
            }
        }
        const bool made = dy && da;
        spry_free(ctx, dy);
        spry_free(ctx, da);
        if (!made)
            return SPRY_STATUS_NO_MEMORY;
    }
    return SPRY_STATUS_OK;
}

/*
 * Places to try, the most likely first. Where flanks of several particles meet, the score can be
 * higher than at any of them: so the highest places are fitted together, each with a share from 0
 * to 1 of a particle, which go round by round to where the misfit is least; the largest share is
 * first. What a place explains is its score, which knows the particles around it: one that stands
 * behind others explains nothing as if it were alone.
 */
static spry_status list_places(odt_search *s, odt_particle *list, int *count)
{
    enum { ROUNDS = 300 };
    double A[CANDIDATES * CANDIDATES] = {0}, x[CANDIDATES] = {0};
    const int before = s->refusals;
    spry_status status = odt_search_look(s);
    int n = 0;
    for (; n < CANDIDATES && status == SPRY_STATUS_OK; n++) {
        list[n] = find_peak(s);
        if (!(list[n].score >= s->threshold))
            break;
        s->refused[s->refusals++] = list[n]; /* for the next one */
    }
    s->refusals = before;
    *count = n;
    if (status == SPRY_STATUS_OK && n > 1)
        status = compare(s, n, list, A);
    for (int k = 0; k < ROUNDS * n && status == SPRY_STATUS_OK && n > 1; k++) {
        const int j = k % n;
        const double explained = odt_dot(n, A + (ptrdiff_t)j * n, x);
        const double by = (list[j].score * s->norm - explained) / A[j * n + j];
        x[j] = fmin(fmax(x[j] + by, 0), 1);
    }
    for (int j = 1; j < n; j++) /* into the order of shares */
        for (int k = j; k > 0 && x[k] > x[k - 1]; k--) {
            const odt_particle p = list[k];
            const double share = x[k];
            list[k] = list[k - 1];
            list[k - 1] = p;
            x[k] = x[k - 1];
            x[k - 1] = share;
        }
    return status;
}

/* The misfit that one particle by itself explains. */
static double unit_of(const odt_search *s)
{
    return s->norm / s->empty;
}

/* What a particle has to explain to be one, whether it is to be added or taken out: misfit and
 * this for each particle together fall with all that is done, so that it comes to an end. */
static double least_of(const odt_search *s)
{
    return s->threshold / 3 * unit_of(s);
}

/*
 * Adds the place that makes the misfit least, all particles moved, of the few that are most likely;
 * the first that explains half of a particle is taken as it is. Where none explains enough, all is
 * as before.
 *
 * before: the misfit without it
 */
static spry_status try_places(odt_search *s, double before, bool *added)
{
    spry_status status = SPRY_STATUS_OK;
    odt_particle list[CANDIDATES];
    const int count = s->found.count;
    const double enough = before - 0.5 * unit_of(s);
    double best = INFINITY;
    int places = 0;
    *added = false;
    ODT_GO(list_places(s, list, &places));
    if (places == 0)
        goto done;
    memcpy(s->start, s->found.p, (size_t)count * sizeof *s->start);
    for (int k = 0; k < places && k < TRIES && best > enough; k++) {
        memcpy(s->found.p, s->start, (size_t)count * sizeof *s->start);
        s->found.p[count] = list[k];
        s->found.count = count + 1;
        ODT_GO(odt_search_evaluate(s));
        ODT_GO(odt_search_refine(s, s->refine, 0.1));
        if (s->misfit < best) {
            best = s->misfit;
            memcpy(s->best, s->found.p, (size_t)(count + 1) * sizeof *s->best);
        }
    }
    *added = best < before - least_of(s);
    s->found.count = *added ? count + 1 : count;
    memcpy(s->found.p, *added ? s->best : s->start, (size_t)s->found.count * sizeof *s->best);
    if (!*added || s->misfit != best)
        ODT_GO(odt_search_evaluate(s));
done:
    return status;
}

/* Each particle's worth, and their order by it. */
static spry_status rank(odt_search *s, int *order, double *worth)
{
    spry_status status = SPRY_STATUS_OK;
    for (int j = 0; j < s->found.count && status == SPRY_STATUS_OK; j++) {
        int k = j;
        status = worth_of(s, j, &worth[j]);
        for (; k > 0 && worth[order[k - 1]] > worth[j]; k--)
            order[k] = order[k - 1];
        order[k] = j;
    }
    return status;
}

/*
 * The particles found first were found while others were missing, and may be far from where they
 * are. Each that does not explain all of what it sends is taken out and looked for again among all
 * others; it stays where it was unless that is better. The first that is better ends it.
 */
static spry_status look_again(odt_search *s, bool *better)
{
    spry_status status = SPRY_STATUS_OK;
    spry_context *ctx = s->m->ctx;
    const double before = s->misfit;
    const int count = s->found.count;
    int *order = odt_alloc(ctx, count, sizeof *order);
    double *worth = odt_alloc(ctx, count, sizeof *worth);
    *better = false;
    if (!order || !worth)
        ODT_GO(SPRY_STATUS_NO_MEMORY);
    ODT_GO(rank(s, order, worth));
    for (int k = 0; k < count && count > 1 && !*better && worth[order[k]] < SURE; k++) {
        const int j = order[k];
        bool added = false;
        keep(s);
        s->found.count--;
        memmove(s->found.p + j, s->found.p + j + 1,
                (size_t)(s->found.count - j) * sizeof *s->found.p);
        s->refused[s->refusals++] = s->kept[j]; /* another place, as this one would come again */
        ODT_GO(odt_search_evaluate(s));
        ODT_GO(odt_search_refine(s, s->refine, 0.1));
        const double without = s->misfit;
        *better = without < before + least_of(s);
        if (!*better) {
            ODT_GO(try_places(s, without, &added));
            *better = added && s->misfit < before - 0.1 * least_of(s);
        }
        s->refusals = 0;
        if (!*better) {
            put_back(s, count);
            ODT_GO(odt_search_evaluate(s));
        } else if (s->note) {
            ODT_GO(s->note(s->data));
        }
    }
done:
    spry_free(ctx, order);
    spry_free(ctx, worth);
    return status;
}

/* Particles one after the other, from those there are. */
static spry_status find_all(odt_search *s)
{
    enum { LAST_STEPS = 10, TURNS = 3 };
    bool better = true;
    spry_status status = odt_search_evaluate(s);
    for (int turn = 0; better && status == SPRY_STATUS_OK; turn++) {
        bool more = true;
        s->refusals = 0;
        while (more && s->found.count < s->most && status == SPRY_STATUS_OK) {
            status = try_places(s, s->misfit, &more);
            if (more && status == SPRY_STATUS_OK && s->note)
                status = s->note(s->data);
        }
        better = false;
        if (status == SPRY_STATUS_OK)
            status = odt_search_refine(s, s->refine > 0 ? LAST_STEPS : 0, 0.05);
        if (status == SPRY_STATUS_OK && turn < TURNS * s->most)
            status = look_again(s, &better);
    }
    return status;
}

/* What was fitted explains more: looks again, and fits again where that changed what there is. */
spry_status odt_search_run(odt_search *s, bool linear)
{
    enum { TURNS = 4 };
    spry_status status = SPRY_STATUS_OK;
    odt_particle *fitted = odt_alloc(s->m->ctx, s->most + 1, sizeof *fitted);
    if (!fitted)
        return SPRY_STATUS_NO_MEMORY;
    if (linear) {
        ODT_GO(odt_search_evaluate(s));
        ODT_GO(take_peaks(s));
        goto done;
    }
    ODT_GO(find_all(s));
    for (int turn = 0; s->fit > 0 && turn < TURNS; turn++) {
        ODT_GO(odt_search_fit(s));
        const int count = s->found.count;
        memcpy(fitted, s->found.p, (size_t)count * sizeof *fitted);
        if (turn == TURNS - 1)
            break;
        ODT_GO(find_all(s));
        if (s->found.count == count) {
            memcpy(s->found.p, fitted, (size_t)count * sizeof *fitted);
            ODT_GO(odt_search_evaluate(s));
            break;
        }
    }
done:
    spry_free(s->m->ctx, fitted);
    return status;
}
