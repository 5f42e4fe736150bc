/*
 * Sparse factors on a CUDA device by NVIDIA's cuDSS, where that library is installed. It perturbs
 * pivots that are too small and goes on, so what it made is tried out: the matrix is taken for
 * positive definite, symmetric or hermitian, general, and general with large entries brought to the
 * diagonal, whichever it may be, until a solution has a small residual. Refinement around it does
 * the rest.
 *
 * It allocates the device's memory by itself, outside our pool. A^T has factors of its own, made
 * where they are first asked for.
 */
#include "base/bytes.h"
#include "device/engine/cuda.h"
#include "device/linalg/matrix.h"
#include "device/linalg/vector.h"
#include "direct/cudss_api.h"
#include "direct/factor.h"
#include "direct/library.h"
#include "matrix/stats.h"

#include <stdlib.h>

static cudss_calls lib;
#define SYMBOL(name, result, signature) {#name, offsetof(cudss_calls, name)},
static const base_symbol symbols[] = {CUDSS_CALLS(SYMBOL)};
static factor_library library = {
    .name = "cuDSS",
    .variable = "SPRY_CUDSS_LIBRARY",
    .files = {"libcudss.so.1", "libcudss.so.0"},
    .symbols = symbols,
    .count = sizeof symbols / sizeof *symbols,
    .table = &lib,
};

/* What a matrix is taken for. */
typedef struct cudss_form {
    int kind;     /* CUDSS_SPD */
    bool matched; /* large entries are brought to the diagonal first */
} cudss_form;

/* A or A^T with its factors. */
typedef struct side {
    device_matrix A;
    device_memory *offsets; /* int32_t, which is all that version 0 takes with such columns */
    void *matrix, *data;    /* cuDSS's; NULL: there are none */
    cudss_form form;
} side;

typedef struct cudss {
    spry_device *d;
    int major;
    int result; /* of the last call */
    void *handle, *config;
    void *solution, *right;      /* one column each, whose values are set before each solve */
    device_memory *r, *z, *ones; /* ones: of complex types, to conjugate with */
    bool hermitian, symmetric;   /* A is */
    int perturbed;               /* pivots */
    int64_t entries;             /* of the factors */
    side sides[2];
} cudss;

/* A solution whose residual is below that part of the right-hand side gains two digits with every
 * step of refinement. */
static const double good_enough = 1e-2;

/* --- the library ---------------------------------------------------------------------------------
 */

/* Fails where the library is missing or of a version whose numbers are not known. */
static spry_status find_library(spry_context *ctx, int *major)
{
    int minor = 0;
    const spry_status status = factor_library_load(ctx, &library);
    *major = -1;
    if (status != SPRY_STATUS_OK)
        return SPRY_FAIL(ctx, status,
                         "precon direct: cuDSS cannot be loaded: install NVIDIA's libcudss (and "
                         "libcublas), or name its file in SPRY_CUDSS_LIBRARY");
    if (lib.cudssGetProperty(CUDSS_MAJOR, major) == CUDSS_OK &&
        lib.cudssGetProperty(CUDSS_MINOR, &minor) == CUDSS_OK &&
        (*major == 1 || (*major == 0 && minor == 7)))
        return SPRY_STATUS_OK;
    return SPRY_FAIL(ctx, SPRY_STATUS_UNSUPPORTED,
                     "precon direct: cuDSS %d.%d is of another interface: 0.7 and 1 are known",
                     *major, minor);
}

bool factor_cudss_is_available(spry_context *ctx, const spry_device *d)
{
    return d && d->engine == &engine_cuda && factor_library_load(ctx, &library) == SPRY_STATUS_OK;
}

/* The status of a call, reported where it failed. */
static spry_status check(cudss *c, int result, const char *what)
{
    static const char *const names[] = {"no error",      "not initialized", "no memory",
                                        "invalid value", "not supported",   "execution failed",
                                        "internal error"};
    c->result = result;
    if (result == CUDSS_OK)
        return SPRY_STATUS_OK;
    const bool known = result > 0 && result < (int)(sizeof names / sizeof *names);
    const spry_status status = result == CUDSS_ALLOC_FAILED    ? SPRY_STATUS_NO_MEMORY
                               : result == CUDSS_NOT_SUPPORTED ? SPRY_STATUS_UNSUPPORTED
                                                               : SPRY_STATUS_DEVICE;
    return SPRY_FAIL(c->d->ctx, status, "precon direct: cuDSS's %s: %s (%d)", what,
                     known ? names[result] : "an error without a name", result);
}

/* A call with the device's context current. */
#define CALL(c, name, ...)                                                      \
    do {                                                                        \
        const bool entered_ = cuda_enter((c)->d);                               \
        const int result_ = lib.name(__VA_ARGS__);                              \
        cuda_leave((c)->d, entered_);                                           \
        SPRY_GO((c)->d->ctx, device_end((c)->d, check(c, result_, &#name[5]))); \
    } while (0)

/* Version 0 brings large entries to the diagonal only where it is asked to. */
static int set_matching(const cudss *c, const side *s)
{
    int matched = s->form.matched;
    return c->major == 0
               ? lib.cudssConfigSet(c->config, CUDSS_0_USE_MATCHING, &matched, sizeof matched)
               : CUDSS_OK;
}

/* A phase, on the stream that the device works on now. */
static spry_status execute(cudss *c, const side *s, int phase, const char *what)
{
    spry_device *d = c->d;
    spry_status status = SPRY_STATUS_OK;
    if (d->recording) /* it may wait for the device, and allocate */
        return SPRY_FAIL(d->ctx, SPRY_STATUS_UNSUPPORTED, "cuDSS in the middle of a recording");
    SPRY_GO(d->ctx, device_begin(d, WORK_LAUNCH));
    const bool entered = cuda_enter(d);
    int result = lib.cudssSetStream(c->handle, d->stream->handle);
    if (result == CUDSS_OK)
        result = set_matching(c, s);
    if (result == CUDSS_OK)
        result = lib.cudssExecute(c->handle, phase, c->config, s->data, s->matrix, c->solution,
                                  c->right);
    cuda_leave(d, entered);
    SPRY_GO(d->ctx, device_end(d, check(c, result, what)));
done:
    return status;
}

/* --- opening and closing -------------------------------------------------------------------------
 */

static int type_of(spry_type type)
{
    static const int types[] = {[SPRY_TYPE_S] = CUDSS_R_32F,
                                [SPRY_TYPE_D] = CUDSS_R_64F,
                                [SPRY_TYPE_C] = CUDSS_C_32F,
                                [SPRY_TYPE_Z] = CUDSS_C_64F};
    return types[type];
}

/* What cuDSS has of a side. */
static void drop_factors(const cudss *c, side *s)
{
    const bool entered = cuda_enter(c->d);
    if (s->data)
        lib.cudssDataDestroy(c->handle, s->data);
    if (s->matrix)
        lib.cudssMatrixDestroy(s->matrix);
    s->data = s->matrix = NULL;
    cuda_leave(c->d, entered);
}

static void close_side(const cudss *c, side *s)
{
    drop_factors(c, s);
    device_matrix_free(&s->A);
    device_free(s->offsets);
    *s = (side){0};
}

/* The matrix on the device, csr being general CSR with sorted rows. */
static spry_status open_side(const cudss *c, const matrix_arrays *csr, side *s)
{
    spry_context *ctx = c->d->ctx;
    const int64_t count = csr->rows + 1;
    int32_t *offsets = NULL;
    spry_status status = SPRY_STATUS_OK;
    if (csr->nnz > INT32_MAX)
        return SPRY_FAIL(ctx, SPRY_STATUS_UNSUPPORTED,
                         "precon direct: %" PRId64 " entries are too many for cuDSS; take "
                         "direct:kind=sparse",
                         csr->nnz);
    SPRY_GO(ctx, base_alloc(ctx, count, sizeof *offsets, &offsets));
    for (int64_t i = 0; i < count; i++)
        offsets[i] = (int32_t)csr->offsets[i];
    SPRY_GO(ctx, device_matrix_put_csr(c->d, csr, &s->A));
    SPRY_GO(ctx, device_alloc(c->d, count * (int64_t)sizeof *offsets, &s->offsets));
    SPRY_GO(ctx, device_put(s->offsets, 0, offsets, count * (int64_t)sizeof *offsets));
done:
    base_free(ctx, offsets);
    return status;
}

/* A column of n numbers on the device, and cuDSS's word for it. */
static spry_status open_column(cudss *c, const factor *f, device_memory **m, void **column)
{
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(f->ctx, device_alloc(c->d, f->n * (int64_t)spry_type_size(f->type), m));
    CALL(c, cudssMatrixCreateDn, column, f->n, 1, f->n, device_address(*m), type_of(f->type),
         CUDSS_COLUMN_MAJOR);
done:
    return status;
}

static spry_status open_ones(cudss *c, const factor *f)
{
    const int64_t bytes = f->n * (int64_t)spry_type_size(f->type);
    void *ones = NULL;
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(f->ctx, base_alloc(f->ctx, f->n, spry_type_size(f->type), &ones));
    for (int64_t i = 0; i < f->n; i++)
        value_set(f->type, ones, i, (spry_scalar){1, 0});
    SPRY_GO(f->ctx, device_alloc(c->d, bytes, &c->ones));
    SPRY_GO(f->ctx, device_put(c->ones, 0, ones, bytes));
done:
    base_free(f->ctx, ones);
    return status;
}

static void cudss_close(factor *f)
{
    cudss *c = f->state;
    if (!c)
        return;
    for (int k = 0; k < 2; k++)
        close_side(c, &c->sides[k]);
    const bool entered = cuda_enter(c->d);
    if (c->solution)
        lib.cudssMatrixDestroy(c->solution);
    if (c->right)
        lib.cudssMatrixDestroy(c->right);
    if (c->config)
        lib.cudssConfigDestroy(c->config);
    if (c->handle)
        lib.cudssDestroy(c->handle);
    cuda_leave(c->d, entered);
    device_free(c->r);
    device_free(c->z);
    device_free(c->ones);
    base_free(f->ctx, c);
    f->state = NULL;
}

static spry_status cudss_open(factor *f, const spry_matrix *A)
{
    cudss *c = NULL;
    int major = 0;
    spry_status status = SPRY_STATUS_OK;
    if (!f->device || f->device->engine != &engine_cuda)
        return SPRY_FAIL(f->ctx, SPRY_STATUS_UNSUPPORTED,
                         "precon direct: kind=cudss is for CUDA devices; take direct:kind=sparse");
    SPRY_GO(f->ctx, find_library(f->ctx, &major));
    SPRY_GO(f->ctx, base_calloc(f->ctx, 1, sizeof *c, &c));
    f->state = c;
    c->d = f->device;
    c->major = major;
    if (f->n == 0)
        return SPRY_STATUS_OK;
    CALL(c, cudssCreate, &c->handle);
    if (getenv("CUDSS_THREADING_LIB")) /* cuDSS's own: orders are found by several threads */
        CALL(c, cudssSetThreadingLayer, c->handle, NULL);
    CALL(c, cudssConfigCreate, &c->config);
    SPRY_GO(f->ctx, open_column(c, f, &c->r, &c->right));
    SPRY_GO(f->ctx, open_column(c, f, &c->z, &c->solution));
    if (spry_type_is_complex(f->type))
        SPRY_GO(f->ctx, open_ones(c, f));
    SPRY_GO(f->ctx, open_side(c, &A->a, &c->sides[0]));
done:
    return status;
}

/* --- factors -------------------------------------------------------------------------------------
 */

static spry_status create_matrix(cudss *c, side *s, cudss_form form)
{
    const device_matrix *A = &s->A;
    const int type = type_of(A->type);
    const int view = form.kind == CUDSS_GENERAL ? CUDSS_VIEW_FULL : CUDSS_VIEW_UPPER;
    void *const offsets = device_address(s->offsets), *const columns = device_address(A->columns);
    void *const values = device_address(A->values);
    const bool entered = cuda_enter(c->d);
    int result;
    if (c->major == 0)
        result = ((cudss_create_csr_0)lib.cudssMatrixCreateCsr)(
            &s->matrix, A->rows, A->cols, A->nnz, offsets, NULL, columns, values, CUDSS_R_32I, type,
            form.kind, view, CUDSS_BASE_ZERO);
    else
        result = ((cudss_create_csr_1)lib.cudssMatrixCreateCsr)(
            &s->matrix, A->rows, A->cols, A->nnz, offsets, NULL, columns, values, CUDSS_R_32I,
            CUDSS_R_32I, type, form.kind, view, CUDSS_BASE_ZERO);
    cuda_leave(c->d, entered);
    return device_end(c->d, check(c, result, "MatrixCreateCsr"));
}

/* Whether what the analysis estimates fits on the device, and into the time that there is: by rates
 * that are the right size for a large GPU, of the order, which is found on the host, and of the
 * factors. */
static spry_status check_forecast(const factor *f, cudss *c, const side *s)
{
    int64_t bytes[CUDSS_ESTIMATES] = {0}, entries = 0, used, most, free = 0;
    size_t written;
    const bool entered = cuda_enter(c->d);
    const int known = lib.cudssDataGet(
        c->handle, s->data, c->major == 0 ? CUDSS_0_MEMORY_ESTIMATES : CUDSS_1_MEMORY_ESTIMATES,
        bytes, sizeof bytes, &written);
    if (lib.cudssDataGet(c->handle, s->data, CUDSS_DATA_LU_NNZ, &entries, sizeof entries,
                         &written) == CUDSS_OK)
        c->entries = entries;
    cuda_leave(c->d, entered);
    device_memory_now(c->d, &used, &most, &free);
    char asked[BASE_BYTES], left[BASE_BYTES];
    if (known == CUDSS_OK && free > 0 && bytes[1] > free)
        return SPRY_FAIL(
            f->ctx, SPRY_STATUS_NO_MEMORY,
            "precon direct: cuDSS's factors of %" PRId64 " rows take %s, %s are free on %s", f->n,
            base_bytes((double)bytes[1], asked), base_bytes((double)free, left), c->d->facts.name);
    const double seconds = 1e-6 * (double)s->A.nnz + 4e-9 * (double)c->entries;
    return f->most == 0 || seconds <= f->most
               ? SPRY_STATUS_OK
               : SPRY_FAIL(f->ctx, SPRY_STATUS_UNSUPPORTED,
                           "factors by cuDSS are forecast to take %.2g s, %.2g were allowed",
                           seconds, f->most);
}

static spry_status analyse(const factor *f, cudss *c, side *s, cudss_form form)
{
    spry_status status = SPRY_STATUS_OK;
    drop_factors(c, s);
    s->form = form;
    SPRY_GO(f->ctx, create_matrix(c, s, form));
    CALL(c, cudssDataCreate, c->handle, &s->data);
    SPRY_GO(f->ctx, execute(c, s, CUDSS_ANALYSIS, "analysis"));
    SPRY_GO(f->ctx, base_go_on(f->ctx, "precon direct"));
    SPRY_GO(f->ctx, check_forecast(f, c, s));
done:
    return status;
}

static bool is_of(const side *s, cudss_form form)
{
    return s->data && s->form.kind == form.kind && s->form.matched == form.matched;
}

/* Pivots that were replaced, to be reported; not all kinds of factors count them. */
static int count_perturbed(const cudss *c, const side *s)
{
    int count = 0;
    size_t written;
    const bool entered = cuda_enter(c->d);
    const int result =
        lib.cudssDataGet(c->handle, s->data, CUDSS_DATA_NPIVOTS, &count, sizeof count, &written);
    cuda_leave(c->d, entered);
    return result == CUDSS_OK ? count : 0;
}

/* Factors of a form; *made is false where the matrix turned out not to have it. An analysis that
 * stands is kept. */
static spry_status factor_as(const factor *f, cudss *c, side *s, cudss_form form, bool *made)
{
    const bool again = is_of(s, form);
    int info = 0;
    size_t written;
    spry_status status = SPRY_STATUS_OK;
    *made = false;
    if (!again)
        SPRY_GO(f->ctx, analyse(f, c, s, form));
    SPRY_GO(f->ctx, execute(c, s, again ? CUDSS_REFACTORIZATION : CUDSS_FACTORIZATION,
                            again ? "refactorization" : "factorization"));
    CALL(c, cudssDataGet, c->handle, s->data, CUDSS_DATA_INFO, &info, sizeof info, &written);
    c->perturbed = count_perturbed(c, s);
    SPRY_GO(f->ctx, base_go_on(f->ctx, "precon direct"));
    *made = info == 0;
done:
    if (status != SPRY_STATUS_OK || !*made)
        drop_factors(c, s);
    return status;
}

/* |r - A z| / |r| for a solution z with random signs r. */
static spry_status try_out(const factor *f, const spry_matrix *A, double *residual)
{
    spry_context *ctx = f->ctx;
    const matrix_arrays *a = &A->a;
    void *z = NULL;
    double sum = 0;
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(ctx, base_alloc(ctx, f->n, spry_type_size(f->type), &z));
    for (int64_t i = 0; i < f->n; i++)
        value_set(f->type, z, i, (spry_scalar){base_random(2, (uint64_t)i) & 1 ? 1 : -1, 0});
    SPRY_GO(ctx, f->class->solve(f, SPRY_TRANSPOSE_NO, 1, &z));
    for (int64_t i = 0; i < a->rows; i++) {
        double re = base_random(2, (uint64_t)i) & 1 ? 1 : -1, im = 0;
        for (int64_t k = a->offsets[i]; k < a->offsets[i + 1]; k++) {
            const spry_scalar v = value_get(a->type, a->values, k),
                              x = value_get(a->type, z, a->col_index[k]);
            re -= v.re * x.re - v.im * x.im;
            im -= v.re * x.im + v.im * x.re;
        }
        sum += re * re + im * im;
    }
    *residual = sqrt(sum / (double)f->n);
done:
    base_free(ctx, z);
    return status;
}

/* The forms to try, the best first; how many. */
static spry_status find_forms(const spry_matrix *A, cudss *c, cudss_form forms[4], int *count)
{
    const bool is_complex = spry_type_is_complex(A->a.type);
    bool definite = false;
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(A->ctx, matrix_may_be_definite(A, &definite));
    SPRY_GO(A->ctx, matrix_find_out(A->ctx, A, SPRY_FACT_HERMITIAN, &c->hermitian));
    SPRY_GO(A->ctx, matrix_find_out(A->ctx, A, SPRY_FACT_SYMMETRIC, &c->symmetric));
    *count = 0;
    if (definite)
        forms[(*count)++].kind = is_complex ? CUDSS_HPD : CUDSS_SPD;
    if (c->hermitian || c->symmetric)
        forms[(*count)++].kind = is_complex && c->hermitian ? CUDSS_HERMITIAN : CUDSS_SYMMETRIC;
    forms[(*count)++].kind = CUDSS_GENERAL;
    if (c->major == 0)
        forms[(*count)++] = (cudss_form){CUDSS_GENERAL, true};
done:
    return status;
}

/* Where to begin: with the form of the existing factors, if the matrix may still have it. */
static int first_form(const side *s, const cudss_form *forms, int count)
{
    for (int k = 0; k < count && s->data; k++)
        if (is_of(s, forms[k]))
            return k;
    return 0;
}

/* Factors that were tried out. What does not have the form, or is not supported in it, is no
 * failure yet. */
static spry_status fill_as(factor *f, const spry_matrix *A, cudss_form form, double *residual)
{
    cudss *c = f->state;
    side *s = &c->sides[0];
    bool made = false;
    *residual = INFINITY;
    spry_status status = factor_as(f, c, s, form, &made);
    if (status == SPRY_STATUS_OK && made)
        status = try_out(f, A, residual);
    const bool fits = *residual <= good_enough;
    base_log(f->ctx, SPRY_LOG_DEBUG,
             "cuDSS: taken as %d%s, %d pivots perturbed, residual %.1e of a first solution",
             form.kind, form.matched ? ", matched" : "", c->perturbed, *residual);
    if (!fits)
        drop_factors(c, s);
    return status == SPRY_STATUS_UNSUPPORTED && c->result == CUDSS_NOT_SUPPORTED ? SPRY_STATUS_OK
                                                                                 : status;
}

static spry_status cudss_fill(factor *f, const spry_matrix *A)
{
    spry_context *ctx = f->ctx;
    cudss *c = f->state;
    side *s = &c->sides[0];
    cudss_form forms[4] = {{0}};
    int count = 0;
    double residual = INFINITY;
    spry_status status = SPRY_STATUS_OK;
    f->by = "cuDSS";
    if (f->n == 0)
        return SPRY_STATUS_OK;
    close_side(c, &c->sides[1]);
    SPRY_GO(ctx,
            device_put(s->A.values, 0, A->a.values, A->a.nnz * (int64_t)spry_type_size(A->a.type)));
    SPRY_GO(ctx, find_forms(A, c, forms, &count));
    for (int k = first_form(s, forms, count); k < count && !(residual <= good_enough); k++) {
        const bool kept = is_of(s, forms[k]);
        SPRY_GO(ctx, fill_as(f, A, forms[k], &residual));
        if (kept && !s->data) /* other values may have wanted another order */
            SPRY_GO(ctx, fill_as(f, A, forms[k], &residual));
    }
    if (!(residual <= good_enough))
        status = SPRY_FAIL(ctx, SPRY_STATUS_BAD_INPUT,
                           "precon direct: cuDSS's factors are of no use (residual %.1e, %d pivots "
                           "were perturbed): the matrix is singular, or wants other pivots; try "
                           "direct:kind=sparse",
                           residual, c->perturbed);
    f->bytes = c->entries * (int64_t)(spry_type_size(f->type) + sizeof(int32_t));
done:
    return status;
}

/* --- solving -------------------------------------------------------------------------------------
 */

/* A^T and its factors. */
static spry_status make_transposed(const factor *f, cudss *c)
{
    spry_context *ctx = f->ctx;
    spry_matrix *A = NULL, *turned = NULL, *owned = NULL;
    const spry_matrix *csr = NULL;
    bool made = false;
    spry_status status = SPRY_STATUS_OK;
    if (c->d->recording)
        return SPRY_FAIL(ctx, SPRY_STATUS_UNSUPPORTED, "cuDSS in the middle of a recording");
    SPRY_GO(ctx, device_matrix_get(&c->sides[0].A, &A));
    SPRY_GO(ctx, spry_matrix_transpose(A, false, &turned));
    SPRY_GO(ctx, matrix_as_sorted_csr(turned, &csr, &owned));
    SPRY_GO(ctx, open_side(c, &csr->a, &c->sides[1]));
    SPRY_GO(ctx, factor_as(f, c, &c->sides[1], c->sides[0].form, &made));
    if (!made)
        status = SPRY_FAIL(ctx, SPRY_STATUS_BAD_INPUT,
                           "precon direct: cuDSS has no factors of the transposed matrix");
done:
    if (status != SPRY_STATUS_OK)
        close_side(c, &c->sides[1]);
    spry_matrix_free(A);
    spry_matrix_free(turned);
    spry_matrix_free(owned);
    return status;
}

static spry_status conjugate(const factor *f, const cudss *c, const device_memory *from,
                             device_memory *to)
{
    return device_multiply_elements(c->d, f->type, f->n, (spry_scalar){1, 0}, from, true, c->ones,
                                    (spry_scalar){0, 0}, to);
}

spry_status factor_cudss_apply(const factor *f, spry_transpose transpose, const device_memory *r,
                               device_memory *z)
{
    cudss *c = f->state;
    const bool plain = transpose == SPRY_TRANSPOSE_NO;
    const bool turned = !plain && !c->hermitian && !c->symmetric;
    /* A^H z = r is A^T conj(z) = conj(r), and with A itself where it is symmetric; of a hermitian A
     * so is A^T z = r. */
    const bool conjugated =
        c->ones && !plain &&
        (transpose == SPRY_TRANSPOSE_CONJUGATE ? !c->hermitian : c->hermitian && !c->symmetric);
    spry_status status = SPRY_STATUS_OK;
    if (f->n == 0)
        return SPRY_STATUS_OK;
    if (turned && !c->sides[1].data)
        SPRY_GO(f->ctx, make_transposed(f, c));
    if (conjugated)
        SPRY_GO(f->ctx, conjugate(f, c, r, c->r));
    CALL(c, cudssMatrixSetValues, c->right, device_address(conjugated ? c->r : r));
    CALL(c, cudssMatrixSetValues, c->solution, device_address(z));
    SPRY_GO(f->ctx, execute(c, &c->sides[turned], CUDSS_SOLVE, "solve"));
    if (conjugated)
        SPRY_GO(f->ctx, conjugate(f, c, z, z));
done:
    return status;
}

static spry_status cudss_solve(const factor *f, spry_transpose transpose, int count, void *const *z)
{
    const cudss *c = f->state;
    const int64_t bytes = f->n * (int64_t)spry_type_size(f->type);
    spry_status status = SPRY_STATUS_OK;
    for (int k = 0; k < count && f->n > 0; k++) {
        SPRY_GO(f->ctx, device_put(c->r, 0, z[k], bytes));
        SPRY_GO(f->ctx, factor_cudss_apply(f, transpose, c->r, c->z));
        SPRY_GO(f->ctx, device_get(c->z, 0, z[k], bytes));
    }
done:
    return status;
}

const factor_class factor_cudss = {.name = "sparse",
                                   .open = cudss_open,
                                   .fill = cudss_fill,
                                   .solve = cudss_solve,
                                   .close = cudss_close};
