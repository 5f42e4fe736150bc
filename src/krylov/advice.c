/* The next commands of findings, tried before they are given. */
#include "krylov/advice.h"

#include "krylov/solver.h"

#include <math.h>

enum { ARGUMENTS = 128, TRIALS = 8 };

/* What came of a command's arguments. */
typedef struct trial {
    char arguments[ARGUMENTS];
    bool known, helps; /* not known: it was not tried, or not to its end */
    double residual;
} trial;

/* The solve's own part of a command that doctor_solve() made; NULL: it is another command. */
static const char *arguments_of(const doctor *d, const spry_finding *f)
{
    const doctor_options *o = d->options;
    char solve[2 * SPRY_OPTION_TEXT_SIZE + 32];
    snprintf(solve, sizeof solve, "spry solve %s%s%s --", o->matrix, *o->rhs ? " " : "", o->rhs);
    const size_t length = strlen(solve); /* quoted names and all */
    return strncmp(f->next, solve, length) == 0 ? f->next + length - strlen("--") : NULL;
}

/* "--method lsmr --precon direct:regular=yes" as options of a solver, where factors may take so
 * long; false: there is something else among them. */
static bool to_options(const char *arguments, double seconds, char *options, size_t size)
{
    static const char *const names[] = {"method", "precon", "nullspace", NULL};
    size_t used = 0;
    bool precon = false, direct = false;
    for (const char *p = arguments; *p;) {
        char name[32], value[64];
        int length = 0, k = 0;
        if (sscanf(p, " --%31[a-z-] %63s%n", name, value, &length) != 2)
            return false;
        while (names[k] && strcmp(names[k], name) != 0)
            k++;
        if (!names[k])
            return false;
        precon = precon || k == 1;
        direct = direct || (k == 0 && strcmp(value, "direct") == 0);
        used += (size_t)snprintf(options + used, size - used, "%s=%s", name, value);
        if (k == 1 && strncmp(value, "direct", strlen("direct")) == 0)
            used += (size_t)snprintf(options + used, size - used, "%cmost=%.3g",
                                     strchr(value, ':') ? ',' : ':', seconds);
        used += (size_t)snprintf(options + used, size - used, " ");
        p += length;
    }
    if (direct && !precon)
        snprintf(options + used, size - used, "precon=direct:most=%.3g", seconds);
    return true;
}

static bool in_time(void *until, int64_t step, double residual)
{
    (void)step, (void)residual;
    return base_seconds() < *(const double *)until;
}

static spry_status solve(const doctor *d, const spry_vector *b, const char *options, double tol,
                         double until, spry_result *result)
{
    spry_context *ctx = d->ctx;
    spry_solver *solver = NULL;
    spry_vector *x = NULL;
    char first[64];
    spry_status status = SPRY_STATUS_OK;
    snprintf(first, sizeof first, "device=cpu tol=%.17g", tol);
    SPRY_GO(ctx, krylov_nested.open(ctx, d->given, first, options, &solver));
    spry_solver_set_watch(solver, in_time, &until);
    SPRY_GO(ctx, spry_vector_zeros(ctx, d->given, &x));
    SPRY_GO(ctx, krylov_nested.solve(solver, b, x, result));
done:
    spry_vector_free(x);
    spry_solver_free(solver);
    return status;
}

/* A command that cannot be followed is no failure of the doctor's. */
static spry_status try_one(const doctor *d, const spry_vector *b, const spry_result *failed,
                           double until, trial *t)
{
    const double much = 0.5; /* of the residual */
    spry_context *ctx = d->ctx;
    const spry_log_fn log = ctx->log;
    const base_kept before = base_try(ctx);
    spry_result result = SPRY_RESULT_INIT;
    char options[2 * ARGUMENTS];
    const double left = until - base_seconds();
    if (!(left > 0) || !to_options(t->arguments, left, options, sizeof options))
        return SPRY_STATUS_OK;
    ctx->log = NULL;
    spry_status status = solve(d, b, options, failed->tolerance, until, &result);
    ctx->log = log;
    if (status == SPRY_STATUS_OK && result.reason == SPRY_REASON_STOPPED && base_seconds() < until)
        status = SPRY_FAIL(ctx, SPRY_STATUS_INTERRUPTED, "the doctor was interrupted");
    if (status == SPRY_STATUS_OK) {
        t->residual = result.true_residual;
        t->helps = result.converged || t->residual <= much * failed->true_residual;
        t->known = t->helps || result.reason != SPRY_REASON_STOPPED;
    } else if (status != SPRY_STATUS_INTERRUPTED) {
        base_forgive(ctx, &before);
        status = SPRY_STATUS_OK;
    }
    spry_result_clear(ctx, &result);
    return status;
}

static void judge(spry_finding *f, const trial *t)
{
    const size_t used = strlen(f->text);
    if (t->known && t->helps)
        doctor_figure(f, "next_residual", t->residual);
    if (!t->known || t->helps)
        return;
    f->next[0] = '\0';
    snprintf(f->text + used, sizeof f->text - used, "; %s was tried, and does not help",
             t->arguments);
}

spry_status advice_try(doctor *d, const spry_vector *b, const spry_result *failed)
{
    const double spent = failed->choose_seconds + failed->setup_seconds + failed->solve_seconds;
    const double until = base_seconds() + fmin(spent, d->options->seconds);
    trial trials[TRIALS];
    int count = 0;
    for (int k = 0; k < d->count; k++) {
        const char *arguments = arguments_of(d, &d->findings[k]);
        int at = 0;
        if (!arguments)
            continue;
        while (at < count && strcmp(trials[at].arguments, arguments) != 0)
            at++;
        if (at == TRIALS)
            continue;
        if (at == count) {
            trials[count++] = (trial){.residual = NAN};
            snprintf(trials[at].arguments, ARGUMENTS, "%s", arguments);
            const spry_status status = try_one(d, b, failed, until, &trials[at]);
            if (status != SPRY_STATUS_OK)
                return status;
        }
        judge(&d->findings[k], &trials[at]);
    }
    return SPRY_STATUS_OK;
}
