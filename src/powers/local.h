/*
 * Several steps part by part in the local memory of a device's groups: a matrix in device memory is
 * read once for `depth` steps. A part (parts.h) is stored as an *image*: values, its rows' numbers
 * in A, ends of rows and columns within the part, the latter two in 16 bits, as a group has them in
 * its local memory. Next to the image are two vectors: v_(j+1) is written over v_(j-1), of which a
 * row needs its own number alone. A launch makes all steps of all parts, one group each, and two
 * groups of a unit at once: one waits for its image while the other computes
 * (device/kernels/powers.knl).
 */
#ifndef SPRY_POWERS_LOCAL_H
#define SPRY_POWERS_LOCAL_H

#include "device/engine/device.h"
#include "powers/parts.h"

typedef struct local_parts {
    spry_type type;
    int depth, group;
    int64_t count; /* of parts; 0: there are none */
    int64_t room;  /* bytes of local memory that a group has */
    int64_t bytes; /* of the device's memory */
    device_memory *images, *starts, *sizes, *factors;
    device_program *program;
    spry_scalar put[3 * MOST_POWERS]; /* factors set so far */
} local_parts;

/* Bytes of local memory for a part, where `wanted` are asked for (0: as many as are wise). */
int64_t powers_local_room(const spry_device *d, int64_t wanted);
/* Bytes of local memory that a part of such a type takes, and of its image alone. */
int64_t powers_local_bytes(const part *p, int depth, spry_type type);
int64_t powers_local_image(const part *p, int depth, spry_type type);
/* Brings parts that are stored to the device; lanes are those of the product in CSR, whose bits
 * steps are to have. After a failure there are none. */
spry_status powers_local_make(spry_device *d, const part_set *set, int64_t room, int lanes,
                              local_parts *local);
void powers_local_clear(local_parts *local);
/* Steps of any number up to MOST_POWERS, `depth` at a time; vectors are the device's. */
spry_status powers_local_run(local_parts *local, int count, const power_step *steps,
                             const spry_vector *x, spry_vector *const *v);

#endif
