/*
 * A matrix that is never stored, on a device: the 7-point Laplacian on a cube as a kernel of one's
 * own, in a solve by conjugate gradients that never leaves the device; compared with the same
 * matrix in format crf, which stores its constant diagonals as numbers. One text runs on CUDA and
 * OpenCL.
 *
 *     stencil [SIDE [DEVICE [DEPTH]]]      stencil 256 cuda
 *
 * A product must read x and write y, once each: 16 bytes per row in double. Work-items stand side
 * by side in x and y and march DEPTH planes along z: of the seven numbers of a row, that one above
 * comes from memory, the two below it are in registers since the last plane, and the four next to
 * it are in the cache, since neighbours have just read them.
 */
#include <spry/spry.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char text[] =
    "SP_KERNEL laplacian(const int nx, const int ny, const int nz,\n"
    "                    SP_GLOBAL const scalar *SP_RESTRICT x, SP_GLOBAL scalar *SP_RESTRICT y)\n"
    "{\n"
    "    const int i = (int)SP_GLOBAL_ID_0, j = (int)SP_GLOBAL_ID_1;\n"
    "    const int first = (int)SP_GLOBAL_ID_2 * DEPTH;\n"
    "    if (i >= nx || j >= ny)\n"
    "        return;\n"
    "    const offset plane = (offset)nx * ny;\n"
    "    offset at = first * plane + (offset)j * nx + i;\n"
    "    scalar below = first > 0 ? sp_often(x + at - plane) : SP_ZERO;\n"
    "    scalar here = first < nz ? sp_often(x + at) : SP_ZERO;\n"
    "    SP_UNROLL\n"
    "    for (int step = 0; step < DEPTH; step++) {\n"
    "        const int k = first + step;\n"
    "        if (k < nz) {\n"
    "            const scalar above = k + 1 < nz ? sp_often(x + at + plane) : SP_ZERO;\n"
    "            scalar sum = 6 * here - below - above;\n"
    "            if (i > 0)\n"
    "                sum -= sp_often(x + at - 1);\n"
    "            if (i + 1 < nx)\n"
    "                sum -= sp_often(x + at + 1);\n"
    "            if (j > 0)\n"
    "                sum -= sp_often(x + at - nx);\n"
    "            if (j + 1 < ny)\n"
    "                sum -= sp_often(x + at + nx);\n"
    "            y[at] = sum;\n"
    "            below = here;\n"
    "            here = above;\n"
    "            at += plane;\n"
    "        }\n"
    "    }\n"
    "}\n";

typedef struct laplacian {
    spry_kernel *kernel;
    int64_t range[3]; /* work-items */
} laplacian;

/* y = A x: sets the vectors and launches; it does not wait. */
static spry_status multiply(void *data, spry_transpose op, const spry_vector *x, spry_vector *y,
                            void *stream)
{
    const laplacian *l = data;
    spry_status status = spry_kernel_set_input(l->kernel, "x", x);
    (void)op;     /* symmetric */
    (void)stream; /* the kernel knows it; a launch by other means would go there */
    if (status == SPRY_STATUS_OK)
        status = spry_kernel_set_vector(l->kernel, "y", y);
    if (status == SPRY_STATUS_OK)
        status = spry_kernel_launch(l->kernel, 3, l->range);
    return status;
}

/* --- around it ----------------------------------------------------------------------------------
 */

static spry_context *ctx;

/* Ends the program where a call failed. */
static void must(spry_status status)
{
    if (status == SPRY_STATUS_OK)
        return;
    fprintf(stderr, "%s\n", spry_message(ctx));
    exit(1);
}

/* The device that was asked for, or the first there is. */
static spry_device *open_device(const char *name)
{
    enum { SKIPPED = 77 };
    spry_device *device = NULL;
    if (name)
        must(spry_device_open(ctx, name, &device));
    else if (spry_device_open(ctx, "cuda", &device) != SPRY_STATUS_OK &&
             spry_device_open(ctx, "opencl", &device) != SPRY_STATUS_OK) {
        printf("needs a device: a GPU with CUDA or OpenCL, or PoCL, which makes one of the "
               "processor\n%s\n",
               spry_message(ctx));
        spry_context_free(ctx);
        exit(SKIPPED);
    }
    return device;
}

static spry_operator *make_laplacian(spry_device *device, int64_t side, int depth, laplacian *l)
{
    char options[64];
    spry_operator *A = NULL;
    const int64_t rows = side * side * side;
    snprintf(options, sizeof options, "type=d group=64x4x1 define=DEPTH=%d", depth);
    must(spry_kernel_new(device, text, "laplacian", options, &l->kernel));
    must(spry_kernel_set_int(l->kernel, "nx", side));
    must(spry_kernel_set_int(l->kernel, "ny", side));
    must(spry_kernel_set_int(l->kernel, "nz", side));
    l->range[0] = l->range[1] = side;
    l->range[2] = (side + depth - 1) / depth;
    must(spry_operator_from_product(ctx, device, SPRY_TYPE_D, rows, rows, true, multiply, l, &A));
    must(spry_operator_set_bytes(A, 16 * rows));
    return A;
}

/* The fastest of several rounds of products, in seconds each, by the device's own clock. */
static double time_products(spry_device *device, const spry_operator *A, const spry_vector *x,
                            spry_vector *y)
{
    enum { ROUNDS = 5 };
    double best = 0, seconds;
    int count = 1;
    for (int round = 0; round <= ROUNDS; round++) {
        must(spry_device_mark(device));
        for (int k = 0; k < count; k++)
            must(spry_operator_apply(A, x, y));
        must(spry_device_elapsed(device, &seconds));
        seconds /= count;
        if (round > 0 && (best == 0 || seconds < best))
            best = seconds;
        if (round == 0) /* which also compiles; then 20 ms or so a round */
            count = seconds < 2e-4 ? 100 : seconds < 2e-2 ? (int)(2e-2 / seconds) : 1;
    }
    return best;
}

/* What an operator comes to, in a line. */
typedef struct outcome {
    double product, iteration, residual;
    int64_t iterations;
} outcome;

static outcome measure(spry_device *device, const spry_operator *A, const char *name, double read,
                       const spry_vector *b, spry_vector *x)
{
    spry_solver *solver = NULL;
    spry_vector *y = NULL;
    spry_result result = SPRY_RESULT_INIT;
    outcome o;
    must(spry_vector_like(b, spry_vector_size(b), &y));
    must(spry_solver_new(ctx, &solver));
    must(spry_solver_set(solver, "method=cg tol=1e-8"));
    must(spry_solver_set_operator(solver, A));
    for (int k = 0; k < 2; k++) { /* the second finds all compiled */
        spry_result_clear(ctx, &result);
        must(spry_vector_fill(x, (spry_scalar){0, 0}));
        must(spry_solve(solver, b, x, &result));
    }
    o.product = time_products(device, A, b, y);
    o.iterations = result.iterations;
    o.iteration = result.solve_seconds / (double)(result.iterations > 0 ? result.iterations : 1);
    o.residual = result.converged ? result.true_residual : 1;
    printf("%-10s %10d %14.2e %14.4f %12.4f %8.1f %8.2f\n", name, (int)o.iterations,
           result.true_residual, 1e3 * o.iteration, 1e3 * o.product,
           (double)spry_operator_bytes(A) / 1e6, (double)spry_operator_bytes(A) / o.product / read);
    spry_result_clear(ctx, &result);
    spry_solver_free(solver);
    spry_vector_free(y);
    return o;
}

/* |A x - B x| / (|A| |x|): rows have the magnitudes 6 and six times 1. */
static double compare(const spry_operator *A, const spry_operator *B, const spry_vector *x)
{
    spry_vector *y = NULL, *z = NULL;
    double difference, norm;
    must(spry_vector_like(x, spry_vector_size(x), &y));
    must(spry_vector_like(x, spry_vector_size(x), &z));
    must(spry_operator_apply(A, x, y));
    must(spry_operator_apply(B, x, z));
    must(spry_vector_norm(x, &norm));
    must(spry_vector_axpy((spry_scalar){-1, 0}, y, z));
    must(spry_vector_norm(z, &difference));
    spry_vector_free(y);
    spry_vector_free(z);
    return difference / (12 * norm);
}

int main(int argc, char **argv)
{
    const int64_t side = argc > 1 ? atoi(argv[1]) : 30;
    const int depth = argc > 3 ? atoi(argv[3]) : 8;
    char options[32];
    laplacian l = {0};
    spry_bandwidth bandwidth = SPRY_BANDWIDTH_INIT;
    spry_matrix *matrix = NULL;
    spry_operator *stored = NULL;
    spry_vector *b = NULL, *x = NULL;
    if (side < 1 || side > 1200 || depth < 1 || depth > 64) {
        fprintf(stderr, "usage: stencil [SIDE [DEVICE [DEPTH]]], SIDE 1 to 1200, DEPTH 1 to 64\n");
        return 2;
    }
    if (spry_context_new(NULL, &ctx) != SPRY_STATUS_OK)
        return 1;
    spry_device *device = open_device(argc > 2 ? argv[2] : NULL);
    must(spry_device_bandwidth(ctx, spry_device_name(device), false, &bandwidth));
    spry_operator *A = make_laplacian(device, side, depth, &l);
    snprintf(options, sizeof options, "size=%d", (int)side);
    must(spry_generate(ctx, "poisson3d", options, &matrix));
    must(spry_operator_from_matrix(matrix, device, "crf", &stored));
    must(spry_vector_on(device, SPRY_TYPE_D, side * side * side, NULL, &b));
    must(spry_vector_like(b, spry_vector_size(b), &x));
    must(spry_vector_fill(b, (spry_scalar){1, 0}));

    printf("%s, read at %.1f GB/s; %lld unknowns (%d^3), double, groups of 64 x 4, depth %d\n",
           spry_device_name(device), bandwidth.read / 1e9, (long long)spry_vector_size(b),
           (int)side, depth);
    printf("%-10s %10s %14s %14s %12s %8s %8s\n", "", "iterations", "true residual", "ms/iteration",
           "ms/product", "MB", "of read");
    const outcome crf = measure(device, stored, "crf", bandwidth.read, b, x);
    const outcome own = measure(device, A, "kernel", bandwidth.read, b, x);
    const double difference = compare(stored, A, x);
    printf("crf / kernel: product %.2f, iteration %.2f; products differ by %.1e\n",
           crf.product / own.product, crf.iteration / own.iteration, difference);

    /* Sums of seven numbers, rounded seven times each, in two orders; and both solve the system. */
    const bool good = difference <= 14 * 1.2e-16 && own.residual <= 1e-8 && crf.residual <= 1e-8;
    spry_operator_free(A);
    spry_operator_free(stored);
    spry_matrix_free(matrix);
    spry_kernel_free(l.kernel);
    spry_vector_free(b);
    spry_vector_free(x);
    spry_context_free(ctx);
    return good ? 0 : 1;
}
