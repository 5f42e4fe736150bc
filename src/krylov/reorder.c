/* The solver's part of another order: when it may be, and the matrix in it. */
#include "krylov/solver.h"

#include "choose/tune.h"
#include "device/engine/device.h"
#include "matrix/entries.h"
#include "matrix/stats.h"

#include <omp.h>
#include <stdlib.h>

/*
 * Iterations at most where the diagonal outweighs the rest of every row of a sample: with rows
 * divided by it eigenvalues are within t of 1, and conjugate gradients take about
 * sqrt(k) log(2 / tol) / 2 for k = (1 + t) / (1 - t) (G. H. Golub, C. F. Van Loan, Matrix
 * Computations, 2013, section 11.3). Others take no more, as a rule of thumb, than twice that.
 */
static double most_iterations(const matrix_arrays *a, double tol)
{
    enum { SAMPLES = 1024, MOST = 1000 };
    const int64_t stride = a->rows / SAMPLES + 1;
    double worst = 0;
    for (int64_t i = 0; i < a->rows; i += stride) {
        double diagonal = 0, others = 0;
        if (a->offsets[i + 1] - a->offsets[i] > MOST)
            continue; /* too much to look at, and its diagonal may be anywhere */
        for (int64_t k = a->offsets[i]; k < a->offsets[i + 1]; k++) {
            const spry_scalar v = value_get(a->type, a->values, k);
            *(a->col_index[k] == i ? &diagonal : &others) += hypot(v.re, v.im);
        }
        worst = others < worst * diagonal ? worst : diagonal > 0 ? others / diagonal : INFINITY;
    }
    return worst < 1 ? sqrt((1 + worst) / (1 - worst)) * log(2 / fmax(tol, 1e-16)) : INFINITY;
}

/* What the preconditioner's options say of rows: of that of an inner solver, too. */
static precon_rows asked_rows(const spry_solver *solver)
{
    spry_context *ctx = solver->ctx;
    const precon_spec *spec = &solver->setup.spec;
    solver_options inner;
    precon_spec own;
    precon_rows rows = {0};
    precon_spec_rows(ctx, spec, &rows);
    if (spec->kind != &precon_kind_inner)
        return rows;
    const base_kept before = base_try(ctx);
    spry_status status = spry_options_default(ctx, solver_option_list(), &inner);
    if (status == SPRY_STATUS_OK)
        status = spry_options_parse(ctx, solver_option_list(), &inner, precon_spec_options(spec));
    if (status == SPRY_STATUS_OK)
        status = precon_spec_read(ctx, inner.precon, &own);
    if (status == SPRY_STATUS_OK)
        precon_spec_rows(ctx, &own, &rows);
    base_forgive(ctx, &before); /* who makes it says what is wrong */
    return rows;
}

/* What keeps the solver from another order; NULL: nothing. */
static const char *obstacle(const spry_solver *solver)
{
    const spry_matrix *A = solver->asked.matrix;
    if (!A)
        return "a matrix, and there is an operator alone";
    if (solver->asked.precon)
        return "a preconditioner of its own, and one is given";
    if (A->distributed)
        return "a matrix that is not distributed over ranks";
    if (!matrix_is_square(A))
        return "a square matrix";
    if (asked_rows(solver).named)
        return "a preconditioner without options that name rows by number";
    return NULL;
}

/* Rows that stay together; 0: blocks of several sizes would be torn. */
static int block_of(const spry_solver *solver, const spry_matrix *csr)
{
    const precon_rows rows = asked_rows(solver);
    if (rows.block > 0)
        return csr->a.rows % rows.block == 0 && rows.block < 1000 ? (int)rows.block : 0;
    const int found = stats_find_block(csr);
    return found == 1 && rows.patterned ? 0 : found;
}

/* Bytes of x that are near where the solver works. */
static int64_t near_bytes(const spry_solver *solver)
{
    return solver->setup.device ? solver->setup.device->facts.cache_bytes : tune_second_cache();
}

static order_forecast forecast(const spry_solver *solver, const spry_matrix *csr)
{
    const double guess = solver_guess_products(solver);
    const double most = most_iterations(&csr->a, solver->asked.options.tol);
    const double products = precon_sweeps(solver_attempt(solver)->precon.kind) * fmin(guess, most);
    const int workers = omp_get_num_procs() > 1 ? omp_get_num_procs() : 1;
    order_forecast f = solver->setup.device
                           ? order_on_device((double)near_bytes(solver), products)
                           : order_on_host((double)near_bytes(solver), products, workers);
    f.device = solver->setup.device;
    return f;
}

static spry_status carry_near_null(const spry_matrix *A, const solver_order *order)
{
    spry_context *ctx = order->matrix->ctx;
    spry_vector **v = NULL;
    spry_status status = SPRY_STATUS_OK;
    if (A->near_count == 0)
        return SPRY_STATUS_OK;
    SPRY_GO(ctx, base_calloc(ctx, A->near_count, sizeof *v, &v));
    for (int k = 0; k < A->near_count; k++) {
        SPRY_GO(ctx, vector_new_at(ctx, NULL, A->a.type, A->a.rows, &v[k]));
        SPRY_GO(ctx, order_put(order, A->near_null[k], v[k]));
    }
    status = spry_matrix_set_near_null(order->matrix, A->near_count, (const spry_vector *const *)v);
done:
    for (int k = 0; v && k < A->near_count; k++)
        spry_vector_free(v[k]);
    base_free(ctx, v);
    return status;
}

/* The matrix in the order that was found. */
static spry_status take_order(spry_solver *solver, const spry_matrix *csr)
{
    spry_context *ctx = solver->ctx;
    solver_order *order = &solver->setup.order;
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(ctx, order_apply(order, solver->setup.device, csr, &order->matrix));
    matrix_carry(solver->asked.matrix, order->matrix, FACTS_BUT_ORDER);
    SPRY_GO(ctx, carry_near_null(solver->asked.matrix, order));
    solver->setup.matrix = order->matrix;
done:
    return status;
}

static spry_status find_and_take(spry_solver *solver, const char *asked)
{
    spry_context *ctx = solver->ctx;
    const spry_matrix *csr = NULL;
    spry_matrix *owned = NULL;
    spry_status status = SPRY_STATUS_OK;
    const double begin = base_seconds();
    SPRY_GO(ctx, matrix_as_csr(solver->asked.matrix, &csr, &owned));
    const int block = block_of(solver, csr);
    if (block == 0 && asked)
        status = SPRY_FAIL(ctx, SPRY_STATUS_BAD_USAGE,
                           "reorder=%s would tear the blocks that precon=%.64s is made of", asked,
                           solver->setup.spec.text);
    if (block == 0)
        goto done;
    const order_forecast f = forecast(solver, csr);
    SPRY_GO(ctx, order_find(csr, &f, asked, block, &solver->setup.order));
    if (!solver->setup.order.from)
        goto done;
    SPRY_GO(ctx, take_order(solver, csr));
    base_log(ctx, SPRY_LOG_INFO, "rows and columns reordered by %s in %.2g s",
             solver->setup.order.name, base_seconds() - begin);
done:
    spry_matrix_free(owned);
    return status;
}

/* Whether x is so small that nothing is looked at, or the device is one of which the rules know
 * nothing; and whether memory is so short that a second matrix could take it from what is made
 * next. */
static bool is_near(const spry_solver *solver)
{
    const matrix_arrays *a = &solver->asked.matrix->a;
    return (int64_t)spry_type_size(a->type) * a->cols <= near_bytes(solver) ||
           (solver->setup.device &&
            (solver->setup.device->facts.processor || near_bytes(solver) <= 0));
}

static bool is_cramped(const spry_matrix *A)
{
    const double times = 4, bytes = (double)matrix_csr_bytes(A->a.type, A->a.rows, A->a.nnz);
    const double limit = (double)A->ctx->options.memory_limit;
    return limit > 0 && times * bytes > limit - (double)A->ctx->memory_now;
}

spry_status solver_reorder(spry_solver *solver)
{
    const char *asked = solver->asked.within ? NULL : solver_asked_order(solver);
    const char *needs = obstacle(solver);
    if (needs && asked)
        return SPRY_FAIL(solver->ctx, SPRY_STATUS_BAD_USAGE, "reorder=%s needs %s", asked, needs);
    if (needs || solver->asked.options.reorder == REORDER_NONE || solver->asked.within ||
        (!asked && (is_near(solver) || is_cramped(solver->asked.matrix))))
        return SPRY_STATUS_OK;
    const base_kept before = base_try(solver->ctx);
    const spry_status status = find_and_take(solver, asked);
    if (status != SPRY_STATUS_OK)
        solver_drop_order(solver);
    if (asked || status != SPRY_STATUS_NO_MEMORY)
        return status;
    base_forgive(solver->ctx, &before); /* it can be done without */
    return SPRY_STATUS_OK;
}

void solver_share_facts(const spry_solver *solver, bool in)
{
    const spry_matrix *A = solver->asked.matrix, *B = solver->setup.order.matrix;
    if (B)
        matrix_carry(in ? A : B, in ? B : A, FACTS_BUT_ORDER);
}

spry_status solver_renew_order(spry_solver *solver)
{
    spry_context *ctx = solver->ctx;
    spry_matrix *A = solver->setup.order.matrix, *fresh = NULL, *owned = NULL;
    const spry_matrix *csr = NULL;
    spry_status status = SPRY_STATUS_OK;
    if (!A)
        return SPRY_STATUS_OK;
    SPRY_GO(ctx, matrix_as_csr(solver->asked.matrix, &csr, &owned));
    SPRY_GO(ctx, order_apply(&solver->setup.order, solver->setup.device, csr, &fresh));
    matrix_copy_bytes(ctx, A->a.values, fresh->a.values,
                      (size_t)A->a.nnz * spry_type_size(A->a.type));
    matrix_changed(A);
    matrix_carry(solver->asked.matrix, A, FACTS_BUT_ORDER);
done:
    spry_matrix_free(fresh);
    spry_matrix_free(owned);
    return status;
}
