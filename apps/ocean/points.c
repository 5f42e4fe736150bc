/* Sweeps over all points: on the host by threads, on a device by kernels of the same text. */
#include "ocean/points.h"

#include "ocean_points.h" /* made by the build: the text of points.knl */

#include <stdio.h>

static ocean_planes planes_of(const ocean_sizes *s, ocean_sweep which)
{
    switch (which) {
    case SWEEP_slopes:
        return (ocean_planes){1, s->nz + 1, 1};
    case SWEEP_product:
        return (ocean_planes){0, s->nz, 1};
    case SWEEP_into:
    case SWEEP_back:
        return (ocean_planes){0, s->nz, s->nz};
    case SWEEP_filter:
        return (ocean_planes){0, 2, 1};
    default:
        return (ocean_planes){0, 1, 1};
    }
}

typedef struct line_range {
    int from, to;
} line_range;

/* The lines that a sweep goes through: this rank's, and of what its products take from neighbours
 * as many more as they reach. */
static line_range lines_of(const ocean_sizes *s, ocean_sweep which)
{
    const bool wider =
        s->cut && (which == SWEEP_metric || which == SWEEP_bottom || which == SWEEP_slopes);
    const int from = wider ? s->from - s->alpha : s->from, to = wider ? s->to + s->alpha : s->to;
    return (line_range){from > 0 ? from : 0, to < s->ny ? to : s->ny};
}

ocean_tables ocean_tables_of(const ocean_sizes *s)
{
    ocean_tables t = {.sigma = TABLE_HEAD,
                      .width = 2 * s->alpha + 2,
                      .row = (s->nz + OCEAN_TERMS - 1) / OCEAN_TERMS * OCEAN_TERMS};
    t.d1 = t.sigma + s->nz + 1;
    t.d2 = t.d1 + (s->nz + 1) * t.width;
    t.into = t.d2 + (s->nz + 1) * t.width;
    t.back = t.into + s->nz * t.row;
    t.size = t.back + s->nz * t.row;
    return t;
}

/* --- the host ------------------------------------------------------------------------------------
 */

static const double *numbers_of(const spry_vector *v)
{
    return v ? spry_vector_data_const(v) : NULL;
}

static void run_lines(const ocean_points *p, ocean_sweep which, double t, int mode,
                      const ocean_arrays *v)
{
    enum { LEAST = 4096 }; /* points that are worth another thread */
    static const ocean_lines_fn *const orders[] = {ocean_lines_2, ocean_lines_4, ocean_lines_6,
                                                   ocean_lines_8};
    const ocean_sizes *s = &p->sizes;
    const ocean_numbers n = {numbers_of(v->a),      numbers_of(v->b),      numbers_of(v->c),
                             numbers_of(v->e),      numbers_of(v->tables), numbers_of(v->forcing),
                             spry_vector_data(v->y)};
    const ocean_lines_fn lines_fn = orders[s->alpha - 1][which];
    const ocean_planes planes = planes_of(s, which);
    const int most = spry_context_threads(p->ctx);
    const line_range lines = lines_of(s, which);
    const int64_t count = lines.to - lines.from;
    const int64_t worth = (int64_t)(planes.to - planes.from) * count * s->nx / LEAST + 1;
    const int64_t pieces = count * ocean_pieces(s->nx);
    const int first = lines.from * ocean_pieces(s->nx);
    const int threads = worth < most ? (int)worth : most;
#pragma omp parallel for num_threads(threads) schedule(static)
    for (int share = 0; share < threads; share++)
        lines_fn(s, planes, first + (int)(pieces * share / threads),
                 first + (int)(pieces * (share + 1) / threads), t, mode, &n);
}

/* --- a device ------------------------------------------------------------------------------------
 */

static const char *const names[] = {
#define SWEEP_TEXT(name) #name,
    OCEAN_SWEEPS(SWEEP_TEXT)};

/* The kernels of all sweeps are one text, so that it is compiled once: what is done at points, and
 * a kernel for each that calls it. Where planes are made of the same terms a work-item has all of
 * them. */
static spry_status make_kernels(ocean_points *p)
{
    static const char call[] =
        "SP_KERNEL %s(const double t, const int mode, const int lines,\n"
        "    SP_GLOBAL const scalar *SP_RESTRICT a, SP_GLOBAL const scalar *SP_RESTRICT b,\n"
        "    SP_GLOBAL const scalar *SP_RESTRICT c, SP_GLOBAL const scalar *SP_RESTRICT e,\n"
        "    SP_GLOBAL const scalar *SP_RESTRICT tables,\n"
        "    SP_GLOBAL const scalar *SP_RESTRICT forcing, SP_GLOBAL scalar *SP_RESTRICT y)\n"
        "{\n"
        "    const int i = (int)SP_GLOBAL_ID_0, line = (int)SP_GLOBAL_ID_1;\n"
        "    const int j = line %% NY, inside = i >= ALPHA && i < NX - ALPHA;\n"
        "    if (i >= NX || line >= lines)\n"
        "        return;\n"
        "    const int first = line / NY + %d;\n"
        "    for (int k = first; k < %s; k++)\n"
        "        for (int m = mode; m < %s; m += TERMS)\n"
        "            %s_point(place_of(j, k), i, j, k, inside, t, m, a, b, c, e, tables, forcing,\n"
        "                     y);\n"
        "}\n";
    const ocean_sizes *s = &p->sizes;
    const size_t size = sizeof ocean_points_text + SWEEP_COUNT * (sizeof call + 64) + 256;
    char options[256], *text = spry_alloc(p->ctx, size);
    spry_status status = text ? SPRY_STATUS_OK : SPRY_STATUS_NO_MEMORY;
    size_t length = 0;
    if (!text)
        return status;
    static const char words[] = "#define SIZES\n#define PASS\n#define WIDE (NY > 1)\n"
                                "#define ALL_Y NY\n#define FIRST_LINE 0\n#define CUT 0\n"
                                "#define OUT_FROM 0\n#define OUT_LINES NY\n";
    snprintf(options, sizeof options,
             "type=d group=64x4 define=[NX=%d NY=%d NZ=%d ALPHA=%d ROUND_X=%d ROUND_Y=%d]", s->nx,
             s->ny, s->nz, s->alpha, s->round_x, s->round_y);
    length = (size_t)snprintf(text, size, "%s%s", words, ocean_points_text);
    for (int i = 0; i < SWEEP_COUNT; i++) {
        const ocean_planes planes = planes_of(s, (ocean_sweep)i);
        length += (size_t)snprintf(text + length, size - length, call, names[i], planes.from,
                                   planes.terms > 1 ? "NZ" : "first + 1",
                                   planes.terms > 1 ? "NZ" : "mode + 1", names[i]);
    }
    for (int i = 0; i < SWEEP_COUNT && status == SPRY_STATUS_OK; i++)
        status = spry_kernel_new(p->device, text, names[i], options, &p->kernel[i]);
    spry_free(p->ctx, text);
    return status;
}

/* Arguments that a sweep has no use for are any vector. */
static spry_status launch(ocean_points *p, ocean_sweep which, double t, int mode,
                          const ocean_arrays *v)
{
    spry_kernel *kernel = p->kernel[which];
    const ocean_planes planes = planes_of(&p->sizes, which);
    const int lines = p->sizes.ny * (planes.terms > 1 ? 1 : planes.to - planes.from);
    const int64_t sides[] = {p->sizes.nx, lines};
    const struct {
        const char *name;
        const spry_vector *v;
    } inputs[] = {{"a", v->a}, {"b", v->b},           {"c", v->c},
                  {"e", v->e}, {"tables", v->tables}, {"forcing", v->forcing}};
    spry_status status = spry_kernel_set_real(kernel, "t", t);
    if (status == SPRY_STATUS_OK)
        status = spry_kernel_set_int(kernel, "mode", mode);
    if (status == SPRY_STATUS_OK)
        status = spry_kernel_set_int(kernel, "lines", lines);
    for (size_t i = 0; i < sizeof inputs / sizeof *inputs && status == SPRY_STATUS_OK; i++)
        status =
            spry_kernel_set_input(kernel, inputs[i].name, inputs[i].v ? inputs[i].v : v->tables);
    if (status == SPRY_STATUS_OK)
        status = spry_kernel_set_vector(kernel, "y", v->y);
    return status == SPRY_STATUS_OK ? spry_kernel_launch(kernel, 2, sides) : status;
}

/* --- both ----------------------------------------------------------------------------------------
 */

spry_status ocean_points_make(spry_context *ctx, spry_device *device, const ocean_sizes *sizes,
                              ocean_points *points)
{
    *points = (ocean_points){.ctx = ctx, .device = device, .sizes = *sizes};
    return device ? make_kernels(points) : SPRY_STATUS_OK;
}

void ocean_points_free(ocean_points *points)
{
    for (int i = 0; i < SWEEP_COUNT; i++)
        spry_kernel_free(points->kernel[i]);
}

spry_status ocean_sweep_run(ocean_points *p, ocean_sweep which, double t, int mode,
                            const ocean_arrays *arrays)
{
    if (p->device)
        return launch(p, which, t, mode, arrays);
    run_lines(p, which, t, mode, arrays);
    return SPRY_STATUS_OK;
}
