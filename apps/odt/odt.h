/* What the parts of the application share: options, files, actions. */
#ifndef SPRY_ODT_H
#define SPRY_ODT_H

#include "common/app.h"
#include "odt/compare.h"
#include "odt/search.h"
#include "odt/tracks.h"

enum { MODE_PARTICLES, MODE_LINEAR, MODE_VOLUME };
enum { PRIOR_TV, PRIOR_SMOOTH };

#define ODT_OPTIONS(item)                                                                          \
    item(REAL, wavelength, "0.633e-6", 1e-9, 1e-3, NULL, "of the light in vacuum, in m")           \
    item(TEXT, size, "64", 0, 0, NULL, "voxels along x, y and z: 160, or 160x160x120")             \
    item(REAL, voxel, "0", 0, 1e-3, NULL,                                                          \
         "side of a voxel, in m; 0: a tenth of the wavelength in vacuum")                          \
    item(REAL, fluid, "1", 1, 10, NULL, "refractive index of the fluid")                           \
    item(REAL, index, "1.1", 1, 10, NULL, "refractive index of the particles")                     \
    item(REAL, absorption, "0", 0, 10, NULL, "imaginary part of the particles' refractive index")  \
    item(REAL, diameter, "2e-6", 1e-9, 1e-3, NULL, "of the particles, in m")                       \
    item(REAL, spread, "0", 0, 0.3, NULL, "standard deviation of diameters over their mean")       \
    item(TEXT, particles, "", 0, 0, NULL,                                                          \
         "x y z of each from the middle of the volume, with ; between them and a unit at the end") \
    item(PATH, places, NULL, 0, 0, NULL, "read particles from a file: the same text, or lines")    \
    item(INT, count, "0", 0, 10000, NULL, "of particles at random places, where none are given")   \
    item(REAL, gap, "0", 0, 1e-3, NULL,                                                            \
         "least distance between their middles, in m; 0: 1.5 diameters")                           \
    item(INT, seed, "1", 0, 1e15, NULL, "of random numbers")                                       \
    item(TEXT, views, "1 0 0; 0 1 0; 0 0 1", 0, 0, NULL,                                           \
         "direction of the light of each hologram; > and a direction behind it: its camera's")     \
    item(PATH, directions, NULL, 0, 0, NULL, "read views from a file: the same text, or lines")    \
    item(TEXT, camera, "", 0, 0, NULL, "direction of all cameras; without it: that of the light")  \
    item(REAL, na, "0.55", 0.01, 10, NULL, "numerical aperture of the cameras")                    \
    item(WORD, kind, "field", 0, 0, "field intensity",                                             \
         "holograms: complex fields (off-axis, phase), or in-line intensities")                    \
    item(REAL, field, "0", 0, 1, NULL,                                                             \
         "side of the holograms, in m in the volume; 0: 1.25 times what shows all of it")          \
    item(REAL, distance, "0", -1, 1, NULL,                                                         \
         "of the plane in focus from the middle of the volume, in m; 0: there for fields, a "      \
         "longest side behind it for intensities")                                                 \
    item(INT, pixels, "0", 0, 4096, NULL, "along a side of holograms; 0: twice as many as needed") \
    item(REAL, pixel, "0", 0, 1e-3, NULL,                                                          \
         "side of a pixel of images in the volume, in m: the camera's over the magnification")     \
    item(PATH, background, NULL, 0, 0, NULL,                                                       \
         "image without particles, or one for each view with commas; without it: a smooth one is " \
         "fitted")                                                                                 \
    item(WORD, band, "right", 0, 0, "right left",                                                  \
         "side band of off-axis holograms: the half of the spectrum that it is in")                \
    item(REAL, noise, "0", 0, 100, NULL,                                                           \
         "noise added to holograms, relative to the particles' signal")                            \
    item(WORD, mode, "particles", 0, 0, "particles linear volume",                                 \
         "find particles one after the other, by the first image alone, or the index of all "      \
         "voxels")                                                                                 \
    item(REAL, threshold, "0.3", 0, 1e6, NULL, "the least score of a particle; one alone has 1")   \
    item(INT, most, "100", 1, 10000, NULL, "particles to find at most")                            \
    item(INT, refine, "1", 0, 100, NULL, "steps that move all particles, after each new one")      \
    item(WORD, fit, "place", 0, 0, "place diameter index absorption",                              \
         "of each particle, in the end: its place alone, its diameter too, its index too, all; "   \
         "with standard deviations")                                                               \
    item(WORD, prior, "tv", 0, 0, "tv smooth",                                                     \
         "of volumes: small total variation, or small squares of slopes")                          \
    item(REAL, weight, "1e-3", 0, 1e6, NULL, "of the prior relative to the misfit")                \
    item(INT, steps, "12", 1, 10000, NULL, "of volumes: on each grid")                             \
    item(INT, grids, "2", 1, 4, NULL, "of volumes: each has voxels twice as long as the next")     \
    item(REAL, reach, "0", 0, 1e-3, NULL,                                                          \
         "track: farthest way of a particle between frames, in m; 0: a diameter")                  \
    item(REAL, tol, "1e-4", 1e-14, 0.1, NULL, "residual of the wave equation to reach")            \
    item(INT, max_iter, "2000", 1, 1e9, NULL, "iterations of a solve at most")                     \
    item(INT, layer, "0", 0, 4096, NULL,                                                           \
         "voxels that absorb around the volume; 0: 2.5 wavelengths")                               \
    item(TEXT, device, "cpu", 0, 0, NULL, "cpu, cuda or opencl, with :N for number N")             \
    item(WORD, type, "z", 0, 0, "c z", "single or double precision of solves")                     \
    item(PATH, output, NULL, 0, 0, NULL,                                                           \
         "simulate, reconstruct: the .h5 (holograms: or .npy) to write; track: the .csv; show: "   \
         "how names begin")                                                                        \
    item(PATH, config, NULL, 0, 0, NULL,                                                           \
         "reconstruct: the configuration; holograms that are an array (.npy) need it")             \
    item(PATH, checkpoint, NULL, 0, 0, NULL, "keep what was found so far in this file")            \
    item(BOOL, resume, "no", 0, 0, NULL, "go on from the checkpoint, where there is one")          \
    CLI_JSON(item, "the particles")                                                                \
    item(BOOL, quiet, "no", 0, 0, NULL, "show no progress")

typedef struct odt_options {
    ODT_OPTIONS(SPRY_OPTION_FIELD)
} odt_options;

/* The numbers of the data set `setup`, in its order; they are options of these names, but for the
 * sides in voxels. */
#define ODT_SETUP(item) \
    item(wavelength)    \
    item(voxel)         \
    item(nx)            \
    item(ny)            \
    item(nz)            \
    item(fluid)         \
    item(index)         \
    item(diameter)      \
    item(na)            \
    item(kind)          \
    item(field)         \
    item(distance)      \
    item(pixels)        \
    item(absorption)
#define ODT_SETUP_ENUM(name) SETUP_##name,
#define ODT_SETUP_NAME(name) #name,
enum { ODT_SETUP(ODT_SETUP_ENUM) SETUP_COUNT };

/* What is in a file: holograms, and what was found from them. Members that it has not are NULL. */
typedef struct odt_record {
    double setup[SETUP_COUNT];
    int views;
    double *directions; /* six for each view: light, camera's axis */
    spry_scalar *holo;  /* views x pixels x pixels; real parts where they are intensities */
    odt_particles truth, found;
    float *image, *linear, *index; /* of voxels: first scores, first image, index */
} odt_record;

spry_status odt_record_write(spry_context *ctx, const odt_record *record, const char *path);
spry_status odt_record_read(spry_context *ctx, const char *path, odt_record *record);
/* Holograms alone, of a record whose setup and views are known: one below the other, as rows of an
 * array (.npy, or what else vectors are written as). An array (views, y, x) is read as well. */
spry_status odt_holograms_write(spry_context *ctx, const odt_record *record, const char *path);
spry_status odt_holograms_read(spry_context *ctx, const char *path, odt_record *record);
/* Whether a path is of such a file, and not of HDF5. */
bool odt_is_array(const char *path);
void odt_record_free(spry_context *ctx, odt_record *record);

/* A run: what was asked for, and what is made of it. */
typedef struct odt_run {
    spry_context *ctx;
    odt_options *o;
    const app_config *config; /* where options are set */
    odt_record record;
    odt_setup setup;
    odt_model model;
    odt_search search;
    odt_compared compared;
    const odt_particles *start; /* where the search begins; NULL: with none */
    float *grey, *background;   /* of images: squares, rows from below */
    int backgrounds;            /* 1, or as many as views */
    progress line;
    double begun;
} odt_run;

spry_status odt_fail(spry_context *ctx, const char *text);

/* scene.c: of options. Messages name the option, or the line of the configuration, and the column.
 */
spry_status odt_read_views(odt_run *r);
spry_status odt_read_particles(odt_run *r);
spry_status odt_read_size(odt_run *r);
/* Normal numbers of a generator that is the same everywhere. */
double odt_normal(uint64_t *state);

/* images.c: whether a path is of an image; images to squares of grey values, before the run is
 * prepared, as their size is that of the holograms; and to holograms. */
bool odt_is_image(const char *path);
spry_status odt_images_read(odt_run *r, int count, const char *const *paths);
spry_status odt_images_develop(odt_run *r);

/* setup.c: what follows from options, checked, and the model of it. */
spry_status odt_prepare(odt_run *r);
spry_status odt_make_model(odt_run *r);
/* Whether there is the memory for it, of a device and of the host; an exit state. searches: whether
 * particles, or the index, are looked for. */
int odt_check_memory(const odt_run *r, bool searches);

/* What a checkpoint is of, as the head of its file has it: of a kind of search, and
 * of these holograms; and whether there is one to go on from. One that is not there yet is none. */
enum { ODT_NAME = 200 };
void odt_checkpoint_name(const odt_run *r, const char *kind, char what[ODT_NAME]);
bool odt_has_checkpoint(const odt_run *r);

/* The actions. What was found is reported afterwards; an exit state. */
spry_status odt_simulate(odt_run *r);
spry_status odt_reconstruct(odt_run *r);
int odt_report(const odt_run *r);
spry_status odt_volume(odt_run *r);
spry_status odt_calibrate(odt_run *r);
spry_status odt_show(odt_run *r);

#endif
