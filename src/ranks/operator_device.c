/*
 * The product with rows that are distributed over ranks, on a device. What others need of x is
 * packed there and sent beside the product with the own block (halo.h); what others have sent comes
 * behind the own elements that edge rows need, and these rows are made anew as a whole
 * (distributed.h).
 *
 * Ranks on processors do the same in ranks/operator_host.c, and send the same messages: what is
 * collective comes in the same order in both.
 */
#include "ranks/operator_device.h"

#include "device/engine/engine.h"
#include "device/linalg/operator.h"
#include "device/linalg/vector.h"
#include "host/apply.h"
#include "ranks/halo_device.h"

#include <stdlib.h>

/* A, A^T or A^H, by rows. */
typedef struct side {
    const distributed *links;
    spry_type type;
    spry_matrix *kept; /* freed with it; may be NULL */
    spry_operator *own, *edge;
    device_memory *kept_index, *edge_rows; /* places in x and y */
    device_memory *compact, *sums;
    device_halo *halo;
} side;

typedef struct dist_state {
    spry_device *d;
    dist_source source;
    const spry_matrix *A; /* whose rows they are; NULL: of no matrix */
    side *sides[3];       /* by transpose */
} dist_state;

static void side_free(spry_device *d, side *s)
{
    if (!s)
        return;
    device_halo_free(s->halo);
    spry_operator_free(s->own);
    spry_operator_free(s->edge);
    device_memory *const blocks[] = {s->kept_index, s->edge_rows, s->compact, s->sums};
    for (size_t k = 0; k < sizeof blocks / sizeof *blocks; k++)
        device_free(blocks[k]);
    spry_matrix_free(s->kept);
    base_free(d->ctx, s);
}

/* --- making --------------------------------------------------------------------------------------
 */

static spry_status make_room(spry_device *d, side *s)
{
    spry_context *ctx = d->ctx;
    /* NOLINTNEXTLINE(clang-analyzer-core.NullDereference): sides of states that are there */
    const distributed *p = s->links;
    const int64_t size = (int64_t)spry_type_size(s->type);
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(ctx, device_put_index(d, p->kept, p->kept_index, &s->kept_index));
    SPRY_GO(ctx, device_put_index(d, p->edges, p->edge_rows, &s->edge_rows));
    SPRY_GO(ctx, device_alloc(d, (p->kept + p->ghosts) * size, &s->compact));
    SPRY_GO(ctx, device_alloc(d, p->edges * size, &s->sums));
done:
    return status;
}

static spry_status open_messages(spry_device *d, side *s)
{
    const spry_status made = make_room(d, s);
    const distributed *p = s->links;
    const halo_lists lists = {p->sends,      p->receives, p->send, p->receive,
                              p->sent_count, p->ghosts,   p->sent};
    return device_halo_new(d, s->type, made, &lists, s->compact, p->kept, &s->halo);
}

/* Takes the parts, also when it fails; `made` is the status that they were made with. */
static spry_status side_new(spry_device *d, spry_type type, spry_status made, dist_parts *parts,
                            side **out)
{
    spry_context *ctx = d->ctx;
    side *s = NULL;
    bool by_rows; /* in sweeps: on no rank then */
    spry_status status = made == SPRY_STATUS_OK ? base_calloc(ctx, 1, sizeof *s, &s) : made;
    *out = NULL;
    if (s) {
        *s = (side){.links = parts->links,
                    .type = type,
                    .kept = parts->kept,
                    .own = parts->own,
                    .edge = parts->edge};
        *parts = (dist_parts){0};
    }
    SPRY_GO(ctx, team_agree(ctx, status));
    SPRY_GO(ctx, dist_agree_by_rows(ctx, SPRY_STATUS_OK, false, &by_rows));
    /* NOLINTNEXTLINE(clang-analyzer-core.NullDereference): all have agreed that it is there */
    SPRY_GO(ctx, open_messages(d, s));
    *out = s;
    s = NULL;
done:
    spry_operator_free(parts->own);
    spry_operator_free(parts->edge);
    spry_matrix_free(parts->kept);
    side_free(d, s);
    return status;
}

/* The rows of A^T or A^H, made at the first use. */
static spry_status find_side(const spry_operator *op, spry_transpose transpose, side **out)
{
    dist_state *state = op->state;
    const spry_transpose kind = dist_side(op->type, transpose);
    spry_status status = SPRY_STATUS_OK;
    if (!state->sides[kind]) {
        dist_parts parts = {0};
        const spry_status made = state->source.open(state->source.state, kind, &parts);
        SPRY_GO(op->ctx, side_new(state->d, op->type, made, &parts, &state->sides[kind]));
    }
    *out = state->sides[kind];
done:
    return status;
}

/* --- products ------------------------------------------------------------------------------------
 */

/* What others need of x is on its way, and the own elements that edge rows need are in their
 * place. */
static spry_status pack(spry_device *d, side *s, const device_memory *x)
{
    const distributed *p = s->links;
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(d->ctx, device_halo_pack(s->halo, x));
    if (p->kept > 0)
        SPRY_GO(d->ctx, device_pick(d, s->type, p->kept, s->kept_index, false, x, s->compact));
done:
    return status;
}

static spry_status multiply_own(spry_device *d, const side *s, spry_scalar alpha,
                                const device_memory *x, spry_scalar beta, device_memory *y)
{
    spry_context *ctx = d->ctx;
    const distributed *p = s->links;
    const bool adds = beta.re != 0 || beta.im != 0;
    spry_status status = SPRY_STATUS_OK;
    if (adds && p->edges > 0) /* edge rows' old y */
        SPRY_GO(ctx, device_pick(d, s->type, p->edges, s->edge_rows, false, y, s->sums));
    if (s->own)
        SPRY_GO(ctx, device_multiply(s->own, SPRY_TRANSPOSE_NO, alpha, x, beta, y));
done:
    return status;
}

/* The edge rows, once what others have sent is here. */
static spry_status multiply_edge(spry_device *d, side *s, spry_scalar alpha, spry_scalar beta,
                                 device_memory *y)
{
    spry_context *ctx = d->ctx;
    const distributed *p = s->links;
    spry_status status = SPRY_STATUS_OK;
    if (p->edges == 0)
        return SPRY_STATUS_OK;
    SPRY_GO(ctx, device_halo_land(s->halo));
    SPRY_GO(ctx, device_multiply(s->edge, SPRY_TRANSPOSE_NO, alpha, s->compact, beta, s->sums));
    SPRY_GO(ctx, device_pick(d, s->type, p->edges, s->edge_rows, true, s->sums, y));
done:
    return status;
}

spry_status device_dist_multiply(const spry_operator *op, spry_transpose transpose,
                                 spry_scalar alpha, const device_memory *x, spry_scalar beta,
                                 device_memory *y)
{
    const dist_state *state = op->state;
    spry_context *ctx = op->ctx;
    spry_device *d = state->d;
    side *s = NULL;
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(ctx, find_side(op, transpose, &s));
    status = pack(d, s, x);
    if (status == SPRY_STATUS_OK)
        status = multiply_own(d, s, alpha, x, beta, y);
    const spry_status sent = device_halo_exchange(s->halo);
    SPRY_GO(ctx, status);
    SPRY_GO(ctx, sent);
    SPRY_GO(ctx, multiply_edge(d, s, alpha, beta, y));
done:
    return status;
}

spry_status device_dist_skip(const spry_operator *op, spry_transpose transpose)
{
    side *s = NULL;
    const spry_status status = find_side(op, transpose, &s);
    return status == SPRY_STATUS_OK ? device_halo_exchange(s->halo) : status;
}

/* --- how halos travel ----------------------------------------------------------------------------
 */

enum { TRIED = 64 }; /* bytes */

static void fill(unsigned char bytes[TRIED], int rank)
{
    for (int k = 0; k < TRIED; k++)
        bytes[k] = (unsigned char)(37 * rank + 3 * k + 1);
}

/* What is sent, and behind it room for what comes: on the device, where this rank has one. */
static spry_status prepare_trial(spry_device *d, int rank, unsigned char here[2 * TRIED],
                                 device_memory **there)
{
    spry_status status = SPRY_STATUS_OK;
    memset(here, 0, 2 * TRIED);
    fill(here, rank);
    if (!d)
        return SPRY_STATUS_OK;
    SPRY_GO(d->ctx, device_alloc(d, (int64_t)2 * TRIED, there));
    SPRY_GO(d->ctx, device_put(*there, 0, here, (int64_t)2 * TRIED));
    SPRY_GO(d->ctx, device_finish(d));
done:
    return status;
}

/* Sends a few bytes `step` ranks on; fine: those of the rank so far before have come. What fails is
 * no failure of the caller's. */
static spry_status try_messages(spry_context *ctx, spry_device *d, int step, bool *fine)
{
    const int ranks = team_ranks(ctx), me = team_rank(ctx);
    const int from = (me + ranks - step) % ranks;
    unsigned char here[2 * TRIED], expected[TRIED];
    device_memory *there = NULL;
    team_halo *halo = NULL;
    bool bad = prepare_trial(d, me, here, &there) != SPRY_STATUS_OK;
    spry_status status = team_any(ctx, bad, &bad);
    *fine = false;
    if (bad || status != SPRY_STATUS_OK)
        goto done;
    unsigned char *place = d ? device_address(there) : here;
    const team_message send = {(me + step) % ranks, TRIED, place};
    const team_message receive = {from, TRIED, place + TRIED};
    const bool entered = d && device_enter(d);
    status = team_halo_new(ctx, 1, &send, 1, &receive, &halo);
    if (status == SPRY_STATUS_OK)
        status = team_halo_start(ctx, halo);
    if (status == SPRY_STATUS_OK)
        status = team_halo_finish(ctx, halo);
    if (entered)
        device_leave(d);
    if (status == SPRY_STATUS_OK && d)
        status = device_get(there, TRIED, here + TRIED, TRIED);
    fill(expected, from);
    bad = status != SPRY_STATUS_OK || memcmp(here + TRIED, expected, TRIED) != 0;
    status = team_any(ctx, bad, &bad);
    *fine = status == SPRY_STATUS_OK && !bad;
done:
    team_halo_free(ctx, halo);
    device_free(there);
    return status;
}

/* Whether nothing on this rank speaks against it. */
static bool may_send_from(const spry_context *ctx, const spry_device *d)
{
    const char *wanted = getenv("SPRY_TRANSPORT");
    if (wanted && strcmp(wanted, "staged") == 0)
        return false;
    if (!d)
        return true;
    return d->facts.has_pointers && team_takes_devices(ctx, d->engine->name);
}

spry_status device_dist_choose_transport(spry_context *ctx, spry_device *d)
{
    const int64_t unit = INT64_C(1) << 32; /* more than there are ranks */
    int64_t sum = 0;
    bool fine;
    spry_status status = SPRY_STATUS_OK;
    ctx->team->on_devices = false;
    /* How many ranks have devices, and how many are against it. */
    SPRY_GO(ctx, team_sum(ctx, (d != NULL) + (may_send_from(ctx, d) ? 0 : unit), &sum));
    fine = sum > 0 && sum < unit;
    const base_kept before = base_try(ctx);
    for (int step = 0; step < 2 && fine; step++)
        SPRY_GO(ctx, try_messages(ctx, d, step, &fine));
    base_forgive(ctx, &before); /* nothing failed for the caller */
    ctx->team->on_devices = fine;
done:
    return status;
}

/* --- the operator --------------------------------------------------------------------------------
 */

const spry_operator *device_dist_own(const spry_operator *op)
{
    const dist_state *state = op->state;
    return state->sides[SPRY_TRANSPOSE_NO]->own;
}

static spry_status dist_storage(const spry_operator *op, spry_storage *storage)
{
    const spry_operator *own = device_dist_own(op);
    return own->class->stored.storage(own, storage);
}

static spry_status dist_diagonal(const spry_operator *op, spry_vector **diagonal)
{
    const dist_state *state = op->state;
    const spry_status status =
        spry_matrix_diagonal(state->sides[SPRY_TRANSPOSE_NO]->links->own, diagonal);
    if (status == SPRY_STATUS_OK)
        (*diagonal)->part = op->rows_part;
    return status;
}

static void dist_destroy(spry_operator *op)
{
    dist_state *state = op->state;
    for (int k = 0; state && k < 3; k++)
        side_free(state->d, state->sides[k]);
    if (op->device)
        op->device->users--;
    base_free(op->ctx, state);
}

static const operator_class distributed_class = {.name = "distributed",
                                                 .has_transpose = true,
                                                 .multiply = operator_apply_arrays,
                                                 .multiply_vectors = device_multiply_vectors,
                                                 .destroy = dist_destroy,
                                                 .device.multiply = device_dist_multiply,
                                                 .stored.storage = dist_storage,
                                                 .stored.diagonal = dist_diagonal};

bool device_is_distributed(const spry_operator *op)
{
    return op->class == &distributed_class;
}

/* An operator without its sides. */
static spry_status operator_without_sides(spry_device *d, spry_type type, int64_t rows,
                                          int64_t cols, const dist_source *source,
                                          spry_operator **op)
{
    dist_state *state = NULL;
    spry_status status = operator_new(d->ctx, &distributed_class, type, rows, cols, op);
    if (status == SPRY_STATUS_OK)
        status = base_calloc(d->ctx, 1, sizeof *state, &state);
    if (state)
        *state = (dist_state){.d = d, .source = *source};
    if (*op)
        (*op)->state = state;
    if (status == SPRY_STATUS_OK) {
        /* NOLINTNEXTLINE(clang-analyzer-core.NullDereference): it was made */
        (*op)->device = d;
        d->users++;
    }
    return status;
}

spry_status device_dist_operator_of(spry_device *d, spry_type type, int64_t rows,
                                    const dist_source *source, spry_operator **out)
{
    spry_context *ctx = d->ctx;
    spry_operator *op = NULL;
    side *s = NULL;
    spry_status status = SPRY_STATUS_OK;
    *out = NULL;
    SPRY_GO(ctx, team_agree(ctx, operator_without_sides(d, type, rows, rows, source, &op)));
    SPRY_GO(ctx, find_side(op, SPRY_TRANSPOSE_NO, &s));
    *out = op;
    op = NULL;
done:
    spry_operator_free(op);
    return status;
}

/* --- of matrices ---------------------------------------------------------------------------------
 */

static spry_status parts_of(spry_device *d, const spry_matrix *A, spry_status made,
                            spry_operator *own, dist_parts *parts)
{
    *parts = (dist_parts){.links = A->distributed, .own = own};
    return made == SPRY_STATUS_OK && A->distributed->edges > 0
               ? device_operator(d, A->distributed->edge, "csr", &parts->edge)
               : made;
}

static spry_status open_transposed(const void *source, spry_transpose transpose, dist_parts *parts)
{
    const dist_state *state = source;
    spry_matrix *T = NULL;
    spry_operator *own = NULL;
    spry_status status = dist_transpose(state->A, transpose == SPRY_TRANSPOSE_CONJUGATE, &T);
    if (status != SPRY_STATUS_OK)
        return status;
    const spry_status made = device_operator(state->d, T->distributed->own, "csr", &own);
    status = parts_of(state->d, T, made, own, parts);
    parts->kept = T;
    return status;
}

spry_status device_dist_operator(spry_device *d, const spry_matrix *A, spry_status made,
                                 spry_operator *own, spry_operator **out)
{
    spry_context *ctx = A->ctx;
    spry_operator *op = NULL;
    dist_parts parts;
    side *s = NULL;
    *out = NULL;
    spry_status status =
        operator_without_sides(d, A->a.type, A->a.rows, A->a.cols, &(dist_source){0}, &op);
    dist_state *state = op ? op->state : NULL;
    if (state) {
        state->A = A;
        state->source = (dist_source){state, open_transposed};
    }
    made = parts_of(d, A, made != SPRY_STATUS_OK ? made : status, own, &parts);
    status = side_new(d, A->a.type, made, &parts, &s);
    if (state)
        state->sides[SPRY_TRANSPOSE_NO] = s;
    SPRY_GO(ctx, status);
    /* NOLINTNEXTLINE(clang-analyzer-core.NullDereference): all have agreed that it is there */
    dist_note_operator(op, A, s->own, s->edge);
    *out = op;
    op = NULL;
done:
    spry_operator_free(op);
    return status;
}
