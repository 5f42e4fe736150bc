/* Fourier transforms of arrays, and spry_operator_fourier(). */
#include "device/engine/device.h"
#include "device/linalg/vector.h"
#include "grid/blocks.h"
#include "grid/grid.h"
#include "grid/options.h"
#include "grid/wave/wave.h"
#include "host/apply.h"

#include <math.h>

#define FOURIER_OPTIONS(item)                                 \
    item(WORD, type, "z", 0, 0, "c z", "type of the numbers") \
    item(TEXT, device, "cpu", 0, 0, NULL, "cpu, cuda[:i] or opencl[:i]")

typedef struct fourier_options {
    FOURIER_OPTIONS(SPRY_OPTION_FIELD)
} fourier_options;
SPRY_OPTION_TABLE(rows, fourier_options, FOURIER_OPTIONS(SPRY_OPTION_ROW))
static const spry_option_list list = SPRY_OPTION_LIST(rows);

spry_option_list fourier_option_list(void)
{
    return list;
}

/* --- the object ----------------------------------------------------------------------------------
 */

void fourier_free(fourier *f)
{
    if (!f)
        return;
    if (f->device)
        wave_device_close(f);
    for (int a = 0; a < WAVE_AXES; a++)
        wave_side_clear(f->ctx, &f->side[a]);
    base_free(f->ctx, f->room);
    base_free(f->ctx, f);
}

/* Planes for each thread of the host. */
static spry_status make_room(fourier *f)
{
    int64_t most = 1;
    for (int a = 0; a < f->axes; a++)
        most = f->n[a] > most ? f->n[a] : most;
    f->shares = spry_context_threads(f->ctx);
    f->share_bytes = 6 * most * WAVE_LINE_BYTES;
    return base_alloc(f->ctx, f->shares, (size_t)f->share_bytes, &f->room);
}

spry_status fourier_new(spry_context *ctx, spry_device *device, spry_type type, int axes,
                        const int64_t n[WAVE_AXES], fourier **out)
{
    fourier *f = NULL;
    spry_status status = SPRY_STATUS_OK;
    *out = NULL;
    SPRY_GO(ctx, base_calloc(ctx, 1, sizeof *f, &f));
    *f = (fourier){.ctx = ctx, .type = type, .axes = axes, .count = 1};
    for (int a = 0; a < WAVE_AXES; a++) {
        f->n[a] = a < axes ? n[a] : 1;
        f->count *= f->n[a];
        SPRY_GO(ctx, wave_side_make(ctx, type, f->n[a], &f->side[a]));
    }
    if (device) {
        f->device = device;
        SPRY_GO(ctx, wave_device_open(f));
    } else {
        SPRY_GO(ctx, make_room(f));
    }
    *out = f;
    f = NULL;
done:
    fourier_free(f);
    return status;
}

void fourier_green_clear(const fourier *f, fourier_green *g)
{
    for (int a = 0; a < WAVE_AXES; a++) {
        base_free(f->ctx, g->squares[a]);
        g->squares[a] = NULL;
    }
    device_free(g->device_tables);
    g->device_tables = NULL;
}

/* The square of a wave number j of n: those above the middle are the negative ones. */
static double square_of(int64_t j, int64_t n, double spacing)
{
    const double p = 2 * M_PI * (double)(j <= n / 2 ? j : n - j) / ((double)n * spacing);
    return p * p;
}

spry_status fourier_green_make(const fourier *f, const double spacing[WAVE_AXES], fourier_green *g)
{
    const bool single = type_is_single(f->type);
    const spry_type real = single ? SPRY_TYPE_S : SPRY_TYPE_D;
    spry_status status = SPRY_STATUS_OK;
    for (int a = 0; a < WAVE_AXES; a++) {
        SPRY_GO(f->ctx, base_calloc(f->ctx, f->n[a] + wave_lanes(f->type), spry_type_size(real),
                                    &g->squares[a]));
        for (int64_t j = 0; a < f->axes && j < f->n[a]; j++)
            value_set(real, g->squares[a], j, (spry_scalar){square_of(j, f->n[a], spacing[a]), 0});
    }
    g->scale = 1 / (double)f->count;
    if (f->device)
        SPRY_GO(f->ctx, wave_device_green(f, g));
done:
    return status;
}

/* --- runs ----------------------------------------------------------------------------------------
 */

void *fourier_memory(const spry_vector *v)
{
    return v->device ? (void *)device_vector_memory(v) : v->data;
}

/* y = F x or F^-1 x, unitary. */
static spry_status transform(fourier *f, bool inverse, int columns, const void *const *x,
                             void *const *y)
{
    if (f->device)
        return wave_device_run(f, inverse, columns, x, y);
    wave_pass passes[WAVE_AXES];
    for (int a = 0; a < f->axes; a++)
        passes[a] = (wave_pass){.f = f,
                                .axis = a,
                                .inverse = inverse,
                                .columns = columns,
                                .from = a == 0 ? x : (const void *const *)y,
                                .to = y,
                                .scale = a + 1 == f->axes ? 1 / sqrt((double)f->count) : 1};
    wave_run_passes(f, f->axes, passes);
    return SPRY_STATUS_OK;
}

spry_status fourier_scatter(fourier *f, const fourier_green *g, const spry_vector *V, bool whole,
                            int columns, const void *const *x, void *const *y)
{
    if (f->device)
        return wave_device_scatter(f, g, V, whole, columns, x, y);
    wave_pass passes[2 * WAVE_AXES];
    const int last = f->axes - 1;
    int count = 0;
    for (int a = 0; a < last; a++)
        passes[count++] = (wave_pass){.axis = a};
    passes[count++] = (wave_pass){.axis = last, .green = g};
    for (int a = last - 1; a >= 0; a--)
        passes[count++] = (wave_pass){.axis = a, .inverse = true};
    for (int k = 0; k < count; k++) {
        passes[k].f = f;
        passes[k].columns = columns;
        passes[k].from = k == 0 ? x : (const void *const *)y;
        passes[k].to = y;
        passes[k].scale = 1;
    }
    passes[0].before = V->data;
    if (whole) {
        passes[count - 1].after = V->data;
        passes[count - 1].less = x;
    }
    wave_run_passes(f, count, passes);
    return SPRY_STATUS_OK;
}

int64_t fourier_scatter_bytes(const fourier *f)
{
    /* Numbers that a point moves: x and V, and those between passes. */
    const int64_t passes = f->device ? 2 * f->axes - 1 : f->axes > 2 ? 3 : 2 * f->axes - 1;
    return (2 * passes + 3) * f->count * (int64_t)spry_type_size(f->type);
}

/* --- the operator --------------------------------------------------------------------------------
 */

/* F is its own transpose. */
static spry_status fourier_apply(const spry_operator *op, spry_transpose transpose,
                                 const spry_vector *x, spry_vector *y)
{
    const void *const from = fourier_memory(x);
    void *const to = fourier_memory(y);
    return transform(op->state, transpose == SPRY_TRANSPOSE_CONJUGATE, 1, &from, &to);
}

static spry_status fourier_apply_many(const spry_operator *op, spry_transpose transpose, int count,
                                      const void *const *x, void *const *y)
{
    return transform(op->state, transpose == SPRY_TRANSPOSE_CONJUGATE, count, x, y);
}

static void fourier_destroy(spry_operator *op)
{
    fourier_free(op->state);
    if (op->device)
        op->device->users--;
}

static const operator_class fourier_class = {.name = "fourier",
                                             .has_transpose = true,
                                             .multiply = operator_apply_arrays,
                                             .multiply_vectors = operator_apply_vectors,
                                             .apply = fourier_apply,
                                             .apply_many = fourier_apply_many,
                                             .destroy = fourier_destroy};

spry_status spry_operator_fourier(const spry_grid *grid, const char *options, spry_operator **F)
{
    SPRY_NEED(CTX_OF(grid), grid, F);
    static const spry_type types[] = {SPRY_TYPE_C, SPRY_TYPE_Z};
    spry_context *ctx = grid->ctx;
    const grid_shape *shape = &grid->shape;
    fourier_options chosen = {0};
    spry_device *device = NULL;
    spry_operator *op = NULL;
    int64_t n[WAVE_AXES];
    spry_status status = SPRY_STATUS_OK;
    *F = NULL;
    SPRY_GO(ctx, options_take(ctx, list, &chosen, options));
    if (grid_is_cut(shape))
        return SPRY_FAIL(ctx, SPRY_STATUS_UNSUPPORTED,
                         "Fourier transforms work on one rank: make the grid with ranks=none");
    const spry_type type = types[chosen.type];
    SPRY_GO(ctx, operator_new(ctx, &fourier_class, type, shape->unknowns, shape->unknowns, &op));
    if (strcmp(chosen.device, "cpu") != 0) {
        SPRY_GO(ctx, device_open(ctx, chosen.device, &device));
        SPRY_GO(ctx, device_check_type(device, type));
        op->device = device;
        device->users++;
    }
    for (int a = 0; a < WAVE_AXES; a++)
        n[a] = shape->axis[a].unknowns;
    fourier *f;
    SPRY_GO(ctx, fourier_new(ctx, device, type, shape->dimensions, n, &f));
    op->state = f;
    const int64_t passes = device || f->axes < 3 ? f->axes : 2;
    op->bytes = 2 * passes * f->count * (int64_t)spry_type_size(type);
    op->own_bytes = 2 * (passes - 1) * f->count * (int64_t)spry_type_size(type);
    *F = op;
    op = NULL;
done:
    spry_operator_free(op);
    return status;
}
