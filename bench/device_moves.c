/*
 * What moves to a device and within it costs, in products:
 *
 *     bench_device_moves [device]
 *
 * Conversion: CSR arrays are copied to the device, and become those of other formats on it. Dense
 * blocks: C = A B with B and C on the host ("whole"), compared with the product alone, with both on
 * the device, and the copies alone, which is the same product with an identity in A's place. Where
 * copies and products overlap, the whole takes less than the sum of both.
 */
#include "formats/shared/device_layout.h"
#include "formats/shared/device_make.h"
#include "peers/device_spry.h"
#include "peers/peer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROUNDS = 7, COLUMNS = 64 };

static spry_context *ctx;
static spry_device *device;

typedef struct conversion {
    device_matrix *from;
    const char *spec;
    bool made;
} conversion;

static void convert(void *data)
{
    conversion *c = data;
    device_layout *D = NULL;
    if (device_layout_make(c->from, true, c->spec, &c->made, &D) != SPRY_STATUS_OK)
        c->made = false;
    device_layout_free(D);
}

/* CSR to the device, from the caller's arrays. */
static void bring(void *data)
{
    device_matrix copied;
    peer_need(ctx, device_matrix_put_csr(device, data, &copied));
    device_matrix_free(&copied);
}

/* What the bus gives: pinned memory, copied over. */
typedef struct copying {
    void *pinned;
    device_memory *on_device;
    int64_t bytes;
} copying;

static void copy(void *data)
{
    const copying *c = data;
    peer_need(ctx, device_put(c->on_device, 0, c->pinned, c->bytes));
}

static double bus_speed(void)
{
    copying c = {.bytes = (int64_t)256 << 20};
    peer_need(ctx, device_pinned_alloc(device, c.bytes, &c.pinned));
    memset(c.pinned, 1, (size_t)c.bytes);
    peer_need(ctx, device_alloc(device, c.bytes, &c.on_device));
    const double time = device_spry_median(ctx, device, ROUNDS, copy, &c);
    device_free(c.on_device);
    device_pinned_free(device, c.pinned);
    return (double)c.bytes / time;
}

typedef struct product {
    const spry_operator *op;
    spry_vector *x, *y;
    spry_dense B, C;
} product;

static void multiply(void *data)
{
    const product *p = data;
    peer_need(ctx, spry_operator_apply(p->op, p->x, p->y));
}

static void multiply_dense(void *data)
{
    const product *p = data;
    peer_need(ctx, spry_operator_multiply_dense(p->op, SPRY_TRANSPOSE_NO, (spry_scalar){1, 0},
                                                &p->B, (spry_scalar){0, 0}, &p->C));
}

static void run_conversion(const char *name)
{
    static const char *const specs[] = {"csr",
                                        "csr16",
                                        "merge:items=2048",
                                        "ell",
                                        "ellr",
                                        "ellr-t:T=4,BS=256",
                                        "hyb",
                                        "dia:block=128",
                                        "bsr",
                                        "sell:C=32",
                                        "sell:C=32,sigma=256",
                                        "sell:C=32,sigma=4096",
                                        "sell16:C=32",
                                        "sell16:C=32,sigma=256"};
    spry_matrix *A = peer_matrix(ctx, name);
    const matrix_arrays *a = &A->a;
    device_matrix from;
    product p = {0};
    spry_operator *op;
    peer_need(ctx, device_matrix_put_csr(device, a, &from));
    peer_need(ctx, spry_operator_from_matrix(A, device, "csr", &op));
    p.op = op;
    peer_need(ctx, spry_vector_on(device, a->type, a->cols, NULL, &p.x));
    peer_need(ctx, spry_vector_on(device, a->type, a->rows, NULL, &p.y));
    const double one = device_spry_median(ctx, device, ROUNDS, multiply, &p);
    const double put = device_spry_median(ctx, device, ROUNDS, bring, (void *)(uintptr_t)a);
    const double bytes = (double)a->nnz * 12 + (double)a->rows * 8, bus = bus_speed();
    printf("%-30s a product with csr %9.1f us; CSR copied in %9.1f us, %.1f GB/s, %.2f of what "
           "the bus gives\n",
           name, one * 1e6, put * 1e6, bytes / put / 1e9, bytes / put / bus);
    for (size_t k = 0; k < sizeof specs / sizeof *specs; k++) {
        conversion c = {&from, specs[k], false};
        const double time = device_spry_median(ctx, device, ROUNDS, convert, &c);
        if (c.made)
            printf("%-30s CSR to %-22s %9.1f us: %5.1f products\n", name, specs[k], time * 1e6,
                   time / one);
    }
    fflush(stdout);
    spry_vector_free(p.x);
    spry_vector_free(p.y);
    spry_operator_free(op);
    device_matrix_free(&from);
    spry_matrix_free(A);
}

static spry_dense block(int64_t rows, void *data, spry_device *where)
{
    return (spry_dense){.rows = rows,
                        .cols = COLUMNS,
                        .ld = COLUMNS,
                        .by_rows = true,
                        .data = data,
                        .device = where};
}

static spry_matrix *make_identity(int64_t n)
{
    matrix_arrays a = {
        .format = SPRY_FORMAT_CSR, .type = SPRY_TYPE_D, .rows = n, .cols = n, .nnz = n};
    spry_matrix *I;
    peer_need(ctx, matrix_allocate(ctx, &a));
    for (int64_t i = 0; i < n; i++) {
        a.offsets[i + 1] = i + 1;
        a.col_index[i] = (int32_t)i;
        ((double *)a.values)[i] = 1;
    }
    a.offsets[0] = 0;
    peer_need(ctx, matrix_wrap(ctx, &a, &I));
    return I;
}

static void run_dense(const char *name)
{
    spry_matrix *A = peer_matrix(ctx, name), *I = make_identity(A->a.rows);
    const int64_t n = A->a.rows, bytes = n * COLUMNS * 8;
    spry_operator *op = NULL, *identity = NULL;
    peer_need(ctx, spry_operator_from_matrix(A, device, "sell", &op));
    peer_need(ctx, spry_operator_from_matrix(I, device, "sell", &identity));
    double *B = calloc((size_t)(n * COLUMNS), 8), *C = calloc((size_t)(n * COLUMNS), 8);
    if (!B || !C)
        exit(1);
    device_memory *on_device[2];
    peer_need(ctx, device_alloc(device, bytes, &on_device[0]));
    peer_need(ctx, device_alloc(device, bytes, &on_device[1]));
    product whole = {.op = op, .B = block(n, B, NULL), .C = block(n, C, NULL)};
    product copies = {.op = identity, .B = block(n, B, NULL), .C = block(n, C, NULL)};
    product alone = {.op = op,
                     .B = block(n, device_address(on_device[0]), device),
                     .C = block(n, device_address(on_device[1]), device)};
    const double t = device_spry_median(ctx, device, ROUNDS, multiply_dense, &whole),
                 c = device_spry_median(ctx, device, ROUNDS, multiply_dense, &copies),
                 p = device_spry_median(ctx, device, ROUNDS, multiply_dense, &alone);
    printf("%-30s %d columns of the host's: whole %8.2f ms, copies %8.2f (%.1f GB/s), product "
           "%8.2f; whole / "
           "(copies + product) %.3f\n",
           name, COLUMNS, t * 1e3, c * 1e3, 2 * (double)bytes / c / 1e9, p * 1e3, t / (c + p));
    fflush(stdout);
    free(B);
    free(C);
    device_free(on_device[0]);
    device_free(on_device[1]);
    spry_operator_free(op);
    spry_operator_free(identity);
    spry_matrix_free(A);
    spry_matrix_free(I);
}

int main(int argc, char **argv)
{
    if (spry_context_new(NULL, &ctx) != SPRY_STATUS_OK)
        return 1;
    peer_need(ctx, spry_device_open(ctx, argc > 1 ? argv[1] : "cuda:0", &device));
    run_conversion("poisson3d:size=256,points=7");
    run_conversion("poisson3d:size=160,points=27");
    run_conversion("random:size=4000000");
    run_dense("poisson3d:size=100,points=27");
    run_dense("elasticity:size=48");
    spry_context_free(ctx);
    return 0;
}
