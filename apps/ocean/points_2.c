/* Sweeps with differences of order 2. */
#define ALPHA 1
#define LINES ocean_lines_2
#include "ocean/points_lines.h"
