/* How many lanes per row's entries are shared by, in formats that keep them side by side. */
#ifndef SPRY_DEVICE_LANES_H
#define SPRY_DEVICE_LANES_H

#include "formats/shared/device_formats.h"

/*
 * Sets form->lanes by the mean length of rows, and gives the entries that a lane has on their way
 * at a time. Four are what registers allow while a processor is full of work-items, which counts
 * for more than longer runs of loads; rows should be done in one turn, since what other rows have
 * of a cache line may be gone before the next. Products with several columns have so much in
 * flight for an entry that more lanes only cost sums.
 */
int device_choose_lanes(const layout *L, int columns, device_form *form);

#endif
