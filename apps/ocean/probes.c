/* Probes below the surface, and forces on walls: columns of the series. */
#include "ocean/ocean.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static bool is_looked_at(const ocean_run *r)
{
    return r->probes > 0 || r->o->forces;
}

/* Whether a force is recorded: x = 0, x = length, y = 0, y = width. */
static bool is_wall(const ocean_run *r, int wall)
{
    const ocean_setup *s = &r->flow.setup;
    return r->o->forces && (wall < 2 ? !s->round_x : !s->round_y && s->ny > 0);
}

/* "3.5:-0.1 10:2:-0.3": x:z, or with waves along y x:y:z, in m */
static int read_probes(ocean_run *r)
{
    const ocean_setup *s = &r->flow.setup;
    const int count = s->ny > 0 ? 3 : 2;
    const char *text = r->o->probes, *at = text;
    while (*(at += strspn(at, " ,\t"))) {
        ocean_probe p = {.near = {{0}}};
        double number[3] = {0};
        const char *next = at;
        char *after = NULL;
        int found = 0;
        for (; found < count; found++, next = after + 1) {
            number[found] = strtod(next, &after);
            if (after == next || (found < count - 1 && *after != ':'))
                break;
        }
        const int column = (int)(at - text) + 1;
        if (found < count || !strchr(" ,\t", *after))
            return cli_fail(EXIT_INPUT, "probes: column %d: expected %s in m", column,
                            count == 3 ? "X:Y:Z" : "X:Z");
        p.x = number[0];
        p.y = count == 3 ? number[1] : 0;
        p.z = number[count - 1];
        if (r->probes == OCEAN_GAUGES || !(p.x >= 0 && p.x <= s->length && p.y >= 0) ||
            !(p.y <= s->width))
            return cli_fail(EXIT_INPUT,
                            "probes: column %d: %g:%g is outside the basin of %g m by %g m, or one "
                            "of more than %d",
                            column, p.x, p.y, s->length, s->width, OCEAN_GAUGES);
        ocean_inside_near(&r->inside, p.x, p.y, p.near);
        const double depth = ocean_inside_depth(&r->inside, p.near);
        if (!(p.z >= -depth))
            return cli_fail(EXIT_INPUT,
                            "probes: column %d: %g m is below the bottom at %.6g m; heights are "
                            "above the still surface",
                            column, p.z, -depth);
        r->probe[r->probes++] = p;
        at = after;
    }
    return EXIT_DONE;
}

int probes_prepare(ocean_run *r)
{
    const bool asked = r->o->probes[0] || r->o->forces || r->o->volume;
    if (!asked || r->o->ship_speed > 0)
        return asked && (r->o->probes[0] || r->o->forces)
                   ? cli_fail(EXIT_INPUT, "probes and forces are of waves without a ship")
                   : EXIT_DONE;
    if (r->o->forces && !is_wall(r, 0) && !is_wall(r, 2))
        return cli_fail(EXIT_INPUT, "forces are of walls, and a periodic basin has none");
    const spry_status status = ocean_inside_make(&r->flow, &r->inside);
    return status == SPRY_STATUS_OK ? read_probes(r) : cli_failed(r->ctx, status);
}

spry_status probes_look(ocean_run *r, const spry_vector *u, const spry_vector *rate)
{
    return is_looked_at(r) ? ocean_inside_take(&r->inside, u, rate) : SPRY_STATUS_OK;
}

spry_status probes_head(ocean_run *r, ocean_text *text)
{
    static const char *const names[] = {"u", "v", "w", "p"};
    spry_status status = SPRY_STATUS_OK;
    const bool wide = r->flow.setup.ny > 0;
    for (int i = 0; i < r->probes; i++)
        for (int k = 0; k < 4 && status == SPRY_STATUS_OK; k++) {
            const ocean_probe *p = &r->probe[i];
            if (k != 1 && !wide)
                status = ocean_text_print(r->ctx, text, ",%s %g:%g", names[k], p->x, p->z);
            else if (wide)
                status = ocean_text_print(r->ctx, text, ",%s %g:%g:%g", names[k], p->x, p->y, p->z);
        }
    for (int wall = 0; wall < 4 && status == SPRY_STATUS_OK; wall++)
        if (is_wall(r, wall))
            status = ocean_text_print(r->ctx, text, ",force %c=%g", wall < 2 ? 'x' : 'y',
                                      wall % 2 == 0 ? 0
                                      : wall < 2    ? r->flow.setup.length
                                                    : r->flow.setup.width);
    return status;
}

/* Above the surface there is nothing, and so is in the columns. */
spry_status probes_row(ocean_run *r, ocean_text *text)
{
    spry_status status = SPRY_STATUS_OK;
    const bool wide = r->flow.setup.ny > 0;
    double force[4];
    for (int i = 0; i < r->probes && status == SPRY_STATUS_OK; i++) {
        const ocean_probe *p = &r->probe[i];
        ocean_water w;
        if (!ocean_inside_at(&r->inside, p->near, p->z, &w))
            status = ocean_text_print(r->ctx, text, wide ? ",,,," : ",,,");
        else if (wide)
            status = ocean_text_print(r->ctx, text, ",%.9g,%.9g,%.9g,%.9g", w.velocity[0],
                                      w.velocity[1], w.velocity[2], w.pressure);
        else
            status = ocean_text_print(r->ctx, text, ",%.9g,%.9g,%.9g", w.velocity[0], w.velocity[2],
                                      w.pressure);
    }
    if (!r->o->forces || status != SPRY_STATUS_OK)
        return status;
    ocean_inside_forces(&r->inside, force);
    for (int wall = 0; wall < 4 && status == SPRY_STATUS_OK; wall++)
        if (is_wall(r, wall))
            status = ocean_text_print(r->ctx, text, ",%.9g", force[wall]);
    return status;
}
