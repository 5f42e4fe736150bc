#include "odt/tracks.h"

#include <math.h>
#include <string.h>

enum { MAY_MISS = 2 };

/* Room for so many more, twice as much as there was. */
static spry_status grow(spry_context *ctx, void **list, int count, int more, int *room,
                        size_t bytes)
{
    if (count + more <= *room)
        return SPRY_STATUS_OK;
    const int wanted = 2 * (count + more);
    void *larger = odt_alloc(ctx, wanted, bytes);
    if (!larger)
        return SPRY_STATUS_NO_MEMORY;
    if (*list)
        memcpy(larger, *list, (size_t)count * bytes);
    spry_free(ctx, *list);
    *list = larger;
    *room = wanted;
    return SPRY_STATUS_OK;
}

/* Where the tracks would be now, as particles of the reach's size. */
static spry_status predict(const odt_tracks *t, odt_particles *expected)
{
    expected->p = odt_alloc(t->ctx, t->open + 1, sizeof *expected->p);
    expected->count = t->open;
    for (int k = 0; k < t->open && expected->p; k++) {
        const odt_track *from = &t->list[k];
        odt_particle *p = &expected->p[k];
        p->diameter = 2 * t->reach;
        for (int a = 0; a < 3; a++)
            p->at[a] = from->at[a] + (1 + from->missed) * from->way[a];
    }
    return expected->p ? SPRY_STATUS_OK : SPRY_STATUS_NO_MEMORY;
}

/* A particle goes on with a track, or begins one. */
static void sight(odt_tracks *t, int open, const odt_particle *p)
{
    odt_track *to = open >= 0 ? &t->list[open] : &t->list[t->open++];
    if (open < 0)
        *to = (odt_track){.number = ++t->tracks};
    for (int a = 0; a < 3; a++) {
        to->way[a] = open >= 0 ? (p->at[a] - to->at[a]) / (1 + to->missed) : 0;
        to->at[a] = p->at[a];
    }
    to->missed = -1; /* 0 when the frame is done */
    t->all[t->count++] = (odt_sighting){t->frames, to->number, *p};
}

spry_status odt_tracks_add(odt_tracks *t, const odt_particles *found)
{
    odt_compared c = {0};
    odt_particles expected = {0};
    void *all = t->all, *list = t->list;
    int kept = 0;
    spry_status status = predict(t, &expected);
    if (status == SPRY_STATUS_OK)
        status = odt_compare_particles(t->ctx, &expected, found, &c);
    if (status == SPRY_STATUS_OK)
        status = grow(t->ctx, &all, t->count, found->count, &t->room, sizeof *t->all);
    t->all = all;
    if (status == SPRY_STATUS_OK)
        status = grow(t->ctx, &list, t->open, found->count, &t->room_open, sizeof *t->list);
    t->list = list;
    if (status == SPRY_STATUS_OK) {
        t->frames++;
        for (int k = 0; k < found->count; k++)
            sight(t, c.partner[k], &found->p[k]);
        for (int k = 0; k < t->open; k++)
            if (++t->list[k].missed <= MAY_MISS)
                t->list[kept++] = t->list[k];
        t->open = kept;
    }
    odt_compared_free(t->ctx, &c);
    spry_free(t->ctx, expected.p);
    return status;
}

void odt_tracks_write(FILE *out, const void *tracks)
{
    const odt_tracks *t = tracks;
    fputs("frame,particle,x_um,y_um,z_um,diameter_um,index,absorption,score\n", out);
    for (int k = 0; k < t->count; k++) {
        const odt_sighting *s = &t->all[k];
        fprintf(out, "%d,%d,%.6f,%.6f,%.6f,%.6f,%.6f,%.6f,%.4f\n", s->frame, s->track,
                1e6 * s->p.at[0], 1e6 * s->p.at[1], 1e6 * s->p.at[2], 1e6 * s->p.diameter,
                s->p.index, s->p.absorption, s->p.score);
    }
}

void odt_tracks_free(odt_tracks *t)
{
    if (!t->ctx)
        return;
    spry_free(t->ctx, t->all);
    spry_free(t->ctx, t->list);
    *t = (odt_tracks){0};
}
