/*
 * Linear complementarity on a grid: x >= lower, A x >= b, and at each point one of them an
 * equality; with upper bounds lower <= x <= upper, and A x = b between them, A x >= b at lower, A x
 * <= b at upper.
 *
 * Multigrid is monotone: a correction on a coarse grid has bounds such that no point goes below its
 * own (J. Mandel, Appl. Math. Optim. 11 (1984) 77-95), and truncated: points that are at their
 * bounds after relaxation are left out of it, else few coarse functions could move at all (R.
 * Kornhuber, Numer. Math. 69 (1994) 167-184). Coarse operators are the same differences, where a
 * number is held at 0 whose own point was left out, in the place of Kornhuber's products.
 *
 *     cycle:  relax x >= lower;  F = {x > lower}, or all points
 *             r = b - A x on F, 0 elsewhere
 *             v: coarse problem  v >= max over the points around of (lower - x on F),  v = 0 off F
 *             x = x + P v on F;  relax x >= lower
 *
 * Without truncation each cycle lowers the energy of a symmetric problem, as coarse energies are
 * larger than those of what is interpolated; with it a cycle may fail, seldom, where the bounds are
 * rough. So cycles are truncated until one does not bring the residual below 0.7 of the least so
 * far: then some are not, twice as many each time that this happens.
 */
#include "grid/bounded.h"

#include "device/engine/device.h"
#include "grid/options.h"
#include "krylov/krylov.h"

#include <math.h>

SPRY_OPTION_TABLE(rows, bounded_options, BOUNDED_OPTIONS(SPRY_OPTION_ROW))
static const spry_option_list list = SPRY_OPTION_LIST(rows);

spry_option_list bounded_option_list(void)
{
    return list;
}

/* --- set-up --------------------------------------------------------------------------------------
 */

typedef struct diagonal_row {
    const spry_operator *A;
    int64_t at[GRID_AXES];
    double sum;
} diagonal_row;

static void add_diagonal(void *data, const stencil_part *part, const stencil_entry *e)
{
    diagonal_row *row = data;
    bool own = true;
    for (int a = 0; a < GRID_AXES; a++)
        own = own && e->col[a] == 0 && e->kind[a] == KNOWN_NOT;
    if (own)
        row->sum += stencil_entry_value(row->A, row->at, part, e).re;
}

/* The largest diagonal element of this rank's rows; between equal intervals and without fields it
 * is that of a row at an end or in the middle. */
static double largest_diagonal(const spry_operator *A)
{
    const stencil *s = stencil_of(A);
    double most = 0;
    int64_t count[GRID_AXES], rows_of[GRID_AXES];
    for (int a = 0; a < GRID_AXES; a++) {
        const bool alike = s->field_count == 0 && !s->shape.axis[a].given;
        rows_of[a] = box_length(&s->rows, a);
        count[a] = alike && rows_of[a] > 3 ? 3 : rows_of[a];
    }
    for (int64_t k = 0; k < count[0] * count[1] * count[2]; k++) {
        const int64_t which[GRID_AXES] = {k % count[0], k / count[0] % count[1],
                                          k / count[0] / count[1]};
        diagonal_row row = {.A = A};
        for (int a = 0; a < GRID_AXES; a++)
            row.at[a] = s->rows.begin[a] +
                        (count[a] < 2 ? 0 : which[a] * (rows_of[a] - 1) / (count[a] - 1));
        for (int p = 0; p < s->parts_count; p++)
            stencil_visit_row(&s->parts[p], false, row.at, add_diagonal, &row);
        most = fmax(most, row.sum);
    }
    return most;
}

/* As many levels as the grid has, for multigrid, and red-black sweeps can relax. */
static spry_status make_levels(spry_bounded *s, const spry_operator *A)
{
    enum { MANY = 1000, MOST_SWEEPS = 64 };
    gmg *m = &s->m;
    const gmg_freedom free = {.fully = A->device != NULL};
    int64_t longest = 1;
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(s->ctx, gmg_add_first(m, A));
    for (bool more = s->o.method == BOUNDED_MULTIGRID; more && m->count < GMG_LEVELS;) {
        SPRY_GO(s->ctx, gmg_add_coarser(m, &free, &more));
        if (!m->redblack) { /* an odd number of points along a periodic axis */
            gmg_level_clear(m, --m->count);
            m->redblack = true;
            more = false;
        }
    }
    const gmg_level *last = &m->level[m->count - 1];
    for (int a = 0; a < GRID_AXES; a++)
        if (last->s->shape.axis[a].unknowns > longest)
            longest = last->s->shape.axis[a].unknowns;
    s->coarsest_sweeps = longest * longest < MOST_SWEEPS ? longest * longest : MOST_SWEEPS;
    if (s->o.method == BOUNDED_MULTIGRID && last->s->shape.unknowns > MANY)
        base_log(s->ctx, SPRY_LOG_WARNING,
                 "multigrid: the grid can be halved %d times only, which leaves %" PRId64
                 " unknowns to relaxation; intervals that are powers of two times a small number "
                 "coarsen further",
                 m->count - 1, last->s->shape.unknowns);
done:
    return status;
}

static spry_status check_operator(const spry_operator *A)
{
    const stencil *s = stencil_of(A);
    if (!s)
        return SPRY_FAIL(A->ctx, SPRY_STATUS_BAD_USAGE,
                         "spry_bounded_new: an operator of spry_operator_stencil() is needed");
    if (s->order != 2 || !gmg_two_colours(s))
        return SPRY_FAIL(A->ctx, SPRY_STATUS_UNSUPPORTED,
                         "lower bounds need differences of order 2 with neighbours along the axes "
                         "alone, in pairs along periodic ones");
    if (spry_type_is_complex(A->type))
        return SPRY_FAIL(A->ctx, SPRY_STATUS_UNSUPPORTED,
                         "bounds are of real numbers, the operator has type %s",
                         spry_type_name(A->type));
    return SPRY_STATUS_OK;
}

/* The solver by itself, without what is collective. */
static spry_status make_alone(const spry_operator *A, const bounded_options *chosen,
                              spry_bounded **solver)
{
    spry_context *ctx = A->ctx;
    spry_bounded *s = NULL;
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(ctx, base_object_new(ctx, sizeof *s, &s));
    *solver = s;
    s->ctx = s->m.ctx = ctx;
    s->o = *chosen;
    s->rows = A->rows;
    s->m.type = A->type;
    s->m.redblack = true;
    s->m.ranked = grid_is_cut(&stencil_of(A)->shape);
    s->m.options.omega = 1;
    s->m.options.rank_rows = chosen->rank_rows;
    s->m.place = A->device;
    s->place = A->device ? &bounded_on_device : &bounded_on_host;
    if (A->device)
        A->device->users++;
    if (s->m.ranked)
        SPRY_GO(ctx, base_calloc(ctx, team_ranks(ctx), sizeof *s->all, &s->all));
done:
    return status;
}

/* The step of Richardson's method. */
static spry_status find_gamma(spry_bounded *s, const spry_operator *A)
{
    double least, most = largest_diagonal(A);
    spry_status status = SPRY_STATUS_OK;
    if (s->m.ranked)
        SPRY_GO(s->ctx, team_bounds(s->ctx, most, &least, &most));
    if (!(most > 0))
        return SPRY_FAIL(s->ctx, SPRY_STATUS_BAD_INPUT,
                         "richardson needs a positive diagonal, the largest element is %g", most);
    s->gamma = 1 / most;
done:
    return status;
}

/* One status for all ranks, where the grid is cut. */
static spry_status agree(const spry_bounded *s, spry_status status)
{
    return s->m.ranked ? team_agree(s->ctx, status) : status;
}

spry_status spry_bounded_new(const spry_operator *A, const char *options, spry_bounded **solver)
{
    SPRY_NEED(CTX_OF(A), A, solver);
    spry_context *ctx = A->ctx;
    const bool ranked = stencil_of(A) && grid_is_cut(&stencil_of(A)->shape);
    spry_bounded *s = NULL;
    bounded_options chosen;
    spry_status status = SPRY_STATUS_OK;
    *solver = NULL;
    status = options_take(ctx, list, &chosen, options);
    if (status == SPRY_STATUS_OK)
        status = check_operator(A);
    if (status == SPRY_STATUS_OK)
        status = make_alone(A, &chosen, &s);
    SPRY_GO(ctx, ranked ? team_agree(ctx, status) : status);
    if (ranked)
        SPRY_GO(ctx, team_alike_options(ctx, list, &chosen, "", "the options of bounds", 0));
    SPRY_GO(ctx, make_levels(s, A));
    if (s->o.method == BOUNDED_RICHARDSON)
        SPRY_GO(ctx, find_gamma(s, A));
    SPRY_GO(ctx, agree(s, s->place->open(s)));
    *solver = s;
    s = NULL;
done:
    spry_bounded_free(s);
    return status;
}

void spry_bounded_free(spry_bounded *s)
{
    if (!s)
        return;
    s->place->close(s);
    for (int k = 0; k < s->m.count; k++)
        gmg_level_clear(&s->m, k);
    base_free(s->ctx, s->all);
    if (s->m.place)
        s->m.place->users--;
    base_object_free(s->ctx, s);
}

/* --- a solve -------------------------------------------------------------------------------------
 */

static spry_status cycle(spry_bounded *s, int level, gmg_start start)
{
    spry_status status = SPRY_STATUS_OK;
    if (level == s->m.count - 1)
        return s->place->smooth(s, level, (int)s->coarsest_sweeps, start);
    SPRY_GO(s->ctx, s->place->smooth(s, level, (int)s->o.pre, start));
    SPRY_GO(s->ctx, s->place->down(s, level));
    SPRY_GO(s->ctx, cycle(s, level + 1, GMG_ZERO));
    SPRY_GO(s->ctx, s->place->smooth(s, level, (int)s->o.post, GMG_FROM_BELOW));
done:
    return status;
}

/* The state of a solve. */
typedef struct standing {
    double scale, residual, best;
    bool interrupted;
    double mark;         /* the best residual some looks ago */
    int64_t looks;       /* since then */
    int64_t untruncated; /* cycles still to be made without truncation */
    int64_t penalty;     /* how many there will be the next time */
    int64_t most;        /* iterations */
    spry_reason reason;  /* COUNT: go on */
} standing;

/* What a solve returns. */
typedef struct outcome {
    spry_result result;
    spry_bounded_stats stats;
} outcome;

/* What is done between two residual checks. */
static spry_status advance(spry_bounded *s, standing *now, outcome *out)
{
    const int64_t left = now->most - out->result.iterations;
    const int64_t sweeps = left < s->o.look_every ? left : s->o.look_every;
    spry_status status = SPRY_STATUS_OK;
    if (s->o.method == BOUNDED_MULTIGRID) {
        s->m.truncates = now->untruncated == 0;
        out->stats.untruncated += now->untruncated > 0;
        now->untruncated -= now->untruncated > 0;
        out->result.iterations++;
        return cycle(s, 0, GMG_GIVEN);
    }
    out->result.iterations += sweeps;
    if (s->o.method == BOUNDED_REDBLACK)
        return s->place->smooth(s, 0, (int)sweeps, GMG_GIVEN);
    for (int64_t k = 0; k < sweeps && status == SPRY_STATUS_OK; k++)
        status = s->place->richardson(s);
    return status;
}

/* What follows from a new residual. */
static void judge(const spry_bounded *s, standing *now, const spry_result *result)
{
    enum { PATIENCE = 50 };
    const bool failed =
        s->m.truncates && result->iterations > 0 && !(now->residual < 0.7 * now->best);
    if (failed && now->untruncated == 0) {
        now->untruncated = now->penalty;
        now->penalty *= 2;
    }
    now->best = now->residual < now->best ? now->residual : now->best;
    now->looks++;
    if (!isfinite(now->residual))
        now->reason = SPRY_REASON_NONFINITE;
    else if (now->residual <= s->o.tol * now->scale)
        now->reason = SPRY_REASON_CONVERGED;
    else if (now->residual > 1e10 * fmax(now->scale, result->initial_residual))
        now->reason = SPRY_REASON_DIVERGED;
    else if (now->interrupted)
        now->reason = SPRY_REASON_STOPPED;
    else if (result->iterations >= now->most)
        now->reason = SPRY_REASON_ITERATIONS;
    else if (now->looks >= PATIENCE && now->best > 0.99 * now->mark)
        now->reason = SPRY_REASON_STAGNATED;
    if (now->looks >= PATIENCE) {
        now->looks = 0;
        now->mark = now->best;
    }
}

/* The residual of all ranks, who learn of it what decides how they go on. */
static spry_status look(spry_bounded *s, standing *now, outcome *out)
{
    const bool cut = s->m.level[0].shared == GMG_CUT;
    bounded_poll mine = {.interrupted = atomic_load(&s->ctx->interrupted)};
    spry_status status = s->place->measure(s, &mine.residual, &mine.contacts);
    now->residual = mine.residual;
    out->stats.contacts = mine.contacts;
    now->interrupted = mine.interrupted;
    if (!s->m.ranked)
        return status;
    mine.status = team_late(s->ctx, status);
    SPRY_GO(s->ctx, team_gather(s->ctx, &mine, sizeof mine, s->all));
    out->stats.contacts = cut ? 0 : mine.contacts;
    for (int r = 0; r < team_ranks(s->ctx); r++) {
        const bounded_poll *his = &s->all[r];
        if (his->status != SPRY_STATUS_OK)
            return team_agree(s->ctx, status);
        now->residual = bounded_larger(now->residual, his->residual);
        now->interrupted = now->interrupted || his->interrupted;
        out->stats.contacts += cut ? his->contacts : 0;
    }
done:
    return status;
}

static spry_status run(spry_bounded *s, const spry_vector *b, outcome *out)
{
    standing now = {.best = INFINITY, .mark = INFINITY, .penalty = 1, .reason = SPRY_REASON_COUNT};
    double least;
    spry_status status = SPRY_STATUS_OK;
    now.most = s->o.max_iter > 0 ? s->o.max_iter : s->o.method == BOUNDED_MULTIGRID ? 200 : 1000000;
    s->m.truncates = false;
    SPRY_GO(s->ctx, agree(s, vector_largest(b, &now.scale)));
    if (s->m.ranked) /* b need not know that it is a part */
        SPRY_GO(s->ctx, team_bounds(s->ctx, now.scale, &least, &now.scale));
    now.scale = now.scale > 0 ? now.scale : 1;
    SPRY_GO(s->ctx, look(s, &now, out));
    out->result.initial_residual = now.residual;
    for (judge(s, &now, &out->result); now.reason == SPRY_REASON_COUNT;
         judge(s, &now, &out->result)) {
        SPRY_GO(s->ctx, advance(s, &now, out));
        SPRY_GO(s->ctx, look(s, &now, out));
    }
    out->result.residual = out->result.true_residual = now.residual;
    out->result.tolerance = s->o.tol * now.scale;
    out->result.reason = now.reason;
    out->result.converged = now.reason == SPRY_REASON_CONVERGED;
done:
    return status;
}

static spry_status check_vector(const spry_bounded *s, const spry_vector *v, const char *name)
{
    if (v->ctx != s->ctx)
        return SPRY_FAIL(s->ctx, SPRY_STATUS_BAD_USAGE, "%s is of another context", name);
    if (v->n != s->rows || v->type != s->m.type)
        return SPRY_FAIL(s->ctx, SPRY_STATUS_BAD_USAGE,
                         "%s has %" PRId64 " elements of type %s, the operator %" PRId64
                         " of type %s",
                         name, v->n, spry_type_name(v->type), s->rows, spry_type_name(s->m.type));
    if (v->device != s->m.place)
        return SPRY_FAIL(s->ctx, SPRY_STATUS_BAD_USAGE,
                         "%s is on %s, the operator on %s: they have to be in one place", name,
                         place_name(v->device), place_name(s->m.place));
    return SPRY_STATUS_OK;
}

static spry_status check_vectors(const spry_bounded *s, const spry_vector *const *v)
{
    static const char *const names[] = {"b", "lower", "x"};
    spry_status status = SPRY_STATUS_OK;
    for (int k = 0; k < 3 && status == SPRY_STATUS_OK; k++)
        status = check_vector(s, v[k], names[k]);
    if (status != SPRY_STATUS_OK)
        return status;
    if (vector_same(v[2], v[0]) || vector_same(v[2], v[1]))
        return SPRY_FAIL(s->ctx, SPRY_STATUS_BAD_USAGE, "x must not be b or lower");
    return SPRY_STATUS_OK;
}

/* What is known of a solve before it begins. */
static void describe(const spry_bounded *s, spry_result *result)
{
    static const char *const methods[] = {"multigrid", "redblack", "richardson"};
    *result =
        (spry_result){.size = sizeof *result, .type = s->m.type, .rows = s->rows, .cols = s->rows};
    snprintf(result->method, sizeof result->method, "%s", methods[s->o.method]);
    snprintf(result->precon, sizeof result->precon, "none");
    snprintf(result->device, sizeof result->device, "%s", place_name(s->m.place));
    snprintf(result->format, sizeof result->format, "stencil");
}

/* The first of this rank's points whose bounds cross, or are NaN; -1: there is none. */
static int64_t first_crossed(const spry_bounded *s, const spry_vector *lower)
{
    for (int64_t i = 0; s->upper && i < s->rows; i++) {
        const bool wide = s->m.type == SPRY_TYPE_D;
        const double low =
            wide ? ((const double *)lower->data)[i] : (double)((const float *)lower->data)[i];
        const double high =
            wide ? -((const double *)s->upper)[i] : -(double)((const float *)s->upper)[i];
        if (!(low <= high))
            return i;
    }
    return -1;
}

static spry_status check_bounds(const spry_bounded *s, const spry_vector *lower)
{
    const int64_t i = first_crossed(s, lower);
    return i < 0 ? SPRY_STATUS_OK
                 : SPRY_FAIL(s->ctx, SPRY_STATUS_BAD_INPUT,
                             "row %" PRId64 ": its lower bound is above its upper one", i);
}

spry_status spry_bounded_set_upper(spry_bounded *s, const spry_vector *upper)
{
    SPRY_NEED(CTX_OF(s), s);
    spry_status status = SPRY_STATUS_OK;
    if (upper)
        SPRY_GO(s->ctx, agree(s, check_vector(s, upper, "upper")));
    status = agree(s, s->place->set_upper(s, upper));
    if (status != SPRY_STATUS_OK && upper) /* all ranks have them, or none */
        (void)s->place->set_upper(s, NULL);
done:
    return status;
}

spry_status spry_bounded_solve(spry_bounded *s, const spry_vector *b, const spry_vector *lower,
                               spry_vector *x, spry_result *result, spry_bounded_stats *stats)
{
    static const base_sized sized = BASE_SIZED(spry_bounded_stats, levels);
    SPRY_NEED(CTX_OF(s), s, b, lower, x);
    outcome out = {.stats = {.size = sizeof out.stats, .levels = s->m.count}};
    const double start = base_seconds();
    spry_status status = SPRY_STATUS_OK, ended;
    describe(s, &out.result);
    if (result)
        SPRY_GO(s->ctx, base_blank(s->ctx, result, &krylov_result_sized));
    if (stats)
        SPRY_GO(s->ctx, base_blank(s->ctx, stats, &sized));
    SPRY_GO(s->ctx, agree(s, check_vectors(s, (const spry_vector *const[]){b, lower, x})));
    SPRY_GO(s->ctx, agree(s, check_bounds(s, lower)));
    SPRY_GO(s->ctx, s->place->begin(s, b, lower, x));
    status = run(s, b, &out);
    ended = s->place->end(s, x);
    if (status == SPRY_STATUS_OK)
        status = agree(s, ended);
    out.result.solve_seconds = base_seconds() - start;
    if (result)
        base_give(result, &out.result, &krylov_result_sized);
    if (stats)
        base_give(stats, &out.stats, &sized);
done:
    return status;
}
