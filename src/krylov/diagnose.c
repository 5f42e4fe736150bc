/*
 * The doctor as callers see it: what src/doctor finds in the matrix, and what a method and a
 * preconditioner that were asked for, or a solve that failed, have to do with that.
 */
#include "choose/precons.h"
#include "doctor/doctor.h"
#include "krylov/advice.h"
#include "krylov/krylov.h"

#include "host/apply.h"

/* What a solve was made of; "" where it is not known. */
typedef struct attempt {
    char method[SPRY_OPTION_TEXT_SIZE], precon[SPRY_OPTION_TEXT_SIZE];
    const spry_result *result; /* NULL: none */
} attempt;

static bool is_word(const char *text)
{
    return *text && strcmp(text, "auto") != 0;
}

/* --- what the method needs -----------------------------------------------------------------------
 */

static void report_unsuited(doctor *d, const char *next, const char *text)
{
    spry_finding *f = doctor_add(d, DOCTOR_UNSUITED, SPRY_SEVERITY_WARNING, "%s", text);
    doctor_solve(d, f, next);
}

static const char *method_for(const doctor *d)
{
    return !d->square                    ? "--method lsmr"
           : d->hermitian && d->definite ? "--method cg"
           : d->hermitian                ? "--method minres"
                                         : "--method gmres";
}

static spry_status judge_method(doctor *d, const char *method, const spry_entry *entry)
{
    const char *needs = entry->needs ? entry->needs : "";
    bool square_only = false;
    char text[320] = "";
    const spry_status status =
        d->square ? SPRY_STATUS_OK : krylov_square_only(d->ctx, entry->name, &square_only);
    if (square_only)
        snprintf(text, sizeof text, "%.64s is for square matrices, and this one is not", method);
    else if (strstr(needs, "hermitian") && !d->hermitian)
        snprintf(text, sizeof text,
                 "%.64s is made for symmetric (hermitian) matrices, and this one is not", method);
    else if (strstr(needs, "symmetric") && !d->symmetric)
        snprintf(text, sizeof text, "%.64s is made for symmetric matrices, and this one is not",
                 method);
    else if (strstr(needs, "definite") && !d->definite)
        snprintf(text, sizeof text,
                 "%.64s is made for positive definite matrices, and this one is indefinite",
                 method);
    if (*text)
        report_unsuited(d, method_for(d), text);
    return status;
}

/* --- what the preconditioner does ----------------------------------------------------------------
 */

/* |z - A M z| / |z| for a random z: 0 for an exact inverse, 1 for M = 0. */
static spry_status distance(const doctor *d, const spry_operator *M, double *size)
{
    spry_context *ctx = d->ctx;
    spry_operator *A = NULL;
    spry_vector *z = NULL, *y = NULL, *r = NULL;
    double all = 1;
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(ctx, host_csr_operator(d->A, &A));
    SPRY_GO(ctx, spry_vector_new(ctx, A->type, A->rows, NULL, SPRY_OWN_TAKE, &z));
    SPRY_GO(ctx, vector_random(z, 3));
    SPRY_GO(ctx, spry_vector_like(z, A->rows, &y));
    SPRY_GO(ctx, spry_vector_like(z, A->rows, &r));
    SPRY_GO(ctx, spry_operator_apply(M, z, y));
    SPRY_GO(ctx, spry_operator_apply(A, y, r));
    SPRY_GO(ctx, vector_xpay(z, (spry_scalar){-1, 0}, r));
    SPRY_GO(ctx, spry_vector_norm(z, &all));
    SPRY_GO(ctx, spry_vector_norm(r, size));
    *size /= all;
done:
    spry_operator_free(A);
    spry_vector_free(z);
    spry_vector_free(y);
    spry_vector_free(r);
    return status;
}

/* Whether M is what the method needs. */
static spry_status judge_pair(doctor *d, const char *precon, const spry_operator *M,
                              const spry_entry *method)
{
    precon_symmetry probe = {0};
    char text[512] = "";
    const char *next = "--precon ic";
    if (M->varies && !method->flexible) {
        snprintf(
            text, sizeof text,
            "%.64s is another preconditioner in each iteration, and %.64s is not made for that",
            precon, method->name);
        report_unsuited(d, "--method fgmres", text);
    }
    if (M->varies || !d->hermitian || !method->needs || !strstr(method->needs, "hermitian"))
        return SPRY_STATUS_OK;
    const spry_status status = precon_probe(M, &probe);
    if (status != SPRY_STATUS_OK || (probe.hermitian && probe.positive))
        return status;
    if (!probe.hermitian) {
        snprintf(text, sizeof text,
                 "%.64s needs a symmetric (hermitian) preconditioner, and %.64s is none",
                 method->name, precon);
    } else {
        snprintf(
            text, sizeof text,
            "%.64s needs a positive definite preconditioner, and %.64s is none for this matrix",
            method->name, precon);
        next = "--precon jacobi";
    }
    report_unsuited(d, next, text);
    return status;
}

/* `method` is NULL where none was named. */
static spry_status judge_precon(doctor *d, const char *precon, const spry_entry *method)
{
    const double unstable = 1e3; /* far worse than no preconditioner at all */
    spry_context *ctx = d->ctx;
    spry_operator *M = NULL;
    char name[32], text[512] = "";
    double size = 0;
    const base_kept before = base_try(ctx);
    spry_status status = precon_make_from_text(ctx, d->A, NULL, precon, &M, name);
    if (status == SPRY_STATUS_BAD_INPUT || status == SPRY_STATUS_UNSUPPORTED) {
        snprintf(text, sizeof text, "the preconditioner cannot be made: %.300s", spry_message(ctx));
        report_unsuited(d, method_for(d), text);
        base_forgive(ctx, &before);
        return SPRY_STATUS_OK;
    }
    if (status != SPRY_STATUS_OK || !M)
        return status;
    SPRY_GO(ctx, distance(d, M, &size));
    if (!(size <= unstable)) {
        char much[48] = "leaves the range of the type";
        if (isfinite(size))
            snprintf(much, sizeof much, "is %.2g |z|", size);
        snprintf(text, sizeof text,
                 "preconditioner %.64s is unstable for this matrix: |z - A M z| %s for a random z, "
                 "where M = 0 would give |z|",
                 precon, much);
        report_unsuited(d, "--method direct", text);
    }
    if (method)
        SPRY_GO(ctx, judge_pair(d, precon, M, method));
done:
    spry_operator_free(M);
    return status;
}

/* Making a preconditioner takes as long as a set-up does: only where A is small for the time. */
static spry_status judge_attempt(doctor *d, const attempt *t)
{
    const double entries_a_second = 2e6;
    spry_entry method = SPRY_ENTRY_INIT, precon = SPRY_ENTRY_INIT;
    const bool known = is_word(t->method) && spry_list_find(SPRY_LIST_METHODS, t->method, &method);
    spry_status status = known ? judge_method(d, t->method, &method) : SPRY_STATUS_OK;
    /* Factors that a solve had were made, as well as can be. */
    const bool made = t->result && precon_is_exact(t->precon);
    if (status != SPRY_STATUS_OK || !is_word(t->precon) || strcmp(t->precon, "none") == 0 || made ||
        !d->square || !d->W || !spry_list_find(SPRY_LIST_PRECONS, t->precon, &precon))
        return status;
    if ((double)d->A->a.nnz > entries_a_second * d->options->seconds || doctor_late(d, 0.9)) {
        doctor_skip(d, "the preconditioner");
        return SPRY_STATUS_OK;
    }
    spry_context *ctx = d->ctx;
    const spry_log_fn log = ctx->log;
    ctx->log = NULL;
    status = judge_precon(d, t->precon, known ? &method : NULL);
    ctx->log = log;
    return status;
}

/* --- how a solve ended ---------------------------------------------------------------------------
 */

/* Whether the verdict was that x cannot be stored: nothing else is to blame then. And whether it
 * was squares that left the range, which factors have none of. */
static bool left_range(const spry_result *r)
{
    return strstr(r->detail, "range of the type") != NULL;
}
static bool squares_left_range(const spry_result *r)
{
    return left_range(r) && strstr(r->detail, "squares") != NULL;
}

static void judge_result(doctor *d, const spry_result *r)
{
    const double parted = 10;
    if (!r || r->converged)
        return;
    if (left_range(r)) {
        spry_finding *f = doctor_add(d, DOCTOR_SCALING, SPRY_SEVERITY_WARNING, "%.400s", r->detail);
        if (squares_left_range(r) && d->square)
            doctor_solve(d, f, "--method direct");
        else if (type_is_single(d->A->a.type))
            doctor_solve(d, f, spry_type_is_complex(d->A->a.type) ? "--type z" : "--type d");
        return;
    }
    if (r->residual > 0 && r->true_residual > parted * r->residual) {
        spry_finding *f = doctor_add(
            d, DOCTOR_DRIFT, SPRY_SEVERITY_WARNING,
            "%.31s ended with a residual of %.2g by its own recurrence, but the true one is %.2g",
            r->method, r->residual, r->true_residual);
        doctor_figure(f, "residual", r->residual);
        doctor_figure(f, "true_residual", r->true_residual);
        doctor_solve(d, f, "--method direct");
    }
}

/* What a solve has said itself is repeated. */
static void judge_direct(doctor *d, const spry_result *r)
{
    if (!r || r->converged || left_range(r) || strcmp(r->method, "direct") != 0)
        return;
    if (r->reason == SPRY_REASON_SINGULAR && !doctor_has(d, DOCTOR_SINGULAR)) {
        spry_finding *f = doctor_add(d, DOCTOR_SINGULAR, SPRY_SEVERITY_ERROR, "%.400s", r->detail);
        doctor_solve(d, f, "--method lsmr --precon direct:regular=yes");
    }
    if (r->reason == SPRY_REASON_STAGNATED &&
        !doctor_has(d, DOCTOR_ROUNDING)) { /* which exact factors do for one reason alone */
        spry_finding *f =
            doctor_add(d, DOCTOR_ROUNDING, SPRY_SEVERITY_WARNING,
                       "exact factors with refinement end at %.2g, which is what rounding of x "
                       "makes: nothing else comes lower in this precision",
                       r->true_residual);
        char tol[32];
        snprintf(tol, sizeof tol, "--tol %.0e", 10 * r->true_residual);
        doctor_figure(f, "true_residual", r->true_residual);
        if (r->true_residual < 0.1)
            doctor_solve(d, f, tol);
    }
}

static void judge_rest(doctor *d, const spry_result *r)
{
    bool explained = false;
    for (int k = 0; k < d->count; k++)
        explained = explained || d->findings[k].severity > SPRY_SEVERITY_NOTE;
    if (*d->unchecked) {
        spry_finding *f =
            doctor_add(d, DOCTOR_UNCHECKED, SPRY_SEVERITY_NOTE,
                       "within %g s there was no time for: %s", d->options->seconds, d->unchecked);
        doctor_next(f, "spry doctor %s%s%s --seconds %g", d->options->matrix,
                    *d->options->rhs ? " " : "", d->options->rhs,
                    d->options->seconds > 0 ? 10 * d->options->seconds : 10);
    }
    if (explained || !r || r->converged || r->reason == SPRY_REASON_STOPPED ||
        r->reason == SPRY_REASON_ACCEPTED ||
        r->reason == SPRY_REASON_FAILED) /* which is an error, with a message of its own */
        return;
    spry_finding *f =
        doctor_add(d, DOCTOR_UNEXPLAINED, SPRY_SEVERITY_NOTE,
                   "%.31s with preconditioner %.31s ended at %.2g (%s), and nothing "
                   "was found that stands in the way of a solution",
                   r->method, r->precon, r->true_residual, spry_reason_name(r->reason));
    if (d->condition > 0 && isfinite(d->condition)) {
        const size_t used = strlen(f->text);
        snprintf(f->text + used, sizeof f->text - used, "; the condition is %.2g or more",
                 d->condition);
        doctor_figure(f, "condition", d->condition);
    }
    doctor_figure(f, "true_residual", r->true_residual);
    doctor_solve(d, f, "--method direct");
}

/* --- what was tried ------------------------------------------------------------------------------
 */

/* Whether a solve tried the method that a command names: "spry solve A.mtx --method minres". */
static bool was_tried(const spry_result *r, const char *command)
{
    const char *const option = "--method ", *at = strstr(command, option);
    char method[32];
    if (!at || strstr(at, "--precon"))
        return false;
    at += strlen(option);
    const size_t length = strcspn(at, " :");
    snprintf(method, sizeof method, "%.*s", (int)(length < 24 ? length : 24), at);
    if (strcmp(r->method, method) == 0)
        return true;
    snprintf(method + strlen(method), sizeof method - strlen(method), " with");
    return r->tried && strstr(r->tried, method);
}

/* Takes back advice that was followed, or would suffer from the same squares. What is known to help
 * stays: factors, and for a singular system the shortest way to the best x. */
static void spare_tried(doctor *d, const spry_result *r)
{
    const char *const best = "--method lsmr --precon direct:regular=yes";
    const char *const factors = "--method direct";
    const bool singular = d->square && doctor_has(d, DOCTOR_SINGULAR);
    for (int k = 0; k < d->count && r && !r->converged; k++) {
        spry_finding *f = &d->findings[k];
        const size_t used = strlen(f->text);
        const bool squares = squares_left_range(r) && strstr(f->next, "--method ");
        if (!squares && !was_tried(r, f->next))
            continue;
        f->next[0] = '\0';
        if (singular)
            doctor_solve(d, f, best);
        else if (d->square && !was_tried(r, factors))
            doctor_solve(d, f, factors);
        else
            snprintf(f->text + used, sizeof f->text - used,
                     "; what helps in such cases was tried, and nothing else is known to");
    }
}

/* --- the call ------------------------------------------------------------------------------------
 */

static const base_sized sized = BASE_SIZED(spry_diagnosis, complete);

/* The worst first, else in the order of the list of kinds, which is that of importance. */
static int by_severity(const void *a, const void *b)
{
    const spry_finding *p = a, *q = b;
    return (int)q->severity - (int)p->severity;
}

/* Findings are few: an insertion sort, which is stable. */
static void sort(spry_finding *list, int count)
{
    for (int k = 1; k < count; k++)
        for (int j = k; j > 0 && by_severity(&list[j - 1], &list[j]) > 0; j--) {
            const spry_finding f = list[j];
            list[j] = list[j - 1];
            list[j - 1] = f;
        }
}

static void give(doctor *d, spry_diagnosis *made)
{
    *made = (spry_diagnosis){.size = sizeof *made,
                             .findings = d->findings,
                             .count = d->count,
                             .finding_size = sizeof *d->findings,
                             .condition = d->condition,
                             .seconds = base_seconds() - d->begin,
                             .complete = !*d->unchecked};
    d->findings = NULL;
    sort(made->findings, d->count);
    for (int k = 0; k < d->count; k++) {
        made->errors += made->findings[k].severity == SPRY_SEVERITY_ERROR;
        made->warnings += made->findings[k].severity == SPRY_SEVERITY_WARNING;
    }
}

static attempt attempt_of(const doctor_options *o, const spry_result *result)
{
    attempt t = {.result = result};
    snprintf(t.method, sizeof t.method, "%s", is_word(o->method) ? o->method : "");
    snprintf(t.precon, sizeof t.precon, "%s", is_word(o->precon) ? o->precon : "");
    if (result && !*t.method)
        snprintf(t.method, sizeof t.method, "%s", result->method);
    if (result && !*t.precon)
        snprintf(t.precon, sizeof t.precon, "%s", result->precon);
    return t;
}

spry_status spry_diagnose(const spry_matrix *A, const spry_vector *b, const char *options,
                          const spry_result *result, spry_diagnosis *diagnosis)
{
    SPRY_NEED(CTX_OF(A), A, diagnosis);
    const int64_t large = 100000;
    spry_context *ctx = A->ctx;
    spry_diagnosis made = {0};
    spry_result own = {0};
    doctor_options o;
    doctor d = {.ctx = ctx};
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(ctx, base_blank(ctx, diagnosis, &sized));
    SPRY_GO(ctx, options_take(ctx, diagnose_option_list(), &o, options));
    if (result)
        SPRY_GO(ctx, base_take(ctx, result, &own, &krylov_result_sized));
    const attempt t = attempt_of(&o, result ? &own : NULL);
    SPRY_GO(ctx, doctor_open(&d, A, b, &o));
    /* A solve that ended so had a doctor of its own, which need not be asked again where that takes
     * long. */
    d.known = result && own.reason == SPRY_REASON_SINGULAR && A->a.nnz > large;
    if (result && own.rows == A->a.rows && isfinite(own.true_residual))
        d.reached = own.true_residual;
    status = doctor_examine(&d);
    if (status == SPRY_STATUS_OK)
        status = judge_attempt(&d, &t);
    if (status == SPRY_STATUS_OK) {
        judge_result(&d, t.result);
        judge_direct(&d, t.result);
        judge_rest(&d, t.result);
        spare_tried(&d, t.result);
        if (t.result && !own.converged && own.reason != SPRY_REASON_STOPPED && b && !A->distributed)
            status = advice_try(&d, b, t.result);
    }
    if (status == SPRY_STATUS_OK || status == SPRY_STATUS_INTERRUPTED) {
        give(&d, &made);
        base_give(diagnosis, &made, &sized);
    }
done:
    doctor_close(&d);
    return status;
}

const spry_finding *spry_finding_at(const spry_diagnosis *diagnosis, int64_t index)
{
    if (!diagnosis || index < 0 || index >= diagnosis->count)
        return NULL;
    return (const spry_finding *)(const void *)((const char *)diagnosis->findings +
                                                (size_t)index * diagnosis->finding_size);
}

void spry_diagnosis_clear(spry_context *ctx, spry_diagnosis *diagnosis)
{
    if (diagnosis && base_size(diagnosis, &sized) > 0) {
        base_free(ctx, diagnosis->findings);
        base_blank(ctx, diagnosis, &sized);
    }
}
