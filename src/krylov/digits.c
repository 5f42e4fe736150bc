/*
 * Where x is large, rounding each of its numbers to the nearest one that there is leaves a residual
 * of |A| |x| roundings, however exactly x was known. But which of its neighbours a number is
 * rounded to is free, and choices can make up for each other: among the points of the grid of
 * numbers there are others than the nearest one to the solution, most of them far away along what A
 * makes small, whose residuals are much smaller. To look for the smallest is to look for the
 * nearest point of the lattice that is spanned by the columns of A, each times the last digit of
 * its unknown. All of them at once are too many; it is done for one column at a time, and then for
 * blocks of neighbours (lattice.h).
 *
 * Complex systems are taken as real ones of twice the size. Everything is done in a fixed order by
 * one thread.
 */
#include "krylov/digits.h"

#include "krylov/lattice.h"
#include "matrix/entries.h"

#include <float.h>
#include <math.h>

enum {
    SWEEPS = 30, /* over columns, and over blocks, at most */
    LONG = 128   /* entries of rows and columns that blocks leave out */
};
static const double most_work = 3e10; /* multiplications and additions in all: a few seconds */

typedef struct search {
    spry_context *ctx;
    matrix_arrays rows, columns; /* of A as a real matrix, and of its transpose */
    int64_t n;
    bool single;
    double *x, *r;
    double *squares; /* |a_j|^2; 0: the column is left alone */
    double sum;      /* |r|^2 */
    double goal;     /* of that */
    double fine;     /* a digit that changes |r| by less than this need not be the last */
    double work;
    /* blocks */
    int32_t *block_of; /* the last one that a column was in */
    int32_t blocks;
    int32_t *place; /* of a row in the block; -1: it is not there */
    int32_t row_of[LATTICE_MOST * LONG];
    double *dense;
    int64_t room; /* numbers that are there for it */
    lattice lattice;
} search;

/* A column of a block: its unknown is changed by a whole number of grains. */
typedef struct member {
    int32_t column;
    double grain, old;
} member;
typedef struct block {
    int count, rows;
    member of[LATTICE_MOST];
} block;

/* --- the system as a real one -------------------------------------------------------------------
 */

/* Real numbers in one of the type. */
static int parts_of(spry_type type)
{
    return spry_type_is_complex(type) ? 2 : 1;
}

static spry_status make_rows(spry_context *ctx, const matrix_arrays *a, matrix_arrays *to)
{
    const int parts = parts_of(a->type);
    *to = (matrix_arrays){.type = SPRY_TYPE_D,
                          .format = SPRY_FORMAT_CSR,
                          .rows = parts * a->rows,
                          .cols = parts * a->cols,
                          .nnz = parts * parts * a->nnz};
    const spry_status status = matrix_allocate(ctx, to);
    if (status != SPRY_STATUS_OK)
        return status;
    int64_t at = 0;
    to->offsets[0] = 0;
    for (int64_t i = 0; i < to->rows; i++) {
        const int part = (int)(i % parts);
        for (int64_t k = a->offsets[i / parts]; k < a->offsets[i / parts + 1]; k++) {
            const spry_scalar v = value_load(a->type, a->values, k);
            for (int p = 0; p < parts; p++, at++) {
                to->col_index[at] = parts * a->col_index[k] + p;
                ((double *)to->values)[at] = p == part ? v.re : p > part ? -v.im : v.im;
            }
        }
        to->offsets[i + 1] = at;
    }
    return SPRY_STATUS_OK;
}

/* Numbers of a vector, one after another. */
static double number_at(const spry_vector *v, int64_t i)
{
    const int parts = parts_of(v->type);
    const spry_scalar value = value_get(v->type, v->data, i / parts);
    return i % parts ? value.im : value.re;
}

static void put_numbers(const double *from, spry_vector *v)
{
    const int parts = parts_of(v->type);
    for (int64_t i = 0; i < v->n; i++)
        value_set(v->type, v->data, i,
                  (spry_scalar){from[parts * i], parts > 1 ? from[parts * i + 1] : 0});
}

static double sum_of_squares(int64_t n, const double *v)
{
    double sum = 0;
    for (int64_t i = 0; i < n; i++)
        sum += v[i] * v[i];
    return sum;
}

static spry_status open_search(const spry_matrix *A, double goal, const spry_vector *x,
                               const spry_vector *r, search *s)
{
    spry_context *ctx = A->ctx;
    spry_status status = SPRY_STATUS_OK;
    s->ctx = ctx;
    s->single = type_is_single(x->type);
    SPRY_GO(ctx, make_rows(ctx, &A->a, &s->rows));
    SPRY_GO(ctx, matrix_transpose_arrays(ctx, &s->rows, &s->columns));
    s->n = s->rows.rows;
    SPRY_GO(ctx, base_alloc(ctx, s->n, sizeof *s->x, &s->x));
    SPRY_GO(ctx, base_alloc(ctx, s->n, sizeof *s->r, &s->r));
    SPRY_GO(ctx, base_alloc(ctx, s->n, sizeof *s->squares, &s->squares));
    SPRY_GO(ctx, base_calloc(ctx, s->n, sizeof *s->block_of, &s->block_of));
    SPRY_GO(ctx, base_alloc(ctx, s->n, sizeof *s->place, &s->place));
    const double *values = s->columns.values;
    for (int64_t j = 0; j < s->n; j++) {
        const int64_t begin = s->columns.offsets[j];
        const double sum = sum_of_squares(s->columns.offsets[j + 1] - begin, values + begin);
        s->squares[j] = sum > DBL_MIN / DBL_EPSILON && sum < DBL_MAX * DBL_EPSILON ? sum : 0;
        s->x[j] = number_at(x, j);
        s->r[j] = number_at(r, j);
        s->place[j] = -1;
    }
    s->sum = sum_of_squares(s->n, s->r);
    s->goal = goal * goal;
done:
    return status;
}

static void close_search(spry_context *ctx, search *s)
{
    if (!s)
        return;
    matrix_free_arrays(ctx, &s->rows);
    matrix_free_arrays(ctx, &s->columns);
    base_free(ctx, s->x);
    base_free(ctx, s->r);
    base_free(ctx, s->squares);
    base_free(ctx, s->block_of);
    base_free(ctx, s->place);
    base_free(ctx, s->dense);
    base_free(ctx, s);
}

static bool is_over(const search *s)
{
    return !(s->sum > s->goal) || s->work >= most_work || spry_context_interrupted(s->ctx, false);
}

/* --- one column at a time -----------------------------------------------------------------------
 */

static double rounded(const search *s, double a)
{
    return s->single ? (double)(float)a : a;
}

/* r = r - a_j change, and x_j with it. */
static void change(search *s, int64_t j, double to)
{
    const double by = to - s->x[j], *values = s->columns.values;
    for (int64_t k = s->columns.offsets[j]; k < s->columns.offsets[j + 1]; k++)
        s->r[s->columns.col_index[k]] -= values[k] * by;
    s->x[j] = to;
}

/* The x_j for the smallest |r|. */
static void choose_one(search *s, int64_t j)
{
    const double *values = s->columns.values;
    double dot = 0;
    if (s->squares[j] == 0)
        return;
    for (int64_t k = s->columns.offsets[j]; k < s->columns.offsets[j + 1]; k++)
        dot += values[k] * s->r[s->columns.col_index[k]];
    const double to = rounded(s, s->x[j] + dot / s->squares[j]), by = to - s->x[j];
    const double gain = by * (2 * dot - by * s->squares[j]);
    if (gain > 0 && isfinite(to))
        change(s, j, to);
}

static void choose_singles(search *s)
{
    for (int64_t j = 0; j < s->n; j++)
        choose_one(s, j);
    s->work += 4 * (double)s->columns.nnz;
}

/* --- blocks -------------------------------------------------------------------------------------
 */

static bool is_long(const matrix_arrays *a, int64_t i)
{
    return a->offsets[i + 1] - a->offsets[i] > LONG;
}

static void add_member(search *s, int32_t j, block *b)
{
    const double size = fabs(s->x[j]);
    const double last = s->single ? (double)(nextafterf((float)size, INFINITY) - (float)size)
                                  : nextafter(size, INFINITY) - size;
    const double fine = exp2(ceil(log2(s->fine / sqrt(s->squares[j]))));
    s->block_of[j] = s->blocks;
    b->of[b->count++] = (member){.column = j, .grain = fmax(last, fine), .old = s->x[j]};
}

/* Columns that share rows, nearest first. */
static void gather(search *s, int32_t seed, int most, block *b)
{
    const matrix_arrays *columns = &s->columns, *rows = &s->rows;
    b->count = 0;
    s->blocks++;
    add_member(s, seed, b);
    for (int h = 0; h < b->count; h++) {
        const int32_t j = b->of[h].column;
        for (int64_t k = columns->offsets[j]; k < columns->offsets[j + 1]; k++) {
            const int32_t i = columns->col_index[k];
            for (int64_t t = rows->offsets[i]; t < rows->offsets[i + 1] && !is_long(rows, i); t++) {
                const int32_t other = rows->col_index[t];
                if (b->count == most)
                    return;
                if (s->block_of[other] != s->blocks && s->squares[other] > 0 &&
                    !is_long(columns, other))
                    add_member(s, other, b);
            }
        }
    }
}

/* Whether there is room for the dense matrix of a block; one that has none is left as it is. */
static bool has_room(search *s, const block *b)
{
    const int64_t need = (int64_t)b->count * b->rows;
    if (need > s->room) {
        char message[MESSAGE_SIZE];
        memcpy(message, s->ctx->message, sizeof message);
        base_free(s->ctx, s->dense);
        s->dense = NULL;
        s->room = need + need / 4;
        if (base_alloc(s->ctx, s->room, sizeof *s->dense, &s->dense) != SPRY_STATUS_OK) {
            memcpy(s->ctx->message, message, sizeof message);
            s->room = 0;
            return false;
        }
    }
    return true;
}

/* The columns of a block times their grains, as a dense matrix; the rows are noted. */
static bool fill(search *s, block *b)
{
    const matrix_arrays *columns = &s->columns;
    const double *values = columns->values;
    b->rows = 0;
    for (int q = 0; q < b->count; q++)
        for (int64_t j = b->of[q].column, k = columns->offsets[j]; k < columns->offsets[j + 1]; k++)
            if (s->place[columns->col_index[k]] < 0) {
                s->place[columns->col_index[k]] = b->rows;
                s->row_of[b->rows++] = columns->col_index[k];
            }
    const bool fits = has_room(s, b);
    if (fits)
        memset(s->dense, 0, (size_t)(b->count * b->rows) * sizeof *s->dense);
    for (int q = 0; q < b->count && fits; q++)
        for (int64_t j = b->of[q].column, k = columns->offsets[j]; k < columns->offsets[j + 1]; k++)
            s->dense[q * b->rows + s->place[columns->col_index[k]]] += values[k] * b->of[q].grain;
    for (int i = 0; i < b->rows; i++)
        s->place[s->row_of[i]] = -1;
    return fits;
}

static double dot(int n, const double *a, const double *b)
{
    double sum = 0;
    for (int i = 0; i < n; i++)
        sum += a[i] * b[i];
    return sum;
}

/* Q R of the dense matrix by Gram and Schmidt, twice for each column, and y = Q^T r. */
static void orthogonalise(search *s, const block *b)
{
    const int rows = b->rows;
    lattice *l = &s->lattice;
    l->n = b->count;
    memset(l->r, 0, sizeof l->r);
    for (int k = 0; k < b->count; k++) {
        double *column = s->dense + k * rows;
        for (int i = 0; i < 2 * k; i++) {
            const double *other = s->dense + i % k * rows, part = dot(rows, other, column);
            l->r[k][i % k] += part;
            for (int t = 0; t < rows; t++)
                column[t] -= part * other[t];
        }
        const double length = sqrt(dot(rows, column, column));
        l->r[k][k] = length;
        l->y[k] = 0;
        for (int t = 0; t < rows && length > 0; t++) {
            column[t] /= length;
            l->y[k] += column[t] * s->r[s->row_of[t]];
        }
    }
    s->work += 8.0 * rows * b->count * b->count;
}

static double block_sum(const search *s, const block *b)
{
    double sum = 0;
    for (int i = 0; i < b->rows; i++)
        sum += s->r[s->row_of[i]] * s->r[s->row_of[i]];
    return sum;
}

/* Changes the unknowns of a block where that makes |r| smaller. */
static void choose_block(search *s, int32_t seed, int most)
{
    block b;
    double z[LATTICE_MOST], to[LATTICE_MOST];
    gather(s, seed, most, &b);
    if (!fill(s, &b))
        return;
    orthogonalise(s, &b);
    lattice_nearest(&s->lattice, z);
    s->work += 100.0 * b.count * b.count * b.count;
    for (int q = 0; q < b.count; q++) {
        to[q] = rounded(s, b.of[q].old + z[q] * b.of[q].grain);
        if (!isfinite(to[q]))
            return;
    }
    const double before = block_sum(s, &b);
    for (int q = 0; q < b.count; q++)
        change(s, b.of[q].column, to[q]);
    const double after = block_sum(s, &b);
    if (after < before) {
        s->sum -= before - after;
        return;
    }
    for (int q = 0; q < b.count; q++)
        change(s, b.of[q].column, b.of[q].old);
}

/* Blocks that overlap, around other columns in each sweep. */
static void choose_blocks(search *s, int most, int k)
{
    const int step = most / 4;
    s->fine = sqrt(fmax(s->sum, s->goal) / (double)s->n) / 1024;
    for (int64_t j = 7 * k % step; j < s->n && !is_over(s); j += step)
        if (s->squares[j] > 0 && !is_long(&s->columns, j))
            choose_block(s, (int32_t)j, most);
}

/* --- all ----------------------------------------------------------------------------------------
 */

/* One sweep, over blocks of so many columns; the share of |r|^2 that it has left. */
static double sweep(search *s, int most, int k)
{
    const double before = s->sum;
    if (most == 1)
        choose_singles(s);
    else
        choose_blocks(s, most, k);
    s->sum = sum_of_squares(s->n, s->r);
    return s->sum / before;
}

/* Whether sweeps that go on like the last one come to the goal, with what larger blocks may bring:
 * |r| has become four times smaller with each doubling where that did much. */
static bool may_arrive(const search *s, double left, int sweeps, int most)
{
    const double gain = 16;
    return s->sum * pow(left, sweeps) <= s->goal * pow(gain, log2((double)LATTICE_MOST / most));
}

/* Small blocks are cheap, large ones find more. */
static void run(search *s)
{
    const double slow = 0.7, still = 0.95;
    for (int k = 0; k < SWEEPS && !is_over(s); k++)
        if (sweep(s, 1, k) > still)
            break;
    for (int k = 0, most = LATTICE_MOST / 4; k < SWEEPS && !is_over(s); k++) {
        const double left = sweep(s, most, k);
        if ((left > still && most == LATTICE_MOST) || !may_arrive(s, left, SWEEPS - k - 1, most))
            break;
        if (left > slow && most < LATTICE_MOST)
            most *= 2;
    }
}

spry_status digits_choose(const spry_matrix *A, double goal, spry_vector *x, spry_vector *r)
{
    spry_context *ctx = A->ctx;
    search *s = NULL;
    spry_status status = SPRY_STATUS_OK;
    if (A->a.rows > INT32_MAX / parts_of(A->a.type))
        return SPRY_STATUS_OK;
    SPRY_GO(ctx, base_calloc(ctx, 1, sizeof *s, &s));
    SPRY_GO(ctx, open_search(A, goal, x, r, s));
    run(s);
    put_numbers(s->x, x);
    put_numbers(s->r, r);
done:
    close_search(ctx, s);
    return status;
}
