/* The application: options, and a run with what it records. */
#ifndef SPRY_OCEAN_H
#define SPRY_OCEAN_H

#include "common/app.h"
#include "ocean/flow.h"
#include "ocean/inside.h"
#include "ocean/ship.h"

enum { OCEAN_GAUGES = 64, OCEAN_HARMONICS = 8 };
enum { BOTTOM_FLAT, BOTTOM_RAMP, BOTTOM_WHALIN };
enum { WAVE_NONE, WAVE_LINEAR, WAVE_STREAM, WAVE_SEA };

#define OCEAN_OPTIONS(item)                                                                       \
    item(REAL, length, "0", 0, 1e9, NULL, "of the basin along x, in m; 0: a wavelength")          \
    item(REAL, width, "0", 0, 1e9, NULL, "along y, in m")                                         \
    item(REAL, depth, "1", 1e-6, 1e6, NULL, "of the still water, in m")                           \
    item(INT, nx, "64", 8, 1e6, NULL, "intervals along x")                                        \
    item(INT, ny, "0", 0, 1e6, NULL, "intervals along y; 0: waves along x alone")                 \
    item(INT, nz, "8", 2, LEVELS_MOST, NULL, "intervals from the bottom to the surface")          \
    item(INT, order, "6", 2, 8, NULL, "of the differences: 2, 4, 6 or 8")                         \
    item(BOOL, clustered, "no", 0, 0, NULL, "levels lie closer together towards the surface")     \
    item(WORD, ends, "walls", 0, 0, "walls periodic", "what is at x = 0 and at the other end")    \
    item(WORD, sides, "walls", 0, 0, "walls periodic", "the same along y")                        \
    item(WORD, bottom, "flat", 0, 0, "flat ramp whalin",                                          \
         "its shape; ramp goes to the depth shore, whalin is his shoal, 35 m by 6.096 m")         \
    item(REAL, shore, "0", 0, 1e6, NULL, "depth at the end of the ramp, in m")                    \
    item(REAL, ramp_from, "0", 0, 1e9, NULL, "where the ramp begins, in m")                       \
    item(REAL, ramp_to, "0", 0, 1e9, NULL, "where it ends, in m")                                 \
    item(REAL, shift, "0", -1e9, 1e9, NULL, "of the bottom's shape, and of files, along x, in m") \
    item(REAL, shift_y, "0", -1e9, 1e9, NULL, "of files along y, in m")                           \
    item(PATH, depths, NULL, 0, 0, NULL,                                                          \
         "read depths in m: .npy, text, .xyz, ESRI ASCII grid or NetCDF (FILE.nc:NAME)")          \
    item(BOOL, upwards, "no", 0, 0, NULL, "the file has heights, negative below still water")     \
    item(PATH, surface, NULL, 0, 0, NULL, "read the initial surface in m, from such a file")      \
    item(REAL, gravity, "9.81", 1e-6, 1e6, NULL, "in m/s^2")                                      \
    item(WORD, wave, "none", 0, 0, "none linear stream sea",                                      \
         "small waves, such of permanent form (stream function), or an irregular sea")            \
    item(REAL, height, "0", 0, 1e6, NULL,                                                         \
         "of the wave from trough to crest, in m; of a sea the significant height")               \
    item(REAL, period, "0", 0, 1e6, NULL, "of the wave, in s; of a sea that of its peak")         \
    item(REAL, wavelength, "0", 0, 1e9, NULL, "of the wave, in m, in the place of the period")    \
    item(REAL, direction, "0", -7, 7, NULL, "where the wave goes, from the x axis, in rad")       \
    item(INT, terms, "0", 0, WAVE_MOST, NULL,                                                     \
         "of the stream function (0: 16), or waves of a sea (0: 200)")                            \
    item(REAL, gamma, "3.3", 1, 20, NULL, "peak enhancement of JONSWAP's spectrum of a sea")      \
    item(REAL, spreading, "0", 0, 1000, NULL,                                                     \
         "s of cos^2s of half the angle to a sea's direction; 0: long crests")                    \
    item(INT, seed, "1", 0, 1e15, NULL, "of a sea's phases and directions")                       \
    item(WORD, start, "still", 0, 0, "still wave", "initial state")                               \
    item(REAL, generation, "0", 0, 1e9, NULL,                                                     \
         "length of the zone at x = 0 where the wave is made, in m")                              \
    item(REAL, absorption, "0", 0, 1e9, NULL,                                                     \
         "length of the zone at the other end, or all around a ship, where waves die, in m")      \
    item(REAL, power, "5", 1, 100, NULL, "how sudden the absorption is")                          \
    item(REAL, strength, "1", 0, 2, NULL, "relaxation in the zones; 1: within one step")          \
    item(REAL, ramp, "-1", -1, 1e9, NULL, "until waves are whole, in s; -1: two periods")         \
    item(REAL, pressure, "0", -1e9, 1e9, NULL, "over water's density at a spot, in m^2/s^2")      \
    item(REAL, spot_x, "0", -1e9, 1e9, NULL, "where its middle begins, in m")                     \
    item(REAL, spot_y, "0", -1e9, 1e9, NULL, "the same along y")                                  \
    item(REAL, spot_speed, "0", 0, 1e6, NULL, "its speed, in m/s")                                \
    item(REAL, spot_heading, "0", -7, 7, NULL, "where it goes, from the x axis, in rad")          \
    item(REAL, spot_radius, "1", 1e-9, 1e9, NULL, "where it is 1/e of its middle, in m")          \
    item(REAL, ship_speed, "0", 0, 1e3, NULL,                                                     \
         "of a ship along x, in m/s: small waves alone, and the basin moves with it")             \
    item(REAL, ship_length, "0", 0, 1e6, NULL, "of its hull, in m")                               \
    item(REAL, ship_beam, "0", 0, 1e6, NULL, "its width, in m")                                   \
    item(REAL, ship_draft, "0", 0, 1e6, NULL, "how deep it lies in the water, in m")              \
    item(REAL, ship_x, "-1", -1, 1e9, NULL, "where its middle is, in m; -1: in the basin's")      \
    item(REAL, ship_y, "-1", -1, 1e9, NULL, "the same along y")                                   \
    item(REAL, end, "0", 0, 1e12, NULL, "of the run, in s")                                       \
    item(REAL, dt, "0", 0, 1e12, NULL, "length of steps, in s; 0: by courant")                    \
    item(REAL, courant, "0.5", 1e-6, 100, NULL, "speed of the wave times dt / dx")                \
    item(INT, slices, "0", 0, 1e6, NULL, "of time, side by side (parareal); 0: none")             \
    item(INT, workers, "1", 1, 64, NULL, "threads that have slices")                              \
    item(INT, ratio, "4", 1, 1000, NULL, "with slices: of coarse steps' length to fine ones'")    \
    item(REAL, change, "1e-6", 0, 1, NULL, "with slices: of their ends, to stop at")              \
    item(INT, filter, "0", 0, 1e9, NULL, "steps between two filterings; 0: none")                 \
    item(REAL, tol, "1e-8", 1e-15, 0.1, NULL, "of the residual of Laplace's equation")            \
    item(WORD, solver, "gmres", 0, 0, "gmres bicgstab richardson",                                \
         "richardson is defect correction")                                                       \
    item(WORD, precision, "double", 0, 0, "double single", "of multigrid")                        \
    item(TEXT, device, "cpu", 0, 0, NULL, "where to run: cpu, cuda, opencl:1")                    \
    item(TEXT, gauges, "", 0, 0, NULL, "places to record: X or X:Y in m, with blanks between")    \
    item(TEXT, probes, "", 0, 0, NULL,                                                            \
         "places below the surface to record: X:Z or X:Y:Z in m, Z up from still water")          \
    item(BOOL, forces, "no", 0, 0, NULL, "record what the waves push walls with")                 \
    item(INT, harmonics, "0", 0, OCEAN_HARMONICS, NULL, "of the wave's period to report")         \
    item(REAL, harmonics_y, "-1", -1, 1e9, NULL, "along which line, in m; -1: the middle")        \
    item(INT, harmonics_periods, "3", 1, 1000, NULL, "at the end that they are taken from")       \
    item(PATH, series, NULL, 0, 0, NULL,                                                          \
         "write time, water, energy (of a ship: resistance) and gauges of steps, as .csv")        \
    item(PATH, spectrum, NULL, 0, 0, NULL, "write the harmonics along x, as .csv")                \
    item(PATH, output, NULL, 0, 0, NULL, "write the last surface: .png, .vti or .npy")            \
    item(PATH, volume, NULL, 0, 0, NULL, "write the last potential below it: .vti or .npy")       \
    item(PATH, frames, NULL, 0, 0, NULL, "write pictures FILE-0001.png and so on")                \
    item(INT, zoom, "1", 1, 64, NULL, "pixels of pictures per interval")                          \
    item(INT, every, "100", 1, 1e15, NULL, "steps between frames, checkpoints and .vts")          \
    item(PATH, checkpoint, NULL, 0, 0, NULL, "write a checkpoint, to resume from")                \
    item(BOOL, resume, "no", 0, 0, NULL, "resume from the checkpoint")                            \
    item(BOOL, figures, "no", 0, 0, NULL,                                                         \
         "report the bytes of an iteration, and their share of the memory's bandwidth")           \
    CLI_JSON(item, "what is printed")                                                             \
    item(BOOL, quiet, "no", 0, 0, NULL, "show no progress")

typedef struct ocean_options {
    OCEAN_OPTIONS(SPRY_OPTION_FIELD)
} ocean_options;

/* A text that grows. */
typedef struct ocean_text {
    char *text;
    size_t size, room;
} ocean_text;

typedef struct ocean_probe {
    double x, y, z;
    ocean_near near[2];
} ocean_probe;

typedef struct ocean_run {
    spry_context *ctx;
    const ocean_options *o;
    ocean_flow flow;
    ocean_wave wave;
    double *depths; /* of all points; NULL: all are o->depth */
    double dt, period;
    double t;
    int64_t step;
    spry_vector *u;
    /* What is recorded, on the host: u as it was last looked at, sums for harmonics. */
    spry_vector *seen, *harmonics;
    spry_grid *picture; /* of pixels */
    int gauges, line;   /* line: of points, whose harmonics are reported */
    double gauge[OCEAN_GAUGES][2];
    ocean_inside inside;
    int probes;
    ocean_probe probe[OCEAN_GAUGES];
    ocean_text series;
    bool fresh; /* the next rate is that of a step's beginning */
    double first_energy, first_water, energy, water, resistance;
    bool has_first;
    int64_t frames;
    double seconds; /* of the steps */
    progress progress;
    char what[96];
} ocean_run;

/* asked.c: what makes no sense together, with its place in the configuration: an exit status. */
int asked_check(spry_context *ctx, const app_config *c, ocean_options *o);
/* The wave that is asked for, over the depth where it is made. */
spry_status asked_wave(ocean_run *r);
/* Whether it fits a periodic basin; warns where levels are too few for it. */
int asked_fit(const ocean_run *r, const app_config *c);

/* basin.c: depths, zones, initial state. */
spry_status basin_depths(spry_context *ctx, const ocean_options *o, double length, double **depths);
/* The mean depth where waves are made, or, without such a zone, of all; and between what it lies.
 */
double basin_maker_depth(const ocean_run *r, double *least, double *most);
spry_status basin_zones(ocean_run *r);
spry_status basin_start(ocean_run *r);

/* text.c: a text that grows, and one file of it, by the first rank. */
spry_status ocean_text_add(spry_context *ctx, ocean_text *t, const char *more, size_t length);
SPRY_PRINTF(3, 4)
spry_status ocean_text_print(spry_context *ctx, ocean_text *t, const char *format, ...);
spry_status ocean_text_write(const ocean_run *r, const ocean_text *t, const char *path);

/* probes.c: columns of the series. An exit status; then what is below the surface at a time. */
int probes_prepare(ocean_run *r);
spry_status probes_look(ocean_run *r, const spry_vector *u, const spry_vector *rate);
spry_status probes_head(ocean_run *r, ocean_text *text);
spry_status probes_row(ocean_run *r, ocean_text *text);

/* volume.c: the water in its shape, where it is asked for and this is the time. */
bool volume_is_shaped(const ocean_options *o);
spry_status volume_record(ocean_run *r, double t, const spry_vector *u, const spry_vector *rate);

/* prepare.c: whether there is memory for it, an exit status; the flow and what drives it, from
 * depths and wave. */
int ocean_check_memory(const ocean_run *r);
spry_status ocean_prepare(ocean_run *r);
/* slices.c: the whole run by parareal. */
spry_status slices_run(ocean_run *r);

/* record.c */
int record_prepare(ocean_run *r);
/* Looks at the state at a time, whose rate is given. */
spry_status record_state(ocean_run *r, double t, const spry_vector *u, const spry_vector *rate);
spry_status record_frame(ocean_run *r);
spry_status record_checkpoint(ocean_run *r);
spry_status record_resume(ocean_run *r);
/* Writes all files of the end. */
spry_status record_end(ocean_run *r);
void record_free(ocean_run *r);

#endif
