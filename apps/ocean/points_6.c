/* Sweeps with differences of order 6. */
#define ALPHA 3
#define LINES ocean_lines_6
#include "ocean/points_lines.h"
