/* A method explained: its notation, what is fused, what an iteration costs on a given matrix. */
#include "program/explain.h"
#include "krylov/solver.h"

#include <private/programs.h>

/* The sections, as they are written in the file. */
static void put_notation(base_text *t, const program *p)
{
    const char *from = strstr(p->text, "\nstart:");
    for (from = from ? from + 1 : p->text; *from;) {
        const int length = (int)strcspn(from, "\n");
        base_text_put(t, "%s%.*s\n", length ? "  " : "", length, from);
        from += length + (from[length] == '\n');
    }
}

static void put_options(base_text *t, const plan *p)
{
    const program *g = p->program;
    bool any = false;
    for (int k = 0; k < p->names; k++) {
        const program_name *name = &g->names[k];
        if (name->kind != NAME_OPTION)
            continue;
        base_text_put(t, "%s  %-16s ",
                      any ? "" : "\noptions, after a colon (--method NAME:OPTION=VALUE,...)\n",
                      name->text);
        any = true;
        if (!name->words[0]) {
            base_text_put(t, "%g (%g to %g): %s\n", name->value, name->low, name->high, name->help);
            continue;
        }
        char word[sizeof name->words];
        program_option_text(name, word, sizeof word);
        base_text_put(t, "%s (of %s): %s\n", word, name->words, name->help);
    }
}

/* "3", "2.5" */
static const char *figure(double value, char text[32])
{
    snprintf(text, 32, "%.4g", value);
    return text;
}

/* Numbers of a vector that an operator other than A reads, when it is M. */
static double precon_numbers(const spry_solver *solver, const plan *p)
{
    const spry_operator *M = solver_precon(solver);
    if (p->setup.use[OPERATOR_M] == USE_DIAGONAL || !M)
        return p->setup.use[OPERATOR_M] == USE_DIAGONAL;
    return 0;
}

static void put_cost(base_text *t, const spry_solver *solver, const plan *p, const plan_cost *cost,
                     const plan_cost *naive)
{
    char a[32], b[32], c[32];
    const double each = precon_numbers(solver, p), size = 8;
    const double vectors = cost->vectors[0] + cost->vectors[1] + cost->precons * each;
    const double before = naive->vectors[0] + naive->vectors[1] + naive->precons * each;
    base_text_put(t, "\nan iteration%s\n",
                  cost->reports > 1 ? " (mean over a turn of the loop)" : "");
    base_text_put(t, "  products     %s with A, %s with M\n", figure(cost->products, a),
                  figure(cost->precons, b));
    base_text_put(t, "  sweeps       %s; statement by statement %s\n", figure(cost->sweeps, a),
                  figure(naive->sweeps, b));
    base_text_put(t, "  reductions   %s, of %s inner products; statement by statement %s\n",
                  figure(cost->reductions, a), figure(cost->dots, b), figure(naive->dots, c));
    base_text_put(t, "  vectors      %s read or written; statement by statement %s\n",
                  figure(vectors, a), figure(before, b));
    base_text_put(t, "  memory       %d vectors besides x and b; %d more live in the cache\n",
                  plan_whole_vectors(p), p->locals);
    base_text_put(t, "  bytes        %s (12 nnz + 8 (n + 1)) + %s n, real double in CSR%s\n",
                  figure(cost->products, a), figure(vectors * size, b),
                  p->setup.use[OPERATOR_M] == USE_CALL ? ", and what M takes" : "");
}

/* Bytes of an iteration on the operators at hand. */
static double cost_bytes(const spry_solver *solver, const plan_cost *cost)
{
    const spry_operator *A = solver_operator(solver), *M = solver_precon(solver);
    const double size = (double)spry_type_size(A->type);
    return cost->products * (double)A->own_bytes + (M ? cost->precons * (double)M->own_bytes : 0) +
           size * (cost->vectors[0] * (double)A->rows + cost->vectors[1] * (double)A->cols);
}

static void put_matrix(base_text *t, const spry_solver *solver, const plan_cost *cost)
{
    const spry_operator *A = solver_operator(solver);
    const double bytes = cost_bytes(solver, cost), read = solver->ctx->bandwidth.read;
    base_text_put(t, "\non this matrix (%" PRId64 " x %" PRId64 ", type %s, precon %s)\n", A->rows,
                  A->cols, spry_type_name(A->type), solver->setup.precon_name);
    base_text_put(t, "  bytes        %.0f per iteration\n", bytes);
    if (solver->setup.order.matrix)
        base_text_put(t, "  order        rows and columns reordered by %s\n",
                      solver->setup.order.name);
    if (read > 0)
        base_text_put(
            t, "  at least     %.4g ms per iteration at %.3g GB/s, the memory's read bandwidth\n",
            1e3 * bytes / read, read / 1e9);
}

/* A plan without operators: A by rows, M as its name says. */
static spry_status plan_for_name(const spry_solver *solver, bool fuse, plan **out, char precon[32])
{
    spry_context *ctx = solver->ctx;
    const char *spec = solver->asked.options.method, *file = solver->asked.options.method_file;
    program *p = NULL;
    precon_spec M;
    plan_setup setup = {.fuse = fuse, .square = true, .use = {[OPERATOR_A] = USE_ROWS}};
    spry_status status = SPRY_STATUS_OK;
    if (strcmp(spec, "auto") == 0 && !solver->asked.text && !file[0])
        spec = "cg";
    SPRY_GO(ctx,
            krylov_parse(ctx, spec, solver->asked.text, file, solver->asked.options.restart, &p));
    const char *name = solver->asked.options.precon;
    if (!p->uses_precon)
        name = "none";
    else if (strcmp(name, "auto") == 0)
        name = p->precon[0] ? p->precon : "jacobi";
    snprintf(precon, 32, "%.31s", name);
    SPRY_GO(ctx, precon_spec_read(ctx, name, &M));
    const bool diagonal = M.kind->diagonal && precon_spec_precision(&M) == PRECON_SAME;
    setup.use[OPERATOR_M] = M.kind == &precon_kind_none ? USE_NOTHING
                            : diagonal                  ? USE_DIAGONAL
                                                        : USE_CALL;
    program *handed = p;
    p = NULL;
    status = plan_make(handed, &setup, out);
done:
    program_free(p);
    return status;
}

/* The same method with every statement a sweep of its own, to compare with. */
static spry_status plan_unfused(const spry_solver *solver, const plan *fused, plan_cost *cost)
{
    spry_context *ctx = solver->ctx;
    program *p = NULL;
    plan *naive = NULL;
    plan_setup setup = fused->setup;
    spry_status status = SPRY_STATUS_OK;
    setup.fuse = false;
    SPRY_GO(ctx, program_parse(ctx, fused->program->source, fused->program->text,
                               strlen(fused->program->text), &p));
    for (int k = 0; k < fused->names; k++)
        p->names[k].value = fused->program->names[k].value;
    SPRY_GO(ctx, plan_make(p, &setup, &naive));
    SPRY_GO(ctx, plan_count(naive, cost));
done:
    plan_free(naive);
    return status;
}

spry_status spry_solver_explain(spry_solver *solver, char **text)
{
    SPRY_NEED(CTX_OF(solver), solver, text);
    spry_context *ctx = solver->ctx;
    const bool has_system = solver->setup.matrix || solver->asked.operator;
    base_text t = {.ctx = ctx};
    plan *own = NULL;
    plan_cost cost, naive;
    char precon[32];
    spry_status status = solver_begin(solver);
    *text = NULL;
    if (status != SPRY_STATUS_OK)
        return status;
    if (has_system) {
        SPRY_GO(ctx, solver_set_up(solver, NULL));
        snprintf(precon, sizeof precon, "%s", solver->setup.precon_name);
    } else {
        SPRY_GO(ctx, plan_for_name(solver, solver->asked.options.fuse, &own, precon));
    }
    const plan *p = has_system ? solver->setup.plan : own;
    const program *g = p->program;
    SPRY_GO(ctx, plan_count(p, &cost));
    SPRY_GO(ctx, plan_unfused(solver, p, &naive));
    base_text_put(&t, "%s: %.*s\n", g->method, g->summary.size, g->text + g->summary.begin);
    if (g->purpose.size > 0)
        base_text_put(&t, "for %.*s\n", g->purpose.size, g->text + g->purpose.begin);
    if (g->reference.size > 0)
        base_text_put(&t, "%.*s\n", g->reference.size, g->text + g->reference.begin);
    base_text_put(&t, "\nnotation\n");
    put_notation(&t, g);
    put_options(&t, p);
    base_text_put(&t, "\nthe loop as it runs, with precon %s%s\n", precon,
                  p->setup.fuse ? "" : ", not fused");
    plan_explain(p, &t);
    put_cost(&t, solver, p, &cost, &naive);
    if (has_system)
        put_matrix(&t, solver, &cost);
    status = base_text_take(&t, text);
done:
    base_free(ctx, t.text);
    plan_free(own);
    solver_end(solver, status);
    return status;
}

/* A plan of the library's method of a name. */
static spry_status plan_known(spry_context *ctx, const char *method, plan **made)
{
    const plan_setup setup = {.fuse = true, .square = true, .use = {[OPERATOR_A] = USE_ROWS}};
    spry_entry info = SPRY_ENTRY_INIT;
    program *p = NULL;
    if (!spry_list_find(SPRY_LIST_METHODS, method, &info))
        return SPRY_FAIL(ctx, SPRY_STATUS_BAD_USAGE, "there is no method %.64s", method);
    const spry_status status = program_parse(ctx, info.name, info.text, strlen(info.text), &p);
    return status == SPRY_STATUS_OK ? plan_make(p, &setup, made) : status;
}

spry_status krylov_square_only(spry_context *ctx, const char *method, bool *yes)
{
    plan *made = NULL;
    const spry_status status = plan_known(ctx, method, &made);
    *yes = status == SPRY_STATUS_OK && made->square_only;
    plan_free(made);
    return status;
}

spry_status spry_method_cost(spry_context *ctx, const char *method, spry_cost *cost)
{
    SPRY_NEED(ctx, ctx, method, cost);
    plan *made = NULL;
    plan_cost counted;
    static const base_sized sized = BASE_SIZED(spry_cost, transpose);
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(ctx, base_blank(ctx, cost, &sized));
    SPRY_GO(ctx, plan_known(ctx, method, &made));
    SPRY_GO(ctx, plan_count(made, &counted));
    const spry_cost found = {.products = counted.products,
                             .reductions = counted.reductions,
                             .vectors = counted.vectors[0] + counted.vectors[1],
                             .memory = plan_whole_vectors(made),
                             .transpose = made->program->uses_transpose};
    base_give(cost, &found, &sized);
done:
    plan_free(made);
    return status;
}
