/* Plans in words and figures. */
#ifndef SPRY_EXPLAIN_H
#define SPRY_EXPLAIN_H

#include "program/plan.h"

/* What an iteration costs: the mean over one turn of the loop. */
typedef struct plan_cost {
    double reports; /* iterations per turn of the loop */
    double sweeps, reductions, dots;
    double products, precons; /* with A, with M, their transposes too */
    double vectors[2];        /* read and written, as long as b and as long as x */
} plan_cost;

/* The phases of the loop, a few lines a sweep. */
void plan_explain(const plan *p, base_text *text);
spry_status plan_count(const plan *p, plan_cost *cost);
/* Whether a variable is the first that uses its memory; and how many vectors the plan keeps besides
 * x and b, as long as b and as long as x. */
bool plan_opens_slot(const plan *p, int var);
void plan_count_vectors(const plan *p, int64_t count[2]);
int plan_whole_vectors(const plan *p); /* both together */

#endif
