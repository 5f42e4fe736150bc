/* Plane waves on the voxels of a volume, read from a field and summed to one. */
#ifndef SPRY_ODT_WAVES_H
#define SPRY_ODT_WAVES_H

#include <spry/grid.h>

/* A volume of voxels, cubes of side h; the origin is its middle. */
typedef struct odt_box {
    int64_t n[3];
    double h;
} odt_box;
static inline int64_t odt_voxels(const odt_box *b)
{
    return b->n[0] * b->n[1] * b->n[2];
}
/* Where the middle of voxel i of an axis is, and back, as a number that need not be whole. */
static inline double odt_place(const odt_box *b, int axis, int64_t i)
{
    return ((double)i - 0.5 * (double)(b->n[axis] - 1)) * b->h;
}
static inline double odt_number(const odt_box *b, int axis, double place)
{
    return place / b->h + 0.5 * (double)(b->n[axis] - 1);
}

/* Arithmetic of complex numbers, without the C library's care for infinite ones. */
static inline spry_scalar odt_times(spry_scalar a, spry_scalar b)
{
    return (spry_scalar){a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
}
static inline spry_scalar odt_plus(spry_scalar a, spry_scalar b)
{
    return (spry_scalar){a.re + b.re, a.im + b.im};
}
static inline spry_scalar odt_conj(spry_scalar a)
{
    return (spry_scalar){a.re, -a.im};
}
static inline double odt_square(spry_scalar a)
{
    return a.re * a.re + a.im * a.im;
}

static inline double odt_dot(int64_t n, const double *a, const double *b)
{
    double sum = 0;
    for (int64_t k = 0; k < n; k++)
        sum += a[k] * b[k];
    return sum;
}

/* Memory that is all zero; to be freed by spry_free(). */
void *odt_alloc(spry_context *ctx, int64_t count, size_t bytes);

/* Whole numbers of a kernel, by the names of its arguments. */
typedef struct odt_argument {
    const char *name;
    int64_t value;
} odt_argument;
spry_status odt_set_ints(spry_kernel *kernel, int count, const odt_argument *list);

#define ODT_GO(call)                  \
    do {                              \
        status = (call);              \
        if (status != SPRY_STATUS_OK) \
            goto done;                \
    } while (0)

/* exp(-i (k_j, r)) on the voxels, as a product of three tables. */
typedef struct odt_waves {
    spry_context *ctx;
    odt_box box;
    int count;
    spry_scalar *along;     /* [wave][x], for sums */
    spry_scalar *by_place;  /* [x][wave], for reading */
    spry_scalar *across[2]; /* [y][wave], [z][wave] */
    /* on a device: the tables in its memory, the kernels that sum and read, and room */
    spry_device *device;
    spry_kernel *sum, *read;
    spry_vector *tables[4]; /* along, by_place, across */
    spry_vector *factors, *planes;
} odt_waves;

/* A part of the volume, or all of it. */
typedef struct odt_part {
    int64_t begin[3], n[3];
} odt_part;

/* k: three numbers for each wave; device: where fields are, NULL: the host. */
spry_status odt_waves_make(spry_context *ctx, spry_device *device, const odt_box *box, int count,
                           const double *k, odt_waves *waves);
void odt_waves_free(odt_waves *waves);

/*
 * a_j = sum_r w(r) exp(-i (k_j, r)) over a part of the volume, whose numbers are given by
 * themselves, x fastest, as the first of a vector of type z where the waves are. Lines of zeros
 * cost nothing on the host.
 */
spry_status odt_waves_read(odt_waves *waves, const odt_part *part, const spry_vector *w,
                           spry_scalar *a);
/* Its transpose, for all of the volume: field(r) = sum_j c_j exp(-i (k_j, r)). */
spry_status odt_waves_sum(odt_waves *waves, const spry_scalar *c, spry_vector *field);

#endif
