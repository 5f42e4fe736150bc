/*
 * What set-ups of preconditioners are made of on devices: entries and rows against plain loops over
 * the same entries, sets and aggregates against loops that choose one row after the other, and
 * prolongators by what they must do.
 */
#include "support/devices.h"

#include "device/linalg/operator.h"
#include "device/linalg/setup.h"
#include "matrix/entries.h"

#include <spry/algebra.h>
#include <spry/generate.h>

#include <float.h>
#include <math.h>
#include <stdlib.h>

static device_matrix put(spry_device *d, const spry_matrix *A)
{
    device_matrix to;
    assert_ok(d->ctx, device_matrix_put(d, A, &to));
    return to;
}

static device_memory *memory(spry_device *d, int64_t bytes)
{
    device_memory *m = NULL;
    assert_ok(d->ctx, device_alloc(d, bytes, &m));
    return m;
}

/* A copy of n bytes for the host; freed by the caller, as is m. */
static void *fetch(spry_device *d, device_memory *m, int64_t bytes)
{
    void *copy = NULL;
    assert_ok(d->ctx, base_alloc(d->ctx, bytes, 1, &copy));
    assert_ok(d->ctx, device_get(m, 0, copy, bytes));
    device_free(m);
    return copy;
}

static double length_of(spry_scalar a)
{
    return hypot(a.re, a.im);
}

static double eps_of(spry_type type)
{
    return type == SPRY_TYPE_S || type == SPRY_TYPE_C ? (double)FLT_EPSILON : DBL_EPSILON;
}

/* A[i, j], 0 where there is none. */
static spry_scalar entry(const matrix_arrays *a, int64_t i, int64_t j)
{
    for (int64_t k = a->offsets[i]; k < a->offsets[i + 1]; k++)
        if (a->col_index[k] == j)
            return value_get(a->type, a->values, k);
    return (spry_scalar){0, 0};
}

/* --- entries -------------------------------------------------------------------------------------
 */

static void check_diagonals(spry_context *ctx, spry_device *d, const spry_matrix *A)
{
    const matrix_arrays *a = &A->a;
    const int64_t bytes = a->rows * (int64_t)spry_type_size(a->type);
    device_matrix on_device = put(d, A);
    device_memory *plain = memory(d, bytes), *inverse = memory(d, bytes);
    device_memory *turned = memory(d, bytes);
    int64_t first_bad = -1;
    device_scales scales = {0, 0};
    assert_ok(ctx, device_matrix_diagonal(&on_device, plain));
    assert_ok(ctx, device_matrix_inverse_diagonal(&on_device, inverse, turned, &scales));
    void *p = fetch(d, plain, bytes), *q = fetch(d, inverse, bytes), *r = fetch(d, turned, bytes);
    for (int64_t i = 0; i < a->rows; i++) {
        const spry_scalar want = entry(a, i, i), found = value_get(a->type, p, i);
        const spry_scalar over = value_get(a->type, q, i), other = value_get(a->type, r, i);
        assert_true(want.re == found.re && want.im == found.im);
        assert_true(over.re == other.re && over.im == -other.im);
        if (want.re == 0 && want.im == 0) {
            first_bad = first_bad < 0 ? i : first_bad;
            assert_true(over.re == 1 && over.im == 0);
        } else { /* a few roundings of 1 / a */
            const double re = want.re * over.re - want.im * over.im - 1;
            assert_true(hypot(re, want.re * over.im + want.im * over.re) < 8 * eps_of(a->type));
        }
    }
    assert_int_equal(scales.bad, first_bad);
    base_free(ctx, p);
    base_free(ctx, q);
    base_free(ctx, r);
    device_matrix_free(&on_device);
}

static void diagonals(spry_context *ctx, spry_device *d)
{
    for (int t = 0; t < 4; t++) {
        spry_matrix *A = support_sorted(ctx, support_types[t], SUPPORT_UNIFORM, 90, 90, 2500, 3),
                    *B = NULL;
        check_diagonals(ctx, d, A);
        assert_ok(ctx, spry_generate(ctx, "poisson2d", "size=7", &B));
        if (t == 1)
            check_diagonals(ctx, d, B); /* none is bad */
        spry_matrix_free(A);
        spry_matrix_free(B);
    }
}

/* Patterns equal, numbers too: they are eighths, whose products and sums are exact. */
static void check_same(spry_context *ctx, spry_matrix *want, device_matrix *found)
{
    spry_matrix *got = NULL;
    assert_ok(ctx, device_matrix_get(found, &got));
    const matrix_arrays *a = &want->a, *b = &got->a;
    assert_true(a->rows == b->rows && a->cols == b->cols && a->nnz == b->nnz);
    assert_memory_equal(a->offsets, b->offsets, (size_t)(a->rows + 1) * sizeof *a->offsets);
    assert_memory_equal(a->col_index, b->col_index, (size_t)a->nnz * sizeof *a->col_index);
    for (int64_t k = 0; k < a->nnz; k++) {
        const spry_scalar x = value_get(a->type, a->values, k),
                          y = value_get(b->type, b->values, k);
        assert_true(x.re == y.re && x.im == y.im);
    }
    spry_matrix_free(got);
    spry_matrix_free(want);
    device_matrix_free(found);
}

static void sums(spry_context *ctx, spry_device *d)
{
    for (int t = 0; t < 4; t++) {
        const spry_scalar alpha = {2, 0}, beta = {-0.5, t < 2 ? 0 : 1};
        spry_matrix *A = support_sorted(ctx, support_types[t], SUPPORT_UNIFORM, 70, 40, 300, 1),
                    *C = NULL;
        spry_matrix *B = support_sorted(ctx, support_types[t], SUPPORT_UNIFORM, 70, 40, 200, 2);
        device_matrix a = put(d, A), b = put(d, B), found;
        assert_ok(ctx, spry_matrix_add(alpha, A, beta, B, &C));
        assert_ok(ctx, device_matrix_add(alpha, &a, beta, NULL, &b, &found));
        check_same(ctx, C, &found);
        device_matrix_free(&a);
        device_matrix_free(&b);
        spry_matrix_free(A);
        spry_matrix_free(B);
    }
}

/* --- entries left out ----------------------------------------------------------------------------
 */

static bool is_kept(const matrix_arrays *a, double theta, int64_t i, int64_t k)
{
    const spry_scalar v = value_get(a->type, a->values, k);
    const int64_t j = a->col_index[k];
    return i == j || length_of(v) * length_of(v) >
                         theta * theta * length_of(entry(a, i, i)) * length_of(entry(a, j, j));
}

static void check_filter(spry_context *ctx, spry_device *d, const spry_matrix *A, bool lump)
{
    const double theta = 0.375;
    const matrix_arrays *a = &A->a;
    device_matrix on_device = put(d, A), found;
    spry_matrix *got = NULL;
    assert_ok(ctx, device_matrix_filter(&on_device, theta, lump, &found));
    assert_ok(ctx, device_matrix_get(&found, &got));
    int64_t to = 0;
    for (int64_t i = 0; i < a->rows; i++) {
        double left_re = 0, left_im = 0;
        assert_int_equal(got->a.offsets[i], to);
        for (int64_t k = a->offsets[i]; k < a->offsets[i + 1]; k++) {
            const spry_scalar v = value_get(a->type, a->values, k);
            if (is_kept(a, theta, i, k)) {
                assert_int_equal(got->a.col_index[to], a->col_index[k]);
                to++;
            } else {
                left_re += v.re;
                left_im += v.im;
            }
        }
        for (int64_t k = got->a.offsets[i]; k < to; k++) {
            const int64_t j = got->a.col_index[k];
            const spry_scalar v = value_get(a->type, got->a.values, k), w = entry(a, i, j);
            const spry_scalar sum = {w.re + left_re, w.im + left_im};
            const bool adds = lump && j == i && length_of(sum) > 0.25 * length_of(w);
            assert_true(v.re == (adds ? sum.re : w.re) && v.im == (adds ? sum.im : w.im));
        }
    }
    assert_int_equal(got->a.nnz, to);
    assert_true(to < a->nnz);
    spry_matrix_free(got);
    device_matrix_free(&on_device);
    device_matrix_free(&found);
}

static void filters(spry_context *ctx, spry_device *d)
{
    for (int t = 0; t < 4; t++) {
        spry_matrix *A = support_sorted(ctx, support_types[t], SUPPORT_UNIFORM, 60, 60, 900, 5);
        check_filter(ctx, d, A, true);
        check_filter(ctx, d, A, false);
        spry_matrix_free(A);
    }
}

/* Blocks of 2, kept where S has an entry; every third of them. */
static void block_filters(spry_context *ctx, spry_device *d)
{
    spry_matrix *A = support_sorted(ctx, SPRY_TYPE_C, SUPPORT_UNIFORM, 80, 80, 900, 5),
                *S = support_sorted(ctx, SPRY_TYPE_C, SUPPORT_UNIFORM, 40, 40, 500, 6);
    const matrix_arrays *a = &A->a;
    device_matrix on_device = put(d, A), strong = put(d, S), found;
    spry_matrix *got = NULL;
    int64_t to = 0;
    assert_ok(ctx, device_matrix_filter_blocks(&on_device, 2, &strong, true, &found));
    assert_ok(ctx, device_matrix_get(&found, &got));
    for (int64_t i = 0; i < a->rows; i++) {
        spry_scalar left_out = {0, 0};
        int64_t diagonal = -1;
        for (int64_t k = a->offsets[i]; k < a->offsets[i + 1]; k++) {
            const int64_t j = a->col_index[k];
            const spry_scalar v = value_get(a->type, a->values, k);
            if (i / 2 == j / 2 || length_of(entry(&S->a, i / 2, j / 2)) > 0) {
                const spry_scalar w = value_get(a->type, got->a.values, to);
                assert_int_equal(got->a.col_index[to], j);
                assert_true(i == j || (v.re == w.re && v.im == w.im));
                diagonal = i == j ? to : diagonal;
                to++;
            } else if (i % 2 == j % 2) {
                left_out.re += v.re;
                left_out.im += v.im;
            }
        }
        assert_int_equal(got->a.offsets[i + 1], to);
        if (diagonal >= 0) {
            const spry_scalar own = entry(a, i, i), w = value_get(a->type, got->a.values, diagonal);
            const spry_scalar sum = {own.re + left_out.re, own.im + left_out.im};
            const bool adds = length_of(sum) > 0.25 * length_of(own);
            assert_true(w.re == (adds ? sum.re : own.re) && w.im == (adds ? sum.im : own.im));
        }
    }
    assert_true(to < a->nnz);
    device_matrix_free(&found);
    assert_status(ctx, SPRY_STATUS_BAD_USAGE,
                  device_matrix_filter_blocks(&on_device, 3, &strong, true, &found));
    spry_matrix_free(got);
    spry_matrix_free(A);
    spry_matrix_free(S);
    device_matrix_free(&on_device);
    device_matrix_free(&strong);
}

static void bounds(spry_context *ctx, spry_device *d)
{
    spry_matrix *A = support_sorted(ctx, SPRY_TYPE_D, SUPPORT_UNIFORM, 600, 600, 9000, 2);
    device_matrix on_device = put(d, A);
    device_memory *inverse = memory(d, A->a.rows * 8);
    device_scales scales;
    double want = 0;
    for (int64_t i = 0; i < A->a.rows; i++) {
        double sum = 0;
        for (int64_t k = A->a.offsets[i]; k < A->a.offsets[i + 1]; k++)
            sum += length_of(value_get(SPRY_TYPE_D, A->a.values, k));
        if (length_of(entry(&A->a, i, i)) > 0)
            want = fmax(want, sum / length_of(entry(&A->a, i, i)));
    }
    assert_ok(ctx, device_matrix_inverse_diagonal(&on_device, inverse, NULL, &scales));
    assert_true(scales.bound == want && want > 1); /* eighths: sums are exact */
    device_free(inverse);
    device_matrix_free(&on_device);
    spry_matrix_free(A);
}

/* --- sets and aggregates -------------------------------------------------------------------------
 */

static uint32_t hash_of(uint32_t number)
{
    number ^= number >> 16;
    number *= 0x85ebca6bu;
    number ^= number >> 13;
    number *= 0xc2b2ae35u;
    return number ^ number >> 16;
}

static int by_key(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x < y) - (x > y);
}

/* Marks what is at most `steps` away. */
static void block_around(const matrix_arrays *a, int64_t row, int steps, char *blocked)
{
    blocked[row] = 1;
    for (int64_t k = a->offsets[row]; steps > 0 && k < a->offsets[row + 1]; k++)
        block_around(a, a->col_index[k], steps - 1, blocked);
}

/* The set that takes rows by falling keys, unless one taken before is within two steps. */
static char *choose(spry_context *ctx, const matrix_arrays *a, uint64_t *keys, int steps,
                    char *left_out)
{
    char *chosen = NULL;
    assert_ok(ctx, base_calloc(ctx, a->rows, 1, &chosen));
    qsort(keys, (size_t)a->rows, sizeof *keys, by_key);
    for (int64_t i = 0; i < a->rows; i++) {
        const int64_t row = (int64_t)(keys[i] & 0xffffffffu);
        if (left_out[row])
            continue;
        chosen[row] = 1;
        block_around(a, row, steps, left_out);
    }
    return chosen;
}

static bool has_neighbours(const matrix_arrays *a, int64_t i)
{
    for (int64_t k = a->offsets[i]; k < a->offsets[i + 1]; k++)
        if (a->col_index[k] != i)
            return true;
    return false;
}

/* A symmetric pattern with rows that have no neighbours. */
static spry_matrix *graph(spry_context *ctx)
{
    spry_matrix *A = support_matrix(ctx, &(support_recipe){.type = SPRY_TYPE_D,
                                                           .format = SPRY_FORMAT_CSR,
                                                           .symmetry = SPRY_SYMMETRY_SYMMETRIC,
                                                           .rows = 900,
                                                           .cols = 900,
                                                           .nnz = 900,
                                                           .shape = SUPPORT_UNIFORM,
                                                           .seed = 9,
                                                           .sorted = true});
    const spry_matrix *csr = NULL;
    spry_matrix *owned = NULL;
    assert_ok(ctx, matrix_as_sorted_csr(A, &csr, &owned));
    assert_non_null(owned);
    spry_matrix_free(A);
    return owned;
}

static void check_aggregates(spry_context *ctx, const matrix_arrays *a, bool alone,
                             const int32_t *aggregate, int64_t count)
{
    uint64_t *keys = NULL;
    char *left_out = NULL;
    int64_t number = 0;
    assert_ok(ctx, base_calloc(ctx, a->rows, sizeof *keys, &keys));
    assert_ok(ctx, base_calloc(ctx, a->rows, 1, &left_out));
    for (int64_t i = 0; i < a->rows; i++) {
        keys[i] = (uint64_t)(hash_of((uint32_t)i) >> 2) << 32 | (uint64_t)i;
        left_out[i] = !alone && !has_neighbours(a, i);
    }
    char *chosen = choose(ctx, a, keys, 2, left_out);
    for (int64_t i = 0; i < a->rows; i++)
        if (chosen[i])
            assert_int_equal(aggregate[i], number++);
    assert_int_equal(number, count);
    for (int64_t i = 0; i < a->rows; i++) {
        bool joined = chosen[i] || !has_neighbours(a, i);
        for (int64_t k = a->offsets[i]; k < a->offsets[i + 1]; k++) {
            const int32_t j = a->col_index[k];
            joined |= j != i && aggregate[j] == aggregate[i] && aggregate[i] >= 0;
            if (chosen[j] && j != i) /* the neighbours of a chosen row are its own */
                assert_int_equal(aggregate[i], aggregate[j]);
        }
        assert_true(joined);
        assert_true((aggregate[i] >= 0) == (alone || has_neighbours(a, i)));
    }
    base_free(ctx, chosen);
    base_free(ctx, left_out);
    base_free(ctx, keys);
}

static void aggregates(spry_context *ctx, spry_device *d)
{
    spry_matrix *A = graph(ctx);
    for (int alone = 0; alone < 2; alone++) {
        device_matrix on_device = put(d, A);
        device_memory *aggregate = memory(d, A->a.rows * 4);
        int64_t count = 0;
        assert_ok(ctx, device_aggregate(&on_device, alone != 0, aggregate, &count));
        int32_t *found = fetch(d, aggregate, A->a.rows * 4);
        check_aggregates(ctx, &A->a, alone != 0, found, count);
        base_free(ctx, found);
        device_matrix_free(&on_device);
    }
    spry_matrix_free(A);
}

/* --- prolongators --------------------------------------------------------------------------------
 */

/* Aggregates of 5 nodes, some of no aggregate, one node alone; 2 rows a node and 3 vectors. */
enum { NODES = 121, BLOCK = 2, VECTORS = 3, AGGREGATES = 25, ROWS = NODES * BLOCK };

static void number_nodes(int32_t *aggregate)
{
    for (int i = 0; i < NODES; i++)
        aggregate[i] = i < 120 ? i / 5 : 24;
    aggregate[7] = -1;
}

/* T^H T is the identity but for columns that vanish, and T times coarse are the vectors. */
static void check_tentative(spry_context *ctx, spry_type type, const spry_matrix *T,
                            const void *coarse, const void *vectors, const int32_t *aggregate,
                            int64_t vanished)
{
    const double bound = 64 * eps_of(type);
    spry_matrix *gram = NULL;
    int64_t zeros = 0;
    assert_ok(ctx, spry_matrix_gram(T, true, &gram));
    support_dense dense = support_dense_of(gram);
    for (int64_t i = 0; i < dense.rows; i++)
        for (int64_t j = 0; j < dense.cols; j++) {
            const spry_scalar v = dense.at[i * dense.cols + j];
            const bool zero = i == j && v.re == 0;
            zeros += zero;
            assert_true(length_of((spry_scalar){v.re - (i == j && !zero), v.im}) <= bound);
        }
    assert_int_equal(zeros, vanished);
    for (int64_t row = 0; row < ROWS; row++)
        for (int c = 0; c < VECTORS; c++) {
            const spry_scalar want = value_get(type, vectors, row * VECTORS + c);
            double re = 0, im = 0;
            for (int64_t k = T->a.offsets[row]; k < T->a.offsets[row + 1]; k++) {
                const spry_scalar t = value_get(type, T->a.values, k);
                const spry_scalar r =
                    value_get(type, coarse, (int64_t)T->a.col_index[k] * VECTORS + c);
                re += t.re * r.re - t.im * r.im;
                im += t.re * r.im + t.im * r.re;
            }
            if (aggregate[row / BLOCK] >= 0)
                assert_true(hypot(re - want.re, im - want.im) <= 16 * bound);
            else
                assert_int_equal(T->a.offsets[row], T->a.offsets[row + 1]);
        }
    support_dense_free(&dense);
    spry_matrix_free(gram);
}

static void tentative(spry_context *ctx, spry_device *d)
{
    int32_t aggregate[NODES];
    number_nodes(aggregate);
    for (int t = 0; t < 4; t++) {
        const spry_type type = support_types[t];
        const int64_t size = (int64_t)spry_type_size(type);
        double vectors[ROWS * VECTORS * 2];
        device_memory *of = memory(d, sizeof aggregate), *B = memory(d, ROWS * VECTORS * size);
        device_memory *coarse = NULL;
        device_matrix T;
        spry_matrix *got = NULL;
        int64_t vanished = -1;
        for (int k = 0; k < ROWS * VECTORS; k++)
            value_set(type, vectors, k, support_number(type, 4, (uint64_t)k));
        assert_ok(ctx, device_put(of, 0, aggregate, sizeof aggregate));
        assert_ok(ctx, device_put(B, 0, vectors, ROWS * VECTORS * size));
        const device_nodes nodes = {NODES, AGGREGATES, of, BLOCK, VECTORS, B};
        assert_ok(ctx, device_tentative(d, type, &nodes, &T, &coarse, &vanished));
        assert_int_equal(vanished, 1); /* two rows cannot have three */
        assert_ok(ctx, device_matrix_get(&T, &got));
        void *triangles = fetch(d, coarse, (int64_t)AGGREGATES * VECTORS * VECTORS * size);
        check_tentative(ctx, type, got, triangles, vectors, aggregate, vanished);
        base_free(ctx, triangles);
        spry_matrix_free(got);
        device_matrix_free(&T);
        device_free(of);
        device_free(B);
    }
}

/* P = T - omega D^-1 A T against the host's sums and products; numbers are exact but for 1 / 4. */
static void smoothed(spry_context *ctx, spry_device *d)
{
    spry_matrix *A = NULL, *T = support_sorted(ctx, SPRY_TYPE_D, SUPPORT_UNIFORM, 64, 9, 64, 3),
                *AT = NULL, *P = NULL;
    device_memory *inverse = memory(d, 64 * 8);
    device_scales scales;
    assert_ok(ctx, spry_generate(ctx, "poisson2d", "size=8", &A));
    device_matrix a = put(d, A), t = put(d, T), found;
    assert_ok(ctx, device_matrix_inverse_diagonal(&a, inverse, NULL, &scales));
    assert_int_equal(scales.bad, -1);
    assert_ok(ctx, device_smooth_prolongator(&a, inverse, 0.5, &t, &found));
    assert_ok(ctx, spry_matrix_multiply(A, T, &AT));
    assert_true(entry(&A->a, 0, 0).re == 4); /* of all rows */
    assert_ok(ctx, spry_matrix_add((spry_scalar){1, 0}, T, (spry_scalar){-0.125, 0}, AT, &P));
    check_same(ctx, P, &found);
    device_free(inverse);
    device_matrix_free(&a);
    device_matrix_free(&t);
    spry_matrix_free(A);
    spry_matrix_free(T);
    spry_matrix_free(AT);
}

static void condensed(spry_context *ctx, spry_device *d)
{
    spry_matrix *A = support_sorted(ctx, SPRY_TYPE_Z, SUPPORT_UNIFORM, 60, 60, 200, 8), *got = NULL;
    device_matrix a = put(d, A), found;
    assert_ok(ctx, device_matrix_condense(&a, 3, &found));
    assert_ok(ctx, device_matrix_get(&found, &got));
    support_dense dense = support_dense_of(A), nodes = support_dense_of(got);
    assert_int_equal(nodes.rows, 20);
    for (int64_t i = 0; i < 400; i++) {
        double squares = 0;
        for (int64_t k = 0; k < 9; k++) {
            const int64_t row = i / 20 * 3 + k / 3, col = i % 20 * 3 + k % 3;
            const double length = length_of(dense.at[row * 60 + col]);
            squares += length * length;
        }
        assert_true(fabs(nodes.at[i].re - sqrt(squares)) <= 32 * DBL_EPSILON * sqrt(squares));
    }
    device_matrix_free(&found);
    assert_status(ctx, SPRY_STATUS_BAD_USAGE, device_matrix_condense(&a, 7, &found));
    support_message_has(ctx, "blocks of 7");
    support_dense_free(&dense);
    support_dense_free(&nodes);
    spry_matrix_free(got);
    device_matrix_free(&a);
    spry_matrix_free(A);
}

/* --- failures ------------------------------------------------------------------------------------
 */

/* A coarse level as multigrid makes it, and an operator over it. */
static spry_status make_level(spry_device *d, const spry_matrix *A)
{
    spry_context *ctx = d->ctx;
    device_matrix fine = {0}, S = {0}, T = {0}, P = {0}, C = {0};
    device_memory *inverse = NULL, *aggregate = NULL, *coarse = NULL;
    spry_operator *op = NULL;
    int64_t count, vanished;
    device_scales scales;
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(ctx, device_matrix_put(d, A, &fine));
    SPRY_GO(ctx, device_alloc(d, fine.rows * 8, &inverse));
    SPRY_GO(ctx, device_alloc(d, fine.rows * 4, &aggregate));
    SPRY_GO(ctx, device_matrix_inverse_diagonal(&fine, inverse, NULL, &scales));
    SPRY_GO(ctx, device_matrix_filter(&fine, 0.1, true, &S));
    SPRY_GO(ctx, device_aggregate(&S, false, aggregate, &count));
    const device_nodes nodes = {fine.rows, count, aggregate, 1, 1, NULL};
    SPRY_GO(ctx, device_tentative(d, SPRY_TYPE_D, &nodes, &T, &coarse, &vanished));
    SPRY_GO(ctx, device_smooth_prolongator(&fine, inverse, 0.5, &T, &P));
    SPRY_GO(ctx, device_matrix_triple(NULL, &fine, &P, &C));
    SPRY_GO(ctx, device_matrix_operator(&C, false, "csr", &op));
done:
    spry_operator_free(op);
    device_matrix *const all[] = {&fine, &S, &T, &P, &C};
    for (int i = 0; i < 5; i++)
        device_matrix_free(all[i]);
    device_free(inverse);
    device_free(aggregate);
    device_free(coarse);
    return status;
}

/* Each call of the device's that fails in turn is reported, and leaves nothing behind. */
static void failures(spry_context *ctx, spry_device *d)
{
    static const device_work kinds[] = {WORK_ALLOC, WORK_COPY, WORK_LAUNCH};
    spry_matrix *A = NULL;
    int64_t settled, used, most, left;
    assert_ok(ctx, spry_generate(ctx, "poisson2d", "size=6", &A));
    assert_ok(ctx, make_level(d, A));
    spry_context_memory(ctx, &settled, &most);
    for (int k = 0; k < 3; k++) {
        int failed = 0;
        for (int64_t n = 1;; n++, failed++) {
            device_fail_next(d, kinds[k], n);
            const spry_status status = make_level(d, A);
            device_fail_next(d, kinds[k], 0);
            device_memory_now(d, &used, &most, &left);
            assert_int_equal(used, 0);
            spry_context_memory(ctx, &used, &most);
            assert_int_equal(used, settled);
            if (status == SPRY_STATUS_OK)
                break;
            assert_int_equal(status, k == 0 ? SPRY_STATUS_NO_MEMORY : SPRY_STATUS_DEVICE);
        }
        assert_true(failed > 10);
    }
    for (int64_t n = 1;; n++) {
        base_fail_allocation(ctx, n, false);
        const spry_status status = make_level(d, A);
        base_fail_allocation(ctx, 0, false);
        spry_context_memory(ctx, &used, &most);
        assert_int_equal(used, settled);
        if (status == SPRY_STATUS_OK)
            break;
        assert_int_equal(status, SPRY_STATUS_NO_MEMORY);
    }
    spry_matrix_free(A);
}

int main(void)
{
    static const devices_test tests[] = {DEVICES_TEST(diagonals), DEVICES_TEST(sums),
                                         DEVICES_TEST(filters),   DEVICES_TEST(block_filters),
                                         DEVICES_TEST(bounds),    DEVICES_TEST(aggregates),
                                         DEVICES_TEST(tentative), DEVICES_TEST(smoothed),
                                         DEVICES_TEST(condensed), DEVICES_TEST(failures)};
    return DEVICES_RUN(tests);
}
