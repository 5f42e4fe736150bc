/* The team of MPI's ranks. The only room that knows mpi.h; built as libspry_mpi. */
#include "ranks/mpi/dist.h"

#include <stdlib.h>
#include <string.h>

/* MPI counts in ints: longer blocks are sent in pieces. */
static spry_status gather(team *t, const void *mine, int64_t bytes, void *all)
{
    mpi_state *m = t->state;
    if (bytes <= MPI_PIECE) {
        const int error =
            MPI_Allgather(mine, (int)bytes, MPI_BYTE, all, (int)bytes, MPI_BYTE, m->comm);
        return error ? mpi_failed(t, "MPI_Allgather", error) : SPRY_STATUS_OK;
    }
    for (int r = 0; r < t->ranks; r++) {
        char *to = (char *)all + r * bytes;
        if (r == t->rank)
            memcpy(to, mine, (size_t)bytes);
        const spry_status status = t->class->share(t, r, to, bytes);
        if (status != SPRY_STATUS_OK)
            return status;
    }
    return SPRY_STATUS_OK;
}

static spry_status gather_begin(team *t, const void *mine, int64_t bytes, void *all,
                                team_request **request)
{
    mpi_state *m = t->state;
    if (bytes > MPI_PIECE) {
        *request = NULL;
        return gather(t, mine, bytes, all);
    }
    const int error = MPI_Iallgather(mine, (int)bytes, MPI_BYTE, all, (int)bytes, MPI_BYTE, m->comm,
                                     &m->under_way.request);
    *request = &m->under_way;
    return error ? mpi_failed(t, "MPI_Iallgather", error) : SPRY_STATUS_OK;
}

static spry_status gather_end(team *t, team_request *request)
{
    if (!request)
        return SPRY_STATUS_OK;
    const int error = MPI_Wait(&request->request, MPI_STATUS_IGNORE);
    return error ? mpi_failed(t, "MPI_Wait", error) : SPRY_STATUS_OK;
}

static spry_status share(team *t, int from, void *data, int64_t bytes)
{
    mpi_state *m = t->state;
    char *at = data;
    for (int64_t left = bytes; left > 0; left -= MPI_PIECE, at += MPI_PIECE) {
        const int error =
            MPI_Bcast(at, (int)(left < MPI_PIECE ? left : MPI_PIECE), MPI_BYTE, from, m->comm);
        if (error)
            return mpi_failed(t, "MPI_Bcast", error);
    }
    return SPRY_STATUS_OK;
}

static void destroy(team *t)
{
    mpi_state *m = t->state;
    int ended = 0;
    mpi_posts_free(m);
    if (MPI_Finalized(&ended) == MPI_SUCCESS && !ended) {
        if (m->comm != MPI_COMM_NULL)
            MPI_Comm_free(&m->comm);
        if (m->ours)
            MPI_Finalize();
    }
    free(t->room);
    free(m);
    free(t);
}

static const team_class class_mpi = {
    .name = "mpi",
    .destroy = destroy,
    .gather = gather,
    .gather_begin = gather_begin,
    .gather_end = gather_end,
    .share = share,
    .swap = mpi_swap,
    .halo_new = mpi_halo_new,
    .halo_start = mpi_halo_start,
    .halo_finish = mpi_halo_finish,
    .halo_free = mpi_halo_free,
    .post = mpi_post,
    .poll = mpi_poll,
    .takes_devices = mpi_takes_devices,
#ifdef SPRY_HAVE_PTSCOTCH
    .partition = mpi_partition,
#endif
};

/* A team over a communicator that it takes. */
static spry_team *team_over(MPI_Comm comm, bool ours)
{
    team *t = calloc(1, sizeof *t);
    mpi_state *m = calloc(1, sizeof *m);
    int rank = 0, ranks = 1;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &ranks);
    void *room = calloc((size_t)ranks, TEAM_ROOM);
    int on_machine = 1, place = 0;
    MPI_Comm machine;
    if (MPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, rank, MPI_INFO_NULL, &machine) ==
        MPI_SUCCESS) {
        MPI_Comm_size(machine, &on_machine);
        MPI_Comm_rank(machine, &place);
        MPI_Comm_free(&machine);
    }
    /* A rank that has none ends all, before any other waits for it. */
    int mine = t && m && room, all = 0;
    const int error = MPI_Allreduce(&mine, &all, 1, MPI_INT, MPI_MIN, comm);
    if (error || !all || !t || !m) {
        free(room);
        free(m);
        free(t);
        MPI_Comm_free(&comm);
        return NULL;
    }
    *m = (mpi_state){.comm = comm, .ours = ours};
    *t = (team){.class = &class_mpi,
                .rank = rank,
                .ranks = ranks,
                .on_machine = on_machine,
                .place = place,
                .room = room,
                .state = m};
    return t;
}

spry_team *spry_mpi_team_new(const MPI_Comm *comm)
{
    MPI_Comm mine = MPI_COMM_NULL;
    int begun = 0, given = 0;
    if (MPI_Initialized(&begun) != MPI_SUCCESS)
        return NULL;
    if (!begun && (comm || MPI_Init_thread(NULL, NULL, MPI_THREAD_FUNNELED, &given)))
        return NULL;
    if (MPI_Comm_dup(comm ? *comm : MPI_COMM_WORLD, &mine) != MPI_SUCCESS)
        return NULL;
    /* Failures come back as a status, and not as the end of the program. */
    MPI_Comm_set_errhandler(mine, MPI_ERRORS_RETURN);
    return team_over(mine, !begun);
}

/* A program that carries the library within it has loaded this one for its team, and has no use for
 * a second copy of all the rest: this is the name of libspry's, where that is loaded. */
#pragma weak spry_context_new_ranked

spry_status spry_mpi_context_new(MPI_Comm comm, const char *options, spry_context **ctx)
{
    if (!ctx)
        return SPRY_STATUS_BAD_USAGE;
    *ctx = NULL;
    if (!spry_context_new_ranked)
        return SPRY_STATUS_UNSUPPORTED;
    spry_team *t = comm == MPI_COMM_NULL ? NULL : spry_mpi_team_new(&comm);
    if (!t)
        return comm == MPI_COMM_NULL ? SPRY_STATUS_BAD_USAGE : SPRY_STATUS_NO_MEMORY;
    return spry_context_new_ranked(t, options, ctx);
}

spry_status spry_mpi_context_new_f(int comm, const char *options, spry_context **ctx)
{
    return spry_mpi_context_new(MPI_Comm_f2c((MPI_Fint)comm), options, ctx);
}
