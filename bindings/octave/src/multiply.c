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
    const int64_t rows = spry_operator_rows(k->op), cols = spry_operator_cols(k->op);
    product p = {k, op, op == SPRY_TRANSPOSE_NO ? cols : rows,
                 op == SPRY_TRANSPOSE_NO ? rows : cols, 0};
    spry_type type;
    if (!arrays_type(array, "x", &type))
        return false;
    p.count = (int64_t)mxGetN(array);
    if ((int64_t)mxGetM(array) != p.n)
        return gate_fail("badShape",
                         "nonconformant: the matrix is %.0f x %.0f, and its factor %.0f x %.0f",
                         (double)p.m, (double)p.n, (double)mxGetM(array), (double)p.count);
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

static bool with_id(const mxArray *id, spry_transpose op, const mxArray *x, mxArray **out)
{
    kept *k = kept_enter(id);
    const bool good = k && multiply(k, op, x, out);
    kept_leave(k);
    return good;
}

/* X A is (A.' X.').', X A.' is (A X.').', and X A' is (A X')'. */
static bool from_the_left(const mxArray *id, const mxArray *x, mxArray **out)
{
    const spry_transpose op = kept_transpose(id);
    const char *turn = op == SPRY_TRANSPOSE_CONJUGATE ? "ctranspose" : "transpose";
    mxArray *turned = NULL, *result = NULL, *in = (mxArray *)x;
    spry_type type;
    if (!arrays_type(x, "x", &type))
        return false;
    mexCallMATLAB(1, &turned, 1, &in, turn);
    if (!with_id(id, op == SPRY_TRANSPOSE_NO ? SPRY_TRANSPOSE_YES : SPRY_TRANSPOSE_NO, turned,
                 &result))
        return false;
    mexCallMATLAB(1, out, 1, &result, turn);
    return true;
}

static bool is_object(const mxArray *array)
{
    return mxIsClass(array, "spry_matrix");
}

/* y = spry_mex('multiply', ID or S, x), or (x, S): what S*x and x*S come to. Objects come as they
 * are: to read a property and to ask for a class takes the interpreter longer than a product. */
bool command_multiply(gate_call *call)
{
    if (!gate_count(call, 2, 2))
        return false;
    const bool left = !is_object(call->in[0]) && is_object(call->in[1]);
    const mxArray *named = call->in[left ? 1 : 0], *x = call->in[left ? 0 : 1];
    if (is_object(x))
        return gate_fail("badType",
                         "x is of class spry_matrix: one factor is to be a full array, as "
                         "full(S) is");
    mxArray *property = is_object(named) ? mxGetProperty(named, 0, "id") : NULL;
    const mxArray *id = property ? property : named;
    if (!kept_is_id(id))
        return gate_fail("badType", "a kept matrix is named by its id, not by a %s",
                         mxGetClassName(id));
    const bool good =
        left ? from_the_left(id, x, call->out) : with_id(id, kept_transpose(id), x, call->out);
    if (property)
        mxDestroyArray(property);
    return good;
}
