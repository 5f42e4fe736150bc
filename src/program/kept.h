/*
 * Texts that were parsed and plans that were made last, kept by the process: small systems are
 * solved in the time that a plan takes. Contexts get copies. Nothing of this can fail but a copy;
 * where another thread has the store, or a test makes allocations fail, it is as if it were empty.
 */
#ifndef SPRY_PROGRAM_KEPT_H
#define SPRY_PROGRAM_KEPT_H

#include "program/plan.h"

/* A copy of what is kept for a text; NULL: nothing is. */
spry_status kept_program(spry_context *ctx, const char *source, const char *text, size_t size,
                         program **p);
void keep_program(const program *p);
/* The same of a plan for a program, which stays the caller's. */
spry_status kept_plan(const program *g, const plan_setup *setup, plan **p);
void keep_plan(const program *g, const plan_setup *setup, plan *p);

#endif
