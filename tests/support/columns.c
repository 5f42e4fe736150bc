#include "support/columns.h"

#include "operator/operator.h"
#include "support/numeric.h"

static spry_dense block(const spry_operator *A, int columns, bool by_rows, spry_vector *v)
{
    return (spry_dense){.rows = A->rows,
                        .cols = columns,
                        .ld = (by_rows ? columns : A->rows) + 3,
                        .by_rows = by_rows,
                        .data = A->device ? spry_vector_handle(v) : v->data,
                        .device = A->device};
}

static int64_t place(const spry_dense *M, int64_t i, int c)
{
    return M->by_rows ? i * M->ld + c : i + c * M->ld;
}

/* The numbers of a block, on the host. */
static spry_vector *numbers_of(const spry_operator *A, spry_vector *v)
{
    spry_vector *on_host = numeric_random(A->ctx, NULL, A->type, v->n, 0);
    assert_ok(A->ctx, spry_vector_copy(v, on_host));
    return on_host;
}

static void check_layout(const spry_operator *A, spry_transpose transpose, int columns,
                         bool by_rows, spry_scalar beta)
{
    spry_context *ctx = A->ctx;
    const spry_scalar alpha = {0.75, 0};
    const int64_t n = A->rows, size = (int64_t)spry_type_size(A->type);
    const int64_t all = by_rows ? n * (columns + 3) : (n + 3) * columns;
    spry_vector *b = numeric_random(ctx, A->device, A->type, all, 1);
    spry_vector *c = numeric_random(ctx, A->device, A->type, all, 2);
    spry_vector *x = numeric_random(ctx, NULL, A->type, n, 0),
                *y = numeric_random(ctx, NULL, A->type, n, 0);
    spry_vector *from = numbers_of(A, b), *before = numbers_of(A, c),
                *device_x = numeric_random(ctx, A->device, A->type, n, 0),
                *device_y = numeric_random(ctx, A->device, A->type, n, 0);
    const spry_dense B = block(A, columns, by_rows, b), C = block(A, columns, by_rows, c);
    assert_ok(ctx, spry_operator_multiply_dense(A, transpose, alpha, &B, beta, &C));
    spry_vector *after = numbers_of(A, c);
    for (int k = 0; k < columns; k++) {
        for (int64_t i = 0; i < n; i++) {
            value_set(A->type, x->data, i, value_get(A->type, from->data, place(&B, i, k)));
            value_set(A->type, y->data, i, value_get(A->type, before->data, place(&C, i, k)));
        }
        assert_ok(ctx, spry_vector_copy(x, device_x));
        assert_ok(ctx, spry_vector_copy(y, device_y));
        assert_ok(ctx, spry_operator_multiply(A, transpose, alpha, device_x, beta, device_y));
        assert_ok(ctx, spry_vector_copy(device_y, y));
        for (int64_t i = 0; i < n; i++) {
            char *is = (char *)after->data + place(&C, i, k) * size;
            assert_memory_equal(is, (char *)y->data + i * size, (size_t)size);
            memcpy(is, (char *)before->data + place(&C, i, k) * size, (size_t)size);
        }
    }
    assert_memory_equal(after->data, before->data, (size_t)(all * size)); /* all else */
    spry_vector *const vectors[] = {b, c, x, y, from, before, device_x, device_y, after};
    for (size_t k = 0; k < sizeof vectors / sizeof *vectors; k++)
        spry_vector_free(vectors[k]);
}

void columns_check(const spry_operator *A, spry_transpose transpose, int columns)
{
    check_layout(A, transpose, columns, false, (spry_scalar){0, 0});
    check_layout(A, transpose, columns, false, (spry_scalar){-0.5, 0});
    check_layout(A, transpose, columns, true, (spry_scalar){0.25, 0});
}
