/* Products with a kept matrix. */
#include "gate.h"

/* One column: vectors over the caller's numbers. */
static bool one_column(const kept *k, spry_transpose op, void *x, int64_t n, void *y, int64_t m)
{
    const spry_scalar one = {1, 0}, zero = {0, 0};
    spry_context *ctx = gate_context();
    spry_vector *from = NULL, *to = NULL;
    const bool good = gate_check(spry_vector_new(ctx, k->type, n, x, SPRY_OWN_BORROW, &from)) &&
                      gate_check(spry_vector_new(ctx, k->type, m, y, SPRY_OWN_BORROW, &to)) &&
                      gate_check(spry_operator_multiply(k->op, op, one, from, zero, to));
    spry_vector_free(from);
    spry_vector_free(to);
    return good;
}

static bool many_columns(const kept *k, spry_transpose op, void *x, int64_t n, void *y, int64_t m,
                         int64_t cols)
{
    const spry_scalar one = {1, 0}, zero = {0, 0};
    spry_dense from = SPRY_DENSE_INIT, to = SPRY_DENSE_INIT;
    from.rows = from.ld = n;
    to.rows = to.ld = m;
    from.cols = to.cols = cols;
    from.data = x;
    to.data = y;
    return gate_check(spry_operator_multiply_dense(k->op, op, one, &from, zero, &to));
}

typedef struct product {
    const kept *k;
    spry_transpose op;
    int64_t n, m, count;
} product;

static bool columns(const product *p, void *x, void *y)
{
    if (p->m == 0 || p->count == 0 || p->n == 0)
        return true;
    return p->count == 1 ? one_column(p->k, p->op, x, p->n, y, p->m)
                         : many_columns(p->k, p->op, x, p->n, y, p->m, p->count);
}

/* A real matrix and complex numbers: a product for each part. */
static bool by_parts(const product *p, const mxArray *array, mxArray **out)
{
    const spry_type type = p->k->type;
    *out = arrays_full(type == SPRY_TYPE_D ? SPRY_TYPE_Z : SPRY_TYPE_C, p->m, p->count);
    return columns(p, arrays_part(array, false, type), mxGetData(*out)) &&
           columns(p, arrays_part(array, true, type), mxGetImagData(*out));
}

static bool multiply(const kept *k, spry_transpose op, const mxArray *array, mxArray **out)
{
    const int64_t rows = spry_matrix_rows(k->A), cols = spry_matrix_cols(k->A);
    product p = {k, op, op == SPRY_TRANSPOSE_NO ? cols : rows,
                 op == SPRY_TRANSPOSE_NO ? rows : cols, 0};
    spry_type type;
    if (!arrays_type(array, "x", &type) || !arrays_columns(array, "x", p.n, &p.count))
        return false;
    if (mxIsComplex(array) && !mxIsSparse(array) && !spry_type_is_complex(k->type))
        return by_parts(&p, array, out);
    void *x = arrays_numbers(array, "x", k->type);
    if (!x)
        return false;
    *out = arrays_full(k->type, p.m, p.count);
    void *y = arrays_room(*out, k->type);
    const bool good = columns(&p, x, y);
    arrays_set(*out, k->type, y);
    return good;
}

/* y = spry_mex('multiply', ID, x) */
bool command_multiply(gate_call *call)
{
    kept *k = gate_count(call, 2, 2) ? kept_enter(call->in[0]) : NULL;
    if (!k)
        return false;
    const bool good = multiply(k, kept_transpose(call->in[0]), call->in[1], call->out);
    kept_leave(k);
    return good;
}
