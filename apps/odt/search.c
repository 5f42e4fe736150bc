/*
 * Particles one after the other (NLODT-P, algorithm 7 of G. Ortega, 2014, after J. Lobera and J. M.
 * Coupland): the image of what is not explained yet, through the medium of the particles found so
 * far; its matched filter; the largest value; on.
 *
 * The matched filter works on amplitudes, before they become an image. A particle at t sends the
 * amplitudes of one in the middle, a_is, turned by exp(-i (k_is - k_i, t)). So the misfit changes
 * to first order by 2 Re sum c_is a_is exp(-i (k_is - k_i, t)): an image of the waves c_is a_is.
 * That is the correlation of the linear image with that of one particle, without ends of a volume
 * that would cut it off or come in again on the other side, and through a medium that is not empty
 * it knows how light reaches t, and what becomes of waves from there.
 */
#include "odt/search.h"

#include <math.h>
#include <string.h>

/* Particles do not come nearer to each other than this share of their diameter; places that make
 * nothing better are tried so often in a row. */
static const double APART = 0.5;
enum { REFUSALS = 3, CANDIDATES = 10 };
/* A particle that explains as much of what it sends is where it is. */
static const double SURE = 0.9;

/* --- what is measured and what is computed -------------------------------------------------------
 */

/* r = y(a) - measured; gives its square. */
static double difference(odt_view *v, const spry_scalar *a, double *r)
{
    const int n = odt_view_numbers(v);
    double sum = 0;
    odt_view_data(v, a, r);
    for (int k = 0; k < n; k++) {
        r[k] -= v->measured[k];
        sum += r[k] * r[k];
    }
    return sum;
}

/* The amplitudes of all particles of a view together, in c. */
static void add_up(const odt_search *s, int view)
{
    const int count = s->m->view[view].count;
    memset(s->c[view], 0, (size_t)count * sizeof(spry_scalar));
    for (int j = 0; j < s->found.count; j++)
        for (int k = 0; k < count; k++)
            s->c[view][k] = odt_plus(s->c[view][k], s->alone[view][(ptrdiff_t)j * count + k]);
}

spry_status odt_search_evaluate(odt_search *s)
{
    spry_status status = SPRY_STATUS_OK;
    double sum = 0;
    ODT_GO(odt_model_set_particles(s->m, &s->found));
    for (int i = 0; i < s->m->setup.views; i++) {
        ODT_GO(odt_model_see_particles(s->m, i, &s->found, s->alone[i]));
        add_up(s, i);
        sum += difference(&s->m->view[i], s->c[i], s->rest[i]);
    }
    s->misfit = s->empty > 0 ? sum / s->empty : sum;
done:
    return status;
}

/* --- images --------------------------------------------------------------------------------------
 */

/* The image of what is not explained, each wave with a factor. */
static spry_status make_image(odt_search *s, bool matched)
{
    for (int i = 0; i < s->m->setup.views; i++) {
        odt_view *v = &s->m->view[i];
        const spry_scalar *factor = matched ? s->sample_a[i] : v->factor;
        odt_view_back(v, s->rest[i], s->c[i]);
        for (int k = 0; k < v->count; k++)
            s->c[i][k] = odt_times(s->c[i][k], factor[k]);
    }
    return odt_model_image(s->m, (const spry_scalar *const *)s->c, s->image);
}

spry_status odt_search_score(odt_search *s)
{
    const spry_status status = make_image(s, true);
    for (int64_t k = 0; status == SPRY_STATUS_OK && k < odt_voxels(&s->m->setup.box); k++)
        s->score[k] = -s->image[k].re / s->norm;
    return status;
}

spry_status odt_search_linear(odt_search *s)
{
    return make_image(s, false);
}

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

/* A particle is all in the volume: two voxels are left to the faces. */
static double margin_of(const odt_search *s)
{
    return 0.5 * s->sample.diameter / s->m->setup.box.h + 2;
}

/*
 * Whether a voxel is a top of the image's modulus. Real parts have fringes within that, and a
 * particle that others stand before, which are not found yet, comes with a wrong phase: its fringes
 * have tops beside its place. There the modulus has none; and where it has one, the real part is
 * small until the others are known. So the particles that are seen undisturbed come first.
 */
static bool is_top(const odt_search *s, int64_t k, const int64_t *steps)
{
    const double here = odt_square(s->image[k]);
    for (int a = 0; a < 3; a++)
        if (here < odt_square(s->image[k - steps[a]]) || here < odt_square(s->image[k + steps[a]]))
            return false;
    return true;
}

static double modulus(const odt_search *s, int64_t k)
{
    return sqrt(odt_square(s->image[k]));
}

odt_particle odt_search_peak(const odt_search *s)
{
    const odt_box *b = &s->m->setup.box;
    const int64_t *n = b->n, steps[3] = {1, n[0], n[0] * n[1]};
    const int64_t margin = (int64_t)ceil(margin_of(s));
    odt_particle best = s->sample;
    int64_t top = -1;
    best.score = -INFINITY;
    for (int64_t z = margin; z < n[2] - margin; z++)
        for (int64_t y = margin; y < n[1] - margin; y++)
            for (int64_t x = margin; x < n[0] - margin; x++) {
                const int64_t k = x + y * steps[1] + z * steps[2];
                const double at[3] = {odt_place(b, 0, x), odt_place(b, 1, y), odt_place(b, 2, z)};
                if (s->score[k] <= best.score || !is_top(s, k, steps) || !is_free(s, at))
                    continue;
                best.score = s->score[k];
                memcpy(best.at, at, sizeof best.at);
                top = k;
            }
    for (int a = 0; a < 3 && top >= 0; a++)
        best.at[a] += b->h * parabola(modulus(s, top - steps[a]), modulus(s, top),
                                      modulus(s, top + steps[a]));
    return best;
}

/* --- positions -----------------------------------------------------------------------------------
 */

/* Solves A x = b of a symmetric positive definite A by Cholesky's factors; A and b are lost. */
static bool solve_small(int n, double *A, double *b)
{
    for (int j = 0; j < n; j++) {
        for (int k = 0; k < j; k++)
            A[j * n + j] -= A[j * n + k] * A[j * n + k];
        if (!(A[j * n + j] > 0))
            return false;
        A[j * n + j] = sqrt(A[j * n + j]);
        for (int i = j + 1; i < n; i++) {
            for (int k = 0; k < j; k++)
                A[i * n + j] -= A[i * n + k] * A[j * n + k];
            A[i * n + j] /= A[j * n + j];
        }
    }
    for (int i = 0; i < n; i++) {
        for (int k = 0; k < i; k++)
            b[i] -= A[i * n + k] * b[k];
        b[i] /= A[i * n + i];
    }
    for (int i = n; i-- > 0;) {
        for (int k = i + 1; k < n; k++)
            b[i] -= A[k * n + i] * b[k];
        b[i] /= A[i * n + i];
    }
    return true;
}

/* The change of a view's numbers when particle j moves along an axis, by voxels, and takes its
 * field along: exact where it is alone. */
static void moving(odt_search *s, int view, int j, int axis, spry_scalar *da, double *dy)
{
    odt_view *v = &s->m->view[view];
    const spry_scalar *a = s->alone[view] + (ptrdiff_t)j * v->count;
    for (int k = 0; k < v->count; k++) {
        const double turn =
            s->m->setup.box.h * (s->m->setup.optics.k * v->light[axis] - v->k[3 * k + axis]);
        da[k] = (spry_scalar){-turn * a[k].im, turn * a[k].re};
    }
    odt_view_change(v, da, dy);
}

/* A step of Gauss and Newton, in voxels. */
static spry_status find_step(odt_search *s, double *step)
{
    spry_context *ctx = s->m->ctx;
    const int n = 3 * s->found.count;
    spry_status status = SPRY_STATUS_NO_MEMORY;
    double *A = odt_alloc(ctx, (int64_t)n * n, sizeof *A), *dy = NULL;
    spry_scalar *da = NULL;
    memset(step, 0, (size_t)n * sizeof *step);
    for (int i = 0; i < s->m->setup.views && A; i++) {
        odt_view *v = &s->m->view[i];
        const int numbers = odt_view_numbers(v);
        dy = spry_alloc(ctx, (size_t)n * (size_t)numbers * sizeof *dy);
        da = spry_alloc(ctx, (size_t)v->count * sizeof *da);
        if (!dy || !da)
            goto done;
        for (int p = 0; p < n; p++) {
            moving(s, i, p / 3, p % 3, da, dy + (ptrdiff_t)p * numbers);
            step[p] -= odt_dot(numbers, dy + (ptrdiff_t)p * numbers, s->rest[i]);
            for (int q = 0; q <= p; q++)
                A[p * n + q] +=
                    odt_dot(numbers, dy + (ptrdiff_t)p * numbers, dy + (ptrdiff_t)q * numbers);
        }
        spry_free(ctx, dy);
        spry_free(ctx, da);
        dy = NULL;
        da = NULL;
    }
    if (!A)
        goto done;
    for (int p = 0; p < n; p++)
        A[p * n + p] *= 1 + 1e-6; /* two in one place would make it singular */
    if (!solve_small(n, A, step))
        memset(step, 0, (size_t)n * sizeof *step);
    status = SPRY_STATUS_OK;
done:
    spry_free(ctx, dy);
    spry_free(ctx, da);
    spry_free(ctx, A);
    return status;
}

/* Moves particles from where they were: by so much of a step, a quarter of a diameter at most, and
 * not out of the volume. */
static void move_all(odt_search *s, const odt_particle *from, const double *step, double share)
{
    const odt_box *b = &s->m->setup.box;
    const double longest = 0.25 * s->sample.diameter / b->h;
    s->moved = 0;
    for (int j = 0; j < s->found.count; j++) {
        const double *by = step + 3 * (ptrdiff_t)j;
        const double length = hypot(hypot(by[0], by[1]), by[2]);
        const double scale = share * (length > longest ? longest / length : 1);
        for (int a = 0; a < 3; a++) {
            const double room = (0.5 * (double)(b->n[a] - 1) - margin_of(s)) * b->h;
            s->found.p[j].at[a] = fmin(fmax(from[j].at[a] + scale * by[a] * b->h, -room), room);
        }
        s->moved = fmax(s->moved, scale * length);
    }
}

/* One step, shortened until the misfit falls; where it does not, all is as before. */
static spry_status refine_once(odt_search *s, bool *better)
{
    enum { TRIES = 3 };
    spry_context *ctx = s->m->ctx;
    const size_t count = (size_t)s->found.count;
    const double before = s->misfit;
    odt_particle *from = spry_alloc(ctx, count * sizeof *from);
    double *step = spry_alloc(ctx, 3 * count * sizeof *step);
    spry_status status = from && step ? find_step(s, step) : SPRY_STATUS_NO_MEMORY;
    *better = false;
    if (status == SPRY_STATUS_OK)
        memcpy(from, s->found.p, count * sizeof *from);
    double share = 1;
    for (int k = 0; k < TRIES && !*better && status == SPRY_STATUS_OK; k++, share /= 3) {
        move_all(s, from, step, share);
        status = odt_search_evaluate(s);
        *better = s->misfit < before;
    }
    if (status == SPRY_STATUS_OK && !*better) {
        memcpy(s->found.p, from, count * sizeof *from);
        s->moved = 0;
        status = odt_search_evaluate(s);
    }
    spry_free(ctx, from);
    spry_free(ctx, step);
    return status;
}

spry_status odt_search_refine(odt_search *s, int steps, double least)
{
    spry_status status = SPRY_STATUS_OK;
    bool better = true;
    for (int k = 0; k < steps && better && s->found.count > 0 && status == SPRY_STATUS_OK; k++) {
        status = refine_once(s, &better);
        better = better && s->moved >= least;
    }
    return status;
}

/* --- the search ----------------------------------------------------------------------------------
 */

/* Amplitudes of one particle in the middle, and what it scores. */
static spry_status learn_sample(odt_search *s)
{
    spry_status status = SPRY_STATUS_OK;
    const odt_particles one = {1, &s->sample};
    ODT_GO(odt_model_set_particles(s->m, &one));
    for (int i = 0; i < s->m->setup.views; i++) {
        odt_view *v = &s->m->view[i];
        const int n = odt_view_numbers(v);
        ODT_GO(odt_model_see_particles(s->m, i, &one, s->sample_a[i]));
        memset(s->c[i], 0, (size_t)v->count * sizeof(spry_scalar));
        s->empty += difference(v, s->c[i], s->rest[i]);
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
    s->score = odt_alloc(ctx, n, sizeof *s->score);
    s->found.p = odt_alloc(ctx, s->most + 1, sizeof *s->found.p);
    s->kept = odt_alloc(ctx, s->most + 1, sizeof *s->kept);
    s->refused = odt_alloc(ctx, REFUSALS + CANDIDATES, sizeof *s->refused);
    if (!s->sample_a || !s->alone || !s->rest || !s->c || !s->image || !s->score || !s->found.p ||
        !s->kept || !s->refused)
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
    return learn_sample(s);
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
    spry_free(ctx, s->score);
    spry_free(ctx, s->found.p);
    spry_free(ctx, s->kept);
    spry_free(ctx, s->refused);
}

/* Peaks of one image, the largest first. */
static spry_status take_peaks(odt_search *s)
{
    spry_status status = odt_search_score(s);
    while (status == SPRY_STATUS_OK && s->found.count < s->most) {
        const odt_particle p = odt_search_peak(s);
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

/* The particle that is worth the least, of those that are worth less than so much; -1: none is. */
static spry_status find_worst(odt_search *s, double below, int *worst)
{
    spry_status status = SPRY_STATUS_OK;
    *worst = -1;
    for (int j = 0; j < s->found.count; j++) {
        double worth = 0;
        ODT_GO(worth_of(s, j, &worth));
        if (worth < below) {
            below = worth;
            *worst = j;
        }
    }
done:
    return status;
}

static void remove_particle(odt_search *s, int j)
{
    s->found.count--;
    memmove(s->found.p + j, s->found.p + j + 1, (size_t)(s->found.count - j) * sizeof *s->found.p);
}

/* All as it was before the last trial. */
static spry_status go_back(odt_search *s, int count)
{
    memcpy(s->found.p, s->kept, (size_t)count * sizeof *s->kept);
    s->found.count = count;
    return odt_search_evaluate(s);
}

/* The numbers that a particle would add to a view, as if it were alone: those of the sample,
 * turned. */
static void expect(odt_search *s, int view, const double *at, spry_scalar *da, double *dy)
{
    odt_view *v = &s->m->view[view];
    for (int k = 0; k < v->count; k++) {
        double phase = 0;
        for (int a = 0; a < 3; a++)
            phase += (s->m->setup.optics.k * v->light[a] - v->k[3 * k + a]) * at[a];
        da[k] = odt_times(s->sample_a[view][k], (spry_scalar){cos(phase), sin(phase)});
    }
    odt_view_change(v, da, dy);
}

/* Products of what candidates would add, with each other and with what is not explained. */
static spry_status compare(odt_search *s, int count, const odt_particle *p, double *A, double *b)
{
    spry_context *ctx = s->m->ctx;
    for (int i = 0; i < s->m->setup.views; i++) {
        odt_view *v = &s->m->view[i];
        const int n = odt_view_numbers(v);
        double *dy = odt_alloc(ctx, (int64_t)count * n, sizeof *dy);
        spry_scalar *da = odt_alloc(ctx, v->count, sizeof *da);
        for (int j = 0; j < count && dy && da; j++) {
            expect(s, i, p[j].at, da, dy + (ptrdiff_t)j * n);
            b[j] -= odt_dot(n, dy + (ptrdiff_t)j * n, s->rest[i]);
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
 * The best of the highest places. Where flanks of several particles meet, the score can be higher
 * than at any of them: so all candidates are fitted together, each with a share from 0 to 1 of a
 * particle, and the one with the largest share is taken. Shares go round by round to where the
 * misfit is least.
 */
static spry_status choose(odt_search *s, odt_particle *best)
{
    enum { ROUNDS = 300 };
    odt_particle list[CANDIDATES];
    double A[CANDIDATES * CANDIDATES] = {0}, b[CANDIDATES] = {0}, x[CANDIDATES] = {0};
    int count = 0, first = 0;
    for (; count < CANDIDATES; count++) {
        list[count] = odt_search_peak(s);
        if (!(list[count].score >= s->threshold))
            break;
        s->refused[s->refusals++] = list[count]; /* for the next one */
    }
    s->refusals -= count;
    *best = list[0];
    const spry_status status = count > 1 ? compare(s, count, list, A, b) : SPRY_STATUS_OK;
    for (int k = 0; k < ROUNDS * count && status == SPRY_STATUS_OK && count > 1; k++) {
        const int j = k % count;
        const double by = (b[j] - odt_dot(count, A + (ptrdiff_t)j * count, x)) / A[j * count + j];
        x[j] = fmin(fmax(x[j] + by, 0), 1);
    }
    for (int j = 1; j < count; j++)
        first = x[j] > x[first] ? j : first;
    *best = list[first];
    return status;
}

/* Adds the best place, where its score is enough, and moves all. */
static spry_status try_peak(odt_search *s, bool *added)
{
    spry_status status = SPRY_STATUS_OK;
    odt_particle p;
    ODT_GO(odt_search_score(s));
    ODT_GO(choose(s, &p));
    *added = p.score >= s->threshold;
    if (!*added)
        goto done;
    s->found.p[s->found.count++] = p;
    s->last = p;
    ODT_GO(odt_search_evaluate(s));
    ODT_GO(odt_search_refine(s, s->refine, 0.01));
done:
    return status;
}

/* One more particle; `more`: whether to look for another. One that makes nothing better, or
 * explains too little of what it sends, is taken back, and its place not tried again until one was
 * found. */
static spry_status find_next(odt_search *s, bool *more)
{
    spry_status status = SPRY_STATUS_OK;
    const double before = s->misfit;
    const int count = s->found.count;
    int worst = -1;
    memcpy(s->kept, s->found.p, (size_t)count * sizeof *s->kept);
    ODT_GO(try_peak(s, more));
    if (!*more)
        goto done;
    ODT_GO(find_worst(s, s->threshold, &worst));
    if (s->misfit < before && worst != count) {
        s->refusals = 0;
        if (s->note)
            ODT_GO(s->note(s->data));
    } else {
        s->refused[s->refusals++] = s->last;
        ODT_GO(go_back(s, count));
        *more = s->refusals < REFUSALS;
    }
done:
    return status;
}

/*
 * The particles found first were found while others were missing, and may be far from where they
 * are. Each that does not explain all of what it sends is taken out and looked for anew among all
 * others; it stays where it was unless that is better. The first that is better ends it.
 */
static spry_status look_again(odt_search *s, bool *better)
{
    spry_status status = SPRY_STATUS_OK;
    const double before = s->misfit;
    const int count = s->found.count;
    *better = false;
    for (int j = 0; j < count && count > 1 && !*better; j++) {
        double worth = 0;
        bool added = false;
        ODT_GO(worth_of(s, j, &worth));
        if (worth >= SURE)
            continue;
        memcpy(s->kept, s->found.p, (size_t)count * sizeof *s->kept);
        remove_particle(s, j);
        s->refused[s->refusals++] = s->kept[j]; /* another place, as this one would come again */
        ODT_GO(odt_search_evaluate(s));
        ODT_GO(try_peak(s, &added));
        s->refusals = 0;
        *better = s->misfit < 0.98 * before;
        if (!*better)
            ODT_GO(go_back(s, count));
        else if (s->note)
            ODT_GO(s->note(s->data));
    }
done:
    return status;
}

spry_status odt_search_run(odt_search *s, bool linear)
{
    enum { LAST_STEPS = 4, TURNS = 3 };
    bool more = s->found.count < s->most, better = true;
    spry_status status = odt_search_evaluate(s);
    if (status == SPRY_STATUS_OK && linear)
        return take_peaks(s);
    for (int turn = 0; better && status == SPRY_STATUS_OK; turn++) {
        s->refusals = 0;
        while (more && status == SPRY_STATUS_OK) {
            status = find_next(s, &more);
            more = more && s->found.count < s->most;
        }
        better = false;
        s->refusals = 0;
        if (status == SPRY_STATUS_OK && turn < TURNS * s->most)
            status = look_again(s, &better);
        more = better && s->found.count < s->most;
    }
    s->refusals = 0;
    if (status == SPRY_STATUS_OK)
        status = odt_search_refine(s, s->refine > 0 ? LAST_STEPS : 0, 0.005);
    return status;
}
