/* Geometric multigrid: this file has its name and its options. Operators on grids make it. */
#include "precon/kinds/gmg.h"

SPRY_OPTION_TABLE(rows, gmg_options, GMG_OPTIONS(SPRY_OPTION_ROW))

static spry_status make_of_operator(const precon_job *job, spry_operator **M)
{
    const spry_operator *A = job->op;
    const operator_precon *made_by = operator_find_precon(A, "gmg");
    if (!made_by)
        return SPRY_FAIL(A->ctx, SPRY_STATUS_BAD_USAGE,
                         "precon gmg is for operators of spry_operator_stencil(), not for %s",
                         spry_operator_name(A));
    return made_by->make(job, M);
}

static spry_status refuse(const precon_job *job)
{
    return SPRY_FAIL(job->A->ctx, SPRY_STATUS_UNSUPPORTED,
                     "precon gmg needs an operator of spry_operator_stencil(), whose grid it "
                     "knows; precon amg takes matrices");
}

static spry_status make_of_matrix(const precon_job *job, spry_operator **M)
{
    *M = NULL;
    return refuse(job);
}

const precon_kind precon_kind_gmg = {.name = "gmg",
                                     .summary = "geometric multigrid, of operators on grids",
                                     .options = SPRY_OPTION_LIST(rows),
                                     .check = refuse,
                                     .make = make_of_matrix,
                                     .make_of = make_of_operator,
                                     .on_devices = true};
