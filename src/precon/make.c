/* Making a preconditioner of any kind: what all of them have in common. */
#include "precon/precon.h"

#include "device/linalg/operator.h"
#include "device/linalg/step.h"
#include "ranks/distributed.h"

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
static spry_status check_precision(spry_context *ctx, const precon_spec *q, spry_type type)
{
    if (precon_spec_precision(q) != PRECON_HALF)
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
static spry_status make_in(const precon_job *job, const precon_spec *q, spry_operator **M)
{
    spry_context *ctx = job->A->ctx;
    const int precision = precon_spec_precision(q);
    const spry_type type = job->A->a.type, lower = lower_type(type);
    precon_job changed = *job;
    spry_matrix *cast = NULL;
    spry_operator *inside = NULL;
    spry_status status = SPRY_STATUS_OK;
    changed.list = q->list;
    changed.options = q->fields;
    changed.singular = q->singular;
    changed.values = precision == PRECON_HALF ? "f16" : "own";
    SPRY_GO(ctx, check_precision(ctx, q, type));
    if (precision != PRECON_SINGLE || lower == type)
        return q->kind->make(&changed, M);
    SPRY_GO(ctx, spry_matrix_cast(job->A, lower, &cast));
    SPRY_GO(ctx, check_matrix(cast, q->kind)); /* what was finite need not be now */
    changed.A = cast;
    changed.op = NULL;
    status = q->kind->make(&changed, &inside);
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

/* Goes on to the next best where one that was not asked for by name cannot be made. */
static bool goes_on(spry_context *ctx, spry_status status)
{
    if (!precon_may_change(status))
        return false;
    base_log(ctx, SPRY_LOG_INFO, "precon auto goes on: %s", spry_message(ctx));
    return true;
}

/* What `spec` names, for a matrix that is fit; with its kind's name. */
static spry_status make_named(const precon_job *job, const precon_spec *spec, spry_operator **M,
                              char name[32])
{
    snprintf(name, 32, "%s", spec->kind->name);
    if (spec->kind == &precon_kind_inner)
        return SPRY_FAIL(job->A->ctx, SPRY_STATUS_UNSUPPORTED,
                         "precon inner cannot be a part of another one");
    const spry_status status = spec->kind->make ? make_in(job, spec, M) : SPRY_STATUS_OK;
    if (status != SPRY_STATUS_OK) {
        spry_operator_free(*M);
        *M = NULL;
    }
    return status;
}

/* The first that can be made of those that suit A. */
static spry_status make_auto(const precon_job *job, const precon_list *list, spry_operator **M,
                             char name[32])
{
    spry_context *ctx = job->A->ctx;
    precon_choice choice;
    precon_spec spec;
    const base_kept before = base_try(ctx);
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(ctx, list->choose(ctx, job->A, 1, job->device != NULL, &choice));
    for (int k = 0; k < choice.count; k++) {
        SPRY_GO(ctx, precon_spec_from(ctx, list, choice.list[k].spec, &spec));
        status = make_named(job, &spec, M, name);
        if (status == SPRY_STATUS_OK || !goes_on(ctx, status))
            break;
        base_forgive(ctx, &before); /* nothing failed for the caller */
    }
done:
    return status;
}

/* What goes down to the one within. */
static spry_status go_deeper(const precon_job *outer, spry_context *ctx, precon_job *inner)
{
    *inner = (precon_job){.list = outer->list, .device = outer->device, .depth = outer->depth + 1};
    return inner->depth > PRECON_MOST_DEPTH
               ? SPRY_FAIL(ctx, SPRY_STATUS_BAD_USAGE,
                           "preconditioners within preconditioners go %d deep at most",
                           PRECON_MOST_DEPTH)
               : SPRY_STATUS_OK;
}

spry_status precon_make_on_device(const precon_job *outer, const device_matrix *A, const char *spec,
                                  bool *made, spry_operator **M)
{
    spry_context *ctx = outer->device->ctx;
    precon_job job;
    precon_spec q;
    spry_status status = SPRY_STATUS_OK;
    *made = false;
    *M = NULL;
    SPRY_GO(ctx, go_deeper(outer, ctx, &job));
    SPRY_GO(ctx, precon_spec_from(ctx, outer->list, spec, &q));
    job.options = q.fields;
    job.values = "own";
    if (q.kind && q.kind->make_on_device && precon_spec_precision(&q) == PRECON_SAME)
        SPRY_GO(ctx, q.kind->make_on_device(&job, A, made, M));
done:
    return status;
}

spry_status precon_make_inner(const precon_job *outer, const spry_matrix *A, const char *spec,
                              spry_operator **M)
{
    precon_job job;
    precon_spec q;
    char name[32];
    spry_status status = SPRY_STATUS_OK;
    *M = NULL;
    SPRY_GO(A->ctx, go_deeper(outer, A->ctx, &job));
    job.A = A;
    SPRY_GO(A->ctx, precon_spec_from(A->ctx, outer->list, spec, &q));
    SPRY_GO(A->ctx, q.kind ? make_named(&job, &q, M, name) : make_auto(&job, q.list, M, name));
done:
    return status;
}

/* Whether what a spec names works across ranks. */
static spry_status find_across(const spry_matrix *A, const precon_spec *spec, bool *across)
{
    spry_context *ctx = A->ctx;
    spry_status status = SPRY_STATUS_OK;
    *across = false;
    if (!spec->kind || !spec->kind->make_ranks)
        return SPRY_STATUS_OK;
    if (precon_spec_precision(spec) != PRECON_SAME)
        return SPRY_FAIL(ctx, SPRY_STATUS_UNSUPPORTED,
                         "precon %s across ranks is of the precision of the matrix; take it "
                         "without precision=, or block-jacobi:inner=[%s]",
                         spec->kind->name, spec->text);
    SPRY_GO(ctx, matrix_check_finite(A, "precon", spec->kind->name));
    *across = true;
done:
    return status;
}

spry_status precon_begin_across(const spry_matrix *A, const precon_spec *spec, bool *across,
                                precon_forecast *forecast, char name[32])
{
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(A->ctx, find_across(A, spec, across));
    if (!*across)
        return SPRY_STATUS_OK;
    const precon_job job = {
        .A = A, .list = spec->list, .options = spec->fields, .values = "own", .near = A};
    snprintf(name, 32, "%s", spec->kind->name);
    *forecast = precon_rule(A, spec->kind);
    if (spec->kind->check)
        SPRY_GO(A->ctx, spec->kind->check(&job));
done:
    return status;
}

spry_status precon_make_across(const spry_matrix *A, const precon_spec *spec, spry_device *device,
                               bool *made, spry_operator **M, char name[32])
{
    spry_context *ctx = A->ctx;
    spry_status status = SPRY_STATUS_OK;
    *M = NULL;
    SPRY_GO(ctx, find_across(A, spec, made));
    if (!*made)
        return SPRY_STATUS_OK;
    snprintf(name, 32, "%s", spec->kind->name);
    const precon_job job = {.A = A,
                            .list = spec->list,
                            .device = spec->kind->ranks_on_devices ? device : NULL,
                            .options = spec->fields,
                            .values = "own",
                            .near = A};
    SPRY_GO(ctx, spec->kind->make_ranks(&job, M));
    (*M)->rows_part = (*M)->cols_part = dist_own_cols(A);
done:
    return status;
}

/* The matrix as kinds want it, what `spec` names for it, and the matrix kept where it is another.
 */
static spry_status make_from(const precon_job *given, const precon_spec *spec, spry_operator **M,
                             char name[32])
{
    const precon_kind *kind = spec->kind;
    const spry_matrix *A = given->A, *csr = NULL;
    spry_context *ctx = A->ctx;
    spry_matrix *owned = NULL;
    const bool checks = kind && kind->sound;
    spry_status status = SPRY_STATUS_OK;
    if (kind)
        SPRY_GO(ctx, check_matrix(A, kind));
    SPRY_GO(ctx, matrix_as_sorted_csr(A, &csr, &owned));
    if (!checks)
        SPRY_GO(ctx, precon_warn_singular(csr, precon_spec_name(spec)));
    precon_job job = *given;
    job.A = csr;
    job.near = A;
    SPRY_GO(ctx, kind ? make_named(&job, spec, M, name) : make_auto(&job, spec->list, M, name));
    if (checks && !kind->sound(*M))
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

static spry_status make_chosen(spry_context *ctx, const precon_job *given, const precon_spec *spec,
                               spry_operator **M, char name[32])
{
    const spry_matrix *A = given->A;
    bool finite = false;
    spry_status status = SPRY_STATUS_OK;
    snprintf(name, 32, "none");
    if (!A && given->op && operator_suits(given->op)) {
        precon_spec own;
        SPRY_GO(ctx, precon_spec_from(ctx, spec->list, operator_suits(given->op), &own));
        return precon_make_for(ctx, given, &own, M, name);
    }
    if (A && A->a.rows == A->a.cols)
        SPRY_GO(ctx, matrix_find_out(ctx, A, SPRY_FACT_FINITE, &finite));
    if (finite)
        return make_from(given, spec, M, name);
    base_log(ctx, SPRY_LOG_INFO,
             "precon none: there is no square matrix with finite numbers to make one from");
done:
    return status;
}

spry_status precon_make_for(spry_context *ctx, const precon_job *given, const precon_spec *spec,
                            spry_operator **M, char name[32])
{
    const precon_kind *kind = spec->kind;
    *M = NULL;
    if (!kind)
        return make_chosen(ctx, given, spec, M, name);
    snprintf(name, 32, "%s", kind->name);
    if (!kind->make)
        return SPRY_STATUS_OK;
    if (!given->A && kind->make_of && given->op) {
        precon_job job = *given;
        job.list = spec->list;
        job.options = spec->fields;
        return kind->make_of(&job, M);
    }
    if (!given->A)
        return SPRY_FAIL(ctx, SPRY_STATUS_BAD_USAGE, "precon=%s needs a matrix, not an operator%s",
                         kind->name,
                         given->op && given->op->class->stored.to_matrix
                             ? "; spry_operator_to_matrix() makes one of this operator"
                             : "");
    return make_from(given, spec, M, name);
}

spry_status precon_begin(spry_context *ctx, const spry_matrix *A, const spry_operator *op,
                         const precon_spec *spec, precon_forecast *forecast, spry_operator **begun)
{
    const precon_kind *kind = spec->kind;
    const spry_matrix *csr = NULL;
    spry_matrix *owned = NULL;
    spry_status status = SPRY_STATUS_OK;
    *forecast = (precon_forecast){.known = !kind->make && kind != &precon_kind_inner};
    *begun = NULL;
    if (!A || !kind->make)
        goto done;
    SPRY_GO(ctx, check_matrix(A, kind));
    SPRY_GO(ctx, check_precision(ctx, spec, A->a.type));
    *forecast = precon_rule(A, kind);
    const bool begins = kind->begin && precon_spec_precision(spec) == PRECON_SAME;
    if (!begins && !kind->check)
        goto done;
    SPRY_GO(ctx, matrix_as_sorted_csr(A, &csr, &owned));
    const precon_job job = {.A = csr,
                            .list = spec->list,
                            .device = op ? op->device : NULL,
                            .op = op,
                            .options = spec->fields,
                            .singular = spec->singular,
                            .values = "own",
                            .near = A};
    if (kind->check)
        SPRY_GO(ctx, kind->check(&job));
    if (begins)
        SPRY_GO(ctx, kind->begin(&job, forecast, begun));
done:
    spry_matrix_free(owned);
    return status;
}

spry_status precon_make(spry_context *ctx, const spry_matrix *A, const spry_operator *op,
                        const precon_spec *spec, spry_operator **begun, spry_operator **M,
                        char name[32])
{
    const precon_job job = {.A = A,
                            .device = op ? op->device : NULL,
                            .op = op,
                            .begun = begun && *begun ? begun : NULL};
    const spry_status status = precon_make_for(ctx, &job, spec, M, name);
    if (begun) {
        spry_operator_free(*begun); /* where it failed before */
        *begun = NULL;
    }
    return status;
}

spry_status precon_make_kind(const spry_matrix *A, const precon_kind *kind, const char *options,
                             spry_operator **M)
{
    precon_spec spec;
    char name[32];
    *M = NULL;
    const spry_status status = precon_spec_of(A->ctx, kind, options, &spec);
    return status == SPRY_STATUS_OK ? precon_make(A->ctx, A, NULL, &spec, NULL, M, name) : status;
}
