/* Incomplete factorizations as operators. */
#include "precon/factors/factors.h"
#include "precon/trial.h"

#include <float.h>

#include <spry/reorder.h>

typedef struct state {
    factors f; /* the first: see factors.h */
    factors_wanted wanted;
    factors_products *products; /* NULL: the chain is what is applied */
} state;

static void clear(spry_context *ctx, factors *f)
{
    triangle_chain_clear(ctx, &f->chain);
    triangle_chain_clear(ctx, &f->transposed);
    triangle_sets_clear(ctx, &f->sets);
}

const char *factors_order(int word)
{
    static const char *const orders[] = {"none", "rcm", "amd", "nd", "colour"};
    return orders[word];
}

static spry_status factors_apply(const spry_operator *op, spry_transpose transpose,
                                 const spry_vector *r, spry_vector *z)
{
    state *s = op->state;
    spry_context *ctx = op->ctx;
    spry_status status = SPRY_STATUS_OK;
    if (s->products)
        return factors_products_apply(s->products, transpose, r, z);
    /* A hermitian M is its own M^H, and conj(M) is M^T. */
    if (transpose == SPRY_TRANSPOSE_NO || s->wanted.hermitian)
        return triangle_chain_apply(ctx, &s->f.chain, transpose == SPRY_TRANSPOSE_YES, r, z);
    if (s->f.transposed.count == 0)
        SPRY_GO(ctx, triangle_chain_transpose(ctx, &s->f.chain, &s->f.transposed));
    SPRY_GO(ctx, triangle_chain_apply(ctx, &s->f.transposed, transpose == SPRY_TRANSPOSE_CONJUGATE,
                                      r, z));
done:
    return status;
}

static void factors_destroy(spry_operator *op)
{
    state *s = op->state;
    if (!s)
        return;
    factors_products_free(op->ctx, s->products);
    clear(op->ctx, &s->f);
    base_free(op->ctx, s);
}

/* What depends on the pattern alone; for thresholds, whose pattern depends on the values, all of
 * it. */
static spry_status analyse(const spry_operator *op, const spry_matrix *A)
{
    state *s = op->state;
    int32_t *perm = NULL;
    spry_status status = SPRY_STATUS_OK;
    const bool on_device = op->device && s->wanted.solve == FACTORS_LEVELS;
    if (strcmp(s->wanted.order, "none") != 0)
        SPRY_GO(op->ctx, spry_reorder(A, s->wanted.order, &perm));
    clear(op->ctx, &s->f);
    s->f.own = s->f.sound = false;
    if (s->wanted.thresholds)
        SPRY_GO(op->ctx, factors_choose(A, &s->wanted, perm, on_device, &s->f));
    else
        SPRY_GO(op->ctx, factors_analyse(A, &s->wanted, perm, on_device, &s->f));
    s->f.chain.device = on_device ? op->device : NULL;
    s->f.chain.count = 2;
done:
    base_free(op->ctx, perm);
    return status;
}

/* The numbers for the wanted's shift, or a larger one where pivots fail, where they are to be. */
static spry_status compute(const spry_operator *op, const spry_matrix *A)
{
    state *s = op->state;
    spry_context *ctx = op->ctx;
    spry_status status = SPRY_STATUS_OK;
    if (s->wanted.thresholds || s->f.chain.count == 0)
        SPRY_GO(ctx, analyse(op, A));
    if (s->wanted.construct == FACTORS_BY_SWEEPS)
        SPRY_GO(ctx, factors_sweep(A, &s->wanted, op->device, &s->f));
    else if (!s->wanted.thresholds)
        SPRY_GO(ctx, factors_compute(A, &s->wanted, &s->f));
    triangle_chain_clear(ctx, &s->f.transposed);
    factors_products_free(ctx, s->products);
    s->products = NULL;
    if (s->wanted.solve == FACTORS_LEVELS) {
        SPRY_GO(ctx, triangle_chain_place(ctx, &s->f.chain));
    } else {
        const precon_job job = {.A = A, .device = op->device, .values = "own"};
        SPRY_GO(ctx, factors_products_make(&job, &s->wanted, &s->f, &s->products));
    }
done:
    return status;
}

/* The largest sum of moduli of a row. */
static double largest_row(const spry_matrix *A)
{
    const matrix_arrays *a = &A->a;
    double most = 0;
#pragma omp parallel for num_threads(matrix_parts(A->ctx, a->nnz)) reduction(max : most)
    for (int64_t i = 0; i < a->rows; i++) {
        double sum = 0;
        for (int64_t k = a->offsets[i]; k < a->offsets[i + 1]; k++) {
            const spry_scalar v = value_load(a->type, a->values, k);
            sum += fabs(v.re) + fabs(v.im);
        }
        most = sum > most ? sum : most;
    }
    return most;
}

/* How large M makes ones, in units of 1 / |A|: of exact factors, less than the condition number. */
static spry_status measure_growth(const spry_operator *op, const spry_matrix *A, double *growth)
{
    spry_context *ctx = op->ctx;
    const precon_job job = {.A = A, .device = op->device};
    spry_vector *ones = NULL, *z = NULL;
    double norm = 0;
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(ctx, precon_vector(&job, op->rows, NULL, &ones));
    SPRY_GO(ctx, precon_vector(&job, op->rows, NULL, &z));
    SPRY_GO(ctx, spry_vector_fill(ones, (spry_scalar){1, 0}));
    SPRY_GO(ctx, factors_apply(op, SPRY_TRANSPOSE_NO, ones, z));
    SPRY_GO(ctx, spry_vector_norm(z, &norm));
    *growth = norm / sqrt((double)op->rows) * largest_row(A);
done:
    spry_vector_free(ones);
    spry_vector_free(z);
    return status;
}

/* How bad the factors are, and from what on they are of no use. Those of LU are judged by what they
 * do to A; Cholesky's, which are definite in any case, by their growth, and so are approximate
 * solves. */
typedef struct verdict {
    const char *what;
    double is, most;
    int tries;
} verdict;

/*
 * Factors that are far from A in some directions alone, a constraint each, serve as well as others:
 * a method that makes the residual minimal is rid of these in as many steps, and shifts would
 * take more from all the other directions. So they are tried out before they are given up.
 */
static spry_status try_out(const spry_operator *op, const spry_matrix *A, verdict *v)
{
    const double little = 0.01; /* after a dozen steps: 1e-8 takes 48 */
    double left = 1;
    const spry_status status = precon_try(op, A, little, &left);
    if (status != SPRY_STATUS_OK || left > little)
        return status;
    base_log(op->ctx, SPRY_LOG_INFO,
             "precon %s: %s %.1e, but a few steps leave %.1e of a residual: the factors are kept",
             op->name, v->what, v->is, left);
    v->is = 0;
    return status;
}

static spry_status judge(const spry_operator *op, const spry_matrix *A, verdict *v)
{
    enum { SHIFTS = 3 }; /* to 0.016 times the row: larger ones make stable factors of little use */
    const state *s = op->state;
    const int tries = s->wanted.tries;
    spry_status status = SPRY_STATUS_OK;
    *v = (verdict){"they grew", 0, factors_most_growth(op->type), tries};
    if (op->rows == 0 || (s->f.sound && s->wanted.solve == FACTORS_LEVELS))
        return SPRY_STATUS_OK;
    if (s->wanted.hermitian || s->wanted.solve != FACTORS_LEVELS)
        return measure_growth(op, A, &v->is);
    *v = (verdict){"|u - M A u| is", 0, PRECON_MOST_DISTANCE, tries < SHIFTS ? tries : SHIFTS};
    SPRY_GO(op->ctx, precon_distance(op, A, v->most, &v->is));
    if (v->is > v->most)
        SPRY_GO(op->ctx, try_out(op, A, v));
done:
    return status;
}

spry_status factors_check(const spry_matrix *A, const factors_wanted *wanted, bool *symmetric)
{
    return wanted->hermitian ? precon_check_hermitian(
                                   A, wanted->name, wanted->thresholds ? "ilut" : "ilu", symmetric)
                             : SPRY_STATUS_OK;
}

/* Small pivots that are none the less taken let numbers grow beyond all use: then the diagonal is
 * shifted as where a pivot fails. */
static spry_status factors_update(spry_operator *op, const spry_matrix *A)
{
    state *s = op->state;
    spry_context *ctx = op->ctx;
    const double asked = s->wanted.shift;
    verdict v;
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(ctx, factors_check(A, &s->wanted, &s->wanted.symmetric));
    for (int turn = 0;; turn++) {
        SPRY_GO(ctx, compute(op, A));
        SPRY_GO(ctx, judge(op, A, &v));
        if (v.is <= v.most)
            break;
        if (turn >= v.tries) {
            status = SPRY_FAIL(ctx, SPRY_STATUS_BAD_INPUT,
                               "precon %s: the factors are unstable: %s %.1e with a diagonal shift "
                               "of %g times the row; try %s, %s:shift=%g, more tries, another "
                               "ordering, or a scaled matrix",
                               s->wanted.name, v.what, v.is, s->f.shift,
                               s->wanted.hermitian ? "ildl" : "ilutp", s->wanted.name,
                               s->f.shift > 0 ? 10 * s->f.shift : 0.01);
            goto done;
        }
        s->wanted.shift = s->f.shift > 0 ? 4 * s->f.shift : 1e-3;
        base_log(ctx, SPRY_LOG_INFO,
                 "precon %s: the factors are unstable: %s %.1e; again with a diagonal shift of %g "
                 "times the row",
                 s->wanted.name, v.what, v.is, s->wanted.shift);
    }
done:
    s->wanted.shift = asked;
    return status;
}

static const operator_class factors_class = {.name = "factors",
                                             .has_transpose = true,
                                             .multiply = operator_apply_arrays,
                                             .multiply_vectors = operator_apply_vectors,
                                             .apply = factors_apply,
                                             .update = factors_update,
                                             .destroy = factors_destroy};

bool factors_sound(const spry_operator *M)
{
    return M->class == &factors_class && ((const state *)M->state)->f.shift == 0;
}

spry_status factors_operator(const precon_job *job, const factors_wanted *wanted, spry_operator **M)
{
    const spry_matrix *A = job->A;
    spry_context *ctx = A->ctx;
    spry_operator *op = NULL;
    state *s = NULL;
    spry_status status = SPRY_STATUS_OK;
    *M = NULL;
    SPRY_GO(ctx, precon_operator(job, &factors_class, sizeof *s, &s, &op));
    op->name = wanted->name;
    op->device = job->device;
    op->hermitian = op->definite =
        wanted->hermitian && wanted->solve != FACTORS_ISAI && wanted->construct == FACTORS_EXACT;
    s->wanted = *wanted;
    SPRY_GO(ctx, factors_update(op, A));
    op->own_bytes =
        s->products ? factors_products_bytes(s->products) : triangle_chain_bytes(&s->f.chain);
    op->bytes = op->own_bytes + 2 * op->rows * (int64_t)spry_type_size(op->type);
    const int64_t entries = s->f.chain.t[0].offsets[op->rows] + s->f.chain.t[1].offsets[op->rows];
    base_log(ctx, SPRY_LOG_INFO,
             "precon %s: %" PRId64 " entries (%.2f times those of A), %" PRId64 " sets of rows%s",
             wanted->name, entries + op->rows,
             (double)(entries + op->rows) / (double)(A->a.nnz > 0 ? A->a.nnz : 1), s->f.sets.count,
             s->f.sets.stages == 1 ? ", in turn" : "");
    *M = op;
    op = NULL;
done:
    spry_operator_free(op);
    return status;
}
