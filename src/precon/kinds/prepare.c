/*
 * What an expert does with a matrix before it is factorized: rows and columns are scaled, rows are
 * exchanged so that large entries are on the diagonal (matrix/algebra/match.c), and all is put
 * into an order that suits what follows. With B = P_r L A R P_c^T, and a preconditioner S for B,
 *
 *   M = R P_c^T S P_r L
 *
 * is one for A: the iteration around it stays in the caller's own scale and order.
 *
 * For symmetric (hermitian) A both sides are treated alike, so that M is what S is: L = R, and rows
 * are not exchanged; pairs of rows whose entry off the diagonal was matched come next to each
 * other instead, which is where pivots of two rows are looked for.
 */
#include "precon/precon.h"

#include "matrix/algebra/algebra.h"

#include <spry/reorder.h>
#include <spry/scale.h>
#include <stdlib.h>

#define PREPARE_OPTIONS(item)                                                                      \
    PRECON_COMMON(item)                                                                            \
    item(WORD, scale, "match", 0, 0, "none equilibrate match",                                     \
         "rows and columns: the largest entries of each near 1, or those of the matching")         \
    item(BOOL, match, "yes", 0, 0, NULL,                                                           \
         "bring large entries to the diagonal by an exchange of rows; symmetric: pairs together")  \
    item(WORD, order, "amd", 0, 0, "none rcm amd nd btf", "of rows and columns alike, after that") \
    item(WORD, symmetric, "auto", 0, 0, "auto yes no",                                             \
         "treat rows and columns alike; auto: where A is symmetric or hermitian")                  \
    item(TEXT, sub, "ilut", 0, 0, NULL, "preconditioner for the prepared matrix")
enum { SCALE_NONE, SCALE_EQUILIBRATE, SCALE_MATCH };
enum { SYMMETRIC_AUTO, SYMMETRIC_YES, SYMMETRIC_NO };
typedef struct prepare_options {
    PREPARE_OPTIONS(SPRY_OPTION_FIELD)
} prepare_options;
SPRY_OPTION_TABLE(table, prepare_options, PREPARE_OPTIONS(SPRY_OPTION_ROW))

/* A row, or column, of B: which of A it is, and its factor. */
typedef struct side {
    int32_t *from;
    spry_vector *factor; /* of A's type, in the order of B */
} side;

typedef struct prepare {
    int scale;
    bool symmetric;
    side rows, cols;
    spry_matrix *B;
    spry_operator *S;
    spry_vector *r, *z; /* in the order of B */
} prepare;

/* --- the operator --------------------------------------------------------------------------------
 */

static void prepare_destroy(spry_operator *op)
{
    prepare *p = op->state;
    if (!p)
        return;
    spry_operator_free(p->S);
    spry_matrix_free(p->B);
    spry_vector_free(p->rows.factor);
    spry_vector_free(p->cols.factor);
    spry_vector_free(p->r);
    spry_vector_free(p->z);
    base_free(op->ctx, p->rows.from);
    base_free(op->ctx, p->cols.from);
    base_free(op->ctx, p);
}

/* y_k = f_k x[from_k], or with `back` y[from_k] = f_k x_k. Factors are real. */
ALWAYS_INLINE void move(spry_type type, bool back, const side *s, const spry_vector *x,
                        spry_vector *y)
{
    const int parts = matrix_parts(x->ctx, x->n);
#pragma omp parallel for num_threads(parts) schedule(static)
    for (int64_t k = 0; k < x->n; k++) {
        const double f = value_load(type, s->factor->data, k).re;
        const spry_scalar v = value_load(type, x->data, back ? k : s->from[k]);
        value_store(type, y->data, back ? s->from[k] : k, (spry_scalar){f * v.re, f * v.im});
    }
}

static void move_vector(bool back, const side *s, const spry_vector *x, spry_vector *y)
{
    switch (x->type) {
    case SPRY_TYPE_S:
        move(SPRY_TYPE_S, back, s, x, y);
        break;
    case SPRY_TYPE_D:
        move(SPRY_TYPE_D, back, s, x, y);
        break;
    case SPRY_TYPE_C:
        move(SPRY_TYPE_C, back, s, x, y);
        break;
    case SPRY_TYPE_Z:
    default:
        move(SPRY_TYPE_Z, back, s, x, y);
    }
}

static spry_status prepare_apply(const spry_operator *op, spry_transpose transpose,
                                 const spry_vector *r, spry_vector *z)
{
    const prepare *p = op->state;
    const bool plain = transpose == SPRY_TRANSPOSE_NO;
    move_vector(false, plain ? &p->rows : &p->cols, r, p->r);
    const spry_status status = spry_operator_multiply(p->S, transpose, (spry_scalar){1, 0}, p->r,
                                                      (spry_scalar){0, 0}, p->z);
    if (status == SPRY_STATUS_OK)
        move_vector(true, plain ? &p->cols : &p->rows, p->z, z);
    return status;
}

/* --- making --------------------------------------------------------------------------------------
 */

/* A factor for each old row or column, put into the order of B. */
static void put_factors(const side *s, const double *by_old)
{
    for (int64_t k = 0; k < s->factor->n; k++)
        value_set(s->factor->type, s->factor->data, k,
                  (spry_scalar){
                      by_old ? algebra_settle(by_old[s->from[k]], true, s->factor->type) : 1, 0});
}

static spry_status put_equilibrated(const spry_matrix *A, const prepare *p)
{
    spry_vector *left = NULL, *right = NULL;
    const spry_status status = spry_scaling(A, "equilibrate", &left, &right);
    for (int64_t k = 0; status == SPRY_STATUS_OK && k < A->a.rows; k++) {
        value_set(A->a.type, p->rows.factor->data, k,
                  value_get(A->a.type, left->data, p->rows.from[k]));
        value_set(A->a.type, p->cols.factor->data, k,
                  value_get(A->a.type, p->symmetric ? left->data : right->data, p->cols.from[k]));
    }
    spry_vector_free(left);
    spry_vector_free(right);
    return status;
}

/* The factors for the values of A, by the matching where they come from that. */
static spry_status find_factors(const spry_matrix *A, const prepare *p, const matching *m)
{
    if (p->scale == SCALE_EQUILIBRATE)
        return put_equilibrated(A, p);
    for (int64_t i = 0; p->scale == SCALE_MATCH && p->symmetric && i < A->a.rows; i++)
        /* NOLINTNEXTLINE(clang-analyzer-core.NullDereference): scale=match has a matching */
        m->left[i] = m->right[i] = sqrt(m->left[i]) * sqrt(m->right[i]);
    put_factors(&p->rows, p->scale == SCALE_MATCH ? m->left : NULL);
    put_factors(&p->cols, p->scale == SCALE_MATCH ? m->right : NULL);
    return SPRY_STATUS_OK;
}

static spry_status make_prepared(const spry_matrix *A, const prepare *p, spry_matrix **B)
{
    spry_context *ctx = A->ctx;
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(ctx, spry_matrix_permute(A, p->rows.from, p->cols.from, B));
    if (p->scale != SCALE_NONE)
        SPRY_GO(ctx, spry_matrix_scale(*B, p->rows.factor, p->cols.factor));
    SPRY_GO(ctx, matrix_check_finite(*B, "precon", "prepare"));
done:
    return status;
}

/* The matrix of pairs: rows of one group are one row, as are columns. */
static spry_status join_groups(const spry_matrix *A, const int32_t *group, int64_t groups,
                               spry_matrix **joined)
{
    spry_context *ctx = A->ctx;
    spry_arrays c = {.type = SPRY_TYPE_S,
                     .format = SPRY_FORMAT_COO,
                     .rows = groups,
                     .cols = groups,
                     .nnz = A->a.nnz};
    int32_t *row = NULL, *col = NULL;
    float *ones = NULL;
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(ctx, base_alloc(ctx, A->a.nnz, sizeof *row, &row));
    SPRY_GO(ctx, base_alloc(ctx, A->a.nnz, sizeof *col, &col));
    SPRY_GO(ctx, base_alloc(ctx, A->a.nnz, sizeof *ones, &ones));
    for (int64_t i = 0; i < A->a.rows; i++)
        for (int64_t k = A->a.offsets[i]; k < A->a.offsets[i + 1]; k++) {
            row[k] = group[i];
            col[k] = group[A->a.col_index[k]];
            ones[k] = 1;
        }
    c.row_index = row;
    c.col_index = col;
    c.values = ones;
    SPRY_GO(ctx, spry_matrix_new(ctx, &c, SPRY_OWN_COPY, joined));
done:
    base_free(ctx, row);
    base_free(ctx, col);
    base_free(ctx, ones);
    return status;
}

/* The order of pairs, written out: both rows of a pair one after the other. */
static spry_status order_pairs(const spry_matrix *A, const matching *m, const char *order,
                               int32_t *perm)
{
    spry_context *ctx = A->ctx;
    const int64_t n = A->a.rows;
    int32_t *pair = NULL, *group = NULL, *first = NULL, *by_group = NULL;
    double *factor = NULL;
    spry_matrix *joined = NULL;
    int64_t groups = 0, at = 0;
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(ctx, base_alloc(ctx, n, sizeof *pair, &pair));
    SPRY_GO(ctx, base_alloc(ctx, n, sizeof *group, &group));
    SPRY_GO(ctx, base_alloc(ctx, n, sizeof *first, &first));
    SPRY_GO(ctx, base_alloc(ctx, n, sizeof *factor, &factor));
    SPRY_GO(ctx, algebra_match_pairs(ctx, &A->a, m, factor, pair));
    for (int32_t i = 0; i < n; i++) {
        group[i] = pair[i] < i ? group[pair[i]] : (int32_t)groups;
        if (pair[i] >= i)
            first[groups++] = i;
    }
    SPRY_GO(ctx, join_groups(A, group, groups, &joined));
    SPRY_GO(ctx, spry_reorder(joined, order, &by_group));
    for (int64_t g = 0; g < groups; g++) {
        const int32_t i = first[by_group[g]];
        perm[at++] = i;
        if (pair[i] != i)
            perm[at++] = pair[i];
    }
done:
    spry_matrix_free(joined);
    base_free(ctx, by_group);
    base_free(ctx, factor);
    base_free(ctx, first);
    base_free(ctx, group);
    base_free(ctx, pair);
    return status;
}

/* Which row and column of A comes where. */
static spry_status find_order(const spry_matrix *A, const prepare_options *o, const matching *m,
                              const prepare *p)
{
    static const char *const names[] = {"none", "rcm", "amd", "nd", "btf"};
    spry_context *ctx = A->ctx;
    const int64_t n = A->a.rows;
    int32_t *match = NULL, *perm = NULL;
    spry_matrix *matched = NULL;
    spry_status status = SPRY_STATUS_OK;
    if (o->match && p->symmetric) {
        SPRY_GO(ctx, order_pairs(A, m, names[o->order], p->cols.from));
        memcpy(p->rows.from, p->cols.from, (size_t)n * sizeof *p->rows.from);
        goto done;
    }
    if (o->match) {
        SPRY_GO(ctx, base_alloc(ctx, n, sizeof *match, &match));
        algebra_match_order(m, match);
        if (o->order)
            SPRY_GO(ctx, spry_matrix_permute(A, match, NULL, &matched));
    }
    SPRY_GO(ctx, spry_reorder(matched ? matched : A, names[o->order], &perm));
    for (int64_t k = 0; k < n; k++) {
        p->cols.from[k] = perm[k];
        p->rows.from[k] = match ? match[perm[k]] : perm[k];
    }
done:
    spry_matrix_free(matched);
    base_free(ctx, match);
    base_free(ctx, perm);
    return status;
}

static spry_status prepare_update(spry_operator *op, const spry_matrix *A)
{
    spry_context *ctx = op->ctx;
    const prepare *p = op->state;
    matching m = {0};
    spry_matrix *B = NULL;
    spry_status status = SPRY_STATUS_OK;
    if (p->scale == SCALE_MATCH)
        SPRY_GO(ctx, algebra_match(ctx, &A->a, &m));
    SPRY_GO(ctx, find_factors(A, p, &m));
    SPRY_GO(ctx, make_prepared(A, p, &B));
    matrix_copy_bytes(ctx, p->B->a.values, B->a.values,
                      (size_t)B->a.nnz * spry_type_size(B->a.type));
    matrix_changed(p->B);
    SPRY_GO(ctx, spry_operator_update(p->S, p->B));
done:
    spry_matrix_free(B);
    algebra_match_clear(ctx, &m);
    return status;
}

static const operator_class prepare_class = {.name = "prepare",
                                             .has_transpose = true,
                                             .multiply = operator_apply_arrays,
                                             .multiply_vectors = operator_apply_vectors,
                                             .apply = prepare_apply,
                                             .update = prepare_update,
                                             .destroy = prepare_destroy};

static spry_status make_arrays(const spry_matrix *A, prepare *p)
{
    spry_context *ctx = A->ctx;
    const int64_t n = A->a.rows;
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(ctx, base_alloc(ctx, n, sizeof *p->rows.from, &p->rows.from));
    SPRY_GO(ctx, base_alloc(ctx, n, sizeof *p->cols.from, &p->cols.from));
    SPRY_GO(ctx, vector_new_at(ctx, NULL, A->a.type, n, &p->rows.factor));
    SPRY_GO(ctx, vector_new_at(ctx, NULL, A->a.type, n, &p->cols.factor));
    SPRY_GO(ctx, vector_new_at(ctx, NULL, A->a.type, n, &p->r));
    SPRY_GO(ctx, vector_new_at(ctx, NULL, A->a.type, n, &p->z));
done:
    return status;
}

/* What the other one could not do is reported with rows of B: which one of A is meant. */
static spry_status restate_row(spry_context *ctx, const prepare *p, int64_t n, spry_status status)
{
    const char *text = strstr(spry_message(ctx), "row ");
    char *end = NULL;
    const int64_t row = text ? strtoll(text + 4, &end, 10) : -1;
    if (row < 0 || row >= n || strncmp(end, " (from 0)", 9) != 0 || p->rows.from[row] == row)
        return SPRY_CAUSE(ctx, status, "precon prepare");
    return SPRY_CAUSE(ctx, status,
                      "precon prepare, in whose order row %d of the matrix is row %" PRId64,
                      p->rows.from[row], row);
}

static spry_status make_sub(const precon_job *job, prepare *p)
{
    const char *sub = ((const prepare_options *)job->options)->sub;
    spry_context *ctx = job->A->ctx;
    precon_job changed = *job;
    changed.device = NULL;
    spry_status status = precon_make_inner(&changed, p->B, sub, &p->S);
    if (status == SPRY_STATUS_OK && !p->S)
        status = SPRY_FAIL(ctx, SPRY_STATUS_BAD_USAGE,
                           "sub=%s solves nothing; take sub=ilut, or direct", sub);
    return status == SPRY_STATUS_OK ? status : restate_row(ctx, p, job->A->a.rows, status);
}

/* Orders, factors, B and S. */
static spry_status prepare_matrix(const precon_job *job, prepare *p)
{
    const prepare_options *o = job->options;
    const spry_matrix *A = job->A;
    spry_context *ctx = A->ctx;
    matching m = {0};
    spry_status status = SPRY_STATUS_OK;
    p->scale = o->scale;
    p->symmetric = o->symmetric == SYMMETRIC_YES;
    if (o->symmetric == SYMMETRIC_AUTO)
        SPRY_GO(ctx, algebra_is_symmetric(ctx, A, &p->symmetric));
    SPRY_GO(ctx, make_arrays(A, p));
    if (o->match || o->scale == SCALE_MATCH) {
        SPRY_GO(ctx, algebra_match(ctx, &A->a, &m));
        if (m.rank < A->a.rows)
            base_log(
                ctx, SPRY_LOG_WARNING,
                "precon prepare: the matrix is singular whatever its numbers are: only %" PRId64
                " of %" PRId64 " rows can have an entry in a column of their own",
                m.rank, A->a.rows);
    }
    SPRY_GO(ctx, find_order(A, o, &m, p));
    SPRY_GO(ctx, find_factors(A, p, &m));
    SPRY_GO(ctx, make_prepared(A, p, &p->B));
    SPRY_GO(ctx, make_sub(job, p));
done:
    algebra_match_clear(ctx, &m);
    return status;
}

static spry_status make(const precon_job *job, spry_operator **M)
{
    spry_context *ctx = job->A->ctx;
    const int64_t n = job->A->a.rows, size = (int64_t)spry_type_size(job->A->a.type);
    spry_operator *op = NULL;
    prepare *p = NULL;
    spry_status status = SPRY_STATUS_OK;
    *M = NULL;
    SPRY_GO(ctx, precon_operator(job, &prepare_class, sizeof *p, &p, &op));
    SPRY_GO(ctx, prepare_matrix(job, p));
    op->varies = p->S->varies;
    op->single = p->S->single;
    op->hermitian = p->symmetric && p->S->hermitian;
    op->definite = op->hermitian && p->S->definite;
    op->own_bytes = p->S->own_bytes + n * (2 * 4 + 6 * size);
    op->bytes = op->own_bytes + 2 * n * size;
    *M = op;
    op = NULL;
done:
    spry_operator_free(op);
    return status;
}

const precon_kind precon_kind_prepare = {
    .name = "prepare",
    .summary = "scales, brings large entries to the diagonal and reorders, for another one",
    .options = SPRY_OPTION_LIST(table),
    .make = make,
};
