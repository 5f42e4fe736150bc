/* Making runners: of the kind that suits where A lives, to be used again and again. */
#include "program/runner.h"

#include "formats/shared/device_formats.h"

#include <float.h>

/* Sweeps on a device have products by rows of A, and of A^H where these are alike: one program and
 * one size of groups serve both. */
static spry_status use_on_device(const spry_operator *operator, bool transposed, operator_use *use)
{
    spry_context *ctx = operator->ctx;
    device_rows rows = {0}, turned = {0};
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(ctx, device_open_rows(operator, SPRY_TRANSPOSE_NO, "A_", 1, &rows));
    if (transposed && rows.text)
        SPRY_GO(ctx, device_open_rows(operator, SPRY_TRANSPOSE_CONJUGATE, "A_", 1, &turned));
    if (rows.text &&
        (!transposed || (turned.text && turned.group == rows.group && turned.kind == rows.kind)))
        *use = USE_ROWS;
done:
    base_free(ctx, rows.text);
    base_free(ctx, turned.text);
    return status;
}

spry_status runner_use(const spry_operator *operator, bool transposed, operator_use *use)
{
    operator_rows rows = {0};
    *use = USE_NOTHING;
    if (!operator)
        return SPRY_STATUS_OK;
    *use = USE_DIAGONAL;
    if (operator_diagonal(operator, SPRY_TRANSPOSE_NO) ||
        device_diagonal(operator, SPRY_TRANSPOSE_NO))
        return SPRY_STATUS_OK;
    *use = USE_CALL;
    if (device_of(operator))
        return use_on_device(operator, transposed, use);
    spry_status status = operator_open_rows(operator, SPRY_TRANSPOSE_NO, &rows);
    if (status != SPRY_STATUS_OK || !rows.run)
        return status;
    if (transposed) {
        status = operator_open_rows(operator, SPRY_TRANSPOSE_CONJUGATE, &rows);
        if (status != SPRY_STATUS_OK || !rows.run)
            return status;
    }
    *use = USE_ROWS;
    return SPRY_STATUS_OK;
}

static spry_status open_rhs(const runner *r, rhs *l)
{
    const plan *p = r->p;
    const bool single = type_is_single(r->type);
    l->scalars = (scalars){.program = p->program,
                           .offset = p->offset,
                           .extent = (const int64_t(*)[2])p->extent,
                           .real = !spry_type_is_complex(r->type),
                           .eps = single ? FLT_EPSILON : DBL_EPSILON,
                           .fault = NONE};
    l->reports_at_restart = -1;
    l->fault = NONE;
    const spry_status status =
        base_calloc(r->ctx, p->scalar_count + 1, sizeof *l->scalars.values, &l->scalars.values);
    if (status == SPRY_STATUS_OK)
        memcpy(l->scalars.values, p->options, (size_t)p->option_count * sizeof *p->options);
    return status;
}

static const runner_class *class_for(const plan *p, const spry_operator *A)
{
    return !device_of(A)                            ? &runner_host
           : A->rows_part.is || p->program->by_host ? &runner_device_ranks
                                                    : &runner_device;
}

static void set_system(runner *r, const spry_operator *A)
{
    r->type = A->type;
    r->size = (int64_t)spry_type_size(A->type);
    r->n[0] = A->rows;
    r->n[1] = A->cols;
}

void runner_precompile(plan *p, const spry_operator *A)
{
    runner r = {.p = p,
                .ctx = p->ctx,
                .class = class_for(p, A),
                .operators = {[OPERATOR_A] = A},
                .precompiles = true};
    if (r.class != &runner_device || p->program->block)
        return;
    const base_kept before = base_try(r.ctx);
    set_system(&r, A);
    (void)r.class->open(&r);
    r.class->close(&r);
    base_forgive(r.ctx, &before); /* who runs the plan is told of it */
}

spry_status runner_new(plan *p, const runner_operators *operators, int rhs_count, runner **out)
{
    spry_context *ctx = p->ctx;
    const spry_operator *A = operators->A;
    spry_status status = SPRY_STATUS_OK;
    runner *r = NULL;
    *out = NULL;
    if (p->program->block && rhs_count > PROGRAM_COLUMNS)
        return SPRY_FAIL(ctx, SPRY_STATUS_UNSUPPORTED, "%d right-hand sides; %s takes %d together",
                         rhs_count, p->program->method, PROGRAM_COLUMNS);
    status = base_calloc(ctx, 1, sizeof *r, &r);
    if (status == SPRY_STATUS_OK)
        status = base_calloc(ctx, rhs_count, sizeof *r->rhs, &r->rhs);
    if (r) { /* what closes it */
        r->ctx = ctx;
        r->class = class_for(p, A);
    }
    SPRY_GO(ctx, operator_agree(A, status));
    /* NOLINTNEXTLINE(clang-analyzer-core.NullDereference): all have agreed that it exists */
    r->p = p;
    set_system(r, A);
    r->ranked = A->rows_part.is;
    r->parts[0] = A->rows_part;
    r->parts[1] = A->cols_part;
    for (int k = 0; k < OPERATOR_COUNT; k++) {
        r->operators[k] = k == OPERATOR_A ? A : operators->M;
        r->changes[k] = r->operators[k] ? r->operators[k]->changes : 0;
    }
    r->powers = operators->powers ? operators->powers : A;
    r->rhs_room = r->rhs_count = rhs_count;
    r->most_turns = (int64_t)1 << 28; /* seconds; GMRES(10000) needs 2^26 in finish */
    SPRY_GO(ctx, r->class->open(r));
    for (int k = 0; k < rhs_count; k++)
        SPRY_GO(ctx, open_rhs(r, &r->rhs[k]));
    *out = r;
    r = NULL;
done:
    runner_free(r);
    return status;
}

bool runner_reuse(runner *r, int rhs_count)
{
    if (rhs_count > r->rhs_room || !r->class->fits(r))
        return false;
    for (int k = 0; k < OPERATOR_COUNT; k++)
        if (r->operators[k] && r->operators[k]->changes != r->changes[k])
            return false;
    r->rhs_count = rhs_count;
    r->bytes = 0;
    for (int k = 0; k < rhs_count; k++)
        r->rhs[k].done = false;
    return true;
}

void runner_set_turn(runner *r, runner_turn_fn turn, void *data)
{
    r->turn = turn;
    r->turn_data = data;
}

spry_status runner_exchange(runner *r, const spry_operator *A)
{
    if (!r->class->exchange)
        return SPRY_FAIL(r->ctx, SPRY_STATUS_UNSUPPORTED, "A cannot be exchanged on a device");
    const spry_status status = r->class->exchange(r, A);
    if (status == SPRY_STATUS_OK) {
        r->powers = r->powers == r->operators[OPERATOR_A] ? A : r->powers;
        r->operators[OPERATOR_A] = A;
        r->changes[OPERATOR_A] = A->changes;
    }
    return status;
}

void runner_free(runner *r)
{
    if (!r)
        return;
    r->class->close(r);
    for (int k = 0; r->rhs && k < r->rhs_room; k++)
        base_free(r->ctx, r->rhs[k].scalars.values);
    base_free(r->ctx, r->rhs);
    base_free(r->ctx, r);
}

rhs *runner_rhs(runner *r, int index)
{
    return &r->rhs[index];
}
