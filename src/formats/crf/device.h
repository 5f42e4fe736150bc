/* Constant diagonals on devices: what their files share. See crf.knl. */
#ifndef SPRY_DEVICE_CRF_H
#define SPRY_DEVICE_CRF_H

#include "formats/crf/crf.h"
#include "formats/shared/device_formats.h"

/* Rows that are described together, a bit each. */
enum { DEVICE_CRF_CHUNK = 32 };
/* In a row's code: it has no entry on the main diagonal. */
#define DEVICE_CRF_BARE 0x80000000u

/* Their description; the kernel reads it as it is. */
typedef struct device_chunk {
    uint32_t place; /* of the value before those of its rows */
    uint32_t steps; /* rows with a value that the row before has not */
    uint32_t odd;   /* rows whose code is not the common one */
    uint32_t first; /* of their codes */
} device_chunk;

/* How many terms there are. */
static inline int device_crf_terms(const layout *L)
{
    return (int)L->array[CRF_TERMS].count;
}
/* Whether terms become part of the program, which takes a compilation for each matrix: not worth
 * its time for small ones, and for few enough terms, of numbers that can be written down. */
bool device_crf_known(const layout *L);
/* The code of a row: a bit for each of its terms, or its shape where terms are not known. */
uint32_t device_crf_code(const layout *L, bool known, int shape, bool bare);
/* That of most rows. */
uint32_t device_crf_common(const layout *L, bool known);

/* Made on the device (src/formats/crf/device_build.c). */
spry_status device_make_crf(device_maker *m);

#endif
