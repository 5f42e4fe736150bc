/*
 * Singular systems that people have on purpose: a null space that is known is taken out of b, of x
 * and of what the preconditioner gives, so that the answer is the shortest there is. Orthonormal
 * vectors span it; that of A^H, which b must have no part in, may be another one.
 */
#include "krylov/solver.h"

#include <float.h>

/* --- bases ---------------------------------------------------------------------------------------
 */

static double type_epsilon(spry_type type)
{
    return type_is_single(type) ? FLT_EPSILON : DBL_EPSILON;
}

/* Takes a vector, also when it fails, after what it shares with those before it was removed. */
static spry_status basis_add(null_basis *basis, spry_vector *v)
{
    spry_context *ctx = v->ctx;
    const double independent = 100 * type_epsilon(v->type); /* what rounding leaves of a copy */
    double before, after;
    const int index = basis->count;
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(ctx, spry_vector_norm(v, &before));
    SPRY_GO(ctx, null_basis_remove(basis, v));
    SPRY_GO(ctx, null_basis_remove(basis, v)); /* once leaves rounding errors of what was removed */
    SPRY_GO(ctx, spry_vector_norm(v, &after));
    if (!(after > independent * before) || !isfinite(before))
        SPRY_GO(ctx, SPRY_FAIL(ctx, SPRY_STATUS_BAD_INPUT, "null vector %d (from 0) %s", index,
                               before == 0         ? "is zero"
                               : !isfinite(before) ? "is not finite"
                                                   : "depends on those before it"));
    SPRY_GO(ctx, spry_vector_scale((spry_scalar){1 / after, 0}, v));
    basis->v[basis->count++] = v;
    v = NULL;
done:
    spry_vector_free(v);
    return status;
}

/* Orthonormal copies of a caller's vectors, which stay where those are. */
static spry_status basis_from(spry_context *ctx, int count, const spry_vector *const *from,
                              null_basis *basis)
{
    spry_status status = SPRY_STATUS_OK;
    *basis = (null_basis){0};
    SPRY_GO(ctx, base_calloc(ctx, count, sizeof(spry_vector *), &basis->v));
    for (int k = 0; k < count; k++) {
        spry_vector *copy = NULL;
        if (!from[k] || from[k]->n != from[0]->n || from[k]->type != from[0]->type) {
            status =
                SPRY_FAIL(ctx, SPRY_STATUS_BAD_USAGE,
                          "null vectors are of one length and type; number %d (from 0) is not", k);
            goto done;
        }
        SPRY_GO(ctx, spry_vector_like(from[k], from[k]->n, &copy));
        status = spry_vector_copy(from[k], copy);
        if (status != SPRY_STATUS_OK)
            spry_vector_free(copy);
        SPRY_GO(ctx, status);
        SPRY_GO(ctx, basis_add(basis, copy));
    }
done:
    if (status != SPRY_STATUS_OK)
        null_basis_clear(ctx, basis);
    return status;
}

spry_status spry_solver_set_null_space(spry_solver *solver, int count,
                                       const spry_vector *const *right,
                                       const spry_vector *const *left)
{
    SPRY_NEED(CTX_OF(solver), solver);
    spry_context *ctx = solver->ctx;
    null_basis made[2] = {{0}, {0}};
    spry_status status = solver_check_idle(solver);
    if (status != SPRY_STATUS_OK)
        return status;
    if (count < 0 || (count > 0 && !right))
        return SPRY_FAIL(ctx, SPRY_STATUS_BAD_USAGE, "a null space of %d vectors%s", count,
                         count > 0 ? ", but none are given" : "");
    if (count > 0)
        SPRY_GO(ctx, basis_from(ctx, count, right, &made[NULL_RIGHT]));
    if (count > 0 && left)
        SPRY_GO(ctx, basis_from(ctx, count, left, &made[NULL_LEFT]));
    solver_drop(solver, STAGE_PLAN);
    for (int side = 0; side < 2; side++) {
        null_basis_clear(ctx, &solver->asked.null[side]);
        solver->asked.null[side] = made[side];
        made[side] = (null_basis){0};
    }
done:
    for (int side = 0; side < 2; side++)
        null_basis_clear(ctx, &made[side]);
    return status;
}

/* The same vectors where the solver works, of A's type; from an order to that of A. */
static spry_status basis_load(const spry_solver *solver, const null_basis *from,
                              const solver_order *order, int64_t n, vector_part part,
                              null_basis *to)
{
    const spry_operator *A = solver_operator(solver);
    spry_context *ctx = solver->ctx;
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(ctx, base_calloc(ctx, from->count, sizeof(spry_vector *), &to->v));
    for (int k = 0; k < from->count; k++) {
        if (from->v[k]->n != n)
            SPRY_GO(ctx, SPRY_FAIL(ctx, SPRY_STATUS_BAD_USAGE,
                                   "null vectors have %" PRId64 " elements, the matrix needs "
                                   "%" PRId64,
                                   from->v[k]->n, n));
        SPRY_GO(ctx, vector_new_at(ctx, solver->setup.device, A->type, n, &to->v[k]));
        to->v[k]->part = part;
        to->count++;
        SPRY_GO(ctx, order_put(order, from->v[k], to->v[k]));
    }
done:
    return status;
}

static spry_status basis_constant(const spry_solver *solver, int64_t n, vector_part part,
                                  null_basis *basis)
{
    spry_context *ctx = solver->ctx;
    spry_vector *ones = NULL;
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(ctx, base_calloc(ctx, 1, sizeof(spry_vector *), &basis->v));
    SPRY_GO(ctx, vector_new_at(ctx, solver->setup.device, solver_operator(solver)->type, n, &ones));
    ones->part = part;
    SPRY_GO(ctx, spry_vector_fill(ones, (spry_scalar){1, 0}));
    spry_vector *handed = ones;
    ones = NULL;
    SPRY_GO(ctx, basis_add(basis, handed));
done:
    spry_vector_free(ones);
    return status;
}

/* What A^H takes to 0 where A takes constants to 0: an operator of a grid has weights of its points
 * for that; else a constant, too. */
static spry_status basis_left_of_constant(const spry_solver *solver, null_basis *left)
{
    const spry_operator *A = solver_operator(solver);
    spry_context *ctx = solver->ctx;
    spry_vector *w = NULL;
    null_basis own = {0};
    spry_status status = SPRY_STATUS_OK;
    if (!A->class->structure.left_null)
        return basis_constant(solver, A->rows, A->rows_part, left);
    SPRY_GO(ctx, operator_agree(A, vector_new_at(ctx, NULL, A->type, A->rows, &w)));
    w->part = A->rows_part;
    SPRY_GO(ctx, A->class->structure.left_null(A, w));
    SPRY_GO(ctx, basis_from(ctx, 1, (const spry_vector *[]){w}, &own));
    SPRY_GO(ctx, basis_load(solver, &own, &solver->setup.order, A->rows, A->rows_part, left));
done:
    null_basis_clear(ctx, &own);
    spry_vector_free(w);
    return status;
}

/* --- whether it is one ---------------------------------------------------------------------------
 */

/* What is measured with: w = A u for a random u, and so an estimate of |A|. */
typedef struct probe {
    spry_vector *u, *w;
    double norm; /* of A, from below: |w| / |u| */
} probe;

static spry_status probe_make(const spry_operator *A, spry_device *device, uint64_t seed, probe *p)
{
    spry_context *ctx = A->ctx;
    double u_norm, w_norm;
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(ctx, operator_agree(A, vector_new_at(ctx, device, A->type, A->cols, &p->u)));
    SPRY_GO(ctx, operator_agree(A, vector_new_at(ctx, device, A->type, A->rows, &p->w)));
    p->u->part = A->cols_part;
    p->w->part = A->rows_part;
    SPRY_GO(ctx, vector_random(p->u, seed));
    SPRY_GO(ctx, spry_vector_norm(p->u, &u_norm));
    SPRY_GO(ctx, spry_vector_scale((spry_scalar){u_norm > 0 ? 1 / u_norm : 1, 0}, p->u));
    SPRY_GO(ctx, spry_operator_apply(A, p->u, p->w));
    SPRY_GO(ctx, spry_vector_norm(p->w, &w_norm));
    p->norm = w_norm;
done:
    return status;
}

static void probe_free(probe *p)
{
    spry_vector_free(p->u);
    spry_vector_free(p->w);
}

/* The largest |A v| / |A| of a basis, and its vector. */
static spry_status measure_right(const spry_operator *A, const probe *p, const null_basis *basis,
                                 double *most, int *which)
{
    spry_context *ctx = A->ctx;
    spry_vector *Av = NULL;
    double norm;
    spry_status status = SPRY_STATUS_OK;
    *most = 0;
    *which = 0;
    SPRY_GO(ctx, operator_agree(A, spry_vector_like(p->w, A->rows, &Av)));
    for (int k = 0; k < basis->count; k++) {
        SPRY_GO(ctx, spry_operator_apply(A, basis->v[k], Av));
        SPRY_GO(ctx, spry_vector_norm(Av, &norm));
        norm = p->norm > 0 ? norm / p->norm : norm;
        if (!(norm <= *most)) {
            *most = norm;
            *which = k;
        }
    }
done:
    spry_vector_free(Av);
    return status;
}

/* The same of A^H, without a product with it: (v, A u) = (A^H v, u), which for a random u is about
 * |A^H v| |u| / sqrt(n). */
static spry_status measure_left(const spry_operator *A, const probe *p, const null_basis *basis,
                                double *most)
{
    spry_context *ctx = A->ctx;
    spry_scalar c;
    spry_status status = SPRY_STATUS_OK;
    for (int k = 0; k < basis->count; k++) {
        SPRY_GO(ctx, spry_vector_dot(basis->v[k], p->w, &c));
        const double size = hypot(c.re, c.im) * sqrt((double)operator_all_cols(A));
        *most = fmax(*most, p->norm > 0 ? size / p->norm : size);
    }
done:
    return status;
}

/* Above: no null vector at all. A matrix whose numbers were written with five digits is below. */
static const double least_wrong = 2e-4;

static spry_status check_right(spry_solver *solver, const probe *p)
{
    const spry_operator *A = solver_operator(solver);
    double most;
    int which;
    char text[192];
    const spry_status status = measure_right(A, p, &solver->setup.null[NULL_RIGHT], &most, &which);
    if (status != SPRY_STATUS_OK)
        return status;
    if (!(most <= least_wrong))
        return SPRY_FAIL(solver->ctx, SPRY_STATUS_BAD_INPUT,
                         "%s is not in the null space of A: |A v| is %.2g |A| |v|",
                         solver->asked.null[NULL_RIGHT].count ? "a vector given as null vector"
                                                              : "the constant vector",
                         most);
    if (most > 1000 * type_epsilon(A->type)) {
        snprintf(text, sizeof text,
                 "null vector %d (from 0) is one up to %.2g: |A v| is that part of |A| |v|", which,
                 most);
        solver_warn(solver->ctx, solver->setup.warnings, text);
    }
    return SPRY_STATUS_OK;
}

/* Makes the basis of A^H: the one given, or that of A where it is one. */
static spry_status find_left(spry_solver *solver, const probe *probes)
{
    const spry_operator *A = solver_operator(solver);
    spry_context *ctx = solver->ctx;
    const null_basis *given = solver->asked.null;
    null_basis *left = &solver->setup.null[NULL_LEFT];
    double most = 0;
    spry_status status = SPRY_STATUS_OK;
    if (given[NULL_LEFT].count > 0)
        SPRY_GO(ctx, basis_load(solver, &given[NULL_LEFT], &solver->setup.order, A->rows,
                                A->rows_part, left));
    else if (given[NULL_RIGHT].count == 0)
        SPRY_GO(ctx, basis_left_of_constant(solver, left));
    else if (A->square)
        SPRY_GO(ctx, basis_load(solver, &solver->setup.null[NULL_RIGHT], NULL, A->rows,
                                A->rows_part, left));
    for (int k = 0; k < 2; k++)
        SPRY_GO(ctx, measure_left(A, &probes[k], left, &most));
    if (most <= least_wrong)
        goto done;
    if (given[NULL_LEFT].count > 0)
        SPRY_GO(ctx, SPRY_FAIL(ctx, SPRY_STATUS_BAD_INPUT,
                               "a vector given as null vector of A^H is none: |A^H v| is about "
                               "%.2g |A| |v|",
                               most));
    null_basis_clear(ctx, left); /* that of A^H is another one, and not known: b stays as it is */
done:
    return status;
}

/* --- the solver's part ---------------------------------------------------------------------------
 */

spry_status solver_make_null_space(spry_solver *solver)
{
    const spry_operator *A = solver_operator(solver), *M = solver_bare_precon(solver);
    spry_context *ctx = solver->ctx;
    probe probes[2] = {{0}, {0}};
    spry_status status = SPRY_STATUS_OK;
    if (!solver_has_null_space(solver) || operator_all_rows(A) == 0 || operator_all_cols(A) == 0)
        return SPRY_STATUS_OK;
    if (solver->asked.null[NULL_RIGHT].count > 0)
        SPRY_GO(ctx, basis_load(solver, &solver->asked.null[NULL_RIGHT], &solver->setup.order,
                                A->cols, A->cols_part, &solver->setup.null[NULL_RIGHT]));
    else
        SPRY_GO(ctx,
                basis_constant(solver, A->cols, A->cols_part, &solver->setup.null[NULL_RIGHT]));
    for (int k = 0; k < 2; k++)
        SPRY_GO(ctx, probe_make(A, solver->setup.device, (uint64_t)(5 + k), &probes[k]));
    SPRY_GO(ctx, check_right(solver, &probes[0]));
    SPRY_GO(ctx, find_left(solver, probes));
    if (M)
        SPRY_GO(ctx, solver_project_precon(solver, M));
done:
    probe_free(&probes[0]);
    probe_free(&probes[1]);
    return status;
}

/* Removes a basis from b, of which the iteration has a copy then; gives how much that was. */
static spry_status remove_from_b(iteration *it, const null_basis *left)
{
    spry_context *ctx = it->ctx;
    const double epsilon = type_epsilon(it->b->type);
    char text[160];
    double before, after;
    spry_scalar part;
    double removed = 0;
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(ctx, spry_vector_norm(it->b, &before));
    if (!isfinite(before) || before == 0 || left->count == 0)
        goto done;
    for (int k = 0; k < left->count; k++) {
        SPRY_GO(ctx, spry_vector_dot(left->v[k], it->b, &part));
        removed = hypot(removed, hypot(part.re, part.im) / before);
    }
    SPRY_GO(ctx, spry_vector_like(it->b, it->b->n, &it->own_b));
    SPRY_GO(ctx, spry_vector_copy(it->b, it->own_b));
    SPRY_GO(ctx, null_basis_remove(left, it->own_b));
    SPRY_GO(ctx, null_basis_remove(left, it->own_b)); /* what rounding has left of a large part */
    SPRY_GO(ctx, spry_vector_norm(it->own_b, &after));
    it->b = it->own_b;
    if (!(after > 16 * epsilon * before)) /* nothing but rounding */
        SPRY_GO(ctx, spry_vector_fill(it->own_b, (spry_scalar){0, 0}));
    if (removed > 1000 * epsilon) {
        snprintf(text, sizeof text,
                 "%.2g of |b| is in the null space of A^H and was removed: residuals are those of "
                 "the rest",
                 removed);
        solver_warn(ctx, it->warnings, text);
    }
done:
    return status;
}

spry_status null_space_begin(const spry_solver *solver, iteration *it)
{
    const null_basis *right = &solver->setup.null[NULL_RIGHT];
    if (right->count == 0)
        return SPRY_STATUS_OK;
    it->null = right;
    const spry_status status = remove_from_b(it, &solver->setup.null[NULL_LEFT]);
    return status == SPRY_STATUS_OK ? null_basis_remove(right, it->x) : status;
}

void null_space_report(const spry_solver *solver, iteration *it)
{
    if (!it->null)
        return;
    if (it->reason != SPRY_REASON_CONVERGED && solver->setup.null[NULL_LEFT].count == 0)
        solver_warn(it->ctx, it->warnings,
                    "the null space of A^H is not that of A, and not known: where b has a part in "
                    "it, there is no solution");
    else if (it->reason == SPRY_REASON_CONVERGED && !it->detail[0])
        snprintf(it->detail, sizeof it->detail,
                 "to the solution of least norm, as the null space has dimension %d",
                 it->null->count);
}
