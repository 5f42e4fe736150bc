/* Halves of matrices: the arrays of a small one, all shapes of groups, windows, what is refused. */
#include "support/layouts.h"

#include "formats/sym/sym.h"
#include "host/walk.h"
#include "matrix/entries.h"

#include <stdlib.h>

/* The matrix of docs/formats/sym.md. */
static const double picture[36] = {10, -2, 0, 3, 0, 0, -2, 9, 0, 7, 0, 0,  0, 0, 8, 0, 5,  0,
                                   3,  7,  0, 7, 9, 0, 0,  0, 5, 9, 9, 13, 0, 0, 0, 0, 13, -1};

static void test_arrays(void **state)
{
    static const double values[] = {10, 9, -2, 8, 7, 3, 7, 9, 5, 9, -1, 13};
    static const uint16_t distances[] = {2, 1, 1, 0, 0};
    static const uint16_t groups[] = {SYM_TWO, 0, 2 << 2, 2 << 2, 1 << 2};
    spry_context *ctx = *state;
    spry_matrix *A = support_from_rows(ctx, SPRY_TYPE_D, 6, 6, picture);
    layout *L = NULL;
    spry_storage storage = SPRY_STORAGE_INIT;
    assert_ok(ctx, layout_build(A, "sym", &L));
    assert_string_equal(L->params, "columns=16,parts=1");
    assert_int_equal(L->symmetry, SPRY_SYMMETRY_SYMMETRIC);
    assert_int_equal(L->stored, 12);
    assert_memory_equal(L->array[SYM_VALUES].data, values, sizeof values);
    assert_int_equal(L->array[SYM_DISTANCES].count, 5);
    assert_memory_equal(L->array[SYM_DISTANCES].data, distances, sizeof distances);
    assert_int_equal(L->array[SYM_GROUPS].count, 5);
    assert_memory_equal(L->array[SYM_GROUPS].data, groups, sizeof groups);
    layout_describe(L, &storage);
    assert_true(storage.beta == 1.5 && storage.fill == 0 && storage.exact);
    layout_free(L);
    spry_matrix_free(A);
}

/* --- matrices with groups of all shapes ---------------------------------------------------------
 */

/* A generated matrix with random values that have the symmetry. */
static spry_matrix *make(spry_context *ctx, spry_type type, const char *kind, const char *options,
                         spry_symmetry symmetry)
{
    spry_matrix *given = NULL, *A = NULL;
    assert_ok(ctx, spry_generate(ctx, kind, options, &given));
    assert_ok(ctx, spry_matrix_cast(given, type, &A));
    spry_matrix_free(given);
    for (int64_t i = 0; i < A->a.rows; i++)
        for (int64_t k = A->a.offsets[i]; k < A->a.offsets[i + 1]; k++) {
            const int64_t j = A->a.col_index[k], low = i < j ? i : j, high = i < j ? j : i;
            spry_scalar v = support_number(type, 90, (uint64_t)(high * A->a.rows + low));
            if (symmetry == SPRY_SYMMETRY_SKEW && i < j)
                v = (spry_scalar){-v.re, -v.im};
            if (symmetry == SPRY_SYMMETRY_HERMITIAN && i < j)
                v.im = -v.im;
            if (i == j && symmetry != SPRY_SYMMETRY_SYMMETRIC)
                v = (spry_scalar){symmetry == SPRY_SYMMETRY_SKEW ? 0 : v.re, 0};
            support_put(A, k, v);
        }
    return A;
}

static int64_t count_shape(const layout *L, int shape)
{
    const uint16_t *words = L->array[SYM_GROUPS].data;
    int64_t count = 0;
    for (int64_t w = 0; w < L->array[SYM_GROUPS].count; w++)
        count += (words[w] & 3) == shape;
    return count;
}

static const struct {
    const char *kind, *options;
    int shape;
} grids[] = {{"poisson2d", "size=37", SYM_SHIFTED},
             {"poisson3d", "size=9", SYM_SHIFTED},
             {"poisson3d", "size=10 points=27", SYM_SHIFTED},
             {"elasticity", "size=4", SYM_THREE}};

static void check_grid(spry_context *ctx, size_t g, spry_type type, spry_symmetry symmetry)
{
    static const char *const specs[] = {"sym", "sym:parts=1", "sym:parts=3,columns=32",
                                        "sym:parts=40"};
    spry_matrix *A = make(ctx, type, grids[g].kind, grids[g].options, symmetry);
    layout *L = NULL;
    assert_ok(ctx, layout_build(A, "sym", &L));
    const bool real = !spry_type_is_complex(type);
    assert_int_equal(L->symmetry, symmetry == SPRY_SYMMETRY_HERMITIAN && real
                                      ? SPRY_SYMMETRY_SYMMETRIC
                                      : symmetry);
    assert_true(count_shape(L, grids[g].shape) * 8 > L->rows);
    layout_free(L);
    for (size_t s = 0; s < sizeof specs / sizeof *specs; s++)
        layouts_check(ctx, A, specs[s]);
    if (type == SPRY_TYPE_D || type == SPRY_TYPE_Z)
        layouts_check(ctx, A, "sym:values=f16,parts=5");
    spry_matrix_free(A);
}

static void test_groups(void **state)
{
    for (size_t g = 0; g < sizeof grids / sizeof *grids; g++)
        for (int t = 0; t < 4; t++)
            for (int symmetry = SPRY_SYMMETRY_SYMMETRIC; symmetry <= SPRY_SYMMETRY_HERMITIAN;
                 symmetry++)
                check_grid(*state, g, support_types[t], (spry_symmetry)symmetry);
}

/* Every pattern of 5 x 5 below the diagonal with a diagonal in half of the rows, in two copies. */
static void test_patterns(void **state)
{
    enum { N = 5, PLACES = N * (N - 1) / 2 };
    spry_context *ctx = *state;
    for (int pattern = 0; pattern < 1 << PLACES; pattern += 3) {
        double rows[4 * N * N] = {0};
        int bit = 0;
        for (int i = 0; i < N; i++)
            for (int j = 0; j < i; j++, bit++)
                for (int copy = 0; copy < 2 && (pattern >> bit & 1); copy++) {
                    const int a = copy * N + i, b = copy * N + j;
                    rows[a * 2 * N + b] = rows[b * 2 * N + a] = bit + 1 + copy;
                }
        for (int i = 0; i < 2 * N; i++)
            rows[i * 2 * N + i] = (pattern >> i & 2) ? i + 7 : 0;
        spry_matrix *A = support_from_rows(ctx, SPRY_TYPE_D, 2 * N, 2 * N, rows), *back = NULL;
        layout *L = NULL;
        assert_ok(ctx, layout_build(A, pattern % 2 ? "sym:parts=3" : "sym", &L));
        assert_ok(ctx, layout_to_csr(L, &back));
        support_same_arrays(A, back);
        layout_free(L);
        spry_matrix_free(A);
        spry_matrix_free(back);
    }
}

/* --- far and long -------------------------------------------------------------------------------
 */

/* A diagonal, and row `last` with `count` entries from column `first` on, mirrored. */
static spry_matrix *make_arrow(spry_context *ctx, int64_t n, int64_t first, int64_t count)
{
    matrix_arrays a = {.type = SPRY_TYPE_D,
                       .format = SPRY_FORMAT_CSR,
                       .symmetry = SPRY_SYMMETRY_SYMMETRIC,
                       .rows = n,
                       .cols = n,
                       .nnz = n + count};
    spry_matrix *half = NULL, *A = NULL;
    assert_ok(ctx, matrix_allocate(ctx, &a));
    double *values = a.values;
    for (int64_t i = 0; i < n; i++) {
        a.offsets[i] = i;
        a.col_index[i] = (int32_t)i;
    }
    for (int64_t k = 0; k < count; k++)
        a.col_index[n - 1 + k] = (int32_t)(first + k);
    a.col_index[n - 1 + count] = (int32_t)(n - 1);
    a.offsets[n] = a.nnz;
    for (int64_t k = 0; k < a.nnz; k++)
        values[k] = support_number(SPRY_TYPE_D, 91, (uint64_t)k).re;
    assert_ok(ctx, matrix_wrap(ctx, &a, &half));
    assert_ok(ctx, spry_matrix_expand(half, &A));
    spry_matrix_free(half);
    return A;
}

static void test_far(void **state)
{
    spry_context *ctx = *state;
    spry_matrix *near = make_arrow(ctx, 65537 + 10, 10, 1), *far = make_arrow(ctx, 65548, 10, 1);
    layout *L = NULL;
    assert_ok(ctx, layout_build(near, "sym", &L));
    assert_int_equal(L->number[SYM_WIDE], 0);
    layout_free(L);
    layouts_check(ctx, near, "sym:columns=16");
    assert_ok(ctx, layout_build(far, "sym", &L));
    assert_int_equal(L->number[SYM_WIDE], 1);
    layout_free(L);
    layouts_check(ctx, far, "sym:parts=3");
    assert_status(ctx, SPRY_STATUS_UNSUPPORTED, layout_build(far, "sym:columns=16", &L));
    support_message_has(ctx, "65537 places left of the diagonal");
    spry_matrix_free(near);
    spry_matrix_free(far);
}

/* More columns than a group's word can hold. */
static void test_long(void **state)
{
    spry_context *ctx = *state;
    const int64_t counts[] = {SYM_LONG - 1, SYM_LONG, 20000};
    for (int i = 0; i < 3; i++) {
        spry_matrix *A = make_arrow(ctx, counts[i] + 30, 3, counts[i]);
        layout *L = NULL;
        assert_ok(ctx, layout_build(A, "sym", &L));
        assert_int_equal(L->array[SYM_COUNTS].count, i > 0);
        layout_free(L);
        layouts_check(ctx, A, "sym");
        layouts_check(ctx, A, "sym:parts=2");
        spry_matrix_free(A);
    }
}

/* --- what is and is not half of a matrix --------------------------------------------------------
 */

static void refuse(spry_context *ctx, const double *rows, const char *text)
{
    spry_matrix *A = support_from_rows(ctx, SPRY_TYPE_D, 3, 3, rows);
    layout *L = NULL;
    layout_forecast f;
    assert_status(ctx, SPRY_STATUS_UNSUPPORTED, layout_build(A, "sym", &L));
    support_message_has(ctx, text);
    assert_status(ctx, SPRY_STATUS_UNSUPPORTED, layout_estimate(A, "sym", &f));
    assert_null(L);
    spry_matrix_free(A);
}

static void test_refused(void **state)
{
    spry_context *ctx = *state;
    refuse(ctx, (double[]){1, 2, 0, 2, 1, 3, 0, 4, 1}, "row 2, column 1 (from 0)");
    refuse(ctx, (double[]){1, 0, 0, 2, 1, 0, 0, 0, 1}, "row 1, column 0 (from 0)");
    refuse(ctx, (double[]){1, 0, 5, 0, 1, 0, 0, 0, 1}, "0 entries below the diagonal and 1 above");
    refuse(ctx, (double[]){0, 2, 1, 2, 0, 0, -1, 0, 0}, "others conjugate or opposite");
    refuse(ctx, (double[]){1, 2, 0, -2, 0, 0, 0, 0, 0}, "diagonal does not fit");
}

/* Zeros of the wrong sign do not hinder, but are reported. */
static void test_signs_of_zeros(void **state)
{
    spry_context *ctx = *state;
    spry_matrix *A = support_from_rows(ctx, SPRY_TYPE_D, 6, 6, picture);
    layout *L = NULL;
    support_put(A, 1, (spry_scalar){0.0, 0});  /* (0, 1) */
    support_put(A, 3, (spry_scalar){-0.0, 0}); /* (1, 0) */
    assert_ok(ctx, layout_build(A, "sym", &L));
    assert_false(L->exact);
    assert_int_equal(L->nnz, A->a.nnz);
    layout_free(L);
    spry_matrix_free(A);
}

/* A hermitian matrix some of whose entries are real. */
static void test_partly_real(void **state)
{
    spry_context *ctx = *state;
    spry_matrix *A = make(ctx, SPRY_TYPE_Z, "poisson2d", "size=9", SPRY_SYMMETRY_HERMITIAN);
    layout *L = NULL;
    for (int64_t k = 0; k < A->a.nnz; k++)
        if (value_get(SPRY_TYPE_Z, A->a.values, k).re > 1)
            support_put(A, k, (spry_scalar){value_get(SPRY_TYPE_Z, A->a.values, k).re, 0});
    assert_ok(ctx, layout_build(A, "sym", &L));
    assert_int_equal(L->symmetry, SPRY_SYMMETRY_HERMITIAN);
    layout_free(L);
    spry_matrix_free(A);
}

/* --- threads and memory -------------------------------------------------------------------------
 */

static void test_threads(void **state)
{
    (void)state;
    enum { COLUMNS = 5 };
    double *first = NULL;
    int64_t n = 0;
    for (int threads = 1; threads <= 3; threads++) {
        char options[32];
        snprintf(options, sizeof options, "threads=%d", threads);
        spry_context *ctx = support_context(options);
        spry_matrix *A =
            make(ctx, SPRY_TYPE_D, "poisson3d", "size=24 points=27", SPRY_SYMMETRY_SYMMETRIC);
        spry_operator *op = NULL;
        assert_ok(ctx, host_layout_operator(A, "sym", &op));
        n = A->a.rows;
        double *x = malloc((size_t)(n * COLUMNS) * sizeof *x);
        double *y = malloc((size_t)(n * (COLUMNS + 1)) * sizeof *y);
        for (int64_t k = 0; k < n * COLUMNS; k++)
            x[k] = base_uniform(5, (uint64_t)k);
        spry_vector *vx = numeric_vector(ctx, SPRY_TYPE_D, n, x),
                    *vy = numeric_vector(ctx, SPRY_TYPE_D, n, y);
        assert_ok(ctx, spry_operator_multiply(op, SPRY_TRANSPOSE_NO, (spry_scalar){1, 0}, vx,
                                              (spry_scalar){0, 0}, vy));
        const spry_dense B = {0, n, COLUMNS, n, false, x, NULL},
                         C = {0, n, COLUMNS, n, false, y + n, NULL};
        assert_ok(ctx, spry_operator_multiply_dense(op, SPRY_TRANSPOSE_NO, (spry_scalar){1, 0}, &B,
                                                    (spry_scalar){0, 0}, &C));
        if (first)
            assert_memory_equal(first, y, (size_t)(n * (COLUMNS + 1)) * sizeof *y);
        spry_vector_free(vx);
        spry_vector_free(vy);
        spry_operator_free(op);
        spry_matrix_free(A);
        support_context_free(ctx);
        free(x);
        if (!first)
            first = y;
        else
            free(y);
    }
    free(first);
}

/* Builds, multiplies with several columns, converts back. */
static spry_status use(spry_context *ctx, void *data)
{
    spry_matrix *back = NULL;
    spry_operator *op = NULL;
    double b[2 * 36] = {0}, c[2 * 36];
    const spry_dense B = {0, 36, 2, 2, true, b, NULL}, C = {0, 36, 2, 2, true, c, NULL};
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(ctx, host_layout_operator(data, "sym:parts=3", &op));
    SPRY_GO(ctx, spry_operator_multiply_dense(op, SPRY_TRANSPOSE_YES, (spry_scalar){1, 0}, &B,
                                              (spry_scalar){0, 0}, &C));
    SPRY_GO(ctx, spry_operator_to_matrix(op, &back));
done:
    spry_operator_free(op);
    spry_matrix_free(back);
    return status;
}

static void test_allocations_fail(void **state)
{
    for (int symmetry = SPRY_SYMMETRY_SYMMETRIC; symmetry <= SPRY_SYMMETRY_SKEW; symmetry++) {
        spry_matrix *A = make(*state, SPRY_TYPE_D, "poisson2d", "size=6", (spry_symmetry)symmetry);
        support_torture(*state, use, A);
        spry_matrix_free(A);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_arrays, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(test_groups, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(test_patterns, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(test_far, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(test_long, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(test_refused, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(test_signs_of_zeros, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(test_partly_real, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(test_allocations_fail, support_setup, support_teardown),
        cmocka_unit_test(test_threads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
