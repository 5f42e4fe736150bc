/*
 * Incomplete LU and Cholesky factorizations with a pattern by levels of fill.
 *
 * ilu: J. A. Meijerink, H. A. van der Vorst, An iterative solution method for linear systems of
 * which the coefficient matrix is a symmetric M-matrix, Math. Comp. 31 (1977), 148-162; modified
 * ones keep the row sums of A: I. Gustafsson, A class of first order factorization methods, BIT 18
 * (1978), 142-156. ic is the same of hermitian matrices, U = L^H.
 */
#include "device/linalg/vector.h"
#include "precon/factors/factors.h"

#define ILU_OPTIONS(item)                                                                      \
    item(INT, level, "0", 0, 1e6, NULL, "of fill: 0 keeps the pattern of A")                   \
    item(REAL, modified, "0", 0, 1, NULL,                                                      \
         "how much of what is left out goes to the diagonal: 1 keeps the row sums")            \
    FACTORS_COMMON(item)                                                                       \
    item(WORD, construct, "exact", 0, 0, "exact sweeps",                                       \
         "how the numbers are made: row by row on the host, or all at once by sweeps, on the " \
         "host or the device")                                                                 \
    item(INT, rounds, "6", 1, 1000, NULL, "how many sweeps, of construct=sweeps")

typedef struct ilu_options {
    PRECON_COMMON(SPRY_OPTION_FIELD)
    ILU_OPTIONS(SPRY_OPTION_FIELD)
} ilu_options;
SPRY_OPTION_TABLE(table, ilu_options, PRECON_COMMON(SPRY_OPTION_ROW) ILU_OPTIONS(SPRY_OPTION_ROW))

static factors_wanted plan_for(const precon_job *job, bool hermitian)
{
    const ilu_options *o = job->options;
    return (factors_wanted){.name = hermitian ? "ic" : "ilu",
                            .order = factors_order(o->order),
                            .hermitian = hermitian,
                            .level = (int)o->level,
                            .modified = o->modified,
                            .shift = o->shift,
                            .tries = (int)o->tries,
                            .solve = o->solve,
                            .sweeps = (int)o->sweeps,
                            .construct = o->construct,
                            .rounds = (int)o->rounds};
}

static spry_status check_options(const precon_job *job, const factors_wanted *wanted)
{
    return wanted->modified > 0 && wanted->construct == FACTORS_BY_SWEEPS
               ? SPRY_FAIL(job->A->ctx, SPRY_STATUS_BAD_USAGE,
                           "precon %s: sweeps do not know what they leave out: take modified=0 or "
                           "construct=exact",
                           wanted->name)
               : SPRY_STATUS_OK;
}

static spry_status check(const precon_job *job, bool hermitian)
{
    const factors_wanted wanted = plan_for(job, hermitian);
    bool symmetric;
    const spry_status status = check_options(job, &wanted);
    return status == SPRY_STATUS_OK ? factors_check(job->A, &wanted, &symmetric) : status;
}

static spry_status make(const precon_job *job, bool hermitian, spry_operator **M)
{
    const factors_wanted wanted = plan_for(job, hermitian);
    const spry_status status = check_options(job, &wanted);
    return status == SPRY_STATUS_OK ? factors_operator(job, &wanted, M) : status;
}

static spry_status check_ilu(const precon_job *job)
{
    return check(job, false);
}

static spry_status check_ic(const precon_job *job)
{
    return check(job, true);
}

static spry_status make_ilu(const precon_job *job, spry_operator **M)
{
    return make(job, false, M);
}

static spry_status make_ic(const precon_job *job, spry_operator **M)
{
    return make(job, true, M);
}

const precon_kind precon_kind_ilu = {
    .name = "ilu",
    .summary = "incomplete LU factors by levels of fill",
    .options = SPRY_OPTION_LIST(table),
    .make = make_ilu,
    .check = check_ilu,
    .sound = factors_sound,
    .on_devices = true,
    .cost = {.kept = 1.1, .work = 0.6, .products = 20, .vectors = 3, .share = 0.3, .sweeps = 1}};
const precon_kind precon_kind_ic = {
    .name = "ic",
    .summary = "incomplete Cholesky factors by levels of fill",
    .options = SPRY_OPTION_LIST(table),
    .make = make_ic,
    .check = check_ic,
    .sound = factors_sound,
    .on_devices = true,
    .cost = {.kept = 1.1, .work = 0.6, .products = 20, .vectors = 3, .share = 0.3, .sweeps = 1}};
