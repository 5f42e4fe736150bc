/* What a solver sets up: operator, preconditioner and plan, in stages. */
#include "krylov/solver.h"

#include "base/machine.h"

#include "choose/precons.h"
#include "formats/shared/device_formats.h"
#include "program/explain.h"
#include "ranks/operator.h"

#include <math.h>

/* In double and in single precision, where x alone has roundings of 6e-8 |A| |x|. */
static const double default_tol[] = {1e-8, 1e-4};

/* The method asked for. */
static spry_status parse_method(spry_solver *solver, program **p)
{
    const char *spec = solver->asked.options.method;
    *p = solver->setup.parsed;
    solver->setup.parsed = NULL;
    if (*p)
        return SPRY_STATUS_OK;
    if (solver_chooses_method(solver)) {
        const spry_status status = solver->setup.chosen
                                       ? SPRY_STATUS_OK
                                       : solver_choose_method(solver, &solver->setup.chosen);
        if (status != SPRY_STATUS_OK)
            return status;
        spec = solver_attempt(solver)->method[0] ? solver_attempt(solver)->method
                                                 : solver->setup.chosen;
    }
    return solver_parse(solver, spec, p);
}

/* A method that was chosen for A alone may not be one for the preconditioner: another then. */
static spry_status suit_method(spry_solver *solver, program **p)
{
    const char *other = NULL;
    if (!solver_chooses_method(solver))
        return SPRY_STATUS_OK;
    spry_status status = solver_suit_precon(solver, *p, &other);
    if (status != SPRY_STATUS_OK || !other)
        return status;
    program_free(*p);
    *p = NULL;
    return solver_parse(solver, other, p);
}

/* The preconditioner a method is built on, with those of the method's options that it knows. */
static spry_status own_precon(const program *p, precon_spec *spec)
{
    char separator = ':', text[SPRY_OPTION_TEXT_SIZE];
    snprintf(text, sizeof text, "%s", p->precon);
    for (int k = 0; k < p->name_count; k++) {
        char value[sizeof p->names->words];
        const program_name *option = &p->names[k];
        if (option->kind != NAME_OPTION ||
            !spry_options_find(precon_options(p->precon), option->text))
            continue;
        program_option_text(option, value, sizeof value);
        const size_t used = strlen(text);
        snprintf(text + used, sizeof text - used, "%c%s=%s", separator, option->text, value);
        separator = ',';
    }
    return precon_spec_read(p->ctx, text, spec);
}

/* What the preconditioner is to be for a method: how it is made, or whether the caller has one. */
static spry_status wanted_precon(const spry_solver *solver, const program *p, precon_spec *spec)
{
    spry_status status = SPRY_STATUS_OK;
    *spec = solver_attempt(solver)->precon;
    if (!p->uses_precon || solver->asked.precon)
        *spec = precon_spec_none(p->uses_precon ? "given" : "none");
    else if (!solver->setup.spec.kind && p->precon[0])
        status = own_precon(p, spec);
    spec->singular = solver_has_null_space(solver);
    return status;
}

/* The product with the own block that a rank's preconditioner is made near; NULL: on the host. */
static const spry_operator *near_on_rank(const spry_solver *solver)
{
    return solver->setup.device ? device_dist_own(solver->setup.own_operator) : NULL;
}

/* On ranks: each makes one of its own block, unless the kind knows better. */
static spry_status make_ranked_precon(spry_solver *solver, const precon_spec *spec)
{
    spry_context *ctx = solver->ctx;
    spry_operator **M = &solver->setup.own_precon;
    if (!solver->setup.matrix) {
        const spry_status status = precon_make(ctx, NULL, solver->asked.operator, spec, NULL, M,
                                               solver->setup.precon_name);
        return team_agree(ctx, status);
    }
    if (spec->kind != &precon_kind_inner)
        return precon_make_ranked(ctx, solver->setup.matrix, near_on_rank(solver), spec,
                                  &solver->setup.begun, M, solver->setup.precon_name);
    snprintf(solver->setup.precon_name, sizeof solver->setup.precon_name,
             "block-jacobi:inner=inner");
    return precon_distribute(solver->setup.matrix,
                             krylov_inner(solver->nested, solver->setup.matrix->distributed->own,
                                          solver_tunes(solver) ? "auto" : "csr",
                                          precon_spec_options(spec), M),
                             M);
}

/* Has the programs of the method compiled while a preconditioner is set up. */
static void precompile(spry_solver *solver, const program *p)
{
    const precon_kind *kind = solver->setup.made_spec.kind;
    const spry_device *d = device_of(solver_operator(solver));
    program *own = NULL;
    if (!d || !device_is_cold(d) || solver_ranked(solver) || !p->uses_precon ||
        solver->asked.precon || !kind || kind->diagonal)
        return;
    const base_kept before = base_try(solver->ctx);
    if (parse_method(solver, &own) == SPRY_STATUS_OK)
        solver_precompile(solver, own);
    base_forgive(solver->ctx, &before);
}

/* The preconditioner where the solver works; an existing one is kept where it is the one that
 * the method wants. */
static spry_status make_precon(spry_solver *solver, const program *p)
{
    spry_context *ctx = solver->ctx;
    precon_spec spec;
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(ctx, wanted_precon(solver, p, &spec));
    if (solver->setup.made > STAGE_PRECON && precon_spec_same(&spec, &solver->setup.made_spec))
        return SPRY_STATUS_OK;
    solver_drop(solver, STAGE_PRECON);
    solver->setup.made_spec = spec;
    if (!precon_spec_same(&spec, &solver->setup.begun_spec))
        solver_drop_begun(solver);
    precompile(solver, p);
    solver_bytes before = solver_bytes_now(solver);
    if (solver->setup.begun) { /* which is a part of it */
        before.host -= solver->setup.begun_bytes.host;
        before.device -= solver->setup.begun_bytes.device;
    }
    if (solver->asked.precon && p->uses_precon) {
        snprintf(solver->setup.precon_name, sizeof solver->setup.precon_name, "%s",
                 spry_operator_name(solver->asked.precon));
    } else if (solver_ranked(solver)) {
        SPRY_GO(ctx, make_ranked_precon(solver, &spec));
    } else if (spec.kind != &precon_kind_inner) {
        SPRY_GO(ctx, precon_make(ctx, solver->setup.matrix, solver_operator(solver), &spec,
                                 &solver->setup.begun, &solver->setup.own_precon,
                                 solver->setup.precon_name));
    } else {
        if (!solver->setup.matrix)
            return SPRY_FAIL(ctx, SPRY_STATUS_BAD_USAGE,
                             "precon=inner needs a matrix, not an operator");
        snprintf(solver->setup.precon_name, sizeof solver->setup.precon_name, "inner");
        /* What is chosen for A need not suit A in lower precision; that it be chosen does. */
        SPRY_GO(ctx, krylov_inner(solver->nested, solver->setup.matrix,
                                  solver_tunes(solver) ? "auto" : "csr", precon_spec_options(&spec),
                                  &solver->setup.own_precon));
    }
    if (p->uses_precon)
        SPRY_GO(ctx, solver_move_precon(solver));
    solver->setup.precon_bytes = solver_bytes_since(solver, before);
    solver_pass(solver, STAGE_PRECON);
done:
    return status;
}

/* Has the programs of the attempt at hand compiled while other work begins. */
static void prefetch(const spry_solver *solver)
{
    const spry_matrix *A = solver->setup.matrix;
    const precon_kind *kind = solver_attempt(solver)->precon.kind;
    if (!solver->setup.device || !A)
        return;
    device_prefetch(solver->setup.device, "solve", A->a.type);
    if (!solver->asked.precon && kind)
        device_prefetch(solver->setup.device, kind->name, A->a.type);
}

/* The operator and the method of the attempt at hand. */
static spry_status open_attempt(spry_solver *solver, program **p)
{
    spry_context *ctx = solver->ctx;
    spry_status status = SPRY_STATUS_OK;
    prefetch(solver);
    SPRY_GO(ctx, solver_suit_operator(solver));
    SPRY_GO(ctx, solver_agree(solver, parse_method(solver, p)));
    /* NOLINTNEXTLINE(clang-analyzer-core.NonNullParamChecker): all have agreed that it exists */
    if (solver_ranked(solver) && precon_is_exact((*p)->precon))
        return SPRY_FAIL(ctx, SPRY_STATUS_UNSUPPORTED,
                         "method %s works on one rank; on several, precon=%s has each factorize "
                         "its own block",
                         (*p)->method, (*p)->precon);
    /* NOLINTNEXTLINE(clang-analyzer-core.NullDereference): all have agreed that it exists */
    solver->setup.attempts.alone = program_settles_precon(*p) && !solver_chooses_method(solver);
done:
    return status;
}

/* Sets up the missing stages of the current attempt: preconditioner and plan; takes its method. */
static spry_status finish_attempt(spry_solver *solver, program *p)
{
    spry_context *ctx = solver->ctx;
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(ctx, solver_agree(solver, make_precon(solver, p)));
    SPRY_GO(ctx, solver_agree(solver, suit_method(solver, &p)));
    SPRY_GO(ctx, solver_agree(solver, solver_make_null_space(solver)));
    program *handed = p;
    p = NULL;
    SPRY_GO(ctx, solver_agree(solver, solver_fuse(solver, handed)));
    SPRY_GO(ctx, solver_agree(solver, solver_warn_of_plan(solver)));
    solver_pass(solver, STAGE_PLAN);
    solver->setup.attempts.setup_seconds += base_seconds() - solver->setup.attempts.began;
done:
    program_free(p);
    return status;
}

static spry_status make_attempt(spry_solver *solver)
{
    program *p = NULL;
    solver->setup.attempts.began = base_seconds();
    spry_status status = open_attempt(solver, &p);
    if (status == SPRY_STATUS_OK)
        status = finish_attempt(solver, p);
    else
        program_free(p);
    if (status != SPRY_STATUS_OK)
        order_name_rows(&solver->setup.order, solver->ctx->message, sizeof solver->ctx->message);
    return status;
}

spry_status solver_make_attempt(spry_solver *solver)
{
    const base_kept before = base_try(solver->ctx);
    spry_status status = make_attempt(solver);
    while (solver_skip_attempt(solver, status)) {
        base_forgive(solver->ctx, &before); /* nothing failed for the caller */
        status = make_attempt(solver);
    }
    return status;
}

/* The format of the operator depends on how often the method of the first attempt multiplies. */
static spry_status look_at_first(spry_solver *solver)
{
    attempts *all = &solver->setup.attempts;
    const plan_setup setup = {
        .fuse = true, .square = true, .use = {[OPERATOR_A] = USE_ROWS, [OPERATOR_M] = USE_CALL}};
    const char *spec = solver_chooses_method(solver) ? solver_attempt(solver)->method
                                                     : solver->asked.options.method;
    program *p = NULL;
    plan *made = NULL;
    plan_cost cost;
    precon_spec own;
    spry_status status = SPRY_STATUS_OK;
    if (all->each > 0 || !*spec) /* "": what A asks for */
        return SPRY_STATUS_OK;
    if (!solver->setup.parsed)
        SPRY_GO(solver->ctx, solver_parse(solver, spec, &solver->setup.parsed));
    if (!solver->setup.spec.kind && solver->setup.parsed && solver->setup.parsed->precon[0]) {
        SPRY_GO(solver->ctx, precon_spec_read(solver->ctx, solver->setup.parsed->precon, &own));
        all->brings = own.kind;
    }
    if (all->brings && all->brings->cost.exact) {
        all->each = 1;
        return SPRY_STATUS_OK;
    }
    SPRY_GO(solver->ctx, program_copy(solver->ctx, solver->setup.parsed, &p));
    SPRY_GO(solver->ctx, plan_read(p, &setup, &made)); /* which takes it */
    SPRY_GO(solver->ctx, plan_count(made, &cost));
    all->each = fmax(cost.products, 1);
done:
    plan_free(made);
    return status;
}

/* The operator, if it is not set up, and what is to be tried. */
static spry_status make_operator(spry_solver *solver, spry_device *near)
{
    spry_context *ctx = solver->ctx;
    spry_status status = SPRY_STATUS_OK;
    if (solver->setup.made == STAGE_OPERATOR) {
        solver_note_version(solver);
        SPRY_GO(ctx, solver_choose_device(solver, near));
        SPRY_GO(ctx, solver_list_attempts(solver)); /* which say what the operator is for */
        const double begin = base_seconds();
        prefetch(solver);
        SPRY_GO(ctx, solver_agree(solver, look_at_first(solver)));
        SPRY_GO(ctx, solver_reorder(solver));
        if (solver->setup.matrix)
            status = solver_make_operator(solver);
        if (status != SPRY_STATUS_OK)
            order_name_rows(&solver->setup.order, ctx->message, sizeof ctx->message);
        SPRY_GO(ctx, status);
        solver_pass(solver, STAGE_OPERATOR);
        solver->setup.seconds += base_seconds() - begin;
    }
    SPRY_GO(ctx, solver_list_attempts(solver));
done:
    return status;
}

/* Sets up the missing stages: operator, preconditioner and plan. */
static spry_status make_all(spry_solver *solver, spry_device *near)
{
    const spry_status status = make_operator(solver, near);
    return status == SPRY_STATUS_OK ? solver_make_attempt(solver) : status;
}

/* What was made for a place where the solve cannot be, or is better not: nothing of it serves. What
 * was made with vectors on the device and moved elsewhere had its reasons. */
static void leave_device(spry_solver *solver, const spry_device *near)
{
    bool lost = solver->setup.device && solver->setup.device->lost;
    const bool nearer = near && near != solver->setup.device && near != solver->setup.near &&
                        !solver->asked.operator&& strcmp(solver->asked.options.device, "auto") == 0;
    if (solver_ranked(solver)) { /* what all have made together is left together */
        (void)team_any(solver->ctx, lost, &lost);
        if (lost)
            solver_forget(solver);
    } else if (solver->setup.made > STAGE_OPERATOR && (nearer || lost)) {
        solver_forget(solver);
    }
}

/* A tolerance that was not said is one that the precision can reach. */
static void settle_tol(spry_solver *solver)
{
    const spry_operator *op = solver->asked.operator;
    const double tol = solver->asked.options.tol;
    const bool own = tol == default_tol[0] || tol == default_tol[1];
    if (!options_given(solver_option_list(), &solver->asked.options, "tol") && own &&
        (solver->setup.matrix || op))
        solver->asked.options.tol = default_tol[type_is_single(
            solver->setup.matrix ? solver->setup.matrix->a.type : op->type)];
}

/* The preconditioner that was asked for. */
static spry_status read_asked(spry_solver *solver)
{
    if (!solver->asked.precon)
        return precon_spec_read(solver->ctx, solver->asked.options.precon, &solver->setup.spec);
    solver->setup.spec = precon_spec_none("given");
    return SPRY_STATUS_OK;
}

/* What is set up is what it should be. */
static spry_status get_ready(spry_solver *solver, spry_device *near)
{
    settle_tol(solver);
    leave_device(solver, near);
    const spry_status status = solver_catch_up(solver);
    if (status != SPRY_STATUS_OK)
        return status;
    if (!solver->setup.matrix && !solver->asked.operator)
        return SPRY_FAIL(solver->ctx, SPRY_STATUS_BAD_USAGE,
                         "the solver has no matrix and no operator yet");
    const spry_status read = read_asked(solver);
    if (read != SPRY_STATUS_OK)
        return read;
    solver_share_facts(solver, true);
    if (solver_outgrows(solver))
        solver_drop(solver, STAGE_PLAN);
    return SPRY_STATUS_OK;
}

/* What the preconditioner will take, which is begun, or set up. */
static spry_status begin_precon(spry_solver *solver, const program *p, solver_estimate *o)
{
    spry_context *ctx = solver->ctx;
    spry_status status = SPRY_STATUS_OK;
    solver_drop_begun(solver);
    const solver_bytes before = solver_bytes_now(solver);
    o->made =
        solver->setup.made > STAGE_PRECON && precon_spec_same(&o->precon, &solver->setup.made_spec);
    o->forecast.known = o->made || (solver->asked.precon && p->uses_precon);
    if (o->forecast.known || o->precon.kind == &precon_kind_inner) /* makes_now() says so */
        return SPRY_STATUS_OK;
    if (solver_ranked(solver) && solver->setup.matrix)
        status = precon_begin_ranked(ctx, solver->setup.matrix, near_on_rank(solver), &o->precon,
                                     &o->forecast, &solver->setup.begun, o->ranked_name);
    else
        status = precon_begin(ctx, solver->setup.matrix, solver_operator(solver), &o->precon,
                              &o->forecast, &solver->setup.begun);
    solver->setup.begun_spec = o->precon;
    if (solver->setup.begun)
        solver->setup.begun_bytes = solver_bytes_since(solver, before);
    return solver_agree(solver, status);
}

/*
 * Whether making a preconditioner takes so little that a plan does it: a tenth of a second, or a
 * few products with A, which need no forecast, and what A's numbers do to it is known.
 * Those that have no forecast are made of small matrices; a solver within is set up later, and
 * takes a copy of A until then.
 */
static spry_status makes_now(const spry_solver *solver, const solver_estimate *o, bool *now)
{
    static const double little = 0.1;
    enum { FEW = 4, SMALL = 1 << 14 };
    const spry_operator *A = solver_operator(solver);
    const double most = fmax(little, FEW * (double)A->bytes / MACHINE_CORE_RATE);
    const int64_t size = A->rows + (solver->setup.matrix ? dist_entries(solver->setup.matrix) : 0);
    bool later = o->forecast.known                      ? o->forecast.seconds > most
                 : o->precon.kind == &precon_kind_inner ? false
                                                        : size > SMALL;
    const spry_status status =
        solver_ranked(solver) ? team_any(solver->ctx, later, &later) : SPRY_STATUS_OK;
    *now = !later;
    return status;
}

/* What an iteration costs. */
static spry_status count_costs(const plan *made, solver_estimate *o)
{
    plan_cost cost;
    const spry_status status = plan_count(made, &cost);
    o->products = cost.products;
    memcpy(o->vectors, cost.vectors, sizeof o->vectors);
    o->reductions = cost.reductions;
    plan_count_vectors(made, o->kept);
    o->together = solver_together(made);
    o->uses_precon = made->program->uses_precon;
    snprintf(o->method, sizeof o->method, "%s", made->program->method);
    return status;
}

/* The same of a method that is not planned yet, fused nearly as it will be; takes p. */
static spry_status guess_costs(const spry_solver *solver, program *p, solver_estimate *o)
{
    plan *made = NULL;
    const plan_setup setup = {.fuse = solver->asked.options.fuse,
                              .square = solver_operator(solver)->square,
                              .use = {[OPERATOR_A] = USE_ROWS, [OPERATOR_M] = USE_CALL}};
    spry_status status = plan_make(p, &setup, &made);
    if (status == SPRY_STATUS_OK)
        status = solver_check_square(solver, made);
    if (status == SPRY_STATUS_OK)
        status = count_costs(made, o);
    plan_free(made);
    return status;
}

/* What the attempt at hand will be. */
static spry_status begin_attempt(spry_solver *solver, solver_estimate *o)
{
    spry_context *ctx = solver->ctx;
    program *p = NULL;
    operator_use use;
    spry_status status = SPRY_STATUS_OK;
    solver->setup.attempts.began = base_seconds();
    *o = (solver_estimate){0};
    SPRY_GO(ctx, open_attempt(solver, &p));
    SPRY_GO(ctx, wanted_precon(solver, p, &o->precon));
    SPRY_GO(ctx, begin_precon(solver, p, o));
    if (!o->made)
        SPRY_GO(ctx, makes_now(solver, o, &o->made));
    if (o->made) {
        program *handed = p;
        p = NULL;
        if (solver->setup.made < STAGE_ALL ||
            !precon_spec_same(&o->precon, &solver->setup.made_spec))
            SPRY_GO(ctx, finish_attempt(solver, handed));
        else
            program_free(handed);
        o->forecast = (precon_forecast){
            .known = o->precon.kind != &precon_kind_inner,
            .reads = solver->setup.own_precon ? solver->setup.own_precon->own_bytes : 0};
        status = count_costs(solver->setup.plan, o);
    } else {
        status = solver_find_use(p, solver_operator(solver), true, solver->setup.device, &use);
        if (status == SPRY_STATUS_OK) {
            program *handed = p;
            p = NULL;
            status = guess_costs(solver, handed, o);
        }
    }
    o->begun = o->made ? solver->setup.precon_bytes : solver->setup.begun_bytes;
    SPRY_GO(ctx, solver_agree(solver, status));
done:
    if (status != SPRY_STATUS_OK)
        order_name_rows(&solver->setup.order, ctx->message, sizeof ctx->message);
    program_free(p);
    return status;
}

spry_status solver_estimate_attempt(spry_solver *solver, solver_estimate *estimate)
{
    spry_context *ctx = solver->ctx;
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(ctx, get_ready(solver, NULL));
    const base_kept before = base_try(ctx);
    SPRY_GO(ctx, solver_agree(solver, make_operator(solver, NULL)));
    status = begin_attempt(solver, estimate);
    while (solver_skip_attempt(solver, status)) {
        base_forgive(ctx, &before); /* nothing failed for the caller */
        status = begin_attempt(solver, estimate);
    }
    SPRY_GO(ctx, status);
    solver_share_facts(solver, false);
done:
    if (status != SPRY_STATUS_OK)
        solver_drop(solver, solver->setup.made);
    return status;
}

spry_status solver_set_up(spry_solver *solver, spry_device *near)
{
    spry_status status = get_ready(solver, near);
    if (status != SPRY_STATUS_OK)
        return status;
    solver->setup.seconds = solver->setup.updated_seconds;
    solver->setup.updated_seconds = 0;
    if (solver->setup.made < STAGE_ALL)
        status = make_all(solver, near);
    if (status != SPRY_STATUS_OK) {
        solver_drop(solver,
                    solver->setup.made); /* what was begun; what is set up may serve again */
        return status;
    }
    solver_share_facts(solver, false);
    return SPRY_STATUS_OK;
}
