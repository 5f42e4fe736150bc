/*
 * Sparse factors of any matrix by UMFPACK of SuiteSparse: T. A. Davis, Algorithm 832: UMFPACK V4.3,
 * an unsymmetric-pattern multifrontal method, ACM Trans. Math. Softw. 30 (2004), 196-199. It takes
 * columns; given our rows it factors A^T.
 */
#include "direct/factor.h"

#ifndef SPRY_HAVE_UMFPACK

const sparse_library sparse_umfpack = {.library = NULL};

#else

#include "direct/library.h"

#include <umfpack.h>

#define CALLS(call)                                                                             \
    call(umfpack_zl_free_symbolic) call(umfpack_zl_free_numeric) call(umfpack_dl_free_symbolic) \
        call(umfpack_dl_free_numeric) call(umfpack_zl_defaults) call(umfpack_dl_defaults)       \
            call(umfpack_zl_symbolic) call(umfpack_dl_symbolic) call(umfpack_zl_numeric)        \
                call(umfpack_dl_numeric) call(umfpack_zl_wsolve) call(umfpack_dl_wsolve)
static struct functions {
    CALLS(FACTOR_FIELD)
} lib;
static const base_symbol symbols[] = {CALLS(FACTOR_SYMBOL)};
static factor_library library = {
    .name = "UMFPACK",
    .variable = "SPRY_UMFPACK_LIBRARY",
    .files = {"libumfpack.so." FACTOR_TEXT(UMFPACK_MAIN_VERSION)},
    .symbols = symbols,
    .count = sizeof symbols / sizeof *symbols,
    .table = &lib,
};

typedef struct umfpack {
    void *symbolic, *numeric;
    double control[UMFPACK_CONTROL], info[UMFPACK_INFO];
    int64_t *places; /* room of a solve */
    double *work;
} umfpack;

/* What a call's outcome means; *fits is not touched. */
static spry_status outcome(const sparse_job *job, const char *what, int64_t result)
{
    if (result == UMFPACK_OK)
        return SPRY_STATUS_OK;
    if (result == UMFPACK_WARNING_singular_matrix)
        return SPRY_FAIL(job->ctx, SPRY_STATUS_BAD_INPUT,
                         "precon direct: the matrix is singular (UMFPACK found a pivot that is 0); "
                         "try direct:regular=yes, or another preconditioner");
    return sparse_failed(job, &sparse_umfpack, what, result == UMFPACK_ERROR_out_of_memory, "ilu",
                         (int)result);
}

static void general_close(sparse_job *job, void *state)
{
    umfpack *u = state;
    if (!u)
        return;
    if (job->is_complex) {
        lib.umfpack_zl_free_symbolic(&u->symbolic);
        lib.umfpack_zl_free_numeric(&u->numeric);
    } else {
        lib.umfpack_dl_free_symbolic(&u->symbolic);
        lib.umfpack_dl_free_numeric(&u->numeric);
    }
    base_free(job->ctx, u->places);
    base_free(job->ctx, u->work);
    base_free(job->ctx, u);
}

/* By the pattern alone, so that new values give what a new one would. */
static spry_status general_open(sparse_job *job, void **state)
{
    spry_context *ctx = job->ctx;
    const int64_t n = job->n;
    umfpack *u = NULL;
    int64_t result;
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(ctx, base_calloc(ctx, 1, sizeof *u, &u));
    *state = u;
    if (job->is_complex)
        lib.umfpack_zl_defaults(u->control);
    else
        lib.umfpack_dl_defaults(u->control);
    u->control[UMFPACK_IRSTEP] = 0; /* the iteration around it refines */
    SPRY_GO(ctx, base_alloc(ctx, n, sizeof *u->places, &u->places));
    SPRY_GO(ctx, base_alloc(ctx, job->is_complex ? 4 * n : n, sizeof *u->work, &u->work));
    if (job->is_complex)
        result = lib.umfpack_zl_symbolic(n, n, job->offsets, job->rows, NULL, NULL, &u->symbolic,
                                         u->control, u->info);
    else
        result = lib.umfpack_dl_symbolic(n, n, job->offsets, job->rows, NULL, &u->symbolic,
                                         u->control, u->info);
    status = outcome(job, "analysis", result);
done:
    return status;
}

static spry_status general_fill(sparse_job *job, void *state, bool *fits)
{
    umfpack *u = state;
    int64_t result;
    *fits = true;
    if (job->is_complex) {
        lib.umfpack_zl_free_numeric(&u->numeric);
        result = lib.umfpack_zl_numeric(job->offsets, job->rows, job->values, NULL, u->symbolic,
                                        &u->numeric, u->control, u->info);
    } else {
        lib.umfpack_dl_free_numeric(&u->numeric);
        result = lib.umfpack_dl_numeric(job->offsets, job->rows, job->values, u->symbolic,
                                        &u->numeric, u->control, u->info);
    }
    return outcome(job, "factorization", result);
}

static spry_status general_solve(const sparse_job *job, void *state, spry_transpose transpose)
{
    const umfpack *u = state;
    int64_t result;
    /* A z = r is (A^T)^T z = r, and A^H z = r is conj(A^T) z = r. */
    const int system = transpose == SPRY_TRANSPOSE_NO ? UMFPACK_Aat : UMFPACK_A;
    if (transpose == SPRY_TRANSPOSE_CONJUGATE)
        sparse_conjugate(job, job->right);
    if (job->is_complex)
        result = lib.umfpack_zl_wsolve(system, job->offsets, job->rows, job->values, NULL,
                                       job->work, NULL, job->right, NULL, u->numeric, u->control,
                                       NULL, u->places, u->work);
    else
        result =
            lib.umfpack_dl_wsolve(system, job->offsets, job->rows, job->values, job->work,
                                  job->right, u->numeric, u->control, NULL, u->places, u->work);
    if (transpose == SPRY_TRANSPOSE_CONJUGATE)
        sparse_conjugate(job, job->work);
    return outcome(job, "solve", result);
}

static double general_bytes(const sparse_job *job, void *state)
{
    const umfpack *u = state;
    (void)job;
    return u->info[UMFPACK_SIZE_OF_UNIT] * u->info[UMFPACK_NUMERIC_SIZE];
}

const sparse_library sparse_umfpack = {.library = &library,
                                       .open = general_open,
                                       .fill = general_fill,
                                       .solve = general_solve,
                                       .close = general_close,
                                       .bytes = general_bytes};

#endif
