/* Diagonal scaling by the sums of rows, z_i = r_i / sum_j |a_ij|: no eigenvalue of M A is larger
 * than 1 in modulus (S. Gershgorin, Izv. Akad. Nauk SSSR 6 (1931), 749-754). Rows of zeros stay. */
#include "matrix/stats.h"
#include "precon/precon.h"

SPRY_OPTION_TABLE(table, precon_common, PRECON_COMMON(SPRY_OPTION_ROW))

static spry_status apply(const spry_operator *op, spry_transpose transpose, const spry_vector *r,
                         spry_vector *z)
{
    (void)transpose; /* M, which the state has, is real and diagonal */
    return spry_vector_multiply(op->state, r, z);
}

static spry_status update(spry_operator *op, const spry_matrix *A)
{
    spry_vector *scale = op->state;
    for (int64_t i = 0; i < op->rows; i++) {
        double sum = 0;
        for (int64_t k = A->a.offsets[i]; k < A->a.offsets[i + 1]; k++)
            sum += scalar_size(op->type, value_load(op->type, A->a.values, k));
        value_store(op->type, scale->data, i, (spry_scalar){isnormal(sum) ? 1 / sum : 1, 0});
    }
    return SPRY_STATUS_OK;
}

static void destroy(spry_operator *op)
{
    spry_vector_free(op->state);
}

static const operator_class gershgorin_class = {.name = "gershgorin",
                                                .has_transpose = true,
                                                .multiply = operator_apply_arrays,
                                                .multiply_vectors = operator_apply_vectors,
                                                .apply = apply,
                                                .update = update,
                                                .destroy = destroy};

static spry_status make(const precon_job *job, spry_operator **M)
{
    const spry_matrix *A = job->A;
    spry_vector *scale;
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(A->ctx, operator_new(A->ctx, &gershgorin_class, A->a.type, A->a.rows, A->a.rows, M));
    SPRY_GO(A->ctx, spry_vector_new(A->ctx, A->a.type, A->a.rows, NULL, SPRY_OWN_COPY, &scale));
    (*M)->state = scale;
    (*M)->hermitian = (*M)->definite = true;
    status = update(*M, A);
done:
    return status;
}

const precon_kind precon_kind_gershgorin = {.name = "gershgorin",
                                            .summary = "the inverse of the sums of rows",
                                            .options = SPRY_OPTION_LIST(table),
                                            .make = make,
                                            .cost = {.products = 1, .vectors = 1}};
