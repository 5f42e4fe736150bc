/*
 * The model of the machine that forecasts are made with: bytes and operations per second. Forecasts
 * are compared with each other, and only their order counts.
 */
#ifndef SPRY_MACHINE_H
#define SPRY_MACHINE_H

#define MACHINE_CORE_RATE 8e9     /* a core's thread, reading arrays from end to end */
#define MACHINE_HOST_RATE 1.2e11  /* all cores together at most */
#define MACHINE_FACTOR_RATE 4e9   /* a core's thread, reading factors, or A and its transpose */
#define MACHINE_CACHE_RATE 1.6e10 /* the same from a cache */
/* Operations per second of a core's thread: loops over rows, and dense fronts in small tiles. */
#define MACHINE_LOOP_FLOPS 2e9
#define MACHINE_FRONT_FLOPS 9e9
/* Seconds of matching, ordering and elimination tree for an entry, before dissection: from 1.6e-7
 * (a grid in two dimensions with 90,000 rows) to 4e-7 (8,000 rows in three). */
#define MACHINE_ORDERING 3e-7

#endif
