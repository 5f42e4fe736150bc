/*
 * What is said of a solve: after each run whether it is the end, at the end of the x that is handed
 * back, and where it has failed what to try next.
 */
#include "krylov/solver.h"

/* Puts an earlier x in the place of the last where it was better, and is wanted. */
static spry_status take_best(iteration *it)
{
    const bool wanted = it->options->keep == KEEP_LAST || it->listener.accepted;
    const bool last = wanted && isfinite(it->truth);
    it->best.found = it->best.found || last || iteration_gains(it, it->truth);
    if (it->truth <= it->best.residual || last)
        return SPRY_STATUS_OK;
    it->truth = it->best.residual;
    spry_status status = spry_vector_copy(it->best.x, it->x);
    if (it->null && status == SPRY_STATUS_OK)
        status = null_basis_remove(it->null, it->x);
    if (it->null && status == SPRY_STATUS_OK)
        status = iteration_true_residual(it, &it->truth);
    return status == SPRY_STATUS_OK ? iteration_confirm(it) : status;
}

/* The end of a system that has no solution but a best x, if the method looks for one and it is
 * true. */
static spry_status judge_least_squares(iteration *it)
{
    const double near = 10; /* the method's own measure is another */
    double gradient;
    /* It was still falling, as far as was seen. */
    const bool cut = it->reason == SPRY_REASON_ITERATIONS || it->reason == SPRY_REASON_STOPPED;
    if (it->listener.accepted || !(it->squares.gradient <= near * it->squares.tol) ||
        it->truth <= it->tol || (cut && !it->squares.found))
        return SPRY_STATUS_OK;
    const spry_status status = iteration_true_gradient(it, &gradient);
    it->squares.found = status == SPRY_STATUS_OK && gradient <= it->squares.tol;
    if (it->squares.found) {
        it->ended = true;
        it->reason = SPRY_REASON_CONVERGED;
        snprintf(it->detail, sizeof it->detail,
                 "to the least-squares solution: |A^H r| / (|A| |r|) = %.2g, in every column",
                 gradient);
    }
    return status;
}

/* Whether the method's own residual has parted from the true one, so that where it ends says
 * nothing: it claims to have converged, or no longer falls far below the truth. */
static bool has_drifted(const iteration *it)
{
    const double parted = 10;
    if (it->pace.gave_up)
        return false;
    return it->drifted || it->reason == SPRY_REASON_CONVERGED ||
           (it->reason == SPRY_REASON_STAGNATED && it->truth > parted * it->residual);
}

/* Whether a product x^T y of complex vectors was 0, which it may be for any: those of another start
 * have another. */
static bool has_met_zero(const iteration *it)
{
    return it->reason == SPRY_REASON_BREAKDOWN && it->traits.curable && !it->pace.more &&
           !it->traits.coupled && !strstr(it->detail, "singular");
}

/*
 * A step of minimal residuals, x + omega M r: products of r with itself that were 0 are others
 * then. It is taken where it makes the residual smaller and is no larger than x allows: A M r that
 * is nothing but rounding, as r is in the null space of A, would make one of any size.
 */
static spry_status step_aside(iteration *it, bool *taken)
{
    const double far = 1e3;
    spry_context *ctx = it->ctx;
    spry_vector *z = NULL, *w = NULL;
    spry_scalar product;
    double norm, z_norm, x_norm, before, after;
    spry_status status = SPRY_STATUS_OK;
    *taken = false;
    SPRY_GO(ctx, iteration_agree(it, spry_vector_like(it->x, it->x->n, &z)));
    SPRY_GO(ctx, iteration_agree(it, spry_vector_like(it->x, it->x->n, &w)));
    SPRY_GO(ctx, iteration_true_residual(it, &before)); /* leaves r in spare */
    SPRY_GO(ctx, it->M ? spry_operator_apply(it->M, it->spare, z) : spry_vector_copy(it->spare, z));
    SPRY_GO(ctx, spry_operator_apply(it->A, z, w));
    SPRY_GO(ctx, spry_vector_dot(w, it->spare, &product));
    SPRY_GO(ctx, spry_vector_norm(w, &norm));
    SPRY_GO(ctx, spry_vector_norm(z, &z_norm));
    SPRY_GO(ctx, spry_vector_norm(it->x, &x_norm));
    product = (spry_scalar){product.re / norm / norm, product.im / norm / norm};
    if (!(hypot(product.re, product.im) * z_norm <= far * x_norm) || !(before <= it->best.residual))
        goto done;
    SPRY_GO(ctx, spry_vector_copy(it->x, w));
    SPRY_GO(ctx, spry_vector_axpy(product, z, it->x));
    SPRY_GO(ctx, iteration_true_residual(it, &after));
    *taken = after < before;
    if (*taken) {
        it->truth = after;
        SPRY_GO(ctx, iteration_confirm(it));
    } else {
        SPRY_GO(ctx, spry_vector_copy(w, it->x));
    }
done:
    spry_vector_free(z);
    spry_vector_free(w);
    return status;
}

/* Starts again from the best x. A recurrence that has drifted must then reach less than tol: with a
 * preconditioner on the left it estimates the residual by that of another norm. */
static spry_status run_again(iteration *it, bool drifted)
{
    const double margin = 0.5;
    char text[MESSAGE_SIZE];
    snprintf(text, sizeof text,
             "at iteration %" PRId64 " %.160s: restarted from the best x, with %.2g", it->count,
             drifted ? "the recurrence had drifted from the true residual" : it->detail, it->truth);
    solver_warn(it->ctx, it->warnings, text);
    const spry_status status = iteration_keep(it, it->truth);
    it->before = it->truth;
    it->goal = drifted ? margin * it->tol : it->goal;
    it->best.at = it->count; /* the run at hand begins with what is saved */
    it->ended = it->begun = it->from_zero = false;
    return status;
}

/* The end of a solve whose true residual does not follow: because it is no more than
 * rounding makes, where that can be shown. */
static spry_status stagnate(iteration *it)
{
    const double near = 10;
    double level;
    const spry_status status = measure_rounding(it, &level);
    it->reason = SPRY_REASON_STAGNATED;
    it->at_rounding = it->truth <= near * level;
    if (it->at_rounding)
        snprintf(it->detail, sizeof it->detail,
                 "the true residual stays at %.2g: rounding makes as much, as x is so large "
                 "(%.1g for each rounding)",
                 it->truth, level);
    else
        snprintf(it->detail, sizeof it->detail,
                 "the true residual stays at %.2g, and what the method takes for it does not",
                 it->truth);
    return status;
}

/* The end of a run that has neither converged nor can be started again. */
static spry_status end_badly(iteration *it, bool drifted)
{
    if (it->listener.accepted && it->reason == SPRY_REASON_ACCEPTED) { /* the method says why */
        return SPRY_STATUS_OK;
    } else if (it->listener.accepted) {
        it->reason = SPRY_REASON_ACCEPTED;
        it->detail[0] = '\0';
    } else if (drifted && it->stop) {
        it->reason = SPRY_REASON_STOPPED;
        it->detail[0] = '\0';
    } else if (drifted && it->count < it->options->max_iter) {
        return stagnate(it);
    } else if (drifted) {
        it->reason = SPRY_REASON_ITERATIONS;
    }
    return SPRY_STATUS_OK;
}

spry_status verdict_of_run(iteration *it)
{
    spry_context *ctx = it->ctx;
    spry_status status = SPRY_STATUS_OK;
    const double progress = 0.9;
    const bool replayed = it->replay.to != NONE;
    if (it->null)
        SPRY_GO(ctx, null_basis_remove(it->null, it->x));
    SPRY_GO(ctx, iteration_true_residual(it, &it->truth));
    SPRY_GO(ctx, iteration_confirm(it));
    if (replayed)
        SPRY_GO(ctx, iteration_end_replay(it));
    const bool drifted = replayed ? it->replay.end.drifted : has_drifted(it);
    SPRY_GO(ctx, take_best(it));
    SPRY_GO(ctx, judge_least_squares(it));
    if (it->ended)
        return SPRY_STATUS_OK;
    it->ended = true;
    /* Another attempt does more for x than what this one has had on its way. */
    const bool once = replayed || it->pace.more || it->traits.coupled;
    const int64_t better = once ? NONE : iteration_find_better(it, drifted);
    const bool again = it->truth > it->tol && !it->stop && it->count < it->options->max_iter &&
                       it->truth <= progress * it->before;
    bool stepped = false;
    if (again && !drifted && has_met_zero(it))
        SPRY_GO(ctx, step_aside(it, &stepped));
    if (it->truth <= it->tol) { /* whatever else happened */
        it->reason = SPRY_REASON_CONVERGED;
        it->detail[0] = '\0';
    } else if (again && (drifted || stepped)) {
        SPRY_GO(ctx, run_again(it, drifted));
    } else if (better != NONE) {
        SPRY_GO(ctx, iteration_begin_replay(it, better, drifted));
        it->ended = false;
    } else {
        SPRY_GO(ctx, end_badly(it, drifted));
    }
done:
    return status;
}

spry_status verdict_stop(iteration *it)
{
    it->stop = it->interrupted = it->ended = true;
    it->reason = SPRY_REASON_STOPPED;
    it->detail[0] = '\0';
    if (isnan(it->initial)) /* it has not begun */
        return SPRY_STATUS_OK;
    /* An update of x may have been under way; where it cannot be measured the best one is taken. */
    if (iteration_true_residual(it, &it->truth) != SPRY_STATUS_OK)
        it->truth = NAN;
    return take_best(it);
}

/* The system was solved for x / 2^exponent: the verdict is of the x that is stored, which may have
 * left the range of the type, or lost digits at its lower end. */
spry_status verdict_hand_back(iteration *it)
{
    spry_context *ctx = it->ctx;
    const spry_scalar up = {ldexp(1, it->exponent), 0}, down = {ldexp(1, -it->exponent), 0};
    const double before = it->truth;
    spry_vector *x = it->x;
    double norm, gradient = INFINITY;
    bool finite;
    spry_status status = SPRY_STATUS_OK;
    if (it->exponent == 0)
        return SPRY_STATUS_OK;
    SPRY_GO(ctx, spry_vector_copy(it->x, it->best.x));
    SPRY_GO(ctx, spry_vector_scale(up, it->x));
    if (!isfinite(before)) /* nothing was said of it */
        return SPRY_STATUS_OK;
    SPRY_GO(ctx, spry_vector_norm(it->x, &norm));
    SPRY_GO(ctx, iteration_is_finite(it->x, norm, &finite));
    if (!finite) {
        SPRY_GO(ctx, spry_vector_fill(it->x, (spry_scalar){0, 0}));
        it->truth = 1;
        it->beyond = true;
        it->reason = SPRY_REASON_NONFINITE;
        snprintf(it->detail, sizeof it->detail,
                 "the solution is beyond the range of the type: x is 0 in its place");
        return SPRY_STATUS_OK;
    }
    /* Down and up again, which changes it no more. */
    SPRY_GO(ctx, spry_vector_scale(down, it->x));
    SPRY_GO(ctx, spry_vector_axpy((spry_scalar){-1, 0}, it->x, it->best.x));
    SPRY_GO(ctx, spry_vector_norm(it->best.x, &norm));
    SPRY_GO(ctx, spry_vector_copy(it->x, it->best.x));
    SPRY_GO(ctx, spry_vector_scale(up, it->x));
    if (norm == 0) /* every bit came back: what was said, maybe in twice the precision, holds */
        return SPRY_STATUS_OK;
    SPRY_GO(ctx, iteration_residual(it, it->best.x, it->spare));
    SPRY_GO(ctx, spry_vector_norm(it->spare, &norm));
    it->truth = norm / it->b_norm;
    it->x = it->best.x; /* whose scale is b's */
    status = iteration_confirm(it);
    if (status == SPRY_STATUS_OK && it->squares.found)
        status = iteration_true_gradient(it, &gradient);
    it->x = x;
    SPRY_GO(ctx, status);
    if (it->reason == SPRY_REASON_CONVERGED &&
        (it->squares.found ? !(gradient <= it->squares.tol) : it->truth > it->tol)) {
        it->reason = SPRY_REASON_STAGNATED;
        it->at_rounding = true;
        snprintf(it->detail, sizeof it->detail,
                 "the solution is below the range of the type: it had a residual of %.2g before "
                 "it was rounded to it",
                 before);
    }
done:
    return status;
}

/* Who has given a number that is not finite, where a function of the caller's did. */
static bool name_culprit(const spry_operator *op, const char *what, char detail[DETAIL_SIZE])
{
    const int64_t row = op && op->class->gave_nonfinite ? op->class->gave_nonfinite(op) : NONE;
    if (row == NONE)
        return false;
    snprintf(detail, DETAIL_SIZE,
             "the caller's function for %s gave a NaN or an infinite number: row %" PRId64
             " (from 0)",
             what, row);
    return true;
}

bool verdict_name_culprit(iteration *it)
{
    return name_culprit(it->A, "A", it->detail) || name_culprit(it->M, "M", it->detail);
}

/* The largest entry of A where its square leaves the range of the type; 0: it does not. */
static double extreme_entry(const spry_matrix *A)
{
    double most = 0;
    for (int64_t k = 0; A && k < A->a.nnz; k++) {
        const spry_scalar v = value_get(A->a.type, A->a.values, k);
        most = fmax(most, hypot(v.re, v.im));
    }
    const bool single = A && type_is_single(A->a.type);
    const double high = single ? 1e18 : 1e150, low = single ? 1e-18 : 1e-150;
    return most > high || (most > 0 && most < low) ? most : 0;
}

/* What to try where a method has failed: nothing that was tried, and nothing that cannot be had. */
static void find_next(const spry_solver *solver, char *text, size_t size)
{
    const program *p = solver->setup.plan ? solver->setup.plan->program : NULL;
    const spry_operator *A = solver_operator(solver);
    const char *method = solver->setup.attempts.method, *precon = solver->setup.attempts.precon;
    const bool direct = precon_is_exact(precon), simple = precon_is_simple(precon);
    text[0] = '\0';
    if (solver->asked.precon ||
        solver->setup.attempts.tried[0]) /* which may be to blame: only the caller knows another */
        return;
    if (!A->square)
        snprintf(text, size, "try method=%s", strcmp(method, "lsmr") == 0 ? "lsqr" : "lsmr");
    else if (direct || !solver->setup.matrix)
        snprintf(text, size, "try %s",
                 strcmp(method, "gmres") != 0 ? "method=gmres"
                 : direct                     ? "a larger restart"
                                              : "a preconditioner");
    else if (p && p->needs[NEED_DEFINITE])
        snprintf(text, size, "try method=%s, or precon=direct",
                 matrix_known(solver->setup.matrix, SPRY_FACT_HERMITIAN) == SPRY_TRUTH_NO
                     ? "gmres"
                     : "minres");
    else
        snprintf(text, size, "try %sprecon=direct", simple ? "precon=ilut, or " : "");
}

void verdict_report(const spry_solver *solver, iteration *it)
{
    char next[64];
    const bool nan = it->reason == SPRY_REASON_NONFINITE;
    const size_t used = strlen(it->detail), room = sizeof it->detail - used;
    if (!it->ended || it->beyond || (nan && verdict_name_culprit(it)))
        return;
    if (it->at_rounding ||
        (it->reason != SPRY_REASON_BREAKDOWN && !nan && it->reason != SPRY_REASON_STAGNATED &&
         it->reason != SPRY_REASON_DIVERGED))
        return;
    const bool factors = it->A->square && !precon_is_exact(solver->setup.attempts.precon);
    const double entry = it->truth == it->initial ? extreme_entry(it->matrix) : 0;
    if (entry > 0) {
        snprintf(it->detail, sizeof it->detail,
                 "the largest entry of A is %.2g, and squares of that leave the range of the type: "
                 "%sscale A",
                 entry, factors ? "try method=direct, or " : "");
        return;
    }
    find_next(solver, next, sizeof next);
    if (next[0] && strlen(next) + 3 < room)
        snprintf(it->detail + used, room, "%s%s", used ? "; " : "", next);
}
