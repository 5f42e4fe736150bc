/* This process: its clock, and whether another rank prints in its place. */
#include "cli.h"

#include <time.h>

static bool silent;

void ranks_silence(bool is_silent)
{
    silent = is_silent;
}

bool ranks_silent(void)
{
    return silent;
}

double cli_clock(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}
