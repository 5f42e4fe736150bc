/* The preconditioners there are, and what all of them have in common. */
#include "precon/precon.h"

#include "device/linalg/operator.h"
#include "device/linalg/step.h"
#include "ranks/distributed.h"

static const precon_kind kind_none = {.name = "none", .summary = "no preconditioner"};
/* made by the solver itself, which is named here so that it can be found */
static const precon_kind kind_inner = {
    .name = "inner", .summary = "a solver in the next lower precision (options of a solver)"};

#define KIND_ROW(name) &precon_kind_##name,
static const precon_kind *const kinds[] = {&kind_none, PRECON_KINDS(KIND_ROW) & kind_inner};
enum { KINDS = sizeof kinds / sizeof *kinds };

/* The kind with a name of so many characters; NULL when there is none. */
static const precon_kind *find_kind(const char *name, size_t length)
{
    for (int i = 0; i < KINDS; i++) {
        if (strlen(kinds[i]->name) == length && strncmp(kinds[i]->name, name, length) == 0)
            return kinds[i];
    }
    return NULL;
}

spry_option_list precon_options(const char *name)
{
    const precon_kind *kind = find_kind(name, strlen(name));
    return kind ? kind->options : (spry_option_list){0};
}

bool precon_on_devices(const char *name)
{
    const precon_kind *kind = find_kind(name, strlen(name));
    return kind && (kind->on_devices || kind == &kind_none);
}

bool precon_entry_at(int index, spry_entry *entry)
{
    if (index >= KINDS)
        return false;
    entry->name = kinds[index]->name;
    entry->summary = kinds[index]->summary;
    entry->options = kinds[index]->options;
    entry->on_devices = precon_on_devices(entry->name);
    return true;
}

spry_status precon_go_on(spry_context *ctx, const char *what)
{
    return spry_context_interrupted(ctx, false)
               ? SPRY_FAIL(ctx, SPRY_STATUS_INTERRUPTED, "%s: interrupted", what)
               : SPRY_STATUS_OK;
}

static spry_status unknown_kind(spry_context *ctx, const char *spec)
{
    char names[512] = "auto", name[SPRY_OPTION_TEXT_SIZE];
    snprintf(name, sizeof name, "%.*s", (int)strcspn(spec, ":"), spec);
    for (int i = 0; i < KINDS; i++)
        base_add_word(names, sizeof names, kinds[i]->name);
    return base_unknown_word(ctx, "precon", name, names);
}

/* The kind's options from the text after the colon, if any. */
static spry_status read_options(spry_context *ctx, const precon_kind *kind, const char *text,
                                void *fields)
{
    if (text && kind->options.count == 0)
        return SPRY_FAIL(ctx, SPRY_STATUS_BAD_USAGE,
                         "precon %s has no options, but was given %.64s", kind->name, text);
    spry_status status = spry_options_default(ctx, kind->options, fields);
    if (status == SPRY_STATUS_OK)
        status = spry_options_parse(ctx, kind->options, fields, text);
    return status == SPRY_STATUS_OK ? status : SPRY_CAUSE(ctx, status, "precon %s", kind->name);
}

/* A spec as a kind and its options. */
typedef struct request {
    const precon_kind *kind;
    _Alignas(16) char fields[PRECON_FIELDS_SIZE];
} request;

static spry_status read_spec(spry_context *ctx, const char *spec, request *q)
{
    const char *colon = strchr(spec, ':');
    memset(q->fields, 0, sizeof q->fields);
    q->kind = find_kind(spec, strcspn(spec, ":"));
    return q->kind ? read_options(ctx, q->kind, colon ? colon + 1 : NULL, q->fields)
                   : unknown_kind(ctx, spec);
}

static int precision_of(const request *q)
{
    return q->kind->options.count > 0 ? ((const precon_common *)(const void *)q->fields)->precision
                                      : PRECON_SAME;
}

/* --- making --------------------------------------------------------------------------------------
 */

/* Fails where a kind can make nothing of A. */
static spry_status check_matrix(const spry_matrix *A, const precon_kind *kind)
{
    if (A->a.rows != A->a.cols)
        return SPRY_FAIL(A->ctx, SPRY_STATUS_BAD_USAGE,
                         "precon %s needs a square matrix, not %" PRId64 " x %" PRId64
                         "; method=lsmr solves others",
                         kind->name, A->a.rows, A->a.cols);
    return matrix_check_finite(A, "precon", kind->name);
}

static spry_type lower_type(spry_type type)
{
    static const spry_type lower[] = {[SPRY_TYPE_S] = SPRY_TYPE_S,
                                      [SPRY_TYPE_D] = SPRY_TYPE_S,
                                      [SPRY_TYPE_C] = SPRY_TYPE_C,
                                      [SPRY_TYPE_Z] = SPRY_TYPE_C};
    return lower[type];
}

/* Fails where a kind has no such precision for a type. */
static spry_status check_precision(spry_context *ctx, const request *q, spry_type type)
{
    if (precision_of(q) != PRECON_HALF)
        return SPRY_STATUS_OK;
    if (lower_type(type) == type)
        return SPRY_FAIL(ctx, SPRY_STATUS_UNSUPPORTED,
                         "precision=half is for matrices of types d and z, not %s",
                         spry_type_name(type));
    return q->kind->half
               ? SPRY_STATUS_OK
               : SPRY_FAIL(ctx, SPRY_STATUS_UNSUPPORTED,
                           "precon %s has no half precision; take precision=single", q->kind->name);
}

/* Makes it in the precision that is asked for, from a matrix that was found to be fit. */
static spry_status make_in(const precon_job *job, const request *q, spry_operator **M)
{
    spry_context *ctx = job->A->ctx;
    const int precision = precision_of(q);
    const spry_type type = job->A->a.type, lower = lower_type(type);
    precon_job here = *job;
    spry_matrix *cast = NULL;
    spry_operator *inside = NULL;
    spry_status status = SPRY_STATUS_OK;
    here.options = q->fields;
    here.values = precision == PRECON_HALF ? "f16" : "own";
    SPRY_GO(ctx, check_precision(ctx, q, type));
    if (precision != PRECON_SINGLE || lower == type)
        return q->kind->make(&here, M);
    SPRY_GO(ctx, spry_matrix_cast(job->A, lower, &cast));
    SPRY_GO(ctx, check_matrix(cast, q->kind)); /* what was finite need not be now */
    here.A = cast;
    here.op = NULL;
    status = q->kind->make(&here, &inside);
    if (status == SPRY_STATUS_BAD_INPUT) /* which speaks of the rounded matrix */
        SPRY_CAUSE(ctx, status, "A rounded to single precision (precision=same keeps its own)");
    SPRY_GO(ctx, status);
    inside->kept = inside->kept ? inside->kept : cast;
    cast = inside->kept == cast ? NULL : cast;
    spry_operator *handed = inside;
    inside = NULL;
    SPRY_GO(ctx, precon_lower(type, handed, M));
done:
    spry_operator_free(inside);
    spry_matrix_free(cast);
    return status;
}

bool precon_may_change(spry_status status)
{
    return status == SPRY_STATUS_BAD_INPUT || status == SPRY_STATUS_UNSUPPORTED ||
           status == SPRY_STATUS_NO_MEMORY;
}

/* Goes on to the next best where one that nobody named cannot be made. */
static bool goes_on(spry_context *ctx, spry_status status)
{
    if (!precon_may_change(status))
        return false;
    base_log(ctx, SPRY_LOG_INFO, "precon auto goes on: %s", spry_message(ctx));
    return true;
}

/* What `spec` names, for a matrix that is fit; with its kind's name. */
static spry_status make_named(const precon_job *job, const char *spec, spry_operator **M,
                              char name[32])
{
    spry_context *ctx = job->A->ctx;
    request q;
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(ctx, read_spec(ctx, spec, &q));
    snprintf(name, 32, "%s", q.kind->name);
    if (q.kind == &kind_inner)
        status =
            SPRY_FAIL(ctx, SPRY_STATUS_UNSUPPORTED, "precon inner cannot be a part of another one");
    else if (q.kind->make)
        status = make_in(job, &q, M);
done:
    return status;
}

/* The first that can be made of those that suit A. */
static spry_status make_auto(const precon_job *job, spry_operator **M, char name[32])
{
    spry_context *ctx = job->A->ctx;
    precon_choice choice;
    char before[MESSAGE_SIZE];
    memcpy(before, ctx->message, sizeof before);
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(ctx, precon_choose(ctx, job->A, 1, job->device != NULL, &choice));
    for (int k = 0; k < choice.count; k++) {
        status = make_named(job, choice.list[k].spec, M, name);
        if (status == SPRY_STATUS_OK || !goes_on(ctx, status))
            break;
        memcpy(ctx->message, before, sizeof before); /* nothing failed for the caller */
    }
done:
    return status;
}

void precon_foresee(spry_device *d, const spry_matrix *A, const char *spec)
{
    char before[MESSAGE_SIZE];
    request q;
    if (!device_foresees(d) || strcmp(spec, "auto") == 0)
        return;
    memcpy(before, d->ctx->message, sizeof before);
    if (read_spec(d->ctx, spec, &q) == SPRY_STATUS_OK && q.kind->foresee) {
        const bool lower = precision_of(&q) == PRECON_SINGLE;
        const precon_job job = {.A = A,
                                .device = d,
                                .type = lower ? lower_type(A->a.type) : A->a.type,
                                .options = q.fields,
                                .values = precision_of(&q) == PRECON_HALF ? "f16" : "own"};
        q.kind->foresee(&job);
        if (job.type != A->a.type)
            step_recast_foresee(d);
    }
    memcpy(d->ctx->message, before, sizeof before); /* nothing failed for the caller */
}

/* What goes down to the one within. */
static spry_status go_deeper(const precon_job *outer, spry_context *ctx, precon_job *inner)
{
    *inner = (precon_job){.device = outer->device, .depth = outer->depth + 1};
    return inner->depth > PRECON_MOST_DEPTH
               ? SPRY_FAIL(ctx, SPRY_STATUS_BAD_USAGE,
                           "preconditioners within preconditioners go %d deep at most",
                           PRECON_MOST_DEPTH)
               : SPRY_STATUS_OK;
}

spry_status precon_make_there(const precon_job *outer, const device_matrix *A, const char *spec,
                              bool *made, spry_operator **M)
{
    spry_context *ctx = outer->device->ctx;
    precon_job job;
    request q;
    spry_status status = SPRY_STATUS_OK;
    *made = false;
    *M = NULL;
    SPRY_GO(ctx, go_deeper(outer, ctx, &job));
    if (strcmp(spec, "auto") == 0)
        return SPRY_STATUS_OK;
    SPRY_GO(ctx, read_spec(ctx, spec, &q));
    job.options = q.fields;
    job.values = "own";
    if (q.kind->make_there && precision_of(&q) == PRECON_SAME)
        SPRY_GO(ctx, q.kind->make_there(&job, A, made, M));
done:
    return status;
}

spry_status precon_make_inner(const precon_job *outer, const spry_matrix *A, const char *spec,
                              spry_operator **M)
{
    precon_job job;
    char name[32];
    *M = NULL;
    const spry_status status = go_deeper(outer, A->ctx, &job);
    job.A = A;
    if (status != SPRY_STATUS_OK)
        return status;
    return strcmp(spec, "auto") == 0 ? make_auto(&job, M, name) : make_named(&job, spec, M, name);
}

/* What a spec names, and whether that works across ranks. */
static spry_status find_across(const spry_matrix *A, const char *spec, request *q, bool *across)
{
    spry_context *ctx = A->ctx;
    spry_status status = SPRY_STATUS_OK;
    *across = false;
    if (strcmp(spec, "auto") == 0)
        return SPRY_STATUS_OK;
    SPRY_GO(ctx, read_spec(ctx, spec, q));
    if (!q->kind->make_ranks)
        return SPRY_STATUS_OK;
    if (precision_of(q) != PRECON_SAME)
        return SPRY_FAIL(ctx, SPRY_STATUS_UNSUPPORTED,
                         "precon %s across ranks is of the precision of the matrix; take it "
                         "without precision=, or block-jacobi:inner=[%s]",
                         q->kind->name, spec);
    SPRY_GO(ctx, matrix_check_finite(A, "precon", q->kind->name));
    *across = true;
done:
    return status;
}

spry_status precon_begin_across(const spry_matrix *A, const char *spec, bool *across,
                                precon_forecast *forecast, char name[32])
{
    request q;
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(A->ctx, find_across(A, spec, &q, across));
    if (!*across)
        return SPRY_STATUS_OK;
    const precon_job job = {.A = A, .options = q.fields, .values = "own", .near = A};
    snprintf(name, 32, "%s", q.kind->name);
    *forecast = precon_rule(A, q.kind->name);
    if (q.kind->check)
        SPRY_GO(A->ctx, q.kind->check(&job));
done:
    return status;
}

spry_status precon_make_across(const spry_matrix *A, const char *spec, spry_device *device,
                               bool *made, spry_operator **M, char name[32])
{
    spry_context *ctx = A->ctx;
    request q;
    spry_status status = SPRY_STATUS_OK;
    *M = NULL;
    SPRY_GO(ctx, find_across(A, spec, &q, made));
    if (!*made)
        return SPRY_STATUS_OK;
    snprintf(name, 32, "%s", q.kind->name);
    const precon_job job = {.A = A,
                            .device = q.kind->ranks_on_devices ? device : NULL,
                            .options = q.fields,
                            .values = "own",
                            .near = A};
    SPRY_GO(ctx, q.kind->make_ranks(&job, M));
    (*M)->rows_part = (*M)->cols_part = dist_cols_here(A);
done:
    return status;
}

/* The matrix as kinds want it, what `spec` names for it, and the matrix kept where it is another.
 */
static spry_status make_from(const precon_job *given, const precon_kind *kind, const char *spec,
                             spry_operator **M, char name[32])
{
    const spry_matrix *A = given->A, *csr = NULL;
    spry_context *ctx = A->ctx;
    spry_matrix *owned = NULL;
    const bool tells = kind && kind->sound;
    spry_status status = SPRY_STATUS_OK;
    if (kind)
        SPRY_GO(ctx, check_matrix(A, kind));
    SPRY_GO(ctx, matrix_as_sorted_csr(A, &csr, &owned));
    if (!tells)
        SPRY_GO(ctx, precon_warn_singular(csr, kind ? kind->name : spec));
    precon_job job = *given;
    job.A = csr;
    job.near = A;
    SPRY_GO(ctx, kind ? make_named(&job, spec, M, name) : make_auto(&job, M, name));
    if (tells && !kind->sound(*M))
        SPRY_GO(ctx, precon_warn_singular(csr, kind->name));
    if (owned && *M && !(*M)->kept) {
        (*M)->kept = owned;
        owned = NULL;
    }
done:
    if (status != SPRY_STATUS_OK) {
        spry_operator_free(*M);
        *M = NULL;
    }
    spry_matrix_free(owned);
    return status;
}

static spry_status make_any(spry_context *ctx, const precon_job *given, const char *spec,
                            spry_operator **M, char name[32])
{
    const spry_matrix *A = given->A;
    request q;
    *M = NULL;
    if (strcmp(spec, "auto") == 0) {
        snprintf(name, 32, "none");
        bool finite = false;
        if (A && A->a.rows == A->a.cols) {
            const spry_status found = matrix_find_out(ctx, A, SPRY_FACT_FINITE, &finite);
            if (found != SPRY_STATUS_OK)
                return found;
        }
        if (finite)
            return make_from(given, NULL, spec, M, name);
        base_log(ctx, SPRY_LOG_INFO,
                 "precon none: there is no square matrix with finite numbers to make one from");
        return SPRY_STATUS_OK;
    }
    const spry_status status = read_spec(ctx, spec, &q);
    if (status != SPRY_STATUS_OK)
        return status;
    snprintf(name, 32, "%s", q.kind->name);
    if (!q.kind->make)
        return SPRY_STATUS_OK;
    if (!A && q.kind->make_of && given->op) {
        precon_job job = *given;
        job.options = q.fields;
        return q.kind->make_of(&job, M);
    }
    if (!A)
        return SPRY_FAIL(ctx, SPRY_STATUS_BAD_USAGE, "precon=%s needs a matrix, not an operator%s",
                         q.kind->name,
                         given->op && given->op->class->stored.to_matrix
                             ? "; spry_operator_to_matrix() makes one of this operator"
                             : "");
    return make_from(given, q.kind, spec, M, name);
}

spry_status precon_begin(spry_context *ctx, const spry_matrix *A, const spry_operator *op,
                         const char *spec, precon_forecast *forecast, spry_operator **begun)
{
    const spry_matrix *csr = NULL;
    spry_matrix *owned = NULL;
    request q;
    spry_status status = SPRY_STATUS_OK;
    *forecast = (precon_forecast){0};
    *begun = NULL;
    SPRY_GO(ctx, read_spec(ctx, spec, &q));
    forecast->known = !q.kind->make && q.kind != &kind_inner;
    if (!A || !q.kind->make)
        goto done;
    SPRY_GO(ctx, check_matrix(A, q.kind));
    SPRY_GO(ctx, check_precision(ctx, &q, A->a.type));
    *forecast = precon_rule(A, q.kind->name);
    const bool begins = q.kind->begin && precision_of(&q) == PRECON_SAME;
    if (!begins && !q.kind->check)
        goto done;
    SPRY_GO(ctx, matrix_as_sorted_csr(A, &csr, &owned));
    const precon_job job = {.A = csr,
                            .device = op ? op->device : NULL,
                            .op = op,
                            .options = q.fields,
                            .values = "own",
                            .near = A};
    if (q.kind->check)
        SPRY_GO(ctx, q.kind->check(&job));
    if (begins)
        SPRY_GO(ctx, q.kind->begin(&job, forecast, begun));
done:
    spry_matrix_free(owned);
    return status;
}

spry_status precon_make_begun(spry_context *ctx, const spry_matrix *A, const spry_operator *op,
                              const char *spec, spry_operator **begun, spry_operator **M,
                              char name[32])
{
    const precon_job job = {
        .A = A, .device = op ? op->device : NULL, .op = op, .begun = *begun ? begun : NULL};
    const spry_status status = make_any(ctx, &job, spec, M, name);
    spry_operator_free(*begun); /* where it failed before */
    *begun = NULL;
    return status;
}

spry_status precon_make_beside(spry_context *ctx, const spry_matrix *A, const spry_operator *op,
                               const char *spec, spry_operator **M, char name[32])
{
    const precon_job job = {.A = A, .device = op ? op->device : NULL, .op = op};
    return make_any(ctx, &job, spec, M, name);
}

static spry_status refuse_inner(spry_context *ctx, const char *spec)
{
    if (precon_is(spec, "inner"))
        return SPRY_FAIL(ctx, SPRY_STATUS_UNSUPPORTED,
                         "precon inner is made by solvers only; make a solver for it");
    return SPRY_STATUS_OK;
}

/* A call by itself that was asked to stop. */
static spry_status ended(spry_context *ctx, spry_status status)
{
    if (status == SPRY_STATUS_INTERRUPTED)
        base_stopped(ctx);
    return status;
}

/* Of a matrix that may be of another context than what is made, which belongs to ctx. */
static spry_status make_public(spry_context *ctx, const spry_matrix *A, const precon_job *place,
                               const char *spec, spry_operator **M)
{
    char name[32];
    spry_matrix *view = NULL;
    precon_job job = *place;
    spry_status status = SPRY_STATUS_OK;
    matrix_follow(A);
    SPRY_GO(ctx, refuse_inner(ctx, spec));
    if (A->ctx != ctx)
        SPRY_GO(ctx, matrix_view(ctx, A, &view));
    job.A = view ? view : A;
    SPRY_GO(ctx, ended(ctx, make_any(ctx, &job, spec, M, name)));
    if (*M) {
        operator_made_from(*M, A, view);
        view = NULL;
    }
done:
    spry_matrix_free(view);
    return status;
}

spry_status spry_precon_new(const spry_matrix *A, spry_device *device, const char *spec,
                            spry_operator **M)
{
    SPRY_NEED(CTX_OF(A), A, spec, M);
    const precon_job place = {.device = device};
    *M = NULL;
    return make_public(device ? device->ctx : A->ctx, A, &place, spec, M);
}

spry_status spry_precon_beside(const spry_operator *op, const spry_matrix *A, const char *spec,
                               spry_operator **M)
{
    SPRY_NEED(CTX_OF_ANY(op, A), op, spec, M);
    const precon_job place = {.device = op->device, .op = op};
    char name[32];
    *M = NULL;
    if (!A) {
        const spry_status refused = refuse_inner(op->ctx, spec);
        return refused != SPRY_STATUS_OK ? refused
                                         : ended(op->ctx, make_any(op->ctx, &place, spec, M, name));
    }
    if (op->type != A->a.type || op->rows != A->a.rows || op->cols != A->a.cols)
        return SPRY_FAIL(op->ctx, SPRY_STATUS_BAD_USAGE, "the operator is not one of the matrix");
    return make_public(op->ctx, A, &place, spec, M);
}
