/*
 * The team: the ranks that solve together, and how they talk. A class knows one way to send
 * messages (MPI in src/ranks/mpi; `delaying`, around any other; threads of one process in tests)
 * and nothing else: all else is made of these few operations. A class calls no function of the
 * library.
 */
#ifndef SPRY_TEAM_H
#define SPRY_TEAM_H

#include <spry/options.h>
#include <spry/ranks.h>

typedef struct spry_team team;

/* A message to or from a neighbour: its place in this rank's memory. */
typedef struct team_message {
    int rank;
    int64_t bytes;
    void *data; /* not written where it is sent from */
} team_message;

/* A graph of which each rank has some vertices: those that follow the ones of the ranks before it.
 */
typedef struct team_graph {
    int64_t vertices;          /* of this rank */
    const int64_t *offsets;    /* vertices + 1, from 0 */
    const int64_t *neighbours; /* of each, by number over all ranks: both ways, never itself */
    const int64_t *weights;    /* work of each */
    int parts;
    const double *shares; /* of the work that each part is to have; above 0 */
} team_graph;

/* A class's own: messages that are sent again and again, and a gather that is under way. */
typedef struct team_halo team_halo;
typedef struct team_request team_request;

/*
 * All but post, poll and the halo's start and finish are collective: each rank calls them in the
 * same order. Lengths are in bytes and may exceed 2^31. A failure leaves its text in t->message.
 */
typedef struct team_class {
    const char *name;
    void (*destroy)(team *t);
    /* `bytes` bytes of each rank to all, in the order of ranks. */
    spry_status (*gather)(team *t, const void *mine, int64_t bytes, void *all);
    /* The same begun, and waited for later; both places stay as they are until then. At most one
     * is under way. */
    spry_status (*gather_begin)(team *t, const void *mine, int64_t bytes, void *all,
                                team_request **request);
    spry_status (*gather_end)(team *t, team_request *request);
    /* What rank `from` has to all others. */
    spry_status (*share)(team *t, int from, void *data, int64_t bytes);
    /* From each to each: `send` has what goes to rank 0, rank 1, ..., one after the other,
     * send_bytes[rank] bytes each; `receive` alike. Every rank knows what it is sent. */
    spry_status (*swap)(team *t, const int64_t *send_bytes, const void *send,
                        const int64_t *receive_bytes, void *receive);
    /* Messages between neighbours. What one rank sends to another and that one receives from it are
     * as long, and at most one each way. Between start and finish what is sent stays as it is. */
    spry_status (*halo_new)(team *t, int sends, const team_message *send, int receives,
                            const team_message *receive, team_halo **halo);
    spry_status (*halo_start)(team *t, team_halo *halo);
    spry_status (*halo_finish)(team *t, team_halo *halo);
    void (*halo_free)(team *t, team_halo *halo);
    /* Sends a copy of a message, without waiting. Messages of a rank to another come in their
     * order.
     */
    spry_status (*post)(team *t, int to, const void *data, int64_t bytes);
    /* The next of the messages that have been posted to this rank and have arrived: whose, and its
     * bytes, of which as many are kept as there is room for; *from = -1 where there is none. */
    spry_status (*poll)(team *t, int *from, void *data, int64_t room, int64_t *bytes);
    /* Whether messages may be in memory of a device of this engine, as far as the library that
     * sends them says; not collective. NULL: they may not. */
    bool (*takes_devices)(team *t, const char *engine);
    /* The part of each own vertex, so that few neighbours are in different parts; no rank has the
     * whole graph. NULL: there is no library for it. */
    spry_status (*partition)(team *t, const team_graph *g, int32_t *part);
} team_class;

/* What went over the wires, as this rank sees it. */
typedef struct team_counts {
    int64_t reductions;                     /* with a result that is waited for */
    int64_t begun;                          /* of these, early: something was done meanwhile */
    int64_t halo_messages, halo_bytes;      /* sent */
    double reduction_seconds, halo_seconds; /* waited for them */
} team_counts;

enum { TEAM_ROOM = 16 };

struct spry_team {
    const team_class *class;
    int rank, ranks;
    int on_machine; /* ranks on this machine */
    int place;      /* and which of them this is */
    char message[256];
    void *room; /* TEAM_ROOM bytes for each rank, so that what is small needs no memory that might
                   be missing */
    team_counts counts;
    double *shares;   /* of the work, by rank; NULL: equal; a call of base_alloc() */
    bool under_way;   /* a gather that was begun */
    bool on_devices;  /* halos are sent from devices' memory: tried, and the same on all ranks */
    spry_status late; /* see team_note() */
    char late_message[1024];
    void *state; /* the class's */
};

/*
 * What the library calls (ranks.c). Without a team (ctx->team is NULL) there is one rank. Failures
 * have their message in the context.
 */
int team_rank(const spry_context *ctx);
int team_ranks(const spry_context *ctx);
spry_status team_gather(spry_context *ctx, const void *mine, int64_t bytes, void *all);
spry_status team_gather_begin(spry_context *ctx, const void *mine, int64_t bytes, void *all,
                              team_request **request);
spry_status team_gather_end(spry_context *ctx, team_request *request);
spry_status team_share(spry_context *ctx, int from, void *data, int64_t bytes);
spry_status team_swap(spry_context *ctx, const int64_t *send_bytes, const void *send,
                      const int64_t *receive_bytes, void *receive);
spry_status team_halo_new(spry_context *ctx, int sends, const team_message *send, int receives,
                          const team_message *receive, team_halo **halo);
spry_status team_halo_start(spry_context *ctx, team_halo *halo);
spry_status team_halo_finish(spry_context *ctx, team_halo *halo);
void team_halo_free(spry_context *ctx, team_halo *halo);
spry_status team_post(spry_context *ctx, int to, const void *data, int64_t bytes);
spry_status team_poll(spry_context *ctx, int *from, void *data, int64_t room, int64_t *bytes);

/* Also where the team's class has no such member. */
bool team_takes_devices(const spry_context *ctx, const char *engine);
/* Fails where the team has no library for it. */
spry_status team_partition(spry_context *ctx, const team_graph *g, int32_t *part);

/* Puts a slower team around the context's (team_delay.c), by options "halo=0.01,reduction=0.001":
 * before anything was made of it. */
spry_status team_delay(spry_context *ctx, const char *options);

/*
 * What has failed on this rank's device alone, while others go on: they wait for the next message,
 * and hear of it with that. Its message is kept, and SPRY_STATUS_OK returned. team_late() is the
 * status to be reported: the one given, or else what was noted since ranks have last agreed.
 */
spry_status team_note(spry_context *ctx, spry_status status);
spry_status team_late(spry_context *ctx, spry_status status);

/* team_agree() without its last word, for itself alone. */
spry_status team_agree_on(spry_context *ctx, spry_status status);
/*
 * One status for all: SPRY_STATUS_OK where it is everybody's, else that of the first rank that has
 * another, with its message, which names the rank unless all have failed. To be called at the same
 * places by all ranks, also by those that failed: what may fail on one rank alone (memory, files,
 * values, clocks, requests to stop) is agreed upon before the next message.
 */
static inline spry_status team_agree(spry_context *ctx, spry_status status)
{
    const spry_status all = team_agree_on(ctx, status);
    return all == SPRY_STATUS_OK ? status : all; /* so that analysers see what has failed */
}
/* The same of a number: the smallest and the largest of all ranks'; the sum. */
spry_status team_bounds(spry_context *ctx, double mine, double *least, double *most);
spry_status team_sum(spry_context *ctx, int64_t mine, int64_t *sum);
/* Fails, on all ranks, where a number is not the same on all of them; `what` it is. */
spry_status team_alike(spry_context *ctx, const char *what, int64_t mine);
/* The same of options, but for those named in `but`, and of one number more; the message names the
 * option. One message where all are alike. */
spry_status team_alike_options(spry_context *ctx, spry_option_list list, const void *fields,
                               const char *but, const char *what, int64_t number);
/* A number by which some bytes differ from others. */
int64_t team_mark(const void *bytes, size_t size);
/* Whether it is so on any rank. */
spry_status team_any(spry_context *ctx, bool mine, bool *any);
/* Starts (`n` of every rank in turn) as offsets: ranks + 1 numbers; a call of base_alloc(). */
spry_status team_offsets(spry_context *ctx, int64_t n, int64_t **offsets);

#endif
