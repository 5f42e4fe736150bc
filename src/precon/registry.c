/* The preconditioners there are, and which one "auto" takes. */
#include "precon/precon.h"

#include <spry/solver.h>

typedef struct precon_kind {
    const char *name, *summary;
    spry_status (*make)(const spry_matrix *A, spry_operator **op);
} precon_kind;

static const precon_kind kinds[] = {
    {"none", "no preconditioner", NULL},
    {"jacobi", "the inverse of the diagonal", spry_operator_jacobi},
};
enum { KINDS = sizeof kinds / sizeof *kinds };

bool spry_precon_describe(int index, const char **name, const char **summary)
{
    if (index < 0 || index >= KINDS)
        return false;
    *name = kinds[index].name;
    *summary = kinds[index].summary;
    return true;
}

/* Jacobi where every diagonal entry is real and positive, as conjugate gradients needs it. */
static spry_status choose(spry_context *ctx, const spry_matrix *A, const char **name)
{
    *name = "none";
    if (!A || A->a.rows != A->a.cols) {
        base_log(ctx, SPRY_LOG_INFO, "precon none: there is no square matrix to make one from");
        return SPRY_OK;
    }
    spry_vector *d = NULL;
    spry_status status = SPRY_OK;
    SPRY_GO(ctx, spry_matrix_diagonal(A, &d));
    for (int64_t i = 0; i < d->n; i++) {
        spry_scalar v = value_get(d->type, d->data, i);
        if (!(v.re > 0) || v.im != 0) {
            base_log(ctx, SPRY_LOG_INFO,
                     "precon none: the diagonal entry of row %" PRId64 " (from 0) is not positive",
                     i);
            goto done;
        }
    }
    *name = "jacobi";
    base_log(ctx, SPRY_LOG_INFO, "precon jacobi: the diagonal is positive");
done:
    spry_vector_free(d);
    return status;
}

spry_status precon_make(spry_context *ctx, const spry_matrix *A, const char *spec,
                        spry_operator **M, char name[32])
{
    *M = NULL;
    const char *wanted = spec;
    if (strcmp(spec, "auto") == 0) {
        spry_status status = choose(ctx, A, &wanted);
        if (status != SPRY_OK)
            return status;
    }
    char names[256] = "auto";
    for (int i = 0; i < KINDS; i++) {
        if (strcmp(wanted, kinds[i].name) == 0) {
            snprintf(name, 32, "%s", kinds[i].name);
            if (!kinds[i].make)
                return SPRY_OK;
            if (!A)
                return SPRY_FAIL(ctx, SPRY_BAD_USAGE, "precon=%s needs a matrix, not an operator",
                                 wanted);
            return kinds[i].make(A, M);
        }
        base_add_word(names, sizeof names, kinds[i].name);
    }
    return base_unknown_word(ctx, "precon", wanted, names);
}
