/* The matrix of the equations: its pattern, and solves with it. */
#include "semi/semi.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { ALL = BIT(KINDS) - 1 };
/* A preconditioner costs about as much as some iterations: incomplete factors 2, multigrid 5. */
enum { SETUP = 4 };
/* Iterations at most, for each digit of a solution and one more. */
enum { PER_DIGIT = 200 };

unsigned semi_kinds_at(const semi_device *d, unsigned kinds, int64_t node)
{
    return d->mesh.node_material[node] >= 0 ? kinds : kinds & BIT(PSI);
}

unsigned semi_columns(int row_kind, bool own)
{
    const int c = row_kind == PHI_P || row_kind == LAM_P;
    if (row_kind == PSI)
        return own ? ALL : BIT(PSI);
    if (own && row_kind < LAM_N)
        return ALL;
    return BIT(PSI) | BIT(PHI_N + c) | BIT(LAM_N + c);
}

/* Puts the columns of one node into a row. */
static void put_columns(semi_system *s, int row_kind, int64_t node, bool own, bool fixed,
                        int64_t *at)
{
    const unsigned kinds = semi_kinds_at(s->d, s->kinds, node);
    const unsigned wanted = fixed ? own ? BIT(row_kind) : 0 : semi_columns(row_kind, own) & kinds;
    int64_t column = s->first[node];
    for (int k = 0; k < KINDS; k++) {
        if (wanted & BIT(k)) {
            if (s->columns)
                s->columns[*at] = (int32_t)column;
            ++*at;
        }
        column += (kinds & BIT(k)) != 0;
    }
}

/* All rows; their entries are counted while there is no room for columns. */
static int64_t put_rows(semi_system *s)
{
    const semi_mesh *m = &s->d->mesh;
    int64_t at = 0, row = 0;
    for (int64_t i = 0; i < m->nodes; i++)
        for (int k = 0; k < KINDS; k++) {
            if (!(semi_kinds_at(s->d, s->kinds, i) & BIT(k)))
                continue;
            const bool fixed = semi_fixed(s->d, i, k);
            bool put = false;
            s->offsets[row++] = at;
            for (int64_t e = m->start[i]; e < m->start[i + 1]; e++) {
                if (!put && m->to[e] > i) {
                    put_columns(s, k, i, true, fixed, &at);
                    put = true;
                }
                put_columns(s, k, m->to[e], false, fixed, &at);
            }
            if (!put)
                put_columns(s, k, i, true, fixed, &at);
        }
    s->offsets[row] = at;
    return at;
}

spry_status semi_system_make(semi_system *s)
{
    spry_context *ctx = s->d->ctx;
    const semi_mesh *m = &s->d->mesh;
    if (s->solver)
        return SPRY_STATUS_OK;
    s->first = cli_alloc((size_t)(m->nodes + 1) * sizeof *s->first);
    s->rows = 0;
    for (int64_t i = 0; i < m->nodes; i++) {
        s->first[i] = s->rows;
        for (unsigned left = semi_kinds_at(s->d, s->kinds, i); left; left &= left - 1)
            s->rows++;
    }
    s->first[m->nodes] = s->rows;
    s->offsets = cli_alloc((size_t)(s->rows + 1) * sizeof *s->offsets);
    const int64_t entries = put_rows(s);
    s->columns = cli_alloc((size_t)entries * sizeof *s->columns);
    put_rows(s);
    s->values = cli_alloc((size_t)entries * sizeof *s->values);
    s->residual = cli_alloc((size_t)s->rows * sizeof *s->residual);
    s->change = cli_alloc((size_t)s->rows * sizeof *s->change);
    spry_status status = spry_matrix_from_csr(ctx, SPRY_TYPE_D, s->rows, s->rows, s->offsets,
                                              s->columns, s->values, SPRY_OWN_BORROW, &s->A);
    if (status == SPRY_STATUS_OK)
        status = spry_vector_new(ctx, SPRY_TYPE_D, s->rows, s->residual, SPRY_OWN_BORROW, &s->b);
    if (status == SPRY_STATUS_OK)
        status = spry_vector_new(ctx, SPRY_TYPE_D, s->rows, s->change, SPRY_OWN_BORROW, &s->x);
    if (status == SPRY_STATUS_OK)
        status =
            app_solver(ctx, s->d->o->method, s->d->o->precon, s->d->o->device, s->A, &s->solver);
    return status;
}

void semi_system_free(semi_system *s)
{
    spry_solver_free(s->solver);
    spry_operator_free(s->M);
    spry_vector_free(s->x);
    spry_vector_free(s->b);
    spry_matrix_free(s->A);
    free(s->first);
    free(s->offsets);
    free(s->columns);
    free(s->values);
    free(s->residual);
    free(s->change);
    *s = (semi_system){.d = s->d, .kinds = s->kinds};
}

/* --- preconditioners ---------------------------------------------------------------------------*/

/* A solve has shown what it can be solved by: from now on by that, with a preconditioner that may
 * be older than the values. */
static spry_status keep_choice(semi_system *s)
{
    const semi_options *o = s->d->o;
    spry_device *device = NULL;
    spry_status status = SPRY_STATUS_OK;
    if (strcmp(s->method, "direct") == 0 || strcmp(s->precon, "none") == 0)
        return SPRY_STATUS_OK;
    status = cli_open_device(s->d->ctx, o->device, &device);
    if (status == SPRY_STATUS_OK)
        status =
            spry_precon_new(s->A, device, strcmp(o->precon, "auto") ? o->precon : s->precon, &s->M);
    if (status == SPRY_STATUS_OK)
        status = spry_solver_set_precon(s->solver, s->M);
    if (status == SPRY_STATUS_OK && strcmp(o->method, "auto") == 0)
        status = spry_solver_set_text(s->solver, "method", s->method);
    return status;
}

spry_status semi_system_choose_again(semi_system *s)
{
    spry_status status = spry_solver_set_precon(s->solver, NULL);
    if (status == SPRY_STATUS_OK)
        status = spry_solver_set_text(s->solver, "method", s->d->o->method);
    spry_operator_free(s->M);
    s->M = NULL;
    return status;
}

/* Takes the values as they are now. */
static spry_status refresh(semi_system *s)
{
    spry_status status = spry_operator_update(s->M, s->A);
    if (status == SPRY_STATUS_UNSUPPORTED) { /* it has to be made again */
        status = semi_system_choose_again(s);
        if (status == SPRY_STATUS_OK)
            status = keep_choice(s);
    }
    if (status == SPRY_STATUS_OK)
        s->iterations = 0;
    return status;
}

/*
 * How far a system is to be solved, by how much the residual fell since the last: S. C. Eisenstat
 * and H. F. Walker's second choice (1996), which keeps Newton's method quadratic.
 */
static double forcing(semi_system *s, const double tol[2])
{
    double square = 0;
    for (int64_t k = 0; k < s->rows; k++)
        square += s->residual[k] * s->residual[k];
    const double norm = sqrt(square), ratio = s->norm > 0 ? norm / s->norm : 1;
    s->norm = norm;
    return fmax(tol[0], fmin(tol[1], 0.9 * ratio * ratio));
}

spry_status semi_system_solve(semi_system *s, const double tol[2], spry_result *result)
{
    const double begin = cli_clock(), wanted = forcing(s, tol);
    spry_status status = spry_solver_set_real(s->solver, "tol", wanted);
    if (status == SPRY_STATUS_OK) /* what takes longer is astray: shorter steps are cheaper */
        status = spry_solver_set_real(s->solver, "max-iter", ceil(PER_DIGIT * (1 - log10(wanted))));
    for (int64_t k = 0; k < s->rows; k++) {
        s->residual[k] = -s->residual[k];
        s->change[k] = 0;
    }
    if (status == SPRY_STATUS_OK)
        status = spry_matrix_set_values(s->A, s->values, SPRY_OWN_BORROW);
    if (status == SPRY_STATUS_OK && s->M && s->iterations >= SETUP)
        status = refresh(s);
    if (status == SPRY_STATUS_OK)
        status = spry_solve(s->solver, s->b, s->x, result);
    s->d->linear_iterations += result->iterations;
    if (status == SPRY_STATUS_OK && s->M && s->iterations > 0 && !result->converged &&
        result->reason != SPRY_REASON_STOPPED) { /* it was too old */
        status = refresh(s);
        spry_result_clear(s->d->ctx, result);
        if (status == SPRY_STATUS_OK)
            status = spry_solve(s->solver, s->b, s->x, result);
        s->d->linear_iterations += result->iterations;
    }
    s->iterations += result->iterations;
    s->d->linear_seconds += cli_clock() - begin;
    s->d->linear_solves++;
    if (status == SPRY_STATUS_OK && !s->M) {
        snprintf(s->method, sizeof s->method, "%s", result->method);
        snprintf(s->precon, sizeof s->precon, "%s", result->precon);
        if (result->converged)
            status = keep_choice(s);
    }
    return status;
}
