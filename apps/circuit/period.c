/*
 * A period of the clock on a fixed grid of steps, and how its end depends on its beginning:
 * products with the sensitivity by the stored factors of all steps (chapter 17 of R. Couturier
 * (ed.), Designing Scientific Applications on GPUs, 2013, algorithms 20 and 21).
 */
#include "circuit/circuit.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_ATTEMPTS = 12, BASIS = 200 };

void period_make(period *p, run *r, double length, int64_t least)
{
    *p = (period){.r = r, .length = length, .least = least};
    state_make(&p->z, r->c->size);
    p->C0 = cli_alloc((size_t)(r->s.entries + 1) * sizeof *p->C0);
    for (int k = 0; k < 4; k++)
        p->work[k] = cli_alloc((size_t)r->c->size * sizeof **p->work);
}

void period_free(period *p)
{
    for (int64_t k = 0; k < p->room; k++) {
        spry_operator_free(p->steps[k].M);
        spry_matrix_free(p->steps[k].A);
        free(p->steps[k].C);
        free(p->steps[k].values);
    }
    free(p->steps);
    free(p->C0);
    for (int k = 0; k < 4; k++)
        free(p->work[k]);
    state_free(&p->z);
}

/* Stores C and the factors of a step that was accepted. */
static spry_status keep(period *p, double h, double before, int order, bool *converged)
{
    equations *s = &p->r->s;
    const int64_t old = p->room;
    const double w = h / before;
    p->steps = grow(p->steps, p->count, &p->room, sizeof *p->steps);
    if (p->room > old)
        memset(p->steps + old, 0, (size_t)(p->room - old) * sizeof *p->steps);
    kept_step *k = &p->steps[p->count++];
    k->h = order == 1 ? h : h * (1 + w) / (1 + 2 * w);
    k->a1 = order == 1 ? 1 : (1 + w) * (1 + w) / (1 + 2 * w);
    k->a2 = order == 1 ? 0 : -w * w / (1 + 2 * w);
    if (!k->C) {
        k->C = cli_alloc((size_t)(s->entries + 1) * sizeof *k->C);
        k->values = cli_alloc((size_t)(s->entries + 1) * sizeof *k->values);
    }
    memcpy(k->C, s->C, (size_t)s->entries * sizeof *k->C);
    return equations_factor(s, 1 / k->h, k->values, &k->A, &k->M, converged);
}

/* One step to `next`, or less far where Newton's method fails or a switch turns. */
static spry_status advance(period *p, double next, bool corner, bool *converged)
{
    run *r = p->r;
    state *z = &p->z;
    double h = next - z->t;
    const double fine = 1e-3 * p->length / (double)p->least;
    spry_status status = SPRY_STATUS_OK;
    *converged = false;
    for (int k = 0; k < MOST_ATTEMPTS && status == SPRY_STATUS_OK; k++) {
        const double before = z->before;
        const int order = z->points >= 2 && h <= 2 * before ? 2 : 1;
        status = state_step(r, z, h, order, converged);
        if (status != SPRY_STATUS_OK)
            break;
        const double part = *converged ? switches_part(&r->s, z->x) : 2;
        if (!*converged || (part < 1 && (1 - part) * h > fine)) {
            r->s.rejected++;
            h = *converged ? part * h + fine / 2 : h / 4;
            corner = *converged = false;
            continue;
        }
        status = equations_write(&r->s);
        state_accept(r, z, h, order);
        if (status == SPRY_STATUS_OK && p->keeps)
            status = keep(p, h, before, order, converged);
        if (switches_take(&r->s, z->past[0], true) || corner)
            state_corner(z);
        break;
    }
    return status;
}

spry_status period_run(period *p, double t, double *x, bool *converged)
{
    run *r = p->r;
    state *z = &p->z;
    const size_t bytes = (size_t)(r->s.rows + 1) * sizeof *x;
    const double end = t + p->length, least = 1e-9 * p->length / (double)p->least;
    spry_status status = SPRY_STATUS_OK;
    z->t = t;
    z->before = p->length / (double)p->least;
    memcpy(z->past[0], x, bytes);
    switches_take(&r->s, x, true);
    state_begin(r, z, false);
    memcpy(p->C0, r->s.C, (size_t)r->s.entries * sizeof *p->C0);
    p->count = 0;
    r->periods++;
    *converged = true;
    for (int64_t k = 1; status == SPRY_STATUS_OK && *converged && z->t < end - least;) {
        const double grid = t + (double)k * p->length / (double)p->least;
        double corner = run_corner(r, z->t), next = fmin(grid, end);
        if (grid <= z->t + least) {
            k++;
            continue;
        }
        if (corner <= z->t + least) { /* rounding put it behind us */
            state_corner(z);
            corner = run_corner(r, z->t + least);
        }
        const bool is_corner = corner <= next + least;
        status = advance(p, is_corner ? corner : next, is_corner, converged);
        if (status == SPRY_STATUS_OK && *converged && p->records)
            results_add(&r->results, z->t, z->past[0], NULL);
        if (signals_pending())
            status = SPRY_STATUS_INTERRUPTED;
    }
    memcpy(x, z->past[0], bytes);
    return status;
}

/* --- the sensitivity -----------------------------------------------------------------------------
 */

spry_status period_apply(void *data, spry_transpose op, const void *from, void *to)
{
    period *p = data;
    equations *s = &p->r->s;
    const double *v = from;
    double *y = to, *right = p->work[0], *last = p->work[1], *before = p->work[2];
    const double *C = p->C0, *C_before = NULL;
    spry_status status = SPRY_STATUS_OK;
    (void)op;
    last[0] = 0;
    memcpy(last + 1, v, (size_t)s->rows * sizeof *last);
    for (int64_t i = 0; i < p->count && status == SPRY_STATUS_OK; i++) {
        const kept_step *k = &p->steps[i];
        equations_multiply(s, C, last, right);
        if (k->a2 != 0)
            equations_multiply(s, C_before, before, p->work[3]);
        for (int64_t j = 1; j <= s->rows; j++)
            right[j] = (k->a1 * right[j] + (k->a2 != 0 ? k->a2 * p->work[3][j] : 0)) / k->h;
        double *const next = before;
        before = last;
        last = next;
        status = equations_apply(s, k->M, right, last);
        C_before = C;
        C = k->C;
    }
    for (int64_t j = 0; j < s->rows; j++)
        y[j] = p->alpha * last[j + 1] - p->beta * v[j];
    return status;
}

/* All columns of A, as a matrix that is full. */
static spry_status make_dense(period *p, spry_matrix **A)
{
    const int64_t n = p->r->s.rows;
    int64_t *offsets = cli_alloc((size_t)(n + 1) * sizeof *offsets);
    int32_t *columns = cli_alloc((size_t)(n * n) * sizeof *columns);
    double *values = cli_alloc((size_t)(n * n) * sizeof *values);
    double *unit = cli_alloc((size_t)(2 * n) * sizeof *unit), *column = unit + n;
    spry_status status = SPRY_STATUS_OK;
    memset(unit, 0, (size_t)n * sizeof *unit);
    for (int64_t j = 0; j < n && status == SPRY_STATUS_OK; j++) {
        unit[j] = 1;
        status = period_apply(p, SPRY_TRANSPOSE_NO, unit, column);
        unit[j] = 0;
        for (int64_t i = 0; i < n; i++) {
            values[i * n + j] = column[i];
            columns[i * n + j] = (int32_t)j;
        }
    }
    for (int64_t i = 0; i <= n; i++)
        offsets[i] = i * n;
    if (status == SPRY_STATUS_OK)
        status = spry_matrix_from_csr(p->r->s.ctx, SPRY_TYPE_D, n, n, offsets, columns, values,
                                      SPRY_OWN_COPY, A);
    free(offsets);
    free(columns);
    free(values);
    free(unit);
    return status;
}

spry_status period_solve(period *p, const double *right, double *change, bool *converged)
{
    equations *s = &p->r->s;
    const int how = (int)p->r->o->update;
    spry_operator *op = NULL;
    spry_matrix *A = NULL;
    spry_solver *solver = NULL;
    spry_vector *b = NULL, *x = NULL;
    spry_result result = SPRY_RESULT_INIT;
    char options[128];
    memset(change, 0, (size_t)(s->rows + 1) * sizeof *change);
    snprintf(options, sizeof options,
             "method=gmres:restart=%lld precon=none tol=1e-7 max-iter=1000",
             (long long)(s->rows < BASIS ? s->rows : BASIS));
    spry_status status = spry_solver_new(s->ctx, &solver);
    if (status == SPRY_STATUS_OK)
        status = spry_solver_set(solver, how == UPDATE_DENSE ? "method=direct" : options);
    if (status == SPRY_STATUS_OK && how != UPDATE_IMPLICIT)
        status = make_dense(p, &A);
    if (status == SPRY_STATUS_OK && how != UPDATE_IMPLICIT)
        status = spry_solver_set_matrix(solver, A);
    if (status == SPRY_STATUS_OK && how == UPDATE_IMPLICIT)
        status = spry_operator_from_function(s->ctx, SPRY_TYPE_D, s->rows, s->rows, false,
                                             period_apply, p, &op);
    if (status == SPRY_STATUS_OK && how == UPDATE_IMPLICIT)
        status = spry_solver_set_operator(solver, op);
    if (status == SPRY_STATUS_OK)
        status = spry_vector_new(s->ctx, SPRY_TYPE_D, s->rows, (double *)(uintptr_t)right + 1,
                                 SPRY_OWN_BORROW, &b);
    if (status == SPRY_STATUS_OK)
        status = spry_vector_new(s->ctx, SPRY_TYPE_D, s->rows, change + 1, SPRY_OWN_BORROW, &x);
    if (status == SPRY_STATUS_OK)
        status = spry_solve(solver, b, x, &result);
    p->r->krylov += how == UPDATE_DENSE ? 0 : result.iterations;
    *converged = result.converged || result.true_residual < 1e-4;
    if (status == SPRY_STATUS_OK && result.reason == SPRY_REASON_STOPPED)
        status = SPRY_STATUS_INTERRUPTED;
    spry_result_clear(s->ctx, &result);
    spry_vector_free(b);
    spry_vector_free(x);
    spry_solver_free(solver);
    spry_operator_free(op);
    spry_matrix_free(A);
    return status;
}
