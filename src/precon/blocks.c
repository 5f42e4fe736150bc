/* Blocks along the diagonal: which rows they have, and their inverses. */
#include "precon/blocks.h"

#include "formats/shared/layout.h"
#include "formats/shared/reduced.h"

enum { CHEAP = 8 }; /* rows of blocks that are put together */
/* What the condition times the roundoff of a shorter precision may be. */
static const double tolerance = 0.01;

static bool same_pattern(const matrix_arrays *a, int64_t i, int64_t j)
{
    const int64_t length = a->offsets[i + 1] - a->offsets[i];
    return length == a->offsets[j + 1] - a->offsets[j] &&
           (length == 0 || memcmp(a->col_index + a->offsets[i], a->col_index + a->offsets[j],
                                  (size_t)length * sizeof *a->col_index) == 0);
}

/* The end of the rows from `begin` on that belong together. */
static int64_t run_end(const matrix_arrays *a, int64_t begin)
{
    int64_t end = begin + 1;
    while (end < a->rows && end - begin < PRECON_MOST_BLOCK && same_pattern(a, begin, end))
        end++;
    return end;
}

/* The end of the block that begins with a row; `block` rows, or 0: those that belong together. */
static int64_t block_end(const matrix_arrays *a, int64_t begin, int64_t block)
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
static void cut(const matrix_arrays *a, int64_t block, precon_blocks *b)
{
    b->count = 0;
    b->first[0] = 0;
    for (int64_t at = 0; at < a->rows;) {
        at = block_end(a, at, block);
        b->first[++b->count] = (int32_t)at;
    }
}

spry_status blocks_cut(const spry_matrix *A, int64_t block, bool adaptive, blocks *state)
{
    spry_context *ctx = A->ctx;
    precon_blocks *b = &state->b;
    spry_status status = SPRY_STATUS_OK;
    *state = (blocks){.adaptive = adaptive};
    SPRY_GO(ctx, base_alloc(ctx, A->a.rows + 1, sizeof *b->first, &b->first));
    cut(&A->a, block, b);
    SPRY_GO(ctx, base_alloc(ctx, b->count, sizeof *b->kind, &b->kind));
    SPRY_GO(ctx, base_alloc(ctx, b->count, sizeof *b->exponent, &b->exponent));
    SPRY_GO(ctx, base_alloc(ctx, b->count, sizeof *b->place, &b->place));
done:
    return status;
}

void blocks_clear(spry_context *ctx, blocks *state)
{
    base_free(ctx, state->b.first);
    base_free(ctx, state->b.kind);
    base_free(ctx, state->b.exponent);
    base_free(ctx, state->b.place);
    base_free(ctx, state->b.values);
    *state = (blocks){0};
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
        at += (n * n * (int64_t)size_of_kind(type, b->kind[k]) + BLOCKS_ALIGNED - 1) /
              BLOCKS_ALIGNED * BLOCKS_ALIGNED;
    }
    return at;
}

static int kind_for(spry_type type, double condition)
{
    if (condition * 0x1p-11 <= tolerance)
        return STORED_F16;
    const bool single = type_is_single(type);
    return !single && condition * 0x1p-24 <= tolerance ? STORED_F32 : STORED_OWN;
}

/* Block k of `from` as its kind says in `to`, scaled so that its largest number is about 1. */
static void shorten(spry_type type, const precon_blocks *from, const precon_blocks *to, int64_t k)
{
    const int64_t n = to->first[k + 1] - to->first[k],
                  count = n * n * (spry_type_is_complex(type) ? 2 : 1);
    const bool single = type_is_single(type);
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
    return SPRY_FAIL(
        ctx, SPRY_STATUS_BAD_INPUT,
        "precon block-jacobi: the block of rows %d..%d (from 0) is singular; try another "
        "block-jacobi:block=, ilu, sai or direct",
        (int)b->first[k], (int)b->first[k + 1] - 1);
}

/* Inverses of all blocks at places of their own. */
static spry_status invert(const spry_matrix *A, precon_blocks *whole, double *conditions)
{
    spry_context *ctx = A->ctx;
    const precon_kernels *kernels = precon_kernels_for(ctx, A->a.type);
    const host_csr csr = {A->a.offsets, A->a.col_index, A->a.values};
    const int64_t parts = (whole->count + BLOCKS_PART - 1) / BLOCKS_PART;
    int64_t bad = whole->count;
#pragma omp parallel for num_threads(host_threads(ctx, A->a.nnz)) schedule(dynamic, 1) \
    reduction(min                                                                      \
              : bad)
    for (int64_t p = 0; p < parts; p++) {
        const int64_t begin = p * BLOCKS_PART,
                      end = begin + BLOCKS_PART < whole->count ? begin + BLOCKS_PART : whole->count;
        const int64_t at = kernels->block_invert(&csr, whole, begin, end, conditions);
        bad = at < end && at < bad ? at : bad;
    }
    return bad < whole->count ? no_inverse(ctx, whole, bad) : SPRY_STATUS_OK;
}

static spry_status shorten_all(const spry_matrix *A, blocks *state, const precon_blocks *whole,
                               const double *conditions)
{
    spry_context *ctx = A->ctx;
    precon_blocks *b = &state->b;
    for (int64_t k = 0; k < b->count; k++)
        b->kind[k] = kind_for(A->a.type, conditions[k]);
    state->total = place_all(A->a.type, b);
    const spry_status status = base_alloc(ctx, state->total, 1, &b->values);
    if (status != SPRY_STATUS_OK)
        return status;
#pragma omp parallel for num_threads(host_threads(ctx, A->a.nnz)) schedule(static)
    for (int64_t k = 0; k < b->count; k++)
        shorten(A->a.type, whole, b, k);
    return SPRY_STATUS_OK;
}

spry_status blocks_fill(const spry_matrix *A, blocks *state)
{
    spry_context *ctx = A->ctx;
    precon_blocks *b = &state->b, whole = *b;
    double *conditions = NULL;
    spry_status status = SPRY_STATUS_OK;
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
