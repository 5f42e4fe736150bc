/*
 * Block factors of saddle points, as optimization and flows have them:
 *
 *     A = [H  B; E  -C],   M = [I  -G B; 0  I] [G  0; 0  -N^-1] [I  0; -E G  I]
 *
 * with G about H^-1 and N = C + E D^-1 B for the diagonal D of H, which is solved with by another
 * preconditioner. With G = D^-1 and N^-1 exact, M is the inverse of A with D in the place of H: a
 * constraint preconditioner, all of whose eigenvalues but those of H relative to D are 1 (C.
 * Keller, N. I. M. Gould, A. J. Wathen, Constraint preconditioning for indefinite linear systems,
 * SIAM J. Matrix Anal. Appl. 21 (2000), 1300-1317). definite=yes takes |D|, and the two blocks
 * alone: a positive definite M for minres (M. F. Murphy, G. H. Golub, A. J. Wathen, A note on
 * preconditioning for indefinite linear systems, SIAM J. Sci. Comput. 21 (2000), 1969-1972).
 *
 * The second block's rows are those whose diagonal entry is missing, zero or tiny; where all rows
 * of a hermitian A have one, those whose diagonal has the rarer sign (stabilised flows).
 */
#include "precon/split.h"

enum { FIRST, SECOND };

#define KKT_OPTIONS(item)                                                                          \
    item(TEXT, sub, "jacobi", 0, 0, NULL, "what solves with H: jacobi, or any preconditioner")     \
    item(TEXT, schur, "auto", 0, 0, NULL,                                                          \
         "what solves with N = C + E D^-1 B: any preconditioner; auto: ildl, or ilutp where A is " \
         "not hermitian")                                                                          \
    item(BOOL, definite, "no", 0, 0, NULL,                                                         \
         "H and N alone, with |D| for D: a positive definite M, as minres needs it")               \
    item(INT, rows, "0", 0, 1e9, NULL,                                                             \
         "rows at the end that are constraints; 0: those without a diagonal entry, or where all "  \
         "have one those of the rarer sign")                                                       \
    item(REAL, tiny, "1e-8", 0, 1, NULL,                                                           \
         "a diagonal entry of at most `tiny` times the largest of its row is none")

typedef struct kkt_options {
    PRECON_COMMON(SPRY_OPTION_FIELD)
    KKT_OPTIONS(SPRY_OPTION_FIELD)
} kkt_options;
SPRY_OPTION_TABLE(table, kkt_options, PRECON_COMMON(SPRY_OPTION_ROW) KKT_OPTIONS(SPRY_OPTION_ROW))

typedef struct kkt {
    kkt_options options;
    precon_job place; /* without a matrix */
    precon_split rows;
    spry_operator *take[2]; /* the part of a vector: one entry per row */
    spry_operator *B, *E;   /* NULL where M has the blocks alone */
    spry_operator *G, *N;
    spry_matrix *first, *schur; /* what G and N were made from */
    spry_vector *r[2], *u[2], *t;
} kkt;

/* --- applying ------------------------------------------------------------------------------------
 */

/* M^T has E^T in the place of B and B^T in the place of E. */
static spry_status kkt_apply(const spry_operator *op, spry_transpose transpose,
                             const spry_vector *r, spry_vector *z)
{
    const kkt *s = op->state;
    spry_context *ctx = op->ctx;
    const bool turned = transpose != SPRY_TRANSPOSE_NO;
    const spry_operator *B = turned ? s->E : s->B, *E = turned ? s->B : s->E;
    spry_status status = SPRY_STATUS_OK;
    for (int k = 0; k < 2; k++)
        SPRY_GO(ctx, spry_operator_apply(s->take[k], r, s->r[k]));
    SPRY_GO(ctx, split_multiply(s->G, transpose, 1, s->r[FIRST], 0, s->u[FIRST]));
    if (E)
        SPRY_GO(ctx, split_multiply(E, transpose, -1, s->u[FIRST], 1, s->r[SECOND]));
    SPRY_GO(ctx, split_multiply(s->N, transpose, E ? -1 : 1, s->r[SECOND], 0, s->u[SECOND]));
    if (B) {
        SPRY_GO(ctx, split_multiply(B, transpose, 1, s->u[SECOND], 0, s->t));
        SPRY_GO(ctx, split_multiply(s->G, transpose, -1, s->t, 1, s->u[FIRST]));
    }
    for (int k = 0; k < 2; k++)
        SPRY_GO(ctx, split_multiply(s->take[k], SPRY_TRANSPOSE_YES, 1, s->u[k], k, z));
done:
    return status;
}

static void clear(spry_context *ctx, kkt *s)
{
    spry_operator **const operators[] = {&s->take[0], &s->take[1], &s->B, &s->E, &s->G, &s->N};
    spry_vector **const vectors[] = {&s->r[0], &s->r[1], &s->u[0], &s->u[1], &s->t};
    for (size_t k = 0; k < sizeof operators / sizeof *operators; k++) {
        spry_operator_free(*operators[k]);
        *operators[k] = NULL;
    }
    for (size_t k = 0; k < sizeof vectors / sizeof *vectors; k++) {
        spry_vector_free(*vectors[k]);
        *vectors[k] = NULL;
    }
    spry_matrix_free(s->first);
    spry_matrix_free(s->schur);
    s->first = s->schur = NULL;
    base_free(ctx, s->rows.at);
    s->rows.at = NULL;
}

static void kkt_destroy(spry_operator *op)
{
    if (!op->state)
        return;
    clear(op->ctx, op->state);
    base_free(op->ctx, op->state);
}

/* --- blocks --------------------------------------------------------------------------------------
 */

static double size_at(const matrix_arrays *a, int64_t k)
{
    const spry_scalar v = value_load(a->type, a->values, k);
    return hypot(v.re, v.im);
}

/* The sign of a row's diagonal entry; 0 where there is none to speak of. */
static int diagonal_sign(const matrix_arrays *a, int64_t i, double tiny)
{
    double own = 0, most = 0;
    int sign = 1;
    for (int64_t k = a->offsets[i]; k < a->offsets[i + 1]; k++) {
        const double size = size_at(a, k);
        if (a->col_index[k] == i) {
            own = size;
            sign = value_load(a->type, a->values, k).re < 0 ? -1 : 1;
        }
        most = size > most ? size : most;
    }
    return own > tiny * most ? sign : 0;
}

/* The sign of constraints' diagonal entries: 0, or where all rows of a hermitian A have one that
 * which fewer have. */
static int sign_of_constraints(const spry_matrix *A, bool hermitian, double tiny)
{
    int64_t count[3] = {0}; /* negative, none, positive */
    for (int64_t i = 0; i < A->a.rows && count[1] == 0; i++)
        count[1 + diagonal_sign(&A->a, i, tiny)]++;
    if (!hermitian || count[0] == 0 || count[1] > 0 || count[2] == 0)
        return 0;
    return count[0] <= count[2] ? -1 : 1;
}

/* What the rows show of a saddle point. */
typedef struct saddle {
    int32_t *coupled; /* entries of a row in columns of constraints; of a constraint: -1 */
    int64_t constraints, dominated;
    int64_t even; /* rows that constant velocities and pressures do not move */
    int signs[2]; /* of diagonal entries: negative, positive */
    bool clean;   /* the constraints have nothing among themselves */
    double products;
} saddle;

/* Rows of H: the sign of the diagonal entry, whether it is as large as the rest, and whether H and
 * B add up to nothing. */
static void look_at_first(const matrix_arrays *a, int64_t i, saddle *s)
{
    const double balanced = 0.999, rounding = 1e-8;
    double own = 0, others = 0, coupling = 0;
    spry_scalar sums[2] = {{0, 0}, {0, 0}}; /* of H, of B */
    int32_t coupled = 0;
    for (int64_t k = a->offsets[i]; k < a->offsets[i + 1]; k++) {
        const int32_t j = a->col_index[k];
        const spry_scalar v = value_load(a->type, a->values, k);
        const bool second = s->coupled[j] < 0;
        sums[second].re += v.re;
        sums[second].im += v.im;
        if (j == i) {
            own = hypot(v.re, v.im);
            s->signs[v.re > 0] = 1;
        } else if (second) {
            coupled++;
            coupling += hypot(v.re, v.im);
        } else {
            others += hypot(v.re, v.im);
        }
    }
    s->coupled[i] = coupled;
    s->dominated += own >= balanced * others;
    s->even += coupled > 0 && hypot(sums[0].re, sums[0].im) <= rounding * own &&
               hypot(sums[1].re, sums[1].im) <= rounding * coupling;
}

/* Constraints: products of their row of E D^-1 B. */
static void look_at_second(const matrix_arrays *a, int64_t i, saddle *s)
{
    for (int64_t k = a->offsets[i]; k < a->offsets[i + 1]; k++) {
        const int32_t j = a->col_index[k];
        if (s->coupled[j] >= 0)
            s->products += s->coupled[j];
        else if (size_at(a, k) > 0)
            s->clean = false;
    }
}

spry_status precon_kkt_suits(const spry_matrix *A, precon_saddle *found)
{
    /* As the rows of a divergence and its gradient have them in three dimensions, and more. */
    const double few = 16, tiny = 1e-8;
    /* Rows from which on factors of a complement with pivots cost more than multigrid. */
    const int64_t great = 100000;
    const matrix_arrays *a = &A->a;
    saddle s = {.clean = true};
    bool hermitian = false;
    spry_status status = SPRY_STATUS_OK;
    *found = (precon_saddle){NULL, 0};
    SPRY_GO(A->ctx, matrix_find_out(A->ctx, A, SPRY_FACT_HERMITIAN, &hermitian));
    SPRY_GO(A->ctx, base_alloc(A->ctx, a->rows, sizeof *s.coupled, &s.coupled));
    const int sign = sign_of_constraints(A, hermitian, tiny);
    for (int64_t i = 0; i < a->rows; i++) {
        s.coupled[i] = diagonal_sign(a, i, tiny) == sign ? -1 : 0;
        s.constraints += s.coupled[i] < 0;
    }
    for (int64_t i = 0; i < a->rows; i++)
        if (s.coupled[i] >= 0)
            look_at_first(a, i, &s);
    for (int64_t i = 0; i < a->rows && s.clean; i++)
        if (s.coupled[i] < 0)
            look_at_second(a, i, &s);
    if (s.constraints == 0 || s.signs[0] + s.signs[1] != 1)
        goto done;
    if (hermitian && 4 * s.even >= a->rows - s.constraints) /* not near walls, which are many */
        *found = (precon_saddle){"kkt:sub=amg,schur=jacobi", 1000};
    else if (s.clean && 2 * s.dominated >= a->rows - s.constraints &&
             s.products <= few * (double)s.constraints)
        *found = hermitian && a->rows >= great ? (precon_saddle){"kkt:schur=amg", 1000}
                                               : (precon_saddle){"kkt", 16 * cbrt((double)a->rows)};
done:
    base_free(A->ctx, s.coupled);
    return status;
}

static spry_status find_parts(kkt *s, const spry_matrix *A, bool hermitian)
{
    spry_context *ctx = A->ctx;
    const matrix_arrays *a = &A->a;
    const int64_t n = a->rows, rows = s->options.rows;
    const int sign = sign_of_constraints(A, hermitian, s->options.tiny);
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(ctx, base_alloc(ctx, n, sizeof *s->rows.at, &s->rows.at));
    s->rows.n[0] = s->rows.n[1] = 0;
    for (int64_t i = 0; i < n; i++)
        split_add(&s->rows, i,
                  rows > 0 ? i >= n - rows : diagonal_sign(a, i, s->options.tiny) == sign);
    if (rows == 0 && n > 0 && (s->rows.n[FIRST] == 0 || s->rows.n[SECOND] == 0))
        status = SPRY_FAIL(ctx, SPRY_STATUS_BAD_INPUT,
                           "precon kkt needs two blocks of rows, those with a diagonal entry and "
                           "constraints without, and found %" PRId64 " and %" PRId64
                           "; take ildl or ilutp, or say kkt:rows",
                           s->rows.n[FIRST], s->rows.n[SECOND]);
done:
    return status;
}

/* A matrix with one entry per row: ones that take a part of a vector, or a diagonal (d). */
static spry_status one_each(const precon_job *job, const kkt *s, int part, const spry_vector *d,
                            spry_operator **op)
{
    spry_context *ctx = job->A->ctx;
    const spry_type type = job->A->a.type;
    spry_matrix *R = NULL;
    matrix_arrays b = {.format = SPRY_FORMAT_CSR,
                       .type = type,
                       .rows = s->rows.n[part],
                       .cols = d ? s->rows.n[part] : job->A->a.rows,
                       .nnz = s->rows.n[part]};
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(ctx, matrix_allocate(ctx, &b));
    b.offsets[0] = 0;
    for (int64_t i = 0; i < job->A->a.rows; i++) {
        if (split_part(&s->rows, i) != part)
            continue;
        const int64_t k = split_place(&s->rows, i);
        b.offsets[k + 1] = k + 1;
        b.col_index[k] = (int32_t)(d ? k : i);
        value_set(type, b.values, k, d ? value_get(type, d->data, k) : (spry_scalar){1, 0});
    }
    SPRY_GO(ctx, matrix_wrap(ctx, &b, &R));
    SPRY_GO(ctx, precon_store(job, R, op));
done:
    return status;
}

/* 1 / d_i of H, or 1 / |d_i|. */
static spry_status inverse_diagonal(const kkt *s, const spry_matrix *D, spry_vector **d)
{
    const spry_type type = D->a.type;
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(D->ctx, precon_inverse_diagonal(D, "precon kkt", d));
    for (int64_t i = 0; i < D->a.rows && s->options.definite; i++) {
        const spry_scalar v = value_get(type, (*d)->data, i);
        value_set(type, (*d)->data, i, (spry_scalar){hypot(v.re, v.im), 0});
    }
done:
    return status;
}

/* --- making --------------------------------------------------------------------------------------
 */

/* Products that N takes; where they are too many it would be dense. */
static spry_status check_schur(const spry_matrix *E, const spry_matrix *B, int64_t entries)
{
    double products = 0;
    for (int64_t k = 0; k < E->a.nnz; k++) {
        const int64_t j = E->a.col_index[k];
        products += (double)(B->a.offsets[j + 1] - B->a.offsets[j]);
    }
    if (products > 100 * (double)entries + 1e6)
        return SPRY_FAIL(E->ctx, SPRY_STATUS_BAD_INPUT,
                         "precon kkt: the Schur complement is too dense, up to %.1e entries; take "
                         "ildl or ilutp",
                         products);
    return SPRY_STATUS_OK;
}

/* N = -S + E D^-1 B of the blocks. */
static spry_status make_schur(const kkt *s, const spry_matrix *A, const spry_matrix *B,
                              const spry_matrix *E, const spry_vector *d, spry_matrix **N)
{
    spry_context *ctx = A->ctx;
    spry_matrix *S = NULL;
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(ctx, check_schur(E, B, A->a.nnz));
    SPRY_GO(ctx, split_block(&s->rows, A, SECOND, SECOND, false, &S));
    SPRY_GO(ctx, split_schur(-1, S, B, E, d, N));
done:
    spry_matrix_free(S);
    return status;
}

/* G: D^-1, or what solves with H. */
static spry_status make_first(const precon_job *job, kkt *s, const spry_vector *d)
{
    spry_context *ctx = job->A->ctx;
    spry_status status = SPRY_STATUS_OK;
    if (strcmp(s->options.sub, "jacobi") == 0)
        return one_each(job, s, FIRST, d, &s->G);
    SPRY_GO(ctx, split_block(&s->rows, job->A, FIRST, FIRST, false, &s->first));
    SPRY_GO(ctx, precon_make_inner(job, s->first, s->options.sub, &s->G));
    if (!s->G)
        status =
            SPRY_FAIL(ctx, SPRY_STATUS_BAD_USAGE,
                      "precon kkt: sub=%s solves nothing; take jacobi, ic or ilu", s->options.sub);
done:
    return status == SPRY_STATUS_OK ? status
                                    : SPRY_CAUSE(ctx, status, "precon kkt: the first block");
}

static spry_status make_second(const precon_job *job, kkt *s)
{
    spry_context *ctx = job->A->ctx;
    const char *spec = s->options.schur;
    bool hermitian = false;
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(ctx, matrix_find_out(ctx, s->schur, SPRY_FACT_HERMITIAN, &hermitian));
    if (strcmp(spec, "auto") == 0)
        spec = !hermitian            ? "ilutp"
               : s->options.definite ? "ildl:definite=yes"
                                     : "ildl:definite=no";
    SPRY_GO(ctx, precon_make_inner(job, s->schur, spec, &s->N));
    if (!s->N)
        status = SPRY_FAIL(ctx, SPRY_STATUS_BAD_USAGE,
                           "precon kkt: schur=%s solves nothing; take auto, ic or direct", spec);
done:
    return status == SPRY_STATUS_OK ? status
                                    : SPRY_CAUSE(ctx, status, "precon kkt: the Schur complement");
}

static spry_status make_blocks(const precon_job *job, kkt *s)
{
    const spry_matrix *A = job->A;
    spry_context *ctx = A->ctx;
    spry_matrix *B = NULL, *E = NULL, *D = NULL;
    spry_vector *d = NULL;
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(ctx, split_block(&s->rows, A, FIRST, SECOND, false, &B));
    SPRY_GO(ctx, split_block(&s->rows, A, SECOND, FIRST, false, &E));
    SPRY_GO(ctx, split_block(&s->rows, A, FIRST, FIRST, true, &D));
    SPRY_GO(ctx, inverse_diagonal(s, D, &d));
    SPRY_GO(ctx, make_schur(s, A, B, E, d, &s->schur));
    SPRY_GO(ctx, make_first(job, s, d));
    SPRY_GO(ctx, make_second(job, s));
    if (!s->options.definite) {
        spry_matrix *given[2] = {B, E};
        B = E = NULL;
        status = precon_store(job, given[0], &s->B);
        if (status != SPRY_STATUS_OK)
            spry_matrix_free(given[1]);
        else
            SPRY_GO(ctx, precon_store(job, given[1], &s->E));
    }
done:
    spry_matrix_free(B);
    spry_matrix_free(E);
    spry_matrix_free(D);
    spry_vector_free(d);
    return status;
}

static void note_traits(spry_operator *op, const kkt *s, bool hermitian)
{
    const bool first = s->G->hermitian || !s->first;
    op->hermitian = hermitian && first && s->N->hermitian;
    op->definite =
        op->hermitian && s->options.definite && (s->G->definite || !s->first) && s->N->definite;
    op->varies = s->G->varies || s->N->varies;
    op->single = s->G->single || s->N->single;
    const spry_operator *const all[] = {s->take[0], s->take[0], s->take[1], s->take[1],
                                        s->G,       s->B,       s->E,       s->N};
    op->own_bytes = 0;
    for (size_t k = 0; k < sizeof all / sizeof *all; k++)
        op->own_bytes += all[k] ? all[k]->own_bytes : 0;
    op->own_bytes += s->B ? s->G->own_bytes : 0;
    op->bytes = op->own_bytes + 6 * op->rows * (int64_t)spry_type_size(op->type);
}

/* The two parts, where A is what the options say. */
static spry_status look_at(kkt *s, const spry_matrix *A, bool *hermitian)
{
    const spry_status status = matrix_find_out(A->ctx, A, SPRY_FACT_HERMITIAN, hermitian);
    if (status == SPRY_STATUS_OK && s->options.definite && !*hermitian)
        return SPRY_FAIL(A->ctx, SPRY_STATUS_BAD_INPUT,
                         "precon kkt: definite=yes is for hermitian matrices; take definite=no");
    return status == SPRY_STATUS_OK ? find_parts(s, A, *hermitian) : status;
}

static spry_status check(const precon_job *job)
{
    kkt s = {.options = *(const kkt_options *)job->options};
    bool hermitian = false;
    const spry_status status = look_at(&s, job->A, &hermitian);
    base_free(job->A->ctx, s.rows.at);
    return status;
}

static spry_status kkt_update(spry_operator *op, const spry_matrix *A)
{
    spry_context *ctx = op->ctx;
    kkt *s = op->state;
    precon_job job = s->place;
    bool hermitian = false;
    spry_status status = SPRY_STATUS_OK;
    clear(ctx, s);
    job.A = A;
    SPRY_GO(ctx, look_at(s, A, &hermitian));
    for (int k = 0; k < 2; k++) {
        SPRY_GO(ctx, one_each(&job, s, k, NULL, &s->take[k]));
        SPRY_GO(ctx, vector_new_at(ctx, job.device, A->a.type, s->rows.n[k], &s->r[k]));
        SPRY_GO(ctx, vector_new_at(ctx, job.device, A->a.type, s->rows.n[k], &s->u[k]));
    }
    SPRY_GO(ctx, vector_new_at(ctx, job.device, A->a.type, s->rows.n[FIRST], &s->t));
    SPRY_GO(ctx, make_blocks(&job, s));
    note_traits(op, s, hermitian);
    base_log(ctx, SPRY_LOG_INFO,
             "precon kkt: %" PRId64 " rows and %" PRId64
             " constraints, a Schur complement with %" PRId64 " entries by %s",
             s->rows.n[FIRST], s->rows.n[SECOND], s->schur->a.nnz, spry_operator_name(s->N));
done:
    return status;
}

static const operator_class kkt_class = {.name = "kkt",
                                         .has_transpose = true,
                                         .multiply = operator_apply_arrays,
                                         .multiply_vectors = operator_apply_vectors,
                                         .apply = kkt_apply,
                                         .update = kkt_update,
                                         .destroy = kkt_destroy};

static spry_status make(const precon_job *job, spry_operator **M)
{
    spry_operator *op = NULL;
    kkt *s = NULL;
    spry_status status = SPRY_STATUS_OK;
    *M = NULL;
    SPRY_GO(job->A->ctx, precon_operator(job, &kkt_class, sizeof *s, &s, &op));
    op->device = job->device;
    s->options = *(const kkt_options *)job->options;
    s->place = precon_kept(job);
    return precon_fill(op, job->A, M);
done:
    spry_operator_free(op);
    return status;
}

static void say_rows(const void *options, precon_rows *rows)
{
    rows->named = rows->named || ((const kkt_options *)options)->rows > 0;
}

const precon_kind precon_kind_kkt = {
    .name = "kkt",
    .summary = "block factors of saddle points, whose constraints have no diagonal entries",
    .options = SPRY_OPTION_LIST(table),
    .check = check,
    .make = make,
    .rows = say_rows,
    .on_devices = true,
    .cost = {.kept = 2.5,
             .work = 1.5,
             .products = 300,
             .vectors = 8,
             .iterations = 40,
             .method = "fgmres"}};
