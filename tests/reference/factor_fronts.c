/*
 * Sparse factors by fronts: solutions against the residual that their multipliers allow, ranks
 * against dense elimination, forecasts against elimination done on a pattern, and the same bits
 * whatever the number of threads.
 */
#include "support/factored.h"
#include "support/generated.h"
#include "support/numeric.h"

#include "direct/inside.h"
#include "matrix/algebra/graph.h"
#include "matrix/entries.h"
#include "precon/kernels.h"

#include <math.h>
#include <stdlib.h>

static const frontal_kind all_kinds[] = {FRONTAL_GENERAL, FRONTAL_SYMMETRIC, FRONTAL_HERMITIAN,
                                         FRONTAL_DEFINITE};

static const char *name_of(frontal_kind kind)
{
    static const char *const names[] = {"general", "symmetric", "hermitian", "definite"};
    return names[kind];
}

static void check_solve(const spry_matrix *A, const frontal *f, spry_transpose op, double growth,
                        const char *what)
{
    const spry_type type = A->a.type;
    void *r = numeric_array(type, A->a.rows, 0, 5), *x = numeric_array(type, A->a.rows, 0, 5);
    assert_int_equal(frontal_solve(f, op, 1, &x), SPRY_STATUS_OK);
    factored_check_residual(A, op, r, x, growth, what);
    numeric_free(type, r, 0);
    numeric_free(type, x, 0);
}

/* Factors of a kind that must fit; NULL where they do not. */
static frontal *eliminated(const spry_matrix *A, frontal_kind kind)
{
    frontal *f = NULL;
    bool fits = false;
    assert_ok(A->ctx, frontal_analyse(A, kind, 0, &f));
    assert_ok(A->ctx, frontal_factor(f, A, &fits));
    if (!fits) {
        frontal_free(f);
        return NULL;
    }
    return f;
}

/* Solves with all products, for a matrix of full rank. */
static void check_kind(const spry_matrix *A, frontal_kind kind, const char *what)
{
    char text[96];
    snprintf(text, sizeof text, "%s as %s", what, name_of(kind));
    frontal *f = eliminated(A, kind);
    if (!f)
        fail_msg("%s does not fit", text);
    assert_int_equal(frontal_outcome_of(f)->rank, A->a.rows);
    /* Multipliers are at most 10, or 100 for symmetric ones; some rows are passed on so. */
    for (int op = 0; op < 3; op++)
        check_solve(A, f, (spry_transpose)op, kind == FRONTAL_GENERAL ? 100 : 1e4, text);
    frontal_free(f);
}

static int64_t dense_rank(const spry_matrix *A)
{
    const int64_t n = A->a.rows;
    const spry_type longer = spry_type_is_complex(A->a.type) ? SPRY_TYPE_Z : SPRY_TYPE_D;
    const size_t size = spry_type_size(longer);
    void *a = calloc((size_t)(n * n + 1), size);
    int32_t *rows = calloc((size_t)n + 1, sizeof *rows),
            *cols = calloc((size_t)n + 1, sizeof *cols);
    for (int64_t i = 0; i < n; i++)
        for (int64_t k = A->a.offsets[i]; k < A->a.offsets[i + 1]; k++)
            value_set(longer, a, A->a.col_index[k] * n + i, value_get(A->a.type, A->a.values, k));
    const int64_t rank =
        front_kernels_for(A->ctx, longer)->dense_rank(n, 0, n, 1e-10, a, rows, cols);
    free(a);
    free(rows);
    free(cols);
    return rank;
}

/* A x = r is solved for an r of A's range, wherever it has no inverse. */
static void check_range(const spry_matrix *A, const frontal *f, double growth, const char *what)
{
    const spry_type type = A->a.type;
    const int64_t n = A->a.rows;
    spry_scalar *x = calloc((size_t)n + 1, sizeof *x), *r = calloc((size_t)n + 1, sizeof *r);
    void *z = numeric_array(type, n, 0, 7);
    double most = 0, worst = 0;
    for (int64_t i = 0; i < n; i++)
        x[i] = value_get(type, z, i);
    support_multiply(A, SPRY_TRANSPOSE_NO, x, r);
    for (int64_t i = 0; i < n; i++)
        value_set(type, z, i, r[i]);
    assert_int_equal(frontal_solve(f, SPRY_TRANSPOSE_NO, 1, &z), SPRY_STATUS_OK);
    for (int64_t i = 0; i < n; i++) {
        x[i] = value_get(type, z, i);
        most = fmax(most, (double)numeric_size(x[i]));
    }
    spry_scalar *back = calloc((size_t)n + 1, sizeof *back);
    support_multiply(A, SPRY_TRANSPOSE_NO, x, back);
    for (int64_t i = 0; i < n; i++)
        worst = fmax(worst, hypot(r[i].re - back[i].re, r[i].im - back[i].im));
    /* Entries are below 6 in modulus. */
    if (!(worst <= growth * (double)n * numeric_unit(type) * 6 * (double)n * (1 + most)))
        fail_msg("%s, type %s: %g is left of a system that has a solution of %g", what,
                 spry_type_name(type), worst, most);
    numeric_free(type, z, 0);
    free(x);
    free(r);
    free(back);
}

/* --- matrices at random --------------------------------------------------------------------------
 */

static spry_matrix *random_matrix(spry_context *ctx, spry_type type, spry_symmetry symmetry,
                                  support_shape shape, int64_t n, int64_t nnz, uint64_t seed)
{
    const support_recipe recipe = {.type = type,
                                   .format = SPRY_FORMAT_CSR,
                                   .symmetry = symmetry,
                                   .rows = n,
                                   .cols = n,
                                   .nnz = nnz,
                                   .shape = shape,
                                   .seed = seed,
                                   .sorted = true};
    spry_matrix *A = support_matrix(ctx, &recipe), *owned = NULL;
    const spry_matrix *csr = NULL;
    assert_ok(ctx, matrix_as_sorted_csr(A, &csr, &owned));
    if (!owned)
        return A;
    spry_matrix_free(A);
    return owned;
}

/* Whatever the shape and rank: the rank is that of dense elimination, and what can be solved is. */
static void test_random(void **state)
{
    spry_context *ctx = *state;
    static const spry_symmetry symmetries[] = {SPRY_SYMMETRY_GENERAL, SPRY_SYMMETRY_SYMMETRIC,
                                               SPRY_SYMMETRY_HERMITIAN};
    int full = 0, singular = 0;
    for (uint64_t seed = 0; seed < 240; seed++) {
        const spry_type type = support_types[seed % 4];
        const int which = (int)(seed / 4 % 3);
        const support_shape shape = (support_shape)(seed / 12 % 4);
        const int64_t n = 2 + (int64_t)(seed * 7 % 59), nnz = n * (2 + (int64_t)(seed / 48));
        spry_matrix *A = random_matrix(ctx, type, symmetries[which], shape, n, nnz, seed);
        char what[64];
        snprintf(what, sizeof what, "%d rows, seed %d", (int)n, (int)seed);
        const int64_t rank = dense_rank(A);
        for (int k = 0; k < 2; k++) {
            const frontal_kind kind = k == 0 ? FRONTAL_GENERAL : all_kinds[which];
            frontal *f = eliminated(A, kind);
            if (frontal_outcome_of(f)->rank != rank)
                fail_msg("%s as %s, type %s: rank %d, expected %d", what, name_of(kind),
                         spry_type_name(type), (int)frontal_outcome_of(f)->rank, (int)rank);
            check_range(A, f, kind == FRONTAL_GENERAL ? 100 : 1e4, what);
            assert_true((rank < n) == (frontal_null_rows(f) != NULL));
            frontal_free(f);
        }
        full += rank == n;
        singular += rank < n;
        spry_matrix_free(A);
    }
    assert_true(full > 40 && singular > 40); /* both are there to be tested */
}

/* --- matrices that need pivots -------------------------------------------------------------------
 */

static spry_matrix *from_dense(spry_context *ctx, spry_type type, int64_t n,
                               double (*at)(int64_t i, int64_t j, int64_t n))
{
    double *rows = calloc((size_t)(n * n), sizeof *rows);
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < n; j++)
            rows[i * n + j] = at(i, j, n);
    spry_matrix *A = support_from_rows(ctx, type, n, n, rows);
    free(rows);
    return A;
}

/* (0 1; 1 0) again and again, tied by small entries. */
static double chain(int64_t i, int64_t j, int64_t n)
{
    (void)n;
    if (i / 2 == j / 2)
        return i != j;
    return i - j == 2 || j - i == 2 ? 0.125 : 0;
}
/* (H B^T; B 0): the last third has no diagonal. */
static double saddle(int64_t i, int64_t j, int64_t n)
{
    const int64_t first = n - n / 3, low = i > j ? j : i, high = i > j ? i : j;
    if (high < first)
        return i == j ? 2 : high - low == 1 ? -0.5 : 0;
    return low < first && (low == 2 * (high - first) || low == 2 * (high - first) + 1)
               ? (low % 2 ? -1 : 1)
               : 0;
}
static double arrow(int64_t i, int64_t j, int64_t n)
{
    (void)n;
    return i == j ? 3 : i == 0 || j == 0 ? 1 : 0;
}
static double triangular_blocks(int64_t i, int64_t j, int64_t n)
{
    (void)n;
    return i / 5 == j / 5 ? (i == j ? 0.25 : 1 + (double)((i * 3 + j * 5) % 7)) : j == i + 5;
}
/* W. Kahan's: conditioned worse than any of its pivots shows. */
static double kahan(int64_t i, int64_t j, int64_t n)
{
    (void)n;
    const double s = 0.96, c = 0.28;
    return i > j ? 0 : pow(s, (double)i) * (i == j ? 1 : -c);
}
/* J. H. Wilkinson's: the last column doubles with each pivot. */
static double growing(int64_t i, int64_t j, int64_t n)
{
    return j == n - 1 || i == j ? 1 : i > j ? -1 : 0;
}
static double apart(int64_t i, int64_t j, int64_t n)
{
    (void)n;
    return i / 3 == j / 3 ? (i == j ? 4 : 1) : 0;
}

static void test_pivots(void **state)
{
    spry_context *ctx = *state;
    for (int t = 0; t < 4; t++) {
        const spry_type type = support_types[t];
        static const struct {
            const char *name;
            double (*at)(int64_t i, int64_t j, int64_t n);
            bool symmetric, definite;
        } cases[] = {{"chain", chain, true, false},
                     {"saddle", saddle, true, false},
                     {"arrow", arrow, true, false},
                     {"blocks in a triangle", triangular_blocks, false, false},
                     {"Kahan", kahan, false, false},
                     {"apart", apart, true, true}};
        for (size_t c = 0; c < sizeof cases / sizeof *cases; c++)
            for (int64_t n = 30; n <= 90; n += 60) {
                spry_matrix *A = from_dense(ctx, type, n, cases[c].at);
                check_kind(A, FRONTAL_GENERAL, cases[c].name);
                if (cases[c].symmetric) {
                    check_kind(A, FRONTAL_SYMMETRIC, cases[c].name);
                    check_kind(A, FRONTAL_HERMITIAN, cases[c].name);
                }
                if (cases[c].definite)
                    check_kind(A, FRONTAL_DEFINITE, cases[c].name);
                spry_matrix_free(A);
            }
    }
}

/* Numbers grow 2^(n-1) fold, as the bound allows them to; they do not fail. */
static void test_growth(void **state)
{
    spry_context *ctx = *state;
    spry_matrix *A = from_dense(ctx, SPRY_TYPE_D, 24, growing);
    frontal *f = eliminated(A, FRONTAL_GENERAL);
    assert_int_equal(frontal_outcome_of(f)->rank, 24);
    check_solve(A, f, SPRY_TRANSPOSE_NO, ldexp(1, 23), "growth");
    frontal_free(f);
    spry_matrix_free(A);
}

/* Pairs are what a matrix without a diagonal has for pivots. */
static void test_pairs(void **state)
{
    spry_context *ctx = *state;
    spry_matrix *A = from_dense(ctx, SPRY_TYPE_D, 40, chain);
    frontal *f = eliminated(A, FRONTAL_SYMMETRIC);
    assert_true(frontal_outcome_of(f)->pairs > 0);
    frontal_free(f);
    spry_matrix_free(A);
}

/* Definite ones are seen to be, and others not. */
static void test_definite(void **state)
{
    spry_context *ctx = *state;
    for (int t = 0; t < 4; t++) {
        spry_matrix *A = generated_as(ctx, support_types[t], "poisson2d", "size=15");
        generated_turn(A, 0.7, (spry_scalar){1, 0});
        check_kind(A, FRONTAL_DEFINITE, "poisson2d");
        check_kind(A, FRONTAL_HERMITIAN, "poisson2d");
        check_kind(A, FRONTAL_GENERAL, "poisson2d");
        /* Less its smallest eigenvalues, which are below 1. */
        for (int64_t i = 0; i < A->a.rows; i++)
            support_put(A, matrix_find(&A->a, i, i), (spry_scalar){3, 0});
        assert_null(eliminated(A, FRONTAL_DEFINITE));
        check_kind(A, FRONTAL_HERMITIAN, "shifted");
        spry_matrix_free(A);
    }
}

static void test_small(void **state)
{
    spry_context *ctx = *state;
    static const double one[] = {-2.5}, nothing[] = {0};
    for (int t = 0; t < 4; t++)
        for (int k = 0; k < 3; k++) {
            spry_matrix *A = support_from_rows(ctx, support_types[t], 1, 1, one);
            check_kind(A, all_kinds[k], "1 x 1");
            spry_matrix_free(A);
            A = support_from_rows(ctx, support_types[t], 1, 1, nothing);
            frontal *f = eliminated(A, all_kinds[k]);
            assert_int_equal(frontal_outcome_of(f)->rank, 0);
            frontal_free(f);
            spry_matrix_free(A);
            A = support_from_rows(ctx, support_types[t], 0, 0, nothing);
            f = eliminated(A, all_kinds[k]);
            assert_int_equal(frontal_outcome_of(f)->rank, 0);
            void *none = NULL;
            assert_int_equal(frontal_solve(f, SPRY_TRANSPOSE_NO, 1, &none), SPRY_STATUS_OK);
            frontal_free(f);
            spry_matrix_free(A);
        }
}

/* Two grids whose rows sum to 0: each has lost one row. */
static void test_rank(void **state)
{
    spry_context *ctx = *state;
    spry_matrix *A = generated(ctx, "poisson2d", "size=24");
    for (int64_t i = 0; i < A->a.rows; i++) {
        double sum = 0;
        for (int64_t k = A->a.offsets[i]; k < A->a.offsets[i + 1]; k++) {
            const int64_t j = A->a.col_index[k];
            if ((i < 288) != (j < 288))
                support_put(A, k, (spry_scalar){0, 0});
            else if (i != j)
                sum += 1;
        }
        support_put(A, matrix_find(&A->a, i, i), (spry_scalar){sum, 0});
    }
    for (int k = 0; k < 3; k++) {
        frontal *f = eliminated(A, all_kinds[k]);
        assert_int_equal(frontal_outcome_of(f)->rank, A->a.rows - 2);
        const int32_t *rows = frontal_null_rows(f), *cols = frontal_null_columns(f);
        assert_true((rows[0] < 288) != (rows[1] < 288));
        assert_true((cols[0] < 288) != (cols[1] < 288));
        check_range(A, f, 1e4, "two grids");
        frontal_free(f);
    }
    assert_null(eliminated(A, FRONTAL_DEFINITE));
    spry_matrix_free(A);
}

/* Hubs in a row, each with six leaves: a hub and one of its leaves make two pivots, and nothing is
 * left of the other five. */
static double leaves(int64_t i, int64_t j, int64_t n)
{
    const bool hub_i = i % 7 == 0, hub_j = j % 7 == 0;
    (void)n;
    if (hub_i && hub_j)
        return i - j == 7 || j - i == 7;
    return i / 7 == j / 7 && hub_i != hub_j;
}

/* What is left of nothing is left out where that shows: it goes up to its hub, where there are
 * three steps at most, and not on to the root through a hundred of them. */
static void test_left_out(void **state)
{
    enum { HUBS = 100, N = 7 * HUBS };
    for (int t = 0; t < 4; t++) {
        spry_matrix *A = from_dense(*state, support_types[t], N, leaves);
        for (int k = 0; k < 3; k++) {
            frontal *f = eliminated(A, all_kinds[k]);
            assert_int_equal(frontal_outcome_of(f)->rank, 2 * HUBS);
            assert_true(frontal_outcome_of(f)->delayed <= 3 * N);
            check_range(A, f, 1e4, "hubs with leaves");
            frontal_free(f);
        }
        spry_matrix_free(A);
    }
}

/* --- forecasts -----------------------------------------------------------------------------------
 */

/* Elimination on a dense picture of the pattern: entries of each column of L. */
static void eliminate_pattern(const graph *g, const int32_t *order, int32_t *counts)
{
    const int64_t n = g->n;
    bool *has = calloc((size_t)(n * n), sizeof *has);
    int32_t *place = calloc((size_t)n, sizeof *place);
    for (int32_t k = 0; k < n; k++)
        place[order[k]] = k;
    for (int32_t v = 0; v < n; v++)
        for (int64_t e = g->offsets[v]; e < g->offsets[v + 1]; e++)
            has[place[v] * n + place[g->neighbours[e]]] = true;
    for (int64_t k = 0; k < n; k++) {
        counts[k] = 1;
        for (int64_t i = k + 1; i < n; i++) {
            if (!has[k * n + i])
                continue;
            counts[k]++;
            for (int64_t j = k + 1; j < n; j++)
                if (has[k * n + j] && i != j)
                    has[i * n + j] = true;
        }
    }
    free(has);
    free(place);
}

static void test_counts(void **state)
{
    spry_context *ctx = *state;
    for (uint64_t seed = 0; seed < 40; seed++) {
        const int64_t n = 3 + (int64_t)seed;
        spry_matrix *A = random_matrix(ctx, SPRY_TYPE_S, SPRY_SYMMETRY_GENERAL,
                                       (support_shape)(seed % 4), n, 2 * n, seed + 1);
        graph g = {0};
        frontal_order o = {0};
        frontal_tree t = {0};
        int32_t *perm = calloc((size_t)n, sizeof *perm),
                *counts = calloc((size_t)n, sizeof *counts);
        for (int64_t k = 0; k < n; k++)
            perm[k] = (int32_t)((k + (int64_t)seed) % n);
        assert_ok(ctx, graph_make(A, &g));
        assert_ok(ctx, frontal_order_make(ctx, &g, perm, &o));
        eliminate_pattern(&g, o.order, counts);
        for (int64_t k = 0; k < n; k++) {
            assert_int_equal(o.count[k], counts[k]);
            assert_true(o.parent[k] < 0 || o.parent[k] > k);
            assert_true((o.parent[k] < 0) == (counts[k] == 1));
        }
        assert_ok(ctx, frontal_tree_make(ctx, &g, &o, NULL, &t));
        assert_int_equal(t.first[t.nodes], n);
        for (int32_t s = 0; s < t.nodes; s++) {
            assert_true(t.parent[s] < 0 || t.parent[s] > s);
            assert_true((t.parent[s] < 0) == (frontal_listed(&t, s) == 0));
            for (int64_t e = t.list_at[s]; e < t.list_at[s + 1]; e++)
                assert_true(t.list[e] >= t.first[s + 1] && t.list[e] < n &&
                            (e == t.list_at[s] || t.list[e] > t.list[e - 1]));
        }
        frontal_tree_clear(ctx, &t);
        frontal_order_clear(ctx, &o);
        graph_clear(ctx, &g);
        free(perm);
        free(counts);
        spry_matrix_free(A);
    }
}

/* Without exchanges the factors are what was forecast, and no more memory was taken. */
static void test_forecast(void **state)
{
    spry_context *ctx = *state;
    spry_matrix *A = generated(ctx, "poisson3d", "size=12");
    frontal *f = NULL;
    bool fits = false;
    assert_ok(ctx, frontal_analyse(A, FRONTAL_DEFINITE, 0, &f));
    const frontal_forecast *c = frontal_forecast_of(f);
    const int64_t before = ctx->memory_now;
    ctx->memory_most = before;
    assert_ok(ctx, frontal_factor(f, A, &fits));
    assert_true(fits);
    assert_int_equal(frontal_outcome_of(f)->bytes, 8 * (c->entries + 2 * A->a.rows));
    assert_true(ctx->memory_now - before >= 8 * c->entries);
    /* Besides there are places of variables for two threads, and small things. */
    assert_true(ctx->memory_most - before <= c->peak_bytes + 64 * A->a.rows + 65536);
    assert_true(c->flops > 1e6 && c->fronts > 10 && c->largest > 50);
    frontal_free(f);
    spry_matrix_free(A);
}

static void test_limit(void **state)
{
    (void)state;
    spry_context *ctx = support_context("threads=2");
    spry_matrix *A = generated(ctx, "convection-diffusion", "size=40");
    frontal *f = NULL;
    bool fits = false;
    assert_ok(ctx, frontal_analyse(A, FRONTAL_GENERAL, 0, &f));
    ctx->options.memory_limit = ctx->memory_now + frontal_forecast_of(f)->peak_bytes / 2;
    assert_status(ctx, SPRY_STATUS_NO_MEMORY, frontal_factor(f, A, &fits));
    support_message_has(ctx, "are forecast");
    frontal_free(f);
    spry_matrix_free(A);
    support_context_free(ctx);
}

/* --- threads, stops, failures --------------------------------------------------------------------
 */

static spry_matrix *large_matrix(spry_context *ctx, spry_type type, int which)
{
    if (which == 0)
        return generated_as(ctx, type, "poisson3d", "size=13");
    spry_matrix *A = generated_as(ctx, type, "convection-diffusion", "size=60 peclet=30");
    generated_turn(A, 0.3, (spry_scalar){0.6, 0.8});
    return A;
}

/* Columns that are solved together have the bits of those that are solved alone. */
static void check_columns(const spry_matrix *A, const frontal *f)
{
    enum { MOST = 11 };
    const int64_t n = A->a.rows;
    static const int counts[] = {2, MOST, 1, 8};
    void *alone[MOST], *together[MOST];
    for (int op = 0; op < 3; op++)
        for (int c = 0; c < 4; c++) {
            for (int k = 0; k < counts[c]; k++) {
                alone[k] = numeric_array(A->a.type, n, 0, (uint64_t)k + 1);
                together[k] = numeric_array(A->a.type, n, 0, (uint64_t)k + 1);
                assert_ok(A->ctx, frontal_solve(f, (spry_transpose)op, 1, &alone[k]));
            }
            assert_ok(A->ctx, frontal_solve(f, (spry_transpose)op, counts[c], together));
            for (int k = 0; k < counts[c]; k++) {
                assert_memory_equal(alone[k], together[k], (size_t)n * spry_type_size(A->a.type));
                numeric_free(A->a.type, alone[k], 0);
                numeric_free(A->a.type, together[k], 0);
            }
        }
}

static void test_threads(void **state)
{
    (void)state;
    for (int t = 0; t < 4; t++)
        for (int which = 0; which < 2; which++)
            for (int k = 0; k < 4; k += which == 0 ? 1 : 4) {
                void *first = NULL;
                if (!support_turn(t, k + which))
                    continue;
                for (int c = 0; c < 4; c++) {
                    char options[32];
                    snprintf(options, sizeof options, "threads=%d", support_threads[c]);
                    spry_context *ctx = support_context(options);
                    spry_matrix *A = large_matrix(ctx, support_types[t], which);
                    const int64_t n = A->a.rows;
                    frontal *f = eliminated(A, all_kinds[k]);
                    assert_true(f->task_count > 1 && f->top_count > 0);
                    void *x = numeric_array(A->a.type, n, 0, 5);
                    assert_int_equal(frontal_solve(f, SPRY_TRANSPOSE_NO, 1, &x), SPRY_STATUS_OK);
                    if (c < 2)
                        check_columns(A, f);
                    if (first)
                        assert_memory_equal(x, first, (size_t)n * spry_type_size(A->a.type));
                    if (c == 0)
                        check_solve(A, f, SPRY_TRANSPOSE_NO, k == 0 ? 100 : 1e4, "large");
                    if (first)
                        numeric_free(A->a.type, x, 0);
                    else
                        first = x;
                    frontal_free(f);
                    spry_matrix_free(A);
                    support_context_free(ctx);
                }
                numeric_free(support_types[t], first, 0);
            }
}

static void test_interrupt(void **state)
{
    spry_context *ctx = *state;
    for (int which = 0; which < 2; which++) {
        spry_matrix *A = large_matrix(ctx, SPRY_TYPE_D, which);
        frontal *f = NULL;
        bool fits = false;
        assert_ok(ctx, frontal_analyse(A, FRONTAL_GENERAL, 0, &f));
        spry_context_interrupt(ctx);
        assert_status(ctx, SPRY_STATUS_INTERRUPTED, frontal_factor(f, A, &fits));
        assert_true(spry_context_interrupted(ctx, true));
        /* And it goes on as if nothing had been. */
        assert_ok(ctx, frontal_factor(f, A, &fits));
        check_solve(A, f, SPRY_TRANSPOSE_NO, 100, "after a stop");
        frontal_free(f);
        spry_matrix_free(A);
    }
}

/* New values, which need other pivots. */
static void test_values(void **state)
{
    spry_context *ctx = *state;
    for (int t = 0; t < 4; t++) {
        spry_matrix *A = large_matrix(ctx, support_types[t], 1);
        frontal *f = eliminated(A, FRONTAL_GENERAL);
        bool fits = false;
        for (int64_t i = 0; i < A->a.rows; i++)
            if (i % 3)
                support_put(A, matrix_find(&A->a, i, i), (spry_scalar){0, 0});
        assert_ok(ctx, frontal_factor(f, A, &fits));
        assert_int_equal(frontal_outcome_of(f)->rank, A->a.rows);
        assert_true(frontal_outcome_of(f)->delayed > 0);
        for (int op = 0; op < 3; op++)
            check_solve(A, f, (spry_transpose)op, 1e3, "new values");
        frontal_free(f);
        spry_matrix_free(A);
    }
}

typedef struct torture {
    const spry_matrix *A;
    frontal_kind kind;
} torture;

static spry_status use(spry_context *ctx, void *data)
{
    const torture *t = data;
    frontal *f = NULL;
    bool fits = false;
    (void)ctx;
    spry_status status = frontal_analyse(t->A, t->kind, 0, &f);
    assert_true((status == SPRY_STATUS_OK) == (f != NULL));
    for (int turn = 0; turn < 2 && status == SPRY_STATUS_OK; turn++)
        status = frontal_factor(f, t->A, &fits);
    void *columns[3];
    for (int k = 0; k < 3; k++)
        columns[k] = numeric_array(t->A->a.type, t->A->a.rows, 0, 1);
    if (status == SPRY_STATUS_OK) {
        status = frontal_solve(f, SPRY_TRANSPOSE_NO, 3, columns);
        /* What there was still serves one. */
        assert_int_equal(frontal_solve(f, SPRY_TRANSPOSE_NO, 1, columns), SPRY_STATUS_OK);
    }
    for (int k = 0; k < 3; k++)
        numeric_free(t->A->a.type, columns[k], 0);
    frontal_free(f);
    return status;
}

static void test_torture(void **state)
{
    spry_context *ctx = *state;
    for (int k = 0; k < 3; k++) {
        spry_matrix *A = from_dense(ctx, SPRY_TYPE_D, 30, saddle);
        torture t = {A, all_kinds[k]};
        support_torture(ctx, use, &t);
        spry_matrix_free(A);
    }
    /* With nodes above the tasks. */
    spry_matrix *A = generated(ctx, "poisson3d", "size=10");
    torture t = {A, FRONTAL_GENERAL};
    support_torture(ctx, use, &t);
    spry_matrix_free(A);
    static const double singular[] = {1, 2, 2, 4};
    A = support_from_rows(ctx, SPRY_TYPE_Z, 2, 2, singular);
    t = (torture){A, FRONTAL_HERMITIAN};
    support_torture(ctx, use, &t);
    spry_matrix_free(A);
}

#define CASE(test) cmocka_unit_test_setup_teardown(test, support_setup, support_teardown)
int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(test_random),    CASE(test_pivots),   CASE(test_growth), CASE(test_pairs),
        CASE(test_definite),  CASE(test_small),    CASE(test_rank),   CASE(test_left_out),
        CASE(test_counts),    CASE(test_forecast), CASE(test_limit),  CASE(test_threads),
        CASE(test_interrupt), CASE(test_values),   CASE(test_torture)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
