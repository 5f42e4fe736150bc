/* Which levels geometric multigrid has, and which operators it suits. */
#include "grid/galerkin.h"
#include "grid/gmg.h"

/* Whether the options leave it to us, and ask for nothing that levels of terms alone have. Those of
 * a domain, whose coefficients end at its boundary, are of terms. */
static bool may_choose(const gmg_options *o, const stencil *s)
{
    return o->levels == GMG_LEVELS_AUTO && o->smoother == GMG_AUTO && o->line == 0 &&
           o->omega == 0 && o->coarsening == GMG_COARSENING_AUTO && o->shift == 0 && !s->waves &&
           !s->domain.is && (o->cycle == GMG_V || o->cycle == GMG_W) && o->pre == o->post &&
           o->pre > 0 && !grid_is_cut(&s->shape);
}

/* Levels of matrices, unless rows reach too far for them or have no factors; then *M is NULL. */
static spry_status try_galerkin(const precon_job *job, spry_type type, const char *why,
                                spry_operator **M)
{
    spry_context *ctx = job->op->ctx;
    const base_kept before = base_try(ctx);
    const spry_status status = galerkin_make(job, type, M);
    if (status == SPRY_STATUS_UNSUPPORTED || status == SPRY_STATUS_BAD_INPUT) {
        base_forgive(ctx, &before);
        return SPRY_STATUS_OK;
    }
    if (status == SPRY_STATUS_OK)
        base_log(ctx, SPRY_LOG_INFO, "precon gmg: %s, so that it takes levels=galerkin", why);
    return status;
}

spry_status gmg_make(const precon_job *job, spry_operator **M)
{
    enum { TIMES = 10 }; /* as many unknowns as `coarsest` says are few for factors, too */
    const spry_operator *A = job->op;
    const gmg_options *o = job->options;
    const stencil *s = stencil_of(A);
    const int64_t precision = ((const precon_common *)o)->precision;
    const spry_type type = precision == PRECON_SAME        ? A->type
                           : spry_type_is_complex(A->type) ? SPRY_TYPE_C
                                                           : SPRY_TYPE_S;
    spry_status status = SPRY_STATUS_OK;
    *M = NULL;
    if (precision == PRECON_HALF)
        return SPRY_FAIL(A->ctx, SPRY_STATUS_UNSUPPORTED,
                         "precon gmg has numbers of the operator's precision, or of single "
                         "precision; take precision=single");
    if (o->levels == GMG_GALERKIN && grid_is_cut(&s->shape))
        return SPRY_FAIL(A->ctx, SPRY_STATUS_UNSUPPORTED,
                         "precon gmg: levels=galerkin is for grids that one rank has whole, and "
                         "this one is cut for ranks; take levels=terms, or ranks=none");
    if (o->levels == GMG_GALERKIN)
        return galerkin_make(job, type, M);
    if (!may_choose(o, s))
        return gmg_make_of_terms(job, type, 0, M);
    if (galerkin_is_rough(A))
        SPRY_GO(A->ctx, try_galerkin(job, type, "coefficients jump", M));
    else
        SPRY_GO(A->ctx, gmg_make_of_terms(job, type, TIMES * o->coarsest, M));
    if (!*M && !galerkin_is_rough(A))
        SPRY_GO(A->ctx, try_galerkin(job, type, "intervals cannot be halved far enough", M));
    if (!*M)
        SPRY_GO(A->ctx, gmg_make_of_terms(job, type, 0, M));
done:
    return status;
}

/* What a row says of an operator: its diagonal, and the sum of all its numbers. */
typedef struct row_sum {
    const spry_operator *A;
    int64_t at[GRID_AXES];
    spry_scalar diagonal, sum;
} row_sum;

static void add_entry(void *data, const stencil_part *part, const stencil_entry *e)
{
    row_sum *row = data;
    bool own = true;
    for (int a = 0; a < GRID_AXES; a++) {
        if (e->kind[a] != KNOWN_NOT)
            return;
        own = own && e->col[a] == 0;
    }
    const spry_scalar v = stencil_entry_value(row->A, row->at, part, e);
    row->sum = (spry_scalar){row->sum.re + v.re, row->sum.im + v.im};
    if (own)
        row->diagonal = (spry_scalar){row->diagonal.re + v.re, row->diagonal.im + v.im};
}

/* Whether a row's own number is what keeps its solution from oscillating: what is left of it beside
 * its neighbours has its sign. Rows near faces may have anything. */
static bool is_elliptic(const spry_operator *A, const int64_t at[GRID_AXES])
{
    const double rounding = 1e-6;
    const stencil *s = stencil_of(A);
    row_sum row = {.A = A, .at = {at[0], at[1], at[2]}};
    for (int p = 0; p < s->parts_count; p++)
        for (int a = 0; a < GRID_AXES; a++) {
            const axis_table *t = &s->parts[p].table[a];
            if (s->parts[p].has[a] && !t->given && (at[a] < t->low || at[a] >= t->rows - t->high))
                return true;
        }
    for (int p = 0; p < s->parts_count; p++)
        stencil_visit_row(&s->parts[p], false, at, add_entry, &row);
    const double size = row.diagonal.re * row.diagonal.re + row.diagonal.im * row.diagonal.im;
    return size > 0 &&
           row.sum.re * row.diagonal.re + row.sum.im * row.diagonal.im >= -rounding * size;
}

/* Differences of second order along all axes, none of a higher one. */
static bool is_second_order(const stencil *s)
{
    for (int a = 0; a < s->shape.dimensions; a++)
        if (gmg_highest_power(s, a) != 2)
            return false;
    return true;
}

const char *gmg_suits(const spry_operator *A)
{
    enum { SAMPLES = 6 };
    const stencil *s = stencil_of(A);
    bool yes = !s->waves && is_second_order(s);
    for (int k = 0; k < SAMPLES * SAMPLES * SAMPLES && yes; k++) {
        int64_t at[GRID_AXES];
        for (int a = 0, rest = k; a < GRID_AXES; a++, rest /= SAMPLES)
            at[a] = (2 * (rest % SAMPLES) + 1) * s->shape.axis[a].unknowns / (2 * SAMPLES);
        yes = !box_has(&s->rows, at) || is_elliptic(A, at);
    }
    if (grid_is_cut(&s->shape)) { /* all ranks take the same */
        bool no = !yes;
        if (team_any(A->ctx, no, &no) != SPRY_STATUS_OK)
            return NULL;
        yes = !no;
    }
    return yes ? "gmg" : NULL;
}
