/* Preconditioners by name: the list of kinds, and "auto", which takes what suits the matrix. */
#include "choose/precons.h"

#include "base/stop.h"
#include "device/engine/device.h"

#include <private/programs.h>

#define KIND_ROW(name) &precon_kind_##name,
static const precon_kind *const kinds[] = {&precon_kind_none,
                                           PRECON_KINDS(KIND_ROW) & precon_kind_inner};
static const precon_list list = {
    .kinds = kinds, .count = sizeof kinds / sizeof *kinds, .choose = precon_choose};

static const precon_kind *find(const char *name)
{
    return precon_find(&list, name, strcspn(name, ":"));
}

spry_option_list precon_options(const char *name)
{
    const precon_kind *kind = find(name);
    return kind ? kind->options : (spry_option_list){0};
}

bool precon_is_exact(const char *name)
{
    const precon_kind *kind = find(name);
    return kind && kind->cost.exact;
}

bool precon_is_simple(const char *name)
{
    const precon_kind *kind = find(name);
    return kind == &precon_kind_none || (kind && kind->diagonal);
}

bool precon_entry_at(int index, spry_entry *entry)
{
    if (index >= list.count)
        return false;
    entry->name = kinds[index]->name;
    entry->summary = kinds[index]->summary;
    entry->options = kinds[index]->options;
    entry->on_devices = kinds[index]->on_devices;
    return true;
}

spry_status precon_spec_read(spry_context *ctx, const char *text, precon_spec *spec)
{
    return precon_spec_from(ctx, &list, text, spec);
}

spry_status precon_make_from_text(spry_context *ctx, const spry_matrix *A, const spry_operator *op,
                                  const char *text, spry_operator **M, char name[32])
{
    precon_spec spec;
    *M = NULL;
    const spry_status status = precon_spec_read(ctx, text, &spec);
    return status == SPRY_STATUS_OK ? precon_make(ctx, A, op, &spec, NULL, M, name) : status;
}

/* A spec from a program: what only a solver makes is refused. */
static spry_status read_public(spry_context *ctx, const char *text, precon_spec *spec)
{
    const spry_status status = precon_spec_read(ctx, text, spec);
    return status == SPRY_STATUS_OK && spec->kind == &precon_kind_inner
               ? SPRY_FAIL(ctx, SPRY_STATUS_UNSUPPORTED,
                           "precon inner is made by solvers only; make a solver for it")
               : status;
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
                               const char *text, spry_operator **M)
{
    char name[32];
    precon_spec spec;
    spry_matrix *view = NULL;
    precon_job job = *place;
    spry_status status = SPRY_STATUS_OK;
    matrix_follow(A);
    SPRY_GO(ctx, read_public(ctx, text, &spec));
    if (A->ctx != ctx)
        SPRY_GO(ctx, matrix_view(ctx, A, &view));
    job.A = view ? view : A;
    SPRY_GO(ctx, ended(ctx, precon_make_for(ctx, &job, &spec, M, name)));
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

spry_status spry_precon_for_operator(const spry_operator *op, const spry_matrix *A,
                                     const char *spec, spry_operator **M)
{
    SPRY_NEED(CTX_OF_ANY(op, A), op, spec, M);
    const precon_job place = {.device = op->device, .op = op};
    precon_spec q;
    char name[32];
    *M = NULL;
    if (!A) {
        const spry_status read = read_public(op->ctx, spec, &q);
        return read != SPRY_STATUS_OK
                   ? read
                   : ended(op->ctx, precon_make_for(op->ctx, &place, &q, M, name));
    }
    if (op->type != A->a.type || op->rows != A->a.rows || op->cols != A->a.cols)
        return SPRY_FAIL(op->ctx, SPRY_STATUS_BAD_USAGE, "the operator is not one of the matrix");
    return make_public(op->ctx, A, &place, spec, M);
}
