/* Particles of one frame after the other, as tracks. */
#ifndef SPRY_ODT_TRACKS_H
#define SPRY_ODT_TRACKS_H

#include "odt/compare.h"

#include <stdio.h>

/* A particle of a frame, and the track that it belongs to, from 1. */
typedef struct odt_sighting {
    int frame, track;
    odt_particle p;
} odt_sighting;

/* A track that may go on. */
typedef struct odt_track {
    int number;
    double at[3], way[3]; /* where it was last, and its way from frame to frame */
    int missed;           /* frames since then */
} odt_track;

typedef struct odt_tracks {
    spry_context *ctx;
    double reach; /* of a particle beyond where its way takes it, from frame to frame */
    int frames, count, room;
    odt_sighting *all;
    int tracks, open, room_open; /* how many there are, and those that may go on */
    odt_track *list;
} odt_tracks;

/*
 * Adds a frame. A track goes on with the nearest particle of where it would be with the way of its
 * last frames, within its reach, nearest pairs first; a particle without one begins one. A track
 * may miss two frames.
 */
spry_status odt_tracks_add(odt_tracks *t, const odt_particles *found);
/* Lines of numbers with commas, the names first. */
void odt_tracks_write(FILE *out, const void *tracks);
void odt_tracks_free(odt_tracks *t);

#endif
