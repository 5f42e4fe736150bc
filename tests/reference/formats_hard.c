/* Storage formats with random matrices, hostile arrays, little memory, several threads. */
#include "support/generated.h"
#include "support/layouts.h"

#include "host/walk.h"

#include <math.h>
#include <stdlib.h>

typedef struct check {
    spry_context *ctx;
    const spry_matrix *A;
} check;

static void check_one(const char *spec, void *data)
{
    const check *c = data;
    layouts_check(c->ctx, c->A, spec);
}

/* Values at random that use all their bits, over many magnitudes where `wild`. */
static void dist_values(spry_matrix *A, uint64_t seed, bool wild)
{
    for (int64_t k = 0; k < A->a.nnz; k++) {
        const uint64_t at = 4 * (uint64_t)k;
        const double scale = wild ? pow(10, 12 * base_uniform(seed, at) - 6) : 1;
        const spry_scalar v = {scale * (2 * base_uniform(seed, at + 1) - 1),
                               scale * (2 * base_uniform(seed, at + 2) - 1)};
        support_put(A, k, v);
    }
}

static void test_by_chance(void **state)
{
    spry_context *ctx = *state;
    for (uint64_t seed = 1; seed <= (support_full() ? 12 : 5); seed++) {
        const int64_t rows = 1 + (int64_t)(base_random(seed, 1) % 400);
        const int64_t cols = seed % 3 ? rows : 1 + (int64_t)(base_random(seed, 2) % 400);
        spry_matrix *A = support_sorted(
            ctx, support_types[seed % 4], (support_shape)(base_random(seed, 4) % 4), rows, cols,
            (int64_t)(base_random(seed, 3) % (uint64_t)(8 * rows)), seed);
        dist_values(A, seed, seed % 2);
        check c = {ctx, A};
        layouts_each(check_one, &c);
        spry_matrix_free(A);
    }
}

/* --- hostile arrays ------------------------------------------------------------------------- */

static void refuse_unsorted(const char *spec, void *data)
{
    const check *c = data;
    layout *L = NULL;
    layout_forecast f;
    assert_status(c->ctx, SPRY_STATUS_BAD_INPUT, layout_build(c->A, spec, &L));
    assert_null(L);
    support_message_has(c->ctx, "row 1");
    assert_status(c->ctx, SPRY_STATUS_BAD_INPUT, layout_estimate(c->A, spec, &f));
}

/* Layouts are not built from rows out of order or with a place twice; operators put them in order
 * first. */
static void test_unsorted(void **state)
{
    spry_context *ctx = *state;
    const int64_t offsets[] = {0, 2, 4, 5};
    const double values[] = {1, 2, 3, 4, 5};
    const int32_t columns[][5] = {{0, 1, 2, 0, 2}, {0, 2, 1, 1, 2}};
    for (int i = 0; i < 2; i++) {
        spry_matrix *A = NULL;
        assert_ok(ctx, spry_matrix_from_csr(ctx, SPRY_TYPE_D, 3, 3, offsets, columns[i], values,
                                            SPRY_OWN_COPY, &A));
        check c = {ctx, A};
        layouts_each(refuse_unsorted, &c);
        spry_operator *op = NULL;
        spry_vector *x = NULL, *y = NULL;
        assert_ok(ctx, spry_operator_from_matrix(A, NULL, "sell", &op));
        assert_ok(ctx, spry_vector_ones(ctx, A, &x));
        assert_ok(ctx, spry_vector_ones(ctx, A, &y));
        assert_ok(ctx, spry_operator_apply(op, x, y));
        const double *found = spry_vector_data_const(y);
        assert_true(found[0] == 3 && found[1] == 7 && found[2] == 5);
        spry_vector_free(x);
        spry_vector_free(y);
        spry_operator_free(op);
        spry_matrix_free(A);
    }
}

static void refuse_values(const char *spec, void *data)
{
    const check *c = data;
    layout *L = NULL;
    if (!strstr(spec, "values=f") && !strstr(spec, "values=bf16"))
        return;
    assert_status(c->ctx, SPRY_STATUS_BAD_INPUT, layout_build(c->A, spec, &L));
    support_message_has(c->ctx, "row 1, column 2");
}

/* Shorter values must hold every number of A. */
static void test_values_that_do_not_fit(void **state)
{
    spry_context *ctx = *state;
    const double bad[] = {NAN, INFINITY, -INFINITY, 1e39};
    for (int i = 0; i < 4; i++) {
        spry_matrix *A =
            support_from_rows(ctx, SPRY_TYPE_D, 2, 3, (const double[]){1, 0, 2, 0, 3, 4});
        support_put(A, 3, (spry_scalar){bad[i], 0});
        check c = {ctx, A};
        layouts_each(refuse_values, &c);
        spry_matrix_free(A);
    }
    spry_matrix *A =
        support_from_rows(ctx, SPRY_TYPE_D, 2, 3, (const double[]){1, 0, 2, 0, 3, 65520});
    layout *L = NULL;
    assert_status(ctx, SPRY_STATUS_BAD_INPUT, layout_build(A, "sell:values=f16", &L));
    assert_ok(ctx, layout_build(A, "sell:values=bf16", &L));
    assert_false(L->exact);
    layout_free(L);
    assert_ok(ctx, layout_build(A, "sell:values=f32", &L));
    assert_true(L->exact);
    layout_free(L);
    spry_matrix_free(A);
}

static void test_bad_specs(void **state)
{
    spry_context *ctx = *state;
    spry_matrix *A = support_from_rows(ctx, SPRY_TYPE_S, 2, 2, (const double[]){1, 0, 0, 1});
    spry_operator *op = NULL;
    assert_status(ctx, SPRY_STATUS_BAD_USAGE, spry_operator_from_matrix(A, NULL, "sel", &op));
    support_message_has(ctx, "sell");
    assert_status(ctx, SPRY_STATUS_BAD_USAGE,
                  spry_operator_from_matrix(A, NULL, "sell:C=0.5", &op));
    assert_status(ctx, SPRY_STATUS_BAD_USAGE, spry_operator_from_matrix(A, NULL, "sell:c2=5", &op));
    assert_status(ctx, SPRY_STATUS_BAD_USAGE, spry_operator_from_matrix(A, NULL, "", &op));
    assert_status(ctx, SPRY_STATUS_BAD_USAGE,
                  spry_operator_from_matrix(A, NULL, "sell:values=f16", &op));
    support_message_has(ctx, "types d and z");
    assert_null(op);
    spry_matrix_free(A);
}

/* --- little memory --------------------------------------------------------------------------- */

typedef struct job {
    const spry_matrix *A;
    const char *spec;
} job;

static spry_status use_format(spry_context *ctx, void *data)
{
    const job *j = data;
    spry_operator *op = NULL;
    spry_matrix *back = NULL;
    spry_vector *x = NULL, *y = NULL, *d = NULL;
    spry_status status = host_layout_operator(j->A, j->spec, &op);
    if (layouts_refused(ctx, j->A->a.type, j->spec, status))
        return SPRY_STATUS_OK;
    if (status == SPRY_STATUS_OK)
        status = spry_vector_zeros(ctx, j->A, &x);
    if (status == SPRY_STATUS_OK)
        status = spry_vector_ones(ctx, j->A, &y);
    if (status == SPRY_STATUS_OK)
        status = spry_operator_multiply(op, SPRY_TRANSPOSE_YES, (spry_scalar){1, 0}, x,
                                        (spry_scalar){0, 0}, y);
    if (status == SPRY_STATUS_OK)
        status = spry_operator_to_matrix(op, &back);
    if (status == SPRY_STATUS_OK)
        status = spry_operator_diagonal(op, &d);
    spry_vector_free(x);
    spry_vector_free(y);
    spry_vector_free(d);
    spry_matrix_free(back);
    spry_operator_free(op);
    return status;
}

static void torture_one(const char *spec, void *data)
{
    const check *c = data;
    job j = {c->A, spec};
    support_torture(c->ctx, use_format, &j);
}

static void test_allocations_fail(void **state)
{
    spry_context *ctx = *state;
    for (int symmetric = 0; symmetric < 2; symmetric++) {
        spry_matrix *half =
            support_matrix(ctx, &(support_recipe){.type = SPRY_TYPE_D,
                                                  .format = SPRY_FORMAT_CSR,
                                                  .symmetry = symmetric ? SPRY_SYMMETRY_SYMMETRIC
                                                                        : SPRY_SYMMETRY_GENERAL,
                                                  .rows = 40,
                                                  .cols = 40,
                                                  .nnz = 150,
                                                  .shape = SUPPORT_BANDED,
                                                  .seed = 6,
                                                  .sorted = true});
        spry_matrix *A = NULL;
        assert_ok(ctx, spry_matrix_expand(half, &A));
        check c = {ctx, A};
        layouts_each(torture_one, &c);
        spry_matrix_free(A);
        spry_matrix_free(half);
    }
}

static int64_t memory_of(const spry_context *ctx)
{
    int64_t now;
    spry_context_memory(ctx, &now, NULL);
    return now;
}

/* A conversion that passes the context's limit fails, says so, and leaves nothing behind. */
static void limit_one(const char *spec, void *data)
{
    const check *c = data;
    layout *L = NULL;
    const int64_t before = memory_of(c->ctx);
    const spry_status status = layout_build(c->A, spec, &L);
    if (status == SPRY_STATUS_OK) {
        layout_free(L);
    } else if (!layouts_refused(c->ctx, c->A->a.type, spec, status)) {
        assert_int_equal(status, SPRY_STATUS_NO_MEMORY);
        assert_true(strlen(spry_message(c->ctx)) > 10);
    }
    assert_int_equal(memory_of(c->ctx), before);
}

static void test_memory_limit(void **state)
{
    (void)state;
    spry_context *ctx = support_context("memory_limit=400k");
    spry_matrix *A = support_sorted(ctx, SPRY_TYPE_D, SUPPORT_UNIFORM, 2000, 2000, 9000, 8);
    check c = {ctx, A};
    layouts_each(limit_one, &c);
    layout *L = NULL;
    assert_status(ctx, SPRY_STATUS_NO_MEMORY, layout_build(A, "sell:C=1024", &L));
    spry_matrix_free(A);
    support_context_free(ctx);
}

/* --- threads --------------------------------------------------------------------------------- */

typedef struct bits {
    spry_context *ctx;
    spry_type type;
    spry_matrix *A;
    bool grid;      /* every format holds it; crf does not hold the band */
    uint64_t *sums; /* of each spec's y, from the first number of threads on */
    int at;
    bool first;
} bits;

static uint64_t hash(const void *data, size_t bytes)
{
    const unsigned char *p = data;
    uint64_t h = 14695981039346656037u;
    for (size_t i = 0; i < bytes; i++)
        h = (h ^ p[i]) * 1099511628211u;
    return h;
}

enum { N = 20000, GRID = 150, WIDTH = 5 };

/* A symmetric band of random numbers, which only crf refuses. */
static spry_matrix *make_band(spry_context *ctx, spry_type type)
{
    spry_matrix *A = NULL,
                *half = support_matrix(ctx, &(support_recipe){.type = type,
                                                              .format = SPRY_FORMAT_CSR,
                                                              .symmetry = SPRY_SYMMETRY_SYMMETRIC,
                                                              .rows = N,
                                                              .cols = N,
                                                              .nnz = 3 * N,
                                                              .shape = SUPPORT_BANDED,
                                                              .seed = 6,
                                                              .sorted = true});
    assert_ok(ctx, spry_matrix_expand(half, &A));
    spry_matrix_free(half);
    return A;
}

static spry_matrix *make_grid(spry_context *ctx, spry_type type)
{
    return generated_as(ctx, type, "poisson2d", "size=%d", GRID);
}

static void product_bits(const char *spec, void *data)
{
    bits *b = data;
    const int64_t n = b->A->a.rows;
    spry_operator *op = NULL;
    const spry_status status = host_layout_operator(b->A, spec, &op);
    uint64_t sum = 0;
    if (layouts_refused(b->ctx, b->type, spec, status)) {
        if (b->grid || strncmp(spec, "crf", 3) != 0)
            fail_msg("%s refuses the %s: %s", spec, b->grid ? "grid" : "band",
                     spry_message(b->ctx));
    } else {
        const size_t size = spry_type_size(b->type);
        void *x = numeric_array(b->type, n * WIDTH, 0, 3), *y = numeric_array(b->type, n, 0, 4);
        void *many = numeric_array(b->type, n * WIDTH, 0, 5);
        spry_vector *vx = numeric_vector(b->ctx, b->type, n, x),
                    *vy = numeric_vector(b->ctx, b->type, n, y);
        const spry_dense B = {0, n, WIDTH, WIDTH, true, x, NULL},
                         C = {0, n, WIDTH, WIDTH, true, many, NULL};
        assert_int_equal(status, SPRY_STATUS_OK);
        assert_ok(b->ctx, spry_operator_apply(op, vx, vy));
        assert_ok(b->ctx, spry_operator_multiply_dense(op, SPRY_TRANSPOSE_YES, (spry_scalar){1, 0},
                                                       &B, (spry_scalar){0, 0}, &C));
        sum = hash(y, (size_t)n * size) ^ hash(many, (size_t)n * WIDTH * size);
        spry_vector_free(vx);
        spry_vector_free(vy);
        numeric_free(b->type, x, 0);
        numeric_free(b->type, y, 0);
        numeric_free(b->type, many, 0);
    }
    spry_operator_free(op);
    if (b->first)
        b->sums[b->at] = sum;
    else if (b->sums[b->at] != sum)
        fail_msg("%s, type %s: %d threads give other bits than one", spec, spry_type_name(b->type),
                 spry_context_threads(b->ctx));
    b->at++;
}

static void test_threads(void **state)
{
    enum { MOST = 1000 };
    (void)state;
    bits b = {.sums = calloc(MOST, sizeof *b.sums)};
    for (int which = 0; which < 4; which++) {
        b.type = which % 2 ? SPRY_TYPE_Z : SPRY_TYPE_D;
        b.grid = which / 2;
        if (which % 3 == 0 && !support_full())
            continue; /* d on the grid and z on the band have all walks */
        for (int threads = 1; threads <= 3; threads += support_full() ? 1 : 2) {
            char text[32];
            snprintf(text, sizeof text, "threads=%d", threads);
            b.ctx = support_context(text);
            b.A = b.grid ? make_grid(b.ctx, b.type) : make_band(b.ctx, b.type);
            b.first = threads == 1;
            b.at = 0;
            layouts_each(product_bits, &b);
            assert_true(b.at < MOST);
            spry_matrix_free(b.A);
            support_context_free(b.ctx);
        }
    }
    free(b.sums);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_by_chance, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(test_unsorted, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(test_values_that_do_not_fit, support_setup,
                                        support_teardown),
        cmocka_unit_test_setup_teardown(test_bad_specs, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(test_allocations_fail, support_setup, support_teardown),
        cmocka_unit_test(test_memory_limit),
        cmocka_unit_test(test_threads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
