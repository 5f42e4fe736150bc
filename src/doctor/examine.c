/* The order of checks: what costs little and explains most comes first. */
#include "doctor/doctor.h"

SPRY_OPTION_TABLE(table, doctor_options, DOCTOR_OPTIONS(SPRY_OPTION_ROW))

spry_option_list diagnose_option_list(void)
{
    return (spry_option_list)SPRY_OPTION_LIST(table);
}

/* Logs of what is made on the way (factors) would only confuse. */
static spry_status examine(doctor *d)
{
    spry_context *ctx = d->ctx;
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(ctx, doctor_check_values(d));
    SPRY_GO(ctx, doctor_check_symmetry(d));
    SPRY_GO(ctx, doctor_check_pattern(d));
    SPRY_GO(ctx, doctor_check_structure(d));
    if (d->stats.nonfinite > 0)
        goto done;
    SPRY_GO(ctx, doctor_check_sums(d));
    if (doctor_late(d, 0.6)) {
        doctor_skip(d, "definiteness, condition");
    } else {
        SPRY_GO(ctx, doctor_prepare(d));
        SPRY_GO(ctx, doctor_check_spectrum(d));
        SPRY_GO(ctx, doctor_check_inverse(d));
    }
    if (d->b && !doctor_has(d, DOCTOR_NONFINITE))
        SPRY_GO(ctx, doctor_check_range(d));
    if (d->b && d->M && !doctor_has(d, DOCTOR_NONFINITE))
        SPRY_GO(ctx, doctor_check_size(d));
done:
    return status;
}

spry_status doctor_examine(doctor *d)
{
    spry_context *ctx = d->ctx;
    const spry_log_fn log = ctx->log;
    ctx->log = NULL;
    spry_status status = examine(d);
    ctx->log = log;
    if (status == SPRY_STATUS_OK && spry_context_interrupted(ctx, false))
        status = SPRY_FAIL(ctx, SPRY_STATUS_INTERRUPTED, "the doctor was interrupted");
    if (status == SPRY_STATUS_INTERRUPTED)
        base_stopped(ctx);
    return status;
}
