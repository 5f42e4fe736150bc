/* The checks of what gets new values. */
#include "support/renewed.h"

#include "operator/operator.h"
#include "support/numeric.h"

#include <stdlib.h>
#include <string.h>

/* A matrix that borrows `old`, and other values for it, both malloc()ed. */
typedef struct renewal {
    spry_matrix *A;
    void *old, *fresh;
    size_t bytes;
} renewal;

spry_scalar renewed_value(const spry_matrix *A, int64_t i, int64_t k)
{
    const int64_t j = A->a.col_index[k];
    const double f = i == j ? 2 : 1 + 0.25 * (double)((i * j) % 3);
    const spry_scalar v = value_get(A->a.type, A->a.values, k);
    return (spry_scalar){f * v.re, f * v.im};
}

static void change(const spry_matrix *A, void *values)
{
    for (int64_t i = 0; i < A->a.rows; i++)
        for (int64_t k = A->a.offsets[i]; k < A->a.offsets[i + 1]; k++)
            value_set(A->a.type, values, k, renewed_value(A, i, k));
}

static renewal begin(spry_context *ctx, spry_matrix *A)
{
    renewal r = {.A = A, .bytes = (size_t)A->a.nnz * spry_type_size(A->a.type)};
    r.old = malloc(r.bytes);
    r.fresh = malloc(r.bytes);
    assert_non_null(r.old);
    assert_non_null(r.fresh);
    memcpy(r.old, A->a.values, r.bytes);
    change(A, r.fresh);
    assert_ok(ctx, spry_matrix_set_values(A, r.old, SPRY_OWN_BORROW));
    assert_ptr_equal(A->a.values, r.old);
    return r;
}

/* Other values, in one of the three ways; the old ones go. */
static void renew(spry_context *ctx, renewal *r, spry_own own)
{
    void *values = r->fresh;
    if (own == SPRY_OWN_TAKE) {
        values = spry_alloc(ctx, r->bytes);
        memcpy(values, r->fresh, r->bytes);
    }
    assert_ok(ctx, spry_matrix_set_values(r->A, values, own));
    assert_int_equal(r->A->a.values == values, own != SPRY_OWN_COPY);
    free(r->old);
    r->old = NULL;
}

static void end(renewal *r)
{
    spry_matrix_free(r->A);
    free(r->old);
    free(r->fresh);
}

static spry_matrix *grid(spry_context *ctx, spry_type type)
{
    char text[32];
    spry_matrix *A = NULL;
    snprintf(text, sizeof text, "size=13 type=%s", spry_type_name(type));
    assert_ok(ctx, spry_generate(ctx, "poisson2d", text, &A));
    return A;
}

/* op(A) x as an array of the host's. */
static void *product(spry_context *ctx, const spry_operator *op, spry_transpose transpose)
{
    spry_vector *x = numeric_random(ctx, NULL, op->type, op->rows, 7), *y = NULL;
    assert_ok(ctx, spry_vector_like(x, op->rows, &y));
    assert_ok(
        ctx, spry_operator_multiply(op, transpose, (spry_scalar){1, 0}, x, (spry_scalar){0, 0}, y));
    const size_t bytes = (size_t)y->n * spry_type_size(y->type);
    void *to = malloc(bytes);
    memcpy(to, y->data, bytes);
    spry_vector_free(x);
    spry_vector_free(y);
    return to;
}

/* Both arrays are the same, or are not; frees them. */
static void compare(const spry_operator *op, void *a, void *b, bool same)
{
    const size_t bytes = (size_t)op->rows * spry_type_size(op->type);
    assert_int_equal(memcmp(a, b, bytes) == 0, same);
    free(a);
    free(b);
}

static void same_operator(spry_context *ctx, const spry_operator *a, const spry_operator *b)
{
    compare(a, product(ctx, a, SPRY_TRANSPOSE_NO), product(ctx, b, SPRY_TRANSPOSE_NO), true);
    if (spry_operator_has_transpose(a))
        compare(a, product(ctx, a, SPRY_TRANSPOSE_CONJUGATE),
                product(ctx, b, SPRY_TRANSPOSE_CONJUGATE), true);
}

void renewed_operator(spry_context *ctx, spry_device *d, spry_type type, const char *format)
{
    for (int own = SPRY_OWN_BORROW; own <= SPRY_OWN_TAKE; own++) {
        renewal r = begin(ctx, grid(ctx, type));
        spry_operator *op = NULL, *rebuilt = NULL;
        if (spry_operator_from_matrix(r.A, d, format, &op) !=
            SPRY_STATUS_OK) { /* not for such a matrix */
            end(&r);
            return;
        }
        assert_true(spry_operator_is_current(op));
        void *before = product(ctx, op, SPRY_TRANSPOSE_NO);
        if (own != SPRY_OWN_COPY) /* with a transpose, or without */
            free(product(ctx, op, SPRY_TRANSPOSE_YES));
        renew(ctx, &r, (spry_own)own);
        const bool follows = !d && strcmp(format, "csr") == 0;
        assert_int_equal(spry_operator_is_current(op), follows);
        compare(op, product(ctx, op, SPRY_TRANSPOSE_NO), before, !follows);
        const spry_status made = spry_operator_from_matrix(r.A, d, format, &rebuilt);
        assert_int_equal(spry_operator_update(op, r.A), made);
        assert_int_equal(spry_operator_is_current(op), made == SPRY_STATUS_OK);
        if (made == SPRY_STATUS_OK) {
            assert_string_equal(spry_operator_name(op), spry_operator_name(rebuilt));
            same_operator(ctx, op, rebuilt);
        }
        spry_operator_free(rebuilt);
        spry_operator_free(op);
        end(&r);
    }
}

void renewed_precon(spry_context *ctx, spry_device *d, spry_type type, const precons_case *c)
{
    renewal r = begin(ctx, precons_matrix(ctx, type, c->definite, 10));
    spry_operator *M = NULL, *rebuilt = NULL;
    assert_ok(ctx, spry_precon_new(r.A, d, precons_spec(c), &M));
    if (M) {
        assert_true(spry_operator_is_current(M));
        renew(ctx, &r, SPRY_OWN_BORROW);
        assert_false(spry_operator_is_current(M));
        free(product(ctx, M, SPRY_TRANSPOSE_NO)); /* of whatever it has */
        assert_ok(ctx, spry_precon_new(r.A, d, precons_spec(c), &rebuilt));
        assert_ok(ctx, spry_operator_update(M, r.A));
        assert_true(spry_operator_is_current(M));
        if (!c->keeps)
            same_operator(ctx, M, rebuilt);
    }
    spry_operator_free(M);
    spry_operator_free(rebuilt);
    end(&r);
}

static void solve(spry_context *ctx, spry_solver *solver, spry_vector *b, spry_vector *x,
                  spry_result *result)
{
    assert_ok(ctx, spry_vector_fill(x, (spry_scalar){0, 0}));
    assert_ok(ctx, spry_solve(solver, b, x, result));
    assert_true(result->converged);
}

void renewed_solver(spry_context *ctx, spry_type type, const char *options)
{
    for (int own = SPRY_OWN_BORROW; own <= SPRY_OWN_TAKE; own++) {
        renewal r = begin(ctx, grid(ctx, type));
        spry_result first = SPRY_RESULT_INIT, second = SPRY_RESULT_INIT, third = SPRY_RESULT_INIT;
        spry_vector *b = NULL, *x = NULL, *rebuilt = NULL;
        spry_solver *solver = NULL;
        assert_ok(ctx, spry_vector_ones(ctx, r.A, &b));
        assert_ok(ctx, spry_vector_zeros(ctx, r.A, &x));
        assert_ok(ctx, spry_vector_zeros(ctx, r.A, &rebuilt));
        assert_ok(ctx, spry_solver_new(ctx, &solver));
        assert_ok(ctx, spry_solver_set(solver, options));
        assert_ok(ctx, spry_solver_set_matrix(solver, r.A));
        solve(ctx, solver, b, x, &first);
        renew(ctx, &r, (spry_own)own);
        if (own == SPRY_OWN_COPY) /* ahead of time, and once more for nothing */
            for (int k = 0; k < 2; k++)
                assert_ok(ctx, spry_solver_update(solver));
        solve(ctx, solver, b, x, &second);
        assert_ok(ctx, spry_quick_solve(ctx, r.A, b, rebuilt, options, &third));
        assert_int_equal(second.iterations, third.iterations);
        assert_string_equal(second.format, third.format);
        assert_string_equal(second.device, third.device);
        assert_memory_equal(x->data, rebuilt->data, (size_t)x->n * spry_type_size(type));
        assert_true(second.iterations != first.iterations || second.residual != first.residual);
        spry_result_clear(ctx, &first);
        spry_result_clear(ctx, &second);
        spry_result_clear(ctx, &third);
        spry_solver_free(solver);
        spry_vector_free(b);
        spry_vector_free(x);
        spry_vector_free(rebuilt);
        end(&r);
    }
}
