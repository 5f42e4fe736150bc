/* Incomplete LU and Cholesky factorizations with thresholds: see kernels/ilut.c. */
#include "precon/factors.h"

#define ILUT_OPTIONS(item)                                                                       \
    item(REAL, tau, "1e-3", 0, 1, NULL,                                                          \
         "numbers below so much times the mean magnitude of A's row are dropped")                \
    item(INT, fill, "10", 0, 1e9, NULL, "entries that a row of a factor may have more than A's") \
    FACTORS_COMMON(item)

typedef struct ilut_options {
    PRECON_COMMON(SPRY_OPTION_FIELD)
    ILUT_OPTIONS(SPRY_OPTION_FIELD)
} ilut_options;
#define OPTION_OWNER ilut_options
static const spry_option table[] = {PRECON_COMMON(SPRY_OPTION_ROW) ILUT_OPTIONS(SPRY_OPTION_ROW)};
#undef OPTION_OWNER

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

const precon_kind precon_kind_ilut = {.name = "ilut",
                                      .summary = "incomplete LU factors by thresholds",
                                      .options = SPRY_OPTION_LIST(table),
                                      .make = make_ilut,
                                      .sound = factors_sound,
                                      .on_devices = true};
const precon_kind precon_kind_ict = {.name = "ict",
                                     .summary = "incomplete Cholesky factors by thresholds",
                                     .options = SPRY_OPTION_LIST(table),
                                     .make = make_ict,
                                     .check = check_ict,
                                     .sound = factors_sound,
                                     .on_devices = true};
