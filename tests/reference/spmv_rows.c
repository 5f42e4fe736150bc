/*
 * Products by rows, for one vector or several packed ones: bit by bit those of the whole product,
 * however the rows are cut. And operators that are diagonals.
 */
#include "support/numeric.h"

#include "host/host.h"

#include <stdlib.h>
#include <string.h>

enum { MANY = HOST_MOST_PACKS * HOST_PACK };

/* Vectors x_c and what the whole product makes of them. */
typedef struct products {
    const spry_operator *op;
    spry_transpose transpose;
    int64_t rows, cols; /* of op(A) */
    void *x[MANY], *whole[MANY], *parts[MANY];
} products;

static products products_new(const spry_operator *op, spry_transpose transpose)
{
    const spry_scalar one = {1, 0}, zero = {0, 0};
    const bool plain = transpose == SPRY_TRANSPOSE_NO;
    products p = {.op = op, .transpose = transpose};
    p.rows = plain ? op->rows : op->cols;
    p.cols = plain ? op->cols : op->rows;
    for (int c = 0; c < MANY; c++) {
        p.x[c] = numeric_array(op->type, p.cols, 1, 20 + (uint64_t)c);
        p.whole[c] = numeric_array(op->type, p.rows, 1, 40);
        p.parts[c] = numeric_array(op->type, p.rows, 1, 41);
        assert_ok(op->ctx, op->class->multiply(op, transpose, one, p.x[c], zero, p.whole[c]));
    }
    return p;
}

static void products_free(products *p)
{
    for (int c = 0; c < MANY; c++) {
        numeric_free(p->op->type, p->x[c], 1);
        numeric_free(p->op->type, p->whole[c], 1);
        numeric_free(p->op->type, p->parts[c], 1);
    }
}

/* The products must be those of the whole; then they are spoilt. */
static void check_parts(products *p, int count)
{
    const size_t bytes = (size_t)p->rows * spry_type_size(p->op->type);
    for (int c = 0; c < count; c++) {
        assert_memory_equal(p->parts[c], p->whole[c], bytes);
        memset(p->parts[c], 255, bytes);
    }
}

/* A product in blocks of `block` rows, each block at a place of its own. */
static void check_blocks(products *p, const operator_rows *rows, int64_t block)
{
    const size_t size = spry_type_size(p->op->type);
    for (int64_t i = 0; i < p->rows; i += block)
        rows->run(rows, i, i + block < p->rows ? i + block : p->rows, p->x[0],
                  (char *)p->parts[0] + (size_t)i * size);
    check_parts(p, 1);
}

/* The first `count` products at once, from packed x, with a pack more than they need at times. */
static void check_packed(products *p, const operator_rows *rows, int count, int packs,
                         int64_t block)
{
    const size_t size = spry_type_size(p->op->type);
    const int width = packs * HOST_PACK / (1 + spry_type_is_complex(p->op->type));
    char *packed = malloc((size_t)(p->cols * width) * size);
    assert_non_null(packed);
    host_kernels_for(p->op->ctx, p->op->type)
        ->pack(p->cols, packs, count, (const void *const *)p->x, 1, packed);
    for (int64_t i = 0; i < p->rows; i += block) {
        void *y[MANY];
        for (int c = 0; c < count; c++)
            y[c] = (char *)p->parts[c] + (size_t)i * size;
        rows->run_packed(rows, i, i + block < p->rows ? i + block : p->rows, packs, packed, count,
                         y);
    }
    check_parts(p, count);
    free(packed);
}

static void check_rows(const spry_operator *op)
{
    for (int kind = SPRY_TRANSPOSE_NO; kind <= SPRY_TRANSPOSE_CONJUGATE; kind++) {
        products p = products_new(op, (spry_transpose)kind);
        operator_rows rows = {0};
        assert_ok(op->ctx, operator_open_rows(op, p.transpose, &rows));
        assert_non_null(rows.run);
        check_blocks(&p, &rows, 1000);
        check_blocks(&p, &rows, 37);
        const int pack = HOST_PACK / (1 + spry_type_is_complex(op->type));
        for (int count = 1; count <= HOST_MOST_PACKS * pack; count++) {
            for (int packs = count > pack ? 2 : 1; packs <= HOST_MOST_PACKS; packs++)
                check_packed(&p, &rows, count, packs, 37);
        }
        assert_int_equal(rows.work(&rows, 0), 0);
        for (int64_t i = 0; i < p.rows; i++)
            assert_true(rows.work(&rows, i + 1) > rows.work(&rows, i));
        products_free(&p);
    }
}

static void matrices(spry_context *ctx)
{
    for (int t = 0; t < 4; t++) {
        for (int format = SPRY_FORMAT_CSR; format <= SPRY_FORMAT_CSC; format++) {
            for (int shape = SUPPORT_UNIFORM; shape <= SUPPORT_BANDED; shape++) {
                const support_recipe recipe = {.type = support_types[t],
                                               .format = (spry_format)format,
                                               .rows = 321,
                                               .cols = 211,
                                               .nnz = 3000,
                                               .shape = (support_shape)shape,
                                               .seed = 9};
                spry_matrix *A = support_matrix(ctx, &recipe);
                spry_operator *op = NULL;
                assert_ok(ctx, spry_operator_from_matrix(A, NULL, NULL, &op));
                assert_int_equal(op->own_bytes,
                                 op->bytes - (321 + 211) * (int64_t)spry_type_size(op->type));
                check_rows(op);
                spry_operator_free(op);
                spry_matrix_free(A);
            }
        }
    }
}

static void test_rows(void **state)
{
    (void)state;
    numeric_levels((const int[]){1, 3}, 2, matrices);
}

/* A row that several threads share is no row that one thread can do. */
static void test_long_rows(void **state)
{
    spry_context *ctx = *state;
    const support_recipe recipe = {.type = SPRY_TYPE_D,
                                   .format = SPRY_FORMAT_CSR,
                                   .rows = 10,
                                   .cols = 30000,
                                   .nnz = 60000,
                                   .shape = SUPPORT_ONE_ROW,
                                   .seed = 3};
    spry_matrix *A = support_matrix(ctx, &recipe);
    spry_operator *op = NULL;
    operator_rows rows = {0};
    assert_ok(ctx, spry_operator_from_matrix(A, NULL, NULL, &op));
    assert_ok(ctx, operator_open_rows(op, SPRY_TRANSPOSE_NO, &rows));
    assert_null(rows.run);
    assert_ok(ctx, operator_open_rows(op, SPRY_TRANSPOSE_YES, &rows));
    assert_non_null(rows.run);
    assert_null(operator_diagonal(op, SPRY_TRANSPOSE_NO));
    spry_operator_free(op);
    spry_matrix_free(A);
}

static spry_status refuse(void *data, spry_transpose transpose, const void *x, void *y)
{
    (void)data, (void)transpose, (void)x, (void)y;
    return SPRY_STATUS_UNSUPPORTED;
}

/* A caller's function can only be applied whole. */
static void test_function(void **state)
{
    spry_context *ctx = *state;
    spry_operator *op = NULL;
    operator_rows rows = {.conjugate = true};
    assert_ok(ctx, spry_operator_from_function(ctx, SPRY_TYPE_D, 3, 3, false, refuse, NULL, &op));
    assert_ok(ctx, operator_open_rows(op, SPRY_TRANSPOSE_NO, &rows));
    assert_null(rows.run);
    assert_ok(ctx, operator_open_rows(op, SPRY_TRANSPOSE_YES, &rows));
    assert_null(rows.run);
    assert_null(operator_diagonal(op, SPRY_TRANSPOSE_NO));
    assert_int_equal(op->own_bytes, 0);
    spry_operator_free(op);
}

/* Jacobi's preconditioner is its diagonal, for either kind of transposed product. */
static void test_diagonal(void **state)
{
    spry_context *ctx = *state;
    const support_recipe recipe = {.type = SPRY_TYPE_Z,
                                   .format = SPRY_FORMAT_CSR,
                                   .rows = 50,
                                   .cols = 50,
                                   .nnz = 5000,
                                   .shape = SUPPORT_BANDED,
                                   .seed = 5,
                                   .sorted = true};
    spry_matrix *A = support_matrix(ctx, &recipe);
    spry_operator *op = NULL;
    assert_ok(ctx, spry_precon_new(A, NULL, "jacobi", &op));
    assert_int_equal(op->own_bytes, 50 * 16);
    for (int kind = SPRY_TRANSPOSE_NO; kind <= SPRY_TRANSPOSE_CONJUGATE; kind++) {
        products p = products_new(op, (spry_transpose)kind);
        const void *d = operator_diagonal(op, p.transpose);
        operator_rows rows;
        assert_non_null(d);
        spry_vector *v = numeric_vector(ctx, op->type, p.rows, (void *)(uintptr_t)d);
        spry_vector *x = numeric_vector(ctx, op->type, p.rows, p.x[0]);
        spry_vector *y = numeric_vector(ctx, op->type, p.rows, p.parts[0]);
        assert_ok(ctx, spry_vector_multiply(v, x, y));
        assert_memory_equal(p.parts[0], p.whole[0], (size_t)p.rows * spry_type_size(op->type));
        assert_ok(ctx, operator_open_rows(op, p.transpose, &rows));
        assert_null(rows.run);
        spry_vector_free(v);
        spry_vector_free(x);
        spry_vector_free(y);
        products_free(&p);
    }
    spry_operator_free(op);
    spry_matrix_free(A);
}

#define CASE(test) cmocka_unit_test_setup_teardown(test, support_setup, support_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_rows), CASE(test_long_rows),
                                       CASE(test_function), CASE(test_diagonal)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
