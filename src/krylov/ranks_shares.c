/* Where ranks work, and the share of the work of each: measured, or as the option says. */
#include "krylov/solver.h"

#include "device/engine/device.h"

#include <spry/generate.h>
#include <spry/ranks.h>
#include <stdlib.h>
#include <sys/utsname.h>

double ranks_share(const spry_context *ctx)
{
    const int ranks = team_ranks(ctx);
    const double *shares = ctx->team ? ctx->team->shares : NULL;
    double sum = 0;
    for (int r = 0; shares && r < ranks; r++)
        sum += shares[r];
    return shares ? shares[team_rank(ctx)] / sum : 1.0 / ranks;
}

/* --- measuring -----------------------------------------------------------------------------------
 */

enum { SIDE = 100, PRODUCTS = 10 };

/* Seconds of a product with A on a device (NULL: the host), which all ranks make at the same time.
 */
static spry_status time_products(const spry_matrix *A, spry_device *d, double *seconds)
{
    spry_context *ctx = A->ctx;
    spry_operator *op = NULL;
    spry_vector *x = NULL, *y = NULL;
    spry_status made = spry_operator_from_matrix(A, d, "csr", &op);
    if (made == SPRY_STATUS_OK)
        made = vector_new_at(ctx, d, A->a.type, A->a.cols, &x);
    if (made == SPRY_STATUS_OK)
        made = vector_new_at(ctx, d, A->a.type, A->a.rows, &y);
    if (made == SPRY_STATUS_OK)
        made = spry_operator_apply(op, x, y);
    if (made == SPRY_STATUS_OK && d)
        made = device_finish(d);
    (void)team_any(ctx, false, &(bool){false}); /* begin together */
    const double begun = base_seconds();
    for (int k = 0; k < PRODUCTS && made == SPRY_STATUS_OK; k++)
        made = spry_operator_apply(op, x, y);
    if (made == SPRY_STATUS_OK && d)
        made = device_finish(d);
    *seconds = (base_seconds() - begun) / PRODUCTS;
    spry_operator_free(op);
    spry_vector_free(x);
    spry_vector_free(y);
    return made;
}

/* What a rank has been seen to do. */
typedef struct rank_speed {
    double seconds, work; /* of a product; 0: it has nothing to do */
    double room;          /* the part of its share that its device has room for */
    double share;
    char on[DEVICE_NAME + 72]; /* machine and device; "": the host */
} rank_speed;

static spry_status gather_speeds(spry_context *ctx, const spry_device *d, rank_speed mine,
                                 rank_speed **all)
{
    struct utsname machine = {0};
    spry_status status = SPRY_STATUS_OK;
    (void)uname(&machine);
    memset(mine.on, 0, sizeof mine.on);
    if (d)
        snprintf(mine.on, sizeof mine.on, "%.64s %.32s", machine.nodename, d->facts.name);
    mine.share = ranks_share(ctx);
    SPRY_GO(ctx, team_agree(ctx, base_alloc(ctx, team_ranks(ctx), sizeof **all, all)));
    SPRY_GO(ctx, team_gather(ctx, &mine, sizeof mine, *all));
done:
    return status;
}

/* Those who share a device are as fast as each other, however they took turns. */
static void even_out(rank_speed *all, int ranks)
{
    for (int r = 0; r < ranks; r++) {
        double work = 0, seconds = 0;
        for (int k = r; k < ranks && all[r].on[0]; k++)
            if (strcmp(all[k].on, all[r].on) == 0) {
                work += all[k].work;
                seconds += all[k].seconds;
            }
        for (int k = r; k < ranks && work > 0; k++)
            if (strcmp(all[k].on, all[r].on) == 0)
                all[k].seconds = seconds * all[k].work / work;
    }
}

/*
 * Shares by speed. Ranks on processors have none where the devices alone would be about as fast:
 * with what it takes to send halos (`wire`, seconds; `work`: all there is) they would only cost.
 * Several devices send halos anyway. True where a rank that has rows is to have none.
 */
static bool weigh(rank_speed *all, int ranks, double work, double wire)
{
    static const double gain = 0.9; /* what takes longer than this share is not worth it */
    double devices = 0, hosts = 0;
    int count = 0;
    bool left_out = false;
    for (int r = 0; r < ranks; r++) {
        all[r].share = all[r].work > 0 && all[r].seconds > 0 ? all[r].work / all[r].seconds : 0;
        devices += all[r].on[0] ? all[r].share : 0;
        hosts += all[r].on[0] ? 0 : all[r].share;
        count += all[r].on[0] && all[r].share > 0;
    }
    const double together = work / (devices + hosts) + (count > 1 ? 0 : wire);
    for (int r = 0; r < ranks && devices > 0 && together > gain * work / devices; r++)
        if (!all[r].on[0]) {
            left_out = left_out || all[r].work > 0;
            all[r].share = 0;
        }
    return left_out;
}

/* Products per second of a matrix that no cache holds. */
static spry_status measure(spry_context *ctx, spry_device *d, double *share)
{
    char options[32];
    spry_matrix *A = NULL;
    rank_speed mine = {.work = 1, .seconds = 1, .room = 1}, *all = NULL;
    spry_status status = SPRY_STATUS_OK;
    snprintf(options, sizeof options, "size=%d", SIDE);
    SPRY_GO(ctx, team_agree(ctx, spry_generate(ctx, "poisson3d", options, &A)));
    SPRY_GO(ctx, team_agree(ctx, time_products(A, d, &mine.seconds)));
    SPRY_GO(ctx, gather_speeds(ctx, d, mine, &all));
    even_out(all, team_ranks(ctx));
    (void)weigh(all, team_ranks(ctx), 1, 0);
    *share = all[team_rank(ctx)].share;
done:
    base_free(ctx, all);
    spry_matrix_free(A);
    return status;
}

/* --- as the option says --------------------------------------------------------------------------
 */

/* This rank's number of a list. */
static spry_status read_share(spry_context *ctx, const char *text, double *share)
{
    const char *at = text;
    char *end = NULL;
    for (int k = team_rank(ctx); k > 0 && strchr(at, ','); k--)
        at = strchr(at, ',') + 1;
    *share = strtod(at, &end);
    if (end == at || (*end != ',' && *end != '\0') || !(*share >= 0) || !isfinite(*share))
        return SPRY_FAIL(ctx, SPRY_STATUS_BAD_USAGE,
                         "shares=%.64s: equal, auto, or numbers from 0 on with commas between them",
                         text);
    return SPRY_STATUS_OK;
}

static spry_status keep_shares(spry_context *ctx, double mine)
{
    double *all = NULL, sum = 0;
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(ctx, team_agree(ctx, base_alloc(ctx, team_ranks(ctx), sizeof *all, &all)));
    SPRY_GO(ctx, team_gather(ctx, &mine, sizeof mine, all));
    for (int r = 0; r < team_ranks(ctx); r++)
        sum += all[r];
    if (!(sum > 0 && isfinite(sum))) {
        status = SPRY_FAIL(ctx, SPRY_STATUS_BAD_USAGE, "the shares of %d ranks add up to %g",
                           team_ranks(ctx), sum);
        goto done;
    }
    base_free(ctx, ctx->team->shares);
    ctx->team->shares = all;
    all = NULL;
done:
    base_free(ctx, all);
    return status;
}

/* The device of a rank; one that cannot be opened is none, as in a solve. */
static spry_device *open_device(spry_context *ctx, const char *device)
{
    char name[DEVICE_NAME];
    spry_device *d = NULL;
    device_for_rank(ctx, device, name);
    if (strcmp(name, "cpu") == 0)
        return NULL;
    const base_kept before = base_try(ctx);
    if (device_open(ctx, name, &d) != SPRY_STATUS_OK) {
        base_forgive(ctx, &before); /* nothing failed for the caller */
        return NULL;
    }
    return d;
}

spry_status spry_context_set_shares(spry_context *ctx, const char *shares, const char *device)
{
    SPRY_NEED(ctx, ctx, shares);
    spry_status status = SPRY_STATUS_OK;
    double mine = 1;
    bool any = false;
    if (!ctx->team)
        return SPRY_STATUS_OK;
    if (strcmp(shares, "auto") == 0) {
        spry_device *d = open_device(ctx, device ? device : "auto");
        SPRY_GO(ctx, team_any(ctx, d != NULL, &any));
        if (any)
            SPRY_GO(ctx, measure(ctx, d, &mine));
    } else if (strcmp(shares, "equal") != 0) {
        SPRY_GO(ctx, team_agree(ctx, read_share(ctx, shares, &mine)));
        any = true;
    }
    if (any)
        return keep_shares(ctx, mine);
    base_free(ctx, ctx->team->shares);
    ctx->team->shares = NULL;
done:
    return status;
}

/* The part of its share that a rank's device has room for: 1 where it has room for all, with
 * vectors and a preconditioner besides the block. */
static double room_for(spry_device *d, const spry_matrix *own)
{
    static const double with_others = 2.5; /* of the block's bytes */
    int64_t used, most, left = 0;
    if (!d)
        return 1;
    device_memory_now(d, &used, &most, &left);
    const double bytes = (double)matrix_csr_bytes(own->a.type, own->a.rows, own->a.nnz);
    return left > 0 && with_others * bytes > (double)left ? (double)left / (with_others * bytes)
                                                          : 1;
}

/* What some have no room for goes to those who have. */
static void make_room(rank_speed *all, int ranks)
{
    double left = 0;
    int others = 0;
    for (int r = 0; r < ranks; r++) {
        left += all[r].room < 1 ? all[r].share * (1 - all[r].room) : 0;
        others += all[r].room >= 1;
    }
    for (int r = 0; r < ranks; r++)
        all[r].share = all[r].room < 1 ? all[r].share * all[r].room : all[r].share + left / others;
}

/* Seconds that a halo takes a device at least: a small message, the longest of all ranks', and
 * copies that the host waits for. */
static spry_status time_halo(spry_context *ctx, double *seconds)
{
    enum { TIMES = 8 };
    static const double copies = 30e-6;
    double least;
    spry_status status = SPRY_STATUS_OK;
    bool any = false;
    const double begun = base_seconds();
    for (int k = 0; k < TIMES && status == SPRY_STATUS_OK; k++)
        status = team_any(ctx, false, &any);
    if (status == SPRY_STATUS_OK)
        status = team_bounds(ctx, (base_seconds() - begun) / TIMES, &least, seconds);
    *seconds += copies;
    return status;
}

/* Whether other shares, which are in `all` then, are better by more than a tenth. */
static bool find_better(rank_speed *all, int ranks, double wire)
{
    static const double tolerated = 1.1, least = 20e-6; /* seconds: nothing to be gained below */
    double longest = 0, sum = 0, work = 0, fullest = 1;
    int busy = 0;
    for (int r = 0; r < ranks; r++)
        fullest = fmin(fullest, all[r].room);
    if (fullest < 1) { /* those were not tried */
        make_room(all, ranks);
        return true;
    }
    even_out(all, ranks);
    for (int r = 0; r < ranks; r++) {
        longest = fmax(longest, all[r].seconds);
        sum += all[r].work > 0 ? all[r].seconds : 0;
        busy += all[r].work > 0;
        work += all[r].work;
    }
    const bool left_out = weigh(all, ranks, work, wire);
    return left_out || (longest > tolerated * sum / busy && longest > least);
}

spry_status spry_context_correct_shares(const spry_matrix *A, const char *device, bool *changed)
{
    SPRY_NEED(CTX_OF(A), A, changed);
    spry_context *ctx = A->ctx;
    rank_speed mine = {0}, *all = NULL;
    double wire = 0;
    bool any = false;
    spry_status status = SPRY_STATUS_OK;
    *changed = false;
    if (!A->distributed)
        return SPRY_STATUS_OK;
    const spry_matrix *own = A->distributed->own;
    spry_device *d = open_device(ctx, device ? device : "auto");
    SPRY_GO(ctx, team_any(ctx, d != NULL, &any));
    if (!any && !ctx->team->shares)
        return SPRY_STATUS_OK;
    mine.room = room_for(d, own);
    mine.work = own->a.rows > 0 ? (double)(own->a.rows + own->a.nnz) : 0;
    if (mine.room < 1) /* it cannot be tried */
        (void)team_any(ctx, false, &(bool){false});
    else
        status = time_products(own, d, &mine.seconds);
    SPRY_GO(ctx, team_agree(ctx, status));
    SPRY_GO(ctx, time_halo(ctx, &wire));
    SPRY_GO(ctx, gather_speeds(ctx, d, mine, &all));
    *changed = find_better(all, team_ranks(ctx), wire);
    if (*changed)
        SPRY_GO(ctx, keep_shares(ctx, all[team_rank(ctx)].share));
done:
    base_free(ctx, all);
    return status;
}
