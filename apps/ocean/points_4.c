/* Sweeps with differences of order 4. */
#define ALPHA 2
#define LINES ocean_lines_4
#include "ocean/points_lines.h"
