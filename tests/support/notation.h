/* What the tests of the notation share: a method around the lines that a test is about. */
#ifndef SPRY_TESTS_NOTATION_H
#define SPRY_TESTS_NOTATION_H

#include "support/support.h"

#include "program/program.h"

/* Options m (3, whole), w (0.5) and side; vectors V[m + 1], u; scalars H[m + 1, m], h[m + 1]. In
 * the loop, r and p are vectors, rho a scalar, k a counter. The lines begin at line 10, column 1.
 */
extern const char notation_frame[];

/* Puts the lines at the end of the loop. */
void notation_text(const char *lines, char *text, size_t size);
/* Parses that; NULL when it is refused. */
program *notation_parse(spry_context *ctx, const char *lines);
/* The same; must go well. */
program *notation_program(spry_context *ctx, const char *lines);
/* The last statement of a section, and of a list of statements. */
const stmt *notation_last(const program *p, int list);

#endif
