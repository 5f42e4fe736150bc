/* Rates that were measured once, as they are kept between runs. */
#ifndef SPRY_KEPT_RATE_H
#define SPRY_KEPT_RATE_H

#include "base/base.h"

/* In whole bytes per second: `what` names a file, `about` the machine or device in one line. 0: it
 * is not known. */
double base_kept_rate(const char *what, const char *about);
void base_keep_rate(spry_context *ctx, const char *what, const char *about, double rate);

#endif
