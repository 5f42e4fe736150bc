/* A plan as an object: options, variables, and the passes in their order. */
#include "program/plan.h"

#include "program/kept.h"

#include <stdlib.h>

/* Options get the first places among the scalars, so that they have values while the rest has
 * none. */
static spry_status bind_options(plan *p)
{
    spry_context *ctx = p->ctx;
    const program *g = p->program;
    spry_status status = SPRY_STATUS_OK;
    for (int k = 0; k < p->names; k++)
        if (g->names[k].kind == NAME_OPTION)
            SPRY_GO(ctx, plan_place_scalar(p, k, 1, 1));
    p->option_count = p->scalar_count;
    SPRY_GO(ctx, base_calloc(ctx, p->option_count + 1, sizeof *p->options, &p->options));
    for (int k = 0; k < p->names; k++)
        if (g->names[k].kind == NAME_OPTION)
            p->options[p->offset[k]].re = g->names[k].value;
done:
    return status;
}

static spry_status check_extent(plan *p, const program_name *name, int k, int64_t *extent)
{
    *extent = 1;
    if (name->extent[k] == NONE)
        return SPRY_STATUS_OK;
    const int64_t most = 1 << 20;
    if (plan_fixed(p, name->extent[k], extent) && *extent >= 0 && *extent <= most)
        return SPRY_STATUS_OK;
    scalars s = plan_option_values(p);
    return SPRY_FAIL(p->ctx, SPRY_STATUS_BAD_USAGE,
                     "%s: the array %s would have %g elements, a whole number from 0 to %" PRId64
                     " is needed",
                     p->program->source, name->text, program_eval(&s, name->extent[k]).re, most);
}

/* Every name its vector variable or its place among the scalars. */
static spry_status bind_names(plan *p)
{
    spry_context *ctx = p->ctx;
    const program *g = p->program;
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(ctx, base_alloc(ctx, p->names, sizeof *p->var_of_name, &p->var_of_name));
    for (int k = 0; k < p->names; k++) {
        const program_name *name = &g->names[k];
        int64_t rows, cols;
        p->var_of_name[k] = NONE;
        SPRY_GO(ctx, check_extent(p, name, 0, &rows));
        SPRY_GO(ctx, check_extent(p, name, 1, &cols));
        if (name->kind == NAME_SCALAR || name->kind == NAME_SCALARS) {
            SPRY_GO(ctx, plan_place_scalar(p, k, rows, cols));
        } else if (name->kind != NAME_OPTION) {
            int var;
            SPRY_GO(ctx, plan_new_var(p, &var));
            p->vars[var].name = k;
            p->vars[var].extent = rows;
            p->vars[var].array = name->kind == NAME_VECTORS;
            p->var_of_name[k] = var;
        }
    }
done:
    return status;
}

/* L and R: all of M on one side. */
static void bind_sides(plan *p)
{
    const int side = program_find_option(p->program, "side");
    bool left = false;
    if (side != NONE) {
        const int word = base_find_word(p->program->names[side].words, "left");
        left = word >= 0 && p->options[p->offset[side]].re == word;
    }
    p->setup.use[OPERATOR_L] = left ? p->setup.use[OPERATOR_M] : USE_NOTHING;
    p->setup.use[OPERATOR_R] = left ? USE_NOTHING : p->setup.use[OPERATOR_M];
}

spry_status plan_read(program *g, const plan_setup *setup, plan **out)
{
    spry_context *ctx = g->ctx;
    spry_status status = SPRY_STATUS_OK;
    plan *p = NULL;
    *out = NULL;
    status = base_calloc(ctx, 1, sizeof *p, &p);
    if (status != SPRY_STATUS_OK) {
        program_free(g);
        return status;
    }
    p->ctx = ctx;
    p->program = g;
    p->setup = *setup;
    p->names = g->name_count;
    for (int k = 0; k < SECTION_COUNT; k++)
        p->section[k] = NONE;
    SPRY_GO(ctx, bind_options(p));
    SPRY_GO(ctx, bind_names(p));
    bind_sides(p);
    SPRY_GO(ctx, plan_lower(p));
    for (int i = 0; i < p->op_count; i++)
        p->estimates = p->estimates || p->ops[i].kind == OP_ESTIMATE;
    SPRY_GO(ctx, plan_find_spaces(p));
    *out = p;
    p = NULL;
done:
    plan_free(p);
    return status;
}

static spry_status make(program *g, const plan_setup *setup, plan **out)
{
    spry_context *ctx = g->ctx;
    plan *p = NULL;
    spry_status status = plan_read(g, setup, &p);
    SPRY_GO(ctx, status);
    SPRY_GO(ctx, plan_simplify(p));
    SPRY_GO(ctx, plan_schedule(p));
    SPRY_GO(ctx, plan_store(p));
    *out = p;
    p = NULL;
done:
    plan_free(p);
    return status;
}

spry_status plan_make(program *g, const plan_setup *setup, plan **out)
{
    program *given = NULL;
    spry_status status = kept_plan(g, setup, out);
    if (status != SPRY_STATUS_OK || *out) {
        program_free(g);
        return status;
    }
    status = program_copy(g->ctx, g, &given); /* before passes add to it */
    if (status == SPRY_STATUS_OK)
        status = make(g, setup, out);
    else
        program_free(g);
    if (status == SPRY_STATUS_OK)
        keep_plan(given, setup, *out);
    program_free(given);
    return status;
}
