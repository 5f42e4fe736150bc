/*
 * Measures of an x that no scaling of rows or columns changes, made on the host from the entries of
 * A: what rounding allows, and how far x is from a least-squares solution. Componentwise, as in
 * W. Oettli, W. Prager, Numer. Math. 6 (1964), 405-409.
 */
#include "krylov/krylov.h"

#include <float.h>

/* General CSR, and vectors as the host has them. */
typedef struct measured {
    const spry_matrix *A;
    spry_matrix *own_A;
    const spry_vector *b, *x, *r; /* r may be NULL */
    spry_vector *own_b, *own_x, *own_r;
    double *terms; /* of each row: |b| + |A| |x|, which its residual is the rest of */
} measured;

static double size_at(const spry_vector *v, int64_t i)
{
    const spry_scalar value = value_get(v->type, v->data, i);
    return hypot(value.re, value.im);
}

static void measured_free(spry_context *ctx, measured *m)
{
    spry_matrix_free(m->own_A);
    spry_vector_free(m->own_b);
    spry_vector_free(m->own_x);
    spry_vector_free(m->own_r);
    base_free(ctx, m->terms);
}

static spry_status measured_make(const iteration *it, const spry_vector *r, measured *m)
{
    spry_context *ctx = it->ctx;
    spry_status status = SPRY_STATUS_OK;
    *m = (measured){0};
    SPRY_GO(ctx, matrix_as_csr(it->matrix, &m->A, &m->own_A));
    SPRY_GO(ctx, vector_on_host(it->b, &m->b, &m->own_b));
    SPRY_GO(ctx, vector_on_host(it->x, &m->x, &m->own_x));
    if (r)
        SPRY_GO(ctx, vector_on_host(r, &m->r, &m->own_r));
    const matrix_arrays *a = &m->A->a;
    SPRY_GO(ctx, base_alloc(ctx, a->rows, sizeof *m->terms, &m->terms));
    for (int64_t i = 0; i < a->rows; i++) {
        double sum = size_at(m->b, i);
        for (int64_t k = a->offsets[i]; k < a->offsets[i + 1]; k++) {
            const spry_scalar v = value_get(a->type, a->values, k);
            sum += hypot(v.re, v.im) * size_at(m->x, a->col_index[k]);
        }
        m->terms[i] = sum;
    }
done:
    return status;
}

double measure_unit(spry_type type)
{
    return type_is_single(type) ? FLT_EPSILON : DBL_EPSILON;
}

spry_status measure_rounding(const iteration *it, double *level)
{
    measured m;
    double sum = 0;
    *level = 0;
    if (!it->matrix)
        return SPRY_STATUS_OK;
    const spry_status status = measured_make(it, NULL, &m);
    for (int64_t i = 0; status == SPRY_STATUS_OK && i < m.A->a.rows; i++)
        sum = hypot(sum, m.terms[i]);
    *level = measure_unit(it->A->type) * sum / it->b_norm;
    measured_free(it->ctx, &m);
    return status;
}

/* Of a column a: what its share in the gradient is made of. */
typedef struct column {
    spry_scalar dot; /* a^H r */
    double norm;     /* |a| */
    double sum;      /* |a|^T |r| */
    double rounding; /* what rounding of r makes of a^H r */
    bool open;       /* one of its equations does not hold to the tolerance */
} column;

/* r is taken times `up`, as products with small entries would be below all numbers. */
static void add_row(const measured *m, int64_t i, double tol, double unit, double up,
                    column *columns)
{
    const matrix_arrays *a = &m->A->a;
    spry_scalar r = value_get(m->r->type, m->r->data, i);
    r = (spry_scalar){r.re * up, r.im * up};
    const double size = hypot(r.re, r.im), terms = m->terms[i] * up;
    for (int64_t k = a->offsets[i]; k < a->offsets[i + 1]; k++) {
        column *c = &columns[a->col_index[k]];
        const spry_scalar v = value_get(a->type, a->values, k);
        const double entry = hypot(v.re, v.im);
        c->dot.re += v.re * r.re + v.im * r.im;
        c->dot.im += v.re * r.im - v.im * r.re;
        c->norm = hypot(c->norm, entry);
        c->sum += entry * size;
        c->rounding += entry * unit * terms;
        c->open = c->open || size > tol * terms;
    }
}

/*
 * A column's own cosine with r, which a large column elsewhere does not hide. A few heavy rows,
 * that hold to a tenth digit, would hide the others still: where equations are open, terms are
 * compared with their sum, but for what rounding alone makes.
 */
static double judge_column(const column *c, double r_norm)
{
    const double dot = hypot(c->dot.re, c->dot.im);
    if (dot == 0)
        return 0;
    const double cosine = dot / c->norm / r_norm;
    const double balance = c->open ? (dot - 2 * c->rounding) / c->sum : 0;
    return fmax(cosine, balance);
}

spry_status measure_columns(const iteration *it, const spry_vector *r, double r_norm, double *worst)
{
    spry_context *ctx = it->ctx;
    measured m = {0};
    column *columns = NULL;
    int exponent;
    spry_status status = SPRY_STATUS_OK;
    *worst = 0;
    if (!it->matrix)
        return SPRY_STATUS_OK;
    frexp(r_norm, &exponent);
    const bool scales = r_norm > 0 && isfinite(r_norm);
    exponent -= it->a_norm < 1 ? 60 : 0; /* products of the smallest numbers are some then */
    const double up = scales ? ldexp(1, -exponent < 1000 ? -exponent : 1000) : 1;
    SPRY_GO(ctx, measured_make(it, r, &m));
    SPRY_GO(ctx, base_calloc(ctx, m.A->a.cols, sizeof *columns, &columns));
    for (int64_t i = 0; i < m.A->a.rows; i++)
        add_row(&m, i, it->options->tol, measure_unit(it->A->type), up, columns);
    for (int64_t j = 0; j < m.A->a.cols; j++)
        *worst = fmax(*worst, judge_column(&columns[j], up * r_norm));
done:
    base_free(ctx, columns);
    measured_free(ctx, &m);
    return status;
}
