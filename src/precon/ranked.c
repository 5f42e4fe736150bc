/*
 * Preconditioners on ranks. Block Jacobi: each rank has one of its own block of A, the square of
 * its own rows and columns, and applies it without a message.
 */
#include "precon/precon.h"
#include "ranks/distributed.h"

/* A property that all have to have. */
static spry_status all_have(spry_context *ctx, bool *yes)
{
    bool not = false;
    const spry_status status = team_any(ctx, !*yes, &not );
    *yes = !not ;
    return status;
}

spry_status precon_distribute(const spry_matrix *A, spry_status made, spry_operator **M)
{
    spry_context *ctx = A->ctx;
    bool has = *M != NULL, fixed, both_ways, full;
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(ctx, team_agree(ctx, made));
    SPRY_GO(ctx, all_have(ctx, &has));
    if (!has || !*M) /* none, or that of a rank without rows */
        goto done;
    fixed = !(*M)->varies;
    full = !(*M)->single;
    both_ways = spry_operator_has_transpose(*M);
    SPRY_GO(ctx, all_have(ctx, &(*M)->hermitian));
    SPRY_GO(ctx, all_have(ctx, &(*M)->definite));
    SPRY_GO(ctx, all_have(ctx, &fixed));
    SPRY_GO(ctx, all_have(ctx, &both_ways));
    SPRY_GO(ctx, all_have(ctx, &full));
    (*M)->single = !full;
    (*M)->varies = !fixed;
    (*M)->one_way = !both_ways;
    (*M)->rows_part = (*M)->cols_part = dist_own_cols(A);
done:
    if (status != SPRY_STATUS_OK || !has) {
        spry_operator_free(*M);
        *M = NULL;
    }
    return status;
}

/* For a rank without rows, which can make nothing of them: it agrees to what the others have. */
static spry_status do_nothing(const spry_operator *op, spry_transpose transpose, spry_scalar alpha,
                              const void *x, spry_scalar beta, void *y)
{
    (void)op, (void)transpose, (void)alpha, (void)x, (void)beta, (void)y;
    return SPRY_STATUS_OK;
}

static const operator_class nothing_class = {
    .name = "nothing", .has_transpose = true, .multiply = do_nothing};

static spry_status make_nothing(const spry_matrix *own, spry_operator **M)
{
    const spry_status status = operator_new(own->ctx, &nothing_class, own->a.type, 0, 0, M);
    if (status == SPRY_STATUS_OK)
        (*M)->hermitian = (*M)->definite = true;
    return status;
}

spry_status precon_warm(spry_context *ctx, bool *warmed, spry_status status)
{
    if (*warmed)
        return status;
    const spry_status agreed = team_agree(ctx, status);
    *warmed = agreed == SPRY_STATUS_OK;
    return agreed;
}

/* What is made of own blocks: jacobi, or block-jacobi with what a spec has inside, or names. */
static void name_blocks(spry_context *ctx, const precon_spec *spec, char name[32])
{
    char own[SPRY_OPTION_TEXT_SIZE];
    const char *inner = precon_spec_name(spec);
    if (spec->kind == &precon_kind_block_jacobi &&
        options_get_text(ctx, spec->kind->options, spec->fields, "inner", own, sizeof own) ==
            SPRY_STATUS_OK)
        inner = own;
    if (spec->kind == &precon_kind_jacobi)
        snprintf(name, 32, "jacobi");
    else
        snprintf(name, 32, "block-jacobi:inner=%.*s", (int)strcspn(inner, ":"), inner);
}

static spry_status check_square(const spry_matrix *A, const precon_spec *spec)
{
    return A->distributed->square
               ? SPRY_STATUS_OK
               : SPRY_FAIL(A->ctx, SPRY_STATUS_BAD_USAGE,
                           "precon %.64s needs a square matrix, with the same rows and columns on "
                           "each rank",
                           spec->text);
}

spry_status precon_begin_ranked(spry_context *ctx, const spry_matrix *A, const spry_operator *near,
                                const precon_spec *spec, precon_forecast *forecast,
                                spry_operator **begun, char name[32])
{
    const spry_matrix *own = A->distributed->own;
    bool across = false;
    spry_status status = SPRY_STATUS_OK;
    *forecast = (precon_forecast){.known = true};
    *begun = NULL;
    snprintf(name, 32, "none");
    if (spec->kind && !spec->kind->make)
        return SPRY_STATUS_OK;
    SPRY_GO(ctx, check_square(A, spec));
    name_blocks(ctx, spec, name);
    SPRY_GO(ctx, precon_begin_across(A, spec, &across, forecast, name));
    if (!across && (own->a.rows > 0 || spec->kind == &precon_kind_jacobi))
        status = precon_begin(ctx, own, near, spec, forecast, begun);
    SPRY_GO(ctx, team_agree(ctx, status));
done:
    return status;
}

spry_status precon_make_ranked(spry_context *ctx, const spry_matrix *A, const spry_operator *near,
                               const precon_spec *spec, spry_operator **begun, spry_operator **M,
                               char name[32])
{
    char local[32]; /* its name, which block Jacobi's contains */
    *M = NULL;
    snprintf(name, 32, "none");
    if (spec->kind && !spec->kind->make)
        return SPRY_STATUS_OK;
    const spry_matrix *own = A->distributed->own;
    bool made = false;
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(ctx, check_square(A, spec));
    SPRY_GO(ctx, precon_make_across(A, spec, near ? near->device : NULL, &made, M, name));
    if (made)
        return SPRY_STATUS_OK;
    if (own->a.rows == 0 && spec->kind != &precon_kind_jacobi)
        status = make_nothing(own, M);
    else
        status = precon_make(ctx, own, near, spec, begun, M, local);
    SPRY_GO(ctx, precon_distribute(A, status, M));
    name_blocks(ctx, spec, name);
done:
    return status;
}
