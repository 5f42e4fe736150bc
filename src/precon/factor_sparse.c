/* Sparse factors: by CHOLMOD where the matrix is hermitian and turns out to be positive definite,
 * else by UMFPACK; in double precision for all types. */
#include "precon/factor.h"

typedef struct sparse {
    sparse_job job;
    const sparse_library *library; /* that the factors are of */
    void *definite, *general;      /* the libraries' parts; NULL: not opened yet */
} sparse;

bool factor_has_sparse(void)
{
    return sparse_cholmod.name || sparse_umfpack.name;
}

void sparse_conjugate(const sparse_job *job, double *numbers)
{
    for (int64_t i = 0; i < job->n && job->is_complex; i++)
        numbers[2 * i + 1] = -numbers[2 * i + 1];
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
    if (!factor_has_sparse())
        return SPRY_FAIL(f->ctx, SPRY_STATUS_UNSUPPORTED,
                         "precon direct: spry was built without SuiteSparse (libsuitesparse-dev); "
                         "take direct:kind=band or dense, or another preconditioner");
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
    if (sparse_cholmod.name)
        SPRY_GO(ctx, precon_may_be_definite(A, &hermitian));
    if (hermitian)
        SPRY_GO(ctx, fill_by(state, &sparse_cholmod, &state->definite, &fits));
    if (hermitian)
        matrix_note(A, SPRY_FACT_DEFINITE, fits);
    if (!fits && !sparse_umfpack.name)
        return SPRY_FAIL(ctx, SPRY_STATUS_UNSUPPORTED,
                         "precon direct: the matrix is not hermitian and positive definite, and "
                         "spry was built without UMFPACK (libsuitesparse-dev); take "
                         "direct:kind=band or dense, or another preconditioner");
    if (!fits)
        SPRY_GO(ctx, fill_by(state, &sparse_umfpack, &state->general, &fits));
    f->by = state->library->name;
    void *part = state->library == &sparse_cholmod ? state->definite : state->general;
    f->bytes = (int64_t)state->library->bytes(&state->job, part);
done:
    return status;
}

static spry_status sparse_solve(const factor *f, spry_transpose transpose, void *z)
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

/* UMFPACK knows an upper bound of what it takes; CHOLMOD, which takes less, is not always used. */
static spry_status sparse_forecast(const spry_matrix *A, bool regular, double *bytes)
{
    spry_context *ctx = A->ctx;
    const sparse_library *library = sparse_umfpack.name ? &sparse_umfpack : &sparse_cholmod;
    const double size = (double)spry_type_size(A->a.type), n = (double)A->a.rows,
                 nnz = (double)A->a.nnz;
    sparse_job job = {.ctx = ctx};
    void *part = NULL;
    spry_status status = SPRY_STATUS_OK;
    (void)regular;
    *bytes = nnz * (8 + 16 + 2 * (size + 4)) + n * (8 + 32 + 80 + 3 * size) + 65536;
    if (!library->name)
        return SPRY_STATUS_OK;
    SPRY_GO(ctx, make_job(A, &job));
    SPRY_GO(ctx, library->open(&job, &part));
    *bytes += library->bytes(&job, part);
done:
    if (part)
        library->close(&job, part);
    clear_job(&job);
    return status;
}

const factor_class factor_sparse = {.name = "sparse",
                                    .open = sparse_open,
                                    .fill = sparse_fill,
                                    .solve = sparse_solve,
                                    .close = sparse_close,
                                    .forecast = sparse_forecast};
