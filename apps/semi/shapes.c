/* Built-in shapes: boxes along the axes, intervals small where junctions and oxides are. */
#include "semi/semi.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { DIODE, MOS, MOSFET, FINFET, NANOWIRE, SHAPES };
enum { BODY, OXIDE, BURIED };

/* What options leave at 0. */
static const struct {
    const char *name;
    int dim, least_dim, most_dim;
    double length, width, height, depth, extension, junction, oxide, spacing, donors, acceptors,
        work;
} shapes[SHAPES] = {
    {"diode", 1, 1, 3, 1e-6, 1e-7, 0, 0, 0, 0, 0, 2e-9, 1e17, 1e17, 4.1},
    {"mos", 1, 1, 1, 0, 1e-6, 0, 3e-7, 0, 0, 2e-9, 1e-10, 0, 1e17, 4.1},
    {"mosfet", 2, 2, 3, 4e-8, 1e-7, 0, 1e-7, 4e-8, 2e-8, 1.5e-9, 3e-10, 1e20, 1e18, 4.1},
    {"finfet", 3, 3, 3, 2e-8, 8e-9, 2e-8, 1e-8, 1.5e-8, 0, 1e-9, 5e-10, 1e20, 1e16, 4.5},
    {"nanowire", 3, 3, 3, 2e-8, 6e-9, 0, 0, 1.5e-8, 0, 1e-9, 5e-10, 1e20, 1e16, 4.5},
};

static double own(double given, double initial)
{
    return given > 0 ? given : initial;
}

/* --- where is what -----------------------------------------------------------------------------*/

static int region_of(const void *data, const double *p)
{
    const semi_shape *s = data;
    const bool gated = fabs(p[0]) < 0.5 * s->length, within = fabs(p[1]) < 0.5 * s->width;
    switch (s->kind) {
    case DIODE:
        return BODY;
    case MOS:
        return p[0] > 0 ? BODY : OXIDE;
    case MOSFET:
        return p[1] > 0 ? BODY : gated ? OXIDE : -1;
    case FINFET:
        if (p[2] < 0)
            return BURIED;
        return within && p[2] < s->height ? BODY : gated ? OXIDE : -1;
    default:
        return within && fabs(p[2]) < 0.5 * s->width ? BODY : gated ? OXIDE : -1;
    }
}

static bool at(double x, double place)
{
    return fabs(x - place) < 1e-13;
}

/* On a gate around a fin or a wire. */
static bool is_around(const semi_shape *s, const double *p)
{
    const double side = 0.5 * s->width + s->oxide;
    if (fabs(p[0]) > 0.5 * s->length + 1e-13)
        return false;
    if (s->kind == FINFET)
        return (p[2] >= 0 && at(fabs(p[1]), side)) || at(p[2], s->height + s->oxide);
    return at(fabs(p[1]), side) || at(fabs(p[2]), side);
}

static int contact_of(const void *data, const double *p)
{
    const semi_shape *s = data;
    const double end = 0.5 * s->length + s->extension;
    switch (s->kind) {
    case DIODE:
        return at(p[0], 0) ? 0 : at(p[0], s->length) ? 1 : -1;
    case MOS:
        return at(p[0], -s->oxide) ? 0 : at(p[0], s->depth) ? 1 : -1;
    case MOSFET:
        if (at(p[1], -s->oxide))
            return 2;
        if (at(p[1], s->depth))
            return 3;
        return at(p[1], 0) && fabs(p[0]) > end - 0.5 * s->extension - 1e-13 ? p[0] > 0 : -1;
    default:
        if (is_around(s, p))
            return 2;
        if (s->kind == FINFET && (p[2] < -1e-13 || p[2] > s->height + 1e-13))
            return -1;
        return at(fabs(p[0]), end) ? p[0] > 0 : -1;
    }
}

static const char *contact_names(int kind)
{
    return kind == DIODE    ? "anode cathode"
           : kind == MOS    ? "gate body"
           : kind == MOSFET ? "source drain gate body"
                            : "source drain gate";
}

/* The share of a profile at a distance within the doped part. */
static double share(const semi_shape *s, double within)
{
    const double t = within / s->o->spread;
    if (s->o->profile == PROFILE_ERF)
        return 0.5 * erfc(-t);
    if (s->o->profile == PROFILE_GAUSS)
        return within > 0 ? 1 : exp(-0.5 * t * t);
    return fabs(within) < 1e-13 ? 0.5 : within > 0;
}

double semi_shape_doping(const semi_shape *s, const double *p)
{
    double within = fabs(p[0]) - 0.5 * s->length;
    if (s->kind == DIODE)
        within = p[0] - 0.5 * s->length;
    else if (s->kind == MOS)
        return s->donors - s->acceptors;
    else if (s->kind == MOSFET)
        within = fmin(within, s->junction - p[1]);
    const double n = share(s, within);
    return s->donors * n - s->acceptors * (1 - n);
}

/* --- intervals ---------------------------------------------------------------------------------*/

/* Parts between places, with the interval wanted at each. */
static void axis_of(const semi_shape *s, semi_axis *axis, int count, const double *place,
                    const double *h, double most)
{
    semi_part parts[8];
    for (int k = 0; k + 1 < count; k++)
        parts[k] =
            (semi_part){place[k], place[k + 1], h[k] / s->o->refine, h[k + 1] / s->o->refine};
    semi_axis_make(axis, parts, count - 1, s->o->growth, most / s->o->refine);
}

/* Along the channel of a transistor: fine where source and drain end. */
static void make_channel(const semi_shape *s, semi_axis *axis)
{
    const double g = 0.5 * s->length, e = g + s->extension,
                 h = fmax(4 * s->spacing, s->length / 40);
    if (s->kind == MOSFET) {
        const double c = e - 0.5 * s->extension;
        axis_of(s, axis, 6, (const double[]){-e, -c, -g, g, c, e},
                (const double[]){8 * h, 4 * h, h, h, 4 * h, 8 * h}, s->length / 8);
    } else {
        axis_of(s, axis, 4, (const double[]){-e, -g, g, e}, (const double[]){8 * h, h, h, 8 * h},
                s->length / 8);
    }
}

static void make_axes(const semi_shape *s, semi_boxes *b)
{
    const double h = s->spacing, w = 0.5 * s->width, t = s->oxide;
    const double across[4] = {-w - t, -w, w, w + t};
    const double fine[4] = {t / 3, fmin(h, t / 3), fmin(h, t / 3), t / 3};
    for (int a = s->dim; a < 3; a++) /* 1 place, of an axis that a shape has not */
        b->axis[a] = (semi_axis){1, cli_alloc(sizeof(double))};
    semi_axis *x = &b->axis[0], *y = &b->axis[1], *z = &b->axis[2];
    if (s->kind == DIODE) {
        axis_of(s, x, 3, (const double[]){0, 0.5 * s->length, s->length},
                (const double[]){s->length / 20, h, s->length / 20}, s->length / 20);
        for (int a = 1; a < s->dim; a++)
            axis_of(s, &b->axis[a], 2, (const double[]){0, s->width},
                    (const double[]){s->width / 4, s->width / 4}, s->width / 4);
    } else if (s->kind == MOS) {
        axis_of(s, x, 3, (const double[]){-t, 0, s->depth},
                (const double[]){t / 3, fmin(h, t / 3), s->depth / 20}, s->depth / 20);
    } else if (s->kind == MOSFET) {
        make_channel(s, x);
        axis_of(s, y, 4, (const double[]){-t, 0, s->junction, s->depth},
                (const double[]){t / 3, fmin(h, t / 3), s->junction / 8, s->depth / 10},
                s->depth / 10);
        if (s->dim == 3)
            axis_of(s, z, 2, (const double[]){0, s->width},
                    (const double[]){s->width / 8, s->width / 8}, s->width / 8);
    } else {
        make_channel(s, x);
        axis_of(s, y, 4, across, fine, s->width / 6);
        if (s->kind == FINFET)
            axis_of(s, z, 4, (const double[]){-s->depth, 0, s->height, s->height + t},
                    (const double[]){s->depth / 4, h, fmin(h, t / 3), t / 3}, s->height / 10);
        else
            axis_of(s, z, 4, across, fine, s->width / 6);
    }
}

/* --- a shape -----------------------------------------------------------------------------------*/

/* What lengths have to be to each other. */
static int check(const semi_shape *s, const app_config *config)
{
    if (s->dim < shapes[s->kind].least_dim || s->dim > shapes[s->kind].most_dim)
        return app_fault(config, "dimension", "a %s has %d to %d dimensions, not %d",
                         shapes[s->kind].name, shapes[s->kind].least_dim, shapes[s->kind].most_dim,
                         s->dim);
    if (s->kind == MOSFET && s->junction >= s->depth)
        return app_fault(config, "junction",
                         "the junction, %g nm deep, is not within the body, "
                         "%g nm",
                         s->junction * 1e9, s->depth * 1e9);
    if (s->spacing < 1e-12)
        return app_fault(config, "spacing", "intervals of %g nm are less than atoms",
                         s->spacing * 1e9);
    return EXIT_DONE;
}

static void name_parts(const semi_shape *s, semi_mesh *m)
{
    static const char *const regions[] = {"body", "oxide", "buried"};
    const char *names = contact_names(s->kind);
    m->regions = s->kind == DIODE ? 1 : s->kind == FINFET ? 3 : 2;
    for (int k = 0; k < m->regions; k++)
        snprintf(m->region_name[k], SEMI_NAME, "%s", regions[k]);
    for (int length; *names; names += length + (names[length] == ' ')) {
        length = (int)strcspn(names, " ");
        snprintf(m->contact_name[m->contacts++], SEMI_NAME, "%.*s", length, names);
    }
}

int semi_shape_make(spry_context *ctx, const semi_options *o, const app_config *config,
                    const char *name, semi_shape *s, semi_mesh *m)
{
    int k = 0;
    while (k < SHAPES && strcmp(shapes[k].name, name) != 0)
        k++;
    if (k == SHAPES)
        return cli_fail(EXIT_INPUT, "no shape %s; there are: %s", name, SEMI_SHAPES);
    *s = (semi_shape){.o = o, .kind = k, .dim = o->dimension ? (int)o->dimension : shapes[k].dim};
    s->length = own(o->length, shapes[k].length);
    s->width = own(o->width, shapes[k].width);
    s->height = own(o->height, shapes[k].height);
    s->depth = own(o->depth, shapes[k].depth);
    s->extension = own(o->extension, shapes[k].extension);
    s->junction = own(o->junction, shapes[k].junction);
    s->oxide = own(o->oxide, shapes[k].oxide);
    s->spacing = own(o->spacing, shapes[k].spacing);
    s->work = own(o->work, shapes[k].work);
    s->donors = own(o->donors, shapes[k].donors);
    s->acceptors =
        o->acceptors > 0 || (k == MOS && o->donors > 0) ? o->acceptors : shapes[k].acceptors;
    int exit_status = check(s, config);
    if (exit_status != EXIT_DONE)
        return exit_status;
    semi_boxes b = {.dim = s->dim, .region = region_of, .contact = contact_of, .data = s};
    m->thick[0] = m->thick[1] = s->width;
    name_parts(s, m);
    make_axes(s, &b);
    const double nodes =
        (double)b.axis[0].count * (double)b.axis[1].count * (double)b.axis[2].count;
    exit_status =
        app_check_memory(ctx, "cpu", 2500 * nodes, "the mesh", "a larger --spacing or --growth");
    if (exit_status == EXIT_DONE && nodes > 1e8)
        exit_status = cli_fail(EXIT_INPUT,
                               "a mesh of %.3g nodes is too much; take a larger --spacing or "
                               "--growth",
                               nodes);
    if (exit_status == EXIT_DONE)
        semi_boxes_make(&b, m);
    for (int a = 0; a < 3; a++)
        free(b.axis[a].at);
    return exit_status;
}
