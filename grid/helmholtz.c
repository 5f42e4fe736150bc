/*
 * The Helmholtz equation as an operator: a text of the operators' language with the numbers of a
 * scheme (helmholtz.h), and the fields of absorbing layers.
 *
 * In layers that are perfectly matched second derivatives are fluxes dx(a*dx) with the fields of
 * spry_field_absorb(), and k^2 is multiplied by that of all axes. What mixed and triple add stays
 * as it is between the layers: it vanishes as h^2, rises nowhere suddenly, and reflections are the
 * same as with the stretched coordinates in it (docs/waves.md).
 *
 * B k^2 is no symmetric matrix where k varies. What makes it none is of h^2 and skew, so that the
 * fourth order and symmetry exclude each other: symmetric matrices have fluxes dx(k^2 dx) in the
 * place of dx^2 k^2.
 */
#include "grid/helmholtz.h"

#include "grid/blocks.h"
#include "grid/options.h"

#define WAVE_OPTIONS(item)                                                                         \
    item(WORD, scheme, "optimal", 0, 0, "second compact4 optimal",                                 \
         "second order; compact fourth order; least errors of waves of the lengths that k2 has")   \
    item(                                                                                          \
        WORD, layer, "pml", 0, 0, "pml damp",                                                      \
        "what faces that are named absorb have before them: perfectly matched layers, or k2 (1 + " \
        "i strength t^power) with the depth t of 0 to 1")                                          \
    item(REAL, strength, "0", 0, 1e9, NULL,                                                        \
         "of layers at the face; 0: that leaves 1e-4 of the longest wave that meets one head on")  \
    item(REAL, power, "2", 0, 16, NULL, "of the depth in layers")                                  \
    item(WORD, symmetric, "auto", 0, 0, "auto yes no",                                             \
         "whether compact4 and optimal have symmetric matrices where k2 varies, and are of order " \
         "2 there; auto: optimal has")                                                             \
    item(REAL, least, "4", 0, 1e9, NULL, "points per wavelength below which it fails")             \
    item(WORD, type, "z", 0, 0, "s d c z", "type of the numbers")                                  \
    item(TEXT, device, "cpu", 0, 0, NULL, "where it lives: cpu, cuda, opencl:1")

typedef struct wave_options {
    WAVE_OPTIONS(SPRY_OPTION_FIELD)
} wave_options;
enum { SCHEME_SECOND, SCHEME_COMPACT4, SCHEME_OPTIMAL };
enum { LAYER_PML, LAYER_DAMP };
enum { SYMMETRIC_AUTO, SYMMETRIC_YES };
SPRY_OPTION_TABLE(option_rows, wave_options, WAVE_OPTIONS(SPRY_OPTION_ROW))
static const spry_option_list option_list = SPRY_OPTION_LIST(option_rows);

spry_option_list helmholtz_option_list(void)
{
    return option_list;
}

typedef struct wave_maker {
    wave_terms w;
    wave_options o;
    bool layers;
    double least, most; /* wave numbers; 0: there is no wave */
} wave_maker;

/* --- what waves there are ------------------------------------------------------------------------
 */

/* The real part of the square root. */
static double wave_number(spry_scalar k2)
{
    const double size = hypot(k2.re, k2.im);
    return sqrt(fmax(0, (size + k2.re) / 2));
}

static spry_status check_k2(const wave_maker *m, const spry_vector *k2)
{
    spry_context *ctx = m->w.grid->ctx;
    const grid_box own = grid_own(ctx, m->w.shape, true);
    const bool constant = k2->n == 1 && !k2->part.is;
    if (!constant && k2->n != box_count(&own))
        return SPRY_FAIL(ctx, SPRY_STATUS_BAD_USAGE,
                         "k2 has %" PRId64 " elements, expected 1, or one for each of the %" PRId64
                         " points%s",
                         k2->n, box_count(&own), grid_is_cut(m->w.shape) ? " of this rank" : "");
    if (spry_type_is_complex(k2->type) && !spry_type_is_complex(m->w.type))
        return SPRY_FAIL(ctx, SPRY_STATUS_BAD_USAGE, "k2 is complex, the operator of type %s",
                         spry_type_name(m->w.type));
    for (int a = 0; a < m->w.shape->dimensions; a++)
        if (m->w.shape->axis[a].given)
            return SPRY_FAIL(ctx, SPRY_STATUS_UNSUPPORTED,
                             "schemes for waves need equal intervals, axis %c has points of its "
                             "own; spry_operator_stencil() takes it: laplace + k2",
                             "xyz"[a]);
    return SPRY_STATUS_OK;
}

/* m = k2, as a field of its own, and the wave numbers that this rank has. */
static spry_status take_k2(wave_maker *m, const spry_vector *k2)
{
    spry_context *ctx = m->w.grid->ctx;
    const spry_vector *on_host = NULL;
    spry_vector *copy = NULL;
    spry_status status = SPRY_STATUS_OK;
    m->least = INFINITY;
    SPRY_GO(ctx, check_k2(m, k2));
    SPRY_GO(ctx, vector_on_host(k2, &on_host, &copy));
    if (m->layers || on_host->n > 1) {
        const grid_box own = grid_own(ctx, m->w.shape, true);
        SPRY_GO(ctx, vector_new_at(ctx, NULL, m->w.type, box_count(&own), &m->w.field[WAVE_M]));
        m->w.field[WAVE_M]->part = grid_part(ctx, m->w.shape, true);
    } else {
        SPRY_GO(ctx, vector_new_at(ctx, NULL, m->w.type, 1, &m->w.field[WAVE_M]));
    }
    spry_vector *to = m->w.field[WAVE_M];
    for (int64_t i = 0; i < to->n; i++) {
        const spry_scalar value = value_get(on_host->type, on_host->data, on_host->n > 1 ? i : 0);
        const double k = wave_number(value);
        if (!value_finite(value)) {
            status = SPRY_FAIL(ctx, SPRY_STATUS_BAD_INPUT,
                               "k2 is no finite number at point %" PRId64, i);
            goto done;
        }
        m->most = fmax(m->most, k);
        m->least = k > 0 ? fmin(m->least, k) : m->least;
        value_set(m->w.type, to->data, i, value);
    }
done:
    spry_vector_free(copy);
    return status;
}

/* The least and the largest wave number of all ranks. */
static spry_status agree_numbers(wave_maker *m, spry_status status)
{
    spry_context *ctx = m->w.grid->ctx;
    const double mine[] = {m->least, m->most};
    double *all = NULL;
    const int ranks = grid_is_cut(m->w.shape) ? team_ranks(ctx) : 0;
    if (status == SPRY_STATUS_OK && ranks > 0)
        status = base_alloc(ctx, 2 * (int64_t)ranks, sizeof *all, &all);
    SPRY_GO(ctx, grid_agree(ctx, m->w.shape, status));
    if (ranks > 0)
        SPRY_GO(ctx, team_gather(ctx, mine, sizeof mine, all));
    for (int r = 0; r < ranks; r++) {
        m->least = fmin(m->least, all[2 * r]);
        m->most = fmax(m->most, all[2 * r + 1]);
    }
    m->least = fmin(m->least, m->most);
done:
    base_free(ctx, all);
    return status;
}

/* --- the report ---------------------------------------------------------------------------------
 */

static void choose_scheme(wave_maker *m)
{
    if (m->o.scheme == SCHEME_OPTIMAL && m->least > 0)
        m->w.scheme = scheme_optimal(m->w.shape, m->least, m->most);
    else if (m->o.scheme != SCHEME_SECOND)
        m->w.scheme = scheme_compact4;
}

/* Along the axis with the longest intervals. */
static spry_status check_points(const wave_maker *m, spry_helmholtz_info *info)
{
    const double turn = 4 * acos(0);
    int coarse = 0;
    double longest = 0;
    for (int a = 0; a < m->w.shape->dimensions; a++) {
        const grid_axis *axis = &m->w.shape->axis[a];
        coarse = axis->spacing > m->w.shape->axis[coarse].spacing ? a : coarse;
        longest = fmax(longest, axis->high - axis->low);
    }
    const grid_axis *axis = &m->w.shape->axis[coarse];
    info->points_per_wavelength = turn / (m->most * axis->spacing);
    info->wavelengths = m->most * longest / turn;
    if (info->points_per_wavelength >= m->o.least)
        return SPRY_STATUS_OK;
    return SPRY_FAIL(
        m->w.grid->ctx, SPRY_STATUS_BAD_INPUT,
        "the grid is too coarse for the wavelength: %.3g intervals of %.3g along %c "
        "for a wave of %.3g, expected %.3g; take %.0f intervals instead of %" PRId64,
        info->points_per_wavelength, axis->spacing, "xyz"[coarse], turn / m->most, m->o.least,
        ceil((double)axis->intervals * m->o.least / info->points_per_wavelength), axis->intervals);
}

static spry_status report(const wave_maker *m, spry_helmholtz_info *info)
{
    enum { BETWEEN = 4 };
    if (m->most == 0) {
        info->points_per_wavelength = INFINITY;
        return SPRY_STATUS_OK;
    }
    const spry_status status = check_points(m, info);
    for (int i = 0; i <= BETWEEN && status == SPRY_STATUS_OK; i++) {
        double relative, phase;
        scheme_errors(&m->w.scheme, m->w.shape, m->least + (m->most - m->least) * i / BETWEEN,
                      &relative, &phase);
        info->wave_number_error = fmax(info->wave_number_error, relative);
        info->phase_error = fmax(info->phase_error, phase);
    }
    if (info->phase_error > 1)
        base_log(m->w.grid->ctx, SPRY_LOG_WARNING,
                 "helmholtz: waves that cross the box are %.2g radians off, at %.3g points per "
                 "wavelength; take more points%s",
                 info->phase_error, info->points_per_wavelength,
                 m->o.scheme == SCHEME_OPTIMAL ? "" : ", or scheme=optimal");
    return status;
}

/* --- the operator --------------------------------------------------------------------------------
 */

/* What leaves 1e-4 there and back: exp(-2 k strength width / (power + 1)), and half the exponent
 * where k^2 alone is damped. */
static double strength_of(const wave_maker *m)
{
    double width = INFINITY;
    for (int a = 0; a < m->w.shape->dimensions; a++)
        for (int side = 0; side < 2; side++)
            if (m->w.shape->axis[a].layer[side] > 0)
                width = fmin(width,
                             (double)m->w.shape->axis[a].layer[side] * m->w.shape->axis[a].spacing);
    if (m->o.strength > 0 || !(m->least > 0))
        return m->o.strength;
    return log(1e4) * (m->o.power + 1) / (2 * m->least * width) *
           (m->o.layer == LAYER_DAMP ? 2 : 1);
}

/* m = m * (1 + i by), or m * by. */
static void damp(spry_vector *v, const spry_vector *by, bool rate)
{
    for (int64_t i = 0; i < v->n; i++) {
        const spry_scalar a = value_get(v->type, v->data, i), p = value_get(by->type, by->data, i);
        const spry_scalar s = rate ? (spry_scalar){1, p.re} : p;
        value_set(v->type, v->data, i,
                  (spry_scalar){a.re * s.re - a.im * s.im, a.re * s.im + a.im * s.re});
    }
}

/* The fields of layers: those of fluxes, and what m has of them. */
static spry_status make_layers(wave_maker *m)
{
    spry_context *ctx = m->w.grid->ctx;
    const bool pml = m->o.layer == LAYER_PML;
    char options[128], shown[2][32];
    spry_vector *by = NULL;
    spry_status status = SPRY_STATUS_OK;
    if (!m->layers)
        return status;
    spry_number_print(strength_of(m), shown[0]);
    spry_number_print(m->o.power, shown[1]);
    for (int a = 0; a < m->w.shape->dimensions && pml; a++) {
        snprintf(options, sizeof options, "kind=pml axis=%c strength=%s power=%s", "xyz"[a],
                 shown[0], shown[1]);
        SPRY_GO(ctx, spry_field_absorb(m->w.grid, m->w.type, options, &m->w.field[a]));
    }
    snprintf(options, sizeof options, "kind=%s strength=%s power=%s", pml ? "pml" : "rate",
             shown[0], shown[1]);
    SPRY_GO(ctx, spry_field_absorb(m->w.grid, m->w.type, options, &by));
    damp(m->w.field[WAVE_M], by, !pml);
done:
    spry_vector_free(by);
    return status;
}

/* A stencil of a text on the host, or where the operator is to live. */
static spry_status make_stencil(const wave_maker *m, base_text *t, const char *device,
                                spry_operator **A)
{
    spry_context *ctx = m->w.grid->ctx;
    const char *names[WAVE_FIELDS];
    const spry_vector *values[WAVE_FIELDS];
    char *text = NULL, options[SPRY_OPTION_TEXT_SIZE + 32];
    spry_status status = base_text_take(t, &text);
    const int count = waves_fields(&m->w, names, values);
    snprintf(options, sizeof options, "type=%s device=%s", spry_type_name(m->w.type), device);
    SPRY_GO(ctx, grid_agree(ctx, m->w.shape, status));
    SPRY_GO(ctx, spry_operator_stencil(m->w.grid, text, options, count, names, values, A));
done:
    base_free(ctx, text);
    return status;
}

/* What others are made of that are to be like it. */
static spry_status keep_waves(const wave_maker *m, spry_operator *op)
{
    const spry_vector *v = m->w.field[WAVE_M];
    stencil *s = op->state;
    const spry_status status = base_alloc(op->ctx, 1, sizeof *s->waves, &s->waves);
    if (status == SPRY_STATUS_OK)
        *s->waves = (stencil_waves){
            .scheme = m->w.scheme, .symmetric = m->w.symmetric, .least = m->least, .most = m->most};
    if (status == SPRY_STATUS_OK && v->n == 1 && !v->part.is)
        s->waves->m = value_get(v->type, v->data, 0);
    return grid_agree(op->ctx, m->w.shape, status);
}

static spry_status make_operator(wave_maker *m, spry_operator **A)
{
    spry_context *ctx = m->w.grid->ctx;
    base_text text = {.ctx = ctx}, mean = {.ctx = ctx};
    spry_operator *op = NULL;
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(ctx, make_layers(m));
    waves_put_operator(&text, &m->w);
    SPRY_GO(ctx, make_stencil(m, &text, m->o.device, &op));
    SPRY_GO(ctx, keep_waves(m, op));
    if (m->w.scheme.mean != 0) {
        base_text_put(&mean, "%s", "1");
        waves_put_mean(&mean, &m->w, MEAN_PLAIN);
        SPRY_GO(ctx, make_stencil(m, &mean, "cpu", &((stencil *)op->state)->mean));
    }
    *A = op;
    op = NULL;
done:
    spry_operator_free(op);
    return status;
}

static spry_status read_options(wave_maker *m, const char *options)
{
    static const spry_type types[] = {SPRY_TYPE_S, SPRY_TYPE_D, SPRY_TYPE_C, SPRY_TYPE_Z};
    const spry_status status = options_take(m->w.grid->ctx, option_list, &m->o, options);
    if (status != SPRY_STATUS_OK)
        return status;
    m->w.type = types[m->o.type];
    m->w.symmetric = m->o.symmetric == SYMMETRIC_YES ||
                     (m->o.symmetric == SYMMETRIC_AUTO && m->o.scheme == SCHEME_OPTIMAL);
    for (int a = 0; a < m->w.shape->dimensions; a++)
        m->layers = m->layers || m->w.shape->axis[a].layer[0] + m->w.shape->axis[a].layer[1] > 0;
    if (m->layers && !spry_type_is_complex(m->w.type))
        return SPRY_FAIL(m->w.grid->ctx, SPRY_STATUS_BAD_USAGE,
                         "an operator with absorbing layers is complex, the type is %s; take c or "
                         "z",
                         spry_type_name(m->w.type));
    return status;
}

spry_status spry_operator_helmholtz(const spry_grid *grid, const spry_vector *k2,
                                    const char *options, spry_operator **A,
                                    spry_helmholtz_info *info)
{
    static const base_sized sized = BASE_SIZED(spry_helmholtz_info, phase_error);
    SPRY_NEED(CTX_OF(grid), grid, k2);
    spry_context *ctx = grid->ctx;
    spry_helmholtz_info found = SPRY_HELMHOLTZ_INFO_INIT;
    wave_maker m = {.w = {.grid = grid, .shape = &grid->shape}};
    spry_status status = SPRY_STATUS_OK;
    if (A)
        *A = NULL;
    if (info)
        status = base_blank(ctx, info, &sized);
    if (status == SPRY_STATUS_OK)
        status = read_options(&m, options);
    if (status == SPRY_STATUS_OK)
        status = take_k2(&m, k2);
    SPRY_GO(ctx, agree_numbers(&m, status));
    choose_scheme(&m);
    SPRY_GO(ctx, report(&m, &found));
    if (info)
        base_give(info, &found, &sized);
    if (A)
        SPRY_GO(ctx, make_operator(&m, A));
done:
    for (int f = 0; f < WAVE_FIELDS; f++)
        spry_vector_free(m.w.field[f]);
    return status;
}
