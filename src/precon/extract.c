/*
 * The factors of ilutp as sparse matrices. M = C Q (I + U)^-1 F (I + L)^-1 P R, with R and C what
 * rows and columns were scaled by, P and Q permutations, and F the inverses of the pivots; so P A Q
 * is about (R_P^-1 (I + L) R_P) (R_P^-1 F^-1 (I + U) C_Q^-1). The first factor has a diagonal of
 * ones, too.
 */
#include "matrix/entries.h"
#include "precon/stack.h"

#include <private/programs.h>

/* A triangle T of a stack, and what row k and column l of I + T are multiplied by. */
typedef struct part {
    const triangle *t;
    const spry_scalar *rows;
    const double *columns;
} part;

static int32_t step_of(const triangle *t, int64_t place)
{
    return t->sets->rows ? t->sets->rows[place] : (int32_t)place;
}

static void put_entry(const part *p, const matrix_arrays *to, int64_t at, int32_t k, int32_t l,
                      spry_scalar v)
{
    const spry_scalar by = p->rows[k];
    const double f = p->columns[l];
    to->col_index[at] = l;
    value_store(
        to->type, to->values, at,
        (spry_scalar){f * (by.re * v.re - by.im * v.im), f * (by.re * v.im + by.im * v.re)});
}

static spry_status make_triangle(spry_context *ctx, const part *p, spry_matrix **made)
{
    const triangle *t = p->t;
    const int64_t n = t->sets->n;
    matrix_arrays a = {
        .type = t->type, .format = SPRY_FORMAT_CSR, .rows = n, .cols = n, .nnz = n + t->offsets[n]};
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(ctx, matrix_allocate(ctx, &a));
    a.offsets[0] = 0;
    for (int64_t place = 0; place < n; place++)
        a.offsets[step_of(t, place) + 1] = 1 + t->offsets[place + 1] - t->offsets[place];
    for (int64_t k = 0; k < n; k++)
        a.offsets[k + 1] += a.offsets[k];
    for (int64_t place = 0; place < n; place++) {
        const int32_t k = step_of(t, place);
        int64_t at = a.offsets[k];
        put_entry(p, &a, at++, k, k, (spry_scalar){1, 0});
        for (int64_t e = t->offsets[place]; e < t->offsets[place + 1]; e++)
            put_entry(p, &a, at++, k, step_of(t, t->columns[e]), value_load(t->type, t->values, e));
    }
done:
    return matrix_finish(ctx, status, &a, made);
}

/* What each step's row (of P R) or column (of C Q, by rows of A) is, and what it is scaled by. */
static spry_status read_selection(const spry_operator *selection, bool by_rows, int32_t *of_step,
                                  double *scale)
{
    spry_matrix *W = NULL;
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(selection->ctx, spry_operator_to_matrix(selection, &W));
    for (int64_t i = 0; i < W->a.rows; i++) {
        const int64_t step = by_rows ? W->a.col_index[i] : i;
        of_step[step] = (int32_t)(by_rows ? i : W->a.col_index[i]);
        scale[step] = value_get(W->a.type, W->a.values, i).re;
    }
done:
    spry_matrix_free(W);
    return status;
}

/* The numbers that rows and columns of both triangles are multiplied by, from the scaling. */
static void find_factors(const triangle_chain *c, const double *left, const double *right,
                         spry_scalar *l_rows, spry_scalar *u_rows, double *u_columns)
{
    const int64_t n = c->sets->n;
    for (int64_t place = 0; place < n; place++) {
        const int32_t k = step_of(&c->t[0], place);
        const spry_scalar f = value_get(c->type, c->f[1], place);
        const double size = left[k] * (f.re * f.re + f.im * f.im);
        l_rows[k] = (spry_scalar){1 / left[k], 0};
        u_rows[k] = (spry_scalar){f.re / size, -f.im / size};
        u_columns[k] = 1 / right[k];
    }
}

static spry_status extract(const stack *s, spry_matrix **L, spry_matrix **U, int32_t *rows,
                           int32_t *columns)
{
    spry_context *ctx = s->ctx;
    const triangle_chain *c = &s->f[1].chain;
    double *reals = NULL;
    spry_scalar *scalars = NULL;
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(ctx, base_alloc(ctx, 3 * s->n, sizeof *reals, &reals));
    SPRY_GO(ctx, base_alloc(ctx, 2 * s->n, sizeof *scalars, &scalars));
    double *left = reals, *right = reals + s->n, *u_columns = reals + 2 * s->n;
    SPRY_GO(ctx, read_selection(s->f[0].product, false, rows, left));
    SPRY_GO(ctx, read_selection(s->f[2].product, true, columns, right));
    find_factors(c, left, right, scalars, scalars + s->n, u_columns);
    SPRY_GO(ctx, make_triangle(ctx, &(part){&c->t[0], scalars, left}, L));
    SPRY_GO(ctx, make_triangle(ctx, &(part){&c->t[1], scalars + s->n, u_columns}, U));
done:
    base_free(ctx, reals);
    base_free(ctx, scalars);
    return matrix_drop_failed(status, L);
}

spry_status spry_precon_factors(const spry_operator *M, spry_matrix **L, spry_matrix **U,
                                int32_t *rows, int32_t *columns)
{
    SPRY_NEED(CTX_OF(M), M, L, U, rows, columns);
    const stack *s = stack_of(M);
    *L = *U = NULL;
    if (!s || M->device || strcmp(M->name, "ilutp") != 0)
        return SPRY_FAIL(M->ctx, SPRY_STATUS_UNSUPPORTED,
                         "factors: those of precon ilutp on the host are asked for, not of %s",
                         M->name);
    return extract(s, L, U, rows, columns);
}
