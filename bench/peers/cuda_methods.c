/* Conjugate gradients, BiCGStab and GMRES over cuSPARSE and cuBLAS. */
#include "cuda_methods.h"

#include <math.h>
#include <nvrtc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The few scalar steps between calls of cuBLAS. */
static const char kernels[] =
    "extern \"C\" __global__ void quotient(const double *a, const double *b, double *q,\n"
    "                                    double *minus)\n"
    "{ *q = *a / *b; *minus = -*q; }\n"
    "extern \"C\" __global__ void next_cg(double *rho, const double *rr, double *beta)\n"
    "{ *beta = *rr / *rho; *rho = *rr; }\n"
    "extern \"C\" __global__ void next_bicgstab(double *rho, const double *rho1,\n"
    "                                         const double *alpha, const double *omega,\n"
    "                                         double *beta)\n"
    "{ *beta = *rho1 / *rho * (*alpha / *omega); *rho = *rho1; }\n"
    "extern \"C\" __global__ void root(const double *square, double *norm, double *inverse)\n"
    "{ *norm = sqrt(*square); *inverse = 1 / *norm; }\n";

/* Scalars on the device, by place. */
enum {
    ONE,
    MINUS_ONE,
    ZERO,
    RHO,
    RHO1,
    ALPHA,
    MINUS_ALPHA,
    BETA,
    OMEGA,
    MINUS_OMEGA,
    TOP,
    BOTTOM,
    RR,
    NORM,
    INVERSE,
    SCALARS
};
/* A column of H as it comes from the device: both passes of Gram-Schmidt, then the norm. */
enum { SIDE = CUDA_RESTART + 1, COLUMN = 2 * SIDE + 1 };

struct cuda_solver {
    cuda_matrix *A;
    cuda_peers *peers;
    cuda_method method;
    int n;
    const double *b_host;
    double *b, *x, *r, *p, *q, *shadow, *t; /* q is v of BiCGStab */
    double *V, *columns;                    /* GMRES: the basis, COLUMN numbers per step */
    double *scalars;
    double *seen; /* pinned: what the host reads */
    double *y;    /* the coefficients of a cycle, on the device */
    cudaLibrary_t library;
    cudaKernel_t quotient, next_cg, next_bicgstab, root;
    cudaGraphExec_t graph;
    bool by_geam, by_gemm; /* which of cuBLAS's functions were faster here */
    double norm, residual; /* of b, and |r| when last looked at */
    int iterations;
};

static double *scalar(const cuda_solver *s, int place)
{
    return s->scalars + place;
}

/* --- scalar steps ------------------------------------------------------------------------------*/

static cudaKernel_t kernel(const cuda_solver *s, const char *name)
{
    cudaKernel_t found;
    CUDA_MUST(cudaLibraryGetKernel(&found, s->library, name));
    return found;
}

static void compile(cuda_solver *s)
{
    struct cudaDeviceProp about;
    char target[32];
    const char *options[] = {target};
    nvrtcProgram program;
    size_t size = 0;
    CUDA_MUST(cudaGetDeviceProperties(&about, 0));
    snprintf(target, sizeof target, "-arch=sm_%d%d", about.major, about.minor);
    CUDA_MUST(nvrtcCreateProgram(&program, kernels, "steps.cu", 0, NULL, NULL));
    CUDA_MUST(nvrtcCompileProgram(program, 1, options));
    CUDA_MUST(nvrtcGetCUBINSize(program, &size));
    char *binary = malloc(size);
    if (!binary)
        peer_refuse("out of memory");
    CUDA_MUST(nvrtcGetCUBIN(program, binary));
    CUDA_MUST(cudaLibraryLoadData(&s->library, binary, NULL, NULL, 0, NULL, NULL, 0));
    CUDA_MUST(nvrtcDestroyProgram(&program));
    free(binary);
    s->quotient = kernel(s, "quotient");
    s->next_cg = kernel(s, "next_cg");
    s->next_bicgstab = kernel(s, "next_bicgstab");
    s->root = kernel(s, "root");
}

static void step(const cuda_solver *s, cudaKernel_t f, void **args)
{
    const dim3 one = {1, 1, 1};
    CUDA_MUST(cudaLaunchKernel((const void *)f, one, one, args, 0, s->peers->stream));
}

/* q = a / b, and -q */
static void divide(const cuda_solver *s, int a, int b, int q, int minus)
{
    double *at[] = {scalar(s, a), scalar(s, b), scalar(s, q), scalar(s, minus)};
    step(s, s->quotient, (void *[]){&at[0], &at[1], &at[2], &at[3]});
}

/* norm = sqrt(RR), and its inverse */
static void take_root(const cuda_solver *s, double *norm)
{
    double *at[] = {scalar(s, RR), norm, scalar(s, INVERSE)};
    step(s, s->root, (void *[]){&at[0], &at[1], &at[2]});
}

/* --- vectors -----------------------------------------------------------------------------------*/

static void dot(const cuda_solver *s, const double *x, const double *y, int place)
{
    CUDA_MUST(cublasDdot(s->peers->blas, s->n, x, 1, y, 1, scalar(s, place)));
}

static void axpy(const cuda_solver *s, int place, const double *x, double *y)
{
    CUDA_MUST(cublasDaxpy(s->peers->blas, s->n, scalar(s, place), x, 1, y, 1));
}

/* p = r + beta p: as a sum of matrices with one column, or in two passes. */
static void combine(const cuda_solver *s, const double *r, double *p)
{
    if (s->by_geam)
        CUDA_MUST(cublasDgeam(s->peers->blas, CUBLAS_OP_N, CUBLAS_OP_N, s->n, 1, scalar(s, ONE), r,
                              s->n, scalar(s, BETA), p, s->n, p, s->n));
    else {
        CUDA_MUST(cublasDscal(s->peers->blas, s->n, scalar(s, BETA), p, 1));
        axpy(s, ONE, r, p);
    }
}

static void copy(const cuda_solver *s, const double *x, double *y)
{
    CUDA_MUST(cudaMemcpyAsync(y, x, (size_t)s->n * sizeof *x, cudaMemcpyDeviceToDevice,
                              s->peers->stream));
}

/* count numbers of the device, once all before is done */
static void look(const cuda_solver *s, const double *from, size_t count)
{
    CUDA_MUST(cudaMemcpyAsync(s->seen, from, count * sizeof *from, cudaMemcpyDeviceToHost,
                              s->peers->stream));
    cuda_peers_finish(s->peers);
}

/* h = V^T w for the first `count` of the basis */
static void project(const cuda_solver *s, int count, const double *w, double *h)
{
    const double *one = scalar(s, ONE), *zero = scalar(s, ZERO);
    if (s->by_gemm)
        CUDA_MUST(cublasDgemm(s->peers->blas, CUBLAS_OP_T, CUBLAS_OP_N, count, 1, s->n, one, s->V,
                              s->n, w, s->n, zero, h, count));
    else
        CUDA_MUST(cublasDgemv(s->peers->blas, CUBLAS_OP_T, s->n, count, one, s->V, s->n, w, 1, zero,
                              h, 1));
}

/* w = w + sign V h */
static void add_basis(const cuda_solver *s, int count, int sign, const double *h, double *w)
{
    CUDA_MUST(cublasDgemv(s->peers->blas, CUBLAS_OP_N, s->n, count, scalar(s, sign), s->V, s->n, h,
                          1, scalar(s, ONE), w, 1));
}

/* --- conjugate gradients -----------------------------------------------------------------------*/

static void start_cg(cuda_solver *s)
{
    copy(s, s->r, s->p);
    dot(s, s->r, s->r, RHO);
}

static void iterate_cg(cuda_solver *s)
{
    double *next[] = {scalar(s, RHO), scalar(s, RR), scalar(s, BETA)};
    cuda_spmv(s->A, 1, s->p, 0, s->q);
    dot(s, s->p, s->q, BOTTOM);
    divide(s, RHO, BOTTOM, ALPHA, MINUS_ALPHA);
    axpy(s, ALPHA, s->p, s->x);
    axpy(s, MINUS_ALPHA, s->q, s->r);
    dot(s, s->r, s->r, RR);
    step(s, s->next_cg, (void *[]){&next[0], &next[1], &next[2]});
    combine(s, s->r, s->p);
}

/* --- BiCGStab ----------------------------------------------------------------------------------*/

static void start_bicgstab(cuda_solver *s)
{
    copy(s, s->r, s->p);
    copy(s, s->r, s->shadow);
    dot(s, s->r, s->r, RHO);
}

static void iterate_bicgstab(cuda_solver *s)
{
    double *next[] = {scalar(s, RHO), scalar(s, RHO1), scalar(s, ALPHA), scalar(s, OMEGA),
                      scalar(s, BETA)};
    cuda_spmv(s->A, 1, s->p, 0, s->q);
    dot(s, s->shadow, s->q, BOTTOM);
    divide(s, RHO, BOTTOM, ALPHA, MINUS_ALPHA);
    axpy(s, MINUS_ALPHA, s->q, s->r);
    cuda_spmv(s->A, 1, s->r, 0, s->t);
    dot(s, s->t, s->r, TOP);
    dot(s, s->t, s->t, BOTTOM);
    divide(s, TOP, BOTTOM, OMEGA, MINUS_OMEGA);
    axpy(s, ALPHA, s->p, s->x);
    axpy(s, OMEGA, s->r, s->x);
    axpy(s, MINUS_OMEGA, s->t, s->r);
    dot(s, s->shadow, s->r, RHO1);
    dot(s, s->r, s->r, RR);
    step(s, s->next_bicgstab, (void *[]){&next[0], &next[1], &next[2], &next[3], &next[4]});
    axpy(s, MINUS_OMEGA, s->q, s->p);
    combine(s, s->r, s->p);
}

/* --- both --------------------------------------------------------------------------------------*/

static void iterate(cuda_solver *s)
{
    if (s->method == CUDA_CG)
        iterate_cg(s);
    else
        iterate_bicgstab(s);
}

static void record(cuda_solver *s)
{
    cudaGraph_t graph;
    CUDA_MUST(cudaStreamBeginCapture(s->peers->stream, cudaStreamCaptureModeThreadLocal));
    iterate(s);
    CUDA_MUST(cudaStreamEndCapture(s->peers->stream, &graph));
    CUDA_MUST(cudaGraphInstantiate(&s->graph, graph, 0));
    CUDA_MUST(cudaGraphDestroy(graph));
}

static void run_short(cuda_solver *s, const cuda_course *c)
{
    if (s->method == CUDA_CG)
        start_cg(s);
    else
        start_bicgstab(s);
    look(s, scalar(s, RHO), 1);
    s->norm = sqrt(s->seen[0]);
    for (s->iterations = 1; s->iterations <= c->iterations; s->iterations++) {
        if (c->graph)
            CUDA_MUST(cudaGraphLaunch(s->graph, s->peers->stream));
        else
            iterate(s);
        if (s->iterations % c->every == 0 || s->iterations == c->iterations) {
            look(s, scalar(s, RR), 1);
            s->residual = sqrt(s->seen[0]);
            if (s->residual <= c->tol * s->norm)
                return;
        }
    }
    s->iterations = c->iterations;
}

/* --- GMRES -------------------------------------------------------------------------------------*/

/* The small problem of a cycle, on the host. */
typedef struct cycle {
    double H[SIDE][CUDA_RESTART], c[CUDA_RESTART], s[CUDA_RESTART], g[SIDE];
    int known; /* columns rotated so far */
} cycle;

/* Turns columns known..count-1, as they came from the device, with Givens rotations. */
static void rotate(cycle *z, const double *columns, int count)
{
    for (; z->known < count; z->known++, columns += COLUMN) {
        const int k = z->known;
        for (int i = 0; i <= k; i++)
            z->H[i][k] = columns[i] + columns[SIDE + i];
        z->H[k + 1][k] = columns[2 * SIDE];
        for (int i = 0; i < k; i++) {
            const double upper = z->c[i] * z->H[i][k] + z->s[i] * z->H[i + 1][k];
            z->H[i + 1][k] = z->c[i] * z->H[i + 1][k] - z->s[i] * z->H[i][k];
            z->H[i][k] = upper;
        }
        const double length = hypot(z->H[k][k], z->H[k + 1][k]);
        z->c[k] = z->H[k][k] / length;
        z->s[k] = z->H[k + 1][k] / length;
        z->H[k][k] = length;
        z->g[k + 1] = -z->s[k] * z->g[k];
        z->g[k] = z->c[k] * z->g[k];
    }
}

/* Step k: w = A v, made orthogonal to the basis twice, is its next vector. */
static void expand(const cuda_solver *s, int k)
{
    double *column = s->columns + (size_t)k * COLUMN, *w = s->V + (size_t)(k + 1) * (size_t)s->n;
    cuda_spmv(s->A, 1, w - s->n, 0, w);
    for (int pass = 0; pass < 2; pass++) {
        project(s, k + 1, w, column + pass * SIDE);
        add_basis(s, k + 1, MINUS_ONE, column + pass * SIDE, w);
    }
    dot(s, w, w, RR);
    take_root(s, column + 2 * SIDE);
    CUDA_MUST(cublasDscal(s->peers->blas, s->n, scalar(s, INVERSE), w, 1));
}

/* x = x + V y of a cycle of `count` steps */
static void finish_cycle(cuda_solver *s, const cycle *z, int count)
{
    double *y = s->seen + (size_t)CUDA_RESTART * COLUMN;
    for (int i = count - 1; i >= 0; i--) {
        y[i] = z->g[i];
        for (int j = i + 1; j < count; j++)
            y[i] -= z->H[i][j] * y[j];
        y[i] /= z->H[i][i];
    }
    CUDA_MUST(cudaMemcpyAsync(s->y, y, (size_t)count * sizeof *y, cudaMemcpyHostToDevice,
                              s->peers->stream));
    add_basis(s, count, ONE, s->y, s->x);
}

/* v0 = r / |r|, and |r| seen by the host */
static double start_cycle(cuda_solver *s)
{
    copy(s, s->b, s->V);
    cuda_spmv(s->A, -1, s->x, 1, s->V);
    dot(s, s->V, s->V, RR);
    take_root(s, scalar(s, NORM));
    CUDA_MUST(cublasDscal(s->peers->blas, s->n, scalar(s, INVERSE), s->V, 1));
    look(s, scalar(s, NORM), 1);
    return s->seen[0];
}

static void run_gmres(cuda_solver *s, const cuda_course *c)
{
    bool done = false;
    for (s->iterations = 0; !done;) {
        cycle z = {.g = {start_cycle(s)}};
        int k = 0;
        s->norm = s->iterations == 0 ? z.g[0] : s->norm;
        while (!done && k < CUDA_RESTART) {
            expand(s, k++);
            done = ++s->iterations == c->iterations;
            if (!done && k < CUDA_RESTART && s->iterations % c->every != 0)
                continue;
            look(s, s->columns + (size_t)z.known * COLUMN, (size_t)(k - z.known) * COLUMN);
            rotate(&z, s->seen, k);
            s->residual = fabs(z.g[k]);
            done = done || s->residual <= c->tol * s->norm;
        }
        finish_cycle(s, &z, k);
    }
}

/* --- the solver --------------------------------------------------------------------------------*/

double cuda_solve(cuda_solver *s, const cuda_course *course, double *x)
{
    const size_t bytes = (size_t)s->n * sizeof *x;
    const cudaStream_t stream = s->peers->stream;
    if (course->graph && !s->graph)
        record(s);
    cuda_peers_finish(s->peers);
    const double begin = peer_seconds();
    CUDA_MUST(cudaMemcpyAsync(s->b, s->b_host, bytes, cudaMemcpyHostToDevice, stream));
    CUDA_MUST(cudaMemsetAsync(s->x, 0, bytes, stream));
    if (s->method == CUDA_GMRES)
        run_gmres(s, course);
    else {
        copy(s, s->b, s->r);
        run_short(s, course);
    }
    CUDA_MUST(cudaMemcpyAsync(x, s->x, bytes, cudaMemcpyDeviceToHost, stream));
    cuda_peers_finish(s->peers);
    return peer_seconds() - begin;
}

/* Seconds of some repetitions of a piece of an iteration. */
static double time_piece(cuda_solver *s, bool geam)
{
    enum { TIMES = 20 };
    double begin = 0;
    for (int k = 0; k <= TIMES; k++) {
        if (k == 1) {
            cuda_peers_finish(s->peers);
            begin = peer_seconds();
        }
        if (geam)
            combine(s, s->r, s->p);
        else
            project(s, CUDA_RESTART / 2, s->V, s->columns);
    }
    cuda_peers_finish(s->peers);
    return peer_seconds() - begin;
}

/* Where cuBLAS has two functions for a thing, the faster one. */
static void choose(cuda_solver *s)
{
    double times[2];
    for (int k = 0; k < 2; k++) {
        s->by_geam = s->by_gemm = k == 1;
        times[k] = time_piece(s, s->method != CUDA_GMRES);
    }
    s->by_geam = s->by_gemm = times[1] < times[0];
}

cuda_solver *cuda_solver_new(cuda_matrix *A, cuda_method method, const double *b)
{
    static const double constants[SCALARS] = {[ONE] = 1, [MINUS_ONE] = -1, [BETA] = 1};
    const size_t n = (size_t)A->rows;
    cuda_solver *s = calloc(1, sizeof *s);
    if (!s)
        peer_refuse("out of memory");
    *s = (cuda_solver){.A = A, .peers = A->peers, .method = method, .n = (int)A->rows, .b_host = b};
    double **vectors[] = {&s->b, &s->x, &s->r, &s->p, &s->q, &s->shadow, &s->t};
    const int count = method == CUDA_GMRES ? 2 : method == CUDA_CG ? 5 : 7;
    for (int k = 0; k < count; k++)
        *vectors[k] = cuda_room(n * sizeof *b);
    if (method == CUDA_GMRES)
        s->V = cuda_room((size_t)SIDE * n * sizeof *b);
    s->columns = cuda_room((size_t)CUDA_RESTART * COLUMN * sizeof *b);
    s->y = cuda_room(SIDE * sizeof *b);
    s->scalars = cuda_sent(constants, sizeof constants);
    CUDA_MUST(cudaMallocHost((void **)&s->seen, (size_t)(CUDA_RESTART + 1) * COLUMN * sizeof *b));
    compile(s);
    choose(s);
    return s;
}

void cuda_solver_free(cuda_solver *s)
{
    double *vectors[] = {s->b, s->x, s->r,       s->p, s->q,      s->shadow,
                         s->t, s->V, s->columns, s->y, s->scalars};
    if (s->graph)
        cudaGraphExecDestroy(s->graph);
    cudaLibraryUnload(s->library);
    for (size_t k = 0; k < sizeof vectors / sizeof *vectors; k++)
        cudaFree(vectors[k]);
    cudaFreeHost(s->seen);
    free(s);
}

double cuda_solver_residual(const cuda_solver *s)
{
    return s->residual / s->norm;
}

int cuda_solver_iterations(const cuda_solver *s)
{
    return s->iterations;
}
