/* A method around the lines that a test of the notation is about. */
#include "support/notation.h"

#include <stdio.h>
#include <string.h>

const char notation_frame[] = "method test-1 \"a test\"\n"
                              "option m = 3 1..10 \"steps\"; option w = 0.5 0..2 \"weight\"\n"
                              "option side = right (left right) \"where M is\"\n"
                              "vectors V[m + 1], u\n"
                              "scalars H[m + 1, m], h[m + 1]\n"
                              "start:\n"
                              "    r = b - A x; p = r; rho = (r, r); k = 0\n"
                              "loop:\n"
                              "    residual |r|\n"
                              "%s\n";

void notation_text(const char *lines, char *text, size_t size)
{
    assert_true((size_t)snprintf(text, size, notation_frame, lines) < size);
}

program *notation_parse(spry_context *ctx, const char *lines)
{
    static char text[1 << 18];
    program *p = NULL;
    notation_text(lines, text, sizeof text);
    const spry_status status = program_parse(ctx, "test", text, strlen(text), &p);
    if (status != SPRY_STATUS_OK) {
        assert_status(ctx, SPRY_STATUS_BAD_INPUT, status);
        assert_null(p);
    }
    return p;
}

program *notation_program(spry_context *ctx, const char *lines)
{
    program *p = notation_parse(ctx, lines);
    if (!p)
        fail_msg("%s\n%s", lines, spry_message(ctx));
    return p;
}

const stmt *notation_last(const program *p, int list)
{
    assert_int_not_equal(list, NONE);
    while (p->stmts[list].next != NONE)
        list = p->stmts[list].next;
    return &p->stmts[list];
}
