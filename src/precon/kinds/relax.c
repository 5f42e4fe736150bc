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
#include "precon/factors/triangle.h"

#include <spry/reorder.h>

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
SPRY_OPTION_TABLE(table, relax_options,
                  PRECON_COMMON(SPRY_OPTION_ROW) RELAX_ORDER(SPRY_OPTION_ROW)
                      RELAX_OMEGA(SPRY_OPTION_ROW))
enum { ALL = sizeof table / sizeof *table, WITHOUT_OMEGA = ALL - 1 };

typedef struct relax {
    const spry_matrix *A;
    bool both, natural; /* both: ssor */
    double omega;
    triangle_sets sets;
    triangle_chain plain, transposed;
} relax;

static spry_status make_sets(const spry_operator *op, relax *state)
{
    const spry_matrix *A = state->A;
    const triangle_pattern pattern = {.offsets = A->a.offsets, .columns = A->a.col_index};
    int32_t *perm = NULL;
    spry_status status = SPRY_STATUS_OK;
    if (!state->natural)
        SPRY_GO(op->ctx, spry_reorder(A, "colour", &perm));
    SPRY_GO(op->ctx, triangle_sets_make(op->ctx, op->rows, &pattern, 1, perm, op->device != NULL,
                                        &state->sets));
done:
    base_free(op->ctx, perm);
    return status;
}

/*
 * The sweeps with A (or A^T), the first of them being upper for sor transposed. E multiplies from
 * the left, also with A^T: D is the same.
 */
static spry_status make_chain(const spry_operator *op, const spry_matrix *A, bool upper,
                              triangle_chain *c)
{
    const relax *state = op->state;
    spry_context *ctx = op->ctx;
    spry_vector *scale = NULL;
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(ctx, precon_inverse_diagonal(A, op->class->name, &scale));
    SPRY_GO(ctx, spry_vector_scale((spry_scalar){state->omega, 0}, scale));
    triangle_chain_clear(ctx, c);
    *c = (triangle_chain){.device = op->device, .sets = &state->sets, .type = op->type};
    for (int k = 0; k < 1 + state->both; k++)
        SPRY_GO(ctx, triangle_of_matrix(A, c->sets, k ? !upper : upper, scale, &c->t[k]));
    if (state->both)
        SPRY_GO(ctx, spry_vector_scale((spry_scalar){2 - state->omega, 0}, scale));
    SPRY_GO(ctx, triangle_by_places(ctx, c->sets, op->type, scale->data, &c->f[0]));
    c->count = 1 + state->both;
    SPRY_GO(ctx, triangle_chain_place(ctx, c));
done:
    spry_vector_free(scale);
    if (status != SPRY_STATUS_OK)
        triangle_chain_clear(ctx, c);
    return status;
}

/* The sweeps for op(A); those of A^T are made at the first use. */
static spry_status find_chain(const spry_operator *op, spry_transpose transpose,
                              const triangle_chain **c)
{
    relax *state = op->state;
    spry_matrix *transposed = NULL;
    spry_status status = SPRY_STATUS_OK;
    *c = transpose == SPRY_TRANSPOSE_NO ? &state->plain : &state->transposed;
    if ((*c)->count > 0)
        return SPRY_STATUS_OK;
    SPRY_GO(op->ctx, spry_matrix_transpose(state->A, false, &transposed));
    SPRY_GO(op->ctx, make_chain(op, transposed, !state->both, &state->transposed));
done:
    spry_matrix_free(transposed);
    return status;
}

static spry_status relax_apply(const spry_operator *op, spry_transpose transpose,
                               const spry_vector *r, spry_vector *z)
{
    const triangle_chain *c;
    const spry_status status = find_chain(op, transpose, &c);
    return status == SPRY_STATUS_OK
               ? triangle_chain_apply(op->ctx, c, transpose == SPRY_TRANSPOSE_CONJUGATE, r, z)
               : status;
}

static spry_status relax_update(spry_operator *op, const spry_matrix *A)
{
    relax *state = op->state;
    const spry_status status = make_chain(op, A, false, &state->plain);
    if (status != SPRY_STATUS_OK)
        return status;
    state->A = A;
    triangle_chain_clear(op->ctx, &state->transposed);
    return SPRY_STATUS_OK;
}

static void relax_destroy(spry_operator *op)
{
    relax *state = op->state;
    if (!state)
        return;
    triangle_chain_clear(op->ctx, &state->plain);
    triangle_chain_clear(op->ctx, &state->transposed);
    triangle_sets_clear(op->ctx, &state->sets);
    base_free(op->ctx, state);
}

#define RELAX_CLASS(text)                                                                         \
    {                                                                                             \
        .name = text, .has_transpose = true, .multiply = operator_apply_arrays,                   \
        .multiply_vectors = operator_apply_vectors, .apply = relax_apply, .update = relax_update, \
        .destroy = relax_destroy                                                                  \
    }
static const operator_class gs_class = RELAX_CLASS("gs"), sor_class = RELAX_CLASS("sor"),
                            ssor_class = RELAX_CLASS("ssor");

static spry_status relax_make(const precon_job *job, const operator_class *class,
                              const relax_options *options, spry_operator **out)
{
    const spry_matrix *A = job->A;
    spry_context *ctx = A->ctx;
    spry_operator *op = NULL;
    relax *state = NULL;
    spry_status status = SPRY_STATUS_OK;
    *out = NULL;
    SPRY_GO(ctx, operator_new(ctx, class, A->a.type, A->a.rows, A->a.cols, &op));
    SPRY_GO(ctx, base_calloc(ctx, 1, sizeof *state, &state));
    op->state = state;
    op->device = job->device;
    *state = (relax){.A = A,
                     .both = class == &ssor_class,
                     .natural = options->order == RELAX_NATURAL,
                     .omega = options->omega};
    SPRY_GO(ctx, make_sets(op, state));
    SPRY_GO(ctx, make_chain(op, A, false, &state->plain));
    op->own_bytes = triangle_chain_bytes(&state->plain);
    op->bytes = op->own_bytes + 2 * op->rows * (int64_t)spry_type_size(op->type);
    base_log(ctx, SPRY_LOG_INFO, "precon %s: %" PRId64 " sets of rows", class->name,
             state->sets.count);
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
    return relax_make(job, &gs_class, &one, M);
}

static spry_status make_sor(const precon_job *job, spry_operator **M)
{
    return relax_make(job, &sor_class, job->options, M);
}

static spry_status make_ssor(const precon_job *job, spry_operator **M)
{
    return relax_make(job, &ssor_class, job->options, M);
}

const precon_kind precon_kind_gs = {
    .name = "gs",
    .summary = "one sweep of Gauss-Seidel",
    .options = {table, WITHOUT_OMEGA, sizeof *table, 0},
    .make = make_gs,
    .on_devices = true,
    .cost = {.products = 2, .vectors = 2, .share = 0.4, .sweeps = 1}};
const precon_kind precon_kind_sor = {
    .name = "sor",
    .summary = "one sweep of successive over-relaxation",
    .options = {table, ALL, sizeof *table, 0},
    .make = make_sor,
    .on_devices = true,
    .cost = {.products = 2, .vectors = 2, .share = 0.4, .sweeps = 1}};
const precon_kind precon_kind_ssor = {
    .name = "ssor",
    .summary = "a sweep of SOR forth and one back",
    .options = {table, ALL, sizeof *table, 0},
    .make = make_ssor,
    .on_devices = true,
    .cost = {.products = 2, .vectors = 2, .share = 0.4, .sweeps = 1}};
