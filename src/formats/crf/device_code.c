/* Constant diagonals on devices: the code of a row. */
#include "formats/crf/device.h"

#include "matrix/entries.h"

#include <math.h>

bool device_crf_known(const layout *L)
{
    enum { LEAST_ROWS = 1 << 15, MOST = 31 };
    const int terms = device_crf_terms(L);
    bool finite = true;
    for (int t = 0; t < terms; t++) {
        const spry_scalar a = value_get(L->type, L->array[CRF_TERMS].data, t);
        finite = finite && isfinite(a.re) && isfinite(a.im);
    }
    return L->rows >= LEAST_ROWS && terms <= MOST && finite;
}

/* A bit for each term of a shape. */
static uint32_t shape_bits(const layout *L, int shape)
{
    const int32_t *starts = L->array[CRF_STARTS].data, *places = L->array[CRF_PLACES].data;
    uint32_t bits = 0;
    for (int32_t i = starts[shape]; i < starts[shape + 1]; i++)
        bits |= (uint32_t)1 << places[i];
    return bits;
}

uint32_t device_crf_code(const layout *L, bool known, int shape, bool bare)
{
    return (known ? shape_bits(L, shape) : (uint32_t)shape) | (bare ? DEVICE_CRF_BARE : 0);
}

uint32_t device_crf_common(const layout *L, bool known)
{
    return device_crf_code(L, known, (int)L->number[CRF_COMMON], L->number[CRF_COMMON_BARE] != 0);
}
