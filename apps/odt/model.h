/* The forward problem: particles in a fluid, lit by plane waves, seen by cameras. */
#ifndef SPRY_ODT_MODEL_H
#define SPRY_ODT_MODEL_H

#include "odt/camera.h"

#include <spry/grid/wave.h>

/* A sphere of index + i absorption; score: how much of one particle its peak was, when it was
 * found. sigma: standard deviations of at, diameter, index and absorption; 0 where they are not
 * known. */
enum { NUMBER_DIAMETER = 3, NUMBER_INDEX, NUMBER_ABSORPTION, PARTICLE_NUMBERS };
typedef struct odt_particle {
    double at[3], diameter, index, absorption, score;
    double sigma[PARTICLE_NUMBERS];
} odt_particle;

typedef struct odt_particles {
    int count;
    odt_particle *p;
} odt_particles;

static inline double *odt_number_of(odt_particle *p, int number)
{
    double *const rest[] = {&p->diameter, &p->index, &p->absorption};
    return number < NUMBER_DIAMETER ? &p->at[number] : rest[number - NUMBER_DIAMETER];
}

/* What a model is made of. */
typedef struct odt_setup {
    odt_box box;
    odt_optics optics;
    double fluid; /* index */
    int views;
    const double *directions;  /* six for each: light, camera's axis */
    const char *device, *type; /* of solves */
    double tol;
    int64_t most_iterations;
    int64_t layer; /* voxels that absorb before and behind the volume; 0: the solver chooses */
} odt_setup;

typedef struct odt_model {
    spry_context *ctx;
    odt_setup setup;
    double kb2;          /* k^2 of the fluid */
    spry_device *device; /* NULL: the host */
    spry_grid *grid;     /* voxels are its points */
    spry_wave *wave;
    odt_view *view;
    odt_waves *light;             /* of each view */
    spry_vector *medium;          /* k^2, where the model works, type z */
    spry_vector *f;               /* kb^2 - k^2, where the model works, type z */
    spry_vector **total;          /* the whole field of each view, where the model works */
    spry_vector **back;           /* waves of each view that go backwards: make_back */
    spry_vector **source;         /* of each view, of the type of solves: b, and then S b */
    spry_vector *u, *v, *x, *sum; /* room on the device */
    spry_vector *on_host;         /* room on the host, type z */
    /* on a device: what a sphere sends, one more in the medium, k^2 and f of the contrast */
    spry_kernel *send, *add, *make;
    bool empty; /* nothing but fluid: fields are the light itself */
    /* what has been done */
    int64_t solves, iterations;
    double seconds;
} odt_model;

spry_status odt_model_make(spry_context *ctx, const odt_setup *setup, odt_model *model);
void odt_model_free(odt_model *model);

/* Puts particles, or any contrast n^2 / fluid^2 - 1 >= 0 of the voxels, into the fluid, and finds
 * the whole fields of all views. */
spry_status odt_model_set_particles(odt_model *m, const odt_particles *particles);
spry_status odt_model_set_contrast(odt_model *m, const double *contrast);
/* The contrast of a particle, and those of all voxels with particles. */
spry_scalar odt_contrast_of(const odt_model *m, const odt_particle *p);
void odt_model_contrast(const odt_model *m, const odt_particles *particles, spry_scalar *contrast);
/* The index, without absorption, that a contrast is of: the real part of a root. */
double odt_index_of(double fluid, spry_scalar contrast);
/* How much of a voxel a sphere fills, for the part of the volume that it is in. */
odt_part odt_sphere_part(const odt_box *box, const odt_particle *p);
double odt_sphere_share(const odt_box *box, const odt_particle *p, const int64_t *voxel);
/* Where voxel i of a part is, and its number in the volume. */
static inline int64_t odt_voxel_of(const odt_box *box, const odt_part *part, int64_t i,
                                   int64_t *voxel)
{
    voxel[0] = part->begin[0] + i % part->n[0];
    voxel[1] = part->begin[1] + i / part->n[0] % part->n[1];
    voxel[2] = part->begin[2] + i / part->n[0] / part->n[1];
    return (voxel[2] * box->n[1] + voxel[1]) * box->n[0] + voxel[0];
}

/* Amplitudes of a view: of what each particle sends out, one after the other; of all the medium. */
spry_status odt_model_see_particles(odt_model *m, int view, const odt_particles *particles,
                                    spry_scalar *a);
spry_status odt_model_see(odt_model *m, int view, spry_scalar *a);
/* Amplitudes of all views that a small change of the contrast makes, to first order in it; the
 * change is in on_host, and is lost. */
spry_status odt_model_see_change(odt_model *m, spry_scalar *const *a);

/*
 * The image of a view, E_i (b_i + S f b_i) with b_i = sum_s c_is exp(-i (k_is, r)), of which the
 * waves go backwards through the medium; and the sum of those of all views. Where c are those of
 * odt_view_back() times factors, its real part is the derivative by f of half of the sum of
 * squares. Waves of all views are sent backwards together, one solve for each; then the image of
 * one comes to x.
 *
 * Room for these waves is made at their first use, or before: solves take a share of the memory
 * that is left when the first of them begins, so that whoever needs the room makes it before that.
 *
 * @param c      for each view
 * @param image  out: on the host, type z
 */
spry_status odt_model_make_back(odt_model *m);
spry_status odt_model_back(odt_model *m, const spry_scalar *const *c);
spry_status odt_model_show(odt_model *m, int view);
spry_status odt_model_image(odt_model *m, const spry_scalar *const *c, spry_scalar *image);
/* A field where the model works, of type z; and one to the host. */
spry_status odt_model_vector(const odt_model *m, spry_vector **v);
spry_status odt_model_take(odt_model *m, const spry_vector *from, spry_scalar *to);

#endif
