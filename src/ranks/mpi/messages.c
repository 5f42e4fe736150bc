/* Messages between two ranks: halos, everybody with everybody, and those that no rank waits for. */
#include "ranks/mpi/dist.h"

#include <stdlib.h>
#include <string.h>

static int pieces_of(int64_t bytes)
{
    return (int)((bytes + MPI_PIECE - 1) / MPI_PIECE);
}

static int piece_length(int64_t bytes, int piece)
{
    const int64_t left = bytes - piece * MPI_PIECE;
    return (int)(left < MPI_PIECE ? left : MPI_PIECE);
}

/* --- halos ---------------------------------------------------------------------------------------
 */

/* Persistent requests, receives first: a message that finds its place waiting is copied once. */
struct team_halo {
    int count;
    MPI_Request request[];
};

static int count_pieces(int messages, const team_message *list)
{
    int count = 0;
    for (int i = 0; i < messages; i++)
        count += pieces_of(list[i].bytes);
    return count;
}

static int open_messages(mpi_state *m, team_halo *h, bool receive, int messages,
                         const team_message *list)
{
    int error = MPI_SUCCESS;
    for (int i = 0; i < messages; i++) {
        for (int k = 0; k < pieces_of(list[i].bytes) && !error; k++) {
            char *at = (char *)list[i].data + k * MPI_PIECE;
            const int n = piece_length(list[i].bytes, k);
            MPI_Request *to = &h->request[h->count];
            error = receive ? MPI_Recv_init(at, n, MPI_BYTE, list[i].rank, TAG_HALO, m->comm, to)
                            : MPI_Send_init(at, n, MPI_BYTE, list[i].rank, TAG_HALO, m->comm, to);
            h->count += !error;
        }
    }
    return error;
}

spry_status mpi_halo_new(team *t, int sends, const team_message *send, int receives,
                         const team_message *receive, team_halo **out)
{
    mpi_state *m = t->state;
    const int count = count_pieces(sends, send) + count_pieces(receives, receive);
    team_halo *h = malloc(sizeof *h + (size_t)count * sizeof *h->request);
    int mine = h != NULL, all = 0;
    *out = NULL;
    int error = MPI_Allreduce(&mine, &all, 1, MPI_INT, MPI_MIN, m->comm);
    if (error || !all || !h) {
        free(h);
        return error ? mpi_failed(t, "MPI_Allreduce", error) : mpi_no_memory(t, (int64_t)sizeof *h);
    }
    h->count = 0;
    *out = h;
    error = open_messages(m, h, true, receives, receive);
    if (!error)
        error = open_messages(m, h, false, sends, send);
    return error ? mpi_failed(t, "MPI_Send_init", error) : SPRY_STATUS_OK;
}

spry_status mpi_halo_start(team *t, team_halo *h)
{
    const int error = h->count ? MPI_Startall(h->count, h->request) : MPI_SUCCESS;
    return error ? mpi_failed(t, "MPI_Startall", error) : SPRY_STATUS_OK;
}

spry_status mpi_halo_finish(team *t, team_halo *h)
{
    const int error =
        h->count ? MPI_Waitall(h->count, h->request, MPI_STATUSES_IGNORE) : MPI_SUCCESS;
    return error ? mpi_failed(t, "MPI_Waitall", error) : SPRY_STATUS_OK;
}

void mpi_halo_free(team *t, team_halo *h)
{
    (void)t;
    for (int i = 0; i < h->count; i++)
        MPI_Request_free(&h->request[i]);
    free(h);
}

/* --- everybody with everybody --------------------------------------------------------------------
 */

/* Begins the messages of one direction; `count` is how many have been. */
static int begin_swap(team *t, bool receive, const int64_t *bytes, char *at, MPI_Request *request,
                      int *count)
{
    mpi_state *m = t->state;
    int error = MPI_SUCCESS;
    for (int r = 0; r < t->ranks; r++) {
        for (int k = 0; r != t->rank && k < pieces_of(bytes[r]) && !error; k++) {
            char *from = at + k * MPI_PIECE;
            const int n = piece_length(bytes[r], k);
            MPI_Request *to = &request[*count];
            error = receive ? MPI_Irecv(from, n, MPI_BYTE, r, TAG_SWAP, m->comm, to)
                            : MPI_Isend(from, n, MPI_BYTE, r, TAG_SWAP, m->comm, to);
            *count += !error;
        }
        at += bytes[r];
    }
    return error;
}

static int64_t sum_before(const int64_t *bytes, int rank)
{
    int64_t sum = 0;
    for (int r = 0; r < rank; r++)
        sum += bytes[r];
    return sum;
}

/* Between all pairs, and not MPI_Alltoallv: that counts in ints, and most pairs have nothing to
 * say.
 */
spry_status mpi_swap(team *t, const int64_t *send_bytes, const void *send,
                     const int64_t *receive_bytes, void *receive)
{
    mpi_state *m = t->state;
    int count = 0, most = 0;
    for (int r = 0; r < t->ranks; r++)
        most += pieces_of(send_bytes[r]) + pieces_of(receive_bytes[r]);
    MPI_Request *request = malloc(((size_t)most + 1) * sizeof *request);
    int mine = request != NULL, all = 0;
    int error = MPI_Allreduce(&mine, &all, 1, MPI_INT, MPI_MIN, m->comm);
    if (error || !all) {
        free(request);
        return error ? mpi_failed(t, "MPI_Allreduce", error) : mpi_no_memory(t, most);
    }
    error = begin_swap(t, true, receive_bytes, receive, request, &count);
    if (!error)
        /* MPI_Isend() takes what it only reads as const. */
        error = begin_swap(t, false, send_bytes, (char *)(uintptr_t)send, request, &count);
    if (send_bytes[t->rank] > 0)
        memcpy((char *)receive + sum_before(receive_bytes, t->rank),
               (const char *)send + sum_before(send_bytes, t->rank), (size_t)send_bytes[t->rank]);
    if (!error)
        error = MPI_Waitall(count, request, MPI_STATUSES_IGNORE);
    free(request);
    return error ? mpi_failed(t, "an exchange of all ranks", error) : SPRY_STATUS_OK;
}

/* --- messages that no rank waits for ------------------------------------------------------------
 */

/* Frees those that have gone. */
static void sweep_posts(mpi_state *m)
{
    for (posted **p = &m->posts; *p;) {
        int gone = 0;
        if (MPI_Test(&(*p)->request, &gone, MPI_STATUS_IGNORE) == MPI_SUCCESS && gone) {
            posted *old = *p;
            *p = old->next;
            free(old);
        } else {
            p = &(*p)->next;
        }
    }
}

spry_status mpi_post(team *t, int to, const void *data, int64_t bytes)
{
    mpi_state *m = t->state;
    sweep_posts(m);
    posted *p = bytes <= MPI_PIECE ? malloc(sizeof *p + (size_t)bytes) : NULL;
    if (!p)
        return mpi_no_memory(t, bytes);
    memcpy(p + 1, data, (size_t)bytes);
    const int error = MPI_Isend(p + 1, (int)bytes, MPI_BYTE, to, TAG_POST, m->comm, &p->request);
    if (error) {
        free(p);
        return mpi_failed(t, "MPI_Isend", error);
    }
    p->next = m->posts;
    m->posts = p;
    return SPRY_STATUS_OK;
}

spry_status mpi_poll(team *t, int *from, void *data, int64_t room, int64_t *bytes)
{
    mpi_state *m = t->state;
    MPI_Message message;
    MPI_Status status;
    int arrived = 0, length = 0;
    *from = -1;
    *bytes = 0;
    sweep_posts(m);
    int error = MPI_Improbe(MPI_ANY_SOURCE, TAG_POST, m->comm, &arrived, &message, &status);
    if (error || !arrived)
        return error ? mpi_failed(t, "MPI_Improbe", error) : SPRY_STATUS_OK;
    MPI_Get_count(&status, MPI_BYTE, &length);
    *from = status.MPI_SOURCE;
    *bytes = length;
    if (length <= room) {
        error = MPI_Mrecv(data, length, MPI_BYTE, &message, MPI_STATUS_IGNORE);
        return error ? mpi_failed(t, "MPI_Mrecv", error) : SPRY_STATUS_OK;
    }
    void *whole = malloc((size_t)length);
    if (!whole)
        return mpi_no_memory(t, length);
    error = MPI_Mrecv(whole, length, MPI_BYTE, &message, MPI_STATUS_IGNORE);
    memcpy(data, whole, (size_t)room);
    free(whole);
    return error ? mpi_failed(t, "MPI_Mrecv", error) : SPRY_STATUS_OK;
}

/* Who has them still under way when the team goes will not have them read. */
void mpi_posts_free(mpi_state *m)
{
    int ended = 0;
    MPI_Finalized(&ended);
    while (m->posts) {
        posted *p = m->posts;
        m->posts = p->next;
        if (!ended) {
            MPI_Cancel(&p->request);
            MPI_Wait(&p->request, MPI_STATUS_IGNORE);
        }
        free(p);
    }
}
