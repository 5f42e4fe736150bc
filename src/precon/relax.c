/*
 * Relaxation as a preconditioner: one sweep of Gauss-Seidel, SOR or SSOR from zero.
 *
 * With A = L + D + U in the order of the sweep (D. M. Young, Iterative Solution of Large Linear
 * Systems, 1971; O. Axelsson, A generalized SSOR method, BIT 12 (1972), 443-467):
 *
 *   sor   M = (D/omega + L)^-1                                      gs is sor with omega = 1
 *   ssor  M = (2 - omega)/omega (D/omega + U)^-1 D (D/omega + L)^-1
 *
 * The second is omega (2 - omega) (D + omega U)^-1 D (D + omega L)^-1 with D/omega throughout; it
 * is hermitian (and positive definite for 0 < omega < 2) where A is. With the rows divided by
 * D/omega, E = omega D^-1:
 *
 *   sor   z + E L z = E r
 *   ssor  y + E L y = (2 - omega) E r,   z + E U z = y
 *
 * which is what is stored and solved, the second in place. Transposed, the sweeps are those of A^T,
 * whose lower triangle is U^T: sor goes backwards through L^T, ssor is ssor of A^T.
 *
 * The order is by colours (L. Adams, J. Ortega, A multi-color SOR method for parallel computation,
 * Proc. ICPP 1982), which all threads share, or the natural one, which a single thread must do.
 */
#include "precon/triangle.h"

/* Options of gs, sor and ssor. */
#define RELAX_ORDER(item)                                                                        \
    item(WORD, order, "multicolour", 0, 0, "multicolour natural",                                \
         "order of the rows: by colours, which all threads share, or natural, which one thread " \
         "does")
#define RELAX_OMEGA(item) item(REAL, omega, "1", 0.01, 1.99, NULL, "relaxation")

enum { RELAX_MULTICOLOUR, RELAX_NATURAL };
typedef struct relax_options {
    PRECON_COMMON(SPRY_OPTION_FIELD)
    RELAX_ORDER(SPRY_OPTION_FIELD)
    RELAX_OMEGA(SPRY_OPTION_FIELD)
} relax_options;
#define OPTION_OWNER relax_options
static const spry_option table[] = {PRECON_COMMON(SPRY_OPTION_ROW) RELAX_ORDER(SPRY_OPTION_ROW)
                                        RELAX_OMEGA(SPRY_OPTION_ROW)};
#undef OPTION_OWNER
enum { ALL = sizeof table / sizeof *table, WITHOUT_OMEGA = ALL - 1 };

/* The sweeps of A, or those of A^T. */
typedef struct relax_side {
    int count; /* 0: not made yet */
    relax_triangle sweeps[2];
} relax_side;

typedef struct relax {
    const spry_matrix *csr;
    spry_matrix *copy; /* NULL where the matrix is general CSR itself */
    bool both;         /* ssor */
    relax_order order;
    spry_vector *scale;  /* E */
    spry_vector *factor; /* of r: the same, or (2 - omega) E */
    void *work;          /* a product, where there are factors to apply to it */
    relax_side plain, transposed;
} relax;

static void clear_side(spry_context *ctx, relax_side *side)
{
    for (int k = 0; k < 2; k++)
        relax_triangle_clear(ctx, &side->sweeps[k]);
    side->count = 0;
}

/*
 * The sweeps with A (or A^T), the first of them being upper for sor transposed. E multiplies from
 * the left, also with A^T: D is the same.
 */
static spry_status make_side(spry_context *ctx, const relax *state, const spry_matrix *A,
                             bool upper, relax_side *side)
{
    spry_status status = SPRY_OK;
    SPRY_GO(ctx, relax_triangle_make(A, &state->order, upper, state->scale, &side->sweeps[0]));
    if (state->both)
        SPRY_GO(ctx, relax_triangle_make(A, &state->order, !upper, state->scale, &side->sweeps[1]));
    side->count = 1 + state->both;
done:
    if (status != SPRY_OK)
        clear_side(ctx, side);
    return status;
}

/* The sweeps for op(A); those of A^T are made at the first use. */
static spry_status find_side(const spry_operator *op, spry_transpose transpose,
                             const relax_side **side)
{
    relax *state = op->state;
    spry_matrix *transposed = NULL;
    spry_status status = SPRY_OK;
    *side = transpose == SPRY_PLAIN ? &state->plain : &state->transposed;
    if ((*side)->count > 0)
        return SPRY_OK;
    SPRY_GO(op->ctx, spry_matrix_transpose(state->csr, false, &transposed));
    SPRY_GO(op->ctx, make_side(op->ctx, state, transposed, !state->both, &state->transposed));
done:
    spry_matrix_free(transposed);
    return status;
}

static spry_status relax_multiply(const spry_operator *op, spry_transpose transpose,
                                  spry_scalar alpha, const void *x, spry_scalar beta, void *y)
{
    const relax *state = op->state;
    const relax_side *side;
    const spry_status status = find_side(op, transpose, &side);
    if (status != SPRY_OK)
        return status;
    const bool conjugate = transpose == SPRY_CONJUGATE;
    const bool plain = alpha.re == 1 && alpha.im == 0 && beta.re == 0 && beta.im == 0;
    void *z = plain ? y : state->work;
    relax_triangle_run(op->ctx, &side->sweeps[0], conjugate, state->factor->data, x, z);
    if (state->both)
        relax_triangle_run(op->ctx, &side->sweeps[1], conjugate, NULL, z, z);
    if (!plain)
        host_blend(op->ctx, op->type, op->rows, alpha, z, beta, y);
    return SPRY_OK;
}

static void relax_destroy(spry_operator *op)
{
    relax *state = op->state;
    if (!state)
        return;
    clear_side(op->ctx, &state->plain);
    clear_side(op->ctx, &state->transposed);
    relax_order_clear(op->ctx, &state->order);
    if (state->factor != state->scale)
        spry_vector_free(state->factor);
    spry_vector_free(state->scale);
    base_free(op->ctx, state->work);
    spry_matrix_free(state->copy);
    base_free(op->ctx, state);
}

static const operator_class gs_class = {
    .name = "gs", .has_transpose = true, .multiply = relax_multiply, .destroy = relax_destroy};
static const operator_class sor_class = {
    .name = "sor", .has_transpose = true, .multiply = relax_multiply, .destroy = relax_destroy};
static const operator_class ssor_class = {
    .name = "ssor", .has_transpose = true, .multiply = relax_multiply, .destroy = relax_destroy};

/* E and the factor of r. */
static spry_status make_scales(const spry_operator *op, const spry_matrix *A, double omega,
                               relax *state)
{
    spry_context *ctx = op->ctx;
    spry_status status = SPRY_OK;
    SPRY_GO(ctx, precon_inverse_diagonal(A, op->class->name, &state->scale));
    SPRY_GO(ctx, spry_vector_scale((spry_scalar){omega, 0}, state->scale));
    state->factor = state->scale;
    if (state->both && omega != 1) {
        SPRY_GO(ctx, spry_vector_new(ctx, op->type, op->rows, state->scale->data, SPRY_COPY,
                                     &state->factor));
        SPRY_GO(ctx, spry_vector_scale((spry_scalar){2 - omega, 0}, state->factor));
    }
done:
    return status;
}

/* What a plain product reads and writes: the triangles, the factor, r and z, and z again for the
 * second sweep. */
static void count_bytes(spry_operator *op, const relax *state)
{
    const int64_t vector = op->rows * (int64_t)spry_type_size(op->type);
    op->own_bytes = vector;
    for (int k = 0; k < state->plain.count; k++)
        op->own_bytes += relax_triangle_bytes(&state->plain.sweeps[k], op->type);
    op->bytes = op->own_bytes + (state->both ? 4 : 2) * vector;
}

static spry_status relax_make(const spry_matrix *A, const operator_class *class,
                              const relax_options *options, spry_operator **out)
{
    spry_context *ctx = A->ctx;
    spry_operator *op = NULL;
    relax *state = NULL;
    spry_status status = SPRY_OK;
    *out = NULL;
    SPRY_GO(ctx, operator_new(ctx, class, A->a.type, A->a.rows, A->a.cols, &op));
    SPRY_GO(ctx, base_calloc(ctx, 1, sizeof *state, &state));
    op->state = state;
    state->both = class == &ssor_class;
    SPRY_GO(ctx, make_scales(op, A, options->omega, state));
    SPRY_GO(ctx, matrix_as_csr(A, &state->csr, &state->copy));
    SPRY_GO(ctx, relax_order_make(state->csr, options->order == RELAX_NATURAL, &state->order));
    SPRY_GO(ctx, make_side(ctx, state, state->csr, false, &state->plain));
    SPRY_GO(ctx, base_alloc(ctx, op->rows, spry_type_size(op->type), &state->work));
    count_bytes(op, state);
    if (options->order != RELAX_NATURAL)
        base_log(ctx, SPRY_LOG_INFO, "precon %s: %" PRId64 " colours", class->name,
                 state->order.sets);
    *out = op;
    op = NULL;
done:
    spry_operator_free(op);
    return status;
}

static spry_status make_gs(const precon_job *job, spry_operator **M)
{
    relax_options one = *(const relax_options *)job->options;
    one.omega = 1; /* it has no such option */
    return relax_make(job->A, &gs_class, &one, M);
}

static spry_status make_sor(const precon_job *job, spry_operator **M)
{
    return relax_make(job->A, &sor_class, job->options, M);
}

static spry_status make_ssor(const precon_job *job, spry_operator **M)
{
    return relax_make(job->A, &ssor_class, job->options, M);
}

/* Triangles for A and for A^T, a transpose while they are made, orders, and vectors. */
static spry_status forecast(const precon_job *job, double *bytes)
{
    const double size = (double)spry_type_size(job->A->a.type), n = (double)job->A->a.rows;
    *bytes = 3 * (double)job->A->a.nnz * (size + 4) + n * (4 * 12 + 40 + 4 * size) + 65536;
    return SPRY_OK;
}

const precon_kind precon_kind_gs = {.name = "gs",
                                    .summary = "one sweep of Gauss-Seidel",
                                    .options = {table, WITHOUT_OMEGA},
                                    .make = make_gs,
                                    .forecast = forecast};
const precon_kind precon_kind_sor = {.name = "sor",
                                     .summary = "one sweep of successive over-relaxation",
                                     .options = {table, ALL},
                                     .make = make_sor,
                                     .forecast = forecast};
const precon_kind precon_kind_ssor = {.name = "ssor",
                                      .summary = "a sweep of SOR forth and one back",
                                      .options = {table, ALL},
                                      .make = make_ssor,
                                      .forecast = forecast};
