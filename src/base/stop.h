/* Requests to stop, within long loops. */
#ifndef SPRY_BASE_STOP_H
#define SPRY_BASE_STOP_H

#include "base/base.h"

/* Fails where the caller has asked to stop. Long loops leave out what is left then, and end with
 * this. */
spry_status base_go_on(spry_context *ctx, const char *what);

#endif
