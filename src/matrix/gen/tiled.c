/*
 * A matrix copied along the diagonal, with the gaps between copies filled by parts of more copies:
 * R. Couturier (ed.), Designing Scientific Applications on GPUs, chapter 13, figure 13.6. The rule
 * for the parts is ours: one more copy lies across each border, `cut` of its rows before it, and
 * what of that copy reaches from one side of the border to the other couples the two. Bandwidth and
 * symmetry of the base are kept. Couplings are an eighth of their originals, and every diagonal
 * entry grows in magnitude by what its row's couplings add up to: blocks [|v| v; conj(v) |v|] are
 * semidefinite, so a positive definite base stays so, and a diagonally dominant one too. Where the
 * base has no diagonal entry, or 0, nothing is added.
 */
#include "matrix/gen/gen.h"

#include <math.h>
#include <private/programs.h>
#include <stdlib.h>

static const double strength = 0.125;

typedef struct tiling {
    const matrix_arrays *base; /* CSR, columns rise */
    int64_t rows, cut;
} tiling;

/* Puts what the base's row `source` has in columns begin..end-1, scaled and moved by shift; returns
 * the number of entries. */
static double put_part(const tiling *t, int64_t source, int64_t begin, int64_t end, int64_t shift,
                       gen_row *row)
{
    const matrix_arrays *b = t->base;
    double sum = 0;
    for (int64_t k = b->offsets[source]; k < b->offsets[source + 1]; k++) {
        int64_t j = b->col_index[k];
        if (j < begin || j >= end || j + shift >= t->rows)
            continue;
        spry_scalar value = value_get(b->type, b->values, k);
        gen_put(row, j + shift, strength * value.re, strength * value.im);
        sum += strength * hypot(value.re, value.im);
    }
    return sum;
}

/* Puts the base's row `source`, and returns which entries of it and of the row are the diagonal;
 * -1: none. */
static int64_t put_copy(const tiling *t, int64_t source, int64_t shift, gen_row *row, int64_t *at)
{
    const matrix_arrays *b = t->base;
    int64_t diagonal = -1;
    for (int64_t k = b->offsets[source]; k < b->offsets[source + 1]; k++) {
        int64_t j = b->col_index[k];
        if (j + shift >= t->rows)
            break;
        if (j == source) {
            diagonal = k;
            *at = row->count;
        }
        spry_scalar value = value_get(b->type, b->values, k);
        gen_put(row, j + shift, value.re, value.im);
    }
    return diagonal;
}

static void tiled_row(const void *data, int64_t i, gen_row *row)
{
    const tiling *t = data;
    int64_t n = t->base->rows, source = i % n, shift = i - source, at = 0;
    double grow = 0;
    /* The copy across the border starts n - cut rows after this copy, or cut rows before it. */
    if (shift > 0 && source < n - t->cut)
        grow = put_part(t, source + t->cut, 0, t->cut, shift - t->cut, row);
    int64_t diagonal = put_copy(t, source, shift, row, &at);
    if (source >= n - t->cut)
        grow = put_part(t, source - (n - t->cut), t->cut, n, shift + n - t->cut, row);
    if (diagonal < 0)
        return;
    spry_scalar value = value_get(t->base->type, t->base->values, diagonal);
    double size = hypot(value.re, value.im);
    if (size > 0)
        gen_set(row, at, value.re + value.re / size * grow, value.im + value.im / size * grow);
}

/* Where to cut the copies across borders: nearest to the middle with an entry from side to side; 0:
 * nowhere. */
static spry_status find_cut(spry_context *ctx, const matrix_arrays *b, int64_t *cut)
{
    int64_t *across = NULL; /* entries across each cut, as differences at first */
    spry_status status = base_calloc(ctx, b->rows + 1, sizeof *across, &across);
    if (status != SPRY_STATUS_OK)
        return status;
    for (int64_t i = 0; i < b->rows; i++) {
        for (int64_t k = b->offsets[i]; k < b->offsets[i + 1]; k++) {
            int64_t j = b->col_index[k];
            across[(i < j ? i : j) + 1] += i != j;
            if (i != j && (i > j ? i : j) + 1 <= b->rows)
                across[(i > j ? i : j) + 1]--;
        }
    }
    *cut = 0;
    int64_t middle = b->rows / 2;
    for (int64_t c = 1; c < b->rows; c++) {
        across[c] += across[c - 1];
        if (across[c] > 0 && (*cut == 0 || llabs(c - middle) < llabs(*cut - middle)))
            *cut = c;
    }
    base_free(ctx, across);
    return SPRY_STATUS_OK;
}

spry_status spry_generate_tiled(const spry_matrix *base, int64_t size, spry_matrix **A)
{
    SPRY_NEED(CTX_OF(base), base, A);
    spry_context *ctx = base->ctx;
    spry_matrix *copy = NULL;
    spry_status status = SPRY_STATUS_OK;
    *A = NULL;
    if (base->a.rows != base->a.cols || base->a.rows == 0)
        return SPRY_FAIL(ctx, SPRY_STATUS_BAD_INPUT,
                         "the matrix to copy has %" PRId64 " rows and %" PRId64
                         " columns; expected a square one with a row or more",
                         base->a.rows, base->a.cols);
    if (size < 1 || size > INT32_MAX)
        return SPRY_FAIL(ctx, SPRY_STATUS_BAD_USAGE, "size=%" PRId64 " rows is outside 1..%d", size,
                         INT32_MAX);
    SPRY_GO(ctx, spry_matrix_expand(base, &copy));
    SPRY_GO(ctx, matrix_become(copy, SPRY_FORMAT_CSR));
    SPRY_GO(ctx, spry_matrix_sum_duplicates(copy));
    tiling t = {.base = &copy->a, .rows = size};
    SPRY_GO(ctx, find_cut(ctx, &copy->a, &t.cut));
    SPRY_GO(ctx, gen_build(ctx, copy->a.type, size, tiled_row, &t, A));
    if (matrix_known(copy, SPRY_FACT_FINITE) == SPRY_TRUTH_YES)
        matrix_note(*A, SPRY_FACT_FINITE, true);
done:
    spry_matrix_free(copy);
    return status;
}
