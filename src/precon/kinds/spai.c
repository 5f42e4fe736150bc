/*
 * The sparse approximate inverse that finds its pattern: columns grow from the diagonal by those
 * vectors that reduce || A m - e_k || most, until that is below eps (M. Grote, T. Huckle: see
 * grow.h). The pattern is found on the host; values come from it as those of sai do, where M is to
 * live, and new values of A keep it.
 */
#include "precon/inverse/local.h"

#define SPAI_GROWTH(item)                                                                    \
    item(REAL, eps, "0.4", 0, 1, NULL, "length of a column's residual that is small enough") \
    item(INT, steps, "5", 0, 1000, NULL, "how often a column grows at most")                 \
    item(INT, add, "5", 1, 1000, NULL, "entries that a step adds at most")                   \
    item(INT, most, "50", 1, 100000, NULL, "entries of a column at most")                    \
    item(WORD, side, "right", 0, 0, "right left",                                            \
         "right: A M is near I, columns of M; left: M A is, rows of M")
enum { SIDE_RIGHT, SIDE_LEFT };
typedef struct spai_options {
    PRECON_COMMON(SPRY_OPTION_FIELD)
    SPAI_GROWTH(SPRY_OPTION_FIELD)
} spai_options;
SPRY_OPTION_TABLE(table, spai_options, PRECON_COMMON(SPRY_OPTION_ROW) SPAI_GROWTH(SPRY_OPTION_ROW))

static local_growth growth_of(const spai_options *options)
{
    return (local_growth){.kind = LOCAL_LEAST_SQUARES,
                          .eps = options->eps,
                          .steps = options->steps,
                          .add = options->add,
                          .most = options->most};
}

/* A and A^T as the problems want them, and the diagonal's pattern. */
typedef struct start {
    spry_matrix *transposed, *pattern;
    const spry_matrix *B, *T;
} start;

static void start_clear(start *s)
{
    spry_matrix_free(s->transposed);
    spry_matrix_free(s->pattern);
}

static spry_status start_make(const precon_job *job, start *s)
{
    const spai_options *options = job->options;
    const bool right = options->side == SIDE_RIGHT;
    const local_pattern diagonal = {.tau = 0, .power = 1, .most = 1};
    spry_context *ctx = job->A->ctx;
    spry_status status = SPRY_STATUS_OK;
    *s = (start){0};
    SPRY_GO(ctx, spry_matrix_transpose(job->A, false, &s->transposed));
    SPRY_GO(ctx, local_pattern_make(job->A, NULL, &diagonal, &s->pattern));
    s->B = right ? s->transposed : job->A;
    s->T = right ? job->A : s->transposed;
done:
    return status;
}

static spry_status make(const precon_job *job, spry_operator **M)
{
    const spai_options *options = job->options;
    const local_growth how = growth_of(options);
    spry_context *ctx = job->A->ctx;
    start s;
    spry_status status = SPRY_STATUS_OK;
    *M = NULL;
    SPRY_GO(ctx, start_make(job, &s));
    SPRY_GO(ctx, local_grow(s.B, s.T, &how, s.pattern));
    const start taken = s;
    s = (start){0};
    SPRY_GO(ctx, local_inverse(job, "spai", LOCAL_LEAST_SQUARES, options->side == SIDE_RIGHT,
                               taken.pattern, taken.transposed, M));
done:
    start_clear(&s);
    return status;
}

const precon_kind precon_kind_spai = {
    .name = "spai",
    .summary = "a sparse approximate inverse by least squares that finds its pattern",
    .options = SPRY_OPTION_LIST(table),
    .make = make,
    .on_devices = true,
    .half = true,
    .cost = {.kept = 1, .work = 1, .products = 400, .vectors = 1, .share = 0.5}};
