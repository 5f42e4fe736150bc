/*
 * The matching of a symmetric matrix as pivots of one and two rows: I. S. Duff, S. Pralet,
 * Strategies for scaling and pivoting for sparse symmetric indefinite problems, SIAM J. Matrix
 * Anal. Appl. 27 (2005), 313-340.
 *
 * The matching is a permutation, and that falls into cycles i -> column_of[i] -> ... (and, where
 * the matrix is structurally singular, chains that end). Every step is a matched entry, of modulus
 * 1 once scaled. A cycle of even length is cut into pairs in one of two ways, that with the larger
 * product of determinants; of an odd one the row with the largest diagonal entry stands alone.
 */
#include "matrix/algebra/algebra.h"

#include "matrix/entries.h"

typedef struct chain {
    const matrix_arrays *a;
    const double *factor;
    int32_t *pair;
    int32_t *row; /* of the cycle or chain at hand */
    int64_t length;
    bool cycle;
} chain;

/* Entry i, j as it is scaled; 0 where there is none. */
static spry_scalar scaled(const chain *c, int32_t i, int32_t j)
{
    const int64_t k = matrix_find(c->a, i, j);
    if (k < 0)
        return (spry_scalar){0, 0};
    const spry_scalar v = value_get(c->a->type, c->a->values, k);
    return (spry_scalar){v.re * c->factor[i] * c->factor[j], v.im * c->factor[i] * c->factor[j]};
}

static double diagonal_size(const chain *c, int32_t i)
{
    const spry_scalar d = scaled(c, i, i);
    return hypot(d.re, d.im);
}

/* |a_ii a_jj - a_ij a_ji| */
static double determinant(const chain *c, int32_t i, int32_t j)
{
    const spry_scalar p = algebra_times(scaled(c, i, i), scaled(c, j, j));
    const spry_scalar q = algebra_times(scaled(c, i, j), scaled(c, j, i));
    return hypot(p.re - q.re, p.im - q.im);
}

static int32_t row_at(const chain *c, int64_t k)
{
    return c->row[k % c->length];
}

/* Pairs of `count` rows from place `first` on, which may go round. */
static void join(const chain *c, int64_t first, int64_t count)
{
    for (int64_t k = first; k + 1 < first + count; k += 2) {
        c->pair[row_at(c, k)] = row_at(c, k + 1);
        c->pair[row_at(c, k + 1)] = row_at(c, k);
    }
}

/* Sum of logs of the determinants of pairs that begin at `first`. */
static double weigh(const chain *c, int64_t first)
{
    double sum = 0;
    for (int64_t k = first; k < first + c->length; k += 2)
        sum += log(determinant(c, row_at(c, k), row_at(c, k + 1)));
    return sum;
}

static void cut(const chain *c)
{
    int64_t alone = 0;
    if (c->length % 2 == 0) {
        join(c, c->cycle && c->length > 2 && weigh(c, 1) > weigh(c, 0), c->length);
        return;
    }
    double most = -1;
    for (int64_t k = 0; k < c->length; k += c->cycle ? 1 : 2) {
        const double size = diagonal_size(c, c->row[k]);
        if (size > most) {
            most = size;
            alone = k;
        }
    }
    c->pair[c->row[alone]] = c->row[alone];
    if (c->cycle) {
        join(c, alone + 1, c->length - 1);
    } else {
        join(c, 0, alone);
        join(c, alone + 1, c->length - 1 - alone);
    }
}

/* Follows the matching from row i, and cuts what was gone through. */
static void follow(chain *c, const matching *m, int32_t i, bool cycle)
{
    c->length = 0;
    c->cycle = cycle;
    for (int32_t k = i; k >= 0 && (k != i || c->length == 0); k = m->column_of[k])
        c->row[c->length++] = k;
    cut(c);
}

spry_status algebra_match_pairs(spry_context *ctx, const matrix_arrays *a, const matching *m,
                                double *factor, int32_t *pair)
{
    chain c = {.a = a, .factor = factor, .pair = pair};
    spry_status status = base_alloc(ctx, a->rows, sizeof *c.row, &c.row);
    if (status != SPRY_STATUS_OK)
        return status;
    for (int32_t i = 0; i < a->rows; i++) {
        factor[i] = sqrt(m->left[i]) * sqrt(m->right[i]);
        pair[i] = -1;
    }
    for (int32_t i = 0; i < a->rows; i++)
        if (m->row_of[i] < 0)
            follow(&c, m, i, false);
    for (int32_t i = 0; i < a->rows; i++)
        if (pair[i] < 0)
            follow(&c, m, i, true);
    base_free(ctx, c.row);
    return status;
}
