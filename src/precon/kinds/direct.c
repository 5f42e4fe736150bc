/*
 * Exact solves as a preconditioner: for small systems, the coarsest level of multigrid, the parts
 * of a domain. On a device a small one, and one within another, is its inverse written out, applied
 * as a dense product: as many operations as solving with factors, but all of them at once.
 */
#include "direct/factor.h"
#include "precon/precon.h"

#include "device/engine/device.h"

#include <spry/reorder.h>

#define DIRECT_OPTIONS(item)                                                                     \
    PRECON_COMMON(item)                                                                          \
    item(WORD, kind, "auto", 0, 0, "auto dense band sparse suitesparse cudss",                   \
         "factors: dense (LAPACK), in a band after RCM (LAPACK), sparse; by CHOLMOD or UMFPACK " \
         "where the build has them; by NVIDIA's cuDSS on a CUDA device")                         \
    item(WORD, regular, "auto", 0, 0, "auto no yes",                                             \
         "a singular matrix (pure Neumann conditions) gets a generalized inverse instead of an " \
         "error; dense or sparse; auto does so where the solver was given a null space")         \
    item(REAL, most, "0", 0, 1e9, NULL,                                                          \
         "seconds of one core that sparse factors may be forecast to take, else they are "       \
         "refused; 0: as many as it needs")
enum { REGULAR_AUTO, REGULAR_NO, REGULAR_YES };
enum { KIND_AUTO, KIND_DENSE, KIND_BAND, KIND_SPARSE, KIND_SUITESPARSE, KIND_CUDSS };
typedef struct direct_options {
    DIRECT_OPTIONS(SPRY_OPTION_FIELD)
} direct_options;
SPRY_OPTION_TABLE(table, direct_options, DIRECT_OPTIONS(SPRY_OPTION_ROW))

enum {
    SMALL = 200,       /* rows that are always dense */
    MOST_DENSE = 4096, /* rows that may be, and that go to devices */
    NARROW = 48,       /* diagonals of a band that no sparse factors beat */
    /* Rows for which auto loads cuDSS, as fewer are solved meanwhile, and entries of a row: where
     * factors have little to do, its analysis by one thread takes longer than all of ours. */
    LEAST_CUDSS = 10000,
    DENSE_CUDSS = 20,
    GROUP = 128
};

typedef struct direct {
    factor f;
    direct_options options;
    bool regular; /* by the options and the job */
    /* on a device */
    device_program *program;
    device_memory *inverse;
} direct;

/* --- which factors -------------------------------------------------------------------------------
 */

/* Whether a singular matrix gets a generalized inverse: factors of a band, and of SuiteSparse, have
 * none. */
static bool is_regular(const precon_job *job)
{
    const direct_options *o = job->options;
    const bool can = o->kind != KIND_BAND && o->kind != KIND_SUITESPARSE;
    return o->regular == REGULAR_YES || (o->regular == REGULAR_AUTO && job->singular && can);
}

/* By the pattern alone. */
static spry_status choose_by_band(const spry_matrix *A, const factor_class **class)
{
    spry_context *ctx = A->ctx;
    int32_t *perm = NULL, *inverse = NULL;
    int64_t low, high;
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(ctx, spry_reorder(A, "rcm", &perm));
    SPRY_GO(ctx, matrix_invert(ctx, "perm", perm, A->a.rows, &inverse));
    factor_band_of(A, inverse, &low, &high);
    *class = low + high <= NARROW ? &factor_band : &factor_sparse;
done:
    base_free(ctx, perm);
    base_free(ctx, inverse);
    return status;
}

/* Whether A is so full that dense factors waste nothing. */
static bool mostly_full(const spry_matrix *A)
{
    const double n = (double)A->a.rows;
    return A->a.rows <= MOST_DENSE && (double)A->a.nnz > n * n / 8;
}

/* Whether it goes to the device: what is applied in every step of one on the device, or is dense
 * anyway. By itself it is applied a few times, and sparse factors of the host are made in a
 * small part of the time that an inverse takes. */
static bool goes_on_device(const precon_job *job)
{
    const direct_options *o = job->options;
    const bool fits = job->A->a.rows <= MOST_DENSE;
    const bool dense = job->A->a.rows <= SMALL || mostly_full(job->A);
    return job->device && fits &&
           (o->kind == KIND_DENSE || (o->kind == KIND_AUTO && (job->depth > 0 || dense)));
}

/* What takes the place of cuDSS where nothing is on a device, which is also where a solve on a
 * device ends in twice the precision. */
static const factor_class *on_host(const spry_matrix *A)
{
    base_log(A->ctx, SPRY_LOG_INFO,
             "precon direct: kind=cudss is for CUDA devices; on the host the factors are ours");
    return &factor_sparse;
}

/* Whether cuDSS comes before our own sparse factors. */
static bool tries_cudss(const precon_job *job, const factor_class *class)
{
    const direct_options *o = job->options;
    return o->kind == KIND_AUTO && class == &factor_sparse && job->depth == 0 &&
           job->A->a.rows >= LEAST_CUDSS && job->A->a.nnz >= DENSE_CUDSS * job->A->a.rows &&
           factor_cudss_is_available(job->A->ctx, job->device);
}

static spry_status choose(const precon_job *job, const factor_class **class)
{
    const direct_options *o = job->options;
    const spry_matrix *A = job->A;
    static const factor_class *const classes[] = {[KIND_DENSE] = &factor_dense,
                                                  [KIND_BAND] = &factor_band,
                                                  [KIND_SPARSE] = &factor_sparse,
                                                  [KIND_SUITESPARSE] = &factor_suitesparse,
                                                  [KIND_CUDSS] = &factor_cudss};
    *class = &factor_dense;
    if (o->regular == REGULAR_YES && (o->kind == KIND_BAND || o->kind == KIND_SUITESPARSE))
        return SPRY_FAIL(A->ctx, SPRY_STATUS_BAD_USAGE,
                         "precon direct: regular=yes needs dense or sparse factors; take "
                         "kind=dense or kind=sparse");
    if (o->kind != KIND_AUTO)
        *class = o->kind == KIND_CUDSS && !job->device ? on_host(A) : classes[o->kind];
    else if (is_regular(job) && !goes_on_device(job))
        *class = &factor_sparse; /* which is matched and scaled */
    else if (A->a.rows > SMALL && !goes_on_device(job) && !mostly_full(A))
        return choose_by_band(A, class);
    return SPRY_STATUS_OK;
}

/* --- on the host ---------------------------------------------------------------------------------
 */

static void direct_destroy(spry_operator *op)
{
    direct *state = op->state;
    if (!state)
        return;
    factor_clear(&state->f);
    if (op->device) { /* factors of its own are gone before it may be closed */
        device_free(state->inverse);
        op->device->users--;
    }
    base_free(op->ctx, state);
}

static spry_status direct_apply(const spry_operator *op, spry_transpose transpose,
                                const spry_vector *r, spry_vector *z)
{
    const direct *state = op->state;
    memcpy(z->data, r->data, (size_t)op->rows * spry_type_size(op->type));
    return state->f.class->solve(&state->f, transpose, 1, &z->data);
}

static spry_status direct_apply_many(const spry_operator *op, spry_transpose transpose, int count,
                                     const void *const *r, void *const *z)
{
    const direct *state = op->state;
    for (int k = 0; k < count; k++)
        memcpy(z[k], r[k], (size_t)op->rows * spry_type_size(op->type));
    return state->f.class->solve(&state->f, transpose, count, z);
}

static spry_status direct_update(spry_operator *op, const spry_matrix *A)
{
    direct *state = op->state;
    return factor_fill(&state->f, A);
}

static const operator_class direct_class = {.name = "direct",
                                            .has_transpose = true,
                                            .multiply = operator_apply_arrays,
                                            .multiply_vectors = operator_apply_vectors,
                                            .apply = direct_apply,
                                            .apply_many = direct_apply_many,
                                            .update = direct_update,
                                            .destroy = direct_destroy};

precon_unpivoted precon_direct_unpivoted(const spry_operator *M)
{
    if (!M || M->class != &direct_class)
        return (precon_unpivoted){0};
    const factor *f = &((const direct *)M->state)->f;
    if (!f->null_rows)
        return (precon_unpivoted){0};
    return (precon_unpivoted){f->n - f->rank, f->null_rows, f->null_cols};
}

int64_t precon_direct_nullity(const spry_operator *M)
{
    if (!M || M->class != &direct_class)
        return 0;
    const factor *f = &((const direct *)M->state)->f;
    return f->n - f->rank;
}

/* --- on a device ---------------------------------------------------------------------------------
 */

static spry_status device_factors_apply(const spry_operator *op, spry_transpose transpose,
                                        const spry_vector *r, spry_vector *z)
{
    const direct *state = op->state;
    const bool plain = transpose == SPRY_TRANSPOSE_NO;
    const int n = (int)op->rows, conjugated = transpose == SPRY_TRANSPOSE_CONJUGATE;
    device_arg args[5];
    int count = 0;
    args[count++] = DEVICE_VALUE(n);
    if (!plain)
        args[count++] = DEVICE_VALUE(conjugated);
    args[count++] = device_arg_memory(state->inverse);
    args[count++] = device_arg_memory(r->memory);
    args[count++] = device_arg_memory(z->memory);
    return device_launch(state->program, plain ? "dense_rows" : "dense_columns", NULL,
                         plain ? n : (n + 31) / 32, GROUP, args, count);
}

static spry_status device_factors_update(spry_operator *op, const spry_matrix *A)
{
    spry_context *ctx = op->ctx;
    direct *state = op->state;
    void *inverse = NULL;
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(ctx, factor_make(&factor_dense, A, state->regular, 0, NULL, &state->f));
    SPRY_GO(ctx, factor_invert(&state->f, &inverse));
    SPRY_GO(ctx, device_put(state->inverse, 0, inverse, state->f.bytes));
done:
    base_free(ctx, inverse);
    if (state->f.class) { /* what was found out is still reported */
        state->f.class->close(&state->f);
        state->f.class = NULL;
    }
    return status;
}

static const operator_class device_factors_class = {.name = "direct",
                                                    .has_transpose = true,
                                                    .multiply = operator_apply_arrays,
                                                    .multiply_vectors = operator_apply_vectors,
                                                    .apply = device_factors_apply,
                                                    .update = device_factors_update,
                                                    .destroy = direct_destroy};

static spry_status build_on_device(spry_device *d, spry_type type, device_program **p)
{
    char options[64];
    snprintf(options, sizeof options, "-DSP_TYPE=%d -DSP_GROUP=%d", (int)type, GROUP);
    return device_build_text(d, "dense", options, p);
}

static spry_status make_on_device(const precon_job *job, spry_operator *op)
{
    spry_context *ctx = op->ctx;
    direct *state = op->state;
    spry_status status = SPRY_STATUS_OK;
    op->device = job->device;
    op->device->users++;
    SPRY_GO(ctx, build_on_device(job->device, op->type, &state->program));
    SPRY_GO(ctx, device_alloc(job->device, op->rows * op->rows * (int64_t)spry_type_size(op->type),
                              &state->inverse));
    SPRY_GO(ctx, device_factors_update(op, job->A));
done:
    return status;
}

/* Factors of cuDSS: the operator is where they are. */
static spry_status cudss_apply(const spry_operator *op, spry_transpose transpose,
                               const spry_vector *r, spry_vector *z)
{
    const direct *state = op->state;
    return factor_cudss_apply(&state->f, transpose, r->memory, z->memory);
}

static const operator_class cudss_class = {.name = "direct",
                                           .has_transpose = true,
                                           .multiply = operator_apply_arrays,
                                           .multiply_vectors = operator_apply_vectors,
                                           .apply = cudss_apply,
                                           .update = direct_update,
                                           .destroy = direct_destroy};

bool precon_direct_factors(const spry_operator *M)
{
    return M && (M->class == &direct_class || M->class == &cudss_class);
}

static spry_status make_factors(const precon_job *job, const factor_class *class, spry_operator *op)
{
    direct *state = op->state;
    if (class == &factor_cudss) {
        op->device = job->device;
        op->device->users++;
    }
    const bool regular = state->regular && class != &factor_cudss; /* see falls_back() */
    return factor_make(class, job->A, regular, state->options.most, op->device, &state->f);
}

/* --- the kind ------------------------------------------------------------------------------------
 */

static bool lives_on_device(const precon_job *job, const factor_class *class)
{
    return class == &factor_dense && goes_on_device(job);
}

/* The operator, without factors. */
static spry_status make_empty(const precon_job *job, const factor_class *class, spry_operator **op)
{
    spry_context *ctx = job->A->ctx;
    const int64_t n = job->A->a.rows;
    const operator_class *const kind = lives_on_device(job, class) ? &device_factors_class
                                       : class == &factor_cudss    ? &cudss_class
                                                                   : &direct_class;
    direct *state = NULL;
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(ctx, operator_new(ctx, kind, job->A->a.type, n, n, op));
    SPRY_GO(ctx, base_calloc(ctx, 1, sizeof *state, &state));
    (*op)->state = state;
    state->options = *(const direct_options *)job->options;
    state->regular = is_regular(job);
done:
    return status;
}

/* Makes them, or goes on with those that were begun. */
static spry_status make_as(const precon_job *job, const factor_class *class, spry_operator **M)
{
    spry_context *ctx = job->A->ctx;
    const int64_t n = job->A->a.rows;
    const bool on_device = lives_on_device(job, class);
    spry_operator *op = NULL;
    spry_status status = SPRY_STATUS_OK;
    if (job->begun && *job->begun) {
        op = *job->begun;
        *job->begun = NULL;
        SPRY_GO(ctx, direct_update(op, job->A));
    } else {
        SPRY_GO(ctx, make_empty(job, class, &op));
        SPRY_GO(ctx, on_device ? make_on_device(job, op) : make_factors(job, class, op));
    }
    const direct *state = op->state;
    op->own_bytes = state->f.bytes;
    op->bytes = op->own_bytes + 2 * n * (int64_t)spry_type_size(op->type);
    base_log(ctx, SPRY_LOG_INFO,
             "precon direct: %s factors of %" PRId64 " rows by %s%s, rank %" PRId64
             ", condition about %.1g, %.3g MB",
             class->name, n, state->f.by, on_device ? ", inverted for the device" : "",
             state->f.rank, state->f.condition, (double)state->f.bytes / 1e6);
    *M = op;
    op = NULL;
done:
    spry_operator_free(op);
    return status;
}

/* Whether our own factors take over where cuDSS's have failed: where it was not asked for, and
 * where a singular matrix may be one. */
static bool falls_back(const precon_job *job, spry_status status)
{
    const direct_options *o = job->options;
    return o->kind == KIND_AUTO
               ? status != SPRY_STATUS_INTERRUPTED && status != SPRY_STATUS_DEVICE_LOST
               : is_regular(job) && status == SPRY_STATUS_BAD_INPUT;
}

static spry_status make_cudss(const precon_job *job, spry_operator **M)
{
    spry_context *ctx = job->A->ctx;
    const base_kept before = base_try(ctx);
    const spry_status status = make_as(job, &factor_cudss, M);
    if (status == SPRY_STATUS_OK || !falls_back(job, status))
        return status;
    base_log(ctx, SPRY_LOG_INFO, "%s; the factors are made on the host", spry_message(ctx));
    base_forgive(ctx, &before); /* nothing failed for the caller */
    return make_as(job, &factor_sparse, M);
}

/* All that needs no elimination of numbers, on the host. */
static spry_status begin(const precon_job *job, precon_forecast *forecast, spry_operator **begun)
{
    spry_context *ctx = job->A->ctx;
    const direct_options *o = job->options;
    const factor_class *class = &factor_dense;
    spry_operator *op = NULL;
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(ctx, choose(job, &class));
    if (class == &factor_cudss || lives_on_device(job, class) || tries_cudss(job, class))
        goto done;
    SPRY_GO(ctx, make_empty(job, class, &op));
    direct *state = op->state;
    SPRY_GO(ctx, factor_open(class, job->A, is_regular(job), o->most, NULL, &state->f));
    if (class->estimate)
        SPRY_GO(ctx, class->estimate(&state->f, job->A, forecast));
    *begun = op;
    op = NULL;
done:
    spry_operator_free(op);
    return status;
}

static spry_status make(const precon_job *job, spry_operator **M)
{
    const factor_class *class = &factor_dense;
    *M = NULL;
    if (job->begun && *job->begun)
        return make_as(job, ((const direct *)(*job->begun)->state)->f.class, M);
    const spry_status status = choose(job, &class);
    if (status != SPRY_STATUS_OK)
        return status;
    return class == &factor_cudss || tries_cudss(job, class) ? make_cudss(job, M)
                                                             : make_as(job, class, M);
}

const precon_kind precon_kind_direct = {.name = "direct",
                                        .summary =
                                            "exact solves by factors: dense, in a band, or sparse",
                                        .options = SPRY_OPTION_LIST(table),
                                        .make = make,
                                        .begin = begin,
                                        .on_devices = true,
                                        .place = "cuda",
                                        .cost = {.iterations = 2, .exact = true}};
