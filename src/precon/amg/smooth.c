/*
 * Smoothers. Jacobi's method and Chebyshev's polynomials of the fourth kind (J. Lottes, Optimal
 * polynomial smoothers for multigrid V-cycles, Numer. Linear Algebra Appl. 30 (2023), e2518), which
 * need the largest eigenvalue l of F A only:
 *
 *     x_k+1 = x_k + (2k - 1)/(2k + 3) (x_k - x_k-1) + (8k + 4)/(2k + 3)/l F (b - A x_k)
 *
 * Degree 1 is Jacobi's method damped by 4/3/l. With F diagonal these are self-adjoint where A is
 * hermitian, so that the same sweeps before and after the correction make a hermitian cycle; of
 * other preconditioners the adjoint is taken after it. Gauss-Seidel by parts is in sweeps.c.
 */
#include "precon/amg/amg.h"

#include "device/linalg/setup.h"

enum { POWER_STEPS = 8, ROWS = 4096 };

void amg_smoother_clear(spry_context *ctx, amg_smoother *s)
{
    if (s->conjugate != s->factor)
        spry_vector_free(s->conjugate);
    spry_vector_free(s->factor);
    spry_operator_free(s->inside);
    spry_matrix_free(s->turned);
    for (int k = 0; k < 2; k++)
        base_free(ctx, s->before[k]);
    *s = (amg_smoother){0};
}

spry_status amg_step(amg_level *level, spry_transpose transpose, const operator_step **step)
{
    operator_step **kept = &level->steps[transpose];
    spry_status status = SPRY_STATUS_OK;
    if (!*kept) {
        status = step_open(level->op, transpose, kept);
        if (level->op->rows_part.is) /* all ranks have it, or none */
            status = team_agree(level->op->ctx, status);
        if (status != SPRY_STATUS_OK) {
            step_free(*kept);
            *kept = NULL;
        }
    }
    *step = *kept;
    return status;
}

/* --- making --------------------------------------------------------------------------------------
 */

/* F on the host, and a bound of the eigenvalues of F A. */
static spry_status make_factors(const amg *h, const spry_matrix *A, bool l1, void *f,
                                double *largest, int64_t *bad)
{
    const precon_kernels *kernels = precon_kernels_for(h->ctx, A->a.type);
    const host_csr csr = {A->a.offsets, A->a.col_index, A->a.values};
    const int64_t n = A->a.rows, parts = (n + ROWS - 1) / ROWS;
    int64_t first = n;
    double most = 0;
#pragma omp parallel for num_threads(host_threads(h->ctx, A->a.nnz)) schedule(static) \
    reduction(max                                                                     \
              : most) reduction(min                                                   \
                                : first)
    for (int64_t part = 0; part < parts; part++) {
        const int64_t end = (part + 1) * ROWS < n ? (part + 1) * ROWS : n;
        const int64_t fault = kernels->amg_factors(&csr, l1, part * ROWS, end, f, &most);
        first = fault < end && fault < first ? fault : first;
    }
    *largest = most;
    *bad = first;
    return SPRY_STATUS_OK;
}

/* conj(F) where that is another than F, which is on the host in f. */
static spry_status make_conjugate(const amg *h, const precon_job *job, const void *f,
                                  amg_smoother *s)
{
    const int64_t n = s->factor->n;
    void *other = NULL;
    bool real = !spry_type_is_complex(h->type);
    spry_status status = SPRY_STATUS_OK;
    s->conjugate = s->factor;
    for (int64_t i = 0, all = real ? 0 : n; i < all; i++)
        if (value_load(h->type, f, i).im != 0)
            break;
        else
            real = i == all - 1;
    if (real)
        return SPRY_STATUS_OK;
    s->conjugate = NULL;
    SPRY_GO(h->ctx, base_alloc(h->ctx, n, spry_type_size(h->type), &other));
    precon_kernels_for(h->ctx, h->type)->amg_conjugate(n, f, other);
    SPRY_GO(h->ctx, precon_vector(job, n, other, &s->conjugate));
done:
    base_free(h->ctx, other);
    return status;
}

/* What may fail on one rank alone, before they work together. */
static spry_status together(const amg_level *level, spry_status status)
{
    return level->reach ? team_agree(level->op->ctx, status) : status;
}

/*
 * The largest eigenvalue of F A where the bound by row sums may be far off: the result of a few
 * steps of the power method from a random start, and a tenth more. Where that is not a sensible
 * value, the bound stays. Norms, for which a device is waited for, are taken at the end alone where
 * numbers cannot overflow before.
 */
static spry_status estimate(const amg *h, const precon_job *job, amg_level *level, double *largest)
{
    spry_context *ctx = h->ctx;
    const operator_step *step;
    spry_vector *x = NULL, *y = NULL;
    double norm = 0;
    spry_status status = amg_step(level, SPRY_TRANSPOSE_NO, &step);
    if (status == SPRY_STATUS_OK)
        status = precon_vector(job, level->rows, NULL, &x);
    if (status == SPRY_STATUS_OK) {
        x->part = level->op->rows_part;
        status = spry_vector_like(x, x->n, &y);
    }
    SPRY_GO(ctx, together(level, status));
    SPRY_GO(ctx, vector_random(x, 5));
    /* Steps grow by at most the bound. */
    const bool rests = POWER_STEPS * log10(*largest) < (type_is_single(h->type) ? 30 : 200);
    for (int k = 0; k < POWER_STEPS; k++) {
        spry_vector *swap = x;
        if (!rests || k == POWER_STEPS - 1) {
            SPRY_GO(ctx, spry_vector_norm(x, &norm));
            if (!(norm > 0) || !isfinite(norm))
                goto done;
            SPRY_GO(ctx, spry_vector_scale((spry_scalar){1 / norm, 0}, x));
        }
        SPRY_GO(ctx, step_run(step, (host_step){1, 0, 0, 0}, level->smoother.factor, NULL, x, y));
        x = y;
        y = swap;
    }
    SPRY_GO(ctx, spry_vector_norm(x, &norm));
    if (!(norm > 0) || !isfinite(norm))
        goto done;
    if (1.1 * norm < *largest)
        *largest = 1.1 * norm;
done:
    spry_vector_free(x);
    spry_vector_free(y);
    return status;
}

/* The steps' factors. That of the first is put into F, so that a first step from zero is F b. */
static spry_status set_steps(const amg *h, amg_smoother *s, bool chebyshev, bool l1)
{
    const double l = s->largest > 0 ? s->largest : 1;
    s->degree = !chebyshev ? 1 : h->common.degree > 0 ? (int)h->common.degree : 2;
    for (int k = 0; k < s->degree; k++) {
        s->move[k] = k == 0 ? 0 : (2.0 * k - 1) / (2.0 * k + 3);
        s->take[k] = (8.0 * k + 4) / (2.0 * k + 3) / l;
    }
    if (l1)
        s->take[0] = 1;
    if (!chebyshev && h->common.damping > 0)
        s->take[0] = h->common.damping;
    const double first = s->take[0];
    for (int k = 0; k < s->degree; k++)
        s->take[k] /= first;
    const spry_status status = spry_vector_scale((spry_scalar){first, 0}, s->factor);
    return status != SPRY_STATUS_OK || s->conjugate == s->factor
               ? status
               : spry_vector_scale((spry_scalar){first, 0}, s->conjugate);
}

static const char hybrid[] = "hybrid-gs";

static const char *smoother_name(const amg_common *common, const precon_job *job, bool hermitian)
{
    if (strcmp(common->smoother, "auto") != 0)
        return common->smoother;
    /* Ranks sweep over their own rows, with the numbers that others had before. */
    if (job->A->distributed && !hermitian)
        return "gs";
    /* Sweeps wait for each other, which devices do not like; the inverse smooths as well. */
    return hermitian ? "chebyshev" : job->device ? "sai:tau=0.9,most=32" : hybrid;
}

/* Whether it is one of those that need but a diagonal, and not a preconditioner. */
static bool is_diagonal(const char *name)
{
    return strcmp(name, "chebyshev") == 0 || strcmp(name, "jacobi") == 0 ||
           strcmp(name, "l1-jacobi") == 0 || strcmp(name, hybrid) == 0;
}

spry_status amg_smoother_choose(amg *h, const precon_job *job)
{
    memcpy(&h->common, h->options, sizeof h->common);
    const spry_status status = matrix_find_out(h->ctx, job->A, SPRY_FACT_HERMITIAN, &h->hermitian);
    const char *name = h->kind->smoother && strcmp(h->common.smoother, "auto") == 0
                           ? h->kind->smoother
                           : smoother_name(&h->common, job, h->hermitian);
    if (name != h->common.smoother)
        snprintf(h->common.smoother, sizeof h->common.smoother, "%s", name);
    return status;
}

/* The steps; F and a bound are set. */
static spry_status finish(const amg *h, const precon_job *job, amg_level *level, const char *name)
{
    amg_smoother *s = &level->smoother;
    spry_status status = SPRY_STATUS_OK;
    s->sweeps = strcmp(name, hybrid) == 0;
    s->degree = 1;
    if (s->sweeps)
        return SPRY_STATUS_OK;
    /* Row sums are sharp where rows are those of an M-matrix. */
    if (s->largest > 2.1)
        SPRY_GO(h->ctx, estimate(h, job, level, &s->largest));
    SPRY_GO(h->ctx,
            set_steps(h, s, strcmp(name, "chebyshev") == 0, strcmp(name, "l1-jacobi") == 0));
done:
    return status;
}

static spry_status no_inverse(const amg *h, int64_t row)
{
    return SPRY_FAIL(h->ctx, SPRY_STATUS_BAD_INPUT,
                     "precon %s: row %" PRId64
                     " (from 0): the diagonal entry has no inverse; try another smoother, or "
                     "another preconditioner",
                     h->name, row);
}

/* A copy of a level that a device set up; the first is on the host already. */
static spry_status bring(const amg *h, const precon_job *job, amg_level *level,
                         const device_matrix *on_device)
{
    spry_status status = SPRY_STATUS_OK;
    if (level->A)
        return SPRY_STATUS_OK;
    if (level == h->levels) {
        level->A = job->A;
        return SPRY_STATUS_OK;
    }
    SPRY_GO(h->ctx, device_matrix_get(on_device, &level->own));
    level->A = level->own;
done:
    return status;
}

/* F = 1 / D, and what it takes to be sure of it, by the device that has A. */
static spry_status device_factors(const amg *h, amg_level *level, const device_matrix *A)
{
    amg_smoother *s = &level->smoother;
    device_scales scales;
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(h->ctx, spry_vector_on(A->d, h->type, level->rows, NULL, &s->factor));
    /* Diagonals of hermitian matrices are real. */
    if (spry_type_is_complex(h->type) && !h->hermitian)
        SPRY_GO(h->ctx, spry_vector_on(A->d, h->type, level->rows, NULL, &s->conjugate));
    SPRY_GO(h->ctx, device_matrix_inverse_diagonal(
                        A, s->factor->memory, s->conjugate ? s->conjugate->memory : NULL, &scales));
    if (scales.bad >= 0 && level == h->levels)
        SPRY_GO(h->ctx, no_inverse(h, scales.bad));
    s->largest = scales.bound;
    if (!s->conjugate)
        s->conjugate = s->factor;
done:
    return status;
}

/* The same on the host. */
static spry_status factors_on_host(const amg *h, const precon_job *job, amg_level *level, bool l1)
{
    spry_context *ctx = h->ctx;
    amg_smoother *s = &level->smoother;
    const int64_t n = level->rows;
    int64_t bad = n;
    void *f = NULL;
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(ctx, base_alloc(ctx, n, spry_type_size(h->type), &f));
    /* Of ranks: the rows with all their columns. */
    spry_matrix rows = {.ctx = ctx, .a = level->reach ? level->reach->A->a : level->A->a};
    rows.a.rows = n;
    SPRY_GO(ctx, make_factors(h, &rows, l1, f, &s->largest, &bad));
    if (bad < n && level == h->levels)
        SPRY_GO(ctx, no_inverse(h, level->op->rows_part.first + bad));
    SPRY_GO(ctx, precon_vector(job, n, f, &s->factor));
    SPRY_GO(ctx, make_conjugate(h, job, f, s));
done:
    base_free(ctx, f);
    return status;
}

static spry_status make_diagonal(const amg *h, const precon_job *job, amg_level *level,
                                 const char *name, const device_matrix *on_device)
{
    const bool l1 = strcmp(name, "l1-jacobi") == 0;
    spry_status status = SPRY_STATUS_OK;
    if (level->reach && strcmp(name, hybrid) == 0)
        return SPRY_FAIL(h->ctx, SPRY_STATUS_BAD_USAGE,
                         "precon %s: smoother %s is for one rank; across ranks take gs", h->name,
                         name);
    if (job->device && strcmp(name, hybrid) == 0)
        return SPRY_FAIL(h->ctx, SPRY_STATUS_BAD_USAGE,
                         "precon %s: smoother %s is for the host; on devices take sai, gs or "
                         "chebyshev",
                         h->name, name);
    if (on_device && !l1) {
        SPRY_GO(h->ctx, device_factors(h, level, on_device));
    } else {
        SPRY_GO(h->ctx, bring(h, job, level, on_device));
        SPRY_GO(h->ctx, together(level, factors_on_host(h, job, level, l1)));
    }
    if (level->reach) {
        double least;
        SPRY_GO(h->ctx,
                team_bounds(h->ctx, level->smoother.largest, &least, &level->smoother.largest));
    }
    SPRY_GO(h->ctx, finish(h, job, level, name));
done:
    return status;
}

/* A preconditioner, by the device alone where it can. */
static spry_status make_inside(const amg *h, const precon_job *job, amg_level *level,
                               const char *name, const device_matrix *on_device)
{
    spry_operator **inside = &level->smoother.inside;
    bool made = false;
    spry_status status = SPRY_STATUS_OK;
    const base_kept before = base_try(h->ctx);
    if (on_device)
        status = precon_make_on_device(job, on_device, name, &made, inside);
    if (made || (status != SPRY_STATUS_OK && status != SPRY_STATUS_NO_MEMORY))
        return status;
    base_forgive(h->ctx, &before); /* the host has more memory */
    SPRY_GO(h->ctx, bring(h, job, level, on_device));
    if (level->reach) {
        status = precon_make_inner(job, level->A->distributed->own, name, inside);
        return precon_distribute(level->A, status, inside);
    }
    status = precon_make_inner(job, level->A, name, inside);
done:
    return status;
}

spry_status amg_smoother_make(const amg *h, const precon_job *job, amg_level *level,
                              const device_matrix *on_device)
{
    const char *name = h->common.smoother;
    if (is_diagonal(name))
        return make_diagonal(h, job, level, name, on_device);
    const spry_status status = make_inside(h, job, level, name, on_device);
    /* What we chose may not suit a coarse level: a diagonal without inverse. */
    if (status == SPRY_STATUS_BAD_INPUT && level != h->levels &&
        strcmp(((const amg_common *)h->options)->smoother, "auto") == 0)
        return make_diagonal(h, job, level, "jacobi", on_device);
    if (status != SPRY_STATUS_OK)
        return status;
    if (!level->smoother.inside)
        return SPRY_FAIL(h->ctx, SPRY_STATUS_BAD_USAGE, "precon %s: smoother %s smooths nothing",
                         h->name, name);
    level->smoother.adjoint = h->hermitian; /* R A P is where A is */
    return SPRY_STATUS_OK;
}

/* --- using ---------------------------------------------------------------------------------------
 */

int amg_smoother_moves(const amg_smoother *s, int sweeps, bool from_zero)
{
    return s->inside ? 0 : sweeps * s->degree - (from_zero ? 1 : 0);
}

/* S or S^H. */
static spry_transpose smoother_side(const amg_smoother *s, spry_transpose transpose, bool after)
{
    /* Transposed, what comes first is what came last. */
    const bool adjoint = s->adjoint && after == (transpose == SPRY_TRANSPOSE_NO);
    if (!adjoint)
        return transpose;
    return transpose == SPRY_TRANSPOSE_NO ? SPRY_TRANSPOSE_CONJUGATE : SPRY_TRANSPOSE_NO;
}

/* y = S x + beta y. */
static spry_status apply_inside(amg_level *level, spry_transpose side, const spry_vector *x,
                                double beta, spry_vector *y)
{
    amg_smoother *s = &level->smoother;
    const spry_status status =
        spry_operator_multiply(s->inside, side, (spry_scalar){1, 0}, x, (spry_scalar){beta, 0}, y);
    return level->op->rows_part.is
               ? precon_warm(level->op->ctx, &s->warmed[side][beta != 0], status)
               : status;
}

static spry_status smooth_inside(amg_level *level, spry_transpose transpose, bool after, int sweeps,
                                 bool from_zero, const spry_vector *b, spry_vector *x,
                                 spry_vector *r)
{
    const spry_transpose side = smoother_side(&level->smoother, transpose, after);
    const operator_step *step;
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(level->op->ctx, amg_step(level, transpose, &step));
    for (int k = 0; k < sweeps; k++) {
        if (k == 0 && from_zero) {
            SPRY_GO(level->op->ctx, apply_inside(level, side, b, 0, x));
            continue;
        }
        SPRY_GO(level->op->ctx, step_run(step, (host_step){-1, 1, 0, 0}, NULL, b, x, r));
        SPRY_GO(level->op->ctx, apply_inside(level, side, r, 1, x));
    }
done:
    return status;
}

static spry_status sweep_often(amg_level *level, spry_transpose transpose, bool after, int sweeps,
                               bool from_zero, const spry_vector *b, spry_vector *a,
                               spry_vector *other)
{
    spry_status status = SPRY_STATUS_OK;
    for (int k = 0; k < sweeps && status == SPRY_STATUS_OK; k++) {
        const bool zero = k == 0 && from_zero;
        status = amg_sweep(level, transpose, after, b, zero ? NULL : a, zero ? a : other);
        if (!zero) {
            spry_vector *swap = a;
            a = other;
            other = swap;
        }
    }
    return status;
}

spry_status amg_smooth(amg_level *level, spry_transpose transpose, bool after, int sweeps,
                       bool from_zero, const spry_vector *b, spry_vector *a, spry_vector *other)
{
    const amg_smoother *s = &level->smoother;
    const operator_step *step;
    spry_context *ctx = level->op->ctx;
    spry_status status = SPRY_STATUS_OK;
    if (s->inside)
        return smooth_inside(level, transpose, after, sweeps, from_zero, b, a, other);
    if (s->sweeps)
        return sweep_often(level, transpose, after, sweeps, from_zero, b, a, other);
    const spry_vector *f = transpose == SPRY_TRANSPOSE_CONJUGATE ? s->conjugate : s->factor;
    SPRY_GO(ctx, amg_step(level, transpose, &step));
    for (int k = 0; k < sweeps * s->degree; k++) {
        const int term = k % s->degree;
        if (k == 0 && from_zero) {
            SPRY_GO(ctx, spry_vector_multiply(f, b, a));
            continue;
        }
        /* The x before the first is zero, and in `other` there is none yet. */
        const double move = s->move[term];
        const bool none = from_zero && k == 1;
        SPRY_GO(ctx,
                step_run(step,
                         (host_step){-s->take[term], s->take[term], 1 + move, none ? 0 : -move}, f,
                         b, a, other));
        spry_vector *swap = a;
        a = other;
        other = swap;
    }
done:
    return status;
}
