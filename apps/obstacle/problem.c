/* The problems. */
#include "obstacle/obstacle.h"

#include <math.h>
#include <string.h>

/* That of L. Ziane Khodja et al., in R. Couturier (ed.), Designing Scientific Applications on GPUs
 * (2013), chapter 14. */
static double waves(int axis, double x)
{
    return cos(2 * (axis + 1) * acos(-1) * x);
}

static double nothing(const double *place)
{
    (void)place;
    return 0;
}

/*
 * A membrane under a weight s that lies on the floor in a ball of radius a: outside of it laplace u
 * = s, on it u = u' = 0.
 */
static const double weight = 10, radius = 0.3;

static double pressed(int axis, double x)
{
    (void)x;
    return axis == 0 ? -weight : 1;
}

static double above_ball(const double *place)
{
    double r = 0;
    for (int a = 0; a < 3; a++)
        r = hypot(r, place[a] - 0.5);
    return r <= radius
               ? 0
               : weight * (r * r / 6 - radius * radius / 2 + radius * radius * radius / (3 * r));
}

static double none(int axis, double x)
{
    (void)axis;
    (void)x;
    return 0;
}

static const obstacle_problem problems[] = {
    {.name = "source", .force = waves, .known = nothing},
    {.name = "ball", .steady = true, .force = pressed, .known = above_ball, .exact = true},
    {.name = "steady", .steady = true, .force = none, .known = nothing}};

const obstacle_problem *obstacle_find(const char *name)
{
    for (size_t k = 0; k < sizeof problems / sizeof *problems; k++)
        if (strcmp(problems[k].name, name) == 0)
            return &problems[k];
    cli_fail(EXIT_INPUT, "no problem %s; there are: %s", name, OBSTACLE_PROBLEMS);
    return NULL;
}

spry_type obstacle_type(const obstacle_options *o)
{
    return o->type ? SPRY_TYPE_D : SPRY_TYPE_S;
}

void obstacle_note(obstacle_run *r, const obstacle_step *step)
{
    char text[96];
    r->step[r->done++] = *step;
    snprintf(text, sizeof text, "step %s of %s", text_count(r->done), text_count(r->steps));
    progress_part(&r->line, (double)r->done / (double)r->steps, text);
    if (!step->converged)
        r->steps = r->done; /* no more of them */
}
