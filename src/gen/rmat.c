/*
 * R-MAT: a pattern with a power law. Each entry falls, level by level, into one of the quarters of
 * what is left, with probabilities a, b, c, d. D. Chakrabarti, Y. Zhan, C. Faloutsos, R-MAT: a
 * recursive model for graph mining, SDM 2004 (without their noise on the probabilities; any number
 * of rows, by uneven halves).
 */
#include "gen/gen.h"

#include <math.h>

/* Levels that one 64-bit random number decides, with so many bits each; words for 31 levels. */
enum { LEVELS = 3, BITS = 21, WORDS = 16 };

spry_status gen_prepare_rmat(spry_context *ctx, gen_problem *p)
{
    const gen_options *o = &p->options;
    if (o->a + o->b + o->c > 1 + 1e-12)
        return SPRY_FAIL(ctx, SPRY_BAD_USAGE, "a + b + c = %g; the most is 1", o->a + o->b + o->c);
    return SPRY_OK;
}

/* The half of 0..n-1 counted from `begin` that a draw falls into; the first has the odd one. */
static void halve(bool second, int64_t *begin, int64_t *n)
{
    int64_t first = *n - *n / 2;
    if (second && *n > 1) {
        *begin += first;
        *n -= first;
    } else {
        *n = first;
    }
}

static void place_entry(const gen_problem *p, int64_t entry, int32_t *row, int32_t *col)
{
    const gen_options *o = &p->options;
    int64_t i = 0, rows = p->rows, j = 0, cols = p->rows;
    uint64_t random = 0;
    for (int level = 0; rows > 1 || cols > 1; level++) {
        if (level % LEVELS == 0)
            random = base_random(p->streams[GEN_STREAM_PLACE],
                                 (uint64_t)entry * WORDS + (uint64_t)(level / LEVELS));
        double draw = (double)(random & ((1 << BITS) - 1)) / (1 << BITS);
        random >>= BITS;
        bool lower = draw >= o->a + o->b;
        halve(lower, &i, &rows);
        halve(lower ? draw >= o->a + o->b + o->c : draw >= o->a, &j, &cols);
    }
    *row = (int32_t)i;
    *col = (int32_t)j;
}

static void place_entries(spry_context *ctx, const gen_problem *p, const spry_arrays *coo)
{
    int64_t drawn = coo->nnz - p->rows;
#pragma omp parallel for num_threads(spry_context_threads(ctx)) schedule(static)
    for (int64_t k = 0; k < coo->nnz; k++) {
        if (k < drawn)
            place_entry(p, k, &coo->row_index[k], &coo->col_index[k]);
        else
            coo->row_index[k] = coo->col_index[k] = (int32_t)(k - drawn);
        value_set(p->type, coo->values, k,
                  gen_random_value(p, coo->row_index[k], coo->col_index[k]));
    }
}

static void set_diagonals(spry_context *ctx, const gen_problem *p, const spry_arrays *csr)
{
#pragma omp parallel for num_threads(spry_context_threads(ctx)) schedule(static)
    for (int64_t i = 0; i < csr->rows; i++) {
        int64_t diagonal = 0;
        double sum = 0;
        for (int64_t k = csr->offsets[i]; k < csr->offsets[i + 1]; k++) {
            spry_scalar value = value_get(p->type, csr->values, k);
            if (csr->col_index[k] == i)
                diagonal = k;
            else
                sum += hypot(value.re, value.im);
        }
        value_set(p->type, csr->values, diagonal, (spry_scalar){gen_dominant(p, sum), 0});
    }
}

spry_status gen_make_rmat(spry_context *ctx, const gen_problem *p, spry_matrix **A)
{
    spry_arrays a = {.type = p->type, .format = SPRY_COO, .rows = p->rows, .cols = p->rows};
    spry_matrix *matrix = NULL;
    spry_status status = SPRY_OK;
    a.nnz = p->rows * p->per_row; /* those drawn and the diagonal */
    SPRY_GO(ctx, matrix_allocate(ctx, &a));
    place_entries(ctx, p, &a);
    SPRY_GO(ctx, matrix_wrap(ctx, &a, &matrix));
    SPRY_GO(ctx, matrix_become(matrix, SPRY_CSR));
    SPRY_GO(ctx, spry_matrix_sum_duplicates(matrix));
    set_diagonals(ctx, p, &matrix->a);
    *A = matrix;
    matrix = NULL;
done:
    spry_matrix_free(matrix);
    return status;
}
