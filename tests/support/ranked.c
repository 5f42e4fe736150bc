/* A team of threads. Collective messages meet at a barrier; others wait in a list. */
#include "support/ranked.h"

#include <pthread.h>
#include <stdlib.h>

enum { MOST_RANKS = 8, POSTED = -1 };

/* A message on its way. */
typedef struct letter {
    struct letter *next;
    int from, to, halo; /* POSTED: none */
    int64_t bytes;
    char data[];
} letter;

/* What the ranks share. */
typedef struct hall {
    int ranks;
    pthread_barrier_t meeting;
    const void *data[MOST_RANKS];
    const int64_t *lengths[MOST_RANKS];
    pthread_mutex_t lock;
    pthread_cond_t arrived;
    letter *letters;
} hall;

struct team_halo {
    int number, sends, receives;
    team_message *send, *receive;
};

typedef struct seat {
    hall *all;
    int halos; /* made so far */
    struct {
        const void *mine;
        int64_t bytes;
        void *all;
    } begun;
} seat;

static hall *hall_of(team *t)
{
    return ((seat *)t->state)->all;
}

static void destroy(team *t)
{
    free(t->room);
    free(t->state);
    free(t);
}

static spry_status gather(team *t, const void *mine, int64_t bytes, void *all)
{
    hall *h = hall_of(t);
    h->data[t->rank] = mine;
    pthread_barrier_wait(&h->meeting);
    for (int r = 0; r < t->ranks && bytes > 0; r++)
        memcpy((char *)all + r * bytes, h->data[r], (size_t)bytes);
    pthread_barrier_wait(&h->meeting);
    return SPRY_STATUS_OK;
}

static spry_status gather_begin(team *t, const void *mine, int64_t bytes, void *all,
                                team_request **request)
{
    seat *s = t->state;
    s->begun.mine = mine;
    s->begun.bytes = bytes;
    s->begun.all = all;
    *request = NULL;
    return SPRY_STATUS_OK;
}

static spry_status gather_end(team *t, team_request *request)
{
    const seat *s = t->state;
    (void)request;
    return gather(t, s->begun.mine, s->begun.bytes, s->begun.all);
}

static spry_status share(team *t, int from, void *data, int64_t bytes)
{
    hall *h = hall_of(t);
    h->data[t->rank] = data;
    pthread_barrier_wait(&h->meeting);
    if (t->rank != from && bytes > 0)
        memcpy(data, h->data[from], (size_t)bytes);
    pthread_barrier_wait(&h->meeting);
    return SPRY_STATUS_OK;
}

static spry_status swap(team *t, const int64_t *send_bytes, const void *send,
                        const int64_t *receive_bytes, void *receive)
{
    hall *h = hall_of(t);
    char *to = receive;
    bool fits = true;
    h->data[t->rank] = send;
    h->lengths[t->rank] = send_bytes;
    pthread_barrier_wait(&h->meeting);
    for (int r = 0; r < t->ranks; r++) {
        const char *from = h->data[r];
        for (int k = 0; k < t->rank; k++)
            from += h->lengths[r][k];
        fits = fits && h->lengths[r][t->rank] == receive_bytes[r];
        if (fits && receive_bytes[r] > 0)
            memcpy(to, from, (size_t)receive_bytes[r]);
        to += receive_bytes[r];
    }
    pthread_barrier_wait(&h->meeting);
    if (!fits)
        snprintf(t->message, sizeof t->message, "rank %d is sent other lengths than it waits for",
                 t->rank);
    return fits ? SPRY_STATUS_OK : SPRY_STATUS_UNSUPPORTED;
}

/* --- between two ranks ---------------------------------------------------------------------------
 */

static spry_status drop_in(team *t, int to, int halo, const void *data, int64_t bytes)
{
    hall *h = hall_of(t);
    letter *l = malloc(sizeof *l + (size_t)bytes), **end = &h->letters;
    if (!l)
        return SPRY_STATUS_NO_MEMORY;
    *l = (letter){.from = t->rank, .to = to, .halo = halo, .bytes = bytes};
    if (bytes > 0)
        memcpy(l->data, data, (size_t)bytes);
    pthread_mutex_lock(&h->lock);
    while (*end)
        end = &(*end)->next;
    *end = l;
    pthread_cond_broadcast(&h->arrived);
    pthread_mutex_unlock(&h->lock);
    return SPRY_STATUS_OK;
}

/* The first letter for a rank, from one or from any (-1); NULL. With the lock held. */
static letter *pick_up(team *t, int from, int halo)
{
    for (letter **l = &hall_of(t)->letters; *l; l = &(*l)->next)
        if ((*l)->to == t->rank && (*l)->halo == halo && (from < 0 || (*l)->from == from)) {
            letter *found = *l;
            *l = found->next;
            return found;
        }
    return NULL;
}

static spry_status halo_new(team *t, int sends, const team_message *send, int receives,
                            const team_message *receive, team_halo **halo)
{
    team_halo *made = calloc(1, sizeof *made);
    *made = (team_halo){((seat *)t->state)->halos++, sends, receives, NULL, NULL};
    made->send = calloc((size_t)sends + 1, sizeof *send);
    made->receive = calloc((size_t)receives + 1, sizeof *receive);
    memcpy(made->send, send, (size_t)sends * sizeof *send);
    memcpy(made->receive, receive, (size_t)receives * sizeof *receive);
    *halo = made;
    return SPRY_STATUS_OK;
}

static spry_status halo_start(team *t, team_halo *halo)
{
    for (int k = 0; k < halo->sends; k++) {
        const team_message *m = &halo->send[k];
        if (drop_in(t, m->rank, halo->number, m->data, m->bytes) != SPRY_STATUS_OK)
            return SPRY_STATUS_NO_MEMORY;
    }
    return SPRY_STATUS_OK;
}

static spry_status halo_finish(team *t, team_halo *halo)
{
    hall *h = hall_of(t);
    for (int k = 0; k < halo->receives; k++) {
        const team_message *m = &halo->receive[k];
        letter *l;
        pthread_mutex_lock(&h->lock);
        while (!(l = pick_up(t, m->rank, halo->number)))
            pthread_cond_wait(&h->arrived, &h->lock);
        pthread_mutex_unlock(&h->lock);
        if (m->bytes > 0)
            memcpy(m->data, l->data, (size_t)m->bytes);
        free(l);
    }
    return SPRY_STATUS_OK;
}

static void halo_free(team *t, team_halo *halo)
{
    (void)t;
    free(halo->send);
    free(halo->receive);
    free(halo);
}

static spry_status post(team *t, int to, const void *data, int64_t bytes)
{
    return drop_in(t, to, POSTED, data, bytes);
}

static spry_status poll_post(team *t, int *from, void *data, int64_t room, int64_t *bytes)
{
    hall *h = hall_of(t);
    pthread_mutex_lock(&h->lock);
    letter *l = pick_up(t, -1, POSTED);
    pthread_mutex_unlock(&h->lock);
    *from = l ? l->from : -1;
    if (!l)
        return SPRY_STATUS_OK;
    *bytes = l->bytes;
    memcpy(data, l->data, (size_t)(l->bytes < room ? l->bytes : room));
    free(l);
    return SPRY_STATUS_OK;
}

static const team_class threads_class = {
    .name = "threads",
    .destroy = destroy,
    .gather = gather,
    .gather_begin = gather_begin,
    .gather_end = gather_end,
    .share = share,
    .swap = swap,
    .halo_new = halo_new,
    .halo_start = halo_start,
    .halo_finish = halo_finish,
    .halo_free = halo_free,
    .post = post,
    .poll = poll_post,
};

/* --- running -------------------------------------------------------------------------------------
 */

typedef struct job {
    hall *all;
    const char *options;
    int rank;
    ranked_work *work;
    void *data;
    const char *wrong;
} job;

static spry_context *join_hall(hall *all, const char *options, int rank)
{
    team *t = calloc(1, sizeof *t);
    seat *s = calloc(1, sizeof *s);
    spry_context *ctx = NULL;
    s->all = all;
    *t = (team){.class = &threads_class,
                .rank = rank,
                .ranks = all->ranks,
                .room = calloc((size_t)all->ranks, TEAM_ROOM),
                .state = s};
    return spry_context_new_ranked(t, options, &ctx) == SPRY_STATUS_OK ? ctx : NULL;
}

static void *run_rank(void *argument)
{
    job *j = argument;
    spry_context *ctx = join_hall(j->all, j->options, j->rank);
    if (!ctx) {
        j->wrong = "no context";
        return NULL;
    }
    j->wrong = j->work(ctx, j->data);
    if (!j->wrong && ctx->memory_now != 0)
        j->wrong = "memory is left";
    spry_context_free(ctx);
    return NULL;
}

void ranked_run(int ranks, ranked_work *work, void *data)
{
    ranked_run_with("threads=1", ranks, work, data);
}

void ranked_run_with(const char *options, int ranks, ranked_work *work, void *data)
{
    pthread_t threads[MOST_RANKS];
    job jobs[MOST_RANKS];
    hall all = {.ranks = ranks};
    assert_in_range(ranks, 1, MOST_RANKS);
    pthread_barrier_init(&all.meeting, NULL, (unsigned)ranks);
    pthread_mutex_init(&all.lock, NULL);
    pthread_cond_init(&all.arrived, NULL);
    for (int r = 0; r < ranks; r++) {
        jobs[r] = (job){&all, options, r, work, data, NULL};
        assert_int_equal(pthread_create(&threads[r], NULL, run_rank, &jobs[r]), 0);
    }
    for (int r = 0; r < ranks; r++)
        pthread_join(threads[r], NULL);
    const bool empty = !all.letters;
    pthread_barrier_destroy(&all.meeting);
    pthread_mutex_destroy(&all.lock);
    pthread_cond_destroy(&all.arrived);
    for (int r = 0; r < ranks; r++)
        if (jobs[r].wrong)
            fail_msg("rank %d of %d: %s", r, ranks, jobs[r].wrong);
    assert_true(empty); /* nothing was sent that was not received */
}

bool ranked_unlike(spry_context *ctx, spry_status expected, spry_status found)
{
    if (found == expected)
        return false;
    fprintf(stderr, "rank %d: status %d: %s\n", team_rank(ctx), (int)found, spry_message(ctx));
    return true;
}

/* --- torture -------------------------------------------------------------------------------------
 */

typedef struct torture {
    support_call call;
    void *data;
    int victim;
} torture;

static const char *torture_rank(spry_context *ctx, void *data)
{
    const torture *t = data;
    enum { MOST = 100000 };
    for (int64_t n = 1; n < MOST; n++) {
        const int64_t before = ctx->memory_now;
        ctx->fail_in = team_rank(ctx) == t->victim ? n : 0;
        const spry_status status = t->call(ctx, t->data);
        ctx->fail_in = 0;
        CHECK(ctx->memory_now == before);
        if (status == SPRY_STATUS_OK)
            return NULL;
        CHECK_STATUS(ctx, SPRY_STATUS_NO_MEMORY, status);
    }
    return "the torture does not end";
}

void ranked_torture(int ranks, support_call call, void *data)
{
    for (int victim = 0; victim < ranks; victim++) {
        torture t = {call, data, victim};
        ranked_run(ranks, torture_rank, &t);
    }
}
