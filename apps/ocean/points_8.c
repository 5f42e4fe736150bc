/* Sweeps with differences of order 8. */
#define ALPHA 4
#define LINES ocean_lines_8
#include "ocean/points_lines.h"
