/*
 * Block Jacobi: the inverses of blocks along the diagonal, written out. Blocks are given by their
 * size, or found: rows that have the same pattern and stand together belong together (unknowns of
 * one point), and what is found is put together up to a size that is still cheap (E. Chow, H. Anzt,
 * J. Scott, J. Dongarra, Using Jacobi iterations and blocking for solving sparse triangular systems
 * in incomplete factorization preconditioning, J. Parallel Distrib. Comput. 119 (2018), 219-230).
 *
 * adaptive: each block in the shortest precision that its condition allows, since what is read
 * decides the time (H. Anzt, J. Dongarra, G. Flegar, N. J. Higham, E. S. Quintana-Orti, Adaptive
 * precision in block-Jacobi preconditioning for iterative sparse linear system solvers, Concurr.
 * Comput. Pract. Exp. 31 (2019), e4460). Sums are taken in the type of the matrix.
 */
#include "device/device.h"
#include "matrix/layout.h"
#include "matrix/reduced.h"
#include "precon/kernels.h"
#include "precon/precon.h"

#define BJACOBI_OPTIONS(item)                                                    \
    PRECON_COMMON(item)                                                          \
    item(INT, block, "0", 0, PRECON_MOST_BLOCK, NULL,                            \
         "rows of a block; 0: found, rows with one pattern that stand together") \
    item(BOOL, adaptive, "no", 0, 0, NULL,                                       \
         "blocks in double, single or half precision, each as its condition allows it")
typedef struct bjacobi_options {
    BJACOBI_OPTIONS(SPRY_OPTION_FIELD)
} bjacobi_options;
#define OPTION_OWNER bjacobi_options
static const spry_option table[] = {BJACOBI_OPTIONS(SPRY_OPTION_ROW)};
#undef OPTION_OWNER

enum { CHEAP = 8, PART = 64, GROUP = 128, ALIGNED = 16 };
/* What the condition times the roundoff of a shorter precision may be. */
static const double tolerance = 0.01;

typedef struct bjacobi {
    precon_blocks b;
    int64_t total; /* bytes of values */
    bool adaptive;
    int64_t of_kind[3];
    /* on a device: the arrays there, in the order of the kernel's arguments */
    device_program *program;
    device_memory *there[6];
} bjacobi;

/* --- blocks --------------------------------------------------------------------------------------
 */

static bool same_pattern(const spry_arrays *a, int64_t i, int64_t j)
{
    const int64_t length = a->offsets[i + 1] - a->offsets[i];
    return length == a->offsets[j + 1] - a->offsets[j] &&
           (length == 0 || memcmp(a->col_index + a->offsets[i], a->col_index + a->offsets[j],
                                  (size_t)length * sizeof *a->col_index) == 0);
}

/* The end of the rows from `begin` on that belong together. */
static int64_t run_end(const spry_arrays *a, int64_t begin)
{
    int64_t end = begin + 1;
    while (end < a->rows && end - begin < PRECON_MOST_BLOCK && same_pattern(a, begin, end))
        end++;
    return end;
}

static int64_t block_end(const spry_arrays *a, int64_t begin, int64_t block)
{
    if (block > 0)
        return begin + block < a->rows ? begin + block : a->rows;
    int64_t end = run_end(a, begin);
    while (end < a->rows) {
        const int64_t next = run_end(a, end);
        if (next - begin > CHEAP)
            break;
        end = next;
    }
    return end;
}

/* The blocks' rows; `first` has room for all rows and one. */
static void cut(const spry_arrays *a, int64_t block, precon_blocks *b)
{
    b->count = 0;
    b->first[0] = 0;
    for (int64_t at = 0; at < a->rows;) {
        at = block_end(a, at, block);
        b->first[++b->count] = (int32_t)at;
    }
}

/* --- values --------------------------------------------------------------------------------------
 */

static size_t size_of_kind(spry_type type, int kind)
{
    const size_t parts = spry_type_is_complex(type) ? 2 : 1;
    return kind == STORED_OWN ? spry_type_size(type) : parts * (kind == STORED_F32 ? 4 : 2);
}

/* Places of all blocks by their kinds; gives the bytes. */
static int64_t place_all(spry_type type, const precon_blocks *b)
{
    int64_t at = 0;
    for (int64_t k = 0; k < b->count; k++) {
        const int64_t n = b->first[k + 1] - b->first[k];
        b->place[k] = at;
        at += (n * n * (int64_t)size_of_kind(type, b->kind[k]) + ALIGNED - 1) / ALIGNED * ALIGNED;
    }
    return at;
}

static int kind_for(spry_type type, double condition)
{
    if (condition * 0x1p-11 <= tolerance)
        return STORED_F16;
    const bool single = type == SPRY_S || type == SPRY_C;
    return !single && condition * 0x1p-24 <= tolerance ? STORED_F32 : STORED_OWN;
}

/* Block k of `from` as its kind says in `to`, scaled so that its largest number is about 1. */
static void shorten(spry_type type, const precon_blocks *from, const precon_blocks *to, int64_t k)
{
    const int64_t n = to->first[k + 1] - to->first[k],
                  count = n * n * (spry_type_is_complex(type) ? 2 : 1);
    const bool single = type == SPRY_S || type == SPRY_C;
    const char *numbers = (const char *)from->values + from->place[k];
    char *out = (char *)to->values + to->place[k];
    const float *floats = (const float *)(const void *)numbers;
    const double *doubles = (const double *)(const void *)numbers;
    double most = 0;
    int exponent = 0;
    to->exponent[k] = 0;
    if (to->kind[k] == STORED_OWN) {
        memcpy(out, numbers, (size_t)(n * n) * spry_type_size(type));
        return;
    }
    for (int64_t i = 0; i < count; i++) {
        const double size = single ? fabs((double)floats[i]) : fabs(doubles[i]);
        if (size > most)
            most = size;
    }
    frexp(most, &exponent);
    to->exponent[k] = -exponent;
    for (int64_t i = 0; i < count; i++) {
        const double v = ldexp(single ? (double)floats[i] : doubles[i], -exponent);
        if (to->kind[k] == STORED_F32)
            ((float *)(void *)out)[i] = (float)v;
        else
            ((f16 *)(void *)out)[i] = f16_from(v);
    }
}

static spry_status no_inverse(spry_context *ctx, const precon_blocks *b, int64_t k)
{
    return SPRY_FAIL(ctx, SPRY_BAD_INPUT,
                     "precon bjacobi: the block of rows %d..%d (from 0) is singular; try another "
                     "bjacobi:block=, ilu, sai or direct",
                     (int)b->first[k], (int)b->first[k + 1] - 1);
}

/* Inverses of all blocks at places of their own. */
static spry_status invert(const spry_matrix *A, precon_blocks *whole, double *conditions)
{
    spry_context *ctx = A->ctx;
    const precon_kernels *kernels = precon_kernels_for(ctx, A->a.type);
    const host_csr csr = {A->a.offsets, A->a.col_index, A->a.values};
    const int64_t parts = (whole->count + PART - 1) / PART;
    int64_t bad = whole->count;
#pragma omp parallel for num_threads(host_threads(ctx, A->a.nnz)) schedule(dynamic, 1) \
    reduction(min                                                                      \
              : bad)
    for (int64_t p = 0; p < parts; p++) {
        const int64_t begin = p * PART,
                      end = begin + PART < whole->count ? begin + PART : whole->count;
        const int64_t at = kernels->block_invert(&csr, whole, begin, end, conditions);
        bad = at < end && at < bad ? at : bad;
    }
    return bad < whole->count ? no_inverse(ctx, whole, bad) : SPRY_OK;
}

static spry_status shorten_all(const spry_matrix *A, bjacobi *state, const precon_blocks *whole,
                               const double *conditions)
{
    spry_context *ctx = A->ctx;
    precon_blocks *b = &state->b;
    for (int64_t k = 0; k < b->count; k++)
        b->kind[k] = kind_for(A->a.type, conditions[k]);
    state->total = place_all(A->a.type, b);
    const spry_status status = base_alloc(ctx, state->total, 1, &b->values);
    if (status != SPRY_OK)
        return status;
#pragma omp parallel for num_threads(host_threads(ctx, A->a.nnz)) schedule(static)
    for (int64_t k = 0; k < b->count; k++)
        shorten(A->a.type, whole, b, k);
    return SPRY_OK;
}

/* All that depends on values. */
static spry_status fill(const spry_matrix *A, bjacobi *state)
{
    spry_context *ctx = A->ctx;
    precon_blocks *b = &state->b, whole = *b;
    double *conditions = NULL;
    spry_status status = SPRY_OK;
    base_free(ctx, b->values);
    b->values = whole.values = NULL;
    whole.place = NULL;
    for (int64_t k = 0; k < b->count; k++)
        b->kind[k] = STORED_OWN;
    memset(b->exponent, 0, (size_t)b->count * sizeof *b->exponent);
    SPRY_GO(ctx, base_alloc(ctx, b->count, sizeof *whole.place, &whole.place));
    SPRY_GO(ctx, base_alloc(ctx, b->count, sizeof *conditions, &conditions));
    state->total = place_all(A->a.type, &whole);
    SPRY_GO(ctx, base_alloc(ctx, state->total, 1, &whole.values));
    SPRY_GO(ctx, invert(A, &whole, conditions));
    if (state->adaptive) {
        SPRY_GO(ctx, shorten_all(A, state, &whole, conditions));
    } else {
        memcpy(b->place, whole.place, (size_t)b->count * sizeof *b->place);
        b->values = whole.values;
        whole.values = NULL;
    }
    memset(state->of_kind, 0, sizeof state->of_kind);
    for (int64_t k = 0; k < b->count; k++)
        state->of_kind[b->kind[k]]++;
done:
    base_free(ctx, whole.place);
    base_free(ctx, whole.values);
    base_free(ctx, conditions);
    return status;
}

/* --- the operator --------------------------------------------------------------------------------
 */

static void bjacobi_destroy(spry_operator *op)
{
    bjacobi *state = op->state;
    if (!state)
        return;
    for (int i = 0; i < 6; i++)
        device_free(state->there[i]);
    if (op->device)
        op->device->users--;
    base_free(op->ctx, state->b.first);
    base_free(op->ctx, state->b.kind);
    base_free(op->ctx, state->b.exponent);
    base_free(op->ctx, state->b.place);
    base_free(op->ctx, state->b.values);
    base_free(op->ctx, state);
}

static spry_status here_apply(const spry_operator *op, spry_transpose transpose,
                              const spry_vector *r, spry_vector *z)
{
    const bjacobi *state = op->state;
    const precon_kernels *kernels = precon_kernels_for(op->ctx, op->type);
    const int64_t count = state->b.count, parts = (count + PART - 1) / PART;
#pragma omp parallel for num_threads(host_threads(op->ctx, state->total / 8)) schedule(static)
    for (int64_t p = 0; p < parts; p++)
        kernels->block_apply(&state->b, p * PART, (p + 1) * PART < count ? (p + 1) * PART : count,
                             transpose, r->data, z->data);
    return SPRY_OK;
}

static spry_status there_apply(const spry_operator *op, spry_transpose transpose,
                               const spry_vector *r, spry_vector *z)
{
    const bjacobi *state = op->state;
    const int n = (int)op->rows, mode = transpose == SPRY_PLAIN       ? 0
                                        : transpose == SPRY_TRANSPOSE ? 1
                                                                      : 2;
    device_arg args[10] = {DEVICE_VALUE(n), DEVICE_VALUE(mode)};
    for (int i = 0; i < 6; i++)
        args[2 + i] = device_arg_memory(state->there[i]);
    args[8] = device_arg_memory(r->memory);
    args[9] = device_arg_memory(z->memory);
    return device_launch(state->program, "blocks_apply", NULL, (op->rows + GROUP - 1) / GROUP,
                         GROUP, args, 10);
}

/* An array of the device's in the place of an old one. */
static spry_status send(spry_device *d, const void *from, int64_t bytes, device_memory **to)
{
    device_free(*to);
    *to = NULL;
    const spry_status status = device_alloc(d, bytes, to);
    return status == SPRY_OK ? device_put(*to, 0, from, bytes) : status;
}

/* Copies all to the device; values go from the host. */
static spry_status send_all(const spry_operator *op)
{
    bjacobi *state = op->state;
    const precon_blocks *b = &state->b;
    spry_context *ctx = op->ctx;
    int32_t *block_of = NULL;
    spry_status status = SPRY_OK;
    SPRY_GO(ctx, base_alloc(ctx, op->rows, sizeof *block_of, &block_of));
    for (int64_t k = 0; k < b->count; k++)
        for (int64_t i = b->first[k]; i < b->first[k + 1]; i++)
            block_of[i] = (int32_t)k;
    const void *arrays[] = {block_of, b->first, b->kind, b->exponent, b->place, b->values};
    const int64_t bytes[] = {op->rows * 4, (b->count + 1) * 4, b->count * 4,
                             b->count * 4, b->count * 8,       state->total};
    for (int i = 0; i < 6; i++)
        SPRY_GO(ctx, send(op->device, arrays[i], bytes[i], &state->there[i]));
    base_free(ctx, state->b.values);
    state->b.values = NULL;
done:
    base_free(ctx, block_of);
    return status;
}

static void count_bytes(spry_operator *op)
{
    const bjacobi *state = op->state;
    op->own_bytes = state->total + state->b.count * 20;
    op->bytes = op->own_bytes + 2 * op->rows * (int64_t)spry_type_size(op->type);
}

static spry_status bjacobi_update(spry_operator *op, const spry_matrix *A)
{
    spry_status status = SPRY_OK;
    SPRY_GO(op->ctx, fill(A, op->state));
    count_bytes(op);
    if (op->device)
        SPRY_GO(op->ctx, send_all(op));
done:
    return status;
}

static const operator_class here_class = {.name = "bjacobi",
                                          .has_transpose = true,
                                          .multiply = operator_apply_arrays,
                                          .multiply_vectors = operator_apply_vectors,
                                          .apply = here_apply,
                                          .update = bjacobi_update,
                                          .destroy = bjacobi_destroy};
static const operator_class there_class = {.name = "bjacobi",
                                           .has_transpose = true,
                                           .multiply = operator_apply_arrays,
                                           .multiply_vectors = operator_apply_vectors,
                                           .apply = there_apply,
                                           .update = bjacobi_update,
                                           .destroy = bjacobi_destroy};

/* --- the kind ------------------------------------------------------------------------------------
 */

static spry_status build(const precon_job *job, bjacobi *state)
{
    char options[64];
    snprintf(options, sizeof options, "-DSP_TYPE=%d -DSP_GROUP=%d", (int)job->A->a.type, GROUP);
    return device_build(job->device, device_text("blocks"), options, &state->program);
}

static spry_status make(const precon_job *job, spry_operator **M)
{
    spry_context *ctx = job->A->ctx;
    const bjacobi_options *options = job->options;
    const int64_t n = job->A->a.rows;
    spry_operator *op = NULL;
    bjacobi *state = NULL;
    spry_status status = SPRY_OK;
    *M = NULL;
    SPRY_GO(ctx,
            operator_new(ctx, job->device ? &there_class : &here_class, job->A->a.type, n, n, &op));
    SPRY_GO(ctx, base_calloc(ctx, 1, sizeof *state, &state));
    op->state = state;
    state->adaptive = options->adaptive;
    if (job->device) {
        op->device = job->device;
        op->device->users++;
        SPRY_GO(ctx, build(job, state));
    }
    precon_blocks *b = &state->b;
    SPRY_GO(ctx, base_alloc(ctx, n + 1, sizeof *b->first, &b->first));
    cut(&job->A->a, options->block, b);
    SPRY_GO(ctx, base_alloc(ctx, b->count, sizeof *b->kind, &b->kind));
    SPRY_GO(ctx, base_alloc(ctx, b->count, sizeof *b->exponent, &b->exponent));
    SPRY_GO(ctx, base_alloc(ctx, b->count, sizeof *b->place, &b->place));
    SPRY_GO(ctx, bjacobi_update(op, job->A));
    base_log(ctx, SPRY_LOG_INFO,
             "precon bjacobi: %" PRId64 " blocks of %.1f rows on average, %" PRId64
             " in single and %" PRId64 " in half precision",
             b->count, (double)n / (double)(b->count > 0 ? b->count : 1),
             state->of_kind[STORED_F32], state->of_kind[STORED_F16]);
    *M = op;
    op = NULL;
done:
    spry_operator_free(op);
    return status;
}

static spry_status forecast(const precon_job *job, double *bytes)
{
    const bjacobi_options *options = job->options;
    const spry_arrays *a = &job->A->a;
    const double size = (double)spry_type_size(a->type), rows = (double)a->rows;
    double values = 0, count = 0;
    for (int64_t at = 0, end = 0; at < a->rows; at = end) {
        end = block_end(a, at, options->block);
        values += (double)(end - at) * (double)(end - at) * size + ALIGNED;
        count++;
    }
    const double copies = 1 + (options->adaptive ? 1 : 0) + (job->device ? 2 : 0);
    *bytes = copies * values + count * (job->device ? 72 : 40) + rows * 8 + 65536;
    return SPRY_OK;
}

const precon_kind precon_kind_bjacobi = {
    .name = "bjacobi",
    .summary = "the inverses of blocks along the diagonal",
    .options = {table, sizeof table / sizeof *table},
    .make = make,
    .forecast = forecast,
    .on_devices = true,
};
