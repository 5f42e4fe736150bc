/* The checks of storage formats. */
#include "support/layouts.h"

#include "formats/shared/reduced.h"
#include "host/walk.h"
#include "matrix/entries.h"

#include <stdlib.h>

/* Calls the test for every choice of the grid's options from `grid` on; spec is NAME or
 * NAME:a=b,... so far. */
static void each_choice(const char *spec, const char *grid, void (*test)(const char *, void *),
                        void *data)
{
    grid += strspn(grid, " ");
    if (!*grid) {
        test(spec, data);
        return;
    }
    const size_t option = strcspn(grid, " "), name = strcspn(grid, "=");
    assert_true(name < option);
    for (const char *value = grid + name + 1; value < grid + option;) {
        const size_t length = strcspn(value, "| ");
        char longer[256];
        snprintf(longer, sizeof longer, "%s%c%.*s=%.*s", spec, strchr(spec, ':') ? ',' : ':',
                 (int)name, grid, (int)length, value);
        each_choice(longer, grid + option, test, data);
        value += length + 1;
    }
}

void layouts_each_choice(const char *name, const char *grid,
                         void (*test)(const char *spec, void *data), void *data)
{
    each_choice(name, grid, test, data);
}

void layouts_each(void (*test)(const char *spec, void *data), void *data)
{
    static const char *const kinds[] = {"f32", "f16", "bf16"};
    const char *only = getenv("SPRY_TEST_FORMAT");
    for (int i = 0; layout_class_at(i); i++) {
        const layout_class *class = layout_class_at(i);
        if (only && strcmp(only, class->name) != 0)
            continue;
        test(class->name, data);
        if (class->grid)
            each_choice(class->name, class->grid, test, data);
        for (int k = 0; k < 3 && spry_options_find(class->options, "values"); k++) {
            char spec[64];
            snprintf(spec, sizeof spec, "%s:values=%s", class->name, kinds[k]);
            test(spec, data);
        }
    }
}

bool layouts_too_short(spry_type type, const char *spec)
{
    return (type == SPRY_TYPE_S || type == SPRY_TYPE_C) &&
           (strstr(spec, "values=f16") || strstr(spec, "values=bf16"));
}

bool layouts_refused(spry_context *ctx, spry_type type, const char *spec, spry_status status)
{
    if (status != SPRY_STATUS_BAD_INPUT && status != SPRY_STATUS_UNSUPPORTED &&
        !(status == SPRY_STATUS_BAD_USAGE && layouts_too_short(type, spec)))
        return false;
    assert_true(strlen(spry_message(ctx)) > 10);
    return true;
}

static spry_scalar to_kind(stored_kind kind, spry_scalar v)
{
    if (kind == STORED_F32)
        return (spry_scalar){(double)(float)v.re, (double)(float)v.im};
    if (kind == STORED_F16)
        return (spry_scalar){(double)f16_value(f16_from(v.re)), (double)f16_value(f16_from(v.im))};
    if (kind == STORED_BF16)
        return (spry_scalar){(double)bf16_value(bf16_from(v.re)),
                             (double)bf16_value(bf16_from(v.im))};
    return v;
}

spry_matrix *layouts_rounded(spry_context *ctx, const spry_matrix *A, stored_kind kind)
{
    spry_matrix *B = NULL;
    assert_ok(ctx, spry_matrix_convert(A, SPRY_FORMAT_CSR, &B));
    for (int64_t k = 0; k < B->a.nnz; k++)
        value_set(B->a.type, B->a.values, k, to_kind(kind, value_get(B->a.type, B->a.values, k)));
    return B;
}

static void check_sizes(spry_context *ctx, const spry_matrix *A, const char *spec, const layout *L)
{
    layout_forecast f;
    assert_ok(ctx, layout_estimate(A, spec, &f));
    if (f.stored != L->stored || f.bytes != layout_read_bytes(L))
        fail_msg("%s: forecast %" PRId64 " places, %" PRId64 " bytes; built %" PRId64 ", %" PRId64,
                 spec, f.stored, f.bytes, L->stored, layout_read_bytes(L));
    assert_true(L->array[0].count >= L->stored); /* more where x is kept with the values */
    assert_true(L->units >= 0 && (L->unit_rows == 0 || L->rows <= L->units * L->unit_rows));
    /* The options as they came out give the same layout. */
    char again[160];
    layout *M = NULL;
    snprintf(again, sizeof again, "%s%s%s", L->class->name, L->params[0] ? ":" : "", L->params);
    assert_ok(ctx, layout_build(A, again, &M));
    assert_string_equal(L->params, M->params);
    assert_int_equal(layout_bytes(L), layout_bytes(M));
    layout_free(M);
}

static void check_diagonal(spry_context *ctx, const spry_matrix *A, const layout *L)
{
    spry_vector *found = NULL, *expected = NULL;
    assert_ok(ctx, layout_diagonal(L, &found));
    assert_ok(ctx, spry_matrix_diagonal(A, &expected));
    assert_int_equal(found->n, expected->n);
    assert_memory_equal(found->data, expected->data, (size_t)found->n * spry_type_size(A->a.type));
    spry_vector_free(found);
    spry_vector_free(expected);
}

/* sum + a b and the magnitudes that went into it. In double: long double takes some processors
 * twenty times as long. */
typedef struct sum {
    double re, im, size;
} sum;

static void add(sum *s, spry_scalar a, bool conjugate, spry_scalar b)
{
    const double im = conjugate ? -a.im : a.im;
    s->re += a.re * b.re - im * b.im;
    s->im += a.re * b.im + im * b.re;
    s->size += (fabs(a.re) + fabs(a.im)) * (fabs(b.re) + fabs(b.im));
}

/* alpha op(A) x + beta y */
static sum *reference(const spry_matrix *A, spry_transpose op, spry_scalar alpha, const void *x,
                      spry_scalar beta, const void *y, int64_t x_stride, int64_t y_stride)
{
    const bool plain = op == SPRY_TRANSPOSE_NO;
    const int64_t n = plain ? A->a.rows : A->a.cols;
    sum *out = calloc((size_t)n + 1, sizeof *out);
    const spry_type type = A->a.type;
    for (int64_t i = 0; i < A->a.rows; i++)
        for (int64_t k = A->a.offsets[i]; k < A->a.offsets[i + 1]; k++) {
            const int64_t to = plain ? i : A->a.col_index[k], from = plain ? A->a.col_index[k] : i;
            add(&out[to], value_load(type, A->a.values, k), op == SPRY_TRANSPOSE_CONJUGATE,
                value_load(type, x, from * x_stride));
        }
    for (int64_t i = 0; i < n; i++) {
        const sum s = out[i];
        out[i] = (sum){0, 0, 0};
        add(&out[i], alpha, false, (spry_scalar){s.re, s.im});
        out[i].size = (fabs(alpha.re) + fabs(alpha.im)) * s.size;
        if (beta.re != 0 || beta.im != 0)
            add(&out[i], beta, false, value_load(type, y, i * y_stride));
    }
    return out;
}

/* Found and expected have `terms` products and sums each, three roundings when complex, and then
 * alpha and beta. */
static void check_near(spry_type type, spry_scalar found, sum expected, double terms,
                       const char *what, int64_t i)
{
    const double bound = 2 * (3 * terms + 12) * numeric_unit(type) * expected.size;
    if (!(fabs(found.re - expected.re) <= bound && fabs(found.im - expected.im) <= bound))
        fail_msg("%s, row %" PRId64 ": found %.17g%+.17gi, expected %.17g%+.17gi, within %g", what,
                 i, found.re, found.im, expected.re, expected.im, bound);
}

double layouts_most_terms(spry_context *ctx, const spry_matrix *A)
{
    spry_matrix *T = NULL;
    int64_t most = 0;
    assert_ok(ctx, spry_matrix_transpose(A, false, &T));
    for (int64_t i = 0; i < A->a.rows; i++)
        most = A->a.offsets[i + 1] - A->a.offsets[i] > most ? A->a.offsets[i + 1] - A->a.offsets[i]
                                                            : most;
    for (int64_t i = 0; i < T->a.rows; i++)
        most = T->a.offsets[i + 1] - T->a.offsets[i] > most ? T->a.offsets[i + 1] - T->a.offsets[i]
                                                            : most;
    spry_matrix_free(T);
    return (double)most;
}

static const struct {
    spry_scalar alpha, beta;
} factors[] = {{{1, 0}, {0, 0}}, {{-0.75, 0.5}, {1.25, -0.25}}, {{2, 0}, {0, 0}}};

/* A factor without what the type cannot have. */
static spry_scalar factor_for(spry_type type, spry_scalar a)
{
    return spry_type_is_complex(type) ? a : (spry_scalar){a.re, 0};
}

void layouts_check_product(spry_context *ctx, const spry_matrix *A, const spry_operator *op,
                           const char *spec, spry_transpose transpose, int which, double terms)
{
    const spry_type type = A->a.type;
    const bool plain = transpose == SPRY_TRANSPOSE_NO;
    const int64_t n = plain ? A->a.cols : A->a.rows, m = plain ? A->a.rows : A->a.cols;
    const spry_scalar alpha = factor_for(type, factors[which].alpha);
    const spry_scalar beta = factor_for(type, factors[which].beta);
    void *x = numeric_array(type, n, 1, 71), *y = numeric_array(type, m, 1, 72);
    char what[200];
    snprintf(what, sizeof what, "%s, type %s, transpose %d, factors %d", spec, spry_type_name(type),
             (int)transpose, which);
    sum *expected = reference(A, transpose, alpha, x, beta, y, 1, 1);
    if (beta.re == 0 && beta.im == 0) /* must not be read */
        memset(y, 0xff, (size_t)m * spry_type_size(type));
    spry_vector *vx = numeric_vector(ctx, type, n, x), *vy = numeric_vector(ctx, type, m, y);
    assert_ok(ctx, spry_operator_multiply(op, transpose, alpha, vx, beta, vy));
    for (int64_t i = 0; i < m; i++)
        check_near(type, value_get(type, y, i), expected[i], terms, what, i);
    free(expected);
    spry_vector_free(vx);
    spry_vector_free(vy);
    numeric_free(type, x, 1);
    numeric_free(type, y, 1);
}

void layouts_check_columns(spry_context *ctx, const spry_matrix *A, const spry_operator *op,
                           const char *spec, spry_transpose transpose, int which, int cols,
                           bool by_rows, double terms)
{
    const spry_type type = A->a.type;
    const bool plain = transpose == SPRY_TRANSPOSE_NO;
    const int64_t n = plain ? A->a.cols : A->a.rows, m = plain ? A->a.rows : A->a.cols;
    const spry_scalar alpha = factor_for(type, factors[which].alpha);
    const spry_scalar beta = factor_for(type, factors[which].beta);
    const size_t size = spry_type_size(type);
    const spry_dense B = {0,       n,
                          cols,    by_rows ? cols + 3 : n + 1,
                          by_rows, numeric_array(type, (n + 1) * (cols + 3), 0, 81),
                          NULL};
    const spry_dense C = {0,       m,
                          cols,    by_rows ? cols + 1 : m + 2,
                          by_rows, numeric_array(type, (m + 2) * (cols + 1), 0, 82),
                          NULL};
    const int64_t xs = by_rows ? B.ld : 1, ys = by_rows ? C.ld : 1;
    sum **expected = calloc((size_t)cols + 1, sizeof *expected);
    char what[200];
    snprintf(what, sizeof what, "%s, type %s, transpose %d, factors %d, %d columns, by_rows %d",
             spec, spry_type_name(type), (int)transpose, which, cols, by_rows);
    for (int c = 0; c < cols; c++)
        expected[c] =
            reference(A, transpose, alpha, (char *)B.data + (size_t)(by_rows ? c : c * B.ld) * size,
                      beta, (char *)C.data + (size_t)(by_rows ? c : c * C.ld) * size, xs, ys);
    if (beta.re == 0 && beta.im == 0) /* must not be read */
        memset(C.data, 0xff, (size_t)((m + 2) * (cols + 1)) * size);
    /* What lies between columns or rows is not ours. */
    char mark[sizeof(spry_scalar)];
    const char *gap = (const char *)C.data + (size_t)(by_rows ? cols : m) * size;
    memcpy(mark, gap, size);
    assert_ok(ctx, spry_operator_multiply_dense(op, transpose, alpha, &B, beta, &C));
    assert_memory_equal(mark, gap, size);
    for (int c = 0; c < cols; c++) {
        const char *column = (const char *)C.data + (size_t)(by_rows ? c : c * C.ld) * size;
        for (int64_t i = 0; i < m; i++)
            check_near(type, value_get(type, column, i * ys), expected[c][i], terms, what, i);
        free(expected[c]);
    }
    free(expected);
    numeric_free(type, B.data, 0);
    numeric_free(type, C.data, 0);
}

bool layouts_check(spry_context *ctx, const spry_matrix *A, const char *spec)
{
    layout *L = NULL;
    const spry_status status = layout_build(A, spec, &L);
    if (layouts_refused(ctx, A->a.type, spec, status)) {
        assert_null(L);
        return false;
    }
    support_status(ctx, SPRY_STATUS_OK, status, spec, __FILE__, __LINE__);
    spry_matrix *exact = layouts_rounded(ctx, A, L->kind), *back = NULL;
    check_sizes(ctx, A, spec, L);
    assert_ok(ctx, layout_to_csr(L, &back));
    support_same_arrays(exact, back);
    check_diagonal(ctx, exact, L);
    spry_operator *op = NULL;
    assert_ok(ctx, host_layout_operator(A, spec, &op));
    const double terms = layouts_most_terms(ctx, A);
    for (int transpose = SPRY_TRANSPOSE_NO; transpose <= SPRY_TRANSPOSE_CONJUGATE; transpose++) {
        for (int which = 0; which < 3; which++) {
            layouts_check_product(ctx, exact, op, spec, (spry_transpose)transpose, which, terms);
            layouts_check_columns(ctx, exact, op, spec, (spry_transpose)transpose, which,
                                  which == 0   ? 8
                                  : which == 1 ? 3
                                               : 13,
                                  transpose != SPRY_TRANSPOSE_YES, terms);
        }
    }
    spry_operator_free(op);
    spry_matrix_free(back);
    spry_matrix_free(exact);
    layout_free(L);
    return true;
}

enum { BITS_COLUMNS = 5 };

/* A times a vector and times five, one after the other. */
static spry_status multiply_both(spry_context *ctx, const spry_matrix *A, const char *spec,
                                 char *results)
{
    const spry_type type = A->a.type;
    const int64_t size = (int64_t)spry_type_size(type), n = A->a.cols, m = A->a.rows;
    char *x = numeric_array(type, n * BITS_COLUMNS, 0, 91);
    const spry_dense B = {0, n, BITS_COLUMNS, BITS_COLUMNS, true, x, NULL};
    const spry_dense C = {0, m, BITS_COLUMNS, m, false, results + m * size, NULL};
    spry_operator *op = NULL;
    spry_vector *vx = NULL, *vy = NULL;
    spry_status status = spry_vector_new(ctx, type, n, x, SPRY_OWN_BORROW, &vx);
    if (status == SPRY_STATUS_OK)
        status = spry_vector_new(ctx, type, m, results, SPRY_OWN_BORROW, &vy);
    if (status == SPRY_STATUS_OK)
        status = host_layout_operator(A, spec, &op);
    if (status == SPRY_STATUS_OK)
        status = spry_operator_apply(op, vx, vy);
    if (status == SPRY_STATUS_OK)
        status = spry_operator_multiply_dense(op, SPRY_TRANSPOSE_NO, (spry_scalar){1, 0}, &B,
                                              (spry_scalar){0, 0}, &C);
    spry_operator_free(op);
    spry_vector_free(vx);
    spry_vector_free(vy);
    numeric_free(type, x, 0);
    return status;
}

void layouts_same_bits(const support_recipe *recipe, const char *spec)
{
    const size_t bytes = (size_t)recipe->rows * (1 + BITS_COLUMNS) * spry_type_size(recipe->type);
    char *expected = malloc(bytes + 1), *found = malloc(bytes + 1);
    for (int t = 0; t < 4; t++) {
        char options[32];
        snprintf(options, sizeof options, "threads=%d", support_threads[t]);
        spry_context *ctx = support_context(options);
        spry_matrix *A = support_matrix(ctx, recipe);
        assert_ok(ctx, multiply_both(ctx, A, spec, t == 0 ? expected : found));
        if (t > 0 && memcmp(expected, found, bytes) != 0)
            fail_msg("%s: other bits with %s", spec, options);
        spry_matrix_free(A);
        support_context_free(ctx);
    }
    free(expected);
    free(found);
}

typedef struct torture {
    const spry_matrix *A;
    const char *spec;
    char *results;
} torture;

static spry_status torture_once(spry_context *ctx, void *data)
{
    const torture *t = data;
    return multiply_both(ctx, t->A, t->spec, t->results);
}

void layouts_torture(spry_context *ctx, const spry_matrix *A, const char *spec)
{
    torture t = {A, spec, malloc((size_t)A->a.rows * 6 * spry_type_size(A->a.type) + 1)};
    support_torture(ctx, torture_once, &t);
    free(t.results);
}

spry_matrix *layouts_example(spry_context *ctx, spry_type type)
{
    static const double numbers[] = {10, 0, 0, 0, -2, 0, 3, 9, 0, 0, 0, 3,  0, 7, 8, 7, 0, 0,
                                     3,  0, 8, 7, 5,  0, 0, 8, 0, 9, 9, 13, 0, 4, 0, 0, 2, -1};
    return support_from_rows(ctx, type, 6, 6, numbers);
}
