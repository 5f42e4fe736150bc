/* The solver as an object: options, what it solves with, set-up. */
#include "krylov/solver.h"
#include "device/formats.h"
#include "precon/precon.h"

#define OPTION_OWNER solver_options
static const spry_option rows[] = {SOLVER_OPTIONS(SPRY_OPTION_ROW)};
#undef OPTION_OWNER

spry_option_list spry_solver_options(void)
{
    return (spry_option_list){rows, sizeof rows / sizeof *rows};
}

spry_status spry_solver_new(spry_context *ctx, spry_solver **solver)
{
    *solver = NULL;
    spry_status status = base_calloc(ctx, 1, sizeof **solver, solver);
    if (status != SPRY_STATUS_OK)
        return status;
    (*solver)->ctx = ctx;
    status = spry_options_default(ctx, spry_solver_options(), &(*solver)->options);
    if (status != SPRY_STATUS_OK) {
        spry_solver_free(*solver);
        *solver = NULL;
    }
    return status;
}

void solver_forget(spry_solver *solver)
{
    solver_drop_work(solver);
    spry_operator_free(solver->own_operator);
    spry_operator_free(solver->own_precon);
    spry_operator_free(solver->precon_there);
    plan_free(solver->plan);
    solver->own_operator = solver->own_precon = solver->precon_there = NULL;
    solver->plan = NULL;
    solver->ready = false;
}

void spry_solver_free(spry_solver *solver)
{
    if (solver) {
        solver_forget(solver);
        base_free(solver->ctx, solver->text);
        base_free(solver->ctx, solver);
    }
}

spry_status spry_solver_set(spry_solver *solver, const char *options)
{
    solver_options changed = solver->options;
    spry_status status = spry_options_parse(solver->ctx, spry_solver_options(), &changed, options);
    if (status == SPRY_STATUS_OK) {
        solver->options = changed;
        solver->stays = false;
        solver_forget(solver);
    }
    return status;
}

spry_status spry_solver_set_matrix(spry_solver *solver, const spry_matrix *A)
{
    solver_forget(solver);
    solver->stays = false;
    solver->matrix = A;
    solver->given_operator = NULL;
    return SPRY_STATUS_OK;
}

spry_status spry_solver_set_operator(spry_solver *solver, const spry_operator *A)
{
    solver_forget(solver);
    solver->matrix = NULL;
    solver->given_operator = A;
    return SPRY_STATUS_OK;
}

spry_status spry_solver_set_precon(spry_solver *solver, const spry_operator *M)
{
    solver_forget(solver);
    solver->given_precon = M;
    return SPRY_STATUS_OK;
}

void spry_solver_set_monitor(spry_solver *solver, spry_monitor_fn monitor, void *data)
{
    solver->monitor = monitor;
    solver->monitor_data = data;
}

void spry_solver_set_watch(spry_solver *solver, spry_watch_fn watch, void *data)
{
    solver->watch = watch;
    solver->watch_data = data;
}

const spry_operator *solver_operator(const spry_solver *solver)
{
    return solver->given_operator ? solver->given_operator : solver->own_operator;
}

const spry_operator *solver_precon(const spry_solver *solver)
{
    return solver->precon_there   ? solver->precon_there
           : solver->given_precon ? solver->given_precon
                                  : solver->own_precon;
}

void solver_warn(spry_context *ctx, char warnings[WARNINGS_SIZE], const char *text)
{
    size_t used = strlen(warnings);
    snprintf(warnings + used, WARNINGS_SIZE - used, "%s%s", used ? "\n" : "", text);
    base_log(ctx, SPRY_LOG_WARNING, "%s", text);
}

spry_status spry_solver_set_method_text(spry_solver *solver, const char *text)
{
    char *copy = NULL;
    if (text) {
        copy = base_copy_text(solver->ctx, text);
        if (!copy)
            return SPRY_STATUS_NO_MEMORY;
    }
    solver_forget(solver);
    base_free(solver->ctx, solver->text);
    solver->text = copy;
    return SPRY_STATUS_OK;
}

static bool chooses_method(const spry_solver *solver)
{
    return strcmp(solver->options.method, "auto") == 0 && !solver->text &&
           !solver->options.method_file[0];
}

/* The method asked for, parsed; *options points to what it says after a colon. */
static spry_status parse_method(spry_solver *solver, program **p, const char **options)
{
    spry_context *ctx = solver->ctx;
    const char *spec = solver->options.method;
    if (chooses_method(solver)) {
        const spry_status status = solver_choose_method(solver, &spec);
        if (status != SPRY_STATUS_OK)
            return status;
    }
    return krylov_parse(ctx, spec, solver->text, solver->options.method_file, p, options);
}

/* A method that was chosen for A alone may not be one for the preconditioner: another then. */
static spry_status suit_method(spry_solver *solver, program **p, const char **options)
{
    const char *other = NULL;
    if (!chooses_method(solver))
        return SPRY_STATUS_OK;
    spry_status status = solver_suit_precon(solver, (*p)->method, &other);
    if (status != SPRY_STATUS_OK || !other)
        return status;
    program_free(*p);
    *p = NULL;
    return krylov_parse(solver->ctx, other, NULL, "", p, options);
}

/* The value a method's option has, as text: from the spec, or its default. */
static void option_text(const program_name *option, const char *spec, char *value, size_t size)
{
    const size_t length = strlen(option->text);
    for (const char *p = spec; *p; p += strcspn(p, ", "), p += strspn(p, ", "))
        if (strncmp(p, option->text, length) == 0 && p[length] == '=') {
            snprintf(value, size, "%.*s", (int)strcspn(p + length + 1, ", "), p + length + 1);
            return;
        }
    if (!option->words[0]) {
        snprintf(value, size, "%.17g", option->initial);
        return;
    }
    const char *word = option->words;
    for (int k = 0; k < (int)option->initial; k++)
        word += strcspn(word, " ") + 1;
    snprintf(value, size, "%.*s", (int)strcspn(word, " "), word);
}

/* The preconditioner a method is built on, with those of the method's options that it knows. */
static void own_precon(const program *p, const char *options, char *spec, size_t size)
{
    char separator = ':';
    snprintf(spec, size, "%s", p->precon);
    for (int k = 0; k < p->name_count; k++) {
        char value[64];
        const program_name *option = &p->names[k];
        if (option->kind != NAME_OPTION ||
            !spry_options_find(spry_precon_options(p->precon), option->text))
            continue;
        option_text(option, options, value, sizeof value);
        const size_t used = strlen(spec);
        snprintf(spec + used, size - used, "%c%s=%s", separator, option->text, value);
        separator = ',';
    }
}

static bool is_auto(const char *format)
{
    return strncmp(format, "auto", 4) == 0 && (format[4] == '\0' || format[4] == ':');
}

static spry_status make_precon(spry_solver *solver, const program *p, const char *options)
{
    spry_context *ctx = solver->ctx;
    char spec[SPRY_OPTION_TEXT_SIZE];
    const char *const inner = "inner";
    snprintf(spec, sizeof spec, "%s", solver->options.precon);
    if (!p->uses_precon) {
        if (solver->given_precon || (strcmp(spec, "auto") != 0 && strcmp(spec, "none") != 0)) {
            snprintf(spec, sizeof spec, "method %s uses no preconditioner", p->method);
            solver_warn(ctx, solver->warnings, spec);
        }
        snprintf(solver->precon_name, sizeof solver->precon_name, "none");
        return SPRY_STATUS_OK;
    }
    if (solver->given_precon) {
        snprintf(solver->precon_name, sizeof solver->precon_name, "%s",
                 spry_operator_name(solver->given_precon));
        return SPRY_STATUS_OK;
    }
    if (strcmp(spec, "auto") == 0 && p->precon[0])
        own_precon(p, options, spec, sizeof spec);
    if (strncmp(spec, inner, strlen(inner)) != 0 || (spec[5] && spec[5] != ':'))
        return precon_make_beside(ctx, solver->matrix, solver_operator(solver), spec,
                                  &solver->own_precon, solver->precon_name);
    if (!solver->matrix)
        return SPRY_FAIL(ctx, SPRY_STATUS_BAD_USAGE,
                         "precon=inner needs a matrix, not an operator");
    snprintf(solver->precon_name, sizeof solver->precon_name, "%s", inner);
    /* What is chosen for A need not suit A in lower precision; that it be chosen does. */
    return krylov_inner(solver->matrix, is_auto(solver->options.format) ? "auto" : "csr",
                        spec[5] ? spec + 6 : "", &solver->own_precon);
}

/* The method's options: those after its colon, and the solver's `restart` where it has one. */
static void method_options(const solver_options *o, const program *p, const char *given, char *text,
                           size_t size)
{
    if (o->restart > 0 && plan_has_option(p, "restart"))
        snprintf(text, size, "restart=%" PRId64 ",%s", o->restart, given);
    else
        snprintf(text, size, "%s", given);
}

/* Whether the method has products with A^T or A^H; or else with those of M, of which L and R are
 * parts. */
static bool needs_transpose(const program *p, bool of_A)
{
    for (int k = 0; k < p->expr_count; k++) {
        const expr *e = &p->exprs[k];
        if (e->kind == EXPR_APPLY && e->transpose != SPRY_TRANSPOSE_NO &&
            (e->op == OPERATOR_A) == of_A)
            return true;
    }
    return false;
}

/* How the method will use A or M; refuses one that lacks what it needs. */
static spry_status find_use(const program *p, const spry_operator *op, bool of_A, operator_use *use)
{
    const bool needed = needs_transpose(p, of_A);
    if (op && needed && !spry_operator_has_transpose(op))
        return SPRY_FAIL(p->ctx, SPRY_STATUS_UNSUPPORTED,
                         "method %s needs products with %s^H, which operator %s does not have",
                         p->method, of_A ? "A" : "M", op->class->name);
    const spry_status status = runner_use(op, needed, use);
    /* Sweeps on a device go by the rows of one matrix. */
    if (!of_A && *use == USE_ROWS && device_of(op))
        *use = USE_CALL;
    return status;
}

/* Parses and fuses the method for the operators at hand. */
static spry_status make_plan(spry_solver *solver, program *p, const char *given)
{
    spry_context *ctx = solver->ctx;
    const spry_operator *A = solver_operator(solver), *M = solver_precon(solver);
    plan_setup setup = {
        .fuse = solver->options.fuse, .square = A->rows == A->cols, .apart = device_of(A) != NULL};
    char options[2 * SPRY_OPTION_TEXT_SIZE];
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(ctx, find_use(p, A, true, &setup.use[OPERATOR_A]));
    SPRY_GO(ctx, find_use(p, M, false, &setup.use[OPERATOR_M]));
    method_options(&solver->options, p, given, options, sizeof options);
    program *handed = p;
    p = NULL;
    SPRY_GO(ctx, plan_make(handed, options, &setup, &solver->plan));
    if (!setup.square && solver->plan->square_only)
        status = SPRY_FAIL(ctx, SPRY_STATUS_BAD_USAGE,
                           "%s needs a square matrix, not %" PRId64 " x %" PRId64
                           "; lsmr, lsqr and cgls do not",
                           solver->plan->program->method, A->rows, A->cols);
done:
    program_free(p);
    return status;
}

/* Operator, preconditioner and plan. */
static spry_status make_all(spry_solver *solver, spry_device *near)
{
    spry_context *ctx = solver->ctx;
    spry_status status = SPRY_STATUS_OK;
    program *p = NULL;
    const char *options;
    solver->warnings[0] = '\0';
    SPRY_GO(ctx, solver_choose_device(solver, near));
    if (solver->matrix)
        SPRY_GO(ctx, solver_make_operator(solver));
    SPRY_GO(ctx, parse_method(solver, &p, &options));
    SPRY_GO(ctx, make_precon(solver, p, options));
    SPRY_GO(ctx, solver_move_precon(solver));
    SPRY_GO(ctx, suit_method(solver, &p, &options));
    program *handed = p;
    p = NULL;
    SPRY_GO(ctx, make_plan(solver, handed, options));
    if (!chooses_method(solver)) /* which is known to suit A and M */
        SPRY_GO(ctx, solver_check_purpose(solver));
done:
    program_free(p);
    return status;
}

spry_status solver_set_up(spry_solver *solver, spry_device *near)
{
    spry_context *ctx = solver->ctx;
    double begin = base_seconds();
    if (solver->ready && near && near != solver->device && !solver->given_operator &&
        strcmp(solver->options.device, "auto") == 0)
        solver_forget(solver);
    if (solver->ready && solver->device && solver->device->lost)
        solver_forget(solver);
    if (solver->ready) {
        solver->setup_seconds = solver->updated_seconds;
        solver->updated_seconds = 0;
        return SPRY_STATUS_OK;
    }
    if (!solver->matrix && !solver->given_operator)
        return SPRY_FAIL(ctx, SPRY_STATUS_BAD_USAGE,
                         "the solver has no matrix and no operator yet");
    const spry_status status = make_all(solver, near);
    if (status != SPRY_STATUS_OK) {
        solver_forget(solver);
        return status;
    }
    solver->ready = true;
    solver->setup_seconds = base_seconds() - begin;
    return SPRY_STATUS_OK;
}

/* The operator in the format it has, with A's values as they are now. */
static spry_status update_operator(spry_solver *solver)
{
    spry_storage storage;
    char format[sizeof storage.format + sizeof storage.options + 1];
    spry_operator *before = solver->own_operator;
    spry_status status = spry_operator_storage(before, &storage);
    if (status != SPRY_STATUS_OK)
        return status;
    snprintf(format, sizeof format, "%s%s%s", storage.format, storage.options[0] ? ":" : "",
             storage.options);
    solver->own_operator = NULL;
    status = before->device
                 ? spry_operator_on(before->device, solver->matrix, format, &solver->own_operator)
                 : spry_operator_from_format(solver->matrix, format, &solver->own_operator);
    spry_operator_free(before);
    return status;
}

spry_status spry_solver_update(spry_solver *solver)
{
    spry_context *ctx = solver->ctx;
    const double begin = base_seconds();
    spry_status status = SPRY_STATUS_OK;
    if (!solver->matrix)
        return SPRY_FAIL(ctx, SPRY_STATUS_BAD_USAGE,
                         "the solver has no matrix that could have changed");
    if (!solver->ready)
        return SPRY_STATUS_OK;
    if (solver->own_precon && !operator_has_update(solver->own_precon)) {
        solver_forget(solver); /* all is made anew at the next solve */
        return SPRY_STATUS_OK;
    }
    solver_drop_work(solver); /* it knows the operators by their insides */
    SPRY_GO(ctx, update_operator(solver));
    if (chooses_method(solver)) { /* what it was chosen for may be no more */
        precon_symmetry now;
        SPRY_GO(ctx, precon_probe(solver->own_operator, &now));
        if (now.hermitian != solver->chosen_for.hermitian ||
            now.symmetric != solver->chosen_for.symmetric) {
            solver_forget(solver);
            return SPRY_STATUS_OK;
        }
    }
    if (solver->precon_there) { /* a copy of the caller's own, as it is now */
        spry_operator_free(solver->precon_there);
        solver->precon_there = NULL;
        SPRY_GO(ctx, solver_move_precon(solver));
    }
    if (solver->own_precon) {
        status = spry_operator_update(solver->own_precon, solver->matrix);
        if (status == SPRY_STATUS_BAD_INPUT && strcmp(solver->options.precon, "auto") == 0) {
            base_log(ctx, SPRY_LOG_INFO, "precon auto chooses again: %s", spry_message(ctx));
            solver_forget(solver);
            return SPRY_STATUS_OK;
        }
        SPRY_GO(ctx, status);
    }
    solver->updated_seconds += base_seconds() - begin;
done:
    if (status != SPRY_STATUS_OK)
        solver_forget(solver);
    return status;
}

spry_status spry_quick_solve(spry_context *ctx, const spry_matrix *A, const spry_vector *b,
                             spry_vector *x, const char *options, spry_result *result)
{
    spry_solver *solver = NULL;
    spry_status status = SPRY_STATUS_OK;
    if (result)
        memset(result, 0, sizeof *result);
    SPRY_GO(ctx, spry_solver_new(ctx, &solver));
    SPRY_GO(ctx, spry_solver_set(solver, options));
    SPRY_GO(ctx, spry_solver_set_matrix(solver, A));
    SPRY_GO(ctx, spry_solve(solver, b, x, result));
done:
    spry_solver_free(solver);
    return status;
}
