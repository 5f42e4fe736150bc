/*
 * Block Jacobi: the inverses of blocks along the diagonal, written out. Blocks are given by their
 * size, or found: rows that have the same pattern and are adjacent belong together (unknowns of
 * one point), and what is found is put together up to a size that is still cheap (E. Chow, H. Anzt,
 * J. Scott, J. Dongarra, Using Jacobi iterations and blocking for solving sparse triangular systems
 * in incomplete factorization preconditioning, J. Parallel Distrib. Comput. 119 (2018), 219-230).
 *
 * adaptive: each block in the shortest precision that its condition allows, since what is read
 * decides the time (H. Anzt, J. Dongarra, G. Flegar, N. J. Higham, E. S. Quintana-Orti, Adaptive
 * precision in block-Jacobi preconditioning for iterative sparse linear system solvers, Concurr.
 * Comput. Pract. Exp. 31 (2019), e4460). Sums are taken in the type of the matrix.
 */
#include "precon/blocks.h"

#include "device/engine/device.h"
#include "formats/shared/layout.h"

#define BLOCK_JACOBI_OPTIONS(item)                                                                \
    PRECON_COMMON(item)                                                                           \
    item(INT, block, "0", 0, PRECON_MOST_BLOCK, NULL,                                             \
         "rows of a block; 0: found, adjacent rows with one pattern")                             \
    item(BOOL, adaptive, "no", 0, 0, NULL,                                                        \
         "blocks in double, single or half precision, each as its condition allows it")           \
    item(TEXT, inner, "dense", 0, 0, NULL,                                                        \
         "dense: the inverses of such blocks; any preconditioner: one of each rank's own block, " \
         "which without ranks is all of A")
typedef struct block_jacobi_options {
    BLOCK_JACOBI_OPTIONS(SPRY_OPTION_FIELD)
} block_jacobi_options;
SPRY_OPTION_TABLE(table, block_jacobi_options, BLOCK_JACOBI_OPTIONS(SPRY_OPTION_ROW))

enum { GROUP = 128 };

typedef struct block_jacobi {
    blocks blocks;
    /* on a device: the arrays, in the order of the kernel's arguments */
    device_program *program;
    device_memory *memory[6];
} block_jacobi;

/* --- the operator --------------------------------------------------------------------------------
 */

static void block_jacobi_destroy(spry_operator *op)
{
    block_jacobi *state = op->state;
    if (!state)
        return;
    for (int i = 0; i < 6; i++)
        device_free(state->memory[i]);
    if (op->device)
        op->device->users--;
    blocks_clear(op->ctx, &state->blocks);
    base_free(op->ctx, state);
}

typedef struct apply_job {
    const spry_operator *op;
    spry_transpose transpose;
    const void *r;
    void *z;
} apply_job;

static void apply_blocks(void *argument, int share, int shares)
{
    const apply_job *j = argument;
    const block_jacobi *state = j->op->state;
    const precon_kernels *kernels = precon_kernels_for(j->op->ctx, j->op->type);
    const range mine = base_share(state->blocks.b.count, shares, share, BLOCKS_PART);
    for (int64_t k = mine.begin; k < mine.end; k += BLOCKS_PART)
        kernels->block_apply(&state->blocks.b, k,
                             k + BLOCKS_PART < mine.end ? k + BLOCKS_PART : mine.end, j->transpose,
                             j->r, j->z);
}

static spry_status host_apply(const spry_operator *op, spry_transpose transpose,
                              const spry_vector *r, spry_vector *z)
{
    const block_jacobi *state = op->state;
    apply_job job = {op, transpose, r->data, z->data};
    base_share_out(op->ctx, host_threads(op->ctx, state->blocks.total / 8), apply_blocks, &job);
    return SPRY_STATUS_OK;
}

static spry_status device_apply(const spry_operator *op, spry_transpose transpose,
                                const spry_vector *r, spry_vector *z)
{
    const block_jacobi *state = op->state;
    const int n = (int)op->rows, mode = transpose == SPRY_TRANSPOSE_NO    ? 0
                                        : transpose == SPRY_TRANSPOSE_YES ? 1
                                                                          : 2;
    device_arg args[10] = {DEVICE_VALUE(n), DEVICE_VALUE(mode)};
    for (int i = 0; i < 6; i++)
        args[2 + i] = device_arg_memory(state->memory[i]);
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
    return status == SPRY_STATUS_OK ? device_put(*to, 0, from, bytes) : status;
}

/* Copies all to the device; values go from the host. */
static spry_status send_all(const spry_operator *op)
{
    block_jacobi *state = op->state;
    const precon_blocks *b = &state->blocks.b;
    spry_context *ctx = op->ctx;
    int32_t *block_of = NULL;
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(ctx, base_alloc(ctx, op->rows, sizeof *block_of, &block_of));
    for (int64_t k = 0; k < b->count; k++)
        for (int64_t i = b->first[k]; i < b->first[k + 1]; i++)
            block_of[i] = (int32_t)k;
    const void *arrays[] = {block_of, b->first, b->kind, b->exponent, b->place, b->values};
    const int64_t bytes[] = {op->rows * 4, (b->count + 1) * 4, b->count * 4,
                             b->count * 4, b->count * 8,       state->blocks.total};
    for (int i = 0; i < 6; i++)
        SPRY_GO(ctx, send(op->device, arrays[i], bytes[i], &state->memory[i]));
    base_free(ctx, state->blocks.b.values);
    state->blocks.b.values = NULL;
done:
    base_free(ctx, block_of);
    return status;
}

static void count_bytes(spry_operator *op)
{
    const block_jacobi *state = op->state;
    op->own_bytes = state->blocks.total + state->blocks.b.count * 20;
    op->bytes = op->own_bytes + 2 * op->rows * (int64_t)spry_type_size(op->type);
}

static spry_status block_jacobi_update(spry_operator *op, const spry_matrix *A)
{
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(op->ctx, blocks_fill(A, &((block_jacobi *)op->state)->blocks));
    count_bytes(op);
    if (op->device)
        SPRY_GO(op->ctx, send_all(op));
done:
    return status;
}

static const operator_class host_class = {.name = "block-jacobi",
                                          .has_transpose = true,
                                          .multiply = operator_apply_arrays,
                                          .multiply_vectors = operator_apply_vectors,
                                          .apply = host_apply,
                                          .update = block_jacobi_update,
                                          .destroy = block_jacobi_destroy};
static const operator_class device_class = {.name = "block-jacobi",
                                            .has_transpose = true,
                                            .multiply = operator_apply_arrays,
                                            .multiply_vectors = operator_apply_vectors,
                                            .apply = device_apply,
                                            .update = block_jacobi_update,
                                            .destroy = block_jacobi_destroy};

/* --- the kind ------------------------------------------------------------------------------------
 */

static spry_status build(const precon_job *job, block_jacobi *state)
{
    char options[64];
    snprintf(options, sizeof options, "-DSP_TYPE=%d -DSP_GROUP=%d", (int)job->A->a.type, GROUP);
    return device_build_text(job->device, "blocks", options, &state->program);
}

static spry_status make(const precon_job *job, spry_operator **M)
{
    spry_context *ctx = job->A->ctx;
    const block_jacobi_options *options = job->options;
    const int64_t n = job->A->a.rows;
    spry_operator *op = NULL;
    block_jacobi *state = NULL;
    spry_status status = SPRY_STATUS_OK;
    *M = NULL;
    if (strcmp(options->inner, "dense") != 0)
        return precon_make_inner(job, job->A, options->inner, M);
    SPRY_GO(ctx, operator_new(ctx, job->device ? &device_class : &host_class, job->A->a.type, n, n,
                              &op));
    SPRY_GO(ctx, base_calloc(ctx, 1, sizeof *state, &state));
    op->state = state;
    if (job->device) {
        op->device = job->device;
        op->device->users++;
        SPRY_GO(ctx, build(job, state));
    }
    SPRY_GO(ctx, blocks_cut(job->A, options->block, options->adaptive, &state->blocks));
    SPRY_GO(ctx, block_jacobi_update(op, job->A));
    const int64_t count = state->blocks.b.count, *of_kind = state->blocks.of_kind;
    base_log(ctx, SPRY_LOG_INFO,
             "precon block-jacobi: %" PRId64 " blocks of %.1f rows on average, %" PRId64
             " in single and %" PRId64 " in half precision",
             count, (double)n / (double)(count > 0 ? count : 1), of_kind[STORED_F32],
             of_kind[STORED_F16]);
    *M = op;
    op = NULL;
done:
    spry_operator_free(op);
    return status;
}

static void say_rows(const void *options, precon_rows *rows)
{
    const block_jacobi_options *o = options;
    if (strcmp(o->inner, "dense") != 0)
        return;
    rows->block = o->block > 1 ? o->block : rows->block;
    rows->patterned = rows->patterned || o->block == 0;
}

const precon_kind precon_kind_block_jacobi = {
    .name = "block-jacobi",
    .summary = "the inverses of blocks along the diagonal, or one for each rank's block",
    .options = SPRY_OPTION_LIST(table),
    .make = make,
    .rows = say_rows,
    .on_devices = true,
};
