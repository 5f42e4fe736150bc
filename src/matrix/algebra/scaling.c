/* Factors for rows and columns: by the diagonal, by norms, by Ruiz's iteration, by the matching. */
#include "matrix/algebra/algebra.h"

#include "matrix/entries.h"

#include <spry/scale.h>

#define SCALING_OPTIONS(item)                                                                  \
    item(BOOL, exact, "yes", 0, 0, NULL, "factors that are powers of two: no rounding errors") \
    item(WORD, norm, "max", 0, 0, "max two", "row, column: the norm that becomes 1")           \
    item(INT, sweeps, "10", 1, 1000, NULL, "equilibrate: iterations at most")                  \
    item(REAL, tol, "0.01", 0, 1, NULL, "equilibrate: how near to 1 the largest entries must come")

typedef struct scaling_options {
    SCALING_OPTIONS(SPRY_OPTION_FIELD)
} scaling_options;

SPRY_OPTION_TABLE(table, scaling_options, SCALING_OPTIONS(SPRY_OPTION_ROW))
enum { NORM_MAX, NORM_TWO };

static const spry_option_list option_list = SPRY_OPTION_LIST(table);

/* What a kind works on: the matrix, and factors that begin as ones. */
typedef struct scaling {
    const spry_matrix *A;
    const matrix_arrays *a; /* general CSR without duplicates */
    const spry_context *ctx;
    const scaling_options *options;
    double *left, *right;
} scaling;

static double magnitude(const matrix_arrays *a, int64_t k)
{
    const spry_scalar v = value_load(a->type, a->values, k);
    const double size = v.im == 0 ? fabs(v.re) : hypot(v.re, v.im);
    return isfinite(size) ? size : 0;
}

static double row_norm(const matrix_arrays *a, int64_t i, int norm)
{
    double most = 0, sum = 0;
    for (int64_t k = a->offsets[i]; k < a->offsets[i + 1]; k++)
        most = fmax(most, magnitude(a, k));
    if (norm == NORM_MAX || most == 0)
        return most;
    for (int64_t k = a->offsets[i]; k < a->offsets[i + 1]; k++) {
        const double part = magnitude(a, k) / most;
        sum += part * part;
    }
    const double size = most * sqrt(sum);
    return isfinite(size) ? size : most;
}

static void scale_rows(const scaling *s, double *factors, const matrix_arrays *a)
{
    const int parts = matrix_parts(s->ctx, a->nnz);
#pragma omp parallel for num_threads(parts) schedule(dynamic, 1024)
    for (int64_t i = 0; i < a->rows; i++) {
        const double norm = row_norm(a, i, s->options->norm);
        factors[i] = norm > 0 ? 1 / norm : 1;
    }
}

static spry_status by_rows(spry_context *ctx, const scaling *s)
{
    (void)ctx;
    scale_rows(s, s->left, s->a);
    return SPRY_STATUS_OK;
}

static spry_status by_columns(spry_context *ctx, const scaling *s)
{
    matrix_arrays transposed;
    const spry_status status = matrix_transpose_arrays(ctx, s->a, &transposed);
    if (status == SPRY_STATUS_OK)
        scale_rows(s, s->right, &transposed);
    matrix_free_arrays(ctx, &transposed);
    return status;
}

static spry_status by_diagonal(spry_context *ctx, const scaling *s)
{
    const matrix_arrays *a = s->a;
    if (a->rows != a->cols)
        return SPRY_FAIL(ctx, SPRY_STATUS_BAD_USAGE,
                         "scaling symmetric is for square matrices, this one is %" PRId64
                         " x %" PRId64 "; try equilibrate",
                         a->rows, a->cols);
    const int parts = matrix_parts(ctx, a->nnz);
#pragma omp parallel for num_threads(parts) schedule(dynamic, 1024)
    for (int64_t i = 0; i < a->rows; i++) {
        double size = 0;
        for (int64_t k = a->offsets[i]; k < a->offsets[i + 1]; k++)
            if (a->col_index[k] == i)
                size = magnitude(a, k);
        if (size == 0)
            size = row_norm(a, i, NORM_MAX);
        s->left[i] = s->right[i] = size > 0 ? 1 / sqrt(size) : 1;
    }
    return SPRY_STATUS_OK;
}

/* Raises *most to `size`, whichever thread comes first: the largest of numbers has no order. */
static void raise_to(_Atomic double *most, double size)
{
    double old = atomic_load_explicit(most, memory_order_relaxed);
    while (size > old && !atomic_compare_exchange_weak_explicit(
                             most, &old, size, memory_order_relaxed, memory_order_relaxed))
        continue;
}

/* The largest entries of the rows and columns as they are scaled now. */
static void find_largest(const scaling *s, double *rows, _Atomic double *columns)
{
    const matrix_arrays *a = s->a;
    const int parts = matrix_parts(s->ctx, a->nnz);
    for (int64_t j = 0; j < a->cols; j++)
        atomic_init(&columns[j], 0);
#pragma omp parallel for num_threads(parts) schedule(dynamic, 1024)
    for (int64_t i = 0; i < a->rows; i++) {
        double most = 0;
        for (int64_t k = a->offsets[i]; k < a->offsets[i + 1]; k++) {
            const int32_t j = a->col_index[k];
            const double size = magnitude(a, k) * s->left[i] * s->right[j];
            most = size > most ? size : most; /* no NaN is left */
            raise_to(&columns[j], size);
        }
        rows[i] = most;
    }
}

/* Divides factors by the square roots of the largest entries; returns how far those are from 1. */
static double soften(double *factor, double largest, double worst)
{
    if (!(largest > 0))
        return worst;
    *factor /= sqrt(largest);
    return fmax(worst, fabs(1 - largest));
}

static spry_status by_ruiz(spry_context *ctx, const scaling *s)
{
    double *rows = NULL, worst = 1;
    _Atomic double *columns = NULL;
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(ctx, base_alloc(ctx, s->a->rows, sizeof *rows, &rows));
    SPRY_GO(ctx, base_alloc(ctx, s->a->cols, sizeof *columns, &columns));
    for (int64_t sweep = 0; sweep < s->options->sweeps && worst > s->options->tol; sweep++) {
        worst = 0;
        find_largest(s, rows, columns);
        for (int64_t i = 0; i < s->a->rows; i++)
            worst = soften(&s->left[i], rows[i], worst);
        for (int64_t j = 0; j < s->a->cols; j++)
            worst = soften(&s->right[j], atomic_load(&columns[j]), worst);
    }
done:
    base_free(ctx, (void *)columns);
    base_free(ctx, rows);
    return status;
}

spry_status algebra_is_symmetric(spry_context *ctx, const spry_matrix *A, bool *yes)
{
    *yes = A->a.symmetry != SPRY_SYMMETRY_GENERAL;
    if (*yes || A->a.rows != A->a.cols)
        return SPRY_STATUS_OK;
    const spry_status status = matrix_find_out(ctx, A, SPRY_FACT_HERMITIAN, yes);
    return *yes || status != SPRY_STATUS_OK ? status
                                            : matrix_find_out(ctx, A, SPRY_FACT_SYMMETRIC, yes);
}

static spry_status by_matching(spry_context *ctx, const scaling *s)
{
    matching m;
    bool symmetric = false;
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(ctx, algebra_match(ctx, s->a, &m));
    SPRY_GO(ctx, algebra_is_symmetric(ctx, s->A, &symmetric));
    memcpy(s->left, m.left, (size_t)m.rows * sizeof *m.left);
    memcpy(s->right, m.right, (size_t)m.cols * sizeof *m.right);
    for (int64_t i = 0; symmetric && i < m.rows; i++)
        s->left[i] = s->right[i] = sqrt(m.left[i]) * sqrt(m.right[i]);
done:
    algebra_match_clear(ctx, &m);
    return status;
}

typedef struct scaling_kind {
    const char *name, *summary;
    spry_status (*make)(spry_context *ctx, const scaling *s);
} scaling_kind;

static const scaling_kind kinds[] = {
    {"symmetric", "rows and columns by 1 / sqrt(|a_ii|)", by_diagonal},
    {"row", "rows by one over their norms", by_rows},
    {"column", "columns by one over their norms", by_columns},
    {"equilibrate", "the largest entries of rows and columns near 1 (Ruiz)", by_ruiz},
    {"match", "entries of the largest product become 1, others less", by_matching},
};
enum { KINDS = sizeof kinds / sizeof *kinds };

bool algebra_scaling_at(int index, spry_entry *entry)
{
    if (index >= KINDS)
        return false;
    entry->name = kinds[index].name;
    entry->summary = kinds[index].summary;
    entry->options = option_list;
    return true;
}

static spry_status read_kind(spry_context *ctx, const char *text, const scaling_kind **kind,
                             scaling_options *options)
{
    char names[128] = "", name[SPRY_OPTION_TEXT_SIZE];
    const size_t length = strcspn(text, ":");
    spry_status status = SPRY_STATUS_OK;
    snprintf(name, sizeof name, "%.*s", (int)(length < sizeof name ? length : sizeof name), text);
    for (int i = 0; i < KINDS; i++)
        base_add_word(names, sizeof names, kinds[i].name);
    const int found = base_find_word(names, name);
    if (found < 0)
        return base_unknown_word(ctx, "scaling", name, names);
    *kind = &kinds[found];
    SPRY_GO(ctx, spry_options_default(ctx, option_list, options));
    SPRY_GO(ctx,
            spry_options_parse(ctx, option_list, options, text[length] ? text + length + 1 : NULL));
done:
    return status == SPRY_STATUS_OK ? status : SPRY_CAUSE(ctx, status, "scaling %s", (*kind)->name);
}

double algebra_settle(double factor, bool exact, spry_type type)
{
    const double most = type_is_single(type) ? 0x1p126 : 0x1p1022;
    factor = fmin(fmax(factor, 1 / most), most);
    return exact ? exp2(round(log2(factor))) : factor;
}

static spry_status make_vector(spry_context *ctx, spry_type type, int64_t n, const double *factors,
                               bool exact, spry_vector **v)
{
    const spry_status status = spry_vector_new(ctx, type, n, NULL, SPRY_OWN_COPY, v);
    for (int64_t i = 0; status == SPRY_STATUS_OK && i < n; i++)
        value_store(type, (*v)->data, i, (spry_scalar){algebra_settle(factors[i], exact, type), 0});
    return status;
}

static spry_status make_ones(spry_context *ctx, int64_t n, double **ones)
{
    const spry_status status = base_alloc(ctx, n, sizeof **ones, ones);
    for (int64_t i = 0; status == SPRY_STATUS_OK && i < n; i++)
        (*ones)[i] = 1;
    return status;
}

spry_status spry_scaling(const spry_matrix *A, const char *kind, spry_vector **left,
                         spry_vector **right)
{
    SPRY_NEED(CTX_OF(A), A, kind, left, right);
    matrix_follow(A);
    spry_context *ctx = A->ctx;
    spry_status status = SPRY_STATUS_OK;
    const scaling_kind *chosen = NULL;
    scaling_options options;
    const spry_matrix *csr = NULL;
    spry_matrix *owned = NULL;
    scaling s = {.A = A, .ctx = ctx, .options = &options};
    *left = *right = NULL;
    SPRY_GO(ctx, read_kind(ctx, kind, &chosen, &options));
    SPRY_GO(ctx, matrix_as_sorted_csr(A, &csr, &owned));
    s.a = &csr->a;
    SPRY_GO(ctx, make_ones(ctx, A->a.rows, &s.left));
    SPRY_GO(ctx, make_ones(ctx, A->a.cols, &s.right));
    SPRY_GO(ctx, chosen->make(ctx, &s));
    SPRY_GO(ctx, make_vector(ctx, A->a.type, A->a.rows, s.left, options.exact, left));
    SPRY_GO(ctx, make_vector(ctx, A->a.type, A->a.cols, s.right, options.exact, right));
done:
    if (status != SPRY_STATUS_OK) {
        spry_vector_free(*left);
        *left = NULL;
    }
    base_free(ctx, s.left);
    base_free(ctx, s.right);
    spry_matrix_free(owned);
    return status;
}

/* How far factors go from 1, as exponents of two. */
typedef struct reach {
    double up, down; /* of left and 1 / right; of 1 / left and right */
} reach;

static reach reach_of(const matching *m)
{
    reach r = {0, 0};
    for (int64_t i = 0; i < m->rows; i++) {
        r.up = fmax(r.up, log2(m->left[i]));
        r.down = fmax(r.down, -log2(m->left[i]));
    }
    for (int64_t j = 0; j < m->cols; j++) {
        r.up = fmax(r.up, -log2(m->right[j]));
        r.down = fmax(r.down, log2(m->right[j]));
    }
    return r;
}

bool algebra_match_within(matching *m, int most)
{
    reach r = reach_of(m);
    if (fmax(r.up, r.down) > most) {
        const double shift = exp2(round((r.down - r.up) / 2));
        for (int64_t i = 0; i < m->rows; i++)
            m->left[i] *= shift;
        for (int64_t j = 0; j < m->cols; j++)
            m->right[j] /= shift;
        r = reach_of(m);
    }
    return m->rank == m->rows && m->rank == m->cols && fmax(r.up, r.down) <= most;
}

spry_status algebra_balance(const spry_matrix *A, spry_vector **left, spry_vector **right)
{
    const int most = algebra_most_exponent(A->a.type);
    spry_context *ctx = A->ctx;
    const spry_matrix *csr = NULL;
    spry_matrix *owned = NULL;
    matching m = {0};
    bool symmetric = false;
    spry_status status = SPRY_STATUS_OK;
    *left = *right = NULL;
    SPRY_GO(ctx, matrix_as_sorted_csr(A, &csr, &owned));
    SPRY_GO(ctx, algebra_match(ctx, &csr->a, &m));
    SPRY_GO(ctx, algebra_is_symmetric(ctx, A, &symmetric));
    for (int64_t i = 0; symmetric && i < m.rows; i++)
        m.left[i] = m.right[i] = sqrt(m.left[i]) * sqrt(m.right[i]);
    if (!algebra_match_within(&m, most)) {
        SPRY_GO(ctx, spry_scaling(A, "equilibrate", left, right));
        goto done;
    }
    SPRY_GO(ctx, make_vector(ctx, A->a.type, m.rows, m.left, true, left));
    SPRY_GO(ctx, make_vector(ctx, A->a.type, m.cols, m.right, true, right));
done:
    if (status != SPRY_STATUS_OK) {
        spry_vector_free(*left);
        *left = NULL;
    }
    algebra_match_clear(ctx, &m);
    spry_matrix_free(owned);
    return status;
}
