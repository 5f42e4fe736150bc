/* Doping: of a built-in shape, of profiles in regions, of a file of points. */
#include "semi/semi.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { LINE_SIZE = 256 };

typedef struct profile {
    char region[SEMI_NAME], kind[16];
    double value, centre, deviation;
    int axis; /* -1: constant */
} profile;

int semi_each_part(const char *text, int (*take)(void *data, const char *part), void *data)
{
    char part[SPRY_OPTION_TEXT_SIZE];
    int exit_status = EXIT_DONE;
    while (*text && exit_status == EXIT_DONE) {
        const size_t length = strcspn(text, ",");
        snprintf(part, sizeof part, "%.*s", (int)length, text);
        exit_status = take(data, part);
        text += length + (text[length] == ',');
    }
    return exit_status;
}

/* --- profiles ----------------------------------------------------------------------------------*/

static const char *parse(const char *text, profile *p)
{
    char axis[4] = "", rest[2];
    int used = 0;
    *p = (profile){.axis = -1};
    if (sscanf(text, "%31s %lf %1s", p->region, &p->value, rest) == 2)
        return NULL;
    if (sscanf(text, "%31s %15s %n", p->region, p->kind, &used) < 2 || used == 0 ||
        (strcmp(p->kind, "gauss") != 0 && strcmp(p->kind, "erf") != 0))
        return "expected REGION VALUE or REGION gauss|erf VALUE AXIS CENTRE DEVIATION";
    if (sscanf(text + used, "%lf %3s %lf %lf %1s", &p->value, axis, &p->centre, &p->deviation,
               rest) != 4)
        return "expected REGION gauss|erf VALUE AXIS CENTRE DEVIATION";
    if (strlen(axis) != 1 || !strchr("xyz", axis[0]))
        return "the axis is x, y or z";
    p->axis = axis[0] - 'x';
    if (!(fabs(p->deviation) > 1e-3 && fabs(p->deviation) < 1e9) || !(fabs(p->centre) < 1e9))
        return "the deviation or the centre is no length in nm";
    return NULL;
}

static double profile_at(const profile *p, const double *place)
{
    if (p->axis < 0)
        return p->value;
    const double t = (place[p->axis] * 1e9 - p->centre) / p->deviation;
    return p->value * (strcmp(p->kind, "erf") == 0 ? 0.5 * erfc(t) : exp(-0.5 * t * t));
}

/* Adds a profile; a node at the border of its region gets the share of its box. */
static int add_profile(void *data, const char *text)
{
    semi_device *d = data;
    semi_mesh *m = &d->mesh;
    profile p;
    const char *wrong = parse(text, &p);
    if (!wrong && !(fabs(p.value) <= 1e22))
        wrong = "more than 1e22 cm^-3";
    if (wrong)
        return app_fault(d->config, "doping", "%s: %s", text, wrong);
    const int region = semi_find(m->region_name, m->regions, p.region);
    if (region < 0 && strcmp(p.region, "all") != 0)
        return app_fault(d->config, "doping", "the mesh has no region %s", p.region);
    double *part = cli_alloc(2 * (size_t)m->nodes * sizeof *part), *whole = part + m->nodes;
    for (int64_t c = 0; c < m->cells; c++) {
        if (!semi_conducts(m, c))
            continue;
        const double volume = semi_cell_volume(m, c);
        for (int k = 0; k <= m->dim; k++) {
            const int32_t node = m->corner[c * (m->dim + 1) + k];
            whole[node] += volume;
            part[node] += region < 0 || m->region[c] == region ? volume : 0;
        }
    }
    for (int64_t i = 0; i < m->nodes; i++)
        if (part[i] > 0)
            d->doping[i] += part[i] / whole[i] * profile_at(&p, m->place + 3 * i);
    free(part);
    return EXIT_DONE;
}

/* --- points ------------------------------------------------------------------------------------*/

typedef struct point {
    double place[3], value;
} point;

static int by_x(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static int read_points(const char *path, point *list, int *count)
{
    char text[LINE_SIZE], rest[2];
    FILE *file = fopen(path, "r");
    if (!file)
        return cli_fail(EXIT_INPUT, "%s: %s", path, strerror(errno));
    int exit_status = EXIT_DONE;
    for (int line = 1; exit_status == EXIT_DONE && fgets(text, sizeof text, file); line++) {
        point *p = &list[*count];
        text[strcspn(text, "#\r\n")] = '\0';
        if (!text[strspn(text, " \t")])
            continue;
        if (*count == SEMI_POINTS)
            exit_status =
                cli_fail(EXIT_INPUT, "%s:%d: more than %d points", path, line, SEMI_POINTS);
        else if (sscanf(text, "%lf %lf %lf %lf %1s", &p->place[0], &p->place[1], &p->place[2],
                        &p->value, rest) != 4 ||
                 !(fabs(p->value) <= 1e22) || !isfinite(p->place[0] + p->place[1] + p->place[2]))
            exit_status =
                cli_fail(EXIT_INPUT, "%s:%d: expected x y z VALUE, at most 1e22 cm^-3", path, line);
        else
            ++*count;
    }
    fclose(file);
    if (exit_status == EXIT_DONE && *count == 0)
        exit_status = cli_fail(EXIT_INPUT, "%s: there is no point", path);
    return exit_status;
}

/* That of the nearest, from the place along x on to both sides. */
static double nearest(const point *list, int count, const double *place)
{
    const double p[3] = {place[0] * 1e9, place[1] * 1e9, place[2] * 1e9};
    int low = 0, high = count;
    while (low < high) {
        const int middle = (low + high) / 2;
        if (list[middle].place[0] < p[0])
            low = middle + 1;
        else
            high = middle;
    }
    double best = INFINITY, value = 0;
    for (int way = -1; way <= 1; way += 2)
        for (int k = way < 0 ? low - 1 : low; k >= 0 && k < count; k += way) {
            double square = 0;
            const double x = list[k].place[0] - p[0];
            if (x * x > best)
                break;
            for (int a = 0; a < 3; a++)
                square += (list[k].place[a] - p[a]) * (list[k].place[a] - p[a]);
            if (square < best) {
                best = square;
                value = list[k].value;
            }
        }
    return value;
}

static int add_points(semi_device *d, const char *path)
{
    int count = 0;
    point *list = cli_alloc(SEMI_POINTS * sizeof *list);
    const int exit_status = read_points(path, list, &count);
    if (exit_status == EXIT_DONE) {
        qsort(list, (size_t)count, sizeof *list, by_x);
        for (int64_t i = 0; i < d->mesh.nodes; i++)
            d->doping[i] += nearest(list, count, d->mesh.place + 3 * i);
    }
    free(list);
    return exit_status;
}

int semi_doping_make(semi_device *d, const semi_shape *shape)
{
    for (int64_t i = 0; shape && i < d->mesh.nodes; i++)
        d->doping[i] = semi_shape_doping(shape, d->mesh.place + 3 * i);
    const int exit_status = semi_each_part(d->o->doping, add_profile, d);
    return exit_status == EXIT_DONE && d->o->doping_file ? add_points(d, d->o->doping_file)
                                                         : exit_status;
}
