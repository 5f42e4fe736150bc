/* A preconditioner's spec from a text that is right. */
#ifndef SPRY_TESTS_SPEC_H
#define SPRY_TESTS_SPEC_H

#include "choose/precons.h"
#include "support/support.h"

static inline precon_spec support_spec(spry_context *ctx, const char *text)
{
    precon_spec spec;
    assert_ok(ctx, precon_spec_read(ctx, text, &spec));
    return spec;
}

#endif
