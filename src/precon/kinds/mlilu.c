/*
 * Multilevel incomplete factors. Rows that are not coupled among each other, and have a diagonal
 * entry to speak of, are eliminated at once:
 *
 *     A = [D  B; E  C],   S = C - E D^-1 B,
 *
 * small numbers of S are dropped, and S is what the next level is made from; another preconditioner
 * solves with the last one. Rows without a pivot are put off from level to level. What may be
 * dropped is judged by the growth of the inverse factors' rows and columns.
 *
 * Y. Saad, ILUM: a multi-elimination ILU preconditioner for general sparse matrices, SIAM J. Sci.
 * Comput. 17 (1996), 830-847; Y. Saad, B. Suchomel, ARMS: an algebraic recursive multilevel solver
 * for general sparse linear systems, Numer. Linear Algebra Appl. 9 (2002), 359-378; M. Bollhoefer,
 * Y. Saad, Multilevel preconditioners constructed from inverse-based ILUs, SIAM J. Sci. Comput. 27
 * (2006), 1627-1650.
 */
#include "precon/split.h"
#include "precon/stack.h"

#include "matrix/stats.h"

#define MLILU_OPTIONS(item)                                                                      \
    item(REAL, tau, "1e-3", 0, 1, NULL,                                                          \
         "numbers of a Schur complement are dropped below tau over the growth of the "           \
         "inverse factors, rows and columns being equilibrated")                                 \
    item(REAL, fill, "4", 1, 1e6, NULL,                                                          \
         "entries of a Schur complement over those of A, at most; tau grows where it would "     \
         "have more")                                                                            \
    item(INT, levels, "16", 1, 64, NULL, "at most")                                              \
    item(INT, size, "200", 0, 1e9, NULL, "rows that the last level may have")                    \
    item(REAL, pivot, "0.1", 0, 1, NULL,                                                         \
         "rows are eliminated whose diagonal entry is at least `pivot` times the largest")       \
    item(TEXT, last, "auto", 0, 0, NULL,                                                         \
         "what solves with the last level: any preconditioner; auto: direct, or ilutp where it " \
         "is large")

enum { MOST_LEVELS = 64, SMALL = 3000 };

typedef struct mlilu_options {
    PRECON_COMMON(SPRY_OPTION_FIELD)
    MLILU_OPTIONS(SPRY_OPTION_FIELD)
} mlilu_options;
SPRY_OPTION_TABLE(table, mlilu_options,
                  PRECON_COMMON(SPRY_OPTION_ROW) MLILU_OPTIONS(SPRY_OPTION_ROW))

enum { FIRST, REST };

/* Those that are eliminated, and the rest. */
typedef struct level {
    int64_t n[2];
    int32_t *rows[2];                 /* of the level's matrix */
    spry_vector *inverse, *conjugate; /* of D; one vector for real ones */
    spry_operator *B, *E;
    spry_vector *u, *t; /* as long as D */
    spry_vector *r, *z; /* of the level's matrix */
} level;

typedef struct mlilu {
    mlilu_options options;
    precon_job place; /* without a matrix */
    int count;
    level levels[MOST_LEVELS];
    spry_vector *left, *right; /* A's rows and columns are multiplied by */
    spry_vector *r, *z;        /* of the last level */
    spry_matrix *schur;        /* which M was made from */
    spry_operator *M;
    int64_t entries;
} mlilu;

/* --- applying ------------------------------------------------------------------------------------
 */

static void gather(const spry_vector *from, int64_t n, const int32_t *places, spry_vector *to)
{
    const size_t size = spry_type_size(from->type);
    for (int64_t k = 0; k < n; k++)
        element_move(size, to->data, k, from->data, places[k]);
}

static void scatter(const spry_vector *from, int64_t n, const int32_t *places, spry_vector *to)
{
    const size_t size = spry_type_size(from->type);
    for (int64_t k = 0; k < n; k++)
        element_move(size, to->data, places[k], from->data, k);
}

/* The rows of level k in its ordering, and those that the next one has. */
static spry_vector *right_of(const mlilu *s, int k)
{
    return k < s->count ? s->levels[k].r : s->r;
}
static spry_vector *solution_of(const mlilu *s, int k)
{
    return k < s->count ? s->levels[k].z : s->z;
}

static spry_status go_down(const mlilu *s, int k, spry_transpose transpose)
{
    const level *l = &s->levels[k];
    const bool plain = transpose == SPRY_TRANSPOSE_NO;
    const spry_vector *d = transpose == SPRY_TRANSPOSE_CONJUGATE ? l->conjugate : l->inverse;
    spry_context *ctx = l->u->ctx;
    spry_status status = SPRY_STATUS_OK;
    gather(l->r, l->n[FIRST], l->rows[FIRST], l->t);
    SPRY_GO(ctx, spry_vector_multiply(d, l->t, l->u));
    gather(l->r, l->n[REST], l->rows[REST], right_of(s, k + 1));
    SPRY_GO(ctx, split_multiply(plain ? l->E : l->B, transpose, -1, l->u, 1, right_of(s, k + 1)));
done:
    return status;
}

static spry_status go_up(const mlilu *s, int k, spry_transpose transpose)
{
    const level *l = &s->levels[k];
    const bool plain = transpose == SPRY_TRANSPOSE_NO;
    const spry_vector *d = transpose == SPRY_TRANSPOSE_CONJUGATE ? l->conjugate : l->inverse;
    spry_context *ctx = l->u->ctx;
    spry_vector *below = solution_of(s, k + 1);
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(ctx, split_multiply(plain ? l->B : l->E, transpose, 1, below, 0, l->t));
    SPRY_GO(ctx, spry_vector_multiply(d, l->t, l->t));
    SPRY_GO(ctx, spry_vector_axpy((spry_scalar){-1, 0}, l->t, l->u));
    scatter(l->u, l->n[FIRST], l->rows[FIRST], l->z);
    scatter(below, l->n[REST], l->rows[REST], l->z);
done:
    return status;
}

static spry_status mlilu_apply(const spry_operator *op, spry_transpose transpose,
                               const spry_vector *r, spry_vector *z)
{
    const mlilu *s = op->state;
    spry_context *ctx = op->ctx;
    const bool plain = transpose == SPRY_TRANSPOSE_NO;
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(ctx, spry_vector_multiply(plain ? s->left : s->right, r, right_of(s, 0)));
    for (int k = 0; k < s->count; k++)
        SPRY_GO(ctx, go_down(s, k, transpose));
    SPRY_GO(ctx, split_multiply(s->M, transpose, 1, s->r, 0, s->z));
    for (int k = s->count - 1; k >= 0; k--)
        SPRY_GO(ctx, go_up(s, k, transpose));
    SPRY_GO(ctx, spry_vector_multiply(plain ? s->right : s->left, solution_of(s, 0), z));
done:
    return status;
}

static void clear_level(spry_context *ctx, level *l)
{
    for (int k = 0; k < 2; k++)
        base_free(ctx, l->rows[k]);
    if (l->conjugate != l->inverse)
        spry_vector_free(l->conjugate);
    spry_vector *const vectors[] = {l->inverse, l->u, l->t, l->r, l->z};
    for (size_t k = 0; k < sizeof vectors / sizeof *vectors; k++)
        spry_vector_free(vectors[k]);
    spry_operator_free(l->B);
    spry_operator_free(l->E);
    *l = (level){0};
}

static void clear(spry_context *ctx, mlilu *s)
{
    for (int k = 0; k < MOST_LEVELS; k++)
        clear_level(ctx, &s->levels[k]);
    spry_operator_free(s->M);
    spry_matrix_free(s->schur);
    spry_vector *const vectors[] = {s->left, s->right, s->r, s->z};
    for (size_t k = 0; k < sizeof vectors / sizeof *vectors; k++)
        spry_vector_free(vectors[k]);
    s->left = s->right = s->r = s->z = NULL;
    s->M = NULL;
    s->schur = NULL;
    s->count = 0;
}

static void mlilu_destroy(spry_operator *op)
{
    if (!op->state)
        return;
    clear(op->ctx, op->state);
    base_free(op->ctx, op->state);
}

/* --- which rows ----------------------------------------------------------------------------------
 */

static double size_at(const matrix_arrays *a, int64_t k)
{
    return scalar_size(a->type, value_load(a->type, a->values, k));
}

/* Whether a row may be eliminated: its diagonal entry, and no neighbour that is. */
static bool may_go(const matrix_arrays *a, int64_t i, double pivot, const int8_t *state)
{
    double own = 0, most = 0;
    for (int64_t k = a->offsets[i]; k < a->offsets[i + 1]; k++) {
        const double size = size_at(a, k);
        if (a->col_index[k] == i)
            own = size;
        else if (state[a->col_index[k]] == 1)
            return false;
        most = size > most ? size : most;
    }
    return own > 0 && own >= pivot * most;
}

/* Short rows first; those that are much longer than others would make S dense. */
static void choose_rows(const matrix_arrays *a, double pivot, int8_t *state)
{
    const int64_t mean = a->nnz / (a->rows > 0 ? a->rows : 1) + 1;
    const int64_t bounds[] = {0, mean / 2, mean, 2 * mean, 4 * mean};
    for (int turn = 0; turn < 4; turn++)
        for (int64_t i = 0; i < a->rows; i++) {
            const int64_t length = a->offsets[i + 1] - a->offsets[i];
            if (state[i] != 0 || length <= bounds[turn] || length > bounds[turn + 1] ||
                !may_go(a, i, pivot, state))
                continue;
            for (int64_t k = a->offsets[i]; k < a->offsets[i + 1]; k++)
                state[a->col_index[k]] = 2; /* no longer available */
            state[i] = 1;
        }
}

static spry_status split_rows(const matrix_arrays *a, spry_context *ctx, double pivot, level *l,
                              precon_split *split)
{
    int8_t *state = NULL;
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(ctx, base_calloc(ctx, a->rows, sizeof *state, &state));
    choose_rows(a, pivot, state);
    for (int k = 0; k < 2; k++)
        SPRY_GO(ctx, base_alloc(ctx, a->rows, sizeof *l->rows[k], &l->rows[k]));
    for (int64_t i = 0; i < a->rows; i++) {
        const int part = state[i] == 1 ? FIRST : REST;
        split_add(split, i, part);
        l->rows[part][l->n[part]++] = (int32_t)i;
    }
done:
    base_free(ctx, state);
    return status;
}

/* --- a level -------------------------------------------------------------------------------------
 */

static spry_status invert_pivots(const spry_matrix *A, level *l)
{
    const matrix_arrays *a = &A->a;
    spry_context *ctx = A->ctx;
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(ctx, spry_vector_new(ctx, a->type, l->n[FIRST], NULL, SPRY_OWN_COPY, &l->inverse));
    l->conjugate = l->inverse;
    if (spry_type_is_complex(a->type)) {
        l->conjugate = NULL;
        SPRY_GO(ctx, spry_vector_like(l->inverse, l->n[FIRST], &l->conjugate));
    }
    for (int64_t k = 0; k < l->n[FIRST]; k++) {
        const int32_t i = l->rows[FIRST][k];
        const spry_scalar v = value_get(a->type, a->values, matrix_find_diagonal(a, i));
        const double size = hypot(v.re, v.im);
        const spry_scalar w = {v.re / size / size, -v.im / size / size};
        value_set(a->type, l->inverse->data, k, w);
        if (l->conjugate != l->inverse)
            value_set(a->type, l->conjugate->data, k, (spry_scalar){w.re, -w.im});
    }
done:
    return status;
}

/* Growth of the rows of L^-1 and the columns of U^-1, of which those of the level are known. */
typedef struct growth {
    double *rows, *cols;
} growth;

/* Those of the rest get what the rows that were eliminated add; they move to their new places. */
static void grow_rest(const level *l, const spry_matrix *B, const spry_matrix *E, growth *g)
{
    double *sums = g->cols; /* by old places */
    for (int64_t i = 0; i < l->n[REST]; i++) {
        double sum = g->rows[l->rows[REST][i]];
        for (int64_t k = E->a.offsets[i]; k < E->a.offsets[i + 1]; k++) {
            const int64_t j = E->a.col_index[k];
            const spry_scalar d = value_get(l->inverse->type, l->inverse->data, j);
            sum += size_at(&E->a, k) * hypot(d.re, d.im) * g->rows[l->rows[FIRST][j]];
        }
        g->rows[l->rows[REST][i]] = sum; /* no row of REST has a say in another's */
    }
    for (int64_t j = 0; j < l->n[FIRST]; j++) {
        const spry_scalar d = value_get(l->inverse->type, l->inverse->data, j);
        for (int64_t k = B->a.offsets[j]; k < B->a.offsets[j + 1]; k++)
            sums[l->rows[REST][B->a.col_index[k]]] +=
                size_at(&B->a, k) * hypot(d.re, d.im) * sums[l->rows[FIRST][j]];
    }
    for (int64_t i = 0; i < l->n[REST]; i++) { /* places rise */
        g->rows[i] = g->rows[l->rows[REST][i]];
        g->cols[i] = g->cols[l->rows[REST][i]];
    }
}

/* Takes out what is small, in place, but for the diagonal, or counts what would be left, up to more
 * than `most`. */
static int64_t drop(matrix_arrays *a, const growth *g, double tau, int64_t most, bool only_count)
{
    const size_t size = spry_type_size(a->type);
    int64_t to = 0, begin = 0;
    for (int64_t i = 0; i < a->rows; i++) {
        const int64_t end = a->offsets[i + 1];
        for (int64_t k = begin; k < end; k++) {
            const int32_t j = a->col_index[k];
            if (j != i && size_at(a, k) * fmax(g->rows[i], g->cols[j]) <= tau)
                continue;
            if (!only_count && to < k) {
                a->col_index[to] = j;
                element_move(size, a->values, to, a->values, k);
            }
            to++;
        }
        begin = end;
        if (!only_count)
            a->offsets[i + 1] = to;
        else if (to > most)
            return to;
    }
    if (!only_count)
        a->nnz = to;
    return to;
}

static spry_status level_vectors(spry_context *ctx, spry_type type, int64_t n, level *l)
{
    spry_vector **const vectors[] = {&l->u, &l->t, &l->r, &l->z};
    spry_status status = SPRY_STATUS_OK;
    for (int k = 0; k < 4; k++)
        SPRY_GO(ctx, spry_vector_new(ctx, type, k < 2 ? l->n[FIRST] : n, NULL, SPRY_OWN_COPY,
                                     vectors[k]));
done:
    return status;
}

/* Puts matrices away that it takes. */
static spry_status store_blocks(const precon_job *job, spry_matrix **B, spry_matrix **E, level *l)
{
    spry_matrix *first = *B, *second = *E;
    *B = NULL;
    const spry_status status = precon_store(job, first, &l->B);
    if (status != SPRY_STATUS_OK)
        return status;
    *E = NULL;
    return precon_store(job, second, &l->E);
}

/* *A, which it takes, becomes the next level's matrix. *worth is false where too few rows can go,
 * and then nothing is made. */
static spry_status add_level(const precon_job *job, mlilu *s, spry_matrix **A, int64_t most,
                             growth *g, bool *worth)
{
    spry_context *ctx = (*A)->ctx;
    level *l = &s->levels[s->count];
    const int64_t n = (*A)->a.rows;
    precon_split split = {0};
    spry_matrix *B = NULL, *E = NULL, *C = NULL, *S = NULL;
    double tau = s->options.tau;
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(ctx, base_go_on(ctx, "precon mlilu"));
    SPRY_GO(ctx, base_alloc(ctx, n, sizeof *split.at, &split.at));
    SPRY_GO(ctx, split_rows(&(*A)->a, ctx, s->options.pivot, l, &split));
    *worth = 20 * l->n[FIRST] >= n;
    if (!*worth) {
        clear_level(ctx, l);
        goto done;
    }
    SPRY_GO(ctx, invert_pivots(*A, l));
    SPRY_GO(ctx, split_block(&split, *A, FIRST, REST, false, &B));
    SPRY_GO(ctx, split_block(&split, *A, REST, FIRST, false, &E));
    SPRY_GO(ctx, split_block(&split, *A, REST, REST, false, &C));
    SPRY_GO(ctx, split_schur(1, C, B, E, l->inverse, &S));
    grow_rest(l, B, E, g);
    while (tau > 0 && tau < 0.5 && drop(&S->a, g, tau, most, true) > most)
        tau *= 2;
    drop(&S->a, g, tau, most, false);
    s->entries += B->a.nnz + E->a.nnz + l->n[FIRST];
    SPRY_GO(ctx, store_blocks(job, &B, &E, l));
    SPRY_GO(ctx, level_vectors(ctx, S->a.type, n, l));
    s->count++;
    spry_matrix_free(*A);
    *A = S;
    S = NULL;
done:
    base_free(ctx, split.at);
    spry_matrix_free(B);
    spry_matrix_free(E);
    spry_matrix_free(C);
    spry_matrix_free(S);
    return status;
}

/* --- all of them ---------------------------------------------------------------------------------
 */

static spry_status make_last(const precon_job *job, mlilu *s)
{
    spry_context *ctx = s->schur->ctx;
    const int64_t n = s->schur->a.rows;
    const char *spec = s->options.last;
    spry_status status = SPRY_STATUS_OK;
    if (strcmp(spec, "auto") == 0)
        spec = n <= SMALL ? "direct:regular=yes" : "ilutp";
    SPRY_GO(ctx, precon_make_inner(job, s->schur, spec, &s->M));
    if (!s->M)
        SPRY_GO(ctx, SPRY_FAIL(ctx, SPRY_STATUS_BAD_USAGE,
                               "precon mlilu: last=%s solves nothing; take direct or ilutp", spec));
    SPRY_GO(ctx, spry_vector_new(ctx, s->schur->a.type, n, NULL, SPRY_OWN_COPY, &s->r));
    SPRY_GO(ctx, spry_vector_like(s->r, n, &s->z));
done:
    return status == SPRY_STATUS_OK ? status : SPRY_CAUSE(ctx, status, "precon mlilu: the last");
}

static spry_status make_levels(const precon_job *job, mlilu *s)
{
    const spry_matrix *A = job->A;
    spry_context *ctx = A->ctx;
    const int64_t n = A->a.rows, most = (int64_t)(s->options.fill * (double)A->a.nnz);
    growth g = {0};
    bool worth = true;
    spry_status status = SPRY_STATUS_OK;
    s->entries = 0;
    SPRY_GO(ctx, stack_equilibrate(A, &s->schur, &s->left, &s->right));
    SPRY_GO(ctx, base_alloc(ctx, n, sizeof *g.rows, &g.rows));
    SPRY_GO(ctx, base_alloc(ctx, n, sizeof *g.cols, &g.cols));
    for (int64_t i = 0; i < n; i++)
        g.rows[i] = g.cols[i] = 1;
    while (worth && s->count < s->options.levels && s->schur->a.rows > s->options.size)
        SPRY_GO(ctx, add_level(job, s, &s->schur, most, &g, &worth));
    SPRY_GO(ctx, make_last(job, s));
done:
    base_free(ctx, g.rows);
    base_free(ctx, g.cols);
    return status;
}

static void note_traits(spry_operator *op, const mlilu *s)
{
    op->varies = s->M->varies;
    op->single = s->M->single;
    op->own_bytes = s->M->own_bytes;
    for (int k = 0; k < s->count; k++)
        op->own_bytes += s->levels[k].B->own_bytes + s->levels[k].E->own_bytes;
    op->bytes = op->own_bytes + 8 * op->rows * (int64_t)spry_type_size(op->type);
}

static spry_status mlilu_update(spry_operator *op, const spry_matrix *A)
{
    spry_context *ctx = op->ctx;
    mlilu *s = op->state;
    precon_job job = s->place;
    bool fine = false;
    spry_status status = SPRY_STATUS_OK;
    clear(ctx, s);
    job.A = A;
    SPRY_GO(ctx, make_levels(&job, s));
    note_traits(op, s);
    base_log(ctx, SPRY_LOG_INFO,
             "precon mlilu: %d levels with %" PRId64 " entries (%.2f times those of A), the last "
             "with %" PRId64 " rows and %" PRId64 " entries by %s",
             s->count, s->entries, (double)s->entries / (double)(A->a.nnz > 0 ? A->a.nnz : 1),
             s->schur->a.rows, s->schur->a.nnz, spry_operator_name(s->M));
    SPRY_GO(ctx, stack_check(op, A, true, &fine));
done:
    return status;
}

static const operator_class mlilu_class = {.name = "mlilu",
                                           .has_transpose = true,
                                           .multiply = operator_apply_arrays,
                                           .multiply_vectors = operator_apply_vectors,
                                           .apply = mlilu_apply,
                                           .update = mlilu_update,
                                           .destroy = mlilu_destroy};

static spry_status make(const precon_job *job, spry_operator **M)
{
    spry_operator *op = NULL;
    mlilu *s = NULL;
    spry_status status = SPRY_STATUS_OK;
    *M = NULL;
    SPRY_GO(job->A->ctx, precon_operator(job, &mlilu_class, sizeof *s, &s, &op));
    op->name = "mlilu";
    s->options = *(const mlilu_options *)job->options;
    s->place = precon_kept(job);
    s->place.device = NULL; /* it lives on the host */
    return precon_fill(op, job->A, M);
done:
    spry_operator_free(op);
    return status;
}

const precon_kind precon_kind_mlilu = {
    .name = "mlilu",
    .summary = "multilevel incomplete LU factors: independent rows are eliminated, level by level",
    .options = SPRY_OPTION_LIST(table),
    .make = make,
    .cost = {.kept = 3,
             .work = 2,
             .products = 300,
             .vectors = 6,
             .share = 0.2,
             .sweeps = 1,
             .method = "fgmres"}};
