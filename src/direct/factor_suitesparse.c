/*
 * Sparse factors by libraries that are under the GPL, of builds that ask for them (SPRY_WITH_GPL):
 * by CHOLMOD where the matrix is hermitian and turns out to be positive definite, else by UMFPACK;
 * in double precision for all types.
 */
#include "direct/factor.h"
#include "direct/library.h"
#include "matrix/stats.h"

typedef struct sparse {
    sparse_job job;
    const sparse_library *library; /* that the factors are of */
    void *definite, *general;      /* the libraries' parts; NULL: not opened yet */
} sparse;

static spry_status load(spry_context *ctx, const sparse_library *library)
{
    return library->library ? factor_library_load(ctx, library->library) : SPRY_STATUS_UNSUPPORTED;
}

static spry_status has_libraries(spry_context *ctx)
{
    const spry_status definite = load(ctx, &sparse_cholmod), general = load(ctx, &sparse_umfpack);
    return definite == SPRY_STATUS_OK || general == SPRY_STATUS_UNSUPPORTED ? definite : general;
}

/* Why there are no factors: `lacking` names what is missing. */
static spry_status no_library(spry_context *ctx, spry_status status, const char *lacking)
{
    if (status == SPRY_STATUS_NO_MEMORY)
        return SPRY_FAIL(ctx, status, "precon direct: %s cannot be loaded: no room in memory",
                         lacking);
    return SPRY_FAIL(ctx, status,
                     "precon direct: %s is missing (a build with -DSPRY_WITH_GPL=ON and "
                     "libsuitesparse-dev has it); take direct:kind=sparse",
                     lacking);
}

void sparse_conjugate(const sparse_job *job, double *numbers)
{
    for (int64_t i = 0; i < job->n && job->is_complex; i++)
        numbers[2 * i + 1] = -numbers[2 * i + 1];
}

spry_status sparse_failed(const sparse_job *job, const sparse_library *by, const char *step,
                          bool no_memory, const char *others, int number)
{
    const char *name = by->library->name;
    return no_memory ? SPRY_FAIL(job->ctx, SPRY_STATUS_NO_MEMORY,
                                 "precon direct: %s found no memory for the factors of %" PRId64
                                 " rows; try %s, or amg",
                                 name, job->n, others)
                     : SPRY_FAIL(job->ctx, SPRY_STATUS_UNSUPPORTED,
                                 "precon direct: %s's %s ended with %d", name, step, number);
}

static void clear_job(sparse_job *job)
{
    base_free(job->ctx, job->offsets);
    base_free(job->ctx, job->rows);
    base_free(job->ctx, job->values);
    base_free(job->ctx, job->right);
    base_free(job->ctx, job->work);
}

static void sparse_close(factor *f)
{
    sparse *state = f->state;
    if (!state)
        return;
    if (state->definite)
        sparse_cholmod.close(&state->job, state->definite);
    if (state->general)
        sparse_umfpack.close(&state->job, state->general);
    clear_job(&state->job);
    base_free(f->ctx, state);
    f->state = NULL;
}

/* The pattern, and room for the rest. */
static spry_status make_job(const spry_matrix *A, sparse_job *job)
{
    spry_context *ctx = A->ctx;
    const matrix_arrays *a = &A->a;
    spry_status status = SPRY_STATUS_OK;
    *job = (sparse_job){
        .ctx = ctx, .is_complex = spry_type_is_complex(a->type), .n = a->rows, .nnz = a->nnz};
    const size_t size = (job->is_complex ? 2 : 1) * sizeof(double);
    SPRY_GO(ctx, base_alloc(ctx, a->rows + 1, sizeof *job->offsets, &job->offsets));
    SPRY_GO(ctx, base_alloc(ctx, a->nnz, sizeof *job->rows, &job->rows));
    SPRY_GO(ctx, base_alloc(ctx, a->nnz, size, &job->values));
    SPRY_GO(ctx, base_alloc(ctx, a->rows, size, &job->right));
    SPRY_GO(ctx, base_alloc(ctx, a->rows, size, &job->work));
    for (int64_t i = 0; i <= a->rows; i++)
        job->offsets[i] = a->offsets[i];
    for (int64_t k = 0; k < a->nnz; k++)
        job->rows[k] = a->col_index[k];
done:
    if (status != SPRY_STATUS_OK) {
        clear_job(job);
        *job = (sparse_job){.ctx = ctx};
    }
    return status;
}

static spry_status sparse_open(factor *f, const spry_matrix *A)
{
    sparse *state = NULL;
    spry_status status = SPRY_STATUS_OK;
    const spry_status found = has_libraries(f->ctx);
    if (found != SPRY_STATUS_OK)
        return no_library(f->ctx, found, "SuiteSparse");
    SPRY_GO(f->ctx, base_calloc(f->ctx, 1, sizeof *state, &state));
    f->state = state;
    SPRY_GO(f->ctx, make_job(A, &state->job));
done:
    return status;
}

/* Factors by one library. */
static spry_status fill_by(sparse *state, const sparse_library *library, void **part, bool *fits)
{
    spry_status status = SPRY_STATUS_OK;
    if (!*part)
        SPRY_GO(state->job.ctx, library->open(&state->job, part));
    SPRY_GO(state->job.ctx, library->fill(&state->job, *part, fits));
    if (*fits)
        state->library = library;
done:
    return status;
}

static spry_status sparse_fill(factor *f, const spry_matrix *A)
{
    spry_context *ctx = f->ctx;
    sparse *state = f->state;
    const matrix_arrays *a = &A->a;
    bool fits = false, hermitian = false;
    spry_status status = SPRY_STATUS_OK;
    for (int64_t k = 0; k < a->nnz; k++)
        value_store(state->job.is_complex ? SPRY_TYPE_Z : SPRY_TYPE_D, state->job.values, k,
                    value_load(a->type, a->values, k));
    if (load(ctx, &sparse_cholmod) == SPRY_STATUS_OK)
        SPRY_GO(ctx, matrix_may_be_definite(A, &hermitian));
    if (hermitian)
        SPRY_GO(ctx, fill_by(state, &sparse_cholmod, &state->definite, &fits));
    if (hermitian)
        matrix_note(A, SPRY_FACT_DEFINITE, fits);
    const spry_status general = fits ? SPRY_STATUS_OK : load(ctx, &sparse_umfpack);
    if (general != SPRY_STATUS_OK)
        return no_library(ctx, general,
                          "the matrix is not hermitian and positive definite, and UMFPACK");
    if (!fits)
        SPRY_GO(ctx, fill_by(state, &sparse_umfpack, &state->general, &fits));
    f->by = state->library->library->name;
    void *part = state->library == &sparse_cholmod ? state->definite : state->general;
    f->bytes = (int64_t)state->library->bytes(&state->job, part);
done:
    return status;
}

static spry_status solve_one(const factor *f, spry_transpose transpose, void *z)
{
    const sparse *state = f->state;
    const sparse_job *job = &state->job;
    const spry_type wide = job->is_complex ? SPRY_TYPE_Z : SPRY_TYPE_D;
    for (int64_t i = 0; i < f->n; i++)
        value_store(wide, job->right, i, value_load(f->type, z, i));
    const spry_status status = state->library->solve(
        job, state->library == &sparse_cholmod ? state->definite : state->general, transpose);
    for (int64_t i = 0; status == SPRY_STATUS_OK && i < f->n; i++)
        value_store(f->type, z, i, value_load(wide, job->work, i));
    return status;
}

static spry_status sparse_solve(const factor *f, spry_transpose transpose, int count,
                                void *const *z)
{
    spry_status status = SPRY_STATUS_OK;
    for (int k = 0; k < count && status == SPRY_STATUS_OK; k++)
        status = solve_one(f, transpose, z[k]);
    return status;
}

const factor_class factor_suitesparse = {.name = "sparse",
                                         .open = sparse_open,
                                         .fill = sparse_fill,
                                         .solve = sparse_solve,
                                         .close = sparse_close};
