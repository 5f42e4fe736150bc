/* Where a solver works: on the host, or on a device that can be used. */
#include "krylov/solver.h"

#include "base/machine.h"

#include "choose/tune.h"
#include "device/engine/forecast.h"
#include "device/linalg/operator.h"
#include "device/linalg/vector.h"
#include "ranks/halo_device.h"
#include "ranks/operator.h"

#include <math.h>
#include <stdlib.h>

/* What has kept a device that was asked for from being used; the solve goes on at the host. */
static spry_status stay_on_host(spry_solver *solver, const char *what, spry_status why)
{
    char text[MESSAGE_SIZE + 64];
    const bool by_itself = strcmp(solver->asked.options.device, "auto") == 0;
    if (why != SPRY_STATUS_UNSUPPORTED && why != SPRY_STATUS_DEVICE &&
        why != SPRY_STATUS_DEVICE_LOST && !(by_itself && why == SPRY_STATUS_NO_MEMORY))
        return why;
    snprintf(text, sizeof text, "%s; solved on the cpu", what);
    solver_warn(solver->ctx, solver->setup.warnings, text);
    solver->setup.device = NULL;
    return SPRY_STATUS_OK;
}

/* A device of the caller's choice must be usable; one that the environment names need not be. */
static spry_status open_named(spry_solver *solver, const char *name)
{
    if (strcmp(name, "cpu") == 0)
        return SPRY_STATUS_OK;
    const spry_status status = device_open(solver->ctx, name, &solver->setup.device);
    return status == SPRY_STATUS_OK || strcmp(solver->asked.options.device, "auto") != 0
               ? status
               : stay_on_host(solver, spry_message(solver->ctx), status);
}

/* Whether the preconditioner works on a device as well: others are worth no copies. */
static bool precon_on_device(const spry_solver *solver)
{
    const precon_spec *asked = &solver->setup.spec;
    return !solver->asked.precon && (!asked->kind || asked->kind->on_devices);
}

static double likely_products(const spry_solver *solver)
{
    const int systems = solver->run.systems > 1 ? solver->run.systems : 1;
    return systems *
           precon_likely_products(solver->setup.spec.kind, (double)solver->setup.matrix->a.rows);
}

static double host_rate(const spry_context *ctx)
{
    const double rate = MACHINE_CORE_RATE * spry_context_threads(ctx);
    return ctx->bandwidth.read > 0    ? ctx->bandwidth.read
           : rate < MACHINE_HOST_RATE ? rate
                                      : MACHINE_HOST_RATE;
}

/* Whether there is a CUDA device that is likely to be done before the host is. */
static bool pays(const spry_solver *solver)
{
    static const double nothing = 1e-3; /* seconds: not worth to look at files */
    spry_context *ctx = solver->ctx;
    const matrix_arrays *a = &solver->setup.matrix->a;
    const double rate = host_rate(ctx);
    char why[256];
    device_work_load load = {.bytes = (double)matrix_csr_bytes(a->type, a->rows, a->nnz),
                             .products = likely_products(solver)};
    if (load.products * load.bytes < nothing * rate)
        return false;
    for (const spry_device *d = ctx->devices; d; d = d->next)
        load.open = load.open || strncmp(d->facts.name, "cuda", 4) == 0;
    const device_pace pace = device_pace_recall("cuda");
    load.compiled = true; /* at best: a folder is looked through only where that decides */
    device_forecast f = device_forecast_make(&pace, &load, rate);
    if (f.all < f.host) {
        load.compiled = device_forecast_compiled();
        f = device_forecast_make(&pace, &load, rate);
    }
    const bool worth = f.all < f.host && device_count(ctx, "cuda", why, sizeof why) > 0;
    base_log(ctx, worth ? SPRY_LOG_INFO : SPRY_LOG_DEBUG,
             "device auto: cuda is forecast to take %.2g s (start %.2g, compiling %.2g, bus %.2g, "
             "work %.2g), the cpu %.2g s: %s",
             f.all, f.start, f.compile, f.bus, f.work, f.host,
             worth             ? "taken"
             : f.all >= f.host ? "not taken"
                               : "there is none");
    return worth;
}

/* Without being asked: the device of the vectors, the one that SPRY_DEVICE names, or CUDA's first
 * where there is one that pays. */
static spry_status open_auto(spry_solver *solver, spry_device *near)
{
    const char *named = getenv("SPRY_DEVICE");
    solver->setup.device = near;
    if (near)
        return SPRY_STATUS_OK;
    if (solver->setup.stays) {
        solver_warn(solver->ctx, solver->setup.warnings,
                    "the device's memory is too small; solved on the cpu");
        return SPRY_STATUS_OK;
    }
    if (named && *named && strcmp(named, "auto") != 0)
        return open_named(solver, named);
    if (!precon_on_device(solver) || !pays(solver))
        return SPRY_STATUS_OK;
    const base_kept before = base_try(solver->ctx);
    if (device_open(solver->ctx, "cuda", &solver->setup.device) != SPRY_STATUS_OK) {
        base_log(solver->ctx, SPRY_LOG_INFO, "solved on the cpu: %s", spry_message(solver->ctx));
        base_forgive(solver->ctx, &before); /* nothing failed for the caller */
        solver->setup.device = NULL;
    }
    return SPRY_STATUS_OK;
}

static spry_status open_ranked(spry_solver *solver)
{
    char name[DEVICE_NAME];
    if (solver->asked.operator)
        return SPRY_STATUS_OK;
    device_for_rank(solver->ctx, solver->asked.options.device, name);
    if (strcmp(name, "cpu") != 0 && solver->ctx->options.repeat == REPEAT_STRICT)
        return stay_on_host(solver, "with repeat=strict ranks work on processors",
                            SPRY_STATUS_UNSUPPORTED);
    return open_named(solver, name);
}

spry_status solver_choose_device(spry_solver *solver, spry_device *near)
{
    const char *name = solver->asked.options.device;
    solver->setup.device = NULL;
    solver->setup.near = near;
    if (solver_ranked(solver)) {
        const spry_status status = open_ranked(solver);
        if (solver->asked.operator)
            solver->setup.device = device_of(solver->asked.operator);
        const spry_status agreed = solver_agree(solver, status);
        return agreed == SPRY_STATUS_OK && !solver->asked.operator
                   ? device_dist_choose_transport(solver->ctx, solver->setup.device)
                   : agreed;
    }
    if (solver->asked.operator) {
        solver->setup.device = device_of(solver->asked.operator);
        if (strcmp(name, "auto") != 0 && strcmp(name, "cpu") != 0 && !solver->setup.device)
            return stay_on_host(solver, "the operator lives on the host", SPRY_STATUS_UNSUPPORTED);
        return SPRY_STATUS_OK;
    }
    if (strchr(name, ',')) { /* of ranks, of which this is the only one */
        char first[DEVICE_NAME];
        device_for_rank(solver->ctx, name, first);
        return open_named(solver, first);
    }
    return strcmp(name, "auto") == 0 ? open_auto(solver, near) : open_named(solver, name);
}

bool solver_stay(spry_solver *solver, spry_status status, bool near)
{
    if (status != SPRY_STATUS_NO_MEMORY || !solver->setup.device || near || solver_ranked(solver) ||
        strcmp(solver->asked.options.device, "auto") != 0)
        return false;
    base_log(solver->ctx, SPRY_LOG_INFO, "%s", spry_message(solver->ctx));
    solver_forget(solver);
    solver->setup.stays = true;
    return true;
}

/* Products to choose a format for: those that are expected, or, of a solver that is used again and
 * again, as many as it has had already, where these are many times what is worth a choice. */
static double products_expected(const spry_solver *solver)
{
    static const double many = 4;
    const double guess = solver_guess_products(solver);
    return solver->setup.multiplied < many * TUNE_FEW_PRODUCTS || solver->setup.multiplied < guess
               ? guess
               : solver->setup.multiplied;
}

/* Whether products are so few that no storage format is worth looking for: on the host formats are
 * built and timed for longer than the best of them saves. */
static bool multiplies_little(const spry_solver *solver)
{
    return products_expected(solver) <
           (solver->setup.device ? TUNE_FEW_PRODUCTS : TUNE_RACED_PRODUCTS);
}

bool solver_outgrows(const spry_solver *solver)
{
    return solver->setup.plain && solver->setup.made == STAGE_ALL && !multiplies_little(solver);
}

bool solver_tunes(const spry_solver *solver)
{
    const char *format = solver->asked.options.format;
    return strncmp(format, "auto", 4) == 0 && (format[4] == '\0' || format[4] == ':');
}

/* The format as it was asked for; where it is to be chosen, for as many products as the solve is
 * likely to take. */
static const char *suited_format(const spry_solver *solver, char *room, size_t size)
{
    const char *format = solver->asked.options.format;
    const bool any = strcmp(format, "auto") == 0;
    if (!solver_tunes(solver) || strstr(format, "products="))
        return format;
    snprintf(room, size, "%s%cproducts=%.0f", format, any ? ':' : ',', products_expected(solver));
    return room;
}

/* The own block's product where this rank works, or on the host where it cannot be on the device:
 * that is decided before all ranks make theirs one. */
static spry_status make_ranked_operator(spry_solver *solver, const char *format)
{
    const spry_matrix *own_rows = solver->setup.matrix->distributed->own;
    spry_operator *own = NULL;
    spry_status made = SPRY_STATUS_OK;
    if (solver->setup.device) {
        made = spry_operator_from_matrix(own_rows, solver->setup.device, format, &own);
        if (made != SPRY_STATUS_OK)
            made = stay_on_host(solver, spry_message(solver->ctx), made);
    }
    if (!solver->setup.device && made == SPRY_STATUS_OK)
        made = spry_operator_from_matrix(own_rows, NULL, format, &own);
    return dist_operator(solver->setup.matrix, solver->setup.device, made, own,
                         &solver->setup.own_operator);
}

/* On the host, in a format that the tuner chooses, or in CSR for a few products; and what it may
 * become in a solve that has many more. */
static spry_status make_tuned(spry_solver *solver, const char *format)
{
    spry_context *ctx = solver->ctx;
    solver_later *later = &solver->setup.later;
    spry_tune_report report = SPRY_TUNE_REPORT_INIT;
    spry_status status = SPRY_STATUS_OK;
    if (solver->setup.plain) {
        *later =
            (solver_later){.by = LATER_FORECAST, .products = (int64_t)products_expected(solver)};
        return host_csr_operator(solver->setup.matrix, &solver->setup.own_operator);
    }
    solver->setup.own_operator =
        NULL; /* the one before, if there is one, is the caller's to keep */
    SPRY_GO(ctx, tune_decide(NULL, solver->setup.matrix, format[4] ? format + 5 : NULL, &report,
                             &solver->setup.own_operator));
    later->by = report.untried ? LATER_FORECAST : LATER_NOTHING;
    later->products = report.products;
    if (!report.untried)
        tune_later(&report, reformat_takes(report.products), later->format);
    if (later->format[0])
        later->by = LATER_RACED;
done:
    spry_tune_report_clear(ctx, &report);
    return status;
}

static spry_status make_operator(spry_solver *solver)
{
    char room[SPRY_OPTION_TEXT_SIZE + 32];
    const char *format = suited_format(solver, room, sizeof room);
    spry_status status = SPRY_STATUS_OK;
    const bool tuned = solver_tunes(solver);
    solver->setup.plain =
        strcmp(solver->asked.options.format, "auto") == 0 && multiplies_little(solver);
    solver->setup.later = (solver_later){0};
    if (solver->setup.plain && !solver->setup.device) /* the device's tuner knows what is plain */
        format = "csr";
    if (solver_ranked(solver))
        return make_ranked_operator(solver, format);
    if (solver->setup.device) {
        status = spry_operator_from_matrix(solver->setup.matrix, solver->setup.device, format,
                                           &solver->setup.own_operator);
        if (status == SPRY_STATUS_OK)
            return status;
        status = stay_on_host(solver, spry_message(solver->ctx), status);
    }
    if (status == SPRY_STATUS_OK)
        status = tuned ? make_tuned(solver, format)
                       : spry_operator_from_matrix(solver->setup.matrix, NULL, format,
                                                   &solver->setup.own_operator);
    return status;
}

spry_status solver_make_operator(spry_solver *solver)
{
    const solver_bytes before = solver_bytes_now(solver);
    const spry_status status = make_operator(solver);
    solver->setup.operator_bytes = solver_bytes_since(solver, before);
    return status;
}

spry_status solver_suit_operator(spry_solver *solver)
{
    if (!solver->setup.plain || multiplies_little(solver))
        return SPRY_STATUS_OK;
    spry_operator *before = solver->setup.own_operator;
    const spry_status status = solver_make_operator(solver);
    if (status == SPRY_STATUS_OK)
        spry_operator_free(before);
    else
        solver->setup.own_operator = before;
    return status;
}

spry_status solver_move_precon(spry_solver *solver)
{
    const spry_operator *M = solver_bare_precon(solver);
    char text[128];
    if (!solver->setup.device || !M || device_of(M))
        return SPRY_STATUS_OK;
    if (operator_diagonal(M, SPRY_TRANSPOSE_NO)) {
        solver->setup.precon_seen = M->changes;
        return device_diagonal_operator(solver->setup.device, M, NULL, &solver->setup.precon_copy);
    }
    snprintf(text, sizeof text, "preconditioner %s runs on the cpu, with copies in each iteration",
             solver->setup.precon_name);
    solver_warn(solver->ctx, solver->setup.warnings, text);
    return SPRY_STATUS_OK;
}

spry_status solver_renew_copy(spry_solver *solver)
{
    const spry_operator *M = solver->asked.precon ? solver->asked.precon : solver->setup.own_precon;
    if (!solver->setup.precon_copy || M->changes == solver->setup.precon_seen)
        return SPRY_STATUS_OK;
    const spry_status status = device_diagonal_refill(solver->setup.precon_copy, M);
    if (status == SPRY_STATUS_OK)
        solver->setup.precon_seen = M->changes;
    return status;
}

int64_t solver_device_bytes(const spry_solver *solver)
{
    int64_t used = 0, most = 0;
    if (solver->setup.device)
        device_memory_now(solver->setup.device, &used, &most, NULL);
    return most;
}

solver_bytes solver_bytes_now(const spry_solver *solver)
{
    int64_t used = 0, most = 0;
    if (solver->setup.device)
        device_memory_now(solver->setup.device, &used, &most, NULL);
    return (solver_bytes){solver->ctx->memory_now, used};
}

solver_bytes solver_bytes_since(const spry_solver *solver, solver_bytes before)
{
    const solver_bytes now = solver_bytes_now(solver);
    return (solver_bytes){now.host > before.host ? now.host - before.host : 0,
                          now.device > before.device ? now.device - before.device : 0};
}
