/* What ranks do together, made of the operations of a team's class. */
#include "base/team.h"
#include "base/base.h"

spry_status spry_context_agree(spry_context *ctx, spry_status status)
{
    SPRY_NEED(ctx, ctx);
    return team_agree(ctx, status);
}

int team_rank(const spry_context *ctx)
{
    return ctx && ctx->team ? ctx->team->rank : 0;
}

int team_ranks(const spry_context *ctx)
{
    return ctx && ctx->team ? ctx->team->ranks : 1;
}

int spry_context_rank(const spry_context *ctx)
{
    return team_rank(ctx);
}

int spry_context_ranks(const spry_context *ctx)
{
    return team_ranks(ctx);
}

/* Passes a class's failure on. */
static spry_status reported(spry_context *ctx, spry_status status)
{
    return status == SPRY_STATUS_OK ? status : SPRY_FAIL(ctx, status, "%s", ctx->team->message);
}

spry_status team_gather(spry_context *ctx, const void *mine, int64_t bytes, void *all)
{
    team *t = ctx->team;
    if (!t) {
        memcpy(all, mine, (size_t)bytes);
        return SPRY_STATUS_OK;
    }
    const double begun = base_seconds();
    const spry_status status = t->class->gather(t, mine, bytes, all);
    t->counts.reductions++;
    t->counts.reduction_seconds += base_seconds() - begun;
    return reported(ctx, status);
}

spry_status team_gather_begin(spry_context *ctx, const void *mine, int64_t bytes, void *all,
                              team_request **request)
{
    team *t = ctx->team;
    *request = NULL;
    if (t && t->under_way) /* of a solve that this one is within */
        return reported(ctx, t->class->gather(t, mine, bytes, all));
    if (t) {
        const spry_status status = t->class->gather_begin(t, mine, bytes, all, request);
        t->under_way = *request != NULL;
        return reported(ctx, status);
    }
    memcpy(all, mine, (size_t)bytes);
    return SPRY_STATUS_OK;
}

spry_status team_gather_end(spry_context *ctx, team_request *request)
{
    team *t = ctx->team;
    if (!t)
        return SPRY_STATUS_OK;
    const double begun = base_seconds();
    const spry_status status = t->class->gather_end(t, request);
    t->under_way = t->under_way && !request;
    t->counts.reductions++;
    t->counts.begun++;
    t->counts.reduction_seconds += base_seconds() - begun;
    return reported(ctx, status);
}

spry_status team_share(spry_context *ctx, int from, void *data, int64_t bytes)
{
    return ctx->team ? reported(ctx, ctx->team->class->share(ctx->team, from, data, bytes))
                     : SPRY_STATUS_OK;
}

spry_status team_swap(spry_context *ctx, const int64_t *send_bytes, const void *send,
                      const int64_t *receive_bytes, void *receive)
{
    if (ctx->team)
        return reported(
            ctx, ctx->team->class->swap(ctx->team, send_bytes, send, receive_bytes, receive));
    if (*send_bytes > 0)
        memcpy(receive, send, (size_t)*send_bytes);
    return SPRY_STATUS_OK;
}

spry_status team_halo_new(spry_context *ctx, int sends, const team_message *send, int receives,
                          const team_message *receive, team_halo **halo)
{
    *halo = NULL;
    return ctx->team ? reported(ctx, ctx->team->class->halo_new(ctx->team, sends, send, receives,
                                                                receive, halo))
                     : SPRY_STATUS_OK;
}

spry_status team_halo_start(spry_context *ctx, team_halo *halo)
{
    return halo ? reported(ctx, ctx->team->class->halo_start(ctx->team, halo)) : SPRY_STATUS_OK;
}

spry_status team_halo_finish(spry_context *ctx, team_halo *halo)
{
    if (!halo)
        return SPRY_STATUS_OK;
    const double begun = base_seconds();
    const spry_status status = ctx->team->class->halo_finish(ctx->team, halo);
    ctx->team->counts.halo_seconds += base_seconds() - begun;
    return reported(ctx, status);
}

void team_halo_free(spry_context *ctx, team_halo *halo)
{
    if (halo)
        ctx->team->class->halo_free(ctx->team, halo);
}

spry_status team_post(spry_context *ctx, int to, const void *data, int64_t bytes)
{
    return ctx->team ? reported(ctx, ctx->team->class->post(ctx->team, to, data, bytes))
                     : SPRY_STATUS_OK;
}

spry_status team_poll(spry_context *ctx, int *from, void *data, int64_t room, int64_t *bytes)
{
    *from = -1;
    return ctx->team ? reported(ctx, ctx->team->class->poll(ctx->team, from, data, room, bytes))
                     : SPRY_STATUS_OK;
}

bool team_takes_devices(const spry_context *ctx, const char *engine)
{
    team *t = ctx->team;
    return t && t->class->takes_devices && t->class->takes_devices(t, engine);
}

spry_status team_partition(spry_context *ctx, const team_graph *g, int32_t *part)
{
    if (!ctx->team) {
        memset(part, 0, (size_t)g->vertices * sizeof *part);
        return SPRY_STATUS_OK;
    }
    if (!ctx->team->class->partition)
        return SPRY_FAIL(ctx, SPRY_STATUS_UNSUPPORTED,
                         "partition=ptscotch needs a libspry_mpi that was built with PT-Scotch "
                         "(libptscotch-dev), for the MPI that PT-Scotch is of; partition=graph and "
                         "partition=rows do not");
    return reported(ctx, ctx->team->class->partition(ctx->team, g, part));
}

/* --- made of these -------------------------------------------------------------------------------
 */

/* The message of one rank becomes everybody's. */
static spry_status take_message(spry_context *ctx, int from, bool name, spry_status status)
{
    char text[MESSAGE_SIZE];
    memcpy(text, ctx->message, sizeof text);
    const spry_status shared = team_share(ctx, from, text, sizeof text);
    if (shared != SPRY_STATUS_OK)
        return shared;
    text[sizeof text - 1] = 0;
    if (name)
        return SPRY_FAIL(ctx, status, "rank %d: %.*s", from, MESSAGE_SIZE - 32, text);
    return SPRY_FAIL(ctx, status, "%s", text);
}

/* The status of the first rank that has failed, and how many have. */
static spry_status gather_status(team *t, spry_status status, int *first, int *failed)
{
    const int32_t mine = (int32_t)status;
    const int32_t *all = t->room;
    spry_status agreed = t->class->gather(t, &mine, sizeof mine, t->room);
    *first = -1;
    *failed = 0;
    for (int r = t->ranks - 1; agreed == SPRY_STATUS_OK && r >= 0; r--) {
        if (all[r] != SPRY_STATUS_OK) {
            *first = r;
            ++*failed;
        }
    }
    return *first >= 0 ? (spry_status)all[*first] : agreed;
}

spry_status team_note(spry_context *ctx, spry_status status)
{
    team *t = ctx->team;
    if (!t)
        return status;
    if (status != SPRY_STATUS_OK && t->late == SPRY_STATUS_OK) {
        t->late = status;
        memcpy(t->late_message, ctx->message, sizeof t->late_message);
    }
    return SPRY_STATUS_OK;
}

spry_status team_late(spry_context *ctx, spry_status status)
{
    const team *t = ctx->team;
    if (!t || status != SPRY_STATUS_OK || t->late == SPRY_STATUS_OK)
        return status;
    memcpy(ctx->message, t->late_message, sizeof ctx->message);
    return t->late;
}

spry_status team_agree_on(spry_context *ctx, spry_status status)
{
    if (!ctx->team)
        return status;
    int first, failed;
    const spry_status agreed = gather_status(ctx->team, team_late(ctx, status), &first, &failed);
    ctx->team->late = SPRY_STATUS_OK;
    if (first < 0)
        return reported(ctx, agreed);
    return take_message(ctx, first, failed < ctx->team->ranks, agreed);
}

/* What decides how ranks talk; threads, memory and delays are each rank's own. */
static spry_status context_alike(spry_context *ctx)
{
    return team_alike_options(ctx, context_option_list(), &ctx->options,
                              "threads isa memory_limit delays log", "options", 0);
}

spry_status spry_context_new_ranked(spry_team *t, const char *options, spry_context **out)
{
    SPRY_NEED(NULL, t, out);
    int first, failed;
    /* A rank without memory for a context cannot hear a message; the others can. */
    const spry_status status = context_new(t, NULL, options, out);
    const spry_status made = gather_status(t, *out ? SPRY_STATUS_OK : status, &first, &failed);
    if (!*out) {
        t->class->destroy(t);
        return status;
    }
    if (made != SPRY_STATUS_OK)
        return first < 0 ? reported(*out, made)
                         : SPRY_FAIL(*out, made, "rank %d: no memory for a context", first);
    const spry_status agreed = team_agree(*out, status);
    return agreed == SPRY_STATUS_OK ? context_alike(*out) : agreed;
}

spry_status team_bounds(spry_context *ctx, double mine, double *least, double *most)
{
    *least = *most = mine;
    if (!ctx->team)
        return SPRY_STATUS_OK;
    const double *all = ctx->team->room;
    const spry_status status = team_gather(ctx, &mine, sizeof mine, ctx->team->room);
    if (status == SPRY_STATUS_OK)
        *least = *most = all[0]; /* alike on all ranks also where some have no number */
    for (int r = 1; status == SPRY_STATUS_OK && r < ctx->team->ranks; r++) {
        *least = all[r] < *least ? all[r] : *least;
        *most = all[r] > *most ? all[r] : *most;
    }
    return status;
}

spry_status team_sum(spry_context *ctx, int64_t mine, int64_t *sum)
{
    *sum = mine;
    if (!ctx->team)
        return SPRY_STATUS_OK;
    const int64_t *all = ctx->team->room;
    const spry_status status = team_gather(ctx, &mine, sizeof mine, ctx->team->room);
    *sum = 0;
    for (int r = 0; status == SPRY_STATUS_OK && r < ctx->team->ranks; r++)
        *sum += all[r];
    return status;
}

spry_status team_alike(spry_context *ctx, const char *what, int64_t mine)
{
    if (!ctx->team)
        return SPRY_STATUS_OK;
    const int64_t *all = ctx->team->room;
    const spry_status status = team_gather(ctx, &mine, sizeof mine, ctx->team->room);
    for (int r = 1; status == SPRY_STATUS_OK && r < ctx->team->ranks; r++)
        if (all[r] != all[0])
            return SPRY_FAIL(ctx, SPRY_STATUS_BAD_USAGE,
                             "%s: rank %d has another than rank 0, expected the same on all ranks",
                             what, r);
    return status;
}

/* FNV-1a (Fowler, Noll and Vo). */
#define MARK_PRIME UINT64_C(0x100000001b3)
int64_t team_mark(const void *bytes, size_t size)
{
    uint64_t mark = UINT64_C(0xcbf29ce484222325);
    for (size_t k = 0; k < size; k++)
        mark = (mark ^ ((const unsigned char *)bytes)[k]) * MARK_PRIME;
    return (int64_t)mark;
}

static int64_t mark_option(const spry_option *option, const void *fields)
{
    const char *field = (const char *)fields + option->offset;
    if (option->kind == SPRY_OPTION_PATH)
        field = *(const char *const *)field ? *(const char *const *)field : "";
    const bool text = option->kind == SPRY_OPTION_TEXT || option->kind == SPRY_OPTION_PATH;
    return team_mark(field, text ? strlen(field) : options_field_size(option->kind));
}

spry_status team_alike_options(spry_context *ctx, spry_option_list list, const void *fields,
                               const char *but, const char *what, int64_t number)
{
    const spry_option *option;
    uint64_t mark = (uint64_t)number;
    if (!ctx->team)
        return SPRY_STATUS_OK;
    for (int i = 0; (option = spry_options_at(list, i)); i++) {
        if (base_find_word(but, option->name) >= 0)
            continue;
        mark = (mark ^ (uint64_t)mark_option(option, fields)) * MARK_PRIME;
    }
    const spry_status status = team_alike(ctx, what, (int64_t)mark);
    if (status != SPRY_STATUS_BAD_USAGE)
        return status;
    for (int i = 0; (option = spry_options_at(list, i)); i++) {
        const int64_t mine =
            base_find_word(but, option->name) >= 0 ? 0 : mark_option(option, fields);
        const spry_status found = team_alike(ctx, option->name, mine);
        if (found != SPRY_STATUS_OK)
            return found;
    }
    return SPRY_FAIL(ctx, status, "%s: not the same on all ranks", what);
}

spry_status team_any(spry_context *ctx, bool mine, bool *any)
{
    int64_t sum = 0;
    const spry_status status = team_sum(ctx, mine, &sum);
    *any = sum > 0;
    return status;
}

spry_status team_offsets(spry_context *ctx, int64_t n, int64_t **offsets)
{
    spry_status status = base_alloc(ctx, team_ranks(ctx) + 1, sizeof **offsets, offsets);
    SPRY_GO(ctx, team_agree(ctx, status));
    (*offsets)[0] = 0;
    SPRY_GO(ctx, team_gather(ctx, &n, sizeof n, *offsets + 1));
    for (int r = 0; r < team_ranks(ctx); r++)
        (*offsets)[r + 1] += (*offsets)[r];
done:
    if (status != SPRY_STATUS_OK) {
        base_free(ctx, *offsets);
        *offsets = NULL;
    }
    return status;
}
