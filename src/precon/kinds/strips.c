/* Strips with absorbing layers: this file has their name and their options. Operators of waves on
 * grids make them. */
#include "precon/kinds/strips.h"

SPRY_OPTION_TABLE(rows, strips_options, STRIPS_OPTIONS(SPRY_OPTION_ROW))

static spry_status make_of_operator(const precon_job *job, spry_operator **M)
{
    const spry_operator *A = job->op;
    const operator_precon *made_by = operator_find_precon(A, "strips");
    if (!made_by)
        return SPRY_FAIL(A->ctx, SPRY_STATUS_BAD_USAGE,
                         "precon strips is for operators of spry_operator_helmholtz(), not for %s",
                         spry_operator_name(A));
    return made_by->make(job, M);
}

static spry_status refuse(const precon_job *job)
{
    return SPRY_FAIL(job->A->ctx, SPRY_STATUS_UNSUPPORTED,
                     "precon strips needs an operator of spry_operator_helmholtz(), whose grid it "
                     "knows; precon schwarz takes matrices");
}

static spry_status make_of_matrix(const precon_job *job, spry_operator **M)
{
    *M = NULL;
    return refuse(job);
}

const precon_kind precon_kind_strips = {
    .name = "strips",
    .summary = "strips of a grid with absorbing layers at their cuts, for waves",
    .options = SPRY_OPTION_LIST(rows),
    .check = refuse,
    .make = make_of_matrix,
    .make_of = make_of_operator};
