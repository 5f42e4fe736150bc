/*
 * Sparse factors of hermitian positive definite matrices by CHOLMOD of SuiteSparse: Y. Chen, T. A.
 * Davis, W. W. Hager, S. Rajamanickam, Algorithm 887: CHOLMOD, supernodal sparse Cholesky
 * factorization and update/downdate, ACM Trans. Math. Softw. 35 (2008), 22. It takes columns; given
 * our rows it factors A^T, which is conj(A).
 */
#include "base/bytes.h"
#include "direct/factor.h"

#ifndef SPRY_HAVE_CHOLMOD

const sparse_library sparse_cholmod = {.library = NULL};

#else

#include "direct/library.h"

#include <cholmod.h>
#include <omp.h>

#define CALLS(call)                                                               \
    call(cholmod_l_free_factor) call(cholmod_l_free_dense) call(cholmod_l_finish) \
        call(cholmod_l_start) call(cholmod_l_analyze) call(cholmod_l_factorize)   \
            call(cholmod_l_solve2)
static struct functions {
    CALLS(FACTOR_FIELD)
} lib;
static const base_symbol symbols[] = {CALLS(FACTOR_SYMBOL)};
static factor_library library = {
    .name = "CHOLMOD",
    .variable = "SPRY_CHOLMOD_LIBRARY",
    .files = {"libcholmod.so." FACTOR_TEXT(CHOLMOD_MAIN_VERSION)},
    .symbols = symbols,
    .count = sizeof symbols / sizeof *symbols,
    .table = &lib,
};

typedef struct cholmod {
    cholmod_common common;
    cholmod_factor *factor;
    cholmod_dense *z, *room, *more; /* what solves leave for the next one */
} cholmod;

static cholmod_sparse matrix_of(const sparse_job *job)
{
    return (cholmod_sparse){.nrow = (size_t)job->n,
                            .ncol = (size_t)job->n,
                            .nzmax = (size_t)job->nnz,
                            .p = job->offsets,
                            .i = job->rows,
                            .x = job->values,
                            .stype = 1,
                            .itype = CHOLMOD_LONG,
                            .xtype = job->is_complex ? CHOLMOD_COMPLEX : CHOLMOD_REAL,
                            .dtype = CHOLMOD_DOUBLE,
                            .sorted = 1,
                            .packed = 1};
}

static spry_status outcome(const sparse_job *job, const char *what, const cholmod *c)
{
    if (c->common.status >= CHOLMOD_OK)
        return SPRY_STATUS_OK;
    const bool no_memory =
        c->common.status == CHOLMOD_OUT_OF_MEMORY || c->common.status == CHOLMOD_TOO_LARGE;
    return sparse_failed(job, &sparse_cholmod, what, no_memory, "ic", c->common.status);
}

/* How many numbers the factor has is known before it is made; CHOLMOD itself knows no limit. */
static spry_status check_room(const sparse_job *job, double numbers)
{
    const double bytes = numbers * (job->is_complex ? 16 : 8);
    const double left = (double)(job->ctx->options.memory_limit - job->ctx->memory_now);
    if (bytes <= left)
        return SPRY_STATUS_OK;
    char asked[BASE_BYTES], room[BASE_BYTES];
    return SPRY_FAIL(job->ctx, SPRY_STATUS_NO_MEMORY,
                     "precon direct: the factor of %" PRId64
                     " rows takes %s, %s are left of the memory limit; try ic, or amg",
                     job->n, base_bytes(bytes, asked), base_bytes(left, room));
}

static void definite_close(sparse_job *job, void *state)
{
    cholmod *c = state;
    if (!c)
        return;
    lib.cholmod_l_free_factor(&c->factor, &c->common);
    lib.cholmod_l_free_dense(&c->z, &c->common);
    lib.cholmod_l_free_dense(&c->room, &c->common);
    lib.cholmod_l_free_dense(&c->more, &c->common);
    lib.cholmod_l_finish(&c->common);
    base_free(job->ctx, c);
}

static spry_status definite_open(sparse_job *job, void **state)
{
    cholmod *c = NULL;
    const spry_status status = base_calloc(job->ctx, 1, sizeof *c, &c);
    if (status != SPRY_STATUS_OK)
        return status;
    *state = c;
    lib.cholmod_l_start(&c->common);
    c->common.print = 0;
    c->common.try_catch = 1;
    c->common.quick_return_if_not_posdef = 1;
    cholmod_sparse A = matrix_of(job);
    c->factor = lib.cholmod_l_analyze(&A, &c->common);
    const spry_status analysed = outcome(job, "analysis", c);
    return analysed == SPRY_STATUS_OK ? check_room(job, c->common.lnz) : analysed;
}

static spry_status definite_fill(sparse_job *job, void *state, bool *fits)
{
    cholmod *c = state;
    cholmod_sparse A = matrix_of(job);
    c->common.status = CHOLMOD_OK;
    /* It takes four threads whatever the context's limit, which the system may refuse. */
    const int levels = omp_get_max_active_levels();
    omp_set_max_active_levels(0);
    lib.cholmod_l_factorize(&A, c->factor, &c->common);
    omp_set_max_active_levels(levels);
    *fits = c->common.status != CHOLMOD_NOT_POSDEF && c->factor->minor == c->factor->n;
    return *fits ? outcome(job, "factorization", c) : SPRY_STATUS_OK;
}

static spry_status definite_solve(const sparse_job *job, void *state, spry_transpose transpose)
{
    cholmod *c = state;
    const size_t n = (size_t)job->n, parts = job->is_complex ? 2 : 1;
    cholmod_dense r = {.nrow = n,
                       .ncol = 1,
                       .nzmax = n,
                       .d = n,
                       .x = job->right,
                       .xtype = job->is_complex ? CHOLMOD_COMPLEX : CHOLMOD_REAL,
                       .dtype = CHOLMOD_DOUBLE};
    const bool turned = transpose != SPRY_TRANSPOSE_YES; /* A = A^H, and A^T is what was factored */
    if (turned)
        sparse_conjugate(job, job->right);
    c->common.status = CHOLMOD_OK;
    lib.cholmod_l_solve2(CHOLMOD_A, c->factor, &r, NULL, &c->z, NULL, &c->room, &c->more,
                         &c->common);
    const spry_status status = outcome(job, "solve", c);
    if (status != SPRY_STATUS_OK)
        return status;
    memcpy(job->work, c->z->x, n * parts * sizeof(double));
    if (turned)
        sparse_conjugate(job, job->work);
    return SPRY_STATUS_OK;
}

static double definite_bytes(const sparse_job *job, void *state)
{
    const cholmod *c = state;
    /* Numbers and their rows; supernodes hold somewhat more. */
    return (job->is_complex ? 24 : 16) * (c->common.lnz + (double)job->n * 8);
}

const sparse_library sparse_cholmod = {.library = &library,
                                       .open = definite_open,
                                       .fill = definite_fill,
                                       .solve = definite_solve,
                                       .close = definite_close,
                                       .bytes = definite_bytes};

#endif
