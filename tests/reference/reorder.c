/* Orders: permutations all of them, with the properties each is for; vectors to the new order and
 * back. */
#include "support/support.h"

#include "matrix/matrix.h"

#include <stdlib.h>
#include <string.h>

static const char *const orders[] = {"none", "rcm", "amd", "nd", "length", "colour", "btf", "hubs"};
enum { ORDERS = sizeof orders / sizeof *orders };

static void assert_permutation(const int32_t *perm, int64_t n)
{
    char *seen = calloc((size_t)n + 1, 1);
    assert_non_null(seen);
    for (int64_t i = 0; i < n; i++) {
        assert_in_range(perm[i], 0, n - 1);
        assert_false(seen[perm[i]]);
        seen[perm[i]] = 1;
    }
    free(seen);
}

/* A random permutation. */
static int32_t *shuffled(int64_t n, uint64_t seed)
{
    int32_t *perm = malloc(((size_t)n + 1) * sizeof *perm);
    assert_non_null(perm);
    for (int64_t i = 0; i < n; i++) {
        const int64_t j = (int64_t)(base_random(seed, (uint64_t)i) % (uint64_t)(i + 1));
        perm[i] = perm[j];
        perm[j] = (int32_t)i;
    }
    return perm;
}

/* The order, or NULL where the library it needs is not in this build. */
static int32_t *find_order(spry_context *ctx, const spry_matrix *A, const char *name)
{
    int32_t *perm = NULL;
    const spry_status status = spry_reorder(A, name, &perm);
    if (status == SPRY_STATUS_UNSUPPORTED) {
        support_message_has(ctx, "-dev"); /* names the package */
        assert_null(perm);
        return NULL;
    }
    assert_ok(ctx, status);
    assert_permutation(perm, spry_matrix_rows(A));
    return perm;
}

static void every_order_is_a_permutation(void **state)
{
    static const struct {
        int64_t n, nnz;
        support_shape shape;
    } sizes[] = {
        {0, 0, SUPPORT_UNIFORM},     {1, 1, SUPPORT_UNIFORM},     {2, 1, SUPPORT_UNIFORM},
        {7, 0, SUPPORT_UNIFORM},     {50, 30, SUPPORT_UNIFORM},   {60, 400, SUPPORT_UNIFORM},
        {300, 900, SUPPORT_ONE_ROW}, {300, 900, SUPPORT_ONE_COL}, {400, 2000, SUPPORT_BANDED}};
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++)
        for (int k = 0; k < ORDERS; k++)
            for (int symmetry = SPRY_SYMMETRY_GENERAL; symmetry <= SPRY_SYMMETRY_HERMITIAN;
                 symmetry++) {
                spry_matrix *A = support_matrix(
                    *state, &(support_recipe){.type = support_types[(s + (size_t)k) % 4],
                                              .format = (spry_format)((int)s % 3),
                                              .symmetry = (spry_symmetry)symmetry,
                                              .rows = sizes[s].n,
                                              .cols = sizes[s].n,
                                              .nnz = sizes[s].nnz,
                                              .shape = sizes[s].shape,
                                              .seed = s});
                int32_t *perm = find_order(*state, A, orders[k]);
                spry_free(*state, perm);
                spry_matrix_free(A);
            }
}

/* The larger bandwidth of A in an order. */
static int64_t bandwidth(spry_context *ctx, const spry_matrix *A, const int32_t *perm)
{
    spry_matrix *B = NULL;
    spry_stats stats = SPRY_STATS_INIT;
    assert_ok(ctx, spry_matrix_permute(A, perm, perm, &B));
    assert_ok(ctx, spry_matrix_stats(B, &stats));
    spry_matrix_free(B);
    return stats.lower_bandwidth > stats.upper_bandwidth ? stats.lower_bandwidth
                                                         : stats.upper_bandwidth;
}

/* The generated matrix with its rows and columns shuffled. */
static spry_matrix *make_shuffled(spry_context *ctx, const char *kind, const char *options)
{
    spry_matrix *A = NULL, *B = NULL;
    assert_ok(ctx, spry_generate(ctx, kind, options, &A));
    int32_t *perm = shuffled(spry_matrix_rows(A), 5);
    assert_ok(ctx, spry_matrix_permute(A, perm, perm, &B));
    spry_matrix_free(A);
    free(perm);
    return B;
}

/* Levels of a path have one row, those of a grid of m x n points at most min(m, n): the band is as
 * wide as two levels. */
static void rcm_finds_the_band_again(void **state)
{
    static const struct {
        const char *kind, *options;
        int64_t band;
    } cases[] = {{"tridiagonal", "size=2000", 1},
                 {"poisson2d", "nx=12,ny=90", 2 * 12},
                 {"poisson3d", "nx=5,ny=6,nz=60", 2 * 30}};
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        spry_matrix *A = make_shuffled(*state, cases[c].kind, cases[c].options);
        assert_true(bandwidth(*state, A, NULL) > 5 * cases[c].band);
        int32_t *perm = find_order(*state, A, "rcm");
        assert_true(bandwidth(*state, A, perm) <= cases[c].band);
        spry_free(*state, perm);
        spry_matrix_free(A);
    }
}

/* A band of half-width 3 without symmetry: A + A^T decides, and components stay together. */
static void rcm_of_unsymmetric_bands(void **state)
{
    enum { N = 600 };
    double *dense = calloc((size_t)N * N, sizeof *dense);
    assert_non_null(dense);
    for (int i = 0; i < N; i++) {
        dense[i * N + i] = i % 7 ? 1 : 0; /* some rows have no diagonal */
        if (i + 3 < N && i % 100 < 97)    /* six components of a hundred */
            dense[i * N + i + 3] = dense[i * N + i + 1] = 1;
        else if (i + 1 < N && i % 100 < 99)
            dense[(i + 1) * N + i] = 1;
    }
    spry_matrix *A = support_from_rows(*state, SPRY_TYPE_D, N, N, dense), *B = NULL;
    int32_t *mix = shuffled(N, 9);
    assert_ok(*state, spry_matrix_permute(A, mix, mix, &B));
    int32_t *perm = find_order(*state, B, "rcm");
    assert_true(bandwidth(*state, B, perm) <= 6);
    for (int i = 0; i < N; i++) /* each component in one piece */
        assert_int_equal(mix[perm[i]] / 100, mix[perm[i - i % 100]] / 100);
    spry_free(*state, perm);
    free(mix);
    free(dense);
    spry_matrix_free(A);
    spry_matrix_free(B);
}

/* The group of a column, larger for more entries: how often its count over the mean can be halved
 * before that is 1 or less. */
static int hub_group(int64_t count, int64_t n, int64_t nnz)
{
    double ratio = (double)count * (double)n / (double)nnz;
    int group = 0;
    while (ratio > 1) {
        ratio /= 2;
        group++;
    }
    return group;
}

/* Groups fall, and rows of one stand as they stood; what has the mean at most is the last. */
static void hubs_come_first(void **state)
{
    enum { LONG = 3000 };
    spry_matrix *cases[] = {make_shuffled(*state, "rmat", "size=2000 per-row=8"),
                            support_long_row(*state, SPRY_TYPE_D, LONG)}; /* full column 5 */
    for (int c = 0; c < 2; c++) {
        const matrix_arrays *a = &cases[c]->a;
        int64_t *counts = calloc((size_t)a->cols, sizeof *counts);
        int most = 0;
        assert_non_null(counts);
        for (int64_t k = 0; k < a->nnz; k++)
            counts[a->col_index[k]]++;
        int32_t *perm = find_order(*state, cases[c], "hubs");
        for (int64_t i = 1; i < a->rows; i++) {
            const int before = hub_group(counts[perm[i - 1]], a->rows, a->nnz);
            const int group = hub_group(counts[perm[i]], a->rows, a->nnz);
            assert_true(before > group || (before == group && perm[i - 1] < perm[i]));
            most = before > most ? before : most;
        }
        assert_true(most >= 3); /* there are hubs */
        if (c == 1)
            assert_int_equal(perm[0], 5);
        spry_free(*state, perm);
        spry_matrix_free(cases[c]);
        free(counts);
    }
}

/* Entries that the Cholesky factor of a symmetric matrix will have in an order, counted by
 * elimination. */
static int64_t count_fill(spry_context *ctx, const spry_matrix *A, const int32_t *perm)
{
    spry_matrix *B = NULL;
    assert_ok(ctx, spry_matrix_permute(A, perm, perm, &B));
    const matrix_arrays b = B->a;
    char *full = calloc((size_t)(b.rows * b.rows), 1);
    assert_non_null(full);
    int64_t count = 0;
    for (int64_t i = 0; i < b.rows; i++)
        for (int64_t k = b.offsets[i]; k < b.offsets[i + 1]; k++)
            full[i * b.rows + b.col_index[k]] = 1;
    for (int64_t k = 0; k < b.rows; k++)
        for (int64_t i = k + 1; i < b.rows; i++) {
            count += full[i * b.rows + k];
            for (int64_t j = k + 1; j < b.rows && full[i * b.rows + k]; j++)
                full[i * b.rows + j] = (char)(full[i * b.rows + j] | full[k * b.rows + j]);
        }
    free(full);
    spry_matrix_free(B);
    return count;
}

static void orders_for_fill_keep_the_factor_sparse(void **state)
{
    spry_matrix *A = make_shuffled(*state, "poisson2d", "size=24");
    const int64_t before = count_fill(*state, A, NULL);
    int32_t *rcm = find_order(*state, A, "rcm");
    const int64_t band = count_fill(*state, A, rcm);
    assert_true(2 * band < before);
    spry_free(*state, rcm);
    for (int k = 2; k < 4; k++) { /* amd, nd */
        int32_t *perm = find_order(*state, A, orders[k]);
        if (!perm)
            continue;
        assert_true(2 * count_fill(*state, A, perm) < before);
        assert_true(count_fill(*state, A, perm) < band);
        spry_free(*state, perm);
    }
    spry_matrix_free(A);
}

/* A row with all others as neighbours comes last: its elimination would fill everything. */
static void amd_puts_dense_rows_last(void **state)
{
    enum { N = 3000 };
    spry_matrix *A = support_long_row(*state, SPRY_TYPE_D, N); /* full row 17, full column 5 */
    int32_t *perm = find_order(*state, A, "amd");
    assert_int_equal(perm[N - 2], 5);
    assert_int_equal(perm[N - 1], 17);
    spry_free(*state, perm);
    spry_matrix_free(A);
}

/* A tree is factorized without any fill, rows that are alike are eliminated together: minimum
 * degree finds both whatever the numbering. Two cliques of 40 that share 5 rows fill nothing
 * either. */
static void amd_of_graphs_without_fill(void **state)
{
    enum { N = 75 };
    double *dense = calloc((size_t)N * N, sizeof *dense);
    assert_non_null(dense);
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++)
            dense[i * N + j] = (i < 40 && j < 40) || (i >= 35 && j >= 35);
    spry_matrix *A = support_from_rows(*state, SPRY_TYPE_D, N, N, dense), *B = NULL;
    int32_t *mix = shuffled(N, 2);
    assert_ok(*state, spry_matrix_permute(A, mix, mix, &B));
    int32_t *perm = find_order(*state, B, "amd");
    assert_int_equal(count_fill(*state, B, perm), 2 * 40 * 39 / 2 - 5 * 4 / 2);
    spry_free(*state, perm);
    spry_matrix_free(B);
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++)
            dense[i * N + j] = i == j || (i - 1) / 2 == j || (j - 1) / 2 == i;
    spry_matrix_free(A);
    A = support_from_rows(*state, SPRY_TYPE_D, N, N, dense);
    assert_ok(*state, spry_matrix_permute(A, mix, mix, &B));
    perm = find_order(*state, B, "amd");
    assert_int_equal(count_fill(*state, B, perm), N - 1);
    spry_free(*state, perm);
    spry_matrix_free(A);
    spry_matrix_free(B);
    free(mix);
    free(dense);
}

static void rows_by_length_and_by_colour(void **state)
{
    spry_matrix *A = support_from_rows(*state, SPRY_TYPE_D, 5, 6,
                                       (double[]){0, 1, 0, 0, 0, 0, 1, 1, 1, 0, 0, 0, 0, 0, 0,
                                                  0, 0, 0, 1, 0, 0, 0, 0, 1, 1, 1, 1, 0, 0, 0});
    int32_t *perm = find_order(*state, A, "length");
    assert_memory_equal(perm, ((int32_t[]){1, 4, 3, 0, 2}), 5 * sizeof *perm);
    spry_free(*state, perm);
    spry_matrix_free(A);

    assert_ok(*state, spry_generate(*state, "poisson2d", "size=9", &A));
    perm = find_order(*state, A, "colour");
    spry_matrix *B;
    assert_ok(*state, spry_matrix_permute(A, perm, perm, &B));
    const matrix_arrays b = B->a;
    for (int64_t i = 0; i < b.rows; i++) /* red, then black: only the diagonal within a colour */
        for (int64_t k = b.offsets[i]; k < b.offsets[i + 1]; k++)
            assert_true(b.col_index[k] == i || (b.col_index[k] < 41) != (i < 41));
    spry_matrix_free(B);
    spry_free(*state, perm);
    spry_matrix_free(A);
}

static void vectors_round_trip(void **state)
{
    enum { N = 20000 };
    int32_t *perm = shuffled(N, 4);
    for (int t = 0; t < 4; t++) {
        const spry_type type = support_types[t];
        spry_vector *x, *y, *z;
        assert_ok(*state, spry_vector_new(*state, type, N, NULL, SPRY_OWN_COPY, &x));
        assert_ok(*state, spry_vector_new(*state, type, N, NULL, SPRY_OWN_COPY, &y));
        assert_ok(*state, spry_vector_new(*state, type, N, NULL, SPRY_OWN_COPY, &z));
        for (int64_t i = 0; i < N; i++)
            value_set(type, spry_vector_data(x), i, support_number(type, 1, (uint64_t)i));
        assert_ok(*state, spry_vector_permute(x, perm, false, y));
        for (int64_t i = 0; i < N; i++)
            assert_true(value_get(type, spry_vector_data_const(y), i).re ==
                        value_get(type, spry_vector_data_const(x), perm[i]).re);
        assert_ok(*state, spry_vector_permute(y, perm, true, z));
        assert_memory_equal(spry_vector_data_const(x), spry_vector_data_const(z),
                            N * spry_type_size(type));
        assert_status(*state, SPRY_STATUS_BAD_USAGE, spry_vector_permute(x, perm, false, x));
        spry_vector_free(x);
        spry_vector_free(y);
        spry_vector_free(z);
    }
    free(perm);
}

static void what_is_wrong_is_reported(void **state)
{
    spry_context *ctx = *state;
    spry_matrix *A = support_from_rows(ctx, SPRY_TYPE_D, 2, 3, (double[]){1, 2, 3, 4, 5, 6});
    int32_t one, *perm = &one;
    assert_status(ctx, SPRY_STATUS_BAD_USAGE, spry_reorder(A, "rmc", &perm));
    assert_null(perm);
    support_message_has(ctx, "did you mean rcm");
    assert_status(ctx, SPRY_STATUS_BAD_USAGE, spry_reorder(A, "rcm", &perm));
    support_message_has(ctx, "order rcm is for square matrices, this one is 2 x 3");
    spry_vector *x, *y, *z;
    assert_ok(ctx, spry_vector_new(ctx, SPRY_TYPE_D, 3, NULL, SPRY_OWN_COPY, &x));
    assert_ok(ctx, spry_vector_new(ctx, SPRY_TYPE_D, 3, NULL, SPRY_OWN_COPY, &y));
    assert_ok(ctx, spry_vector_new(ctx, SPRY_TYPE_S, 3, NULL, SPRY_OWN_COPY, &z));
    assert_status(ctx, SPRY_STATUS_BAD_INPUT,
                  spry_vector_permute(x, (int32_t[]){0, 1, 3}, false, y));
    support_message_has(ctx, "perm[2] is 3, which is outside 0..2");
    assert_status(ctx, SPRY_STATUS_BAD_INPUT,
                  spry_vector_permute(x, (int32_t[]){0, -1, 2}, true, y));
    assert_status(ctx, SPRY_STATUS_BAD_INPUT,
                  spry_vector_permute(x, (int32_t[]){0, 2, 2}, false, y));
    support_message_has(ctx, "2 is at 1 and at 2");
    assert_status(ctx, SPRY_STATUS_BAD_INPUT,
                  spry_vector_permute(x, (int32_t[]){INT32_MIN, 1, 2}, false, y));
    assert_status(ctx, SPRY_STATUS_BAD_USAGE,
                  spry_vector_permute(x, (int32_t[]){0, 1, 2}, false, z));
    support_message_has(ctx, "types d and s");
    spry_entry order = SPRY_ENTRY_INIT;
    for (int k = 0; k < ORDERS; k++) {
        assert_true(spry_list_at(SPRY_LIST_ORDERINGS, k, &order));
        assert_string_equal(order.name, orders[k]);
    }
    assert_false(spry_list_at(SPRY_LIST_ORDERINGS, ORDERS, &order));
    spry_vector_free(x);
    spry_vector_free(y);
    spry_vector_free(z);
    spry_matrix_free(A);
}

/* Orders of a path of 100,000 rows (as many levels) and of many components must not recurse or
 * crawl. */
static void deep_and_scattered_graphs(void **state)
{
    spry_matrix *A = make_shuffled(*state, "tridiagonal", "size=100000");
    for (int k = 0; k < ORDERS; k++) {
        int32_t *perm = find_order(*state, A, orders[k]);
        spry_free(*state, perm);
    }
    spry_matrix_free(A);
    A = support_matrix(*state, &(support_recipe){.type = SPRY_TYPE_D,
                                                 .format = SPRY_FORMAT_COO,
                                                 .rows = 100000,
                                                 .cols = 100000,
                                                 .nnz = 40000,
                                                 .seed = 6});
    int32_t *perm = find_order(*state, A, "rcm");
    spry_free(*state, perm);
    spry_matrix_free(A);
}

typedef struct job {
    spry_matrix *A;
    const char *order;
} job;

static spry_status reorder(spry_context *ctx, void *data)
{
    const job *j = data;
    int32_t *perm = NULL;
    spry_status status = spry_reorder(j->A, j->order, &perm);
    if (status == SPRY_STATUS_UNSUPPORTED) /* without the library */
        status = SPRY_STATUS_OK;
    spry_free(ctx, perm);
    return status;
}

static void every_allocation_may_fail(void **state)
{
    job j = {support_matrix(*state, &(support_recipe){.type = SPRY_TYPE_D,
                                                      .format = SPRY_FORMAT_COO,
                                                      .symmetry = SPRY_SYMMETRY_SYMMETRIC,
                                                      .rows = 50,
                                                      .cols = 50,
                                                      .nnz = 120,
                                                      .seed = 6}),
             NULL};
    for (int k = 0; k < ORDERS; k++) {
        j.order = orders[k];
        support_torture(*state, reorder, &j);
    }
    spry_matrix_free(j.A);
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, support_setup, support_teardown)
int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(every_order_is_a_permutation), TEST(rcm_finds_the_band_again),
        TEST(rcm_of_unsymmetric_bands),     TEST(orders_for_fill_keep_the_factor_sparse),
        TEST(amd_puts_dense_rows_last),     TEST(amd_of_graphs_without_fill),
        TEST(rows_by_length_and_by_colour), TEST(hubs_come_first),
        TEST(vectors_round_trip),           TEST(what_is_wrong_is_reported),
        TEST(deep_and_scattered_graphs),    TEST(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
