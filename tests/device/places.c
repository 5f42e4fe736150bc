/*
 * Every public function that takes or gives vectors, dense blocks or operators, with those of a
 * device: it gives what it gives on the host, bit by bit where the arithmetic is the same, or says
 * where things are. `all_are_called` reads the headers, this file and places_solves.c, so that a
 * function that is new in the headers and not called here is found.
 */
#include "support/places.h"
#include "support/files.h"

#include "device/linalg/dlpack.h"
#include "device/linalg/vector.h"

#include <ctype.h>
#include <dirent.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- vectors ------------------------------------------------------------------------------------
 */

static void check_elements(spry_device *d, spry_type type)
{
    spry_context *ctx = d->ctx;
    spry_vector *x = numbers(ctx, type, 300, 1), *y = numbers(ctx, type, 300, 2);
    spry_vector *dx = copy_on_device(d, x), *dy = copy_on_device(d, y), *z = NULL, *dz = NULL;
    const spry_scalar half = {0.5, 0};
    spry_scalar a, b;
    double p, q;
    assert_ok(ctx, spry_vector_like(y, 300, &z));
    assert_ok(ctx, spry_vector_like(dy, 300, &dz));
    assert_ok(ctx, spry_vector_axpy(half, x, y));
    assert_ok(ctx, spry_vector_axpy(half, dx, dy));
    assert_ok(ctx, vector_xpay(x, half, y));
    assert_ok(ctx, vector_xpay(dx, half, dy));
    assert_ok(ctx, spry_vector_scale(half, y));
    assert_ok(ctx, spry_vector_scale(half, dy));
    same(y, dy); /* all of it exact */
    assert_ok(ctx, spry_vector_multiply(x, y, z));
    assert_ok(ctx, spry_vector_multiply(dx, dy, dz));
    same(z, dz);
    assert_ok(ctx, spry_vector_dot(x, y, &a));
    assert_ok(ctx, spry_vector_dot(dx, dy, &b));
    assert_true(a.re == b.re && a.im == b.im); /* sums of 300 numbers of 13 bits are exact */
    assert_ok(ctx, spry_vector_norm(x, &p));
    assert_ok(ctx, spry_vector_norm(dx, &q));
    assert_true(fabs(p - q) <= 4 * numeric_unit(type) * p); /* roots of exact sums */
    assert_ok(ctx, spry_vector_fill(dz, half));
    assert_ok(ctx, spry_vector_fill(z, half));
    same(z, dz);
    spry_vector_free(dz);
    assert_ok(ctx, spry_vector_collect(dy, &dz)); /* of the only rank */
    same(y, dz);
    refused(d, spry_vector_axpy(one, x, dy));
    refused(d, vector_xpay(dx, one, y));
    refused(d, spry_vector_multiply(dx, dy, z));
    refused(d, spry_vector_dot(x, dy, &a));
    FREE_ALL(x, y, z, dx, dy, dz);
}

/* Kernels of the caller's take vectors of their device. */
static void check_kernels(spry_device *d, spry_type type)
{
    static const char text[] =
        "SP_KERNEL twice(const int n, SP_GLOBAL const scalar *x, SP_GLOBAL scalar *y)\n"
        "{\n"
        "    if (SP_GLOBAL_ID < n)\n"
        "        y[SP_GLOBAL_ID] = sp_add(x[SP_GLOBAL_ID], x[SP_GLOBAL_ID]);\n"
        "}\n";
    spry_context *ctx = d->ctx;
    spry_vector *x = numbers(ctx, type, 300, 1), *dx = copy_on_device(d, x), *dy = NULL;
    spry_kernel *k = NULL;
    char options[16];
    snprintf(options, sizeof options, "type=%s", spry_type_name(type));
    assert_ok(ctx, spry_kernel_new(d, text, "twice", options, &k));
    assert_ok(ctx, spry_vector_like(dx, 300, &dy));
    assert_ok(ctx, spry_kernel_set_int(k, "n", 300));
    refused(d, spry_kernel_set_input(k, "x", x));
    refused(d, spry_kernel_set_vector(k, "y", x));
    assert_ok(ctx, spry_kernel_set_input(k, "x", dx));
    assert_ok(ctx, spry_kernel_set_vector(k, "y", dy));
    assert_ok(ctx, spry_kernel_launch(k, 1, (int64_t[]){300}));
    assert_ok(ctx, spry_vector_scale((spry_scalar){2, 0}, x));
    same(x, dy);
    spry_kernel_free(k);
    FREE_ALL(x, dx, dy);
}

static void check_orders(spry_device *d, spry_type type)
{
    enum { N = 1000 };
    spry_context *ctx = d->ctx;
    spry_vector *x = numbers(ctx, type, N, 3), *y = NULL, *dx = copy_on_device(d, x), *dy = NULL;
    int32_t perm[N];
    for (int i = 0; i < N; i++)
        perm[i] = (7 * i + 3) % N; /* 7 and 1000 have no divisor in common */
    assert_ok(ctx, spry_vector_like(x, N, &y));
    assert_ok(ctx, spry_vector_like(dx, N, &dy));
    assert_ok(ctx, spry_vector_permute(x, perm, false, y));
    assert_ok(ctx, spry_vector_permute(dx, perm, false, dy));
    same(y, dy);
    assert_ok(ctx, spry_vector_fill(dx, zero));
    assert_ok(ctx, spry_vector_permute(dy, perm, true, dx));
    same(x, dx);
    assert_ok(ctx, spry_vector_permute(y, perm, true, x));
    same(x, dx);
    refused(d, spry_vector_permute(x, perm, false, dy));
    refused(d, spry_vector_permute(dx, perm, true, y));
    assert_status(ctx, SPRY_STATUS_BAD_USAGE, spry_vector_permute(dx, perm, false, dx));
    perm[5] = perm[6];
    assert_status(ctx, SPRY_STATUS_BAD_INPUT, spry_vector_permute(dx, perm, false, dy));
    FREE_ALL(x, y, dx, dy);
}

/* Rows that ranks give, of which there is one. */
static void check_redistributed(spry_device *d, spry_type type)
{
    enum { N = 20 };
    spry_context *ctx = d->ctx;
    spry_vector *x = numbers(ctx, type, N, 4), *dx = copy_on_device(d, x), *back = NULL;
    spry_matrix *A = NULL;
    int64_t rows[N + 1], iterations = 0;
    double got[2 * N];
    for (int i = 0; i <= N; i++)
        rows[i] = i;
    assert_ok(ctx, spry_matrix_new_distributed(ctx, type, N, N, N, rows, rows, rows,
                                               spry_vector_data(x), &A));
    assert_ok(ctx, spry_vector_get_distributed(A, dx, got));
    assert_ok(ctx, spry_vector_new_distributed(A, got, &back));
    same(x, back);
    FREE_ALL(back);
    assert_ok(ctx, spry_checkpoint_write(A, dx, dx, 7, files_path("places.mtx")));
    assert_ok(ctx, spry_checkpoint_read(A, dx, files_path("places.mtx"), &back, &iterations));
    assert_int_equal(iterations, 7);
    same(x, back);
    FREE_ALL(back);
    assert_ok(ctx, spry_vector_write_ranked(A, dx, files_path("places.npy")));
    assert_ok(ctx, spry_vector_read_ranked(A, files_path("places.npy"), NULL, &back));
    same(x, back);
    FREE_ALL(x, dx, back);
    spry_matrix_free(A);
}

static void check_files(spry_device *d, spry_type type)
{
    static const char *const names[] = {"places.mtx", "places.npy"};
    spry_context *ctx = d->ctx;
    spry_vector *x = numbers(ctx, type, 120, 4), *dx = copy_on_device(d, x), *back = NULL;
    int64_t cols = 0;
    for (int k = 0; k < 2; k++) {
        char options[16];
        snprintf(options, sizeof options, "type=%s", spry_type_name(type));
        assert_ok(ctx, spry_vector_write(dx, files_path(names[k])));
        assert_ok(ctx, spry_vector_read(ctx, files_path(names[k]), options, &back));
        same(x, back);
        FREE_ALL(back);
        assert_ok(ctx, spry_vector_read(ctx, files_path(names[k]), NULL, &back));
        assert_null(spry_vector_device(back));
        FREE_ALL(back);
        assert_ok(ctx, spry_columns_write(dx, 3, files_path(names[k])));
        assert_ok(ctx, spry_columns_read(ctx, files_path(names[k]), options, &back, &cols));
        assert_int_equal(cols, 3);
        same(x, back);
        FREE_ALL(back);
    }
    FREE_ALL(x, dx);
}

static void check_sharing(spry_device *d, spry_type type)
{
    spry_context *ctx = d->ctx;
    spry_vector *x = numbers(ctx, type, 50, 5), *back = NULL;
    struct DLManagedTensor *tensor = NULL;
    struct DLManagedTensorVersioned *versioned = NULL;
    spry_array_interface array = SPRY_ARRAY_INTERFACE_INIT;
    assert_ok(ctx, spry_vector_to_dlpack(copy_on_device(d, x), &tensor));
    assert_ok(ctx, spry_vector_from_dlpack(ctx, tensor, &back));
    assert_ptr_equal(spry_vector_device(back), d);
    same(x, back);
    FREE_ALL(back);
    assert_ok(ctx, spry_vector_to_dlpack_versioned(copy_on_device(d, x), &versioned));
    assert_ok(ctx, spry_vector_from_dlpack_versioned(ctx, versioned, &back));
    same(x, back);
    FREE_ALL(back);
    spry_vector *dx = copy_on_device(d, x);
    if (d->facts.has_pointers) {
        assert_ok(ctx, spry_vector_array_interface(dx, &array));
        assert_ok(ctx, spry_vector_from_array_interface(d, &array, &back));
        same(x, back);
        FREE_ALL(back);
    } else {
        refused(d, spry_vector_array_interface(dx, &array));
        refused(d, spry_vector_from_array_interface(d, &array, &back));
    }
    assert_status(ctx, SPRY_STATUS_BAD_USAGE, spry_vector_array_interface(x, &array));
    FREE_ALL(x, dx);
}

/* --- matrices -----------------------------------------------------------------------------------
 */

/* The doctor finds the same, to the bit, wherever b is: here it is not in the range. */
static void check_diagnose(spry_device *d, spry_type type)
{
    spry_context *ctx = d->ctx;
    const double rows[] = {1, -1, 0, -1, 2, -1, 0, -1, 1};
    spry_matrix *A = support_from_rows(ctx, type, 3, 3, rows);
    spry_vector *b = numbers(ctx, type, 3, 9), *db = copy_on_device(d, b);
    spry_diagnosis expected = SPRY_DIAGNOSIS_INIT, found = SPRY_DIAGNOSIS_INIT;
    assert_ok(ctx, spry_diagnose(A, b, "seconds=1000", NULL, &expected));
    assert_ok(ctx, spry_diagnose(A, db, "seconds=1000", NULL, &found));
    assert_true(expected.count > 2 && found.count == expected.count);
    assert_memory_equal(expected.findings, found.findings,
                        (size_t)found.count * sizeof *found.findings);
    spry_diagnosis_clear(ctx, &expected);
    spry_diagnosis_clear(ctx, &found);
    FREE_ALL(b, db);
    spry_matrix_free(A);
}

/* A = diag(left) A diag(right) of a kind, by vectors of each place. */
static void check_scale(spry_device *d, spry_type type, spry_symmetry symmetry)
{
    spry_context *ctx = d->ctx;
    const support_recipe recipe = {type, SPRY_FORMAT_CSR, symmetry, 40,  40,
                                   200,  SUPPORT_UNIFORM, 6,        true};
    spry_vector *l = numbers(ctx, type, 40, 7), *r = numbers(ctx, type, 40, 8);
    spry_vector *const left[] = {l, copy_on_device(d, l)}, *const right[] = {r,
                                                                             copy_on_device(d, r)};
    spry_matrix *expected[2];
    for (int same_sides = 0; same_sides < 2; same_sides++) {
        expected[same_sides] = support_matrix(ctx, &recipe);
        assert_ok(ctx, spry_matrix_scale(expected[same_sides], l, same_sides ? l : r));
    }
    for (int k = 1; k < 4; k++) {
        spry_matrix *A = support_matrix(ctx, &recipe), *B = support_matrix(ctx, &recipe);
        assert_ok(ctx, spry_matrix_scale(A, left[k & 1], right[k >> 1]));
        support_same_arrays(expected[0], A);
        assert_ok(ctx, spry_matrix_scale(B, left[k & 1], left[k >> 1]));
        support_same_arrays(expected[1], B);
        spry_matrix_free(A);
        spry_matrix_free(B);
    }
    spry_matrix_free(expected[0]);
    spry_matrix_free(expected[1]);
    FREE_ALL(left[0], left[1], right[0], right[1]);
}

/* What is made from matrices is on the host. */
static void check_made(spry_context *ctx, spry_type type)
{
    spry_matrix *A = grid(ctx, type);
    spry_vector *v[5] = {NULL};
    assert_ok(ctx, spry_vector_zeros(ctx, A, &v[0]));
    assert_ok(ctx, spry_vector_ones(ctx, A, &v[1]));
    assert_ok(ctx, spry_matrix_diagonal(A, &v[2]));
    assert_ok(ctx, spry_scaling(A, "symmetric", &v[3], &v[4]));
    for (int k = 0; k < 5; k++)
        assert_null(spry_vector_device(v[k]));
    free_all(v, 5);
    spry_matrix_free(A);
}

/* M r by a hierarchy that was given a near-null vector on the device is the one given it on the
 * host. */
static void check_near_null(spry_device *d, spry_type type)
{
    spry_context *ctx = d->ctx;
    spry_matrix *A = grid(ctx, type);
    spry_vector *null = numbers(ctx, type, spry_matrix_cols(A), 9), *away = copy_on_device(d, null);
    spry_vector *r = numbers(ctx, type, spry_matrix_cols(A), 10), *z[2] = {NULL};
    for (int k = 0; k < 2; k++) {
        const spry_vector *const given[] = {k == 0 ? null : away};
        spry_operator *M = NULL;
        assert_ok(ctx, spry_matrix_set_near_null(A, 1, given));
        assert_ok(ctx, spry_precon_new(A, NULL, "amg", &M));
        assert_ok(ctx, spry_vector_like(r, r->n, &z[k]));
        assert_ok(ctx, spry_operator_apply(M, r, z[k]));
        spry_operator_free(M);
    }
    same(z[0], z[1]);
    FREE_ALL(null, away, r, z[0], z[1]);
    spry_matrix_free(A);
}

/* --- operators ----------------------------------------------------------------------------------
 */

/* y = x, by a caller's function. */
static spry_status identity(void *data, spry_transpose op, const void *x, void *y)
{
    (void)op;
    memcpy(y, x, *(const size_t *)data);
    return SPRY_STATUS_OK;
}

/* The same by vectors. */
static spry_status copy(void *data, spry_transpose op, const spry_vector *x, spry_vector *y,
                        void *stream)
{
    (void)data;
    (void)op;
    (void)stream;
    return spry_vector_copy(x, y);
}

/* y = alpha op(A) x + beta y with x and y of each place: the same bits, or it says where they are.
 */
static void check_product(spry_device *d, const spry_operator *op)
{
    spry_context *ctx = d->ctx;
    const spry_type type = spry_operator_type(op);
    const spry_scalar half = {0.5, 0};
    assert_int_equal(spry_operator_rows(op), spry_operator_cols(op));
    for (int scaled = 0; scaled < 2; scaled++) {
        spry_vector *x = numbers(ctx, type, spry_operator_cols(op), 11), *expected = NULL;
        spry_vector *dx = copy_on_device(d, x);
        for (int k = 0; k < 4; k++) {
            spry_vector *begin = numbers(ctx, type, x->n, 12), *y = begin;
            const bool mixed = k == 1 || k == 2;
            if (k >> 1)
                y = copy_on_device(d, begin);
            const spry_vector *from = k & 1 ? dx : x;
            const spry_status status =
                scaled ? spry_operator_multiply(op, SPRY_TRANSPOSE_NO, half, from, half, y)
                       : spry_operator_apply(op, from, y);
            if (k == 0)
                expected = begin;
            if (mixed && status != SPRY_STATUS_OK)
                refused(d, status);
            else
                assert_ok(ctx, status);
            if (status == SPRY_STATUS_OK)
                same(expected, y);
            if (y != begin)
                FREE_ALL(y);
            if (begin != expected)
                FREE_ALL(begin);
        }
        FREE_ALL(x, dx, expected);
    }
}

static void check_operators(spry_device *d, spry_type type)
{
    spry_context *ctx = d->ctx;
    spry_matrix *A = grid(ctx, type), *back = NULL;
    const int64_t n = spry_matrix_rows(A);
    size_t bytes = (size_t)n * spry_type_size(type);
    spry_operator *op[10] = {NULL};
    spry_vector *on_host = NULL, *found = NULL;
    spry_storage storage = SPRY_STORAGE_INIT;
    int count = 0;
    assert_ok(ctx, spry_operator_from_matrix(A, NULL, NULL, &op[count++]));
    assert_ok(ctx, spry_operator_from_matrix(A, NULL, "sell", &op[count++]));
    assert_ok(ctx, spry_precon_new(A, NULL, "jacobi", &op[count++]));
    assert_ok(ctx, spry_operator_update(op[count - 1], A));
    assert_ok(ctx,
              spry_operator_from_function(ctx, type, n, n, true, identity, &bytes, &op[count++]));
    assert_ok(ctx, spry_precon_new(A, NULL, "ilu", &op[count++]));
    assert_ok(ctx,
              spry_operator_from_product(ctx, NULL, type, n, n, true, copy, NULL, &op[count++]));
    const int of_host = count;
    assert_ok(ctx, spry_operator_from_matrix(A, d, "sell", &op[count++]));
    assert_ok(ctx, spry_precon_new(A, d, "jacobi", &op[count++]));
    assert_ok(ctx, spry_precon_for_operator(op[of_host], A, "sai", &op[count++]));
    assert_ok(ctx, spry_operator_from_product(ctx, d, type, n, n, true, copy, NULL, &op[count++]));
    assert_ok(ctx, spry_operator_set_bytes(op[count - 1], 2 * (int64_t)bytes));
    spry_vector *like = NULL; /* which says that vectors are no parts of others */
    assert_ok(ctx, spry_vector_on(d, type, n, NULL, &like));
    assert_ok(ctx, spry_operator_set_ranked(op[count - 1], like));
    spry_vector_free(like);
    for (int k = 0; k < count; k++) {
        assert_ptr_equal(spry_operator_device(op[k]), k < of_host ? NULL : d);
        assert_true(spry_operator_has_transpose(op[k]));
        assert_non_null(spry_operator_name(op[k]));
        check_product(d, op[k]);
    }
    assert_int_equal(spry_operator_bytes(op[1]) > 0, spry_operator_bytes(op[of_host]) > 0);
    assert_ok(ctx, spry_operator_storage(op[of_host], &storage));
    assert_string_equal(storage.format, "sell");
    assert_ok(ctx, spry_operator_to_matrix(op[of_host], &back));
    support_same_arrays(A, back);
    assert_ok(ctx, spry_operator_diagonal(op[of_host], &found));
    assert_ok(ctx, spry_matrix_diagonal(A, &on_host));
    same(on_host, found);
    FREE_ALL(on_host, found);
    spry_matrix_free(back);
    for (int k = 0; k < count; k++)
        spry_operator_free(op[k]);
    spry_matrix_free(A);
}

/* New values of a matrix, from a vector on the device, for what is on either. */
static void check_values(spry_device *d, spry_type type)
{
    spry_context *ctx = d->ctx;
    spry_matrix *A = grid(ctx, type), *B = grid(ctx, type);
    spry_operator *op = NULL, *on_host = NULL;
    spry_vector *values = numbers(ctx, type, spry_matrix_nnz(A), 16),
                *away = copy_on_device(d, values);
    spry_vector *x = numbers(ctx, type, spry_matrix_cols(A), 17), *dx = copy_on_device(d, x);
    spry_vector *y = NULL, *dy = NULL;
    assert_ok(ctx, spry_vector_like(x, x->n, &y));
    assert_ok(ctx, spry_vector_like(dx, x->n, &dy));
    assert_ok(ctx, spry_operator_from_matrix(A, d, "csr", &op));
    assert_true(spry_operator_is_current(op));
    assert_ok(ctx, spry_matrix_set_values_from(A, away));
    assert_ok(ctx, spry_matrix_set_values_from(B, values));
    support_same_arrays(B, A);
    assert_false(spry_operator_is_current(op));
    assert_ok(ctx, spry_operator_update(op, A));
    assert_true(spry_operator_is_current(op));
    assert_ok(ctx, spry_operator_from_matrix(B, NULL, NULL, &on_host));
    assert_ok(ctx, spry_operator_apply(on_host, x, y));
    assert_ok(ctx, spry_operator_apply(op, dx, dy));
    same(y, dy);
    spry_operator_free(op);
    spry_operator_free(on_host);
    FREE_ALL(values, away, x, dx, y, dy);
    spry_matrix_free(A);
    spry_matrix_free(B);
}

/* Operators one after another, and who hears that they and borrowed numbers are gone. */
static void count_release(void *data)
{
    ++*(int *)data;
}

static void check_composed(spry_device *d, spry_type type)
{
    spry_context *ctx = d->ctx;
    spry_matrix *A = grid(ctx, type);
    spry_operator *on_host = NULL, *away = NULL, *twice = NULL, *mixed = NULL;
    const int64_t n = spry_matrix_rows(A);
    int released = 0;
    spry_vector *x = numbers(ctx, type, n, 16), *y = NULL, *z = NULL;
    spry_vector *dx = copy_on_device(d, x), *dz = NULL, *borrowed = NULL;
    assert_ok(ctx, spry_vector_like(x, n, &y));
    assert_ok(ctx, spry_vector_like(x, n, &z));
    assert_ok(ctx, spry_vector_like(dx, n, &dz));
    assert_ok(ctx, spry_operator_from_matrix(A, NULL, NULL, &on_host));
    assert_ok(ctx, spry_operator_from_matrix(A, d, "csr", &away));
    assert_ok(ctx, spry_operator_apply(on_host, x, y));
    assert_ok(ctx, spry_operator_apply(on_host, y, z));
    assert_ok(ctx, spry_operator_compose(away, away, &twice));
    assert_ok(ctx, spry_operator_set_release(twice, count_release, &released));
    assert_ok(ctx, spry_operator_apply(twice, dx, dz));
    same(z, dz);
    refused(d, spry_operator_compose(on_host, away, &mixed));
    assert_null(mixed);
    spry_operator_free(twice);
    assert_int_equal(released, 1);
    assert_ok(ctx, spry_vector_on(d, type, n, spry_vector_handle(dx), &borrowed));
    assert_ok(ctx, spry_vector_set_release(borrowed, count_release, &released));
    same(x, borrowed);
    spry_vector_free(borrowed);
    assert_int_equal(released, 2);
    same(x, dx);
    spry_operator_free(on_host);
    spry_operator_free(away);
    FREE_ALL(x, y, z, dx, dz);
    spry_matrix_free(A);
}

/* C = A B, with blocks of each place. */
static void check_dense(spry_device *d, spry_type type)
{
    enum { COLS = 3 };
    spry_context *ctx = d->ctx;
    spry_matrix *A = grid(ctx, type);
    spry_operator *on_host = NULL, *away = NULL, *other = NULL;
    const int64_t n = spry_matrix_rows(A);
    spry_vector *x = numbers(ctx, type, n * COLS, 13), *y = NULL, *dx = copy_on_device(d, x),
                *dy = NULL;
    assert_ok(ctx, spry_vector_like(x, x->n, &y));
    assert_ok(ctx, spry_vector_like(dx, x->n, &dy));
    assert_ok(ctx, spry_operator_from_matrix(A, NULL, NULL, &on_host));
    assert_ok(ctx, spry_operator_from_matrix(A, d, "csr", &away));
    const spry_dense B = {.rows = n,
                          .cols = COLS,
                          .ld = COLS,
                          .by_rows = true,
                          .data = spry_vector_data(x),
                          .device = NULL};
    const spry_dense C = {.rows = n,
                          .cols = COLS,
                          .ld = COLS,
                          .by_rows = true,
                          .data = spry_vector_data(y),
                          .device = NULL};
    const spry_dense B_away = {.rows = n,
                               .cols = COLS,
                               .ld = COLS,
                               .by_rows = true,
                               .data = spry_vector_handle(dx),
                               .device = d};
    const spry_dense C_away = {.rows = n,
                               .cols = COLS,
                               .ld = COLS,
                               .by_rows = true,
                               .data = spry_vector_handle(dy),
                               .device = d};
    assert_ok(ctx, spry_operator_multiply_dense(on_host, SPRY_TRANSPOSE_NO, one, &B, zero, &C));
    assert_ok(ctx,
              spry_operator_multiply_dense(away, SPRY_TRANSPOSE_NO, one, &B_away, zero, &C_away));
    same(y, dy);
    assert_ok(ctx, spry_vector_fill(y, zero));
    assert_ok(ctx, spry_operator_multiply_dense(away, SPRY_TRANSPOSE_NO, one, &B, zero, &C));
    same(y, dy);
    refused(d,
            spry_operator_multiply_dense(on_host, SPRY_TRANSPOSE_NO, one, &B_away, zero, &C_away));
    refused(d, spry_operator_multiply_dense(away, SPRY_TRANSPOSE_NO, one, &B, zero, &C_away));
    assert_ok(ctx, spry_precon_new(A, d, "jacobi", &other)); /* stores no matrix */
    refused(d, spry_operator_multiply_dense(other, SPRY_TRANSPOSE_NO, one, &B_away, zero, &C_away));
    assert_ok(ctx, spry_operator_multiply_dense(other, SPRY_TRANSPOSE_NO, one, &B, zero, &C));
    spry_operator_free(on_host);
    spry_operator_free(away);
    spry_operator_free(other);
    FREE_ALL(x, y, dx, dy);
    spry_matrix_free(A);
}

/* --- the headers --------------------------------------------------------------------------------
 */

/* A C text without its comments. */
static char *load_text(const char *path)
{
    size_t size = 0;
    char *bytes = files_load(path, &size), *text = calloc(size + 1, 1), *to = text;
    assert_true(bytes && text);
    memcpy(text, bytes, size);
    free(bytes);
    for (const char *p = text; *p; p++) {
        const char *end = p[0] == '/' && p[1] == '*' ? strstr(p + 2, "*/") : NULL;
        if (end)
            p = end + 1;
        else
            *to++ = *p;
    }
    *to = '\0';
    return text;
}

/* Whether a text calls a function. */
static bool calls(const char *text, const char *name)
{
    const size_t length = strlen(name);
    for (const char *p = strstr(text, name); p; p = strstr(p + 1, name))
        if (p[length] == '(' && !isalnum((unsigned char)p[-1]) && p[-1] != '_')
            return true;
    return false;
}

/* Functions of a header that have to do with places, and are called by none of the texts. */
static int find_missing(char *header, char *const *sources, int count)
{
    static const char *const nouns[] = {"spry_vector", "spry_dense", "spry_operator"};
    int missing = 0;
    char *rest = NULL;
    for (char *line = strtok_r(header, ";", &rest); line; line = strtok_r(NULL, ";", &rest)) {
        char *at = strstr(line, "SPRY_API "), name[128];
        char *open = at ? strchr(at, '(') : NULL;
        bool placed = false;
        for (size_t k = 0; open && k < sizeof nouns / sizeof *nouns; k++)
            for (const char *p = strstr(open, nouns[k]); p; p = strstr(p + 1, nouns[k]))
                placed = placed || p[strlen(nouns[k])] == ' ';
        if (!placed)
            continue;
        const char *begin = open;
        while (isalnum((unsigned char)begin[-1]) || begin[-1] == '_')
            begin--;
        snprintf(name, sizeof name, "%.*s", (int)(open - begin), begin);
        bool called = false;
        for (int k = 0; k < count; k++)
            called = called || calls(sources[k], name);
        if (!called) {
            print_error("%s() is not called with vectors of a device\n", name);
            missing++;
        }
    }
    return missing;
}

static void all_are_called(spry_context *ctx, spry_device *d)
{
    static const char folder[] = SPRY_SOURCE_FOLDER "/include/spry";
    enum { SOURCES = 3 };
    char *sources[SOURCES] = {load_text(SPRY_SOURCE_FOLDER "/tests/device/places.c"),
                              load_text(SPRY_SOURCE_FOLDER "/tests/device/places_solves.c"),
                              load_text(SPRY_SOURCE_FOLDER "/tests/support/places.h")};
    int missing = 0, headers = 0;
    DIR *all = opendir(folder);
    (void)ctx;
    (void)d;
    assert_non_null(all);
    for (const struct dirent *e = readdir(all); e; e = readdir(all)) {
        char path[512];
        if (!strstr(e->d_name, ".h"))
            continue;
        snprintf(path, sizeof path, "%s/%s", folder, e->d_name);
        char *header = load_text(path);
        missing += find_missing(header, sources, SOURCES);
        headers++;
        free(header);
    }
    closedir(all);
    for (int k = 0; k < SOURCES; k++)
        free(sources[k]);
    assert_int_equal(missing, 0);
    assert_true(headers > 10);
}

/* --- the tests ----------------------------------------------------------------------------------
 */

static void vectors(spry_context *ctx, spry_device *d)
{
    (void)ctx;
    for (int t = 0; t < TYPES; t++) {
        check_elements(d, types[t]);
        check_kernels(d, types[t]);
        check_orders(d, types[t]);
        check_files(d, types[t]);
        check_redistributed(d, types[t]);
        check_sharing(d, types[t]);
    }
}

static void matrices(spry_context *ctx, spry_device *d)
{
    for (int t = 0; t < TYPES; t++) {
        check_scale(d, types[t], SPRY_SYMMETRY_GENERAL);
        check_scale(d, types[t], SPRY_SYMMETRY_SYMMETRIC);
        check_diagnose(d, types[t]);
        check_made(ctx, types[t]);
        check_near_null(d, types[t]);
    }
    check_scale(d, SPRY_TYPE_C, SPRY_SYMMETRY_HERMITIAN);
}

/* Fields are the host's; files and coefficients take those of devices. */
static void fields(spry_context *ctx, spry_device *d)
{
    static const char *const names[] = {"k"};
    spry_grid *grid;
    spry_vector *k, *f;
    spry_operator *A, *B;
    spry_halo *halo;
    assert_ok(ctx, spry_grid_new(ctx, "6x5 boundary=neumann", &grid));
    assert_ok(ctx, spry_field_absorb(grid, SPRY_TYPE_D, NULL, &f));
    spry_vector_free(f);
    assert_ok(ctx, spry_field_new(grid, SPRY_TYPE_D, true, NULL, NULL, &f));
    assert_ok(ctx, spry_vector_fill(f, (spry_scalar){2, 0}));
    k = copy_on_device(d, f);
    assert_ok(ctx,
              spry_operator_stencil(grid, "k", NULL, 1, names, (const spry_vector *[]){f}, &A));
    assert_ok(ctx,
              spry_operator_stencil(grid, "k", NULL, 1, names, (const spry_vector *[]){k}, &B));
    spry_vector *x = numbers(ctx, SPRY_TYPE_D, 42, 1), *y, *z;
    assert_ok(ctx, spry_vector_like(x, 42, &y));
    assert_ok(ctx, spry_vector_like(x, 42, &z));
    assert_ok(ctx, spry_operator_apply(A, x, y));
    assert_ok(ctx, spry_operator_apply(B, x, z));
    assert_memory_equal(spry_vector_data(y), spry_vector_data(z), 42 * sizeof(double));
    refused(d, spry_stencil_rhs(A, NULL, NULL, NULL, k));
    assert_ok(ctx, spry_halo_new(grid, SPRY_TYPE_D, (const int64_t[]){1, 1, 0}, &halo));
    assert_ok(ctx, spry_halo_exchange(halo, x, y));
    assert_memory_equal(spry_vector_data(x), spry_vector_data(y), 42 * sizeof(double));
    refused(d, spry_halo_exchange(halo, k, y));
    spry_halo_free(halo);
    /* k2 may be on the device, waves are made on the host */
    spry_operator *C, *D;
    spry_vector *wave;
    assert_ok(ctx, spry_operator_helmholtz(grid, f, "type=d", &C, NULL));
    assert_ok(ctx, spry_operator_helmholtz(grid, k, "type=d", &D, NULL));
    assert_ok(ctx, spry_operator_apply(C, x, y));
    assert_ok(ctx, spry_operator_apply(D, x, z));
    assert_memory_equal(spry_vector_data(y), spry_vector_data(z), 42 * sizeof(double));
    spry_operator_free(C);
    spry_operator_free(D);
    assert_ok(ctx, spry_field_wave(grid, SPRY_TYPE_Z, true, "k=3", &wave));
    spry_vector_free(wave);
    spry_bounded *bounded;
    assert_ok(ctx, spry_bounded_new(A, NULL, &bounded));
    refused(d, spry_bounded_solve(bounded, k, y, z, NULL, NULL));
    spry_bounded_free(bounded);
    const char *path = files_path("field.npy");
    assert_ok(ctx, spry_field_write(grid, k, path, NULL));
    spry_vector *w;
    int64_t cols;
    assert_ok(ctx, spry_columns_read(ctx, path, NULL, &w, &cols));
    assert_int_equal(cols, 7);
    spry_vector_free(w);
    spry_vector *all[] = {k, f, x, y, z};
    for (int i = 0; i < 5; i++)
        spry_vector_free(all[i]);
    spry_operator_free(A);
    spry_operator_free(B);
    spry_grid_free(grid);
}

/* Media are taken from anywhere; what a solver of the host is to solve has to be there. */
static void waves(spry_context *ctx, spry_device *d)
{
    spry_grid *grid;
    spry_operator *F;
    spry_wave *wave, *other;
    assert_ok(ctx, spry_grid_new(ctx, "6x5 box=0:6,0:5 boundary=neumann", &grid));
    spry_vector *k2 = numbers(ctx, SPRY_TYPE_D, 1, 1);
    assert_ok(ctx, spry_vector_fill(k2, (spry_scalar){0.5, 0}));
    spry_vector *dk2 = copy_on_device(d, k2), *f = numbers(ctx, SPRY_TYPE_Z, 42, 2),
                *df = copy_on_device(d, f);
    spry_vector *u = numbers(ctx, SPRY_TYPE_Z, 42, 3), *v = numbers(ctx, SPRY_TYPE_Z, 42, 4);
    assert_ok(ctx, spry_wave_new(grid, k2, "layer=4", &wave));
    assert_ok(ctx, spry_wave_new(grid, dk2, "layer=4", &other));
    assert_ok(ctx, spry_wave_set_medium(other, dk2));
    assert_ok(ctx, spry_wave_solve(wave, f, u, NULL));
    assert_ok(ctx, spry_wave_solve(other, f, v, NULL));
    same(u, v);
    refused(d, spry_wave_solve(wave, df, u, NULL));
    refused(
        d, spry_wave_solve_many(wave, SPRY_TRANSPOSE_NO, 1, (const spry_vector *[]){f}, &df, NULL));
    assert_ok(ctx, spry_operator_fourier(grid, NULL, &F));
    assert_ok(ctx, spry_operator_apply(F, f, u));
    assert_ok(ctx, spry_operator_apply(F, df, v));
    same(u, v);
    spry_operator_free(F);
    spry_wave_free(wave);
    spry_wave_free(other);
    FREE_ALL(k2, dk2, f, df, u, v);
    spry_grid_free(grid);
}

/* Powers are made on the host. */
static void powers(spry_context *ctx, spry_device *d)
{
    static const spry_scalar shift = {1, 0};
    const char *const file = files_path("powers.spry");
    spry_matrix *A;
    spry_powers *p, *opened;
    spry_powers_info info = SPRY_POWERS_INFO_INIT;
    spry_operator *op;
    assert_ok(ctx, spry_generate(ctx, "poisson2d", "size=5", &A));
    assert_ok(ctx, spry_matrix_write(A, file));
    spry_vector *x = numbers(ctx, SPRY_TYPE_D, 25, 1), *y = numbers(ctx, SPRY_TYPE_D, 25, 2);
    spry_vector *dx = copy_on_device(d, x), *dy = copy_on_device(d, y);
    assert_ok(ctx, spry_powers_new(A, "k=1 basis=newton", &p));
    assert_ok(ctx, spry_powers_set_shifts(p, 1, &shift));
    assert_ok(ctx, spry_powers_apply(p, x, &y));
    refused(d, spry_powers_apply(p, dx, &y));
    refused(d, spry_powers_apply(p, x, &dy));
    assert_ok(ctx, spry_powers_forecast(p, &info));
    char on_device_too[64];
    snprintf(on_device_too, sizeof on_device_too, "k=1 basis=newton device=%s",
             spry_device_name(d));
    spry_powers *on_device;
    assert_ok(ctx, spry_powers_new(A, on_device_too, &on_device));
    assert_ok(ctx, spry_powers_set_shifts(on_device, 1, &shift));
    assert_ok(ctx, spry_powers_apply(on_device, dx, &dy));
    same(y, dy);
    assert_status(ctx, SPRY_STATUS_BAD_USAGE, spry_powers_apply(on_device, x, &dy));
    spry_powers_free(on_device);
    assert_ok(ctx, spry_powers_open(ctx, file, "k=1", &opened));
    assert_ok(ctx, spry_powers_operator(opened, &op));
    assert_ok(ctx, spry_operator_apply(op, x, y));
    assert_ok(ctx, spry_operator_apply(op, dx, dy));
    same(y, dy);
    spry_operator_free(op);
    spry_powers_free(opened);
    spry_powers_free(p);
    FREE_ALL(x, y, dx, dy);
    spry_matrix_free(A);
}

static void operators(spry_context *ctx, spry_device *d)
{
    (void)ctx;
    for (int t = 0; t < TYPES; t++) {
        check_operators(d, types[t]);
        check_values(d, types[t]);
        check_composed(d, types[t]);
        check_dense(d, types[t]);
    }
}

int main(void)
{
    static const devices_test tests[] = {DEVICES_TEST(vectors),       DEVICES_TEST(matrices),
                                         DEVICES_TEST(operators),     DEVICES_TEST(fields),
                                         DEVICES_TEST(waves),         DEVICES_TEST(powers),
                                         DEVICES_TEST(all_are_called)};
    return DEVICES_RUN(tests);
}
