/* See device_lanes.h. */
#include "formats/shared/device_lanes.h"

int device_choose_lanes(const layout *L, int columns, device_form *form)
{
    enum { AHEAD = 4, MOST_TRACKS = 32, FEW = 8, SOME = 16 };
    const double mean = L->rows > 0 ? (double)L->nnz / (double)L->rows : 0;
    form->lanes = 1;
    if (columns > 1) {
        form->lanes = mean > AHEAD ? 2 : 1;
        return AHEAD;
    }
    while (form->lanes < MOST_TRACKS && form->lanes * AHEAD < mean)
        form->lanes *= 2;
    if (mean <= FEW || mean > SOME)
        return AHEAD;
    form->lanes *= 2; /* twice the lanes, half the entries: measured to be faster */
    return AHEAD / 2;
}
