/*
 * Programs at random: texts in the notation of methods that use all of it, whose numbers stay small
 * and whose indices stay inside their arrays. They solve nothing.
 */
#ifndef SPRY_TESTS_PROGRAMS_H
#define SPRY_TESTS_PROGRAMS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { PROGRAMS_SIZE = 1 << 16 };

/* Writes the program of a seed. `square`: it may add vectors as long as x and as long as b. */
void programs_write(uint64_t seed, bool square, char text[PROGRAMS_SIZE]);

#endif
