/* Objects of a context of their own, to be freed in any order. */
#include "support/kept.h"

kept kept_begin(support_counts *counts, const char *options)
{
    const spry_allocator allocator = support_counted(counts);
    kept k = {0};
    assert_int_equal(spry_context_new_with(&allocator, options, &k.ctx), SPRY_STATUS_OK);
    assert_ok(k.ctx, spry_generate(k.ctx, "poisson2d", "size=9", &k.A));
    assert_ok(k.ctx, spry_solver_new(k.ctx, &k.solver));
    assert_ok(k.ctx, spry_solver_set_matrix(k.solver, k.A));
    return k;
}

void kept_drop(kept *k, int which)
{
    switch (which) {
    case KEPT_CONTEXT:
        spry_context_free(k->ctx);
        break;
    case KEPT_SOLVER:
        spry_solver_free(k->solver);
        break;
    case KEPT_M:
        spry_operator_free(k->M);
        break;
    case KEPT_OP:
        spry_operator_free(k->op);
        break;
    case KEPT_B:
        spry_vector_free(k->b);
        break;
    case KEPT_X:
        spry_vector_free(k->x);
        break;
    default:
        spry_matrix_free(k->A);
    }
}
