/* Incomplete LU and Cholesky factorizations with thresholds: see kernels/ilut.c. */
#include "precon/factors/factors.h"

#include <math.h>

#define ILUT_OPTIONS(item)                                                                       \
    item(REAL, tau, "1e-3", 0, 1, NULL,                                                          \
         "numbers below tau times the mean magnitude of A's row are dropped")                    \
    item(INT, fill, "10", 0, 1e9, NULL, "entries that a row of a factor may have more than A's") \
    FACTORS_COMMON(item)

typedef struct ilut_options {
    PRECON_COMMON(SPRY_OPTION_FIELD)
    ILUT_OPTIONS(SPRY_OPTION_FIELD)
} ilut_options;
SPRY_OPTION_TABLE(table, ilut_options, PRECON_COMMON(SPRY_OPTION_ROW) ILUT_OPTIONS(SPRY_OPTION_ROW))

static factors_wanted plan_for(const precon_job *job, bool hermitian)
{
    const ilut_options *o = job->options;
    return (factors_wanted){.name = hermitian ? "ict" : "ilut",
                            .order = factors_order(o->order),
                            .hermitian = hermitian,
                            .thresholds = true,
                            .tau = o->tau,
                            .fill = o->fill,
                            .shift = o->shift,
                            .tries = (int)o->tries,
                            .solve = o->solve,
                            .sweeps = (int)o->sweeps};
}

/*
 * What factors take: a row of each has half of A's entries and, of the `fill` that it may have
 * more, as many as the threshold leaves, which is a rule of thumb from grids in two and three
 * dimensions and from circuits. While they are made the rows are kept twice, once with room to
 * grow.
 */
static spry_status begin(const precon_job *job, precon_forecast *forecast, spry_operator **begun)
{
    const ilut_options *o = job->options;
    const double rows = (double)job->A->a.rows, size = (double)spry_type_size(job->A->a.type);
    const double left = fmin(0.8 / sqrt(o->tau), rows / 2), fill = fmin((double)o->fill, left);
    const double entries = (double)job->A->a.nnz - rows + 2 * fill * rows;
    const double kept = entries * (size + sizeof(int32_t)) + rows * (size + 32), overhead = 1.3;
    forecast->bytes = forecast->reads = (int64_t)fmax(kept, 0);
    forecast->work = (int64_t)fmax(overhead * kept, 0);
    *begun = NULL;
    return SPRY_STATUS_OK;
}

static spry_status make_ilut(const precon_job *job, spry_operator **M)
{
    const factors_wanted wanted = plan_for(job, false);
    return factors_operator(job, &wanted, M);
}

static spry_status make_ict(const precon_job *job, spry_operator **M)
{
    const factors_wanted wanted = plan_for(job, true);
    return factors_operator(job, &wanted, M);
}

static spry_status check_ict(const precon_job *job)
{
    const factors_wanted wanted = plan_for(job, true);
    bool symmetric;
    return factors_check(job->A, &wanted, &symmetric);
}

const precon_kind precon_kind_ilut = {
    .name = "ilut",
    .summary = "incomplete LU factors by thresholds",
    .options = SPRY_OPTION_LIST(table),
    .make = make_ilut,
    .begin = begin,
    .sound = factors_sound,
    .on_devices = true,
    .cost = {.kept = 4, .work = 5.2, .products = 80, .vectors = 3, .share = 0.2, .sweeps = 1}};
const precon_kind precon_kind_ict = {
    .name = "ict",
    .summary = "incomplete Cholesky factors by thresholds",
    .options = SPRY_OPTION_LIST(table),
    .make = make_ict,
    .check = check_ict,
    .begin = begin,
    .sound = factors_sound,
    .on_devices = true,
    .cost = {.kept = 4, .work = 5.2, .products = 80, .vectors = 3, .share = 0.2, .sweeps = 1}};
