/*
 * The product with a matrix that is spread over ranks, on a device. What others need of x is packed
 * there and copied to pinned memory beside the product with the own block, which the device is busy
 * with while messages travel; what others have sent is copied behind the own elements that edge
 * rows need, and these rows are made anew as a whole (spread.h). Where MPI takes addresses of the
 * device's memory there are no copies.
 *
 * Ranks on processors do the same in host/spread_operator.c, and send the same messages: what is
 * collective comes in the same order in both.
 */
#include "device/spread.h"

#include "device/engine.h"
#include "device/operator.h"
#include "device/vector.h"
#include "host/apply.h"

#include <stdlib.h>

/* A, A^T or A^H, by rows. */
typedef struct side {
    const spry_matrix *A;
    spry_matrix *made; /* what A is, where it is freed with it */
    spry_operator *own, *edge;
    device_memory *sent_index, *kept_index, *edge_rows; /* places in x and y */
    device_memory *send, *compact, *sums;
    bool on_device; /* messages are in `send`, and behind the own elements of `compact` */
    char *pinned_send, *pinned_receive; /* else here */
    device_stream *copies;
    team_halo *messages;
} side;

typedef struct spread_state {
    spry_device *d;
    side *sides[3]; /* by transpose */
} spread_state;

static void side_free(spry_device *d, side *s)
{
    if (!s)
        return;
    if (s->copies && !d->lost) /* which may still read pinned memory */
        (void)device_stream_finish(s->copies);
    team_halo_free(d->ctx, s->messages);
    device_stream_free(s->copies);
    spry_operator_free(s->own);
    spry_operator_free(s->edge);
    device_memory *const blocks[] = {s->sent_index, s->kept_index, s->edge_rows,
                                     s->send,       s->compact,    s->sums};
    for (size_t k = 0; k < sizeof blocks / sizeof *blocks; k++)
        device_free(blocks[k]);
    device_pinned_free(d, s->pinned_send);
    device_pinned_free(d, s->pinned_receive);
    spry_matrix_free(s->made);
    base_free(d->ctx, s);
}

static int64_t size_of(const side *s)
{
    return (int64_t)spry_type_size(s->A->a.type);
}

/* --- making --------------------------------------------------------------------------------------
 */

static spry_status put_index(spry_device *d, int64_t n, const int32_t *from, device_memory **to)
{
    const int64_t bytes = n * (int64_t)sizeof *from;
    const spry_status status = device_alloc(d, bytes, to);
    return status == SPRY_STATUS_OK && n > 0 ? device_put(*to, 0, from, bytes) : status;
}

static spry_status make_room(spry_device *d, side *s)
{
    spry_context *ctx = d->ctx;
    const spread *p = s->A->spread;
    const int64_t size = size_of(s);
    void *pinned = NULL;
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(ctx, put_index(d, p->sent_count, p->sent, &s->sent_index));
    SPRY_GO(ctx, put_index(d, p->kept, p->kept_index, &s->kept_index));
    SPRY_GO(ctx, put_index(d, p->edges, p->edge_rows, &s->edge_rows));
    SPRY_GO(ctx, device_alloc(d, p->sent_count * size, &s->send));
    SPRY_GO(ctx, device_alloc(d, (p->kept + p->ghosts) * size, &s->compact));
    SPRY_GO(ctx, device_alloc(d, p->edges * size, &s->sums));
    SPRY_GO(ctx, device_stream_new(d, &s->copies));
    s->on_device = ctx->team->on_devices && d->facts.has_pointers;
    if (s->on_device)
        goto done;
    SPRY_GO(ctx, device_pinned_alloc(d, (p->sent_count + 1) * size, &pinned));
    s->pinned_send = pinned;
    SPRY_GO(ctx, device_pinned_alloc(d, (p->ghosts + 1) * size, &pinned));
    s->pinned_receive = pinned;
done:
    return status;
}

static char *send_place(const side *s)
{
    return s->on_device ? device_address(s->send) : s->pinned_send;
}

static char *receive_place(const side *s)
{
    return s->on_device ? (char *)device_address(s->compact) + s->A->spread->kept * size_of(s)
                        : s->pinned_receive;
}

static spry_status open_messages(spry_device *d, side *s)
{
    spry_context *ctx = d->ctx;
    /* NOLINTNEXTLINE(clang-analyzer-core.NullDereference): all have agreed that it is there */
    const spread *p = s->A->spread;
    team_message *send = NULL, *receive = NULL;
    spry_status status = make_room(d, s);
    if (status == SPRY_STATUS_OK)
        status = spread_list_messages(ctx, p->sends, p->send, size_of(s), send_place(s), &send);
    if (status == SPRY_STATUS_OK)
        status = spread_list_messages(ctx, p->receives, p->receive, size_of(s), receive_place(s),
                                      &receive);
    SPRY_GO(ctx, team_agree(ctx, status));
    const bool entered = s->on_device && device_enter(d);
    status = team_halo_new(ctx, p->sends, send, p->receives, receive, &s->messages);
    if (entered)
        device_leave(d);
done:
    base_free(ctx, send);
    base_free(ctx, receive);
    return status;
}

static spry_status side_new(spry_device *d, const spry_matrix *A, spry_status made,
                            spry_operator *own, side **out)
{
    spry_context *ctx = A->ctx;
    side *s = NULL;
    bool by_rows; /* in sweeps: on no rank then */
    spry_status status = made == SPRY_STATUS_OK ? base_calloc(ctx, 1, sizeof *s, &s) : made;
    *out = NULL;
    if (s) {
        s->A = A;
        s->own = own;
        own = NULL;
        if (A->spread->edges > 0)
            status = device_operator(d, A->spread->edge, "csr", &s->edge);
    }
    SPRY_GO(ctx, team_agree(ctx, status));
    SPRY_GO(ctx, spread_agree_by_rows(ctx, SPRY_STATUS_OK, false, &by_rows));
    SPRY_GO(ctx, open_messages(d, s));
    *out = s;
    s = NULL;
done:
    spry_operator_free(own);
    side_free(d, s);
    return status;
}

/* The rows of A^T or A^H, made at the first use. */
static spry_status find_side(const spry_operator *op, spry_transpose transpose, side **out)
{
    spread_state *state = op->state;
    const spry_matrix *A = state->sides[SPRY_TRANSPOSE_NO]->A;
    const spry_transpose kind = spread_side(op->type, transpose);
    spry_matrix *T = NULL;
    spry_operator *own = NULL;
    spry_status status = SPRY_STATUS_OK;
    if (!state->sides[kind]) {
        SPRY_GO(op->ctx, spread_transpose(A, kind == SPRY_TRANSPOSE_CONJUGATE, &T));
        const spry_status made = device_operator(state->d, T->spread->own, "csr", &own);
        SPRY_GO(op->ctx, side_new(state->d, T, made, own, &state->sides[kind]));
        state->sides[kind]->made = T;
        T = NULL;
    }
    *out = state->sides[kind];
done:
    spry_matrix_free(T);
    return status;
}

/* --- products ------------------------------------------------------------------------------------
 */

/* What others need of x is on its way to where it is sent from, and the own elements that edge rows
 * need are in their place. */
static spry_status pack(spry_device *d, side *s, const device_memory *x)
{
    spry_context *ctx = d->ctx;
    const spread *p = s->A->spread;
    const spry_type type = s->A->a.type;
    spry_status status = SPRY_STATUS_OK;
    if (p->sent_count > 0)
        SPRY_GO(ctx, device_pick(d, type, p->sent_count, s->sent_index, false, x, s->send));
    /* Also of a rank that sends nothing: edge rows of the product before may still read the
     * elements of others that are copied next. */
    if (p->sent_count + p->ghosts > 0)
        SPRY_GO(ctx, device_stream_wait(s->copies, d->stream));
    if (p->sent_count > 0 && !s->on_device)
        SPRY_GO(ctx,
                device_get_on(s->copies, s->send, 0, s->pinned_send, p->sent_count * size_of(s)));
    if (p->kept > 0)
        SPRY_GO(ctx, device_pick(d, type, p->kept, s->kept_index, false, x, s->compact));
done:
    return status;
}

static spry_status multiply_own(spry_device *d, const side *s, spry_scalar alpha,
                                const device_memory *x, spry_scalar beta, device_memory *y)
{
    spry_context *ctx = d->ctx;
    const spread *p = s->A->spread;
    const bool adds = beta.re != 0 || beta.im != 0;
    spry_status status = SPRY_STATUS_OK;
    if (adds && p->edges > 0) /* edge rows' old y */
        SPRY_GO(ctx, device_pick(d, s->A->a.type, p->edges, s->edge_rows, false, y, s->sums));
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
    const spread *p = s->A->spread;
    const int64_t size = size_of(s);
    spry_status status = SPRY_STATUS_OK;
    if (p->edges == 0)
        return SPRY_STATUS_OK;
    if (p->ghosts > 0 && !s->on_device) {
        SPRY_GO(ctx, device_put_on(s->copies, s->compact, p->kept * size, s->pinned_receive,
                                   p->ghosts * size));
        SPRY_GO(ctx, device_stream_wait(d->stream, s->copies));
    }
    SPRY_GO(ctx, device_multiply(s->edge, SPRY_TRANSPOSE_NO, alpha, s->compact, beta, s->sums));
    SPRY_GO(ctx, device_pick(d, s->A->a.type, p->edges, s->edge_rows, true, s->sums, y));
done:
    return status;
}

/* Sends, and waits for what others send, which they do whether this rank has failed or not. */
static spry_status exchange(const spry_device *d, const side *s)
{
    spry_context *ctx = d->ctx;
    const spread *p = s->A->spread;
    const bool entered = s->on_device && device_enter(d); /* MPI copies from it */
    spry_status status = team_halo_start(ctx, s->messages);
    if (status == SPRY_STATUS_OK) {
        ctx->team->counts.halo_messages += p->sends;
        ctx->team->counts.halo_bytes += p->sent_count * size_of(s);
        status = team_halo_finish(ctx, s->messages);
    }
    if (entered)
        device_leave(d);
    return status;
}

spry_status device_spread_multiply(const spry_operator *op, spry_transpose transpose,
                                   spry_scalar alpha, const device_memory *x, spry_scalar beta,
                                   device_memory *y)
{
    const spread_state *state = op->state;
    spry_context *ctx = op->ctx;
    spry_device *d = state->d;
    side *s = NULL;
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(ctx, find_side(op, transpose, &s));
    status = pack(d, s, x);
    if (status == SPRY_STATUS_OK)
        status = multiply_own(d, s, alpha, x, beta, y);
    if (s->A->spread->sent_count + s->A->spread->ghosts > 0) {
        const spry_status copied = device_stream_finish(s->copies);
        status = status == SPRY_STATUS_OK ? copied : status;
    }
    const spry_status sent = exchange(d, s);
    SPRY_GO(ctx, status);
    SPRY_GO(ctx, sent);
    SPRY_GO(ctx, multiply_edge(d, s, alpha, beta, y));
done:
    return status;
}

spry_status device_spread_skip(const spry_operator *op, spry_transpose transpose)
{
    const spread_state *state = op->state;
    side *s = NULL;
    const spry_status status = find_side(op, transpose, &s);
    return status == SPRY_STATUS_OK ? exchange(state->d, s) : status;
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

spry_status device_spread_choose_transport(spry_context *ctx, spry_device *d)
{
    const int64_t unit = INT64_C(1) << 32; /* more than there are ranks */
    char before[MESSAGE_SIZE];
    int64_t sum = 0;
    bool fine;
    spry_status status = SPRY_STATUS_OK;
    ctx->team->on_devices = false;
    /* How many ranks have devices, and how many are against it. */
    SPRY_GO(ctx, team_sum(ctx, (d != NULL) + (may_send_from(ctx, d) ? 0 : unit), &sum));
    fine = sum > 0 && sum < unit;
    memcpy(before, ctx->message, sizeof before);
    for (int step = 0; step < 2 && fine; step++)
        SPRY_GO(ctx, try_messages(ctx, d, step, &fine));
    memcpy(ctx->message, before, sizeof before); /* nothing failed for the caller */
    ctx->team->on_devices = fine;
done:
    return status;
}

/* --- the operator --------------------------------------------------------------------------------
 */

const spry_operator *device_spread_own(const spry_operator *op)
{
    const spread_state *state = op->state;
    return state->sides[SPRY_TRANSPOSE_NO]->own;
}

static spry_status spread_storage(const spry_operator *op, spry_storage *storage)
{
    const spry_operator *own = device_spread_own(op);
    return own->class->storage(own, storage);
}

static spry_status spread_diagonal(const spry_operator *op, spry_vector **diagonal)
{
    const spread_state *state = op->state;
    const spry_status status =
        spry_matrix_diagonal(state->sides[SPRY_TRANSPOSE_NO]->A->spread->own, diagonal);
    if (status == SPRY_STATUS_OK)
        (*diagonal)->part = op->rows_part;
    return status;
}

static void spread_destroy(spry_operator *op)
{
    spread_state *state = op->state;
    for (int k = 0; state && k < 3; k++)
        side_free(state->d, state->sides[k]);
    if (op->device)
        op->device->users--;
    base_free(op->ctx, state);
}

static const operator_class spread_class = {.name = "spread",
                                            .has_transpose = true,
                                            .multiply = operator_apply_arrays,
                                            .multiply_vectors = device_multiply_vectors,
                                            .destroy = spread_destroy,
                                            .storage = spread_storage,
                                            .matrix_diagonal = spread_diagonal};

bool device_is_spread(const spry_operator *op)
{
    return op->class == &spread_class;
}

spry_status device_spread_operator(spry_device *d, const spry_matrix *A, spry_status made,
                                   spry_operator *own, spry_operator **out)
{
    spry_context *ctx = A->ctx;
    spry_operator *op = NULL;
    spread_state *state = NULL;
    side *s = NULL;
    spry_status status = operator_new(ctx, &spread_class, A->a.type, A->a.rows, A->a.cols, &op);
    *out = NULL;
    if (status == SPRY_STATUS_OK)
        status = base_calloc(ctx, 1, sizeof *state, &state);
    if (op)
        op->state = state;
    if (state)
        state->d = d;
    const spry_status sided = side_new(d, A, made != SPRY_STATUS_OK ? made : status, own, &s);
    if (state)
        state->sides[SPRY_TRANSPOSE_NO] = s;
    SPRY_GO(ctx, sided);
    /* NOLINTNEXTLINE(clang-analyzer-core.NullDereference): all have agreed that it is there */
    op->device = d;
    d->users++;
    spread_note_operator(op, A, s->own, s->edge);
    *out = op;
    op = NULL;
done:
    spry_operator_free(op);
    return status;
}
