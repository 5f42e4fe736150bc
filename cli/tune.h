/* The tuner's table, as `spry tune` and reports show it. */
#ifndef SPRY_CLI_TUNE_H
#define SPRY_CLI_TUNE_H

#include "output.h"

/* What became of a row, in a few words. */
const char *tune_verdict(const spry_tune_report *r, const spry_tune_row *row);
/* Of formats that were not timed the most promising options stand for all. */
bool tune_is_shown(const spry_tune_report *r, int64_t at);

#endif
