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

/* y = A v: the steps' solves and products, all of them in the place of the stored matrices, as a
 * spry_product_fn. */
static spry_status apply(void *data, spry_transpose op, const spry_vector *v, spry_vector *y,
                         void *stream)
{
    period *p = data;
    spry_vector *last = p->work[0], *before = p->work[1], *const right = p->work[2];
    const kept_matrix *C = &p->C0, *C_before = NULL;
    spry_status status = spry_vector_copy(v, last);
    (void)op;
    (void)stream;
    for (int64_t i = 0; i < p->count && status == SPRY_STATUS_OK; i++) {
        const kept_step *k = &p->steps[i];
        status = spry_operator_multiply(C->op, SPRY_TRANSPOSE_NO, (spry_scalar){k->a1 / k->h, 0},
                                        last, (spry_scalar){0, 0}, right);
        if (status == SPRY_STATUS_OK && k->a2 != 0)
            status = spry_operator_multiply(C_before->op, SPRY_TRANSPOSE_NO,
                                            (spry_scalar){k->a2 / k->h, 0}, before,
                                            (spry_scalar){1, 0}, right);
        spry_vector *const next = before;
        before = last;
        last = next;
        if (status == SPRY_STATUS_OK)
            status = spry_operator_apply(k->J.op, right, last);
        C_before = C;
        C = &k->C;
    }
    p->r->s.solves += p->count;
    if (status == SPRY_STATUS_OK)
        status = spry_vector_copy(v, y);
    if (status == SPRY_STATUS_OK)
        status = spry_vector_scale((spry_scalar){-p->beta, 0}, y);
    return status == SPRY_STATUS_OK ? spry_vector_axpy((spry_scalar){p->alpha, 0}, last, y)
                                    : status;
}

bool period_make(period *p, run *r, double length, int64_t least)
{
    equations *s = &r->s;
    *p = (period){.r = r, .length = length, .least = least};
    state_make(&p->z, r->c->size);
    for (int k = 0; k < 3; k++)
        if (!equations_good(
                s, s->device ? spry_vector_on(s->device, SPRY_TYPE_D, s->rows, NULL, &p->work[k])
                             : spry_vector_new(s->ctx, SPRY_TYPE_D, s->rows, NULL, SPRY_OWN_COPY,
                                               &p->work[k])))
            return false;
    return equations_good(s, spry_operator_from_product(s->ctx, s->device, SPRY_TYPE_D, s->rows,
                                                        s->rows, false, apply, p, &p->op));
}

static void free_kept(kept_matrix *m)
{
    spry_operator_free(m->op);
    spry_matrix_free(m->A);
    free(m->values);
}

void period_free(period *p)
{
    spry_operator_free(p->op);
    for (int64_t k = 0; k < p->room; k++) {
        free_kept(&p->steps[k].C);
        free_kept(&p->steps[k].J);
    }
    free_kept(&p->C0);
    free(p->steps);
    for (int k = 0; k < 3; k++)
        spry_vector_free(p->work[k]);
    free(p->z.memory);
}

/* C of the present evaluation, whose products are made where the factors are. */
static bool keep_charges(equations *s, kept_matrix *m)
{
    const bool first = !m->values;
    if (first)
        m->values = zeros(s->entries + 1);
    memcpy(m->values, s->C, (size_t)s->entries * sizeof *s->C);
    if (!first)
        return equations_good(s, spry_matrix_set_values(m->A, m->values, SPRY_OWN_BORROW)) &&
               equations_good(s, spry_operator_update(m->op, m->A));
    return equations_good(s, spry_matrix_from_csr(s->ctx, SPRY_TYPE_D, s->rows, s->rows, s->offsets,
                                                  s->columns, m->values, SPRY_OWN_BORROW, &m->A)) &&
           equations_good(s, spry_operator_from_matrix(m->A, s->device, "csr", &m->op));
}

/* Stores C and the factors of a step that was accepted. */
static bool keep(period *p, double h, double before, int order)
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
    if (!k->J.values)
        k->J.values = zeros(s->entries + 1);
    return keep_charges(s, &k->C) && equations_factor(s, 1 / k->h, s->device, &k->J);
}

/* One step to `next`, or less far where Newton's method fails or a switch turns. */
static bool advance(period *p, double next, bool corner)
{
    run *r = p->r;
    state *z = &p->z;
    double h = next - z->t;
    const double fine = 1e-3 * p->length / (double)p->least;
    for (int k = 0; k < MOST_ATTEMPTS && r->s.exit_status == EXIT_DONE; k++) {
        const double before = z->before;
        const int order = z->points >= 2 && h <= 2 * before ? 2 : 1;
        const bool good = state_step(r, z, h, order);
        const double part = good ? switches_part(&r->s, z->x) : 2;
        if (!good || (part < 1 && (1 - part) * h > fine)) {
            r->s.rejected++;
            h = good ? part * h + fine / 2 : h / 4;
            corner = false;
            continue;
        }
        equations_write(&r->s);
        state_accept(r, z, h, order);
        const bool kept = !p->keeps || keep(p, h, before, order);
        if (switches_take(&r->s, z->past[0], true) || corner)
            state_corner(z);
        return kept && r->s.exit_status == EXIT_DONE;
    }
    return false;
}

bool period_run(period *p, double t, double *x)
{
    run *r = p->r;
    state *z = &p->z;
    const size_t bytes = (size_t)(r->s.rows + 1) * sizeof *x;
    const double end = t + p->length, least = 1e-9 * p->length / (double)p->least;
    z->t = t;
    z->before = p->length / (double)p->least;
    memcpy(z->past[0], x, bytes);
    switches_take(&r->s, x, true);
    state_begin(r, z, false);
    p->count = 0;
    r->periods++;
    bool good = !p->keeps || keep_charges(&r->s, &p->C0);
    for (int64_t k = 1; good && z->t < end - least;) {
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
        good = advance(p, is_corner ? corner : next, is_corner);
        if (good && p->records)
            results_add(&r->results, z->t, z->past[0], NULL);
    }
    memcpy(x, z->past[0], bytes);
    return good;
}

/* All columns of A, as a matrix that is full. */
static bool make_dense(period *p, spry_matrix **A)
{
    equations *s = &p->r->s;
    const int64_t n = s->rows;
    int64_t *offsets = cli_alloc((size_t)(n + 1) * sizeof *offsets);
    int32_t *columns = cli_alloc((size_t)(n * n) * sizeof *columns);
    double *values = zeros(n * n), *unit = zeros(2 * n), *column = unit + n;
    spry_vector *v[2];
    bool good = equations_vectors(s, unit - 1, column - 1, v);
    for (int64_t j = 0; j < n && good; j++) {
        unit[j] = 1;
        good = equations_good(s, spry_operator_apply(p->op, v[0], v[1]));
        unit[j] = 0;
        for (int64_t i = 0; i < n; i++) {
            values[i * n + j] = column[i];
            columns[i * n + j] = (int32_t)j;
        }
    }
    for (int64_t i = 0; i <= n; i++)
        offsets[i] = i * n;
    good = good && equations_good(s, spry_matrix_from_csr(s->ctx, SPRY_TYPE_D, n, n, offsets,
                                                          columns, values, SPRY_OWN_COPY, A));
    free(offsets);
    free(columns);
    free(values);
    spry_vector_free(v[0]);
    spry_vector_free(v[1]);
    free(unit);
    return good;
}

bool period_solve(period *p, const double *right, double *change)
{
    equations *s = &p->r->s;
    const int how = (int)p->r->o->update;
    const double begin = cli_clock();
    spry_matrix *A = NULL;
    spry_solver *solver = NULL;
    spry_vector *v[2] = {NULL, NULL};
    spry_result result = SPRY_RESULT_INIT;
    char options[128];
    memset(change, 0, (size_t)(s->rows + 1) * sizeof *change);
    snprintf(options, sizeof options,
             "method=gmres:restart=%lld precon=none tol=1e-7 max-iter=1000",
             (long long)(s->rows < BASIS ? s->rows : BASIS));
    const bool good =
        equations_good(s, spry_solver_new(s->ctx, &solver)) &&
        equations_good(s,
                       spry_solver_set(solver, how == UPDATE_DENSE ? "method=direct" : options)) &&
        (how == UPDATE_IMPLICIT || make_dense(p, &A)) &&
        equations_good(s, A ? spry_solver_set_matrix(solver, A)
                            : spry_solver_set_operator(solver, p->op)) &&
        equations_vectors(s, right, change, v) &&
        equations_good(s, spry_solve(solver, v[0], v[1], &result));
    p->r->krylov += how == UPDATE_DENSE ? 0 : result.iterations;
    p->r->update_seconds += cli_clock() - begin;
    const bool converged = good && (result.converged || result.true_residual < 1e-4);
    spry_result_clear(s->ctx, &result);
    spry_vector_free(v[0]);
    spry_vector_free(v[1]);
    spry_solver_free(solver);
    spry_matrix_free(A);
    return converged;
}
