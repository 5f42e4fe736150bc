/* Matrices of random numbers: all places taken, a fixed number per row, or an arrow. */
#include "matrix/entries.h"
#include "matrix/gen/gen.h"

#include <math.h>

enum { DENSE_MOST = 1 << 20 };

spry_scalar gen_random_value(const gen_problem *p, int64_t i, int64_t j)
{
    uint64_t key = gen_key(i, j);
    spry_scalar value = {2 * base_uniform(p->streams[GEN_STREAM_RE], key) - 1, 0};
    if (spry_type_is_complex(p->type))
        value.im = 2 * base_uniform(p->streams[GEN_STREAM_IM], key) - 1;
    return value;
}

double gen_dominant(const gen_problem *p, double sum)
{
    return sum > 0 ? p->options.dominance * sum : 1;
}

/* Writes a random off-diagonal entry and gives its magnitude. */
static double put_random(const gen_problem *p, int64_t i, int64_t j, gen_row *row)
{
    spry_scalar value = gen_random_value(p, i, j);
    gen_put(row, j, value.re, value.im);
    return sqrt(value.re * value.re + value.im * value.im);
}

spry_status gen_prepare_dense(spry_context *ctx, gen_problem *p)
{
    if (p->rows > DENSE_MOST)
        return SPRY_FAIL(ctx, SPRY_STATUS_BAD_USAGE,
                         "%" PRId64 " rows with as many entries each; the largest size is %d",
                         p->rows, (int)DENSE_MOST);
    return SPRY_STATUS_OK;
}

void gen_dense_row(const void *data, int64_t i, gen_row *row)
{
    const gen_problem *p = data;
    double sum = 0;
    if (!row->cols) {
        row->count = p->rows;
        return;
    }
    for (int64_t j = 0; j < p->rows; j++) {
        if (j == i)
            gen_put(row, j, 0, 0);
        else
            sum += put_random(p, i, j, row);
    }
    gen_set(row, i, gen_dominant(p, sum), 0);
}

spry_status gen_prepare_random(spry_context *ctx, gen_problem *p)
{
    if (p->per_row > p->rows && p->options.per_row)
        return SPRY_FAIL(ctx, SPRY_STATUS_BAD_USAGE,
                         "per-row=%" PRId64 " is more than there are columns, %" PRId64, p->per_row,
                         p->rows);
    if (p->per_row > p->rows)
        p->per_row = p->rows;
    return SPRY_STATUS_OK;
}

/*
 * per_row - 1 columns apart from the diagonal. They are drawn with repetition from per_row - 2
 * fewer columns and then distributed by their rank, which makes them distinct without a search.
 */
void gen_random_row(const void *data, int64_t i, gen_row *row)
{
    const gen_problem *p = data;
    int64_t others = p->per_row - 1;
    if (!row->cols) {
        row->count = p->per_row;
        return;
    }
    uint64_t stream = p->streams[GEN_STREAM_PLACE];
    uint64_t choices = (uint64_t)(p->rows - others);
    for (int64_t k = 0; k < others; k++)
        row->cols[k] = (int32_t)((base_random(stream, gen_key(i, k)) >> 32) * choices >> 32);
    matrix_sort_columns(row->cols, others);
    /* From the back, because the columns after the diagonal move up by one place. */
    double sum = 0;
    int64_t place = others;
    for (int64_t k = others - 1; k >= 0 && row->cols[k] + k >= i; k--, place--)
        row->cols[place] = (int32_t)(row->cols[k] + k + 1);
    for (int64_t k = 0; k < place; k++)
        row->cols[k] = (int32_t)(row->cols[k] + k);
    row->cols[place] = (int32_t)i;
    for (int64_t k = 0; k <= others; k++) {
        if (k == place)
            gen_put(row, i, 0, 0);
        else
            sum += put_random(p, i, row->cols[k], row);
    }
    gen_set(row, place, gen_dominant(p, sum), 0);
}

/*
 * Diagonal, first row and first column. The entries w of the column have |w|^2 < 2 and the diagonal
 * is 2, so that n in the corner exceeds sum |w|^2 / 2: hermitian positive definite.
 */
void gen_arrowhead_row(const void *data, int64_t i, gen_row *row)
{
    const gen_problem *p = data;
    if (i == 0) {
        gen_put(row, 0, (double)p->rows, 0);
        for (int64_t j = 1; j < p->rows; j++) {
            spry_scalar value = gen_random_value(p, 0, j);
            gen_put(row, j, value.re, value.im);
        }
        return;
    }
    spry_scalar value = gen_random_value(p, 0, i);
    gen_put(row, 0, value.re, -value.im);
    gen_put(row, i, 2, 0);
}
