/* The solver: set-up, the run with restarts from the true residual, the result record. */
#include "krylov/krylov.h"
#include "precon/precon.h"

#include <float.h>
#include <math.h>

struct spry_solver {
    spry_context *ctx;
    solver_options options;
    const spry_matrix *matrix;
    const spry_operator *given_operator, *given_precon;
    spry_monitor monitor;
    void *monitor_data;
    /* Made at the first solve after a change. */
    bool ready;
    spry_operator *own_operator, *own_precon;
    const krylov_method *method;
    char precon_name[32];
    char warnings[1024];
    double setup_seconds;
};

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
    if (status != SPRY_OK)
        return status;
    (*solver)->ctx = ctx;
    return spry_options_default(ctx, spry_solver_options(), &(*solver)->options);
}

static void forget_setup(spry_solver *solver)
{
    spry_operator_free(solver->own_operator);
    spry_operator_free(solver->own_precon);
    solver->own_operator = solver->own_precon = NULL;
    solver->ready = false;
}

void spry_solver_free(spry_solver *solver)
{
    if (solver) {
        forget_setup(solver);
        base_free(solver->ctx, solver);
    }
}

spry_status spry_solver_set(spry_solver *solver, const char *options)
{
    solver_options changed = solver->options;
    spry_status status = spry_options_parse(solver->ctx, spry_solver_options(), &changed, options);
    if (status == SPRY_OK) {
        solver->options = changed;
        forget_setup(solver);
    }
    return status;
}

spry_status spry_solver_set_matrix(spry_solver *solver, const spry_matrix *A)
{
    forget_setup(solver);
    solver->matrix = A;
    solver->given_operator = NULL;
    return SPRY_OK;
}

spry_status spry_solver_set_operator(spry_solver *solver, const spry_operator *A)
{
    forget_setup(solver);
    solver->matrix = NULL;
    solver->given_operator = A;
    return SPRY_OK;
}

spry_status spry_solver_set_precon(spry_solver *solver, const spry_operator *M)
{
    forget_setup(solver);
    solver->given_precon = M;
    return SPRY_OK;
}

void spry_solver_set_monitor(spry_solver *solver, spry_monitor monitor, void *data)
{
    solver->monitor = monitor;
    solver->monitor_data = data;
}

static const spry_operator *operator_of(const spry_solver *solver)
{
    return solver->given_operator ? solver->given_operator : solver->own_operator;
}

static const spry_operator *precon_of(const spry_solver *solver)
{
    return solver->given_precon ? solver->given_precon : solver->own_precon;
}

static void warn(spry_context *ctx, char warnings[1024], const char *text)
{
    size_t used = strlen(warnings);
    snprintf(warnings + used, 1024 - used, "%s%s", used ? "\n" : "", text);
    base_log(ctx, SPRY_LOG_WARNING, "%s", text);
}

/*
 * Warns when A is not hermitian, by (A u, v) = (u, A v) for two random vectors: a difference far
 * above rounding proves it; a skew part far below |A| goes unnoticed. Costs two products.
 */
static spry_status probe_symmetry(spry_solver *solver)
{
    spry_context *ctx = solver->ctx;
    const spry_operator *A = operator_of(solver);
    spry_vector *u = NULL, *v = NULL, *Au = NULL, *Av = NULL;
    spry_scalar left, right;
    double norm_Au, norm_Av;
    spry_status status = SPRY_OK;
    spry_vector **const all[] = {&u, &v, &Au, &Av};
    for (int k = 0; k < 4; k++)
        SPRY_GO(ctx, spry_vector_new(ctx, A->type, A->rows, NULL, SPRY_COPY, all[k]));
    for (int64_t i = 0; i < A->rows; i++) {
        value_set(A->type, u->data, i, (spry_scalar){base_uniform(1, (uint64_t)i) - 0.5, 0});
        value_set(A->type, v->data, i, (spry_scalar){base_uniform(2, (uint64_t)i) - 0.5, 0});
    }
    SPRY_GO(ctx, spry_operator_apply(A, u, Au));
    SPRY_GO(ctx, spry_operator_apply(A, v, Av));
    SPRY_GO(ctx, spry_vector_dot(Au, v, &left));
    SPRY_GO(ctx, spry_vector_dot(u, Av, &right));
    SPRY_GO(ctx, spry_vector_norm(Au, &norm_Au));
    SPRY_GO(ctx, spry_vector_norm(Av, &norm_Av));
    bool single = A->type == SPRY_S || A->type == SPRY_C;
    double rounding = 64 * (single ? FLT_EPSILON : DBL_EPSILON) * sqrt((double)A->rows);
    if (hypot(left.re - right.re, left.im - right.im) > rounding * (norm_Au + norm_Av))
        warn(ctx, solver->warnings,
             "the matrix is not symmetric (hermitian): conjugate gradients is not made for it");
done:
    for (int k = 0; k < 4; k++)
        spry_vector_free(*all[k]);
    return status;
}

static spry_status set_up(spry_solver *solver)
{
    spry_context *ctx = solver->ctx;
    double begin = base_seconds();
    spry_status status = SPRY_OK;
    if (solver->ready) {
        solver->setup_seconds = 0;
        return SPRY_OK;
    }
    if (!solver->matrix && !solver->given_operator)
        return SPRY_FAIL(ctx, SPRY_BAD_USAGE, "the solver has no matrix and no operator yet");
    solver->warnings[0] = '\0';
    SPRY_GO(ctx, krylov_find(ctx, solver->options.method, &solver->method));
    if (solver->matrix)
        SPRY_GO(ctx, spry_operator_from_matrix(solver->matrix, &solver->own_operator));
    const spry_operator *A = operator_of(solver);
    if (A->rows != A->cols) {
        status =
            SPRY_FAIL(ctx, SPRY_BAD_USAGE, "%s needs a square matrix, not %" PRId64 " x %" PRId64,
                      solver->method->name, A->rows, A->cols);
        goto done;
    }
    if (solver->given_precon)
        snprintf(solver->precon_name, sizeof solver->precon_name, "%s",
                 solver->given_precon->class->name);
    else
        SPRY_GO(ctx, precon_make(ctx, solver->matrix, solver->options.precon, &solver->own_precon,
                                 solver->precon_name));
    SPRY_GO(ctx, probe_symmetry(solver));
    solver->ready = true;
    solver->setup_seconds = base_seconds() - begin;
done:
    if (status != SPRY_OK)
        forget_setup(solver);
    return status;
}

/* Names the first number of v that is not finite; true when there is one. */
static bool find_nonfinite(const spry_vector *v, const char *what, char detail[160])
{
    for (int64_t i = 0; i < v->n; i++) {
        spry_scalar value = value_get(v->type, v->data, i);
        if (!isfinite(value.re) || !isfinite(value.im)) {
            snprintf(detail, 160, "%s is not finite at row %" PRId64 " (from 0)", what, i);
            return true;
        }
    }
    return false;
}

static spry_status check_vectors(const spry_solver *solver, const spry_vector *b,
                                 const spry_vector *x)
{
    const spry_operator *A = operator_of(solver), *M = precon_of(solver);
    const spry_vector *const vectors[] = {b, x};
    static const char *const names[] = {"b", "x"};
    for (int k = 0; k < 2; k++)
        if (vectors[k]->n != A->rows || vectors[k]->type != A->type)
            return SPRY_FAIL(solver->ctx, SPRY_BAD_USAGE,
                             "%s has %" PRId64 " elements of type %s, the matrix needs %" PRId64
                             " of type %s",
                             names[k], vectors[k]->n, spry_type_name(vectors[k]->type), A->rows,
                             spry_type_name(A->type));
    if (M && (M->rows != A->rows || M->cols != A->cols || M->type != A->type))
        return SPRY_FAIL(solver->ctx, SPRY_BAD_USAGE,
                         "the preconditioner is %" PRId64 " x %" PRId64
                         " of type %s, the matrix %" PRId64 " x %" PRId64 " of type %s",
                         M->rows, M->cols, spry_type_name(M->type), A->rows, A->cols,
                         spry_type_name(A->type));
    return SPRY_OK;
}

/* |b - A x| / |b| of an iterate, by a product of its own. */
static spry_status true_residual(iteration *it, const spry_vector *x, double *relative)
{
    double norm = NAN;
    spry_status status = iteration_residual(it, x, it->work[0]);
    if (status == SPRY_OK)
        status = spry_vector_norm(it->work[0], &norm);
    *relative = norm / it->b_norm;
    return status;
}

/*
 * Runs the method until it ends for good. Where its own residual says converged and the true one
 * does not, the recurrence has drifted: start again from the true residual, as long as that helps.
 */
static spry_status run(iteration *it, const krylov_method *method, char warnings[1024],
                       double *truth)
{
    spry_context *ctx = it->ctx;
    double before = INFINITY;
    spry_status status = SPRY_OK;
    for (;;) {
        SPRY_GO(ctx, method->run(it));
        SPRY_GO(ctx, true_residual(it, it->x, truth));
        if (it->reason != SPRY_REASON_CONVERGED || *truth <= it->options->tol)
            break;
        char text[160];
        if (!(*truth <= 0.5 * before)) {
            it->reason = SPRY_REASON_STAGNATED;
            snprintf(it->detail, sizeof it->detail,
                     "the true residual stays at %.2g: rounding allows no less", *truth);
            break;
        }
        snprintf(text, sizeof text,
                 "at iteration %" PRId64 " the recurrence had drifted from the true residual %.2g: "
                 "restarted from it",
                 it->count, *truth);
        warn(ctx, warnings, text);
        before = *truth;
    }
    /* The kept iterate may be better than the last. */
    if (it->reason != SPRY_REASON_CONVERGED && !(it->saved_residual >= it->residual)) {
        double kept;
        SPRY_GO(ctx, true_residual(it, it->saved, &kept));
        if (!(kept >= *truth)) {
            *truth = kept;
            SPRY_GO(ctx, spry_vector_copy(it->saved, it->x));
        }
    }
done:
    return status;
}

static spry_status start(iteration *it, const krylov_method *method)
{
    spry_context *ctx = it->ctx;
    spry_status status = SPRY_OK;
    it->history_room = 256;
    SPRY_GO(ctx, base_alloc(ctx, it->history_room, sizeof *it->history, &it->history));
    for (int k = 0; k < method->vectors; k++)
        SPRY_GO(ctx, spry_vector_new(ctx, it->A->type, it->A->rows, NULL, SPRY_COPY, &it->work[k]));
    SPRY_GO(ctx, spry_vector_new(ctx, it->A->type, it->A->rows, NULL, SPRY_COPY, &it->saved));
done:
    return status;
}

static void finish(iteration *it)
{
    for (int k = 0; k < MAX_WORK; k++)
        spry_vector_free(it->work[k]);
    spry_vector_free(it->saved);
    base_free(it->ctx, it->history);
}

/* What NaN there was to begin with, as the message of a failure. */
static spry_status refuse_nonfinite(const spry_solver *solver, iteration *it)
{
    spry_context *ctx = solver->ctx;
    it->reason = SPRY_REASON_NONFINITE;
    if (find_nonfinite(it->b, "the right-hand side", it->detail) ||
        find_nonfinite(it->x, "the first guess", it->detail))
        return SPRY_FAIL(ctx, SPRY_BAD_INPUT, "%s", it->detail);
    if (solver->matrix && spry_matrix_check_values(solver->matrix) != SPRY_OK) {
        snprintf(it->detail, sizeof it->detail, "%.150s", spry_message(ctx));
        return SPRY_BAD_INPUT;
    }
    snprintf(it->detail, sizeof it->detail, "|b| or |b - A x| overflows; scale the system");
    return SPRY_FAIL(ctx, SPRY_BAD_INPUT, "%s", it->detail);
}

static spry_status fill_result(const spry_solver *solver, iteration *it, const char *warnings,
                               double truth, double seconds, spry_result *result)
{
    const spry_operator *A = it->A;
    const krylov_method *method = solver->method;
    int64_t vector_bytes = A->rows * (int64_t)spry_type_size(A->type);
    *result = (spry_result){
        .converged = it->reason == SPRY_REASON_CONVERGED,
        .reason = it->reason,
        .iterations = it->count,
        .residual = it->residual,
        .true_residual = truth,
        .initial_residual = it->initial,
        .type = A->type,
        .rows = A->rows,
        .cols = A->cols,
        .nnz = solver->matrix ? solver->matrix->a.nnz : 0,
        .setup_seconds = solver->setup_seconds,
        .solve_seconds = seconds,
        .bytes_per_iteration = method->products * A->bytes +
                               method->preconditionings * (it->M ? it->M->bytes : 0) +
                               method->vector_passes * vector_bytes,
    };
    snprintf(result->method, sizeof result->method, "%s", method->name);
    snprintf(result->precon, sizeof result->precon, "%s", solver->precon_name);
    snprintf(result->format, sizeof result->format, "%s", A->class->name);
    snprintf(result->device, sizeof result->device, "cpu");
    snprintf(result->detail, sizeof result->detail, "%s", it->detail);
    spry_memory(solver->ctx, NULL, &result->memory_bytes);
    double read = solver->ctx->bandwidth.read;
    if (read > 0 && seconds > 0)
        result->bandwidth_fraction =
            (double)result->bytes_per_iteration * (double)it->count / seconds / read;
    if (it->history) {
        result->history = it->history;
        result->history_size = it->count + 1;
        it->history = NULL;
    }
    if (warnings[0]) {
        result->warnings = base_copy_text(solver->ctx, warnings);
        if (!result->warnings)
            return SPRY_NO_MEMORY;
    }
    return SPRY_OK;
}

static spry_status solve(spry_solver *solver, iteration *it, char warnings[1024], double *truth)
{
    spry_context *ctx = solver->ctx;
    spry_status status = SPRY_OK;
    double first;
    SPRY_GO(ctx, start(it, solver->method));
    SPRY_GO(ctx, spry_vector_norm(it->b, &it->b_norm));
    if (it->b_norm == 0) { /* the answer is 0, and no relative residual exists */
        SPRY_GO(ctx, spry_vector_fill(it->x, (spry_scalar){0, 0}));
        it->reason = SPRY_REASON_CONVERGED;
        it->history[0] = *truth = 0;
        goto done;
    }
    SPRY_GO(ctx, true_residual(it, it->x, &first));
    if (!isfinite(it->b_norm) || !isfinite(first)) {
        it->residual = it->initial = *truth = it->history[0] = NAN;
        status = refuse_nonfinite(solver, it);
        goto done;
    }
    SPRY_GO(ctx, run(it, solver->method, warnings, truth));
done:
    return status;
}

spry_status spry_solve(spry_solver *solver, const spry_vector *b, spry_vector *x,
                       spry_result *result)
{
    spry_context *ctx = solver->ctx;
    spry_result ignored = {0};
    iteration it = {.ctx = ctx,
                    .options = &solver->options,
                    .b = b,
                    .x = x,
                    .monitor = solver->monitor,
                    .monitor_data = solver->monitor_data};
    char warnings[1024];
    double truth = NAN;
    spry_status status = SPRY_OK;
    if (result)
        memset(result, 0, sizeof *result);

    SPRY_GO(ctx, set_up(solver));
    SPRY_GO(ctx, check_vectors(solver, b, x));
    memcpy(warnings, solver->warnings, sizeof warnings);
    it.A = operator_of(solver);
    it.M = precon_of(solver);
    double begin = base_seconds();
    status = solve(solver, &it, warnings, &truth);
    spry_status filled = fill_result(solver, &it, warnings, truth, base_seconds() - begin,
                                     result ? result : &ignored);
    if (status == SPRY_OK)
        status = filled;
done:
    finish(&it);
    if (result && status != SPRY_OK)
        result->converged = false;
    if (!result)
        spry_result_clear(ctx, &ignored);
    return status;
}

spry_status spry_quick_solve(spry_context *ctx, const spry_matrix *A, const spry_vector *b,
                             spry_vector *x, const char *options, spry_result *result)
{
    spry_solver *solver = NULL;
    spry_status status = SPRY_OK;
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
