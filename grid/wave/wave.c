/* The solver of waves: the object, its medium, and solves. */
#include "grid/wave/wave.h"

#include "device/engine/device.h"
#include "device/linalg/vector.h"
#include "grid/blocks.h"
#include "grid/grid.h"
#include "grid/options.h"
#include "host/host.h"
#include "krylov/krylov.h"

#include <math.h>
#include <private/programs.h>

#define WAVE_OPTIONS(item)                                                                      \
    item(TEXT, method, "auto", 0, 0, NULL,                                                      \
         "auto, which is cocr; born: the series by itself; or another method of the solver's, " \
         "with options: bicgstab, idr, [gmres:restart=50]")                                     \
    item(REAL, tol, "1e-5", 0, 1, NULL, "on |f - (laplace + k^2) u| / |f|")                     \
    item(INT, max_iter, "10000", 0, 1e9, NULL, "the most iterations")                           \
    item(INT, layer, "0", 0, 1e6, NULL,                                                         \
         "points of an absorbing layer; 0: two and a half of the longest wavelength at faces")  \
    item(REAL, shift, "0", 0, 1e6, NULL,                                                        \
         "epsilon, in units of the largest k^2; 0: chosen by the contrast")                     \
    item(WORD, type, "z", 0, 0, "c z", "type of the numbers")                                   \
    item(TEXT, device, "cpu", 0, 0, NULL, "cpu, cuda[:i] or opencl[:i]")

typedef struct wave_options {
    WAVE_OPTIONS(SPRY_OPTION_FIELD)
} wave_options;
SPRY_OPTION_TABLE(rows, wave_options, WAVE_OPTIONS(SPRY_OPTION_ROW))
static const spry_option_list list = SPRY_OPTION_LIST(rows);

spry_option_list wave_option_list(void)
{
    return list;
}

/* Right-hand sides that are solved side by side, at most; padded vectors that each takes, about. */
enum { AT_ONCE = 8, VECTORS = 8 };

struct spry_wave {
    spry_context *ctx;
    wave_options options;
    grid_shape shape; /* its lengths and faces; points that were given are not kept */
    wave_frame frame;
    wave_medium medium; /* k2 is kept while V and M are made only */
    fourier *f;
    fourier_green green;
    spry_vector *V;
    spry_operator *A, *M;
    wave_padding *padding; /* on a device, of media after the first */
    spry_solver *solver;
    spry_vector *source[AT_ONCE], *found[AT_ONCE]; /* on the padded grid, made at their first use */
    bool ready;                                    /* it has a medium */
};

void spry_wave_free(spry_wave *w)
{
    if (!w)
        return;
    spry_solver_free(w->solver);
    spry_operator_free(w->A);
    spry_operator_free(w->M);
    spry_vector_free(w->V);
    wave_padding_free(w->ctx, w->padding);
    for (int k = 0; k < AT_ONCE; k++) {
        spry_vector_free(w->source[k]);
        spry_vector_free(w->found[k]);
    }
    if (w->f) {
        spry_device *device = w->f->device;
        fourier_green_clear(w->f, &w->green);
        fourier_free(w->f);
        if (device)
            device->users--;
    }
    base_object_free(w->ctx, w);
}

/* --- the medium ----------------------------------------------------------------------------------
 */

/* k^2 of the box's points, from a field of unknowns, or of all points, or a constant. */
static spry_status read_medium(const spry_wave *w, const spry_vector *k2, spry_scalar **box)
{
    const grid_shape *s = &w->shape;
    const spry_vector *on_host;
    spry_vector *copy = NULL;
    spry_status status = SPRY_STATUS_OK;
    *box = NULL;
    if (k2->n != s->unknowns && k2->n != s->points && k2->n != 1)
        return SPRY_FAIL(w->ctx, SPRY_STATUS_BAD_USAGE,
                         "k^2 has %" PRId64 " elements, the grid %" PRId64 " unknowns and %" PRId64
                         " points; expected one of these, or one element for all",
                         k2->n, s->unknowns, s->points);
    SPRY_GO(w->ctx, vector_on_host(k2, &on_host, &copy));
    SPRY_GO(w->ctx, base_alloc(w->ctx, s->unknowns, sizeof **box, box));
#pragma omp parallel for num_threads(host_threads(w->ctx, s->unknowns)) schedule(static)
    for (int64_t i = 0; i < s->unknowns; i++) {
        int64_t from = k2->n == 1 ? 0 : i;
        if (k2->n != 1 && k2->n != s->unknowns) {
            const int64_t x = i % w->frame.box[0], rest = i / w->frame.box[0];
            const int64_t y = rest % w->frame.box[1], z = rest / w->frame.box[1];
            from = ((z + s->axis[2].first) * s->axis[1].points + y + s->axis[1].first) *
                       s->axis[0].points +
                   x + s->axis[0].first;
        }
        (*box)[i] = value_get(k2->type, on_host->data, from);
    }
done:
    spry_vector_free(copy);
    return status;
}

/* The padded grid, and all that depends on it alone. */
static spry_status make_frame(spry_wave *w, const spry_scalar *box)
{
    static const spry_type types[] = {SPRY_TYPE_C, SPRY_TYPE_Z};
    spry_context *ctx = w->ctx;
    const spry_type type = types[w->options.type];
    const double longest = wave_medium_longest(&w->frame, box, w->medium.most);
    double spacing[WAVE_AXES];
    spry_device *device = NULL;
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(ctx, wave_frame_make(ctx, w->options.layer, longest, &w->frame));
    if (strcmp(w->options.device, "cpu") != 0) {
        SPRY_GO(ctx, device_open(ctx, w->options.device, &device));
        SPRY_GO(ctx, device_check_type(device, type));
    }
    SPRY_GO(ctx, fourier_new(ctx, device, type, w->frame.axes, w->frame.padded, &w->f));
    if (device)
        device->users++;
    for (int a = 0; a < WAVE_AXES; a++)
        spacing[a] = w->frame.spacing[a] / w->frame.spacing[0];
    SPRY_GO(ctx, fourier_green_make(w->f, spacing, &w->green));
done:
    return status;
}

/* The solver's name for the option `method`. */
static const char *method_of(const spry_wave *w)
{
    const char *method = w->options.method;
    return strcmp(method, "auto") == 0   ? "cocr"
           : strcmp(method, "born") == 0 ? "richardson"
                                         : method;
}

/* Whether there is such a method, and it can do without A^H: reported before the set-up. */
static spry_status check_method(const spry_wave *w)
{
    const char *method = method_of(w);
    char name[64];
    spry_cost cost = SPRY_COST_INIT;
    snprintf(name, sizeof name, "%.*s", (int)strcspn(method, ":"), method);
    const spry_status status = spry_method_cost(w->ctx, name, &cost);
    if (status == SPRY_STATUS_OK && cost.transpose)
        return SPRY_FAIL(w->ctx, SPRY_STATUS_UNSUPPORTED,
                         "method %s needs products with A^H, which the Born operator does not "
                         "have; take cocr, bicgstab, idr or gmres",
                         name);
    return status;
}

static spry_status make_solver(spry_wave *w)
{
    spry_context *ctx = w->ctx;
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(ctx, spry_solver_new(ctx, &w->solver));
    SPRY_GO(ctx, spry_solver_set_text(w->solver, "method", method_of(w)));
    SPRY_GO(ctx, spry_solver_set_real(w->solver, "tol", w->options.tol));
    SPRY_GO(ctx, spry_solver_set_real(w->solver, "max-iter", (double)w->options.max_iter));
    SPRY_GO(ctx, born_operator(w->f, &w->green, w->V, &w->A));
    SPRY_GO(ctx, spry_solver_set_operator(w->solver, w->A));
done:
    return status;
}

/* By way of the host; the first one makes all else. */
static spry_status set_here(spry_wave *wave, const spry_vector *k2)
{
    spry_context *ctx = wave->ctx;
    spry_scalar *box = NULL;
    spry_operator *M = NULL;
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(ctx, read_medium(wave, k2, &box));
    SPRY_GO(ctx, wave_medium_check(ctx, &wave->frame, box, &wave->medium));
    if (!wave->f)
        SPRY_GO(ctx, make_frame(wave, box));
    SPRY_GO(ctx, wave_medium_make(ctx, &wave->frame, box, wave->options.shift, &wave->medium));
    SPRY_GO(ctx, born_potential(wave->f, &wave->medium, &wave->V));
    SPRY_GO(ctx, born_precon(wave->f, &wave->medium, &M));
    if (!wave->solver)
        SPRY_GO(ctx, make_solver(wave));
    SPRY_GO(ctx, spry_solver_set_precon(wave->solver, M));
    spry_operator_free(wave->M);
    wave->M = M;
    M = NULL;
done:
    spry_operator_free(M);
    base_free(ctx, box);
    base_free(ctx, wave->medium.k2);
    wave->medium.k2 = NULL;
    return status;
}

spry_status spry_wave_set_medium(spry_wave *wave, const spry_vector *k2)
{
    SPRY_NEED(CTX_OF_ANY(wave, k2), wave, k2);
    spry_context *ctx = wave->ctx;
    bool made = false;
    spry_status status = SPRY_STATUS_OK;
    wave->ready = false;
    if (wave->M && wave->f->device && k2->device == wave->f->device &&
        k2->n == wave->shape.unknowns)
        SPRY_GO(ctx, wave_padding_set(wave->f, &wave->frame, wave->options.shift, k2, wave->V,
                                      wave->M, &wave->padding, &wave->medium, &made));
    if (made)
        wave->A->changes++; /* recordings of solves have centre and epsilon of the last one */
    else
        SPRY_GO(ctx, set_here(wave, k2));
    wave->green.centre = wave->medium.unit * wave->medium.centre;
    wave->green.epsilon = wave->medium.unit * wave->medium.epsilon;
    wave->ready = true;
done:
    return status;
}

static spry_status check_shape(const spry_grid *grid)
{
    const grid_shape *s = &grid->shape;
    if (grid_is_cut(s))
        return SPRY_FAIL(grid->ctx, SPRY_STATUS_UNSUPPORTED,
                         "waves are solved on one rank: make the grid with ranks=none");
    for (int a = 0; a < s->dimensions; a++)
        if (s->axis[a].given)
            return SPRY_FAIL(grid->ctx, SPRY_STATUS_UNSUPPORTED,
                             "axis %c has points of its own; waves need equal intervals, as "
                             "Fourier transforms do",
                             "xyz"[a]);
    return SPRY_STATUS_OK;
}

spry_status spry_wave_new(const spry_grid *grid, const spry_vector *k2, const char *options,
                          spry_wave **wave)
{
    SPRY_NEED(CTX_OF_ANY(grid, k2), grid, k2, wave);
    spry_context *ctx = grid->ctx;
    spry_wave *w = NULL;
    spry_status status = SPRY_STATUS_OK;
    *wave = NULL;
    SPRY_GO(ctx, check_shape(grid));
    SPRY_GO(ctx, base_object_new(ctx, sizeof *w, &w));
    w->ctx = ctx;
    SPRY_GO(ctx, options_take(ctx, list, &w->options, options));
    SPRY_GO(ctx, check_method(w));
    w->shape = grid->shape;
    w->frame.axes = grid->shape.dimensions;
    for (int a = 0; a < WAVE_AXES; a++) {
        const grid_axis *axis = &grid->shape.axis[a];
        w->frame.box[a] = axis->unknowns;
        w->frame.spacing[a] = axis->spacing;
        w->frame.open[a] = a < w->frame.axes && axis->face[0] != GRID_PERIODIC;
    }
    /* Lengths are in intervals: in metres, a light wave's k^2 is 1e14, whose square is nearly all
     * that single precision has. */
    w->medium.unit = w->frame.spacing[0] * w->frame.spacing[0];
    SPRY_GO(ctx, spry_wave_set_medium(w, k2));
    *wave = w;
    w = NULL;
done:
    spry_wave_free(w);
    return status;
}

static const base_sized sized = BASE_SIZED(spry_wave_info, farthest);

spry_status spry_wave_describe(const spry_wave *wave, spry_wave_info *info)
{
    SPRY_NEED(CTX_OF(wave), wave, info);
    const wave_frame *frame = &wave->frame;
    const int64_t vector = wave->f ? frame->count * (int64_t)spry_type_size(wave->f->type) : 0;
    const spry_status status = base_blank(wave->ctx, info, &sized);
    if (status != SPRY_STATUS_OK)
        return status;
    spry_wave_info found = {.centre = wave->medium.centre,
                            .epsilon = wave->medium.epsilon,
                            .farthest = wave->medium.farthest,
                            .bytes = 3 * vector,
                            .solve_bytes = VECTORS * vector};
    double widest = 0;
    for (int a = 0; a < WAVE_AXES; a++) {
        found.padded[a] = frame->padded[a];
        found.layer[a] = frame->first[a];
        if (a < frame->axes)
            widest = fmax(widest, frame->spacing[a]);
    }
    found.per_wavelength = 2 * M_PI / (sqrt(wave->medium.most) * widest);
    base_give(info, &found, &sized);
    return SPRY_STATUS_OK;
}

/* --- solves --------------------------------------------------------------------------------------
 */

static spry_status check_field(const spry_wave *w, const char *name, const spry_vector *v)
{
    const spry_type type = w->f->type;
    if (v->ctx != w->ctx)
        return SPRY_FAIL(w->ctx, SPRY_STATUS_BAD_USAGE, "%s is of another context", name);
    if (v->n != w->shape.unknowns || v->type != type)
        return SPRY_FAIL(w->ctx, SPRY_STATUS_BAD_USAGE,
                         "%s has %" PRId64 " elements of type %s, expected %" PRId64
                         " of type %s: a field of the grid's unknowns",
                         name, v->n, spry_type_name(v->type), w->shape.unknowns,
                         spry_type_name(type));
    if (v->device && v->device != w->f->device)
        return SPRY_FAIL(w->ctx, SPRY_STATUS_BAD_USAGE, "%s is on %s, the solver on %s", name,
                         place_name(v->device), place_name(w->f->device));
    return vector_fetch(v);
}

static spry_status want(const spry_wave *w, spry_vector **v)
{
    return *v ? SPRY_STATUS_OK : vector_new_at(w->ctx, w->f->device, w->f->type, w->f->count, v);
}

/* Between a caller's field and one on the padded grid, where the solver works. */
static spry_status place(const spry_wave *w, bool back, bool conjugate, const spry_vector *in,
                         spry_vector *out)
{
    spry_context *ctx = w->ctx;
    const spry_vector *callers = back ? out : in;
    spry_vector *on_device = NULL;
    spry_status status = SPRY_STATUS_OK;
    if (callers->device == w->f->device)
        return born_place(w->f, &w->frame, back, conjugate, in, out);
    SPRY_GO(ctx, vector_new_at(ctx, w->f->device, w->f->type, callers->n, &on_device));
    if (!back)
        SPRY_GO(ctx, spry_vector_copy(in, on_device));
    SPRY_GO(ctx, born_place(w->f, &w->frame, back, conjugate, back ? in : on_device,
                            back ? on_device : out));
    if (back)
        SPRY_GO(ctx, spry_vector_copy(on_device, out));
done:
    spry_vector_free(on_device);
    return status;
}

/* As many as there is memory for, half of what is free; those that a solve has had before have
 * theirs. */
static int choose_at_once(const spry_wave *w)
{
    const int64_t bytes = VECTORS * w->f->count * (int64_t)spry_type_size(w->f->type);
    int64_t used, most, left = INT64_MAX;
    int had = 0;
    while (had < AT_ONCE && w->found[had])
        had++;
    if (w->f->device)
        device_memory_now(w->f->device, &used, &most, &left);
    else if (w->ctx->options.memory_limit > 0)
        left = w->ctx->options.memory_limit - w->ctx->memory_now;
    const int64_t free = !w->f->device && w->ctx->meminfo ? base_free_memory(w->ctx->meminfo) : 0;
    left = free > 0 && free < left ? free : left;
    const int64_t room = left / 2 / bytes + had;
    return room < 1 ? 1 : room > AT_ONCE ? AT_ONCE : (int)room;
}

/* At most AT_ONCE of them. */
static spry_status solve_some(spry_wave *w, bool conjugate, int count, const spry_vector *const *f,
                              spry_vector *const *u, spry_result *results)
{
    const spry_vector *sources[AT_ONCE];
    const void *from[AT_ONCE];
    void *to[AT_ONCE];
    const spry_scalar unit = {w->medium.unit, 0};
    spry_status status = SPRY_STATUS_OK;
    for (int k = 0; k < count; k++) {
        SPRY_GO(w->ctx, want(w, &w->source[k]));
        SPRY_GO(w->ctx, want(w, &w->found[k]));
        SPRY_GO(w->ctx, place(w, false, conjugate, f[k], w->source[k]));
        SPRY_GO(w->ctx, spry_vector_fill(w->found[k], (spry_scalar){0, 0}));
        sources[k] = w->source[k];
        from[k] = fourier_memory(w->found[k]);
        to[k] = fourier_memory(w->source[k]);
    }
    SPRY_GO(w->ctx, spry_solve_many(w->solver, count, sources, w->found, results));
    SPRY_GO(w->ctx, fourier_scatter(w->f, &w->green, w->V, false, count, from, to));
    for (int k = 0; k < count; k++) {
        SPRY_GO(w->ctx, spry_vector_scale(unit, w->source[k])); /* f was not multiplied with it */
        SPRY_GO(w->ctx, place(w, true, conjugate, w->source[k], u[k]));
    }
done:
    return status;
}

spry_status spry_wave_solve_many(spry_wave *wave, spry_transpose transpose, int count,
                                 const spry_vector *const *f, spry_vector *const *u,
                                 spry_result *results)
{
    SPRY_NEED(CTX_OF(wave), wave);
    spry_context *ctx = wave->ctx;
    const size_t stride = results ? base_size(results, &krylov_result_sized) : 0;
    spry_status status = SPRY_STATUS_OK;
    if (count < 0 || transpose < SPRY_TRANSPOSE_NO || transpose > SPRY_TRANSPOSE_CONJUGATE)
        return SPRY_FAIL(ctx, SPRY_STATUS_BAD_USAGE, "%d right-hand sides, transpose %d", count,
                         (int)transpose);
    if (count > 0)
        SPRY_NEED(ctx, f, u);
    for (int k = 0; k < count; k++)
        SPRY_NEED(ctx, f[k], u[k]);
    if (!wave->ready)
        return SPRY_FAIL(ctx, SPRY_STATUS_BAD_USAGE,
                         "the solver has no medium, as it could not take the last one: "
                         "spry_wave_set_medium() gives it another");
    for (int k = 0; k < count; k++) {
        SPRY_GO(ctx, check_field(wave, "f", f[k]));
        SPRY_GO(ctx, check_field(wave, "u", u[k]));
    }
    const int at_once = choose_at_once(wave);
    for (int done = 0; done < count; done += at_once) {
        const int some = count - done < at_once ? count - done : at_once;
        char *at = results ? (char *)results + (size_t)done * stride : NULL;
        SPRY_GO(ctx, solve_some(wave, transpose == SPRY_TRANSPOSE_CONJUGATE, some, f + done,
                                u + done, (spry_result *)(void *)at));
    }
done:
    return status;
}

spry_status spry_wave_solve(spry_wave *wave, const spry_vector *f, spry_vector *u,
                            spry_result *result)
{
    return spry_wave_solve_many(wave, SPRY_TRANSPOSE_NO, 1, &f, &u, result);
}
