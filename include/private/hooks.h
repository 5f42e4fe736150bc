/* What tests need, of the library and of our programs: not installed, and exported as the names of
 * programs.h are. */
#ifndef SPRY_PRIVATE_HOOKS_H
#define SPRY_PRIVATE_HOOKS_H

#include <spry/context.h>

SPRY_BEGIN

/** Makes the nth allocation from now on fail (1 is the next), and those after it when all is true;
 * 0 stops. */
void base_fail_allocation(spry_context *ctx, int64_t nth, bool all);

SPRY_END

#endif
